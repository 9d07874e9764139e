//! Features in groups: what the oracles of both games share.
//!
//! # Notation
//!
//! The features are in groups S_1 … S_m. A coalitional value weighs coalitions of other groups by one semivalue, with moments M1, and
//! coalitions of fellow members by another, with moments M2.

mod moments;
mod two_step;

use apportion_games::Partition;
use apportion_values::CoalitionalValue;

pub(crate) use self::moments::MomentPairs;
pub(crate) use self::two_step::{members_alone, two_step};
use crate::error::TreeError;

/// Whether `partition` is one of as many players as the model has `features`.
///
/// # Errors
///
/// [`GameError::PartitionOfOthers`](apportion_games::GameError::PartitionOfOthers).
pub(crate) fn check_partition(partition: &Partition, features: usize) -> Result<(), TreeError> {
    Ok(partition.check_players(features)?)
}

/// Whether both semivalues of `value` are defined for the groups of `partition`.
///
/// # Errors
///
/// [`ValueError::WeightsForOtherPlayers`](apportion_values::ValueError::WeightsForOtherPlayers).
pub(crate) fn check_value(value: &CoalitionalValue, partition: &Partition) -> Result<(), TreeError> {
    Ok(value.check(partition)?)
}
