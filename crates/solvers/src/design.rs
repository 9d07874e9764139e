//! The design of a regression: rows of bits, a weight for each.

use apportion_games::Coalitions;

use crate::error::SolverError;

/// Rows `z_k ∈ {0,1}^n` with weights: m coalitions, either each on its own or in complementary pairs.
///
/// Weights matter up to a common factor only (residual sums of squares keep it); a row of weight zero counts for nothing.
///
/// ```
/// use apportion_games::Coalitions;
/// use apportion_solvers::{Design, SolverError};
///
/// let mut coalitions = Coalitions::new(3);
/// coalitions.push_members([0, 2]);
/// coalitions.push_complement(0);
/// let design = Design::paired(&coalitions, &[0.5])?;
/// assert_eq!(design.coalitions().len(), 2);
/// # Ok::<(), SolverError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Design<'a> {
    pub(crate) coalitions: &'a Coalitions,
    pub(crate) weights: &'a [f64],
    pub(crate) paired: bool,
}

impl<'a> Design<'a> {
    /// Rows on their own, one weight for each: m weights.
    ///
    /// # Errors
    ///
    /// [`SolverError`] for coalitions without players, another number of weights than rows, and weights that are negative or not
    /// finite.
    pub fn new(coalitions: &'a Coalitions, weights: &'a [f64]) -> Result<Self, SolverError> {
        Self { coalitions, weights, paired: false }.checked()
    }

    /// Rows in pairs: rows 2k and 2k + 1 are complements of each other, and both have weight `weights[k]`: m / 2 weights.
    ///
    /// Under the constraint a pair acts as one row, and half of the work is saved.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and for an odd number of rows or a pair that is not complementary. Checking takes `O(m n / 64)`
    /// word operations.
    pub fn paired(coalitions: &'a Coalitions, weights: &'a [f64]) -> Result<Self, SolverError> {
        if !coalitions.len().is_multiple_of(2) {
            return Err(SolverError::OddRows { rows: coalitions.len() });
        }
        let design = Self { coalitions, weights, paired: true }.checked()?;
        let width = coalitions.words_per_row();
        let pairs = coalitions.words().chunks_exact(2 * width).zip(coalitions.sizes().chunks_exact(2));
        for (pair, (words, sizes)) in pairs.enumerate() {
            let (first, second) = words.split_at(width);
            // Without a player in common, and of n players together.
            let common = first.iter().zip(second).fold(0, |common, (a, b)| common | (a & b));
            if common != 0 || (sizes[0] + sizes[1]) as usize != coalitions.players() {
                return Err(SolverError::BrokenPair { pair });
            }
        }
        Ok(design)
    }

    /// The rows.
    pub fn coalitions(&self) -> &'a Coalitions {
        self.coalitions
    }

    /// The weights: one for each row, or for each pair.
    pub fn weights(&self) -> &'a [f64] {
        self.weights
    }

    /// Whether the rows come in complementary pairs.
    pub fn is_paired(&self) -> bool {
        self.paired
    }

    fn checked(self) -> Result<Self, SolverError> {
        if self.coalitions.players() == 0 {
            return Err(SolverError::NoPlayers);
        }
        let rows = self.coalitions.len();
        let (wanted, unit) = if self.paired { (rows / 2, "pair of rows") } else { (rows, "row") };
        if self.weights.len() != wanted {
            return Err(SolverError::WeightCount { given: self.weights.len(), wanted, unit });
        }
        match self.weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            Some(index) => Err(SolverError::Weight { index, value: self.weights[index] }),
            None => Ok(self),
        }
    }
}
