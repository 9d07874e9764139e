//! Support vector machines in ONNX files, compared with the runtime and the library.

use apportion_models::{Ensemble, ModelError, SupportVectorKernel, SupportVectorMachine};

use crate::common::{content, json_fixture, numbers};

fn read(name: &str) -> Result<Option<SupportVectorMachine>, ModelError> {
    SupportVectorMachine::from_bytes(&content(&format!("onnx/support_vectors/{name}.onnx")))
}

/// Computes the function of the machine from its arrays.
fn value(machine: &SupportVectorMachine, row: &[f64]) -> f64 {
    let vectors = machine.vectors.chunks_exact(machine.features).zip(&machine.coefficients);
    let terms = vectors.map(|(vector, coefficient)| {
        let pairs = row.iter().zip(vector);
        coefficient
            * match &machine.kernel {
                SupportVectorKernel::Linear => pairs.map(|(x, v)| x * v).sum::<f64>(),
                SupportVectorKernel::Rbf { rates } => {
                    (-pairs.zip(rates).map(|((x, v), rate)| rate * (x - v).powi(2)).sum::<f64>()).exp()
                }
            }
    });
    machine.intercept + terms.sum::<f64>()
}

#[test]
fn machines_predict_as_the_runtime_and_the_library_do() {
    let said = json_fixture("onnx/support_vectors/said.json");
    assert_eq!(said.as_object().unwrap().len(), 12);
    for (name, said) in said.as_object().unwrap() {
        let machine = read(name).unwrap().unwrap();
        let rows = numbers(&said["rows"]);
        let scale = machine.coefficients.iter().map(|coefficient| coefficient.abs()).sum::<f64>();
        for kind in ["runtime", "library"] {
            let expected = numbers(&said[kind]);
            assert_eq!(expected.len(), 12, "{name}");
            for (row, expected) in rows.chunks_exact(machine.features).zip(expected) {
                let got = value(&machine, row);
                assert!((got - expected).abs() < 1e-5 * scale.max(1.0), "{name} {kind}: {got} {expected}");
            }
        }
    }
}

#[test]
fn machines_have_the_names_and_the_shape_of_the_table() {
    let frame = read("frame").unwrap().unwrap();
    let names: Vec<&str> = frame.feature_names.iter().flatten().map(String::as_str).collect();
    assert_eq!((frame.features, &names[..]), (5, &["b0", "b1", "b2", "b3", "b4"][..]));
    let SupportVectorKernel::Rbf { rates } = &frame.kernel else { panic!("{:?}", frame.kernel) };
    let is_used: Vec<bool> = rates.iter().map(|rate| *rate > 0.0).collect();
    assert_eq!(is_used, [true, true, false, true, false]);
    let classes = read("classes").unwrap().unwrap();
    assert_eq!((classes.features, classes.feature_names), (4, None));
    assert_eq!((&*classes.origin.booster, &*classes.origin.objective), ("SVMClassifier", "classification"));
    assert_eq!(read("regression_linear").unwrap().unwrap().kernel, SupportVectorKernel::Linear);
}

#[test]
fn other_machines_are_refused() {
    for (name, expected) in [
        ("refused_polynomial", "an SVMRegressor with kernel POLY is not supported; use an RBF or linear"),
        ("refused_sigmoid", "an SVMClassifier with kernel SIGMOID is not supported"),
        ("refused_votes", "an SVMClassifier of 3 classes"),
        ("refused_probabilities", "an SVMClassifier that returns probabilities"),
        ("refused_imputed", "imputes missing values"),
        ("refused_bins", "is not supported; explain the model as a function"),
    ] {
        let error = read(name).unwrap_err();
        assert!(matches!(error, ModelError::Unsupported { .. }), "{name}: {error:?}");
        assert!(error.to_string().contains(expected), "{name}: {error}");
    }
    assert!(read("refused_products").is_err());
    for other in ["onnx/linear/regression.onnx", "onnx/gb_reg_double.onnx", "diabetes_xgb.json.gz"] {
        assert_eq!(SupportVectorMachine::from_bytes(&content(other)).unwrap(), None, "{other}");
    }
}

#[test]
fn machines_with_kernels_are_not_ensembles() {
    for name in ["regression", "classes", "one_class_scaled"] {
        let bytes = content(&format!("onnx/support_vectors/{name}.onnx"));
        let error = Ensemble::from_bytes(&bytes).unwrap_err();
        assert!(matches!(error, ModelError::Unsupported { .. } | ModelError::OtherOnnx { .. }), "{name}");
    }
}

#[test]
fn files_cut_anywhere_are_refused_or_whole() {
    for name in ["regression_scaled", "classes", "frame", "one_class"] {
        let bytes = content(&format!("onnx/support_vectors/{name}.onnx"));
        let whole = read(name).unwrap().unwrap();
        for cut in 0..bytes.len() {
            if let Ok(Some(machine)) = SupportVectorMachine::from_bytes(&bytes[..cut]) {
                assert_eq!((machine.kernel, machine.vectors), (whole.kernel.clone(), whole.vectors.clone()));
            }
        }
    }
}
