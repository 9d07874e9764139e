//! What a cohort gives to every pair of players: an interaction index.
//!
//! With G_i and C_k as for [players alone](super::alone),
//!
//! ```text
//! φ_ij += v Σ_k w(G_i ∩ G_j ∩ C_k) M(k − 2, |R|)
//! φ_ij −= v Σ_k w(G_i ∩ C_k) M(k − 1, |R| − 1)      for j ∈ R
//! φ_ij += v Σ_k w(C_k) M(k, |R| − 2)                for i, j ∈ R.
//! ```

use super::leaf::{Arrived, Failed, Leaf};
use super::sets::{Numbers, SIZES, Weigh, both, room};
use crate::moments::Moments;

/// The memory that a leaf takes.
#[derive(Default)]
pub(crate) struct InPairs {
    failed: Failed,
    by_size: Vec<u64>,
}

impl Leaf for InPairs {
    type Weights = Moments;
    type To = (u32, u32);

    #[inline(always)]
    fn add<const W: usize>(
        &mut self,
        arrived: Arrived<'_, W>,
        moments: &Moments,
        weigh: &impl Weigh,
        phi: &mut impl FnMut((u32, u32), f64),
    ) {
        let value = arrived.value;
        let by_size = room::<W, SIZES>(&mut self.by_size);
        let mut numbers = Numbers::new();
        let (sets, owners) = self.failed.of(&arrived, &mut numbers);
        numbers.sort(arrived.cohort, by_size);
        let (count, others) = (owners.len(), arrived.others());
        if count > 1 {
            let factors = moments.against(others);
            for (high, (&set, &player)) in sets.iter().zip(owners).enumerate() {
                for (&other, &low) in sets[..high].iter().zip(owners) {
                    let share = value * weigh.weigh(both(set, other), &by_size[2..=count], factors);
                    phi((low, player), share);
                }
            }
        }
        if count > 0 && others > 0 {
            let factors = moments.against(others - 1);
            for (&set, &player) in sets.iter().zip(owners) {
                let share = value * weigh.weigh(set, &by_size[1..=count], factors);
                arrived.rest().for_each(|other| phi((player, other), -share));
            }
        }
        if others > 1 {
            let factors = moments.against(others - 2);
            let share = value * weigh.weigh(arrived.cohort, &by_size[..=count], factors);
            for (high, player) in arrived.rest().enumerate() {
                arrived.rest().take(high).for_each(|low| phi((low, player), share));
            }
        }
    }
}
