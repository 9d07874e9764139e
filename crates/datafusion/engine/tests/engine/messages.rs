//! Errors of queries.

use std::sync::Arc;

use apportion_datafusion::{BatchError, register, register_all};
use datafusion::arrow::array::{ArrayRef, Date32Array, RecordBatch, StringArray};
use datafusion::prelude::SessionContext;

use crate::common::{FEATURES, batch, diabetes, explainer, fixture};

/// Returns the error message of a query, and whether the query failed before any row was read.
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
    let mut session = SessionContext::new();
    register(&mut session, "explain_one", explainer()).unwrap();
    register_all(&mut session).unwrap();
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
    let expected = "expected integers, floating-point numbers, decimals or booleans; pass the number or code \
                  that the model was trained on, or cast it";
    let no_model = "explain requires the model as its first argument, as a string literal: \
                    explain('model.json', a, b, …); it is read when the query is planned, so columns and \
                    function results are not supported";
    for (call, says) in [
        (
            "explain_one(age, sex)".to_owned(),
            format!(
                "explain_one requires 10 arguments, one per feature in the order of the model {known}, got \
                 2"
            ),
        ),
        (
            "explain_one()".to_owned(),
            format!(
                "explain_one requires 10 arguments, one per feature in the order of the model {known}, got \
                 0"
            ),
        ),
        (
            format!("explain('{path}', age)"),
            "explain requires 10 arguments after the model, one per feature in the order of the model \
             (\"f0\", \"f1\""
                .to_owned(),
        ),
        (
            format!("explain_one(size, {of_nine})"),
            format!("argument 1 of explain_one (\"age\") has the type Utf8; {expected}"),
        ),
        (
            format!("explain('{path}', day, {of_nine})"),
            format!("argument 2 of explain (\"f0\") has the type Date32; {expected}"),
        ),
        ("explain(age, sex)".to_owned(), no_model.to_owned()),
        ("explain()".to_owned(), no_model.to_owned()),
        ("explain(concat('a', size), age)".to_owned(), no_model.to_owned()),
        (
            "explain('/no/such/model.json', age)".to_owned(),
            "explain: the model \"/no/such/model.json\": cannot read the model file /no/such/model.json: "
                .to_owned(),
        ),
        (
            format!("explain('{}', age)", fixture("make_words.py").display()),
            "unrecognized model format".to_owned(),
        ),
        (
            format!("explain('{}', age)", fixture("lightgbm_linear.txt.gz").display()),
            "is not supported for linear leaves".to_owned(),
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
    let mut session = SessionContext::new();
    let model = fixture("words_xgb.json.gz").display().to_string();
    register_all(&mut session).unwrap();
    let rows =
        "(VALUES ('Rome', 40.0, 3, 'small', true), ('Athens', 40.0, 3, 'small', true)) AS t (a, b, c, d, e)";
    let query = format!("SELECT explain('{model}', a, b, c, d, e) FROM {rows}");
    let error = session.sql(&query).await.unwrap().collect().await.unwrap_err();
    let says =
        "unknown category \"Athens\" in argument 2 of explain (\"city\"); categories seen in training: ";
    assert_eq!(error.to_string().matches(says).count(), 1, "{error}");
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    let mut is_typed = false;
    while let Some(error) = cause {
        is_typed |= matches!(
            error.downcast_ref(),
            Some(BatchError::Category { actual: given, .. }) if given == "Athens"
        );
        cause = error.source();
    }
    assert!(is_typed, "{error:?}");
}
