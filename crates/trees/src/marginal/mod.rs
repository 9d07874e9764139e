//! Exact values of the marginal (interventional) game of a tree ensemble, without sampling.
//!
//! # The game
//!
//! For an explicand x and background rows b with weights w_b that sum to 1, the players are the features and
//!
//! ```text
//! v(S) = Σ_b w_b f(x_S, b_rest)
//! ```
//!
//! where f is the margin. An ensemble is a sum of leaves, and on one leaf and one background row the game is
//! a product: it is worth the leaf's value iff all features E that only x satisfies are in S and none of the
//! features R that only b satisfies is. Its semivalues are moments of the mixing measure (see
//! `apportion_values::Semivalue`), so the values of the whole game are sums over leaves of
//!
//! ```text
//! v · M(|E| − 1, |R|)  to each i ∈ E        −v · M(|E|, |R| − 1)  to each i ∈ R.
//! ```
//!
//! # Four ways to add them up
//!
//! | kernel | what it does | cost per row and tree | when |
//! |---|---|---|---|
//! | [`walk`] | follows one explicand and one background row to the leaves that a mixture can reach | background rows × leaves reached | few background rows and few explicands; any depth |
//! | [`cohorts`] | follows one explicand and all background rows at once, as sets of bits | leaves × background rows / 64 | few explicands, many background rows; depth up to 64 |
//! | [`masks`] | sorts the background by pattern at each leaf, then goes through the patterns | leaves × distinct patterns | few explicands; long paths |
//! | [tables](crate::engine::tables) | writes down the values of every pattern of an explicand, then looks them up | leaves × path features | many explicands |
//!
//! All are exact and agree within rounding. Each is written once, over what a leaf gives: [`shares`] to
//! players, to players in groups, or to pairs. [`cost`] says which kernel is taken for a tree. Trees with
//! linear leaves are walked, by [`linear`], unless they look at one player alone, as those of linear models
//! do: what [`lone`] trees give is the same against any number of background rows. Those with splits on
//! several features at once, which stand apart from all others, are walked by [`joint`].
//!
//! A single background row needs no sums over patterns: that game is a path-dependent one, and
//! [`one_baseline`] has it computed by quadrature where that is faster.
//!
//! # What is where
//!
//! | | |
//! |---|---|
//! | [`oracle`] | an ensemble with a background |
//! | [`values`], [`interactions`], [`indices`] | what it can be asked for |
//! | [`request`] | whose values are wanted, and how coalitions are weighed |
//! | [`explain`] | from a request to the answer |
//! | [`linear`], [`lone`], [`joint`] | trees with linear leaves, those that look at one player, and with splits on several features at once |
//!
//! In a quotient game the players are groups of features: the same kernels, told whose player a feature is.

pub(crate) mod cohorts;
pub(crate) mod cost;
mod explain;
mod indices;
mod interactions;
mod joint;
mod linear;
mod lone;
mod masks;
mod one_baseline;
pub(crate) mod oracle;
mod request;
mod shares;
mod values;
mod walk;
