//! The distribution of the size of a random coalition.
//!
//! # Notation
//!
//! There are `n` players; `s = |S|`. P(s) is the probability of size s. Given the size, all C(n, s)
//! coalitions are equally likely, so a coalition has probability P(s) / C(n, s).

use rand_chacha::ChaCha8Rng;

use crate::draw::random::unit;
use crate::error::SamplerError;
use crate::size::choose::ln_choose;

/// The distribution of the size of a random coalition, on the sizes `0..=n`. Given the size, all coalitions
/// are equally likely.
///
/// | distribution | P(s) ∝ | sizes | used by |
/// |---|---|---|---|
/// | [`leverage`](Self::leverage) | 1 | 1..=n−1 | Leverage SHAP |
/// | [`kernel`](Self::kernel) | 1 / (s (n − s)) | 1..=n−1 | Kernel SHAP |
/// | [`binomial`](Self::binomial) | C(n, s) | 0..=n | Kernel Banzhaf: all coalitions equally likely |
/// | [`custom`](Self::custom), [`from_logarithms`](Self::from_logarithms) | custom | 0..=n | |
///
/// For a single player, `leverage` and `kernel` have no possible size: all probabilities are zero, and
/// samples are empty.
///
/// ```
/// use apportion_samplers::SizeDistribution;
///
/// let distribution = SizeDistribution::kernel(4)?;
/// assert!((distribution.probability(1) / distribution.probability(2) - 4.0 / 3.0).abs() < 1e-15);
/// assert_eq!(distribution.probability(0), 0.0);
/// # Ok::<(), apportion_samplers::SamplerError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SizeDistribution {
    /// The logarithm ln P(s); −∞ if the size is never drawn. It is stored in addition to the probabilities,
    /// because probabilities of the binomial distribution underflow.
    ln_probabilities: Vec<f64>,
    probabilities: Vec<f64>,
    /// The cumulative probability of the sizes up to s; exactly 1 from the largest possible size on.
    cumulative: Vec<f64>,
}

/// Maximum number of players. Player numbers must fit in 32 bits.
const MAX_PLAYERS: usize = u32::MAX as usize;

impl SizeDistribution {
    /// Creates the uniform distribution on the sizes of proper coalitions: `P(s) = 1 / (n − 1)` on `1..=n−1`.
    ///
    /// The leverage score of a row is `ℓ_z = 1 / C(n, |z|)` (Leverage SHAP, Lemma 3.2). If rows are drawn
    /// with probabilities proportional to their leverage scores, their sizes are therefore uniformly
    /// distributed.
    ///
    /// # Errors
    ///
    /// [`SamplerError::Players`] without players.
    pub fn leverage(players: usize) -> Result<Self, SamplerError> {
        Self::on_proper_sizes(players, |_| 0.0)
    }

    /// Creates the distribution of Kernel SHAP: `P(s) ∝ w(s) C(n, s) = 1 / (s (n − s))` on `1..=n−1`
    /// (Leverage SHAP, equation 4).
    ///
    /// # Errors
    ///
    /// [`SamplerError::Players`] without players.
    pub fn kernel(players: usize) -> Result<Self, SamplerError> {
        Self::on_proper_sizes(players, |size| -(size as f64).ln() - ((players - size) as f64).ln())
    }

    /// Creates the distribution in which all coalitions are equally likely: `P(s) = C(n, s) / 2^n` on
    /// `0..=n`.
    ///
    /// The probabilities are computed from logarithms, so they do not overflow for any number of players.
    /// Probabilities that underflow are stored as zero, but their logarithms are kept.
    ///
    /// # Errors
    ///
    /// [`SamplerError::Players`] without players.
    pub fn binomial(players: usize) -> Result<Self, SamplerError> {
        check_players(players)?;
        let ln_all = players as f64 * std::f64::consts::LN_2;
        Ok(Self::from_ln_probabilities((0..=players).map(|size| ln_choose(players, size) - ln_all).collect()))
    }

    /// Creates the distribution proportional to `weights`, which contains n + 1 weights, one for each size in
    /// `0..=n`.
    ///
    /// # Errors
    ///
    /// [`SamplerError::Players`] for fewer than two weights, [`SamplerError::Weight`] for a weight that is
    /// negative or not finite, [`SamplerError::NoWeight`] if all are zero.
    pub fn custom(weights: &[f64]) -> Result<Self, SamplerError> {
        check_players(weights.len().saturating_sub(1))?;
        if let Some((size, &weight)) =
            weights.iter().enumerate().find(|(_, weight)| !weight.is_finite() || **weight < 0.0)
        {
            return Err(SamplerError::Weight { size, weight });
        }
        if weights.iter().all(|&weight| weight == 0.0) {
            return Err(SamplerError::NoWeight { sizes: weights.len() });
        }
        Ok(Self::normalized(weights.iter().map(|weight| weight.ln()).collect()))
    }

    /// Creates the distribution proportional to `exp(ln_weights[s])`, with one logarithm for each size in
    /// `0..=n`; −∞ if a size is never drawn. Meant for weights that would underflow or overflow, such as
    /// binomial coefficients for a thousand players.
    ///
    /// # Errors
    ///
    /// Same as [`custom`](Self::custom), for the exponentials. Infinite and NaN logarithms are rejected,
    /// except −∞.
    ///
    /// ```
    /// use apportion_samplers::SizeDistribution;
    ///
    /// let distribution = SizeDistribution::from_logarithms(&[2000.0, f64::NEG_INFINITY, 2000.0])?;
    /// assert_eq!(distribution.probability(0), 0.5);
    /// # Ok::<(), apportion_samplers::SamplerError>(())
    /// ```
    pub fn from_logarithms(ln_weights: &[f64]) -> Result<Self, SamplerError> {
        check_players(ln_weights.len().saturating_sub(1))?;
        let refused = |ln_weight: f64| ln_weight.is_nan() || ln_weight == f64::INFINITY;
        if let Some((size, ln_weight)) = ln_weights.iter().enumerate().find(|(_, ln)| refused(**ln)) {
            return Err(SamplerError::Weight { size, weight: ln_weight.exp() });
        }
        if ln_weights.iter().all(|&ln_weight| ln_weight == f64::NEG_INFINITY) {
            return Err(SamplerError::NoWeight { sizes: ln_weights.len() });
        }
        Ok(Self::normalized(ln_weights.to_vec()))
    }

    /// Creates the distribution on the sizes `1..=n−1` that is proportional to `exp(ln_weight(s))`.
    fn on_proper_sizes(players: usize, ln_weight: impl Fn(usize) -> f64) -> Result<Self, SamplerError> {
        check_players(players)?;
        let ln_weights = (0..=players)
            .map(|size| if size == 0 || size == players { f64::NEG_INFINITY } else { ln_weight(size) });
        Ok(Self::normalized(ln_weights.collect()))
    }

    /// Creates the distribution from logarithms of weights, which may have any common scale. All of them are
    /// −∞ only if no size is possible.
    fn normalized(mut ln_weights: Vec<f64>) -> Self {
        let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest > f64::NEG_INFINITY {
            let total: f64 = ln_weights.iter().map(|ln_weight| (ln_weight - largest).exp()).sum();
            ln_weights.iter_mut().for_each(|ln_weight| *ln_weight -= largest + total.ln());
        }
        Self::from_ln_probabilities(ln_weights)
    }

    fn from_ln_probabilities(ln_probabilities: Vec<f64>) -> Self {
        let mut probabilities: Vec<f64> = ln_probabilities.iter().map(|ln| ln.exp()).collect();
        let total: f64 = probabilities.iter().sum();
        if total > 0.0 {
            probabilities.iter_mut().for_each(|probability| *probability /= total);
        }
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = probabilities
            .iter()
            .map(|probability| {
                sum += probability;
                sum
            })
            .collect();
        // Rounding must not leave a gap below 1 into which a draw could fall.
        if let Some(last) = probabilities.iter().rposition(|&probability| probability > 0.0) {
            cumulative[last..].fill(1.0);
        }
        Self { ln_probabilities, probabilities, cumulative }
    }

    /// Returns the number of players `n`.
    pub fn players(&self) -> usize {
        self.probabilities.len() - 1
    }

    /// Returns P(s), the probability that a draw has `size` members; the probabilities sum to 1, or to 0 if
    /// no size is possible.
    ///
    /// # Panics
    ///
    /// If `size` exceeds the number of players.
    pub fn probability(&self, size: usize) -> f64 {
        self.probabilities[size]
    }

    /// Returns `ln(P(s) / C(n, s))`: the logarithm of the probability of drawing a given coalition of `size`
    /// members, or −∞ if this is impossible.
    ///
    /// # Panics
    ///
    /// If `size` exceeds the number of players.
    pub fn ln_coalition_probability(&self, size: usize) -> f64 {
        self.ln_probabilities[size] - ln_choose(self.players(), size)
    }

    /// Draws a size, or returns `None` if no size is possible. This is the case for a single player if
    /// neither the empty nor the grand coalition has a positive weight.
    ///
    /// Takes `O(log n)` time and one 64-bit word. Sizes of probability zero are never drawn.
    pub(crate) fn draw(&self, rng: &mut ChaCha8Rng) -> Option<usize> {
        let level = unit(rng);
        let size = self.cumulative.partition_point(|&cumulative| cumulative <= level);
        (size < self.cumulative.len()).then_some(size)
    }
}

fn check_players(players: usize) -> Result<(), SamplerError> {
    match players {
        1..=MAX_PLAYERS => Ok(()),
        _ => Err(SamplerError::Players { actual: players, max: MAX_PLAYERS }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_count;
    use apportion_games::{Purpose, stream};

    fn distributions(players: usize) -> [SizeDistribution; 3] {
        [
            SizeDistribution::leverage(players),
            SizeDistribution::kernel(players),
            SizeDistribution::binomial(players),
        ]
        .map(Result::unwrap)
    }

    #[test]
    fn probabilities_sum_to_one_for_any_number_of_players() {
        for players in [2, 3, 10, 64, 101, 1000, 10_000] {
            for distribution in distributions(players) {
                let total: f64 = (0..=players).map(|size| distribution.probability(size)).sum();
                assert!((total - 1.0).abs() < 1e-12, "{players} players: {total}");
            }
        }
    }

    #[test]
    fn laws_are_their_definitions() {
        for players in 2..=30 {
            let [leverage, kernel, binomial] = distributions(players);
            let n = players as f64;
            let kernel_total: f64 = (1..players).map(|s| 1.0 / (s as f64 * (n - s as f64))).sum();
            for size in 0..=players {
                let s = size as f64;
                let is_proper = size > 0 && size < players;
                let expected = [
                    if is_proper { 1.0 / (n - 1.0) } else { 0.0 },
                    if is_proper { 1.0 / (s * (n - s)) / kernel_total } else { 0.0 },
                    crate::choose(players, size).unwrap() as f64 / n.exp2(),
                ];
                for (distribution, expected) in [&leverage, &kernel, &binomial].into_iter().zip(expected) {
                    assert!(
                        (distribution.probability(size) - expected).abs() <= 1e-14 * expected,
                        "n = {players}, s = {size}"
                    );
                    let ln_one = (expected / crate::choose(players, size).unwrap() as f64).ln();
                    let difference = distribution.ln_coalition_probability(size) - ln_one;
                    assert!(
                        difference.abs() < 1e-12 || expected == 0.0,
                        "n = {players}, s = {size}: {difference}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_coalition_is_alike_under_the_binomial_law_even_where_its_probability_underflows() {
        let distribution = SizeDistribution::binomial(10_000).unwrap();
        assert_eq!(distribution.probability(3), 0.0);
        for size in [0, 1, 3, 100, 5000, 9999, 10_000] {
            let expected = -10_000.0 * std::f64::consts::LN_2;
            assert!(
                (distribution.ln_coalition_probability(size) / expected - 1.0).abs() < 1e-14,
                "size {size}"
            );
        }
    }

    #[test]
    fn custom_weights_of_any_scale_are_normalized() {
        let weights = [1.0, 0.0, 3.0];
        for scale in [1e-300, 1.0, 5e307] {
            let distribution = SizeDistribution::custom(&weights.map(|weight| weight * scale)).unwrap();
            let probabilities: Vec<f64> = (0..3).map(|size| distribution.probability(size)).collect();
            for (given, expected) in probabilities.iter().zip([0.25, 0.0, 0.75]) {
                assert!((given - expected).abs() < 1e-13, "scale {scale}: {probabilities:?}");
            }
        }
    }

    #[test]
    fn a_law_by_logarithms_is_that_of_the_weights() {
        for players in [1, 7, 1000, 5000] {
            let binomial = SizeDistribution::binomial(players).unwrap();
            let ln_weights: Vec<f64> = (0..=players).map(|size| ln_choose(players, size)).collect();
            let distribution = SizeDistribution::from_logarithms(&ln_weights).unwrap();
            for size in 0..=players {
                let difference =
                    distribution.ln_coalition_probability(size) - binomial.ln_coalition_probability(size);
                assert!(difference.abs() < 1e-11, "n = {players}, s = {size}: {difference}");
            }
        }
        let none = f64::NEG_INFINITY;
        let refused = |ln_weights: &[f64]| SizeDistribution::from_logarithms(ln_weights).unwrap_err();
        assert_eq!(refused(&[none; 3]), SamplerError::NoWeight { sizes: 3 });
        assert_eq!(refused(&[none, f64::INFINITY]), SamplerError::Weight { size: 1, weight: f64::INFINITY });
        assert!(matches!(refused(&[f64::NAN, 0.0]), SamplerError::Weight { size: 0, .. }));
        assert!(matches!(refused(&[0.0]), SamplerError::Players { actual: 0, .. }));
    }

    #[test]
    fn bad_weights_and_numbers_of_players_are_refused() {
        assert!(matches!(SizeDistribution::leverage(0), Err(SamplerError::Players { actual: 0, .. })));
        assert!(matches!(SizeDistribution::kernel(0), Err(SamplerError::Players { actual: 0, .. })));
        assert!(matches!(SizeDistribution::binomial(0), Err(SamplerError::Players { actual: 0, .. })));
        assert!(matches!(SizeDistribution::custom(&[]), Err(SamplerError::Players { actual: 0, .. })));
        assert!(matches!(SizeDistribution::custom(&[1.0]), Err(SamplerError::Players { actual: 0, .. })));
        assert_eq!(
            SizeDistribution::custom(&[1.0, -2.0]),
            Err(SamplerError::Weight { size: 1, weight: -2.0 })
        );
        assert!(matches!(
            SizeDistribution::custom(&[f64::NAN, 1.0]),
            Err(SamplerError::Weight { size: 0, .. })
        ));
        assert_eq!(SizeDistribution::custom(&[0.0; 4]), Err(SamplerError::NoWeight { sizes: 4 }));
    }

    #[test]
    fn drawn_sizes_follow_the_law() {
        const DRAWS: usize = 50_000;
        let mut rng = stream(5, Purpose::Counts, 0);
        for distribution in distributions(7)
            .into_iter()
            .chain([SizeDistribution::custom(&[0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]).unwrap()])
        {
            let mut counts = [0usize; 8];
            (0..DRAWS).for_each(|_| counts[distribution.draw(&mut rng).unwrap()] += 1);
            for (size, &count) in counts.iter().enumerate() {
                // Sizes of probability zero are never drawn.
                let what = format!("size {size}");
                assert_count(count as f64, DRAWS as f64, distribution.probability(size), (5.0, 0.0), &what);
            }
        }
    }

    #[test]
    fn one_player_has_no_proper_size() {
        let mut rng = stream(6, Purpose::Counts, 0);
        assert_eq!(SizeDistribution::leverage(1).unwrap().draw(&mut rng), None);
        assert_eq!(SizeDistribution::kernel(1).unwrap().draw(&mut rng), None);
        assert!(SizeDistribution::binomial(1).unwrap().draw(&mut rng).is_some());
    }
}
