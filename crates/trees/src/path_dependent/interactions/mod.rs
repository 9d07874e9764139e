//! Interaction indices of pairs of players.
//!
//! # The derivation
//!
//! `I_ij = ∫ ∂²F/∂t_i∂t_j dμ(t)` (see [`Interactions`]), with the notation of [the module above](super). F is linear in the s of each
//! split alone, and the s of a split is a function of its own player's t. A walk that comes to a split b has passed the splits above and
//! no others, so of two splits one must be above the other to matter together, and of the numbers that make `∂F/∂s_b = P_b Δ_b` only P_b
//! depends on the splits above. With the *gain* `g_b = P_b · ds_b/dt · Δ_b` of a split, whose sum over the splits on j is `∂F/∂t_j`,
//!
//! ```text
//! ∂²F/∂t_i∂t_j = Σ_{b on j} g_b Λ_i(b) + Σ_{b on i} g_b Λ_j(b),     Λ_i(b) = ∂ ln P_b / ∂t_i.
//! ```
//!
//! P_b is a product over the edges on the way to b, and those that belong to i multiply to `h t + c (1 − t)`: the probability that a walk
//! takes them, where h says whether x does and c is the product of their shares. So
//!
//! ```text
//! Λ_i = (1 − c) / (t + c (1 − t))   if x takes all of the path's edges of i,
//! Λ_i = −1 / (1 − t)                if not, whatever c is;
//! ```
//!
//! a constant of the deepest edge of i, or a constant of the node of the rule. So for a split b `Σ_q w_q g_b Λ_i` takes a product per node
//! and player above where x passed, and one sum serves all players whose tests it failed. The second derivative has degree d − 2 on a leaf
//! with d players, and the rule for values is exact for it; the same way through the tree gives the values too.
//!
//! # Why it is stable
//!
//! `P Λ` is ∂P/∂t: P is a product of numbers each of which is computed to rounding, also `κ (1 − s)` where s is near 1, and a quotient
//! of one of them by itself loses nothing. Where t is 1 it is a quotient of zeros: a rule with such a node (the atom of a mixture)
//! is not for this kernel; [`by_size`](super::by_size) multiplies only.

mod kernel;
mod partners;

use apportion_games::{Partition, Rows};
use apportion_values::{Semivalue, Value};

pub(super) use self::kernel::OfPairs;
pub(super) use self::partners::Partners;
use super::block;
use super::by_size::BySize;
use super::lanes::rules;
use super::oracle::PathDependentOracle;
use crate::engine::interactions::{Diagonal, Interactions};
use crate::engine::value;
use crate::error::TreeError;
use crate::exact::Exact;

impl PathDependentOracle<'_> {
    /// The interaction indices of all pairs of features by `value`, for every output and each of the rows; what stands on the diagonal
    /// is what `diagonal` says.
    ///
    /// ```text
    /// I_ij = Σ_{S ⊆ N∖ij} M(s, n − 2 − s) [v(S ∪ ij) − v(S ∪ i) − v(S ∪ j) + v(S)]
    /// ```
    ///
    /// with M the moments of the semivalue: of [`Semivalue::Shapley`] the Shapley interaction index, of [`Semivalue::Banzhaf`] the Banzhaf
    /// interaction index (Grabisch and Roubens, *An axiomatic approach to the concept of interaction among players in cooperative
    /// games*, 1999), and so on for every semivalue. With [`Diagonal::Remainder`] Shapley interactions are those of shap and of XGBoost's
    /// `pred_interactions`.
    ///
    /// As exact as [`values`](Self::values), and as independent of threads and of other rows. With D the most distinct features on a path, a
    /// row takes O(splits × D × ⌈D/2⌉) and n² numbers per output; weights by size take O(leaves × D³). The first call takes
    /// O(splits × D) more, and the oracle keeps 8 bytes for each split and feature above it.
    ///
    /// # Errors
    ///
    /// As [`values`](Self::values); [`TreeError::TooManyPairs`] where the result does not fit into memory.
    ///
    /// # Example
    ///
    /// ```
    /// use apportion_games::Rows;
    /// use apportion_trees::{Diagonal, Ensemble, PathDependentOracle};
    /// use apportion_values::Semivalue;
    ///
    /// let model = Ensemble::from_bytes(include_bytes!("../../../tests/fixtures/tiny.json"))?;
    /// let oracle = PathDependentOracle::new(&model)?;
    /// let pairs = oracle.interactions(Semivalue::Shapley, Diagonal::Value, Rows::new(&[0.0, 9.0], 2))?;
    /// // The second feature gains 0.6 alone and 1 once the first is known.
    /// assert!((pairs.values[1] - 0.4).abs() < 1e-15 && pairs.values[1] == pairs.values[2]);
    /// # Ok::<(), apportion_trees::TreeError>(())
    /// ```
    pub fn interactions(
        &self,
        value: Semivalue,
        diagonal: Diagonal,
        rows: Rows<'_>,
    ) -> Result<Interactions, TreeError> {
        self.interactions_of(&value.into(), diagonal, rows)
    }

    /// The interaction indices of all pairs of groups of `partition` in the [game among the groups](Self::quotient_values): as
    /// [`interactions`](Self::interactions), of rows × groups × groups × outputs.
    ///
    /// # Errors
    ///
    /// As [`quotient_values`](Self::quotient_values) and [`interactions`](Self::interactions).
    pub fn quotient_interactions(
        &self,
        value: Semivalue,
        diagonal: Diagonal,
        partition: &Partition,
        rows: Rows<'_>,
    ) -> Result<Interactions, TreeError> {
        self.interactions_of(&Value::quotient(value, partition.clone()), diagonal, rows)
    }

    /// The interaction indices of features or of groups.
    pub(super) fn pairs_of(
        &self,
        value: &Value,
        diagonal: Diagonal,
        rows: Rows<'_>,
    ) -> Result<Interactions, TreeError> {
        value::check(value, self.features.len())?;
        let (value, players) = match value {
            Value::Semivalue(value) => (value, self.players(None)),
            Value::Quotient(value, groups) => (value, self.players(Some(groups))),
            _ => return Err(value::not_of_pairs(value)),
        };
        let (ensemble, outputs) = (&*self.ensemble, self.ensemble.output_count());
        let (program, count) = (players.program(), players.count);
        let rules = rules(program.trees.iter().map(|tree| tree.distinct), value);
        let rules = self.by_quadrature(rules.filter(|rules| OfPairs::takes(rules)))?;
        let predictions = ensemble.margins(rows)?;
        let mut values = Interactions::zeros(rows.len(), count, outputs)?;
        match rules {
            Some(rules) => {
                let of_groups;
                let partners = if std::ptr::eq(program, &self.program) {
                    self.partners.get_or_init(|| Partners::new(program, count))
                } else {
                    of_groups = Partners::new(program, count);
                    &of_groups
                };
                block::explain(&OfPairs::new(program, partners, rules), ensemble, rows, &mut values);
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
        Interactions::new(values, self.program.base.clone(), predictions)
    }
}
