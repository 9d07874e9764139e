//! Tests of queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use apportion::Background;
use apportion_datafusion::{BatchExplainer, function, register, register_all, register_models};
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::prelude::{SessionContext, col};

use crate::common::{FEATURES, batch, bits, diabetes, ensemble, explainer, numbers, of_library};
use crate::session::{run_query, session};

/// Returns the values of each feature in a column of explanations, as bits.
fn values(explanations: &dyn Array) -> Vec<Vec<u64>> {
    let values = explanations.as_struct().column_by_name("values").unwrap();
    values.as_struct().columns().iter().map(|column| bits(column)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_over_files_are_those_of_the_library_to_the_last_bit_whatever_partitions_and_batches() {
    let numbers = numbers(1000, 10);
    let rows = batch(&FEATURES, &numbers);
    let expected = of_library(&ensemble("diabetes_xgb.json.gz"), &numbers);
    let folder = tempfile::tempdir().unwrap();
    let features = FEATURES.join(", ");
    for partitions in [1, 2, 5] {
        for batch_size in [7, 100, 8192] {
            let mut session = session(folder.path(), &rows, partitions, batch_size).await;
            register(&mut session, "explain_row", explainer()).unwrap();
            register_models(&mut session, "explain_by", |path| BatchExplainer::from_file(path)?.build())
                .unwrap();
            for table in ["parquet_rows", "csv_rows"] {
                let found = run_query(
                    &session,
                    &format!("SELECT id, explain_row({features}) AS e FROM {table} ORDER BY id"),
                )
                .await;
                let ids: Vec<i64> = (0..1000).collect();
                assert_eq!(found.column(0).as_primitive::<Int64Type>().values(), &ids[..]);
                assert_eq!(
                    values(found.column(1)),
                    expected,
                    "{table}, {partitions} partitions of {batch_size}"
                );
            }
            let query =
                format!("SELECT explain_by('{}', {features}) AS e FROM parquet_rows ORDER BY id", diabetes());
            let found = run_query(&session, &query).await;
            assert_eq!(
                values(found.column(0)),
                expected,
                "by its path, {partitions} partitions of {batch_size}"
            );
        }
    }
}

#[tokio::test]
async fn fields_can_be_asked_for_filtered_by_and_unnested() {
    let numbers = numbers(300, 10);
    let rows = batch(&FEATURES, &numbers);
    let expected = of_library(&ensemble("diabetes_xgb.json.gz"), &numbers);
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &rows, 2, 64).await;
    register(&mut session, "explain_row", explainer()).unwrap();
    let call = format!("explain_row({})", FEATURES.join(", "));

    let query = format!(
        "SELECT {call}['values']['bmi'] AS bmi, {call}['base'] AS base FROM parquet_rows ORDER BY id"
    );
    let fields = run_query(&session, &query).await;
    assert_eq!(bits(fields.column(0)), expected[2]);
    let base = fields.column(1).as_primitive::<Float64Type>();
    assert!(base.values().iter().all(|number| number == &base.value(0)));

    let query = format!("SELECT id, unnest({call}['values']) FROM parquet_rows ORDER BY id");
    let unnested = run_query(&session, &query).await;
    assert_eq!(unnested.num_columns(), 11);
    let columns: Vec<Vec<u64>> = unnested.columns()[1..].iter().map(|column| bits(column)).collect();
    assert_eq!(columns, expected);

    // A query with several steps selects the rows whose predictions one feature increases most.
    let query = format!(
        "SELECT id, e['values']['s5'] AS of_s5 FROM (SELECT id, {call} AS e FROM parquet_rows)
         WHERE e['values']['s5'] > 0 AND e['prediction'] > e['base'] ORDER BY of_s5 DESC LIMIT 5"
    );
    let most = run_query(&session, &query).await;
    let most = most.column(1).as_primitive::<Float64Type>();
    assert_eq!(most.len(), 5);
    assert!(most.values().is_sorted_by(|one, other| one >= other) && most.value(4) > 0.0);

    let query =
        format!("SELECT sum(abs(e['values']['bmi'])) AS total FROM (SELECT {call} AS e FROM parquet_rows)");
    let total = run_query(&session, &query).await.column(0).as_primitive::<Float64Type>().value(0);
    let by_hand: f64 = expected[2].iter().map(|&bits| f64::from_bits(bits).abs()).sum();
    assert!((total - by_hand).abs() < 1e-9 * by_hand);
}

#[tokio::test]
async fn values_and_base_add_up_to_the_prediction_and_results_say_what_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &batch(&FEATURES, &numbers(50, 10)), 1, 8192).await;
    register_all(&mut session).unwrap();
    let found = run_query(
        &session,
        &format!("SELECT explain_row('{}', {}) FROM csv_rows", diabetes(), FEATURES.join(", ")),
    )
    .await;
    let schema = found.schema();
    let about: serde_json::Value = serde_json::from_str(&schema.field(0).metadata()["apportion"]).unwrap();
    assert_eq!((&about["layout"], &about["method"]), (&"struct".into(), &"tree".into()));
    assert_eq!(about["features"][0], "f0");
    let DataType::Struct(fields) = schema.field(0).data_type() else { panic!("{schema:?}") };
    let names: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["base", "prediction", "values"]);
    let explained = found.column(0).as_struct();
    let number = |place: usize, row: usize| explained.column(place).as_primitive::<Float64Type>().value(row);
    let values = explained.column(2).as_struct();
    for row in 0..50 {
        let of_feature = |column: &Arc<dyn Array>| column.as_primitive::<Float64Type>().value(row);
        let sum: f64 = values.columns().iter().map(of_feature).sum();
        assert!((number(0, row) + sum - number(1, row)).abs() < 1e-9);
    }
}

#[tokio::test]
async fn nulls_are_missing_values_and_no_rows_are_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path(), &batch(&FEATURES, &numbers(50, 10)), 2, 8192).await;
    register(&mut session, "explain_row", explainer()).unwrap();
    let features = FEATURES.join(", ");
    let none =
        run_query(&session, &format!("SELECT explain_row({features}) FROM parquet_rows WHERE id < 0")).await;
    assert_eq!((none.num_rows(), none.num_columns()), (0, 1));
    let empty = tempfile::tempdir().unwrap();
    let mut session = crate::session::session(empty.path(), &batch(&FEATURES, &[]), 2, 8192).await;
    register(&mut session, "explain_row", explainer()).unwrap();
    let none = run_query(&session, &format!("SELECT explain_row({features}) FROM parquet_rows")).await;
    assert_eq!((none.num_rows(), none.num_columns()), (0, 1));

    let mut row = vec![0.01; 10];
    row[3] = f64::NAN;
    let expected = of_library(&ensemble("diabetes_xgb.json.gz"), &row);
    for missing in ["NULL", "CAST('NaN' AS DOUBLE)", "CAST(NULL AS INT)"] {
        let rest = "0.01, 0.01, 0.01, 0.01, 0.01, 0.01";
        let constant =
            run_query(&session, &format!("SELECT explain_row(0.01, 0.01, 0.01, {missing}, {rest})")).await;
        assert_eq!(values(constant.column(0)), expected, "{missing}");
        // The result is the same next to a column.
        let table = "(VALUES (0.01), (0.01)) AS t (a)";
        let beside =
            run_query(&session, &format!("SELECT explain_row(a, 0.01, a, {missing}, {rest}) FROM {table}"))
                .await;
        assert_eq!(values(&beside.column(0).slice(1, 1)), expected, "{missing}");
    }
}

#[tokio::test]
async fn several_outputs_are_lists() {
    let mut session = SessionContext::new();
    let flowers = BatchExplainer::for_trees(ensemble("iris_xgb_softprob.json.gz"));
    register(&mut session, "explain_row", flowers.feature_names(["a", "b", "c", "d"]).build().unwrap())
        .unwrap();
    let rows = "(VALUES (5.1, 3.5, 1.4, 0.2), (6.3, 2.9, 5.6, 1.8)) AS t (a, b, c, d)";
    let query = format!(
        "SELECT e['prediction'][2] AS second, e['values']['c'] AS c FROM (SELECT explain_row(a, b, c, d) AS \
         e FROM {rows})"
    );
    let found = run_query(&session, &query).await;
    assert_eq!(found.num_rows(), 2);
    assert_eq!(found.column(1).as_list::<i32>().value_length(0), 3);
}

#[tokio::test]
async fn a_model_is_read_once_for_a_session_and_a_call_is_computed_once_for_a_query() {
    let (read, predicted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut session = SessionContext::new();
    let (reads, predictions) = (Arc::clone(&read), Arc::clone(&predicted));
    register_models(&mut session, "explain_sum", move |name| {
        assert_eq!(name, "sum");
        reads.fetch_add(1, Ordering::SeqCst);
        let predictions = Arc::clone(&predictions);
        let model = Arc::new(move |row: &[f64]| {
            predictions.fetch_add(1, Ordering::SeqCst);
            row[0] + row[1]
        });
        BatchExplainer::for_model(model, Background::baseline(vec![0.0; 2])?).build()
    })
    .unwrap();
    // Use different rows each time, because a function caches its last results.
    let rows = |first: f64| format!("(VALUES ({first}, 2.5), ({}, 4.5)) AS t (a, b)", first + 1.0);
    run_query(&session, &format!("SELECT explain_sum('sum', a, b)['base'] AS base FROM {}", rows(1.5))).await;
    let cost = predicted.swap(0, Ordering::SeqCst);
    for (query, first) in [
        (
            "SELECT explain_sum('sum', a, b)['base'] AS v, explain_sum('sum', a, b)['prediction'] AS p FROM",
            11.5,
        ),
        (
            "SELECT e['base'] AS v, e['values']['f0'] AS p FROM (SELECT explain_sum('sum', a, b) AS e FROM",
            21.5,
        ),
        (
            "SELECT e['base'] AS v, e['prediction'] AS p FROM (SELECT explain_sum('sum', a, b + 1) AS e FROM",
            31.5,
        ),
        ("SELECT a, e['base'] AS v FROM (SELECT a, explain_sum('sum', a, b) AS e FROM", 41.5),
    ] {
        let rest = match query.matches('(').count() - query.matches(')').count() {
            0 => "",
            _ => ") WHERE e['prediction'] > 0 ORDER BY e['values']['f1']",
        };
        let found = run_query(&session, &format!("{query} {}{rest}", rows(first))).await;
        assert_eq!(found.num_rows(), 2);
        assert_eq!(predicted.swap(0, Ordering::SeqCst), cost, "{query}");
    }
    assert_eq!(read.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn expressions_can_be_put_together_in_rust() {
    let mut session = SessionContext::new();
    let numbers = numbers(20, 10);
    let rows = batch(&FEATURES, &numbers);
    session.register_batch("rows", rows).unwrap();
    let explain = function("explain_row", explainer()).unwrap();
    let frame = session.table("rows").await.unwrap();
    let frame = frame.select(vec![explain.call(FEATURES.map(col).to_vec()).alias("e")]).unwrap();
    let batches: Vec<RecordBatch> = frame.collect().await.unwrap();
    assert_eq!(values(batches[0].column(0)), of_library(&ensemble("diabetes_xgb.json.gz"), &numbers));
}

#[tokio::test]
async fn the_word_explain_is_a_function_where_sql_takes_it_for_one() {
    let mut session = SessionContext::new();
    let rows = batch(&FEATURES, &[0.01; 20]);
    session.register_batch("rows", rows).unwrap();
    register_all(&mut session).unwrap();
    let call = format!("('{}', {})", diabetes(), FEATURES.join(", "));
    let first = run_query(&session, &format!("SELECT explain{call} FROM rows")).await;
    for list in ["explain_row", "\"explain\""] {
        assert_eq!(
            run_query(&session, &format!("SELECT id, {list}{call} FROM rows")).await.column(1),
            first.column(0)
        );
    }
    // Dialects without trailing commas accept the function name everywhere.
    let mut config = datafusion::prelude::SessionConfig::new();
    config.options_mut().sql_parser.dialect = datafusion::config::Dialect::PostgreSQL;
    let mut other = SessionContext::new_with_config(config);
    other.register_batch("rows", batch(&FEATURES, &[0.01; 20])).unwrap();
    register_all(&mut other).unwrap();
    assert_eq!(
        run_query(&other, &format!("SELECT id, explain{call} FROM rows")).await.column(1),
        first.column(0)
    );
}
