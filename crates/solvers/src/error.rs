//! What can go wrong when a regression is set up, solved or asked for its certificate.

/// Why a least-squares problem was refused, or could not be solved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolverError {
    /// A matrix that takes more memory than there is.
    #[error(transparent)]
    Memory(#[from] apportion_games::TooMuchMemory),
    /// A design without players has no coefficients.
    #[error("the coalitions have no players; a regression needs at least one")]
    NoPlayers,
    /// Without rows and without a constraint there is nothing to fit.
    #[error("there are no coalitions to fit; give at least one, or the constraint on the sum")]
    NoRows,
    /// Another number of weights than rows (of pairs, for a paired design).
    #[error("{given} weights were given, {wanted} are wanted: one for each {unit}")]
    WeightCount {
        /// Weights given.
        given: usize,
        /// Weights wanted.
        wanted: usize,
        /// What has a weight: "row" or "pair of rows".
        unit: &'static str,
    },
    /// A weight that is negative or not finite.
    #[error("weight {index} is {value}; weights must be finite and not negative")]
    Weight {
        /// Which weight.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// A paired design with an odd number of rows.
    #[error("a paired design has an even number of rows; {rows} were given")]
    OddRows {
        /// Rows given.
        rows: usize,
    },
    /// Two rows of a paired design that are not complements of each other.
    #[error("rows {} and {} are not complements of each other, as pair {pair} must be", 2 * pair, 2 * pair + 1)]
    BrokenPair {
        /// Which pair: rows `2·pair` and `2·pair + 1`.
        pair: usize,
    },
    /// A centre that is not finite.
    #[error("the columns are to be centred at {value}; the centre must be finite")]
    Centre {
        /// What was given.
        value: f64,
    },
    /// A constraint on the sum for columns that are centred or have a constant one beside them.
    #[error(
        "a constraint on the sum takes the rows as they are; leave out the centre and the intercept, or the constraint"
    )]
    ConstrainedColumns,
    /// No outputs to fit.
    #[error("the targets have no outputs; at least one is wanted")]
    NoOutputs,
    /// Another number of targets than rows × outputs.
    #[error("{given} targets were given for {rows} rows of {outputs} outputs; {} are wanted", rows * outputs)]
    TargetCount {
        /// Numbers given.
        given: usize,
        /// Rows of the design.
        rows: usize,
        /// Outputs per row.
        outputs: usize,
    },
    /// A target that is not finite.
    #[error("the target of row {row}, output {output}, is {value}; targets must be finite")]
    Target {
        /// Row of the design.
        row: usize,
        /// Which output.
        output: usize,
        /// What it is.
        value: f64,
    },
    /// Another number of sums than outputs in the constraint.
    #[error("the constraint gives {given} sums for {outputs} outputs; one for each is wanted")]
    SumCount {
        /// Sums given.
        given: usize,
        /// Outputs of the targets.
        outputs: usize,
    },
    /// A sum in the constraint that is not finite.
    #[error("the constraint asks for the sum {value} of output {output}; it must be finite")]
    Sum {
        /// Which output.
        output: usize,
        /// What it is.
        value: f64,
    },
    /// A ridge penalty that is negative or not finite.
    #[error("the ridge penalty is {value}; it must be finite and not negative")]
    Penalty {
        /// What was given.
        value: f64,
    },
    /// The numbers are so large that the solution is not finite.
    #[error("the solution of output {output} is not finite: the targets overflow; scale them down")]
    Overflow {
        /// Which output.
        output: usize,
    },
    /// The eigen-decomposition of the Gram matrix did not converge.
    #[error("the eigen-decomposition of the {players} × {players} Gram matrix did not converge")]
    NoConvergence {
        /// Order of the matrix.
        players: usize,
    },
    /// Another number of free fractions, or of draws, than rows (pairs, in a paired design).
    #[error(
        "{given} free fractions or numbers of draws were given, {wanted} are wanted: one for each row, or pair"
    )]
    FreeCount {
        /// Fractions given.
        given: usize,
        /// Fractions wanted.
        wanted: usize,
    },
    /// A free fraction outside \[0, 1\].
    #[error("free fraction {index} is {value}; 1 − drawn/available lies between 0 and 1")]
    Free {
        /// Which fraction.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// Players from whose mean nothing can deviate.
    #[error(
        "the mean is to be over the players {start} to {end} (exclusive) of {players}; give at least one, and only those that exist"
    )]
    Among {
        /// The first of them.
        start: usize,
        /// The one after the last.
        end: usize,
        /// Players of the regression.
        players: usize,
    },
    /// A row that the coefficients depend on alone, so that its error cannot be estimated.
    #[error(
        "row {row} of the regression has hat value {hat_value}: without it the coefficients are not determined, so there is no \
         certificate; draw more coalitions"
    )]
    Saturated {
        /// Index of the row (of the pair, in a paired design).
        row: usize,
        /// Its hat value, 1 up to rounding.
        hat_value: f64,
    },
    /// A projection on the intersection of no sets.
    #[error("there are no sets to project on; give at least one")]
    NoSets,
    /// A set or a point of other dimensions than the rest.
    #[error("{given} dimensions were given where {wanted} are wanted: sets and point must lie in one space")]
    Dimensions {
        /// Dimensions given.
        given: usize,
        /// Dimensions wanted.
        wanted: usize,
    },
    /// A number of a set or a point that is not finite.
    #[error("entry {index} of {what} is {value}; it must be finite")]
    NotFinite {
        /// Of what: "the point", "the normal", …
        what: &'static str,
        /// Which entry.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// A plane without a direction.
    #[error("the norm of the normal is {norm}; it must be positive, and its square finite")]
    Normal {
        /// What it is.
        norm: f64,
    },
    /// A ball that holds nothing, or everything.
    #[error("the radius is {value}; it must be positive and finite")]
    Radius {
        /// What was given.
        value: f64,
    },
    /// Bounds with no number between them.
    #[error(
        "the bounds of coordinate {index} are {lower} and {upper}; there must be a finite number between them"
    )]
    Bounds {
        /// Which coordinate.
        index: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// A tolerance that is not positive.
    #[error("the tolerance is {value}; it must be positive and finite")]
    Tolerance {
        /// What was given.
        value: f64,
    },
    /// Sets without a common point.
    #[error("the sets have no point in common: they are {apart} apart; make a ball larger, or bounds wider")]
    EmptyIntersection {
        /// The distance between them, as far as it is known.
        apart: f64,
    },
    /// An iteration that reached its limit.
    #[error(
        "after {iterations} sweeps the projection may be off by {remaining}, and the points on the sets are {apart} apart; allow more \
         sweeps or a larger tolerance; sets that stay apart have no point in common, and sets that touch take very long"
    )]
    NotSettled {
        /// Sweeps made.
        iterations: usize,
        /// How far the iterate may be from its limit; infinite where it has not begun to settle.
        remaining: f64,
        /// How far the points of the last sweep on the sets are apart.
        apart: f64,
    },
}
