//! Computes values: predicts the cost, groups background rows into cohorts, builds tables and evaluates them.

use apportion_games::{Rows, parallel};
use apportion_values::Attributions;

use super::cohorts::{CHUNK, Cohort};
use super::game::LinkedGame;
use super::mixtures::{Mixtures, View, check_finite};
use super::table::PairGame;
use super::walk::Walk;
use super::weights::ByClass;
use crate::engine::driver::in_tasks;
use crate::engine::finite::finite;
use crate::error::TreeError;

/// The number of rows whose cost is predicted before the total cost is compared with the limit.
const WAVE: usize = 64;

/// The number of steps for some explicands, and the most expensive pair of an explicand and a background row.
#[derive(Clone, Copy, Default)]
struct Cost {
    steps: u64,
    worst: u64,
    /// The number of diverging players in the most expensive pair; `None` if there are too many to count.
    parting: Option<usize>,
    row: usize,
    background_row: usize,
}

impl Cost {
    fn add(&mut self, other: Self) {
        let steps = self.steps.saturating_add(other.steps);
        if other.worst > self.worst {
            *self = other;
        }
        self.steps = steps;
    }
}

impl Mixtures<'_> {
    /// Returns the number of steps, or an error if it exceeds the limit. The prediction itself takes at most
    /// that many steps.
    pub(super) fn check_cost(&self, games: &[LinkedGame], rows: Rows<'_>) -> Result<u64, TreeError> {
        let mut cost = Cost::default();
        for start in (0..rows.len()).step_by(WAVE) {
            let wave = start..rows.len().min(start + WAVE);
            let costs: Vec<Cost> = parallel::map(wave, |row| {
                let explicand = self.rounded(rows.row(row));
                let mut cost = Cost { row, ..Cost::default() };
                for game in games {
                    self.add_cost(game, &explicand, row, &mut cost);
                }
                cost
            });
            costs.into_iter().for_each(|more| cost.add(more));
            if cost.steps > self.max_steps || cost.steps == u64::MAX {
                return Err(TreeError::TooManySteps {
                    link: self.link.name(),
                    steps: cost.steps,
                    max: self.max_steps,
                    parting: cost.parting,
                    row: cost.row,
                    background_row: cost.background_row,
                });
            }
        }
        Ok(cost.steps)
    }

    /// Adds the cost of one row, stopping when the limit is exceeded.
    fn add_cost(&self, game: &LinkedGame, explicand: &[f64], row: usize, cost: &mut Cost) {
        let mut walk = Walk::new(game.place_of.len());
        for view in &self.views {
            for start in (0..self.weights.len()).step_by(CHUNK) {
                let chunk = start..self.weights.len().min(start + CHUNK);
                for cohort in self.cohorts(game, view, explicand, chunk, &mut walk) {
                    let steps = cohort.steps(view.outputs.len());
                    cost.add(Cost {
                        steps,
                        worst: steps,
                        parting: cohort.parting,
                        row,
                        background_row: self.numbers[cohort.row],
                    });
                }
                if cost.steps > self.max_steps {
                    return;
                }
            }
        }
    }

    /// Computes the values for games whose cost is within the limit, with `places` values per row and output.
    pub(super) fn answer(
        &self,
        games: &[LinkedGame],
        places: usize,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        let outputs = self.base.len();
        let predictions = self.ensemble.linked()?.outputs_of(rows)?;
        check_finite(&predictions, outputs, self.link)?;
        let mut values = vec![0.0; rows.len() * places * outputs];
        in_tasks(
            rows,
            1,
            &mut values,
            || (),
            |(), values, row| {
                let explicand = self.rounded(row);
                for game in games {
                    self.add_values(game, &explicand, values);
                }
            },
        );
        check_finite(&values, outputs, self.link)?;
        finite(Attributions::for_players(places, values, self.base.clone(), predictions))
    }

    /// Computes the values of one explicand in a game, and adds them to `values`.
    fn add_values(&self, game: &LinkedGame, explicand: &[f64], values: &mut [f64]) {
        let outputs = self.base.len();
        let walk = || Walk::new(game.place_of.len());
        for view in &self.views {
            for start in (0..self.weights.len()).step_by(CHUNK) {
                let chunk = start..self.weights.len().min(start + CHUNK);
                let cohorts = self.cohorts(game, view, explicand, chunk, &mut walk());
                let of_cohort =
                    |walk: &mut Walk, cohort: &Cohort| self.values_of(game, view, explicand, cohort, walk);
                // Threads share the cohorts; the values are added in order to keep results deterministic.
                let shares: Vec<_> = parallel::map_with(&cohorts, walk, of_cohort);
                for (place, shares) in shares.into_iter().flatten() {
                    for (output, share) in view.outputs.iter().zip(shares) {
                        values[place * outputs + output] += share;
                    }
                }
            }
        }
    }

    /// Returns the contributions of a cohort: for each diverging player with a value, the index of the value,
    /// and one number per output of the view.
    fn values_of(
        &self,
        game: &LinkedGame,
        view: &View,
        explicand: &[f64],
        cohort: &Cohort,
        walk: &mut Walk,
    ) -> Vec<(usize, Vec<f64>)> {
        if !cohort.asked || !self.walk(game, view, explicand, cohort.row, walk) {
            return Vec::new();
        }
        let places: Vec<Option<usize>> =
            walk.parting.iter().map(|&player| game.place_of[player as usize]).collect();
        let members = places.iter().flatten().count();
        let weights = ByClass::new(&game.weights, members, places.len() - members);
        let all = &self.outputs[cohort.row * self.base.len()..(cohort.row + 1) * self.base.len()];
        let pair = PairGame {
            link: self.link,
            base: &view.base,
            unit: self.fixed.unit(),
            output_of: &view.output_of,
            steps: &places.iter().map(|place| weights.step(place.is_some())).collect::<Vec<_>>(),
            weights: &weights,
            empty: &view.outputs.iter().map(|&output| all[output]).collect::<Vec<_>>(),
        };
        let values = pair.values(&walk.cubes);
        let shares = |values: &[f64]| values.iter().map(|value| cohort.weight * value).collect();
        places
            .iter()
            .zip(values.chunks_exact(view.outputs.len()))
            .filter_map(|(place, values)| Some(((*place)?, shares(values))))
            .collect()
    }

    fn rounded(&self, row: &[f64]) -> Vec<f64> {
        row.iter().map(|&value| self.ensemble.width().round(value)).collect()
    }
}
