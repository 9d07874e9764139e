//! Solution concepts: what a player's share *is*, and its exact value by definition.
//!
//! ```
//! use apportion_values::{Background, MarginalGame, Semivalue, axioms, enumerate};
//!
//! // Which feature made the prediction 2 · 3 + 1 = 7 of an average of 0?
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
//! # What is here
//!
//! | | |
//! |---|---|
//! | [`Semivalue`] | Shapley, Banzhaf, weighted Banzhaf, Beta-Shapley, your own weights by size or mixing measure: the weights of coalitions by size, in a form that is stable for thousands of players |
//! | [`Rule`] | quadrature of the mixing measure, exact to a stated degree |
//! | [`LeastSquaresForm`] | the regression whose solution a value is, where there is one |
//! | [`Attributions`], [`Axis`] | what every exact computation answers: values, v(∅), v(N), and the names of the axes |
//! | [`enumerate()`], [`enumerate_many`] | exact values of any game of up to 25 players, in one pass over its 2^n coalitions |
//! | [`CoalitionalValue`], [`two_step_shapley`] | exact values of players in groups: Owen, Banzhaf-Owen, any pair of semivalues, in groups and over a hierarchy of groups; two-step Shapley |
//! | [`GraphValue`] | values of players on a graph: L-Shapley, C-Shapley, Myerson, and the same of any semivalue |
//! | [`LinearValue`], [`CoalitionLaw`] | values by a user's own laws over coalitions; weighted Shapley |
//! | [`InteractionIndex`], [`IndexWeights`] | [interaction indices](interactions) of coalitions, of every order, by name: Shapley, Banzhaf and of any semivalue, k-Shapley, Shapley-Taylor, faithful ones, chaining, Möbius, generalized values; their weights of differences, of Möbius and of Walsh coefficients |
//! | [`enumerate_interactions()`], [`MoebiusTransform`], [`Interactions`] | exact indices of any game of up to 25 players, and of any number from few Möbius coefficients; the sparse answer |
//! | [`SolutionConcept`] | all of these by name, and quotient values |
//! | [`Value`] | a solution concept with the groups or the graph that it is of: what is asked for |
//! | [`axioms`] | efficiency, symmetry, null player, dummy, linearity, 2-efficiency; of groups the quotient property and symmetry within groups, as predicates |
//! | [`ValueError`] | what can go wrong |
//!
//! # Shapes
//!
//! `n` players, `k` outputs. Values are n × k, row-major, in the units of the game; v(∅) and v(N) are k numbers each. [`Attributions`] may
//! have several rows of these, or values of pairs; their [axes](Attributions::axes) say which.

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
mod quadrature;
mod semivalue;
mod solution_concept;
mod value;

/// Types of lower crates that stand in signatures here, so that whoever uses this crate needs no other for them.
#[doc(no_inline)]
pub use apportion_games::{
    Background, CoalitionView, Coalitions, Game, GameError, Graph, Hierarchy, MarginalGame, Member, Partition,
};

pub use attributions::{Attributions, Axis};
pub use axioms::Violation;
pub use coalitional::{CoalitionalValue, two_step_shapley};
pub use enumeration::{MOST_PLAYERS, enumerate, enumerate_many};
pub use error::{LawProblem, ValueError, WeightsProblem};
pub use graph_value::{Coefficients, GraphForm, GraphValue, Outside};
pub use interactions::{
    IndexWeights, InteractionIndex, Interactions, MoebiusTransform, enumerate_interactions,
    enumerate_interactions_many,
};
pub use least_squares::LeastSquaresForm;
pub use linear::{CoalitionLaw, LinearValue};
pub use quadrature::Rule;
pub use semivalue::{BetaLaw, Mixture, Presence, Semivalue, SizeWeights};
pub use solution_concept::SolutionConcept;
pub use value::Value;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
