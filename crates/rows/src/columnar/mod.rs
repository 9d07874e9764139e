//! Formats that hold a table column by column: Parquet and Arrow.

pub(crate) mod arrow;
mod codec;
mod lanes;
pub(crate) mod parquet;
