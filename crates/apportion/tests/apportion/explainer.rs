//! Tests the explainer for closures and tree ensembles: methods, null players, errors and threads.

use std::sync::Arc;

use apportion::estimators::methods;
use apportion::games::GameError;
use apportion::trees::Diagonal;
use apportion::{
    Background, Budget, Ensemble, ExplainError, Explainer, Explanation, Method, NullPlayers, Rows, Semivalue,
    batch_model,
};

use crate::common::{background, flowers, iris, largest_difference};

/// Returns whether `method` is exact if the budget covers all coalitions. The only exception treats the
/// background as a sample, and thus estimates a different game.
fn enumerates(method: Method, value: &Semivalue) -> bool {
    method != Method::By(&methods::PRODUCT_SPACE_TRUE_MARGINAL) && method.computes(&value.clone().into())
}

#[test]
fn every_method_explains_an_ensemble_exactly_at_a_full_budget() {
    let ensemble = iris();
    let explainer = |method| Explainer::for_trees(&ensemble, background()).method(method);
    let truth = explainer(Method::Exact).explain_rows(flowers()).unwrap();
    for method in Method::all().filter(|method| enumerates(*method, &Semivalue::Shapley)) {
        let got = explainer(method).explain_rows(flowers()).unwrap();
        for (got, truth) in got.iter().zip(&truth) {
            assert!(largest_difference(&got.values, &truth.values) < 1e-12, "{method}");
            assert!(largest_difference(&got.base, &truth.base) < 1e-12, "{method}");
            assert!(got.efficiency_gap() < 1e-12, "{method}");
        }
    }
}

/// Returns one value of each kind, for the four features of the iris data.
fn values() -> Vec<Semivalue> {
    [
        "shapley",
        "banzhaf",
        "weighted-banzhaf=0.2",
        "beta=4,1",
        "size-distribution=0.1,0.2,0.3,0.4",
        "mixture=0.1:0.5,1:0.5",
    ]
    .map(|name| name.parse().unwrap())
    .to_vec()
}

#[test]
fn every_method_that_computes_a_value_agrees_with_enumeration_in_both_games() {
    let ensemble = iris();
    for value in values() {
        let explainers = |game: &str| match game {
            "marginal" => Explainer::for_trees(&ensemble, background()).value(value.clone()),
            _ => Explainer::path_dependent(&ensemble).value(value.clone()),
        };
        for game in ["marginal", "path-dependent"] {
            let exact = explainers(game).method(Method::Exact).explain_rows(flowers()).unwrap();
            for method in Method::all() {
                // 16 evaluations cover all coalitions.
                let budget = Budget::Evaluations(16);
                let got = explainers(game).method(method).budget(budget).explain_rows(flowers());
                if !method.computes(&value.clone().into()) {
                    assert!(matches!(got, Err(ExplainError::Unsupported { .. })), "{method}, {value}");
                    continue;
                }
                if method == Method::Table && game == "path-dependent" {
                    assert!(matches!(got, Err(ExplainError::NotTable)), "{value}");
                    continue;
                }
                if !enumerates(method, &value) {
                    // The method requires several scenarios, but the path-dependent game has only one.
                    assert_eq!(got.is_ok(), game == "marginal", "{method}, {value}");
                    continue;
                }
                for (got, exact) in got.unwrap().iter().zip(&exact) {
                    let what = format!("{method}, {value}, {game}");
                    assert_eq!(got.value, value, "{what}");
                    assert!(largest_difference(&got.values, &exact.values) < 1e-12, "{what}");
                    assert!(largest_difference(&got.base, &exact.base) < 1e-12, "{what}");
                    assert!(largest_difference(&got.prediction, &exact.prediction) < 1e-12, "{what}");
                }
            }
        }
    }
}

#[test]
fn weights_by_size_keep_their_meaning_when_null_players_are_taken_out() {
    let model = |row: &[f64]| row[0] * row[2] + row[0] * row[2] * row[4];
    let value = Semivalue::from_size_distribution(&[0.4, 0.1, 0.1, 0.1, 0.3]).unwrap();
    let explain = |null_players, method| {
        let background = Background::baseline(vec![0.0, 1.0, 0.0, 1.0, 0.0]).unwrap();
        Explainer::new(&model, background)
            .value(value.clone())
            .method(method)
            .null_players(null_players)
            .explain(&[1.0, 1.0, 2.0, 1.0, 3.0])
            .unwrap()
    };
    for method in [
        Method::Exact,
        Method::By(&methods::MONTE_CARLO),
        Method::By(&methods::MSR),
        Method::By(&methods::MSR_ADJUSTED),
    ] {
        let (without, with) = (explain(NullPlayers::TakeOut, method), explain(NullPlayers::Keep, method));
        assert!(largest_difference(&without.values, &with.values) < 1e-12, "{method}");
        assert_eq!(without.value, value);
    }
    let background = Background::baseline(vec![0.0; 4]).unwrap();
    let refused = Explainer::new(&model, background).value(value).explain(&[1.0; 4]);
    assert!(matches!(refused, Err(ExplainError::Value(_))));
}

#[test]
fn auto_samples_by_the_method_that_suits_the_value() {
    let model = |row: &[f64]| row.iter().product::<f64>();
    for (value, method) in [
        ("shapley", "learned-spectrum"),
        ("banzhaf", "learned-spectrum"),
        ("weighted-banzhaf=0.3", "learned-spectrum"),
        ("beta=4,1", "learned-spectrum"),
    ] {
        let background = Background::baseline(vec![0.5; 12]).unwrap();
        let explainer = Explainer::new(&model, background).value(value.parse::<Semivalue>().unwrap());
        let explanation = explainer.explain(&[1.1; 12]).unwrap();
        assert!(explanation.method.starts_with(method), "{value}: {}", explanation.method);
        assert!(explanation.std_errors.is_some(), "{value}");
    }
}

#[test]
fn auto_is_the_tree_explainer_for_trees_enumeration_for_few_players_and_the_learned_spectrum_for_many() {
    let ensemble = iris();
    assert_eq!(
        Explainer::for_trees(&ensemble, background()).explain(flowers().row(0)).unwrap().method,
        "tree"
    );
    let model = |row: &[f64]| row.iter().product::<f64>();
    let of = |players: usize| -> Explanation {
        let zeros = Background::baseline(vec![0.0; players]).unwrap();
        Explainer::new(&model, zeros).explain(&vec![1.0; players]).unwrap()
    };
    assert_eq!(of(11).method, "exact");
    assert_eq!(of(12).method, "learned-spectrum");
    assert_eq!(of(12).evaluations, 240);
}

#[test]
fn one_row_alone_is_explained_as_among_others() {
    let ensemble = iris();
    for method in [Method::Exact, Method::By(&methods::LEVERAGE_SHAP), Method::By(&methods::PERMUTATION)] {
        let explainer = Explainer::for_trees(&ensemble, background())
            .method(method)
            .budget(Budget::Evaluations(if method == Method::Exact { 16 } else { 12 }))
            .seed(3);
        let together = explainer.explain_rows(flowers()).unwrap();
        let alone = explainer.explain(flowers().row(1)).unwrap();
        assert_eq!(together[1], alone, "{method}");
    }
}

#[test]
fn players_that_cannot_matter_get_exactly_zero_and_no_evaluations() {
    let model = |row: &[f64]| row[0] * row[2] + 0.1 * row[1] + row[3].sin();
    let background = Background::rows(vec![0.0, 5.0, 0.0, 7.0, 1.0, 5.0, 2.0, 7.0], 4).unwrap();
    let explicand = [3.0, 5.0, 4.0, 7.0];
    let of_any_model = |method: &Method| *method != Method::Tree && enumerates(*method, &Semivalue::Shapley);
    for method in Method::all().filter(of_any_model) {
        let explainer = Explainer::new(&model, background.clone()).method(method);
        let taken_out = explainer.explain(&explicand).unwrap();
        assert_eq!((taken_out.values[1], taken_out.values[3]), (0.0, 0.0), "{method}");
        assert_eq!(taken_out.evaluations, 4, "{method}: two players are left");
        // The table method always takes null players out.
        if method == Method::Table {
            continue;
        }
        let kept = Explainer::new(&model, background.clone())
            .method(method)
            .null_players(NullPlayers::Keep)
            .explain(&explicand)
            .unwrap();
        assert!(largest_difference(&kept.values, &taken_out.values) < 1e-12, "{method}");
        assert_eq!(kept.evaluations, 16, "{method}");
    }
}

#[test]
fn an_explicand_equal_to_the_background_is_explained_by_zeros() {
    let model = |row: &[f64]| row[0] + row[1];
    let explainer = Explainer::new(&model, Background::baseline(vec![2.0, 3.0]).unwrap());
    let explanation = explainer.explain(&[2.0, 3.0]).unwrap();
    assert_eq!(
        (explanation.values, explanation.base, explanation.prediction),
        (vec![0.0; 2], vec![5.0], vec![5.0])
    );
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let model = |row: &[f64]| row.iter().enumerate().map(|(i, x)| x * (i as f64).cos()).sum::<f64>().tanh();
    let rows: Vec<f64> = (0..20 * 30).map(|k| ((k * 37 % 101) as f64 / 50.0) - 1.0).collect();
    let others: Vec<f64> = (0..7 * 30).map(|k| ((k * 53 % 97) as f64 / 50.0) - 1.0).collect();
    let background = Background::rows(others, 30).unwrap();
    for method in [
        Method::By(&methods::LEVERAGE_SHAP),
        Method::By(&methods::OPTIMIZED_KERNEL_SHAP),
        Method::By(&methods::PERMUTATION),
    ] {
        let explained: Vec<String> = [1, 2, 3]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let explainer = Explainer::new(&model, background.clone())
                    .method(method)
                    .budget(Budget::PerPlayer(10))
                    .seed(5);
                let explanations = pool.install(|| explainer.explain_rows(Rows::new(&rows, 30))).unwrap();
                serde_json::to_string(&explanations).unwrap()
            })
            .collect();
        assert!(explained.iter().all(|text| *text == explained[0]), "{method}");
    }
}

#[test]
fn models_that_fail_are_reported_with_what_they_did() {
    let background = || Background::baseline(vec![0.0; 3]).unwrap();
    let nan = |row: &[f64]| if row[1] > 0.0 { f64::NAN } else { 0.0 };
    let refused = Explainer::new(&nan, background()).explain(&[1.0; 3]).unwrap_err();
    assert!(matches!(&refused, ExplainError::Estimator(_)), "{refused:?}");
    assert!(refused.to_string().contains("NaN"), "{refused}");

    let short = batch_model(2, |rows: Rows<'_>| Ok(vec![0.0; rows.len()]));
    let refused = Explainer::new(&short, background()).explain(&[1.0; 3]).unwrap_err().to_string();
    assert!(refused.contains("and 2 outputs; expected 16"), "{refused}");

    let broken = batch_model(1, |_: Rows<'_>| Err("the disk is on fire".into()));
    let refused = Explainer::new(&broken, background()).explain(&[1.0; 3]).unwrap_err().to_string();
    assert!(refused.contains("the disk is on fire"), "{refused}");
}

#[test]
fn serial_models_are_never_called_by_two_threads_at_once() {
    let busy = std::sync::atomic::AtomicBool::new(false);
    let model = batch_model(1, |rows: Rows<'_>| {
        assert!(!busy.swap(true, std::sync::atomic::Ordering::SeqCst), "two calls at once");
        let out = rows.iter().map(|row| row.iter().sum()).collect();
        std::thread::sleep(std::time::Duration::from_micros(200));
        busy.store(false, std::sync::atomic::Ordering::SeqCst);
        Ok(out)
    })
    .serial();
    let rows: Vec<f64> = (0..40).map(f64::from).collect();
    let explainer = Explainer::new(&model, Background::baseline(vec![0.5; 8]).unwrap());
    let explanations = explainer.explain_rows(Rows::new(&rows, 8)).unwrap();
    assert!(explanations.iter().all(|explanation| explanation.efficiency_gap() < 1e-9));
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let ensemble = iris();
    for method in [Method::Tree, Method::Exact, Method::By(&methods::LEVERAGE_SHAP)] {
        let explainer = Explainer::for_trees(&ensemble, background()).method(method);
        assert!(explainer.explain(&[1.0; 3]).is_err(), "{method}: too short");
        assert!(explainer.explain(&[]).is_err(), "{method}: empty");
        // Splits only compare values, so a value above all thresholds is equivalent to an infinite one.
        let infinite = explainer.explain(&[1.0, f64::INFINITY, 1.0, 1.0]).unwrap();
        assert_eq!(infinite.values, explainer.explain(&[1.0, 1e30, 1.0, 1.0]).unwrap().values, "{method}");
    }
    let narrow = Background::baseline(vec![0.0; 2]).unwrap();
    assert!(Explainer::for_trees(&ensemble, narrow).explain(flowers().row(0)).is_err());
    assert!(matches!(Background::rows(vec![], 4), Err(GameError::EmptyBackground)));
}

#[test]
fn an_explicand_without_values_is_refused_by_a_model_of_one_feature() {
    let ensemble = Ensemble::from_bytes(include_bytes!("../fixtures/one_feature.json")).unwrap();
    let baseline = || Background::baseline(vec![0.0]).unwrap();
    for explainer in [Explainer::for_trees(&ensemble, baseline()), Explainer::path_dependent(&ensemble)] {
        let refused = explainer.explain(&[]).unwrap_err().to_string();
        assert!(refused.contains("0 values, expected 1"), "{refused}");
        assert_eq!(explainer.explain_rows(Rows::new(&[], 1)).unwrap().len(), 0);
    }
    assert_eq!(Explainer::for_trees(&ensemble, baseline()).explain(&[3.0]).unwrap().values, [3.0]);
}

#[test]
fn the_tree_explainer_refuses_models_that_are_no_trees() {
    let model = |row: &[f64]| row[0];
    let explainer = Explainer::new(&model, Background::baseline(vec![0.0]).unwrap()).method(Method::Tree);
    assert!(matches!(explainer.explain(&[1.0]), Err(ExplainError::NotTrees)));
}

#[test]
fn a_budget_below_the_least_says_the_least() {
    let model = |row: &[f64]| row.iter().sum::<f64>();
    let explainer = Explainer::new(&model, Background::baseline(vec![0.0; 40]).unwrap())
        .method(Method::By(&methods::PERMUTATION))
        .budget(Budget::Evaluations(79));
    let refused = explainer.explain(&[1.0; 40]).unwrap_err().to_string();
    assert!(refused.contains("80") && refused.contains("79"), "{refused}");
}

#[test]
fn what_a_plan_says_is_what_is_done() {
    let ensemble = iris();
    let model = |row: &[f64]| row.iter().product::<f64>();
    let wide = |row: &[f64]| row.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
    let rows: Vec<f64> = (0..26).map(|number| f64::from(number) / 7.0).collect();
    let zeros = || Background::baseline(vec![0.0; 13]).unwrap();
    // One method requires several scenarios, which a plan does not check.
    let planned = |method: &Method| *method != Method::By(&methods::PRODUCT_SPACE_TRUE_MARGINAL);
    for method in Method::all().filter(planned) {
        for budget in [Budget::Auto, Budget::Evaluations(16), Budget::PerPlayer(6), Budget::Evaluations(2)] {
            for (name, explainer, rows) in [
                ("trees", Explainer::for_trees(&ensemble, background()), flowers()),
                ("closure", Explainer::new(&model, background()), flowers()),
                ("wide", Explainer::new(&wide, zeros()), Rows::new(&rows, 13)),
            ] {
                let explainer = explainer.method(method).budget(budget);
                let what = format!("{name}, {method}, {budget}");
                let plan = match explainer.plan(rows.len(), rows) {
                    Ok(plan) => plan,
                    Err(planned) => {
                        let refused = explainer.explain_rows(rows).unwrap_err();
                        assert_eq!(refused.to_string(), planned.to_string(), "{what}");
                        continue;
                    }
                };
                assert_eq!(plan.seconds.is_some(), plan.method == Method::Tree, "{what}");
                let explained = match explainer.explain_rows(rows) {
                    Ok(explained) => explained,
                    Err(refused) => {
                        assert!(plan.max_evaluations < plan.min_evaluations, "{what}: {plan:?}, {refused}");
                        continue;
                    }
                };
                for explanation in explained {
                    let evaluations = explanation.evaluations;
                    assert_eq!(explanation.method, plan.method.name(), "{what}");
                    assert!(
                        plan.max_evaluations.is_some_and(|most| evaluations <= most),
                        "{what}: {evaluations}, {plan:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn an_explainer_that_shares_its_model_outlives_it() {
    let ensemble = Arc::new(iris());
    let row = flowers().row(0);
    let borrowed = [
        Explainer::for_trees(&*ensemble, background()).explain(row).unwrap(),
        Explainer::path_dependent(&*ensemble).explain(row).unwrap(),
        Explainer::new(&*ensemble, background()).explain(row).unwrap(),
    ];
    let sharing: [Explainer<'static>; 3] = [
        Explainer::for_trees(Arc::clone(&ensemble), background()),
        Explainer::path_dependent(Arc::clone(&ensemble)),
        Explainer::new(ensemble, background()),
    ];
    let worker = std::thread::spawn(move || sharing.map(|explainer| explainer.explain(row).unwrap()));
    assert_eq!(worker.join().unwrap(), borrowed);
}

#[test]
fn interactions_are_of_trees() {
    let ensemble = iris();
    let explainer = Explainer::for_trees(&ensemble, background());
    let pairs = explainer.interactions(Diagonal::Remainder, flowers()).unwrap();
    let values = explainer.exact(flowers()).unwrap().unwrap();
    assert_eq!(explainer.explain_rows(flowers()).unwrap()[1].attributions(), values.of_row(1));
    // The rows of an interaction matrix sum to the Shapley values.
    for (row, player) in (0..pairs.rows()).flat_map(|row| (0..4).map(move |player| (row, player))) {
        for (output, value) in values.value(row, player).iter().enumerate() {
            let sum: f64 = (0..4).map(|other| pairs.pair(row, player, other)[output]).sum();
            assert!((sum - value).abs() < 1e-12);
        }
    }
    let model = |row: &[f64]| row[0];
    let refused = [
        Explainer::new(&model, background()).interactions(Diagonal::Value, flowers()),
        explainer.method(Method::Exact).interactions(Diagonal::Value, flowers()),
    ];
    for refused in refused {
        assert!(matches!(refused.unwrap_err(), ExplainError::NotTrees));
    }
}
