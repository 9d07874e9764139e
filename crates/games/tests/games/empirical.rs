//! Tests of the empirical distribution: ties, the order of the data, bandwidths by AICc, and agreement with
//! the R package shapr.

use apportion_games::{
    Coalition, Coalitions, ConditionalDistribution, ConditionalGame, EmpiricalDistribution, GameError,
    Purpose, Rows, stream,
};
use proptest::prelude::*;
use rand::RngExt;

use crate::common::{all_coalitions, assert_close, in_pools, values};

fn curved(row: &[f64]) -> f64 {
    row.iter().enumerate().map(|(i, x)| (x * (1.0 + i as f64 / 3.0)).sin()).sum::<f64>()
        + row[0] * row[row.len() - 1]
}

fn played(distribution: &dyn ConditionalDistribution, explicand: &[f64]) -> Vec<f64> {
    let game = ConditionalGame::new(&curved, explicand, distribution).unwrap();
    values(&game, &all_coalitions(explicand.len()))
}

fn permuted(data: &[f64], n: usize, order: &[usize]) -> Vec<f64> {
    order.iter().flat_map(|&row| &data[row * n..(row + 1) * n]).copied().collect()
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Uses rows with few distinct values, so that most coalitions have ties where the rows reach the share.
    #[test]
    fn values_have_the_same_bits_in_any_order_of_the_data(
        (n, data, order) in (1usize..5, 6usize..30).prop_flat_map(|(n, rows)| (
            Just(n),
            prop::collection::vec(prop::sample::select(vec![0.0, 0.1, 1.0, 2.5, -0.7]), n * rows),
            Just((0..rows).collect::<Vec<_>>()).prop_shuffle(),
        )),
        share in 0.3f64..1.0,
        most in 1usize..12,
        bandwidth in prop::sample::select(vec![0.1, 1.0, 30.0]),
        weights in prop::collection::vec(0.0f64..3.0, 30),
    ) {
        let rows = data.len() / n;
        let weights: Vec<f64> = weights[..rows].iter().map(|weight| weight + 0.01).collect();
        let explicand = data[..n].to_vec();
        let model = curved;
        let play = |data: &[f64], weights: &[f64]| {
            let rows = Rows::new(data, n);
            let distribution = EmpiricalDistribution::fit(rows).unwrap();
            let distribution = distribution.with_share(share).unwrap().with_bandwidth(bandwidth).unwrap();
            let limited = distribution.clone().with_max_rows(most).unwrap();
            let weighted =
                EmpiricalDistribution::fit_weighted(rows, weights).unwrap().with_share(share).unwrap();
            let adapted = distribution.clone().with_bandwidths_by_aicc(&model).unwrap();
            [&distribution as &dyn ConditionalDistribution, &limited, &weighted, &adapted]
                .map(|distribution| bits(&played(distribution, &explicand)))
        };
        let shuffled: Vec<f64> = order.iter().map(|&row| weights[row]).collect();
        prop_assert_eq!(play(&data, &weights), play(&permuted(&data, n, &order), &shuffled));
    }
}

/// Returns the synthetic rows of a coalition, and their weights.
fn synthetic(
    distribution: &EmpiricalDistribution,
    explicand: &[f64],
    coalition: &Coalition,
) -> (Vec<f64>, Vec<f64>) {
    let rows = distribution.condition(explicand, coalition.view()).unwrap();
    let mut values = Vec::new();
    rows.append(0..rows.weights().len(), &mut values);
    (values, rows.weights().to_vec())
}

#[test]
fn rows_as_far_as_the_last_that_is_kept_are_kept() {
    // Forty rows match the explicand's category and differ in the second feature.
    let data: Vec<f64> = (0..60).flat_map(|i| [f64::from(u8::from(i >= 40)), f64::from(i)]).collect();
    let distribution = EmpiricalDistribution::fit(Rows::new(&data, 2)).unwrap();
    let category = Coalition::from_members(2, [0]);
    let (_, weights) = synthetic(&distribution, &[0.0, 7.0], &category);
    assert_eq!(weights, [1.0 / 40.0; 40]);
    let model = |row: &[f64]| row[1];
    let game = ConditionalGame::new(&model, &[0.0, 7.0], &distribution).unwrap();
    let batch = Coalitions::from_masks(2, [0b01]);
    assert!((values(&game, &batch)[0] - 19.5).abs() < 1e-12);
    // With a limit below the number of ties, ten of the tied rows are selected, spread over all of them.
    let limited = distribution.with_max_rows(10).unwrap();
    let (rows, weights) = synthetic(&limited, &[0.0, 7.0], &category);
    assert!(weights.iter().all(|weight| (weight - 0.1).abs() < 1e-15), "{weights:?}");
    let seconds: Vec<f64> = rows.chunks(2).map(|row| row[1]).collect();
    assert_eq!(seconds, [2.0, 6.0, 10.0, 14.0, 18.0, 22.0, 26.0, 30.0, 34.0, 38.0]);
    assert_eq!(limited.draws(), 10);
}

#[test]
fn a_constant_feature_leaves_all_rows_as_near() {
    let data: Vec<f64> = (0..20).flat_map(|i| [3.0, f64::from(i)]).collect();
    for distribution in [
        EmpiricalDistribution::fit(Rows::new(&data, 2)),
        EmpiricalDistribution::as_in_shapr(Rows::new(&data, 2)),
    ] {
        let distribution = distribution.unwrap().with_share(1.0).unwrap();
        let (_, weights) = synthetic(&distribution, &[9.0, 1.0], &Coalition::from_members(2, [0]));
        assert_eq!(weights, [0.05; 20]);
    }
}

#[test]
fn rows_on_both_sides_of_the_explicand_are_ties() {
    // The distances on the two sides differ only by rounding.
    let data: Vec<f64> = (0..41).flat_map(|i| [f64::from(i) * 0.1, f64::from(i * i % 7)]).collect();
    for share in [0.05, 0.2, 0.5, 0.9] {
        let distribution =
            EmpiricalDistribution::fit(Rows::new(&data, 2)).unwrap().with_share(share).unwrap();
        let distribution = distribution.with_bandwidth(1.0).unwrap();
        let (rows, _) = synthetic(&distribution, &[2.0, 0.0], &Coalition::from_members(2, [1]));
        assert!(rows.len() >= 2);
        let (rows, weights) = synthetic(&distribution, &[20.0 * 0.1, 0.0], &Coalition::from_members(2, [0]));
        assert_eq!(rows.len() / 2 % 2, 1, "{share}: the middle and pairs about it, not {}", weights.len());
    }
}

// ---- Bandwidths by AICc ----

/// Computes the AICc of a bandwidth by definition, for one output and one present feature.
fn criterion(
    data: &[f64],
    n: usize,
    explicand: &[f64],
    coalition: &Coalition,
    bandwidth: f64,
    power: i32,
) -> f64 {
    let rows: Vec<&[f64]> = data.chunks(n).collect();
    let count = rows.len() as f64;
    let present: Vec<usize> = coalition.view().members().collect();
    // For a single present feature, Σ_SS is its variance.
    assert_eq!(present.len(), 1);
    let j = present[0];
    let mean = rows.iter().map(|row| row[j]).sum::<f64>() / count;
    let variance = rows.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let y: Vec<f64> = rows
        .iter()
        .map(|row| {
            let mut row = row.to_vec();
            row[j] = explicand[j];
            curved(&row)
        })
        .collect();
    let scale = f64::from(present.len() as i32).powi(power);
    let (mut squares, mut trace) = (0.0, 0.0);
    for (r, row) in rows.iter().enumerate() {
        let weights: Vec<f64> = rows
            .iter()
            .map(|other| {
                (-(row[j] - other[j]).powi(2) / variance / scale / (2.0 * bandwidth * bandwidth)).exp()
            })
            .collect();
        let total: f64 = weights.iter().sum();
        let fit: f64 = weights.iter().zip(&y).map(|(weight, y)| weight * y).sum::<f64>() / total;
        squares += (y[r] - fit).powi(2);
        trace += weights[r] / total;
    }
    if trace + 2.0 >= count {
        return f64::INFINITY;
    }
    (squares / count).ln() + (1.0 + trace / count) / (1.0 - (trace + 2.0) / count)
}

#[test]
fn the_bandwidth_is_the_least_of_the_criterion() {
    let mut rng = stream(2026, Purpose::Experiment, 300);
    for rows in [4, 9, 60] {
        let n = 3;
        let shared: Vec<f64> = (0..rows).map(|_| rng.random_range(-2.0..2.0)).collect();
        let data: Vec<f64> = (0..n * rows).map(|i| shared[i / n] + rng.random_range(-1.0..1.0)).collect();
        let explicand = [0.3, -0.8, 0.5];
        let model = curved;
        let distribution =
            EmpiricalDistribution::fit(Rows::new(&data, n)).unwrap().with_bandwidths_by_aicc(&model).unwrap();
        for j in 0..n {
            let coalition = Coalition::from_members(n, [j]);
            let chosen = distribution.bandwidth(&explicand, coalition.view()).unwrap();
            let of = |bandwidth| criterion(&data, n, &explicand, &coalition, bandwidth, 1);
            let least =
                (0..400).map(|i| of(10f64.powf(-2.0 + f64::from(i) / 100.0))).fold(f64::INFINITY, f64::min);
            assert!(of(chosen) <= least + 1e-3 * least.abs(), "{rows} rows, {j}: {} for {least}", of(chosen));
            assert!(
                of(chosen) <= of(chosen * 0.999) + 1e-9 && of(chosen) <= of(chosen * 1.001) + 1e-9
                    || chosen > 99.9
            );
            // The weights must equal those of a distribution with this bandwidth.
            let fixed = distribution_of(&data, n, chosen);
            let got = distribution.condition(&explicand, coalition.view()).unwrap().weights().to_vec();
            assert_eq!(got, fixed.condition(&explicand, coalition.view()).unwrap().weights());
        }
    }
}

fn distribution_of(data: &[f64], n: usize, bandwidth: f64) -> EmpiricalDistribution {
    EmpiricalDistribution::fit(Rows::new(data, n)).unwrap().with_bandwidth(bandwidth).unwrap()
}

#[test]
fn a_model_that_reads_no_absent_feature_keeps_the_bandwidth_and_bad_models_are_refused() {
    let data: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 40)).collect();
    let first = |row: &[f64]| 3.0 * row[0] + 0.1;
    let distribution = distribution_of(&data, 2, 0.3).with_bandwidths_by_aicc(&first).unwrap();
    assert_eq!(distribution.bandwidth(&[1.0, 2.0], Coalition::from_members(2, [0]).view()).unwrap(), 0.3);
    assert_ne!(distribution.bandwidth(&[1.0, 2.0], Coalition::from_members(2, [1]).view()).unwrap(), 0.3);
    let bad = |row: &[f64]| if row[0] > 20.0 { f64::NAN } else { 0.0 };
    let distribution = distribution_of(&data, 2, 0.3).with_bandwidths_by_aicc(&bad).unwrap();
    let refused = distribution.bandwidth(&[1.0, 2.0], Coalition::from_members(2, [1]).view());
    assert!(matches!(refused, Err(GameError::NotFinite { output: 0, .. })));
    let many = vec![0.5; 4002];
    let refused = distribution_of(&many, 2, 0.3).with_bandwidths_by_aicc(&first).unwrap_err().to_string();
    assert!(refused.contains("at most 2000 rows, got 2001"), "{refused}");
    let few =
        distribution_of(&[0.0, 1.0, 2.0], 1, 0.3).with_bandwidths_by_aicc(&first).unwrap_err().to_string();
    assert!(few.contains("at least 4 rows"), "{few}");
}

#[test]
fn bandwidths_of_several_outputs_do_not_depend_on_threads() {
    let mut rng = stream(2026, Purpose::Experiment, 301);
    let data: Vec<f64> = (0..4 * 50).map(|_| rng.random_range(-1.0..1.0)).collect();
    let model = apportion_games::batch_model(2, |rows: Rows<'_>| {
        Ok(rows.iter().flat_map(|row| [curved(row), row[1].exp()]).collect::<Vec<_>>())
    });
    let distribution = distribution_of(&data, 4, 0.1).with_bandwidths_by_aicc(&model).unwrap();
    let game = ConditionalGame::new(&model, &[0.1, 0.2, 0.3, 0.4], &distribution).unwrap();
    let [one, two, three] = in_pools(|| bits(&values(&game, &all_coalitions(4))));
    assert!(one == two && two == three);
}

// ---- shapr ----

/// The rows of R's `airquality` without missing values, shuffled as in the tests of shapr (1.0.9, commit
/// 49b8426). The last three rows are the explicands, the others the training data.
const AIR_QUALITY: &str = include_str!("../fixtures/airquality.csv");

/// The values v(S) for the three explicands, from `tests/testthat/_snaps/regular-output` of shapr: for a
/// linear model of the ozone and each `empirical.type`.
const SNAPSHOTS: &str = include_str!("../fixtures/shapr_empirical.csv");

/// The coefficients of the least-squares regression of Ozone on a constant and the other columns, for all 111
/// rows.
const COEFFICIENTS: [f64; 6] = [
    -64.116_321_103_344,
    0.050_274_318_783,
    -3.318_443_861_677,
    1.895_786_416_987,
    -3.039_956_640_774,
    0.273_877_521_152,
];

fn snapshots(kind: &str) -> impl Iterator<Item = (u64, [f64; 3])> {
    SNAPSHOTS.lines().skip(1).filter_map(move |line| {
        let cells: Vec<&str> = line.split(',').collect();
        let value = |cell: usize| cells[cell].parse().unwrap();
        (cells[0] == kind).then(|| (cells[1].parse().unwrap(), [value(2), value(3), value(4)]))
    })
}

fn ozone(row: &[f64]) -> f64 {
    COEFFICIENTS[0] + row.iter().zip(&COEFFICIENTS[1..]).map(|(x, c)| x * c).sum::<f64>()
}

/// Returns the training data of shapr's tests, and the three explicands.
fn air_quality() -> (Vec<f64>, Vec<f64>) {
    let cells = AIR_QUALITY.lines().skip(1).flat_map(|line| line.split(',').skip(1));
    let mut rows: Vec<f64> = cells.map(|cell| cell.parse().unwrap()).collect();
    let explained = rows.split_off(108 * 5);
    (rows, explained)
}

/// Returns the largest difference from shapr's snapshots for `kind`, over coalitions of 1 to `most_features`
/// features.
fn off(kind: &str, distribution: &dyn ConditionalDistribution, most_features: u32) -> f64 {
    let (_, explained) = air_quality();
    let mut most = 0.0_f64;
    for (explicand, row) in explained.chunks(5).enumerate() {
        let game = ConditionalGame::new(&ozone, row, distribution).unwrap();
        let inner = |(mask, _): &(u64, [f64; 3])| (1..=most_features).contains(&mask.count_ones());
        let (masks, expected): (Vec<u64>, Vec<[f64; 3]>) = snapshots(kind).filter(inner).unzip();
        let got = values(&game, &Coalitions::from_masks(5, masks));
        let differences = got.iter().zip(&expected).map(|(got, expected)| (got - expected[explicand]).abs());
        most = most.max(differences.fold(0.0, f64::max));
    }
    most
}

#[test]
fn fixed_sigma_of_shapr_has_the_numbers_of_its_snapshot() {
    let (data, explained) = air_quality();
    let distribution =
        EmpiricalDistribution::as_in_shapr(Rows::new(&data, 5)).unwrap().with_max_rows(1000).unwrap();
    assert!(off("fixed_sigma", &distribution, 5) < 1e-9, "{}", off("fixed_sigma", &distribution, 5));
    // Compare with the Shapley values that shapr prints; its v(∅) is the mean of the ozone.
    let game = ConditionalGame::new(&ozone, &explained[..5], &distribution).unwrap();
    let mut table = values(&game, &all_coalitions(5));
    table[0] = 42.444_444_444_444_44;
    let weight = |size: usize| [1.0 / 5.0, 1.0 / 20.0, 1.0 / 30.0, 1.0 / 20.0, 1.0 / 5.0][size];
    let shapley = |player: usize| -> f64 {
        let without = (0..32usize).filter(|mask| mask >> player & 1 == 0);
        without
            .map(|mask| weight(mask.count_ones() as usize) * (table[mask | 1 << player] - table[mask]))
            .sum()
    };
    for (player, printed) in [-13.252, 15.541, 12.826, -5.77179, 3.259].into_iter().enumerate() {
        assert!((shapley(player) - printed).abs() < 6e-4, "{player}: {}", shapley(player));
    }
}

#[test]
fn independence_of_shapr_is_the_marginal_game() {
    let (data, _) = air_quality();
    let wide = EmpiricalDistribution::as_in_shapr(Rows::new(&data, 5)).unwrap();
    let wide = wide.with_share(1.0).unwrap().with_bandwidth(1e9).unwrap();
    assert!(off("independence", &wide, 5) < 1e-9);
}

/// If shapr's search ends before its limit of 20 steps, the values agree to 1e-6. For coalitions of four of
/// the five features, the search reaches this limit, and the values differ by up to 0.003. (Its `AICc_each_k`
/// has the same snapshot, because its batches contain one coalition each.)
#[test]
fn aicc_full_of_shapr_has_the_numbers_of_its_snapshot() {
    let (data, _) = air_quality();
    let distribution = EmpiricalDistribution::as_in_shapr(Rows::new(&data, 5)).unwrap();
    let distribution = distribution.with_bandwidths_by_aicc(&ozone).unwrap();
    let (up_to_three, all) = (off("AICc_full", &distribution, 3), off("AICc_full", &distribution, 5));
    assert!(up_to_three < 1e-6, "{up_to_three}");
    assert!(all < 4e-3, "{all}");
}

#[test]
fn the_paper_and_shapr_differ_where_they_say() {
    let (data, _) = air_quality();
    let rows = Rows::new(&data, 5);
    assert!(off("fixed_sigma", &EmpiricalDistribution::fit(rows).unwrap(), 5) > 0.1);
    // With one present feature, the divisors of the paper and of shapr agree; with a share of 1, both use all
    // rows, so ties do not matter.
    let (paper, shapr) =
        (EmpiricalDistribution::fit(rows).unwrap(), EmpiricalDistribution::as_in_shapr(rows).unwrap());
    let (paper, shapr) = (paper.with_share(1.0).unwrap(), shapr.with_share(1.0).unwrap());
    let (_, explained) = air_quality();
    let batch = Coalitions::from_masks(5, [1, 2, 4, 8, 16]);
    let play = |distribution: &EmpiricalDistribution| {
        values(&ConditionalGame::new(&ozone, &explained[..5], distribution).unwrap(), &batch)
    };
    assert_close(&play(&paper), &play(&shapr), 1e-12, "one feature");
}
