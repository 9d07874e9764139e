//! Options for explaining record batches.

use std::path::Path;
use std::sync::Arc;

use apportion::options::Options;
use apportion::{Background, Budget, Ensemble, ExplainError, Explainer, Method, Model, Rows, Until, Value};
use rayon::ThreadPool;

use crate::error::BatchError;
use crate::explainer::{About, BatchExplainer, Inner, Source};
use crate::results::{Layout, Shape};

/// Version of the result schema.
const SCHEMA: u32 = 1;
/// Number of rows for which the tree algorithms are chosen, regardless of the actual batch size, so that the
/// values of a row do not depend on its batch.
const ROWS: usize = 4096;

/// Options of the library that are not supported for batches. The background and [`Builder::behind_link`]
/// determine the game and the output, kernels are chosen for a fixed number of rows, and the last five
/// options configure conditional games, which are not supported either.
const OF_OTHERS: [&str; 8] = ["game", "output", "rows", "draws", "bandwidth", "share", "variant", "fallback"];

/// Options of a [`BatchExplainer`]; [`build`](Self::build) validates them and prepares the explainer.
pub struct Builder {
    source: Source,
    background: Option<Background>,
    is_behind_link: bool,
    options: Options,
    /// The value, if it was set together with its groups or graph.
    value: Option<Value>,
    /// The accuracy, if it was set together with its budget.
    until: Option<Until>,
    names: Option<Vec<String>>,
    output_names: Option<Vec<String>>,
    threads: Option<usize>,
    keeps_tables: bool,
    layout: Layout,
    keep: Vec<String>,
}

impl BatchExplainer {
    /// Creates a builder for a tree ensemble or linear model in a file of any format that
    /// [`Ensemble::from_path`] reads.
    ///
    /// # Errors
    ///
    /// [`BatchError::Model`] if the file cannot be read as a model.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Builder, BatchError> {
        Ok(Self::for_trees(Ensemble::from_path(path)?))
    }

    /// Creates a builder for a tree ensemble or linear model. Without a [background](Builder::background),
    /// the path-dependent game is used, which requires the training cover in the model.
    pub fn for_trees(ensemble: impl Into<Arc<Ensemble>>) -> Builder {
        Builder::new(Source::Trees(ensemble.into()))
    }

    /// Creates a builder for any model, using the marginal game with a background. The model may be called
    /// from several threads at once.
    pub fn for_model<M: Model + 'static>(model: Arc<M>, background: Background) -> Builder {
        Builder::new(Source::Model(model)).background(background)
    }
}

impl Builder {
    fn new(source: Source) -> Self {
        Self {
            source,
            background: None,
            is_behind_link: false,
            options: Options::default(),
            value: None,
            until: None,
            names: None,
            output_names: None,
            threads: None,
            keeps_tables: false,
            layout: Layout::default(),
            keep: Vec::new(),
        }
    }

    /// Sets the background rows, and selects the marginal game. The columns of the background must be the
    /// features, in the order of the model.
    #[must_use]
    pub fn background(mut self, background: Background) -> Self {
        self.background = Some(background);
        self
    }

    /// Explains the output of trees after the link function (probabilities, rates, scores) instead of
    /// margins. Requires a background.
    #[must_use]
    pub fn behind_link(mut self) -> Self {
        self.is_behind_link = true;
        self
    }

    /// Sets an option from text, by its name in [`Options::NAMES`]: `set("budget", "20n")`. In groups and
    /// graphs, features are given by name or by index.
    ///
    /// # Errors
    ///
    /// [`BatchError::Explain`] for an unknown option or an invalid value, and [`BatchError::Option`] for an
    /// option that is not supported for batches: the game and the output are determined by the background and
    /// by [`behind_link`](Self::behind_link).
    pub fn set(mut self, name: &str, words: &str) -> Result<Self, BatchError> {
        if OF_OTHERS.contains(&name) {
            return Err(BatchError::Option { name: name.to_owned() });
        }
        self.options.set(name, words).map_err(ExplainError::from)?;
        if matches!(name, "value" | "groups" | "graph") {
            self.value = None;
        }
        Ok(self)
    }

    /// Sets the value to compute; Shapley values by default.
    #[must_use]
    pub fn value(mut self, value: impl Into<Value>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// Sets the method; [`Method::Auto`] by default, which is exact for trees.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.options.method = method;
        self
    }

    /// Sets the maximum number of evaluations per row for sampling methods.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.options.budget = Some(budget);
        self
    }

    /// Sets a tolerance instead of a budget. Results then contain `stopped_by`, which is `tolerance` if the
    /// accuracy is certified.
    #[must_use]
    pub fn until(mut self, until: Until) -> Self {
        self.until = Some(until);
        self
    }

    /// Sets the seed of all draws; 0 by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// Sets the names of the features, which replace any names in the model. Columns are matched by these
    /// names.
    #[must_use]
    pub fn feature_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the names of the outputs, which replace any names in the model.
    #[must_use]
    pub fn output_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.output_names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Uses a separate pool with this number of threads. By default, all explainers of a process share a pool
    /// with one thread per core, so that the partitions of a query do not start more threads than there are
    /// cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Keeps the tables of trees between batches instead of recomputing them for each batch. This is faster
    /// for many small batches, but requires memory for the tables of all trees. The tables have a different
    /// layout, so the last bits of values may differ from values computed without this option. Values do not
    /// depend on the division into batches.
    #[must_use]
    pub fn keep_tables(mut self) -> Self {
        self.keeps_tables = true;
        self
    }

    /// Sets the layout of the results; [`Layout::Columns`] by default. SQL functions ignore it: they return
    /// structs.
    #[must_use]
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// Sets the columns of batches that are copied to the results, such as an ID. They are features only if
    /// the model has features with these names.
    #[must_use]
    pub fn keep<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.keep = names.into_iter().map(Into::into).collect();
        self
    }

    /// Creates the explainer, and precomputes everything that does not depend on the rows.
    ///
    /// # Errors
    ///
    /// [`BatchError`] if there is no background and the model does not store cover. It is also returned if
    /// the background, the groups or the names do not match the model, or if the method cannot compute the
    /// value.
    pub fn build(self) -> Result<BatchExplainer, BatchError> {
        let outputs = match &self.source {
            Source::Trees(ensemble) => ensemble.output_count(),
            Source::Model(model) => model.outputs(),
        };
        let features = match (&self.source, &self.background) {
            (Source::Trees(ensemble), _) => ensemble.feature_count(),
            (Source::Model(model), background) => {
                let columns = background.as_ref().map(Background::columns);
                model.features().or(columns).unwrap_or_default()
            }
        };
        if let Some(given) =
            self.background.as_ref().map(Background::columns).filter(|&given| given != features)
        {
            return Err(BatchError::Background { actual: given, expected: features });
        }
        let game = if self.background.is_some() { "marginal" } else { "path-dependent" };
        let explainer = match (&self.source, self.background, self.is_behind_link) {
            (Source::Trees(ensemble), Some(background), true) => {
                Explainer::for_outputs(Arc::clone(ensemble), background)?
            }
            (Source::Trees(ensemble), Some(background), false) => {
                Explainer::for_trees(Arc::clone(ensemble), background)
            }
            (Source::Trees(ensemble), None, false) => Explainer::path_dependent(Arc::clone(ensemble)),
            (Source::Model(model), Some(background), false) => Explainer::new(Arc::clone(model), background),
            _ => return Err(BatchError::Link),
        };
        let names = match &self.source {
            Source::Trees(ensemble) => {
                self.names.or_else(|| ensemble.feature_names().map(<[String]>::to_vec))
            }
            Source::Model(_) => self.names,
        };
        let output_names = match &self.source {
            Source::Trees(ensemble) => {
                self.output_names.or_else(|| ensemble.output_names().map(<[String]>::to_vec))
            }
            Source::Model(_) => self.output_names,
        };
        // A single output needs no name.
        let output_names = output_names.filter(|_| outputs > 1);
        for (what, names, wanted) in [("feature", &names, features), ("output", &output_names, outputs)] {
            if let Some(given) = names.as_ref().map(Vec::len).filter(|&given| given != wanted) {
                return Err(BatchError::Names { what, actual: given, expected: wanted });
            }
        }
        let value = match self.value {
            Some(value) => value,
            None => {
                let numbered = || (0..features).map(|feature| format!("f{feature}")).collect();
                let names: Vec<String> = names.clone().unwrap_or_else(numbered);
                self.options.value(&names).map_err(ExplainError::from)?
            }
        };
        value.check(features).map_err(ExplainError::from)?;
        let settings = self.options.engine.settings().with_rows(ROWS).with_keep_tables(self.keeps_tables);
        let explainer = self.options.explainer(explainer, value.clone()).map_err(ExplainError::from)?;
        let explainer = match self.until {
            Some(until) => explainer.settings(settings).until(until),
            None => explainer.settings(settings),
        };
        let row = vec![0.0; features];
        let plan = explainer.plan(ROWS, Rows::try_new(&row, features).map_err(ExplainError::from)?)?;
        if self.options.method == Method::Table {
            return Err(BatchError::Table);
        }
        let pool = self.threads.map(threads).transpose()?;
        let groups = match &value {
            Value::Quotient(_, groups) => Some(groups.groups().to_vec()),
            _ => None,
        };
        let is_estimate = !plan.method.is_exact();
        let about = About {
            version: env!("CARGO_PKG_VERSION"),
            schema: SCHEMA,
            layout: self.layout.name(),
            value: value.concept().to_string(),
            game,
            method: plan.method.name(),
            seed: self.options.seed,
            features: Vec::new(),
            outputs: output_names.clone(),
        };
        let has_accuracy = self.until.is_some() || self.options.accuracy.tolerance.is_some();
        let shape = Shape { outputs, is_estimate, has_accuracy };
        let inner = Inner {
            source: self.source,
            explainer,
            pool,
            features,
            names,
            groups,
            output_names,
            shape,
            about,
            layout: self.layout,
            keep: self.keep,
        };
        Ok(BatchExplainer { inner: Arc::new(inner) })
    }
}

/// Creates a thread pool.
fn threads(threads: usize) -> Result<ThreadPool, BatchError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| BatchError::Threads { threads, problem: error.to_string() })
}
