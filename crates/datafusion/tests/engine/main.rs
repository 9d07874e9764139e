//! Explanations by DataFusion: of batches, in SQL, and what is said of what does not fit.

mod batches;
mod common;
mod messages;
mod sql;
