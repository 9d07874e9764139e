//! The simulated tasks of section 5.1 and their games.
//!
//! Both models are functions of a sum over the features, `Σ_i X_i²` and `Σ_i log ρ(X_i)`. A coalition's value
//! therefore only depends on the sum of the changes that occur when the members' feature values replace those
//! of the reference. This sum is looked up in tables, eight players at a time.

use std::f64::consts::PI;

use anyhow::{Context, Result};
use apportion::games::{Coalitions, Game, GameError, Purpose, stream};
use rand::distr::Distribution;
use rand_distr::StandardNormal;
use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::reproduce::store::derive_seed;

/// Version of the cells. It is increased when the meaning of a cell changes in a way that the digests of
/// games and methods do not detect, so that old checkpoints are not reused.
pub(super) const PROTOCOL: u32 = 1;

/// A task, and the pairs of individual x* and reference r* on which the methods are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Setting {
    pub(super) task: Task,
    pub(super) players: usize,
    pub(super) pairs: Pairs,
    /// Number of pairs.
    pub(super) count: usize,
}

impl Setting {
    /// Returns the game of a pair.
    pub(super) fn game(self, pair: usize, seed: u64) -> Result<PairGame> {
        PairGame::draw(self.task, self.players, self.pairs, pair, seed)
    }
}

/// Returns the budget of T permutations: their evaluations plus the evaluations of v(∅) and v(M).
pub(super) fn budget(players: usize, passes: usize) -> usize {
    2 + passes * (players - 1)
}

/// The explained model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Task {
    /// Y = 1{Σ X_j² > median of χ²_d}; the coalition value is 1 if the class is the same as for x*, else 0.
    /// x* and r* belong to different classes.
    Classification,
    /// Y = Π ρ(X_j), ρ(t) = √(π/2) exp(−t²/2); the coalition value is f(z) − f(r*).
    Regression,
    /// Not in the paper: the logistic function of (Σ X_j² − median) divided by a width, from classification
    /// (width 0) to a sum without interactions (large width). Pairs are drawn as for classification.
    Softened { width: u32 },
}

impl Task {
    pub(super) fn title(self) -> String {
        match self {
            Self::Classification => "classification".to_owned(),
            Self::Regression => "regression".to_owned(),
            Self::Softened { width } => format!("softened classification, width {width}"),
        }
    }

    /// Returns the contribution of a feature value to the sum from which the model computes its output.
    fn term(self, x: f64) -> f64 {
        match self {
            Self::Classification | Self::Softened { .. } => x * x,
            Self::Regression => 0.5 * (0.5 * PI).ln() - 0.5 * x * x,
        }
    }
}

/// The purpose of pairs: to be shown in figures, or to be held out for the choice of step sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Pairs {
    Shown,
    HeldOut,
}

/// Coalition value as a function of the sum.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reward {
    /// 1 if the sum is on the same side of the threshold as for x*, otherwise 0.
    SameClass { threshold: f64, above: bool },
    /// exp(sum) minus exp(sum at the reference).
    Product { reference: f64 },
    /// The logistic function of (sum − threshold) / width.
    Softened { threshold: f64, width: f64 },
}

impl Reward {
    fn reward(self, sum: f64) -> f64 {
        match self {
            Self::SameClass { threshold, above } => f64::from((sum > threshold) == above),
            Self::Product { reference } => sum.exp() - reference,
            Self::Softened { threshold, width } => 1.0 / (1.0 + ((threshold - sum) / width).exp()),
        }
    }
}

/// The game of an individual x* with a reference r*.
#[derive(Debug, Clone)]
pub(super) struct PairGame {
    /// For each feature, the change of the sum when the value in x* replaces the value in r*.
    differences: Vec<f64>,
    /// The sum for the reference r*.
    start: f64,
    /// For each block of eight players, the sum of the players' differences for each mask.
    tables: Vec<[f64; 256]>,
    reward: Reward,
}

impl PairGame {
    /// Draws the pair with this index, with `players` features; the draw is determined by the seed.
    pub(super) fn draw(task: Task, players: usize, pairs: Pairs, index: usize, seed: u64) -> Result<Self> {
        let drawn_as = match task {
            Task::Softened { .. } => Task::Classification,
            other => other,
        };
        let seed = derive_seed(&("pair", drawn_as, players, pairs, index, seed))?;
        let mut rng = stream(seed, Purpose::Experiment, 0);
        let mut individual =
            || -> Vec<f64> { (0..players).map(|_| StandardNormal.sample(&mut rng)).collect() };
        let median = median(players)?;
        let class = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>() > median;
        loop {
            let (explicand, reference) = (individual(), individual());
            if drawn_as == Task::Regression || class(&explicand) != class(&reference) {
                return Ok(Self::new(task, median, &explicand, &reference));
            }
        }
    }

    fn new(task: Task, median: f64, explicand: &[f64], reference: &[f64]) -> Self {
        let sum = |row: &[f64]| row.iter().map(|&x| task.term(x)).sum::<f64>();
        let differences: Vec<f64> =
            explicand.iter().zip(reference).map(|(&x, &r)| task.term(x) - task.term(r)).collect();
        let mut tables = vec![[0.0; 256]; differences.len().div_ceil(8)];
        for (table, differences) in tables.iter_mut().zip(differences.chunks(8)) {
            for (bit, difference) in differences.iter().enumerate() {
                for byte in 1 << bit..2 << bit {
                    table[byte] = table[byte - (1 << bit)] + difference;
                }
            }
        }
        let reward = match task {
            Task::Classification => Reward::SameClass { threshold: median, above: sum(explicand) > median },
            Task::Regression => Reward::Product { reference: sum(reference).exp() },
            Task::Softened { width } => Reward::Softened { threshold: median, width: f64::from(width) },
        };
        Self { differences, start: sum(reference), tables, reward }
    }

    /// Adds the marginal contributions of the players, joining in this order, to `out`.
    pub(super) fn walk(&self, order: impl Iterator<Item = usize>, out: &mut [f64]) {
        let mut sum = self.start;
        let mut before = self.reward.reward(sum);
        for player in order {
            sum += self.differences[player];
            let after = self.reward.reward(sum);
            out[player] += after - before;
            before = after;
        }
    }
}

impl Game for PairGame {
    fn players(&self) -> usize {
        self.differences.len()
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (value, coalition) in out.iter_mut().zip(batch.iter()) {
            let bytes = coalition.words().iter().flat_map(|word| word.to_le_bytes());
            let gained = self.tables.iter().zip(bytes).map(|(table, byte)| table[usize::from(byte)]);
            *value = self.reward.reward(self.start + gained.sum::<f64>());
        }
        Ok(())
    }
}

/// Returns the median of a χ² distribution, so that half of all individuals belong to each class.
fn median(degrees: usize) -> Result<f64> {
    let distribution = ChiSquared::new(degrees as f64).context("invalid degrees of freedom of χ²")?;
    let (mut low, mut high) = (0.0, degrees as f64);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if distribution.cdf(middle) < 0.5 { low = middle } else { high = middle }
    }
    Ok(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: [Task; 3] = [Task::Classification, Task::Regression, Task::Softened { width: 4 }];

    /// Returns v(S) by its definition in section 5.1, computed from the features themselves.
    fn by_definition(
        task: Task,
        median: f64,
        explicand: &[f64],
        reference: &[f64],
        coalition: &[usize],
    ) -> f64 {
        let mut row = reference.to_vec();
        coalition.iter().for_each(|&player| row[player] = explicand[player]);
        let squares = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
        let product =
            |row: &[f64]| row.iter().map(|x| (0.5 * PI).sqrt() * (-0.5 * x * x).exp()).product::<f64>();
        match task {
            Task::Classification => f64::from((squares(&row) > median) == (squares(explicand) > median)),
            Task::Regression => product(&row) - product(reference),
            Task::Softened { width } => 1.0 / (1.0 + (-(squares(&row) - median) / f64::from(width)).exp()),
        }
    }

    #[test]
    fn values_are_those_of_the_definition() {
        for players in [1, 2, 7, 16, 65, 130] {
            let mut rng = stream(3, Purpose::Experiment, players as u64);
            let mut normal =
                || -> Vec<f64> { (0..players).map(|_| StandardNormal.sample(&mut rng)).collect() };
            let (explicand, reference) = (normal(), normal());
            let median = median(players).unwrap();
            for task in TASKS {
                let game = PairGame::new(task, median, &explicand, &reference);
                let every = |step: usize| (0..players).step_by(step).collect::<Vec<usize>>();
                for members in [vec![], every(1), every(2), every(3), vec![players - 1]] {
                    let mut batch = Coalitions::new(players);
                    batch.push_members(members.iter().copied());
                    let mut value = [0.0];
                    game.values(&batch, &mut value).unwrap();
                    let expected = by_definition(task, median, &explicand, &reference, &members);
                    assert!(
                        (value[0] - expected).abs() < 1e-12 * (1.0 + expected.abs()),
                        "{task:?} {members:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_walk_adds_up_to_what_all_are_worth() {
        for task in TASKS {
            let game = PairGame::draw(task, 70, Pairs::Shown, 0, 5).unwrap();
            let mut contributions = vec![0.0; 70];
            game.walk((0..70).rev(), &mut contributions);
            let mut batch = Coalitions::new(70);
            batch.push_empty();
            batch.push_full();
            let mut ends = [0.0; 2];
            game.values(&batch, &mut ends).unwrap();
            let total = ends[1] - ends[0];
            assert!(
                (contributions.iter().sum::<f64>() - total).abs() < 1e-12 * (1.0 + total.abs()),
                "{task:?}"
            );
        }
    }

    #[test]
    fn classes_differ_so_that_all_are_worth_one_and_none_nothing() {
        for index in 0..20 {
            let game = PairGame::draw(Task::Classification, 16, Pairs::HeldOut, index, 0).unwrap();
            let mut ends = [0.0; 2];
            let batch = Coalitions::from_masks(16, [0, 0xffff]);
            game.values(&batch, &mut ends).unwrap();
            assert_eq!(ends, [0.0, 1.0]);
        }
    }

    #[test]
    fn medians_of_two_degrees_and_of_many() {
        assert!((median(2).unwrap() - 2.0 * 2f64.ln()).abs() < 1e-10);
        // Compare with the Wilson–Hilferty approximation, which is accurate to 1e-4 here.
        assert!((median(300).unwrap() - 300.0 * (1.0f64 - 2.0 / 2700.0).powi(3)).abs() < 1e-2);
    }
}
