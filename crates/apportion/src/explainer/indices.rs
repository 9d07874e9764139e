//! Interaction indices of coalitions of features.

use apportion_games::{Game, Partition, QuotientGame, Rows};
#[cfg(feature = "trees")]
use apportion_values::MAX_PLAYERS;
use apportion_values::{InteractionIndex, Interactions};

use super::Explainer;
use crate::error::ExplainError;
use crate::game_explainer::GameExplainer;
#[cfg(any(feature = "kernels", feature = "surrogates", feature = "trees"))]
use crate::method::Method;
use crate::source::Source;
#[cfg(feature = "kernels")]
use apportion_kernels::KernelExplainer;
#[cfg(feature = "trees")]
use apportion_trees::TreeError;

/// Returns the interaction indices of one row, for features or groups, from its game.
pub(super) fn indices_of_row(
    asked: &GameExplainer,
    source: &Source<'_>,
    (index, order, groups): (&InteractionIndex, usize, Option<&Partition>),
    row: &[f64],
) -> Result<Interactions, ExplainError> {
    let (game, _) = source.game(row)?;
    if let Some(terms) = asked.terms_of_indices(game.players())? {
        return GameExplainer::indices_of_terms(&*game, &terms, (index, order, groups));
    }
    match groups {
        None => asked.indices(&*game, index, order),
        Some(groups) => {
            let game: &dyn Game = &*game;
            asked.indices(&QuotientGame::new(game, groups)?, index, order)
        }
    }
}

impl Explainer<'_> {
    /// Returns the [interaction indices](apportion_values::interactions) of all coalitions of up to `order`
    /// features, or of `groups` of features, for each row. Indices that are zero are not stored.
    ///
    /// For tree ensembles and kernel machines, exact algorithms compute them for any number of features
    /// (`Exact::indices_of`, `KernelExplainer::indices_of`). For all other games, and for indices that these
    /// algorithms do not support (generalized values, outputs after a link function), all 2^n coalitions of
    /// up to 25 features or groups are enumerated. [`Method::Exact`] enumerates coalitions for trees and
    /// kernel machines, too.
    ///
    /// If there are more coalitions than the budget allows, [`Method::Auto`] estimates the indices if
    /// possible: Shapley, Banzhaf, k-Shapley, faithful and k-additive Shapley indices of order 2, with
    /// [`LearnedSpectrum::with_pairs`](apportion_estimators::LearnedSpectrum::with_pairs) and [standard
    /// errors](Interactions::std_errors). The method learned-spectrum estimates them for trees, too. The
    /// values of single players and the indices of pairs are estimated from the same sample.
    /// [`Method::Table`] adds such estimates for the difference of the model and a surrogate to the exact
    /// indices of the surrogate, which is learned from the background rows.
    ///
    /// ```
    /// use apportion::values::InteractionIndex;
    /// use apportion::{Background, Explainer, Rows};
    ///
    /// let model = |row: &[f64]| row[0] * row[1] * row[2] + row[0];
    /// let explainer = Explainer::new(&model, Background::baseline(vec![0.0; 3])?);
    /// let row = [2.0, 3.0, 4.0];
    /// let found = explainer.indices(&InteractionIndex::ShapleyTaylor, 3, None, Rows::new(&row, 3))?;
    /// assert_eq!(found[0].get(&[0, 1, 2]), Some(&[24.0][..]));
    /// assert_eq!(found[0].strongest(1, 2, 0)[1].1, [2.0]);
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ExplainError::Value`] for an invalid order, for enumeration with more than 25 players, and for more
    /// than 2^20 coalitions times outputs; [`ExplainError::NotTrees`] for [`Method::Tree`] if the model is
    /// not a tree ensemble; [`ExplainError::NotKernelMachine`] for [`Method::KernelMachine`] if the model is
    /// not a kernel machine; [`ExplainError::Index`] for a method that does not support the index; the errors
    /// of games and of the exact algorithms.
    pub fn indices(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        explicands: Rows<'_>,
    ) -> Result<Vec<Interactions>, ExplainError> {
        if self.asked.interactions.is_some() && !matches!(self.source, Source::Model(..)) {
            return Err(ExplainError::NotMarginal);
        }
        #[cfg(feature = "trees")]
        if let (Source::Trees(trees), Method::Auto | Method::Tree) = (&self.source, self.asked.method) {
            match trees
                .exact()
                .and_then(|tree_explainer| tree_explainer.indices_of(index, order, groups, explicands))
            {
                // For few players, enumeration is an alternative.
                Err(TreeError::Unsupported { .. })
                    if self.asked.method == Method::Auto
                        && groups.map_or(trees.features(), Partition::len) <= MAX_PLAYERS => {}
                answer => return Ok(answer?),
            }
        }
        #[cfg(feature = "kernels")]
        if let Source::Kernels(kernels) = &self.source
            && (self.asked.method == Method::KernelMachine
                || self.asked.method == Method::Auto && KernelExplainer::supports_index(index))
        {
            return kernels.indices(index, order, groups, explicands);
        }
        #[cfg(feature = "surrogates")]
        if self.asked.method == Method::Table {
            return self.indices_by_residual(index, order, groups, explicands);
        }
        self.asked.check_index(index, order)?;
        let of_row = |row: &[f64]| indices_of_row(&self.asked, &self.source, (index, order, groups), row);
        self.map_rows(explicands, of_row)
    }
}
