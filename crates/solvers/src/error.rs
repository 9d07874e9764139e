//! Errors of regressions, certificates and projections.

use apportion_games::phrases::plural;

/// Error returned when a regression, a certificate or a projection cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolverError {
    /// A matrix does not fit in memory.
    #[error(transparent)]
    Memory(#[from] apportion_games::TooMuchMemory),
    /// A design without players has no coefficients.
    #[error("the coalitions have no players; a regression requires at least one")]
    NoPlayers,
    /// A regression without a constraint has no rows.
    #[error("the regression has no rows (coalitions); expected at least one")]
    NoRows,
    /// [`DualRidge`](crate::DualRidge) does not have more rows than columns.
    #[error("DualRidge requires more rows than columns (rows: {rows}, columns: {columns}); pass more rows")]
    FewRows {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
    /// The number of weights differs from the number of rows (or pairs, for a paired design).
    #[error("expected {expected} weight{} (one per {unit}), got {actual}", plural(*expected))]
    WeightCount {
        /// The actual number of weights.
        actual: usize,
        /// The expected number of weights.
        expected: usize,
        /// What each weight belongs to: "row" or "pair of rows".
        unit: &'static str,
    },
    /// A weight is negative or not finite.
    #[error("invalid weight {value} at index {index}: must be finite and non-negative")]
    Weight {
        /// The index of the weight.
        index: usize,
        /// The invalid weight.
        value: f64,
    },
    /// A paired design has an odd number of rows.
    #[error("a paired design requires an even number of rows, got {rows}")]
    OddRows {
        /// The number of rows.
        rows: usize,
    },
    /// Two rows of a paired design are not complements of each other.
    #[error("rows {} and {} (pair {pair}) must be complements of each other", 2 * pair, 2 * pair + 1)]
    BrokenPair {
        /// The index of the pair: rows `2·pair` and `2·pair + 1`.
        pair: usize,
    },
    /// The centre is not finite.
    #[error("invalid centre {value} of the columns: must be finite")]
    Centre {
        /// The invalid centre.
        value: f64,
    },
    /// A constraint on the sum is combined with centred columns or an intercept.
    #[error(
        "a constraint on the sum cannot be combined with a centre or an intercept; remove the constraint, or \
         the centre and the intercept"
    )]
    ConstrainedColumns,
    /// There are no outputs to fit.
    #[error("the targets have no outputs; expected at least one")]
    NoOutputs,
    /// The number of targets differs from rows × outputs.
    #[error("expected {} targets (rows × outputs: {rows} × {outputs}), got {actual}", rows * outputs)]
    TargetCount {
        /// The actual number of targets.
        actual: usize,
        /// The number of rows of the design.
        rows: usize,
        /// The number of outputs per row.
        outputs: usize,
    },
    /// A target is not finite.
    #[error("invalid target {value} of row {row}, output {output}: must be finite")]
    Target {
        /// The index of the row in the design.
        row: usize,
        /// The index of the output.
        output: usize,
        /// The invalid target.
        value: f64,
    },
    /// The number of sums in the constraint differs from the number of outputs.
    #[error("the constraint has {actual} sum{}, expected {outputs} (one per output)", plural(*actual))]
    SumCount {
        /// The actual number of sums.
        actual: usize,
        /// The number of outputs in the targets.
        outputs: usize,
    },
    /// A sum in the constraint is not finite.
    #[error("invalid sum {value} of output {output} in the constraint: must be finite")]
    Sum {
        /// The index of the output.
        output: usize,
        /// The invalid sum.
        value: f64,
    },
    /// The ridge penalty is negative or not finite.
    #[error("invalid ridge penalty {value}: must be finite and non-negative")]
    Penalty {
        /// The invalid penalty.
        value: f64,
    },
    /// The solution overflows, because the inputs are too large.
    #[error("the solution of output {output} is not finite because of large targets; scale the targets down")]
    Overflow {
        /// The index of the output.
        output: usize,
    },
    /// The eigen-decomposition of the Gram matrix did not converge.
    #[error("the eigen-decomposition of the {players} × {players} Gram matrix did not converge")]
    NoConvergence {
        /// The order of the matrix, i.e. the number of players.
        players: usize,
    },
    /// The number of free fractions, or of draws, differs from the number of rows (or pairs, for a paired
    /// design).
    #[error("expected one free fraction or number of draws per row or pair ({expected}), got {actual}")]
    FreeCount {
        /// The actual number of fractions.
        actual: usize,
        /// The expected number of fractions.
        expected: usize,
    },
    /// A free fraction is outside \[0, 1\].
    #[error("invalid free fraction {value} at index {index}: 1 − drawn/available must be between 0 and 1")]
    Free {
        /// The index of the fraction.
        index: usize,
        /// The invalid fraction.
        value: f64,
    },
    /// The range of players whose mean is subtracted is empty or out of range.
    #[error(
        "invalid range of players {start}..{end} for the mean; expected a non-empty range within 0..{players}"
    )]
    Among {
        /// The first player in the range.
        start: usize,
        /// The end of the range: the last player plus 1.
        end: usize,
        /// The number of players in the regression.
        players: usize,
    },
    /// The coefficients are not determined without one of the rows, so the error of that row cannot be
    /// estimated.
    #[error(
        "row {row} of the regression has hat value {hat_value}: without this row the coefficients are not \
         determined, so no certificate is possible; draw more coalitions"
    )]
    Saturated {
        /// The index of the row (or pair, for a paired design).
        row: usize,
        /// The hat value of the row, 1 up to rounding.
        hat_value: f64,
    },
    /// No sets were passed to a projection.
    #[error("there are no sets to project onto; pass at least one")]
    NoSets,
    /// The sets and the point do not all have the same dimension.
    #[error(
        "expected {expected} dimension{}, got {actual}: the sets and the point must have the same dimension",
        plural(*expected)
    )]
    Dimensions {
        /// The actual number of dimensions.
        actual: usize,
        /// The expected number of dimensions.
        expected: usize,
    },
    /// An entry of a set or point is not finite.
    #[error("invalid value {value} in entry {index} of {what}: must be finite")]
    NotFinite {
        /// The vector that contains the entry: "the point", "the normal", …
        what: &'static str,
        /// The index of the entry.
        index: usize,
        /// The invalid entry.
        value: f64,
    },
    /// The norm of a normal is zero, or its square underflows or overflows.
    #[error("invalid norm {norm} of the normal: the norm and its square must be positive and finite")]
    Normal {
        /// The norm of the normal.
        norm: f64,
    },
    /// The radius of a ball is not positive and finite.
    #[error("invalid radius {value}: must be positive and finite")]
    Radius {
        /// The invalid radius.
        value: f64,
    },
    /// No finite number lies between the lower and the upper bound of a coordinate.
    #[error(
        "invalid bounds of coordinate {index}: no finite number is at least {lower} (the lower bound) and at \
         most {upper} (the upper bound)"
    )]
    Bounds {
        /// The index of the coordinate.
        index: usize,
        /// The lower bound.
        lower: f64,
        /// The upper bound.
        upper: f64,
    },
    /// The tolerance is not positive and finite.
    #[error("invalid tolerance {value}: must be positive and finite")]
    Tolerance {
        /// The invalid tolerance.
        value: f64,
    },
    /// The sets have no common point.
    #[error("the sets have no point in common (distance {apart}); enlarge a ball or widen the bounds")]
    EmptyIntersection {
        /// The distance between the sets, or an estimate of it.
        apart: f64,
    },
    /// An iteration reached its limit before it converged.
    #[error(
        "the projection did not converge in {iterations} sweep{}: {}, and the points on the sets are {apart} \
         apart; allow more sweeps or a larger tolerance (convergence is slow \
         if the sets only touch, and impossible if the sets have no point in common)",
        plural(*iterations),
        if remaining.is_finite() {
            format!("the error may be {remaining}")
        } else {
            "the error is unknown".to_owned()
        }
    )]
    NotSettled {
        /// The number of sweeps that were made.
        iterations: usize,
        /// The estimated distance between the iterate and its limit; infinite if the iteration has not begun
        /// to converge.
        remaining: f64,
        /// The distance between the points on the different sets in the last sweep.
        apart: f64,
    },
}
