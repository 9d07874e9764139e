//! Formats that store a table column by column: Parquet and Arrow.

pub(crate) mod arrow;
mod codec;
mod content;
mod decimal;
mod lanes;
mod moment;
pub(crate) mod parquet;

pub(crate) use content::Content;
