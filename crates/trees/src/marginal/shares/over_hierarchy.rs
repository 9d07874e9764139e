//! The contributions of a leaf to players in a hierarchy of groups, for a coalitional value: one semivalue at
//! the top and one at all levels below.
//!
//! # Derivation
//!
//! On one leaf of value v and one background row the game is `v · [E ⊆ S] [R ∩ S = ∅]`. Let i be a player,
//! and G a group that contains it. Each other member of G, which does not contain i, is present or absent as
//! a whole. If one of them is *mixed*, with players in both E and R, no coalition reaches the leaf. If there
//! is no such member in any of these groups, let a be the number of other members of G with players in E, and
//! b the number of other members with players in R. With the moments M of the level of G, the value is a
//! product over the levels,
//!
//! ```text
//! φ_i = ± v Π_G M(a_G, b_G)     + for i ∈ E, − for i ∈ R.
//! ```
//!
//! Therefore, from the group of all features down, as long as a group has one mixed member, there are
//! contributions only to the players of that member. The first group without a mixed member divides the leaf
//! among its members, each of which has players on one side only, and so on down to the players. If a group
//! has two mixed members, there are no contributions. If only one member of a group has players on the path,
//! the factor of the group is M(0, 0) = 1, and the group is skipped.
//!
//! # Algorithms
//!
//! The walk counts, for every group, the members on either side and the mixed members. It skips a branch that
//! would mix a second member of a group. For patterns, the members in E and the members in R are represented
//! as bit masks.
//!
//! All rows of a cohort have the same R. In a group, members with players in R are mixed for the rows that
//! fail a test of one of their players. Only rows for which no other member is mixed contribute to a member.
//! They are sorted by the number of members outside R with a failed test. The member receives one set of rows
//! for each distinct weight that results.

use apportion_models::tree::Node;

use super::products::Products;
use super::{LeafKernel, LeafView};
use crate::engine::bits::{all_of, ones};
use crate::engine::levels::{Child, LeafLevels, Levels};
use crate::marginal::cohorts::{
    ArrivedCohort, Numbers, SIZES, Set, Weigh, both, either, is_empty, less, room,
};
use crate::marginal::walk::{Parting, WalkVisitor};

/// The working memory for contributions to players in a hierarchy.
pub(crate) struct OverHierarchy {
    counts: Counts,
    open: Vec<OpenParting>,
    leaf: LeafLevels,
    background: Vec<OwnFeatures>,
    cohort: CohortMemory,
}

/// The two rows from which a feature may be taken, as indices of counts.
const EXPLICAND: usize = 0;
const BACKGROUND: usize = 1;
/// Marks a group whose features are taken from both rows.
const BOTH: usize = 2;

/// For each group, the number of members that the walk has taken from either row.
struct Counts {
    /// For each group, the number of members taken from the explicand alone, from the background alone, and
    /// from both.
    of_group: Vec<[u32; 3]>,
}

impl Counts {
    /// Returns the row from which a group's features are taken; `None` if no feature is taken.
    #[inline(always)]
    fn side(&self, group: usize) -> Option<usize> {
        match self.of_group[group] {
            [0, 0, 0] => None,
            [_, 0, 0] => Some(EXPLICAND),
            [0, _, 0] => Some(BACKGROUND),
            _ => Some(BOTH),
        }
    }

    /// Changes the row from which a feature is taken. Returns `true` if no group has two mixed members
    /// afterwards, provided that none had before.
    #[inline(always)]
    fn turn(&mut self, levels: &Levels, feature: usize, from: Option<usize>, to: Option<usize>) -> bool {
        let (mut from, mut to) = (from, to);
        let mut group = levels.tree().group_of(feature);
        while let Some(at) = group {
            let before = self.side(at);
            let counts = &mut self.of_group[at];
            if let Some(side) = from {
                counts[side] -= 1;
            }
            if let Some(side) = to {
                counts[side] += 1;
            }
            let after = self.side(at);
            if before == after {
                return self.of_group[at][BOTH] < 2;
            }
            (from, to, group) = (before, after, levels.tree().above(at));
        }
        true
    }

    /// Takes a free feature from one row. If no coalition would then reach a leaf below, returns `false`
    /// without any effect.
    #[inline(always)]
    fn enter(&mut self, levels: &Levels, feature: usize, side: usize) -> bool {
        let goes = self.turn(levels, feature, None, Some(side));
        if !goes {
            self.turn(levels, feature, Some(side), None);
        }
        goes
    }

    /// Returns the contribution of a leaf of value 1 to a feature that is taken from one row.
    #[inline(always)]
    fn share(&self, levels: &Levels, feature: usize, side: usize) -> f64 {
        let mut share = if side == EXPLICAND { 1.0 } else { -1.0 };
        let (mut group, mut own_side) = (levels.tree().group_of(feature), side);
        while let Some(at) = group {
            let mut counts = self.of_group[at];
            counts[own_side] -= 1;
            let [own, rest, mixed] = counts;
            if mixed > 0 {
                return 0.0;
            }
            if own + rest > 0 {
                share *= levels.moments_of(at).get(own as usize, rest as usize);
            }
            own_side = self.side(at).unwrap_or(side);
            group = levels.tree().above(at);
        }
        share
    }
}

/// The feature of a parting on the path.
struct OpenParting {
    /// The row from which the feature is taken.
    side: usize,
    feature: usize,
    /// The sum of the feature's contributions from the leaves on this side.
    sum: f64,
}

struct Walking<'a, F> {
    levels: &'a Levels,
    counts: &'a mut Counts,
    open: &'a mut Vec<OpenParting>,
    phi: F,
}

impl<F: FnMut(usize, f64)> Walking<'_, F> {
    /// Adds the sum of the finished side to the feature of the last parting.
    #[inline(always)]
    fn give(&mut self) {
        let Some(OpenParting { side, feature, sum }) = self.open.last_mut() else { return };
        (self.phi)(*feature, std::mem::take(sum));
        self.counts.turn(self.levels, *feature, Some(*side), None);
    }
}

impl<F: FnMut(usize, f64)> WalkVisitor for Walking<'_, F> {
    type Sums = ();

    #[inline(always)]
    fn begin(&mut self, player: u32) -> bool {
        let feature = player as usize;
        let is_own = self.counts.enter(self.levels, feature, EXPLICAND);
        if !is_own {
            // All features of the group are taken from the background, so taking another one from the
            // background does not mix a group.
            self.counts.enter(self.levels, feature, BACKGROUND);
        }
        let side = if is_own { EXPLICAND } else { BACKGROUND };
        self.open.push(OpenParting { side, feature, sum: 0.0 });
        is_own
    }

    fn leaf(&mut self, _: Node, value: f64, _: usize, _: usize) {
        for OpenParting { side, feature, sum } in &mut *self.open {
            *sum += value * self.counts.share(self.levels, *feature, *side);
        }
    }

    #[inline(always)]
    fn turn(&mut self, _: u32, _: ()) -> bool {
        self.give();
        let Some(open) = self.open.last_mut() else { return false };
        open.side = BACKGROUND;
        let goes_on = self.counts.enter(self.levels, open.feature, BACKGROUND);
        if !goes_on {
            self.open.pop();
        }
        goes_on
    }

    #[inline(always)]
    fn join(&mut self, _: &[Parting<()>], _: u32, _: [(); 2]) {
        self.give();
        self.open.pop();
    }
}

/// The features that must come from the explicand, because a background pattern does not contain them.
struct OwnFeatures {
    /// The features E, as bits of a pattern.
    features: u64,
    /// The weight of the pattern times the value of the leaf.
    value: f64,
}

/// The working memory for a cohort.
#[derive(Default)]
struct CohortMemory {
    /// The levels of the players on the path.
    places: Vec<usize>,
    /// For each group, the rows that fail a test of one of its players.
    touched: Vec<u64>,
    /// Sets of rows with their weights, for each group that is being divided.
    cells: Vec<u64>,
    weights: Vec<f64>,
    by_number: Vec<u64>,
}

/// A cohort at a leaf, and the inputs for dividing it.
struct Cohort<'a, 'c, const W: usize, T, F> {
    levels: &'a Levels,
    leaf: &'a LeafLevels,
    arrived: &'a ArrivedCohort<'c, W>,
    /// For each path player, its level.
    places: &'a [usize],
    /// For each group of the leaf, the rows that fail a test of one of its players.
    touched: &'a [Set<W>],
    weigh: &'a T,
    phi: &'a mut F,
}

impl<const W: usize, T: Weigh, F: FnMut(usize, f64)> Cohort<'_, '_, W, T, F> {
    /// Returns the rows that fail a test of a player of a member, and whether the member has a player in R.
    fn member(&self, child: Child) -> (Set<W>, bool) {
        match child {
            Child::Feature(place) => {
                let level = self.places[place as usize];
                let is_rest = self.arrived.rest >> level & 1 == 1;
                let rows = if is_rest { [0; W] } else { self.arrived.failing[level] };
                (both(rows, self.arrived.cohort), is_rest)
            }
            Child::Group(group) => {
                let mask = self.leaf.mask(child);
                let has_rest = ones(mask).any(|place| self.arrived.rest >> self.places[place] & 1 == 1);
                (self.touched[group as usize], has_rest)
            }
        }
    }

    /// Divides the rows of the cells starting at `first`, with their weights, among the members of a group.
    fn divide(
        &mut self,
        group: usize,
        cells: &mut Vec<u64>,
        weights: &mut Vec<f64>,
        first: usize,
        by_number: &mut [Set<W>; SIZES],
    ) {
        let end = weights.len();
        // The rows with at least one mixed member, and with at least two.
        let (mut once, mut twice): (Set<W>, Set<W>) = ([0; W], [0; W]);
        let mut outside = Numbers::new();
        let (mut count, mut mixable) = (0, 0);
        let leaf = self.leaf;
        for &child in leaf.children(group) {
            let (touched, has_rest) = self.member(child);
            if has_rest {
                twice = either(twice, both(once, touched));
                once = either(once, touched);
                mixable += 1;
            } else {
                outside.add(touched);
                count += 1;
            }
        }
        let moments = self.levels.moments(leaf.is_top(group));
        for &child in leaf.children(group) {
            let (touched, has_rest) = self.member(child);
            // The rows for which no other member is mixed.
            let rows = match has_rest {
                true => less(less(self.arrived.cohort, twice), less(once, touched)),
                false => both(less(self.arrived.cohort, once), touched),
            };
            if is_empty(rows) {
                continue;
            }
            outside.sort(rows, by_number);
            for cell in first..end {
                let (set, weight) = (cells.as_chunks::<W>().0[cell], weights[cell]);
                for (a, &of_number) in by_number[..=count].iter().enumerate() {
                    let set = both(set, of_number);
                    if !is_empty(set) {
                        let level = match has_rest {
                            true => moments.get(a, mixable - 1),
                            false => moments.get(a - 1, mixable),
                        };
                        cells.extend(set);
                        weights.push(weight * level);
                    }
                }
            }
            match child {
                Child::Feature(place) => {
                    let own = &cells.as_chunks::<W>().0[end..];
                    let share = self.arrived.value * self.weigh.weigh(rows, own, &weights[end..]);
                    let player = self.arrived.players[self.places[place as usize]] as usize;
                    (self.phi)(player, if has_rest { -share } else { share });
                }
                Child::Group(inner) => self.divide(inner as usize, cells, weights, end, by_number),
            }
            cells.truncate(end * W);
            weights.truncate(end);
        }
    }
}

impl LeafKernel for OverHierarchy {
    type Weights = Levels;
    type Sums = ();

    fn new(levels: &Levels) -> Self {
        Self {
            counts: Counts { of_group: vec![[0; 3]; levels.tree().groups()] },
            open: Vec::new(),
            leaf: LeafLevels::default(),
            background: Vec::new(),
            cohort: CohortMemory::default(),
        }
    }

    #[inline(always)]
    fn walked<'a>(
        &'a mut self,
        levels: &'a Levels,
        phi: impl FnMut(usize, f64) + 'a,
    ) -> impl WalkVisitor<Sums = ()> + 'a {
        Walking { levels, counts: &mut self.counts, open: &mut self.open, phi }
    }

    fn visit_leaf(
        &mut self,
        levels: &Levels,
        LeafView { features, value, background }: LeafView<'_>,
    ) -> bool {
        let all = all_of(features.len());
        self.leaf.set(features.iter().map(|&feature| feature as usize), levels.tree());
        self.background.clear();
        self.background.extend(
            background
                .iter()
                .map(|&(pattern, weight)| OwnFeatures { features: all & !pattern, value: weight * value }),
        );
        self.leaf.len() > 0
    }

    #[inline(always)]
    fn of_pattern(
        &mut self,
        levels: &Levels,
        LeafView { features, .. }: LeafView<'_>,
        pattern: u64,
        mut phi: impl FnMut(usize, f64),
    ) {
        let leaf = &self.leaf;
        let mut phi = |place: usize, share: f64| phi(features[place] as usize, share);
        let missing = all_of(features.len()) & !pattern;
        let mut lost = 0.0;
        for own in self.background.iter().filter(|own| own.features & missing == 0) {
            let Some(meeting) = leaf.meeting(levels, own.features, missing) else { continue };
            let (gain, loss) = meeting.shares(levels, leaf);
            leaf.divide(levels, meeting.group, (own.features, true), own.value * gain, &mut phi);
            if meeting.group == 0 {
                lost += own.value * loss;
            } else {
                leaf.divide(levels, meeting.group, (missing, false), -own.value * loss, &mut phi);
            }
        }
        if lost != 0.0 {
            leaf.divide(levels, 0, (missing, false), -lost, &mut phi);
        }
    }

    #[inline(always)]
    fn of_cohort<const W: usize>(
        &mut self,
        levels: &Levels,
        arrived: ArrivedCohort<'_, W>,
        weigh: &impl Weigh,
        phi: &mut impl FnMut(usize, f64),
    ) {
        let Self { leaf, cohort: CohortMemory { places, touched, cells, weights, by_number }, .. } = self;
        places.clear();
        places.extend(ones(arrived.live | arrived.rest));
        leaf.set(places.iter().map(|&level| arrived.players[level] as usize), levels.tree());
        if leaf.len() == 0 {
            return;
        }
        touched.clear();
        for group in 0..leaf.len() {
            let live = ones(leaf.mask(Child::Group(group as u32))).map(|place| places[place]);
            let live = live.filter(|level| arrived.live >> level & 1 == 1);
            let fail = live.fold([0; W], |any, level| either(any, arrived.failing[level]));
            touched.extend(both(fail, arrived.cohort));
        }
        cells.clear();
        weights.clear();
        cells.extend(arrived.cohort);
        weights.push(1.0);
        let by_number = room::<W, SIZES>(by_number);
        let touched = touched.as_chunks::<W>().0;
        Cohort { levels, leaf, arrived: &arrived, places, touched, weigh, phi }
            .divide(0, cells, weights, 0, by_number);
    }

    fn of_products(
        &mut self,
        levels: &Levels,
        products: &mut Products,
        value: f64,
        phi: &mut impl FnMut(usize, f64),
    ) {
        self.of_product(levels, products, value, phi);
        for index in 0..products.extensions.len() {
            let (player, difference) = products.extensions[index];
            products.own.push(player);
            self.of_product(levels, products, difference, phi);
            products.own.pop();
        }
    }
}

impl OverHierarchy {
    /// Adds the values of the game `value · [E, R]` to the players in E and R.
    fn of_product(
        &mut self,
        levels: &Levels,
        Products { own, rest, .. }: &Products,
        value: f64,
        phi: &mut impl FnMut(usize, f64),
    ) {
        let own = own.iter().map(|&player| (player as usize, EXPLICAND));
        let sides = own.chain(rest.iter().map(|&player| (player as usize, BACKGROUND)));
        let counts = &mut self.counts;
        for (feature, side) in sides.clone() {
            counts.turn(levels, feature, None, Some(side));
        }
        for (feature, side) in sides.clone() {
            phi(feature, value * counts.share(levels, feature, side));
        }
        for (feature, side) in sides {
            counts.turn(levels, feature, Some(side), None);
        }
    }
}
