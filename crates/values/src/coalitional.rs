//! Values for players in groups: coalitional values, and two-step Shapley values.
//!
//! # Notation
//!
//! `n` players in `m` groups S_1 … S_m, M the set of groups; `Q_A` the union of the groups in A. `w^(1)` weighs coalitions of other
//! groups by their number, `w^(2)` coalitions of fellow members by their size.
//!
//! # How
//!
//! The definition of a coalitional value
//!
//! ```text
//! g_i = Σ_{A ⊆ M∖j} Σ_{T ⊆ S_j∖i} w^(1)(A) w^(2)(T) [v(Q_A ∪ T ∪ i) − v(Q_A ∪ T)],     i ∈ S_j
//! ```
//!
//! is an average over A of games among the members of S_j alone. So g_i is the value by `w^(2)` of the game
//! `u_j(T) = Σ_A w^(1)(A) v(Q_A ∪ T)`, which is enumerated: 2^(m − 1 + |S_j|) coalitions for group j rather than 2^n. A partition is a
//! [hierarchy of two levels](crate::levels), and enumerated as such.
//!
//! # Source
//!
//! Kotsiopoulos, Miroshnikov, Filom and Ravi Kannan, *Approximation of group explainers with coalition structure using Monte Carlo
//! sampling on the product space of coalitions and features*, 2023; Owen, *Values of games with a priori unions*, 1977.

use apportion_games::{Coalitions, Game, GameError, Hierarchy, Partition, QuotientGame, SubGame};

use crate::attributions::Attributions;
use crate::enumeration::{MOST_PLAYERS, enumerate};
use crate::error::ValueError;
use crate::semivalue::Semivalue;

/// A value for players in groups: one semivalue between the groups, one within them (Kotsiopoulos et al. 2023, equation 3.13).
///
/// ```text
/// g_i = Σ_{A ⊆ M∖j} Σ_{T ⊆ S_j∖i} w^(1)(A) w^(2)(T) [v(Q_A ∪ T ∪ i) − v(Q_A ∪ T)],     i ∈ S_j
/// ```
///
/// with M the set of groups, Q_A the union of those in A, `w^(1)` the weights of `between` and `w^(2)` those of `within`.
///
/// ```
/// use apportion_games::{Glove, Partition};
/// use apportion_values::CoalitionalValue;
///
/// // One left glove, two right ones; the right ones act together.
/// let partition = Partition::new(3, vec![vec![0], vec![1, 2]])?;
/// let owen = CoalitionalValue::owen().enumerate(&Glove::new(1, 2)?, &partition)?;
/// for (got, wanted) in owen.values.iter().zip([0.5, 0.25, 0.25]) {
///     assert!((got - wanted).abs() < 1e-15);
/// }
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CoalitionalValue {
    /// How coalitions of other groups are weighed.
    pub between: Semivalue,
    /// How coalitions of fellow members are weighed.
    pub within: Semivalue,
}

impl CoalitionalValue {
    /// The Owen value: Shapley at both levels.
    pub fn owen() -> Self {
        Self { between: Semivalue::Shapley, within: Semivalue::Shapley }
    }

    /// The Banzhaf-Owen value: Banzhaf at both levels (equation 2.9).
    pub fn banzhaf_owen() -> Self {
        Self { between: Semivalue::Banzhaf, within: Semivalue::Banzhaf }
    }

    /// The symmetric coalitional Banzhaf value (Alonso-Meijide and Fiestras-Janeiro, 2002): Banzhaf between the groups, Shapley within, so
    /// that a group's members share its Banzhaf value.
    pub fn symmetric_coalitional_banzhaf() -> Self {
        Self { between: Semivalue::Banzhaf, within: Semivalue::Shapley }
    }

    /// The same value with both semivalues under their plainest names.
    pub(crate) fn simplified(&self) -> Self {
        Self { between: self.between.simplified(), within: self.within.simplified() }
    }

    /// Checks that weights by size, if any, are for as many groups, and for as many members of every group.
    ///
    /// # Errors
    ///
    /// [`ValueError::WeightsForOtherPlayers`].
    pub fn check(&self, partition: &Partition) -> Result<(), ValueError> {
        self.between.check_players(partition.len())?;
        partition.groups().iter().try_for_each(|members| self.within.check_players(members.len()))
    }

    /// The exact value of every player of `game` in the groups of `partition`.
    ///
    /// Asks the game for 2^(m − 1 + |S_j|) coalitions for each group j. Groups of one, and one group alone, reduce it to `between` and to
    /// `within`.
    ///
    /// # Errors
    ///
    /// [`ValueError::Game`] for a partition of other players, or if the game fails; [`ValueError::Structure`] where m − 1 + |S_j|
    /// exceeds 25 for some group; and as [`enumerate`].
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

/// The two-step Shapley value (Kotsiopoulos et al. 2023, equation 3.19): the Shapley value among the fellow members alone, and an equal share of what the group gets
/// beyond that.
///
/// ```text
/// TSh_i = φ_i[S_j, v] + (φ_j[M, v^P] − (v(S_j) − v(∅))) / |S_j|,     i ∈ S_j
/// ```
///
/// The paper prints v(S_j) for games with v(∅) = 0. Of other games v(∅) is taken off here, without which the members of a group would
/// not sum to what the group gets. Asks for 2^m and 2^|S_j| coalitions.
///
/// # Errors
///
/// [`ValueError::Game`] for a partition of other players, or if the game fails; [`ValueError::Structure`] where there are more than 25
/// groups, or more than 25 members of one.
pub fn two_step_shapley(
    game: &(impl Game + ?Sized),
    partition: &Partition,
) -> Result<Attributions, ValueError> {
    // What it is handed to is compiled once for all games.
    let game: &dyn Game = &game;
    let (players, outputs) = (game.players(), game.outputs());
    partition.check_players(players)?;
    if players == 0 || outputs == 0 {
        return Err(ValueError::Players { given: players, most: MOST_PLAYERS });
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
    Attributions::of_players(players, values, base, full).finite()
}

/// Refuses groups whose values take 2^`players` coalitions, where that is more than enumeration takes.
fn check_structure(partition: &Partition, players: usize) -> Result<(), ValueError> {
    if players <= MOST_PLAYERS {
        return Ok(());
    }
    Err(ValueError::Structure { groups: partition.len(), largest: partition.largest(), most: MOST_PLAYERS })
}

/// v(∅) and v(N).
pub(crate) fn ends(game: &(impl Game + ?Sized)) -> Result<(Vec<f64>, Vec<f64>), GameError> {
    let mut batch = Coalitions::new(game.players());
    batch.push_empty();
    batch.push_full();
    let mut values = vec![0.0; 2 * game.outputs()];
    game.values(&batch, &mut values)?;
    let full = values.split_off(game.outputs());
    Ok((values, full))
}
