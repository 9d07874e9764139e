//! Exact values of what is behind the link: probabilities, rates, scores.
//!
//! # The game
//!
//! For an explicand x and background rows b with weights w_b that sum to 1,
//!
//! ```text
//! v(S) = Σ_b w_b g(f(x_S, b_rest))
//! ```
//!
//! where f is the margin and g the link, which for a softmax takes all margins of a row together. This is the
//! marginal game of the model that people see, and its values differ from any rescaling of those of the
//! margin: g is not additive, so the game is no sum over leaves.
//!
//! # How it is enumerated
//!
//! - Against one background row only the players *who part* matter: those whose features send x and b
//!   different ways at some split that a mixture of the two comes to ([`walk`]). All others are null, and
//!   semivalues do not see null players. With m of them there are 2^m mixtures instead of 2^n.
//! - Background rows that decide alike wherever a mixture comes make the same game, and are one *cohort*
//!   ([`cohorts`]).
//! - The margins of all 2^m mixtures come from one transform for all trees, in fixed point without
//!   cancellation ([`table`], [`fixed`]). They then go through the link, and the table is folded into values.
//!
//! What that takes is counted before anything is computed, and refused where it is more than allowed.
//!
//! Of features in groups, a group that is a player parts where one of its features does. A coalitional value
//! takes one game for each group, among its members and the other groups as wholes ([`game`]).
//!
//! What it can be asked for is in [`oracle`].
//!
//! # What is not here
//!
//! The path-dependent game has no outputs behind the link: what a tree expects of features that it is not
//! told is an expectation of margins, and the link of an expectation is not the expectation of the link.

mod cohorts;
mod explain;
mod fixed;
mod game;
mod link;
mod mixtures;
pub(crate) mod oracle;
mod table;
mod walk;
mod weights;
