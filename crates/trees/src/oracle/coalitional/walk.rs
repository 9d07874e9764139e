//! One explicand against one background row: only nodes that some mixture of the two can reach, and that count.
//!
//! The walk is that of semivalues, with the features of each group counted on the way. A branch that would mix a second group is left
//! out with everything below it. At a leaf each parting on the way gets the share of its feature.

use super::super::walk::Pair;
use super::Coalitional;
use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// The two rows that a feature may be taken from, as places in a pair.
const EXPLICAND: usize = 0;
const BACKGROUND: usize = 1;
/// A feature whose tests both rows have passed or failed alike so far.
const FREE: usize = 2;

/// A split at which explicand and background row part.
struct Parting {
    feature: usize,
    group: usize,
    /// The row that the feature is taken from.
    side: usize,
    /// The child that the background row goes to, while it is still to be visited.
    background_child: Option<usize>,
    /// The feature's value on the leaves of this side.
    sum: f64,
}

/// The memory of a walk, made once per thread.
pub(crate) struct GroupedWalk {
    taken: Vec<usize>,
    partings: Vec<Parting>,
    counts: Counts,
}

/// Which features the current path takes from which row, group by group.
struct Counts {
    /// Per group: features taken from either row.
    of_group: Vec<[usize; 2]>,
    /// Groups all of whose features are taken from the same row.
    whole: [usize; 2],
    /// The one group with features from both.
    mixed: Option<usize>,
}

impl Counts {
    /// Takes a feature of `group` from one row; `false`, and nothing done, if that would mix a second group.
    fn enter(&mut self, group: usize, side: usize) -> bool {
        let counts = &mut self.of_group[group];
        if counts[side] == 0 {
            if counts[1 - side] == 0 {
                self.whole[side] += 1;
            } else if self.mixed.is_some() {
                return false;
            } else {
                self.mixed = Some(group);
                self.whole[1 - side] -= 1;
            }
        }
        counts[side] += 1;
        true
    }

    /// The opposite of [`enter`](Self::enter).
    fn leave(&mut self, group: usize, side: usize) {
        let counts = &mut self.of_group[group];
        counts[side] -= 1;
        if counts[side] == 0 {
            if counts[1 - side] == 0 {
                self.whole[side] -= 1;
            } else {
                self.mixed = None;
                self.whole[1 - side] += 1;
            }
        }
    }
}

impl GroupedWalk {
    pub(crate) fn new(features: usize, groups: usize) -> Self {
        Self {
            taken: vec![FREE; features],
            partings: Vec::new(),
            counts: Counts { of_group: vec![[0; 2]; groups], whole: [0; 2], mixed: None },
        }
    }

    /// Adds the values of the game `weight · f(x_S, b_rest)` on one tree to `phi`, feature by feature.
    pub(crate) fn add(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        coalitional: &Coalitional,
        pair: Pair<'_>,
        mut phi: impl FnMut(usize, f64),
    ) {
        let mut at = 0;
        loop {
            let node = nodes[at];
            if !node.is_leaf() {
                let feature = node.feature();
                let left = ensemble.goes_left(node, pair.explicand[feature]);
                let background_left = ensemble.goes_left(node, pair.background[feature]);
                let children = [left, background_left].map(|left| node.left() + usize::from(!left));
                at = children[EXPLICAND];
                if left != background_left {
                    let side = match self.taken[feature] {
                        FREE => self.part(feature, coalitional.group_of[feature] as usize, children),
                        taken => taken,
                    };
                    at = children[side];
                }
                continue;
            }
            self.gather(pair.weight * node.value(), coalitional);
            // Back to the last parting whose other side is still to go.
            loop {
                let Some(parting) = self.partings.last_mut() else { return };
                let &mut Parting { feature, group, side, sum, .. } = parting;
                phi(feature, sum);
                self.counts.leave(group, side);
                if let Some(child) = parting.background_child.take()
                    && self.counts.enter(group, BACKGROUND)
                {
                    (parting.side, parting.sum) = (BACKGROUND, 0.0);
                    self.taken[feature] = BACKGROUND;
                    at = child;
                    break;
                }
                self.taken[feature] = FREE;
                self.partings.pop();
            }
        }
    }

    /// Parts at a split on a free feature, and says on which side to go on.
    fn part(&mut self, feature: usize, group: usize, children: [usize; 2]) -> usize {
        let mut parting = Parting {
            feature,
            group,
            side: EXPLICAND,
            background_child: Some(children[BACKGROUND]),
            sum: 0.0,
        };
        if !self.counts.enter(group, EXPLICAND) {
            // The group was of the background alone. It stays so: that never mixes a second group.
            self.counts.enter(group, BACKGROUND);
            (parting.side, parting.background_child) = (BACKGROUND, None);
        }
        self.taken[feature] = parting.side;
        let side = parting.side;
        self.partings.push(parting);
        side
    }

    /// Adds the shares of a leaf of this value.
    fn gather(&mut self, value: f64, coalitional: &Coalitional) {
        let (between, within) = (&coalitional.moments.between, &coalitional.moments.within);
        let [own, rest] = self.counts.whole;
        let Some(mixed) = self.counts.mixed else {
            let (gain, loss) = between.shares(own, rest);
            let shares = [value * gain, -value * loss];
            for parting in &mut self.partings {
                let fellows = self.counts.of_group[parting.group][parting.side] - 1;
                let place = if parting.side == EXPLICAND { (fellows, 0) } else { (0, fellows) };
                parting.sum += shares[parting.side] * within.get(place.0, place.1);
            }
            return;
        };
        let value = value * between.get(own, rest);
        let [own, rest] = self.counts.of_group[mixed];
        let (gain, loss) = within.shares(own, rest);
        let shares = [value * gain, -value * loss];
        for parting in self.partings.iter_mut().filter(|parting| parting.group == mixed) {
            parting.sum += shares[parting.side];
        }
    }
}
