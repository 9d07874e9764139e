//! Sets of rows against one row at a time.

use apportion_games::{Partition, Rows};
use apportion_values::{CoalitionalValue, Semivalue};

use super::MOST_DEPTH;
use crate::common::{Random, TreeSpec};
use crate::kernel::{Kernel, Settings};
use crate::oracle::tests::{Case, semivalues};
use crate::{Diagonal, InterventionalOracle, TreeError};

fn by<'a>(case: &'a Case, kernel: Kernel, weights: Option<&[f64]>) -> InterventionalOracle<'a> {
    let oracle = InterventionalOracle::new(&case.ensemble, case.background(), weights).unwrap();
    oracle.with_settings(Settings { kernel: Some(kernel), ..Settings::default() })
}

fn check(what: &str, got: &[f64], wanted: &[f64]) {
    for (index, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        assert!((got - wanted).abs() < 1e-12, "{what}: number {index}: {got} != {wanted}");
    }
}

/// A forest in which features are tested again, chains among it.
fn case(random: &mut Random, features: usize, depth: usize, background: usize) -> Case {
    let all: Vec<usize> = (0..features).collect();
    let mut trees: Vec<TreeSpec> =
        (0..4).map(|tree| TreeSpec::random(random, &all, depth, true, tree % 2)).collect();
    let path: Vec<usize> = all.iter().chain(all.iter().rev()).copied().take(MOST_DEPTH).collect();
    trees.push(TreeSpec::chain(random, &path));
    trees.push(TreeSpec::leaf(0.5));
    Case::new(random, trees, features, 2, (3, background))
}

#[test]
fn cohorts_of_any_size_give_the_values_of_walks() {
    let random = &mut Random(81);
    for background in [1, 2, 63, 64, 65, 128, 200, 300, 512, 513, 1100] {
        for (features, depth) in [(1, 4), (2, 5), (9, 7), (70, 5)] {
            let case = case(random, features, depth, background);
            for value in semivalues(features) {
                for weights in [None, Some(&case.weights[..])] {
                    let values = |kernel| {
                        let oracle = by(&case, kernel, weights);
                        oracle.values(value.clone(), case.explicands()).unwrap().values
                    };
                    let what = format!("{features} features, {background} rows, {value}");
                    check(&what, &values(Kernel::Cohorts), &values(Kernel::Walk));
                }
            }
        }
    }
}

#[test]
fn groups_are_players_too() {
    let random = &mut Random(82);
    let case = case(random, 9, 6, 150);
    let groups = Partition::new(9, vec![vec![0, 3, 8], vec![1], vec![2, 5], vec![4, 6, 7]]).unwrap();
    let values = |kernel| {
        let oracle = by(&case, kernel, None);
        oracle.quotient_values(Semivalue::Shapley, &groups, case.explicands()).unwrap().values
    };
    check("groups", &values(Kernel::Cohorts), &values(Kernel::Walk));
}

#[test]
fn few_rows_go_against_a_background_as_sets_and_many_do_not() {
    let random = &mut Random(83);
    let all: Vec<usize> = (0..6).collect();
    let trees: Vec<TreeSpec> = (0..10).map(|_| TreeSpec::random(random, &all, 6, false, 0)).collect();
    let case = Case::new(random, trees, 6, 1, (3000, 200));
    let plan = |background: usize, rows: usize| {
        let background = Rows::new(&case.background[..6 * background], 6);
        let oracle = InterventionalOracle::new(&case.ensemble, background, None).unwrap();
        oracle.plan(&Semivalue::Shapley, Rows::new(&case.explicands[..6 * rows], 6)).unwrap().kernels
    };
    assert_eq!(plan(1, 1), [(Kernel::Walk, 10)]);
    assert_eq!(plan(200, 1), [(Kernel::Cohorts, 10)]);
    assert_eq!(plan(200, 3000), [(Kernel::Tables, 10)]);
}

#[test]
fn what_sets_cannot_do_is_refused() {
    let random = &mut Random(84);
    let short = case(random, 3, 4, 70);
    let groups = Partition::new(3, vec![vec![0, 2], vec![1]]).unwrap();
    let oracle = by(&short, Kernel::Cohorts, None);
    let rows = short.explicands();
    let errors = [
        oracle.coalitional_values(&CoalitionalValue::owen(), &groups, rows).unwrap_err(),
        oracle.interactions(Semivalue::Shapley, Diagonal::Value, rows).unwrap_err(),
    ];
    let path: Vec<usize> = (0..MOST_DEPTH + 1).collect();
    let chain = TreeSpec::chain(random, &path);
    let long = Case::new(random, vec![chain], MOST_DEPTH + 1, 1, (1, 70));
    let oracle = by(&long, Kernel::Cohorts, None);
    let errors =
        errors.into_iter().chain([oracle.values(Semivalue::Shapley, long.explicands()).unwrap_err()]);
    for error in errors {
        assert!(matches!(error, TreeError::Kernel { kernel: Kernel::Cohorts, tree: 0, .. }), "{error}");
    }
    // Where nothing is asked for, a deep tree is left to others.
    let oracle = InterventionalOracle::new(&long.ensemble, long.background(), None).unwrap();
    let walked = by(&long, Kernel::Walk, None).values(Semivalue::Shapley, long.explicands()).unwrap();
    check("deep", &oracle.values(Semivalue::Shapley, long.explicands()).unwrap().values, &walked.values);
}
