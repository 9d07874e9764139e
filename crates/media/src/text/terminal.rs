//! Texts coloured by their scores, for terminals.

use std::fmt::Write;

use super::{Text, colour, shown};
use crate::error::MediaError;

impl Text {
    /// Returns the text with the words of every player on a background in the colour of its score, in 24-bit
    /// ANSI colours.
    ///
    /// Positive scores are blue and negative ones red, fading to white at 0 as in table 2 of Chen, Song,
    /// Wainwright and Jordan (2019). The largest |score| has the full colour. Parts without a player are not
    /// coloured. Control characters of the text are replaced with `�`, because the terminal could interpret
    /// them.
    ///
    /// ```
    /// use apportion_media::{Text, Tokenizer, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_lines("<pad>\n<unk>\nnot\nfunny")?;
    /// let shown = Text::new("Not funny", &vocabulary, Tokenizer::default())?.to_terminal(&[-2.0, 1.0])?;
    /// assert!(shown.starts_with("\x1b[48;2;255;0;0m\x1b[38;2;0;0;0mNot\x1b[0m "));
    /// # Ok::<(), apportion_media::MediaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MediaError::ScoreCount`] unless there is one score per player, [`MediaError::ScoreNotFinite`] if one
    /// is not finite.
    pub fn to_terminal(&self, scores: &[f64]) -> Result<String, MediaError> {
        let mut out = String::new();
        for (part, scored) in self.scored(scores)? {
            let part = part.chars().map(shown);
            match scored {
                None => out.extend(part),
                Some(scored) => {
                    let background = colour::background(scored.share);
                    let [red, green, blue] = background;
                    let [fore_red, fore_green, fore_blue] = colour::foreground(background);
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\x1b[48;2;{red};{green};{blue}m");
                    let _ = write!(out, "\x1b[38;2;{fore_red};{fore_green};{fore_blue}m");
                    out.extend(part);
                    out.push_str("\x1b[0m");
                }
            }
        }
        Ok(out)
    }
}
