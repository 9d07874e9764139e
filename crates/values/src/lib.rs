//! Solution concepts: definitions of attributions, and exact values by these definitions.
//!
//! ```
//! use apportion_values::{Background, MarginalGame, Semivalue, axioms, enumerate};
//!
//! // Attribute the prediction 2 · 3 + 1 = 7 to the features; the base value is 0.
//! let model = |row: &[f64]| row[0] * row[1] + row[2];
//! let background = Background::baseline([0.0, 0.0, 0.0])?;
//! let game = MarginalGame::new(&model, &[2.0, 3.0, 1.0], &background)?;
//! let shapley = enumerate(&game, Semivalue::Shapley)?;
//! for (got, wanted) in shapley.values.iter().zip([3.0, 3.0, 1.0]) {
//!     assert!((got - wanted).abs() < 1e-14);
//! }
//! axioms::efficiency(&shapley.values, &shapley.base, &shapley.predictions, 1e-14)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Overview
//!
//! | | |
//! |---|---|
//! | [`Semivalue`] | Shapley, Banzhaf, weighted Banzhaf, Beta-Shapley, custom weights by size or a custom mixing measure: the weights of coalitions by size, in a form that is stable for thousands of players |
//! | [`Rule`] | quadrature of the mixing measure, exact up to a given degree |
//! | [`LeastSquaresForm`] | the weighted regression whose solution is the value, if there is one |
//! | [`Attributions`], [`Axis`] | the result of every exact computation: values, v(∅), v(N), and the names of the axes |
//! | [`enumerate()`], [`enumerate_many`] | exact values of any game of up to 25 players, in one pass over its 2^n coalitions |
//! | [`CoalitionalValue`], [`two_step_shapley`] | exact values for players in groups: Owen, Banzhaf-Owen, any pair of semivalues, for groups or a hierarchy of groups; two-step Shapley |
//! | [`GraphValue`] | values for players on a graph: L-Shapley, C-Shapley, Myerson, and their generalizations to any semivalue |
//! | [`LinearValue`], [`CoalitionDistribution`] | values with custom distributions over coalitions; weighted Shapley |
//! | [`InteractionIndex`], [`IndexWeights`] | [interaction indices](interactions) of every order, by name: Shapley, Banzhaf and any other semivalue, k-Shapley, Shapley-Taylor, faithful indices, chaining, Möbius, generalized values; their weights for differences, Möbius and Walsh coefficients |
//! | [`enumerate_interactions()`], [`MoebiusTransform`], [`Interactions`] | exact indices of any game of up to 25 players, or of any number of players from a few Möbius coefficients; the sparse result |
//! | [`AdditiveTerms`] | exact values and indices of games that are sums of games of few players, e.g. the marginal games of generalized additive models, from few evaluations |
//! | [`SolutionConcept`] | all values for players above, and quotient values; by name, except linear values |
//! | [`Value`] | a solution concept with its groups or its graph |
//! | [`axioms`] | efficiency, symmetry, null player, dummy, linearity, 2-efficiency; for groups also the quotient property and symmetry within groups; as predicates |
//! | [`ValueError`] | errors |
//!
//! # Shapes
//!
//! `n` players, `k` outputs. Values are n × k, row-major, in the units of the game; v(∅) and v(N) are k
//! numbers each. [`Attributions`] may contain several rows, or values of pairs, as described by their
//! [axes](Attributions::axes).

mod attributions;
pub mod axioms;
mod coalitional;
mod enumeration;
mod error;
mod graph_value;
pub mod interactions;
mod least_squares;
mod levels;
mod linear;
mod logarithms;
mod moebius_values;
mod quadrature;
mod semivalue;
mod solution_concept;
mod value;

/// Types from dependencies that occur in signatures, re-exported so that users do not need to depend on those
/// crates.
#[doc(no_inline)]
pub use apportion_games::{
    Background, CoalitionView, Coalitions, Game, GameError, Graph, Hierarchy, MarginalGame, Member, Partition,
};

pub use attributions::{Attributions, Axis};
pub use axioms::Violation;
pub use coalitional::{CoalitionalValue, two_step_shapley};
pub use enumeration::{MAX_PLAYERS, enumerate, enumerate_many};
pub use error::{DistributionProblem, ValueError, WeightsProblem};
pub use graph_value::{Coefficients, GraphForm, GraphValue, Outside};
pub use interactions::{
    AdditiveTerms, IndexWeights, InteractionIndex, Interactions, MoebiusTransform, enumerate_interactions,
    enumerate_interactions_many,
};
pub use least_squares::LeastSquaresForm;
pub use linear::{CoalitionDistribution, LinearValue};
pub use quadrature::Rule;
pub use semivalue::{BetaDistribution, Mixture, Presence, Semivalue, SizeWeights};
pub use solution_concept::SolutionConcept;
pub use value::Value;

/// Runs the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
