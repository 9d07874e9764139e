//! Rows through the tables of all trees.

use std::sync::Arc;

use apportion_games::Rows;
use rayon::prelude::*;

use super::Pieces;
use super::lookup::Lookup;
use super::number::Steps;
use super::paths::{BLOCK, Columns, Paths};
use super::shape::{Layout, MOST_BITS, Shape, merged_bits};
use super::sums::{Sums, SumsOf};
use super::table::{Law, Tables, Weights};
use crate::error::TreeError;
use crate::kernel::{Kernel, Precision};
use apportion_models::Ensemble;

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
        Some((paths, Arc::new(shape)))
    };
    let shapes: Vec<Option<(Paths, Arc<Shape>)>> = (0..trees.len()).into_par_iter().map(shape).collect();
    if let Some(tree) = shapes.iter().position(Option::is_none) {
        return Err(too_long(tree));
    }
    let numbers = players * outputs;
    let mut values = vec![0.0; rows.len() * numbers];
    let steps = Steps::new(ensemble);
    let sizes: Vec<usize> = shapes
        .iter()
        .map(|shape| shape.as_ref().map_or(0, |(_, shape)| shape.size * size_of::<N>()))
        .collect();
    let pieces = Pieces::new(rows.len(), features + numbers, false);
    let begin = |task: &mut Task, rows: &[f64]| {
        task.used = rows.len().div_ceil(BLOCK * features);
        let block = || (Columns::new(ensemble), Sums::new(players, outputs, precision, steps));
        task.blocks.resize_with(task.blocks.len().max(task.used), block);
        for ((columns, sums), rows) in task.blocks.iter_mut().zip(rows.chunks(BLOCK * features)) {
            columns.fill(ensemble, rows);
            sums.clear();
        }
    };
    let end = |task: &Task, values: &mut [f64]| {
        for ((_, sums), values) in task.blocks.iter().zip(values.chunks_mut(BLOCK * numbers)) {
            sums.add_to(values, outputs);
        }
    };
    // Rows of a task that wait from turn to turn.
    let staying = rows.values().chunks(pieces.task * features).take(if pieces.stay { usize::MAX } else { 0 });
    let mut staying: Vec<Task> = staying
        .map(|rows| {
            let mut task = Task::default();
            begin(&mut task, rows);
            task
        })
        .collect();
    let mut memory: Vec<Vec<N>> = Vec::new();
    for turn in pieces.turns(&sizes, false) {
        memory.resize_with(turn.len(), Vec::new);
        let fill = |(tree, memory): (usize, Vec<N>)| {
            let (paths, shape) = shapes[tree].as_ref()?;
            let (nodes, law) = (ensemble.nodes_of(&trees[tree]), &mut law(tree, paths));
            Some(Tables::new(nodes, paths, shape.clone(), weights, law, steps, memory))
        };
        let tables: Vec<Option<Tables<N>>> =
            turn.clone().into_par_iter().zip(std::mem::take(&mut memory)).map(fill).collect();
        let add = |task: &mut Task| {
            for (tree, tables) in trees[turn.clone()].iter().zip(&tables) {
                let Some(tables) = tables else { continue };
                let nodes = ensemble.nodes_of(tree);
                for (columns, sums) in &mut task.blocks[..task.used] {
                    let sums = N::of_output(sums, tree.output);
                    task.lookup.add(ensemble, nodes, tables, columns, sums);
                }
            }
        };
        if pieces.stay {
            staying.par_iter_mut().for_each(add);
        } else {
            values
                .par_chunks_mut(pieces.task * numbers)
                .zip(rows.values().par_chunks(pieces.task * features))
                .with_max_len(1)
                .for_each_init(Task::default, |task, (values, rows)| {
                    begin(task, rows);
                    add(task);
                    end(task, values);
                });
        }
        memory = tables.into_iter().flatten().map(Tables::into_memory).collect();
    }
    for (task, values) in staying.iter().zip(values.chunks_mut(pieces.task * numbers)) {
        end(task, values);
    }
    Ok(values)
}

/// Some rows, and what it takes to take them through tables.
#[derive(Default)]
struct Task {
    lookup: Lookup,
    blocks: Vec<(Columns, Sums)>,
    /// Blocks in use.
    used: usize,
}
