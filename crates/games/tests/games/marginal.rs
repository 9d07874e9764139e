//! Tests the marginal game against its definition, and checks its errors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use apportion_games::{
    Background, BoxError, Changes, Coalition, CoalitionView, Coalitions, Game, GameError, MarginalGame,
    Model, NearReference, Purpose, Rows, batch_model, stream,
};
use rand::Rng;

use crate::common::{all_coalitions, assert_close, in_pools, one_by_one, values};

/// Draws a number in [−1, 1).
fn draw(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn random_row(rng: &mut impl Rng, columns: usize) -> Vec<f64> {
    (0..columns).map(|_| draw(rng)).collect()
}

/// Returns `count` coalitions: the empty and the grand coalition, then random ones.
fn random_coalitions(rng: &mut impl Rng, players: usize, count: usize) -> Coalitions {
    let mut batch = Coalitions::with_capacity(players, count);
    batch.push_empty();
    batch.push_full();
    while batch.len() < count {
        let members: Vec<usize> = (0..players).filter(|_| draw(rng) < 0.0).collect();
        batch.push_members(members);
    }
    batch.slice(0..count)
}

/// Returns two outputs that are not additive in the features.
fn two_outputs(row: &[f64]) -> [f64; 2] {
    let sum: f64 = row.iter().sum();
    let alternating: f64 = row.iter().zip(1..).map(|(x, i)| x * f64::from(i)).sum();
    [sum.sin(), (alternating * 0.1).tanh() + sum * sum]
}

fn smooth_model() -> impl Model {
    batch_model(2, |rows: Rows<'_>| Ok(rows.iter().flat_map(two_outputs).collect()))
}

/// Returns the values of all coalitions in the marginal game of an explicand with a single baseline.
fn against_baseline(model: &impl Model, explicand: &[f64], baseline: &[f64]) -> Result<Vec<f64>, GameError> {
    let background = Background::baseline(baseline)?;
    let game = MarginalGame::new(model, explicand, &background)?;
    let mut out = vec![0.0; game.outputs() << game.players()];
    game.values(&all_coalitions(game.players()), &mut out).map(|()| out)
}

/// Returns `row` with the explicand's values for the present players.
fn synthetic(explicand: &[f64], row: &[f64], coalition: CoalitionView<'_>) -> Vec<f64> {
    (0..row.len()).map(|j| if coalition.contains(j) { explicand[j] } else { row[j] }).collect()
}

/// Returns the coalition values by definition, slowly.
fn by_definition(explicand: &[f64], background: &Background, batch: &Coalitions) -> Vec<f64> {
    let mut out = Vec::new();
    for coalition in batch.iter() {
        let mut sums = [0.0; 2];
        for (row, weight) in background.as_rows().iter().zip(background.weights()) {
            for (sum, output) in sums.iter_mut().zip(two_outputs(&synthetic(explicand, row, coalition))) {
                *sum += weight * output;
            }
        }
        out.extend(sums);
    }
    out
}

#[test]
fn values_are_the_weighted_mean_over_the_background() {
    let mut rng = stream(1, Purpose::Experiment, 0);
    for columns in [1, 2, 3, 8, 65, 130] {
        // Use a single row, then numbers of rows that fill part of a chunk, a whole chunk, and several
        // chunks.
        for rows in [1, 2, 5, 63, 64, 65, 300] {
            let weights: Vec<f64> = (0..rows).map(|_| draw(&mut rng) + 1.0).collect();
            let background = Background::rows(random_row(&mut rng, rows * columns), columns)
                .unwrap()
                .with_weights(&weights)
                .unwrap();
            let explicand = random_row(&mut rng, columns);
            let model = smooth_model();
            let game = MarginalGame::new(&model, &explicand, &background).unwrap();
            let batch = random_coalitions(&mut rng, columns, 70);
            let wanted = by_definition(&explicand, &background, &batch);
            assert_close(&values(&game, &batch), &wanted, 1e-13, &format!("{columns} columns, {rows} rows"));
        }
    }
}

#[test]
fn a_value_has_the_same_bits_whatever_else_is_in_the_batch_and_however_many_threads() {
    let mut rng = stream(2, Purpose::Experiment, 0);
    for rows in [1, 7, 100, 200] {
        let background = Background::rows(random_row(&mut rng, rows * 9), 9).unwrap();
        let explicand = random_row(&mut rng, 9);
        let batch = random_coalitions(&mut rng, 9, 50);
        let model = smooth_model();
        let game = MarginalGame::new(&model, &explicand, &background).unwrap();
        let together = values(&game, &batch);
        assert_eq!(together, one_by_one(&game, &batch), "{rows} rows");
        for pooled in in_pools(|| values(&game, &batch)) {
            assert_eq!(pooled, together, "{rows} rows");
        }
        // A serial model is evaluated in larger chunks, which must not change the values.
        let serial =
            batch_model(2, |rows: Rows<'_>| Ok(rows.iter().flat_map(two_outputs).collect())).serial();
        let game = MarginalGame::new(&serial, &explicand, &background).unwrap();
        assert_eq!(values(&game, &batch), together, "{rows} rows, serial");
    }
}

#[test]
fn a_baseline_game_is_the_prediction_of_the_synthetic_row() {
    let digits = |row: &[f64]| row.iter().fold(0.0, |number, digit| number * 10.0 + digit);
    let got = against_baseline(&digits, &[7.0, 8.0, 9.0], &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(got, [123.0, 723.0, 183.0, 783.0, 129.0, 729.0, 189.0, 789.0]);
    let background = Background::baseline([1.0, 2.0, 3.0]).unwrap();
    let game = MarginalGame::new(&digits, &[7.0, 8.0, 9.0], &background).unwrap();
    assert_eq!(game.rows_per_coalition(), 1);
}

#[test]
fn missing_values_reach_the_model_as_they_are() {
    let model = |row: &[f64]| row.iter().filter(|value| value.is_nan()).count() as f64;
    let got = against_baseline(&model, &[1.0, f64::NAN, f64::NAN], &[f64::NAN, 0.0, f64::NAN]).unwrap();
    assert_eq!(got[..4], [2.0, 1.0, 3.0, 2.0]);
}

/// A model that records the number of cells of the largest batch, and the number of overlapping calls.
struct Watched {
    largest: AtomicUsize,
    inside: Mutex<()>,
    overlapped: AtomicUsize,
    parallel: bool,
}

impl Watched {
    fn new(parallel: bool) -> Self {
        Self { largest: 0.into(), inside: Mutex::new(()), overlapped: 0.into(), parallel }
    }
}

impl Model for Watched {
    fn parallel(&self) -> bool {
        self.parallel
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        let guard = self.inside.try_lock();
        if guard.is_err() {
            self.overlapped.fetch_add(1, Ordering::Relaxed);
        }
        self.largest.fetch_max(rows.values().len(), Ordering::Relaxed);
        out.fill(1.0);
        Ok(())
    }
}

#[test]
fn chunks_are_bounded_whatever_the_batch_and_the_background() {
    let mut rng = stream(3, Purpose::Experiment, 0);
    for (columns, rows, count) in [(3, 1, 100_000), (3, 50_000, 3), (1000, 100, 20), (1000, 3, 500)] {
        for parallel in [true, false] {
            let background = Background::rows(vec![0.0; rows * columns], columns).unwrap();
            let explicand = random_row(&mut rng, columns);
            let model = Watched::new(parallel);
            let game = MarginalGame::new(&model, &explicand, &background).unwrap();
            let batch = random_coalitions(&mut rng, columns, count);
            assert!(values(&game, &batch).iter().all(|value| (value - 1.0).abs() < 1e-12));
            let largest = model.largest.into_inner();
            assert!(largest <= 1 << 16, "{columns} columns, {rows} rows: a batch of {largest} cells");
        }
    }
}

#[test]
fn a_call_has_no_more_rows_than_the_model_asks_for_and_values_do_not_depend_on_it() {
    /// A model that requests at most the given number of rows per call, and records the largest call.
    struct Patient(usize, AtomicUsize);
    impl Model for Patient {
        fn rows_per_call(&self) -> usize {
            self.0
        }

        fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
            self.1.fetch_max(rows.len(), Ordering::Relaxed);
            for (out, row) in out.iter_mut().zip(rows.iter()) {
                *out = row.iter().sum();
            }
            Ok(())
        }
    }
    let mut rng = stream(4, Purpose::Experiment, 0);
    let background = Background::rows(random_row(&mut rng, 90), 3).unwrap();
    let batch = random_coalitions(&mut rng, 3, 500);
    let under = |asked| {
        let model = Patient(asked, 0.into());
        let game = MarginalGame::new(&model, &[1.0; 3], &background).unwrap();
        (values(&game, &batch), model.1.into_inner())
    };
    let (wanted, most) = under(64);
    assert_eq!(most, 60, "two coalitions of 30 rows");
    for (asked, most) in [(0, 1), (1, 1), (40, 30), (1000, 510)] {
        assert_eq!(under(asked), (wanted.clone(), most), "{asked} rows asked for");
    }
}

#[test]
fn a_serial_model_is_never_in_two_threads_at_once() {
    let background = Background::rows(vec![0.0; 300], 3).unwrap();
    let model = Watched::new(false);
    let game = MarginalGame::new(&model, &[1.0; 3], &background).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let batch = Coalitions::from_masks(3, (0..2000).map(|index| index % 8));
    pool.install(|| values(&game, &batch));
    assert!(!game.parallel());
    assert_eq!(model.overlapped.into_inner(), 0);
}

#[test]
fn players_whose_value_is_that_of_every_background_row_are_null() {
    let model = |row: &[f64]| row.iter().filter(|x| !x.is_nan()).product();
    let background =
        Background::rows([1.0, 5.0, f64::NAN, 0.0, f64::NAN, 1.0, 6.0, f64::NAN, 0.0, 2.0], 5).unwrap();
    let game = MarginalGame::new(&model, &[1.0, 5.0, f64::NAN, -0.0, f64::NAN], &background).unwrap();
    // Player 3 is not a null player: zeros of opposite sign have different effects in a model that divides.
    assert_eq!(game.null_players(), Coalition::from_members(5, [0, 2]));

    let sub = game.without_null_players();
    assert_eq!(sub.keep(), [1, 3, 4]);
    // Players 0, 1, 2 of the sub-game are players 1, 3, 4 of the game.
    let lifted = Coalitions::from_masks(5, (0..8).map(|mask| (mask & 1) << 1 | (mask >> 1) << 3));
    assert_eq!(values(&sub, &Coalitions::from_masks(3, 0..8)), values(&game, &lifted));
}

#[test]
fn a_game_of_null_players_only_becomes_a_game_of_nobody() {
    let model = |row: &[f64]| row[0];
    let background = Background::baseline([2.0, 3.0]).unwrap();
    let game = MarginalGame::new(&model, &[2.0, 3.0], &background).unwrap();
    let nobody = game.without_null_players();
    assert_eq!(nobody.players(), 0);
    assert_eq!(values(&nobody, &Coalitions::from_masks(0, [0])), [2.0]);
}

#[test]
fn a_closure_that_returns_nan_is_an_error_with_the_coalition() {
    let model = |row: &[f64]| if row[0] == 1.0 && row[2] == 1.0 { f64::NAN } else { 0.0 };
    let error = against_baseline(&model, &[1.0; 3], &[0.0; 3]).unwrap_err();
    assert!(matches!(&error, GameError::NotFinite { coalition, output: 0, value }
        if *coalition == Coalition::from_members(3, [0, 2]) && value.is_nan()));
    assert!(error.to_string().contains("{0, 2} of 3"), "{error}");
}

#[test]
fn a_mean_of_huge_predictions_is_finite_and_an_infinite_prediction_is_an_error() {
    let model = |_: &[f64]| f64::MAX;
    let background = Background::rows([0.0, 1.0, 2.0], 1).unwrap();
    let game = MarginalGame::new(&model, &[5.0], &background).unwrap();
    // Each prediction is weighted before it is added: a third of the maximum, three times.
    assert!(values(&game, &Coalitions::from_masks(1, [0]))[0].is_finite());
    let infinite = |_: &[f64]| f64::INFINITY;
    let game = MarginalGame::new(&infinite, &[5.0], &background).unwrap();
    let error = game.values(&Coalitions::from_masks(1, [1]), &mut [0.0]).unwrap_err();
    assert!(matches!(error, GameError::NotFinite { value: f64::INFINITY, .. }), "{error}");
}

#[test]
fn too_few_numbers_are_an_error_that_says_so() {
    let model = batch_model(2, |rows: Rows<'_>| Ok(vec![0.0; rows.len()]));
    let error = against_baseline(&model, &[1.0; 2], &[0.0; 2]).unwrap_err();
    assert!(matches!(error, GameError::ModelCount { actual: 4, rows: 4, outputs: 2 }), "{error}");
}

#[test]
fn outputs_that_a_model_leaves_unwritten_are_not_taken_for_zeros() {
    struct Lazy;
    impl Model for Lazy {
        fn predict(&self, _: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
            out[0] = 1.0;
            Ok(())
        }
    }
    let error = against_baseline(&Lazy, &[1.0], &[0.0]).unwrap_err();
    assert!(matches!(error, GameError::NotFinite { .. }), "{error}");
}

#[test]
fn of_several_failures_the_first_is_reported_with_the_first_coalition_of_its_chunk() {
    // The model fails if feature 0 is present; the first chunk of 64 coalitions does not contain it.
    let model = batch_model(1, |rows: Rows<'_>| match rows.iter().find(|row| row[0] == 1.0) {
        Some(row) => Err(format!("no idea of {}", row[1]).into()),
        None => Ok(vec![0.0; rows.len()]),
    });
    let background = Background::baseline([0.0; 2]).unwrap();
    let game = MarginalGame::new(&model, &[1.0; 2], &background).unwrap();
    let masks = (0..64).map(|_| 0).chain([2, 1]).chain((0..1000).map(|_| 3));
    let batch = Coalitions::from_masks(2, masks);
    for refused in in_pools(|| game.values(&batch, &mut vec![0.0; batch.len()])) {
        let GameError::Model { coalition, source } = refused.unwrap_err() else { panic!("another error") };
        assert_eq!(coalition, Coalition::from_members(2, [1]));
        assert_eq!(source.to_string(), "no idea of 0");
    }
}

#[test]
fn rows_that_do_not_fit_are_refused_before_the_model_is_asked() {
    struct Wide;
    impl Model for Wide {
        fn features(&self) -> Option<usize> {
            Some(3)
        }
        fn predict(&self, _: Rows<'_>, _: &mut [f64]) -> Result<(), BoxError> {
            panic!("asked")
        }
    }
    for baseline in [&[0.0; 2][..], &[0.0; 3]] {
        let refused = against_baseline(&Wide, &[0.0; 2], baseline).unwrap_err();
        assert!(matches!(refused, GameError::Width { actual: 2, expected: 3, .. }), "{refused}");
    }
    assert!(against_baseline(&batch_model(0, |_| Ok(vec![])), &[0.0; 3], &[0.0; 3]).is_err());
}

#[test]
fn infinite_values_are_mixed_as_any_others() {
    let infinite = f64::INFINITY;
    // The model compares values, as trees do, so that every mixture has a finite prediction.
    let model = |row: &[f64]| {
        f64::from(row[0] > 1e308) + 2.0 * f64::from(row[1] == -infinite) + 4.0 * row[2].clamp(-3.0, 3.0)
    };
    let rows = [[0.0, -infinite, 1.0], [infinite, 7.0, -infinite], [infinite, -infinite, infinite]];
    let background = Background::rows(rows.concat(), 3).unwrap();
    for explicand in [
        [infinite, 0.0, infinite],
        [-infinite, -infinite, 0.5],
        [0.0, 1.0, -infinite],
        [f64::NAN, infinite, 2.0],
    ] {
        let game = MarginalGame::new(&model, &explicand, &background).unwrap();
        let mut values = [0.0; 8];
        game.values(&Coalitions::from_masks(3, 0..8), &mut values).unwrap();
        for (mask, value) in values.into_iter().enumerate() {
            let mixed = |row: &[f64; 3]| {
                model(&std::array::from_fn::<_, 3, _>(
                    |i| if mask >> i & 1 == 1 { explicand[i] } else { row[i] },
                ))
            };
            let mean = rows.iter().map(mixed).sum::<f64>() / 3.0;
            assert!((value - mean).abs() < 1e-12, "{explicand:?}, {mask:03b}: {value}, not {mean}");
        }
    }
    let alike = Background::baseline([infinite, -infinite, 1.0]).unwrap();
    let game = MarginalGame::new(&model, &[infinite, infinite, 1.0], &alike).unwrap();
    assert_eq!(game.null_players().view().members().collect::<Vec<_>>(), [0, 2]);
    // If a model computes with infinite values, its result is not finite; the game must return an error that
    // names the coalition.
    let sum = |row: &[f64]| row.iter().sum::<f64>();
    let game = MarginalGame::new(&sum, &[infinite, 0.0, 0.0], &background).unwrap();
    let error = game.values(&Coalitions::from_masks(3, 0..8), &mut [0.0; 8]).unwrap_err();
    assert!(matches!(error, GameError::NotFinite { .. }), "{error}");
}

#[test]
fn small_coalitions_are_predicted_from_the_baseline_by_a_model_that_knows_it() {
    /// A model that sums the products of neighbouring features. Near a reference row, it adds the change of
    /// the sum to the prediction for the reference. It counts the rows that it predicts as a whole.
    struct Neighbours(AtomicUsize);
    struct Near(Vec<f64>, f64);

    fn products(row: &[f64]) -> f64 {
        row.windows(2).map(|pair| pair[0] * pair[1]).sum()
    }

    impl NearReference for Near {
        fn max_changes(&self) -> usize {
            2
        }

        fn predict(&self, rows: &Changes, out: &mut [f64]) -> Result<(), BoxError> {
            for (out, changes) in out.iter_mut().zip(rows.iter()) {
                assert!(changes.len() <= 2);
                let mut row = self.0.clone();
                changes.iter().for_each(|&(feature, value)| row[feature] = value);
                *out = self.1 + (products(&row) - self.1);
            }
            Ok(())
        }
    }

    impl Model for Neighbours {
        fn near(&self, reference: &[f64]) -> Option<Box<dyn NearReference>> {
            Some(Box::new(Near(reference.to_vec(), products(reference))))
        }

        fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
            self.0.fetch_add(rows.len(), Ordering::Relaxed);
            rows.iter().zip(out).for_each(|(row, out)| *out = products(row));
            Ok(())
        }
    }

    let mut rng = stream(5, Purpose::Experiment, 0);
    for columns in [1, 2, 5, 70, 130] {
        let mut explicand = random_row(&mut rng, columns);
        let baseline = random_row(&mut rng, columns);
        // A feature with the baseline's value is not a change, and does not count as one.
        explicand[0] = baseline[0];
        let mut batch = random_coalitions(&mut rng, columns, 300);
        (0..columns).for_each(|player| batch.push_members([0, player]));
        let far = batch.iter().filter(|row| row.members().filter(|&member| member > 0).count() > 2).count();

        let background = Background::baseline(baseline.clone()).unwrap();
        let model = Neighbours(0.into());
        let game = MarginalGame::new(&model, &explicand, &background).unwrap();
        let got = values(&game, &batch);
        assert_eq!(model.0.load(Ordering::Relaxed), far, "{columns} columns");
        for (value, row) in got.iter().zip(batch.iter()) {
            assert!((value - products(&synthetic(&explicand, &baseline, row))).abs() < 1e-12);
        }
        // Evaluating the coalitions one by one must yield the same bits.
        assert!(one_by_one(&game, &batch).iter().map(|x| x.to_bits()).eq(got.iter().map(|x| x.to_bits())));
    }
}
