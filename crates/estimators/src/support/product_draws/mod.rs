//! Draws on the product space of coalitions and scenarios, and what is made of them.
//!
//! | file | holds |
//! |---|---|
//! | [`averages`] | averages of independent draws, in fixed blocks |
//! | [`strata`], [`scenarios`] | in which scenario a draw asks the game |
//! | [`moments`] | means and variances of draws |
//! | [`budget`] | what a budget pays, and the explanation that closes the books |
//! | [`full_enumeration`] | exact values where they cost no more |

mod averages;
mod budget;
mod full_enumeration;
mod moments;
mod scenarios;
mod strata;

pub(crate) use averages::{Asked, Plan, ProductDraws, averages};
pub(crate) use budget::{affordable_draws, explanation};
pub(crate) use full_enumeration::exact_within;
pub(crate) use moments::Moments;
pub(crate) use scenarios::{Scenarios, law_of_scenarios};
pub use strata::PlayerEstimates;
pub(crate) use strata::{Estimates, Finished, Strata};
