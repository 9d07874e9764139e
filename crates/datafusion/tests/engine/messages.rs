//! Tests of error messages, which must contain the input, what was expected and what to do, once each.

use std::sync::Arc;

use apportion::Background;
use apportion_datafusion::{BatchError, BatchExplainer, register, register_all};
use datafusion::arrow::array::{ArrayRef, Date32Array, RecordBatch, StringArray};
use datafusion::prelude::SessionContext;

use crate::common::{FEATURES, batch, diabetes, ensemble, explainer, fixture, numbers};

/// Returns the error message of a query, and whether it failed before reading any row.
async fn message(session: &SessionContext, query: &str) -> (String, bool) {
    match session.sql(query).await {
        Err(error) => (error.to_string(), true),
        Ok(frame) => match frame.create_physical_plan().await {
            Err(error) => (error.to_string(), true),
            Ok(_) => {
                let frame = session.sql(query).await.unwrap();
                (frame.collect().await.expect_err(query).to_string(), false)
            }
        },
    }
}

#[tokio::test]
async fn what_does_not_fit_is_refused_when_a_query_is_planned() {
    let session = SessionContext::new();
    register(&session, "explain_one", explainer()).unwrap();
    register_all(&session);
    let texts = StringArray::from(vec!["tall"]);
    let days = Date32Array::from(vec![7]);
    let rows = batch(&FEATURES, &[0.01; 10]);
    let names = rows.schema();
    let names = names.fields().iter().map(|field| field.name().as_str()).chain(["size", "day"]);
    let more: [ArrayRef; 2] = [Arc::new(texts), Arc::new(days)];
    let rows = RecordBatch::try_from_iter(names.zip(rows.columns().iter().cloned().chain(more))).unwrap();
    session.register_batch("t", rows).unwrap();
    let (path, of_nine) = (diabetes(), FEATURES[1..].join(", "));
    let known = r#"("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4" and 2 more)"#;
    let wanted = "wanted are integers, floating-point numbers, decimals or booleans: give the number or code that the \
                  model was trained on, or cast it";
    let no_model = "explain wants the model first, as a text in the query: explain('model.json', a, b, …); it is read when the query is \
                    planned, so that a column or the result of another function cannot name it";
    for (call, says) in [
        (
            "explain_one(age, sex)".to_owned(),
            format!("explain_one wants 10 numbers, one for each feature of the model in its order {known}, and is given 2"),
        ),
        (
            "explain_one()".to_owned(),
            format!("explain_one wants 10 numbers, one for each feature of the model in its order {known}, and is given 0"),
        ),
        (
            format!("explain('{path}', age)"),
            "explain wants 10 numbers after the model, one for each feature of the model in its order (\"f0\", \"f1\"".to_owned(),
        ),
        (
            format!("explain_one(size, {of_nine})"),
            format!("argument 1 of explain_one (\"age\") is of the type Utf8; {wanted}"),
        ),
        (
            format!("explain('{path}', day, {of_nine})"),
            format!("argument 2 of explain (\"f0\") is of the type Date32; {wanted}"),
        ),
        ("explain(age, sex)".to_owned(), no_model.to_owned()),
        ("explain()".to_owned(), no_model.to_owned()),
        ("explain(concat('a', size), age)".to_owned(), no_model.to_owned()),
        (
            "explain('/no/such/model.json', age)".to_owned(),
            "explain: the model \"/no/such/model.json\": cannot read the model file /no/such/model.json: ".to_owned(),
        ),
        (
            format!("explain('{}', age)", fixture("make_words.py").display()),
            "this is no model file known here".to_owned(),
        ),
        (
            format!("explain('{}', age)", fixture("lightgbm_linear.txt.gz").display()),
            "has no value where a leaf is linear".to_owned(),
        ),
    ] {
        let (message, is_planned) = message(&session, &format!("SELECT {call} FROM t")).await;
        assert!(is_planned, "{call}");
        assert!(message.starts_with("Error during planning: "), "{message}");
        assert_eq!(message.matches(&says).count(), 1, "{call}: {message}\n{says}");
    }
}

#[tokio::test]
async fn what_only_rows_can_tell_ends_the_query_with_an_error_of_this_crate() {
    let session = SessionContext::new();
    let model = fixture("words_xgb.json.gz").display().to_string();
    register_all(&session);
    let rows =
        "(VALUES ('Rome', 40.0, 3, 'small', true), ('Athens', 40.0, 3, 'small', true)) AS t (a, b, c, d, e)";
    let query = format!("SELECT explain('{model}', a, b, c, d, e) FROM {rows}");
    let error = session.sql(&query).await.unwrap().collect().await.unwrap_err();
    let says = "argument 2 of explain (\"city\") holds \"Athens\", which is no category of it in training; there are";
    assert_eq!(error.to_string().matches(says).count(), 1, "{error}");
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    let mut is_typed = false;
    while let Some(error) = cause {
        is_typed |=
            matches!(error.downcast_ref(), Some(BatchError::Category { given, .. }) if given == "Athens");
        cause = error.source();
    }
    assert!(is_typed, "{error:?}");
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let rows = batch(&FEATURES, &numbers(2, 10));
    let renamed = |of: &dyn Fn(&str) -> String| {
        let names: Vec<String> = rows.schema().fields().iter().map(|field| of(field.name())).collect();
        RecordBatch::try_from_iter(names.iter().map(String::as_str).zip(rows.columns().iter().cloned()))
            .unwrap()
    };
    let says = |explainer: &BatchExplainer, rows: &RecordBatch| {
        let message = explainer.explain(rows).unwrap_err().to_string();
        assert_eq!(explainer.schema(rows.schema_ref()).unwrap_err().to_string(), message);
        message
    };
    assert_eq!(
        says(&explainer(), &renamed(&|name| name.replace("bmi", "BMI"))),
        "the model has 10 features, of which the batches lack 1: \"bmi\"; they have \"id\", \"age\", \"sex\", \"BMI\", \"bp\", \"s1\", \
         \"s2\", \"s3\" and 3 more: name the columns as the features"
    );
    assert_eq!(
        says(&explainer(), &renamed(&|name| name.replace("id", "row"))),
        "keep names \"id\", and the batches have \"row\", \"age\", \"sex\", \"bmi\", \"bp\", \"s1\", \"s2\", \"s3\" and 3 more"
    );
    assert_eq!(
        says(&explainer(), &renamed(&|name| name.replace("sex", "age"))),
        "the batches have two columns \"age\"; give each a name of its own"
    );
    let trees = || BatchExplainer::of_trees(ensemble("diabetes_xgb.json.gz"));
    let message = says(&trees().build().unwrap(), &rows);
    assert!(message.starts_with("the batches have 11 columns that may be features (\"id\", "), "{message}");
    assert!(
        message.ends_with("and the model wants 10, one for each: leave others out, or name them in keep"),
        "{message}"
    );
    let base = renamed(&|name| name.replace("id", "base"));
    assert_eq!(
        says(&trees().feature_names(FEATURES).keep(["base"]).build().unwrap(), &base),
        "the results would have two columns \"base\"; rename the one that is kept, or ask for the layout of lists"
    );
}

#[test]
fn what_cannot_be_asked_is_refused_when_an_explainer_is_made() {
    let trees = || BatchExplainer::of_trees(ensemble("diabetes_xgb.json.gz"));
    let says = |built: Result<BatchExplainer, BatchError>| built.unwrap_err().to_string();
    assert_eq!(
        says(trees().feature_names(["a"]).build()),
        "there are 1 names of features, and the model has 10; give one for each, in the order of the model"
    );
    assert_eq!(
        says(trees().background(Background::baseline(vec![0.0]).unwrap()).build()),
        "rows of the background have 1 numbers, and the model wants 10, one for each feature"
    );
    assert!(says(trees().behind_link().build()).contains("give a background"));
    assert!(
        says(
            trees()
                .method("leverage-shap".parse().unwrap())
                .value("banzhaf".parse::<apportion::Semivalue>().unwrap())
                .build()
        )
        .contains("does not compute")
    );
    let no_covers = BatchExplainer::of_trees(ensemble("lightgbm_linear.txt.gz")).build().unwrap_err();
    assert!(matches!(no_covers, BatchError::Explain(_)), "{no_covers}");
    let doubled = trees().feature_names(["a"; 10]).build().unwrap();
    let error = register(&SessionContext::new(), "explain", doubled).unwrap_err();
    assert!(error.to_string().starts_with("two features of the model are called \"a\""), "{error}");
    let error = BatchExplainer::of_file("/no/such/model.json").err().unwrap();
    assert_eq!(error.to_string().matches("/no/such/model.json").count(), 1);
}
