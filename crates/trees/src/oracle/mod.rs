//! Exact values of the marginal (interventional) game of a tree ensemble, without sampling.
//!
//! # The game
//!
//! For an explicand x and background rows b with weights w_b that sum to 1, the players are the features and
//!
//! ```text
//! v(S) = Σ_b w_b f(x_S, b_rest)
//! ```
//!
//! where f is the margin. An ensemble is a sum of leaves, and on one leaf and one background row the game is a product: it is worth the
//! leaf's value iff all features E that only x satisfies are in S and none of the features R that only b satisfies is. Its semivalues
//! are moments of the mixing measure (see `apportion_values::Semivalue`), so the values of the whole game are sums over leaves of
//!
//! ```text
//! v · M(|E| − 1, |R|)  to each i ∈ E        −v · M(|E|, |R| − 1)  to each i ∈ R.
//! ```
//!
//! # Three ways to add them up
//!
//! | kernel | what it does | cost per row and tree | when |
//! |---|---|---|---|
//! | [`walk`] | follows one explicand and one background row to the leaves that a mixture can reach | background rows × leaves reached | few background rows and few explicands; over 64 features on a path |
//! | [`masks`] | groups the background by pattern at each leaf, then goes through the patterns | leaves × distinct patterns | few explicands; long paths |
//! | [`tables`] | writes down the values of every pattern of an explicand, then looks them up | leaves × path features | many explicands |
//!
//! All are exact and agree within rounding. [`cost`] says which is taken for a tree.

mod cost;
mod groups;
mod masks;
mod paths;
mod tables;
#[cfg(test)]
mod tests;
mod walk;

use std::ops::Range;
use std::sync::OnceLock;

use apportion_games::{Background, Rows};
use apportion_values::Semivalue;
use rayon::prelude::*;

use self::cost::Kernel;
use self::groups::Groups;
use self::masks::Masks;
use self::paths::{BLOCK, Columns, Paths};
use self::tables::{Lookup, Tables};
use self::walk::Walk;
use crate::ensemble::{Ensemble, Tree};
use crate::error::TreeError;
use crate::moments::Moments;
use crate::predict::check_rows;

/// Numbers in tables that are kept at once (64 MiB). More are filled in turns, each turn passing over all rows.
const TABLE_NUMBERS: usize = 1 << 23;

/// Pairs of rows that stand for all in the prediction of a walk's length.
const SAMPLE: usize = 4;

/// Exact attributions of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Attributions {
    /// Rows × features × outputs, row-major: with n features and k outputs, the value of feature i for output o of row j is
    /// `values[(j·n + i)·k + o]`.
    pub values: Vec<f64>,
    /// Per output: v(∅). Of the marginal game the weighted mean margin of the background, of the path-dependent game what the trees
    /// expect where nothing is known.
    pub base: Vec<f64>,
    /// Rows × outputs: v(N), the margin of each row.
    pub predictions: Vec<f64>,
}

/// Exact values of an ensemble against a background, for every semivalue.
///
/// ```text
/// v(S) = Σ_b w_b f(x_S, b_{N∖S})
/// ```
///
/// is the game: the margin f where the features in S are those of the explicand x and the others those of a background row b, averaged
/// with the weights w_b. Its values are sums over the leaves of the trees, by the kernel whose predicted time is least. With many rows to
/// explain a row takes a lookup per leaf and path feature, however large the background; a single row against a single baseline takes the
/// leaves that a mixture of the two can reach (Lundberg et al., *From local explanations to global understanding with explainable AI for
/// trees*, 2020, extended to background sets and semivalues).
///
/// ```
/// use apportion_games::Rows;
/// use apportion_trees::{Ensemble, InterventionalOracle};
/// use apportion_values::Semivalue;
///
/// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
/// let background = Rows::new(&[0.0, 0.0, 2.0, 0.0], 2);
/// let oracle = InterventionalOracle::new(&model, background, None)?;
/// let attributions = oracle.values(Semivalue::Shapley, Rows::new(&[2.0, 3.0], 2))?;
/// let total: f64 = attributions.values.iter().sum();
/// assert!((total + attributions.base[0] - attributions.predictions[0]).abs() < 1e-12);
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
#[derive(Debug)]
pub struct InterventionalOracle<'a> {
    ensemble: &'a Ensemble,
    /// Rounded, row-major; rows of weight 0 are left out.
    background: Vec<f64>,
    /// Positive, with sum 1.
    weights: Vec<f64>,
    base: Vec<f64>,
    /// Per tree, made when first wanted; `None` where a path has too many features.
    grouped: OnceLock<Vec<Option<(Paths, Groups)>>>,
}

impl<'a> InterventionalOracle<'a> {
    /// The oracle of `ensemble` against the rows of `background`: one baseline, or many rows, of equal weight unless `weights`
    /// has one per row. Weights need not sum to 1. Missing values are NaN.
    ///
    /// Takes one prediction per background row. What a kernel needs of the background is computed when a kernel first needs it, and kept.
    ///
    /// # Errors
    ///
    /// [`GameError::EmptyBackground`](apportion_games::GameError::EmptyBackground),
    /// [`GameError::Width`](apportion_games::GameError::Width) and
    /// [`GameError::InfiniteInput`](apportion_games::GameError::InfiniteInput) for the background,
    /// [`GameError::BackgroundWeights`](apportion_games::GameError::BackgroundWeights) for weights that are not one per row, finite,
    /// not negative and not all zero.
    pub fn new(
        ensemble: &'a Ensemble,
        background: Rows<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Self, TreeError> {
        let mut background = Background::rows(background.values(), background.columns())?;
        check_rows(background.as_rows(), ensemble, "background row")?;
        if let Some(weights) = weights {
            background = background.with_weights(weights)?;
        }
        let (rows, weights) = (background.as_rows(), background.weights());
        let outputs = ensemble.output_count();
        let mut base = vec![0.0; outputs];
        for (margins, weight) in ensemble.margins(rows)?.chunks_exact(outputs).zip(weights) {
            for (base, margin) in base.iter_mut().zip(margins) {
                *base += weight * margin;
            }
        }
        let counted = || rows.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        Ok(Self {
            ensemble,
            background: counted()
                .flat_map(|(row, _)| row)
                .map(|&value| ensemble.width.round(value))
                .collect(),
            weights: counted().map(|(_, &weight)| weight).collect(),
            base,
            grouped: OnceLock::new(),
        })
    }

    /// v(∅) of every explicand, per output: the weighted mean margin of the background.
    pub fn base(&self) -> &[f64] {
        &self.base
    }

    /// The `value` of every feature, for every output and each of the rows.
    ///
    /// Accurate to rounding: for efficient values, values and base add up to the prediction within 1e-12 of the largest. The result does
    /// not depend on the number of threads.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`](apportion_games::GameError::Width) where rows have another number of columns than the model has features,
    /// [`GameError::InfiniteInput`](apportion_games::GameError::InfiniteInput) where a value is infinite,
    /// [`TreeError::Value`] for weights by size of another number of players than the model has features.
    pub fn values(&self, value: Semivalue, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        self.values_by(value, rows, cost::choose)
    }

    /// As [`values`](Self::values), with each tree's kernel chosen by `choose`.
    fn values_by(
        &self,
        value: Semivalue,
        rows: Rows<'_>,
        choose: cost::Choose,
    ) -> Result<Attributions, TreeError> {
        let ensemble = self.ensemble;
        value.check_players(ensemble.feature_count())?;
        let predictions = ensemble.margins(rows)?;
        let (features, outputs) = (ensemble.feature_count(), ensemble.output_count());
        let mut values = vec![0.0; rows.len() * features * outputs];
        let widest = ensemble.depth().min(features);
        let moments = Moments::new(value, widest);
        let kernels = self.kernels(rows, choose);
        for turn in turns(&kernels) {
            let tables = self.tables(&kernels, turn.clone(), &moments);
            // A row's values do not depend on the rows beside it, so blocks may be cut to occupy several threads.
            let block = rows.len().div_ceil(16).clamp(1, BLOCK);
            let explain = |scratch: &mut Scratch, (values, rows): (&mut [f64], &[f64])| {
                scratch.begin(ensemble, rows);
                for (position, index) in turn.clone().enumerate() {
                    let grouped = self.group(kernels[index], index);
                    scratch.add_tree(self, index, grouped, tables[position].as_ref(), &moments);
                }
                scratch.end(features, outputs, values);
            };
            let scratch = || Scratch::new(features, outputs);
            if rows.len() <= block {
                // One row's latency is less than it takes to wake another thread.
                explain(&mut scratch(), (&mut values, rows.values()));
            } else {
                values
                    .par_chunks_mut(block * features * outputs)
                    .zip(rows.values().par_chunks(block * features))
                    .for_each_init(scratch, explain);
            }
        }
        Ok(Attributions { values, base: self.base.clone(), predictions })
    }

    /// The kernel of each tree.
    fn kernels(&self, rows: Rows<'_>, choose: cost::Choose) -> Vec<Kernel> {
        let ensemble = self.ensemble;
        let features = ensemble.feature_count();
        // A few pairs of rows, spread over both sets.
        let pairs: Vec<(Vec<f64>, &[f64])> = (0..SAMPLE.min(rows.len()))
            .map(|index| {
                let explicand = rows.row(index * rows.len() / SAMPLE.min(rows.len()));
                let place = index * self.weights.len() / SAMPLE;
                let rounded = explicand.iter().map(|&value| ensemble.width.round(value)).collect();
                (rounded, &self.background[place * features..(place + 1) * features])
            })
            .collect();
        let kernel = |(index, tree): (usize, &Tree)| {
            let nodes = ensemble.nodes_of(tree);
            let reached = || {
                let leaves = pairs.iter().map(|(a, b)| cost::leaves_reached(ensemble, nodes, a, b));
                leaves.sum::<usize>() as f64 / pairs.len().max(1) as f64
            };
            choose(&cost::Task {
                nodes,
                leaves: tree.leaves,
                explicands: rows.len(),
                background: self.weights.len(),
                reached: &reached,
                grouped: &|| self.grouped()[index].as_ref(),
            })
        };
        ensemble.trees().iter().enumerate().map(kernel).collect()
    }

    /// The tables of the trees of one turn, where their kernel wants them.
    fn tables(&self, kernels: &[Kernel], turn: Range<usize>, moments: &Moments) -> Vec<Option<Tables>> {
        let fill = |index: usize| {
            let Kernel::Tables { .. } = kernels[index] else { return None };
            let (paths, groups) = self.group(kernels[index], index)?;
            let nodes = self.ensemble.nodes_of(&self.ensemble.trees()[index]);
            Some(Tables::new(nodes, paths, groups, moments))
        };
        // Threads are not woken where there is nothing for them to fill.
        if kernels[turn.clone()].iter().any(|kernel| matches!(kernel, Kernel::Tables { .. })) {
            turn.into_par_iter().map(fill).collect()
        } else {
            turn.map(|_| None).collect()
        }
    }

    /// Paths and grouped background of a tree, where its kernel wants them.
    fn group(&self, kernel: Kernel, index: usize) -> Option<&(Paths, Groups)> {
        match kernel {
            Kernel::Walk => None,
            Kernel::Masks | Kernel::Tables { .. } => self.grouped()[index].as_ref(),
        }
    }

    fn grouped(&self) -> &[Option<(Paths, Groups)>] {
        // Not computed inside the lock: a thread that waits for its share of the work may take up a task that wants the lock itself.
        if let Some(grouped) = self.grouped.get() {
            return grouped;
        }
        let grouped = self.group_all();
        self.grouped.get_or_init(|| grouped)
    }

    fn group_all(&self) -> Vec<Option<(Paths, Groups)>> {
        let features = self.ensemble.feature_count();
        let columns: Vec<Columns> = self
            .background
            .chunks(BLOCK * features)
            .map(|rows| {
                let mut columns = Columns::new(features);
                columns.fill(self.ensemble, rows);
                columns
            })
            .collect();
        self.ensemble
            .trees()
            .par_iter()
            .map(|tree| {
                let nodes = self.ensemble.nodes_of(tree);
                let paths = Paths::new(nodes)?;
                let groups = Groups::new(self.ensemble, nodes, &paths, &columns, &self.weights);
                Some((paths, groups))
            })
            .collect()
    }
}

/// Consecutive trees whose tables fit in memory together.
fn turns(kernels: &[Kernel]) -> Vec<Range<usize>> {
    let mut turns = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (index, kernel) in kernels.iter().enumerate() {
        let Kernel::Tables { size: more } = *kernel else { continue };
        if size + more > TABLE_NUMBERS && index > start {
            turns.push(start..index);
            (start, size) = (index, 0);
        }
        size += more;
    }
    turns.push(start..kernels.len());
    turns
}

/// The memory that a thread needs to explain a block of rows.
struct Scratch {
    columns: Columns,
    rounded: Vec<f64>,
    /// Outputs × features × [`BLOCK`].
    phi: Vec<f64>,
    walk: Walk,
    masks: Masks,
    lookup: Lookup,
}

impl Scratch {
    fn new(features: usize, outputs: usize) -> Self {
        Self {
            columns: Columns::new(features),
            rounded: Vec::new(),
            phi: vec![0.0; outputs * features * BLOCK],
            walk: Walk::new(features),
            masks: Masks::new(),
            lookup: Lookup::new(),
        }
    }

    fn begin(&mut self, ensemble: &Ensemble, rows: &[f64]) {
        self.columns.fill(ensemble, rows);
        self.rounded.clear();
        self.rounded.extend(rows.iter().map(|&value| ensemble.width.round(value)));
        self.phi.fill(0.0);
    }

    fn add_tree(
        &mut self,
        oracle: &InterventionalOracle<'_>,
        index: usize,
        grouped: Option<&(Paths, Groups)>,
        tables: Option<&Tables>,
        moments: &Moments,
    ) {
        let ensemble = oracle.ensemble;
        let tree = &ensemble.trees()[index];
        let nodes = ensemble.nodes_of(tree);
        let features = ensemble.feature_count();
        let phi = &mut self.phi[tree.output * features * BLOCK..][..features * BLOCK];
        match (grouped, tables) {
            (Some((paths, _)), Some(tables)) => {
                self.lookup.add(ensemble, nodes, paths, tables, &self.columns, phi);
            }
            (Some(grouped), None) => {
                self.masks.add(ensemble, nodes, grouped, moments, &self.columns, phi);
            }
            (None, _) => {
                for (row, explicand) in self.rounded.chunks_exact(features).enumerate() {
                    for (background, &weight) in oracle.background.chunks_exact(features).zip(&oracle.weights)
                    {
                        self.walk.add(
                            ensemble,
                            nodes,
                            moments,
                            (explicand, background),
                            weight,
                            |feature, share| {
                                phi[feature * BLOCK + row] += share;
                            },
                        );
                    }
                }
            }
        }
    }

    /// Adds what was gathered to the rows' values.
    fn end(&self, features: usize, outputs: usize, values: &mut [f64]) {
        for (row, values) in values.chunks_exact_mut(features * outputs).enumerate() {
            for (feature, values) in values.chunks_exact_mut(outputs).enumerate() {
                for (output, value) in values.iter_mut().enumerate() {
                    *value += self.phi[(output * features + feature) * BLOCK + row];
                }
            }
        }
    }
}
