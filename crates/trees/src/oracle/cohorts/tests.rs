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
fn groups_and_pairs_have_the_values_of_walks() {
    let random = &mut Random(82);
    for (features, depth, background) in [(1, 3, 70), (2, 5, 9), (5, 6, 64), (9, 7, 150), (70, 5, 600)] {
        let case = case(random, features, depth, background);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); features.div_ceil(2)];
        (0..features).for_each(|feature| members[random.below(features.div_ceil(2))].push(feature));
        members.retain(|members| !members.is_empty());
        let groups = Partition::new(features, members).unwrap();
        for value in semivalues(features) {
            let what = format!("{features} features, {background} rows, {value}");
            let by_size = matches!(value, Semivalue::SizeWeights(_));
            for weights in [None, Some(&case.weights[..])] {
                let [cohorts, walk] =
                    [Kernel::Cohorts, Kernel::Walk].map(|kernel| by(&case, kernel, weights));
                let rows = case.explicands();
                let pairs = |oracle: &InterventionalOracle<'_>| {
                    oracle.interactions(value.clone(), Diagonal::Remainder, rows).unwrap().values
                };
                check(&what, &pairs(&cohorts), &pairs(&walk));
                if by_size {
                    continue;
                }
                let quotient = |oracle: &InterventionalOracle<'_>| {
                    oracle.quotient_values(value.clone(), &groups, rows).unwrap().values
                };
                check(&what, &quotient(&cohorts), &quotient(&walk));
                for value in [
                    CoalitionalValue { between: value.clone(), within: Semivalue::Banzhaf },
                    CoalitionalValue { between: Semivalue::Shapley, within: value.clone() },
                ] {
                    let grouped = |oracle: &InterventionalOracle<'_>| {
                        oracle.coalitional_values(&value, &groups, rows).unwrap().values
                    };
                    check(&what, &grouped(&cohorts), &grouped(&walk));
                }
            }
        }
    }
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
fn a_tree_of_too_many_levels_is_refused() {
    let path: Vec<usize> = (0..MOST_DEPTH + 1).collect();
    let random = &mut Random(84);
    let chain = TreeSpec::chain(random, &path);
    let case = Case::new(random, vec![chain], MOST_DEPTH + 1, 1, (1, 70));
    let (oracle, rows) = (by(&case, Kernel::Cohorts, None), case.explicands());
    let groups = Partition::new(MOST_DEPTH + 1, path.chunks(2).map(<[usize]>::to_vec).collect()).unwrap();
    for error in [
        oracle.values(Semivalue::Shapley, rows).unwrap_err(),
        oracle.coalitional_values(&CoalitionalValue::owen(), &groups, rows).unwrap_err(),
        oracle.interactions(Semivalue::Shapley, Diagonal::Value, rows).unwrap_err(),
    ] {
        assert!(matches!(error, TreeError::Kernel { kernel: Kernel::Cohorts, tree: 0, .. }), "{error}");
    }
    // Where nothing is asked for, a deep tree is left to others.
    let oracle = InterventionalOracle::new(&case.ensemble, case.background(), None).unwrap();
    let walked = by(&case, Kernel::Walk, None).values(Semivalue::Shapley, rows).unwrap();
    check("deep", &oracle.values(Semivalue::Shapley, rows).unwrap().values, &walked.values);
}
