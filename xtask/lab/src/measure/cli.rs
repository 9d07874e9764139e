//! Command line of `cargo xtask measure`.

use std::path::PathBuf;

use apportion::estimators::{MethodSpec, methods};
use apportion::{Budget, Method, SolutionConcept};
use clap::{Args, ValueEnum};

use crate::laboratory::cli::NamedCommand;

/// Measure the errors of estimators on games with known values, at equal numbers of evaluations
#[derive(Debug, Args)]
pub(crate) struct Measure {
    /// What to measure
    #[arg(value_enum)]
    pub(super) section: Section,
    /// Estimators, by the method names of the library (docs/methods.md)
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub(super) estimators: Vec<Method>,
    /// External estimator: a name, and a shell command that is started again whenever it has ended
    /// (docs/laboratory.md); for frontier and monte-carlo
    #[arg(long = "estimator-program", value_name = "NAME=COMMAND")]
    pub(super) programs: Vec<NamedCommand>,
    /// Estimator whose errors are the denominators of the ratios; for frontier and monte-carlo
    #[arg(long, value_name = "NAME")]
    pub(super) reference: Option<Method>,
    /// Use growing samples, as in runs with a tolerance
    #[arg(long)]
    pub(super) growing: bool,
    /// Value to estimate, may be repeated (default: shapley; for bounds, also banzhaf). Values for groups use
    /// four groups
    #[arg(long = "value", value_name = "VALUE")]
    pub(super) values: Vec<SolutionConcept>,
    /// Substrings of the names of the games (default: all games of the section)
    #[arg(long, value_delimiter = ',', value_name = "TEXT,…")]
    pub(super) games: Vec<String>,
    /// Numbers of players; not for frontier, whose games have fixed numbers
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    pub(super) players: Vec<usize>,
    /// Budgets: evaluations of the game (2000), or multiples of the number of players (10n); the maximum for
    /// certificates
    #[arg(long, value_delimiter = ',', value_name = "M,…", value_parser = crate::laboratory::cli::budget)]
    pub(super) budgets: Vec<Budget>,
    /// Relative tolerances of certificates (default: 0.1, 0.03 and 0.01)
    #[arg(long, value_delimiter = ',', value_name = "T,…")]
    pub(super) tolerances: Vec<f64>,
    /// Number of runs for each game and budget (default: from the section)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) seeds: Option<u32>,
    /// Pool the games of a class into one row; for frontier and monte-carlo
    #[arg(long)]
    pub(super) pool: bool,
    /// File to which the table is also written, with all digits
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// Maximum number of seconds to wait for an output line of a program
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(super) time_limit: u32,
    /// Threads, at most 1024 (default: all cores); affects the times only
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
}

const FRONTIER: &[&MethodSpec] = &[&methods::LEARNED_SPECTRUM];
const MONTE_CARLO: &[&MethodSpec] = &[
    &methods::OPTIMIZED_MONTE_CARLO_INDEPENDENT,
    &methods::OPTIMIZED_MONTE_CARLO_BALANCED,
    &methods::MONTE_CARLO,
    &methods::STRATIFIED_EQUAL,
    &methods::STRATIFIED,
];
const BOUNDS: &[&MethodSpec] = &[
    &methods::LEVERAGE_SHAP,
    &methods::LEVERAGE_SHAP_WITH_REPLACEMENT,
    &methods::KERNEL_SHAP,
    &methods::KERNEL_SHAP_PAIRED,
    &methods::OPTIMIZED_KERNEL_SHAP,
    &methods::KERNEL_BANZHAF,
    &methods::KERNEL_BANZHAF_WITHOUT_REPLACEMENT,
    &methods::MSR_ADJUSTED,
    &methods::MONTE_CARLO,
    &methods::PERMUTATION,
];
/// The sampling methods for Shapley values, without those that fit trees.
const SHAPLEY: &[&MethodSpec] = &[
    &methods::LEVERAGE_SHAP,
    &methods::LEVERAGE_SHAP_BERNOULLI,
    &methods::LEVERAGE_SHAP_UNPAIRED,
    &methods::LEVERAGE_SHAP_WITH_REPLACEMENT,
    &methods::KERNEL_SHAP,
    &methods::KERNEL_SHAP_PAIRED,
    &methods::OPTIMIZED_KERNEL_SHAP,
    &methods::PERMUTATION,
    &methods::OPTIMIZED_MONTE_CARLO,
    &methods::OPTIMIZED_MONTE_CARLO_INDEPENDENT,
    &methods::OPTIMIZED_MONTE_CARLO_BALANCED,
    &methods::SGD,
    &methods::MONTE_CARLO,
    &methods::STRATIFIED,
    &methods::STRATIFIED_EQUAL,
    &methods::MSR,
    &methods::MSR_ADJUSTED,
    &methods::PRODUCT_SPACE,
    &methods::NESTED_PERMUTATION,
    &methods::NESTED_PERMUTATION_PLAIN,
];

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// Squared errors relative to those of Leverage SHAP, on tree ensembles, networks and textbook games
    Frontier,
    /// Squared errors of Monte Carlo estimators relative to those of antithetic permutations
    MonteCarlo,
    /// Coverage of 95% intervals, on games designed to mislead samples and on smooth ones
    Intervals,
    /// Coverage of the bounds of the norm that follow from standard errors and their distribution
    Bounds,
    /// Runs with a tolerance, and how many of their certificates are correct
    Certificates,
}

impl Section {
    /// Returns the estimators that are used unless others are requested.
    pub(super) fn estimators(self) -> &'static [&'static MethodSpec] {
        match self {
            Self::Frontier => FRONTIER,
            Self::MonteCarlo => MONTE_CARLO,
            Self::Intervals | Self::Certificates => SHAPLEY,
            Self::Bounds => BOUNDS,
        }
    }

    /// Returns the estimator whose errors are the denominators of the ratios unless another one is
    /// requested.
    pub(super) fn reference(self) -> &'static MethodSpec {
        match self {
            Self::MonteCarlo => &methods::OPTIMIZED_MONTE_CARLO,
            _ => &methods::LEVERAGE_SHAP,
        }
    }

    pub(super) fn players(self) -> &'static [usize] {
        match self {
            Self::Frontier => &[],
            Self::MonteCarlo => &[10, 20, 30],
            Self::Intervals | Self::Certificates => &[8, 12, 20, 50, 100],
            Self::Bounds => &[6, 8, 12],
        }
    }

    pub(super) fn seeds(self) -> u32 {
        match self {
            Self::Frontier => 8,
            Self::MonteCarlo => 40,
            Self::Intervals | Self::Certificates => 20,
            Self::Bounds => 300,
        }
    }

    /// Returns the budgets that are used for `players` players unless others are requested, each with its
    /// name.
    pub(super) fn budgets(self, players: usize) -> Vec<(String, usize)> {
        let times = |of: usize, factors: &[usize], unit: &str| {
            factors.iter().map(|factor| (format!("{factor}{unit}"), factor * of)).collect()
        };
        match self {
            Self::Frontier | Self::Bounds => times(players, &[5, 10, 20], "n"),
            Self::MonteCarlo => times(players * players, &[2, 8, 32, 128], "n²"),
            Self::Intervals => times(players, &[20], "n"),
            Self::Certificates => times(players, &[200], "n"),
        }
    }

    /// Returns the names of the values that are estimated unless others are requested.
    pub(super) fn values(self) -> &'static [&'static str] {
        match self {
            Self::Bounds => &["shapley", "banzhaf"],
            _ => &["shapley"],
        }
    }
}
