//! What a cohort gives to every player: a semivalue.
//!
//! Let G_i be the rows of the cohort that fail player i, and C_k those that fail k players, sorted by adding up bits. Then
//!
//! ```text
//! φ_i += v Σ_k w(G_i ∩ C_k) M(k − 1, |R|)        φ_i −= v Σ_k w(C_k) M(k, |R| − 1)   for i ∈ R
//! ```
//!
//! with w the weight of a set: where rows weigh the same, a count of bits.

use super::leaf::{Arrived, Failed, Leaf};
use super::sets::{Numbers, SIZES, Weigh, room};
use crate::moments::Moments;

/// The memory that a leaf takes.
#[derive(Default)]
pub(crate) struct Alone {
    failed: Failed,
    by_size: Vec<u64>,
}

impl Leaf for Alone {
    type Weights = Moments;
    type To = u32;

    #[inline(always)]
    fn add<const W: usize>(
        &mut self,
        arrived: Arrived<'_, W>,
        moments: &Moments,
        weigh: &impl Weigh,
        phi: &mut impl FnMut(u32, f64),
    ) {
        let value = arrived.value;
        let by_size = room::<W, SIZES>(&mut self.by_size);
        let mut numbers = Numbers::new();
        let (sets, owners) = self.failed.of(&arrived, &mut numbers);
        numbers.sort(arrived.cohort, by_size);
        let (count, others) = (owners.len(), arrived.others());
        if count > 0 {
            let gains = moments.against(others);
            for (&own, &player) in sets.iter().zip(owners) {
                phi(player, value * weigh.weigh(own, &by_size[1..=count], gains));
            }
        }
        if others > 0 {
            let lost = value * weigh.weigh(arrived.cohort, &by_size[..=count], moments.against(others - 1));
            arrived.rest().for_each(|player| phi(player, -lost));
        }
    }
}
