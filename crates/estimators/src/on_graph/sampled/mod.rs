//! L-Shapley values by sampling, for large neighbourhoods.
//!
//! # Source
//!
//! Chen, Song, Wainwright and Jordan, *L-Shapley and C-Shapley: efficient model interpretation for structured
//! data*, 2019, section 4.3.1: the value of a player in its neighbourhood can be sampled like any other
//! Shapley value.

mod contributions;
mod shares;

use std::sync::Arc;

use apportion_games::{Cached, Game, Graph, Purpose, SubGame, stream};
use apportion_values::{GraphForm, GraphValue, Outside, Semivalue, SolutionConcept, enumerate};
use rand::Rng;

use self::contributions::{Contributions, PlayerEstimate};
use self::shares::Share;
use super::local::{count_within, neighbourhoods};
use super::whole::OnGraph;
use crate::error::{EstimatorError, Result};
use crate::regression::kernel_banzhaf::KernelBanzhaf;
use crate::regression::leverage_shap::LeverageShap;
use crate::report::{BoundedDraws, Diagnostics, ErrorDistribution, Explanation, Influences};
use crate::run::{Estimator, Evaluations, check_budget};
use crate::support::Draws;

/// The method that estimates a player's value in its neighbourhood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum LocalMethod {
    /// The mean of the player's contributions to coalitions in the neighbourhood. Each coalition is drawn
    /// with its complement if the value gives both the same weight. Supports every semivalue. The default.
    #[default]
    Contributions,
    /// A regression on coalitions in the neighbourhood, drawn without replacement by leverage scores:
    /// [`LeverageShap`], or [`KernelBanzhaf`] for (weighted) Banzhaf values. Only the value of the player
    /// itself is used.
    Regression,
}

/// L-Shapley values, and the corresponding values for any semivalue, for neighbourhoods that are too large to
/// enumerate. Every player's value in the game restricted to its neighbourhood is estimated separately.
///
/// ```text
/// contributions:  φ̃_i = (1/r_i) Σ_j ½ (x(S_j) + x(N_k(i) \ i \ S_j)),
///                 x(S) = v(S ∪ i) − v(S),   S_j ⊆ N_k(i) \ i
/// regression:     φ̃_i = the i-th value of Leverage SHAP on the coalitions of N_k(i)
/// ```
///
/// The size of S_j is drawn from the size distribution of the semivalue in a game of |N_k(i)| players, and
/// S_j uniformly among the coalitions of this size. If the distribution is not symmetric, draws are unpaired
/// and do not have the second term. Contributions are unbiased. Both methods are exact for additive games;
/// regressions require about 2 evaluations per player of the neighbourhood for this.
///
/// Names: `l-shapley-permutation` and `l-shapley-leverage`. For other semivalues: `local-monte-carlo` and
/// `l-banzhaf-kernel`.
///
/// **Budget.** All players get the same number of evaluations. If this number covers all coalitions in a
/// neighbourhood, they are enumerated, and the remaining evaluations go to the other players. A coalition
/// that is drawn for several players, or twice for one, is evaluated once. Fewer evaluations than the budget
/// may therefore be used, all of them distinct. A budget for all coalitions in all neighbourhoods yields
/// [exact](OnGraph) values.
///
/// **Standard errors** are computed from each player's own draws, independent of the other players. They are
/// zero for enumerated players. For contributions, they are the errors of the mean of r_i draws (pairs), with
/// the allowance of [`MonteCarlo`](crate::MonteCarlo) for contributions that were not drawn. No standard
/// errors are reported if some player has fewer than 4 draws. For regressions, they are the standard errors
/// of the regression.
///
/// **Choice of method.** Contributions with their complements are exact for interactions of two players, from
/// the first draw on, and are not affected by the contributions of the other players in a neighbourhood. The
/// table shows the median squared error of the regression divided by that of contributions. It was measured
/// on a line of 60 players, for several numbers of evaluations per player in the neighbourhood (a network of
/// 20 hidden units; interactions of 3 and of 6 players):
///
/// | players in the neighbourhood | 2 | 5 | 10 | 20 |
/// |---|---|---|---|---|
/// | 9 (512 coalitions) | 36 to 220 | 1.5 to 2.5 | 0.7 to 1.3 | 0.4 to 0.8 |
/// | 17 | 170 to 670 | 6 to 7 | 4 to 6 | 3 to 6 |
///
/// The regression draws without replacement, so it is more accurate once the draws are a substantial part of
/// all coalitions.
///
/// **Minimum budget.** 2 evaluations, plus a number for each player: for contributions 4 (2 if unpaired), for
/// regressions |N_k(i)| (one more for Banzhaf values), rounded up to an even number of at least 4. The
/// minimum never exceeds the number of coalitions.
///
/// Contributions take `O(T + m n/64)` time, where T is the time of m evaluations; regressions on
/// neighbourhoods of b players take `O(T + m b²)`. The memory is that of m coalitions and their values.
///
/// ```
/// use apportion_estimators::{Estimator, LocalSampling};
/// use apportion_games::{Graph, SumOfUnanimity};
///
/// // 1 if players 3 and 20 are present. Neighbourhoods have up to 61 players: 2^61 coalitions.
/// let game = SumOfUnanimity::unanimity(100, [3, 20])?;
/// let explanation = LocalSampling::permutations(Graph::line(100), 30).estimate(&game, 2000, 7)?;
/// assert!((explanation.values[3] - 0.5).abs() < 1e-12 && (explanation.values[20] - 0.5).abs() < 1e-12);
/// assert_eq!(explanation.value.to_string(), "l-shapley=30");
/// assert!(explanation.evaluations <= 2000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, serde::Serialize)]
pub struct LocalSampling {
    #[serde(serialize_with = "crate::run::settings::neighbours")]
    graph: Arc<Graph>,
    #[serde(serialize_with = "crate::run::settings::name")]
    value: GraphValue,
    #[serde(skip)]
    outside: Outside,
    method: LocalMethod,
    draws: Draws,
    /// The neighbourhoods of all nodes.
    #[serde(skip)]
    around: Arc<Vec<Vec<usize>>>,
}

impl LocalSampling {
    /// Creates an estimator of `value`, which must have the form [`GraphForm::Local`], with the given
    /// `method`.
    ///
    /// # Errors
    ///
    /// [`EstimatorError::OtherValue`] for other forms, and for regressions if the semivalue is not the
    /// solution of a regression.
    pub fn new(
        graph: impl Into<Arc<Graph>>,
        value: GraphValue,
        method: LocalMethod,
    ) -> Result<Self, EstimatorError> {
        let other = |estimates, instead| {
            let (method, value) = ("local sampling", Box::new(value.clone().into()));
            Err(EstimatorError::OtherValue { method, estimates, value, instead })
        };
        if method == LocalMethod::Regression && value.semivalue.simplified().least_squares().is_none() {
            return other(
                "L-Shapley and local (weighted) Banzhaf values by regression",
                "contributions, which support any semivalue",
            );
        }
        match value.form {
            GraphForm::Local { order, outside } => {
                Ok(Self::from_parts(graph.into(), value, order, outside, method))
            }
            _ => {
                other("L-Shapley values and other semivalues in neighbourhoods", "`OnGraph`, which is exact")
            }
        }
    }

    /// Creates an estimator of L-Shapley values of order `order` from contributions. Players outside the
    /// neighbourhood are absent.
    pub fn permutations(graph: impl Into<Arc<Graph>>, order: usize) -> Self {
        Self::l_shapley(graph.into(), order, LocalMethod::Contributions)
    }

    /// Creates an estimator of L-Shapley values of order `order` by Leverage SHAP in each neighbourhood.
    /// Players outside the neighbourhood are absent.
    pub fn leverage(graph: impl Into<Arc<Graph>>, order: usize) -> Self {
        Self::l_shapley(graph.into(), order, LocalMethod::Regression)
    }

    fn l_shapley(graph: Arc<Graph>, order: usize, method: LocalMethod) -> Self {
        Self::from_parts(graph, GraphValue::l_shapley(order), order, Outside::Absent, method)
    }

    fn from_parts(
        graph: Arc<Graph>,
        value: GraphValue,
        order: usize,
        outside: Outside,
        method: LocalMethod,
    ) -> Self {
        let around = Arc::new(neighbourhoods(&graph, order));
        Self { graph, value, outside, method, draws: Draws::FixedCounts, around }
    }

    /// Returns the graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the semivalue in a neighbourhood of `nodes` players.
    fn local(&self, nodes: usize) -> Semivalue {
        self.value.semivalue.simplified().without_null_players(nodes)
    }

    /// Returns the estimator for the values of all players in a neighbourhood, for regressions.
    fn regression(&self) -> Box<dyn Estimator> {
        match self.value.semivalue.simplified() {
            Semivalue::Shapley => Box::new(LeverageShap::default().with_draws(self.draws)),
            value => Box::new(KernelBanzhaf::default().with_value(value).with_draws(self.draws)),
        }
    }

    /// Divides `budget` evaluations, which include v(∅) and v(N), among the players; each gets at least its
    /// minimum.
    fn shares(&self, budget: usize) -> Vec<Share> {
        let regression = self.regression();
        let shares = self.around.iter().map(|around| {
            let nodes = around.len();
            let least = match self.method {
                LocalMethod::Regression => regression.minimum_budget(nodes).next_multiple_of(2),
                LocalMethod::Contributions if is_symmetric(&self.local(nodes)) => 4,
                LocalMethod::Contributions => 2,
            };
            Share::new(least, nodes)
        });
        let unit = match self.method {
            LocalMethod::Regression => 2,
            LocalMethod::Contributions => 4,
        };
        let mut shares: Vec<Share> = shares.collect();
        shares::fill(&mut shares, unit, budget.saturating_sub(2));
        shares
    }

    /// Estimates the values of all players in the neighbourhood game of one player, and returns only the
    /// value of this player.
    fn in_neighbourhood(
        &self,
        game: &Cached<&dyn Game>,
        player: usize,
        share: Share,
        seed: u64,
    ) -> Result<PlayerEstimate> {
        let around = &self.around[player];
        let sub = SubGame::new(game, around)?;
        let sub = if self.outside == Outside::Present { sub.with_others_present() } else { sub };
        let outputs = game.outputs();
        let first = around.partition_point(|&node| node < player) * outputs;
        let own = |all: &[f64]| all[first..first + outputs].to_vec();
        if share.is_whole() {
            let values = own(&enumerate(&sub, self.local(around.len()))?.values);
            return Ok(PlayerEstimate {
                values,
                std_errors: Some(vec![0.0; outputs]),
                degrees_of_freedom: f64::INFINITY,
                influences: Influences::none(outputs),
                share: 0.0,
            });
        }
        let explanation = self.regression().estimate_seen(&sub, share.evaluations, own_seed(seed, player))?;
        let explanation = explanation.with_unseen();
        let distribution = &explanation.diagnostics.error_distribution;
        Ok(PlayerEstimate {
            values: own(&explanation.values),
            std_errors: explanation.std_errors.as_deref().map(own),
            degrees_of_freedom: distribution
                .as_ref()
                .map_or(f64::INFINITY, |distribution| distribution.degrees_of_freedom),
            influences: Influences::none(outputs),
            share: 0.0,
        })
    }
}

/// Returns the seed for a player's draws.
fn own_seed(seed: u64, player: usize) -> u64 {
    stream(seed, Purpose::Neighbourhoods, player as u64).next_u64()
}

/// Returns whether coalitions and their complements have equal weights.
fn is_symmetric(value: &Semivalue) -> bool {
    match value {
        Semivalue::Shapley | Semivalue::Banzhaf => true,
        Semivalue::BetaShapley(distribution) => distribution.alpha() == distribution.beta(),
        _ => false,
    }
}

impl Estimator for LocalSampling {
    fn name(&self) -> &'static str {
        let is_shapley = self.value.semivalue.simplified() == Semivalue::Shapley;
        match (self.method, is_shapley) {
            (LocalMethod::Contributions, true) => "l-shapley-permutation",
            (LocalMethod::Contributions, false) => "local-monte-carlo",
            (LocalMethod::Regression, true) => "l-shapley-leverage",
            (LocalMethod::Regression, false) => "l-banzhaf-kernel",
        }
    }

    fn value(&self) -> SolutionConcept {
        self.value.clone().into()
    }

    /// Returns 2 plus the sum of the minimum budgets of all players; see [`LocalSampling`]. `players` is
    /// ignored.
    fn minimum_budget(&self, _players: usize) -> usize {
        let least = 2 + self.shares(0).iter().map(|share| share.evaluations).sum::<usize>();
        count_within(&self.around, least).unwrap_or(least)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        self.value.check(game.players(), &self.graph)?;
        check_budget(self, game, budget)?;
        if count_within(&self.around, budget).is_some() {
            let exact = OnGraph::new(Arc::clone(&self.graph), self.value.clone()).max_coalitions(budget);
            return Ok(Explanation { method: self.name().to_owned(), ..exact.values(game)? });
        }
        let (players, outputs) = (game.players(), game.outputs());
        let cached = Cached::new(game);
        let mut evaluations = Evaluations::begin(&cached)?;
        let shares = self.shares(budget);
        let samples = self.method == LocalMethod::Contributions;
        let mut contributions = Contributions::new(players, outputs);
        let mut all = Vec::with_capacity(players);
        for (player, &share) in shares.iter().enumerate() {
            all.push(if samples && !share.is_whole() {
                let value = self.local(self.around[player].len());
                let draws = contributions::Draws {
                    player,
                    around: &self.around[player],
                    outside: self.outside,
                    is_paired: is_symmetric(&value),
                    evaluations: share.evaluations,
                    seed: own_seed(seed, player),
                };
                contributions.draw(&cached, &value, &draws)?;
                None
            } else {
                Some(self.in_neighbourhood(&cached, player, share, seed)?)
            });
        }
        contributions.settle(&cached)?;
        let fewest = contributions.min_draws();
        let mut degrees_of_freedom = fewest.map_or(f64::INFINITY, |fewest| fewest as f64 - 1.0);
        let mut values = Vec::with_capacity(players * outputs);
        let mut std_errors = Some(Vec::with_capacity(players * outputs));
        let (mut influences, mut draw_shares) = (Influences::none(0), Vec::with_capacity(players * outputs));
        for (player, own) in all.into_iter().enumerate() {
            let own = own.unwrap_or_else(|| contributions.own(player));
            degrees_of_freedom = degrees_of_freedom.min(own.degrees_of_freedom);
            values.extend(own.values);
            influences.extend(own.influences);
            draw_shares.resize(values.len(), own.share);
            std_errors = std_errors.zip(own.std_errors).map(|(mut all, own)| {
                all.extend(own);
                all
            });
        }
        let error_distribution =
            std_errors.as_ref().filter(|_| degrees_of_freedom.is_finite()).map(|errors| ErrorDistribution {
                bounded_draws: fewest.map(|draws| BoundedDraws { draws, span: 2.0 }),
                one_draw: influences.one_draw(&values, &draw_shares, outputs),
                ..ErrorDistribution::of_independent_values(errors, outputs, degrees_of_freedom)
            });
        evaluations.count = cached.distinct();
        let diagnostics = Diagnostics { error_distribution, ..Diagnostics::default() };
        Ok(evaluations.explain(self, values, std_errors, seed, diagnostics))
    }

    /// For contributions, returns the same estimator: no player's number of evaluations decreases as the
    /// budget grows, and the draws for a number are a subset of the draws for every larger number. For
    /// regressions, returns an estimator with growing draws.
    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(Self { draws: self.draws.growing(), ..self.clone() })
    }
}
