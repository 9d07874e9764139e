//! Every estimator comes to the values of enumeration at its rate: the mean squared error falls as 1/m, or faster where coalitions are
//! drawn without replacement.

use apportion_estimators::{
    Allocation, Estimator, FullBudget, OptimizedMonteCarlo, Orders, StratifiedMonteCarlo, exact,
};
use apportion_games::{Airport, Coalitions, Game, Glove, SumOfUnanimity, TabulatedGame};
use apportion_values::Semivalue;

use crate::common::all::all;
use crate::common::squared_error;

const PLAYERS: usize = 12;
const BUDGETS: [usize; 4] = [300, 700, 1600, 3600];
const SEEDS: u64 = 20;

fn tabulated(game: &dyn Game) -> TabulatedGame {
    let mut values = vec![0.0; 1 << PLAYERS];
    game.values(&Coalitions::from_masks(PLAYERS, 0..1 << PLAYERS), &mut values).unwrap();
    TabulatedGame::new(values, 1).unwrap()
}

fn games() -> Vec<(&'static str, TabulatedGame)> {
    let costs: Vec<f64> = (1..=PLAYERS).map(|player| (player * player) as f64).collect();
    vec![
        ("airport", tabulated(&Airport::new(costs).unwrap())),
        ("glove", tabulated(&Glove::new(5, 7).unwrap())),
        ("unanimity", tabulated(&SumOfUnanimity::random(PLAYERS, 60, 5, 3))),
    ]
}

/// Least squares slope of ln y over ln x.
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), (a, b)| (x + a / count, y + b / count));
    let (xy, xx) =
        logs.iter().fold((0.0, 0.0), |(xy, xx), (a, b)| (xy + (a - x) * (b - y), xx + (a - x).powi(2)));
    xy / xx
}

#[test]
fn squared_errors_fall_in_proportion_to_the_evaluations_or_faster() {
    let monte_carlo = |orders| OptimizedMonteCarlo { orders, ..OptimizedMonteCarlo::default() };
    let mut estimators = all();
    estimators.push(Box::new(monte_carlo(Orders::Balanced)));
    estimators.push(Box::new(StratifiedMonteCarlo::new(Semivalue::Shapley)));
    estimators.push(Box::new(StratifiedMonteCarlo {
        allocation: Allocation::Equal,
        full_budget: FullBudget::Sample,
        ..StratifiedMonteCarlo::new(Semivalue::Banzhaf)
    }));
    for (name, game) in games() {
        for estimator in &estimators {
            let value = estimator.value().semivalue().unwrap().clone();
            let truth = exact(&game, value).unwrap().values;
            let points: Vec<(f64, f64)> = BUDGETS
                .into_iter()
                .map(|budget| {
                    let squares = |seed: u64| -> f64 {
                        let got = estimator.estimate(&game, budget, seed).unwrap().values;
                        squared_error(&got, &truth)
                    };
                    (budget as f64, (0..SEEDS).map(squares).sum::<f64>() / SEEDS as f64)
                })
                .collect();
            // Of 20 seeds a mean squared error is known within a third or so, and the slope over a factor of 12 within 0.2.
            if points.iter().any(|&(_, error)| error > 1e-20) {
                let slope = slope(&points);
                assert!(slope <= -0.7, "{} on {name}: slope {slope:.2} of {points:?}", estimator.name());
            }
        }
    }
}
