//! Compares measures of dependence with their definitions, and with the known dependence of distributions.

use apportion_games::{Purpose, Rows, stream};
use apportion_partitions::{Dependence, MIN_ROWS, PartitionsError};
use proptest::prelude::*;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::gamma::digamma;

const MEASURES: [Dependence; 5] = [
    Dependence::AbsoluteSpearman,
    Dependence::MutualInformation { bins: None },
    Dependence::MutualInformation { bins: Some(2) },
    Dependence::NearestNeighbours { neighbours: None, seed: 0 },
    Dependence::MaximalInformation,
];

/// Returns rows with the two columns `x` and `y`, row-major.
fn rows_of(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).flat_map(|(&x, &y)| [x, y]).collect()
}

fn of_two(measure: Dependence, x: &[f64], y: &[f64]) -> f64 {
    measure.matrix(Rows::new(&rows_of(x, y), 2)).unwrap().get(0, 1)
}

fn neighbours(k: usize) -> Dependence {
    Dependence::NearestNeighbours { neighbours: Some(k), seed: 0 }
}

fn bins(b: usize) -> Dependence {
    Dependence::MutualInformation { bins: Some(b) }
}

fn coefficient(information: f64) -> f64 {
    (1.0 - (-2.0 * information.max(0.0)).exp()).sqrt()
}

/// Draws two jointly standard normal columns with correlation `rho`.
fn normal_pair(rows: usize, rho: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
    (0..rows).map(|_| (draw(), draw())).map(|(a, b)| (a, rho * a + (1.0 - rho * rho).sqrt() * b)).unzip()
}

/// Splits alternating numbers into two columns.
fn columns(values: &[i32]) -> (Vec<f64>, Vec<f64>) {
    values.chunks_exact(2).map(|row| (f64::from(row[0]), f64::from(row[1]))).unzip()
}

/// Draws integers below `levels`, which have ties.
fn discrete_pair(rows: usize, levels: u32, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = stream(seed, Purpose::Experiment, 1);
    (0..rows)
        .map(|_| {
            let x = rng.random_range(0..levels);
            let y = if rng.random_bool(0.5) { x } else { rng.random_range(0..levels) };
            (f64::from(x), f64::from(y))
        })
        .unzip()
}

/// Computes mid-ranks by counting smaller and equal numbers.
fn mid_ranks(numbers: &[f64]) -> Vec<f64> {
    let rank = |number: &f64| {
        let below = numbers.iter().filter(|other| *other < number).count() as f64;
        let equal = numbers.iter().filter(|other| *other == number).count() as f64;
        below + (equal + 1.0) / 2.0
    };
    numbers.iter().map(rank).collect()
}

fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let rows = x.len() as f64;
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / rows, y.iter().sum::<f64>() / rows);
    let products = |a: &[f64], mean_a: f64, b: &[f64], mean_b: f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum()
    };
    let variances = products(x, mean_x, x, mean_x) * products(y, mean_y, y, mean_y);
    products(x, mean_x, y, mean_y) / variances.sqrt()
}

/// Computes mutual information in `bins` bins of equal frequency from entropies, with the correction of
/// Miller and Madow.
fn binned_information(x: &[f64], y: &[f64], bins: usize) -> f64 {
    let rows = x.len() as f64;
    let bin = |rank: &f64| ((rank - 0.5) * bins as f64 / rows).floor() as usize;
    let bins_of = |numbers: &[f64]| -> Vec<usize> { mid_ranks(numbers).iter().map(bin).collect() };
    let (x, y) = (bins_of(x), bins_of(y));
    let entropy = |cells: Vec<(usize, usize)>| {
        let mut counts = std::collections::BTreeMap::new();
        for cell in cells {
            *counts.entry(cell).or_insert(0.0) += 1.0;
        }
        let plain: f64 = counts.values().map(|count: &f64| -count / rows * (count / rows).ln()).sum();
        plain + (counts.len() as f64 - 1.0) / (2.0 * rows)
    };
    let pairs = |a: &[usize], b: &[usize]| a.iter().copied().zip(b.iter().copied()).collect();
    entropy(pairs(&x, &x)) + entropy(pairs(&y, &y)) - entropy(pairs(&x, &y))
}

/// Computes the estimator of Kraskov, Stögbauer and Grassberger from all distances of normal scores, for
/// columns without ties.
fn information_by_all_distances(x: &[f64], y: &[f64], k: usize) -> f64 {
    let rows = x.len();
    let normal = Normal::standard();
    let scores = |numbers: &[f64]| -> Vec<f64> {
        mid_ranks(numbers).iter().map(|rank| normal.inverse_cdf(rank / (rows as f64 + 1.0))).collect()
    };
    let (x, y) = (scores(x), scores(y));
    let mut sum = 0.0;
    for i in 0..rows {
        let others = || (0..rows).filter(|&j| j != i);
        let mut distances: Vec<f64> =
            others().map(|j| (x[i] - x[j]).abs().max((y[i] - y[j]).abs())).collect();
        distances.sort_by(f64::total_cmp);
        for coordinate in [&x, &y] {
            let nearer =
                others().filter(|&j| (coordinate[i] - coordinate[j]).abs() < distances[k - 1]).count();
            sum += digamma((nearer + 1) as f64);
        }
    }
    digamma(k as f64) + digamma(rows as f64) - sum / rows as f64
}

#[test]
fn spearman_is_the_correlation_of_mid_ranks() {
    for rows in [10, 11, 64, 301] {
        let seed = rows as u64;
        for (x, y) in
            [normal_pair(rows, -0.4, seed), discrete_pair(rows, 2, seed), discrete_pair(rows, 5, seed)]
        {
            let expected = correlation(&mid_ranks(&x), &mid_ranks(&y)).abs();
            assert!((of_two(Dependence::AbsoluteSpearman, &x, &y) - expected).abs() < 1e-13, "{rows} rows");
        }
    }
}

#[test]
fn information_in_bins_is_the_sum_of_corrected_entropies_of_the_bins() {
    for rows in [25, 100, 333] {
        for (x, y) in [normal_pair(rows, 0.7, 3), discrete_pair(rows, 3, 4), discrete_pair(rows, 40, 5)] {
            for b in [2, 3, 5] {
                let expected = coefficient(binned_information(&x, &y, b));
                assert!((of_two(bins(b), &x, &y) - expected).abs() < 1e-7, "{rows} rows, {b} bins");
            }
        }
    }
}

/// The default number of bins is the fourth root of the number of rows, rounded down, plus one. The default
/// number of neighbours is a fifth of the number of rows, and at most 20.
#[test]
fn bins_and_neighbours_go_by_the_number_of_rows_unless_told_otherwise() {
    for (by_rows, told, rows) in [
        (Dependence::mutual_information(), bins(2), 10),
        (Dependence::mutual_information(), bins(3), 80),
        (Dependence::mutual_information(), bins(4), 81),
        (Dependence::mutual_information(), bins(6), 1000),
        (Dependence::nearest_neighbours(), neighbours(2), 10),
        (Dependence::nearest_neighbours(), neighbours(10), 50),
        (Dependence::nearest_neighbours(), neighbours(20), 100),
        (Dependence::nearest_neighbours(), neighbours(20), 400),
    ] {
        let (x, y) = normal_pair(rows, 0.5, 6);
        assert_eq!(of_two(by_rows, &x, &y), of_two(told, &x, &y), "{told}, {rows} rows");
    }
}

#[test]
fn information_by_neighbours_is_that_by_all_distances() {
    for rows in [10, 53, 200] {
        for rho in [0.0, 0.5, 0.99] {
            let (x, y) = normal_pair(rows, rho, 7);
            for k in [1, 3, 9] {
                let expected = coefficient(information_by_all_distances(&x, &y, k));
                let off = (of_two(neighbours(k), &x, &y) - expected).abs();
                assert!(off < 1e-7, "{rows} rows, ρ = {rho}, k = {k}: {off} off {expected}");
            }
        }
    }
}

/// Returns the mean of `measure` over 30 normal pairs, and its standard error.
fn mean_over_normal_pairs(measure: Dependence, rows: usize, rho: f64) -> (f64, f64) {
    let found: Vec<f64> = (0..30)
        .map(|seed| {
            let (x, y) = normal_pair(rows, rho, 100 + seed);
            of_two(measure, &x, &y)
        })
        .collect();
    let mean = found.iter().sum::<f64>() / 30.0;
    let variance = found.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 29.0;
    (mean, (variance / 30.0).sqrt())
}

// The bounds are 4 standard errors, plus the bias at 2000 rows.
#[test]
fn the_dependence_of_normal_features_is_known() {
    for rho in [0.3_f64, 0.6, -0.9] {
        // Split at their medians, the features agree with probability ½ + asin(ρ)/π.
        let agree = 0.5 + rho.asin() / std::f64::consts::PI;
        let entropy = -agree * agree.ln() - (1.0 - agree) * (1.0 - agree).ln();
        let split = coefficient(std::f64::consts::LN_2 - entropy);
        let ranks = 6.0 / std::f64::consts::PI * (rho / 2.0).asin().abs();
        for (measure, expected, bias) in [
            // On the scale of Linfoot's coefficient, I = −½ ln(1 − ρ²) is |ρ|.
            (neighbours(5), rho.abs(), 0.01),
            (bins(2), split, 0.0),
            (Dependence::AbsoluteSpearman, ranks, 5e-4),
        ] {
            let (mean, error) = mean_over_normal_pairs(measure, 2000, rho);
            let off = (mean - expected).abs();
            assert!(off < 4.0 * error + bias, "{measure}, ρ = {rho}: {mean} ± {error}, not {expected}");
        }
    }
}

// The features are a binary feature and a copy whose values are flipped with probability p. Their mutual
// information is I = ln 2 − H(p), for binned estimates and, with ties in random order, for nearest-neighbour
// estimates. The bound is 0.03, about 3 standard errors of an estimate with 4000 rows.
#[test]
fn ties_do_not_change_information() {
    let mut rng = stream(9, Purpose::Experiment, 0);
    let p = 0.1_f64;
    let (x, y): (Vec<f64>, Vec<f64>) = (0..4000)
        .map(|_| {
            let sent = rng.random_bool(0.5);
            (f64::from(u8::from(sent)), f64::from(u8::from(sent != rng.random_bool(p))))
        })
        .unzip();
    let expected = coefficient(std::f64::consts::LN_2 + p * p.ln() + (1.0 - p) * (1.0 - p).ln());
    for measure in [bins(2), bins(7), neighbours(5)] {
        let got = of_two(measure, &x, &y);
        assert!((got - expected).abs() < 0.03, "{measure}: {got} is not {expected}");
    }
}

#[test]
fn measures_that_see_any_dependence_see_a_parabola_and_spearman_does_not() {
    let x: Vec<f64> = (0..401).map(|row| f64::from(row) - 200.0).collect();
    let y: Vec<f64> = x.iter().map(|x| x * x).collect();
    assert!(of_two(Dependence::AbsoluteSpearman, &x, &y) < 1e-12);
    assert!(of_two(Dependence::mutual_information(), &x, &y) > 0.8);
    assert!(of_two(neighbours(3), &x, &y) > 0.99);
}

#[test]
fn a_feature_depends_wholly_on_itself_and_on_its_negative() {
    let (x, _) = normal_pair(500, 0.0, 10);
    let negative: Vec<f64> = x.iter().map(|x| -x).collect();
    for y in [&x, &negative] {
        assert_eq!(of_two(Dependence::AbsoluteSpearman, &x, y), 1.0);
        // Without the correction, the maximum for b bins is √(1 − 1/b²).
        assert!(of_two(bins(10), &x, y) > 0.99);
        assert!(of_two(neighbours(3), &x, y) > 0.999);
    }
}

/// Computes the example in the documentation of minepy 1.2, which prints 0.505716693417 (and
/// 0.50571669341737124 in version 0.3). The noise is NumPy's `RandomState(0).uniform(-1, 1, 1000)`.
#[test]
fn the_maximal_information_coefficient_is_the_published_one() {
    let noise: Vec<f64> =
        include_str!("../fixtures/uniform_noise.txt").lines().map(|line| line.parse().unwrap()).collect();
    let x: Vec<f64> = (0..1000).map(|row| f64::from(row) / 999.0).collect();
    let y: Vec<f64> = x.iter().map(|x| (10.0 * std::f64::consts::PI * x).sin() + x).collect();
    assert!((of_two(Dependence::MaximalInformation, &x, &y) - 1.0).abs() < 1e-12);
    let noisy: Vec<f64> = y.iter().zip(noise).map(|(y, noise)| y + noise).collect();
    let found = of_two(Dependence::MaximalInformation, &x, &noisy);
    assert!((found - 0.505_716_693_417_371_2).abs() < 1e-13, "{found}");
}

#[test]
fn a_constant_feature_depends_on_nothing() {
    let (x, _) = normal_pair(100, 0.0, 11);
    let constant = vec![3.5; 100];
    let mut constant_where_whole = x.clone();
    constant_where_whole[..40].fill(1.0);
    let mut x_with_gaps = x.clone();
    x_with_gaps[40..].fill(f64::NAN);
    for measure in MEASURES {
        assert_eq!(of_two(measure, &x, &constant), 0.0);
        assert_eq!(of_two(measure, &constant, &constant), 0.0);
        assert_eq!(of_two(measure, &constant_where_whole, &x_with_gaps), 0.0);
    }
}

#[test]
fn each_pair_is_measured_on_the_rows_that_have_both() {
    let (mut x, mut y) = normal_pair(120, 0.6, 12);
    let (z, _) = normal_pair(120, 0.0, 13);
    x[..30].fill(f64::NAN);
    y[20..50].fill(f64::NAN);
    let values: Vec<f64> = (0..120).flat_map(|row| [x[row], y[row], z[row]]).collect();
    for measure in MEASURES {
        let matrix = measure.matrix(Rows::new(&values, 3)).unwrap();
        assert_eq!(matrix.get(0, 1), of_two(measure, &x[50..], &y[50..]), "{measure}");
        assert_eq!(matrix.get(0, 2), of_two(measure, &x[30..], &z[30..]), "{measure}");
    }
}

#[test]
fn pairs_with_too_few_common_rows_are_refused() {
    let mut values = vec![0.0; 3 * 20];
    for (row, numbers) in values.chunks_exact_mut(3).enumerate() {
        numbers.copy_from_slice(&[row as f64, row as f64, row as f64]);
        numbers[if row < 11 { 2 } else { 1 }] = f64::NAN;
    }
    let expected = PartitionsError::TooFewRows { first: 0, second: 2, complete: 9, min: MIN_ROWS };
    for measure in MEASURES {
        assert_eq!(measure.matrix(Rows::new(&values, 3)).unwrap_err(), expected);
        assert!(matches!(
            measure.matrix(Rows::new(&[], 2)).unwrap_err(),
            PartitionsError::TooFewRows { complete: 0, .. }
        ));
    }
}

#[test]
fn infinite_numbers_are_refused() {
    let mut values = vec![1.0; 40];
    values[33] = f64::NEG_INFINITY;
    let expected = PartitionsError::Infinite { row: 16, column: 1, value: f64::NEG_INFINITY };
    assert_eq!(Dependence::AbsoluteSpearman.matrix(Rows::new(&values, 2)).unwrap_err(), expected);
}

#[test]
fn bins_and_neighbours_that_the_rows_do_not_allow_are_refused() {
    let (x, y) = normal_pair(100, 0.0, 14);
    let values = rows_of(&x, &y);
    let refused = |measure: Dependence| measure.matrix(Rows::new(&values, 2)).unwrap_err();
    for given in [0, 1, 11] {
        assert_eq!(refused(bins(given)), PartitionsError::Bins { actual: given, max: 10, rows: 100 });
    }
    for given in [0, 100] {
        assert_eq!(refused(neighbours(given)), PartitionsError::Neighbours { actual: given, rows: 100 });
    }
    assert!(bins(10).matrix(Rows::new(&values, 2)).is_ok());
    assert!(neighbours(99).matrix(Rows::new(&values, 2)).is_ok());
}

#[test]
fn one_feature_has_a_matrix_without_pairs() {
    for measure in MEASURES {
        let matrix = measure.matrix(Rows::new(&[1.0, f64::NAN, 2.0], 1)).unwrap();
        assert_eq!((matrix.features(), matrix.values(), matrix.get(0, 0)), (1, &[][..], 1.0));
        assert_eq!(matrix.critical_value(0.05).unwrap(), 0.0);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mut rng = stream(15, Purpose::Experiment, 0);
    let values: Vec<f64> = (0..70 * 60).map(|_| f64::from(rng.next_u32() % 50)).collect();
    let rows = Rows::new(&values, 70);
    for measure in MEASURES {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let matrix = measure.matrix(rows).unwrap();
                let critical = matrix.critical_value(0.05).unwrap();
                (matrix, critical)
            })
        };
        assert_eq!(on(1), on(3));
    }
}

#[test]
fn matrices_store_the_upper_triangle_row_by_row() {
    let mut rng = stream(16, Purpose::Experiment, 0);
    for features in [2, 3, 70, 130] {
        let values: Vec<f64> = (0..features * 12).map(|_| rng.random()).collect();
        let matrix = Dependence::AbsoluteSpearman.matrix(Rows::new(&values, features)).unwrap();
        let column =
            |feature: usize| -> Vec<f64> { (0..12).map(|row| values[row * features + feature]).collect() };
        let mut stored = matrix.values().iter();
        for first in 0..features {
            for second in first + 1..features {
                let expected = of_two(Dependence::AbsoluteSpearman, &column(first), &column(second));
                assert_eq!((matrix.get(first, second), matrix.get(second, first)), (expected, expected));
                assert_eq!(stored.next(), Some(&expected));
            }
        }
        assert_eq!(stored.next(), None);
    }
}

// Stored groups are identified by their data and seed. If these numbers change, the groups may change
// although data and seed are the same.
#[test]
fn estimates_with_ties_in_random_order_are_fixed() {
    let (x, y) = discrete_pair(200, 4, 17);
    let values = rows_of(&x, &y);
    let matrix = |seed| {
        let measure = Dependence::NearestNeighbours { neighbours: Some(5), seed };
        measure.matrix(Rows::new(&values, 2)).unwrap()
    };
    let rounded = |value: f64| (value * 1e6).round() / 1e6;
    let found =
        [matrix(0).get(0, 1), matrix(1).get(0, 1), matrix(0).critical_value(0.05).unwrap()].map(rounded);
    assert_eq!(found, [0.699964, 0.609934, 0.344488]);
}

#[test]
fn names_of_measures_are_read_as_they_are_written() {
    for measure in MEASURES.into_iter().chain([neighbours(7)]) {
        assert_eq!(measure.to_string().parse::<Dependence>().unwrap(), measure);
    }
    assert_eq!("nearest-neighbours=7".parse::<Dependence>().unwrap(), neighbours(7));
    for wrong in ["pearson", "mutual-information=", "nearest-neighbours=x", "spearman=1"] {
        assert!(matches!(wrong.parse::<Dependence>(), Err(PartitionsError::UnknownName { .. })), "{wrong}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn increasing_maps_change_nothing(
        values in prop::collection::vec(-20_i32..20, 2 * 30..2 * 60),
        scale in 0.1_f64..5.0,
    ) {
        let (x, y) = columns(&values);
        let mapped: Vec<f64> = x.iter().map(|x| (x * scale / 10.0).exp() - 3.0).collect();
        for measure in MEASURES {
            prop_assert_eq!(of_two(measure, &mapped, &y), of_two(measure, &x, &y));
        }
        let falling: Vec<f64> = y.iter().map(|y| -y.powi(3)).collect();
        let spearman = Dependence::AbsoluteSpearman;
        prop_assert!((of_two(spearman, &x, &falling) - of_two(spearman, &x, &y)).abs() < 1e-15);
    }

    #[test]
    fn dependence_lies_in_the_unit_interval_whichever_feature_comes_first(
        values in prop::collection::vec(-6_i32..6, 2 * 10..2 * 40),
    ) {
        let (x, y) = columns(&values);
        for measure in MEASURES {
            let (one, other) = (of_two(measure, &x, &y), of_two(measure, &y, &x));
            prop_assert!((0.0..=1.0).contains(&one) && (0.0..=1.0).contains(&other), "{one}, {other}");
            // The random order of ties depends on the index of the column, so nearest-neighbour estimates may
            // differ if there are ties.
            if !matches!(measure, Dependence::NearestNeighbours { .. }) {
                prop_assert!((one - other).abs() < 1e-7);
            }
        }
    }
}
