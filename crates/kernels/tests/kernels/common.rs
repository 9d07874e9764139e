//! Random machines, and values by enumeration.

use apportion_games::{Background, MarginalGame, Rows};
use apportion_games::{Purpose, stream};
use apportion_kernels::{Attributions, Kernel, KernelExplainer, KernelMachine, Value};
use rand::RngExt;

/// Returns `count` numbers between −1 and 1.
pub(crate) fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut random = stream(seed, Purpose::Experiment, 0);
    (0..count).map(|_| random.random_range(-1.0..1.0)).collect()
}

/// Returns positive rates, different for each feature.
pub(crate) fn rates(seed: u64, features: usize) -> Vec<f64> {
    numbers(seed, features).iter().map(|rate| 0.5 + 0.45 * rate).collect()
}

pub(crate) fn kernels(seed: u64, features: usize) -> Vec<Kernel> {
    let gamma = rates(seed, features);
    vec![
        Kernel::Rbf { gamma: gamma.clone() },
        Kernel::Laplace { gamma: gamma.clone() },
        Kernel::RationalQuadratic { gamma: gamma.clone(), alpha: 1.5 },
        Kernel::Matern { gamma, nu: [0.5, 1.5, 2.5][features % 3] },
    ]
}

/// Returns a machine with random centres and coefficients.
pub(crate) fn machine(seed: u64, kernel: Kernel, shape: (usize, usize, usize)) -> KernelMachine {
    let (features, centres, outputs) = shape;
    KernelMachine::new(features, &numbers(seed, outputs))
        .unwrap()
        .with_kernel(kernel, &numbers(seed + 1, centres * features), &numbers(seed + 2, centres * outputs))
        .unwrap()
}

/// Returns the values of a row by enumeration of all coalitions.
pub(crate) fn enumerated(
    machine: &KernelMachine,
    background: (&[f64], Option<&[f64]>),
    row: &[f64],
    value: &Value,
) -> Attributions {
    let mut rows = Background::rows(background.0, row.len()).unwrap();
    if let Some(weights) = background.1 {
        rows = rows.with_weights(weights).unwrap();
    }
    value.enumerate(&MarginalGame::new(machine, row, &rows).unwrap()).unwrap()
}

/// Asserts that the exact values of random rows equal enumeration, to `tolerance` of the largest value.
pub(crate) fn assert_equal(machine: &KernelMachine, seed: u64, value: &Value, tolerance: f64) {
    let features = machine.feature_count();
    let (background, rows) = (numbers(seed, 5 * features), numbers(seed + 7, 2 * features));
    let weights = [1.0, 2.0, 0.5, 0.0, 3.0];
    let background_rows = Rows::new(&background, features);
    let explainer = KernelExplainer::new(machine, background_rows, Some(&weights)).unwrap();
    let found = explainer.values_of(value, Rows::new(&rows, features)).unwrap();
    for (at, row) in rows.chunks_exact(features).enumerate() {
        let expected = enumerated(machine, (&background, Some(&weights)), row, value);
        let found = found.of_row(at);
        assert_eq!(found.axes(), expected.axes());
        let largest = expected.values.iter().fold(1e-300, |largest: f64, value| largest.max(value.abs()));
        for (got, expected) in found.values.iter().zip(&expected.values) {
            assert!(
                (got - expected).abs() <= tolerance * largest,
                "{value:?} {features}: {got} {expected} ({:e})",
                (got - expected).abs() / largest
            );
        }
        let ends = found.base.iter().chain(&found.predictions);
        for (got, expected) in ends.zip(expected.base.iter().chain(&expected.predictions)) {
            assert!((got - expected).abs() < 1e-13, "{value:?}: {got} {expected}");
        }
    }
}
