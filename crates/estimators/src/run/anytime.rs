//! Runs that can be looked at, continued, stopped at an accuracy, stored and resumed.
//!
//! An estimator is a function of the game, the budget and the seed. A run keeps every evaluation and asks the estimator again at a larger
//! budget: as samples grow (the estimator's [`growing`](Estimator::growing) twin) and what is remembered costs nothing, that evaluates
//! what is new only. The explanation at a budget does not depend on the steps that led there, nor on where the run was interrupted.

use std::ops::ControlFlow;

use apportion_games::Game;
use apportion_values::ValueError;

use super::border::{self, Border};
use super::bounds::{Bounds, growth_needed};
use super::checkpoint::Checkpoint;
use super::estimator::Estimator;
use super::evaluations::check_budget;
use super::memory::{Memory, most_remembered};
use super::remembering::Remembering;
use super::until::Until;
use crate::error::RunError;
use crate::error::{EstimatorError, Result};
use crate::report::{Certificate, Explanation, Guarantee, Look, StopRule};

/// How far a run has come, told after every chunk of evaluations and every look.
#[derive(Clone, Copy)]
pub struct Progress<'r> {
    /// Evaluations so far.
    pub evaluations: usize,
    /// Evaluations up to the next look, about.
    pub next_look: usize,
    /// The most evaluations there may be.
    pub most: usize,
    /// The bound of the error over the tolerance at the last look; none before there was one, and without standard errors.
    pub error: Option<f64>,
    store: &'r (dyn Fn() -> Checkpoint + 'r),
}

impl Progress<'_> {
    /// The run as it is now.
    pub fn checkpoint(&self) -> Checkpoint {
        (self.store)()
    }
}

/// Who is told how far a run has come, and may stop it. Called from the thread that evaluates.
pub type Watcher<'g> = dyn Fn(&Progress<'_>) -> ControlFlow<()> + Send + Sync + 'g;

/// An estimation that can be looked at, continued, stopped and resumed.
///
/// Takes the memory of its evaluations: `8 (⌈n/64⌉ + k)` bytes for each and some 8 more. At every look the estimator works through all of
/// them again; nothing is evaluated twice.
///
/// ```
/// use apportion_estimators::{Anytime, LeverageShap, Until};
/// use apportion_games::SumOfUnanimity;
///
/// let game = SumOfUnanimity::random(30, 100, 4, 1);
/// let mut run = Anytime::new(&LeverageShap::default(), &game, 7)?;
/// let early = run.run(200)?.clone();
/// // Elsewhere, later:
/// let stored = serde_json::to_string(&run.checkpoint()).unwrap();
/// let mut resumed = Anytime::resume(&serde_json::from_str(&stored).unwrap(), &LeverageShap::default(), &game, 7)?;
/// let explanation = resumed.run_until(&Until::relative(0.05))?;
/// assert!(explanation.evaluations > early.evaluations);
/// assert_eq!(explanation, run.run_until(&Until::relative(0.05))?);
/// # Ok::<(), apportion_estimators::EstimatorError>(())
/// ```
pub struct Anytime<'g> {
    estimator: Box<dyn Estimator>,
    game: Remembering<'g>,
    seed: u64,
    grows: bool,
    watcher: Option<Box<Watcher<'g>>>,
    explanation: Option<Explanation>,
}

/// Evaluations at the first look, for each player. Below, regressions have no degrees of freedom to judge themselves by.
const FIRST_LOOK: usize = 3;
/// The most by which the evaluations grow from one look to the next where the accuracy is far off, and the least.
const GROWTH: (f64, f64) = (2.0, 1.25);
/// What is added to the growth that seems to be needed, as half of the runs would miss it otherwise.
const MARGIN: f64 = 1.08;
/// A sample that is to hold this share of all coalitions may as well hold them all, and be exact.
const NEARLY_ALL: f64 = 0.7;
/// The share of the probability of being wrong that is left which is spent on a look at which the run is expected to stop, or not.
const SPENT: (f64, f64) = (0.75, 0.04);

impl<'g> Anytime<'g> {
    /// A run of the [`growing`](Estimator::growing) twin of `estimator`.
    ///
    /// # Errors
    ///
    /// [`EstimatorError::NoPlayers`].
    pub fn new(estimator: &dyn Estimator, game: impl Game + 'g, seed: u64) -> Result<Self, EstimatorError> {
        Self::begin(estimator.growing(), Box::new(game), seed, true)
    }

    /// A run of `estimator` itself: at one budget it gives what [`Estimator::estimate`] gives, to the bit, and can be interrupted and
    /// resumed. At further budgets much may be evaluated that was not before.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn of_one_sample(
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
        let game = Remembering::new(game, memory);
        Ok(Self { estimator, game, seed, grows, watcher: None, explanation: None })
    }

    /// The run that was stored; `estimator`, `game` and `seed` are those that it was begun with.
    ///
    /// Up to five coalitions are evaluated again, to see that it is the same game; they are not counted.
    ///
    /// # Errors
    ///
    /// [`RunError::OtherCheckpoint`] where method, options, game, seed or version are others, and
    /// [`RunError::SpoiledCheckpoint`] where it was changed.
    pub fn resume(
        checkpoint: &Checkpoint,
        estimator: &dyn Estimator,
        game: impl Game + 'g,
        seed: u64,
    ) -> Result<Self, EstimatorError> {
        Self::new(estimator, game, seed)?.restored(checkpoint)
    }

    /// This run, with what `checkpoint` of it has evaluated.
    ///
    /// # Errors
    ///
    /// As [`resume`](Self::resume).
    pub fn restored(mut self, checkpoint: &Checkpoint) -> Result<Self, EstimatorError> {
        let memory = checkpoint.open(&*self.estimator, self.game.game(), self.seed)?;
        *self.game.memory() = memory;
        self.explanation = None;
        Ok(self)
    }

    /// Tells `watcher` how far the run has come, and stops where it answers [`ControlFlow::Break`]: with
    /// [`GameError::Interrupted`](apportion_games::GameError::Interrupted), after which the run can go on, or be stored.
    #[must_use]
    pub fn watched(mut self, watcher: impl Fn(&Progress<'_>) -> ControlFlow<()> + Send + Sync + 'g) -> Self {
        self.watcher = Some(Box::new(watcher));
        self
    }

    /// What was found last.
    pub fn explanation(&self) -> Option<&Explanation> {
        self.explanation.as_ref()
    }

    /// Evaluations so far.
    pub fn evaluations(&self) -> usize {
        self.game.evaluations()
    }

    /// The run as it is now, to be stored.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint::new(&*self.estimator, self.game.game(), self.seed, &self.game.memory())
    }

    /// Goes on to `budget` evaluations in all.
    ///
    /// # Errors
    ///
    /// What [`Estimator::estimate`] reports, [`RunError::TooManyEvaluations`], and that it was interrupted.
    pub fn run(&mut self, budget: usize) -> Result<&Explanation, EstimatorError> {
        let explanation = self.estimate(budget, budget, None)?;
        Ok(self.explanation.insert(explanation))
    }

    /// Goes on until the accuracy is reached or the budget used up.
    ///
    /// Looks at the error after 3n evaluations, or as many as the method needs, then where the error so far says that the accuracy may be
    /// reached, or at twice as many evaluations if that is less. Where a sample would hold most of the `2^n` coalitions, all are
    /// evaluated. Each look spends part of the error probability `1 − confidence`, so all looks together stay within it, as far as the bounds
    /// are right: three quarters of what is left where it is expected to be the last, else a twenty-fifth. The look before fixes the share.
    ///
    /// Before a bound is believed that is within the tolerance, the run asks for the border of the game: each player alone, and all but
    /// each. There are the games that a sample misjudges, and from then on the standard errors are at least what the border says of them. That
    /// takes 2n evaluations, which are kept for it; values to which the border does not matter, such as Banzhaf values of many players, do
    /// without.
    ///
    /// The explanation's [`certificate`](Explanation::certificate) says why it stopped and what is guaranteed. A run that went further
    /// before answers as if it had not: what it evaluated stays remembered, and counts. The budget ends where the memory of a run does, at
    /// 1 GiB of coalitions, each with its scenario where a method draws those.
    ///
    /// # Errors
    ///
    /// [`RunError::Until`], [`RunError::Range`] where values of the game have left the range, and as [`run`](Self::run).
    pub fn run_until(&mut self, until: &Until) -> Result<&Explanation, EstimatorError> {
        until.check()?;
        let players = self.game.game().players();
        let mut most = until.most_evaluations(players);
        check_budget(&*self.estimator, self.game.game(), most)?;
        let least = self.estimator.minimum_budget(players);
        let units = self.estimator.units(players);
        let needs_border = border::matters(&self.estimator.value(), units.len());
        // What the border takes is kept for it, unless all coalitions can be had.
        let all = 1usize.checked_shl(players as u32).unwrap_or(usize::MAX);
        let kept = if needs_border && most < all { 2 * units.len() } else { 0 };
        let can_look = most >= least + kept;
        if can_look {
            most -= kept;
        }
        let first = least.max(FIRST_LOOK.saturating_mul(players) + 2);
        let mut budget = self.rounded(first, most);
        let mut left = 1.0 - until.confidence;
        let mut is_expected = false;
        let mut looks: Vec<Look> = Vec::new();
        let mut border: Option<Border> = None;
        loop {
            let mut explanation = self.estimate(budget, most, looks.last())?;
            most = most.min(self.memorable());
            let spent = left * if is_expected { SPENT.0 } else { SPENT.1 };
            let mut bounds = Bounds::of(&explanation, budget, until, spent);
            let is_reached = |bounds: &Bounds| bounds.ratio().is_some_and(|error| error <= 1.0);
            if needs_border && border.is_none() && is_reached(&bounds) && bounds.guarantee != Guarantee::Exact
            {
                // Before it is believed: where such games hide.
                if can_look {
                    border = Some(self.border(&units, &explanation, most)?);
                } else {
                    bounds = Bounds { errors: None, ..bounds };
                }
            }
            if let Some(border) = &border {
                self.count(&mut explanation);
                border.raise(&mut explanation, budget);
                bounds = Bounds::of(&explanation, budget, until, spent);
            }
            self.check_range(until)?;
            let error = bounds.ratio().filter(|error| error.is_finite());
            // A look without standard errors could not have stopped the run.
            let spent = if explanation.std_errors.is_some() { spent } else { 0.0 };
            looks.push(Look { budget, spent, error });
            left -= spent;
            let stopped_by = if error.is_some_and(|error| error <= 1.0) {
                Some(StopRule::Tolerance)
            } else if budget >= most || bounds.guarantee == Guarantee::Exact {
                Some(bounds.if_scaled(StopRule::Budget))
            } else {
                (looks.len() >= until.looks).then_some(bounds.if_scaled(StopRule::Looks))
            };
            if let Some(stopped_by) = stopped_by {
                explanation.certificate = Some(certificate(until, bounds, stopped_by, looks));
                return Ok(self.explanation.insert(explanation));
            }
            let growth =
                growth_needed(&explanation, budget, until, left * SPENT.0).map(|growth| growth * MARGIN);
            is_expected = growth.is_some_and(|growth| growth <= GROWTH.0);
            let growth = growth.unwrap_or(GROWTH.0).clamp(GROWTH.1, GROWTH.0);
            budget = self.rounded((budget as f64 * growth).ceil() as usize, most);
            self.explanation = Some(explanation);
        }
    }

    /// Evaluates the border of the game.
    fn border(&self, units: &[Vec<usize>], explanation: &Explanation, most: usize) -> Result<Border> {
        let report = self.reporter(self.evaluations() + 2 * units.len(), most, None);
        Ok(Border::ask(&self.game.reporting(&report), units, explanation)?)
    }

    /// `budget`, or all coalitions where it would hold nearly all, or the most. Beyond all coalitions are those that go on sampling.
    fn rounded(&self, budget: usize, most: usize) -> usize {
        let all = 1usize.checked_shl(self.game.game().players() as u32).unwrap_or(usize::MAX);
        let is_nearly_all = (NEARLY_ALL * all as f64..all as f64).contains(&(budget as f64));
        if is_nearly_all && all <= most { all } else { budget.min(most) }
    }

    /// Evaluations that can be remembered: methods that draw scenarios remember as many coalitions for each as there are scenarios.
    fn memorable(&self) -> usize {
        let game = self.game.game();
        let rows_each = if self.game.memory().in_scenarios() > 0 { game.scenarios() } else { 1 };
        most_remembered(game.players(), game.outputs()) / rows_each
    }

    /// Refuses a range that the values of the game have left.
    fn check_range(&self, until: &Until) -> Result<()> {
        let Some(given) = until.range else { return Ok(()) };
        let seen = self.game.memory().range();
        if seen > given * (1.0 + 1e-9) {
            return Err(RunError::Range { given, seen }.into());
        }
        Ok(())
    }

    fn estimate(&self, budget: usize, most: usize, last: Option<&Look>) -> Result<Explanation> {
        let game = self.game.game();
        let remembered = most_remembered(game.players(), game.outputs());
        if budget > remembered {
            return Err(RunError::TooManyEvaluations { given: budget, most: remembered }.into());
        }
        let report = self.reporter(budget, most, last.and_then(|look| look.error));
        let estimate = self.estimator.estimate(&self.game.reporting(&report), budget, self.seed);
        let mut explanation = estimate.map_err(|error| match error {
            // However deep the game was asked, its failure is the game's.
            EstimatorError::Value(ValueError::Game(error)) => EstimatorError::Game(error),
            error => error,
        })?;
        if !self.grows {
            return Ok(explanation);
        }
        self.count(&mut explanation);
        Ok(explanation)
    }

    /// Tells the watcher of every chunk of evaluations.
    fn reporter(
        &self,
        next_look: usize,
        most: usize,
        error: Option<f64>,
    ) -> impl Fn(&Remembering<'_>) -> ControlFlow<()> + Sync {
        move |game| {
            let Some(watcher) = &self.watcher else { return ControlFlow::Continue(()) };
            let store = || self.checkpoint();
            let evaluations = game.evaluations();
            watcher(&Progress { evaluations, next_look, most, error, store: &store })
        }
    }

    /// Says what the run has asked for, which may be more than its last sample.
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
    /// Says in the [`certificate`](Self::certificate) how the errors compare to what `until` tolerates.
    ///
    /// For explanations that were not run until an accuracy (exact ones, too), and for those whose standard errors changed since: a run
    /// that stopped for the tolerance and is beyond it by now is said to want [draws](StopRule::Draws), one that stopped for its budget and is
    /// within it by now to have reached it.
    pub fn certify(&mut self, until: &Until) {
        let before = self.certificate.take();
        let last = before.as_ref().and_then(|before| before.looks.last());
        let (sample, spent) =
            last.map_or((self.evaluations, 1.0 - until.confidence), |look| (look.budget, look.spent));
        let bounds = Bounds::of(self, sample, until, spent);
        let is_reached = bounds.ratio().is_some_and(|error| error <= 1.0);
        let (stopped_by, looks) = match before {
            Some(Certificate { stopped_by: StopRule::Tolerance, looks, .. }) if !is_reached => {
                (StopRule::Draws, looks)
            }
            Some(Certificate { stopped_by: StopRule::Budget, looks, .. }) if is_reached => {
                (StopRule::Tolerance, looks)
            }
            Some(Certificate { stopped_by, looks, .. }) => (stopped_by, looks),
            None if is_reached => (StopRule::Tolerance, Vec::new()),
            None => (bounds.if_scaled(StopRule::Budget), Vec::new()),
        };
        self.certificate = Some(certificate(until, bounds, stopped_by, looks));
    }
}

/// Without the game, which need not be `Debug`.
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

fn certificate(until: &Until, bounds: Bounds, stopped_by: StopRule, looks: Vec<Look>) -> Certificate {
    let stopped_by = if bounds.guarantee == Guarantee::Exact { StopRule::Tolerance } else { stopped_by };
    Certificate {
        says: sentence(until, &bounds, stopped_by),
        stopped_by,
        guarantee: bounds.guarantee,
        confidence: until.confidence,
        error_bounds: bounds.errors,
        tolerances: bounds.tolerances,
        half_widths: bounds.half_widths,
        looks,
    }
}

/// What a certificate says.
fn sentence(until: &Until, bounds: &Bounds, stopped_by: StopRule) -> String {
    let basis = match bounds.guarantee {
        Guarantee::Exact => {
            return "The values are exact: every coalition that matters was evaluated.".to_owned();
        }
        Guarantee::Unknown => {
            return "Not certified: the method does not know its error at this budget; give a larger one, or another method."
                .to_owned();
        }
        Guarantee::EmpiricalBernstein => "by an inequality that holds for every number of draws",
        Guarantee::NothingVaried => {
            "as far as was seen: nothing varied in the sample, nor on the border of the game, and a sample cannot tell what it did not meet"
        }
        Guarantee::Asymptotic if until.range.is_some() => {
            "by standard errors, which are right in the limit; the range is not made use of, as this method has no bound that takes one"
        }
        Guarantee::Asymptotic => "by standard errors, which are right in the limit",
    };
    let confidence = until.confidence;
    match stopped_by {
        StopRule::Tolerance => format!("Certified with confidence {confidence}, {basis}."),
        StopRule::Budget => {
            "Not certified: the budget was used up before the error was within the tolerance.".to_owned()
        }
        StopRule::Looks => {
            "Not certified: all looks were used up before the error was within the tolerance.".to_owned()
        }
        StopRule::NoScale => {
            "Not certified: the values are zero as far as the errors tell, or all alike, so that there is nothing for a relative tolerance to be a share of; give an absolute one, or a larger budget."
                .to_owned()
        }
        StopRule::Draws => {
            "Not certified: the coalitions tell enough, but not the draws of the law for each of them; give it more draws."
                .to_owned()
        }
    }
}
