//! The learner: a linear function, and gradient-boosted trees on binned features for its residuals.
//!
//! | file | contents |
//! |---|---|
//! | [`bins`] | the reduction of values to bins |
//! | [`forest`] | a sum of trees, its predictions and its ensemble |
//! | [`histogram`] | sums of residuals by bin, the best split |
//! | [`grow`] | the growth of one tree |
//! | [`boosting`] | the sequence of trees |
//! | [`linear`] | the linear part |
//! | [`masks`] | the leaves of many rows |
//! | [`pairs`] | predictions for pairs of hybrids |
//! | [`tree`] | trees on bins |
//! | [`sizes`] | sizes of the forest, from the numbers of rows and features |

pub(crate) mod bins;
pub(crate) mod boosting;
pub(crate) mod forest;
pub(crate) mod grow;
pub(crate) mod histogram;
pub(crate) mod linear;
pub(crate) mod masks;
pub(crate) mod pairs;
pub(crate) mod sizes;
pub(crate) mod tree;
