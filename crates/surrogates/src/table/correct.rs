//! The values of one row: the exact values of the surrogate, plus the values of the residuals.

use apportion_estimators::{ErrorDistribution, Explanation};
use apportion_games::Background;
use apportion_values::Semivalue;

use super::crossfit::SurrogateValues;
use super::hybrids::Explicand;
use super::players::{Players, RegressionValue};
use super::regression::{Correction, OddResiduals};
use crate::error::Result;

/// The name of the method in explanations.
pub(crate) const METHOD: &str = "table";

/// The factor of the variances if the surrogates of the parts of a row are learned from each other's draws.
/// The errors of the parts are then correlated, which residuals do not show: the mean squared errors of such
/// values were 1.0 to 1.8 times the variances without the factor (example `ratios`).
const CORRELATED_PARTS: f64 = 1.4;

/// The values of one row, with the surrogate and without it.
pub(crate) struct Candidates {
    /// The corrections of all outputs with the surrogate, then without it.
    correction: Correction,
    surrogate: SurrogateValues,
    base: Vec<f64>,
    prediction: Vec<f64>,
    players: Players,
    pairs: usize,
    background_rows: usize,
}

/// The numbers of one explicand.
pub(crate) struct RowOutputs<'a> {
    /// The model's outputs for the hybrids: pairs × 2 × outputs.
    pub(crate) of_hybrids: &'a [f64],
    /// The surrogate's predictions for the hybrids.
    pub(crate) predicted: &'a [f64],
    /// The difference of the surrogate's predictions for the explicand and for the background row of each
    /// pair: pairs × outputs.
    pub(crate) surrogate_sums: &'a [f64],
    /// The model's outputs for the background rows: B × outputs.
    pub(crate) of_background: &'a [f64],
    /// The mean of the model's outputs for the background.
    pub(crate) base: &'a [f64],
    /// The model's outputs for the explicand.
    pub(crate) prediction: &'a [f64],
}

/// Computes the values of a row with the surrogate and without it.
pub(crate) fn candidates(
    explicand: &Explicand<'_>,
    numbers: &RowOutputs<'_>,
    surrogate: SurrogateValues,
    background: &Background,
    value: &RegressionValue,
) -> Result<Candidates> {
    let outputs = numbers.base.len();
    let pairs = explicand.draws.len();
    let mut targets = Vec::with_capacity(pairs * 2 * outputs);
    for pair in 0..pairs {
        let of_pair = |numbers: &[f64], output: usize| {
            let first = pair * 2 * outputs + output;
            0.5 * (numbers[first] - numbers[first + outputs])
        };
        let odd = |output| of_pair(numbers.of_hybrids, output);
        targets.extend((0..outputs).map(|output| odd(output) - of_pair(numbers.predicted, output)));
        targets.extend((0..outputs).map(odd));
    }
    let total = |output: usize| numbers.prediction[output] - numbers.base[output];
    let of_surrogate = |output: usize| surrogate.prediction[output] - surrogate.base[output];
    let sums: Vec<f64> = (0..outputs)
        .map(|output| total(output) - of_surrogate(output))
        .chain((0..outputs).map(total))
        .collect();
    let mut pair_sums = Vec::with_capacity(pairs * 2 * outputs);
    for pair in 0..pairs {
        let row = explicand.draws.background[pair] as usize;
        let total =
            |output: usize| numbers.prediction[output] - numbers.of_background[row * outputs + output];
        let of_surrogate = |output: usize| numbers.surrogate_sums[pair * outputs + output];
        pair_sums.extend((0..outputs).map(|output| total(output) - of_surrogate(output)));
        pair_sums.extend((0..outputs).map(total));
    }
    let weights = weights(explicand, background, value);
    let residuals = OddResiduals {
        draws: &explicand.draws,
        targets: &targets,
        weights: &weights,
        centring: value.centring(explicand.players.len()),
        shares: background.weights(),
        outputs: 2 * outputs,
        sums: &sums,
        pair_sums: &pair_sums,
    };
    let mut correction = residuals.solve()?;
    if explicand.draws.part_starts.len() > 2 {
        for of_player in correction.variances.chunks_exact_mut(2 * outputs) {
            of_player[..outputs].iter_mut().for_each(|variance| *variance *= CORRELATED_PARTS);
        }
    }
    Ok(Candidates {
        correction,
        surrogate,
        base: numbers.base.to_vec(),
        prediction: numbers.prediction.to_vec(),
        players: explicand.players.clone(),
        pairs,
        background_rows: background.len(),
    })
}

/// Returns the weight of each pair: the weight of its size in the regression that defines the value, such as
/// the Shapley kernel `1/(C(n, s) s (n − s))`, divided by the probability of the draw, and multiplied by the
/// weight of the background row.
fn weights(explicand: &Explicand<'_>, background: &Background, value: &RegressionValue) -> Vec<f64> {
    let draws = &explicand.draws;
    let of_class: Vec<f64> = draws
        .strata
        .iter()
        .map(|stratum| {
            // The number of pairs cancels the binomial coefficient, up to a factor 2 for the middle class.
            let middle = if 2 * stratum.size == draws.players { 0.5 } else { 1.0 };
            middle * value.size_weight(stratum.size, draws.players) / stratum.expected
        })
        .collect();
    (0..draws.len())
        .map(|pair| {
            let class = draws.classes[pair] as usize;
            let at = draws.strata.partition_point(|stratum| stratum.size < class);
            of_class[at] * background.weights()[draws.background[pair] as usize]
        })
        .collect()
}

impl Candidates {
    /// Returns the sum of the variances of each output, with the surrogate and without it.
    pub(crate) fn variances(&self) -> (Vec<f64>, Vec<f64>) {
        let outputs = self.base.len();
        let sum = |output: usize| -> f64 {
            self.correction.variances.iter().skip(output).step_by(2 * outputs).sum()
        };
        ((0..outputs).map(sum).collect(), (outputs..2 * outputs).map(sum).collect())
    }

    /// Returns the explanation, with the surrogate for the outputs for which `uses_surrogate` is `true`.
    pub(crate) fn explanation(
        self,
        value: &RegressionValue,
        uses_surrogate: &[bool],
        seed: u64,
    ) -> Explanation {
        let outputs = self.base.len();
        let mut values = vec![0.0; self.surrogate.values.len()];
        let mut std_errors = vec![0.0; values.len()];
        for (output, &uses_surrogate) in uses_surrogate.iter().enumerate() {
            let column = if uses_surrogate { output } else { outputs + output };
            let at = |player: usize| player * 2 * outputs + column;
            let players = self.players.len() as f64;
            let square: f64 =
                (0..self.players.len()).map(|player| self.correction.values[at(player)].powi(2)).sum();
            // Add the allowance for events that the sample missed, as for other regressions.
            let unseen = square / (players * (6.0 * self.correction.left).powi(2));
            for (player, &result) in self.players.results.iter().enumerate() {
                let place = result as usize * outputs + output;
                values[place] = self.correction.values[at(player)];
                std_errors[place] = (self.correction.variances[at(player)] + unseen).sqrt();
            }
            if uses_surrogate {
                for place in (output..values.len()).step_by(outputs) {
                    values[place] += self.surrogate.values[place];
                }
            }
        }
        let column = |output: usize| if uses_surrogate[output] { output } else { outputs + output };
        let model_rows = 2 * self.pairs + 1;
        let costs = (model_rows.div_ceil(self.background_rows), self.background_rows);
        let concept = value.value.concept();
        let mut explanation =
            Explanation::estimate(METHOD, concept, values, (self.base, self.prediction), costs);
        explanation.model_rows = model_rows;
        explanation.std_errors = Some(std_errors);
        explanation.distinct_coalitions = 2 * self.pairs + 2;
        explanation.seed = Some(seed);
        explanation.diagnostics.rank = Some(self.correction.rank);
        explanation.diagnostics.unknowns =
            Some(self.players.len() - usize::from(value.semivalue == Semivalue::Shapley));
        explanation.diagnostics.residual_sum_of_squares =
            Some((0..outputs).map(|output| self.correction.rest[column(output)]).collect());
        explanation.diagnostics.chosen = Some(chosen(uses_surrogate));
        let distribution = ErrorDistribution {
            degrees_of_freedom: self.correction.degrees,
            draws_left: Some(self.correction.left),
            directions: (0..outputs).map(|output| self.correction.directions[column(output)]).collect(),
            is_paired: true,
            ..ErrorDistribution::default()
        };
        explanation.diagnostics.error_distribution = Some(distribution);
        explanation
    }
}

/// Returns the name of the variant, which states whether the surrogate was used for all, no or some outputs.
fn chosen(uses_surrogate: &[bool]) -> String {
    let used: Vec<String> = uses_surrogate
        .iter()
        .enumerate()
        .filter(|(_, used)| **used)
        .map(|(output, _)| output.to_string())
        .collect();
    match used.len() {
        0 => "regression".to_owned(),
        count if count == uses_surrogate.len() => "surrogate".to_owned(),
        _ => format!("surrogate for outputs {}, regression for the others", used.join(", ")),
    }
}
