//! Code that several methods use: drawing of coalitions, regressions, draws on the product space, full
//! budgets.

pub(crate) mod dense;
mod draw_distribution;
mod draws;
mod exact;
pub(crate) mod folds;
mod full_budget;
mod leverage_distribution;
mod missed_conjunction;
pub(crate) mod product_draws;
mod regression;

pub(crate) use draw_distribution::DrawDistribution;
pub use draws::Draws;
pub(crate) use exact::{MAX_CACHED_COALITIONS, exact_if_affordable, exact_many_if_affordable};
pub use exact::{exact, exact_of};
pub use full_budget::FullBudget;
pub(crate) use leverage_distribution::leverage_distribution;
pub(crate) use missed_conjunction::MissedConjunction;
pub use regression::StandardErrors;
pub(crate) use regression::{
    border_left, certified, draws_of_units, explain, free_shares, sample_is_complete,
};
