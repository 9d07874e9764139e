//! Vocabularies: the tokens of a model and their ids.

use std::collections::HashMap;

use crate::error::MediaError;

/// Common names of the padding token.
const PADDING: [&str; 4] = ["<pad>", "[PAD]", "<PAD>", "[pad]"];

/// Common names of the token for unknown words.
const UNKNOWN: [&str; 4] = ["<unk>", "[UNK]", "<UNK>", "[unk]"];

/// The tokens of a model; the id of a token is its index.
///
/// The padding is the token `<pad>` or `[PAD]` (in upper or lower case), or id 0 if neither exists. Unknown
/// words map to the token `<unk>` or `[UNK]`, if there is one. Both tokens can be set. Tokens are whole words
/// and punctuation: word pieces (`##ing`) are not combined.
///
/// Memory: the text of each token is stored twice. A lookup takes constant time.
///
/// ```
/// use apportion_media::Vocabulary;
///
/// let vocabulary = Vocabulary::from_lines("<pad>\n<unk>\nnot\nfunny\n.\n")?;
/// assert_eq!((vocabulary.len(), vocabulary.padding(), vocabulary.unknown()), (5, 0, Some(1)));
/// assert_eq!((vocabulary.id("funny"), vocabulary.token(4)), (Some(3), Some(".")));
/// # Ok::<(), apportion_media::MediaError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Vocabulary {
    tokens: Vec<String>,
    ids: HashMap<String, usize>,
    padding: usize,
    unknown: Option<usize>,
    /// Number of characters of the longest token.
    longest: usize,
}

impl Vocabulary {
    /// Reads one token per line; the first line has id 0.
    ///
    /// Lines end with LF or CRLF; the end of the last line is optional. A byte order mark at the start is
    /// ignored. Spaces within a line are part of the token.
    ///
    /// # Errors
    ///
    /// Same as [`from_tokens`](Self::from_tokens).
    pub fn from_lines(text: &str) -> Result<Self, MediaError> {
        Self::from_tokens(text.strip_prefix('\u{feff}').unwrap_or(text).lines())
    }

    /// Reads a vocabulary from the bytes of a file, as [`from_lines`](Self::from_lines) does.
    ///
    /// # Errors
    ///
    /// [`MediaError::VocabularyEncoding`] unless the bytes are UTF-8, and the errors of
    /// [`from_tokens`](Self::from_tokens).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, MediaError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            MediaError::VocabularyEncoding { line: before.iter().filter(|&&byte| byte == b'\n').count() }
        })?;
        Self::from_lines(text)
    }

    /// Creates a vocabulary from the tokens in the order of their ids.
    ///
    /// # Errors
    ///
    /// [`MediaError::EmptyVocabulary`] if there are no tokens, [`MediaError::EmptyToken`] for an empty token,
    /// [`MediaError::DuplicateToken`] for a token that occurs twice.
    pub fn from_tokens<T: Into<String>>(tokens: impl IntoIterator<Item = T>) -> Result<Self, MediaError> {
        let tokens: Vec<String> = tokens.into_iter().map(Into::into).collect();
        if tokens.is_empty() {
            return Err(MediaError::EmptyVocabulary);
        }
        let mut ids = HashMap::with_capacity(tokens.len());
        for (id, token) in tokens.iter().enumerate() {
            if token.is_empty() {
                return Err(MediaError::EmptyToken { line: id });
            }
            if let Some(first) = ids.insert(token.clone(), id) {
                return Err(MediaError::DuplicateToken { token: token.clone(), first, second: id });
            }
        }
        let named = |names: [&str; 4]| names.iter().find_map(|name| ids.get(*name).copied());
        let (padding, unknown) = (named(PADDING).unwrap_or(0), named(UNKNOWN));
        let longest = tokens.iter().map(|token| token.chars().count()).max().unwrap_or(0);
        Ok(Self { tokens, ids, padding, unknown, longest })
    }

    /// Sets the padding token.
    ///
    /// # Errors
    ///
    /// [`MediaError::NotInVocabulary`] if the token does not exist.
    pub fn with_padding(mut self, token: &str) -> Result<Self, MediaError> {
        self.padding = self.require(token)?;
        Ok(self)
    }

    /// Sets the token for unknown words.
    ///
    /// # Errors
    ///
    /// [`MediaError::NotInVocabulary`] if the token does not exist.
    pub fn with_unknown(mut self, token: &str) -> Result<Self, MediaError> {
        self.unknown = Some(self.require(token)?);
        Ok(self)
    }

    fn require(&self, token: &str) -> Result<usize, MediaError> {
        self.id(token).ok_or_else(|| MediaError::NotInVocabulary { token: token.to_owned() })
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Returns `false`: a vocabulary has at least one token.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Returns the id of `token` (case-sensitive), or `None` if the vocabulary does not contain it.
    pub fn id(&self, token: &str) -> Option<usize> {
        self.ids.get(token).copied()
    }

    /// Returns the token with this id, or `None` if the id does not exist.
    pub fn token(&self, id: usize) -> Option<&str> {
        self.tokens.get(id).map(String::as_str)
    }

    /// Returns the id of the padding token, which fills rows after the end of a text and replaces absent
    /// tokens.
    pub fn padding(&self) -> usize {
        self.padding
    }

    /// Returns the id of the token for unknown words, if there is one.
    pub fn unknown(&self) -> Option<usize> {
        self.unknown
    }

    /// Returns the number of characters of the longest token; longer strings need not be looked up.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Checks that a model whose embedding has `rows` rows, one per id, matches this vocabulary.
    ///
    /// # Errors
    ///
    /// [`MediaError::VocabularySize`] if the number of rows differs from the number of tokens.
    pub fn check_size(&self, rows: usize) -> Result<(), MediaError> {
        if rows == self.len() {
            return Ok(());
        }
        Err(MediaError::VocabularySize { tokens: self.len(), rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_may_end_as_on_any_system() {
        for text in
            ["<pad>\nbon\nmot", "<pad>\nbon\nmot\n", "<pad>\r\nbon\r\nmot\r\n", "\u{feff}<pad>\nbon\nmot"]
        {
            let vocabulary = Vocabulary::from_lines(text).unwrap();
            assert_eq!(
                (vocabulary.len(), vocabulary.padding(), vocabulary.unknown()),
                (3, 0, None),
                "{text:?}"
            );
            assert_eq!((vocabulary.token(2), vocabulary.id("bon")), (Some("mot"), Some(1)));
            assert_eq!((vocabulary.token(3), vocabulary.id("Bon")), (None, None));
        }
    }

    #[test]
    fn padding_and_unknown_are_found_by_name_or_set() {
        let vocabulary = Vocabulary::from_lines("a\n[UNK]\n[PAD]\nb").unwrap();
        assert_eq!((vocabulary.padding(), vocabulary.unknown()), (2, Some(1)));
        let set = vocabulary.with_padding("b").unwrap().with_unknown("a").unwrap();
        assert_eq!((set.padding(), set.unknown()), (3, Some(0)));
        let refused = set.with_padding("c").unwrap_err();
        assert!(matches!(refused, MediaError::NotInVocabulary { ref token } if token == "c"), "{refused}");
    }

    #[test]
    fn files_that_are_no_vocabulary_are_refused() {
        let refusal = |bytes: &[u8]| Vocabulary::from_bytes(bytes).unwrap_err();
        assert!(matches!(refusal(b""), MediaError::EmptyVocabulary));
        assert!(matches!(refusal(b"a\n\nb\n"), MediaError::EmptyToken { line: 1 }));
        assert!(matches!(refusal(b"a\nb\n\n"), MediaError::EmptyToken { line: 2 }));
        assert!(matches!(refusal(b"a\nb\xff\n"), MediaError::VocabularyEncoding { line: 1 }));
        let twice = refusal(b"a\nb\nb\n");
        assert!(matches!(twice, MediaError::DuplicateToken { first: 1, second: 2, .. }), "{twice}");
    }

    #[test]
    fn an_embedding_of_another_size_is_refused_with_both_numbers() {
        let vocabulary = Vocabulary::from_lines("<pad>\na\nb").unwrap();
        assert!(vocabulary.check_size(3).is_ok());
        let message = vocabulary.check_size(5000).unwrap_err().to_string();
        assert!(message.contains('3') && message.contains("5000"), "{message}");
    }
}
