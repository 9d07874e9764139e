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
//! `u_j(T) = Σ_A w^(1)(A) v(Q_A ∪ T)`, which is enumerated: 2^(m − 1 + |S_j|) coalitions for group j rather than 2^n.
//!
//! # Source
//!
//! Kotsiopoulos, Miroshnikov, Filom and Ravi Kannan, *Approximation of group explainers with coalition structure using Monte Carlo
//! sampling on the product space of coalitions and features*, 2023; Owen, *Values of games with a priori unions*, 1977.

use apportion_games::{Coalitions, Game, GameError, Partition, QuotientGame, SubGame, words_for};

use crate::enumeration::{MOST_PLAYERS, enumerate, sum_rows};
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

/// Exact values of players in groups, or of groups.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupedValues {
    /// The values of all players, n × k row-major, in the units of the game; of quotient values those of all groups, m × k.
    pub values: Vec<f64>,
    /// v(∅), k numbers.
    pub base: Vec<f64>,
    /// v(N), k numbers.
    pub full: Vec<f64>,
}

impl GroupedValues {
    /// Refuses values that are not finite.
    pub(crate) fn new(values: Vec<f64>, base: Vec<f64>, full: Vec<f64>) -> Result<Self, ValueError> {
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(Self { values, base, full }),
            Some(at) => Err(ValueError::Overflow { player: at / base.len(), output: at % base.len() }),
        }
    }
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
    ) -> Result<GroupedValues, ValueError> {
        let ends = Ends::ask(game, partition)?;
        let (groups, largest) = (partition.len(), partition.largest());
        check_structure(partition, groups - 1 + largest)?;
        self.check(partition)?;
        let weights: Vec<f64> = (0..groups).map(|size| self.between.coefficient(groups, size)).collect();
        let of_group = |group: usize| {
            let game = GroupGame { game, partition, group, weights: &weights, base: &ends.base };
            Ok(enumerate(&game, self.within.clone())?.values().to_vec())
        };
        ends.gather(partition, of_group)
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
) -> Result<GroupedValues, ValueError> {
    let ends = Ends::ask(game, partition)?;
    check_structure(partition, partition.len().max(partition.largest()))?;
    let quotient = enumerate(&QuotientGame::new(game, partition)?, Semivalue::Shapley)?;
    let of_group = |group: usize| {
        let members = partition.group(group);
        let alone = enumerate(&SubGame::new(game, members)?, Semivalue::Shapley)?;
        let mut values = alone.values().to_vec();
        for player in values.chunks_exact_mut(game.outputs()) {
            for (output, value) in player.iter_mut().enumerate() {
                let worth = alone.full()[output] - alone.base()[output];
                *value += (quotient.value(group)[output] - worth) / members.len() as f64;
            }
        }
        Ok(values)
    };
    ends.gather(partition, of_group)
}

/// Refuses groups whose values take 2^`players` coalitions, where that is more than enumeration takes.
fn check_structure(partition: &Partition, players: usize) -> Result<(), ValueError> {
    if players <= MOST_PLAYERS {
        return Ok(());
    }
    Err(ValueError::Structure { groups: partition.len(), largest: partition.largest(), most: MOST_PLAYERS })
}

/// v(∅) and v(N) of a game whose partition is checked.
struct Ends {
    outputs: usize,
    base: Vec<f64>,
    full: Vec<f64>,
}

impl Ends {
    fn ask(game: &(impl Game + ?Sized), partition: &Partition) -> Result<Self, ValueError> {
        let (players, outputs) = (game.players(), game.outputs());
        partition.check_players(players)?;
        if players == 0 || outputs == 0 {
            return Err(ValueError::Players { given: players, most: MOST_PLAYERS });
        }
        let (base, full) = ends(game)?;
        Ok(Self { outputs, base, full })
    }

    /// The values of all players from those of each group's members, in their order.
    fn gather(
        &self,
        partition: &Partition,
        of_group: impl Fn(usize) -> Result<Vec<f64>, ValueError>,
    ) -> Result<GroupedValues, ValueError> {
        let mut values = vec![0.0; partition.players() * self.outputs];
        for (group, members) in partition.groups().iter().enumerate() {
            let of_members = of_group(group)?;
            for (&player, of_player) in members.iter().zip(of_members.chunks_exact(self.outputs)) {
                values[player * self.outputs..(player + 1) * self.outputs].copy_from_slice(of_player);
            }
        }
        GroupedValues::new(values, self.base.clone(), self.full.clone())
    }
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

/// Coalitions that are asked for at once; a power of two.
const CHUNK: usize = 4096;

/// The game u_j among the members of one group: what they are worth on average over the other groups, less v(∅).
struct GroupGame<'a, G: ?Sized> {
    game: &'a G,
    partition: &'a Partition,
    group: usize,
    /// `w^(1)` by the number of other groups.
    weights: &'a [f64],
    base: &'a [f64],
}

impl<G: Game + ?Sized> GroupGame<'_, G> {
    /// The bits of all unions of other groups, in the order of their masks.
    fn unions(&self) -> Vec<Vec<u64>> {
        let others = (0..self.partition.len()).filter(|&group| group != self.group);
        let mut unions = vec![vec![0; words_for(self.game.players())]];
        for other in others {
            let with: Vec<Vec<u64>> = unions
                .iter()
                .map(|union| {
                    let mut union = union.clone();
                    self.partition
                        .group(other)
                        .iter()
                        .for_each(|player| union[player / 64] |= 1 << (player % 64));
                    union
                })
                .collect();
            unions.extend(with);
        }
        unions
    }
}

impl<G: Game + ?Sized> Game for GroupGame<'_, G> {
    fn players(&self) -> usize {
        self.partition.group(self.group).len()
    }

    fn outputs(&self) -> usize {
        self.game.outputs()
    }

    fn rows_per_coalition(&self) -> usize {
        self.game.rows_per_coalition() << (self.partition.len() - 1)
    }

    fn parallel(&self) -> bool {
        self.game.parallel()
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let (players, outputs, members) =
            (self.game.players(), self.outputs(), self.partition.group(self.group));
        let unions = self.unions();
        out.fill(0.0);
        // Row r is of the coalition r / |unions| of members, and of the union r mod |unions|.
        let rows = batch.len() * unions.len();
        let mut values = vec![0.0; CHUNK.min(rows) * outputs];
        for start in (0..rows).step_by(CHUNK) {
            let range = start..rows.min(start + CHUNK);
            let mut asked = Coalitions::with_capacity(players, range.len());
            for row in range.clone() {
                let mut words = unions[row % unions.len()].clone();
                for member in batch.row(row / unions.len()).members() {
                    words[members[member] / 64] |= 1 << (members[member] % 64);
                }
                asked.push_words(&words);
            }
            let values = &mut values[..range.len() * outputs];
            self.game.values(&asked, values)?;
            for (row, values) in range.zip(values.chunks_exact_mut(outputs)) {
                let weight = self.weights[(row % unions.len()).count_ones() as usize];
                for (value, base) in values.iter_mut().zip(self.base) {
                    *value = weight * (*value - base);
                }
            }
            // Both lengths are powers of two, so a chunk is some whole coalitions or a part of one.
            let of_one = unions.len().min(CHUNK) * outputs;
            for (part, values) in values.chunks_exact_mut(of_one).enumerate() {
                let coalition = start / unions.len() + part;
                let sums = sum_rows(values, outputs);
                let out = &mut out[coalition * outputs..(coalition + 1) * outputs];
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out += *sum);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Additive, Counted, SumOfUnanimity, TabulatedGame};

    /// The definition written out, over all coalitions of other groups and of fellow members.
    fn by_definition(game: &TabulatedGame, partition: &Partition, value: &CoalitionalValue) -> Vec<f64> {
        let (groups, outputs) = (partition.len(), game.outputs());
        let mask_of = |players: &[usize]| players.iter().fold(0u64, |mask, player| mask | 1 << player);
        let mut values = vec![0.0; game.players() * outputs];
        for player in 0..game.players() {
            let own = partition.group_of(player);
            let fellows: Vec<usize> =
                partition.group(own).iter().copied().filter(|&fellow| fellow != player).collect();
            for others in (0..1u64 << groups).filter(|others| others >> own & 1 == 0) {
                let union = (0..groups)
                    .filter(|group| others >> group & 1 == 1)
                    .fold(0, |union, group| union | mask_of(partition.group(group)));
                for subset in 0..1u64 << fellows.len() {
                    let with = (0..fellows.len())
                        .filter(|index| subset >> index & 1 == 1)
                        .fold(union, |with, index| with | 1 << fellows[index]);
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

    fn random_game(players: usize, outputs: usize) -> TabulatedGame {
        let mut state = (players * 31 + outputs) as u64;
        let draw = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        TabulatedGame::new(std::iter::repeat_with(draw).take(outputs << players).collect(), outputs).unwrap()
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

    fn assert_close(got: &[f64], wanted: &[f64], what: &str) {
        assert_eq!(got.len(), wanted.len(), "{what}");
        for (got, wanted) in got.iter().zip(wanted) {
            assert!((got - wanted).abs() < 1e-14, "{what}: {got} {wanted}");
        }
    }

    #[test]
    fn coalitional_values_are_those_of_the_definition() {
        for partition in partitions() {
            for outputs in [1, 3] {
                let game = random_game(partition.players(), outputs);
                for value in all() {
                    let got = value.enumerate(&game, &partition).unwrap();
                    let what = format!("{value:?} {partition:?}");
                    assert_close(&got.values, &by_definition(&game, &partition, &value), &what);
                    assert_eq!(got.base, game.value(0));
                    assert_eq!(got.full, game.value((1 << partition.players()) - 1));
                }
            }
        }
    }

    #[test]
    fn groups_of_one_and_one_group_reduce_to_one_of_the_two_levels() {
        // 14 groups have more unions than are asked for at once.
        for players in [1, 2, 5, 8, 14] {
            let game = random_game(players, 2);
            let semivalue = |value: &Semivalue| enumerate(&game, value.clone()).unwrap().values().to_vec();
            for value in all() {
                let alone = value.enumerate(&game, &Partition::singletons(players)).unwrap();
                assert_close(&alone.values, &semivalue(&value.between), "groups of one");
                let together = value.enumerate(&game, &Partition::whole(players)).unwrap();
                assert_close(&together.values, &semivalue(&value.within), "one group");
            }
            for partition in [Partition::singletons(players), Partition::whole(players)] {
                let two_step = two_step_shapley(&game, &partition).unwrap();
                assert_close(&two_step.values, &semivalue(&Semivalue::Shapley), "two-step");
            }
        }
    }

    #[test]
    fn members_share_what_their_group_gets_in_the_quotient_game() {
        for partition in partitions() {
            let game = random_game(partition.players(), 1);
            let quotient = QuotientGame::new(&game, &partition).unwrap();
            let of_groups = |value: Semivalue| enumerate(&quotient, value).unwrap().values().to_vec();
            let sums = |values: &GroupedValues| -> Vec<f64> {
                let sum = |group: &Vec<usize>| group.iter().map(|&player| values.values[player]).sum();
                partition.groups().iter().map(sum).collect()
            };
            let owen = CoalitionalValue::owen().enumerate(&game, &partition).unwrap();
            let two_step = two_step_shapley(&game, &partition).unwrap();
            let symmetric =
                CoalitionalValue::symmetric_coalitional_banzhaf().enumerate(&game, &partition).unwrap();
            assert_close(&sums(&owen), &of_groups(Semivalue::Shapley), "Owen");
            assert_close(&sums(&two_step), &of_groups(Semivalue::Shapley), "two-step");
            assert_close(&sums(&symmetric), &of_groups(Semivalue::Banzhaf), "symmetric coalitional Banzhaf");
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
            assert!(
                matches!(refused, ValueError::Structure { groups: 5, largest: 26, most: 25 }),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_unanimity_game_across_groups_is_split_group_by_group() {
        // All of {0, 1, 70} are needed; 0 and 1 share the half of their group.
        let game = SumOfUnanimity::unanimity(71, [0, 1, 70]).unwrap();
        let players = [0, 1, 2, 70];
        let sub = SubGame::new(&game, &players).unwrap();
        let partition = Partition::new(4, vec![vec![0, 1, 2], vec![3]]).unwrap();
        let owen = CoalitionalValue::owen().enumerate(&sub, &partition).unwrap();
        assert_close(&owen.values, &[0.25, 0.25, 0.0, 0.5], "Owen");
        let refused = CoalitionalValue::owen().enumerate(&sub, &Partition::whole(3)).unwrap_err();
        assert!(matches!(refused, ValueError::Game(GameError::PartitionOfOthers { given: 3, wanted: 4 })));
    }
}
