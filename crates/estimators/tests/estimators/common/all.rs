//! Every estimator, in all of its variants.

use apportion_estimators::{
    Accounting, Allocation, Draws, Estimator, FullBudget, KernelBanzhaf, KernelShap, LeverageShap,
    MaximumSampleReuse, MonteCarlo, NestedPermutation, OptimizedKernelShap, OptimizedMonteCarlo, Orders,
    Pairing, PermutationShap, ProductSpace, ProjectedGradient, References, SamplingLaw, StratifiedMonteCarlo,
};
use apportion_values::Semivalue;

type Estimators = Vec<Box<dyn Estimator>>;

/// Those whose first values are pinned.
pub(crate) fn all() -> Estimators {
    let leverage = LeverageShap::default();
    let early = Semivalue::beta_shapley(4.0, 1.0).expect("positive parameters");
    let late = Semivalue::beta_shapley(1.0, 4.0).expect("positive parameters");
    let banzhaf = KernelBanzhaf::default();
    let unpaired = KernelBanzhaf { pairing: Pairing::Unpaired, ..banzhaf.clone() };
    // Up to 100 players pairs help about 0.45, and do not from 7 players on about 0.3.
    let weighted = |p: f64| KernelBanzhaf::weighted(p).expect("a probability");
    let nested = NestedPermutation::new(Semivalue::Shapley).expect("a value with orders");
    vec![
        Box::new(leverage),
        Box::new(LeverageShap { draws: Draws::Bernoulli, ..leverage }),
        Box::new(LeverageShap { draws: Draws::WithReplacement, ..leverage }),
        Box::new(LeverageShap { pairing: Pairing::Unpaired, ..leverage }),
        Box::new(LeverageShap { pairing: Pairing::Unpaired, draws: Draws::Bernoulli, ..leverage }),
        Box::new(LeverageShap { pairing: Pairing::Unpaired, draws: Draws::WithReplacement, ..leverage }),
        Box::new(KernelShap::default()),
        Box::new(KernelShap::paired()),
        Box::new(OptimizedKernelShap),
        Box::new(PermutationShap::default()),
        Box::new(MonteCarlo::new(Semivalue::Banzhaf)),
        Box::new(MonteCarlo { accounting: Accounting::Subsets, ..MonteCarlo::new(early.clone()) }),
        Box::new(MaximumSampleReuse::new(Semivalue::Banzhaf)),
        Box::new(MaximumSampleReuse {
            law: SamplingLaw::OneSampleFitsAll,
            ..MaximumSampleReuse::new(early.clone())
        }),
        Box::new(MaximumSampleReuse::adjusted(early)),
        Box::new(MaximumSampleReuse {
            draws: Draws::Bernoulli,
            ..MaximumSampleReuse::adjusted(late.clone())
        }),
        Box::new(MaximumSampleReuse { draws: Draws::WithReplacement, ..MaximumSampleReuse::adjusted(late) }),
        Box::new(banzhaf.clone()),
        Box::new(KernelBanzhaf::without_replacement()),
        Box::new(KernelBanzhaf { draws: Draws::Bernoulli, ..banzhaf }),
        Box::new(unpaired.clone()),
        Box::new(KernelBanzhaf { draws: Draws::FixedCounts, ..unpaired.clone() }),
        Box::new(KernelBanzhaf { draws: Draws::Bernoulli, ..unpaired.clone() }),
        Box::new(KernelBanzhaf { intercept: false, ..unpaired }),
        Box::new(weighted(0.45)),
        Box::new(KernelBanzhaf { draws: Draws::FixedCounts, ..weighted(0.45) }),
        Box::new(weighted(0.3)),
        Box::new(KernelBanzhaf { draws: Draws::FixedCounts, ..weighted(0.3) }),
        Box::new(ProductSpace::new(Semivalue::Banzhaf)),
        Box::new(nested.clone()),
        Box::new(nested.plain()),
        Box::new(OptimizedMonteCarlo::default()),
        Box::new(OptimizedMonteCarlo { orders: Orders::Independent, ..OptimizedMonteCarlo::default() }),
        Box::new(ProjectedGradient::default()),
    ]
}

/// These, and those that take more evaluations than 6 for each player.
pub(crate) fn every() -> Estimators {
    let mut every = all();
    every.push(Box::new(StratifiedMonteCarlo::new(Semivalue::Shapley)));
    every.push(Box::new(StratifiedMonteCarlo {
        allocation: Allocation::Equal,
        ..StratifiedMonteCarlo::new(Semivalue::Banzhaf)
    }));
    every.push(Box::new(OptimizedMonteCarlo { orders: Orders::Balanced, ..OptimizedMonteCarlo::default() }));
    every
}

/// Those that go on sampling whatever the budget, and never become exact.
pub(crate) fn sampling() -> Estimators {
    let full_budget = FullBudget::Sample;
    let value = Semivalue::Shapley;
    let nested = NestedPermutation::new(value.clone()).expect("a value with orders");
    let mut sampling: Estimators = vec![
        Box::new(KernelShap { full_budget, ..KernelShap::default() }),
        Box::new(KernelBanzhaf { full_budget, ..KernelBanzhaf::default() }),
        Box::new(PermutationShap { full_budget }),
        Box::new(MonteCarlo { full_budget, ..MonteCarlo::new(value.clone()) }),
        Box::new(MaximumSampleReuse { full_budget, ..MaximumSampleReuse::new(value.clone()) }),
        Box::new(ProductSpace::new(value.clone()).keep_sampling()),
        Box::new(nested.keep_sampling()),
        Box::new(ProjectedGradient { full_budget, ..ProjectedGradient::default() }),
    ];
    for allocation in [Allocation::Equal, Allocation::Neyman] {
        sampling.push(Box::new(StratifiedMonteCarlo { value: value.clone(), allocation, full_budget }));
    }
    for orders in [Orders::Independent, Orders::Antithetic, Orders::Balanced] {
        for references in [References::Averaged, References::Drawn] {
            sampling.push(Box::new(OptimizedMonteCarlo { orders, references, full_budget }));
        }
    }
    sampling
}

/// Those that estimate every semivalue from few evaluations.
pub(crate) fn of_semivalue(value: &Semivalue) -> Estimators {
    let (plain, adjusted) =
        (MaximumSampleReuse::new(value.clone()), MaximumSampleReuse::adjusted(value.clone()));
    vec![
        Box::new(MonteCarlo::new(value.clone())),
        Box::new(plain.clone()),
        Box::new(MaximumSampleReuse { law: SamplingLaw::OneSampleFitsAll, ..plain.clone() }),
        Box::new(MaximumSampleReuse { draws: Draws::FixedCounts, ..plain }),
        Box::new(MaximumSampleReuse { draws: Draws::WithReplacement, ..adjusted.clone() }),
        Box::new(adjusted),
    ]
}
