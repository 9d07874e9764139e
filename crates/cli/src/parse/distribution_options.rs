//! Options of the distribution of a conditional game.

use apportion::options::Bandwidth;
use clap::{Args, ValueEnum};

/// The options of the distribution of a conditional game.
#[derive(Debug, Clone, Args)]
pub(crate) struct DistributionOptions {
    /// Rows per coalition in conditional games [default: 500]
    ///
    /// gaussian and copula draw this many rows; empirical keeps at most this many.
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub(crate) draws: Option<u64>,

    /// Kernel bandwidth of --game empirical: a number, or aicc [default: 0.1]
    ///
    /// aicc selects the bandwidth with the smallest AICc for each row and coalition (AICc_full of shapr), for
    /// at most 2000 rows of data.
    #[arg(long, value_name = "SIGMA|aicc", allow_hyphen_values = true)]
    pub(crate) bandwidth: Option<Bandwidth>,

    /// Share of the total weight that --game empirical keeps [default: 0.95]
    #[arg(long, value_name = "ETA", allow_hyphen_values = true)]
    pub(crate) share: Option<f64>,

    /// Variant of --game empirical
    ///
    /// paper divides distances by the number of present features and keeps ties together. shapr matches the R
    /// package shapr: it divides by the square of that number, and breaks ties by position in the data.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) variant: Option<Variant>,

    /// Fallback of --game frequency for coalitions on which no row of the data agrees
    ///
    /// refuse: the run fails. marginal: the mean over all rows. nearest: the mean over the rows that agree in
    /// the largest number of features.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) fallback: Option<FallbackOption>,
}

/// A published variant of the empirical distribution.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Variant {
    Paper,
    Shapr,
}

/// The value of a coalition for which no row matches.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum FallbackOption {
    Refuse,
    Marginal,
    Nearest,
}
