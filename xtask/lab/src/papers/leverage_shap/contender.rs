//! The estimators compared in this paper.

use apportion::estimators::{
    Draws, FullBudget, KernelShap, LeverageShap, OptimizedKernelShap, Pairing, PermutationShap,
};

use super::passes::PassesOfShap;
use crate::comparison::contenders;

/// Estimators continue to sample at budgets of 2^n and more, as in the paper.
const FULL_BUDGET: FullBudget = FullBudget::Sample;

contenders! {
    /// One of the paper's estimators or, with an asterisk, a variant added by this project.
    ///
    /// Estimators that draw with replacement keep sampling at budgets of 2^n and more, as in the paper, and
    /// thus never become exact.
    subject LeverageShap;
    KernelShap: "Kernel SHAP", KERNEL_SHAP, KernelShap::default().with_full_budget(FULL_BUDGET);
    OptimizedKernelShap: "Optimized Kernel SHAP", OPTIMIZED_KERNEL_SHAP, OptimizedKernelShap;
    LeverageShap: "Leverage SHAP", LEVERAGE_SHAP, LeverageShap::default().with_draws(Draws::Bernoulli);
    KernelShapPaired: "Kernel SHAP Paired", KERNEL_SHAP_PAIRED,
        KernelShap::paired().with_full_budget(FULL_BUDGET);
    LeverageShapUnpaired: "Leverage SHAP (Unpaired)", LEVERAGE_SHAP_UNPAIRED,
        LeverageShap::default()
            .with_pairing(Pairing::Unpaired)
            .with_draws(Draws::WithReplacement)
            .with_full_budget(FULL_BUDGET);
    LeverageShapWithReplacement: "Leverage SHAP w/o Bernoulli", LEVERAGE_SHAP_WITH_REPLACEMENT,
        LeverageShap::default().with_draws(Draws::WithReplacement).with_full_budget(FULL_BUDGET);
    PermutationShap: "Permutation SHAP", PERMUTATION_SHAP,
        PassesOfShap(PermutationShap::default().with_full_budget(FULL_BUDGET));
    LeverageShapDeterministic: "Leverage SHAP, deterministic counts*", LEVERAGE_SHAP_DETERMINISTIC,
        LeverageShap::default();
    LeverageShapUnpairedDistinct: "Leverage SHAP (Unpaired), without replacement*",
        LEVERAGE_SHAP_UNPAIRED_DISTINCT, LeverageShap::default().with_pairing(Pairing::Unpaired);
    PermutationShapWholeBudget: "Permutation SHAP, whole budget*", PERMUTATION_SHAP_WHOLE_BUDGET,
        PermutationShap::default().with_full_budget(FULL_BUDGET);
}

impl Contender {
    /// The three estimators of the main figures.
    pub(crate) const MAIN: [Self; 3] = [Self::KernelShap, Self::OptimizedKernelShap, Self::LeverageShap];

    /// The estimators of the paper, to which its claims are limited.
    pub(crate) const OF_PAPER: [Self; 7] = [
        Self::KernelShap,
        Self::OptimizedKernelShap,
        Self::LeverageShap,
        Self::KernelShapPaired,
        Self::LeverageShapUnpaired,
        Self::LeverageShapWithReplacement,
        Self::PermutationShap,
    ];
}
