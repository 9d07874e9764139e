//! From a model, a background and rows to explanations.

use std::sync::OnceLock;

use apportion_estimators::{Diagnostics, Explanation, exact_in_groups};
use apportion_games::{
    Background, Coalitions, ConditionalLaw, Game, GameError, Model, Partition, Rows, SubGame,
};
use apportion_trees::Ensemble;
use apportion_values::{CoalitionalValue, Semivalue, SolutionConcept};
use rayon::prelude::*;

use crate::budget::Budget;
use crate::draws::add_errors_of_draws;
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
/// known. In a conditional game ([`conditional`](Self::conditional)) it is what the model predicts on average over a law of the features
/// not in S given those in S. All are in the model's output space (margins for tree ensembles).
///
/// With B background rows, or B draws, an explicand costs B model predictions per evaluation, in the path-dependent game about one: as many evaluations
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
    value: SolutionConcept,
    partition: Option<Partition>,
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

    /// An explainer of any model, by its conditional game: absent features follow `law` given the present ones.
    ///
    /// Where the law draws rows, standard errors cover that too, of exact values as of estimates, which takes the predictions once more.
    /// They do not cover that the law was fitted on finitely many rows, or may be the wrong one
    /// ([`ConditionalGame::standard_errors`](apportion_games::ConditionalGame::standard_errors)).
    pub fn conditional(model: &'a dyn Model, law: &'a dyn ConditionalLaw) -> Self {
        Self::of(Source::Conditional(model, law))
    }

    fn of(source: Source<'a>) -> Self {
        Self {
            source,
            value: Semivalue::Shapley.into(),
            partition: None,
            method: Method::default(),
            budget: Budget::default(),
            seed: 0,
            null_players: NullPlayers::default(),
            oracle: OnceLock::new(),
        }
    }

    /// Which value to compute; Shapley by default.
    pub fn value(mut self, value: impl Into<SolutionConcept>) -> Self {
        self.value = value.into();
        self
    }

    /// The groups that features belong to, for values of players in groups (Owen, Banzhaf-Owen, two-step) and of groups (quotient values).
    ///
    /// ```
    /// use apportion::games::Partition;
    /// use apportion::values::SolutionConcept;
    /// use apportion::{Background, Explainer};
    ///
    /// let model = |row: &[f64]| row[0] * row[1] * row[2];
    /// let explanation = Explainer::new(&model, Background::baseline(vec![0.0; 3])?)
    ///     .value(SolutionConcept::owen())
    ///     .groups(Partition::new(3, vec![vec![0, 1], vec![2]])?)
    ///     .explain(&[1.0, 2.0, 4.0])?;
    /// assert!(explanation.values.iter().zip([2.0, 2.0, 4.0]).all(|(got, wanted)| (got - wanted).abs() < 1e-12));
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    pub fn groups(mut self, partition: Partition) -> Self {
        self.partition = Some(partition);
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
        if self.partition.is_some() && !self.value.needs_partition() {
            return Err(ExplainError::NeedlessGroups { value: self.value.clone() });
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
                    // It has no ensemble to ask an oracle of.
                    Source::Conditional(..) => return Err(ExplainError::NotTrees),
                };
                self.oracle.get_or_init(|| oracle)
            }
        };
        let players = self.value.check(ensemble.feature_count(), self.partition.as_ref())?;
        let attributions = oracle.values(&self.value, self.partition.as_ref(), explicands)?;
        let outputs = ensemble.output_count();
        let per_row = players * outputs;
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
            certificate: None,
        });
        Ok(explanations.collect())
    }

    fn explain_by_game(&self, explicand: &[f64]) -> Result<Explanation, ExplainError> {
        let (game, null_players) = self.source.game(explicand)?;
        let game = &*game;
        let results = self.value.check(game.players(), self.partition.as_ref())?;
        // Of all features, so that "10n" is the same for every row.
        let budget = self.budget.evaluations(game.players());
        if let Some(game) = self.source.conditional(explicand)? {
            let mut explanation = self.explain_all(&game, budget)?;
            let explain = |noise: &dyn Game| self.explain_errors(noise, budget);
            if self.meets_draws_again(&game, budget) {
                add_errors_of_draws(&game, self.seed, &mut explanation, explain)?;
            }
            return Ok(explanation);
        }
        let contributing = SubGame::without(game, null_players.view());
        if self.null_players == NullPlayers::Keep || contributing.players() == game.players() {
            return self.explain_all(game, budget);
        }
        if contributing.players() == 0 {
            return self.explain_unchanged(game, results);
        }
        let Some(left) = Left::of(&self.value, self.partition.as_ref(), contributing.keep()) else {
            return self.explain_all(game, budget);
        };
        let mut explanation =
            self.explain_game(&contributing, &left.value, left.partition.as_ref(), budget)?;
        let outputs = game.outputs();
        explanation.value = self.value.clone();
        explanation.values = left.expand(&explanation.values, results, outputs);
        explanation.std_errors = explanation.std_errors.map(|errors| left.expand(&errors, results, outputs));
        Ok(explanation)
    }

    /// Whether errors of the draws of a conditional game are not in the method's own errors.
    ///
    /// Methods that draw scenarios meet every draw as a scenario of its own. Where the coalitions are many, they hardly meet one twice, and
    /// their errors have it; where they are few, the errors of the exact values are to be added. In the true marginal mode each draw is
    /// met once.
    fn meets_draws_again(&self, game: &dyn Game, budget: usize) -> bool {
        let partition = self.partition.as_ref();
        match self.method_of(game.players(), &self.value, partition, budget) {
            Method::ProductSpaceTrueMarginal => false,
            method if method.draws_scenarios() => {
                self.value.coalitions(game.players(), partition).is_some_and(|all| all <= 2 * budget)
            }
            _ => true,
        }
    }

    /// What the errors of coalitions make of the explanation: the method itself on a game of them, or the exact values where the method
    /// draws scenarios, which that game has none of.
    fn explain_errors(&self, noise: &dyn Game, budget: usize) -> Result<Explanation, ExplainError> {
        let partition = self.partition.as_ref();
        if self.method_of(noise.players(), &self.value, partition, budget).draws_scenarios() {
            return Ok(exact_in_groups(noise, &self.value, partition)?);
        }
        self.explain_all(noise, budget)
    }

    /// The method that is used: [`Method::Auto`] stands for enumeration where the budget covers it, else for the best estimate.
    fn method_of(
        &self,
        players: usize,
        value: &SolutionConcept,
        partition: Option<&Partition>,
        budget: usize,
    ) -> Method {
        match self.method {
            Method::Auto if value.coalitions(players, partition).is_some_and(|all| all <= budget) => {
                Method::Exact
            }
            Method::Auto => Method::sampled(value),
            method => method,
        }
    }

    /// With all players in the game.
    fn explain_all(&self, game: &dyn Game, budget: usize) -> Result<Explanation, ExplainError> {
        let explanation = self.explain_game(game, &self.value, self.partition.as_ref(), budget)?;
        Ok(Explanation { value: self.value.clone(), ..explanation })
    }

    fn explain_game(
        &self,
        game: &dyn Game,
        value: &SolutionConcept,
        partition: Option<&Partition>,
        budget: usize,
    ) -> Result<Explanation, ExplainError> {
        let method = self.method_of(game.players(), value, partition, budget);
        match method.estimator(value, partition) {
            Some(estimator) => Ok(estimator.estimate(game, budget, self.seed)?),
            None => Ok(exact_in_groups(game, value, partition)?),
        }
    }

    /// The explicand is the background, or the trees do not split: nobody contributes anything.
    fn explain_unchanged(&self, game: &dyn Game, results: usize) -> Result<Explanation, ExplainError> {
        let mut batch = Coalitions::new(game.players());
        batch.push_full();
        let mut prediction = vec![0.0; game.outputs()];
        game.values(&batch, &mut prediction)?;
        let length = results * game.outputs();
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
            certificate: None,
        })
    }
}

/// What is left to compute when null players are taken out.
struct Left {
    value: SolutionConcept,
    partition: Option<Partition>,
    /// Where each of its values goes among those of all players, or of all groups.
    places: Vec<usize>,
}

impl Left {
    /// The value among the players `keep`, the others being null players; none where it cannot do without them: a two-step value
    /// gives a null player a share of its group's surplus, and weights that are given for a number of players need that many.
    fn of(value: &SolutionConcept, partition: Option<&Partition>, keep: &[usize]) -> Option<Self> {
        let among = || partition.map(|partition| partition.among(keep));
        match value {
            SolutionConcept::Semivalue(semivalue) => Some(Self {
                value: semivalue.without_null_players(keep.len()).into(),
                partition: None,
                places: keep.to_vec(),
            }),
            SolutionConcept::Coalitional(CoalitionalValue { between, within }) => {
                if matches!(within, Semivalue::SizeWeights(_)) {
                    return None;
                }
                let (partition, groups) = among()?;
                let between = between.without_null_players(groups.len());
                let value = CoalitionalValue { between, within: within.clone() }.into();
                Some(Self { value, partition: Some(partition), places: keep.to_vec() })
            }
            SolutionConcept::Quotient(semivalue) => {
                let (partition, places) = among()?;
                let value = SolutionConcept::Quotient(semivalue.without_null_players(places.len()));
                Some(Self { value, partition: Some(partition), places })
            }
            _ => None,
        }
    }

    /// Its values among all `results`, the others being zero.
    fn expand(&self, values: &[f64], results: usize, outputs: usize) -> Vec<f64> {
        let mut all = vec![0.0; results * outputs];
        for (row, &place) in values.chunks_exact(outputs).zip(&self.places) {
            all[place * outputs..(place + 1) * outputs].copy_from_slice(row);
        }
        all
    }
}
