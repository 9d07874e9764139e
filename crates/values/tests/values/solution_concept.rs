//! Tests solution concepts by name, with their groups or graph, and tests their reductions.

use apportion_games::{Additive, Cached, Coalitions, Graph, Hierarchy, Partition, SumOfUnanimity};
use apportion_values::{
    CoalitionDistribution, CoalitionalValue, GraphValue, LinearValue, Semivalue, SolutionConcept, Value,
    ValueError, enumerate,
};

use crate::common::{assert_close, random_game};

/// The names of values for single players, for players in groups, for groups, and for players on a graph.
const NAMES: &str = "
    shapley banzhaf weighted-banzhaf=0.1 beta=4,1 beta=0.30000000000000004,16 size-distribution=0.25,0.5,0.25
    mixture=0.2:0.5,1:0.5
    owen banzhaf-owen symmetric-coalitional-banzhaf two-step
    coalitional=weighted-banzhaf=0.3/mixture=0:0.5,1:0.5
    quotient-shapley quotient-banzhaf quotient-beta=4,1
    myerson myerson-banzhaf graph-restricted/beta=4,1
    l-shapley=0 l-shapley=2 l-shapley=3,present l-banzhaf=1 local=2,present/weighted-banzhaf=0.3
    c-shapley=2 c-shapley=1,printed c-shapley=2,printed c-shapley=2,marginal c-shapley=2,graph,present
    c-banzhaf=4,printed,present connected=1,graph/beta=4,1
    quotient-beta=1,1 graph-restricted/beta=1,1 local=8/beta=1,1 connected=2/weighted-banzhaf=0.5
";

const UNKNOWN_NAMES: &str = "
    shap beta beta=1 beta=1,2,3 weighted-banzhaf weighted-banzhaf=x mixture=1
    owens quotient- quotient quotient-owen coalitional=shapley two-steps
    l-shapley l-shapley= l-shapley=-1 l-shapley=1,printed c-shapley=x local=2 c-shapley=1/banzhaf
";

#[test]
fn a_name_is_read_back_as_the_value_it_names() {
    for name in NAMES.split_whitespace() {
        let value: SolutionConcept = name.parse().unwrap();
        assert_eq!(value.to_string(), name);
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(text, format!("{name:?}"));
        assert_eq!(serde_json::from_str::<SolutionConcept>(&text).unwrap(), value);
    }
    let pair: SolutionConcept = "coalitional=shapley/shapley".parse().unwrap();
    assert_eq!(pair, SolutionConcept::owen());
    let by_size: SolutionConcept = "by-size=0.25,0.25,0.25".parse().unwrap();
    assert_eq!(by_size.to_string(), "size-distribution=0.25,0.5,0.25");
    let linear = SolutionConcept::from(LinearValue::weighted_shapley(&[1.0, 2.0]).unwrap());
    let text = serde_json::to_string(&linear).unwrap();
    assert_eq!(serde_json::from_str::<SolutionConcept>(&text).unwrap(), linear);
}

#[test]
fn an_unknown_name_is_refused_with_the_known_ones() {
    for name in UNKNOWN_NAMES.split_whitespace().chain([""]) {
        let message = name.parse::<SolutionConcept>().unwrap_err().to_string();
        for known in ["shapley", "weighted-banzhaf=P", "beta=A,B", "owen", "quotient-", "c-shapley=K"] {
            assert!(message.contains(known), "{name}: {message}");
        }
    }
    let refused = |name: &str| name.parse::<SolutionConcept>().unwrap_err();
    assert!(matches!(refused("beta=0,1"), ValueError::Beta { .. }));
    assert!(matches!(refused("weighted-banzhaf=1"), ValueError::Presence { .. }));
}

#[test]
fn groups_that_say_nothing_leave_the_values_of_single_players() {
    let game = SumOfUnanimity::random(5, 12, 3, 4);
    for name in ["owen", "banzhaf-owen", "coalitional=beta=4,1/banzhaf", "two-step", "quotient-banzhaf"] {
        let value = |groups| Value::from_concept(name.parse().unwrap(), Some(groups), None).unwrap();
        for partition in [Partition::singletons(5), Partition::whole(5)] {
            let value = value(partition);
            let got = value.enumerate(&game).unwrap();
            match value.reduces_to() {
                Some(semivalue) => {
                    let expected = enumerate(&game, semivalue).unwrap();
                    assert_close(&got.values, &expected.values, 1e-12, name);
                }
                None => assert!((got.values[0] - (got.predictions[0] - got.base[0])).abs() < 1e-12, "{name}"),
            }
        }
        let two = Partition::new(5, vec![vec![0, 1], vec![2, 3, 4]]).unwrap();
        assert_eq!(value(two).reduces_to(), None);
    }
}

#[test]
fn groups_that_are_missing_or_of_others_are_refused() {
    let game = Additive::new([1.0, 2.0, 3.0]).unwrap();
    for name in ["owen", "two-step", "quotient-banzhaf"] {
        let refused = Value::from_concept(name.parse().unwrap(), None, None).unwrap_err();
        assert!(matches!(refused, ValueError::NoPartition { .. }), "{refused}");
        assert!(refused.to_string().contains(name), "{refused}");
        let others = Value::from_concept(name.parse().unwrap(), Some(Partition::whole(2)), None).unwrap();
        assert!(others.enumerate(&game).is_err());
    }
    let by_size = |groups| {
        Value::from_concept("quotient-size-distribution=0.5,0.5".parse().unwrap(), Some(groups), None)
            .unwrap()
    };
    assert!(by_size(Partition::singletons(3)).enumerate(&game).is_err());
    let two = Partition::new(3, vec![vec![0, 2], vec![1]]).unwrap();
    assert_eq!(by_size(two).enumerate(&game).unwrap().values, [4.0, 2.0]);
}

fn structures() -> (Partition, Graph) {
    (Partition::new(4, vec![vec![0, 1], vec![2, 3]]).unwrap(), Graph::line(4))
}

#[test]
fn a_name_and_its_structure_are_the_value_and_nothing_else_is() {
    let (groups, graph) = structures();
    for (name, has_groups, has_graph) in [
        ("shapley", false, false),
        ("owen", true, false),
        ("two-step", true, false),
        ("quotient-banzhaf", true, false),
        ("myerson", false, true),
    ] {
        let concept: SolutionConcept = name.parse().unwrap();
        for (with_groups, with_graph) in [(false, false), (true, false), (false, true), (true, true)] {
            let made = Value::from_concept(
                concept.clone(),
                with_groups.then(|| groups.clone()),
                with_graph.then(|| graph.clone()),
            );
            let fits = (with_groups, with_graph) == (has_groups, has_graph);
            assert_eq!(made.is_ok(), fits, "{name}");
            if let Ok(value) = made {
                assert_eq!(value.concept(), concept);
                assert_eq!((value.groups().is_some(), value.graph().is_some()), (has_groups, has_graph));
                assert_eq!(value.check(4).unwrap(), if name.starts_with("quotient") { 2 } else { 4 });
                assert!(value.check(5).is_err() == (has_groups || has_graph), "{name}");
            }
        }
    }
}

#[test]
fn values_are_those_of_the_concept() {
    let (groups, graph) = structures();
    let game = SumOfUnanimity::random(4, 9, 3, 1);
    assert_eq!(
        Value::owen(groups.clone()).enumerate(&game).unwrap().values,
        CoalitionalValue::owen().enumerate(&game, &groups).unwrap().values
    );
    let local = GraphValue::l_shapley(1);
    assert_eq!(
        Value::on_graph(local.clone(), graph.clone()).enumerate(&game).unwrap().values,
        local.enumerate(&game, &graph).unwrap().values
    );
}

/// Returns partitions into groups of one, into a single group, and into groups of several sizes.
fn partitions() -> Vec<Partition> {
    let three = Partition::new(7, vec![vec![6, 2, 4], vec![0], vec![1, 3, 5]]).unwrap();
    let two = Partition::new(7, vec![vec![0, 1, 2, 3, 4], vec![5, 6]]).unwrap();
    vec![Partition::singletons(7), Partition::whole(7), two, three]
}

#[test]
fn coalitions_are_counted_as_many_as_enumeration_looks_at() {
    for name in ["shapley", "owen", "coalitional=beta=4,1/banzhaf", "two-step", "quotient-banzhaf"] {
        let concept: SolutionConcept = name.parse().unwrap();
        for partition in partitions() {
            let groups = concept.needs_partition().then(|| partition.clone());
            let game = Cached::new(random_game(7, 1));
            let value = Value::from_concept(concept.clone(), groups, None).unwrap();
            value.enumerate(&game).unwrap();
            assert_eq!(value.coalitions(7), Some(game.distinct()), "{name}, {partition:?}");
        }
    }
    // A hierarchy that is equivalent to a partition has the same number of coalitions.
    for partition in partitions().into_iter().skip(2) {
        let over = Value::owen_over(Hierarchy::from(&partition));
        assert_eq!(over.coalitions(7), Value::owen(partition).coalitions(7));
    }
}

#[test]
fn coalitions_of_laws_are_those_they_name_with_and_without_the_player_and_never_more_than_all() {
    // Each player joins the coalition of all others. The count includes this coalition with and without the
    // player, for each player, and the grand and the empty coalition; it does not exceed the number of all
    // coalitions.
    let distribution = |players: usize, player: usize| {
        let mut coalitions = Coalitions::new(players);
        coalitions.push_members((0..players).filter(|&other| other != player));
        CoalitionDistribution::new(coalitions, vec![1.0])
    };
    for (players, expected) in [(1, 2), (2, 4), (3, 8), (4, 10), (7, 16), (30, 62)] {
        let value = LinearValue::from_distributions(
            (0..players).map(|player| distribution(players, player)).collect(),
        );
        assert_eq!(Value::from(value.unwrap()).coalitions(players), Some(expected), "{players} players");
    }
}

#[test]
fn coalitions_are_counted_up_to_the_most_that_are_enumerated() {
    let shapley = Value::from(Semivalue::Shapley);
    assert_eq!((shapley.coalitions(25), shapley.coalitions(26)), (Some(1 << 25), None));
    let groups = |sizes: &[usize]| {
        let mut players = 0..sizes.iter().sum::<usize>();
        let groups = sizes.iter().map(|&size| players.by_ref().take(size).collect()).collect();
        Partition::new(sizes.iter().sum(), groups).unwrap()
    };
    let count = |name: &str, sizes: &[usize]| {
        let value = Value::from_concept(name.parse().unwrap(), Some(groups(sizes)), None).unwrap();
        value.coalitions(sizes.iter().sum())
    };
    // For Owen values, m − 1 + |S_j| must be at most 25 for each group j.
    assert_eq!(count("owen", &[24, 2]), Some(4 + 2 * ((1 << 24) - 2 + 2)));
    assert_eq!(count("owen", &[25, 1]), None);
    assert_eq!(count("owen", &[22, 3, 1, 1]), Some(16 + 8 * ((1 << 22) - 2 + 6)));
    assert_eq!(count("owen", &[23, 1, 1, 1]), None);
    assert_eq!(count("two-step", &[25, 3, 1]), Some(8 + (1 << 25) - 2 + 6));
    assert_eq!(count("two-step", &[26, 1]), None);
    assert_eq!(count("quotient-shapley", &[30, 40, 1]), Some(8));
    assert_eq!(Value::on_graph(GraphValue::myerson(), Graph::line(5)).coalitions(5), None);
}

#[test]
fn a_concept_is_called_efficient_where_its_values_sum_to_what_all_add() {
    let names = NAMES.split_whitespace().filter(|name| !name.starts_with("size-distribution"));
    for name in names.chain(["coalitional=shapley/banzhaf", "coalitional=banzhaf/shapley", "beta=1,1"]) {
        let concept: SolutionConcept = name.parse().unwrap();
        // For values on graphs, the sum depends on the graph.
        if concept.needs_graph() {
            assert!(!concept.is_efficient(), "{name}");
            continue;
        }
        let partition = partitions().pop().unwrap();
        let groups = concept.needs_partition().then_some(partition);
        let value = Value::from_concept(concept.clone(), groups, None).unwrap();
        let found = value.enumerate(&random_game(7, 1)).unwrap();
        let excess = found.values.iter().sum::<f64>() - (found.predictions[0] - found.base[0]);
        assert_eq!(concept.is_efficient(), excess.abs() < 1e-12, "{name}: {excess}");
    }
    let linear = LinearValue::weighted_shapley(&[1.0, 2.0]).unwrap();
    assert!(!SolutionConcept::from(linear).is_efficient());
}

#[test]
fn a_concept_equals_the_semivalue_that_it_is_and_no_other() {
    let shapley = SolutionConcept::from(Semivalue::Shapley);
    assert!(shapley == Semivalue::Shapley && shapley != Semivalue::Banzhaf);
    assert_eq!(shapley.semivalue(), Some(&Semivalue::Shapley));
    assert!(SolutionConcept::TwoStepShapley != Semivalue::Shapley);
    assert_eq!(SolutionConcept::owen().semivalue(), None);
}

#[test]
fn the_plainest_name_is_that_of_the_same_value() {
    let (groups, graph) = structures();
    let levels = Hierarchy::from_parents(4, &[Some(4), Some(4), Some(5), Some(6), Some(5), Some(6), None]);
    let game = random_game(4, 1);
    for (long, plain) in [
        ("beta=1,1", "shapley"),
        ("weighted-banzhaf=0.5", "banzhaf"),
        ("beta=2,1", "beta=2,1"),
        ("quotient-beta=1,1", "quotient-shapley"),
        ("coalitional=beta=1,1/weighted-banzhaf=0.5", "coalitional=shapley/banzhaf"),
        ("two-step", "two-step"),
        ("graph-restricted/beta=1,1", "myerson"),
        ("local=1/weighted-banzhaf=0.5", "l-banzhaf=1"),
    ] {
        let [concept, expected] = [long, plain].map(|name| name.parse::<SolutionConcept>().unwrap());
        assert_eq!(concept.simplified(), expected, "{long}");
        let of = |concept: SolutionConcept| {
            let groups = concept.needs_partition().then(|| groups.clone());
            let graph = concept.needs_graph().then(|| graph.clone());
            Value::from_concept(concept, groups, graph).unwrap()
        };
        let (value, simplified) = (of(concept), of(expected.clone()));
        assert_eq!(value.simplified(), simplified, "{long}");
        let [got, expected] = [&value, &simplified].map(|value| value.enumerate(&game).unwrap().values);
        assert_close(&got, &expected, 1e-13, long);
    }
    let linear = LinearValue::weighted_shapley(&[1.0, 2.0]).unwrap();
    assert_eq!(Value::from(linear.clone()).simplified(), Value::Linear(linear));

    // A hierarchy with two levels is equivalent to a partition; one with three levels is not.
    let [long, plain] = ["coalitional=beta=1,1/beta=1,1", "owen"].map(|name| name.parse().unwrap());
    let two = Value::over_hierarchy(long, Hierarchy::from(&groups)).unwrap().simplified();
    let SolutionConcept::Coalitional(owen) = plain else { panic!("Owen values are coalitional") };
    assert_eq!((two.groups().map(Partition::len), two.hierarchy()), (Some(2), None));
    assert_eq!(two.concept(), SolutionConcept::Coalitional(owen.clone()));
    let levels = levels.unwrap();
    let three = Value::owen_over(levels.clone());
    assert_eq!((three.groups(), three.hierarchy(), three.graph()), (None, Some(&levels), None));
    assert_eq!(three.simplified(), three);
    assert_eq!(three.concept(), SolutionConcept::Coalitional(owen));
}

#[test]
fn short_names_make_the_values_they_say() {
    let (groups, graph) = structures();
    let banzhaf = CoalitionalValue::banzhaf_owen();
    let levels = Hierarchy::from(&groups);
    assert_eq!(Value::banzhaf_owen(groups.clone()), Value::Coalitional(banzhaf.clone(), groups.clone()));
    assert_eq!(Value::banzhaf_owen_over(levels.clone()), Value::OverHierarchy(banzhaf, levels.clone()));
    assert_eq!(Value::two_step(groups.clone()), Value::TwoStepShapley(groups.clone()));
    let quotient = Value::quotient(Semivalue::Banzhaf, groups.clone());
    assert_eq!((quotient.groups(), quotient.graph()), (Some(&groups), None));
    assert_eq!(Value::from(Semivalue::Banzhaf).concept(), SolutionConcept::Semivalue(Semivalue::Banzhaf));
    let on_graph = Value::on_graph(GraphValue::myerson(), graph.clone());
    assert_eq!((on_graph.groups(), on_graph.graph()), (None, Some(&graph)));
    let missing = Value::from_concept("myerson".parse().unwrap(), None, None).unwrap_err();
    assert!(matches!(missing, ValueError::NoGraph { .. }), "{missing}");
    let missing = Value::from_concept(SolutionConcept::owen(), None, None).unwrap_err();
    assert!(matches!(missing, ValueError::NoPartition { .. }), "{missing}");
    assert!(Value::owen_over(levels).check(5).is_err());
}
