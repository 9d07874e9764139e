//! Values for players in groups: coalitional values and two-step Shapley values.
//!
//! # Notation
//!
//! There are `n` players in `m` groups S_1 … S_m. M is the set of groups, and `Q_A` is the union of the
//! groups in A. The weights `w^(1)` apply to coalitions of other groups and depend on the number of groups.
//! The weights `w^(2)` apply to coalitions of members of the same group and depend on their size.
//!
//! # Method
//!
//! The definition of a coalitional value
//!
//! ```text
//! g_i = Σ_{A ⊆ M∖j} Σ_{T ⊆ S_j∖i} w^(1)(A) w^(2)(T) [v(Q_A ∪ T ∪ i) − v(Q_A ∪ T)],     i ∈ S_j
//! ```
//!
//! averages, over A, games whose only players are the members of S_j. Therefore g_i is the semivalue with
//! weights `w^(2)` in the game `u_j(T) = Σ_A w^(1)(A) v(Q_A ∪ T)`. Enumerating this game takes 2^(m − 1 +
//! |S_j|) coalitions for group j, instead of 2^n. A partition is a [hierarchy of two levels](crate::levels),
//! and is enumerated as such.
//!
//! # Source
//!
//! Kotsiopoulos, Miroshnikov, Filom and Ravi Kannan, *Approximation of group explainers with coalition
//! structure using Monte Carlo sampling on the product space of coalitions and features*, 2023; Owen, *Values
//! of games with a priori unions*, 1977.

use apportion_games::{Coalitions, Game, GameError, Hierarchy, Partition, QuotientGame, SubGame};

use crate::attributions::Attributions;
use crate::enumeration::{MAX_PLAYERS, enumerate};
use crate::error::ValueError;
use crate::semivalue::Semivalue;

/// A value for players in groups, defined by one semivalue between the groups and one within them
/// (Kotsiopoulos et al. 2023, equation 3.13).
///
/// ```text
/// g_i = Σ_{A ⊆ M∖j} Σ_{T ⊆ S_j∖i} w^(1)(A) w^(2)(T) [v(Q_A ∪ T ∪ i) − v(Q_A ∪ T)],     i ∈ S_j
/// ```
///
/// where M is the set of groups, and Q_A is the union of the groups in A. The semivalue `between` determines
/// the weights `w^(1)`, and `within` determines `w^(2)`.
///
/// ```
/// use apportion_games::{Glove, Partition};
/// use apportion_values::CoalitionalValue;
///
/// // One left glove, two right ones; the right ones form a group.
/// let partition = Partition::new(3, vec![vec![0], vec![1, 2]])?;
/// let owen = CoalitionalValue::owen().enumerate(&Glove::new(1, 2)?, &partition)?;
/// for (got, wanted) in owen.values.iter().zip([0.5, 0.25, 0.25]) {
///     assert!((got - wanted).abs() < 1e-15);
/// }
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CoalitionalValue {
    /// The semivalue that weights coalitions of other groups.
    pub between: Semivalue,
    /// The semivalue that weights coalitions of members of the same group.
    pub within: Semivalue,
}

impl CoalitionalValue {
    /// Returns the Owen value: the Shapley value both between and within groups.
    pub fn owen() -> Self {
        Self { between: Semivalue::Shapley, within: Semivalue::Shapley }
    }

    /// Returns the Banzhaf-Owen value: the Banzhaf value both between and within groups (Kotsiopoulos et al.
    /// 2023, equation 2.9).
    pub fn banzhaf_owen() -> Self {
        Self { between: Semivalue::Banzhaf, within: Semivalue::Banzhaf }
    }

    /// Returns the symmetric coalitional Banzhaf value (Alonso-Meijide and Fiestras-Janeiro, 2002). It uses
    /// the Banzhaf value between the groups and the Shapley value within them, so that the members of a group
    /// share the group's Banzhaf value.
    pub fn symmetric_coalitional_banzhaf() -> Self {
        Self { between: Semivalue::Banzhaf, within: Semivalue::Shapley }
    }

    /// Returns the same value with both semivalues replaced by their canonical forms.
    pub(crate) fn simplified(&self) -> Self {
        Self { between: self.between.simplified(), within: self.within.simplified() }
    }

    /// Checks that any weights by size match the number of groups and the number of members in every group.
    ///
    /// # Errors
    ///
    /// [`ValueError::WeightsForOtherPlayers`] if they do not match.
    pub fn check(&self, partition: &Partition) -> Result<(), ValueError> {
        self.between.check_players(partition.len())?;
        partition.groups().iter().try_for_each(|members| self.within.check_players(members.len()))
    }

    /// Computes the exact value of every player in `game` for the groups of `partition`.
    ///
    /// Evaluates 2^(m − 1 + |S_j|) coalitions for each group j. If all groups have one member, the result is
    /// the semivalue `between`; if there is a single group, it is the semivalue `within`.
    ///
    /// # Errors
    ///
    /// [`ValueError::Game`] if the number of players of the partition differs, or if the game fails;
    /// [`ValueError::Structure`] if m − 1 + |S_j| exceeds 25 for some group; any error of [`enumerate`].
    pub fn enumerate(
        &self,
        game: &(impl Game + ?Sized),
        partition: &Partition,
    ) -> Result<Attributions, ValueError> {
        partition.check_players(game.players())?;
        if game.players() > 0 {
            check_structure(partition, partition.len() - 1 + partition.largest())?;
        }
        self.check(partition)?;
        self.enumerate_over(game, &Hierarchy::from(partition))
    }
}

/// Computes the two-step Shapley value (Kotsiopoulos et al. 2023, equation 3.19): a player's Shapley value in
/// the game of its group alone, plus an equal share of the difference between the group's Shapley value in
/// the quotient game and the gain of the group alone, v(S_j) − v(∅).
///
/// ```text
/// TSh_i = φ_i[S_j, v] + (φ_j[M, v^P] − (v(S_j) − v(∅))) / |S_j|,     i ∈ S_j
/// ```
///
/// The paper's formula contains v(S_j), for games with v(∅) = 0. For other games, v(∅) is subtracted here;
/// otherwise the values of a group's members would not sum to the group's value. Evaluates 2^m coalitions of
/// groups, and 2^|S_j| coalitions for each group j.
///
/// # Errors
///
/// [`ValueError::Game`] if the number of players of the partition differs, or if the game fails;
/// [`ValueError::Structure`] for more than 25 groups, or more than 25 members of a group.
pub fn two_step_shapley(
    game: &(impl Game + ?Sized),
    partition: &Partition,
) -> Result<Attributions, ValueError> {
    // Use dynamic dispatch to compile the code below once, not once per game type.
    let game: &dyn Game = &game;
    let (players, outputs) = (game.players(), game.outputs());
    partition.check_players(players)?;
    if players == 0 || outputs == 0 {
        return Err(ValueError::Players { actual: players, max: MAX_PLAYERS });
    }
    let (base, full) = ends(game)?;
    check_structure(partition, partition.len().max(partition.largest()))?;
    let quotient = enumerate(&QuotientGame::new(game, partition)?, Semivalue::Shapley)?;
    let mut values = vec![0.0; players * outputs];
    for (group, members) in partition.groups().iter().enumerate() {
        let alone = enumerate(&SubGame::new(game, members)?, Semivalue::Shapley)?;
        for (place, member) in members.iter().enumerate() {
            for output in 0..outputs {
                let worth = alone.predictions[output] - alone.base[output];
                let share = (quotient.value(0, group)[output] - worth) / members.len() as f64;
                values[member * outputs + output] = alone.value(0, place)[output] + share;
            }
        }
    }
    Attributions::for_players(players, values, base, full).finite()
}

/// Returns an error if 2^`players` coalitions are too many to enumerate.
fn check_structure(partition: &Partition, players: usize) -> Result<(), ValueError> {
    if players <= MAX_PLAYERS {
        return Ok(());
    }
    Err(ValueError::Structure { groups: partition.len(), largest: partition.largest(), max: MAX_PLAYERS })
}

/// Returns v(∅) and v(N).
pub(crate) fn ends(game: &(impl Game + ?Sized)) -> Result<(Vec<f64>, Vec<f64>), GameError> {
    let mut batch = Coalitions::new(game.players());
    batch.push_empty();
    batch.push_full();
    let mut values = vec![0.0; 2 * game.outputs()];
    game.values(&batch, &mut values)?;
    let full = values.split_off(game.outputs());
    Ok((values, full))
}
