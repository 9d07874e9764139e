//! Compares both tree explainers on deep trees with exact rational arithmetic.
//!
//! On one leaf with value v, the factor of the other players is a polynomial in the probability t with which
//! each of them is present, Π_{j≠i} (r_j + (o_j − r_j) t). o_j is 1 if the row passes all tests of the path
//! on feature j, and 0 otherwise. r_j is the factor if j is absent. In the path-dependent game, it is the
//! product of the cover fractions. In the marginal game, it is 1 if the background row passes the tests, and
//! 0 otherwise. The coefficients of the polynomial are fractions, and the semivalue of t^k is the moment M(k,
//! 0), which is also a fraction if the parameters of the value are.

use crate::common::{Random, TreeSpec, document, read};
use apportion_games::{Partition, Rows};
use apportion_trees::{Ensemble, Exact as _, MarginalTreeExplainer, PathDependentTreeExplainer};
use apportion_values::{CoalitionalValue, Semivalue, Value};
use num_bigint::BigInt;
use num_rational::Ratio;

type Fraction = Ratio<BigInt>;

fn fraction(numerator: u64, denominator: u64) -> Fraction {
    Ratio::new(BigInt::from(numerator), BigInt::from(denominator))
}

/// Converts a multiple of 2^−60 exactly.
fn exactly(number: f64) -> Fraction {
    let scaled = number * (1u64 << 60) as f64;
    assert!(scaled.fract() == 0.0 && scaled.abs() < i128::MAX as f64, "{number}");
    Ratio::new(BigInt::from(scaled as i128), BigInt::from(1u64 << 60))
}

/// A semivalue for games of a given number of players, with its moments M(k, 0) as integers over a common
/// denominator.
struct ExactMoments {
    value: Semivalue,
    moments: Vec<BigInt>,
    denominator: BigInt,
}

impl ExactMoments {
    fn new(value: Semivalue, moments: Vec<Fraction>) -> Self {
        // The least common multiple of a and b is a times the numerator of b / a.
        let multiple = |a: BigInt, b: &Fraction| Ratio::new(b.denom().clone(), a.clone()).numer() * a;
        let denominator = moments.iter().fold(BigInt::from(1), multiple);
        let moments = moments.iter().map(|moment| (moment * &denominator).to_integer()).collect();
        Self { value, moments, denominator }
    }
}

/// Returns semivalues whose parameters are fractions.
fn semivalues(players: usize) -> Vec<ExactMoments> {
    let powers = |p: Fraction| (0..players).map(|k| p.pow(k as i32)).collect::<Vec<_>>();
    // The moments E t^k for t ~ Beta(β, α).
    let beta = |alpha: u64, beta: u64| {
        let ratio = |k: u64| fraction(beta + k, alpha + beta + k);
        (0..players as u64).map(|k| (0..k).map(ratio).product()).collect::<Vec<Fraction>>()
    };
    // The probability of each size in eighths; all coalitions of the same size are equally likely.
    let mut eighths = vec![0; players];
    for (size, weight) in [(0, 1), (players / 3, 4), (players - 1, 3)] {
        eighths[size] += weight;
    }
    let all_present = |size: u64, k: u64| -> Fraction {
        (0..k.min(size + 1)).map(|j| fraction(size - j, players as u64 - 1 - j)).product()
    };
    let by_size = (0..players as u64).map(|k| {
        let sizes = eighths.iter().enumerate().filter(|(_, weight)| **weight > 0);
        sizes.map(|(size, &weight)| fraction(weight, 8) * all_present(size as u64, k)).sum()
    });
    let distribution: Vec<f64> = eighths.iter().map(|&weight| weight as f64 / 8.0).collect();
    vec![
        ExactMoments::new(Semivalue::Shapley, beta(1, 1)),
        ExactMoments::new(Semivalue::Banzhaf, powers(fraction(1, 2))),
        ExactMoments::new(Semivalue::weighted_banzhaf(0.375).unwrap(), powers(fraction(3, 8))),
        ExactMoments::new(Semivalue::weighted_banzhaf(1.0 / 64.0).unwrap(), powers(fraction(1, 64))),
        ExactMoments::new(Semivalue::beta_shapley(4.0, 1.0).unwrap(), beta(4, 1)),
        ExactMoments::new(Semivalue::beta_shapley(1.0, 16.0).unwrap(), beta(1, 16)),
        ExactMoments::new(Semivalue::beta_shapley(3.0, 2.0).unwrap(), beta(3, 2)),
        ExactMoments::new(Semivalue::from_size_distribution(&distribution).unwrap(), by_size.collect()),
    ]
}

/// The tests of one feature on a path: whether the row passes them, and the factor if the feature is absent,
/// as numerator and denominator.
#[derive(Clone)]
struct FeatureTests {
    feature: usize,
    passed: bool,
    rest: (BigInt, BigInt),
}

/// Returns the value of every leaf, with the tests on its path. `rest` returns the factor from a split to a
/// child if the feature of the split is absent.
fn leaves(
    tree: &TreeSpec,
    row: &[f64],
    rest: impl Fn(usize, usize) -> (BigInt, BigInt),
) -> Vec<(f64, Vec<FeatureTests>)> {
    let mut leaves = Vec::new();
    let mut open = vec![(0, Vec::<FeatureTests>::new())];
    while let Some((node, path)) = open.pop() {
        if tree.left[node] == -1 {
            leaves.push((f64::from(tree.number[node]), path));
            continue;
        }
        let feature = tree.feature[node];
        let left = tree.goes_left(node, row[feature]);
        for (child, passed) in [(tree.left[node] as usize, left), (tree.right[node] as usize, !left)] {
            let mut path = path.clone();
            let (numerator, denominator) = rest(node, child);
            match path.iter_mut().find(|asked| asked.feature == feature) {
                Some(asked) => {
                    asked.passed &= passed;
                    asked.rest.0 *= numerator;
                    asked.rest.1 *= denominator;
                }
                None => path.push(FeatureTests { feature, passed, rest: (numerator, denominator) }),
            }
            open.push((child, path));
        }
    }
    leaves
}

impl FeatureTests {
    /// Returns the difference between the factors with and without the feature, multiplied by the denominator
    /// of `rest`.
    fn gain(&self) -> BigInt {
        let (absent, whole) = &self.rest;
        if self.passed { whole - absent } else { -absent.clone() }
    }
}

/// Returns, for each semivalue and player of a path, the mean factor of all other players.
fn others(path: &[FeatureTests], semivalues: &[&ExactMoments]) -> Vec<Vec<Fraction>> {
    let zero = BigInt::from(0);
    // Multiply by all denominators, so that the coefficients are integers: Π (a_j + g_j t).
    let factors: Vec<(BigInt, BigInt)> =
        path.iter().map(|asked| (asked.rest.0.clone(), asked.gain())).collect();
    // If a player has the factor 0 both present and absent, the leaf is never reached.
    if factors.iter().any(|(a, g)| *a == zero && *g == zero) {
        return vec![vec![exactly(0.0); path.len()]; semivalues.len()];
    }
    let denominator: BigInt = path.iter().map(|asked| asked.rest.1.clone()).product();
    let mut product = vec![BigInt::from(1)];
    for (a, g) in &factors {
        let longer = (0..=product.len()).map(|k| {
            let own = product.get(k).map_or(zero.clone(), |own| own * a);
            if k > 0 { own + &product[k - 1] * g } else { own }
        });
        product = longer.collect();
    }
    let mut means = vec![Vec::new(); semivalues.len()];
    for (asked, (a, g)) in path.iter().zip(&factors) {
        let others = divide(&product, a, g);
        for (means, exact) in means.iter_mut().zip(semivalues) {
            let mean: BigInt = others.iter().zip(&exact.moments).map(|(a, moment)| moment * a).sum();
            means.push(Ratio::new(mean * &asked.rest.1, &denominator * &exact.denominator));
        }
    }
    means
}

/// Returns the values of one tree: for each of the semivalues, one per feature.
fn values(
    leaves: &[(f64, Vec<FeatureTests>)],
    features: usize,
    semivalues: &[ExactMoments],
) -> Vec<Vec<Fraction>> {
    let mut values = vec![vec![exactly(0.0); features]; semivalues.len()];
    let semivalues: Vec<&ExactMoments> = semivalues.iter().collect();
    for (value, path) in leaves.iter().filter(|(value, _)| *value != 0.0) {
        for (values, others) in values.iter_mut().zip(others(path, &semivalues)) {
            for (asked, others) in path.iter().zip(others) {
                values[asked.feature] +=
                    exactly(*value) * Ratio::new(asked.gain(), asked.rest.1.clone()) * others;
            }
        }
    }
    values
}

/// Returns the values of features in groups: products of the factor of the other groups and the factor of the
/// other members.
fn values_in_groups(
    leaves: &[(f64, Vec<FeatureTests>)],
    groups: &Partition,
    (between, within): (&ExactMoments, &ExactMoments),
) -> Vec<Fraction> {
    let mut values = vec![exactly(0.0); groups.players()];
    for (value, path) in leaves.iter().filter(|(value, _)| *value != 0.0) {
        let mut of_groups: Vec<(FeatureTests, Vec<FeatureTests>)> = Vec::new();
        for asked in path {
            let group = groups.group_of(asked.feature);
            match of_groups.iter_mut().find(|(known, _)| known.feature == group) {
                Some((known, members)) => {
                    known.passed &= asked.passed;
                    known.rest.0 *= &asked.rest.0;
                    known.rest.1 *= &asked.rest.1;
                    members.push(asked.clone());
                }
                None => {
                    of_groups.push((FeatureTests { feature: group, ..asked.clone() }, vec![asked.clone()]))
                }
            }
        }
        let (wholes, members): (Vec<FeatureTests>, Vec<Vec<FeatureTests>>) = of_groups.into_iter().unzip();
        for (members, of_group) in members.iter().zip(&others(&wholes, &[between])[0]) {
            for (asked, of_fellows) in members.iter().zip(&others(members, &[within])[0]) {
                let gain = Ratio::new(asked.gain(), asked.rest.1.clone());
                values[asked.feature] += exactly(*value) * gain * of_group * of_fellows;
            }
        }
    }
    values
}

/// Divides the polynomial by its factor a + g t.
fn divide(product: &[BigInt], a: &BigInt, g: &BigInt) -> Vec<BigInt> {
    let zero = BigInt::from(0);
    if *a == zero {
        return product[1..].iter().map(|coefficient| coefficient / g).collect();
    }
    let mut quotient: Vec<BigInt> = Vec::new();
    for (k, coefficient) in product[..product.len() - 1].iter().enumerate() {
        let carried = if k > 0 { g * &quotient[k - 1] } else { zero.clone() };
        quotient.push((coefficient - carried) / a);
    }
    quotient
}

/// Returns a path of `depth` splits, about half of which have a small tree on the side; `zeros` percent of
/// the leaves are 0.
fn vine(random: &mut Random, features: usize, depth: usize, zeros: u64) -> TreeSpec {
    let mut tree = TreeSpec::leaf(0.0);
    let mut end = 0;
    for level in 0..depth {
        let default_left = random.chance(50);
        let children = tree.split(end, level * 7 % features, 0.25, default_left);
        let side = usize::from(random.chance(50));
        end = children[side];
        if random.chance(50) && level + 2 < depth {
            tree.split(children[1 - side], random.below(features), 0.75, false);
        }
    }
    for node in 0..tree.left.len() {
        if tree.left[node] == -1 {
            tree.number[node] = random.below(41) as f32 * 0.125 - 2.0;
            // Use both rare and common branches.
            tree.cover[node] = [1.0, 2.0, 3.0, 40.0, 700.0][random.below(5)];
            if random.chance(zeros) {
                tree.number[node] = 0.0;
            }
        }
    }
    tree.number[end] = 1.25;
    tree
}

/// Returns a row that passes the tests towards the deepest leaf, except for some features.
fn deep_row(random: &mut Random, tree: &TreeSpec, features: usize, failing: u64) -> Vec<f64> {
    let mut parent = vec![usize::MAX; tree.left.len()];
    let mut depth = vec![0; tree.left.len()];
    for node in 0..tree.left.len() {
        for child in [tree.left[node], tree.right[node]].into_iter().filter(|&child| child != -1) {
            parent[child as usize] = node;
            depth[child as usize] = depth[node] + 1;
        }
    }
    let mut row = random.row(features);
    let mut node = (0..depth.len()).max_by_key(|&node| depth[node]).unwrap();
    while parent[node] != usize::MAX {
        let split = parent[node];
        if !random.chance(failing) {
            row[tree.feature[split]] = if tree.left[split] == node as i64 { 0.0 } else { 1.0 };
        }
        node = split;
    }
    row
}

/// Returns the largest error of the values of one row, relative to the largest expected value.
fn worst(got: &[f64], expected: &[Fraction]) -> f64 {
    let expected: Vec<f64> = expected.iter().map(to_f64).collect();
    let largest = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(f64::abs).fold(0.0, f64::max);
    let error = largest(&mut got.iter().zip(&expected).map(|(got, expected)| got - expected));
    let scale = largest(&mut expected.iter().copied());
    if scale == 0.0 { error } else { error / scale }
}

/// Returns the nearest f64, or one of its neighbours.
fn to_f64(fraction: &Fraction) -> f64 {
    // Compute 64 bits of the quotient.
    let shift = 64 + fraction.denom().bits() as i64 - fraction.numer().bits() as i64;
    if *fraction.numer() == BigInt::from(0) {
        return 0.0;
    }
    let scaled = if shift >= 0 { fraction.numer() << shift } else { fraction.numer() >> -shift };
    let quotient = i128::try_from(scaled / fraction.denom()).unwrap() as f64;
    quotient * (-shift as f64).exp2()
}

/// Explains rows that fail a given percentage of the tests towards the deepest leaf, and compares their
/// values with exact arithmetic.
fn check(random: &mut Random, features: usize, depth: usize, zeros: u64, failing: &[u64]) {
    let semivalues = semivalues(features);
    let tree = vine(random, features, depth, zeros);
    let ensemble: Ensemble = read(&document(std::slice::from_ref(&tree), features, &[0.0])).unwrap();
    assert_eq!(ensemble.depth(), depth);
    let covers = tree.covers();
    let whole = |cover: f32| BigInt::from(cover as u64);
    for &failing in failing {
        let row = deep_row(random, &tree, features, failing);
        let background = deep_row(random, &tree, features, 40);
        let path_dependent = leaves(&tree, &row, |split, child| (whole(covers[child]), whole(covers[split])));
        let marginal = leaves(&tree, &row, |split, child| {
            let left = tree.goes_left(split, background[tree.feature[split]]);
            let passes = left == (tree.left[split] == child as i64);
            (BigInt::from(u64::from(passes)), BigInt::from(1))
        });
        let rows = Rows::new(&row, features);
        let tree_explainer = PathDependentTreeExplainer::new(&ensemble).unwrap();
        let twin = MarginalTreeExplainer::new(&ensemble, Rows::new(&background, features), None).unwrap();
        let expected = values(&path_dependent, features, &semivalues);
        let wanted_marginal = values(&marginal, features, &semivalues);
        for ((exact, expected), wanted_marginal) in semivalues.iter().zip(expected).zip(wanted_marginal) {
            let value = &exact.value;
            let error = worst(&tree_explainer.values(value.clone(), rows).unwrap().values, &expected);
            assert!(error < 1e-12, "path-dependent, {value}, depth {depth}, {failing} % fail: {error:e}");
            let error = worst(&twin.values(value.clone(), rows).unwrap().values, &wanted_marginal);
            assert!(error < 1e-12, "marginal, {value}, depth {depth}, {failing} % fail: {error:e}");
        }
    }
}

#[test]
fn values_on_trees_of_depth_24_are_right_to_twelve_digits() {
    for features in [10, 30] {
        check(&mut Random(31), features, 24, 0, &[0, 10, 60]);
    }
}

#[test]
fn values_on_a_tree_of_depth_200_are_right_to_twelve_digits() {
    check(&mut Random(32), 250, 200, 99, &[5]);
}

#[test]
fn values_in_groups_on_deep_trees_are_right_to_twelve_digits() {
    let random = &mut Random(33);
    let nobody = |_| fraction(0, 1);
    for (features, depth, groups) in [(12, 24, 4), (30, 24, 9), (30, 30, 20)] {
        let exact = semivalues(features);
        let never = ExactMoments::new(
            Semivalue::mixture(&[0.0], &[1.0]).unwrap(),
            std::iter::once(fraction(1, 1)).chain((1..features).map(nobody)).collect(),
        );
        let tree = vine(random, features, depth, 0);
        let ensemble: Ensemble = read(&document(std::slice::from_ref(&tree), features, &[0.0])).unwrap();
        let covers = tree.covers();
        let whole = |cover: f32| BigInt::from(cover as u64);
        let tree_explainer = PathDependentTreeExplainer::new(&ensemble).unwrap();
        let groups = random.partition(features, groups);
        for failing in [0, 15] {
            let row = deep_row(random, &tree, features, failing);
            let leaves = leaves(&tree, &row, |split, child| (whole(covers[child]), whole(covers[split])));
            for (between, within) in [
                (&exact[0], &exact[0]),
                (&exact[1], &exact[1]),
                (&exact[1], &exact[0]),
                (&exact[2], &exact[1]),
                (&never, &exact[0]),
                (&exact[0], &never),
            ] {
                let expected = values_in_groups(&leaves, &groups, (between, within));
                let value = CoalitionalValue { between: between.value.clone(), within: within.value.clone() };
                let value = Value::Coalitional(value, groups.clone());
                let got = tree_explainer.values_of(&value, Rows::new(&row, features)).unwrap();
                let error = worst(&got.values, &expected);
                assert!(error < 1e-12, "{value:?}, depth {depth}, {failing} % fail: {error:e}");
            }
        }
    }
}
