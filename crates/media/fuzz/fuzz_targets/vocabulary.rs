//! Fuzzes vocabularies and the tokenization of texts.

#![no_main]

use apportion_media::{Case, Splitting, Text, Tokenizer, Vocabulary};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // The input is the vocabulary, then a zero byte and the text. Without a zero byte, the vocabulary is also
    // the text.
    let mut parts = bytes.splitn(2, |&byte| byte == 0);
    let words = parts.next().unwrap_or_default();
    let text = String::from_utf8_lossy(parts.next().unwrap_or(words));
    let Ok(vocabulary) = Vocabulary::from_bytes(words) else { return };
    for id in 0..vocabulary.len() {
        let token = vocabulary.token(id).expect("ids are below the number of tokens");
        assert_eq!(vocabulary.id(token), Some(id), "a token is found by itself");
    }
    assert!(vocabulary.padding() < vocabulary.len());
    assert!(vocabulary.unknown().is_none_or(|unknown| unknown < vocabulary.len()));
    // The time to find tokens is quadratic in the length of the longest token.
    if words.len() > 4096 || text.len() > 1024 {
        return;
    }
    for splitting in [Splitting::Punctuation, Splitting::Blanks, Splitting::Words] {
        for case in [Case::Lower, Case::AsWritten] {
            let tokenizer = Tokenizer::default().with_splitting(splitting).with_case(case);
            let Ok(text) = Text::new(&*text, &vocabulary, tokenizer) else { continue };
            cut(&text, &vocabulary);
            cut(&text.by_words(), &vocabulary);
        }
    }
});

/// Checks that tokens are in order without overlaps, and that all displays of the text succeed.
fn cut(text: &Text, vocabulary: &Vocabulary) {
    let mut end = 0;
    for token in text.tokens() {
        assert!(end <= token.range.start && token.range.start < token.range.end, "overlapping tokens");
        assert!(token.id < vocabulary.len(), "an invalid token id");
        assert!(text.source().get(token.range.clone()).is_some(), "a token that splits a character");
        end = token.range.end;
    }
    let scores: Vec<f64> = (0..text.players().len()).map(|player| player as f64 - 1.5).collect();
    text.to_html(&scores).expect("a score for each player");
    text.to_terminal(&scores).expect("a score for each player");
    let row = text.row(text.tokens().len() + 1, vocabulary.padding()).expect("room for all tokens");
    assert_eq!(row.last(), Some(&(vocabulary.padding() as f64)));
    (0..text.players().len()).for_each(|player| assert!(!text.words(player).is_empty()));
}
