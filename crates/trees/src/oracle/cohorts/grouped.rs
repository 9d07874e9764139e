//! What a cohort gives to players in groups: a coalitional value.
//!
//! Let X be the groups with players in R. A row that fails a player of a group in X makes that group mixed, and for two mixed groups there is
//! nothing (see [`coalitional`](crate::oracle::coalitional)). So for the members of group j only rows count for which no other group is
//! mixed. Of these let a be the number of groups outside X, other than j, with players that the row fails, and e the number of those in
//! j. With r members of j in R,
//!
//! ```text
//! φ_i += v Σ w_b M1(a, |X ∖ j|) M2(e − 1, r)   for i ∈ E ∩ S_j        φ_i −= v Σ w_b M1(a, |X ∖ j|) M2(e, r − 1)   for i ∈ R ∩ S_j,
//! ```
//!
//! and rows are sorted by a and by e as they are for players alone.

use super::super::masks::ones;
use super::MOST_DEPTH;
use super::leaf::{Arrived, Leaf};
use super::sets::{Numbers, SIZES, Set, Weigh, both, either, is_empty, less, room};
use crate::oracle::coalitional::Coalitional;

/// The memory that a leaf takes.
#[derive(Default)]
pub(crate) struct InGroups {
    groups: Vec<Group>,
    /// By group: the rows that fail one of its players.
    touched: Vec<u64>,
    by_groups: Vec<u64>,
    /// Of one group: G_i of its players, the rows by number of those, and the same by number of groups too.
    members: Vec<u64>,
    by_members: Vec<u64>,
    cells: Vec<u64>,
    gains: Vec<f64>,
    losses: Vec<f64>,
}

/// A group on the path: levels of its players, as for all.
struct Group {
    number: usize,
    live: u64,
    rest: u64,
}

impl InGroups {
    /// Finds the groups on the path.
    fn meet<const W: usize>(&mut self, arrived: &Arrived<'_, W>, coalitional: &Coalitional) {
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

impl Leaf for InGroups {
    type Weights = Coalitional;
    type To = u32;

    #[inline(always)]
    fn add<const W: usize>(
        &mut self,
        arrived: Arrived<'_, W>,
        coalitional: &Coalitional,
        weigh: &impl Weigh,
        phi: &mut impl FnMut(u32, f64),
    ) {
        self.meet(&arrived, coalitional);
        let Self { groups, touched, by_groups, members, by_members, cells, gains, losses } = self;
        let (between, within) = coalitional.moments();
        let touched = room::<W, MOST_DEPTH>(touched);
        let by_groups = room::<W, SIZES>(by_groups);
        let members = room::<W, MOST_DEPTH>(members);
        let by_members = room::<W, SIZES>(by_members);
        // Rows with a mixed group, and with two.
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
            // Rows for which no other group is mixed.
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
                phi(arrived.players[level], arrived.value * weigh.weigh(own, cells, gains));
            }
            if !is_outside {
                let lost = arrived.value * weigh.weigh(rows, cells, losses);
                ones(group.rest).for_each(|level| phi(arrived.players[level], -lost));
            }
        }
    }
}
