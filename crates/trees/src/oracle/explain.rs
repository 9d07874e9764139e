//! From a question to the answer: kernels are chosen, tables filled, blocks of rows explained.

use std::ops::Range;
use std::sync::OnceLock;

use apportion_games::Rows;
use rayon::prelude::*;

use super::coalitional::{Coalitional, GroupedMasks, GroupedWalk};
use super::cost::{self, Kernel};
use super::histograms::Histograms;
use super::linear::LinearWalk;
use super::masks::Masks;
use super::paths::{BLOCK, Columns, Paths};
use super::tables::{Lookup, Tables};
use super::walk::{Pair, Walk};
use super::{Attributions, InterventionalOracle};
use crate::ensemble::{Ensemble, Tree};
use crate::error::TreeError;
use crate::moments::Moments;

/// Numbers in tables that are kept at once (64 MiB). More are filled in turns, each turn passing over all rows.
pub(crate) const TABLE_NUMBERS: usize = 1 << 23;

/// Pairs of rows that stand for all in the prediction of a walk's length.
const SAMPLE: usize = 4;

/// Per tree: its path features, and the background as its leaves see it; `None` where a path has too many features.
pub(crate) type Sorted = Vec<Option<(Paths, Histograms)>>;

/// Whose values are asked for.
pub(crate) struct Question<'a> {
    /// The player of each feature.
    pub(crate) player_of: &'a [u32],
    pub(crate) players: usize,
    pub(crate) weights: Weights,
    /// Made when first wanted.
    pub(crate) sorted: &'a OnceLock<Sorted>,
}

/// How coalitions are weighed.
pub(crate) enum Weights {
    /// By their size: a semivalue.
    Alike(Moments),
    /// By the number of groups and of fellow members in them: a coalitional value.
    Grouped(Coalitional),
}

impl InterventionalOracle<'_> {
    /// Answers `question` for each of the rows, with each tree's kernel chosen by `choose`.
    pub(crate) fn explain(
        &self,
        question: &Question<'_>,
        rows: Rows<'_>,
        choose: cost::Choose,
    ) -> Result<Attributions, TreeError> {
        let ensemble = self.ensemble;
        let predictions = ensemble.margins(rows)?;
        let (features, outputs) = (ensemble.feature_count(), ensemble.output_count());
        let numbers = question.players * outputs;
        let mut values = vec![0.0; rows.len() * numbers];
        let kernels = self.kernels(question, rows, choose);
        for turn in turns(&kernels) {
            let tables = self.tables(question, &kernels, turn.clone());
            // A row's values do not depend on the rows beside it, so blocks may be cut to occupy several threads.
            let block = rows.len().div_ceil(16).clamp(1, BLOCK);
            let explain = |scratch: &mut Scratch, (values, rows): (&mut [f64], &[f64])| {
                scratch.begin(ensemble, rows);
                for (position, index) in turn.clone().enumerate() {
                    let sorted = self.sorted_for(question, kernels[index], index);
                    scratch.add_tree(self, question, index, sorted, tables[position].as_ref());
                }
                scratch.end(question.players, outputs, values);
            };
            let scratch = || Scratch::new(features, question, outputs);
            if rows.len() <= block {
                // One row's latency is less than it takes to wake another thread.
                explain(&mut scratch(), (&mut values, rows.values()));
            } else {
                values
                    .par_chunks_mut(block * numbers)
                    .zip(rows.values().par_chunks(block * features))
                    .for_each_init(scratch, explain);
            }
        }
        Ok(Attributions { values, base: self.base.clone(), predictions })
    }

    /// The kernel of each tree.
    pub(crate) fn kernels(
        &self,
        question: &Question<'_>,
        rows: Rows<'_>,
        choose: cost::Choose,
    ) -> Vec<Kernel> {
        let ensemble = self.ensemble;
        let features = ensemble.feature_count();
        // A few pairs of rows, spread over both sets.
        let pairs: Vec<(Vec<f64>, &[f64])> = (0..SAMPLE.min(rows.len()))
            .map(|index| {
                let explicand = rows.row(index * rows.len() / SAMPLE.min(rows.len()));
                let place = index * self.weights.len() / SAMPLE;
                let rounded = explicand.iter().map(|&value| ensemble.width.round(value)).collect();
                (rounded, &self.background[place * features..(place + 1) * features])
            })
            .collect();
        let kernel = |(index, tree): (usize, &Tree)| {
            if tree.linear {
                return Kernel::Walk; // The only one that knows linear leaves.
            }
            let nodes = ensemble.nodes_of(tree);
            let reached = || {
                let leaves = pairs
                    .iter()
                    .map(|(a, b)| cost::leaves_reached(ensemble, nodes, question.player_of, a, b));
                leaves.sum::<usize>() as f64 / pairs.len().max(1) as f64
            };
            choose(&cost::Task {
                nodes,
                leaves: tree.leaves,
                explicands: rows.len(),
                background: self.weights.len(),
                grouped: matches!(question.weights, Weights::Grouped(_)),
                reached: &reached,
                sorted: &|| self.sorted(question)[index].as_ref(),
            })
        };
        ensemble.trees().iter().enumerate().map(kernel).collect()
    }

    /// The tables of the trees of one turn, where their kernel wants them.
    fn tables(&self, question: &Question<'_>, kernels: &[Kernel], turn: Range<usize>) -> Vec<Option<Tables>> {
        let fill = |index: usize| {
            let Kernel::Tables { .. } = kernels[index] else { return None };
            let (paths, histograms) = self.sorted_for(question, kernels[index], index)?;
            let nodes = self.ensemble.nodes_of(&self.ensemble.trees()[index]);
            Some(Tables::new(nodes, paths, histograms, &question.weights))
        };
        // Threads are not woken where there is nothing for them to fill.
        if kernels[turn.clone()].iter().any(|kernel| matches!(kernel, Kernel::Tables { .. })) {
            turn.into_par_iter().map(fill).collect()
        } else {
            turn.map(|_| None).collect()
        }
    }

    /// Paths and background of a tree, where its kernel wants them.
    pub(crate) fn sorted_for<'a>(
        &self,
        question: &'a Question<'_>,
        kernel: Kernel,
        index: usize,
    ) -> Option<&'a (Paths, Histograms)> {
        match kernel {
            Kernel::Walk => None,
            Kernel::Masks | Kernel::Tables { .. } => self.sorted(question)[index].as_ref(),
        }
    }

    fn sorted<'a>(&self, question: &'a Question<'_>) -> &'a Sorted {
        // Not computed inside the lock: a thread that waits for its share of the work may take up a task that wants the lock itself.
        if let Some(sorted) = question.sorted.get() {
            return sorted;
        }
        let sorted = self.sort(question.player_of);
        question.sorted.get_or_init(|| sorted)
    }

    /// Sorts the background by pattern at every leaf.
    fn sort(&self, player_of: &[u32]) -> Sorted {
        let features = self.ensemble.feature_count();
        let columns: Vec<Columns> = self
            .background
            .chunks(BLOCK * features)
            .map(|rows| {
                let mut columns = Columns::new(features);
                columns.fill(self.ensemble, rows);
                columns
            })
            .collect();
        self.ensemble
            .trees()
            .par_iter()
            .map(|tree| {
                let nodes = self.ensemble.nodes_of(tree);
                let paths = Paths::new(nodes, player_of)?;
                let histograms = Histograms::new(self.ensemble, nodes, &paths, &columns, &self.weights);
                Some((paths, histograms))
            })
            .collect()
    }
}

/// Consecutive trees whose tables fit in memory together.
pub(crate) fn turns(kernels: &[Kernel]) -> Vec<Range<usize>> {
    let mut turns = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (index, kernel) in kernels.iter().enumerate() {
        let Kernel::Tables { size: more } = *kernel else { continue };
        if size + more > TABLE_NUMBERS && index > start {
            turns.push(start..index);
            (start, size) = (index, 0);
        }
        size += more;
    }
    turns.push(start..kernels.len());
    turns
}

/// The memory that a thread needs to explain a block of rows.
struct Scratch {
    columns: Columns,
    rounded: Vec<f64>,
    /// Outputs × players × [`BLOCK`].
    phi: Vec<f64>,
    walk: Walk,
    masks: Masks,
    linear_walk: LinearWalk,
    grouped_walk: GroupedWalk,
    grouped_masks: GroupedMasks,
    lookup: Lookup,
}

impl Scratch {
    fn new(features: usize, question: &Question<'_>, outputs: usize) -> Self {
        let groups = match &question.weights {
            Weights::Alike(_) => 0,
            Weights::Grouped(grouped) => grouped.groups(),
        };
        Self {
            columns: Columns::new(features),
            rounded: Vec::new(),
            phi: vec![0.0; outputs * question.players * BLOCK],
            walk: Walk::new(question.players),
            masks: Masks::new(),
            linear_walk: LinearWalk::new(question.players, groups),
            grouped_walk: GroupedWalk::new(features, groups),
            grouped_masks: GroupedMasks::new(),
            lookup: Lookup::new(),
        }
    }

    fn begin(&mut self, ensemble: &Ensemble, rows: &[f64]) {
        self.columns.fill(ensemble, rows);
        self.rounded.clear();
        self.rounded.extend(rows.iter().map(|&value| ensemble.width.round(value)));
        self.phi.fill(0.0);
    }

    fn add_tree(
        &mut self,
        oracle: &InterventionalOracle<'_>,
        question: &Question<'_>,
        index: usize,
        sorted: Option<&(Paths, Histograms)>,
        tables: Option<&Tables>,
    ) {
        let ensemble = oracle.ensemble;
        let tree = &ensemble.trees()[index];
        let nodes = ensemble.nodes_of(tree);
        let phi = &mut self.phi[tree.output * question.players * BLOCK..][..question.players * BLOCK];
        let columns = &self.columns;
        if let (Some((paths, _)), Some(tables)) = (sorted, tables) {
            return self.lookup.add(ensemble, nodes, paths, tables, columns, phi);
        }
        if let Some(sorted) = sorted {
            return match &question.weights {
                Weights::Alike(moments) => self.masks.add(ensemble, nodes, sorted, moments, columns, phi),
                Weights::Grouped(grouped) => {
                    self.grouped_masks.add(ensemble, nodes, sorted, grouped, columns, phi);
                }
            };
        }
        let features = ensemble.feature_count();
        for (row, explicand) in self.rounded.chunks_exact(features).enumerate() {
            for (background, &weight) in oracle.background.chunks_exact(features).zip(&oracle.weights) {
                let phi = |player: usize, share: f64| phi[player * BLOCK + row] += share;
                let pair = Pair { explicand, background, weight };
                if tree.linear {
                    self.linear_walk.add(ensemble, nodes, question.player_of, &question.weights, pair, phi);
                    continue;
                }
                match &question.weights {
                    Weights::Alike(moments) => {
                        self.walk.add(ensemble, nodes, question.player_of, moments, pair, phi);
                    }
                    Weights::Grouped(grouped) => {
                        self.grouped_walk.add(ensemble, nodes, grouped, pair, phi);
                    }
                }
            }
        }
    }

    /// Adds what was gathered to the rows' values.
    fn end(&self, players: usize, outputs: usize, values: &mut [f64]) {
        for (row, values) in values.chunks_exact_mut(players * outputs).enumerate() {
            for (player, values) in values.chunks_exact_mut(outputs).enumerate() {
                for (output, value) in values.iter_mut().enumerate() {
                    *value += self.phi[(output * players + player) * BLOCK + row];
                }
            }
        }
    }
}
