//! Features in a hierarchy of groups: the weights of coalitions, and the groups on a path.
//!
//! A semivalue weights the coalitions of the members of a group, which are features and subgroups. Its
//! moments are M1 at the top level and M2 at all levels below.

use apportion_games::Hierarchy;
use apportion_values::{CoalitionalValue, Semivalue};

use super::moments::Moments;

/// Marks a node without a parent.
const NONE: u32 = u32::MAX;

/// The groups of a hierarchy, and the moments of both semivalues.
pub(crate) struct Levels {
    between: Moments,
    within: Moments,
    tree: GroupTree,
}

/// The tree of groups: the features are nodes 0 to n − 1, the groups are the following nodes, and node n is
/// the group of all features.
pub(crate) struct GroupTree {
    features: usize,
    /// The group that directly contains each node; [`NONE`] for the group of all features.
    parents: Vec<u32>,
    /// For each group, whether its members form the top level of the hierarchy that the user specified.
    is_top: Vec<bool>,
}

impl GroupTree {
    pub(crate) fn new(hierarchy: &Hierarchy) -> Self {
        Self {
            features: hierarchy.players(),
            parents: (0..hierarchy.nodes())
                .map(|node| hierarchy.parent(node).map_or(NONE, |parent| parent as u32))
                .collect(),
            is_top: hierarchy.groups().map(|group| hierarchy.level(group) == 0).collect(),
        }
    }

    /// Returns the number of groups.
    pub(crate) fn groups(&self) -> usize {
        self.is_top.len()
    }

    /// Returns the group that directly contains a node, or `None` for the group of all features. Groups are
    /// numbered from 0; group 0 contains all features.
    #[inline(always)]
    pub(crate) fn group_of(&self, node: usize) -> Option<usize> {
        let parent = self.parents[node];
        (parent != NONE).then(|| parent as usize - self.features)
    }

    /// Returns the group that directly contains a group, or `None` for the group of all features.
    #[inline(always)]
    pub(crate) fn above(&self, group: usize) -> Option<usize> {
        self.group_of(self.features + group)
    }
}

impl Levels {
    /// Creates the weights for trees with up to `max_width` features on a path. The value must be
    /// [defined](CoalitionalValue::check_over) for the hierarchy.
    pub(crate) fn new(value: &CoalitionalValue, hierarchy: &Hierarchy, max_width: usize) -> Self {
        // Weights by coalition size are defined for one number of players, here the number of members of a
        // group. Moments for more players must not be tabulated.
        let moments = |value: &Semivalue, is_top: bool| {
            let groups = hierarchy.groups().filter(|&group| (hierarchy.level(group) == 0) == is_top);
            let most = groups.map(|group| hierarchy.children(group).len()).max().unwrap_or(0);
            Moments::new(value.clone(), max_width.min(most))
        };
        Self {
            between: moments(&value.between, true),
            within: moments(&value.within, false),
            tree: GroupTree::new(hierarchy),
        }
    }

    pub(crate) fn tree(&self) -> &GroupTree {
        &self.tree
    }

    /// Returns the moments that weight the members of a group: the moments of the top level if `is_top`,
    /// otherwise the moments of the levels below.
    #[inline(always)]
    pub(crate) fn moments(&self, is_top: bool) -> &Moments {
        if is_top { &self.between } else { &self.within }
    }

    /// Returns the moments that weight the members of the group with this index.
    #[inline(always)]
    pub(crate) fn moments_of(&self, group: usize) -> &Moments {
        self.moments(self.tree.is_top[group])
    }
}

/// A member of a group of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Child {
    /// The path feature with this index.
    Feature(u32),
    /// Another group of the leaf.
    Group(u32),
}

/// A group with several members that contain path features.
#[derive(Debug, Clone, Copy)]
struct LeafGroup {
    is_top: bool,
    /// The index of the group's first member in the `children` of the leaf.
    first: u32,
    end: u32,
}

/// The hierarchy restricted to the path features of a leaf: groups and features that are not on the path are
/// removed. Groups with a single member are removed, too. The first group contains all path features, and a
/// group comes before its subgroups. A single path feature forms one group on its own.
#[derive(Default)]
pub(crate) struct LeafLevels {
    groups: Vec<LeafGroup>,
    children: Vec<Child>,
    /// For each group, the bits of its path features among the first 64.
    masks: Vec<u64>,
    /// Working memory of `set`: the groups of the hierarchy on the path, starting with the group of all
    /// features, with their members.
    met: Vec<(u32, Vec<Child>)>,
    /// Working memory of `set`: the index of each group in `met`.
    place_of: Vec<u32>,
    spare: Vec<Vec<Child>>,
}

impl LeafLevels {
    /// Sets the hierarchy for a leaf with these path features.
    pub(crate) fn set(&mut self, features: impl Iterator<Item = usize>, tree: &GroupTree) {
        let Self { groups, children, masks, met, place_of, spare } = self;
        groups.clear();
        children.clear();
        masks.clear();
        // Collect the members of each group in the order in which they occur on the path.
        place_of.resize(tree.groups(), NONE);
        for (place, feature) in features.enumerate() {
            let (mut child, mut above) = (Child::Feature(place as u32), tree.group_of(feature));
            while let Some(group) = above {
                let known = place_of[group] != NONE;
                if !known {
                    place_of[group] = met.len() as u32;
                    met.push((group as u32, spare.pop().unwrap_or_default()));
                }
                met[place_of[group] as usize].1.push(child);
                if known {
                    break;
                }
                (child, above) = (Child::Group(group as u32), tree.above(group));
            }
        }
        let inner = |mut child: Child| {
            while let Child::Group(group) = child
                && let &[only] = &met[place_of[group as usize] as usize].1[..]
            {
                child = only;
            }
            child
        };
        if met.is_empty() {
            return;
        }
        // Process the groups level by level; a group is assigned its index in this leaf when its members are
        // listed.
        let mut at = 0;
        match inner(Child::Group(0)) {
            top @ Child::Group(_) => children.push(top),
            alone => {
                children.push(alone);
                groups.push(LeafGroup { is_top: true, first: 0, end: 1 });
            }
        }
        while at < children.len() {
            if let Child::Group(group) = children[at] {
                children[at] = Child::Group(groups.len() as u32);
                let first = children.len() as u32;
                children.extend(met[place_of[group as usize] as usize].1.iter().map(|&child| inner(child)));
                let is_top = tree.is_top[group as usize];
                groups.push(LeafGroup { is_top, first, end: children.len() as u32 });
            }
            at += 1;
        }
        for (group, mut members) in met.drain(..) {
            place_of[group as usize] = NONE;
            members.clear();
            spare.push(members);
        }
        masks.resize(groups.len(), 0);
        for group in (0..groups.len()).rev() {
            let LeafGroup { first, end, .. } = groups[group];
            masks[group] = children[first as usize..end as usize].iter().fold(0, |mask, &child| {
                mask | match child {
                    Child::Feature(place) => 1u64.checked_shl(place).unwrap_or(0),
                    Child::Group(group) => masks[group as usize],
                }
            });
        }
    }

    /// Returns the number of groups.
    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns whether the members of a group form the top level of the hierarchy.
    #[inline(always)]
    pub(crate) fn is_top(&self, group: usize) -> bool {
        self.groups[group].is_top
    }

    /// Returns the members of a group.
    #[inline(always)]
    pub(crate) fn children(&self, group: usize) -> &[Child] {
        let LeafGroup { first, end, .. } = self.groups[group];
        &self.children[first as usize..end as usize]
    }

    /// Returns the path features of a member as bits, for leaves with at most 64 path features.
    #[inline(always)]
    pub(crate) fn mask(&self, child: Child) -> u64 {
        match child {
            Child::Feature(place) => 1 << place,
            Child::Group(group) => self.masks[group as usize],
        }
    }

    /// Returns the smallest group that contains features of both `own` and `rest`, or the first group if
    /// there is no such group. Also returns the numbers of its members that contain features of `own` and of
    /// `rest`, and the product of the weights of all levels above. Returns `None` if a group has two members
    /// with features of both, because then no coalition reaches the leaf.
    #[inline]
    pub(crate) fn meeting(&self, levels: &Levels, own: u64, rest: u64) -> Option<DivergingGroup> {
        let (mut group, mut factor) = (0, 1.0);
        loop {
            let (mut counts, mut mixed) = ([0, 0], None);
            for &child in self.children(group) {
                let mask = self.mask(child);
                match (own & mask != 0, rest & mask != 0) {
                    (true, false) => counts[0] += 1,
                    (false, true) => counts[1] += 1,
                    (false, false) => {}
                    (true, true) if mixed.is_some() => return None,
                    (true, true) => mixed = Some(child),
                }
            }
            let Some(Child::Group(inner)) = mixed else {
                return Some(DivergingGroup { group, counts, factor });
            };
            factor *= levels.moments(self.is_top(group)).get(counts[0], counts[1]);
            group = inner as usize;
        }
    }

    /// Distributes the contributions of a leaf among the members of a group that contain any of `features`,
    /// down to single features. These features all come from the same row: the explicand if `is_own`,
    /// otherwise the background. The contribution of each of these members is `value`.
    pub(crate) fn divide(
        &self,
        levels: &Levels,
        group: usize,
        (features, is_own): (u64, bool),
        value: f64,
        phi: &mut impl FnMut(usize, f64),
    ) {
        for &child in self.children(group) {
            let own = self.mask(child) & features;
            if own == 0 {
                continue;
            }
            match child {
                Child::Feature(place) => phi(place as usize, value),
                // The whole contribution belongs to a single feature.
                Child::Group(_) if own & (own - 1) == 0 => phi(own.trailing_zeros() as usize, value),
                Child::Group(inner) => {
                    let inner = inner as usize;
                    let others = self.touched(inner, own) - 1;
                    let moments = levels.moments(self.is_top(inner));
                    let share = if is_own { moments.get(others, 0) } else { moments.get(0, others) };
                    self.divide(levels, inner, (own, is_own), value * share, phi);
                }
            }
        }
    }

    /// Returns the number of members of a group that contain any of `features`.
    fn touched(&self, group: usize, features: u64) -> usize {
        self.children(group).iter().filter(|&&child| self.mask(child) & features != 0).count()
    }
}

/// The smallest group that contains features of both the explicand and the background.
pub(crate) struct DivergingGroup {
    pub(crate) group: usize,
    /// The number of members of the group that contain features of the explicand, and the number of members
    /// that contain features of the background.
    pub(crate) counts: [usize; 2],
    pub(crate) factor: f64,
}

impl DivergingGroup {
    /// Returns the amount that a leaf of value 1 adds for each explicand member, and the amount that it
    /// subtracts for each background member.
    #[inline(always)]
    pub(crate) fn shares(&self, levels: &Levels, leaf: &LeafLevels) -> (f64, f64) {
        let [own, rest] = self.counts;
        let (gain, loss) = levels.moments(leaf.is_top(self.group)).shares(own, rest);
        (self.factor * gain, self.factor * loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::Member::{Group as G, Player as P};

    #[test]
    fn a_leaf_has_the_groups_of_several_members_on_its_path() {
        // (((0, 1), 2), (3, 4)), (5, 6), 7
        let inner = G(vec![G(vec![G(vec![P(0), P(1)]), P(2)]), G(vec![P(3), P(4)])]);
        let hierarchy = Hierarchy::new(8, vec![inner, G(vec![P(5), P(6)]), P(7)]).unwrap();
        let tree = GroupTree::new(&hierarchy);
        let mut leaf = LeafLevels::default();
        // Set all leaves twice, to check that memory is reused correctly.
        for _ in 0..2 {
            leaf.set([3, 0, 4, 1].into_iter(), &tree);
            assert_eq!(leaf.len(), 3);
            assert_eq!(leaf.children(0), [Child::Group(1), Child::Group(2)]);
            assert_eq!(leaf.children(1), [Child::Feature(0), Child::Feature(2)]);
            assert_eq!(leaf.children(2), [Child::Feature(1), Child::Feature(3)]);
            assert_eq!((leaf.masks[0], leaf.masks[1], leaf.masks[2]), (15, 5, 10));
            assert!((0..3).all(|group| !leaf.is_top(group)));
            leaf.set([7, 2, 5].into_iter(), &tree);
            assert_eq!(leaf.children(0), [Child::Feature(0), Child::Feature(1), Child::Feature(2)]);
            assert!(leaf.is_top(0));
            leaf.set([6].into_iter(), &tree);
            assert_eq!((leaf.len(), leaf.children(0)), (1, &[Child::Feature(0)][..]));
            leaf.set([].into_iter(), &tree);
            assert_eq!(leaf.len(), 0);
        }
    }
}
