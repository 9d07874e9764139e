//! Values of players in groups: Owen, Banzhaf-Owen, two-step and quotient values.

pub(crate) mod coalitional_regression;
pub(crate) mod nested_permutation;
pub(crate) mod product_space;
