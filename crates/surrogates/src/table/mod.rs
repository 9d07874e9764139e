//! The table method: exact values of a surrogate, corrected for each row.
//!
//! | file | contents |
//! |---|---|
//! | [`players`] | the values, and their players: features or groups |
//! | [`draws`] | pairs of coalitions with background rows |
//! | [`hybrids`] | the rows that they define, and the model's outputs |
//! | [`basis`] | the design of the regression |
//! | [`regression`] | values of residuals by regression, and their errors |
//! | [`shrinkage`] | the weight of the regression against 0, and of single background rows |
//! | [`prepared`] | a surrogate, prepared for its background |
//! | [`crossfit`] | forests that are learned without the residuals that they predict |
//! | [`correct`] | the values of a row: surrogate, correction, choice whether the surrogate is used |
//! | [`enumerated`] | exact values of rows with few features that differ from the background |
//! | [`rows`] | equal rows, and the seed of a row |
//! | [`method`] | the method |
//! | [`learned`] | the method with a surrogate that was learned before |

pub(crate) mod basis;
pub(crate) mod correct;
pub(crate) mod crossfit;
pub(crate) mod draws;
pub(crate) mod enumerated;
pub(crate) mod hybrids;
pub(crate) mod learned;
pub(crate) mod method;
pub(crate) mod players;
pub(crate) mod prepared;
pub(crate) mod regression;
pub(crate) mod rows;
pub(crate) mod shrinkage;
