//! Tests methods by name.

use std::collections::BTreeSet;

use apportion_estimators::methods;
use apportion_games::{Graph, Hierarchy, Partition};
use apportion_values::{SolutionConcept, Value};

/// Returns a value of every kind, on five players.
fn values() -> Vec<Value> {
    let names = [
        "shapley",
        "banzhaf",
        "weighted-banzhaf=0.3",
        "beta=2,3",
        "owen",
        "banzhaf-owen",
        "two-step",
        "quotient-shapley",
        "quotient-banzhaf",
        "l-shapley=1",
        "l-banzhaf=1",
        "local=1/beta=2,3",
        "c-shapley=2,printed",
        "c-shapley=2",
        "myerson",
    ];
    let of = |name: &str| {
        let concept: SolutionConcept = name.parse().unwrap();
        let groups =
            concept.needs_partition().then(|| Partition::new(5, vec![vec![0, 1], vec![2, 3, 4]]).unwrap());
        let graph = concept.needs_graph().then(|| Graph::line(5));
        Value::from_concept(concept, groups, graph).unwrap()
    };
    let parents = [Some(5), Some(5), Some(6), Some(7), Some(7), Some(6), Some(7), None];
    let hierarchy = Hierarchy::from_parents(5, &parents).unwrap();
    let over = |name: &str| Value::over_hierarchy(name.parse().unwrap(), hierarchy.clone()).unwrap();
    names.map(of).into_iter().chain(["owen", "banzhaf-owen"].map(over)).collect()
}

#[test]
fn names_are_those_of_the_estimators_and_read_back() {
    for method in methods::ALL {
        assert_eq!(methods::named(method.name()), Some(*method));
        assert!(!method.help().is_empty() && !method.help().contains('\n'), "{}", method.name());
        let mut computes_some = false;
        for value in values() {
            if let Some(estimator) = method.build(&value) {
                computes_some = true;
                assert_eq!((estimator.name(), estimator.value()), (method.name(), value.concept()));
                // The growing variant must have the same name.
                assert_eq!(methods::named(estimator.growing().name()), Some(*method));
            }
        }
        assert!(computes_some, "{}", method.name());
    }
}

#[test]
fn no_two_methods_share_a_name() {
    let names: BTreeSet<&str> = methods::ALL.iter().map(|method| method.name()).collect();
    assert_eq!(names.len(), methods::ALL.len());
}
