//! The values of one tree from its leaves, one row after the other: for weights by size, which have no quadrature.
//!
//! A leaf of value v gives `v (h_i − c_i) O_i` to each player i of its path; what the letters mean and how O_i is computed is told
//! in [`others`](super::others).

use apportion_values::Semivalue;

use super::others::{Factor, Others};
use super::questions::Players;
use apportion_models::Ensemble;
use apportion_models::tree::Tree;

/// Stands for no place in a list.
const NONE: usize = usize::MAX;

/// The paths of one tree as one row sees them.
#[derive(Default)]
pub(super) struct Paths {
    /// Per node: its parent, and whether it is the child that the row goes to.
    steps: Vec<(usize, bool)>,
    path: Vec<(usize, Factor)>,
    /// Per player: where it is in `path`.
    place: Vec<usize>,
}

impl Paths {
    /// Hands every leaf to `leaf`, with its value and its path: all players with a test on it, from the leaf up. The row is rounded, and
    /// the covers are [sound](Ensemble::check_covers).
    pub(super) fn each(
        &mut self,
        ensemble: &Ensemble,
        tree: &Tree,
        players: Players<'_>,
        row: &[f64],
        mut leaf: impl FnMut(f64, &[(usize, Factor)]),
    ) {
        let (nodes, cover) = (ensemble.nodes_of(tree), ensemble.cover_of(tree));
        self.steps.clear();
        self.steps.resize(nodes.len(), (NONE, true));
        for (index, &node) in nodes.iter().enumerate().filter(|(_, node)| !node.is_leaf()) {
            let left = ensemble.goes_left(node, row[node.feature()]);
            self.steps[node.left()] = (index, left);
            self.steps[node.right()] = (index, !left);
        }
        for (index, node) in
            nodes.iter().enumerate().filter(|(_, node)| node.is_leaf() && node.value() != 0.0)
        {
            self.path.clear();
            let mut at = index;
            while at != 0 {
                let (parent, passed) = self.steps[at];
                let test = Factor { hot: passed, share: cover[at] / cover[parent] };
                self.take(players.of(nodes[parent].feature()), test);
                at = parent;
            }
            leaf(node.value(), &self.path);
        }
    }

    /// Takes one test of the path in.
    fn take(&mut self, player: usize, test: Factor) {
        if self.place.len() <= player {
            self.place.resize(player + 1, NONE);
        }
        if let Some(known) = self.path.get_mut(self.place[player]).filter(|known| known.0 == player) {
            known.1 = known.1.and(test);
        } else {
            self.place[player] = self.path.len();
            self.path.push((player, test));
        }
    }
}

/// The values of trees by sizes of coalitions, with the memory that they take: made once per thread.
pub(super) struct BySize<'a> {
    players: Players<'a>,
    paths: Paths,
    others: Others<'a>,
    factors: Vec<Factor>,
    means: Vec<f64>,
}

impl<'a> BySize<'a> {
    /// `value` must be [defined](Semivalue::check_players) for the players.
    pub(super) fn new(value: &'a Semivalue, players: Players<'a>) -> Self {
        let others = Others::new(value);
        Self { players, paths: Paths::default(), others, factors: Vec::new(), means: Vec::new() }
    }

    /// Hands the values of the path-dependent game of one tree to `phi`, player by player and in shares. The row is rounded, and the
    /// covers are [sound](Ensemble::check_covers).
    pub(super) fn add(
        &mut self,
        ensemble: &Ensemble,
        tree: &Tree,
        row: &[f64],
        mut phi: impl FnMut(usize, f64),
    ) {
        let Self { players, paths, others, factors, means } = self;
        paths.each(ensemble, tree, *players, row, |value, path| {
            factors.clear();
            factors.extend(path.iter().map(|(_, factor)| *factor));
            others.write(factors, means);
            for (&(player, factor), mean) in path.iter().zip(&*means) {
                phi(player, value * factor.gain() * mean);
            }
        });
    }

    /// Hands the [interaction indices](crate::interactions) of one tree to `index`, pair by pair and in shares, the lower player first:
    /// a leaf gives `v (h_i − c_i) (h_j − c_j) O_ij`, with O_ij that which the path without i leaves to j.
    pub(super) fn add_pairs(
        &mut self,
        ensemble: &Ensemble,
        tree: &Tree,
        row: &[f64],
        mut index: impl FnMut([usize; 2], f64),
    ) {
        let Self { players, paths, others, factors, means } = self;
        paths.each(ensemble, tree, *players, row, |value, path| {
            for (one, &(i, of_i)) in path.iter().enumerate() {
                let rest = || path[..one].iter().chain(&path[one + 1..]);
                factors.clear();
                factors.extend(rest().map(|(_, factor)| *factor));
                others.write(factors, means);
                for (&(j, of_j), mean) in rest().zip(&*means).filter(|((j, _), _)| i < *j) {
                    index([i, j], value * of_i.gain() * of_j.gain() * mean);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{Random, TreeSpec, document, read};
    use crate::game::PathDependentGame;
    use apportion_games::{Coalitions, Game};
    use apportion_values::enumerate;

    fn values(ensemble: &Ensemble, value: &Semivalue, row: &[f64]) -> Vec<f64> {
        let outputs = ensemble.output_count();
        let mut values = vec![0.0; row.len() * outputs];
        let mut kernel = BySize::new(value, Players::Features);
        for tree in ensemble.trees() {
            kernel
                .add(ensemble, tree, row, |feature, share| values[feature * outputs + tree.output] += share);
        }
        values
    }

    #[test]
    fn values_are_those_of_enumerating_the_game() {
        let random = &mut Random(21);
        for (features, depth, outputs) in [(1, 2, 1), (2, 4, 1), (3, 5, 2), (7, 7, 1), (11, 8, 2)] {
            let all: Vec<usize> = (0..features).collect();
            let trees: Vec<TreeSpec> =
                (0..3).map(|tree| TreeSpec::random(random, &all, depth, true, tree % outputs)).collect();
            let ensemble = read(&document(&trees, features, &vec![0.5; outputs])).unwrap();
            let mut law: Vec<f64> = (0..features).map(|size| (size * 5 % 4) as f64 + 0.5).collect();
            let total: f64 = law.iter().sum();
            law.iter_mut().for_each(|weight| *weight /= total);
            for value in [
                Semivalue::by_size_law(&law).unwrap(),
                Semivalue::Shapley,
                Semivalue::Banzhaf,
                Semivalue::weighted_banzhaf(0.2).unwrap(),
                Semivalue::beta_shapley(4.0, 0.5).unwrap(),
                Semivalue::mixture(&[0.0, 0.3, 1.0], &[0.25, 0.5, 0.25]).unwrap(),
            ] {
                let row = random.row(features);
                let game = PathDependentGame::new(&ensemble, &row).unwrap();
                let wanted = enumerate(&game, value.clone()).unwrap();
                for (got, wanted) in values(&ensemble, &value, &row).iter().zip(wanted.values()) {
                    assert!((got - wanted).abs() < 1e-14, "{value}, {features} features: {got} != {wanted}");
                }
            }
        }
    }

    #[test]
    fn deep_paths_of_many_features_add_up() {
        for features in [92, 200, 500] {
            let random = &mut Random(22);
            let chain: Vec<usize> = (0..features).collect();
            let ensemble = read(&document(&[TreeSpec::chain(random, &chain)], features, &[0.0])).unwrap();
            // Rows that pass most tests, so that most of the path is hot at the deepest leaves.
            let row: Vec<f64> = (0..features).map(|_| if random.chance(3) { -1.0 } else { 1.0 }).collect();
            let game = PathDependentGame::new(&ensemble, &row).unwrap();
            let mut ends = Coalitions::new(features);
            ends.push_empty();
            ends.push_full();
            let mut payoffs = [0.0; 2];
            game.values(&ends, &mut payoffs).unwrap();
            let uniform = Semivalue::by_size_law(&vec![1.0 / features as f64; features]).unwrap();
            let total: f64 = values(&ensemble, &uniform, &row).iter().sum();
            assert!((total - (payoffs[1] - payoffs[0])).abs() < 1e-12, "{features}: {total} {payoffs:?}");
        }
    }
}
