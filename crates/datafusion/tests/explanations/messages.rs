//! Error messages: each contains the given value, the expected value and what to do, once.

use apportion::Background;
use apportion::options::Options;
use apportion_datafusion::{BatchError, BatchExplainer, register};
use datafusion_common::arrow::array::RecordBatch;
use datafusion_expr::registry::MemoryFunctionRegistry;

use crate::common::{FEATURES, batch, ensemble, explainer, numbers};

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
        "the batches: 1 of the 10 features of the model is missing from the 10 columns: \"bmi\"; rename the \
         column \"BMI\" if it is the feature \"bmi\""
    );
    assert_eq!(
        says(&explainer(), &renamed(&|name| name.replace("id", "row"))),
        "unknown column \"id\" in keep; available columns: \"row\", \"age\", \"sex\", \"bmi\", \"bp\", \
         \"s1\", \"s2\", \"s3\" and 3 more"
    );
    assert_eq!(
        says(&explainer(), &renamed(&|name| name.replace("sex", "age"))),
        "the batches: duplicate column name \"age\" (columns 1 and 2); give each column a unique name"
    );
    let trees = || BatchExplainer::for_trees(ensemble("diabetes_xgb.json.gz"));
    let message = says(&trees().build().unwrap(), &rows);
    assert!(message.starts_with("the batches: expected 10 feature columns, found 11 (\"id\", "), "{message}");
    assert!(message.ends_with("; list the others in keep"), "{message}");
    let base = renamed(&|name| name.replace("id", "base"));
    assert_eq!(
        says(&trees().feature_names(FEATURES).keep(["base"]).build().unwrap(), &base),
        "the results would contain two columns \"base\"; rename the kept column, or use Layout::Lists"
    );
}

#[test]
fn what_cannot_be_asked_is_refused_when_an_explainer_is_made() {
    let trees = || BatchExplainer::for_trees(ensemble("diabetes_xgb.json.gz"));
    let says = |built: Result<BatchExplainer, BatchError>| built.unwrap_err().to_string();
    assert_eq!(
        says(trees().feature_names(["a"]).build()),
        "expected 10 feature names, in the order of the model, got 1"
    );
    assert_eq!(
        says(trees().background(Background::baseline(vec![0.0]).unwrap()).build()),
        "the background has 1 column, expected 10 (one per feature)"
    );
    assert!(says(trees().behind_link().build()).contains("requires a tree ensemble and a background"));
    assert!(
        says(
            trees()
                .method("leverage-shap".parse().unwrap())
                .value("banzhaf".parse::<apportion::Semivalue>().unwrap())
                .build()
        )
        .contains("does not support")
    );
    let no_covers = BatchExplainer::for_trees(ensemble("lightgbm_linear.txt.gz")).build().unwrap_err();
    assert!(matches!(no_covers, BatchError::Explain(_)), "{no_covers}");
    let doubled = trees().feature_names(["a"; 10]).build().unwrap();
    let error = register(&mut MemoryFunctionRegistry::new(), "explain", doubled).unwrap_err();
    assert!(error.to_string().starts_with("duplicate feature \"a\""), "{error}");
    let error = BatchExplainer::from_file("/no/such/model.json").err().unwrap();
    assert_eq!(error.to_string().matches("/no/such/model.json").count(), 1);
}

#[test]
fn options_are_set_from_words() {
    let of =
        || BatchExplainer::for_trees(ensemble("diabetes_xgb.json.gz")).feature_names(FEATURES).keep(["id"]);
    let rows = batch(&FEATURES, &numbers(2, 10));
    let words = of().set("value", "quotient-banzhaf").unwrap();
    let words = words.set("groups", "age,sex;bmi,bp;s1,s2,s3,s4,s5,s6").unwrap();
    let groups = vec![vec![0, 1], vec![2, 3], (4..10).collect()];
    let groups = apportion::Partition::new(10, groups).unwrap();
    let typed = of().value(apportion::Value::quotient(apportion::Semivalue::Banzhaf, groups));
    let explained = |built: apportion_datafusion::Builder| built.build().unwrap().explain(&rows).unwrap();
    assert_eq!(explained(words), explained(typed));
    for name in Options::NAMES {
        let problem = of().set(name, "no such value").err().map(|error| error.to_string());
        match name {
            "game" | "output" | "rows" | "draws" | "bandwidth" | "share" | "variant" | "fallback" => {
                assert_eq!(
                    problem.unwrap(),
                    format!("option {name} is not supported for batches; remove the option")
                );
            }
            // Any string may be a list of feature names.
            "groups" | "graph" => assert_eq!(problem, None),
            _ => assert!(!problem.unwrap().contains("not supported"), "{name}"),
        }
    }
}
