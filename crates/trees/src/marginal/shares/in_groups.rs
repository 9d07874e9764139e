//! The contributions of a leaf to players in groups, for a coalitional value: a semivalue between the groups
//! and one within them.
//!
//! # Derivation
//!
//! On one leaf of value v and one background row the game is `v · [E ⊆ S] [R ∩ S = ∅]`. Let i be in group j.
//! Every other group is present or absent as a whole, so if one of them is *mixed*, with features in both E
//! and R, no coalition reaches the leaf. If none is mixed except possibly j, let a be the number of other
//! groups with features in E, and b the number of other groups with features in R. Group j itself has e
//! features in E, and r in R. With M1 the moments of the semivalue between the groups, and M2 the moments of
//! the semivalue within them,
//!
//! ```text
//! φ_i += v · M1(a, b) · M2(e − 1, r)   for i ∈ E ∩ S_j,
//! φ_i −= v · M1(a, b) · M2(e, r − 1)   for i ∈ R ∩ S_j.
//! ```
//!
//! Therefore, if no group is mixed, there are contributions to all members. If one group is mixed, there are
//! contributions to its members only. If two are mixed, there are none.
//!
//! # Algorithms
//!
//! The walk counts the features of each group, and skips a branch that would mix a second group. At a leaf,
//! the contribution of each feature is added to its parting on the path. For patterns, the groups of E and
//! the groups of R are represented as bit masks; the mixed groups are set in both masks.
//!
//! In a cohort, let X be the groups with players in R. A row that fails a test of a player in one of these
//! groups makes the group mixed. Therefore only rows for which no other group is mixed contribute to the
//! members of group j. For such a row, let e be the number of players in j whose tests the row fails, and a
//! the number of groups other than j, outside X, with such players. With r members of j in R,
//!
//! ```text
//! φ_i += v Σ w_b M1(a, |X ∖ j|) M2(e − 1, r)   for i ∈ E ∩ S_j
//! φ_i −= v Σ w_b M1(a, |X ∖ j|) M2(e, r − 1)   for i ∈ R ∩ S_j,
//! ```
//!
//! and rows are sorted by a and by e in the same way as for single players.

use apportion_models::tree::Node;

use super::products::Products;
use super::{LeafKernel, LeafView};
use crate::engine::bits::{all_of, count, ones};
use crate::engine::groups::{Coalitional, LeafGroups};
use crate::marginal::cohorts::{
    ArrivedCohort, MAX_DEPTH, Numbers, SIZES, Set, Weigh, both, either, is_empty, less, room,
};
use crate::marginal::walk::{Parting, WalkVisitor};

/// The working memory for contributions to players in groups.
pub(crate) struct InGroups {
    counts: Counts,
    open: Vec<OpenParting>,
    leaf_groups: LeafGroups,
    background: Vec<OwnFeatures>,
    cohort: CohortMemory,
}

/// The two rows from which a feature may be taken, as indices of a pair.
const EXPLICAND: usize = 0;
const BACKGROUND: usize = 1;

/// For each group, the number of features that the walk has taken from either row.
struct Counts {
    /// For each group, the number of features taken from the explicand and from the background row.
    of_group: Vec<[usize; 2]>,
    /// The number of groups all of whose features are taken from the explicand, and the number of groups all
    /// of whose features are taken from the background row.
    whole: [usize; 2],
    /// The last group with features from both rows, and the number of such groups.
    mixed: (usize, usize),
}

impl Counts {
    fn new(groups: usize) -> Self {
        Self { of_group: vec![[0; 2]; groups], whole: [0; 2], mixed: (0, 0) }
    }

    /// Takes a feature of `group` from one row. If more than `most` groups would then be mixed, returns
    /// `false` without any effect.
    #[inline(always)]
    fn enter(&mut self, group: usize, side: usize, most: usize) -> bool {
        let counts = &mut self.of_group[group];
        if counts[side] == 0 {
            if counts[1 - side] == 0 {
                self.whole[side] += 1;
            } else if self.mixed.1 == most {
                return false;
            } else {
                self.mixed = (group, self.mixed.1 + 1);
                self.whole[1 - side] -= 1;
            }
        }
        counts[side] += 1;
        true
    }

    /// Undoes [`enter`](Self::enter), if at most one group is mixed.
    #[inline(always)]
    fn leave(&mut self, group: usize, side: usize) {
        let counts = &mut self.of_group[group];
        counts[side] -= 1;
        if counts[side] == 0 {
            if counts[1 - side] == 0 {
                self.whole[side] -= 1;
            } else {
                self.mixed.1 = 0;
                self.whole[1 - side] += 1;
            }
        }
    }
}

/// The feature of a parting on the path.
struct OpenParting {
    group: usize,
    /// The row from which the feature is taken.
    side: usize,
    /// The sum of the feature's contributions from the leaves on this side.
    sum: f64,
}

struct Walking<'a, F> {
    coalitional: &'a Coalitional,
    counts: &'a mut Counts,
    open: &'a mut Vec<OpenParting>,
    phi: F,
}

impl<F: FnMut(usize, f64)> Walking<'_, F> {
    /// Adds the sum of the finished side to the feature of the last parting.
    #[inline(always)]
    fn give(&mut self, player: u32) {
        let Some(OpenParting { group, side, sum }) = self.open.last_mut() else { return };
        (self.phi)(player as usize, std::mem::take(sum));
        self.counts.leave(*group, *side);
    }
}

impl<F: FnMut(usize, f64)> WalkVisitor for Walking<'_, F> {
    type Sums = ();

    #[inline(always)]
    fn begin(&mut self, player: u32) -> bool {
        let group = self.coalitional.group_of(player);
        let is_own = self.counts.enter(group, EXPLICAND, 1);
        if !is_own {
            // All features of the group are taken from the background, so taking another one from it never
            // mixes a second group.
            self.counts.enter(group, BACKGROUND, 1);
        }
        self.open.push(OpenParting { group, side: if is_own { EXPLICAND } else { BACKGROUND }, sum: 0.0 });
        is_own
    }

    fn leaf(&mut self, _: Node, value: f64, _: usize, _: usize) {
        let Coalitional { between, within, .. } = self.coalitional;
        let [own, rest] = self.counts.whole;
        if self.counts.mixed.1 == 0 {
            let (gain, loss) = between.shares(own, rest);
            let shares = [value * gain, -value * loss];
            for OpenParting { group, side, sum } in &mut *self.open {
                let fellows = self.counts.of_group[*group][*side] - 1;
                let place = if *side == EXPLICAND { (fellows, 0) } else { (0, fellows) };
                *sum += shares[*side] * within.get(place.0, place.1);
            }
            return;
        }
        let mixed = self.counts.mixed.0;
        let value = value * between.get(own, rest);
        let [own, rest] = self.counts.of_group[mixed];
        let (gain, loss) = within.shares(own, rest);
        let shares = [value * gain, -value * loss];
        for open in self.open.iter_mut().filter(|open| open.group == mixed) {
            open.sum += shares[open.side];
        }
    }

    #[inline(always)]
    fn turn(&mut self, player: u32, _: ()) -> bool {
        self.give(player);
        let Some(open) = self.open.last_mut() else { return false };
        open.side = BACKGROUND;
        let goes_on = self.counts.enter(open.group, BACKGROUND, 1);
        if !goes_on {
            self.open.pop();
        }
        goes_on
    }

    #[inline(always)]
    fn join(&mut self, _: &[Parting<()>], player: u32, _: [(); 2]) {
        self.give(player);
        self.open.pop();
    }
}

/// The features that must come from the explicand, because a background pattern does not contain them.
struct OwnFeatures {
    /// The features E, as bits of a pattern.
    features: u64,
    /// The groups that contain these features.
    groups: u64,
    /// The weight of the pattern times the value of the leaf.
    value: f64,
}

/// The working memory for a cohort.
#[derive(Default)]
struct CohortMemory {
    groups: Vec<Group>,
    /// For each group, the rows that fail a test of one of its players.
    touched: Vec<u64>,
    by_groups: Vec<u64>,
    /// For one group: the sets G_i of its players, the rows sorted by the number of failed players, and the
    /// rows sorted by the numbers of failed players and of groups.
    members: Vec<u64>,
    by_members: Vec<u64>,
    cells: Vec<u64>,
    gains: Vec<f64>,
    losses: Vec<f64>,
}

/// A group on the path, with its players as level bits.
struct Group {
    number: usize,
    live: u64,
    rest: u64,
}

impl CohortMemory {
    /// Finds the groups on the path.
    fn meet<const W: usize>(&mut self, arrived: &ArrivedCohort<'_, W>, coalitional: &Coalitional) {
        self.groups.clear();
        for level in ones(arrived.live | arrived.rest) {
            let number = coalitional.group_of(arrived.players[level]);
            let known = self.groups.iter().position(|group| group.number == number);
            let place = known.unwrap_or_else(|| {
                self.groups.push(Group { number, live: 0, rest: 0 });
                self.groups.len() - 1
            });
            let group = &mut self.groups[place];
            group.live |= arrived.live & 1 << level;
            group.rest |= arrived.rest & 1 << level;
        }
    }
}

impl LeafKernel for InGroups {
    type Weights = Coalitional;
    type Sums = ();

    fn new(coalitional: &Coalitional) -> Self {
        Self {
            counts: Counts::new(coalitional.groups),
            open: Vec::new(),
            leaf_groups: LeafGroups::default(),
            background: Vec::new(),
            cohort: CohortMemory::default(),
        }
    }

    #[inline(always)]
    fn walked<'a>(
        &'a mut self,
        coalitional: &'a Coalitional,
        phi: impl FnMut(usize, f64) + 'a,
    ) -> impl WalkVisitor<Sums = ()> + 'a {
        Walking { coalitional, counts: &mut self.counts, open: &mut self.open, phi }
    }

    fn visit_leaf(
        &mut self,
        coalitional: &Coalitional,
        LeafView { features, value, background }: LeafView<'_>,
    ) -> bool {
        let (all, groups) = (all_of(features.len()), &mut self.leaf_groups);
        groups.set(features, &coalitional.group_of);
        self.background.clear();
        self.background.extend(background.iter().map(|&(pattern, weight)| {
            let features = all & !pattern;
            OwnFeatures { features, groups: groups.touched(features), value: weight * value }
        }));
        true
    }

    #[inline(always)]
    fn of_pattern(
        &mut self,
        Coalitional { between, within, .. }: &Coalitional,
        LeafView { features, .. }: LeafView<'_>,
        pattern: u64,
        mut phi: impl FnMut(usize, f64),
    ) {
        let groups = &self.leaf_groups;
        let mut phi = |bit: usize, share: f64| phi(features[bit] as usize, share);
        let missing = all_of(features.len()) & !pattern;
        let missing_groups = groups.touched(missing);
        let mut lost = 0.0;
        for own in self.background.iter().filter(|own| own.features & missing == 0) {
            let mixed = own.groups & missing_groups;
            if mixed == 0 {
                let (gain, loss) = between.shares(count(own.groups), count(missing_groups));
                lost += own.value * loss;
                for bit in ones(own.features) {
                    let fellows = count(groups.fellows(own.features, bit)) - 1;
                    phi(bit, own.value * gain * within.get(fellows, 0));
                }
            } else if mixed & (mixed - 1) == 0 {
                let members = groups.mask(mixed.trailing_zeros() as usize);
                let value = own.value * between.get(count(own.groups) - 1, count(missing_groups) - 1);
                let (own, missing) = (own.features & members, missing & members);
                let (gain, loss) = within.shares(count(own), count(missing));
                ones(own).for_each(|bit| phi(bit, value * gain));
                ones(missing).for_each(|bit| phi(bit, -value * loss));
            }
        }
        if lost != 0.0 {
            for bit in ones(missing) {
                phi(bit, -lost * within.get(0, count(groups.fellows(missing, bit)) - 1));
            }
        }
    }

    #[inline(always)]
    fn of_cohort<const W: usize>(
        &mut self,
        coalitional: &Coalitional,
        arrived: ArrivedCohort<'_, W>,
        weigh: &impl Weigh,
        phi: &mut impl FnMut(usize, f64),
    ) {
        self.cohort.meet(&arrived, coalitional);
        let CohortMemory { groups, touched, by_groups, members, by_members, cells, gains, losses } =
            &mut self.cohort;
        let Coalitional { between, within, .. } = coalitional;
        let touched = room::<W, MAX_DEPTH>(touched);
        let by_groups = room::<W, SIZES>(by_groups);
        let members = room::<W, MAX_DEPTH>(members);
        let by_members = room::<W, SIZES>(by_members);
        // The rows with at least one mixed group, and with at least two.
        let (mut once, mut twice): (Set<W>, Set<W>) = ([0; W], [0; W]);
        let mut outside = Numbers::new();
        let mut count = 0;
        for (group, touched) in groups.iter().zip(&mut *touched) {
            let fail = ones(group.live).fold([0; W], |any, level| either(any, arrived.failing[level]));
            *touched = both(fail, arrived.cohort);
            if group.rest != 0 {
                twice = either(twice, both(once, *touched));
                once = either(once, *touched);
            } else {
                outside.add(*touched);
                count += 1;
            }
        }
        outside.sort(arrived.cohort, by_groups);
        let mixable = groups.len() - count;
        for (group, &touched) in groups.iter().zip(&*touched) {
            let is_outside = group.rest == 0;
            // The rows for which no other group is mixed.
            let rows = match is_outside {
                true => both(less(arrived.cohort, once), touched),
                false => less(less(arrived.cohort, twice), less(once, touched)),
            };
            if is_empty(rows) {
                continue;
            }
            let mut numbers = Numbers::new();
            let mut own = 0;
            for level in ones(group.live) {
                members[own] = both(arrived.failing[level], rows);
                numbers.add(members[own]);
                own += 1;
            }
            numbers.sort(rows, by_members);
            let others = group.rest.count_ones() as usize;
            for list in [&mut *gains, &mut *losses] {
                list.clear();
            }
            cells.clear();
            for (e, &of_members) in by_members[..=own].iter().enumerate() {
                let (gain, loss) = within.shares(e, others);
                for (a, &of_groups) in by_groups[..=count].iter().enumerate() {
                    let cell = both(of_members, of_groups);
                    if is_empty(cell) {
                        continue;
                    }
                    let weight = match is_outside {
                        true => between.get(a - 1, mixable),
                        false => between.get(a, mixable - 1),
                    };
                    cells.extend(cell);
                    gains.push(weight * gain);
                    losses.push(weight * loss);
                }
            }
            let cells = cells.as_chunks::<W>().0;
            for (level, &own) in ones(group.live).zip(&*members) {
                phi(arrived.players[level] as usize, arrived.value * weigh.weigh(own, cells, gains));
            }
            if !is_outside {
                let lost = arrived.value * weigh.weigh(rows, cells, losses);
                ones(group.rest).for_each(|level| phi(arrived.players[level] as usize, -lost));
            }
        }
    }

    fn of_products(
        &mut self,
        coalitional: &Coalitional,
        products: &mut Products,
        value: f64,
        phi: &mut impl FnMut(usize, f64),
    ) {
        self.of_product(coalitional, products, value, phi);
        for index in 0..products.extensions.len() {
            let (player, difference) = products.extensions[index];
            products.own.push(player);
            self.of_product(coalitional, products, difference, phi);
            products.own.pop();
        }
    }
}

impl InGroups {
    /// Adds the values of the game `value · [E, R]` to the players in E and R.
    fn of_product(
        &mut self,
        coalitional: &Coalitional,
        Products { own, rest, .. }: &Products,
        value: f64,
        phi: &mut impl FnMut(usize, f64),
    ) {
        let own = own.iter().map(|&player| (player, EXPLICAND));
        let sides = own.chain(rest.iter().map(|&player| (player, BACKGROUND)));
        let counts = &mut self.counts;
        for (player, side) in sides.clone() {
            counts.enter(coalitional.group_of(player), side, usize::MAX);
        }
        let Coalitional { between, within, .. } = coalitional;
        for (player, side) in sides.clone() {
            let group = coalitional.group_of(player);
            let [own, rest] = counts.of_group[group];
            let of_groups = match counts.mixed {
                (_, 0) => {
                    let (gain, loss) = between.shares(counts.whole[0], counts.whole[1]);
                    [gain, loss][side]
                }
                (only, 1) if only == group => between.get(counts.whole[0], counts.whole[1]),
                _ => continue,
            };
            let (gain, loss) = within.shares(own, rest);
            phi(player as usize, value * of_groups * [gain, -loss][side]);
        }
        for (player, _) in sides {
            counts.of_group[coalitional.group_of(player)] = [0; 2];
        }
        (counts.whole, counts.mixed.1) = ([0; 2], 0);
    }
}
