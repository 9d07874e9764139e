//! Categories as they occur in the training tables.

use apportion_games::Rows;
use apportion_models::{Categories, Category, Ensemble, UnknownCategory};
use serde_json::{Value, json};

use crate::common::{assert_refused, content, json_fixture, read};

/// Returns the code of a cell as documented by the libraries.
fn code(words: Option<&Categories>, cell: &Value) -> f64 {
    match (words, cell) {
        (_, Value::Null) => f64::NAN,
        (Some(words), Value::String(text)) => words.code_of_text(text).unwrap(),
        (Some(words), Value::Number(number)) => words.code_of_number(number.as_f64().unwrap()).unwrap(),
        (Some(words), Value::Bool(flag)) => words.code_of_number(f64::from(*flag)).unwrap(),
        (None, Value::Bool(flag)) => f64::from(*flag),
        (_, cell) => cell.as_f64().unwrap(),
    }
}

/// Asserts that the margins of rows with categories equal the margins of the library, with an error of at
/// most `within`. For margins above 1 in absolute value, the error is relative.
fn assert_margins(file: &str, model_name: &str, within: f64) -> Ensemble {
    let model = Ensemble::from_bytes(&content(file)).unwrap();
    let document = json_fixture("words.json.gz");
    let of_model = &document["models"][model_name];
    let columns: Vec<&str> =
        of_model["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let margins: Vec<f64> =
        of_model["margins"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect();
    let rows: Vec<f64> = (0..margins.len())
        .flat_map(|row| {
            let (model, document) = (&model, &document);
            let cells = columns.iter().enumerate();
            cells.map(move |(feature, name)| code(model.categories(feature), &document["columns"][name][row]))
        })
        .collect();
    let ours = model.margins(Rows::new(&rows, columns.len())).unwrap();
    for (row, (ours, theirs)) in ours.iter().zip(&margins).enumerate() {
        assert!(
            (ours - theirs).abs() <= within * theirs.abs().max(1.0),
            "{file}, row {row}: {ours}, {theirs}"
        );
    }
    model
}

fn texts(words: &Categories) -> Vec<String> {
    let text = |category: &Category| match category {
        Category::Text(text) => text.clone(),
        Category::Number(number) => number.to_string(),
    };
    words.list().iter().map(text).collect()
}

#[test]
fn xgboost_files_hold_the_words_of_their_categories() {
    for file in ["words_xgb.json.gz", "words_xgb.ubj.gz"] {
        let model = assert_margins(file, "xgb", 1e-6);
        let lists = [0, 2, 3].map(|feature| texts(model.categories(feature).unwrap()));
        assert_eq!(lists[0], ["1", "Köln", "New York", "Rome"], "{file}");
        assert_eq!((lists[1].join(" "), lists[2].join(" ")), ("3 5 7".into(), "small medium large".into()));
        assert!(
            model.categories(1).is_none() && model.categories(4).is_none() && model.categories(5).is_none()
        );
        assert_eq!(model.categories(0).unwrap().unknown(), UnknownCategory::Refused);
        assert_eq!(model.categories(0).unwrap().code_of_text("Oslo"), None);
    }
}

#[test]
fn words_that_xgboost_may_have_cut_wrongly_have_a_note() {
    let mut document = json_fixture("words_xgb.json.gz");
    let notes = |document: &Value| read(document).unwrap().notes().join("; ");
    assert!(!notes(&document).contains("ASCII"));
    document["version"] = json!([3, 2, 0]);
    assert!(notes(&document).contains("features 0, counted from 0"), "{}", notes(&document));
    // The offsets count characters instead of bytes, so "Köln" ends after its l, and its last letter starts
    // the next category.
    let offsets = "/learner/gradient_booster/model/cats/enc/0/offsets";
    *document.pointer_mut(offsets).unwrap() = json!([0, 1, 5, 13, 17]);
    assert_eq!(texts(read(&document).unwrap().categories(0).unwrap()), ["1", "Köl", "nNew Yor", "kRom"]);
    *document.pointer_mut(offsets).unwrap() = json!([0, 1, 3, 13, 17]);
    let error = read(&document).unwrap_err().to_string();
    assert!(error.contains("XGBoost before 3.4 truncates non-ASCII categories"), "{error}");
}

#[test]
fn lightgbm_files_hold_the_categories_of_pandas() {
    let model = assert_margins("words_lgbm.txt.gz", "lgbm", 1e-12);
    let lists: Vec<Option<String>> =
        (0..8).map(|feature| Some(texts(model.categories(feature)?).join(" "))).collect();
    let some = |text: &str| Some(text.to_owned());
    // Ordered and constant columns also have categories; numeric and boolean columns do not.
    let expected = [
        some("1 Köln New York Rome"),
        None,
        some("3 5 7"),
        some("small medium large"),
        some("0 1"),
        some("same"),
        some("0.5 2"),
        None,
    ];
    assert_eq!(lists, expected);
    assert_eq!(model.categories(0).unwrap().unknown(), UnknownCategory::Missing);
}

#[test]
fn damaged_words_are_refused() {
    let document = json_fixture("words_xgb.json.gz");
    let city = "/learner/gradient_booster/model/cats/enc/0";
    read(&document).unwrap();
    for (place, value) in [
        (format!("{city}/offsets"), json!([0, 5, 1000])),
        (format!("{city}/offsets"), json!([5, 0])),
        (format!("{city}/offsets"), json!([-1, 2])),
        (format!("{city}/offsets/2"), json!(3)), // splits the letter ö
        (format!("{city}/values/0"), json!(256)),
        (format!("{city}/values/0"), json!(0.5)),
        (format!("{city}/values"), json!("Rome")),
        ("/learner/gradient_booster/model/cats/enc".to_owned(), json!([])),
    ] {
        if value == json!([]) {
            let mut without = document.clone();
            *without.pointer_mut(&place).unwrap() = value;
            assert!(read(&without).unwrap().categories(0).is_none());
        } else {
            assert_refused(&document, &place, &value, "learner.gradient_booster.model.cats.enc[0]");
        }
    }
    let few = json!([{"offsets": [], "values": []}]);
    assert_refused(&document, "/learner/gradient_booster/model/cats/enc", &few, "expected categories for");
    let text = String::from_utf8(content("words_lgbm.txt.gz")).unwrap();
    for (from, to) in
        [("pandas_categorical:[[", "pandas_categorical:["), ("[3, 5, 7]", "7"), ("[3, 5, 7]", "[3, [], 7]")]
    {
        let error = Ensemble::from_bytes(text.replace(from, to).as_bytes()).unwrap_err().to_string();
        assert!(error.contains("invalid pandas_categorical"), "{error}");
    }
    let none = text.replace("pandas_categorical:[[", "pandas_categorical:null\n# [[");
    assert!(Ensemble::from_bytes(none.as_bytes()).unwrap().categories(0).is_none());
}
