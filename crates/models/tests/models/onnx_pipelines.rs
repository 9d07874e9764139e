//! Pipelines and tree ensembles in ONNX files, compared with a runtime's predictions for rows on both sides
//! of every threshold.

use apportion_games::{GameError, Rows};
use apportion_models::tree::Width;
use apportion_models::{Categories, Ensemble, Link, ModelError, UnknownCategory};
use serde_json::Value;

use crate::common::{fixture, json_fixture, model, numbers, outputs};

/// Returns rows in which strings are replaced with their codes.
fn rows_of(model: &Ensemble, said: &Value) -> Vec<f64> {
    let cell = |(feature, cell): (usize, &Value)| match cell {
        Value::Null => f64::NAN,
        Value::String(text) => {
            let words = model.categories(feature).unwrap();
            assert_eq!(words.unknown(), UnknownCategory::NoCategory);
            words.code_of_text(text).unwrap_or(Categories::NO_CATEGORY)
        }
        number => number.as_f64().unwrap(),
    };
    let rows = said["rows"].as_array().unwrap().iter();
    rows.flat_map(|row| row.as_array().unwrap().iter().enumerate().map(cell).collect::<Vec<_>>()).collect()
}

#[test]
fn pipelines_predict_as_the_runtime_does() {
    let said = json_fixture("onnx/pipelines/said.json.gz");
    assert_eq!(said.as_object().unwrap().len(), 51);
    for (name, said) in said.as_object().unwrap() {
        let ensemble = model(&format!("onnx/pipelines/{name}.onnx"));
        let rows = rows_of(&ensemble, said);
        let mut expected = numbers(&said["scores"]);
        let got = match ensemble.link() {
            Some(_) => outputs(&ensemble, &rows),
            // The runtime divides these scores by their sum.
            None => {
                let mut margins = ensemble.margins(Rows::new(&rows, ensemble.feature_count())).unwrap();
                for row in margins.chunks_exact_mut(ensemble.output_count()) {
                    let sum: f64 = row.iter().sum();
                    row.iter_mut().for_each(|margin| *margin /= sum);
                }
                margins
            }
        };
        if ensemble.output_count() == 1 && expected.len() == 2 * got.len() {
            // The runtime also returns the probability of the first class.
            expected = expected.chunks_exact(2).map(|shares| shares[1]).collect();
        }
        assert_eq!(got.len(), expected.len(), "{name}");
        let columns = expected.len() / said["rows"].as_array().unwrap().len();
        for (place, (got, expected)) in got.iter().zip(&expected).enumerate() {
            let row = place / columns;
            // The runtime adds in f32.
            let near = (got - expected).abs() <= 2e-6 * expected.abs().max(1.0);
            assert!(
                near,
                "{name}: row {row}, {}: {got}, but the runtime predicts {expected}",
                said["rows"][row]
            );
        }
    }
}

#[test]
fn outputs_and_features_are_those_of_the_graph() {
    let logistic = Some(Link::Logistic { steepness: 1.0 });
    for (name, features, outputs, link, width) in [
        ("scaled_forest", 4, 1, Some(Link::Identity), Width::Single),
        ("scaled_forest_double", 4, 1, Some(Link::Identity), Width::Double),
        ("hand_single", 3, 1, Some(Link::Identity), Width::Single),
        ("hand_both_widths", 3, 1, Some(Link::Identity), Width::Double),
        ("imputed_scaled_classes", 4, 3, Some(Link::Softmax), Width::Single),
        ("words_logistic", 7, 1, logistic, Width::Double),
        ("targets", 4, 2, Some(Link::Identity), Width::Single),
        ("voting_classes", 4, 3, Some(Link::Identity), Width::Single),
        ("one_against_rest", 4, 3, None, Width::Single),
        ("ada_boost", 4, 2, Some(Link::Softmax), Width::Single),
    ] {
        let ensemble = model(&format!("onnx/pipelines/{name}.onnx"));
        let found = (ensemble.feature_count(), ensemble.output_count(), ensemble.link(), ensemble.width());
        assert_eq!(found, (features, outputs, link, width), "{name}");
    }
    let words = model("onnx/pipelines/words_one_hot.onnx");
    assert_eq!(words.feature_names().unwrap(), ["a", "b", "c", "d", "s", "k", "t"]);
    let known: Vec<bool> = (0..7).map(|feature| words.categories(feature).is_some()).collect();
    assert_eq!(known, [false, false, false, false, true, false, true]);
    assert_eq!(words.categories(4).unwrap().list().len(), 3);
    assert_eq!(model("onnx/pipelines/one_against_rest.onnx").output_names().unwrap(), ["0", "1", "2"]);
}

/// As in scikit-learn, the margin is the mean path length over the trees. The link divides it by the mean
/// path length for 32 rows.
#[test]
fn isolation_forests_have_the_margins_of_their_paths() {
    let forest = model("onnx/pipelines/isolation.onnx");
    let Some(Link::HalfPower { unit }) = forest.link() else { panic!("{:?}", forest.link()) };
    let harmonic: f64 = (31f64).ln() + 0.577_215_664_901_532_9;
    assert!((unit - (2.0 * harmonic - 2.0 * 31.0 / 32.0)).abs() < 1e-6, "{unit}");
    assert_eq!((forest.tree_count(), forest.round_count()), (5, 1));
    assert!(forest.notes().iter().any(|note| note.contains("mean path length")), "{:?}", forest.notes());
    let margins = forest.margins(Rows::new(&[0.0, 5.0, 100.0, 0.0], 4)).unwrap();
    assert!((1.0..12.0).contains(&margins[0]), "{margins:?}");
}

#[test]
fn missing_values_that_the_graph_stops_at_are_refused() {
    for (name, row, column) in [
        ("binarized", vec![0.0, f64::NAN, 0.0, 0.0], 1),
        ("hand_whole", vec![0.0, 0.0, f64::NAN], 2),
        ("words_one_hot", vec![0.0, 0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0], 4),
        ("words_linear", vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, f64::NAN], 6),
        ("whole_logistic", vec![0.0, 0.0, 0.0, 0.0, 0.0, f64::NAN, 0.0], 5),
    ] {
        let ensemble = model(&format!("onnx/pipelines/{name}.onnx"));
        match ensemble.margins(Rows::new(&row, row.len())) {
            Err(ModelError::Game(GameError::MissingInput { column: found, .. })) => {
                assert_eq!(found, column, "{name}")
            }
            other => panic!("{name}: {other:?}"),
        }
        assert!(ensemble.refuses_missing(column));
    }
    // Columns that the model does not use may be missing, including text.
    let row = [0.0, 0.0, 0.0, 0.0, 0.0, f64::NAN, 0.0];
    assert!(model("onnx/pipelines/words_one_hot.onnx").margins(Rows::new(&row, 7)).is_ok());
}

#[test]
fn what_is_not_a_sum_of_trees_is_refused_with_the_operator_and_another_way() {
    for (name, operator, reason) in [
        ("normalizer", "Normalizer", ""),
        ("polynomial", "ReduceProd", "neither transforms a single column"),
        ("median", "GatherElements", ""),
        ("mean_of_logistic", "Mul", "not a sum of trees"),
        ("marker", "Imputer", "NaN"),
    ] {
        let error = Ensemble::from_path(fixture(&format!("onnx/pipelines/refused_{name}.onnx"))).unwrap_err();
        assert!(matches!(error, ModelError::Unsupported { .. }), "{name}: {error:?}");
        for part in [operator, reason, "apportion.Explainer(function, X)"] {
            assert!(error.to_string().contains(part), "{name}: {error}");
        }
    }
}
