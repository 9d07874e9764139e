//! Texts: tokens of a vocabulary, their players, and displays of the players' scores.

mod colour;
mod html;
mod terminal;
mod tokenizer;
mod vocabulary;

use std::ops::Range;

use apportion_games::Background;

use crate::error::MediaError;
use crate::masked::Masked;

pub use tokenizer::{Case, Splitting, Token, Tokenizer};
pub use vocabulary::Vocabulary;

/// A text, its tokens, and the players to which the tokens belong.
///
/// Each token is a player by default; [words](Self::by_words) or [groups](Self::by_groups) can be players
/// instead. A row of the model contains the ids of the tokens in order, followed by padding, which does not
/// belong to a player. Absent tokens are replaced with padding, or with the tokens of other texts at the same
/// position.
///
/// ```
/// use apportion_games::{Coalitions, Game};
/// use apportion_media::{Text, Tokenizer, Vocabulary};
///
/// let vocabulary = Vocabulary::from_lines("<pad>\n<unk>\nnot\nfunny\n.\n")?;
/// let text = Text::new("Not funny.", &vocabulary, Tokenizer::default())?;
/// assert_eq!(text.players(), [[0], [1], [2]]);
/// assert_eq!((text.words(0), text.words(2)), ("Not".to_owned(), ".".to_owned()));
///
/// // Negative if "not" precedes "funny", positive for "funny" alone.
/// let model = |row: &[f64]| match row {
///     [2.0, 3.0, ..] => -1.0,
///     row => f64::from(row.contains(&3.0)),
/// };
/// let masked = text.masked(5, vocabulary.padding())?;
/// assert_eq!(masked.explicand(), [2.0, 3.0, 4.0, 0.0, 0.0]);
/// let mut values = [0.0; 4];
/// masked.game(&model)?.values(&Coalitions::from_masks(3, 0..4), &mut values)?;
/// assert_eq!(values, [0.0, 0.0, 1.0, -1.0]);
/// # Ok::<(), apportion_media::MediaError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    source: String,
    /// The tokens in the order of the text; they do not overlap.
    tokens: Vec<Token>,
    players: Vec<Vec<usize>>,
}

/// A part of a text, and the player to which it belongs, if any.
struct Span {
    range: Range<usize>,
    player: Option<usize>,
}

impl Text {
    /// Splits a text into tokens; each token is a player.
    ///
    /// # Errors
    ///
    /// Same as [`Tokenizer::tokens`].
    pub fn new(
        source: impl Into<String>,
        vocabulary: &Vocabulary,
        tokenizer: Tokenizer,
    ) -> Result<Self, MediaError> {
        let source = source.into();
        let tokens = tokenizer.tokens(&source, vocabulary)?;
        Ok(Self::of_tokens(source, tokens))
    }

    /// Creates a text that was tokenized elsewhere, from its tokens and their ids; each token is a player.
    /// The text consists of the tokens, joined by spaces.
    ///
    /// All tokens are marked as known.
    ///
    /// # Errors
    ///
    /// [`MediaError::TokenIds`] unless there is one id per token, [`MediaError::NoTokens`] if there are no
    /// tokens.
    pub fn from_tokens<T: AsRef<str>>(tokens: &[T], ids: &[usize]) -> Result<Self, MediaError> {
        if tokens.len() != ids.len() {
            return Err(MediaError::TokenIds { tokens: tokens.len(), ids: ids.len() });
        }
        if tokens.is_empty() {
            return Err(MediaError::NoTokens { text: String::new() });
        }
        let mut source = String::new();
        let mut cut = Vec::with_capacity(ids.len());
        for (token, &id) in tokens.iter().zip(ids) {
            if !cut.is_empty() {
                source.push(' ');
            }
            let start = source.len();
            source.push_str(token.as_ref());
            cut.push(Token { range: start..source.len(), id, known: true });
        }
        Ok(Self::of_tokens(source, cut))
    }

    fn of_tokens(source: String, tokens: Vec<Token>) -> Self {
        let players = (0..tokens.len()).map(|token| vec![token]).collect();
        Self { source, tokens, players }
    }

    /// Makes every word a player. A word consists of consecutive tokens without whitespace between them.
    pub fn by_words(mut self) -> Self {
        self.players.clear();
        let mut end = None;
        for (index, token) in self.tokens.iter().enumerate() {
            let goes_on =
                end.is_some_and(|end| !self.source[end..token.range.start].contains(char::is_whitespace));
            match self.players.last_mut() {
                Some(word) if goes_on => word.push(index),
                _ => self.players.push(vec![index]),
            }
            end = Some(token.range.end);
        }
        self
    }

    /// Makes `groups` the players: player i has the tokens with the indices `groups[i]`.
    ///
    /// Tokens without a group are always present.
    ///
    /// # Errors
    ///
    /// [`MediaError::NoSuchToken`] for a token that the text does not have, [`MediaError::NoFeatures`] for a
    /// player without tokens, [`MediaError::SharedFeature`] for a token that two players have (its index is
    /// the feature).
    pub fn by_groups(mut self, groups: Vec<Vec<usize>>) -> Result<Self, MediaError> {
        let tokens = self.tokens.len();
        let mut owners = vec![None; tokens];
        for (player, mine) in groups.iter().enumerate() {
            if mine.is_empty() {
                return Err(MediaError::NoFeatures { player });
            }
            for &token in mine {
                match owners.get_mut(token) {
                    None => return Err(MediaError::NoSuchToken { player, token, tokens }),
                    Some(Some(first)) => {
                        return Err(MediaError::SharedFeature {
                            feature: token,
                            first: *first,
                            second: player,
                        });
                    }
                    Some(owner) => *owner = Some(player),
                }
            }
        }
        self.players = groups;
        Ok(self)
    }

    /// Removes the tokens after the first `width`. Players without remaining tokens are removed; all other
    /// players keep their order.
    ///
    /// The source text is not changed: truncated parts are displayed as parts without a player.
    pub fn truncated(mut self, width: usize) -> Self {
        self.tokens.truncate(width);
        self.players.iter_mut().for_each(|mine| mine.retain(|&token| token < width));
        self.players.retain(|mine| !mine.is_empty());
        self
    }

    /// Returns the source text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the tokens, in order.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Returns the tokens of each player, as indices.
    pub fn players(&self) -> &[Vec<usize>] {
        &self.players
    }

    /// Returns the positions of a player's tokens in the text, in bytes. Tokens that follow each other on a
    /// line form one range, including the characters between them.
    ///
    /// # Panics
    ///
    /// If the player does not exist.
    pub fn ranges(&self, player: usize) -> Vec<Range<usize>> {
        assert!(
            player < self.players.len(),
            "invalid player {player}: the text has {} players",
            self.players.len()
        );
        self.played().into_iter().filter(|span| span.player == Some(player)).map(|span| span.range).collect()
    }

    /// Returns the words of a player, spelled as in the text. Words from separate places are joined by
    /// `" … "`.
    ///
    /// # Panics
    ///
    /// If the player does not exist.
    pub fn words(&self, player: usize) -> String {
        let parts: Vec<&str> = self.ranges(player).into_iter().map(|range| &self.source[range]).collect();
        parts.join(" … ")
    }

    /// Returns a row of `width` ids: the ids of the tokens, followed by `padding`.
    ///
    /// # Errors
    ///
    /// [`MediaError::TextTooLong`] if there are more than `width` tokens; see [`truncated`](Self::truncated).
    pub fn row(&self, width: usize, padding: usize) -> Result<Vec<f64>, MediaError> {
        let tokens = self.tokens.len();
        if tokens > width {
            return Err(MediaError::TextTooLong { tokens, width });
        }
        let mut row = vec![padding as f64; width];
        row.iter_mut().zip(&self.tokens).for_each(|(id, token)| *id = token.id as f64);
        Ok(row)
    }

    /// Makes the text an explicand of `width` ids, in which absent tokens are replaced with padding. This is
    /// the plug-in estimate that Chen, Song, Wainwright and Jordan (2019) define in section 2.1 and use for
    /// texts.
    ///
    /// # Errors
    ///
    /// Same as [`row`](Self::row); [`MediaError::Game`] for a width of 0.
    pub fn masked(&self, width: usize, padding: usize) -> Result<Masked, MediaError> {
        let row = self.row(width, padding)?;
        Masked::new(row, Background::baseline(vec![padding as f64; width])?, self.players.clone())
    }

    /// Makes the text an explicand, in which absent tokens are replaced with the ids of several reference
    /// rows at the same position. This is the empirical average that Chen, Song, Wainwright and Jordan (2019)
    /// define in section 2.1.
    ///
    /// The rows may come from other texts, created with [`row`](Self::row). After the end of the text, the
    /// row always contains `padding`, regardless of the reference rows. Chen et al. average probabilities;
    /// see [`Probabilities`](crate::Probabilities).
    ///
    /// # Errors
    ///
    /// [`MediaError::TextTooLong`] if there are more tokens than the reference has columns.
    pub fn masked_against(&self, reference: Background, padding: usize) -> Result<Masked, MediaError> {
        let row = self.row(reference.columns(), padding)?;
        Masked::new(row, reference, self.players.clone())
    }

    /// Returns the parts of the text that belong to a player, in order. Consecutive tokens of a player on the
    /// same line form one part.
    fn played(&self) -> Vec<Span> {
        let mut owners = vec![None; self.tokens.len()];
        for (player, mine) in self.players.iter().enumerate() {
            mine.iter().for_each(|&token| owners[token] = Some(player));
        }
        let mut spans: Vec<Span> = Vec::new();
        let mut before = None;
        for (token, player) in self.tokens.iter().zip(owners) {
            let range = token.range.clone();
            match spans.last_mut() {
                Some(span)
                    if player.is_some()
                        && before == player
                        && !self.source[span.range.end..range.start].contains(['\n', '\r']) =>
                {
                    span.range.end = range.end;
                }
                _ if player.is_some() => spans.push(Span { range, player }),
                _ => {}
            }
            before = player;
        }
        spans
    }

    /// Returns all parts of the text, with the player of each if it has one.
    fn spans(&self) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut end = 0;
        for span in self.played() {
            if end < span.range.start {
                spans.push(Span { range: end..span.range.start, player: None });
            }
            end = span.range.end;
            spans.push(span);
        }
        if end < self.source.len() {
            spans.push(Span { range: end..self.source.len(), player: None });
        }
        spans
    }

    /// Returns the parts of the text to display. A part of a player has the player's score and the ratio of
    /// this score to the largest |score|.
    ///
    /// # Errors
    ///
    /// [`MediaError::ScoreCount`] unless there is one score per player, [`MediaError::ScoreNotFinite`] if one
    /// is not finite.
    fn scored(&self, scores: &[f64]) -> Result<Vec<(&str, Option<DisplayScore>)>, MediaError> {
        let players = self.players.len();
        if scores.len() != players {
            return Err(MediaError::ScoreCount { actual: scores.len(), players });
        }
        if let Some(player) = scores.iter().position(|score| !score.is_finite()) {
            return Err(MediaError::ScoreNotFinite { player, value: scores[player] });
        }
        let largest = scores.iter().fold(0.0, |largest: f64, score| largest.max(score.abs()));
        let share = |score: f64| if largest > 0.0 { score / largest } else { 0.0 };
        let of_player = |player: usize| DisplayScore { score: scores[player], share: share(scores[player]) };
        let spans = self.spans().into_iter();
        Ok(spans.map(|span| (&self.source[span.range], span.player.map(of_player))).collect())
    }
}

/// The score of a part of a text, for display.
struct DisplayScore {
    score: f64,
    /// The score divided by the largest |score|, in [−1, 1].
    share: f64,
}

/// Replaces control characters for display: a terminal could interpret them, and HTML does not allow them.
fn shown(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        // A carriage return is usually at the end of a line. Elsewhere, it would make a terminal overwrite
        // the line.
        '\r' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests;
