//! Pairwise interactions: the joint effect of two players beyond their separate effects.
//!
//! # Notation
//!
//! For a coalition S without the players i and j, `Δ_ij v(S) = v(S ∪ ij) − v(S ∪ i) − v(S ∪ j) + v(S)`. A
//! semivalue with mixing measure μ and moments M(a, b) has the *interaction index*
//!
//! ```text
//! I_ij = Σ_{S ⊆ N∖ij} M(s, n − 2 − s) Δ_ij v(S) = ∫ ∂²F/∂t_i∂t_j dμ(t)
//! ```
//!
//! where F is the multilinear extension of v: the probabilistic interaction index of Fujimoto, Kojadinovic
//! and Marichal, *Axiomatic characterizations of probabilistic and cardinal-probabilistic interaction
//! indices*, 2006. It uses the weights of the semivalue in a game of n − 1 players, because i and j act as
//! one player with respect to all other players. For the Shapley and the Banzhaf value, it is the Shapley and
//! the Banzhaf interaction index, respectively (Grabisch and Roubens, *An axiomatic approach to the concept
//! of interaction among players in cooperative games*, 1999). Weights by coalition size for n players become
//! weights for n − 1 players by `M(a, b) = M(a + 1, b) + M(a, b + 1)`, so every semivalue has an interaction
//! index.

use apportion_games::{memory, parallel};

use crate::error::TreeError;

/// The convention for interaction matrices: the number on the diagonal, and the share of a pair's index in
/// each of the two entries of the pair. With φ the semivalue and I its interaction index:
///
/// | | diagonal | off the diagonal | sums to |
/// |---|---|---|---|
/// | `Value` | φ_i | I_ij | |
/// | `Remainder` | φ_i − ½ Σ_{j≠i} I_ij | ½ I_ij | each row to φ_i |
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Diagonal {
    /// The semivalue of each player on the diagonal, and the whole index of each pair off the diagonal.
    #[default]
    Value,
    /// The semivalue minus half of the index of each pair with the player: the main effect in the convention
    /// of shap and of XGBoost's `pred_interactions` (Lundberg et al., *From local explanations to global
    /// understanding with explainable AI for trees*, 2020). Each row sums to the value, and the matrix of an
    /// efficient value sums to the prediction minus the base value.
    Remainder,
}

/// Allocates the matrices of some rows, filled with zeros.
///
/// # Errors
///
/// [`TreeError::TooManyPairs`] if they do not fit into memory.
pub(crate) fn zeros(rows: usize, players: usize, outputs: usize) -> Result<Vec<f64>, TreeError> {
    // The table of pair numbers takes four bytes per pair of players.
    let bytes = memory::product([rows, players, players, outputs, 8])
        .saturating_add(memory::product([players, players, 4]));
    let what = || format!("interactions of {players} players for {outputs} outputs of {rows} rows");
    memory::check(bytes, what, "explain fewer rows at a time, or put the features into groups")
        .map_err(|memory| TreeError::TooManyPairs { rows, players, outputs, memory })?;
    let count = rows * players * players * outputs;
    Ok(vec![0.0; count])
}

impl Diagonal {
    /// Completes the matrices of all rows [from their upper halves](Self::complete).
    pub(crate) fn complete_all(self, matrices: &mut [f64], players: usize, outputs: usize) {
        let size = players * players * outputs;
        if size > 0 {
            parallel::map(matrices.chunks_mut(size), |matrix| self.complete(matrix, players, outputs));
        }
    }

    /// Completes the matrix of one row, players × players × outputs, from its upper half, which contains φ_i
    /// on the diagonal and I_ij to the right of the diagonal.
    pub(crate) fn complete(self, matrix: &mut [f64], players: usize, outputs: usize) {
        debug_assert_eq!(matrix.len(), players * players * outputs);
        let at = |i: usize, j: usize| (i * players + j) * outputs;
        for i in 0..players {
            for j in i + 1..players {
                for output in 0..outputs {
                    let (upper, lower) = (at(i, j) + output, at(j, i) + output);
                    if self == Self::Remainder {
                        matrix[upper] *= 0.5;
                        // Subtract pairs in the order of the other player, for both i and j, to keep the sums
                        // deterministic.
                        matrix[at(i, i) + output] -= matrix[upper];
                        matrix[at(j, j) + output] -= matrix[upper];
                    }
                    matrix[lower] = matrix[upper];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_matrix() {
        // Three players, two outputs; the lower half is ignored.
        let upper =
            [1.0, 10.0, 0.5, 4.0, -2.0, 0.0, 9.0, 9.0, 2.0, 20.0, 1.0, 8.0, 9.0, 9.0, 9.0, 9.0, 3.0, 30.0];
        let mut matrix = upper;
        Diagonal::Value.complete(&mut matrix, 3, 2);
        assert_eq!(
            matrix,
            [1.0, 10.0, 0.5, 4.0, -2.0, 0.0, 0.5, 4.0, 2.0, 20.0, 1.0, 8.0, -2.0, 0.0, 1.0, 8.0, 3.0, 30.0]
        );
        let mut matrix = upper;
        Diagonal::Remainder.complete(&mut matrix, 3, 2);
        assert_eq!(
            matrix,
            [
                1.75, 8.0, 0.25, 2.0, -1.0, 0.0, 0.25, 2.0, 1.25, 14.0, 0.5, 4.0, -1.0, 0.0, 0.5, 4.0, 3.5,
                26.0
            ]
        );
        for (player, row) in matrix.chunks(6).enumerate() {
            for output in 0..2 {
                let sum: f64 = row.iter().skip(output).step_by(2).sum();
                assert_eq!(sum, upper[(player * 3 + player) * 2 + output]);
            }
        }
        Diagonal::Remainder.complete(&mut [], 0, 1);
    }

    #[test]
    fn more_pairs_than_memory_are_refused() {
        for (rows, players) in [(usize::MAX, 2), (1, 1 << 33), (1 << 20, 1 << 20)] {
            let error = zeros(rows, players, 1).unwrap_err();
            assert!(matches!(error, TreeError::TooManyPairs { outputs: 1, .. }), "{error}");
            let says = error.to_string();
            assert!(
                says.starts_with(&format!("interactions of {players} players for 1 outputs of {rows} rows")),
                "{says}"
            );
            assert!(says.contains(" of memory, but only "), "{says}");
        }
        assert_eq!(zeros(2, 3, 2).unwrap(), [0.0; 36]);
    }
}
