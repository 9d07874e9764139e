//! Texts and images, from their files to what their players got.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod image;
mod score;
mod text_data;
