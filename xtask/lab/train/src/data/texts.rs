//! Texts: CSV with the columns split, text, token IDs (if the vocabulary is a file), class.

use anyhow::{Context, Result, bail, ensure};

use super::table::check_classes;
use super::vocabulary::{ids, vocabulary, words};
use super::{DataSet, Element, Samples, Task};
use crate::folders::Folders;

/// Input of a network on texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// IDs of the tokens, with the vocabulary in this file.
    Tokens { vocabulary: &'static str },
    /// IDs of the words. The vocabulary consists of the most frequent words of the training part, and has
    /// this size.
    Words { vocabulary: usize },
    /// Characters of [`ALPHABET`].
    Characters,
}

/// Characters with IDs, starting from 1; 0 is padding. Other characters are treated as spaces.
pub(crate) const ALPHABET: &str = " abcdefghijklmnopqrstuvwxyz0123456789";

/// Reads the texts in `file`, truncated to `width` IDs or padded with 0 at the end. A film review that is too
/// long keeps its last words, as in the authors' code. Any other text keeps its first IDs.
///
/// # Errors
///
/// If a file does not exist, or is not a table of texts.
pub(crate) fn texts(
    folders: &Folders,
    file: &str,
    reading: Reading,
    width: usize,
    classes: usize,
) -> Result<DataSet> {
    let (bytes, hash) = folders.read(file)?;
    let mut files = vec![hash];
    let vocabulary = match reading {
        Reading::Characters => 1 + ALPHABET.len(),
        Reading::Words { vocabulary } => vocabulary,
        Reading::Tokens { vocabulary } => {
            let (bytes, hash) = folders.read(vocabulary)?;
            files.push(hash);
            std::str::from_utf8(&bytes).with_context(|| format!("cannot read {vocabulary}"))?.lines().count()
        }
    };
    let parts = parse(&bytes, reading, width, vocabulary, classes);
    let (train, test) = parts.with_context(|| format!("cannot read {file}"))?;
    Ok(DataSet { task: Task::Classes(classes), train, test, vocabulary, files })
}

fn parse(
    bytes: &[u8],
    reading: Reading,
    width: usize,
    vocabulary: usize,
    classes: usize,
) -> Result<(Samples, Samples)> {
    let columns = if matches!(reading, Reading::Words { .. }) { 3 } else { 4 };
    let records = csv::Reader::from_reader(bytes).into_records().collect::<Result<Vec<_>, _>>()?;
    for record in &records {
        ensure!(
            record.len() == columns,
            "wrong number of columns in a row: {}, expected {columns}",
            record.len()
        );
    }
    let read: Vec<Vec<usize>> = match reading {
        Reading::Tokens { .. } => {
            records.iter().map(|record| token_ids(&record[2])).collect::<Result<_>>()?
        }
        Reading::Characters => records.iter().map(|record| character_ids(&record[1])).collect(),
        Reading::Words { .. } => {
            let texts: Vec<Vec<String>> = records.iter().map(|record| words(&record[1])).collect();
            let of_training = records.iter().zip(&texts).filter(|(record, _)| &record[0] == "train");
            let known = self::vocabulary(of_training.map(|(_, words)| words.as_slice()), vocabulary);
            let ids = ids(&known);
            texts.iter().map(|words| ids(words)).collect()
        }
    };
    let empty = Samples { element: Element::Id, shape: vec![width], rows: Vec::new(), targets: Vec::new() };
    let (mut train, mut test) = (empty.clone(), empty);
    for (record, mut ids) in records.iter().zip(read) {
        let part = match &record[0] {
            "train" => &mut train,
            "test" => &mut test,
            other => bail!("invalid split {other:?}; expected train or test"),
        };
        ensure!(
            ids.iter().all(|&id| id < vocabulary),
            "found an ID beyond the vocabulary of {vocabulary} tokens"
        );
        if matches!(reading, Reading::Words { .. }) {
            ids.drain(..ids.len().saturating_sub(width));
        }
        ids.resize(width, 0);
        part.rows.extend(ids.into_iter().map(|id| id as f64));
        let class = &record[columns - 1];
        part.targets.push(class.parse().with_context(|| format!("{class:?} is not the index of a class"))?);
    }
    for part in [&train, &test] {
        ensure!(part.len() > 0, "expected texts with the split train and texts with the split test");
        check_classes(&part.targets, classes)?;
    }
    Ok((train, test))
}

fn token_ids(cell: &str) -> Result<Vec<usize>> {
    let id = |word: &str| word.parse().with_context(|| format!("{word:?} is not a token ID"));
    cell.split_ascii_whitespace().map(id).collect()
}

/// Returns the IDs of the characters of a text: runs of letters and digits of the lower-cased text, each
/// followed by one space.
fn character_ids(text: &str) -> Vec<usize> {
    let lower = text.to_lowercase();
    let runs = lower.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    let words = runs.filter(|run| !run.is_empty()).flat_map(|run| run.chars().chain([' ']));
    words.map(|c| ALPHABET.find(c).map_or(0, |place| place + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_spelt_and_followed_by_a_blank() {
        assert_eq!(character_ids("É Ab-9"), [2, 3, 1, 37, 1]);
    }

    #[test]
    fn texts_are_cut_and_padded() {
        let text = "split,text,ids,target\ntrain,a b,2 3,1\ntest,c,4,0\n";
        let tokens = Reading::Tokens { vocabulary: "" };
        let (train, test) = parse(text.as_bytes(), tokens, 3, 5, 2).unwrap();
        assert_eq!(
            (train.row(0), test.row(0), train.targets[0]),
            (&[2.0, 3.0, 0.0][..], &[4.0, 0.0, 0.0][..], 1.0)
        );
        let (train, _) = parse(text.as_bytes(), Reading::Characters, 3, 38, 2).unwrap();
        assert_eq!(train.row(0), [2.0, 1.0, 3.0]);
        let words = "split,text,target\ntrain,\"b a, b\",1\ntest,a c,0\n";
        let (train, test) = parse(words.as_bytes(), Reading::Words { vocabulary: 4 }, 4, 4, 2).unwrap();
        assert_eq!((train.row(0), test.row(0)), (&[2.0, 3.0, 2.0, 0.0][..], &[3.0, 1.0, 0.0, 0.0][..]));
        let error = |text: &str| format!("{:#}", parse(text.as_bytes(), tokens, 3, 5, 2).unwrap_err());
        assert!(error(&text.replace("2 3", "2 5")).contains("beyond the vocabulary"));
        assert!(error(&text.replace("c,4,0", "c,4,2")).contains("one of 2 classes"));
        assert!(error(&text.replace("test", "dev")).contains("invalid split \"dev\""));
        assert!(error(&text.replace("test", "train")).contains("texts with the split test"));
    }
}
