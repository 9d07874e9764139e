//! Errors of clustering features.

/// Why a dependence, dendrogram or partition cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionsError {
    /// The pairs of features do not fit into memory.
    #[error(transparent)]
    Memory(#[from] apportion_games::TooMuchMemory),
    /// The data contain an infinite number.
    #[error(
        "row {row} has the value {value} in column {column}, and dependence between features is computed with it; pass a finite number, or \
         list the groups instead"
    )]
    Infinite {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// The infinite number.
        value: f64,
    },
    /// Too few rows have values for both features of a pair.
    #[error(
        "only {complete} rows have both feature {first} and feature {second}; a dependence needs {least}, so add \
         rows or leave one of the two out"
    )]
    TooFewRows {
        /// The first feature.
        first: usize,
        /// The second feature.
        second: usize,
        /// The number of rows in which neither is missing.
        complete: usize,
        /// The minimum number of rows.
        least: usize,
    },
    /// The number of bins is 1 or 0, or too large for the number of rows.
    #[error("{given} bins were asked for; {rows} rows allow 2 to {most}, one row to a cell of the square")]
    Bins {
        /// The given number.
        given: usize,
        /// The maximum number.
        most: usize,
        /// The smallest number of rows of a pair of features.
        rows: usize,
    },
    /// The number of neighbours is 0, or not below the number of rows.
    #[error("{given} neighbours were asked for; {rows} rows allow 1 to {}", rows.saturating_sub(1))]
    Neighbours {
        /// The given number.
        given: usize,
        /// The smallest number of rows of a pair of features.
        rows: usize,
    },
    /// The matrix has no features, or its upper triangle has the wrong size.
    #[error(
        "{given} dependences were given for {features} features; wanted are at least one feature and, row by row above \
         the diagonal, one number for each pair"
    )]
    Pairs {
        /// The number of given values.
        given: usize,
        /// The number of features.
        features: usize,
    },
    /// A dependence is outside [0, 1].
    #[error("the dependence of features {first} and {second} is {value}; it must lie in [0, 1]")]
    Dependence {
        /// The first feature.
        first: usize,
        /// The second feature.
        second: usize,
        /// The given number.
        value: f64,
    },
    /// The dependences were not measured here, so their distribution under independence is not known.
    #[error(
        "what independent features show is known for measured dependences only; cut at a height or into a number of groups"
    )]
    UnknownLaw,
    /// The significance level is not strictly between 0 and 1.
    #[error("the level of significance is {given}; it must lie strictly between 0 and 1")]
    Level {
        /// The given number.
        given: f64,
    },
    /// The minimum dependence is outside [0, 1].
    #[error("the least dependence within a group is {given}; it must lie in [0, 1]")]
    Least {
        /// The given number.
        given: f64,
    },
    /// The height is NaN.
    #[error("the height of a cut is not a number")]
    Height,
    /// The number of groups is 0 or exceeds the number of features.
    #[error("{given} groups were asked for; {features} features allow 1 to {features}")]
    Groups {
        /// The given number.
        given: usize,
        /// The number of features.
        features: usize,
    },
    /// The number of names differs from the number of features.
    #[error("{given} names were given for {features} features")]
    Names {
        /// The number of names.
        given: usize,
        /// The number of features.
        features: usize,
    },
    /// The merges do not form a valid dendrogram.
    #[error("merge {merge} of the dendrogram {problem}")]
    Merge {
        /// The merge, from 0, or the number of merges if that is wrong.
        merge: usize,
        /// The problem.
        problem: &'static str,
    },
    /// Unknown name of a measure of dependence or a linkage.
    #[error("there is no {what} {given:?}; there are {known}")]
    UnknownName {
        /// The kind of name.
        what: &'static str,
        /// The given name.
        given: String,
        /// The known names.
        known: &'static str,
    },
    /// The figure could not be drawn.
    #[error("the dendrogram could not be drawn: {message}")]
    Figure {
        /// The message of the drawing library.
        message: String,
    },
}
