//! Tests that results do not depend on the number of threads, or on other rows.

use apportion_kernels::{Kernel, KernelExplainer, Rows, Semivalue};

use super::common::{machine, numbers};

#[test]
fn bits_do_not_depend_on_threads_or_on_other_rows() {
    let machine = machine(1, Kernel::rbf(0.3, 5), (5, 700, 2));
    let (background, rows) = (numbers(2, 4 * 5), numbers(3, 40 * 5));
    let explainer = KernelExplainer::new(&machine, Rows::new(&background, 5), None).unwrap();
    let values = |rows: &[f64], threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| explainer.values(Semivalue::Shapley, Rows::new(rows, 5)).unwrap())
    };
    let all = values(&rows, 1);
    assert_eq!(values(&rows, 3), all);
    for row in [0, 17, 39] {
        assert_eq!(values(&rows[row * 5..][..5], 2), all.of_row(row));
    }
}
