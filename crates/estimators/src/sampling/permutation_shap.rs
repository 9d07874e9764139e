//! Permutation SHAP: players join one after another, in random orders and in their reverses.
//!
//! # Source
//!
//! Castro, Gómez and Tejada, *Polynomial calculation of the Shapley value based on sampling*, 2009; with
//! reversed (antithetic) permutations: Mitchell, Cooper, Frank and Holmes, *Sampling Permutations for Shapley
//! Value Estimation*, JMLR 2022. The PermutationExplainer of the `shap` library also uses a forward and a
//! reverse pass for each permutation.

use std::collections::HashSet;

use apportion_games::{Coalition, Coalitions, Game};
use apportion_samplers::permutation;

use crate::error::Result;
use crate::registry::specs;
use crate::report::{BoundedDraws, Diagnostics, ErrorDistribution, Explanation, Influences};
use crate::run::{Estimator, Evaluations, at_most_all};
use crate::setters::setters;
use crate::support::{DrawDistribution, FullBudget, exact_if_affordable};

/// The mean of the players' marginal contributions along random permutations, each traversed forwards and in
/// reverse.
///
/// ```text
/// φ̃_i = (1/2P) Σ_π [Δ_i(π) + Δ_i(reverse of π)],
/// Δ_i(π) = v(players up to i in π) − v(players before i in π)
/// ```
///
/// The estimate is unbiased, and `Σφ̃ = v(N) − v(∅)` holds exactly. A permutation and its reverse take
/// `2(n − 1)` evaluations in addition to v(∅) and v(N). The number of permutations is therefore
/// `P = ⌊(m − 2) / (2(n − 1))⌋`, and up to `2n − 3` evaluations of the budget stay unused. Standard errors
/// are those of the mean over independent pairs of passes; there are none for `P < 5`. Errors follow
/// Student's t with `P − 1` degrees of freedom, or fewer if few passes contribute most of the variance
/// ([`ErrorDistribution`]).
///
/// Takes `O(T + m n)` time, where `T` is the time of `m` evaluations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct PermutationShap {
    /// The behaviour for a budget of `2^n`; defaults to [`FullBudget::Enumerate`].
    pub full_budget: FullBudget,
}

setters!(PermutationShap { with_full_budget => full_budget: FullBudget });

impl Estimator for PermutationShap {
    fn name(&self) -> &'static str {
        "permutation"
    }

    /// Returns `2n`, for one permutation and its reverse; at most `2^n`.
    fn minimum_budget(&self, players: usize) -> usize {
        at_most_all(2 * players, players)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        if let Some(explanation) = exact_if_affordable(self, game, budget, self.full_budget)? {
            return Ok(explanation);
        }
        let (players, outputs) = (game.players(), game.outputs());
        let mut evaluations = Evaluations::begin(game)?;
        let total = evaluations.total();
        let pass_rows = 2 * (players - 1);
        let passes = (budget - 2) / pass_rows;
        let mut mean = RunningMean::new(players * outputs);
        let mut distribution = DrawDistribution::new(players, outputs);
        let mut innovation = vec![0.0; players * outputs];
        let mut distinct: HashSet<Vec<u64>> = HashSet::new();
        // Evaluate several passes in one batch of bounded size.
        let passes_per_batch = (BATCH_ROWS / pass_rows).max(1);
        for first in (0..passes).step_by(passes_per_batch) {
            let orders: Vec<Vec<usize>> = (first..passes.min(first + passes_per_batch))
                .map(|pass| permutation(players, seed, pass as u64))
                .collect();
            let mut batch = Coalitions::with_capacity(players, orders.len() * pass_rows);
            for order in &orders {
                push_prefixes_and_complements(&mut batch, order);
            }
            distinct.extend(batch.iter().map(|row| row.words().to_vec()));
            let gains = evaluations.gains(&batch)?;
            for (order, gains) in orders.iter().zip(gains.chunks_exact(pass_rows * outputs)) {
                mean.add(&mean_contributions(order, gains, &total), &mut innovation);
                // The first pair of passes contains no information about the variance.
                if mean.count > 1 {
                    distribution.add(&innovation);
                }
            }
        }
        // All contributions in a pass have the same sum, so there is one direction fewer than there are
        // players.
        let error_distribution = (passes >= MIN_PASSES).then(|| ErrorDistribution {
            degrees_of_freedom: distribution.degrees_of_freedom(),
            directions: distribution.directions(players - 1),
            bounded_draws: Some(BoundedDraws { draws: passes, span: 2.0 }),
            one_draw: mean.one_draw(outputs),
            is_paired: true,
            ..ErrorDistribution::default()
        });
        let diagnostics =
            Diagnostics { permutations: Some(2 * passes), error_distribution, ..Diagnostics::default() };
        let std_errors = (passes >= MIN_PASSES).then(|| mean.standard_errors());
        let explanation = evaluations.explain(self, mean.mean, std_errors, seed, diagnostics);
        Ok(Explanation { distinct_coalitions: distinct.len() + 2, ..explanation })
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(*self)
    }
}

/// The minimum number of pairs of passes for standard errors. With two pairs, 1.96 standard errors cover the
/// true value in 71% of the cases, and the standard error would be zero if both yielded the same
/// contributions.
const MIN_PASSES: usize = 5;

/// The approximate number of coalitions in a batch.
const BATCH_ROWS: usize = 1 << 14;

/// Appends, for each j in 1..n, the first j players of `order`, and then all others. The others are a prefix
/// of the reversed order.
fn push_prefixes_and_complements(batch: &mut Coalitions, order: &[usize]) {
    let mut prefix = Coalition::empty(order.len());
    for &player in &order[..order.len() - 1] {
        prefix.insert(player);
        batch.push(prefix.view());
        batch.push_complement(batch.len() - 1);
    }
}

/// Returns the mean of each player's contributions in `order` and in its reverse: n × k numbers, by player.
///
/// `gains` contains v(S) − v(∅) for the rows of [`push_prefixes_and_complements`], and `total` contains v(N)
/// − v(∅).
fn mean_contributions(order: &[usize], gains: &[f64], total: &[f64]) -> Vec<f64> {
    let (players, outputs) = (order.len(), total.len());
    let mut contributions = vec![0.0; players * outputs];
    for output in 0..outputs {
        let (mut prefix_before, mut others_before) = (0.0, total[output]);
        for (position, &player) in order.iter().enumerate() {
            let (prefix, others) = if position + 1 == players {
                (total[output], 0.0)
            } else {
                (gains[2 * position * outputs + output], gains[(2 * position + 1) * outputs + output])
            };
            contributions[player * outputs + output] =
                0.5 * ((prefix - prefix_before) + (others_before - others));
            (prefix_before, others_before) = (prefix, others);
        }
    }
    contributions
}

/// The running mean and variance of vectors (Welford).
struct RunningMean {
    count: usize,
    mean: Vec<f64>,
    squares: Vec<f64>,
    /// Sums of fourth powers of the innovations.
    fourths: Vec<f64>,
}

impl RunningMean {
    fn new(length: usize) -> Self {
        Self { count: 0, mean: vec![0.0; length], squares: vec![0.0; length], fourths: vec![0.0; length] }
    }

    /// Adds a vector, and writes its innovation `sqrt((t−1)/t) (x_t − mean before)`, which is its
    /// contribution to the variance.
    fn add(&mut self, sample: &[f64], innovation: &mut [f64]) {
        self.count += 1;
        let count = self.count as f64;
        let scale = ((count - 1.0) / count).sqrt();
        let sums = self.squares.iter_mut().zip(&mut self.fourths);
        let entries = self.mean.iter_mut().zip(sums).zip(sample).zip(innovation);
        for (((mean, (squares, fourths)), value), innovation) in entries {
            let before = value - *mean;
            *mean += before / count;
            let square = before * (value - *mean);
            *squares += square;
            *fourths += square * square;
            *innovation = scale * before;
        }
    }

    /// Returns the amount by which one more sample could change the mean of each value.
    fn one_draw(&self, outputs: usize) -> Vec<f64> {
        let count = self.count as f64;
        let influences = Influences::of_means(&self.squares, &self.fourths, count);
        influences.one_draw(&self.mean, &vec![count.recip(); self.mean.len()], outputs)
    }

    /// Returns the standard errors of the mean; requires two samples.
    fn standard_errors(&self) -> Vec<f64> {
        let count = self.count as f64;
        self.squares.iter().map(|squares| (squares / (count - 1.0) / count).sqrt()).collect()
    }
}

specs! {
    PERMUTATION = "permutation": "Permutation SHAP: random orders of the players, forwards and backwards",
        |_| Some(Box::new(PermutationShap::default()));
}
