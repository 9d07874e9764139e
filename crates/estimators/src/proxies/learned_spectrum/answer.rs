//! The values of all players, with error estimates: the regression with the chosen prior, averaged with the
//! process.
//!
//! The residuals on unseen pairs determine the share α of the process. The values are `(1 − α) φ + α φ̃`,
//! where φ are those of the chosen prior and φ̃ those of the process. Both are linear in the targets, so the
//! change of the mean if a pair is left out is the mean of both changes.

use apportion_solvers::DualEstimate;

use super::choice::{self, Choice};
use super::errors::{MIN_DEGREES, OPTIMISM, distribution_of, sum_of_squares};
use super::family::Family;
use super::fit::{Fit, Linear};
use super::means::Remainders;
use super::odd_prior::OddPrior;
use super::sampled::Sampled;
use super::screens::ScreenResults;
use super::spectrum_target::SpectrumTarget;
use crate::error::Result;
use crate::surrogate::prior::Signs;
use crate::surrogate::walsh_process::WalshProcess;

/// The maximum number of pairs for solving the regression in the space of pairs. For more pairs, it is solved
/// in the space of products.
pub(super) const MAX_PAIRS: usize = 900;
/// The largest ratio between the squared residuals on unseen parts of the sample and the leave-one-out
/// residuals that can be explained by fewer pairs and different products. Above this ratio, the variances are
/// increased in proportion.
const MAX_RESIDUAL_RATIO: f64 = 2.0;
/// The maximum number of products in a regression that is solved in their space.
pub(super) const MAX_PRODUCTS: usize = 1000;

/// The values of all players, with error estimates.
pub(super) struct Answer {
    pub(super) values: Vec<f64>,
    pub(super) variances: Vec<f64>,
    pub(super) degrees_of_freedom: f64,
    /// The number of pairs minus the number of free columns, at least 1.
    pub(super) draws_left: f64,
    pub(super) directions: Vec<f64>,
    /// The prior that was chosen for each output, as reported.
    pub(super) chosen: Vec<String>,
    /// The result of [`residuals_of_ends`]; zeros if that is `None`.
    pub(super) ends: Vec<[f64; 2]>,
}

impl Answer {
    /// Computes the result from the sample, and from the remainders after subtracting trees.
    pub(super) fn new(
        sampled: &Sampled,
        remainders: Option<&Remainders>,
        target: SpectrumTarget<'_>,
        is_halved: bool,
    ) -> Result<Self> {
        let (n, outputs) = (sampled.players, sampled.outputs);
        let linear = choice::linear(sampled, target)?;
        let screened = ScreenResults::beyond_players(sampled, linear, target)?;
        let process = learn(sampled, target, is_halved);
        let choices = choice::families(sampled, linear, target, process.as_ref())?;
        let of_process = process
            .map(|process| Fit::new(sampled, OddPrior::Process(process), Linear::Free, target))
            .transpose()?
            .map(|fit| ValidatedFit::new(fit, sampled));
        let mut answer = Self {
            values: vec![0.0; n * outputs],
            variances: vec![0.0; n * outputs],
            degrees_of_freedom: f64::INFINITY,
            draws_left: (sampled.len() as f64 - target.columns(n) as f64).max(1.0),
            directions: vec![0.0; outputs],
            chosen: vec![String::new(); outputs],
            ends: residuals_of_ends(sampled, target).unwrap_or_else(|| vec![[0.0; 2]; outputs]),
        };
        // If single players are free, a strong noise already removes the prior, so this regression is not
        // required.
        let alone = match linear {
            Linear::Free => None,
            Linear::Prior(_) => {
                Some(ValidatedFit::new(Fit::without_prior(sampled, linear, target)?, sampled))
            }
        };
        // If single players have a prior, the errors are at least those of the regression on free single
        // players.
        let plain = match linear {
            Linear::Free => None,
            Linear::Prior(_) => Fit::without_prior(sampled, Linear::Free, target)
                .ok()
                .map(|fit| ValidatedFit::new(fit, sampled)),
        };
        let of_trees = remainders
            .map(|remainders| ValidatedFit::from_remainders(remainders, linear, target))
            .transpose()?;
        for family in Family::ALL {
            if choices.iter().all(|choice| choice.family != family) {
                continue;
            }
            let fit = if sampled.len() <= MAX_PAIRS {
                Fit::new(sampled, OddPrior::Products(family.prior(n, &screened)), linear, target)?
            } else {
                let most = MAX_PRODUCTS.min(sampled.len() * 4 / 5);
                Fit::by_terms(sampled, Family::terms(n, &screened, most), linear, target)?
            };
            let fit = ValidatedFit::new(fit, sampled);
            for output in (0..outputs).filter(|&output| choices[output].family == family) {
                let mut best = (&fit, family.name());
                if let Some(alone) = &alone
                    && alone.total(output) <= fit.total(output)
                {
                    best = (alone, ALONE);
                }
                if let Some(of_trees) = &of_trees
                    && choice::is_clearly_less(&of_trees.squares(output), &best.0.squares(output))
                {
                    best = (of_trees, "deep trees, and single players for their residuals");
                }
                let (choice, (best, name)) = (&choices[output], best);
                let optimism = if name == ALONE { 1.0 } else { OPTIMISM };
                let factor = factor_of_chance(sampled, &choice.unseen, best.total(output), target);
                let taken = Named { fit: best, name, factor: factor.max(optimism) };
                let of_process = of_process.as_ref().and_then(|process| {
                    let unseen = choice.unseen_of_process.as_deref()?;
                    let total = process.total(output);
                    let share = share_of_process(choice, best, process, output);
                    let factor = factor_of_chance(sampled, unseen, total, target).max(OPTIMISM);
                    let process = Named { fit: process, name: PROCESS, factor };
                    (share > 0.0 && total.is_finite()).then_some((process, share))
                });
                answer.add(sampled, (taken, of_process), plain.as_ref(), output, target);
            }
        }
        Ok(answer)
    }

    /// Adds the result of one regression for one output, averaged with the process, if any, according to the
    /// share of the process. If single players have a prior in the regression, the errors are at least those
    /// of the `plain` regression.
    fn add(
        &mut self,
        sampled: &Sampled,
        (best, process): (Named<'_>, Option<(Named<'_>, f64)>),
        plain: Option<&ValidatedFit>,
        output: usize,
        target: SpectrumTarget<'_>,
    ) {
        let (n, outputs, pairs) = (sampled.players, sampled.outputs, sampled.len());
        let mut of_best = best.result(sampled, output, target);
        if let Some((process, share)) = process {
            of_best.average_with(&process.result(sampled, output, target), share);
        }
        let OutputResult { values, mut changes, mut degrees, chosen } = of_best;
        if !best.fit.fit.has_free_players() {
            match plain {
                None => changes.fill(f64::INFINITY),
                Some(plain) => {
                    let alone = plain.fit.values(plain.strengths[output], target);
                    let at_least = plain.changes(sampled, &alone, output, 1.0);
                    for (own, other) in changes.chunks_exact_mut(pairs).zip(at_least.chunks_exact(pairs)) {
                        if sum_of_squares(other) > sum_of_squares(own) {
                            own.copy_from_slice(other);
                        }
                    }
                    degrees = degrees.min(plain.fit.degrees_of_freedom(plain.strengths[output]));
                }
            }
        }
        (0..n).map(|player| player * outputs + output).for_each(|at| self.values[at] = values[at]);
        for (player, own) in changes.chunks_exact(pairs).enumerate() {
            self.variances[player * outputs + output] = sum_of_squares(own);
        }
        let (of_changes, directions) = distribution_of(&changes, n, pairs);
        let degrees = degrees.min(of_changes).max(1.0);
        self.degrees_of_freedom = self.degrees_of_freedom.min(degrees);
        self.directions[output] = directions;
        self.chosen[output] = chosen;
    }
}

/// Returns the factor by which variances increase if residuals on `unseen` parts of the sample are larger
/// than the leave-one-out residuals with the sum of squares `left`. If there are few pairs, any choice may
/// fit by chance; residuals on unseen parts show whether it does.
fn factor_of_chance(sampled: &Sampled, unseen: &[f64], left: f64, target: SpectrumTarget<'_>) -> f64 {
    let are_few = choice::are_few(sampled.len(), target.columns(sampled.players));
    match are_few && unseen.len() == sampled.len() && left > 0.0 {
        true => (sum_of_squares(unseen) / (MAX_RESIDUAL_RATIO * left)).max(1.0),
        false => 1.0,
    }
}

/// A regression, with the name of its prior.
#[derive(Clone, Copy)]
struct Named<'a> {
    fit: &'a ValidatedFit,
    name: &'static str,
    /// The factor of squared residuals for estimating variances.
    factor: f64,
}

/// The values of a regression for one output.
struct OutputResult {
    /// The values of all outputs.
    values: Vec<f64>,
    /// The change in each player's value if a pair is left out, players × pairs.
    changes: Vec<f64>,
    degrees: f64,
    chosen: String,
}

impl Named<'_> {
    fn result(self, sampled: &Sampled, output: usize, target: SpectrumTarget<'_>) -> OutputResult {
        let (fit, strength) = (&self.fit.fit, self.fit.strengths[output]);
        let estimate = fit.values(strength, target);
        let is_alone = fit.is_linear(strength) && !self.fit.has_mean;
        OutputResult {
            changes: self.fit.changes(sampled, &estimate, output, self.factor),
            values: estimate.values,
            degrees: fit.degrees_of_freedom(strength).max(MIN_DEGREES),
            chosen: if is_alone { ALONE } else { self.name }.to_owned(),
        }
    }
}

impl OutputResult {
    /// Averages the result with that of another regression, which has the given share.
    fn average_with(&mut self, other: &Self, share: f64) {
        let average = |own: &mut [f64], other: &[f64]| {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += share * (other - *own));
        };
        average(&mut self.values, &other.values);
        average(&mut self.changes, &other.changes);
        self.degrees += share * (other.degrees - self.degrees);
        self.chosen = format!("{}, averaged with {}", self.chosen, other.chosen);
    }
}

/// The variance of the share of the process in the prior for this share, whose mean is 0. It limits the share
/// if there are few pairs.
const VARIANCE_OF_SHARE: f64 = 0.25;
/// The maximum number of pairs from which the relevances are learned: the first number, or the second number
/// per player if that is more.
const LEARNED: (usize, usize) = (110, 2);
/// The numbers of players for which the process is used.
const PLAYERS: std::ops::RangeInclusive<usize> = 3..=256;
/// The minimum number of pairs per column with which the process is used if only one coalition of most pairs
/// was evaluated. With fewer, errors for voting games are larger than without the process.
const MIN_HALVED_PAIRS: usize = 6;

/// Learns the process from evenly spaced pairs. Returns `None` if the process is not used: if there are too
/// few or too many pairs or players.
fn learn(sampled: &Sampled, target: SpectrumTarget<'_>, is_halved: bool) -> Option<WalshProcess> {
    let (n, outputs, pairs) = (sampled.players, sampled.outputs, sampled.len());
    let columns = target.columns(n);
    let has_enough =
        if is_halved { pairs >= MIN_HALVED_PAIRS * columns } else { choice::can_be_free(pairs, columns) };
    if !has_enough || pairs > MAX_PAIRS || !PLAYERS.contains(&n) {
        return None;
    }
    let (fixed, per_player) = LEARNED;
    let step = pairs.div_ceil(fixed.max(per_player * n)).max(1);
    let mut some = sampled.some(&(0..pairs).step_by(step).collect::<Vec<_>>());
    some.signs.append(Signs::of_all_players(n));
    some.odd.extend(&sampled.half_total);
    some.even.extend(&sampled.half_sum);
    // If values were derived from an assumed sum, the even part is not known.
    let even = (!is_halved).then_some(&some.even[..]);
    Some(WalshProcess::learn_from_pairs(&some.signs, &some.odd, even, outputs))
}

/// Returns the share of the process in the average with the `best` regression: the smaller one of the shares
/// by residuals on unseen parts of the sample, and by leave-one-out residuals. With a part of the sample, the
/// screens may miss products that they find in the whole sample.
fn share_of_process(choice: &Choice, best: &ValidatedFit, process: &ValidatedFit, output: usize) -> f64 {
    let (best_left, left) = (&best.residuals[output], &process.residuals[output]);
    let by_left_out = choice::share(best_left, left);
    let by_unseen = match (best.has_mean, &choice.unseen_of_process) {
        (false, Some(unseen)) => choice::share(&choice.unseen, unseen),
        _ => by_left_out,
    };
    let share = by_left_out.min(by_unseen);
    let variance = choice::variance_of_share(best_left, left, share, process.fit.columns());
    share / (1.0 + variance / VARIANCE_OF_SHARE)
}

/// Returns, for each output, the absolute leave-one-out residual of the odd part at N, and the largest
/// absolute leave-one-out residual of a sampled pair. They are residuals of a regression on single players,
/// because the screens of a prior have seen N. Returns `None` under a constraint, or if there is no such
/// regression.
fn residuals_of_ends(sampled: &Sampled, target: SpectrumTarget<'_>) -> Option<Vec<[f64; 2]>> {
    if target.is_constrained() {
        return None;
    }
    let fit = Fit::without_prior(sampled, Linear::Free, target).ok()?;
    let left = fit.left_out(*fit.strengths().first()?);
    let of_output = |output: usize| {
        let own = left.iter().skip(output).step_by(sampled.outputs).zip(&sampled.weights);
        let residuals: Vec<f64> = own.map(|(left, weight)| (left / weight.sqrt()).abs()).collect();
        let (&end, others) = residuals.split_last()?;
        Some([end, others.iter().copied().fold(0.0, f64::max)])
    };
    (0..sampled.outputs).map(of_output).collect()
}

/// The name that is reported if the result is the regression on single players.
const ALONE: &str = "single players only";
/// The name that is reported for the process.
const PROCESS: &str = "products of all players with relevances";

/// A regression, with the strength of its prior for each output, and its leave-one-out residuals.
struct ValidatedFit {
    fit: Fit,
    strengths: Vec<f64>,
    /// The weighted residual `√(f_k w_k) r_k` of each pair, for each output.
    residuals: Vec<Vec<f64>>,
    /// Whether predictions of trees were subtracted.
    has_mean: bool,
}

impl ValidatedFit {
    fn new(fit: Fit, sampled: &Sampled) -> Self {
        let strengths = choice::strengths(&fit, sampled);
        let of_output = |output: usize| choice::residuals(&fit.left_out(strengths[output]), sampled, output);
        let residuals = (0..sampled.outputs).map(of_output).collect();
        Self { fit, strengths, residuals, has_mean: false }
    }

    /// Creates the regression of the remainders on single players alone. The residual of each pair is
    /// computed with trees that have not seen it.
    fn from_remainders(remainders: &Remainders, linear: Linear, target: SpectrumTarget<'_>) -> Result<Self> {
        let unseen = Self::new(Fit::without_prior(&remainders.unseen, linear, target)?, &remainders.unseen);
        let fit = Fit::without_prior(&remainders.estimated, linear, target)?;
        Ok(Self { fit, has_mean: true, ..unseen })
    }

    fn squares(&self, output: usize) -> Vec<f64> {
        choice::squared(&self.residuals[output])
    }

    fn total(&self, output: usize) -> f64 {
        sum_of_squares(&self.residuals[output])
    }

    /// Returns the change in each player's value if a pair is left out, for one output, players × pairs. The
    /// squares of the changes are multiplied by `factor`.
    fn changes(&self, sampled: &Sampled, estimate: &DualEstimate, output: usize, factor: f64) -> Vec<f64> {
        let pairs = sampled.len();
        let residuals = &self.residuals[output];
        let of_pair = |(at, influence): (usize, &f64)| {
            let left = residuals[at % pairs] * (factor / sampled.weights[at % pairs]).sqrt();
            // The change is zero if a pair is certain to be in the sample.
            if left == 0.0 { 0.0 } else { influence * left }
        };
        estimate.influences.iter().enumerate().map(of_pair).collect()
    }
}
