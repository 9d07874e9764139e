//! The table method: exact values of a surrogate, corrected for each row.
//!
//! | file | contents |
//! |---|---|
//! | [`draws`] | pairs of coalitions with background rows |
//! | [`hybrids`] | the rows that they define, and the model's outputs |
//! | [`regression`] | values of residuals by regression, and their errors |
//! | [`crossfit`] | forests that are learned without the residuals that they predict |
//! | [`correct`] | the values of a row: surrogate, correction, choice between surrogate and none |
//! | [`method`] | the method |

pub(crate) mod correct;
pub(crate) mod crossfit;
pub(crate) mod draws;
pub(crate) mod hybrids;
pub(crate) mod method;
pub(crate) mod regression;
