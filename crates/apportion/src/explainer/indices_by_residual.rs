//! Interaction indices by a surrogate with exact indices, and estimates for the difference of the model and
//! the surrogate.

use apportion_games::{CoalitionView, Model, Partition, Rows, Shared};
use apportion_values::{InteractionIndex, Interactions};

use super::Explainer;
use super::indices::indices_of_row;
use crate::error::ExplainError;
use crate::game_explainer::GameExplainer;
use crate::method::Method;
use crate::source::Source;

impl Explainer<'_> {
    /// Returns the interaction indices of features or groups for each row: the exact indices of the surrogate
    /// plus estimates for the difference. If all coalitions are enumerated, there is no surrogate.
    pub(super) fn indices_by_residual(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        explicands: Rows<'_>,
    ) -> Result<Vec<Interactions>, ExplainError> {
        self.check_method()?;
        let (_, background) = self.source.model_and_background()?;
        // The difference between an additive model and its surrogate is not additive.
        let asked = GameExplainer { method: Method::Auto, interactions: None, ..self.asked.clone() };
        let players = groups.map_or(background.columns(), Partition::len);
        let budget = asked.budget.evaluations_for_pairs(players);
        let all = 1usize.checked_shl(players as u32);
        let enumerates = asked.check_index(index, order)?.is_none() || all.is_some_and(|all| all <= budget);
        let what = (index, order, groups);
        if enumerates || explicands.is_empty() {
            return self.map_rows(explicands, |row| indices_of_row(&asked, &self.source, what, row));
        }
        self.with_residual(&|residual| {
            let source = Source::Model(Shared::from(residual as &dyn Model), background.clone());
            self.map_rows(explicands, |row| {
                let found = indices_of_row(&asked, &source, what, row)?;
                let exact = residual.indices(index, order, groups, Rows::new(row, explicands.columns()))?;
                Ok(exact.first().map_or_else(|| found.clone(), |exact| sum(&found, exact)))
            })
        })
    }
}

/// Returns the sums of the indices of the difference and the exact ones of the surrogate. If the outputs of
/// the model follow those of the difference, those with the smaller standard errors are taken.
fn sum(found: &Interactions, exact: &Interactions) -> Interactions {
    let (outputs, all) = (exact.outputs(), found.outputs());
    let variances = |output: usize| -> f64 {
        let errors = found.std_errors().into_iter().flatten().skip(output).step_by(all);
        errors.map(|error| error * error).sum()
    };
    let column = |output: usize| match outputs < all && variances(output) > variances(outputs + output) {
        true => outputs + output,
        false => output,
    };
    let columns: Vec<usize> = (0..outputs).map(column).collect();
    let add = |found: &[f64], exact: Option<&[f64]>| -> Vec<f64> {
        let of_column = |(output, &column): (usize, &usize)| {
            found[column] + exact.filter(|_| column < outputs).map_or(0.0, |exact| exact[output])
        };
        columns.iter().enumerate().map(of_column).collect()
    };
    let of_coalition = |(coalition, own): (CoalitionView<'_>, &[f64])| {
        add(own, exact.get(&coalition.members().collect::<Vec<_>>()))
    };
    let values: Vec<f64> = found.iter().flat_map(of_coalition).collect();
    let sums = Interactions::new(
        (found.index().clone(), found.order()),
        found.coalitions().clone(),
        values,
        add(found.base(), Some(exact.base())),
        add(found.predictions(), Some(exact.predictions())),
    );
    let sums = sums.with_constant(add(found.constant(), Some(exact.constant())));
    match found.std_errors() {
        Some(errors) => {
            sums.with_std_errors(errors.chunks_exact(all).flat_map(|errors| add(errors, None)).collect())
        }
        None => sums,
    }
}
