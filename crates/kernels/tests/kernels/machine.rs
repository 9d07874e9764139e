//! Tests of kernel machines as models, and of their files.

use apportion_games::GameError;
use apportion_kernels::{Kernel, KernelError, KernelExplainer, KernelMachine, Model, Rows, Semivalue};

use super::common::{kernels, machine, numbers};

#[test]
fn predictions_are_sums_over_the_centres() {
    let machine = KernelMachine::new(2, &[1.0, -1.0])
        .unwrap()
        .with_kernel(Kernel::Laplace { gamma: vec![1.0, 2.0] }, &[0.0, 1.0], &[2.0, 3.0])
        .unwrap()
        .with_kernel(
            Kernel::RationalQuadratic { gamma: vec![1.0, 0.0], alpha: 2.0 },
            &[1.0, 0.0, -1.0, 0.0],
            &[1.0, 0.0, 0.0, 1.0],
        )
        .unwrap()
        .with_kernel(Kernel::Matern { gamma: vec![0.5, 2.0], nu: 1.5 }, &[1.0, 0.0], &[0.0, 2.0])
        .unwrap()
        .with_linear(&[0.5, 0.0, 0.0, 4.0])
        .unwrap();
    let row = [2.0, 0.5];
    let laplace = (-3.0_f64).exp();
    let (near, far) = (1.5_f64.powi(-2), 5.5_f64.powi(-2));
    // √3 d / l with d² / (2 l²) = 1.
    let z = 6.0_f64.sqrt();
    let matern = (1.0 + z) * (-z).exp();
    let expected = [1.0 + 2.0 * laplace + near + 1.0, -1.0 + 3.0 * laplace + far + 2.0 * matern + 2.0];
    let mut out = [0.0; 4];
    machine.predict(Rows::new(&[row, row].concat(), 2), &mut out).unwrap();
    for (got, expected) in out.iter().zip(expected.into_iter().cycle()) {
        assert!((got - expected).abs() < 1e-15, "{got} {expected}");
    }
    assert_eq!((machine.features(), machine.outputs(), machine.is_affine()), (Some(2), 2, false));
}

#[test]
fn files_read_back_to_the_same_machine_and_fingerprint() {
    let mut machine = machine(1, Kernel::rbf(0.1, 3), (3, 7, 2)).with_linear(&numbers(4, 6)).unwrap();
    for kernel in kernels(5, 3) {
        machine = machine.with_kernel(kernel, &numbers(6, 9), &numbers(7, 6)).unwrap();
    }
    let bytes = machine.to_bytes();
    let read = KernelMachine::from_bytes(&bytes).unwrap();
    assert_eq!((&read, read.fingerprint()), (&machine, machine.fingerprint()));
    let other = machine.clone().with_linear(&[1e-9; 6]).unwrap();
    assert_ne!(other.fingerprint(), machine.fingerprint());
}

#[test]
fn files_that_are_not_machines_are_refused() {
    let good = String::from_utf8(machine(1, Kernel::rbf(0.1, 2), (2, 1, 1)).to_bytes()).unwrap();
    for (from, to, problem) in [
        ("\"version\":1", "\"version\":2", "expected format \"apportion-kernel-machine\" version 1, found"),
        ("apportion-kernel-machine", "other", "found \"other\" version 1"),
        ("\"features\":2", "\"features\":3", "gamma has 2 numbers, expected 3 (one per feature)"),
        ("\"features\":2", "\"features\":0", "without features"),
        ("\"rbf\"", "\"sigmoid\"", "unknown variant `sigmoid`"),
        ("\"linear\":[]", "\"linear\":[1]", "the array of linear weights has 1 number, expected 2"),
        ("\"linear\"", "\"lines\"", "unknown field `lines`"),
        ("0.1", "-0.1", "invalid gamma -0.1 at index 0; expected a finite number ≥ 0"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        let error = KernelMachine::from_bytes(bad.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    assert!(matches!(KernelMachine::from_bytes(b"{"), Err(KernelError::File { .. })));
}

#[test]
fn invalid_machines_are_refused() {
    let empty = || KernelMachine::new(2, &[0.0]).unwrap();
    let errors = [
        KernelMachine::new(2, &[]).unwrap_err(),
        KernelMachine::new(1, &[f64::NAN]).unwrap_err(),
        empty().with_kernel(Kernel::rbf(1.0, 2), &[0.0; 3], &[1.0]).unwrap_err(),
        empty().with_kernel(Kernel::rbf(1.0, 2), &[0.0; 4], &[1.0]).unwrap_err(),
        empty().with_kernel(Kernel::rbf(f64::INFINITY, 2), &[], &[]).unwrap_err(),
        empty()
            .with_kernel(Kernel::RationalQuadratic { gamma: vec![1.0; 2], alpha: 0.0 }, &[], &[])
            .unwrap_err(),
        empty().with_kernel(Kernel::Matern { gamma: vec![1.0; 2], nu: 1.0 }, &[], &[]).unwrap_err(),
        empty().with_kernel(Kernel::rbf(1.0, 2), &[0.0, f64::INFINITY], &[1.0]).unwrap_err(),
        empty().with_kernel(Kernel::Linear, &[1e200, 0.0], &[1e200]).unwrap_err(),
    ];
    let messages = [
        "invalid kernel machine without outputs; expected at least one",
        "invalid intercept NaN at index 0; expected a finite number",
        "the array of centres has 3 numbers, expected a multiple of 2 (the number of features)",
        "the array of coefficients has 1 number, expected 2 (centres × outputs: 2 × 1)",
        "invalid gamma inf at index 0; expected a finite number ≥ 0",
        "invalid alpha 0 at index 0; expected a number from 0.05 to 1e6",
        "invalid nu 1 at index 0; expected one of: 0.5, 1.5, 2.5",
        "invalid centre coordinate inf at index 1; expected a finite number",
        "invalid linear weight inf at index 0; expected a finite number",
    ];
    for (error, message) in errors.iter().zip(messages) {
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn rows_and_backgrounds_must_fit_and_be_finite() {
    let machine = machine(1, Kernel::rbf(0.1, 2), (2, 3, 1));
    let new = |background: &[f64], columns| {
        KernelExplainer::new(&machine, Rows::new(background, columns), None).map(drop).unwrap_err()
    };
    assert!(matches!(new(&[0.0; 3], 3), KernelError::Game(GameError::Width { expected: 2, .. })));
    assert!(matches!(new(&[], 2), KernelError::Game(GameError::EmptyBackground)));
    let explainer = KernelExplainer::new(&machine, Rows::new(&[0.0, 1.0], 2), None).unwrap();
    for (rows, message) in [
        ([0.0, 1.0, f64::NAN, 1.0], "row 1 has a missing value in column 0"),
        (
            [0.0, f64::INFINITY, 0.0, 1.0],
            "row 0 has the value inf in column 1, but a kernel machine computes",
        ),
    ] {
        let error = explainer.values(Semivalue::Shapley, Rows::new(&rows, 2)).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let none = explainer.values(Semivalue::Shapley, Rows::new(&[], 2)).unwrap();
    assert_eq!((none.rows(), none.players()), (0, 2));
}

#[test]
fn machines_without_centres_are_constant() {
    let machine = KernelMachine::new(2, &[4.0]).unwrap().with_kernel(Kernel::rbf(1.0, 2), &[], &[]).unwrap();
    let explainer = KernelExplainer::new(&machine, Rows::new(&[0.0, 1.0], 2), None).unwrap();
    let found = explainer.values(Semivalue::Shapley, Rows::new(&[5.0, 5.0], 2)).unwrap();
    assert_eq!((found.values, found.base), (vec![0.0; 2], vec![4.0]));
}
