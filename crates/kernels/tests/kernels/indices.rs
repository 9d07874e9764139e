//! Tests of interaction indices.

use apportion_games::{Background, MarginalGame, Partition, QuotientGame};
use apportion_kernels::{
    InteractionIndex, Interactions, Kernel, KernelError, KernelExplainer, KernelMachine, Rows, Semivalue,
};
use apportion_values::{ValueError, enumerate_interactions};

use super::common::{kernels, machine, numbers};

const WEIGHTS: [f64; 4] = [1.0, 2.0, 0.0, 0.5];

/// Returns all indices that are not generalized values.
fn indices(players: usize) -> Vec<InteractionIndex> {
    let total = (players * (players + 1) / 2) as f64;
    let distribution: Vec<f64> = (1..=players).map(|size| size as f64 / total).collect();
    let mut indices: Vec<InteractionIndex> = [
        "shapley",
        "banzhaf",
        "weighted-banzhaf=0.3",
        "beta=4,1",
        "k-shapley",
        "shapley-taylor",
        "faithful-shapley",
        "faithful-banzhaf",
        "faithful-weighted-banzhaf=0.7",
        "k-additive-shapley",
        "chaining",
        "moebius",
        "co-moebius",
        "walsh",
    ]
    .iter()
    .map(|name| name.parse().unwrap())
    .collect();
    indices.push(Semivalue::mixture(&[0.0, 0.2, 1.0], &[0.25, 0.5, 0.25]).unwrap().into());
    indices.push(Semivalue::from_size_distribution(&distribution).unwrap().into());
    indices
}

fn computed(
    machine: &KernelMachine,
    (background, rows): (&[f64], &[f64]),
    (index, order, groups): (&InteractionIndex, usize, Option<&Partition>),
) -> Vec<Interactions> {
    let features = machine.feature_count();
    let explainer = KernelExplainer::new(machine, Rows::new(background, features), Some(&WEIGHTS)).unwrap();
    explainer.indices_of(index, order, groups, Rows::new(rows, features)).unwrap()
}

/// Asserts that the indices of two random rows equal enumeration, to 1e-12 of the largest index.
fn assert_equal(machine: &KernelMachine, seed: u64, orders: &[usize], groups: Option<&Partition>) {
    let features = machine.feature_count();
    let (background, rows) = (numbers(seed, 4 * features), numbers(seed + 1, 2 * features));
    let of_games = Background::rows(background.clone(), features).unwrap().with_weights(&WEIGHTS).unwrap();
    for index in indices(groups.map_or(features, Partition::len)) {
        for &order in orders {
            let found = computed(machine, (&background, &rows), (&index, order, groups));
            for (row, found) in rows.chunks_exact(features).zip(&found) {
                let game = MarginalGame::new(machine, row, &of_games).unwrap();
                let expected = match groups {
                    None => enumerate_interactions(&game, &index, order).unwrap(),
                    Some(groups) => {
                        let game = QuotientGame::new(&game, groups).unwrap();
                        enumerate_interactions(&game, &index, order).unwrap()
                    }
                };
                assert_same(found, &expected, 1e-12);
            }
        }
    }
}

fn assert_same(found: &Interactions, expected: &Interactions, tolerance: f64) {
    let what = format!("{} {} {}", expected.index(), expected.order(), expected.players());
    assert_eq!((found.index(), found.order()), (expected.index(), expected.order()));
    assert_eq!(found.values().len(), expected.values().len(), "{what}");
    let numbers = |of: &Interactions| [of.values(), of.constant(), of.base(), of.predictions()].concat();
    let expected_numbers = numbers(expected);
    let largest = expected_numbers.iter().fold(1e-300, |largest: f64, value| largest.max(value.abs()));
    for (got, expected) in numbers(found).iter().zip(&expected_numbers) {
        let error = (got - expected).abs() / largest;
        assert!(error <= tolerance, "{what}: {got} {expected} ({error:e})");
    }
    for ((found, _), (expected, _)) in found.iter().zip(expected.iter()) {
        assert_eq!(found.words(), expected.words());
    }
}

#[test]
fn every_index_of_every_kernel_equals_enumeration() {
    for features in 1..=6 {
        for (seed, kernel) in (10..).zip(kernels(3, features)) {
            let machine = machine(seed, kernel, (features, 11, 2)).with_linear(&numbers(seed, 2 * features));
            assert_equal(&machine.unwrap(), seed + 100, &[1, 2, 3], None);
        }
    }
}

#[test]
fn every_order_equals_enumeration() {
    let machine = machine(3, Kernel::rbf(0.4, 5), (5, 9, 1)).with_linear(&numbers(4, 5)).unwrap();
    assert_equal(&machine, 5, &[4, 5, 6], None);
}

#[test]
fn nine_features_equal_enumeration() {
    let machine = machine(6, Kernel::laplace(0.3, 9), (9, 20, 1));
    assert_equal(&machine, 7, &[2, 3], None);
}

#[test]
fn indices_of_groups_equal_enumeration() {
    let machine = machine(8, Kernel::rbf(0.4, 6), (6, 9, 2)).with_linear(&numbers(9, 12)).unwrap();
    for groups in [
        vec![vec![0, 3], vec![1], vec![2, 4, 5]],
        vec![vec![5], vec![4], vec![0, 1], vec![3], vec![2]],
        vec![vec![0, 1, 2, 3, 4, 5]],
    ] {
        let groups = Partition::new(6, groups).unwrap();
        assert_equal(&machine, 10, &[1, 2, 3], Some(&groups));
    }
}

#[test]
fn features_without_a_rate_interact_with_nothing() {
    let gamma = vec![0.5, 0.0, 1.0, 0.0];
    let machine = machine(11, Kernel::Rbf { gamma }, (4, 9, 1)).with_linear(&[0.0, 3.0, 0.0, 0.0]).unwrap();
    let (background, rows) = (numbers(12, 16), numbers(13, 4));
    for name in ["shapley", "faithful-shapley", "walsh", "k-shapley"] {
        let index: InteractionIndex = name.parse().unwrap();
        let found = computed(&machine, (&background, &rows), (&index, 2, None));
        for (coalition, values) in found[0].iter() {
            let members: Vec<usize> = coalition.members().collect();
            let is_null = members.contains(&3) || members.len() == 2 && members.contains(&1);
            assert_eq!(values[0] == 0.0, is_null, "{name} {members:?} {values:?}");
        }
    }
}

#[test]
fn pairs_of_seventy_features_are_those_of_the_features_that_vary() {
    // All other features equal the background, so the game of the five features has the same indices.
    let (features, varying) = (70, [3, 20, 41, 63, 69]);
    let machine = machine(14, Kernel::rbf(0.05, features), (features, 20, 1));
    let background = numbers(15, features);
    let mut row = background.clone();
    for (at, &feature) in varying.iter().enumerate() {
        row[feature] = 0.9 - 0.4 * at as f64;
    }
    let explainer = KernelExplainer::new(&machine, Rows::new(&background, features), None).unwrap();
    let mut groups: Vec<Vec<usize>> = varying.iter().map(|&feature| vec![feature]).collect();
    groups.push((0..features).filter(|feature| !varying.contains(feature)).collect());
    let groups = Partition::new(features, groups).unwrap();
    let single = Background::baseline(background.clone()).unwrap();
    let game = MarginalGame::new(&machine, &row, &single).unwrap();
    let game = QuotientGame::new(&game, &groups).unwrap();
    for name in ["shapley", "banzhaf", "k-shapley", "faithful-shapley", "shapley-taylor"] {
        let index: InteractionIndex = name.parse().unwrap();
        let found = &explainer.indices_of(&index, 2, None, Rows::new(&row, features)).unwrap()[0];
        let expected = enumerate_interactions(&game, &index, 2).unwrap();
        for (one, &first) in varying.iter().enumerate() {
            for (other, &second) in varying.iter().enumerate().skip(one) {
                let (own, of_game) = match one == other {
                    true => (vec![first], vec![one]),
                    false => (vec![first, second], vec![one, other]),
                };
                let (got, expected) = (found.get(&own).unwrap()[0], expected.get(&of_game).unwrap()[0]);
                assert!((got - expected).abs() < 1e-13, "{name} {own:?}: {got} {expected}");
            }
        }
        assert_eq!(found.get(&[0, 69]), Some(&[0.0][..]));
    }
}

#[test]
fn weights_by_size_that_are_uniform_are_shapley_interactions_for_many_features() {
    let features = 40;
    let machine = machine(1, Kernel::rbf(0.05, features), (features, 20, 1));
    let (background, row) = (numbers(2, 4 * features), numbers(3, features));
    let by_size = Semivalue::from_size_distribution(&vec![1.0 / features as f64; features]).unwrap();
    let of =
        |index: &InteractionIndex| computed(&machine, (&background, &row), (index, 2, None)).swap_remove(0);
    let (shapley, by_size) = (of(&InteractionIndex::SHAPLEY), of(&by_size.into()));
    let largest = shapley.values().iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    for (got, expected) in by_size.values().iter().zip(shapley.values()) {
        assert!((got - expected).abs() < 1e-13 * largest, "{got} {expected}");
    }
}

#[test]
fn factors_of_zero_do_not_become_nan() {
    let machine = KernelMachine::new(3, &[0.0])
        .unwrap()
        .with_kernel(Kernel::rbf(1.0, 3), &[0.0, 0.0, 0.0, 50.0, 0.0, 0.0], &[1.0, -2.0])
        .unwrap();
    let explainer = KernelExplainer::new(&machine, Rows::new(&[0.0, 1e160, 0.0], 3), None).unwrap();
    let rows = Rows::new(&[40.0, 0.0, 0.0], 3);
    let found = &explainer.indices_of(&InteractionIndex::SHAPLEY, 2, None, rows).unwrap()[0];
    // v(S) = 1 if the second feature is present and the first is not, up to exp(−100) from the other centre.
    for (members, expected) in
        [(vec![0], -0.5), (vec![1], 0.5), (vec![2], 0.0), (vec![0, 1], -1.0), (vec![0, 2], 0.0)]
    {
        let got = found.get(&members).unwrap()[0];
        assert!((got - expected).abs() < 1e-15, "{members:?}: {got} {expected}");
    }
}

#[test]
fn bits_do_not_depend_on_threads_or_on_other_rows() {
    let machine = machine(1, Kernel::rbf(0.3, 5), (5, 700, 2));
    let (background, rows) = (numbers(2, 4 * 5), numbers(3, 40 * 5));
    let of = |rows: &[f64], threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let index = InteractionIndex::FaithfulShapley;
        pool.install(|| computed(&machine, (&background, rows), (&index, 2, None)))
    };
    let all = of(&rows, 1);
    assert_eq!(of(&rows, 3), all);
    for row in [0, 17, 39] {
        assert_eq!(of(&rows[row * 5..][..5], 2), all[row..=row]);
    }
    assert_eq!(of(&[], 1), []);
}

#[test]
fn requests_without_an_exact_method_are_refused() {
    let machine = machine(1, Kernel::rbf(1.0, 2), (2, 3, 1));
    let explainer = KernelExplainer::new(&machine, Rows::new(&[0.0, 1.0], 2), None).unwrap();
    let of = |name: &str, order: usize| {
        let index: InteractionIndex = name.parse().unwrap();
        explainer.indices_of(&index, order, None, Rows::new(&[0.5, 0.5], 2)).unwrap_err()
    };
    for name in ["generalized-shapley", "joint-shapley", "generalized-internal"] {
        assert!(!KernelExplainer::supports_index(&name.parse().unwrap()));
        let error = of(name, 2).to_string();
        assert!(
            error.starts_with(&format!("{name} for coalitions of features of a kernel machine")),
            "{error}"
        );
    }
    assert!(matches!(of("shapley", 0), KernelError::Value(ValueError::Order { .. })));
    let groups = Partition::new(3, vec![vec![0, 1, 2]]).unwrap();
    let rows = Rows::new(&[0.5, 0.5], 2);
    assert!(explainer.indices_of(&InteractionIndex::SHAPLEY, 2, Some(&groups), rows).is_err());
    let wide = super::common::machine(1, Kernel::rbf(1.0, 200), (200, 1, 1));
    let explainer = KernelExplainer::new(&wide, Rows::new(&[0.0; 200], 200), None).unwrap();
    let error = explainer.indices_of(&InteractionIndex::BANZHAF, 4, None, Rows::new(&[1.0; 200], 200));
    assert!(matches!(error, Err(KernelError::Value(ValueError::TooManyInteractions { .. }))));
}
