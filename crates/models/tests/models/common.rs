//! Synthetic models with their files and a reference implementation of their rules, model files of libraries,
//! and assertions for all formats.
//!
//! The tests of `apportion-trees` include this file by its path.

#![allow(dead_code, unreachable_pub)] // each crate's tests use only some of these
#![allow(clippy::unwrap_used)]

use std::io::Read;
use std::path::{Path, PathBuf};

use apportion_games::Rows;
use apportion_models::{Ensemble, ModelError};
use serde_json::{Value, json};

/// A small random number generator (SplitMix64), so that tests do not change with a dependency.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// Returns one of a few values, so that cells often equal a threshold exactly. Sometimes, returns a
    /// missing value instead.
    pub fn cell(&mut self) -> f64 {
        if self.chance(8) { f64::NAN } else { self.below(6) as f64 * 0.5 - 0.5 }
    }

    pub fn row(&mut self, columns: usize) -> Vec<f64> {
        (0..columns).map(|_| self.cell()).collect()
    }
}

/// A tree as stored in a model file.
#[derive(Debug, Clone, Default)]
pub struct TreeSpec {
    pub output: usize,
    pub left: Vec<i64>,
    pub right: Vec<i64>,
    pub feature: Vec<usize>,
    pub number: Vec<f32>,
    pub default_left: Vec<bool>,
    pub set: Vec<Option<Vec<u32>>>,
    /// Cover of the leaves; the cover of a split is the sum of the covers of its children.
    pub cover: Vec<f32>,
    /// Whether values at the threshold go left, as in libraries other than XGBoost.
    pub at_most: bool,
}

impl TreeSpec {
    pub fn leaf(value: f32) -> Self {
        let mut tree = Self::default();
        tree.add_leaf(value);
        tree
    }

    fn add_leaf(&mut self, value: f32) -> usize {
        self.left.push(-1);
        self.right.push(-1);
        self.feature.push(0);
        self.number.push(value);
        self.default_left.push(false);
        self.set.push(None);
        self.cover.push((1 + self.left.len() * 7 % 5) as f32);
        self.left.len() - 1
    }

    /// Converts a leaf to a split, and returns its children, which are leaves with the same value.
    pub fn split(&mut self, node: usize, feature: usize, threshold: f32, default_left: bool) -> [usize; 2] {
        let value = self.number[node];
        let (left, right) = (self.add_leaf(value), self.add_leaf(value));
        (self.left[node], self.right[node]) = (left as i64, right as i64);
        (self.feature[node], self.number[node], self.default_left[node]) = (feature, threshold, default_left);
        [left, right]
    }

    /// Returns a random tree that splits only on the given features.
    pub fn random(
        random: &mut Random,
        features: &[usize],
        depth: usize,
        categorical: bool,
        output: usize,
    ) -> Self {
        let mut tree = Self::leaf(0.0);
        tree.output = output;
        let mut open = vec![(0, 0)];
        while let Some((node, level)) = open.pop() {
            if level < depth && (level == 0 || random.chance(80)) {
                let feature = features[random.below(features.len())];
                let threshold = random.below(6) as f32 * 0.5 - 0.5;
                let default_left = random.chance(50);
                let children = tree.split(node, feature, threshold, default_left);
                if categorical && random.chance(40) {
                    tree.set[node] = Some((0..3).filter(|_| random.chance(50)).collect());
                }
                open.extend(children.map(|child| (child, level + 1)));
            } else {
                tree.number[node] = random.below(41) as f32 * 0.1 - 2.0;
            }
        }
        tree
    }

    /// Returns a tree with one long path: split `k` is on `features[k]`, and its left child is a leaf.
    pub fn chain(random: &mut Random, features: &[usize]) -> Self {
        let mut tree = Self::leaf(0.0);
        let mut node = 0;
        for &feature in features {
            let [left, right] = tree.split(node, feature, 0.0, false);
            tree.number[left] = random.below(41) as f32 * 0.1 - 2.0;
            node = right;
        }
        tree.number[node] = 1.5;
        tree
    }

    /// Returns whether a value goes left at a node by XGBoost's rule, as a reference.
    pub fn goes_left(&self, node: usize, value: f64) -> bool {
        let value = value as f32;
        match &self.set[node] {
            _ if value.is_nan() => self.default_left[node],
            Some(set) => !(0.0..16_777_216.0).contains(&value) || !set.contains(&(value as u32)),
            None if self.at_most => value <= self.number[node],
            None => value < self.number[node],
        }
    }

    pub fn predict(&self, row: &[f64]) -> f64 {
        let mut node = 0;
        while self.left[node] != -1 {
            let left = self.goes_left(node, row[self.feature[node]]);
            node = if left { self.left[node] } else { self.right[node] } as usize;
        }
        f64::from(self.number[node])
    }

    /// Returns the cover of every node, as stored in the file.
    pub fn covers(&self) -> Vec<f32> {
        let mut cover = self.cover.clone();
        // Children have higher indices than their parents, so a single pass suffices.
        for node in (0..cover.len()).rev().filter(|&node| self.left[node] != -1) {
            cover[node] = cover[self.left[node] as usize] + cover[self.right[node] as usize];
        }
        cover
    }

    fn json(&self, features: usize) -> Value {
        let count = self.left.len();
        let nodes: Vec<usize> = (0..count).filter(|&node| self.set[node].is_some()).collect();
        let sets: Vec<&Vec<u32>> = self.set.iter().flatten().collect();
        let sizes: Vec<usize> = sets.iter().map(|set| set.len()).collect();
        let starts: Vec<usize> = (0..sizes.len()).map(|index| sizes[..index].iter().sum()).collect();
        json!({
            "base_weights": vec![0.0; count],
            "categories": sets.into_iter().flatten().collect::<Vec<_>>(),
            "categories_nodes": nodes,
            "categories_segments": starts,
            "categories_sizes": sizes,
            "default_left": self.default_left.iter().map(|&left| u8::from(left)).collect::<Vec<_>>(),
            "id": 0,
            "left_children": self.left,
            "loss_changes": vec![0.0; count],
            "parents": vec![0; count],
            "right_children": self.right,
            "split_conditions": self.number,
            "split_indices": self.feature,
            "split_type": self.set.iter().map(|set| u8::from(set.is_some())).collect::<Vec<_>>(),
            "sum_hessian": self.covers(),
            "tree_param": {
                "num_deleted": "0",
                "num_feature": features.to_string(),
                "num_nodes": count.to_string(),
                "size_leaf_vector": "1"
            },
        })
    }
}

/// Returns the document of a model file as written by XGBoost 3.2.
pub fn document(trees: &[TreeSpec], features: usize, base_scores: &[f32]) -> Value {
    let outputs = base_scores.len();
    let classes = if outputs > 1 { outputs } else { 0 };
    json!({
        "learner": {
            "attributes": {},
            "feature_names": [],
            "feature_types": [],
            "gradient_booster": {
                "model": {
                    "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": trees.len().to_string()},
                    "tree_info": trees.iter().map(|tree| tree.output).collect::<Vec<_>>(),
                    "trees": trees.iter().map(|tree| tree.json(features)).collect::<Vec<_>>(),
                },
                "name": "gbtree",
            },
            "learner_model_param": {
                "base_score": format!("{base_scores:?}"),
                "boost_from_average": "1",
                "num_class": classes.to_string(),
                "num_feature": features.to_string(),
                "num_target": "1",
            },
            "objective": {"name": if outputs > 1 { "multi:softprob" } else { "reg:squarederror" }},
        },
        "version": [3, 2, 0],
    })
}

pub fn read(document: &Value) -> Result<Ensemble, ModelError> {
    Ensemble::from_bytes(document.to_string().as_bytes())
}

/// Replaces the value at `path`, or removes the member if `value` is null.
pub fn put(document: &mut Value, path: &str, value: Value) {
    let (parent, key) = path.rsplit_once('/').unwrap();
    let parent = document.pointer_mut(parent).unwrap_or_else(|| panic!("{path}"));
    match parent {
        Value::Array(values) => values[key.parse::<usize>().unwrap()] = value,
        Value::Object(members) if value.is_null() => assert!(members.remove(key).is_some(), "{path}"),
        Value::Object(members) => drop(members.insert(key.to_owned(), value)),
        _ => panic!("{path}"),
    }
}

/// Returns the path of a model file, or of the expected results of a library.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tests/fixtures").join(name)
}

/// Returns the decompressed content of a fixture.
pub fn content(name: &str) -> Vec<u8> {
    let mut content = std::fs::read(fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    if name.ends_with(".gz") {
        let packed = std::mem::take(&mut content);
        flate2::read::MultiGzDecoder::new(&packed[..]).read_to_end(&mut content).unwrap();
    }
    content
}

pub fn json_fixture(name: &str) -> Value {
    serde_json::from_slice(&content(name)).unwrap()
}

pub fn model(name: &str) -> Ensemble {
    Ensemble::from_path(fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns all numbers of nested lists. Null is a missing value.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap_or(f64::NAN)],
    }
}

/// Returns rows of strings and numbers as numbers: each category is replaced with its code.
pub fn coded(ensemble: &Ensemble, rows: &Value) -> Vec<f64> {
    let row = |row: &Value| -> Vec<f64> {
        let cell = |(feature, cell): (usize, &Value)| match (ensemble.categories(feature), cell) {
            (Some(words), Value::String(text)) => words.code_of_text(text).unwrap(),
            (Some(words), cell) => words.code_of_number(cell.as_f64().unwrap()).unwrap(),
            (None, cell) => cell.as_f64().unwrap_or(f64::NAN),
        };
        row.as_array().unwrap().iter().enumerate().map(cell).collect()
    };
    rows.as_array().unwrap().iter().flat_map(row).collect()
}

pub fn assert_close(got: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        let close = (got - expected).abs() <= tolerance * expected.abs().max(1.0);
        assert!(close, "{what}, number {index}: {got} != {expected}");
    }
}

/// Returns the outputs of the model for these rows: its margins after the link function, or the margins if it
/// does not have a link.
pub fn outputs(ensemble: &Ensemble, rows: &[f64]) -> Vec<f64> {
    let mut outputs = ensemble.margins(Rows::new(rows, ensemble.feature_count())).unwrap();
    if let Some(link) = ensemble.link() {
        outputs.chunks_exact_mut(ensemble.output_count()).for_each(|row| link.apply(row));
    }
    outputs
}

/// Compares margins and outputs, each with its tolerance, with the results of the library.
pub fn assert_as_said(name: &str, ensemble: &Ensemble, said: &Value, tolerances: [f64; 2]) {
    let rows = numbers(&said["rows"]);
    if let Some(expected) = said.get("margins") {
        let margins = ensemble.margins(Rows::new(&rows, ensemble.feature_count())).unwrap();
        assert_close(&margins, &numbers(expected), tolerances[0], name);
    }
    if let Some(expected) = said.get("outputs").or(said.get("scores")) {
        assert_close(&outputs(ensemble, &rows), &numbers(expected), tolerances[1], name);
    }
}

/// Returns the error message for a file that must be rejected.
pub fn refusal(bytes: &[u8]) -> String {
    Ensemble::from_bytes(bytes).map(|_| ()).unwrap_err().to_string()
}

/// Asserts that a document is rejected for the given reason after the value at `path` is replaced.
pub fn assert_refused(document: &Value, path: &str, value: &Value, reason: &str) {
    let mut damaged = document.clone();
    put(&mut damaged, path, value.clone());
    match read(&damaged) {
        Ok(_) => panic!("{path} = {value} was accepted"),
        Err(error) => assert!(error.to_string().contains(reason), "{path} = {value}: {error}"),
    }
}

/// Asserts that a file can be read, and that it is rejected if it is truncated at any `step`-th byte or near
/// its end.
pub fn assert_cuts_are_refused(name: &str, bytes: &[u8], step: usize) {
    assert!(Ensemble::from_bytes(bytes).is_ok(), "{name}");
    for cut in (0..bytes.len()).step_by(step).chain(bytes.len() - 50..bytes.len()) {
        assert!(Ensemble::from_bytes(&bytes[..cut]).is_err(), "{name} cut at {cut} of {}", bytes.len());
    }
}

/// Encodes a document as UBJ, with typed arrays of floats and 32-bit integers as in files of XGBoost.
pub fn ubj(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_ubj(value, &mut bytes);
    bytes
}

/// Returns the bytes of a number, which has 32 bits for both types.
fn ubj_number(value: &Value, integer: bool) -> [u8; 4] {
    match value.as_i64() {
        Some(number) if integer => (number as i32).to_be_bytes(),
        _ => (value.as_f64().unwrap() as f32).to_be_bytes(),
    }
}

fn write_length(length: usize, bytes: &mut Vec<u8>) {
    bytes.push(b'L');
    bytes.extend((length as i64).to_be_bytes());
}

fn write_ubj(value: &Value, bytes: &mut Vec<u8>) {
    match value {
        Value::Null => bytes.push(b'Z'),
        Value::Bool(flag) => bytes.push(if *flag { b'T' } else { b'F' }),
        Value::Number(_) => {
            bytes.push(if value.is_i64() { b'l' } else { b'd' });
            bytes.extend(ubj_number(value, value.is_i64()));
        }
        Value::String(text) => {
            bytes.push(b'S');
            write_length(text.len(), bytes);
            bytes.extend(text.as_bytes());
        }
        Value::Array(values) if !values.is_empty() && values.iter().all(Value::is_number) => {
            let integers = values.iter().all(Value::is_i64);
            bytes.extend(if integers { b"[$l#" } else { b"[$d#" });
            write_length(values.len(), bytes);
            bytes.extend(values.iter().flat_map(|value| ubj_number(value, integers)));
        }
        Value::Array(values) => {
            bytes.extend(b"[#");
            write_length(values.len(), bytes);
            for value in values {
                write_ubj(value, bytes);
            }
        }
        Value::Object(members) => {
            bytes.push(b'{');
            for (name, value) in members {
                write_length(name.len(), bytes);
                bytes.extend(name.as_bytes());
                write_ubj(value, bytes);
            }
            bytes.push(b'}');
        }
    }
}
