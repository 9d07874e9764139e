//! An ensemble, ready for its path-dependent game.

use std::sync::OnceLock;

use apportion_games::{Partition, Shared};
use apportion_models::Ensemble;

use super::coalitional;
use super::interactions::partners::Partners;
use super::leaves::Ready;
use super::program::Program;
use crate::engine::kept::Kept;
use crate::engine::settings::Settings;
use crate::error::TreeError;

/// Exact values of the path-dependent game of an ensemble: Shapley, Banzhaf, and every other semivalue; for
/// features in groups Owen, Banzhaf-Owen, and every other pair, values of the groups, and two-step Shapley
/// values.
///
/// The game is that of [`PathDependentGame`](crate::PathDependentGame): v(S) is what the trees expect of an
/// explicand of which the features in S are known, by the training cover of their branches. No background is
/// needed. Shapley values are those of TreeSHAP (Lundberg, Erion and Lee, *Consistent individualized feature
/// attribution for tree ensembles*, 2018), which XGBoost calls `pred_contribs`; here they are computed in
/// `f64`, with an error that does not grow with the depth of the trees.
///
/// A row's values are the same bits whatever the number of threads, the rows beside it and the instruction
/// set of the machine.
///
/// # Costs
///
/// With D the most distinct features on a path of a tree, G the most groups on a path and m the most features
/// of one group on a path, a row takes:
///
/// | values | time |
/// |---|---|
/// | Shapley | O(splits × ⌈D/2⌉) |
/// | (weighted) Banzhaf | O(splits) |
/// | weights by size | O(leaves × D²) |
/// | of features in groups | O(splits × (⌈G/2⌉ (1 + g) + ⌈m/2⌉)): g groups are tested above a split and again below it, on average |
/// | of features in groups, weights by size | O(leaves × (G² + m²)) |
/// | over a hierarchy of three levels or more | O(leaves × D²) |
/// | of groups | that of features, or less where paths have fewer groups than features |
/// | two-step | that of groups, and that of features in groups with one node between the groups |
/// | interactions | O(splits × D × ⌈D/2⌉), by weights by size O(leaves × D³), and n² numbers per output |
///
/// On 500 trees of depth 8 with 100 features in 20 groups, Owen values take twice the time of Shapley values.
/// Over hierarchies of more levels trees are taken leaf by leaf, some forty times as long as for groups;
/// where paths are short and rows are many, [tables](crate::Kernel::Tables) are as fast as for groups
/// (`cargo run --release -p apportion-trees --example levels`).
///
/// The oracle takes 84 bytes per split. Once asked for values of features in groups it keeps some 260 bytes
/// per split more, and 84 for values of the groups, for the partition that it was asked for last; the first
/// call with a partition takes some 300 ns and 70 ns per split more. Once asked for interactions it keeps 8
/// bytes for each split and feature above it.
///
/// ```
/// use apportion_games::Rows;
/// use apportion_trees::{Ensemble, Exact, PathDependentOracle};
/// use apportion_values::Semivalue;
///
/// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
/// let oracle = PathDependentOracle::new(&model)?;
/// let explained = oracle.values(Semivalue::Shapley, Rows::new(&[0.0, 9.0], 2))?;
/// // 6 of 10 training rows were low in the first feature, and half of these in the second: 0.5 + 0.6 · 2 +
/// // 0.4 · 5 is expected.
/// assert!((explained.base[0] - 3.7).abs() < 1e-15 && explained.predictions[0] == 3.5);
/// // The first feature costs 1.2, or 0.8 if the second is known; the second gains 0.6, or 1 if the first is
/// // known.
/// assert!((explained.values[0] + 1.0).abs() < 1e-15 && (explained.values[1] - 0.8).abs() < 1e-15);
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
#[derive(Debug)]
pub struct PathDependentOracle<'a> {
    pub(super) ensemble: Shared<'a, Ensemble>,
    pub(super) settings: Settings,
    /// 0, 1, …: each feature is its own player.
    pub(super) features: Vec<u32>,
    pub(super) program: Program,
    /// Who is above whom in its trees.
    pub(super) partners: OnceLock<Partners>,
    /// Of the groups of a partition.
    pub(super) quotient: Kept<Partition, Program>,
    /// Of the features in these groups.
    pub(super) coalitional: Kept<Partition, coalitional::Program>,
    /// Of the last order and groups that indices were asked for.
    pub(super) ready: Kept<(usize, Option<Partition>), Ready>,
}

impl<'a> PathDependentOracle<'a> {
    /// The oracle of `ensemble`. Takes O(nodes) time, some 70 ns per split.
    ///
    /// # Errors
    ///
    /// [`ModelError::Cover`](crate::ModelError::Cover),
    /// [`ModelError::LinearLeaves`](crate::ModelError::LinearLeaves) and
    /// [`ModelError::JointSplits`](crate::ModelError::JointSplits) where the model does not define the game.
    pub fn new(ensemble: impl Into<Shared<'a, Ensemble>>) -> Result<Self, TreeError> {
        let ensemble = ensemble.into();
        ensemble.check_covers()?;
        let features: Vec<u32> = (0..ensemble.feature_count() as u32).collect();
        let program = Program::new(&ensemble, &features);
        Ok(Self {
            ensemble,
            features,
            settings: Settings::default(),
            program,
            partners: OnceLock::new(),
            quotient: Kept::default(),
            coalitional: Kept::default(),
            ready: Kept::default(),
        })
    }
}
