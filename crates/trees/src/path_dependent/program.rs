//! An ensemble as the [kernel](super::kernel) wants it: everything that does not depend on the rows, nor on
//! the value.

use std::ops::Range;

use super::inputs::{Inputs, Place, is_decided};
use apportion_models::Ensemble;
use apportion_models::tree::{Node, Tree};

/// One test of a feature: a split whose children both matter.
#[derive(Debug, Clone)]
pub(super) struct Split {
    /// The row goes left iff its number in `column` is below this.
    pub(super) threshold: f64,
    /// κ: covers of the children over the split's.
    pub(super) shares: [f64; 2],
    /// Values of the children that are leaves, 0 of those that are splits.
    pub(super) leaves: [f64; 2],
    /// c: the product of the shares on the way here over the tests of the same player; 1 where there are
    /// none.
    pub(super) passed: f64,
    pub(super) column: u32,
    /// Number of the player among those of whom any tree asks.
    pub(super) player: u32,
    /// The [slot](Self::children) of the split itself.
    pub(super) slot: u32,
    /// The mask of the rows that passed all of these tests.
    pub(super) hot: u32,
}

impl Split {
    /// Splits above this one, which is at slot 0, or as a child of a split at level l at slot 2 l + 1 or 2
    /// l + 2.
    pub(super) fn level(&self) -> usize {
        (self.slot as usize).div_ceil(2)
    }

    /// The slot of the left child; the right child's is the next.
    pub(super) fn children(&self) -> usize {
        (self.slot as usize + 1) | 1
    }

    /// The mask of the rows that pass this and all earlier tests of the player by going left; that for going
    /// right is the next. Mask 0 is that of all rows.
    pub(super) fn masks(&self) -> usize {
        (self.slot as usize + 1) | 1
    }
}

/// A step of the way through a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The split, within its tree.
    pub(super) split: u32,
    pub(super) visit: Visit,
}

/// What is done at a split, in so many kinds that a step is one jump: down into it, or up out of it; on a
/// player that was tested before or not; keeping the masks for splits on the player below or not; with
/// children that are leaves or splits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Visit {
    Descend,
    DescendAgain,
    DescendMarking,
    DescendAgainMarking,
    Ascend,
    AscendLeftLeaf,
    AscendRightLeaf,
    AscendLeaves,
    AscendAgain,
    AscendAgainLeftLeaf,
    AscendAgainRightLeaf,
    AscendAgainLeaves,
}

impl Visit {
    fn descend(again: bool) -> Self {
        if again { Self::DescendAgain } else { Self::Descend }
    }

    fn marking(self) -> Self {
        match self {
            Self::Descend => Self::DescendMarking,
            Self::DescendAgain => Self::DescendAgainMarking,
            other => other,
        }
    }

    /// Whether the children of a split that is left are leaves.
    pub(super) fn leaves(self) -> (bool, bool) {
        match self {
            Self::AscendLeaves | Self::AscendAgainLeaves => (true, true),
            Self::AscendLeftLeaf | Self::AscendAgainLeftLeaf => (true, false),
            Self::AscendRightLeaf | Self::AscendAgainRightLeaf => (false, true),
            _ => (false, false),
        }
    }

    /// Whether the player of a split that is left was tested before.
    pub(super) fn again(self) -> bool {
        matches!(
            self,
            Self::AscendAgain
                | Self::AscendAgainLeftLeaf
                | Self::AscendAgainRightLeaf
                | Self::AscendAgainLeaves
        )
    }

    fn ascend(again: bool, is_leaf: [bool; 2]) -> Self {
        match (again, is_leaf) {
            (false, [false, false]) => Self::Ascend,
            (false, [true, false]) => Self::AscendLeftLeaf,
            (false, [false, true]) => Self::AscendRightLeaf,
            (false, [true, true]) => Self::AscendLeaves,
            (true, [false, false]) => Self::AscendAgain,
            (true, [true, false]) => Self::AscendAgainLeftLeaf,
            (true, [false, true]) => Self::AscendAgainRightLeaf,
            (true, [true, true]) => Self::AscendAgainLeaves,
        }
    }
}

/// A tree with at least one split.
#[derive(Debug, Clone)]
pub(super) struct TreeProgram {
    pub(super) splits: Range<usize>,
    steps: Range<usize>,
    pub(super) place: Place,
    /// Most distinct players on a path.
    pub(super) distinct: usize,
}

/// The trees of an ensemble, flat, in the order in which they are added up.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) trees: Vec<TreeProgram>,
    pub(super) inputs: Inputs,
    /// Per output: v(∅).
    pub(super) base: Vec<f64>,
    /// Of each tree, each before those below it, and the left before the right.
    splits: Vec<Split>,
    /// Where splits are, the numbers within their tree in the order in which they are left: each after those
    /// below it, the left before the right.
    ascents: Vec<u32>,
    steps: Vec<Step>,
}

impl Program {
    /// Takes O(nodes) time and 84 bytes per split. Covers must be sound.
    pub(super) fn new(ensemble: &Ensemble, player_of: &[u32]) -> Self {
        Self::with_shares(ensemble, player_of, |tree| {
            let cover = ensemble.cover_of(tree);
            move |split: usize, child: usize| cover[child] / cover[split]
        })
    }

    /// The same where absent features divide by other shares than those of the covers: of each tree a
    /// function from a split and a child of it, by their numbers in the tree.
    pub(super) fn with_shares<S: Fn(usize, usize) -> f64>(
        ensemble: &Ensemble,
        player_of: &[u32],
        shares: impl Fn(&Tree) -> S,
    ) -> Self {
        let mut program = Self {
            trees: Vec::new(),
            inputs: Inputs::new(ensemble, player_of),
            base: ensemble.base_margins().to_vec(),
            splits: Vec::new(),
            ascents: Vec::new(),
            steps: Vec::new(),
        };
        let splits = ensemble.leaf_count().saturating_sub(ensemble.tree_count());
        program.splits.reserve_exact(splits);
        program.ascents.reserve_exact(splits);
        for tree in ensemble.trees() {
            let (nodes, share) = (ensemble.nodes_of(tree), shares(tree));
            Compiler { nodes, share }.compile(tree, &mut program);
        }
        // Trees that want as many nodes of a rule follow each other.
        program.trees.sort_by_key(|tree| tree.distinct.div_ceil(2));
        program.steps.shrink_to_fit();
        program
    }

    pub(super) fn splits(&self, tree: &TreeProgram) -> &[Split] {
        &self.splits[tree.splits.clone()]
    }

    pub(super) fn ascents(&self, tree: &TreeProgram) -> &[u32] {
        &self.ascents[tree.splits.clone()]
    }

    pub(super) fn steps(&self, tree: &TreeProgram) -> &[Step] {
        &self.steps[tree.steps.clone()]
    }

    /// Of all trees together.
    pub(super) fn split_count(&self) -> usize {
        self.splits.len()
    }

    /// Splits on the longest path of any tree.
    pub(super) fn levels(&self) -> usize {
        self.trees.iter().map(|tree| tree.place.levels).max().unwrap_or(0)
    }
}

/// One tree, on its way into a program.
struct Compiler<'a, S> {
    nodes: &'a [Node],
    /// Of a split, that goes to a child of it where the feature is absent.
    share: S,
}

/// What is left to do.
enum Task {
    /// Enter a node, which has as many splits above it as `level`.
    Enter { node: usize, level: usize, slot: u32, edge: Option<Edge> },
    /// Leave a split.
    Leave(Step),
}

/// The way from a split to one of its children.
#[derive(Clone, Copy)]
struct Edge {
    /// Whose test it is.
    player: u32,
    /// The step down into the split.
    descent: usize,
    /// The mask of rows that pass the tests of the player up to this one.
    hot: u32,
    /// The product of the shares of these tests.
    passed: f64,
    /// The product of the shares of all tests.
    reach: f64,
    /// Distinct players up to here.
    distinct: usize,
}

impl<S: Fn(usize, usize) -> f64> Compiler<'_, S> {
    /// Appends the tree to `program`, depth first.
    fn compile(&self, tree: &Tree, program: &mut Program) {
        let (splits, steps) = (program.splits.len(), program.steps.len());
        let categorical = program.inputs.begin_tree();
        let (mut levels, mut most_distinct) = (0, 0);
        let mut path: Vec<Edge> = Vec::new();
        let mut tasks = vec![Task::Enter { node: 0, level: 0, slot: 0, edge: None }];
        while let Some(task) = tasks.pop() {
            let (index, level, slot, edge) = match task {
                Task::Enter { node, level, slot, edge } => (node, level, slot, edge),
                Task::Leave(step) => {
                    program.ascents.push(step.split);
                    program.steps.push(step);
                    continue;
                }
            };
            path.truncate(level.saturating_sub(1));
            path.extend(edge);
            let (reach, distinct) = path.last().map_or((1.0, 0), |edge| (edge.reach, edge.distinct));
            let node = self.nodes[index];
            if node.is_leaf() {
                program.base[tree.output] += reach * node.value();
                continue;
            }
            let split = (program.splits.len() - splits) as u32;
            let (column, player) = program.inputs.put(node, categorical);
            let earlier = path.iter().rev().find(|edge| edge.player == player).copied();
            if let Some(edge) = earlier {
                let descent = &mut program.steps[edge.descent].visit;
                *descent = descent.marking();
            }
            let children = [node.left(), node.right()];
            let leaves = children.map(|child| self.nodes[child]);
            let this = Split {
                threshold: if is_decided(node) { 0.5 } else { node.threshold() },
                shares: children.map(|child| (self.share)(index, child)),
                leaves: leaves.map(|child| if child.is_leaf() { child.value() } else { 0.0 }),
                // Not so small that 1 / c overflows, whatever the covers.
                passed: earlier.map_or(1.0, |edge| edge.passed.max(f64::MIN_POSITIVE)),
                column,
                player,
                slot,
                hot: earlier.map_or(0, |edge| edge.hot),
            };
            levels = levels.max(level + 1);
            let distinct = distinct + usize::from(earlier.is_none());
            most_distinct = most_distinct.max(distinct);
            let is_leaf = leaves.map(Node::is_leaf);
            let descent = program.steps.len();
            if is_leaf != [true; 2] {
                program.steps.push(Step { split, visit: Visit::descend(earlier.is_some()) });
            }
            tasks.push(Task::Leave(Step { split, visit: Visit::ascend(earlier.is_some(), is_leaf) }));
            // The left child is on top, so that it comes first.
            for side in [1, 0] {
                let edge = Edge {
                    player,
                    descent,
                    hot: (this.masks() + side) as u32,
                    passed: this.passed * this.shares[side],
                    reach: reach * this.shares[side],
                    distinct,
                };
                let slot = (this.children() + side) as u32;
                tasks.push(Task::Enter { node: children[side], level: level + 1, slot, edge: Some(edge) });
            }
            program.splits.push(this);
        }
        // A tree without splits, or with nothing to give, gives nothing to anyone.
        if levels > 0 && self.nodes.iter().any(|node| node.is_leaf() && node.value() != 0.0) {
            program.trees.push(TreeProgram {
                splits: splits..program.splits.len(),
                steps: steps..program.steps.len(),
                place: Place {
                    categorical: categorical..program.inputs.begin_tree(),
                    output: tree.output,
                    levels,
                },
                distinct: most_distinct,
            });
        }
    }
}
