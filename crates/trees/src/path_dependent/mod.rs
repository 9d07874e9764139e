//! Exact values of the path-dependent game of a tree ensemble, without sampling.
//!
//! # The game
//!
//! `x` is the explicand; a coalition knows its features and no others. v(S) is what the trees expect: at a
//! split on a known feature the branch of x, at any other both branches, weighted by the *shares* κ of the
//! training cover that they have of the split's (see [`PathDependentGame`](crate::PathDependentGame)).
//!
//! # The derivation
//!
//! A semivalue is an average over t of the derivative of the multilinear extension: let every player be
//! present with a probability of its own, all independent, and F be the expectation of v. Then
//! `φ_i = ∫ ∂F/∂t_i dμ(t)`, taken where all probabilities are t (Owen, *Multilinear extensions of games*,
//! 1972; for semivalues Dubey, Neyman and Weber, 1981).
//!
//! On a tree, F is an expectation over random walks from the root: every split tosses whether its feature is
//! present. The first split on a feature finds it present with probability t. At a later split on it, the
//! walk that came here is evidence: it came by x's branches only if present, and with probability c, the
//! product of the shares so far, if absent. By Bayes's rule the feature is now present with probability
//!
//! ```text
//! s = t / (t + c (1 − t))    if x passes all earlier tests of the feature (c = 1 and s = t, where there are none),
//! s = 0                      if x fails one: the walk would not be here.
//! ```
//!
//! So each split mixes what is expected below its children, by itself, and a leaf expects its value v:
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
//! φ_i(t) = Σ_{splits on i} P · ds/dt · Δ,     ds/dt = c / (t + c (1 − t))²,  or 0 where s is 0.
//! ```
//!
//! P is computed on the way down, T and φ on the way up: each split is visited twice, however deep the tree
//! and however many features it has. On a leaf with d distinct features on its path, φ_i(t) is a polynomial
//! of degree d − 1, so a Gauss rule of ⌈d/2⌉ nodes integrates it exactly; (weighted) Banzhaf values have one
//! node.
//!
//! The gradient of the multilinear extension and its quadrature are those of Li, Yu and Low, *TreeGrad*,
//! 2026, and of Wettenstein, Mitchell and Yu, *Quadrature-TreeSHAP*, 2026. The latter divides the product of
//! a leaf by the factor of a feature to take the feature out; with conditional probabilities there is nothing
//! to divide.
//!
//! # Why it is stable
//!
//! P, s and κ are probabilities, and T lies between the values of leaves. Nothing is divided out of a
//! product, so no product need be invertible: neither small shares nor long paths do harm. Nothing is
//! subtracted but what is expected with and without the feature.
//!
//! # What is where
//!
//! | | |
//! |---|---|
//! | [`oracle`], [`values`], [`interactions`] | an ensemble, and what it can be asked for |
//! | [`inputs`] | what trees ask of rows, and on whose behalf |
//! | [`program`] | trees, flattened: shares, c, the order of the steps |
//! | [`lanes`] | rows side by side, and some nodes of a rule |
//! | [`block`] | rows to columns and back, and a block of them through the trees |
//! | [`kernel`] | the recursion for players |
//! | [`one_row`] | the same for a single row, the nodes of the rule side by side |
//! | [`coalitional`] | the same for features in groups |
//! | [`interactions`] | the same for interactions of pairs |
//! | [`indices`], [`leaves`] | interaction indices of coalitions of any order |
//! | [`cost`], [`plan`] | which kernel, and how long it takes |
//! | [`baseline`] | the marginal game against one baseline, which is one of these |
//! | [`by_size`], [`others`] | weights by size, which have no quadrature: another kernel, slower |
//! | [`over_hierarchy`] | features over a hierarchy of groups, leaf by leaf |
//! | [`tables`] | tables of many rows |

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
pub(crate) mod oracle;
mod others;
mod over_hierarchy;
mod plan;
mod program;
mod tables;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use self::baseline::AgainstBaseline;
pub(crate) use self::cost::Cost;
