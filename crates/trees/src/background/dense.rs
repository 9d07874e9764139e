//! The pattern counts of all trees for which counting [every set](super::lattice) is faster than processing
//! each row.

use super::decisions::{Block, Questions, ROWS, WORDS};
use super::lattice::Lattice;
use crate::engine::histograms::Histograms;
use crate::engine::paths::Paths;
use apportion_games::parallel;
use apportion_models::Ensemble;

/// The number of blocks whose decisions are in memory at a time.
const BLOCKS: usize = 8;

/// The number of rows with each pattern at each leaf of an ensemble, for rows of equal weight.
#[derive(Debug)]
pub(crate) struct Dense<'a> {
    ensemble: &'a Ensemble,
    questions: Questions,
    trees: Vec<Option<PatternCounts>>,
    rows: u64,
}

#[derive(Debug)]
struct PatternCounts {
    lattice: Lattice,
    counts: Vec<u64>,
}

impl<'a> Dense<'a> {
    /// Prepares the counts for the trees whose `paths` are given, if counting pays off.
    pub(crate) fn new<'p>(ensemble: &'a Ensemble, paths: impl Iterator<Item = Option<&'p Paths>>) -> Self {
        let paths: Vec<_> = paths.collect();
        if paths.iter().all(Option::is_none) {
            let trees = paths.iter().map(|_| None).collect();
            return Self { ensemble, questions: Questions::default(), trees, rows: 0 };
        }
        let questions = Questions::new(ensemble);
        let mut first = 0;
        let counted = ensemble.trees().iter().zip(paths).map(|(tree, paths)| {
            let nodes = ensemble.nodes_of(tree);
            first += nodes.len();
            let lattice = Lattice::new(nodes, first - nodes.len(), paths?, &questions)?;
            let counts = vec![0; lattice.counts()];
            Some(PatternCounts { lattice, counts })
        });
        let trees = counted.collect();
        Self { ensemble, questions, trees, rows: 0 }
    }

    /// Adds `rows`, which are row-major and not yet rounded.
    pub(crate) fn add(&mut self, rows: &[f64]) {
        if self.trees.iter().all(Option::is_none) {
            return;
        }
        let features = self.ensemble.feature_count();
        for rows in rows.chunks(BLOCKS * ROWS * features) {
            let questions = &self.questions;
            let blocks: Vec<_> = parallel::map(rows.chunks(ROWS * features), |rows| {
                let mut block = Block::new(features);
                block.fill(self.ensemble, rows);
                let mut answers = vec![[0; WORDS]; questions.len()];
                questions.answer(self.ensemble, &block, &mut answers);
                (answers, block.present())
            });
            parallel::map_with(self.trees.iter_mut().flatten(), Vec::new, |sets, counted| {
                for (answers, present) in &blocks {
                    counted.lattice.add(answers, present, sets, &mut counted.counts);
                }
            });
            self.rows += (rows.len() / features) as u64;
        }
    }

    /// Returns whether the patterns of a tree are counted.
    pub(crate) fn counts(&self, tree: usize) -> bool {
        self.trees[tree].is_some()
    }

    /// Returns the patterns at the leaves of a tree, with each row weighted by `weight`; `None` if the
    /// patterns of the tree are not [counted](Self::counts). `seen` is working memory, reused between calls.
    pub(crate) fn histograms(
        &self,
        tree: usize,
        paths: &Paths,
        weight: f64,
        seen: &mut Vec<(u64, f64)>,
    ) -> Option<Histograms> {
        let PatternCounts { lattice, counts } = self.trees[tree].as_ref()?;
        let nodes = self.ensemble.nodes_of(&self.ensemble.trees()[tree]);
        let mut ranges = vec![(0, 0); nodes.len()];
        seen.clear();
        lattice.patterns(nodes, paths, self.rows, counts, |leaf, rows| {
            let start = seen.len();
            // Write every pattern, and advance only past patterns that occur: this needs no branch.
            seen.resize(start + rows.len(), (0, 0.0));
            let mut end = start;
            for (pattern, &rows) in rows.iter().enumerate() {
                seen[end] = (pattern as u64, rows as f64 * weight);
                end += usize::from(rows > 0);
            }
            seen.truncate(end);
            ranges[leaf] = (start, end);
        });
        Some(Histograms::from_parts(ranges, seen.to_vec()))
    }
}
