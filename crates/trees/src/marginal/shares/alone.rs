//! The contributions of a leaf to every player, for a semivalue.
//!
//! For a cohort, let G_i be the rows that fail a test of player i, and C_k the rows that fail tests of
//! exactly k players, which are found by adding up bits. Then
//!
//! ```text
//! φ_i += v Σ_k w(G_i ∩ C_k) M(k − 1, |R|)        φ_i −= v Σ_k w(C_k) M(k, |R| − 1)   for i ∈ R
//! ```
//!
//! with w the weight of a set: a bit count if all rows have the same weight.

use apportion_models::tree::Node;

use super::products::Products;
use super::{LeafKernel, LeafView};
use crate::engine::bits::{all_of, count, ones};
use crate::engine::moments::Moments;
use crate::marginal::cohorts::{ArrivedCohort, Failed, Numbers, SIZES, Weigh, room};
use crate::marginal::walk::{Parting, WalkVisitor};

/// The working memory for contributions to players.
#[derive(Default)]
pub(crate) struct Alone {
    failed: Failed,
    by_size: Vec<u64>,
}

struct Walking<'a, F> {
    moments: &'a Moments,
    phi: F,
}

impl<F: FnMut(usize, f64)> WalkVisitor for Walking<'_, F> {
    /// The sum of gains and the sum of losses.
    type Sums = (f64, f64);

    #[inline(always)]
    fn leaf(&mut self, _: Node, value: f64, own: usize, rest: usize) -> (f64, f64) {
        let (gain, loss) = self.moments.shares(own, rest);
        (value * gain, value * loss)
    }

    #[inline(always)]
    fn turn(&mut self, player: u32, sums: (f64, f64)) -> bool {
        (self.phi)(player as usize, sums.0);
        true
    }

    #[inline(always)]
    fn join(&mut self, _: &[Parting<(f64, f64)>], player: u32, [own, rest]: [(f64, f64); 2]) -> (f64, f64) {
        (self.phi)(player as usize, -rest.1);
        (rest.0 + own.0, rest.1 + own.1)
    }
}

impl LeafKernel for Alone {
    type Weights = Moments;
    type Sums = (f64, f64);

    fn new(_: &Moments) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn walked<'a>(
        &'a mut self,
        moments: &'a Moments,
        phi: impl FnMut(usize, f64) + 'a,
    ) -> impl WalkVisitor<Sums = (f64, f64)> + 'a {
        Walking { moments, phi }
    }

    #[inline(always)]
    fn visit_leaf(&mut self, _: &Moments, _: LeafView<'_>) -> bool {
        true
    }

    #[inline(always)]
    fn of_pattern(
        &mut self,
        moments: &Moments,
        LeafView { features, value, background }: LeafView<'_>,
        pattern: u64,
        mut phi: impl FnMut(usize, f64),
    ) {
        let all = all_of(features.len());
        let missing = all & !pattern;
        let rest = count(missing);
        let mut lost = 0.0;
        for &(background, weight) in background {
            if missing & !background != 0 {
                continue;
            }
            let own = all & !background;
            let (gain, loss) = moments.shares(count(own), rest);
            let value = weight * value;
            lost += value * loss;
            ones(own).for_each(|bit| phi(features[bit] as usize, value * gain));
        }
        if lost != 0.0 {
            ones(missing).for_each(|bit| phi(features[bit] as usize, -lost));
        }
    }

    #[inline(always)]
    fn of_cohort<const W: usize>(
        &mut self,
        moments: &Moments,
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
        if count > 0 {
            let gains = moments.against(others);
            for (&own, &player) in sets.iter().zip(owners) {
                phi(player as usize, value * weigh.weigh(own, &by_size[1..=count], gains));
            }
        }
        if others > 0 {
            let lost = value * weigh.weigh(arrived.cohort, &by_size[..=count], moments.against(others - 1));
            arrived.rest().for_each(|player| phi(player as usize, -lost));
        }
    }

    /// The extensions differ in one player only, so the contributions to all other players follow from the
    /// sum of the extensions.
    fn of_products(
        &mut self,
        moments: &Moments,
        products: &mut Products,
        value: f64,
        phi: &mut impl FnMut(usize, f64),
    ) {
        let Products { own, rest, extensions } = products;
        let (mut gain, mut loss) = moments.shares(own.len(), rest.len());
        (gain, loss) = (value * gain, value * loss);
        if !extensions.is_empty() {
            let (each, from_rest) = moments.shares(own.len() + 1, rest.len());
            let mut sum = 0.0;
            for &(player, difference) in &*extensions {
                phi(player as usize, difference * each);
                sum += difference;
            }
            gain += sum * each;
            loss += sum * from_rest;
        }
        own.iter().for_each(|&player| phi(player as usize, gain));
        rest.iter().for_each(|&player| phi(player as usize, -loss));
    }
}
