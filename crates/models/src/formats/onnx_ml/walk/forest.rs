//! Forests: the trees of an operator, or trees that represent a preprocessing step.

use std::collections::BTreeMap;

use super::columns::Leaves;
use super::prepared::{Cases, Grid, Pieces, Region, Split};
use super::stop::Stop;
use crate::ensemble::Rule;
use crate::formats::onnx_ml::draft::Draft;

/// Trees whose leaves are added.
#[derive(Debug, Clone)]
pub(in super::super) struct Forest {
    pub(in super::super) drafts: Vec<Draft>,
    /// Whether the operator averages its trees.
    pub(super) is_averaged: bool,
    /// Whether the runtime adds the leaves as `f32`.
    pub(super) is_single: bool,
}

impl Forest {
    /// Creates a forest without trees.
    pub(in super::super) fn new(is_averaged: bool) -> Self {
        Self { drafts: Vec::new(), is_averaged, is_single: true }
    }

    /// Returns the terms of the trees for each of the first `outputs` outputs of their operator.
    pub(super) fn leaves(&self, outputs: usize) -> Vec<Leaves> {
        match &self.drafts[..] {
            [tree] => tree.leaves(outputs).into_iter().map(|values| Leaves::Mapped(values.into())).collect(),
            _ => (0..outputs).map(|output| Leaves::Weighted(BTreeMap::from([(output, 1.0)]))).collect(),
        }
    }

    /// Converts a function that is constant on intervals of a feature to a tree, with the values of its
    /// leaves.
    pub(super) fn of_pieces(pieces: &Pieces, grid: Grid) -> Result<(Self, Leaves), Stop> {
        let ends: Vec<(f64, f64)> = pieces.ends(grid).collect();
        let missing = pieces.missing();
        let at = ends.iter().position(|&(_, value)| value == missing);
        if at.is_none() && !missing.is_nan() {
            return Err(Stop::because(
                "it maps missing values to a separate value, which is supported for inputs of trees only",
            ));
        }
        let tests = ends.iter().enumerate().map(|(index, &(end, _))| Split {
            feature: pieces.feature(),
            region: Region::Below(end),
            missing_holds: at == Some(index),
        });
        let splits = tests.take(ends.len() - 1).collect();
        Ok(Self::chain(splits, ends.iter().map(|&(_, value)| value)))
    }

    /// Converts a function of a string to a tree, with the values of its leaves.
    pub(super) fn of_cases(cases: &Cases) -> Result<(Self, Leaves), Stop> {
        let (mut numbers, others) = cases.numbers()?;
        numbers.retain(|&(_, number)| number != others);
        numbers.sort_by(|one, other| one.1.total_cmp(&other.1));
        let groups: Vec<&[(u32, f64)]> = numbers.chunk_by(|one, next| one.1 == next.1).collect();
        let splits = groups.iter().map(|group| Split {
            feature: cases.feature(),
            region: Region::Inside(Rule::exactly(group.iter().map(|&(code, _)| f64::from(code)).collect())),
            missing_holds: false,
        });
        let values = groups.iter().map(|group| group[0].1).chain(std::iter::once(others));
        Ok(Self::chain(splits.collect(), values))
    }

    /// Builds a tree that is a chain of tests. Each test has a leaf for the rows for which it holds, and the
    /// last leaf is for all other rows.
    fn chain(splits: Vec<Split>, values: impl Iterator<Item = f64>) -> (Self, Leaves) {
        let count = splits.len();
        let mut draft = Draft::new(2 * count + 1, None);
        for (index, split) in splits.into_iter().enumerate() {
            draft.split(2 * index, split, 2 * index + 1, 2 * index + 2);
        }
        (Self { drafts: vec![draft], is_averaged: false, is_single: true }, Leaves::Mapped(values.collect()))
    }
}
