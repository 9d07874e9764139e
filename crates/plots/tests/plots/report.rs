//! Tests the HTML of reports. The tests of the behaviour of reports are in `browser/`.

use std::collections::BTreeMap;

use apportion_plots::{Explained, Kind, PlotError, Report};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::common::results::{Results, number};

const FEW: [&str; 4] = ["age", "income last year", "city", "hours"];

fn explained(results: &Results) -> Explained {
    results.explained(Kind::Bar)
}

fn page(results: &Results) -> String {
    Report::new(&explained(results)).command("apportion report").html().unwrap()
}

/// Returns every text between two strings.
fn between<'t>(text: &'t str, from: &str, to: &str) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let begun = &rest[at + from.len()..];
        let end = begun.find(to).expect("an end");
        found.push(&begun[..end]);
        rest = &begun[end..];
    }
    found
}

fn data(page: &str) -> Value {
    serde_json::from_str(between(page, "id=\"data\">", "</script>")[0]).unwrap()
}

/// Decodes numbers in the same way as the script of a report.
fn numbers(text: &Value, bytes: usize, exponent: &Value) -> Vec<f64> {
    let read = STANDARD.decode(text.as_str().unwrap()).unwrap();
    let factor = 2_f64.powi(exponent.as_i64().unwrap() as i32);
    let number = |part: &[u8]| {
        let mut bits = [0; 4];
        bits[..bytes].copy_from_slice(part);
        f64::from(f32::from_be_bytes(bits)) * factor
    };
    read.chunks(bytes).map(number).collect()
}

/// Returns the tags of a page with their attributes, except those in scripts and styles.
fn tags(page: &str) -> Vec<&str> {
    let body = &page[..page.find("<script").unwrap()];
    between(&body[body.find("<body>").unwrap() + 6..], "<", ">")
}

#[test]
fn the_policy_names_the_one_style_and_the_one_script() {
    let page = page(&Results::new(&FEW, 5, 2));
    let policy =
        between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"")[0].replace("&#39;", "'");
    let (styles, scripts) = (between(&page, "<style>", "</style>"), between(&page, "<script>", "</script>"));
    assert_eq!((styles.len(), scripts.len()), (1, 1));
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri \
             'none'; form-action 'none'",
            hash(styles[0]),
            hash(scripts[0])
        )
    );
    assert!(scripts[0].len() <= 50_000, "{}", scripts[0].len());
    // These functions could execute their argument.
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "eval(",
        "Function(",
        "document.write",
        "http:",
        "https:",
    ] {
        let there = scripts[0].replace("http://www.w3.org/2000/svg", "").contains(word);
        assert!(!there, "{word}");
    }
}

#[test]
fn nothing_of_the_data_is_markup() {
    let names =
        ["<script>window.x=1</script>", "\"><img src=x onerror=alert(1)>", "</style><!--", "' style='x"];
    let mut results = Results::new(&names, 6, 2);
    results.outputs = vec!["</title><script>".to_owned(), "</script>".to_owned()];
    results.ids = Some((0..6).map(|row| format!("<svg onload=alert({row})>")).collect());
    results.words = vec!["</details>".to_owned(), "\u{202e}<!--".to_owned()];
    results.inputs.iter_mut().step_by(4).for_each(|input| *input = (*input > 0.0).into());
    let explained = explained(&results);
    let page = Report::new(&explained).title("</h1><script>").command("</pre><script>").html().unwrap();
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert_eq!(page.matches("<!--").count(), 0);
    assert_eq!(page.matches("</style").count(), 1);
    assert!(!page.contains('\u{202e}'));
    for tag in tags(&page) {
        // Remove the values of attributes.
        let bare: String = tag.split('"').step_by(2).collect();
        assert!(!bare.starts_with("img") && !bare.contains(" style=") && !bare.contains(" on"), "<{tag}>");
    }
    assert_eq!(data(&page)["players"][0]["name"].as_str().map(|name| names.contains(&name)), Some(true));
}

#[test]
fn elements_end_where_they_should_and_ids_are_single() {
    for results in
        [Results::new(&FEW, 40, 3).estimated(), Results::new(&FEW, 0, 1), Results::new(&["x"], 1, 1)]
    {
        let page = page(&results);
        let mut open = Vec::new();
        let mut ids = BTreeMap::new();
        for tag in tags(&page) {
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(tag.split(' ').next().unwrap());
            }
            for id in between(tag, " id=\"", "\"") {
                assert_eq!(ids.insert(id.to_owned(), ()), None, "{id}");
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }
}

#[test]
fn the_script_is_given_the_values_to_their_precision() {
    for factor in [1.0, 1e290, 1e-300] {
        let results = Results::new(&FEW, 50, 2).estimated().times(factor);
        let data = data(&page(&results));
        assert_eq!(data["rows"], 50);
        for output in 0..2 {
            let told = &data["outputs"][output];
            let bytes = told["bytes"].as_u64().unwrap() as usize;
            let values = numbers(&told["values"], bytes, &told["exponent"]);
            for (column, player) in data["players"].as_array().unwrap().iter().enumerate() {
                let player = player["place"].as_u64().unwrap() as usize;
                for row in 0..50 {
                    let expected = results.values[(row * 4 + player) * 2 + output];
                    let found = values[column * 50 + row];
                    assert!(
                        (found - expected).abs() <= 1.6e-5 * expected.abs(),
                        "{found} {expected} {factor}"
                    );
                }
            }
            let halves = numbers(&told["halves"], 2, &told["exponent"]);
            assert!(halves.iter().all(|&half| half > 0.0 && half < 0.5 * factor), "{factor}");
        }
    }
}

#[test]
fn players_beyond_forty_are_summed() {
    let names: Vec<String> = (0..90).map(|player| format!("x{player}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let results = Results::new(&names, 3, 1);
    let data = data(&page(&results));
    assert_eq!((data["players"].as_array().unwrap().len(), &data["rest"]), (40, &Value::from(50)));
    let told = &data["outputs"][0];
    let values = numbers(&told["values"], told["bytes"].as_u64().unwrap() as usize, &told["exponent"]);
    assert_eq!(values.len(), 41 * 3);
    for row in 0..3 {
        let sum: f64 = (0..41).map(|column| values[column * 3 + row]).sum();
        let expected: f64 = results.values[90 * row..90 * (row + 1)].iter().sum();
        assert!((sum - expected).abs() < 1e-4, "{sum} {expected}");
    }
}

#[test]
fn twelve_outputs_have_figures_and_the_page_says_so() {
    let many = page(&Results::new(&FEW, 4, 15));
    assert!(many.contains("Figures show the 12 of 15 outputs with the largest values."));
    assert!(many.contains("data-output=\"11\"") && !many.contains("data-output=\"12\""));
    assert!(!page(&Results::new(&FEW, 4, 1)).contains("class=\"output\""));
}

#[test]
fn many_rows_are_a_sample_that_the_page_tells_of() {
    let names: Vec<String> = (0..20).map(|player| format!("x{player}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut results = Results::new(&names, 10_000, 1);
    // These numbers need four bytes each.
    results.inputs.iter_mut().enumerate().for_each(|(at, input)| *input = number(at));
    let explained = explained(&results);
    let page = Report::new(&explained).html().unwrap();
    assert!(page.len() <= 2_500_000, "{}", page.len());
    let data = data(&page);
    let rows = data["rows"].as_u64().unwrap();
    assert!((5000..10_000).contains(&rows), "{rows}");
    assert!(page.contains(&format!("The report stores {rows} individual rows")));
    let drawn = STANDARD.decode(data["drawn"].as_str().unwrap()).unwrap();
    let drawn: Vec<u32> = drawn.chunks(4).map(|part| u32::from_be_bytes(part.try_into().unwrap())).collect();
    assert!(drawn.is_sorted() && drawn.last().is_some_and(|&last| u64::from(last) < rows), "{drawn:?}");
    assert!(page.contains(&format!("Scatter points show {} rows", drawn.len())));
    assert!(page == Report::new(&explained).html().unwrap(), "the same results make the same bytes");
}

#[test]
fn small_pages_are_small() {
    for results in [Results::new(&FEW, 1, 1), Results::new(&FEW[..3], 10, 1), Results::new(&FEW, 0, 1)] {
        let page = page(&results);
        assert!(page.len() <= 150_000, "{} bytes", page.len());
    }
}

#[test]
fn without_rows_there_is_a_page_that_says_so() {
    let page = page(&Results::new(&FEW, 0, 2));
    assert!(page.contains("The results contain no rows, so there are no figures."));
    assert!(!page.contains("<svg") && page.contains("id=\"words\"") && !page.contains("id=\"importance\""));
}

#[test]
fn interactions_are_those_of_the_same_players() {
    let results = Results::new(&FEW, 8, 1);
    let (values, pairs) = (explained(&results), results.explained(Kind::Interactions));
    let page = Report::new(&values).interactions(&pairs).html().unwrap();
    assert!(page.contains("data-kind=\"network\"") && !page.contains("No interactions were computed"));
    let others = Results::new(&["a", "b", "c", "d"], 8, 1).explained(Kind::Interactions);
    for wrong in [&others, &values] {
        let refused = Report::new(&values).interactions(wrong).html().unwrap_err();
        assert!(matches!(refused, PlotError::Nothing { kind: "report", .. }), "{refused}");
    }
}

#[test]
fn what_is_promised_depends_on_how_values_were_found() {
    let exact = page(&Results::new(&FEW, 9, 1));
    assert!(
        exact.contains("Exact up to floating-point rounding")
            && exact.contains("attributions = prediction (largest deviation")
    );
    let mut results = Results::new(&FEW, 9, 1).estimated();
    results.std_errors[3] = f64::NAN;
    results.is_efficient = false;
    let estimated = page(&results);
    assert!(estimated.contains("pointwise 95% confidence intervals"));
    assert!(estimated.contains("The errors of 1 of the 36 stored values are unknown"));
    assert!(estimated.contains("These values are not additive"));
    assert!(estimated.contains("Widest interval") || estimated.contains("widest interval"));
    assert!(estimated.contains("Certificates for 9 rows of 9"));
}
