//! Rows through the tables of all trees.

use apportion_games::Rows;
use rayon::prelude::*;

use super::lookup::Lookup;
use super::number::Steps;
use super::paths::{BLOCK, Columns, Paths};
use super::shape::{Layout, MOST_BITS, Shape, merged_bits};
use super::sums::{Sums, SumsOf};
use super::table::{Law, Tables, Weights};
use super::{rows_of_a_task, turns};
use crate::ensemble::Ensemble;
use crate::error::TreeError;
use crate::kernel::{Kernel, Precision};

/// Whose values are asked for.
pub(crate) struct Question<'a> {
    pub(crate) ensemble: &'a Ensemble,
    /// The player of each feature.
    pub(crate) player_of: &'a [u32],
    pub(crate) players: usize,
    pub(crate) weights: &'a Weights,
    pub(crate) precision: Precision,
}

/// The values, rows × players × outputs, where `law` says of each tree what stands for the absent players at its leaves. The trees have
/// no linear leaves. Every byte is the same for any number of threads.
///
/// # Errors
///
/// [`TreeError::Kernel`] with the first tree whose paths are too long for tables.
pub(crate) fn explain<L: Law>(
    question: &Question<'_>,
    rows: Rows<'_>,
    law: impl Fn(usize, &Paths) -> L + Sync,
) -> Result<Vec<f64>, TreeError> {
    match question.precision {
        Precision::Double => explain_in::<f64, L>(question, rows, law),
        Precision::Single => explain_in::<f32, L>(question, rows, law),
        Precision::Fixed => explain_in::<i64, L>(question, rows, law),
    }
}

/// Refuses the tables of a tree.
pub(crate) fn too_long(tree: usize) -> TreeError {
    let problem = format!("a path has more than {} features", MOST_BITS - 1);
    TreeError::Kernel { kernel: Kernel::Tables, tree, problem, wanted: "leave the kernel open" }
}

fn explain_in<N: SumsOf, L: Law>(
    question: &Question<'_>,
    rows: Rows<'_>,
    law: impl Fn(usize, &Paths) -> L + Sync,
) -> Result<Vec<f64>, TreeError> {
    let &Question { ensemble, player_of, players, weights, precision } = question;
    let (features, outputs) = (ensemble.feature_count(), ensemble.output_count());
    let trees = ensemble.trees();
    let (layout, bits) = (Layout::new(players), merged_bits(rows.len()));
    let shape = |tree: usize| {
        let nodes = ensemble.nodes_of(&trees[tree]);
        let paths = Paths::new(nodes, player_of)?;
        let shape = Shape::new(nodes, &paths, layout, bits)?;
        Some((paths, shape))
    };
    let shapes: Vec<Option<(Paths, Shape)>> = (0..trees.len()).into_par_iter().map(shape).collect();
    if let Some(tree) = shapes.iter().position(Option::is_none) {
        return Err(too_long(tree));
    }
    let mut values = vec![0.0; rows.len() * players * outputs];
    let steps = Steps::new(ensemble);
    let sizes = shapes.iter().map(|shape| shape.as_ref().map_or(0, |(_, shape)| shape.size * size_of::<N>()));
    for turn in turns(sizes, false) {
        let fill = |tree: usize| {
            let (paths, shape) = shapes[tree].as_ref()?;
            let nodes = ensemble.nodes_of(&trees[tree]);
            let tables = Tables::new(nodes, paths, shape.clone(), weights, &mut law(tree, paths), steps);
            Some(tables)
        };
        let tables: Vec<Option<Tables<N>>> = turn.clone().into_par_iter().map(fill).collect();
        let task = rows_of_a_task(rows.len());
        let block = || (Columns::new(ensemble), Sums::new(players, outputs, precision, steps));
        values
            .par_chunks_mut(task * players * outputs)
            .zip(rows.values().par_chunks(task * features))
            .for_each_init(
                || (Lookup::default(), Vec::new()),
                |(lookup, blocks), (values, rows)| {
                    let used = rows.len().div_ceil(BLOCK * features);
                    blocks.resize_with(blocks.len().max(used), block);
                    for ((columns, sums), rows) in blocks.iter_mut().zip(rows.chunks(BLOCK * features)) {
                        columns.fill(ensemble, rows);
                        sums.clear();
                    }
                    for (tree, tables) in trees[turn.clone()].iter().zip(&tables) {
                        let Some(tables) = tables else { continue };
                        let nodes = ensemble.nodes_of(tree);
                        for (columns, sums) in &mut blocks[..used] {
                            let sums = N::of_output(sums, tree.output);
                            lookup.add(ensemble, nodes, tables, columns, sums);
                        }
                    }
                    for ((_, sums), values) in blocks.iter().zip(values.chunks_mut(BLOCK * players * outputs))
                    {
                        sums.add_to(values, outputs);
                    }
                },
            );
    }
    Ok(values)
}
