//! Runs until an accuracy: how often the error is within the tolerance, and what they spend. Not in the paper.
//!
//! | file | holds |
//! |---|---|
//! | [`game`] | the games, with their exact values |
//! | [`asked`] | what is asked of which method |
//! | [`runs`] | runs until an accuracy, kept as cells |
//! | [`resumed`] | a run that is stopped, stored and resumed |
//! | [`least`] | the least budgets that reach a tolerance on average |
//! | [`mod@price`] | what confidence costs, whatever the method |
//! | [`shown`] | tables and figure |

mod asked;
mod game;
mod least;
mod price;
mod resumed;
mod runs;
mod shown;

use anyhow::Result;
use apportion::Method;
use apportion::estimators::Guarantee;

use crate::reproduce::catalogue::Made;
use crate::reproduce::report::significant;
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{By, Case, Claim, Needed, Test};
use asked::{DEFAULT, METHODS, confidence};
use game::{DATASETS, Series};
use price::price;
use runs::{Measured, measure};

/// What is wanted: this share of the runs within the tolerance at least, and so many times the least budget at most.
const LEAST_SHARE: f64 = 0.93;
const MOST_RATIO: f64 = 3.0;

/// Shares within the tolerance and evaluations over the least budgets, with what became of interrupted runs.
pub(super) fn until(session: &Session) -> Result<Made> {
    let games = Series::all(session)?;
    let measured = measure(session, &games)?;
    Ok(Made {
        data: shown::data(&measured)?,
        figure: Some(shown::figure(&measured)),
        tables: vec![shown::by_method(&measured), shown::by_game(&measured)?, shown::prices()?],
        claims: vec![
            within(&measured),
            within_by_method(&measured),
            within_by_cell(&measured),
            spent(&measured)?,
            spent_by_method(&measured)?,
            same_bytes(&measured),
        ],
        notes: notes(session),
        datasets: DATASETS.to_vec(),
    })
}

/// Runs, those that stopped for the tolerance, and those that were right.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counts {
    runs: usize,
    /// Stopped for the tolerance.
    reached: usize,
    within: usize,
    /// Stopped for it without having evaluated all coalitions.
    uncertain: usize,
    uncertain_within: usize,
}

impl Counts {
    fn of<'m>(measured: impl IntoIterator<Item = &'m Measured>) -> Self {
        let mut counts = Self::default();
        for one in measured {
            counts.runs += one.outcomes.len();
            for outcome in one.reached() {
                let (is_within, is_uncertain) = (outcome.error <= 1.0, outcome.guarantee != Guarantee::Exact);
                counts.reached += 1;
                counts.within += usize::from(is_within);
                counts.uncertain += usize::from(is_uncertain);
                counts.uncertain_within += usize::from(is_uncertain && is_within);
            }
        }
        counts
    }

    fn share(self) -> Option<f64> {
        (self.reached > 0).then(|| self.within as f64 / self.reached as f64)
    }

    fn share_of_uncertain(self) -> Option<f64> {
        (self.uncertain > 0).then(|| self.uncertain_within as f64 / self.uncertain as f64)
    }

    /// That enough runs are within the tolerance, with the exact ones and without.
    fn is_enough(self) -> Test {
        let all = Test::share_above(self.within, self.reached, LEAST_SHARE);
        let uncertain = (self.uncertain > 0)
            .then(|| Test::share_above(self.uncertain_within, self.uncertain, LEAST_SHARE));
        Test::all([all].into_iter().chain(uncertain))
    }

    fn words(self) -> String {
        let percent =
            |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        format!(
            "{} of {} runs, {} of the {} that were not exact",
            percent(self.share()),
            self.reached,
            percent(self.share_of_uncertain()),
            self.uncertain
        )
    }
}

fn of_method(measured: &[Measured], method: Method) -> impl Iterator<Item = &Measured> {
    measured.iter().filter(move |one| one.method == method)
}

fn within(measured: &[Measured]) -> Claim {
    let counts = Counts::of(of_method(measured, DEFAULT));
    let all = Counts::of(measured);
    let case = Case::new(counts.words(), counts.is_enough());
    Claim::over_cases(
        &format!(
            "where a run of {DEFAULT} stops for its tolerance with confidence {}, the true error is within the tolerance in at least 93 % \
             of the runs",
            confidence()
        ),
        "target of this project",
        "all games; it agrees if the share pooled over them, tolerances and runs is above 93 %, with and without the runs that ended exact; \
         runs stopped by the budget claim no accuracy and are not counted",
        By::Counts,
        Needed::All,
        (counts.reached > 0).then_some(case),
    )
    .and(&format!("all methods together: {}", all.words()))
}

fn within_by_method(measured: &[Measured]) -> Claim {
    let cases = METHODS.into_iter().filter_map(|method| {
        let counts = Counts::of(of_method(measured, method));
        (counts.reached > 0).then(|| Case::new(format!("{method}: {}", counts.words()), counts.is_enough()))
    });
    Claim::over_cases(
        "with every method the true error is within the tolerance in at least 93 % of the runs that stop for it",
        "target of this project",
        "a method; it agrees if its share pooled over games, tolerances and runs is above 93 %, with and without the runs that ended exact",
        By::Counts,
        Needed::All,
        cases,
    )
}

fn within_by_cell(measured: &[Measured]) -> Claim {
    let cases = measured.iter().filter_map(|one| {
        let counts = Counts::of([one]);
        let missed = counts.reached - counts.within;
        let more = Test::share_above(counts.within, counts.reached, confidence());
        // A cell speaks for it where so many misses would show: as one of a share of 1/2 does in most.
        let shows = Test::share_above(counts.within, counts.reached, 0.5);
        let name = format!("{}: {missed} of {} missed", one.title(), counts.reached);
        (counts.reached > 0)
            .then(|| Case::new(name, Test::of_chances(shows.favour, more.against, counts.reached)))
    });
    Claim::over_cases(
        "no method on any game misses a tolerance more often than the confidence allows",
        "this project",
        "a method, a game and a tolerance; against it speaks a share of misses above the 5 % that are allowed, for it one below a half",
        By::Counts,
        Needed::NotBehind,
        cases,
    )
}

/// The mean of the ratios, and the cell with the largest.
fn ratios<'m>(measured: impl Iterator<Item = &'m Measured>) -> Option<(f64, Vec<f64>, &'m Measured)> {
    let known: Vec<(f64, &Measured)> = measured.filter_map(|one| Some((one.ratio()?, one))).collect();
    let (_, largest) = known.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    let all: Vec<f64> = known.iter().map(|known| known.0).collect();
    Some((all.iter().sum::<f64>() / all.len() as f64, all, largest))
}

/// `mean 1.71 over 60 cells, 1 of them above 3; largest 3.21, …, where confidence alone costs 4.03`.
fn words_of_ratios(mean: f64, all: &[f64], largest: &Measured) -> Result<String> {
    let above = all.iter().filter(|&&ratio| ratio > MOST_RATIO).count();
    let price = match largest.directions() {
        Some(directions) => {
            format!(", where confidence alone costs {}", significant(price(directions, confidence())?))
        }
        None => String::new(),
    };
    let most = all.iter().copied().fold(0.0, f64::max);
    Ok(format!(
        "mean {} over {} cells, {above} of them above {MOST_RATIO}; largest {}, {}{price}",
        significant(mean),
        all.len(),
        significant(most),
        largest.title()
    ))
}

const OF_RATIOS: &str = "cells are games and tolerances at which all runs stopped for the tolerance; evaluations spent are the mean over its \
                         runs, the least budget is that at which the mean relative error of other runs is the tolerance";

/// The case that a method's ratio, averaged over cells, is at most what is wanted.
fn ratio_case(name: &str, (mean, all, largest): &(f64, Vec<f64>, &Measured)) -> Result<Case> {
    let words = words_of_ratios(*mean, all, largest)?;
    Ok(Case::new(format!("{name}: {words}"), Test::mean_below(all, MOST_RATIO)))
}

fn spent(measured: &[Measured]) -> Result<Claim> {
    let found = ratios(of_method(measured, DEFAULT));
    let case = found.as_ref().map(|found| ratio_case(DEFAULT.name(), found)).transpose()?;
    Ok(Claim::over_cases(
        &format!(
            "evaluations spent by {DEFAULT} are at most {MOST_RATIO} times the least budget that reaches the tolerance on average"
        ),
        "target of this project",
        &format!("all cells; it agrees if the ratio averaged over them is at most {MOST_RATIO}; {OF_RATIOS}"),
        By::StandardError,
        Needed::All,
        case,
    ))
}

fn spent_by_method(measured: &[Measured]) -> Result<Claim> {
    let mut cases = Vec::new();
    for method in METHODS {
        if let Some(found) = ratios(of_method(measured, method)) {
            cases.push(ratio_case(method.name(), &found)?);
        }
    }
    Ok(Claim::over_cases(
        "with every method evaluations spent are at most 3 times the least budget that reaches the tolerance on average",
        "target of this project",
        &format!("a method; it agrees if its ratio averaged over cells is at most {MOST_RATIO}; {OF_RATIOS}"),
        By::StandardError,
        Needed::All,
        cases,
    ))
}

fn same_bytes(measured: &[Measured]) -> Claim {
    let tried = || {
        measured
            .iter()
            .flat_map(|one| one.outcomes.iter().filter_map(move |outcome| Some((one, outcome.same_bytes?))))
    };
    let others: Vec<String> = tried().filter(|tried| !tried.1).map(|(one, _)| one.title()).collect();
    let count = tried().count();
    Claim::fact(
        "a run stopped, serialized and resumed gives the bytes of an uninterrupted one",
        "target of this project",
        "the JSON of the explanations is the same in all runs that were stopped after a random one of their chunks of evaluations, stored as \
         JSON, read and resumed",
        (count > 0).then_some(others.is_empty()),
        if others.is_empty() {
            format!("none of {count} runs gave other bytes")
        } else {
            format!("{} of {count} gave other bytes: {}", others.len(), others.join("; "))
        },
    )
}

fn notes(session: &Session) -> Vec<String> {
    vec![
        "errors are ‖φ̃ − φ‖/‖φ‖ against closed forms, and against interventional values of the tree ensembles with the column means as \
         baseline; every run of a dataset explains another row, every run of unanimity games plays another game"
            .to_owned(),
        format!(
            "budget: the default, all 2^n coalitions or 1000 n, whichever is less, but 100 000 at least; {} runs on games of more than 30 \
             players; methods are not asked for tolerances that take them the whole budget nearly everywhere, and for fewer on games of \
             more than 30 players and in the quick preset: which, the table says",
            asked::runs_on(session, usize::MAX)
        ),
        "kernel-banzhaf-without-replacement estimates Banzhaf values, all others Shapley values".to_owned(),
        "both evaluations spent and least budgets are of samples that grow, repeated coalitions counted once; least budgets are found \
         between two of a grid, 1/m linear in the squared mean error. They are one budget for all runs of a cell, so that where games \
         differ much from run to run the ratio holds that, too"
            .to_owned(),
        "price of confidence: with the error after m evaluations σ√(χ²_ν/ν)/√m, its mean is the tolerance τ at m₁ = σ²E[χ_ν]²/(ντ²), and it \
         is within τ with probability 0.95 at m₂ = σ²q/(ντ²), q the 0.95 quantile of χ²_ν; m₂/m₁ = q/E[χ_ν]². For an error in one \
         direction (ν = 1: one strong pair under random orders) E[χ₁]² = 2/π and q = 3.84, which makes π/2 · 3.84 = 6.03: ratios above 3 \
         are there the price of confidence, not waste. The ν of a cell is the mean of what its runs measured. Where the least budget \
         is all 2^n coalitions no run spends more"
            .to_owned(),
    ]
}
