//! Section: distributions of the inputs over all rows.

use crate::error::PlotError;
use crate::explained::{Explained, InputSummary, shown};
use crate::report::html::counted;
use crate::report::page::{Card, Page};
use crate::scene::{Anchor, Cell, FONT, Mark, Paint, SMALL, Scale, Scene, Table, digits, shortened};

const WIDTH: f64 = 300.0;
const TOP: f64 = 30.0;
const HEIGHT: f64 = 90.0;
/// Maximum number of bars for numbers.
const MAX_BINS: usize = 24;
/// Maximum number of categories with separate bars.
const MAX_CATEGORIES: usize = 5;
const LINE: f64 = 18.0;

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    let explained = page.explained;
    if explained.summary.inputs.is_empty() {
        page.html.paragraph("The results contain no inputs.");
        return Ok(());
    }
    let features = page.data.features();
    let left = explained.heading.features.len() - features.len();
    let all = format!("Over all {}.", counted(explained.summary.rows, "row"));
    page.html.paragraph(&match left {
        0 => all,
        _ => format!("{all} {left} less important features are not shown."),
    });
    page.html.raw("<div class=\"cards small\">");
    for feature in features {
        let scene = scene(explained, feature);
        page.card("inputs", Card::default(), &scene, "");
    }
    page.html.raw("</div>");
    Ok(())
}

fn scene(explained: &Explained, feature: usize) -> Scene {
    let name = shown(&explained.heading.features[feature]).into_owned();
    let inputs = &explained.summary.inputs[feature];
    let mut scene = Scene::new(WIDTH, format!("{name}: inputs"));
    scene.heading((12.0, 14.0), shortened(&name, WIDTH - 24.0, FONT + 1.5), Anchor::Start);
    let says = match (explained.heading.is_of_words(feature), &inputs.counts) {
        (true, Some(counts)) => words(&mut scene, explained, feature, counts),
        _ => numbers(&mut scene, inputs),
    };
    let missing = match (inputs.missing, explained.summary.rows) {
        (0, _) => "No missing values.".to_owned(),
        (missing, rows) => {
            format!("{missing} missing ({}%).", digits(100.0 * missing as f64 / rows.max(1) as f64, 2))
        }
    };
    let infinite = match inputs.infinite {
        0 => String::new(),
        infinite => format!(" {} infinite, and excluded here.", counted_are(infinite)),
    };
    let caption = format!("{says} {missing}{infinite}");
    scene.height += scene.paragraph((12.0, scene.height), WIDTH - 24.0, caption.trim()) + 6.0;
    scene.description = caption.trim().to_owned();
    scene.table = table(explained, feature, inputs);
    scene
}

/// Returns the number of rows with its verb, such as `2 rows are`.
fn counted_are(rows: u64) -> String {
    format!("{} {}", counted(rows, "row"), if rows == 1 { "is" } else { "are" })
}

/// Draws a histogram. Returns its description.
fn numbers(scene: &mut Scene, inputs: &InputSummary) -> String {
    scene.height = TOP;
    let spread = &inputs.spread;
    if spread.count == 0 {
        return String::new();
    }
    let scale = Scale::new((spread.min, spread.max), (16.0, WIDTH - 16.0));
    let bars: Vec<(f64, f64, u64)> = match &inputs.counts {
        Some(counts) => counts
            .iter()
            .map(|&(input, count)| (scale.place(input) - 3.0, scale.place(input) + 3.0, count))
            .collect(),
        None => {
            let density = spread.density.in_bins(MAX_BINS);
            let place = |at: f64| scale.place(at.clamp(spread.min, spread.max));
            density.bins().map(|(from, to, count)| (place(from), place(to) - 0.5, count)).collect()
        }
    };
    let most = bars.iter().map(|&(.., count)| count).max().unwrap_or(1) as f64;
    let bottom = TOP + HEIGHT;
    scene.line([(12.0, bottom), (WIDTH - 12.0, bottom)], Paint::Grid, 1.0);
    for (from, to, count) in bars.into_iter().filter(|&(.., count)| count > 0) {
        let height = (HEIGHT * count as f64 / most).max(1.0);
        let size = ((to - from).max(1.0), height);
        scene.rectangle((from, bottom - height), size, Paint::Series(0), Mark::saying(counted(count, "row")));
    }
    for (at, text) in scale.ticks(4) {
        scene.small((scale.place(at), bottom + 11.0), text, Anchor::Middle);
    }
    scene.height = bottom + 26.0;
    format!(
        "From {} to {}, mean {}, standard deviation {}.",
        digits(spread.min, 4),
        digits(spread.max, 4),
        digits(spread.mean, 4),
        digits(spread.deviation(), 3)
    )
}

/// Draws the most frequent categories. Returns their description.
fn words(scene: &mut Scene, explained: &Explained, feature: usize, counts: &[(f64, u64)]) -> String {
    let mut counts = counts.to_vec();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let most = counts.first().map_or(1, |&(_, count)| count).max(1) as f64;
    let room = 110.0;
    for (line, &(code, count)) in counts.iter().take(MAX_CATEGORIES).enumerate() {
        let y = TOP + (line as f64 + 0.5) * LINE;
        let word = shortened(&word(explained, feature, code), room - 12.0, SMALL);
        scene.small((room, y), word, Anchor::End);
        let length = (WIDTH - room - 66.0) * count as f64 / most;
        let mark = Mark::saying(counted(count, "row"));
        scene.rectangle((room + 6.0, y - 6.0), (length.max(1.0), 12.0), Paint::Series(0), mark);
        scene.small((room + 11.0 + length, y), count.to_string(), Anchor::Start);
    }
    scene.height = TOP + counts.len().min(MAX_CATEGORIES) as f64 * LINE + 8.0;
    match counts.len().saturating_sub(MAX_CATEGORIES) {
        0 => format!("{}.", counted(counts.len() as u64, "distinct value")),
        more => format!("{}, {more} of them not shown.", counted(counts.len() as u64, "distinct value")),
    }
}

fn word(explained: &Explained, feature: usize, code: f64) -> String {
    explained.heading.category(feature, code).map_or_else(|| digits(code, 5), |word| shown(word).into_owned())
}

fn table(explained: &Explained, feature: usize, inputs: &InputSummary) -> Table {
    match &inputs.counts {
        Some(counts) => {
            let mut table = Table::new(["input", "rows"]);
            for &(input, count) in counts {
                let input = match explained.heading.is_of_words(feature) {
                    true => Cell::Text(word(explained, feature, input)),
                    false => input.into(),
                };
                table.push([input, (count as f64).into()]);
            }
            table.push(["missing".into(), (inputs.missing as f64).into()]);
            if inputs.infinite > 0 {
                table.push(["infinite".into(), (inputs.infinite as f64).into()]);
            }
            table
        }
        None => {
            let mut table = Table::new(["from", "to", "rows"]);
            for (from, to, count) in inputs.spread.density.in_bins(MAX_BINS).bins() {
                table.push([from.into(), to.into(), (count as f64).into()]);
            }
            table.push(["missing".into(), "".into(), (inputs.missing as f64).into()]);
            if inputs.infinite > 0 {
                table.push(["infinite".into(), "".into(), (inputs.infinite as f64).into()]);
            }
            table
        }
    }
}
