//! LIME on games of all sizes: what it returns, what it counts, and what it refuses.

use apportion_estimators::{EstimatorError, Lime, LimeSampling};
use apportion_games::{
    Additive, Background, Coalitions, Counted, Game, GameError, MarginalGame, SumOfUnanimity,
};
use apportion_samplers::SamplerError;
use apportion_solvers::SolverError;

const SAMPLINGS: [LimeSampling; 2] = [LimeSampling::UniformRemovals, LimeSampling::FairCoins];

/// An additive game of two outputs with the values of the empty coalition 2 and −1.
struct Offset(Vec<f64>);

impl Game for Offset {
    fn players(&self) -> usize {
        self.0.len()
    }
    fn outputs(&self) -> usize {
        2
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (row, out) in batch.iter().zip(out.chunks_exact_mut(2)) {
            let sum: f64 = row.members().map(|player| self.0[player]).sum();
            out.copy_from_slice(&[2.0 + sum, -1.0 - 3.0 * sum]);
        }
        Ok(())
    }
}

fn amounts(players: usize) -> Vec<f64> {
    (0..players).map(|player| ((7 * player + 3) % 11) as f64 - 4.5).collect()
}

#[test]
fn an_additive_game_has_its_coefficients_without_a_penalty() {
    for players in [1, 2, 3, 8, 13, 64, 65, 130] {
        for sampling in SAMPLINGS {
            // Nearly all fair coins fall about n/2, so that a wider kernel keeps the rows apart.
            let lime = Lime { sampling, ridge: 0.0, kernel_width: 1.0, ..Lime::default() };
            let game = Offset(amounts(players));
            let got = lime.explain(&game, 30 + 6 * players, 1).unwrap();
            assert_eq!(got.rank, players);
            for (player, amount) in game.0.iter().enumerate() {
                let of = &got.coefficients[2 * player..2 * player + 2];
                let near = (of[0] - amount).abs() < 1e-11 && (of[1] + 3.0 * amount).abs() < 1e-11;
                assert!(near, "{players} players, {sampling:?}: {of:?}, not {amount}");
            }
            assert!((got.intercept[0] - 2.0).abs() < 1e-9 && (got.intercept[1] + 1.0).abs() < 1e-9);
            for output in 0..2 {
                assert!((got.r_squared[output] - 1.0).abs() < 1e-12);
                assert!((got.local_prediction()[output] - got.prediction[output]).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn small_penalties_change_the_coefficients_in_proportion() {
    let game = Additive::new(amounts(9)).unwrap();
    let error = |ridge: f64| {
        let got = Lime { ridge, ..Lime::default() }.explain(&game, 200, 5).unwrap();
        got.coefficients.iter().zip(amounts(9)).map(|(got, want)| (got - want).abs()).fold(0.0, f64::max)
    };
    assert!(error(1e-9) < 1e-8);
    let ratio = error(1e-4) / error(1e-6);
    assert!((ratio - 100.0).abs() < 0.5, "{ratio}");
    // The penalty of the default is no small one.
    assert!(error(1.0) > 0.01);
}

#[test]
fn what_is_drawn_twice_is_evaluated_once() {
    for sampling in SAMPLINGS {
        for (players, most) in [(1, 2), (2, 4), (3, 8), (6, 64)] {
            let game = Counted::new(SumOfUnanimity::random(players, 10, 2, 1));
            let got = Lime { sampling, ..Lime::default() }.explain(&game, 1000, 3).unwrap();
            assert_eq!((got.draws, got.evaluations, got.distinct_coalitions), (1000, most, most));
            assert_eq!((game.evaluations(), game.calls()), (most as u64, 1));
        }
    }
    // One draw of 20 fair coins beside the coalition of all players: the empty coalition is not asked for.
    let game = Counted::new(SumOfUnanimity::random(20, 10, 2, 1));
    let got = Lime::superpixels().explain(&game, 2, 3).unwrap();
    assert_eq!((got.evaluations, game.evaluations()), (2, 2));
}

#[test]
fn without_an_intercept_it_is_zero() {
    let game = Offset(amounts(5));
    let lime = Lime { intercept: false, ridge: 1e-9, ..Lime::default() };
    let got = lime.explain(&game, 100, 0).unwrap();
    assert_eq!(got.intercept, [0.0, 0.0]);
    assert!(got.r_squared.iter().all(|share| *share < 1.0));
    // The offset of 2 has nowhere else to go: some coefficient takes part of it.
    assert!(got.coefficients.iter().step_by(2).zip(&game.0).any(|(got, want)| (got - want).abs() > 0.1));
}

#[test]
fn results_are_the_same_bits_on_any_number_of_threads() {
    let model = |row: &[f64]| row.windows(2).map(|pair| (pair[0] * pair[1]).sin()).sum::<f64>();
    let explicand: Vec<f64> = (0..70).map(|i| 0.1 * i as f64).collect();
    let background = Background::baseline(vec![0.0; 70]).unwrap();
    let game = MarginalGame::new(&model, &explicand, &background).unwrap();
    for sampling in SAMPLINGS {
        let explain = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Lime { sampling, ..Lime::default() }.explain(&game, 280, 4).unwrap())
        };
        let alone = explain(1);
        assert_eq!(alone.model_rows, alone.evaluations);
        assert_eq!(alone, explain(3));
        assert_ne!(
            alone.coefficients,
            Lime { sampling, ..Lime::default() }.explain(&game, 280, 5).unwrap().coefficients
        );
    }
}

// Stored results name their seed; these are pinned to within rounding.
#[test]
fn coefficients_for_a_seed_are_fixed() {
    let game = SumOfUnanimity::random(6, 12, 3, 2);
    let rounded = |lime: Lime| -> Vec<f64> {
        let got = lime.explain(&game, 40, 42).unwrap();
        got.coefficients
            .iter()
            .chain(&got.intercept)
            .chain(&got.r_squared)
            .map(|x| (x * 1e6).round() / 1e6)
            .collect()
    };
    assert_eq!(
        rounded(Lime::default()),
        [-0.617182, 0.080495, -0.765186, -0.110569, -0.346641, -0.0225, -0.284325, 0.812768]
    );
    assert_eq!(
        rounded(Lime::superpixels()),
        [-0.847801, 0.17259, -0.566441, -0.276982, -0.127635, -0.149826, -0.073238, 0.662537]
    );
}

#[test]
fn bad_parameters_are_refused_before_any_evaluation() {
    let game = Counted::new(Additive::new(vec![1.0, 2.0]).unwrap());
    let lime = Lime::default();
    for width in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let error = Lime { kernel_width: width, ..lime }.explain(&game, 10, 0).unwrap_err();
        assert!(matches!(error, EstimatorError::KernelWidth { given } if given.to_bits() == width.to_bits()));
    }
    for ridge in [-1.0, f64::INFINITY, f64::NAN] {
        let error = Lime { ridge, ..lime }.explain(&game, 10, 0).unwrap_err();
        assert!(matches!(error, EstimatorError::Solver(SolverError::Penalty { .. })), "{error}");
    }
    for budget in [0, 1] {
        let error = lime.explain(&game, budget, 0).unwrap_err();
        assert!(matches!(error, EstimatorError::Budget { least: 2, players: 2, .. }), "{error}");
    }
    let error = lime.explain(&game, usize::MAX, 0).unwrap_err();
    assert!(matches!(error, EstimatorError::Sampler(SamplerError::TooManyRows { .. })), "{error}");
    assert_eq!(game.calls(), 0);
}

#[test]
fn games_without_players_are_refused() {
    struct Nobody;
    impl Game for Nobody {
        fn players(&self) -> usize {
            0
        }
        fn values(&self, _: &Coalitions, _: &mut [f64]) -> Result<(), GameError> {
            Ok(())
        }
    }
    assert!(matches!(Lime::default().explain(&Nobody, 10, 0), Err(EstimatorError::NoPlayers)));
}

#[test]
fn failures_of_the_game_come_back() {
    let model = |row: &[f64]| if row[0] == 0.0 { f64::NAN } else { row[1] };
    let background = Background::baseline(vec![0.0; 2]).unwrap();
    let game = MarginalGame::new(&model, &[1.0, 1.0], &background).unwrap();
    let error = Lime::default().explain(&game, 50, 0).unwrap_err();
    assert!(matches!(error, EstimatorError::Game(GameError::NotFinite { .. })), "{error}");
}
