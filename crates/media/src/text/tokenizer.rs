//! Splits texts into tokens, and looks up the ids of the tokens.
//!
//! A token-based model requires a vocabulary and a convention for splitting texts into tokens. Model files do
//! not store the convention. [`Splitting`] lists three such conventions. The user must know the convention
//! with which a model was trained.
//!
//! # Measurements
//!
//! Two data sets store the ids of their texts. The table lists the share of texts whose ids are reproduced by
//! each convention (printed by `tests/media/text_data.rs` if the data is available):
//!
//! | data | texts | `Punctuation` | `Blanks` | `Words` |
//! |---|---|---|---|---|
//! | rt_polarity: film reviews, tokens separated by spaces | 10,662 | 81.3% | 99.97% | 0.6% |
//! | ag_news: unprocessed news, tokens are runs of `[a-z0-9]` | 7,600 | 51.2% | 1.0% | 100% |
//!
//! In the first data set, 12.9% of the texts contain a compound that is not in the vocabulary although its
//! parts are, and 6.0% contain an unknown word with punctuation at its ends. The data set treats each of
//! these as one unknown word. Three texts contain a capital É, which the authors of the data set did not
//! convert to lower case. For texts that come with their ids, use
//! [`Text::from_tokens`](super::Text::from_tokens).

use std::ops::Range;

use super::vocabulary::Vocabulary;
use crate::error::MediaError;

/// A convention for splitting a text into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Splitting {
    /// Splits at whitespace. Splits the pieces at punctuation if this produces tokens of the vocabulary.
    ///
    /// A piece that is in the vocabulary is one token. Otherwise, as little punctuation as possible is
    /// removed from its ends so that a token of the vocabulary remains. If this is not possible, all
    /// punctuation is removed from the ends. The remaining text is split at its inner punctuation if every
    /// part with letters is in the vocabulary; otherwise, it is one unknown token. Removed punctuation
    /// becomes tokens, the longest known run at a time (`...`, `--`); punctuation that is not in the
    /// vocabulary is dropped. A piece that consists only of punctuation that is not in the vocabulary is an
    /// unknown token.
    ///
    /// Punctuation is every character that is neither a letter, nor a digit, nor a combining accent.
    #[default]
    Punctuation,
    /// Splits at whitespace only. Suited to texts in which all tokens are separated by spaces.
    Blanks,
    /// Makes every run of letters, digits and combining accents a token. All other characters separate
    /// tokens.
    Words,
}

/// The case in which tokens are looked up in a vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// Lower case, for vocabularies of lower-case texts.
    #[default]
    Lower,
    /// The case of the text, unchanged.
    AsWritten,
}

/// A token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The position of the token in the text, in bytes.
    pub range: Range<usize>,
    /// The id of the token in the vocabulary.
    pub id: usize,
    /// Whether the vocabulary contains the token; if not, `id` is the id for unknown words.
    pub known: bool,
}

/// A tokenizer. By default, it splits at whitespace and [punctuation](Splitting::Punctuation) and looks up
/// tokens in [lower case](Case::Lower).
///
/// ```
/// use apportion_media::{Splitting, Tokenizer, Vocabulary};
///
/// let vocabulary = Vocabulary::from_lines(
///     "<pad>\n<unk>\nnot\nfunny\n.\nwell-made\ndoesn't\nmake\nme\nlaugh\n--",
/// )?;
/// let tokens = |text: &str, tokenizer: Tokenizer| -> Result<Vec<String>, apportion_media::MediaError> {
///     let tokens = tokenizer.tokens(text, &vocabulary)?;
///     Ok(tokens.into_iter().map(|token| text[token.range].to_owned()).collect())
/// };
/// let text = "Well-made (not funny--doesn't make-me smile!).";
/// let punctuation = tokens(text, Tokenizer::default())?;
/// assert_eq!(punctuation, ["Well-made", "not", "funny--doesn't", "make", "me", "smile", "."]);
/// let blanks = tokens(text, Tokenizer::default().with_splitting(Splitting::Blanks))?;
/// assert_eq!(blanks, ["Well-made", "(not", "funny--doesn't", "make-me", "smile!)."]);
/// let words = tokens(text, Tokenizer::default().with_splitting(Splitting::Words))?;
/// assert_eq!(words, ["Well", "made", "not", "funny", "doesn", "t", "make", "me", "smile"]);
/// # Ok::<(), apportion_media::MediaError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokenizer {
    splitting: Splitting,
    case: Case,
}

impl Tokenizer {
    /// Sets the convention for splitting.
    pub fn with_splitting(self, splitting: Splitting) -> Self {
        Self { splitting, ..self }
    }

    /// Sets the case in which tokens are looked up.
    pub fn with_case(self, case: Case) -> Self {
        Self { case, ..self }
    }

    /// Returns the tokens of `text`, in order; at least one.
    ///
    /// The time is proportional to the length of the text and, for words with punctuation, to the square of
    /// the length of the longest token in the vocabulary.
    ///
    /// # Errors
    ///
    /// [`MediaError::UnknownWord`] for a word that is not in the vocabulary, if there is no token for unknown
    /// words; [`MediaError::NoTokens`] if the text does not contain tokens.
    pub fn tokens(&self, text: &str, vocabulary: &Vocabulary) -> Result<Vec<Token>, MediaError> {
        let mut cut = TokenSplitter { text, vocabulary, case: self.case, tokens: Vec::new() };
        match self.splitting {
            Splitting::Blanks => {
                runs(text, 0, |c| !c.is_whitespace()).try_for_each(|piece| cut.word(piece))?
            }
            Splitting::Words => runs(text, 0, is_of_word).try_for_each(|piece| cut.word(piece))?,
            Splitting::Punctuation => {
                runs(text, 0, |c| !c.is_whitespace()).try_for_each(|piece| cut.piece(piece))?;
            }
        }
        match cut.tokens.is_empty() {
            true => Err(MediaError::NoTokens { text: text.to_owned() }),
            false => Ok(cut.tokens),
        }
    }
}

/// Returns whether a character belongs to a word. This includes combining accents, which are neither letters
/// nor punctuation.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c)
}

/// Returns all maximal runs of characters for which `inside` is `true`, as byte ranges of the whole text, in
/// which `text` starts at byte `start`.
fn runs(
    text: &str,
    start: usize,
    inside: impl Fn(char) -> bool + Copy,
) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].find(inside)?;
        let first = at;
        at = text[at..].find(|c| !inside(c)).map_or(text.len(), |length| first + length);
        Some(start + first..start + at)
    })
}

/// The state of splitting a text into tokens.
struct TokenSplitter<'a> {
    text: &'a str,
    vocabulary: &'a Vocabulary,
    case: Case,
    tokens: Vec<Token>,
}

impl TokenSplitter<'_> {
    /// Returns the id of this part of the text, if it is in the vocabulary.
    fn id(&self, range: &Range<usize>) -> Option<usize> {
        let part = &self.text[range.clone()];
        // Lower-casing never reduces the number of characters, so parts that are too long need not be
        // converted.
        if part.chars().nth(self.vocabulary.longest()).is_some() {
            return None;
        }
        match self.case {
            Case::AsWritten => self.vocabulary.id(part),
            Case::Lower => self.vocabulary.id(&part.to_lowercase()),
        }
    }

    fn push(&mut self, range: Range<usize>, id: usize) {
        self.tokens.push(Token { range, id, known: true });
    }

    /// Appends this part as one token, known or not.
    fn word(&mut self, range: Range<usize>) -> Result<(), MediaError> {
        match self.id(&range) {
            Some(id) => {
                self.push(range, id);
                Ok(())
            }
            None => self.unknown(range),
        }
    }

    fn unknown(&mut self, range: Range<usize>) -> Result<(), MediaError> {
        let Some(id) = self.vocabulary.unknown() else {
            let word = self.text[range.clone()].to_owned();
            return Err(MediaError::UnknownWord { word, at: range.start });
        };
        self.tokens.push(Token { range, id, known: false });
        Ok(())
    }

    /// Appends the tokens of this punctuation, the longest known token at a time; characters at which no
    /// token starts are skipped.
    fn punctuation(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let rest = &self.text[at..range.end];
            let ends = rest.char_indices().map(|(start, c)| at + start + c.len_utf8());
            let ends: Vec<usize> = ends.take(self.vocabulary.longest()).collect();
            let known = ends.iter().rev().find_map(|&end| Some((end, self.id(&(at..end))?)));
            match known {
                Some((end, id)) => {
                    self.push(at..end, id);
                    at = end;
                }
                None => at = ends[0],
            }
        }
    }

    /// Appends the tokens of a piece between whitespace, split as in [`Splitting::Punctuation`].
    fn piece(&mut self, piece: Range<usize>) -> Result<(), MediaError> {
        if let Some(id) = self.id(&piece) {
            self.push(piece, id);
            return Ok(());
        }
        let words: Vec<Range<usize>> = runs(&self.text[piece.clone()], piece.start, is_of_word).collect();
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            let before = self.tokens.len();
            self.punctuation(piece.clone());
            return if self.tokens.len() == before { self.unknown(piece) } else { Ok(()) };
        };
        let core = first.start..last.end;
        if let Some((known, id)) = self.largest_known(&piece, &core) {
            self.punctuation(piece.start..known.start);
            self.push(known.clone(), id);
            self.punctuation(known.end..piece.end);
            return Ok(());
        }
        self.punctuation(piece.start..core.start);
        if words.len() > 1 && words.iter().all(|word| self.id(word).is_some()) {
            let mut end = core.start;
            for word in words {
                self.punctuation(end..word.start);
                end = word.end;
                self.word(word)?;
            }
        } else {
            self.unknown(core.clone())?;
        }
        self.punctuation(core.end..piece.end);
        Ok(())
    }

    /// Returns the longest token of the vocabulary in `piece` that contains all of `core`, or `None` if there
    /// is no such token. For ties, returns the token that starts first.
    fn largest_known(&self, piece: &Range<usize>, core: &Range<usize>) -> Option<(Range<usize>, usize)> {
        let longest = self.vocabulary.longest();
        let length = self.text[core.clone()].chars().count();
        let room = longest.checked_sub(length)?;
        let before = &self.text[piece.start..core.start];
        let after = &self.text[core.end..piece.end];
        // Candidates for the start and the end, from the core outwards, up to the length of the longest
        // token.
        let mut starts = vec![core.start];
        starts.extend(before.char_indices().rev().take(room).map(|(at, _)| piece.start + at));
        let mut ends = vec![core.end];
        ends.extend(after.char_indices().take(room).map(|(at, c)| core.end + at + c.len_utf8()));
        let most = (starts.len() + ends.len() - 2).min(room);
        (0..=most).rev().find_map(|kept| {
            let leading = (kept.saturating_sub(ends.len() - 1)..=kept.min(starts.len() - 1)).rev();
            leading.into_iter().find_map(|leading| {
                let range = starts[leading]..ends[kept - leading];
                let id = self.id(&range)?;
                Some((range, id))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str =
        "<pad>\n<unk>\nnot\nfunny\n.\n,\n--\n...\n'70s\n'\nwell\nmade\n-\nu.s\nñandú\n(a)\n:-)";

    fn cut(text: &str, tokenizer: Tokenizer) -> Vec<(String, bool)> {
        let vocabulary = Vocabulary::from_lines(LINES).unwrap();
        let tokens = tokenizer.tokens(text, &vocabulary).unwrap();
        let show = |token: Token| (text[token.range].to_owned(), token.known);
        tokens.into_iter().map(show).collect()
    }

    /// Formats the tokens, separated by spaces, with unknown tokens in braces.
    fn shown(text: &str) -> String {
        let show = |(token, known): (String, bool)| if known { token } else { format!("{{{token}}}") };
        cut(text, Tokenizer::default()).into_iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_lose_the_least_punctuation_that_makes_them_known() {
        for (text, expected) in [
            ("Not funny.", "Not funny ."),
            ("  not\t\nFUNNY\u{a0}not ", "not FUNNY not"),
            ("'70s, '70s.", "'70s , '70s ."),
            ("\"'70s\"", "'70s"),
            ("'not'", "' not '"),
            ("not...", "not ..."),
            ("not....", "not ... ."),
            ("not-----", "not -- -- -"),
            ("well-made", "well - made"),
            ("well--made,", "well -- made ,"),
            ("well~made", "well made"),
            ("well-known", "{well-known}"),
            ("(well-known).", "{well-known} ."),
            ("u.s., U.S.", "u.s . , U.S ."),
            ("(a) ((a))", "(a) (a)"),
            ("Ñandú!", "Ñandú"),
            ("-- ~ .~ :-) :-):", "-- {~} . :-) :-)"),
            ("not😀 😀", "not {😀}"),
            ("cafe\u{301}s!", "{cafe\u{301}s}"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn ids_are_those_of_the_vocabulary_and_ranges_those_of_the_text() {
        let vocabulary = Vocabulary::from_lines(LINES).unwrap();
        let tokens = Tokenizer::default().tokens("İ Not.", &vocabulary).unwrap();
        let expected = [(0..2, 1, false), (3..6, 2, true), (6..7, 4, true)];
        assert_eq!(tokens, expected.map(|(range, id, known)| Token { range, id, known }));
    }

    #[test]
    fn the_case_may_be_kept() {
        let kept = cut("Not not", Tokenizer::default().with_case(Case::AsWritten));
        assert_eq!(kept, [("Not".to_owned(), false), ("not".to_owned(), true)]);
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let words = cut("Well-made: the '70s...", Tokenizer::default().with_splitting(Splitting::Words));
        let words: Vec<_> = words.iter().map(|(word, known)| (word.as_str(), *known)).collect();
        assert_eq!(words, [("Well", true), ("made", true), ("the", false), ("70s", false)]);
    }

    #[test]
    fn texts_without_tokens_and_words_without_ids_are_refused() {
        let vocabulary = Vocabulary::from_lines("<pad>\nnot\n.").unwrap();
        let refusal = |text: &str| Tokenizer::default().tokens(text, &vocabulary).unwrap_err();
        for text in ["", " \n\t"] {
            assert!(matches!(refusal(text), MediaError::NoTokens { .. }), "{text:?}");
        }
        let unknown = refusal("not. Funny!");
        assert!(
            matches!(unknown, MediaError::UnknownWord { ref word, at: 5 } if word == "Funny"),
            "{unknown}"
        );
        assert!(matches!(refusal("not !?"), MediaError::UnknownWord { at: 4, .. }));
        let words = Tokenizer::default().with_splitting(Splitting::Words).tokens("?!", &vocabulary);
        assert!(matches!(words, Err(MediaError::NoTokens { .. })));
    }

    #[test]
    fn long_runs_of_punctuation_take_no_long_time() {
        let text = format!("{}not{}", "~".repeat(100_000), ".".repeat(100_000));
        assert_eq!(cut(&text, Tokenizer::default()).len(), 1 + 33_334);
        assert_eq!(shown(&"~".repeat(100_000)).len(), 100_002);
    }
}
