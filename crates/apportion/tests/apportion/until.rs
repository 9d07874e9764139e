//! Tests runs with a tolerance instead of a budget, and runs with an observer.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use apportion::estimators::{Guarantee, StopRule, methods};
use apportion::games::GaussianDistribution;
use apportion::{
    Background, Budget, Checkpoint, ExplainError, Explainer, Explanation, Method, Partition, Progress, Rows,
    RunObserver, Until,
};

use crate::common::{self, largest_difference, value_in};

const FEATURES: usize = 14;

fn model(row: &[f64]) -> f64 {
    let pairs: f64 = row.windows(2).map(|pair| pair[0] * pair[1]).sum();
    row.iter().enumerate().map(|(i, x)| x * (i as f64).cos()).sum::<f64>()
        + 0.3 * pairs
        + row[0] * row[5] * row[9]
}

fn rows(count: usize) -> Vec<f64> {
    (0..count * FEATURES).map(|k| ((k * 37 % 101) as f64 / 50.0) - 1.0).collect()
}

fn norm(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(|number| number * number).sum::<f64>().sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    norm(a.iter().zip(b).map(|(a, b)| a - b))
}

#[test]
fn every_sampled_method_reaches_the_accuracy_for_its_value() {
    let background = Background::rows(rows(3), FEATURES).unwrap();
    let explicand = &rows(9)[8 * FEATURES..];
    let partition = Partition::new(FEATURES, vec![vec![0, 1, 2], vec![3, 4], (5..14).collect()]).unwrap();
    let concepts = ["shapley", "banzhaf", "beta=4,1", "owen", "two-step", "quotient-shapley"];
    for (method, name) in Method::all().flat_map(|method| concepts.map(|name| (method, name))) {
        let value = value_in(name, &partition);
        if !method.computes(&value)
            || matches!(method, Method::Tree | Method::Table)
            || method == Method::By(&methods::PRODUCT_SPACE_TRUE_MARGINAL)
        {
            continue;
        }
        let explainer = || Explainer::new(&model, background.clone()).value(value.clone());
        let truth = explainer().method(Method::Exact).explain(explicand).unwrap().values;
        let until = Until::relative(0.1).with_budget(Some(1 << FEATURES));
        let explanation = explainer().method(method).until(until).seed(1).explain(explicand).unwrap();
        let certificate = explanation.certificate.as_ref().unwrap();
        assert_eq!(certificate.stopped_by, StopRule::Tolerance, "{method} {name}: {certificate:?}");
        // With 95% confidence, the error rarely exceeds one and a half times the tolerance.
        let off = distance(&explanation.values, &truth) / norm(truth.iter().copied());
        assert!(off <= 0.15, "{method} {name}: {off}");
        let bound = certificate.error_bounds.as_ref().unwrap()[0];
        assert!(bound <= certificate.tolerances[0], "{method} {name}");
    }
}

#[test]
fn the_budget_is_that_of_the_accuracy_or_of_the_explainer() {
    let explainer = || {
        Explainer::new(&model, Background::baseline(vec![0.0; FEATURES]).unwrap())
            .method(Method::By(&methods::PERMUTATION))
    };
    let explicand = &rows(2)[FEATURES..];
    let tight = Until::relative(1e-6);
    for explainer in [
        explainer().budget(Budget::Evaluations(500)).until(tight),
        explainer().budget(Budget::PerPlayer(10)).until(tight.with_budget(Some(500))),
    ] {
        let explanation = explainer.explain(explicand).unwrap();
        assert!(
            // The budget reserves evaluations for the border: the smallest and largest coalitions.
            explanation.evaluations <= 500 && explanation.evaluations > 380,
            "{}",
            explanation.evaluations
        );
        assert_eq!(explanation.certificate.unwrap().stopped_by, StopRule::Budget);
    }
    let error = explainer().until(Until::relative(-1.0)).explain(explicand).unwrap_err();
    assert!(
        matches!(error, ExplainError::Estimator(_)) && error.to_string().contains("tolerance"),
        "{error}"
    );
}

#[test]
fn null_players_have_intervals_of_no_width() {
    let mut explicand = vec![0.0; FEATURES];
    explicand[..9].copy_from_slice(&rows(1)[..9]);
    let explainer = Explainer::new(&model, Background::baseline(vec![0.0; FEATURES]).unwrap());
    let explanation = explainer
        .method(Method::By(&methods::LEVERAGE_SHAP))
        .until(Until::relative(0.05))
        .explain(&explicand)
        .unwrap();
    let half_widths = explanation.certificate.unwrap().half_widths.unwrap();
    assert_eq!(half_widths.len(), FEATURES);
    assert!(half_widths[9..].iter().all(|&width| width == 0.0));
    assert!(explanation.values[9..].iter().all(|&value| value == 0.0));
}

#[test]
fn exact_values_are_certified_as_such() {
    let ensemble = common::iris();
    let until = Until::relative(0.01);
    let tree = Explainer::for_trees(&ensemble, common::background()).until(until);
    let row = common::flowers();
    let unchanged = Explainer::new(&model, Background::baseline(vec![1.0; FEATURES]).unwrap()).until(until);
    for explanation in [
        tree.explain(row.row(2)).unwrap(),
        unchanged.explain(&[1.0; FEATURES]).unwrap(),
        Explainer::new(&model, Background::baseline(vec![0.0; FEATURES]).unwrap())
            .method(Method::Exact)
            .until(until)
            .explain(&[1.0; FEATURES])
            .unwrap(),
    ] {
        let certificate = explanation.certificate.unwrap();
        assert_eq!((certificate.guarantee, certificate.stopped_by), (Guarantee::Exact, StopRule::Tolerance));
        assert_eq!(certificate.error_bounds.unwrap(), vec![0.0; explanation.base.len()]);
    }
}

#[test]
fn draws_of_the_game_count_and_no_evaluation_takes_them_away() {
    let data: Vec<f64> = rows(200);
    let distribution = GaussianDistribution::fit(Rows::new(&data, FEATURES), 20, 7).unwrap();
    let explainer = Explainer::conditional(&model, &distribution)
        .until(Until::relative(0.02))
        .method(Method::By(&methods::LEVERAGE_SHAP));
    let explanation = explainer.budget(Budget::Evaluations(4000)).explain(&rows(1)).unwrap();
    let certificate = explanation.certificate.unwrap();
    assert_ne!(certificate.stopped_by, StopRule::Tolerance);
    assert!(certificate.error_bounds.unwrap()[0] > certificate.tolerances[0]);
}

/// An observer that stops a run after a number of reports, and keeps finished rows and checkpoints.
#[derive(Default)]
struct Keeper {
    reports: AtomicUsize,
    stop_after: usize,
    finished: Mutex<HashMap<usize, Explanation>>,
    begun: Mutex<HashMap<usize, Checkpoint>>,
}

impl RunObserver for Keeper {
    fn load_result(&self, row: usize) -> Option<Explanation> {
        self.finished.lock().unwrap().get(&row).cloned()
    }
    fn load_checkpoint(&self, row: usize) -> Option<Checkpoint> {
        self.begun.lock().unwrap().get(&row).cloned()
    }
    fn on_progress(&self, row: usize, progress: &Progress<'_>) -> ControlFlow<()> {
        if self.reports.fetch_add(1, Ordering::Relaxed) < self.stop_after {
            return ControlFlow::Continue(());
        }
        self.begun.lock().unwrap().insert(row, progress.checkpoint());
        ControlFlow::Break(())
    }
    fn on_row_done(&self, row: usize, explanation: &Explanation) {
        self.finished.lock().unwrap().insert(row, explanation.clone());
    }
}

#[test]
fn rows_that_were_interrupted_resume_to_the_same_bytes() {
    let rows = rows(6);
    let rows = Rows::new(&rows, FEATURES);
    let background = Background::rows(self::rows(5), FEATURES).unwrap();
    let explainer = || Explainer::new(&model, background.clone()).seed(4);
    for explainer in [
        explainer().method(Method::By(&methods::LEVERAGE_SHAP)).until(Until::relative(0.05)),
        explainer().method(Method::By(&methods::LEVERAGE_SHAP)).budget(Budget::Evaluations(700)),
        explainer().method(Method::By(&methods::PERMUTATION)).budget(Budget::Evaluations(700)),
        explainer().method(Method::By(&methods::PRODUCT_SPACE)).until(Until::relative(0.2)),
    ] {
        let expected = serde_json::to_string(&explainer.explain_rows(rows).unwrap()).unwrap();
        let (mut stop_after, mut interruptions, mut keeper) = (3, 0, Keeper::default());
        let got = loop {
            keeper.stop_after = stop_after;
            keeper.reports = AtomicUsize::new(0);
            match explainer.explain_rows_followed(rows, &keeper) {
                Ok(explanations) => break explanations,
                Err(error) => assert!(error.to_string().contains("interrupted"), "{error}"),
            }
            interruptions += 1;
            stop_after += 2;
        };
        assert!(interruptions > 0);
        assert_eq!(serde_json::to_string(&got).unwrap(), expected);
    }
}

#[test]
fn following_changes_nothing() {
    let rows = rows(4);
    let rows = Rows::new(&rows, FEATURES);
    let explainer = Explainer::new(&model, Background::baseline(vec![0.1; FEATURES]).unwrap());
    let explainer =
        explainer.method(Method::By(&methods::OPTIMIZED_MONTE_CARLO)).budget(Budget::Evaluations(800));
    let keeper = Keeper { stop_after: usize::MAX, ..Keeper::default() };
    let followed = explainer.explain_rows_followed(rows, &keeper).unwrap();
    let alone = explainer.explain_rows(rows).unwrap();
    assert_eq!(followed, alone);
    assert!(followed.iter().zip(&alone).all(|(a, b)| largest_difference(&a.values, &b.values) == 0.0));
    assert_eq!(keeper.finished.lock().unwrap().len(), 4);
}
