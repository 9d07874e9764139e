//! Conditional games with Gaussian features. Their exact values are known, because all conditional
//! expectations of the model have a closed form.

#![allow(dead_code)] // the tests and each example use their own part

use apportion::estimators::exact_of;
use apportion::games::{Coalitions, GameError, GaussianDistribution};
use apportion::{
    Budget, Explainer, Explanation, Game, GameExplainer, Method, Model, Partition, Semivalue, Value,
};

/// Gaussian features, and a model that is neither linear nor additive in them.
///
/// ```text
/// f(x) = Σ_i c_i x_i + Σ_i x_i x_{i+1} / 2 + sin(Σ_i a_i x_i) + exp((x_0 + x_{n−1}) / 3)
/// ```
pub(crate) struct Setting {
    pub(crate) features: usize,
    mean: Vec<f64>,
    covariance: Vec<f64>,
    /// The coefficients c of the formula; `slopes` contains the coefficients a.
    coefficients: Vec<f64>,
    slopes: Vec<f64>,
}

impl Setting {
    pub(crate) fn new(features: usize) -> Self {
        let mean = (0..features).map(|i| (i as f64 * 1.3).sin() / 2.0).collect();
        // Features at distance d have the correlation 0.6^d; their variances differ.
        let scale = |i: usize| 0.7 + 0.6 * ((i * 5) % 7) as f64 / 7.0;
        let entry = |i: usize, j: usize| scale(i) * scale(j) * 0.6_f64.powi(i.abs_diff(j) as i32);
        let covariance = (0..features * features).map(|at| entry(at / features, at % features)).collect();
        let coefficients = (0..features).map(|i| (i as f64 + 0.5).cos()).collect();
        let slopes = (0..features).map(|i| 0.8 * (i as f64 * 2.1).cos()).collect();
        Self { features, mean, covariance, coefficients, slopes }
    }

    pub(crate) fn distribution(&self, draws: usize, seed: u64) -> GaussianDistribution {
        GaussianDistribution::new(&self.mean, &self.covariance, draws, seed).expect("a covariance")
    }

    pub(crate) fn explicand(&self, number: usize) -> Vec<f64> {
        (0..self.features).map(|i| 1.5 * ((number * 17 + i * 7 + 3) as f64 * 0.9).sin()).collect()
    }

    /// Returns the exact values of `explicand`.
    pub(crate) fn truth(&self, explicand: &[f64], value: &Value) -> Vec<f64> {
        let game = Noiseless { setting: self, explicand };
        exact_of(&game, value).expect("a game").values
    }

    /// Returns an explanation with this number of draws per coalition, or in the exact game for `None`.
    /// Returns `None` if the budget is too small.
    fn explain(
        &self,
        asked: &Request,
        explicand: &[f64],
        draws: Option<usize>,
        seed: u64,
    ) -> Option<Explanation> {
        let Some(draws) = draws else {
            return GameExplainer::new()
                .method(asked.method)
                .value(asked.value.clone())
                .budget(asked.budget)
                .seed(seed)
                .explain(&Noiseless { setting: self, explicand })
                .ok();
        };
        let distribution = self.distribution(draws, 10_000 + seed);
        let explainer =
            Explainer::conditional(self, &distribution).method(asked.method).value(asked.value.clone());
        explainer.budget(asked.budget).seed(seed).explain(explicand).ok()
    }

    /// Returns the expected prediction for features with mean `m` and covariance `c`; `None` means a
    /// covariance of zero.
    fn expected(&self, m: &[f64], c: Option<&[f64]>) -> f64 {
        let n = self.features;
        let linear: f64 = self.coefficients.iter().zip(m).map(|(c, m)| c * m).sum();
        let products: f64 = m.windows(2).map(|pair| pair[0] * pair[1] / 2.0).sum();
        let angle: f64 = self.slopes.iter().zip(m).map(|(a, m)| a * m).sum();
        let ends = (m[0] + m[n - 1]) / 3.0;
        let Some(c) = c else { return linear + products + angle.sin() + ends.exp() };
        let common: f64 = (1..n).map(|i| c[(i - 1) * n + i] / 2.0).sum();
        let spread: f64 = (0..n * n).map(|at| self.slopes[at / n] * self.slopes[at % n] * c[at]).sum();
        let spread_of_ends = (c[0] + c[n * n - 1] + 2.0 * c[n - 1]) / 9.0;
        linear + products + common + angle.sin() * (-spread / 2.0).exp() + (ends + spread_of_ends / 2.0).exp()
    }
}

impl Model for Setting {
    fn outputs(&self) -> usize {
        1
    }

    fn predict(
        &self,
        rows: apportion::Rows<'_>,
        out: &mut [f64],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        for (row, out) in rows.iter().zip(out) {
            *out = self.expected(row, None);
        }
        Ok(())
    }
}

/// The method, value and budget to test.
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) value: Value,
    pub(crate) budget: Budget,
}

/// The exact conditional game, by its formulas.
struct Noiseless<'a> {
    setting: &'a Setting,
    explicand: &'a [f64],
}

impl Game for Noiseless<'_> {
    fn players(&self) -> usize {
        self.setting.features
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let n = self.players();
        for (coalition, out) in batch.iter().zip(out) {
            let (mut mean, mut covariance) = (self.setting.mean.clone(), self.setting.covariance.clone());
            // Condition on one feature after the other.
            for known in coalition.members() {
                let variance = covariance[known * n + known];
                let share: Vec<f64> = (0..n).map(|i| covariance[i * n + known] / variance).collect();
                let row = covariance[known * n..(known + 1) * n].to_vec();
                let surprise = self.explicand[known] - mean[known];
                for i in 0..n {
                    mean[i] += share[i] * surprise;
                    (0..n).for_each(|j| covariance[i * n + j] -= share[i] * row[j]);
                }
            }
            *out = self.setting.expected(&mean, Some(&covariance));
        }
        Ok(())
    }
}

/// Returns the mean squared standard error divided by the mean squared error, over seeds, explicands and
/// players; `None` without standard errors.
pub(crate) fn ratio(
    setting: &Setting,
    asked: &Request,
    explicands: usize,
    seeds: u64,
    draws: Option<usize>,
) -> Option<f64> {
    let (mut reported, mut real) = (0.0, 0.0);
    for number in 0..explicands {
        let explicand = setting.explicand(number);
        let truth = setting.truth(&explicand, &asked.value);
        // Normalize the errors, so that every explicand has the same weight.
        let size: f64 = truth.iter().map(|value| value * value).sum();
        for seed in 0..seeds {
            let got = setting.explain(asked, &explicand, draws, 1000 * number as u64 + seed)?;
            let errors = got.std_errors?;
            reported += errors.iter().map(|error| error * error).sum::<f64>() / size;
            real += got.values.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / size;
        }
    }
    Some(reported / real)
}

/// Returns the methods that evaluate the game, each with a value that the method supports. Values that
/// require groups use `groups`.
pub(crate) fn methods(groups: &Partition) -> Vec<(Method, Value)> {
    let values = || [Semivalue::Shapley.into(), Semivalue::Banzhaf.into(), Value::owen(groups.clone())];
    let named = |method: Method| {
        let value = values().into_iter().find(|value| method.computes(value))?;
        Some((method, value))
    };
    Method::all().filter(|&method| !matches!(method, Method::Auto | Method::Tree)).filter_map(named).collect()
}
