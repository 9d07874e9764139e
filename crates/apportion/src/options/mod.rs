//! All options of an explainer, set by name or as values, for the command, the Python package and DataFusion.

mod accuracy;
mod distribution;
mod engine;
mod error;
#[cfg(feature = "conditional")]
mod fit;
mod game_name;
mod graph;
mod groups;
mod names;
mod nested;
mod output;
pub mod quoted;

use std::str::FromStr;

use apportion_values::{SolutionConcept, Value};

use names::NAMES;

use crate::budget::Budget;
use crate::explainer::{Explainer, NullPlayers};
use crate::game_explainer::GameExplainer;
use crate::method::Method;

pub use accuracy::Accuracy;
pub use distribution::{Bandwidth, Distribution, UnknownBandwidth, Variant};
pub use engine::Engine;
pub use error::OptionError;
pub use game_name::{GameName, UnknownGame};
pub use graph::GraphOption;
pub use groups::{FindGroups, Groups, Structure, format_groups, members};
pub use output::{OutputName, UnknownOutput};

use accuracy::{MEASURES, SCALES};
#[cfg(feature = "conditional")]
use distribution::FALLBACKS;
use distribution::VARIANTS;
#[cfg(feature = "trees")]
use engine::PRECISIONS;

/// All options of an explainer.
///
/// ```
/// use apportion::options::Options;
/// use apportion::{Background, Explainer};
///
/// let mut options = Options::default();
/// options.set("budget", "20n")?;
/// options.set("seed", "7")?;
/// let names: Vec<String> = (0..30).map(|feature| format!("f{feature}")).collect();
/// let model = |row: &[f64]| row[0] * row[1] + row[2];
/// let explainer = Explainer::new(&model, Background::baseline(vec![0.0; 30])?);
/// let explainer = options.explainer(explainer, options.value(&names)?)?;
/// assert_eq!(explainer.explain(&[1.0; 30])?.evaluations, 600);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The solution concept.
    pub value: SolutionConcept,
    /// The groups of features.
    pub groups: Option<Groups>,
    /// The graph of features.
    pub graph: Option<GraphOption>,
    /// The game; `None` if it depends on the model and the background.
    pub game: Option<GameName>,
    /// The output of the model to explain.
    pub output: OutputName,
    /// The method of computing values.
    pub method: Method,
    /// The budget per row; `None` for the default.
    pub budget: Option<Budget>,
    /// The tolerance of a run.
    pub accuracy: Accuracy,
    /// The seed of all draws.
    pub seed: u64,
    /// Options of the exact algorithms for trees.
    pub engine: Engine,
    /// Options of the distribution of a conditional game.
    pub distribution: Distribution,
    /// The treatment of null players.
    pub null_players: NullPlayers,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            value: SolutionConcept::Semivalue(apportion_values::Semivalue::Shapley),
            groups: None,
            graph: None,
            game: None,
            output: OutputName::default(),
            method: Method::default(),
            budget: None,
            accuracy: Accuracy::default(),
            seed: 0,
            engine: Engine::default(),
            distribution: Distribution::default(),
            null_players: NullPlayers::default(),
        }
    }
}

impl Options {
    /// The names of all options.
    pub const NAMES: [&str; 22] = NAMES;

    /// Sets an option from text.
    ///
    /// ```
    /// use apportion::options::{GameName, Options};
    ///
    /// let mut options = Options::default();
    /// options.set("game", "gaussian")?;
    /// assert_eq!(options.game, Some(GameName::Gaussian));
    /// let message = options.set("budget", "n10").unwrap_err().to_string();
    /// assert!(message.contains("n10"), "{message}");
    /// # Ok::<(), apportion::options::OptionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`OptionError`] for an unknown option or an invalid value.
    pub fn set(&mut self, name: &str, words: &str) -> Result<(), OptionError> {
        match name {
            "value" => self.value = parse("value", words)?,
            "groups" => self.groups = Some(words.parse()?),
            "graph" => self.graph = Some(words.parse()?),
            "game" => self.game = Some(parse("game", words)?),
            "output" => self.output = words.parse().map_err(|error| form("output", words, error))?,
            "method" => self.method = parse("method", words)?,
            "budget" => self.budget = Some(parse("budget", words)?),
            "until" => self.accuracy.tolerance = Some(number("until", words)?),
            "confidence" => self.accuracy.confidence = Some(number("confidence", words)?),
            "relative-to" => self.accuracy.relative_to = Some(word("relative-to", words, &SCALES)?),
            "error" => self.accuracy.error = Some(word("error", words, &MEASURES)?),
            "range" => self.accuracy.range = Some(number("range", words)?),
            "seed" => self.seed = whole("seed", words, "an integer from 0 to 2^64 - 1")?,
            #[cfg(feature = "trees")]
            "kernel" => {
                let kernels = apportion_trees::Kernel::ALL.map(|kernel| (kernel.name(), Some(kernel)));
                let known: Vec<_> = [("auto", None)].into_iter().chain(kernels).collect();
                self.engine.kernel = word("kernel", words, &known)?;
            }
            #[cfg(feature = "trees")]
            "precision" => self.engine.precision = word("precision", words, &PRECISIONS)?,
            "rows" => self.engine.rows = Some(whole("rows", words, "a number of rows")?),
            "draws" => self.distribution.draws = Some(whole("draws", words, "a number of rows")?),
            "bandwidth" => {
                let bandwidth = words.parse().map_err(|error| form("bandwidth", words, error))?;
                self.distribution.bandwidth = Some(bandwidth);
            }
            "share" => self.distribution.share = Some(number("share", words)?),
            "variant" => self.distribution.variant = Some(word("variant", words, &VARIANTS)?),
            #[cfg(feature = "conditional")]
            "fallback" => self.distribution.fallback = Some(word("fallback", words, &FALLBACKS)?),
            "keep-null-players" => {
                let known = [("true", NullPlayers::Keep), ("false", NullPlayers::TakeOut)];
                self.null_players = word("keep-null-players", words, &known)?;
            }
            _ => return Err(OptionError::Unknown { name: name.to_owned() }),
        }
        Ok(())
    }

    /// Returns the options that determine the results, each as the text stored in checkpoints.
    ///
    /// Interfaces that choose the game, the method or the budget, or find groups in data, set these options
    /// first. Options without a value are `none`.
    ///
    /// # Errors
    ///
    /// The errors of [`Accuracy::until`].
    pub fn key(&self) -> Result<[(&'static str, String); 11], OptionError> {
        let or_none = |words: Option<String>| words.unwrap_or_else(|| "none".to_owned());
        Ok([
            ("value", self.value.to_string()),
            ("groups", or_none(self.groups.as_ref().map(Groups::words))),
            ("graph", or_none(self.graph.as_ref().map(GraphOption::words))),
            ("game", or_none(self.game.map(|game| game.to_string()))),
            ("output", self.output.words()),
            ("engine", self.engine.words()),
            ("distribution", self.distribution.words()),
            ("method", self.method.to_string()),
            ("budget", or_none(self.budget.map(|budget| budget.to_string()))),
            ("accuracy", or_none(self.accuracy.until()?.map(|until| until.words()))),
            ("seed", self.seed.to_string()),
        ])
    }

    /// Returns the value to compute, for features with these `names`.
    ///
    /// # Errors
    ///
    /// [`OptionError`] for groups and graphs that do not match the features or the value, or that are still
    /// to be found in data.
    pub fn value(&self, names: &[String]) -> Result<Value, OptionError> {
        let groups = match &self.groups {
            None => None,
            Some(groups) => Some(groups.structure(names)?.ok_or_else(|| OptionError::Form {
                option: "groups",
                actual: groups.words(),
                expected: "explicit groups, e.g. age,sex;bmi".to_owned(),
            })?),
        };
        let graph = self.graph.as_ref().map(|graph| graph.graph(names)).transpose()?;
        Structure::value(self.value.clone(), groups, graph).map_err(OptionError::Value)
    }

    /// Applies these options to an explainer.
    ///
    /// # Errors
    ///
    /// The errors of [`Accuracy::until`].
    pub fn explainer<'a>(
        &self,
        explainer: Explainer<'a>,
        value: impl Into<Value>,
    ) -> Result<Explainer<'a>, OptionError> {
        let explainer = explainer
            .value(value)
            .method(self.method)
            .budget(self.budget.unwrap_or_default())
            .seed(self.seed)
            .null_players(self.null_players);
        #[cfg(feature = "trees")]
        let explainer = explainer.settings(self.engine.settings());
        Ok(match self.accuracy.until()? {
            Some(until) => explainer.until(until),
            None => explainer,
        })
    }

    /// Creates an explainer of games with these options.
    ///
    /// # Errors
    ///
    /// The errors of [`Accuracy::until`].
    pub fn game_explainer(&self, value: impl Into<Value>) -> Result<GameExplainer, OptionError> {
        let explainer = GameExplainer::new()
            .value(value)
            .method(self.method)
            .budget(self.budget.unwrap_or_default())
            .seed(self.seed);
        Ok(match self.accuracy.until()? {
            Some(until) => explainer.until(until),
            None => explainer,
        })
    }
}

/// Parses the value of an option with a parser whose error messages quote the value.
fn parse<T: FromStr<Err: ToString>>(option: &'static str, words: &str) -> Result<T, OptionError> {
    words.parse().map_err(|error: T::Err| OptionError::Invalid { option, problem: error.to_string() })
}

/// Returns the error for a value of the wrong form; `error` is "expected …".
fn form(option: &'static str, words: &str, error: impl ToString) -> OptionError {
    let text = error.to_string();
    let expected = text.strip_prefix("expected ").unwrap_or(&text).to_owned();
    OptionError::Form { option, actual: words.to_owned(), expected }
}

fn number(option: &'static str, words: &str) -> Result<f64, OptionError> {
    words.parse().map_err(|_| form(option, words, "expected a number"))
}

fn whole<T: FromStr>(option: &'static str, words: &str, expected: &str) -> Result<T, OptionError> {
    words.parse().map_err(|_| form(option, words, expected))
}

/// Returns the known value with the name `words`.
fn word<T: Clone>(option: &'static str, words: &str, known: &[(&'static str, T)]) -> Result<T, OptionError> {
    let found = known.iter().find(|(name, _)| *name == words).map(|(_, value)| value.clone());
    found.ok_or_else(|| OptionError::Word {
        option,
        actual: words.to_owned(),
        expected: known.iter().map(|(name, _)| *name).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of every option, different from the default.
    const WORDS: [(&str, &str); 22] = [
        ("value", "owen"),
        ("groups", "0,1;2"),
        ("graph", "grid=2x3,8"),
        ("game", "empirical"),
        ("output", "log-loss=cat"),
        ("method", "kernel-shap"),
        ("budget", "20n"),
        ("until", "0.01"),
        ("confidence", "0.9"),
        ("relative-to", "nothing"),
        ("error", "every-player"),
        ("range", "2"),
        ("seed", "18446744073709551615"),
        ("kernel", "walk"),
        ("precision", "f32"),
        ("rows", "5"),
        ("draws", "100"),
        ("bandwidth", "0.5"),
        ("share", "0.9"),
        ("variant", "shapr"),
        ("fallback", "nearest"),
        ("keep-null-players", "true"),
    ];

    #[test]
    fn every_option_can_be_set_and_refuses_other_words() {
        assert_eq!(WORDS.map(|(name, _)| name), Options::NAMES);
        for (name, words) in WORDS {
            let mut options = Options::default();
            options.set(name, words).unwrap();
            assert_ne!(options, Options::default(), "{name}");
            // Edges and groups can be any text until they are checked against the features.
            if !matches!(name, "groups" | "graph") {
                let message = options.set(name, "no such value").unwrap_err().to_string();
                assert!(message.contains("expected") || message.contains("budget"), "{name}: {message}");
            }
        }
        let message = Options::default().set("kernels", "walk").unwrap_err().to_string();
        assert!(message.starts_with("unknown option kernels; expected one of: value, groups"), "{message}");
    }

    #[test]
    fn the_key_has_the_words_that_checkpoints_of_the_first_release_have() {
        let mut options = Options::default();
        let key = options.key().unwrap();
        let wanted = [
            ("value", "shapley"),
            ("groups", "none"),
            ("graph", "none"),
            ("game", "none"),
            ("output", "margin"),
            ("engine", r#"{"kernel":"auto","precision":"f64"}"#),
            (
                "distribution",
                r#"{"bandwidth":null,"draws":null,"fallback":null,"share":null,"variant":null}"#,
            ),
            ("method", "auto"),
            ("budget", "none"),
            ("accuracy", "none"),
            ("seed", "0"),
        ];
        assert_eq!(key, wanted.map(|(name, words)| (name, words.to_owned())));
        for (name, words) in WORDS.into_iter().filter(|(name, _)| *name != "rows") {
            options.set(name, words).unwrap();
        }
        let wanted = [
            ("value", "owen"),
            ("groups", r#"[["0","1"],["2"]]"#),
            ("graph", r#"{"grid":{"adjacency":8,"columns":3,"rows":2}}"#),
            ("game", "empirical"),
            ("output", r#"{"log-loss":"cat"}"#),
            ("engine", r#"{"kernel":"walk","precision":"f32"}"#),
            (
                "distribution",
                concat!(
                    r#"{"bandwidth":{"given":0.5},"draws":100,"fallback":"nearest","#,
                    r#""share":0.9,"variant":"shapr"}"#
                ),
            ),
            ("method", "kernel-shap"),
            ("budget", "20n"),
            ("accuracy", "error of every player 0.01 in units of the output, confidence 0.9, range 2"),
            ("seed", "18446744073709551615"),
        ];
        assert_eq!(options.key().unwrap(), wanted.map(|(name, words)| (name, words.to_owned())));
    }

    #[test]
    fn an_accuracy_needs_a_tolerance_that_can_be_reached() {
        for (name, words, says) in [
            ("confidence", "0.9", "--confidence requires --until"),
            ("until", "0", "invalid value 0 for --until: must be"),
            ("until", "NaN", "invalid value NaN for --until: must be"),
        ] {
            let mut options = Options::default();
            options.set(name, words).unwrap();
            let message = options.accuracy.until().unwrap_err().in_words(|name| format!("--{name}"));
            assert!(message.starts_with(says), "{message}");
        }
    }

    #[test]
    fn options_of_a_distribution_are_for_the_games_that_have_it() {
        let mut options = Options::default();
        options.set("bandwidth", "aicc").unwrap();
        assert!(options.distribution.check(GameName::Empirical).is_ok());
        let message = options.distribution.check(GameName::Gaussian).unwrap_err().to_string();
        assert_eq!(message, "bandwidth requires game empirical, not gaussian");
    }
}
