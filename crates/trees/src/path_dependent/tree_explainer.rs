//! An ensemble, prepared for its path-dependent game.

use std::sync::OnceLock;

use apportion_games::{Partition, Shared};
use apportion_models::Ensemble;

use super::coalitional;
use super::interactions::partners::Partners;
use super::leaves::Ready;
use super::program::Program;
use crate::engine::last_result::LastResult;
use crate::engine::settings::Settings;
use crate::error::TreeError;

/// Exact values of the path-dependent game of an ensemble: Shapley, Banzhaf and every other semivalue of
/// features. For features in groups, it computes Owen values, Banzhaf-Owen values and values for every other
/// pair of semivalues, values of the groups, and two-step Shapley values.
///
/// The game is [`PathDependentGame`](crate::PathDependentGame): v(S) is the expected output of the trees
/// given the features of an explicand in S, by the training cover of their branches. No background is needed.
/// Shapley values equal the values of TreeSHAP (Lundberg, Erion and Lee, *Consistent individualized feature
/// attribution for tree ensembles*, 2018), which XGBoost calls `pred_contribs`. Here, they are computed in
/// `f64`, with an error that does not grow with the depth of the trees.
///
/// A row's values are the same to the last bit for any number of threads and any instruction set, regardless
/// of other rows.
///
/// # Costs
///
/// The table lists the time per row. On any path of a tree, D is the maximum number of distinct features, G
/// the maximum number of groups, and m the maximum number of features of one group.
///
/// | values | time |
/// |---|---|
/// | Shapley | O(splits × ⌈D/2⌉) |
/// | (weighted) Banzhaf | O(splits) |
/// | weights by coalition size | O(leaves × D²) |
/// | features in groups | O(splits × (⌈G/2⌉ (1 + g) + ⌈m/2⌉)), where g is the average number of groups that are tested above a split and again below it |
/// | features in groups, weights by coalition size | O(leaves × (G² + m²)) |
/// | hierarchies of three levels or more | O(leaves × D²) |
/// | groups | the time of features, or less if paths have fewer groups than features |
/// | two-step | the time of groups, plus the time of features in groups with one node between the groups |
/// | interactions | O(splits × D × ⌈D/2⌉), for weights by coalition size O(leaves × D³), and n² numbers per output |
///
/// On 500 trees of depth 8 with 100 features in 20 groups, Owen values take twice the time of Shapley values.
/// For hierarchies of more levels, trees are processed leaf by leaf. This takes about forty times as long as
/// values for groups. With short paths and many rows, [tables](crate::Kernel::Tables) are as fast for
/// hierarchies as for groups (`cargo run --release -p apportion-trees --example levels`).
///
/// The tree explainer takes 84 bytes per split. For the most recent partition, it keeps additional data:
/// about 260 bytes per split for values of features in groups, and 84 bytes per split for values of groups.
/// The first call with a partition takes about 300 ns and 70 ns per split longer, respectively. After the
/// first call for interactions, it keeps 8 bytes for each split and feature above it.
///
/// ```
/// use apportion_games::Rows;
/// use apportion_trees::{Ensemble, Exact, PathDependentTreeExplainer};
/// use apportion_values::Semivalue;
///
/// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
/// let tree_explainer = PathDependentTreeExplainer::new(&model)?;
/// let explained = tree_explainer.values(Semivalue::Shapley, Rows::new(&[0.0, 9.0], 2))?;
/// // 6 of 10 training rows were low in the first feature, and half of these in the second: the expectation
/// // is 0.5 + 0.6 · 2 + 0.4 · 5.
/// assert!((explained.base[0] - 3.7).abs() < 1e-15 && explained.predictions[0] == 3.5);
/// // The first feature lowers the prediction by 1.2, or by 0.8 if the second is present; the second raises
/// // it by 0.6, or by 1 if the first is present.
/// assert!((explained.values[0] + 1.0).abs() < 1e-15 && (explained.values[1] - 0.8).abs() < 1e-15);
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
#[derive(Debug)]
pub struct PathDependentTreeExplainer<'a> {
    pub(super) ensemble: Shared<'a, Ensemble>,
    pub(super) settings: Settings,
    /// The map from features to players if each feature is a player: 0, 1, ….
    pub(super) features: Vec<u32>,
    pub(super) program: Program,
    /// The pairs of players of which one is tested above the other in some tree.
    pub(super) partners: OnceLock<Partners>,
    /// The program whose players are the groups of a partition.
    pub(super) quotient: LastResult<Partition, Program>,
    /// The program of the features in the groups of a partition.
    pub(super) coalitional: LastResult<Partition, coalitional::Program>,
    /// The data for interaction indices of the most recent order and groups.
    pub(super) ready: LastResult<(usize, Option<Partition>), Ready>,
}

impl<'a> PathDependentTreeExplainer<'a> {
    /// Creates the tree explainer of `ensemble`. Takes O(nodes) time, about 70 ns per split.
    ///
    /// # Errors
    ///
    /// [`ModelError::Cover`](crate::ModelError::Cover),
    /// [`ModelError::LinearLeaves`](crate::ModelError::LinearLeaves) and
    /// [`ModelError::JointSplits`](crate::ModelError::JointSplits) if the model does not define the game.
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
            quotient: LastResult::default(),
            coalitional: LastResult::default(),
            ready: LastResult::default(),
        })
    }
}
