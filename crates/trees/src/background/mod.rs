//! Backgrounds compiled once, so that their rows are not needed afterwards.
//!
//! # What is kept
//!
//! A leaf with d path features sees of a background row only which of them the row satisfies, its pattern. So
//! per leaf the weight of each pattern that occurs says all that the marginal game needs: at most 2^d
//! numbers, whatever the number of rows. The expected margin v(∅) is the sum over the leaves of their value
//! times the share of rows that satisfy everything. Where groups of features are the players, a group's bit
//! in a pattern is the conjunction of its features' bits, so their histograms come from those of features.
//!
//! # What is where
//!
//! | | |
//! |---|---|
//! | [`compiler`] | rows in, in any number of calls; a compiled background out |
//! | [`dense`], [`lattice`], [`decisions`] | counting patterns by conjunctions of bits, for 64 rows at a time |
//! | [`sort`](mod@sort) | the rows of an oracle, sorted by pattern |
//! | [`grouped`] | from patterns of features to those of groups |
//! | [`format`](mod@format) | the file, and how it is checked |

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

/// A background set as the leaves of one ensemble see it: all that
/// [`InterventionalOracle`](crate::InterventionalOracle) needs, without the rows.
///
/// Made by a [`BackgroundCompiler`], or [read](Self::read) from bytes that were [written](Self::write). Takes
/// 16 bytes for each pattern that occurs at a leaf, at most 2^d for a leaf with d path features, however many
/// rows there were.
///
/// ```
/// use apportion_games::Rows;
/// use apportion_trees::{BackgroundCompiler, CompiledBackground, Ensemble, Exact, InterventionalOracle};
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
/// let oracle = InterventionalOracle::from_compiled(&model, background)?;
/// let explained = oracle.values(Semivalue::Shapley, Rows::new(&[2.0, 3.0], 2))?;
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
    /// Whether every weight is a number of rows.
    counted: bool,
    base: Vec<f64>,
    /// Per tree; the weights of a leaf sum to `total`.
    trees: Vec<Histograms>,
}

impl CompiledBackground {
    /// Number of features of its rows.
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// Number of rows of positive weight.
    pub fn row_count(&self) -> u64 {
        self.rows
    }

    /// The sum of their weights.
    pub fn total_weight(&self) -> f64 {
        self.total
    }

    /// v(∅) per output: the weighted mean margin.
    pub fn base(&self) -> &[f64] {
        &self.base
    }

    /// SHA-256 of the model that it belongs to: of its trees, base margins and number of features.
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.fingerprint
    }

    /// Number of patterns of all leaves together.
    pub fn pattern_count(&self) -> usize {
        self.trees.iter().map(Histograms::len).sum()
    }

    /// Refuses an ensemble that it was not compiled for.
    fn check(&self, ensemble: &Ensemble) -> Result<(), TreeError> {
        let own = ensemble.fingerprint();
        if own == self.fingerprint {
            return Ok(());
        }
        let hexadecimal =
            |bytes: &[u8; 32]| bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
        Err(TreeError::OtherModel { background: hexadecimal(&self.fingerprint), model: hexadecimal(&own) })
    }

    /// Paths of features and the histograms of every tree, with weights that sum to 1; and v(∅).
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

/// What an oracle takes over of a compiled background.
pub(crate) struct Parts {
    pub(crate) base: Vec<f64>,
    pub(crate) sorted: Vec<(Paths, Histograms)>,
}

/// The path features of every tree, or what about the ensemble has no patterns.
fn feature_paths(ensemble: &Ensemble) -> Result<Vec<Paths>, TreeError> {
    if let Some(tree) = ensemble.trees().iter().position(|tree| tree.linear) {
        return Err(TreeError::Unsupported {
            what: format!(
                "a compiled background for linear leaves (tree {tree} has some), which depend on the rows,"
            ),
            wanted: "explain the model against the rows themselves",
        });
    }
    if ensemble.joint().is_some() {
        return Err(TreeError::Unsupported {
            what: "a compiled background for splits on several features at once, which depend on the rows,"
                .to_owned(),
            wanted: "explain the model against the rows themselves",
        });
    }
    let features: Vec<u32> = (0..ensemble.feature_count() as u32).collect();
    let paths = ensemble.trees().iter().enumerate().map(|(tree, parts)| {
        Paths::new(ensemble.nodes_of(parts), &features).ok_or_else(|| TreeError::Unsupported {
            what: format!("a compiled background for paths of more than 64 features (tree {tree} has one)"),
            wanted: "explain the model against the rows themselves",
        })
    });
    paths.collect()
}

/// v(∅) per output, of histograms whose weights sum to `total`.
fn base(ensemble: &Ensemble, paths: &[Paths], trees: &[Histograms], total: f64) -> Vec<f64> {
    let mut base = ensemble.base_margins().to_vec();
    for ((tree, paths), histograms) in ensemble.trees().iter().zip(paths).zip(trees) {
        let nodes = ensemble.nodes_of(tree);
        for (leaf, node) in nodes.iter().enumerate().filter(|(_, node)| node.is_leaf()) {
            let all = all_of(paths.features(leaf).len());
            // Patterns are in ascending order, and that of all features is the greatest.
            if let Some(&(pattern, weight)) = histograms.at(leaf).last()
                && pattern == all
            {
                base[tree.output] += node.value() * (weight / total);
            }
        }
    }
    base
}
