//! Passes all rows of a tree explainer through its joint trees.

use apportion_games::Rows;
use apportion_models::tree::JointTrees;

use super::walk::Walk;
use crate::engine::driver::in_tasks;
use crate::engine::settings::{Kernel, Plan};
use crate::engine::weights::Weights;
use crate::error::TreeError;
use crate::marginal::request::Request;
use crate::marginal::shares::{Alone, InGroups, InPairs, LeafKernel, OverHierarchy};
use crate::marginal::tree_explainer::MarginalTreeExplainer;
use crate::marginal::walk::Pair;

/// The time per leaf that is reached, in nanoseconds.
const LEAF: f64 = 250.0;

/// The number of pairs of rows that are sampled to predict the time of the walk.
const SAMPLE: usize = 4;

impl MarginalTreeExplainer<'_> {
    /// Adds the contributions of the joint trees to the values of some rows. The contribution to target t is
    /// added to the number with index `places[t]` of each row.
    pub(in crate::marginal) fn add_joint(
        &self,
        request: &Request<'_>,
        places: &[usize],
        rows: Rows<'_>,
        values: &mut [f64],
    ) {
        let Some(joint) = self.ensemble.joint() else { return };
        match &request.weights {
            Weights::Alike(weights) => {
                self.add_shares::<Alone>(joint, weights, request, places, rows, values)
            }
            Weights::Grouped(weights) => {
                self.add_shares::<InGroups>(joint, weights, request, places, rows, values);
            }
            Weights::OverHierarchy(weights) => {
                self.add_shares::<OverHierarchy>(joint, weights, request, places, rows, values);
            }
            Weights::Pairs(weights) => {
                self.add_shares::<InPairs>(joint, weights, request, places, rows, values);
            }
        }
    }

    fn add_shares<S: LeafKernel>(
        &self,
        joint: &JointTrees,
        weights: &S::Weights,
        request: &Request<'_>,
        places: &[usize],
        rows: Rows<'_>,
        values: &mut [f64],
    ) {
        let (outputs, width) = (self.ensemble.output_count(), self.ensemble.width());
        let background = joint.extended(&self.background);
        let columns = joint.ensemble().feature_count();
        let memory = || (S::new(weights), Walk::new(joint, &request.player_of, request.players), Vec::new());
        in_tasks(rows, 1, values, memory, |(share, walk, rounded), values, row| {
            rounded.clear();
            rounded.extend(row.iter().map(|&value| width.round(value)));
            let explicand = joint.extended(rounded);
            for (background, &weight) in background.chunks_exact(columns).zip(&self.weights) {
                let pair = Pair { explicand: &explicand, background, weight };
                for tree in joint.ensemble().trees() {
                    let nodes = joint.ensemble().nodes_of(tree);
                    let mut phi = |target: usize, value: f64| {
                        values[places[target] * outputs + tree.output] += value;
                    };
                    walk.through(nodes, pair, |products, value| {
                        share.of_products(weights, products, value, &mut phi);
                    });
                }
            }
        });
    }

    /// Returns the plan of the joint trees for `count` rows similar to those in `sample`, or `None` if there
    /// are no joint trees.
    pub(in crate::marginal) fn joint_plan(
        &self,
        request: &Request<'_>,
        sample: Rows<'_>,
        count: usize,
    ) -> Option<Plan> {
        let joint = self.ensemble.joint()?;
        let (features, columns) = (self.ensemble.feature_count(), joint.ensemble().feature_count());
        let mut walk = Walk::new(joint, &request.player_of, request.players);
        let (mut leaves, mut pairs) = (0.0, 0.0);
        for index in 0..SAMPLE.min(sample.len()) {
            let explicand = sample.row(index * sample.len() / SAMPLE.min(sample.len()));
            let rounded: Vec<f64> =
                explicand.iter().map(|&value| self.ensemble.width().round(value)).collect();
            let place = index * self.weights.len() / SAMPLE;
            let both = joint.extended(&[&rounded, &self.background[place * features..][..features]].concat());
            let (explicand, background) = both.split_at(columns);
            for tree in joint.ensemble().trees() {
                let pair = Pair { explicand, background, weight: 1.0 };
                walk.through(joint.ensemble().nodes_of(tree), pair, |_, _| leaves += 1.0);
            }
            pairs += 1.0;
        }
        let reached = leaves / f64::max(pairs, 1.0);
        let seconds = reached * LEAF * 1e-9 * (count * self.weights.len()) as f64;
        Some(Plan { kernels: vec![(Kernel::Walk, joint.ensemble().tree_count())], seconds })
    }

    /// Returns an error if the ensemble has joint trees and the requested kernel is not the walk.
    pub(in crate::marginal) fn check_joint(&self) -> Result<(), TreeError> {
        match self.settings.kernel {
            Some(kernel) if kernel != Kernel::Walk && self.ensemble.joint().is_some() => {
                Err(TreeError::Unsupported {
                    what: format!("kernel {kernel} for trees that split on several features at once"),
                    help: "leave the kernel unset, or use walk",
                })
            }
            _ => Ok(()),
        }
    }
}
