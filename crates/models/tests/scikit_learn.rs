//! Models of scikit-learn and others, written by their converters, against what the libraries say of some rows.

#![allow(clippy::unwrap_used)]

use std::io::Read;
use std::path::{Path, PathBuf};

use apportion_games::Rows;
use apportion_models::{Ensemble, ModelError};
use serde_json::Value;

fn fixtures(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder)
}

fn scores(folder: &str) -> serde_json::Map<String, Value> {
    let mut text = String::new();
    let file = std::fs::File::open(fixtures(folder).join("scores.json.gz")).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Missing values are null.
fn table(value: &Value) -> Vec<f64> {
    let rows = value.as_array().unwrap().iter();
    rows.flat_map(|row| row.as_array().unwrap().iter().map(|cell| cell.as_f64().unwrap_or(f64::NAN)))
        .collect()
}

fn assert_all_close(got: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (got, wanted) in got.iter().zip(wanted) {
        assert!((got - wanted).abs() <= tolerance * wanted.abs().max(1.0), "{what}: {got} != {wanted}");
    }
}

/// The outputs of a model by its link.
fn outputs(ensemble: &Ensemble, margins: &[f64]) -> Vec<f64> {
    let mut outputs = margins.to_vec();
    let link = ensemble.link().expect("a known link");
    outputs.chunks_exact_mut(ensemble.output_count()).for_each(|row| link.apply(row));
    outputs
}

#[test]
fn models_written_as_json_predict_as_the_library_does() {
    let scores = scores("scikit_learn");
    assert_eq!(scores.len(), 20);
    for (name, wanted) in &scores {
        let ensemble = Ensemble::from_path(fixtures("scikit_learn").join(format!("{name}.json.gz"))).unwrap();
        let rows = table(&wanted["rows"]);
        let margins = ensemble.margins(Rows::new(&rows, ensemble.feature_count())).unwrap();
        if let Some(wanted) = wanted.get("margins") {
            assert_all_close(&margins, &table(wanted), 1e-12, name);
        }
        assert_all_close(&outputs(&ensemble, &margins), &table(&wanted["scores"]), 1e-12, name);
        ensemble.check_covers().unwrap();
    }
}

#[test]
fn models_written_as_onnx_score_as_their_library_or_a_runtime_does() {
    for (name, wanted) in &scores("onnx") {
        let path = fixtures("onnx").join(format!("{name}.onnx"));
        if name == "pipe" {
            let error = Ensemble::from_path(path).unwrap_err();
            assert!(
                matches!(&error, ModelError::Unsupported { what, .. } if what.contains("Scaler")),
                "{error}"
            );
            continue;
        }
        let ensemble = Ensemble::from_path(path).unwrap();
        let rows = table(&wanted["rows"]);
        let margins = ensemble.margins(Rows::new(&rows, ensemble.feature_count())).unwrap();
        let got = outputs(&ensemble, &margins);
        let mut wanted = table(&wanted["scores"]);
        if ensemble.output_count() == 1 && wanted.len() == 2 * got.len() {
            // The runtime adds the share of the first class.
            wanted = wanted.chunks_exact(2).map(|shares| shares[1]).collect();
        }
        // It adds in f32.
        assert_all_close(&got, &wanted, 1e-6, name);
        assert!(ensemble.check_covers().is_err(), "{name} has no covers");
    }
}

#[test]
fn files_cut_anywhere_are_refused() {
    for name in ["gb_cls2", "rf_two_targets"] {
        let bytes = std::fs::read(fixtures("onnx").join(format!("{name}.onnx"))).unwrap();
        let whole = Ensemble::from_bytes(&bytes).unwrap();
        for cut in 0..bytes.len() {
            // Where all but the version of the other operators is there, so is the model.
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
        let error = Ensemble::from_bytes(start).unwrap_err().to_string();
        assert!(error.contains("pickle") && error.contains("scikit_learn_to_json"), "{error}");
    }
}
