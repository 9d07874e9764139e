//! Tests the settings of estimators: their options as data, by which stored runs are distinguished.

use apportion_estimators::{
    Accounting, Adjustment, Allocation, CoalitionalRegression, ConnectedRegression, Draws, Estimator,
    FullBudget, GradientDistribution, IterateAverage, IterateSet, KAdditiveSurrogate, KernelBanzhaf,
    KernelShap, LeverageShap, LinearSurrogate, LocalMethod, LocalSampling, MaximumSampleReuse, MonteCarlo,
    NestedPermutation, OddShap, OnGraph, OptimizedKernelShap, OptimizedMonteCarlo, Orders, Pairing,
    PermutationShap, PolyShap, ProductSpace, ProjectedGradient, ProxyResidual, ProxyShap, References,
    RegressionMsr, RegressionProxy, SamplingDistribution, Settings, StandardErrors, StartShare, StepSize,
    StratifiedMonteCarlo, TreeSurrogate,
};
use apportion_games::{Adjacency, Graph, Partition};
use apportion_values::{Coefficients, GraphForm, GraphValue, Outside, Semivalue, SolutionConcept};
use serde_json::json;

/// Estimators of one type that differ in their options.
type Family = Vec<Box<dyn Estimator>>;

macro_rules! family {
    ($first:expr $(, $other:expr)* $(,)?) => {{
        let family: Family = vec![Box::new($first) $(, Box::new($other))*];
        family
    }};
}

/// Returns a copy that differs in the named fields.
macro_rules! with {
    ($base:expr, $($field:ident: $value:expr),+) => {{
        let mut changed = $base.to_owned();
        $(changed.$field = $value;)+
        changed
    }};
}

fn partition(groups: &[&[usize]]) -> Partition {
    Partition::new(4, groups.iter().map(|group| group.to_vec()).collect()).unwrap()
}

/// Returns every estimator with every option changed, one at a time.
fn families() -> Vec<Family> {
    let sample = FullBudget::Sample;
    let omitted = StandardErrors::Omitted;
    let leverage = LeverageShap::default();
    let shap = KernelShap::default();
    let banzhaf = KernelBanzhaf::default();
    let reuse = MaximumSampleReuse::new(Semivalue::Shapley);
    let monte_carlo = MonteCarlo::new(Semivalue::Shapley);
    let orders = OptimizedMonteCarlo::default();
    let stratified = StratifiedMonteCarlo::new(Semivalue::Shapley);
    let gradient = ProjectedGradient::default();
    let (two, three) = (partition(&[&[0, 1], &[2, 3]]), partition(&[&[0, 1], &[2], &[3]]));
    let product = ProductSpace::grouped(SolutionConcept::owen(), two.clone());
    let nested = NestedPermutation::grouped(SolutionConcept::owen(), two.clone()).unwrap();
    let coalitional = CoalitionalRegression::new(SolutionConcept::owen(), two.clone()).unwrap();
    let banzhaf_owen = CoalitionalRegression::new(SolutionConcept::banzhaf_owen(), two).unwrap();
    let line = || Graph::line(6);
    let grid = |adjacency| Graph::grid(2, 3, adjacency);
    let on_graph = |value| OnGraph::new(line(), value);
    let local = LocalSampling::permutations(line(), 2);
    let present = GraphForm::Local { order: 2, outside: Outside::Present };
    let present = GraphValue { semivalue: Semivalue::Shapley, form: present };
    let connected = ConnectedRegression::new(line());
    let (odd, poly) = (OddShap::default(), PolyShap::default());
    let regression = RegressionMsr::new(Semivalue::Shapley);
    let proxy = ProxyShap::new(Semivalue::Shapley);
    let residual = ProxyResidual::new(Semivalue::Shapley);
    vec![
        family![with!(odd, evaluations_per_term: 5), with!(odd, draws: Draws::Growing), odd],
        family![
            with!(poly, order: 3),
            with!(poly, pairing: Pairing::Paired),
            with!(poly, draws: Draws::Growing),
            poly,
        ],
        family![
            with!(regression, value: Semivalue::Banzhaf),
            with!(regression, proxy: RegressionProxy::Linear),
            with!(regression, folds: 3),
            with!(regression, draws: Draws::Growing),
            regression,
        ],
        family![
            with!(proxy, value: Semivalue::Banzhaf),
            with!(proxy, is_adjusted: true),
            with!(proxy, folds: 3),
            with!(proxy, draws: Draws::Growing),
            proxy,
        ],
        family![
            with!(residual, value: Semivalue::Banzhaf),
            with!(residual, groups: Some(partition(&[&[0, 1], &[2, 3]]))),
            residual.clone().with_surrogate(LinearSurrogate),
            residual.clone().with_surrogate(KAdditiveSurrogate::default()),
            residual.clone().with_surrogate(TreeSurrogate::default().with_depth(3)),
            with!(residual, folds: 3),
            with!(residual, draws: Draws::Growing),
            with!(residual, standard_errors: omitted),
            residual,
        ],
        family![
            with!(leverage, pairing: Pairing::Unpaired),
            with!(leverage, draws: Draws::Bernoulli),
            with!(leverage, standard_errors: omitted),
            with!(leverage, full_budget: sample),
            leverage,
        ],
        family![KernelShap::paired(), with!(shap, full_budget: sample), shap],
        family![
            with!(banzhaf, value: Semivalue::weighted_banzhaf(0.4).unwrap()),
            with!(banzhaf, value: Semivalue::weighted_banzhaf(0.4 + 1e-16).unwrap()),
            with!(banzhaf, pairing: Pairing::Unpaired),
            with!(banzhaf, draws: Draws::Growing),
            with!(banzhaf, intercept: !banzhaf.intercept),
            with!(banzhaf, standard_errors: omitted),
            with!(banzhaf, full_budget: sample),
            banzhaf,
        ],
        family![
            with!(reuse, value: Semivalue::Banzhaf),
            with!(reuse, distribution: SamplingDistribution::OneSampleFitsAll),
            with!(reuse, draws: Draws::WithReplacement),
            with!(reuse, adjustment: Adjustment::Linear),
            with!(reuse, standard_errors: omitted),
            with!(reuse, full_budget: sample),
            reuse,
        ],
        family![
            with!(monte_carlo, value: Semivalue::beta_shapley(2.0, 3.0).unwrap()),
            with!(monte_carlo, accounting: Accounting::Subsets),
            with!(monte_carlo, full_budget: sample),
            monte_carlo,
        ],
        family![
            with!(orders, orders: Orders::Independent),
            with!(orders, references: References::Drawn),
            with!(orders, full_budget: sample),
            orders,
        ],
        family![
            with!(stratified, value: Semivalue::Banzhaf),
            with!(stratified, allocation: Allocation::Equal),
            with!(stratified, full_budget: sample),
            stratified,
        ],
        family![
            with!(gradient, distribution: GradientDistribution::Uniform),
            with!(gradient, pairing: Pairing::Unpaired),
            with!(gradient, batch: gradient.batch + 1),
            with!(gradient, step: StepSize::Constant(0.1)),
            with!(gradient, step: StepSize::SquareRoot(0.1)),
            with!(gradient, average: IterateAverage::Last),
            with!(gradient, start: StartShare::Kept),
            with!(gradient, set: IterateSet::Ball(2.0)),
            with!(gradient, value_bound: Some(1.0)),
            with!(gradient, full_budget: sample),
            gradient,
        ],
        family![PermutationShap::default(), PermutationShap::default().with_full_budget(sample)],
        family![OptimizedKernelShap],
        family![
            ProductSpace::grouped(SolutionConcept::TwoStepShapley, partition(&[&[0, 1], &[2, 3]])),
            ProductSpace::grouped(SolutionConcept::owen(), three.clone()),
            product.clone().true_marginal(),
            product.clone().keep_sampling(),
            product,
        ],
        family![
            NestedPermutation::grouped(SolutionConcept::TwoStepShapley, partition(&[&[0, 1], &[2, 3]]))
                .unwrap(),
            NestedPermutation::grouped(SolutionConcept::owen(), three.clone()).unwrap(),
            nested.clone().plain(),
            nested.clone().keep_sampling(),
            nested.clone().keep_sampling().plain(),
            nested,
        ],
        family![
            banzhaf_owen,
            CoalitionalRegression::new(SolutionConcept::owen(), three).unwrap(),
            with!(coalitional, standard_errors: omitted),
            coalitional,
        ],
        family![
            on_graph(GraphValue::l_shapley(1)),
            on_graph(GraphValue::l_shapley(2)),
            on_graph(present.clone()),
            on_graph(GraphValue::c_shapley(1)),
            on_graph(GraphValue::c_shapley(1).with_coefficients(Coefficients::Printed)),
            on_graph(GraphValue::l_shapley(1)).max_coalitions(99),
            OnGraph::new(grid(Adjacency::Four), GraphValue::l_shapley(1)),
            OnGraph::new(grid(Adjacency::Eight), GraphValue::l_shapley(1)),
        ],
        family![
            LocalSampling::permutations(line(), 3),
            LocalSampling::permutations(grid(Adjacency::Four), 2),
            LocalSampling::leverage(line(), 2),
            LocalSampling::new(line(), present, LocalMethod::Contributions).unwrap(),
            local,
        ],
        family![
            ConnectedRegression::new(grid(Adjacency::Four)),
            connected.clone().order(2),
            connected.clone().constrained(),
            connected.clone().max_coalitions(99),
            connected,
        ],
    ]
}

/// Returns every estimator with its growing variant.
fn twins() -> Vec<Family> {
    let twins = |estimator: Box<dyn Estimator>| vec![estimator.growing(), estimator];
    families().into_iter().flatten().map(twins).collect()
}

#[test]
fn estimators_that_differ_in_any_option_have_other_settings() {
    for family in families().into_iter().chain(twins()) {
        for (at, one) in family.iter().enumerate() {
            for other in &family[at + 1..] {
                let are_alike = format!("{one:?}") == format!("{other:?}");
                assert_eq!(one.settings() == other.settings(), are_alike, "{one:?} {other:?}");
            }
        }
    }
}

#[test]
fn settings_are_data_and_behind_a_box_the_same() {
    let leverage = LeverageShap::default().with_draws(Draws::Bernoulli);
    let expected = json!({
        "pairing": "Paired", "draws": "Bernoulli", "standard_errors": "Estimated", "full_budget": "Enumerate"
    });
    assert_eq!(leverage.settings(), expected);
    let boxed: Box<dyn Estimator> = Box::new(leverage);
    assert_eq!(boxed.settings(), expected);
    assert_eq!(serde_json::to_value(&boxed).unwrap(), expected);
    let twice: Box<dyn Estimator> = Box::new(boxed);
    assert_eq!(twice.settings(), expected);
}
