//! Coalition structures: partitions of the players into groups.

use crate::error::{GameError, PartitionProblem};

/// A partition of the players `0..n` into m non-empty groups.
///
/// Groups and their members keep the order in which they are given.
///
/// ```
/// use apportion_games::Partition;
///
/// let partition = Partition::new(4, vec![vec![2, 0], vec![1], vec![3]])?;
/// assert_eq!((partition.players(), partition.len()), (4, 3));
/// assert_eq!((partition.group(0), partition.group_of(1)), (&[2, 0][..], 1));
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    groups: Vec<Vec<usize>>,
    /// The group index of each player.
    group_of: Vec<usize>,
}

impl Partition {
    /// Creates a partition of `players` players; each group is a list of player numbers.
    ///
    /// # Errors
    ///
    /// [`GameError::Partition`] if a group is empty, or players are unknown, repeated or missing.
    pub fn new(players: usize, groups: Vec<Vec<usize>>) -> Result<Self, GameError> {
        let mut group_of: Vec<Option<usize>> = vec![None; players];
        for (group, members) in groups.iter().enumerate() {
            if members.is_empty() {
                return Err(PartitionProblem::Empty { group }.into());
            }
            for &player in members {
                match group_of.get_mut(player) {
                    None => return Err(PartitionProblem::UnknownPlayer { group, player, players }.into()),
                    Some(&mut Some(first)) => {
                        return Err(PartitionProblem::Twice { player, first, second: group }.into());
                    }
                    Some(place) => *place = Some(group),
                }
            }
        }
        let missing: Vec<usize> = (0..players).filter(|&player| group_of[player].is_none()).collect();
        if !missing.is_empty() {
            return Err(PartitionProblem::Missing { missing, players }.into());
        }
        Ok(Self { groups, group_of: group_of.into_iter().flatten().collect() })
    }

    /// Creates a partition of players with the given names; each group is a list of names. A name that
    /// several players share refers to the first of them.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new); also [`GameError::Partition`] for a name that no player has.
    pub fn from_names<S: AsRef<str>, T: AsRef<str>>(
        names: &[S],
        groups: &[Vec<T>],
    ) -> Result<Self, GameError> {
        let number = |group: usize, name: &T| {
            let name = name.as_ref();
            names
                .iter()
                .position(|known| known.as_ref() == name)
                .ok_or_else(|| PartitionProblem::UnknownName { group, name: name.to_owned() })
        };
        let numbers =
            |(group, members): (usize, &Vec<T>)| members.iter().map(|name| number(group, name)).collect();
        let groups: Result<Vec<Vec<usize>>, PartitionProblem> =
            groups.iter().enumerate().map(numbers).collect();
        Self::new(names.len(), groups?)
    }

    /// Creates the partition into n groups of one player each.
    pub fn singletons(players: usize) -> Self {
        Self { groups: (0..players).map(|player| vec![player]).collect(), group_of: (0..players).collect() }
    }

    /// Creates the partition with all players in one group. Without players, it has no groups.
    pub fn whole(players: usize) -> Self {
        let groups = if players == 0 { Vec::new() } else { vec![(0..players).collect()] };
        Self { groups, group_of: vec![0; players] }
    }

    /// Returns the number of players n.
    pub fn players(&self) -> usize {
        self.group_of.len()
    }

    /// Checks that the partition has `players` players.
    ///
    /// # Errors
    ///
    /// [`GameError::PartitionOfOthers`] if the numbers differ.
    pub fn check_players(&self, players: usize) -> Result<(), GameError> {
        if players == self.players() {
            return Ok(());
        }
        Err(GameError::PartitionOfOthers { actual: self.players(), expected: players })
    }

    /// Returns the partition restricted to the players in `keep`, and the original indices of the groups that
    /// remain. Player `keep[j]` becomes player `j`.
    ///
    /// ```
    /// use apportion_games::Partition;
    ///
    /// let partition = Partition::new(5, vec![vec![0, 4], vec![1], vec![2, 3]])?;
    /// let (left, groups) = partition.restricted_to(&[0, 2, 3]);
    /// assert_eq!(left, Partition::new(3, vec![vec![0], vec![1, 2]])?);
    /// assert_eq!(groups, [0, 2]);
    /// # Ok::<(), apportion_games::GameError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If a player does not exist, or is listed twice.
    pub fn restricted_to(&self, keep: &[usize]) -> (Self, Vec<usize>) {
        let mut left = vec![Vec::new(); self.len()];
        let mut seen = vec![false; self.players()];
        for (place, &player) in keep.iter().enumerate() {
            assert!(!std::mem::replace(&mut seen[player], true), "player {player} is listed twice");
            left[self.group_of(player)].push(place);
        }
        let groups: Vec<usize> = (0..self.len()).filter(|&group| !left[group].is_empty()).collect();
        left.retain(|members| !members.is_empty());
        let mut group_of = vec![0; keep.len()];
        for (group, members) in left.iter().enumerate() {
            members.iter().for_each(|&member| group_of[member] = group);
        }
        (Self { groups: left, group_of }, groups)
    }

    /// Returns the number of groups m.
    #[allow(clippy::len_without_is_empty, reason = "only a game without players has no groups")]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns the player numbers of each group.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// Returns the players of one group.
    ///
    /// # Panics
    ///
    /// If the group does not exist.
    pub fn group(&self, group: usize) -> &[usize] {
        &self.groups[group]
    }

    /// Returns the group index of a player.
    ///
    /// # Panics
    ///
    /// If the player does not exist.
    pub fn group_of(&self, player: usize) -> usize {
        self.group_of[player]
    }

    /// Returns the size of the largest group.
    pub fn largest(&self) -> usize {
        self.groups.iter().map(Vec::len).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(players: usize, groups: &[&[usize]]) -> PartitionProblem {
        match Partition::new(players, groups.iter().map(|group| group.to_vec()).collect()).unwrap_err() {
            GameError::Partition { problem } => problem,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn what_is_no_partition_is_refused_with_what_is_wrong() {
        assert_eq!(refused(3, &[&[0, 1], &[], &[2]]), PartitionProblem::Empty { group: 1 });
        let unknown = PartitionProblem::UnknownPlayer { group: 1, player: 3, players: 3 };
        assert_eq!(refused(3, &[&[0, 1], &[2, 3]]), unknown);
        assert_eq!(
            refused(3, &[&[0, 1], &[2, 1]]),
            PartitionProblem::Twice { player: 1, first: 0, second: 1 }
        );
        assert_eq!(
            refused(3, &[&[0, 0], &[2, 1]]),
            PartitionProblem::Twice { player: 0, first: 0, second: 0 }
        );
        assert_eq!(refused(4, &[&[1], &[2]]), PartitionProblem::Missing { missing: vec![0, 3], players: 4 });
        let names = ["age", "sex"];
        let message = Partition::from_names(&names, &[vec!["age"], vec!["sx"]]).unwrap_err().to_string();
        assert!(message.contains("\"sx\"") && message.contains("group 1"), "{message}");
    }

    #[test]
    fn names_and_numbers_give_the_same_partition() {
        let names = ["age", "sex", "bmi"];
        let named = Partition::from_names(&names, &[vec!["bmi", "age"], vec!["sex"]]).unwrap();
        assert_eq!(named, Partition::new(3, vec![vec![2, 0], vec![1]]).unwrap());
        assert_eq!((named.group_of(0), named.group_of(1), named.largest()), (0, 1, 2));
    }

    #[test]
    fn the_coarsest_and_the_finest_partition_are_partitions() {
        for players in [1, 2, 65, 130] {
            let (finest, coarsest) = (Partition::singletons(players), Partition::whole(players));
            assert_eq!(finest, Partition::new(players, finest.groups().to_vec()).unwrap());
            assert_eq!(coarsest, Partition::new(players, coarsest.groups().to_vec()).unwrap());
            assert_eq!((finest.len(), coarsest.len()), (players, 1));
        }
        assert_eq!((Partition::whole(0).len(), Partition::singletons(0).len()), (0, 0));
    }
}
