//! Draws every kind of figure as SVG and PNG, for synthetic data:
//!
//! ```text
//! cargo run -p apportion-plots --example gallery -- FOLDER [ROWS] [WIDTH]
//! ```

use std::path::Path;

use apportion_plots::{
    Batch, Certified, Dress, Explained, Form, Gathering, Heading, InterimCheck, Kind, Medium, Member,
    Options, PlotError,
};

/// Twelve features of people. Categorical features are listed with their categories.
const FEATURES: [(&str, &[&str]); 12] = [
    ("age", &[]),
    ("income last year", &[]),
    ("city", &["Paris", "Łódź", "São Paulo", "New York"]),
    ("hours per week", &[]),
    ("education", &["school", "college", "university"]),
    ("years in the present occupation", &[]),
    ("children", &[]),
    ("has_account", &["no", "yes"]),
    ("distance_to_the_nearest_station_in_kilometres", &[]),
    ("rent", &[]),
    ("savings", &[]),
    ("noise", &[]),
];

const TEXT: &str = "The room was clean and the staff were friendly, but the bed was terrible: after one \
                    night my back hurt, and nobody cared.\nWe would not come again, in spite of the \
                    wonderful breakfast in New York.";
const TEXT_TO_THE_LEFT: &str =
    "החדר היה נקי והצוות היה נחמד, אבל המיטה הייתה נוראה. לא נחזור לשם, למרות ארוחת הבוקר הנפלאה.";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: gallery FOLDER")?;
    let rows = arguments.next().map_or(Ok(300), |rows| rows.parse())?;
    let width = arguments.next().map_or(Ok(720.0), |width| width.parse())?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let (values, pairs) = (values(rows)?, pairs(rows)?);
    let (text, image) = (text(TEXT)?, image()?);
    let mut options = Options::default();
    options.width = width;
    let of_kind = |kind| match kind {
        Kind::Interactions | Kind::Network => &pairs,
        Kind::Text => &text,
        Kind::Image => &image,
        _ => &values,
    };
    for kind in Kind::ALL {
        draw(folder, kind, kind.name(), of_kind(kind), &options)?;
    }
    options.row = Some(2);
    draw(folder, Kind::Decision, "decision_of_row", &values, &options)?;
    draw(folder, Kind::Convergence, "convergence_of_row", &values, &options)?;
    options.row = None;
    draw(folder, Kind::Text, "text_to_the_left", &self::text(TEXT_TO_THE_LEFT)?, &options)?;
    options.cohorts = vec!["age >= 40".parse()?, "city = Łódź".parse()?, "savings = missing".parse()?];
    draw(folder, Kind::Cohorts, "cohorts_by_conditions", &values, &options)?;
    Ok(())
}

fn draw(
    folder: &Path,
    kind: Kind,
    name: &str,
    explained: &Explained,
    options: &Options,
) -> Result<(), Box<dyn std::error::Error>> {
    let scene = kind.lay_out(explained, options)?;
    std::fs::write(folder.join(format!("{name}.svg")), scene.svg(Dress::Colours))?;
    std::fs::write(folder.join(format!("{name}.png")), scene.png(2.0)?)?;
    println!("{name}: {}", scene.description);
    Ok(())
}

/// Returns a pseudorandom number from 0 to 1, which is the same for the same arguments: a multiplicative
/// hash.
fn share(row: u64, of: u64) -> f64 {
    let mut mixed = (row * 31 + of + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns the inputs of a row. The savings are missing in one of twenty rows.
fn inputs(row: u64) -> Vec<f64> {
    let input = |(feature, (_, words)): (usize, &(&str, &[&str]))| match words.len() {
        0 => {
            let share = share(row, feature as u64);
            let range =
                [75.0, 90_000.0, 0.0, 60.0, 0.0, 40.0, 4.0, 0.0, 30.0, 2_000.0, 50_000.0, 1.0][feature];
            let is_missing = feature == 10 && share < 0.05;
            if is_missing {
                f64::NAN
            } else {
                (range * share * if feature == 6 { share } else { 1.0 }).round()
            }
        }
        count => (share(row, feature as u64) * count as f64).floor(),
    };
    FEATURES.iter().enumerate().map(input).collect()
}

/// Returns the main effect of each feature.
fn alone(row: u64) -> Vec<f64> {
    let inputs = inputs(row);
    let part = |(feature, &input): (usize, &f64)| match feature {
        _ if input.is_nan() => -0.1,
        0 => -((input - 45.0) / 30.0).powi(2) + 0.6,
        1 => (input - 45_000.0) / 40_000.0,
        2 => [0.4, -0.3, 0.1, 0.0][input as usize],
        3 => (input - 30.0) / 60.0,
        4 => [-0.4, 0.0, 0.5][input as usize],
        5 => 0.3 * (input / 6.0).sin(),
        6 => -0.1 * input + 0.1,
        7 => 0.2 * input - 0.1,
        8 => (15.0 - input) / 80.0,
        9 => (input - 1_000.0) / 9_000.0,
        10 => (input - 25_000.0) / 100_000.0,
        _ => 0.02 * (share(row, 99) - 0.5),
    };
    inputs.iter().enumerate().map(part).collect()
}

/// Returns the interactions of pairs: age and income, city and rent, hours and children, education and
/// occupation.
fn together(row: u64) -> Vec<(usize, usize, f64)> {
    let of = |feature: u64| share(row, feature) - 0.5;
    vec![
        (0, 1, 2.4 * of(0) * of(1)),
        (2, 9, 1.2 * of(2) * of(9)),
        (3, 6, 0.8 * of(3) * of(6)),
        (4, 5, 0.4 * of(4) * of(5)),
    ]
}

fn heading() -> Heading {
    let mut heading = Heading::for_features(FEATURES.map(|(name, _)| name));
    heading.categories =
        FEATURES.iter().map(|(_, words)| words.iter().map(|&word| word.to_owned()).collect()).collect();
    let feature = |place: usize| Member::Feature(FEATURES[place].0.to_owned());
    let group = |places: &[usize]| Member::Group(places.iter().map(|&place| feature(place)).collect());
    let money = Member::Group(vec![feature(1), group(&[9, 10])]);
    heading.groups =
        vec![money, group(&[3, 4, 5]), group(&[0, 6]), feature(2), feature(7), feature(8), feature(11)];
    heading
}

/// Returns the certificate for a row; its error bound decreases with the square root of the number of
/// evaluations.
fn certified(row: u64) -> Certified {
    let interim_check = |k: u64| {
        let wobble = 0.8 + 0.4 * share(row, 200 + k);
        let error = Some((2.0 + 4.0 * share(row, 90)) / f64::from(1_u32 << k).sqrt() * wobble);
        InterimCheck { evaluations: 64 << k, spent: 0.05 / 6.0, error }
    };
    let mut interim_checks: Vec<InterimCheck> = Vec::new();
    for k in 0..6 {
        interim_checks.push(interim_check(k));
        if interim_checks.iter().any(|interim_check| interim_check.error < Some(1.0)) {
            break;
        }
    }
    Certified {
        stopped_by: "accuracy".to_owned(),
        guarantee: "normal".to_owned(),
        confidence: 0.95,
        error_bounds: vec![0.05],
        tolerances: vec![0.06],
        half_widths: Vec::new(),
        interim_checks,
        says: "With probability 95%, every value is within 0.05.".to_owned(),
    }
}

/// Returns estimates with their errors.
fn values(rows: u64) -> Result<Explained, PlotError> {
    let mut gathering = Gathering::new(heading())?;
    for row in 0..rows {
        let mut values = alone(row);
        for (one, other, both) in together(row) {
            values[one] += 0.5 * both;
            values[other] += 0.5 * both;
        }
        gathering.add(Batch {
            rows: vec![row],
            base: vec![1.0],
            predictions: vec![1.0 + values.iter().sum::<f64>()],
            std_errors: (0..values.len())
                .map(|feature| 0.005 + 0.02 * share(row, 50 + feature as u64))
                .collect(),
            values,
            inputs: inputs(row),
            certificates: vec![Some(certified(row))],
            ..Batch::default()
        })?;
    }
    Ok(gathering.end())
}

/// Returns interactions of pairs.
fn pairs(rows: u64) -> Result<Explained, PlotError> {
    let mut heading = heading();
    heading.value = "interaction".to_owned();
    heading.interactions = Some(Form::Remainder);
    let count = FEATURES.len();
    let mut gathering = Gathering::new(heading)?;
    for row in 0..rows {
        let mut values = vec![0.0; count * count];
        for (feature, value) in alone(row).into_iter().enumerate() {
            values[feature * count + feature] = value;
        }
        for (one, other, both) in together(row) {
            values[one * count + other] = 0.5 * both;
            values[other * count + one] = 0.5 * both;
        }
        gathering.add(Batch {
            rows: vec![row],
            base: vec![1.0],
            predictions: vec![1.0 + values.iter().sum::<f64>()],
            values,
            inputs: inputs(row),
            ..Batch::default()
        })?;
    }
    Ok(gathering.end())
}

/// Returns one row whose players have these values, as estimates.
fn one_row(heading: Heading, values: Vec<f64>) -> Result<Explained, PlotError> {
    let mut gathering = Gathering::new(heading)?;
    gathering.add(Batch {
        rows: vec![0],
        base: vec![0.1],
        predictions: vec![0.1 + values.iter().sum::<f64>()],
        std_errors: (0..values.len()).map(|player| 0.01 + 0.02 * share(7, player as u64)).collect(),
        values,
        ..Batch::default()
    })?;
    Ok(gathering.end())
}

/// Returns a text whose players are its words.
fn text(text: &str) -> Result<Explained, PlotError> {
    let mut spans = Vec::new();
    let mut from = None;
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        match (letter.is_alphanumeric(), from) {
            (true, None) => from = Some(at),
            (false, Some(begin)) => {
                spans.push((begin, at));
                from = None;
            }
            _ => {}
        }
    }
    let mut heading = Heading::for_features(spans.iter().map(|&(from, to)| &text[from..to]));
    let value = |word: &str| match word {
        "clean" | "friendly" | "wonderful" => 0.3,
        "terrible" | "hurt" | "not" | "nobody" => -0.4,
        _ => 0.2 * (share(word.len() as u64, u64::from(word.as_bytes()[word.len() / 2])) - 0.5),
    };
    let values = spans.iter().map(|&(from, to)| value(&text[from..to])).collect();
    heading.medium = Some(Medium::Text { text: text.to_owned(), spans });
    one_row(heading, values)
}

/// Returns an image whose players are the patches of a grid.
fn image() -> Result<Explained, PlotError> {
    let (width, height, patch) = (96, 64, 8);
    let across = width / patch;
    let place = |at: usize| ((at % width) as f64, (at / width) as f64);
    let sun = |(x, y): (f64, f64)| ((x - 66.0) / 14.0).hypot((y - 24.0) / 14.0);
    let colour = |at: usize| match place(at) {
        (x, y) if sun((x, y)) < 1.0 => [250, 215, 70],
        (x, y) if y > 46.0 + 5.0 * (x / 9.0).sin() => [40, 90, 45],
        (_, y) => [90, 140, (160.0 + 1.4 * y) as u8],
    };
    let pixels = (0..width * height).map(colour).collect();
    let segments =
        (0..width * height).map(|at| (at / width / patch * across + at % width / patch) as u32).collect();
    let players = across * (height / patch);
    let middle = |player: usize| {
        let corner = (player / across * patch * width) + player % across * patch;
        place(corner + patch / 2 * width + patch / 2)
    };
    let value = |player: usize| {
        let noise = 0.1 * (share(3, player as u64) - 0.5);
        0.5 * (-sun(middle(player)).powi(2)).exp() + noise - if middle(player).1 > 48.0 { 0.15 } else { 0.0 }
    };
    let mut heading = Heading::for_features((0..players).map(|player| format!("patch {player}")));
    heading.medium = Some(Medium::Image { width, height, segments, pixels });
    one_row(heading, (0..players).map(value).collect())
}
