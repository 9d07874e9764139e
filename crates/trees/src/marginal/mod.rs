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
//! where f is the margin. An ensemble is a sum of leaves. For one leaf and one background row, let E be the
//! features that only x satisfies, and R the features that only b satisfies. The game is a product: it equals
//! the leaf's value iff all features E and none of the features R are in S. Its semivalues are moments of the
//! mixing measure (see `apportion_values::Semivalue`), so the values of the whole game are sums over leaves
//! of
//!
//! ```text
//! v · M(|E| − 1, |R|)  to each i ∈ E        −v · M(|E|, |R| − 1)  to each i ∈ R.
//! ```
//!
//! # Four kernels
//!
//! | kernel | method | cost per row and tree | used for |
//! |---|---|---|---|
//! | [`walk`] | follows one explicand and one background row to the leaves that a mixture can reach | background rows × leaves reached | few background rows and few explicands; any depth |
//! | [`cohorts`] | follows one explicand and all background rows at once, as bit sets | leaves × background rows / 64 | few explicands, many background rows; depth up to 64 |
//! | [`masks`] | sorts the background by pattern at each leaf, then iterates over the patterns | leaves × distinct patterns | few explicands; long paths |
//! | [tables](crate::engine::tables) | tabulates the values of every pattern of an explicand, then looks them up | leaves × path features | many explicands |
//!
//! All kernels are exact, so their results agree up to rounding. Each kernel is written once, generic over
//! the contributions of a leaf ([`shares`]): to players, to players in groups, or to pairs. [`cost`] chooses
//! the kernel of a tree. [`linear`] walks trees with linear leaves. Trees that depend on one player alone, as
//! in linear models, are an exception: the time for the contribution of such [`lone`] trees does not depend
//! on the number of background rows. [`joint`] walks trees with splits on several features at once, which are
//! stored separately.
//!
//! With a single background row, no sums over patterns are needed. The game is then a path-dependent game,
//! and [`one_baseline`] computes its values by quadrature if that is faster.
//!
//! # Modules
//!
//! | | |
//! |---|---|
//! | [`tree_explainer`] | an ensemble with a background |
//! | [`values`], [`interactions`], [`indices`] | the methods of the tree explainer |
//! | [`request`] | the players and the weights of coalitions of a request |
//! | [`explain`] | computes the result of a request |
//! | [`linear`], [`lone`], [`joint`] | trees with linear leaves, trees that depend on one player, and trees with splits on several features at once |
//!
//! In a quotient game the players are groups of features. It uses the same kernels, with a map from features
//! to players.

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
mod request;
mod shares;
pub(crate) mod tree_explainer;
mod values;
mod walk;
