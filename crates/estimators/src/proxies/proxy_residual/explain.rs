//! The estimator R applied to the remainders of surrogates.

use apportion_games::{Coalitions, Game};
use apportion_samplers::{Pairing, Sample, SizeDistribution};
use apportion_solvers::{Certificate, Constraint, Design, LeastSquares, least_squares};
use apportion_values::{LeastSquaresForm, Semivalue};

use super::ProxyResidual;
use crate::error::Result;
use crate::report::{Diagnostics, ErrorDistribution, Explanation};
use crate::run::Evaluations;
use crate::sampling::maximum_sample_reuse::{Adjustment, Reuse, SamplingDistribution, SizeWeights};
use crate::support::folds::{CrossFits, Folds, cross_fit};
use crate::support::leverage_distribution;
use crate::support::{StandardErrors, certified, draws_of_units, free_shares, sample_is_complete};
use crate::surrogate::interface::FittedSurrogate;

/// The minimum number of pairs (or unpaired rows) of a regression, in excess of its unknowns, for applying it
/// to remainders. With fewer, the surrogates are used alone.
const SPARE: usize = 8;
/// The mean squared value of a remainder, in units of its variance, above which the surrogate's values count
/// as inconsistent with its predictions.
const FAR: f64 = 25.0;
/// The relative size of rounding errors compared with the values of the game; surrogates may compute in
/// single precision.
const ROUNDING: f64 = 1e-5;

/// A solver that applies the estimator R to numbers for the sampled coalitions.
enum Solver<'a> {
    Regression { rows: Rows, unknowns: usize, form: LeastSquaresForm },
    Reuse { sample: &'a Sample, value: &'a Semivalue },
}

/// The use of the surrogates for the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The surrogates are not used. With far fewer rows than unknowns, the minimum-norm regression is more
    /// accurate.
    None,
    /// The surrogates are used alone. With about as many rows as unknowns, the regression amplifies any
    /// remainder.
    Alone,
    /// The surrogates are subtracted before the regression.
    Remainder,
}

/// The rows of a regression: the sample, and ∅ and N if these are rows like others.
struct Rows {
    coalitions: Coalitions,
    weights: Vec<f64>,
    is_paired: bool,
    has_ends: bool,
    free: Vec<f64>,
    times: Option<Vec<u32>>,
}

/// The numbers to which R is applied, for the sampled coalitions and for N, for several outputs. The numbers
/// for ∅ are zero.
struct Targets {
    /// The numbers for the sampled coalitions, rows × k (outputs).
    at_rows: Vec<f64>,
    /// The k numbers for N.
    full: Vec<f64>,
}

/// The result of the estimator R.
struct ResidualEstimate {
    values: Vec<f64>,
    std_errors: Option<Vec<f64>>,
    diagnostics: Diagnostics,
}

impl Rows {
    fn shapley(sample: &Sample) -> Self {
        let (coalitions, strata) = (sample.coalitions().clone(), sample.strata());
        let n = coalitions.players();
        // The weight is the Shapley kernel divided by the inclusion probability; the binomial coefficients
        // cancel.
        let ln_weight = |size: usize| -(((size * (n - size)) as f64 * strata[size].expected).ln());
        Self::new(sample, coalitions, ln_weight, false)
    }

    fn centred(sample: &Sample, form: LeastSquaresForm) -> Self {
        let mut coalitions = sample.coalitions().clone();
        coalitions.push_empty();
        coalitions.push_full();
        let (n, strata) = (coalitions.players(), sample.strata());
        let ln_weight = |size: usize| match size {
            size if size == 0 || size == n => form.ln_weight(n, size),
            size => form.ln_weight(n, size) - strata[size].ln_inclusion(),
        };
        Self::new(sample, coalitions, ln_weight, true)
    }

    fn new(
        sample: &Sample,
        coalitions: Coalitions,
        ln_weight: impl Fn(usize) -> f64,
        has_ends: bool,
    ) -> Self {
        let is_paired = sample.pairing() == Pairing::Paired;
        let step = if is_paired { 2 } else { 1 };
        let rows: Vec<usize> = (0..coalitions.len()).step_by(step).collect();
        let ln_weights: Vec<f64> =
            rows.iter().map(|&row| ln_weight(coalitions.sizes()[row] as usize)).collect();
        let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let multiplicities = sample.multiplicities();
        let times = |row: usize| {
            multiplicities.and_then(|times| times.get(row)).map_or(1.0, |times| f64::from(*times))
        };
        let weights =
            rows.iter().zip(&ln_weights).map(|(&row, ln)| (ln - largest).exp() * times(row)).collect();
        let mut free = free_shares(sample);
        free.resize(rows.len(), 0.0);
        let times = draws_of_units(sample).map(|mut times| {
            times.resize(rows.len(), 0);
            times
        });
        Self { coalitions, weights, is_paired, has_ends, free, times }
    }

    fn solve(&self, form: LeastSquaresForm, targets: &Targets) -> Result<LeastSquares> {
        let outputs = targets.full.len();
        let design = match self.is_paired {
            true => Design::paired(&self.coalitions, &self.weights)?,
            false => Design::new(&self.coalitions, &self.weights)?,
        };
        let mut at_rows = targets.at_rows.clone();
        if self.has_ends {
            at_rows.extend(vec![0.0; outputs]);
            at_rows.extend(&targets.full);
        }
        Ok(match form {
            LeastSquaresForm::Centred { p } => {
                least_squares(&design.centred_at(p)?.with_intercept(), &at_rows, outputs, Constraint::None)?
            }
            _ => least_squares(&design, &at_rows, outputs, Constraint::Sum(&targets.full))?,
        })
    }

    fn certificate(&self, solution: &LeastSquares) -> Result<Certificate, apportion_solvers::SolverError> {
        match &self.times {
            Some(times) => solution.certificate_of_draws(times),
            None => solution.certificate(&self.free),
        }
    }
}

impl Solver<'_> {
    /// Returns how the surrogates are used, given the number of rows and the number of unknowns.
    fn part_of_surrogates(&self) -> Part {
        let (rows, unknowns) = match self {
            Self::Regression { rows, unknowns, .. } => (rows.weights.len(), *unknowns),
            Self::Reuse { sample, .. } => (sample.coalitions().len(), sample.coalitions().players()),
        };
        match rows {
            few if 4 * few < 3 * unknowns => Part::None,
            about_as_many if about_as_many < unknowns + SPARE => Part::Alone,
            _ => Part::Remainder,
        }
    }

    /// Applies R to `targets`, with standard errors.
    fn answer(&self, errors: StandardErrors, targets: &Targets) -> Result<ResidualEstimate> {
        match self {
            Self::Regression { rows, unknowns, form } => {
                let solution = rows.solve(*form, targets)?;
                let is_determined = solution.rank() == Some(*unknowns);
                let certificate = certified(errors, is_determined, || rows.certificate(&solution))?;
                Ok(ResidualEstimate {
                    values: solution.coefficients().to_vec(),
                    diagnostics: Diagnostics {
                        rank: solution.rank(),
                        unknowns: Some(*unknowns),
                        condition_number: Some(solution.condition_number()),
                        residual_sum_of_squares: Some(solution.residual_sum_of_squares().to_vec()),
                        error_distribution: certificate.as_ref().map(ErrorDistribution::of_regression),
                        ..Diagnostics::default()
                    },
                    std_errors: certificate.map(|found| found.variances.into_iter().map(f64::sqrt).collect()),
                })
            }
            Self::Reuse { sample, value } => {
                let joined = value.size_distribution(sample.coalitions().players());
                let weights = SizeWeights::new(&joined, sample);
                let reuse = Reuse { sample, weights, outputs: targets.full.len() };
                let answer = reuse.answer(&targets.at_rows, &targets.full, Adjustment::Linear, errors)?;
                Ok(ResidualEstimate {
                    values: answer.values,
                    std_errors: answer.std_errors,
                    diagnostics: answer.diagnostics,
                })
            }
        }
    }

    /// Returns the residuals of R's linear model, fitted to the `numbers` for one output, for each row,
    /// multiplied by √w.
    fn residuals(&self, numbers: &[f64], full: f64) -> Result<Vec<f64>> {
        let targets = Targets { at_rows: numbers.to_vec(), full: vec![full] };
        match self {
            Self::Regression { rows, form, .. } => {
                let of_rows = rows.solve(*form, &targets)?.residuals();
                Ok(rows
                    .weights
                    .iter()
                    .zip(of_rows)
                    .map(|(weight, residual)| weight.sqrt() * residual)
                    .collect())
            }
            Self::Reuse { sample, value } => {
                let by_size =
                    SizeWeights::new(&value.size_distribution(sample.coalitions().players()), sample)
                        .regression;
                let sizes = sample.coalitions().sizes();
                let weights: Vec<f64> = sizes.iter().map(|&size| by_size[size as usize]).collect();
                let design = Design::new(sample.coalitions(), &weights)?.with_intercept();
                let of_rows = least_squares(&design, numbers, 1, Constraint::None)?.residuals();
                Ok(weights.iter().zip(of_rows).map(|(weight, residual)| weight.sqrt() * residual).collect())
            }
        }
    }
}

/// Returns the factor, from 0 to 1, with which the surrogate's residuals explain most of the game's
/// residuals.
fn share(of_game: &[f64], of_surrogate: &[f64]) -> f64 {
    let square: f64 = of_surrogate.iter().map(|x| x * x).sum();
    let common: f64 = of_game.iter().zip(of_surrogate).map(|(x, y)| x * y).sum();
    let share = common / square;
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

fn of_output(numbers: &[f64], output: usize, outputs: usize) -> Vec<f64> {
    numbers.iter().skip(output).step_by(outputs).copied().collect()
}

fn write_output(numbers: &mut [f64], output: usize, outputs: usize, own: &[f64]) {
    numbers.iter_mut().skip(output).step_by(outputs).zip(own).for_each(|(to, from)| *to = *from);
}

impl ProxyResidual {
    pub(super) fn explain(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        let n = game.players();
        let form = self.value.least_squares();
        let (distribution, pairing) = match form {
            Some(LeastSquaresForm::Centred { p }) => {
                let is_even = p == 0.5;
                (
                    leverage_distribution(n, p, 1..=n - 1)?,
                    if is_even { Pairing::Paired } else { Pairing::Unpaired },
                )
            }
            Some(_) => (SizeDistribution::leverage(n)?, Pairing::Paired),
            None => {
                let weights = SamplingDistribution::Specific.weights(&[self.value.size_distribution(n)], n);
                (SizeDistribution::custom(&weights)?, Pairing::Unpaired)
            }
        };
        let sample = self.draws.sample(distribution, pairing, budget - 2, seed)?;
        let solver = match form {
            Some(form @ LeastSquaresForm::Centred { .. }) => {
                Solver::Regression { rows: Rows::centred(&sample, form), unknowns: n, form }
            }
            Some(form) => Solver::Regression { rows: Rows::shapley(&sample), unknowns: n - 1, form },
            None => Solver::Reuse { sample: &sample, value: &self.value },
        };
        let mut evaluations = Evaluations::begin(game)?;
        let gains = evaluations.gains(sample.coalitions())?;
        let total = evaluations.total();
        let outputs = total.len();
        let folds = Folds::new(&sample, self.folds.max(2), seed);
        let part = solver.part_of_surrogates();
        let (mut subtracted, mut unseen) = (gains.clone(), gains.clone());
        let (mut full, mut added) = (total.clone(), vec![0.0; n * outputs]);
        let mut errors = self.standard_errors;
        for (output, &total) in total.iter().enumerate() {
            let own = of_output(&gains, output, outputs);
            let Some((crossed, share)) = self.listened_to(&solver, &sample, &folds, &own, total, part)?
            else {
                continue;
            };
            let less = |said: &[f64]| -> Vec<f64> {
                own.iter().zip(said).map(|(gain, said)| gain - share * said).collect()
            };
            full[output] -= share * crossed.full;
            if part == Part::Remainder {
                write_output(&mut subtracted, output, outputs, &less(&crossed.subtracted));
                write_output(&mut unseen, output, outputs, &less(&crossed.unseen));
            } else {
                // Apply R to zeros for all coalitions except N, so that it at most divides the remaining sum
                // equally.
                write_output(&mut subtracted, output, outputs, &vec![0.0; own.len()]);
                errors = StandardErrors::Omitted;
                let part = 1.0 / crossed.models.len() as f64;
                for values in crossed.models.iter().map(|model| model.values(&self.value)) {
                    for (player, value) in values.iter().enumerate() {
                        added[player * outputs + output] += part * value;
                    }
                }
            }
        }
        let subtracted = Targets { at_rows: subtracted, full: full.clone() };
        let values = solver.answer(StandardErrors::Omitted, &subtracted)?.values;
        let judged = solver.answer(errors, &Targets { at_rows: unseen, full })?;
        let values = values.iter().zip(&added).map(|(value, added)| value + added).collect();
        let is_complete =
            sample_is_complete(&sample) && sample.multiplicities().is_none() && part != Part::Alone;
        let diagnostics = Diagnostics { exact: is_complete, ..judged.diagnostics };
        if diagnostics
            .error_distribution
            .as_ref()
            .is_some_and(|distribution| !distribution.one_draw.is_empty())
        {
            // Sample reuse has already recorded the properties of its design.
            return Ok(evaluations.explain(self, values, judged.std_errors, seed, diagnostics));
        }
        let mut explanation = evaluations.explain(self, values, judged.std_errors, seed, diagnostics);
        explanation.note_design(&sample);
        Ok(explanation)
    }

    /// Returns the predictions of the surrogates for one output and the factor with which to subtract them,
    /// or `None` if they are not used.
    fn listened_to(
        &self,
        solver: &Solver<'_>,
        sample: &Sample,
        folds: &Folds,
        gains: &[f64],
        total: f64,
        part: Part,
    ) -> Result<Option<(CrossFits, f64)>> {
        let n = sample.coalitions().players();
        if part == Part::None || sample.coalitions().len() < 4 * folds.count {
            return Ok(None);
        }
        let additive = |model: &dyn FittedSurrogate| {
            if part == Part::Alone { vec![0.0; n] } else { model.values(&self.value) }
        };
        let Some(crossed) = cross_fit(&*self.surrogate, sample, folds, gains, [0.0, total], additive) else {
            return Ok(None);
        };
        if part == Part::Alone {
            let is_told = crossed.models.iter().all(|model| {
                let values = model.values(&self.value);
                values.len() == n && values.iter().all(|value| value.is_finite())
            });
            return Ok(is_told.then_some((crossed, 1.0)));
        }
        let remainder = Targets { at_rows: crossed.unseen.clone(), full: vec![crossed.full] };
        let said = solver.answer(StandardErrors::Estimated, &remainder)?;
        let scale = gains.iter().fold(total.abs(), |most: f64, gain| most.max(gain.abs()));
        let squares: f64 = said.values.iter().map(|value| value * value).sum();
        let variances: f64 = said.std_errors.iter().flatten().map(|error| error * error).sum();
        let lies =
            said.std_errors.is_some() && squares > FAR * variances + n as f64 * (ROUNDING * scale).powi(2);
        if lies {
            return Ok(None);
        }
        let of_game = solver.residuals(gains, total)?;
        let of_surrogate = solver.residuals(&crossed.unseen, crossed.full)?;
        let share = share(&of_game, &of_surrogate);
        Ok(Some((crossed, share)))
    }
}
