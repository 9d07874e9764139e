//! Conditional games: absent features follow their distribution given the present ones.
//!
//! # Notation
//!
//! `X` is a random row of `n` features, `x` the explicand, `f` the model. `S` is the set of present features,
//! `S̄` the set of absent ones.
//!
//! ```text
//! v(S) = E[f(X) | X_S = x_S]
//! ```
//!
//! (v^CE in Kotsiopoulos, Miroshnikov, Filom and Ravi Kannan, *Approximation of group explainers with
//! coalition structure using Monte Carlo sampling on the product space of coalitions and features*, 2023,
//! section 2). The marginal game takes the values of absent features from a background, regardless of the
//! present ones. If features are independent, both games are the same.
//!
//! # Distributions
//!
//! The distribution of X is a [`ConditionalDistribution`], fitted to data: a multivariate normal
//! distribution, a Gaussian copula, rows of the data weighted by their distance, or rows that match the
//! explicand. The first three follow Aas, Jullum and Løland, *Explaining individual predictions when features
//! are dependent*, Artificial Intelligence 298, 2021, sections 3.1 to 3.3.

mod copula;
mod counted;
mod distribution;
mod empirical;
mod errors_of_draws;
mod frequency;
mod game;
mod gaussian;
mod rows_of_data;
mod unit_normal;

pub use copula::CopulaDistribution;
pub use distribution::{ConditionalDistribution, Sampling};
pub use empirical::{AdaptedEmpiricalDistribution, EmpiricalDistribution};
pub use errors_of_draws::ErrorsOfDraws;
pub use frequency::{Fallback, FrequencyDistribution};
pub use game::ConditionalGame;
pub use gaussian::GaussianDistribution;
