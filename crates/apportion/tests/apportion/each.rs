//! Tests that `explain_each` passes on the same explanations as `explain_rows`, in order, until it is
//! stopped.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use apportion::estimators::methods;
use apportion::{Background, Budget, ExplainError, Explainer, Explanation, Method, Rows, batch_model};

use crate::common::{background, flowers, iris, largest_difference};

const FEATURES: usize = 12;

fn model(row: &[f64]) -> f64 {
    row.iter().enumerate().map(|(i, x)| x * (i as f64).cos()).sum::<f64>().tanh()
}

fn rows(count: usize) -> Vec<f64> {
    (0..count * FEATURES).map(|k| ((k * 37 % 101) as f64 / 50.0) - 1.0).collect()
}

/// Returns the row indices and explanations that `explain_each` passes on, using a pool with this number of
/// threads.
fn each(explainer: &Explainer<'_>, rows: Rows<'_>, threads: usize) -> Vec<(usize, Explanation)> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let (caller, mut received) = (std::thread::current().id(), Vec::new());
        let receive = |row, explanation| {
            assert_eq!(std::thread::current().id(), caller);
            received.push((row, explanation));
            ControlFlow::Continue(())
        };
        explainer.explain_each(rows, receive).map(|()| received).unwrap()
    })
}

fn text(explanations: &[Explanation]) -> String {
    serde_json::to_string(explanations).unwrap()
}

#[test]
fn every_row_comes_in_its_turn_with_the_bits_of_all_at_once() {
    let background = Background::rows(rows(3), FEATURES).unwrap();
    let serial = batch_model(1, |rows: Rows<'_>| Ok(rows.iter().map(model).collect())).serial();
    for explainer in [Explainer::new(&model, background.clone()), Explainer::new(&serial, background)] {
        let explainer =
            explainer.method(Method::By(&methods::LEVERAGE_SHAP)).budget(Budget::PerPlayer(5)).seed(3);
        // No row, one row, a full block of one thread (16 rows), more than a block of two threads, and
        // several blocks with a remainder.
        for count in [0, 1, 16, 33, 100] {
            let rows = rows(count);
            let rows = Rows::new(&rows, FEATURES);
            let together = text(&explainer.explain_rows(rows).unwrap());
            for threads in [1, 2, 3] {
                let (numbers, explanations): (Vec<_>, Vec<_>) =
                    each(&explainer, rows, threads).into_iter().unzip();
                assert_eq!(numbers, (0..count).collect::<Vec<_>>());
                assert_eq!(text(&explanations), together, "{count} rows, {threads} threads");
            }
        }
    }
}

#[test]
fn the_tree_explainer_hands_its_rows_over_too() {
    let ensemble = iris();
    let explainer = Explainer::for_trees(&ensemble, background());
    // More than one block of the tree method.
    let rows = flowers().values().repeat(5000_usize.div_ceil(flowers().len()));
    let rows = Rows::new(&rows, flowers().columns());
    let together = explainer.explain_rows(rows).unwrap();
    let received = each(&explainer, rows, 2);
    assert_eq!(received.len(), together.len());
    for (index, ((row, got), expected)) in received.iter().zip(&together).enumerate() {
        assert_eq!(*row, index);
        assert!(largest_difference(&got.values, &expected.values) < 1e-12, "row {row}");
    }
}

#[test]
fn nothing_is_handed_over_after_a_stop_and_little_is_explained() {
    let calls = AtomicUsize::new(0);
    let model = |row: &[f64]| {
        calls.fetch_add(usize::from(row[0] == 1.0), Ordering::Relaxed);
        row[0]
    };
    let explainer = Explainer::new(&model, Background::baseline(vec![0.0]).unwrap());
    let mut received = Vec::new();
    explainer
        .explain_each(Rows::new(&[1.0; 100_000], 1), |row, _| {
            received.push(row);
            if row == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(received, [0, 1, 2]);
    // v(N) is evaluated at most twice per row.
    assert!(calls.load(Ordering::Relaxed) <= 2 * 16 * rayon::current_num_threads());
}

#[test]
fn the_first_failing_row_ends_it_after_those_before() {
    let model = |row: &[f64]| if row[0] >= 50.0 && row[0].is_finite() { f64::NAN } else { row[0] };
    let explainer = Explainer::new(&model, Background::baseline(vec![-1.0]).unwrap());
    // Rows that fail with different messages; the first of them is row 40.
    let mut rows: Vec<f64> = (0..100).map(f64::from).collect();
    rows[40] = f64::INFINITY;
    let mut received = Vec::new();
    let refused = explainer.explain_each(Rows::new(&rows, 1), |row, explanation| {
        received.push((row, explanation.prediction[0]));
        ControlFlow::Continue(())
    });
    assert_eq!(received, (0..40).map(|row| (row, row as f64)).collect::<Vec<_>>());
    assert!(refused.unwrap_err().to_string().contains("inf"));
}

#[test]
fn a_method_that_cannot_do_it_is_refused_before_any_row() {
    let model = |row: &[f64]| row[0];
    let explainer = Explainer::new(&model, Background::baseline(vec![0.0]).unwrap()).method(Method::Tree);
    let refused = explainer.explain_each(Rows::new(&[], 1), |_, _| ControlFlow::Continue(()));
    assert!(matches!(refused, Err(ExplainError::NotTrees)));
}
