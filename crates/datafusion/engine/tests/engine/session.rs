//! Sessions over files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::WriterBuilder;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::{CsvReadOptions, ParquetReadOptions, SessionConfig, SessionContext};

/// Returns a session with `rows` rows in a Parquet file, `parquet_rows`, and in a CSV file, `csv_rows`.
pub(crate) async fn session(
    folder: &Path,
    rows: &RecordBatch,
    partitions: usize,
    batch_size: usize,
) -> SessionContext {
    let (parquet, csv) = (folder.join("rows.parquet"), folder.join("rows.csv"));
    if !csv.exists() {
        // Write several row groups, so that each partition gets some.
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

/// Returns the result of a query, as one batch.
pub(crate) async fn run_query(session: &SessionContext, query: &str) -> RecordBatch {
    let frame = session.sql(query).await.unwrap_or_else(|error| panic!("{query}: {error}"));
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let batches = frame.collect().await.unwrap_or_else(|error| panic!("{query}: {error}"));
    datafusion::arrow::compute::concat_batches(&schema, &batches).unwrap()
}
