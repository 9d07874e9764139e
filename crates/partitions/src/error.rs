//! Errors that occur when clustering features.

use apportion_games::phrases::plural;

/// An error in the computation of dependences, dendrograms or partitions.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionsError {
    /// The pairs of features do not fit in memory.
    #[error(transparent)]
    Memory(#[from] apportion_games::TooMuchMemory),
    /// The data contain an infinite number.
    #[error(
        "row {row} has the value {value} in column {column}, but measuring the dependence of features \
         requires finite values; pass a finite number, or list the groups instead"
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
        "only {complete} {} values for both feature {first} and feature {second}, but measuring dependence \
         requires at least {min}; add rows or remove one of the two features",
        if *complete == 1 { "row has" } else { "rows have" }
    )]
    TooFewRows {
        /// Index of the first feature of the pair.
        first: usize,
        /// Index of the second feature of the pair.
        second: usize,
        /// The number of rows in which neither is missing.
        complete: usize,
        /// The minimum number of rows.
        min: usize,
    },
    /// The number of bins is 1 or 0, or too large for the number of rows.
    #[error(
        "invalid number of bins {actual}; {}",
        match *max {
            0 | 1 => format!("there are too few rows for two bins (rows: {rows}), so add rows"),
            2 => format!("expected 2 (rows: {rows}, at least one per cell)"),
            max => format!("expected 2 to {max} (rows: {rows}, at least one per cell)"),
        }
    )]
    Bins {
        /// The given number of bins.
        actual: usize,
        /// The maximum number of bins.
        max: usize,
        /// The smallest number of complete rows of any pair of features: rows in which neither feature is
        /// missing.
        rows: usize,
    },
    /// The number of neighbours is 0, or not below the number of rows.
    #[error(
        "invalid number of neighbours {actual}; {}",
        match *rows {
            0 | 1 => format!("there are too few rows for neighbours (rows: {rows}), so add rows"),
            2 => "expected 1 (rows: 2)".to_owned(),
            rows => format!("expected 1 to {} (rows: {rows})", rows - 1),
        }
    )]
    Neighbours {
        /// The given number of neighbours.
        actual: usize,
        /// The smallest number of complete rows of any pair of features: rows in which neither feature is
        /// missing.
        rows: usize,
    },
    /// The matrix has zero features, or its upper triangle has the wrong size.
    #[error(
        "got {actual} dependence{} for {features} feature{}; expected at least one feature, and one \
         dependence per pair (row by row above the diagonal)",
        plural(*actual),
        plural(*features)
    )]
    Pairs {
        /// The given number of dependences.
        actual: usize,
        /// The number of features.
        features: usize,
    },
    /// A dependence is outside [0, 1].
    #[error("the dependence of features {first} and {second} must be in [0, 1], got {value}")]
    Dependence {
        /// Index of the first feature of the pair.
        first: usize,
        /// Index of the second feature of the pair.
        second: usize,
        /// The given dependence.
        value: f64,
    },
    /// The dependences were computed elsewhere, so their distribution under independence is unknown.
    #[error(
        "a cut by significance requires dependences measured by this library, whose distribution under \
         independence is known; cut at a height or into a number of groups"
    )]
    UnknownDistribution,
    /// The significance level is not strictly between 0 and 1.
    #[error("the significance level must be strictly between 0 and 1, got {actual}")]
    Level {
        /// The given significance level.
        actual: f64,
    },
    /// The minimum dependence is outside [0, 1].
    #[error("the minimum dependence within a group must be in [0, 1], got {actual}")]
    MinDependence {
        /// The given minimum dependence.
        actual: f64,
    },
    /// The height is NaN.
    #[error("the height of a cut must be a number, got NaN")]
    Height,
    /// The number of groups is 0 or exceeds the number of features.
    #[error("invalid number of groups {actual}; expected at least 1 and at most {features}, one per feature")]
    Groups {
        /// The given number of groups.
        actual: usize,
        /// The number of features.
        features: usize,
    },
    /// The number of names differs from the number of features.
    #[error("expected {features} name{} (one per feature), got {actual}", plural(*features))]
    Names {
        /// The given number of names.
        actual: usize,
        /// The number of features.
        features: usize,
    },
    /// The merges do not form a valid dendrogram.
    #[error("merge {merge} of the dendrogram {problem}")]
    Merge {
        /// The merge, from 0, or the number of merges if that is wrong.
        merge: usize,
        /// Why the merge is invalid.
        problem: &'static str,
    },
    /// Unknown name of a measure of dependence or a linkage.
    #[error("unknown {what} {name:?}; expected one of: {known}")]
    UnknownName {
        /// The kind of name.
        what: &'static str,
        /// The given name.
        name: String,
        /// The supported names.
        known: &'static str,
    },
}
