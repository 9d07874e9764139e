//! Explains one explicand by evaluating its game.

use apportion_estimators::Explanation;
use apportion_games::{Coalitions, Game, SubGame};
use apportion_values::Attributions;

use super::reduced_problem::ReducedProblem;
use super::{Explainer, NullPlayers};
use crate::error::ExplainError;
use crate::game_explainer::{GameExplainer, ObservedRun};
use crate::method::Method;
#[cfg(feature = "conditional")]
use crate::source::Source;

impl Explainer<'_> {
    pub(super) fn explain_by_game(
        &self,
        explicand: &[f64],
        followed: Option<&ObservedRun<'_>>,
    ) -> Result<Explanation, ExplainError> {
        #[cfg(feature = "conditional")]
        if let Source::Conditional(model, distribution) = &self.source {
            return self.explain_conditional(&**model, &**distribution, explicand, followed);
        }
        let (game, null_players) = self.source.game(explicand)?;
        let game = &*game;
        let results = self.asked.results(game.players())?;
        if let Some(terms) = self.asked.terms(game.players())? {
            let null_players = (self.null_players == NullPlayers::TakeOut).then(|| null_players.view());
            return self.asked.explain_terms(game, &terms, null_players);
        }
        let extent = self.asked.extent(game.players());
        let contributing = SubGame::without(game, null_players.view());
        if self.null_players == NullPlayers::Keep || contributing.players() == game.players() {
            return self.asked.explain_all(game, extent, followed);
        }
        if contributing.players() == 0 {
            return self.explain_unchanged(game, results);
        }
        let Some(left) = ReducedProblem::keeping(&self.asked.value, contributing.keep()) else {
            return self.asked.explain_all(game, extent, followed);
        };
        let outputs = game.outputs();
        let asked = match self.asked.known.is_empty() {
            true => &self.asked,
            false => &GameExplainer { known: left.reduce(&self.asked.known, outputs), ..self.asked.clone() },
        };
        let mut explanation = asked.explain_game(&contributing, &left.value, extent, followed)?;
        let expand = |numbers: Vec<f64>| left.expand(&numbers, results, outputs);
        explanation.value = self.asked.value.concept();
        explanation.values = expand(explanation.values);
        explanation.std_errors = explanation.std_errors.map(expand);
        if let Some(certificate) = &mut explanation.certificate {
            certificate.half_widths = certificate.half_widths.take().map(expand);
        }
        Ok(explanation)
    }

    /// Returns an explanation in which all values are zero, for games in which every feature is a null player
    /// because the explicand equals the background, or because no tree splits.
    fn explain_unchanged(&self, game: &dyn Game, results: usize) -> Result<Explanation, ExplainError> {
        let mut batch = Coalitions::new(game.players());
        batch.push_full();
        let mut prediction = vec![0.0; game.outputs()];
        game.values(&batch, &mut prediction)?;
        let zeros = vec![0.0; results * game.outputs()];
        let found = Attributions::for_players(results, zeros, prediction.clone(), prediction);
        let (value, costs) = (self.asked.value.concept(), (1, game.rows_per_coalition()));
        Ok(self.asked.certified(Explanation::exact(Method::Exact.name(), value, found, costs)))
    }
}
