//! Compares chains of random layers with their definition in `f64`.

use super::chain::Chain;
use super::layer::Layer;
use super::plane::Shape;
use super::pointwise::Pointwise;
use super::window::Window;

/// A generator of random numbers in [0, 1), the same in every run (SplitMix64).
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() * end as f64) as usize
    }

    fn numbers(&mut self, count: usize, size: f64) -> Vec<f32> {
        (0..count).map(|_| ((2.0 * self.next() - 1.0) * size) as f32).collect()
    }
}

fn window(shape: Shape, uniform: &mut Uniform) -> Window {
    loop {
        let mut pair = |least: usize, end: usize| [least + uniform.below(end), least + uniform.below(end)];
        let (size, stride, pads) = (pair(1, 5), pair(1, 3), [pair(0, 3), pair(0, 3)]);
        if let Some(window) = Window::new([shape.height, shape.width], size, stride, pads) {
            return window;
        }
    }
}

fn random_layer(shape: Shape, uniform: &mut Uniform) -> Layer {
    let pointwise = |function| Layer::Pointwise(function);
    match uniform.below(10) {
        0..=3 => {
            let (window, outputs) = (window(shape, uniform), [1, 2, 7, 8, 9, 16][uniform.below(6)]);
            let count = shape.channels * window.size[0] * window.size[1];
            let weights = uniform.numbers(outputs * count, 2.0 / (count as f64).sqrt());
            Layer::Convolution { window, weights, bias: uniform.numbers(outputs, 0.5) }
        }
        4 => Layer::Max(window(shape, uniform)),
        5 => Layer::Average { window: window(shape, uniform), count_pads: uniform.below(2) == 0 },
        6 => pointwise(Pointwise::Clip { low: 0.0, high: [f32::INFINITY, 1.5][uniform.below(2)] }),
        7 => pointwise(Pointwise::Leaky { slope: [0.1, -0.5][uniform.below(2)] }),
        8 => pointwise([Pointwise::Sigmoid, Pointwise::Tanh][uniform.below(2)].clone()),
        _ => {
            let count = [1, shape.channels][uniform.below(2)];
            let (scale, shift) = (uniform.numbers(count, 1.5), uniform.numbers(shape.channels, 0.5));
            pointwise(Pointwise::Affine { scale, shift })
        }
    }
}

/// Returns the result of a function for a value of this channel.
fn image(function: &Pointwise, channel: usize, value: f64) -> f64 {
    let of = |numbers: &[f32]| f64::from(numbers[channel.min(numbers.len() - 1)]);
    match function {
        Pointwise::Affine { scale, shift } => of(scale) * value + of(shift),
        Pointwise::Clip { low, high } => value.max(f64::from(*low)).min(f64::from(*high)),
        Pointwise::Leaky { slope } => {
            if value > 0.0 {
                value
            } else {
                f64::from(*slope) * value
            }
        }
        Pointwise::Sigmoid => 1.0 / (1.0 + (-value).exp()),
        Pointwise::Tanh => value.tanh(),
    }
}

/// Computes a layer by its definition. Values are ordered by channel, row and column.
fn definition(layer: &Layer, input: Shape, values: &[f64]) -> Vec<f64> {
    let output = layer.output(input);
    let at = |channel: usize, y: usize, x: usize| (channel * input.height + y) * input.width + x;
    let (Layer::Convolution { window, .. } | Layer::Max(window) | Layer::Average { window, .. }) = layer
    else {
        let Layer::Pointwise(function) = layer else { unreachable!() };
        return values
            .iter()
            .enumerate()
            .map(|(i, &value)| image(function, i / input.cells(), value))
            .collect();
    };
    let mut out = Vec::new();
    for index in 0..output.elements() {
        let (channel, y, x) =
            (index / output.cells(), index / output.width % output.height, index % output.width);
        // The taps of the kernel, and the cells by which they are multiplied.
        let taps = (0..window.size[0] * window.size[1]).filter_map(|tap| {
            let row = (y * window.stride[0] + tap / window.size[1]).checked_sub(window.pads[0][0])?;
            let column = (x * window.stride[1] + tap % window.size[1]).checked_sub(window.pads[1][0])?;
            (row < input.height && column < input.width).then_some((tap, row, column))
        });
        out.push(match layer {
            Layer::Convolution { weights, bias, .. } => {
                let kernel = window.size[0] * window.size[1];
                let each = weights.chunks_exact(kernel).skip(channel * input.channels).take(input.channels);
                let products = each.enumerate().flat_map(|(from, weights)| {
                    taps.clone().map(move |(tap, row, column)| {
                        f64::from(weights[tap]) * values[at(from, row, column)]
                    })
                });
                products.sum::<f64>() + f64::from(bias[channel])
            }
            Layer::Max(_) => {
                taps.map(|(_, row, column)| values[at(channel, row, column)]).fold(f64::MIN, f64::max)
            }
            _ => {
                let Layer::Average { count_pads, .. } = layer else { unreachable!() };
                let under: Vec<f64> = taps.map(|(_, row, column)| values[at(channel, row, column)]).collect();
                let count = if *count_pads { window.size[0] * window.size[1] } else { under.len() };
                under.iter().sum::<f64>() / count as f64
            }
        });
    }
    out
}

/// Computes all layers by their definition. Returns the outputs, and the largest intermediate value.
fn defined(input: Shape, layers: &[Layer], row: &[f32]) -> (Vec<f64>, f64) {
    let mut values: Vec<f64> = row.iter().map(|&value| f64::from(value)).collect();
    let (mut shape, mut largest) = (input, 0.0_f64);
    for layer in layers {
        largest = values.iter().fold(largest, |largest, value| largest.max(value.abs()));
        values = definition(layer, shape, &values);
        shape = layer.output(shape);
    }
    largest = values.iter().fold(largest, |largest, value| largest.max(value.abs()));
    (values, largest)
}

/// Returns the features to change, by `kind`: no feature, one feature, the features on the border, some
/// features, or all.
fn some_features(input: Shape, kind: usize, uniform: &mut Uniform) -> Vec<usize> {
    let all = 0..input.elements();
    let border = |feature: &usize| {
        let (y, x) = (feature / input.width % input.height, feature % input.width);
        y == 0 || x == 0 || y + 1 == input.height || x + 1 == input.width
    };
    match kind {
        0 => Vec::new(),
        1 => vec![uniform.below(input.elements())],
        2 => all.filter(border).collect(),
        3 => all.filter(|_| uniform.next() < 0.1).collect(),
        _ => all.collect(),
    }
}

fn assert_agrees(got: &[f32], expected: &(Vec<f64>, f64), what: &str) {
    for (got, value) in got.iter().zip(&expected.0) {
        let error = (f64::from(*got) - value).abs() / expected.1;
        assert!(error < 1e-5, "{what}: {got} != {value}, largest {}", expected.1);
    }
}

#[test]
fn followed_changes_agree_with_the_definition() {
    let sizes = [
        (1, 1, 1),
        (3, 1, 1),
        (2, 1, 9),
        (1, 7, 1),
        (1, 12, 9),
        (3, 8, 8),
        (8, 5, 6),
        (17, 6, 4),
        (1, 32, 32),
    ];
    for seed in 0..300 {
        let mut uniform = Uniform(seed);
        let (channels, height, width) = sizes[seed as usize % sizes.len()];
        let input = Shape { channels, height, width };
        let (mut shape, mut layers) = (input, Vec::new());
        for _ in 0..1 + uniform.below(6) {
            let layer = random_layer(shape, &mut uniform);
            shape = layer.output(shape);
            layers.push(layer);
        }
        if uniform.below(2) == 0 {
            let outputs = [1, 3, 10][uniform.below(3)];
            let weights = uniform.numbers(outputs * shape.elements(), 1.0);
            let window = Window::whole([shape.height, shape.width]);
            layers.push(Layer::Convolution { window, weights, bias: uniform.numbers(outputs, 0.5) });
            shape = Shape { channels: outputs, height: 1, width: 1 };
        }
        let chain = Chain::new(input, layers.clone());
        assert_eq!((chain.features(), chain.outputs()), (input.elements(), shape.elements()));
        let row = uniform.numbers(chain.features(), 1.0);
        let reference = chain.whole(&row);
        let mut out = vec![0.0; chain.outputs()];
        chain.write(&reference, &mut out);
        assert_agrees(&out, &defined(input, &layers, &row), &format!("seed {seed}, reference"));
        let unchanged = out.clone();
        let mut scratch = chain.scratch(&reference);
        for kind in [0, 1, 2, 3, 4, 1, 0] {
            let mut other = row.clone();
            let mut changes = Vec::new();
            for feature in some_features(input, kind, &mut uniform) {
                other[feature] = uniform.numbers(1, 1.0)[0];
                changes.push((feature, f64::from(other[feature])));
            }
            chain.follow(&reference, &changes, &mut scratch, &mut out);
            assert_agrees(
                &out,
                &defined(input, &layers, &other),
                &format!("seed {seed}, changes {kind}: {layers:?}"),
            );
            if kind == 0 {
                assert_eq!(out, unchanged, "seed {seed}: memory was not reset");
            }
        }
    }
}

#[test]
fn activations_move_behind_the_largest_value_and_scales_into_kernels() {
    let whole = Window::whole([2, 2]);
    let relu = Layer::Pointwise(Pointwise::Clip { low: 0.0, high: f32::INFINITY });
    let falling = Layer::Pointwise(Pointwise::Leaky { slope: -1.0 });
    let simplified = super::layer::simplified;
    assert_eq!(simplified(vec![relu.clone(), Layer::Max(whole)]), [Layer::Max(whole), relu.clone()]);
    let kept = vec![falling, Layer::Max(whole)];
    assert_eq!(simplified(kept.clone()), kept);
    let dense = |weights: [f32; 4], bias| Layer::Convolution {
        window: whole,
        weights: weights.to_vec(),
        bias: vec![bias],
    };
    let affine = Layer::Pointwise(Pointwise::Affine { scale: vec![2.0], shift: vec![-1.0] });
    assert_eq!(
        simplified(vec![dense([1.0, 2.0, 3.0, 4.0], 3.0), affine, relu.clone()]),
        [dense([2.0, 4.0, 6.0, 8.0], 5.0), relu,]
    );
}
