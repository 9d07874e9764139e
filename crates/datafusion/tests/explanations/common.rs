//! Models and rows that the tests share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use apportion::{Ensemble, Rows};
use apportion_datafusion::BatchExplainer;
use datafusion_common::arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch};
use datafusion_common::arrow::datatypes::Float64Type;

/// The features of the diabetes data.
pub(crate) const FEATURES: [&str; 10] = ["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"];

pub(crate) fn fixture(name: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = package.ancestors().find(|folder| folder.ends_with("crates"));
    crates.unwrap_or(package).join("models/tests/fixtures").join(name)
}

/// Returns the path of a model for the diabetes data, as written in a query.
pub(crate) fn diabetes() -> String {
    fixture("diabetes_xgb.json.gz").display().to_string()
}

pub(crate) fn ensemble(name: &str) -> Ensemble {
    Ensemble::from_path(fixture(name)).unwrap()
}

/// Returns an explainer for the diabetes data, with feature names.
pub(crate) fn explainer() -> BatchExplainer {
    BatchExplainer::from_file(diabetes()).unwrap().feature_names(FEATURES).keep(["id"]).build().unwrap()
}

/// Returns numbers in [−0.1, 0.1], like the columns of the diabetes data; some are missing.
pub(crate) fn numbers(rows: usize, columns: usize) -> Vec<f64> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match state >> 59 {
            0 => f64::NAN,
            _ => (state >> 11) as f64 / (1_u64 << 53) as f64 * 0.2 - 0.1,
        }
    };
    (0..rows * columns).map(|_| next()).collect()
}

/// Returns a batch with the column `id` and the features, with null for NaN.
pub(crate) fn batch(names: &[&str], numbers: &[f64]) -> RecordBatch {
    let width = names.len();
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..(numbers.len() / width) as i64));
    let mut columns = vec![("id", ids)];
    for (feature, name) in names.iter().enumerate() {
        let cells = numbers.iter().skip(feature).step_by(width);
        let known = cells.map(|&cell| Some(cell).filter(|cell| !cell.is_nan()));
        columns.push((name, Arc::new(Float64Array::from_iter(known)) as ArrayRef));
    }
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Returns the bits of a column of numbers.
pub(crate) fn bits(column: &dyn Array) -> Vec<u64> {
    column.as_primitive::<Float64Type>().values().iter().map(|number| number.to_bits()).collect()
}

/// Returns the values that the library computes for the path-dependent game: one list per feature, as bits.
pub(crate) fn of_library(ensemble: &Ensemble, numbers: &[f64]) -> Vec<Vec<u64>> {
    let settings = apportion::Settings::default().with_rows(4096);
    let explainer = apportion::Explainer::path_dependent(ensemble).settings(settings);
    let width = ensemble.feature_count();
    let exact = explainer.exact(Rows::new(numbers, width)).unwrap().unwrap();
    let of_feature = |feature: usize| (0..exact.rows()).map(move |row| (row, feature));
    (0..width)
        .map(|feature| {
            of_feature(feature).map(|(row, feature)| exact.value(row, feature)[0].to_bits()).collect()
        })
        .collect()
}
