//! Functions, called as DataFusion calls them: first with the types of the arguments, then with arrays.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use apportion::Background;
use apportion_datafusion::{BatchError, BatchExplainer, function, register_all, register_models};
use datafusion_common::arrow::array::{Array, ArrayRef, AsArray, Float64Array, StringArray};
use datafusion_common::arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion_common::config::ConfigOptions;
use datafusion_common::{DataFusionError, Result, ScalarValue};
use datafusion_expr::registry::{FunctionRegistry, MemoryFunctionRegistry};
use datafusion_expr::{ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF};

use crate::common::{FEATURES, batch, bits, diabetes, ensemble, explainer, fixture, numbers, of_library};

/// Returns the type of a call's result, as determined when a query is planned.
fn planned(function: &ScalarUDF, arguments: &[ColumnarValue]) -> Result<(Vec<FieldRef>, FieldRef)> {
    let fields: Vec<FieldRef> =
        arguments.iter().map(|argument| Arc::new(Field::new("", argument.data_type(), true))).collect();
    let scalars: Vec<Option<&ScalarValue>> = arguments
        .iter()
        .map(|argument| match argument {
            ColumnarValue::Scalar(scalar) => Some(scalar),
            ColumnarValue::Array(_) => None,
        })
        .collect();
    let returned = function
        .return_field_from_args(ReturnFieldArgs { arg_fields: &fields, scalar_arguments: &scalars })?;
    Ok((fields, returned))
}

/// Returns the result of a call for `rows` rows.
fn called(function: &ScalarUDF, arguments: Vec<ColumnarValue>, rows: usize) -> Result<ColumnarValue> {
    let (arg_fields, return_field) = planned(function, &arguments)?;
    let result = function.invoke_with_args(ScalarFunctionArgs {
        args: arguments,
        arg_fields,
        number_rows: rows,
        return_field: Arc::clone(&return_field),
        config_options: Arc::new(ConfigOptions::new()),
    })?;
    assert_eq!(&result.data_type(), return_field.data_type());
    Ok(result)
}

fn array(result: ColumnarValue, rows: usize) -> ArrayRef {
    let array = result.into_array(rows).unwrap();
    assert_eq!(array.len(), rows);
    array
}

fn text(text: &str) -> ColumnarValue {
    ColumnarValue::Scalar(ScalarValue::from(text))
}

fn number(number: impl Into<Option<f64>>) -> ColumnarValue {
    ColumnarValue::Scalar(ScalarValue::Float64(number.into()))
}

/// Returns the feature columns of `numbers`.
fn columns(numbers: &[f64]) -> Vec<ColumnarValue> {
    let rows = batch(&FEATURES, numbers);
    rows.columns()[1..].iter().map(|column| ColumnarValue::Array(Arc::clone(column))).collect()
}

/// Returns the values of each feature in a column of explanations, as bits.
fn values(explanations: &dyn Array) -> Vec<Vec<u64>> {
    let values = explanations.as_struct().column_by_name("values").unwrap();
    values.as_struct().columns().iter().map(|column| bits(column)).collect()
}

#[test]
fn values_are_those_of_the_library_to_the_last_bit() {
    let numbers = numbers(300, 10);
    let expected = of_library(&ensemble("diabetes_xgb.json.gz"), &numbers);
    let explain = function("explain_risk", explainer()).unwrap();
    let mut session = MemoryFunctionRegistry::new();
    register_all(&mut session).unwrap();
    let by_path = session.udf("explain").unwrap();
    assert_eq!(by_path.aliases(), ["explain_row"]);
    for size in [1, 7, 300] {
        for first in (0..300).step_by(size) {
            let rows = size.min(300 - first);
            let part = columns(&numbers[first * 10..(first + rows) * 10]);
            let named = [vec![text(&diabetes())], part.clone()].concat();
            for result in [called(&explain, part, rows).unwrap(), called(&by_path, named, rows).unwrap()] {
                for (found, expected) in values(&array(result, rows)).iter().zip(&expected) {
                    assert_eq!(found, &expected[first..first + rows]);
                }
            }
        }
    }
}

#[test]
fn base_and_values_add_up_to_the_prediction_and_metadata_describe_the_run() {
    let mut session = MemoryFunctionRegistry::new();
    register_all(&mut session).unwrap();
    let explain = session.udf("explain").unwrap();
    let arguments = [vec![text(&diabetes())], columns(&numbers(50, 10))].concat();
    let (_, returned) = planned(&explain, &arguments).unwrap();
    let about: serde_json::Value = serde_json::from_str(&returned.metadata()["apportion"]).unwrap();
    assert_eq!((&about["layout"], &about["method"]), (&"struct".into(), &"tree".into()));
    assert_eq!(about["features"][0], "f0");
    let explained = array(called(&explain, arguments, 50).unwrap(), 50);
    let explained = explained.as_struct();
    assert_eq!(explained.column_names(), ["base", "prediction", "values"]);
    let number = |place: usize, row: usize| explained.column(place).as_primitive::<Float64Type>().value(row);
    for row in 0..50 {
        let cell = |column: &ArrayRef| column.as_primitive::<Float64Type>().value(row);
        let sum: f64 = explained.column(2).as_struct().columns().iter().map(cell).sum();
        assert!((number(0, row) + sum - number(1, row)).abs() < 1e-9);
    }
}

#[test]
fn nulls_are_missing_values_and_constants_are_explained_once() {
    let explain = function("explain_risk", explainer()).unwrap();
    let empty = array(called(&explain, columns(&[]), 0).unwrap(), 0);
    assert!(matches!(empty.data_type(), DataType::Struct(_)));

    let mut row = vec![0.01; 10];
    row[3] = f64::NAN;
    let expected = of_library(&ensemble("diabetes_xgb.json.gz"), &row);
    for missing in [number(None), number(f64::NAN), ColumnarValue::Scalar(ScalarValue::Int32(None))] {
        let mut arguments = vec![number(0.01); 10];
        arguments[3] = missing;
        let constant = called(&explain, arguments.clone(), 5).unwrap();
        assert!(matches!(constant, ColumnarValue::Scalar(_)));
        assert_eq!(values(&array(constant, 1)), expected);
        // Missing constants next to a column have the same effect.
        arguments[0] = ColumnarValue::Array(Arc::new(Float64Array::from(vec![0.01, 0.01])));
        let found = array(called(&explain, arguments, 2).unwrap(), 2);
        assert_eq!(values(&found.slice(1, 1)), expected);
    }
}

#[test]
fn several_outputs_are_lists() {
    let flowers = BatchExplainer::for_trees(ensemble("iris_xgb_softprob.json.gz"));
    let explain = function("explain_iris", flowers.build().unwrap()).unwrap();
    let found = array(called(&explain, [5.1, 3.5, 1.4, 0.2].map(number).to_vec(), 1).unwrap(), 1);
    let found = found.as_struct();
    assert_eq!(found.column_by_name("prediction").unwrap().as_list::<i32>().value_length(0), 3);
    assert_eq!(found.column(2).as_struct().column(2).as_list::<i32>().value_length(0), 3);
}

#[test]
fn a_model_is_read_once_and_the_last_batches_are_remembered() {
    let (read, predicted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut session = MemoryFunctionRegistry::new();
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
    let explain = session.udf("explain_sum").unwrap();
    let call = |first: f64| {
        let column = |number: f64| {
            ColumnarValue::Array(Arc::new(Float64Array::from(vec![number, number + 1.0])) as ArrayRef)
        };
        array(called(&explain, vec![text("sum"), column(first), column(2.5)], 2).unwrap(), 2)
    };
    let first = call(1.5);
    let cost = predicted.swap(0, Ordering::SeqCst);
    assert!(cost > 0);
    assert_eq!(&call(1.5), &first);
    assert_eq!(predicted.swap(0, Ordering::SeqCst), 0);
    assert_ne!(&call(9.5), &first);
    assert_eq!(predicted.swap(0, Ordering::SeqCst), cost);
    assert_eq!(read.load(Ordering::SeqCst), 1);
}

/// Returns the message for a call that is rejected when a query is planned.
fn refused(function: &ScalarUDF, arguments: &[ColumnarValue]) -> String {
    match planned(function, arguments) {
        Err(DataFusionError::Plan(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_that_do_not_fit_are_refused_when_a_query_is_planned() {
    let explain_one = function("explain_one", explainer()).unwrap();
    let mut session = MemoryFunctionRegistry::new();
    register_all(&mut session).unwrap();
    let explain = session.udf("explain").unwrap();
    let with_model = |model: String, rest: usize| [vec![text(&model)], vec![number(0.0); rest]].concat();
    let no_model = "explain requires the model as its first argument, as a string literal: \
                    explain('model.json', a, b, …)";
    for (message, says) in [
        (
            refused(&explain_one, &[number(1.0), number(2.0)]),
            "explain_one requires 10 arguments, one per feature",
        ),
        (refused(&explain_one, &[]), ", got 0"),
        (refused(&explain, &with_model(diabetes(), 1)), "explain requires 10 arguments after the model"),
        (
            refused(
                &explain_one,
                &[vec![ColumnarValue::Scalar(ScalarValue::Date32(Some(7)))], vec![number(0.0); 9]].concat(),
            ),
            "argument 1 of explain_one (\"age\") has the type Date32; expected integers",
        ),
        (
            refused(
                &explain,
                &[with_model(diabetes(), 9), vec![ColumnarValue::Scalar(ScalarValue::Date32(Some(7)))]]
                    .concat(),
            ),
            "argument 11 of explain (\"f9\") has the type Date32; ",
        ),
        (refused(&explain, &[number(1.0), number(2.0)]), no_model),
        (refused(&explain, &[]), no_model),
        (refused(&explain, &[ColumnarValue::Array(Arc::new(StringArray::from(vec!["m"])))]), no_model),
        (
            refused(&explain, &with_model("/no/such/model.json".to_owned(), 1)),
            "explain: the model \"/no/such/model.json\": cannot read the model file /no/such/model.json: ",
        ),
        (
            refused(&explain, &with_model(fixture("make_words.py").display().to_string(), 1)),
            "unrecognized model format",
        ),
        (
            refused(&explain, &with_model(fixture("lightgbm_linear.txt.gz").display().to_string(), 1)),
            "is not supported for linear leaves",
        ),
    ] {
        assert_eq!(message.matches(says).count(), 1, "{message}\n{says}");
    }
}

#[test]
fn an_unknown_category_is_an_error_of_this_crate() {
    let mut session = MemoryFunctionRegistry::new();
    register_all(&mut session).unwrap();
    let explain = session.udf("explain").unwrap();
    let cities: ArrayRef = Arc::new(StringArray::from(vec!["Rome", "Athens"]));
    let size = text("small");
    let arguments = vec![
        text(&fixture("words_xgb.json.gz").display().to_string()),
        ColumnarValue::Array(cities),
        number(40.0),
        number(3.0),
        size,
        ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))),
    ];
    let DataFusionError::External(error) = called(&explain, arguments, 2).unwrap_err() else {
        panic!("not an error of this crate")
    };
    assert!(
        matches!(error.downcast_ref(), Some(BatchError::Category { actual: given, .. }) if given == "Athens"),
        "{error:?}"
    );
}
