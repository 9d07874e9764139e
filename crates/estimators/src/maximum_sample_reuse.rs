//! Maximum sample reuse (MSR): every evaluation counts for every player, whether it is in the coalition or not.
//!
//! # Notation
//!
//! `n` players, `m` evaluations, `s = |S|`. `P(s) = C(n−1, s) M(s, n−1−s)` is the law of the size of the coalition that a player joins,
//! `q(s)` that of the size of a drawn coalition, `E(s)` the expected number of drawn coalitions of a size.
//!
//! # How
//!
//! A semivalue is the difference of two means of the game, over coalitions with the player and over coalitions without it:
//!
//! ```text
//! φ_i = Σ_{S∋i} M(s−1, n−s) v(S) − Σ_{S∌i} M(s, n−1−s) v(S)
//! ```
//!
//! Both sums of weights are 1. Coalitions drawn by any one law estimate both means for all players, with the weights
//!
//! ```text
//! r_in(s)  = M(s−1, n−s) C(n,s) / E(s)   = P(s−1) (n/s) / E(s)
//! r_out(s) = M(s, n−1−s) C(n,s) / E(s)   = P(s) (n/(n−s)) / E(s)
//! ```
//!
//! in which the binomials cancel. Dividing by the sum of the weights that were drawn takes out what all coalitions have in common. v(∅)
//! and v(N) are always evaluated, so they enter with their exact weights P(0) and P(n−1), and sizes 1 to n−1 alone are drawn.
//!
//! # Sources
//!
//! For Banzhaf: Wang and Jia, *Data Banzhaf*, AISTATS 2023. Sampling laws: Li and Yu, *One sample fits all: approximating all probabilistic
//! values simultaneously and efficiently*, NeurIPS 2024; they average within each size, which we found less accurate for Shapley where
//! there are few coalitions per size, and about as accurate elsewhere. Regression adjustment: Witter, Liu and Musco, *Regression-adjusted
//! Monte Carlo estimators for Shapley values and probabilistic values*, 2025; in survey sampling the generalized regression estimator
//! (Särndal, Swensson and Wretman, *Model assisted survey sampling*, 1992).

use apportion_games::{Coalitions, Game};
use apportion_samplers::{Bernoulli, FixedCounts, Pairing, Sample, Sampler, SizeLaw, WithReplacement};
use apportion_solvers::{Constraint, Design, LeastSquares, least_squares};
use apportion_values::Semivalue;

use crate::error::EstimatorError;
use crate::estimator::Estimator;
use crate::evaluations::{Evaluations, at_most_all};
use crate::exact::exact_many_if_affordable;
use crate::explanation::{Diagnostics, Explanation};
use crate::full_budget::FullBudget;
use crate::leverage_shap::Draws;
use crate::membership::{self, Side};
use crate::regression::StandardErrors;

/// How large the drawn coalitions are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SamplingLaw {
    /// The law that suits the value: `q(s) ∝ √(P(s−1)²/s + P(s)²/(n−s))`.
    ///
    /// It minimizes the sum over the players of the variances of unnormalized means, `Σ_s (n²/q(s)) [P(s−1)²/s + P(s)²/(n−s)]`, if all
    /// `v(S)²` are alike. For Banzhaf every coalition is as likely as every other; for Shapley it is
    /// [`OneSampleFitsAll`](Self::OneSampleFitsAll). For several values at once the bracket is summed over them. The default.
    #[default]
    Specific,
    /// `q(s) ∝ 1/√(s (n−s))`, whatever the value (Li and Yu, 2024): a sample that serves all of them. For values that look at a few sizes
    /// only, such as Banzhaf at large n, most of it is wasted: 7 to 30 times the squared error for 60 to 101 players.
    OneSampleFitsAll,
}

/// Whether a regression takes out first what is additive in the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Adjustment {
    /// The game as it is.
    #[default]
    None,
    /// A linear model of the game is fitted to the same evaluations, its coefficients are the value of the model, and the means are taken
    /// of what it leaves.
    Linear,
}

/// Maximum sample reuse (Wang and Jia, 2023) for every semivalue, plain or regression-adjusted.
///
/// ```text
/// φ̃_i = P(n−1) v(N) + (1 − P(n−1)) · Σ_{S∋i} r_in v / Σ_{S∋i} r_in
///      − P(0) v(∅)   − (1 − P(0))   · Σ_{S∌i} r_out v / Σ_{S∌i} r_out
/// ```
///
/// over `m − 2` drawn coalitions of 1 to n−1 players, `r_in = P(s−1) n / (s E(s))` and `r_out = P(s) n / ((n−s) E(s))`. With Banzhaf all
/// weights are alike: φ̃_i is the mean of v with the player less the mean without it.
///
/// # Adjusted
///
/// [`adjusted`](Self::adjusted) fits `v ≈ c + Σ_{i∈S} β_i` first and applies this to the residuals: `φ̃_i = β_i + (…)`. That is right for
/// every β, as the semivalue of an additive game is its coefficients, and the noise is that of the residuals alone. The regression weighs a
/// coalition by `(P(s−1)²/s + P(s)²/(n−s)) (1 − π_s) / E(s)²`, which minimizes the summed variance; `π_s` is the probability with which a
/// coalition of the size is drawn. It also draws without replacement, so that small games and small sizes become exact. Additive games
/// are met exactly.
///
/// In our measurements (tree models of 60 and 101 features against one baseline, a random game of 30 players; Shapley, Banzhaf,
/// Beta-Shapley(4, 1), (1, 4) and (16, 1), a mixture of two levels; m = 10n to 40n) its median squared error is 2 to 7 times less than
/// that of [`MonteCarlo`](crate::MonteCarlo), and 2 to 60 times less than that of plain MSR. For Shapley, Banzhaf and the like the paired
/// regressions ([`LeverageShap`](crate::LeverageShap), [`KernelBanzhaf`](crate::KernelBanzhaf)) are better still; for every other value we
/// know of nothing better. With as many evaluations as the regression has unknowns it has no residuals to speak of: give 4n or more.
///
/// # Standard errors
///
/// By the delta method for both means, from the deviations of each coalition from its mean; adjusted, from residuals over `1 − h_k` (with
/// the hat values h_k), which is what a regression without that coalition leaves. None where fewer than the equivalent of 10 equally
/// weighted coalitions hold, or lack, some player, or where the regression cannot do without some coalition. A player whom no drawn
/// coalition holds (or lacks) gets v(N) (or v(∅)) for the mean. In the same measurements, adjusted, ±1.96 of them cover the truth in 91 to
/// 98 % of the cases from m = 5n on.
///
/// # Cost
///
/// `O(T + m n)` time, `T` being the time of at most `m` evaluations, `O(T + m n²)` adjusted. With replacement, repeated coalitions are
/// evaluated once and weigh as often as they were drawn. On one core (AVX-512 machine), a game that costs nothing, n = 100, m = 10 000:
/// 3 ms, adjusted 6 ms; without standard errors 1.3 and 2.1 ms.
///
/// ```
/// use apportion_estimators::{Estimator, MaximumSampleReuse};
/// use apportion_games::{ClosedForm, SumOfUnanimity};
/// use apportion_values::Semivalue;
///
/// let game = SumOfUnanimity::random(30, 100, 3, 1);
/// let squared_error = |estimator: MaximumSampleReuse| -> Result<f64, apportion_estimators::EstimatorError> {
///     let explanation = estimator.estimate(&game, 900, 7)?;
///     Ok(explanation.values.iter().zip(game.banzhaf()).map(|(got, want)| (got - want).powi(2)).sum())
/// };
/// let plain = squared_error(MaximumSampleReuse::new(Semivalue::Banzhaf))?;
/// let adjusted = squared_error(MaximumSampleReuse::adjusted(Semivalue::Banzhaf))?;
/// assert!(adjusted < 0.5 * plain);
/// # Ok::<(), apportion_estimators::EstimatorError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MaximumSampleReuse {
    /// Which value is estimated.
    pub value: Semivalue,
    /// How large drawn coalitions are; [`SamplingLaw::Specific`] by default.
    pub law: SamplingLaw,
    /// How they are drawn, without pairs; with replacement by default, [`Draws::FixedCounts`] for [`adjusted`](Self::adjusted).
    pub draws: Draws,
    /// Whether a regression goes first; not by default.
    pub adjustment: Adjustment,
    /// Whether to estimate standard errors; yes by default.
    pub standard_errors: StandardErrors,
    /// What a budget of `2^n` does; [`FullBudget::Enumerate`] by default.
    pub full_budget: FullBudget,
}

impl MaximumSampleReuse {
    /// Plain MSR for `value`: independent draws, no regression.
    pub fn new(value: Semivalue) -> Self {
        Self {
            value,
            law: SamplingLaw::default(),
            draws: Draws::WithReplacement,
            adjustment: Adjustment::default(),
            standard_errors: StandardErrors::default(),
            full_budget: FullBudget::default(),
        }
    }

    /// Regression-adjusted MSR for `value`: draws without replacement, and a linear model taken out.
    pub fn adjusted(value: Semivalue) -> Self {
        Self { draws: Draws::FixedCounts, adjustment: Adjustment::Linear, ..Self::new(value) }
    }

    /// Several values from one sample: the game is asked once for all of them. The results are in the order of `values`; the `value` of
    /// the estimator does not matter.
    ///
    /// [`SamplingLaw::Specific`] draws by the law that minimizes the sum of all their variances. With one value this is
    /// [`estimate`](Estimator::estimate).
    ///
    /// # Errors
    ///
    /// As [`estimate`](Estimator::estimate).
    pub fn estimate_many(
        &self,
        game: &dyn Game,
        values: &[Semivalue],
        budget: usize,
        seed: u64,
    ) -> Result<Vec<Explanation>, EstimatorError> {
        if let Some(explanations) = exact_many_if_affordable(self, values, game, budget, self.full_budget)? {
            return Ok(explanations);
        }
        if values.is_empty() {
            return Ok(Vec::new());
        }
        let players = game.players();
        let laws: Vec<Vec<f64>> = values.iter().map(|value| value.size_law(players)).collect();
        let sample = self.sample(&laws, players, budget - 2, seed)?;
        let mut evaluations = Evaluations::begin(game)?;
        let gains = evaluations.gains(sample.coalitions())?;
        let total = evaluations.total();
        let mut explanations = Vec::with_capacity(values.len());
        for (value, joined) in values.iter().zip(&laws) {
            let part =
                Reuse { sample: &sample, weights: SizeWeights::new(joined, &sample), outputs: total.len() };
            let answer = part.answer(&gains, &total, self.adjustment, self.standard_errors)?;
            explanations.push(Explanation {
                value: value.clone(),
                method: self.name().to_owned(),
                values: answer.values,
                std_errors: answer.std_errors,
                base: evaluations.empty.clone(),
                prediction: evaluations.full.clone(),
                evaluations: evaluations.count,
                distinct_coalitions: evaluations.count,
                model_rows: evaluations.model_rows(),
                seed: Some(seed),
                diagnostics: answer.diagnostics,
            });
        }
        Ok(explanations)
    }

    /// Draws `rows` coalitions for the values whose players join coalitions of sizes by `laws`.
    fn sample(
        &self,
        laws: &[Vec<f64>],
        players: usize,
        rows: usize,
        seed: u64,
    ) -> Result<Sample, EstimatorError> {
        let law = SizeLaw::custom(&self.law.weights(laws, players))?;
        let pairing = Pairing::Unpaired;
        Ok(match self.draws {
            Draws::FixedCounts => FixedCounts { law, pairing }.sample(rows, seed)?,
            Draws::Bernoulli => Bernoulli { law, pairing }.sample(rows, seed)?,
            Draws::WithReplacement => WithReplacement { law, pairing }.sample(rows, seed)?.merge_duplicates(),
        })
    }
}

impl Estimator for MaximumSampleReuse {
    fn name(&self) -> &'static str {
        use Adjustment::{Linear, None};
        use Draws::{Bernoulli, FixedCounts, WithReplacement};
        use SamplingLaw::{OneSampleFitsAll, Specific};
        match (self.law, self.adjustment, self.draws) {
            (Specific, None, WithReplacement) => "msr",
            (Specific, None, FixedCounts) => "msr-without-replacement",
            (Specific, None, Bernoulli) => "msr-bernoulli",
            (Specific, Linear, FixedCounts) => "msr-adjusted",
            (Specific, Linear, WithReplacement) => "msr-adjusted-with-replacement",
            (Specific, Linear, Bernoulli) => "msr-adjusted-bernoulli",
            (OneSampleFitsAll, None, WithReplacement) => "one-sample-fits-all",
            (OneSampleFitsAll, None, FixedCounts) => "one-sample-fits-all-without-replacement",
            (OneSampleFitsAll, None, Bernoulli) => "one-sample-fits-all-bernoulli",
            (OneSampleFitsAll, Linear, FixedCounts) => "one-sample-fits-all-adjusted",
            (OneSampleFitsAll, Linear, WithReplacement) => "one-sample-fits-all-adjusted-with-replacement",
            (OneSampleFitsAll, Linear, Bernoulli) => "one-sample-fits-all-adjusted-bernoulli",
        }
    }

    fn value(&self) -> Semivalue {
        self.value.clone()
    }

    /// `n + 1`, but at least 4 and at most `2^n`. The least, not a recommendation: give 4n or more.
    fn minimum_budget(&self, players: usize) -> usize {
        at_most_all((players + 1).max(4), players)
    }

    fn estimate(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation, EstimatorError> {
        let values = std::slice::from_ref(&self.value);
        Ok(self.estimate_many(game, values, budget, seed)?.swap_remove(0))
    }
}

impl SamplingLaw {
    /// Weights of the sizes `0..=n`, those of 0 and n zero.
    fn weights(self, laws: &[Vec<f64>], players: usize) -> Vec<f64> {
        let weight = |size: usize| match self {
            Self::Specific => laws.iter().map(|joined| squared_weight(joined, size)).sum::<f64>().sqrt(),
            Self::OneSampleFitsAll => 1.0 / ((size * (players - size)) as f64).sqrt(),
        };
        (0..=players).map(|size| if size == 0 || size == players { 0.0 } else { weight(size) }).collect()
    }
}

/// `P(s−1)²/s + P(s)²/(n−s)` of a size in `1..n`.
fn squared_weight(joined: &[f64], size: usize) -> f64 {
    joined[size - 1].powi(2) / size as f64 + joined[size].powi(2) / (joined.len() - size) as f64
}

/// What one value makes of the sizes.
struct SizeWeights {
    /// r_in and r_out of each size, of one common scale; 0 where nothing was drawn.
    holding: Vec<f64>,
    lacking: Vec<f64>,
    /// The weight of a size in the regression.
    regression: Vec<f64>,
    /// `1 − π_s`: what the draw leaves to chance. All of it with replacement.
    free: Vec<f64>,
    /// P(n−1) and 1 − P(n−1): of v(N), and of all other coalitions with the player.
    full: [f64; 2],
    /// P(0) and 1 − P(0): of v(∅), and of all other coalitions without the player.
    empty: [f64; 2],
    /// Whether every coalition that counts was drawn for certain.
    complete: bool,
}

impl SizeWeights {
    /// `joined` is P.
    fn new(joined: &[f64], sample: &Sample) -> Self {
        let (players, strata) = (joined.len(), sample.strata());
        let n = players as f64;
        // Weights relative to the largest that was drawn: squares must not underflow.
        let per_row = |size: usize, law: f64, of: usize| law * (n / of as f64) / strata[size].expected;
        let of_sizes = |weight: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let is_drawn = |size: usize| size > 0 && size < players && strata[size].drawn > 0;
            (0..=players).map(|size| if is_drawn(size) { weight(size) } else { 0.0 }).collect()
        };
        let mut holding = of_sizes(&|size| per_row(size, joined[size - 1], size));
        let mut lacking = of_sizes(&|size| per_row(size, joined[size], players - size));
        let largest = holding.iter().chain(&lacking).copied().fold(f64::MIN_POSITIVE, f64::max);
        holding.iter_mut().chain(&mut lacking).for_each(|weight| *weight /= largest);

        let with_replacement = sample.multiplicities().is_some();
        let free: Vec<f64> = strata
            .iter()
            .map(
                |stratum| {
                    if with_replacement { 1.0 } else { (1.0 - stratum.inclusion_probability()).max(0.0) }
                },
            )
            .collect();
        // (P(s−1)²/s + P(s)²/(n−s)) / E(s)² in terms of the weights of the rows.
        let regression = of_sizes(&|size| {
            let s = size as f64;
            free[size] * (holding[size].powi(2) * s + lacking[size].powi(2) * (n - s))
        });
        let complete =
            (1..players).all(|size| strata[size].is_exhausted() || squared_weight(joined, size) == 0.0);
        Self {
            full: [joined[players - 1], joined[..players - 1].iter().sum()],
            empty: [joined[0], joined[1..].iter().sum()],
            holding,
            lacking,
            regression,
            free,
            complete,
        }
    }
}

/// A sample put to use for one value.
struct Reuse<'a> {
    sample: &'a Sample,
    weights: SizeWeights,
    outputs: usize,
}

/// The estimate of one value.
struct Answer {
    /// n × k, row-major.
    values: Vec<f64>,
    std_errors: Option<Vec<f64>>,
    diagnostics: Diagnostics,
}

/// Equally weighted coalitions on each side of a player below which there are no standard errors.
const FEWEST_DRAWS: f64 = 10.0;

impl Reuse<'_> {
    /// `gains` are v − v(∅) of the rows, m × k; `total` is v(N) − v(∅).
    fn answer(
        &self,
        gains: &[f64],
        total: &[f64],
        adjustment: Adjustment,
        standard_errors: StandardErrors,
    ) -> Result<Answer, EstimatorError> {
        let fit = match adjustment {
            // Where nothing is left to chance there is nothing to adjust.
            Adjustment::Linear if self.weights.regression.iter().any(|&weight| weight > 0.0) => {
                Some(self.fit_linear_model(gains)?)
            }
            _ => None,
        };
        let players = self.coalitions().players();
        let residuals = fit.as_ref().map(LeastSquares::residuals);
        let residuals = residuals.as_deref().unwrap_or(gains);
        let (mut values, (empty, full)) = match &fit {
            None => (vec![0.0; players * self.outputs], (vec![0.0; self.outputs], total.to_vec())),
            Some(fit) => (fit.coefficients().to_vec(), ends_left(fit, total)),
        };
        let means = self.means(residuals, &empty, &full);
        for (player, values) in values.chunks_exact_mut(self.outputs).enumerate() {
            for (output, value) in values.iter_mut().enumerate() {
                let at = output * players + player;
                *value += self.weights.full[0] * full[output] + self.weights.full[1] * means.holding[at];
                *value -= self.weights.empty[0] * empty[output] + self.weights.empty[1] * means.lacking[at];
            }
        }
        let std_errors = match (standard_errors, &fit) {
            (StandardErrors::Omitted, _) => None,
            (StandardErrors::Estimated, None) => self.standard_errors(gains, &means),
            (StandardErrors::Estimated, Some(fit)) => self
                .residuals_left_out(fit, residuals)
                .and_then(|residuals| self.standard_errors(&residuals, &means)),
        };
        let diagnostics = Diagnostics {
            exact: self.weights.complete,
            rank: fit.as_ref().map(LeastSquares::rank),
            unknowns: fit.as_ref().map(|_| players),
            condition_number: fit.as_ref().map(LeastSquares::condition_number),
            ..Diagnostics::default()
        };
        Ok(Answer { values, std_errors, diagnostics })
    }

    fn coalitions(&self) -> &Coalitions {
        self.sample.coalitions()
    }

    /// `by_size` for each row.
    fn rows<'b>(&'b self, by_size: &'b [f64]) -> impl Iterator<Item = f64> + 'b {
        self.coalitions().sizes().iter().map(|&size| by_size[size as usize])
    }

    /// How often each row was drawn.
    fn times(&self) -> impl Iterator<Item = f64> + '_ {
        let multiplicities = self.sample.multiplicities();
        (0..self.coalitions().len()).map(move |row| multiplicities.map_or(1.0, |times| f64::from(times[row])))
    }

    /// `by_size` for each row, as often as it was drawn.
    fn weigh<'b>(&'b self, by_size: &'b [f64]) -> impl Iterator<Item = f64> + 'b {
        self.rows(by_size).zip(self.times()).map(|(weight, times)| weight * times)
    }

    /// The regression of the rows on their members, with an intercept.
    fn fit_linear_model(&self, gains: &[f64]) -> Result<LeastSquares, EstimatorError> {
        let weights: Vec<f64> = self.weigh(&self.weights.regression).collect();
        let design = Design::new(self.coalitions(), &weights)?.with_intercept();
        Ok(least_squares(&design, gains, self.outputs, Constraint::None)?)
    }

    /// The weighted means of `gains` on both sides of each player. Where no row of positive weight was drawn, that of the end.
    fn means(&self, gains: &[f64], empty: &[f64], full: &[f64]) -> Means {
        let side = |by_size: &[f64], held: bool, end: &[f64]| {
            let weights: Vec<f64> = self.weigh(by_size).collect();
            let sums = |values: &mut dyn Iterator<Item = f64>| {
                let (holding, lacking) = membership::sums(self.coalitions(), values);
                if held { holding } else { lacking }
            };
            let sizes = sums(&mut weights.iter().copied());
            let mut means = Vec::with_capacity(sizes.len() * self.outputs);
            for (output, &end) in end.iter().enumerate() {
                let of_output = gains.iter().skip(output).step_by(self.outputs);
                let weighted = sums(&mut weights.iter().zip(of_output).map(|(weight, gain)| weight * gain));
                let mean = |(sum, size): (f64, &f64)| if *size > 0.0 { sum / size } else { end };
                means.extend(weighted.into_iter().zip(&sizes).map(mean));
            }
            (means, sizes)
        };
        let (holding, held) = side(&self.weights.holding, true, full);
        let (lacking, lacked) = side(&self.weights.lacking, false, empty);
        Means { holding, lacking, held, lacked }
    }

    /// The standard errors of the difference of both means, from the deviations of the rows: n × k; none if some player has too few.
    fn standard_errors(&self, gains: &[f64], means: &Means) -> Option<Vec<f64>> {
        // The variance that a row of deviation 1 and sum of weights 1 contributes.
        let variances = |by_size: &[f64]| -> Vec<f64> {
            let chance = self.rows(by_size).zip(self.rows(&self.weights.free));
            chance.zip(self.times()).map(|((weight, free), times)| times * free * weight * weight).collect()
        };
        let (holding, lacking) = (variances(&self.weights.holding), variances(&self.weights.lacking));
        let is_enough = |sizes: &[f64], squares: &[f64], share: f64| {
            share == 0.0
                || sizes
                    .iter()
                    .zip(squares)
                    .all(|(size, squares)| *size > 0.0 && size * size >= FEWEST_DRAWS * squares)
        };
        let enough = |sizes: &[f64], side: &[f64], held: bool, share: f64| {
            let (with, without) = membership::sums(self.coalitions(), side.iter().copied());
            is_enough(sizes, if held { &with } else { &without }, share)
        };
        if !enough(&means.held, &holding, true, self.weights.full[1])
            || !enough(&means.lacked, &lacking, false, self.weights.empty[1])
        {
            return None;
        }
        let factors = |sizes: &[f64], share: f64| -> Vec<f64> {
            sizes.iter().map(|size| if share > 0.0 { share / size } else { 0.0 }).collect()
        };
        let holding_factors = factors(&means.held, self.weights.full[1]);
        let lacking_factors = factors(&means.lacked, self.weights.empty[1]);
        let players = self.coalitions().players();
        let mut errors = vec![0.0; players * self.outputs];
        for output in 0..self.outputs {
            let of_output: Vec<f64> = gains.iter().skip(output).step_by(self.outputs).copied().collect();
            let of_player = output * players..(output + 1) * players;
            let variances = membership::squares(
                self.coalitions(),
                &of_output,
                &Side {
                    means: &means.holding[of_player.clone()],
                    factors: &holding_factors,
                    weights: &holding,
                },
                &Side { means: &means.lacking[of_player], factors: &lacking_factors, weights: &lacking },
            );
            for (player, variance) in variances.into_iter().enumerate() {
                errors[player * self.outputs + output] = variance.sqrt();
            }
        }
        Some(errors)
    }

    /// What a regression without one of its draws leaves of that draw, `e_k / (1 − h_k)`; none if it cannot do without.
    fn residuals_left_out(&self, fit: &LeastSquares, residuals: &[f64]) -> Option<Vec<f64>> {
        /// A hat value this close to 1 means that the row alone determines some coefficient.
        const SATURATED: f64 = 1e-9;
        let mut left_out = Vec::with_capacity(residuals.len());
        for ((residuals, hat), times) in
            residuals.chunks_exact(self.outputs).zip(fit.hat_values()).zip(self.times())
        {
            let left = 1.0 - hat / times;
            if left < SATURATED {
                return None;
            }
            left_out.extend(residuals.iter().map(|residual| residual / left));
        }
        Some(left_out)
    }
}

/// What the model leaves of the empty and of the full coalition.
fn ends_left(fit: &LeastSquares, total: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let empty: Vec<f64> = fit.intercepts().into_iter().flatten().map(|intercept| -intercept).collect();
    let mut full: Vec<f64> = total.iter().zip(&empty).map(|(total, empty)| total + empty).collect();
    for coefficients in fit.coefficients().chunks_exact(total.len()) {
        full.iter_mut().zip(coefficients).for_each(|(full, coefficient)| *full -= coefficient);
    }
    (empty, full)
}

/// Means on both sides of each player.
struct Means {
    /// Over the rows with the player: k × n, one output after the other.
    holding: Vec<f64>,
    /// Over the rows without it.
    lacking: Vec<f64>,
    /// Sums of the weights of the rows with the player: n.
    held: Vec<f64>,
    /// Of those without it.
    lacked: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Additive, SumOfUnanimity};
    use apportion_samplers::ln_choose;

    #[test]
    fn the_specific_law_of_banzhaf_draws_every_coalition_alike() {
        for players in [2, 3, 10, 101, 1000] {
            let weights = SamplingLaw::Specific.weights(&[Semivalue::Banzhaf.size_law(players)], players);
            let middle = players / 2;
            for size in 1..players {
                let wanted = (ln_choose(players, size) - ln_choose(players, middle)).exp();
                let got = weights[size] / weights[middle];
                // Below 1e-150 the squares underflow; such sizes are never drawn.
                assert!(
                    (got - wanted).abs() <= 1e-10 * wanted + 1e-150,
                    "{size} of {players}: {got}, {wanted}"
                );
            }
        }
    }

    #[test]
    fn the_specific_law_of_shapley_is_that_of_one_sample_fits_all() {
        for players in [2, 3, 10, 101, 1000] {
            let [specific, common] = [SamplingLaw::Specific, SamplingLaw::OneSampleFitsAll]
                .map(|law| law.weights(&[Semivalue::Shapley.size_law(players)], players));
            for size in 1..players {
                let ratio = specific[size] / specific[1] * common[1] / common[size];
                assert!((ratio - 1.0).abs() < 1e-12, "{size} of {players}");
            }
        }
    }

    #[test]
    fn the_law_of_several_values_minimizes_the_sum_of_their_variances() {
        // Σ_s (1/q) [P(s−1)²/s + P(s)²/(n−s)], summed over the values, for q as drawn and for q with a little moved between two sizes.
        let players = 12;
        let laws: Vec<Vec<f64>> = [Ok(Semivalue::Banzhaf), Semivalue::beta_shapley(4.0, 1.0)]
            .map(|value| value.unwrap().size_law(players))
            .into();
        let weights = SamplingLaw::Specific.weights(&laws, players);
        let total: f64 = weights.iter().sum();
        let variance = |law: &[f64]| -> f64 {
            (1..players)
                .map(|size| laws.iter().map(|joined| squared_weight(joined, size)).sum::<f64>() / law[size])
                .sum()
        };
        let law: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        for (from, to) in [(1, 2), (2, 1), (5, 9), (9, 5), (11, 3)] {
            let mut moved = law.clone();
            moved[from] -= 0.02 * law[from];
            moved[to] += 0.02 * law[from];
            assert!(variance(&moved) > variance(&law), "{from} to {to}");
        }
    }

    #[test]
    fn a_player_whom_no_coalition_holds_has_the_value_of_all_for_its_mean() {
        // All weight on joining nobody: φ_i = v(i) − v(∅), and single players alone are drawn.
        let worth: Vec<f64> = (1..=10).map(f64::from).collect();
        let game = Additive::new(worth.clone()).unwrap();
        let mut law = vec![0.0; 10];
        law[0] = 1.0;
        let estimator = MaximumSampleReuse::new(Semivalue::by_size_law(&law).unwrap());
        let got = estimator.estimate(&game, 11, 1).unwrap();
        assert!(got.evaluations < 11, "some player was drawn twice");
        let mut drawn = 0;
        for (value, worth) in got.values.iter().zip(&worth) {
            assert!((value - worth).abs() < 1e-12 || (value - 55.0).abs() < 1e-12, "{value} for {worth}");
            drawn += usize::from((value - worth).abs() < 1e-12);
        }
        assert_eq!(drawn + 2, got.evaluations);
        assert!(got.std_errors.is_none());
        // Without replacement all are drawn, and that is all there is.
        let got =
            MaximumSampleReuse { draws: Draws::FixedCounts, ..estimator }.estimate(&game, 12, 1).unwrap();
        assert!(got.diagnostics.exact);
        assert_eq!(got.std_errors, Some(vec![0.0; 10]));
        assert!(got.values.iter().zip(&worth).all(|(value, worth)| (value - worth).abs() < 1e-12));
    }

    #[test]
    fn coalitions_that_decide_a_coefficient_alone_leave_no_standard_errors() {
        let game = SumOfUnanimity::random(40, 100, 3, 1);
        let got = MaximumSampleReuse::adjusted(Semivalue::Banzhaf).estimate(&game, 43, 1).unwrap();
        assert_eq!(got.diagnostics.unknowns, Some(40));
        assert!(got.std_errors.is_none());
    }
}
