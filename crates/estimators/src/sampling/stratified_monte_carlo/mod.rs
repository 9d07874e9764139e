//! Stratified Monte Carlo: contributions drawn by player and by size of the joined coalition.
//!
//! # Notation
//!
//! There are `n` players and `m` evaluations. The stratum (i, l) consists of the contributions of player i to
//! the C(n−1, l) coalitions of l others. `μ_il` is their mean, `σ_il` is their standard deviation, and `c_il`
//! is the number of draws.
//!
//! # Source
//!
//! Castro, Gómez, Molina and Tejada, *Improving polynomial estimation of the Shapley value by stratified
//! random sampling with optimum allocation*, 2017. Stratified by size: Maleki, Tran-Thanh, Hines, Rahwan and
//! Rogers, *Bounding the estimation error of sampling-based Shapley value approximation*, 2013. Grah and
//! Thouvenot, 2020, mention the method as an application of running variances.

mod sample;
mod strata;

use apportion_games::{Coalitions, Game, Partition};
use apportion_values::{Semivalue, SolutionConcept};

pub use self::sample::Allocation;
use self::sample::{KnownValues, Sample};
use self::strata::{Sizes, Strata};
use crate::error::Result;
use crate::registry::{semivalue, specs};
use crate::report::{
    Diagnostics, ErrorDistribution, Explanation, Influences, RunningMoments, independent_directions,
};
use crate::run::{Estimator, Evaluations, at_most_all, check_draws};
use crate::setters::setters;
use crate::support::{FullBudget, exact_if_affordable};

/// Contributions drawn separately for each player and each size of the joined coalition, for every semivalue.
///
/// ```text
/// φ̃_i = Σ_l P(l) μ̃_il,     μ̃_il = the mean of v(S ∪ i) − v(S) over the draws S of l others
/// ```
///
/// P(l) is the size distribution of the value ([`Semivalue::size_distribution`]), which is 1/n for Shapley.
/// Differences in contributions between sizes add nothing to the variance. Players only share the coalitions
/// of one player and of all players but one, which are evaluated once, at the beginning. The strata of sizes
/// 0 and n−1 are then known. Draws of sizes 1 and n−2 take one evaluation, and all others take two. Strata of
/// at most 64 coalitions, and those of sizes 1 and n−2, are drawn without replacement until they are
/// exhausted.
///
/// **Allocation.** With [`Neyman`](Allocation::Neyman), each stratum first gets four equal draws. Then the
/// same number of evaluations is spent on allocated draws as on equal ones, both numbers are doubled, and so
/// on. The draws from a stratum have two halves, and the draws of each half are allocated by the variances of
/// the other half. The estimate and its variance are therefore unbiased, although the numbers of draws depend
/// on the draws; `μ̃_il` is then the mean of the means of both halves. The draws for a budget are a subset of
/// the draws for every larger budget.
///
/// **Standard errors** are `sqrt(Σ_l P(l)² s²_il/c_il)`, or, if allocated, the sum for both halves divided by
/// four, with a factor `1 − c/C(n−1, l)` without replacement. There are none if a stratum with several
/// coalitions has only one draw. If all draws from a stratum are equal, the estimated variance is zero,
/// although there may be rare other contributions. The degrees of freedom are those of Welch and
/// Satterthwaite for the player that has the fewest. Errors of different players are independent.
///
/// **When it helps.** Stratification always helps compared with [`MonteCarlo`](crate::MonteCarlo), which
/// draws sizes at random: the squared error is 0.05 to 0.83 times as large. Compared with orders that all
/// players share, it only helps if contributions depend mainly on the size of the coalition. The table shows
/// mean squared errors relative to antithetic [`OptimizedMonteCarlo`](crate::OptimizedMonteCarlo) at the same
/// number of evaluations, for n = 10, 20 and 30 and `m` = 2n² to 128n² (`cargo xtask measure monte-carlo`):
///
/// | game | equal | Neyman | `MonteCarlo` |
/// |---|---|---|---|
/// | weighted voting with a quota of one half | 0.6 to 0.9 | 0.4 to 0.8 | 0.9 to 1.2 |
/// | an airport with quadratic costs | 0.4 to 1.0 | 0.1 to 1.0 | 2.2 to 6.2 |
/// | interactions of up to 8 players | 0.8 to 1.6 | 0.9 to 1.6 | 2.3 to 3.7 |
/// | interactions of up to 3 players | 1.8 to 5.1 | 1.8 to 5.1 | 5.4 to 10.3 |
/// | interactions among a third of the players | 1.8 to 4.4 | 1.0 to 4.7 | 4.5 to 8.2 |
///
/// The allocation matters from about 8n² on. At 128n², it is worth up to three times the evaluations of an
/// equal allocation, and costs at most 50% more if there is nothing to gain. For smaller budgets, there are
/// only the four equal draws.
///
/// [`minimum_budget`](Estimator::minimum_budget) covers one draw from every stratum, which takes `2 (n − 1)²`
/// evaluations for Shapley values. There is no unbiased estimate with fewer evaluations. Takes `O(E + m (n +
/// ln n))` time, where E is the time of `m` evaluations. Stores `O(n² k)` numbers.
///
/// ```
/// use apportion_estimators::{Estimator, StratifiedMonteCarlo};
/// use apportion_games::{Airport, ClosedForm};
/// use apportion_values::Semivalue;
///
/// let game = Airport::new((1..=12).map(f64::from).collect::<Vec<_>>())?;
/// let explanation = StratifiedMonteCarlo::new(Semivalue::Shapley).estimate(&game, 2000, 7)?;
/// let errors = explanation.std_errors.as_ref().unwrap();
/// for ((got, error), want) in explanation.values.iter().zip(errors).zip(game.shapley()) {
///     assert!((got - want).abs() <= 4.0 * error + 1e-12);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct StratifiedMonteCarlo {
    /// The value to estimate.
    pub value: Semivalue,
    /// How draws are allocated to strata; defaults to [`Allocation::Neyman`].
    pub allocation: Allocation,
    /// The behaviour for a budget of `2^n`; defaults to [`FullBudget::Enumerate`]. Games of up to four
    /// players are always enumerated.
    pub full_budget: FullBudget,
}

setters!(StratifiedMonteCarlo {
    with_value => value: Semivalue,
    with_allocation => allocation: Allocation,
    with_full_budget => full_budget: FullBudget,
});

impl StratifiedMonteCarlo {
    /// Creates the estimator of `value` with default settings.
    pub fn new(value: Semivalue) -> Self {
        Self { value, allocation: Allocation::default(), full_budget: FullBudget::default() }
    }
}

/// The maximum number of draws. It is limited by the numbering of draws.
const MAX_DRAWS: usize = 1 << 40;

/// The maximum number of players for which games are always enumerated. For up to four players, drawing from
/// every stratum takes at least as many evaluations as there are coalitions.
const ALWAYS_ENUMERATED: usize = 4;

impl Estimator for StratifiedMonteCarlo {
    fn name(&self) -> &'static str {
        match self.allocation {
            Allocation::Equal => "stratified-equal",
            Allocation::Neyman => "stratified",
        }
    }

    fn value(&self) -> SolutionConcept {
        self.value.clone().into()
    }

    /// Returns the number of evaluations for one draw from every stratum with positive weight: `2 (n − 1)²`
    /// for Shapley values; at most `2^n`.
    fn minimum_budget(&self, players: usize) -> usize {
        // Weights by size may be defined for a different number of players. This is reported when the value
        // is estimated.
        let fits = players > 0 && self.value.check_players(players).is_ok();
        let least =
            if fits { Sizes::new(self.value.size_distribution(players)).min_evaluations() } else { 2 };
        at_most_all(least, players)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        let players = game.players();
        let full_budget = if players <= ALWAYS_ENUMERATED { FullBudget::Enumerate } else { self.full_budget };
        if let Some(explanation) = exact_if_affordable(self, game, budget, full_budget)? {
            return Ok(explanation);
        }
        check_draws(budget / 2, 1, MAX_DRAWS)?;
        let sizes = Sizes::new(self.value.size_distribution(players));
        let mut evaluations = Evaluations::begin(game)?;
        let known = known_values(&mut evaluations, &sizes)?;
        let whole = Partition::whole(players);
        let strata = Strata::new(sizes, &whole, seed)?;
        let sample = Sample::draw(game, &strata, &known, self.allocation, budget - evaluations.count)?;
        evaluations.count += sample.count;
        let Estimates { values, std_errors, error_distribution, is_exact } =
            estimates(&strata, &sample, &known, &evaluations);
        let distinct_coalitions = at_most_all(evaluations.count, players);
        let diagnostics = Diagnostics { exact: is_exact, error_distribution, ..Diagnostics::default() };
        let explanation = evaluations.explain(self, values, std_errors, seed, diagnostics);
        Ok(Explanation { distinct_coalitions, ..explanation })
    }

    /// Returns the same estimator, because the draws for a budget are a subset of the draws for every larger
    /// budget.
    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(self.clone())
    }
}

/// Evaluates the coalitions of one player, and those of all players but one. A kind that no marginal
/// contribution uses is not evaluated; its values are zeros.
fn known_values(evaluations: &mut Evaluations<'_>, sizes: &Sizes) -> Result<KnownValues> {
    let (players, outputs) = (sizes.players, evaluations.game.outputs());
    let mut ask = |is_needed: bool, are_others: bool| -> Result<Vec<f64>> {
        let mut values = vec![0.0; players * outputs];
        if is_needed {
            let mut batch = Coalitions::with_capacity(players, players);
            for player in 0..players {
                batch.push_members((0..players).filter(|&other| (other == player) != are_others));
            }
            evaluations.game.values(&batch, &mut values)?;
            evaluations.count += players;
        }
        Ok(values)
    };
    let alone = ask(sizes.needs_singles(), false)?;
    let all_others = if players == 2 {
        [&alone[outputs..], &alone[..outputs]].concat()
    } else {
        ask(sizes.needs_all_but_one(), true)?
    };
    Ok(KnownValues { alone, all_others })
}

struct Estimates {
    values: Vec<f64>,
    std_errors: Option<Vec<f64>>,
    error_distribution: Option<ErrorDistribution>,
    is_exact: bool,
}

/// A mean of independent draws, with the factors for its value and variance.
struct Part<'s> {
    moments: &'s RunningMoments,
    /// The weight of the mean in the value.
    weight: f64,
    /// The fraction of the stratum's coalitions that were not drawn.
    open: f64,
}

/// Computes the values and their error distribution.
fn estimates(
    strata: &Strata<'_>,
    sample: &Sample<'_, '_>,
    known: &KnownValues,
    ends: &Evaluations<'_>,
) -> Estimates {
    let (players, outputs) = (strata.sizes.players, ends.empty.len());
    let distribution = &strata.sizes.distribution;
    let mut values = vec![0.0; players * outputs];
    for (at, value) in values.iter_mut().enumerate() {
        let output = at % outputs;
        let last = ends.full[output] - known.all_others[at];
        let first = known.alone[at] - ends.empty[output];
        *value = distribution[0] * first + distribution[players - 1] * last;
    }
    // These are the squared standard errors, and the sums of the squares of their terms, each divided by its
    // degrees of freedom.
    let (mut variances, mut spreads) = (vec![0.0; players * outputs], vec![0.0; players * outputs]);
    let (mut influences, mut shares) = (Influences::none(players * outputs), vec![0.0; players * outputs]);
    let (mut has_errors, mut is_exact) = (true, true);
    for (stratum, sides) in sample.sides.iter().enumerate() {
        let weight = strata.weight(stratum);
        let drawn = sides[0].all.count() as f64;
        let open = strata.population(stratum).map_or(1.0, |all| 1.0 - drawn / f64::from(all));
        is_exact &= open <= 0.0;
        let mut together = sides[0].all.clone();
        together.merge(&sides[1].all);
        let [first, second] = sides;
        // If the numbers of draws do not depend on the draws, all draws are one sample.
        let parts = if sample.is_adaptive && second.all.count() > 0 {
            vec![(&first.all, 0.5), (&second.all, 0.5)]
        } else {
            vec![(&together, 1.0)]
        };
        for (moments, share) in parts {
            let part = Part { moments, weight: weight * share, open };
            let own = strata.player(stratum) * outputs..(strata.player(stratum) + 1) * outputs;
            has_errors &=
                part.add(&mut values[own.clone()], &mut variances[own.clone()], &mut spreads[own.clone()]);
            let (share, seen) = (part.share(), part.moments.influences());
            for (at, (square, fourth)) in own.zip(seen.squares.into_iter().zip(seen.fourths)) {
                // Scale by the fraction of the stratum that was not drawn, as for the variance.
                influences.squares[at] += part.weight.powi(2) * open.max(0.0) * square;
                influences.fourths[at] += (part.weight.powi(2) * open.max(0.0)).powi(2) * fourth;
                shares[at] = share.max(shares[at]);
            }
        }
    }
    let error_distribution = || ErrorDistribution {
        degrees_of_freedom: variances
            .iter()
            .zip(&spreads)
            .filter(|(_, spread)| **spread > 0.0)
            .map(|(variance, spread)| variance * variance / spread)
            .reduce(f64::min)
            .unwrap_or(f64::MAX),
        directions: (0..outputs)
            .map(|output| independent_directions(variances.iter().skip(output).step_by(outputs).copied()))
            .collect(),
        one_draw: influences.one_draw(&values, &shares, outputs),
        // The values of single players, and of all players but one, are known.
        border_left: Some(0.0),
        ..ErrorDistribution::default()
    };
    Estimates {
        error_distribution: (has_errors && !is_exact).then(error_distribution),
        std_errors: has_errors.then(|| variances.iter().map(|variance| variance.sqrt()).collect()),
        values,
        is_exact,
    }
}

impl Part<'_> {
    /// Returns the weight of one draw in the value; 0 if the whole stratum was drawn.
    fn share(&self) -> f64 {
        if self.open > 0.0 { self.weight * self.open.sqrt() / self.moments.count() as f64 } else { 0.0 }
    }

    /// Adds the mean to a player's values, and its variance to the variances of these values. Returns whether
    /// the variance is known. For a single draw, it is known only if the stratum contains nothing else.
    fn add(&self, values: &mut [f64], variances: &mut [f64], spreads: &mut [f64]) -> bool {
        let count = self.moments.count() as f64;
        values.iter_mut().zip(self.moments.mean()).for_each(|(value, mean)| *value += self.weight * mean);
        if self.open <= 0.0 {
            return true;
        }
        for ((sum, spread), variance) in variances.iter_mut().zip(spreads).zip(self.moments.variances()) {
            let own = self.weight * self.weight * self.open * variance / count;
            *sum += own;
            *spread += own * own / (count - 1.0);
        }
        self.moments.count() > 1
    }
}

specs! {
    STRATIFIED = "stratified":
        "Monte Carlo stratified by player and coalition size, with most draws where contributions vary most",
        |value| Some(Box::new(StratifiedMonteCarlo::new(semivalue(value)?)));
    STRATIFIED_EQUAL = "stratified-equal":
        "Monte Carlo stratified by player and coalition size, with equally many draws per stratum",
        |value| {
            let allocation = Allocation::Equal;
            Some(Box::new(StratifiedMonteCarlo::new(semivalue(value)?).with_allocation(allocation)))
        };
}
