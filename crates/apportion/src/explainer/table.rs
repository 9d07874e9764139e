//! Explains all rows of a call as one table, or each row with a surrogate that was learned before.

use std::ops::RangeInclusive;
use std::sync::Arc;

use apportion_estimators::Explanation;
use apportion_games::{Background, GameError, Model, Rows, Shared};
use apportion_surrogates::{LearnedTable, Surrogate, SurrogateError, TableMethod};

use super::{Explainer, NullPlayers};
use crate::budget::Budget;
use crate::error::ExplainError;
use crate::game_explainer::Extent;
use crate::method::Method;
use crate::observer::{CountRows, RunObserver};
use crate::plan::Plan;
use crate::source::Source;
use crate::surrogate_cache::SurrogateCache;

/// The maximum number of rows of a table whose rows are all used to learn surrogates.
const MAX_TABLE_ROWS: usize = 10_000;
/// The number of rows from which the surrogate of a larger table is learned.
const LEARNING_ROWS: usize = 1000;
/// The minimum number of rows per thread in a block of rows that are explained together with a learned
/// surrogate. In smaller blocks, finished rows can be stored earlier; in larger ones, the trees take less
/// time.
const ROWS_PER_THREAD: usize = 4;
/// The maximum number of rows that the model predicts for a block; the minimum size of a block takes
/// precedence.
const MODEL_ROWS_OF_BLOCK: usize = 1 << 16;
/// The maximum number of rows of a block; its minimum size takes precedence.
const MAX_ROWS_OF_BLOCK: usize = 1 << 10;

/// The minimum number of background rows for which [`Method::Auto`] chooses the table method.
const MIN_BACKGROUND: usize = 30;
/// The numbers of features, or of groups that act as players, for which [`Method::Auto`] chooses the table
/// method. With fewer players, all coalitions are enumerated; with more, the regression of each row takes too
/// long.
const PLAYERS: RangeInclusive<usize> = 11..=128;
/// The number of hybrids from which [`Method::Auto`] learns a surrogate, as a multiple of the budget of a
/// row.
const LEARNING_BUDGETS: usize = 5;
/// The maximum number of hybrids from which [`Method::Auto`] learns a surrogate.
const MAX_LEARNING_BUDGET: usize = 60_000;

impl<'a> Explainer<'a> {
    /// Learns a surrogate of the model from hybrids of the rows of a sample, with the budget of this
    /// explainer. Pass it to [`surrogate`](Self::surrogate).
    ///
    /// A few hundred rows suffice for most models; [`Method::Table`] itself learns from 1000 rows if a table
    /// has more than 10,000. The cost is that of explaining the sample with
    /// [`Method::Table`].
    ///
    /// ```
    /// use apportion::{Background, Explainer, Method, Rows};
    ///
    /// let model = |row: &[f64]| (row[0] + row[1] * row[2]).tanh() + row[3] * row[4] - row[5];
    /// let numbers: Vec<f64> = (0..6 * 60).map(|at| f64::from(at * 53 % 97) / 97.0).collect();
    /// let (background, sample) = numbers.split_at(6 * 10);
    /// let explainer = || -> Result<_, apportion::ExplainError> {
    ///     Ok(Explainer::new(&model, Background::rows(background, 6)?).method(Method::Table))
    /// };
    /// let surrogate = explainer()?.learn(Rows::new(sample, 6))?;
    /// let explainer = explainer()?.surrogate(&surrogate);
    /// // The explanation of a row does not depend on the other rows.
    /// let rows = explainer.explain_rows(Rows::new(&sample[..12], 6))?;
    /// assert_eq!(explainer.explain(&sample[6..12])?, rows[1]);
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`explain_rows`](Self::explain_rows) for [`Method::Table`], and
    /// [`SurrogateError::NoRows`](apportion_surrogates::SurrogateError::NoRows) for an empty sample.
    pub fn learn(&self, sample: Rows<'_>) -> Result<Surrogate, ExplainError> {
        let (model, background) = self.source.model_and_background()?;
        self.asked.results(background.columns())?;
        if self.uses_residual() { self.plan_of_residual()? } else { self.plan_of_table()? }.check()?;
        Ok(self.table_method(background).learn(model, sample, background, self.asked.seed)?)
    }

    /// Sets a surrogate of the model for [`Method::Table`], from [`learn`](Self::learn). The explanation of a
    /// row then depends on the row, the seed and the surrogate, not on the other rows. [`Method::Auto`] also
    /// uses the surrogate if it chooses the table method; other methods ignore it.
    ///
    /// The surrogate must belong to the model and the background of this explainer; other surrogates are
    /// rejected when a row is explained.
    pub fn surrogate(mut self, surrogate: impl Into<Shared<'a, Surrogate>>) -> Self {
        self.surrogate = Some(surrogate.into());
        self
    }

    /// Returns whether the rows of a call form one table, so that the values of a row depend on the other
    /// rows: with [`Method::Table`] for Shapley and Banzhaf values, without a [surrogate](Self::surrogate), a
    /// tolerance or weights of the background rows.
    pub fn explains_rows_together(&self) -> bool {
        self.asked.method == Method::Table
            && self.surrogate.is_none()
            && self.asked.until.is_none()
            && !self.uses_residual()
    }

    /// Returns whether the regression of the table method is used.
    pub(super) fn uses_table(&self) -> bool {
        self.asked.method == Method::Table && !self.uses_residual() || self.chooses_table()
    }

    /// Returns whether [`Method::Auto`] chooses the table method: for Shapley and Banzhaf values of a model
    /// without an exact method, with the automatic budget and no tolerance, null players removed, many
    /// equally weighted background rows, and a number of players in [`PLAYERS`].
    fn chooses_table(&self) -> bool {
        let Source::Model(_, background) = &self.source else { return false };
        self.asked.method == Method::Auto
            && self.asked.budget == Budget::Auto
            && self.asked.until.is_none()
            && self.null_players == NullPlayers::TakeOut
            && TableMethod::computes(&self.asked.value)
            && background.len() >= MIN_BACKGROUND
            && self.asked.value.check(background.columns()).is_ok_and(|players| PLAYERS.contains(&players))
            && background.has_equal_weights()
            && self.asked.terms(background.columns()).is_ok_and(|terms| terms.is_none())
    }

    /// Sets which features contain codes of categories, without an order; features beyond the end are
    /// numbers. A surrogate then splits them into sets. The games and the other methods do not depend on this
    /// setting.
    ///
    /// ```
    /// use apportion::{Background, Explainer, Method, Rows};
    ///
    /// // The first feature is one of six categories.
    /// let model = |row: &[f64]| [1.0, -2.0, 0.5, 3.0, -1.0, 0.0][row[0] as usize] * row[1] + row[2];
    /// let rows: Vec<f64> =
    ///     (0..120).flat_map(|at| [f64::from(at % 6), f64::from(at * 7 % 11), f64::from(at % 13)]).collect();
    /// let (background, rows) = rows.split_at(3 * 60);
    /// let explainer = Explainer::new(&model, Background::rows(background, 3)?)
    ///     .method(Method::Table)
    ///     .categorical([true]);
    /// assert_eq!(explainer.explain_rows(Rows::new(rows, 3))?.len(), 60);
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    pub fn categorical(mut self, is_categorical: impl Into<Vec<bool>>) -> Self {
        self.is_categorical = is_categorical.into();
        self
    }

    /// Shares the surrogate that [`Method::Auto`] learns with other explainers of the same model.
    pub fn surrogate_cache(mut self, cache: &SurrogateCache) -> Self {
        self.learned = cache.clone();
        self
    }

    /// Calls `explain` with a surrogate that is learned from hybrids of the background rows, and with whether
    /// the surrogate has to be compared with the model. This is the case for a surrogate from the cache; if
    /// it belongs to a different model or background, a new one is learned.
    pub(super) fn with_own_surrogate<T>(
        &self,
        explain: &mut dyn FnMut(&Surrogate, bool) -> Result<T, ExplainError>,
    ) -> Result<T, ExplainError> {
        let (model, background) = self.source.model_and_background()?;
        let budget = Budget::Auto.model_rows(background.columns(), background.len());
        let seed = self.asked.seed;
        if let Some(surrogate) = self.learned.get(seed, budget, &self.is_categorical) {
            match explain(&surrogate, true) {
                Err(ExplainError::Surrogates(
                    SurrogateError::OtherModel { .. }
                    | SurrogateError::OtherBackground { .. }
                    | SurrogateError::OtherShape { .. },
                )) => {}
                explained => return explained,
            }
        }
        // Do not hold the lock while learning: learning is parallel, and one of its tasks could wait for the
        // lock.
        let of_row = (LEARNING_BUDGETS * budget).min(MAX_LEARNING_BUDGET) / background.len();
        let of_sample = TableMethod::new(of_row.max(TableMethod::MIN_BUDGET))
            .with_categorical(self.is_categorical.clone());
        let surrogate = Arc::new(of_sample.learn(model, background.as_rows(), background, seed)?);
        self.learned.set(seed, budget, &self.is_categorical, Arc::clone(&surrogate));
        // Skip the comparison: predictions of a noisy model differ from those that the surrogate was learned
        // from.
        explain(&surrogate, false)
    }

    /// Explains all rows as one table, or each row with the surrogate if there is one. In a table, the values
    /// of a row depend on all rows, so stored results are used only if the observer has one for each row.
    pub(super) fn explain_by_table(
        &self,
        explicands: Rows<'_>,
        observer: &dyn RunObserver,
    ) -> Result<Vec<Explanation>, ExplainError> {
        let (model, background) = self.source.model_and_background()?;
        if !explicands.is_empty() && explicands.columns() != background.columns() {
            // Reject a wrong width before a surrogate is learned.
            let (actual, expected) = (explicands.columns(), background.columns());
            return Err(GameError::Width { what: "row 0".to_owned(), actual, expected }.into());
        }
        self.asked.results(background.columns())?;
        self.plan_of_table()?.check()?;
        let mut stored: Vec<Option<Explanation>> =
            (0..explicands.len()).map(|row| observer.load_result(row)).collect();
        let method = self.table_method(background);
        let is_missing = stored.iter().any(Option::is_none);
        let seed = self.asked.seed;
        let block = (MODEL_ROWS_OF_BLOCK / method.budget.max(1)).min(MAX_ROWS_OF_BLOCK);
        let (stored, block) = (&mut stored, block.max(ROWS_PER_THREAD * rayon::current_num_threads()));
        let until = match self.asked.extent(background.columns()) {
            Extent::Until(until) => Some(until),
            _ => None,
        };
        let explain = |learned: &LearnedTable<'_, dyn Model + '_>, rows: Rows<'_>| match &until {
            Some(until) => self.explain_table_until(learned, until, rows),
            None => Ok(learned.explain(rows, seed)?),
        };
        let with_surrogate = |surrogate: &Surrogate, stored: &mut Vec<Option<Explanation>>| {
            let learned = method.with_surrogate(surrogate, model, background)?;
            self.explain_blocks(explicands, (stored, block), observer, &|rows| explain(&learned, rows))
        };
        match &self.surrogate {
            Some(surrogate) => with_surrogate(surrogate, stored),
            None if !is_missing => {
                self.explain_blocks(explicands, (stored, block), observer, &|_| Ok(Vec::new()))
            }
            None if self.asked.method == Method::Auto || until.is_some() => {
                self.with_own_surrogate(&mut |surrogate: &Surrogate, is_checked| {
                    let learned = match is_checked {
                        true => method.with_surrogate(surrogate, model, background)?,
                        false => method.with_unchecked_surrogate(surrogate, model, background)?,
                    };
                    self.explain_blocks(explicands, (&mut *stored, block), observer, &|rows| {
                        explain(&learned, rows)
                    })
                })
            }
            None => {
                stored.fill(None);
                if explicands.len() > MAX_TABLE_ROWS {
                    let step = explicands.len() / LEARNING_ROWS;
                    let rows = (0..explicands.len()).step_by(step).take(LEARNING_ROWS);
                    let sample = gathered(explicands, rows);
                    let surrogate = self.learn(Rows::new(&sample, explicands.columns()))?;
                    return with_surrogate(&surrogate, stored);
                }
                let block = explicands.len().max(1);
                self.explain_blocks(explicands, (stored, block), observer, &|rows| {
                    Ok(method.explain(model, rows, background, seed)?)
                })
            }
        }
    }

    /// Explains the rows without a stored result, block by block.
    fn explain_blocks(
        &self,
        explicands: Rows<'_>,
        (stored, block): (&mut [Option<Explanation>], usize),
        observer: &dyn RunObserver,
        explain: &dyn Fn(Rows<'_>) -> Result<Vec<Explanation>, ExplainError>,
    ) -> Result<Vec<Explanation>, ExplainError> {
        let mut explanations = Vec::with_capacity(explicands.len());
        for first in (0..explicands.len()).step_by(block) {
            let rows = first..explicands.len().min(first + block);
            if rows.clone().any(|row| observer.on_row_start(row).is_break()) {
                return Err(GameError::Interrupted { evaluations: 0 }.into());
            }
            let missing: Vec<usize> = rows.clone().filter(|&row| stored[row].is_none()).collect();
            let given = gathered(explicands, missing.iter().copied());
            let found = explain(Rows::new(&given, explicands.columns()))?;
            for (row, mut explanation) in missing.into_iter().zip(found) {
                explanation.value = self.asked.value.concept();
                stored[row] = Some(explanation);
            }
            for row in rows {
                if let Some(explanation) = stored[row].take() {
                    observer.on_row_done(row, &explanation);
                    explanations.push(explanation);
                }
            }
        }
        Ok(explanations)
    }

    /// Explains one row as a table with a single row.
    pub(super) fn explain_by_table_alone(&self, explicand: &[f64]) -> Result<Explanation, ExplainError> {
        let rows = Rows::new(explicand, explicand.len().max(1));
        let found = self.explain_by_table(rows, &CountRows(|| {}))?.pop();
        found.ok_or_else(|| self.no_explicand())
    }

    /// Returns the plan of the table method, with predicted rows converted to evaluations.
    pub(super) fn plan_of_table(&self) -> Result<Plan, ExplainError> {
        let (_, background) = self.source.model_and_background()?;
        let players = background.columns();
        let evaluations = |rows: usize| rows.div_ceil(background.len());
        let most = match self.asked.extent(players) {
            Extent::Until(until) => until.max_evaluations(players),
            _ => evaluations(self.table_method(background).budget),
        };
        let most = Some(most);
        Ok(Plan {
            method: Method::Table,
            min_evaluations: Some(evaluations(TableMethod::MIN_BUDGET)),
            max_evaluations: most,
            budget: most,
            players,
            seconds: None,
            given: most.filter(|_| self.asked.budget != Budget::Auto),
        })
    }

    fn table_method(&self, background: &Background) -> TableMethod {
        TableMethod::new(self.asked.budget.model_rows(background.columns(), background.len()))
            .with_categorical(self.is_categorical.clone())
            .with_value(self.asked.value.clone())
    }
}

/// Returns the values of some rows.
fn gathered(rows: Rows<'_>, chosen: impl Iterator<Item = usize>) -> Vec<f64> {
    chosen.flat_map(|row| rows.row(row)).copied().collect()
}
