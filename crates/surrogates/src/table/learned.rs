//! The table method with a surrogate that was learned before.

use apportion_estimators::Explanation;
use apportion_games::{Background, GameError, Model, Rows};

use super::hybrids::CheckedModel;
use super::method::{TableMethod, check_weights};
use super::prepared::Prepared;
use crate::error::Result;
use crate::surrogate::Surrogate;

/// The table method with a surrogate, from [`TableMethod::with_surrogate`]: the values of a row depend on the
/// row, the seed and the surrogate, not on the other rows.
///
/// ```
/// use apportion_surrogates::{Background, Rows, TableMethod};
///
/// let model = |row: &[f64]| (row[0] + row[1] * row[2]).tanh() + row[3] * row[4] - row[5];
/// let numbers: Vec<f64> = (0..6 * 60).map(|at| f64::from(at * 53 % 97) / 97.0).collect();
/// let background = Background::rows(numbers[..6 * 30].to_vec(), 6)?;
/// let method = TableMethod::new(200);
/// // The background rows may also be the sample.
/// let surrogate = method.learn(&model, background.as_rows(), &background, 1)?;
/// let learned = method.with_surrogate(&surrogate, &model, &background)?;
/// let explanations = learned.explain(Rows::new(&numbers[6 * 30..], 6), 1)?;
/// assert_eq!(learned.explain(Rows::new(&numbers[6 * 31..6 * 32], 6), 1)?[0], explanations[1]);
/// # Ok::<(), apportion_surrogates::SurrogateError>(())
/// ```
pub struct LearnedTable<'a, M: Model + ?Sized> {
    method: TableMethod,
    model: CheckedModel<'a, M>,
    background: &'a Background,
    surrogate: Prepared<'a>,
    /// The outputs of the model for the background rows: B × outputs.
    of_background: Vec<f64>,
}

impl TableMethod {
    /// Prepares a surrogate that was learned before, to explain rows with it. The values of a row then do not
    /// depend on the other rows.
    ///
    /// # Errors
    ///
    /// The errors of [`explain`](Self::explain);
    /// [`OtherBackground`](crate::SurrogateError::OtherBackground),
    /// [`OtherModel`](crate::SurrogateError::OtherModel) and
    /// [`OtherShape`](crate::SurrogateError::OtherShape) if the surrogate was learned for another background
    /// or from another model.
    pub fn with_surrogate<'a, M: Model + ?Sized>(
        &self,
        surrogate: &'a Surrogate,
        model: &'a M,
        background: &'a Background,
    ) -> Result<LearnedTable<'a, M>> {
        let learned = self.with_unchecked_surrogate(surrogate, model, background)?;
        learned.check_model()?;
        Ok(learned)
    }

    /// Prepares a surrogate like [`with_surrogate`](Self::with_surrogate), but does not check that it was
    /// learned from this model. A surrogate of another model costs accuracy, but the values converge to those
    /// of `model`. Use it for a model with noise, whose predictions differ from call to call.
    ///
    /// # Errors
    ///
    /// Same as [`with_surrogate`](Self::with_surrogate), except
    /// [`OtherModel`](crate::SurrogateError::OtherModel).
    pub fn with_unchecked_surrogate<'a, M: Model + ?Sized>(
        &self,
        surrogate: &'a Surrogate,
        model: &'a M,
        background: &'a Background,
    ) -> Result<LearnedTable<'a, M>> {
        let checked = self.check(model, background.as_rows(), background)?;
        check_weights(background)?;
        LearnedTable::new(self.clone(), surrogate, checked, background)
    }
}

impl<'a, M: Model + ?Sized> LearnedTable<'a, M> {
    fn new(
        method: TableMethod,
        surrogate: &'a Surrogate,
        model: CheckedModel<'a, M>,
        background: &'a Background,
    ) -> Result<Self> {
        let (prepared, of_background) = Prepared::for_model(surrogate, &model, background)?;
        Ok(Self { method, model, background, surrogate: prepared, of_background })
    }

    fn check_model(&self) -> Result<()> {
        self.surrogate.surrogate.check_model(&self.of_background)
    }

    /// Returns the values of rows.
    ///
    /// # Errors
    ///
    /// Same as [`TableMethod::explain`].
    pub fn explain(&self, rows: Rows<'_>, seed: u64) -> Result<Vec<Explanation>> {
        self.explain_with_budget(rows, self.method.budget, seed)
    }

    /// Returns the values of rows with another budget: the number of rows that the model predicts for each of
    /// them.
    ///
    /// # Errors
    ///
    /// Same as [`explain`](Self::explain).
    pub fn explain_with_budget(&self, rows: Rows<'_>, budget: usize, seed: u64) -> Result<Vec<Explanation>> {
        if rows.columns() != self.background.columns() {
            let (actual, expected) = (rows.columns(), self.background.columns());
            return Err(GameError::Width { what: "row 0".to_owned(), actual, expected }.into());
        }
        let method = TableMethod { budget, ..self.method.clone() };
        method.check_budget()?;
        let learned = Some((&self.surrogate, &self.of_background[..]));
        method.run(&self.model, rows, self.background, seed, learned)
    }
}
