//! Computes the values of one tree leaf by leaf, for a single row. Used for weights by coalition size, which
//! do not have a quadrature rule.
//!
//! A leaf of value v contributes `v (h_i − c_i) O_i` to each player i of its path; [`others`](super::others)
//! defines these symbols and the computation of O_i.

use apportion_values::Semivalue;

use super::others::{Factor, Others};
use apportion_models::Ensemble;
use apportion_models::tree::Tree;

/// Marks a player that is not in the path.
const NONE: usize = usize::MAX;

/// The paths from the root of one tree to its leaves, with the tests that one row passes or fails.
#[derive(Default)]
pub(super) struct Paths {
    /// For each node, its parent, and whether the node is the child to which the row goes.
    steps: Vec<(usize, bool)>,
    path: Vec<(usize, Factor)>,
    /// For each player, its index in `path`; `NONE` if it is not in the path.
    place: Vec<usize>,
}

impl Paths {
    /// Calls `leaf` for every leaf whose value is not 0, with its value and its path, i.e. all players with a
    /// test on the path, from the leaf up. The row must be rounded, and the covers must be
    /// [valid](Ensemble::check_covers).
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

    /// Combines a test on `player` with the earlier tests on the path.
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

/// The computation of values from the distribution of coalition sizes, with its working memory: created once
/// per thread.
pub(super) struct BySize<'a> {
    player_of: &'a [u32],
    paths: Paths,
    others: Others<'a>,
    factors: Vec<Factor>,
    means: Vec<f64>,
}

impl<'a> BySize<'a> {
    /// Creates the working memory. `value` must be [defined](Semivalue::check_players) for the players.
    pub(super) fn new(value: &'a Semivalue, player_of: &'a [u32]) -> Self {
        let others = Others::new(value);
        Self { player_of, paths: Paths::default(), others, factors: Vec::new(), means: Vec::new() }
    }

    /// Calls `phi` with contributions to the values of one tree in the path-dependent game, each with the
    /// index of its player. The row must be rounded, and the covers must be [valid](Ensemble::check_covers).
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

    /// Calls `index` with contributions to the [interaction indices](crate::engine::interactions) of one
    /// tree, each with its pair of players, the lower index first. A leaf contributes
    /// `v (h_i − c_i) (h_j − c_j) O_ij`, where O_ij is O_j on the path without i.
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
