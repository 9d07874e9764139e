//! Exact values and interaction indices of games that were declared additive.

use apportion_estimators::{EstimatorError, Explanation, OnGraph};
use apportion_games::{CoalitionView, Game};
use apportion_values::{AdditiveTerms, InteractionIndex, Interactions, Partition, Value};

use crate::budget::Budget;
use crate::error::ExplainError;
use crate::game_explainer::{Extent, GameExplainer};
use crate::method::Method;

/// The number of evaluations up to which [`Method::Auto`] with the automatic budget uses the declared terms.
/// It suffices for all pairs of 127 players. For thousands of players, the automatic budget itself is larger.
const MAX_AUTO_EVALUATIONS: usize = 8192;

impl GameExplainer {
    /// Declares that the games are additive: sums of functions of single players and of the given
    /// interactions, which are functions of several players. The values of such a game follow from the values
    /// of single players, of the interactions and of their subsets. This takes n + p + 2 evaluations for n
    /// players and p pairs.
    ///
    /// [`Method::Additive`] computes all values and interaction indices from these evaluations.
    /// [`Method::Auto`] chooses it if the budget (with a tolerance, the maximum number of evaluations) covers
    /// them. The automatic budget covers 8192 of them, or 10 n if that is more. All other methods ignore the
    /// declaration. For each game, the sum of the terms is compared with the value of the coalition of all
    /// players.
    ///
    /// ```
    /// use apportion::games::SumOfUnanimity;
    /// use apportion::GameExplainer;
    ///
    /// let terms = (0..99).map(|player| (vec![player, player + 1], 1.0));
    /// let game = SumOfUnanimity::new(100, 0.0, terms)?;
    /// let pairs = (0..99).map(|player| vec![player, player + 1]);
    /// let explanation = GameExplainer::new().additive(pairs).explain(&game)?;
    /// assert_eq!((explanation.method.as_str(), explanation.evaluations), ("additive", 201));
    /// assert_eq!((explanation.values[0], explanation.values[50]), (0.5, 1.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn additive(mut self, interactions: impl IntoIterator<Item = Vec<usize>>) -> Self {
        self.interactions = Some(interactions.into_iter().collect());
        self
    }

    /// Returns the declared terms if the values of a game with this number of players are computed from
    /// them.
    ///
    /// # Errors
    ///
    /// [`EstimatorError::Budget`] for [`Method::Additive`] with a smaller budget; [`ExplainError::Value`] for
    /// invalid interactions.
    pub(crate) fn terms(&self, players: usize) -> Result<Option<AdditiveTerms>, ExplainError> {
        let max = match self.extent(players) {
            Extent::Sample(budget) if self.budget == Budget::Auto => budget.max(MAX_AUTO_EVALUATIONS),
            extent => extent.evaluations(players),
        };
        self.terms_within(players, max)
    }

    /// Same as [`terms`](Self::terms), for interaction indices.
    pub(crate) fn terms_of_indices(&self, players: usize) -> Result<Option<AdditiveTerms>, ExplainError> {
        let max = match self.budget {
            Budget::Auto => Budget::Auto.evaluations(players).max(MAX_AUTO_EVALUATIONS),
            budget => budget.evaluations(players),
        };
        self.terms_within(players, max)
    }

    fn terms_within(&self, players: usize, max: usize) -> Result<Option<AdditiveTerms>, ExplainError> {
        let is_used = matches!(self.method, Method::Auto | Method::Additive);
        let Some(interactions) = self.interactions.as_ref().filter(|_| is_used) else { return Ok(None) };
        let is_chosen = self.method == Method::Additive;
        if players >= max && !is_chosen {
            return Ok(None);
        }
        let terms = AdditiveTerms::new(players, interactions)?;
        let least = terms.evaluations();
        match least <= max {
            true => Ok(Some(terms)),
            false if is_chosen && (self.budget != Budget::Auto || self.until.is_some()) => {
                let method = Method::Additive.name();
                Err(EstimatorError::Budget { method, actual: max, min: least, players }.into())
            }
            false => Ok(Some(terms).filter(|_| is_chosen)),
        }
    }

    /// Explains a game from its terms, without evaluating coalitions with `null_players`.
    pub(crate) fn explain_terms(
        &self,
        game: &dyn Game,
        terms: &AdditiveTerms,
        null_players: Option<CoalitionView<'_>>,
    ) -> Result<Explanation, ExplainError> {
        let reduced = match null_players {
            Some(null_players) if null_players.size() > 0 => Some(terms.without_null_players(null_players)?),
            _ => None,
        };
        let terms = reduced.as_ref().unwrap_or(terms);
        let costs = (terms.evaluations(), game.rows_per_coalition());
        let found = match &self.value {
            Value::OnGraph(value, graph) => {
                self.value.check(game.players())?;
                let transform = terms.transform(game)?;
                let mut found = OnGraph::new(graph.clone(), value.clone()).values(&transform)?;
                found.method = Method::Additive.name().to_owned();
                found.evaluations = costs.0;
                found.distinct_coalitions = costs.0;
                found.model_rows = costs.0 * costs.1;
                found
            }
            value => {
                let found = terms.attributions(game, value)?;
                Explanation::exact(Method::Additive.name(), value.concept(), found, costs)
            }
        };
        Ok(self.certified(found))
    }

    /// Computes the interaction indices of a game, or of its quotient game for `groups`, from its terms.
    pub(crate) fn indices_of_terms(
        game: &dyn Game,
        terms: &AdditiveTerms,
        (index, order, groups): (&InteractionIndex, usize, Option<&Partition>),
    ) -> Result<Interactions, ExplainError> {
        let transform = terms.transform(game)?;
        let transform = match groups {
            None => transform,
            Some(groups) => transform.quotient(groups)?,
        };
        Ok(transform.interactions(index, order)?)
    }
}
