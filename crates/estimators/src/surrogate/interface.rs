//! What a surrogate of a game is.

use apportion_games::Coalitions;
use apportion_values::Semivalue;

use crate::run::Settings;

/// A model of games, fitted to the values of some coalitions, whose own semivalues are known exactly.
///
/// Methods that use one take it for a control variate: what it says need not be right, but [`FittedSurrogate::values`] must be the values of
/// the game that [`FittedSurrogate::predict`] is.
///
/// ```
/// use apportion_estimators::{Coalitions, Estimator, FittedSurrogate, ProxyResidual, Semivalue, Surrogate};
/// use apportion_games::SumOfUnanimity;
///
/// /// The sum of the members' numbers, whatever was seen.
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
///         coalitions.iter().map(|coalition| coalition.members().map(|player| self.0[player]).sum()).collect()
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
    /// Fits it to `values`, one for each of the `coalitions`; the empty and the full coalition are among them. None where they are too few,
    /// which costs accuracy alone. The same input gives the same bits.
    fn fit(&self, coalitions: &Coalitions, values: &[f64]) -> Option<Box<dyn FittedSurrogate>>;
}

/// A surrogate that is fitted to a game.
pub trait FittedSurrogate: Send + Sync {
    /// What it says that each coalition is worth.
    fn predict(&self, coalitions: &Coalitions) -> Vec<f64>;

    /// The exact `value` of the game that [`predict`](Self::predict) is: one number for each player.
    fn values(&self, value: &Semivalue) -> Vec<f64>;
}
