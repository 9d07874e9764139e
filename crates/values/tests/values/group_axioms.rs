//! Tests the axioms of values for players in groups on random games and partitions.

use apportion_games::{Partition, TabulatedGame};
use apportion_values::{Value, axioms};
use proptest::prelude::*;

use crate::common::made_symmetric;

const TOLERANCE: f64 = 1e-12;

prop_compose! {
    fn game_in_groups()(players in 1..8usize, outputs in 1..3usize)(
        values in prop::collection::vec(-10.0..10.0f64, outputs << players),
        group_of in prop::collection::vec(0..4usize, players),
        outputs in Just(outputs),
    ) -> (TabulatedGame, Partition) {
        let groups: Vec<Vec<usize>> = (0..4)
            .map(|group| (0..group_of.len()).filter(|&player| group_of[player] == group).collect::<Vec<_>>())
            .filter(|group| !group.is_empty())
            .collect();
        let partition = Partition::new(group_of.len(), groups).unwrap();
        (TabulatedGame::new(values, outputs).unwrap(), partition)
    }
}

fn values(name: &str, game: &TabulatedGame, partition: &Partition) -> Vec<f64> {
    let value = Value::from_concept(name.parse().unwrap(), Some(partition.clone()), None).unwrap();
    value.enumerate(game).unwrap().values
}

proptest! {
    #[test]
    fn members_sum_to_what_their_group_gets((game, partition) in game_in_groups()) {
        for (value, quotient) in [
            ("owen", "quotient-shapley"),
            ("two-step", "quotient-shapley"),
            ("symmetric-coalitional-banzhaf", "quotient-banzhaf"),
            ("coalitional=beta=4,1/shapley", "quotient-beta=4,1"),
        ] {
            let (values, quotient) = (values(value, &game, &partition), values(quotient, &game, &partition));
            prop_assert_eq!(axioms::quotient_property(&partition, &values, &quotient, TOLERANCE), Ok(()));
        }
    }

    #[test]
    fn owen_and_two_step_values_are_efficient((game, partition) in game_in_groups()) {
        for name in ["owen", "two-step"] {
            let value = Value::from_concept(name.parse().unwrap(), Some(partition.clone()), None).unwrap();
            let got = value.enumerate(&game).unwrap();
            prop_assert_eq!(axioms::efficiency(&got.values, &got.base, &got.predictions, TOLERANCE), Ok(()));
        }
    }

    #[test]
    fn symmetric_members_of_a_group_have_equal_values(
        (game, partition) in game_in_groups(), a in 0..8usize, b in 0..8usize,
    ) {
        let members = partition.group(a % partition.len());
        let (first, second) = (members[a % members.len()], members[b % members.len()]);
        prop_assume!(first != second);
        let game = made_symmetric(&game, first, second);
        prop_assert!(axioms::are_symmetric(&game, first, second, TOLERANCE));
        for name in ["owen", "banzhaf-owen", "symmetric-coalitional-banzhaf", "two-step"] {
            let values = values(name, &game, &partition);
            prop_assert_eq!(axioms::symmetry_within_groups(&game, &partition, &values, TOLERANCE), Ok(()));
        }
    }
}

#[test]
fn what_violates_an_axiom_of_groups_is_found() {
    let game = TabulatedGame::from_fn(3, |mask| f64::from(mask.count_ones()).powi(2)).unwrap();
    let partition = Partition::new(3, vec![vec![0, 1], vec![2]]).unwrap();
    let wrong = [1.0, 2.0, 3.0];
    let violation = axioms::quotient_property(&partition, &wrong, &[4.0, 3.0], TOLERANCE).unwrap_err();
    assert_eq!((violation.actual, violation.expected), (3.0, 4.0));
    assert!(axioms::symmetry_within_groups(&game, &partition, &wrong, TOLERANCE).is_err());
    // Players 1 and 2 are symmetric, but not in the same group.
    let apart = [2.0, 2.0, 7.0];
    assert_eq!(axioms::symmetry_within_groups(&game, &partition, &apart, TOLERANCE), Ok(()));
    assert!(axioms::symmetry(&game, &apart, TOLERANCE).is_err());
    // Banzhaf-Owen values need not sum to the value of the group.
    let majority = TabulatedGame::from_fn(5, |mask| f64::from(mask.count_ones() >= 3)).unwrap();
    let partition = Partition::new(5, vec![vec![0, 1, 2], vec![3, 4]]).unwrap();
    let banzhaf = values("banzhaf-owen", &majority, &partition);
    let quotient = values("quotient-banzhaf", &majority, &partition);
    assert!(axioms::quotient_property(&partition, &banzhaf, &quotient, TOLERANCE).is_err());
}
