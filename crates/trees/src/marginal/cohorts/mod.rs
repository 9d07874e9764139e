//! One explicand against many background rows at once, as sets of bits: for few explicands.
//!
//! # The derivation
//!
//! On the path to a leaf of value v let R be the players of which the explicand fails a test. A mixture with
//! a background row b reaches the leaf only if b passes every test on R. The rows that do are the leaf's
//! *cohort*, and for such a row E are the players of which b fails a test. So R is the same for the whole
//! cohort, and E differs from row to row; with the weights w_b
//!
//! ```text
//! φ_i += v Σ_{b: i ∈ E_b} w_b M(|E_b| − 1, |R|)        φ_i −= v Σ_b w_b M(|E_b|, |R| − 1)   for i ∈ R.
//! ```
//!
//! A set of rows is one bit per row, so on the way down
//!
//! ```text
//! who passes a test            a word per 64 rows, written down once for every question that splits ask
//! where the explicand passes   the cohort stays;  failing_i ← failing_i ∪ those who do not pass
//! where it fails               R ← R ∪ i;         cohort ← cohort ∩ those who pass, less failing_i
//! ```
//!
//! and nothing is below a node whose cohort is empty. At a leaf the numbers |E_b| of all rows are added up at
//! once, a bit of the sum at a time, and each weight is multiplied by a count of bits (see
//! [the shares](super::shares)). A leaf with d players thus takes some d² operations on a word for 64
//! background rows, where [the walk](super::walk) would follow each of them by itself.
//!
//! # What is where
//!
//! | | |
//! |---|---|
//! | [`background`] | which rows go left at every split |
//! | [`descent`] | the way through a tree |
//! | [`arrived`] | a cohort that has arrived at a leaf |
//! | [`sets`] | operations on sets of rows |

mod arrived;
mod background;
mod descent;
mod sets;

pub(crate) use self::arrived::{Arrived, Failed};
pub(crate) use self::background::{Cohorts, MOST_DEPTH};
pub(crate) use self::descent::{Descent, Explicand};
pub(crate) use self::sets::{Numbers, SIZES, Set, Weigh, both, either, is_empty, less, room};
