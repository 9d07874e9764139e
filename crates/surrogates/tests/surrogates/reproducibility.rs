//! Results do not depend on threads or, with a learned surrogate, on other rows.

use apportion_estimators::Explanation;
use apportion_surrogates::TableMethod;

use super::common::{as_rows, smooth, table};

fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn bits(explanations: &[Explanation]) -> Vec<u64> {
    let of_row = |explanation: &Explanation| {
        let std_errors = explanation.std_errors.clone().unwrap();
        [explanation.values.clone(), std_errors].concat().into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    explanations.iter().flat_map(of_row).collect()
}

#[test]
fn threads_do_not_change_results() {
    for count in [3, 41] {
        let (background, rows) = table(7, 11, count);
        let explain = || TableMethod::new(90).explain(&smooth, as_rows(&rows, 7), &background, 5).unwrap();
        let expected = bits(&on_threads(1, explain));
        for threads in [2, 3, 7] {
            assert_eq!(bits(&on_threads(threads, explain)), expected, "{threads} threads");
        }
    }
}

#[test]
fn with_a_surrogate_rows_do_not_depend_on_each_other() {
    let (background, rows) = table(7, 11, 30);
    let method = TableMethod::new(90);
    let surrogate = method.learn(&smooth, as_rows(&rows[..7 * 20], 7), &background, 1).unwrap();
    let learned = method.with_surrogate(&surrogate, &smooth, &background).unwrap();
    let explain = |rows: &[f64]| learned.explain(as_rows(rows, 7), 5).unwrap();
    let whole = bits(&explain(&rows[7 * 20..]));
    let parts: Vec<u64> = rows[7 * 20..].chunks(7).flat_map(|row| bits(&explain(row))).collect();
    assert_eq!(whole, parts);
}

#[test]
fn equal_rows_have_equal_values() {
    let (background, rows) = table(7, 11, 2);
    let doubled = [&rows[..7], &rows[..7], &rows[7..], &rows[..7]].concat();
    let explanations = TableMethod::new(90).explain(&smooth, as_rows(&doubled, 7), &background, 5).unwrap();
    assert_eq!(explanations.len(), 4);
    assert_eq!(explanations[0], explanations[1]);
    assert_eq!(explanations[0], explanations[3]);
    assert_ne!(explanations[0], explanations[2]);
}
