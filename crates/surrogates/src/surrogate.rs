//! Surrogates: functions that were learned from a model, with exact values.

use apportion_games::{Background, GameError, Rows};
use apportion_models::Ensemble;
use apportion_trees::{Exact, MarginalTreeExplainer, Settings};
use apportion_values::{Attributions, Value};
use sha2::{Digest, Sha256};

use crate::error::{Result, SurrogateError};
use crate::learner::boosting;
use crate::learner::forest::Forest;
use crate::learner::linear::{Linear, add_sums};
use crate::learner::sizes::boosting_for;

/// The number of rows for which the kernels of the tree engine are chosen, so that the values of a row do not
/// depend on the other rows of a call.
const KERNEL_ROWS: usize = 64;

/// The difference above which two outputs of a model count as different, relative to the largest absolute
/// output for the background rows.
const TOLERANCE: f64 = 1e-6;

/// A linear part counts as exact if the range of its residuals is at most this fraction of the range of the
/// targets.
const EXACT: f64 = 1e-9;

/// The rows and outputs from which a surrogate is learned.
#[derive(Debug, Clone, Copy)]
pub struct LearningRows<'a> {
    /// The rows.
    pub rows: Rows<'a>,
    /// The outputs of the model for these rows: rows × outputs, finite.
    pub targets: &'a [f64],
    /// The number of outputs.
    pub outputs: usize,
    /// Whether each feature contains codes of categories, which have no order. Features beyond the end of
    /// the slice are numbers.
    pub is_categorical: &'a [bool],
}

/// A surrogate of a model: a linear function plus a sum of trees, `g ≈ f`, learned from rows and outputs of
/// f, whose values are exact.
///
/// The linear function is a ridge regression, whose strength is chosen by cross-validation. The trees are
/// learned from its residuals: gradient-boosted with squared loss, on at most 255 bins per feature
/// (quantiles). A missing value (NaN) has a separate direction at each split; codes of categories are split
/// into two sets. Several outputs share their trees. The number of trees is chosen with a validation set, and
/// the maximum size of the forest by the numbers of rows and features. The result depends on the rows, the
/// outputs and the seed only.
///
/// A surrogate belongs to a background and a model: it stores a fingerprint of the background and the outputs
/// of the model for its rows. The [table method](crate::TableMethod) rejects a surrogate that was learned for
/// another background or model.
///
/// On one core, learning 20 trees takes about 0.3 µs per row and feature.
///
/// ```
/// use apportion_surrogates::{Background, LearningRows, Rows, Surrogate};
/// use apportion_values::Semivalue;
///
/// let rows: Vec<f64> =
///     (0..2025).flat_map(|at| [f64::from(at % 45) / 44.0, f64::from(at / 45) / 44.0]).collect();
/// let rows = Rows::new(&rows, 2);
/// let targets: Vec<f64> = rows.iter().map(|row| row[0] + 2.0 * row[1]).collect();
/// let background = Background::baseline([0.0, 0.0])?;
/// let learning = LearningRows { rows, targets: &targets, outputs: 1, is_categorical: &[] };
/// let surrogate = Surrogate::learn(learning, &background, &[0.0], 1)?;
///
/// let explained = surrogate.values(Semivalue::Shapley, &background, Rows::new(&[0.5, 0.5], 2))?;
/// assert!((explained.values[0] - 0.5).abs() < 0.1 && (explained.values[1] - 1.0).abs() < 0.1);
/// # Ok::<(), apportion_surrogates::SurrogateError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Surrogate {
    pub(crate) linear: Linear,
    pub(crate) forest: Forest,
    pub(crate) ensemble: Ensemble,
    /// The fingerprint of the background.
    pub(crate) background: [u8; 32],
    /// The outputs of the model for the background rows: rows × outputs.
    pub(crate) background_outputs: Vec<f64>,
}

/// Surrogates are equal if they predict the same for all rows, and belong to the same background and model.
impl PartialEq for Surrogate {
    fn eq(&self, other: &Self) -> bool {
        self.linear == other.linear
            && self.forest == other.forest
            && self.background == other.background
            && self.background_outputs == other.background_outputs
    }
}

impl Surrogate {
    /// Learns a surrogate from rows and outputs of a model. `background_outputs` are the outputs of the model
    /// for the rows of `background`, rows × outputs.
    ///
    /// # Errors
    ///
    /// [`SurrogateError::NoRows`], [`SurrogateError::Targets`] for a wrong number of outputs,
    /// [`SurrogateError::NotFinite`] for an output that is not finite, [`GameError::Width`] if the background
    /// has another number of columns.
    pub fn learn(
        learning: LearningRows<'_>,
        background: &Background,
        background_outputs: &[f64],
        seed: u64,
    ) -> Result<Self> {
        let LearningRows { rows, targets, outputs, is_categorical } = learning;
        if background.columns() != rows.columns() {
            return Err(GameError::Width {
                what: "background row 0".to_owned(),
                actual: background.columns(),
                expected: rows.columns(),
            }
            .into());
        }
        if rows.is_empty() || outputs == 0 {
            return Err(SurrogateError::NoRows);
        }
        for (targets, count) in [(targets, rows.len()), (background_outputs, background.len())] {
            if targets.len() != count * outputs {
                return Err(SurrogateError::Targets { actual: targets.len(), expected: count * outputs });
            }
            if let Some(at) = targets.iter().position(|target| !target.is_finite()) {
                return Err(SurrogateError::NotFinite {
                    rows: format!("row {}", at / outputs),
                    output: at % outputs,
                    value: targets[at],
                });
            }
        }
        let linear = Linear::fit(rows, targets, outputs, is_categorical);
        let rest = rest(&linear, rows, targets, outputs);
        let boosting = boosting_for(rows.len(), rows.columns());
        let forest = boosting::learn(rows, &rest, outputs, is_categorical, &boosting, seed);
        Ok(Self {
            linear,
            ensemble: forest.ensemble()?,
            forest,
            background: fingerprint(background),
            background_outputs: background_outputs.to_vec(),
        })
    }

    /// Returns the number of features.
    pub fn features(&self) -> usize {
        self.forest.bins.features.len()
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        self.forest.base.len()
    }

    /// Returns the trees, without the linear part.
    pub fn trees(&self) -> &Ensemble {
        &self.ensemble
    }

    /// Returns the predictions for rows: rows × outputs.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`] for a wrong number of columns.
    pub fn predict(&self, rows: Rows<'_>) -> Result<Vec<f64>> {
        if rows.columns() != self.features() {
            let (actual, expected) = (rows.columns(), self.features());
            return Err(GameError::Width { what: "row 0".to_owned(), actual, expected }.into());
        }
        Ok(self.predictions(rows))
    }

    fn predictions(&self, rows: Rows<'_>) -> Vec<f64> {
        let mut out = vec![0.0; rows.len() * self.outputs()];
        self.forest.predict(&self.forest.bins.bins(rows), &mut out);
        self.linear.add(rows, &mut out);
        out
    }

    /// Returns the predictions for a row with the right number of columns.
    pub(crate) fn predict_row(&self, row: &[f64]) -> Vec<f64> {
        self.predictions(Rows::new(row, self.features()))
    }

    /// Returns the explainer of the trees with a background.
    ///
    /// # Errors
    ///
    /// [`SurrogateError::OtherBackground`] if the surrogate was learned with another background.
    pub(crate) fn tree_explainer(&self, background: &Background) -> Result<MarginalTreeExplainer<'_>> {
        let actual = fingerprint(background);
        if actual != self.background {
            let digits = |hash: &[u8; 32]| hash[..4].iter().map(|byte| format!("{byte:02x}")).collect();
            return Err(SurrogateError::OtherBackground {
                actual: digits(&actual),
                expected: digits(&self.background),
            });
        }
        let tree_explainer =
            MarginalTreeExplainer::new(&self.ensemble, background.as_rows(), Some(background.weights()))?;
        Ok(tree_explainer.with_settings(Settings::default().with_rows(KERNEL_ROWS)))
    }

    /// Returns the exact values of the surrogate's marginal game, for any value of features or groups.
    ///
    /// # Errors
    ///
    /// [`SurrogateError::OtherBackground`] if the surrogate was learned with another background, and the
    /// errors of the [tree explainer](Exact::values_of).
    pub fn values(
        &self,
        value: impl Into<Value>,
        background: &Background,
        rows: Rows<'_>,
    ) -> Result<Attributions> {
        let value = value.into();
        let mut found = self.tree_explainer(background)?.values_of(&value, rows)?;
        self.add_linear(&value, background, rows, &mut found);
        Ok(found)
    }

    /// Adds the values of the linear part. For a sum of functions of single features, every solution concept
    /// attributes to a feature its function, minus the mean of this function over the background.
    pub(crate) fn add_linear(
        &self,
        value: &Value,
        background: &Background,
        rows: Rows<'_>,
        found: &mut Attributions,
    ) {
        let (features, outputs) = (self.features(), self.outputs());
        let mut means = vec![0.0; features * outputs];
        let mut summands = vec![0.0; features * outputs];
        for (row, weight) in background.as_rows().iter().zip(background.weights()) {
            self.linear.summands(row, &mut summands);
            means.iter_mut().zip(&summands).for_each(|(mean, summand)| *mean += weight * summand);
        }
        add_sums(&means, &mut found.base);
        let players = match value {
            Value::Quotient(_, partition) => partition.len(),
            _ => features,
        };
        let predictions = found.predictions.chunks_exact_mut(outputs);
        let places = found.values.chunks_exact_mut(players * outputs).zip(predictions);
        for (row, (values, prediction)) in rows.iter().zip(places) {
            self.linear.summands(row, &mut summands);
            add_sums(&summands, prediction);
            summands.iter_mut().zip(&means).for_each(|(summand, mean)| *summand -= mean);
            match value {
                Value::Quotient(_, partition) => {
                    for (group, values) in partition.groups().iter().zip(values.chunks_exact_mut(outputs)) {
                        for &feature in group {
                            add_sums(&summands[feature * outputs..][..outputs], values);
                        }
                    }
                }
                _ => values.iter_mut().zip(&summands).for_each(|(value, summand)| *value += summand),
            }
        }
    }

    /// Checks that a model with these outputs for the first background rows is the model from which the
    /// surrogate was learned.
    pub(crate) fn check_model(&self, outputs: &[f64]) -> Result<()> {
        let scale = self.background_outputs.iter().fold(0.0f64, |scale, output| scale.max(output.abs()));
        let differs = |(actual, expected): (&f64, &f64)| (actual - expected).abs() > TOLERANCE * scale;
        match outputs.iter().zip(&self.background_outputs).position(differs) {
            None => Ok(()),
            Some(at) => Err(SurrogateError::OtherModel {
                row: at / self.outputs(),
                output: at % self.outputs(),
                actual: outputs[at],
                expected: self.background_outputs[at],
            }),
        }
    }
}

/// Returns the residuals of the linear part. If they are constant up to rounding for an output, they are
/// replaced with the middle of their range.
fn rest(linear: &Linear, rows: Rows<'_>, targets: &[f64], outputs: usize) -> Vec<f64> {
    let mut rest = vec![0.0; targets.len()];
    linear.add(rows, &mut rest);
    rest.iter_mut().zip(targets).for_each(|(rest, target)| *rest = target - *rest);
    for output in 0..outputs {
        let range = |numbers: &[f64]| {
            let column = numbers.iter().skip(output).step_by(outputs);
            column.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &number| {
                (low.min(number), high.max(number))
            })
        };
        let ((low, high), (lowest, highest)) = (range(&rest), range(targets));
        if high - low <= EXACT * (highest - lowest) {
            rest.iter_mut().skip(output).step_by(outputs).for_each(|rest| *rest = 0.5 * (low + high));
        }
    }
    rest
}

/// Returns the SHA-256 of the number of columns, the rows and the weights of a background. All missing values
/// are equal.
pub(crate) fn fingerprint(background: &Background) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"apportion background 1");
    hash.update((background.columns() as u64).to_le_bytes());
    hash.update((background.len() as u64).to_le_bytes());
    for number in background.as_rows().values().iter().chain(background.weights()) {
        let number = if number.is_nan() { f64::NAN } else { *number };
        hash.update(number.to_bits().to_le_bytes());
    }
    hash.finalize().into()
}
