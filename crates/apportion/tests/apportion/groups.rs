//! Tests values of features in groups, and conditional games.

use apportion::estimators::methods;
use apportion::games::{EmpiricalDistribution, GaussianDistribution};
use apportion::values::{LinearValue, axioms};
use apportion::{
    Background, Budget, ExplainError, Explainer, Hierarchy, Method, NullPlayers, Partition, Rows, Semivalue,
    Value,
};

use crate::common::{background, flowers, iris, largest_difference, value_in};

fn sepal_and_petal() -> Partition {
    Partition::new(4, vec![vec![0, 1], vec![2, 3]]).unwrap()
}

fn values_in(groups: &Partition) -> Vec<Value> {
    [
        "owen",
        "banzhaf-owen",
        "symmetric-coalitional-banzhaf",
        "coalitional=beta=4,1/weighted-banzhaf=0.3",
        "coalitional=shapley/size-distribution=0.25,0.75",
        "two-step",
        "quotient-shapley",
        "quotient-banzhaf",
        "quotient-beta=4,1",
    ]
    .map(|name| value_in(name, groups))
    .to_vec()
}

/// Returns two values over the nested groups ((0, 1), 2), 3 of four features.
fn within_each_other() -> [Value; 2] {
    let parents = [Some(4), Some(4), Some(5), Some(6), Some(5), Some(6), None];
    let hierarchy = Hierarchy::from_parents(4, &parents).unwrap();
    [Value::owen_over(hierarchy.clone()), Value::banzhaf_owen_over(hierarchy)]
}

#[test]
fn every_method_that_computes_a_value_of_groups_agrees_with_enumeration_in_both_games() {
    let ensemble = iris();
    for value in values_in(&sepal_and_petal()).into_iter().chain(within_each_other()) {
        let explainers = |game: &str| {
            let explainer = match game {
                "marginal" => Explainer::for_trees(&ensemble, background()),
                _ => Explainer::path_dependent(&ensemble),
            };
            explainer.value(value.clone()).budget(Budget::Evaluations(200))
        };
        for game in ["marginal", "path-dependent"] {
            let exact = explainers(game).method(Method::Exact).explain_rows(flowers()).unwrap();
            for method in Method::all() {
                let what = format!("{method}, {}, {game}", value.concept());
                let got = explainers(game).method(method).explain_rows(flowers());
                if !method.computes(&value) {
                    assert!(matches!(got, Err(ExplainError::Unsupported { .. })), "{what}");
                    continue;
                }
                if method == Method::Table && game == "path-dependent" {
                    assert!(matches!(got, Err(ExplainError::NotTable)), "{what}");
                    continue;
                }
                // The method treats the background as a sample, so it estimates a different game, and
                // requires several scenarios.
                if method == Method::By(&methods::PRODUCT_SPACE_TRUE_MARGINAL) {
                    assert_eq!(got.is_ok(), game == "marginal", "{what}");
                    continue;
                }
                for (got, exact) in got.unwrap().iter().zip(&exact) {
                    assert_eq!(got.value, value.concept(), "{what}");
                    assert!(largest_difference(&got.values, &exact.values) < 1e-12, "{what}");
                    assert!(largest_difference(&got.base, &exact.base) < 1e-12, "{what}");
                    assert!(largest_difference(&got.prediction, &exact.prediction) < 1e-12, "{what}");
                }
            }
        }
    }
}

#[test]
fn null_players_taken_out_leave_the_values_of_the_others_as_they_were() {
    // Features 1 and 4 equal the background, and so does the only member of the group {3}.
    let model = |row: &[f64]| row[0] * row[2] + (row[1] + row[2]) * row[4] + row[5] * row[0] + row[3];
    let explicand = [1.0, 1.0, 2.0, 1.0, 0.5, 3.0];
    let partition = Partition::new(6, vec![vec![0, 1], vec![3], vec![2, 4, 5]]).unwrap();
    // Two hierarchies. The null players are removed. In ((0, 1), 3), (2, 4), 5, the remaining features 0, 2
    // and 5 are not grouped. In (((2, 4), 5), 1), (0, 3), the group of 2 and 5 remains.
    let mut over = Vec::new();
    for parents in [
        [6, 6, 8, 7, 8, 9, 7, 9, 9].map(Some).into_iter().chain([None]).collect::<Vec<_>>(),
        [9, 8, 6, 9, 6, 7, 7, 8, 10, 10].map(Some).into_iter().chain([None]).collect(),
    ] {
        let hierarchy = Hierarchy::from_parents(6, &parents).unwrap();
        over.extend([Value::owen_over(hierarchy.clone()), Value::banzhaf_owen_over(hierarchy)]);
    }
    for value in values_in(&partition).into_iter().chain(over) {
        if value.check(6).is_err() {
            continue;
        }
        let name = value.concept();
        let explain = |null_players, method| {
            let background = Background::baseline(vec![0.0, 1.0, 0.0, 1.0, 0.5, 0.0]).unwrap();
            Explainer::new(&model, background)
                .value(value.clone())
                .method(method)
                .null_players(null_players)
                .explain(&explicand)
                .unwrap()
        };
        let with = explain(NullPlayers::Keep, Method::Exact);
        for method in [Method::Exact, Method::Auto] {
            let without = explain(NullPlayers::TakeOut, method);
            assert!(largest_difference(&without.values, &with.values) < 1e-12, "{name}, {method}");
            assert_eq!(without.value, name);
        }
    }
    // The two-step value of a null player includes a share of its group's surplus.
    let background = Background::baseline(vec![0.0, 1.0, 0.0, 1.0, 0.5, 0.0]).unwrap();
    let explainer = Explainer::new(&model, background);
    let two_step = explainer.value(Value::two_step(partition)).explain(&explicand).unwrap();
    assert!(two_step.values[1].abs() > 0.1);
    assert!(two_step.efficiency_gap() < 1e-12);
}

#[test]
fn one_group_and_groups_of_one_are_no_groups_at_all() {
    let ensemble = iris();
    let shapley = Explainer::for_trees(&ensemble, background()).explain_rows(flowers()).unwrap();
    for partition in [Partition::whole(4), Partition::singletons(4)] {
        for name in ["owen", "two-step"] {
            let explainer = Explainer::for_trees(&ensemble, background()).value(value_in(name, &partition));
            let got = explainer.explain_rows(flowers()).unwrap();
            for (got, shapley) in got.iter().zip(&shapley) {
                assert!(largest_difference(&got.values, &shapley.values) < 1e-12, "{name}");
            }
        }
    }
    let quotient = Explainer::for_trees(&ensemble, background())
        .value(Value::quotient(Semivalue::Shapley, sepal_and_petal()))
        .explain_rows(flowers())
        .unwrap();
    let owen = Explainer::for_trees(&ensemble, background())
        .value(Value::owen(sepal_and_petal()))
        .explain_rows(flowers())
        .unwrap();
    for (owen, quotient) in owen.iter().zip(&quotient) {
        let partition = sepal_and_petal();
        axioms::quotient_property(&partition, &owen.values, &quotient.values, 1e-12).unwrap();
    }
}

#[test]
fn groups_that_do_not_fit_what_is_asked_for_are_refused() {
    let ensemble = iris();
    let explainer = || Explainer::for_trees(&ensemble, background());
    for method in [Method::Auto, Method::Exact, Method::By(&methods::LEVERAGE)] {
        let owen = explainer().value(Value::owen(Partition::whole(3))).method(method);
        let others = owen.explain_rows(flowers()).unwrap_err().to_string();
        assert!(others.contains('3') && others.contains('4'), "{method}: {others}");
    }
}

#[test]
fn a_users_laws_are_enumerated_and_sampled() {
    let model = |row: &[f64]| row[0] * row[1] + row[2];
    let weighted = LinearValue::weighted_shapley(&[3.0, 1.0, 1.0]).unwrap();
    let explain = |method| {
        Explainer::new(&model, Background::baseline(vec![0.0; 3]).unwrap())
            .value(weighted.clone())
            .method(method)
            .explain(&[2.0, 2.0, 5.0])
            .unwrap()
    };
    for method in [Method::Auto, Method::Exact] {
        assert!(largest_difference(&explain(method).values, &[3.0, 1.0, 5.0]) < 1e-12, "{method}");
    }
    let ensemble = iris();
    let refused = Explainer::for_trees(&ensemble, background())
        .value(LinearValue::weighted_shapley(&[1.0; 4]).unwrap())
        .method(Method::Tree)
        .explain_rows(flowers())
        .unwrap_err();
    assert!(refused.to_string().contains("exact"), "{refused}");
}

#[test]
fn in_a_conditional_game_a_feature_the_model_ignores_has_a_share_of_what_it_tells() {
    let model = |row: &[f64]| row[0];
    let distribution = GaussianDistribution::new(&[0.0, 0.0], &[1.0, 0.8, 0.8, 1.0], 4000, 3).unwrap();
    let got = Explainer::conditional(&model, &distribution).explain(&[1.0, 1.0]).unwrap();
    // v({0}) = 1, v({1}) = 0.8 and v(N) = 1, so the value of the second feature is (0.8 + 0) / 2.
    assert!((got.values[1] - 0.4).abs() < 0.03, "{:?}", got.values);
    assert!((got.values[0] - 0.6).abs() < 0.03, "{:?}", got.values);
    assert_eq!(got.prediction, [1.0]);

    let rows: Vec<f64> = (0..200).flat_map(|i| [f64::from(i % 2), f64::from(i % 2)]).collect();
    let distribution = EmpiricalDistribution::fit(Rows::new(&rows, 2)).unwrap();
    let explainer =
        Explainer::conditional(&model, &distribution).value(Value::owen(Partition::singletons(2)));
    let got = explainer.explain(&[1.0, 1.0]).unwrap();
    assert!(largest_difference(&got.values, &[0.25, 0.25]) < 1e-9, "{:?}", got.values);
    let refused = Explainer::conditional(&model, &distribution).method(Method::Tree).explain(&[1.0, 1.0]);
    assert!(matches!(refused, Err(ExplainError::NotTrees)));
    let missing = Explainer::conditional(&model, &distribution).explain(&[f64::NAN, 1.0]).unwrap_err();
    assert!(missing.to_string().contains("missing"), "{missing}");
}

#[test]
fn standard_errors_in_a_conditional_game_cover_its_draws() {
    // The reference values come from 4000 times as many draws.
    let covariance: Vec<f64> = (0..16).map(|at| if at % 5 == 0 { 1.0 } else { 0.5 }).collect();
    let model = |row: &[f64]| row[0] + 2.0 * row[1] - row[2];
    let explicand = [1.0, -0.5, 0.3, 2.0];
    let explain = |draws, seed, method, value: &str| {
        let distribution = GaussianDistribution::new(&[0.0; 4], &covariance, draws, seed).unwrap();
        let explainer = Explainer::conditional(&model, &distribution).method(method).seed(seed);
        let explainer = explainer.value(value_in(value, &sepal_and_petal()));
        let budget = if method == Method::Exact { 16 } else { 12 };
        explainer.budget(Budget::Evaluations(budget)).explain(&explicand).unwrap()
    };
    for (method, value) in [
        (Method::Exact, "shapley"),
        (Method::Exact, "owen"),
        (Method::By(&methods::LEVERAGE_SHAP), "shapley"),
        (Method::By(&methods::PRODUCT_SPACE), "owen"),
        (Method::By(&methods::NESTED_PERMUTATION), "owen"),
        (Method::By(&methods::NESTED_PERMUTATION), "shapley"),
    ] {
        let truth = explain(200_000, 1000, Method::Exact, value).values;
        let (mut covered, mut all) = (0, 0);
        for seed in 0..150 {
            let got = explain(50, seed, method, value);
            for ((value, error), truth) in got.values.iter().zip(got.std_errors.unwrap()).zip(&truth) {
                covered += usize::from((value - truth).abs() <= 1.96 * error);
                all += 1;
            }
        }
        let coverage = f64::from(covered as u32) / f64::from(all);
        assert!((0.90..=0.99).contains(&coverage), "{method}, {value}: {coverage}");
    }
    assert_eq!(explain(1, 0, Method::Exact, "shapley").std_errors, None);
    // `auto` has the same standard errors as the method that it chooses.
    let distribution = GaussianDistribution::new(&[0.0; 4], &covariance, 50, 3).unwrap();
    let of_beta = |method| {
        let value = value_in("coalitional=beta=4,1/shapley", &sepal_and_petal());
        let explainer = Explainer::conditional(&model, &distribution).value(value);
        explainer.method(method).budget(Budget::Evaluations(11)).explain(&explicand).unwrap()
    };
    assert_eq!(of_beta(Method::Auto), of_beta(Method::By(&methods::PRODUCT_SPACE)));
    // An empirical distribution draws nothing, so there is no error to add.
    let rows: Vec<f64> = (0..200).flat_map(|i| [f64::from(i % 2), f64::from(i % 3)]).collect();
    let distribution = EmpiricalDistribution::fit(Rows::new(&rows, 2)).unwrap();
    let model = |row: &[f64]| row[0] * row[1];
    let got = Explainer::conditional(&model, &distribution).explain(&[1.0, 2.0]).unwrap();
    assert_eq!(got.std_errors, Some(vec![0.0; 2]));
}

#[test]
fn auto_samples_values_of_groups_by_leverage_scores_where_it_can() {
    let model = |row: &[f64]| row.iter().product::<f64>();
    let partition =
        Partition::new(16, (0..4).map(|group| (4 * group..4 * group + 4).collect()).collect()).unwrap();
    for (value, method) in [
        ("owen", "learned-spectrum"),
        ("two-step", "exact"),
        ("quotient-shapley", "exact"),
        ("coalitional=beta=4,1/shapley", "product-space"),
    ] {
        let background = Background::baseline(vec![0.5; 16]).unwrap();
        let explanation = Explainer::new(&model, background)
            .value(value_in(value, &partition))
            .budget(Budget::Evaluations(300))
            .explain(&[1.1; 16])
            .unwrap();
        assert_eq!(explanation.method, method, "{value}");
        assert!(explanation.std_errors.is_some() && explanation.evaluations <= 300, "{value}");
    }
    let of_banzhaf = Method::sampled(&Semivalue::Banzhaf.into(), 5, 20);
    assert_eq!(of_banzhaf, Method::By(&methods::LEARNED_SPECTRUM));
}
