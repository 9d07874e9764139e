//! Compares Optimized Monte Carlo with its definition, with enumeration and with closed forms, and tests its
//! error estimates.

use apportion_estimators::{
    Estimator, EstimatorError, Explanation, FullBudget, OptimizedMonteCarlo, Orders, PermutationShap,
    References, exact,
};
use apportion_games::{
    ClosedForm, Coalition, Coalitions, Counted, Game, Glove, MarginalGame, Purpose, SumOfUnanimity, stream,
};
use apportion_samplers::permutation;
use apportion_values::Semivalue;

use crate::common::{
    Coverage, Several, assert_close, assert_unbiased, marginal, mean_and_error, products, runs,
};

const ORDERS: [Orders; 3] = [Orders::Independent, Orders::Antithetic, Orders::Balanced];

fn sampling(orders: Orders) -> OptimizedMonteCarlo {
    OptimizedMonteCarlo::default().with_orders(orders).with_full_budget(FullBudget::Sample)
}

fn in_scenarios(orders: Orders) -> OptimizedMonteCarlo {
    sampling(orders).with_references(References::Drawn)
}

/// Returns the orders of the players in draw number `draw`.
fn walks(orders: Orders, players: usize, seed: u64, draw: u64) -> Vec<Vec<usize>> {
    let order = permutation(players, seed, draw);
    let count = if orders == Orders::Balanced { players } else { 1 };
    let mut walks: Vec<Vec<usize>> = (0..count).map(|by| [&order[by..], &order[..by]].concat()).collect();
    if orders != Orders::Independent {
        walks.extend(walks.clone().into_iter().map(|walk| walk.into_iter().rev().collect::<Vec<_>>()));
    }
    walks
}

/// Returns the marginal contributions along one order of the players, n × k. Each is computed from two
/// separate evaluations.
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

/// Computes the mean and the standard error of each entry in two passes.
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

#[test]
fn with_references_drawn_every_draw_is_in_one_scenario() {
    for (players, rows) in [(2, 3), (5, 4), (9, 20), (65, 2)] {
        let (explicand, background) = marginal(players, rows, false, 3);
        let game = MarginalGame::new(&products, &explicand, &background).unwrap();
        for orders in ORDERS {
            let draws = if orders == Orders::Balanced && players > 20 { 5 } else { 30 };
            let steps = sampling(orders).minimum_budget(players) - 2;
            // Each draw also evaluates v_b(∅) and v_b(N).
            let budget = 2 + (draws * (steps + 2)).div_ceil(rows);
            let counted = Counted::new(&game);
            let got = in_scenarios(orders).estimate_seen(&counted, budget, 5).unwrap();
            let draws = (budget - 2) * rows / (steps + 2);
            assert_eq!(counted.evaluations() as usize, 2 + draws * (steps + 2), "{orders:?}");
            assert!(got.evaluations <= budget && budget - got.evaluations <= (steps + 2) / rows + 1);
            assert_eq!(got.model_rows, 2 * rows + draws * (steps + 2));
            let distribution = apportion_samplers::Discrete::uniform(rows).unwrap();
            let samples: Vec<Vec<f64>> = (0..draws as u64)
                .map(|draw| {
                    let scenario = distribution.draw(&mut stream(5, Purpose::NestedPermutations, draw));
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
            assert!(got.diagnostics.error_distribution.unwrap().bounded_draws.is_none());
        }
    }
}

#[test]
fn with_references_drawn_estimates_are_unbiased_and_know_their_errors() {
    for weighted in [false, true] {
        let (explicand, background) = marginal(6, 15, weighted, 4);
        let game = MarginalGame::new(&products, &explicand, &background).unwrap();
        let truth = exact(&game, Semivalue::Shapley).unwrap().values;
        for orders in ORDERS {
            unbiased_and_covering(
                &runs(&in_scenarios(orders), &game, 60, 200),
                &truth,
                &format!("{orders:?}, weighted: {weighted}"),
            );
        }
    }
}

/// Asserts that the mean of the runs is within four standard errors of the truth for all players. (For up to
/// 15 values, this fails by chance with a probability below 0.001.) Also asserts that ±1.96 standard errors
/// cover the truth in 92 to 97% of the cases.
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
        let (averaged, drawn) = (sampling(orders), in_scenarios(orders));
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
        let twin =
            PermutationShap::default().with_full_budget(sample).estimate_seen(&game, budget, 4).unwrap();
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
fn estimates_are_unbiased_and_know_their_errors() {
    let skewed = Glove::new(2, 6).unwrap();
    let game = SumOfUnanimity::random(9, 50, 5, 3);
    for orders in ORDERS {
        for (name, game, truth) in
            [("glove", &skewed as &dyn Game, skewed.shapley()), ("terms", &game, game.shapley())]
        {
            let n = game.players();
            let runs = runs(&sampling(orders), game, 2 + 40 * n * (n - 1), 200);
            unbiased_and_covering(&runs, &truth, &format!("{name}, {orders:?}"));
        }
    }
}

#[test]
fn standard_errors_cover_the_truth_of_random_games() {
    for orders in ORDERS {
        let coverage = Coverage::of_random_games(&sampling(orders), (12, 80), 2 + 30 * 12 * 11, 120);
        assert_eq!(coverage.all, 1440, "all have standard errors");
        let coverage = coverage.share();
        assert!((0.92..=0.97).contains(&coverage), "{orders:?}: {coverage}");
    }
}

#[test]
fn all_there_is_is_divided() {
    for players in [2, 3, 8, 65, 130] {
        let game = Several(SumOfUnanimity::random(players, 30, 5, 4), 1e3);
        for orders in ORDERS {
            let estimator = sampling(orders);
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
fn least_budgets_are_one_draw() {
    let least = |orders| [1, 2, 3, 8, 20].map(|players| sampling(orders).minimum_budget(players));
    assert_eq!(least(Orders::Independent), [2, 3, 4, 9, 21]);
    assert_eq!(least(Orders::Antithetic), [2, 4, 6, 16, 40]);
    assert_eq!(least(Orders::Balanced), [2, 4, 8, 58, 382]);
}

#[test]
fn in_scenarios_a_budget_below_one_draw_is_refused_with_what_would_do() {
    let (explicand, background) = marginal(9, 20, false, 3);
    let game = MarginalGame::new(&products, &explicand, &background).unwrap();
    // A draw takes 74 evaluations in one of 20 scenarios, which cost as much as 3.7 evaluations of the game.
    assert!(in_scenarios(Orders::Balanced).estimate(&game, 6, 0).is_ok());
    let refused = in_scenarios(Orders::Balanced).estimate(&game, 5, 0).unwrap_err();
    assert!(matches!(refused, EstimatorError::Budget { actual: 5, min: 6, .. }), "{refused}");
    let exact = OptimizedMonteCarlo::default().with_references(References::Drawn);
    assert!(exact.estimate(&game, 512, 0).unwrap().diagnostics.exact);
}

#[test]
fn the_law_of_the_errors_is_known_where_there_are_errors() {
    let game = Several(SumOfUnanimity::random(10, 40, 4, 3), 1e3);
    let of = |draws: usize| sampling(Orders::Antithetic).estimate(&game, 2 + 18 * draws, 1).unwrap();
    let few = of(4);
    assert!(few.std_errors.is_none() && few.diagnostics.error_distribution.is_none());
    let distribution = of(5).diagnostics.error_distribution.unwrap();
    assert_eq!(distribution.bounded_draws.unwrap().draws, 5);
    assert!(distribution.degrees_of_freedom <= 4.0 && distribution.degrees_of_freedom >= 2.0);
    let got = of(4000);
    let distribution = got.diagnostics.error_distribution.unwrap();
    assert_eq!(distribution.directions.len(), 3);
    // Compute ν from the covariance of the estimates themselves.
    let runs: Vec<Vec<f64>> =
        runs(&sampling(Orders::Antithetic), &game, 2 + 18, 2000).iter().map(|run| run.output(0)).collect();
    let means = mean(&runs);
    let covariance = |a: usize, b: usize| {
        runs.iter().map(|run| (run[a] - means[a]) * (run[b] - means[b])).sum::<f64>() / 1999.0
    };
    let trace: f64 = (0..10).map(|i| covariance(i, i)).sum();
    let squares: f64 = (0..100).map(|at| covariance(at / 10, at % 10).powi(2)).sum();
    let want = trace * trace / squares;
    assert!(
        (distribution.directions[0] / want - 1.0).abs() < 0.15,
        "{} for {want}",
        distribution.directions[0]
    );
}
