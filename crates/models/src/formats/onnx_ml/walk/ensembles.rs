//! Reading of the trees in an operator's attributes.

use super::columns::{Allowance, Column, Columns};
use super::forest::Forest;
use super::stop::Stop;
use super::table::Splitter;
use super::value::Scores;
use crate::ensemble::Link;
use crate::error::ModelError;
use crate::formats::onnx_ml::attributes::Attributes;
use crate::formats::onnx_ml::indices;
use crate::formats::onnx_ml::lists::{self, Kind, Single};
use crate::formats::onnx_ml::messages::NodeProto;

/// Reads the trees of an operator whose input is a table. `number` is the index of the new forest.
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
    // The file stores only the number of outputs, but an output can take several hundred bytes of memory.
    let leaves = if let [tree] = &forest.drafts[..] { tree.leaf_count() } else { 1 };
    allowance.spend(base_margins.len().saturating_mul(16 + leaves))?;
    let scores = scores(&forest, number, &base_margins, link, single);
    Ok((forest, scores))
}

/// Returns whether an operator compares with doubles.
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
