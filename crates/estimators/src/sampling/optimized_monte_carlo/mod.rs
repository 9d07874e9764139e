//! Optimized Monte Carlo: random orders of the players from ∅ to N, in which each evaluation is used for two
//! players.
//!
//! # Notation
//!
//! There are `n` players, `m` evaluations, `T` independent draws of the players' contributions, and B
//! scenarios of the game (background rows).
//!
//! # Source
//!
//! Grah and Thouvenot, *A projected stochastic gradient algorithm for estimating Shapley value applied in
//! attribute importance*, 2020, Algorithm 1. The published algorithm evaluates v(N) in every order, although
//! v(N) never changes: `n − 1` evaluations per order are sufficient. Orders: Castro, Gómez and Tejada,
//! *Polynomial calculation of the Shapley value based on sampling*, 2009. Orders with their reverses:
//! Mitchell, Cooper, Frank and Holmes, *Sampling Permutations for Shapley Value Estimation*, 2022.

mod orders;
mod walks;

use apportion_games::Game;
use serde::{Deserialize, Serialize};

pub use self::orders::Orders;

use self::orders::Pattern;
use self::walks::{Ends, Walks};
use crate::error::Result;
use crate::registry::specs;
use crate::report::{BoundedDraws, Diagnostics, ErrorDistribution, Explanation, RunningMoments};
use crate::run::{Estimator, Evaluations, at_most_all, check_draws};
use crate::setters::setters;
use crate::support::product_draws::{
    Estimates, affordable_draws, exact_within, explanation, scenario_distribution,
};
use crate::support::{DrawDistribution, FullBudget, exact_if_affordable};

/// The scenarios (background rows, the references of the paper) in which a draw evaluates a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum References {
    /// The average over all scenarios. An evaluation takes one model row per scenario. The default.
    #[default]
    Averaged,
    /// One scenario per draw, drawn by its weight, as in the paper. An evaluation takes one model row.
    Drawn,
}

/// The mean of the players' marginal contributions along random orders. Draws are processed as a stream, so
/// memory does not grow with the budget.
///
/// ```text
/// φ̃_i = (1/T) Σ_t Δ_i^(t),
/// Δ_i^(t) = the mean over the orders π of draw t of v(players up to i in π) − v(players before i in π)
/// ```
///
/// A draw is one order, one order with its reverse (the default), or all rotations of one order in both
/// directions; see [`Orders`]. The estimate is unbiased, and `Σφ̃ = v(N) − v(∅)` up to rounding. If v(∅) and
/// v(N) are known, T is `⌊(m − 2) / rows⌋`, where a draw takes n − 1, 2(n − 1) or n(n − 1) rows. The draws
/// for a budget are the first draws for every larger budget.
///
/// **Several references.** With [`References::Drawn`], in a game of B scenarios, each draw uses one scenario
/// b, drawn by its weight, and also evaluates v_b(∅) and v_b(N). Then `m` evaluations allow `(m − 2) B`
/// evaluations in one scenario, in addition to v(∅) and v(N). Less than
/// [`minimum_budget`](Estimator::minimum_budget) may therefore be sufficient; `evaluations` are rounded up.
/// The estimate stays unbiased. The values sum to the mean of `v_b(N) − v_b(∅)` over the drawn scenarios; the
/// standard errors account for this. [`NestedPermutation`](crate::NestedPermutation) spreads scenarios evenly
/// over its draws, so that it is better for a single budget. Its samples only grow in its
/// [growing](Estimator::growing) variant.
///
/// **Choice of orders.** The table shows mean squared errors relative to antithetic orders at the same number
/// of evaluations, for n = 10, 20 and 30 and `m` = 2n² to 128n² (`cargo xtask measure monte-carlo`):
///
/// | game | independent | balanced |
/// |---|---|---|
/// | weighted voting with a quota of one half | 0.5 to 0.6 | 0.2 to 0.3 |
/// | an airport with quadratic costs | 1.2 to 2.1 | 0.3 to 0.7 |
/// | interactions of up to 8 players | 1.1 to 1.6 | 0.5 to 2.3 |
/// | interactions of up to 3 players | 2.5 to 4.3 | 1.1 to 3.6 |
/// | interactions among a third of the players | 2.1 to 3.9 | 0.7 to 3.6 |
///
/// Balanced orders are better if contributions depend on the size of the coalition more than on its members,
/// for example if it must reach a threshold, and for ten players. They are worse for interactions of few
/// among many players.
///
/// **Standard errors** are `sqrt(σ̂²/T)`, where σ̂² is the running variance of the draws. There are none for
/// fewer than five draws. A player whose contributions are equal in all draws may have other, rare
/// contributions, so one more draw of the typical size is added. The [`ErrorDistribution`] has `T − 1`
/// degrees of freedom, or fewer if few draws contribute most of the variance. Its directions are those of the
/// draws' covariance, estimated with at most 16 random vectors.
///
/// **Comparison with [`PermutationShap`](crate::PermutationShap):** with antithetic orders, both methods use
/// the same orders and return the same estimate up to rounding. `PermutationShap` stores all coalitions to
/// count the distinct ones. Here, `distinct_coalitions` is set to the number of evaluations, or to the number
/// of all coalitions if that is smaller.
///
/// Takes `O(E + m n/64 + T n)` time, where E is the time of `m` evaluations. Stores `O(n k)` numbers for k
/// outputs, and at most 2 MiB of coalitions, with their values.
///
/// ```
/// use apportion_estimators::{Estimator, OptimizedMonteCarlo};
/// use apportion_games::{Airport, ClosedForm};
///
/// let game = Airport::new((1..=20).map(f64::from).collect::<Vec<_>>())?;
/// let explanation = OptimizedMonteCarlo::default().estimate(&game, 2000, 7)?;
/// assert_eq!(explanation.diagnostics.permutations, Some(2 * 52));
/// let errors = explanation.std_errors.as_ref().unwrap();
/// for ((got, error), want) in explanation.values.iter().zip(errors).zip(game.shapley()) {
///     assert!((got - want).abs() <= 4.0 * error + 1e-12);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct OptimizedMonteCarlo {
    /// The orders in a draw; defaults to [`Orders::Antithetic`].
    pub orders: Orders,
    /// The scenarios in which a draw evaluates a game; defaults to [`References::Averaged`].
    pub references: References,
    /// The behaviour for a budget of `2^n`; defaults to [`FullBudget::Enumerate`].
    pub full_budget: FullBudget,
}

setters!(OptimizedMonteCarlo {
    with_orders => orders: Orders,
    with_references => references: References,
    with_full_budget => full_budget: FullBudget,
});

/// The minimum number of draws for standard errors. With two draws, 1.96 standard errors cover the true value
/// in 71% of the cases, and the standard error would be zero if both yielded the same contributions.
const MIN_DRAWS: usize = 5;

/// The maximum number of draws. It is limited by the numbering of random streams.
const MAX_DRAWS: usize = 1 << 48;

impl OptimizedMonteCarlo {
    fn pattern(&self, players: usize) -> Pattern {
        Pattern { orders: self.orders, players }
    }

    /// Returns the estimate with one scenario per draw.
    fn in_scenarios(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        if self.full_budget == FullBudget::Enumerate
            && let Some(exact) =
                exact_within(self, &apportion_values::Semivalue::Shapley.into(), game, budget)?
        {
            return Ok(exact);
        }
        let distribution = scenario_distribution(game)?;
        let pattern = self.pattern(game.players());
        let walks = Walks { game, pattern, ends: Ends::InScenarios(distribution), seed };
        let rows = walks.rows_per_draw();
        let draws = affordable_draws(self, game, budget, rows, 1)?;
        check_draws(draws, 1, MAX_DRAWS)?;
        let (moments, distribution) = walks.run(draws)?;
        let explanation = explanation(self, game, seed, |_| {
            Ok(Estimates {
                values: moments.mean().collect(),
                std_errors: std_errors(&moments),
                one_draw: Vec::new(),
                scenario_evaluations: rows * draws,
            })
        })?;
        // There is no bound on the draws, because values in one scenario may be far outside the range of the
        // average game.
        let diagnostics = diagnostics(pattern, &moments, &distribution, game.players(), None);
        Ok(Explanation { diagnostics, ..explanation })
    }
}

impl Estimator for OptimizedMonteCarlo {
    fn name(&self) -> &'static str {
        match (self.orders, self.references) {
            (Orders::Independent, References::Averaged) => "optimized-monte-carlo-independent",
            (Orders::Antithetic, References::Averaged) => "optimized-monte-carlo",
            (Orders::Balanced, References::Averaged) => "optimized-monte-carlo-balanced",
            (Orders::Independent, References::Drawn) => "optimized-monte-carlo-independent-references",
            (Orders::Antithetic, References::Drawn) => "optimized-monte-carlo-references",
            (Orders::Balanced, References::Drawn) => "optimized-monte-carlo-balanced-references",
        }
    }

    /// Returns the number of evaluations for one draw, v(∅) and v(N): `n + 1` for independent orders, `2n`
    /// for antithetic ones, and `n(n − 1) + 2` for balanced ones; at most `2^n`. With [`References::Drawn`],
    /// less may be sufficient in a game of several scenarios.
    fn minimum_budget(&self, players: usize) -> usize {
        let rows = if players < 2 { 0 } else { self.pattern(players).rows() };
        at_most_all(rows.saturating_add(2), players)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        let players = game.players();
        if self.references == References::Drawn && game.scenarios() > 1 && players > 1 {
            return self.in_scenarios(game, budget, seed);
        }
        if let Some(explanation) = exact_if_affordable(self, game, budget, self.full_budget)? {
            return Ok(explanation);
        }
        let pattern = self.pattern(players);
        let draws = (budget - 2) / pattern.rows();
        check_draws(draws, 1, MAX_DRAWS)?;
        let mut evaluations = Evaluations::begin(game)?;
        let ends = Ends::Known(evaluations.empty.clone(), evaluations.full.clone());
        let (moments, distribution) = Walks { game, pattern, ends, seed }.run(draws)?;
        evaluations.count += draws * pattern.rows();
        let bounded = BoundedDraws { draws, span: 2.0 };
        let distinct_coalitions = at_most_all(evaluations.count, players);
        // The sum over all players has no error, so there is one direction fewer.
        let diagnostics = diagnostics(pattern, &moments, &distribution, players - 1, Some(bounded));
        let (values, errors) = (moments.mean().collect(), std_errors(&moments));
        let explanation = evaluations.explain(self, values, errors, seed, diagnostics);
        Ok(Explanation { distinct_coalitions, ..explanation })
    }

    /// Returns the same estimator, because the draws for a budget are the first draws for every larger
    /// budget.
    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(*self)
    }
}

fn std_errors(moments: &RunningMoments) -> Option<Vec<f64>> {
    (moments.count() >= MIN_DRAWS).then(|| moments.standard_errors().collect())
}

/// Returns the diagnostics, with the error distribution of draws that vary in at most `rank` directions.
fn diagnostics(
    pattern: Pattern,
    moments: &RunningMoments,
    distribution: &DrawDistribution,
    rank: usize,
    bounded_draws: Option<BoundedDraws>,
) -> Diagnostics {
    let error_distribution = (moments.count() >= MIN_DRAWS).then(|| {
        let values: Vec<f64> = moments.mean().collect();
        let shares = vec![(moments.count() as f64).recip(); values.len()];
        ErrorDistribution {
            degrees_of_freedom: distribution.degrees_of_freedom(),
            directions: distribution.directions(rank),
            bounded_draws,
            one_draw: moments.influences().one_draw(&values, &shares, values.len() / pattern.players),
            is_paired: pattern.orders != Orders::Independent,
            ..ErrorDistribution::default()
        }
    });
    Diagnostics {
        permutations: Some(moments.count().saturating_mul(pattern.walks())),
        error_distribution,
        ..Diagnostics::default()
    }
}

fn boxed(orders: Orders, references: References) -> Option<Box<dyn Estimator>> {
    Some(Box::new(OptimizedMonteCarlo::default().with_orders(orders).with_references(references)))
}

specs! {
    OPTIMIZED_MONTE_CARLO = "optimized-monte-carlo":
        "random orders and their reverses, each evaluation used for two players; the same estimator as \
         permutation",
        |_| boxed(Orders::Antithetic, References::Averaged);
    OPTIMIZED_MONTE_CARLO_INDEPENDENT = "optimized-monte-carlo-independent": "optimized Monte Carlo as \
        published, without reverses",
        |_| boxed(Orders::Independent, References::Averaged);
    OPTIMIZED_MONTE_CARLO_BALANCED = "optimized-monte-carlo-balanced":
        "optimized Monte Carlo with every player equally often at every position",
        |_| boxed(Orders::Balanced, References::Averaged);
    OPTIMIZED_MONTE_CARLO_REFERENCES = "optimized-monte-carlo-references" drawing_scenarios:
        "optimized Monte Carlo, each order and its reverse with one background row",
        |_| boxed(Orders::Antithetic, References::Drawn);
    OPTIMIZED_MONTE_CARLO_INDEPENDENT_REFERENCES =
        "optimized-monte-carlo-independent-references" drawing_scenarios variant:
        "optimized Monte Carlo without reverses, each order with one background row",
        |_| boxed(Orders::Independent, References::Drawn);
    OPTIMIZED_MONTE_CARLO_BALANCED_REFERENCES =
        "optimized-monte-carlo-balanced-references" drawing_scenarios variant:
        "optimized Monte Carlo with every player equally often at every position, each order with one \
         background row",
        |_| boxed(Orders::Balanced, References::Drawn);
}
