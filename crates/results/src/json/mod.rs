//! Results in JSON, as the command writes them.

mod certificate;
mod medium;
mod numbers;
mod read;
mod text;
mod write;

pub(crate) use certificate::Certificate;
pub use read::read;
pub use text::write as to_json;
pub use write::object;
pub(crate) use write::{Document, Lines, Outputs, Players};

/// How results in JSON, which has no infinite numbers, write an infinite input: ∞ and −∞.
pub const INFINITE: [&str; 2] = ["Infinity", "-Infinity"];

/// What the head of results says that a [`Heading`](crate::Heading) has a place for; all else is among its facts.
pub const KNOWN: [&str; 8] =
    ["value", "game", "method", "interactions", "classes", "features", "groups", "input_names"];
