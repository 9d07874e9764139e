//! A sequential network that propagates changes of a row from layer to layer.

use super::average::Average;
use super::convolution::{Changes, Convolution};
use super::cost;
use super::dense::Dense;
use super::lanes::LANES;
use super::layer::{Layer, simplified};
use super::max;
use super::plane::{Changed, InputChanges, Shape};
use super::pointwise::{self, Pointwise};
use super::window::Window;

/// A network in which the input of each layer is the output of the previous layer.
#[derive(Debug)]
pub(crate) struct Chain {
    /// For each feature, its position in the memory of the first plane, and its cell.
    features: Vec<Feature>,
    stages: Vec<Stage>,
    max_changes: usize,
}

#[derive(Debug, Clone, Copy)]
struct Feature {
    place: u32,
    row: u32,
    column: u32,
}

/// An operation, and the functions that are applied elementwise to its sums.
#[derive(Debug)]
struct Stage {
    operation: Operation,
    functions: Vec<Pointwise>,
    output: Shape,
    /// The initial values of the sums.
    bias: Vec<f32>,
}

#[derive(Debug)]
enum Operation {
    /// The features themselves, i.e. the first plane.
    Input,
    Convolution(Convolution),
    Dense(Dense),
    Average(Average),
    Max(Window),
}

impl Stage {
    fn new(operation: Operation, output: Shape, bias: &[f32]) -> Self {
        Self { operation, functions: Vec::new(), output, bias: bias.to_vec() }
    }

    /// Returns whether the stage stores its results separately from its sums. Changes are added to the sums,
    /// so the results must not overwrite them.
    fn keeps_sums(&self) -> bool {
        !self.functions.is_empty() && !matches!(self.operation, Operation::Max(_))
    }
}

/// The values of a stage for a row.
#[derive(Debug, Clone)]
struct Plane {
    sums: Vec<f32>,
    /// The results after the functions, if they are stored separately from the sums.
    values: Vec<f32>,
}

impl Plane {
    fn results(&self) -> &[f32] {
        if self.values.is_empty() { &self.sums } else { &self.values }
    }
}

/// The values of all stages for a row.
#[derive(Debug, Clone)]
pub(super) struct State(Vec<Plane>);

/// Working memory for predicting rows one after the other. Between rows, it contains the values for the
/// reference row.
#[derive(Debug)]
pub(super) struct Scratch {
    state: State,
    changed: Vec<Changed>,
    changes: Changes,
}

impl Chain {
    /// Creates a network from its layers.
    pub(crate) fn new(input: Shape, layers: Vec<Layer>) -> Self {
        let layers = simplified(layers);
        let max_changes = cost::max_changes(input, &layers);
        let mut stages = vec![Stage::new(Operation::Input, input, &[])];
        let mut shape = input;
        for layer in layers {
            let output = layer.output(shape);
            match layer {
                Layer::Convolution { window, weights, bias } => {
                    let operation = if window.is_whole() && bias.len() < LANES {
                        Operation::Dense(Dense::new(shape, &weights))
                    } else {
                        Operation::Convolution(Convolution::new(shape, output, window, &weights))
                    };
                    stages.push(Stage::new(operation, output, &bias));
                }
                Layer::Max(window) => stages.push(Stage::new(Operation::Max(window), output, &[])),
                Layer::Average { window, count_pads } => {
                    let operation = Operation::Average(Average::new(window, count_pads));
                    stages.push(Stage::new(operation, output, &[]));
                }
                Layer::Pointwise(function) => {
                    let last = stages.len() - 1;
                    stages[last].functions.push(function.widened(shape));
                }
            }
            shape = output;
        }
        let feature = |element: usize| {
            let cell = element % input.cells();
            let (row, column) = ((cell / input.width) as u32, (cell % input.width) as u32);
            Feature { place: input.place(element) as u32, row, column }
        };
        Self { features: (0..input.elements()).map(feature).collect(), stages, max_changes }
    }

    /// Returns the maximum number of changed features for which propagating the changes is cheaper than
    /// predicting the whole row.
    pub(super) fn max_changes(&self) -> usize {
        self.max_changes
    }

    fn output(&self) -> Shape {
        self.stages[self.stages.len() - 1].output
    }

    /// Returns the number of outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.output().elements()
    }

    /// Returns the number of features.
    pub(crate) fn features(&self) -> usize {
        self.features.len()
    }

    /// Computes the values of all stages for a row, by treating every cell as changed from zero.
    pub(super) fn whole(&self, row: &[f32]) -> State {
        let mut memory = Changes::default();
        let mut planes: Vec<Plane> = Vec::with_capacity(self.stages.len());
        for stage in &self.stages {
            let shape = stage.output;
            let mut cell = stage.bias.clone();
            cell.resize(shape.lanes(), 0.0);
            let values = if stage.keeps_sums() { vec![0.0; shape.len()] } else { Vec::new() };
            let mut plane = Plane { sums: cell.repeat(shape.cells()), values };
            if let Some((before, last)) = planes.last().zip(self.stages[..planes.len()].last()) {
                let zeros = vec![0.0; last.output.len()];
                let all = Changed::everything(last.output);
                let before = InputChanges { now: before.results(), reference: &zeros, changed: &all };
                stage.follow(last.output, before, &mut plane, &mut Changed::nothing(shape), &mut memory);
            } else {
                self.features
                    .iter()
                    .zip(row)
                    .for_each(|(feature, &value)| plane.sums[feature.place as usize] = value);
            }
            stage.finish(&mut plane, &Changed::everything(shape));
            planes.push(plane);
        }
        State(planes)
    }

    /// Writes the outputs of a state.
    pub(super) fn write(&self, state: &State, out: &mut [f32]) {
        let shape = self.output();
        let results = state.0[state.0.len() - 1].results();
        out.iter_mut().enumerate().for_each(|(output, value)| *value = results[shape.place(output)]);
    }

    /// Allocates working memory for rows near a reference.
    pub(super) fn scratch(&self, reference: &State) -> Scratch {
        let changed = self.stages.iter().map(|stage| Changed::nothing(stage.output)).collect();
        Scratch { state: reference.clone(), changed, changes: Changes::default() }
    }

    /// Writes the outputs for the row that differs from the reference in the given features, whose indices
    /// must be valid.
    ///
    /// Cells are processed in the order of the plane, so that the result does not depend on the order of the
    /// changes.
    pub(super) fn follow(
        &self,
        reference: &State,
        changes: &[(usize, f64)],
        scratch: &mut Scratch,
        out: &mut [f32],
    ) {
        let Scratch { state: State(planes), changed, changes: memory } = scratch;
        for &(feature, value) in changes {
            let Feature { place, row, column } = self.features[feature];
            let (row, column) = (row as usize, column as usize);
            planes[0].sums[place as usize] = value as f32;
            changed[0].extend(row..row + 1, column..column + 1);
        }
        let mut reached = 0;
        for (number, stage) in self.stages.iter().enumerate() {
            let (before, after) = planes.split_at_mut(number);
            let (changed_before, changed_after) = changed.split_at_mut(number);
            if let Some(last) = number.checked_sub(1) {
                if changed_before[last].is_empty() {
                    break;
                }
                let before = InputChanges {
                    now: before[last].results(),
                    reference: reference.0[last].results(),
                    changed: &changed_before[last],
                };
                let shape = self.stages[last].output;
                stage.follow(shape, before, &mut after[0], &mut changed_after[0], memory);
            }
            stage.finish(&mut after[0], &changed_after[0]);
            reached = number + 1;
        }
        self.write(&scratch.state, out);
        self.restore(reference, &mut scratch.state, &mut scratch.changed[..reached]);
    }

    /// Resets changed cells to their values for the reference.
    fn restore(&self, reference: &State, state: &mut State, changed: &mut [Changed]) {
        let planes = state.0.iter_mut().zip(&reference.0);
        for ((stage, (plane, reference)), changed) in self.stages.iter().zip(planes).zip(changed) {
            for (row, columns) in changed.iter() {
                let range = stage.output.range(row, &columns);
                plane.sums[range.clone()].copy_from_slice(&reference.sums[range.clone()]);
                if stage.keeps_sums() {
                    plane.values[range.clone()].copy_from_slice(&reference.values[range]);
                }
            }
            changed.clear();
        }
    }
}

impl Stage {
    /// Updates the sums of a plane for the changes in the previous plane, and marks the sums that may have
    /// changed.
    #[inline]
    fn follow(
        &self,
        input: Shape,
        before: InputChanges<'_>,
        plane: &mut Plane,
        changed: &mut Changed,
        memory: &mut Changes,
    ) {
        match &self.operation {
            Operation::Input => {}
            Operation::Convolution(convolution) => convolution.add(before, &mut plane.sums, changed, memory),
            Operation::Dense(dense) => dense.add(before, &mut plane.sums, changed),
            Operation::Average(average) => average.add(input, before, &mut plane.sums, changed),
            Operation::Max(window) => max::take(window, input, before, &mut plane.sums, changed),
        }
    }

    /// Updates the results for changed sums.
    fn finish(&self, plane: &mut Plane, changed: &Changed) {
        if self.keeps_sums() {
            pointwise::write(&self.functions, self.output, changed, &plane.sums, &mut plane.values);
        } else if !self.functions.is_empty() {
            pointwise::replace(&self.functions, self.output, changed, &mut plane.sums);
        }
    }
}

impl State {
    pub(super) fn is_finite(&self) -> bool {
        self.0.iter().all(|plane| plane.sums.iter().chain(&plane.values).all(|value| value.is_finite()))
    }
}
