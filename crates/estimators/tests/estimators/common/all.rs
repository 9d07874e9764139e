//! All estimators, in all of their variants.

use apportion_estimators::{
    Accounting, Allocation, Draws, Estimator, FullBudget, KernelBanzhaf, KernelShap, LearnedSpectrum,
    LeverageShap, MaximumSampleReuse, MonteCarlo, NestedPermutation, OddShap, OptimizedKernelShap,
    OptimizedMonteCarlo, Orders, Pairing, PermutationShap, ProductSpace, ProjectedGradient, ProxyResidual,
    ProxyShap, References, RegressionMsr, SamplingDistribution, StratifiedMonteCarlo, TreeSurrogate,
};
use apportion_values::Semivalue;

type Estimators = Vec<Box<dyn Estimator>>;

/// Returns the estimators whose first values are fixed by tests.
pub(crate) fn all() -> Estimators {
    let leverage = LeverageShap::default();
    let early = Semivalue::beta_shapley(4.0, 1.0).expect("positive parameters");
    let late = Semivalue::beta_shapley(1.0, 4.0).expect("positive parameters");
    let banzhaf = KernelBanzhaf::default();
    let unpaired = banzhaf.clone().with_pairing(Pairing::Unpaired);
    // At p = 0.45, pairs are used for up to about 80 players; at p = 0.3, for up to about 5.
    let weighted = |p: f64| KernelBanzhaf::weighted(p).expect("a probability");
    let nested = NestedPermutation::new(Semivalue::Shapley).expect("a value with orders");
    vec![
        Box::new(leverage),
        Box::new(leverage.with_draws(Draws::Bernoulli)),
        Box::new(leverage.with_draws(Draws::WithReplacement)),
        Box::new(leverage.with_pairing(Pairing::Unpaired)),
        Box::new(leverage.with_pairing(Pairing::Unpaired).with_draws(Draws::Bernoulli)),
        Box::new(leverage.with_pairing(Pairing::Unpaired).with_draws(Draws::WithReplacement)),
        Box::new(KernelShap::default()),
        Box::new(KernelShap::paired()),
        Box::new(OptimizedKernelShap),
        Box::new(PermutationShap::default()),
        Box::new(MonteCarlo::new(Semivalue::Banzhaf)),
        Box::new(MonteCarlo::new(early.clone()).with_accounting(Accounting::Subsets)),
        Box::new(MaximumSampleReuse::new(Semivalue::Banzhaf)),
        Box::new(
            MaximumSampleReuse::new(early.clone()).with_distribution(SamplingDistribution::OneSampleFitsAll),
        ),
        Box::new(MaximumSampleReuse::adjusted(early)),
        Box::new(MaximumSampleReuse::adjusted(late.clone()).with_draws(Draws::Bernoulli)),
        Box::new(MaximumSampleReuse::adjusted(late).with_draws(Draws::WithReplacement)),
        Box::new(banzhaf.clone()),
        Box::new(KernelBanzhaf::without_replacement()),
        Box::new(banzhaf.with_draws(Draws::Bernoulli)),
        Box::new(unpaired.clone()),
        Box::new(unpaired.clone().with_draws(Draws::FixedCounts)),
        Box::new(unpaired.clone().with_draws(Draws::Bernoulli)),
        Box::new(unpaired.with_intercept(false)),
        Box::new(weighted(0.45)),
        Box::new(weighted(0.45).with_draws(Draws::FixedCounts)),
        Box::new(weighted(0.3)),
        Box::new(weighted(0.3).with_draws(Draws::FixedCounts)),
        Box::new(ProductSpace::new(Semivalue::Banzhaf)),
        Box::new(nested.clone()),
        Box::new(nested.plain()),
        Box::new(OptimizedMonteCarlo::default()),
        Box::new(OptimizedMonteCarlo::default().with_orders(Orders::Independent)),
        Box::new(ProjectedGradient::default()),
        Box::new(LearnedSpectrum::default()),
        Box::new(LearnedSpectrum::banzhaf()),
    ]
}

/// Returns the estimators that first fit a model to the sample, so that they are nonlinear in the game.
pub(crate) fn of_surrogates() -> Estimators {
    let value = Semivalue::Shapley;
    let early = Semivalue::beta_shapley(4.0, 1.0).expect("positive parameters");
    let few_trees = TreeSurrogate::default().with_trees(20).with_depth(3);
    let residual = |value: Semivalue| ProxyResidual::new(value).with_surrogate(few_trees);
    vec![
        Box::new(OddShap::default()),
        Box::new(RegressionMsr::new(value.clone())),
        Box::new(RegressionMsr::linear(value.clone()).crossed()),
        Box::new(RegressionMsr::linear(Semivalue::Banzhaf)),
        Box::new(ProxyShap::adjusted(value.clone())),
        Box::new(residual(value)),
        Box::new(residual(Semivalue::Banzhaf)),
        Box::new(residual(Semivalue::weighted_banzhaf(0.3).expect("a probability"))),
        Box::new(residual(early.clone())),
        Box::new(LearnedSpectrum::for_value(early).expect("a value with a mixing measure")),
    ]
}

/// Returns whether the error of the named estimator decreases at the rate of a mean as the sample grows. This
/// is not the case for estimators that evaluate a model on the data to which it was fitted.
pub(crate) fn is_consistent(name: &str) -> bool {
    !["odd-shap", "regression-msr", "proxy-shap-adjusted"].contains(&name)
}

/// Returns all estimators, including those that take more than 6 evaluations per player.
pub(crate) fn every() -> Estimators {
    let mut every = all();
    every.extend(of_surrogates());
    every.push(Box::new(StratifiedMonteCarlo::new(Semivalue::Shapley)));
    every.push(Box::new(StratifiedMonteCarlo::new(Semivalue::Banzhaf).with_allocation(Allocation::Equal)));
    every.push(Box::new(OptimizedMonteCarlo::default().with_orders(Orders::Balanced)));
    every
}

/// Returns the estimators that keep sampling for every budget and never become exact.
pub(crate) fn sampling() -> Estimators {
    let full_budget = FullBudget::Sample;
    let value = Semivalue::Shapley;
    let nested = NestedPermutation::new(value.clone()).expect("a value with orders");
    let mut sampling: Estimators = vec![
        Box::new(KernelShap::default().with_full_budget(full_budget)),
        Box::new(KernelBanzhaf::default().with_full_budget(full_budget)),
        Box::new(PermutationShap::default().with_full_budget(full_budget)),
        Box::new(MonteCarlo::new(value.clone()).with_full_budget(full_budget)),
        Box::new(MaximumSampleReuse::new(value.clone()).with_full_budget(full_budget)),
        Box::new(ProductSpace::new(value.clone()).keep_sampling()),
        Box::new(nested.keep_sampling()),
        Box::new(ProjectedGradient::default().with_full_budget(full_budget)),
        Box::new(LearnedSpectrum::default().with_full_budget(full_budget)),
    ];
    for allocation in [Allocation::Equal, Allocation::Neyman] {
        sampling.push(Box::new(
            StratifiedMonteCarlo::new(value.clone())
                .with_allocation(allocation)
                .with_full_budget(full_budget),
        ));
    }
    for orders in [Orders::Independent, Orders::Antithetic, Orders::Balanced] {
        for references in [References::Averaged, References::Drawn] {
            sampling.push(Box::new(
                OptimizedMonteCarlo::default()
                    .with_orders(orders)
                    .with_references(references)
                    .with_full_budget(full_budget),
            ));
        }
    }
    sampling
}

/// Returns the estimators that estimate every semivalue from few evaluations.
pub(crate) fn of_semivalue(value: &Semivalue) -> Estimators {
    let (plain, adjusted) =
        (MaximumSampleReuse::new(value.clone()), MaximumSampleReuse::adjusted(value.clone()));
    vec![
        Box::new(MonteCarlo::new(value.clone())),
        Box::new(plain.clone()),
        Box::new(plain.clone().with_distribution(SamplingDistribution::OneSampleFitsAll)),
        Box::new(plain.with_draws(Draws::FixedCounts)),
        Box::new(adjusted.clone().with_draws(Draws::WithReplacement)),
        Box::new(adjusted),
    ]
}
