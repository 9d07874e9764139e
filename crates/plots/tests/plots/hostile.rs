//! Tests difficult results that every figure must be able to show.

use apportion_plots::{Cell, Dress, Kind, Options, Shape};

use crate::common::results::{Results, number};
use crate::common::scenes;

/// Returns player names that are difficult to show.
fn hostile_names() -> Vec<String> {
    let long = "x".repeat(10_000);
    [
        "<script>alert(1)</script>",
        "\u{1}control\u{0}\t\n\u{7f}",
        long.as_str(),
        "שלום עולם \u{202e}turned about\u{202c}",
        "\u{feff}\u{fffe}\u{ffff}",
        "",
        "&amp; ]]> \" ' <!-- --",
        "漢字の名前がここにある",
        "👩‍👩‍👧‍👦 family",
        "=cmd|' /C calc'!A0",
    ]
    .map(str::to_owned)
    .into()
}

/// Returns difficult results, each with a description.
fn cases() -> Vec<(&'static str, Results)> {
    let few = ["age", "income last year", "city", "hours"];
    let of = |rows, outputs| Results::new(&few, rows, outputs);
    let names = hostile_names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let many: Vec<String> = (0..5000).map(|player| format!("feature_number_{player}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut cases = vec![
        ("exact", of(30, 1)),
        ("estimates", of(30, 1).estimated()),
        ("one row", of(1, 1).estimated()),
        ("one player", Results::new(&["x"], 12, 1).estimated()),
        ("one player in one row", Results::new(&["x"], 1, 1)),
        ("two rows", of(2, 1)),
        ("many rows", of(2000, 1).estimated()),
        ("several outputs", of(20, 3).estimated()),
        ("names", Results::new(&names, 12, 1).estimated()),
        ("many players", Results::new(&many, 2, 1).estimated()),
        ("all zero", of(10, 1).times(0.0)),
        ("huge", of(30, 1).estimated().times(1e290)),
        ("tiny", of(30, 1).estimated().times(1e-300)),
        ("subnormal", of(30, 1).estimated().times(1e-320)),
    ];
    let mut add = |name, results: Results, change: &dyn Fn(&mut Results)| {
        let mut results = results;
        change(&mut results);
        cases.push((name, results));
    };
    add("missing inputs", of(12, 1), &|results| results.inputs.fill(f64::NAN));
    add("some inputs missing", of(12, 1), &|results| {
        results.inputs.iter_mut().step_by(3).for_each(|input| *input = f64::NAN);
    });
    add("infinite inputs", of(12, 1), &|results| results.inputs.fill(f64::INFINITY));
    add("some inputs infinite", of(60, 1), &|results| {
        let ends = [f64::INFINITY, f64::NEG_INFINITY, 1e305, f64::NAN];
        results.inputs.iter_mut().step_by(3).zip(ends.iter().cycle()).for_each(|(input, end)| *input = *end);
    });
    add("the same input", of(12, 1), &|results| results.inputs.fill(3.0));
    add("huge inputs", of(12, 1), &|results| results.inputs.iter_mut().for_each(|input| *input *= 1e297));
    add("unknown errors", of(12, 1).estimated(), &|results| results.std_errors.fill(f64::NAN));
    add("some errors unknown", of(12, 1).estimated(), &|results| {
        results.std_errors.iter_mut().step_by(2).for_each(|error| *error = f64::NAN);
    });
    add("large errors", of(12, 1).estimated(), &|results| {
        results.std_errors.iter_mut().for_each(|error| *error *= 1e6);
    });
    add("a sum of nothing", of(12, 1), &|results| {
        // The values cancel, so that all predictions are the base value.
        for row in results.values.chunks_mut(4) {
            (row[1], row[3]) = (-row[0], -row[2]);
        }
    });
    add("one that is much larger", of(12, 1), &|results| {
        results.values.iter_mut().step_by(4).for_each(|value| *value *= 1e12);
    });
    add("all of one sign", of(12, 1), &|results| {
        results.values.iter_mut().for_each(|value| *value = -value.abs());
    });
    add("unattributed", of(12, 1), &|results| results.is_efficient = false);
    add("words", of(12, 1), &|results| {
        results.words = hostile_names();
        results.inputs.iter_mut().step_by(4).enumerate().for_each(|(at, code)| *code = (at % 12) as f64);
    });
    add("names of outputs", of(12, 2), &|results| {
        results.outputs = vec!["y".repeat(10_000), "<b>".to_owned()]
    });
    add("ids", of(10, 1), &|results| results.ids = Some(hostile_names()));
    add("ids of one row", of(1, 1), &|results| results.ids = Some(vec!["z".repeat(10_000)]));
    add("a sample", of(500, 1).estimated(), &|results| results.max_rows = 20);
    add("interim checks of nothing", of(3, 1), &|results| {
        results.interim_checks = vec![(0, Some(0.0)), (u64::MAX, Some(1e-300))]
    });
    add("interim checks without finite bounds", of(3, 1), &|results| {
        results.interim_checks =
            vec![(1, Some(f64::NAN)), (2, None), (3, Some(f64::INFINITY)), (4, Some(2.0))];
    });
    add("a text without spaces", of(1, 1), &|results| results.text = "w".repeat(20_000));
    add("a text of lines", of(1, 1), &|results| results.text = "a\n".repeat(3_000));
    add("a text of hostile words", of(1, 1), &|results| results.text = hostile_names().join(" "));
    add("no text", of(1, 1), &|results| results.text.clear());
    cases
}

/// Limits the results to what a kind of figure supports: a matrix of 5000 players takes too much memory for a
/// test.
fn fit_for(kind: Kind, results: &Results) -> Results {
    let most = 300;
    if !matches!(kind, Kind::Interactions | Kind::Network) || results.names.len() <= most {
        return results.clone();
    }
    let names: Vec<&str> = results.names.iter().take(most).map(String::as_str).collect();
    Results::new(&names, results.rows, results.outputs.len())
}

#[test]
fn every_kind_is_drawn_of_every_case_at_every_width() {
    let mut wrong = Vec::new();
    for (name, results) in cases() {
        for kind in Kind::ALL {
            let explained = fit_for(kind, &results).explained(kind);
            for width in [0.0, 320.0, 720.0, 1600.0] {
                let mut options = Options::default();
                options.width = width;
                options.output = results.outputs.len() - 1;
                options.row =
                    Some(results.rows as u64 - 1).filter(|_| !explained.is_sample() && width == 720.0);
                let scene = kind.lay_out(&explained, &options).unwrap();
                if let Err(why) = scenes::check(&scene) {
                    let why: String = why.chars().take(600).collect();
                    wrong.push(format!("{kind} of {name} at {width}: {why}"));
                }
                let again = kind.lay_out(&explained, &options).unwrap();
                assert!(again.svg(Dress::Colours) == scene.svg(Dress::Colours), "{kind} of {name} differs");
                assert!(
                    again.table.to_csv() == scene.table.to_csv(),
                    "the table of {kind} of {name} differs"
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn errors_that_are_unknown_are_never_zero() {
    let mut results = Results::new(&["a", "b", "c"], 6, 1).estimated();
    results.std_errors.fill(f64::NAN);
    for kind in
        [Kind::Waterfall, Kind::Force, Kind::Bar, Kind::Beeswarm, Kind::Scatter, Kind::Cohorts, Kind::Groups]
    {
        let table = kind.lay_out(&results.explained(kind), &Options::default()).unwrap().table;
        let column = table.columns.iter().position(|name| name.ends_with("half-width")).unwrap();
        let is_known = |line: &&Vec<Cell>| !matches!(line[column], Cell::Number(half) if half.is_nan());
        // Base value and prediction are not estimates.
        let known: Vec<_> = table.lines.iter().filter(is_known).map(|line| line[0].clone()).collect();
        assert!(
            known.iter().all(|name| *name == "base value".into() || *name == "prediction".into()),
            "{kind}: {known:?}"
        );
    }
}

/// Numbers must not be truncated, because a part of a number could be misread as a different number.
#[test]
fn no_number_is_cut() {
    let names = ["age", "income of the last year that is known", "city", "hours"];
    for factor in [1.0, 1e290, 1e-9, 1e-299] {
        let mut results = Results::new(&names, 30, 1).estimated().times(factor);
        results.inputs.iter_mut().for_each(|input| *input *= 1e297 / 3.0);
        for kind in Kind::ALL {
            let explained = results.explained(kind);
            for width in [280.0, 320.0, 720.0] {
                let mut options = Options::default();
                options.width = width;
                let scene = kind.lay_out(&explained, &options).unwrap();
                let texts = scene.shapes.iter().filter_map(|shape| match shape {
                    Shape::Text { text, .. } => Some(text.as_str()),
                    _ => None,
                });
                let is_digit = |letter: char| letter.is_ascii_digit();
                let is_cut = |text: &str| {
                    let parts: Vec<&str> = text.split('…').collect();
                    parts.windows(2).any(|pair| pair[0].ends_with(is_digit) || pair[1].starts_with(is_digit))
                };
                let cut: Vec<&str> = texts.clone().filter(|text| is_cut(text)).collect();
                assert!(cut.is_empty(), "{kind} of {factor:e} at {width}: {cut:?}");
                // The heatmap labels its colours for numbers of any magnitude.
                let says_most = texts.clone().any(|text| text.starts_with('+'));
                assert!(kind != Kind::Heatmap || says_most, "{factor:e} at {width}");
            }
        }
    }
}

#[cfg(feature = "bitmap")]
#[test]
fn the_font_has_all_letters_that_figures_add() {
    let results = Results::new(&["age", "größe", "возраст", "ηλικία"], 12, 2).estimated();
    for kind in Kind::ALL {
        let scene = kind.lay_out(&results.explained(kind), &Options::default()).unwrap();
        let lacking = scene.letters_without_font();
        assert!(lacking.is_empty(), "{kind}: {lacking:?}");
    }
    let results = Results::new(&["e\u{301}", "年齢", "é😀年"], 3, 1);
    let scene = Kind::Bar.lay_out(&results.explained(Kind::Bar), &Options::default()).unwrap();
    let mut lacking = scene.letters_without_font();
    lacking.sort_unstable();
    assert_eq!(lacking, ['\u{301}', '年', '齢', '😀']);
}

#[cfg(feature = "bitmap")]
#[test]
fn every_kind_is_a_png() {
    for (name, results) in cases() {
        for kind in Kind::ALL {
            let explained = fit_for(kind, &results).explained(kind);
            let mut options = Options::default();
            options.width = 320.0;
            let scene = kind.lay_out(&explained, &options).unwrap();
            if scene.height < 2_000.0 {
                let png = scene.png(1.0).unwrap();
                assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n", "{kind} of {name}");
            }
        }
    }
}

#[test]
fn numbers_of_the_cases_are_spread() {
    let numbers: Vec<f64> = (0..1000).map(number).collect();
    let mean = numbers.iter().sum::<f64>() / 1000.0;
    // The tolerance is five standard errors of the mean of numbers from −1 to 1.
    assert!(mean.abs() < 5.0 / 3000.0_f64.sqrt(), "{mean}");
}
