//! Compares stratified Monte Carlo with its definition, with enumeration and with closed forms, and tests its
//! error estimates.

use std::collections::BTreeMap;

use apportion_estimators::{Allocation, Estimator, FullBudget, StratifiedMonteCarlo, exact};
use apportion_games::{Airport, ClosedForm, Coalition, Counted, Game, Glove, SumOfUnanimity, WeightedVoting};
use apportion_values::Semivalue;

use crate::common::{
    Coverage, RecordingGame, Several, assert_close, assert_unbiased, largest_difference, mean_and_error,
    mean_squared_error, random_table, semivalues, value_of, values,
};

const ALLOCATIONS: [Allocation; 2] = [Allocation::Equal, Allocation::Neyman];

fn sampling(allocation: Allocation, value: Semivalue) -> StratifiedMonteCarlo {
    StratifiedMonteCarlo::new(value).with_allocation(allocation).with_full_budget(FullBudget::Sample)
}

/// Returns the number of evaluations before the first draw.
fn known_evaluations(distribution: &[f64]) -> usize {
    let needed = |sizes: &[f64]| usize::from(sizes.iter().any(|&weight| weight >= 1e-18));
    2 + distribution.len() * (needed(&distribution[..2]) + needed(&distribution[distribution.len() - 2..]))
}

/// Returns the drawn contributions by player and size, derived from the order of the evaluations: ∅, N, the
/// single players, all players but one, and then the draws. A draw evaluates two coalitions; the second one
/// has one more player.
fn drawn_contributions(
    game: &RecordingGame<Several>,
    distribution: &[f64],
) -> BTreeMap<(usize, usize), Vec<[f64; 3]>> {
    let players = game.players();
    let asked = game.take_coalitions();
    let mut contributions: BTreeMap<_, Vec<[f64; 3]>> = BTreeMap::new();
    let mut at = known_evaluations(distribution);
    let sizes: Vec<usize> = (1..players - 1).filter(|&size| distribution[size] >= 1e-18).collect();
    // The strata recur in the same order, size by size and player by player.
    let strata: Vec<(usize, usize)> =
        sizes.iter().flat_map(|&size| (0..players).map(move |player| (player, size))).collect();
    'rounds: loop {
        let before = at;
        for &(player, size) in &strata {
            let population = apportion_samplers::choose(players - 1, size).expect("few coalitions");
            let own: &mut Vec<[f64; 3]> = contributions.entry((player, size)).or_default();
            let is_small = population <= 64 || size == 1 || size == players - 2;
            if is_small && own.len() as u128 == population {
                continue;
            }
            let Some(first) = asked.get(at) else { break 'rounds };
            let (without, with) = if size == 1 {
                let mut without = first.clone();
                without.remove(player);
                at += 1;
                (without, first.clone())
            } else {
                let mut with = first.clone();
                with.insert(player);
                at += 1;
                if size != players - 2 {
                    assert_eq!(asked[at], with);
                    at += 1;
                }
                (first.clone(), with)
            };
            assert!(without.view().size() == size && !without.view().contains(player));
            let (a, b) = (value_of(&game.game, &with), value_of(&game.game, &without));
            own.push([a[0] - b[0], a[1] - b[1], a[2] - b[2]]);
        }
        if at == before {
            break;
        }
    }
    assert_eq!(at, asked.len());
    contributions
}

#[test]
fn equal_draws_are_weighted_by_the_law_of_sizes() {
    for (players, rounds) in [(5, 3), (8, 4), (13, 6), (65, 2), (130, 1)] {
        for value in semivalues(players) {
            let game = RecordingGame::new(Several(SumOfUnanimity::random(players, 40, 4, 6), 10.0));
            let estimator = sampling(Allocation::Equal, value.clone());
            let least = estimator.minimum_budget(players);
            let budget =
                least + (rounds - 1) * (least - known_evaluations(&value.size_distribution(players))) + 3;
            let got = estimator.estimate_seen(&game, budget, 8).unwrap();
            let distribution = value.size_distribution(players);
            let contributions = drawn_contributions(&game, &distribution);
            let all: Coalition = Coalition::full(players);
            let (base, prediction) =
                (value_of(&game.game, &Coalition::empty(players)), value_of(&game.game, &all));
            let mut has_errors = true;
            let mut expected: Vec<(f64, f64)> = Vec::new();
            for player in 0..players {
                let alone = value_of(&game.game, &Coalition::from_members(players, [player]));
                let mut others = all.clone();
                others.remove(player);
                let others = value_of(&game.game, &others);
                for output in 0..3 {
                    let mut mean = distribution[0] * (alone[output] - base[output])
                        + distribution[players - 1] * (prediction[output] - others[output]);
                    let mut variance = 0.0;
                    for size in (1..players - 1).filter(|&size| distribution[size] >= 1e-18) {
                        let own = &contributions[&(player, size)];
                        let count = own.len() as f64;
                        let average = own.iter().map(|x| x[output]).sum::<f64>() / count;
                        mean += distribution[size] * average;
                        let population = apportion_samplers::choose(players - 1, size).unwrap() as f64;
                        let is_small = population <= 64.0 || size == 1 || size == players - 2;
                        let open = if is_small { 1.0 - count / population } else { 1.0 };
                        if open > 0.0 {
                            has_errors &= count > 1.0;
                            let squares: f64 = own.iter().map(|x| (x[output] - average).powi(2)).sum();
                            variance += distribution[size] * distribution[size] * open * squares
                                / (count - 1.0)
                                / count;
                        }
                    }
                    expected.push((mean, variance.sqrt()));
                }
            }
            let what = format!("{value}, {players} players");
            let (means, errors): (Vec<f64>, Vec<f64>) = expected.into_iter().unzip();
            assert_close(&got.values, &means, 1e-10, &what);
            assert_eq!(got.std_errors.is_some(), has_errors, "{what}");
            if let Some(got) = got.std_errors {
                assert_close(&got, &errors, 1e-7, &what);
            }
        }
    }
}

/// Returns games with very skewed contributions: many are zero, and a few are large.
fn skewed() -> [(&'static str, Box<dyn ClosedForm>); 4] {
    [
        ("glove", Box::new(Glove::new(2, 8).expect("a game"))),
        ("voting", Box::new(WeightedVoting::new(20, vec![12, 8, 5, 3, 3, 2, 2, 1, 1, 1]).expect("a game"))),
        ("unanimity", Box::new(SumOfUnanimity::unanimity(10, 0..6).expect("a game"))),
        (
            "airport",
            Box::new(Airport::new((0..10).map(|i| f64::from(1 << i)).collect::<Vec<_>>()).expect("a game")),
        ),
    ]
}

#[test]
fn estimates_are_unbiased_on_skewed_games() {
    for allocation in ALLOCATIONS {
        for (name, game) in skewed() {
            // There are about eight draws per stratum, half of them allocated.
            let runs = values(&sampling(allocation, Semivalue::Shapley), &game, 900, 200);
            assert_unbiased(&runs, &game.shapley(), 4.0, name);
        }
    }
}

#[test]
fn a_rare_contribution_is_not_overlooked_by_the_allocation() {
    // Each of the first six players contributes to one in 8 coalitions of eight others, to one in 22 of
    // seven, and to one in 77 of six. If the number of draws from a stratum depended on its own draws, the
    // estimates would be too low by one and a half times the bound.
    let game = SumOfUnanimity::unanimity(12, 0..6).unwrap();
    let estimator = sampling(Allocation::Neyman, Semivalue::Shapley);
    let runs = values(&estimator, &game, 2200, 1000);
    assert_unbiased(&runs, &game.shapley(), 4.0, "rare");
    for (player, want) in game.shapley().iter().enumerate() {
        let (_, error) = mean_and_error(&runs, player);
        assert!(error < 0.01 * want.max(0.1), "{error}");
    }
}

#[test]
fn standard_errors_cover_the_truth_of_random_games() {
    for allocation in ALLOCATIONS {
        for budget in [1200, 5000] {
            let estimator = sampling(allocation, Semivalue::Shapley);
            let coverage = Coverage::of_random_games(&estimator, (12, 80), budget, 100);
            assert_eq!(coverage.all, 1200, "all have standard errors");
            let coverage = coverage.share();
            eprintln!("{allocation:?} {budget}: {coverage:.3}");
            assert!((0.92..=0.97).contains(&coverage), "{allocation:?} {budget}: {coverage}");
        }
    }
}

#[test]
fn strata_that_are_drawn_whole_are_exact() {
    // With seven players, all strata are small.
    let game = random_table(7, 2, 10.0, 3);
    for value in semivalues(7) {
        let truth = exact(&game, value.clone()).unwrap();
        for allocation in ALLOCATIONS {
            let got = sampling(allocation, value.clone()).estimate(&game, 100_000, 1).unwrap();
            assert!(got.diagnostics.exact && got.evaluations < 1000);
            assert_eq!(got.std_errors, Some(vec![0.0; 14]));
            assert!(largest_difference(&got.values, &truth.values) < 1e-12);
        }
    }
}

#[test]
fn evaluations_are_what_the_game_was_asked_for_and_use_up_the_budget() {
    for players in [5, 8, 13, 20, 70] {
        for value in semivalues(players) {
            for allocation in ALLOCATIONS {
                let estimator = sampling(allocation, value.clone());
                let least = estimator.minimum_budget(players);
                for budget in [least, least + 1, 3 * least, 9 * least + 4] {
                    let game = Counted::new(SumOfUnanimity::random(players, 20, 3, 1));
                    let got = estimator.estimate(&game, budget, 0).unwrap();
                    assert_eq!(game.evaluations() as usize, got.evaluations);
                    assert!(got.evaluations <= budget);
                    assert!(got.diagnostics.exact || budget - got.evaluations <= 1, "{players}, {value}");
                }
            }
        }
    }
}

#[test]
fn the_allocation_draws_more_where_contributions_vary() {
    // Only the contributions of the first three players vary.
    let terms = [(vec![0, 1], 2.0), (vec![1, 2], -3.0), (vec![0, 1, 2], 5.0), (vec![5], 1.0)];
    let game = SumOfUnanimity::new(16, 0.0, terms).unwrap();
    let error = |allocation| {
        let runs = values(&sampling(allocation, Semivalue::Shapley), &game, 20_000, 30);
        mean_squared_error(&runs, &game.shapley())
    };
    let (equal, neyman) = (error(Allocation::Equal), error(Allocation::Neyman));
    assert!(neyman < 0.75 * equal, "{neyman} beside {equal}");
}

#[test]
fn least_budgets_are_one_draw_from_every_stratum() {
    for allocation in ALLOCATIONS {
        for full_budget in [FullBudget::Enumerate, FullBudget::Sample] {
            let estimator = sampling(allocation, Semivalue::Shapley).with_full_budget(full_budget);
            let least = [1, 2, 3, 4, 5, 6, 20].map(|players| estimator.minimum_budget(players));
            assert_eq!(least, [2, 4, 8, 16, 32, 50, 722], "{allocation:?}");
        }
    }
}

#[test]
fn the_law_of_the_errors_is_known_where_there_are_errors() {
    let game = random_table(10, 2, 10.0, 4);
    for allocation in ALLOCATIONS {
        let of = |budget| sampling(allocation, Semivalue::Shapley).estimate_seen(&game, budget, 0).unwrap();
        let few = of(170);
        assert!(few.std_errors.is_none() && few.diagnostics.error_distribution.is_none());
        let got = of(1024);
        let (errors, distribution) = (got.std_errors.unwrap(), got.diagnostics.error_distribution.unwrap());
        assert!(distribution.bounded_draws.is_none() && distribution.degrees_of_freedom > 5.0);
        for output in 0..2 {
            let variances = || errors.iter().skip(output).step_by(2).map(|error| error * error);
            let want = variances().sum::<f64>().powi(2) / variances().map(|v| v * v).sum::<f64>();
            assert!((distribution.directions[output] / want - 1.0).abs() < 1e-12);
            assert!((1.0..=10.0).contains(&want));
        }
    }
}
