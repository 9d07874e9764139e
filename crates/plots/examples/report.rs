//! Writes reports of synthetic results into a directory, for the tests in a browser: `cargo run --example
//! report -- FOLDER [NAME …]`.
//!
//! The values come from a synthetic game instead of a model. They resemble real values, and sum to their
//! predictions.

use std::path::Path;
use std::time::Instant;

use apportion_plots::{
    Batch, Certified, Explained, Form, Gathering, Heading, InterimCheck, Medium, Member, PlotError, Report,
};

/// A report with the name of its file.
type NamedReport = (&'static str, fn() -> Result<String, PlotError>);

const REPORTS: [NamedReport; 18] = [
    ("exact", exact),
    ("classes", classes),
    ("estimated", estimated),
    ("groups", groups),
    ("interactions", interactions),
    ("hostile", hostile),
    ("large", large),
    ("one_row", one_row),
    ("one_feature", one_feature),
    ("no_rows", no_rows),
    ("wide", wide),
    ("right_to_left", right_to_left),
    ("zeros", zeros),
    ("huge", huge),
    ("tiny", tiny),
    ("text", text),
    ("image", image),
    ("million", million),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: report FOLDER [NAME …]")?;
    let names: Vec<String> = arguments.collect();
    std::fs::create_dir_all(&folder)?;
    for (name, made) in REPORTS {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        let page = made()?;
        std::fs::write(Path::new(&folder).join(format!("{name}.html")), page)?;
    }
    Ok(())
}

/// Returns a pseudorandom number from 0 to 1: SplitMix64 of a seed and a position.
fn noise(seed: u64, place: u64) -> f64 {
    let mut mixed = seed ^ place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns an approximately normal number with mean 0 and variance 1.
fn normal(seed: u64, place: u64) -> f64 {
    (0..12).map(|k| noise(seed.wrapping_add(1000 + k), place)).sum::<f64>() - 6.0
}

const NAMES: [&str; 6] = ["age", "education", "hours per week", "capital gain", "occupation", "relationship"];
const JOBS: [&str; 5] = ["craft", "sales", "clerical", "management", "service"];
const FAMILY: [&str; 3] = ["single", "married", "widowed"];

fn people(outputs: &[&str]) -> Heading {
    let mut heading = Heading::for_features(NAMES);
    heading.game = "marginal".into();
    heading.method = "tree".into();
    heading.facts = vec![
        ("model".into(), "income.json, 500 trees of depth 6".into()),
        ("background".into(), "100 rows of people.csv".into()),
    ];
    heading.categories[4] = JOBS.map(str::to_owned).into();
    heading.categories[5] = FAMILY.map(str::to_owned).into();
    heading.outputs = outputs.iter().map(|&name| name.to_owned()).collect();
    heading
}

/// Returns the feature values of a person.
fn person(row: u64) -> [f64; 6] {
    let age = (17.0 + 22.0 * noise(1, row) + 30.0 * noise(2, row)).floor();
    let gain = if noise(6, row) < 0.9 { 0.0 } else { (99_999.0 * noise(7, row).powi(3)).floor() };
    let job = if noise(8, row) < 0.06 { f64::NAN } else { (5.0 * noise(9, row)).floor() };
    let family = if age < 28.0 { 0.0 } else { (3.0 * noise(10, row).powf(0.7)).floor() };
    [
        age,
        (4.0 + 13.0 * noise(3, row)).floor(),
        (40.0 + 9.0 * normal(4, row)).round().clamp(1.0, 99.0),
        gain,
        job,
        family,
    ]
}

/// Returns the contribution of each feature of a person to an output.
fn values_of_person(person: &[f64; 6], output: usize) -> [f64; 6] {
    let [age, education, hours, gain, job, family] = *person;
    let turn = 1.0 - output as f64;
    let is_married = f64::from(family == 1.0);
    [
        turn * (0.9 * ((age - 17.0) / 14.0).tanh() - 0.6 - 0.012 * (age - 45.0).max(0.0))
            * (0.6 + 0.4 * is_married),
        (0.11 + 0.02 * turn) * (education - 10.0) + 0.02 * (education - 10.0) * is_married,
        0.025 * turn * (hours - 40.0).clamp(-25.0, 20.0),
        if gain > 5000.0 { 1.4 + 0.5 * turn } else { -0.12 },
        if job.is_nan() { -0.05 } else { 0.09 * (job - 1.7) * (1.0 + output as f64) },
        turn * (0.75 * is_married - 0.35) + 0.08 * output as f64,
    ]
}

/// Returns rows of people, whose values sum to their predictions.
fn batch_of_people(rows: std::ops::Range<u64>, outputs: usize) -> Batch {
    let mut batch = Batch::default();
    for row in rows {
        let person = person(row);
        let by_output: Vec<[f64; 6]> = (0..outputs).map(|output| values_of_person(&person, output)).collect();
        batch.rows.push(row);
        batch.inputs.extend(person);
        for player in 0..6 {
            batch.values.extend(by_output.iter().map(|values| values[player]));
        }
        for (output, values) in by_output.iter().enumerate() {
            let base = -0.4 + 0.3 * output as f64;
            batch.base.push(base);
            batch.predictions.push(base + values.iter().sum::<f64>());
        }
    }
    batch
}

fn gathered(heading: Heading, batch: Batch) -> Result<Explained, PlotError> {
    let mut gathering = Gathering::new(heading)?;
    gathering.add(batch)?;
    Ok(gathering.end())
}

fn exact() -> Result<String, PlotError> {
    let explained = gathered(people(&[""]), batch_of_people(0..400, 1))?;
    Report::new(&explained)
        .title("Who earns more than 50,000 a year")
        .command("apportion report --in results.json --out exact.html")
        .seconds(0.052)
        .html()
}

fn classes() -> Result<String, PlotError> {
    let explained = gathered(people(&["low", "middle", "high"]), batch_of_people(0..300, 3))?;
    Report::new(&explained)
        .title("Three classes of income")
        .command("apportion report --in classes.json --out classes.html")
        .html()
}

/// Adds standard errors, of which some are unknown, and certificates to a batch.
fn with_errors(mut batch: Batch, rows: u64, players: u64) -> Batch {
    batch.ids = Some((0..rows).map(|row| format!("person {:04}", 7 * row)).collect());
    batch.std_errors = (0..rows * players)
        // One feature has some unknown errors.
        .map(|at| if at % players == 4 && at % 13 == 5 { f64::NAN } else { 0.02 + 0.05 * noise(31, at) })
        .collect();
    for (row, (values, errors)) in
        batch.values.chunks_mut(players as usize).zip(batch.std_errors.chunks(players as usize)).enumerate()
    {
        let errors = errors.iter().enumerate().map(|(player, error)| match error.is_nan() {
            true => 0.0,
            false => error * normal(32, row as u64 * players + player as u64),
        });
        let errors: Vec<f64> = errors.collect();
        // The errors of a row sum to zero.
        let mean = errors.iter().sum::<f64>() / players as f64;
        values.iter_mut().zip(errors).for_each(|(value, error)| *value += error - mean);
    }
    batch.degrees_of_freedom = (0..rows).map(|row| 20.0 + row as f64).collect();
    batch.evaluations = (0..rows).map(|row| 40 + 20 * (row % 4)).collect();
    batch.certificates = (0..rows)
        .map(|row| {
            let is_reached = row % 9 != 0;
            (row % 50 != 1).then(|| Certified {
                stopped_by: if is_reached { "tolerance" } else { "budget" }.into(),
                guarantee: if row % 5 == 0 { "empirical-bernstein" } else { "asymptotic" }.into(),
                confidence: 0.95,
                error_bounds: vec![if is_reached { 0.08 + 0.0001 * row as f64 } else { 0.13 }],
                tolerances: vec![0.1],
                half_widths: Vec::new(),
                interim_checks: (1..=4)
                    .map(|interim_check| InterimCheck {
                        evaluations: 20 * interim_check,
                        spent: 0.0125,
                        error: Some(3.0 / interim_check as f64 * if is_reached { 0.8 } else { 1.6 }),
                    })
                    .collect(),
                says: "With probability 0.95, the error is at most 0.1.".into(),
            })
        })
        .collect();
    batch
}

fn estimated() -> Result<String, PlotError> {
    let rows = 250;
    let mut heading = people(&[""]);
    heading.method = "leverage-shap".into();
    heading.facts.extend([("seed".into(), "7".into()), ("budget".into(), "100 evaluations".into())]);
    let explained = gathered(heading, with_errors(batch_of_people(0..rows, 1), rows, 6))?;
    Report::new(&explained)
        .title("Estimated values")
        .command("apportion report --in estimated.json")
        .seconds(12.5)
        .html()
}

fn groups() -> Result<String, PlotError> {
    let mut heading = people(&[""]);
    heading.value = "owen".into();
    heading.method = "two-step".into();
    let group = |names: &[usize]| {
        Member::Group(names.iter().map(|&feature| Member::Feature(NAMES[feature].to_owned())).collect())
    };
    heading.groups = vec![group(&[0, 5]), group(&[1, 2, 4]), Member::Feature(NAMES[3].to_owned())];
    let explained = gathered(heading, batch_of_people(0..120, 1))?;
    Report::new(&explained).title("Features in groups").command("apportion report --in groups.json").html()
}

fn interactions() -> Result<String, PlotError> {
    let rows = 200;
    let explained = gathered(people(&[""]), batch_of_people(0..rows, 1))?;
    let mut heading = people(&[""]);
    heading.interactions = Some(Form::Index);
    let mut batch = batch_of_people(0..rows, 1);
    let mut pairs = Vec::new();
    for row in 0..rows as usize {
        for i in 0..6 {
            for j in 0..6 {
                let (one, other) = (batch.values[6 * row + i], batch.values[6 * row + j]);
                pairs.push(if i == j { one } else { 0.4 * one * other * noise(41, (i * j) as u64) });
            }
        }
    }
    batch.values = pairs;
    let pairs = gathered(heading, batch)?;
    Report::new(&explained)
        .interactions(&pairs)
        .title("With interactions")
        .command("apportion report --interactions pairs.json")
        .html()
}

/// Returns a report with names and cells that would execute code, hide content or overflow if a page allowed
/// it.
fn hostile() -> Result<String, PlotError> {
    let names = [
        "<script>window.__owned=1</script>",
        "</script><img src=x onerror=window.__owned=2>",
        "\"><svg onload=window.__owned=3>",
        "' onmouseover='window.__owned=4",
        "line\nbreak\u{0}\u{7}\u{202e}turned",
        "<!--<script>",
        "]]>{{7*7}}${window.__owned=5}",
    ];
    let long = "x".repeat(10_000);
    let mut names: Vec<String> = names.map(str::to_owned).into();
    names.push(long.clone());
    names.push(String::new());
    let mut heading = Heading::for_features(&names);
    heading.value = "<b onclick=alert(1)>value</b>".into();
    heading.game = "</style><script>window.__owned=6</script>".into();
    heading.facts =
        vec![("<i>".into(), "<script>window.__owned=7</script>".into()), ("long".into(), long.into())];
    heading.categories[1] = vec!["<script>window.__owned=8</script>".into(), "=cmd|' /C calc'!A0".into()];
    heading.outputs = vec![
        "<img src=x onerror=window.__owned=9>".into(),
        "</title><script>window.__owned=10</script>".into(),
    ];
    let rows = 40;
    let players = names.len() as u64;
    let values: Vec<f64> = (0..rows * players * 2).map(|at| normal(51, at)).collect();
    let batch = Batch {
        rows: (0..rows).collect(),
        ids: Some((0..rows).map(|row| format!("<script>window.__owned={row}</script>{row}")).collect()),
        base: vec![0.0; 2 * rows as usize],
        predictions: values
            .chunks(2 * players as usize)
            .flat_map(|row| [0, 1].map(|output| row.iter().skip(output).step_by(2).sum::<f64>()))
            .collect(),
        values,
        inputs: (0..rows * players)
            .map(|at| match at % players {
                1 => (at / players % 2) as f64,
                4 => f64::NAN,
                _ => normal(52, at),
            })
            .collect(),
        ..Batch::default()
    };
    let explained = gathered(heading, batch)?;
    Report::new(&explained)
        .title("</title><script>window.__owned=11</script>")
        .command("apportion report --in '</pre><script>window.__owned=12</script>'")
        .html()
}

/// Returns a batch of rows with this number of features, whose inputs are numeric.
fn plain(rows: std::ops::Range<u64>, features: u64) -> Batch {
    let mut batch = Batch::default();
    for row in rows {
        let mut sum = 1.0;
        batch.rows.push(row);
        for feature in 0..features {
            let at = row * features + feature;
            let input = normal(61, at);
            let next = normal(61, row * features + (feature + 1) % features);
            let value = (input + 0.4 * input * next) / (1.0 + feature as f64);
            sum += value;
            batch.values.push(value);
            batch.inputs.push(if at % 211 == 3 { f64::NAN } else { input });
        }
        batch.base.push(1.0);
        batch.predictions.push(sum);
    }
    batch
}

fn large() -> Result<String, PlotError> {
    let features = (0..20).map(|feature| format!("feature {feature}"));
    let explained = gathered(Heading::for_features(features), plain(0..10_000, 20))?;
    let start = Instant::now();
    let page = Report::new(&explained).title("Ten thousand rows").html();
    eprintln!("10,000 rows of 20 features take {:.2} s", start.elapsed().as_secs_f64());
    page
}

fn million() -> Result<String, PlotError> {
    let features = (0..12).map(|feature| format!("feature {feature}"));
    let mut gathering = Gathering::new(Heading::for_features(features))?.max_rows(20_000);
    for part in 0..100 {
        gathering.add(plain(10_000 * part..10_000 * (part + 1), 12))?;
    }
    Report::new(&gathering.end()).title("A million rows").html()
}

fn one_row() -> Result<String, PlotError> {
    let explained = gathered(people(&[""]), batch_of_people(3..4, 1))?;
    Report::new(&explained).title("One row").html()
}

fn one_feature() -> Result<String, PlotError> {
    let explained = gathered(Heading::for_features(["only"]), plain(0..50, 1))?;
    Report::new(&explained).title("One feature").html()
}

fn no_rows() -> Result<String, PlotError> {
    let explained = gathered(people(&[""]), Batch::default())?;
    Report::new(&explained).title("No rows").command("apportion report --in empty.json").html()
}

fn wide() -> Result<String, PlotError> {
    let features = (0..5000).map(|feature| format!("pixel {feature}"));
    let explained = gathered(Heading::for_features(features), plain(0..30, 5000))?;
    Report::new(&explained).title("Five thousand features").html()
}

fn right_to_left() -> Result<String, PlotError> {
    let mut heading = people(&[""]);
    let names = ["العمر", "التعليم", "שעות בשבוע", "מקצוע (עברית) 123", "年齢", "ηλικία"];
    heading.features = names.map(str::to_owned).into();
    heading.players = heading.features.clone();
    heading.categories[4] = ["حرفة", "מכירות", "事務", "διοίκηση", "service"].map(str::to_owned).into();
    let mut batch = batch_of_people(0..60, 1);
    batch.ids = Some((0..60).map(|row| format!("صف {row}")).collect());
    let explained = gathered(heading, batch)?;
    Report::new(&explained).title("أسماء من اليمين إلى اليسار").html()
}

/// Returns the explanation of one row with these values.
fn alone(heading: Heading, values: Vec<f64>) -> Result<Explained, PlotError> {
    let prediction = 0.2 + values.iter().sum::<f64>();
    let batch =
        Batch { rows: vec![0], base: vec![0.2], predictions: vec![prediction], values, ..Batch::default() };
    gathered(heading, batch)
}

fn text() -> Result<String, PlotError> {
    let text =
        "The room was clean and the staff were friendly, but nobody had told us of the terrible noise.";
    let mut spans = Vec::new();
    for word in text.split(' ') {
        let from = word.as_ptr().addr() - text.as_ptr().addr();
        spans.push((from, from + word.trim_end_matches([',', '.']).len()));
    }
    let mut heading = Heading::for_features(spans.iter().map(|&(from, to)| &text[from..to]));
    let values = (0..spans.len()).map(|word| 0.3 * normal(71, word as u64)).collect();
    heading.medium = Some(Medium::Text { text: text.to_owned(), spans });
    Report::new(&alone(heading, values)?).title("A text").html()
}

fn image() -> Result<String, PlotError> {
    let (width, height, patch) = (48, 32, 8);
    let across = width / patch;
    let segments =
        (0..width * height).map(|at| (at / width / patch * across + at % width / patch) as u32).collect();
    let pixels = (0..width * height)
        .map(|at| {
            let away = ((at % width) as f64 - 30.0).hypot((at / width) as f64 - 12.0);
            if away < 8.0 { [250, 215, 70] } else { [60, 120, (140 + 2 * (at / width)) as u8] }
        })
        .collect();
    let players = across * (height / patch);
    let mut heading = Heading::for_features((0..players).map(|player| format!("patch {player}")));
    heading.medium = Some(Medium::Image { width, height, segments, pixels });
    let values = (0..players).map(|player| 0.2 * normal(72, player as u64)).collect();
    Report::new(&alone(heading, values)?).title("An image").html()
}

/// Returns results in which all values, base values and predictions are multiplied by `scale`.
fn scaled(scale: f64) -> Result<Explained, PlotError> {
    let mut batch = batch_of_people(0..80, 1);
    for numbers in [&mut batch.values, &mut batch.base, &mut batch.predictions] {
        numbers.iter_mut().for_each(|number| *number *= scale);
    }
    gathered(people(&[""]), batch)
}

fn zeros() -> Result<String, PlotError> {
    Report::new(&scaled(0.0)?).title("All zeros").html()
}

fn huge() -> Result<String, PlotError> {
    Report::new(&scaled(1e290)?).title("Huge numbers").html()
}

fn tiny() -> Result<String, PlotError> {
    Report::new(&scaled(1e-300)?).title("Tiny numbers").html()
}
