//! Exact values of the path-dependent game of a tree ensemble, without sampling.
//!
//! # The game
//!
//! `x` is the explicand, the row to explain. v(S) is the expected output of the trees given the features in S
//! (see [`PathDependentGame`](crate::PathDependentGame)). A split on a present feature takes the branch of x.
//! A split on an absent feature averages both branches, weighted by their *shares* κ of the training cover of
//! the split.
//!
//! # Derivation
//!
//! A semivalue is an average over t of the derivative of the multilinear extension F. F is the expectation of
//! v if every player is present independently with its own probability. Then `φ_i = ∫ ∂F/∂t_i dμ(t)`,
//! evaluated at the point at which all probabilities are t (Owen, *Multilinear extensions of games*, 1972;
//! for semivalues Dubey, Neyman and Weber, 1981).
//!
//! On a tree, F is an expectation over random walks from the root: every split draws whether its feature is
//! present. At the first split on a feature, the feature is present with probability t. At a later split on
//! the feature, the path of the walk is evidence. If the feature is present, the walk has taken the branches
//! of x. If it is absent, the walk has taken these branches with probability c, the product of the shares so
//! far. By Bayes's rule the feature is now present with probability
//!
//! ```text
//! s = t / (t + c (1 − t))  if x passes all earlier tests of the feature (c = 1 and s = t if there are none),
//! s = 0                    if x fails one, because the walk would not be here.
//! ```
//!
//! Therefore each split mixes the expectations below its children independently of the others, and the
//! expectation at a leaf is its value v:
//!
//! ```text
//! T(leaf) = v,     A = κ_l T_l + κ_r T_r,     Δ = T(child of x) − A,     T(split) = A + s Δ.
//! ```
//!
//! With P the probability that the walk reaches a split, F depends on the split's s by `∂F/∂s = P Δ`, and by
//! the chain rule
//!
//! ```text
//! P(root) = 1,     P(child) = P · ((1 − s) κ_child + s [x goes to the child]),
//! φ_i(t) = Σ_{splits on i} P · ds/dt · Δ,     ds/dt = c / (t + c (1 − t))²,  or 0 if s is 0.
//! ```
//!
//! P is computed on the way down, T and φ on the way up: each split is visited twice, for any depth and any
//! number of features. On a leaf with d distinct features on its path, φ_i(t) is a polynomial of degree d −
//! 1, so a Gauss rule of ⌈d/2⌉ nodes integrates it exactly. For (weighted) Banzhaf values, one node suffices.
//!
//! The gradient of the multilinear extension and its quadrature follow Li, Yu and Low, *TreeGrad*, 2026, and
//! Wettenstein, Mitchell and Yu, *Quadrature-TreeSHAP*, 2026. To remove a feature, the latter divide the
//! product of a leaf by the factor of the feature; with conditional probabilities, no division is needed.
//!
//! # Numerical stability
//!
//! P, s and κ are probabilities, and T lies between the smallest and largest leaf value. No factor is divided
//! out of a product, so neither small shares nor long paths cause errors. The only subtraction is between the
//! expectations with and without the feature.
//!
//! # Modules
//!
//! | | |
//! |---|---|
//! | [`tree_explainer`], [`values`], [`interactions`] | the tree explainer of an ensemble and its methods |
//! | [`inputs`] | the inputs that trees read from rows, and their players |
//! | [`program`] | flattened trees: shares, c, the order of the steps |
//! | [`lanes`] | vectorization over rows and nodes of a rule |
//! | [`block`] | converts rows to columns and back, and passes blocks through the trees |
//! | [`kernel`] | the recursion for players |
//! | [`one_row`] | the same for a single row, vectorized over the nodes of the rule |
//! | [`coalitional`] | the same for features in groups |
//! | [`interactions`] | the same for interactions of pairs |
//! | [`indices`], [`leaves`] | interaction indices of coalitions of any order |
//! | [`cost`], [`plan`] | the choice of the kernel and its predicted time |
//! | [`baseline`] | the marginal game with one baseline, which is a path-dependent game |
//! | [`by_size`], [`others`] | weights by coalition size, which do not have a quadrature rule: a separate, slower kernel |
//! | [`over_hierarchy`] | features in a hierarchy of groups, leaf by leaf |
//! | [`tables`] | tables for many rows |

mod aligned;
mod baseline;
mod block;
mod by_size;
mod coalitional;
mod cost;
mod indices;
mod inputs;
mod interactions;
mod kernel;
mod lanes;
mod leaves;
mod one_row;
mod others;
mod over_hierarchy;
mod plan;
mod program;
mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod tree_explainer;
mod values;

pub(crate) use self::baseline::AgainstBaseline;
pub(crate) use self::cost::Cost;
