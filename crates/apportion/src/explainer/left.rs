//! Explaining without the players that cannot matter, and putting them back.

use apportion_games::Partition;
use apportion_values::{CoalitionalValue, Semivalue, SolutionConcept};

/// What is left to compute when null players are taken out.
pub(super) struct Left {
    pub(super) value: SolutionConcept,
    pub(super) partition: Option<Partition>,
    /// Where each of its values goes among those of all players, or of all groups.
    places: Vec<usize>,
}

impl Left {
    /// The value among the players `keep`, the others being null players; none where it cannot do without them: a two-step value
    /// gives a null player a share of its group's surplus, and weights that are given for a number of players need that many.
    pub(super) fn of(value: &SolutionConcept, partition: Option<&Partition>, keep: &[usize]) -> Option<Self> {
        let among = || partition.map(|partition| partition.among(keep));
        match value {
            SolutionConcept::Semivalue(semivalue) => Some(Self {
                value: semivalue.without_null_players(keep.len()).into(),
                partition: None,
                places: keep.to_vec(),
            }),
            SolutionConcept::Coalitional(CoalitionalValue { between, within }) => {
                if matches!(within, Semivalue::SizeWeights(_)) {
                    return None;
                }
                let (partition, groups) = among()?;
                let between = between.without_null_players(groups.len());
                let value = CoalitionalValue { between, within: within.clone() }.into();
                Some(Self { value, partition: Some(partition), places: keep.to_vec() })
            }
            SolutionConcept::Quotient(semivalue) => {
                let (partition, places) = among()?;
                let value = SolutionConcept::Quotient(semivalue.without_null_players(places.len()));
                Some(Self { value, partition: Some(partition), places })
            }
            _ => None,
        }
    }

    /// Its values among all `results`, the others being zero.
    pub(super) fn expand(&self, values: &[f64], results: usize, outputs: usize) -> Vec<f64> {
        let mut all = vec![0.0; results * outputs];
        for (row, &place) in values.chunks_exact(outputs).zip(&self.places) {
            all[place * outputs..(place + 1) * outputs].copy_from_slice(row);
        }
        all
    }
}
