//! Tests of explaining record batches.

use std::sync::Arc;

use apportion::values::Semivalue;
use apportion::{Background, Budget, Explainer, Method, Partition, Until, Value};
use apportion_datafusion::{BatchExplainer, Layout};
use datafusion_common::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, DictionaryArray, Float16Array, Float32Array,
    Float64Array, Int8Array, Int64Array, NullArray, RecordBatch, StringArray, StringViewArray, UInt16Array,
};
use datafusion_common::arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type, Schema};
use datafusion_common::arrow::error::ArrowError;

use crate::common::{FEATURES, batch, bits, ensemble, explainer, fixture, numbers, of_library};

fn names(schema: &Schema) -> Vec<&str> {
    schema.fields().iter().map(|field| field.name().as_str()).collect()
}

fn about(schema: &Schema) -> serde_json::Value {
    serde_json::from_str(&schema.metadata()["apportion"]).unwrap()
}

#[test]
fn values_are_those_of_the_library_to_the_last_bit_whatever_the_batches() {
    let numbers = numbers(700, 10);
    let expected = of_library(&ensemble("diabetes_xgb.json.gz"), &numbers);
    let rows = batch(&FEATURES, &numbers);
    for explainer in [explainer(), of_threads(1), of_threads(3)] {
        for size in [1, 7, 100, 700] {
            let batches = (0..700).step_by(size).map(|first| rows.slice(first, size.min(700 - first)));
            let found = explainer.explain_batches(batches.map(Ok::<_, ArrowError>));
            let found: Vec<RecordBatch> = found.collect::<Result<_, _>>().unwrap();
            let found =
                datafusion_common::arrow::compute::concat_batches(&found[0].schema(), &found).unwrap();
            assert_eq!(found.column(0), rows.column(0));
            for (feature, expected) in expected.iter().enumerate() {
                assert_eq!(
                    &bits(found.column(3 + feature)),
                    expected,
                    "{size} rows at once, feature {feature}"
                );
            }
        }
    }
}

fn of_threads(threads: usize) -> BatchExplainer {
    let trees = ensemble("diabetes_xgb.json.gz");
    BatchExplainer::for_trees(trees).feature_names(FEATURES).keep(["id"]).threads(threads).build().unwrap()
}

#[test]
fn values_against_a_background_are_the_same_bits_whatever_the_batches() {
    let background: Vec<f64> =
        numbers(60, 10).iter().map(|number| if number.is_nan() { 0.0 } else { *number }).collect();
    let background = Background::rows(background, 10).unwrap();
    let rows = batch(&FEATURES, &numbers(300, 10));
    let trees = || BatchExplainer::for_trees(ensemble("diabetes_xgb.json.gz")).background(background.clone());
    for asked in [trees(), trees().keep_tables()] {
        let explainer = asked.keep(["id"]).build().unwrap();
        // Cached tables have a different layout, so the last bits of the values may differ from the values
        // without the cache.
        let expected = explainer.explain(&rows).unwrap();
        for size in [1, 7, 100, 300] {
            let batches = (0..300).step_by(size).map(|first| rows.slice(first, size.min(300 - first)));
            for (found, first) in
                explainer.explain_batches(batches.map(Ok::<_, ArrowError>)).zip((0..).step_by(size))
            {
                let found = found.unwrap();
                for column in 1..found.num_columns() {
                    let expected = expected.column(column).slice(first, found.num_rows());
                    assert_eq!(
                        bits(found.column(column)),
                        bits(&expected),
                        "{size} rows at once, column {column}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_schema_is_known_before_any_row_and_says_what_was_asked() {
    let (explainer, rows) = (explainer(), batch(&FEATURES, &numbers(3, 10)));
    let schema = explainer.schema(rows.schema_ref()).unwrap();
    let mut expected = vec!["id", "base", "prediction"];
    expected.extend(FEATURES);
    assert_eq!(names(&schema), expected);
    assert_eq!(explainer.explain(&rows).unwrap().schema_ref().as_ref(), &schema);
    let expected = serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"), "schema": 1, "layout": "columns", "value": "shapley",
        "game": "path-dependent", "method": "tree", "seed": 0, "features": FEATURES, "outputs": null,
    });
    assert_eq!(about(&schema), expected);
}

#[test]
fn columns_are_found_by_their_names_in_any_order() {
    let numbers = numbers(40, 10);
    let rows = batch(&FEATURES, &numbers);
    let backwards: Vec<usize> = (0..11).rev().collect();
    let (one, other) = (
        explainer().explain(&rows).unwrap(),
        explainer().explain(&rows.project(&backwards).unwrap()).unwrap(),
    );
    assert_eq!(one, other);
    // Columns that match no feature, and an `id` that is not kept, are ignored.
    let more = RecordBatch::try_from_iter(
        rows.schema_ref()
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .chain(["note"])
            .zip(rows.columns().iter().cloned().chain([Arc::new(NullArray::new(40)) as ArrayRef])),
    );
    assert_eq!(explainer().explain(&more.unwrap()).unwrap(), one);
    // A model without feature names uses all columns that are not kept.
    let unnamed = BatchExplainer::for_trees(ensemble("diabetes_xgb.json.gz")).keep(["id"]).build().unwrap();
    assert_eq!(unnamed.explain(&rows).unwrap(), one);
}

#[test]
fn a_batch_of_no_rows_gives_one_of_no_rows() {
    let rows = batch(&FEATURES, &[]);
    for layout in [Layout::Columns, Layout::Lists] {
        for file in ["diabetes_xgb.json.gz", "iris_xgb_softprob.json.gz"] {
            let trees = ensemble(file);
            let columns = &FEATURES[..trees.feature_count()];
            let explainer = BatchExplainer::for_trees(trees).feature_names(columns.iter().copied());
            let explainer = explainer.keep(["id"]).layout(layout).build().unwrap();
            let found = explainer.explain(&rows).unwrap();
            assert_eq!(found.num_rows(), 0);
            assert_eq!(found.schema_ref().as_ref(), &explainer.schema(rows.schema_ref()).unwrap());
        }
    }
}

#[test]
fn several_outputs_are_lines_or_lists() {
    let columns = ["length", "width", "petal length", "petal width"];
    let numbers: Vec<f64> = numbers(30, 4).iter().map(|number| 3.0 + 30.0 * number).collect();
    let rows = batch(&columns, &numbers);
    let ask = |layout| {
        let asked = BatchExplainer::for_trees(ensemble("iris_xgb_softprob.json.gz")).feature_names(columns);
        asked.output_names(["setosa", "versicolor", "virginica"]).keep(["id"]).layout(layout).build().unwrap()
    };
    let lines = ask(Layout::Columns).explain(&rows).unwrap();
    let lists = ask(Layout::Lists).explain(&rows).unwrap();
    assert_eq!(names(lines.schema_ref()), [&["id", "output", "base", "prediction"][..], &columns].concat());
    assert_eq!(names(lists.schema_ref()), ["id", "base", "prediction", "values"]);
    assert_eq!((lines.num_rows(), lists.num_rows()), (90, 30));
    assert_eq!(
        about(lists.schema_ref())["outputs"],
        serde_json::json!(["setosa", "versicolor", "virginica"])
    );
    assert_eq!(lines.column(0).as_primitive::<Int64Type>().values()[..4], [0, 0, 0, 1]);
    assert_eq!(lines.column(1).as_string::<i32>().value(5), "virginica");
    for (place, column) in [(1, 2), (2, 3)] {
        assert_eq!(bits(lists.column(place).as_list::<i32>().values()), bits(lines.column(column)));
    }
    // The lists are ordered by row, feature and output; the other layout has one column per feature.
    let by_feature = lists.column(3).as_list::<i32>();
    let leaves = bits(by_feature.values().as_list::<i32>().values());
    for feature in 0..4 {
        let in_lists: Vec<u64> = leaves.chunks_exact(3).skip(feature).step_by(4).flatten().copied().collect();
        assert_eq!(in_lists, bits(lines.column(4 + feature)));
    }
}

#[test]
fn every_type_of_number_is_taken_and_null_is_missing() {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int8Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(UInt16Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])),
        Arc::new(Float32Array::from(vec![Some(1.0), None, Some(3.0)])),
        Arc::new(Float64Array::from(vec![1.0, f64::NAN, 3.0])),
        Arc::new(
            datafusion_common::arrow::compute::cast(
                &Float32Array::from(vec![Some(1.0), None, Some(3.0)]),
                &DataType::Float16,
            )
            .unwrap(),
        ),
        Arc::new(
            Decimal128Array::from(vec![Some(100), None, Some(300)]).with_precision_and_scale(10, 2).unwrap(),
        ),
        Arc::new(DictionaryArray::<Int32Type>::new(
            vec![Some(1), None, Some(0)].into(),
            Arc::new(Int64Array::from(vec![3, 1])),
        )),
    ];
    assert!(columns[5].as_any().is::<Float16Array>());
    let model = Arc::new(|row: &[f64]| if row[0].is_nan() { -7.0 } else { 2.0 * row[0] });
    let explainer =
        BatchExplainer::for_model(model, Background::baseline(vec![0.0]).unwrap()).build().unwrap();
    for column in columns {
        let given = column.data_type().clone();
        let found = explainer.explain(&RecordBatch::try_from_iter([("a", column)]).unwrap()).unwrap();
        assert_eq!(found.column(2).as_primitive::<Float64Type>().values(), &[2.0, -7.0, 6.0], "{given}");
    }
    for (column, expected) in [
        (Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])) as ArrayRef, [2.0, -7.0, 0.0]),
        (Arc::new(NullArray::new(3)), [-7.0; 3]),
    ] {
        let found = explainer.explain(&RecordBatch::try_from_iter([("a", column)]).unwrap()).unwrap();
        assert_eq!(found.column(2).as_primitive::<Float64Type>().values(), &expected);
    }
}

/// Returns rows with categories, and the results of the model's library for these rows.
fn words() -> serde_json::Value {
    let mut text = String::new();
    let file = std::fs::File::open(fixture("words.json.gz")).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn words_are_the_categories_of_the_model() {
    let words = words();
    let trees = ensemble("words_xgb.json.gz");
    let features: Vec<String> = trees.feature_names().unwrap().to_vec();
    let column = |name: &str| words["columns"][name].as_array().unwrap().clone();
    let texts = |name: &str| {
        column(name).into_iter().map(|cell| cell.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let numbers = |name: &str| column(name).iter().map(serde_json::Value::as_f64).collect::<Vec<_>>();
    let sizes: DictionaryArray<Int32Type> = texts("size").iter().map(Option::as_deref).collect();
    let new: Vec<Option<bool>> = column("new").iter().map(serde_json::Value::as_bool).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringViewArray::from(texts("city"))),
        Arc::new(Float64Array::from(numbers("Annual Income (k$)"))),
        Arc::new(Float64Array::from(numbers("rooms"))),
        Arc::new(sizes),
        Arc::new(BooleanArray::from(new)),
    ];
    let rows = RecordBatch::try_from_iter(features.iter().map(String::as_str).zip(columns)).unwrap();
    let found = BatchExplainer::for_trees(trees).build().unwrap().explain(&rows).unwrap();
    let predictions = found.column(1).as_primitive::<Float64Type>();
    for (row, expected) in words["models"]["xgb"]["margins"].as_array().unwrap().iter().enumerate() {
        let expected = expected.as_f64().unwrap();
        assert!(
            (predictions.value(row) - expected).abs() < 1e-5,
            "row {row}: {} and {expected}",
            predictions.value(row)
        );
    }
    // Use the same categories in a different string type.
    let other = datafusion_common::arrow::compute::cast(rows.column(0), &DataType::LargeUtf8).unwrap();
    let mut columns = rows.columns().to_vec();
    columns[0] = other;
    let rows = RecordBatch::try_from_iter(features.iter().map(String::as_str).zip(columns)).unwrap();
    let again =
        BatchExplainer::for_trees(ensemble("words_xgb.json.gz")).build().unwrap().explain(&rows).unwrap();
    assert_eq!(again, found);
}

#[test]
fn estimates_have_errors_and_their_cost_and_the_same_bits_in_any_batch() {
    let model = Arc::new(|row: &[f64]| row.iter().sum::<f64>() + row[0] * row[1] * row[2]);
    let ask = |layout| {
        let asked =
            BatchExplainer::for_model(Arc::clone(&model), Background::baseline(vec![0.5; 10]).unwrap());
        let asked = asked.method(Method::Auto).budget(Budget::Evaluations(200)).seed(7);
        asked.feature_names(FEATURES).keep(["id"]).layout(layout).build().unwrap()
    };
    let numbers: Vec<f64> =
        numbers(9, 10).iter().map(|number| if number.is_nan() { 0.0 } else { *number }).collect();
    let rows = batch(&FEATURES, &numbers);
    let (columns, lists) = (ask(Layout::Columns), ask(Layout::Lists));
    let found = columns.explain(&rows).unwrap();
    assert_eq!(found.num_columns(), 3 + 10 + 10 + 1);
    assert_eq!(found.schema_ref().field(13).name(), "std error of age");
    assert_eq!(found.schema_ref().field(23).name(), "evaluations");
    assert_eq!(found.column(23).as_primitive::<Int64Type>().value(0), 200);
    assert_eq!(about(found.schema_ref())["seed"], 7);
    let alone = columns.explain(&rows.slice(4, 1)).unwrap();
    assert_eq!(alone, found.slice(4, 1));
    let found = lists.explain(&rows).unwrap();
    assert_eq!(
        names(found.schema_ref()),
        ["id", "base", "prediction", "values", "std_errors", "evaluations"]
    );
    assert_eq!(found.column(4).as_list::<i32>().value_length(8), 10);
}

#[test]
fn auto_explains_the_rows_of_a_batch_with_the_surrogate_of_the_background() {
    let model =
        Arc::new(|row: &[f64]| (row[0] + 5.0 * row[1] * row[2]).tanh() + row[3..].iter().sum::<f64>());
    let names: Vec<String> = (0..12).map(|at| format!("x{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let without_gaps = |rows: usize| -> Vec<f64> {
        numbers(rows, 12).iter().map(|number| if number.is_nan() { 0.0 } else { *number }).collect()
    };
    let background = Background::rows(without_gaps(40), 12).unwrap();
    let explainer = BatchExplainer::for_model(Arc::clone(&model), background.clone());
    let explainer = explainer.feature_names(names.clone()).layout(Layout::Lists).build().unwrap();
    let rows = without_gaps(9);
    let found = explainer.explain(&batch(&names, &rows)).unwrap();
    assert_eq!(about(found.schema_ref())["method"], "table");
    let alone = explainer.explain(&batch(&names, &rows).slice(4, 1)).unwrap();
    assert_eq!(alone, found.slice(4, 1));
    let explanation = Explainer::new(model, background).explain(&rows[4 * 12..5 * 12]).unwrap();
    let values = alone.column_by_name("values").unwrap().as_list::<i32>().value(0);
    assert_eq!(values.as_primitive::<Float64Type>().values(), &explanation.values[..]);
}

#[test]
fn accuracies_groups_links_and_backgrounds_are_asked_for_as_of_the_library() {
    let rows = batch(&FEATURES, &[0.01; 20]);
    let background = Background::rows([0.0, 0.05, -0.05, 0.02].repeat(5), 10).unwrap();
    let trees =
        || BatchExplainer::for_trees(ensemble("diabetes_xgb.json.gz")).feature_names(FEATURES).keep(["id"]);
    let groups = Partition::new(10, vec![(0..4).collect(), (4..10).collect()]).unwrap();
    let quotient = Value::quotient(Semivalue::Shapley, groups);
    let grouped = trees().background(background.clone()).value(quotient).build().unwrap();
    let schema = grouped.schema(rows.schema_ref()).unwrap();
    assert_eq!(names(&schema), ["id", "base", "prediction", "age,sex,bmi,bp", "s1,s2,s3,s4,s5,s6"]);
    assert_eq!(
        (&about(&schema)["game"], &about(&schema)["value"]),
        (&"marginal".into(), &"quotient-shapley".into())
    );
    assert_eq!(grouped.explain(&rows).unwrap().num_rows(), 2);

    let certified =
        trees().background(background).method("permutation".parse().unwrap()).until(Until::relative(0.5));
    let found = certified.build().unwrap().explain(&rows).unwrap();
    let stopped = found.column_by_name("stopped_by").unwrap().as_string::<i32>();
    assert_eq!(stopped.value(0), "tolerance");

    let behind = BatchExplainer::for_trees(ensemble("iris_xgb_softprob.json.gz")).behind_link();
    let background = Background::rows(vec![5.0, 3.0, 1.5, 0.2, 6.0, 3.0, 5.0, 2.0], 4).unwrap();
    let behind = behind.background(background).layout(Layout::Lists).build().unwrap();
    let flower = RecordBatch::try_from_iter(
        ["a", "b", "c", "d"].map(|name| (name, Arc::new(Float64Array::from(vec![5.5])) as ArrayRef)),
    );
    let found = behind.explain(&flower.unwrap()).unwrap();
    let shares = found.column(1).as_list::<i32>().value(0);
    assert!((shares.as_primitive::<Float64Type>().values().iter().sum::<f64>() - 1.0).abs() < 1e-9);
}

#[test]
fn batches_of_other_schemas_may_follow_each_other_and_errors_stand_in_their_place() {
    let rows = batch(&FEATURES, &numbers(4, 10));
    let mut texts = rows.columns().to_vec();
    texts[3] = Arc::new(StringArray::from(vec!["tall"; 4]));
    let names: Vec<String> = rows.schema_ref().fields().iter().map(|field| field.name().clone()).collect();
    let wrong = RecordBatch::try_from_iter(names.iter().map(String::as_str).zip(texts)).unwrap();
    let backwards = rows.project(&(0..11).rev().collect::<Vec<_>>()).unwrap();
    let failed = ArrowError::ParseError("a broken file".to_owned());
    let given = [Ok(rows.clone()), Ok(wrong), Err(failed), Ok(backwards)];
    let found: Vec<_> = explainer().explain_batches(given).collect();
    assert_eq!(found[0].as_ref().unwrap(), found[3].as_ref().unwrap());
    let error = found[1].as_ref().unwrap_err().to_string();
    assert!(error.contains("column \"bmi\"") && error.contains("\"tall\" is not numeric"), "{error}");
    assert!(found[2].as_ref().unwrap_err().to_string().contains("a broken file"));
}
