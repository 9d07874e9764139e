//! A semivalue's weights of pairs of sets as a short sum of products.
//!
//! A leaf with d path features, a pattern M of the background and the features C that the explicand lacks (C
//! ⊆ M) give weights `M(d − 1 − |M|, |C|)` to whoever gains and `M(d − |M|, |C| − 1)` to whoever loses. Each
//! is a sum over *channels* of a factor that depends on |M| alone and one that depends on |C| alone, so that
//! sums over M ⊇ C are sums over the subsets ¬M of the explicand's pattern P = ¬C, one for each channel.
//!
//! With a quadrature rule (t, w) of the semivalue that is exact to degree d − 1 a channel is a node,
//!
//! ```text
//! M(d − 1 − m, c) = Σ_q t_q^(d−1−m) · w_q (1 − t_q)^c,        M(d − m, c − 1) = Σ_q t_q^(d−1−m) · w_q t_q (1 − t_q)^(c−1)
//! ```
//!
//! for m < d; the one pattern with m = d, of whom nobody gains, is taken on its own. Weights by size have no
//! rule: there a channel is a number of features m.

use apportion_values::Rule;

/// The channels of leaves with some number of path features.
#[derive(Debug, Clone)]
pub(crate) struct Channels {
    /// Channels × patterns ¬M; 0 for the pattern of all features.
    scales: Vec<f64>,
    /// Channels × patterns P.
    gains: Vec<f64>,
    /// Channels × patterns P: what a member of C gained when it was still lacked by nobody; 0 where C is
    /// empty.
    without: Vec<f64>,
    /// Channels × patterns P; 0 where C is empty.
    losses: Vec<f64>,
    /// By pattern P: the weight of the background pattern of all features in the losses; 0 where C is empty.
    full: Vec<f64>,
    features: usize,
}

/// One of the [`Channels`].
pub(crate) struct Channel<'a> {
    /// By ¬M.
    pub(crate) scales: &'a [f64],
    /// By P.
    pub(crate) gains: &'a [f64],
    /// By P.
    pub(crate) without: &'a [f64],
    /// By P.
    pub(crate) losses: &'a [f64],
}

impl Channels {
    /// For leaves of `features` path features, at least one: of a rule that is exact to one degree less,
    /// where the semivalue has one, and of its moments.
    pub(crate) fn new(rule: Option<Rule>, features: usize, moment: impl Fn(usize, usize) -> f64) -> Self {
        let patterns = 1_usize << features;
        // |C| by P, which is |M| by ¬M.
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
        // Which channels there are, each as its scales, and its gains and losses by |C|.
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

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.scales.len() >> self.features
    }

    /// All of them.
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

    /// By pattern P.
    pub(crate) fn full(&self) -> &[f64] {
        &self.full
    }
}
