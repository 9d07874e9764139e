//! Draws of coalitions, with and without replacement.

use apportion_samplers::{
    Bernoulli, FixedCounts, Order, Pairing, Sample, Sampler, SamplerError, SizeLaw, WithReplacement,
};

/// How the coalitions are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub enum Draws {
    /// Without replacement, with as many of each size as Bernoulli sampling has in expectation, rounded by systematic sampling: the
    /// budget is met exactly, and the number of coalitions of a size hardly varies. The default.
    #[default]
    FixedCounts,
    /// Without replacement, every coalition or pair entering independently, as in Algorithm 2 and Theorem 1.1 of the Leverage SHAP paper.
    /// The number of evaluations is random, the budget its expectation.
    Bernoulli,
    /// With replacement: as Kernel Banzhaf is published, and the ablation "Leverage SHAP w/o Bernoulli". Repeated coalitions are evaluated
    /// once. A larger budget continues the draws of a smaller one.
    WithReplacement,
    /// As [`FixedCounts`](Self::FixedCounts), but the coalitions for a budget are among those for every larger one; the number of each size
    /// follows the same law, within one (in pairs: two) of it.
    Growing,
    /// As [`Bernoulli`](Self::Bernoulli), but the coalitions for a budget are among those for every larger one.
    GrowingBernoulli,
}

impl Draws {
    /// The same with samples that grow.
    pub(crate) fn growing(self) -> Self {
        match self {
            Self::FixedCounts | Self::Growing => Self::Growing,
            Self::Bernoulli | Self::GrowingBernoulli => Self::GrowingBernoulli,
            Self::WithReplacement => Self::WithReplacement,
        }
    }

    /// Draws coalitions for at most `rows` evaluations (for as many in expectation by [`Bernoulli`](Self::Bernoulli) sampling), all different.
    pub(crate) fn sample(
        self,
        law: SizeLaw,
        pairing: Pairing,
        rows: usize,
        seed: u64,
    ) -> Result<Sample, SamplerError> {
        let order = if self == self.growing() { Order::Nested } else { Order::Fixed };
        match self {
            Self::FixedCounts | Self::Growing => FixedCounts { law, pairing, order }.sample(rows, seed),
            Self::Bernoulli | Self::GrowingBernoulli => Bernoulli { law, pairing, order }.sample(rows, seed),
            Self::WithReplacement => {
                Ok(WithReplacement { law, pairing }.sample(rows, seed)?.merge_duplicates())
            }
        }
    }
}
