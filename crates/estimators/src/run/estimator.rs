//! The interface of all estimators.

use apportion_games::{Game, Partition, memory};
use apportion_values::{Semivalue, SolutionConcept};
use serde::{Serialize, Serializer};

use super::settings::Settings;
use crate::error::{EstimatorError, Result};
use crate::report::{Explanation, in_own_units};

/// A method that estimates a value of a game from a given number of evaluations.
///
/// # Contract
///
/// - The answer is a function of the game, the budget and the seed: the same bits on any number of threads.
/// - The budget counts evaluations of the game, v(∅) and v(N) included. An estimator that may use more (in expectation the budget,
///   as Bernoulli sampling) says so.
/// - Its options are all that it is made of, and serde writes them: runs that are stored are compared by them ([`Settings`]).
/// - At a budget of `2^n` or more the answer is exact, unless the estimator was asked to keep sampling.
pub trait Estimator: Settings + std::fmt::Debug + Send + Sync {
    /// The name on the command line and in results.
    fn name(&self) -> &'static str;

    /// Which value it estimates.
    fn value(&self) -> SolutionConcept {
        Semivalue::Shapley.into()
    }

    /// The fewest evaluations it can work with for `players` players.
    fn minimum_budget(&self, players: usize) -> usize;

    /// Estimates the values of `game` from `budget` evaluations.
    ///
    /// The answer does not depend on the unit of the game's outputs: values from 1e-300 to 1e300 give the same but for the factor. Squares
    /// are taken in a unit of its own for each output. (Where outputs of one game span more than sixty orders of magnitude, and those
    /// that were met first are small, it is evaluated twice.) The standard errors have in them what the sample may not have met.
    ///
    /// # Errors
    ///
    /// [`EstimatorError::Budget`] if the budget is below [`minimum_budget`](Self::minimum_budget), [`EstimatorError::NotFinite`] for values
    /// beyond the numbers there are, [`EstimatorError::Memory`] if it needs more [`memory`](Self::memory) than there is, and whatever the
    /// game reports.
    fn estimate(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation, EstimatorError> {
        let (players, outputs) = (game.players(), game.outputs());
        let what = || format!("{} of {players} players from {budget} evaluations", self.name());
        memory::check(self.memory(players, outputs, budget), what, "use fewer players or a smaller budget")?;
        in_own_units(game, |game| Ok(self.estimate_seen(game, budget, seed)?.with_unseen()))
    }

    /// The estimate as the sample has it: what [`estimate`](Self::estimate) makes an answer of. To be implemented, not to be called.
    ///
    /// Standard errors are those of the spread of the sample. Squares of differences of the game's values are finite and not zero.
    ///
    /// # Errors
    ///
    /// As [`estimate`](Self::estimate).
    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64)
    -> Result<Explanation, EstimatorError>;

    /// Returns the bytes that an estimate needs at most, by a rough bound, besides those of the game: checked before anything is allocated.
    ///
    /// By default those of a batch of coalitions, one for each player or evaluation, whichever are fewer.
    fn memory(&self, players: usize, outputs: usize, budget: usize) -> u128 {
        let rows = budget.min(players.saturating_add(1));
        let row = apportion_games::words_for(players).saturating_add(outputs).saturating_add(4);
        memory::product([rows, row, 8])
    }

    /// Who the value divides among: each player by itself, or the groups that play as one.
    fn units(&self, players: usize) -> Vec<Vec<usize>> {
        units(&self.value(), None, players)
    }

    /// The same method with samples that grow: the coalitions it looks at for a budget are among those for every larger one, so that
    /// a run that goes on evaluates nothing twice.
    ///
    /// A method whose samples grow anyway is its own answer. Where a method cannot do quite that, it says how much is looked at again.
    fn growing(&self) -> Box<dyn Estimator>;
}

/// The units of a value of players, in groups where it is one of groups.
pub(crate) fn units(
    value: &SolutionConcept,
    partition: Option<&Partition>,
    players: usize,
) -> Vec<Vec<usize>> {
    match (value, partition) {
        (SolutionConcept::Quotient(_), Some(partition)) => partition.groups().to_vec(),
        _ => (0..players).map(|player| vec![player]).collect(),
    }
}

impl Serialize for dyn Estimator + '_ {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.settings().serialize(serializer)
    }
}

impl<E: Estimator + Serialize + ?Sized> Estimator for Box<E> {
    fn name(&self) -> &'static str {
        (**self).name()
    }
    fn value(&self) -> SolutionConcept {
        (**self).value()
    }
    fn minimum_budget(&self, players: usize) -> usize {
        (**self).minimum_budget(players)
    }
    fn estimate(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        (**self).estimate(game, budget, seed)
    }
    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        (**self).estimate_seen(game, budget, seed)
    }
    fn memory(&self, players: usize, outputs: usize, budget: usize) -> u128 {
        (**self).memory(players, outputs, budget)
    }
    fn units(&self, players: usize) -> Vec<Vec<usize>> {
        (**self).units(players)
    }
    fn growing(&self) -> Box<dyn Estimator> {
        (**self).growing()
    }
}
