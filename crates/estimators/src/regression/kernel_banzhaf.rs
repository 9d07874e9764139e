//! Kernel Banzhaf: Banzhaf values by least squares on sampled coalitions.
//!
//! # Source
//!
//! Liu, Witter, Korn, Alrashed, Paparas and Freire, *Kernel Banzhaf: A Fast and Robust Estimator for Banzhaf
//! Values*, 2024, Algorithm 1, with a correction of its Theorem 3.3. Weighted Banzhaf values and draws
//! without replacement are our own additions.
//!
//! # Notation
//!
//! There are `n` players and `m` evaluations; `s = |S|`. `p` is the probability that each other player is
//! present (½ for Banzhaf values), and `P(S) = p^s (1−p)^(n−s)`.
//!
//! # Sampling distribution
//!
//! Under the weights P(S), the columns `z_i − p` and the constant column are orthogonal, with squared norms
//! `p (1 − p)` and 1. The leverage score of a coalition is therefore
//!
//! ```text
//! ℓ(S) = P(S) (1 + Σ_i (z_i − p)² / (p (1−p))) = P(S) (1 + s (1−p)/p + (n−s) p/(1−p))
//! ```
//!
//! and all leverage scores sum to n + 1. For p = ½, the term in brackets is n + 1 for every coalition, so all
//! coalitions are equally likely (the paper's equation 9, without the intercept).

use apportion_games::{Coalitions, Game};
use apportion_samplers::{Pairing, Sample};
use apportion_solvers::{Certificate, Constraint, Design, LeastSquares, SolverError, least_squares};
use apportion_values::{LeastSquaresForm, Semivalue, SolutionConcept, Value};

use crate::error::{EstimatorError, Result};
use crate::registry::{semivalue, specs};
use crate::report::Explanation;
use crate::run::{Estimator, Evaluations, at_most_all};
use crate::setters::setters;
use crate::support::{
    Draws, FullBudget, MissedConjunction, StandardErrors, draws_of_units, exact_if_affordable, free_shares,
    leverage_distribution, sample_is_complete,
};

/// Kernel Banzhaf (Liu et al. 2024, Algorithm 1) and its ablations, for Banzhaf and weighted Banzhaf values.
///
/// ```text
/// φ̃ = argmin_x min_c Σ_k w_k (c + ⟨z_k − p 1, x⟩ − v(z_k))²,
/// w_k = P(z_k) / (expected number of draws of z_k)
/// ```
///
/// over the sampled coalitions `z_k`. Over all coalitions, the minimum is the value itself (Theorem 3.2, for
/// p = ½).
///
/// | [`draws`](Self::draws) | name | coalitions |
/// |---|---|---|
/// | with replacement (default) | `kernel-banzhaf` | Algorithm 1: uniform pairs of all 2^n coalitions; repeated ones are evaluated once |
/// | fixed counts | `kernel-banzhaf-without-replacement` | distinct pairs, stratified by size; exact once all are drawn |
/// | Bernoulli | `kernel-banzhaf-bernoulli` | distinct pairs, each drawn independently |
///
/// Without replacement, the squared error is multiplied by about the fraction of coalitions that are not
/// drawn. The paper reports no difference until m = 2^n. We compared the median squared errors with and
/// without replacement, on tree models of California, Diabetes, Adult and Pima with one baseline. At
/// `m = 0.6 · 2^n`, the errors with replacement are 2.4, 2.4, 2.6 and 2.0 times as large (ℓ2 errors: 1.5,
/// 1.5, 1.6 and 1.4 times); at 0.8, they are 5 times as large, and at 0.95, 20 times.
///
/// # Guarantee
///
/// Let A be the matrix of all rows `z − ½`, and b the vector of all values. For `m = O(n log(n/δ) + n/(εδ))`
/// evaluations, with probability 1 − δ,
///
/// ```text
/// ‖A φ̃ − b‖² ≤ (1 + ε) ‖A φ − b‖²                          (Theorem 3.3)
/// ‖φ̃ − φ‖² ≤ ε γ ‖φ‖²,   γ = ‖A φ − b‖² / ‖A φ‖²             (Corollary 3.4)
/// ```
///
/// The paper prints the first inequality as `‖Aφ̃ − Aφ‖ ≤ (1 + ε) ‖Aφ − b‖`, from which the second does not
/// follow. It does follow from the squared form: φ is the projection, so `‖A(φ̃ − φ)‖² = ‖Aφ̃ − b‖² − ‖Aφ −
/// b‖² ≤ ε ‖Aφ − b‖²`, and `AᵀA = 2^(n−2) I` cancels (Observation 3.1).
///
/// # Budget
///
/// v(∅) and v(N) are always evaluated, because every explanation reports them, and the sample has `m − 2`
/// evaluations. With pairs and odd `m`, one evaluation stays unused. With replacement, the sample may contain
/// ∅ and N, which are not evaluated again. Without replacement, it always contains them, with their exact
/// weight. The remaining evaluations are drawn from all other coalitions, and the result is exact for a
/// budget of `2^n`.
///
/// # Pairs and the intercept
///
/// Terms that are even in z − ½ cancel in pairs, including interactions of two players. The intercept has no
/// effect in pairs, because it is orthogonal to the other columns. For unpaired draws, Algorithm 1 omits the
/// intercept, so that the mean of the game adds to the noise; the authors' code includes it.
///
/// For p ≠ ½, the two rows of a pair have different weights, in the ratio ((1−p)/p)^(n−2s). If n (1 − 2p)² >
/// 0.8, the smaller weight is negligible for most pairs, and coalitions are drawn one by one regardless of
/// [`pairing`](Self::pairing). At m = 20n, on sums of unanimity games, the median squared error of pairs
/// relative to single coalitions is 0.4 at n = 30 and p = 0.49, 0.6 at p = 0.45, 1.2 at p = 0.4, and 2 for p
/// far from ½.
///
/// # Weighted Banzhaf values
///
/// Coalitions are drawn by their leverage scores `P(S) (1 + s (1−p)/p + (n−s) p/(1−p))`, so that the weights
/// of rows are bounded. We measured the median squared error on tree models (8 to 12 features, m = 10n),
/// relative to draws from P itself: it is 0.4 to 0.6 at p = 0.1, 0.6 to 0.8 at p = 0.2, about 0.9 at p = 0.3,
/// and 1 from 0.35 on. Drawing without replacement reduces the error by as much again if m is a substantial
/// part of the number of coalitions with non-negligible weight.
///
/// # Standard errors
///
/// Standard errors are estimated by leaving out one pair or coalition at a time. With replacement, each
/// *draw* is left out instead, so a coalition drawn three times counts as three draws, each with a third of
/// its weight. There are no standard errors if the regression does not determine the values, or would not
/// determine them without some coalition.
///
/// Takes `O(T + m n²)` time, where `T` is the time of `m` evaluations, and `O(m n)` bits plus `O(n²)` numbers
/// of memory.
///
/// ```
/// use apportion_estimators::{Estimator, KernelBanzhaf};
/// use apportion_games::{ClosedForm, SumOfUnanimity};
///
/// let game = SumOfUnanimity::random(30, 100, 4, 1);
/// let explanation = KernelBanzhaf::default().estimate(&game, 600, 7)?;
/// let squared = |(got, want): (&f64, f64)| (got - want).powi(2);
/// let error: f64 = explanation.values.iter().zip(game.banzhaf()).map(squared).sum();
/// let norm: f64 = game.banzhaf().iter().map(|want| want.powi(2)).sum();
/// assert!(error < 0.02 * norm);
/// # Ok::<(), apportion_estimators::EstimatorError>(())
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct KernelBanzhaf {
    /// The value to estimate: [`Semivalue::Banzhaf`] or a weighted Banzhaf value; defaults to
    /// [`Semivalue::Banzhaf`].
    pub value: Semivalue,
    /// Whether every coalition is drawn with its complement, if this reduces the error; defaults to
    /// [`Pairing::Paired`].
    #[serde(serialize_with = "crate::run::settings::PairingSetting::serialize")]
    pub pairing: Pairing,
    /// How coalitions are drawn; defaults to [`Draws::WithReplacement`], as published.
    pub draws: Draws,
    /// Whether the regression has an intercept; defaults to `true`.
    pub intercept: bool,
    /// Whether to estimate standard errors; defaults to [`StandardErrors::Estimated`].
    pub standard_errors: StandardErrors,
    /// The behaviour for a budget of `2^n`; defaults to [`FullBudget::Enumerate`].
    pub full_budget: FullBudget,
}

setters!(KernelBanzhaf {
    with_value => value: Semivalue,
    with_pairing => pairing: Pairing,
    with_draws => draws: Draws,
    with_intercept => intercept: bool,
    with_standard_errors => standard_errors: StandardErrors,
    with_full_budget => full_budget: FullBudget,
});

impl Default for KernelBanzhaf {
    fn default() -> Self {
        Self {
            value: Semivalue::Banzhaf,
            pairing: Pairing::Paired,
            draws: Draws::WithReplacement,
            intercept: true,
            standard_errors: StandardErrors::default(),
            full_budget: FullBudget::default(),
        }
    }
}

impl KernelBanzhaf {
    /// Creates the variant with distinct coalitions. It is never worse than sampling with replacement, and
    /// much better if a substantial part of all `2^n` coalitions is evaluated.
    pub fn without_replacement() -> Self {
        Self { draws: Draws::FixedCounts, ..Self::default() }
    }

    /// Creates the estimator of the weighted Banzhaf value in which each other player is present with
    /// probability `p`.
    ///
    /// # Errors
    ///
    /// [`EstimatorError::Value`] unless 0 < p < 1.
    pub fn weighted(p: f64) -> Result<Self, EstimatorError> {
        Ok(Self { value: Semivalue::weighted_banzhaf(p)?, ..Self::default() })
    }

    /// Returns p, the probability that each other player is present.
    fn presence(&self) -> Result<f64> {
        match self.value.least_squares() {
            Some(LeastSquaresForm::Centred { p }) => Ok(p),
            _ => Err(EstimatorError::OtherValue {
                method: self.name(),
                estimates: "Banzhaf and weighted Banzhaf values",
                value: Box::new(self.value()),
                instead: "monte-carlo or msr",
            }),
        }
    }

    fn regression(&self, players: usize, p: f64) -> Regression {
        Regression {
            players,
            p,
            certain_ends: self.draws != Draws::WithReplacement,
            sizes_alike: p == 0.5 && self.draws != Draws::Growing,
        }
    }

    /// Draws the coalitions that an estimate with this budget and seed evaluates.
    pub(crate) fn sample(&self, players: usize, budget: usize, seed: u64) -> Result<Sample> {
        let p = self.presence()?;
        let regression = self.regression(players, p);
        let pairing = if regression.pairs_help() { self.pairing } else { Pairing::Unpaired };
        let sizes = if regression.certain_ends { 1..=players - 1 } else { 0..=players };
        Ok(self.draws.sample(leverage_distribution(players, p, sizes)?, pairing, budget - 2, seed)?)
    }
}

impl Estimator for KernelBanzhaf {
    fn name(&self) -> &'static str {
        use Draws::{Bernoulli, FixedCounts, Growing, GrowingBernoulli, WithReplacement};
        use Pairing::{Paired, Unpaired};
        match (self.pairing, self.draws, self.intercept) {
            // The intercept has no effect for pairs of equal weight.
            (Paired, WithReplacement, _) => "kernel-banzhaf",
            (Paired, FixedCounts | Growing, _) => "kernel-banzhaf-without-replacement",
            (Paired, Bernoulli | GrowingBernoulli, _) => "kernel-banzhaf-bernoulli",
            (Unpaired, WithReplacement, true) => "kernel-banzhaf-unpaired",
            (Unpaired, FixedCounts | Growing, true) => "kernel-banzhaf-unpaired-without-replacement",
            (Unpaired, Bernoulli | GrowingBernoulli, true) => "kernel-banzhaf-unpaired-bernoulli",
            (Unpaired, WithReplacement, false) => "kernel-banzhaf-unpaired-without-intercept",
            (Unpaired, FixedCounts | Growing, false) => {
                "kernel-banzhaf-unpaired-without-intercept-and-replacement"
            }
            (Unpaired, Bernoulli | GrowingBernoulli, false) => {
                "kernel-banzhaf-unpaired-without-intercept-bernoulli"
            }
        }
    }

    fn value(&self) -> SolutionConcept {
        self.value.clone().into()
    }

    /// Returns `n + 1`, but at least 4 (∅, N and one pair) and at most `2^n`.
    ///
    /// This is the minimum, not a recommendation; use `5n` or more. Below about 2n, there are fewer pairs
    /// than players, and the diagnostics report this.
    fn minimum_budget(&self, players: usize) -> usize {
        at_most_all((players + 1).max(4), players)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        let p = self.presence()?;
        if let Some(explanation) = exact_if_affordable(self, game, budget, self.full_budget)? {
            return Ok(explanation);
        }
        let players = game.players();
        let regression = self.regression(players, p);
        let sample = self.sample(players, budget, seed)?;
        let rows = regression.rows(&sample);

        let mut evaluations = Evaluations::begin(game)?;
        let values = evaluations.values(&rows.coalitions)?;
        let design = rows.design(p)?;
        let design = if self.intercept { design.with_intercept() } else { design };
        let solution = least_squares(&design, &values, game.outputs(), Constraint::None)?;
        let mut explanation =
            Explanation::of_regression(self.name(), self.value(), evaluations, &solution, players, seed);
        explanation.diagnostics.exact = regression.certain_ends && sample_is_complete(&sample);
        explanation.judge(self.standard_errors, || rows.certificate(&solution))?;
        explanation.note_design(&sample);
        if explanation.diagnostics.error_distribution.is_some() {
            let missed = MissedConjunction::new(&self.value.size_distribution(players), &sample, 1.0);
            let shown_by_ends = rows.shown_by_ends(&solution, &explanation, p, missed);
            if let Some(distribution) = &mut explanation.diagnostics.error_distribution {
                distribution.shown_by_ends = shown_by_ends;
            }
        }
        Ok(explanation)
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(Self { draws: self.draws.growing(), ..self.clone() })
    }
}

/// The maximum of `n (1 − 2p)²` for which pairs have smaller errors than single coalitions. On tree models of
/// 8 to 12 features, and on random sums of unanimity games of 8 to 100 players, the break-even point is
/// between 0.7 and 1.1.
const PAIRS_HELP_UP_TO: f64 = 0.8;

/// The regression over all coalitions, from which a sample is drawn.
struct Regression {
    players: usize,
    p: f64,
    /// Whether ∅ and N are always among the rows, instead of being drawn like other coalitions.
    certain_ends: bool,
    /// Whether coalitions of all sizes have the same inclusion probability and the same weight.
    sizes_alike: bool,
}

impl Regression {
    fn form(&self) -> LeastSquaresForm {
        LeastSquaresForm::Centred { p: self.p }
    }

    /// Returns whether the complement of a coalition has enough weight to justify an evaluation.
    fn pairs_help(&self) -> bool {
        self.players as f64 * (1.0 - 2.0 * self.p).powi(2) <= PAIRS_HELP_UP_TO
    }

    /// Returns the rows of the regression: the rows of the sample, and ∅ and N if they are always included.
    fn rows(&self, sample: &Sample) -> Rows {
        let (n, strata) = (self.players, sample.strata());
        let mut coalitions = sample.coalitions().clone();
        let drawn = coalitions.len();
        if self.certain_ends {
            coalitions.push_empty();
            coalitions.push_full();
        }
        // Compute equal weights only once, because the regression is faster if they are bitwise equal.
        let like = |size: usize| if self.sizes_alike { n / 2 } else { size };
        let ln_weights: Vec<f64> = (0..=n)
            .map(like)
            .map(|size| self.form().ln_weight(n, size) - strata[size].ln_inclusion())
            .collect();
        let ln_weight = |row: usize| match coalitions.sizes()[row] as usize {
            size if row < drawn => ln_weights[size],
            size => self.form().ln_weight(n, size),
        };
        let largest = (0..coalitions.len()).map(ln_weight).fold(f64::NEG_INFINITY, f64::max);
        let multiplicities = sample.multiplicities();
        let times = |row: usize| multiplicities.map_or(1.0, |times| f64::from(times[row]));
        let weight =
            |row: usize| (ln_weight(row) - largest).exp() * if row < drawn { times(row) } else { 1.0 };
        let layout = match sample.pairing() {
            Pairing::Unpaired => Layout::Alone,
            Pairing::Paired if self.p == 0.5 => Layout::Pairs,
            Pairing::Paired => Layout::PairsApart,
        };
        let step = if layout == Layout::Pairs { 2 } else { 1 };
        let weights = (0..coalitions.len()).step_by(step).map(weight).collect();
        let chance = match draws_of_units(sample) {
            Some(times) => Chance::Draws(times),
            None => {
                let mut free = free_shares(sample);
                let certain = if sample.pairing() == Pairing::Paired { 1 } else { 2 };
                free.extend(std::iter::repeat_n(0.0, certain));
                Chance::Free(free)
            }
        };
        Rows { coalitions, weights, layout, chance, has_ends: self.certain_ends }
    }
}

/// The rows of the regression.
struct Rows {
    coalitions: Coalitions,
    weights: Vec<f64>,
    layout: Layout,
    chance: Chance,
    /// Whether the last rows are ∅ and N, or their pair.
    has_ends: bool,
}

/// The grouping of rows into pairs.
#[derive(PartialEq)]
enum Layout {
    Alone,
    /// One weight per pair.
    Pairs,
    /// One weight per row.
    PairsApart,
}

/// The sampling data of each row or pair, from which its error is estimated.
enum Chance {
    /// The number of independent draws of each row or pair.
    Draws(Vec<u32>),
    /// `1 − π` for each row or pair, where π is its inclusion probability.
    Free(Vec<f64>),
}

impl Rows {
    fn design(&self, p: f64) -> Result<Design<'_>, SolverError> {
        match self.layout {
            Layout::Alone => Design::new(&self.coalitions, &self.weights),
            Layout::Pairs => Design::paired(&self.coalitions, &self.weights),
            Layout::PairsApart => Design::paired_apart(&self.coalitions, &self.weights),
        }?
        .centred_at(p)
    }

    fn certificate(&self, solution: &LeastSquares) -> Result<Certificate, SolverError> {
        match &self.chance {
            Chance::Draws(times) => solution.certificate_of_draws(times),
            Chance::Free(free) => solution.certificate(free),
        }
    }

    /// Returns, for each output, the standard error due to the largest conjunction that the sample missed.
    /// The compared residuals are leave-one-out residuals of rows or pairs.
    fn shown_by_ends(
        &self,
        solution: &LeastSquares,
        explanation: &Explanation,
        p: f64,
        missed: MissedConjunction,
    ) -> Vec<f64> {
        let (outputs, residuals, hats) = (solution.outputs(), solution.residuals(), solution.hat_values());
        let ends = match (self.has_ends, &self.layout) {
            (false, _) => 0,
            (true, Layout::Pairs) => 1,
            (true, Layout::Alone | Layout::PairsApart) => 2,
        };
        let sampled = hats.len() - ends;
        let left = |row: usize| {
            let times = match &self.chance {
                Chance::Draws(times) if self.layout == Layout::PairsApart => f64::from(times[row / 2]),
                Chance::Draws(times) => f64::from(times[row]),
                Chance::Free(_) => 1.0,
            };
            1.0 - hats[row] / times
        };
        let of_output = |output: usize| {
            let largest = (0..sampled)
                .map(|row| (residuals[row * outputs + output] / left(row)).abs())
                .fold(0.0, f64::max);
            let sum: f64 = solution.coefficients().iter().skip(output).step_by(outputs).sum();
            let intercept = solution.intercepts().map_or(0.0, |intercepts| intercepts[output]);
            let empty = explanation.base[output] - intercept + p * sum;
            let full = explanation.prediction[output] - intercept - (1.0 - p) * sum;
            if self.layout == Layout::Pairs {
                // The residual of a pair is half of the difference between the residuals of its two
                // coalitions. The whole difference is assumed to be due to one of them.
                let left = if ends > 0 { left(sampled) } else { 1.0 };
                return missed.std_error([0.0, (full - empty) / left], 2.0 * largest);
            }
            let [of_empty, of_full] = if ends > 0 { [left(sampled), left(sampled + 1)] } else { [1.0; 2] };
            missed.std_error([empty / of_empty, full / of_full], largest)
        };
        (0..outputs).map(of_output).collect()
    }
}

/// Builds the estimator with the given options. Returns `None` if the value is not the solution of such a
/// regression.
fn boxed(value: &Value, pairing: Pairing, draws: Draws, intercept: bool) -> Option<Box<dyn Estimator>> {
    let value = semivalue(value)?;
    let is_regression = matches!(value.least_squares()?, LeastSquaresForm::Centred { .. });
    let estimator = KernelBanzhaf::default()
        .with_value(value)
        .with_pairing(pairing)
        .with_draws(draws)
        .with_intercept(intercept);
    is_regression.then(|| Box::new(estimator) as Box<dyn Estimator>)
}

specs! {
    KERNEL_BANZHAF = "kernel-banzhaf":
        "Kernel Banzhaf as published: a regression on pairs drawn with replacement; for (weighted) Banzhaf \
         values",
        |value| boxed(value, Pairing::Paired, Draws::WithReplacement, true);
    KERNEL_BANZHAF_WITHOUT_REPLACEMENT = "kernel-banzhaf-without-replacement": "Kernel Banzhaf without \
        replacement",
        |value| boxed(value, Pairing::Paired, Draws::FixedCounts, true);
    KERNEL_BANZHAF_BERNOULLI = "kernel-banzhaf-bernoulli" variant:
        "Kernel Banzhaf with Bernoulli sampling of pairs, which meets the budget in expectation",
        |value| boxed(value, Pairing::Paired, Draws::Bernoulli, true);
    KERNEL_BANZHAF_UNPAIRED = "kernel-banzhaf-unpaired": "Kernel Banzhaf without pairs (ablation)",
        |value| boxed(value, Pairing::Unpaired, Draws::WithReplacement, true);
    KERNEL_BANZHAF_UNPAIRED_WITHOUT_REPLACEMENT = "kernel-banzhaf-unpaired-without-replacement" variant:
        "Kernel Banzhaf without pairs and without replacement (ablation)",
        |value| boxed(value, Pairing::Unpaired, Draws::FixedCounts, true);
    KERNEL_BANZHAF_UNPAIRED_BERNOULLI = "kernel-banzhaf-unpaired-bernoulli" variant:
        "Kernel Banzhaf without pairs, with Bernoulli sampling (ablation)",
        |value| boxed(value, Pairing::Unpaired, Draws::Bernoulli, true);
    KERNEL_BANZHAF_UNPAIRED_WITHOUT_INTERCEPT = "kernel-banzhaf-unpaired-without-intercept" variant:
        "Kernel Banzhaf without pairs and without an intercept (ablation)",
        |value| boxed(value, Pairing::Unpaired, Draws::WithReplacement, false);
    KERNEL_BANZHAF_UNPAIRED_WITHOUT_INTERCEPT_AND_REPLACEMENT =
        "kernel-banzhaf-unpaired-without-intercept-and-replacement" variant:
        "Kernel Banzhaf without pairs, intercept or replacement (ablation)",
        |value| boxed(value, Pairing::Unpaired, Draws::FixedCounts, false);
    KERNEL_BANZHAF_UNPAIRED_WITHOUT_INTERCEPT_BERNOULLI =
        "kernel-banzhaf-unpaired-without-intercept-bernoulli" variant:
        "Kernel Banzhaf without pairs or intercept, with Bernoulli sampling (ablation)",
        |value| boxed(value, Pairing::Unpaired, Draws::Bernoulli, false);
}
