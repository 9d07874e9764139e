//! The error type for regressions, certificates and projections.

/// Why a least-squares problem was rejected, or could not be solved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolverError {
    /// A matrix does not fit into memory.
    #[error(transparent)]
    Memory(#[from] apportion_games::TooMuchMemory),
    /// A design without players has no coefficients.
    #[error("the coalitions have no players; a regression needs at least one")]
    NoPlayers,
    /// There are no rows and no constraint, so there is nothing to fit.
    #[error("there are no coalitions to fit; give at least one, or the constraint on the sum")]
    NoRows,
    /// The number of weights differs from the number of rows (of pairs, for a paired design).
    #[error("{given} weights were given, {wanted} are wanted: one for each {unit}")]
    WeightCount {
        /// The actual number of weights.
        given: usize,
        /// The expected number of weights.
        wanted: usize,
        /// The unit with a weight: "row" or "pair of rows".
        unit: &'static str,
    },
    /// A weight is negative or not finite.
    #[error("weight {index} is {value}; weights must be finite and not negative")]
    Weight {
        /// The index of the weight.
        index: usize,
        /// The weight.
        value: f64,
    },
    /// A paired design has an odd number of rows.
    #[error("a paired design has an even number of rows; {rows} were given")]
    OddRows {
        /// The number of rows.
        rows: usize,
    },
    /// Two rows of a paired design are not complements of each other.
    #[error("rows {} and {} are not complements of each other, as pair {pair} must be", 2 * pair, 2 * pair + 1)]
    BrokenPair {
        /// The index of the pair: rows `2·pair` and `2·pair + 1`.
        pair: usize,
    },
    /// The centre is not finite.
    #[error("the columns are to be centred at {value}; the centre must be finite")]
    Centre {
        /// The given centre.
        value: f64,
    },
    /// A constraint on the sum is combined with centred columns or an intercept.
    #[error(
        "a constraint on the sum takes the rows as they are; leave out the centre and the intercept, or the constraint"
    )]
    ConstrainedColumns,
    /// There are no outputs to fit.
    #[error("the targets have no outputs; at least one is wanted")]
    NoOutputs,
    /// The number of targets differs from rows × outputs.
    #[error("{given} targets were given for {rows} rows of {outputs} outputs; {} are wanted", rows * outputs)]
    TargetCount {
        /// The actual number of targets.
        given: usize,
        /// The number of rows of the design.
        rows: usize,
        /// The number of outputs per row.
        outputs: usize,
    },
    /// A target is not finite.
    #[error("the target of row {row}, output {output}, is {value}; targets must be finite")]
    Target {
        /// The row of the design.
        row: usize,
        /// The index of the output.
        output: usize,
        /// The target.
        value: f64,
    },
    /// The number of sums in the constraint differs from the number of outputs.
    #[error("the constraint gives {given} sums for {outputs} outputs; one for each is wanted")]
    SumCount {
        /// The actual number of sums.
        given: usize,
        /// The number of outputs of the targets.
        outputs: usize,
    },
    /// A sum in the constraint is not finite.
    #[error("the constraint asks for the sum {value} of output {output}; it must be finite")]
    Sum {
        /// The index of the output.
        output: usize,
        /// The sum.
        value: f64,
    },
    /// The ridge penalty is negative or not finite.
    #[error("the ridge penalty is {value}; it must be finite and not negative")]
    Penalty {
        /// The given penalty.
        value: f64,
    },
    /// The numbers are so large that the solution is not finite.
    #[error("the solution of output {output} is not finite: the targets overflow; scale them down")]
    Overflow {
        /// The index of the output.
        output: usize,
    },
    /// The eigen-decomposition of the Gram matrix did not converge.
    #[error("the eigen-decomposition of the {players} × {players} Gram matrix did not converge")]
    NoConvergence {
        /// The order of the matrix.
        players: usize,
    },
    /// The number of free fractions, or of draws, differs from the number of rows (of pairs, for a paired
    /// design).
    #[error(
        "{given} free fractions or numbers of draws were given, {wanted} are wanted: one for each row, or pair"
    )]
    FreeCount {
        /// The actual number of fractions.
        given: usize,
        /// The expected number of fractions.
        wanted: usize,
    },
    /// A free fraction is outside \[0, 1\].
    #[error("free fraction {index} is {value}; 1 − drawn/available lies between 0 and 1")]
    Free {
        /// The index of the fraction.
        index: usize,
        /// The fraction.
        value: f64,
    },
    /// The range of players whose mean is subtracted is empty or out of range.
    #[error(
        "the mean is to be over the players {start} to {end} (exclusive) of {players}; give at least one, and only those that exist"
    )]
    Among {
        /// The first player.
        start: usize,
        /// The player after the last.
        end: usize,
        /// The number of players of the regression.
        players: usize,
    },
    /// The coefficients are not determined without some row, so that its error cannot be estimated.
    #[error(
        "row {row} of the regression has hat value {hat_value}: without it the coefficients are not determined, so there is no \
         certificate; draw more coalitions"
    )]
    Saturated {
        /// The index of the row (of the pair, for a paired design).
        row: usize,
        /// The hat value of the row, 1 up to rounding.
        hat_value: f64,
    },
    /// A projection has no sets.
    #[error("there are no sets to project on; give at least one")]
    NoSets,
    /// The dimensions of a set or point differ from the others.
    #[error("{given} dimensions were given where {wanted} are wanted: sets and point must lie in one space")]
    Dimensions {
        /// The actual number of dimensions.
        given: usize,
        /// The expected number of dimensions.
        wanted: usize,
    },
    /// An entry of a set or point is not finite.
    #[error("entry {index} of {what} is {value}; it must be finite")]
    NotFinite {
        /// The vector: "the point", "the normal", …
        what: &'static str,
        /// The index of the entry.
        index: usize,
        /// The entry.
        value: f64,
    },
    /// The normal of a plane is zero or too large.
    #[error("the norm of the normal is {norm}; it must be positive, and its square finite")]
    Normal {
        /// The norm of the normal.
        norm: f64,
    },
    /// The radius of a ball is not positive and finite.
    #[error("the radius is {value}; it must be positive and finite")]
    Radius {
        /// The given radius.
        value: f64,
    },
    /// There is no finite number between two bounds.
    #[error(
        "the bounds of coordinate {index} are {lower} and {upper}; there must be a finite number between them"
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
    #[error("the tolerance is {value}; it must be positive and finite")]
    Tolerance {
        /// The given tolerance.
        value: f64,
    },
    /// The sets have no common point.
    #[error("the sets have no point in common: they are {apart} apart; make a ball larger, or bounds wider")]
    EmptyIntersection {
        /// The distance between the sets, as far as it is known.
        apart: f64,
    },
    /// An iteration reached its limit.
    #[error(
        "after {iterations} sweeps the projection may be off by {remaining}, and the points on the sets are {apart} apart; allow more \
         sweeps or a larger tolerance; sets that stay apart have no point in common, and sets that touch take very long"
    )]
    NotSettled {
        /// The number of sweeps.
        iterations: usize,
        /// The estimated distance of the iterate from its limit; infinite if it has not begun to converge.
        remaining: f64,
        /// The distance between the points of the last sweep on the sets.
        apart: f64,
    },
}
