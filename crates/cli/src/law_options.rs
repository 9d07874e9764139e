//! Options of the distribution of a conditional game.

use apportion::options::Bandwidth;
use clap::{Args, ValueEnum};

/// The options of the distribution of a conditional game.
#[derive(Debug, Clone, Args)]
pub(crate) struct LawOptions {
    /// Rows per coalition in a conditional game: as many are drawn (gaussian, copula), or at most so many are kept (empirical)
    /// [default: 500]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub(crate) draws: Option<u64>,

    /// The width of the kernel of --game empirical: a number, or aicc, the one of least AICc for each row and coalition (AICc_full of
    /// shapr; for at most 2000 rows of data) [default: 0.1]
    #[arg(long, value_name = "SIGMA|aicc", allow_hyphen_values = true)]
    pub(crate) bandwidth: Option<Bandwidth>,

    /// The share of all weight that the rows kept by --game empirical hold [default: 0.95]
    #[arg(long, value_name = "ETA", allow_hyphen_values = true)]
    pub(crate) share: Option<f64>,

    /// How --game empirical was published: paper (distances over the number of features present, ties kept together), or shapr (as that R
    /// package computes: over its square, ties left out by their place in the data)
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) variant: Option<Variant>,

    /// What --game frequency says of a coalition on which no row of the data agrees: refuse (nothing), marginal (the mean over all rows),
    /// nearest (the rows that agree on the most of its features)
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) fallback: Option<FallbackOption>,
}

/// The published variant of the empirical distribution.
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
