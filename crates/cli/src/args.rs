//! The command-line arguments of the commands on rows.

use std::path::PathBuf;

use apportion::plots::Kind;
use apportion::trees::Diagonal;
use apportion::values::InteractionIndex;
use apportion::{Budget, Method, Rounds, SolutionConcept};
use clap::{Args, ValueEnum};

use crate::graph::GraphOption;
use crate::groups::{Clustering, Groups};
use crate::law_options::LawOptions;
use crate::methods::method;
use crate::output::Format;
use crate::pictures::{CommandLine, kind};
use crate::program::ProgramArgs;
use crate::rounds::rounds;
use crate::rows::Columns;
use crate::select::Selection;

pub(crate) use apportion::options::{GameName as Game, OutputName as Space};

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) input: Input,

    /// What absent features are replaced by: the rows of a file, over which the game is averaged [default: none for the path-dependent
    /// game, else 100 rows of the rows file at most, drawn by --seed], or `mean` (the column means of the whole rows file, missing cells
    /// left out). For --game path-dependent rows that are counted at the nodes of the trees, in place of the covers in the model. For
    /// the games gaussian, copula, empirical and frequency the data that their law is fitted on [default: the whole rows file]
    #[arg(long, value_name = "FILE|mean")]
    pub(crate) background: Option<PathBuf>,

    /// Rows of the background file to use, such as 0,4-7; without a background file, rows of the rows file
    #[arg(long, value_name = "ROWS")]
    pub(crate) background_select: Option<Selection>,

    /// A background that `apportion compile-background` compiled for this model, in place of its rows; the method is tree
    #[arg(long, value_name = "FILE", conflicts_with_all = ["background", "background_select"])]
    pub(crate) background_compiled: Option<PathBuf>,

    /// The value to compute: shapley, banzhaf, weighted-banzhaf=P (0 < P < 1), beta=A,B (Beta-Shapley; 1,1 is shapley, a large A looks at
    /// small coalitions); or your own: by-size=W0,W1,… (a weight for each coalition of 0, 1, … others), size-law=P0,P1,… (a probability
    /// for each size), mixture=T:W,T:W,… (probabilities of presence T with weights W). Of features in groups: owen, banzhaf-owen, two-step,
    /// symmetric-coalitional-banzhaf, coalitional=BETWEEN/WITHIN (two of the above). Of groups: quotient-shapley, quotient-banzhaf,
    /// quotient-NAME. Of features on a graph: l-shapley=K (all coalitions within distance K of a feature), c-shapley=K (connected ones),
    /// myerson (all connected ones)
    #[arg(long, default_value = "shapley", value_parser = str::parse::<SolutionConcept>)]
    pub(crate) value: SolutionConcept,

    /// Which features belong together, by name or number: "age,sex;bmi,bp;5", names that hold a comma or semicolon in quotes; or a file
    /// FILE.json, {"GROUP": ["FEATURE", …], …} or [["FEATURE", …], …]. Groups within groups, for owen, banzhaf-owen and coalitional values:
    /// "(age,sex;bmi);bp", a group in the place of a feature in a file. auto finds groups that depend on each other
    /// (significantly, and at least by 0.1) in the data of --background, else in the rows file; auto=K finds K of them, auto=tree their
    /// whole dendrogram, groups within groups (see also `apportion groups`)
    #[arg(long, value_name = "GROUPS")]
    pub(crate) groups: Option<Groups>,

    /// Which features are next to each other, for l-shapley, c-shapley and myerson: line (as they come), grid=RxC (row by row; grid=RxC,8
    /// with neighbours at corners), edges by name or number "age,sex;sex,bmi", or file=FILE with an edge on each line
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<GraphOption>,

    #[command(flatten)]
    pub(crate) clustering: Clustering,

    /// The game to play: marginal (absent features come from the background); path-dependent (trees average over the branches of absent
    /// features by their training cover; needs no background), which is the default where the model has covers and no background is
    /// named; or conditional on the present features, by a law fitted on data: gaussian,
    /// copula (Gaussian copula, margins by ranks), empirical (rows near the explicand), frequency (rows that agree with it; for
    /// discrete features)
    #[arg(long, value_parser = str::parse::<Game>)]
    pub(crate) game: Option<Game>,

    #[command(flatten)]
    pub(crate) law: LawOptions,

    /// How to compute it; `apportion methods` lists the methods
    ///
    /// A method that cannot compute the value is refused with those that can. Two names may be one estimator with the same draws; JSON says
    /// so in `same_as`.
    #[arg(long, default_value = "auto", value_parser = method)]
    pub(crate) method: Method,

    /// Evaluations of the game per row for methods that estimate: a count (2000), or a multiple of the features (10n). One evaluation
    /// takes the predictions of all background rows, or that many against one row each [default: the larger of 2048 and 20n]
    #[arg(long, value_name = "M|Kn")]
    pub(crate) budget: Option<Budget>,

    /// What to divide: the margin; probability, what the model says behind its link (a probability, a rate, a score); or log-loss=CLASS,
    /// what a classifier loses (−ln p) on rows that are of this class, by its name or number. The game is then the mean over the background of these
    /// outputs; exact values enumerate what mixtures of a row with the background can reach, and are refused where that takes too long
    #[arg(long = "output", value_parser = str::parse::<Space>, default_value = "margin", value_name = "SPACE")]
    pub(crate) space: Space,

    /// Divide each prediction among pairs of features, too: the interaction index of --value, exactly. index has the values on the
    /// diagonal and the index of each pair beside it; remainder, the convention of shap and XGBoost, shares each index between the two
    /// and leaves the rest of the value on the diagonal. Or the name of an interaction index, for coalitions of up to --order features, sparse:
    /// shapley, banzhaf and every other value, k-shapley, shapley-taylor, faithful-shapley, faithful-banzhaf, chaining, moebius, co-moebius,
    /// walsh, generalized-shapley, joint-shapley, …; of trees for any number of features, of every other model by all 2^n coalitions
    #[arg(long, value_parser = interactions, num_args = 0..=1, require_equals = true, default_missing_value = "index", value_name = "FORM")]
    pub(crate) interactions: Option<Interactions>,

    /// The most features of a coalition whose interaction index is told, with --interactions [default: 2]
    #[arg(long, value_name = "S", requires = "interactions")]
    pub(crate) order: Option<usize>,

    /// Only this output of the model, by the name of a class or by number [default: all]
    #[arg(long, value_name = "NAME|K", allow_negative_numbers = true)]
    pub(crate) class: Option<String>,

    /// Of each row only the K features that matter most, and the sum of the rest
    #[arg(long, value_name = "K", value_parser = top)]
    pub(crate) top: Option<usize>,

    /// How much each feature matters over all rows, in place of the rows: the mean of its values' sizes with their standard deviation, and
    /// the mean, least and largest value
    #[arg(long)]
    pub(crate) summary: bool,

    /// Draw a figure in place of the results: to --out, whose ending says how (.svg, .png, or .csv, the numbers behind it), else SVG to
    /// standard output. `apportion plot` draws results from their file, with more to choose
    #[arg(long, value_name = "KIND", value_parser = kind(), conflicts_with_all = ["summary", "top"])]
    pub(crate) plot: Option<Kind>,

    /// Write a page in one file that opens in any browser: what matters, for whom, and how sure that is. The results are written beside it
    /// where --out says where (- is standard output). `apportion report` makes it of results in a file
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Show the whole command of --predict in the report [default: the name of its program, as its arguments may contain passwords and tokens]
    #[arg(long, requires = "report")]
    pub(crate) show_command: bool,

    /// The command as it was typed.
    #[arg(skip)]
    pub(crate) command: CommandLine,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) accuracy: Accuracy,

    /// Seed of all draws; the same seed gives the same bytes on any number of threads
    #[arg(long, default_value_t = 0, value_name = "U64", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,

    /// Keep what was explained and evaluated so far in a file, now and then and at the end, so that a run that is interrupted (or
    /// killed) can be resumed
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Seconds between two times that the checkpoint is written; more where writing takes long
    #[arg(long, value_name = "S", default_value_t = 5, requires = "checkpoint", value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub(crate) checkpoint_every: u64,

    /// Go on from a checkpoint; all other options must be those that it was begun with. The results are those of a run that was not
    /// interrupted, to the byte
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) threads: Threads,

    /// Write one line of JSON on standard error: load_s, explain_s and write_s, wall seconds in this process
    #[arg(long)]
    pub(crate) timings: bool,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// Settings of the exact method for trees.
#[derive(Debug, Args)]
pub(crate) struct Engine {
    /// How exact values of trees are computed: auto takes the least time, tree by tree; tables (values of all patterns of decisions, looked
    /// up; for many rows), quadrature (rows side by side; the path-dependent game, or one background row), walk (leaf by leaf; for few rows), cohorts (a row
    /// against the whole background as sets of bits; for few rows), masks (patterns of the
    /// background; long paths). All give the same numbers, to rounding
    #[arg(long, value_enum, default_value = "auto", value_name = "NAME")]
    pub(crate) kernel: KernelOption,

    /// The numbers in tables: f32 takes half the memory and is off by up to 1e-7; sums are always in f64
    #[arg(long, value_enum, default_value = "f64", value_name = "WIDTH")]
    pub(crate) precision: PrecisionOption,
}

/// A kernel, or the automatic choice of one.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum KernelOption {
    Auto,
    Tables,
    Quadrature,
    Walk,
    Cohorts,
    Masks,
}

/// The number type of tables.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum PrecisionOption {
    F64,
    F32,
}

/// Parses a seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}

/// The form of interactions.
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
    /// Returns the content of the diagonal of a matrix.
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
            .map_err(|error| format!("expected index, remainder or the name of an index; {error}")),
    }
}

/// A requested accuracy, instead of a budget.
#[derive(Debug, Args)]
pub(crate) struct Accuracy {
    /// Stop where the error is small enough: a share of the norm of the values (0.01), or as --relative-to and --error say. --budget is
    /// then the most evaluations per row [default: 1000 for each feature, at least 100 000, at most all coalitions]
    #[arg(long, value_name = "TOLERANCE", allow_hyphen_values = true)]
    pub(crate) until: Option<f64>,

    /// The probability with which the error is to be within the tolerance [default: 0.95]
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub(crate) confidence: Option<f64>,

    /// What the tolerance is a share of [default: norm]
    #[arg(long, value_enum)]
    pub(crate) relative_to: Option<RelativeTo>,

    /// How the error of all players is measured [default: euclidean]
    #[arg(long, value_enum)]
    pub(crate) error: Option<Error>,

    /// The largest output of the model less its least, where it is known. Methods that take means of independent draws (permutation,
    /// optimized-monte-carlo, monte-carlo) then give bounds that hold for few draws as for many
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub(crate) range: Option<f64>,
}

/// The reference of a relative tolerance.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum RelativeTo {
    /// The Euclidean norm of the values.
    Norm,
    /// The largest value less the least.
    Range,
    /// Nothing: it is in units of the output.
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
    /// Rows: CSV with a header, a .npy matrix of numbers, Parquet or Arrow (Feather); plain, or packed by gzip or zstd; - is standard
    /// input. What they are is found from the content
    #[arg(long, value_name = "FILE")]
    pub(crate) rows: PathBuf,

    /// Only these rows, counted from 0, such as 3,17 or 5-9 [default: all]
    #[arg(long, value_name = "ROWS")]
    pub(crate) select: Option<Selection>,

    #[command(flatten)]
    pub(crate) columns: Columns,

    /// Where to cut: auto (groups whose dependence is significant and at least 0.1) or auto=K (K groups)
    #[arg(long, default_value = "auto", value_name = "auto|auto=K")]
    pub(crate) groups: Groups,

    #[command(flatten)]
    pub(crate) clustering: Clustering,

    /// Draw the dendrogram into an SVG file
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

    /// The rows of the background, in any format that `explain` reads them from; - is standard input. They are read once, in pieces, so
    /// there may be any number of them
    #[arg(long, value_name = "FILE")]
    pub(crate) background: PathBuf,

    #[command(flatten)]
    pub(crate) columns: Columns,

    #[command(flatten)]
    pub(crate) threads: Threads,

    /// Where the compiled background goes; it appears whole or not at all
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Predict {
    #[command(flatten)]
    pub(crate) input: Input,

    /// What to predict: margin, or probability, what the model says behind its link
    #[arg(long = "output", value_parser = str::parse::<Space>, default_value = "margin", value_name = "SPACE")]
    pub(crate) space: Space,

    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// What to look at: a model, rows, a compiled background, results or a checkpoint; found from the content
    ///
    /// Rows that hold words need the model that knows them, by --model, or --ignore.
    pub(crate) file: Option<PathBuf>,

    /// Model file, of any library that `explain` knows; plain or gzipped
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: Reading,

    #[command(flatten)]
    pub(crate) columns: Columns,

    /// Rows of a background, or a background compiled for the model: tells what explaining against it would take, too
    #[arg(long, value_name = "FILE", requires = "model")]
    pub(crate) background: Option<PathBuf>,

    /// How to write the facts; npy cannot hold them
    #[arg(long, value_enum, default_value = "table")]
    pub(crate) format: Format,

    /// Write to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A model file, and which part of it is used.
#[derive(Debug, Args)]
pub(crate) struct ModelFile {
    /// Model file: XGBoost (JSON, UBJ), LightGBM (text), CatBoost (cbm, JSON), scikit-learn (ONNX, or the JSON of the Python package's apportion.scikit_learn_to_json), treelite (JSON); plain or gzipped
    #[arg(long = "model", value_name = "FILE")]
    pub(crate) path: PathBuf,

    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Settings for reading a model file.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Reading {
    /// Rounds of boosting to use: K (the first K), A..B (from A to B − 1, counted from 0), or all. A round is what the library adds at a
    /// time: a tree for each output of XGBoost and LightGBM, a tree of other formats [default: those up to the best one, where early
    /// stopping left its number in the file, else all]
    #[arg(long, value_name = "K|A..B|all", value_parser = rounds)]
    pub(crate) trees: Option<Rounds>,

    /// The most features that the model may have; a damaged file can say any number [default: 1048576]
    #[arg(long, value_name = "COUNT")]
    pub(crate) most_features: Option<usize>,
}

/// The model: a file or a program.
#[derive(Debug, Args)]
pub(crate) struct Predictor {
    /// Model file: XGBoost (JSON, UBJ), LightGBM (text), CatBoost (cbm, JSON), scikit-learn (ONNX, or the JSON of the Python package's apportion.scikit_learn_to_json), treelite (JSON); plain or gzipped. With the feature networks a neural network (ONNX), too
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

    /// The output of a neural network to explain, where it has several
    #[cfg(feature = "networks")]
    #[arg(long, value_name = "NAME", requires = "model")]
    pub(crate) model_output: Option<String>,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,
}

impl Predictor {
    /// Returns the output of a neural network that the options name.
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

    /// Rows: CSV with a header, a .npy matrix of numbers, Parquet or Arrow (Feather); plain, or packed by gzip or zstd; - is standard
    /// input. What they are is found from the content
    #[arg(long, value_name = "FILE")]
    pub(crate) rows: PathBuf,

    /// Only these rows, counted from 0, such as 3,17 or 5-9 [default: all]
    #[arg(long, value_name = "ROWS")]
    pub(crate) select: Option<Selection>,

    #[command(flatten)]
    pub(crate) columns: Columns,
}

#[derive(Debug, Args)]
pub(crate) struct Threads {
    /// Threads to use, at most 1024 [default: all cores; so is 0]
    #[arg(long, default_value_t = 0, value_name = "T", hide_default_value = true, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub(crate) threads: u16,
}

#[derive(Debug, Args)]
pub(crate) struct Output {
    /// How to write the results
    #[arg(long, value_enum, default_value = "json")]
    pub(crate) format: Format,

    /// Write to a file instead of standard output; it appears whole or not at all
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Parses the number of features shown per row.
fn top(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&top| top > 0)
        .ok_or_else(|| "a number of features is wanted, at least 1".to_owned())
}
