//! Writers for tables and arrays, with a module for each format.

#[cfg(feature = "columnar")]
pub(crate) mod arrow;
pub(crate) mod csv;
pub(crate) mod npy;
pub(crate) mod npz;
#[cfg(feature = "columnar")]
pub(crate) mod parquet;
