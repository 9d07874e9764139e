//! Short reviews of films, meals, hotels, books and tools, written for this project.
//!
//! 400 sentences, half of them positive; the first 300 are the training part. Words of praise and blame recur
//! more often than in real reviews, so that this small number suffices to train a model.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::text_set::{Sentence, TextSet, UNKNOWN, class, is_test};
use crate::reproduce::datasets::unpack;

/// Gzipped CSV: split, text, target.
const PACKED: &[u8] = include_bytes!("../../../../data/sentences.csv.gz");

/// Hash of the decompressed file.
const SHA256: &str = "de88f6dfc41caf5ac56735c149fbe63bfc3f3fd87f26c810aeabd5be1d9b2b15";

/// The sentence of Table 2. It is not in the dataset, but all its words occur in the training part.
pub(crate) const TABLE_2: &str = "It is not heartwarming or entertaining. It just sucks.";

/// Returns the embedded sentences. The vocabulary contains the tokens of the training part, sorted by
/// descending frequency and then alphabetically.
///
/// # Errors
///
/// If the embedded file cannot be read.
pub(crate) fn sentences() -> Result<TextSet> {
    let bytes = unpack(PACKED)?;
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let mut sentences = Vec::new();
    for record in reader.records() {
        let record = record?;
        let cell = |column: usize| record.get(column).context("a row has fewer than three columns");
        let text = cell(1)?.to_owned();
        sentences.push(Sentence {
            tokens: tokens(&text),
            ids: Vec::new(),
            text,
            target: class(cell(2)?)?,
            is_test: is_test(cell(0)?)?,
        });
    }
    ensure!(sentences.len() == 400, "found {} sentences, expected 400", sentences.len());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for token in sentences.iter().filter(|sentence| !sentence.is_test).flat_map(|sentence| &sentence.tokens) {
        *counts.entry(token).or_default() += 1;
    }
    let mut ranked: Vec<(&str, usize)> = counts.into_iter().collect();
    ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let vocabulary: Vec<String> = ["<pad>", "<unk>"]
        .into_iter()
        .chain(ranked.iter().map(|(token, _)| *token))
        .map(str::to_owned)
        .collect();
    let positions: BTreeMap<&str, usize> =
        vocabulary.iter().enumerate().map(|(id, token)| (token.as_str(), id)).collect();
    for sentence in &mut sentences {
        let id = |token: &String| positions.get(token.as_str()).copied().unwrap_or(UNKNOWN);
        sentence.ids = sentence.tokens.iter().map(id).collect();
    }
    TextSet { vocabulary, sentences, classes: &["negative", "positive"] }.checked()
}

/// Splits a text into lower-cased words, with punctuation marks as separate tokens. An apostrophe belongs to
/// its word.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        if character.is_alphanumeric() || character == '\'' {
            word.push(character);
            continue;
        }
        if !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if !character.is_whitespace() {
            tokens.push(character.to_string());
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::store::sha256;

    #[test]
    fn the_embedded_file_is_the_one_known_by_its_hash() {
        assert_eq!(sha256(&unpack(PACKED).unwrap()), SHA256);
    }

    #[test]
    fn words_are_lower_cased_and_punctuation_stands_alone() {
        assert_eq!(tokens("Don't stop, it's  GOOD!"), ["don't", "stop", ",", "it's", "good", "!"]);
        assert_eq!(tokens("…"), ["…"]);
        assert!(tokens(" \n").is_empty());
        let table_2 =
            ["it", "is", "not", "heartwarming", "or", "entertaining", ".", "it", "just", "sucks", "."];
        assert_eq!(tokens(TABLE_2), table_2);
    }

    #[test]
    fn there_are_300_sentences_to_train_on_and_100_to_test_half_of_them_positive() {
        let set = sentences().unwrap();
        let positive = |sentences: Vec<&Sentence>| {
            (sentences.len(), sentences.iter().filter(|sentence| sentence.target == 1).count())
        };
        assert_eq!(positive(set.train().collect()), (300, 150));
        assert_eq!(positive(set.test().collect()), (100, 50));
        // Counts the words, excluding punctuation.
        let words = |sentence: &Sentence| {
            sentence.tokens.iter().filter(|token| token.len() > 1 || *token == "a" || *token == "i").count()
        };
        assert!(set.sentences.iter().all(|sentence| (8..=25).contains(&words(sentence))));
        let mut texts: Vec<&str> = set.sentences.iter().map(|sentence| sentence.text.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), 400);
    }

    #[test]
    fn the_sentence_of_table_2_is_new_but_all_of_its_words_are_known() {
        let set = sentences().unwrap();
        assert!(set.sentences.iter().all(|sentence| sentence.text != TABLE_2));
        for token in tokens(TABLE_2) {
            assert!(set.id(&token) > UNKNOWN, "{token}");
        }
        assert_eq!(set.id("zeppelin"), UNKNOWN);
    }
}
