//! Tests the common guarantees of estimators on all of them.

use apportion_estimators::{
    Draws, Estimator, EstimatorError, FullBudget, LeverageShap, OptimizedMonteCarlo, Orders, Pairing,
    PermutationShap, ProjectedGradient, exact,
};
use apportion_games::{
    Airport, ClosedForm, Coalitions, Counted, Game, GameError, Glove, MarginalGame, SumOfUnanimity,
    TabulatedGame,
};
use apportion_values::{Semivalue, SolutionConcept};
use proptest::prelude::*;

use crate::common::all::{all, every, is_consistent, of_semivalue, of_surrogates, sampling};
use crate::common::{
    ByBatch, Coverage, assert_close, assert_within, largest_difference, marginal, mean_and_error, of_terms,
    on_threads, products, random_table, semivalues, values,
};

/// Returns every estimator and its growing variant.
fn with_growing() -> Vec<Box<dyn Estimator>> {
    let growing = every().iter().map(Estimator::growing).collect::<Vec<_>>();
    every().into_iter().chain(growing).collect()
}

/// Returns whether the named estimator is exact for additive games. Estimators are not exact if they compare
/// means over different coalitions, use a regression about ½ without an intercept, use gradient descent, or
/// compute the result from trees.
fn meets_additive_games(name: &str) -> bool {
    !["msr", "one-sample-fits-all", "kernel-banzhaf-unpaired-without-intercept", "sgd"].contains(&name)
        && is_consistent(name)
}

/// Returns the semivalue that `estimator` estimates.
fn semivalue(estimator: &impl Estimator) -> Semivalue {
    estimator.value().semivalue().expect("a semivalue").clone()
}

#[test]
fn a_budget_of_all_coalitions_gives_the_exact_values() {
    for players in [1, 2, 3, 4, 7, 8, 10] {
        for outputs in [1, 3] {
            let game = random_table(players, outputs, 100.0, 11);
            for estimator in with_growing() {
                let truth = exact(&game, semivalue(&estimator)).unwrap();
                for budget in [1 << players, (1 << players) + 5] {
                    let got = estimator.estimate(&game, budget, 3).unwrap();
                    let name = estimator.name();
                    assert!(
                        largest_difference(&got.values, &truth.values) < 1e-10,
                        "{name}, {players} players"
                    );
                    assert_eq!(got.evaluations, 1 << players, "{name}");
                    assert_eq!(got.std_errors, Some(vec![0.0; players * outputs]), "{name}");
                }
            }
        }
    }
}

#[test]
fn the_regression_itself_is_exact_when_its_sample_is_complete() {
    // The result must come from the sampled regression on all rows, not from enumeration.
    for players in [2, 3, 4, 5, 8, 11] {
        let game = random_table(players, 2, 100.0, 5);
        let truth = exact(&game, Semivalue::Shapley).unwrap();
        for draws in [Draws::FixedCounts, Draws::Bernoulli, Draws::Growing, Draws::GrowingBernoulli] {
            for pairing in [Pairing::Paired, Pairing::Unpaired] {
                let estimator = LeverageShap::default()
                    .with_draws(draws)
                    .with_pairing(pairing)
                    .with_full_budget(FullBudget::Sample);
                let got = estimator.estimate(&game, 1 << players, 1).unwrap();
                let name = estimator.name();
                assert!(largest_difference(&got.values, &truth.values) < 1e-10, "{name}, {players} players");
                assert!(got.diagnostics.exact, "{name}");
                if let Some(errors) = got.std_errors {
                    assert!(errors.iter().all(|&error| error < 1e-10), "{name}: {errors:?}");
                }
            }
        }
    }
}

#[test]
fn the_values_of_all_players_sum_to_what_there_is_to_divide() {
    for (players, budget) in [(2, 4), (5, 20), (12, 60), (13, 131), (70, 500), (130, 700)] {
        let game = SumOfUnanimity::random(players, 3 * players, 4, 2);
        // Exclude stratified sampling, which gives every player separate draws, and trees, which divide their
        // own predictions.
        let is_apart = |name: &str| {
            ["stratified", "regression-msr", "proxy-shap", "odd-shap"]
                .iter()
                .any(|start| name.starts_with(start))
        };
        let divides = |name: &str, value: &SolutionConcept| value.is_efficient() && !is_apart(name);
        for estimator in with_growing().iter().filter(|one| divides(one.name(), &one.value())) {
            let budget = budget.max(estimator.minimum_budget(players));
            let explanation = estimator.estimate(&game, budget, 9).unwrap();
            let scale = explanation.values.iter().map(|value| value.abs()).sum::<f64>().max(1.0);
            assert!(explanation.efficiency_gap() < 1e-10 * scale, "{}, {players} players", estimator.name());
        }
    }
}

#[test]
fn additive_games_are_met_exactly_once_the_regression_has_full_rank() {
    for players in [2, 3, 8, 20, 65, 130] {
        let worth: Vec<f64> = (0..players).map(|i| (i as f64 * 0.7).sin()).collect();
        let game = apportion_games::Additive::new(worth.clone()).unwrap();
        for estimator in with_growing().iter().filter(|estimator| meets_additive_games(estimator.name())) {
            let budget = (6 * players + 2).max(estimator.minimum_budget(players));
            let got = estimator.estimate(&game, budget, 4).unwrap();
            let tolerance = if got.diagnostics.rank.is_some() { 1e-9 } else { 1e-12 };
            assert!(
                got.diagnostics.rank == got.diagnostics.unknowns,
                "{}, {players} players: {:?}",
                estimator.name(),
                got.diagnostics
            );
            assert!(largest_difference(&got.values, &worth) < tolerance, "{}, {players}", estimator.name());
        }
    }
}

/// Returns whether the weights of the evaluations are learned from the values, so that the estimate is
/// neither linear in the game nor unbiased.
fn is_learned(name: &str) -> bool {
    name == "learned-spectrum"
}

#[test]
fn estimates_are_unbiased_up_to_the_noise_of_200_seeds() {
    // Permutations and Monte Carlo are exactly unbiased. Regressions are asymptotically unbiased, so use a
    // budget of many evaluations per player.
    let game = SumOfUnanimity::random(9, 40, 4, 3);
    let is_judged = |name: &str| is_consistent(name) && !is_learned(name);
    for estimator in with_growing().into_iter().filter(|estimator| is_judged(estimator.name())) {
        let truth = of_terms(&game, &semivalue(&estimator));
        let runs = values(&estimator, &game, 200, 200);
        for (player, want) in truth.iter().enumerate() {
            let (mean, error) = mean_and_error(&runs, player);
            let bound = 4.5 * error + 1e-3 * want.abs();
            assert!((mean - want).abs() <= bound, "{} player {player}: {mean} for {want}", estimator.name());
        }
    }
}

#[test]
fn standard_errors_cover_the_truth_as_often_as_they_say() {
    // Count the coverage of 95% intervals over 40 random games of 20 players. The bound allows for
    // correlation among the players in a run.
    let mut with_errors = 0;
    // Exclude the product space, which gives every player nine contributions here, too few to estimate their
    // variance; its own tests use more. Also exclude the published methods of other authors, which report no
    // errors and fit many trees.
    let of_surrogates = of_surrogates().into_iter().filter(|estimator| estimator.name() == "proxy-residual");
    let estimators =
        all().into_iter().chain(of_surrogates).filter(|estimator| estimator.name() != "product-space");
    // The learned spectrum takes as long as all other estimators together, so test it without its growing
    // variant.
    let kinds = |estimator: Box<dyn Estimator>| match is_learned(estimator.name()) {
        true => vec![estimator],
        false => vec![estimator.growing(), estimator],
    };
    for estimator in estimators.flat_map(kinds) {
        let games = if is_learned(estimator.name()) { 25 } else { 40 };
        let coverage = Coverage::of_random_games(&estimator, (20, 100), 400, games);
        if coverage.all > 0 {
            let coverage = coverage.share();
            eprintln!("{} {}: {coverage:.3}", estimator.name(), estimator.value());
            assert!((0.91..=0.985).contains(&coverage), "{}: {coverage}", estimator.name());
            with_errors += 1;
        }
    }
    // The fixed and growing estimators are: Leverage and Kernel SHAP, paired or not, and optimized;
    // permutations; Monte Carlo and sample reuse; Kernel Banzhaf; nested permutations; optimized Monte Carlo;
    // proxy-residual regression. The learned spectrum is added.
    assert_eq!(with_errors, 2 * (10 + 7 + 11 + 2 + 2 + 1 + 4) + 2);
}

#[test]
fn no_standard_error_is_zero_unless_the_answer_is_exact() {
    // At m = 254 of 256, Bernoulli sampling draws every coalition for a third of the seeds, but uses the
    // expected weights.
    let game = random_table(8, 1, 100.0, 2);
    let truth = exact(&game, Semivalue::Shapley).unwrap().values;
    for pairing in [Pairing::Paired, Pairing::Unpaired] {
        let estimator = LeverageShap::default().with_draws(Draws::Bernoulli).with_pairing(pairing);
        for (seed, budget) in (0..40).flat_map(|seed| [(seed, 250), (seed, 254)]) {
            let got = estimator.estimate(&game, budget, seed).unwrap();
            let Some(errors) = got.std_errors else { continue };
            for ((value, truth), error) in got.values.iter().zip(&truth).zip(errors) {
                assert!(error > 0.0 || (value - truth).abs() < 1e-10, "{} seed {seed}", estimator.name());
            }
        }
    }
}

#[test]
fn few_permutations_have_no_standard_errors() {
    let game = SumOfUnanimity::random(10, 40, 4, 3);
    let errors = |budget| PermutationShap::default().estimate(&game, budget, 1).unwrap().std_errors;
    assert!(errors(2 + 4 * 18).is_none());
    assert!(errors(2 + 5 * 18).is_some());
}

#[test]
fn a_budget_beyond_all_memory_is_refused() {
    let game = SumOfUnanimity::random(64, 10, 3, 1);
    for estimator in with_growing().iter().filter(|estimator| estimator.name() != "permutation") {
        let refused = estimator.estimate(&game, usize::MAX, 0).unwrap_err();
        let is_too_much = matches!(
            refused,
            EstimatorError::Sampler(_) | EstimatorError::Draws { .. } | EstimatorError::Memory(_)
        );
        assert!(is_too_much, "{}: {refused}", estimator.name());
    }
}

#[test]
fn a_budget_below_the_least_is_refused_and_the_least_works() {
    for players in [1, 2, 3, 4, 5, 6, 10, 40] {
        let game = SumOfUnanimity::random(players, 10, 3, 1);
        for estimator in every().into_iter().chain(sampling()) {
            let least = estimator.minimum_budget(players);
            assert!(estimator.estimate(&game, least, 0).is_ok(), "{} {players}", estimator.name());
            for budget in [0, 1, least - 1] {
                let refused = estimator.estimate(&game, budget, 0).unwrap_err();
                let is_said = matches!(refused, EstimatorError::Budget { min: said, .. } if said == least);
                assert!(is_said, "{} {players}: {refused}", estimator.name());
            }
        }
    }
}

#[test]
fn the_one_player_gets_everything() {
    let game = TabulatedGame::new(vec![2.0, 7.0], 1).unwrap();
    for estimator in every().into_iter().chain(sampling()) {
        let got = estimator.estimate(&game, estimator.minimum_budget(1), 0).unwrap();
        assert_eq!((got.values[0], got.base[0], got.prediction[0]), (5.0, 2.0, 7.0), "{}", estimator.name());
    }
}

#[test]
fn the_budget_is_not_exceeded_but_by_bernoulli_sampling_and_the_authors_accounting() {
    for players in [6, 11, 70] {
        let game = SumOfUnanimity::random(players, 50, 3, 1);
        for budget in [2 * players, 3 * players + 1, 10 * players] {
            let is_bound = |name: &str| !name.contains("bernoulli") && !name.contains("authors");
            for estimator in with_growing().iter().filter(|estimator| is_bound(estimator.name())) {
                let budget = budget.max(estimator.minimum_budget(players));
                let counted = Counted::new(&game);
                let got = estimator.estimate(&counted, budget, 2).unwrap();
                assert!(got.evaluations <= budget, "{}: {} of {budget}", estimator.name(), got.evaluations);
                assert_eq!(counted.evaluations(), got.evaluations as u64, "{}", estimator.name());
                assert!(got.distinct_coalitions <= got.evaluations, "{}", estimator.name());
            }
            let got = LeverageShap::default().estimate(&game, budget, 2).unwrap();
            assert_eq!(
                got.evaluations,
                budget.min(1 << players.min(40)) / 2 * 2,
                "leverage-shap uses whole pairs"
            );
        }
    }
}

#[test]
fn a_failing_game_fails_the_estimate_with_its_coalition() {
    let failing = ByBatch(6, |batch: &Coalitions, out: &mut [f64]| {
        out.fill(0.0);
        match batch.iter().find(|row| row.size() == 3).map(|row| row.to_coalition()) {
            Some(coalition) => Err(GameError::NotFinite { coalition, output: 0, value: f64::NAN }),
            None => Ok(()),
        }
    });
    for estimator in every() {
        let budget = estimator.minimum_budget(6).max(40);
        let failed = estimator.estimate(&failing, budget, 0).unwrap_err().to_string();
        assert!(failed.contains("of 6"), "{}: {failed}", estimator.name());
    }
}

#[test]
fn a_budget_of_all_coalitions_is_not_exact_where_sampling_goes_on() {
    let game = random_table(10, 2, 100.0, 4);
    for estimator in sampling() {
        let got = estimator.estimate(&game, 1024, 0).unwrap();
        assert!(!got.diagnostics.exact && got.evaluations <= 1024, "{}", estimator.name());
    }
}

#[test]
fn every_number_of_threads_gives_the_same_bits() {
    let (explicand, background) = marginal(30, 40, true, 3);
    let marginal = MarginalGame::new(&products, &explicand, &background).unwrap();
    let (table, large) = (random_table(12, 3, 100.0, 1), SumOfUnanimity::random(70, 200, 4, 1));
    let games: [(&dyn Game, usize); 3] = [(&marginal, 1000), (&table, 1000), (&large, 1500)];
    for (game, budget) in games {
        for estimator in every().into_iter().chain(sampling()) {
            // With many players and outputs, the learned spectrum takes as long as all other estimators
            // together.
            let most = if is_learned(estimator.name()) { 600 } else { budget };
            let budget = most.max(estimator.minimum_budget(game.players()));
            let of = |threads| on_threads(threads, || estimator.estimate(game, budget, 7).unwrap());
            assert_eq!(of(1), of(3), "{} of {} players", estimator.name(), game.players());
        }
    }
}

#[test]
fn outputs_are_explained_as_if_each_were_alone() {
    let game = random_table(9, 3, 1.0, 8);
    let own = |numbers: &[f64], output: usize| -> Vec<f64> {
        numbers.iter().skip(output).step_by(3).copied().collect()
    };
    let alone: Vec<TabulatedGame> =
        (0..3).map(|output| TabulatedGame::new(own(game.values_in_order(), output), 1).unwrap()).collect();
    for estimator in all()
        .into_iter()
        .chain(semivalues(9).into_iter().flat_map(|value| of_semivalue(&value)))
        .filter(|estimator| !is_learned(estimator.name()))
    {
        let what = format!("{} {}", estimator.name(), estimator.value());
        let together = estimator.estimate_seen(&game, 130, 5).unwrap();
        for (output, alone) in alone.iter().enumerate() {
            let alone = estimator.estimate_seen(alone, 130, 5).unwrap();
            assert_close(&together.output(output), &alone.values, 1e-11, &what);
            let errors = together.std_errors.as_ref().map(|errors| own(errors, output));
            assert_close(&errors.unwrap_or_default(), &alone.std_errors.unwrap_or_default(), 1e-11, &what);
        }
    }
}

#[test]
fn a_large_number_in_common_costs_no_digits() {
    let [plain, raised] = [0.0, f64::from(1 << 30)].map(|around| random_table(9, 1, around, 6));
    // Exclude learned methods, because a rounding error may change what they choose.
    let is_level = |name: &str| !name.contains("without-intercept") && !is_learned(name);
    let estimators =
        all().into_iter().chain(semivalues(9).into_iter().flat_map(|value| of_semivalue(&value)));
    for estimator in estimators.filter(|estimator| is_level(estimator.name())) {
        let what = format!("{} {}", estimator.name(), estimator.value());
        let [want, got] = [&plain, &raised].map(|game| estimator.estimate_seen(game, 120, 3).unwrap());
        assert_close(&got.values, &want.values, 1e-11, &what);
        let [want, got] = [want, got].map(|explanation| explanation.std_errors.unwrap_or_default());
        assert_close(&got, &want, 1e-11, &what);
    }
}

#[test]
fn textbook_games_come_out_within_their_errors() {
    let airport = Airport::new((1..=10).map(|cost| f64::from(cost * cost)).collect::<Vec<_>>()).unwrap();
    let glove = Glove::new(6, 7).unwrap();
    let terms = SumOfUnanimity::random(65, 200, 5, 1);
    let games: [&dyn ClosedForm; 3] = [&airport, &glove, &terms];
    let has_many_draws = |name: &str| name.starts_with("stratified") || name.starts_with("optimized");
    for estimator in sampling().into_iter().filter(|estimator| has_many_draws(estimator.name())) {
        for game in games {
            let got = estimator.estimate(game, 40 * game.players().pow(2), 2).unwrap();
            assert_within(&got, &game.shapley(), 5.0, 1e-9, estimator.name());
        }
    }
}

#[test]
fn batches_do_not_grow_with_the_budget_nor_with_the_players() {
    let full_budget = FullBudget::Sample;
    let orders = |orders| OptimizedMonteCarlo::default().with_orders(orders).with_full_budget(full_budget);
    let gradient = |batch, pairing| {
        ProjectedGradient::default().with_batch(batch).with_pairing(pairing).with_full_budget(full_budget)
    };
    // Each estimator is listed with the maximum number of rows of its batches. A batch has at most 2^18
    // 64-bit words.
    let cases: [(&dyn Estimator, usize); 5] = [
        (&orders(Orders::Independent), 1 << 14),
        (&orders(Orders::Antithetic), 1 << 14),
        (&gradient(1, Pairing::Paired), 2048),
        (&gradient(7, Pairing::Paired), 2048),
        (&gradient(3000, Pairing::Unpaired), 2048),
    ];
    for (players, budget) in [(10, 200_000), (1000, 50_000), (5000, 30_000)] {
        for (estimator, max_rows) in cases {
            let game = ByBatch(players, |batch: &Coalitions, out: &mut [f64]| {
                let name = estimator.name();
                assert!(batch.len() <= max_rows && batch.words().len() <= 1 << 18, "{name}, {players}");
                out.iter_mut().zip(batch.sizes()).for_each(|(value, &size)| *value = f64::from(size));
                Ok(())
            });
            let got = estimator.estimate(&game, budget, 0).unwrap();
            assert_close(&got.values, &vec![1.0; players], 1e-12, estimator.name());
        }
    }
}

#[test]
fn an_explanation_survives_json() {
    let game = random_table(6, 2, 100.0, 1);
    for estimator in every() {
        let explanation = estimator.estimate(&game, estimator.minimum_budget(6).max(30), 5).unwrap();
        let text = serde_json::to_string(&explanation).unwrap();
        assert_eq!(serde_json::from_str::<apportion_estimators::Explanation>(&text).unwrap(), explanation);
    }
}

#[test]
fn estimates_for_a_seed_are_pinned() {
    let game = SumOfUnanimity::random(10, 30, 4, 1);
    let pinned: Vec<(String, Vec<f64>)> = all()
        .iter()
        .chain(&of_surrogates())
        .map(|estimator| (estimator.name().to_owned(), estimator.estimate(&game, 60, 42).unwrap().values))
        .map(|(name, values)| (name, values.iter().take(3).map(|v| (v * 1e6).round() / 1e6).collect()))
        .collect();
    insta::assert_json_snapshot!(pinned);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Tests linearity: the estimate for a combination of games is the combination of the estimates, for the
    /// same seed.
    #[test]
    fn estimates_are_linear_in_the_game(a in -3.0..3.0f64, b in -3.0..3.0f64, seed in 0u64..1000) {
        let (first, second) = (random_table(7, 1, 100.0, seed), random_table(7, 1, 100.0, seed + 1));
        let pairs = first.values_in_order().iter().zip(second.values_in_order());
        let mixed: Vec<f64> = pairs.map(|(x, y)| a * x + b * y).collect();
        let mixed = TabulatedGame::new(mixed, 1).unwrap();
        for estimator in all().into_iter().filter(|estimator| !is_learned(estimator.name())) {
            let of = |game: &TabulatedGame| estimator.estimate(game, 50, seed).unwrap().values;
            let (x, y, z) = (of(&first), of(&second), of(&mixed));
            for i in 0..7 {
                let want = a * x[i] + b * y[i];
                prop_assert!((z[i] - want).abs() < 1e-8, "{}: {} for {want}", estimator.name(), z[i]);
            }
        }
    }
}
