//! Rows as the [kernel] wants them: column by column, a block at a time.

use super::kernel::{self, AddTree, Lanes, MOST_NODES, Nodes, Stack};
use super::program::{Column, Program, TreeProgram};
use crate::ensemble::Ensemble;
use apportion_values::Rule;

/// Up to `R` rows and their values.
struct Block<const R: usize> {
    rows: usize,
    /// Rounded, row-major.
    rounded: Vec<f64>,
    columns: Vec<Lanes<R>>,
    /// Outputs × players.
    phi: Vec<Lanes<R>>,
}

impl<const R: usize> Block<R> {
    fn new(program: &Program) -> Self {
        Self {
            rows: 0,
            rounded: Vec::new(),
            columns: vec![[0.0; R]; program.widest()],
            phi: vec![[0.0; R]; program.players.len() * program.base.len()],
        }
    }

    /// Takes rows in.
    fn begin(&mut self, ensemble: &Ensemble, program: &Program, rows: &[f64]) {
        let features = ensemble.feature_count();
        self.rows = rows.len() / features;
        self.rounded.clear();
        self.rounded.extend(rows.iter().map(|&value| ensemble.width.round(value)));
        for (column, &Column { feature, missing }) in self.columns.iter_mut().zip(&program.columns) {
            for (number, row) in column.iter_mut().zip(self.rounded.chunks_exact(features)) {
                *number = if row[feature].is_nan() { missing } else { row[feature] };
            }
        }
        self.phi.fill([0.0; R]);
    }

    /// Decides the categorical splits of a tree: 0 for left, 1 for right.
    fn decide(&mut self, ensemble: &Ensemble, program: &Program, tree: &TreeProgram) {
        let columns = &mut self.columns[program.columns.len()..];
        for (column, &split) in columns.iter_mut().zip(program.categorical(tree)) {
            for (number, row) in column.iter_mut().zip(self.rounded.chunks_exact(ensemble.feature_count())) {
                *number = f64::from(u8::from(!ensemble.goes_left(split, row[split.feature()])));
            }
        }
    }

    /// Writes the values out, rows × features × outputs.
    fn end(&self, features: usize, program: &Program, values: &mut [f64]) {
        let outputs = program.base.len();
        for (row, values) in values.chunks_exact_mut(features * outputs).enumerate() {
            for (output, phi) in self.phi.chunks_exact(program.players.len()).enumerate() {
                for (&feature, lanes) in program.players.iter().zip(phi) {
                    values[feature * outputs + output] = lanes[row];
                }
            }
        }
    }
}

/// The memory in which rows are explained, blocks of `R` at a time.
pub(super) struct Blocks<const R: usize> {
    kernel: AddTree<R>,
    stack: Stack<R>,
    blocks: Vec<Block<R>>,
}

impl<const R: usize> Blocks<R> {
    pub(super) fn new(program: &Program) -> Self {
        Self::with_kernel(program, kernel::add_tree)
    }

    pub(super) fn with_kernel(program: &Program, kernel: AddTree<R>) -> Self {
        Self { kernel, stack: Stack::new(program.levels()), blocks: Vec::new() }
    }

    /// Writes the values of some rows, all of which are taken through a tree before the next. `rules` has the quadrature rule for each
    /// number of distinct features that a tree may have on a path.
    pub(super) fn explain(
        &mut self,
        ensemble: &Ensemble,
        program: &Program,
        rules: &[Option<Rule>],
        rows: &[f64],
        values: &mut [f64],
    ) {
        let features = ensemble.feature_count();
        let count = rows.len().div_ceil(R * features);
        self.blocks.resize_with(self.blocks.len().max(count), || Block::new(program));
        let blocks = &mut self.blocks[..count];
        for (block, rows) in blocks.iter_mut().zip(rows.chunks(R * features)) {
            block.begin(ensemble, program, rows);
        }
        let players = program.players.len();
        for tree in &program.trees {
            let Some(rule) = &rules[tree.distinct] else { unreachable!("a rule for every tree") };
            for block in &mut *blocks {
                block.decide(ensemble, program, tree);
                let phi = &mut block.phi[tree.output * players..(tree.output + 1) * players];
                for nodes in runs(rule) {
                    (self.kernel)(program, tree, nodes, &block.columns, &mut self.stack, phi);
                }
            }
        }
        let size = R * features * program.base.len();
        for (block, values) in blocks.iter().zip(values.chunks_mut(size)) {
            block.end(features, program, values);
        }
    }
}

/// The nodes of a rule, as many at a time as the kernel takes.
pub(super) fn runs(rule: &Rule) -> impl Iterator<Item = Nodes<'_>> {
    let presence = rule.presence().chunks(MOST_NODES);
    presence
        .zip(rule.absence().chunks(MOST_NODES))
        .zip(rule.weights().chunks(MOST_NODES))
        .map(|((presence, absence), weights)| Nodes { presence, absence, weights })
}
