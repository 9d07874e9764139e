//! From a model, a background and rows to explanations.

use std::sync::OnceLock;

use apportion_estimators::{Diagnostics, Explanation, exact};
use apportion_games::{Background, Game, GameError, Model, Rows, SubGame};
use apportion_trees::Ensemble;
use apportion_values::{MOST_PLAYERS, Semivalue};
use rayon::prelude::*;

use crate::budget::Budget;
use crate::error::ExplainError;
use crate::method::Method;
use crate::oracle::Oracle;
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
/// known. Both are in the model's output space (margins for tree ensembles).
///
/// With B background rows an explicand costs B model predictions per evaluation, in the path-dependent game about one: as many evaluations
/// as the budget allows, 2^n for [`Method::Exact`], none for the tree oracle.
///
/// Rows are explained in parallel, and the answer has the same bits on any number of threads. A row's explanation depends on the row and
/// the seed, not on the other rows; the tree oracle chooses its kernel by the number of rows, so there that holds up to rounding.
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
    value: Semivalue,
    method: Method,
    budget: Budget,
    seed: u64,
    null_players: NullPlayers,
    oracle: OnceLock<Oracle<'a>>,
}

impl<'a> Explainer<'a> {
    /// An explainer of any model, by its marginal game.
    pub fn new(model: &'a dyn Model, background: Background) -> Self {
        Self::of(Source::Model(model, background))
    }

    /// An explainer of a tree ensemble, by its marginal game; [`Method::Auto`] means exact values without sampling.
    pub fn of_trees(ensemble: &'a Ensemble, background: Background) -> Self {
        Self::of(Source::Trees(ensemble, background))
    }

    /// An explainer of a tree ensemble, by its path-dependent game, which needs the training cover in the model but no background;
    /// [`Method::Auto`] means exact values without sampling.
    pub fn path_dependent(ensemble: &'a Ensemble) -> Self {
        Self::of(Source::PathDependent(ensemble))
    }

    fn of(source: Source<'a>) -> Self {
        Self {
            source,
            value: Semivalue::Shapley,
            method: Method::default(),
            budget: Budget::default(),
            seed: 0,
            null_players: NullPlayers::default(),
            oracle: OnceLock::new(),
        }
    }

    /// Which value to compute; Shapley by default.
    pub fn value(mut self, value: Semivalue) -> Self {
        self.value = value;
        self
    }

    /// How to compute it; [`Method::Auto`] by default.
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// How many evaluations per explicand a sampled method may use; [`Budget::Auto`] by default.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// The seed of all draws; 0 by default. The same seed gives the same explanation.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
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
        match self.ensemble_for_oracle() {
            Some(ensemble) => {
                let rows = Rows::new(explicand, explicand.len().max(1));
                // One row gives one explanation; no values are no row.
                let (given, wanted) = (explicand.len(), ensemble.feature_count());
                let none = || GameError::Width { what: "the explicand".to_owned(), given, wanted };
                self.explain_trees(ensemble, rows)?.pop().ok_or_else(|| none().into())
            }
            None => self.explain_by_game(explicand),
        }
    }

    /// Explains all rows, in parallel; the answer has their order.
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
        self.check_method()?;
        if let Some(ensemble) = self.ensemble_for_oracle() {
            let explanations = self.explain_trees(ensemble, explicands)?;
            explanations.iter().for_each(|_| row_done());
            return Ok(explanations);
        }
        let explain = |row: usize| {
            let explanation = self.explain_by_game(explicands.row(row));
            row_done();
            explanation
        };
        if !self.source.parallel() {
            return (0..explicands.len()).map(explain).collect();
        }
        let explained: Vec<Result<Explanation, ExplainError>> =
            (0..explicands.len()).into_par_iter().map(explain).collect();
        explained.into_iter().collect()
    }

    /// Refuses a method that cannot do what was asked, before any work.
    fn check_method(&self) -> Result<(), ExplainError> {
        if !self.method.computes(&self.value) {
            return Err(ExplainError::Unsupported { method: self.method, value: self.value.clone() });
        }
        match (self.method, self.source.ensemble()) {
            (Method::Tree, None) => Err(ExplainError::NotTrees),
            _ => Ok(()),
        }
    }

    /// The ensemble, where its oracle is to be used.
    fn ensemble_for_oracle(&self) -> Option<&'a Ensemble> {
        match self.method {
            Method::Auto | Method::Tree => self.source.ensemble(),
            _ => None,
        }
    }

    /// Exact values of all rows by the tree oracle, which is compiled once per explainer.
    fn explain_trees(
        &self,
        ensemble: &'a Ensemble,
        explicands: Rows<'_>,
    ) -> Result<Vec<Explanation>, ExplainError> {
        let oracle = match self.oracle.get() {
            Some(oracle) => oracle,
            None => {
                let oracle = match &self.source {
                    Source::Model(_, background) | Source::Trees(_, background) => {
                        Oracle::interventional(ensemble, background)?
                    }
                    Source::PathDependent(_) => Oracle::path_dependent(ensemble)?,
                };
                self.oracle.get_or_init(|| oracle)
            }
        };
        let attributions = oracle.values(self.value.clone(), explicands)?;
        let outputs = ensemble.output_count();
        let per_row = ensemble.feature_count() * outputs;
        let explanations = (0..explicands.len()).map(|row| Explanation {
            value: self.value.clone(),
            method: Method::Tree.name().to_owned(),
            values: attributions.values[row * per_row..(row + 1) * per_row].to_vec(),
            base: attributions.base.clone(),
            prediction: attributions.predictions[row * outputs..(row + 1) * outputs].to_vec(),
            std_errors: Some(vec![0.0; per_row]),
            evaluations: 0,
            distinct_coalitions: 0,
            model_rows: 0,
            seed: None,
            diagnostics: Diagnostics { exact: true, ..Diagnostics::default() },
        });
        Ok(explanations.collect())
    }

    fn explain_by_game(&self, explicand: &[f64]) -> Result<Explanation, ExplainError> {
        let (game, null_players) = self.source.game(explicand)?;
        let game = &*game;
        self.value.check_players(game.players())?;
        // Of all features, so that "10n" is the same for every row.
        let budget = self.budget.evaluations(game.players());
        let contributing = SubGame::without(game, null_players.view());
        if self.null_players == NullPlayers::Keep || contributing.players() == game.players() {
            let explanation = self.explain_game(game, &self.value, budget)?;
            return Ok(Explanation { value: self.value.clone(), ..explanation });
        }
        if contributing.players() == 0 {
            return self.explain_unchanged(game);
        }
        let value = self.value.without_null_players(contributing.players());
        let mut explanation = self.explain_game(&contributing, &value, budget)?;
        explanation.value = self.value.clone();
        explanation.values = contributing.expand(&explanation.values);
        explanation.std_errors = explanation.std_errors.map(|errors| contributing.expand(&errors));
        Ok(explanation)
    }

    fn explain_game(
        &self,
        game: &dyn Game,
        value: &Semivalue,
        budget: usize,
    ) -> Result<Explanation, ExplainError> {
        let method = match self.method {
            Method::Auto if game.players() <= MOST_PLAYERS && budget >= 1 << game.players() => Method::Exact,
            Method::Auto => Method::sampled(value),
            method => method,
        };
        match method.estimator(value) {
            Some(estimator) => Ok(estimator.estimate(game, budget, self.seed)?),
            None => Ok(exact(game, value.clone())?),
        }
    }

    /// The explicand is the background, or the trees do not split: nobody contributes anything.
    fn explain_unchanged(&self, game: &dyn Game) -> Result<Explanation, ExplainError> {
        let mut batch = apportion_games::Coalitions::new(game.players());
        batch.push_full();
        let mut prediction = vec![0.0; game.outputs()];
        game.values(&batch, &mut prediction)?;
        let length = game.players() * game.outputs();
        Ok(Explanation {
            value: self.value.clone(),
            method: Method::Exact.name().to_owned(),
            values: vec![0.0; length],
            base: prediction.clone(),
            prediction,
            std_errors: Some(vec![0.0; length]),
            evaluations: 1,
            distinct_coalitions: 1,
            model_rows: game.rows_per_coalition(),
            seed: None,
            diagnostics: Diagnostics { exact: true, ..Diagnostics::default() },
        })
    }
}
