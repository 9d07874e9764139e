//! Texts and images as cooperative games: tokens, pixels, patches and superpixels as players.
//!
//! A model takes rows of numbers: token ids, pixels. Here is what makes such rows of a text or an image, says which numbers of a row
//! belong to which player, what stands in for players that are absent, and shows what every player got.
//!
//! # What is here
//!
//! | | |
//! |---|---|
//! | [`Masked`], [`MaskedGame`] | an explicand whose features are in the hands of players, a reference for those who are absent, and their game |
//! | [`Vocabulary`], [`Tokenizer`], [`Token`] | the tokens that a model knows, and where they are in a text: [`Splitting`], [`Case`] |
//! | [`Text`] | a text whose tokens, words or groups of tokens are players; coloured by their scores |
//! | [`Image`], [`Layout`], [`PixelScale`] | images from PNG files and to them, and where their pixels are in a model's rows |
//! | [`Segmentation`], [`Reference`] | pixels, patches or superpixels as players and the graph of their borders; what stands in for absent ones |
//! | [`overlay`], [`masked_picture`] | pictures of what players got |
//! | [`Saliency`] | derivatives by the features of each player, by differences |
//! | [`Score`], [`ScoredGame`], [`Outputs`] | what a coalition is worth by the outputs of a classifier: log-probabilities, log-odds |
//! | [`Probabilities`] | a classifier's probabilities as a model |
//! | [`MediaError`] | what can go wrong |
//!
//! # Example
//!
//! ```
//! use apportion_media::{Background, Coalitions, Game, Masked};
//!
//! // Two players with two features each, and a feature of none.
//! let reference = Background::baseline(vec![0.0; 5])?;
//! let masked = Masked::new(vec![1.0, 2.0, 3.0, 4.0, 5.0], reference, vec![vec![0, 1], vec![2, 3]])?;
//! let model = |row: &[f64]| row.iter().sum::<f64>();
//! let game = masked.game(&model)?;
//! let mut values = [0.0; 4];
//! game.values(&Coalitions::from_masks(2, 0..4), &mut values)?;
//! assert_eq!(values, [5.0, 8.0, 12.0, 15.0]);
//! # Ok::<(), apportion_media::MediaError>(())
//! ```

mod error;
mod image;
mod masked;
mod saliency;
mod score;
mod text;

/// Types of lower crates that stand in signatures here, so that whoever uses this crate needs no other for them.
#[doc(no_inline)]
pub use apportion_games::{Adjacency, Background, Coalitions, Game, GameError, Graph, Model};

pub use error::MediaError;
pub use image::{
    ChannelOrder, Image, Layout, OverlayOptions, PixelScale, Reference, Segmentation, masked_picture, overlay,
};
pub use masked::{Masked, MaskedGame};
pub use saliency::Saliency;
pub use score::{Outputs, Probabilities, Score, ScoredGame};
pub use text::{Case, Splitting, Text, Token, Tokenizer, Vocabulary};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
