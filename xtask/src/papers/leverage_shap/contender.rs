//! The estimators that the paper compares.

use apportion::Estimator;
use apportion::estimators::{
    Draws, FullBudget, KernelShap, LeverageShap, OptimizedKernelShap, Pairing, PermutationShap,
};

use crate::comparison::Compete;
use crate::reproduce::figure::{Style, looks};

/// One of the paper's estimators.
///
/// Those that draw with replacement go on sampling at budgets of 2^n and more, as in the paper: they never become exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Contender {
    KernelShap,
    OptimizedKernelShap,
    LeverageShap,
    KernelShapPaired,
    LeverageShapUnpaired,
    LeverageShapWithReplacement,
    PermutationShap,
    LeverageShapBernoulli,
}

impl Contender {
    /// The three of the main figures.
    pub(crate) const MAIN: [Self; 3] = [Self::KernelShap, Self::OptimizedKernelShap, Self::LeverageShap];

    /// Those that the paper compares: its claims speak of no others.
    pub(crate) const OF_PAPER: [Self; 7] = [
        Self::KernelShap,
        Self::OptimizedKernelShap,
        Self::LeverageShap,
        Self::KernelShapPaired,
        Self::LeverageShapUnpaired,
        Self::LeverageShapWithReplacement,
        Self::PermutationShap,
    ];

    /// With the ablations, and algorithm 1 as it is printed.
    pub(crate) const ALL: [Self; 8] = [
        Self::KernelShap,
        Self::OptimizedKernelShap,
        Self::LeverageShap,
        Self::KernelShapPaired,
        Self::LeverageShapUnpaired,
        Self::LeverageShapWithReplacement,
        Self::PermutationShap,
        Self::LeverageShapBernoulli,
    ];
}

impl Compete for Contender {
    fn all() -> &'static [Self] {
        &Self::ALL
    }

    fn title(self) -> &'static str {
        match self {
            Self::KernelShap => "Kernel SHAP",
            Self::OptimizedKernelShap => "Optimized Kernel SHAP",
            Self::LeverageShap => "Leverage SHAP",
            Self::KernelShapPaired => "Kernel SHAP Paired",
            Self::LeverageShapUnpaired => "Leverage SHAP (Unpaired)",
            Self::LeverageShapWithReplacement => "Leverage SHAP w/o Bernoulli",
            Self::PermutationShap => "Permutation SHAP",
            Self::LeverageShapBernoulli => "Leverage SHAP, algorithm 1*",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::KernelShap => looks::KERNEL_SHAP,
            Self::OptimizedKernelShap => looks::OPTIMIZED_KERNEL_SHAP,
            Self::LeverageShap => looks::LEVERAGE_SHAP,
            Self::KernelShapPaired => looks::KERNEL_SHAP_PAIRED,
            Self::LeverageShapUnpaired => looks::LEVERAGE_SHAP_UNPAIRED,
            Self::LeverageShapWithReplacement => looks::LEVERAGE_SHAP_WITH_REPLACEMENT,
            Self::PermutationShap => looks::PERMUTATION_SHAP,
            Self::LeverageShapBernoulli => looks::LEVERAGE_SHAP_BERNOULLI,
        }
    }

    fn is_subject(self) -> bool {
        self == Self::LeverageShap
    }

    fn estimator(self) -> Box<dyn Estimator> {
        let leverage = LeverageShap::default();
        match self {
            Self::KernelShap => {
                Box::new(KernelShap { full_budget: FullBudget::Sample, ..KernelShap::default() })
            }
            Self::OptimizedKernelShap => Box::new(OptimizedKernelShap),
            Self::LeverageShap => Box::new(leverage),
            Self::KernelShapPaired => {
                Box::new(KernelShap { full_budget: FullBudget::Sample, ..KernelShap::paired() })
            }
            Self::LeverageShapUnpaired => Box::new(LeverageShap { pairing: Pairing::Unpaired, ..leverage }),
            Self::LeverageShapWithReplacement => Box::new(LeverageShap {
                draws: Draws::WithReplacement,
                full_budget: FullBudget::Sample,
                ..leverage
            }),
            Self::PermutationShap => Box::new(PermutationShap { full_budget: FullBudget::Sample }),
            Self::LeverageShapBernoulli => Box::new(LeverageShap { draws: Draws::Bernoulli, ..leverage }),
        }
    }
}
