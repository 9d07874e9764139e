//! Textbook games with closed-form values, for testing exact methods and estimators.

use crate::game::Game;

mod additive;
mod airport;
mod cooking;
mod glove;
mod sum_of_unanimity;
mod weighted_voting;

pub use additive::Additive;
pub use airport::Airport;
pub use cooking::Cooking;
pub use glove::Glove;
pub use sum_of_unanimity::SumOfUnanimity;
pub use weighted_voting::WeightedVoting;

/// A game with one output whose Shapley and Banzhaf values are known in closed form.
///
/// ```
/// use apportion_games::{ClosedForm, Glove};
///
/// // One left glove and two right ones: the left glove is scarce.
/// let shapley = Glove::new(1, 2)?.shapley();
/// let near = |(got, want): (&f64, f64)| (got - want).abs() < 1e-15;
/// assert!(shapley.iter().zip([4.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]).all(near));
/// # Ok::<(), apportion_games::GameError>(())
/// ```
pub trait ClosedForm: Game {
    /// Returns the Shapley value of each player, n numbers:
    /// `φ_i = (1/n) Σ_{S∌i} [v(S∪i) − v(S)] / C(n−1, s)`.
    fn shapley(&self) -> Vec<f64>;

    /// Returns the Banzhaf value of each player, n numbers: `φ_i = 2^{−(n−1)} Σ_{S∌i} [v(S∪i) − v(S)]`.
    fn banzhaf(&self) -> Vec<f64>;
}
