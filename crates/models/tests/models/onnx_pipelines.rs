//! Pipelines and ensembles of trees in ONNX files, against what a runtime predicts for rows on both sides of every threshold.

use apportion_games::{GameError, Rows};
use apportion_models::{Ensemble, Link, ModelError, UnknownWord, Words};
use serde_json::Value;

use crate::common::{assert_close, content, fixture, json_fixture, model, numbers, outputs};

/// Rows as the model holds them: texts by their codes.
fn rows_of(model: &Ensemble, said: &Value) -> Vec<f64> {
    let cell = |(feature, cell): (usize, &Value)| match cell {
        Value::Null => f64::NAN,
        Value::String(text) => {
            let words = model.words(feature).unwrap();
            assert_eq!(words.unknown(), UnknownWord::NoCategory);
            words.code_of_text(text).unwrap_or(Words::NO_CATEGORY)
        }
        number => number.as_f64().unwrap(),
    };
    let rows = said["rows"].as_array().unwrap().iter();
    rows.flat_map(|row| row.as_array().unwrap().iter().enumerate().map(cell).collect::<Vec<_>>()).collect()
}

#[test]
fn pipelines_predict_as_the_runtime_does() {
    let said = json_fixture("onnx/pipelines/said.json.gz");
    assert_eq!(said.as_object().unwrap().len(), 35);
    let mut wrong = Vec::new();
    for (name, said) in said.as_object().unwrap() {
        let path = fixture(&format!("onnx/pipelines/{name}.onnx"));
        let ensemble = match Ensemble::from_path(path) {
            Ok(ensemble) => ensemble,
            Err(error) => {
                wrong.push(format!("{name}: {error}"));
                continue;
            }
        };
        let rows = rows_of(&ensemble, said);
        let mut wanted = numbers(&said["scores"]);
        let got = match ensemble.link() {
            Some(_) => outputs(&ensemble, &rows),
            // Scores that the runtime divides by their sum.
            None => {
                let mut margins = ensemble.margins(Rows::new(&rows, ensemble.feature_count())).unwrap();
                for row in margins.chunks_exact_mut(ensemble.output_count()) {
                    let sum: f64 = row.iter().sum();
                    row.iter_mut().for_each(|margin| *margin /= sum);
                }
                margins
            }
        };
        if ensemble.output_count() == 1 && wanted.len() == 2 * got.len() {
            // The runtime adds the share of the first class.
            wanted = wanted.chunks_exact(2).map(|shares| shares[1]).collect();
        }
        if got.len() != wanted.len() {
            wrong.push(format!("{name}: {} outputs, {} scores", got.len(), wanted.len()));
            continue;
        }
        let columns = wanted.len() / said["rows"].as_array().unwrap().len();
        for (place, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
            // It adds in f32.
            if (got - wanted).abs() > 2e-6 * wanted.abs().max(1.0) {
                wrong.push(format!("{name}: row {}: {got} and {wanted}: {}", place / columns, said["rows"][place / columns]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
