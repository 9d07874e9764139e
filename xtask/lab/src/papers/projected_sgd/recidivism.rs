//! A model of the COMPAS data, trained here because the paper's model is not published.
//!
//! The model is a ridge-penalized logistic regression of "score Medium or High" on the seven attributes. Each
//! level of a categorical attribute has an indicator. Age and log(1 + priors) are standardized, and their
//! squares are added. Every fifth row is held out.

use anyhow::{Context, Result, bail};
use apportion::{Model, Rows};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use crate::reproduce::datasets::Dataset;

/// Attribute names and, for categorical attributes, their levels, in the order of their codes.
pub(super) const ATTRIBUTES: [(&str, &[&str]); 7] = [
    ("sex", &["female", "male"]),
    (
        "ethnicity",
        &[
            "African-Am",
            "African-American",
            "Arabic",
            "Asian",
            "Caucasian",
            "Hispanic",
            "Native American",
            "Oriental",
            "Other",
        ],
    ),
    ("legal", &["Cond. Release", "Deferred", "Other", "Post Sentence", "Pretrial", "Prob. Violator"]),
    ("custody", &["Jail Inmate", "Parole", "Pretrial", "Prison Inmate", "Probation", "Residential"]),
    ("marital", &["Divorced", "Married", "Separated", "Sign. Other", "Single", "Unknown", "Widowed"]),
    ("age", &[]),
    ("priors", &[]),
];

/// Column index of the age.
pub(super) const AGE: usize = 5;
/// Column index of the number of priors.
pub(super) const PRIORS: usize = 6;

/// Minimum score that counts as predicted recidivism: Medium or High.
const MEDIUM_SCORE: f64 = 1.0;

/// One out of `FOLDS` rows is held out.
const FOLDS: usize = 5;

/// Factor λ of the penalty λ/2 ‖β‖², which applies to all coefficients except the intercept.
const RIDGE: f64 = 1.0;

const MAX_ITERATIONS: usize = 50;

/// Probability of a score Medium or High, as a function of the seven attributes.
#[derive(Debug, Clone)]
pub(super) struct Recidivism {
    /// Mean and standard deviation of age, and of log(1 + priors).
    standard: [(f64, f64); 2],
    /// Coefficients of intercept, indicators and numbers.
    coefficients: Vec<f64>,
}

/// Quality of the model on the held-out rows.
pub(super) struct Quality {
    pub(super) rows: usize,
    pub(super) accuracy: f64,
    /// Accuracy of always predicting the more frequent class of the training rows.
    pub(super) accuracy_of_majority: f64,
    pub(super) log_loss: f64,
    /// Log loss of always predicting the share of Medium or High scores in the training rows.
    pub(super) log_loss_of_share: f64,
}

/// Returns whether a row is held out.
pub(super) fn is_held_out(row: usize) -> bool {
    row % FOLDS == FOLDS - 1
}

impl Recidivism {
    /// Trains the model on four out of five rows.
    pub(super) fn train(data: &Dataset<()>) -> Result<Self> {
        let rows: Vec<usize> = (0..data.rows()).filter(|&row| !is_held_out(row)).collect();
        let standard = [AGE, PRIORS].map(|of| {
            let column = || rows.iter().map(|&row| number(of, data.row(row)[of]));
            let mean = column().sum::<f64>() / rows.len() as f64;
            let variance = column().map(|x| (x - mean).powi(2)).sum::<f64>() / rows.len() as f64;
            (mean, variance.sqrt())
        });
        let untrained = Self { standard, coefficients: Vec::new() };
        let encoded: Vec<Vec<f64>> = rows.iter().map(|&row| untrained.encode(data.row(row))).collect();
        let classes: Vec<f64> = rows.iter().map(|&row| class(data, row)).collect();
        Ok(Self { coefficients: newton(&encoded, &classes)?, ..untrained })
    }

    pub(super) fn probability(&self, row: &[f64]) -> f64 {
        let score: f64 = self.encode(row).iter().zip(&self.coefficients).map(|(x, beta)| x * beta).sum();
        logistic(score)
    }

    pub(super) fn quality(&self, data: &Dataset<()>) -> Quality {
        let (held_out, trained): (Vec<usize>, Vec<usize>) =
            (0..data.rows()).partition(|&row| is_held_out(row));
        let share = trained.iter().map(|&row| class(data, row)).sum::<f64>() / trained.len() as f64;
        let mean = |of: &dyn Fn(usize) -> f64| {
            held_out.iter().map(|&row| of(row)).sum::<f64>() / held_out.len() as f64
        };
        let right = |probability: f64, row: usize| f64::from((probability > 0.5) == (class(data, row) > 0.5));
        let loss = |probability: f64, row: usize| {
            if class(data, row) > 0.5 { -probability.ln() } else { -(1.0 - probability).ln() }
        };
        Quality {
            rows: held_out.len(),
            accuracy: mean(&|row| right(self.probability(data.row(row)), row)),
            accuracy_of_majority: mean(&|row| right(share, row)),
            log_loss: mean(&|row| loss(self.probability(data.row(row)), row)),
            log_loss_of_share: mean(&|row| loss(share, row)),
        }
    }

    /// Encodes a row as 1, the indicators, and each number with its square.
    fn encode(&self, row: &[f64]) -> Vec<f64> {
        let mut encoded = vec![1.0];
        for (&value, (_, levels)) in row.iter().zip(ATTRIBUTES) {
            encoded.extend((0..levels.len()).map(|level| f64::from(value == level as f64)));
        }
        for (of, (mean, deviation)) in [AGE, PRIORS].into_iter().zip(self.standard) {
            let x = (number(of, row[of]) - mean) / deviation;
            encoded.extend([x, x * x]);
        }
        encoded
    }
}

impl Model for Recidivism {
    fn features(&self) -> Option<usize> {
        Some(ATTRIBUTES.len())
    }

    fn predict(
        &self,
        rows: Rows<'_>,
        out: &mut [f64],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        for (value, row) in out.iter_mut().zip(rows.iter()) {
            *value = self.probability(row);
        }
        Ok(())
    }
}

/// Returns the age unchanged, or log(1 + priors) for the number of priors, which is widely spread.
fn number(attribute: usize, value: f64) -> f64 {
    if attribute == PRIORS { value.ln_1p() } else { value }
}

fn class(data: &Dataset<()>, row: usize) -> f64 {
    f64::from(data.target[row] >= MEDIUM_SCORE)
}

fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// Maximizes the penalized likelihood with Newton's method.
fn newton(rows: &[Vec<f64>], classes: &[f64]) -> Result<Vec<f64>> {
    let width = rows.first().map_or(0, Vec::len);
    let mut coefficients = vec![0.0; width];
    for _ in 0..MAX_ITERATIONS {
        let mut hessian = Mat::<f64>::zeros(width, width);
        let mut gradient = Mat::<f64>::zeros(width, 1);
        for (row, class) in rows.iter().zip(classes) {
            let probability = logistic(row.iter().zip(&coefficients).map(|(x, beta)| x * beta).sum());
            let weight = probability * (1.0 - probability);
            for (i, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                gradient[(i, 0)] += (class - probability) * x;
                for (j, y) in row[..=i].iter().enumerate() {
                    hessian[(i, j)] += weight * x * y;
                }
            }
        }
        for (i, coefficient) in coefficients.iter().enumerate().skip(1) {
            gradient[(i, 0)] -= RIDGE * coefficient;
            hessian[(i, i)] += RIDGE;
        }
        let factor = hessian
            .llt(Side::Lower)
            .ok()
            .context("the Hessian of the likelihood is not positive definite")?;
        let step = factor.solve(&gradient);
        coefficients.iter_mut().enumerate().for_each(|(i, coefficient)| *coefficient += step[(i, 0)]);
        if (0..width).all(|i| step[(i, 0)].abs() < 1e-10) {
            return Ok(coefficients);
        }
    }
    bail!("logistic regression did not converge in {MAX_ITERATIONS} iterations")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_answer_the_gradient_of_the_penalized_likelihood_is_zero() {
        let rows: Vec<Vec<f64>> =
            (0..200).map(|k| vec![1.0, (f64::from(k) * 0.7).sin(), (f64::from(k) * 1.3).cos()]).collect();
        let classes: Vec<f64> = (0..200).map(|k| f64::from((k * k) % 7 < 3)).collect();
        let beta = newton(&rows, &classes).unwrap();
        for i in 0..3 {
            let penalty = if i == 0 { 0.0 } else { RIDGE * beta[i] };
            let gradient: f64 = rows
                .iter()
                .zip(&classes)
                .map(|(row, class)| {
                    let score: f64 = row.iter().zip(&beta).map(|(x, b)| x * b).sum();
                    (class - logistic(score)) * row[i]
                })
                .sum();
            assert!((gradient - penalty).abs() < 1e-9, "{i}: {gradient}");
        }
    }

    #[test]
    fn a_row_has_one_indicator_of_each_category() {
        let model = Recidivism { standard: [(30.0, 10.0), (1.0, 1.0)], coefficients: Vec::new() };
        let encoded = model.encode(&[1.0, 4.0, 4.0, 0.0, 6.0, 40.0, 0.0]);
        assert_eq!(encoded.len(), 1 + 2 + 9 + 6 + 6 + 7 + 4);
        assert_eq!(encoded[..31].iter().sum::<f64>(), 6.0);
        assert_eq!(encoded[31..], [1.0, 1.0, -1.0, 1.0]);
    }
}
