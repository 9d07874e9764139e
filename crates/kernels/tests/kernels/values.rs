//! Tests of the semivalues of features.

use apportion_games::Rows;
use apportion_kernels::{Kernel, KernelExplainer, KernelMachine, Semivalue, Value};
use apportion_values::{GraphValue, LinearValue};

use super::common::{assert_equal, kernels, machine, numbers};

fn semivalues(features: usize) -> Vec<Semivalue> {
    let total = (features * (features + 1) / 2) as f64;
    let distribution: Vec<f64> = (1..=features).map(|size| size as f64 / total).collect();
    vec![
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.3).unwrap(),
        Semivalue::beta_shapley(4.0, 1.0).unwrap(),
        Semivalue::beta_shapley(1.0, 1.0).unwrap(),
        Semivalue::beta_shapley(0.5, 16.0).unwrap(),
        Semivalue::mixture(&[0.0, 0.2, 1.0], &[0.25, 0.5, 0.25]).unwrap(),
        Semivalue::from_size_distribution(&distribution).unwrap(),
    ]
}

#[test]
fn every_semivalue_of_every_kernel_equals_enumeration() {
    for features in 1..=7 {
        for (seed, kernel) in (10..).zip(kernels(3, features)) {
            let machine = machine(seed, kernel, (features, 11, 2));
            for semivalue in semivalues(features) {
                assert_equal(&machine, seed + 100, &semivalue.into(), 1e-12);
            }
        }
    }
}

#[test]
fn twelve_features_equal_enumeration() {
    let machine = machine(5, Kernel::rbf(0.2, 12), (12, 60, 1));
    for semivalue in [Semivalue::Shapley, Semivalue::Banzhaf] {
        assert_equal(&machine, 6, &semivalue.into(), 1e-12);
    }
}

#[test]
fn weights_by_size_that_are_uniform_are_shapley_values_for_many_features() {
    let features = 40;
    let machine = machine(1, Kernel::rbf(0.05, features), (features, 20, 1));
    let (background, row) = (numbers(2, 3 * features), numbers(3, features));
    let explainer = KernelExplainer::new(&machine, Rows::new(&background, features), None).unwrap();
    let values =
        |semivalue: Semivalue| explainer.values(semivalue, Rows::new(&row, features)).unwrap().values;
    let by_size = Semivalue::from_size_distribution(&vec![1.0 / features as f64; features]).unwrap();
    let shapley = values(Semivalue::Shapley);
    let largest = shapley.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    for (got, expected) in values(by_size).iter().zip(&shapley) {
        assert!((got - expected).abs() < 1e-13 * largest, "{got} {expected}");
    }
}

#[test]
fn several_terms_and_a_linear_part_are_added() {
    let features = 4;
    let mut machine = machine(20, Kernel::rbf(0.7, features), (features, 9, 2));
    for (seed, kernel) in (30..).zip(kernels(8, features)) {
        let (centres, coefficients) = (numbers(seed, 10 * features), numbers(seed + 1, 10 * 2));
        machine = machine.with_kernel(kernel, &centres, &coefficients).unwrap();
    }
    let machine = machine
        .with_kernel(Kernel::Linear, &numbers(40, 3 * features), &numbers(41, 6))
        .unwrap()
        .with_linear(&numbers(42, features * 2))
        .unwrap();
    assert_eq!(machine.centre_count(), 49);
    for semivalue in semivalues(features) {
        assert_equal(&machine, 50, &semivalue.into(), 1e-12);
    }
}

#[test]
fn linear_machines_have_their_weights_times_the_differences() {
    let machine = KernelMachine::new(2, &[3.0]).unwrap().with_linear(&[2.0, -1.0]).unwrap();
    let explainer = KernelExplainer::new(&machine, Rows::new(&[0.0, 0.0, 1.0, 4.0], 2), None).unwrap();
    let found = explainer.values(Semivalue::Banzhaf, Rows::new(&[2.0, 5.0], 2)).unwrap();
    assert_eq!(found.values, [3.0, -3.0]);
    assert_eq!((found.base, found.predictions), (vec![2.0], vec![2.0]));
}

#[test]
fn rows_far_from_all_centres_do_not_lose_digits_or_become_nan() {
    // The factors underflow to zero, so dividing by a factor would yield NaN.
    let machine = KernelMachine::new(3, &[0.0])
        .unwrap()
        .with_kernel(Kernel::rbf(1.0, 3), &[0.0, 0.0, 0.0, 50.0, 0.0, 0.0], &[1.0, -2.0])
        .unwrap();
    let explainer = KernelExplainer::new(&machine, Rows::new(&[0.0, 1e160, 0.0], 3), None).unwrap();
    let found = explainer.values(Semivalue::Shapley, Rows::new(&[40.0, 0.0, 0.0], 3)).unwrap();
    // v(S) = 1 if the second feature is present and the first is not, up to exp(−100) from the other centre.
    let expected = [-0.5, 0.5, 0.0];
    for (got, expected) in found.values.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-15, "{got} {expected}");
    }
}

#[test]
fn values_without_an_exact_method_are_refused() {
    let machine = machine(1, Kernel::rbf(1.0, 2), (2, 3, 1));
    let explainer = KernelExplainer::new(&machine, Rows::new(&[0.0, 1.0], 2), None).unwrap();
    let rows = Rows::new(&[0.5, 0.5], 2);
    let linear = LinearValue::weighted_shapley(&[1.0, 2.0]).unwrap();
    let graph = Value::on_graph(GraphValue::myerson(), apportion_games::Graph::line(2));
    for value in [Value::from(linear), graph] {
        assert!(!KernelExplainer::supports(&value));
        let error = explainer.values_of(&value, rows).unwrap_err().to_string();
        assert!(error.contains("of a kernel machine is not supported; estimate it by sampling"), "{error}");
    }
    let other = Semivalue::from_size_distribution(&[0.5, 0.25, 0.25]).unwrap();
    assert!(explainer.values(other, rows).unwrap_err().to_string().contains("3"));
}
