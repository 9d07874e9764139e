//! Proxy-residual regression: a surrogate whose values are known, and a regression or sample reuse of what it leaves.
//!
//! # Notation
//!
//! n players, a value φ, a surrogate g, its *remainder* `g̃(S) = g(S) − g(∅) − Σ_{i ∈ S} φ_i(g)`.
//!
//! # The estimate
//!
//! Regressions and adjusted sample reuse are right of additive games whatever the sample, and the value of g̃ is zero: subtracting any share c of
//! g̃ from the game leaves its value as it is, and takes off the noise what g̃ has in common with the game:
//!
//! ```text
//! φ̃ = R(v − c ĝ)
//! ```
//!
//! with the estimator R. Each coalition is judged by surrogates that were not fitted to it (the models of folds, [`crate::support::folds`]), so that
//! one that fits its own sample closely hides nothing, and c, between 0 and 1, is by what the residuals of both have in common. Standard errors are those of R, from the residuals of
//! coalitions by the surrogate that has not seen them.

mod explain;

use std::sync::Arc;

use apportion_games::{Game, Partition, QuotientGame};
use apportion_values::{Semivalue, SolutionConcept, Value};
use serde::{Serialize, Serializer};

use crate::error::Result;
use crate::registry::specs;
use crate::report::Explanation;
use crate::run::{Estimator, at_most_all, settings, units};
use crate::setters::setters;
use crate::support::{Draws, FullBudget, StandardErrors, exact_if_affordable};
use crate::surrogate::interface::Surrogate;
use crate::surrogate::trees::TreeSurrogate;

/// Splits on a path of the trees at most. Games that are decided by who comes first (max games, airports) are trees of one long path: at 20n
/// evaluations of those of 12 players depth 10 leaves a ninth of the squared error of depth 6, and a fiftieth of that of depth 4; other games
/// hardly tell one from the other.
const DEPTH: usize = 10;

/// A surrogate with values in closed form, and what it leaves by leverage regression (Shapley), Kernel Banzhaf's regression (Banzhaf and weighted
/// Banzhaf) or adjusted maximum sample reuse (every other semivalue).
///
/// ```text
/// φ̃ = R(v − c ĝ),    ĝ(S) = g(S) − g(∅) − Σ_{i ∈ S} φ_i(g)
/// ```
///
/// R estimates the value from a sample, and is right of additive games whatever the sample. ĝ has the value zero, so that nothing is lost by
/// subtracting it; the share c, between 0 and 1, is by what the residuals of both have in common, so that a surrogate that says nothing
/// is not listened to. Where there are about as many pairs as unknowns R magnifies whatever is left, and the surrogate stands alone, without
/// standard errors; below three quarters of that it has no part.
///
/// # Surrogates
///
/// Boosted trees by default ([`TreeSurrogate`], of depth 10), products of up to three players ([`KAdditiveSurrogate`](crate::KAdditiveSurrogate)), or one of
/// your own ([`Surrogate`]). Each is fitted to the sample but a fold, for each fold.
///
/// A surrogate may be wrong, fit too closely, fail or say infinity: that costs accuracy. One whose values are not those of what it predicts would
/// bias the answer. So R is applied to what it predicts, too; where R finds values that are further from zero than five standard errors
/// explain, the surrogate is left out.
///
/// # Standard errors
///
/// Those of R, from what the surrogates leave of coalitions that they have not seen. None where the regression does not determine the values.
///
/// # Cost
///
/// The fits, R, and `O(T + m n)`, `T` being the time of `m` evaluations. Values of groups are those of the quotient game.
///
/// ```
/// use apportion_estimators::{Estimator, LeverageShap, ProxyResidual, Semivalue};
/// use apportion_games::{Airport, ClosedForm};
///
/// let game = Airport::new((1..=14).map(|cost| f64::from(cost * cost)).collect::<Vec<_>>())?;
/// let error = |estimator: &dyn Estimator| -> Result<f64, apportion_estimators::EstimatorError> {
///     let got = estimator.estimate(&game, 420, 1)?;
///     Ok(got.values.iter().zip(game.shapley()).map(|(got, want)| (got - want).powi(2)).sum())
/// };
/// assert!(error(&ProxyResidual::new(Semivalue::Shapley))? < 0.5 * error(&LeverageShap::default())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ProxyResidual {
    /// Which value is estimated, of players or of groups.
    pub value: Semivalue,
    /// The groups whose quotient game is played, if any.
    #[serde(serialize_with = "settings::any_groups")]
    pub groups: Option<Partition>,
    /// What is fitted; [`TreeSurrogate`] of depth 10 by default.
    #[serde(serialize_with = "settings_of")]
    pub surrogate: Arc<dyn Surrogate>,
    /// Parts of the sample, each judged by a surrogate of the others: 5 by default, at least 2.
    pub folds: usize,
    /// How coalitions are drawn; [`Draws::FixedCounts`] by default.
    pub draws: Draws,
    /// Whether to estimate standard errors; yes by default.
    pub standard_errors: StandardErrors,
}

fn settings_of<S: Serializer>(surrogate: &Arc<dyn Surrogate>, serializer: S) -> Result<S::Ok, S::Error> {
    surrogate.settings().serialize(serializer)
}

setters!(ProxyResidual {
    with_value => value: Semivalue,
    with_folds => folds: usize,
    with_draws => draws: Draws,
    with_standard_errors => standard_errors: StandardErrors,
});

impl ProxyResidual {
    /// With boosted trees.
    pub fn new(value: Semivalue) -> Self {
        Self {
            value,
            groups: None,
            surrogate: Arc::new(TreeSurrogate::default().with_depth(DEPTH)),
            folds: 5,
            draws: Draws::FixedCounts,
            standard_errors: StandardErrors::default(),
        }
    }

    /// The value of groups in their quotient game, with boosted trees.
    pub fn grouped(value: Semivalue, groups: Partition) -> Self {
        Self { groups: Some(groups), ..Self::new(value) }
    }

    /// The same with another surrogate.
    #[must_use]
    pub fn with_surrogate(self, surrogate: impl Surrogate + 'static) -> Self {
        Self { surrogate: Arc::new(surrogate), ..self }
    }

    /// Of players by themselves.
    fn of_players(&self) -> Self {
        Self { groups: None, ..self.clone() }
    }
}

impl Estimator for ProxyResidual {
    fn name(&self) -> &'static str {
        "proxy-residual"
    }

    fn value(&self) -> SolutionConcept {
        match self.groups {
            None => self.value.clone().into(),
            Some(_) => SolutionConcept::Quotient(self.value.clone()),
        }
    }

    /// `n + 1` (of groups as many as there are, and one), but at least 4 and at most `2^n`. The least, not a recommendation: give 10n or more.
    fn minimum_budget(&self, players: usize) -> usize {
        let units = self.groups.as_ref().map_or(players, Partition::len);
        at_most_all((units + 1).max(4), units)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        if let Some(groups) = &self.groups {
            crate::run::check_budget(self, game, budget)?;
            let quotient = QuotientGame::new(game, groups)?;
            let found = self.of_players().estimate_seen(&quotient, budget, seed)?;
            return Ok(Explanation { value: self.value(), ..found });
        }
        if let Some(explanation) = exact_if_affordable(self, game, budget, FullBudget::Enumerate)? {
            return Ok(explanation);
        }
        self.explain(game, budget, seed)
    }

    fn units(&self, players: usize) -> Vec<Vec<usize>> {
        units(&self.value(), self.groups.as_ref(), players)
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(Self { draws: self.draws.growing(), ..self.clone() })
    }
}

specs! {
    PROXY_RESIDUAL = "proxy-residual":
        "proxy-residual: boosted trees whose values are known, and a regression of what they leave, each coalition judged by trees that have not seen it",
        |value| match value {
            Value::Semivalue(semivalue) => Some(Box::new(ProxyResidual::new(semivalue.clone()))),
            Value::Quotient(semivalue, groups) =>
                Some(Box::new(ProxyResidual::grouped(semivalue.clone(), groups.clone()))),
            _ => None,
        };
}
