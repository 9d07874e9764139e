//! Results in JSON, as written by the command `apportion`.

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

/// The strings that represent the inputs ∞ and −∞, since JSON cannot represent infinite numbers.
pub const INFINITE: [&str; 2] = ["Infinity", "-Infinity"];

/// Members of the head of results that have a field in [`Heading`](crate::Heading). The members of a text or
/// an image become its field `medium`; all other members become its facts.
pub const KNOWN: [&str; 8] =
    ["value", "game", "method", "interactions", "classes", "features", "groups", "input_names"];
