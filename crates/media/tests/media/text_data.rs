//! Compares the tokenization of texts with the ids and tokens stored in the shared data pack. The tests are
//! skipped if the pack is missing.

use std::io::Read;
use std::path::{Path, PathBuf};

use apportion_media::{Case, Splitting, Text, Tokenizer, Vocabulary};
use serde_json::Value;

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

/// Parses the cells of a CSV table. Cells with commas or quotes are quoted, and quotes in quoted cells are
/// doubled.
fn cells(table: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut characters = table.chars().peekable();
    let mut quoted = false;
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => cell.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    rows
}

/// Reads the texts of a data set and their ids.
fn texts(name: &str) -> Option<Vec<(String, Vec<usize>)>> {
    let bytes = std::fs::read(shared().join("data").join(name).with_extension("csv.gz")).ok()?;
    let mut table = String::new();
    flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut table).unwrap();
    let rows = cells(&table);
    assert_eq!(rows[0], ["split", "text", "ids", "target"]);
    let ids = |cell: &str| cell.split(' ').map(|id| id.parse().unwrap()).collect();
    Some(rows[1..].iter().map(|row| (row[1].clone(), ids(&row[2]))).collect())
}

fn vocabulary(name: &str) -> Option<Vocabulary> {
    let path = shared().join("data").join(format!("{name}_vocab.txt"));
    Some(Vocabulary::from_bytes(&std::fs::read(path).ok()?).unwrap())
}

/// Returns the share of texts whose stored ids are reproduced.
fn share(texts: &[(String, Vec<usize>)], vocabulary: &Vocabulary, tokenizer: Tokenizer) -> f64 {
    let is_reproduced = |(text, ids): &&(String, Vec<usize>)| {
        let tokens = tokenizer.tokens(text, vocabulary).unwrap();
        tokens.iter().map(|token| token.id).eq(ids.iter().copied())
    };
    texts.iter().filter(is_reproduced).count() as f64 / texts.len() as f64
}

#[test]
fn stored_ids_are_reproduced() {
    let splittings = [Splitting::Punctuation, Splitting::Blanks, Splitting::Words];
    for (name, rows, floors) in
        [("rt_polarity", 10_662, [0.81, 0.999, 0.0]), ("ag_news", 7600, [0.51, 0.0, 1.0])]
    {
        let (Some(texts), Some(vocabulary)) = (texts(name), vocabulary(name)) else { return };
        assert_eq!((texts.len(), vocabulary.len()), (rows, 5000));
        for (splitting, floor) in splittings.into_iter().zip(floors) {
            let tokenizer = Tokenizer::default().with_splitting(splitting);
            let share = share(&texts, &vocabulary, tokenizer);
            let kept = self::share(&texts, &vocabulary, tokenizer.with_case(Case::AsWritten));
            println!(
                "{name}, {splitting:?}: {:.2}% of the texts, {:.2}% in their case",
                100.0 * share,
                100.0 * kept
            );
            assert!(share >= floor, "{name}, {splitting:?}: {share}");
        }
    }
}

#[test]
fn tokens_of_the_truth_are_found_in_their_texts() {
    for name in ["rt_polarity", "ag_news"] {
        let truth = if name == "rt_polarity" { "rt_polarity_conv.json" } else { "ag_news_bag.json" };
        let (Ok(bytes), Some(vocabulary)) =
            (std::fs::read(shared().join("truth").join(truth)), vocabulary(name))
        else {
            return;
        };
        let truth: Value = serde_json::from_slice(&bytes).unwrap();
        let cases = truth["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 5);
        for case in cases {
            let tokens: Vec<&str> =
                case["tokens"].as_array().unwrap().iter().map(|token| token.as_str().unwrap()).collect();
            let ids: Vec<usize> =
                case["ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as usize).collect();
            for splitting in [Splitting::Punctuation, Splitting::Blanks] {
                let tokenizer = Tokenizer::default().with_splitting(splitting);
                let text = Text::new(tokens.join(" "), &vocabulary, tokenizer).unwrap();
                let found: Vec<String> = (0..text.players().len()).map(|player| text.words(player)).collect();
                assert_eq!(found, tokens);
                assert_eq!(text.tokens().iter().map(|token| token.id).collect::<Vec<_>>(), ids);
                let stored = Text::from_tokens(&tokens, &ids).unwrap();
                let rows = [text, stored].map(|text| text.row(64, vocabulary.padding()).unwrap());
                assert_eq!(rows[0], rows[1]);
            }
        }
    }
}
