//! Words of texts, and vocabularies of the most frequent words.

use std::cmp::Reverse;
use std::collections::HashMap;

/// Splits the lower-cased text into words: runs of letters and digits, including inner apostrophes.
pub(crate) fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let runs = lower.split(|character: char| !character.is_alphanumeric() && character != '\'');
    runs.map(|run| run.trim_matches('\'')).filter(|run| !run.is_empty()).map(str::to_owned).collect()
}

/// Returns a vocabulary of `size` tokens: `<pad>`, `<unk>`, and the most frequent words of these texts, in
/// alphabetical order for equal frequencies.
pub(crate) fn vocabulary<'a>(texts: impl IntoIterator<Item = &'a [String]>, size: usize) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in texts.into_iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let mut counted: Vec<(&str, usize)> = counts.into_iter().collect();
    counted.sort_unstable_by_key(|&(word, count)| (Reverse(count), word));
    let frequent = counted.into_iter().map(|(word, _)| word);
    ["<pad>", "<unk>"].into_iter().chain(frequent).take(size).map(str::to_owned).collect()
}

/// Returns a function that maps words to IDs, with 1 for words that are not in the vocabulary.
pub(crate) fn ids<'a>(vocabulary: &'a [String]) -> impl Fn(&[String]) -> Vec<usize> + 'a {
    let by_word: HashMap<&str, usize> =
        vocabulary.iter().enumerate().map(|(id, word)| (word.as_str(), id)).collect();
    move |words| words.iter().map(|word| by_word.get(word.as_str()).copied().unwrap_or(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apostrophes_within_words_are_kept() {
        assert_eq!(words("It's a `Lament', É-9!"), ["it's", "a", "lament", "é", "9"]);
        assert!(words(" ' -- ").is_empty());
    }

    #[test]
    fn frequent_words_come_first() {
        let texts = [words("b a b"), words("c a d")];
        let vocabulary = vocabulary(texts.iter().map(Vec::as_slice), 5);
        assert_eq!(vocabulary, ["<pad>", "<unk>", "a", "b", "c"]);
        assert_eq!(ids(&vocabulary)(&words("c d b")), [4, 1, 3]);
    }
}
