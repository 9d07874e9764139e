//! The table method.

use std::collections::HashMap;

use apportion_estimators::Explanation;
use apportion_games::{Background, GameError, Model, Purpose, Rows, memory, parallel, stream};
use apportion_values::{Semivalue, Value};
use rand::Rng;

use super::correct::{Candidates, RowOutputs, candidates};
use super::crossfit::{ModelOutputs, Parts, exact_values, learn, predict_hybrids, sums_of_pairs};
use super::draws::Allocation;
use super::enumerated::enumerated;
use super::hybrids::{CheckedModel, Explicand};
use super::players::{Players, RegressionValue};
use super::prepared::Prepared;
use super::rows::{distinct_rows, seed_of};
use crate::error::{Result, SurrogateError};
use crate::surrogate::Surrogate;

/// The minimum number of distinct rows for dividing the rows into two folds. With fewer rows, the pairs of
/// each row are divided instead.
const MANY_ROWS: usize = 20;
/// The minimum number of combinations of a row and a background row for learning a surrogate. With fewer, it
/// would be learned from almost the same hybrids that it predicts, and improve nothing.
const MIN_COMBINATIONS: usize = 4;
/// The maximum number of players whose coalitions are enumerated.
const MAX_ENUMERATED: usize = 20;
/// The stream of the draws from which a surrogate is learned in advance.
const LEARNING: u64 = (1 << 48) - 1;

/// Shapley or Banzhaf values of the rows of a table, from few predictions of the model.
///
/// ```text
/// φ(f) = φ(g) + φ(f − g)
/// ```
///
/// A surrogate g of the model f, a linear function plus boosted trees, is learned from *hybrids*, rows that
/// mix features of an explicand and of a background row. Its values φ(g) are exact. The values of f − g are
/// estimated by a regression on the residuals of hybrids from which g was not learned, so that a poor
/// surrogate costs accuracy, but the values converge to those of f.
///
/// Both hybrids of a pair take features from the same background row. With up to 64 features that differ
/// from the background, the regression has separate coefficients for each background row. They are shrunk
/// towards their mean, and their mean towards 0, as far as the residuals suggest. This adds some bias, which
/// the standard errors include.
///
/// If the values without the surrogate have smaller standard errors over all rows, they are returned instead;
/// [`chosen`](apportion_estimators::Diagnostics::chosen) is then `regression`.
///
/// With 20 or more distinct rows that are not enumerated, the rows are divided into two folds, and each fold
/// is corrected with a surrogate from the other one; with fewer rows, the pairs of each row are divided
/// instead. With at most three combinations of such a row and a background row, there is no surrogate. Values
/// therefore depend on the whole table. With a surrogate that was [learned](Self::learn) before, the values
/// of a row depend on the row, the seed and the surrogate only. Results do not depend on the number of
/// threads.
///
/// The budget counts rows that the model predicts for one explicand. The background rows are predicted once
/// for all explicands. If the budget suffices for all coalitions with all background rows, the values are
/// exact.
///
/// ```
/// use apportion_surrogates::{Background, Rows, TableMethod};
///
/// let model = |row: &[f64]| row[0] * row[1] + row[2];
/// let background = Background::rows([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], 3)?;
/// let rows = Rows::new(&[2.0, 3.0, 1.0], 3);
/// let explanations = TableMethod::new(16).explain(&model, rows, &background, 0)?;
/// // With 2³ coalitions and two background rows, 16 rows are exact.
/// assert!(explanations[0].diagnostics.exact);
/// assert!((explanations[0].values[2] - 0.5).abs() < 1e-12);
/// # Ok::<(), apportion_surrogates::SurrogateError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TableMethod {
    /// The number of rows that the model predicts for each explicand.
    pub budget: usize,
    /// The maximum number of hybrids from which a surrogate is learned.
    pub max_learning_rows: usize,
    /// Whether each feature contains codes of categories, which have no order. Features beyond the end are
    /// numbers.
    pub is_categorical: Vec<bool>,
    /// The value: Shapley or Banzhaf values of features, or of groups that act as players.
    pub value: Value,
}

impl TableMethod {
    /// The minimum budget: two pairs of coalitions, and the explicand.
    pub const MIN_BUDGET: usize = 5;

    /// Creates the method with a budget of rows per explicand.
    pub fn new(budget: usize) -> Self {
        Self {
            budget,
            max_learning_rows: 60_000,
            is_categorical: Vec::new(),
            value: Semivalue::Shapley.into(),
        }
    }

    /// Sets the maximum number of hybrids from which a surrogate is learned.
    #[must_use]
    pub fn with_max_learning_rows(self, max_learning_rows: usize) -> Self {
        Self { max_learning_rows, ..self }
    }

    /// Sets which features contain codes of categories.
    #[must_use]
    pub fn with_categorical(self, is_categorical: Vec<bool>) -> Self {
        Self { is_categorical, ..self }
    }

    /// Sets the value: Shapley values (the default) or Banzhaf values of features, or of groups that act as
    /// players ([`Value::quotient`]).
    #[must_use]
    pub fn with_value(self, value: impl Into<Value>) -> Self {
        Self { value: value.into(), ..self }
    }

    /// Returns whether the method computes a value.
    pub fn computes(value: &Value) -> bool {
        RegressionValue::new(value).is_ok()
    }

    /// Returns the values of all rows of a table.
    ///
    /// # Errors
    ///
    /// [`SurrogateError::Budget`] below [`MIN_BUDGET`](Self::MIN_BUDGET); [`SurrogateError::Unsupported`] for
    /// another value; [`SurrogateError::Weights`] for a
    /// background whose rows have different weights; [`GameError::Width`] if the numbers of columns differ;
    /// [`SurrogateError::Prediction`] and [`SurrogateError::NotFinite`] if the model fails or returns a
    /// number that is not finite; [`SurrogateError::Memory`].
    pub fn explain<M: Model + ?Sized>(
        &self,
        model: &M,
        rows: Rows<'_>,
        background: &Background,
        seed: u64,
    ) -> Result<Vec<Explanation>> {
        let checked = self.check(model, rows, background)?;
        check_weights(background)?;
        self.run(&checked, rows, background, seed, None)
    }

    /// Learns a surrogate of a model from hybrids of the rows of a sample.
    ///
    /// # Errors
    ///
    /// Same as [`explain`](Self::explain), but background rows may have any weights; also
    /// [`SurrogateError::NoRows`] for an empty sample.
    pub fn learn<M: Model + ?Sized>(
        &self,
        model: &M,
        sample: Rows<'_>,
        background: &Background,
        seed: u64,
    ) -> Result<Surrogate> {
        let checked = self.check(model, sample, background)?;
        if sample.is_empty() {
            return Err(SurrogateError::NoRows);
        }
        let (distinct, _) = distinct_rows(sample);
        // Use other draws than for rows that are explained with the surrogate later.
        let draws = stream(seed, Purpose::Parts, LEARNING).next_u64();
        let value = RegressionValue::new(&Semivalue::Shapley.into())?;
        let explicands = self.explicands(&distinct, sample, background, &value, &|_| 1, draws);
        let outputs = Evaluated::new(&checked, &explicands, background, None)?;
        let parts = parts_of(&explicands, 1, &|_, _| 0);
        let mut learned = learn(
            &explicands,
            &outputs.view(background),
            &parts,
            &self.is_categorical,
            self.max_learning_rows,
            seed,
        )?;
        learned.pop().ok_or(SurrogateError::NoRows)
    }

    pub(super) fn check<'a, M: Model + ?Sized>(
        &self,
        model: &'a M,
        rows: Rows<'_>,
        background: &Background,
    ) -> Result<CheckedModel<'a, M>> {
        self.check_budget()?;
        if rows.columns() != background.columns() {
            let (actual, expected) = (rows.columns(), background.columns());
            return Err(GameError::Width { what: "row 0".to_owned(), actual, expected }.into());
        }
        CheckedModel::new(model, background.columns())
    }

    pub(super) fn check_budget(&self) -> Result<()> {
        match self.budget < Self::MIN_BUDGET {
            true => Err(SurrogateError::Budget { budget: self.budget, min: Self::MIN_BUDGET }),
            false => Ok(()),
        }
    }

    /// Returns whether a row with this number of players is enumerated.
    fn is_enumerated(&self, players: usize, background: usize) -> bool {
        players < 2 || players <= MAX_ENUMERATED && (1 << players) * background <= self.budget
    }

    /// Draws the pairs of all distinct rows that are not enumerated. `parts` returns the number of parts of a
    /// row, given the number of rows.
    fn explicands<'a>(
        &self,
        distinct: &[usize],
        rows: Rows<'a>,
        background: &Background,
        value: &RegressionValue,
        parts: &dyn Fn(usize) -> usize,
        seed: u64,
    ) -> Vec<Explicand<'a>> {
        let sampled: Vec<(usize, Players)> = distinct
            .iter()
            .map(|&index| (index, value.players(rows.row(index), background)))
            .filter(|(_, players)| !self.is_enumerated(players.len(), background.len()))
            .collect();
        let parts = parts(sampled.len());
        let pairs = (self.budget - 1) / 2;
        parallel::map(sampled, |(index, players)| {
            let row = rows.row(index);
            // The parts are taken from one sample, so that they have no pair in common.
            let allocation = Allocation::new(&value.semivalue, players.len(), background.len(), pairs);
            let mut draws = allocation.draw(seed_of(row, seed));
            draws.divide(parts);
            Explicand { index, row, players, draws }
        })
    }

    /// Explains rows with `learned`: a surrogate that was learned before, and the outputs of the model for
    /// the background rows. If it is `None`, explains the rows as a table.
    pub(super) fn run<M: Model + ?Sized>(
        &self,
        checked: &CheckedModel<'_, M>,
        rows: Rows<'_>,
        background: &Background,
        seed: u64,
        learned: Option<(&Prepared<'_>, &[f64])>,
    ) -> Result<Vec<Explanation>> {
        let value = &RegressionValue::new(&self.value)?;
        value.value.check(background.columns())?;
        let (surrogate, of_background) = learned.unzip();
        let (distinct, of_row) = distinct_rows(rows);
        // If there are few rows, the pairs of each row are divided into two parts.
        let in_pairs = |count: usize| {
            surrogate.is_none() && count < MANY_ROWS && count * background.len() >= MIN_COMBINATIONS
        };
        let parts = |count: usize| if in_pairs(count) { 2 } else { 1 };
        let explicands = self.explicands(&distinct, rows, background, value, &parts, seed);
        memory::check(
            memory::product([explicands.len(), self.budget, checked.outputs, 24]),
            || format!("the outputs for {} rows per explicand", self.budget),
            "explain fewer rows at once, or use a smaller budget",
        )?;
        let mut found: HashMap<usize, Explanation> = HashMap::new();
        if !explicands.is_empty() {
            let outputs = Evaluated::new(checked, &explicands, background, of_background)?;
            let view = outputs.view(background);
            let is_in_pairs = in_pairs(explicands.len());
            let has_surrogate = is_in_pairs || surrogate.is_some() || explicands.len() >= MANY_ROWS;
            let (owned, prepared, parts);
            let surrogates: &[Prepared<'_>] = match surrogate {
                Some(surrogate) => {
                    parts = parts_of(&explicands, 1, &|_, _| 0);
                    std::slice::from_ref(surrogate)
                }
                None if !has_surrogate => {
                    parts = Parts::default();
                    &[]
                }
                None => {
                    let forest = |row: usize, part: usize| if is_in_pairs { part } else { row % 2 };
                    parts = parts_of(&explicands, 2, &forest);
                    let most = self.max_learning_rows;
                    owned = learn(&explicands, &view, &parts, &self.is_categorical, most, seed)?;
                    prepared = parallel::try_map(&owned, |learned| Prepared::new(learned, background))?;
                    &prepared
                }
            };
            let corrected = correct(&explicands, &view, &parts, surrogates, value)?;
            let pooled = match surrogate {
                Some(_) => None,
                None if has_surrogate => Some(choose(corrected.iter())),
                None => Some(vec![false; checked.outputs]),
            };
            for (explicand, candidates) in explicands.iter().zip(corrected) {
                let uses = pooled.clone().unwrap_or_else(|| choose(std::iter::once(&candidates)));
                found.insert(explicand.index, candidates.explanation(value, &uses, seed));
            }
        }
        for &index in &distinct {
            if let std::collections::hash_map::Entry::Vacant(place) = found.entry(index) {
                place.insert(enumerated(checked.model, rows.row(index), background, value)?);
            }
        }
        Ok(of_row.iter().filter_map(|index| found.get(index).cloned()).collect())
    }
}

/// Checks that all background rows have the same weight.
pub(super) fn check_weights(background: &Background) -> Result<()> {
    let weights = background.weights();
    let mean = 1.0 / weights.len() as f64;
    match weights.iter().position(|weight| (weight - mean).abs() > 1e-9 * mean) {
        Some(row) => Err(SurrogateError::Weights { row, actual: weights[row], expected: mean }),
        None => Ok(()),
    }
}

/// The outputs of the model for background, explicands and hybrids.
struct Evaluated {
    outputs: usize,
    of_background: Vec<f64>,
    of_explicands: Vec<f64>,
    of_hybrids: Vec<Vec<f64>>,
}

impl Evaluated {
    fn new<M: Model + ?Sized>(
        model: &CheckedModel<'_, M>,
        explicands: &[Explicand<'_>],
        background: &Background,
        of_background: Option<&[f64]>,
    ) -> Result<Self> {
        let rows: Vec<f64> = explicands.iter().flat_map(|explicand| explicand.row).copied().collect();
        Ok(Self {
            outputs: model.outputs,
            of_background: match of_background {
                Some(known) => known.to_vec(),
                None => model.predict(background.as_rows(), "background row")?,
            },
            of_explicands: model.predict(Rows::new(&rows, background.columns()), "row")?,
            of_hybrids: model.predict_hybrids(explicands, background)?,
        })
    }

    fn view<'a>(&'a self, background: &'a Background) -> ModelOutputs<'a> {
        ModelOutputs {
            background,
            of_background: &self.of_background,
            of_explicands: &self.of_explicands,
            of_hybrids: &self.of_hybrids,
            outputs: self.outputs,
        }
    }
}

/// Assigns forests to the parts of the explicands. `forest_of` takes an explicand and a part.
fn parts_of(
    explicands: &[Explicand<'_>],
    forests: usize,
    forest_of: &dyn Fn(usize, usize) -> usize,
) -> Parts {
    let starts: Vec<Vec<usize>> =
        explicands.iter().map(|explicand| explicand.draws.part_starts.clone()).collect();
    let of_explicand =
        |(at, starts): (usize, &Vec<usize>)| (0..starts.len() - 1).map(|part| forest_of(at, part)).collect();
    Parts { forests, forest_of: starts.iter().enumerate().map(of_explicand).collect(), starts }
}

/// Computes the values of all explicands, with and without the surrogates.
fn correct(
    explicands: &[Explicand<'_>],
    outputs: &ModelOutputs<'_>,
    parts: &Parts,
    surrogates: &[Prepared<'_>],
    value: &RegressionValue,
) -> Result<Vec<Candidates>> {
    let background = outputs.background;
    let exact =
        exact_values(explicands, parts, (surrogates, outputs.outputs), background.columns(), &value.value)?;
    let mut base = vec![0.0; outputs.outputs];
    for (row, weight) in outputs.of_background.chunks_exact(outputs.outputs).zip(background.weights()) {
        base.iter_mut().zip(row).for_each(|(base, value)| *base += weight * value);
    }
    parallel::try_map(exact.into_iter().enumerate(), |(at, exact)| {
        let surrogates = (surrogates, outputs.outputs);
        let predicted = predict_hybrids(&explicands[at], parts.of(at), surrogates);
        let surrogate_sums = sums_of_pairs(&explicands[at], parts.of(at), surrogates);
        let numbers = RowOutputs {
            of_hybrids: &outputs.of_hybrids[at],
            predicted: &predicted,
            surrogate_sums: &surrogate_sums,
            of_background: outputs.of_background,
            base: &base,
            prediction: &outputs.of_explicands[at * outputs.outputs..][..outputs.outputs],
        };
        candidates(&explicands[at], &numbers, exact, background, value)
    })
}

/// Returns for each output whether the surrogate has smaller variances, over all rows.
fn choose<'a>(rows: impl Iterator<Item = &'a Candidates>) -> Vec<bool> {
    let mut sums: Vec<(f64, f64)> = Vec::new();
    for (with, without) in rows.map(Candidates::variances) {
        sums.resize(with.len(), (0.0, 0.0));
        for (sum, own) in sums.iter_mut().zip(with.into_iter().zip(without)) {
            *sum = (sum.0 + own.0, sum.1 + own.1);
        }
    }
    sums.into_iter().map(|(with, without)| with <= without).collect()
}
