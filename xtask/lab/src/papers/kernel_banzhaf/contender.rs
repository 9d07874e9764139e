//! The estimators compared in this paper.

use apportion::Semivalue;
use apportion::estimators::{
    Accounting, FullBudget, KernelBanzhaf, LeverageShap, MaximumSampleReuse, MonteCarlo, OptimizedKernelShap,
    Pairing, StandardErrors,
};

use crate::comparison::contenders;

/// Estimators continue to sample at budgets of 2^n and more, as in the paper.
const FULL_BUDGET: FullBudget = FullBudget::Sample;

/// Standard errors are omitted, since no figure shows them.
const STANDARD_ERRORS: StandardErrors = StandardErrors::Omitted;

fn kernel_banzhaf(pairing: Pairing) -> KernelBanzhaf {
    KernelBanzhaf::default()
        .with_pairing(pairing)
        .with_standard_errors(STANDARD_ERRORS)
        .with_full_budget(FULL_BUDGET)
}

fn monte_carlo(accounting: Accounting) -> MonteCarlo {
    MonteCarlo::new(Semivalue::Banzhaf).with_accounting(accounting).with_full_budget(FULL_BUDGET)
}

contenders! {
    /// One of the estimators in the paper: estimators of Banzhaf values and, for comparison, two estimators
    /// of Shapley values, each for two games. MC is included twice, once for each way of counting its
    /// samples.
    ///
    /// None of them computes standard errors. Estimators that draw with replacement keep sampling at budgets
    /// of 2^n and more, as in the paper, and thus never become exact.
    subject KernelBanzhaf;
    KernelBanzhaf: "Kernel Banzhaf", KERNEL_BANZHAF, kernel_banzhaf(KernelBanzhaf::default().pairing);
    KernelBanzhafUnpaired: "Kernel Banzhaf (Excluding Pairs)", KERNEL_BANZHAF_UNPAIRED,
        kernel_banzhaf(Pairing::Unpaired);
    KernelBanzhafWithoutReplacement: "Kernel Banzhaf (SWOR)", KERNEL_BANZHAF_WITHOUT_REPLACEMENT,
        KernelBanzhaf::without_replacement().with_standard_errors(STANDARD_ERRORS);
    MonteCarlo: "MC", MONTE_CARLO, monte_carlo(MonteCarlo::new(Semivalue::Banzhaf).accounting);
    MonteCarloTwice: "MC (2m evaluations)", MONTE_CARLO_TWICE, monte_carlo(Accounting::Subsets);
    Msr: "MSR", MAXIMUM_SAMPLE_REUSE,
        MaximumSampleReuse::new(Semivalue::Banzhaf)
            .with_standard_errors(STANDARD_ERRORS)
            .with_full_budget(FULL_BUDGET);
    LeverageShap: "Leverage SHAP", LEVERAGE_SHAP,
        LeverageShap::default().with_standard_errors(STANDARD_ERRORS);
    OptimizedKernelShap: "Optimized Kernel SHAP", OPTIMIZED_KERNEL_SHAP, OptimizedKernelShap;
    LeverageShapOnRows: "Leverage SHAP (50 rows)", LEVERAGE_SHAP_ON_ROWS,
        LeverageShap::default().with_standard_errors(STANDARD_ERRORS);
    OptimizedKernelShapOnRows: "Optimized Kernel SHAP (50 rows)", OPTIMIZED_KERNEL_SHAP_ON_ROWS,
        OptimizedKernelShap;
}

/// The game to which an estimator is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GameOf {
    PathDependent,
    /// The marginal game with the column means as baseline.
    Baseline,
    /// The marginal game with background rows.
    Rows,
}

impl Contender {
    /// Estimators of Banzhaf values, at equal evaluations.
    pub(crate) const BANZHAF: [Self; 4] =
        [Self::KernelBanzhaf, Self::KernelBanzhafUnpaired, Self::MonteCarlo, Self::Msr];

    /// Same as [`Self::BANZHAF`], plus MC with samples counted as in the paper's code.
    pub(crate) const BANZHAF_AND_MC_TWICE: [Self; 5] = [
        Self::KernelBanzhaf,
        Self::KernelBanzhafUnpaired,
        Self::MonteCarlo,
        Self::MonteCarloTwice,
        Self::Msr,
    ];

    /// The three regressions: one for Banzhaf values and two for Shapley values.
    pub(crate) const REGRESSIONS: [Self; 3] =
        [Self::KernelBanzhaf, Self::LeverageShap, Self::OptimizedKernelShap];

    /// The three regressions, where Shapley values are estimated for the game with background rows.
    pub(crate) const REGRESSIONS_ON_ROWS: [Self; 3] =
        [Self::KernelBanzhaf, Self::LeverageShapOnRows, Self::OptimizedKernelShapOnRows];

    /// The regressions for Banzhaf and Shapley values, the latter for both games to which they are applied.
    pub(crate) const ALL_REGRESSIONS: [Self; 5] = [
        Self::KernelBanzhaf,
        Self::LeverageShap,
        Self::OptimizedKernelShap,
        Self::LeverageShapOnRows,
        Self::OptimizedKernelShapOnRows,
    ];

    /// The replacement of absent features in the game for Shapley values, with the corresponding regressions.
    pub(crate) const BY_BACKGROUND: [(&str, [Self; 3]); 2] =
        [("one baseline", Self::REGRESSIONS), ("50 background rows", Self::REGRESSIONS_ON_ROWS)];

    pub(crate) fn game(self) -> GameOf {
        match self {
            Self::LeverageShap | Self::OptimizedKernelShap => GameOf::Baseline,
            Self::LeverageShapOnRows | Self::OptimizedKernelShapOnRows => GameOf::Rows,
            _ => GameOf::PathDependent,
        }
    }

    /// Returns the kind of value that the estimator estimates.
    pub(crate) fn value(self) -> Semivalue {
        match self.game() {
            GameOf::PathDependent => Semivalue::Banzhaf,
            GameOf::Baseline | GameOf::Rows => Semivalue::Shapley,
        }
    }
}
