//! Processes one explicand with many background rows at once, as bit sets. Suited to few explicands.
//!
//! # Derivation
//!
//! On the path to a leaf of value v, let R be the players with a test that the explicand fails. A mixture
//! with a background row b reaches the leaf only if b passes every test on R. The rows that pass all of these
//! tests are the leaf's *cohort*. For such a row, E are the players with a test that b fails. Therefore R is
//! the same for the whole cohort, but E differs from row to row. With the weights w_b,
//!
//! ```text
//! φ_i += v Σ_{b: i ∈ E_b} w_b M(|E_b| − 1, |R|)        φ_i −= v Σ_b w_b M(|E_b|, |R| − 1)   for i ∈ R.
//! ```
//!
//! A set of rows has one bit per row, so on the way down
//!
//! ```text
//! rows that pass a test        a word per 64 rows, computed once for every distinct split condition
//! if the explicand passes      the cohort stays;  failing_i ← failing_i ∪ rows that do not pass
//! if the explicand fails       R ← R ∪ i;         cohort ← cohort ∩ rows that pass, without failing_i
//! ```
//!
//! and nodes with an empty cohort are skipped. At a leaf, the numbers |E_b| of all rows are computed at once,
//! one bit of the sum at a time. Each weight is multiplied by a bit count (see [the shares](super::shares)).
//! A leaf with d players thus takes about d² operations on a word for 64 background rows, which [the
//! walk](super::walk) would process one by one.
//!
//! # Modules
//!
//! | | |
//! |---|---|
//! | [`background`] | the decisions of the background rows at every split |
//! | [`descent`] | the descent through a tree |
//! | [`arrived_cohort`] | a cohort at a leaf |
//! | [`sets`] | operations on sets of rows |

mod arrived_cohort;
mod background;
mod descent;
mod sets;

pub(crate) use self::arrived_cohort::{ArrivedCohort, Failed};
pub(crate) use self::background::{Cohorts, MAX_DEPTH};
pub(crate) use self::descent::{Descent, Explicand};
pub(crate) use self::sets::{Numbers, SIZES, Set, Weigh, both, either, is_empty, less, room};
