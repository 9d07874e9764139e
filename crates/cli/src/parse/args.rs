//! The arguments of the commands that read rows.

use std::path::PathBuf;

use apportion::plots::Kind;
use apportion::trees::Diagonal;
use apportion::values::InteractionIndex;
use apportion::{Budget, Method, Rounds, SolutionConcept};
use clap::{Args, ValueEnum};

use super::columns::Columns;
use super::command_line::CommandLine;
use super::distribution_options::DistributionOptions;
use super::format::Format;
use super::graph::GraphOption;
use super::groups::{Clustering, Groups};
use super::methods::method;
use super::pictures::kind;
use super::program::ProgramArgs;
use super::rounds::rounds;
use super::select::Selection;

pub(crate) use apportion::options::{GameName as Game, OutputName as Space};

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) input: Input,

    /// Background rows, which replace absent features: a file, or `mean` for the column means
    ///
    /// `mean` is a single row: the mean of each column of the whole rows file, without missing cells. With
    /// --game path-dependent, background rows are counted at the nodes of the trees and replace the cover in
    /// the model. For the games gaussian, copula, empirical and frequency they are the data to which the
    /// distribution is fitted.
    ///
    /// Default: none for the path-dependent game; the whole rows file for the games gaussian, copula,
    /// empirical and frequency; otherwise at most 100 rows of the rows file, drawn with --seed.
    #[arg(long, value_name = "FILE|mean")]
    pub(crate) background: Option<PathBuf>,

    /// Rows of the background file to use, e.g. 0,4-7; without a background file, rows of the rows file
    #[arg(long, value_name = "ROWS")]
    pub(crate) background_select: Option<Selection>,

    /// Background that was compiled for this model with `apportion compile-background`
    ///
    /// Replaces --background, for --game marginal and --method tree.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["background", "background_select"])]
    pub(crate) background_compiled: Option<PathBuf>,

    /// Solution concept to compute
    ///
    /// Semivalues: shapley, banzhaf, weighted-banzhaf=P (0 < P < 1), beta=A,B (Beta-Shapley; 1,1 is shapley,
    /// a large A favours small coalitions), by-size=W0,W1,… (a weight for each coalition of 0, 1, … other
    /// features), size-distribution=P0,P1,… (a probability for each size), mixture=T:W,T:W,… (probabilities
    /// of presence T with weights W).
    ///
    /// Values of features in groups: owen, banzhaf-owen, two-step, symmetric-coalitional-banzhaf,
    /// coalitional=BETWEEN/WITHIN (any two semivalues).
    ///
    /// Values of groups: quotient-shapley, quotient-banzhaf, quotient-NAME.
    ///
    /// Values of features on a graph: l-shapley=K (all coalitions within distance K of a feature),
    /// c-shapley=K (connected ones), myerson (all connected ones).
    #[arg(long, default_value = "shapley", value_parser = str::parse::<SolutionConcept>)]
    pub(crate) value: SolutionConcept,

    /// Feature groups: "age,sex;bmi,bp;5", FILE.json, auto, auto=K or auto=tree
    ///
    /// Features are listed by name or index; quote names that contain a comma or semicolon. A file contains
    /// {"GROUP": ["FEATURE", …], …} or [["FEATURE", …], …].
    ///
    /// owen, banzhaf-owen and coalitional values support nested groups: "(age,sex;bmi);bp", or in a file, a
    /// group instead of a feature.
    ///
    /// auto finds groups of features whose dependence is significant and at least 0.1, in the data of
    /// --background, otherwise in the rows file. auto=K finds K groups; auto=tree uses the whole dendrogram,
    /// as nested groups. See also `apportion groups`.
    #[arg(long, value_name = "GROUPS")]
    pub(crate) groups: Option<Groups>,

    /// Graph of the features for l-shapley, c-shapley and myerson: line, grid=RxC, edges or file=FILE
    ///
    /// line connects consecutive features. grid=RxC arranges them row by row, and grid=RxC,8 also connects
    /// diagonal neighbours. Edges are pairs of names or indices, "age,sex;sex,bmi". A file contains one edge
    /// per line.
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<GraphOption>,

    #[command(flatten)]
    pub(crate) clustering: Clustering,

    /// Game, which defines how absent features are replaced
    ///
    /// marginal: by background rows.
    ///
    /// path-dependent: trees average over both branches of splits on absent features, weighted by their
    /// training cover. No background is needed. This is the default if the model stores cover and no
    /// background is set.
    ///
    /// Conditional games replace absent features given the present ones, with a distribution fitted to data:
    /// gaussian, copula (Gaussian copula, with ranked margins), empirical (rows similar to the explained
    /// row), frequency (rows with the same values, for discrete features).
    #[arg(long, value_parser = str::parse::<Game>)]
    pub(crate) game: Option<Game>,

    #[command(flatten)]
    pub(crate) distribution: DistributionOptions,

    /// Method; `apportion methods` lists all
    ///
    /// If a method does not support the value, the error lists those that do. Two names may refer to the same
    /// estimator with the same draws; JSON results then contain `same_as`.
    #[arg(long, default_value = "auto", value_parser = method)]
    pub(crate) method: Method,

    /// Evaluations of the game per row for sampling methods: a number (2000), or a multiple of the number of
    /// features (10n, 0.5n) [default: all coalitions of up to 11 features; for more, 20n, but at most the
    /// larger of 512 and 10n; for method table, 20 n^(1/4)]
    ///
    /// An evaluation takes one prediction per background row. Methods that use one background row at a time
    /// make the same total number of predictions, and so does the table method, for which a fraction of the
    /// number of features often suffices.
    #[arg(long, value_name = "M|Kn")]
    pub(crate) budget: Option<Budget>,

    /// Explained output: margin, probability or log-loss=CLASS
    ///
    /// margin is the raw score. probability is the output after the link function (a probability, a rate, a
    /// score). log-loss=CLASS is the loss of a classifier (−ln p) on rows of this class, given by name or
    /// index.
    ///
    /// For probability and log-loss, v(S) is the mean of these outputs over the background. Exact values
    /// enumerate the outputs that mixtures of a row with the background can reach; the run fails if this
    /// would take too long.
    #[arg(
        long = "output",
        value_parser = str::parse::<Space>,
        default_value = "margin",
        value_name = "SPACE"
    )]
    pub(crate) space: Space,

    /// Compute exact pairwise interactions, or an interaction index of coalitions
    ///
    /// index: the interaction index of --value for each pair, with the values on the diagonal. remainder, the
    /// convention of shap and XGBoost: each index is split between the two features, and the diagonal
    /// contains the rest of the value.
    ///
    /// The name of an interaction index computes it, in sparse form, for coalitions of up to --order
    /// features: shapley, banzhaf and every other semivalue, k-shapley, shapley-taylor, faithful-shapley,
    /// faithful-banzhaf, chaining, moebius, co-moebius, walsh, generalized-shapley, joint-shapley, … Trees
    /// and kernel machines may have any number of features. Other models are evaluated on all 2^n coalitions;
    /// if the budget does not cover them, some indices of order 2 are estimated.
    #[arg(
        long,
        value_parser = interactions,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "index",
        value_name = "FORM"
    )]
    pub(crate) interactions: Option<Interactions>,

    /// Maximum number of features of a coalition, for --interactions with an index [default: 2]
    #[arg(long, value_name = "S", requires = "interactions")]
    pub(crate) order: Option<usize>,

    /// Only this output of the model, by class name or index [default: all]
    #[arg(long, value_name = "NAME|K", allow_negative_numbers = true)]
    pub(crate) class: Option<String>,

    /// Show only the K largest attributions per row, and the sum of the others
    #[arg(long, value_name = "K", value_parser = top)]
    pub(crate) top: Option<usize>,

    /// Write feature importance over all rows instead of the rows
    ///
    /// For each feature: the mean of |value| with its standard deviation, and the mean, minimum and maximum
    /// value.
    #[arg(long)]
    pub(crate) summary: bool,

    /// Draw a figure instead of writing results
    ///
    /// Without --out, SVG is written to standard output. The extension of --out sets the format: .svg, .png,
    /// or .csv for the data of the figure. `apportion plot` draws results from a file, with more options.
    #[arg(long, value_name = "KIND", value_parser = kind(), conflicts_with_all = ["summary", "top"])]
    pub(crate) plot: Option<Kind>,

    /// Create an HTML report in a single file
    ///
    /// The report shows which features matter, for which rows, and how accurate the values are. Results are
    /// also written if --out is set (- is standard output). `apportion report` creates it from results in a
    /// file.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Show the whole command of --predict in the report [default: only the name of its program]
    ///
    /// The arguments of the program may contain passwords and tokens.
    #[arg(long, requires = "report")]
    pub(crate) show_command: bool,

    /// The command as it was typed.
    #[arg(skip)]
    pub(crate) command: CommandLine,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) accuracy: Accuracy,

    /// Random seed
    ///
    /// The same seed gives the same bytes with any number of threads.
    #[arg(long, default_value_t = 0, value_name = "U64", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,

    /// Save progress to FILE periodically, to continue with --resume
    ///
    /// Explained rows and evaluations are saved every few seconds and at the end, so that a run that is
    /// interrupted or killed can be resumed.
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Seconds between writes of the checkpoint; more if writing takes long
    #[arg(
        long,
        value_name = "S",
        default_value_t = 5,
        requires = "checkpoint",
        value_parser = clap::value_parser!(u64).range(..=86_400)
    )]
    pub(crate) checkpoint_every: u64,

    /// Continue from a checkpoint
    ///
    /// All other options must be those of the interrupted run. The results are byte-identical to those of an
    /// uninterrupted run.
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) threads: Threads,

    /// Write timings to standard error as a line of JSON
    ///
    /// load_s, explain_s and write_s are wall-clock seconds in this process.
    #[arg(long)]
    pub(crate) timings: bool,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// Settings of the exact method for trees.
#[derive(Debug, Args)]
pub(crate) struct Engine {
    /// Algorithm for exact values of trees
    ///
    /// auto selects the fastest for each tree. tables: lookup tables of the values of all patterns of
    /// decisions, for many rows. quadrature: several rows at once, for the path-dependent game or a single
    /// background row. walk: leaf by leaf, for few rows. cohorts: a row against the whole background as bit
    /// sets, for few rows. masks: patterns of the background, for long paths. All give the same values, up to
    /// rounding.
    #[arg(long, value_enum, default_value = "auto", value_name = "NAME")]
    pub(crate) kernel: KernelOption,

    /// Floating-point type of the lookup tables
    ///
    /// f32 halves the memory and has errors of up to 1e-7; sums are always computed in f64.
    #[arg(long, value_enum, default_value = "f64", value_name = "WIDTH")]
    pub(crate) precision: PrecisionOption,
}

/// An algorithm for exact values of trees, or the automatic choice of one.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum KernelOption {
    Auto,
    Tables,
    Quadrature,
    Walk,
    Cohorts,
    Masks,
}

/// The floating-point type of the lookup tables.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum PrecisionOption {
    F64,
    F32,
}

/// Parses a seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected an integer from 0 to {}", u64::MAX))
}

/// The kind of interactions that `--interactions` requests.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Interactions {
    /// The interaction index of each pair, with the values on the diagonal.
    Index,
    /// The convention of shap and XGBoost: each row of the matrix sums to the value of its feature.
    Remainder,
    /// An interaction index for coalitions of several sizes.
    Of(InteractionIndex),
}

impl Interactions {
    /// Returns the kind of entries on the diagonal of the interaction matrix.
    pub(crate) fn diagonal(&self) -> Diagonal {
        match self {
            Self::Remainder => Diagonal::Remainder,
            Self::Index | Self::Of(_) => Diagonal::Value,
        }
    }
}

fn interactions(text: &str) -> Result<Interactions, String> {
    match text {
        "index" => Ok(Interactions::Index),
        "remainder" => Ok(Interactions::Remainder),
        name => name
            .parse()
            .map(Interactions::Of)
            .map_err(|error| format!("{error}; or use index or remainder, for a matrix of pairs")),
    }
}

/// The requested accuracy: a tolerance, and how the error is measured.
#[derive(Debug, Args)]
pub(crate) struct Accuracy {
    /// Tolerance: evaluate until the error is small enough
    ///
    /// The tolerance is relative to the norm of the values (e.g. 0.01), unless --relative-to and --error set
    /// something else. --budget is then the maximum number of evaluations per row [default: 1000 per feature,
    /// at least 100,000, at most all coalitions].
    #[arg(long, value_name = "TOLERANCE", allow_hyphen_values = true)]
    pub(crate) until: Option<f64>,

    /// Probability with which the error must be within the tolerance [default: 0.95]
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub(crate) confidence: Option<f64>,

    /// Quantity to which the tolerance is relative [default: norm]
    #[arg(long, value_enum)]
    pub(crate) relative_to: Option<RelativeTo>,

    /// Measure of the error over all players [default: euclidean]
    #[arg(long, value_enum)]
    pub(crate) error: Option<Error>,

    /// Largest minus smallest output of the model, if known
    ///
    /// Methods that average independent draws (permutation, optimized-monte-carlo, monte-carlo) then report
    /// bounds that hold for any number of draws.
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub(crate) range: Option<f64>,
}

/// The reference of a relative tolerance.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum RelativeTo {
    /// The Euclidean norm of the values.
    Norm,
    /// The largest minus the smallest value.
    Range,
    /// Absolute tolerance, in units of the output.
    Nothing,
}

/// The norm of the errors of all players.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Error {
    /// The Euclidean norm of all errors.
    Euclidean,
    /// The largest error.
    EveryPlayer,
}

#[derive(Debug, Args)]
pub(crate) struct FindGroups {
    /// Rows file: CSV with a header, npy, Parquet or Arrow (Feather); - is standard input
    ///
    /// Files may be compressed with gzip or zstd. A .npy file contains a matrix of numbers. The format is
    /// detected from the content.
    #[arg(long, value_name = "FILE")]
    pub(crate) rows: PathBuf,

    /// Rows to use, counted from 0, e.g. 3,17 or 5-9 [default: all]
    #[arg(long, value_name = "ROWS")]
    pub(crate) select: Option<Selection>,

    #[command(flatten)]
    pub(crate) columns: Columns,

    /// Cut of the dendrogram: auto (groups whose dependence is significant and at least 0.1) or auto=K (K
    /// groups)
    #[arg(long, default_value = "auto", value_name = "auto|auto=K")]
    pub(crate) groups: Groups,

    #[command(flatten)]
    pub(crate) clustering: Clustering,

    /// Draw the dendrogram to an SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) figure: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl Inspect {
    /// Returns the model that `--model` specifies.
    pub(crate) fn model_file(&self) -> Option<ModelFile> {
        let path = self.model.clone()?;
        Some(ModelFile { path, reading: self.reading.clone() })
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompileBackground {
    #[command(flatten)]
    pub(crate) model: ModelFile,

    /// Background rows, in any format that `explain` reads; - is standard input
    ///
    /// The rows are read once, in blocks, so their number is not limited by memory.
    #[arg(long, value_name = "FILE")]
    pub(crate) background: PathBuf,

    #[command(flatten)]
    pub(crate) columns: Columns,

    #[command(flatten)]
    pub(crate) threads: Threads,

    /// Output file, written completely or not at all
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Predict {
    #[command(flatten)]
    pub(crate) input: Input,

    /// Output to predict: margin, or probability (after the link function)
    #[arg(
        long = "output",
        value_parser = str::parse::<Space>,
        default_value = "margin",
        value_name = "SPACE"
    )]
    pub(crate) space: Space,

    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// File to inspect: a model, rows, a compiled background, results or a checkpoint
    ///
    /// The kind is detected from the content. Rows with strings as categories require --model, a model with
    /// these categories, or --ignore.
    pub(crate) file: Option<PathBuf>,

    /// Model file, in any format that `explain` reads
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: Reading,

    #[command(flatten)]
    pub(crate) columns: Columns,

    /// Also show the cost of explaining with this background (rows, or compiled for the model)
    #[arg(long, value_name = "FILE", requires = "model")]
    pub(crate) background: Option<PathBuf>,

    /// Output format: table, json, jsonl or csv
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,

    /// Write to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A model file, and which part of it is used.
#[derive(Debug, Args)]
pub(crate) struct ModelFile {
    /// Model file of XGBoost, LightGBM, CatBoost, scikit-learn or treelite, plain or gzipped
    ///
    /// Formats: XGBoost (JSON, UBJ), LightGBM (text), CatBoost (cbm, JSON), scikit-learn (ONNX, or the JSON
    /// of apportion.scikit_learn_to_json in Python), treelite (JSON).
    #[arg(long = "model", value_name = "FILE")]
    pub(crate) path: PathBuf,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Settings for reading a model file.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Reading {
    /// Boosting rounds to use: K (the first K), A..B (from A to B − 1, counted from 0), or all
    ///
    /// A round is what the library adds at a time: a tree for each output in XGBoost and LightGBM, a single
    /// tree in other formats. Default: the rounds up to the best one, if early stopping stored it in the
    /// file, otherwise all.
    #[arg(long, value_name = "K|A..B|all", value_parser = rounds)]
    pub(crate) trees: Option<Rounds>,

    /// Maximum number of features of the model [default: 1048576]
    ///
    /// A corrupt file may declare any number.
    #[arg(long, value_name = "COUNT")]
    pub(crate) most_features: Option<usize>,
}

/// The model: a file or a program.
#[derive(Debug, Args)]
pub(crate) struct Predictor {
    /// Model file of XGBoost, LightGBM, CatBoost, scikit-learn or treelite, plain or gzipped
    ///
    /// Formats: XGBoost (JSON, UBJ), LightGBM (text), CatBoost (cbm, JSON), scikit-learn (ONNX, or the JSON
    /// of apportion.scikit_learn_to_json in Python), treelite (JSON), support vector machines (ONNX). With
    /// the build feature networks also neural networks (ONNX).
    #[arg(
        id = "model",
        long = "model",
        value_name = "FILE",
        required_unless_present = "predict",
        conflicts_with = "predict"
    )]
    pub(crate) path: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// Output of a neural network to explain, if it has several
    #[cfg(feature = "networks")]
    #[arg(long, value_name = "NAME", requires = "model")]
    pub(crate) model_output: Option<String>,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,
}

impl Predictor {
    /// Returns the name of the network output that `--model-output` specifies, if any.
    pub(crate) fn output(&self) -> Option<&str> {
        #[cfg(feature = "networks")]
        return self.model_output.as_deref();
        #[cfg(not(feature = "networks"))]
        None
    }
}

/// A model and rows for it.
#[derive(Debug, Args)]
pub(crate) struct Input {
    #[command(flatten)]
    pub(crate) model: Predictor,

    /// Rows file: CSV with a header, npy, Parquet or Arrow (Feather); - is standard input
    ///
    /// Files may be compressed with gzip or zstd. A .npy file contains a matrix of numbers. The format is
    /// detected from the content.
    #[arg(long, value_name = "FILE")]
    pub(crate) rows: PathBuf,

    /// Rows to use, counted from 0, e.g. 3,17 or 5-9 [default: all]
    #[arg(long, value_name = "ROWS")]
    pub(crate) select: Option<Selection>,

    #[command(flatten)]
    pub(crate) columns: Columns,
}

#[derive(Debug, Args)]
pub(crate) struct Threads {
    /// Number of threads, at most 1024; 0 uses all cores [default: 0]
    #[arg(
        long,
        default_value_t = 0,
        value_name = "T",
        hide_default_value = true,
        value_parser = clap::value_parser!(u16).range(..=1024)
    )]
    pub(crate) threads: u16,
}

#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Output format
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: Format,

    /// Write to a file instead of standard output; the file is written completely or not at all
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Parses the number of features shown per row.
fn top(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&top| top > 0).ok_or_else(|| "expected an integer ≥ 1".to_owned())
}
