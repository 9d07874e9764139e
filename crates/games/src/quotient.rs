//! The quotient game, whose players are groups.

use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;
use crate::memory;
use crate::partition::Partition;

/// The game of the groups of a partition: `v^P(A) = v(∪_{j∈A} S_j)` (Kotsiopoulos et al., *Approximation of
/// group explainers with coalition structure using Monte Carlo sampling on the product space of coalitions
/// and features*, 2023, Definition 2.1).
///
/// Player j of this game is group j of the partition. Evaluating a coalition of groups takes one evaluation
/// of the original game. Errors refer to coalitions of the original game.
///
/// ```
/// use apportion_games::{Additive, Coalitions, Game, Partition, QuotientGame};
///
/// let partition = Partition::new(3, vec![vec![0, 2], vec![1]])?;
/// let game = QuotientGame::new(Additive::new([1.0, 10.0, 100.0])?, &partition)?;
/// let mut values = [0.0; 4];
/// game.values(&Coalitions::from_masks(2, 0..4), &mut values)?;
/// assert_eq!(values, [0.0, 101.0, 10.0, 111.0]);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct QuotientGame<'a, G> {
    game: G,
    partition: &'a Partition,
    /// The members of each group, as the words of a coalition.
    words: Vec<Vec<u64>>,
}

impl<'a, G: Game> QuotientGame<'a, G> {
    /// Creates the game of the groups of `partition`.
    ///
    /// # Errors
    ///
    /// [`GameError::PartitionOfOthers`] if the numbers of players differ, [`GameError::Memory`] if the bit
    /// masks of the groups do not fit in memory.
    pub fn new(game: G, partition: &'a Partition) -> Result<Self, GameError> {
        let players = game.players();
        partition.check_players(players)?;
        let bytes = memory::product([2, partition.len(), crate::words_for(players) + 4, 8]);
        let what = || format!("the game of {} groups of {players} players", partition.len());
        memory::check(bytes, what, "use fewer groups")?;
        let mut bits = Coalitions::with_capacity(players, partition.len());
        partition.groups().iter().for_each(|group| bits.push_members(group.iter().copied()));
        let words = bits.iter().map(|row| row.words().to_vec()).collect();
        Ok(Self { game, partition, words })
    }

    /// Returns the partition.
    pub fn partition(&self) -> &'a Partition {
        self.partition
    }

    /// Converts coalitions of groups to the coalitions of all players in these groups.
    fn lift(&self, batch: &Coalitions) -> Coalitions {
        let players = self.game.players();
        let mut lifted = Coalitions::with_capacity(players, batch.len());
        let mut words = vec![0; crate::words_for(players)];
        for row in batch.iter() {
            words.fill(0);
            for group in row.members() {
                words.iter_mut().zip(&self.words[group]).for_each(|(word, group)| *word |= group);
            }
            lifted.push_words(&words);
        }
        lifted
    }
}

impl<G: Game> Game for QuotientGame<'_, G> {
    fn players(&self) -> usize {
        self.partition.len()
    }

    cost_of_inner_game!();

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        self.game.values_in_scenarios(&self.lift(batch), scenarios, out)
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        assert_eq!(batch.players(), self.players(), "the coalitions belong to another game");
        self.game.values(&self.lift(batch), out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Additive, SumOfUnanimity, TabulatedGame};

    #[test]
    fn groups_of_one_are_the_players_and_one_group_is_all_of_them() {
        let game = TabulatedGame::from_fn(4, |mask| (mask * mask) as f64).unwrap();
        let alone = Partition::singletons(4);
        let alone = TabulatedGame::from_game(&QuotientGame::new(&game, &alone).unwrap()).unwrap();
        assert_eq!(alone.values_in_order(), game.values_in_order());
        let together = Partition::whole(4);
        let together = TabulatedGame::from_game(&QuotientGame::new(&game, &together).unwrap()).unwrap();
        assert_eq!(together.values_in_order(), [0.0, 225.0]);
    }

    #[test]
    fn groups_beyond_the_first_words_are_lifted() {
        let game = SumOfUnanimity::unanimity(200, [3, 70, 199]).unwrap();
        let groups = vec![(0..64).collect(), (64..130).collect(), (130..200).collect()];
        let partition = Partition::new(200, groups).unwrap();
        let quotient = TabulatedGame::from_game(&QuotientGame::new(&game, &partition).unwrap()).unwrap();
        assert_eq!(quotient.values_in_order(), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_partition_of_other_players_is_refused() {
        let refused =
            QuotientGame::new(Additive::new([1.0, 2.0]).unwrap(), &Partition::whole(3)).unwrap_err();
        assert!(matches!(refused, GameError::PartitionOfOthers { actual: 3, expected: 2 }), "{refused}");
    }
}
