//! Compiles a background from rows.

use apportion_games::phrases::plural;
use apportion_games::{GameError, Rows, parallel};

use super::dense::Dense;
use super::{CompiledBackground, base, feature_paths};
use crate::engine::histograms::Histograms;
use crate::engine::paths::{BLOCK, Columns, Paths};
use crate::error::TreeError;
use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// The number of rows that are processed together.
const PART: usize = 4096;

/// An incremental compiler for backgrounds: rows can be added in any number of calls.
///
/// Rows of weight 1 are counted in integers by bitwise AND, 64 rows at a time. This takes about as long as
/// ten predictions per row; rows of other weights take several times longer. The result is the same to the
/// last bit for any number of threads and any division of the rows into calls. Memory does not grow with the
/// number of rows. It is 8 bytes for every set of features on the path to a split or, if there would be too
/// many sets, 16 bytes for each pattern that occurs.
#[derive(Debug)]
pub struct BackgroundCompiler<'a> {
    ensemble: &'a Ensemble,
    paths: Vec<Paths>,
    dense: Dense<'a>,
    /// For each tree, the patterns that `dense` does not count.
    merged: Vec<MergedPatterns>,
    /// The rows of the current part, which is processed when it is full, with their weights.
    rows: Vec<f64>,
    weights: Vec<f64>,
    /// The number of rows added, with any weight.
    rows_added: usize,
    /// The number of rows of positive weight.
    weighted: u64,
    /// The sum of weights and its compensation (Neumaier).
    total: (f64, f64),
    counted: bool,
    /// Whether all added rows were processed or are in the current part; `false` after a cancelled call.
    is_whole: bool,
}

impl<'a> BackgroundCompiler<'a> {
    /// Creates a compiler for an ensemble. The ensemble must not have linear leaves or
    /// [joint](Ensemble::joint) trees, and its paths must have at most 64 features.
    ///
    /// # Errors
    ///
    /// [`TreeError::Unsupported`] for a linear leaf or a longer path, with the first such tree, and for joint
    /// trees.
    pub fn new(ensemble: &'a Ensemble) -> Result<Self, TreeError> {
        let paths = feature_paths(ensemble)?;
        let dense = Dense::new(ensemble, paths.iter().map(Some));
        let trees = ensemble.trees().iter();
        let merged = trees.map(|tree| MergedPatterns::new(ensemble.nodes_of(tree).len())).collect();
        Ok(Self {
            ensemble,
            paths,
            dense,
            merged,
            rows: Vec::new(),
            weights: Vec::new(),
            rows_added: 0,
            weighted: 0,
            total: (0.0, 0.0),
            counted: true,
            is_whole: true,
        })
    }

    /// Adds rows, with one weight per row, or with weight 1 each if `weights` is `None`. Missing values are
    /// NaN; rows of weight 0 are ignored. If any row is rejected, none of the rows in this call is added.
    /// Error messages contain the index of the row in this call.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`] if the number of columns differs from the number of features,
    /// [`GameError::MissingInput`] if a value is missing that the model
    /// [requires](Ensemble::refuses_missing), [`GameError::BackgroundWeights`] for weights that are not one
    /// per row, finite and nonnegative, [`TreeError::Unsupported`] after a call that was
    /// [cancelled](apportion_games::Cancellation).
    pub fn add(&mut self, rows: Rows<'_>, weights: Option<&[f64]>) -> Result<(), TreeError> {
        self.ensemble.check_rows(rows, "background row")?;
        if let Some(weights) = weights {
            let problem = if weights.len() != rows.len() {
                Some(format!("got {} weight{}", weights.len(), plural(weights.len())))
            } else {
                let bad = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0));
                bad.map(|row| format!("the weight of row {row} is {}", weights[row]))
            };
            if let Some(problem) = problem {
                return Err(GameError::BackgroundWeights { rows: rows.len(), problem }.into());
            }
        }
        self.check_whole()?;
        self.is_whole = false;
        self.rows_added += rows.len();
        for (index, row) in rows.iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[index]);
            if weight > 0.0 {
                self.rows.extend_from_slice(row);
                self.weights.push(weight);
                if self.weights.len() == PART {
                    self.take_part();
                }
            }
        }
        self.is_whole = true;
        Ok(())
    }

    /// Returns an error if an earlier call was cancelled while it added rows.
    fn check_whole(&self) -> Result<(), TreeError> {
        match self.is_whole {
            true => Ok(()),
            false => Err(TreeError::Unsupported {
                what: "a background compiler after a cancelled call of `add`".to_owned(),
                help: "add all rows to a new compiler",
            }),
        }
    }

    /// Returns the background of all rows that were added.
    ///
    /// # Errors
    ///
    /// [`GameError::EmptyBackground`] if no row was added, [`GameError::BackgroundWeights`] if all weights
    /// are zero, or their sum is infinite or subnormal, [`TreeError::Unsupported`] after a call of
    /// [`add`](Self::add) that was cancelled.
    pub fn finish(mut self) -> Result<CompiledBackground, TreeError> {
        self.check_whole()?;
        self.take_part();
        let total = self.total.0 + self.total.1;
        let refuse = |problem: &str| {
            Err(GameError::BackgroundWeights { rows: self.rows_added, problem: problem.to_owned() }.into())
        };
        match self.rows_added {
            0 => return Err(GameError::EmptyBackground.into()),
            _ if self.weighted == 0 => return refuse("all weights are zero"),
            _ if !total.is_normal() => {
                return refuse("the sum of the weights is out of range, so divide them by the largest");
            }
            _ => {}
        }
        let trees = self.merged.into_iter().zip(&self.paths).enumerate();
        let trees: Vec<Histograms> = parallel::map(trees, |(tree, (merged, paths))| {
            let nodes = self.ensemble.nodes_of(&self.ensemble.trees()[tree]);
            merged.finish(nodes, self.dense.histograms(tree, paths, 1.0, &mut Vec::new()))
        });
        Ok(CompiledBackground {
            fingerprint: self.ensemble.fingerprint(),
            features: self.ensemble.feature_count(),
            rows: self.weighted,
            total,
            counted: self.counted,
            base: base(self.ensemble, &self.paths, &trees, total),
            trees,
        })
    }

    /// Processes the rows of the current part.
    fn take_part(&mut self) {
        let (rows, weights) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.weights));
        if weights.is_empty() {
            return;
        }
        for &weight in &weights {
            let (sum, rest) = self.total;
            let next = sum + weight;
            let lost = if sum >= weight { (sum - next) + weight } else { (weight - next) + sum };
            self.total = (next, rest + lost);
        }
        self.weighted += weights.len() as u64;
        let counted = weights.iter().all(|&weight| weight == 1.0);
        self.counted &= counted;
        if counted {
            self.dense.add(&rows);
        }
        let dense = &self.dense;
        if !counted || (0..self.paths.len()).any(|tree| !dense.counts(tree)) {
            let ensemble = self.ensemble;
            let features = ensemble.feature_count();
            let columns: Vec<Columns> = rows
                .chunks(BLOCK * features)
                .map(|rows| {
                    let mut columns = Columns::new(ensemble);
                    columns.fill(ensemble, rows);
                    columns
                })
                .collect();
            let trees = self.merged.iter_mut().zip(&self.paths).enumerate();
            let trees = trees.filter(|(tree, _)| !(counted && dense.counts(*tree)));
            parallel::map(trees, |(tree, (merged, paths))| {
                let nodes = ensemble.nodes_of(&ensemble.trees()[tree]);
                merged.add(&Histograms::new(ensemble, nodes, paths, &columns, &weights));
            });
        }
        // Reuse the memory.
        (self.rows, self.weights) = (rows, weights);
        self.rows.clear();
        self.weights.clear();
    }
}

/// The weights of the patterns at each leaf of a tree, accumulated part by part.
#[derive(Debug)]
struct MergedPatterns {
    /// For each node, its patterns in ascending order, with their weights.
    leaves: Vec<Vec<(u64, f64)>>,
}

impl MergedPatterns {
    fn new(nodes: usize) -> Self {
        Self { leaves: vec![Vec::new(); nodes] }
    }

    fn add(&mut self, part: &Histograms) {
        for (leaf, known) in self.leaves.iter_mut().enumerate() {
            merge(known, part.at(leaf));
        }
    }

    /// Returns the weights of all patterns: the merged ones and, if any, the `counted` patterns of the same
    /// tree.
    fn finish(mut self, nodes: &[Node], counted: Option<Histograms>) -> Histograms {
        if let Some(counted) = counted {
            if self.leaves.iter().all(Vec::is_empty) {
                return counted;
            }
            self.add(&counted);
        }
        let mut histograms = Histograms::empty(nodes.len());
        for (leaf, patterns) in self.leaves.into_iter().enumerate().filter(|(leaf, _)| nodes[*leaf].is_leaf())
        {
            histograms.set(leaf, patterns.into_iter());
        }
        histograms
    }
}

/// Merges `more` into `known` and adds the weights of equal patterns. Both lists are in ascending order of
/// patterns.
fn merge(known: &mut Vec<(u64, f64)>, more: &[(u64, f64)]) {
    let mut new = Vec::new();
    for &(pattern, weight) in more {
        match known.binary_search_by_key(&pattern, |&(pattern, _)| pattern) {
            Ok(at) => known[at].1 += weight,
            Err(_) => new.push((pattern, weight)),
        }
    }
    if !new.is_empty() {
        known.extend(new);
        // The list consists of two ascending runs, which a stable sort merges in one pass.
        known.sort_by_key(|&(pattern, _)| pattern);
    }
}
