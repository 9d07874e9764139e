//! Tests that every estimator converges to the exact values at its rate. The mean squared error decreases
//! like 1/m, or faster if coalitions are drawn without replacement.

use apportion_estimators::{
    Allocation, Estimator, FullBudget, IterateSet, OptimizedMonteCarlo, Orders, Pairing, ProjectedGradient,
    StratifiedMonteCarlo, exact,
};
use apportion_games::{Airport, ClosedForm, Game, Glove, SumOfUnanimity, TabulatedGame, WeightedVoting};
use apportion_values::Semivalue;

use crate::common::all::{every, is_consistent};
use crate::common::{mean_squared_error, values};

const PLAYERS: usize = 12;
const BUDGETS: [usize; 3] = [300, 1000, 3600];
const SEEDS: u64 = 16;

fn games() -> Vec<(&'static str, TabulatedGame)> {
    let costs: Vec<f64> = (1..=PLAYERS).map(|player| (player * player) as f64).collect();
    let tabulated = |game: &dyn Game| TabulatedGame::from_game(game).unwrap();
    vec![
        ("airport", tabulated(&Airport::new(costs).unwrap())),
        ("glove", tabulated(&Glove::new(5, 7).unwrap())),
        ("unanimity", tabulated(&SumOfUnanimity::random(PLAYERS, 60, 5, 3))),
    ]
}

/// Returns the least-squares slope of the log mean squared error over the log budget, or `None` if there is
/// no error.
fn slope(
    estimator: &dyn Estimator,
    game: &dyn Game,
    truth: &[f64],
    budgets: &[usize],
    seeds: u64,
) -> Option<f64> {
    let error = |&budget: &usize| mean_squared_error(&values(estimator, game, budget, seeds), truth);
    let errors: Vec<f64> = budgets.iter().map(error).collect();
    let logs =
        || budgets.iter().map(|&budget| (budget as f64).ln()).zip(errors.iter().map(|error| error.ln()));
    let count = errors.len() as f64;
    let (x, y) = logs().fold((0.0, 0.0), |(x, y), (a, b)| (x + a / count, y + b / count));
    let (xy, xx) = logs().fold((0.0, 0.0), |(xy, xx), (a, b)| (xy + (a - x) * (b - y), xx + (a - x).powi(2)));
    errors.iter().any(|&error| error > 1e-20).then_some(xy / xx)
}

#[test]
fn squared_errors_fall_in_proportion_to_the_evaluations_or_faster() {
    for (name, game) in games() {
        // The learned spectrum takes as long as all other estimators together; `learned_spectrum` tests its
        // errors.
        let is_asked = |name: &str| name != "learned-spectrum" && is_consistent(name);
        for estimator in every().into_iter().filter(|estimator| is_asked(estimator.name())) {
            let truth = exact(&game, estimator.value().semivalue().unwrap().clone()).unwrap().values;
            // With 16 seeds, a mean squared error is accurate to about a third, and the slope over a factor
            // of 12 is accurate to 0.2.
            let slope = slope(&estimator, &game, &truth, &BUDGETS, SEEDS);
            assert!(slope.is_none_or(|slope| slope <= -0.7), "{} on {name}: {slope:?}", estimator.name());
        }
    }
}

#[test]
fn means_of_draws_fall_as_one_over_the_number_of_draws() {
    let full_budget = FullBudget::Sample;
    let (eight, fourteen) = (SumOfUnanimity::random(8, 60, 5, 8), SumOfUnanimity::random(14, 90, 6, 8));
    for orders in [Orders::Independent, Orders::Antithetic, Orders::Balanced] {
        let estimator = OptimizedMonteCarlo::default().with_orders(orders).with_full_budget(full_budget);
        let slope = slope(&estimator, &eight, &eight.shapley(), &[2 + 280, 2 + 64 * 280], 60).unwrap();
        // Each mean of 60 sums of 8 squares is accurate to a fifth. Four such errors in both means change the
        // slope by 0.27.
        assert!((slope + 1.0).abs() < 0.27, "{orders:?}: {slope}");
    }
    for allocation in [Allocation::Equal, Allocation::Neyman] {
        let estimator = StratifiedMonteCarlo::new(Semivalue::Shapley)
            .with_allocation(allocation)
            .with_full_budget(full_budget);
        // The budgets are 4 and 64 times the minimum.
        let slope = slope(&estimator, &fourteen, &fourteen.shapley(), &[4 * 338, 64 * 338], 40).unwrap();
        // Each mean of 40 sums of 14 squares is accurate to 9%. Four such errors in both means change the
        // slope by 0.19. With more draws, small strata are exhausted and the allocation is more accurate, so
        // the slope is somewhat steeper.
        assert!((-1.35..=-0.81).contains(&slope), "{allocation:?}: {slope}");
    }
}

#[test]
fn stochastic_gradients_fall_as_one_over_the_number_of_steps() {
    let games: [(&str, Box<dyn ClosedForm>); 4] = [
        ("glove", Box::new(Glove::new(3, 5).unwrap())),
        ("airport", Box::new(Airport::new((1..=10).map(f64::from).collect::<Vec<_>>()).unwrap())),
        ("voting", Box::new(WeightedVoting::new(8, vec![4, 3, 2, 2, 1, 1, 1]).unwrap())),
        ("unanimity", Box::new(SumOfUnanimity::random(12, 40, 5, 1))),
    ];
    for (name, game) in &games {
        let truth = game.shapley();
        let set = IterateSet::Ball(1.5 * truth.iter().map(|value| value * value).sum::<f64>().sqrt());
        for (rule, estimator) in [
            ("default", ProjectedGradient::default()),
            ("inverse", ProjectedGradient::inverse().with_set(set)),
            ("square root", ProjectedGradient::square_root(0.1).with_set(set)),
        ] {
            let estimator = estimator.with_full_budget(FullBudget::Sample);
            let per_step = if estimator.pairing == Pairing::Paired { 2 } else { 1 };
            let budgets = [1000, 16_000].map(|steps| 2 + steps * per_step);
            let slope = slope(&estimator, game, &truth, &budgets, 40).unwrap();
            eprintln!("{name}, {rule}: slope {slope:.2}");
            // Means of 40 runs have a relative standard error of at most 1/4 here, which changes the slope by
            // 0.13.
            assert!((-1.6..=-0.6).contains(&slope), "{name}, {rule}: {slope}");
        }
    }
}
