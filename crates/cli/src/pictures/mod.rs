//! `apportion plot` and `apportion report`: results to look at, from their file or as `explain` finds them.

mod args;
mod gathered;
mod numbers;
mod plot;
mod results;

pub(crate) use args::{Plot, kind};
pub(crate) use gathered::{Gathered, Head};
pub(crate) use plot::{Picture, run as plot};
