//! Groups background rows that define the same game with an explicand.

use std::collections::HashMap;
use std::ops::Range;

use super::game::LinkedGame;
use super::mixtures::{Mixtures, View};
use super::walk::Walk;

/// The number of background rows that are grouped at a time. It limits the memory.
pub(super) const CHUNK: usize = 1024;

/// Background rows whose mixtures with the explicand reach the same leaves.
pub(super) struct Cohort {
    /// The index of one of the background rows of the cohort.
    pub(super) row: usize,
    /// The total weight of the rows.
    pub(super) weight: f64,
    /// The number of players for which the rows diverge; `None` if there are more than a coalition has bits.
    pub(super) parting: Option<usize>,
    /// Whether a value is computed for any of the diverging players.
    pub(super) asked: bool,
    /// The number of leaves that mixtures of the explicand and one of these rows reach.
    pub(super) leaves: usize,
}

impl Mixtures<'_> {
    /// Groups the background rows `rows` into cohorts, ordered by the first row of each cohort.
    pub(super) fn cohorts(
        &self,
        game: &LinkedGame,
        view: &View,
        explicand: &[f64],
        rows: Range<usize>,
        walk: &mut Walk,
    ) -> Vec<Cohort> {
        let mut cohorts: Vec<Cohort> = Vec::new();
        let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
        for row in rows {
            let feasible = self.walk(game, view, explicand, row, walk);
            let weight = self.weights[row];
            if let Some(&index) = known.get(&walk.signature) {
                cohorts[index].weight += weight;
                continue;
            }
            known.insert(walk.signature.clone(), cohorts.len());
            cohorts.push(Cohort {
                row,
                weight,
                parting: feasible.then_some(walk.parting.len()),
                asked: walk.parting.iter().any(|&player| game.place_of[player as usize].is_some()),
                leaves: walk.cubes.len(),
            });
        }
        cohorts
    }

    pub(super) fn walk(
        &self,
        game: &LinkedGame,
        view: &View,
        explicand: &[f64],
        row: usize,
        walk: &mut Walk,
    ) -> bool {
        let features = self.ensemble.feature_count();
        let background = &self.background[row * features..(row + 1) * features];
        walk.run(&self.ensemble, &self.fixed, &view.trees, &game.player_of, explicand, background)
    }
}

impl Cohort {
    /// Returns the number of steps for the values: one for each output of each mixture, and one for each
    /// leaf.
    pub(super) fn steps(&self, outputs: usize) -> u64 {
        let mixtures = match self.parting {
            None => u64::MAX,
            Some(_) if !self.asked => 0,
            Some(players) => (1u64 << players).saturating_mul(outputs as u64),
        };
        mixtures.saturating_add(self.leaves as u64)
    }
}
