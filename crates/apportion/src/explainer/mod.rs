//! Explains rows, given a model and a background or a distribution of absent features.

mod by_exact_method;
mod by_game;
#[cfg(feature = "surrogates")]
mod by_residual;
#[cfg(feature = "conditional")]
mod conditional;
mod each;
mod ends;
#[cfg(feature = "kernels")]
mod for_kernels;
#[cfg(feature = "trees")]
mod for_trees;
mod indices;
#[cfg(feature = "surrogates")]
mod indices_by_residual;
mod reduced_problem;
#[cfg(feature = "surrogates")]
mod table;
#[cfg(feature = "surrogates")]
mod table_until;

pub use ends::Ends;

use apportion_estimators::{Explanation, Until};
use apportion_games::{Background, GameError, Model, Rows, Shared, parallel};
#[cfg(feature = "surrogates")]
use apportion_surrogates::Surrogate;
use apportion_values::Value;

use crate::budget::Budget;
use crate::error::ExplainError;
use crate::game_explainer::{GameExplainer, ObservedRun};
use crate::method::Method;
use crate::observer::{CountRows, RunObserver};
use crate::source::Source;
#[cfg(feature = "surrogates")]
use crate::surrogate_cache::SurrogateCache;

/// Explains a row, whose run may be observed.
type ExplainRow<'f> =
    dyn Fn(&[f64], Option<&ObservedRun<'_>>) -> Result<Explanation, ExplainError> + Sync + 'f;

/// The treatment of null players. A feature is a null player if its value in the explicand (the explained
/// row) equals its value in every background row, or if no tree splits on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NullPlayers {
    /// Removes them from the game, which saves evaluations, and sets their values to 0.
    #[default]
    TakeOut,
    /// Keeps them in the game; sampling methods may assign small values to them.
    Keep,
}

/// An explainer for the predictions of one model in one game.
///
/// In the marginal game ([`new`](Self::new), [`for_trees`](Self::for_trees),
/// [`for_kernel_machine`](Self::for_kernel_machine)), v(S) is the mean prediction
/// over the background rows, in which the features in S are replaced with those of the explicand (the
/// explained row). In the path-dependent game ([`path_dependent`](Self::path_dependent)), v(S) is the
/// expected prediction of the ensemble, weighted by its training cover, if only the features in S are known.
/// In a conditional game ([`conditional`](Self::conditional)), v(S) is the mean prediction over a
/// distribution of the features not in S given those in S. All games are in the model's output space (margins
/// for tree ensembles, unless created with [`for_outputs`](Self::for_outputs)).
///
/// With B background rows or B draws, an evaluation requires B predictions of the model; in the
/// path-dependent game, about one. The budget limits the number of evaluations per explicand.
/// [`Method::Exact`] takes 2^n evaluations, and the exact methods of trees and kernel machines take none.
///
/// Rows are explained in parallel, and the explanations are the same bit for bit on any number of threads.
/// The explanation of a row depends on the row and the seed, not on the other rows. One exception is
/// [`Method::Table`], which explains all rows of a call as one table, unless a surrogate was learned before
/// ([`Explainer::surrogate`]) or a tolerance is set. Exact values of trees are another exception: their
/// kernel is chosen by the number of rows in a call, so the last bits may depend on whether a row is
/// explained alone or in a large table. `Settings::rows` fixes the choice.
///
/// To stop a call from another thread, run it with a [`Cancellation`](apportion_games::Cancellation). After a
/// cancellation, the call stops within a fraction of a second, and the explainer remains usable.
///
/// ```
/// use apportion::{Background, Cancellation, Cancelled, Explainer, Method};
///
/// let cancellation = Cancellation::new();
/// let stop = cancellation.clone();
/// // Cancel the call at the first prediction.
/// let model = move |row: &[f64]| {
///     stop.cancel();
///     row.iter().sum::<f64>()
/// };
/// let explainer = Explainer::new(&model, Background::baseline(vec![0.0; 20])?).method(Method::Exact);
/// assert_eq!(cancellation.run(|| explainer.explain(&[1.0; 20])).err(), Some(Cancelled));
/// # Ok::<(), apportion::ExplainError>(())
/// ```
///
/// ```
/// use apportion::{Background, Explainer, Method};
///
/// let model = |row: &[f64]| row[0] * row[1] + row[2];
/// let explanation = Explainer::new(&model, Background::baseline(vec![0.0; 3])?)
///     .method(Method::Exact)
///     .explain(&[2.0, 3.0, 4.0])?;
/// assert_eq!(explanation.prediction, [10.0]);
/// assert!(explanation.values.iter().zip([3.0, 3.0, 4.0]).all(|(got, want)| (got - want).abs() < 1e-12));
/// # Ok::<(), apportion::ExplainError>(())
/// ```
pub struct Explainer<'a> {
    source: Source<'a>,
    asked: GameExplainer,
    null_players: NullPlayers,
    #[cfg(feature = "surrogates")]
    surrogate: Option<Shared<'a, Surrogate>>,
    #[cfg(feature = "surrogates")]
    is_categorical: Vec<bool>,
    /// The surrogate that [`Method::Auto`] learned from the background rows.
    #[cfg(feature = "surrogates")]
    learned: SurrogateCache,
}

impl<'a> Explainer<'a> {
    /// Creates an explainer for any model with its marginal game.
    ///
    /// The model is borrowed or shared: an explainer that shares an [`Arc`](std::sync::Arc) is `'static`.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use apportion::{Background, Explainer};
    ///
    /// let model = Arc::new(|row: &[f64]| row[0] + 2.0 * row[1]);
    /// let explainer: Explainer<'static> = Explainer::new(model, Background::baseline(vec![0.0; 2])?);
    /// let worker = std::thread::spawn(move || {
    ///     explainer.explain(&[1.0, 1.0]).map(|explanation| explanation.values)
    /// });
    /// assert_eq!(worker.join().unwrap()?, [1.0, 2.0]);
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    pub fn new(model: impl Into<Shared<'a, dyn Model + 'a>>, background: Background) -> Self {
        Self::from_source(Source::Model(model.into(), background))
    }

    fn from_source(source: Source<'a>) -> Self {
        Self {
            source,
            asked: GameExplainer::new(),
            null_players: NullPlayers::default(),
            #[cfg(feature = "surrogates")]
            surrogate: None,
            #[cfg(feature = "surrogates")]
            is_categorical: Vec::new(),
            #[cfg(feature = "surrogates")]
            learned: SurrogateCache::default(),
        }
    }

    /// Sets the value to compute, including groups or a graph; Shapley values by default.
    ///
    /// ```
    /// use apportion::games::{Graph, Partition};
    /// use apportion::values::{GraphValue, Value};
    /// use apportion::{Background, Explainer};
    ///
    /// let model = |row: &[f64]| row[0] * row[1] * row[2];
    /// let groups = Partition::new(3, vec![vec![0, 1], vec![2]])?;
    /// let explanation = Explainer::new(&model, Background::baseline(vec![0.0; 3])?)
    ///     .value(Value::owen(groups))
    ///     .explain(&[1.0, 2.0, 4.0])?;
    /// let near = |(got, wanted): (&f64, f64)| (got - wanted).abs() < 1e-12;
    /// assert!(explanation.values.iter().zip([2.0, 2.0, 4.0]).all(near));
    ///
    /// // A time series of 50 steps; neighbouring steps interact.
    /// let model = |row: &[f64]| row.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
    /// let explanation = Explainer::new(&model, Background::baseline(vec![0.0; 50])?)
    ///     .value(Value::on_graph(GraphValue::c_shapley(3), Graph::line(50)))
    ///     .explain(&[1.0; 50])?;
    /// assert!((explanation.values[25] - 1.0).abs() < 1e-12);
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    pub fn value(mut self, value: impl Into<Value>) -> Self {
        self.asked = self.asked.value(value);
        self
    }

    /// Sets the method; [`Method::Auto`] by default.
    pub fn method(mut self, method: impl Into<Method>) -> Self {
        self.asked = self.asked.method(method);
        self
    }

    /// Sets the maximum number of evaluations of a sampling method per explicand; [`Budget::Auto`] by
    /// default.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.asked = self.asked.budget(budget);
        self
    }

    /// Sets a tolerance instead of a budget: for each explicand, the game is evaluated until its values are
    /// accurate enough. The maximum number of evaluations is `until.budget`. If that is `None`, the
    /// [`budget`](Self::budget) limits the run, unless it is [`Budget::Auto`].
    ///
    /// The [certificate](Explanation::certificate) of an explanation contains the reason why its run stopped,
    /// the error bound and its justification. Exact methods are certified as exact. If a conditional game
    /// draws rows, the bound includes their sampling error, which more evaluations do not reduce. If that
    /// error exceeds the tolerance, more draws are requested from the distribution
    /// ([`ConditionalDistribution::with_draws`](apportion_games::ConditionalDistribution::with_draws)), and
    /// [`Diagnostics::draws`](apportion_estimators::Diagnostics::draws) contains their final number. The
    /// budget covers all of these runs; an evaluation with g times the distribution's draws counts as g
    /// evaluations. The explanation contains the number of evaluations of the last run, on which it is based,
    /// but the number of model rows of all runs.
    ///
    /// ```
    /// use apportion::estimators::{Guarantee, StopRule};
    /// use apportion::{Background, Explainer, Until};
    ///
    /// let model = |row: &[f64]| row.iter().sum::<f64>() + 5.0 * row[0] * row[1];
    /// let explanation = Explainer::new(&model, Background::baseline(vec![0.0; 30])?)
    ///     .until(Until::relative(0.01))
    ///     .explain(&[1.0; 30])?;
    /// let certificate = explanation.certificate.unwrap();
    /// // Pairwise interactions cancel in pairs of coalitions, so nothing varied in the sample. A separate
    /// // guarantee reports this.
    /// assert_eq!(certificate.stopped_by, StopRule::Tolerance);
    /// assert_eq!(certificate.guarantee, Guarantee::NothingVaried);
    /// assert!(explanation.evaluations < 4000);
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    pub fn until(mut self, until: Until) -> Self {
        self.asked = self.asked.until(until);
        self
    }

    /// Sets the seed of all draws; 0 by default. The same seed gives the same explanation.
    pub fn seed(mut self, seed: u64) -> Self {
        self.asked = self.asked.seed(seed);
        self
    }

    /// Sets the treatment of null players; [`NullPlayers::TakeOut`] by default. The regression of
    /// [`Method::Table`] always removes them.
    pub fn null_players(mut self, null_players: NullPlayers) -> Self {
        self.null_players = null_players;
        self
    }

    /// Declares that the model is additive: a sum of functions of single features and of the given
    /// interactions, each a function of the features with these indices. Generalized additive models, naive
    /// Bayes classifiers (the joint log-likelihood) and discriminant analysis are such models; an output
    /// after a link function, such as a probability, is not.
    ///
    /// Exact values and interaction indices then take n + p + 2 evaluations for n features and p pairs, see
    /// [`GameExplainer::additive`]. For each row, the prediction is compared with the sum of the terms. It is
    /// an error to declare a conditional game, a tree ensemble or a kernel machine additive.
    ///
    /// ```
    /// use apportion::{Background, Explainer};
    ///
    /// let model = |row: &[f64]| row.iter().map(|x| x.exp()).sum::<f64>() + 5.0 * row[0] * row[1];
    /// let explainer = |interactions: Vec<Vec<usize>>| -> Result<_, apportion::ExplainError> {
    ///     Ok(Explainer::new(&model, Background::baseline(vec![0.0; 40])?).additive(interactions))
    /// };
    /// let explanation = explainer(vec![vec![0, 1]])?.explain(&[1.0; 40])?;
    /// assert!((explanation.values[0] - (1f64.exp() - 1.0 + 2.5)).abs() < 1e-12);
    /// assert_eq!(explanation.evaluations, 43);
    /// // The interaction is not declared.
    /// assert!(explainer(vec![])?.explain(&[1.0; 40]).is_err());
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    pub fn additive(mut self, interactions: impl IntoIterator<Item = Vec<usize>>) -> Self {
        self.asked = self.asked.additive(interactions);
        self
    }

    /// Explains one row.
    ///
    /// # Errors
    ///
    /// [`ExplainError`] if the row does not match the background or the model, the method does not support
    /// the value, the budget is too small, or the model fails.
    pub fn explain(&self, explicand: &[f64]) -> Result<Explanation, ExplainError> {
        self.check_method()?;
        #[cfg(feature = "surrogates")]
        if self.uses_table() {
            return self.explain_by_table_alone(explicand);
        }
        #[cfg(feature = "surrogates")]
        if self.uses_residual() {
            let rows = Rows::new(explicand, explicand.len().max(1));
            let found = self.explain_rows_by_residual(rows, &CountRows(|| {}), false)?.pop();
            return found.ok_or_else(|| self.no_explicand());
        }
        match self.explain_by_exact_method(Rows::new(explicand, explicand.len().max(1)))? {
            Some(mut explanations) => explanations.pop().ok_or_else(|| self.no_explicand()),
            None => self.explain_by_game(explicand, None),
        }
    }

    /// Explains all rows in parallel; the explanations are in the order of the rows.
    ///
    /// The kernel for exact values of trees is chosen by the number of rows; see [`exact`](Self::exact).
    /// [`Method::Table`] explains all rows of the call as one table, unless a surrogate was
    /// [learned](Self::learn) before or a tolerance is set.
    ///
    /// # Errors
    ///
    /// The errors of [`explain`](Self::explain); if several rows fail, the error for the first of them.
    pub fn explain_rows(&self, explicands: Rows<'_>) -> Result<Vec<Explanation>, ExplainError> {
        self.explain_rows_with_progress(explicands, &|| {})
    }

    /// Explains all rows like [`explain_rows`](Self::explain_rows), and calls `row_done` after every row,
    /// from any thread.
    ///
    /// # Errors
    ///
    /// The errors of [`explain_rows`](Self::explain_rows).
    pub fn explain_rows_with_progress(
        &self,
        explicands: Rows<'_>,
        row_done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Explanation>, ExplainError> {
        self.explain_with(explicands, &CountRows(row_done), false)
    }

    /// Explains all rows like [`explain_rows`](Self::explain_rows), with an observer that receives the
    /// progress of the runs, can stop them, and restores stored results. Observing, interrupting and resuming
    /// runs does not change any bit of the explanations.
    ///
    /// Without a learned surrogate or a tolerance, [`Method::Table`] uses stored results only if all rows of
    /// the call have one, because a row's values depend on all rows. It cannot be interrupted by the observer
    /// after it has started; use a [`Cancellation`](apportion_games::Cancellation).
    ///
    /// Evaluations are kept in memory while a row is explained, about 24 bytes per coalition for up to 64
    /// players and a single output.
    ///
    /// # Errors
    ///
    /// The errors of [`explain_rows`](Self::explain_rows), and interruptions by the observer.
    pub fn explain_rows_followed(
        &self,
        explicands: Rows<'_>,
        observer: &dyn RunObserver,
    ) -> Result<Vec<Explanation>, ExplainError> {
        self.explain_with(explicands, observer, true)
    }

    /// Explains all rows and reports finished rows to `observer`. If `follows_runs` is set, it also reports
    /// every chunk of evaluations.
    fn explain_with(
        &self,
        explicands: Rows<'_>,
        observer: &dyn RunObserver,
        follows_runs: bool,
    ) -> Result<Vec<Explanation>, ExplainError> {
        self.check_method()?;
        #[cfg(feature = "surrogates")]
        if self.uses_table() {
            return self.explain_by_table(explicands, observer);
        }
        #[cfg(feature = "surrogates")]
        if self.uses_residual() {
            return self.explain_rows_by_residual(explicands, observer, follows_runs);
        }
        if let Some(explanations) = self.explain_by_exact_method(explicands)? {
            explanations
                .iter()
                .enumerate()
                .for_each(|(row, explanation)| observer.on_row_done(row, explanation));
            return Ok(explanations);
        }
        self.explain_rows_by_game(explicands, observer, follows_runs).into_iter().collect()
    }

    /// Explains each row by evaluating its game.
    fn explain_rows_by_game(
        &self,
        explicands: Rows<'_>,
        observer: &dyn RunObserver,
        follows_runs: bool,
    ) -> Vec<Result<Explanation, ExplainError>> {
        let explain = |row: &[f64], followed: Option<&ObservedRun<'_>>| self.explain_by_game(row, followed);
        self.explain_each_row(explicands, observer, follows_runs, &explain)
    }

    /// Calls `explain_row` for each row without a stored result. If the model can be called from several
    /// threads, rows are explained in parallel; otherwise one by one, up to the first row that fails.
    fn explain_each_row(
        &self,
        explicands: Rows<'_>,
        observer: &dyn RunObserver,
        follows_runs: bool,
        explain_row: &ExplainRow<'_>,
    ) -> Vec<Result<Explanation, ExplainError>> {
        let explain = |row: usize| {
            if observer.on_row_start(row).is_break() {
                return Err(GameError::Interrupted { evaluations: 0 }.into());
            }
            let explanation = match observer.load_result(row) {
                Some(explanation) => explanation,
                None => {
                    let followed = follows_runs.then_some(ObservedRun { row, observer, draws: None });
                    explain_row(explicands.row(row), followed.as_ref())?
                }
            };
            observer.on_row_done(row, &explanation);
            Ok(explanation)
        };
        if self.source.parallel() {
            return parallel::map(0..explicands.len(), explain);
        }
        let mut explained = Vec::with_capacity(explicands.len());
        for row in 0..explicands.len() {
            explained.push(explain(row));
            if explained[row].is_err() {
                break;
            }
        }
        explained
    }

    /// Calls `explain` for each row: in parallel if the model can be called from several threads, otherwise
    /// one by one.
    fn map_rows<T: Send>(
        &self,
        explicands: Rows<'_>,
        explain: impl Fn(&[f64]) -> Result<T, ExplainError> + Sync,
    ) -> Result<Vec<T>, ExplainError> {
        match self.source.parallel() {
            true => parallel::try_map(explicands.iter(), explain),
            false => explicands.iter().map(explain).collect(),
        }
    }

    /// Returns the error for an empty slice, which does not contain a row.
    fn no_explicand(&self) -> ExplainError {
        let expected = match &self.source {
            Source::Model(_, background) => background.columns(),
            _ => self.features(),
        };
        GameError::Width { what: "the explicand".to_owned(), actual: 0, expected }.into()
    }

    /// Checks the tolerance, and that the method supports the model and the value.
    fn check_method(&self) -> Result<(), ExplainError> {
        self.asked.check_method()?;
        if self.asked.interactions.is_some() && !matches!(self.source, Source::Model(..)) {
            return Err(ExplainError::NotMarginal);
        }
        match self.asked.method {
            method if self.source.exact_method() == Some(method) => Ok(()),
            Method::Tree => Err(ExplainError::NotTrees),
            Method::KernelMachine => Err(ExplainError::NotKernelMachine),
            #[cfg(feature = "surrogates")]
            Method::Table => self.source.model_and_background().map(drop),
            #[cfg(not(feature = "surrogates"))]
            Method::Table => Err(ExplainError::NoTableMethod),
            _ => Ok(()),
        }
    }

    /// Returns the exact method without evaluations, if it is used.
    fn exact_method(&self) -> Option<Method> {
        let is_used = match self.asked.method {
            Method::Auto => self.source.prefers_exact_method(&self.asked.value),
            Method::Tree | Method::KernelMachine => true,
            _ => false,
        };
        self.source.exact_method().filter(|_| is_used)
    }
}
