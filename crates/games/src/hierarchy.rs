//! Hierarchies: nested groups of players, of any depth.
//!
//! # Notation
//!
//! The *nodes* of a hierarchy of n players are the players, 0 to n − 1, and its groups, from n on. Node n is
//! the *root*, the group of all players. A group has at least two *children*, which are players or groups,
//! and a higher number than its parent. Only the root of a hierarchy of fewer than two players has fewer
//! children.
//!
//! # Source
//!
//! Winter, *A value for cooperative games with levels structure of cooperation*, International Journal of
//! Game Theory 18, 1989.

use std::collections::VecDeque;

use crate::coalitions::Coalitions;
use crate::error::{GameError, HierarchyProblem};
use crate::memory::{self, TooMuchMemory};
use crate::partition::Partition;

/// A rooted tree with the players `0..n` as leaves: a levels structure of nested groups.
///
/// A partition is a hierarchy with two levels; a binary dendrogram has up to n − 1 levels. A group with a
/// single member is replaced by that member. Groups and their members keep the order in which they are given.
///
/// ```
/// use apportion_games::{Hierarchy, Member, Partition};
///
/// // ((0, 1), 2), 3
/// let pair = Member::Group(vec![Member::Player(0), Member::Player(1)]);
/// let three = Member::Group(vec![pair, Member::Player(2)]);
/// let hierarchy = Hierarchy::new(4, vec![three, Member::Player(3)])?;
/// assert_eq!((hierarchy.players(), hierarchy.depth()), (4, 3));
/// // The root is node 4, the group of three node 5, the pair node 6.
/// assert_eq!(hierarchy.children(hierarchy.root()), [5, 3]);
/// assert_eq!((hierarchy.children(6), hierarchy.parent(6)), (&[0, 1][..], Some(5)));
///
/// let partition = Partition::new(3, vec![vec![0, 1], vec![2]])?;
/// assert_eq!(Hierarchy::from(&partition).depth(), 2);
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    players: usize,
    /// The parent of each node; `None` for the root.
    parents: Vec<Option<usize>>,
    /// The groups, level by level from the root.
    groups: Vec<Group>,
}

/// A member of a group of a [`Hierarchy`]: a player, by number or by name, or a nested group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Member<T = usize> {
    /// A player.
    Player(T),
    /// A group with its members.
    Group(Vec<Member<T>>),
}

/// A group and its child nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    children: Vec<usize>,
    /// The number of enclosing groups in the input, including those with a single member.
    level: usize,
}

impl Hierarchy {
    /// Creates a hierarchy of `players` players from the members of the root.
    ///
    /// # Errors
    ///
    /// [`GameError::Hierarchy`] if a group is empty, or players are unknown, repeated or missing.
    pub fn new(players: usize, members: Vec<Member>) -> Result<Self, GameError> {
        Self::build(players, members, Ok)
    }

    /// Creates a hierarchy of players with the given names from the members of the root. A name that several
    /// players share refers to the first of them.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new); also [`GameError::Hierarchy`] for a name that no player has.
    pub fn from_names<S: AsRef<str>, T: AsRef<str>>(
        names: &[S],
        members: Vec<Member<T>>,
    ) -> Result<Self, GameError> {
        Self::build(names.len(), members, |name| {
            let name = name.as_ref();
            let number = names.iter().position(|known| known.as_ref() == name);
            number.ok_or_else(|| HierarchyProblem::UnknownName { name: name.to_owned() })
        })
    }

    /// Creates the hierarchy in which the parent of node i is `parents[i]`. The nodes are the players,
    /// followed by the groups in any order. Exactly one node has no parent.
    ///
    /// ```
    /// use apportion_games::Hierarchy;
    ///
    /// // The merges of a dendrogram: 1 and 2 form node 3, which joins 0 in node 4.
    /// let hierarchy = Hierarchy::from_parents(3, &[Some(4), Some(3), Some(3), Some(4), None])?;
    /// assert_eq!(hierarchy.children(hierarchy.root()), [0, 4]);
    /// let refused = Hierarchy::from_parents(2, &[Some(2), Some(3), Some(3), Some(2)]).unwrap_err();
    /// assert!(refused.to_string().contains("node 3 contains itself"));
    /// # Ok::<(), apportion_games::GameError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GameError::Hierarchy`] if there are fewer nodes than players, a parent does not exist or is a
    /// player, a group is empty, there is a cycle, or several nodes have no parent.
    pub fn from_parents(players: usize, parents: &[Option<usize>]) -> Result<Self, GameError> {
        let nodes = parents.len();
        if nodes < players {
            return Err(HierarchyProblem::Missing { missing: (nodes..players).collect(), players }.into());
        }
        let mut groups = vec![Group { children: Vec::new(), level: 0 }; nodes - players];
        let mut top = None;
        for (node, parent) in parents.iter().enumerate() {
            match *parent {
                Some(parent) if !(players..nodes).contains(&parent) => {
                    return Err(HierarchyProblem::UnknownGroup { node, parent, players, nodes }.into());
                }
                Some(parent) => groups[parent - players].children.push(node),
                None if node < players => {
                    return Err(HierarchyProblem::Missing { missing: vec![node], players }.into());
                }
                None => match top.replace(node) {
                    None => {}
                    Some(first) => return Err(HierarchyProblem::Tops { first, second: node }.into()),
                },
            }
        }
        if let Some(empty) = groups.iter().position(|group| group.children.is_empty())
            && players > 0
        {
            return Err(HierarchyProblem::Empty { group: format!("node {}", players + empty) }.into());
        }
        let Some(top) = top else {
            return match nodes {
                0 => Ok(Self::normal(0, vec![Group { children: Vec::new(), level: 0 }], 0)),
                // After as many steps from child to parent as there are nodes, any starting node leads into a
                // cycle.
                _ => Err(HierarchyProblem::Cycle { node: ahead(parents, 0) }.into()),
            };
        };
        let mut open = VecDeque::from([top]);
        let mut reached = vec![false; nodes];
        while let Some(node) = open.pop_front() {
            reached[node] = true;
            if node >= players {
                let Group { children, level } = groups[node - players].clone();
                for child in children.into_iter().inspect(|&child| open.push_back(child)) {
                    if child >= players {
                        groups[child - players].level = level + 1;
                    }
                }
            }
        }
        match reached.iter().position(|reached| !reached) {
            None => Ok(Self::normal(players, groups, top)),
            Some(node) => Err(HierarchyProblem::Cycle { node: ahead(parents, node) }.into()),
        }
    }

    fn build<T>(
        players: usize,
        members: Vec<Member<T>>,
        number: impl Fn(T) -> Result<usize, HierarchyProblem>,
    ) -> Result<Self, GameError> {
        let mut seen = vec![false; players];
        let mut groups = vec![Group { children: Vec::new(), level: 0 }];
        let mut open = VecDeque::from([(0, members, String::new())]);
        while let Some((group, members, path)) = open.pop_front() {
            if members.is_empty() && players > 0 {
                let group =
                    if path.is_empty() { "the root group".to_owned() } else { format!("group {path}") };
                return Err(HierarchyProblem::Empty { group }.into());
            }
            for (place, member) in members.into_iter().enumerate() {
                let child = match member {
                    Member::Player(player) => {
                        let player = number(player)?;
                        match seen.get_mut(player) {
                            None => return Err(HierarchyProblem::UnknownPlayer { player, players }.into()),
                            Some(true) => return Err(HierarchyProblem::Twice { player }.into()),
                            Some(seen) => *seen = true,
                        }
                        player
                    }
                    Member::Group(members) => {
                        let path =
                            if path.is_empty() { place.to_string() } else { format!("{path}.{place}") };
                        open.push_back((groups.len(), members, path));
                        groups.push(Group { children: Vec::new(), level: groups[group].level + 1 });
                        players + groups.len() - 1
                    }
                };
                groups[group].children.push(child);
            }
        }
        let missing: Vec<usize> = (0..players).filter(|&player| !seen[player]).collect();
        if !missing.is_empty() {
            return Err(HierarchyProblem::Missing { missing, players }.into());
        }
        Ok(Self::normal(players, groups, players))
    }

    /// Normalizes the tree of `groups` below `top`: collapses groups with a single member and numbers the
    /// others level by level.
    fn normal(players: usize, groups: Vec<Group>, top: usize) -> Self {
        let inner = |mut node: usize| {
            while let Some(Group { children, .. }) = node.checked_sub(players).map(|group| &groups[group])
                && let &[only] = &children[..]
            {
                node = only;
            }
            node
        };
        let mut normal = vec![Group { children: Vec::new(), level: 0 }];
        let mut parents = vec![None; players + 1];
        let top = inner(top);
        if top < players {
            // Only a hierarchy of a single player has a player at the top.
            (normal[0].children, parents[top]) = (vec![top], Some(players));
            return Self { players, parents, groups: normal };
        }
        let mut open = VecDeque::from([top]);
        let mut number = 0;
        while let Some(group) = open.pop_front() {
            let Group { children, level } = &groups[group - players];
            normal[number].level = *level;
            for child in children.iter().map(|&child| inner(child)) {
                let child = if child < players {
                    child
                } else {
                    open.push_back(child);
                    normal.push(Group { children: Vec::new(), level: 0 });
                    parents.push(None);
                    players + normal.len() - 1
                };
                normal[number].children.push(child);
                parents[child] = Some(players + number);
            }
            number += 1;
        }
        Self { players, parents, groups: normal }
    }

    /// Returns the number of players n.
    pub fn players(&self) -> usize {
        self.players
    }

    /// Returns the number of players and groups.
    pub fn nodes(&self) -> usize {
        self.parents.len()
    }

    /// Returns the root, which is node n.
    pub fn root(&self) -> usize {
        self.players
    }

    /// Returns the groups, level by level from the root: the nodes from n on. A group comes after its parent.
    pub fn groups(&self) -> std::ops::Range<usize> {
        self.players..self.nodes()
    }

    /// Returns the children of a group.
    ///
    /// # Panics
    ///
    /// If the group does not exist.
    pub fn children(&self, group: usize) -> &[usize] {
        &self.groups[group - self.players].children
    }

    /// Returns the parent of a node; `None` for the root.
    ///
    /// # Panics
    ///
    /// If the node does not exist.
    pub fn parent(&self, node: usize) -> Option<usize> {
        self.parents[node]
    }

    /// Returns the number of groups that enclosed `group` in the input, including groups with a single
    /// member, which are collapsed in this hierarchy. The root has level 0, unless the input nested it inside
    /// such a group.
    ///
    /// # Panics
    ///
    /// If the group does not exist.
    pub fn level(&self, group: usize) -> usize {
        self.groups[group - self.players].level
    }

    /// Returns the groups that contain `node`, from the smallest one to the root.
    pub fn above(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parent(node), |&group| self.parent(group))
    }

    /// Returns the depth: the maximum number of groups that contain a player. The root counts as one.
    pub fn depth(&self) -> usize {
        let mut depths = vec![1; self.groups.len()];
        for group in self.groups().skip(1) {
            let above = self.parents[group].map_or(0, |above| depths[above - self.players]);
            depths[group - self.players] = above + 1;
        }
        depths.into_iter().max().unwrap_or(1)
    }

    /// Returns the players below a node, in order: the players of a group, or the player itself.
    ///
    /// # Panics
    ///
    /// If the node does not exist.
    pub fn players_at(&self, node: usize) -> Vec<usize> {
        let (mut players, mut open) = (Vec::new(), vec![node]);
        while let Some(node) = open.pop() {
            if node < self.players {
                players.push(node);
            } else {
                open.extend(self.children(node).iter().rev());
            }
        }
        players
    }

    /// Returns the [coalitions of all nodes](Self::coalitions), or an error if they do not fit in memory.
    ///
    /// # Errors
    ///
    /// [`TooMuchMemory`] if the coalitions need more memory than is available.
    pub fn try_coalitions(&self) -> Result<Coalitions, TooMuchMemory> {
        let bytes = memory::product([2, self.nodes(), crate::words_for(self.players) + 4, 8]);
        let what = || format!("a hierarchy of {} groups over {} players", self.groups.len(), self.players);
        memory::check(bytes, what, "use fewer players or groups")?;
        Ok(self.coalitions())
    }

    /// Returns one coalition per node, in the order of the nodes: the players below the node.
    pub fn coalitions(&self) -> Coalitions {
        let words = crate::words_for(self.players);
        let mut bits = vec![vec![0u64; words]; self.nodes()];
        (0..self.players).for_each(|player| bits[player][player / 64] |= 1 << (player % 64));
        for group in self.groups().rev() {
            let mut all = vec![0; words];
            for &child in self.children(group) {
                all.iter_mut().zip(&bits[child]).for_each(|(all, of_child)| *all |= of_child);
            }
            bits[group] = all;
        }
        let mut coalitions = Coalitions::with_capacity(self.players, self.nodes());
        bits.iter().for_each(|words| coalitions.push_words(words));
        coalitions
    }

    /// Returns the members of the root. [`new`](Self::new) creates the same hierarchy from them, with groups
    /// of a single member collapsed.
    pub fn members(&self) -> Vec<Member> {
        let mut members: Vec<Vec<Member>> = vec![Vec::new(); self.groups.len()];
        for (group, Group { children, .. }) in self.groups.iter().enumerate().rev() {
            let member = |&child: &usize| match child.checked_sub(self.players) {
                None => Member::Player(child),
                Some(group) => Member::Group(std::mem::take(&mut members[group])),
            };
            members[group] = children.iter().map(member).collect();
        }
        members.swap_remove(0)
    }

    /// Returns the hierarchy as a partition if it has at most two levels. Players that are children of the
    /// root become groups of one player.
    ///
    /// Returns `None` if there is a third level, or if the input nested the root inside another group.
    pub fn partition(&self) -> Option<Partition> {
        let flat = self.groups.iter().skip(1).flat_map(|group| &group.children);
        if self.groups[0].level > 0 || flat.into_iter().any(|&member| member >= self.players) {
            return None;
        }
        let members = self.groups[0].children.iter().map(|&node| self.players_at(node)).collect();
        Partition::new(self.players, members).ok()
    }

    /// Returns the hierarchy restricted to the players in `keep`; player `keep[j]` becomes player `j`. Groups
    /// without remaining players are removed.
    ///
    /// # Panics
    ///
    /// If a player does not exist, or is listed twice.
    pub fn restricted_to(&self, keep: &[usize]) -> Self {
        let players = keep.len();
        let mut place_of = vec![None; self.nodes()];
        for (place, &player) in keep.iter().enumerate() {
            assert!(player < self.players, "unknown player {player}");
            assert!(place_of[player].replace(place).is_none(), "player {player} is listed twice");
        }
        let mut groups = Vec::with_capacity(self.groups.len());
        // In reverse order, children come before their parents, and the root comes last.
        for group in self.groups().rev() {
            let children: Vec<usize> =
                self.children(group).iter().filter_map(|&child| place_of[child]).collect();
            if !children.is_empty() || group == self.root() {
                place_of[group] = Some(players + groups.len());
                groups.push(Group { children, level: self.level(group) });
            }
        }
        let top = players + groups.len() - 1;
        Self::normal(players, groups, top)
    }

    /// Checks that the hierarchy has `players` players.
    ///
    /// # Errors
    ///
    /// [`GameError::HierarchyOfOthers`] if the numbers differ.
    pub fn check_players(&self, players: usize) -> Result<(), GameError> {
        if players == self.players {
            return Ok(());
        }
        Err(GameError::HierarchyOfOthers { actual: self.players, expected: players })
    }
}

impl From<&Partition> for Hierarchy {
    /// Creates a hierarchy with two levels: the groups of the partition, and the players in each group.
    fn from(partition: &Partition) -> Self {
        let players = partition.players();
        let top = Group { children: (1..=partition.len()).map(|group| players + group).collect(), level: 0 };
        let group = |members: &Vec<usize>| Group { children: members.clone(), level: 1 };
        let groups = std::iter::once(top).chain(partition.groups().iter().map(group)).collect();
        Self::normal(players, groups, players)
    }
}

/// Returns a node of the cycle that is reached from `node` by repeatedly moving to the parent.
fn ahead(parents: &[Option<usize>], node: usize) -> usize {
    (0..parents.len()).fold(node, |node, _| parents[node].unwrap_or(node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Member::{Group as G, Player as P};

    fn problem(made: Result<Hierarchy, GameError>) -> HierarchyProblem {
        match made.unwrap_err() {
            GameError::Hierarchy { problem } => problem,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn what_is_no_hierarchy_is_refused_with_what_is_wrong() {
        let empty = Hierarchy::new(2, vec![P(0), G(vec![P(1), G(vec![])])]);
        assert_eq!(problem(empty), HierarchyProblem::Empty { group: "group 1.1".to_owned() });
        assert_eq!(
            problem(Hierarchy::new(1, vec![])),
            HierarchyProblem::Empty { group: "the root group".to_owned() }
        );
        let unknown = Hierarchy::new(2, vec![P(0), P(2)]);
        assert_eq!(problem(unknown), HierarchyProblem::UnknownPlayer { player: 2, players: 2 });
        let twice = Hierarchy::new(3, vec![G(vec![P(0), P(1)]), G(vec![P(2), G(vec![P(1)])])]);
        assert_eq!(problem(twice), HierarchyProblem::Twice { player: 1 });
        let orphan = Hierarchy::new(4, vec![G(vec![P(2)]), P(1)]);
        assert_eq!(problem(orphan), HierarchyProblem::Missing { missing: vec![0, 3], players: 4 });
        let misspelt = Hierarchy::from_names(&["age", "sex"], vec![P("age"), G(vec![P("sx")])]);
        assert_eq!(problem(misspelt), HierarchyProblem::UnknownName { name: "sx".to_owned() });
    }

    #[test]
    fn parents_that_make_no_tree_are_refused() {
        let of = |players, parents: &[Option<usize>]| problem(Hierarchy::from_parents(players, parents));
        let circle = [Some(2), Some(4), Some(3), Some(2), None];
        assert!(matches!(of(2, &circle), HierarchyProblem::Cycle { node: 2 | 3 }));
        assert_eq!(of(1, &[Some(1), Some(1)]), HierarchyProblem::Cycle { node: 1 });
        assert_eq!(of(2, &[Some(2), None, None]), HierarchyProblem::Missing { missing: vec![1], players: 2 });
        assert_eq!(of(3, &[Some(2)]), HierarchyProblem::Missing { missing: vec![1, 2], players: 3 });
        assert_eq!(of(2, &[Some(2), Some(3), None, None]), HierarchyProblem::Tops { first: 2, second: 3 });
        let unknown = HierarchyProblem::UnknownGroup { node: 1, parent: 0, players: 2, nodes: 3 };
        assert_eq!(of(2, &[Some(2), Some(0), None]), unknown);
        assert_eq!(
            of(2, &[Some(2), Some(2), None, Some(2)]),
            HierarchyProblem::Empty { group: "node 3".to_owned() }
        );
    }

    #[test]
    fn members_names_and_parents_give_the_same_hierarchy() {
        let hierarchy =
            Hierarchy::new(5, vec![P(4), G(vec![G(vec![P(1), P(0)]), P(2)]), G(vec![P(3)])]).unwrap();
        assert_eq!(hierarchy.children(5), [4, 6, 3]);
        assert_eq!((hierarchy.children(6), hierarchy.children(7)), (&[7, 2][..], &[1, 0][..]));
        assert_eq!(hierarchy.above(0).collect::<Vec<_>>(), [7, 6, 5]);
        assert_eq!((hierarchy.depth(), hierarchy.players_at(5)), (3, vec![4, 1, 0, 2, 3]));
        let names = ["a", "b", "c", "d", "e"];
        let named = Hierarchy::from_names(
            &names,
            vec![P("e"), G(vec![G(vec![P("b"), P("a")]), P("c")]), G(vec![P("d")])],
        );
        assert_eq!(named.unwrap(), hierarchy);
        assert_eq!(Hierarchy::new(5, hierarchy.members()).unwrap(), hierarchy);
        let sizes: Vec<usize> = hierarchy.coalitions().iter().map(|row| row.size()).collect();
        assert_eq!(sizes, [1, 1, 1, 1, 1, 5, 3, 2]);
    }

    #[test]
    fn groups_of_one_are_left_out_but_count_as_levels() {
        let hierarchy = Hierarchy::new(2, vec![G(vec![G(vec![P(1), P(0)])])]).unwrap();
        assert_eq!((hierarchy.nodes(), hierarchy.level(2), hierarchy.depth()), (3, 2, 1));
        let partition = Hierarchy::from(&Partition::whole(3));
        assert_eq!((partition.children(3), partition.level(3)), (&[0, 1, 2][..], 1));
        let alone = Hierarchy::from(&Partition::singletons(3));
        assert_eq!((alone.children(3), alone.level(3)), (&[0, 1, 2][..], 0));
        let one = Hierarchy::new(1, vec![G(vec![P(0)])]).unwrap();
        assert_eq!((one.children(1), one.nodes()), (&[0][..], 2));
        assert_eq!(Hierarchy::new(0, vec![]).unwrap(), Hierarchy::from(&Partition::whole(0)));
        assert_eq!(Hierarchy::from_parents(0, &[]).unwrap(), Hierarchy::from(&Partition::whole(0)));
    }

    #[test]
    fn a_partition_is_told_from_what_has_more_levels() {
        let partition = Partition::new(4, vec![vec![3, 0], vec![1], vec![2]]).unwrap();
        assert_eq!(Hierarchy::from(&partition).partition(), Some(partition));
        assert_eq!(Hierarchy::from(&Partition::singletons(3)).partition(), Some(Partition::singletons(3)));
        // A single group of all players collapses into the root, which is then at level 1; such a hierarchy
        // does not convert to a partition.
        assert_eq!(Hierarchy::from(&Partition::whole(3)).partition(), None);
        let three = Hierarchy::new(3, vec![P(2), G(vec![P(0), G(vec![P(1)])])]).unwrap();
        assert_eq!(three.partition(), Partition::new(3, vec![vec![2], vec![0, 1]]).ok());
        let deep = Hierarchy::new(4, vec![P(2), G(vec![P(0), G(vec![P(1), P(3)])])]).unwrap();
        assert_eq!(deep.partition(), None);
    }

    #[test]
    fn what_is_left_of_some_players_is_a_hierarchy_of_the_same_levels() {
        let whole =
            Hierarchy::new(6, vec![G(vec![G(vec![P(0), P(1)]), G(vec![P(2), P(3)])]), G(vec![P(4), P(5)])]);
        let left = whole.unwrap().restricted_to(&[3, 0, 2]);
        assert_eq!(left.members(), [P(1), G(vec![P(2), P(0)])]);
        assert_eq!((left.level(left.root()), left.level(4)), (1, 2));
        assert_eq!(left.restricted_to(&[1]).children(1), [0]);
        assert_eq!(left.restricted_to(&[]).players(), 0);
    }

    #[test]
    fn a_chain_of_any_length_is_a_hierarchy() {
        let players = 5000;
        let parent = |node: usize| match node {
            0 | 1 => Some(players),
            node if node < players => Some(players + node - 1),
            node => (node + 1 < 2 * players - 1).then_some(node + 1),
        };
        let parents: Vec<Option<usize>> = (0..2 * players - 1).map(parent).collect();
        let chain = Hierarchy::from_parents(players, &parents).unwrap();
        assert_eq!((chain.depth(), chain.above(0).count()), (players - 1, players - 1));
        assert_eq!(chain.players_at(chain.root()).len(), players);
    }
}
