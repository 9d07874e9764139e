//! The size distribution of drawn coalitions.

/// The size distribution q of drawn coalitions, for n players. P is the size distribution of the value
/// ([`Semivalue::size_distribution`](apportion_values::Semivalue::size_distribution)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum SamplingDistribution {
    /// The distribution that is optimal for the value: `q(s) ∝ √(P(s−1)²/s + P(s)²/(n−s))`.
    ///
    /// It minimizes the sum, over the players, of the variances of unnormalized means,
    /// `Σ_s (n²/q(s)) [P(s−1)²/s + P(s)²/(n−s)]`, if all `v(S)²` are equal. For Banzhaf values, all
    /// coalitions are equally likely; for Shapley values, the distribution is
    /// [`OneSampleFitsAll`](Self::OneSampleFitsAll). For several values estimated together, the term in
    /// brackets is summed over the values. The default.
    #[default]
    Specific,
    /// `q(s) ∝ 1/√(s (n−s))` for all values (Li and Yu, 2024), so that one sample can be used for all of
    /// them. For values that depend on a few sizes only, such as Banzhaf values for large n, most of the
    /// sample is wasted: the squared error is 7 to 30 times larger for 60 to 101 players.
    OneSampleFitsAll,
}

impl SamplingDistribution {
    /// Returns the weights of the sizes `0..=n`; the weights of the sizes 0 and n are zero.
    pub(crate) fn weights(self, distributions: &[Vec<f64>], players: usize) -> Vec<f64> {
        let weight = |size: usize| match self {
            Self::Specific => {
                distributions.iter().map(|joined| squared_weight(joined, size)).sum::<f64>().sqrt()
            }
            Self::OneSampleFitsAll => 1.0 / ((size * (players - size)) as f64).sqrt(),
        };
        (0..=players).map(|size| if size == 0 || size == players { 0.0 } else { weight(size) }).collect()
    }
}

/// Returns `P(s−1)²/s + P(s)²/(n−s)` for a size s in `1..n`, where `joined` is P.
pub(super) fn squared_weight(joined: &[f64], size: usize) -> f64 {
    joined[size - 1].powi(2) / size as f64 + joined[size].powi(2) / (joined.len() - size) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_samplers::ln_choose;
    use apportion_values::Semivalue;

    #[test]
    fn the_specific_law_of_banzhaf_draws_every_coalition_alike() {
        for players in [2, 3, 10, 101, 1000] {
            let weights = SamplingDistribution::Specific
                .weights(&[Semivalue::Banzhaf.size_distribution(players)], players);
            let middle = players / 2;
            for size in 1..players {
                let expected = (ln_choose(players, size) - ln_choose(players, middle)).exp();
                let got = weights[size] / weights[middle];
                // The squares underflow below 1e-150; such sizes are never drawn.
                assert!(
                    (got - expected).abs() <= 1e-10 * expected + 1e-150,
                    "{size} of {players}: {got}, {expected}"
                );
            }
        }
    }

    #[test]
    fn the_specific_law_of_shapley_is_that_of_one_sample_fits_all() {
        for players in [2, 3, 10, 101, 1000] {
            let [specific, common] = [SamplingDistribution::Specific, SamplingDistribution::OneSampleFitsAll]
                .map(|distribution| {
                    distribution.weights(&[Semivalue::Shapley.size_distribution(players)], players)
                });
            for size in 1..players {
                let ratio = specific[size] / specific[1] * common[1] / common[size];
                assert!((ratio - 1.0).abs() < 1e-12, "{size} of {players}");
            }
        }
    }

    #[test]
    fn the_law_of_several_values_minimizes_the_sum_of_their_variances() {
        // Compares Σ_s (1/q) [P(s−1)²/s + P(s)²/(n−s)], summed over the values, for the actual q and for q
        // with a little mass moved between two sizes.
        let players = 12;
        let distributions: Vec<Vec<f64>> = [Ok(Semivalue::Banzhaf), Semivalue::beta_shapley(4.0, 1.0)]
            .map(|value| value.unwrap().size_distribution(players))
            .into();
        let weights = SamplingDistribution::Specific.weights(&distributions, players);
        let total: f64 = weights.iter().sum();
        let variance = |distribution: &[f64]| -> f64 {
            (1..players)
                .map(|size| {
                    distributions.iter().map(|joined| squared_weight(joined, size)).sum::<f64>()
                        / distribution[size]
                })
                .sum()
        };
        let distribution: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        for (from, to) in [(1, 2), (2, 1), (5, 9), (9, 5), (11, 3)] {
            let mut moved = distribution.clone();
            moved[from] -= 0.02 * distribution[from];
            moved[to] += 0.02 * distribution[from];
            assert!(variance(&moved) > variance(&distribution), "{from} to {to}");
        }
    }
}
