//! The traits of surrogates.

use apportion_games::Coalitions;
use apportion_values::Semivalue;

use crate::run::Settings;

/// A model of games with exactly known semivalues, which is fitted to the values of some coalitions.
///
/// Methods use it as a control variate. Its predictions need not be accurate, but [`FittedSurrogate::values`]
/// must be the exact values of the game that [`FittedSurrogate::predict`] defines.
///
/// ```
/// use apportion_estimators::{Coalitions, Estimator, FittedSurrogate, ProxyResidual, Semivalue, Surrogate};
/// use apportion_games::SumOfUnanimity;
///
/// /// Predicts the sum of fixed numbers of the members, ignoring the data.
/// #[derive(Debug, serde::Serialize)]
/// struct Guess(Vec<f64>);
///
/// impl Surrogate for Guess {
///     fn fit(&self, _: &Coalitions, _: &[f64]) -> Option<Box<dyn FittedSurrogate>> {
///         Some(Box::new(Guess(self.0.clone())))
///     }
/// }
///
/// impl FittedSurrogate for Guess {
///     fn predict(&self, coalitions: &Coalitions) -> Vec<f64> {
///         coalitions
///             .iter()
///             .map(|coalition| coalition.members().map(|player| self.0[player]).sum())
///             .collect()
///     }
///     fn values(&self, _: &Semivalue) -> Vec<f64> {
///         self.0.clone()
///     }
/// }
///
/// let game = SumOfUnanimity::random(12, 30, 3, 1);
/// let estimator = ProxyResidual::new(Semivalue::Shapley).with_surrogate(Guess(vec![1.0; 12]));
/// assert!(estimator.estimate(&game, 200, 0)?.std_errors.is_some());
/// # Ok::<(), apportion_estimators::EstimatorError>(())
/// ```
pub trait Surrogate: Settings + std::fmt::Debug + Send + Sync {
    /// Fits the surrogate to `values`, one for each of the `coalitions`, which include the empty and the
    /// grand coalition. Returns `None` if there are too few of them; this only reduces the accuracy. The
    /// result must be deterministic.
    fn fit(&self, coalitions: &Coalitions, values: &[f64]) -> Option<Box<dyn FittedSurrogate>>;
}

/// A surrogate fitted to a game.
pub trait FittedSurrogate: Send + Sync {
    /// Returns the predicted value of each coalition.
    fn predict(&self, coalitions: &Coalitions) -> Vec<f64>;

    /// Returns the exact `value` of the game that [`predict`](Self::predict) defines: one number per player.
    fn values(&self, value: &Semivalue) -> Vec<f64>;
}
