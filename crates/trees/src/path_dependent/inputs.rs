//! The inputs that the trees of an ensemble read from rows, and the player to which each input belongs.

use std::ops::Range;

use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// A column of inputs: the values of a feature, with missing values replaced with −∞ or ∞, so that they go to
/// the default child of its splits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Column {
    pub(super) feature: usize,
    pub(super) missing: f64,
}

/// Returns whether the ensemble must evaluate a split for each row: this is the case if it is categorical, or
/// if it separates missing values from all numbers, so that no number can replace the missing values.
pub(super) fn is_decided(split: Node) -> bool {
    split.is_ruled() || split.default_left() && split.threshold() == f64::NEG_INFINITY
}

/// All inputs of an ensemble, and the player to which each input belongs.
#[derive(Debug)]
pub(super) struct Inputs {
    pub(super) columns: Vec<Column>,
    /// The players on which any tree depends.
    pub(super) players: Vec<usize>,
    /// The player and columns of each feature.
    known: Vec<FeatureColumns>,
    /// The splits that [are evaluated](is_decided) by the ensemble, most of them categorical. The splits of
    /// one tree use the columns after [`columns`](Self::columns), in this order.
    categorical: Vec<Node>,
    /// The maximum number of columns that a tree reads.
    max_width: usize,
}

/// The player and columns of a feature.
#[derive(Debug, Clone, Default)]
struct FeatureColumns {
    player: Option<u32>,
    /// The column of the feature for splits that send missing values right, and for splits that send them
    /// left.
    columns: [Option<u32>; 2],
}

impl Inputs {
    /// Collects the inputs of all numeric splits. `player_of` maps each feature to its player. Categorical
    /// splits are added tree by tree.
    pub(super) fn new(ensemble: &Ensemble, player_of: &[u32]) -> Self {
        let mut known = vec![FeatureColumns::default(); ensemble.feature_count()];
        let mut numbers: Vec<Option<u32>> = Vec::new();
        let (mut columns, mut playing) = (Vec::new(), Vec::new());
        for node in ensemble.nodes().iter().filter(|node| !node.is_leaf()) {
            let (feature, default_left) = (node.feature(), node.default_left());
            let known = &mut known[feature];
            known.player.get_or_insert_with(|| {
                let player = player_of[feature] as usize;
                numbers.resize(numbers.len().max(player + 1), None);
                *numbers[player].get_or_insert_with(|| {
                    playing.push(player);
                    (playing.len() - 1) as u32
                })
            });
            if !is_decided(*node) {
                known.columns[usize::from(default_left)].get_or_insert_with(|| {
                    let missing = if default_left { f64::NEG_INFINITY } else { f64::INFINITY };
                    columns.push(Column { feature, missing });
                    (columns.len() - 1) as u32
                });
            }
        }
        let max_width = columns.len();
        Self { columns, players: playing, known, categorical: Vec::new(), max_width }
    }

    /// Returns the index of the first categorical split of the next tree.
    pub(super) fn begin_tree(&self) -> usize {
        self.categorical.len()
    }

    /// Returns the column that a split reads and the index of its player, and stores the split if it is
    /// categorical. `first` is the index of the first categorical split of the tree.
    pub(super) fn put(&mut self, node: Node, first: usize) -> (u32, u32) {
        let known = &self.known[node.feature()];
        let column = if is_decided(node) {
            self.categorical.push(node);
            let count = self.columns.len() + self.categorical.len() - first;
            self.max_width = self.max_width.max(count);
            Some((count - 1) as u32)
        } else {
            known.columns[usize::from(node.default_left())]
        };
        match (column, known.player) {
            (Some(column), Some(player)) => (column, player),
            _ => unreachable!("every split has been seen"),
        }
    }

    /// Returns the categorical splits of a tree.
    pub(super) fn categorical(&self, place: &TreeLayout) -> &[Node] {
        &self.categorical[place.categorical.clone()]
    }

    /// Returns the maximum number of columns that a tree reads.
    pub(super) fn max_width(&self) -> usize {
        self.max_width
    }
}

/// The inputs and the output of a tree with at least one split.
#[derive(Debug, Clone)]
pub(super) struct TreeLayout {
    pub(super) categorical: Range<usize>,
    pub(super) output: usize,
    /// The number of splits on the longest path.
    pub(super) levels: usize,
}
