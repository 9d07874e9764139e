//! Shared code of the methods: drawing of coalitions, regressions, draws on the product space, full budgets.

pub(crate) mod dense;
mod draws;
mod exact;
pub(crate) mod folds;
mod full_budget;
mod law_of_draws;
mod leverage_law;
pub(crate) mod product_draws;
mod regression;

pub use draws::Draws;
pub(crate) use exact::{MOST_REMEMBERED, exact_if_affordable, exact_many_if_affordable};
pub use exact::{exact, exact_of};
pub use full_budget::FullBudget;
pub(crate) use law_of_draws::LawOfDraws;
pub(crate) use leverage_law::leverage_law;
pub use regression::StandardErrors;
pub(crate) use regression::{
    border_left, certified, draws_of_units, explain, free_shares, sample_is_complete,
};
