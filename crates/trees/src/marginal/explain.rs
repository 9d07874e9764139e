//! Computes the result of a request: chooses kernels, then passes rows through the trees.

use std::any::Any;
use std::sync::Arc;

use apportion_games::{Cancellation, Rows, parallel};
use apportion_models::Ensemble;
use apportion_models::tree::Tree;
use apportion_values::Attributions;

use super::cohorts::{self, Cohorts, Descent, Explicand};
use super::cost::{self, Algorithm, ChooseAlgorithm};
use super::linear::LinearWalk;
use super::lone::lone_player;
use super::masks::Masks;
use super::request::Request;
use super::shares::{Alone, InGroups, InPairs, LeafKernel, OverHierarchy, Products};
use super::tree_explainer::MarginalTreeExplainer;
use super::walk::{Pair, Walk};
use crate::engine::driver::{Job, Kernels, LoadedRows, TablesOfTrees};
use crate::engine::finite::finite;
use crate::engine::histograms::{Histograms, SortedTree};
use crate::engine::paths::{BLOCK, Paths};
use crate::engine::settings::{Kernel, Plan, Precision};
use crate::engine::tables::number::Number;
use crate::engine::tables::shape::{Layout, Shape, merged_bits};
use crate::engine::tables::table::{AbsentDistribution, Tables};
use crate::engine::weights::Weights;
use crate::error::TreeError;

/// The number of pairs of rows that are sampled to predict the time of the walk.
const SAMPLE: usize = 4;

impl MarginalTreeExplainer<'_> {
    /// Computes the values of a request, with each tree's kernel chosen by `choose`.
    pub(super) fn answer(
        &self,
        request: &Request<'_>,
        rows: Rows<'_>,
        choose: ChooseAlgorithm,
    ) -> Result<Attributions, TreeError> {
        let predictions = self.ensemble.margins(rows)?;
        let ways = self.ways(request, rows, choose)?;
        let mut values = vec![0.0; predictions.len() * request.players];
        self.add_values(request, rows, &ways, &mut values);
        finite(Attributions::for_players(request.players, values, self.base.clone(), predictions))
    }

    /// Returns the algorithm of each tree.
    pub(super) fn ways(
        &self,
        request: &Request<'_>,
        rows: Rows<'_>,
        choose: ChooseAlgorithm,
    ) -> Result<Vec<Algorithm>, TreeError> {
        self.check_joint()?;
        let ways = self.for_each_tree(request, rows, rows.len(), |task| task.choose_algorithm(choose));
        self.check(&ways, rows.len())?;
        Ok(ways)
    }

    /// Adds the values of players to `values`. For pairs, adds their interactions to the upper halves of the
    /// matrices.
    pub(super) fn add_values(
        &self,
        request: &Request<'_>,
        rows: Rows<'_>,
        ways: &[Algorithm],
        values: &mut [f64],
    ) {
        let (players, pairs) = (request.players, request.weights.pairs());
        let places: Vec<usize> = match pairs {
            None => (0..players).collect(),
            Some(weights) => {
                let members = weights.pairs.members().iter();
                members.map(|&(a, b)| a as usize * players + b as usize).collect()
            }
        };
        self.add_joint(request, &places, rows, values);
        let keep = self.settings.keep_tables && pairs.is_none();
        let job = Job {
            ensemble: &self.ensemble,
            layout: request.layout(),
            places: &places,
            shapes: self.shapes(
                request,
                ways,
                if keep { usize::MAX } else { self.settings.rows.unwrap_or(rows.len()) },
            ),
            precision: if pairs.is_none() { self.settings.precision } else { Precision::Double },
            keep,
            in_sections: pairs.is_none(),
            rows: self.settings.rows,
        };
        match &request.weights {
            Weights::Alike(weights) => {
                job.explain(
                    &Marginal::<Alone> { tree_explainer: self, request, weights, ways },
                    rows,
                    values,
                );
            }
            Weights::Grouped(weights) => {
                job.explain(
                    &Marginal::<InGroups> { tree_explainer: self, request, weights, ways },
                    rows,
                    values,
                );
            }
            Weights::OverHierarchy(weights) => {
                job.explain(
                    &Marginal::<OverHierarchy> { tree_explainer: self, request, weights, ways },
                    rows,
                    values,
                );
            }
            Weights::Pairs(weights) => {
                job.explain(
                    &Marginal::<InPairs> { tree_explainer: self, request, weights, ways },
                    rows,
                    values,
                );
            }
        }
    }

    /// Returns the shapes of the tables, for trees whose algorithm uses tables, for `rows` rows.
    fn shapes(&self, request: &Request<'_>, ways: &[Algorithm], rows: usize) -> Vec<Option<Arc<Shape>>> {
        let layout = request.layout();
        let bits = if layout == Layout::Pairs { 0 } else { merged_bits(rows) };
        // Do not wake threads if there is nothing to compute.
        if !ways.iter().any(|way| matches!(way, Algorithm::Tables { .. })) {
            return ways.iter().map(|_| None).collect();
        }
        let sorted = request.sorted();
        let shape = |(way, (tree, sorted)): (&Algorithm, (&Tree, &SortedTree))| {
            let (Algorithm::Tables { .. }, Some((paths, _))) = (way, sorted) else { return None };
            let nodes = self.ensemble.nodes_of(tree);
            Shape::new(nodes, paths, &request.weights, layout, bits).map(Arc::new)
        };
        parallel::map(ways.iter().zip(self.ensemble.trees().iter().zip(sorted)), shape)
    }

    /// Returns the plan of [`answer`](Self::answer) for `count` rows similar to those in `sample`, under the
    /// current settings.
    pub(super) fn plan_answer(
        &self,
        request: &Request<'_>,
        sample: Rows<'_>,
        count: usize,
    ) -> Result<Plan, TreeError> {
        self.check_joint()?;
        let chosen = self.for_each_tree(request, sample, count, |task| {
            let way = task.choose_algorithm(cost::choose);
            (way, cost::predict(&cost::Task { explicands: count, ..*task }, way))
        });
        let ways: Vec<Algorithm> = chosen.iter().map(|&(way, _)| way).collect();
        self.check(&ways, count)?;
        let trees = |kernel: Kernel| ways.iter().filter(|way| way.kernel() == kernel).count();
        let kernels = Kernel::ALL.map(|kernel| (kernel, trees(kernel)));
        let plan = Plan {
            kernels: kernels.into_iter().filter(|&(_, trees)| trees > 0).collect(),
            seconds: chosen.iter().map(|(_, nanoseconds)| nanoseconds * 1e-9).sum(),
        };
        Ok(match self.joint_plan(request, sample, count) {
            Some(joint) => plan.and(joint),
            None => plan,
        })
    }

    /// Calls `answer` with the task of each tree, for `count` rows similar to those in `sample`, and returns
    /// the results.
    pub(super) fn for_each_tree<T>(
        &self,
        request: &Request<'_>,
        sample: Rows<'_>,
        count: usize,
        answer: impl Fn(&cost::Task<'_>) -> T,
    ) -> Vec<T> {
        let ensemble = &*self.ensemble;
        let features = ensemble.feature_count();
        let of_background = |place: usize| &self.background[place * features..(place + 1) * features];
        let made = self
            .settings
            .rows
            .filter(|_| !self.compiled)
            .map(|_| rows_at_thresholds(ensemble, of_background(0)));
        let explicands = made.as_ref().map_or(sample, |made| Rows::new(made, features));
        let samples = if self.compiled { 0 } else { SAMPLE.min(explicands.len()) };
        // Sample a few pairs of rows, spread over the explicands and the background.
        let pairs: Vec<(Vec<f64>, &[f64])> = (0..samples)
            .map(|index| {
                let explicand = explicands.row(index * explicands.len() / samples);
                let rounded = explicand.iter().map(|&value| ensemble.width().round(value)).collect();
                (rounded, of_background(index * self.weights.len() / SAMPLE))
            })
            .collect();
        let count = self.settings.rows.unwrap_or(count);
        let sets_fit = !self.compiled && Cohorts::fit(ensemble, self.weights.len());
        let of_tree = |(index, tree): (usize, &Tree)| {
            Cancellation::check();
            let nodes = ensemble.nodes_of(tree);
            let reached = || {
                if self.compiled {
                    // The walk requires background rows, so its cost without them is infinite.
                    return f64::INFINITY;
                }
                let leaves = pairs
                    .iter()
                    .map(|(a, b)| cost::leaves_reached(ensemble, nodes, &request.player_of, a, b));
                leaves.sum::<usize>() as f64 / pairs.len().max(1) as f64
            };
            answer(&cost::Task {
                settings: self.settings,
                linear: tree.linear,
                lone: if tree.linear && !self.compiled {
                    lone_player(ensemble, nodes, &request.player_of)
                } else {
                    None
                },
                nodes,
                leaves: tree.leaves,
                explicands: count,
                // A compiled background does not contain rows, so use a number of rows that is too large for
                // the walk.
                background: if self.compiled { BLOCK } else { self.weights.len() },
                compiled: self.compiled,
                cohorts: sets_fit && tree.depth <= cohorts::MAX_DEPTH,
                layout: request.layout(),
                grouped: matches!(request.weights, Weights::Grouped(_) | Weights::OverHierarchy(_)),
                reached: &reached,
                sorted: &|| request.sorted()[index].as_ref(),
            })
        };
        ensemble.trees().iter().enumerate().map(of_tree).collect()
    }

    /// Returns an error for kernels that differ from the requested one, and for walks with a compiled
    /// background, which does not contain rows.
    fn check(&self, ways: &[Algorithm], rows: usize) -> Result<(), TreeError> {
        cost::check(&self.ensemble, self.settings, ways, self.compiled)?;
        if self.compiled && rows > 0 && ways.contains(&Algorithm::Walk) {
            return Err(TreeError::Unsupported {
                what: "kernel walk with a compiled background (which contains no rows)".to_owned(),
                help: "leave the kernel unset, use tables or masks, or use the background rows",
            });
        }
        Ok(())
    }
}

/// Creates a few representative rows: each value is a threshold of its feature, or the value of `other` if
/// there are no thresholds for the feature.
fn rows_at_thresholds(ensemble: &Ensemble, other: &[f64]) -> Vec<f64> {
    let features = ensemble.feature_count();
    let (mut met, mut last) = (vec![0; features], vec![[0.0; SAMPLE]; features]);
    let splits = ensemble.trees().iter().flat_map(|tree| ensemble.nodes_of(tree));
    for node in splits.filter(|node| !node.is_leaf() && !node.is_ruled()) {
        let feature = node.feature();
        last[feature][met[feature] % SAMPLE] = node.threshold();
        met[feature] += 1;
    }
    let value = |row: usize, feature: usize| match met[feature].min(SAMPLE) {
        0 => other[feature],
        count => last[feature][(row + feature) % count],
    };
    (0..SAMPLE * features).map(|at| value(at / features, at % features)).collect()
}

/// The kernels of the marginal game, for one request.
struct Marginal<'a, S: LeafKernel> {
    tree_explainer: &'a MarginalTreeExplainer<'a>,
    request: &'a Request<'a>,
    weights: &'a S::Weights,
    ways: &'a [Algorithm],
}

/// The working memory of a thread.
struct Memory<S: LeafKernel> {
    share: S,
    walk: Walk<S::Sums>,
    linear: LinearWalk,
    lone: Products,
    descent: Descent,
    masks: Masks,
}

impl<S: LeafKernel> Kernels for Marginal<'_, S> {
    type Memory = Memory<S>;

    fn memory(&self) -> Memory<S> {
        let players = self.request.players;
        Memory {
            share: S::new(self.weights),
            walk: Walk::new(players),
            linear: LinearWalk::new(players),
            lone: Products::default(),
            descent: Descent::new(),
            masks: Masks::new(),
        }
    }

    fn fill<N: Number>(&self, tree: usize, shape: Arc<Shape>, memory: Vec<N>) -> Option<Tables<N>> {
        let (paths, histograms) = self.request.sorted()[tree].as_ref()?;
        let ensemble = &self.tree_explainer.ensemble;
        let (nodes, distribution) =
            (ensemble.nodes_of(&ensemble.trees()[tree]), &mut BackgroundDistribution(histograms));
        Some(Tables::new(nodes, paths, shape, &self.request.weights, distribution, memory))
    }

    fn cached_tables<N: Number>(&self, make: impl FnOnce() -> TablesOfTrees<N>) -> Arc<TablesOfTrees<N>> {
        let trees = self.ways.iter().map(|way| matches!(way, Algorithm::Tables { .. })).collect();
        let key = (self.request.value.clone(), trees);
        let tables: Arc<dyn Any + Send + Sync> = self.tree_explainer.kept.get(&key, || Arc::new(make()));
        match tables.downcast() {
            Ok(tables) => tables,
            Err(_) => unreachable!("cached tables have the precision of the settings"),
        }
    }

    fn add(&self, memory: &mut Memory<S>, index: usize, rows: &LoadedRows, phi: &mut [f64]) {
        let (tree_explainer, request, weights) = (self.tree_explainer, self.request, self.weights);
        let ensemble = &*tree_explainer.ensemble;
        let tree = &ensemble.trees()[index];
        let nodes = ensemble.nodes_of(tree);
        let Memory { share, walk, linear, lone, descent, masks } = memory;
        let (features, count) = (ensemble.feature_count(), rows.columns.rows());
        match self.ways[index] {
            Algorithm::Cohorts => {
                let cohorts = request.cohorts();
                for (place, row) in rows.rounded.chunks_exact(features).enumerate() {
                    Cancellation::check();
                    let explicand = Explicand { row, player_of: &request.player_of };
                    let phi = |target: usize, share: f64| phi[target * count + place] += share;
                    descent.add(ensemble, tree, cohorts, explicand, (&mut *share, weights), phi);
                }
                return;
            }
            Algorithm::Masks | Algorithm::Tables { .. } => {
                if let Some(sorted) = &request.sorted()[index] {
                    return masks.add(ensemble, nodes, sorted, (share, weights), &rows.columns, phi);
                }
            }
            Algorithm::Lone { player } => {
                let mean = tree_explainer.means()[index];
                for (place, row) in rows.rounded.chunks_exact(features).enumerate() {
                    let difference = ensemble.tree_value(nodes, row) - mean;
                    let mut phi = |target: usize, share: f64| phi[target * count + place] += share;
                    lone.clear();
                    lone.extensions.push((player, difference));
                    share.of_products(weights, lone, 0.0, &mut phi);
                }
                return;
            }
            Algorithm::Walk => {}
        }
        for (place, explicand) in rows.rounded.chunks_exact(features).enumerate() {
            Cancellation::check();
            for (background, &weight) in
                tree_explainer.background.chunks_exact(features).zip(&tree_explainer.weights)
            {
                let pair = Pair { explicand, background, weight };
                let mut phi = |target: usize, share: f64| phi[target * count + place] += share;
                if tree.linear {
                    linear.add(ensemble, nodes, &request.player_of, pair, |products, value| {
                        share.of_products(weights, products, value, &mut phi);
                    });
                } else {
                    walk.through(ensemble, nodes, &request.player_of, pair, share.walked(weights, phi));
                }
            }
        }
    }
}

/// The background patterns at the leaves of a tree.
struct BackgroundDistribution<'a>(&'a Histograms);

impl AbsentDistribution for BackgroundDistribution<'_> {
    fn at(&mut self, leaf: usize, _: &Paths) -> &[(u64, f64)] {
        self.0.at(leaf)
    }
}
