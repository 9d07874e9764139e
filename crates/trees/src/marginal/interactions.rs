//! Pairwise interactions of the marginal game.
//!
//! The interaction of two players is the expected second difference of the game,
//!
//! ```text
//! I_ij = Σ_{S ⊆ N∖ij} p(|S|) (v(S ∪ ij) − v(S ∪ i) − v(S ∪ j) + v(S)),        p(s) = M(s, n − 2 − s),
//! ```
//!
//! with the moments M of the semivalue's mixing measure. This is the Shapley or the Banzhaf interaction index
//! (Grabisch and Roubens, *An axiomatic approach to the concept of interaction among players in cooperative
//! games*, 1999), and the analogous index for every semivalue. The kernels are the same as for values;
//! [`shares`](super::shares) describes what a leaf contributes to pairs.

use apportion_games::Rows;
use apportion_values::{Attributions, Value};

use super::cost::{self, ChooseAlgorithm};
use super::tree_explainer::MarginalTreeExplainer;
use crate::engine::driver::in_tasks;
use crate::engine::finite::finite;
use crate::engine::interactions::{Diagonal, zeros};
use crate::engine::value;
use crate::engine::weights::Weights;
use crate::error::TreeError;

impl MarginalTreeExplainer<'_> {
    /// Computes the interactions, with each tree's kernel chosen by `choose`. The values on the diagonal use
    /// the fastest kernel by predicted time.
    pub(super) fn pairs_of(
        &self,
        value: &Value,
        diagonal: Diagonal,
        rows: Rows<'_>,
        choose: ChooseAlgorithm,
    ) -> Result<Attributions, TreeError> {
        let request = self.request(value)?;
        if !matches!(request.weights, Weights::Alike(_)) {
            return Err(value::not_of_pairs(value));
        }
        let Attributions { values: alone, base, predictions, .. } =
            self.answer(&request, rows, cost::choose)?;
        let request = request.of_pairs()?;
        let (players, outputs) = (request.players, self.ensemble.output_count());
        let mut values = zeros(rows.len(), players, outputs)?;
        let ways = self.ways(&request, rows, choose)?;
        self.add_values(&request, rows, &ways, &mut values);
        let numbers = players * outputs;
        in_tasks(
            Rows::new(&alone, numbers.max(1)),
            rows.len().div_ceil(16),
            &mut values,
            || (),
            |(), matrices, alone| {
                for (matrix, alone) in
                    matrices.chunks_exact_mut(players * numbers).zip(alone.chunks_exact(numbers))
                {
                    for (player, alone) in alone.chunks_exact(outputs).enumerate() {
                        matrix[player * (players + 1) * outputs..][..outputs].copy_from_slice(alone);
                    }
                    diagonal.complete(matrix, players, outputs);
                }
            },
        );
        finite(Attributions::for_pairs(players, values, base, predictions))
    }
}
