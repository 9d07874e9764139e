//! Passes rows through the trees of an ensemble, for all kernels.
//!
//! Rows are split into blocks, blocks are combined into tasks, and trees are processed in turns (see
//! [`Pieces`]). A thread loads the rows of a task, passes them through the trees of a turn one after the
//! other, and adds the results to their values. [`Kernels`] defines the work for a block and a tree. The
//! order of summation depends only on rows and trees, so results are the same to the last bit for any number
//! of threads.

use std::ops::Range;
use std::sync::Arc;

use apportion_games::{Cancellation, Rows, parallel};
use apportion_models::Ensemble;

use super::paths::{BLOCK, Columns};
use super::pieces::Pieces;
use super::settings::Precision;
use super::tables::lookup::Lookup;
use super::tables::number::Number;
use super::tables::shape::{Layout, Shape};
use super::tables::sums::Sums;
use super::tables::table::Tables;

/// Processes rows in tasks of `task` rows each. `explain` is called with the values and the rows of each
/// task.
pub(crate) fn in_tasks<M: Send>(
    rows: Rows<'_>,
    task: usize,
    values: &mut [f64],
    memory: impl Fn() -> M + Sync + Send,
    explain: impl Fn(&mut M, &mut [f64], &[f64]) + Sync + Send,
) {
    if values.is_empty() {
        return;
    }
    let (columns, width) = (rows.columns(), values.len() / rows.len());
    if rows.len() <= task {
        // For a few rows, waking another thread costs more than it saves.
        return explain(&mut memory(), values, rows.values());
    }
    let tasks = values.chunks_mut(task * width).zip(rows.values().chunks(task * columns));
    parallel::map_with(tasks, memory, |memory, (values, rows)| explain(memory, values, rows));
}

/// For each tree, its tables, if it has any.
pub(crate) type TablesOfTrees<N> = Vec<Option<Tables<N>>>;

/// The computations of a game on the trees of an ensemble.
pub(crate) trait Kernels: Sync {
    /// The working memory of a thread for trees without tables.
    type Memory: Send;

    fn memory(&self) -> Self::Memory;

    /// Computes the tables of a tree with this shape, reusing `memory`. Returns `None` for a tree without
    /// tables.
    fn fill<N: Number>(&self, tree: usize, shape: Arc<Shape>, memory: Vec<N>) -> Option<Tables<N>>;

    /// Returns the cached tables, or computes them with `make` and caches them. By default, nothing is
    /// cached.
    fn cached_tables<N: Number>(&self, make: impl FnOnce() -> TablesOfTrees<N>) -> Arc<TablesOfTrees<N>> {
        Arc::new(make())
    }

    /// Adds the contributions of a tree without tables. The contribution for target (player or pair) `target`
    /// and row `r` is added to `phi[target · rows + r]`.
    fn add(&self, memory: &mut Self::Memory, tree: usize, rows: &LoadedRows, phi: &mut [f64]);
}

/// The parameters of a run that do not depend on the kernels.
pub(crate) struct Job<'a> {
    pub(crate) ensemble: &'a Ensemble,
    pub(crate) layout: Layout,
    /// For each target (player or pair), the index of its value among the values of a row.
    pub(crate) places: &'a [usize],
    /// For each tree, the shape of its tables, if it has any.
    pub(crate) shapes: Vec<Option<Arc<Shape>>>,
    pub(crate) precision: Precision,
    /// Whether tables are filled for all trees at once and cached.
    pub(crate) keep: bool,
    /// Whether the trees may be split into sections that are summed separately.
    pub(crate) in_sections: bool,
    /// The number of rows for which the order of summation is chosen; `None` for the actual number.
    pub(crate) rows: Option<usize>,
}

/// Up to [`BLOCK`] loaded rows.
pub(crate) struct LoadedRows {
    pub(crate) columns: Columns,
    /// The rounded feature values of the rows, row-major.
    pub(crate) rounded: Vec<f64>,
}

/// A block of rows, with the sums accumulated for them.
struct Block {
    rows: LoadedRows,
    /// Sums over trees without tables: outputs × targets × rows. Empty if all trees have tables.
    phi: Vec<f64>,
    sums: Option<Sums>,
}

/// The working memory that a thread needs to explain some blocks of rows.
struct Scratch<M> {
    blocks: Vec<Block>,
    /// The number of blocks in use.
    used: usize,
    kernels: M,
    lookup: Lookup,
}

/// A task whose rows stay in memory between turns, with the values of these rows.
struct ResidentRows<'a, M> {
    scratch: Scratch<M>,
    values: &'a mut [f64],
}

impl Job<'_> {
    /// Computes the values of all rows, and adds them to `values`: rows × numbers per row × outputs.
    pub(crate) fn explain<K: Kernels>(&self, kernels: &K, rows: Rows<'_>, values: &mut [f64]) {
        match self.precision {
            Precision::Double => Run::<K, f64>::new(self, kernels).explain(rows, values),
            Precision::Single => Run::<K, f32>::new(self, kernels).explain(rows, values),
        }
    }

    fn has_tables(&self) -> bool {
        self.shapes.iter().any(Option::is_some)
    }

    fn has_others(&self) -> bool {
        self.shapes.iter().any(Option::is_none)
    }
}

/// A job with tables of numbers of type `N`.
struct Run<'a, K, N> {
    job: &'a Job<'a>,
    kernels: &'a K,
    /// The size of each tree's tables in bytes.
    sizes: Vec<usize>,
    numbers: std::marker::PhantomData<fn() -> N>,
}

impl<'a, K: Kernels, N: Number> Run<'a, K, N> {
    fn new(job: &'a Job<'a>, kernels: &'a K) -> Self {
        let size = |shape: &Option<Arc<Shape>>| shape.as_ref().map_or(0, |shape| shape.size * size_of::<N>());
        let sizes = job.shapes.iter().map(size).collect();
        Self { job, kernels, sizes, numbers: std::marker::PhantomData }
    }

    fn explain(&self, rows: Rows<'_>, values: &mut [f64]) {
        if values.is_empty() {
            return;
        }
        let outputs = self.job.ensemble.output_count();
        let numbers = rows.columns() + self.job.places.len() * outputs;
        let others = self.job.has_others() || self.job.keep;
        let pieces = Pieces::new(rows.len(), self.job.rows, numbers, others);
        let all = 0..self.sizes.len();
        let sections = if self.job.in_sections { pieces.sections(&self.sizes) } else { vec![all] };
        if !pieces.sections_occupy_threads(sections.len()) {
            for section in sections {
                self.add_trees(section, pieces, rows, values);
            }
            return;
        }
        // Parallelize over sections of trees. Add the partial sums in the order of the trees to keep results
        // deterministic.
        let of_section = |section: Range<usize>| {
            let mut sums = vec![0.0; values.len()];
            self.add_trees(section, pieces.of_one_thread(), rows, &mut sums);
            sums
        };
        let sums: Vec<Vec<f64>> = parallel::map(sections, of_section);
        let chunk = BLOCK * (values.len() / rows.len());
        parallel::map(values.chunks_mut(chunk).enumerate(), |(place, values)| {
            for sums in &sums {
                for (value, sum) in values.iter_mut().zip(&sums[place * chunk..]) {
                    *value += sum;
                }
            }
        });
    }

    /// Adds the contributions of a section of the trees to the values of the rows.
    fn add_trees(&self, section: Range<usize>, pieces: Pieces, rows: Rows<'_>, values: &mut [f64]) {
        let (features, width) = (rows.columns(), values.len() / rows.len());
        let (values_of_task, rows_of_task) = (pieces.task * width, pieces.task * features);
        // For a few rows, waking another thread costs more than it saves.
        let by_one_thread = pieces.alone || rows.len() <= pieces.task;
        // If rows stay in memory, load them now, task by task. The size of a task does not affect the values,
        // because a row's values do not depend on other rows.
        let (mut staying, passing): (Vec<ResidentRows<'_, K::Memory>>, &mut [f64]) = if pieces.stay {
            let begin = |(values, rows): (_, &[f64])| {
                let mut scratch = self.scratch();
                self.begin(&mut scratch, rows);
                ResidentRows { scratch, values }
            };
            let tasks = values.chunks_mut(values_of_task).zip(rows.values().chunks(rows_of_task));
            let staying =
                if by_one_thread { tasks.map(begin).collect() } else { parallel::map(tasks, begin) };
            (staying, &mut [])
        } else {
            (Vec::new(), values)
        };
        let mut memory = Vec::new();
        for turn in pieces.turns(&self.sizes[section.clone()], self.job.keep) {
            let turn = section.start + turn.start..section.start + turn.end;
            let mut fill = || self.fill(turn.clone(), pieces, &mut memory);
            let tables = if self.job.keep { self.kernels.cached_tables(fill) } else { Arc::new(fill()) };
            let add = |scratch: &mut Scratch<K::Memory>| self.add(scratch, turn.clone(), &tables);
            if !pieces.stay {
                in_tasks(
                    rows,
                    pieces.task,
                    passing,
                    || self.scratch(),
                    |scratch, values, rows| {
                        self.begin(scratch, rows);
                        add(scratch);
                        self.end(scratch, values);
                    },
                );
            } else if by_one_thread {
                staying.iter_mut().for_each(|task| add(&mut task.scratch));
            } else {
                parallel::map(&mut staying, |task| add(&mut task.scratch));
            }
            // The next turn reuses the memory of tables that are not cached.
            let tables = Arc::into_inner(tables).into_iter().flatten().flatten();
            memory = tables.map(Tables::into_memory).collect();
        }
        let end = |task: &mut ResidentRows<'_, K::Memory>| self.end(&task.scratch, task.values);
        if by_one_thread {
            staying.iter_mut().for_each(end);
        } else {
            parallel::map(&mut staying, end);
        }
    }

    /// Computes the tables of the trees of one turn, reusing `memory` as long as it lasts.
    fn fill(&self, turn: Range<usize>, pieces: Pieces, memory: &mut Vec<Vec<N>>) -> TablesOfTrees<N> {
        let shapes = &self.job.shapes;
        // Do not wake threads if there are no tables to fill.
        if shapes[turn.clone()].iter().all(Option::is_none) {
            return turn.map(|_| None).collect();
        }
        let fill = |(tree, memory): (usize, &mut Vec<N>)| {
            self.kernels.fill(tree, shapes[tree].clone()?, std::mem::take(memory))
        };
        memory.resize_with(turn.len(), Vec::new);
        match pieces.alone {
            true => turn
                .zip(memory)
                .map(|tree| {
                    Cancellation::check();
                    fill(tree)
                })
                .collect(),
            false => parallel::map(turn.zip(memory), fill),
        }
    }

    fn scratch(&self) -> Scratch<K::Memory> {
        let kernels = self.kernels.memory();
        Scratch { blocks: Vec::new(), used: 0, kernels, lookup: Lookup::default() }
    }

    /// Loads rows into the blocks of `scratch`, and resets their sums.
    fn begin(&self, scratch: &mut Scratch<K::Memory>, rows: &[f64]) {
        let Job { ensemble, layout, places, .. } = *self.job;
        let (features, outputs) = (ensemble.feature_count(), ensemble.output_count());
        let sums = || Sums::new(layout, places.len(), outputs);
        scratch.used = rows.len().div_ceil(BLOCK * features);
        scratch.blocks.resize_with(scratch.blocks.len().max(scratch.used), || Block {
            rows: LoadedRows { columns: Columns::new(ensemble), rounded: Vec::new() },
            phi: Vec::new(),
            sums: self.job.has_tables().then(sums),
        });
        let has_others = self.job.has_others();
        for (block, rows) in scratch.blocks.iter_mut().zip(rows.chunks(BLOCK * features)) {
            let Block { rows: LoadedRows { columns, rounded }, phi, sums } = block;
            columns.fill(ensemble, rows);
            if let Some(sums) = sums {
                sums.clear();
            }
            if has_others {
                rounded.clear();
                rounded.extend(rows.iter().map(|&value| ensemble.width().round(value)));
                phi.clear();
                phi.resize(outputs * places.len() * columns.rows(), 0.0);
            }
        }
    }

    /// Passes the rows through the trees of a turn.
    fn add(&self, scratch: &mut Scratch<K::Memory>, turn: Range<usize>, tables: &TablesOfTrees<N>) {
        let ensemble = self.job.ensemble;
        let Scratch { blocks, used, kernels, lookup } = scratch;
        for (index, tables) in turn.zip(tables) {
            let tree = &ensemble.trees()[index];
            Cancellation::check();
            for Block { rows, phi, sums } in &mut blocks[..*used] {
                if let (Some(tables), Some(sums)) = (tables, sums) {
                    let sums = sums.output_mut(tree.output);
                    lookup.add(ensemble, ensemble.nodes_of(tree), tables, &rows.columns, sums);
                } else {
                    let size = self.job.places.len() * rows.columns.rows();
                    self.kernels.add(kernels, index, rows, &mut phi[tree.output * size..][..size]);
                }
            }
        }
    }

    /// Adds the accumulated sums to the values of the rows.
    fn end(&self, scratch: &Scratch<K::Memory>, values: &mut [f64]) {
        let outputs = self.job.ensemble.output_count();
        let blocks = &scratch.blocks[..scratch.used];
        let width = values.len() / blocks.iter().map(|block| block.rows.columns.rows()).sum::<usize>();
        for (Block { rows, phi, sums }, values) in blocks.iter().zip(values.chunks_mut(BLOCK * width)) {
            let (rows, places) = (rows.columns.rows(), self.job.places);
            if let Some(sums) = sums {
                sums.add_to(places, outputs, values, width);
            }
            if phi.is_empty() {
                continue;
            }
            for (row, values) in values.chunks_exact_mut(width).enumerate() {
                for (target, place) in places.iter().enumerate() {
                    for (output, value) in values[place * outputs..][..outputs].iter_mut().enumerate() {
                        *value += phi[(output * places.len() + target) * rows + row];
                    }
                }
            }
        }
    }
}
