//! Exact values of the path-dependent game of a tree ensemble, without sampling.
//!
//! # The game
//!
//! `x` is the explicand; a coalition knows its features and no others. v(S) is what the trees expect: at a split on a known feature the
//! branch of x, at any other both branches, weighted by the *shares* κ of the training cover that they have of the split's
//! (see [`PathDependentGame`](crate::PathDependentGame)).
//!
//! # The derivation
//!
//! A semivalue is an average over t of the derivative of the multilinear extension: let every player be present with a probability of
//! its own, all independent, and F be the expectation of v. Then `φ_i = ∫ ∂F/∂t_i dμ(t)`, taken where all probabilities are t (Owen, *Multilinear
//! extensions of games*, 1972; for semivalues Dubey, Neyman and Weber, 1981).
//!
//! On a tree, F is an expectation over random walks from the root: every split tosses whether its feature is present. The first split on
//! a feature finds it present with probability t. At a later split on it, the walk that came here is evidence: it came by x's
//! branches only if present, and with probability c, the product of the shares so far, if absent. By Bayes's rule the feature is now
//! present with probability
//!
//! ```text
//! s = t / (t + c (1 − t))    if x passes all earlier tests of the feature (c = 1 and s = t, where there are none),
//! s = 0                      if x fails one: the walk would not be here.
//! ```
//!
//! So each split mixes what is expected below its children, by itself, and a leaf expects its value v:
//!
//! ```text
//! T(leaf) = v,     A = κ_l T_l + κ_r T_r,     Δ = T(child of x) − A,     T(split) = A + s Δ.
//! ```
//!
//! With P the probability that the walk reaches a split, F depends on the split's s by `∂F/∂s = P Δ`, and by the chain rule
//!
//! ```text
//! P(root) = 1,     P(child) = P · ((1 − s) κ_child + s [x goes to the child]),
//! φ_i(t) = Σ_{splits on i} P · ds/dt · Δ,     ds/dt = c / (t + c (1 − t))²,  or 0 where s is 0.
//! ```
//!
//! P is computed on the way down, T and φ on the way up: each split is visited twice, however deep the tree and however many features it
//! has. On a leaf with d distinct features on its path, φ_i(t) is a polynomial of degree d − 1, so a Gauss rule of ⌈d/2⌉ nodes integrates it
//! exactly; (weighted) Banzhaf values have one node.
//!
//! The gradient of the multilinear extension and its quadrature are those of Li, Yu and Low, *TreeGrad*, 2026, and of Wettenstein, Mitchell
//! and Yu, *Quadrature-TreeSHAP*, 2026. The latter divides the product of a leaf by the factor of a feature to take the feature out; with
//! conditional probabilities there is nothing to divide.
//!
//! # Why it is stable
//!
//! P, s and κ are probabilities, and T lies between the values of leaves. Nothing is divided out of a product, so no product need be
//! invertible: neither small shares nor long paths do harm. Nothing is subtracted but what is expected with and without the feature.
//!
//! # What is where
//!
//! | | |
//! |---|---|
//! | [`program`] | trees, flattened: shares, c, the order of the steps |
//! | [`kernel`] | the recursion, for a block of rows and some nodes of the rule |
//! | [`block`] | rows to columns and back |
//! | [`by_size`] | weights by size, which have no quadrature: another kernel, slower |

mod block;
mod by_size;
mod kernel;
mod program;
#[cfg(test)]
mod tests;

use apportion_games::Rows;
use apportion_values::{Rule, Semivalue};
use rayon::prelude::*;

use self::block::Blocks;
use self::by_size::BySize;
use self::program::Program;
use crate::ensemble::Ensemble;
use crate::error::TreeError;
use crate::oracle::Attributions;

/// Rows of a block, where there are many: as long as possible while the stack of a tree of usual depth stays in the first cache.
const WIDE: usize = 64;
/// Rows of a block, where there are few, or the stack is deep.
const NARROW: usize = 8;
/// Trees with more levels have a deep stack.
const DEEP: usize = 32;
/// Most rows that a thread takes through the trees at a time, so that a tree is read once for several blocks.
const TASK: usize = 4 * WIDE;

/// Exact values of the path-dependent game of an ensemble: Shapley, Banzhaf, and every other semivalue.
///
/// The game is that of [`PathDependentGame`](crate::PathDependentGame): v(S) is what the trees expect of an explicand of which the features
/// in S are known, by the training cover of their branches. No background is needed. Shapley values are those of TreeSHAP
/// (Lundberg, Erion and Lee, *Consistent individualized feature attribution for tree ensembles*, 2018), which XGBoost calls
/// `pred_contribs`; here they are computed in `f64`, with an error that does not grow with the depth of the trees.
///
/// With D the most distinct features on a path of a tree, Shapley values take O(splits × ⌈D/2⌉) per row, (weighted) Banzhaf values
/// O(splits), weights by size O(leaves × D²). The oracle takes 80 bytes per split.
///
/// ```
/// use apportion_games::Rows;
/// use apportion_trees::{Ensemble, PathDependentOracle};
/// use apportion_values::Semivalue;
///
/// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
/// let oracle = PathDependentOracle::new(&model)?;
/// let explained = oracle.values(Semivalue::Shapley, Rows::new(&[0.0, 9.0], 2))?;
/// // 6 of 10 training rows were low in the first feature, and half of these in the second: 0.5 + 0.6 · 2 + 0.4 · 5 is expected.
/// assert!((explained.base[0] - 3.7).abs() < 1e-15 && explained.predictions[0] == 3.5);
/// // The first feature costs 1.2, or 0.8 if the second is known; the second gains 0.6, or 1 if the first is known.
/// assert!((explained.values[0] + 1.0).abs() < 1e-15 && (explained.values[1] - 0.8).abs() < 1e-15);
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
#[derive(Debug)]
pub struct PathDependentOracle<'a> {
    ensemble: &'a Ensemble,
    program: Program,
}

impl<'a> PathDependentOracle<'a> {
    /// The oracle of `ensemble`. Takes O(nodes) time, some 70 ns per split.
    ///
    /// # Errors
    ///
    /// [`TreeError::Cover`] where the covers of the model do not define the game.
    pub fn new(ensemble: &'a Ensemble) -> Result<Self, TreeError> {
        ensemble.check_covers()?;
        Ok(Self { ensemble, program: Program::new(ensemble) })
    }

    /// v(∅) of every explicand, per output: what the trees expect of a row of which nothing is known.
    pub fn base(&self) -> &[f64] {
        &self.program.base
    }

    /// The `value` of every feature, for every output and each of the rows.
    ///
    /// Accurate to rounding: for efficient values, values and base add up to the prediction within 1e-12 of the largest, at any depth. A
    /// row's values are the same bits whatever the number of threads, the rows beside it and the instruction set of the machine.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`](apportion_games::GameError::Width) where rows have another number of columns than the model has features,
    /// [`GameError::InfiniteInput`](apportion_games::GameError::InfiniteInput) where a value is infinite,
    /// [`TreeError::Value`] for weights by size of another number of players than the model has features.
    pub fn values(&self, value: Semivalue, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        let ensemble = self.ensemble;
        value.check_players(ensemble.feature_count())?;
        let predictions = ensemble.margins(rows)?;
        let mut values = vec![0.0; predictions.len() * ensemble.feature_count()];
        match self.rules(&value) {
            Some(rules) => self.integrate(&rules, rows, &mut values),
            None => self.sum_by_size(&value, rows, &mut values),
        }
        Ok(Attributions { values, base: self.program.base.clone(), predictions })
    }

    /// A rule for each number of distinct features that a tree has on a path; `None` where `value` has none.
    fn rules(&self, value: &Semivalue) -> Option<Vec<Option<Rule>>> {
        let most = self.program.trees.iter().map(|tree| tree.distinct).max().unwrap_or(0);
        let mut rules = vec![None; most + 1];
        value.rule(0)?;
        for tree in &self.program.trees {
            if rules[tree.distinct].is_none() {
                rules[tree.distinct] = value.rule(tree.distinct - 1);
            }
        }
        Some(rules)
    }

    /// Values by quadrature.
    fn integrate(&self, rules: &[Option<Rule>], rows: Rows<'_>, values: &mut [f64]) {
        let (features, outputs) = (self.ensemble.feature_count(), self.ensemble.output_count());
        if self.program.trees.is_empty() {
            return;
        }
        let explain = |scratch: &mut Scratch, (values, rows): (&mut [f64], &[f64])| {
            let count = rows.len() / features;
            let wide = count - narrow_rows(count, self.program.levels());
            let (wide_rows, narrow_rows) = rows.split_at(wide * features);
            let (wide_values, narrow_values) = values.split_at_mut(wide * features * outputs);
            if !wide_rows.is_empty() {
                let blocks = scratch.wide.get_or_insert_with(|| Blocks::new(&self.program));
                blocks.explain(self.ensemble, &self.program, rules, wide_rows, wide_values);
            }
            if !narrow_rows.is_empty() {
                let blocks = scratch.narrow.get_or_insert_with(|| Blocks::new(&self.program));
                blocks.explain(self.ensemble, &self.program, rules, narrow_rows, narrow_values);
            }
        };
        // Tasks of whole blocks, for several threads.
        let task = rows.len().div_ceil(8).next_multiple_of(WIDE).clamp(WIDE, TASK);
        if rows.len() <= task {
            // Not worth to wake another thread.
            explain(&mut Scratch::default(), (values, rows.values()));
        } else {
            values
                .par_chunks_mut(task * features * outputs)
                .zip(rows.values().par_chunks(task * features))
                .for_each_init(Scratch::default, explain);
        }
    }

    /// Values of weights by size.
    fn sum_by_size(&self, value: &Semivalue, rows: Rows<'_>, values: &mut [f64]) {
        let (features, outputs) = (self.ensemble.feature_count(), self.ensemble.output_count());
        values.par_chunks_mut(features * outputs).zip(rows.values().par_chunks(features)).for_each_init(
            || (BySize::new(value, features), Vec::with_capacity(features)),
            |(kernel, rounded), (values, row)| {
                rounded.clear();
                rounded.extend(row.iter().map(|&value| self.ensemble.width.round(value)));
                for tree in self.ensemble.trees() {
                    kernel.add(self.ensemble, tree, rounded, |feature, share| {
                        values[feature * outputs + tree.output] += share;
                    });
                }
            },
        );
    }
}

/// How many of `rows` are taken in narrow blocks, after the others in wide ones.
fn narrow_rows(rows: usize, levels: usize) -> usize {
    match rows % WIDE {
        _ if levels > DEEP => rows,
        // A wide block costs as much as some three narrow ones.
        rest if rest > 3 * NARROW => 0,
        rest => rest,
    }
}

/// The memory of a thread, made when first wanted.
#[derive(Default)]
struct Scratch {
    wide: Option<Blocks<WIDE>>,
    narrow: Option<Blocks<NARROW>>,
}
