//! Linear and generalized linear models in ONNX files, compared with scikit-learn's predictions in doubles,
//! and files that are not linear models.

use apportion_games::{GameError, Model, Rows};
use apportion_models::{Ensemble, Link, ModelError};

use crate::common::{assert_as_said, assert_close, content, fixture, json_fixture, model, numbers, outputs};

#[test]
fn linear_models_predict_as_the_library_does() {
    let said = json_fixture("onnx/linear/said.json.gz");
    assert_eq!(said.as_object().unwrap().len(), 29);
    for (name, said) in said.as_object().unwrap() {
        let ensemble = model(&format!("onnx/linear/{name}.onnx"));
        assert_as_said(name, &ensemble, said, [1e-12; 2]);
        assert!(ensemble.is_affine(), "{name}");
        assert_eq!((ensemble.round_count(), ensemble.depth()), (1, 0), "{name}");
        assert_eq!(ensemble.origin().booster, "linear model", "{name}");
    }
}

#[test]
fn links_are_those_of_the_graph() {
    let logistic = Some(Link::Logistic { steepness: 1.0 });
    for (name, outputs, link) in [
        ("regression", 1, Some(Link::Identity)),
        ("two_targets", 2, Some(Link::Identity)),
        ("poisson", 1, Some(Link::Exponential)),
        ("tweedie_double", 1, Some(Link::Exponential)),
        ("two_classes", 1, logistic),
        ("two_classes_double", 1, logistic),
        ("classes", 3, Some(Link::Softmax)),
        ("classes_double", 3, Some(Link::Softmax)),
        ("gradient_descent", 1, logistic),
        ("hinge", 1, Some(Link::Identity)),
        ("ridge_two_classes", 1, Some(Link::Identity)),
        ("discriminant", 3, Some(Link::Softmax)),
        ("gemm", 3, Some(Link::Softmax)),
        ("matmul", 3, logistic),
        // The scores are logistic functions divided by their sum, which is not a supported link.
        ("one_against_all", 3, None),
    ] {
        let ensemble = model(&format!("onnx/linear/{name}.onnx"));
        assert_eq!((ensemble.output_count(), ensemble.link()), (outputs, link), "{name}");
        let linked = ensemble.linked().map(|model| model.is_affine());
        assert_eq!(linked.ok(), link.map(|link| link == Link::Identity), "{name}");
    }
}

#[test]
fn names_are_those_of_single_columns() {
    let names = model("onnx/linear/frame_double.onnx").feature_names().map(<[String]>::to_vec);
    assert_eq!(names.unwrap(), ["b0", "b1", "b2", "b3", "b4", "b5"]);
    assert!(model("onnx/linear/regression.onnx").feature_names().is_none());
}

#[test]
fn a_missing_value_is_refused_unless_the_graph_fills_it_in_or_never_looks() {
    let ensemble = model("onnx/linear/regression.onnx");
    for column in 0..6 {
        let mut rows = vec![0.5; 12];
        rows[6 + column] = f64::NAN;
        match ensemble.margins(Rows::new(&rows, 6)) {
            Err(ModelError::Game(GameError::MissingInput { what, column: found })) => {
                assert_eq!((&*what, found), ("row 1", column));
            }
            other => panic!("{other:?}"),
        }
        assert!(ensemble.refuses_missing(column));
    }
    let imputed = model("onnx/linear/imputed.onnx");
    assert!(imputed.margins(Rows::new(&[f64::NAN; 4], 4)).is_ok());
    let frame = model("onnx/linear/frame_double.onnx");
    let refused: Vec<bool> = (0..6).map(|column| frame.refuses_missing(column)).collect();
    assert_eq!(refused, [true, true, false, false, true, false]);
    // XGBoost's linear booster ignores missing values.
    let booster = model("xgboost_linear.json.gz");
    assert!((0..booster.feature_count()).all(|feature| !booster.refuses_missing(feature)));
    assert!(booster.is_affine());
    assert!(!model("onnx/gb_reg_double.onnx").is_affine());
}

#[test]
fn graphs_that_are_not_linear_are_told_from_damaged_ones() {
    for (name, expected) in [
        ("refused_network", "operators: Gemm, Relu"),
        ("refused_polynomial", "ReduceProd"),
        ("refused_normalizer", "operator Normalizer"),
        ("refused_kernel", "kernel RBF"),
        ("refused_votes", "operator SVMClassifier"),
    ] {
        let error = Ensemble::from_path(fixture(&format!("onnx/linear/{name}.onnx"))).unwrap_err();
        let is_other = matches!(error, ModelError::OtherOnnx { .. });
        assert!(is_other || matches!(error, ModelError::Unsupported { .. }), "{name}: {error:?}");
        assert_eq!(is_other, ["refused_network", "refused_polynomial"].contains(&name), "{name}");
        assert!(error.to_string().contains(expected), "{name}: {error}");
    }
    let bytes = content("onnx/linear/regression_double.onnx");
    let damaged = Ensemble::from_bytes(&bytes[..bytes.len() / 2]).unwrap_err();
    assert!(matches!(damaged, ModelError::Onnx { .. }), "{damaged:?}");
}

#[test]
fn linear_files_cut_anywhere_are_refused_or_whole() {
    for name in ["regression", "classes_double", "imputed", "gemm"] {
        let bytes = content(&format!("onnx/linear/{name}.onnx"));
        let whole = Ensemble::from_bytes(&bytes).unwrap();
        let rows = vec![0.25; whole.feature_count()];
        let expected = outputs(&whole, &rows);
        for cut in 0..bytes.len() {
            // If only the versions of the operator sets are missing, the model is complete.
            if let Ok(part) = Ensemble::from_bytes(&bytes[..cut]) {
                assert!(cut + 40 > bytes.len(), "{name}: {cut} of {}", bytes.len());
                assert_close(&outputs(&part, &rows), &expected, 0.0, name);
            }
        }
    }
}

#[test]
fn rows_are_not_rounded() {
    let ensemble = model("onnx/linear/gemm.onnx");
    let said = &json_fixture("onnx/linear/said.json.gz")["gemm"];
    let mut row = numbers(&said["rows"])[..4].to_vec();
    let before = ensemble.margins(Rows::new(&row, 4)).unwrap();
    row[0] += 1e-10;
    assert_ne!(ensemble.margins(Rows::new(&row, 4)).unwrap(), before);
}
