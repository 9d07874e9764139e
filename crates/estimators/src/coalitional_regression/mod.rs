//! Regression estimators of values of players in groups.
//!
//! A regression among the groups gives what each group gets, a regression for each group how its members differ.

mod coalitional;
mod estimate;
mod members;
mod parts;
mod two_step;

use apportion_games::{Cached, Counted, Game, Partition, Purpose, QuotientGame, stream};
use apportion_values::{CoalitionalValue, Semivalue, SolutionConcept};
use rand::Rng;

use crate::error::EstimatorError;
use crate::estimator::Estimator;
use crate::evaluations::{Evaluations, check_budget};
use crate::explanation::Explanation;
use crate::regression::StandardErrors;
use coalitional::Coalitional;
use estimate::regression;

/// Values of players in groups by regressions.
#[derive(Debug, Clone, PartialEq)]
pub struct CoalitionalRegression {
    value: SolutionConcept,
    partition: Partition,
    /// Whether to estimate standard errors; yes by default.
    pub standard_errors: StandardErrors,
}

const NAME: &str = "leverage";

impl CoalitionalRegression {
    /// The estimator of `value` for players in the groups of `partition`.
    ///
    /// # Errors
    pub fn new(value: impl Into<SolutionConcept>, partition: Partition) -> Result<Self, EstimatorError> {
        let value = value.into();
        value.check(partition.players(), Some(&partition))?;
        let estimator = Self { value, partition, standard_errors: StandardErrors::default() };
        if estimator.task().is_some() { Ok(estimator) } else { Err(estimator.refusal()) }
    }

    fn refusal(&self) -> EstimatorError {
        EstimatorError::OtherValue {
            method: NAME,
            estimates: "two-step Shapley values, and coalitional and quotient values made of Shapley, Banzhaf and weighted Banzhaf values",
            value: Box::new(self.value.clone()),
            instead: if self.value.needs_partition() {
                "product-space"
            } else {
                "leverage-shap, kernel-banzhaf, monte-carlo or msr"
            },
        }
    }

    /// The groups.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// What is to be done; `None` for other values.
    fn task(&self) -> Option<Task> {
        let groups = self.partition.len();
        let regression = |value: &Semivalue| regression(value, self.standard_errors);
        match &self.value {
            SolutionConcept::Quotient(value) => regression(value).map(Task::Quotient),
            SolutionConcept::TwoStepShapley if groups == 1 || groups == self.partition.players() => {
                regression(&Semivalue::Shapley).map(Task::Players)
            }
            SolutionConcept::TwoStepShapley => Some(Task::TwoStep),
            SolutionConcept::Coalitional(CoalitionalValue { between, within }) => {
                let (of_groups, of_members) = (regression(between)?, regression(within)?);
                if groups == 1 {
                    Some(Task::Players(of_members))
                } else if groups == self.partition.players() {
                    Some(Task::Players(of_groups))
                } else {
                    let within = within.simplified().least_squares()?;
                    Some(Task::Coalitional(Coalitional { between: between.simplified(), within, of_groups }))
                }
            }
            _ => None,
        }
    }
}

/// What a value and a partition ask for.
enum Task {
    /// A semivalue of the players.
    Players(Box<dyn Estimator>),
    /// A semivalue of the groups.
    Quotient(Box<dyn Estimator>),
    TwoStep,
    Coalitional(Coalitional),
}

impl Estimator for CoalitionalRegression {
    fn name(&self) -> &'static str {
        NAME
    }

    fn value(&self) -> SolutionConcept {
        self.value.clone()
    }

    /// Of the partition that it was made for, whatever `players` says.
    fn minimum_budget(&self, _players: usize) -> usize {
        match self.task() {
            Some(Task::Players(regression)) => regression.minimum_budget(self.partition.players()),
            Some(Task::Quotient(regression)) => regression.minimum_budget(self.partition.len()),
            Some(Task::TwoStep) => 2 + two_step::least_evaluations(&self.partition),
            Some(Task::Coalitional(task)) => 2 + task.least(&self.partition),
            None => 0,
        }
    }

    fn estimate(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation, EstimatorError> {
        self.partition.check_players(game.players())?;
        check_budget(self, game, budget)?;
        let named = |explanation: Explanation| Explanation {
            value: self.value.clone(),
            method: NAME.to_owned(),
            ..explanation
        };
        let remembered = Cached::new(Counted::new(game));
        let ends = Evaluations::begin(&remembered)?;
        let estimate = match self.task() {
            Some(Task::Players(regression)) => return regression.estimate(game, budget, seed).map(named),
            Some(Task::Quotient(regression)) => {
                let groups = QuotientGame::new(game, &self.partition)?;
                return regression.estimate(&groups, budget, seed).map(named);
            }
            Some(Task::TwoStep) => {
                two_step::estimate(&remembered, &self.partition, budget - 2, self.standard_errors, seed)?
            }
            Some(Task::Coalitional(task)) => {
                task.estimate(&remembered, &self.partition, budget - 2, self.standard_errors, seed)?
            }
            None => return Err(self.refusal()),
        };
        let evaluations = remembered.inner().evaluations() as usize;
        let root = |variances: Vec<f64>| variances.into_iter().map(f64::sqrt).collect();
        Ok(Explanation {
            value: self.value.clone(),
            method: NAME.to_owned(),
            values: estimate.values,
            base: ends.empty,
            prediction: ends.full,
            std_errors: estimate.variances.map(root),
            evaluations,
            distinct_coalitions: evaluations,
            model_rows: evaluations * game.rows_per_coalition(),
            seed: Some(seed),
            diagnostics: estimate.diagnostics,
        })
    }
}

/// The seed of the streams of one part.
fn seed_of_part(seed: u64, part: u64) -> u64 {
    stream(seed, Purpose::Parts, part).next_u64()
}
