//! `apportion explain-text` and `explain-image`: what a network says, divided among words and pixels.

pub(crate) mod args;
mod division;
mod image;
mod network;
mod text;

pub(crate) use image::run as explain_image;
pub(crate) use text::run as explain_text;
