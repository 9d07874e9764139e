//! The command-line arguments of `explain-text` and `explain-image`.

use std::path::PathBuf;

use apportion::{Budget, Method, SolutionConcept};
use clap::{Args, ValueEnum};

use crate::args::{Accuracy, Threads, seed};
use crate::methods;
use crate::output::Format;

#[derive(Debug, Args)]
pub(crate) struct ExplainText {
    #[command(flatten)]
    pub(super) network: Network,

    /// The tokens that the network knows, one per line; the number of the line, from 0, is the token's id
    #[arg(long, value_name = "FILE")]
    pub(super) vocab: PathBuf,

    /// The text to explain
    #[arg(long, value_name = "TEXT", required_unless_present = "text_file", conflicts_with = "text_file")]
    pub(super) text: Option<String>,

    /// A file with the text to explain, in place of --text
    #[arg(long, value_name = "FILE")]
    pub(super) text_file: Option<PathBuf>,

    /// Where the text is cut into tokens
    #[arg(long, value_enum, default_value = "punctuation")]
    pub(super) split: Split,

    /// Look tokens up as they are written, and not in lower case
    #[arg(long)]
    pub(super) keep_case: bool,

    /// Who plays
    #[arg(long, value_enum, default_value = "tokens")]
    pub(super) players: Players,

    /// The token that stands in for absent ones, and behind short texts; by default `<pad>` or its like, else the first of
    /// the vocabulary
    #[arg(long, value_name = "TOKEN")]
    pub(super) padding: Option<String>,

    /// The token of words that are not in the vocabulary; by default `<unk>` or its like
    #[arg(long, value_name = "TOKEN")]
    pub(super) unknown: Option<String>,

    /// Cut off what the network has no room for, and do not refuse longer texts
    #[arg(long)]
    pub(super) truncate: bool,

    #[command(flatten)]
    pub(super) division: Division,

    /// How to write the results
    #[arg(long, value_enum, default_value = "json")]
    pub(super) format: TextFormat,

    /// Write to a file instead of standard output; it appears whole or not at all
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainImage {
    #[command(flatten)]
    pub(super) network: Network,

    /// The image to explain: PNG, grey or RGB, of the size that the network takes
    #[arg(long, value_name = "FILE")]
    pub(super) image: PathBuf,

    /// Players are square patches of P × P pixels, row by row; 1 means every pixel
    #[arg(long, default_value_t = 1, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=1 << 14))]
    pub(super) patch: u32,

    /// Players are superpixels: the parts of one colour of a PNG of the image's size, as any program that segments images can make it
    #[arg(long, value_name = "FILE", conflicts_with = "patch")]
    pub(super) superpixels: Option<PathBuf>,

    /// Which players are next to each other: 4 (above, below, left, right) or 8 (at corners, too)
    #[arg(long, default_value_t = 4, value_parser = neighbours)]
    pub(super) neighbours: u8,

    /// What stands in for absent pixels: mean (of all pixels and channels of the image), channel-means, a number from 0 (black) to 1
    /// (white), one for each channel (0.5,0.4,0.4), or a PNG of the same size
    #[arg(
        long,
        default_value = "mean",
        value_name = "mean|channel-means|V|V,V,V|FILE",
        allow_hyphen_values = true
    )]
    pub(super) reference: String,

    /// What black and white are for the network [default: 0,1]; for each channel by itself: LOW,HIGH,LOW,HIGH,LOW,HIGH
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', allow_hyphen_values = true)]
    pub(super) pixels: Vec<f64>,

    #[command(flatten)]
    pub(super) division: Division,

    /// Draw the values over the image into a PNG file: blue speaks for the class, red against it
    #[arg(long, value_name = "FILE")]
    pub(super) overlay: Option<PathBuf>,

    /// How to write the results
    #[arg(long, value_enum, default_value = "json")]
    pub(super) format: Format,

    /// Write to a file instead of standard output; it appears whole or not at all
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

/// A network, and settings for reading it.
#[derive(Debug, Args)]
pub(super) struct Network {
    /// Model file: a neural network, ONNX
    #[arg(long, value_name = "FILE")]
    pub(super) model: PathBuf,

    /// The network's output to explain, by name, where it has several
    #[arg(long, value_name = "NAME")]
    pub(super) model_output: Option<String>,

    /// The shape of one row of its input, where the file leaves it open: 1,28,28
    #[arg(long, value_name = "N,N,N", value_delimiter = ',')]
    pub(super) row_shape: Vec<usize>,
}

/// The value, the method and the game.
#[derive(Debug, Args)]
pub(super) struct Division {
    /// The value to compute. From all coalitions: shapley, banzhaf, or another semivalue of `apportion explain`. From coalitions near
    /// each player: l-shapley=K (all within distance K), c-shapley=K (the connected ones; c-shapley=K,printed with the coefficients as
    /// the paper prints them, c-shapley=K,marginal with those that its theorem 2 bounds), myerson (connected, at any distance). K,present keeps players further away present; l-banzhaf=K,
    /// c-banzhaf=K and myerson-banzhaf are the same of Banzhaf values
    #[arg(long, default_value = "shapley", value_parser = str::parse::<SolutionConcept>)]
    pub(super) value: SolutionConcept,

    /// How to compute it; `apportion methods` lists the methods
    ///
    /// A method that cannot compute the value is refused with those that can. Two names may be one estimator with the same draws; JSON says
    /// so in `same_as`.
    #[arg(long, default_value = "auto", value_parser = methods::method)]
    pub(super) method: Method,

    /// Evaluations of the game for methods that estimate: a count (2000), or a multiple of the players (10n) [default: the larger of 2048
    /// and 20n]. Values on graphs take what they need; a budget is the most they may take
    #[arg(long, value_name = "M|Kn")]
    pub(super) budget: Option<Budget>,

    #[command(flatten)]
    pub(super) accuracy: Accuracy,

    /// What a coalition is worth
    #[arg(long, value_enum, default_value = "output")]
    pub(super) score: ScoreName,

    /// What the network's outputs are
    #[arg(long, value_enum, default_value = "logits")]
    pub(super) outputs: OutputsName,

    /// The class whose log-probability or log-odds is divided, and for which colours speak; with --score output the numbers are those of
    /// all outputs as they are [default: the class that the network predicts]
    #[arg(long, value_name = "C")]
    pub(super) class: Option<usize>,

    /// Seed of all draws; the same seed gives the same bytes on any number of threads
    #[arg(long, default_value_t = 0, value_name = "U64", value_parser = seed, allow_negative_numbers = true)]
    pub(super) seed: u64,

    #[command(flatten)]
    pub(super) threads: Threads,

    /// Write one line of JSON on standard error: load_s, explain_s and write_s, wall seconds in this process
    #[arg(long)]
    pub(super) timings: bool,
}

/// The score of a prediction, which is the value of a coalition.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum ScoreName {
    /// The outputs of the network as they are.
    Output,
    /// The logarithm of the probability of a class.
    LogProbability,
    /// The logarithm of the odds of a class.
    LogOdds,
    /// The logarithm of every class's probability, averaged over the probabilities that the network gives to the whole.
    ExpectedLogProbability,
}

/// The scale of a network's outputs.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum OutputsName {
    /// Logits; a single one is that of class 1 of two.
    Logits,
    /// Probabilities; a single one is that of class 1 of two.
    Probabilities,
}

impl ScoreName {
    /// Returns the name in options and results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::LogProbability => "log-probability",
            Self::LogOdds => "log-odds",
            Self::ExpectedLogProbability => "expected-log-probability",
        }
    }
}

/// The positions at which a text is split into tokens.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum Split {
    /// At blanks, and at punctuation where that makes tokens of the vocabulary.
    Punctuation,
    /// At blanks only.
    Blanks,
    /// Into runs of letters and digits; the rest is left out.
    Words,
}

/// The players of a text.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum Players {
    /// Every token.
    Tokens,
    /// Every whole word: what stands between blanks.
    Words,
}

/// The format of results for a text.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum TextFormat {
    /// One JSON object, every number to the last bit.
    Json,
    /// CSV with a header, every number to the last bit.
    Csv,
    /// A NumPy array of float64.
    Npy,
    /// For reading, rounded to six digits.
    Table,
    /// The text on colours, for terminals: blue speaks for the class, red against it.
    Terminal,
    /// The text on colours, as a fragment of HTML.
    Html,
}

fn neighbours(given: &str) -> Result<u8, String> {
    match given {
        "4" => Ok(4),
        "8" => Ok(8),
        _ => Err("pixels have 4 or 8 neighbours".to_owned()),
    }
}
