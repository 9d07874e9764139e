//! The contributions of a leaf to every pair of players, for an interaction index.
//!
//! The second difference of `v · [E ⊆ S] [R ∩ S = ∅]` vanishes unless both players are in E ∪ R. If both are,
//! the difference is ±v if all other players of E are in S and no other player of R is, and 0 otherwise.
//! Therefore
//!
//! ```text
//! i, j ∈ E:         +v · M(|E| − 2, |R|)
//! i ∈ E, j ∈ R:     −v · M(|E| − 1, |R| − 1)
//! i, j ∈ R:         +v · M(|E|, |R| − 2)
//! ```
//!
//! The walk passes up the sums of these three terms. Consider the parting of a player j, with sums S on the
//! side of the explicand and S' on the side of the background row. The contribution to the pair of j and a
//! player i for which the rows diverged above is
//!
//! ```text
//! S.both_own − S'.mixed    for i taken from the explicand,
//! S'.both_rest − S.mixed    for i taken from the background row,
//! ```
//!
//! so that each parting takes one step for each parting above it, for any number of leaves below. For
//! patterns, the contributions to two features of R, and to one of R and a given one of E, are summed over
//! the background before they are distributed. For a cohort, with G_i and C_k as for
//! [single players](super::alone),
//!
//! ```text
//! φ_ij += v Σ_k w(G_i ∩ G_j ∩ C_k) M(k − 2, |R|)
//! φ_ij −= v Σ_k w(G_i ∩ C_k) M(k − 1, |R| − 1)      for j ∈ R
//! φ_ij += v Σ_k w(C_k) M(k, |R| − 2)                for i, j ∈ R.
//! ```

use apportion_models::tree::Node;

use super::products::Products;
use super::{LeafKernel, LeafView};
use crate::engine::bits::{all_of, count, ones};
use crate::engine::pairs::{PairShares, PairWeights, place};
use crate::engine::paths::MAX_FEATURES;
use crate::marginal::cohorts::{ArrivedCohort, Failed, Numbers, SIZES, Weigh, both, room};
use crate::marginal::walk::{Parting, WalkVisitor};

/// The working memory for contributions to pairs.
#[derive(Default)]
pub(crate) struct InPairs {
    failed: Failed,
    by_size: Vec<u64>,
    /// For each pair of players of a leaf, the number of the pair in the ensemble.
    numbers: Vec<usize>,
}

struct Walking<'a, F> {
    weights: &'a PairWeights,
    phi: F,
}

impl<F: FnMut(usize, f64)> WalkVisitor for Walking<'_, F> {
    type Sums = PairShares;

    #[inline(always)]
    fn leaf(&mut self, _: Node, value: f64, own: usize, rest: usize) -> PairShares {
        PairShares::for_leaf(&self.weights.moments, own, rest).times(value)
    }

    #[inline(always)]
    fn turn(&mut self, _: u32, _: PairShares) -> bool {
        true
    }

    #[inline(always)]
    fn join(
        &mut self,
        above: &[Parting<PairShares>],
        player: u32,
        [own, rest]: [PairShares; 2],
    ) -> PairShares {
        let with_own = own.both_own - rest.mixed;
        let with_rest = rest.both_rest - own.mixed;
        for above in above {
            let number = self.weights.pairs.number(above.player, player);
            (self.phi)(number, if above.is_own() { with_own } else { with_rest });
        }
        rest.plus(own)
    }
}

impl LeafKernel for InPairs {
    type Weights = PairWeights;
    type Sums = PairShares;

    fn new(_: &PairWeights) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn walked<'a>(
        &'a mut self,
        weights: &'a PairWeights,
        phi: impl FnMut(usize, f64) + 'a,
    ) -> impl WalkVisitor<Sums = PairShares> + 'a {
        Walking { weights, phi }
    }

    fn visit_leaf(&mut self, weights: &PairWeights, view: LeafView<'_>) -> bool {
        self.numbers.clear();
        for (high, &one) in view.features.iter().enumerate() {
            self.numbers.extend(view.features[..high].iter().map(|&other| weights.pairs.number(one, other)));
        }
        !self.numbers.is_empty() && view.value != 0.0
    }

    #[inline(always)]
    fn of_pattern(
        &mut self,
        PairWeights { moments, .. }: &PairWeights,
        LeafView { features, value, background }: LeafView<'_>,
        pattern: u64,
        mut phi: impl FnMut(usize, f64),
    ) {
        let all = all_of(features.len());
        let missing = all & !pattern;
        let mut add = |low: usize, high: usize, share: f64| {
            phi(self.numbers[place(low.min(high), low.max(high))], share);
        };
        let (mut both_rest, mut mixed) = (0.0, [0.0; MAX_FEATURES]);
        let mut complete = false;
        for &(background, weight) in background {
            if missing & !background != 0 {
                continue;
            }
            complete = true;
            let own = all & !background;
            let shares = PairShares::for_leaf(moments, count(own), count(missing)).times(weight * value);
            both_rest += shares.both_rest;
            for high in ones(own) {
                mixed[high] += shares.mixed;
                for low in ones(own & ((1 << high) - 1)) {
                    add(low, high, shares.both_own);
                }
            }
        }
        if !complete {
            return;
        }
        for high in ones(missing) {
            for low in ones(missing & ((1 << high) - 1)) {
                add(low, high, both_rest);
            }
            for own in ones(pattern) {
                add(own, high, -mixed[own]);
            }
        }
    }

    #[inline(always)]
    fn of_cohort<const W: usize>(
        &mut self,
        PairWeights { moments, pairs }: &PairWeights,
        arrived: ArrivedCohort<'_, W>,
        weigh: &impl Weigh,
        phi: &mut impl FnMut(usize, f64),
    ) {
        let value = arrived.value;
        let by_size = room::<W, SIZES>(&mut self.by_size);
        let mut numbers = Numbers::new();
        let (sets, owners) = self.failed.for_players(&arrived, &mut numbers);
        numbers.sort(arrived.cohort, by_size);
        let (count, others) = (owners.len(), arrived.others());
        if count > 1 {
            let factors = moments.against(others);
            for (high, (&set, &player)) in sets.iter().zip(owners).enumerate() {
                for (&other, &low) in sets[..high].iter().zip(owners) {
                    let share = value * weigh.weigh(both(set, other), &by_size[2..=count], factors);
                    phi(pairs.number(low, player), share);
                }
            }
        }
        if count > 0 && others > 0 {
            let factors = moments.against(others - 1);
            for (&set, &player) in sets.iter().zip(owners) {
                let share = value * weigh.weigh(set, &by_size[1..=count], factors);
                arrived.rest().for_each(|other| phi(pairs.number(player, other), -share));
            }
        }
        if others > 1 {
            let factors = moments.against(others - 2);
            let share = value * weigh.weigh(arrived.cohort, &by_size[..=count], factors);
            for (high, player) in arrived.rest().enumerate() {
                arrived.rest().take(high).for_each(|low| phi(pairs.number(low, player), share));
            }
        }
    }

    fn of_products(
        &mut self,
        PairWeights { moments, pairs }: &PairWeights,
        Products { own, rest, extensions }: &mut Products,
        value: f64,
        phi: &mut impl FnMut(usize, f64),
    ) {
        let mut add = |a: u32, b: u32, share: f64| phi(pairs.number(a, b), share);
        let mut shares = PairShares::for_leaf(moments, own.len(), rest.len()).times(value);
        if !extensions.is_empty() {
            let each = PairShares::for_leaf(moments, own.len() + 1, rest.len());
            for &(player, difference) in &*extensions {
                own.iter().for_each(|&other| add(player, other, difference * each.both_own));
                rest.iter().for_each(|&other| add(player, other, -difference * each.mixed));
            }
            let sum: f64 = extensions.iter().map(|(_, difference)| difference).sum();
            shares = shares.plus(each.times(sum));
        }
        for (players, share) in [(&*own, shares.both_own), (&*rest, shares.both_rest)] {
            for (index, &a) in players.iter().enumerate() {
                players[..index].iter().for_each(|&b| add(a, b, share));
            }
        }
        for &a in &*own {
            rest.iter().for_each(|&b| add(a, b, -shares.mixed));
        }
    }
}
