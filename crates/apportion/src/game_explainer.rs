//! Explains any game: by enumeration, with a fixed budget, or until a tolerance is reached.

use apportion_estimators::{
    Anytime, Checkpoint, Estimator, EstimatorError, Explanation, LearnedSpectrum, OnGraph, Progress, Until,
    exact_of, methods,
};
use apportion_games::Game;
use apportion_values::{InteractionIndex, Interactions, Semivalue, Value, enumerate_interactions};

use crate::budget::Budget;
use crate::error::ExplainError;
use crate::method::Method;
use crate::observer::RunObserver;
use crate::plan::Plan;

/// An explainer for games: computes attributions for the players, with a given value, method and budget.
///
/// Use it for games whose players are not the features of a row but, for example, words, pixels or training
/// rows. It supports any type that implements [`Game`]. [`Explainer`](crate::Explainer) creates the game of
/// each row and explains it in the same way.
///
/// ```
/// use apportion::games::{Graph, SumOfUnanimity};
/// use apportion::values::{GraphValue, Value};
/// use apportion::GameExplainer;
///
/// // A hundred players on a line; neighbours interact.
/// let terms = (0..99).map(|player| (vec![player, player + 1], 1.0));
/// let game = SumOfUnanimity::new(100, 0.0, terms)?;
/// let value = Value::on_graph(GraphValue::l_shapley(2), Graph::line(100));
/// let explanation = GameExplainer::new().value(value).explain(&game)?;
/// assert!((explanation.values[50] - 1.0).abs() < 1e-12);
/// assert!(explanation.evaluations < 16 * 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GameExplainer {
    pub(crate) value: Value,
    pub(crate) method: Method,
    pub(crate) budget: Budget,
    pub(crate) until: Option<Until>,
    pub(crate) seed: u64,
    /// Whether [`Method::Auto`] is limited to methods that are linear in the game.
    pub(crate) is_linear: bool,
    /// Values, n × k or empty, that are added to the values of the game when a relative tolerance is
    /// computed.
    pub(crate) known: Vec<f64>,
    /// The interactions of games that were declared additive; `None` without a declaration.
    pub(crate) interactions: Option<Vec<Vec<usize>>>,
}

impl Default for GameExplainer {
    fn default() -> Self {
        Self {
            value: Semivalue::Shapley.into(),
            method: Method::default(),
            budget: Budget::default(),
            until: None,
            seed: 0,
            is_linear: false,
            known: Vec::new(),
            interactions: None,
        }
    }
}

/// A row whose run is observed.
pub(crate) struct ObservedRun<'f> {
    pub(crate) row: usize,
    pub(crate) observer: &'f dyn RunObserver,
    /// The number of draws of the conditional game, if the run is one of several with an increasing number of
    /// draws.
    pub(crate) draws: Option<usize>,
}

/// The extent of a run, which determines its number of evaluations.
#[derive(Clone, Copy)]
pub(crate) enum Extent {
    /// A sample of a fixed number of evaluations.
    Sample(usize),
    /// A growing sample, until the tolerance is reached.
    Until(Until),
    /// A growing sample that has reached this number of evaluations.
    #[cfg(feature = "conditional")]
    Grown(usize),
}

impl GameExplainer {
    /// Creates an explainer for Shapley values with [`Method::Auto`] and [`Budget::Auto`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value to compute, including groups or a graph; Shapley values by default.
    pub fn value(mut self, value: impl Into<Value>) -> Self {
        self.value = value.into();
        self
    }

    /// Sets the method; [`Method::Auto`] by default.
    pub fn method(mut self, method: impl Into<Method>) -> Self {
        self.method = method.into();
        self
    }

    /// Sets the maximum number of evaluations of a sampling method; [`Budget::Auto`] by default. The number
    /// of evaluations for L-Shapley, C-Shapley and Myerson values follows from their definitions; for them, a
    /// given budget is an upper limit.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets a tolerance instead of a budget; see [`Explainer::until`](crate::Explainer::until).
    pub fn until(mut self, until: Until) -> Self {
        self.until = Some(until);
        self
    }

    /// Sets the seed of all draws; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Explains `game`.
    ///
    /// # Errors
    ///
    /// [`ExplainError`] if the method does not support the value, the groups or the graph are defined for a
    /// different number of players, the budget is too small, or the game fails.
    pub fn explain(&self, game: &dyn Game) -> Result<Explanation, ExplainError> {
        self.check_any_game()?;
        if game.players() == 0 {
            return Err(EstimatorError::NoPlayers.into());
        }
        self.results(game.players())?;
        if let Some(terms) = self.terms(game.players())? {
            return self.explain_terms(game, &terms, None);
        }
        self.explain_all(game, self.extent(game.players()), None)
    }

    /// Returns the [interaction indices](apportion_values::interactions) of all coalitions of up to `order`
    /// players, regardless of the [value](Self::value).
    ///
    /// The indices are exact, by enumeration of all coalitions of up to 25 players, with one exception. If
    /// there are more coalitions than the budget allows, [`Method::Auto`] estimates the indices if possible:
    /// Shapley, Banzhaf, k-Shapley, faithful and k-additive Shapley indices of order 2, with
    /// [`LearnedSpectrum::with_pairs`] and [standard errors](Interactions::std_errors). For a certified
    /// accuracy, [explain](Self::explain) the [derivative](apportion_games::DerivativeGame) of the game with
    /// respect to a player: its values are the indices of this player's pairs.
    ///
    /// ```
    /// use apportion::values::InteractionIndex;
    /// use apportion::{Budget, GameExplainer, Semivalue};
    /// use apportion::games::SumOfUnanimity;
    ///
    /// let game = SumOfUnanimity::random(40, 60, 3, 1);
    /// let index: InteractionIndex = Semivalue::Shapley.into();
    /// let found = GameExplainer::new().budget(Budget::PerPlayer(20)).indices(&game, &index, 2)?;
    /// let (pair, value) = found.strongest(2, 1, 0)[0];
    /// println!("{pair}: {value:?}, of {} indices", found.std_errors().map_or(0, <[f64]>::len));
    /// # Ok::<(), apportion::ExplainError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ExplainError::Value`] for an invalid order, for enumeration with more than 25 players, and for more
    /// than 2^20 coalitions times outputs; [`ExplainError::Index`] for a method that does not support the
    /// index; [`ExplainError::NotTrees`] for [`Method::Tree`], [`ExplainError::NotKernelMachine`] for
    /// [`Method::KernelMachine`]; the errors of the game.
    pub fn indices(
        &self,
        game: &dyn Game,
        index: &InteractionIndex,
        order: usize,
    ) -> Result<Interactions, ExplainError> {
        let estimator = self.check_index(index, order)?;
        let players = game.players();
        if let Some(terms) = self.terms_of_indices(players)? {
            return Self::indices_of_terms(game, &terms, (index, order, None));
        }
        let budget = self.budget.evaluations_for_pairs(players);
        let all = 1usize.checked_shl(players as u32);
        self.check_exact_budget(players, all)?;
        let covers_all = all.is_some_and(|all| all <= budget);
        match estimator {
            Some(estimator) if !(covers_all && self.method == Method::Auto) => {
                Ok(estimator.with_pairs(index, game, budget, self.seed)?.1)
            }
            _ => Ok(enumerate_interactions(game, index, order)?),
        }
    }

    /// Returns the estimator of an index, or `None` for enumeration.
    ///
    /// # Errors
    ///
    /// [`ExplainError::Index`], [`ExplainError::NotTrees`] and [`ExplainError::NotKernelMachine`] for methods
    /// that do not support the index.
    pub(crate) fn check_index(
        &self,
        index: &InteractionIndex,
        order: usize,
    ) -> Result<Option<LearnedSpectrum>, ExplainError> {
        match (self.method, LearnedSpectrum::for_index(index, order)) {
            (Method::Exact, _) => Ok(None),
            (Method::Additive, _) if self.interactions.is_some() => Ok(None),
            (Method::Additive, _) => Err(ExplainError::NotAdditive),
            // The errors of draws can only be estimated for methods that are linear in the game.
            (Method::Auto, learned) => Ok(learned.filter(|_| !self.is_linear)),
            (Method::By(method), Some(learned)) if *method == methods::LEARNED_SPECTRUM => Ok(Some(learned)),
            (Method::Tree, _) => Err(ExplainError::NotTrees),
            (Method::KernelMachine, _) => Err(ExplainError::NotKernelMachine),
            (method, _) => Err(ExplainError::Index { method, index: Box::new(index.clone()), order }),
        }
    }

    /// Returns the method and the number of evaluations for a game with this number of players.
    ///
    /// # Errors
    ///
    /// The errors of [`explain`](Self::explain), except errors that occur in the game or during the run. A
    /// budget that is too small is not an error, because the plan contains the minimum; [`Plan::check`]
    /// checks the budget.
    pub fn plan(&self, players: usize) -> Result<Plan, ExplainError> {
        self.check_any_game()?;
        self.value.check(players)?;
        let extent = self.extent(players);
        let given = (self.budget != Budget::Auto).then(|| self.budget.evaluations(players));
        if let Some(terms) = self.terms(players)? {
            let all = Some(terms.evaluations());
            return Ok(Plan {
                method: Method::Additive,
                min_evaluations: all,
                max_evaluations: all,
                budget: None,
                players,
                seconds: None,
                given,
            });
        }
        let method = self.method_of(players, &self.value, extent);
        let (least, most) = match (method.estimator(&self.value), &self.value) {
            (Some(estimator), _) => {
                (Some(estimator.minimum_budget(players)), Some(extent.evaluations(players)))
            }
            (None, Value::OnGraph(..)) => (None, given),
            (None, value) => {
                let all = value.coalitions(players);
                // A budget smaller than the number of coalitions is rejected when the values are computed.
                (all, all.map(|all| given.map_or(all, |given| all.min(given))))
            }
        };
        let has_budget = matches!(method, Method::By(_)) || self.value.graph().is_some();
        Ok(Plan {
            method,
            min_evaluations: least,
            max_evaluations: most,
            budget: most.filter(|_| has_budget),
            players,
            seconds: None,
            given,
        })
    }

    fn check_any_game(&self) -> Result<(), ExplainError> {
        self.check_method()?;
        match self.method {
            Method::Tree => Err(ExplainError::NotTrees),
            Method::KernelMachine => Err(ExplainError::NotKernelMachine),
            Method::Table => Err(ExplainError::NotTable),
            _ => Ok(()),
        }
    }

    /// Checks the tolerance, and that the method supports the value.
    pub(crate) fn check_method(&self) -> Result<(), ExplainError> {
        if let Some(until) = &self.until {
            until.check()?;
        }
        if !self.method.computes(&self.value) {
            return Err(ExplainError::Unsupported {
                method: self.method,
                value: Box::new(self.value.clone()),
            });
        }
        if self.method == Method::Additive && self.interactions.is_none() {
            return Err(ExplainError::NotAdditive);
        }
        Ok(())
    }

    /// Checks that the value is defined for this number of players, and returns the number of values.
    pub(crate) fn results(&self, players: usize) -> Result<usize, ExplainError> {
        let results = self.value.check(players)?;
        match &self.value {
            // Values on a graph require fewer coalitions. Their computation checks the budget.
            Value::OnGraph(..) => {}
            value => self.check_exact_budget(players, value.coalitions(players))?,
        }
        Ok(results)
    }

    /// Returns an error if the budget does not cover all coalitions for [`Method::Exact`].
    fn check_exact_budget(&self, players: usize, all: Option<usize>) -> Result<(), ExplainError> {
        let given = self.budget.evaluations(players);
        match all {
            Some(least) if self.method == Method::Exact && self.budget != Budget::Auto && given < least => {
                Err(ExplainError::ExactBudget { actual: given, min: least, players })
            }
            _ => Ok(()),
        }
    }

    /// Returns the extent of a run for a game with this number of players, including null players, so that
    /// "10n" means the same for every row.
    pub(crate) fn extent(&self, players: usize) -> Extent {
        match self.until {
            None => Extent::Sample(self.budget.evaluations(players)),
            Some(until) => {
                let given = (self.budget != Budget::Auto).then(|| self.budget.evaluations(players));
                Extent::Until(until.with_budget(until.budget.or(given)))
            }
        }
    }

    /// Returns the method to use for `value`. [`Method::Auto`] becomes enumeration if the budget covers it,
    /// and the best estimator otherwise. A run with a tolerance switches to enumeration by itself if that is
    /// cheaper.
    pub(crate) fn method_of(&self, players: usize, value: &Value, extent: Extent) -> Method {
        match (self.method, extent) {
            (Method::Auto, Extent::Sample(budget))
                if value.coalitions(players).is_some_and(|all| all <= budget) =>
            {
                Method::Exact
            }
            (Method::Auto, _) if self.is_linear => Method::linear(value),
            (Method::Auto, extent) => Method::sampled(value, players, extent.evaluations(players)),
            (method, _) => method,
        }
    }

    /// Explains the game without removing null players.
    pub(crate) fn explain_all(
        &self,
        game: &dyn Game,
        extent: Extent,
        followed: Option<&ObservedRun<'_>>,
    ) -> Result<Explanation, ExplainError> {
        let mut explanation = self.explain_game(game, &self.value, extent, followed)?;
        explanation.value = self.value.concept();
        Ok(explanation)
    }

    /// Computes `value` for `game`; both may be reduced to the players that are not null players.
    pub(crate) fn explain_game(
        &self,
        game: &dyn Game,
        value: &Value,
        extent: Extent,
        followed: Option<&ObservedRun<'_>>,
    ) -> Result<Explanation, ExplainError> {
        let mut same_as = None;
        let estimator =
            if let (Value::OnGraph(value, graph), Method::Auto | Method::Exact) = (value, self.method) {
                let on_graph = OnGraph::new(graph.clone(), value.clone());
                if self.until.is_none() && self.budget == Budget::Auto {
                    return Ok(on_graph.values(game)?);
                }
                Some(Box::new(on_graph) as Box<dyn Estimator>)
            } else {
                let method = self.method_of(game.players(), value, extent);
                same_as = method.same_as(value, game.scenarios()).map(|method| method.name().to_owned());
                method.estimator(value)
            };
        let Some(estimator) = estimator else {
            return Ok(self.certified(exact_of(game, value)?));
        };
        let seed = self.seed;
        let mut explanation = match (extent, followed) {
            (Extent::Sample(budget), None) => estimator.estimate(game, budget, seed)?,
            #[cfg(feature = "conditional")]
            (Extent::Grown(budget), _) => estimator.growing().estimate(game, budget, seed)?,
            (Extent::Sample(budget), Some(followed)) => {
                followed.begin(Anytime::with_one_sample(estimator, game, seed)?)?.run(budget)?.clone()
            }
            (Extent::Until(until), followed) => {
                let run = Anytime::new(&*estimator, game, seed)?.with_known_values(self.known.clone());
                match followed {
                    None => { run }.run_until(&until)?.clone(),
                    Some(followed) => followed.begin(run)?.run_until(&until)?.clone(),
                }
            }
        };
        explanation.diagnostics.same_as = same_as;
        Ok(explanation)
    }

    /// Adds the certificate of exact values if a tolerance was set.
    pub(crate) fn certified(&self, mut explanation: Explanation) -> Explanation {
        if let Some(until) = &self.until {
            explanation.certify(until);
        }
        explanation
    }
}

impl Extent {
    /// Returns the maximum number of evaluations of a run with this extent.
    pub(crate) fn evaluations(self, players: usize) -> usize {
        match self {
            Self::Sample(budget) => budget,
            #[cfg(feature = "conditional")]
            Self::Grown(budget) => budget,
            Self::Until(until) => until.max_evaluations(players),
        }
    }
}

impl ObservedRun<'_> {
    /// Prepares the run, restoring its checkpoint if there is one.
    fn begin<'g>(&'g self, run: Anytime<'g>) -> Result<Anytime<'g>, ExplainError> {
        let run = run.watched(|progress: &Progress<'_>| self.observer.on_progress(self.row, progress));
        match self.observer.load_checkpoint(self.row) {
            Some(checkpoint) if !self.is_of_other_draws(&checkpoint) => Ok(run.restored(&checkpoint)?),
            _ => Ok(run),
        }
    }

    /// Returns whether `checkpoint` belongs to another run of the sequence: the numbers of draws differ by a
    /// power of two.
    fn is_of_other_draws(&self, checkpoint: &Checkpoint) -> bool {
        let stored = checkpoint.scenarios();
        self.draws.is_some_and(|draws| {
            let (few, many) = (stored.min(draws), stored.max(draws));
            many != few && few > 0 && many % few == 0 && (many / few).is_power_of_two()
        })
    }
}
