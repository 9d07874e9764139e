//! From a model, a background and rows to explanations.

use std::sync::OnceLock;

use apportion_estimators::{Diagnostics, Explanation, exact};
use apportion_games::{Background, Game, MarginalGame, Model, Rows};
use apportion_trees::{Ensemble, InterventionalOracle};
use apportion_values::{MOST_PLAYERS, Semivalue};
use rayon::prelude::*;

use crate::budget::Budget;
use crate::error::ExplainError;
use crate::method::Method;

/// What is done with players that cannot matter: features whose explicand value is that of every background row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NullPlayers {
    /// They are taken out of the game and come back with the value 0: no evaluation is spent on them.
    #[default]
    TakeOut,
    /// They play like all others; sampled methods may give them small values.
    Keep,
}

/// Explains the predictions of one model against one background.
///
/// The game is the marginal one: v(S) is the mean prediction when the features in S are the explicand's and the others come from a row
/// of the background, in the model's output space (margins for tree ensembles).
///
/// With B background rows an explicand costs B model predictions per evaluation: as many evaluations as the budget allows, 2^n for
/// [`Method::Exact`], none for the tree oracle.
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
    background: Background,
    value: Semivalue,
    method: Method,
    budget: Budget,
    seed: u64,
    null_players: NullPlayers,
    oracle: OnceLock<InterventionalOracle<'a>>,
}

/// What is explained.
#[derive(Clone, Copy)]
enum Source<'a> {
    Model(&'a dyn Model),
    Trees(&'a Ensemble),
}

impl<'a> Explainer<'a> {
    /// An explainer of any model.
    pub fn new(model: &'a dyn Model, background: Background) -> Self {
        Self::of(Source::Model(model), background)
    }

    /// An explainer of a tree ensemble, for which [`Method::Auto`] means exact values without sampling.
    pub fn of_trees(ensemble: &'a Ensemble, background: Background) -> Self {
        Self::of(Source::Trees(ensemble), background)
    }

    fn of(source: Source<'a>, background: Background) -> Self {
        Self {
            source,
            background,
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
            // One row gives one explanation.
            Some(ensemble) => {
                Ok(self.explain_trees(ensemble, Rows::new(explicand, explicand.len().max(1)))?.remove(0))
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
        let parallel = match self.source {
            Source::Model(model) => model.parallel(),
            Source::Trees(_) => true,
        };
        if !parallel {
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
        match (self.method, self.source) {
            (Method::Tree, Source::Model(_)) => Err(ExplainError::NotTrees),
            _ => Ok(()),
        }
    }

    /// The ensemble, where its oracle is to be used.
    fn ensemble_for_oracle(&self) -> Option<&'a Ensemble> {
        match (self.method, self.source) {
            (Method::Auto | Method::Tree, Source::Trees(ensemble)) => Some(ensemble),
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
                let weights = Some(self.background.weights());
                let oracle = InterventionalOracle::new(ensemble, self.background.as_rows(), weights)?;
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
        let game = match self.source {
            Source::Model(model) => MarginalGame::new(model, explicand, &self.background)?,
            Source::Trees(ensemble) => {
                MarginalGame::new(ensemble as &dyn Model, explicand, &self.background)?
            }
        };
        // Of all features, so that "10n" is the same for every row.
        let budget = self.budget.evaluations(game.players());
        let contributing = game.without_null_players();
        if self.null_players == NullPlayers::Keep || contributing.players() == game.players() {
            return self.explain_game(&game, budget);
        }
        if contributing.players() == 0 {
            return self.explain_unchanged(&game);
        }
        let mut explanation = self.explain_game(&contributing, budget)?;
        explanation.values = contributing.expand(&explanation.values);
        explanation.std_errors = explanation.std_errors.map(|errors| contributing.expand(&errors));
        Ok(explanation)
    }

    fn explain_game(&self, game: &dyn Game, budget: usize) -> Result<Explanation, ExplainError> {
        let method = match self.method {
            Method::Auto if game.players() <= MOST_PLAYERS && budget >= 1 << game.players() => Method::Exact,
            Method::Auto => Method::LeverageShap,
            method => method,
        };
        match method.estimator() {
            Some(estimator) if estimator.value() == self.value => {
                Ok(estimator.estimate(game, budget, self.seed)?)
            }
            Some(_) => Err(ExplainError::Unsupported { method, value: self.value.clone() }),
            None => Ok(exact(game, self.value.clone())?),
        }
    }

    /// The explicand is the background: nobody contributes anything.
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
