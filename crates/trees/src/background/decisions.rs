//! The decisions of rows at every split of an ensemble: one bit per row, for a block of rows at a time.
//!
//! Splits of many trees test the same condition: boosting libraries sort values into some hundred bins before
//! they grow a tree. Therefore the distinct conditions ("questions") are collected once, each is evaluated
//! once per block of rows, and all trees share the results ("answers").

use std::collections::HashMap;

use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// The number of 64-bit words per block.
pub(crate) const WORDS: usize = 8;

/// The number of rows per block.
pub(crate) const ROWS: usize = 64 * WORDS;

/// One bit for each row of a block.
pub(crate) type Bits = [u64; WORDS];

/// The distinct conditions that the splits of an ensemble test.
#[derive(Debug, Clone, Default)]
pub(crate) struct Questions {
    /// For each condition, one split that tests it; conditions on the same feature are adjacent.
    splits: Vec<Node>,
    /// For each node of the ensemble, the index of its condition; 0 for a leaf.
    of_node: Vec<u32>,
}

/// Returns the sort key of a split's condition: the feature, then the flags and the threshold.
fn key(split: Node) -> (usize, bool, bool, u64) {
    (split.feature(), split.is_ruled(), split.default_left(), split.threshold().to_bits())
}

impl Questions {
    pub(crate) fn new(ensemble: &Ensemble) -> Self {
        // There are far fewer distinct conditions than splits, so sort only the conditions.
        let mut numbers = HashMap::new();
        let mut splits = Vec::new();
        let of_split = |&node: &Node| {
            if node.is_leaf() {
                return 0;
            }
            *numbers.entry(key(node)).or_insert_with(|| {
                splits.push(node);
                splits.len() as u32 - 1
            })
        };
        let mut of_node: Vec<u32> = ensemble.nodes().iter().map(of_split).collect();
        let mut order: Vec<u32> = (0..splits.len() as u32).collect();
        order.sort_unstable_by_key(|&number| key(splits[number as usize]));
        let mut place = vec![0; splits.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        for (number, node) in of_node.iter_mut().zip(ensemble.nodes()) {
            if !node.is_leaf() {
                *number = place[*number as usize];
            }
        }
        Self { splits: order.iter().map(|&number| splits[number as usize]).collect(), of_node }
    }

    /// Returns the number of distinct conditions.
    pub(crate) fn len(&self) -> usize {
        self.splits.len()
    }

    /// Returns the index of the condition that a node of the ensemble tests.
    pub(crate) fn of_node(&self, node: usize) -> u32 {
        self.of_node[node]
    }

    /// Writes, for every condition, which rows of a block go left. Bits beyond the rows of the block are
    /// arbitrary.
    pub(crate) fn answer(&self, ensemble: &Ensemble, block: &Block, answers: &mut [Bits]) {
        self.answer_words(ensemble, block, WORDS, answers.as_flattened_mut());
    }

    /// Writes, for every condition, which of the first 64 · `words` rows of a block go left: `words` words
    /// per condition. Bits beyond the rows of the block are arbitrary.
    pub(crate) fn answer_words(&self, ensemble: &Ensemble, block: &Block, words: usize, answers: &mut [u64]) {
        for (split, answer) in self.splits.iter().zip(answers.chunks_exact_mut(words)) {
            let column = block.column(split.feature());
            if split.is_ruled() {
                for (word, values) in answer.iter_mut().zip(column) {
                    *word = values
                        .iter()
                        .rev()
                        .fold(0, |word, &value| word << 1 | u64::from(ensemble.goes_left(*split, value)));
                }
            } else {
                compare(column, split.threshold(), split.default_left(), answer);
            }
        }
    }
}

/// Writes one bit per value, which is set if the value is below `threshold`, or if it is missing and
/// `default_left` is set.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2", "x86_64+avx2"))]
fn compare(column: &[[f64; 64]; WORDS], threshold: f64, default_left: bool, answer: &mut [u64]) {
    for (word, values) in answer.iter_mut().zip(column) {
        *word = below(values, threshold, default_left);
    }
}

/// Returns one bit per value, which is set if the value is below `threshold`, or if it is missing and
/// `default_left` is set.
#[inline(always)]
fn below(values: &[f64; 64], threshold: f64, default_left: bool) -> u64 {
    if default_left {
        // Negated so that NaN (missing) counts as below the threshold.
        #[allow(clippy::neg_cmp_op_on_partial_ord)]
        bits(values, |value| !(value >= threshold))
    } else {
        bits(values, |value| value < threshold)
    }
}

/// Returns one bit per value, which is set if `has` returns `true` for the value. Every vector lane collects
/// the bits of its own values.
#[inline(always)]
fn bits(values: &[f64; 64], has: impl Fn(f64) -> bool) -> u64 {
    let mut lanes = [0u64; 8];
    for (part, values) in values.as_chunks::<8>().0.iter().enumerate() {
        for (lane, (bits, &value)) in lanes.iter_mut().zip(values).enumerate() {
            *bits |= if has(value) { 1 << (8 * part + lane) } else { 0 };
        }
    }
    lanes.iter().fold(0, |word, bits| word | bits)
}

/// Rounded values of up to [`ROWS`] rows, stored by feature.
pub(crate) struct Block {
    columns: Vec<[[f64; 64]; WORDS]>,
    rows: usize,
}

impl Block {
    pub(crate) fn new(features: usize) -> Self {
        Self { columns: vec![[[0.0; 64]; WORDS]; features], rows: 0 }
    }

    /// Loads `rows`, which are row-major and not yet rounded.
    pub(crate) fn fill(&mut self, ensemble: &Ensemble, rows: &[f64]) {
        let features = ensemble.feature_count();
        self.rows = rows.len() / features;
        for (index, row) in rows.chunks_exact(features).enumerate() {
            for (column, &value) in self.columns.iter_mut().zip(row) {
                column[index / 64][index % 64] = ensemble.width().round(value);
            }
        }
    }

    fn column(&self, feature: usize) -> &[[f64; 64]; WORDS] {
        &self.columns[feature]
    }

    /// Returns a mask in which the bits of the loaded rows are set.
    pub(crate) fn present(&self) -> Bits {
        std::array::from_fn(|word| match self.rows.saturating_sub(64 * word) {
            0 => 0,
            rows @ 1..64 => (1 << rows) - 1,
            _ => u64::MAX,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{Random, TreeSpec, document, read};

    #[test]
    fn every_row_answers_as_it_goes() {
        let mut random = Random(11);
        let trees: Vec<TreeSpec> =
            (0..12).map(|_| TreeSpec::random(&mut random, &[0, 1, 2, 3, 4], 6, true, 0)).collect();
        let ensemble = read(&document(&trees, 5, &[0.0])).unwrap();
        let questions = Questions::new(&ensemble);
        assert!(questions.len() < ensemble.nodes().len());
        for rows in [1, 63, 64, 65, 300, 512] {
            let values = random.row(5 * rows);
            let mut block = Block::new(5);
            block.fill(&ensemble, &values);
            let mut answers = vec![[0; WORDS]; questions.len()];
            questions.answer(&ensemble, &block, &mut answers);
            assert_eq!(block.present().iter().map(|word| word.count_ones()).sum::<u32>(), rows as u32);
            for (index, &node) in ensemble.nodes().iter().enumerate().filter(|(_, node)| !node.is_leaf()) {
                let answer = answers[questions.of_node(index) as usize];
                for (row, values) in values.chunks_exact(5).enumerate() {
                    let value = ensemble.width().round(values[node.feature()]);
                    assert_eq!(answer[row / 64] >> (row % 64) & 1 == 1, ensemble.goes_left(node, value));
                }
            }
        }
    }
}
