//! Backgrounds that are compiled once, so that their rows are no longer needed.
//!
//! # Contents of a compiled background
//!
//! A leaf with d path features depends on a background row only through its pattern: the features whose tests
//! the row passes. Therefore the weights of the patterns that occur at each leaf are all that the marginal
//! game needs: at most 2^d numbers, for any number of rows. The expected margin v(∅) is the sum over the
//! leaves of the value of the leaf times the share of rows that pass all its tests. If groups of features are
//! the players, a group's bit in a pattern is the AND of its features' bits, so the histograms of groups are
//! computed from the histograms of features.
//!
//! # Modules
//!
//! | | |
//! |---|---|
//! | [`compiler`] | compiles a background from rows, which are added in any number of calls |
//! | [`dense`], [`lattice`], [`decisions`] | count patterns by bitwise AND, for 64 rows at a time |
//! | [`sort`](mod@sort) | sorts the background rows of a tree explainer by pattern |
//! | [`grouped`] | converts patterns of features to patterns of groups |
//! | [`format`](mod@format) | the file format and its validation |

mod compiler;
pub(crate) mod decisions;
mod dense;
mod format;
mod grouped;
mod lattice;
mod sort;
#[cfg(test)]
mod tests;

pub use self::compiler::BackgroundCompiler;
pub use self::format::CompiledHead;
pub(crate) use self::grouped::of_groups;
pub(crate) use self::sort::sort;
use crate::engine::bits::all_of;
use crate::engine::histograms::Histograms;
use crate::engine::paths::Paths;
use crate::error::TreeError;
use apportion_models::Ensemble;

/// A background dataset reduced to the patterns that the leaves of one ensemble distinguish.
/// [`MarginalTreeExplainer`](crate::MarginalTreeExplainer) requires these patterns only, without the rows.
///
/// Created by a [`BackgroundCompiler`], or [read](Self::read) from bytes that were [written](Self::write).
/// Takes 16 bytes for each pattern that occurs at a leaf. For any number of rows, there are at most 2^d
/// patterns for a leaf with d path features.
///
/// ```
/// use apportion_games::Rows;
/// use apportion_trees::{BackgroundCompiler, CompiledBackground, Ensemble, Exact, MarginalTreeExplainer};
/// use apportion_values::Semivalue;
///
/// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
/// let mut compiler = BackgroundCompiler::new(&model)?;
/// compiler.add(Rows::new(&[0.0, 0.0, 2.0, 0.0], 2), None)?;
/// compiler.add(Rows::new(&[0.0, 4.0], 2), None)?;
/// let bytes = compiler.finish()?.to_bytes();
///
/// let background = CompiledBackground::read(&bytes, &model)?;
/// assert_eq!((background.row_count(), background.total_weight()), (3, 3.0));
/// let tree_explainer = MarginalTreeExplainer::from_compiled(&model, background)?;
/// let explained = tree_explainer.values(Semivalue::Shapley, Rows::new(&[2.0, 3.0], 2))?;
/// let total: f64 = explained.values.iter().sum();
/// assert!((total + explained.base[0] - explained.predictions[0]).abs() < 1e-12);
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CompiledBackground {
    fingerprint: [u8; 32],
    features: usize,
    rows: u64,
    total: f64,
    /// Whether all weights are row counts.
    counted: bool,
    base: Vec<f64>,
    /// The histograms of each tree; the weights of a leaf sum to `total`.
    trees: Vec<Histograms>,
}

impl CompiledBackground {
    /// Returns the number of features of the background rows.
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// Returns the number of rows of positive weight.
    pub fn row_count(&self) -> u64 {
        self.rows
    }

    /// Returns the total weight of the background rows.
    pub fn total_weight(&self) -> f64 {
        self.total
    }

    /// Returns the base value v(∅) of each output: the weighted mean margin.
    pub fn base(&self) -> &[f64] {
        &self.base
    }

    /// Returns the SHA-256 of the model for which the background was compiled: a hash of its trees, base
    /// margins and number of features.
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.fingerprint
    }

    /// Returns the number of patterns, summed over all leaves.
    pub fn pattern_count(&self) -> usize {
        self.trees.iter().map(Histograms::len).sum()
    }

    /// Returns an error for an ensemble for which the background was not compiled.
    fn check(&self, ensemble: &Ensemble) -> Result<(), TreeError> {
        let own = ensemble.fingerprint();
        if own == self.fingerprint {
            return Ok(());
        }
        let hexadecimal =
            |bytes: &[u8; 32]| bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
        Err(TreeError::OtherModel { background: hexadecimal(&self.fingerprint), model: hexadecimal(&own) })
    }

    /// Returns the path features and the histograms of every tree, with weights that sum to 1 at each leaf,
    /// and v(∅).
    pub(crate) fn into_parts(self, ensemble: &Ensemble) -> Result<Parts, TreeError> {
        self.check(ensemble)?;
        let paths = feature_paths(ensemble)?;
        let mut trees = self.trees;
        for histograms in &mut trees {
            histograms.divide_by(self.total);
        }
        Ok(Parts { base: self.base, sorted: paths.into_iter().zip(trees).collect() })
    }
}

/// The parts of a compiled background that a tree explainer uses.
pub(crate) struct Parts {
    pub(crate) base: Vec<f64>,
    pub(crate) sorted: Vec<(Paths, Histograms)>,
}

/// Returns the path features of every tree, or an error if a background cannot be compiled for the ensemble.
fn feature_paths(ensemble: &Ensemble) -> Result<Vec<Paths>, TreeError> {
    if let Some(tree) = ensemble.trees().iter().position(|tree| tree.linear) {
        return Err(TreeError::Unsupported {
            what: format!(
                "a compiled background for a model with linear leaves (tree {tree}; their values depend on \
                 the rows)"
            ),
            help: "use the background rows",
        });
    }
    if ensemble.joint().is_some() {
        return Err(TreeError::Unsupported {
            what: "a compiled background for a model with splits on several features at once".to_owned(),
            help: "use the background rows",
        });
    }
    let features: Vec<u32> = (0..ensemble.feature_count() as u32).collect();
    let paths = ensemble.trees().iter().enumerate().map(|(tree, parts)| {
        Paths::new(ensemble.nodes_of(parts), &features).ok_or_else(|| TreeError::Unsupported {
            what: format!(
                "a compiled background for a model with a path of more than 64 features (tree {tree})"
            ),
            help: "use the background rows",
        })
    });
    paths.collect()
}

/// Computes v(∅) per output, from histograms whose weights sum to `total`.
fn base(ensemble: &Ensemble, paths: &[Paths], trees: &[Histograms], total: f64) -> Vec<f64> {
    let mut base = ensemble.base_margins().to_vec();
    for ((tree, paths), histograms) in ensemble.trees().iter().zip(paths).zip(trees) {
        let nodes = ensemble.nodes_of(tree);
        for (leaf, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_leaf()) {
            let all = all_of(paths.features(leaf).len());
            // Patterns are in ascending order, so the pattern of all features is the last one.
            if let Some(&(pattern, weight)) = histograms.at(leaf).last()
                && pattern == all
            {
                base[tree.output] += node.value() * (weight / total);
            }
        }
    }
    base
}
