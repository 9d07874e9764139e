//! What an estimator answers.

use apportion_values::{Attributions, SolutionConcept};
use serde::{Deserialize, Serialize};

use super::certificate::Certificate;
use super::error_law::ErrorLaw;
use super::student::student;

/// The attribution of `v(N) − v(∅)` to the players, with what it cost and how far it can be trusted.
///
/// `n` players, `k` outputs. With one output, `values[i]` is φ_i.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explanation {
    /// Which value was computed.
    pub value: SolutionConcept,
    /// Name of the method that computed it.
    pub method: String,
    /// φ: n × k numbers, row-major, in units of the outputs.
    pub values: Vec<f64>,
    /// v(∅), the value without any player: k numbers.
    pub base: Vec<f64>,
    /// v(N), the value of all players together: k numbers.
    pub prediction: Vec<f64>,
    /// One standard error per entry of `values`, where the method can tell; zero where the value is exact, and nowhere else. What the
    /// sample may not have met is in it.
    pub std_errors: Option<Vec<f64>>,
    /// Evaluations of the game used, v(∅) and v(N) included; 0 for methods that look inside the model.
    pub evaluations: usize,
    /// Different coalitions among them.
    pub distinct_coalitions: usize,
    /// Rows that the model behind the game predicted.
    pub model_rows: usize,
    /// The seed of all draws; none for methods that draw nothing.
    pub seed: Option<u64>,
    /// What the method found out on the way.
    pub diagnostics: Diagnostics,
    /// What is known of the error, and why the run stopped, where an accuracy was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
}

impl Explanation {
    /// Exact values of one explicand, from so many evaluations of different coalitions, of so many model rows each.
    ///
    /// # Panics
    ///
    /// If they are of several rows, or of pairs.
    pub fn exact(method: &str, value: SolutionConcept, found: Attributions, costs: (usize, usize)) -> Self {
        assert!(found.rows() <= 1 && !found.are_of_pairs(), "players of one row, not {:?}", found.axes());
        let zeros = vec![0.0; found.values.len()];
        let ends = (found.base, found.predictions);
        let mut explanation = Self::estimate(method, value, found.values, ends, costs);
        explanation.std_errors = Some(zeros);
        explanation.diagnostics.exact = true;
        explanation
    }

    /// The `values` that a method found for a game that is worth `base` without and `prediction` with all players, from so many evaluations
    /// of different coalitions, of so many model rows each. An estimator of your own sets what else it knows.
    pub fn estimate(
        method: &str,
        value: SolutionConcept,
        values: Vec<f64>,
        (base, prediction): (Vec<f64>, Vec<f64>),
        (evaluations, rows_each): (usize, usize),
    ) -> Self {
        Self {
            value,
            method: method.to_owned(),
            values,
            std_errors: None,
            base,
            prediction,
            evaluations,
            distinct_coalitions: evaluations,
            model_rows: evaluations * rows_each,
            seed: None,
            diagnostics: Diagnostics::default(),
            certificate: None,
        }
    }

    /// The values and the two ends alone, as those of one row.
    ///
    /// # Panics
    ///
    /// If the lengths of values, base and prediction do not fit.
    pub fn attributions(&self) -> Attributions {
        let (base, prediction) = (self.base.clone(), self.prediction.clone());
        Attributions::of_players(self.players(), self.values.clone(), base, prediction)
    }

    /// Number of outputs `k`.
    pub fn outputs(&self) -> usize {
        self.base.len()
    }

    /// Number of players `n`.
    pub fn players(&self) -> usize {
        self.values.len() / self.outputs().max(1)
    }

    /// The values of all players for one output.
    ///
    /// # Panics
    ///
    /// If `output` is not below [`outputs`](Self::outputs).
    pub fn output(&self, output: usize) -> Vec<f64> {
        assert!(output < self.outputs(), "output {output} of {}", self.outputs());
        self.values.iter().skip(output).step_by(self.outputs()).copied().collect()
    }

    /// An interval for each value by itself that holds with the probability `confidence`: n × k of them, as the values; none without
    /// standard errors.
    ///
    /// `φ̃_i ± t_f(1 − δ/2) √V_i` with δ = 1 − confidence, Student's t with the
    /// [degrees of freedom](crate::ErrorLaw::degrees_of_freedom) of the standard errors (the normal law where they are not known).
    /// Asymptotic; of a run that was stopped at an accuracy take the [`certificate`](Self::certificate), which makes up for its looks.
    ///
    /// ```
    /// use apportion_estimators::{Estimator, PermutationShap};
    /// use apportion_games::SumOfUnanimity;
    ///
    /// let game = SumOfUnanimity::random(12, 30, 3, 1);
    /// let explanation = PermutationShap::default().estimate(&game, 500, 0)?;
    /// let (low, high) = explanation.intervals(0.95).unwrap()[0];
    /// assert!(low <= explanation.values[0] && explanation.values[0] <= high);
    /// # Ok::<(), apportion_estimators::EstimatorError>(())
    /// ```
    pub fn intervals(&self, confidence: f64) -> Option<Vec<(f64, f64)>> {
        let degrees = self.diagnostics.error_law.as_ref().map_or(f64::INFINITY, |law| law.degrees_of_freedom);
        let quantile = student(degrees, 1.0 - confidence);
        let interval = |(value, error): (&f64, &f64)| match *error {
            0.0 => (*value, *value),
            error => (value - quantile * error, value + quantile * error),
        };
        Some(self.values.iter().zip(self.std_errors.as_ref()?).map(interval).collect())
    }

    /// The largest `|Σφ + base − prediction|` over the outputs: 0 but for rounding where the method or the value is efficient.
    pub fn efficiency_gap(&self) -> f64 {
        (0..self.outputs())
            .map(|j| (self.output(j).iter().sum::<f64>() + self.base[j] - self.prediction[j]).abs())
            .fold(0.0, f64::max)
    }
}

/// What a method found out on the way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Diagnostics {
    /// Whether the values are exact but for rounding.
    pub exact: bool,
    /// Rank of the regression, an intercept not counted. Where it is below [`unknowns`](Self::unknowns) the answer is the one of least
    /// norm, and there are no standard errors. None, too, where a regression of thousands of players does not tell its rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Unknowns of the regression, an intercept not counted: `n − 1` under `Σφ = v(N) − v(∅)`, else `n`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknowns: Option<usize>,
    /// Condition number of the regression's Gram matrix on its range. Over all coalitions that matrix is a multiple of the identity
    /// (under the constraint: on vectors that sum to zero), so that this is the condition number of `K = (AᵀA)^(−½) ÃᵀÃ (AᵀA)^(−½)` (Kernel
    /// Banzhaf, equation 17). Within 1 %; for more than 2000 players from below, within 10 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_number: Option<f64>,
    /// Weighted residual sum of squares of the regression, per output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual_sum_of_squares: Option<Vec<f64>>,
    /// Permutations walked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permutations: Option<usize>,
    /// Another name of the same estimator, where the method has one for this value and game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// What the method chose among several ways, for methods that do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// Rows that stood for each coalition of a conditional game whose law draws them at random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<usize>,
    /// What is known of the law of the errors beside their sizes, where there are standard errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_law: Option<ErrorLaw>,
    /// Whether nothing varied in the sample, for some output: it saw an additive game, and cannot tell whether there is more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nothing_varied: bool,
}
