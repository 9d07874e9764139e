//! What settings ask for is done, and changes the values by no more than they say.

use apportion_games::{Partition, Rows};
use apportion_values::{CoalitionalValue, Semivalue};

use super::tests::{Case, semivalues};
use super::{Attributions, InterventionalOracle};
use crate::common::{Random, TreeSpec, document, read};
use crate::{Kernel, Precision, Settings, TreeError};

fn case(random: &mut Random, features: usize, depth: usize, outputs: usize, rows: usize) -> Case {
    let players: Vec<usize> = (0..features).collect();
    let trees = (0..3 * outputs)
        .map(|tree| TreeSpec::random(random, &players, depth, true, tree % outputs))
        .collect();
    Case::new(random, trees, features, outputs, (rows, 9))
}

fn oracle(case: &Case, settings: Settings) -> InterventionalOracle<'_> {
    let oracle = InterventionalOracle::new(&case.ensemble, case.background(), Some(&case.weights)).unwrap();
    oracle.with_settings(settings)
}

fn by(kernel: Kernel) -> Settings {
    Settings { kernel: Some(kernel), ..Settings::default() }
}

fn distance(a: &Attributions, b: &Attributions) -> f64 {
    assert_eq!((&a.base, &a.predictions), (&b.base, &b.predictions));
    a.values.iter().zip(&b.values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// All three kinds of questions.
fn answers(case: &Case, settings: Settings, value: &Semivalue) -> Vec<Attributions> {
    let oracle = oracle(case, settings);
    let groups = Partition::new(
        case.features,
        (0..case.features).collect::<Vec<_>>().chunks(3).map(<[usize]>::to_vec).collect(),
    )
    .unwrap();
    let mut answers = vec![oracle.values(value.clone(), case.explicands()).unwrap()];
    for value in [CoalitionalValue::owen(), CoalitionalValue::banzhaf_owen()] {
        answers.push(oracle.coalitional_values(&value, &groups, case.explicands()).unwrap());
    }
    answers.push(oracle.quotient_values(Semivalue::Shapley, &groups, case.explicands()).unwrap());
    answers
}

#[test]
fn kernels_that_are_asked_for_agree_in_every_layout_and_precision() {
    let random = &mut Random(21);
    for features in [1, 2, 7, 16, 17, 70] {
        for (depth, outputs, rows) in [(1, 1, 3), (5, 2, 70), (4, 1, 900)] {
            let case = case(random, features, depth, outputs, rows);
            for value in semivalues(features) {
                let walked = answers(&case, by(Kernel::Walk), &value);
                let scale = walked
                    .iter()
                    .flat_map(|walked| &walked.values)
                    .fold(0.0_f64, |most, value| most.max(value.abs()));
                let others = [
                    (by(Kernel::Masks), 1e-12),
                    (by(Kernel::Tables), 1e-12),
                    (Settings { keep_tables: true, ..by(Kernel::Tables) }, 1e-12),
                    (Settings { precision: Precision::Single, ..by(Kernel::Tables) }, 1e-6 * scale),
                    (Settings { precision: Precision::Fixed, ..by(Kernel::Tables) }, 1e-10 * scale),
                ];
                for (settings, tolerance) in others {
                    for (got, wanted) in answers(&case, settings, &value).iter().zip(&walked) {
                        let distance = distance(got, wanted);
                        let what = format!("{features} features, depth {depth}, {value}, {settings:?}");
                        assert!(distance <= tolerance, "{what}: {distance} > {tolerance}");
                    }
                }
            }
        }
    }
}

#[test]
fn bytes_are_the_same_on_any_number_of_threads() {
    let random = &mut Random(22);
    for features in [7, 40] {
        let case = case(random, features, 5, 2, 700);
        for precision in [Precision::Double, Precision::Single, Precision::Fixed] {
            for keep_tables in [false, true] {
                let settings = Settings { precision, keep_tables, ..by(Kernel::Tables) };
                let on = |threads: usize| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let answers = pool.install(|| answers(&case, settings, &Semivalue::Shapley));
                    let values = answers.into_iter().flat_map(|answer| answer.values);
                    values.map(f64::to_bits).collect::<Vec<_>>()
                };
                let one = on(1);
                assert!(one == on(2) && one == on(7), "{features} features, {settings:?}");
            }
        }
    }
}

#[test]
fn tables_that_are_kept_serve_whatever_comes_next() {
    let case = case(&mut Random(23), 9, 5, 1, 300);
    let settings = Settings { keep_tables: true, ..Settings::default() };
    let kept = oracle(&case, settings);
    let few = Rows::new(&case.explicands[..9 * 5], 9);
    for value in [Semivalue::Shapley, Semivalue::Shapley, Semivalue::Banzhaf, Semivalue::Shapley] {
        for rows in [few, case.explicands()] {
            let fresh = oracle(&case, settings).values(value.clone(), rows).unwrap();
            assert_eq!(kept.values(value.clone(), rows).unwrap(), fresh);
        }
    }
}

#[test]
fn plans_say_what_is_done() {
    let case = case(&mut Random(24), 8, 6, 1, 400);
    let trees = case.ensemble.tree_count();
    for kernel in [Kernel::Walk, Kernel::Cohorts, Kernel::Masks, Kernel::Tables] {
        let plan = oracle(&case, by(kernel)).plan(&Semivalue::Shapley, case.explicands()).unwrap();
        assert_eq!(plan.kernels, [(kernel, trees)]);
        assert!(plan.seconds > 0.0 && plan.seconds < 10.0, "{plan:?}");
    }
    let free = oracle(&case, Settings::default());
    let plan = free.plan(&Semivalue::Shapley, case.explicands()).unwrap();
    assert_eq!(plan.kernels.iter().map(|(_, count)| count).sum::<usize>(), trees);
    let one = free.plan(&Semivalue::Shapley, Rows::new(&case.explicands[..8], 8)).unwrap();
    assert_eq!(one.kernels, [(Kernel::Cohorts, trees)]);
    assert!(one.seconds < plan.seconds);
    // Many more than are at hand.
    let of = |count: usize| free.plan_for(&Semivalue::Shapley, count, case.explicands()).unwrap();
    assert_eq!((of(400), of(100_000).kernels), (plan, vec![(Kernel::Tables, trees)]));
    assert!(of(1_000_000).seconds > 5.0 * of(100_000).seconds);
}

#[test]
fn kernels_that_cannot_be_used_are_refused_by_tree() {
    let random = &mut Random(25);
    let short = TreeSpec::random(random, &[0, 1], 2, false, 0);
    let ask = |kernel: Kernel, length: usize| {
        let path: Vec<usize> = (0..length).collect();
        let chain = TreeSpec::chain(&mut Random(26), &path);
        let ensemble = read(&document(&[short.clone(), chain], 100, &[0.0])).unwrap();
        // Two rows: against one there is a quadrature.
        let background = [0.0; 200];
        let oracle = InterventionalOracle::new(&ensemble, Rows::new(&background, 100), None).unwrap();
        let oracle = oracle.with_settings(by(kernel));
        let plan = oracle.plan(&Semivalue::Shapley, Rows::new(&background, 100)).map(|_| ());
        let values = oracle.values(Semivalue::Shapley, Rows::new(&background, 100)).map(|_| ());
        assert_eq!(plan.is_err(), values.is_err());
        values
    };
    assert!(
        ask(Kernel::Tables, 11).is_ok() && ask(Kernel::Masks, 64).is_ok() && ask(Kernel::Walk, 99).is_ok()
    );
    for (kernel, length) in [(Kernel::Tables, 13), (Kernel::Tables, 70), (Kernel::Masks, 65)] {
        let error = ask(kernel, length).unwrap_err();
        assert!(
            matches!(error, TreeError::Kernel { tree: 1, kernel: given, .. } if given == kernel),
            "{error}"
        );
        assert!(error.to_string().contains("tree 1"), "{error}");
    }
    assert!(matches!(ask(Kernel::Quadrature, 3), Err(TreeError::Unsupported { .. })));
}
