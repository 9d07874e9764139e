//! The decisions of the background rows at every split.

use crate::background::decisions::{Block, Questions, ROWS};
use apportion_models::Ensemble;
use apportion_models::tree::Tree;

/// The maximum depth of trees for this kernel: each level of a path is one bit of a word.
pub(crate) const MAX_DEPTH: usize = 64;

/// The maximum number of bytes for all decisions.
const MAX_BYTES: usize = 1 << 28;

/// A background dataset, prepared for the descent through the trees.
#[derive(Debug)]
pub(crate) struct Cohorts {
    pub(super) parts: Vec<Part>,
    pub(super) weights: Weights,
    /// The split data of each node of the ensemble.
    splits: Vec<Split>,
}

/// A part of the background: up to [`ROWS`] rows.
#[derive(Debug)]
pub(super) struct Part {
    /// The number of words that a set of these rows takes: 1, 2, 4 or 8.
    pub(super) words: usize,
    /// The set of all rows of this part.
    pub(super) present: Vec<u64>,
    /// For every condition, the set of rows that go left.
    pub(super) answers: Vec<u64>,
}

/// The weights of the rows.
#[derive(Debug)]
pub(super) enum Weights {
    Equal(f64),
    /// Individual weights, one for each row.
    Each(Vec<f64>),
}

/// The data of a split for the descent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Split {
    /// The level bit of the last split above on the same player; 0 if there is none.
    pub(super) earlier: u64,
    pub(super) question: u32,
    pub(super) level: u32,
}

impl Cohorts {
    /// Returns whether the decisions of this number of rows at every split fit into the memory limit.
    pub(crate) fn fit(ensemble: &Ensemble, rows: usize) -> bool {
        let splits = ensemble.nodes().len() / 2;
        let bytes = splits.saturating_mul(rows.next_multiple_of(64) / 8);
        bytes <= MAX_BYTES
    }

    /// Prepares the rows of `background`, rounded and row-major, with `weights`. `player_of` maps each
    /// feature to its player.
    pub(crate) fn new(ensemble: &Ensemble, background: &[f64], weights: &[f64], player_of: &[u32]) -> Self {
        let questions = Questions::new(ensemble);
        let features = ensemble.feature_count();
        let mut block = Block::new(features);
        let parts = background.chunks(ROWS * features).map(|rows| {
            block.fill(ensemble, rows);
            let words = (rows.len() / features).div_ceil(64).next_power_of_two();
            let mut answers = vec![0; words * questions.len()];
            questions.answer_words(ensemble, &block, words, &mut answers);
            Part { words, present: block.present()[..words].to_vec(), answers }
        });
        let parts = parts.collect();
        let weights = match weights.windows(2).all(|pair| pair[0] == pair[1]) {
            true => Weights::Equal(weights[0]),
            false => Weights::Each(weights.to_vec()),
        };
        let mut splits = vec![Split::default(); ensemble.nodes().len()];
        for tree in ensemble.trees().iter().filter(|tree| tree.depth <= MAX_DEPTH) {
            seat(ensemble, tree, &questions, player_of, &mut splits[tree.nodes()]);
        }
        Self { parts, weights, splits }
    }

    /// Returns the splits of a tree, indexed by node.
    pub(super) fn splits_of(&self, tree: &Tree) -> &[Split] {
        &self.splits[tree.nodes()]
    }
}

/// Computes the split data of a tree.
fn seat(ensemble: &Ensemble, tree: &Tree, questions: &Questions, player_of: &[u32], splits: &mut [Split]) {
    let nodes = ensemble.nodes_of(tree);
    let mut path = [0; MAX_DEPTH];
    // A stack of nodes to visit with their levels; the path above each node is still in `path` when it is
    // visited.
    let mut open: Vec<(usize, usize)> = vec![(0, 0)];
    while let Some((index, level)) = open.pop() {
        let node = nodes[index];
        if node.is_leaf() {
            continue;
        }
        let player = player_of[node.feature()];
        let earlier =
            path[..level].iter().rposition(|&other| other == player).map_or(0, |level| 1u64 << level);
        let question = questions.of_node(tree.nodes().start + index);
        splits[index] = Split { earlier, question, level: level as u32 };
        path[level] = player;
        open.extend([(node.right(), level + 1), (node.left(), level + 1)]);
    }
}
