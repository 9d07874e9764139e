//! Interaction indices of coalitions in the marginal game.
//!
//! On a leaf, let P be the pattern of the explicand and M a background pattern. If the two patterns together
//! satisfy all path players, the game is `[E, R]` with E = ¬M and R = ¬P. Otherwise, it is zero. Trees with
//! linear leaves, and trees that split on several features at once, are walked for each background row. Their
//! games are sums of such products.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use apportion_games::{Partition, Rows, parallel};
use apportion_values::{IndexWeights, InteractionIndex, Interactions};

use super::joint::walk::Walk as JointWalk;
use super::linear::LinearWalk;
use super::request::Request;
use super::shares::Products;
use super::tree_explainer::MarginalTreeExplainer;
use super::walk::Pair;
use crate::engine::bits::{all_of, count, ones};
use crate::engine::histograms::Histograms;
use crate::engine::indices::local::Local;
use crate::engine::indices::moments::{IndexMoments, of_product};
use crate::engine::indices::numbered::NumberedCoalitions;
use crate::engine::indices::rows::{Leaves, SeparateIndices, explain};
use crate::engine::paths::Paths;
use crate::engine::value;
use crate::error::TreeError;

impl MarginalTreeExplainer<'_> {
    /// Computes the indices of all coalitions of up to `order` players that act together in some tree.
    pub(super) fn indices(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        rows: Rows<'_>,
    ) -> Result<Vec<Interactions>, TreeError> {
        value::check_index(index)?;
        let predictions = self.ensemble.margins(rows)?;
        let request = self.request_of(groups)?;
        let weights = index.weights(order, request.players)?;
        let order = order.min(request.players);
        if self.compiled && self.ensemble.trees().iter().any(|tree| tree.linear) {
            return Err(TreeError::Unsupported {
                what: "an interaction index of trees with linear leaves and a compiled background".to_owned(),
                help: "use the background rows",
            });
        }
        let sorted = request.sorted();
        for (tree, sorted) in self.ensemble.trees().iter().zip(sorted) {
            if sorted.is_none() && !tree.linear {
                return Err(value::too_many_on_a_path());
            }
        }
        let paths = |tree: usize| match self.ensemble.trees()[tree].linear {
            true => None,
            false => sorted[tree].as_ref().map(|(paths, _)| paths),
        };
        let make = || {
            NumberedCoalitions::new(&self.ensemble, (0..sorted.len()).map(paths), (request.players, order))
        };
        let numbered = self.numbered.try_get(&(order, groups.cloned()), || make().map(Arc::new))?;
        let moments = IndexMoments::new(&weights, numbered.max_width);
        let leaves = MarginalLeaves { sorted, moments: &moments, paths };
        let mut found = explain(&self.ensemble, &leaves, &numbered, rows)?;
        if let Some(others) = self.walked(&request, &weights, rows) {
            found = found.and(&others, self.ensemble.output_count());
        }
        found.answers((index, &weights), &self.ensemble, &self.base, predictions)
    }

    /// Returns the indices of the trees that are walked; `None` if there are no such trees.
    fn walked(
        &self,
        request: &Request<'_>,
        weights: &IndexWeights,
        rows: Rows<'_>,
    ) -> Option<SeparateIndices> {
        let (ensemble, joint) = (&*self.ensemble, self.ensemble.joint());
        if joint.is_none() && !ensemble.trees().iter().any(|tree| tree.linear) {
            return None;
        }
        let features = ensemble.feature_count();
        let linear = || ensemble.trees().iter().filter(|tree| tree.linear);
        let extended = joint.map(|joint| joint.extended(&self.background));
        Some(parallel::map(rows.iter(), |row| {
            let rounded: Vec<f64> = row.iter().map(|&value| ensemble.width().round(value)).collect();
            let mut sums = Sums::new(weights, ensemble.output_count());
            let mut walk = LinearWalk::new(request.players);
            for (background, &weight) in self.background.chunks_exact(features).zip(&self.weights) {
                let pair = Pair { explicand: &rounded, background, weight };
                for tree in linear() {
                    let nodes = ensemble.nodes_of(tree);
                    walk.add(ensemble, nodes, &request.player_of, pair, |products, value| {
                        sums.add(products, value, tree.output);
                    });
                }
            }
            if let (Some(joint), Some(extended)) = (joint, &extended) {
                let (explicand, columns) = (joint.extended(&rounded), joint.ensemble().feature_count());
                let mut walk = JointWalk::new(joint, &request.player_of, request.players);
                for (background, &weight) in extended.chunks_exact(columns).zip(&self.weights) {
                    let pair = Pair { explicand: &explicand, background, weight };
                    for tree in joint.ensemble().trees() {
                        walk.through(joint.ensemble().nodes_of(tree), pair, |products, value| {
                            sums.add(products, value, tree.output);
                        });
                    }
                }
            }
            sums.found
        }))
    }
}

/// The leaves with their background patterns.
struct MarginalLeaves<'a, P> {
    sorted: &'a [Option<(Paths, Histograms)>],
    moments: &'a IndexMoments,
    paths: P,
}

impl<'a, P: Fn(usize) -> Option<&'a Paths> + Sync> Leaves for MarginalLeaves<'a, P> {
    /// The indices of a product by the numbers of members in E and in R, and the players of the product.
    type Memory = (Vec<f64>, Vec<usize>);

    fn memory(&self) -> Self::Memory {
        Self::Memory::default()
    }

    fn paths(&self, tree: usize) -> Option<&Paths> {
        (self.paths)(tree)
    }

    fn fill(
        &self,
        (weights, players): &mut Self::Memory,
        (tree, leaf): (usize, usize),
        local: &Local,
        pattern: u64,
        out: &mut [f64],
    ) {
        let Some((_, histograms)) = &self.sorted[tree] else { return };
        let all = all_of(local.players());
        let rest = all & !pattern;
        for &(other, weight) in histograms.at(leaf).iter().filter(|(other, _)| pattern | other == all) {
            let own = all & !other;
            let sizes = (count(own), count(rest));
            of_product(sizes, local.order(), |k, a, b| self.moments.get(k, a, b), weights);
            players.clear();
            players.extend(ones(own | rest));
            let product = Product { local, weights, rest, value: weight };
            product.add(players, (0, 0, 0), out);
        }
    }
}

/// The game `value · [E, R]` on a leaf.
struct Product<'a> {
    local: &'a Local,
    /// The indices of coalitions, by the number of members in E and the number of members in R.
    weights: &'a [f64],
    /// The players R, as bits.
    rest: u64,
    value: f64,
}

impl Product<'_> {
    /// Adds the indices of all coalitions that start with the chosen players. The chosen players are given by
    /// their numbers in E and in R, and by their rank so far.
    fn add(&self, bits: &[usize], (of_own, of_rest, rank): (usize, usize, usize), out: &mut [f64]) {
        let order = self.local.order();
        let size = of_own + of_rest;
        out[self.local.start(size) + rank] += self.value * self.weights[of_own * (order + 1) + of_rest];
        if size == order {
            return;
        }
        for (at, &bit) in bits.iter().enumerate() {
            let is_rest = usize::from(self.rest >> bit & 1 == 1);
            let chosen = (of_own + 1 - is_rest, of_rest + is_rest, rank + self.local.step(bit, size + 1));
            self.add(&bits[at + 1..], chosen, out);
        }
    }
}

/// The indices of one row, summed over products, by coalition.
struct Sums<'a> {
    weights: &'a IndexWeights,
    outputs: usize,
    /// The indices of a product, tabulated for each pair (|E|, |R|) that occurs.
    tables: HashMap<(usize, usize), Rc<[f64]>>,
    found: BTreeMap<Vec<u32>, Vec<f64>>,
}

impl<'a> Sums<'a> {
    fn new(weights: &'a IndexWeights, outputs: usize) -> Self {
        Self { weights, outputs, tables: HashMap::new(), found: BTreeMap::new() }
    }

    /// Adds the indices of the game `v [E, R] + Σ_q d_q [E ∪ {q}, R]`.
    fn add(&mut self, products: &Products, value: f64, output: usize) {
        let player = |is_rest| move |&player: &u32| (player, is_rest);
        let mut players: Vec<(u32, bool)> = products.own.iter().map(player(false)).collect();
        players.extend(products.rest.iter().map(player(true)));
        self.add_product(&mut players.clone(), value, output);
        for &(extension, difference) in &products.extensions {
            let mut longer = players.clone();
            longer.push((extension, false));
            self.add_product(&mut longer, difference, output);
        }
    }

    fn add_product(&mut self, players: &mut [(u32, bool)], value: f64, output: usize) {
        if value == 0.0 {
            return;
        }
        players.sort_unstable();
        let rest = players.iter().filter(|(_, is_rest)| *is_rest).count();
        let order = self.weights.order().min(players.len());
        let sizes = (players.len() - rest, rest);
        let table = self.tables.entry(sizes).or_insert_with(|| {
            let mut table = Vec::new();
            of_product(sizes, order, |k, a, b| self.weights.moment(k, a, b), &mut table);
            table.into()
        });
        let table = Rc::clone(table);
        self.descend(players, (&table, order, value, output), (0, 0), &mut Vec::new());
    }

    fn descend(
        &mut self,
        players: &[(u32, bool)],
        product: (&[f64], usize, f64, usize),
        (of_own, of_rest): (usize, usize),
        chosen: &mut Vec<u32>,
    ) {
        let (weights, order, value, output) = product;
        let index = value * weights[of_own * (order + 1) + of_rest];
        if let Some(sums) = self.found.get_mut(chosen) {
            sums[output] += index;
        } else if index != 0.0 {
            let mut sums = vec![0.0; self.outputs];
            sums[output] = index;
            self.found.insert(chosen.clone(), sums);
        }
        if of_own + of_rest == order {
            return;
        }
        for (at, &(player, is_rest)) in players.iter().enumerate() {
            chosen.push(player);
            let of = (of_own + usize::from(!is_rest), of_rest + usize::from(is_rest));
            self.descend(&players[at + 1..], product, of, chosen);
            chosen.pop();
        }
    }
}
