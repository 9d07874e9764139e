//! Explaining one explicand in a conditional game: by the draws that its law has, or by as many as an accuracy takes.
//!
//! # As many draws as it takes
//!
//! A run until an accuracy goes by the law's own draws first. Its error is then of two parts (see [`draws`](crate::draws)): that of the
//! coalitions, which the run has seen to, and that of the draws, which falls with their number and with nothing else where all coalitions
//! are known. If the whole is beyond the tolerance and more draws are expected to bring it there within the budget, it runs again with 2, 4 or 8
//! times the draws, and so on. The draws are those it had and further ones. Where the coalitions are in the way, as the run stopped with little
//! room to spare, the next one takes them to seven tenths of the error.
//!
//! The budget is for all these runs together. An evaluation with g times the law's draws takes g times the predictions, and counts for g
//! evaluations. By default that is 1000 n, 100 000 at least, and not at most `2^n`, which is no limit to draws.
//!
//! A run whose draws alone left more than is tolerated could not have reached the accuracy. Of the others each spends what its looks did of
//! the probability of being wrong, and leaves the rest to the next.

use apportion_estimators::{Explanation, Look, StopRule, Until, methods};
use apportion_games::{ConditionalGame, ConditionalLaw, Game, Model, Shared};

use super::Explainer;
use crate::draws::{ErrorOfDraws, ToldBy, independent_draws};
use crate::error::ExplainError;
use crate::game_explainer::{Extent, Followed, GameExplainer};
use crate::method::Method;
use crate::source::{Conditional, Source};

/// The share of the probability of being wrong that a run is expected to spend on its last look.
const LAST_LOOK: f64 = 0.75;

/// The largest error over its tolerance, as it is expected with more draws, for which a run with these is begun.
const WORTHWHILE: f64 = 0.9;

/// The most by which draws are raised at once, a power of two: few draws say what many will leave only roughly.
const MOST_MORE: usize = 8;

/// The share of the error of its coalitions to which a run goes on that left too little room for that of the draws.
const TIGHTER: f64 = 0.7;

/// The smallest share of the tolerance that coalitions are taken to.
const TIGHTEST: f64 = 0.2;

/// So many players have too many coalitions for them to be a limit.
const MANY_PLAYERS: usize = 30;

/// Evaluations for each player, at least, by which another method tells the errors of the draws.
const LEAST_TIMES: usize = 10;

impl<'a> Explainer<'a> {
    /// An explainer of any model, by its conditional game: absent features follow `law` given the present ones.
    ///
    /// Of a model that is [affine](Model::is_affine) a law that [knows its means](ConditionalLaw::mean), as a normal one does, draws nothing.
    /// Where the law draws rows, standard errors cover that too, of exact values as of estimates, which takes the predictions once more.
    /// They do not cover that the law was fitted on finitely many rows, or may be the wrong one
    /// ([`ConditionalGame::standard_errors`](apportion_games::ConditionalGame::standard_errors)).
    pub fn conditional(
        model: impl Into<Shared<'a, dyn Model + 'a>>,
        law: impl Into<Shared<'a, dyn ConditionalLaw + 'a>>,
    ) -> Self {
        let mut explainer = Self::of(Source::Conditional(model.into(), law.into()));
        // The errors of draws are those of methods that are linear in the game.
        explainer.asked.is_linear = true;
        explainer
    }
}

impl Explainer<'_> {
    pub(super) fn explain_conditional(
        &self,
        model: &dyn Model,
        law: &dyn ConditionalLaw,
        explicand: &[f64],
        followed: Option<&Followed<'_>>,
    ) -> Result<Explanation, ExplainError> {
        let game = ConditionalGame::new(model, explicand, law)?;
        self.asked.results(game.players())?;
        match self.asked.extent(game.players()) {
            Extent::Until(until) if independent_draws(&game).is_some() => {
                self.explain_with_more_draws(model, law, explicand, &until, followed)
            }
            extent => {
                let (explanation, _) = self.explain_with_draws(&game, extent, followed)?;
                Ok(self.asked.certified(explanation))
            }
        }
    }

    /// Runs with more and more draws.
    fn explain_with_more_draws(
        &self,
        model: &dyn Model,
        law: &dyn ConditionalLaw,
        explicand: &[f64],
        until: &Until,
        followed: Option<&Followed<'_>>,
    ) -> Result<Explanation, ExplainError> {
        let most = until.most_evaluations(law.columns());
        let mut left = until.most_evaluations(law.columns().max(MANY_PLAYERS));
        let mut wrong = 1.0 - until.confidence;
        let (mut looks, mut model_rows) = (Vec::<Look>::new(), 0);
        let (mut times, mut raised) = (1, None);
        // What coalitions may be off by, as a share of the tolerance.
        let mut share = 1.0;
        loop {
            let now = raised.as_deref().unwrap_or(law);
            let game = ConditionalGame::new(model, explicand, now)?;
            let asked = until.with_confidence(1.0 - wrong).with_budget(Some(most.min(left / times)));
            let followed = followed.map(|followed| Followed { draws: Some(now.draws()), ..*followed });
            let of_coalitions = asked.with_tolerance(share * asked.tolerance);
            let (mut explanation, of_draws) =
                self.explain_with_draws(&game, Extent::Until(of_coalitions), followed.as_ref())?;
            left = left.saturating_sub(explanation.evaluations.saturating_mul(times));
            model_rows += explanation.model_rows;
            explanation.model_rows = model_rows;
            let before = explanation.certificate.as_ref().map_or(0.0, |certificate| {
                certificate.looks.iter().rev().skip(1).map(|look| look.spent).sum::<f64>()
            });
            if explanation.diagnostics.exact
                && let Some(certificate) = &mut explanation.certificate
                && let Some(last) = certificate.looks.last_mut()
            {
                // The run did not know that it would see all coalitions, and that the draws alone are left to judge.
                last.spent = LAST_LOOK * (wrong - before);
            }
            explanation.certify(&asked);
            let Some(mut certificate) = explanation.certificate.clone() else { return Ok(explanation) };
            let is_reached = certificate.stopped_by == StopRule::Tolerance;
            let draws_allow =
                |draws: &ErrorOfDraws| ratio(draws.alone().written(1.0, &explanation), &asked) <= 1.0;
            let could_stop = is_reached || of_draws.as_ref().is_some_and(draws_allow);
            let begins = looks.len();
            looks.extend(certificate.looks.iter().copied());
            if !could_stop {
                looks[begins..].iter_mut().for_each(|look| look.spent = 0.0);
            }
            wrong = 1.0 - until.confidence - looks.iter().map(|look| look.spent).sum::<f64>();
            let affordable = left / times / explanation.evaluations.max(1);
            let more = match &of_draws {
                _ if is_reached => None,
                Some(draws) => {
                    let next = until.with_confidence(1.0 - LAST_LOOK * wrong);
                    let mut without = explanation.clone();
                    without.certificate = None;
                    let ratio_with = |more: f64| ratio(draws.written(more, &without), &next);
                    let enough = doublings(affordable).find(|&more| ratio_with(more as f64) <= WORTHWHILE);
                    let alone = ratio_with(f64::from(u32::MAX));
                    let drawn = (ratio_with(1.0).powi(2) - alone.powi(2)).max(0.0);
                    let tighter =
                        |more: usize| (TIGHTER * alone).powi(2) + drawn / more as f64 <= WORTHWHILE.powi(2);
                    // A tighter run takes about twice the coalitions.
                    let further = || {
                        let mut times = std::iter::once(1).chain(doublings(affordable / 2));
                        times.find(|&more| 2 * more <= affordable && tighter(more))
                    };
                    match enough {
                        Some(more) => Some((more.min(MOST_MORE), 1.0)),
                        None if share * TIGHTER >= TIGHTEST && !explanation.diagnostics.exact => {
                            further().map(|more| (more.min(MOST_MORE), TIGHTER))
                        }
                        None => None,
                    }
                }
                // A single draw says nothing of its error, two do.
                None if independent_draws(&game) == Some(1) => {
                    doublings(affordable).next().map(|more| (more, 1.0))
                }
                None => None,
            };
            let more_draws = |(more, tighter): (usize, f64)| {
                Some((more, tighter, law.with_draws(law.draws() * times * more)?))
            };
            let Some((more, tighter, law)) = more.and_then(more_draws) else {
                (certificate.looks, certificate.confidence) = (looks, until.confidence);
                explanation.certificate = Some(certificate);
                return Ok(explanation);
            };
            share *= tighter;
            times *= more;
            raised = Some(law);
        }
    }

    /// With the errors of the draws of `game` in the standard errors, and what they have of them where the method does not have them all.
    fn explain_with_draws(
        &self,
        game: &Conditional<'_>,
        extent: Extent,
        followed: Option<&Followed<'_>>,
    ) -> Result<(Explanation, Option<ErrorOfDraws>), ExplainError> {
        let mut explanation = self.asked.explain_all(game, extent, followed)?;
        let Some(independent) = independent_draws(game) else { return Ok((explanation, None)) };
        explanation.diagnostics.draws = Some(game.law().draws());
        // The coalitions that the explanation rests on.
        let extent = match explanation.certificate.as_ref().and_then(|certificate| certificate.looks.last()) {
            Some(last) => Extent::Grown(last.budget),
            None => extent,
        };
        let method = self.asked.method_of(game.players(), &self.asked.value, extent);
        if method == Method::By(&methods::PRODUCT_SPACE_TRUE_MARGINAL) {
            // It meets every draw once, as a scenario of its own: its errors have them all.
            return Ok((explanation, None));
        }
        let told_by = if method.draws_scenarios() { ToldBy::OtherMethod } else { ToldBy::Method };
        let explain = |copies: &dyn Game| match told_by {
            ToldBy::Method => self.asked.explain_all(copies, extent, None),
            ToldBy::OtherMethod => {
                let evaluations = extent.evaluations(game.players()).max(LEAST_TIMES * game.players());
                let asked = GameExplainer { method: Method::Auto, until: None, ..self.asked.clone() };
                asked.explain_all(copies, Extent::Sample(evaluations), None)
            }
        };
        let of_draws =
            ErrorOfDraws::of(game, independent, self.asked.seed, &mut explanation, told_by, explain)?;
        match &of_draws {
            Some(of_draws) => explanation = of_draws.written(1.0, &explanation),
            None => {
                explanation.std_errors = None;
                explanation.diagnostics.error_law = None;
            }
        }
        Ok((explanation, of_draws))
    }
}

/// The largest error of `explanation` over what `until` tolerates; infinite where there is no bound.
fn ratio(mut explanation: Explanation, until: &Until) -> f64 {
    explanation.certify(until);
    let ratio = |(&bound, &tolerance): (&f64, &f64)| if bound == 0.0 { 0.0 } else { bound / tolerance };
    explanation
        .certificate
        .and_then(|certificate| {
            Some(certificate.error_bounds?.iter().zip(&certificate.tolerances).map(ratio).fold(0.0, f64::max))
        })
        .unwrap_or(f64::INFINITY)
}

/// 2, 4, 8, … up to `most`.
fn doublings(most: usize) -> impl Iterator<Item = usize> {
    (1..usize::BITS).map(|power| 1 << power).take_while(move |&times| times <= most)
}
