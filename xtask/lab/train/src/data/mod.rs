//! Data sets in memory: rows for a network, with their targets, to train on and to test.
//!
//! | file | holds |
//! |---|---|
//! | [`table`] | tables of numbers |
//! | [`texts`] | texts as token ids or characters |
//! | [`images`] | images as pixels |
//! | `byte_matrix`, `vocabulary` | what the harness reads alike |

#[path = "../../../src/papers/l_c_shapley/data/byte_matrix.rs"]
mod byte_matrix;
pub(crate) mod images;
pub(crate) mod table;
pub(crate) mod texts;
#[path = "../../../src/papers/l_c_shapley/data/vocabulary.rs"]
mod vocabulary;

use apportion_games::{Purpose, stream};
use rand::seq::SliceRandom;

use crate::record::FileHash;

/// What the numbers of a row are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    /// Numbers.
    Number,
    /// Ids of tokens or characters.
    Id,
}

/// What is learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// A number.
    Regression,
    /// Which of so many classes: of two by one logit, of more by one each.
    Classes(usize),
}

impl Task {
    /// Outputs of a network.
    pub(crate) fn outputs(self) -> usize {
        match self {
            Self::Regression | Self::Classes(2) => 1,
            Self::Classes(classes) => classes,
        }
    }
}

/// Rows of one shape, with their targets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Samples {
    pub(crate) element: Element,
    /// The shape of a row: `[8]`, `[48]`, `[3, 32, 32]`.
    pub(crate) shape: Vec<usize>,
    /// Row-major. Every number is one of 32 bits.
    pub(crate) rows: Vec<f64>,
    /// A number, or the number of a class.
    pub(crate) targets: Vec<f64>,
}

impl Samples {
    /// Number of samples.
    pub(crate) fn len(&self) -> usize {
        self.targets.len()
    }

    /// Numbers of a row.
    pub(crate) fn width(&self) -> usize {
        self.shape.iter().product()
    }

    /// The row of a sample.
    pub(crate) fn row(&self, index: usize) -> &[f64] {
        &self.rows[index * self.width()..(index + 1) * self.width()]
    }

    /// The samples of these numbers, in this order.
    pub(crate) fn chosen(&self, indices: &[usize]) -> Self {
        Self {
            rows: indices.iter().flat_map(|&index| self.row(index)).copied().collect(),
            targets: indices.iter().map(|&index| self.targets[index]).collect(),
            shape: self.shape.clone(),
            ..*self
        }
    }

    /// Splits off one sample in `share`, at random: the rest and those split off. The split is the same for every seed of training.
    pub(crate) fn split(&self, share: usize) -> (Self, Self) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.shuffle(&mut stream(0, Purpose::Experiment, 0));
        let (off, rest) = order.split_at(self.len() / share);
        (self.chosen(rest), self.chosen(off))
    }
}

/// A data set in two parts.
pub(crate) struct DataSet {
    pub(crate) task: Task,
    pub(crate) train: Samples,
    /// Samples that no network was trained on.
    pub(crate) test: Samples,
    /// Ids that there are; 0 of numbers.
    pub(crate) vocabulary: usize,
    /// The files that it was read from.
    pub(crate) files: Vec<FileHash>,
}

impl DataSet {
    /// Without the test part: one training sample in eight stands in for it.
    pub(crate) fn for_validation(self) -> Self {
        let (train, test) = self.train.split(8);
        Self { train, test, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_has_every_sample_once() {
        let samples = Samples {
            element: Element::Number,
            shape: vec![2],
            rows: (0..20).map(f64::from).collect(),
            targets: (0..10).map(f64::from).collect(),
        };
        let (rest, off) = samples.split(5);
        assert_eq!((rest.len(), off.len()), (8, 2));
        let mut targets = [rest.targets.clone(), off.targets.clone()].concat();
        targets.sort_by(f64::total_cmp);
        assert_eq!(targets, samples.targets);
        assert_eq!(off.row(1), [2.0 * off.targets[1], 2.0 * off.targets[1] + 1.0]);
        assert_eq!(samples.split(5).1, off);
    }
}
