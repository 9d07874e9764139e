//! Rows as a [kernel](super::kernel) wants them: column by column, a block at a time.

use apportion_games::Rows;
use apportion_values::{Rule, Semivalue};
use rayon::prelude::*;

use super::kernel::{Lanes, MOST_NODES, Nodes};
use super::questions::{Column, Place, Questions};
use apportion_models::Ensemble;

/// Rows of a block, where there are many: as long as possible while the stack of a tree of usual depth stays in the first caches.
const WIDE: usize = 64;
/// Rows of a block, where there are few, or the stack is deep.
const NARROW: usize = 8;
/// Trees with more levels have a deep stack.
const DEEP: usize = 32;
/// Most rows that a thread takes through the trees at a time, so that a tree is read once for several blocks.
const TASK: usize = 4 * WIDE;

/// What computes the values of blocks of rows.
pub(super) trait Kernel: Sync {
    type Tree;
    /// The memory of the way through a tree.
    type Stack<const R: usize>;

    fn questions(&self) -> &Questions;

    fn trees(&self) -> &[Self::Tree];

    fn place(tree: &Self::Tree) -> &Place;

    fn stack<const R: usize>(&self) -> Self::Stack<R>;

    /// Up to so many rows are taken one by one, rather than in a narrow block.
    fn few(&self) -> usize {
        1
    }

    /// Where the numbers that are computed belong among those of a row: of each player to whom any tree gives something, the number of
    /// the player.
    fn targets(&self) -> &[usize] {
        &self.questions().players
    }

    /// Adds the values on one tree to `phi`, which has the lanes of each [target](Self::targets).
    fn add_tree<const R: usize>(
        &self,
        tree: &Self::Tree,
        columns: &[Lanes<R>],
        stack: &mut Self::Stack<R>,
        phi: &mut [Lanes<R>],
    );
}

/// Writes the values of all rows, which are zeros before: rows × targets × outputs.
pub(super) fn explain<K: Kernel>(kernel: &K, ensemble: &Ensemble, rows: Rows<'_>, values: &mut [f64]) {
    if kernel.trees().is_empty() || rows.is_empty() {
        return;
    }
    let (features, width) = (ensemble.feature_count(), values.len() / rows.len());
    let levels = kernel.trees().iter().map(|tree| K::place(tree).levels).max().unwrap_or(0);
    let explain = |scratch: &mut Scratch<K>, (values, rows): (&mut [f64], &[f64])| {
        let [wide, narrow, _] = rows_by_width(rows.len() / features, levels, kernel.few());
        let (wide_rows, rows) = rows.split_at(wide * features);
        let (wide_values, values) = values.split_at_mut(wide * width);
        let (narrow_rows, single_rows) = rows.split_at(narrow * features);
        let (narrow_values, single_values) = values.split_at_mut(narrow * width);
        if !wide_rows.is_empty() {
            let blocks = scratch.wide.get_or_insert_with(|| Blocks::new(kernel));
            blocks.explain(kernel, ensemble, wide_rows, wide_values);
        }
        if !narrow_rows.is_empty() {
            let blocks = scratch.narrow.get_or_insert_with(|| Blocks::new(kernel));
            blocks.explain(kernel, ensemble, narrow_rows, narrow_values);
        }
        if !single_rows.is_empty() {
            let blocks = scratch.single.get_or_insert_with(|| Blocks::new(kernel));
            blocks.explain(kernel, ensemble, single_rows, single_values);
        }
    };
    // Tasks of whole blocks, for several threads.
    let task = rows.len().div_ceil(8).next_multiple_of(WIDE).clamp(WIDE, TASK);
    if rows.len() <= task {
        // Not worth to wake another thread.
        explain(&mut Scratch::default(), (values, rows.values()));
    } else {
        values
            .par_chunks_mut(task * width)
            .zip(rows.values().par_chunks(task * features))
            .with_max_len(1)
            .for_each_init(Scratch::default, explain);
    }
}

/// How many of `rows` are taken in wide blocks, in narrow ones after them, and at last one by one, of which there are at most a `few`.
pub(super) fn rows_by_width(rows: usize, levels: usize, few: usize) -> [usize; 3] {
    let rest = match rows % WIDE {
        _ if levels > DEEP => rows,
        // A wide block costs as much as some three narrow ones.
        rest if rest > 3 * NARROW => 0,
        rest => rest,
    };
    let single = if rest % NARROW <= few { rest % NARROW } else { 0 };
    [rows - rest, rest - single, single]
}

/// How many blocks some rows are taken in: wide ones, narrow ones, and single rows.
pub(super) fn block_counts(rows: usize, levels: usize, few: usize) -> [usize; 3] {
    let [wide, narrow, single] = rows_by_width(rows, levels, few);
    [wide.div_ceil(WIDE), narrow.div_ceil(NARROW), single]
}

/// The memory of a thread, made when first wanted.
struct Scratch<K: Kernel> {
    wide: Option<Blocks<K, WIDE>>,
    narrow: Option<Blocks<K, NARROW>>,
    single: Option<Blocks<K, 1>>,
}

impl<K: Kernel> Default for Scratch<K> {
    fn default() -> Self {
        Self { wide: None, narrow: None, single: None }
    }
}

/// Up to `R` rows and their values.
struct Block<const R: usize> {
    rows: usize,
    /// Rounded, row-major.
    rounded: Vec<f64>,
    columns: Vec<Lanes<R>>,
    /// Outputs × targets.
    phi: Vec<Lanes<R>>,
}

impl<const R: usize> Block<R> {
    fn new(questions: &Questions, targets: usize, outputs: usize) -> Self {
        Self {
            rows: 0,
            rounded: Vec::new(),
            columns: vec![[0.0; R]; questions.widest()],
            phi: vec![[0.0; R]; targets * outputs],
        }
    }

    /// Takes rows in.
    fn begin(&mut self, ensemble: &Ensemble, questions: &Questions, rows: &[f64]) {
        let features = ensemble.feature_count();
        self.rows = rows.len() / features;
        self.rounded.clear();
        self.rounded.extend(rows.iter().map(|&value| ensemble.width().round(value)));
        for (column, &Column { feature, missing }) in self.columns.iter_mut().zip(&questions.columns) {
            for (number, row) in column.iter_mut().zip(self.rounded.chunks_exact(features)) {
                *number = if row[feature].is_nan() { missing } else { row[feature] };
            }
        }
        self.phi.fill([0.0; R]);
    }

    /// Decides the categorical splits of a tree: 0 for left, 1 for right.
    fn decide(&mut self, ensemble: &Ensemble, questions: &Questions, place: &Place) {
        let columns = &mut self.columns[questions.columns.len()..];
        for (column, &split) in columns.iter_mut().zip(questions.categorical(place)) {
            for (number, row) in column.iter_mut().zip(self.rounded.chunks_exact(ensemble.feature_count())) {
                *number = f64::from(u8::from(!ensemble.goes_left(split, row[split.feature()])));
            }
        }
    }

    /// Writes the values out, rows × numbers of a row × outputs.
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

/// The memory in which rows are explained, blocks of `R` at a time.
pub(super) struct Blocks<K: Kernel, const R: usize> {
    stack: K::Stack<R>,
    blocks: Vec<Block<R>>,
}

impl<K: Kernel, const R: usize> Blocks<K, R> {
    pub(super) fn new(kernel: &K) -> Self {
        Self { stack: kernel.stack(), blocks: Vec::new() }
    }

    /// Writes the values of some rows, all of which are taken through a tree before the next.
    pub(super) fn explain(&mut self, kernel: &K, ensemble: &Ensemble, rows: &[f64], values: &mut [f64]) {
        let (questions, targets, outputs) = (kernel.questions(), kernel.targets(), ensemble.output_count());
        let features = ensemble.feature_count();
        let size = R * (values.len() / (rows.len() / features));
        let count = rows.len().div_ceil(R * features);
        self.blocks
            .resize_with(self.blocks.len().max(count), || Block::new(questions, targets.len(), outputs));
        let blocks = &mut self.blocks[..count];
        for (block, rows) in blocks.iter_mut().zip(rows.chunks(R * features)) {
            block.begin(ensemble, questions, rows);
        }
        let count = targets.len();
        for tree in kernel.trees() {
            let place = K::place(tree);
            for block in &mut *blocks {
                block.decide(ensemble, questions, place);
                let phi = &mut block.phi[place.output * count..(place.output + 1) * count];
                kernel.add_tree(tree, &block.columns, &mut self.stack, phi);
            }
        }
        for (block, values) in blocks.iter().zip(values.chunks_mut(size)) {
            block.end(targets, outputs, values);
        }
    }
}

/// A rule for each number of distinct players that a tree has on a path; `None` where `value` has none.
pub(super) fn rules(distinct: impl Iterator<Item = usize>, value: &Semivalue) -> Option<Vec<Option<Rule>>> {
    let mut rules = Vec::new();
    value.rule(0)?;
    for distinct in distinct {
        rules.resize(rules.len().max(distinct + 1), None);
        if rules[distinct].is_none() {
            rules[distinct] = value.rule(distinct - 1);
        }
    }
    Some(rules)
}

/// The nodes of a rule, as many at a time as the kernel takes.
pub(super) fn runs(rule: &Rule) -> impl Iterator<Item = Nodes<'_>> {
    let presence = rule.presence().chunks(MOST_NODES);
    presence
        .zip(rule.absence().chunks(MOST_NODES))
        .zip(rule.weights().chunks(MOST_NODES))
        .map(|((presence, absence), weights)| Nodes { presence, absence, weights })
}
