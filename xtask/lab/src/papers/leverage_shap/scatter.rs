//! Figure 1: predicted against true Shapley values.

use anyhow::Result;

use super::contender::Contender::{self, KernelShap, LeverageShap, OptimizedKernelShap};
use super::notes::{NOTES, all_datasets};
use super::sweep::{experiment, is_of_paper};
use crate::comparison::{Compete, covers_all, squared_distance, squared_norm};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel};
use crate::reproduce::report::{Entry, Table, row};
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{By, Case, Test};

/// Sample size as a multiple of n.
const MULTIPLE: usize = 5;

/// Approximate number of points drawn per estimator and panel; more points would hide each other.
const POINTS: usize = 200;

/// Generates figure 1.
pub(crate) fn fig1(session: &Session) -> Result<ArtefactOutput> {
    let experiment = experiment(session, &all_datasets())?;
    let mut data = Table::new("data", ["dataset", "estimator", "run", "player", "true", "predicted"]);
    let mut table = Table::new(
        "Σ‖φ̃ − φ‖² / Σ‖φ‖² over all runs",
        std::iter::once("dataset").chain(Contender::MAIN.map(Contender::title)),
    );
    let (mut panels, mut cases) = (Vec::new(), Vec::new());
    for (dataset, series) in experiment.datasets.iter().enumerate() {
        let known = series.known;
        let budget = MULTIPLE * known.players;
        let drawn_runs = (POINTS / known.players).max(1);
        let (mut marks, mut deviations) = (vec![Mark::Identity], Vec::new());
        let mut by_run: Vec<Vec<f64>> = Vec::new();
        let estimates = experiment.estimates_on(dataset, &Contender::MAIN, budget)?;
        for (contender, estimates) in Contender::MAIN.into_iter().zip(estimates) {
            let (mut points, mut norm) = (Vec::new(), 0.0);
            let mut distances = Vec::new();
            for (instance, estimate) in series.instances.iter().zip(&estimates) {
                distances.push(squared_distance(&estimate.values, &instance.truth));
                norm += squared_norm(&instance.truth);
                if instance.run >= drawn_runs {
                    continue;
                }
                for (player, (&truth, &value)) in instance.truth.iter().zip(&estimate.values).enumerate() {
                    points.push((truth, value));
                    data.push(row![known.name, contender.title(), instance.run, player, truth, value]);
                }
            }
            marks.push(Mark::Points { style: contender.style(), points });
            deviations.push(distances.iter().sum::<f64>() / norm);
            by_run.push(distances);
        }
        let mut row = vec![Entry::from(known.heading())];
        row.extend(deviations.iter().copied().map(Entry::from));
        table.push(row);
        if !covers_all(budget, known.players) && is_of_paper(known) {
            let of = |wanted: Contender| Contender::MAIN.iter().position(|&one| one == wanted);
            let rivals = [KernelShap, OptimizedKernelShap].map(of).into_iter().flatten();
            let own = of(LeverageShap).map_or(&[][..], |at| &by_run[at]);
            let tests = rivals.map(|rival| Test::ratio_below(own, &by_run[rival], 1.0));
            cases.push(Case::new(known.title, Test::all(tests)));
        }
        panels.push(Panel {
            title: known.heading(),
            x: Axis::linear("true Shapley value"),
            y: Axis::linear("predicted"),
            marks,
        });
    }
    let mut notes = NOTES.map(str::to_owned).to_vec();
    notes.push(format!(
        "the figure shows the first runs, about {POINTS} values per panel and estimator; the table uses all \
         runs"
    ));
    Ok(ArtefactOutput {
        data,
        figure: Some(Figure {
            title: "Figure 1: predicted against true Shapley values, m = 5n".to_owned(),
            panels,
            columns: 4,
            legend: Contender::MAIN
                .map(|contender| (contender.title().to_owned(), contender.style()))
                .to_vec(),
            note: "The line is predicted = true.".to_owned(),
        }),
        tables: vec![table],
        claims: vec![By::SignedRanks.in_all(
            "Leverage SHAP is more accurate than Kernel SHAP and Optimized Kernel SHAP",
            "caption of figure 1",
            "a dataset with 5n < 2^n; it agrees if the squared deviation of Leverage SHAP is below those of \
             both others in the same run",
            cases,
        )],
        notes,
        datasets: all_datasets(),
    })
}
