//! Passes all rows through all trees, and collects the results.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use apportion_games::{Coalitions, Rows, memory, parallel};
use apportion_models::Ensemble;
use apportion_values::{Attributions, IndexWeights, InteractionIndex, Interactions};

use super::local::Local;
use super::numbered::NumberedCoalitions;
use crate::engine::finite::finite;
use crate::engine::paths::{BLOCK, Columns, Paths, Patterns};
use crate::error::TreeError;

/// The maximum number of blocks of a task. The indices of a pattern are computed once for each task.
const BLOCKS: usize = 16;

/// The maximum number of values for the rows of a task: 32 MiB of `f64`.
const NUMBERS: usize = 1 << 22;

/// The game on the leaves of the trees.
pub(crate) trait Leaves: Sync {
    /// The working memory of a thread.
    type Memory: Send;

    fn memory(&self) -> Self::Memory;

    /// Returns the path players of a tree, or `None` to skip the tree.
    fn paths(&self, tree: usize) -> Option<&Paths>;

    /// Writes the indices of all coalitions of a leaf's players to `out`, by rank, for explicands with this
    /// pattern and a leaf value of 1. `at` contains the tree and the leaf. `out` is zero on entry.
    fn fill(
        &self,
        memory: &mut Self::Memory,
        at: (usize, usize),
        local: &Local,
        pattern: u64,
        out: &mut [f64],
    );
}

/// The indices of all rows in one game: one number per coalition and output, with the empty coalition last.
pub(crate) struct InteractionBatch {
    pub(crate) coalitions: Arc<Coalitions>,
    /// The indices: rows × (coalitions + 1) × outputs.
    pub(crate) values: Vec<f64>,
}

/// Computes the indices of all rows in the game on `leaves`.
///
/// # Errors
///
/// [`TreeError::TooManyPairs`] if the result does not fit into memory.
pub(crate) fn explain<L: Leaves>(
    ensemble: &Ensemble,
    leaves: &L,
    numbered: &NumberedCoalitions,
    rows: Rows<'_>,
) -> Result<InteractionBatch, TreeError> {
    let (features, outputs) = (ensemble.feature_count(), ensemble.output_count());
    let width = (numbered.coalitions.len() + 1) * outputs;
    let mut values = zeros(rows.len(), width, (numbered.coalitions.players(), outputs))?;
    let task = (NUMBERS / width.max(1)).clamp(1, BLOCKS * BLOCK);
    let tasks = values.chunks_mut(task * width).zip(rows.values().chunks(task * features.max(1)));
    let memory = || (leaves.memory(), Vec::new());
    parallel::map_with(tasks, memory, |(memory, blocks), (values, rows)| {
        take_in(ensemble, rows, blocks);
        for tree in 0..ensemble.trees().len() {
            if let Some(paths) = leaves.paths(tree) {
                add_tree(
                    ensemble,
                    (leaves, &mut *memory),
                    numbered,
                    (tree, paths),
                    blocks,
                    (&mut *values, width),
                );
            }
        }
    });
    Ok(InteractionBatch { coalitions: Arc::clone(&numbered.coalitions), values })
}

/// Allocates `rows` × `width` zeros, or returns an error if they do not fit into memory.
fn zeros(rows: usize, width: usize, (players, outputs): (usize, usize)) -> Result<Vec<f64>, TreeError> {
    let what = || format!("interactions of {players} players for {outputs} outputs of {rows} rows");
    memory::check(
        memory::product([rows, width, 8]),
        what,
        "explain fewer rows at a time, or use a lower order",
    )
    .map_err(|memory| TreeError::TooManyPairs { rows, players, outputs, memory })?;
    let count = rows * width;
    Ok(vec![0.0; count])
}

/// The rows of a task, in blocks with their patterns in the current tree.
type Blocks = Vec<(Columns, Patterns<u64>)>;

fn take_in(ensemble: &Ensemble, rows: &[f64], blocks: &mut Blocks) {
    let rows = rows.chunks(BLOCK * ensemble.feature_count().max(1));
    blocks.resize_with(rows.len(), || (Columns::new(ensemble), Patterns::new()));
    for (rows, (columns, _)) in rows.zip(blocks) {
        columns.fill(ensemble, rows);
    }
}

/// Adds the indices of one tree to the values of a task.
fn add_tree<L: Leaves>(
    ensemble: &Ensemble,
    (leaves, memory): (&L, &mut L::Memory),
    numbered: &NumberedCoalitions,
    (tree, paths): (usize, &Paths),
    blocks: &mut Blocks,
    (values, width): (&mut [f64], usize),
) {
    let (nodes, outputs) = (ensemble.nodes_of(&ensemble.trees()[tree]), ensemble.output_count());
    let output = ensemble.trees()[tree].output;
    let mut left = [0; BLOCK];
    for (columns, patterns) in &mut *blocks {
        patterns.begin(nodes.len());
        for (index, &node) in nodes.iter().enumerate().filter(|(_, node)| !node.is_leaf()) {
            columns.decide(ensemble, node, &mut left);
            patterns.descend(paths, index, node, &left, columns.rows());
        }
    }
    let (mut table, mut known) = (Vec::new(), HashMap::new());
    for (leaf, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_leaf() && node.value() != 0.0) {
        let local = numbered.local(paths.features(leaf).len());
        let numbers = numbered.at(tree, leaf, local);
        table.clear();
        known.clear();
        for (block, (columns, patterns)) in blocks.iter().enumerate() {
            let rows = values[block * BLOCK * width..].chunks_exact_mut(width);
            for (&pattern, values) in patterns.at(leaf)[..columns.rows()].iter().zip(rows) {
                let start = *known.entry(pattern).or_insert_with(|| {
                    let start = table.len();
                    table.resize(start + numbers.len(), 0.0);
                    leaves.fill(memory, (tree, leaf), local, pattern, &mut table[start..]);
                    table[start..].iter_mut().for_each(|index| *index *= node.value());
                    start
                });
                for (&number, index) in numbers.iter().zip(&table[start..]) {
                    values[number as usize * outputs + output] += index;
                }
            }
        }
    }
}

/// The indices from separately computed trees: for each row, a map from the members of a coalition to one
/// number per output.
pub(crate) type SeparateIndices = Vec<BTreeMap<Vec<u32>, Vec<f64>>>;

impl InteractionBatch {
    /// Adds the indices from other trees, one map per row.
    pub(crate) fn and(self, others: &SeparateIndices, outputs: usize) -> Self {
        let players = self.coalitions.players();
        let mut all: BTreeMap<(usize, Vec<u32>), Option<usize>> = BTreeMap::new();
        for (place, coalition) in self.coalitions.iter().enumerate() {
            let members: Vec<u32> = coalition.members().map(|member| member as u32).collect();
            all.insert((members.len(), members), Some(place));
        }
        for members in others.iter().flat_map(BTreeMap::keys).filter(|members| !members.is_empty()) {
            all.entry((members.len(), members.clone())).or_insert(None);
        }
        let mut coalitions = Coalitions::with_capacity(players, all.len());
        for (_, members) in all.keys() {
            coalitions.push_members(members.iter().map(|&member| member as usize));
        }
        let old = self.coalitions.len();
        let mut values = Vec::with_capacity(others.len() * (all.len() + 1) * outputs);
        for (row, more) in self.values.chunks_exact((old + 1) * outputs).zip(others) {
            let empty = (Vec::new(), Some(old));
            let places = all.iter().map(|((_, members), place)| (members, place));
            for (members, place) in places.chain([(&empty.0, &empty.1)]) {
                let more = more.get(members);
                values.extend((0..outputs).map(|output| {
                    let of_trees = place.map_or(0.0, |place| row[place * outputs + output]);
                    of_trees + more.map_or(0.0, |more| more[output])
                }));
            }
        }
        Self { coalitions: Arc::new(coalitions), values }
    }

    /// Returns one result per row, after checking that all numbers are finite.
    ///
    /// # Errors
    ///
    /// [`TreeError::Overflow`] or
    /// [`ValueError::InteractionOverflow`](apportion_values::ValueError::InteractionOverflow) if a number is
    /// not finite.
    pub(crate) fn answers(
        self,
        (index, weights): (&InteractionIndex, &IndexWeights),
        ensemble: &Ensemble,
        base: &[f64],
        predictions: Vec<f64>,
    ) -> Result<Vec<Interactions>, TreeError> {
        let outputs = ensemble.output_count();
        let ends = finite(Attributions::for_players(0, Vec::new(), base.to_vec(), predictions))?;
        let width = (self.coalitions.len() + 1) * outputs;
        let answer = |(values, predictions): (&[f64], &[f64])| {
            let (values, of_empty) = values.split_at(width - outputs);
            let asked = (index.clone(), weights.order());
            let coalitions = Arc::clone(&self.coalitions);
            let answer =
                Interactions::new(asked, coalitions, values.to_vec(), base.to_vec(), predictions.to_vec());
            let answer = match weights.has_own_constant() {
                true => {
                    let constant = of_empty.iter().zip(ensemble.base_margins());
                    answer.with_constant(constant.map(|(of_trees, base)| of_trees + base).collect())
                }
                false => answer,
            };
            Ok(answer.finite()?)
        };
        self.values.chunks_exact(width).zip(ends.predictions.chunks_exact(outputs)).map(answer).collect()
    }
}
