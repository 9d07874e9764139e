//! Sampling of coalitions, with and without replacement.

use apportion_samplers::{
    Bernoulli, FixedCounts, Order, Pairing, Sample, Sampler, SamplerError, SizeDistribution, WithReplacement,
};

/// The scheme by which coalitions are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum Draws {
    /// Without replacement. The number of coalitions of each size is its expectation under Bernoulli
    /// sampling, rounded by systematic sampling. The budget is therefore met exactly, and the number of
    /// coalitions of a size hardly varies. The default.
    #[default]
    FixedCounts,
    /// Without replacement. Every coalition or pair is included independently, as in Algorithm 2 and Theorem
    /// 1.1 of the Leverage SHAP paper. The number of evaluations is random, and its expectation is the
    /// budget.
    Bernoulli,
    /// With replacement, as in the Kernel Banzhaf paper and in the ablation "Leverage SHAP w/o Bernoulli".
    /// Repeated coalitions are evaluated once. A larger budget continues the draws of a smaller one.
    WithReplacement,
    /// Like [`FixedCounts`](Self::FixedCounts), but the coalitions for a budget are among those for every
    /// larger budget. The number of coalitions of each size has the same distribution, to within one
    /// coalition (or two in pairs).
    Growing,
    /// Like [`Bernoulli`](Self::Bernoulli), but the coalitions for a budget are among those for every larger
    /// budget.
    GrowingBernoulli,
}

impl Draws {
    /// Returns the variant with growing samples.
    pub(crate) fn growing(self) -> Self {
        match self {
            Self::FixedCounts | Self::Growing => Self::Growing,
            Self::Bernoulli | Self::GrowingBernoulli => Self::GrowingBernoulli,
            Self::WithReplacement => Self::WithReplacement,
        }
    }

    /// Draws distinct coalitions for at most `rows` evaluations (in expectation for
    /// [`Bernoulli`](Self::Bernoulli) sampling).
    pub(crate) fn sample(
        self,
        distribution: SizeDistribution,
        pairing: Pairing,
        rows: usize,
        seed: u64,
    ) -> Result<Sample, SamplerError> {
        let order = if self == self.growing() { Order::Nested } else { Order::Fixed };
        match self {
            Self::FixedCounts | Self::Growing => {
                FixedCounts { distribution, pairing, order }.sample(rows, seed)
            }
            Self::Bernoulli | Self::GrowingBernoulli => {
                Bernoulli { distribution, pairing, order }.sample(rows, seed)
            }
            Self::WithReplacement => {
                Ok(WithReplacement { distribution, pairing }.sample(rows, seed)?.merge_duplicates())
            }
        }
    }
}
