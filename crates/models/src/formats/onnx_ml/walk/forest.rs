//! The trees of one operator, and trees that a step of the graph is by itself.

use std::collections::BTreeMap;

use super::columns::{Allowance, Column, Columns, Leaves};
use super::prepared::{Cases, Grid, Pieces, Region, Split};
use super::stop::Stop;
use super::table::Splitter;
use super::value::Scores;
use crate::ensemble::{Link, Rule};
use crate::error::ModelError;
use crate::formats::onnx_ml::attributes::Attributes;
use crate::formats::onnx_ml::decision::Draft;
use crate::formats::onnx_ml::indices;
use crate::formats::onnx_ml::lists::{self, Kind, Single};
use crate::formats::onnx_ml::messages::NodeProto;

/// Trees whose leaves are added.
#[derive(Debug, Clone)]
pub(in super::super) struct Forest {
    pub(in super::super) drafts: Vec<Draft>,
    /// Whether the operator takes the mean of its trees.
    pub(super) is_averaged: bool,
    /// Whether the runtime adds its leaves as `f32`.
    pub(super) is_single: bool,
}

impl Forest {
    /// A forest without trees.
    pub(in super::super) fn new(is_averaged: bool) -> Self {
        Self { drafts: Vec::new(), is_averaged, is_single: true }
    }

    /// What the trees add to each of the first `outputs` outputs of their operator.
    fn leaves(&self, outputs: usize) -> Vec<Leaves> {
        match &self.drafts[..] {
            [tree] => tree.leaves(outputs).into_iter().map(|values| Leaves::Mapped(values.into())).collect(),
            _ => (0..outputs).map(|output| Leaves::Weighted(BTreeMap::from([(output, 1.0)]))).collect(),
        }
    }

    /// A function that is constant on intervals of a feature, as a tree; with the values of its leaves.
    pub(super) fn of_pieces(pieces: &Pieces, grid: Grid) -> Result<(Self, Leaves), Stop> {
        let ends: Vec<(f64, f64)> = pieces.ends(grid).collect();
        let missing = pieces.missing();
        let at = ends.iter().position(|&(_, value)| value == missing);
        if at.is_none() && !missing.is_nan() {
            return Err(Stop::because(
                "it has a value for missing values that no number has, and is no input of trees",
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

    /// A function of a text, as a tree; with the values of its leaves.
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

    /// One tree: tests one after the other, each with a leaf for the rows for which it holds, and a leaf for those that are left.
    fn chain(splits: Vec<Split>, values: impl Iterator<Item = f64>) -> (Self, Leaves) {
        let count = splits.len();
        let mut draft = Draft::new(2 * count + 1, None);
        for (index, split) in splits.into_iter().enumerate() {
            draft.split(2 * index, split, 2 * index + 1, 2 * index + 2);
        }
        (Self { drafts: vec![draft], is_averaged: false, is_single: true }, Leaves::Mapped(values.collect()))
    }
}

/// Reads the trees of an operator that is given a table; `number` is the forest's own.
pub(super) fn read(
    node: &NodeProto,
    splitter: &Splitter<'_>,
    number: usize,
    allowance: &mut Allowance,
) -> Result<(Forest, Scores), Stop> {
    let attributes = Attributes::new(node)?;
    let (forest, base_margins, link, single) = if node.op_type == "TreeEnsemble" {
        let (base_margins, link) = indices::outputs(attributes)?;
        let mut forest = indices::read(attributes, base_margins.len(), splitter)?;
        forest.is_single = !attributes.is_double("nodes_splits");
        (forest, base_margins, link, None)
    } else {
        let kind = if node.op_type == "TreeEnsembleRegressor" { Kind::Regressor } else { Kind::Classifier };
        let outputs = lists::outputs(attributes, kind)?;
        let forest = lists::read(attributes, kind, &outputs, splitter)?;
        (forest, outputs.base_margins, outputs.link, outputs.single)
    };
    // Outputs come as a bare number, and some take several hundred bytes each.
    let leaves = if let [tree] = &forest.drafts[..] { tree.leaf_count() } else { 1 };
    allowance.spend(base_margins.len().saturating_mul(16 + leaves))?;
    let scores = scores(&forest, number, &base_margins, link, single);
    Ok((forest, scores))
}

/// Whether an operator compares with doubles.
pub(super) fn compares_doubles(node: &NodeProto) -> Result<bool, ModelError> {
    let name = if node.op_type == "TreeEnsemble" { "nodes_splits" } else { "nodes_values_as_tensor" };
    Ok(Attributes::new(node)?.is_double(name))
}

fn scores(
    forest: &Forest,
    number: usize,
    base_margins: &[f64],
    link: Option<Link>,
    single: Option<Single>,
) -> Scores {
    let leaves = forest.leaves(base_margins.len());
    let mut columns: Vec<Column> =
        base_margins.iter().zip(leaves).map(|(&base, leaves)| Column::leaves(base, number, leaves)).collect();
    match single {
        None => {}
        Some(Single::Zero) => columns.insert(0, Column::default()),
        Some(Single::Against(constant)) => {
            let against = columns.iter().map(|column| column.affine(0.0, -1.0, constant)).collect::<Vec<_>>();
            columns.splice(0..0, against);
        }
    }
    Scores { is_pair: single.is_some(), ..Scores::linked(Columns(columns), link) }
}
