//! Proxy-residual regression: a surrogate with known values, plus a regression or sample reuse on its
//! residuals.
//!
//! # Notation
//!
//! There are n players, a value φ and a surrogate g. The *remainder* of g is `g̃(S) = g(S) − g(∅) − Σ_{i ∈ S}
//! φ_i(g)`.
//!
//! # Estimate
//!
//! Regressions and adjusted sample reuse are exact for additive games with any sample, and the value of g̃ is
//! zero. Subtracting any multiple c of g̃ from the game therefore does not change its value, but removes the
//! noise that g̃ and the game have in common:
//!
//! ```text
//! φ̃ = R(v − c ĝ)
//! ```
//!
//! where R is the estimator. In ĝ, each coalition is predicted by surrogates that were not fitted to it (the
//! models of folds, [`crate::support::folds`]), so that overfitting does not make residuals too small. The
//! factor c, between 0 and 1, is estimated from the correlation between the residuals of the game and those
//! of the surrogate. Standard errors are those of R, from the residuals of coalitions for the surrogate that
//! has not seen them.

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

/// The maximum number of splits on a path of the trees. Games that depend on a maximum (max games, airport
/// games) are trees with one long path. For such games of 12 players at 20n evaluations, depth 10 has a ninth
/// of the squared error of depth 6, and a fiftieth of that of depth 4. For other games, the depth hardly
/// matters.
const DEPTH: usize = 10;

/// A surrogate with values in closed form, plus an estimate from its residuals: by leverage regression
/// (Shapley), by the regression of Kernel Banzhaf (Banzhaf and weighted Banzhaf), or by adjusted maximum
/// sample reuse (every other semivalue).
///
/// ```text
/// φ̃ = R(v − c ĝ),    ĝ(S) = g(S) − g(∅) − Σ_{i ∈ S} φ_i(g)
/// ```
///
/// R estimates the value from a sample, and is exact for additive games with any sample. ĝ has the value
/// zero, so subtracting it does not change the value. The factor c, between 0 and 1, is estimated from the
/// correlation between the residuals of the game and those of the surrogate, so that an uninformative
/// surrogate is ignored. With about as many pairs as unknowns, R amplifies any remainder, so the surrogate is
/// used alone, without standard errors. With fewer than three quarters as many pairs, the surrogate is not
/// used.
///
/// # Surrogates
///
/// By default, the surrogate is boosted trees ([`TreeSurrogate`], with depth 10). Alternatives are products
/// of up to three players ([`KAdditiveSurrogate`](crate::KAdditiveSurrogate)) and custom surrogates
/// ([`Surrogate`]). For each fold, the surrogate is fitted to the sample without this fold.
///
/// A surrogate may be wrong, overfit, fail or return infinity: this only reduces accuracy. But if its values
/// are not those of its predictions, it would bias the result. Therefore, R is also applied to its
/// predictions. If the values that R finds are farther from zero than five standard errors explain, the
/// surrogate is not used.
///
/// # Standard errors
///
/// Standard errors are those of R, from the surrogates' residuals for coalitions that they have not seen.
/// There are none if the regression does not determine the values.
///
/// # Cost
///
/// Takes the time of the fits and of R, plus `O(T + m n)`, where `T` is the time of `m` evaluations. Values
/// of groups are values in the quotient game.
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
    /// The value to estimate, for players or for groups.
    pub value: Semivalue,
    /// The groups of the quotient game, if any.
    #[serde(serialize_with = "settings::any_groups")]
    pub groups: Option<Partition>,
    /// The surrogate; defaults to [`TreeSurrogate`] with depth 10.
    #[serde(serialize_with = "settings_of")]
    pub surrogate: Arc<dyn Surrogate>,
    /// The number of folds, at least 2; defaults to 5. Each fold is predicted by a surrogate fitted to the
    /// others.
    pub folds: usize,
    /// How coalitions are drawn; defaults to [`Draws::FixedCounts`].
    pub draws: Draws,
    /// Whether to estimate standard errors; defaults to [`StandardErrors::Estimated`].
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
    /// Creates the estimator with boosted trees.
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

    /// Creates the estimator of the values of groups in their quotient game, with boosted trees.
    pub fn grouped(value: Semivalue, groups: Partition) -> Self {
        Self { groups: Some(groups), ..Self::new(value) }
    }

    /// Sets the surrogate.
    #[must_use]
    pub fn with_surrogate(self, surrogate: impl Surrogate + 'static) -> Self {
        Self { surrogate: Arc::new(surrogate), ..self }
    }

    /// Returns the same estimator for players without groups.
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

    /// Returns `n + 1` (for groups, the number of groups plus one), but at least 4 and at most `2^n`. This is
    /// the minimum, not a recommendation: use 10n or more.
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
        "boosted trees, whose values are exact, and a regression on their residuals, cross-fitted",
        |value| match value {
            Value::Semivalue(semivalue) => Some(Box::new(ProxyResidual::new(semivalue.clone()))),
            Value::Quotient(semivalue, groups) =>
                Some(Box::new(ProxyResidual::grouped(semivalue.clone(), groups.clone()))),
            _ => None,
        };
}
