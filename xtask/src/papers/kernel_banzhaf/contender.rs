//! The estimators that the paper compares.

use apportion::estimators::{
    Accounting, FullBudget, KernelBanzhaf, LeverageShap, MaximumSampleReuse, MonteCarlo, OptimizedKernelShap,
    Pairing, StandardErrors,
};
use apportion::{Estimator, Semivalue};

use crate::comparison::Compete;
use crate::reproduce::figure::{Style, looks};

/// One of the paper's estimators: of Banzhaf values, and for comparison two of Shapley values.
///
/// Without standard errors, which no figure shows. Those that draw with replacement go on sampling at budgets of 2^n and more, as in the paper: they never become exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Contender {
    KernelBanzhaf,
    KernelBanzhafUnpaired,
    KernelBanzhafWithoutReplacement,
    MonteCarlo,
    MonteCarloTwice,
    Msr,
    LeverageShap,
    OptimizedKernelShap,
}

impl Contender {
    const ALL: [Self; 8] = [
        Self::KernelBanzhaf,
        Self::KernelBanzhafUnpaired,
        Self::KernelBanzhafWithoutReplacement,
        Self::MonteCarlo,
        Self::MonteCarloTwice,
        Self::Msr,
        Self::LeverageShap,
        Self::OptimizedKernelShap,
    ];

    /// Those that the paper compares, MC by both ways of counting: its claims speak of no others.
    pub(crate) const OF_PAPER: [Self; 8] = [
        Self::KernelBanzhaf,
        Self::KernelBanzhafUnpaired,
        Self::KernelBanzhafWithoutReplacement,
        Self::MonteCarlo,
        Self::MonteCarloTwice,
        Self::Msr,
        Self::LeverageShap,
        Self::OptimizedKernelShap,
    ];

    /// The estimators of Banzhaf values, at equal evaluations.
    pub(crate) const BANZHAF: [Self; 4] =
        [Self::KernelBanzhaf, Self::KernelBanzhafUnpaired, Self::MonteCarlo, Self::Msr];

    /// With MC as the paper's code counts its samples.
    pub(crate) const BANZHAF_AND_MC_TWICE: [Self; 5] = [
        Self::KernelBanzhaf,
        Self::KernelBanzhafUnpaired,
        Self::MonteCarlo,
        Self::MonteCarloTwice,
        Self::Msr,
    ];

    /// The three regressions, of Banzhaf and of Shapley values.
    pub(crate) const REGRESSIONS: [Self; 3] =
        [Self::KernelBanzhaf, Self::LeverageShap, Self::OptimizedKernelShap];

    /// What it estimates.
    pub(crate) fn value(self) -> Semivalue {
        match self {
            Self::LeverageShap | Self::OptimizedKernelShap => Semivalue::Shapley,
            _ => Semivalue::Banzhaf,
        }
    }
}

impl Compete for Contender {
    fn all() -> &'static [Self] {
        &Self::ALL
    }

    fn title(self) -> &'static str {
        match self {
            Self::KernelBanzhaf => "Kernel Banzhaf",
            Self::KernelBanzhafUnpaired => "Kernel Banzhaf (Excluding Pairs)",
            Self::KernelBanzhafWithoutReplacement => "Kernel Banzhaf (SWOR)",
            Self::MonteCarlo => "MC",
            Self::MonteCarloTwice => "MC (2m evaluations)",
            Self::Msr => "MSR",
            Self::LeverageShap => "Leverage SHAP",
            Self::OptimizedKernelShap => "Optimized Kernel SHAP",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::KernelBanzhaf => looks::KERNEL_BANZHAF,
            Self::KernelBanzhafUnpaired => looks::KERNEL_BANZHAF_UNPAIRED,
            Self::KernelBanzhafWithoutReplacement => looks::KERNEL_BANZHAF_WITHOUT_REPLACEMENT,
            Self::MonteCarlo => looks::MONTE_CARLO,
            Self::MonteCarloTwice => looks::MONTE_CARLO_TWICE,
            Self::Msr => looks::MAXIMUM_SAMPLE_REUSE,
            Self::LeverageShap => looks::LEVERAGE_SHAP,
            Self::OptimizedKernelShap => looks::OPTIMIZED_KERNEL_SHAP,
        }
    }

    fn is_subject(self) -> bool {
        self == Self::KernelBanzhaf
    }

    fn estimator(self) -> Box<dyn Estimator> {
        let standard_errors = StandardErrors::Omitted;
        let banzhaf =
            KernelBanzhaf { standard_errors, full_budget: FullBudget::Sample, ..KernelBanzhaf::default() };
        let monte_carlo =
            MonteCarlo { full_budget: FullBudget::Sample, ..MonteCarlo::new(Semivalue::Banzhaf) };
        match self {
            Self::KernelBanzhaf => Box::new(banzhaf),
            Self::KernelBanzhafUnpaired => Box::new(KernelBanzhaf { pairing: Pairing::Unpaired, ..banzhaf }),
            Self::KernelBanzhafWithoutReplacement => {
                Box::new(KernelBanzhaf { standard_errors, ..KernelBanzhaf::without_replacement() })
            }
            Self::MonteCarlo => Box::new(monte_carlo),
            Self::MonteCarloTwice => Box::new(MonteCarlo { accounting: Accounting::Subsets, ..monte_carlo }),
            Self::Msr => Box::new(MaximumSampleReuse {
                standard_errors,
                full_budget: FullBudget::Sample,
                ..MaximumSampleReuse::new(Semivalue::Banzhaf)
            }),
            Self::LeverageShap => Box::new(LeverageShap { standard_errors, ..LeverageShap::default() }),
            Self::OptimizedKernelShap => Box::new(OptimizedKernelShap),
        }
    }
}
