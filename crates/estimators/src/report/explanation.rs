//! The result of an estimator.

use apportion_values::{Attributions, SolutionConcept};
use serde::{Deserialize, Serialize};

use super::certificate::Certificate;
use super::error_distribution::ErrorDistribution;
use super::student::student;

/// The attribution of `v(N) − v(∅)` to the players, with its cost and its error estimates.
///
/// There are `n` players and `k` outputs. With one output, `values[i]` is φ_i.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The solution concept that was computed.
    pub value: SolutionConcept,
    /// The name of the method.
    pub method: String,
    /// The values φ: n × k numbers, row-major, in units of the outputs.
    pub values: Vec<f64>,
    /// v(∅), the value of the empty coalition: k numbers.
    pub base: Vec<f64>,
    /// v(N), the value of the coalition of all players: k numbers.
    pub prediction: Vec<f64>,
    /// The standard error of each entry of `values`, if the method estimates them; zero for exact values
    /// only. Standard errors include an allowance for events that the sample may have missed.
    pub std_errors: Option<Vec<f64>>,
    /// The number of evaluations of the game, including v(∅) and v(N); 0 for methods that use the structure
    /// of the model instead.
    pub evaluations: usize,
    /// The number of distinct coalitions among the evaluations.
    pub distinct_coalitions: usize,
    /// The number of rows that the model predicted.
    pub model_rows: usize,
    /// The seed of all draws; `None` for deterministic methods.
    pub seed: Option<u64>,
    /// Diagnostics of the method.
    pub diagnostics: Diagnostics,
    /// The error bound and the reason why the run stopped, if a tolerance was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
}

impl Explanation {
    /// Creates an exact explanation of one game, such as that of one row. `costs` contains the number of
    /// evaluations, all of distinct coalitions, and the number of model rows per evaluation.
    ///
    /// # Panics
    ///
    /// If the attributions have several rows, or are interactions.
    pub fn exact(method: &str, value: SolutionConcept, found: Attributions, costs: (usize, usize)) -> Self {
        assert!(
            found.rows() <= 1 && !found.are_of_pairs(),
            "expected values for the players of one row, got the axes {:?}",
            found.axes()
        );
        let zeros = vec![0.0; found.values.len()];
        let ends = (found.base, found.predictions);
        let mut explanation = Self::estimate(method, value, found.values, ends, costs);
        explanation.std_errors = Some(zeros);
        explanation.diagnostics.exact = true;
        explanation
    }

    /// Creates an explanation from the `values` of a method, where `base` is v(∅) and `prediction` is v(N).
    /// The last argument contains the number of evaluations, all of distinct coalitions, and the number of
    /// model rows per evaluation. Custom estimators can set the other fields afterwards.
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

    /// Returns the values, the base value and the prediction as attributions of one row.
    ///
    /// # Panics
    ///
    /// If the lengths of values, base and prediction do not match.
    pub fn attributions(&self) -> Attributions {
        let (base, prediction) = (self.base.clone(), self.prediction.clone());
        Attributions::for_players(self.players(), self.values.clone(), base, prediction)
    }

    /// Returns the number of outputs `k`.
    pub fn outputs(&self) -> usize {
        self.base.len()
    }

    /// Returns the number of players `n`.
    pub fn players(&self) -> usize {
        self.values.len() / self.outputs().max(1)
    }

    /// Returns the values of all players for one output.
    ///
    /// # Panics
    ///
    /// If `output` is not less than [`outputs`](Self::outputs).
    pub fn output(&self, output: usize) -> Vec<f64> {
        assert!(
            output < self.outputs(),
            "output {output} is out of range: there are {} outputs",
            self.outputs()
        );
        self.values.iter().skip(output).step_by(self.outputs()).copied().collect()
    }

    /// Returns a pointwise confidence interval for each value (n × k, like the values), or `None` without
    /// standard errors.
    ///
    /// The interval is `φ̃_i ± t_f(1 − δ/2) √V_i`, where δ = 1 − confidence. It uses Student's t with the
    /// [degrees of freedom](crate::ErrorDistribution::degrees_of_freedom) of the standard errors, or the
    /// normal distribution if they are unknown. The intervals are asymptotic. For a run that stopped at a
    /// tolerance, use the [`certificate`](Self::certificate), which accounts for its interim checks.
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
        let degrees = self
            .diagnostics
            .error_distribution
            .as_ref()
            .map_or(f64::INFINITY, |distribution| distribution.degrees_of_freedom);
        let quantile = student(degrees, 1.0 - confidence);
        let interval = |(value, error): (&f64, &f64)| match *error {
            0.0 => (*value, *value),
            error => (value - quantile * error, value + quantile * error),
        };
        Some(self.values.iter().zip(self.std_errors.as_ref()?).map(interval).collect())
    }

    /// Returns the maximum of `|Σφ + base − prediction|` over the outputs, which is 0 up to rounding if the
    /// method or the value is efficient.
    pub fn efficiency_gap(&self) -> f64 {
        (0..self.outputs())
            .map(|j| (self.output(j).iter().sum::<f64>() + self.base[j] - self.prediction[j]).abs())
            .fold(0.0, f64::max)
    }
}

/// Diagnostics of a method.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Diagnostics {
    /// Whether the values are exact up to rounding.
    pub exact: bool,
    /// The rank of the regression, not counting an intercept. If it is below [`unknowns`](Self::unknowns),
    /// the result is the minimum-norm solution and has no standard errors. `None` for methods without a
    /// regression, and for regressions with thousands of players, whose rank is not determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// The number of unknowns of the regression, not counting an intercept: `n − 1` under the constraint
    /// `Σφ = v(N) − v(∅)`, otherwise `n`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknowns: Option<usize>,
    /// The condition number of the regression's Gram matrix on its range. For all coalitions, this matrix is
    /// a multiple of the identity (under the constraint: on vectors that sum to zero). The number is
    /// therefore also the condition number of `K = (AᵀA)^(−½) ÃᵀÃ (AᵀA)^(−½)` (Kernel Banzhaf, equation 17),
    /// where A is the matrix of all coalitions and Ã that of the sample. It is accurate to 1%; for more than
    /// 2000 players, it is a lower bound that is accurate to 10%.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_number: Option<f64>,
    /// The weighted residual sum of squares of the regression, one number per output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual_sum_of_squares: Option<Vec<f64>>,
    /// The number of permutations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permutations: Option<usize>,
    /// The name of an equivalent estimator, if there is one for this value and game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The variant that the method chose, if it chooses among several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// The number of rows drawn for each coalition, for conditional games whose distribution is sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<usize>,
    /// The distribution of the errors, if there are standard errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "error_law")]
    pub error_distribution: Option<ErrorDistribution>,
    /// Whether nothing varied in the sample for some output: the game appeared additive, and the sample
    /// cannot exclude interactions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nothing_varied: bool,
}
