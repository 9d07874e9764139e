//! Explaining one explicand by its game: enumeration, an estimate from a budget, or a run until an accuracy.

use apportion_estimators::{Anytime, Diagnostics, Explanation, Progress, Until, exact_in_groups};
use apportion_games::{Coalitions, Game, Partition, SubGame};
use apportion_values::SolutionConcept;

use super::left::Left;
use super::{Explainer, NullPlayers};
use crate::budget::Budget;
use crate::draws::add_errors_of_draws;
use crate::error::ExplainError;
use crate::follow::Follow;
use crate::method::Method;

/// A row whose run is followed.
pub(super) struct Followed<'f> {
    pub(super) row: usize,
    pub(super) follow: &'f dyn Follow,
}

/// What a run may take.
#[derive(Clone, Copy)]
enum Extent {
    /// One sample of so many evaluations.
    Sample(usize),
    /// A growing sample, as many evaluations as the accuracy takes.
    Until(Until),
    /// A growing sample that has come to so many evaluations.
    Grown(usize),
}

impl Explainer<'_> {
    pub(super) fn explain_by_game(
        &self,
        explicand: &[f64],
        followed: Option<&Followed<'_>>,
    ) -> Result<Explanation, ExplainError> {
        let (game, null_players) = self.source.game(explicand)?;
        let game = &*game;
        let results = self.value.check(game.players(), self.partition.as_ref())?;
        let extent = self.extent(game.players());
        if let Some(game) = self.source.conditional(explicand)? {
            let mut explanation = self.explain_all(&game, extent, followed)?;
            // The coalitions that the explanation rests on.
            let extent =
                match explanation.certificate.as_ref().and_then(|certificate| certificate.looks.last()) {
                    Some(last) => Extent::Grown(last.budget),
                    None => extent,
                };
            if self.meets_draws_again(&game, extent) {
                let explain = |noise: &dyn Game| self.explain_errors(noise, extent);
                add_errors_of_draws(&game, self.seed, &mut explanation, explain)?;
            }
            return Ok(self.certified(explanation));
        }
        let contributing = SubGame::without(game, null_players.view());
        if self.null_players == NullPlayers::Keep || contributing.players() == game.players() {
            return self.explain_all(game, extent, followed);
        }
        if contributing.players() == 0 {
            return self.explain_unchanged(game, results);
        }
        let Some(left) = Left::of(&self.value, self.partition.as_ref(), contributing.keep()) else {
            return self.explain_all(game, extent, followed);
        };
        let mut explanation =
            self.explain_game(&contributing, &left.value, left.partition.as_ref(), extent, followed)?;
        let outputs = game.outputs();
        let expand = |numbers: Vec<f64>| left.expand(&numbers, results, outputs);
        explanation.value = self.value.clone();
        explanation.values = expand(explanation.values);
        explanation.std_errors = explanation.std_errors.map(expand);
        if let Some(certificate) = &mut explanation.certificate {
            certificate.half_widths = certificate.half_widths.take().map(expand);
        }
        Ok(explanation)
    }

    /// What a run of a game of `players` may take; of all features, so that "10n" is the same for every row.
    fn extent(&self, players: usize) -> Extent {
        match self.until {
            None => Extent::Sample(self.budget.evaluations(players)),
            Some(until) => {
                let given = (self.budget != Budget::Auto).then(|| self.budget.evaluations(players));
                Extent::Until(Until { budget: until.budget.or(given), ..until })
            }
        }
    }

    /// Whether errors of the draws of a conditional game are not in the method's own errors.
    ///
    /// Methods that draw scenarios meet every draw as a scenario of its own. Where the coalitions are many, they hardly meet one twice, and
    /// their errors have it; where they are few, the errors of the exact values are to be added. In the true marginal mode each draw is
    /// met once.
    fn meets_draws_again(&self, game: &dyn Game, extent: Extent) -> bool {
        let partition = self.partition.as_ref();
        match self.method_of(game.players(), &self.value, partition, extent) {
            Method::ProductSpaceTrueMarginal => false,
            method if method.draws_scenarios() => {
                let evaluations = extent.evaluations(game.players());
                self.value.coalitions(game.players(), partition).is_some_and(|all| all <= 2 * evaluations)
            }
            _ => true,
        }
    }

    /// What the errors of coalitions make of the explanation: the method itself on a game of them, or the exact values where the method
    /// draws scenarios, which that game has none of.
    fn explain_errors(&self, noise: &dyn Game, extent: Extent) -> Result<Explanation, ExplainError> {
        let partition = self.partition.as_ref();
        if self.method_of(noise.players(), &self.value, partition, extent).draws_scenarios() {
            return Ok(exact_in_groups(noise, &self.value, partition)?);
        }
        self.explain_all(noise, extent, None)
    }

    /// The method that is used: [`Method::Auto`] stands for enumeration where the budget covers it, else for the best estimate. A run until
    /// an accuracy enumerates by itself where that is cheaper.
    fn method_of(
        &self,
        players: usize,
        value: &SolutionConcept,
        partition: Option<&Partition>,
        extent: Extent,
    ) -> Method {
        match (self.method, extent) {
            (Method::Auto, Extent::Sample(budget))
                if value.coalitions(players, partition).is_some_and(|all| all <= budget) =>
            {
                Method::Exact
            }
            (Method::Auto, _) => Method::sampled(value),
            (method, _) => method,
        }
    }

    /// With all players in the game.
    fn explain_all(
        &self,
        game: &dyn Game,
        extent: Extent,
        followed: Option<&Followed<'_>>,
    ) -> Result<Explanation, ExplainError> {
        let explanation = self.explain_game(game, &self.value, self.partition.as_ref(), extent, followed)?;
        Ok(Explanation { value: self.value.clone(), ..explanation })
    }

    fn explain_game(
        &self,
        game: &dyn Game,
        value: &SolutionConcept,
        partition: Option<&Partition>,
        extent: Extent,
        followed: Option<&Followed<'_>>,
    ) -> Result<Explanation, ExplainError> {
        let method = self.method_of(game.players(), value, partition, extent);
        let Some(estimator) = method.estimator(value, partition) else {
            return Ok(self.certified(exact_in_groups(game, value, partition)?));
        };
        let seed = self.seed;
        Ok(match (extent, followed) {
            (Extent::Sample(budget), None) => estimator.estimate(game, budget, seed)?,
            (Extent::Grown(budget), _) => estimator.growing().estimate(game, budget, seed)?,
            (Extent::Sample(budget), Some(followed)) => {
                followed.begin(Anytime::of_one_sample(estimator, game, seed)?)?.run(budget)?.clone()
            }
            (Extent::Until(until), None) => Anytime::new(&*estimator, game, seed)?.run_until(&until)?.clone(),
            (Extent::Until(until), Some(followed)) => {
                followed.begin(Anytime::new(&*estimator, game, seed)?)?.run_until(&until)?.clone()
            }
        })
    }

    /// The explicand is the background, or the trees do not split: nobody contributes anything.
    fn explain_unchanged(&self, game: &dyn Game, results: usize) -> Result<Explanation, ExplainError> {
        let mut batch = Coalitions::new(game.players());
        batch.push_full();
        let mut prediction = vec![0.0; game.outputs()];
        game.values(&batch, &mut prediction)?;
        let length = results * game.outputs();
        Ok(self.certified(Explanation {
            value: self.value.clone(),
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

impl Extent {
    /// The most evaluations.
    fn evaluations(self, players: usize) -> usize {
        match self {
            Self::Sample(budget) | Self::Grown(budget) => budget,
            Self::Until(until) => until.most_evaluations(players),
        }
    }
}

impl Followed<'_> {
    /// The run, from where it was stored on.
    fn begin<'g>(&'g self, run: Anytime<'g>) -> Result<Anytime<'g>, ExplainError> {
        let run = run.watched(|progress: &Progress<'_>| self.follow.progress(self.row, progress));
        match self.follow.begun(self.row) {
            Some(checkpoint) => Ok(run.restored(&checkpoint)?),
            None => Ok(run),
        }
    }
}
