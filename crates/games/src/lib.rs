//! Cooperative games: players, coalitions and value functions.
//!
//! A model, a row to explain and a background define a game on the features of this row; the game maps a
//! batch of coalitions to their values. Exact enumeration and the estimators, which are in other crates, work
//! with any [`Game`].
//!
//! ```
//! use apportion_games::{Background, Coalitions, Game, MarginalGame};
//!
//! let model = |row: &[f64]| 3.0 * row[0] + row[1] * row[2];
//! let background = Background::baseline([0.0, 1.0, 1.0])?;
//! let game = MarginalGame::new(&model, &[1.0, 2.0, 5.0], &background)?;
//!
//! let mut batch = Coalitions::new(game.players());
//! batch.push_empty();
//! batch.push_members([0, 2]);
//! batch.push_full();
//! let mut values = [0.0; 3];
//! game.values(&batch, &mut values)?;
//! assert_eq!(values, [1.0, 8.0, 13.0]);
//! # Ok::<(), apportion_games::GameError>(())
//! ```
//!
//! # Overview
//!
//! | | |
//! |---|---|
//! | [`Coalition`], [`CoalitionView`], [`Coalitions`] | one coalition as bits, and a batch of `m` of them as an m × n bit matrix |
//! | [`Game`] | the value function `v : 2^N → R^k`, evaluated in batches |
//! | [`Model`], [`Rows`], [`batch_model`] | functions from rows of features to outputs, including closures |
//! | [`Shared`] | a borrowed or shared model (or any other value) |
//! | [`NearReference`], [`Changes`] | models that predict rows close to a reference row at lower cost |
//! | [`Background`], [`MarginalGame`] | the values of absent features, and the marginal game of an explicand |
//! | [`TabulatedGame`] | a table of all 2^n values |
//! | [`SubGame`] | a game restricted to some of the players; removes null players and restores them |
//! | [`DerivativeGame`] | the marginal contributions of a player, as a game; its Shapley values are interaction indices |
//! | [`Partition`], [`QuotientGame`] | groups of players, and the game of the groups |
//! | [`Hierarchy`], [`Member`] | nested groups, of any depth |
//! | [`Graph`], [`GraphRestrictedGame`] | graphs of players (lines, grids, general graphs) with neighbourhoods, connected sets ([`ConnectedSet`]) and components; and the game in which only connected coalitions cooperate |
//! | [`Counted`], [`Cached`], [`Centred`] | adapters that count evaluations, cache values, or subtract v(∅) |
//! | [`Additive`], [`SumOfUnanimity`], [`Glove`], [`Airport`], [`WeightedVoting`], [`Cooking`] | textbook games with closed-form values: [`ClosedForm`] |
//! | [`stream`], [`Purpose`], [`coalition_unit`] | random streams that make every result a function of its seed |
//! | [`memory`], [`TooMuchMemory`] | a check, before allocation, that a computation fits in memory |
//! | [`Cancellation`], [`Cancelled`] | cancellation of running work, from another thread |
//! | [`GameError`] | errors |
//!
//! With the feature `conditional`, which depends on a linear algebra library:
//!
//! | | |
//! |---|---|
//! | `ConditionalGame` | the conditional game of an explicand, `v(S) = E[f(X) \| X_S = x_S]` |
//! | `ErrorsOfDraws` | the conditional game with extra outputs that are perturbed by the errors of its draws |
//! | `GaussianDistribution`, `CopulaDistribution`, `EmpiricalDistribution`, `FrequencyDistribution` | the distribution of absent features given the present ones, fitted to data, weighted or not: `ConditionalDistribution`, `Sampling` |
//! | `AdaptedEmpiricalDistribution`, `Fallback` | an empirical distribution with a bandwidth chosen by AICc; the fallback for frequencies if no row matches |
//!
//! # Shapes
//!
//! `n` players, `m` coalitions, `k` outputs, `B` background rows. Values are m × k, and tables of rows have n
//! columns; both are row-major. All numbers are f64.

#[macro_use]
mod adapters;
mod background;
#[doc(hidden)]
pub mod cancellation;
mod coalition;
mod coalitions;
#[cfg(feature = "conditional")]
mod conditional;
mod derivative;
mod error;
mod game;
mod graph;
mod hierarchy;
mod marginal;
pub mod memory;
mod model;
mod near;
#[doc(hidden)]
pub mod parallel;
mod partition;
#[doc(hidden)]
pub mod phrases;
mod quotient;
#[doc(hidden)]
pub mod scan;
mod shared;
mod stream;
mod sub_game;
mod synthetic;
mod tabulated;
mod textbook;

pub use adapters::{Cached, Centred, Counted};
pub use background::Background;
pub use cancellation::{Cancellation, Cancelled};
pub use coalition::{Coalition, CoalitionView, words_for};
pub use coalitions::Coalitions;
#[cfg(feature = "conditional")]
pub use conditional::{
    AdaptedEmpiricalDistribution, ConditionalDistribution, ConditionalGame, CopulaDistribution,
    EmpiricalDistribution, ErrorsOfDraws, Fallback, FrequencyDistribution, GaussianDistribution, Sampling,
};
pub use derivative::DerivativeGame;
pub use error::{BoxError, GameError, HierarchyProblem, PartitionProblem};
pub use game::Game;
pub use graph::{Adjacency, ConnectedSet, Graph, GraphRestrictedGame, GraphShape};
pub use hierarchy::{Hierarchy, Member};
pub use marginal::MarginalGame;
pub use memory::TooMuchMemory;
pub use model::{BatchModel, Model, Rows, batch_model};
pub use near::{Changes, NearReference};
pub use partition::Partition;
pub use quotient::QuotientGame;
pub use shared::Shared;
pub use stream::{Purpose, coalition_unit, stream};
pub use sub_game::SubGame;
pub use synthetic::SyntheticRows;
pub use tabulated::TabulatedGame;
pub use textbook::{Additive, Airport, ClosedForm, Cooking, Glove, SumOfUnanimity, WeightedVoting};

/// Runs the examples of the README as doctests.
#[cfg(all(doctest, feature = "conditional"))]
#[doc = include_str!("../README.md")]
struct Readme;
