//! The design of a regression: rows of bits, their weights, and how columns are derived from the bits.

use apportion_games::Coalitions;

use crate::error::SolverError;

/// Rows `z_k ∈ {0,1}^n` with weights: m coalitions, either unpaired or in complementary pairs.
///
/// Multiplying all weights by a common factor does not affect the coefficients, but scales residual sums of
/// squares. A row of weight zero is ignored.
///
/// The columns are the bits themselves, unless [`centred_at`](Self::centred_at) subtracts a centre or
/// [`with_intercept`](Self::with_intercept) adds a constant column.
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
    pub(crate) pairs: Pairs,
    pub(crate) centre: f64,
    pub(crate) intercept: bool,
}

/// The pairing of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pairs {
    /// All rows are separate.
    None,
    /// Rows 2k and 2k + 1 are complements of each other and share a weight.
    Alike,
    /// Rows 2k and 2k + 1 are complements of each other and have separate weights.
    Apart,
}

impl<'a> Design<'a> {
    /// Creates a design of unpaired rows, with one weight for each of the m rows.
    ///
    /// # Errors
    ///
    /// [`SolverError`] if the coalitions have no players, if the number of weights differs from the number of
    /// rows, or if a weight is negative or not finite.
    pub fn new(coalitions: &'a Coalitions, weights: &'a [f64]) -> Result<Self, SolverError> {
        Self { coalitions, weights, pairs: Pairs::None, centre: 0.0, intercept: false }.checked()
    }

    /// Creates a design of paired rows: rows 2k and 2k + 1 are complements of each other and share the weight
    /// `weights[k]`, so there are m / 2 weights.
    ///
    /// If there is a constraint on the sum, an intercept, or columns centred at ½, each pair acts as one row,
    /// which halves the work.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new); also for an odd number of rows, or for a pair that is not complementary.
    /// Checking takes `O(m n / 64)` word operations.
    pub fn paired(coalitions: &'a Coalitions, weights: &'a [f64]) -> Result<Self, SolverError> {
        Self { coalitions, weights, pairs: Pairs::Alike, centre: 0.0, intercept: false }.checked()
    }

    /// Creates a design of paired rows like [`paired`](Self::paired), but with one weight for each of the m
    /// rows. The two members of a pair are separate rows that were drawn together; the
    /// [certificate](crate::LeastSquares::certificate) takes this into account.
    ///
    /// # Errors
    ///
    /// Same as [`paired`](Self::paired).
    pub fn paired_apart(coalitions: &'a Coalitions, weights: &'a [f64]) -> Result<Self, SolverError> {
        Self { coalitions, weights, pairs: Pairs::Apart, centre: 0.0, intercept: false }.checked()
    }

    /// Returns the design with columns `z − p 1` instead of z. For Banzhaf values, p is ½ (Liu et al.,
    /// *Kernel Banzhaf*, Algorithm 1); for weighted Banzhaf values, it is the probability of presence. If the
    /// design has an intercept, only the intercept changes. Cannot be combined with a constraint on the sum.
    ///
    /// # Errors
    ///
    /// [`SolverError::Centre`] if `p` is not finite.
    pub fn centred_at(self, p: f64) -> Result<Self, SolverError> {
        if p.is_finite() { Ok(Self { centre: p, ..self }) } else { Err(SolverError::Centre { value: p }) }
    }

    /// Returns the design with an additional constant column. The column does not count in the
    /// [rank](crate::LeastSquares::rank), and its coefficient is not part of the minimized norm. Cannot be
    /// combined with a constraint on the sum.
    pub fn with_intercept(self) -> Self {
        Self { intercept: true, ..self }
    }

    /// Returns the rows of the design.
    pub fn coalitions(&self) -> &'a Coalitions {
        self.coalitions
    }

    /// Returns the weights: one for each row, or for each pair of rows that share a weight.
    pub fn weights(&self) -> &'a [f64] {
        self.weights
    }

    /// Returns whether the rows come in complementary pairs.
    pub fn is_paired(&self) -> bool {
        self.pairs != Pairs::None
    }

    /// Returns whether there is a constant column.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// Returns the weight of row `row`.
    pub(crate) fn row_weight(&self, row: usize) -> f64 {
        self.weights[if self.pairs == Pairs::Alike { row / 2 } else { row }]
    }

    fn checked(self) -> Result<Self, SolverError> {
        let rows = self.coalitions.len();
        if self.is_paired() && !rows.is_multiple_of(2) {
            return Err(SolverError::OddRows { rows });
        }
        if self.coalitions.players() == 0 {
            return Err(SolverError::NoPlayers);
        }
        let (wanted, unit) = match self.pairs {
            Pairs::Alike => (rows / 2, "pair of rows"),
            Pairs::None | Pairs::Apart => (rows, "row"),
        };
        if self.weights.len() != wanted {
            return Err(SolverError::WeightCount { actual: self.weights.len(), expected: wanted, unit });
        }
        if let Some(index) = self.weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            return Err(SolverError::Weight { index, value: self.weights[index] });
        }
        match self.is_paired().then(|| self.broken_pair()).flatten() {
            Some(pair) => Err(SolverError::BrokenPair { pair }),
            None => Ok(self),
        }
    }

    /// Returns the index of the first pair whose rows are not complements of each other.
    fn broken_pair(&self) -> Option<usize> {
        let width = self.coalitions.words_per_row();
        let mut pairs =
            self.coalitions.words().chunks_exact(2 * width).zip(self.coalitions.sizes().chunks_exact(2));
        pairs.position(|(words, sizes)| {
            let (first, second) = words.split_at(width);
            // Complements have no player in common and n players in total.
            let common = first.iter().zip(second).fold(0, |common, (a, b)| common | (a & b));
            common != 0 || (sizes[0] + sizes[1]) as usize != self.coalitions.players()
        })
    }
}
