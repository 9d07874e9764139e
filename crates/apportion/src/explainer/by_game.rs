//! Explaining one explicand by its game.

use apportion_estimators::{Diagnostics, Explanation, exact_in_groups};
use apportion_games::{Coalitions, Game, SubGame};

use super::left::Left;
use super::{Explainer, NullPlayers};
use crate::draws::add_errors_of_draws;
use crate::error::ExplainError;
use crate::game_explainer::{Extent, Followed};
use crate::method::Method;

impl Explainer<'_> {
    pub(super) fn explain_by_game(
        &self,
        explicand: &[f64],
        followed: Option<&Followed<'_>>,
    ) -> Result<Explanation, ExplainError> {
        let (game, null_players) = self.source.game(explicand)?;
        let game = &*game;
        let results = self.asked.results(game.players())?;
        let extent = self.asked.extent(game.players());
        if let Some(game) = self.source.conditional(explicand)? {
            let mut explanation = self.asked.explain_all(&game, extent, followed)?;
            // The coalitions that the explanation rests on.
            let extent =
                match explanation.certificate.as_ref().and_then(|certificate| certificate.looks.last()) {
                    Some(last) => Extent::Grown(last.budget),
                    None => extent,
                };
            if self.meets_draws_again(&game, extent) {
                let explain = |noise: &dyn Game| self.explain_errors(noise, extent);
                add_errors_of_draws(&game, self.asked.seed, &mut explanation, explain)?;
            }
            return Ok(self.asked.certified(explanation));
        }
        let contributing = SubGame::without(game, null_players.view());
        if self.null_players == NullPlayers::Keep || contributing.players() == game.players() {
            return self.asked.explain_all(game, extent, followed);
        }
        if contributing.players() == 0 {
            return self.explain_unchanged(game, results);
        }
        let Some(left) = Left::of(&self.asked.value, self.asked.partition.as_ref(), contributing.keep())
        else {
            return self.asked.explain_all(game, extent, followed);
        };
        let mut explanation =
            self.asked.explain_game(&contributing, &left.value, left.partition.as_ref(), extent, followed)?;
        let outputs = game.outputs();
        let expand = |numbers: Vec<f64>| left.expand(&numbers, results, outputs);
        explanation.value = self.asked.value.clone();
        explanation.values = expand(explanation.values);
        explanation.std_errors = explanation.std_errors.map(expand);
        if let Some(certificate) = &mut explanation.certificate {
            certificate.half_widths = certificate.half_widths.take().map(expand);
        }
        Ok(explanation)
    }

    /// Whether errors of the draws of a conditional game are not in the method's own errors.
    ///
    /// Methods that draw scenarios meet every draw as a scenario of its own. Where the coalitions are many, they hardly meet one twice, and
    /// their errors have it; where they are few, the errors of the exact values are to be added. In the true marginal mode each draw is
    /// met once.
    fn meets_draws_again(&self, game: &dyn Game, extent: Extent) -> bool {
        let partition = self.asked.partition.as_ref();
        match self.asked.method_of(game.players(), &self.asked.value, partition, extent) {
            Method::ProductSpaceTrueMarginal => false,
            method if method.draws_scenarios() => {
                let evaluations = extent.evaluations(game.players());
                self.asked
                    .value
                    .coalitions(game.players(), partition)
                    .is_some_and(|all| all <= 2 * evaluations)
            }
            _ => true,
        }
    }

    /// What the errors of coalitions make of the explanation: the method itself on a game of them, or the exact values where the method
    /// draws scenarios, which that game has none of.
    fn explain_errors(&self, noise: &dyn Game, extent: Extent) -> Result<Explanation, ExplainError> {
        let partition = self.asked.partition.as_ref();
        if self.asked.method_of(noise.players(), &self.asked.value, partition, extent).draws_scenarios() {
            return Ok(exact_in_groups(noise, &self.asked.value, partition)?);
        }
        self.asked.explain_all(noise, extent, None)
    }

    /// The explicand is the background, or the trees do not split: nobody contributes anything.
    fn explain_unchanged(&self, game: &dyn Game, results: usize) -> Result<Explanation, ExplainError> {
        let mut batch = Coalitions::new(game.players());
        batch.push_full();
        let mut prediction = vec![0.0; game.outputs()];
        game.values(&batch, &mut prediction)?;
        let length = results * game.outputs();
        Ok(self.asked.certified(Explanation {
            value: self.asked.value.clone(),
            method: Method::Exact.name().to_owned(),
            values: vec![0.0; length],
            base: prediction.clone(),
            prediction,
            std_errors: Some(vec![0.0; length]),
            evaluations: 1,
            distinct_coalitions: 1,
            model_rows: game.rows_per_coalition(),
            seed: None,
            diagnostics: Diagnostics { exact: true, ..Diagnostics::default() },
            certificate: None,
        }))
    }
}
