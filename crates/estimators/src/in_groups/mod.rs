//! Values of players in groups: Owen, Banzhaf-Owen, two-step and quotient values.

pub(crate) mod coalitional_regression;
pub(crate) mod nested_permutation;
pub(crate) mod product_space;

use apportion_games::{Hierarchy, Partition};
use apportion_values::{SolutionConcept, Value, ValueError};

/// Combines a value with its hierarchy or its groups; ignores groups that the value does not use.
pub(crate) fn structured(
    concept: &SolutionConcept,
    groups: Option<&Partition>,
    hierarchy: Option<&Hierarchy>,
) -> Result<Value, ValueError> {
    match hierarchy {
        Some(hierarchy) => Value::over_hierarchy(concept.clone(), hierarchy.clone()),
        None => {
            Value::from_concept(concept.clone(), groups.filter(|_| concept.needs_partition()).cloned(), None)
        }
    }
}
