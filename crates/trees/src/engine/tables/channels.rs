//! Writes the weights of a semivalue for pairs of sets as a short sum of products.
//!
//! Consider a leaf with d path features, a background pattern M, and the features C that the explicand does
//! not satisfy (C ⊆ M). Each feature that only the explicand satisfies gains with the weight
//! `M(d − 1 − |M|, |C|)`, and each feature that only the background satisfies loses with the weight
//! `M(d − |M|, |C| − 1)`. Each weight is a sum over *channels* of a factor that depends on |M| alone times a
//! factor that depends on |C| alone. Therefore sums over M ⊇ C become sums over the subsets ¬M of the
//! explicand's pattern P = ¬C, one per channel.
//!
//! With a quadrature rule (t, w) of the semivalue that is exact up to degree d − 1, a channel is a node,
//!
//! ```text
//! M(d − 1 − m, c) = Σ_q t_q^(d−1−m) · w_q (1 − t_q)^c,
//! M(d − m, c − 1) = Σ_q t_q^(d−1−m) · w_q t_q (1 − t_q)^(c−1)
//! ```
//!
//! for m < d. The single pattern with m = d, for which no feature gains, is handled separately. Weights by
//! coalition size do not have a rule; for them, there is one channel for each number of features m.

use apportion_values::Rule;

/// The channels of leaves with a given number of path features.
#[derive(Debug, Clone)]
pub(crate) struct Channels {
    /// The factors that depend on M: channels × patterns ¬M. They are 0 for the pattern of all features.
    scales: Vec<f64>,
    /// The factors of the gains that depend on C: channels × patterns P.
    gains: Vec<f64>,
    /// The gain with one feature fewer in C (for B in [`fill`](super::fill)), or 0 if C is empty: channels ×
    /// patterns P.
    without: Vec<f64>,
    /// The factors of the losses that depend on C: channels × patterns P. They are 0 if C is empty.
    losses: Vec<f64>,
    /// For each pattern P, the weight in the losses of the background pattern with all features; 0 if C is
    /// empty.
    full: Vec<f64>,
    features: usize,
}

/// The factors of one of the [`Channels`].
pub(crate) struct Channel<'a> {
    /// The factors that depend on M, indexed by ¬M.
    pub(crate) scales: &'a [f64],
    /// The factors of the gains, indexed by P.
    pub(crate) gains: &'a [f64],
    /// The gains with one feature fewer in C, indexed by P.
    pub(crate) without: &'a [f64],
    /// The factors of the losses, indexed by P.
    pub(crate) losses: &'a [f64],
}

impl Channels {
    /// Creates the channels for leaves with `features` path features, at least one. `rule` is a rule of the
    /// semivalue that is exact up to degree `features − 1`, if there is one, and `moment` returns its
    /// moments.
    pub(crate) fn new(rule: Option<Rule>, features: usize, moment: impl Fn(usize, usize) -> f64) -> Self {
        let patterns = 1_usize << features;
        // |C| indexed by P, which equals |M| indexed by ¬M.
        let sizes: Vec<usize> = (0..patterns).map(|set| features - set.count_ones() as usize).collect();
        let full = sizes.iter().map(|&size| if size > 0 { moment(0, size - 1) } else { 0.0 }).collect();
        let mut channels = Self {
            scales: Vec::new(),
            gains: Vec::new(),
            without: Vec::new(),
            losses: Vec::new(),
            full,
            features,
        };
        // Adds a channel, given its scales, and its gains and losses by |C|.
        let mut add =
            |scale: &dyn Fn(usize) -> f64, gain: &dyn Fn(usize) -> f64, loss: &dyn Fn(usize) -> f64| {
                let scales: Vec<f64> = (0..features).map(scale).collect();
                channels.scales.extend(sizes.iter().map(|&size| scales.get(size).copied().unwrap_or(0.0)));
                let gains: Vec<f64> = (0..features).map(gain).collect();
                let losses: Vec<f64> = (1..=features).map(loss).collect();
                channels.gains.extend(sizes.iter().map(|&size| gains.get(size).copied().unwrap_or(0.0)));
                let at = |by_size: &[f64], size: usize| if size > 0 { by_size[size - 1] } else { 0.0 };
                channels.without.extend(sizes.iter().map(|&size| at(&gains, size)));
                channels.losses.extend(sizes.iter().map(|&size| at(&losses, size)));
            };
        match rule {
            Some(rule) => {
                for ((&t, &absent), &weight) in rule.presence().iter().zip(rule.absence()).zip(rule.weights())
                {
                    add(
                        &|size| t.powi((features - 1 - size) as i32),
                        &|lacked| weight * absent.powi(lacked as i32),
                        &|lacked| weight * t * absent.powi(lacked as i32 - 1),
                    );
                }
            }
            None => {
                for own in 0..features {
                    // C ⊆ M, so larger C do not occur.
                    let occurs = |lacked: usize| lacked <= own;
                    add(
                        &|size| f64::from(u8::from(size == own)),
                        &|lacked| if occurs(lacked) { moment(features - 1 - own, lacked) } else { 0.0 },
                        &|lacked| if occurs(lacked) { moment(features - own, lacked - 1) } else { 0.0 },
                    );
                }
            }
        }
        channels
    }

    /// Returns the number of channels.
    pub(crate) fn len(&self) -> usize {
        self.scales.len() >> self.features
    }

    /// Iterates over all channels.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Channel<'_>> {
        let patterns = 1 << self.features;
        let scales = self.scales.chunks_exact(patterns);
        let gains = self.gains.chunks_exact(patterns);
        let rest = self.without.chunks_exact(patterns).zip(self.losses.chunks_exact(patterns));
        scales.zip(gains).zip(rest).map(|((scales, gains), (without, losses))| Channel {
            scales,
            gains,
            without,
            losses,
        })
    }

    /// Returns the weights of the full background pattern in the losses, indexed by P.
    pub(crate) fn full(&self) -> &[f64] {
        &self.full
    }
}
