//! Texts: tokens of a vocabulary, who plays them, and how what they got is shown.

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

/// A text, its tokens, and the players who have them.
///
/// Each token is a player by itself unless [words](Self::by_words) or [groups](Self::by_groups) are asked for. A row of the model is the
/// ids of the tokens in order and padding behind them, which belongs to nobody; absent tokens are padding too, or what other texts have
/// in their place.
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
/// // Bad where "not" stands before "funny", good with "funny" alone.
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
    /// In order, none over another.
    tokens: Vec<Token>,
    players: Vec<Vec<usize>>,
}

/// A part of a text, and the player who has it.
struct Span {
    range: Range<usize>,
    player: Option<usize>,
}

impl Text {
    /// A text cut into tokens, each a player.
    ///
    /// # Errors
    ///
    /// As [`Tokenizer::tokens`].
    pub fn new(
        source: impl Into<String>,
        vocabulary: &Vocabulary,
        tokenizer: Tokenizer,
    ) -> Result<Self, MediaError> {
        let source = source.into();
        let tokens = tokenizer.tokens(&source, vocabulary)?;
        Ok(Self::of_tokens(source, tokens))
    }

    /// A text that was cut into tokens elsewhere: their words and their ids, each a player. The text is the words, joined by blanks.
    ///
    /// All tokens count as known.
    ///
    /// # Errors
    ///
    /// [`MediaError::TokenIds`] unless there is one id per token, [`MediaError::NoTokens`] without any.
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

    /// The same text, with a player for every whole word: the tokens that no blank separates.
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

    /// The same text, with the tokens `groups[i]`, by their places from 0, in the hands of player i.
    ///
    /// Tokens of no group are always there.
    ///
    /// # Errors
    ///
    /// [`MediaError::NoSuchToken`] for a token that the text does not have, [`MediaError::NoFeatures`] for a player without tokens,
    /// [`MediaError::SharedFeature`] for a token (the feature of that place) that two players have.
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

    /// The same text without the tokens behind the first `width`. Players left without tokens are gone, the others keep their order.
    ///
    /// The text itself stays whole; what was cut off is shown as played by nobody.
    pub fn truncated(mut self, width: usize) -> Self {
        self.tokens.truncate(width);
        self.players.iter_mut().for_each(|mine| mine.retain(|&token| token < width));
        self.players.retain(|mine| !mine.is_empty());
        self
    }

    /// The text as it was given.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Its tokens, in order.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The tokens of each player, by their places from 0.
    pub fn players(&self) -> &[Vec<usize>] {
        &self.players
    }

    /// Where the tokens of a player are in the text, in bytes. Tokens that follow each other on a line are one range, with what is
    /// between them.
    ///
    /// # Panics
    ///
    /// If there is no such player.
    pub fn ranges(&self, player: usize) -> Vec<Range<usize>> {
        assert!(
            player < self.players.len(),
            "a text of {} players has no player {player}",
            self.players.len()
        );
        self.played().into_iter().filter(|span| span.player == Some(player)).map(|span| span.range).collect()
    }

    /// The words of a player as they are in the text, those from several places joined by `" … "`.
    ///
    /// # Panics
    ///
    /// If there is no such player.
    pub fn words(&self, player: usize) -> String {
        let parts: Vec<&str> = self.ranges(player).into_iter().map(|range| &self.source[range]).collect();
        parts.join(" … ")
    }

    /// The row of `width` ids: those of the tokens, and `padding` behind them.
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

    /// The text in a row of `width` ids against padding everywhere: the plug-in estimate of section 2.1 as the paper takes it for texts.
    ///
    /// # Errors
    ///
    /// As [`row`](Self::row); [`MediaError::Game`] for a width of 0.
    pub fn masked(&self, width: usize, padding: usize) -> Result<Masked, MediaError> {
        let row = self.row(width, padding)?;
        Masked::new(row, Background::baseline(vec![padding as f64; width])?, self.players.clone())
    }

    /// The text against several rows of ids, which stand in for absent tokens place by place: the empirical average of section 2.1.
    ///
    /// The rows may be those of other texts, made by [`row`](Self::row). Behind the text `padding` stands whatever they have there. The
    /// average that the paper means is one of probabilities; see [`Probabilities`](crate::Probabilities).
    ///
    /// # Errors
    ///
    /// [`MediaError::TextTooLong`] if there are more tokens than the reference has columns.
    pub fn masked_against(&self, reference: Background, padding: usize) -> Result<Masked, MediaError> {
        let row = self.row(reference.columns(), padding)?;
        Masked::new(row, reference, self.players.clone())
    }

    /// The parts of the text that somebody has, in order: tokens that follow each other on a line in one hand are one part.
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

    /// The whole text in parts: who has each, if anybody.
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

    /// What is shown: each part of the text, and the score and the share of the largest one in size where a player has it.
    ///
    /// # Errors
    ///
    /// [`MediaError::ScoreCount`] unless there is one score per player, [`MediaError::ScoreNotFinite`] for one that is not finite.
    fn scored(&self, scores: &[f64]) -> Result<Vec<(&str, Option<Scored>)>, MediaError> {
        let players = self.players.len();
        if scores.len() != players {
            return Err(MediaError::ScoreCount { given: scores.len(), players });
        }
        if let Some(player) = scores.iter().position(|score| !score.is_finite()) {
            return Err(MediaError::ScoreNotFinite { player, value: scores[player] });
        }
        let largest = scores.iter().fold(0.0, |largest: f64, score| largest.max(score.abs()));
        let share = |score: f64| if largest > 0.0 { score / largest } else { 0.0 };
        let of_player = |player: usize| Scored { score: scores[player], share: share(scores[player]) };
        let spans = self.spans().into_iter();
        Ok(spans.map(|span| (&self.source[span.range], span.player.map(of_player))).collect())
    }
}

/// A score to be shown.
struct Scored {
    score: f64,
    /// Of the largest score in size; in [−1, 1].
    share: f64,
}

/// What is shown for a character: control characters could command a terminal, and have no place in HTML.
fn shown(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        // At the end of a line, as a rule; elsewhere a terminal would write over it.
        '\r' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests;
