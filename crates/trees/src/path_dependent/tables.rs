//! Tables of the path-dependent game.
//!
//! On a leaf of value v the game is v times a factor for each path feature: 1 or 0 for those that are known, by whether the row passes their
//! tests, and for the others c_j, the product of the shares of cover of their branches. That is the expectation of the marginal game where
//! the absent features pass their tests independently, each with probability c_j: tables of the marginal game with the law
//!
//! ```text
//! H[M] = Π_{j ∈ M} c_j · Π_{j ∉ M} (1 − c_j).
//! ```
//!
//! Filling takes 2^d numbers for a leaf with d path features whatever the number of rows; quadrature takes no such preparation.

use apportion_games::Rows;

use crate::error::TreeError;
use crate::kernel::Precision;
use crate::tables::explain::{Question, explain, too_long};
use crate::tables::paths::Paths;
use crate::tables::shape::{Layout, size};
use crate::tables::table::{Law, Weights};
use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// The values of the players, rows × players × outputs. `player_of` has the player of each feature.
///
/// # Errors
///
/// [`TreeError::Kernel`] with the first tree whose paths are too long for tables.
pub(super) fn values(
    ensemble: &Ensemble,
    (player_of, players): (&[u32], usize),
    weights: &Weights,
    precision: Precision,
    rows: Rows<'_>,
) -> Result<Vec<f64>, TreeError> {
    let question = Question { ensemble, player_of, players, weights, precision };
    explain(&question, rows, |tree, paths| {
        let tree = &ensemble.trees()[tree];
        CoverLaw::new(ensemble.nodes_of(tree), ensemble.cover_of(tree), paths)
    })
}

/// The predicted time for some rows and a semivalue of the features, in nanoseconds on one core of a 2023 server.
///
/// # Errors
///
/// As [`values`].
pub(super) fn nanoseconds(ensemble: &Ensemble, rows: usize) -> Result<f64, TreeError> {
    let player_of: Vec<u32> = (0..ensemble.feature_count() as u32).collect();
    let layout = Layout::new(player_of.len());
    let mut time = 0.0;
    for (number, tree) in ensemble.trees().iter().enumerate() {
        let nodes = ensemble.nodes_of(tree);
        let size = Paths::new(nodes, &player_of).and_then(|paths| size(nodes, &paths, layout));
        let (size, loads) = size.ok_or_else(|| too_long(number))?;
        let leaves = tree.leaves as f64;
        time += 2.0 * size as f64 + 100.0 * leaves + rows as f64 * (0.1 * leaves + 0.6 * loads as f64);
    }
    Ok(time)
}

/// Patterns of features that pass independently.
struct CoverLaw {
    /// Per node: where the chances of its path features begin.
    starts: Vec<usize>,
    chances: Vec<f64>,
    /// Of the last leaf.
    patterns: Vec<(u64, f64)>,
}

impl CoverLaw {
    fn new(nodes: &[Node], cover: &[f64], paths: &Paths) -> Self {
        let mut law = Self { starts: vec![0; nodes.len()], chances: Vec::new(), patterns: Vec::new() };
        for (index, node) in nodes.iter().enumerate().filter(|(_, node)| !node.is_leaf()) {
            let (start, count) = (law.starts[index], paths.features(index).len());
            for child in [node.left(), node.right()] {
                let share = cover[child] / cover[index];
                law.starts[child] = law.chances.len();
                law.chances.extend_from_within(start..start + count);
                if paths.is_first(index) {
                    law.chances.push(share);
                } else {
                    law.chances[law.starts[child] + paths.bit(index) as usize] *= share;
                }
            }
        }
        law
    }
}

impl Law for CoverLaw {
    fn at(&mut self, leaf: usize, paths: &Paths) -> &[(u64, f64)] {
        let chances = &self.chances[self.starts[leaf]..][..paths.features(leaf).len()];
        self.patterns.clear();
        self.patterns.push((0, 1.0));
        for (bit, chance) in chances.iter().enumerate() {
            for index in 0..self.patterns.len() {
                let (pattern, weight) = &mut self.patterns[index];
                let passing = (*pattern | 1 << bit, *weight * chance);
                *weight *= 1.0 - chance;
                self.patterns.push(passing);
            }
        }
        &self.patterns
    }
}

#[cfg(test)]
mod tests {
    use apportion_games::{Partition, Rows};
    use apportion_values::{CoalitionalValue, Semivalue};

    use super::super::PathDependentOracle;
    use super::super::tests::{check, ensemble, forest, semivalues};
    use super::*;
    use crate::common::Random;
    use crate::moments::Moments;
    use crate::oracle::coalitional::{Coalitional, group_of};

    #[test]
    fn tables_agree_with_quadrature() {
        let random = &mut Random(71);
        for (features, depth, outputs) in [(3, 1, 1), (3, 5, 2), (6, 6, 2), (20, 5, 1)] {
            let players: Vec<usize> = (0..features).collect();
            let model = ensemble(&forest(random, &players, depth, true, outputs), features, outputs);
            let oracle = PathDependentOracle::new(&model).unwrap();
            let rows = random.row(features * 150);
            let rows = Rows::new(&rows, features);
            let groups = players.chunks(2).map(<[usize]>::to_vec).collect();
            let partition = Partition::new(features, groups).unwrap();
            let names: Vec<u32> = (0..features as u32).collect();
            let of = |player_of: &[u32], players, weights: &Weights, precision| {
                values(&model, (player_of, players), weights, precision, rows).unwrap()
            };
            for value in semivalues().into_iter().filter(|value| value.check_players(features).is_ok()) {
                let what = format!("{features} features, depth {depth}, {value}");
                let weights = Weights::Alike(Moments::new(value.clone(), features));
                let wanted = oracle.values(value.clone(), rows).unwrap().values;
                check(&what, &of(&names, features, &weights, Precision::Double), &wanted);
                let scale = wanted.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
                for (precision, error) in [(Precision::Single, 1e-6), (Precision::Fixed, 1e-10)] {
                    let got = of(&names, features, &weights, precision);
                    let off = got.iter().zip(&wanted).map(|(got, wanted)| (got - wanted).abs());
                    assert!(off.fold(0.0, f64::max) <= error * scale, "{what}, {precision:?}");
                }
            }
            let owen = CoalitionalValue::owen();
            let weights = Weights::Grouped(Coalitional::new(&owen, &partition, features));
            let wanted = oracle.coalitional_values(&owen, &partition, rows).unwrap().values;
            check("Owen", &of(&names, features, &weights, Precision::Double), &wanted);
            let weights = Weights::Alike(Moments::new(Semivalue::Shapley, partition.len()));
            let wanted = oracle.quotient_values(Semivalue::Shapley, &partition, rows).unwrap().values;
            let got = of(&group_of(&partition), partition.len(), &weights, Precision::Double);
            check("quotient", &got, &wanted);
        }
    }
}
