//! Interaction indices of coalitions of features.

use apportion_games::{Game, Partition, QuotientGame, Rows, parallel};
use apportion_values::{InteractionIndex, Interactions, MOST_PLAYERS};

use super::Explainer;
use crate::error::ExplainError;
use crate::method::Method;
#[cfg(feature = "trees")]
use crate::source::Source;
#[cfg(feature = "trees")]
use apportion_trees::TreeError;

impl Explainer<'_> {
    /// The [interaction indices](apportion_values::interactions) of all coalitions of up to `order` features, or of `groups` of them: for each row those
    /// of its game, sparse.
    ///
    /// Tree ensembles are asked by their oracle, for any number of features
    /// (`Exact::indices_of`); every other game, and what the oracle does not have (generalized values,
    /// outputs behind a link), by all 2^n coalitions of up to 25 features or groups. [`Method::Exact`] enumerates trees, too.
    ///
    /// Where these are more than the budget, [`Method::Auto`] estimates what can be: Shapley, Banzhaf, k-Shapley, faithful and k-additive Shapley indices of
    /// order 2, by [`LearnedSpectrum::with_pairs`](apportion_estimators::LearnedSpectrum::with_pairs), with [standard errors](Interactions::std_errors). So
    /// does the method learned-spectrum, of trees, too. Values of
    /// single players and indices of pairs are of one sample.
    ///
    /// ```
    /// use apportion::values::InteractionIndex;
    /// use apportion::{Background, Explainer, Rows};
    ///
    /// let model = |row: &[f64]| row[0] * row[1] * row[2] + row[0];
    /// let explainer = Explainer::new(&model, Background::baseline(vec![0.0; 3])?);
    /// let found = explainer.indices(&InteractionIndex::ShapleyTaylor, 3, None, Rows::new(&[2.0, 3.0, 4.0], 3))?;
    /// assert_eq!(found[0].get(&[0, 1, 2]), Some(&[24.0][..]));
    /// assert_eq!(found[0].strongest(1, 2, 0)[1].1, [2.0]);
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ExplainError::Value`] for an order that cannot be, more than 25 players to enumerate, or more than 2^20 coalitions times outputs;
    /// [`ExplainError::NotTrees`] for [`Method::Tree`] on another model; [`ExplainError::Index`] for a method that does not compute the index; if a game cannot be made, or fails;
    /// for trees those of the oracle.
    pub fn indices(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        explicands: Rows<'_>,
    ) -> Result<Vec<Interactions>, ExplainError> {
        #[cfg(feature = "trees")]
        if let (Source::Trees(trees), Method::Auto | Method::Tree) = (&self.source, self.asked.method) {
            match trees.exact().and_then(|oracle| oracle.indices_of(index, order, groups, explicands)) {
                // Of few players the coalitions can be gone through.
                Err(TreeError::Unsupported { .. })
                    if self.asked.method == Method::Auto
                        && groups.map_or(trees.features(), Partition::len) <= MOST_PLAYERS => {}
                answer => return Ok(answer?),
            }
        }
        self.asked.check_index(index, order)?;
        let of_row = |row: &[f64]| -> Result<Interactions, ExplainError> {
            let (game, _) = self.source.game(row)?;
            match groups {
                None => self.asked.indices(&*game, index, order),
                Some(groups) => {
                    let game: &dyn Game = &*game;
                    self.asked.indices(&QuotientGame::new(game, groups)?, index, order)
                }
            }
        };
        match self.source.parallel() {
            true => parallel::try_map(explicands.iter(), of_row),
            false => explicands.iter().map(of_row).collect(),
        }
    }
}
