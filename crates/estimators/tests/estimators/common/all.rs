//! Every estimator, in all of its variants.

use apportion_estimators::{
    Accounting, Draws, Estimator, KernelBanzhaf, KernelShap, LeverageShap, MaximumSampleReuse, MonteCarlo,
    NestedPermutation, OptimizedKernelShap, OptimizedMonteCarlo, Orders, Pairing, PermutationShap,
    ProductSpace, ProjectedGradient, SamplingLaw,
};
use apportion_values::Semivalue;

pub(crate) fn all() -> Vec<Box<dyn Estimator>> {
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
