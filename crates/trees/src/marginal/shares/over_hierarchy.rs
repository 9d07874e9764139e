//! What a leaf gives to players over a hierarchy of groups: a coalitional value, a semivalue at the top and
//! one at all levels below.
//!
//! # The derivation
//!
//! On one leaf of value v and one background row the game is `v · [E ⊆ S] [R ∩ S = ∅]`. Let i be a player,
//! and G a group that it is in. Of the members of G other than i's side each is present or absent as a whole:
//! one with players in both E and R, a *mixed* one, lets no coalition reach the leaf. If there is none in any
//! of these groups, let a of the other members of G have players in E, and b of them in R. With the moments M
//! of the level of G, and v a product of what is asked of each level,
//!
//! ```text
//! φ_i = ± v Π_G M(a_G, b_G)     + for i ∈ E, − for i ∈ R.
//! ```
//!
//! So from the whole down, as long as a group has one mixed member, only the players of that get shares; and
//! the first group without a mixed member divides the leaf among its members, which then are of one side
//! each, and so on down to the players. A group with two mixed members leaves nothing to anyone. A group of
//! whose members one alone has players on the path is the factor M(0, 0) = 1, and is left out.
//!
//! # On the way
//!
//! A walk counts, for every group, the members that are of either side and those that are mixed, and leaves
//! out a branch that would mix a second member of a group, with everything below it. Of patterns, which
//! members E and R touch is a bit mask each.
//!
//! Rows of a cohort have the same R. In a group, members with players in R are mixed for the rows that fail
//! one of their players. For a member only the rows count for which no other is mixed; they are sorted by the
//! number of members outside R that they touch, and go on to the member with the weight that this makes,
//! together with all that came with the same weight.

use apportion_models::tree::Node;

use super::products::Products;
use super::{Seen, Share};
use crate::engine::bits::{all_of, ones};
use crate::engine::levels::{Child, LeafLevels, Levels};
use crate::marginal::cohorts::{Arrived, Numbers, SIZES, Set, Weigh, both, either, is_empty, less, room};
use crate::marginal::walk::{Parting, Walked};

/// The memory of leaves that give to players over a hierarchy.
pub(crate) struct OverHierarchy {
    counts: Counts,
    given: Vec<Given>,
    leaf: LeafLevels,
    background: Vec<Own>,
    cohort: OfCohort,
}

/// The two rows that a feature may be taken from, as places in counts.
const EXPLICAND: usize = 0;
const BACKGROUND: usize = 1;
/// Of a group: features are taken from both.
const BOTH: usize = 2;

/// Which members of every group are taken from which row.
struct Counts {
    /// Per group: members of the explicand alone, of the background alone, of both.
    of_group: Vec<[u32; 3]>,
}

impl Counts {
    /// The row that a group's features are taken from; none where no feature is taken.
    #[inline(always)]
    fn side(&self, group: usize) -> Option<usize> {
        match self.of_group[group] {
            [0, 0, 0] => None,
            [_, 0, 0] => Some(EXPLICAND),
            [0, _, 0] => Some(BACKGROUND),
            _ => Some(BOTH),
        }
    }

    /// Takes a feature from another row than it was, or from none: whether no group has two members of both
    /// rows then, where none had before.
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

    /// Takes a free feature from one row; `false`, and nothing done, if no coalition would reach a leaf
    /// below.
    #[inline(always)]
    fn enter(&mut self, levels: &Levels, feature: usize, side: usize) -> bool {
        let goes = self.turn(levels, feature, None, Some(side));
        if !goes {
            self.turn(levels, feature, Some(side), None);
        }
        goes
    }

    /// What a leaf of value 1 gives to a feature that is taken from one row.
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

/// The feature of a parting on the way.
struct Given {
    /// The row that it is taken from.
    side: usize,
    feature: usize,
    /// Its value on the leaves of this side.
    sum: f64,
}

struct Walking<'a, F> {
    levels: &'a Levels,
    counts: &'a mut Counts,
    given: &'a mut Vec<Given>,
    phi: F,
}

impl<F: FnMut(usize, f64)> Walking<'_, F> {
    /// Gives the feature of the last parting what it has got on the side that is finished.
    #[inline(always)]
    fn give(&mut self) {
        let Some(Given { side, feature, sum }) = self.given.last_mut() else { return };
        (self.phi)(*feature, std::mem::take(sum));
        self.counts.turn(self.levels, *feature, Some(*side), None);
    }
}

impl<F: FnMut(usize, f64)> Walked for Walking<'_, F> {
    type Sums = ();

    #[inline(always)]
    fn begin(&mut self, player: u32) -> bool {
        let feature = player as usize;
        let is_own = self.counts.enter(self.levels, feature, EXPLICAND);
        if !is_own {
            // A group was of the background alone. It stays so: that mixes nothing.
            self.counts.enter(self.levels, feature, BACKGROUND);
        }
        let side = if is_own { EXPLICAND } else { BACKGROUND };
        self.given.push(Given { side, feature, sum: 0.0 });
        is_own
    }

    fn leaf(&mut self, _: Node, value: f64, _: usize, _: usize) {
        for Given { side, feature, sum } in &mut *self.given {
            *sum += value * self.counts.share(self.levels, *feature, *side);
        }
    }

    #[inline(always)]
    fn turn(&mut self, _: u32, _: ()) -> bool {
        self.give();
        let Some(given) = self.given.last_mut() else { return false };
        given.side = BACKGROUND;
        let goes_on = self.counts.enter(self.levels, given.feature, BACKGROUND);
        if !goes_on {
            self.given.pop();
        }
        goes_on
    }

    #[inline(always)]
    fn join(&mut self, _: &[Parting<()>], _: u32, _: [(); 2]) {
        self.give();
        self.given.pop();
    }
}

/// What a pattern of the background leaves to the explicand.
struct Own {
    /// E.
    features: u64,
    /// The weight of the pattern, times the value of the leaf.
    value: f64,
}

/// The memory that a cohort takes.
#[derive(Default)]
struct OfCohort {
    /// The levels of the players on the path.
    places: Vec<usize>,
    /// By group: the rows that fail one of its players.
    touched: Vec<u64>,
    /// Rows and their weights, of each group that is being divided.
    cells: Vec<u64>,
    weights: Vec<f64>,
    by_number: Vec<u64>,
}

/// A cohort at a leaf, and who gets what of it.
struct Cohort<'a, 'c, const W: usize, T, F> {
    levels: &'a Levels,
    leaf: &'a LeafLevels,
    arrived: &'a Arrived<'c, W>,
    /// By place on the path: the level of its player.
    places: &'a [usize],
    /// By group of the leaf: the rows that fail one of its players.
    touched: &'a [Set<W>],
    weigh: &'a T,
    phi: &'a mut F,
}

impl<const W: usize, T: Weigh, F: FnMut(usize, f64)> Cohort<'_, '_, W, T, F> {
    /// The rows that fail a player of a member, and whether the member has a player in R.
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

    /// Divides the rows of the cells from `first` on, and their weights, among the members of a group.
    fn divide(
        &mut self,
        group: usize,
        cells: &mut Vec<u64>,
        weights: &mut Vec<f64>,
        first: usize,
        by_number: &mut [Set<W>; SIZES],
    ) {
        let end = weights.len();
        // Rows with a mixed member, and with two.
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
            // Rows for which no other member is mixed.
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

impl Share for OverHierarchy {
    type Weights = Levels;
    type Sums = ();

    fn new(levels: &Levels) -> Self {
        Self {
            counts: Counts { of_group: vec![[0; 3]; levels.tree().groups()] },
            given: Vec::new(),
            leaf: LeafLevels::default(),
            background: Vec::new(),
            cohort: OfCohort::default(),
        }
    }

    #[inline(always)]
    fn walked<'a>(
        &'a mut self,
        levels: &'a Levels,
        phi: impl FnMut(usize, f64) + 'a,
    ) -> impl Walked<Sums = ()> + 'a {
        Walking { levels, counts: &mut self.counts, given: &mut self.given, phi }
    }

    fn meets(&mut self, levels: &Levels, Seen { features, value, background }: Seen<'_>) -> bool {
        let all = all_of(features.len());
        self.leaf.set(features.iter().map(|&feature| feature as usize), levels.tree());
        self.background.clear();
        self.background.extend(
            background
                .iter()
                .map(|&(pattern, weight)| Own { features: all & !pattern, value: weight * value }),
        );
        self.leaf.len() > 0
    }

    #[inline(always)]
    fn of_pattern(
        &mut self,
        levels: &Levels,
        Seen { features, .. }: Seen<'_>,
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
        arrived: Arrived<'_, W>,
        weigh: &impl Weigh,
        phi: &mut impl FnMut(usize, f64),
    ) {
        let Self { leaf, cohort: OfCohort { places, touched, cells, weights, by_number }, .. } = self;
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
    /// Gives the values of `value · [E, R]`.
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
