//! The tokens that a model knows, by their ids.

use std::collections::HashMap;

use crate::error::MediaError;

/// What vocabularies call the padding behind a text.
const PADDING: [&str; 4] = ["<pad>", "[PAD]", "<PAD>", "[pad]"];

/// What vocabularies call a word that they do not have.
const UNKNOWN: [&str; 4] = ["<unk>", "[UNK]", "<UNK>", "[unk]"];

/// The tokens that a model knows; a token's id is its place, from 0.
///
/// The padding is the token `<pad>` or `[PAD]` (also in the other case), else id 0; words that the vocabulary does not have are the token
/// `<unk>` or `[UNK]`, where there is one. Either can be set. Tokens are whole words and punctuation: pieces of words (`##ing`) are not
/// put together.
///
/// Holding n tokens takes their text twice; finding one takes constant time.
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
    /// Characters of the longest token.
    longest: usize,
}

impl Vocabulary {
    /// One token per line, the first line is id 0.
    ///
    /// Lines end with a line feed, before which a carriage return does not count; the last line may lack it. A byte order mark at the
    /// start does not count. Blanks within a line do.
    ///
    /// # Errors
    ///
    /// As [`from_tokens`](Self::from_tokens).
    pub fn from_lines(text: &str) -> Result<Self, MediaError> {
        Self::from_tokens(text.strip_prefix('\u{feff}').unwrap_or(text).lines())
    }

    /// As [`from_lines`](Self::from_lines), from the bytes of a file.
    ///
    /// # Errors
    ///
    /// [`MediaError::VocabularyEncoding`] unless the bytes are UTF-8; beside it as [`from_tokens`](Self::from_tokens).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, MediaError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            MediaError::VocabularyEncoding { line: before.iter().filter(|&&byte| byte == b'\n').count() }
        })?;
        Self::from_lines(text)
    }

    /// The tokens in the order of their ids.
    ///
    /// # Errors
    ///
    /// [`MediaError::EmptyVocabulary`] without tokens, [`MediaError::EmptyToken`] for a token without characters,
    /// [`MediaError::DuplicateToken`] for a token that is there twice.
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

    /// The same tokens, with `token` as the padding.
    ///
    /// # Errors
    ///
    /// [`MediaError::NotInVocabulary`] if there is no such token.
    pub fn with_padding(mut self, token: &str) -> Result<Self, MediaError> {
        self.padding = self.require(token)?;
        Ok(self)
    }

    /// The same tokens, with `token` for the words that are none of them.
    ///
    /// # Errors
    ///
    /// [`MediaError::NotInVocabulary`] if there is no such token.
    pub fn with_unknown(mut self, token: &str) -> Result<Self, MediaError> {
        self.unknown = Some(self.require(token)?);
        Ok(self)
    }

    fn require(&self, token: &str) -> Result<usize, MediaError> {
        self.id(token).ok_or_else(|| MediaError::NotInVocabulary { token: token.to_owned() })
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Never: a vocabulary has at least one token.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The id of `token`, in the case in which it is written.
    pub fn id(&self, token: &str) -> Option<usize> {
        self.ids.get(token).copied()
    }

    /// The token of `id`.
    pub fn token(&self, id: usize) -> Option<&str> {
        self.tokens.get(id).map(String::as_str)
    }

    /// The id that stands behind the end of a text, and in place of absent tokens.
    pub fn padding(&self) -> usize {
        self.padding
    }

    /// The id of words that the vocabulary does not have.
    pub fn unknown(&self) -> Option<usize> {
        self.unknown
    }

    /// Characters of the longest token: nothing longer needs to be looked up.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Whether a model whose embedding has `rows` rows, one per id, is a model of this vocabulary.
    ///
    /// # Errors
    ///
    /// [`MediaError::VocabularySize`] if it has another number of rows than the vocabulary has tokens.
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
