//! Tests interaction indices from enumeration, Möbius and Walsh coefficients against their definitions and
//! their axioms, and tests invalid games.

use apportion_games::{Coalitions, Counted, Game, GameError, SumOfUnanimity, TabulatedGame};
use apportion_values::interactions::{MAX_INTERACTIONS, MAX_ORDER};
use apportion_values::{
    InteractionIndex, Interactions, MoebiusTransform, Semivalue, ValueError, enumerate,
    enumerate_interactions, enumerate_interactions_many,
};
use proptest::prelude::*;

use crate::common::{made_symmetric, members, random_game};

/// Returns at least one index of each kind, for games of `players` players.
fn all(players: usize) -> Vec<InteractionIndex> {
    let distribution = vec![1.0 / players as f64; players];
    let skewed: Vec<f64> =
        (0..players).map(|s| (s + 1) as f64 * 2.0 / (players * (players + 1)) as f64).collect();
    let semivalues = [
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.2).unwrap(),
        Semivalue::beta_shapley(4.0, 1.0).unwrap(),
        Semivalue::mixture(&[0.0, 0.6, 1.0], &[0.3, 0.5, 0.2]).unwrap(),
        Semivalue::from_size_distribution(&distribution).unwrap(),
        Semivalue::from_size_distribution(&skewed).unwrap(),
    ];
    let of_semivalues = semivalues.iter().cloned().map(InteractionIndex::Semivalue);
    let generalized = semivalues.iter().cloned().map(InteractionIndex::Generalized);
    let names = [
        "k-shapley",
        "shapley-taylor",
        "faithful-shapley",
        "faithful-banzhaf",
        "faithful-weighted-banzhaf=0.3",
        "k-additive-shapley",
        "chaining",
        "moebius",
        "co-moebius",
        "walsh",
        "generalized-chaining",
        "generalized-internal",
        "generalized-external",
        "joint-shapley",
    ];
    of_semivalues.chain(generalized).chain(names.map(|name| name.parse().unwrap())).collect()
}

fn size(mask: u64) -> usize {
    mask.count_ones() as usize
}

/// Returns (−1)^count.
fn sign(count: usize) -> f64 {
    if count.is_multiple_of(2) { 1.0 } else { -1.0 }
}

fn choose(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |choose, i| choose * (n as f64 - i as f64) / (i + 1) as f64)
}

fn factorial(k: usize) -> f64 {
    (1..=k).map(|i| i as f64).product()
}

/// Returns all subsets of a mask.
fn subsets(of: u64) -> impl Iterator<Item = u64> {
    (0..=of).filter(move |mask| mask & !of == 0)
}

/// Returns the masks of all coalitions of `players` players with 1 to `order` members.
fn coalitions(players: usize, order: usize) -> impl Iterator<Item = u64> {
    (1..1u64 << players).filter(move |&mask| size(mask) <= order)
}

fn worth(game: &TabulatedGame, mask: u64) -> f64 {
    game.value(mask)[0]
}

/// Returns the discrete derivative Δ_K v(S), where `of` is the mask of K and `at` the mask of S.
fn difference(game: &TabulatedGame, of: u64, at: u64) -> f64 {
    let sign_of = |part: u64| sign(size(of) - size(part));
    subsets(of).map(|part| sign_of(part) * worth(game, at | part)).sum()
}

/// Returns Σ_{S⊆N∖K} w(|S|) times Δ_K v(S) or, for generalized values, times v(S ∪ K) − v(S). The mask of K
/// is `of`.
fn by_sizes(game: &TabulatedGame, of: u64, is_generalized: bool, weight: impl Fn(usize) -> f64) -> f64 {
    let others = ((1u64 << game.players()) - 1) & !of;
    let at = |at: u64| match is_generalized {
        true => worth(game, at | of) - worth(game, at),
        false => difference(game, of, at),
    };
    subsets(others).map(|others| weight(size(others)) * at(others)).sum()
}

/// Returns the Shapley interaction index by the definition of Grabisch and Roubens.
fn shapley_interaction(game: &TabulatedGame, of: u64) -> f64 {
    let (n, k) = (game.players(), size(of));
    by_sizes(game, of, false, |s| factorial(n - s - k) * factorial(s) / factorial(n - k + 1))
}

/// Returns the weight of a coalition of s other players, for indices whose weights depend on k but not on the
/// order; `None` for other indices.
fn weight_of_size(index: &InteractionIndex, n: usize, k: usize, s: usize) -> Option<f64> {
    Some(match index {
        InteractionIndex::Semivalue(value) | InteractionIndex::Generalized(value) => match value {
            Semivalue::Shapley => factorial(n - s - k) * factorial(s) / factorial(n - k + 1),
            Semivalue::Banzhaf => 0.5f64.powi((n - k) as i32),
            // Convert weights by size to a game of n − k + 1 players.
            Semivalue::SizeWeights(_) => value.without_null_players(n - k + 1).coefficient(n - k + 1, s),
            _ => value.coefficient(n - k + 1, s),
        },
        InteractionIndex::Chaining | InteractionIndex::GeneralizedChaining => {
            k as f64 * factorial(n - s - k) * factorial(s + k - 1) / factorial(n)
        }
        InteractionIndex::Moebius | InteractionIndex::GeneralizedInternal => f64::from(s == 0),
        InteractionIndex::CoMoebius | InteractionIndex::GeneralizedExternal => f64::from(s == n - k),
        _ => return None,
    })
}

const BERNOULLI: [f64; 9] = [1.0, -0.5, 1.0 / 6.0, 0.0, -1.0 / 30.0, 0.0, 1.0 / 42.0, 0.0, -1.0 / 30.0];

/// Returns the k-Shapley value by the recursion of Bordt and von Luxburg: each order distributes the
/// interactions of its size to all coalitions that they contain.
fn k_shapley(game: &TabulatedGame, of: u64, order: usize) -> f64 {
    if order < size(of) {
        return 0.0;
    }
    let order = order.min(game.players());
    let others = ((1u64 << game.players()) - 1) & !of;
    let step = |order: usize| -> f64 {
        let joined = subsets(others).filter(|&with| size(with | of) == order);
        BERNOULLI[order - size(of)] * joined.map(|with| shapley_interaction(game, of | with)).sum::<f64>()
    };
    (size(of)..=order).map(step).sum()
}

/// Returns the joint Shapley value by definition: coalitions of up to `order` of the remaining players arrive
/// one after another, all equally likely.
fn joint_shapley(game: &TabulatedGame, of: u64, order: usize) -> f64 {
    let all = (1u64 << game.players()) - 1;
    let mut reached = vec![0.0; all as usize + 1];
    reached[0] = 1.0;
    let mut value = 0.0;
    for before in 0..=all {
        let next: Vec<u64> =
            subsets(all & !before).filter(|&next| (1..=order).contains(&size(next))).collect();
        let each = reached[before as usize] / next.len() as f64;
        for next in next {
            reached[(before | next) as usize] += each;
            if next == of {
                value += each * (worth(game, before | of) - worth(game, before));
            }
        }
    }
    value
}

/// Checks, for an index defined as a best approximation, that a change in any direction does not improve the
/// approximation.
fn check_approximation(
    game: &TabulatedGame,
    found: &Interactions,
    (weight, is_constrained): (impl Fn(usize) -> f64, bool),
    tolerance: f64,
) {
    let (players, order) = (game.players(), found.order());
    let all = (1u64 << players) - 1;
    let approximation = |at: u64| -> f64 {
        let inside = coalitions(players, order).filter(|mask| mask & !at == 0);
        found.constant()[0]
            + inside.map(|mask| found.get(&members(mask).collect::<Vec<_>>()).unwrap()[0]).sum::<f64>()
    };
    let rest: Vec<f64> = (0..=all)
        .map(|at| match is_constrained && (at == 0 || at == all) {
            true => {
                assert!((worth(game, at) - approximation(at)).abs() < tolerance, "{at:b}");
                0.0
            }
            false => weight(size(at)) * (worth(game, at) - approximation(at)),
        })
        .collect();
    let slope =
        |mask: u64| -> f64 { (0..=all).filter(|at| mask & !at == 0).map(|at| rest[at as usize]).sum() };
    // Under the constraint Σ I(K) = v(N) − v(∅), all slopes equal the Lagrange multiplier.
    let expected = if is_constrained { slope(1) } else { 0.0 };
    let directions = coalitions(players, order).chain((!is_constrained).then_some(0));
    for mask in directions {
        assert!((slope(mask) - expected).abs() < tolerance, "{mask:b}: {} {expected}", slope(mask));
    }
}

/// Returns the interaction index of a coalition by definition; `None` if the index is defined as an
/// approximation.
fn by_definition(game: &TabulatedGame, index: &InteractionIndex, order: usize, of: u64) -> Option<f64> {
    let (n, k) = (game.players(), size(of));
    Some(match index {
        InteractionIndex::KShapley => k_shapley(game, of, order),
        InteractionIndex::ShapleyTaylor if k < order => difference(game, of, 0),
        InteractionIndex::ShapleyTaylor => {
            by_sizes(game, of, false, |s| order as f64 / n as f64 / choose(n - 1, s))
        }
        InteractionIndex::Walsh => {
            let sign_of = |mask: u64| sign(size(of & !mask));
            let sum: f64 = (0..1u64 << n).map(|mask| sign_of(mask) * worth(game, mask)).sum();
            sum / (1u64 << n) as f64
        }
        InteractionIndex::JointShapley => joint_shapley(game, of, order),
        _ => {
            weight_of_size(index, n, k, 0)?;
            by_sizes(game, of, index.is_generalized(), |s| weight_of_size(index, n, k, s).unwrap())
        }
    })
}

fn names(mask: u64) -> Vec<usize> {
    members(mask).collect()
}

fn assert_same(got: &Interactions, expected: &Interactions, tolerance: f64, what: &str) {
    assert_eq!(got.outputs(), expected.outputs());
    let near = |got: &[f64], expected: &[f64], of: &str| {
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() <= tolerance, "{what} {of}: {got} != {expected}");
        }
    };
    for (coalition, expected) in expected.iter() {
        let zeros = vec![0.0; expected.len()];
        let members: Vec<usize> = coalition.members().collect();
        near(got.get(&members).unwrap_or(&zeros), expected, &coalition.to_string());
    }
    near(got.constant(), expected.constant(), "constant");
    near(got.base(), expected.base(), "base");
    near(got.predictions(), expected.predictions(), "predictions");
}

#[test]
fn every_index_of_every_order_is_its_definition() {
    for players in 1..=8 {
        let game = random_game(players, 1);
        for index in all(players) {
            for order in 1..=players {
                if players > 6 && order > 4 && index == InteractionIndex::JointShapley {
                    continue;
                }
                let found = enumerate_interactions(&game, &index, order).unwrap();
                assert_eq!(found.coalitions().len(), coalitions(players, order).count());
                for mask in coalitions(players, order) {
                    let got = found.get(&names(mask)).unwrap()[0];
                    if let Some(expected) = by_definition(&game, &index, order, mask) {
                        let what = format!("{index} order {order} of {players}: {mask:b}");
                        assert!((got - expected).abs() < 1e-11, "{what}: {got} != {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn faithful_indices_are_the_best_approximations() {
    for players in 1..=7 {
        let game = random_game(players, 1);
        for order in 1..=players {
            let of = |name: &str| enumerate_interactions(&game, &name.parse().unwrap(), order).unwrap();
            let kernel = |s: usize| 1.0 / (choose(players, s) * (s * (players - s)) as f64);
            check_approximation(&game, &of("faithful-shapley"), (kernel, true), 1e-10);
            check_approximation(&game, &of("faithful-banzhaf"), (|_| 1.0, false), 1e-10);
            let product = |s: usize| 0.3f64.powi(s as i32) * 0.7f64.powi((players - s) as i32);
            check_approximation(&game, &of("faithful-weighted-banzhaf=0.3"), (product, false), 1e-10);
        }
    }
}

#[test]
fn the_nearest_additive_game_has_the_shapley_interactions_of_k_additive_values() {
    for players in 1..=7 {
        let game = random_game(players, 1);
        for order in 1..=players {
            let nearest = enumerate_interactions(&game, &InteractionIndex::FaithfulShapley, order).unwrap();
            let mut terms = nearest.coalitions().clone();
            terms.push_empty();
            let coefficients = [nearest.values(), nearest.constant()].concat();
            let nearest = MoebiusTransform::new(&terms, &coefficients, 1).unwrap();
            let expected = nearest.interactions(&InteractionIndex::SHAPLEY, order).unwrap();
            let got = enumerate_interactions(&game, &InteractionIndex::KAdditiveShapley, order).unwrap();
            for (coalition, expected) in expected.iter() {
                let got = got.get(&coalition.members().collect::<Vec<_>>()).unwrap();
                assert!((got[0] - expected[0]).abs() < 1e-10, "{coalition}: {got:?} {expected:?}");
            }
        }
    }
}

#[test]
fn moebius_and_walsh_coefficients_give_the_same_indices() {
    for players in 1..=8 {
        let game = random_game(players, 2);
        let moebius = MoebiusTransform::from_game(&game).unwrap();
        let walsh = enumerate_interactions(&game, &InteractionIndex::Walsh, players).unwrap();
        for index in all(players) {
            for order in 1..=players {
                let what = format!("{index} order {order} of {players}");
                let expected = enumerate_interactions(&game, &index, order).unwrap();
                let got = moebius.interactions(&index, order).unwrap();
                // The tolerance allows for k-Shapley values, whose coefficients grow like Bernoulli numbers
                // times binomials.
                assert_same(&got, &expected, 1e-10, &what);
                let weights = index.weights(order, players).unwrap();
                for (coalition, expected) in expected.iter() {
                    let k = coalition.size();
                    for output in 0..2 {
                        let mut sum = walsh.constant()[output] * weights.walsh_weight_of(k, 0, 0);
                        for (term, beta) in walsh.iter() {
                            let common = term.words()[0] & coalition.words()[0];
                            sum += beta[output] * weights.walsh_weight_of(k, term.size(), size(common));
                        }
                        let error = (sum - expected[output]).abs();
                        assert!(error < 1e-10, "{what} {coalition}: {sum} != {}", expected[output]);
                    }
                }
                for output in 0..2 {
                    let mut sum = walsh.constant()[output] * weights.walsh_weight(0, 0);
                    for (term, beta) in walsh.iter() {
                        sum += beta[output] * weights.walsh_weight(0, term.size());
                    }
                    assert!((sum - expected.constant()[output]).abs() < 1e-10, "{what}: {sum}");
                }
            }
        }
    }
}

#[test]
fn weights_split_as_those_of_one_player_more_do() {
    for index in all(9) {
        for order in [1, 2, 3, 7] {
            let weights = index.weights(order, 9).unwrap();
            for k in 0..=order {
                for a in 0..9 - k {
                    for b in 0..9 - k - a {
                        let (whole, parts) = (
                            weights.moment(k, a, b),
                            weights.moment(k, a + 1, b) + weights.moment(k, a, b + 1),
                        );
                        let what = format!("{index}, order {order}: M_{k}({a}, {b})");
                        assert!((whole - parts).abs() < 1e-12, "{what}: {whole} != {parts}");
                    }
                }
            }
        }
    }
}

#[test]
fn weights_are_the_printed_ones() {
    let weights = |name: &str, order| name.parse::<InteractionIndex>().unwrap().weights(order, 40).unwrap();
    for order in 1..=6 {
        let (shapley, banzhaf) = (weights("faithful-shapley", order), weights("FBII", order));
        let (taylor, chaining) = (weights("STII", order), weights("CHII", order));
        for k in 1..=order {
            for r in k..30 {
                let own = f64::from(r == k);
                let above = |weight: f64| if r > order { sign(order - k) * weight } else { own };
                let expected = above(
                    k as f64 / (order + k) as f64 * choose(order, k) * choose(r - 1, order)
                        / choose(r + order - 1, order + k),
                );
                let got = shapley.weight(k, r);
                assert!((got - expected).abs() <= 1e-11 * expected.abs().max(1e-3), "{order} {k} {r}: {got}");
                let expected = above(
                    0.5f64.powi((r - k) as i32) * if r > k { choose(r - k - 1, order - k) } else { 1.0 },
                );
                let got = banzhaf.weight(k, r);
                assert!((got - expected).abs() <= 1e-11 * expected.abs().max(1e-3), "{order} {k} {r}: {got}");
                assert!((chaining.weight(k, r) - k as f64 / r as f64).abs() < 1e-15);
                let expected = if k == order { 1.0 / choose(r, order) } else { own };
                assert!(
                    (taylor.weight(k, r) - expected).abs() < 1e-15 * expected.max(1.0),
                    "{order} {k} {r}"
                );
            }
        }
    }
}

#[test]
fn names_are_read_as_they_are_written_and_as_shapiq_has_them() {
    for index in all(5) {
        assert_eq!(index.to_string().parse::<InteractionIndex>().unwrap(), index);
        let json = serde_json::to_string(&index).unwrap();
        assert_eq!(serde_json::from_str::<InteractionIndex>(&json).unwrap(), index);
    }
    let short = [
        ("SII", "shapley"),
        ("BII", "banzhaf"),
        ("k-SII", "k-shapley"),
        ("STII", "shapley-taylor"),
        ("FSII", "faithful-shapley"),
        ("FBII", "faithful-banzhaf"),
        ("kADD-SHAP", "k-additive-shapley"),
        ("CHII", "chaining"),
        ("Moebius", "moebius"),
        ("Co-Moebius", "co-moebius"),
        ("SGV", "generalized-shapley"),
        ("BGV", "generalized-banzhaf"),
        ("CHGV", "generalized-chaining"),
        ("IGV", "generalized-internal"),
        ("EGV", "generalized-external"),
        ("JointSV", "joint-shapley"),
    ];
    for (theirs, ours) in short {
        assert_eq!(theirs.parse::<InteractionIndex>().unwrap().to_string(), ours);
    }
    for unknown in ["", "owen", "faithful-beta=1,2", "generalized-taylor", "SII2", "fourier"] {
        let error = unknown.parse::<InteractionIndex>().unwrap_err();
        assert!(matches!(&error, ValueError::UnknownIndex { actual: given } if given == unknown), "{error}");
    }
    let error = "weighted-banzhaf=7".parse::<InteractionIndex>().unwrap_err();
    assert!(matches!(error, ValueError::Presence { .. }), "{error}");
}

#[test]
fn order_one_is_the_value() {
    let game = random_game(7, 2);
    for (index, value) in [
        ("shapley", Semivalue::Shapley),
        ("banzhaf", Semivalue::Banzhaf),
        ("k-shapley", Semivalue::Shapley),
        ("shapley-taylor", Semivalue::Shapley),
        ("faithful-shapley", Semivalue::Shapley),
        ("faithful-banzhaf", Semivalue::Banzhaf),
        ("k-additive-shapley", Semivalue::Shapley),
        ("chaining", Semivalue::Shapley),
        ("generalized-chaining", Semivalue::Shapley),
        ("joint-shapley", Semivalue::Shapley),
    ] {
        let expected = enumerate(&game, value).unwrap();
        let got = enumerate_interactions(&game, &index.parse().unwrap(), 1).unwrap();
        for (got, expected) in got.values().iter().zip(&expected.values) {
            assert!((got - expected).abs() < 1e-13, "{index}: {got} != {expected}");
        }
        assert_eq!(got.predictions(), expected.predictions);
    }
}

#[test]
fn several_indices_come_from_one_pass_and_threads_do_not_change_a_bit() {
    // The table has more than the 4096 masks of a block, so that blocks are merged.
    let table = random_game(14, 2);
    let game = Counted::new(&table);
    let asked: Vec<(InteractionIndex, usize)> =
        [("shapley", 2), ("k-shapley", 3), ("generalized-banzhaf", 2), ("walsh", 1)]
            .map(|(name, order)| (name.parse().unwrap(), order))
            .into();
    let all = enumerate_interactions_many(&game, &asked).unwrap();
    assert_eq!(game.evaluations(), 1 << 14);
    for ((index, order), found) in asked.iter().zip(&all) {
        assert_eq!((found.index(), found.order()), (index, *order));
        for threads in [1, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let alone = pool.install(|| enumerate_interactions(&table, index, *order)).unwrap();
            assert_eq!(&alone, found);
        }
        let moebius = MoebiusTransform::from_game(&table).unwrap().interactions(index, *order).unwrap();
        assert_same(found, &moebius, 1e-9, &index.to_string());
    }
    assert!(enumerate_interactions_many(&table, &[]).unwrap().is_empty());
}

#[test]
fn few_terms_serve_for_hundreds_of_players() {
    for players in [65, 130, 1000] {
        let game = SumOfUnanimity::random(players, 40, 6, 3).with_constant(2.5).unwrap();
        let moebius = MoebiusTransform::from(&game);
        for name in
            ["shapley", "k-shapley", "shapley-taylor", "faithful-shapley", "faithful-banzhaf", "chaining"]
        {
            let index: InteractionIndex = name.parse().unwrap();
            let found = moebius.interactions(&index, 3).unwrap();
            assert_eq!(found.base(), [2.5]);
            let weights = index.weights(3, players).unwrap();
            for (coalition, got) in found.iter() {
                let terms = game.terms().iter().zip(game.coefficients());
                let above = terms.filter(|(term, _)| coalition.is_subset_of(*term));
                let expected: f64 = above
                    .map(|(term, coefficient)| coefficient * weights.weight(coalition.size(), term.size()))
                    .sum();
                assert!((got[0] - expected).abs() < 1e-13, "{name} {coalition}");
            }
            if index.is_efficient() {
                let sum: f64 = found.values().iter().sum();
                assert!((sum - (found.predictions()[0] - 2.5)).abs() < 1e-12, "{name}: {sum}");
            }
        }
    }
}

#[test]
fn the_answer_finds_coalitions_ranks_them_and_makes_matrices() {
    let game = random_game(6, 2);
    let found = enumerate_interactions(&game, &InteractionIndex::KShapley, 3).unwrap();
    let sizes: Vec<usize> = found.coalitions().sizes().iter().map(|&size| size as usize).collect();
    assert!(sizes.is_sorted());
    let lists: Vec<Vec<usize>> = found.of_size(2).map(|(pair, _)| pair.members().collect()).collect();
    assert!(lists.is_sorted() && lists.len() == 15);
    assert_eq!(found.get(&[4, 1]), found.get(&[1, 4]));
    assert_eq!((found.get(&[]), found.get(&[0, 1, 2, 3])), (Some(found.constant()), None));
    let strongest = found.strongest(2, 4, 1);
    assert!(strongest.iter().all(|(coalition, _)| coalition.size() >= 2));
    let bound = strongest[3].1[1].abs();
    let larger = found.iter().filter(|(coalition, index)| coalition.size() >= 2 && index[1].abs() > bound);
    assert_eq!(larger.count(), 3);

    let pairs = enumerate_interactions(&game, &InteractionIndex::KShapley, 2).unwrap();
    let shapley = enumerate(&game, Semivalue::Shapley).unwrap();
    let matrix = pairs.matrix_of_halves();
    for player in 0..6 {
        for output in 0..2 {
            let row: f64 = (0..6).map(|other| matrix.pair(0, player, other)[output]).sum();
            assert!((row - shapley.value(0, player)[output]).abs() < 1e-13);
            for other in (0..6).filter(|&other| other != player) {
                let whole = pairs.get(&[player, other]).unwrap()[output];
                assert_eq!(matrix.pair(0, player, other)[output], whole / 2.0);
                assert_eq!(pairs.matrix().pair(0, other, player)[output], whole);
            }
        }
    }
    // For two players, k-Shapley values are Shapley values minus half of the interactions.
    let of_shapley = enumerate_interactions(&game, &InteractionIndex::SHAPLEY, 2).unwrap();
    for (got, expected) in of_shapley.matrix_of_remainders().values.iter().zip(&matrix.values) {
        assert!((got - expected).abs() < 1e-13);
    }
}

#[test]
fn constants_and_errors_are_told_beside_the_values_that_they_are_of() {
    let pairs = enumerate_interactions(&random_game(3, 2), &InteractionIndex::KShapley, 2).unwrap();
    assert_eq!((pairs.std_errors(), pairs.matrix_of_errors()), (None, None));
    let errors: Vec<f64> = (1..=12).map(f64::from).collect();
    let with = pairs.clone().with_std_errors(errors.clone()).with_constant(vec![7.0, 8.0]);
    assert_eq!(with.std_errors(), Some(&errors[..]));
    assert_eq!((with.constant(), with.get(&[])), (&[7.0, 8.0][..], Some(&[7.0, 8.0][..])));
    assert_eq!((with.values(), with.order(), with.outputs()), (pairs.values(), 2, 2));
    // The diagonal contains the errors of players 0, 1 and 2; the other entries contain the full errors of
    // the pairs 01, 02 and 12.
    let expected =
        [1.0, 2.0, 7.0, 8.0, 9.0, 10.0, 7.0, 8.0, 3.0, 4.0, 11.0, 12.0, 9.0, 10.0, 11.0, 12.0, 5.0, 6.0];
    assert_eq!(with.matrix_of_errors().unwrap(), expected);
}

#[test]
fn coalitions_are_put_in_order_with_their_values_beyond_a_word_of_bits() {
    let lists: [&[usize]; 7] = [&[64, 69], &[3], &[0, 69], &[64], &[0, 3, 65], &[0, 64], &[0, 3, 64]];
    let in_order: [&[usize]; 7] = [&[3], &[64], &[0, 64], &[0, 69], &[64, 69], &[0, 3, 64], &[0, 3, 65]];
    let make = |lists: &[&[usize]], order: usize| {
        let mut coalitions = Coalitions::new(70);
        lists.iter().for_each(|list| coalitions.push_members(list.iter().copied()));
        let number = |list: &&[usize]| list.iter().map(|&member| member as f64).sum::<f64>();
        let values = lists.iter().flat_map(|list| [number(list), -number(list)]).collect();
        let index = InteractionIndex::KShapley;
        Interactions::new((index, order), coalitions, values, vec![0.0; 2], vec![1.0; 2])
    };
    let found = make(&lists, 3);
    assert_eq!(found, make(&in_order, 3));
    for (coalition, list) in found.coalitions().iter().zip(in_order) {
        assert!(coalition.members().eq(list.iter().copied()));
        let number: f64 = list.iter().map(|&member| member as f64).sum();
        assert_eq!(found.get(list), Some(&[number, -number][..]), "{list:?}");
    }
    for list in [&[5][..], &[69], &[0, 3], &[68, 69], &[0, 3, 66], &[1, 2, 3], &[0, 1, 2, 3]] {
        assert_eq!(found.get(list), None, "{list:?}");
    }
    let wrong: [&(dyn Fn() + std::panic::RefUnwindSafe); 5] = [
        &|| drop(make(&lists, 2)),
        &|| drop(make(&[&[1], &[0], &[1]], 3)),
        &|| drop(make(&[&[], &[0]], 3)),
        &|| drop(found.strongest(1, 1, 2)),
        &|| drop(found.clone().with_std_errors(vec![0.0; 13])),
    ];
    for (index, wrong) in wrong.into_iter().enumerate() {
        assert!(std::panic::catch_unwind(wrong).is_err(), "{index}");
    }
}

prop_compose! {
    fn any_game()(players in 1..8usize, outputs in 1..3usize)(
        values in prop::collection::vec(-10.0..10.0f64, outputs << players), outputs in Just(outputs),
    ) -> TabulatedGame {
        TabulatedGame::new(values, outputs).unwrap()
    }
}

proptest! {
    #[test]
    fn efficient_indices_sum_to_the_worth_of_all(game in any_game(), order in 1..7usize) {
        for index in all(game.players()).into_iter().filter(InteractionIndex::is_efficient) {
            let found = enumerate_interactions(&game, &index, order).unwrap();
            for output in 0..game.outputs() {
                let sum: f64 = found.values().iter().skip(output).step_by(game.outputs()).sum();
                let expected = found.predictions()[output] - found.base()[output];
                prop_assert!(
                    (sum - expected).abs() < 1e-9,
                    "{} order {}: {} != {}", index, order, sum, expected
                );
            }
        }
    }

    #[test]
    fn who_adds_nothing_interacts_with_nobody(game in any_game(), order in 1..5usize) {
        // Add a null player as the last player.
        let both = [game.values_in_order(), game.values_in_order()].concat();
        let with_null = TabulatedGame::new(both, game.outputs()).unwrap();
        let null = game.players();
        for index in all(null + 1).into_iter().filter(|index| !index.is_generalized()) {
            let found = enumerate_interactions(&with_null, &index, order).unwrap();
            let with = found.iter().filter(|(coalition, _)| coalition.contains(null));
            for (coalition, index) in with {
                prop_assert!(index.iter().all(|index| index.abs() < 1e-10), "{}: {:?}", coalition, index);
            }
        }
    }

    #[test]
    fn players_who_add_the_same_interact_alike(game in any_game(), order in 1..5usize) {
        prop_assume!(game.players() > 1);
        let last = game.players() - 1;
        let game = made_symmetric(&game, 0, last);
        for index in all(game.players()) {
            let found = enumerate_interactions(&game, &index, order).unwrap();
            for (coalition, index) in found.iter() {
                let exchanged: Vec<usize> = coalition
                    .members()
                    .map(|member| if member == 0 { last } else if member == last { 0 } else { member })
                    .collect();
                let other = found.get(&exchanged).unwrap();
                for (one, other) in index.iter().zip(other) {
                    prop_assert!((one - other).abs() < 1e-9, "{}: {} {}", coalition, one, other);
                }
            }
        }
    }
}

#[test]
fn a_single_player_has_what_it_adds_in_every_order() {
    let game = TabulatedGame::new(vec![3.0, 1e3, 10.0, -1e3], 2).unwrap();
    for index in all(1) {
        for order in [1, 2, MAX_ORDER] {
            let found = enumerate_interactions(&game, &index, order).unwrap();
            let scale = if index == InteractionIndex::Walsh { 0.5 } else { 1.0 };
            assert_eq!(found.coalitions().len(), 1);
            let expected = [7.0 * scale, -2e3 * scale];
            for (got, expected) in found.values().iter().zip(expected) {
                assert!(
                    (got - expected).abs() < 1e-12 * expected.abs(),
                    "{index} order {order}: {got} {expected}"
                );
            }
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let game = random_game(3, 1);
    for order in [0, MAX_ORDER + 1] {
        let error = enumerate_interactions(&game, &InteractionIndex::KShapley, order).unwrap_err();
        assert!(matches!(error, ValueError::Order { .. }), "{error}");
    }
    let weights: InteractionIndex = "by-size=0.5,0.5".parse().unwrap();
    let error = enumerate_interactions(&game, &weights, 2).unwrap_err();
    assert!(matches!(error, ValueError::WeightsForOtherPlayers { weights: 2, players: 3 }), "{error}");
    let large = SumOfUnanimity::random(26, 1, 1, 3);
    let error = enumerate_interactions(&large, &InteractionIndex::KShapley, 2).unwrap_err();
    assert!(matches!(error, ValueError::Players { actual: 26, .. }), "{error}");
    let large = SumOfUnanimity::random(25, 1, 1, 3);
    let error = enumerate_interactions(&large, &InteractionIndex::KShapley, 12).unwrap_err();
    assert!(matches!(error, ValueError::TooManyInteractions { order: 12, .. }), "{error}");
    assert!(InteractionIndex::JointShapley.weights(2, 26).is_err());
    let mut wide = Coalitions::new(200);
    wide.push_full();
    let wide = MoebiusTransform::new(&wide, &[1.0], 1).unwrap();
    let error = wide.interactions(&InteractionIndex::SHAPLEY, 4).unwrap_err();
    assert!(error.to_string().contains(&MAX_INTERACTIONS.to_string()), "{error}");
    assert!(MoebiusTransform::new(&Coalitions::new(0), &[], 1).is_err());
    assert!(MoebiusTransform::new(&Coalitions::from_masks(2, [1, 2]), &[1.0], 1).is_err());
    let error = MoebiusTransform::new(&Coalitions::from_masks(2, [1, 2]), &[1.0, f64::NAN], 1).unwrap_err();
    assert!(error.to_string().contains("{1} of 2"), "{error}");
}

/// A game with one coalition whose value is not finite.
struct Broken(usize, u64, f64);

impl Game for Broken {
    fn players(&self) -> usize {
        self.0
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (row, out) in batch.iter().zip(out) {
            *out = if row.words()[0] == self.1 { self.2 } else { 1.0 };
        }
        Ok(())
    }
}

#[test]
fn values_that_are_none_are_told_by_their_coalition() {
    for (players, mask) in [(1, 0), (3, 5), (13, 4097), (13, 8191)] {
        for value in [f64::NAN, f64::INFINITY] {
            // The Möbius coefficients of pairs do not depend on all coalitions. An invalid value is rejected
            // nevertheless.
            for index in ["shapley", "moebius", "generalized-internal"] {
                let error = enumerate_interactions(&Broken(players, mask, value), &index.parse().unwrap(), 2);
                let expected = Coalitions::from_masks(players, [mask]).row(0).to_coalition();
                match error.unwrap_err() {
                    ValueError::Game(GameError::NotFinite { coalition, .. }) => {
                        assert_eq!(coalition, expected)
                    }
                    other => panic!("{other}"),
                }
            }
        }
    }
}

#[test]
fn scales_do_not_matter_until_sums_overflow() {
    let game = random_game(6, 1);
    let scaled = |factor: f64| {
        let values = game.values_in_order().iter().map(|value| value * factor).collect();
        TabulatedGame::new(values, 1).unwrap()
    };
    for index in all(6) {
        let expected = enumerate_interactions(&game, &index, 3).unwrap();
        for factor in [2f64.powi(-1000), 2f64.powi(960)] {
            let found = enumerate_interactions(&scaled(factor), &index, 3).unwrap();
            for (got, expected) in found.values().iter().zip(expected.values()) {
                assert!((got / factor - expected).abs() <= 1e-13, "{index}: {got} {expected}");
            }
        }
        let error = enumerate_interactions(&scaled(f64::MAX), &index, 3).unwrap_err();
        assert!(matches!(error, ValueError::InteractionOverflow { .. }), "{index}: {error}");
    }
}

#[test]
fn a_large_constant_does_no_harm() {
    let game = random_game(8, 1);
    let raised = game.values_in_order().iter().map(|value| value + 1e6).collect();
    let raised = TabulatedGame::new(raised, 1).unwrap();
    for index in all(8) {
        let expected = enumerate_interactions(&game, &index, 2).unwrap();
        let got = enumerate_interactions(&raised, &index, 2).unwrap();
        for (got, expected) in got.values().iter().zip(expected.values()) {
            // The values themselves are rounded to 1e-10.
            assert!((got - expected).abs() < 1e-8, "{index}: {got} {expected}");
        }
    }
}
