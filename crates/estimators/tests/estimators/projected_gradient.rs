//! Compares the projected stochastic gradient with a textbook run on the same draws and with enumeration, and
//! tests its rate and invalid parameters.

use apportion_estimators::{
    Estimator, EstimatorError, FullBudget, GradientDistribution, GradientError, IterateAverage, IterateSet,
    Pairing, ProjectedGradient, StartShare, StepSize,
};
use apportion_games::{ClosedForm, Coalitions, Game, SumOfUnanimity};
use apportion_solvers::{Ball, Hyperplane, Stopping, dykstra};

use crate::common::{Coverage, RecordingGame, assert_unbiased, mean_squared_error, runs, values};

fn sampling() -> ProjectedGradient {
    ProjectedGradient::default().with_full_budget(FullBudget::Sample)
}

fn squared_norm(a: &[f64]) -> f64 {
    a.iter().map(|a| a * a).sum()
}

/// Returns the documented size distribution, where entry l − 1 is `q_l`. For pairs, it is symmetric.
fn size_distribution(estimator: &ProjectedGradient, players: usize, norm: f64, value: f64) -> Vec<f64> {
    let n = players as f64;
    let weight = |size: usize| {
        let l = size as f64;
        let all = (n - 1.0) / (l * (n - l));
        match estimator.distribution {
            GradientDistribution::Uniform => {
                // This is C(n, l) / 2^n, computed without overflow.
                (0..size).map(|i| (players - i) as f64 / (i + 1) as f64 * 2f64.powf(-n / l)).product()
            }
            GradientDistribution::Importance => all * l.sqrt() * (norm * l.sqrt() + value),
            GradientDistribution::Centred => {
                let row = (l * (n - l) / n).sqrt();
                all * row * (norm * row + 2.0 * value)
            }
        }
    };
    let mut distribution: Vec<f64> = (1..players).map(weight).collect();
    if estimator.pairing == Pairing::Paired {
        distribution = distribution.iter().zip(distribution.iter().rev()).map(|(a, b)| a + b).collect();
    }
    let total: f64 = distribution.iter().sum();
    distribution.iter().map(|weight| weight / total).collect()
}

/// Computes the iterates φ_0, …, φ_T by definition: rows of ones and zeros, separate gradients, and
/// projections by Dykstra's algorithm.
fn textbook(
    estimator: &ProjectedGradient,
    game: &dyn Game,
    asked: &Coalitions,
    (norm, value): (f64, f64),
    radius: Option<f64>,
    step: impl Fn(f64) -> f64,
) -> Vec<Vec<f64>> {
    let players = game.players();
    let n = players as f64;
    let mut ends = Coalitions::new(players);
    ends.push_empty();
    ends.push_full();
    let mut worth = vec![0.0; 2];
    game.values(&ends, &mut worth).unwrap();
    let total = worth[1] - worth[0];
    let mut values = vec![0.0; asked.len()];
    game.values(asked, &mut values).unwrap();
    let distribution = size_distribution(estimator, players, norm, value);
    let plane = Hyperplane::with_sum(players, total).unwrap();
    let ball = radius.map(|radius| Ball::new(vec![0.0; players], radius).unwrap());
    let rows_per_step = estimator.batch * if estimator.pairing == Pairing::Paired { 2 } else { 1 };
    let mut iterates = vec![vec![total / n; players]];
    for first in (0..asked.len()).step_by(rows_per_step) {
        let point = iterates.last().unwrap();
        let mut gradient = vec![0.0; players];
        for (index, value) in values.iter().enumerate().skip(first).take(rows_per_step) {
            let row = asked.row(index);
            let l = row.size() as f64;
            let fitted: f64 = row.members().map(|player| point[player]).sum();
            let factor = 2.0 * (n - 1.0) / (l * (n - l)) / distribution[row.size() - 1];
            let residual = fitted - (value - worth[0]);
            row.members().for_each(|player| gradient[player] += factor * residual / rows_per_step as f64);
        }
        let length = step(iterates.len() as f64);
        let moved: Vec<f64> = point.iter().zip(&gradient).map(|(phi, g)| phi - length * g).collect();
        let projected = match &ball {
            Some(ball) => dykstra(&[&plane, ball], &moved, Stopping::default()),
            None => dykstra(&[&plane], &moved, Stopping::default()),
        };
        iterates.push(projected.unwrap().point);
    }
    iterates
}

#[test]
fn every_option_gives_the_estimate_of_a_textbook_run_on_the_same_draws() {
    for players in [2, 5, 12, 65, 130] {
        let n = players as f64;
        let game = SumOfUnanimity::random(players, 2 * players, 4, 3);
        let mu = 2.0 * (1.0 - 1.0 / n);
        let radius = 1.2 * squared_norm(&game.shapley()).sqrt();
        for distribution in
            [GradientDistribution::Uniform, GradientDistribution::Importance, GradientDistribution::Centred]
        {
            // For many players, the factors of uniform draws are too large for any game.
            if distribution == GradientDistribution::Uniform && players > 12 {
                continue;
            }
            for (pairing, batch) in [(Pairing::Unpaired, 1), (Pairing::Paired, 1), (Pairing::Paired, 3)] {
                for bounded in [false, true] {
                    let constant = 0.05 / n;
                    type Rule = Box<dyn Fn(f64) -> f64>;
                    let rules: [(StepSize, IterateAverage, Rule); 4] = [
                        (StepSize::Constant(constant), IterateAverage::Last, Box::new(move |_| constant)),
                        (
                            StepSize::SquareRoot(constant),
                            IterateAverage::Uniform,
                            Box::new(move |t: f64| constant / t.sqrt()),
                        ),
                        (
                            StepSize::Reciprocal(constant),
                            IterateAverage::Uniform,
                            Box::new(move |t| constant / t),
                        ),
                        (
                            StepSize::Delayed(2.0),
                            IterateAverage::Weighted,
                            Box::new(move |t| 2.0 / (mu * (t + 1.0 + 2.0 * n))),
                        ),
                    ];
                    for (step, average, rule) in rules {
                        let set = if bounded { IterateSet::Ball(radius) } else { IterateSet::Plane };
                        let start = StartShare::Kept;
                        let estimator = sampling()
                            .with_distribution(distribution)
                            .with_pairing(pairing)
                            .with_batch(batch)
                            .with_step(step)
                            .with_average(average)
                            .with_set(set)
                            .with_start(start);
                        let recorded = RecordingGame::new(game.clone());
                        let got = estimator.estimate(&recorded, 128, 5).unwrap();
                        // Omit the empty and the grand coalition, which come first.
                        let mut asked = Coalitions::new(players);
                        recorded.take_coalitions()[2..].iter().for_each(|row| asked.push(row.view()));
                        assert_eq!(got.evaluations, asked.len() + 2);
                        let total = (got.prediction[0] - got.base[0]).abs();
                        let bounds = if bounded { (radius, total) } else { (n.sqrt(), 1.0) };
                        let iterates =
                            textbook(&estimator, &game, &asked, bounds, bounded.then_some(radius), rule);
                        let last = iterates.len() - 1;
                        let weight = |t: usize| match average {
                            IterateAverage::Last => f64::from(u8::from(t == last)),
                            IterateAverage::Uniform => f64::from(u8::from(t > 0)) / last as f64,
                            IterateAverage::Weighted => {
                                2.0 * (t + 1) as f64 / ((last + 1) as f64 * (last + 2) as f64)
                            }
                        };
                        let scale = squared_norm(&got.values).sqrt();
                        for (player, value) in got.values.iter().enumerate() {
                            let expected: f64 =
                                iterates.iter().enumerate().map(|(t, phi)| weight(t) * phi[player]).sum();
                            let what = format!("{players} players, {estimator:?}");
                            assert!(
                                (value - expected).abs() < 1e-9 * scale,
                                "{what}: {value} for {expected}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn estimates_are_unbiased_after_any_number_of_steps() {
    let game = SumOfUnanimity::random(8, 30, 4, 3);
    let truth = game.shapley();
    let plain = ProjectedGradient::constant(0.01).with_start(StartShare::Removed);
    for estimator in [sampling(), plain.with_full_budget(FullBudget::Sample)] {
        for budget in [22, 82] {
            let runs = values(&estimator, &game, budget, 1000);
            assert_unbiased(&runs, &truth, 4.5, &format!("{estimator:?} at {budget}"));
        }
    }
}

#[test]
fn a_constant_step_stays_at_an_error_in_proportion_to_it() {
    let game = SumOfUnanimity::random(10, 40, 5, 1);
    let error = |step: f64, budget: usize| {
        let estimator = ProjectedGradient::constant(step).with_full_budget(FullBudget::Sample);
        mean_squared_error(&values(&estimator, &game, budget, 60), &game.shapley())
    };
    let (long, longer, short) = (error(0.01, 2000), error(0.01, 8000), error(0.0025, 8000));
    assert!((longer / long - 1.0).abs() < 0.4, "{long}, {longer}");
    assert!((3.0..5.5).contains(&(longer / short)), "{longer}, {short}");
}

#[test]
fn standard_errors_cover_the_truth_as_often_as_they_say() {
    let kept = |estimator: ProjectedGradient| {
        estimator.with_start(StartShare::Removed).with_full_budget(FullBudget::Sample)
    };
    for (name, estimator, per_player) in [
        ("default", sampling(), 20),
        ("default", sampling(), 100),
        ("mini-batches", sampling().with_batch(4).with_step(StepSize::Delayed(0.5)), 100),
        ("constant", kept(ProjectedGradient::constant(0.003)), 100),
        ("square root", kept(ProjectedGradient::square_root(0.05)), 100),
        ("last", sampling().with_average(IterateAverage::Last), 100),
    ] {
        let coverage = Coverage::of_random_games(&estimator, (20, 100), 20 * per_player, 60);
        assert_eq!(coverage.all, 1200, "all have standard errors");
        for got in runs(&estimator, &SumOfUnanimity::random(20, 100, 5, 0), 20 * per_player, 20) {
            let distribution = got.diagnostics.error_distribution.unwrap();
            assert!(distribution.degrees_of_freedom >= 8.0 && distribution.bounded_draws.is_none(), "{name}");
            assert!((1.0..=19.0).contains(&distribution.directions[0]), "{name}");
        }
        let coverage = coverage.share();
        eprintln!("{name} at {per_player}n: {coverage:.3}");
        assert!((0.91..=0.985).contains(&coverage), "{name} at {per_player}n: {coverage}");
    }
}

#[test]
fn values_sum_to_what_there_is_to_divide_and_the_bound_on_the_norm_is_kept() {
    for players in [1, 2, 3, 65, 130] {
        let game = SumOfUnanimity::random(players, 3 * players, 4, 2);
        let norm = squared_norm(&game.shapley()).sqrt();
        let total: f64 = game.shapley().iter().sum();
        let least = total.abs() / (players as f64).sqrt();
        for radius in [1.0001 * least, 0.5 * (least + norm), 2.0 * norm] {
            let estimator = sampling().with_set(IterateSet::Ball(radius));
            let got = estimator.estimate(&game, 400, 1).unwrap();
            assert!(got.efficiency_gap() < 1e-10 * (1.0 + norm), "{players} players");
            assert!(players == 1 || squared_norm(&got.values).sqrt() <= radius * (1.0 + 1e-9));
        }
    }
}

#[test]
fn a_ball_that_touches_the_plane_leaves_equal_shares() {
    let game = SumOfUnanimity::new(4, 0.0, [(vec![0], 1.0), (vec![1, 2], 1.0)]).unwrap();
    let estimator = sampling().with_set(IterateSet::Ball(1.0));
    let got = estimator.estimate(&game, 50, 1).unwrap();
    assert!(got.values.iter().all(|value| (value - 0.5).abs() < 1e-7), "{:?}", got.values);
}

#[test]
fn a_bound_that_equal_shares_exceed_is_refused() {
    let game = SumOfUnanimity::new(4, 0.0, [(vec![0], 1.0), (vec![1, 2], 1.0)]).unwrap();
    let estimator = sampling().with_set(IterateSet::Ball(0.99));
    let refused = estimator.estimate(&game, 50, 1).unwrap_err();
    let expected = |least: f64| (least - 1.0).abs() < 1e-15;
    assert!(matches!(
        refused,
        EstimatorError::Gradient(GradientError::NormBound { actual: 0.99, min, output: 0 }) if expected(min)
    ));
}

#[test]
fn steps_that_are_too_long_are_reported_with_the_step() {
    let game = SumOfUnanimity::random(20, 60, 3, 1);
    for step in [1.0, 1e3, 1e300] {
        for estimator in [
            ProjectedGradient::constant(step),
            ProjectedGradient::square_root(10.0 * step),
            sampling().with_step(StepSize::Constant(step)),
        ] {
            let refused = estimator.estimate(&game, 100_000, 1).unwrap_err();
            assert!(
                matches!(
                    refused,
                    EstimatorError::Gradient(GradientError::Diverged { step, norm })
                        if step >= 1 && (norm.is_nan() || norm > 1e8)
                ),
                "{refused}"
            );
        }
    }
    // A ball bounds the iterates, so there is a result, however inaccurate it is.
    let bounded = ProjectedGradient::constant(1.0).with_set(IterateSet::Ball(50.0));
    assert!(bounded.estimate(&game, 1000, 1).unwrap().values.iter().all(|value| value.is_finite()));
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let game = SumOfUnanimity::random(10, 30, 3, 1);
    let refused = |estimator: ProjectedGradient| match estimator.estimate(&game, 100, 1).unwrap_err() {
        EstimatorError::Gradient(error) => error,
        other => panic!("{estimator:?}: {other}"),
    };
    let is_step = |step: StepSize| {
        matches!(
            refused(sampling().with_step(step)),
            GradientError::StepSize { .. } | GradientError::Delay { .. }
        )
    };
    let is_bound = |estimator| matches!(refused(estimator), GradientError::Bound { .. });
    for given in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for step in [StepSize::Constant(given), StepSize::SquareRoot(given), StepSize::Reciprocal(given)] {
            assert!(is_step(step), "{step:?}");
        }
        assert!(is_bound(sampling().with_set(IterateSet::Ball(given))), "{given}");
        assert!(is_bound(sampling().with_value_bound(Some(given))), "{given}");
    }
    for delay in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(is_step(StepSize::Delayed(delay)), "{delay}");
    }
    let none = refused(sampling().with_batch(0));
    assert!(matches!(none, GradientError::Batch { actual: 0 }), "{none}");
    let refused = sampling().with_batch(50).estimate(&game, 100, 1).unwrap_err();
    assert!(matches!(refused, EstimatorError::Budget { actual: 100, min: 102, .. }), "{refused}");
}

#[test]
fn the_least_budget_is_one_step_and_one_player_is_never_drawn_for() {
    let game = SumOfUnanimity::random(7, 20, 4, 1);
    let least = sampling().with_batch(5);
    assert_eq!([1, 2, 10].map(|players| least.minimum_budget(players)), [2, 12, 12]);
    assert!(least.estimate(&game, 12, 1).unwrap().values.iter().all(|value| value.is_finite()));
}

#[test]
fn the_authors_step_is_twice_the_papers() {
    let game = SumOfUnanimity::random(10, 30, 3, 1);
    let run = |estimator: ProjectedGradient| estimator.estimate(&game, 200, 1).unwrap().values;
    assert_eq!(run(ProjectedGradient::authors_square_root(0.1)), run(ProjectedGradient::square_root(0.05)));
    let last = IterateAverage::Last;
    assert_eq!(
        run(ProjectedGradient::authors_constant(0.02).with_average(last)),
        run(ProjectedGradient::constant(0.01))
    );
}
