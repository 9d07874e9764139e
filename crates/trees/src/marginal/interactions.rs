//! Pairwise interactions of the marginal game.
//!
//! The interaction of two players is the expected second difference of the game,
//!
//! ```text
//! I_ij = Σ_{S ⊆ N∖ij} p(|S|) (v(S ∪ ij) − v(S ∪ i) − v(S ∪ j) + v(S)),        p(s) = M(s, n − 2 − s),
//! ```
//!
//! with the moments M of the semivalue's mixing measure: the Shapley and the Banzhaf interaction index (Grabisch and Roubens, *An axiomatic
//! approach to the concept of interaction among players in cooperative games*, 1999), and their like for every semivalue. Kernels are those
//! of values; what a leaf gives to pairs is told in [`shares`](super::shares).

use apportion_games::{Partition, Rows};
use apportion_values::{Semivalue, Value};

use super::cost::{self, Choose};
use super::oracle::InterventionalOracle;
use crate::engine::attributions::Attributions;
use crate::engine::driver::in_tasks;
use crate::engine::interactions::{Diagonal, Interactions};
use crate::engine::value;
use crate::engine::weights::Weights;
use crate::error::TreeError;
use crate::exact::Exact;

impl InterventionalOracle<'_> {
    /// The interaction index of every pair of features, for every output and each of the rows, and on the diagonal what `diagonal`
    /// says: the Shapley interaction index, the Banzhaf interaction index, or that of any other semivalue.
    ///
    /// Accurate to rounding, and the same bytes for any number of threads. Takes two to four times as long as [`values`](Self::values),
    /// and rows × features² × outputs numbers of memory. Pairs of which no path of the trees has both do not interact and take no
    /// time. A kernel that is [asked for](Self::with_settings) is that of the values and of the pairs; the tables of pairs hold `f64` and are
    /// not kept. Linear leaves are walked.
    ///
    /// ```
    /// use apportion_games::Rows;
    /// use apportion_trees::{Diagonal, Ensemble, InterventionalOracle};
    /// use apportion_values::Semivalue;
    ///
    /// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
    /// let oracle = InterventionalOracle::new(&model, Rows::new(&[0.0, 0.0], 2), None)?;
    /// let explained = oracle.interactions(Semivalue::Shapley, Diagonal::Remainder, Rows::new(&[1.0, 9.0], 2))?;
    /// // Alone the features raise the prediction by 4 and 2, together by 4.
    /// assert_eq!(explained.values, [4.0, -1.0, -1.0, 2.0]);
    /// # Ok::<(), apportion_trees::TreeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`values`](Self::values); [`TreeError::TooManyPairs`] where the result does not fit in memory.
    pub fn interactions(
        &self,
        value: Semivalue,
        diagonal: Diagonal,
        rows: Rows<'_>,
    ) -> Result<Interactions, TreeError> {
        self.interactions_of(&value.into(), diagonal, rows)
    }

    /// The interaction index of every pair of groups of `partition` in the quotient game, whose players are the groups; see
    /// [`interactions`](Self::interactions) and [`quotient_values`](Self::quotient_values).
    ///
    /// # Errors
    ///
    /// As [`interactions`](Self::interactions), and as [`quotient_values`](Self::quotient_values) for the partition.
    pub fn quotient_interactions(
        &self,
        value: Semivalue,
        diagonal: Diagonal,
        partition: &Partition,
        rows: Rows<'_>,
    ) -> Result<Interactions, TreeError> {
        self.interactions_of(&Value::quotient(value, partition.clone()), diagonal, rows)
    }

    /// The interactions, each tree's kernel chosen by `choose`, and on the diagonal the values by that of least predicted time.
    pub(super) fn pairs_of(
        &self,
        value: &Value,
        diagonal: Diagonal,
        rows: Rows<'_>,
        choose: Choose,
    ) -> Result<Interactions, TreeError> {
        let request = self.request(value)?;
        if !matches!(request.weights, Weights::Alike(_)) {
            return Err(value::not_of_pairs(value));
        }
        let Attributions { values: alone, base, predictions } = self.answer(&request, rows, cost::choose)?;
        let request = request.of_pairs()?;
        let (players, outputs) = (request.players, self.ensemble.output_count());
        let mut values = Interactions::zeros(rows.len(), players, outputs)?;
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
        Interactions::new(values, base, predictions)
    }
}
