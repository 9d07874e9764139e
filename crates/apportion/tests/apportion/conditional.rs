//! Tests of the errors of draws in conditional games, and of runs that increase the number of draws until a
//! tolerance is reached.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use apportion::estimators::StopRule;
use apportion::estimators::methods;
use apportion::games::{
    CoalitionView, ConditionalDistribution, EmpiricalDistribution, GameError, GaussianDistribution, Sampling,
    SyntheticRows, parallel,
};
use apportion::{
    Budget, Checkpoint, Explainer, Explanation, Method, Partition, Progress, Rows, RunObserver, Semivalue,
    Until,
};

use crate::common::gaussian::{Request, Setting, methods, ratio};

/// A distribution whose number of draws cannot be changed.
struct Fixed(GaussianDistribution);

impl ConditionalDistribution for Fixed {
    fn columns(&self) -> usize {
        self.0.columns()
    }
    fn draws(&self) -> usize {
        self.0.draws()
    }
    fn sampling(&self) -> Sampling {
        self.0.sampling()
    }
    fn condition<'a>(
        &'a self,
        explicand: &'a [f64],
        coalition: CoalitionView<'_>,
    ) -> Result<Box<dyn SyntheticRows + 'a>, GameError> {
        self.0.condition(explicand, coalition)
    }
}

fn norm(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(|number| number * number).sum::<f64>().sqrt()
}

/// Returns the error of an explanation, relative to the norm of the exact values.
fn error(setting: &Setting, explicand: &[f64], explanation: &Explanation) -> f64 {
    let truth = setting.truth(explicand, &Semivalue::Shapley.into());
    let off = explanation.values.iter().zip(&truth).map(|(got, truth)| got - truth);
    norm(off) / norm(truth.iter().copied())
}

#[test]
fn draws_are_counted_once_in_the_standard_errors_of_every_method() {
    let setting = Setting::new(8);
    let groups = vec![vec![0, 1, 2], vec![3, 4], vec![5, 6, 7]];
    let partition = Partition::new(8, groups).unwrap();
    // Methods that fit trees take as long as all other methods together.
    let is_quick = |method: Method| !["learned-spectrum", "proxy-residual"].contains(&method.name());
    let quick = methods(&partition).into_iter().filter(|(method, _)| is_quick(*method));
    let cases = quick.flat_map(|(method, value)| {
        [5, 10, 20].map(|times| Request { method, value: value.clone(), budget: Budget::PerPlayer(times) })
    });
    let judged = parallel::map(cases, |asked| {
        let Some(got) = ratio(&setting, &asked, 3, 30, Some(20)) else { return 0 };
        let Request { method, value, budget } = asked;
        assert!(got > 0.8 && got < 1.3, "{method} {} {budget:?}: {got}", value.concept());
        1
    });
    assert!(judged.iter().sum::<i32>() > 60, "{judged:?}");
}

#[test]
fn draws_are_raised_until_the_accuracy_is_reached() {
    let setting = Setting::new(7);
    let (mut certified, mut kept, mut raised) = (0, 0, 0);
    for method in [
        Method::Auto,
        Method::Exact,
        Method::By(&methods::LEVERAGE_SHAP),
        Method::By(&methods::MONTE_CARLO),
        Method::By(&methods::PERMUTATION),
    ] {
        for seed in 0..4 {
            let (explicand, distribution) = (setting.explicand(seed), setting.distribution(50, seed as u64));
            let explain = |tolerance| {
                let explainer =
                    Explainer::conditional(&setting, &distribution).method(method).seed(seed as u64);
                explainer.until(Until::relative(tolerance)).explain(&explicand).unwrap()
            };
            for tolerance in [0.1, 0.03] {
                let explanation = explain(tolerance);
                let certificate = explanation.certificate.as_ref().unwrap();
                assert_eq!(certificate.stopped_by, StopRule::Tolerance, "{method} {seed} {tolerance}");
                assert_eq!(certificate.confidence, 0.95);
                assert!(
                    certificate.interim_checks.iter().map(|interim_check| interim_check.spent).sum::<f64>()
                        <= 0.05 + 1e-12
                );
                let draws = explanation.diagnostics.draws.unwrap();
                assert!((draws / 50).is_power_of_two(), "{draws}");
                raised += usize::from(draws > 50);
                assert!(explanation.model_rows >= explanation.evaluations * draws);
                certified += 1;
                kept += usize::from(error(&setting, &explicand, &explanation) <= tolerance);
            }
        }
    }
    assert!(100 * kept >= 95 * certified, "{kept} of {certified}");
    assert!(2 * raised > certified, "{raised} of {certified}");
}

#[test]
fn draws_that_cannot_be_raised_end_without_a_certificate() {
    let setting = Setting::new(6);
    let explicand = setting.explicand(1);
    let (distribution, fixed) = (setting.distribution(20, 3), Fixed(setting.distribution(20, 3)));
    let explain_to = |tolerance, distribution: &dyn ConditionalDistribution, budget| {
        let until = Until::relative(tolerance).with_budget(budget);
        Explainer::conditional(&setting, distribution).until(until).explain(&explicand).unwrap()
    };
    let explain = |distribution: &dyn ConditionalDistribution, budget| explain_to(0.05, distribution, budget);
    // The distribution or the budget limits the draws: 64 evaluations cover all coalitions, so 100
    // evaluations do not suffice for twice as many draws.
    for explanation in [explain(&fixed, None), explain(&distribution, Some(100))] {
        let certificate = explanation.certificate.unwrap();
        assert_eq!(certificate.stopped_by, StopRule::Draws);
        assert!(certificate.error_bounds.unwrap()[0] > certificate.tolerances[0]);
        assert_eq!(explanation.diagnostics.draws, Some(20));
    }
    // Without these limits, the tolerance is reached.
    assert_eq!(explain(&distribution, None).certificate.unwrap().stopped_by, StopRule::Tolerance);
    // The error cannot be estimated from a single draw, nor from a single antithetic pair.
    for distribution in [setting.distribution(1, 3), setting.distribution(2, 3).antithetic().unwrap()] {
        let explanation = explain_to(0.2, &distribution, None);
        assert_eq!(explanation.certificate.unwrap().stopped_by, StopRule::Tolerance);
        assert!(explanation.diagnostics.draws.unwrap() >= 4);
    }
    // An empirical distribution uses rows of the data and draws nothing.
    let data: Vec<f64> = (0..300).map(|at| (at as f64 * 0.7).sin()).collect();
    let distribution = EmpiricalDistribution::fit(Rows::new(&data, 6)).unwrap();
    let explanation = explain(&distribution, None);
    assert_eq!((explanation.std_errors, explanation.diagnostics.draws), (Some(vec![0.0; 6]), None));
}

#[test]
fn the_budget_is_for_all_draws_together() {
    let setting = Setting::new(8);
    let (explicand, distribution) = (setting.explicand(2), setting.distribution(10, 5));
    for budget in [300, 1000, 5000, 40_000] {
        let until = Until::relative(0.01).with_budget(Some(budget));
        let explanation =
            Explainer::conditional(&setting, &distribution).until(until).explain(&explicand).unwrap();
        // Each row is predicted once for the values, and once more for their errors.
        assert!(explanation.model_rows <= 2 * 10 * budget, "{budget}: {} rows", explanation.model_rows);
        let times = explanation.diagnostics.draws.unwrap() / 10;
        assert!(explanation.evaluations * times <= budget);
    }
}

#[test]
fn more_draws_are_the_same_on_any_number_of_threads() {
    let setting = Setting::new(7);
    let (explicand, distribution) = (setting.explicand(0), setting.distribution(10, 1));
    let explain = || {
        let explainer =
            Explainer::conditional(&setting, &distribution).method(Method::By(&methods::LEVERAGE_SHAP));
        explainer.until(Until::relative(0.1)).seed(4).explain(&explicand).unwrap()
    };
    let with = |threads| rayon_of(threads).install(explain);
    assert_eq!(with(1), with(3));
}

fn rayon_of(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// An observer that stops a run after a number of reports, and keeps the checkpoint.
struct Keeper {
    reports: AtomicUsize,
    stop_after: usize,
    begun: Mutex<Option<Checkpoint>>,
}

impl RunObserver for Keeper {
    fn load_checkpoint(&self, _: usize) -> Option<Checkpoint> {
        self.begun.lock().unwrap().clone()
    }
    fn on_progress(&self, _: usize, progress: &Progress<'_>) -> ControlFlow<()> {
        if self.reports.fetch_add(1, Ordering::Relaxed) < self.stop_after {
            return ControlFlow::Continue(());
        }
        *self.begun.lock().unwrap() = Some(progress.checkpoint());
        ControlFlow::Break(())
    }
}

#[test]
fn runs_with_more_draws_resume_to_the_same_bytes() {
    let setting = Setting::new(7);
    let (explicand, distribution) = (setting.explicand(0), setting.distribution(10, 1));
    let explainer = |seed| {
        let explainer =
            Explainer::conditional(&setting, &distribution).method(Method::By(&methods::LEVERAGE_SHAP));
        explainer.until(Until::relative(0.1)).seed(seed)
    };
    let rows = Rows::new(&explicand, 7);
    let expected = explainer(4).explain(&explicand).unwrap();
    assert!(expected.diagnostics.draws > Some(10));
    let (mut stops, mut raised) = (0, 0);
    for stop_after in 0.. {
        let keeper = Keeper { reports: AtomicUsize::new(0), stop_after, begun: Mutex::new(None) };
        if explainer(4).explain_rows_followed(rows, &keeper).is_ok() {
            break;
        }
        stops += 1;
        let begun = keeper.begun.into_inner().unwrap();
        let kept = || Mutex::new(begun.clone());
        let resumed = Keeper { reports: AtomicUsize::new(0), stop_after: usize::MAX, begun: kept() };
        assert_eq!(explainer(4).explain_rows_followed(rows, &resumed).unwrap()[0], expected);
        if begun.as_ref().unwrap().scenarios() > 10 {
            raised += 1;
            continue;
        }
        // Runs with a different seed reject the checkpoint.
        let other = Keeper { reports: AtomicUsize::new(0), stop_after: usize::MAX, begun: kept() };
        assert!(explainer(5).explain_rows_followed(rows, &other).is_err());
    }
    assert!(stops > raised && raised > 0, "{raised} of {stops}");
}
