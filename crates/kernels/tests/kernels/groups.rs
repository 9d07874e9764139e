//! Tests of the values of features in groups, and of the values of groups.

use apportion_games::{Hierarchy, Partition};
use apportion_kernels::{CoalitionalValue, Kernel, Semivalue, Value};

use super::common::{assert_equal, machine};

fn partitions() -> Vec<Partition> {
    [
        vec![vec![0, 3], vec![1], vec![2, 4, 5]],
        vec![vec![5, 1, 0], vec![2, 3, 4]],
        vec![vec![0, 1, 2, 3, 4, 5]],
        (0..6).map(|feature| vec![feature]).collect(),
    ]
    .map(|groups| Partition::new(6, groups).unwrap())
    .into()
}

#[test]
fn values_in_groups_equal_enumeration() {
    let machine = machine(70, Kernel::rbf(0.6, 6), (6, 13, 2));
    let mixed = CoalitionalValue {
        between: Semivalue::beta_shapley(2.0, 1.0).unwrap(),
        within: Semivalue::weighted_banzhaf(0.8).unwrap(),
    };
    for groups in partitions() {
        for value in [
            Value::owen(groups.clone()),
            Value::banzhaf_owen(groups.clone()),
            Value::Coalitional(mixed.clone(), groups.clone()),
            Value::two_step(groups.clone()),
            Value::quotient(Semivalue::Shapley, groups.clone()),
            Value::quotient(Semivalue::Banzhaf, groups.clone()),
        ] {
            assert_equal(&machine, 80, &value, 1e-12);
        }
    }
}

#[test]
fn values_of_groups_weighted_by_size_equal_enumeration() {
    let machine = machine(71, Kernel::laplace(0.6, 6), (6, 9, 1)).with_linear(&[0.3; 6]).unwrap();
    let groups = partitions().swap_remove(0);
    let by_size = Semivalue::from_size_distribution(&[0.2, 0.7, 0.1]).unwrap();
    assert_equal(&machine, 81, &Value::quotient(by_size.clone(), groups.clone()), 1e-12);
    let between = CoalitionalValue { between: by_size, within: Semivalue::Shapley };
    assert_equal(&machine, 82, &Value::Coalitional(between, groups.clone()), 1e-12);
    assert_equal(&machine, 83, &Value::two_step(groups), 1e-12);
}

#[test]
fn values_over_hierarchies_equal_enumeration() {
    let machine = machine(72, Kernel::rbf(0.4, 6), (6, 12, 1));
    // Nodes 6 to 9 are groups: 6 = (0, 1), 7 = (6, 2), 8 = (3, 4), 9 is the root.
    let parents = [Some(6), Some(6), Some(7), Some(8), Some(8), Some(9), Some(7), Some(9), Some(9), None];
    let hierarchy = Hierarchy::from_parents(6, &parents).unwrap();
    assert_eq!(hierarchy.depth(), 3);
    for value in [Value::owen_over(hierarchy.clone()), Value::banzhaf_owen_over(hierarchy)] {
        assert_equal(&machine, 84, &value, 1e-12);
    }
    let flat = Hierarchy::from_parents(
        6,
        &[Some(6), Some(6), Some(7), Some(7), Some(7), Some(8), Some(8), Some(8), None],
    );
    assert_equal(&machine, 85, &Value::owen_over(flat.unwrap()), 1e-12);
    let whole = Hierarchy::from_parents(6, &[Some(6), Some(6), Some(6), Some(6), Some(6), Some(6), None]);
    assert_equal(&machine, 86, &Value::owen_over(whole.unwrap()), 1e-12);
}
