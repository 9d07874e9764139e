//! Exact values of outputs after the link function: probabilities, rates, scores.
//!
//! # The game
//!
//! For an explicand x and background rows b with weights w_b that sum to 1,
//!
//! ```text
//! v(S) = Σ_b w_b g(f(x_S, b_rest))
//! ```
//!
//! where f is the margin and g the link. A softmax link takes all margins of a row together. This is the
//! marginal game of the output that users see. Its values are not a rescaling of the values of the margin: g
//! is not additive, so the game is not a sum over leaves.
//!
//! # Enumeration
//!
//! - With one background row, the only players that matter are those for which the rows *diverge*. For such a
//!   player, a feature sends x and b to different children at some split that a mixture of the two reaches
//!   ([`walk`]). All other players are null players, which do not affect semivalues. With m diverging players
//!   there are 2^m mixtures instead of 2^n.
//! - Background rows with the same decisions at all splits that mixtures reach define the same game, and form
//!   one *cohort* ([`cohorts`]).
//! - The margins of all 2^m mixtures come from one transform for all trees, in fixed point without
//!   cancellation ([`table`], [`fixed`]). Then the link is applied, and the table is folded into values.
//!
//! The cost is counted in advance, and an error is returned if it exceeds the limit.
//!
//! If features are in groups, the rows diverge for a group if they diverge for any of its features. A
//! coalitional value requires one game for each group, whose players are the members of the group and the
//! other groups as a whole ([`game`]).
//!
//! The public interface is in [`tree_explainer`].
//!
//! # Limitations
//!
//! The path-dependent game is not defined for outputs after the link. The expectation given the present
//! features is an expectation of margins, and the link of an expectation is not the expectation of the link.

mod cohorts;
mod explain;
mod fixed;
mod game;
mod link;
mod mixtures;
mod table;
pub(crate) mod tree_explainer;
mod walk;
mod weights;
