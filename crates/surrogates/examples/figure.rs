//! Draws the values of a surrogate and of the table method for one row, beside the exact values.
//!
//! `cargo run --release -p apportion-surrogates --example figure > docs/figures/table_method.svg`
//!
//! The model is a small network of twelve features with 50 background rows. The table has 100 rows, and the
//! model predicts 300 rows for each of them.

use std::fmt::Write;

use apportion_games::{Background, MarginalGame, Rows};
use apportion_surrogates::TableMethod;
use apportion_values::{Semivalue, enumerate};

const FEATURES: usize = 12;
const BACKGROUND: usize = 50;
const ROWS: usize = 100;
const PREDICTIONS: usize = 300;

/// The width of the drawing, the ends of its axis, and the height of the first feature and of each feature.
const WIDTH: f64 = 640.0;
const AXIS: (f64, f64) = (56.0, 612.0);
const FIRST: f64 = 70.0;
const STEP: f64 = 26.0;

/// Returns pseudo-random numbers in [−1, 1).
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(next).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let weights = numbers(8 * FEATURES, 3);
    let network = |row: &[f64]| {
        let unit = |weights: &[f64]| weights.iter().zip(row).map(|(weight, x)| 1.5 * weight * x).sum::<f64>();
        let units = weights.chunks(FEATURES).enumerate();
        units.map(|(at, weights)| (at as f64 - 3.2) * unit(weights).tanh()).sum::<f64>()
    };
    let background = Background::rows(numbers(BACKGROUND * FEATURES, 1), FEATURES)?;
    let table = numbers(ROWS * FEATURES, 2);
    let (table, method) = (Rows::new(&table, FEATURES), TableMethod::new(PREDICTIONS));
    let row = Rows::new(table.row(0), FEATURES);
    let exact = enumerate(&MarginalGame::new(&network, table.row(0), &background)?, Semivalue::Shapley)?;
    let surrogate = method.learn(&network, table.slice(1..ROWS), &background, 1)?;
    let learned = surrogate.values(Semivalue::Shapley, &background, row)?;
    let found = method.with_surrogate(&surrogate, &network, &background)?.explain(row, 1)?.swap_remove(0);
    let intervals = found.intervals(0.95).ok_or("the method reports standard errors")?;

    let mut order: Vec<usize> = (0..FEATURES).collect();
    order.sort_by(|&one, &other| exact.values[other].abs().total_cmp(&exact.values[one].abs()));
    let ends = intervals.iter().flat_map(|&(low, high)| [low, high]).chain(learned.values.iter().copied());
    let (low, high) = ends.fold((0.0f64, 0.0f64), |(low, high), end| (low.min(end), high.max(end)));
    let place = |value: f64| AXIS.0 + (value - low) / (high - low) * (AXIS.1 - AXIS.0);
    let bottom = FIRST + STEP * (FEATURES as f64 - 0.5);

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.0}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        bottom + 40.0
    );
    let mut legend = 24.0;
    for (mark, text, width) in [
        ("surrogate", "surrogate, exact values", 190.0),
        ("estimate", "with correction, 95% interval", 222.0),
        ("truth", "model, all 4096 coalitions", 0.0),
    ] {
        draw(&mut svg, mark, (legend + 5.0, 26.0), None)?;
        writeln!(svg, "<text x=\"{:.1}\" y=\"30\">{text}</text>", legend + 18.0)?;
        legend += width;
    }
    let step = 1.0f64;
    let mut tick = (low / step).ceil() * step;
    while tick <= high {
        let (x, stroke) = (place(tick), if tick == 0.0 { "#555" } else { "#ddd" });
        writeln!(
            svg,
            "<path d=\"M{x:.1} {:.1}V{bottom:.1}\" stroke=\"{stroke}\"/><text x=\"{x:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{tick}</text>",
            FIRST - STEP / 2.0,
            bottom + 18.0
        )?;
        tick += step;
    }
    for (line, &feature) in order.iter().enumerate() {
        let y = FIRST + STEP * line as f64;
        writeln!(svg, "<text x=\"8\" y=\"{:.1}\">x{feature}</text>", y + 4.0)?;
        let interval = (place(intervals[feature].0), place(intervals[feature].1));
        draw(&mut svg, "surrogate", (place(learned.values[feature]), y), None)?;
        draw(&mut svg, "estimate", (place(found.values[feature]), y), Some(interval))?;
        draw(&mut svg, "truth", (place(exact.values[feature]), y), None)?;
    }
    println!("{svg}</svg>");
    Ok(())
}

/// Appends a mark to the drawing: a ring for the surrogate, a dot with its interval for the estimate, or a
/// vertical line for the exact value.
fn draw(svg: &mut String, mark: &str, (x, y): (f64, f64), interval: Option<(f64, f64)>) -> std::fmt::Result {
    if let Some((low, high)) = interval {
        writeln!(svg, "<path d=\"M{low:.1} {y:.1}H{high:.1}\" stroke=\"#0072b2\" stroke-width=\"2\"/>")?;
    }
    match mark {
        "surrogate" => writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"none\" stroke=\"#d55e00\" \
             stroke-width=\"1.8\"/>"
        ),
        "estimate" => writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#0072b2\"/>"),
        _ => writeln!(
            svg,
            "<path d=\"M{x:.1} {:.1}V{:.1}\" stroke=\"#000\" stroke-width=\"1.8\"/>",
            y - 8.0,
            y + 8.0
        ),
    }
}
