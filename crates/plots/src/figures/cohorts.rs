//! Cohort plot: feature importance in parts of the rows, side by side.

use super::options::Options;
use super::size_bar::{self, SizeBar};
use super::words::{of_sample, rows_in_words, value_in_words};
use super::{labels, legend, mean, order};
use crate::error::PlotError;
use crate::explained::Explained;
use crate::scene::{Anchor, Mark, Paint, SMALL, Scene, Table, digits, shortened, width_of};

const TOP: f64 = 30.0;
/// Distance between bars of the same player.
const BAR: f64 = 13.0;
/// Distance between players.
const GAP: f64 = 9.0;
/// Maximum number of cohorts, which is the number of distinct colours.
const MAX_COHORTS: usize = 6;
/// Default number of players.
const USUAL: usize = 12;

/// A named set of rows.
struct Cohort {
    name: String,
    rows: Vec<usize>,
}

/// A mean absolute value, and the half-width of its interval.
type Size = (f64, f64);

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let output = options.output;
    let cohorts = cohorts(explained, options)?;
    let all = sizes(explained, &cohorts, output);
    let players = in_order(&all);
    let (told, rest) = order::split(&players, options.max_players(USUAL));
    let mut names: Vec<String> = told.iter().map(|&player| labels::of_player(explained, player)).collect();
    names.extend((!rest.is_empty()).then(|| format!("{} others", rest.len())));
    let mut sizes: Vec<Vec<Size>> = told.iter().map(|&player| all[player].clone()).collect();
    if !rest.is_empty() {
        let sum = |cohort: usize| rest.iter().map(|&player| all[player][cohort].0).sum();
        sizes.push((0..cohorts.len()).map(|cohort| (sum(cohort), 0.0)).collect());
    }

    let room = labels::room(names.iter().map(String::as_str), options.width);
    let label = size_bar::room(sizes.iter().flatten().copied(), 3);
    let (of_told, of_others) = sizes.split_at(told.len());
    let others = of_others.iter().flatten().map(|&(size, _)| size);
    let ends = (room, options.width - label);
    let (scale, is_cut) = size_bar::scale(of_told.iter().flatten().copied(), others, ends);
    let mut scene =
        Scene::new(options.width, format!("Cohorts: mean |{}|", value_in_words(explained, output)));
    scene.heading((12.0, 14.0), "Feature importance by cohort", Anchor::Start);
    let top = legend::draw(&mut scene, TOP, &entries(&cohorts, options.width)) + 8.0;
    let line = cohorts.len() as f64 * BAR + GAP;
    let bottom = top + names.len() as f64 * line;
    scene.axis_below(&scale, (top, bottom), &format!("mean |{}|", value_in_words(explained, output)));
    for (place, (name, sizes)) in names.iter().zip(&sizes).enumerate() {
        let y = top + place as f64 * line + 0.5 * GAP;
        labels::name(&mut scene, room, y + 0.5 * (line - GAP), name);
        for (number, (cohort, &(size, half))) in cohorts.iter().zip(sizes).enumerate() {
            let says =
                format!("{name}, {}: {}{}", cohort.name, digits(size, 5), labels::error_in_words(half));
            let mark = Mark { player: told.get(place).copied(), row: None, says };
            let paint = Paint::Series(number as u8);
            let y = y + (number as f64 + 0.5) * BAR;
            SizeBar { size, half_width: half, y, half: 5.0, digits: 3 }.draw(&mut scene, &scale, paint, mark);
        }
    }
    let mut caption = caption(explained, &cohorts);
    if is_cut {
        caption.push_str(" The bars for “others” are truncated.");
    }
    scene.caption(bottom + 42.0, &caption);
    let most = names.first().map_or("", String::as_str);
    let of_most: Vec<String> = cohorts
        .iter()
        .zip(&sizes[0])
        .map(|(cohort, (size, _))| {
            format!("{} ({}, {})", digits(*size, 3), cohort.name, rows_in_words(cohort.rows.len() as u64))
        })
        .collect();
    scene.description = format!("Mean |value| of {most}: {}. {caption}", of_most.join(", "));
    scene.table = table(explained, &cohorts, &players, &all);
    Ok(scene)
}

/// Returns one cohort per condition and, if there is a single condition, a second cohort with all other rows.
/// Without conditions, the cohorts are the rows with predictions above the median, and all other rows. Empty
/// cohorts are removed, because they have no mean.
fn cohorts(explained: &Explained, options: &Options) -> Result<Vec<Cohort>, PlotError> {
    if let Some(condition) = options.cohorts.get(MAX_COHORTS) {
        return Err(condition
            .refused("a figure shows at most six cohorts, and this condition is the seventh; remove it"));
    }
    let mut cohorts = Vec::new();
    for condition in &options.cohorts {
        let name = crate::explained::shown(&condition.to_string()).into_owned();
        cohorts.push(Cohort { name, rows: condition.some_rows(explained, options.output)? });
    }
    let all = 0..explained.rows();
    match &cohorts[..] {
        [] => {
            let prediction = |row: usize| explained.prediction(row, options.output);
            let mut predictions: Vec<f64> = all.clone().map(prediction).collect();
            predictions.sort_by(f64::total_cmp);
            let median = predictions[(predictions.len() - 1) / 2];
            let (above, others): (Vec<_>, Vec<_>) = all.partition(|&row| prediction(row) > median);
            let median = digits(median, 4);
            cohorts.push(Cohort { name: format!("prediction above {median}"), rows: above });
            cohorts.push(Cohort { name: format!("prediction at most {median}"), rows: others });
        }
        [only] => {
            let others = all.filter(|row| only.rows.binary_search(row).is_err()).collect();
            cohorts.push(Cohort { name: "others".to_owned(), rows: others });
        }
        _ => {}
    }
    cohorts.retain(|cohort| !cohort.rows.is_empty());
    Ok(cohorts)
}

/// Returns the mean |φ| of each player in each cohort.
fn sizes(explained: &Explained, cohorts: &[Cohort], output: usize) -> Vec<Vec<Size>> {
    let of = |player: usize| {
        cohorts.iter().map(|cohort| mean_size(explained, &cohort.rows, player, output)).collect()
    };
    (0..explained.players()).map(of).collect()
}

/// Returns the mean of |φ| over some rows, and the half-width of its 95% interval. The half-width is the sum
/// of the half-width due to sampling rows (by Student's t distribution) and the mean half-width of the
/// values, because the errors of rows with the same seed are not independent.
fn mean_size(explained: &Explained, rows: &[usize], player: usize, output: usize) -> Size {
    let sizes = rows.iter().map(|&row| explained.value(row, player, output).abs());
    let halves = rows.iter().map(|&row| explained.half_width(row, player, output));
    let (size, of_rows) = mean::with_half_width(sizes);
    (size, of_rows + mean::with_half_width(halves).0)
}

/// Returns the entries of the legend: colour, name and number of rows of each cohort.
fn entries(cohorts: &[Cohort], width: f64) -> Vec<(Paint, String)> {
    let entry = |(number, cohort): (usize, &Cohort)| {
        let rows = format!(": {}", rows_in_words(cohort.rows.len() as u64));
        // The number of rows stays legible if the name is long.
        let name = shortened(&cohort.name, width - 60.0 - width_of(&rows, SMALL), SMALL);
        (Paint::Series(number as u8), name + &rows)
    };
    cohorts.iter().enumerate().map(entry).collect()
}

fn caption(explained: &Explained, cohorts: &[Cohort]) -> String {
    let mut caption = of_sample(explained, "Means use");
    let mut times = vec![0; explained.rows()];
    cohorts.iter().flat_map(|cohort| &cohort.rows).for_each(|&row| times[row] += 1);
    let is_several = times.iter().any(|&times| times > 1);
    for (count, is_so) in [("several cohorts", is_several), ("no cohort", times.contains(&0))] {
        if is_so {
            caption.push_str(&format!("Some rows are in {count}. "));
        }
    }
    caption.push_str(match explained.are_estimates() {
        true => {
            "Whiskers: 95% confidence interval of the mean over similar rows, plus the mean estimation error."
        }
        false => "Values are exact. Whiskers: 95% confidence interval of the mean over similar rows.",
    });
    caption
}

fn table(explained: &Explained, cohorts: &[Cohort], players: &[usize], sizes: &[Vec<Size>]) -> Table {
    let mut table = Table::new(["feature", "cohort", "rows", "mean |value|", "95% CI half-width"]);
    for &player in players {
        for (cohort, &(size, half)) in cohorts.iter().zip(&sizes[player]) {
            table.push([
                explained.heading.players[player].clone().into(),
                cohort.name.clone().into(),
                (cohort.rows.len() as f64).into(),
                size.into(),
                half.into(),
            ]);
        }
    }
    table
}

/// Returns the players in descending order of the average over the cohorts of their mean |φ|. Ties are in the
/// order of the players.
fn in_order(sizes: &[Vec<Size>]) -> Vec<usize> {
    let sums: Vec<f64> = sizes.iter().map(|sizes| sizes.iter().map(|(size, _)| size).sum()).collect();
    let mut players: Vec<usize> = (0..sums.len()).collect();
    players.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]));
    players
}
