//! What the trees of an ensemble ask of rows, and on whose behalf.

use std::ops::Range;

use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// What the rows are asked: their number of a feature, a missing one taken for −∞ or ∞ so that it goes where
/// its splits say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Column {
    pub(super) feature: usize,
    pub(super) missing: f64,
}

/// Whether a split is decided for each row by the ensemble: it has a rule, or it parts missing values from
/// all numbers, so that no number can stand for the missing ones.
pub(super) fn is_decided(split: Node) -> bool {
    split.is_ruled() || split.default_left() && split.threshold() == f64::NEG_INFINITY
}

/// All that is asked, and those who get something for the answers.
#[derive(Debug)]
pub(super) struct Inputs {
    pub(super) columns: Vec<Column>,
    /// The players of whom any tree asks.
    pub(super) players: Vec<usize>,
    /// Per feature.
    known: Vec<Known>,
    /// Splits that [are decided](is_decided) apart, most of them categorical. Those of a tree have the
    /// columns after [`columns`](Self::columns), in this order.
    categorical: Vec<Node>,
    /// Most columns that a tree asks for.
    widest: usize,
}

/// What is known of a feature.
#[derive(Debug, Clone, Default)]
struct Known {
    player: Option<u32>,
    /// Its column where a missing value goes right, and where it goes left.
    columns: [Option<u32>; 2],
}

impl Inputs {
    /// Of all numeric splits. `player_of` has the player of each feature. Categorical ones are put tree by
    /// tree.
    pub(super) fn new(ensemble: &Ensemble, player_of: &[u32]) -> Self {
        let mut known = vec![Known::default(); ensemble.feature_count()];
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
        let widest = columns.len();
        Self { columns, players: playing, known, categorical: Vec::new(), widest }
    }

    /// Where the categorical splits of the next tree begin.
    pub(super) fn begin_tree(&self) -> usize {
        self.categorical.len()
    }

    /// The column that a split asks, and the number of the player it belongs to. The categorical splits of
    /// its tree begin at `first`.
    pub(super) fn put(&mut self, node: Node, first: usize) -> (u32, u32) {
        let known = &self.known[node.feature()];
        let column = if is_decided(node) {
            self.categorical.push(node);
            let count = self.columns.len() + self.categorical.len() - first;
            self.widest = self.widest.max(count);
            Some((count - 1) as u32)
        } else {
            known.columns[usize::from(node.default_left())]
        };
        match (column, known.player) {
            (Some(column), Some(player)) => (column, player),
            _ => unreachable!("every split has been seen"),
        }
    }

    /// The categorical splits of a tree.
    pub(super) fn categorical(&self, place: &Place) -> &[Node] {
        &self.categorical[place.categorical.clone()]
    }

    /// Most columns that a tree asks for.
    pub(super) fn widest(&self) -> usize {
        self.widest
    }
}

/// A tree with at least one split, as far as rows are concerned.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) categorical: Range<usize>,
    pub(super) output: usize,
    /// Splits on the longest path.
    pub(super) levels: usize,
}
