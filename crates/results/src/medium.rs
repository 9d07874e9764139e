//! Texts and images whose parts (words, segments) are the players.

use crate::error::ResultsError;

/// The text or image whose parts are the players, if they are not columns of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Medium {
    /// A text, whose words or parts of words are the players.
    Text {
        /// The whole text.
        text: String,
        /// For each player, the start and the end (exclusive) of its part of the text, in bytes. Parts do not
        /// overlap, and their ends are at character boundaries.
        spans: Vec<(usize, usize)>,
    },
    /// An image, whose segments are the players.
    Image {
        /// The width in pixels.
        width: usize,
        /// The height in pixels.
        height: usize,
        /// The player to which each pixel belongs, row by row; [`NOBODY`](Self::NOBODY) for a pixel that does
        /// not belong to a player.
        segments: Vec<u32>,
        /// The red, green and blue values of each pixel; empty if not known.
        pixels: Vec<[u8; 3]>,
    },
}

impl Medium {
    /// The entry in [`segments`](Self::Image::segments) for a pixel that does not belong to a player.
    pub const NOBODY: u32 = u32::MAX;

    /// Checks that the medium matches the number of players.
    pub(crate) fn check(&self, players: usize) -> Result<(), ResultsError> {
        match self {
            Self::Text { text, spans } => check_text(text, spans, players),
            Self::Image { width, height, segments, pixels } => {
                check_image((*width, *height), segments, pixels, players)
            }
        }
        .map_err(|why| {
            let medium = if matches!(self, Self::Text { .. }) { "text" } else { "image" };
            ResultsError::Medium { medium, why }
        })
    }
}

fn check_text(text: &str, spans: &[(usize, usize)], players: usize) -> Result<(), String> {
    if spans.len() != players {
        return Err(format!("wrong number of spans: {}, expected {players} (one per player)", spans.len()));
    }
    for &(from, to) in spans {
        if from > to || text.get(from..to).is_none() {
            return Err(format!(
                "invalid span from byte {from} to {to}; expected ascending positions of characters, from 0 \
                 to {}",
                text.len()
            ));
        }
    }
    let mut in_order = spans.to_vec();
    in_order.sort_unstable();
    match in_order.windows(2).find(|spans| spans[0].1 > spans[1].0) {
        Some(spans) => Err(format!("the spans {:?} and {:?} overlap", spans[0], spans[1])),
        None => Ok(()),
    }
}

fn check_image(
    (width, height): (usize, usize),
    segments: &[u32],
    pixels: &[[u8; 3]],
    players: usize,
) -> Result<(), String> {
    let count = width.checked_mul(height).filter(|&count| count > 0 && count <= u32::MAX as usize);
    let Some(count) = count else {
        return Err(format!(
            "invalid size of {width} × {height} pixels; expected 1 to {} pixels in total",
            u32::MAX
        ));
    };
    if segments.len() != count {
        return Err(format!(
            "expected one segment for each of {width} × {height} pixels, got {}",
            segments.len()
        ));
    }
    if !pixels.is_empty() && pixels.len() != count {
        return Err(format!(
            "expected one colour for each of {width} × {height} pixels, got {}",
            pixels.len()
        ));
    }
    let is_unknown = |&&player: &&u32| player != Medium::NOBODY && player as usize >= players;
    match segments.iter().find(is_unknown) {
        Some(player) => Err(format!(
            "a pixel belongs to the unknown player {player}; expected a number below {players}, the number \
             of players"
        )),
        None => Ok(()),
    }
}
