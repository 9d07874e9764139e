//! The methods by name.

use apportion_estimators::{
    Draws, Estimator, KernelBanzhaf, KernelShap, LeverageShap, MaximumSampleReuse, MonteCarlo,
    OptimizedKernelShap, Pairing, PermutationShap, SamplingLaw,
};
use apportion_values::{LeastSquaresForm, Semivalue};

use crate::error::ExplainError;

/// How values are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Method {
    /// The tree oracle where the model is a tree ensemble; else enumeration where the budget covers all `2^n` coalitions; else
    /// what [`sampled`](Self::sampled) says.
    #[default]
    Auto,
    /// Exact values of a tree ensemble, without evaluations.
    Tree,
    /// Exact values by enumeration of all `2^n` coalitions, n ≤ 25.
    Exact,
    /// Leverage SHAP.
    LeverageShap,
    /// Leverage SHAP as analysed in Theorem 1.1: pairs enter independently, the budget is met in expectation.
    LeverageShapBernoulli,
    /// Leverage SHAP without pairs, an ablation.
    LeverageShapUnpaired,
    /// Leverage SHAP with replacement, an ablation.
    LeverageShapWithReplacement,
    /// Kernel SHAP.
    KernelShap,
    /// Kernel SHAP with paired sampling.
    KernelShapPaired,
    /// Kernel SHAP as optimized in the `shap` library.
    OptimizedKernelShap,
    /// Permutation SHAP, forward and reverse.
    Permutation,
    /// Kernel Banzhaf as published: pairs drawn with replacement. For Banzhaf and weighted Banzhaf values.
    KernelBanzhaf,
    /// Kernel Banzhaf without replacement.
    KernelBanzhafWithoutReplacement,
    /// Kernel Banzhaf without pairs, an ablation.
    KernelBanzhafUnpaired,
    /// Monte Carlo, each player on its own. For every value.
    MonteCarlo,
    /// Maximum sample reuse: all players from the same coalitions. For every value.
    Msr,
    /// Maximum sample reuse with coalitions that suit all values alike.
    OneSampleFitsAll,
    /// Maximum sample reuse of what a linear model leaves unexplained. For every value.
    MsrAdjusted,
}

impl Method {
    /// All methods, in the order in which they are listed to users.
    pub const ALL: [Self; 18] = [
        Self::Auto,
        Self::Tree,
        Self::Exact,
        Self::LeverageShap,
        Self::LeverageShapBernoulli,
        Self::LeverageShapUnpaired,
        Self::LeverageShapWithReplacement,
        Self::KernelShap,
        Self::KernelShapPaired,
        Self::OptimizedKernelShap,
        Self::Permutation,
        Self::KernelBanzhaf,
        Self::KernelBanzhafWithoutReplacement,
        Self::KernelBanzhafUnpaired,
        Self::MonteCarlo,
        Self::Msr,
        Self::OneSampleFitsAll,
        Self::MsrAdjusted,
    ];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Tree => "tree",
            Self::Exact => "exact",
            Self::LeverageShap => "leverage-shap",
            Self::LeverageShapBernoulli => "leverage-shap-bernoulli",
            Self::LeverageShapUnpaired => "leverage-shap-unpaired",
            Self::LeverageShapWithReplacement => "leverage-shap-with-replacement",
            Self::KernelShap => "kernel-shap",
            Self::KernelShapPaired => "kernel-shap-paired",
            Self::OptimizedKernelShap => "optimized-kernel-shap",
            Self::Permutation => "permutation",
            Self::KernelBanzhaf => "kernel-banzhaf",
            Self::KernelBanzhafWithoutReplacement => "kernel-banzhaf-without-replacement",
            Self::KernelBanzhafUnpaired => "kernel-banzhaf-unpaired",
            Self::MonteCarlo => "monte-carlo",
            Self::Msr => "msr",
            Self::OneSampleFitsAll => "one-sample-fits-all",
            Self::MsrAdjusted => "msr-adjusted",
        }
    }

    /// The estimator of `value` behind the name; none for the exact methods and [`Auto`](Self::Auto), and where the method cannot compute
    /// the value.
    pub fn estimator(self, value: &Semivalue) -> Option<Box<dyn Estimator>> {
        let value = &value.simplified();
        let leverage = LeverageShap::default();
        let estimator: Box<dyn Estimator> = match self {
            Self::Auto | Self::Tree | Self::Exact => return None,
            Self::LeverageShap => Box::new(leverage),
            Self::LeverageShapBernoulli => Box::new(LeverageShap { draws: Draws::Bernoulli, ..leverage }),
            Self::LeverageShapUnpaired => Box::new(LeverageShap { pairing: Pairing::Unpaired, ..leverage }),
            Self::LeverageShapWithReplacement => {
                Box::new(LeverageShap { draws: Draws::WithReplacement, ..leverage })
            }
            Self::KernelShap => Box::new(KernelShap::default()),
            Self::KernelShapPaired => Box::new(KernelShap::paired()),
            Self::OptimizedKernelShap => Box::new(OptimizedKernelShap),
            Self::Permutation => Box::new(PermutationShap::default()),
            Self::KernelBanzhaf => Box::new(kernel_banzhaf(value)?),
            Self::KernelBanzhafWithoutReplacement => {
                Box::new(KernelBanzhaf { draws: Draws::FixedCounts, ..kernel_banzhaf(value)? })
            }
            Self::KernelBanzhafUnpaired => {
                Box::new(KernelBanzhaf { pairing: Pairing::Unpaired, ..kernel_banzhaf(value)? })
            }
            Self::MonteCarlo => Box::new(MonteCarlo::new(value.clone())),
            Self::Msr => Box::new(MaximumSampleReuse::new(value.clone())),
            Self::OneSampleFitsAll => Box::new(MaximumSampleReuse {
                law: SamplingLaw::OneSampleFitsAll,
                ..MaximumSampleReuse::new(value.clone())
            }),
            Self::MsrAdjusted => Box::new(MaximumSampleReuse::adjusted(value.clone())),
        };
        (estimator.value() == *value).then_some(estimator)
    }

    /// Whether the method can compute `value`.
    pub fn computes(self, value: &Semivalue) -> bool {
        matches!(self, Self::Auto | Self::Tree | Self::Exact) || self.estimator(value).is_some()
    }

    /// The most accurate sampled method for `value`: Leverage SHAP for Shapley values, Kernel Banzhaf without replacement for (weighted)
    /// Banzhaf values, regression-adjusted maximum sample reuse for all others.
    pub fn sampled(value: &Semivalue) -> Self {
        [Self::LeverageShap, Self::KernelBanzhafWithoutReplacement]
            .into_iter()
            .find(|method| method.computes(value))
            .unwrap_or(Self::MsrAdjusted)
    }
}

/// Kernel Banzhaf as published, for the values that are such a regression.
fn kernel_banzhaf(value: &Semivalue) -> Option<KernelBanzhaf> {
    match value.least_squares()? {
        LeastSquaresForm::Centred { .. } => {
            Some(KernelBanzhaf { value: value.clone(), ..KernelBanzhaf::default() })
        }
        _ => None,
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Method {
    type Err = ExplainError;

    fn from_str(name: &str) -> Result<Self, ExplainError> {
        Self::ALL
            .into_iter()
            .find(|method| method.name() == name)
            .ok_or_else(|| ExplainError::UnknownMethod { given: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_and_is_the_estimators_own() {
        for method in Method::ALL {
            assert_eq!(method.name().parse::<Method>().unwrap(), method);
            for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
                if let Some(estimator) = method.estimator(&value) {
                    assert_eq!((estimator.name(), estimator.value()), (method.name(), value));
                }
            }
        }
    }

    #[test]
    fn every_value_has_a_sampled_method_that_computes_it() {
        for (name, sampled) in [
            ("shapley", Method::LeverageShap),
            ("banzhaf", Method::KernelBanzhafWithoutReplacement),
            ("weighted-banzhaf=0.2", Method::KernelBanzhafWithoutReplacement),
            ("beta=4,1", Method::MsrAdjusted),
            ("size-law=0.5,0.5", Method::MsrAdjusted),
            ("mixture=0.1:0.5,0.9:0.5", Method::MsrAdjusted),
        ] {
            let value = name.parse().unwrap();
            assert_eq!(Method::sampled(&value), sampled, "{name}");
            assert!(sampled.computes(&value), "{name}");
        }
        let (shapley, banzhaf) = ("beta=1,1".parse().unwrap(), "weighted-banzhaf=0.5".parse().unwrap());
        assert_eq!(Method::sampled(&shapley), Method::LeverageShap);
        assert!(Method::KernelBanzhaf.computes(&banzhaf));
        assert!(!Method::Permutation.computes(&Semivalue::Banzhaf));
        assert!(!Method::KernelBanzhaf.computes(&Semivalue::Shapley));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let message = "treeshap".parse::<Method>().unwrap_err().to_string();
        assert!(Method::ALL.into_iter().all(|method| message.contains(method.name())), "{message}");
    }
}
