//! `apportion explain-text` and `explain-image`: attributions of a network's prediction to words or pixels.

mod division;
mod image;
mod text;

pub(crate) use image::run as explain_image;
pub(crate) use text::run as explain_text;
