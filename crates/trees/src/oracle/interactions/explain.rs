//! From a question to the interactions: kernels are chosen, tables filled, blocks of rows explained.

use std::ops::Range;

use apportion_games::Rows;
use rayon::prelude::*;

use super::Choices;
use super::masks::PairMasks;
use super::pairs::{Pairs, Weighing};
use super::tables::{PairLookup, PairTables};
use super::walk::PairWalk;
use crate::error::TreeError;
use crate::interactions::{Diagonal, Interactions};
use crate::moments::Moments;
use crate::oracle::cohorts::{Cohorts, Descent, Explicand, InPairs};
use crate::oracle::cost::{self, Kernel};
use crate::oracle::explain::Question;
use crate::oracle::histograms::Histograms;
use crate::oracle::linear::LinearWalk;
use crate::oracle::walk::Pair;
use crate::oracle::{Attributions, InterventionalOracle};
use crate::tables::paths::{BLOCK, Columns, Paths};
use crate::tables::table::Weights;
use crate::tables::{TURN, turns};
use apportion_models::Ensemble;

impl InterventionalOracle<'_> {
    /// The interactions of the players of `question`, each tree's kernels chosen by `choices`.
    pub(super) fn interact(
        &self,
        question: &Question<'_>,
        diagonal: Diagonal,
        rows: Rows<'_>,
        choices: Choices,
    ) -> Result<Interactions, TreeError> {
        let Weights::Alike(moments) = &question.weights else {
            unreachable!("pairs are weighed by the size of coalitions")
        };
        let ensemble = self.ensemble;
        let Attributions { values: alone, base, predictions } =
            self.explain(question, rows, choices.values)?;
        let (features, outputs, players) =
            (ensemble.feature_count(), ensemble.output_count(), question.players);
        let mut values = Interactions::zeros(rows.len(), players, outputs)?;
        let numbers = players * players * outputs;
        let pairs = Pairs::new(ensemble, question.player_of, players);
        let weighing = Weighing { player_of: question.player_of, moments, pairs: &pairs };
        let kernels = self.kernels(question, rows, choices.pairs);
        cost::check(ensemble, self.settings, &kernels)?;
        self.check_rows_at_hand(&kernels, rows)?;
        // A row's sums do not depend on the rows beside it, so blocks may be cut to occupy several threads.
        let block = rows.len().div_ceil(16).clamp(1, BLOCK);
        let scratch = || Scratch::new(ensemble, players);
        let sizes = kernels.iter().map(|kernel| match *kernel {
            Kernel::Tables { size } => size * size_of::<f64>(),
            _ => 0,
        });
        for turn in turns(sizes, TURN) {
            let tables = self.pair_tables(question, moments, &kernels, turn.clone());
            // Until the end, a block's sums are kept where its results will be: outputs × pairs × rows.
            let explain = |scratch: &mut Scratch, (values, rows): (&mut [f64], &[f64])| {
                scratch.begin(ensemble, rows);
                for (position, index) in turn.clone().enumerate() {
                    let length = pairs.len() * scratch.columns.rows();
                    let phi = &mut values[ensemble.trees()[index].output * length..][..length];
                    let task = Task {
                        index,
                        sorted: self.sorted_for(question, kernels[index], index),
                        tables: tables[position].as_ref(),
                        cohorts: (kernels[index] == Kernel::Cohorts).then(|| self.cohorts(question)),
                    };
                    scratch.add_tree(self, weighing, &task, phi);
                }
            };
            if rows.len() <= block {
                // One row's latency is less than it takes to wake another thread.
                explain(&mut scratch(), (&mut values, rows.values()));
            } else {
                values
                    .par_chunks_mut(block * numbers)
                    .zip(rows.values().par_chunks(block * features))
                    .with_max_len(1)
                    .for_each_init(scratch, explain);
            }
        }
        let finish = |sums: &mut Vec<f64>, (values, alone): (&mut [f64], &[f64])| {
            spread(&pairs, (players, outputs), sums, values);
            for (matrix, alone) in values.chunks_exact_mut(numbers).zip(alone.chunks_exact(players * outputs))
            {
                for (player, alone) in alone.chunks_exact(outputs).enumerate() {
                    matrix[player * (players + 1) * outputs..][..outputs].copy_from_slice(alone);
                }
                diagonal.complete(matrix, players, outputs);
            }
        };
        if rows.len() <= block {
            finish(&mut Vec::new(), (&mut values, &alone));
        } else {
            values
                .par_chunks_mut(block * numbers)
                .zip(alone.par_chunks(block * players * outputs))
                .for_each_init(Vec::new, finish);
        }
        Interactions::new(values, base, predictions)
    }

    /// The tables of the trees of one turn, where their kernel wants them.
    fn pair_tables(
        &self,
        question: &Question<'_>,
        moments: &Moments,
        kernels: &[Kernel],
        turn: Range<usize>,
    ) -> Vec<Option<PairTables>> {
        let fill = |index: usize| {
            let Kernel::Tables { .. } = kernels[index] else { return None };
            let (paths, histograms) = self.sorted_for(question, kernels[index], index)?;
            let nodes = self.ensemble.nodes_of(&self.ensemble.trees()[index]);
            Some(PairTables::new(nodes, paths, histograms, moments))
        };
        // Threads are not woken where there is nothing for them to fill.
        if kernels[turn.clone()].iter().any(|kernel| matches!(kernel, Kernel::Tables { .. })) {
            turn.into_par_iter().map(fill).collect()
        } else {
            turn.map(|_| None).collect()
        }
    }
}

/// From sums, outputs × pairs × rows, to the upper halves of rows × players × players × outputs in the same place.
fn spread(pairs: &Pairs, (players, outputs): (usize, usize), sums: &mut Vec<f64>, values: &mut [f64]) {
    let rows = values.len() / (players * players * outputs);
    sums.clear();
    sums.extend_from_slice(&values[..outputs * pairs.len() * rows]);
    values[..sums.len()].fill(0.0);
    for (row, values) in values.chunks_exact_mut(players * players * outputs).enumerate() {
        for output in 0..outputs {
            let sums = sums[output * pairs.len() * rows..].iter().skip(row).step_by(rows);
            for (&(a, b), &sum) in pairs.members().iter().zip(sums) {
                values[(a as usize * players + b as usize) * outputs + output] = sum;
            }
        }
    }
}

/// A tree, and what its kernel wants of it.
struct Task<'a> {
    index: usize,
    sorted: Option<&'a (Paths, Histograms)>,
    tables: Option<&'a PairTables>,
    cohorts: Option<&'a Cohorts>,
}

/// The memory that a thread needs to explain a block of rows.
struct Scratch {
    columns: Columns,
    rounded: Vec<f64>,
    walk: PairWalk,
    descent: Descent<InPairs>,
    linear_walk: LinearWalk,
    masks: PairMasks,
    lookup: PairLookup,
}

impl Scratch {
    fn new(ensemble: &Ensemble, players: usize) -> Self {
        Self {
            columns: Columns::new(ensemble),
            rounded: Vec::new(),
            walk: PairWalk::new(players),
            descent: Descent::new(),
            linear_walk: LinearWalk::new(players, 0),
            masks: PairMasks::new(),
            lookup: PairLookup::new(),
        }
    }

    fn begin(&mut self, ensemble: &Ensemble, rows: &[f64]) {
        self.columns.fill(ensemble, rows);
        self.rounded.clear();
        self.rounded.extend(rows.iter().map(|&value| ensemble.width().round(value)));
    }

    fn add_tree(
        &mut self,
        oracle: &InterventionalOracle<'_>,
        weighing: Weighing<'_>,
        &Task { index, sorted, tables, cohorts }: &Task<'_>,
        phi: &mut [f64],
    ) {
        let ensemble = oracle.ensemble;
        let tree = &ensemble.trees()[index];
        let nodes = ensemble.nodes_of(tree);
        let columns = &self.columns;
        if let (Some((paths, _)), Some(tables)) = (sorted, tables) {
            return self.lookup.add(ensemble, nodes, (paths, tables), weighing.pairs, columns, phi);
        }
        if let Some(sorted) = sorted {
            return self.masks.add(ensemble, nodes, sorted, weighing, columns, phi);
        }
        let (features, rows) = (ensemble.feature_count(), columns.rows());
        let Weighing { player_of, moments, pairs } = weighing;
        for (row, explicand) in self.rounded.chunks_exact(features).enumerate() {
            if let Some(cohorts) = cohorts {
                let explicand = Explicand { row: explicand, player_of };
                self.descent.add(ensemble, tree, cohorts, explicand, moments, |(one, other), share| {
                    phi[pairs.number(one, other) * rows + row] += share;
                });
                continue;
            }
            for (background, &weight) in oracle.background.chunks_exact(features).zip(&oracle.weights) {
                let mut phi = |pair: usize, share: f64| phi[pair * rows + row] += share;
                let rows = Pair { explicand, background, weight };
                if tree.linear {
                    self.linear_walk.add(ensemble, nodes, player_of, rows, |products, value| {
                        products.add_pairs(moments, value, &mut |a, b, share| phi(pairs.number(a, b), share));
                    });
                    continue;
                }
                self.walk.add(ensemble, nodes, weighing, rows, phi);
            }
        }
    }
}
