//! An ensemble and a partition of its features, prepared for the [kernel](super::kernel).
//!
//! # Slots
//!
//! The walk needs memory only for its current path. A *slot between* contains one number per node q and row.
//! There are slots for P of a node (later replaced by T on the way up), for the factor F to a child of a
//! split (later replaced by F·T), and for P without the factor of a group. A *slot within* contains one
//! number per node r and row. There are slots for Y of a side of a split, and for P^g to that side. The slots
//! of a split are allocated when the walk enters it, and freed when it leaves.

use std::ops::Range;

use apportion_games::Partition;

use super::super::inputs::{Inputs, TreeLayout, is_decided};

use apportion_models::Ensemble;
use apportion_models::tree::{Node, Tree};

/// The result of the earlier tests on one group or one feature on a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct EarlierTests {
    /// The product of the shares of these tests; 1 if there are no tests.
    pub(super) passed: f64,
    /// The mask of the rows that passed all of these tests.
    pub(super) hot: u32,
}

impl EarlierTests {
    const NONE: Self = Self { passed: 1.0, hot: 0 };
}

/// The kind of a child of a split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Side {
    /// The child is a leaf.
    Leaf(f64),
    /// The group of the split is not tested again below the child.
    Last,
    /// The group of the split is tested again below the child.
    Open,
}

/// A split of a tree, with the data that the kernel needs.
#[derive(Debug, Clone)]
pub(super) struct Split {
    /// The row goes left iff its number in `column` is below this.
    pub(super) threshold: f64,
    /// The shares κ: the cover of each child divided by the split's cover.
    pub(super) shares: [f64; 2],
    pub(super) sides: [Side; 2],
    /// The result of the earlier tests of the split's group on the path.
    pub(super) group: EarlierTests,
    /// The result of the earlier tests of the split's feature on the path.
    pub(super) feature: EarlierTests,
    pub(super) column: u32,
    /// The index of the feature in the list of features on which any tree depends.
    pub(super) player: u32,
    /// The first of four masks. Two masks contain the rows that pass this and all earlier tests of the group
    /// by going left, and by going right. The next two contain the same for the feature. Mask 0 contains all
    /// rows.
    pub(super) masks: u32,
    /// Whether the masks of the group are needed below the split, and whether the masks of the feature are.
    pub(super) marks: [bool; 2],
    /// The slot of P of the split, later of T.
    pub(super) slot: u32,
    /// The slot of P without the factor of the group.
    pub(super) apart: u32,
    /// The first of four slots between: two for the children, and two for the factors to them.
    pub(super) children: u32,
    /// The first of four slots within: two for Y of both sides, and two for P^g to them.
    pub(super) within: u32,
    /// The slot within for Y of the side taken at the previous split on the group; P^g to that side is two
    /// slots later. Not used for the first split on a group.
    pub(super) above: u32,
}

/// A step of the traversal of a tree. Splits are numbered within their tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step {
    /// Compute P of both children of a split on a group that was not tested before, and also the factors to
    /// the children if other groups need them.
    Descend { split: u32, factors: bool },
    /// Do the same as [`Descend`](Self::Descend) for a group that was tested before.
    DescendAgain { split: u32, factors: bool },
    /// Compute P without the factor of a group at a child, from the same number at its parent.
    Carry { from: u32, factor: u32, to: u32 },
    /// Compute P^g and set Y = 0 for the open sides of the first split on a group of the path.
    Open { split: u32 },
    /// Compute P^g and set Y = 0 for the open sides of a later split on a group of the path.
    OpenAgain { split: u32 },
    /// Add the contributions to the feature of the first split on a group.
    Give { split: u32 },
    /// Add the contributions to the feature of a later split on a group, and compute Z of the split.
    GiveAgain { split: u32 },
    /// Compute T of a split from T of its children. Also store both terms of the sum if other groups need
    /// them.
    Ascend { split: u32, parts: bool },
    /// Do the same as [`Ascend`](Self::Ascend) for a group that was tested before.
    AscendAgain { split: u32, parts: bool },
    /// Compute X of a group at a child of a split on another group, if the group is no longer tested below
    /// the child.
    Close { apart: u32, part: u32, worth: u32 },
}

/// A tree with at least one split.
#[derive(Debug, Clone)]
pub(in super::super) struct TreeProgram {
    splits: Range<usize>,
    steps: Range<usize>,
    pub(super) place: TreeLayout,
    /// The maximum number of groups on a path.
    pub(super) groups: usize,
    /// The maximum number of features of one group on a path.
    pub(super) members: usize,
}

/// The flattened trees of an ensemble, in the order in which they are summed.
#[derive(Debug)]
pub(in super::super) struct Program {
    pub(in super::super) trees: Vec<TreeProgram>,
    pub(super) inputs: Inputs,
    /// The maximum numbers of slots between and slots within that a tree needs.
    pub(super) slots: [usize; 2],
    splits: Vec<Split>,
    steps: Vec<Step>,
}

impl Program {
    /// Creates the program. Takes O(nodes × groups / 64) time. In addition, each split takes time and memory
    /// in proportion to the groups tested both above and below it. Covers must be valid.
    pub(in super::super) fn new(ensemble: &Ensemble, partition: &Partition) -> Self {
        let features: Vec<u32> = (0..ensemble.feature_count() as u32).collect();
        let mut program = Self {
            trees: Vec::new(),
            inputs: Inputs::new(ensemble, &features),
            slots: [0; 2],
            splits: Vec::new(),
            steps: Vec::new(),
        };
        for tree in ensemble.trees() {
            let (nodes, cover) = (ensemble.nodes_of(tree), ensemble.cover_of(tree));
            let tested = Tested::new(nodes, partition);
            Compiler { nodes, cover, partition, tested }.compile(tree, &mut program);
        }
        // Place trees with the same number of quadrature nodes next to each other.
        program.trees.sort_by_key(|tree| tree.groups.div_ceil(2));
        program
    }

    pub(super) fn splits(&self, tree: &TreeProgram) -> &[Split] {
        &self.splits[tree.splits.clone()]
    }

    /// Returns the number of splits of a tree.
    pub(in super::super) fn splits_of(&self, tree: &TreeProgram) -> usize {
        tree.splits.len()
    }

    pub(super) fn steps(&self, tree: &TreeProgram) -> &[Step] {
        &self.steps[tree.steps.clone()]
    }

    /// Returns the number of splits on the longest path of any tree.
    pub(super) fn levels(&self) -> usize {
        self.trees.iter().map(|tree| tree.place.levels).max().unwrap_or(0)
    }
}

/// The groups that are tested at or below each node, as bits.
struct Tested {
    words: usize,
    bits: Vec<u64>,
}

impl Tested {
    fn new(nodes: &[Node], partition: &Partition) -> Self {
        let words = partition.len().div_ceil(64);
        let mut bits = vec![0; nodes.len() * words];
        // Children have higher indices than their parents.
        for (index, node) in nodes.iter().enumerate().rev().filter(|(_, node)| !node.is_leaf()) {
            for word in 0..words {
                let below = bits[node.left() * words + word] | bits[node.right() * words + word];
                bits[index * words + word] = below;
            }
            let group = partition.group_of(node.feature());
            bits[index * words + group / 64] |= 1 << (group % 64);
        }
        Self { words, bits }
    }

    fn at(&self, node: usize, group: usize) -> bool {
        self.bits[node * self.words + group / 64] >> (group % 64) & 1 == 1
    }
}

/// The state of compiling one tree into a program.
struct Compiler<'a> {
    nodes: &'a [Node],
    cover: &'a [f64],
    partition: &'a Partition,
    tested: Tested,
}

/// A pending step of the compilation.
enum Task {
    Enter(Visit),
    /// Leave a split by appending these steps.
    Leave(Vec<Step>),
}

/// A node that the compiler has yet to enter.
struct Visit {
    node: usize,
    /// The number of splits above the node.
    level: usize,
    slot: u32,
    /// The first free slot between, and the first free slot within.
    free: [u32; 2],
    edge: Option<Edge>,
    /// The groups that are tested both above the node and at or below it.
    open: Vec<Open>,
}

/// A group that is tested above a node, and again at or below it.
struct Open {
    group: usize,
    /// The slot of P without the factor of the group.
    apart: u32,
    /// The slot of Y for the side of the last split on the group.
    worth: u32,
}

/// The edge from a split to one of its children.
#[derive(Clone, Copy)]
struct Edge {
    split: usize,
    group: usize,
    player: u32,
    /// The results of the tests on the split's group and on its feature, up to and including this split.
    of_group: EarlierTests,
    of_feature: EarlierTests,
    /// The number of distinct groups that are tested on the path up to this edge.
    groups: usize,
    /// The number of distinct features of the split's group that are tested on the path up to this edge.
    members: usize,
}

impl Compiler<'_> {
    /// Appends the tree to `program`, depth first.
    fn compile(&self, tree: &Tree, program: &mut Program) {
        // A tree without splits, or without nonzero leaves, contributes nothing.
        let gives = |node: &Node| node.is_leaf() && node.value() != 0.0;
        if self.nodes.len() == 1 || !self.nodes.iter().any(gives) {
            return;
        }
        let (splits, steps) = (program.splits.len(), program.steps.len());
        let categorical = program.inputs.begin_tree();
        let (mut levels, mut max_groups, mut max_members) = (0, 0, 0);
        let mut path: Vec<Edge> = Vec::new();
        let root = Visit { node: 0, level: 0, slot: 0, free: [1, 0], edge: None, open: Vec::new() };
        let mut tasks = vec![Task::Enter(root)];
        while let Some(task) = tasks.pop() {
            let visit = match task {
                Task::Enter(visit) => visit,
                Task::Leave(steps) => {
                    program.steps.extend(steps);
                    continue;
                }
            };
            path.truncate(visit.level.saturating_sub(1));
            path.extend(visit.edge);
            levels = levels.max(visit.level + 1);
            let [edge, _] = self.enter(visit, splits, categorical, &path, program, &mut tasks);
            max_groups = max_groups.max(edge.groups);
            max_members = max_members.max(edge.members);
        }
        program.trees.push(TreeProgram {
            splits: splits..program.splits.len(),
            steps: steps..program.steps.len(),
            place: TreeLayout {
                categorical: categorical..program.inputs.begin_tree(),
                output: tree.output,
                levels,
            },
            groups: max_groups,
            members: max_members,
        });
    }

    /// Appends a split and the steps down into it, and pushes its children and the steps up as tasks. Returns
    /// the edges to both children.
    fn enter(
        &self,
        visit: Visit,
        first_split: usize,
        categorical: usize,
        path: &[Edge],
        program: &mut Program,
        tasks: &mut Vec<Task>,
    ) -> [Edge; 2] {
        let node = self.nodes[visit.node];
        let group = self.partition.group_of(node.feature());
        let (column, player) = program.inputs.put(node, categorical);
        let of_group = path.iter().rev().find(|edge| edge.group == group);
        let of_feature = path.iter().rev().find(|edge| edge.player == player);
        if let Some(edge) = of_group {
            program.splits[edge.split].marks[0] = true;
        }
        if let Some(edge) = of_feature {
            program.splits[edge.split].marks[1] = true;
        }
        let own = visit.open.iter().find(|open| open.group == group);
        let children = [node.left(), node.right()];
        let sides = children.map(|child| match self.nodes[child] {
            leaf if leaf.is_leaf() => Side::Leaf(leaf.value()),
            _ if self.tested.at(child, group) => Side::Open,
            _ => Side::Last,
        });
        let [slots, within] = visit.free;
        let split = Split {
            threshold: if is_decided(node) { 0.5 } else { node.threshold() },
            shares: children.map(|child| self.cover[child] / self.cover[visit.node]),
            sides,
            group: of_group.map_or(EarlierTests::NONE, |edge| edge.of_group),
            feature: of_feature.map_or(EarlierTests::NONE, |edge| edge.of_feature),
            column,
            player,
            masks: 4 * visit.level as u32 + 1,
            marks: [false; 2],
            slot: visit.slot,
            apart: own.map_or(visit.slot, |own| own.apart),
            children: slots,
            within,
            above: own.map_or(0, |own| own.worth),
        };
        let number = (program.splits.len() - first_split) as u32;
        let edges = [0, 1].map(|side| {
            let mark = split.masks + side as u32;
            let take = |earlier: EarlierTests, hot| EarlierTests {
                // Bound the product from below, so that its inverse cannot overflow for any covers.
                passed: (earlier.passed * split.shares[side]).max(f64::MIN_POSITIVE),
                hot,
            };
            Edge {
                split: program.splits.len(),
                group,
                player,
                of_group: take(split.group, mark),
                of_feature: take(split.feature, mark + 2),
                groups: path.last().map_or(0, |edge| edge.groups) + usize::from(of_group.is_none()),
                members: of_group.map_or(0, |edge| edge.members) + usize::from(of_feature.is_none()),
            }
        });
        // Allocate slots for the children and the factors to them, then one for each side and group that is
        // tested again below.
        let mut free = [slots + 4, within + if sides.contains(&Side::Open) { 4 } else { 0 }];
        let others = visit.open.len() > usize::from(own.is_some());
        let again = of_group.is_some();
        let (mut down, mut up) = (Vec::new(), Vec::new());
        if sides.iter().any(|side| !matches!(side, Side::Leaf(_))) {
            down.push(match again {
                false => Step::Descend { split: number, factors: others },
                true => Step::DescendAgain { split: number, factors: others },
            });
        }
        if sides.contains(&Side::Open) {
            down.push(if again { Step::OpenAgain { split: number } } else { Step::Open { split: number } });
        }
        up.push(if again { Step::GiveAgain { split: number } } else { Step::Give { split: number } });
        up.push(match again {
            false => Step::Ascend { split: number, parts: others },
            true => Step::AscendAgain { split: number, parts: others },
        });
        let mut opens = [Vec::new(), Vec::new()];
        for (side, opens) in opens.iter_mut().enumerate() {
            if sides[side] == Side::Open {
                opens.push(Open { group, apart: split.apart, worth: within + side as u32 });
            }
            for open in visit.open.iter().filter(|open| open.group != group) {
                let factor = slots + 2 + side as u32;
                if self.tested.at(children[side], open.group) {
                    down.push(Step::Carry { from: open.apart, factor, to: free[0] });
                    opens.push(Open { group: open.group, apart: free[0], worth: open.worth });
                    free[0] += 1;
                } else {
                    up.push(Step::Close { apart: open.apart, part: factor, worth: open.worth });
                }
            }
        }
        program.slots = [0, 1].map(|kind| program.slots[kind].max(free[kind] as usize));
        program.steps.append(&mut down);
        tasks.push(Task::Leave(up));
        // The left child is pushed last, so that it comes first.
        for (side, open) in opens.into_iter().enumerate().rev() {
            if !matches!(sides[side], Side::Leaf(_)) {
                let (node, slot) = (children[side], slots + side as u32);
                let edge = Some(edges[side]);
                tasks.push(Task::Enter(Visit { node, level: visit.level + 1, slot, free, edge, open }));
            }
        }
        program.splits.push(split);
        edges
    }
}
