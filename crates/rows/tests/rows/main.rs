//! Rows in every format.
