//! Two-step Shapley values, computed from values that the tree explainers support.
//!
//! ```text
//! TSh_i = φ_i[S_j, v] + (φ_j[M, v^P] − (v(S_j) − v(∅))) / |S_j|,     i ∈ S_j
//! ```
//!
//! The Shapley value among the members of S_j alone is the coalitional value for which other groups are
//! always absent: the mixing measure between groups has all its mass at 0. These values sum to v(S_j) − v(∅)
//! over the group, so the Shapley values of the quotient game are all that is needed in addition.

use apportion_games::Partition;
use apportion_values::{Attributions, CoalitionalValue, Semivalue, ValueError};

use super::finite::finite;
use crate::error::TreeError;

/// Returns the value φ_i\[S_j, v\]: Shapley values among the members of each group, with all other players
/// absent.
pub(crate) fn members_alone() -> Result<CoalitionalValue, ValueError> {
    Ok(CoalitionalValue { between: Semivalue::mixture(&[0.0], &[1.0])?, within: Semivalue::Shapley })
}

/// Computes two-step Shapley values of features from the values of [`members_alone`] and the Shapley values
/// of the groups.
pub(crate) fn two_step(
    partition: &Partition,
    mut alone: Attributions,
    groups: &Attributions,
) -> Result<Attributions, TreeError> {
    let (features, outputs) = (partition.players(), alone.outputs());
    let rows = alone.values.chunks_exact_mut((features * outputs).max(1));
    for (values, groups) in rows.zip(groups.values.chunks_exact((partition.len() * outputs).max(1))) {
        for (members, group) in partition.groups().iter().zip(groups.chunks_exact(outputs)) {
            for (output, group) in group.iter().enumerate() {
                let worth: f64 = members.iter().map(|feature| values[feature * outputs + output]).sum();
                let share = (group - worth) / members.len() as f64;
                for feature in members {
                    values[feature * outputs + output] += share;
                }
            }
        }
    }
    finite(alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_group_gets_beyond_its_worth_is_shared_equally() {
        let partition = Partition::new(3, vec![vec![2, 0], vec![1]]).unwrap();
        // There are two outputs. The values of the members of the first group alone sum to 5 and 0. In the
        // quotient game, the values of the group are 7 and 1.
        let found = |players, values: &[f64]| {
            Attributions::for_players(players, values.to_vec(), vec![0.5, 0.0], vec![13.5, 1.0])
        };
        let alone = found(3, &[1.0, 2.0, 5.0, 0.0, 4.0, -2.0]);
        let got = two_step(&partition, alone, &found(2, &[7.0, 1.0, 6.0, 0.0])).unwrap();
        assert_eq!(got, found(3, &[2.0, 2.5, 6.0, 0.0, 5.0, -1.5]));
    }
}
