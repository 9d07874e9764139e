//! Tests of texts and images, from their files to the attributions of their players.

#![allow(clippy::unwrap_used, reason = "clippy takes the helpers of tests for ordinary code")]

mod image;
mod score;
mod text_data;
