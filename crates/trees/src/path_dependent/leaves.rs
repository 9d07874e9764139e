//! Interaction indices of coalitions of the players of a leaf, in the path-dependent game.
//!
//! The value of a leaf is `v Π_j (h_j if j is present, else c_j)`, with h_j and c_j as in
//! [`others`](super::others). With L_k the functional of the index, for which
//! `M_k(a, b) = L_k(t^a (1 − t)^b)`, the index is
//!
//! ```text
//! I(K) = v Π_{j∈K} (h_j − c_j) · L_k(Π_{j∉K} (h_j t + c_j (1 − t)))
//! ```
//!
//! The product is kept in Bernstein form, `Σ_b e_b t^{d−k−b} (1 − t)^b` with e_b ≥ 0. The players of the path
//! are processed one after the other: each is added to K, or to the product as a factor.

use apportion_games::parallel;
use apportion_models::Ensemble;
use apportion_models::tree::Tree;

use crate::engine::indices::local::Local;
use crate::engine::indices::moments::IndexMoments;
use crate::engine::indices::numbered::NumberedCoalitions;
use crate::engine::indices::rows::Leaves;
use crate::engine::paths::Paths;
use crate::engine::value;
use crate::error::TreeError;

/// The cached data for interactions of one order, which depend only on the ensemble and the players.
#[derive(Debug)]
pub(super) struct Ready {
    trees: Vec<Shares>,
    pub(super) numbered: NumberedCoalitions,
}

/// The paths of a tree, and per node the shares of its path players: the products of the cover fractions of
/// their tests.
#[derive(Debug)]
struct Shares {
    paths: Paths,
    shares: Vec<Vec<f64>>,
}

impl Ready {
    pub(super) fn new(
        ensemble: &Ensemble,
        player_of: &[u32],
        (players, order): (usize, usize),
    ) -> Result<Self, TreeError> {
        let trees = parallel::try_map(ensemble.trees(), |tree| Shares::new(ensemble, tree, player_of))?;
        let paths = trees.iter().map(|tree| Some(&tree.paths));
        let numbered = NumberedCoalitions::new(ensemble, paths, (players, order))?;
        Ok(Self { trees, numbered })
    }
}

impl Shares {
    fn new(ensemble: &Ensemble, tree: &Tree, player_of: &[u32]) -> Result<Self, TreeError> {
        let (nodes, cover) = (ensemble.nodes_of(tree), ensemble.cover_of(tree));
        let paths = Paths::new(nodes, player_of).ok_or_else(value::too_many_on_a_path)?;
        let mut shares = vec![Vec::new(); nodes.len()];
        for (index, node) in nodes.iter().enumerate().filter(|(_, node)| !node.is_leaf()) {
            let bit = paths.bit(index) as usize;
            let above = std::mem::take(&mut shares[index]);
            for child in [node.left(), node.right()] {
                let mut below: Vec<f64> = above.clone();
                below.resize(below.len().max(bit + 1), 1.0);
                below[bit] *= cover[child] / cover[index];
                shares[child] = below;
            }
        }
        Ok(Self { paths, shares })
    }
}

/// The leaves of all trees, with the weights of one interaction index.
pub(super) struct PathDependentLeaves<'a> {
    pub(super) ready: &'a Ready,
    pub(super) moments: &'a IndexMoments,
}

impl Leaves for PathDependentLeaves<'_> {
    /// The coefficients e_b, one row for each number of processed players.
    type Memory = Vec<f64>;

    fn memory(&self) -> Self::Memory {
        Vec::new()
    }

    fn paths(&self, tree: usize) -> Option<&Paths> {
        Some(&self.ready.trees[tree].paths)
    }

    fn fill(
        &self,
        memory: &mut Self::Memory,
        (tree, leaf): (usize, usize),
        local: &Local,
        pattern: u64,
        out: &mut [f64],
    ) {
        let players = local.players();
        let side = players + 1;
        memory.clear();
        memory.resize(side * side, 0.0);
        memory[0] = 1.0;
        let shares = &self.ready.trees[tree].shares[leaf];
        let mut filling = Filling { local, moments: self.moments, shares, pattern, lines: memory, out };
        filling.take(0, (0, 0), 1.0);
    }
}

struct Filling<'a> {
    local: &'a Local,
    moments: &'a IndexMoments,
    shares: &'a [f64],
    pattern: u64,
    lines: &'a mut [f64],
    out: &'a mut [f64],
}

impl Filling<'_> {
    /// Processes the players starting with `next`. K contains `size` of the earlier players and has rank
    /// `rank`; `gain` is the product of h_j − c_j over its players.
    fn take(&mut self, next: usize, (size, rank): (usize, usize), gain: f64) {
        let players = self.local.players();
        let side = players + 1;
        // There is one coefficient more than there are players in the product.
        let count = next - size + 1;
        if next == players {
            let line = &self.lines[next * side..][..count];
            let moment = |absent: usize| self.moments.get(size, players - size - absent, absent);
            let sum: f64 =
                line.iter().enumerate().map(|(absent, coefficient)| coefficient * moment(absent)).sum();
            self.out[self.local.start(size) + rank] = gain * sum;
            return;
        }
        let (hot, share) = ((self.pattern >> next & 1) as f64, self.shares[next]);
        let (before, after) = self.lines.split_at_mut((next + 1) * side);
        let before = &before[next * side..][..count];
        if size < self.local.order() && hot != share {
            after[..count].copy_from_slice(before);
            let with = (size + 1, rank + self.local.step(next, size + 1));
            self.take(next + 1, with, gain * (hot - share));
        }
        let (before, after) = self.lines.split_at_mut((next + 1) * side);
        let before = &before[next * side..][..count];
        after[0] = hot * before[0];
        for absent in 1..count {
            after[absent] = hot * before[absent] + share * before[absent - 1];
        }
        after[count] = share * before[count - 1];
        self.take(next + 1, (size, rank), gain);
    }
}
