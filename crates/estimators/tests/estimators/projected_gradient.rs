//! Projected stochastic gradient against a textbook run on the same draws, enumeration, its stated rate, and bad parameters.

use std::sync::Mutex;

use apportion_estimators::{
    Estimator, EstimatorError, FullBudget, GradientError, GradientLaw, IterateAverage, IterateSet, Pairing,
    ProjectedGradient, StartShare, StepSize, exact,
};
use apportion_games::{
    Additive, Airport, ClosedForm, Coalitions, Game, GameError, Glove, SumOfUnanimity, TabulatedGame,
    WeightedVoting,
};
use apportion_solvers::{Ball, Hyperplane, Stopping, dykstra};
use apportion_values::Semivalue;

use crate::common::{Coverage, assert_unbiased, squared_error};

fn sampling() -> ProjectedGradient {
    ProjectedGradient { full_budget: FullBudget::Sample, ..ProjectedGradient::default() }
}

fn squared_norm(a: &[f64]) -> f64 {
    a.iter().map(|a| a * a).sum()
}

/// Remembers what it was asked, and in batches of what lengths.
struct Recorded<G> {
    game: G,
    asked: Mutex<(Coalitions, Vec<usize>)>,
}

impl<G: Game> Recorded<G> {
    fn new(game: G) -> Self {
        let asked = Mutex::new((Coalitions::new(game.players()), Vec::new()));
        Self { game, asked }
    }

    /// The coalitions asked for, without the empty and the full one that come first, and the lengths of batches.
    fn asked(self) -> (Coalitions, Vec<usize>) {
        let (coalitions, lengths) = self.asked.into_inner().unwrap();
        (coalitions.slice(2..coalitions.len()), lengths)
    }
}

impl<G: Game> Game for Recorded<G> {
    fn players(&self) -> usize {
        self.game.players()
    }
    fn outputs(&self) -> usize {
        self.game.outputs()
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let mut asked = self.asked.lock().unwrap();
        asked.0.extend(batch);
        asked.1.push(batch.len());
        self.game.values(batch, out)
    }
}

/// `q_l` as the documentation says, by entry l − 1, with pairs symmetric.
fn size_law(estimator: &ProjectedGradient, players: usize, norm: f64, value: f64) -> Vec<f64> {
    let n = players as f64;
    let weight = |size: usize| {
        let l = size as f64;
        let all = (n - 1.0) / (l * (n - l));
        match estimator.law {
            GradientLaw::Uniform => {
                // C(n, l) / 2^n, no factor of which overflows.
                (0..size).map(|i| (players - i) as f64 / (i + 1) as f64 * 2f64.powf(-n / l)).product()
            }
            GradientLaw::Importance => all * l.sqrt() * (norm * l.sqrt() + value),
            GradientLaw::Centred => {
                let row = (l * (n - l) / n).sqrt();
                all * row * (norm * row + 2.0 * value)
            }
        }
    };
    let mut law: Vec<f64> = (1..players).map(weight).collect();
    if estimator.pairing == Pairing::Paired {
        law = law.iter().zip(law.iter().rev()).map(|(a, b)| a + b).collect();
    }
    let total: f64 = law.iter().sum();
    law.iter().map(|weight| weight / total).collect()
}

/// The iterates φ_0, …, φ_T of the definition: rows of ones and zeros, each gradient by itself, projections by Dykstra's algorithm.
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
    let law = size_law(estimator, players, norm, value);
    let plane = Hyperplane::of_sum(players, total).unwrap();
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
            let factor = 2.0 * (n - 1.0) / (l * (n - l)) / law[row.size() - 1];
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
        for law in [GradientLaw::Uniform, GradientLaw::Importance, GradientLaw::Centred] {
            // Uniform draws of many players have factors that no game bears.
            if law == GradientLaw::Uniform && players > 12 {
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
                        let estimator = ProjectedGradient {
                            law,
                            pairing,
                            batch,
                            step,
                            average,
                            set,
                            start,
                            ..sampling()
                        };
                        let recorded = Recorded::new(game.clone());
                        let got = estimator.estimate(&recorded, 128, 5).unwrap();
                        let (asked, _) = recorded.asked();
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
                            let wanted: f64 =
                                iterates.iter().enumerate().map(|(t, phi)| weight(t) * phi[player]).sum();
                            let what = format!("{players} players, {estimator:?}");
                            assert!((value - wanted).abs() < 1e-9 * scale, "{what}: {value} for {wanted}");
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
    let plain = ProjectedGradient { start: StartShare::Removed, ..ProjectedGradient::constant(0.01) };
    for estimator in [sampling(), ProjectedGradient { full_budget: FullBudget::Sample, ..plain }] {
        for budget in [22, 82] {
            let runs: Vec<Vec<f64>> =
                (0..1000).map(|seed| estimator.estimate(&game, budget, seed).unwrap().values).collect();
            assert_unbiased(&runs, &truth, 4.5, &format!("{estimator:?} at {budget}"));
        }
    }
}

#[test]
fn squared_errors_fall_as_one_over_the_number_of_steps() {
    let games: [(&str, Box<dyn Game>, Vec<f64>); 4] = [
        {
            let game = Glove::new(3, 5).unwrap();
            ("glove", Box::new(game.clone()), game.shapley())
        },
        {
            let game = Airport::new((1..=10).map(f64::from).collect::<Vec<_>>()).unwrap();
            ("airport", Box::new(game.clone()), game.shapley())
        },
        {
            let game = WeightedVoting::new(8, vec![4, 3, 2, 2, 1, 1, 1]).unwrap();
            ("voting", Box::new(game.clone()), game.shapley())
        },
        {
            let game = SumOfUnanimity::random(12, 40, 5, 1);
            ("unanimity", Box::new(game.clone()), game.shapley())
        },
    ];
    for (name, game, truth) in &games {
        let enumerated = exact(game, Semivalue::Shapley).unwrap().values;
        assert!(squared_error(&enumerated, truth) < 1e-20);
        let radius = 1.5 * squared_norm(truth).sqrt();
        let published = |estimator: ProjectedGradient| ProjectedGradient {
            set: IterateSet::Ball(radius),
            full_budget: FullBudget::Sample,
            ..estimator
        };
        for (rule, estimator) in [
            ("default", sampling()),
            ("inverse", published(ProjectedGradient::inverse())),
            ("square root", published(ProjectedGradient::square_root(0.1))),
        ] {
            let mean_error = |steps: usize| {
                let budget = 2 + steps * if estimator.pairing == Pairing::Paired { 2 } else { 1 };
                let error = |seed| {
                    squared_error(&estimator.estimate(game, budget, seed).unwrap().values, &enumerated)
                };
                (0..40).map(error).sum::<f64>() / 40.0
            };
            let slope = (mean_error(16_000) / mean_error(1000)).ln() / 16f64.ln();
            eprintln!("{name}, {rule}: slope {slope:.2}");
            // Means of 40 runs have a standard error of at most 1/4 of them here: 0.13 of the slope.
            assert!((-1.6..=-0.6).contains(&slope), "{name}, {rule}: {slope}");
        }
    }
}

#[test]
fn a_constant_step_stays_at_an_error_in_proportion_to_it() {
    let game = SumOfUnanimity::random(10, 40, 5, 1);
    let truth = game.shapley();
    let error = |step: f64, budget: usize| {
        let estimator =
            ProjectedGradient { full_budget: FullBudget::Sample, ..ProjectedGradient::constant(step) };
        let one = |seed| squared_error(&estimator.estimate(&game, budget, seed).unwrap().values, &truth);
        (0..60).map(one).sum::<f64>() / 60.0
    };
    let (long, longer, short) = (error(0.01, 2000), error(0.01, 8000), error(0.0025, 8000));
    assert!((longer / long - 1.0).abs() < 0.4, "{long}, {longer}");
    assert!((3.0..5.5).contains(&(longer / short)), "{longer}, {short}");
}

#[test]
fn standard_errors_cover_the_truth_as_often_as_they_say() {
    let kept = |estimator: ProjectedGradient| ProjectedGradient {
        start: StartShare::Removed,
        full_budget: FullBudget::Sample,
        ..estimator
    };
    for (name, estimator, per_player) in [
        ("default", sampling(), 20),
        ("default", sampling(), 100),
        ("mini-batches", ProjectedGradient { batch: 4, step: StepSize::Delayed(0.5), ..sampling() }, 100),
        ("constant", kept(ProjectedGradient::constant(0.003)), 100),
        ("square root", kept(ProjectedGradient::square_root(0.05)), 100),
        ("last", ProjectedGradient { average: IterateAverage::Last, ..sampling() }, 100),
    ] {
        let mut coverage = Coverage::default();
        for seed in 0..60 {
            let game = SumOfUnanimity::random(20, 100, 5, seed);
            let got = estimator.estimate(&game, 20 * per_player, seed).unwrap();
            let law = got.diagnostics.error_law.unwrap();
            assert!(law.degrees_of_freedom >= 8.0 && law.bounded_draws.is_none());
            assert!((1.0..=19.0).contains(&law.directions[0]));
            coverage.add(&got.values, &got.std_errors.unwrap(), &game.shapley());
        }
        let coverage = coverage.share();
        eprintln!("{name} at {per_player}n: {coverage:.3}");
        assert!((0.91..=0.985).contains(&coverage), "{name} at {per_player}n: {coverage}");
    }
}

#[test]
fn results_are_the_same_on_any_number_of_threads() {
    let game = SumOfUnanimity::random(70, 200, 4, 1);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| ProjectedGradient::default().estimate(&game, 5000, 1).unwrap())
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn larger_budgets_go_on_from_smaller_ones_in_batches_of_bounded_length() {
    for (batch, pairing) in [(1, Pairing::Paired), (7, Pairing::Paired), (3000, Pairing::Unpaired)] {
        let estimator = ProjectedGradient { batch, pairing, ..ProjectedGradient::default() };
        let run = |budget: usize| {
            let recorded = Recorded::new(SumOfUnanimity::random(70, 100, 3, 1));
            let got = estimator.growing().estimate(&recorded, budget, 9).unwrap();
            assert!(got.evaluations <= budget);
            recorded.asked()
        };
        let (short, _) = run(6500);
        let (long, lengths) = run(13_001);
        assert_eq!(short, long.slice(0..short.len()));
        assert!(lengths.iter().all(|&length| length <= 2048));
    }
}

#[test]
fn several_outputs_are_each_estimated_as_if_alone() {
    let (first, second) = (SumOfUnanimity::random(9, 30, 3, 1), SumOfUnanimity::random(9, 30, 4, 2));
    let tables = [TabulatedGame::from_game(&first).unwrap(), TabulatedGame::from_game(&second).unwrap()];
    let both = tables[0].values_in_order().iter().zip(tables[1].values_in_order());
    let both = TabulatedGame::new(both.flat_map(|(a, b)| [*a, *b]).collect(), 2).unwrap();
    let together = sampling().estimate_seen(&both, 300, 4).unwrap();
    for (output, table) in tables.iter().enumerate() {
        let alone = sampling().estimate_seen(table, 300, 4).unwrap();
        assert_eq!(together.output(output), alone.values);
        let errors = together.std_errors.as_ref().unwrap().iter().skip(output).step_by(2).copied();
        assert_eq!(errors.collect::<Vec<_>>(), alone.std_errors.unwrap());
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
            let estimator = ProjectedGradient { set: IterateSet::Ball(radius), ..sampling() };
            let got = estimator.estimate(&game, 400, 1).unwrap();
            assert!(got.efficiency_gap() < 1e-10 * (1.0 + norm), "{players} players");
            assert!(players == 1 || squared_norm(&got.values).sqrt() <= radius * (1.0 + 1e-9));
        }
    }
}

#[test]
fn a_ball_that_touches_the_plane_leaves_equal_shares() {
    let game = SumOfUnanimity::new(4, 0.0, [(vec![0], 1.0), (vec![1, 2], 1.0)]).unwrap();
    let estimator = ProjectedGradient { set: IterateSet::Ball(1.0), ..sampling() };
    let got = estimator.estimate(&game, 50, 1).unwrap();
    assert!(got.values.iter().all(|value| (value - 0.5).abs() < 1e-7), "{:?}", got.values);
}

#[test]
fn a_bound_that_equal_shares_exceed_is_refused() {
    let game = SumOfUnanimity::new(4, 0.0, [(vec![0], 1.0), (vec![1, 2], 1.0)]).unwrap();
    let estimator = ProjectedGradient { set: IterateSet::Ball(0.99), ..sampling() };
    let refused = estimator.estimate(&game, 50, 1).unwrap_err();
    let wanted = |least: f64| (least - 1.0).abs() < 1e-15;
    assert!(
        matches!(refused, EstimatorError::Gradient(GradientError::NormBound { given: 0.99, least, output: 0 }) if wanted(least))
    );
}

#[test]
fn steps_that_are_too_long_are_reported_with_the_step() {
    let game = SumOfUnanimity::random(20, 60, 3, 1);
    for step in [1.0, 1e3, 1e300] {
        for estimator in [
            ProjectedGradient::constant(step),
            ProjectedGradient::square_root(10.0 * step),
            ProjectedGradient { step: StepSize::Constant(step), ..sampling() },
        ] {
            let refused = estimator.estimate(&game, 100_000, 1).unwrap_err();
            assert!(
                matches!(refused, EstimatorError::Gradient(GradientError::Diverged { step, norm }) if step >= 1 && (norm.is_nan() || norm > 1e8)),
                "{refused}"
            );
        }
    }
    // A ball keeps them, so that there is an answer, however bad.
    let bounded = ProjectedGradient { set: IterateSet::Ball(50.0), ..ProjectedGradient::constant(1.0) };
    assert!(bounded.estimate(&game, 1000, 1).unwrap().values.iter().all(|value| value.is_finite()));
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let game = SumOfUnanimity::random(10, 30, 3, 1);
    let refused = |estimator: ProjectedGradient| estimator.estimate(&game, 100, 1).unwrap_err();
    for given in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for step in [StepSize::Constant(given), StepSize::SquareRoot(given), StepSize::Reciprocal(given)] {
            let error = refused(ProjectedGradient { step, ..sampling() });
            assert!(matches!(error, EstimatorError::Gradient(GradientError::StepSize { .. })), "{step:?}");
        }
        let set = IterateSet::Ball(given);
        assert!(matches!(
            refused(ProjectedGradient { set, ..sampling() }),
            EstimatorError::Gradient(GradientError::Bound { .. })
        ));
        let value_bound = Some(given);
        assert!(matches!(
            refused(ProjectedGradient { value_bound, ..sampling() }),
            EstimatorError::Gradient(GradientError::Bound { .. })
        ));
    }
    for delay in [-1.0, f64::NAN, f64::INFINITY] {
        let step = StepSize::Delayed(delay);
        assert!(matches!(
            refused(ProjectedGradient { step, ..sampling() }),
            EstimatorError::Gradient(GradientError::StepSize { .. })
        ));
    }
    assert!(matches!(
        refused(ProjectedGradient { batch: 0, ..sampling() }),
        EstimatorError::Gradient(GradientError::Batch { given: 0 })
    ));
    let large = ProjectedGradient { batch: 50, ..sampling() };
    assert!(matches!(refused(large), EstimatorError::Budget { given: 100, least: 102, .. }));
    let many = ProjectedGradient::default().estimate(&SumOfUnanimity::random(64, 9, 3, 1), usize::MAX, 0);
    assert!(matches!(many, Err(EstimatorError::Draws { .. })));
}

#[test]
fn a_budget_of_all_coalitions_is_exact_unless_sampling_goes_on() {
    let game = SumOfUnanimity::random(7, 20, 4, 1);
    let got = ProjectedGradient::default().estimate(&game, 128, 1).unwrap();
    assert!(got.diagnostics.exact && squared_error(&got.values, &game.shapley()) < 1e-20);
    let got = sampling().estimate(&game, 128, 1).unwrap();
    assert!(!got.diagnostics.exact && got.evaluations == 128);
    // One player is never drawn for.
    let one = Additive::new(vec![3.0]).unwrap();
    assert_eq!(sampling().estimate(&one, 2, 1).unwrap().values, [3.0]);
    let least = ProjectedGradient { batch: 5, ..sampling() };
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
        run(ProjectedGradient { average: last, ..ProjectedGradient::authors_constant(0.02) }),
        run(ProjectedGradient::constant(0.01))
    );
}
