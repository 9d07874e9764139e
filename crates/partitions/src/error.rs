//! What can go wrong when features are clustered.

/// Why there is no dependence, no dendrogram or no partition.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionsError {
    /// More pairs of features than there is memory for.
    #[error(transparent)]
    Memory(#[from] apportion_games::TooMuchMemory),
    /// An infinite number in the data.
    #[error(
        "row {row} has the value {value} in column {column}, and dependence between features is computed with it; pass a finite number, or \
         list the groups instead"
    )]
    Infinite {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// A pair of features that too few rows have both of.
    #[error(
        "only {complete} rows have both feature {first} and feature {second}; a dependence needs {least}, so add \
         rows or leave one of the two out"
    )]
    TooFewRows {
        /// One feature.
        first: usize,
        /// The other.
        second: usize,
        /// Rows in which neither is missing.
        complete: usize,
        /// The least number of rows.
        least: usize,
    },
    /// A number of bins that the rows do not fill, or one that tells nothing apart.
    #[error("{given} bins were asked for; {rows} rows allow 2 to {most}, one row to a cell of the square")]
    Bins {
        /// The number given.
        given: usize,
        /// The largest number.
        most: usize,
        /// Rows of the pair of features that has the fewest.
        rows: usize,
    },
    /// A number of neighbours that points do not have.
    #[error("{given} neighbours were asked for; {rows} rows allow 1 to {}", rows.saturating_sub(1))]
    Neighbours {
        /// The number given.
        given: usize,
        /// Rows of the pair of features that has the fewest.
        rows: usize,
    },
    /// A matrix without features, or whose upper triangle has another size.
    #[error(
        "{given} dependences were given for {features} features; wanted are at least one feature and, row by row above \
         the diagonal, one number for each pair"
    )]
    Pairs {
        /// Numbers given.
        given: usize,
        /// Features.
        features: usize,
    },
    /// A dependence outside the unit interval.
    #[error("the dependence of features {first} and {second} is {value}; it must lie in [0, 1]")]
    Dependence {
        /// One feature.
        first: usize,
        /// The other.
        second: usize,
        /// The number given.
        value: f64,
    },
    /// A matrix of dependences that was given, not measured: its law under independence is not known.
    #[error(
        "what independent features show is known for measured dependences only; cut at a height or into a number of groups"
    )]
    UnknownLaw,
    /// A level of significance that is no probability, or one that decides nothing.
    #[error("the level of significance is {given}; it must lie strictly between 0 and 1")]
    Level {
        /// The number given.
        given: f64,
    },
    /// A least dependence outside the unit interval.
    #[error("the least dependence within a group is {given}; it must lie in [0, 1]")]
    Least {
        /// The number given.
        given: f64,
    },
    /// A height that is not a number.
    #[error("the height of a cut is not a number")]
    Height,
    /// A number of groups that the features do not allow.
    #[error("{given} groups were asked for; {features} features allow 1 to {features}")]
    Groups {
        /// The number given.
        given: usize,
        /// Features.
        features: usize,
    },
    /// Another number of names than of features.
    #[error("{given} names were given for {features} features")]
    Names {
        /// Names given.
        given: usize,
        /// Features.
        features: usize,
    },
    /// A list of merges that is no dendrogram.
    #[error("merge {merge} of the dendrogram {problem}")]
    Merge {
        /// Which merge, from 0; their number where one is missing or too many.
        merge: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A name of no measure of dependence, or of no linkage.
    #[error("there is no {what} {given:?}; there are {known}")]
    UnknownName {
        /// What was named.
        what: &'static str,
        /// The name given.
        given: String,
        /// The names there are.
        known: &'static str,
    },
    /// The figure could not be drawn.
    #[error("the dendrogram could not be drawn: {message}")]
    Figure {
        /// What the drawing library says.
        message: String,
    },
}
