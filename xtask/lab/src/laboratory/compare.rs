//! `cargo xtask compare`: comparison of two result directories of the laboratory, run by run.

use std::path::Path;

use anyhow::{Result, bail, ensure};

use super::cli::{Compare, Rivals};
use super::differences::differences;
use super::folder::{self, Unfinished};
use super::latex::latex;
use super::paired::Paired;
use super::record::{DatasetRecord, Record, RunLine};
use super::runs::refuse_repeated;
use super::styles;
use super::summary::ticks;
use crate::reproduce::figure::{self, Axis, Figure, Mark, Panel, palette};
use crate::reproduce::report::{Entry, Table, row, significant};
use xtask::Usage;
use xtask::files::write_atomically;
use xtask::{aside, say};

/// One of the two compared result directories.
struct Side {
    record: Record,
    runs: Vec<RunLine>,
}

impl Rivals {
    fn title(&self) -> String {
        if self.a == self.b { self.a.clone() } else { format!("{} / {}", self.b, self.a) }
    }
}

/// A comparison of two estimators on one dataset at one budget, with the index of the pair.
struct Compared<'a> {
    dataset: &'a DatasetRecord,
    rivals: usize,
    budget: &'a str,
    paired: Paired,
}

/// Runs the command; results are written to a directory in `out`.
pub(crate) fn run(arguments: &Compare, out: &Path) -> Result<()> {
    let (a, b) = (read(&arguments.a)?, read(&arguments.b)?);
    let told = differences(&a.record, &b.record);
    told.iter().for_each(|line| aside!("differs: {line}"));
    let rivals = rivals(&a.record, &b.record, &arguments.pairs)?;
    let compared = compare(&a, &b, &rivals)?;
    ensure!(
        !compared.is_empty(),
        "the two runs cannot be compared: both must estimate the same value and share a dataset (same rows, \
         model and background), an estimator, a budget and a seed; {}",
        if told.is_empty() {
            "everything that they share was skipped in both".to_owned()
        } else {
            told.join("; ")
        }
    );
    let folder = Unfinished::new(out, format!("compare-{}-{}", a.record.label, b.record.label))?;
    let table = table(&compared, &rivals);
    figure::write(&picture(&compared, &rivals, &a.record), &folder.path)?;
    write_atomically(&folder.path.join("comparison.csv"), &table.csv()?)?;
    write_atomically(&folder.path.join("comparison.tex"), latex(&shown(&table)).as_bytes())?;
    let text = markdown(arguments, &told, &shown(&table));
    write_atomically(&folder.path.join("comparison.md"), text.as_bytes())?;
    let folder = folder.finish()?;
    say!("{}", shown(&table).markdown().trim_end());
    say!("\ncompared: {}", folder.display());
    Ok(())
}

fn read(folder: &Path) -> Result<Side> {
    let record = folder::record(folder)?;
    let runs = folder::runs(folder, &record)?;
    Ok(Side { record, runs })
}

/// Returns the requested pairs of estimators; by default, the estimators that have the same name in both
/// directories.
fn rivals(a: &Record, b: &Record, asked: &[Rivals]) -> Result<Vec<Rivals>> {
    let has = |record: &Record, name: &str| record.estimators.iter().any(|estimator| estimator.name == name);
    for pair in asked {
        for (side, record, name) in [("A", a, &pair.a), ("B", b, &pair.b)] {
            if !has(record, name) {
                let known: Vec<&str> =
                    record.estimators.iter().map(|estimator| estimator.name.as_str()).collect();
                bail!(Usage(format!(
                    "unknown estimator {name:?} in {side}; available estimators: {}",
                    known.join(", ")
                )));
            }
        }
    }
    refuse_repeated("pair", asked.iter().map(|pair| format!("{}={}", pair.a, pair.b)))?;
    let common = a.estimators.iter().filter(|estimator| has(b, &estimator.name));
    Ok(if asked.is_empty() {
        common.map(|estimator| Rivals { a: estimator.name.clone(), b: estimator.name.clone() }).collect()
    } else {
        asked.to_vec()
    })
}

/// Compares the estimators on every dataset and budget that both directories contain, in the order of A.
fn compare<'a>(a: &'a Side, b: &Side, rivals: &[Rivals]) -> Result<Vec<Compared<'a>>> {
    let mut compared = Vec::new();
    if a.record.value != b.record.value {
        return Ok(compared);
    }
    let is_in_b = |dataset: &&DatasetRecord| {
        b.record.datasets.iter().any(|other| other.name == dataset.name && other.is_same_game(dataset))
    };
    for dataset in a.record.datasets.iter().filter(is_in_b) {
        for (place, rival) in rivals.iter().enumerate() {
            for budget in &a.record.budgets {
                let pairs = pairs(a, b, dataset, rival, budget)?;
                compared.extend(Paired::compare(&pairs).map(|paired| Compared {
                    dataset,
                    rivals: place,
                    budget,
                    paired,
                }));
            }
        }
    }
    Ok(compared)
}

/// Returns the pairs of runs with the same seed. On one dataset, a seed determines the explained row, unless
/// a file was edited by hand.
fn pairs<'a>(
    a: &'a Side,
    b: &'a Side,
    dataset: &DatasetRecord,
    rivals: &Rivals,
    budget: &str,
) -> Result<Vec<(&'a RunLine, &'a RunLine)>> {
    let of = |side: &'a Side, estimator: &str| -> Vec<&'a RunLine> {
        let is_of = |line: &&RunLine| {
            line.dataset == dataset.name && line.estimator == estimator && line.budget == budget
        };
        side.runs.iter().filter(is_of).collect()
    };
    let others = of(b, &rivals.b);
    let mut pairs = Vec::new();
    for line in of(a, &rivals.a) {
        if let Some(other) = others.iter().find(|other| other.seed == line.seed) {
            ensure!(
                line.explicand_row == other.explicand_row,
                "seed {} on {} explains row {} in A and row {} in B, although the datasets are the same, so \
                 the runs come from different versions of this program; repeat one of them",
                line.seed,
                dataset.name,
                line.explicand_row,
                other.explicand_row
            );
            pairs.push((line, *other));
        }
    }
    Ok(pairs)
}

fn table(compared: &[Compared<'_>], rivals: &[Rivals]) -> Table {
    let columns = [
        "dataset",
        "estimator",
        "budget",
        "pairs",
        "ratio",
        "low",
        "high",
        "a_is_better",
        "b_is_better",
        "chance",
    ];
    let mut table = Table::new(
        "Squared error of B divided by the squared error of A: median over the pairs, 95 % interval, sign \
         test",
        columns,
    );
    for Compared { dataset, rivals: place, budget, paired } in compared {
        let ends = paired.interval.unzip();
        table.push(row![
            dataset.name.as_str(),
            rivals[*place].title(),
            *budget,
            paired.pairs,
            paired.ratio,
            ends.0,
            ends.1,
            paired.a_is_better,
            paired.b_is_better,
            paired.chance,
        ]);
    }
    table
}

/// Returns the table for display, with the interval in one cell.
fn shown(table: &Table) -> Table {
    let columns =
        ["dataset", "estimator", "budget", "pairs", "B / A", "95 % interval", "A better", "B better", "p"];
    let mut shown = Table::new(table.caption.clone(), columns);
    for cells in &table.rows {
        let ends = match (&cells[5], &cells[6]) {
            (Entry::Number(low), Entry::Number(high)) => {
                Entry::from(format!("{} to {}", number(*low), number(*high)))
            }
            _ => Entry::ABSENT,
        };
        let ratio = match &cells[4] {
            Entry::Number(ratio) => Entry::from(number(*ratio)),
            other => other.clone(),
        };
        let [front, back] = [&cells[..4], &cells[7..]].map(|cells| cells.iter().cloned());
        shown.push(front.chain([ratio, ends]).chain(back).collect());
    }
    shown
}

/// Formats a ratio; a ratio to zero is shown as ∞.
fn number(ratio: f64) -> String {
    if ratio.is_infinite() { "∞".to_owned() } else { significant(ratio) }
}

fn markdown(arguments: &Compare, told: &[String], table: &Table) -> String {
    let mut text = format!(
        "A is `{}`, B is `{}`. If a ratio is below 1, B has the smaller \
         errors.\n\n![figure](figure.png)\n\n{}\n",
        arguments.a.display(),
        arguments.b.display(),
        table.markdown()
    );
    text.push_str(
        "Each pair has the same seed, and thus the same explicand. Errors ‖φ̃ − φ‖ that differ by at most \
         1e-10 of ‖φ‖ are considered equal, because such differences are rounding errors.\n",
    );
    if !told.is_empty() {
        text.push_str("\nDifferences between the runs:\n\n");
        told.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
    }
    text
}

/// Creates the figure, with one panel for each dataset, which shows the ratio and its interval for each
/// budget.
fn picture(compared: &[Compared<'_>], rivals: &[Rivals], record: &Record) -> Figure {
    let drawn: Vec<usize> =
        (0..rivals.len()).filter(|place| compared.iter().any(|one| one.rivals == *place)).collect();
    let has_bands = drawn.len() <= styles::MAX_BANDED_ESTIMATORS;
    let is_compared = |dataset: &&DatasetRecord| compared.iter().any(|one| one.dataset.name == dataset.name);
    let panels = record.datasets.iter().filter(is_compared).map(|dataset| {
        let is_compared = |budget: &&String| {
            compared.iter().any(|one| one.dataset.name == dataset.name && one.budget == budget.as_str())
        };
        let budgets: Vec<String> = record.budgets.iter().filter(is_compared).cloned().collect();
        let ticks = ticks(&budgets, dataset.players);
        let mut marks = Vec::new();
        let reach = |pick: fn(f64, f64) -> f64, from: f64| ticks.iter().map(|tick| tick.0).fold(from, pick);
        let ends = [reach(f64::min, f64::INFINITY), reach(f64::max, 0.0)];
        marks.push(Mark::Dashes { colour: palette::GREY, points: ends.map(|x| (x, 1.0)).to_vec() });
        let of = |place: usize| -> Vec<(f64, &Paired)> {
            let at = |(x, budget): &(f64, String)| {
                let is_there = |one: &&Compared<'_>| {
                    one.dataset.name == dataset.name && one.rivals == place && one.budget == budget
                };
                Some((*x, &compared.iter().find(is_there)?.paired))
            };
            let mut points: Vec<_> = ticks.iter().filter_map(at).collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            points
        };
        for (look, &place) in drawn.iter().enumerate().filter(|_| has_bands) {
            let points = of(place).into_iter().filter_map(|(x, paired)| {
                let (low, high) = paired.interval?;
                high.is_finite().then_some((x, low, high))
            });
            marks.push(Mark::Band { colour: styles::style_of(look).colour, points: points.collect() });
        }
        for (look, &place) in drawn.iter().enumerate() {
            let points = of(place).into_iter().filter(|(_, paired)| paired.ratio.is_finite());
            let points = points.map(|(x, paired)| (x, paired.ratio)).collect();
            marks.push(Mark::Line { style: styles::style_of(look), points });
        }
        Panel {
            title: styles::title(&dataset.name, dataset.players),
            x: Axis::log("evaluations", f64::MIN_POSITIVE).with_ticks(ticks.clone()),
            y: Axis::log("squared error, B / A", f64::MIN_POSITIVE),
            marks,
        }
    });
    let note = if has_bands {
        "Lines: median over the pairs; bands: 95 % interval."
    } else {
        "Lines: median over the pairs."
    };
    let panels: Vec<Panel> = panels.collect();
    Figure {
        title: "Squared error of B divided by the squared error of A".to_owned(),
        columns: styles::COLUMNS,
        legend: styles::legend(
            drawn.iter().enumerate().map(|(look, &place)| (rivals[place].title(), styles::style_of(look))),
            panels.len(),
        ),
        panels,
        note: note.to_owned(),
    }
}
