//! The values of one tree from its leaves, one row after the other: for weights by size, which have no
//! quadrature.
//!
//! A leaf of value v gives `v (h_i − c_i) O_i` to each player i of its path; what the letters mean and how
//! O_i is computed is told in [`others`](super::others).

use apportion_values::Semivalue;

use super::others::{Factor, Others};
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
    /// Hands every leaf to `leaf`, with its value and its path: all players with a test on it, from the leaf
    /// up. The row is rounded, and the covers are [sound](Ensemble::check_covers).
    pub(super) fn each(
        &mut self,
        ensemble: &Ensemble,
        tree: &Tree,
        player_of: &[u32],
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
                self.take(player_of[nodes[parent].feature()] as usize, test);
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
    player_of: &'a [u32],
    paths: Paths,
    others: Others<'a>,
    factors: Vec<Factor>,
    means: Vec<f64>,
}

impl<'a> BySize<'a> {
    /// `value` must be [defined](Semivalue::check_players) for the players.
    pub(super) fn new(value: &'a Semivalue, player_of: &'a [u32]) -> Self {
        let others = Others::new(value);
        Self { player_of, paths: Paths::default(), others, factors: Vec::new(), means: Vec::new() }
    }

    /// Hands the values of the path-dependent game of one tree to `phi`, player by player and in shares. The
    /// row is rounded, and the covers are [sound](Ensemble::check_covers).
    pub(super) fn add(
        &mut self,
        ensemble: &Ensemble,
        tree: &Tree,
        row: &[f64],
        mut phi: impl FnMut(usize, f64),
    ) {
        let Self { player_of, paths, others, factors, means } = self;
        paths.each(ensemble, tree, player_of, row, |value, path| {
            factors.clear();
            factors.extend(path.iter().map(|(_, factor)| *factor));
            others.write(factors, means);
            for (&(player, factor), mean) in path.iter().zip(&*means) {
                phi(player, value * factor.gain() * mean);
            }
        });
    }

    /// Hands the [interaction indices](crate::engine::interactions) of one tree to `index`, pair by pair and
    /// in shares, the lower player first: a leaf gives `v (h_i − c_i) (h_j − c_j) O_ij`, with O_ij that which
    /// the path without i leaves to j.
    pub(super) fn add_pairs(
        &mut self,
        ensemble: &Ensemble,
        tree: &Tree,
        row: &[f64],
        mut index: impl FnMut([usize; 2], f64),
    ) {
        let Self { player_of, paths, others, factors, means } = self;
        paths.each(ensemble, tree, player_of, row, |value, path| {
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
