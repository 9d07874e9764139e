//! Interactions of both games: what they must satisfy, and the numbers of XGBoost.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use apportion_games::{Partition, Rows};
use apportion_trees::{
    BackgroundCompiler, Diagonal, Ensemble, Interactions, InterventionalOracle, Kernel, PathDependentOracle,
    Settings, TreeError,
};
use apportion_values::Semivalue;
use serde_json::Value;

use common::{Random, TreeSpec, document, read};

const VALUES: [Semivalue; 2] = [Semivalue::Shapley, Semivalue::Banzhaf];
const DIAGONALS: [Diagonal; 2] = [Diagonal::Value, Diagonal::Remainder];

/// The oracles of both games, against the same background.
struct Oracles<'a> {
    marginal: InterventionalOracle<'a>,
    path_dependent: PathDependentOracle<'a>,
}

impl<'a> Oracles<'a> {
    fn new(ensemble: &'a Ensemble, background: Rows<'_>) -> Self {
        Self {
            marginal: InterventionalOracle::new(ensemble, background, None).unwrap(),
            path_dependent: PathDependentOracle::new(ensemble).unwrap(),
        }
    }

    fn interactions(&self, value: &Semivalue, diagonal: Diagonal, rows: Rows<'_>) -> [Interactions; 2] {
        [
            self.marginal.interactions(value.clone(), diagonal, rows).unwrap(),
            self.path_dependent.interactions(value.clone(), diagonal, rows).unwrap(),
        ]
    }

    fn values(&self, value: &Semivalue, rows: Rows<'_>) -> [Vec<f64>; 2] {
        [
            self.marginal.values(value.clone(), rows).unwrap().values,
            self.path_dependent.values(value.clone(), rows).unwrap().values,
        ]
    }
}

/// Trees on some of `features` features, of two outputs.
fn forest(random: &mut Random, used: &[usize], count: usize) -> Vec<TreeSpec> {
    (0..count).map(|tree| TreeSpec::random(random, used, 2 + tree % 5, tree % 3 == 0, tree % 2)).collect()
}

fn close(got: &[f64], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (index, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        assert!((got - wanted).abs() <= tolerance, "{what}: number {index}: {got} != {wanted}");
    }
}

#[test]
fn matrices_are_symmetric_and_dummies_interact_with_nobody() {
    let random = &mut Random(71);
    let (features, used) = (9, [0, 2, 3, 5, 6, 8]);
    let ensemble = read(&document(&forest(random, &used, 9), features, &[0.5, -0.25])).unwrap();
    let (rows, background) = (random.row(features * 70), random.row(features * 20));
    let oracles = Oracles::new(&ensemble, Rows::new(&background, features));
    for (value, diagonal) in VALUES.iter().flat_map(|value| DIAGONALS.map(|diagonal| (value, diagonal))) {
        for got in oracles.interactions(value, diagonal, Rows::new(&rows, features)) {
            let at = |row: usize, i: usize, j: usize| {
                &got.values[((row * features + i) * features + j) * 2..][..2]
            };
            for (row, i, j) in
                (0..70).flat_map(|row| (0..81).map(move |pair| (row, pair / features, pair % features)))
            {
                assert_eq!(at(row, i, j), at(row, j, i));
                if !used.contains(&i) {
                    assert_eq!(at(row, i, j), [0.0; 2], "feature {i} is in no tree");
                }
            }
            assert!(got.values.iter().any(|number| *number != 0.0));
        }
    }
}

#[test]
fn rows_of_remainders_add_up_to_values_and_matrices_to_predictions() {
    let random = &mut Random(72);
    let features = 7;
    let all: Vec<usize> = (0..features).collect();
    let ensemble = read(&document(&forest(random, &all, 8), features, &[0.5, -0.25])).unwrap();
    let (rows, background) = (random.row(features * 30), random.row(features * 40));
    let rows = Rows::new(&rows, features);
    let oracles = Oracles::new(&ensemble, Rows::new(&background, features));
    for value in &VALUES {
        let remainders = oracles.interactions(value, Diagonal::Remainder, rows);
        let wholes = oracles.interactions(value, Diagonal::Value, rows);
        for ((values, remainder), whole) in oracles.values(value, rows).iter().zip(&remainders).zip(&wholes) {
            let sums: Vec<f64> = remainder
                .values
                .chunks_exact(features * 2)
                .flat_map(|row| [0, 1].map(|output| row.iter().skip(output).step_by(2).sum()))
                .collect();
            close(&sums, values, 1e-12, "the sums of rows");
            for (index, (half, number)) in remainder.values.iter().zip(&whole.values).enumerate() {
                let (i, j) = (index / 2 / features % features, index / 2 % features);
                if i == j {
                    let row = index / 2 / features / features;
                    assert!((number - values[(row * features + i) * 2 + index % 2]).abs() < 1e-12);
                } else {
                    assert_eq!(2.0 * half, *number);
                }
            }
            if value.is_efficient() {
                let totals: Vec<f64> = remainder
                    .values
                    .chunks_exact(features * features * 2)
                    .flat_map(|matrix| [0, 1].map(|output| matrix.iter().skip(output).step_by(2).sum()))
                    .collect();
                let gains = remainder.predictions.iter().zip(remainder.base.iter().cycle());
                let gains: Vec<f64> = gains.map(|(prediction, base)| prediction - base).collect();
                close(&totals, &gains, 1e-11, "the sums of matrices");
            }
        }
    }
}

#[test]
fn interactions_add_up_over_trees() {
    let random = &mut Random(73);
    let features = 6;
    let all: Vec<usize> = (0..features).collect();
    let trees = forest(random, &all, 7);
    let (rows, background) = (random.row(features * 12), random.row(features * 15));
    let (rows, background) = (Rows::new(&rows, features), Rows::new(&background, features));
    let explain = |trees: &[TreeSpec]| {
        let ensemble = read(&document(trees, features, &[0.0; 2])).unwrap();
        let got =
            Oracles::new(&ensemble, background).interactions(&Semivalue::Shapley, Diagonal::Remainder, rows);
        got.map(|got| got.values)
    };
    let mut sums = [vec![0.0; 12 * 36 * 2], vec![0.0; 12 * 36 * 2]];
    for tree in &trees {
        for (sums, part) in sums.iter_mut().zip(explain(std::slice::from_ref(tree))) {
            for (sum, part) in sums.iter_mut().zip(part) {
                *sum += part;
            }
        }
    }
    for (got, sums) in explain(&trees).iter().zip(&sums) {
        close(got, sums, 1e-12, "the sums of trees");
    }
}

#[test]
fn groups_interact_like_features_that_always_come_together() {
    let random = &mut Random(74);
    let features = 8;
    let all: Vec<usize> = (0..features).collect();
    let ensemble = read(&document(&forest(random, &all, 6), features, &[0.0, 1.0])).unwrap();
    let (rows, background) = (random.row(features * 90), random.row(features * 6));
    let (rows, background) = (Rows::new(&rows, features), Rows::new(&background, features));
    let oracle = InterventionalOracle::new(&ensemble, background, None).unwrap();
    let alone = Partition::singletons(features);
    for value in VALUES {
        let single = oracle.quotient_interactions(value.clone(), Diagonal::Value, &alone, rows).unwrap();
        let plain = oracle.interactions(value.clone(), Diagonal::Value, rows).unwrap();
        close(&single.values, &plain.values, 1e-12, "groups of one");
        // Of two groups only two coalitions are weighed, whatever the semivalue.
        let halves = Partition::new(features, vec![vec![0, 3, 5], vec![1, 2, 4, 6, 7]]).unwrap();
        let got = oracle.quotient_interactions(value, Diagonal::Value, &halves, rows).unwrap();
        for (row, (matrix, explicand)) in got.values.chunks_exact(8).zip(rows.iter()).enumerate() {
            let mean = |from_explicand: &[usize]| -> Vec<f64> {
                let mixtures: Vec<f64> = background
                    .iter()
                    .flat_map(|other| {
                        let mut mixture = other.to_vec();
                        for &feature in from_explicand {
                            mixture[feature] = explicand[feature];
                        }
                        mixture
                    })
                    .collect();
                let margins = ensemble.margins(Rows::new(&mixtures, features)).unwrap();
                [0, 1].map(|output| margins.iter().skip(output).step_by(2).sum::<f64>() / 6.0).to_vec()
            };
            let (none, one, other, both) = (mean(&[]), mean(&[0, 3, 5]), mean(&[1, 2, 4, 6, 7]), mean(&all));
            for output in 0..2 {
                let wanted = both[output] - one[output] - other[output] + none[output];
                assert!((matrix[2 + output] - wanted).abs() < 1e-12, "row {row}");
                assert_eq!(matrix[2 + output], matrix[4 + output]);
            }
        }
    }
}

#[test]
fn a_compiled_background_and_every_kernel_give_the_same_interactions() {
    let random = &mut Random(76);
    let features = 7;
    let all: Vec<usize> = (0..features).collect();
    let ensemble = read(&document(&forest(random, &all, 6), features, &[0.0, 1.0])).unwrap();
    let (rows, background) = (random.row(features * 70), random.row(features * 30));
    let (rows, background) = (Rows::new(&rows, features), Rows::new(&background, features));
    let mut compiler = BackgroundCompiler::new(&ensemble).unwrap();
    compiler.add(background, None).unwrap();
    let compiled = compiler.finish().unwrap();
    let groups = Partition::new(features, vec![vec![0, 6], vec![1], vec![2, 3, 5], vec![4]]).unwrap();
    let with = |oracle: InterventionalOracle<'_>, kernel: Option<Kernel>, rows: Rows<'_>| {
        let oracle = oracle.with_settings(Settings { kernel, ..Settings::default() });
        let pairs = oracle.interactions(Semivalue::Shapley, Diagonal::Remainder, rows)?;
        let of_groups = oracle.quotient_interactions(Semivalue::Banzhaf, Diagonal::Value, &groups, rows)?;
        Ok::<_, TreeError>([pairs.values, of_groups.values])
    };
    let plain = || InterventionalOracle::new(&ensemble, background, None).unwrap();
    let alike = || InterventionalOracle::from_compiled(&ensemble, compiled.clone()).unwrap();
    for few in [Rows::new(rows.row(0), features), rows] {
        let wanted = with(plain(), None, few).unwrap();
        let kernels = [None, Some(Kernel::Walk), Some(Kernel::Masks), Some(Kernel::Tables)];
        for (what, kernel, oracle) in
            kernels.iter().flat_map(|&kernel| [("rows", kernel, plain()), ("compiled", kernel, alike())])
        {
            let got = with(oracle, kernel, few);
            if (what, kernel) == ("compiled", Some(Kernel::Walk)) {
                assert!(matches!(got, Err(TreeError::Unsupported { .. })));
                continue;
            }
            for (got, wanted) in got.unwrap().iter().zip(&wanted) {
                close(got, wanted, 1e-12, &format!("{what}, {kernel:?}"));
            }
        }
        assert!(matches!(with(plain(), Some(Kernel::Quadrature), few), Err(TreeError::Unsupported { .. })));
    }
}

#[test]
fn nothing_to_explain_and_what_cannot_be_explained() {
    let random = &mut Random(75);
    let ensemble = read(&document(&forest(random, &[0, 1, 2], 2), 3, &[0.0; 2])).unwrap();
    let background = random.row(3);
    let oracle = InterventionalOracle::new(&ensemble, Rows::new(&background, 3), None).unwrap();
    let none = oracle.interactions(Semivalue::Shapley, Diagonal::Remainder, Rows::new(&[], 3)).unwrap();
    assert!(none.values.is_empty() && none.predictions.is_empty() && none.base.len() == 2);
    let narrow = oracle.interactions(Semivalue::Shapley, Diagonal::Value, Rows::new(&[0.0; 2], 2));
    assert!(matches!(narrow, Err(TreeError::Game(_))));
    let for_two = Semivalue::by_size_law(&[0.5, 0.5]).unwrap();
    let row = [0.0; 3];
    let error = oracle.interactions(for_two.clone(), Diagonal::Value, Rows::new(&row, 3)).unwrap_err();
    assert!(matches!(error, TreeError::Value(_)), "{error}");
    // Weights for as many players as there are groups.
    let groups = Partition::new(3, vec![vec![0, 2], vec![1]]).unwrap();
    let got = oracle.quotient_interactions(for_two, Diagonal::Value, &groups, Rows::new(&row, 3)).unwrap();
    assert_eq!(got.values.len(), 8);
}

#[test]
fn remainders_are_the_interactions_of_xgboost() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let file = std::fs::read(fixtures.join("xgboost_interactions.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_slice(&file).unwrap();
    let floats = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let mut compared = 0;
    for case in &cases {
        let ensemble = Ensemble::from_path(common::fixture(case["file"].as_str().unwrap())).unwrap();
        let oracle = PathDependentOracle::new(&ensemble).unwrap();
        let row = floats(&case["x"]);
        let got =
            oracle.interactions(Semivalue::Shapley, Diagonal::Remainder, Rows::new(&row, row.len())).unwrap();
        let outputs = ensemble.output_count();
        for (output, wanted) in case["interactions"].as_array().unwrap().iter().enumerate() {
            let got: Vec<f64> = got.values.iter().skip(output).step_by(outputs).copied().collect();
            // What sums of f32 leave of 1 part in 10⁷.
            let scale = (got.iter().map(|number| number.abs()).sum::<f64>()).max(1.0);
            close(&got, &floats(wanted), 1e-6 * scale, case["file"].as_str().unwrap());
            compared += got.len();
        }
    }
    assert!(compared > 200, "{compared} numbers");
}
