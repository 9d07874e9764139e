//! `apportion explain-text`: compares values on the networks of the fixtures with their definitions. Also
//! contains helpers for the tests of both commands.
//!
//! The rows are constructed by hand, and the network is evaluated for every coalition.

use apportion::games::{Graph, TabulatedGame};
use apportion::values::{GraphValue, SolutionConcept};
use apportion::{Game, Rows};
use apportion_onnx::Network;
use serde_json::Value;

use crate::support::{assert_close, fixture, json, numbers};

/// The maximum error relative to the largest value, because networks compute in single precision.
pub(crate) const SINGLE: f64 = 1e-6;

/// The names of values of all kinds: over neighbourhoods, over connected coalitions, and over all coalitions.
pub(crate) const VALUES: [&str; 14] = [
    "l-shapley=1",
    "l-shapley=2",
    "l-shapley=1,present",
    "c-shapley=2",
    "c-shapley=2,printed",
    "c-shapley=1,graph",
    "c-shapley=1,present",
    "myerson",
    "l-banzhaf=1",
    "myerson-banzhaf",
    "connected=1/beta=4,1",
    "shapley",
    "banzhaf",
    "weighted-banzhaf=0.3",
];

/// Returns the arguments of `explain-text` for a network of the fixtures, followed by `more`.
pub(crate) fn on_text(model: &str, text: &str, more: &[&str]) -> Vec<String> {
    let (model, vocabulary) = (fixture(model), fixture("words.txt"));
    let arguments = ["explain-text", "--model", &model, "--vocab", &vocabulary, "--text", text];
    [&arguments[..], more].concat().into_iter().map(str::to_owned).collect()
}

/// Returns the arguments of `explain-image` for a network and an image of the fixtures, followed by `more`.
pub(crate) fn on_image(model: &str, image: &str, more: &[&str]) -> Vec<String> {
    let (model, image) = (fixture(model), fixture(image));
    let arguments = ["explain-image", "--model", &model, "--image", &image];
    [&arguments[..], more].concat().into_iter().map(str::to_owned).collect()
}

/// Returns the only explanation in the results of a run.
pub(crate) fn explained(results: &Value) -> &Value {
    assert_eq!(results["explanations"].as_array().unwrap().len(), 1);
    &results["explanations"][0]
}

/// Returns the largest absolute value, as the scale of relative errors.
pub(crate) fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |largest, number| largest.max(number.abs()))
}

/// A game whose players switch features of a row from their absent values to their present values.
pub(crate) struct Masked {
    pub(crate) network: Network,
    pub(crate) present: Vec<f64>,
    pub(crate) absent: Vec<f64>,
    /// The features of each player.
    pub(crate) players: Vec<Vec<usize>>,
}

impl Masked {
    /// Evaluates the network for every coalition, and converts its outputs with `score`.
    pub(crate) fn table(&self, score: impl Fn(&[f64]) -> Vec<f64>) -> TabulatedGame {
        let mut rows = Vec::new();
        for mask in 0..1usize << self.players.len() {
            let mut row = self.absent.clone();
            for player in (0..self.players.len()).filter(|player| mask >> player & 1 == 1) {
                self.players[player].iter().for_each(|&feature| row[feature] = self.present[feature]);
            }
            rows.extend(row);
        }
        let outputs = self.network.predictions(Rows::new(&rows, self.absent.len())).unwrap();
        let scores: Vec<Vec<f64>> = outputs.chunks_exact(self.network.output_count()).map(score).collect();
        TabulatedGame::new(scores.concat(), scores[0].len()).unwrap()
    }
}

/// Compares the results of a run with the definition of `value` on `game`.
pub(crate) fn check(arguments: &[String], value: &str, game: &TabulatedGame, graph: &Graph) -> Value {
    let results = json(&[arguments, &["--value".to_owned(), value.to_owned()]].concat());
    let expected = match value.parse().unwrap() {
        SolutionConcept::OnGraph(value) => GraphValue::enumerate(&value, game, graph).unwrap(),
        value => apportion::Value::from_concept(value, None, None).unwrap().enumerate(game).unwrap(),
    };
    let scale = [&expected.values, &expected.base, &expected.predictions].map(|numbers| largest(numbers));
    let scale = largest(&scale);
    let row = explained(&results);
    for (key, expected) in
        [("values", &expected.values), ("base", &expected.base), ("prediction", &expected.predictions)]
    {
        assert_close(&numbers(&row[key]), expected, scale, SINGLE, &format!("{arguments:?}, {value}, {key}"));
    }
    assert!(row.get("std_errors").is_none(), "the values are exact");
    results
}

pub(crate) fn network(name: &str) -> Network {
    Network::from_path(fixture(name)).unwrap()
}

/// A text whose token ids are `IDS`.
const SENTENCE: &str = "The film was not bad, it was very good.";
const IDS: [f64; 11] = [6.0, 7.0, 9.0, 4.0, 11.0, 3.0, 8.0, 9.0, 15.0, 10.0, 2.0];

/// Returns the game for a text with these token ids, in a network with rows of `width` features. `players`
/// are the token positions of each player.
fn text(name: &str, ids: &[f64], width: usize, players: &[&[usize]]) -> Masked {
    let mut present = ids.to_vec();
    present.resize(width, 0.0);
    Masked {
        network: network(name),
        present,
        absent: vec![0.0; width],
        players: players.iter().map(|tokens| tokens.to_vec()).collect(),
    }
}

fn every(tokens: usize) -> Vec<Vec<usize>> {
    (0..tokens).map(|token| vec![token]).collect()
}

fn slices(players: &[Vec<usize>]) -> Vec<&[usize]> {
    players.iter().map(Vec::as_slice).collect()
}

#[test]
fn tokens_get_what_the_definitions_say() {
    let game = text("words.onnx", &IDS, 12, &slices(&every(11))).table(<[f64]>::to_vec);
    for value in VALUES {
        let results = check(&on_text("words.onnx", SENTENCE, &[]), value, &game, &Graph::line(11));
        let words = ["The", "film", "was", "not", "bad", ",", "it", "was", "very", "good", "."];
        assert_eq!(results["features"], serde_json::json!(words));
        let ids: Vec<f64> =
            results["tokens"].as_array().unwrap().iter().map(|token| token["id"].as_f64().unwrap()).collect();
        assert_eq!(ids, IDS);
    }
}

#[test]
fn whole_words_play_with_all_of_their_tokens() {
    let words: [&[usize]; 9] = [&[0], &[1], &[2], &[3], &[4, 5], &[6], &[7], &[8], &[9, 10]];
    let game = text("words.onnx", &IDS, 12, &words).table(<[f64]>::to_vec);
    for value in ["l-shapley=1", "c-shapley=2", "myerson", "shapley"] {
        let arguments = on_text("words.onnx", SENTENCE, &["--players", "words"]);
        let results = check(&arguments, value, &game, &Graph::line(9));
        assert_eq!(results["features"][4], "bad,");
        assert_eq!(results["players"], serde_json::json!(words));
    }
}

#[test]
fn every_class_of_a_text_has_its_own_values() {
    let game = text("topics.onnx", &IDS[..5], 8, &slices(&every(5))).table(<[f64]>::to_vec);
    for value in VALUES {
        let results =
            check(&on_text("topics.onnx", "the film was not bad", &[]), value, &game, &Graph::line(5));
        assert_eq!(explained(&results)["values"][0].as_array().unwrap().len(), 3);
    }
}

#[test]
fn texts_are_cut_and_looked_up_as_the_options_say() {
    let of = |text: &str, more: &[&str]| -> Vec<u64> {
        let results = json(&on_text("words.onnx", text, more));
        results["tokens"].as_array().unwrap().iter().map(|token| token["id"].as_u64().unwrap()).collect()
    };
    assert_eq!(of("Good, bad.", &[]), [10, 3, 11, 2]);
    assert_eq!(of("good , bad.", &["--split", "blanks"]), [10, 3, 1]);
    assert_eq!(of("good, bad.", &["--split", "words"]), [10, 11]);
    assert_eq!(of("Good bad", &["--keep-case", "--unknown", "plot"]), [17, 11]);
    assert_eq!(of(&"good ".repeat(20), &["--truncate", "--value", "l-shapley=1"]), [10; 12]);
}

#[test]
fn another_padding_stands_in_for_absent_tokens() {
    let mut masked = text("words.onnx", &[10.0, 11.0], 12, &slices(&every(2)));
    masked.present[2..].fill(9.0);
    masked.absent.fill(9.0);
    let arguments = on_text("words.onnx", "good bad", &["--padding", "was"]);
    check(&arguments, "shapley", &masked.table(<[f64]>::to_vec), &Graph::line(2));
}

#[test]
fn a_text_from_a_file_is_the_same_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.txt");
    std::fs::write(&path, SENTENCE).unwrap();
    let mut from_file = on_text("words.onnx", "", &["--value", "c-shapley=1"]);
    let place = from_file.iter().position(|argument| argument == "--text").unwrap();
    from_file.splice(place..place + 2, ["--text-file".to_owned(), path.to_str().unwrap().to_owned()]);
    assert_eq!(json(&from_file), json(&on_text("words.onnx", SENTENCE, &["--value", "c-shapley=1"])));
}

#[test]
fn evaluations_are_counted_once_each() {
    let of = |value: &str| {
        let results = json(&on_text("words.onnx", SENTENCE, &["--value", value]));
        assert_eq!(results["method"], "exact");
        assert_eq!(results["budget"], Value::Null);
        explained(&results)["evaluations"].as_u64().unwrap()
    };
    let game = text("words.onnx", &IDS, 12, &slices(&every(11))).table(<[f64]>::to_vec);
    assert_eq!(of("shapley"), 1 << game.players());
    // Connected coalitions on a line are intervals. The empty coalition is evaluated, too.
    assert_eq!(of("myerson"), 11 * 12 / 2 + 1);
    // The evaluated coalitions are the subsets of three consecutive players ({}, 11 single players, 10 pairs,
    // 9 pairs with a gap and 9 triples) and the coalition of all players.
    assert_eq!(of("l-shapley=1"), 1 + 11 + 10 + 9 + 9 + 1);
}
