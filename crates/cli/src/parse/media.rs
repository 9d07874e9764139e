//! The command-line arguments of `explain-text` and `explain-image`.

use std::path::PathBuf;

use apportion::{Budget, Method, SolutionConcept};
use clap::{Args, ValueEnum};

use super::args::{Accuracy, Threads, seed};
use super::format::Format;
use super::methods;

#[derive(Debug, Args)]
pub(crate) struct ExplainText {
    #[command(flatten)]
    pub(crate) network: Network,

    /// Vocabulary of the network, one token per line; token ids are line numbers, counted from 0
    #[arg(long, value_name = "FILE")]
    pub(crate) vocab: PathBuf,

    /// Text to explain
    #[arg(long, value_name = "TEXT", required_unless_present = "text_file", conflicts_with = "text_file")]
    pub(crate) text: Option<String>,

    /// File with the text to explain
    #[arg(long, value_name = "FILE")]
    pub(crate) text_file: Option<PathBuf>,

    /// Split of the text into tokens
    #[arg(long, value_enum, default_value = "punctuation")]
    pub(crate) split: Split,

    /// Look up tokens in their original case instead of lower case
    #[arg(long)]
    pub(crate) keep_case: bool,

    /// Parts of the text that are players
    #[arg(long, value_enum, default_value = "tokens")]
    pub(crate) players: Players,

    /// Token that replaces absent tokens and pads short texts [default: `<pad>` or a similar token, else the
    /// first of the vocabulary]
    #[arg(long, value_name = "TOKEN")]
    pub(crate) padding: Option<String>,

    /// Token for words that are not in the vocabulary [default: `<unk>` or a similar token]
    #[arg(long, value_name = "TOKEN")]
    pub(crate) unknown: Option<String>,

    /// Truncate texts that are longer than the input of the network
    #[arg(long)]
    pub(crate) truncate: bool,

    #[command(flatten)]
    pub(crate) division: Division,

    /// Output format
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: TextFormat,

    /// Write to a file instead of standard output; the file is written completely or not at all
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainImage {
    #[command(flatten)]
    pub(crate) network: Network,

    /// Image to explain: a PNG, grey or RGB, of the size of the network's input
    #[arg(long, value_name = "FILE")]
    pub(crate) image: PathBuf,

    /// Use square patches of P × P pixels as players, row by row; 1 uses single pixels
    #[arg(
        long,
        default_value_t = 1,
        value_name = "P",
        value_parser = clap::value_parser!(u32).range(1..=1 << 14)
    )]
    pub(crate) patch: u32,

    /// Use superpixels as players: a PNG of the same size in which each region has one colour
    ///
    /// Any program that segments images can create such a file.
    #[arg(long, value_name = "FILE", conflicts_with = "patch")]
    pub(crate) superpixels: Option<PathBuf>,

    /// Number of neighbours in the graph of players: 4 (above, below, left, right) or 8 (also diagonal)
    #[arg(long, default_value_t = 4, value_parser = neighbours)]
    pub(crate) neighbours: u8,

    /// Values of absent pixels: mean, channel-means, a number, one number per channel, or a PNG of the same
    /// size
    ///
    /// mean is the mean of all pixels and channels of the image. Numbers are from 0 (black) to 1 (white),
    /// e.g. 0.5 or 0.5,0.4,0.4.
    #[arg(
        long,
        default_value = "mean",
        value_name = "mean|channel-means|V|V,V,V|FILE",
        allow_hyphen_values = true
    )]
    pub(crate) reference: String,

    /// Input values of the network for black and white [default: 0,1]
    ///
    /// For separate channels: LOW,HIGH,LOW,HIGH,LOW,HIGH.
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) pixels: Vec<f64>,

    #[command(flatten)]
    pub(crate) division: Division,

    /// Draw the values over the image to a PNG file: blue supports the class, red opposes it
    #[arg(long, value_name = "FILE")]
    pub(crate) overlay: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: Format,

    /// Write to a file instead of standard output; the file is written completely or not at all
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A network, and settings for reading it.
#[derive(Debug, Args)]
pub(crate) struct Network {
    /// Model file: a neural network, ONNX
    #[arg(long, value_name = "FILE")]
    pub(crate) model: PathBuf,

    /// Output of the network to explain, by name, if it has several
    #[arg(long, value_name = "NAME")]
    pub(crate) model_output: Option<String>,

    /// Shape of one row of the input, if the file does not set it, e.g. 1,28,28
    #[arg(long, value_name = "N,N,N", value_delimiter = ',')]
    pub(crate) row_shape: Vec<usize>,
}

/// The value, the method and the game.
#[derive(Debug, Args)]
pub(crate) struct Division {
    /// Solution concept to compute
    ///
    /// From all coalitions: shapley, banzhaf, or another semivalue of `apportion explain`.
    ///
    /// From coalitions near each player: l-shapley=K (all within distance K), c-shapley=K (connected ones;
    /// c-shapley=K,printed with the coefficients as printed in the paper, c-shapley=K,marginal with those
    /// that its theorem 2 bounds), myerson (connected, at any distance). K,present keeps players further away
    /// present. l-banzhaf=K, c-banzhaf=K and myerson-banzhaf are the same for Banzhaf values.
    #[arg(long, default_value = "shapley", value_parser = str::parse::<SolutionConcept>)]
    pub(crate) value: SolutionConcept,

    /// Method; `apportion methods` lists all
    ///
    /// If a method does not support the value, the error lists those that do. Two names may refer to the same
    /// estimator with the same draws; JSON results then contain `same_as`.
    #[arg(long, default_value = "auto", value_parser = methods::method)]
    pub(crate) method: Method,

    /// Evaluations of the game for sampling methods: a number (2000), or a multiple of the number of players
    /// (10n) [default: all coalitions of up to 11 players; for more, 20n, but at most the larger of 512 and
    /// 10n]
    ///
    /// For values on graphs the budget is a maximum; without it, they take as many evaluations as needed.
    #[arg(long, value_name = "M|Kn")]
    pub(crate) budget: Option<Budget>,

    #[command(flatten)]
    pub(crate) accuracy: Accuracy,

    /// Score to explain
    #[arg(long, value_enum, default_value = "output")]
    pub(crate) score: ScoreName,

    /// Kind of the network's outputs
    #[arg(long, value_enum, default_value = "logits")]
    pub(crate) outputs: OutputsName,

    /// Class whose log-probability or log-odds is explained, and which colours refer to [default: the
    /// predicted class]
    ///
    /// With --score output, the values are those of all outputs, unchanged.
    #[arg(long, value_name = "C")]
    pub(crate) class: Option<usize>,

    /// Random seed
    ///
    /// The same seed gives the same bytes with any number of threads.
    #[arg(long, default_value_t = 0, value_name = "U64", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) threads: Threads,

    /// Write timings to standard error as a line of JSON
    ///
    /// load_s, explain_s and write_s are wall-clock seconds in this process.
    #[arg(long)]
    pub(crate) timings: bool,
}

/// The score of the network's outputs that defines the value of a coalition.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum ScoreName {
    /// The outputs of the network.
    Output,
    /// The logarithm of the probability of a class.
    LogProbability,
    /// The logarithm of the odds of a class.
    LogOdds,
    /// The log-probabilities of all classes, averaged with the predicted probabilities of the whole input.
    ExpectedLogProbability,
}

/// The scale of a network's outputs.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum OutputsName {
    /// Logits. A single logit belongs to class 1, the second of two classes.
    Logits,
    /// Probabilities. A single probability belongs to class 1, the second of two classes.
    Probabilities,
}

impl ScoreName {
    /// Returns the name in options and results.
    pub(crate) fn name(self) -> &'static str {
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
pub(crate) enum Split {
    /// At blanks, and at punctuation if that results in tokens of the vocabulary.
    Punctuation,
    /// At blanks only.
    Blanks,
    /// Into runs of letters and digits; other characters are dropped.
    Words,
}

/// The players of a text.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Players {
    /// Every token.
    Tokens,
    /// Every whole word: the text between blanks.
    Words,
}

/// The format of results for a text.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum TextFormat {
    /// A JSON object with exact numbers.
    Json,
    /// CSV with a header and exact numbers.
    Csv,
    /// A NumPy array of float64.
    Npy,
    /// A table for reading, rounded to six digits.
    Table,
    /// Text with coloured background for terminals: blue supports the class, red opposes it.
    Terminal,
    /// Text with coloured background as an HTML fragment.
    Html,
}

fn neighbours(given: &str) -> Result<u8, String> {
    match given {
        "4" => Ok(4),
        "8" => Ok(8),
        _ => Err("expected 4 or 8".to_owned()),
    }
}
