//! Runs that can be inspected, continued, stopped at a tolerance, stored and resumed.
//!
//! An estimator is a function of the game, the budget and the seed. A run stores every evaluation and calls
//! the estimator again with a larger budget. It uses the estimator's [`growing`](Estimator::growing) variant,
//! whose larger samples contain the smaller ones, so that only new coalitions are evaluated. The explanation
//! for a budget does not depend on the intermediate steps or on interruptions.

use std::ops::ControlFlow;

use apportion_games::Game;
use apportion_values::ValueError;

use super::border::{self, Border};
use super::bounds::{Bounds, growth_needed};
use super::checkpoint::Checkpoint;
use super::estimator::Estimator;
use super::evaluations::check_budget;
use super::memory::{Memory, max_remembered};
use super::remembering::RememberingGame;
use super::until::Until;
use crate::error::RunError;
use crate::error::{EstimatorError, Result};
use crate::report::{Certificate, Explanation, Guarantee, InterimCheck, StopRule};

/// The progress of a run, reported after every chunk of evaluations and every interim check.
#[derive(Clone, Copy)]
pub struct Progress<'r> {
    /// The number of evaluations so far.
    pub evaluations: usize,
    /// The approximate number of evaluations at the next interim check.
    pub next_check: usize,
    /// The maximum number of evaluations.
    pub max_evaluations: usize,
    /// The error bound divided by the tolerance at the last interim check; `None` before the first check,
    /// without standard errors, or if the ratio is not finite.
    pub error: Option<f64>,
    store: &'r (dyn Fn() -> Checkpoint + 'r),
}

impl Progress<'_> {
    /// Returns a checkpoint of the current state.
    pub fn checkpoint(&self) -> Checkpoint {
        (self.store)()
    }
}

/// A callback that receives the progress of a run and can stop it. It is called from the evaluating thread.
pub type Watcher<'g> = dyn Fn(&Progress<'_>) -> ControlFlow<()> + Send + Sync + 'g;

/// An estimation that can be inspected, continued, stopped and resumed.
///
/// For n players and k outputs, an evaluation takes `8 (⌈n/64⌉ + k)` bytes, plus about 8 bytes of overhead.
/// At every interim check, the estimator processes all evaluations again, but nothing is evaluated twice.
///
/// ```
/// use apportion_estimators::{Anytime, LeverageShap, Until};
/// use apportion_games::SumOfUnanimity;
///
/// let game = SumOfUnanimity::random(30, 100, 4, 1);
/// let mut run = Anytime::new(&LeverageShap::default(), &game, 7)?;
/// let early = run.run(200)?.clone();
/// // Later, possibly on another machine:
/// let stored = serde_json::to_string(&run.checkpoint()).unwrap();
/// let stored = serde_json::from_str(&stored).unwrap();
/// let mut resumed = Anytime::resume(&stored, &LeverageShap::default(), &game, 7)?;
/// let explanation = resumed.run_until(&Until::relative(0.05))?;
/// assert!(explanation.evaluations > early.evaluations);
/// assert_eq!(explanation, run.run_until(&Until::relative(0.05))?);
/// # Ok::<(), apportion_estimators::EstimatorError>(())
/// ```
pub struct Anytime<'g> {
    estimator: Box<dyn Estimator>,
    game: RememberingGame<'g>,
    seed: u64,
    grows: bool,
    watcher: Option<Box<Watcher<'g>>>,
    explanation: Option<Explanation>,
    /// Values, n × k or empty, that are added to the values of the game when a relative tolerance is
    /// computed.
    known: Vec<f64>,
}

/// The number of evaluations per player at the first interim check. With fewer evaluations, regressions have
/// no degrees of freedom to estimate their errors.
const FIRST_LOOK: usize = 3;
/// The maximum and the minimum factor by which the number of evaluations grows between interim checks. The
/// maximum is used if the error is far above the tolerance.
const GROWTH: (f64, f64) = (2.0, 1.25);
/// A factor by which the estimated growth is multiplied; without it, half of the runs would still exceed the
/// tolerance at the check that is expected to be the last.
const MARGIN: f64 = 1.08;
/// If a sample would contain at least this fraction of all coalitions, all of them are evaluated, and the
/// result is exact.
const NEARLY_ALL: f64 = 0.7;
/// The fraction of the remaining error probability to spend on an interim check that is expected to be the
/// last, and on any other check.
const SPENT: (f64, f64) = (0.75, 0.04);

impl<'g> Anytime<'g> {
    /// Starts a run of the [`growing`](Estimator::growing) variant of `estimator`.
    ///
    /// # Errors
    ///
    /// [`EstimatorError::NoPlayers`] for a game without players.
    pub fn new(estimator: &dyn Estimator, game: impl Game + 'g, seed: u64) -> Result<Self, EstimatorError> {
        Self::begin(estimator.growing(), Box::new(game), seed, true)
    }

    /// Starts a run of `estimator` itself. The result for a single budget is bitwise identical to
    /// [`Estimator::estimate`], but the run can be interrupted and resumed. Increasing the budget may require
    /// many new evaluations.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new).
    pub fn with_one_sample(
        estimator: Box<dyn Estimator>,
        game: impl Game + 'g,
        seed: u64,
    ) -> Result<Self, EstimatorError> {
        Self::begin(estimator, Box::new(game), seed, false)
    }

    fn begin(
        estimator: Box<dyn Estimator>,
        game: Box<dyn Game + 'g>,
        seed: u64,
        grows: bool,
    ) -> Result<Self> {
        if game.players() == 0 {
            return Err(EstimatorError::NoPlayers);
        }
        let memory = Memory::new(game.players(), game.outputs());
        let game = RememberingGame::new(game, memory);
        Ok(Self { estimator, game, seed, grows, watcher: None, explanation: None, known: Vec::new() })
    }

    /// Resumes a stored run. `estimator`, `game` and `seed` must be those with which the run was started.
    ///
    /// Evaluates up to five coalitions again, to check that the game is the same; these evaluations are not
    /// counted.
    ///
    /// # Errors
    ///
    /// [`RunError::OtherCheckpoint`] if the method, its options, the game, the seed or the version differ;
    /// [`RunError::SpoiledCheckpoint`] if the checkpoint is corrupt; the errors of the game.
    pub fn resume(
        checkpoint: &Checkpoint,
        estimator: &dyn Estimator,
        game: impl Game + 'g,
        seed: u64,
    ) -> Result<Self, EstimatorError> {
        Self::new(estimator, game, seed)?.restored(checkpoint)
    }

    /// Returns this run with the evaluations stored in `checkpoint`.
    ///
    /// # Errors
    ///
    /// Same as [`resume`](Self::resume).
    pub fn restored(mut self, checkpoint: &Checkpoint) -> Result<Self, EstimatorError> {
        let memory = checkpoint.open(&*self.estimator, self.game.game(), self.seed)?;
        *self.game.memory() = memory;
        self.explanation = None;
        Ok(self)
    }

    /// Reports the progress of the run to `watcher`. If `watcher` returns [`ControlFlow::Break`], the run
    /// stops with [`GameError::Interrupted`](apportion_games::GameError::Interrupted), and can be continued
    /// or stored.
    #[must_use]
    pub fn watched(mut self, watcher: impl Fn(&Progress<'_>) -> ControlFlow<()> + Send + Sync + 'g) -> Self {
        self.watcher = Some(Box::new(watcher));
        self
    }

    /// Sets values, n × k, to which those of the game are a correction: a relative tolerance then refers to
    /// their sum. The values of the explanation are still those of the game alone.
    #[must_use]
    pub fn with_known_values(mut self, known: Vec<f64>) -> Self {
        self.known = known;
        self
    }

    /// Returns the most recent explanation.
    pub fn explanation(&self) -> Option<&Explanation> {
        self.explanation.as_ref()
    }

    /// Returns the number of evaluations so far.
    pub fn evaluations(&self) -> usize {
        self.game.evaluations()
    }

    /// Returns a checkpoint of the current state.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint::new(&*self.estimator, self.game.game(), self.seed, &self.game.memory())
    }

    /// Continues the run to `budget` evaluations in total.
    ///
    /// # Errors
    ///
    /// The errors of [`Estimator::estimate`]; [`RunError::TooManyEvaluations`] for a budget that a run cannot
    /// store;
    /// [`GameError::Interrupted`](apportion_games::GameError::Interrupted) if the watcher stops the run.
    pub fn run(&mut self, budget: usize) -> Result<&Explanation, EstimatorError> {
        let explanation = self.estimate(budget, budget, None)?;
        Ok(self.explanation.insert(explanation))
    }

    /// Continues the run until the tolerance is reached or the budget is exhausted.
    ///
    /// For n players, the first interim check is after 3n + 2 evaluations, or after the minimum of the method
    /// if that is larger. The next one is at the number of evaluations for which the current error predicts
    /// that the tolerance is reached, but at no more than twice the current number. If a sample would contain
    /// most of the `2^n` coalitions, all are evaluated. Each check spends part of the error probability
    /// `1 − confidence`, so that all checks together stay within it, as far as the bounds are valid. A check
    /// spends three quarters of the remaining probability if it is expected to be the last, otherwise a
    /// twenty-fifth. This fraction is fixed at the previous check.
    ///
    /// Before it accepts a bound within the tolerance, the run evaluates the border of the game: each player
    /// alone, and all players but one. This reveals games that samples misjudge; from then on, the standard
    /// errors are at least what the border implies. The border takes 2n evaluations, which are reserved in
    /// the budget. This step is skipped for values that hardly depend on the border, such as Banzhaf values
    /// of many players.
    ///
    /// The explanation's [`certificate`](Explanation::certificate) contains the reason for stopping and the
    /// guarantee. A run that has already evaluated more coalitions returns the same result as one that has
    /// not; its earlier evaluations stay stored and are counted. The budget is limited by the memory of a
    /// run: 1 GiB of coalitions (or of coalitions with their scenarios, for methods that draw scenarios).
    ///
    /// # Errors
    ///
    /// [`RunError::Until`] for settings out of range; [`RunError::Range`] if the values of the game span more
    /// than the given range; the errors of [`run`](Self::run).
    pub fn run_until(&mut self, until: &Until) -> Result<&Explanation, EstimatorError> {
        until.check()?;
        let players = self.game.game().players();
        let mut most = until.max_evaluations(players);
        check_budget(&*self.estimator, self.game.game(), most)?;
        let least = self.estimator.minimum_budget(players);
        let units = self.estimator.units(players);
        let needs_border = border::matters(&self.estimator.value(), units.len());
        // Reserve the evaluations of the border, unless the budget allows all coalitions.
        let all = 1usize.checked_shl(players as u32).unwrap_or(usize::MAX);
        let kept = if needs_border && most < all { 2 * units.len() } else { 0 };
        let can_check = most >= least + kept;
        if can_check {
            most -= kept;
        }
        let first = least.max(FIRST_LOOK.saturating_mul(players) + 2);
        let mut budget = self.rounded(first, most);
        let mut left = 1.0 - until.confidence;
        let mut is_expected = false;
        let mut interim_checks: Vec<InterimCheck> = Vec::new();
        let mut border: Option<Border> = None;
        loop {
            let mut explanation = self.estimate(budget, most, interim_checks.last())?;
            most = most.min(self.memorable());
            let spent = left * if is_expected { SPENT.0 } else { SPENT.1 };
            let mut bounds = Bounds::for_explanation(&explanation, &self.known, budget, until, spent);
            let is_reached = |bounds: &Bounds| bounds.ratio().is_some_and(|error| error <= 1.0);
            if needs_border && border.is_none() && is_reached(&bounds) && bounds.guarantee != Guarantee::Exact
            {
                // Check the border before accepting the bound.
                if can_check {
                    border = Some(self.border(&units, &explanation, most)?);
                } else {
                    bounds = Bounds { errors: None, ..bounds };
                }
            }
            if let Some(border) = &border {
                self.count(&mut explanation);
                border.raise(&mut explanation, budget);
                bounds = Bounds::for_explanation(&explanation, &self.known, budget, until, spent);
            }
            self.check_range(until)?;
            let error = bounds.ratio().filter(|error| error.is_finite());
            // A check without standard errors cannot certify the error, so it spends no error probability.
            let spent = if explanation.std_errors.is_some() { spent } else { 0.0 };
            interim_checks.push(InterimCheck { budget, spent, error });
            left -= spent;
            let stopped_by = if error.is_some_and(|error| error <= 1.0) {
                Some(StopRule::Tolerance)
            } else if budget >= most || bounds.guarantee == Guarantee::Exact {
                Some(bounds.if_scaled(StopRule::Budget))
            } else {
                (interim_checks.len() >= until.interim_checks)
                    .then_some(bounds.if_scaled(StopRule::MaxChecks))
            };
            if let Some(stopped_by) = stopped_by {
                explanation.certificate = Some(certificate(until, bounds, stopped_by, interim_checks));
                return Ok(self.explanation.insert(explanation));
            }
            let growth = growth_needed(&explanation, &self.known, budget, until, left * SPENT.0)
                .map(|growth| growth * MARGIN);
            is_expected = growth.is_some_and(|growth| growth <= GROWTH.0);
            let growth = growth.unwrap_or(GROWTH.0).clamp(GROWTH.1, GROWTH.0);
            budget = self.rounded((budget as f64 * growth).ceil() as usize, most);
            self.explanation = Some(explanation);
        }
    }

    /// Evaluates the border of the game.
    fn border(&self, units: &[Vec<usize>], explanation: &Explanation, most: usize) -> Result<Border> {
        let report = self.reporter(self.evaluations() + 2 * units.len(), most, None);
        Ok(Border::evaluate(&self.game.reporting(&report), units, explanation)?)
    }

    /// Returns `budget` limited to `most`, or the number of all coalitions if `budget` is close to it.
    /// Budgets above the number of all coalitions are for methods that keep sampling.
    fn rounded(&self, budget: usize, most: usize) -> usize {
        let all = 1usize.checked_shl(self.game.game().players() as u32).unwrap_or(usize::MAX);
        let is_nearly_all = (NEARLY_ALL * all as f64..all as f64).contains(&(budget as f64));
        if is_nearly_all && all <= most { all } else { budget.min(most) }
    }

    /// Returns the number of evaluations that can be stored. Methods that draw scenarios store each coalition
    /// once per scenario.
    fn memorable(&self) -> usize {
        let game = self.game.game();
        let rows_each = if self.game.memory().in_scenarios() > 0 { game.scenarios() } else { 1 };
        max_remembered(game.players(), game.outputs()) / rows_each
    }

    /// Returns an error if the values of the game span more than the given range.
    fn check_range(&self, until: &Until) -> Result<()> {
        let Some(given) = until.range else { return Ok(()) };
        let seen = self.game.memory().range();
        if seen > given * (1.0 + 1e-9) {
            return Err(RunError::Range { actual: given, seen }.into());
        }
        Ok(())
    }

    fn estimate(&self, budget: usize, most: usize, last: Option<&InterimCheck>) -> Result<Explanation> {
        let game = self.game.game();
        let remembered = max_remembered(game.players(), game.outputs());
        if budget > remembered {
            return Err(RunError::TooManyEvaluations { actual: budget, max: remembered }.into());
        }
        let report = self.reporter(budget, most, last.and_then(|interim_check| interim_check.error));
        let estimate = self.estimator.estimate(&self.game.reporting(&report), budget, self.seed);
        let mut explanation = estimate.map_err(|error| match error {
            // Report failures of the game in the same way, regardless of which layer evaluated it.
            EstimatorError::Value(ValueError::Game(error)) => EstimatorError::Game(error),
            error => error,
        })?;
        if !self.grows {
            return Ok(explanation);
        }
        self.count(&mut explanation);
        Ok(explanation)
    }

    /// Returns a reporter that calls the watcher after every chunk of evaluations.
    fn reporter(
        &self,
        next_check: usize,
        most: usize,
        error: Option<f64>,
    ) -> impl Fn(&RememberingGame<'_>) -> ControlFlow<()> + Sync {
        move |game| {
            let Some(watcher) = &self.watcher else { return ControlFlow::Continue(()) };
            let store = || self.checkpoint();
            let evaluations = game.evaluations();
            watcher(&Progress { evaluations, next_check, max_evaluations: most, error, store: &store })
        }
    }

    /// Sets the counts in `explanation` to those of the whole run, which may have evaluated coalitions beyond
    /// its last sample.
    fn count(&self, explanation: &mut Explanation) {
        explanation.evaluations = self.game.evaluations();
        explanation.model_rows = self.game.model_rows();
        explanation.distinct_coalitions = match self.game.memory().in_scenarios() {
            0 => explanation.evaluations,
            _ => explanation.distinct_coalitions,
        };
    }
}

impl Explanation {
    /// Sets the [`certificate`](Self::certificate) by comparing the errors with the tolerance of `until`.
    ///
    /// Use this for explanations that were not computed with a tolerance (including exact ones), and for
    /// explanations whose standard errors have changed since. If a run stopped at the tolerance but now
    /// exceeds it, the reason becomes [draws](StopRule::Draws). If a run stopped at its budget but is now
    /// within the tolerance, the reason becomes the tolerance.
    pub fn certify(&mut self, until: &Until) {
        let before = self.certificate.take();
        let last = before.as_ref().and_then(|before| before.interim_checks.last());
        let (sample, spent) = last.map_or((self.evaluations, 1.0 - until.confidence), |interim_check| {
            (interim_check.budget, interim_check.spent)
        });
        let bounds = Bounds::for_explanation(self, &[], sample, until, spent);
        let is_reached = bounds.ratio().is_some_and(|error| error <= 1.0);
        let (stopped_by, interim_checks) = match before {
            Some(Certificate { stopped_by: StopRule::Tolerance, interim_checks, .. }) if !is_reached => {
                (StopRule::Draws, interim_checks)
            }
            Some(Certificate { stopped_by: StopRule::Budget, interim_checks, .. }) if is_reached => {
                (StopRule::Tolerance, interim_checks)
            }
            Some(Certificate { stopped_by, interim_checks, .. }) => (stopped_by, interim_checks),
            None if is_reached => (StopRule::Tolerance, Vec::new()),
            None => (bounds.if_scaled(StopRule::Budget), Vec::new()),
        };
        self.certificate = Some(certificate(until, bounds, stopped_by, interim_checks));
    }
}

/// Omits the game, because it need not implement `Debug`.
impl std::fmt::Debug for Anytime<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Anytime")
            .field("estimator", &self.estimator)
            .field("seed", &self.seed)
            .field("evaluations", &self.evaluations())
            .field("explanation", &self.explanation)
            .finish_non_exhaustive()
    }
}

fn certificate(
    until: &Until,
    bounds: Bounds,
    stopped_by: StopRule,
    interim_checks: Vec<InterimCheck>,
) -> Certificate {
    let stopped_by = if bounds.guarantee == Guarantee::Exact { StopRule::Tolerance } else { stopped_by };
    Certificate {
        says: sentence(until, &bounds, stopped_by),
        stopped_by,
        guarantee: bounds.guarantee,
        confidence: until.confidence,
        error_bounds: bounds.errors,
        tolerances: bounds.tolerances,
        half_widths: bounds.half_widths,
        interim_checks,
    }
}

/// Returns the summary sentence of a certificate.
fn sentence(until: &Until, bounds: &Bounds, stopped_by: StopRule) -> String {
    let basis = match bounds.guarantee {
        Guarantee::Exact => {
            return "The values are exact: every relevant coalition was evaluated.".to_owned();
        }
        Guarantee::Unknown => {
            return "Not certified: the method cannot estimate its error at this budget; use a larger budget \
                    or another method."
                .to_owned();
        }
        Guarantee::EmpiricalBernstein => "by an inequality that holds for any number of draws",
        Guarantee::NothingVaried => {
            "as far as the sample shows: contributions did not vary in it, nor among single players or \
             coalitions without one player, but variation in other coalitions cannot be ruled out"
        }
        Guarantee::Asymptotic if until.range.is_some() => {
            "by standard errors, which are asymptotically valid; the range is ignored, because this method \
             has no bound that uses it"
        }
        Guarantee::Asymptotic => "by standard errors, which are asymptotically valid",
    };
    let confidence = until.confidence;
    match stopped_by {
        StopRule::Tolerance => format!("Certified with confidence {confidence}, {basis}."),
        StopRule::Budget => {
            "Not certified: the budget was exhausted before the error was within the tolerance.".to_owned()
        }
        StopRule::MaxChecks => {
            "Not certified: the maximum number of interim checks was reached before the error was within the \
             tolerance."
                .to_owned()
        }
        StopRule::NoScale => {
            "Not certified: the values are zero within their errors, or all equal, so a relative tolerance \
             is undefined; use an absolute tolerance or a larger budget."
                .to_owned()
        }
        StopRule::Draws => {
            "Not certified: enough coalitions were evaluated, but each with too few draws from the \
             distribution; increase the number of draws."
                .to_owned()
        }
    }
}
