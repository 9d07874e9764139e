//! Shared fixtures of the tests of explainers: an ensemble, its rows and a background.

pub(crate) mod gaussian;
pub(crate) mod hard_games;

use apportion::{Background, Ensemble, Partition, Rows, SolutionConcept, Value};

pub(crate) fn iris() -> Ensemble {
    let bytes = include_bytes!("../../fixtures/iris_xgb.json.gz");
    Ensemble::from_bytes(bytes).expect("the fixture is a model")
}

const FLOWERS: [f64; 12] = [5.1, 3.5, 1.4, 0.2, 6.2, 2.9, 4.3, 1.3, 7.7, 3.0, 6.1, 2.3];

pub(crate) fn flowers() -> Rows<'static> {
    Rows::new(&FLOWERS, 4)
}

pub(crate) fn background() -> Background {
    Background::rows(vec![5.8, 3.0, 3.7, 1.2, 4.9, 3.1, 1.5, 0.1, 6.5, 2.8, 4.6, 1.5], 4).expect("valid rows")
}

pub(crate) fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// Returns the value with this name. Values that require groups use `groups`.
pub(crate) fn value_in(name: &str, groups: &Partition) -> Value {
    let concept: SolutionConcept = name.parse().expect("a name");
    let groups = concept.needs_partition().then(|| groups.clone());
    Value::from_concept(concept, groups, None).expect("a value without a graph")
}
