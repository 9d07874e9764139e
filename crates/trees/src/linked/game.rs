//! The games from which a requested value is computed.

use apportion_games::Partition;
use apportion_values::{CoalitionalValue, Semivalue};

use super::walk::{ABSENT, MAX_DIVERGING_PLAYERS};
use super::weights::Weights;
use crate::engine::moments::Moments;

/// A game whose players are features or groups of features. Values are computed for some of the players.
pub(super) struct LinkedGame {
    /// The player of each feature, or [`ABSENT`].
    pub(super) player_of: Vec<u32>,
    /// For each player, the index of its value; `None` for a player without a value, i.e. a group other than
    /// the one whose members have values.
    pub(super) place_of: Vec<Option<usize>>,
    pub(super) weights: Weights,
}

impl LinkedGame {
    /// Returns the game for the values of all players by one semivalue.
    pub(super) fn alike(value: Semivalue, player_of: Vec<u32>, players: usize) -> Self {
        let within = Moments::new(value, players.min(MAX_DIVERGING_PLAYERS));
        let place_of = (0..players).map(Some).collect();
        Self { player_of, place_of, weights: Weights { within, between: None } }
    }

    /// Returns the game whose players are the groups of a partition. A group is present or absent as a whole.
    pub(super) fn quotient(value: Semivalue, partition: &Partition) -> Self {
        let group_of = |feature| partition.group_of(feature) as u32;
        Self::alike(value, (0..partition.players()).map(group_of).collect(), partition.len())
    }

    /// Returns one game per group, for the values of its members. In this game, each other group is a single
    /// player.
    pub(super) fn coalitional(value: &CoalitionalValue, partition: &Partition) -> Vec<Self> {
        let features = partition.players();
        let between = Moments::new(value.between.clone(), partition.len().min(MAX_DIVERGING_PLAYERS));
        let within = Moments::new(value.within.clone(), partition.largest().min(MAX_DIVERGING_PLAYERS));
        // M1(1, 0) is the mean of the mixing measure. If it is 0, other groups are always absent.
        let alone = partition.len() > 1 && value.between.moment(1, 0) == 0.0;
        let of_group = |group: usize| {
            let player_of = |feature: usize| match partition.group_of(feature) {
                own if own == group => feature as u32,
                _ if alone => ABSENT,
                other => (features + other) as u32,
            };
            let place_of = (0..features).map(Some).chain((0..partition.len()).map(|_| None));
            Self {
                player_of: (0..features).map(player_of).collect(),
                place_of: place_of.collect(),
                weights: Weights {
                    within: within.clone(),
                    between: (partition.len() > 1 && !alone).then(|| between.clone()),
                },
            }
        };
        (0..partition.len()).map(of_group).collect()
    }
}
