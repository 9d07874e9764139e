//! From a question to the answer: kernels are chosen, tables filled, blocks of rows explained.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use apportion_games::Rows;
use rayon::prelude::*;

use super::coalitional::{GroupedMasks, GroupedWalk};
use super::cohorts::{self, Alone, Cohorts, Descent, Explicand, InGroups};
use super::cost::{self, Kernel};
use super::histograms::{self, Histograms};
use super::kept::{Asked, TablesOfTrees};
use super::linear::LinearWalk;
use super::masks::Masks;
use super::paths::{BLOCK, Columns, Paths};
use super::tables::BackgroundLaw;
use super::walk::{Pair, Walk};
use super::{Attributions, InterventionalOracle};
use crate::background::of_groups;
use crate::error::TreeError;
use crate::kernel::{self, Plan, Precision};
use crate::tables::Pieces;
use crate::tables::lookup::Lookup;
use crate::tables::number::{Number, Steps};
use crate::tables::shape::{Layout, Shape, merged_bits};
use crate::tables::sums::{Sums, SumsOf};
use crate::tables::table::{Tables, Weights};
use apportion_models::tree::Tree;

/// Pairs of rows that stand for all in the prediction of a walk's length.
const SAMPLE: usize = 4;

/// Per tree: its path features, and the background as its leaves see it; `None` where a path has too many features.
pub(crate) type Sorted = Vec<Option<(Paths, Histograms)>>;

/// Whose values are asked for.
pub(crate) struct Question<'a> {
    /// The player of each feature.
    pub(crate) player_of: &'a [u32],
    pub(crate) players: usize,
    pub(crate) asked: Asked,
    pub(crate) weights: Weights,
    /// Made when first wanted.
    pub(crate) sorted: &'a OnceLock<Sorted>,
    pub(crate) cohorts: &'a OnceLock<Cohorts>,
}

impl InterventionalOracle<'_> {
    /// Answers `question` for each of the rows, with each tree's kernel chosen by `choose`.
    pub(crate) fn explain(
        &self,
        question: &Question<'_>,
        rows: Rows<'_>,
        choose: cost::Choose,
    ) -> Result<Attributions, TreeError> {
        let predictions = self.ensemble.margins(rows)?;
        let kernels = self.kernels(question, rows, choose);
        cost::check(self.ensemble, self.settings, &kernels)?;
        self.check_rows_at_hand(&kernels, rows)?;
        let values = match self.settings.precision {
            Precision::Double => self.explain_in::<f64>(question, rows, &kernels),
            Precision::Single => self.explain_in::<f32>(question, rows, &kernels),
            Precision::Fixed => self.explain_in::<i64>(question, rows, &kernels),
        };
        Attributions::new(values, self.base.clone(), predictions)
    }

    /// The values, with tables of numbers `N`.
    fn explain_in<N: SumsOf>(&self, question: &Question<'_>, rows: Rows<'_>, kernels: &[Kernel]) -> Vec<f64> {
        let ensemble = self.ensemble;
        let (features, outputs) = (ensemble.feature_count(), ensemble.output_count());
        let numbers = question.players * outputs;
        let mut values = vec![0.0; rows.len() * numbers];
        let shapes = self.shapes(question, kernels, rows.len());
        let sizes: Vec<usize> = shapes
            .iter()
            .map(|shape| shape.as_ref().map_or(0, |shape| shape.size * size_of::<N>()))
            .collect();
        let others = kernels.iter().any(|&kernel| !matches!(kernel, Kernel::Tables { .. }));
        let pieces = Pieces::new(rows.len(), features + numbers, others || self.settings.keep_tables);
        let work =
            Work { question, rows, kernels, shapes: &shapes, sizes: &sizes, steps: Steps::new(ensemble) };
        let sections = pieces.sections(&sizes);
        if pieces.sections_occupy_threads(sections.len()) {
            // Each thread takes all rows through trees of its own. Sums are added up in the order of the trees.
            let of_section = |section: Range<usize>| {
                let mut values = vec![0.0; rows.len() * numbers];
                self.add_trees::<N>(&work, section, pieces.of_one_thread(), &mut values);
                values
            };
            let sums: Vec<Vec<f64>> = sections.into_par_iter().with_max_len(1).map(of_section).collect();
            let chunk = BLOCK * numbers;
            values.par_chunks_mut(chunk).enumerate().for_each(|(place, values)| {
                for sums in &sums {
                    for (value, sum) in values.iter_mut().zip(&sums[place * chunk..]) {
                        *value += sum;
                    }
                }
            });
        } else {
            for section in sections {
                self.add_trees::<N>(&work, section, pieces, &mut values);
            }
        }
        values
    }

    /// Adds the values on a section of the trees to those of the rows.
    fn add_trees<N: SumsOf>(
        &self,
        work: &Work<'_>,
        section: Range<usize>,
        pieces: Pieces,
        values: &mut [f64],
    ) {
        let &Work { question, rows, kernels, .. } = work;
        let (features, outputs) = (self.ensemble.feature_count(), self.ensemble.output_count());
        let numbers = question.players * outputs;
        let mut memory = Vec::new();
        let begun =
            |rows: &[f64], scratch: &mut Scratch<N>| scratch.begin(self, question, kernels, rows, work.steps);
        let scratch = || Scratch::new(features, question);
        // One row's latency is less than it takes to wake another thread.
        let by_one_thread = pieces.alone || rows.len() <= pieces.task;
        // A row's values do not depend on the rows beside it, so tasks may be cut to occupy several threads.
        let (mut staying, passing): (Vec<Staying<'_, N>>, &mut [f64]) = match pieces.stay {
            true => {
                let begin = |(values, rows)| {
                    let mut scratch = scratch();
                    begun(rows, &mut scratch);
                    Staying { scratch, values }
                };
                let (values_of_task, rows_of_task) = (pieces.task * numbers, pieces.task * features);
                let staying = if by_one_thread {
                    let rows = rows.values().chunks(rows_of_task);
                    values.chunks_mut(values_of_task).zip(rows).map(begin).collect()
                } else {
                    let rows = rows.values().par_chunks(rows_of_task);
                    values.par_chunks_mut(values_of_task).zip(rows).with_max_len(1).map(begin).collect()
                };
                (staying, &mut [])
            }
            false => (Vec::new(), values),
        };
        let keep = self.settings.keep_tables;
        for turn in pieces.turns(&work.sizes[section.clone()], keep) {
            let turn = section.start + turn.start..section.start + turn.end;
            let mut fill = || self.tables::<N>(work, turn.clone(), pieces, &mut memory);
            let tables: Arc<TablesOfTrees<N>> = if keep {
                let trees: Vec<bool> =
                    kernels.iter().map(|&kernel| matches!(kernel, Kernel::Tables { .. })).collect();
                self.kept.get(&question.asked, &trees, fill)
            } else {
                Arc::new(fill())
            };
            let add = |scratch: &mut Scratch<N>| {
                for (position, index) in turn.clone().enumerate() {
                    let sorted = self.sorted_for(question, kernels[index], index);
                    for block in 0..scratch.used {
                        let means = match (kernels[index], sorted, &tables[position]) {
                            (Kernel::Cohorts, ..) => Means::Cohorts(self.cohorts(question)),
                            (_, _, Some(tables)) => Means::Tables(tables),
                            (_, Some(sorted), None) => Means::Masks(sorted),
                            (_, None, None) => Means::Walk,
                        };
                        scratch.add_tree(self, question, index, block, means);
                    }
                }
            };
            match &mut staying[..] {
                tasks if by_one_thread && pieces.stay => {
                    tasks.iter_mut().for_each(|task| add(&mut task.scratch));
                }
                tasks if pieces.stay => {
                    tasks.par_iter_mut().with_max_len(1).for_each(|task| add(&mut task.scratch))
                }
                _ => passing
                    .par_chunks_mut(pieces.task * numbers)
                    .zip(rows.values().par_chunks(pieces.task * features))
                    .with_max_len(1)
                    .for_each_init(scratch, |scratch, (values, rows)| {
                        begun(rows, scratch);
                        add(scratch);
                        scratch.end(question.players, outputs, values);
                    }),
            }
            // Tables that are not kept leave their memory to the next.
            let tables = Arc::into_inner(tables).into_iter().flatten().flatten();
            memory = tables.map(Tables::into_memory).collect();
        }
        let end = |task: &mut Staying<'_, N>| task.scratch.end(question.players, outputs, task.values);
        match by_one_thread {
            true => staying.iter_mut().for_each(end),
            false => staying.par_iter_mut().with_max_len(1).for_each(end),
        }
    }

    /// What [`explain`](Self::explain) would do with `count` rows like those of `sample`, by the settings.
    pub(crate) fn plan_of(
        &self,
        question: &Question<'_>,
        sample: Rows<'_>,
        count: usize,
    ) -> Result<Plan, TreeError> {
        let chosen = self.for_each_tree(question, sample, count, |task| {
            let kernel = task.kernel(cost::choose);
            (kernel, cost::predict(task, kernel))
        });
        let kernels: Vec<Kernel> = chosen.iter().map(|&(kernel, _)| kernel).collect();
        cost::check(self.ensemble, self.settings, &kernels)?;
        self.check_rows_at_hand(&kernels, sample)?;
        let trees =
            |wanted: kernel::Kernel| kernels.iter().filter(|kernel| kernel.public() == wanted).count();
        let kernels = kernel::Kernel::ALL.map(|kernel| (kernel, trees(kernel)));
        Ok(Plan {
            kernels: kernels.into_iter().filter(|&(_, trees)| trees > 0).collect(),
            seconds: chosen.iter().map(|(_, nanoseconds)| nanoseconds * 1e-9).sum(),
        })
    }

    /// The kernel of each tree.
    pub(crate) fn kernels(
        &self,
        question: &Question<'_>,
        rows: Rows<'_>,
        choose: cost::Choose,
    ) -> Vec<Kernel> {
        self.for_each_tree(question, rows, rows.len(), |task| task.kernel(choose))
    }

    /// What `answer` says of the task that each tree is for `count` rows like those of `sample`.
    pub(super) fn for_each_tree<T>(
        &self,
        question: &Question<'_>,
        sample: Rows<'_>,
        count: usize,
        answer: impl Fn(&cost::Task<'_>) -> T,
    ) -> Vec<T> {
        let ensemble = self.ensemble;
        let features = ensemble.feature_count();
        let samples = if self.compiled { 0 } else { SAMPLE.min(sample.len()) };
        // A few pairs of rows, spread over both sets.
        let pairs: Vec<(Vec<f64>, &[f64])> = (0..samples)
            .map(|index| {
                let explicand = sample.row(index * sample.len() / samples);
                let place = index * self.weights.len() / SAMPLE;
                let rounded = explicand.iter().map(|&value| ensemble.width().round(value)).collect();
                (rounded, &self.background[place * features..(place + 1) * features])
            })
            .collect();
        let sets_fit = !self.compiled && Cohorts::fit(ensemble, self.weights.len());
        let of_tree = |(index, tree): (usize, &Tree)| {
            let nodes = ensemble.nodes_of(tree);
            let reached = || {
                if self.compiled {
                    // Without rows there is nothing to walk, at no price.
                    return f64::INFINITY;
                }
                let leaves = pairs
                    .iter()
                    .map(|(a, b)| cost::leaves_reached(ensemble, nodes, question.player_of, a, b));
                leaves.sum::<usize>() as f64 / pairs.len().max(1) as f64
            };
            answer(&cost::Task {
                settings: self.settings,
                linear: tree.linear,
                nodes,
                leaves: tree.leaves,
                explicands: count,
                // Too many to be walked.
                background: if self.compiled { BLOCK } else { self.weights.len() },
                compiled: self.compiled,
                cohorts: sets_fit && tree.depth <= cohorts::MOST_DEPTH,
                layout: Layout::new(question.players),
                grouped: matches!(question.weights, Weights::Grouped(_)),
                reached: &reached,
                sorted: &|| self.sorted(question)[index].as_ref(),
            })
        };
        ensemble.trees().iter().enumerate().map(of_tree).collect()
    }

    /// Refuses walks where there are no rows to be walked against.
    pub(crate) fn check_rows_at_hand(&self, kernels: &[Kernel], rows: Rows<'_>) -> Result<(), TreeError> {
        if self.compiled && !rows.is_empty() && kernels.contains(&Kernel::Walk) {
            return Err(TreeError::Unsupported {
                what: "the walk against a compiled background, whose rows are not at hand,".to_owned(),
                wanted: "leave the kernel to be chosen, take tables or masks, or give the rows",
            });
        }
        Ok(())
    }

    /// The shapes of the tables of those trees whose kernel wants tables.
    fn shapes(&self, question: &Question<'_>, kernels: &[Kernel], rows: usize) -> Vec<Option<Arc<Shape>>> {
        // Tables that are kept must not depend on who asked first.
        let bits = merged_bits(if self.settings.keep_tables { usize::MAX } else { rows });
        let layout = Layout::new(question.players);
        let shape = |(index, kernel): (usize, &Kernel)| {
            let (paths, _) = match kernel {
                Kernel::Tables { .. } => self.sorted_for(question, *kernel, index)?,
                _ => return None,
            };
            let nodes = self.ensemble.nodes_of(&self.ensemble.trees()[index]);
            Shape::new(nodes, paths, layout, bits).map(Arc::new)
        };
        // Threads are not woken where there is nothing for them to do.
        if kernels.iter().any(|kernel| matches!(kernel, Kernel::Tables { .. })) {
            kernels.par_iter().enumerate().map(shape).collect()
        } else {
            kernels.iter().map(|_| None).collect()
        }
    }

    /// The tables of the trees of one turn, where their kernel wants them, in `memory` as far as there is some.
    fn tables<N: Number>(
        &self,
        work: &Work<'_>,
        turn: Range<usize>,
        pieces: Pieces,
        memory: &mut Vec<Vec<N>>,
    ) -> TablesOfTrees<N> {
        if work.shapes[turn.clone()].iter().all(Option::is_none) {
            return turn.map(|_| None).collect();
        }
        let question = work.question;
        let fill = |(index, memory): (usize, &mut Vec<N>)| {
            let shape = work.shapes[index].clone()?;
            let (paths, histograms) = self.sorted(question)[index].as_ref()?;
            let nodes = self.ensemble.nodes_of(&self.ensemble.trees()[index]);
            let (law, memory) = (&mut BackgroundLaw(histograms), std::mem::take(memory));
            Some(Tables::new(nodes, paths, shape, &question.weights, law, work.steps, memory))
        };
        memory.resize_with(turn.len(), Vec::new);
        match pieces.alone {
            true => turn.zip(memory).map(fill).collect(),
            false => turn.into_par_iter().zip(memory).map(fill).collect(),
        }
    }

    /// Paths and background of a tree, where its kernel wants them.
    pub(crate) fn sorted_for<'a>(
        &self,
        question: &'a Question<'_>,
        kernel: Kernel,
        index: usize,
    ) -> Option<&'a (Paths, Histograms)> {
        match kernel {
            Kernel::Walk | Kernel::Cohorts => None,
            Kernel::Masks | Kernel::Tables { .. } => self.sorted(question)[index].as_ref(),
        }
    }

    /// The background as sets of bits.
    pub(crate) fn cohorts<'a>(&self, question: &'a Question<'_>) -> &'a Cohorts {
        question
            .cohorts
            .get_or_init(|| Cohorts::new(self.ensemble, &self.background, &self.weights, question.player_of))
    }

    fn sorted<'a>(&self, question: &'a Question<'_>) -> &'a Sorted {
        // Not computed inside the lock: a thread that waits for its share of the work may take up a task that wants the lock itself.
        if let Some(sorted) = question.sorted.get() {
            return sorted;
        }
        let sorted = self.sort(question.player_of);
        question.sorted.get_or_init(|| sorted)
    }

    /// Sorts the background by pattern at every leaf.
    fn sort(&self, player_of: &[u32]) -> Sorted {
        let (true, Some(sorted)) = (self.compiled, self.sorted.get()) else {
            return histograms::sort(self.ensemble, &self.background, &self.weights, player_of);
        };
        let trees = self.ensemble.trees().par_iter().zip(sorted);
        trees
            .map(|(tree, sorted)| of_groups(self.ensemble.nodes_of(tree), sorted.as_ref()?, player_of))
            .collect()
    }
}

/// What is to be done.
struct Work<'a> {
    question: &'a Question<'a>,
    rows: Rows<'a>,
    kernels: &'a [Kernel],
    /// Of the tables of trees whose kernel wants them, and how many bytes they take.
    shapes: &'a [Option<Arc<Shape>>],
    sizes: &'a [usize],
    steps: Steps,
}

/// Rows of a task that wait from turn to turn, and where their values go.
struct Staying<'a, N> {
    scratch: Scratch<N>,
    values: &'a mut [f64],
}

/// Up to [`BLOCK`] rows and what they have gathered.
struct Block {
    columns: Columns,
    rounded: Vec<f64>,
    /// Outputs × players × [`BLOCK`]; empty where all kernels are tables.
    phi: Vec<f64>,
    sums: Sums,
}

/// What the kernel of a tree needs of the background.
enum Means<'a, N> {
    Tables(&'a Tables<N>),
    Masks(&'a (Paths, Histograms)),
    Cohorts(&'a Cohorts),
    Walk,
}

/// The memory that a thread needs to explain some blocks of rows.
struct Scratch<N> {
    blocks: Vec<Block>,
    /// Blocks in use.
    used: usize,
    walk: Walk,
    descent: Descent<Alone>,
    grouped_descent: Descent<InGroups>,
    masks: Masks,
    linear_walk: LinearWalk,
    grouped_walk: GroupedWalk,
    grouped_masks: GroupedMasks,
    lookup: Lookup,
    numbers: std::marker::PhantomData<N>,
}

impl<N: SumsOf> Scratch<N> {
    fn new(features: usize, question: &Question<'_>) -> Self {
        let groups = match &question.weights {
            Weights::Alike(_) => 0,
            Weights::Grouped(grouped) => grouped.groups(),
        };
        Self {
            blocks: Vec::new(),
            used: 0,
            walk: Walk::new(question.players),
            descent: Descent::new(),
            grouped_descent: Descent::new(),
            masks: Masks::new(),
            linear_walk: LinearWalk::new(question.players, groups),
            grouped_walk: GroupedWalk::new(features, groups),
            grouped_masks: GroupedMasks::new(),
            lookup: Lookup::default(),
            numbers: std::marker::PhantomData,
        }
    }

    /// Takes rows in.
    fn begin(
        &mut self,
        oracle: &InterventionalOracle<'_>,
        question: &Question<'_>,
        kernels: &[Kernel],
        rows: &[f64],
        steps: Steps,
    ) {
        let ensemble = oracle.ensemble;
        let (features, outputs) = (ensemble.feature_count(), ensemble.output_count());
        let others = kernels.iter().any(|&kernel| !matches!(kernel, Kernel::Tables { .. }));
        self.used = rows.len().div_ceil(BLOCK * features);
        self.blocks.resize_with(self.blocks.len().max(self.used), || Block {
            columns: Columns::new(ensemble),
            rounded: Vec::new(),
            phi: vec![0.0; if others { outputs * question.players * BLOCK } else { 0 }],
            sums: Sums::new(question.players, outputs, oracle.settings.precision, steps),
        });
        for (block, rows) in self.blocks.iter_mut().zip(rows.chunks(BLOCK * features)) {
            block.columns.fill(ensemble, rows);
            block.phi.fill(0.0);
            block.sums.clear();
            if others {
                block.rounded.clear();
                block.rounded.extend(rows.iter().map(|&value| ensemble.width().round(value)));
            }
        }
    }

    fn add_tree(
        &mut self,
        oracle: &InterventionalOracle<'_>,
        question: &Question<'_>,
        index: usize,
        block: usize,
        means: Means<'_, N>,
    ) {
        let ensemble = oracle.ensemble;
        let tree = &ensemble.trees()[index];
        let nodes = ensemble.nodes_of(tree);
        let Block { columns, rounded, phi, sums } = &mut self.blocks[block];
        if let Means::Tables(tables) = means {
            return self.lookup.add(ensemble, nodes, tables, columns, N::of_output(sums, tree.output));
        }
        let phi = &mut phi[tree.output * question.players * BLOCK..][..question.players * BLOCK];
        let features = ensemble.feature_count();
        match (means, &question.weights) {
            (Means::Masks(sorted), Weights::Alike(moments)) => {
                return self.masks.add(ensemble, nodes, sorted, moments, columns, phi);
            }
            (Means::Masks(sorted), Weights::Grouped(grouped)) => {
                return self.grouped_masks.add(ensemble, nodes, sorted, grouped, columns, phi);
            }
            (Means::Cohorts(cohorts), weights) => {
                for (place, row) in rounded.chunks_exact(features).enumerate() {
                    let explicand = Explicand { row, player_of: question.player_of };
                    let phi = |player: u32, share: f64| phi[player as usize * BLOCK + place] += share;
                    match weights {
                        Weights::Alike(moments) => {
                            self.descent.add(ensemble, tree, cohorts, explicand, moments, phi);
                        }
                        Weights::Grouped(grouped) => {
                            self.grouped_descent.add(ensemble, tree, cohorts, explicand, grouped, phi);
                        }
                    }
                }
                return;
            }
            _ => {}
        }
        for (row, explicand) in rounded.chunks_exact(features).enumerate() {
            for (background, &weight) in oracle.background.chunks_exact(features).zip(&oracle.weights) {
                let phi = |player: usize, share: f64| phi[player * BLOCK + row] += share;
                let pair = Pair { explicand, background, weight };
                if tree.linear {
                    let mut phi = phi;
                    self.linear_walk.add(ensemble, nodes, question.player_of, pair, |products, value| {
                        products.add(&question.weights, value, &mut phi);
                    });
                    continue;
                }
                match &question.weights {
                    Weights::Alike(moments) => {
                        self.walk.add(ensemble, nodes, question.player_of, moments, pair, phi);
                    }
                    Weights::Grouped(grouped) => {
                        self.grouped_walk.add(ensemble, nodes, grouped, pair, phi);
                    }
                }
            }
        }
    }

    /// Adds what was gathered to the rows' values.
    fn end(&self, players: usize, outputs: usize, values: &mut [f64]) {
        let numbers = players * outputs;
        for (block, values) in self.blocks[..self.used].iter().zip(values.chunks_mut(BLOCK * numbers)) {
            block.sums.add_to(values, outputs);
            if block.phi.is_empty() {
                continue;
            }
            for (row, values) in values.chunks_exact_mut(numbers).enumerate() {
                for (player, values) in values.chunks_exact_mut(outputs).enumerate() {
                    for (output, value) in values.iter_mut().enumerate() {
                        *value += block.phi[(output * players + player) * BLOCK + row];
                    }
                }
            }
        }
    }
}
