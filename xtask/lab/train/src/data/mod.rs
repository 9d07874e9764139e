//! Datasets in memory: input rows with their targets, for training and testing.
//!
//! | file | contents |
//! |---|---|
//! | [`table`] | tables of numbers |
//! | [`texts`] | texts as token IDs or characters |
//! | [`images`] | images as pixels |
//! | `byte_matrix`, `vocabulary` | code shared with the reproduction harness |

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

/// Type of the values of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    /// Numbers.
    Number,
    /// IDs of tokens or characters.
    Id,
}

/// The learning task of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Prediction of a number.
    Regression,
    /// Classification into this number of classes. Two classes share one logit; more classes have one logit
    /// each.
    Classes(usize),
}

impl Task {
    /// Returns the number of outputs of a network.
    pub(crate) fn outputs(self) -> usize {
        match self {
            Self::Regression | Self::Classes(2) => 1,
            Self::Classes(classes) => classes,
        }
    }
}

/// Rows of equal shape, with their targets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Samples {
    pub(crate) element: Element,
    /// Shape of a row: `[8]`, `[48]`, `[3, 32, 32]`.
    pub(crate) shape: Vec<usize>,
    /// Row-major values, each representable in 32 bits.
    pub(crate) rows: Vec<f64>,
    /// For each sample, a number or the index of its class.
    pub(crate) targets: Vec<f64>,
}

impl Samples {
    /// Returns the number of samples.
    pub(crate) fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns the number of values per row.
    pub(crate) fn width(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the row of a sample.
    pub(crate) fn row(&self, index: usize) -> &[f64] {
        &self.rows[index * self.width()..(index + 1) * self.width()]
    }

    /// Returns the samples with these indices, in this order.
    pub(crate) fn chosen(&self, indices: &[usize]) -> Self {
        Self {
            rows: indices.iter().flat_map(|&index| self.row(index)).copied().collect(),
            targets: indices.iter().map(|&index| self.targets[index]).collect(),
            shape: self.shape.clone(),
            ..*self
        }
    }

    /// Splits off one out of `share` samples at random, and returns the rest and the split-off samples. The
    /// split does not depend on the training seed.
    pub(crate) fn split(&self, share: usize) -> (Self, Self) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.shuffle(&mut stream(0, Purpose::Experiment, 0));
        let (off, rest) = order.split_at(self.len() / share);
        (self.chosen(rest), self.chosen(off))
    }
}

/// A dataset, split into a training part and a test part.
pub(crate) struct DataSet {
    pub(crate) task: Task,
    pub(crate) train: Samples,
    /// Test samples, which are not used for training.
    pub(crate) test: Samples,
    /// Number of distinct IDs; 0 for numbers.
    pub(crate) vocabulary: usize,
    /// Files that the dataset was read from.
    pub(crate) files: Vec<FileHash>,
}

impl DataSet {
    /// Replaces the test part with one out of eight training samples.
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
