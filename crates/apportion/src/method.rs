//! The methods by name.

use apportion_estimators::{
    Allocation, CoalitionalRegression, ConnectedRegression, Draws, Estimator, KernelBanzhaf, KernelShap,
    LeverageShap, LocalMethod, LocalSampling, MaximumSampleReuse, MonteCarlo, NestedPermutation, OnGraph,
    OptimizedKernelShap, OptimizedMonteCarlo, Orders, Pairing, PermutationShap, ProductSpace,
    ProjectedGradient, References, SamplingLaw, StratifiedMonteCarlo,
};
use apportion_games::{Graph, Partition};
use apportion_values::{GraphValue, LeastSquaresForm, Semivalue, SolutionConcept};

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
    /// Exact values by enumeration of all `2^n` coalitions, n ≤ 25; of values on graphs, of those coalitions alone that they are made of.
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
    /// Optimized Monte Carlo: random orders of the players and their reverses, each value serving two players. The same estimator as
    /// [`Permutation`](Self::Permutation), but for what it counts as different coalitions.
    OptimizedMonteCarlo,
    /// The same as published, without reverses.
    OptimizedMonteCarloIndependent,
    /// The same, every player taking every place equally often.
    OptimizedMonteCarloBalanced,
    /// The same with reverses, each pair against one background row; of one row, or of a game without any, the same estimator as
    /// [`Permutation`](Self::Permutation).
    OptimizedMonteCarloReferences,
    /// Projected stochastic gradient.
    Sgd,
    /// Kernel Banzhaf as published: pairs drawn with replacement. For Banzhaf and weighted Banzhaf values.
    KernelBanzhaf,
    /// Kernel Banzhaf without replacement.
    KernelBanzhafWithoutReplacement,
    /// Kernel Banzhaf without pairs, an ablation. Of weighted Banzhaf values, which have no use for pairs, the same estimator as
    /// [`KernelBanzhaf`](Self::KernelBanzhaf).
    KernelBanzhafUnpaired,
    /// Monte Carlo, each player on its own. For every value.
    MonteCarlo,
    /// Monte Carlo in strata of players and sizes, most draws where contributions vary most. For every value.
    Stratified,
    /// The same, every stratum with as many draws.
    StratifiedEqual,
    /// Maximum sample reuse: all players from the same coalitions. For every value.
    Msr,
    /// Maximum sample reuse with coalitions that suit all values alike. Of Shapley values the same estimator as [`Msr`](Self::Msr), whose
    /// coalitions are drawn by the same law there.
    OneSampleFitsAll,
    /// Maximum sample reuse of what a linear model leaves unexplained. For every value.
    MsrAdjusted,
    /// Regressions on coalitions drawn by leverage scores, between the groups and within them. For values of players in groups.
    Leverage,
    /// Monte Carlo on the product space of coalitions and background rows, each player on its own. For every value.
    ProductSpace,
    /// The same, each background row used once: estimates the game of the law that the background is a sample of.
    ProductSpaceTrueMarginal,
    /// Orders of the groups and of the members in each, walked forwards and backwards against one background row. For Owen, two-step and
    /// (quotient) Shapley values.
    NestedPermutation,
    /// The same, walked forwards only.
    NestedPermutationPlain,
    /// Each player's contributions to random coalitions of its neighbourhood. For L-Shapley values.
    LocalPermutation,
    /// Leverage SHAP in the neighbourhood of each player. For L-Shapley values.
    LocalLeverage,
    /// Least squares on small connected coalitions, an approximation of C-Shapley values: of c-shapley=K on runs of at most K players, or
    /// squares up to K × K. As many evaluations as there are of these, whatever the budget.
    ConnectedRegression,
}

impl Method {
    /// All methods, in the order in which they are listed to users.
    pub const ALL: [Self; 33] = [
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
        Self::OptimizedMonteCarlo,
        Self::OptimizedMonteCarloIndependent,
        Self::OptimizedMonteCarloBalanced,
        Self::OptimizedMonteCarloReferences,
        Self::Sgd,
        Self::KernelBanzhaf,
        Self::KernelBanzhafWithoutReplacement,
        Self::KernelBanzhafUnpaired,
        Self::MonteCarlo,
        Self::Stratified,
        Self::StratifiedEqual,
        Self::Msr,
        Self::OneSampleFitsAll,
        Self::MsrAdjusted,
        Self::Leverage,
        Self::ProductSpace,
        Self::ProductSpaceTrueMarginal,
        Self::NestedPermutation,
        Self::NestedPermutationPlain,
        Self::LocalPermutation,
        Self::LocalLeverage,
        Self::ConnectedRegression,
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
            Self::OptimizedMonteCarlo => "optimized-monte-carlo",
            Self::OptimizedMonteCarloIndependent => "optimized-monte-carlo-independent",
            Self::OptimizedMonteCarloBalanced => "optimized-monte-carlo-balanced",
            Self::OptimizedMonteCarloReferences => "optimized-monte-carlo-references",
            Self::Sgd => "sgd",
            Self::KernelBanzhaf => "kernel-banzhaf",
            Self::KernelBanzhafWithoutReplacement => "kernel-banzhaf-without-replacement",
            Self::KernelBanzhafUnpaired => "kernel-banzhaf-unpaired",
            Self::MonteCarlo => "monte-carlo",
            Self::Stratified => "stratified",
            Self::StratifiedEqual => "stratified-equal",
            Self::Msr => "msr",
            Self::OneSampleFitsAll => "one-sample-fits-all",
            Self::MsrAdjusted => "msr-adjusted",
            Self::Leverage => "leverage",
            Self::ProductSpace => "product-space",
            Self::ProductSpaceTrueMarginal => "product-space-true-marginal",
            Self::NestedPermutation => "nested-permutation",
            Self::NestedPermutationPlain => "nested-permutation-plain",
            Self::LocalPermutation => "l-shapley-permutation",
            Self::LocalLeverage => "l-shapley-leverage",
            Self::ConnectedRegression => "c-shapley-regression",
        }
    }

    /// The estimator of `value` behind the name, of players in the groups of `partition` where it is a value of groups; none for the exact
    /// methods and [`Auto`](Self::Auto), and where the method cannot compute the value.
    pub fn estimator(
        self,
        value: &SolutionConcept,
        partition: Option<&Partition>,
    ) -> Option<Box<dyn Estimator>> {
        if value.needs_graph() {
            return None;
        }
        let value = value.simplified();
        let estimator = match value.semivalue() {
            Some(semivalue) => self.of_semivalue(semivalue).or_else(|| self.of_any(&value, None))?,
            None => self.of_any(&value, partition)?,
        };
        (estimator.value() == value).then_some(estimator)
    }

    /// The estimator of values of players on `graph` behind the name; none where the method cannot compute them.
    pub fn on_graph(self, value: &GraphValue, graph: &Graph) -> Option<Box<dyn Estimator>> {
        match self {
            Self::Auto | Self::Exact => Some(Box::new(OnGraph::new(graph.clone(), value.clone()))),
            Self::LocalPermutation => local_sampling(graph, value, LocalMethod::Contributions),
            Self::LocalLeverage => local_sampling(graph, value, LocalMethod::Regression),
            Self::ConnectedRegression => {
                let regression = ConnectedRegression::new(graph.clone()).order(value.order()?);
                (regression.value() == SolutionConcept::from(value.clone()))
                    .then(|| Box::new(regression) as Box<dyn Estimator>)
            }
            _ => None,
        }
    }

    /// The method listed before that is the same estimator of `value`, with the same draws, in a game of so many
    /// [scenarios](apportion_games::Game::scenarios), such as background rows: their values are equal but for rounding.
    ///
    /// ```
    /// use apportion::{Method, Semivalue};
    ///
    /// let (shapley, banzhaf) = (Semivalue::Shapley.into(), Semivalue::Banzhaf.into());
    /// assert_eq!(Method::OneSampleFitsAll.same_as(&shapley, 1), Some(Method::Msr));
    /// assert_eq!(Method::OneSampleFitsAll.same_as(&banzhaf, 1), None);
    /// ```
    pub fn same_as(self, value: &SolutionConcept, scenarios: usize) -> Option<Self> {
        let value = value.simplified();
        match (self, value.semivalue()?) {
            (Self::OptimizedMonteCarlo, Semivalue::Shapley) => Some(Self::Permutation),
            (Self::OptimizedMonteCarloReferences, Semivalue::Shapley) if scenarios == 1 => {
                Some(Self::Permutation)
            }
            (Self::OneSampleFitsAll, Semivalue::Shapley) => Some(Self::Msr),
            (Self::KernelBanzhafUnpaired, Semivalue::WeightedBanzhaf(_)) => Some(Self::KernelBanzhaf),
            _ => None,
        }
    }

    /// The estimators that know semivalues alone.
    fn of_semivalue(self, value: &Semivalue) -> Option<Box<dyn Estimator>> {
        let leverage = LeverageShap::default();
        let estimator: Box<dyn Estimator> = match self {
            Self::Auto
            | Self::Tree
            | Self::Exact
            | Self::Leverage
            | Self::ProductSpace
            | Self::ProductSpaceTrueMarginal
            | Self::NestedPermutation
            | Self::NestedPermutationPlain
            | Self::LocalPermutation
            | Self::LocalLeverage
            | Self::ConnectedRegression => return None,
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
            Self::OptimizedMonteCarlo => Box::new(OptimizedMonteCarlo::default()),
            Self::OptimizedMonteCarloIndependent => Box::new(OptimizedMonteCarlo {
                orders: Orders::Independent,
                ..OptimizedMonteCarlo::default()
            }),
            Self::OptimizedMonteCarloBalanced => {
                Box::new(OptimizedMonteCarlo { orders: Orders::Balanced, ..OptimizedMonteCarlo::default() })
            }
            Self::OptimizedMonteCarloReferences => Box::new(OptimizedMonteCarlo {
                references: References::Drawn,
                ..OptimizedMonteCarlo::default()
            }),
            Self::Sgd => Box::new(ProjectedGradient::default()),
            Self::KernelBanzhaf => Box::new(kernel_banzhaf(value)?),
            Self::KernelBanzhafWithoutReplacement => {
                Box::new(KernelBanzhaf { draws: Draws::FixedCounts, ..kernel_banzhaf(value)? })
            }
            Self::KernelBanzhafUnpaired => {
                Box::new(KernelBanzhaf { pairing: Pairing::Unpaired, ..kernel_banzhaf(value)? })
            }
            Self::MonteCarlo => Box::new(MonteCarlo::new(value.clone())),
            Self::Stratified => Box::new(StratifiedMonteCarlo::new(value.clone())),
            Self::StratifiedEqual => Box::new(StratifiedMonteCarlo {
                allocation: Allocation::Equal,
                ..StratifiedMonteCarlo::new(value.clone())
            }),
            Self::Msr => Box::new(MaximumSampleReuse::new(value.clone())),
            Self::OneSampleFitsAll => Box::new(MaximumSampleReuse {
                law: SamplingLaw::OneSampleFitsAll,
                ..MaximumSampleReuse::new(value.clone())
            }),
            Self::MsrAdjusted => Box::new(MaximumSampleReuse::adjusted(value.clone())),
        };
        Some(estimator)
    }

    /// The estimators that know values of players in groups, too.
    fn of_any(self, value: &SolutionConcept, partition: Option<&Partition>) -> Option<Box<dyn Estimator>> {
        let groups = if value.needs_partition() { Some(partition?.clone()) } else { None };
        let product_space = |groups: Option<Partition>| match groups {
            Some(groups) => ProductSpace::grouped(value.clone(), groups),
            None => ProductSpace::new(value.clone()),
        };
        let permutations = |groups: Option<Partition>| {
            match groups {
                Some(groups) => NestedPermutation::grouped(value.clone(), groups),
                None => NestedPermutation::new(value.clone()),
            }
            .ok()
        };
        let estimator: Box<dyn Estimator> = match self {
            Self::Leverage => Box::new(CoalitionalRegression::new(value.clone(), groups?).ok()?),
            Self::ProductSpace => Box::new(product_space(groups)),
            Self::ProductSpaceTrueMarginal => Box::new(product_space(groups).true_marginal()),
            Self::NestedPermutation => Box::new(permutations(groups)?),
            Self::NestedPermutationPlain => Box::new(permutations(groups)?.plain()),
            _ => return None,
        };
        Some(estimator)
    }

    /// Whether it looks at one scenario of the game at a time, such as one background row.
    #[cfg(feature = "conditional")]
    pub(crate) fn draws_scenarios(self) -> bool {
        matches!(
            self,
            Self::OptimizedMonteCarloReferences
                | Self::ProductSpace
                | Self::ProductSpaceTrueMarginal
                | Self::NestedPermutation
                | Self::NestedPermutationPlain
        )
    }

    /// Whether the method can compute `value`.
    pub fn computes(self, value: &SolutionConcept) -> bool {
        if let SolutionConcept::OnGraph(value) = value {
            // Which graph it is makes no difference.
            return self.on_graph(value, &Graph::line(1)).is_some();
        }
        match self {
            Self::Auto | Self::Exact => true,
            Self::Tree => !matches!(value, SolutionConcept::Linear(_)),
            // Which groups they are makes no difference.
            _ => self.estimator(value, Some(&Partition::whole(1))).is_some(),
        }
    }

    /// The most accurate sampled method for `value`: Leverage SHAP for Shapley values, Kernel Banzhaf without replacement for (weighted)
    /// Banzhaf values, regression-adjusted maximum sample reuse for all other semivalues; for values of players in groups the
    /// regressions by leverage scores where there are such, and Monte Carlo on the product space for what is left. For values on graphs,
    /// which take few coalitions as they are, [`Exact`](Self::Exact).
    pub fn sampled(value: &SolutionConcept) -> Self {
        if value.needs_graph() {
            return Self::Exact;
        }
        [Self::LeverageShap, Self::KernelBanzhafWithoutReplacement, Self::MsrAdjusted, Self::Leverage]
            .into_iter()
            .find(|method| method.computes(value))
            .unwrap_or(Self::ProductSpace)
    }
}

/// Sampling in neighbourhoods, for the values that it can estimate.
fn local_sampling(graph: &Graph, value: &GraphValue, method: LocalMethod) -> Option<Box<dyn Estimator>> {
    Some(Box::new(LocalSampling::new(graph.clone(), value.clone(), method).ok()?))
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
            for value in ["l-shapley=1", "c-shapley=2,printed", "c-shapley=2"] {
                let value: GraphValue = value.parse().unwrap();
                if let Some(estimator) = method.on_graph(&value, &Graph::line(3)) {
                    assert_eq!(estimator.value(), SolutionConcept::OnGraph(value));
                    if !matches!(method, Method::Auto | Method::Exact) {
                        assert_eq!(estimator.name(), method.name());
                    }
                }
            }
            for value in ["shapley", "banzhaf", "owen", "two-step", "quotient-banzhaf"] {
                let value: SolutionConcept = value.parse().unwrap();
                if let Some(estimator) = method.estimator(&value, Some(&Partition::whole(3))) {
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
            ("owen", Method::Leverage),
            ("banzhaf-owen", Method::Leverage),
            ("two-step", Method::Leverage),
            ("quotient-banzhaf", Method::Leverage),
            ("quotient-beta=4,1", Method::ProductSpace),
            ("coalitional=beta=4,1/shapley", Method::ProductSpace),
        ] {
            let value = name.parse().unwrap();
            assert_eq!(Method::sampled(&value), sampled, "{name}");
            assert!(sampled.computes(&value), "{name}");
        }
        let (shapley, banzhaf) = ("beta=1,1".parse().unwrap(), "weighted-banzhaf=0.5".parse().unwrap());
        assert_eq!(Method::sampled(&shapley), Method::LeverageShap);
        assert!(Method::KernelBanzhaf.computes(&banzhaf));
        assert!(!Method::Permutation.computes(&Semivalue::Banzhaf.into()));
        assert!(!Method::KernelBanzhaf.computes(&Semivalue::Shapley.into()));
        assert!(!Method::LeverageShap.computes(&SolutionConcept::owen()));
        assert!(!Method::NestedPermutation.computes(&SolutionConcept::banzhaf_owen()));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let message = "treeshap".parse::<Method>().unwrap_err().to_string();
        assert!(Method::ALL.into_iter().all(|method| message.contains(method.name())), "{message}");
    }
}
