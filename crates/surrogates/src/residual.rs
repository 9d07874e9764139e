//! The difference between a model and its surrogate, as a separate model.

use apportion_games::{Background, BoxError, GameError, Model, Partition, Rows};
use apportion_values::{Attributions, InteractionIndex, Interactions, Value};

use crate::error::Result;
use crate::surrogate::Surrogate;
use crate::table::hybrids::CheckedModel;
use crate::table::prepared::Prepared;

/// The difference f − g between a model and its surrogate, as a separate model.
///
/// All values are linear in the game. The values of f are those of g, which are [exact](Self::values), plus
/// those of f − g, which vary little if the surrogate is good. Any method can estimate the latter; its
/// standard errors are then those of the sum.
///
/// A prediction for a row requires one prediction of the model and one of the surrogate.
///
/// ```
/// use apportion_surrogates::{Background, Model, ResidualModel, Rows, TableMethod};
/// use apportion_values::Semivalue;
///
/// let model = |row: &[f64]| 2.0 * row[0] + row[1];
/// let background = Background::rows([0.0, 0.0, 1.0, 2.0, 2.0, 1.0, 3.0, 3.0], 2)?;
/// let surrogate = TableMethod::new(100).learn(&model, background.as_rows(), &background, 1)?;
/// let residual = ResidualModel::new(&model, &surrogate, &background)?;
/// let row = Rows::new(&[2.0, 3.0], 2);
/// // The linear part of the surrogate fits this model exactly.
/// let mut out = [1.0];
/// residual.predict(row, &mut out).unwrap();
/// assert!(out[0].abs() < 1e-9);
/// let values = residual.values(&Semivalue::Banzhaf.into(), row)?.values;
/// assert!((values[0] - 1.0).abs() < 1e-9);
/// # Ok::<(), apportion_surrogates::SurrogateError>(())
/// ```
pub struct ResidualModel<'a, M: Model + ?Sized> {
    model: &'a M,
    outputs: usize,
    surrogate: Prepared<'a>,
    keeps_model: bool,
}

impl<'a, M: Model + ?Sized> ResidualModel<'a, M> {
    /// Prepares the difference of a model and a surrogate that was learned from it with this background.
    ///
    /// # Errors
    ///
    /// [`SurrogateError::OtherBackground`](crate::SurrogateError::OtherBackground),
    /// [`OtherModel`](crate::SurrogateError::OtherModel) and
    /// [`OtherShape`](crate::SurrogateError::OtherShape) if the surrogate was learned for another background
    /// or from another model; the errors of the model.
    pub fn new(model: &'a M, surrogate: &'a Surrogate, background: &'a Background) -> Result<Self> {
        Self::prepare(model, surrogate, background, true)
    }

    /// Prepares the difference like [`new`](Self::new), but does not check that the surrogate was learned
    /// from this model. Use it for a model with noise, whose predictions differ from call to call.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new), except [`OtherModel`](crate::SurrogateError::OtherModel).
    pub fn unchecked(model: &'a M, surrogate: &'a Surrogate, background: &'a Background) -> Result<Self> {
        Self::prepare(model, surrogate, background, false)
    }

    fn prepare(
        model: &'a M,
        surrogate: &'a Surrogate,
        background: &'a Background,
        is_checked: bool,
    ) -> Result<Self> {
        let checked = CheckedModel::new(model, background.columns())?;
        let (surrogate, of_background) = Prepared::for_model(surrogate, &checked, background)?;
        if is_checked {
            surrogate.surrogate.check_model(&of_background)?;
        }
        Ok(Self { model, outputs: checked.outputs, surrogate, keeps_model: false })
    }

    /// Appends the outputs of the model to those of the difference: each row then has twice as many outputs.
    #[must_use]
    pub fn with_model_outputs(self) -> Self {
        Self { keeps_model: true, ..self }
    }

    /// Returns the exact values of the surrogate's marginal game for rows.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`] for a wrong number of columns, and the errors of [`Surrogate::values`].
    pub fn values(&self, value: &Value, rows: Rows<'_>) -> Result<Attributions> {
        self.check_width(rows)?;
        self.surrogate.values(value, rows)
    }
}

impl<M: Model + ?Sized> ResidualModel<'_, M> {
    /// Returns the exact interaction indices of the surrogate's marginal game for rows, for features or for
    /// `groups` of features that act as players. Contains all single players, and those coalitions of several
    /// players whose indices are not zero.
    ///
    /// # Errors
    ///
    /// The errors of [`values`](Self::values) and of
    /// [`Exact::indices_of`](apportion_trees::Exact::indices_of).
    pub fn indices(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        rows: Rows<'_>,
    ) -> Result<Vec<Interactions>> {
        self.check_width(rows)?;
        self.surrogate.indices(index, order, groups, rows)
    }

    fn check_width(&self, rows: Rows<'_>) -> Result<()> {
        let (actual, expected) = (rows.columns(), self.surrogate.surrogate.features());
        match actual == expected {
            true => Ok(()),
            false => Err(GameError::Width { what: "row 0".to_owned(), actual, expected }.into()),
        }
    }
}

impl<M: Model + ?Sized> Model for ResidualModel<'_, M> {
    fn outputs(&self) -> usize {
        if self.keeps_model { 2 * self.outputs } else { self.outputs }
    }

    fn features(&self) -> Option<usize> {
        Some(self.surrogate.surrogate.features())
    }

    fn parallel(&self) -> bool {
        self.model.parallel()
    }

    fn rows_per_call(&self) -> usize {
        self.model.rows_per_call()
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> std::result::Result<(), BoxError> {
        let mut of_model = vec![f64::NAN; rows.len() * self.outputs];
        self.model.predict(rows, &mut of_model)?;
        let of_surrogate = self.surrogate.surrogate.predict(rows)?;
        let both = of_model.chunks_exact(self.outputs).zip(of_surrogate.chunks_exact(self.outputs));
        for (out, (of_model, of_surrogate)) in out.chunks_exact_mut(self.outputs()).zip(both) {
            let (difference, copy) = out.split_at_mut(self.outputs);
            let differences = of_model.iter().zip(of_surrogate).map(|(model, surrogate)| model - surrogate);
            difference.iter_mut().zip(differences).for_each(|(out, difference)| *out = difference);
            if self.keeps_model {
                copy.copy_from_slice(of_model);
            }
        }
        Ok(())
    }
}
