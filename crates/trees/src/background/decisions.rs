//! How blocks of rows decide at every split of an ensemble, a bit per row.
//!
//! Splits of many trees ask the same: boosting libraries sort values into some hundred bins before they grow
//! a tree. So the distinct questions are found once, each block of rows answers them, and a tree takes the
//! answers from there.

use std::collections::HashMap;

use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// Words of 64 rows that a block has.
pub(crate) const WORDS: usize = 8;

/// Rows of a block.
pub(crate) const ROWS: usize = 64 * WORDS;

/// A bit for each row of a block.
pub(crate) type Bits = [u64; WORDS];

/// The distinct questions that the splits of an ensemble ask of a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Questions {
    /// A split that asks it, for each question; those of one feature follow each other.
    splits: Vec<Node>,
    /// Per node of the ensemble: the number of its question; 0 for a leaf.
    of_node: Vec<u32>,
}

/// What a split asks: by feature, then by flags and number.
fn key(split: Node) -> (usize, bool, bool, u64) {
    (split.feature(), split.is_ruled(), split.default_left(), split.threshold().to_bits())
}

impl Questions {
    pub(crate) fn new(ensemble: &Ensemble) -> Self {
        // Splits ask far fewer questions than there are splits, so what is sorted are the questions.
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

    /// Number of distinct questions.
    pub(crate) fn len(&self) -> usize {
        self.splits.len()
    }

    /// The number of the question that a node of the ensemble asks.
    pub(crate) fn of_node(&self, node: usize) -> u32 {
        self.of_node[node]
    }

    /// Writes down which rows of a block go left, question by question. Bits beyond the block's rows mean
    /// nothing.
    pub(crate) fn answer(&self, ensemble: &Ensemble, block: &Block, answers: &mut [Bits]) {
        self.answer_words(ensemble, block, WORDS, answers.as_flattened_mut());
    }

    /// As [`answer`](Self::answer) for the first `words` words of rows, and with as many words for a
    /// question.
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

/// Which values are below `threshold`, or missing if that is to count.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2", "x86_64+avx2"))]
fn compare(column: &[[f64; 64]; WORDS], threshold: f64, default_left: bool, answer: &mut [u64]) {
    for (word, values) in answer.iter_mut().zip(column) {
        *word = below(values, threshold, default_left);
    }
}

/// A bit for each of the values that is below `threshold`, or missing if that is to count.
#[inline(always)]
fn below(values: &[f64; 64], threshold: f64, default_left: bool) -> u64 {
    if default_left {
        // What is not at or above it, which no missing value is.
        #[allow(clippy::neg_cmp_op_on_partial_ord)]
        bits(values, |value| !(value >= threshold))
    } else {
        bits(values, |value| value < threshold)
    }
}

/// A bit for each of the values with a property. Every lane of a vector gathers the bits of its own values.
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

/// Rounded values of up to [`ROWS`] rows, feature by feature.
pub(crate) struct Block {
    columns: Vec<[[f64; 64]; WORDS]>,
    rows: usize,
}

impl Block {
    pub(crate) fn new(features: usize) -> Self {
        Self { columns: vec![[[0.0; 64]; WORDS]; features], rows: 0 }
    }

    /// Takes rows in, row-major and not yet rounded.
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

    /// A bit for each row that was taken in.
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
