//! Optimized Monte Carlo against its definition written out, against enumeration and closed forms, and what it promises of its errors.

use std::sync::atomic::{AtomicUsize, Ordering};

use apportion_estimators::{
    Estimator, EstimatorError, Explanation, FullBudget, OptimizedMonteCarlo, Orders, PermutationShap,
    References, exact,
};
use apportion_games::{
    Additive, Airport, Background, ClosedForm, Coalition, Coalitions, Counted, Game, Glove, MarginalGame,
    Purpose, SumOfUnanimity, stream,
};
use apportion_samplers::permutation;
use apportion_values::Semivalue;
use rand::RngExt;

use crate::common::{
    ByBatch, Coverage, Recorded, Several, assert_close, assert_unbiased, assert_within, mean_and_error,
    on_threads, random_table, squared_error,
};

const ORDERS: [Orders; 3] = [Orders::Independent, Orders::Antithetic, Orders::Balanced];

fn sampling(orders: Orders) -> OptimizedMonteCarlo {
    OptimizedMonteCarlo { orders, full_budget: FullBudget::Sample, ..OptimizedMonteCarlo::default() }
}

fn drawn(orders: Orders) -> OptimizedMonteCarlo {
    OptimizedMonteCarlo { references: References::Drawn, ..sampling(orders) }
}

/// The walks of draw number `draw`.
fn walks(orders: Orders, players: usize, seed: u64, draw: u64) -> Vec<Vec<usize>> {
    let order = permutation(players, seed, draw);
    let count = if orders == Orders::Balanced { players } else { 1 };
    let mut walks: Vec<Vec<usize>> = (0..count).map(|by| [&order[by..], &order[..by]].concat()).collect();
    if orders != Orders::Independent {
        walks.extend(walks.clone().into_iter().map(|walk| walk.into_iter().rev().collect::<Vec<_>>()));
    }
    walks
}

/// Contributions along one walk, n × k, each from two evaluations of its own.
fn contributions(game: &dyn Game, walk: &[usize], ask: &dyn Fn(&Coalitions, &mut [f64])) -> Vec<f64> {
    let (players, outputs) = (game.players(), game.outputs());
    let mut found = vec![0.0; players * outputs];
    for (at, &player) in walk.iter().enumerate() {
        let mut batch = Coalitions::new(players);
        batch.push(Coalition::from_members(players, walk[..at].iter().copied()).view());
        batch.push(Coalition::from_members(players, walk[..=at].iter().copied()).view());
        let mut values = vec![0.0; 2 * outputs];
        ask(&batch, &mut values);
        for output in 0..outputs {
            found[player * outputs + output] = values[outputs + output] - values[output];
        }
    }
    found
}

/// Means and standard errors in two passes.
fn means_and_errors(samples: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    (0..samples[0].len()).map(|at| mean_and_error(samples, at)).unzip()
}

fn mean(vectors: &[Vec<f64>]) -> Vec<f64> {
    let count = vectors.len() as f64;
    (0..vectors[0].len()).map(|at| vectors.iter().map(|vector| vector[at]).sum::<f64>() / count).collect()
}

#[test]
fn it_is_the_mean_of_contributions_along_its_orders() {
    for players in [2, 3, 8, 13, 65, 130] {
        let game = Several(SumOfUnanimity::random(players, 40, 4, 6), 1e3);
        for orders in ORDERS {
            let estimator = sampling(orders);
            let least = estimator.minimum_budget(players);
            let draws = if orders == Orders::Balanced && players > 20 { 2 } else { 7 };
            let got = estimator.estimate_seen(&game, 2 + draws * (least - 2), 8).unwrap();
            let samples: Vec<Vec<f64>> = (0..draws as u64)
                .map(|draw| {
                    let ask = |batch: &Coalitions, out: &mut [f64]| game.values(batch, out).unwrap();
                    let walks = walks(orders, players, 8, draw);
                    mean(&walks.iter().map(|walk| contributions(&game, walk, &ask)).collect::<Vec<_>>())
                })
                .collect();
            let (means, errors) = means_and_errors(&samples);
            assert_close(&got.values, &means, 1e-11, "mean");
            match &got.std_errors {
                Some(got) => assert_close(got, &errors, 1e-9, "standard error"),
                None => assert!(draws < 5),
            }
            let walked = walks(orders, players, 8, 0).len() * draws;
            assert_eq!(got.diagnostics.permutations, Some(walked));
        }
    }
}

/// A marginal game of products and sums, with weighted rows or not.
fn marginal(players: usize, rows: usize, weighted: bool, seed: u64) -> (Vec<f64>, Background) {
    let mut rng = stream(seed, Purpose::Experiment, 1);
    let explicand = (0..players).map(|_| rng.random_range(-1.0..1.0)).collect();
    let background: Vec<f64> = (0..rows * players).map(|_| rng.random_range(-1.0..1.0)).collect();
    let background = Background::rows(background, players).expect("finite rows");
    let weights: Vec<f64> = (1..=rows).map(|row| if weighted { row as f64 } else { 1.0 }).collect();
    (explicand, background.with_weights(&weights).expect("positive weights"))
}

fn model(row: &[f64]) -> f64 {
    row.windows(2).map(|two| two[0] * two[1]).sum::<f64>() + row[0] + 5.0
}

#[test]
fn with_references_drawn_every_draw_is_in_one_scenario() {
    for (players, rows) in [(2, 3), (5, 4), (9, 20), (65, 2)] {
        let (explicand, background) = marginal(players, rows, false, 3);
        let model = model;
        let game = MarginalGame::new(&model, &explicand, &background).unwrap();
        for orders in ORDERS {
            let draws = if orders == Orders::Balanced && players > 20 { 5 } else { 30 };
            let steps = sampling(orders).minimum_budget(players) - 2;
            // Draws ask for v_b(∅) and v_b(N) too.
            let budget = 2 + (draws * (steps + 2)).div_ceil(rows);
            let counted = Counted::new(&game);
            let got = drawn(orders).estimate_seen(&counted, budget, 5).unwrap();
            let draws = (budget - 2) * rows / (steps + 2);
            assert_eq!(counted.evaluations() as usize, 2 + draws * (steps + 2), "{orders:?}");
            assert!(got.evaluations <= budget && budget - got.evaluations <= (steps + 2) / rows + 1);
            assert_eq!(got.model_rows, 2 * rows + draws * (steps + 2));
            let law = apportion_samplers::Discrete::uniform(rows).unwrap();
            let samples: Vec<Vec<f64>> = (0..draws as u64)
                .map(|draw| {
                    let scenario = law.draw(&mut stream(5, Purpose::NestedPermutations, draw));
                    let ask = |batch: &Coalitions, out: &mut [f64]| {
                        game.values_in_scenarios(batch, &vec![scenario; batch.len()], out).unwrap();
                    };
                    let walks = walks(orders, players, 5, draw);
                    mean(&walks.iter().map(|walk| contributions(&game, walk, &ask)).collect::<Vec<_>>())
                })
                .collect();
            let (means, errors) = means_and_errors(&samples);
            assert_close(&got.values, &means, 1e-11, "mean");
            assert_close(&got.std_errors.unwrap(), &errors, 1e-9, "standard error");
            assert!(got.diagnostics.error_law.unwrap().bounded_draws.is_none());
        }
    }
}

#[test]
fn with_references_drawn_estimates_are_unbiased_and_know_their_errors() {
    for weighted in [false, true] {
        let (explicand, background) = marginal(6, 15, weighted, 4);
        let model = model;
        let game = MarginalGame::new(&model, &explicand, &background).unwrap();
        let truth = exact(&game, Semivalue::Shapley).unwrap().values;
        for orders in ORDERS {
            let runs: Vec<Explanation> =
                (0..200).map(|seed| drawn(orders).estimate(&game, 60, seed).unwrap()).collect();
            unbiased_and_covering(&runs, &truth, &format!("{orders:?}, weighted: {weighted}"));
        }
    }
}

/// The mean of the runs is within four standard errors of the truth for all players (of six and more comparisons the largest is beyond 4 with
/// probability below 0.001), and ±t standard errors cover it in 92 to 97 % of the cases.
fn unbiased_and_covering(runs: &[Explanation], truth: &[f64], what: &str) {
    let values: Vec<Vec<f64>> = runs.iter().map(|run| run.values.clone()).collect();
    assert_unbiased(&values, truth, 4.0, what);
    let mut coverage = Coverage::default();
    for run in runs {
        coverage.add(&run.values, run.std_errors.as_ref().expect("standard errors"), truth);
    }
    let coverage = coverage.share();
    eprintln!("{what}: {coverage:.3}");
    assert!((0.92..=0.97).contains(&coverage), "{what}: {coverage}");
}

#[test]
fn one_scenario_makes_no_difference() {
    let game = SumOfUnanimity::random(12, 40, 4, 6);
    for orders in ORDERS {
        let (averaged, drawn) = (sampling(orders), drawn(orders));
        let of = |estimator: OptimizedMonteCarlo| estimator.estimate(&game, 400, 3).unwrap();
        assert_eq!(of(averaged).values, of(drawn).values);
    }
}

#[test]
fn antithetic_it_is_permutation_shap_but_for_rounding() {
    for players in [3, 10, 70] {
        let game = Several(SumOfUnanimity::random(players, 60, 5, 2), 1e3);
        let budget = 20 * players + 7;
        let sample = FullBudget::Sample;
        let twin = PermutationShap { full_budget: sample }.estimate_seen(&game, budget, 4).unwrap();
        let got = sampling(Orders::Antithetic).estimate_seen(&game, budget, 4).unwrap();
        assert_close(&got.values, &twin.values, 1e-11, "values");
        assert_close(&got.std_errors.unwrap(), &twin.std_errors.unwrap(), 1e-9, "standard errors");
        assert_eq!(
            (got.evaluations, got.diagnostics.permutations),
            (twin.evaluations, twin.diagnostics.permutations)
        );
    }
}

#[test]
fn errors_fall_as_the_square_root_of_the_budget() {
    // The slope of the logarithm of the mean squared error, −1, from a budget to 64 times as much.
    let game = SumOfUnanimity::random(8, 60, 5, 8);
    let truth = exact(&game, Semivalue::Shapley).unwrap().values;
    for orders in ORDERS {
        let error = |budget: usize| {
            let squares = (0..60).map(|seed| {
                let got = sampling(orders).estimate(&game, budget, seed).unwrap().values;
                squared_error(&got, &truth)
            });
            squares.sum::<f64>().ln()
        };
        let slope = (error(2 + 64 * 280) - error(2 + 280)) / 64f64.ln();
        // Either mean of 60 sums of 8 squares is known within a fifth: four such errors of both are 0.27 of the slope.
        assert!((slope + 1.0).abs() < 0.27, "{orders:?}: {slope}");
    }
}

#[test]
fn estimates_are_unbiased_and_know_their_errors() {
    let skewed = Glove::new(2, 6).unwrap();
    let game = SumOfUnanimity::random(9, 50, 5, 3);
    for orders in ORDERS {
        for (name, game, truth) in
            [("glove", &skewed as &dyn Game, skewed.shapley()), ("terms", &game, game.shapley())]
        {
            let n = game.players();
            let runs: Vec<Explanation> = (0..200)
                .map(|seed| sampling(orders).estimate(game, 2 + 40 * n * (n - 1), seed).unwrap())
                .collect();
            unbiased_and_covering(&runs, &truth, &format!("{name}, {orders:?}"));
        }
    }
}

#[test]
fn standard_errors_cover_the_truth_of_random_games() {
    for orders in ORDERS {
        let mut coverage = Coverage::default();
        for seed in 0..120 {
            let game = SumOfUnanimity::random(12, 80, 5, seed);
            let got = sampling(orders).estimate(&game, 2 + 30 * 12 * 11, seed).unwrap();
            coverage.add(&got.values, &got.std_errors.unwrap(), &game.shapley());
        }
        let coverage = coverage.share();
        assert!((0.92..=0.97).contains(&coverage), "{orders:?}: {coverage}");
    }
}

#[test]
fn textbook_games_come_out_within_their_errors() {
    let airport = Airport::new((1..=10).map(|cost| f64::from(cost * cost)).collect::<Vec<_>>()).unwrap();
    let glove = Glove::new(6, 7).unwrap();
    let terms = SumOfUnanimity::random(65, 300, 6, 1);
    for orders in ORDERS {
        let games: [(&dyn ClosedForm, usize); 3] = [(&airport, 100), (&glove, 30), (&terms, 10)];
        for (game, blocks) in games {
            let n = game.players();
            let got = sampling(orders).estimate(&game, 2 + blocks * n * (n - 1), 2).unwrap();
            assert_within(&got, &game.shapley(), 5.0, 1e-9, &format!("{orders:?}"));
        }
    }
}

#[test]
fn additive_games_have_no_error_and_all_is_divided() {
    for players in [2, 3, 8, 65, 130] {
        let worth: Vec<f64> = (0..players).map(|i| (i as f64 * 0.7).sin()).collect();
        let game = Additive::new(worth.clone()).unwrap();
        for orders in ORDERS {
            let estimator = sampling(orders);
            let got = estimator.estimate(&game, estimator.minimum_budget(players), 1).unwrap();
            assert_close(&got.values, &worth, 1e-12, "worth");
            let game = Several(SumOfUnanimity::random(players, 30, 5, 4), 1e3);
            let got = estimator.estimate(&game, estimator.minimum_budget(players), 1).unwrap();
            let scale = got.prediction.iter().map(|x| x.abs()).fold(1.0, f64::max);
            assert!(got.efficiency_gap() < 1e-11 * scale, "{orders:?}: {}", got.efficiency_gap());
        }
    }
}

#[test]
fn evaluations_are_what_the_game_was_asked_for_and_within_the_budget() {
    for players in [2, 3, 7, 20, 70] {
        for orders in ORDERS {
            let least = sampling(orders).minimum_budget(players);
            for budget in [least, least + 1, 2 * least, 5 * least + 3] {
                let game = Counted::new(SumOfUnanimity::random(players, 20, 3, 1));
                let got = sampling(orders).estimate(&game, budget, 0).unwrap();
                assert_eq!(game.evaluations() as usize, got.evaluations);
                assert_eq!(got.evaluations, 2 + (budget - 2) / (least - 2) * (least - 2));
                assert!(got.distinct_coalitions <= got.evaluations);
            }
        }
    }
}

#[test]
fn least_budgets_are_one_draw_and_less_is_refused() {
    let least = |orders| [1, 2, 3, 8, 20].map(|players| sampling(orders).minimum_budget(players));
    assert_eq!(least(Orders::Independent), [2, 3, 4, 9, 21]);
    assert_eq!(least(Orders::Antithetic), [2, 4, 6, 16, 40]);
    assert_eq!(least(Orders::Balanced), [2, 4, 8, 58, 382]);
    for players in [1, 2, 3, 8, 20] {
        let game = SumOfUnanimity::random(players, 10, 3, 1);
        for orders in ORDERS {
            for estimator in
                [sampling(orders), drawn(orders), OptimizedMonteCarlo { orders, ..Default::default() }]
            {
                let least = estimator.minimum_budget(players);
                assert!(estimator.estimate(&game, least, 0).is_ok());
                for budget in [0, 1, least - 1] {
                    let refused = estimator.estimate(&game, budget, 0).unwrap_err();
                    assert!(matches!(refused, EstimatorError::Budget { least: said, .. } if said == least));
                }
                let refused = estimator.estimate(&game, usize::MAX, 0);
                let is_enumerated = players == 1 || estimator.full_budget == FullBudget::Enumerate;
                assert!(is_enumerated == refused.is_ok(), "{players}");
            }
        }
    }
}

#[test]
fn in_scenarios_a_budget_below_one_draw_is_refused_with_what_would_do() {
    let (explicand, background) = marginal(9, 20, false, 3);
    let model = model;
    let game = MarginalGame::new(&model, &explicand, &background).unwrap();
    // 74 evaluations in one of 20 scenarios are four of the game.
    assert!(drawn(Orders::Balanced).estimate(&game, 6, 0).is_ok());
    let refused = drawn(Orders::Balanced).estimate(&game, 5, 0).unwrap_err();
    assert!(matches!(refused, EstimatorError::Budget { given: 5, least: 6, .. }), "{refused}");
    let exact = OptimizedMonteCarlo { references: References::Drawn, ..Default::default() };
    assert!(exact.estimate(&game, 512, 0).unwrap().diagnostics.exact);
}

#[test]
fn full_budgets_are_exact_unless_asked_otherwise() {
    let game = random_table(8, 2, 100.0, 4);
    let truth = exact(&game, Semivalue::Shapley).unwrap().values;
    for orders in ORDERS {
        let got = OptimizedMonteCarlo { orders, ..Default::default() }.estimate(&game, 256, 0).unwrap();
        assert!(got.diagnostics.exact);
        assert_close(&got.values, &truth, 1e-12, "exact");
        assert!(!sampling(orders).estimate(&game, 256, 0).unwrap().diagnostics.exact);
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let (explicand, background) = marginal(30, 40, true, 3);
    let model = model;
    let marginal = MarginalGame::new(&model, &explicand, &background).unwrap();
    let table = random_table(12, 3, 100.0, 1);
    for orders in ORDERS {
        let of = |threads: usize| {
            on_threads(threads, || {
                let scenarios = drawn(orders).estimate(&marginal, 2000, 7).unwrap();
                [scenarios, sampling(orders).estimate(&table, 60_000, 7).unwrap()]
            })
        };
        assert_eq!(of(1), of(3), "{orders:?}");
    }
}

#[test]
fn draws_for_a_budget_are_the_first_of_those_for_a_larger_one() {
    let asked = |orders, budget| {
        let game = Recorded::new(SumOfUnanimity::random(20, 60, 4, 1));
        sampling(orders).growing().estimate(&game, budget, 3).unwrap();
        game.take()
    };
    for orders in ORDERS {
        let (small, large) = (asked(orders, 1000), asked(orders, 3333));
        assert!(large.len() > 2 * small.len() && large[..small.len()] == small, "{orders:?}");
    }
}

#[test]
fn batches_do_not_grow_with_the_budget_nor_with_the_players() {
    for (players, budget) in [(10, 200_000), (1000, 50_000), (5000, 30_000)] {
        for orders in [Orders::Independent, Orders::Antithetic] {
            let widest = AtomicUsize::new(0);
            let game = ByBatch(players, |batch: &Coalitions, out: &mut [f64]| {
                widest.fetch_max(batch.words().len(), Ordering::Relaxed);
                out.iter_mut().zip(batch.sizes()).for_each(|(value, &size)| *value = f64::from(size));
                Ok(())
            });
            let got = sampling(orders).estimate(&game, budget, 0).unwrap();
            assert_close(&got.values, &vec![1.0; players], 1e-12, "one each");
            assert!(widest.load(Ordering::Relaxed) <= 1 << 18, "{players}");
        }
    }
}

#[test]
fn the_law_of_the_errors_is_known_where_there_are_errors() {
    let game = Several(SumOfUnanimity::random(10, 40, 4, 3), 1e3);
    let of = |draws: usize| sampling(Orders::Antithetic).estimate(&game, 2 + 18 * draws, 1).unwrap();
    let few = of(4);
    assert!(few.std_errors.is_none() && few.diagnostics.error_law.is_none());
    let law = of(5).diagnostics.error_law.unwrap();
    assert_eq!(law.bounded_draws.unwrap().draws, 5);
    assert!(law.degrees_of_freedom <= 4.0 && law.degrees_of_freedom >= 2.0);
    let got = of(4000);
    let law = got.diagnostics.error_law.unwrap();
    assert_eq!(law.directions.len(), 3);
    // ν from the covariance of the estimates themselves.
    let runs: Vec<Vec<f64>> = (0..2000)
        .map(|seed| {
            let got = sampling(Orders::Antithetic).estimate(&game, 2 + 18, seed).unwrap();
            got.output(0)
        })
        .collect();
    let means = mean(&runs);
    let covariance = |a: usize, b: usize| {
        runs.iter().map(|run| (run[a] - means[a]) * (run[b] - means[b])).sum::<f64>() / 1999.0
    };
    let trace: f64 = (0..10).map(|i| covariance(i, i)).sum();
    let squares: f64 = (0..100).map(|at| covariance(at / 10, at % 10).powi(2)).sum();
    let want = trace * trace / squares;
    assert!((law.directions[0] / want - 1.0).abs() < 0.15, "{} for {want}", law.directions[0]);
}
