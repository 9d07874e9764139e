//! `apportion explain-text` and `explain-image`: attributions of a network's prediction to words or pixels.

pub(crate) mod args;
mod division;
mod image;
mod network;
mod text;

pub(crate) use image::run as explain_image;
pub(crate) use text::run as explain_text;
