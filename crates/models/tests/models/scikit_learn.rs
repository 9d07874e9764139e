//! Models of scikit-learn and other libraries, exported by their converters, compared with the libraries'
//! predictions.

use apportion_games::Rows;
use apportion_models::{Categories, Ensemble, UnknownCategory};
use serde_json::Value;

use crate::common::{assert_as_said, assert_close, content, json_fixture, model, numbers, outputs, refusal};

#[test]
fn models_written_as_json_predict_as_the_library_does() {
    let said = json_fixture("scikit_learn/scores.json.gz");
    assert_eq!(said.as_object().unwrap().len(), 20);
    for (name, said) in said.as_object().unwrap() {
        let ensemble = model(&format!("scikit_learn/{name}.json.gz"));
        assert!(ensemble.link().is_some(), "{name}");
        assert_as_said(name, &ensemble, said, [1e-12; 2]);
        ensemble.check_covers().unwrap();
    }
}

/// Converts a row of a table to the numbers that splits compare.
fn coded(model: &Ensemble, row: &[Value]) -> Vec<f64> {
    let code = |(feature, cell): (usize, &Value)| {
        let words = model.categories(feature);
        match cell {
            Value::Null => f64::NAN,
            Value::String(word) => words.unwrap().code_of_text(word).unwrap_or_else(|| {
                assert_eq!(words.unwrap().unknown(), UnknownCategory::NoCategory, "{word}");
                Categories::NO_CATEGORY
            }),
            number => {
                assert!(words.is_none(), "numbers are not categories in these tables");
                number.as_f64().unwrap()
            }
        }
    };
    row.iter().enumerate().map(code).collect()
}

#[test]
fn models_of_tables_with_words_predict_as_the_library_does() {
    let said = json_fixture("scikit_learn/tables.json.gz");
    assert_eq!(said.as_object().unwrap().len(), 31);
    let (mut unknown, mut missing) = (0, 0);
    for (name, said) in said.as_object().unwrap() {
        let model = model(&format!("scikit_learn/{name}.json.gz"));
        model.check_covers().unwrap();
        let rows: Vec<f64> = said["rows"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|row| coded(&model, row.as_array().unwrap()))
            .collect();
        unknown += rows.iter().filter(|&&cell| cell == Categories::NO_CATEGORY).count();
        missing += rows.iter().filter(|cell| cell.is_nan()).count();
        let (got, mut expected) = (outputs(&model, &rows), numbers(&said["outputs"]));
        if expected.len() == 2 * got.len() {
            // The library also returns the probability of the first class.
            expected = expected.chunks_exact(2).map(|shares| shares[1]).collect();
        }
        assert_close(&got, &expected, 1e-12, name);
    }
    assert!(unknown > 100 && missing > 100, "{unknown} {missing}");
}

#[test]
fn linear_models_of_tables_predict_as_the_library_does() {
    let said = json_fixture("scikit_learn/linear.json.gz");
    assert_eq!(said.as_object().unwrap().len(), 27);
    for (name, said) in said.as_object().unwrap() {
        let model = model(&format!("scikit_learn/{name}.json.gz"));
        let rows: Vec<Vec<f64>> = said["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| coded(&model, row.as_array().unwrap()))
            .collect();
        let (got, mut expected) = (outputs(&model, &rows.concat()), numbers(&said["outputs"]));
        if expected.len() == 2 * got.len() {
            expected = expected.chunks_exact(2).map(|shares| shares[1]).collect();
        }
        assert_close(&got, &expected, 1e-12, name);
        for feature in 0..model.feature_count() {
            let mut row = rows[0].clone();
            row[feature] = f64::NAN;
            let margins = model.margins(Rows::new(&row, row.len()));
            assert_eq!(margins.is_err(), model.refuses_missing(feature), "{name}");
        }
        // Models with imputers and encoders accept missing values; a plain regression does not.
        let takes_all = ["linear_one_hot_missing", "linear_ordinal"].contains(&&**name);
        let refuses = (0..model.feature_count()).any(|feature| model.refuses_missing(feature));
        assert_eq!(refuses, !takes_all, "{name}");
    }
}

#[test]
fn models_written_as_onnx_score_as_their_library_or_a_runtime_does() {
    for (name, said) in json_fixture("onnx/scores.json.gz").as_object().unwrap() {
        let file = format!("onnx/{name}.onnx");
        let ensemble = model(&file);
        assert!(ensemble.link().is_some(), "{name}");
        let got = outputs(&ensemble, &numbers(&said["rows"]));
        let mut expected = numbers(&said["scores"]);
        if ensemble.output_count() == 1 && expected.len() == 2 * got.len() {
            // The runtime also returns the probability of the first class.
            expected = expected.chunks_exact(2).map(|shares| shares[1]).collect();
        }
        // The runtime adds in f32.
        assert_close(&got, &expected, 1e-6, name);
        assert!(ensemble.check_covers().is_err(), "{name} has no covers");
    }
}

#[test]
fn files_cut_anywhere_are_refused() {
    for name in ["gb_cls2", "rf_two_targets"] {
        let bytes = content(&format!("onnx/{name}.onnx"));
        let whole = Ensemble::from_bytes(&bytes).unwrap();
        for cut in 0..bytes.len() {
            // If only the version of the other operator set is missing, the model is complete.
            if let Ok(part) = Ensemble::from_bytes(&bytes[..cut]) {
                assert!(cut + 16 > bytes.len(), "{name}: {cut} of {}", bytes.len());
                let rows = vec![0.25; whole.feature_count()];
                let rows = Rows::new(&rows, whole.feature_count());
                assert_eq!(part.margins(rows).unwrap(), whole.margins(rows).unwrap());
            }
        }
    }
}

#[test]
fn a_pickle_is_refused_with_advice() {
    for start in [&b"\x80\x04\x95\x0b\0\0"[..], b"\x80\x05\x95", b"\x80\x02}q"] {
        let error = refusal(start);
        assert!(error.contains("pickle") && error.contains("scikit_learn_to_json"), "{error}");
    }
}
