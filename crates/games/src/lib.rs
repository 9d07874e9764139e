//! Cooperative games: who plays, and what every coalition is worth.
//!
//! A model, a row to explain and a background become a game on the row's features; a batch of coalitions goes in, their values come
//! out. Everything else in the workspace takes a [`Game`] and does not know what is behind it.
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
//! # What is here
//!
//! | | |
//! |---|---|
//! | [`Coalition`], [`CoalitionView`], [`Coalitions`] | one coalition as bits, and a batch of `m` of them as an m × n bit matrix |
//! | [`Game`] | the value function `v : 2^N → R^k`, asked in batches |
//! | [`Model`], [`Rows`], [`batch_model`] | functions from rows of features to outputs; closures included |
//! | [`Shared`] | a model, or anything else, that is borrowed or shared |
//! | [`NearReference`], [`Changes`] | models that predict rows near one that they know at less cost |
//! | [`Background`], [`MarginalGame`] | what stands in for absent features, and the game of an explicand against it |
//! | [`TabulatedGame`] | all 2^n values, written down |
//! | [`SubGame`] | a game among some of the players; null players taken out and put back |
//! | [`DerivativeGame`] | what a player adds to each coalition of the others; its values are interaction indices |
//! | [`Partition`], [`QuotientGame`] | players in groups, and the game among the groups |
//! | [`Hierarchy`], [`Member`] | groups within groups, to any depth |
//! | [`Graph`], [`GraphRestrictedGame`] | who can speak to whom: lines, grids, any graph; neighbourhoods, connected sets ([`ConnectedSet`]), components; and the game in which only connected coalitions work together |
//! | [`Counted`], [`Cached`], [`Centred`] | adapters: a game made of a game |
//! | [`Additive`], [`SumOfUnanimity`], [`Glove`], [`Airport`], [`WeightedVoting`], [`Cooking`] | textbook games whose values are known: [`ClosedForm`] |
//! | [`stream`], [`Purpose`], [`coalition_unit`] | random streams that make every result a function of its seed |
//! | [`memory`], [`TooMuchMemory`] | the memory that a computation needs, checked before it is allocated |
//! | [`Cancellation`], [`Cancelled`] | stops work that is under way, from another thread |
//! | [`GameError`] | what can go wrong |
//!
//! With the feature `conditional`, which takes a library of linear algebra:
//!
//! | | |
//! |---|---|
//! | `ConditionalGame` | the game of an explicand given what is present, `v(S) = E[f(X) \| X_S = x_S]` |
//! | `ErrorsOfDraws` | the same beside copies that are off by what its draws leave to chance |
//! | `GaussianLaw`, `CopulaLaw`, `EmpiricalLaw`, `FrequencyLaw` | how absent features are distributed given the present ones, fitted on data, weighted or not: `ConditionalLaw`, `Sampling` |
//! | `AdaptedEmpiricalLaw`, `Fallback` | an empirical law whose bandwidth is chosen by AICc; what frequencies say where no row agrees |
//!
//! # Shapes
//!
//! `n` players, `m` coalitions, `k` outputs, `B` background rows. Values are m × k, row-major; rows are rows × n, row-major; all f64.

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
    AdaptedEmpiricalLaw, ConditionalGame, ConditionalLaw, CopulaLaw, EmpiricalLaw, ErrorsOfDraws, Fallback,
    FrequencyLaw, GaussianLaw, Sampling,
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

/// The example of the README is a test.
#[cfg(all(doctest, feature = "conditional"))]
#[doc = include_str!("../README.md")]
struct Readme;
