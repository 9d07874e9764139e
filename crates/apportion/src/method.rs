//! The methods by name.

use apportion_estimators::{
    Draws, Estimator, KernelShap, LeverageShap, OptimizedKernelShap, Pairing, PermutationShap,
};
use apportion_values::Semivalue;

use crate::error::ExplainError;

/// How values are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Method {
    /// The tree oracle where the model is a tree ensemble; else enumeration where the budget covers all `2^n` coalitions; else
    /// Leverage SHAP.
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
}

impl Method {
    /// All methods, in the order in which they are listed to users.
    pub const ALL: [Self; 11] = [
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
        }
    }

    /// The estimator behind the name; none for the exact methods and [`Auto`](Self::Auto).
    pub fn estimator(self) -> Option<Box<dyn Estimator>> {
        let leverage = LeverageShap::default();
        Some(match self {
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
        })
    }

    /// Whether the method can compute `value`.
    pub fn computes(self, value: &Semivalue) -> bool {
        self.estimator().is_none_or(|estimator| estimator.value() == *value)
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
            if let Some(estimator) = method.estimator() {
                assert_eq!(estimator.name(), method.name());
            }
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let message = "treeshap".parse::<Method>().unwrap_err().to_string();
        assert!(Method::ALL.into_iter().all(|method| message.contains(method.name())), "{message}");
    }
}
