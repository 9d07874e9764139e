//! Tests growing samples: the evaluations of an estimator's growing variant for a budget must be among its
//! evaluations for every larger budget.

use apportion_estimators::{
    Allocation, CoalitionalRegression, Estimator, NestedPermutation, OptimizedKernelShap,
    OptimizedMonteCarlo, Orders, Pairing, ProductSpace, ProjectedGradient, StratifiedMonteCarlo, exact,
};
use apportion_games::{Background, Game, MarginalGame, Partition, SumOfUnanimity};
use apportion_values::{Semivalue, SolutionConcept};

use crate::common::all::every;
use crate::common::{
    RecordingGame, Several, assert_unbiased, marginal, mean_squared_error, products, runs, scattered,
};

const RATIOS: [f64; 3] = [1.2, 2.0, 3.7];

/// Returns the fraction of the evaluations for a budget that are not made for a larger budget: the maximum
/// and the mean over `budgets` and [`RATIOS`].
fn left_behind(estimator: &dyn Estimator, game: impl Game, budgets: &[usize]) -> (f64, f64) {
    let game = RecordingGame::new(game);
    let (mut largest, mut sum, mut count) = (0.0f64, 0.0, 0.0);
    for &budget in budgets {
        let ask = |budget: usize| {
            estimator.estimate(&game, budget, 5).expect("a legal budget");
            game.take_set()
        };
        let small = ask(budget);
        for ratio in RATIOS {
            let large = ask((budget as f64 * ratio).ceil() as usize);
            let share = small.difference(&large).count() as f64 / small.len() as f64;
            largest = largest.max(share);
            sum += share;
            count += 1.0;
        }
    }
    (largest, sum / count)
}

#[test]
fn everything_asked_at_a_budget_is_asked_at_every_larger_one() {
    for players in [2, 5, 8, 13, 70, 130] {
        for estimator in every() {
            let estimator = estimator.growing();
            let least = estimator.minimum_budget(players).max(4);
            let budgets = [least, 2 * players + 2, 3 * players + 5, 10 * players + 1].map(|m| m.max(least));
            let game = SumOfUnanimity::random(players, 30, 3, 1);
            // For many players, methods that fit trees are slow. They evaluate the same coalitions as
            // Leverage SHAP and Kernel Banzhaf, which are included.
            let fits_trees = ["learned-spectrum", "proxy-residual", "odd-shap"].contains(&estimator.name())
                || estimator.name().contains("msr") && estimator.name().starts_with("regression")
                || estimator.name().starts_with("proxy-shap");
            if fits_trees && players > 13 {
                continue;
            }
            // Optimized Kernel SHAP, which enumerates more sizes at larger budgets, has a separate test.
            // Methods with a very large minimum budget are skipped.
            if estimator.name() == "optimized-kernel-shap" || least > 10_000 {
                continue;
            }
            let (largest, _) = left_behind(&*estimator, &game, &budgets);
            assert_eq!(largest, 0.0, "{}, {players} players", estimator.name());
        }
    }
}

#[test]
fn draws_that_come_in_order_begin_with_those_of_a_smaller_budget() {
    let orders = |orders| OptimizedMonteCarlo::default().with_orders(orders);
    let strata = |allocation| StratifiedMonteCarlo::new(Semivalue::Shapley).with_allocation(allocation);
    let gradient = |batch, pairing| ProjectedGradient::default().with_batch(batch).with_pairing(pairing);
    let estimators: [&dyn Estimator; 8] = [
        &strata(Allocation::Equal),
        &strata(Allocation::Neyman),
        &orders(Orders::Independent),
        &orders(Orders::Antithetic),
        &orders(Orders::Balanced),
        &gradient(1, Pairing::Paired),
        &gradient(7, Pairing::Paired),
        &gradient(3000, Pairing::Unpaired),
    ];
    let game = RecordingGame::new(Several(SumOfUnanimity::random(15, 60, 4, 1), 10.0));
    for estimator in estimators {
        let estimator = estimator.growing();
        let asked = |budget| {
            let got = estimator.estimate(&game, budget, 3).unwrap();
            let asked = game.take();
            assert_eq!(got.evaluations, asked.len(), "{}", estimator.name());
            asked
        };
        let large = asked(20_000);
        let least = estimator.minimum_budget(15).max(392);
        for budget in [least, 1000, 2717, 2718, 5003, 12_000].into_iter().filter(|&budget| budget >= least) {
            let small = asked(budget);
            assert!(large[..small.len()] == small, "{}, {budget}", estimator.name());
        }
    }
}

#[test]
fn the_growing_twin_goes_by_the_same_name_and_is_its_own_twin() {
    let game = SumOfUnanimity::random(9, 30, 3, 1);
    for estimator in every() {
        let growing = estimator.growing();
        assert_eq!((growing.name(), growing.value()), (estimator.name(), estimator.value()));
        let again = growing.growing();
        assert_eq!(
            growing.estimate(&game, 128, 3).expect("a legal budget").values,
            again.estimate(&game, 128, 3).expect("a legal budget").values,
            "{}",
            estimator.name()
        );
    }
}

#[test]
fn optimized_kernel_shap_leaves_little_aside_where_it_enumerates_one_size_more() {
    let estimator = OptimizedKernelShap.growing();
    for players in [8, 9, 12, 13] {
        let game = SumOfUnanimity::random(players, 30, 3, 1);
        let budgets: Vec<usize> =
            (2..40).map(|step| step * players).filter(|m| 4 * m < 1 << players).collect();
        let (largest, mean) = left_behind(&*estimator, &game, &budgets);
        assert!(largest <= 0.05 && mean <= 0.005, "{players} players: {largest}, {mean} on average");
    }
}

#[test]
fn draws_in_scenarios_are_added_to_those_there_are() {
    let partition = scattered(&[2, 1, 2], 1);
    let owen = SolutionConcept::owen();
    let estimators: [&dyn Estimator; 3] = [
        &NestedPermutation::grouped(owen.clone(), partition.clone()).expect("orders").keep_sampling(),
        &NestedPermutation::new(Semivalue::Shapley).expect("orders").plain().keep_sampling(),
        &ProductSpace::grouped(owen, partition).keep_sampling(),
    ];
    for weighted in [false, true] {
        let (explicand, background) = marginal(5, 30, weighted, 1);
        let game = MarginalGame::new(&products, &explicand, &background).expect("a legal game");
        for estimator in estimators {
            let (largest, _) = left_behind(&*estimator.growing(), &game, &[3, 4, 7, 12, 30, 100]);
            assert_eq!(largest, 0.0, "{}", estimator.name());
        }
    }
}

#[test]
fn growing_nested_permutations_are_unbiased_and_their_errors_cover_the_truth() {
    let players = 4;
    let rows: Vec<f64> = (0..12 * players).map(|i| f64::from((i * i * 7 % 31) as u32) / 8.0).collect();
    let background = Background::rows(rows, players).expect("a legal background");
    let weights: Vec<f64> = (0..12).map(|i| 1.0 + f64::from(i % 3)).collect();
    let weighted = background.clone().with_weights(&weights).expect("positive weights");
    for background in [background, weighted] {
        let model = |row: &[f64]| row[0] * row[1] * row[2] + row[3] * row[0] + row[2];
        let game = MarginalGame::new(&model, &[2.0, 1.0, 3.0, 0.5], &background).expect("a legal game");
        let truth = exact(&game, Semivalue::Shapley).expect("few players").values;
        let estimator = NestedPermutation::new(Semivalue::Shapley).expect("orders").keep_sampling().growing();
        // A draw takes 8 evaluations in one scenario. The budgets are sufficient for 7, 12, 18, 30 and 90
        // draws in 12 scenarios.
        for budget in [7, 10, 14, 22, 62] {
            let runs = runs(&estimator, &game, budget, 1500);
            let values: Vec<Vec<f64>> = runs.iter().map(|run| run.values.clone()).collect();
            assert_unbiased(&values, &truth, 4.5, &format!("{budget} evaluations"));
            let made = 1500.0 * mean_squared_error(&values, &truth);
            let (mut inside, mut claimed) = (0, 0.0);
            for run in &runs {
                let intervals = run.intervals(0.95).expect("enough draws");
                let held = intervals.iter().zip(&truth);
                inside +=
                    held.filter(|((low, high), want)| low - 1e-9 <= **want && **want <= high + 1e-9).count();
                claimed += run.std_errors.iter().flatten().map(|error| error * error).sum::<f64>();
            }
            let coverage = inside as f64 / 6000.0;
            // Intervals use Student's t distribution, because a player may vary in few scenarios only, each
            // of which is drawn two or three times.
            assert!(coverage >= 0.88, "{budget} evaluations: {coverage}");
            // With fewer than two draws per scenario, standard errors include the variance between scenarios,
            // which hardly affects the estimates.
            if budget >= 2 * 8 {
                let ratio = claimed / made;
                assert!(
                    (0.85..=1.3).contains(&ratio),
                    "{budget} evaluations: {ratio} of the mean squared error"
                );
                assert!(coverage <= 0.975, "{budget} evaluations: {coverage}");
            }
        }
    }
}

#[test]
fn regressions_of_groups_alone_grow() {
    let game = SumOfUnanimity::random(9, 40, 3, 1);
    let groups = (0..3).map(|group| vec![group, group + 3, group + 6]).collect();
    let (three, alone) =
        (Partition::new(9, groups), Partition::new(9, (0..9).map(|player| vec![player]).collect()));
    let quotient = SolutionConcept::Quotient(Semivalue::Shapley);
    for (value, partition) in [(quotient, three), (SolutionConcept::owen(), alone)] {
        let estimator =
            CoalitionalRegression::new(value, partition.expect("all players")).expect("a regression");
        let budgets = [8, 20, 60, 130].map(|m| m.max(estimator.minimum_budget(9)));
        assert_eq!(left_behind(&*estimator.growing(), &game, &budgets).0, 0.0);
    }
}
