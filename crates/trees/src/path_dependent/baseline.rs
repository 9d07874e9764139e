//! The marginal game with one baseline, which is a path-dependent game.
//!
//! An absent feature has the value of the baseline b, so a split on it always leads to the child of b: the
//! share κ of that child is 1, and the share of the other child is 0. With these shares instead of the shares
//! of cover, the derivation for the path-dependent game holds unchanged, and `v(S) = f(x_S, b_rest)`.
//!
//! c, the product of the shares of earlier tests, is 1 or 0. If it is 0, the walk followed the branches of x
//! only, so the feature is present and s = 1 for every t except t = 0, for which the formula of s is
//! undefined. Rules with a node at 0 are not supported here.

use apportion_games::Rows;
use apportion_values::{Rule, Semivalue};

use super::block;
use super::kernel::PlayerKernel;
use super::lanes::rules;
use super::program::Program;
use apportion_models::Ensemble;

/// The values of features with one baseline, by quadrature.
#[derive(Debug)]
pub(crate) struct AgainstBaseline {
    program: Program,
}

impl AgainstBaseline {
    /// Prepares the quadrature for a rounded baseline. No leaf may be linear. Takes O(nodes) time and 84
    /// bytes per split.
    pub(crate) fn new(ensemble: &Ensemble, baseline: &[f64]) -> Self {
        let features: Vec<u32> = (0..ensemble.feature_count() as u32).collect();
        let program = Program::with_shares(ensemble, &features, |tree| {
            let nodes = ensemble.nodes_of(tree);
            move |split: usize, child: usize| {
                let node = nodes[split];
                let left = ensemble.goes_left(node, baseline[node.feature()]);
                f64::from(u8::from(left == (child == node.left())))
            }
        });
        Self { program }
    }

    /// Returns the lengths of the rules of `value` for paths of 1 to `max_width` features; `None` if one of
    /// these rules does not exist, or has a node at 0.
    pub(crate) fn rule_lengths(value: &Semivalue, max_width: usize) -> Option<Vec<usize>> {
        let length = |rule: Rule| rule.presence().iter().all(|&presence| presence > 0.0).then(|| rule.len());
        (0..max_width).map(|others| value.rule(others).and_then(length)).collect()
    }

    /// Writes the values of all rows, rows × features × outputs, which are zero on entry. `value` must have
    /// [rules](Self::rule_lengths).
    pub(crate) fn explain(&self, ensemble: &Ensemble, value: &Semivalue, rows: Rows<'_>, values: &mut [f64]) {
        let program = &self.program;
        if let Some(rules) = rules(program.trees.iter().map(|tree| tree.distinct), value) {
            block::explain(&PlayerKernel { program, rules }, ensemble, rows, values);
        }
    }
}
