//! What is asked of a model, before batches come.

use std::path::Path;
use std::sync::Arc;

use apportion::{
    Background, Budget, Ensemble, ExplainError, Explainer, Method, Model, Rows, Semivalue, Settings, Until,
    Value,
};
use rayon::ThreadPool;

use crate::error::BatchError;
use crate::explainer::{About, BatchExplainer, Inner, Source};
use crate::results::{Layout, Shape};

/// The version of the schema of results.
const SCHEMA: u32 = 1;
/// How trees are computed is chosen as for so many rows, whatever the batches: values of a row do not depend
/// on the batch it comes in.
const ROWS: usize = 4096;

/// What is to be asked of a model: [`build`](Self::build) prepares it and says what does not fit.
pub struct Builder {
    source: Source,
    background: Option<Background>,
    is_behind_link: bool,
    value: Value,
    method: Method,
    budget: Budget,
    until: Option<Until>,
    seed: u64,
    names: Option<Vec<String>>,
    output_names: Option<Vec<String>>,
    threads: Option<usize>,
    keeps_tables: bool,
    layout: Layout,
    keep: Vec<String>,
}

impl BatchExplainer {
    /// Of a tree ensemble or linear model in a file of any format that [`Ensemble::from_path`] reads.
    ///
    /// # Errors
    ///
    /// [`BatchError::Model`].
    pub fn of_file(path: impl AsRef<Path>) -> Result<Builder, BatchError> {
        Ok(Self::of_trees(Ensemble::from_path(path)?))
    }

    /// Of a tree ensemble or linear model. Without a [background](Builder::background) its path-dependent
    /// game is played, which needs the covers of the training in the model.
    pub fn of_trees(ensemble: impl Into<Arc<Ensemble>>) -> Builder {
        Builder::new(Source::Trees(ensemble.into()))
    }

    /// Of any model, by its marginal game against a background. Several threads may ask it at once.
    pub fn of_model<M: Model + 'static>(model: Arc<M>, background: Background) -> Builder {
        Builder::new(Source::Model(model)).background(background)
    }
}

impl Builder {
    fn new(source: Source) -> Self {
        Self {
            source,
            background: None,
            is_behind_link: false,
            value: Semivalue::Shapley.into(),
            method: Method::Auto,
            budget: Budget::Auto,
            until: None,
            seed: 0,
            names: None,
            output_names: None,
            threads: None,
            keeps_tables: false,
            layout: Layout::default(),
            keep: Vec::new(),
        }
    }

    /// Rows that stand in for absent features: the marginal game. Its columns are the features in the order
    /// of the model.
    #[must_use]
    pub fn background(mut self, background: Background) -> Self {
        self.background = Some(background);
        self
    }

    /// Explains what trees say behind their link (probabilities, rates, scores) instead of margins. It needs
    /// a background.
    #[must_use]
    pub fn behind_link(mut self) -> Self {
        self.is_behind_link = true;
        self
    }

    /// Which value to compute; Shapley values by default.
    #[must_use]
    pub fn value(mut self, value: impl Into<Value>) -> Self {
        self.value = value.into();
        self
    }

    /// How to compute it; [`Method::Auto`] by default, which is exact for trees.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// How many evaluations for each row a sampled method may use.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// An accuracy instead of a budget. Results then have `stopped_by`: `tolerance` where the accuracy is
    /// certified.
    #[must_use]
    pub fn until(mut self, until: Until) -> Self {
        self.until = Some(until);
        self
    }

    /// The seed of all draws; 0 by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// What the features are called, where the model does not say it or says otherwise: columns are found by
    /// these names.
    #[must_use]
    pub fn feature_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// What the outputs are called, where the model does not say it or says otherwise.
    #[must_use]
    pub fn output_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.output_names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// A pool of so many threads of its own. By default all explainers of a process share one with a thread
    /// for each core, so that partitions of a query do not start more threads than there are cores.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Keeps the tables of trees from batch to batch instead of making them for each: for many small batches.
    /// Those of all trees are in memory then. They are laid out otherwise: the last bits of values may be
    /// others than without, and are the same in all batches.
    #[must_use]
    pub fn keep_tables(mut self) -> Self {
        self.keeps_tables = true;
        self
    }

    /// How results of batches are laid out; [`Layout::Columns`] by default. Functions of SQL have a layout of
    /// their own.
    #[must_use]
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// Columns of batches that results have, too, such as an id. They are features only where the model names
    /// them.
    #[must_use]
    pub fn keep<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.keep = names.into_iter().map(Into::into).collect();
        self
    }

    /// Prepares all that does not depend on rows.
    ///
    /// # Errors
    ///
    /// [`BatchError`] where the model has no covers and there is no background, where the background, groups
    /// or names do not fit the model, or the method cannot compute the value.
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
            return Err(BatchError::Background { given, wanted: features });
        }
        let game = if self.background.is_some() { "marginal" } else { "path-dependent" };
        let explainer = match (&self.source, self.background, self.is_behind_link) {
            (Source::Trees(ensemble), Some(background), true) => {
                Explainer::of_outputs(Arc::clone(ensemble), background)?
            }
            (Source::Trees(ensemble), Some(background), false) => {
                Explainer::of_trees(Arc::clone(ensemble), background)
            }
            (Source::Trees(ensemble), None, false) => Explainer::path_dependent(Arc::clone(ensemble)),
            (Source::Model(model), Some(background), false) => Explainer::new(Arc::clone(model), background),
            _ => return Err(BatchError::Link),
        };
        let settings = Settings::default().with_rows(ROWS).with_keep_tables(self.keeps_tables);
        let explainer = explainer.settings(settings).value(self.value.clone()).method(self.method);
        let explainer = explainer.budget(self.budget).seed(self.seed);
        let explainer = match self.until {
            Some(until) => explainer.until(until),
            None => explainer,
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
        // A single output needs no name to be told from others.
        let output_names = output_names.filter(|_| outputs > 1);
        for (what, names, wanted) in [("features", &names, features), ("outputs", &output_names, outputs)] {
            if let Some(given) = names.as_ref().map(Vec::len).filter(|&given| given != wanted) {
                return Err(BatchError::Names { what, given, wanted });
            }
        }
        self.value.check(features).map_err(ExplainError::from)?;
        let row = vec![0.0; features];
        let plan = explainer.plan(ROWS, Rows::try_new(&row, features).map_err(ExplainError::from)?)?;
        let pool = self.threads.map(threads).transpose()?;
        let groups = match &self.value {
            Value::Quotient(_, groups) => Some(groups.groups().to_vec()),
            _ => None,
        };
        let is_estimate = !matches!(plan.method, Method::Tree | Method::Exact);
        let about = About {
            version: env!("CARGO_PKG_VERSION"),
            schema: SCHEMA,
            layout: self.layout.name(),
            value: self.value.concept().to_string(),
            game,
            method: plan.method.name(),
            seed: self.seed,
            features: Vec::new(),
            outputs: output_names.clone(),
        };
        let shape = Shape { outputs, is_estimate, has_accuracy: self.until.is_some() };
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

/// A pool of threads.
fn threads(threads: usize) -> Result<ThreadPool, BatchError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| BatchError::Threads { threads, problem: error.to_string() })
}
