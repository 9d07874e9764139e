//! Explains one explicand in a conditional game, with the number of draws that the distribution sets or that
//! a tolerance requires.
//!
//! # The number of draws
//!
//! A run with a tolerance starts with the draws of the given distribution. Its error has two parts (see
//! [`draws`](crate::draws)): the error of the sampled coalitions, which the run controls, and the error of
//! the draws. Once all coalitions are known, only more draws reduce the error of the draws. If the total
//! exceeds the tolerance, and more draws are expected to reach it within the budget, the run is repeated with
//! 2, 4 or 8 times as many draws, and so on. The new draws include the previous ones. If the coalitions are
//! the obstacle, because the run stopped just below its tolerance, the next run reduces their error to 70%.
//!
//! The budget covers all of these runs. An evaluation with g times the distribution's draws requires g times
//! as many predictions, and counts as g evaluations. The default budget is 1000 n, but at least 100,000, and
//! is not limited to `2^n`, because more draws are useful beyond that.
//!
//! A run whose draws alone exceeded the tolerance could not have reached it, and does not spend any error
//! probability. All other runs spend the error probability of their interim checks, and leave the rest to the
//! next run.

use apportion_estimators::{Explanation, InterimCheck, StopRule, Until, methods};
use apportion_games::{ConditionalDistribution, ConditionalGame, Game, Model, Shared};

use super::Explainer;
use crate::draws::{ErrorOfDraws, ErrorSource, independent_draws};
use crate::error::ExplainError;
use crate::game_explainer::{Extent, GameExplainer, ObservedRun};
use crate::method::Method;
use crate::source::{Conditional, Source};

/// The fraction of the error probability that a run is expected to spend on its last interim check.
const LAST_LOOK: f64 = 0.75;

/// Maximum expected error with more draws, as a fraction of the tolerance, for which another run is started.
const WORTHWHILE: f64 = 0.9;

/// Maximum factor by which the number of draws is increased at once, a power of two. It is limited because
/// few draws give only a rough prediction of the error with many draws.
const MAX_GROWTH: usize = 8;

/// The factor applied to the tolerance for the coalitions if a run left too little of the whole tolerance for
/// the error of the draws.
const TIGHTER: f64 = 0.7;

/// Minimum fraction of the tolerance to use for the coalitions.
const TIGHTEST: f64 = 0.2;

/// A number of players for which the default budget does not cover all coalitions.
const MANY_PLAYERS: usize = 30;

/// Minimum evaluations per player for estimating the errors of the draws with a different method.
const MIN_EVALUATIONS_PER_PLAYER: usize = 10;

impl<'a> Explainer<'a> {
    /// Creates an explainer for any model with its conditional game, in which absent features follow
    /// `distribution`, given the present features.
    ///
    /// No rows are drawn if the model is [affine](Model::is_affine) and the distribution provides
    /// [conditional means](ConditionalDistribution::mean), as a Gaussian distribution does. If the
    /// distribution draws rows, standard errors include the sampling error of the draws, for exact values as
    /// well as for estimates; this doubles the number of predictions. They do not include the error of a
    /// distribution that was fitted on finitely many rows or is misspecified
    /// ([`ConditionalGame::standard_errors`](apportion_games::ConditionalGame::standard_errors)).
    pub fn conditional(
        model: impl Into<Shared<'a, dyn Model + 'a>>,
        distribution: impl Into<Shared<'a, dyn ConditionalDistribution + 'a>>,
    ) -> Self {
        let mut explainer = Self::from_source(Source::Conditional(model.into(), distribution.into()));
        // The errors of draws can only be estimated for methods that are linear in the game.
        explainer.asked.is_linear = true;
        explainer
    }
}

impl Explainer<'_> {
    pub(super) fn explain_conditional(
        &self,
        model: &dyn Model,
        distribution: &dyn ConditionalDistribution,
        explicand: &[f64],
        followed: Option<&ObservedRun<'_>>,
    ) -> Result<Explanation, ExplainError> {
        let game = ConditionalGame::new(model, explicand, distribution)?;
        self.asked.results(game.players())?;
        match self.asked.extent(game.players()) {
            Extent::Until(until) if independent_draws(&game).is_some() => {
                self.explain_with_more_draws(model, distribution, explicand, &until, followed)
            }
            extent => {
                let (explanation, _) = self.explain_with_draws(&game, extent, followed)?;
                Ok(self.asked.certified(explanation))
            }
        }
    }

    /// Repeats the run with more draws, as long as this is expected to reach the tolerance within the budget.
    fn explain_with_more_draws(
        &self,
        model: &dyn Model,
        distribution: &dyn ConditionalDistribution,
        explicand: &[f64],
        until: &Until,
        followed: Option<&ObservedRun<'_>>,
    ) -> Result<Explanation, ExplainError> {
        let most = until.max_evaluations(distribution.columns());
        let mut left = until.max_evaluations(distribution.columns().max(MANY_PLAYERS));
        let mut wrong = 1.0 - until.confidence;
        let (mut interim_checks, mut model_rows) = (Vec::<InterimCheck>::new(), 0);
        let (mut times, mut raised) = (1, None);
        // The tolerance for the error of the coalitions, as a fraction of the whole tolerance.
        let mut share = 1.0;
        loop {
            let now = raised.as_deref().unwrap_or(distribution);
            let game = ConditionalGame::new(model, explicand, now)?;
            let asked = until.with_confidence(1.0 - wrong).with_budget(Some(most.min(left / times)));
            let followed = followed.map(|followed| ObservedRun { draws: Some(now.draws()), ..*followed });
            let of_coalitions = asked.with_tolerance(share * asked.tolerance);
            let (mut explanation, of_draws) =
                self.explain_with_draws(&game, Extent::Until(of_coalitions), followed.as_ref())?;
            left = left.saturating_sub(explanation.evaluations.saturating_mul(times));
            model_rows += explanation.model_rows;
            explanation.model_rows = model_rows;
            let before = explanation.certificate.as_ref().map_or(0.0, |certificate| {
                certificate
                    .interim_checks
                    .iter()
                    .rev()
                    .skip(1)
                    .map(|interim_check| interim_check.spent)
                    .sum::<f64>()
            });
            if explanation.diagnostics.exact
                && let Some(certificate) = &mut explanation.certificate
                && let Some(last) = certificate.interim_checks.last_mut()
            {
                // The run evaluated all coalitions, which it did not know in advance, so only the draws
                // remain to be checked. This check spends the error probability of a final check.
                last.spent = LAST_LOOK * (wrong - before);
            }
            explanation.certify(&asked);
            let Some(mut certificate) = explanation.certificate.clone() else { return Ok(explanation) };
            let is_reached = certificate.stopped_by == StopRule::Tolerance;
            let draws_allow =
                |draws: &ErrorOfDraws| ratio(draws.alone().written(1.0, &explanation), &asked) <= 1.0;
            let could_stop = is_reached || of_draws.as_ref().is_some_and(draws_allow);
            let begins = interim_checks.len();
            interim_checks.extend(certificate.interim_checks.iter().copied());
            if !could_stop {
                interim_checks[begins..].iter_mut().for_each(|interim_check| interim_check.spent = 0.0);
            }
            wrong = 1.0
                - until.confidence
                - interim_checks.iter().map(|interim_check| interim_check.spent).sum::<f64>();
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
                    // A tighter tolerance requires about twice as many coalitions.
                    let further = || {
                        let mut times = std::iter::once(1).chain(doublings(affordable / 2));
                        times.find(|&more| 2 * more <= affordable && tighter(more))
                    };
                    match enough {
                        Some(more) => Some((more.min(MAX_GROWTH), 1.0)),
                        None if share * TIGHTER >= TIGHTEST && !explanation.diagnostics.exact => {
                            further().map(|more| (more.min(MAX_GROWTH), TIGHTER))
                        }
                        None => None,
                    }
                }
                // Estimating the error requires at least two draws.
                None if independent_draws(&game) == Some(1) => {
                    doublings(affordable).next().map(|more| (more, 1.0))
                }
                None => None,
            };
            let more_draws = |(more, tighter): (usize, f64)| {
                Some((more, tighter, distribution.with_draws(distribution.draws() * times * more)?))
            };
            let Some((more, tighter, distribution)) = more.and_then(more_draws) else {
                (certificate.interim_checks, certificate.confidence) = (interim_checks, until.confidence);
                explanation.certificate = Some(certificate);
                return Ok(explanation);
            };
            share *= tighter;
            times *= more;
            raised = Some(distribution);
        }
    }

    /// Explains the game and adds the errors of its draws to the standard errors. Also returns the parts of
    /// these errors, unless the errors of the method already include the draws.
    fn explain_with_draws(
        &self,
        game: &Conditional<'_>,
        extent: Extent,
        followed: Option<&ObservedRun<'_>>,
    ) -> Result<(Explanation, Option<ErrorOfDraws>), ExplainError> {
        let mut explanation = self.asked.explain_all(game, extent, followed)?;
        let Some(independent) = independent_draws(game) else { return Ok((explanation, None)) };
        explanation.diagnostics.draws = Some(game.distribution().draws());
        // The sample of coalitions on which the explanation is based.
        let extent = match explanation
            .certificate
            .as_ref()
            .and_then(|certificate| certificate.interim_checks.last())
        {
            Some(last) => Extent::Grown(last.budget),
            None => extent,
        };
        let method = self.asked.method_of(game.players(), &self.asked.value, extent);
        if method == Method::By(&methods::PRODUCT_SPACE_TRUE_MARGINAL) {
            // The method uses every draw once, as a separate scenario, so its errors already include the
            // draws.
            return Ok((explanation, None));
        }
        let told_by = if method.draws_scenarios() { ErrorSource::OtherMethod } else { ErrorSource::Method };
        let explain = |copies: &dyn Game| match told_by {
            ErrorSource::Method => self.asked.explain_all(copies, extent, None),
            ErrorSource::OtherMethod => {
                let evaluations =
                    extent.evaluations(game.players()).max(MIN_EVALUATIONS_PER_PLAYER * game.players());
                let asked = GameExplainer { method: Method::Auto, until: None, ..self.asked.clone() };
                asked.explain_all(copies, Extent::Sample(evaluations), None)
            }
        };
        let of_draws =
            ErrorOfDraws::estimate(game, independent, self.asked.seed, &mut explanation, told_by, explain)?;
        match &of_draws {
            Some(of_draws) => explanation = of_draws.written(1.0, &explanation),
            None => {
                explanation.std_errors = None;
                explanation.diagnostics.error_distribution = None;
            }
        }
        Ok((explanation, of_draws))
    }
}

/// Returns the largest error of `explanation` as a fraction of the tolerance of `until`, or infinity if there
/// is no error bound.
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

/// Yields 2, 4, 8, … up to `most`.
fn doublings(most: usize) -> impl Iterator<Item = usize> {
    (1..usize::BITS).map(|power| 1 << power).take_while(move |&times| times <= most)
}
