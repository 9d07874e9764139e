//! Tests values for players in groups against their definition, and their reductions to semivalues.

use apportion_games::{
    Additive, Counted, Game, GameError, Partition, QuotientGame, SubGame, SumOfUnanimity, TabulatedGame,
};
use apportion_values::{Attributions, CoalitionalValue, Semivalue, ValueError, enumerate, two_step_shapley};

use crate::common::{assert_close, mask_of, members, random_game};

/// Returns the values by definition, over all coalitions of other groups and of members of the same group.
fn by_definition(game: &TabulatedGame, partition: &Partition, value: &CoalitionalValue) -> Vec<f64> {
    let (groups, outputs) = (partition.len(), game.outputs());
    let mut values = vec![0.0; game.players() * outputs];
    for player in 0..game.players() {
        let own = partition.group_of(player);
        let fellows: Vec<usize> =
            partition.group(own).iter().copied().filter(|&fellow| fellow != player).collect();
        for others in (0..1u64 << groups).filter(|others| others >> own & 1 == 0) {
            let union = members(others).fold(0, |union, group| union | mask_of(partition.group(group)));
            for subset in 0..1u64 << fellows.len() {
                let with = members(subset).fold(union, |with, index| with | 1 << fellows[index]);
                let weight = value.between.coefficient(groups, others.count_ones() as usize)
                    * value.within.coefficient(fellows.len() + 1, subset.count_ones() as usize);
                for output in 0..outputs {
                    let added = game.value(with | 1 << player)[output] - game.value(with)[output];
                    values[player * outputs + output] += weight * added;
                }
            }
        }
    }
    values
}

fn partitions() -> Vec<Partition> {
    let of = |players, groups: &[&[usize]]| {
        Partition::new(players, groups.iter().map(|group| group.to_vec()).collect()).unwrap()
    };
    vec![
        of(1, &[&[0]]),
        of(2, &[&[1], &[0]]),
        of(2, &[&[1, 0]]),
        of(5, &[&[3, 0], &[1], &[4, 2]]),
        of(7, &[&[6, 2, 4], &[0, 5], &[1, 3]]),
        of(9, &[&[0], &[1], &[2, 8, 5, 6], &[3], &[4, 7]]),
        of(10, &[&[0, 1, 2, 3, 4, 5, 6, 7], &[8, 9]]),
    ]
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
fn coalitional_values_are_those_of_the_definition() {
    for partition in partitions() {
        for outputs in [1, 3] {
            let game = random_game(partition.players(), outputs);
            for value in all() {
                let got = value.enumerate(&game, &partition).unwrap();
                let what = format!("{value:?} {partition:?}");
                assert_close(&got.values, &by_definition(&game, &partition, &value), 1e-14, &what);
                assert_eq!(got.base, game.value(0));
                assert_eq!(got.predictions, game.value((1 << partition.players()) - 1));
            }
        }
    }
}

#[test]
fn groups_of_one_and_one_group_reduce_to_one_of_the_two_levels() {
    // For 14 groups, there are more unions than are evaluated in one batch.
    for players in [1, 2, 5, 8, 14] {
        let game = random_game(players, 2);
        let semivalue = |value: &Semivalue| enumerate(&game, value.clone()).unwrap().values;
        for value in all() {
            let alone = value.enumerate(&game, &Partition::singletons(players)).unwrap();
            assert_close(&alone.values, &semivalue(&value.between), 1e-14, "groups of one");
            let together = value.enumerate(&game, &Partition::whole(players)).unwrap();
            assert_close(&together.values, &semivalue(&value.within), 1e-14, "one group");
        }
        for partition in [Partition::singletons(players), Partition::whole(players)] {
            let two_step = two_step_shapley(&game, &partition).unwrap();
            assert_close(&two_step.values, &semivalue(&Semivalue::Shapley), 1e-14, "two-step");
        }
    }
}

#[test]
fn members_share_what_their_group_gets_in_the_quotient_game() {
    for partition in partitions() {
        let game = random_game(partition.players(), 1);
        let quotient = QuotientGame::new(&game, &partition).unwrap();
        let of_groups = |value: Semivalue| enumerate(&quotient, value).unwrap().values;
        let sums = |values: &Attributions| -> Vec<f64> {
            let sum = |group: &Vec<usize>| group.iter().map(|&player| values.values[player]).sum();
            partition.groups().iter().map(sum).collect()
        };
        let owen = CoalitionalValue::owen().enumerate(&game, &partition).unwrap();
        let two_step = two_step_shapley(&game, &partition).unwrap();
        let symmetric =
            CoalitionalValue::symmetric_coalitional_banzhaf().enumerate(&game, &partition).unwrap();
        assert_close(&sums(&owen), &of_groups(Semivalue::Shapley), 1e-14, "Owen");
        assert_close(&sums(&two_step), &of_groups(Semivalue::Shapley), 1e-14, "two-step");
        assert_close(
            &sums(&symmetric),
            &of_groups(Semivalue::Banzhaf),
            1e-14,
            "symmetric coalitional Banzhaf",
        );
    }
}

#[test]
fn a_group_takes_its_members_coalitions_with_all_unions_of_others_and_no_more() {
    let worth: Vec<f64> = (0..12).map(f64::from).collect();
    let game = Counted::new(Additive::new(worth.clone()).unwrap());
    let partition = Partition::new(12, vec![(0..9).collect(), vec![11, 9], vec![10]]).unwrap();
    let owen = CoalitionalValue::owen().enumerate(&game, &partition).unwrap();
    assert!(owen.values.iter().zip(&worth).all(|(got, wanted)| (got - wanted).abs() < 1e-12));
    assert_eq!(game.evaluations(), 2 + (1 << (9 + 2)) + (1 << (2 + 2)) + (1 << (1 + 2)));
}

#[test]
fn structures_that_no_enumeration_can_take_are_refused() {
    let game = Additive::new(vec![1.0; 130]).unwrap();
    let groups = (0..5).map(|group| (0..26).map(|k| 5 * k + group).collect()).collect();
    let partition = Partition::new(130, groups).unwrap();
    for refused in
        [CoalitionalValue::owen().enumerate(&game, &partition), two_step_shapley(&game, &partition)]
    {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, ValueError::Structure { groups: 5, largest: 26, max: 25 }), "{refused}");
    }
}

#[test]
fn a_unanimity_game_across_groups_is_split_group_by_group() {
    // A coalition has the value 1 if it contains 0, 1 and 70. Players 0 and 1 share one half, the value of
    // their group.
    let game = SumOfUnanimity::unanimity(71, [0, 1, 70]).unwrap();
    let players = [0, 1, 2, 70];
    let sub = SubGame::new(&game, &players).unwrap();
    let partition = Partition::new(4, vec![vec![0, 1, 2], vec![3]]).unwrap();
    let owen = CoalitionalValue::owen().enumerate(&sub, &partition).unwrap();
    assert_close(&owen.values, &[0.25, 0.25, 0.0, 0.5], 1e-14, "Owen");
    let refused = CoalitionalValue::owen().enumerate(&sub, &Partition::whole(3)).unwrap_err();
    assert!(matches!(refused, ValueError::Game(GameError::PartitionOfOthers { actual: 3, expected: 4 })));
}
