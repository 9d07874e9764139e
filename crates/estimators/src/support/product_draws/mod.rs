//! Draws on the product space of coalitions and scenarios, and their statistics.
//!
//! | file | contents |
//! |---|---|
//! | [`averages`] | averages of independent draws, in fixed blocks |
//! | [`strata`], [`scenarios`] | the scenario of each draw |
//! | [`moments`] | means and variances of draws |
//! | [`budget`] | the number of draws for a budget, and the resulting explanation |
//! | [`full_enumeration`] | exact values, if the budget covers their cost |

mod averages;
mod budget;
mod full_enumeration;
mod moments;
mod scenarios;
mod strata;

pub(crate) use averages::{Plan, ProductDraws, ScenarioCoalitions, averages};
pub(crate) use budget::{affordable_draws, explanation};
pub(crate) use full_enumeration::exact_within;
pub(crate) use moments::Moments;
pub(crate) use scenarios::{Scenarios, scenario_distribution};
pub use strata::PlayerEstimates;
pub(crate) use strata::{Estimates, Finished, Strata};
