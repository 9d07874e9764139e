//! An ensemble prepared for the [kernel](super::kernel): everything that does not depend on the rows or the
//! value.

use std::ops::Range;

use super::inputs::{Inputs, TreeLayout, is_decided};
use apportion_models::Ensemble;
use apportion_models::tree::{Node, Tree};

/// A split of a tree, with the data that the kernel needs.
#[derive(Debug, Clone)]
pub(super) struct Split {
    /// The row goes left iff its number in `column` is below this.
    pub(super) threshold: f64,
    /// The shares κ: the cover of each child divided by the split's cover.
    pub(super) shares: [f64; 2],
    /// The values of the children that are leaves; 0 for children that are splits.
    pub(super) leaves: [f64; 2],
    /// c: the product of the shares on the path over earlier tests of the same player; 1 if there are none.
    pub(super) passed: f64,
    pub(super) column: u32,
    /// The index of the player in the list of players on which any tree depends.
    pub(super) player: u32,
    /// The [slot](Self::children) of the split itself.
    pub(super) slot: u32,
    /// The mask of the rows that passed all earlier tests of the same player.
    pub(super) hot: u32,
}

impl Split {
    /// Returns the number of splits above this one. The root has slot 0, and the children of a split at level
    /// l have slots 2 l + 1 and 2 l + 2.
    pub(super) fn level(&self) -> usize {
        (self.slot as usize).div_ceil(2)
    }

    /// Returns the slot of the left child; the right child has the next slot.
    pub(super) fn children(&self) -> usize {
        (self.slot as usize + 1) | 1
    }

    /// Returns the index of the mask of the rows that pass this and all earlier tests of the player by going
    /// left. The next mask is for going right. Mask 0 contains all rows.
    pub(super) fn masks(&self) -> usize {
        (self.slot as usize + 1) | 1
    }
}

/// A step of the traversal of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The index of the split in its tree.
    pub(super) split: u32,
    pub(super) visit: Visit,
}

/// The kind of step at a split. There is a separate kind for each combination of cases, so that a step is a
/// single jump. A step goes down or up, and the player was tested before or not. On the way down, masks are
/// stored for later splits on the player or not. On the way up, each child is a leaf or a split.
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

    /// Returns whether each child of a split is a leaf, on the way up.
    pub(super) fn leaves(self) -> (bool, bool) {
        match self {
            Self::AscendLeaves | Self::AscendAgainLeaves => (true, true),
            Self::AscendLeftLeaf | Self::AscendAgainLeftLeaf => (true, false),
            Self::AscendRightLeaf | Self::AscendAgainRightLeaf => (false, true),
            _ => (false, false),
        }
    }

    /// Returns whether the player of a split was tested before, on the way up.
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
    pub(super) place: TreeLayout,
    /// The maximum number of distinct players on a path.
    pub(super) distinct: usize,
}

/// The flattened trees of an ensemble, in the order in which they are summed.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) trees: Vec<TreeProgram>,
    pub(super) inputs: Inputs,
    /// The base value v(∅) of each output.
    pub(super) base: Vec<f64>,
    /// The splits of each tree, in depth-first order: parents before children, left before right.
    splits: Vec<Split>,
    /// The indices of the splits of each tree in post-order (children before parents, left before right),
    /// stored in the same ranges as `splits`.
    ascents: Vec<u32>,
    steps: Vec<Step>,
}

impl Program {
    /// Creates the program. Takes O(nodes) time and 84 bytes per split. Covers must be valid.
    pub(super) fn new(ensemble: &Ensemble, player_of: &[u32]) -> Self {
        Self::with_shares(ensemble, player_of, |tree| {
            let cover = ensemble.cover_of(tree);
            move |split: usize, child: usize| cover[child] / cover[split]
        })
    }

    /// Creates the program with shares for absent features that differ from the cover fractions. `shares`
    /// returns, for each tree, a function of a split and one of its children, given by their indices in the
    /// tree.
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
        // Place trees with the same number of quadrature nodes next to each other.
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

    /// Returns the number of splits of all trees.
    pub(super) fn split_count(&self) -> usize {
        self.splits.len()
    }

    /// Returns the number of splits on the longest path of any tree.
    pub(super) fn levels(&self) -> usize {
        self.trees.iter().map(|tree| tree.place.levels).max().unwrap_or(0)
    }
}

/// The state of compiling one tree into a program.
struct Compiler<'a, S> {
    nodes: &'a [Node],
    /// The share of a split that goes to a child if the feature is absent.
    share: S,
}

/// A pending step of the compilation.
enum Task {
    /// Enter a node that has `level` splits above it, and whose P is in `slot`.
    Enter { node: usize, level: usize, slot: u32, edge: Option<Edge> },
    /// Leave a split by appending this step.
    Leave(Step),
}

/// The edge from a split to one of its children.
#[derive(Clone, Copy)]
struct Edge {
    /// The player of the split.
    player: u32,
    /// The index of the step down into the split.
    descent: usize,
    /// The mask of the rows that pass the tests of the player up to this one.
    hot: u32,
    /// The product of the shares of the tests of the player up to this one.
    passed: f64,
    /// The product of the shares of all tests on the path up to this one.
    reach: f64,
    /// The number of distinct players that are tested on the path up to this edge.
    distinct: usize,
}

impl<S: Fn(usize, usize) -> f64> Compiler<'_, S> {
    /// Appends the tree to `program`, depth first.
    fn compile(&self, tree: &Tree, program: &mut Program) {
        let (splits, steps) = (program.splits.len(), program.steps.len());
        let categorical = program.inputs.begin_tree();
        let (mut levels, mut max_distinct) = (0, 0);
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
                // Bound c from below, so that 1 / c cannot overflow for any covers.
                passed: earlier.map_or(1.0, |edge| edge.passed.max(f64::MIN_POSITIVE)),
                column,
                player,
                slot,
                hot: earlier.map_or(0, |edge| edge.hot),
            };
            levels = levels.max(level + 1);
            let distinct = distinct + usize::from(earlier.is_none());
            max_distinct = max_distinct.max(distinct);
            let is_leaf = leaves.map(Node::is_leaf);
            let descent = program.steps.len();
            if is_leaf != [true; 2] {
                program.steps.push(Step { split, visit: Visit::descend(earlier.is_some()) });
            }
            tasks.push(Task::Leave(Step { split, visit: Visit::ascend(earlier.is_some(), is_leaf) }));
            // The left child is pushed last, so that it comes first.
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
        // A tree without splits, or without nonzero leaves, contributes nothing.
        if levels > 0 && self.nodes.iter().any(|node| node.is_leaf() && node.value() != 0.0) {
            program.trees.push(TreeProgram {
                splits: splits..program.splits.len(),
                steps: steps..program.steps.len(),
                place: TreeLayout {
                    categorical: categorical..program.inputs.begin_tree(),
                    output: tree.output,
                    levels,
                },
                distinct: max_distinct,
            });
        }
    }
}
