//! Models and rows for tests.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use apportion::{Ensemble, Rows};
use apportion_datafusion::BatchExplainer;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch};
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::datatypes::Float64Type;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::{CsvReadOptions, ParquetReadOptions, SessionConfig, SessionContext};

/// The features of the diabetes data.
pub(crate) const FEATURES: [&str; 10] = ["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"];

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tests/fixtures").join(name)
}

/// Returns the path of a model of the diabetes data, for queries.
pub(crate) fn diabetes() -> String {
    fixture("diabetes_xgb.json.gz").display().to_string()
}

pub(crate) fn ensemble(name: &str) -> Ensemble {
    Ensemble::from_path(fixture(name)).unwrap()
}

/// Returns an explainer of the diabetes data with feature names.
pub(crate) fn explainer() -> BatchExplainer {
    BatchExplainer::of_file(diabetes()).unwrap().feature_names(FEATURES).keep(["id"]).build().unwrap()
}

/// Returns numbers in [−0.1, 0.1], the range of the diabetes data; some are missing.
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

/// Creates a batch with the columns `id` and the features, with null for NaN.
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

/// Creates a session with the rows in a Parquet file, `parquet_rows`, and in a CSV file, `csv_rows`.
pub(crate) async fn session(
    folder: &Path,
    rows: &RecordBatch,
    partitions: usize,
    batch_size: usize,
) -> SessionContext {
    let (parquet, csv) = (folder.join("rows.parquet"), folder.join("rows.csv"));
    if !csv.exists() {
        // Write several row groups, so that each partition has some.
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(250)).build();
        let file = File::create(&parquet).unwrap();
        let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties)).unwrap();
        writer.write(rows).unwrap();
        writer.close().unwrap();
        WriterBuilder::new().with_header(true).build(File::create(&csv).unwrap()).write(rows).unwrap();
    }
    let mut config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(batch_size);
    config.options_mut().optimizer.repartition_file_min_size = 1;
    let session = SessionContext::new_with_config(config);
    let (parquet, csv) = (parquet.display().to_string(), csv.display().to_string());
    session.register_parquet("parquet_rows", &parquet, ParquetReadOptions::default()).await.unwrap();
    session.register_csv("csv_rows", &csv, CsvReadOptions::default()).await.unwrap();
    session
}

/// Returns all rows of a query's result as one batch.
pub(crate) async fn found(session: &SessionContext, query: &str) -> RecordBatch {
    let frame = session.sql(query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let batches = frame.collect().await.unwrap_or_else(|error| panic!("{query}: {error}"));
    datafusion::arrow::compute::concat_batches(&schema, &batches).unwrap()
}

/// Returns the bits of a column of numbers.
pub(crate) fn bits(column: &dyn Array) -> Vec<u64> {
    column.as_primitive::<Float64Type>().values().iter().map(|number| number.to_bits()).collect()
}

/// Returns the values computed by the library for the path-dependent game: one list per feature, as bits.
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
