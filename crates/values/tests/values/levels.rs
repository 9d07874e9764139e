//! Tests values over a hierarchy of groups against their definition by orders, and against their definition
//! by coalitions at every level.

use apportion_games::{
    Additive, Counted, Game, GameError, Glove, Hierarchy, Member, Partition, SumOfUnanimity, TabulatedGame,
};
use apportion_values::{CoalitionalValue, Semivalue, SolutionConcept, Value, ValueError, enumerate};
use proptest::prelude::*;

use crate::common::{assert_close, mask_of, random_game};

/// A generator of random numbers below a bound, taken from the upper bits of a linear congruential generator
/// (Knuth's multiplier).
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }

    /// Draws a hierarchy with at most `depth` levels. The groups below the root have one to three nodes, and
    /// often include the previous group.
    fn hierarchy(&mut self, players: usize, depth: usize) -> Hierarchy {
        let mut nodes: Vec<(Member, usize)> =
            (0..players).map(|player| (Member::Player(player), 1)).collect();
        for _ in 0..players {
            let mut group = Vec::new();
            for _ in 0..(1 + self.below(3)).min(nodes.len()) {
                let at = if self.below(2) == 0 { nodes.len() - 1 } else { self.below(nodes.len()) };
                group.push(nodes.remove(at));
            }
            let levels = group.iter().map(|(_, levels)| levels + 1).max().unwrap_or(1);
            if levels <= depth {
                let members = group.into_iter().map(|(member, _)| member).collect();
                nodes.push((Member::Group(members), levels));
            } else {
                nodes.splice(0..0, group);
            }
        }
        Hierarchy::new(players, nodes.into_iter().map(|(member, _)| member).collect()).unwrap()
    }
}

/// Returns all orders of the players of a node in which the players of every group are contiguous.
fn orders(hierarchy: &Hierarchy, node: usize) -> Vec<Vec<usize>> {
    if node < hierarchy.players() {
        return vec![vec![node]];
    }
    fn arrange(left: &[Vec<Vec<usize>>]) -> Vec<Vec<usize>> {
        if left.is_empty() {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for first in 0..left.len() {
            let mut others = left.to_vec();
            let first = others.remove(first);
            let rest = arrange(&others);
            for order in &first {
                all.extend(rest.iter().map(|rest| [&order[..], rest].concat()));
            }
        }
        all
    }
    let of_members: Vec<_> =
        hierarchy.children(node).iter().map(|&member| orders(hierarchy, member)).collect();
    arrange(&of_members)
}

/// Returns the mean marginal contributions over the orders in which the players of every group are
/// contiguous.
fn by_orders(game: &TabulatedGame, hierarchy: &Hierarchy) -> Vec<f64> {
    let outputs = game.outputs();
    let mut values = vec![0.0; game.players() * outputs];
    let orders = orders(hierarchy, hierarchy.root());
    for order in &orders {
        let mut before = 0;
        for &player in order {
            let with = before | 1 << player;
            for output in 0..outputs {
                values[player * outputs + output] += game.value(with)[output] - game.value(before)[output];
            }
            before = with;
        }
    }
    values.iter().map(|value| value / orders.len() as f64).collect()
}

/// Returns the values by definition, from the coalitions of siblings at every level and their weights.
fn by_coalitions(game: &TabulatedGame, hierarchy: &Hierarchy, value: &CoalitionalValue) -> Vec<f64> {
    let outputs = game.outputs();
    let mut values = vec![0.0; game.players() * outputs];
    for player in 0..game.players() {
        let mut unions = vec![(0u64, 1.0)];
        let mut inside = player;
        for group in hierarchy.above(player) {
            let members = hierarchy.children(group);
            let siblings: Vec<u64> = members
                .iter()
                .filter(|&&member| member != inside)
                .map(|&member| mask_of(&hierarchy.players_at(member)))
                .collect();
            let semivalue = value.at_level(hierarchy.level(group));
            let mut wider = Vec::new();
            for subset in 0..1u64 << siblings.len() {
                let weight = semivalue.coefficient(members.len(), subset.count_ones() as usize);
                let joined = (0..siblings.len())
                    .filter(|at| subset >> at & 1 == 1)
                    .fold(0, |all, at| all | siblings[at]);
                wider.extend(unions.iter().map(|&(union, other)| (union | joined, other * weight)));
            }
            (unions, inside) = (wider, group);
        }
        for (union, weight) in unions {
            for output in 0..outputs {
                let added = game.value(union | 1 << player)[output] - game.value(union)[output];
                values[player * outputs + output] += weight * added;
            }
        }
    }
    values
}

fn all() -> Vec<CoalitionalValue> {
    let (weighted, beta) = (Semivalue::weighted_banzhaf(0.2), Semivalue::beta_shapley(4.0, 1.0));
    vec![
        CoalitionalValue::owen(),
        CoalitionalValue::banzhaf_owen(),
        CoalitionalValue::symmetric_coalitional_banzhaf(),
        CoalitionalValue { between: weighted.unwrap(), within: beta.unwrap() },
    ]
}

#[test]
fn values_are_those_of_the_definition_by_orders_and_by_coalitions() {
    let mut draws = Draws(20);
    let mut depths = [0; 8];
    for round in 0..150 {
        let players = 1 + round % 9;
        let hierarchy = draws.hierarchy(players, 2 + round % 5);
        depths[hierarchy.depth()] += 1;
        let game = random_game(players, 1 + round % 2);
        for value in all() {
            let what = format!("{value}: {hierarchy:?}");
            let got = Value::OverHierarchy(value.clone(), hierarchy.clone()).enumerate(&game).unwrap();
            assert_close(&got.values, &by_coalitions(&game, &hierarchy, &value), 1e-13, &what);
            assert_eq!(got.base, game.value(0));
            assert_eq!(got.predictions, game.value((1 << players) - 1));
        }
        if players <= 7 {
            let owen = Value::owen_over(hierarchy.clone()).enumerate(&game).unwrap();
            assert_close(&owen.values, &by_orders(&game, &hierarchy), 1e-13, "orders");
        }
    }
    assert!(depths[2..6].iter().all(|&count| count > 4), "{depths:?}");
}

/// Compares Owen values with the values of shap's `PartitionExplainer` and `CoalitionExplainer`; the fixture
/// is created by `benches/rivals/levels_fixture.py`.
#[test]
fn values_are_those_of_other_explainers() {
    fn member(groups: &serde_json::Value) -> Member {
        match groups.as_array() {
            Some(members) => Member::Group(members.iter().map(member).collect()),
            None => Member::Player(groups.as_u64().unwrap() as usize),
        }
    }
    let numbers = |list: &serde_json::Value| -> Vec<f64> { serde_json::from_value(list.clone()).unwrap() };
    let fixture: serde_json::Value =
        serde_json::from_str(include_str!("../fixtures/shap_levels.json")).unwrap();
    let game = TabulatedGame::new(numbers(&fixture["values"]), 1).unwrap();
    let cases = fixture["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let Member::Group(members) = member(&case["groups"]) else { panic!("{case}") };
        let hierarchy = Hierarchy::new(game.players(), members).unwrap();
        let owen = Value::owen_over(hierarchy).enumerate(&game).unwrap();
        assert_close(&owen.values, &numbers(&case["values"]), 1e-13, &case["groups"].to_string());
    }
}

#[test]
fn two_levels_are_a_partition_and_one_is_a_semivalue() {
    let game = random_game(7, 2);
    let partition = Partition::new(7, vec![vec![6, 2, 4], vec![0], vec![1, 3, 5]]).unwrap();
    for value in all() {
        let hierarchy = Hierarchy::from(&partition);
        let over = value.enumerate_over(&game, &hierarchy).unwrap();
        let flat = value.enumerate(&game, &partition).unwrap();
        assert_close(&over.values, &flat.values, 1e-14, "two levels");
        assert_eq!(value.reduces_over(&hierarchy), None);
        for (partition, semivalue) in
            [(Partition::singletons(7), &value.between), (Partition::whole(7), &value.within)]
        {
            let hierarchy = Hierarchy::from(&partition);
            let over = value.enumerate_over(&game, &hierarchy).unwrap();
            let wanted = enumerate(&game, semivalue.clone()).unwrap();
            assert_close(&over.values, &wanted.values, 1e-14, "one level");
            assert_eq!(value.reduces_over(&hierarchy), Some(semivalue));
        }
    }
}

#[test]
fn a_unanimity_game_is_split_level_by_level() {
    // Among the players in `needed`, the hierarchy is ((0, 1), 2), (3, 64), 69. The value is 1 if all of 0,
    // 1, 2, 64 and 69 are present. A coalition of 70 players takes more than one 64-bit word.
    let mut parents = vec![Some(75); 70];
    let pairs = [(0, 70), (1, 70), (2, 71), (3, 72), (64, 72)];
    pairs.into_iter().for_each(|(node, group)| parents[node] = Some(group));
    for group in [Some(71), Some(75), Some(75), Some(75), Some(75), None] {
        parents.push(group);
    }
    // Add groups with one member, so that nodes 73 and 74 are groups.
    (parents[4], parents[5]) = (Some(73), Some(74));
    let hierarchy = Hierarchy::from_parents(70, &parents).unwrap();
    let game = SumOfUnanimity::unanimity(70, [0, 1, 2, 64, 69]).unwrap();
    let needed = [0, 1, 2, 3, 64, 69];
    let left = hierarchy.restricted_to(&needed);
    let sub = apportion_games::SubGame::new(&game, &needed).unwrap();
    let owen = CoalitionalValue::owen().enumerate_over(&sub, &left).unwrap();
    let third = 1.0 / 3.0;
    let wanted = [third / 4.0, third / 4.0, third / 2.0, 0.0, third, third];
    assert_close(&owen.values, &wanted, 1e-15, "Winter");
}

#[test]
fn coalitions_are_counted_once() {
    let mut draws = Draws(7);
    for round in 0..30 {
        let players = 1 + round % 8;
        let hierarchy = draws.hierarchy(players, 2 + round % 4);
        let game = apportion_games::Cached::new(random_game(players, 1));
        CoalitionalValue::owen().enumerate_over(&game, &hierarchy).unwrap();
        let wanted = Some(game.distinct());
        assert_eq!(CoalitionalValue::coalitions_over(&hierarchy), wanted, "{hierarchy:?}");
    }
    let wide = Hierarchy::from(&Partition::singletons(70));
    assert_eq!(CoalitionalValue::coalitions_over(&wide), None);
}

#[test]
fn what_no_enumeration_can_take_is_refused() {
    let game = Additive::new(vec![1.0; 40]).unwrap();
    let twenty = |from: usize| Member::Group((from..from + 20).map(Member::Player).collect());
    let rest = Member::Group(vec![twenty(0), Member::Group((20..30).map(Member::Player).collect())]);
    let members = std::iter::once(rest).chain((30..40).map(Member::Player)).collect();
    let hierarchy = Hierarchy::new(40, members).unwrap();
    let refused = CoalitionalValue::owen().enumerate_over(&game, &hierarchy).unwrap_err();
    assert!(matches!(refused, ValueError::Levels { needed: 31, max: 25 }), "{refused}");
    let others = CoalitionalValue::owen().enumerate_over(&Glove::new(1, 2).unwrap(), &hierarchy);
    let refused = others.unwrap_err();
    assert!(
        matches!(refused, ValueError::Game(GameError::HierarchyOfOthers { actual: 40, expected: 3 })),
        "{refused}"
    );
    let three = Semivalue::from_size_distribution(&[0.5, 0.25, 0.25]).unwrap();
    let value = CoalitionalValue { between: three, within: Semivalue::Shapley };
    let refused = Value::OverHierarchy(value, hierarchy.clone()).check(40).unwrap_err();
    assert!(matches!(refused, ValueError::WeightsForOtherPlayers { weights: 3, players: 11 }), "{refused}");
    let refused = Value::over_hierarchy(SolutionConcept::TwoStepShapley, hierarchy).unwrap_err().to_string();
    assert!(refused.contains("two-step does not support nested groups"), "{refused}");
}

#[test]
fn a_group_asks_for_its_members_with_all_siblings_around_it() {
    let worth: Vec<f64> = (0..9).map(f64::from).collect();
    let game = Counted::new(Additive::new(worth.clone()).unwrap());
    // The hierarchy is ((0, 1, 2), 3, 4), (5, 6), (7, 8).
    let players = |from: usize, to: usize| (from..to).map(Member::Player).collect::<Vec<_>>();
    let inner = [vec![Member::Group(players(0, 3))], players(3, 5)].concat();
    let top = vec![Member::Group(inner), Member::Group(players(5, 7)), Member::Group(players(7, 9))];
    let hierarchy = Hierarchy::new(9, top).unwrap();
    let owen = CoalitionalValue::owen().enumerate_over(&game, &hierarchy).unwrap();
    assert_close(&owen.values, &worth, 1e-13, "additive");
    let of_groups = [3 + 2 + 2, 3 + 2, 2 + 2, 2 + 2].map(|players| 1 << players);
    assert_eq!(game.evaluations(), 2 + of_groups.iter().sum::<u64>());
}

proptest! {
    #[test]
    fn members_of_every_group_share_what_it_gets_where_it_plays_as_one(
        seed in any::<u64>(), players in 2..9usize, depth in 2..6usize,
    ) {
        let hierarchy = Draws(seed).hierarchy(players, depth);
        let game = random_game(players, 1);
        let owen = CoalitionalValue::owen().enumerate_over(&game, &hierarchy).unwrap();
        // The children of the root are the players of the quotient game.
        let top = hierarchy.children(hierarchy.root());
        let groups: Vec<Vec<usize>> = top.iter().map(|&node| hierarchy.players_at(node)).collect();
        let partition = Partition::new(players, groups.clone()).unwrap();
        let quotient = Value::quotient(Semivalue::Shapley, partition).enumerate(&game).unwrap();
        for (members, wanted) in groups.iter().zip(&quotient.values) {
            let sum: f64 = members.iter().map(|&player| owen.values[player]).sum();
            prop_assert!((sum - wanted).abs() < 1e-12);
        }
    }
}
