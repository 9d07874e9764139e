//! Values and indices of additive games, from few evaluations, equal those of enumeration.

use apportion_games::{
    Background, Coalition, Coalitions, Counted, Game, GameError, Graph, Hierarchy, MarginalGame, Member,
    Partition, QuotientGame, TabulatedGame,
};
use apportion_values::{
    AdditiveTerms, CoalitionalValue, GraphValue, InteractionIndex, LinearValue, MoebiusTransform, Semivalue,
    Value, ValueError, enumerate_interactions,
};
use proptest::prelude::*;

use crate::common::{assert_close, random_game};

/// Returns a game with random Möbius coefficients of the empty coalition, of single players and of the
/// subsets of `interactions`, as a table.
fn additive_game(players: usize, outputs: usize, interactions: &[Vec<usize>]) -> TabulatedGame {
    let numbers = random_game(players, outputs);
    let masks: Vec<u64> = interactions
        .iter()
        .map(|members| members.iter().fold(0, |mask, member| mask | 1 << member))
        .collect();
    let is_term = |term: u64| term.count_ones() <= 1 || masks.iter().any(|mask| term & !mask == 0);
    let terms: Vec<u64> = (0..1 << players).filter(|&term| is_term(term)).collect();
    let value = |mask: u64| {
        let mut sums = vec![0.0; outputs];
        for &term in terms.iter().filter(|&&term| term & !mask == 0) {
            sums.iter_mut().zip(numbers.value(term)).for_each(|(sum, number)| *sum += number);
        }
        sums
    };
    TabulatedGame::new((0..1 << players).flat_map(value).collect(), outputs).unwrap()
}

/// Returns pairs and one triple that fit `players` players, partly overlapping.
fn interactions(players: usize) -> Vec<Vec<usize>> {
    let all = [vec![0, 1], vec![2, 0], vec![1, 3], vec![4, 2, 5], vec![6, 5]];
    all.into_iter().filter(|members| members.iter().all(|&member| member < players)).collect()
}

/// Returns values of all kinds for `players` players.
fn values(players: usize) -> Vec<Value> {
    let groups = {
        let mut groups = vec![Vec::new(); players.div_ceil(2)];
        (0..players).for_each(|player| groups[player * player % players.div_ceil(2)].push(player));
        groups.retain(|group| !group.is_empty());
        Partition::new(players, groups).unwrap()
    };
    let nested = {
        let mut members = vec![Member::Player(0)];
        for player in 1..players {
            let inner = Member::Group(std::mem::take(&mut members));
            members = vec![inner, Member::Player(player)];
        }
        Hierarchy::new(players, members).unwrap()
    };
    let sizes: Vec<f64> = (1..=players).map(|size| size as f64).collect();
    let total: f64 = sizes.iter().sum();
    let by_size: Vec<f64> = sizes.iter().map(|size| size / total).collect();
    let semivalues = [
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.3).unwrap(),
        Semivalue::beta_shapley(4.0, 1.5).unwrap(),
        Semivalue::mixture(&[0.0, 0.2, 1.0], &[0.3, 0.6, 0.1]).unwrap(),
        Semivalue::from_size_distribution(&by_size).unwrap(),
    ];
    let mixed = CoalitionalValue {
        between: Semivalue::weighted_banzhaf(0.7).unwrap(),
        within: Semivalue::beta_shapley(1.0, 3.0).unwrap(),
    };
    let mut all: Vec<Value> = semivalues.into_iter().map(Value::from).collect();
    all.extend([
        LinearValue::weighted_shapley(&sizes).unwrap().into(),
        Value::owen(groups.clone()),
        Value::banzhaf_owen(groups.clone()),
        Value::Coalitional(mixed.clone(), groups.clone()),
        Value::OverHierarchy(CoalitionalValue::owen(), nested.clone()),
        Value::OverHierarchy(mixed, nested),
        Value::TwoStepShapley(groups.clone()),
        Value::quotient(Semivalue::Shapley, groups.clone()),
        Value::quotient(Semivalue::beta_shapley(2.0, 5.0).unwrap(), groups),
        Value::on_graph(GraphValue::myerson(), Graph::line(players)),
        Value::on_graph(GraphValue::l_shapley(1), Graph::line(players)),
    ]);
    all
}

#[test]
fn all_values_equal_enumeration() {
    for players in [1, 2, 3, 4, 7, 8] {
        let declared = interactions(players);
        for outputs in [1, 3] {
            let game = additive_game(players, outputs, &declared);
            let terms = AdditiveTerms::new(players, &declared).unwrap();
            for value in values(players) {
                let found = terms.attributions(&game, &value).unwrap();
                let expected = value.enumerate(&game).unwrap();
                let what = format!("{} of {players} players", value.concept());
                assert_close(&found.values, &expected.values, 1e-12, &what);
                assert_close(&found.base, &expected.base, 0.0, &what);
                assert_close(&found.predictions, &expected.predictions, 0.0, &what);
                assert_eq!(found.axes(), expected.axes(), "{what}");
            }
        }
    }
}

#[test]
fn values_of_any_transform_equal_enumeration() {
    for players in [1, 2, 5, 6] {
        let game = random_game(players, 2);
        let transform = MoebiusTransform::from_game(&game).unwrap();
        for value in values(players) {
            let (found, expected) =
                (transform.attributions(&value).unwrap(), value.enumerate(&game).unwrap());
            let what = format!("{} of {players} players", value.concept());
            assert_close(&found.values, &expected.values, 1e-11, &what);
            assert_close(&found.predictions, &expected.predictions, 1e-11, &what);
        }
    }
}

#[test]
fn indices_equal_enumeration_also_for_groups() {
    let declared = interactions(7);
    let (game, terms) = (additive_game(7, 2, &declared), AdditiveTerms::new(7, &declared).unwrap());
    let transform = terms.transform(&game).unwrap();
    let groups = Partition::new(7, vec![vec![0, 4], vec![1, 2], vec![3], vec![6, 5]]).unwrap();
    let quotient = transform.quotient(&groups).unwrap();
    let quotient_game = QuotientGame::new(&game, &groups).unwrap();
    for name in ["shapley", "banzhaf", "shapley-taylor", "faithful-shapley", "walsh", "generalized-shapley"] {
        let index: InteractionIndex = name.parse().unwrap();
        for (game, transform) in [(&game as &dyn Game, &transform), (&quotient_game, &quotient)] {
            let found = transform.interactions(&index, 2).unwrap();
            let expected = enumerate_interactions(game, &index, 2).unwrap();
            for pair in 0..game.players() {
                for other in 0..=pair {
                    let members = if other == pair { vec![pair] } else { vec![other, pair] };
                    let zero = [0.0, 0.0];
                    let got = found.get(&members).unwrap_or(&zero);
                    assert_close(got, expected.get(&members).unwrap_or(&zero), 1e-12, name);
                }
            }
        }
    }
}

#[test]
fn a_transform_is_a_game() {
    let game = random_game(5, 2);
    let transform = MoebiusTransform::from_game(&game).unwrap();
    let all = Coalitions::from_masks(5, 0..32);
    let mut values = vec![0.0; 64];
    transform.values(&all, &mut values).unwrap();
    assert_close(&values, game.table().unwrap(), 1e-13, "all coalitions");
    let mut terms = Coalitions::new(2);
    terms.push_members([0]);
    terms.push_members([1]);
    let huge = MoebiusTransform::new(&terms, &[f64::MAX, f64::MAX], 1).unwrap();
    let refused = huge.values(&Coalitions::from_masks(2, [3]), &mut [0.0]).unwrap_err();
    assert!(matches!(refused, GameError::NotFinite { output: 0, .. }), "{refused}");
}

#[test]
fn only_the_coalitions_of_the_terms_are_evaluated() {
    for (players, declared, evaluations) in [
        (1, vec![], 2),
        (2, vec![], 4),
        (2, vec![vec![0, 1]], 4),
        (9, vec![], 11),
        (9, vec![vec![3, 1], vec![1, 3, 3], vec![2], vec![]], 12),
        (9, vec![vec![0, 1, 2, 3]], 22),
        (9, vec![vec![0, 1, 2], vec![1, 2, 8]], 18),
    ] {
        let game = additive_game(players, 1, &declared);
        let (game, terms) = (Counted::new(&game), AdditiveTerms::new(players, &declared).unwrap());
        terms.transform(&game).unwrap();
        assert_eq!((terms.evaluations(), game.evaluations()), (evaluations, evaluations as u64));
    }
}

#[test]
fn null_players_are_not_evaluated() {
    let declared = vec![vec![0, 1], vec![1, 2], vec![2, 4]];
    let background = Background::baseline(vec![0.5; 5]).unwrap();
    let model = |row: &[f64]| row[0] * row[1] + row[1] * row[2] - row[2] * row[4] + row[3].exp();
    let game = MarginalGame::new(&model, &[1.0, 0.5, 2.0, 0.5, 0.5], &background).unwrap();
    let terms = AdditiveTerms::new(5, &declared).unwrap();
    let reduced = terms.without_null_players(game.null_players().view()).unwrap();
    assert_eq!((terms.evaluations(), reduced.evaluations()), (10, 4));
    for value in values(5) {
        let (found, expected) =
            (reduced.attributions(&game, &value).unwrap(), value.enumerate(&game).unwrap());
        assert_close(&found.values, &expected.values, 1e-13, &value.concept().to_string());
    }
    let none = terms.without_null_players(Coalition::full(5).view()).unwrap();
    assert_eq!(none.evaluations(), 2);
}

#[test]
fn a_thousand_players_take_a_thousand_evaluations() {
    let model = |row: &[f64]| {
        let curves: f64 = row.iter().enumerate().map(|(at, x)| (x + at as f64).sin()).sum();
        curves + row.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>()
    };
    let rows: Vec<f64> = (0..4000).map(|at| (at as f64 * 0.37).cos()).collect();
    let (explicand, background) = rows.split_at(1000);
    let background = Background::rows(background, 1000).unwrap();
    let game = MarginalGame::new(&model, explicand, &background).unwrap();
    let terms = AdditiveTerms::new(1000, (0..999).map(|at| vec![at, at + 1])).unwrap();
    assert_eq!(terms.evaluations(), 2 + 1000 + 999);
    let shapley = terms.attributions(&game, &Semivalue::Shapley.into()).unwrap();
    // The Shapley value of x y in the marginal game of independent background rows (b, c) averages
    // (x − b)(y + c)/2 over them.
    for player in [0, 1, 500, 999] {
        let of_row = |row: &[f64]| {
            let (x, b) = (explicand[player], row[player]);
            let curve = (x + player as f64).sin() - (b + player as f64).sin();
            let others = [player.checked_sub(1), Some(player + 1).filter(|&other| other < 1000)];
            let products = others.into_iter().flatten().map(|at| (x - b) * (explicand[at] + row[at]) / 2.0);
            curve + products.sum::<f64>()
        };
        let expected = background.as_rows().iter().map(of_row).sum::<f64>() / 3.0;
        assert!((shapley.values[player] - expected).abs() < 1e-11, "{player}");
    }
}

#[test]
fn other_games_and_terms_are_refused() {
    let game = random_game(4, 2);
    let declared = vec![vec![0, 1]];
    let terms = AdditiveTerms::new(4, &declared).unwrap();
    let refused = terms.attributions(&game, &Semivalue::Shapley.into()).unwrap_err();
    let ValueError::NotAdditive { output, sum, value } = refused else { panic!("{refused}") };
    let expected = game.value(15)[output];
    assert_eq!((output, value), (0, expected));
    assert!((sum - value).abs() > 0.1);
    let message = ValueError::NotAdditive { output, sum: 1.5, value: 1.25 }.to_string();
    assert!(message.contains("a difference of -2.50e-1"), "{message}");
    // Only the second output has another interaction.
    let additive = additive_game(4, 2, &declared);
    let both = (0..16u64).flat_map(|mask| {
        let (first, second) = (additive.value(mask)[0], game.value(mask)[1]);
        [first, second]
    });
    let both = TabulatedGame::new(both.collect(), 2).unwrap();
    assert!(matches!(terms.transform(&both), Err(ValueError::NotAdditive { output: 1, .. })));

    let unknown = AdditiveTerms::new(4, [vec![0, 4]]).unwrap_err().to_string();
    assert_eq!(unknown, "unknown player 4 in interaction 0; expected 0 to 3");
    assert!(matches!(AdditiveTerms::new(0, [vec![0]]), Err(ValueError::Game(_))));
    let many = AdditiveTerms::new(100, [(0..25).collect::<Vec<_>>()]).unwrap_err();
    assert!(matches!(many, ValueError::TooManyTerms { interactions: 1, largest: 25, .. }), "{many}");
    let many = AdditiveTerms::new(200, [(0..150).collect::<Vec<_>>()]).unwrap_err();
    assert!(matches!(many, ValueError::TooManyTerms { largest: 150, .. }), "{many}");
    let other = terms.transform(&random_game(5, 1)).unwrap_err().to_string();
    assert_eq!(other, "the terms are declared for 4 players, but the game has 5");
    let groups = Value::owen(Partition::whole(5));
    assert!(matches!(terms.attributions(&additive, &groups), Err(ValueError::Game(_))));
}

proptest! {
    #[test]
    fn random_interactions_equal_enumeration(
        players in 1usize..8,
        masks in proptest::collection::vec(1u64..256, 0..5),
    ) {
        let members = |mask: &u64| (0..players).filter(|player| mask >> player & 1 == 1).collect::<Vec<_>>();
        let declared: Vec<Vec<usize>> = masks.iter().map(members).collect();
        let game = additive_game(players, 1, &declared);
        let terms = AdditiveTerms::new(players, &declared).unwrap();
        prop_assert!(terms.evaluations() <= 1 << players || players == 1);
        for value in values(players) {
            let found = terms.attributions(&game, &value).unwrap();
            let expected = value.enumerate(&game).unwrap();
            for (got, expected) in found.values.iter().zip(&expected.values) {
                prop_assert!((got - expected).abs() < 1e-11, "{}: {got} {expected}", value.concept());
            }
        }
    }
}
