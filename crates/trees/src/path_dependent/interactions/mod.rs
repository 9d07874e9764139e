//! Interaction indices of pairs of players.
//!
//! # Derivation
//!
//! `I_ij = ∫ ∂²F/∂t_i∂t_j dμ(t)` (see [`interactions`](crate::engine::interactions)), with the notation of
//! [the module above](super). F is linear in the s of each split, and the s of a split only depends on the t
//! of its own player. A walk that reaches a split b has passed exactly the splits above it. Therefore two
//! splits interact only if one is above the other. Among the factors of `∂F/∂s_b = P_b Δ_b`, only P_b depends
//! on the splits above. With the *gain* `g_b = P_b · ds_b/dt · Δ_b` of a split, whose sum over the splits on
//! j is `∂F/∂t_j`,
//!
//! ```text
//! ∂²F/∂t_i∂t_j = Σ_{b on j} g_b Λ_i(b) + Σ_{b on i} g_b Λ_j(b),     Λ_i(b) = ∂ ln P_b / ∂t_i.
//! ```
//!
//! P_b is a product over the edges on the path to b. The product over the edges of i is `h t + c (1 − t)`,
//! the probability that a walk takes these edges. Here, h is 1 if x takes them, and 0 otherwise, and c is the
//! product of their shares. Therefore
//!
//! ```text
//! Λ_i = (1 − c) / (t + c (1 − t))   if x takes all of the path's edges of i,
//! Λ_i = −1 / (1 − t)                otherwise.
//! ```
//!
//! The first is a constant of the deepest edge of i, the second a constant of the node of the rule.
//! Therefore, for a split b, `Σ_q w_q g_b Λ_i` takes one product per node for each player tested above b
//! whose tests x passed, and a single sum serves all players with a test that x failed. The second derivative
//! has degree d − 2 on a leaf with d players, so the rule for values is exact for it; the same traversal also
//! yields the values.
//!
//! # Numerical stability
//!
//! `P Λ` is ∂P/∂t. P is a product of numbers, each of which is exact up to rounding, including `κ (1 − s)`
//! with s near 1. Dividing P by one of its factors does not lose accuracy. If t is 1, the quotient is 0 / 0.
//! This kernel does not support rules with such a node (the atom of a mixture); [`by_size`](super::by_size),
//! which does not divide, supports them.

mod kernel;
pub(super) mod partners;

use apportion_games::Rows;
use apportion_values::{Attributions, Value};

pub(super) use self::kernel::PairKernel;
use self::partners::Partners;
use super::block;
use super::by_size::BySize;
use super::lanes::rules;
use super::tree_explainer::PathDependentTreeExplainer;
use crate::engine::finite::finite;
use crate::engine::interactions::{Diagonal, zeros};
use crate::engine::value;
use crate::error::TreeError;

impl PathDependentTreeExplainer<'_> {
    /// Computes the interaction indices of features or of groups.
    pub(super) fn pairs_of(
        &self,
        value: &Value,
        diagonal: Diagonal,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        value::check(value, self.features.len())?;
        let (value, players) = match value {
            Value::Semivalue(value) => (value, self.players(None)),
            Value::Quotient(value, groups) => (value, self.players(Some(groups))),
            _ => return Err(value::not_of_pairs(value)),
        };
        let (ensemble, outputs) = (&*self.ensemble, self.ensemble.output_count());
        let (program, count) = (players.program(), players.count);
        let rules = rules(program.trees.iter().map(|tree| tree.distinct), value);
        let rules = self.by_quadrature(rules.filter(|rules| PairKernel::takes(rules)))?;
        let predictions = ensemble.margins(rows)?;
        let mut values = zeros(rows.len(), count, outputs)?;
        match rules {
            Some(rules) => {
                let of_groups;
                let partners = if std::ptr::eq(program, &self.program) {
                    self.partners.get_or_init(|| Partners::new(program, count))
                } else {
                    of_groups = Partners::new(program, count);
                    &of_groups
                };
                block::explain(&PairKernel::new(program, partners, rules), ensemble, rows, &mut values);
            }
            None => self.row_by_row(
                rows,
                &mut values,
                || BySize::new(value, &players.of),
                |kernel, tree, row, add| {
                    kernel.add(ensemble, tree, row, |player, share| add(player * (count + 1), share));
                    kernel.add_pairs(ensemble, tree, row, |[i, j], share| add(i * count + j, share));
                },
            ),
        }
        diagonal.complete_all(&mut values, count, outputs);
        finite(Attributions::for_pairs(count, values, self.program.base.clone(), predictions))
    }
}
