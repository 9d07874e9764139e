//! From a model, a background and rows to explanations.

mod by_game;
mod by_oracle;
#[cfg(feature = "conditional")]
mod conditional;
mod each;
mod ends;
mod indices;
mod left;
#[cfg(feature = "trees")]
mod of_trees;

pub use ends::Ends;

use apportion_estimators::{Explanation, Until};
use apportion_games::{Background, GameError, Model, Rows, Shared, parallel};
use apportion_values::Value;

use crate::budget::Budget;
use crate::error::ExplainError;
use crate::follow::{CountRows, Follow};
use crate::game_explainer::{Followed, GameExplainer};
use crate::method::Method;
use crate::source::Source;

/// What is done with players that cannot matter: features whose explicand value is that of every background row, or that no tree splits
/// on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NullPlayers {
    /// They are taken out of the game and come back with the value 0: no evaluation is spent on them.
    #[default]
    TakeOut,
    /// They play like all others; sampled methods may give them small values.
    Keep,
}

/// Explains the predictions of one model in one game.
///
/// In the marginal game ([`new`](Self::new), [`of_trees`](Self::of_trees)) v(S) is the mean prediction when the features in S are the
/// explicand's and the others come from a row of the background. In the path-dependent game
/// ([`path_dependent`](Self::path_dependent)) v(S) is what an ensemble expects by its training cover where only the features in S are
/// known. In a conditional game ([`conditional`](Self::conditional)) it is what the model predicts on average over a law of the features
/// not in S given those in S. All are in the model's output space (margins for tree ensembles, unless [`of_outputs`](Self::of_outputs)).
///
/// With B background rows, or B draws, an explicand costs B model predictions per evaluation, in the path-dependent game about one: as many evaluations
/// as the budget allows, 2^n for [`Method::Exact`], none for the tree oracle.
///
/// Rows are explained in parallel, and the explanations have the same bits on any number of threads. A row's explanation depends on the row
/// and the seed, not on the other rows. Exact values of trees are an exception: their kernel is chosen by the number of rows of a call, so that a
/// row alone and the same row in a large table may differ in the last bits. `Settings::rows` fixes the choice.
///
/// To stop a call from another thread, do it under a [`Cancellation`](apportion_games::Cancellation): it ends within a fraction of a second,
/// and the explainer can be used as before.
///
/// ```
/// use apportion::{Background, Cancellation, Cancelled, Explainer, Method};
///
/// let cancellation = Cancellation::new();
/// let stop = cancellation.clone();
/// // A user who loses patience at the first prediction.
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
}

impl<'a> Explainer<'a> {
    /// An explainer of any model, by its marginal game.
    ///
    /// It borrows the model, or shares it: an explainer of an [`Arc`](std::sync::Arc) is `'static`.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use apportion::{Background, Explainer};
    ///
    /// let model = Arc::new(|row: &[f64]| row[0] + 2.0 * row[1]);
    /// let explainer: Explainer<'static> = Explainer::new(model, Background::baseline(vec![0.0; 2])?);
    /// let worker = std::thread::spawn(move || explainer.explain(&[1.0, 1.0]).map(|explanation| explanation.values));
    /// assert_eq!(worker.join().unwrap()?, [1.0, 2.0]);
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    pub fn new(model: impl Into<Shared<'a, dyn Model + 'a>>, background: Background) -> Self {
        Self::of(Source::Model(model.into(), background))
    }

    fn of(source: Source<'a>) -> Self {
        Self { source, asked: GameExplainer::new(), null_players: NullPlayers::default() }
    }

    /// Which value to compute, of features in which groups or on which graph; Shapley values by default.
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
    /// assert!(explanation.values.iter().zip([2.0, 2.0, 4.0]).all(|(got, wanted)| (got - wanted).abs() < 1e-12));
    ///
    /// // A time series of 50 steps, of which neighbours interact.
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

    /// How to compute it; [`Method::Auto`] by default.
    pub fn method(mut self, method: impl Into<Method>) -> Self {
        self.asked = self.asked.method(method);
        self
    }

    /// How many evaluations per explicand a sampled method may use; [`Budget::Auto`] by default.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.asked = self.asked.budget(budget);
        self
    }

    /// Asks for an accuracy instead of a budget: each explicand takes as many evaluations as its values need, at most those of
    /// `until.budget`, or of [`budget`](Self::budget) where that is not automatic.
    ///
    /// The [certificate](Explanation::certificate) of an explanation says why its run stopped, the bound of its error and what that bound
    /// rests on. Exact methods are certified as such. Where a conditional game draws rows, their errors count, too, and no number of
    /// evaluations takes those away: where they stand in the way, the law is asked for more draws
    /// ([`ConditionalLaw::with_draws`](apportion_games::ConditionalLaw::with_draws)), and [`Diagnostics::draws`](apportion_estimators::Diagnostics::draws) tells how many there were at last. The budget
    /// is for all of that, an evaluation with g times the law's draws counting for g. The evaluations of the explanation are those that it
    /// rests on; its model rows are all.
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
    /// // Interactions of two cancel in pairs of coalitions, so that nothing varied in the sample; a guarantee of its own says so.
    /// assert_eq!((certificate.stopped_by, certificate.guarantee), (StopRule::Tolerance, Guarantee::NothingVaried));
    /// assert!(explanation.evaluations < 4000);
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    pub fn until(mut self, until: Until) -> Self {
        self.asked = self.asked.until(until);
        self
    }

    /// The seed of all draws; 0 by default. The same seed gives the same explanation.
    pub fn seed(mut self, seed: u64) -> Self {
        self.asked = self.asked.seed(seed);
        self
    }

    /// What to do with players that cannot matter; [`NullPlayers::TakeOut`] by default.
    pub fn null_players(mut self, null_players: NullPlayers) -> Self {
        self.null_players = null_players;
        self
    }

    /// Explains one row.
    ///
    /// # Errors
    ///
    /// [`ExplainError`] if the row does not fit the background or the model, the method cannot compute the value, the budget is too
    /// small, or the model fails.
    pub fn explain(&self, explicand: &[f64]) -> Result<Explanation, ExplainError> {
        self.check_method()?;
        match self.explain_by_oracle(Rows::new(explicand, explicand.len().max(1)))? {
            Some(mut explanations) => explanations.pop().ok_or_else(|| {
                // No values are no row.
                GameError::Width { what: "the explicand".to_owned(), actual: 0, expected: self.features() }
                    .into()
            }),
            None => self.explain_by_game(explicand, None),
        }
    }

    /// Explains all rows, in parallel; the answer has their order.
    ///
    /// The kernel for exact values of trees is chosen by the number of rows: see [`exact`](Self::exact).
    ///
    /// # Errors
    ///
    /// As [`explain`](Self::explain); of several failing rows, the first.
    pub fn explain_rows(&self, explicands: Rows<'_>) -> Result<Vec<Explanation>, ExplainError> {
        self.explain_rows_with_progress(explicands, &|| {})
    }

    /// [`explain_rows`](Self::explain_rows), calling `row_done` after every row, from any thread.
    ///
    /// # Errors
    ///
    /// As [`explain_rows`](Self::explain_rows).
    pub fn explain_rows_with_progress(
        &self,
        explicands: Rows<'_>,
        row_done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Explanation>, ExplainError> {
        self.explain_with(explicands, &CountRows(row_done), false)
    }

    /// [`explain_rows`](Self::explain_rows) with someone who follows the runs: is told how far they are, may stop them, and brings back
    /// what was stored of them. The explanations have the same bits whether they are followed, interrupted and resumed, or not.
    ///
    /// Evaluations are remembered while a row is explained, some 24 bytes for each coalition of up to 64 players and a single output.
    ///
    /// # Errors
    ///
    /// As [`explain_rows`](Self::explain_rows), and that it was interrupted.
    pub fn explain_rows_followed(
        &self,
        explicands: Rows<'_>,
        follow: &dyn Follow,
    ) -> Result<Vec<Explanation>, ExplainError> {
        self.explain_with(explicands, follow, true)
    }

    /// All rows, `follow` being told of those that are done, and of every chunk of evaluations where it follows the runs.
    fn explain_with(
        &self,
        explicands: Rows<'_>,
        follow: &dyn Follow,
        follows_runs: bool,
    ) -> Result<Vec<Explanation>, ExplainError> {
        self.check_method()?;
        if let Some(explanations) = self.explain_by_oracle(explicands)? {
            explanations.iter().enumerate().for_each(|(row, explanation)| follow.done(row, explanation));
            return Ok(explanations);
        }
        self.explain_rows_by_game(explicands, follow, follows_runs).into_iter().collect()
    }

    /// Each of the rows by its game: in parallel where the model allows it, else up to the first that fails.
    fn explain_rows_by_game(
        &self,
        explicands: Rows<'_>,
        follow: &dyn Follow,
        follows_runs: bool,
    ) -> Vec<Result<Explanation, ExplainError>> {
        let explain = |row: usize| {
            if follow.begin(row).is_break() {
                return Err(GameError::Interrupted { evaluations: 0 }.into());
            }
            let explanation = match follow.finished(row) {
                Some(explanation) => explanation,
                None => {
                    let followed = follows_runs.then_some(Followed { row, follow, draws: None });
                    self.explain_by_game(explicands.row(row), followed.as_ref())?
                }
            };
            follow.done(row, &explanation);
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

    /// Refuses a method that cannot do what was asked, before any work.
    fn check_method(&self) -> Result<(), ExplainError> {
        self.asked.check_method()?;
        if self.asked.method == Method::Tree && !self.source.has_oracle() {
            return Err(ExplainError::NotTrees);
        }
        Ok(())
    }

    /// Whether the oracle is to be asked.
    fn asks_oracle(&self) -> bool {
        match self.asked.method {
            // No oracle knows of graphs.
            Method::Auto if self.asked.value.graph().is_some() => false,
            Method::Auto => self.source.prefers_oracle(),
            Method::Tree => self.source.has_oracle(),
            _ => false,
        }
    }
}
