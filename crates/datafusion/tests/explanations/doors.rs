//! Compares the results with the results of the other interfaces: `crates/python/tests/doors/tables.json`
//! contains tables, each with the common result of all interfaces, or with one result per interface if they
//! differ.

use std::path::Path;
use std::sync::Arc;

use apportion_datafusion::BatchExplainer;
use datafusion_common::arrow::array::BooleanArray;
use datafusion_common::arrow::array::{
    ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array,
};
use datafusion_common::arrow::compute::cast;
use datafusion_common::arrow::datatypes::{DataType, Field, Float64Type, Schema, TimeUnit};
use datafusion_common::arrow::error::ArrowError;
use serde_json::Value;

fn float(cell: &Value) -> Option<f64> {
    match cell {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    }
}

/// Creates a column of the table. Panics for an unknown type.
fn column(kind: &str, cells: &[Value]) -> ArrayRef {
    let floats = || -> ArrayRef { Arc::new(Float64Array::from_iter(cells.iter().map(float))) };
    let whole = || -> ArrayRef { Arc::new(Int64Array::from_iter(cells.iter().map(Value::as_i64))) };
    let texts = || -> ArrayRef { Arc::new(StringArray::from_iter(cells.iter().map(Value::as_str))) };
    let as_type = |array: ArrayRef, to: DataType| cast(&array, &to).unwrap();
    match kind {
        "float64" => floats(),
        "float32" => as_type(floats(), DataType::Float32),
        "int64" => whole(),
        "uint8" => as_type(whole(), DataType::UInt8),
        "uint64" => Arc::new(UInt64Array::from_iter(cells.iter().map(Value::as_u64))),
        "bool" => Arc::new(BooleanArray::from_iter(cells.iter().map(Value::as_bool))),
        "string" => texts(),
        "category" => {
            as_type(texts(), DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)))
        }
        "decimal" => as_type(texts(), DataType::Decimal128(10, 2)),
        "date" => as_type(as_type(whole(), DataType::Int32), DataType::Date32),
        "datetime" => as_type(whole(), DataType::Timestamp(TimeUnit::Microsecond, None)),
        "duration" => as_type(whole(), DataType::Duration(TimeUnit::Microsecond)),
        other => panic!("unknown column type {other}"),
    }
}

/// Returns the predictions of a model for a table, or `None` if the table is rejected.
fn answer(model: &Path, columns: &[Value]) -> Option<Vec<f64>> {
    let parts = |column_of: &Value| {
        let name = column_of[0].as_str().unwrap().to_owned();
        (name, column(column_of[1].as_str().unwrap(), column_of[2].as_array().unwrap()))
    };
    let (names, arrays): (Vec<String>, Vec<ArrayRef>) = columns.iter().map(parts).unzip();
    let fields: Vec<Field> = names
        .into_iter()
        .zip(&arrays)
        .map(|(name, array)| Field::new(name, array.data_type().clone(), true))
        .collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
    let explainer = BatchExplainer::from_file(model.display().to_string()).unwrap().build().unwrap();
    let mut found = Vec::new();
    for batch in explainer.explain_batches([Ok::<_, ArrowError>(batch)]) {
        let batch = batch.ok()?;
        found.extend(batch.column_by_name("prediction")?.as_primitive::<Float64Type>().values());
    }
    Some(found)
}

#[test]
fn every_table_has_the_answer_of_all_doors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/tests/doors");
    let tables: Vec<Value> =
        serde_json::from_slice(&std::fs::read(folder.join("tables.json")).unwrap()).unwrap();
    assert!(tables.len() >= 40);
    let mut wrong = Vec::new();
    for table in &tables {
        let model = folder.join(format!("{}.txt", table["model"].as_str().unwrap().replace(' ', "_")));
        let found = answer(&model, table["columns"].as_array().unwrap());
        let expected =
            table["answer"].as_array().map(|numbers| numbers.iter().filter_map(Value::as_f64).collect());
        if found != expected {
            wrong.push(format!("{}: {found:?}, not {expected:?}", table["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
