//! Figure 1: estimated against exact Banzhaf values.

use anyhow::Result;

use super::contender::Contender::{self, KernelBanzhaf, MonteCarlo, Msr};
use super::experiment::{MULTIPLE, datasets, experiment};
use super::notes::notes;
use crate::comparison::{Compete, covers_all, relative_error};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Marker, Panel, Style, palette};
use crate::reproduce::report::{Entry, Table, notes, row, significant};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Summary;
use crate::reproduce::verdict::{By, Case, Test};

const CONTENDERS: [Contender; 3] = [MonteCarlo, Msr, KernelBanzhaf];

/// Style of each dataset.
const STYLES: [Style; 8] = [
    Style { colour: palette::BLACK, marker: Some(Marker::Cross) },
    Style { colour: palette::ORANGE, marker: Some(Marker::Square) },
    Style { colour: palette::SKY, marker: Some(Marker::Diamond) },
    Style { colour: palette::PURPLE, marker: Some(Marker::Triangle) },
    Style { colour: palette::VERMILION, marker: Some(Marker::Circle) },
    Style { colour: palette::BLUE, marker: Some(Marker::Square) },
    Style { colour: palette::GREEN, marker: Some(Marker::Diamond) },
    Style { colour: palette::ORANGE, marker: Some(Marker::Cross) },
];

/// Generates figure 1.
pub(crate) fn fig1(session: &Session) -> Result<ArtefactOutput> {
    let experiment = experiment(session)?;
    let mut data = Table::new("data", ["dataset", "estimator", "player", "exact", "estimated"]);
    let mut table = Table::new(
        "Median of ‖φ̃ − φ‖² / ‖φ‖² over all runs",
        std::iter::once("dataset").chain(CONTENDERS.map(Contender::title)),
    );
    let mut cases = Vec::new();
    let mut marks = CONTENDERS.map(|_| vec![Mark::Identity]);
    let mut drawn_errors = CONTENDERS.map(|_| Vec::new());
    for (dataset, series) in experiment.datasets.iter().enumerate() {
        let known = series.known;
        let budget = MULTIPLE * known.players;
        let mut row = vec![Entry::from(known.heading())];
        let (mut medians, mut by_run) = (Vec::new(), Vec::new());
        let estimates = experiment.estimates_on(dataset, &CONTENDERS, budget)?;
        for (at, estimates) in estimates.into_iter().enumerate() {
            let mut errors = Vec::new();
            for (instance, estimate) in series.instances.iter().zip(&estimates) {
                errors.push(relative_error(&estimate.values, instance.truth(CONTENDERS[at])?));
            }
            let (truth, estimate) = (series.instances[0].truth(CONTENDERS[at])?, &estimates[0]);
            let largest = truth.iter().fold(f64::MIN_POSITIVE, |largest, value| value.abs().max(largest));
            let points: Vec<(f64, f64)> =
                truth.iter().zip(&estimate.values).map(|(t, v)| (t / largest, v / largest)).collect();
            for (player, &(exact, estimated)) in points.iter().enumerate() {
                data.push(row![known.name, CONTENDERS[at].title(), player, exact, estimated]);
            }
            marks[at].push(Mark::Points { style: STYLES[dataset], points });
            drawn_errors[at].push(errors[0]);
            medians.push(Summary::from_sample(&errors).median);
            by_run.push(errors);
        }
        row.extend(medians.iter().copied().map(Entry::from));
        table.push(row);
        if !covers_all(budget, known.players) {
            let ratio = medians[2] / medians[0].min(medians[1]);
            let tests = by_run[..2].iter().map(|rival| Test::ratio_below(&by_run[2], rival, 1.0));
            let case = Case::new(format!("{} (ratio {ratio:.2})", known.title), Test::all(tests));
            cases.push(case);
        }
    }
    let claims = vec![By::SignedRanks.in_all(
        "Kernel Banzhaf is more accurate than the MC and MSR estimators",
        "caption of figure 1",
        "a dataset with 20n < 2^n; it agrees if the error of Kernel Banzhaf is below both others in the same \
         run",
        cases,
    )];
    let panels = CONTENDERS.iter().zip(marks).zip(&drawn_errors).map(|((contender, marks), errors)| Panel {
        title: format!(
            "{} (error {})",
            contender.title(),
            significant(errors.iter().sum::<f64>() / errors.len() as f64)
        ),
        x: Axis::linear("exact value"),
        y: Axis::linear("estimated"),
        marks,
    });
    let legend = experiment.datasets.iter().zip(STYLES);
    let mut notes = notes();
    notes.extend(notes![
        "the figure shows one explicand of each dataset (from the first run), with values divided by the \
         largest exact value; the error in a title is the mean of ‖φ̃ − φ‖² / ‖φ‖² over the explicands shown",
    ]);
    Ok(ArtefactOutput {
        data,
        figure: Some(Figure {
            title: "Figure 1: estimated against exact Banzhaf values, m = 20n (trees, path-dependent game)"
                .to_owned(),
            panels: panels.collect(),
            columns: 3,
            legend: legend.map(|(series, style)| (series.known.title.to_owned(), style)).collect(),
            note: "Values over the largest exact one. The line is estimated = exact.".to_owned(),
        }),
        tables: vec![table],
        claims,
        notes,
        datasets: datasets(|_| true),
    })
}
