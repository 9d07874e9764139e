//! The `apportion` command, run as its users run it.

mod explain;
mod formats;
mod inspect;
mod predict;
mod refusals;
mod support;
mod truth;
