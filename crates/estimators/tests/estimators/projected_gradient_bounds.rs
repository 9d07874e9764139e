//! The bounds of projected stochastic gradient against brute force.

use apportion_estimators::{
    Estimator, EstimatorError, FullBudget, GradientBounds, GradientLaw, IterateSet, Pairing,
    ProjectedGradient, StepRule, Tail,
};
use apportion_games::{ClosedForm, Game};
use apportion_games::{Purpose, SumOfUnanimity, TabulatedGame, stream};
use rand::RngExt;

const LAWS: [GradientLaw; 3] = [GradientLaw::Uniform, GradientLaw::Importance, GradientLaw::Centred];

fn binomial(players: usize, size: usize) -> f64 {
    (0..size).map(|i| (players - i) as f64 / (i + 1) as f64).product()
}

/// w_S.
fn weight(players: usize, size: usize) -> f64 {
    (players - 1) as f64 / (binomial(players, size) * (size * (players - size)) as f64)
}

/// The probability of each coalition of a size.
fn probability(law: GradientLaw, players: usize, size: usize, norm: f64, value: f64) -> f64 {
    let bound = |size: usize| {
        let l = size as f64;
        let row = match law {
            GradientLaw::Uniform => return 1.0,
            GradientLaw::Importance => l.sqrt(),
            GradientLaw::Centred => (l * (players as f64 - l) / players as f64).sqrt(),
        };
        let values = if law == GradientLaw::Centred { 2.0 * value } else { value };
        weight(players, size) * row * (norm * row + values)
    };
    let total: f64 = (1..players).map(|size| binomial(players, size) * bound(size)).sum();
    bound(size) / total
}

#[test]
fn gradients_at_points_of_the_set_are_within_their_bound() {
    let mut rng = stream(1, Purpose::Experiment, 0);
    for players in 2..=8usize {
        for law in LAWS {
            let (norm, value) = (1.5, 0.8);
            let bound = GradientBounds::new(players, norm, value, law).unwrap().gradient_norm().powi(2);
            let mut most = 0f64;
            for _ in 0..20 {
                let values: Vec<f64> = (0..1 << players).map(|_| rng.random_range(-value..value)).collect();
                let total = values[(1 << players) - 1];
                // Any point of the plane, no further away than the ball's part of it.
                let raw: Vec<f64> = (0..players).map(|_| rng.random_range(-1.0..1.0)).collect();
                let mean = raw.iter().sum::<f64>() / players as f64;
                let away = raw.iter().map(|x| (x - mean).powi(2)).sum::<f64>().sqrt();
                let radius = (norm * norm - total * total / players as f64).sqrt();
                let point: Vec<f64> =
                    raw.iter().map(|x| total / players as f64 + (x - mean) / away * radius).collect();
                let mut expected = 0.0;
                for (mask, value) in values.iter().enumerate().take((1 << players) - 1).skip(1) {
                    let size = mask.count_ones() as usize;
                    let fitted: f64 = (0..players).filter(|i| mask >> i & 1 == 1).map(|i| point[i]).sum();
                    let l = size as f64;
                    let row = if law == GradientLaw::Centred {
                        l * (players as f64 - l) / players as f64
                    } else {
                        l
                    };
                    let draw = probability(law, players, size, norm, 0.8);
                    let squared = (2.0 * weight(players, size) * (fitted - value)).powi(2) * row;
                    expected += squared / draw;
                }
                most = most.max(expected);
            }
            assert!(most <= bound, "{law:?}, {players} players: {most} beyond {bound}");
        }
    }
}

#[test]
fn the_bound_of_importance_sampling_is_the_sum_over_all_coalitions() {
    // B = Σ_j L_j / n, L_j = 2 n w_j √l (D √l + C).
    for players in 2..=10usize {
        let (norm, value) = (0.7f64, 1.3);
        let sum: f64 = (1..(1usize << players) - 1)
            .map(|mask| {
                let l = f64::from(mask.count_ones());
                2.0 * weight(players, mask.count_ones() as usize) * l.sqrt() * (norm * l.sqrt() + value)
            })
            .sum();
        let bounds = GradientBounds::new(players, norm, value, GradientLaw::Importance).unwrap();
        assert!((bounds.gradient_norm() / sum - 1.0).abs() < 1e-12);
        let largest = (1..players)
            .map(|size| {
                let l = size as f64;
                2.0 * (2f64.powi(players as i32) - 2.0)
                    * weight(players, size)
                    * l.sqrt()
                    * (norm * l.sqrt() + value)
            })
            .fold(0.0, f64::max);
        let uniform =
            GradientBounds::new(players, norm, value, GradientLaw::Uniform).unwrap().gradient_norm();
        assert!((uniform / largest - 1.0).abs() < 1e-12);
    }
    // H_{n−1} against (n − 1)/n.
    let part = |law| GradientBounds::new(50, 1.0, 1e-12, law).unwrap().gradient_norm();
    let harmonic: f64 = (1..50).map(|l| 1.0 / f64::from(l)).sum();
    assert!((part(GradientLaw::Importance) / (2.0 * 49.0 * harmonic) - 1.0).abs() < 1e-9);
    assert!((part(GradientLaw::Centred) / (2.0 * 49.0 * 49.0 / 50.0) - 1.0).abs() < 1e-9);
}

#[test]
fn the_curvature_is_the_least_eigenvalue_of_the_hessian() {
    for players in 2..=9usize {
        let entry = |i: usize, j: usize| -> f64 {
            let both = |mask: &usize| mask >> i & 1 == 1 && mask >> j & 1 == 1;
            let masks = (1..(1usize << players) - 1).filter(both);
            masks.map(|mask| 2.0 * weight(players, mask.count_ones() as usize)).sum()
        };
        let mu = GradientBounds::new(players, 1.0, 1.0, GradientLaw::Centred).unwrap().strong_convexity();
        // a on the diagonal and c beside it: eigenvalues a − c in the plane and a + (n − 1) c across it.
        let (a, c) = (entry(0, 0), entry(0, 1));
        for i in 0..players {
            for j in 0..players {
                assert!((entry(i, j) - if i == j { a } else { c }).abs() < 1e-12);
            }
        }
        assert!(
            (a - c - mu).abs() < 1e-12 && a + (players - 1) as f64 * c >= mu - 1e-12,
            "{players} players"
        );
    }
}

#[test]
fn errors_of_runs_are_within_their_bounds() {
    for seed in 0..4 {
        let players = 4;
        let game = TabulatedGame::from_game(&SumOfUnanimity::random(players, 6, 3, seed)).unwrap();
        let truth = SumOfUnanimity::random(players, 6, 3, seed).shapley();
        let norm = 1.1 * truth.iter().map(|x| x * x).sum::<f64>().sqrt();
        let empty = game.value(0)[0];
        let value = game.values_in_order().iter().map(|v| (v - empty).abs()).fold(0.0, f64::max);
        let total = truth.iter().sum::<f64>() / players as f64;
        let start = truth.iter().map(|x| (x - total).powi(2)).sum::<f64>();
        for law in LAWS {
            let bounds = GradientBounds::new(players, norm, value, law).unwrap();
            let constant = 0.01;
            for (rule, estimator) in [
                (StepRule::Inverse, ProjectedGradient::inverse()),
                (
                    StepRule::SquareRoot,
                    ProjectedGradient {
                        step: bounds.square_root_step(),
                        ..ProjectedGradient::square_root(1.0)
                    },
                ),
                (StepRule::Constant { step: constant, start }, ProjectedGradient::constant(constant)),
            ] {
                for pairing in [Pairing::Unpaired, Pairing::Paired] {
                    let estimator = ProjectedGradient {
                        law,
                        pairing,
                        set: IterateSet::Ball(norm),
                        value_bound: Some(value),
                        full_budget: FullBudget::Sample,
                        ..estimator
                    };
                    for steps in [10, 300] {
                        let budget = 2 + steps * if pairing == Pairing::Paired { 2 } else { 1 };
                        let error = |seed| {
                            let got = estimator.estimate(&game as &dyn Game, budget, seed).unwrap().values;
                            got.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
                        };
                        let mean = (0..40).map(error).sum::<f64>() / 40.0;
                        let bound = bounds.expected_error(rule, steps as f64);
                        assert!(mean <= bound, "{law:?}, {rule:?}, {steps}: {mean} beyond {bound}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_constants_are_those_checked_by_hand() {
    // n = 8, C = D = 1: B/μ = 30.6; with the paper's factors 122.4.
    let bounds = GradientBounds::new(8, 1.0, 1.0, GradientLaw::Importance).unwrap();
    assert!((bounds.condition() - 30.6).abs() < 0.05, "{}", bounds.condition());
    let steps = 1e6;
    let inverse = bounds.expected_error(StepRule::Inverse, steps);
    assert!((inverse / (4.0 * bounds.condition().powi(2) / steps) - 1.0).abs() < 1e-12);
}

#[test]
fn probabilities_errors_and_steps_are_inverse_to_each_other() {
    for law in LAWS {
        let bounds = GradientBounds::new(6, 1.0, 0.5, law).unwrap();
        let constant = StepRule::Constant { step: 1e-9, start: 1.0 };
        for rule in [StepRule::Inverse, StepRule::SquareRoot, constant] {
            for tail in [Tail::Markov, Tail::Deviation] {
                for probability in [0.5, 0.05, 1e-3] {
                    let error = bounds.error_within(tail, rule, 1e4, probability);
                    let back = bounds.probability_beyond(tail, rule, 1e4, error);
                    assert!((back / probability - 1.0).abs() < 1e-9, "{tail:?}, {rule:?}: {back}");
                    let steps = bounds.steps_for(tail, rule, error, probability).unwrap();
                    assert!((steps - 1e4).abs() <= 1.0 + 1e-4 * 1e4, "{tail:?}, {rule:?}: {steps}");
                    let wanted = 0.5 * error;
                    if let Some(steps) = bounds.steps_for(tail, rule, wanted, probability) {
                        let reached = bounds.error_within(tail, rule, steps, probability);
                        assert!(reached <= wanted * (1.0 + 1e-9), "{rule:?}: {reached} for {wanted}");
                        let before = bounds.error_within(tail, rule, steps - 1.0, probability);
                        assert!(before > wanted * (1.0 - 1e-3), "one step less is not enough");
                    }
                }
            }
        }
    }
}

#[test]
fn nothing_is_promised_where_there_is_nothing_to_promise() {
    let bounds = GradientBounds::new(6, 1.0, 0.5, GradientLaw::Centred).unwrap();
    for step in [0.0, -1.0, 0.6, f64::NAN] {
        let rule = StepRule::Constant { step, start: 1.0 };
        assert_eq!(bounds.expected_error(rule, 10.0), f64::INFINITY);
        assert_eq!(bounds.steps_for(Tail::Markov, rule, 1.0, 0.5), None);
        assert_eq!(bounds.probability_beyond(Tail::Markov, rule, 10.0, 1.0), 1.0);
    }
    // The error that a constant step leaves.
    let rule = StepRule::Constant { step: 0.1, start: 1.0 };
    assert_eq!(bounds.steps_for(Tail::Markov, rule, 1e-3, 0.5), None);
    for steps in [0.0, f64::NAN] {
        assert_eq!(bounds.expected_error(StepRule::Inverse, steps), f64::INFINITY);
    }
    for (norm, value) in [(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        let refused = GradientBounds::new(5, norm, value, GradientLaw::Centred).unwrap_err();
        assert!(matches!(refused, EstimatorError::Bound { .. }));
    }
    assert!(GradientBounds::new(1, 1.0, 1.0, GradientLaw::Centred).is_err());
    assert_eq!(
        GradientBounds::new(2000, 1.0, 1.0, GradientLaw::Uniform).unwrap().gradient_norm(),
        f64::INFINITY
    );
    assert!(GradientBounds::new(2000, 1.0, 1.0, GradientLaw::Centred).unwrap().gradient_norm().is_finite());
}
