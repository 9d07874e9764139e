//! Solution concepts by name, with their groups or graph, and what they reduce to.

use apportion_games::{Additive, Graph, Partition, SumOfUnanimity};
use apportion_values::{GraphValue, LinearValue, SolutionConcept, Value, ValueError, enumerate};

use crate::common::assert_close;

/// Of single players, of players in groups, of groups, of players on a graph.
const NAMES: &str = "
    shapley banzhaf weighted-banzhaf=0.1 beta=4,1 beta=0.30000000000000004,16 size-law=0.25,0.5,0.25
    mixture=0.2:0.5,1:0.5
    owen banzhaf-owen symmetric-coalitional-banzhaf two-step
    coalitional=weighted-banzhaf=0.3/mixture=0:0.5,1:0.5
    quotient-shapley quotient-banzhaf quotient-beta=4,1
    myerson myerson-banzhaf graph-restricted/beta=4,1
    l-shapley=0 l-shapley=2 l-shapley=3,present l-banzhaf=1 local=2,present/weighted-banzhaf=0.3
    c-shapley=2 c-shapley=1,printed c-shapley=2,printed c-shapley=2,marginal c-shapley=2,graph,present
    c-banzhaf=4,printed,present connected=1,graph/beta=4,1
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
    assert_eq!(by_size.to_string(), "size-law=0.25,0.5,0.25");
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
        let value: SolutionConcept = name.parse().unwrap();
        for partition in [Partition::singletons(5), Partition::whole(5)] {
            let got = value.enumerate(&game, Some(&partition)).unwrap();
            match value.reduces_to(&partition) {
                Some(semivalue) => {
                    let wanted = enumerate(&game, semivalue).unwrap();
                    assert_close(&got.values, &wanted.values, 1e-12, name);
                }
                None => assert!((got.values[0] - (got.predictions[0] - got.base[0])).abs() < 1e-12, "{name}"),
            }
        }
        let two = Partition::new(5, vec![vec![0, 1], vec![2, 3, 4]]).unwrap();
        assert_eq!(value.reduces_to(&two), None);
    }
}

#[test]
fn groups_that_are_missing_or_of_others_are_refused() {
    let game = Additive::new([1.0, 2.0, 3.0]).unwrap();
    for name in ["owen", "two-step", "quotient-banzhaf"] {
        let value: SolutionConcept = name.parse().unwrap();
        let refused = value.enumerate(&game, None).unwrap_err();
        assert!(matches!(refused, ValueError::NoPartition { .. }), "{refused}");
        assert!(refused.to_string().contains(name), "{refused}");
        assert!(value.enumerate(&game, Some(&Partition::whole(2))).is_err());
    }
    let by_size = "quotient-size-law=0.5,0.5".parse::<SolutionConcept>().unwrap();
    assert!(by_size.enumerate(&game, Some(&Partition::singletons(3))).is_err());
    let two = Partition::new(3, vec![vec![0, 2], vec![1]]).unwrap();
    assert_eq!(by_size.enumerate(&game, Some(&two)).unwrap().values, [4.0, 2.0]);
}

fn given() -> (Partition, Graph) {
    (Partition::new(4, vec![vec![0, 1], vec![2, 3]]).unwrap(), Graph::line(4))
}

#[test]
fn a_name_and_its_structure_are_the_value_and_nothing_else_is() {
    let (groups, graph) = given();
    for (name, has_groups, has_graph) in [
        ("shapley", false, false),
        ("owen", true, false),
        ("two-step", true, false),
        ("quotient-banzhaf", true, false),
        ("myerson", false, true),
    ] {
        let concept: SolutionConcept = name.parse().unwrap();
        for (with_groups, with_graph) in [(false, false), (true, false), (false, true), (true, true)] {
            let made = Value::of(
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
    let (groups, graph) = given();
    let game = SumOfUnanimity::random(4, 9, 3, 1);
    let owen = Value::owen(groups.clone());
    assert_eq!(
        owen.enumerate(&game).unwrap().values,
        SolutionConcept::owen().enumerate(&game, Some(&groups)).unwrap().values
    );
    let local = GraphValue::l_shapley(1);
    assert_eq!(
        Value::on_graph(local.clone(), graph.clone()).enumerate(&game).unwrap().values,
        local.enumerate(&game, &graph).unwrap().values
    );
}
