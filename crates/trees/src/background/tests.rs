//! Tests of the contents of a compiled background; `tests/trees/compiled.rs` tests explanations with it.

use apportion_games::Rows;

use super::BackgroundCompiler;
use crate::common::{TreeSpec, document, read};

#[test]
fn histograms_are_counts_of_the_rows() {
    // The tree has one split: 5 of 7 rows go right. Missing values go right, too.
    let mut tree = TreeSpec::leaf(0.0);
    let [left, right] = tree.split(0, 0, 0.5, false);
    (tree.number[left], tree.number[right]) = (-1.0, 3.0);
    let ensemble = read(&document(&[tree], 1, &[0.0])).unwrap();
    let mut compiler = BackgroundCompiler::new(&ensemble).unwrap();
    for rows in [0.0, 1.0, 1.0, f64::NAN, 0.25, 2.0, 9.0].chunks(2) {
        compiler.add(Rows::new(rows, 1), None).unwrap();
    }
    let compiled = compiler.finish().unwrap();
    assert_eq!(compiled.trees[0].leaves().collect::<Vec<_>>(), [[(0, 5.0), (1, 2.0)], [(0, 2.0), (1, 5.0)]]);
    assert_eq!((compiled.total_weight(), compiled.row_count(), compiled.pattern_count()), (7.0, 7, 4));
    assert!((compiled.base()[0] - 13.0 / 7.0).abs() < 1e-15);
}
