//! Compares Kernel Banzhaf with its definition, a dense and slow implementation of the paper's algorithm on
//! the same sampled coalitions. Also tests the guarantees of its designs, and edge cases.

use std::collections::HashSet;

use apportion_estimators::{Draws, Estimator, EstimatorError, FullBudget, KernelBanzhaf, Pairing, exact};
use apportion_games::{Additive, ClosedForm, Coalition, Game, SumOfUnanimity, TabulatedGame};
use apportion_samplers::SizeDistribution;
use apportion_values::Semivalue;

use crate::common::{
    Coverage, DRAWS, RecordingGame, assert_close, choose, mean_squared_error, median_squared_error, of_terms,
    random_table, runs, sample, solve, squared_error, value_of, values,
};

fn weighted(p: f64) -> KernelBanzhaf {
    KernelBanzhaf::weighted(p).expect("a probability")
}

/// Returns `p^s (1 − p)^(n − s)`.
fn probability(n: usize, s: usize, p: f64) -> f64 {
    p.powi(s as i32) * (1.0 - p).powi((n - s) as i32)
}

/// Returns the size distribution proportional to leverage scores, by definition. The leverage score of a row
/// is the sum, over the columns, of the squared entry divided by the column's sum of squares.
fn leverage_distribution(n: usize, p: f64, ends: bool) -> SizeDistribution {
    let score = |s: usize| {
        let columns = s as f64 * (1.0 - p).powi(2) + (n - s) as f64 * p.powi(2);
        choose(n, s) * probability(n, s, p) * (1.0 + columns / (p * (1.0 - p)))
    };
    let weights: Vec<f64> =
        (0..=n).map(|s| if !ends && (s == 0 || s == n) { 0.0 } else { score(s) }).collect();
    let total: f64 = weights.iter().sum();
    assert!(!ends || (total - (n + 1) as f64).abs() < 1e-9 * total, "leverage scores sum to n + 1: {total}");
    SizeDistribution::custom(&weights).expect("leverage scores are positive")
}

/// Solves argmin Σ w (c + ⟨z − p, x⟩ − v(z))² with the normal equations. `rows` are coalitions with weights.
fn regression(game: &dyn Game, rows: &[(Coalition, f64)], p: f64, intercept: bool) -> Vec<f64> {
    let (n, first) = (game.players(), usize::from(intercept));
    let size = n + first;
    let mut system = vec![vec![0.0; size + 1]; size];
    for (coalition, weight) in rows {
        let mut row = vec![1.0; size + 1];
        (0..n).for_each(|i| row[first + i] = f64::from(u8::from(coalition.view().contains(i))) - p);
        row[size] = value_of(game, coalition)[0];
        for i in 0..size {
            for j in 0..=size {
                system[i][j] += weight * row[i] * row[j];
            }
        }
    }
    solve(system)[first..].to_vec()
}

#[test]
fn kernel_banzhaf_is_algorithm_1_on_its_sample() {
    for (players, budget) in [(5, 30), (8, 61), (9, 100), (16, 200), (65, 500), (130, 900)] {
        let game = SumOfUnanimity::random(players, 60, 4, 6);
        let distribution = SizeDistribution::binomial(players).unwrap();
        // Draws are not merged, so every draw is a row of weight 1. There is no intercept, as printed in the
        // paper.
        let sample = sample(Draws::WithReplacement, distribution, Pairing::Paired, budget - 2, 3);
        let rows: Vec<_> = sample.coalitions().iter().map(|row| (row.to_coalition(), 1.0)).collect();
        let want = regression(&game, &rows, 0.5, false);
        for intercept in [false, true] {
            let estimator =
                KernelBanzhaf::default().with_intercept(intercept).with_full_budget(FullBudget::Sample);
            let got = estimator.estimate(&game, budget, 3).unwrap();
            assert_close(&got.values, &want, 1e-8, &format!("{players} players, intercept {intercept}"));
        }
    }
}

#[test]
fn all_variants_are_weighted_least_squares_on_their_samples() {
    for (players, budget) in [(6, 40), (9, 101), (16, 300), (66, 600)] {
        let game = SumOfUnanimity::random(players, 60, 4, 6);
        for p in [0.5, 0.52, 0.47, 0.3, 0.8] {
            for draws in DRAWS {
                for (pairing, intercept) in
                    [(Pairing::Paired, true), (Pairing::Unpaired, true), (Pairing::Unpaired, false)]
                {
                    let estimator = weighted(p)
                        .with_draws(draws)
                        .with_pairing(pairing)
                        .with_intercept(intercept)
                        .with_full_budget(FullBudget::Sample);
                    let certain = draws != Draws::WithReplacement;
                    let helps = players as f64 * (1.0 - 2.0 * p).powi(2) <= 0.8;
                    let pairing = if helps { pairing } else { Pairing::Unpaired };
                    let sample =
                        sample(draws, leverage_distribution(players, p, !certain), pairing, budget - 2, 8);
                    let weight = |size: usize| {
                        let expected = sample.strata()[size].expected / choose(players, size);
                        probability(players, size, p) / expected
                    };
                    let mut rows: Vec<_> = sample
                        .coalitions()
                        .iter()
                        .map(|row| (row.to_coalition(), weight(row.size())))
                        .collect();
                    if certain {
                        rows.push((Coalition::empty(players), probability(players, 0, p)));
                        rows.push((Coalition::full(players), probability(players, players, p)));
                    }
                    let total: f64 = rows.iter().map(|row| row.1).sum();
                    rows.iter_mut().for_each(|row| row.1 /= total);
                    let want = regression(&game, &rows, p, intercept);
                    let got = estimator.estimate(&game, budget, 8).unwrap();
                    assert_eq!(got.diagnostics.rank, Some(players));
                    let name = format!("{} {players} players, p = {p}", estimator.name());
                    assert_close(&got.values, &want, 1e-7, &name);
                }
            }
        }
    }
}

#[test]
fn a_sample_without_replacement_of_all_coalitions_is_exact_to_twelve_digits() {
    for players in 2..=11 {
        for (p, offset) in [(0.5, 0.0), (0.5, f64::from(1 << 30)), (0.46, 0.0), (0.3, 0.0), (0.85, 0.0)] {
            let game = random_table(players, 3, offset, 4);
            let want = exact(&game, weighted(p).value).unwrap();
            // Without an intercept, a large offset costs precision, so the regression has an intercept in
            // this case.
            let plain = (Pairing::Unpaired, offset > 0.0);
            for (pairing, intercept) in [(Pairing::Paired, true), (Pairing::Unpaired, true), plain] {
                for draws in DRAWS.into_iter().filter(|&draws| draws != Draws::WithReplacement) {
                    let full_budget = FullBudget::Sample;
                    let estimator = weighted(p)
                        .with_draws(draws)
                        .with_pairing(pairing)
                        .with_intercept(intercept)
                        .with_full_budget(full_budget);
                    for budget in [1 << players, (1 << players) + 7] {
                        let got = estimator.estimate(&game, budget, 2).unwrap();
                        let name = format!("{} {players} players, p = {p}", estimator.name());
                        assert_close(&got.values, &want.values, 1e-12, &name);
                        assert!(got.diagnostics.exact && got.evaluations == 1 << players, "{name}");
                        // All coalitions are in the sample, so there are no errors.
                        assert!(got.std_errors.unwrap().iter().all(|&error| error < 1e-9), "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn no_coalition_is_evaluated_twice_and_the_books_are_right() {
    for players in [3, 4, 7, 8, 20] {
        let game = SumOfUnanimity::random(players, 30, 3, 1);
        for p in [0.5, 0.45, 0.2] {
            for pairing in [Pairing::Paired, Pairing::Unpaired] {
                for draws in DRAWS {
                    let estimator = weighted(p)
                        .with_pairing(pairing)
                        .with_draws(draws)
                        .with_full_budget(FullBudget::Sample);
                    for budget in [4, 2 * players, 2 * players + 1, 60] {
                        if budget < estimator.minimum_budget(players) {
                            continue;
                        }
                        let recorded = RecordingGame::new(&game);
                        let got = estimator.estimate(&recorded, budget, 5).unwrap();
                        let asked = recorded.take_coalitions();
                        let distinct: HashSet<_> = asked.iter().collect();
                        let name = format!("{} {players} players, p = {p}, m = {budget}", estimator.name());
                        assert_eq!(
                            (asked.len(), distinct.len()),
                            (got.evaluations, got.distinct_coalitions),
                            "{name}"
                        );
                        assert_eq!(asked.len(), distinct.len(), "{name}");
                        let in_pairs =
                            pairing == Pairing::Paired && players as f64 * (1.0 - 2.0 * p).powi(2) <= 0.8;
                        let usable = if in_pairs { budget - budget % 2 } else { budget };
                        match draws {
                            // The estimator must use exactly the budget, or enumerate all coalitions.
                            Draws::FixedCounts | Draws::Growing => {
                                assert_eq!(asked.len(), usable.min(1 << players), "{name}")
                            }
                            Draws::WithReplacement => assert!(asked.len() <= usable, "{name}"),
                            Draws::Bernoulli | Draws::GrowingBernoulli => {}
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn without_replacement_at_six_tenths_of_all_coalitions_has_less_than_half_the_squared_error() {
    let game = SumOfUnanimity::random(11, 80, 6, 5);
    let (truth, budget) = (game.banzhaf(), (1 << 11) * 6 / 10);
    let median =
        |estimator: KernelBanzhaf| median_squared_error(&values(&estimator, &game, budget, 101), &truth);
    let (with, without) = (median(KernelBanzhaf::default()), median(KernelBanzhaf::without_replacement()));
    // Sampling theory predicts 1 / (1 − 0.6) = 2.5. Medians of 101 runs vary by about ten percent.
    assert!(without < 0.5 * with, "{without} without, {with} with");
}

#[test]
fn leverage_scores_beat_draws_from_the_law_itself() {
    // Compare the estimator with least squares on plain draws, for p = 0.1. Its median error over 60 games is
    // about half as large.
    let (players, budget, p) = (12, 240, 0.1);
    let distribution: Vec<f64> =
        (0..=players).map(|s| choose(players, s) * probability(players, s, p)).collect();
    let (mut by_leverage, mut plain): (Vec<f64>, Vec<f64>) = (0..60)
        .map(|seed| {
            let game = SumOfUnanimity::random(players, 60, 5, seed);
            let want = of_terms(&game, &weighted(p).value);
            let got = weighted(p).estimate(&game, budget, seed).unwrap().values;
            let distribution = SizeDistribution::custom(&distribution).unwrap();
            let sample = sample(Draws::WithReplacement, distribution, Pairing::Unpaired, budget - 2, seed);
            let rows: Vec<_> = sample.coalitions().iter().map(|row| (row.to_coalition(), 1.0)).collect();
            let drawn = regression(&game, &rows, p, true);
            (squared_error(&got, &want), squared_error(&drawn, &want))
        })
        .unzip();
    by_leverage.sort_by(f64::total_cmp);
    plain.sort_by(f64::total_cmp);
    assert!(by_leverage[30] < 0.75 * plain[30], "{} against {}", by_leverage[30], plain[30]);
}

#[test]
fn pairs_and_the_intercept_are_worth_what_the_documentation_says() {
    // Pairs remove terms that are even in z − ½, and the intercept removes the mean.
    let game = SumOfUnanimity::random(20, 100, 3, 2).with_constant(3.0).unwrap();
    let want = game.banzhaf();
    let error = |estimator: &KernelBanzhaf| mean_squared_error(&values(estimator, &game, 400, 40), &want);
    let unpaired = KernelBanzhaf::default().with_pairing(Pairing::Unpaired);
    let bare = unpaired.clone().with_intercept(false);
    let errors = [error(&KernelBanzhaf::default()), error(&unpaired), error(&bare)];
    assert!(errors[0] < 0.6 * errors[1] && errors[1] < 0.5 * errors[2], "{errors:?}");
}

#[test]
fn standard_errors_cover_the_truth_at_ten_evaluations_per_player() {
    // Count the coverage of 95% intervals over 60 random games of 20 players. The bound allows for
    // correlation among the players in a run.
    for p in [0.5, 0.47, 0.3, 0.1] {
        for pairing in [Pairing::Paired, Pairing::Unpaired] {
            for draws in DRAWS {
                let estimator = weighted(p).with_pairing(pairing).with_draws(draws);
                let coverage = Coverage::of_random_games(&estimator, (20, 100), 200, 60);
                assert_eq!(coverage.all, 1200, "all have standard errors");
                let coverage = coverage.share();
                assert!((0.92..=0.985).contains(&coverage), "{} {p}: {coverage}", estimator.name());
            }
        }
    }
}

#[test]
fn many_draws_of_few_coalitions_are_judged_as_draws() {
    // Each of 16 coalitions is drawn about six times. Standard errors leave out one of six draws, not all
    // six. The errors are nearly normal, so on average their squares match the squared standard errors. 400
    // runs determine this mean up to about six percent.
    let game = random_table(4, 1, 0.0, 9);
    let want = exact(&game, Semivalue::Banzhaf).unwrap().values;
    for pairing in [Pairing::Paired, Pairing::Unpaired] {
        let estimator = KernelBanzhaf::default().with_pairing(pairing).with_full_budget(FullBudget::Sample);
        let runs = runs(&estimator, &game, 102, 400);
        let actual: f64 = runs.iter().map(|run| squared_error(&run.values, &want)).sum();
        let claimed = runs.iter().flat_map(|run| run.std_errors.as_ref().unwrap());
        let ratio = claimed.map(|error| error * error).sum::<f64>() / actual;
        assert!((0.85..1.3).contains(&ratio), "{}: {ratio}", estimator.name());
    }
}

#[test]
fn the_limit_of_p_at_a_half_is_kernel_banzhaf() {
    let game = SumOfUnanimity::random(12, 60, 4, 3);
    for draws in [Draws::WithReplacement, Draws::FixedCounts] {
        let banzhaf = KernelBanzhaf::default().with_draws(draws);
        let want = banzhaf.estimate_seen(&game, 200, 6).unwrap();
        let half = weighted(0.5).with_draws(draws).estimate_seen(&game, 200, 6).unwrap();
        assert_eq!((&half.values, &half.std_errors), (&want.values, &want.std_errors));
        let near = weighted(0.5 + 1e-9).with_draws(draws).estimate_seen(&game, 200, 6).unwrap();
        assert_close(&near.values, &want.values, 1e-7, "near a half");
        assert_close(&near.std_errors.unwrap(), &want.std_errors.unwrap(), 1e-7, "near a half");
    }
}

#[test]
fn presence_and_absence_mirror_each_other() {
    // The value of the dual game v*(S) = v(N) − v(N∖S) for 1 − p equals the value of the game for p. On
    // average, the estimates must agree as well.
    for p in [0.3, 0.45] {
        let game = random_table(7, 1, 0.0, 3);
        let table = game.values_in_order();
        let dual: Vec<f64> = (0..table.len()).map(|mask| table[127] - table[127 ^ mask]).collect();
        let dual = TabulatedGame::new(dual, 1).unwrap();
        let mean = |game: &TabulatedGame, p: f64| -> f64 {
            let want = exact(game, weighted(p).value).unwrap().values;
            mean_squared_error(&values(&weighted(p), game, 70, 300), &want)
        };
        let ratio = mean(&game, p) / mean(&dual, 1.0 - p);
        assert!((0.8..1.25).contains(&ratio), "p = {p}: {ratio}");
    }
}

#[test]
fn a_constant_game_has_no_values_and_no_errors() {
    for players in [2, 3, 10, 65] {
        let game = SumOfUnanimity::random(players, 0, 1, 1).with_constant(1e6).unwrap();
        for p in [0.5, 0.47, 0.2] {
            for draws in [Draws::WithReplacement, Draws::FixedCounts] {
                let estimator = weighted(p).with_draws(draws).with_full_budget(FullBudget::Sample);
                let got = estimator.estimate(&game, 6 * players, 1).unwrap();
                assert!(got.values.iter().all(|value| value.abs() < 1e-8), "{players} {p}: {:?}", got.values);
                assert_eq!((got.base[0], got.prediction[0]), (1e6, 1e6));
                assert!(got.std_errors.is_none_or(|errors| errors.iter().all(|&error| error < 1e-8)));
            }
        }
    }
}

#[test]
fn a_thousand_players_neither_overflow_nor_underflow() {
    let worth: Vec<f64> = (0..1000).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let game = Additive::new(worth.clone()).unwrap();
    for (p, draws) in [(0.5, Draws::WithReplacement), (0.5, Draws::FixedCounts), (0.02, Draws::FixedCounts)] {
        let got = weighted(p).with_draws(draws).estimate(&game, 3000, 1).unwrap();
        assert_eq!(got.diagnostics.rank, Some(1000), "p = {p}");
        assert!(got.diagnostics.condition_number.is_some_and(|condition| condition < 1e4));
        assert_close(&got.values, &worth, 1e-9, &format!("p = {p}"));
    }
}

#[test]
fn too_few_evaluations_give_the_least_norm_and_say_so() {
    let game = SumOfUnanimity::random(30, 60, 3, 1);
    for pairing in [Pairing::Paired, Pairing::Unpaired] {
        let got = KernelBanzhaf::default().with_pairing(pairing).estimate(&game, 31, 1).unwrap();
        let rank = got.diagnostics.rank.unwrap();
        assert!(rank < 30 && got.diagnostics.unknowns == Some(30), "rank {rank}");
        assert!(got.std_errors.is_none());
    }
}

#[test]
fn the_condition_number_is_that_of_the_normalized_gram_matrix() {
    // K = (AᵀA)^(−½) ÃᵀÃ (AᵀA)^(−½), where AᵀA is a multiple of I. For two players, its eigenvalues are those
    // of a matrix with equal diagonal entries.
    let game = SumOfUnanimity::random(2, 3, 2, 1);
    let estimator = KernelBanzhaf::default().with_full_budget(FullBudget::Sample);
    let sample =
        sample(Draws::WithReplacement, SizeDistribution::binomial(2).unwrap(), Pairing::Paired, 38, 4);
    let together = sample.coalitions().iter().filter(|row| row.size() != 1).count() as f64;
    let apart = sample.coalitions().len() as f64 - together;
    // ÃᵀÃ = ¼ [m, t − a; t − a, m], with t rows that contain both players or neither, and a rows that contain
    // one.
    let want = together.max(apart) / together.min(apart);
    let got = estimator.estimate(&game, 40, 4).unwrap().diagnostics.condition_number.unwrap();
    assert!((got / want - 1.0).abs() < 1e-12, "{got} for {want}");
}

#[test]
fn values_of_other_kinds_and_wrong_probabilities_are_refused() {
    let game = SumOfUnanimity::random(5, 10, 3, 1);
    for value in [Semivalue::Shapley, Semivalue::beta_shapley(4.0, 1.0).unwrap()] {
        let estimator = KernelBanzhaf::default().with_value(value.clone());
        for budget in [2, 20, 64] {
            let refused = estimator.estimate(&game, budget, 0).unwrap_err();
            assert!(matches!(&refused, EstimatorError::OtherValue { value: said, .. } if **said == value));
            assert!(refused.to_string().contains("Banzhaf"), "{refused}");
        }
    }
    for p in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(matches!(KernelBanzhaf::weighted(p), Err(EstimatorError::Value(_))), "{p}");
    }
    let refused = KernelBanzhaf::default().estimate(&game, 5, 0).unwrap_err();
    assert!(matches!(refused, EstimatorError::Budget { min: 6, actual: 5, players: 5, .. }), "{refused}");
}
