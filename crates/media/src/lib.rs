//! Texts and images as cooperative games: tokens, pixels, patches and superpixels as players.
//!
//! The input of a model consists of rows of numbers, such as token ids or pixels. This crate converts texts
//! and images to such rows, assigns the numbers of a row to players, chooses the values of absent players,
//! and displays the attributions of the players.
//!
//! # Overview
//!
//! | | |
//! |---|---|
//! | [`Masked`], [`MaskedGame`] | an explicand whose features are assigned to players, the reference for absent players, and the resulting game |
//! | [`Vocabulary`], [`Tokenizer`], [`Token`] | the tokens of a model, and their positions in a text: [`Splitting`], [`Case`] |
//! | [`Text`] | a text whose tokens, words or groups of tokens are players; coloured by their scores |
//! | [`Image`], [`Layout`], [`PixelScale`] | images read from and written to PNG files, and the positions of their pixels in a model's rows |
//! | [`Segmentation`], [`Reference`] | pixels, patches or superpixels as players, with the graph of their borders; the values of absent players |
//! | [`overlay`], [`masked_picture`] | pictures of the players' attributions |
//! | [`Saliency`] | derivatives with respect to the features of each player, by finite differences |
//! | [`Score`], [`ScoredGame`], [`Outputs`] | coalition values computed from the outputs of a classifier: log-probabilities, log-odds |
//! | [`Probabilities`] | a classifier's probabilities as a model |
//! | [`MediaError`] | the errors of this crate |
//!
//! # Example
//!
//! ```
//! use apportion_media::{Background, Coalitions, Game, Masked};
//!
//! // Two players with two features each, and one feature without a player.
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

/// Types of lower-level crates in the signatures of this crate, re-exported so that users need no other
/// dependency.
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

/// Runs the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
