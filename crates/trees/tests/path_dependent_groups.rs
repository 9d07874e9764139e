//! The path-dependent oracle for features in groups: against enumeration, against arithmetic without rounding, and on deep trees.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};

use apportion_games::{Game, GameError, Partition, QuotientGame, Rows};
use apportion_trees::{
    Attributions, Ensemble, ModelError, PathDependentGame, PathDependentOracle, TreeError,
};
use apportion_values::{CoalitionalValue, Semivalue, ValueError, enumerate, two_step_shapley};
use common::{Random, TreeSpec, document, read};
use num_bigint::BigInt;
use num_rational::Ratio;

/// Every feature in one of `groups` groups at random, none empty, in any order.
fn random_partition(random: &mut Random, features: usize, groups: usize) -> Partition {
    let mut order: Vec<usize> = (0..features).collect();
    for last in (1..features).rev() {
        order.swap(last, random.below(last + 1));
    }
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); groups];
    for (place, feature) in order.into_iter().enumerate() {
        let group = if place < groups { place } else { random.below(groups) };
        members[group].push(feature);
    }
    Partition::new(features, members).unwrap()
}

fn by_size(players: usize, seed: usize) -> Semivalue {
    let weights: Vec<f64> = (0..players).map(|size| ((size + seed) * 5 % 4) as f64 + 0.25).collect();
    let total: f64 = weights.iter().sum();
    Semivalue::by_size_law(&weights.iter().map(|weight| weight / total).collect::<Vec<_>>()).unwrap()
}

/// Pairs that nobody has a name for.
fn odd_pairs(partition: &Partition) -> Vec<CoalitionalValue> {
    let weighted = Semivalue::weighted_banzhaf(0.3).unwrap();
    let beta = Semivalue::beta_shapley(4.0, 1.0).unwrap();
    let ends = Semivalue::mixture(&[0.0, 0.7, 1.0], &[0.25, 0.25, 0.5]).unwrap();
    let pair = |between: &Semivalue, within: &Semivalue| CoalitionalValue {
        between: between.clone(),
        within: within.clone(),
    };
    let mut pairs = vec![
        pair(&weighted, &beta),
        pair(&beta, &weighted),
        pair(&ends, &Semivalue::Shapley),
        pair(&Semivalue::Shapley, &ends),
        pair(&Semivalue::mixture(&[1.0], &[1.0]).unwrap(), &Semivalue::mixture(&[0.0], &[1.0]).unwrap()),
        pair(&by_size(partition.len(), 1), &beta),
    ];
    let first = partition.group(0).len();
    if partition.groups().iter().all(|group| group.len() == first) {
        pairs.push(pair(&Semivalue::Shapley, &by_size(first, 2)));
        pairs.push(pair(&by_size(partition.len(), 3), &by_size(first, 0)));
    }
    pairs
}

fn named() -> [CoalitionalValue; 3] {
    [
        CoalitionalValue::owen(),
        CoalitionalValue::banzhaf_owen(),
        CoalitionalValue::symmetric_coalitional_banzhaf(),
    ]
}

/// Compares with 1e-10 of the largest number in sight; the answers come within 1e-13.
fn check(what: &str, got: &[f64], wanted: &[f64]) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    let scale = wanted.iter().fold(1.0f64, |scale, value| scale.max(value.abs()));
    for (index, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        assert!((got - wanted).abs() < 1e-10 * scale, "{what}: number {index}: {got} != {wanted}");
    }
}

/// Compares what the oracle says of some rows with enumeration: two-step and quotient values, and these pairs.
fn check_by_enumeration(
    what: &str,
    ensemble: &Ensemble,
    partition: &Partition,
    rows: Rows<'_>,
    pairs: &[CoalitionalValue],
    semivalues: &[Semivalue],
) {
    let oracle = PathDependentOracle::new(ensemble).unwrap();
    let games: Vec<PathDependentGame<'_>> =
        rows.iter().map(|row| PathDependentGame::new(ensemble, row).unwrap()).collect();
    let all = |answer: &dyn Fn(&PathDependentGame<'_>) -> Vec<f64>| -> Vec<f64> {
        games.iter().flat_map(answer).collect()
    };
    for value in pairs {
        let got = oracle.coalitional_values(value, partition, rows).unwrap();
        let wanted = all(&|game| value.enumerate(game, partition).unwrap().values);
        check(&format!("{what}, {value:?}, {partition:?}"), &got.values, &wanted);
        assert_eq!(got.base, oracle.base());
        assert_eq!(got.predictions, ensemble.margins(rows).unwrap());
    }
    for value in semivalues {
        let got = oracle.quotient_values(value.clone(), partition, rows).unwrap();
        let wanted = all(&|game| {
            let quotient = QuotientGame::new(game, partition).unwrap();
            enumerate(&quotient, value.clone()).unwrap().values().to_vec()
        });
        check(&format!("{what}, quotient {value}, {partition:?}"), &got.values, &wanted);
        assert_eq!(got.base, oracle.base());
    }
    let got = oracle.two_step_shapley(partition, rows).unwrap();
    let wanted = all(&|game| two_step_shapley(game, partition).unwrap().values);
    check(&format!("{what}, two-step, {partition:?}"), &got.values, &wanted);
}

fn random_ensemble(random: &mut Random, features: usize) -> Ensemble {
    // Some features that no tree uses.
    let used: Vec<usize> = (0..features).filter(|_| random.chance(85)).collect();
    let used = if used.is_empty() { vec![features - 1] } else { used };
    let outputs = if random.chance(25) { 3 } else { 1 };
    let (depth, categorical) = (random.below(7), random.chance(50));
    let trees: Vec<TreeSpec> = (0..outputs + random.below(3))
        .map(|tree| {
            let mut tree = TreeSpec::random(random, &used, depth, categorical, tree % outputs);
            // Rare branches and common ones.
            tree.cover.iter_mut().for_each(|cover| *cover = [1.0, 3.0, 40.0, 1e4][random.below(4)]);
            tree
        })
        .collect();
    let base_scores: Vec<f32> = (0..outputs).map(|output| output as f32 - 0.75).collect();
    read(&document(&trees, features, &base_scores)).unwrap()
}

#[test]
fn two_hundred_random_ensembles_and_partitions_agree_with_enumeration() {
    let random = &mut Random(51);
    for number in 0..200 {
        let features = 1 + random.below(9);
        let groups = 1 + random.below(features);
        let partition = random_partition(random, features, groups);
        let ensemble = random_ensemble(random, features);
        let rows = random.row(2 * features);
        let odd = odd_pairs(&partition);
        let mut pairs = named().to_vec();
        pairs.extend([odd[number % odd.len()].clone(), odd[number / 2 % odd.len()].clone()]);
        let semivalues = [
            Semivalue::Shapley,
            [Semivalue::Banzhaf, odd[0].between.clone(), odd[0].within.clone(), by_size(partition.len(), 2)]
                [number % 4]
                .clone(),
        ];
        let rows = Rows::new(&rows, features);
        check_by_enumeration(&format!("ensemble {number}"), &ensemble, &partition, rows, &pairs, &semivalues);
    }
}

#[test]
fn groups_of_equal_size_may_have_weights_by_size_within() {
    let random = &mut Random(52);
    for (groups, size) in [(2, 2), (3, 2), (2, 4), (4, 2), (3, 3)] {
        let features = groups * size;
        let members = (0..groups).map(|group| (0..size).map(|k| k * groups + group).collect()).collect();
        let partition = Partition::new(features, members).unwrap();
        for _ in 0..4 {
            let ensemble = random_ensemble(random, features);
            let rows = random.row(2 * features);
            let pairs = odd_pairs(&partition);
            assert_eq!(pairs.len(), 8);
            check_by_enumeration(
                "equal groups",
                &ensemble,
                &partition,
                Rows::new(&rows, features),
                &pairs,
                &[],
            );
        }
    }
}

#[test]
fn groups_of_one_are_the_value_between_and_one_group_alone_the_value_within() {
    let random = &mut Random(53);
    for features in [1, 2, 7, 40] {
        let trees: Vec<TreeSpec> = (0..3)
            .map(|_| TreeSpec::random(random, &(0..features).collect::<Vec<_>>(), 6, true, 0))
            .collect();
        let ensemble = read(&document(&trees, features, &[0.0])).unwrap();
        let oracle = PathDependentOracle::new(&ensemble).unwrap();
        let rows = random.row(5 * features);
        let rows = Rows::new(&rows, features);
        let of = |value: &Semivalue| oracle.values(value.clone(), rows).unwrap();
        for (partition, alone) in
            [(Partition::singletons(features), true), (Partition::whole(features), false)]
        {
            for value in named().into_iter().chain(odd_pairs(&partition)) {
                let got = oracle.coalitional_values(&value, &partition, rows).unwrap();
                let reduced = if alone { &value.between } else { &value.within };
                check(&format!("{value:?}"), &got.values, &of(reduced).values);
            }
            let two_step = oracle.two_step_shapley(&partition, rows).unwrap();
            check("two-step", &two_step.values, &of(&Semivalue::Shapley).values);
        }
        for value in [Semivalue::Shapley, Semivalue::weighted_banzhaf(0.3).unwrap(), by_size(features, 1)] {
            let partition = Partition::singletons(features);
            assert_eq!(oracle.quotient_values(value.clone(), &partition, rows).unwrap(), of(&value));
        }
        let whole = oracle.quotient_values(Semivalue::Banzhaf, &Partition::whole(features), rows).unwrap();
        let gains: Vec<f64> = whole.predictions.iter().map(|prediction| prediction - whole.base[0]).collect();
        check("one group", &whole.values, &gains);
    }
}

#[test]
fn features_that_no_tree_uses_get_nothing_but_for_their_share_of_a_two_step_value() {
    let random = &mut Random(54);
    let trees: Vec<TreeSpec> = (0..4).map(|_| TreeSpec::random(random, &[1, 4, 7, 8], 5, false, 0)).collect();
    let ensemble = read(&document(&trees, 10, &[0.5])).unwrap();
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    let partition =
        Partition::new(10, vec![vec![0, 2], vec![1, 3, 4], vec![5], vec![6, 7, 9], vec![8]]).unwrap();
    let row = random.row(10);
    let rows = Rows::new(&row, 10);
    for value in named().into_iter().chain(odd_pairs(&partition)) {
        let values = oracle.coalitional_values(&value, &partition, rows).unwrap().values;
        assert!([0, 2, 3, 5, 6, 9].iter().all(|&feature| values[feature] == 0.0), "{value:?}: {values:?}");
    }
    let groups = oracle.quotient_values(Semivalue::Shapley, &partition, rows).unwrap().values;
    assert!(groups[0] == 0.0 && groups[2] == 0.0 && groups[1] != 0.0, "{groups:?}");
    let two_step = oracle.two_step_shapley(&partition, rows).unwrap().values;
    assert_eq!([two_step[0], two_step[2], two_step[5]], [0.0; 3]);
    assert!(two_step[3] != 0.0, "{two_step:?}");
}

fn fixture(name: &str) -> Ensemble {
    Ensemble::from_path(common::fixture(name)).unwrap()
}

#[test]
fn trained_models_agree_with_enumeration() {
    let random = &mut Random(55);
    for name in ["diabetes_xgb_dart.json.gz", "iris_xgb_softprob.json.gz", "categorical_3_2.json.gz"] {
        let ensemble = fixture(name);
        let features = ensemble.feature_count();
        for groups in [2, features / 2, features - 1] {
            let partition = random_partition(random, features, groups.max(1));
            let rows: Vec<f64> = (0..3 * features)
                .map(|_| random.below(9) as f64 * 0.75 - if random.chance(50) { 3.0 } else { 0.0 })
                .collect();
            let semivalues = [Semivalue::Shapley, Semivalue::Banzhaf];
            let rows = Rows::new(&rows, features);
            check_by_enumeration(name, &ensemble, &partition, rows, &named(), &semivalues);
        }
    }
}

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

/// Ground truth of games with a partition is of the marginal game only; its models, partitions and baselines serve here too.
#[test]
fn models_of_the_data_pack_agree_with_enumeration_in_their_partitions() {
    for name in ["adult", "california", "diabetes"] {
        let path = shared().join("truth").join(format!("{name}_xgb_groups.json"));
        let Ok(bytes) = std::fs::read(path) else { continue };
        let truth: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let ensemble =
            Ensemble::from_path(shared().join("models").join(truth["model_file"].as_str().unwrap())).unwrap();
        let features = ensemble.feature_count();
        let groups = truth["partition"].as_array().unwrap().iter().map(|group| {
            group.as_array().unwrap().iter().map(|feature| feature.as_u64().unwrap() as usize).collect()
        });
        let partition = Partition::new(features, groups.collect()).unwrap();
        let baseline = truth["baseline"].as_array().unwrap().iter().map(|cell| cell.as_f64().unwrap());
        let mut rows: Vec<f64> = baseline.collect();
        rows.extend(rows.clone().iter().map(|cell| cell * 1.25 + 0.5));
        let semivalues = [Semivalue::Shapley, Semivalue::Banzhaf];
        let rows = Rows::new(&rows, features);
        check_by_enumeration(name, &ensemble, &partition, rows, &named(), &semivalues);
    }
}

fn bits(explained: &Attributions) -> Vec<u64> {
    explained.values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn a_row_has_the_same_bits_whatever_stands_beside_it_and_on_any_number_of_threads() {
    let random = &mut Random(56);
    let features: Vec<usize> = (0..12).collect();
    for (depth, longest, groups) in [(4, 5, 3), (7, 12, 11)] {
        let mut trees: Vec<TreeSpec> =
            (0..4).map(|tree| TreeSpec::random(random, &features, depth, true, tree % 2)).collect();
        trees.push(TreeSpec::chain(random, &(0..longest).collect::<Vec<_>>()));
        let ensemble = read(&document(&trees, 12, &[0.0, 0.5])).unwrap();
        let oracle = PathDependentOracle::new(&ensemble).unwrap();
        let partition = random_partition(random, 12, groups);
        let rows = random.row(12 * 600);
        type Explain<'a> = &'a (dyn Fn(Rows<'_>) -> Attributions + Sync);
        let by_size = odd_pairs(&partition)[5].clone();
        let explains: [Explain<'_>; 4] = [
            &|rows| oracle.coalitional_values(&CoalitionalValue::owen(), &partition, rows).unwrap(),
            &|rows| oracle.coalitional_values(&by_size, &partition, rows).unwrap(),
            &|rows| oracle.quotient_values(Semivalue::Shapley, &partition, rows).unwrap(),
            &|rows| oracle.two_step_shapley(&partition, rows).unwrap(),
        ];
        for explain in explains {
            let explain = |from: usize, count: usize| {
                bits(&explain(Rows::new(&rows[12 * from..12 * (from + count)], 12)))
            };
            let all = explain(0, 600);
            let width = all.len() / 600;
            for count in [0, 1, 7, 8, 13, 31, 32, 33, 100, 257] {
                for from in [0, 1, 600 - count] {
                    assert_eq!(explain(from, count), all[width * from..width * (from + count)]);
                }
            }
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(|| explain(0, 600)), all, "{threads} threads");
            }
        }
    }
}

/// A chain over all features with a small tree beside each of its splits.
fn bushy(random: &mut Random, features: usize, depth: usize) -> TreeSpec {
    let chain: Vec<usize> = (0..depth).map(|level| (level * 7 + random.below(5)) % features).collect();
    let mut tree = TreeSpec::chain(random, &chain);
    for level in 0..depth {
        for leaf in tree.split(2 * level + 1, random.below(features), 0.5, true) {
            tree.number[leaf] = random.below(41) as f32 * 0.1 - 2.0;
        }
    }
    tree
}

#[test]
fn on_deep_trees_members_share_what_their_group_gets() {
    let random = &mut Random(57);
    const FEATURES: usize = 250;
    for (depth, groups) in [(140, 20), (200, 3), (200, 130), (200, 249)] {
        let ensemble = read(&document(&[bushy(random, FEATURES, depth)], FEATURES, &[0.5])).unwrap();
        let oracle = PathDependentOracle::new(&ensemble).unwrap();
        let partition = random_partition(random, FEATURES, groups);
        // Rows that pass all tests of the chain, most, and few of them.
        let mut rows = vec![1.0; FEATURES];
        for percent in [2, 60] {
            rows.extend((0..FEATURES).map(|_| if random.chance(percent) { -1.0 } else { 1.0 }));
        }
        let rows = Rows::new(&rows, FEATURES);
        let law = by_size(groups, 1);
        for (within, between) in [
            (Semivalue::Shapley, Semivalue::Shapley),
            (Semivalue::Shapley, Semivalue::Banzhaf),
            (Semivalue::Shapley, law),
        ] {
            let value = CoalitionalValue { between: between.clone(), within };
            let members = oracle.coalitional_values(&value, &partition, rows).unwrap();
            let quotient = oracle.quotient_values(between, &partition, rows).unwrap();
            check_sums(&format!("depth {depth}, {value:?}"), &members, &quotient, &partition);
        }
        let two_step = oracle.two_step_shapley(&partition, rows).unwrap();
        let quotient = oracle.quotient_values(Semivalue::Shapley, &partition, rows).unwrap();
        check_sums(&format!("depth {depth}, two-step"), &two_step, &quotient, &partition);
        for (values, prediction) in two_step.values.chunks(FEATURES).zip(&two_step.predictions) {
            let total: f64 = values.iter().sum();
            assert!((total + two_step.base[0] - prediction).abs() < 1e-12 * prediction.abs().max(1.0));
        }
    }
}

/// The values of the members of a group sum to that of the group, to 1e-12 of the largest.
fn check_sums(what: &str, members: &Attributions, groups: &Attributions, partition: &Partition) {
    let rows = members.values.chunks(partition.players()).zip(groups.values.chunks(partition.len()));
    for (members, groups) in rows {
        let scale = groups.iter().chain(members).fold(0.0f64, |scale, value| scale.max(value.abs()));
        for (group, wanted) in groups.iter().enumerate() {
            let got: f64 = partition.group(group).iter().map(|&feature| members[feature]).sum();
            assert!((got - wanted).abs() < 1e-12 * scale, "{what}, group {group}: {got} != {wanted}");
        }
    }
}

#[test]
fn paths_of_thousands_of_splits_need_no_deep_stack() {
    let random = &mut Random(58);
    let path: Vec<usize> = (0..3000).map(|level| level % 40).collect();
    let ensemble = read(&document(&[TreeSpec::chain(random, &path)], 40, &[0.0])).unwrap();
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    let partition = random_partition(random, 40, 10);
    let rows: Vec<f64> = (0..40 * 3).map(|k| if k == 55 { -1.0 } else { 1.0 }).collect();
    let rows = Rows::new(&rows, 40);
    let owen = oracle.coalitional_values(&CoalitionalValue::owen(), &partition, rows).unwrap();
    let quotient = oracle.quotient_values(Semivalue::Shapley, &partition, rows).unwrap();
    check_sums("a chain of 3000", &owen, &quotient, &partition);
}

type Fraction = Ratio<BigInt>;

/// What the tests on one player along a path come to: whether the row passes, and the product of their shares as numerator and
/// denominator.
#[derive(Clone)]
struct Factor {
    player: usize,
    hot: bool,
    share: [BigInt; 2],
}

impl Factor {
    /// h − c, times the denominator of c.
    fn gain(&self) -> BigInt {
        let [c, d] = &self.share;
        if self.hot { d - c } else { -c }
    }
}

/// A semivalue and the moments E t^k of its mixing measure: whole numbers over one denominator.
struct Exact {
    value: Semivalue,
    moments: Vec<BigInt>,
    denominator: BigInt,
}

impl Exact {
    fn new(value: Semivalue, denominator: BigInt, moment: impl Fn(&BigInt, u32) -> BigInt) -> Self {
        let moments = (0..MOST).map(|k| moment(&denominator, k)).collect();
        Self { value, moments, denominator }
    }

    /// The mean of Π (h t + c (1 − t)) over t.
    fn mean(&self, factors: &[&Factor]) -> Fraction {
        let mut product = vec![BigInt::from(1)];
        let mut denominator = self.denominator.clone();
        for factor in factors {
            let [c, d] = &factor.share;
            let slope = factor.gain();
            let longer = (0..=product.len()).map(|k| {
                let own = product.get(k).map_or(BigInt::from(0), |own| own * c);
                if k > 0 { own + &product[k - 1] * &slope } else { own }
            });
            product = longer.collect();
            denominator *= d;
        }
        Ratio::new_raw(product.iter().zip(&self.moments).map(|(a, b)| a * b).sum(), denominator)
    }
}

/// Most features on a path here.
const MOST: u32 = 32;

/// Tests of one player as one: all hot, all shares together.
fn merge(path: &[Factor], player: impl Fn(usize) -> usize) -> Vec<Factor> {
    let mut merged: Vec<Factor> = Vec::new();
    for factor in path {
        let player = player(factor.player);
        match merged.iter_mut().find(|known| known.player == player) {
            Some(known) => {
                known.hot &= factor.hot;
                known.share.iter_mut().zip(&factor.share).for_each(|(known, more)| *known *= more);
            }
            None => merged.push(Factor { player, ..factor.clone() }),
        }
    }
    merged
}

/// `φ_i = v (h_i − c_i) V_i W_g`, leaf by leaf.
fn exact_values(
    tree: &TreeSpec,
    partition: &Partition,
    row: &[f64],
    (between, within): (&Exact, &Exact),
) -> Vec<f64> {
    let covers = tree.covers();
    let mut values = vec![0.0; row.len()];
    let mut open = vec![(0, Vec::new())];
    while let Some((node, path)) = open.pop() {
        if tree.left[node] != -1 {
            let left = tree.goes_left(node, row[tree.feature[node]]);
            for (child, hot) in [(tree.left[node] as usize, left), (tree.right[node] as usize, !left)] {
                let mut path: Vec<Factor> = path.clone();
                let share = [child, node].map(|node| BigInt::from(covers[node] as u64));
                path.push(Factor { player: tree.feature[node], hot, share });
                open.push((child, path));
            }
            continue;
        }
        let value = f64::from(tree.number[node]);
        let features = merge(&path, |feature| feature);
        let groups = merge(&path, |feature| partition.group_of(feature));
        for group in &groups {
            let others: Vec<_> = groups.iter().filter(|other| other.player != group.player).collect();
            let of_group = between.mean(&others);
            let members: Vec<_> =
                features.iter().filter(|one| partition.group_of(one.player) == group.player).collect();
            for own in &members {
                let fellows: Vec<_> =
                    members.iter().copied().filter(|fellow| fellow.player != own.player).collect();
                let of_fellows = within.mean(&fellows);
                let numerator = own.gain() * of_group.numer() * of_fellows.numer();
                let denominator = &own.share[1] * of_group.denom() * of_fellows.denom();
                // Products without rounding; the sum over leaves has some.
                values[own.player] += value * to_f64(&Ratio::new_raw(numerator, denominator));
            }
        }
    }
    values
}

/// The nearest f64, or its neighbour.
fn to_f64(fraction: &Fraction) -> f64 {
    if *fraction.numer() == BigInt::from(0) {
        return 0.0;
    }
    let shift = 64 + fraction.denom().bits() as i64 - fraction.numer().bits() as i64;
    let scaled = if shift >= 0 { fraction.numer() << shift } else { fraction.numer() >> -shift };
    i128::try_from(scaled / fraction.denom()).unwrap() as f64 * (-shift as f64).exp2()
}

#[test]
fn values_on_deep_trees_are_right_to_twelve_digits() {
    let random = &mut Random(59);
    let multiple: BigInt = (1..=MOST).map(BigInt::from).product();
    let power = |denominator: &BigInt, numerator: u32, of: u32, k: u32| {
        denominator * BigInt::from(numerator).pow(k) / BigInt::from(of).pow(k)
    };
    let powers_of_eight = BigInt::from(8).pow(MOST);
    let exact = [
        Exact::new(Semivalue::Shapley, multiple, |all, k| all / BigInt::from(k + 1)),
        Exact::new(Semivalue::Banzhaf, powers_of_eight.clone(), |all, k| power(all, 1, 2, k)),
        Exact::new(Semivalue::weighted_banzhaf(0.375).unwrap(), powers_of_eight, |all, k| {
            power(all, 3, 8, k)
        }),
        Exact::new(Semivalue::mixture(&[0.0], &[1.0]).unwrap(), BigInt::from(1), |_, k| {
            BigInt::from(u32::from(k == 0))
        }),
    ];
    for (features, depth, groups) in [(12, 24, 4), (30, 24, 9), (30, 30, 20)] {
        let mut tree = bushy(random, features, depth);
        for node in 0..tree.left.len() {
            if tree.left[node] == -1 {
                tree.number[node] = random.below(33) as f32 * 0.125 - 2.0;
                tree.cover[node] = [1.0, 2.0, 3.0, 40.0, 700.0][random.below(5)];
            }
        }
        let ensemble = read(&document(std::slice::from_ref(&tree), features, &[0.0])).unwrap();
        let oracle = PathDependentOracle::new(&ensemble).unwrap();
        let partition = random_partition(random, features, groups);
        for percent in [0, 15] {
            let row: Vec<f64> =
                (0..features).map(|_| if random.chance(percent) { -1.0 } else { 1.0 }).collect();
            for (between, within) in [(0, 0), (1, 1), (1, 0), (2, 1), (3, 0), (0, 3)] {
                let pair = (&exact[between], &exact[within]);
                let wanted = exact_values(&tree, &partition, &row, pair);
                let value = CoalitionalValue { between: pair.0.value.clone(), within: pair.1.value.clone() };
                let got = oracle.coalitional_values(&value, &partition, Rows::new(&row, features)).unwrap();
                let scale = wanted.iter().fold(0.0f64, |scale, value| scale.max(value.abs()));
                for (got, wanted) in got.values.iter().zip(&wanted) {
                    assert!(
                        (got - wanted).abs() <= 1e-12 * scale,
                        "{value:?}, depth {depth}: {got} {wanted}"
                    );
                }
            }
        }
    }
}

#[test]
fn partitions_values_rows_and_covers_that_do_not_fit_are_refused() {
    let random = &mut Random(60);
    let tree = TreeSpec::random(random, &[0, 1, 2], 3, false, 0);
    let ensemble = read(&document(std::slice::from_ref(&tree), 3, &[0.0])).unwrap();
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    let partition = Partition::new(3, vec![vec![0, 2], vec![1]]).unwrap();
    let row = [0.0; 3];
    let rows = Rows::new(&row, 3);
    let owen = CoalitionalValue::owen();

    let others = Partition::whole(4);
    for error in [
        oracle.coalitional_values(&owen, &others, rows).unwrap_err(),
        oracle.quotient_values(Semivalue::Shapley, &others, rows).unwrap_err(),
        oracle.two_step_shapley(&others, rows).unwrap_err(),
    ] {
        let wanted =
            matches!(error, TreeError::Game(GameError::PartitionOfOthers { given: 4, wanted: 3, .. }));
        assert!(wanted, "{error}");
    }
    let refused = |between: Semivalue, within: Semivalue| {
        oracle.coalitional_values(&CoalitionalValue { between, within }, &partition, rows).unwrap_err()
    };
    for (error, players) in [
        (refused(by_size(3, 0), Semivalue::Shapley), 2),
        (refused(Semivalue::Shapley, by_size(2, 0)), 1),
        (oracle.quotient_values(by_size(3, 0), &partition, rows).unwrap_err(), 2),
    ] {
        let wanted = matches!(
            error, TreeError::Value(ValueError::WeightsForOtherPlayers { players: given, .. }) if given == players
        );
        assert!(wanted, "{error}");
    }
    for error in [
        oracle.coalitional_values(&owen, &partition, Rows::new(&[0.0; 4], 2)).unwrap_err(),
        oracle.quotient_values(Semivalue::Shapley, &partition, Rows::new(&[0.0; 4], 2)).unwrap_err(),
        oracle.two_step_shapley(&partition, Rows::new(&[0.0; 4], 2)).unwrap_err(),
    ] {
        assert!(matches!(error, TreeError::Game(GameError::Width { given: 2, wanted: 3, .. })), "{error}");
    }
    let infinite = [0.0, f64::INFINITY, 0.0];
    let error = oracle.coalitional_values(&owen, &partition, Rows::new(&infinite, 3)).unwrap_err();
    assert!(matches!(error, TreeError::Game(GameError::InfiniteInput { column: 1, .. })), "{error}");

    // A negative cover is no share: the game is not defined, for groups as for features.
    let mut without = tree;
    let leaf = without.left.iter().position(|&left| left == -1).unwrap();
    without.cover[leaf] = -1.0;
    let ensemble = read(&document(&[without], 3, &[0.0])).unwrap();
    assert!(matches!(
        PathDependentOracle::new(&ensemble),
        Err(TreeError::Model(ModelError::Cover { tree: 0, .. }))
    ));
}

#[test]
fn no_rows_no_trees_and_trees_without_splits_have_values_too() {
    let random = &mut Random(61);
    let partition = Partition::new(3, vec![vec![0, 2], vec![1]]).unwrap();
    let trees = [TreeSpec::leaf(1.5), TreeSpec::random(random, &[0, 1, 2], 3, false, 0)];
    let ensemble = read(&document(&trees, 3, &[0.0])).unwrap();
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    let nothing = Rows::new(&[], 3);
    let owen = CoalitionalValue::owen();
    assert!(oracle.coalitional_values(&owen, &partition, nothing).unwrap().values.is_empty());
    assert!(oracle.quotient_values(Semivalue::Shapley, &partition, nothing).unwrap().values.is_empty());
    assert!(oracle.two_step_shapley(&partition, nothing).unwrap().values.is_empty());
    let ensemble = read(&document(&trees[..1], 3, &[0.0])).unwrap();
    let oracle = PathDependentOracle::new(&ensemble).unwrap();
    let row = [0.0; 3];
    let explained = oracle.coalitional_values(&owen, &partition, Rows::new(&row, 3)).unwrap();
    assert_eq!((explained.values, explained.base), (vec![0.0; 3], vec![1.5]));
    let game = PathDependentGame::new(&ensemble, &row).unwrap();
    assert_eq!(game.players(), 3);
}
