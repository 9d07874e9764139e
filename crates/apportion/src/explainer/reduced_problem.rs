//! Computes values in a game without its null players, and inserts zeros for these players afterwards.

use apportion_games::Partition;
use apportion_values::{CoalitionalValue, Semivalue, Value};

/// The problem that remains after the null players have been removed.
pub(super) struct ReducedProblem {
    pub(super) value: Value,
    /// The index of each remaining value among the values of all players, or of all groups.
    player_indices: Vec<usize>,
}

impl ReducedProblem {
    /// Returns the problem for the players `keep`, if all other players are null players. Returns `None` if
    /// null players cannot be removed: the two-step value of a null player includes a share of its group's
    /// surplus, and a semivalue defined by weights for coalition sizes applies to a fixed number of players.
    pub(super) fn keeping(value: &Value, keep: &[usize]) -> Option<Self> {
        let among = |groups: &Partition| groups.restricted_to(keep);
        match value {
            Value::Semivalue(semivalue) => Some(Self {
                value: semivalue.without_null_players(keep.len()).into(),
                player_indices: keep.to_vec(),
            }),
            Value::Coalitional(CoalitionalValue { between, within }, groups) => {
                if matches!(within, Semivalue::SizeWeights(_)) {
                    return None;
                }
                let (groups, kept) = among(groups);
                let between = between.without_null_players(kept.len());
                let value = Value::Coalitional(CoalitionalValue { between, within: within.clone() }, groups);
                Some(Self { value, player_indices: keep.to_vec() })
            }
            Value::OverHierarchy(of, hierarchy) => {
                let by_size = |value: &Semivalue| matches!(value, Semivalue::SizeWeights(_));
                if by_size(&of.between) || by_size(&of.within) {
                    return None;
                }
                let value = Value::OverHierarchy(of.clone(), hierarchy.restricted_to(keep)).simplified();
                Some(Self { value, player_indices: keep.to_vec() })
            }
            Value::Quotient(semivalue, groups) => {
                let (groups, player_indices) = among(groups);
                let value = Value::quotient(semivalue.without_null_players(player_indices.len()), groups);
                Some(Self { value, player_indices })
            }
            _ => None,
        }
    }

    /// Returns the values of the remaining players or groups.
    pub(super) fn reduce(&self, values: &[f64], outputs: usize) -> Vec<f64> {
        self.player_indices.iter().flat_map(|place| &values[place * outputs..][..outputs]).copied().collect()
    }

    /// Returns the values of all `results` players or groups, with zero for those that were removed.
    pub(super) fn expand(&self, values: &[f64], results: usize, outputs: usize) -> Vec<f64> {
        let mut all = vec![0.0; results * outputs];
        for (row, &place) in values.chunks_exact(outputs).zip(&self.player_indices) {
            all[place * outputs..(place + 1) * outputs].copy_from_slice(row);
        }
        all
    }
}
