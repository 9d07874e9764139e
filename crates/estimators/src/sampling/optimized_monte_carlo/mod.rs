//! Optimized Monte Carlo: random orders walked from ∅ to N, each value serving two players.
//!
//! # Notation
//!
//! `n` players, `m` evaluations, `T` independent draws of the players' contributions, B scenarios of the game (rows of a background).
//!
//! # Source
//!
//! Grah and Thouvenot, *A projected stochastic gradient algorithm for estimating Shapley value applied in attribute importance*, 2020,
//! Algorithm 1. It evaluates v(N) in every order, which is the same every time; n − 1 evaluations for each order are enough. The orders:
//! Castro, Gómez and Tejada, *Polynomial calculation of the Shapley value based on sampling*, 2009; with their reverses: Mitchell, Cooper,
//! Frank and Holmes, *Sampling Permutations for Shapley Value Estimation*, 2022.

mod orders;
mod walks;

use apportion_games::Game;
use serde::{Deserialize, Serialize};

pub use self::orders::Orders;

use self::orders::Pattern;
use self::walks::{Ends, Walks};
use crate::error::Result;
use crate::registry::specs;
use crate::report::{BoundedDraws, Diagnostics, ErrorLaw, Explanation, RunningMoments};
use crate::run::{Estimator, Evaluations, at_most_all, check_draws};
use crate::setters::setters;
use crate::support::product_draws::{
    Estimates, affordable_draws, exact_within, explanation, law_of_scenarios,
};
use crate::support::{FullBudget, LawOfDraws, exact_if_affordable};

/// In a game that is the average of several scenarios (rows of a background, the references of the paper), what a draw looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum References {
    /// The average of all: a value takes as many model rows as there are scenarios. The default.
    #[default]
    Averaged,
    /// One, drawn by its weight for each draw, as in the paper: a value takes one model row.
    Drawn,
}

/// The mean of the players' marginal contributions along random orders, streaming: memory does not grow with the budget.
///
/// ```text
/// φ̃_i = (1/T) Σ_t Δ_i^(t),     Δ_i^(t) = the mean over the orders π of draw t of v(players up to i in π) − v(players before i in π)
/// ```
///
/// A draw is one order, one with its reverse (the default), or all rotations of one in both directions: [`Orders`]. Unbiased, and
/// `Σφ̃ = v(N) − v(∅)` but for rounding. With v(∅) and v(N) known, T is `⌊(m − 2) / rows⌋` for draws of n − 1, 2(n − 1) or n(n − 1) rows. Draws
/// for a budget are the first of those for a larger one.
///
/// **Several references.** With [`References::Drawn`], in a game of B scenarios, each draw is made in one scenario b, drawn by its weight,
/// and asks for v_b(∅) and v_b(N) too. `m` evaluations then pay `(m − 2) B` evaluations in one scenario beside v(∅) and v(N), so that less
/// than [`minimum_budget`](Estimator::minimum_budget) may do; `evaluations` are rounded up. The estimate stays unbiased, but players add up to the mean of
/// `v_b(N) − v_b(∅)` over the scenarios drawn, which standard errors account for. [`NestedPermutation`](crate::NestedPermutation) spreads scenarios
/// evenly over its draws, which is better for one budget and does not grow.
///
/// **Which orders.** Mean squared errors at equal evaluations, over those of antithetic orders, for n = 10, 20 and 30 and `m` = 2n² to 128n²
/// (`monte_carlo errors` in the workspace's benches):
///
/// | game | independent | balanced |
/// |---|---|---|
/// | weighted voting, the quota being half | 0.5 to 0.6 | 0.2 to 0.3 |
/// | an airport with quadratic costs | 1.2 to 2.1 | 0.3 to 0.7 |
/// | interactions of up to 8 players | 1.1 to 1.6 | 0.5 to 2.3 |
/// | interactions of up to 3 players | 2.5 to 4.3 | 1.1 to 3.6 |
/// | interactions among a third of the players | 2.1 to 3.9 | 0.7 to 3.6 |
///
/// Balanced orders are better where contributions depend on the size of the coalition more than on its members, as they do where it has to
/// reach something, and among ten players; for interactions of few among many they are worse.
///
/// **Standard errors** are `sqrt(σ̂²/T)`, σ̂² being the running variance of the draws; none for fewer than five. A player whose contributions
/// are the same in all draws may have rare others, and is given one more draw of the size that is usual. The [`ErrorLaw`] has `T − 1`
/// degrees of freedom, less where few draws make up most of the variance, and the directions of the draws' covariance, measured by at most 16
/// random vectors.
///
/// **Beside [`PermutationShap`](crate::PermutationShap):** antithetic, both walk the same orders and give the same estimate but for rounding. That
/// one remembers all coalitions to count how many differ; here `distinct_coalitions` are given as the evaluations, or as all coalitions
/// where these are fewer.
///
/// Takes `O(E + m n/64 + T n)` time, E being the time of `m` evaluations, and memory for `O(n k)` numbers and 2 MiB of coalitions with their
/// values.
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
    /// What a draw is the mean of; [`Orders::Antithetic`] by default.
    pub orders: Orders,
    /// What it looks at in a game of several scenarios; [`References::Averaged`] by default.
    pub references: References,
    /// What a budget of `2^n` does; [`FullBudget::Enumerate`] by default.
    pub full_budget: FullBudget,
}

setters!(OptimizedMonteCarlo {
    with_orders => orders: Orders,
    with_references => references: References,
    with_full_budget => full_budget: FullBudget,
});

/// Draws below which there are no standard errors: of two, 1.96 standard errors cover the truth in 71 % of the cases, and where both give the
/// same contributions the error would be zero.
const FEWEST_DRAWS: usize = 5;

/// The most draws: what the numbers of streams have room for.
const MOST_DRAWS: usize = 1 << 48;

impl OptimizedMonteCarlo {
    fn pattern(&self, players: usize) -> Pattern {
        Pattern { orders: self.orders, players }
    }

    /// The same estimate, each draw in one scenario.
    fn in_scenarios(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        if self.full_budget == FullBudget::Enumerate
            && let Some(exact) =
                exact_within(self, &apportion_values::Semivalue::Shapley.into(), game, budget)?
        {
            return Ok(exact);
        }
        let law = law_of_scenarios(game)?;
        let pattern = self.pattern(game.players());
        let walks = Walks { game, pattern, ends: Ends::InScenarios(law), seed };
        let rows = walks.rows_per_draw();
        let draws = affordable_draws(self, game, budget, rows, 1)?;
        check_draws(draws, 1, MOST_DRAWS)?;
        let (moments, law) = walks.run(draws)?;
        let explanation = explanation(self, game, seed, |_| {
            Ok(Estimates {
                values: moments.mean().collect(),
                std_errors: std_errors(&moments),
                one_draw: Vec::new(),
                scenario_evaluations: rows * draws,
            })
        })?;
        // The values in one scenario may be far beyond those of the average game.
        let diagnostics = diagnostics(pattern, &moments, &law, game.players(), None);
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

    /// One draw, v(∅) and v(N): `n + 1` for independent orders, `2n` antithetic, `n(n − 1) + 2` balanced; at most `2^n`. With
    /// [`References::Drawn`] in a game of several scenarios less will do.
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
        check_draws(draws, 1, MOST_DRAWS)?;
        let mut evaluations = Evaluations::begin(game)?;
        let ends = Ends::Known(evaluations.empty.clone(), evaluations.full.clone());
        let (moments, law) = Walks { game, pattern, ends, seed }.run(draws)?;
        evaluations.count += draws * pattern.rows();
        let bounded = BoundedDraws { draws, span: 2.0 };
        let distinct_coalitions = at_most_all(evaluations.count, players);
        // All players together have no error.
        let diagnostics = diagnostics(pattern, &moments, &law, players - 1, Some(bounded));
        let (values, errors) = (moments.mean().collect(), std_errors(&moments));
        let explanation = evaluations.explain(self, values, errors, seed, diagnostics);
        Ok(Explanation { distinct_coalitions, ..explanation })
    }

    /// Its own answer: draws for a budget are the first of those for a larger one.
    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(*self)
    }
}

fn std_errors(moments: &RunningMoments) -> Option<Vec<f64>> {
    (moments.count() >= FEWEST_DRAWS).then(|| moments.standard_errors().collect())
}

/// What is known of the errors of draws that vary in at most `rank` directions.
fn diagnostics(
    pattern: Pattern,
    moments: &RunningMoments,
    law: &LawOfDraws,
    rank: usize,
    bounded_draws: Option<BoundedDraws>,
) -> Diagnostics {
    let error_law = (moments.count() >= FEWEST_DRAWS).then(|| {
        let values: Vec<f64> = moments.mean().collect();
        let shares = vec![(moments.count() as f64).recip(); values.len()];
        ErrorLaw {
            degrees_of_freedom: law.degrees_of_freedom(),
            directions: law.directions(rank),
            bounded_draws,
            one_draw: moments.influences().one_draw(&values, &shares, values.len() / pattern.players),
            is_paired: pattern.orders != Orders::Independent,
            ..ErrorLaw::default()
        }
    });
    Diagnostics {
        permutations: Some(moments.count().saturating_mul(pattern.walks())),
        error_law,
        ..Diagnostics::default()
    }
}

fn boxed(orders: Orders, references: References) -> Option<Box<dyn Estimator>> {
    Some(Box::new(OptimizedMonteCarlo::default().with_orders(orders).with_references(references)))
}

specs! {
    OPTIMIZED_MONTE_CARLO = "optimized-monte-carlo":
        "random orders and their reverses, each value serving two players; the same estimator as permutation",
        |_| boxed(Orders::Antithetic, References::Averaged);
    OPTIMIZED_MONTE_CARLO_INDEPENDENT = "optimized-monte-carlo-independent": "optimized Monte Carlo as published, without reverses",
        |_| boxed(Orders::Independent, References::Averaged);
    OPTIMIZED_MONTE_CARLO_BALANCED = "optimized-monte-carlo-balanced": "optimized Monte Carlo, every player taking every place equally often",
        |_| boxed(Orders::Balanced, References::Averaged);
    OPTIMIZED_MONTE_CARLO_REFERENCES = "optimized-monte-carlo-references" drawing_scenarios:
        "optimized Monte Carlo, each order and its reverse against one background row",
        |_| boxed(Orders::Antithetic, References::Drawn);
    OPTIMIZED_MONTE_CARLO_INDEPENDENT_REFERENCES = "optimized-monte-carlo-independent-references" drawing_scenarios variant:
        "optimized Monte Carlo without reverses, each order against one background row",
        |_| boxed(Orders::Independent, References::Drawn);
    OPTIMIZED_MONTE_CARLO_BALANCED_REFERENCES = "optimized-monte-carlo-balanced-references" drawing_scenarios variant:
        "optimized Monte Carlo, every player taking every place equally often, against one background row each",
        |_| boxed(Orders::Balanced, References::Drawn);
}
