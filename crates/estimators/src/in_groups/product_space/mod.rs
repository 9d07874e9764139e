//! Monte Carlo sampling on the product space of coalitions, groups and scenarios.
//!
//! # Notation
//!
//! There are `n` players, in `m` groups S_1 … S_m if the value uses groups, with player i in S_j; `Q_A` is
//! the union of the groups in A. The game is the mean of `v_b` over B scenarios of weight `w_b`. For a
//! marginal game, the scenarios are the background rows. There are `K̃` draws for each player.
//!
//! # Source
//!
//! Kotsiopoulos, Miroshnikov, Filom and Ravi Kannan, *Approximation of group explainers with coalition
//! structure using Monte Carlo sampling on the product space of coalitions and features*, 2023: Algorithms 1
//! to 4 and Theorems 3.1 to 3.3.

mod contributions;

use apportion_games::{Game, Hierarchy, Partition, QuotientGame};
use apportion_samplers::SamplerError;
use apportion_values::{CoalitionalValue, SolutionConcept, Value, ValueError};

use self::contributions::{BLOCK_BITS, CoalitionDistributions, Contributions, two_step_rows};
use super::structured;
use crate::error::{EstimatorError, Result};
use crate::registry::specs;
use crate::report::{BoundedDraws, ErrorDistribution, Explanation};
use crate::run::{Estimator, check_draws, units};
use crate::support::FullBudget;
use crate::support::product_draws::{
    Estimates, Finished, Plan, PlayerEstimates, ProductDraws, Scenarios, Strata, affordable_draws, averages,
    exact_within, explanation,
};

/// The mean of each player's marginal contributions to coalitions that are drawn separately for this player,
/// each in one random scenario of the game.
///
/// ```text
/// ĝ_i = (1/K̃) Σ_k Δ_i^(k),     Δ_i = v_b(S ∪ i) − v_b(S),     S ~ P_i,  b ~ w
/// ```
///
/// One draw evaluates two coalitions in one scenario. For a marginal game, these are two predictions, for any
/// size of the background. Supports every [`SolutionConcept`] except values on graphs:
///
/// | value | algorithm | the coalition S | scenario evaluations of a draw for all players |
/// |---|---|---|---|
/// | semivalue | 1 | a size from the value's distribution, then uniform among the coalitions of this size | 2n |
/// | linear | 1 | from the custom distribution P_i | 2n |
/// | quotient | 2 | same as a semivalue, with groups as players | 2m |
/// | coalitional | 3 | `Q_A ∪ T`, with A from the distribution between groups, and T from the one within groups | 2n |
/// | two-step Shapley | 4 | T, and for the quotient game A; see below | 2 for a player alone in its group, 6 for others |
///
/// For Shapley values, these distributions yield the players (or groups, or members) before i in a random
/// order.
///
/// The estimates are unbiased for all of these values. Players share no evaluations, so their estimates are
/// independent and do not sum exactly to v(N) − v(∅). [`NestedPermutation`](crate::NestedPermutation) shares
/// all evaluations, for values that are means over orders.
///
/// **Two-step Shapley values** combine three contributions in one scenario (Algorithm 4):
///
/// ```text
/// Δ_i = v_b(T ∪ i) − v_b(T) + [v_b(Q_A ∪ S_j) − v_b(Q_A) − (v_b(S_j) − v_b(∅))] / |S_j|,
/// T ⊆ S_j∖i,  A ⊆ M∖j
/// ```
///
/// S_j is the group of player i, and M is the set of all groups. The paper's formula contains v_b(S_j), for
/// games with v(∅) = 0. Here v_b(∅) is subtracted from it; otherwise a group's members would not sum to the
/// value of the group. T and A are independent, but share the scenario.
///
/// **Modes.** By default (*empirical marginal*), scenarios are drawn by their weights, and K̃ is as large as
/// the budget allows. In the [`true_marginal`](Self::true_marginal) mode, every scenario is used once, with a
/// new coalition: K̃ = B for any budget, and `ĝ_i = Σ_b w_b Δ_i^(b)`. This is an unbiased estimate of the
/// value of the game under the distribution from which the background was sampled, and its standard errors
/// include the sampling of the background. Games of one scenario are rejected.
///
/// **Budget.** Two of M evaluations of the game are v(∅) and v(N). The other M − 2 allow `(M − 2) B`
/// evaluations in one scenario. In the result, `evaluations` is the number used, rounded up, and `model_rows`
/// is the number of rows. `distinct_coalitions` are not counted; they are set to the number of evaluations,
/// or to the number of all coalitions if that is smaller. The estimate is exact if enumeration costs no more
/// than the budget, except with [`keep_sampling`](Self::keep_sampling) and in the true marginal mode.
///
/// **Standard errors** are `sqrt(s²/K̃)`, where s² is the sample variance of a player's contributions
/// (Theorems 3.1 to 3.3). There are none for fewer than five draws. With about ten draws, they tend to be too
/// small: ±1.96 standard errors covered the true value in 90% of the cases (the errors follow Student's t
/// with `K̃ − 1` degrees of freedom). For weighted scenarios in the true marginal mode, see
/// [`true_marginal`](Self::true_marginal).
///
/// Takes at most O(T + K̃ n²) time, where T is the time of the game's evaluations. Each thread stores some
/// thousand coalitions.
///
/// ```
/// use apportion_estimators::{Estimator, ProductSpace};
/// use apportion_games::{Background, MarginalGame, Partition};
/// use apportion_values::{SolutionConcept, Value};
///
/// let model = |row: &[f64]| row[0] * row[1] + row[2];
/// let background = Background::rows((0..300).map(|i| f64::from(i % 7)).collect::<Vec<_>>(), 3)?;
/// let game = MarginalGame::new(&model, &[2.0, 5.0, 1.0], &background)?;
/// let partition = Partition::new(3, vec![vec![0, 1], vec![2]])?;
///
/// let truth = Value::owen(partition.clone()).enumerate(&game)?;
/// // 7 evaluations of 100 rows: 500 scenario evaluations in addition to v(∅) and v(N), 83 draws of 6.
/// let explanation = ProductSpace::grouped(SolutionConcept::owen(), partition).estimate(&game, 7, 3)?;
/// assert_eq!((explanation.evaluations, explanation.model_rows), (7, 698));
/// let errors = explanation.std_errors.unwrap();
/// for ((got, error), want) in explanation.values.iter().zip(errors).zip(truth.values) {
///     assert!((got - want).abs() <= 4.0 * error);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ProductSpace {
    value: SolutionConcept,
    #[serde(serialize_with = "crate::run::settings::any_groups")]
    partition: Option<Partition>,
    #[serde(serialize_with = "crate::run::settings::any_levels", skip_serializing_if = "Option::is_none")]
    hierarchy: Option<Hierarchy>,
    mode: Mode,
    full_budget: FullBudget,
}

/// The game whose value is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
enum Mode {
    EmpiricalMarginal,
    TrueMarginal,
}

impl ProductSpace {
    /// Creates the estimator of a semivalue or a linear value of players, by Algorithm 1.
    ///
    /// Values for players in groups require a partition: use [`grouped`](Self::grouped). Without one,
    /// estimation fails.
    pub fn new(value: impl Into<SolutionConcept>) -> Self {
        Self {
            value: value.into(),
            partition: None,
            hierarchy: None,
            mode: Mode::EmpiricalMarginal,
            full_budget: FullBudget::Enumerate,
        }
    }

    /// Creates the estimator of a quotient, coalitional or two-step value of players in the groups of
    /// `partition`, by Algorithm 2, 3 or 4.
    ///
    /// Values without groups ignore the partition.
    pub fn grouped(value: impl Into<SolutionConcept>, partition: Partition) -> Self {
        Self { partition: Some(partition), ..Self::new(value) }
    }

    /// Creates the estimator of a coalitional value over a hierarchy of groups. At every level, some of the
    /// siblings join, according to the semivalue for this level.
    pub fn over_hierarchy(value: CoalitionalValue, hierarchy: Hierarchy) -> Self {
        Self { hierarchy: Some(hierarchy), ..Self::new(value) }
    }

    /// Returns the estimator in the true marginal mode. Each scenario is used once, with a new coalition, and
    /// v is the mean over the distribution from which the scenarios were sampled.
    ///
    /// With weights that sum to 1 and `W_p = Σ_b w_b^p`, the squared standard error is `W_2 Σ_b w_b² (Δ^(b) −
    /// ĝ)² / (W_2 − 2 W_3 + W_2²)`. For equal weights, this is the sample variance divided by B. There are no
    /// standard errors if `1 / W_2` is below 5.
    #[must_use]
    pub fn true_marginal(self) -> Self {
        Self { mode: Mode::TrueMarginal, ..self }
    }

    /// Returns the estimator that samples even if the budget allows exact values.
    #[must_use]
    pub fn keep_sampling(self) -> Self {
        Self { full_budget: FullBudget::Sample, ..self }
    }

    /// Returns the partition, if there is one.
    pub fn partition(&self) -> Option<&Partition> {
        self.partition.as_ref()
    }

    /// Estimates the values of `players` only (groups for quotient values), with K̃ = `draws` draws for each.
    /// No other coalition is evaluated, not even ∅ or N.
    ///
    /// The value of a player does not depend on the other requested players. It equals the value from
    /// [`Estimator::estimate`] with the same number of draws. A draw takes 2 evaluations in one scenario, or
    /// 6 for two-step Shapley values of players that are not alone in their group. Results are bitwise
    /// identical for any number of threads.
    ///
    /// ```
    /// use apportion_estimators::ProductSpace;
    /// use apportion_games::{Background, MarginalGame};
    /// use apportion_values::Semivalue;
    ///
    /// let model = |row: &[f64]| row[0] * row[1];
    /// let background = Background::rows([0.0, 1.0, 2.0, 3.0], 2)?;
    /// let game = MarginalGame::new(&model, &[4.0, 5.0], &background)?;
    /// let second = ProductSpace::new(Semivalue::Shapley).estimate_players(&game, &[1], 2000, 0)?;
    /// assert_eq!(second.scenario_evaluations, 4000);
    /// // φ_2 = 1/2 [(v({2}) − v(∅)) + (v({1, 2}) − v({1}))] = 1/2 [(5 − 3) + (20 − 8)] = 7
    /// assert!((second.values[0] - 7.0).abs() < 4.0 * second.std_errors.unwrap()[0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`EstimatorError::Value`] for a value that does not match the game or the partition;
    /// [`EstimatorError::UnknownPlayer`] for an index out of range; [`EstimatorError::Draws`] for zero draws,
    /// or, in the true marginal mode, unless there is one draw per scenario; any error of the game.
    pub fn estimate_players(
        &self,
        game: &dyn Game,
        players: &[usize],
        draws: usize,
        seed: u64,
    ) -> Result<PlayerEstimates, EstimatorError> {
        Ok(self.of_players(game, players, draws, seed)?.into())
    }

    /// Returns the same estimates as [`estimate_players`](Self::estimate_players), with the allowance for
    /// unseen events kept separate.
    fn of_players(&self, game: &dyn Game, players: &[usize], draws: usize, seed: u64) -> Result<Estimates> {
        let count = self.check(game)?;
        if let Some(&player) = players.iter().find(|&&player| player >= count) {
            return Err(EstimatorError::UnknownPlayer { player, players: count });
        }
        let (least, most) = match self.mode {
            Mode::EmpiricalMarginal => (1, MAX_DRAWS),
            Mode::TrueMarginal => (game.scenarios(), game.scenarios()),
        };
        check_draws(draws, least, most)?;
        match &self.structured()? {
            Value::Quotient(semivalue, partition) => {
                let quotient = QuotientGame::new(game, partition)?;
                let whole = Partition::whole(partition.len());
                self.sample(
                    &quotient,
                    CoalitionDistributions::semivalue(semivalue, &whole)?,
                    players,
                    draws,
                    seed,
                )
            }
            Value::Coalitional(value, partition) => self.sample(
                game,
                CoalitionDistributions::coalitional(value, partition)?,
                players,
                draws,
                seed,
            ),
            Value::OverHierarchy(value, hierarchy) => self.sample(
                game,
                CoalitionDistributions::over_hierarchy(value, hierarchy)?,
                players,
                draws,
                seed,
            ),
            Value::TwoStepShapley(partition) => {
                self.sample(game, CoalitionDistributions::two_step(partition)?, players, draws, seed)
            }
            Value::Semivalue(semivalue) => {
                let whole = Partition::whole(game.players());
                self.sample(game, CoalitionDistributions::semivalue(semivalue, &whole)?, players, draws, seed)
            }
            Value::Linear(value) => {
                self.sample(game, CoalitionDistributions::linear(value, players)?, players, draws, seed)
            }
            other => Err(ValueError::NoGraph { value: other.concept().to_string() }.into()),
        }
    }

    /// Returns the value with its groups or its hierarchy.
    fn structured(&self) -> Result<Value, ValueError> {
        structured(&self.value, self.partition(), self.hierarchy.as_ref())
    }

    /// Samples contributions of `players` in `game`. For quotient values, the players of `game` are groups.
    fn sample(
        &self,
        game: &dyn Game,
        distributions: CoalitionDistributions<'_>,
        players: &[usize],
        draws: usize,
        seed: u64,
    ) -> Result<Estimates> {
        let (scenarios, weights) = match self.mode {
            Mode::EmpiricalMarginal => (Scenarios::independent(game)?, None),
            Mode::TrueMarginal => (Scenarios::Walked, game.scenario_weights()),
        };
        let (game_players, width) = (game.players(), game.outputs());
        let contributions =
            Contributions { distributions, scenarios, players, game_players, outputs: width, seed };
        let rows: usize = (0..players.len()).map(|unit| contributions.rows_per_draw(unit)).sum();
        let plan = Plan { units: players.len(), strata: Strata::one(draws), block: BLOCK, width, weights };
        Ok(Finished::all(averages(game, &contributions, plan)?, width, rows * draws))
    }

    /// Checks that the game has players and matches the value, and returns the number of values.
    fn check(&self, game: &dyn Game) -> Result<usize> {
        if game.players() == 0 {
            return Err(EstimatorError::NoPlayers);
        }
        let values = self.structured()?.check(game.players())?;
        // The bits of a stream number are sufficient for a million players.
        if values > MAX_PLAYERS {
            return Err(SamplerError::Players { actual: values, max: MAX_PLAYERS }.into());
        }
        Ok(values)
    }

    /// Returns the error distribution of means of `draws` draws. Errors of different players are independent.
    fn error_distribution(&self, game: &dyn Game, std_errors: &[f64], draws: usize) -> ErrorDistribution {
        let weights = match self.mode {
            Mode::TrueMarginal => game.scenario_weights(),
            Mode::EmpiricalMarginal => None,
        };
        let effective = weights.map_or(draws as f64, |weights| {
            let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
            weights.iter().sum::<f64>().powi(2) / squares
        });
        // The range of the game only bounds its values in scenarios if there is a single scenario.
        let is_bounded = game.scenarios() == 1 && self.mode == Mode::EmpiricalMarginal;
        let bounded_draws = is_bounded.then(|| BoundedDraws { draws, span: self.span() });
        ErrorDistribution {
            bounded_draws,
            ..ErrorDistribution::of_independent_values(std_errors, game.outputs(), effective - 1.0)
        }
    }

    /// Returns the length of the interval that contains every draw, in multiples of the game's range. A draw
    /// is a marginal contribution. For two-step Shapley values, the difference of two contributions is added,
    /// divided by the size of the group, which is at least 2.
    fn span(&self) -> f64 {
        let smallest = |partition: &Partition| {
            let sizes = partition.groups().iter().map(Vec::len).filter(|&size| size > 1);
            sizes.min().map_or(2.0, |size| 2.0 + 4.0 / size as f64)
        };
        match (&self.value, &self.partition) {
            (SolutionConcept::TwoStepShapley, Some(partition)) => smallest(partition),
            _ => 2.0,
        }
    }

    /// Returns whether exact values are computed if the budget allows this.
    fn may_enumerate(&self) -> bool {
        self.mode == Mode::EmpiricalMarginal && self.full_budget == FullBudget::Enumerate
    }

    /// Returns the number of scenario evaluations of one draw for all players.
    fn rows_per_draw(&self, players: usize) -> usize {
        match (&self.value, &self.partition) {
            (SolutionConcept::Quotient(_), Some(partition)) => 2 * partition.len(),
            (SolutionConcept::TwoStepShapley, Some(partition)) => {
                (0..partition.players()).map(|player| two_step_rows(partition, player)).sum()
            }
            _ => 2 * players,
        }
    }
}

/// The number of draws in a block; each block has a separate random stream.
const BLOCK: usize = 1024;

/// The maximum number of draws per player, and of players. Both are limited by the numbering of random
/// streams.
const MAX_DRAWS: usize = BLOCK << BLOCK_BITS;
const MAX_PLAYERS: usize = 1 << (48 - BLOCK_BITS);

impl Estimator for ProductSpace {
    fn name(&self) -> &'static str {
        match self.mode {
            Mode::EmpiricalMarginal => "product-space",
            Mode::TrueMarginal => "product-space-true-marginal",
        }
    }

    fn value(&self) -> SolutionConcept {
        self.value.clone()
    }

    /// Returns the number of evaluations for v(∅), v(N) and one draw for all players in a game of one
    /// scenario, or the cost of exact values if that is less. This is an upper bound on the minimum, because
    /// a draw costs less in a game of several scenarios.
    fn minimum_budget(&self, players: usize) -> usize {
        let least = self.rows_per_draw(players).saturating_add(2);
        if !self.may_enumerate() {
            return least;
        }
        let exact =
            self.structured().and_then(|value| value.check(players).map(|_| value.coalitions(players)));
        exact.ok().flatten().map_or(least, |exact| exact.min(least))
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        let count = self.check(game)?;
        if self.may_enumerate()
            && let Some(exact) = exact_within(self, &self.structured()?, game, budget)?
        {
            return Ok(exact);
        }
        if self.mode == Mode::TrueMarginal && game.scenarios() == 1 {
            return Err(EstimatorError::OneScenario { method: self.name(), instead: "product-space" });
        }
        let rows = self.rows_per_draw(game.players());
        let draws = match self.mode {
            Mode::EmpiricalMarginal => affordable_draws(self, game, budget, rows, 1)?,
            Mode::TrueMarginal => {
                affordable_draws(self, game, budget, rows, game.scenarios())?;
                game.scenarios()
            }
        };
        let everyone: Vec<usize> = (0..count).collect();
        let mut explanation =
            explanation(self, game, seed, |_| self.of_players(game, &everyone, draws, seed))?;
        if let (Some(distribution), Some(errors)) =
            (&mut explanation.diagnostics.error_distribution, &explanation.std_errors)
        {
            let one_draw = std::mem::take(&mut distribution.one_draw);
            *distribution = ErrorDistribution { one_draw, ..self.error_distribution(game, errors, draws) };
        }
        Ok(explanation)
    }

    fn units(&self, players: usize) -> Vec<Vec<usize>> {
        units(&self.value, self.partition(), players)
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

fn of_value(value: &Value) -> Option<ProductSpace> {
    if let Value::OverHierarchy(value, hierarchy) = value {
        return Some(ProductSpace::over_hierarchy(value.clone(), hierarchy.clone()));
    }
    match value.groups() {
        _ if value.graph().is_some() => None,
        Some(groups) => Some(ProductSpace::grouped(value.concept(), groups.clone())),
        None => Some(ProductSpace::new(value.concept())),
    }
}

specs! {
    PRODUCT_SPACE = "product-space" drawing_scenarios:
        "Monte Carlo on the product space of coalitions and background rows, separately for each player",
        |value| Some(Box::new(of_value(value)?));
    PRODUCT_SPACE_TRUE_MARGINAL = "product-space-true-marginal" drawing_scenarios:
        "product-space with each background row used once, for the distribution from which the background \
         was sampled",
        |value| Some(Box::new(of_value(value)?.true_marginal()));
}
