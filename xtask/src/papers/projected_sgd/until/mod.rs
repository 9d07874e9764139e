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

use anyhow::{Context, Result};
use apportion::Method;
use apportion::estimators::Guarantee;
use statrs::distribution::{Binomial, DiscreteCDF};

use crate::reproduce::catalogue::Made;
use crate::reproduce::report::significant;
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{Claim, Needed, Verdict};
use asked::{DEFAULT, METHODS, confidence};
use game::{DATASETS, Series};
use price::price;
use runs::{Measured, measure};

/// What is wanted: this share of the runs within the tolerance at least, and so many times the least budget at most.
const LEAST_SHARE: f64 = 0.93;
const MOST_RATIO: f64 = 3.0;

/// Chance at which some cell of all would be said to miss too often though none does.
const FALSE_ALARM: f64 = 0.05;

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
            within_by_cell(&measured)?,
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

    /// Whether enough runs are within the tolerance, exact ones counted and not.
    fn is_enough(self) -> bool {
        [self.share(), self.share_of_uncertain()].into_iter().flatten().all(|share| share >= LEAST_SHARE)
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
    Claim {
        claim: format!(
            "where a run of {DEFAULT} stops for its tolerance with confidence {}, the true error is within the tolerance in at least 93 % \
             of the runs",
            confidence()
        ),
        source: "target of this project".to_owned(),
        rule: "holds if the share pooled over games, tolerances and runs is 93 % or more, with and without the runs that ended exact; runs \
               stopped by the budget claim no accuracy and are not counted"
            .to_owned(),
        verdict: if counts.reached == 0 { Verdict::NotTested } else { Verdict::of_truth(counts.is_enough()) },
        evidence: format!("{}; all methods together: {}", counts.words(), all.words()),
    }
}

fn within_by_method(measured: &[Measured]) -> Claim {
    let cases = METHODS.into_iter().filter_map(|method| {
        let counts = Counts::of(of_method(measured, method));
        (counts.reached > 0).then(|| (format!("{method}: {}", counts.words()), counts.is_enough()))
    });
    Claim::over_cases(
        "with every method the true error is within the tolerance in at least 93 % of the runs that stop for it",
        "target of this project",
        "a method; it agrees if its share pooled over games, tolerances and runs is 93 % or more, with and without the runs that ended exact",
        Needed::All,
        cases,
    )
}

fn within_by_cell(measured: &[Measured]) -> Result<Claim> {
    let cells = measured.iter().filter(|one| one.reached().next().is_some());
    let count = cells.clone().count();
    let mut cases = Vec::new();
    for one in cells {
        let counts = Counts::of([one]);
        let missed = counts.reached - counts.within;
        let chance = match missed.checked_sub(1) {
            None => 1.0,
            Some(fewer) => Binomial::new(1.0 - confidence(), counts.reached as u64)
                .context("the law of misses")?
                .sf(fewer as u64),
        };
        cases.push((
            format!("{}: {missed} of {} missed", one.title(), counts.reached),
            chance >= FALSE_ALARM / count as f64,
        ));
    }
    Ok(Claim::over_cases(
        "no method on any game misses a tolerance more often than the confidence allows",
        "this project",
        "a method, a game and a tolerance; it agrees unless as many misses, at 5 % for each run, have a chance below 5 % over the number of cases",
        Needed::All,
        cases,
    ))
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

fn spent(measured: &[Measured]) -> Result<Claim> {
    let found = ratios(of_method(measured, DEFAULT));
    Ok(Claim {
        claim: format!(
            "evaluations spent by {DEFAULT} are at most {MOST_RATIO} times the least budget that reaches the tolerance on average"
        ),
        source: "target of this project".to_owned(),
        rule: format!("holds if the ratio averaged over cells is at most {MOST_RATIO}; {OF_RATIOS}"),
        verdict: found.as_ref().map_or(Verdict::NotTested, |found| Verdict::of_truth(found.0 <= MOST_RATIO)),
        evidence: match &found {
            Some((mean, all, largest)) => words_of_ratios(*mean, all, largest)?,
            None => "no cell".to_owned(),
        },
    })
}

fn spent_by_method(measured: &[Measured]) -> Result<Claim> {
    let (mut cases, mut evidence) = (Vec::new(), Vec::new());
    for method in METHODS {
        if let Some((mean, all, largest)) = ratios(of_method(measured, method)) {
            let words = format!("{method}: {}", words_of_ratios(mean, &all, largest)?);
            cases.push((method.name().to_owned(), mean <= MOST_RATIO));
            evidence.push(words);
        }
    }
    let mut claim = Claim::over_cases(
        "with every method evaluations spent are at most 3 times the least budget that reaches the tolerance on average",
        "target of this project",
        &format!("a method; it agrees if its ratio averaged over cells is at most {MOST_RATIO}"),
        Needed::All,
        cases,
    );
    claim.evidence = format!("{}; {}", claim.evidence, evidence.join("; "));
    Ok(claim)
}

fn same_bytes(measured: &[Measured]) -> Claim {
    let tried = || {
        measured
            .iter()
            .flat_map(|one| one.outcomes.iter().filter_map(move |outcome| Some((one, outcome.same_bytes?))))
    };
    let others: Vec<String> = tried().filter(|tried| !tried.1).map(|(one, _)| one.title()).collect();
    let count = tried().count();
    Claim {
        claim: "a run stopped, serialized and resumed gives the bytes of an uninterrupted one".to_owned(),
        source: "target of this project".to_owned(),
        rule: "holds if the JSON of the explanations is the same in all runs that were stopped after a random one of their chunks of \
               evaluations, stored as JSON, read and resumed"
            .to_owned(),
        verdict: if count == 0 { Verdict::NotTested } else { Verdict::of_truth(others.is_empty()) },
        evidence: if others.is_empty() {
            format!("none of {count} runs gave other bytes")
        } else {
            format!("{} of {count} gave other bytes: {}", others.len(), others.join("; "))
        },
    }
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
