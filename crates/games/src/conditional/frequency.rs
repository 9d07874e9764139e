//! The distribution of discrete features, given by the frequencies of rows.

use std::collections::HashMap;

use crate::background::Background;
use crate::cancellation::Cancellation;
use crate::coalition::CoalitionView;
use crate::conditional::distribution::{ConditionalDistribution, Sampling};
use crate::conditional::rows_of_data::RowsOfData;
use crate::error::GameError;
use crate::model::Rows;
use crate::synthetic::SyntheticRows;

/// Frequencies: given `X_S = x_S`, X is one of the rows of the data that match the explicand on S, with its
/// probability among them.
///
/// ```text
/// v(S) = Σ_r p_r [r_S = x_S] f(x_S, r_{S̄}) / Σ_r p_r [r_S = x_S]
/// ```
///
/// The values are exact for the distribution given by the table; nothing is sampled. This distribution is
/// meant for discrete features whose combinations of values occur often. Equal rows are merged, so that
/// M = [`draws`](ConditionalDistribution::draws) is the number of distinct rows. A missing value is a
/// separate category that matches missing values. One coalition takes `O(M · |S|)` time.
///
/// If no row matches the explicand, the conditional distribution is undefined, and evaluating the game
/// returns [`GameError::NoAgreement`]. A row of the table matches itself on every coalition; for other
/// explicands, set a [`Fallback`].
///
/// ```
/// use apportion_games::{Coalitions, ConditionalGame, FrequencyDistribution, Game, Rows};
///
/// let distribution = FrequencyDistribution::fit(Rows::new(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0], 2))?;
/// let model = |row: &[f64]| row[0] + 10.0 * row[1];
/// let game = ConditionalGame::new(&model, &[0.0, 1.0], &distribution)?;
/// let mut values = [0.0; 4];
/// game.values(&Coalitions::from_masks(2, 0..4), &mut values)?;
/// // v({0}) = 10 · 1/2, v({1}) = 2/3 + 10
/// assert_eq!(values, [8.0, 5.0, 32.0 / 3.0, 10.0]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FrequencyDistribution {
    /// The distinct rows, in order of first appearance.
    rows: Vec<f64>,
    columns: usize,
    probabilities: Vec<f64>,
    fallback: Fallback,
}

impl FrequencyDistribution {
    /// Fits the distribution to `rows`, all with the same probability.
    ///
    /// # Errors
    ///
    /// [`GameError::TooFewRows`] without rows.
    pub fn fit(rows: Rows<'_>) -> Result<Self, GameError> {
        if rows.is_empty() {
            return Err(GameError::TooFewRows {
                distribution: "a frequency distribution",
                actual: 0,
                min: 1,
                hint: "pass the rows of the data",
            });
        }
        Ok(Self::counted(rows, &vec![1.0 / rows.len() as f64; rows.len()]))
    }

    /// Creates the joint distribution in which row r of `table` has its weight as its probability.
    pub fn from_table(table: &Background) -> Self {
        Self::counted(table.as_rows(), table.weights())
    }

    /// Sets the fallback for coalitions on which no row matches the explicand; [`Fallback::Refuse`] by
    /// default.
    pub fn with_fallback(mut self, fallback: Fallback) -> Self {
        self.fallback = fallback;
        self
    }

    /// Merges equal rows and sums their probabilities.
    fn counted(rows: Rows<'_>, probabilities: &[f64]) -> Self {
        let mut seen: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut distribution = Self {
            rows: Vec::new(),
            columns: rows.columns(),
            probabilities: Vec::new(),
            fallback: Fallback::Refuse,
        };
        for (row, probability) in rows.iter().zip(probabilities) {
            Cancellation::check();
            let key = row.iter().map(|&value| category(value)).collect();
            let index = *seen.entry(key).or_insert_with(|| {
                distribution.rows.extend_from_slice(row);
                distribution.probabilities.push(0.0);
                distribution.probabilities.len() - 1
            });
            distribution.probabilities[index] += probability;
        }
        distribution
    }
}

/// The behaviour of a [`FrequencyDistribution`] if no row matches the explicand on a coalition.
///
/// With a fallback, the value of the game jumps between coalitions with and without matching rows. The
/// attributions of features whose values never occur together include this jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Fallback {
    /// Evaluation returns [`GameError::NoAgreement`].
    #[default]
    Refuse,
    /// All rows represent the coalition: absent features have their marginal distribution, as in
    /// [`MarginalGame`](crate::MarginalGame).
    Marginal,
    /// The rows that match on the largest number of features in the coalition represent it, each with its
    /// probability.
    Nearest,
}

/// Returns a bit pattern that is the same for equal numbers, and for all missing values.
fn category(value: f64) -> u64 {
    match value {
        value if value.is_nan() => f64::NAN.to_bits(),
        // Adding zero removes the sign of −0.
        value => (value + 0.0).to_bits(),
    }
}

impl ConditionalDistribution for FrequencyDistribution {
    fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of distinct rows. A coalition takes one prediction per matching row.
    fn draws(&self) -> usize {
        self.probabilities.len()
    }

    fn sampling(&self) -> Sampling {
        Sampling::Exact
    }

    fn takes_missing_values(&self) -> bool {
        true
    }

    /// Returns `true`: values are only compared with each other, so infinite ones are allowed.
    fn takes_infinite_values(&self) -> bool {
        true
    }

    fn condition<'a>(
        &'a self,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
    ) -> Result<Box<dyn SyntheticRows + 'a>, GameError> {
        let data = Rows::new(&self.rows, self.columns);
        let probable = || (0..data.len()).filter(|&index| self.probabilities[index] > 0.0);
        let present: Vec<(usize, u64)> =
            coalition.members().map(|member| (member, category(explicand[member]))).collect();
        let agreements = |index: usize| {
            Cancellation::check();
            let row = data.row(index);
            present.iter().filter(|&&(member, wanted)| category(row[member]) == wanted).count()
        };
        let agreeing_on = |count: usize| probable().filter(|&index| agreements(index) == count).collect();
        let mut chosen: Vec<usize> = agreeing_on(present.len());
        if chosen.is_empty() {
            chosen = match self.fallback {
                Fallback::Refuse => {
                    return Err(GameError::NoAgreement { coalition: coalition.to_coalition() });
                }
                Fallback::Marginal => probable().collect(),
                Fallback::Nearest => agreeing_on(probable().map(agreements).max().unwrap_or(0)),
            };
        }
        let weights = chosen.iter().map(|&index| self.probabilities[index]).collect();
        Ok(Box::new(RowsOfData::new(data, explicand, coalition, chosen, weights)))
    }
}
