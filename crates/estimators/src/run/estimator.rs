//! The trait that all estimators implement.

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
/// - The result is a function of the game, the budget and the seed. It is bitwise identical for any number of
///   threads.
/// - The budget counts evaluations of the game, including v(∅) and v(N). An estimator that may exceed it
///   documents this; an example is Bernoulli sampling, which uses the budget in expectation.
/// - An estimator is determined by its options, which serde serializes. Stored runs are compared by these
///   options ([`Settings`]).
/// - For a budget of `2^n` or more, the result is exact, unless the estimator is configured to keep sampling.
pub trait Estimator: Settings + std::fmt::Debug + Send + Sync {
    /// Returns the name used on the command line and in result files.
    fn name(&self) -> &'static str;

    /// Returns the solution concept that the method estimates.
    fn value(&self) -> SolutionConcept {
        Semivalue::Shapley.into()
    }

    /// Returns the minimum number of evaluations for `players` players.
    fn minimum_budget(&self, players: usize) -> usize;

    /// Estimates the values of `game` from `budget` evaluations.
    ///
    /// The result scales with the unit of the game's outputs, without loss of precision, for values from
    /// 1e-300 to 1e300. Squares are computed in a separate unit for each output. (If the values of one output
    /// span more than sixty orders of magnitude, and the first values are small, the game is evaluated
    /// twice.) Standard errors include an allowance for events that the sample may have missed.
    ///
    /// # Errors
    ///
    /// [`EstimatorError::Budget`] if the budget is below [`minimum_budget`](Self::minimum_budget);
    /// [`EstimatorError::NotFinite`] if a value overflows; [`EstimatorError::Memory`] if less memory is
    /// available than [`memory`](Self::memory) returns; any error of the game.
    fn estimate(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation, EstimatorError> {
        let (players, outputs) = (game.players(), game.outputs());
        let what = || format!("{} for {players} players from {budget} evaluations", self.name());
        memory::check(self.memory(players, outputs, budget), what, "use fewer players or a smaller budget")?;
        in_own_units(game, |game| Ok(self.estimate_seen(game, budget, seed)?.with_unseen()))
    }

    /// Computes the raw estimate, which [`estimate`](Self::estimate) post-processes. Implement this method,
    /// but do not call it.
    ///
    /// Standard errors reflect the spread of the sample only. Implementations may square differences of the
    /// game's values: the squares of nonzero differences neither overflow nor underflow.
    ///
    /// # Errors
    ///
    /// Same as [`estimate`](Self::estimate).
    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64)
    -> Result<Explanation, EstimatorError>;

    /// Returns a rough upper bound, in bytes, on the memory that an estimate needs in addition to the memory
    /// of the game. It is checked before anything is allocated.
    ///
    /// The default is the memory of one batch, with at most one coalition for each evaluation and at most
    /// `n + 1` coalitions for n players.
    fn memory(&self, players: usize, outputs: usize, budget: usize) -> u128 {
        let rows = budget.min(players.saturating_add(1));
        let row = apportion_games::words_for(players).saturating_add(outputs).saturating_add(4);
        memory::product([rows, row, 8])
    }

    /// Returns the units that receive values: single players, or groups that act as one player.
    fn units(&self, players: usize) -> Vec<Vec<usize>> {
        units(&self.value(), None, players)
    }

    /// Returns the same method with growing samples. The coalitions for a budget are among those for every
    /// larger budget, so that a continued run evaluates nothing twice.
    ///
    /// A method whose samples always grow returns itself. A method that cannot fully achieve this documents
    /// how many coalitions are evaluated again.
    fn growing(&self) -> Box<dyn Estimator>;
}

/// Returns the units of a value, which are the groups for a quotient value, and single players otherwise.
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
