//! The learned spectrum: the game's Walsh spectrum, fitted to one sample. Every value is a linear functional
//! of the spectrum.
//!
//! # The odd part
//!
//! With x_i = +1 if i ∈ S, otherwise −1, every game is `v(S) = Σ_T β_T χ_T(S)`, where `χ_T(S) = Π_{i ∈ T}
//! x_i`. Half the difference within a pair of complementary coalitions only contains the odd products, and so
//! do the Shapley and the Banzhaf value:
//!
//! ```text
//! d(S) = (v(S) − v(S̄))/2 = Σ_{|T| odd} β_T χ_T(S),
//! φ_i = 2 Σ_{T ∋ i} β_T / |T| (Shapley),    φ_i = 2 β_{i} (Banzhaf)
//! ```
//!
//! Leverage SHAP and Kernel Banzhaf are regressions of d on single players. All their error is due to the
//! omitted products of three and more players. Here, these products have a prior, which is learned from the
//! same sample: variances for products that boosted trees find, or the odd part of a Gaussian process on
//! coalitions. The result is an average of both regressions.
//!
//! # Safeguards
//!
//! - As the prior vanishes, the result approaches that of Leverage SHAP or Kernel Banzhaf on the same sample.
//!   This result is used whenever the data do not show that the prior helps.
//! - If there are enough pairs, single players have no prior. In the limit of many pairs, the result is
//!   therefore the projection of the game on linear games and products together. Under the Shapley kernel,
//!   the Shapley value of this projection is that of the game: a wrong prior costs accuracy, not correctness.
//! - `φ̃ = G d` is linear in the targets once the prior is fixed. The error of a pair is its leave-one-out
//!   residual r_k, so `V_i = Σ_k f_k (G_ik r_k)²`, where f_k is 1 minus the inclusion probability of pair k.
//! - If single players have a prior, too, V ignores the resulting bias. Such a prior is only used because it
//!   predicts better than the regression on free single players (without a prior). V is therefore raised to
//!   the variance of this regression if it is lower, and is unknown if there is no such regression.
//!
//! # Modules
//!
//! | | |
//! |---|---|
//! | [`evaluated_pairs`] | the evaluations of the game |
//! | [`sampled`] | the evaluated pairs |
//! | [`screens`] | boosted trees, and their Walsh spectrum |
//! | [`family`] | priors built from this spectrum |
//! | [`spectrum_target`] | the value to estimate |
//! | [`odd_prior`] | the prior of the regression: one of these, or the process |
//! | [`fit`] | the regression with a prior |
//! | [`means`] | predictions of deep trees, which are subtracted if that helps |
//! | [`choice`] | the choice of a prior and its strength, and the share of the process |
//! | [`answer`] | the values, and the error of each pair |
//! | [`errors`] | the distribution of the errors of values |
//! | [`pairs`] | the interaction indices of pairs of players, from the even part |
//! | [`process_fit`] | a Gaussian process on coalitions that improves the estimate of another method |
//! | [`any_value`] | all other semivalues, improved in this way |
//! | [`coalitional`] | values of players in groups, improved in this way |
//!
//! # Sources
//!
//! Fumagalli, Butler, Kang, Ramchandran and Witter, *OddSHAP*, ICML 2026 (regression on screened odd
//! products); Musco and Witter, *Provably Accurate Shapley Value Estimation via Leverage Score Sampling*,
//! ICLR 2025 (the design); MacKinnon and White, *Some Heteroskedasticity-Consistent Covariance Matrix
//! Estimators*, Journal of Econometrics 1985 (HC3). The priors, and the choice among them, are our own.

mod answer;
mod any_value;
mod choice;
mod coalitional;
mod errors;
mod evaluated_pairs;
mod family;
mod fit;
mod means;
mod odd_prior;
mod pairs;
mod process_fit;
mod sampled;
mod screens;
mod spectrum_target;

use apportion_games::{Coalitions, Game, Partition, QuotientGame, TabulatedGame, memory};
use apportion_samplers::{Pairing, Sample, SizeDistribution};
use apportion_values::{
    InteractionIndex, Interactions, LeastSquaresForm, Semivalue, SolutionConcept, Value,
    enumerate_interactions,
};

use self::answer::{Answer, MAX_PAIRS, MAX_PRODUCTS};
use self::any_value::AnyValue;
use self::coalitional::LearnedCoalitional;
use self::evaluated_pairs::EvaluatedPairs;
use self::means::Remainders;
use self::pairs::Pairs;
use self::sampled::Sampled;
use self::spectrum_target::SpectrumTarget;
use crate::error::{EstimatorError, Result};
use crate::registry::specs;
use crate::report::{ErrorDistribution, Explanation, many_in_own_units};
use crate::run::{Estimator, Evaluations, at_most_all, check_budget, settings, units};
use crate::setters::setters;
use crate::support::leverage_distribution;
use crate::support::{Draws, FullBudget, MissedConjunction, StandardErrors, exact, exact_if_affordable};

/// The name of the method.
const NAME: &str = "learned-spectrum";

/// The learned spectrum: a regression with a prior on nonlinear terms that is learned from the same sample.
/// For Shapley and Banzhaf values, it is a regression on pairs of coalitions.
///
/// ```text
/// d(S) = (v(S) − v(S̄))/2 = Σ_i β_i x_i + Σ_{|T| odd, > 1} β_T χ_T(S),    β_T ~ N(0, τ_T²)
/// φ_i = 2 Σ_{T ∋ i} β_T / |T| (Shapley),    φ_i = 2 β_i (Banzhaf)
/// ```
///
/// Pairs are drawn and weighted as in [`LeverageShap`](crate::LeverageShap) or, for Banzhaf values, as in
/// [`KernelBanzhaf`](crate::KernelBanzhaf) without replacement. Boosted trees on coalition bits are fitted to
/// the sample. The variances τ_T² of the prior are the squares of the trees' Walsh coefficients. Triples
/// whose pairs the trees find also get a variance. The strength of the prior is chosen by leave-one-out
/// cross-validation over pairs. Another prior is used if it predicts clearly better on parts of the sample
/// that its screens have not seen. If both comparisons are inconclusive, the result is the regression on
/// single players.
///
/// For at most 900 pairs and 256 players, the result is averaged with that of a second prior, which suits
/// smooth games: a Gaussian process, whose variance of a product of players is the product of the relevances
/// of these players. The relevances maximize the restricted likelihood of the odd and the even part of the
/// game. The share of the process in the average minimizes the squared residuals on unseen pairs, and is 0 if
/// the process does not reduce them. For networks, kernel machines, nearest neighbours and trees with 10 to
/// 13 features, the geometric mean of the squared errors, relative to the result without the process, is 0.83
/// at 5n, 0.75 at 10n and 0.53 at 20n (Banzhaf: 0.84, 0.52 and 0.42).
///
/// The choice is reported in [`Diagnostics::chosen`](crate::Diagnostics::chosen).
///
/// If the sums of the first pairs hardly vary compared with the residuals of a regression of their
/// differences on single players, only one coalition of each further pair is evaluated. This yields nearly
/// twice as many pairs. Growing draws do not do this.
///
/// # Other semivalues
///
/// For weighted Banzhaf values, Beta-Shapley values and mixtures, the sample is that of
/// [`KernelBanzhaf`](crate::KernelBanzhaf) without replacement or of
/// [`MaximumSampleReuse::adjusted`](crate::MaximumSampleReuse::adjusted), the plain methods. A Gaussian
/// process is fitted to the sample. Its variance of a product of players is the product of the relevances of
/// these players, which maximize the restricted likelihood. The value of the posterior mean is computed in
/// closed form, and corrected by the plain method for the leave-one-out residuals. The result is used if the
/// process predicts clearly better than a linear model, and if the result does not contradict the plain
/// estimate. Otherwise, the result is that of the plain method. The geometric mean of the squared errors,
/// relative to the plain method, is about 0.25 for networks, kernels, trees and other smooth games of 11
/// players at 5n to 20n. The process is used for up to 256 players and 2000 evaluations.
///
/// # Values for groups
///
/// [`methods::LEARNED_SPECTRUM`](crate::methods::LEARNED_SPECTRUM) also estimates the values that
/// [`CoalitionalRegression`](crate::CoalitionalRegression) supports: it improves the estimate of these
/// regressions in the same way, from the same coalitions. For these models in groups of four, the geometric
/// mean of the squared errors of Owen values, relative to the regressions, is 0.82 at 5n and 0.31 at 10n. In
/// addition to the evaluations, this takes `O(m³)` time for m evaluations, up to 2000; with more, the result
/// is that of the regressions.
///
/// # Cost and guarantees
///
/// Shapley values sum to `v(N) − v(∅)` exactly. For a budget of `2^n`, the result is exact. Standard errors
/// are computed from leave-one-out residuals.
///
/// In addition to the evaluations, the method takes the time of some hundred boosted trees and one
/// eigendecomposition: `O(m³)` for m pairs up to 900, and above this `O(m r²)` for up to r = 1000 products.
/// For a sum of unanimity games of 100 players, this is 0.34 s for 500 evaluations, 0.44 s for 2000 and
/// 1.5 s for 10,000, on one core of an AMD EPYC (`cargo xtask measure frontier --threads 1 --games "unanimity
/// 100" --seeds 3 --budgets 5n,20n,100n`). [`LeverageShap`](crate::LeverageShap) takes 3 to 5% of this time.
/// For very cheap games, it is better to spend this time on more evaluations.
///
/// ```
/// use apportion_estimators::{Estimator, LearnedSpectrum, LeverageShap};
/// use apportion_games::{ClosedForm, SumOfUnanimity};
///
/// let game = SumOfUnanimity::random(14, 20, 4, 1);
/// let error = |estimator: &dyn Estimator| -> Result<f64, Box<dyn std::error::Error>> {
///     let values = estimator.estimate(&game, 280, 7)?.values;
///     Ok(values.iter().zip(game.shapley()).map(|(got, want)| (got - want).powi(2)).sum())
/// };
/// assert!(error(&LearnedSpectrum::default())? < 0.5 * error(&LeverageShap::default())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct LearnedSpectrum {
    /// The value to estimate, which must have a mixing measure; defaults to [`Semivalue::Shapley`].
    pub value: Semivalue,
    /// The groups of the quotient game, if any.
    #[serde(serialize_with = "settings::any_groups")]
    pub groups: Option<Partition>,
    /// How coalitions are drawn, without replacement; defaults to [`Draws::FixedCounts`].
    pub draws: Draws,
    /// Whether to estimate standard errors; defaults to [`StandardErrors::Estimated`].
    pub standard_errors: StandardErrors,
    /// The behaviour for a budget of `2^n`; defaults to [`FullBudget::Enumerate`].
    pub full_budget: FullBudget,
}

setters!(LearnedSpectrum {
    with_draws => draws: Draws,
    with_standard_errors => standard_errors: StandardErrors,
    with_full_budget => full_budget: FullBudget,
});

impl Default for LearnedSpectrum {
    fn default() -> Self {
        Self {
            value: Semivalue::Shapley,
            groups: None,
            draws: Draws::FixedCounts,
            standard_errors: StandardErrors::default(),
            full_budget: FullBudget::default(),
        }
    }
}

impl LearnedSpectrum {
    /// Creates the estimator of Banzhaf values.
    pub fn banzhaf() -> Self {
        Self { value: Semivalue::Banzhaf, ..Self::default() }
    }

    /// Creates the estimator of `value`. Returns `None` for weights by size, which need not have a mixing
    /// measure.
    pub fn for_value(value: Semivalue) -> Option<Self> {
        let value = value.simplified();
        match value.least_squares() {
            Some(LeastSquaresForm::SumConstrained) => Some(Self::default()),
            Some(LeastSquaresForm::Centred { p: 0.5 }) => Some(Self::banzhaf()),
            _ => value.rule(0).is_some().then(|| Self { value, ..Self::default() }),
        }
    }

    /// Returns whether the value only depends on the odd part of the game, so that it is estimated from
    /// pairs.
    fn is_of_odd_part(&self) -> bool {
        matches!(self.value, Semivalue::Shapley | Semivalue::Banzhaf)
    }

    /// Sets the groups, whose values in the quotient game are estimated.
    pub fn grouped(self, groups: Partition) -> Self {
        Self { groups: Some(groups), ..self }
    }

    /// Creates the estimator that supports the given index of [pairs](Self::with_pairs), or returns `None` if
    /// there is none. The order must be 2. The supported indices are those of Shapley and Banzhaf, k-Shapley
    /// values, and faithful Shapley and k-additive Shapley indices.
    pub fn for_index(index: &InteractionIndex, order: usize) -> Option<Self> {
        match index {
            _ if order != 2 => None,
            InteractionIndex::Semivalue(value) => Self::for_value(value.clone()).filter(Self::is_of_odd_part),
            InteractionIndex::KShapley
            | InteractionIndex::FaithfulShapley
            | InteractionIndex::KAdditiveShapley => Some(Self::default()),
            _ => None,
        }
    }

    fn form(&self) -> LeastSquaresForm {
        match self.value {
            Semivalue::Banzhaf => LeastSquaresForm::Centred { p: 0.5 },
            _ => LeastSquaresForm::SumConstrained,
        }
    }

    /// Returns the values and the sample. With `asks_halves`, only one coalition of a pair is evaluated if
    /// its value determines that of the other.
    fn explain(
        &self,
        game: &dyn Game,
        budget: usize,
        seed: u64,
        asks_halves: bool,
    ) -> Result<(Explanation, Sampled)> {
        let n = game.players();
        let distribution = match self.form() {
            LeastSquaresForm::Centred { p } => leverage_distribution(n, p, 1..=n - 1)?,
            _ => SizeDistribution::leverage(n)?,
        };
        let draw = |rows: usize| Ok(self.draws.sample(distribution.clone(), Pairing::Paired, rows, seed)?);
        let target = SpectrumTarget { value: &self.value };
        let sample = draw(budget - 2)?;
        let mut evaluations = Evaluations::begin(game)?;
        let EvaluatedPairs { sample, values, is_halved } =
            match asks_halves && self.draws == Draws::FixedCounts {
                true => {
                    let most = at_most_all(usize::MAX, n) - 2;
                    let more = |rows: usize| draw(rows.min(most));
                    EvaluatedPairs::in_halves(sample, &mut evaluations, more, (self.form(), target), seed)?
                }
                false => EvaluatedPairs::in_pairs(sample, &mut evaluations)?,
            };
        let mut sampled = Sampled::new(&sample, &values, &evaluations, self.form());
        if is_halved {
            // The derived values are random, too, so no pair counts as certain to be drawn.
            sampled.free[..sample.coalitions().len() / 2].fill(1.0);
        }
        let remainders = Remainders::new(&sampled, &sample, &values, &self.value, seed);
        drop(values);
        let answer = Answer::new(&sampled, remainders.as_ref(), target, is_halved)?;
        let mut explanation = evaluations.explain(self, answer.values, None, seed, Default::default());
        explanation.diagnostics.chosen = Some(answer.chosen.join("; "));
        // With at most as many pairs as free columns, the sample contains no information about the errors.
        if self.standard_errors == StandardErrors::Estimated
            && sampled.len() > target.columns(n)
            && answer.variances.iter().all(|variance| variance.is_finite())
        {
            explanation.std_errors = Some(answer.variances.into_iter().map(f64::sqrt).collect());
            explanation.diagnostics.error_distribution = Some(ErrorDistribution {
                degrees_of_freedom: answer.degrees_of_freedom,
                directions: answer.directions,
                draws_left: Some(answer.draws_left),
                shown_by_ends: self.shown_by_ends(&answer.ends, &sample, is_halved),
                ..ErrorDistribution::default()
            });
            explanation.note_design(&sample);
        }
        Ok((explanation, sampled))
    }

    /// Returns, for each output, the standard error due to the largest conjunction that the sample missed;
    /// empty for Shapley values, whose sum is v(N) − v(∅) in any case.
    fn shown_by_ends(&self, ends: &[[f64; 2]], sample: &Sample, is_halved: bool) -> Vec<f64> {
        if self.form() == LeastSquaresForm::SumConstrained {
            return Vec::new();
        }
        let joined = self.value.size_distribution(sample.coalitions().players());
        let missed = MissedConjunction::new(&joined, sample, if is_halved { 0.5 } else { 1.0 });
        // The residual of a pair is half of the difference between the residuals of its two coalitions. The
        // whole difference is assumed to be due to one of them.
        ends.iter().map(|[end, largest]| missed.std_error([0.0, 2.0 * end], 2.0 * largest)).collect()
    }

    /// Estimates the values, and the interaction indices of all pairs of players and of single players, from
    /// one sample.
    ///
    /// ```text
    /// I_ij = Σ_{T ⊇ {i, j}} w(|T|) β_T,    |T| even
    /// w(q) = 4 / (q − 1) (Shapley, k-Shapley),    w(2) = 4, otherwise 0 (Banzhaf)
    /// I_i = φ_i − Σ_j I_ij / 2 (k-Shapley, faithful Shapley),    I_i = φ_i (else)
    /// ```
    ///
    /// The indices are estimated with a regression of `e(S) = (v(S) + v(S̄))/2`. Its prior covers the
    /// products of two and more players that boosted trees find, and all pairs and all products of four
    /// players with equal variances. At most 1600 pairs of coalitions are used. See
    /// [`for_index`](Self::for_index) for the supported indices. Standard errors are computed as for values,
    /// and are at least those of a regression of the residuals on the product of the two players alone; NaN
    /// if unknown. The standard error for a single player is the sum of those of φ_i and of the subtracted
    /// part. For a budget of `2^n`, everything is exact.
    ///
    /// In addition to the evaluations of the game, this takes about twice the time of the values alone, and
    /// `O(n² k²)` time for k pairs of coalitions.
    ///
    /// ```
    /// use apportion_estimators::LearnedSpectrum;
    /// use apportion_games::SumOfUnanimity;
    /// use apportion_values::InteractionIndex;
    ///
    /// let game = SumOfUnanimity::random(20, 30, 3, 1);
    /// let index = InteractionIndex::SHAPLEY;
    /// let (values, indices) = LearnedSpectrum::default().with_pairs(&index, &game, 800, 7)?;
    /// assert_eq!(indices.get(&[3]), Some(&values.values[3..4]));
    /// let (pair, index) = indices.strongest(2, 1, 0)[0];
    /// println!("{pair}: {index:?}");
    /// # Ok::<(), apportion_estimators::EstimatorError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`estimate`](Estimator::estimate) for players without groups; also
    /// [`EstimatorError::OtherIndex`] for an index that belongs to a different value, or that is not
    /// supported.
    pub fn with_pairs(
        &self,
        index: &InteractionIndex,
        game: &dyn Game,
        budget: usize,
        seed: u64,
    ) -> Result<(Explanation, Interactions)> {
        if Self::for_index(index, 2).is_none_or(|of_index| of_index.value != self.value) {
            return Err(EstimatorError::OtherIndex { method: self.name(), index: Box::new(index.clone()) });
        }
        check_budget(self, game, budget)?;
        let (n, outputs) = (game.players(), game.outputs());
        check_memory_of_pairs(n, outputs, self.memory(n, outputs, budget))?;
        if 1usize.checked_shl(n as u32).is_some_and(|all| all <= budget) {
            // One pass over all coalitions is sufficient for the values and the indices.
            let mut table = vec![0.0; outputs << n];
            game.values(&Coalitions::from_masks(n, 0..1 << n), &mut table)?;
            let table = TabulatedGame::new(table, outputs)?;
            let values = exact(&table, self.value.clone())?;
            let indices = enumerate_interactions(&table, index, 2.min(n))?;
            return Ok((Explanation { method: self.name().to_owned(), ..values }, indices));
        }
        let weights = index.weights(2, n)?;
        // This is the fraction of each pair's index to subtract from the value of either player.
        let share = match index {
            InteractionIndex::KShapley | InteractionIndex::FaithfulShapley => 0.5,
            _ => 0.0,
        };
        let both = |game: &dyn Game| {
            let (values, sampled) = self.explain(game, budget, seed, false)?;
            let pairs = Pairs::new(&sampled, &|size| weights.walsh_weight(2, size))?;
            let pairs = if values.std_errors.is_some() { pairs.with_unseen(&values) } else { pairs };
            let values = values.with_unseen();
            let of_both = pairs.with_singles(&values, share);
            Ok(vec![values, of_both])
        };
        let mut both = many_in_own_units(game, both)?;
        let (Some(of_both), Some(explanation)) = (both.pop(), both.pop()) else {
            return Err(EstimatorError::NoPlayers);
        };
        let mut coalitions = Coalitions::with_capacity(n, n + n * (n - 1) / 2);
        (0..n).for_each(|player| coalitions.push_members([player]));
        (0..n).for_each(|i| (i + 1..n).for_each(|j| coalitions.push_members([i, j])));
        let ends = (explanation.base.clone(), explanation.prediction.clone());
        let indices = Interactions::new((index.clone(), 2), coalitions, of_both.values, ends.0, ends.1);
        let errors = of_both.std_errors.unwrap_or_else(|| vec![f64::NAN; indices.values().len()]);
        let indices = indices.with_std_errors(errors);
        Ok((explanation, indices))
    }
}

impl Estimator for LearnedSpectrum {
    fn name(&self) -> &'static str {
        NAME
    }

    fn value(&self) -> SolutionConcept {
        match self.groups {
            None => self.value.clone().into(),
            Some(_) => SolutionConcept::Quotient(self.value.clone()),
        }
    }

    /// Returns `n` (for groups, the number of groups), but at least 4 and at most `2^n`. For values other
    /// than Shapley and Banzhaf values, returns `n + 1` instead of n. Below about `6n`, single players have a
    /// separate prior if this prior predicts better. Below `2n`, there are no standard errors.
    fn minimum_budget(&self, players: usize) -> usize {
        let units = self.groups.as_ref().map_or(players, Partition::len);
        let least = if self.is_of_odd_part() { units } else { units + 1 };
        at_most_all(least.max(4), units)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        if let Some(groups) = &self.groups {
            check_budget(self, game, budget)?;
            let quotient = QuotientGame::new(game, groups)?;
            let found = Self { groups: None, ..self.clone() }.estimate_seen(&quotient, budget, seed)?;
            return Ok(Explanation { value: self.value(), ..found });
        }
        if let Some(explanation) = exact_if_affordable(self, game, budget, self.full_budget)? {
            return Ok(explanation);
        }
        match self.is_of_odd_part() {
            true => Ok(self.explain(game, budget, seed, true)?.0),
            false => {
                let any_value = AnyValue {
                    name: self.name(),
                    value: &self.value,
                    draws: self.draws,
                    full_budget: self.full_budget,
                    standard_errors: self.standard_errors,
                };
                any_value.explain(game, budget, seed)
            }
        }
    }

    /// Returns the memory for regressions in the space of pairs of coalitions; if there are more pairs than
    /// `MAX_PAIRS`, in the space of products and players.
    fn memory(&self, players: usize, outputs: usize, budget: usize) -> u128 {
        let players = self.groups.as_ref().map_or(players, Partition::len);
        if at_most_all(usize::MAX, players) <= budget {
            return memory::product([at_most_all(usize::MAX, players), outputs, 16]);
        }
        if !self.is_of_odd_part() {
            return process_fit::memory(players, outputs, budget);
        }
        let pairs = budget / 2;
        let factors = MAX_PRODUCTS.min(pairs).saturating_add(players);
        [
            memory::product([8, pairs.min(MAX_PAIRS), pairs.min(MAX_PAIRS), 8]),
            memory::product([5, pairs, factors, 8]),
            memory::product([4, factors.min(pairs), factors.min(pairs), 8]),
            memory::product([4, players, players, 8]),
            memory::product([4, pairs, players, 8]),
            memory::product([8, pairs, outputs, 8]),
        ]
        .into_iter()
        .fold(0, u128::saturating_add)
    }

    fn units(&self, players: usize) -> Vec<Vec<usize>> {
        units(&self.value(), self.groups.as_ref(), players)
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(Self { draws: self.draws.growing(), ..self.clone() })
    }
}

/// Checks that the indices of all pairs of players fit in memory, with `besides` bytes for the values. A pair
/// is stored as the bits of a coalition, which are copied once, and its indices as numbers with their errors.
fn check_memory_of_pairs(players: usize, outputs: usize, besides: u128) -> Result<()> {
    let row =
        (2 * apportion_games::words_for(players)).saturating_add(outputs.saturating_mul(6)).saturating_add(8);
    let pairs = memory::product([players, players.saturating_sub(1), row, 4]);
    let what = || format!("the interactions of all pairs of {players} players");
    Ok(memory::check(pairs.saturating_add(besides), what, "use fewer players, or put them into groups")?)
}

fn boxed(value: &Value) -> Option<Box<dyn Estimator>> {
    match value {
        Value::Semivalue(semivalue) => Some(Box::new(LearnedSpectrum::for_value(semivalue.clone())?)),
        Value::Quotient(semivalue, groups) => {
            Some(Box::new(LearnedSpectrum::for_value(semivalue.clone())?.grouped(groups.clone())))
        }
        Value::Coalitional(..) | Value::TwoStepShapley(_) => {
            Some(Box::new(LearnedCoalitional::new(NAME, value.concept(), value.groups()?.clone()).ok()?))
        }
        _ => None,
    }
}

specs! {
    LEARNED_SPECTRUM = "learned-spectrum":
        "learned spectrum: a regression with a prior on interactions that is learned from the sample; for \
         all semivalues except weights by size, and for players in groups",
        boxed;
}
