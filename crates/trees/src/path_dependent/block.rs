//! Converts rows to columns for a recursion, and passes blocks of them through the trees.

use apportion_games::{Cancellation, Rows};

use super::aligned::Aligned;
use super::inputs::{Column, Inputs, TreeLayout};
use super::lanes::{Lanes, Nodes};
use crate::engine::driver::in_tasks;
use apportion_models::Ensemble;

/// The number of rows of a block if there are many rows: the largest number for which the stack of a tree of
/// typical depth fits in the first-level caches.
const WIDE: usize = 64;
/// The number of rows of a block if there are few rows, or if the stack is deep.
const NARROW: usize = 8;
/// Trees with more levels than this have a deep stack.
const DEEP: usize = 32;
/// The maximum number of rows that a thread passes through the trees at a time, so that a tree is loaded once
/// for several blocks.
const TASK: usize = 4 * WIDE;

/// A recursion that computes the values of blocks of rows.
pub(super) trait Recursion: Sync {
    type Tree;
    /// The working memory of a traversal of a tree.
    type Stack<const R: usize>: Send;
    /// The precomputed data for the nodes of a rule.
    type NodeData<'k>: Copy
    where
        Self: 'k;

    fn inputs(&self) -> &Inputs;

    fn trees(&self) -> &[Self::Tree];

    fn place(tree: &Self::Tree) -> &TreeLayout;

    fn stack<const R: usize>(&self) -> Self::Stack<R>;

    /// Returns the maximum number of remaining rows that are processed one by one, rather than in a narrow
    /// block.
    fn few(&self) -> usize {
        1
    }

    /// Returns, for each computed number, its index in the result of a row. If the numbers are values, these
    /// are the indices of all players on which any tree depends.
    fn targets(&self) -> &[usize] {
        &self.inputs().players
    }

    /// Iterates over the nodes of a tree's rule, in runs. Each run is processed in one traversal of the tree.
    fn runs<'k>(&'k self, tree: &'k Self::Tree) -> impl Iterator<Item = (Nodes<'k>, Self::NodeData<'k>)>;

    /// Executes all steps of a tree: adds the contributions of `Q` quadrature nodes to `phi`, which has the
    /// lanes of each [target](Self::targets).
    fn walk<const Q: usize, const R: usize>(
        &self,
        tree: &Self::Tree,
        run: (Nodes<'_>, Self::NodeData<'_>),
        columns: &[Lanes<R>],
        stack: &mut Self::Stack<R>,
        phi: &mut [Lanes<R>],
    );

    /// Adds the contributions of the quadrature nodes of one run.
    fn add_run<const R: usize>(
        &self,
        tree: &Self::Tree,
        run: (Nodes<'_>, Self::NodeData<'_>),
        columns: &[Lanes<R>],
        stack: &mut Self::Stack<R>,
        phi: &mut [Lanes<R>],
    ) {
        add_run(self, tree, run, columns, stack, phi);
    }

    /// Adds the contributions of one run, compiled without any particular instruction set.
    #[cfg(test)]
    fn add_run_portable<const R: usize>(
        &self,
        tree: &Self::Tree,
        run: (Nodes<'_>, Self::NodeData<'_>),
        columns: &[Lanes<R>],
        stack: &mut Self::Stack<R>,
        phi: &mut [Lanes<R>],
    ) {
        add_run_portable(self, tree, run, columns, stack, phi);
    }
}

/// Adds the contributions of the quadrature nodes of one run.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
))]
pub(super) fn add_run<K: Recursion + ?Sized, const R: usize>(
    recursion: &K,
    tree: &K::Tree,
    run: (Nodes<'_>, K::NodeData<'_>),
    columns: &[Lanes<R>],
    stack: &mut K::Stack<R>,
    phi: &mut [Lanes<R>],
) {
    add_run_portable(recursion, tree, run, columns, stack, phi);
}

/// The implementation of [`add_run`], which is compiled for each instruction set.
#[inline(always)]
pub(super) fn add_run_portable<K: Recursion + ?Sized, const R: usize>(
    recursion: &K,
    tree: &K::Tree,
    run: (Nodes<'_>, K::NodeData<'_>),
    columns: &[Lanes<R>],
    stack: &mut K::Stack<R>,
    phi: &mut [Lanes<R>],
) {
    match run.0.presence.len() {
        1 => recursion.walk::<1, R>(tree, run, columns, stack, phi),
        2 => recursion.walk::<2, R>(tree, run, columns, stack, phi),
        3 => recursion.walk::<3, R>(tree, run, columns, stack, phi),
        4 => recursion.walk::<4, R>(tree, run, columns, stack, phi),
        count => unreachable!("a run has {count} nodes"),
    }
}

/// Writes the values of all rows, rows × targets × outputs, which are zero on entry.
pub(super) fn explain<K: Recursion>(recursion: &K, ensemble: &Ensemble, rows: Rows<'_>, values: &mut [f64]) {
    if recursion.trees().is_empty() || rows.is_empty() {
        return;
    }
    let (features, width) = (ensemble.feature_count(), values.len() / rows.len());
    let levels = recursion.trees().iter().map(|tree| K::place(tree).levels).max().unwrap_or(0);
    let explain = |scratch: &mut Scratch<K>, values: &mut [f64], rows: &[f64]| {
        let [wide, narrow, _] = rows_by_width(rows.len() / features, levels, recursion.few());
        let (wide_rows, rows) = rows.split_at(wide * features);
        let (wide_values, values) = values.split_at_mut(wide * width);
        let (narrow_rows, single_rows) = rows.split_at(narrow * features);
        let (narrow_values, single_values) = values.split_at_mut(narrow * width);
        if !wide_rows.is_empty() {
            let blocks = scratch.wide.get_or_insert_with(|| Blocks::new(recursion));
            blocks.explain(recursion, ensemble, wide_rows, wide_values);
        }
        if !narrow_rows.is_empty() {
            let blocks = scratch.narrow.get_or_insert_with(|| Blocks::new(recursion));
            blocks.explain(recursion, ensemble, narrow_rows, narrow_values);
        }
        if !single_rows.is_empty() {
            let blocks = scratch.single.get_or_insert_with(|| Blocks::new(recursion));
            blocks.explain(recursion, ensemble, single_rows, single_values);
        }
    };
    // Use tasks of whole blocks, for several threads.
    let task = rows.len().div_ceil(8).next_multiple_of(WIDE).clamp(WIDE, TASK);
    in_tasks(rows, task, values, Scratch::default, explain);
}

/// Returns three numbers of rows: rows in wide blocks, rows in narrow blocks, and rows processed one by one,
/// at most `few`.
pub(super) fn rows_by_width(rows: usize, levels: usize, few: usize) -> [usize; 3] {
    let rest = match rows % WIDE {
        _ if levels > DEEP => rows,
        // A wide block costs about as much as three narrow blocks.
        rest if rest > 3 * NARROW => 0,
        rest => rest,
    };
    let single = if rest % NARROW <= few { rest % NARROW } else { 0 };
    [rows - rest, rest - single, single]
}

/// Returns the number of wide blocks, narrow blocks and single rows into which the rows are divided.
pub(super) fn block_counts(rows: usize, levels: usize, few: usize) -> [usize; 3] {
    let [wide, narrow, single] = rows_by_width(rows, levels, few);
    [wide.div_ceil(WIDE), narrow.div_ceil(NARROW), single]
}

/// The working memory of a thread, created on first use.
struct Scratch<K: Recursion> {
    wide: Option<Blocks<K, WIDE>>,
    narrow: Option<Blocks<K, NARROW>>,
    single: Option<Blocks<K, 1>>,
}

impl<K: Recursion> Default for Scratch<K> {
    fn default() -> Self {
        Self { wide: None, narrow: None, single: None }
    }
}

/// A block of up to `R` rows, with their values.
struct Block<const R: usize> {
    rows: usize,
    /// The rounded rows, row-major.
    rounded: Vec<f64>,
    columns: Aligned<f64, R>,
    /// The values of the rows: outputs × targets × rows.
    phi: Aligned<f64, R>,
}

impl<const R: usize> Block<R> {
    fn new(inputs: &Inputs, targets: usize, outputs: usize) -> Self {
        Self {
            rows: 0,
            rounded: Vec::new(),
            columns: Aligned::new(0.0, inputs.max_width()),
            phi: Aligned::new(0.0, targets * outputs),
        }
    }

    /// Loads rows into the block, and resets its values.
    fn begin(&mut self, ensemble: &Ensemble, inputs: &Inputs, rows: &[f64]) {
        let features = ensemble.feature_count();
        self.rows = rows.len() / features;
        self.rounded.clear();
        self.rounded.extend(rows.iter().map(|&value| ensemble.width().round(value)));
        for (column, &Column { feature, missing }) in self.columns.iter_mut().zip(&inputs.columns) {
            for (number, row) in column.iter_mut().zip(self.rounded.chunks_exact(features)) {
                *number = if row[feature].is_nan() { missing } else { row[feature] };
            }
        }
        self.phi.fill([0.0; R]);
    }

    /// Writes the decisions of the categorical splits of a tree: 0 for left, 1 for right.
    fn decide(&mut self, ensemble: &Ensemble, inputs: &Inputs, place: &TreeLayout) {
        let columns = &mut self.columns[inputs.columns.len()..];
        for (column, &split) in columns.iter_mut().zip(inputs.categorical(place)) {
            for (number, row) in column.iter_mut().zip(self.rounded.chunks_exact(ensemble.feature_count())) {
                *number = f64::from(u8::from(!ensemble.goes_left(split, row[split.feature()])));
            }
        }
    }

    /// Writes the values of the block to `values`, rows × numbers of a row × outputs.
    fn end(&self, targets: &[usize], outputs: usize, values: &mut [f64]) {
        for (row, values) in values.chunks_exact_mut(values.len() / self.rows).enumerate() {
            for (output, phi) in self.phi.chunks_exact(targets.len()).enumerate() {
                for (&target, lanes) in targets.iter().zip(phi) {
                    values[target * outputs + output] = lanes[row];
                }
            }
        }
    }
}

/// The working memory to explain rows in blocks of `R`.
pub(super) struct Blocks<K: Recursion, const R: usize> {
    stack: K::Stack<R>,
    blocks: Vec<Block<R>>,
}

impl<K: Recursion, const R: usize> Blocks<K, R> {
    pub(super) fn new(recursion: &K) -> Self {
        Self { stack: recursion.stack(), blocks: Vec::new() }
    }

    /// Writes the values of some rows. All rows pass through a tree before the next tree is processed.
    pub(super) fn explain(&mut self, recursion: &K, ensemble: &Ensemble, rows: &[f64], values: &mut [f64]) {
        let (inputs, targets, outputs) = (recursion.inputs(), recursion.targets(), ensemble.output_count());
        let features = ensemble.feature_count();
        let size = R * (values.len() / (rows.len() / features));
        let count = rows.len().div_ceil(R * features);
        self.blocks.resize_with(self.blocks.len().max(count), || Block::new(inputs, targets.len(), outputs));
        let blocks = &mut self.blocks[..count];
        for (block, rows) in blocks.iter_mut().zip(rows.chunks(R * features)) {
            block.begin(ensemble, inputs, rows);
        }
        let count = targets.len();
        for tree in recursion.trees() {
            let place = K::place(tree);
            for block in &mut *blocks {
                Cancellation::check();
                block.decide(ensemble, inputs, place);
                let phi = &mut block.phi[place.output * count..(place.output + 1) * count];
                for run in recursion.runs(tree) {
                    recursion.add_run(tree, run, &block.columns, &mut self.stack, phi);
                }
            }
        }
        for (block, values) in blocks.iter().zip(values.chunks_mut(size)) {
            block.end(targets, outputs, values);
        }
    }
}
