//! Trees that depend on one player alone. A linear model, for example, has one such tree per feature.
//!
//! The contribution of such a tree is a function g of the player's features, so its marginal contribution is
//! the same for all coalitions,
//!
//! ```text
//! v(S ∪ i) − v(S) = g(x) − Σ_b w_b g(b),
//! ```
//!
//! and every value assigns it to the player. The mean over the background is computed once.

use apportion_models::Ensemble;
use apportion_models::tree::Node;

use super::tree_explainer::MarginalTreeExplainer;

/// Returns the only player on which the splits and linear leaves of a tree depend. Returns `None` if there
/// are several such players, or none.
pub(crate) fn lone_player(ensemble: &Ensemble, nodes: &[Node], player_of: &[u32]) -> Option<u32> {
    let mut lone = None;
    for &node in nodes {
        let split = (!node.is_leaf()).then(|| node.feature());
        let leaf = if node.is_leaf() { ensemble.linear_leaf(node) } else { None };
        let terms = leaf.iter().flat_map(|leaf| leaf.terms.iter().map(|&(feature, _)| feature as usize));
        for feature in split.into_iter().chain(terms) {
            let player = player_of[feature];
            if *lone.get_or_insert(player) != player {
                return None;
            }
        }
    }
    lone
}

impl MarginalTreeExplainer<'_> {
    /// Returns, for each tree with a linear leaf, the mean of its value over the background; 0 for all other
    /// trees.
    pub(super) fn means(&self) -> &[f64] {
        self.means.get_or_init(|| {
            let ensemble = &*self.ensemble;
            let mean = |nodes: &[Node]| {
                let mut values = self
                    .background
                    .chunks_exact(ensemble.feature_count())
                    .map(|row| ensemble.tree_value(nodes, row));
                let Some(first) = values.next() else { return 0.0 };
                // Sum differences from the first value: if all values are equal, the mean is exact.
                let others = values.zip(&self.weights[1..]).map(|(value, weight)| weight * (value - first));
                first + others.sum::<f64>()
            };
            let of_tree = |tree: &apportion_models::tree::Tree| match tree.linear {
                true => mean(ensemble.nodes_of(tree)),
                false => 0.0,
            };
            ensemble.trees().iter().map(of_tree).collect()
        })
    }
}
