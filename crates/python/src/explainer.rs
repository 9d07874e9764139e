//! Explainers of tree ensembles, of kernel machines and of Python functions.

use std::sync::Arc;

use apportion::games::{BoxError, ConditionalDistribution, Model};
use apportion::models::LinkedEnsemble;
use apportion::options::GameName;
use apportion::trees::{Attributions, Diagonal};
use apportion::{
    Background, ExplainError, Explanation, Method, Plan, Rows, RunObserver, Shared, SurrogateCache,
};
use apportion_files::CheckpointFile;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::rows;
use crate::callable::Callable;
use crate::checkpoint::{Checkpoint, CheckpointedRows, explain_in_blocks};
use crate::distribution::distribution;
use crate::ensemble::Ensemble;
use crate::errors::{self, Class, of_explaining, of_playing, raised, usage};
use crate::explained;
use crate::game::NO_INDEX;
use crate::kernel_machine::KernelMachine;
use crate::options::{Request, ResolvedRequest};
use crate::pool::Pool;
use crate::serve::{Line, Question, beside, serve};
use crate::surrogate::Surrogate;
use crate::watch::Watch;

/// Maximum number of rows on which a plan is based.
const SAMPLE: usize = 64;

/// Maximum number of rows that are explained at once with a checkpoint.
const MAX_BLOCK: usize = 4096;

/// An explainer of a model.
#[pyclass(frozen, module = "apportion._core")]
pub(crate) struct Explainer {
    plays: Backend,
    asked: ResolvedRequest,
    surrogate: Option<Arc<apportion::surrogates::Surrogate>>,
    /// The surrogate that the automatic method has learned.
    learned: SurrogateCache,
}

/// The method, the minimum and maximum number of evaluations per row, and the predicted seconds.
type PlanTuple = (&'static str, Option<usize>, Option<usize>, Option<f64>);

enum Backend {
    Trees(Box<apportion::Explainer<'static>>),
    KernelMachine(Box<apportion::Explainer<'static>>),
    Function(Box<Function>),
}

/// A Python function from rows to outputs.
struct Function {
    function: Callable,
    features: usize,
    outputs: usize,
    absent: Arc<Absent>,
    /// Whether each feature contains codes of categories.
    is_categorical: Vec<bool>,
    /// The interactions, if the function is declared additive.
    interactions: Option<Arc<[Vec<usize>]>>,
}

/// The source of the values of absent features.
enum Absent {
    Background(Background),
    Distribution(Shared<'static, dyn ConditionalDistribution>),
}

/// A model whose Python function is evaluated by the calling thread.
struct ServedModel<'f> {
    line: Line,
    function: &'f Function,
}

impl Model for ServedModel<'_> {
    fn outputs(&self) -> usize {
        self.function.outputs
    }

    fn features(&self) -> Option<usize> {
        Some(self.function.features)
    }

    fn parallel(&self) -> bool {
        false
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        let question = Question::Rows { values: rows.values().to_vec(), columns: rows.columns() };
        out.copy_from_slice(&self.line.request(question, out.len())?);
        Ok(())
    }
}

/// A model with the shape of a Python function, for plans, which do not evaluate it.
struct Uncalled<'f>(&'f Function);

impl Model for Uncalled<'_> {
    fn outputs(&self) -> usize {
        self.0.outputs
    }

    fn features(&self) -> Option<usize> {
        Some(self.0.features)
    }

    fn parallel(&self) -> bool {
        false
    }

    fn predict(&self, _: Rows<'_>, _: &mut [f64]) -> Result<(), BoxError> {
        Err("a plan evaluates nothing".into())
    }
}

#[pymethods]
impl Explainer {
    /// Returns an explainer for a tree ensemble: with a background, with its cover, or with a distribution
    /// that is fitted on rows.
    #[staticmethod]
    #[pyo3(signature = (model, options, background=None, weights=None))]
    fn of_trees(
        py: Python<'_>,
        model: &Bound<'_, Ensemble>,
        mut options: Request,
        background: Option<PyReadonlyArray2<'_, f64>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let trees = &model.get().trees;
        let asked = options.resolve(py, trees.feature_count())?;
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let given = background.as_ref().map(rows).transpose()?;
        let explaining = |error| of_explaining(py, &error);
        let explainer = match options.game(py)? {
            GameName::PathDependent => match given {
                None => apportion::Explainer::path_dependent(Arc::clone(trees)),
                Some(rows) => {
                    let model = trees.as_ref().clone();
                    let counted = beside(py, || match weights {
                        None => model.with_covers_of(rows),
                        Some(weights) => model.with_covers_of_weighted(rows, weights),
                    })?;
                    let counted = counted.map_err(|error| errors::of_reading(py, &error))?;
                    apportion::Explainer::path_dependent(Arc::new(counted))
                }
            },
            GameName::Marginal => {
                let background = self::background(py, given, weights)?;
                match options.linked {
                    true => apportion::Explainer::for_outputs(Arc::clone(trees), background)
                        .map_err(explaining)?,
                    false => apportion::Explainer::for_trees(Arc::clone(trees), background),
                }
            }
            game => {
                let distribution =
                    distribution(py, (&options, game), required_rows(py, given)?, weights, Some(trees))?;
                match options.linked {
                    true => {
                        let model = LinkedEnsemble::new(Arc::clone(trees));
                        let model = model.map_err(|error| errors::of_reading(py, &error))?;
                        apportion::Explainer::conditional(Arc::new(model), distribution)
                    }
                    false => apportion::Explainer::conditional(Arc::clone(trees), distribution),
                }
            }
        };
        let explainer = asked.explainer(explainer.settings(options.settings())).map_err(explaining)?;
        Ok(Self {
            plays: Backend::Trees(Box::new(explainer)),
            asked,
            surrogate: None,
            learned: SurrogateCache::default(),
        })
    }

    /// Returns an explainer for the exact values of a kernel machine in the marginal game; None for values
    /// without an exact method.
    #[staticmethod]
    #[pyo3(signature = (model, options, background, weights=None))]
    fn of_kernel_machine(
        py: Python<'_>,
        model: &Bound<'_, KernelMachine>,
        mut options: Request,
        background: PyReadonlyArray2<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Option<Self>> {
        let machine = &model.get().machine;
        let asked = options.resolve(py, machine.feature_count())?;
        if !Method::KernelMachine.computes(&asked.value) {
            return Ok(None);
        }
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let background = self::background(py, Some(rows(&background)?), weights)?;
        let explainer = apportion::Explainer::for_kernel_machine(Arc::clone(machine), background);
        let explainer = asked.explainer(explainer).map_err(|error| of_explaining(py, &error))?;
        Ok(Some(Self {
            plays: Backend::KernelMachine(Box::new(explainer)),
            asked,
            surrogate: None,
            learned: SurrogateCache::default(),
        }))
    }

    /// Returns an explainer for a function that maps an array of rows to a flat array of rows × outputs
    /// numbers. `additive` contains the interactions of a function that is declared additive.
    #[staticmethod]
    #[pyo3(signature = (function, features, outputs, options, background=None, weights=None,
                        categorical=None, additive=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn of_function(
        py: Python<'_>,
        function: Py<PyAny>,
        features: usize,
        outputs: usize,
        mut options: Request,
        background: Option<PyReadonlyArray2<'_, f64>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        categorical: Option<Vec<usize>>,
        additive: Option<Vec<Vec<usize>>>,
    ) -> PyResult<Self> {
        let asked = options.resolve(py, features)?;
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let given = background.as_ref().map(rows).transpose()?;
        let absent = match options.game(py)? {
            GameName::Marginal => Absent::Background(self::background(py, given, weights)?),
            GameName::PathDependent => {
                return Err(usage(
                    py,
                    "game=\"path-dependent\" requires a tree ensemble; use game=\"marginal\"",
                ));
            }
            game => Absent::Distribution(distribution(
                py,
                (&options, game),
                required_rows(py, given)?,
                weights,
                None,
            )?),
        };
        let function = Callable::new(function);
        let absent = Arc::new(absent);
        let categorical = categorical.unwrap_or_default();
        let is_categorical = (0..features).map(|feature| categorical.contains(&feature)).collect();
        let interactions = additive.map(Arc::from);
        let function = Function { function, features, outputs, absent, is_categorical, interactions };
        Ok(Self {
            plays: Backend::Function(Box::new(function)),
            asked,
            surrogate: None,
            learned: SurrogateCache::default(),
        })
    }

    /// Returns the explainer with another function, which has the same number of features and the same number
    /// of outputs. Both explainers share the background.
    fn with_function(&self, py: Python<'_>, function: Py<PyAny>) -> PyResult<Self> {
        let Backend::Function(own) = &self.plays else {
            return Err(usage(py, "an explainer of trees or of a kernel machine cannot call a function"));
        };
        let function = Function {
            function: Callable::new(function),
            features: own.features,
            outputs: own.outputs,
            absent: Arc::clone(&own.absent),
            is_categorical: own.is_categorical.clone(),
            interactions: own.interactions.clone(),
        };
        Ok(Self {
            plays: Backend::Function(Box::new(function)),
            asked: self.asked.clone(),
            surrogate: self.surrogate.clone(),
            learned: self.learned.clone(),
        })
    }

    /// Returns the explainer with a surrogate for the table method.
    fn with_surrogate(&self, py: Python<'_>, surrogate: &Bound<'_, Surrogate>) -> PyResult<Self> {
        let function = self.function(py)?;
        let function = Function {
            function: Callable::new(function.function.get(py)?),
            features: function.features,
            outputs: function.outputs,
            absent: Arc::clone(&function.absent),
            is_categorical: function.is_categorical.clone(),
            interactions: function.interactions.clone(),
        };
        let surrogate = Some(Arc::clone(&surrogate.get().surrogate));
        let (plays, asked) = (Backend::Function(Box::new(function)), self.asked.clone());
        Ok(Self { plays, asked, surrogate, learned: SurrogateCache::default() })
    }

    /// Learns a surrogate of the function from rows.
    fn learn(
        &self,
        py: Python<'_>,
        array: PyReadonlyArray2<'_, f64>,
        pool: &Bound<'_, Pool>,
    ) -> PyResult<Surrogate> {
        let (rows, function) = (rows(&array)?, self.function(py)?);
        let called = function.function.get(py)?;
        let served = serve(py, pool.get(), Some(&called), &|_| Ok(()), |line| {
            self.on_function(function, &ServedModel { line, function })?.learn(rows)
        })?;
        let learned = served.whole(py)?.map_err(|error| of_explaining(py, &error))?;
        Ok(Surrogate { surrogate: Arc::new(learned) })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.plays {
            Backend::Trees(_) | Backend::KernelMachine(_) => Ok(()),
            Backend::Function(function) => function.function.traverse(&visit),
        }
    }

    fn __clear__(&self) {
        if let Backend::Function(function) = &self.plays {
            function.function.clear();
        }
    }

    /// Returns the plan for explaining rows: the method, the minimum and maximum number of evaluations per
    /// row, and the predicted seconds, each if known.
    fn plan(
        &self,
        py: Python<'_>,
        array: PyReadonlyArray2<'_, f64>,
        pool: &Bound<'_, Pool>,
    ) -> PyResult<PlanTuple> {
        let rows = rows(&array)?;
        let planned = pool.get().run(py, || self.planned(rows.len(), sample(rows)))?;
        let plan = planned.map_err(|error| of_explaining(py, &error))?;
        Ok((plan.method.name(), plan.min_evaluations, plan.max_evaluations, plan.seconds))
    }

    /// Explains rows. Returns the results, and the exception that stopped the work early, if there is one.
    #[pyo3(signature = (array, pool, progress=None, checkpoint=None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        array: PyReadonlyArray2<'py, f64>,
        pool: &Bound<'py, Pool>,
        progress: Option<Py<PyAny>>,
        checkpoint: Option<&Bound<'py, Checkpoint>>,
    ) -> PyResult<(Bound<'py, PyDict>, Option<PyErr>)> {
        let (rows, pool) = (rows(&array)?, pool.get());
        let checkpoint = checkpoint.map(Bound::get);
        let watch = Watch::default();
        let tick = |py: Python<'_>| match &progress {
            Some(progress) => progress.call1(py, watch.so_far()).map(drop),
            None => Ok(()),
        };
        let function = match &self.plays {
            Backend::Trees(_) | Backend::KernelMachine(_) => None,
            Backend::Function(function) => Some(function.function.get(py)?),
        };
        let kept = checkpoint.map(|checkpoint| CheckpointedRows {
            watch: &watch,
            file: &checkpoint.file,
            rows: None,
        });
        let follow: &dyn RunObserver = kept.as_ref().map_or(&watch, |kept| kept);
        let is_exact = !self.asked.has_accuracy();
        let served = serve(
            py,
            pool,
            function.as_ref(),
            &tick,
            |line| -> Result<Option<Attributions>, ExplainError> {
                match (&self.plays, checkpoint) {
                    (Backend::Trees(explainer) | Backend::KernelMachine(explainer), Some(checkpoint)) => {
                        in_blocks(explainer, rows, &watch, &checkpoint.file).map(|()| None)
                    }
                    (Backend::Trees(explainer) | Backend::KernelMachine(explainer), None) => {
                        // Pass all rows in one call, because the kernel is chosen by their number.
                        if is_exact && let Some(exact) = explainer.exact(rows)? {
                            return Ok(Some(exact));
                        }
                        explainer.explain_rows_followed(rows, &watch).map(|_| None)
                    }
                    (Backend::Function(function), _) => {
                        self.by_function(function, line, rows, follow).map(|_| None)
                    }
                }
            },
        )?;
        // Return the finished rows even if the file cannot be written. That error may have stopped the work.
        let written = checkpoint.map_or(Ok(()), |checkpoint| checkpoint.finish(py));
        let stopped = match served.result {
            Some(Ok(Some(exact))) if served.stopped.is_none() => {
                return Ok((explained::of_attributions(py, exact, self.exact_method())?, None));
            }
            Some(Ok(None)) => served.stopped,
            Some(Err(error)) => Some(served.stopped.unwrap_or_else(|| of_explaining(py, &error))),
            Some(Ok(Some(_))) | None => {
                Some(served.stopped.unwrap_or_else(|| errors::internal(py, "cancelled")))
            }
        };
        if stopped.is_none()
            && let Some(progress) = &progress
        {
            progress.call1(py, watch.so_far())?;
        }
        let done = watch.done();
        let found = match done.first() {
            Some((_, first)) if is_exact && first.method == self.exact_method().name() => {
                explained::of_exact_runs(py, self.exact_method(), done)?
            }
            _ => explained::of_runs(py, done)?,
        };
        found.set_item("budget", self.budget(rows))?;
        Ok((found, written.err().or(stopped)))
    }

    /// Returns the interactions of all pairs. For trees and kernel machines, they are exact, and the diagonal
    /// contains the values or, with `remainder`, the remainders of the values. For functions, they are exact
    /// if the function is declared additive, or if the budget covers all coalitions. Otherwise, they are
    /// estimates from one sample, with standard errors.
    fn interactions<'py>(
        &self,
        py: Python<'py>,
        array: PyReadonlyArray2<'py, f64>,
        pool: &Bound<'py, Pool>,
        remainder: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let rows = rows(&array)?;
        let explainer = match &self.plays {
            Backend::Trees(explainer) => explainer,
            Backend::Function(function) => return self.pairs_by_function(py, function, rows, pool.get()),
            Backend::KernelMachine(explainer) => {
                let Some((index, groups)) = self.asked.index() else { return Err(usage(py, NO_INDEX)) };
                let found = pool.get().run(py, || explainer.indices(&index, 2, groups, rows))?;
                let found = found.map_err(|error| of_explaining(py, &error))?;
                return explained::of_pairs(py, self.exact_method(), &found, remainder);
            }
        };
        let diagonal = if remainder { Diagonal::Remainder } else { Diagonal::Value };
        let found = pool.get().run(py, || explainer.interactions(diagonal, rows))?;
        let found = found.map_err(|error| of_explaining(py, &error))?;
        explained::of_exact(py, Method::Tree, found.values, found.base, found.predictions)
    }
}

impl Explainer {
    /// Returns the exact method that requires no evaluations of the model. For functions, which never use
    /// such a method, returns [`Method::Tree`].
    fn exact_method(&self) -> Method {
        match self.plays {
            Backend::KernelMachine(_) => Method::KernelMachine,
            Backend::Trees(_) | Backend::Function(_) => Method::Tree,
        }
    }

    /// Returns the budget that the values depend on, if any.
    fn budget(&self, rows: Rows<'_>) -> Option<usize> {
        self.planned(1, rows.slice(0..rows.len().min(1))).ok()?.budget
    }

    /// Returns the plan for explaining `count` rows, of which `sample` contains some.
    fn planned(&self, count: usize, sample: Rows<'_>) -> Result<Plan, ExplainError> {
        match &self.plays {
            Backend::Trees(explainer) | Backend::KernelMachine(explainer) => explainer.plan(count, sample),
            Backend::Function(function) => {
                self.on_function(function, &Uncalled(function))?.plan(count, sample)
            }
        }
    }

    /// Returns the function, or an error for models that are not called as functions.
    fn function(&self, py: Python<'_>) -> PyResult<&Function> {
        match &self.plays {
            Backend::Function(function) => Ok(function),
            _ => Err(usage(py, "an explainer of trees or of a kernel machine does not use a surrogate")),
        }
    }

    fn pairs_by_function<'py>(
        &self,
        py: Python<'py>,
        function: &Function,
        rows: Rows<'_>,
        pool: &Pool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Some((index, groups)) = self.asked.index() else { return Err(usage(py, NO_INDEX)) };
        let called = function.function.get(py)?;
        let served = serve(py, pool, Some(&called), &|_| Ok(()), |line| {
            self.on_function(function, &ServedModel { line, function })?.indices(&index, 2, groups, rows)
        })?;
        let found = served.whole(py)?.map_err(|error| of_explaining(py, &error))?;
        explained::of_pairs(py, self.asked.method(), &found, false)
    }

    fn on_function<'m>(
        &self,
        function: &Function,
        model: &'m dyn Model,
    ) -> Result<apportion::Explainer<'m>, ExplainError> {
        let explainer = match function.absent.as_ref() {
            Absent::Background(background) => apportion::Explainer::new(model, background.clone()),
            Absent::Distribution(distribution) => {
                apportion::Explainer::conditional(model, distribution.clone())
            }
        };
        let explainer = explainer.categorical(&*function.is_categorical).surrogate_cache(&self.learned);
        let explainer = match &function.interactions {
            Some(interactions) => explainer.additive(interactions.iter().cloned()),
            None => explainer,
        };
        let explainer = self.asked.explainer(explainer)?;
        Ok(match &self.surrogate {
            Some(surrogate) => explainer.surrogate(Arc::clone(surrogate)),
            None => explainer,
        })
    }

    fn by_function(
        &self,
        function: &Function,
        line: Line,
        rows: Rows<'_>,
        follow: &dyn RunObserver,
    ) -> Result<Vec<Explanation>, ExplainError> {
        let model = ServedModel { line, function };
        self.on_function(function, &model)?.explain_rows_followed(rows, follow)
    }
}

/// Explains rows of a tree ensemble or a kernel machine with a checkpoint. Exact methods explain the rows in
/// blocks that are predicted to take one second each, but of at most [`MAX_BLOCK`] rows.
fn in_blocks(
    explainer: &apportion::Explainer<'static>,
    rows: Rows<'_>,
    watch: &Watch,
    file: &CheckpointFile,
) -> Result<(), ExplainError> {
    let plan = explainer.plan(rows.len(), sample(rows))?;
    let Some(seconds) = plan.seconds else {
        return explainer
            .explain_rows_followed(rows, &CheckpointedRows { watch, file, rows: None })
            .map(drop);
    };
    let at_once = (rows.len() as f64 / seconds.max(f64::MIN_POSITIVE)) as usize;
    explain_in_blocks(explainer, rows, at_once.clamp(1, MAX_BLOCK), (watch, file))
}

/// Returns the rows on which a plan is based.
fn sample(rows: Rows<'_>) -> Rows<'_> {
    rows.slice(0..rows.len().min(SAMPLE))
}

fn required_rows<'r>(py: Python<'_>, rows: Option<Rows<'r>>) -> PyResult<Rows<'r>> {
    rows.ok_or_else(|| usage(py, "the game requires a background; pass background=…"))
}

fn background(py: Python<'_>, rows: Option<Rows<'_>>, weights: Option<&[f64]>) -> PyResult<Background> {
    let rows = required_rows(py, rows)?;
    let playing = |error| of_playing(py, &error);
    if rows.is_empty() {
        return Err(raised(py, Class::Data, "the background has no rows; expected at least one"));
    }
    let background = Background::rows(rows.values(), rows.columns()).map_err(playing)?;
    match weights {
        None => Ok(background),
        Some(weights) => background.with_weights(weights).map_err(playing),
    }
}
