//! Samples that grow: what an estimator's growing twin asks the game for a budget is among what it asks for every larger one.

use std::collections::HashSet;

use apportion_estimators::{
    CoalitionalRegression, Estimator, NestedPermutation, OptimizedKernelShap, ProductSpace, exact,
};
use apportion_games::{Background, Game, MarginalGame, Partition, SumOfUnanimity};
use apportion_values::{CoalitionalValue, Semivalue, SolutionConcept};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::common::all::all;
use crate::common::{Recorded, largest_difference};

const RATIOS: [f64; 3] = [1.2, 2.0, 3.7];

/// The share of what is asked at each budget that is not asked at the larger ones: the largest, and the mean.
fn left_behind(estimator: &dyn Estimator, game: impl Game, budgets: &[usize]) -> (f64, f64) {
    let game = Recorded::new(game);
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
        for estimator in all() {
            let estimator = estimator.growing();
            let least = estimator.minimum_budget(players).max(4);
            let budgets = [least, 2 * players + 2, 3 * players + 5, 10 * players + 1].map(|m| m.max(least));
            let game = SumOfUnanimity::random(players, 30, 3, 1);
            // Sizes that are enumerated at some budgets only have a test of their own.
            if estimator.name() == "optimized-kernel-shap" {
                continue;
            }
            let (largest, _) = left_behind(&*estimator, &game, &budgets);
            assert_eq!(largest, 0.0, "{}, {players} players", estimator.name());
        }
    }
}

#[test]
fn the_growing_twin_goes_by_the_same_name_and_is_its_own_twin() {
    let game = SumOfUnanimity::random(9, 30, 3, 1);
    for estimator in all() {
        let growing = estimator.growing();
        assert_eq!((growing.name(), growing.value()), (estimator.name(), estimator.value()));
        let again = growing.growing();
        assert_eq!(
            growing.estimate(&game, 100, 3).expect("a legal budget").values,
            again.estimate(&game, 100, 3).expect("a legal budget").values,
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

fn product(row: &[f64]) -> f64 {
    row[0] * row[1] + row.iter().sum::<f64>()
}

#[test]
fn draws_in_scenarios_are_added_to_those_there_are() {
    let players = 5;
    let rows: Vec<f64> = (0..30 * players).map(|i| f64::from((i * i % 17) as u32) / 4.0).collect();
    let background = Background::rows(rows, players).expect("a legal background");
    let weights: Vec<f64> = (1..=30).map(f64::from).collect();
    let weighted = background.clone().with_weights(&weights).expect("positive weights");
    let partition = Partition::new(players, vec![vec![0, 3], vec![1], vec![2, 4]]).expect("all players");
    let owen = SolutionConcept::owen();
    let estimators: Vec<Box<dyn Estimator>> = vec![
        Box::new(
            NestedPermutation::grouped(owen.clone(), partition.clone()).expect("orders").keep_sampling(),
        ),
        Box::new(NestedPermutation::new(Semivalue::Shapley).expect("orders").plain().keep_sampling()),
        Box::new(ProductSpace::grouped(owen, partition).keep_sampling()),
    ];
    for background in [background, weighted] {
        let game = MarginalGame::new(&product, &[1.5; 5], &background).expect("a legal game");
        for estimator in &estimators {
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
        // 8 evaluations in a scenario for a draw: 7, 12, 18, 30 and 90 draws in 12 scenarios.
        for budget in [7, 10, 14, 22, 62] {
            let runs: Vec<_> = (0..1500)
                .map(|seed| estimator.estimate(&game, budget, seed).expect("a legal budget"))
                .collect();
            let (mut inside, mut claimed, mut made) = (0, 0.0, 0.0);
            for (player, want) in truth.iter().enumerate() {
                let mean = runs.iter().map(|run| run.values[player]).sum::<f64>() / 1500.0;
                let spread = runs.iter().map(|run| (run.values[player] - mean).powi(2)).sum::<f64>() / 1500.0;
                assert!(
                    (mean - want).abs() <= 4.5 * (spread / 1500.0).sqrt() + 1e-9,
                    "{budget}, {player}: {mean}, {want}"
                );
                for run in &runs {
                    let law = run.diagnostics.error_law.as_ref().expect("with standard errors");
                    let student = StudentsT::new(0.0, 1.0, law.degrees_of_freedom)
                        .expect("positive")
                        .inverse_cdf(0.975);
                    let error = run.std_errors.as_ref().expect("enough draws")[player];
                    inside += usize::from((run.values[player] - want).abs() <= student * error + 1e-9);
                    claimed += error * error;
                    made += (run.values[player] - want).powi(2);
                }
            }
            let coverage = inside as f64 / 6000.0;
            // By Student's t, as a player may vary in few scenarios that are drawn two or three times.
            assert!(coverage >= 0.88, "{budget} evaluations: {coverage}");
            // With less than two draws for each scenario errors count what differs between scenarios, of which little or nothing is left.
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

/// Coalitional values of each kind: along orders of the groups, by parts with and without the groups' values, one by one, in two steps.
fn coalitional() -> Vec<SolutionConcept> {
    let weighted = Semivalue::weighted_banzhaf(0.3).expect("a probability");
    vec![
        SolutionConcept::owen(),
        SolutionConcept::banzhaf_owen(),
        CoalitionalValue::symmetric_coalitional_banzhaf().into(),
        CoalitionalValue { between: Semivalue::Shapley, within: Semivalue::Banzhaf }.into(),
        CoalitionalValue { between: Semivalue::Shapley, within: weighted.clone() }.into(),
        CoalitionalValue { between: weighted, within: Semivalue::Shapley }.into(),
        SolutionConcept::TwoStepShapley,
    ]
}

/// Groups of these sizes, their members far apart.
fn groups(sizes: &[usize]) -> Partition {
    let players: usize = sizes.iter().sum();
    let step = (players / 2..).find(|&step| step > 1 && is_coprime(step, players));
    let step = step.expect("one less is coprime");
    let mut rest = (0..players).map(|place| place * step % players);
    let groups = sizes.iter().map(|&size| rest.by_ref().take(size).collect()).collect();
    Partition::new(players, groups).expect("all players")
}

fn is_coprime(a: usize, b: usize) -> bool {
    if b == 0 { a == 1 } else { is_coprime(b, a % b) }
}

#[test]
fn coalitional_regressions_ask_for_nothing_that_larger_budgets_do_not_ask_for() {
    let partitions: [&[usize]; 12] = [
        &[2, 1],
        &[4, 3],
        &[1, 6],
        &[2, 5, 1],
        &[3, 3, 4, 2],
        &[2, 2, 30],
        &[5, 1, 1, 1, 2],
        &[3, 2, 4, 2, 3],
        &[1, 3, 2, 2, 3, 1],
        &[20, 3, 11, 6],
        &[20, 3, 11, 6, 1, 29],
        &[3, 2, 1, 4, 2, 2, 3, 1],
    ];
    for sizes in partitions {
        let partition = groups(sizes);
        let players = partition.players();
        let game = Recorded::new(SumOfUnanimity::random(players, 2 * players, 3, 1));
        for value in coalitional() {
            let estimator =
                CoalitionalRegression::new(value.clone(), partition.clone()).expect("a regression");
            let least = estimator.minimum_budget(players);
            let estimator = estimator.growing();
            // Every budget where plans change, and a few far from there.
            let most = 2 * (1 << sizes.len()) + 8 * players;
            let step = (most / 60).max(1);
            let budgets = (least..most.max(least + 5)).step_by(step);
            let budgets =
                budgets.chain([5 * most, 20 * most, 100 * most].into_iter().filter(|_| players < 30));
            let mut before = HashSet::new();
            let mut last = 0;
            for budget in budgets {
                let estimate = estimator.estimate(&game, budget, 5).expect("a legal budget");
                assert!(
                    estimate.evaluations <= budget,
                    "{value}, {sizes:?}: {} of {budget}",
                    estimate.evaluations
                );
                let asked = game.take_set();
                assert!(before.is_subset(&asked), "{value}, {sizes:?}: {last} to {budget}");
                (before, last) = (asked, budget);
            }
        }
    }
}

/// Over 120 seeds, the squared error relative to the squared norm, and the share of the values within 1.96 standard errors; and how often
/// there were some.
fn error_and_coverage(
    estimator: &dyn Estimator,
    game: &dyn Game,
    truth: &[f64],
    budget: usize,
) -> (f64, f64, usize) {
    let norm: f64 = truth.iter().map(|value| value * value).sum();
    let (mut error, mut covered, mut judged) = (0.0, 0, 0);
    for seed in 0..120 {
        let got = estimator.estimate(game, budget, seed).expect("a legal budget");
        let differences = || got.values.iter().zip(truth).map(|(got, want)| (got - want).abs());
        error += differences().map(|difference| difference * difference / norm).sum::<f64>();
        if let Some(errors) = &got.std_errors {
            let is_covered = |(difference, error): (f64, &f64)| difference <= 1.96 * error + 1e-12;
            covered += differences().zip(errors).filter(|&pair| is_covered(pair)).count();
            judged += 1;
        }
    }
    (error / 120.0, covered as f64 / (judged * truth.len()) as f64, judged)
}

#[test]
fn growing_coalitional_regressions_are_as_accurate_as_others_and_say_so() {
    // Of each value over all budgets and partitions 0.95 to 1.05 of the squared error, and as much coverage but for half a point.
    for value in coalitional() {
        let (mut ln_ratios, mut runs) = (0.0, 0.0);
        let (mut lacking, mut judged_runs) = (0.0, 0.0);
        for sizes in [&[4, 4, 4, 4][..], &[5, 4, 3, 3, 2], &[2, 7, 1, 6]] {
            let partition = groups(sizes);
            let players = partition.players();
            let game = SumOfUnanimity::random(players, 6 * players, 4, 8);
            let truth = value.enumerate(&game, Some(&partition)).expect("few players").values;
            let fixed = CoalitionalRegression::new(value.clone(), partition).expect("a regression");
            let growing = fixed.growing();
            // Two-step values are exact soon.
            let times = if value == SolutionConcept::TwoStepShapley { [3, 4, 5] } else { [8, 11, 15] };
            for budget in times.map(|times| times * players) {
                let of_fixed = error_and_coverage(&fixed, &game, &truth, budget);
                let of_growing = error_and_coverage(&*growing, &game, &truth, budget);
                ln_ratios += (of_growing.0 / of_fixed.0).max(f64::MIN_POSITIVE).ln();
                runs += 1.0;
                // Few evaluations do not always tell their errors.
                if of_fixed.2 >= 100 {
                    assert!(
                        of_growing.2 + 12 >= of_fixed.2,
                        "{value}, {sizes:?}, {budget}: {}",
                        of_growing.2
                    );
                    lacking += of_fixed.1 - of_growing.1;
                    judged_runs += 1.0;
                }
            }
        }
        let (ratio, lacking) = (f64::exp(ln_ratios / runs), lacking / judged_runs);
        assert!(ratio <= 1.15, "{value}: {ratio} of the squared error");
        assert!(judged_runs >= 4.0 && lacking <= 0.02, "{value}: {lacking} less coverage");
    }
}

#[test]
fn growing_coalitional_regressions_are_exact_where_everything_is_asked_for() {
    for sizes in [&[2, 1][..], &[1, 4], &[3, 1, 2], &[4, 2, 3], &[2, 2, 2, 2], &[1, 2, 3, 2, 1]] {
        let partition = groups(sizes);
        let players = partition.players();
        let game = SumOfUnanimity::random(players, 5 * players, 4, 8);
        for value in coalitional() {
            let truth = value.enumerate(&game, Some(&partition)).expect("few players").values;
            let growing =
                CoalitionalRegression::new(value.clone(), partition.clone()).expect("a regression").growing();
            let got = growing.estimate(&game, 1 << 14, 3).expect("a legal budget");
            assert!(got.diagnostics.exact, "{value}, {sizes:?}");
            let difference = largest_difference(&got.values, &truth);
            assert!(difference < 1e-10, "{value}, {sizes:?}: {difference}");
            assert!(got.std_errors.is_some_and(|errors| errors.iter().all(|&error| error == 0.0)));
        }
    }
}
