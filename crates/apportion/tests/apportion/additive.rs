//! Exact values of additive models equal enumeration.

use std::sync::atomic::{AtomicUsize, Ordering};

use apportion::estimators::{EstimatorError, Guarantee, methods};
use apportion::games::{GaussianDistribution, Graph, SumOfUnanimity};
use apportion::kernels::KernelMachine;
use apportion::values::{GraphValue, InteractionIndex, ValueError};
use apportion::{
    Background, Budget, ExplainError, Explainer, GameExplainer, Method, NullPlayers, Partition, Rows,
    Semivalue, Until, Value, batch_model,
};

use super::common::{largest_difference, value_in};

const FEATURES: usize = 7;
const PAIRS: [[usize; 2]; 3] = [[0, 1], [4, 1], [5, 6]];

/// Returns pseudo-random numbers between −1 and 1.
fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|at| (at as f64 * 1.7 + (at * at) as f64 * 0.3).sin()).collect()
}

fn pairs() -> Vec<Vec<usize>> {
    PAIRS.map(Vec::from).to_vec()
}

/// Returns the outputs of an additive model with pairs of features.
fn outputs(row: &[f64]) -> [f64; 2] {
    let alone: f64 = row.iter().enumerate().map(|(at, x)| (x * (at + 1) as f64 / 4.0).exp()).sum();
    let pairs = PAIRS.map(|[first, second]| (row[first] - 3.0 * row[second]).cos());
    [alone + pairs.iter().sum::<f64>(), 100.0 - alone / 2.0 + 3.0 * pairs[0]]
}

fn background() -> Background {
    let weights = [1.0, 2.0, 0.5, 1.0, 0.0, 1.0, 3.0, 1.0];
    Background::rows(numbers(8 * FEATURES), FEATURES).unwrap().with_weights(&weights).unwrap()
}

fn rows() -> Vec<f64> {
    numbers(13 * FEATURES).split_off(8 * FEATURES)
}

#[test]
fn every_value_equals_enumeration() {
    let model = batch_model(2, |rows: Rows<'_>| Ok(rows.iter().flat_map(outputs).collect()));
    let groups = Partition::new(FEATURES, vec![vec![0, 3], vec![1, 2, 4, 6], vec![5]]).unwrap();
    let names = [
        "shapley",
        "banzhaf",
        "weighted-banzhaf=0.3",
        "beta=4,1",
        "size-distribution=0.1,0.2,0.1,0.2,0.1,0.2,0.1",
        "owen",
        "banzhaf-owen",
        "two-step",
        "quotient-shapley",
        "quotient-beta=1,4",
    ];
    let mut values: Vec<Value> = names.iter().map(|name| value_in(name, &groups)).collect();
    values.push(Value::on_graph(GraphValue::myerson(), Graph::line(FEATURES)));
    values.push(Value::on_graph(GraphValue::c_shapley(1), Graph::line(FEATURES)));
    for value in values {
        let explained = |method| {
            let explainer = Explainer::new(&model, background()).value(value.clone()).method(method);
            explainer.additive(pairs()).explain_rows(Rows::new(&rows(), FEATURES)).unwrap()
        };
        let (found, enumerated) = (explained(Method::Auto), explained(Method::Exact));
        assert_eq!(found, explained(Method::Additive));
        for (found, expected) in found.iter().zip(&enumerated) {
            let name = found.value.to_string();
            assert_eq!((&*found.method, found.evaluations), ("additive", 2 + FEATURES + 3), "{name}");
            assert_eq!(found.model_rows, 8 * (2 + FEATURES + 3));
            assert_eq!((&found.value, &*expected.method == "additive"), (&expected.value, false));
            assert!(found.diagnostics.exact);
            assert!(found.std_errors.iter().flatten().all(|error| *error == 0.0));
            for (got, expected) in [
                (&found.values, &expected.values),
                (&found.base, &expected.base),
                (&found.prediction, &expected.prediction),
            ] {
                assert!(largest_difference(got, expected) < 1e-12, "{name}: {got:?} {expected:?}");
            }
        }
    }
}

#[test]
fn many_features_and_predictions_are_counted() {
    let predictions = AtomicUsize::new(0);
    let model = |row: &[f64]| {
        predictions.fetch_add(1, Ordering::Relaxed);
        row.iter().map(|x| x.powi(3)).sum::<f64>() + row[70] * row[99]
    };
    let background = Background::rows(numbers(40 * 100), 100).unwrap();
    let explainer = || Explainer::new(&model, background.clone()).additive([vec![99, 70]]);
    let row = numbers(101).split_off(1);
    let plan = explainer().plan(1, Rows::new(&row, 100)).unwrap();
    assert_eq!((plan.method, plan.max_evaluations, plan.budget), (Method::Additive, Some(103), None));
    let found = explainer().explain(&row).unwrap();
    assert_eq!((found.evaluations, predictions.load(Ordering::Relaxed)), (103, 103 * 40));
    let mean = |of: &dyn Fn(&[f64]) -> f64| background.as_rows().iter().map(of).sum::<f64>() / 40.0;
    assert!((found.values[3] - (row[3].powi(3) - mean(&|row| row[3].powi(3)))).abs() < 1e-12);
    let of_pair = mean(&|absent| (row[70] - absent[70]) * (row[99] + absent[99]) / 2.0);
    let alone = row[70].powi(3) - mean(&|row| row[70].powi(3));
    assert!((found.values[70] - alone - of_pair).abs() < 1e-12);
}

#[test]
fn null_players_take_no_evaluations() {
    let model = |row: &[f64]| outputs(row)[0];
    let background = Background::baseline(vec![0.25; FEATURES]).unwrap();
    let explainer = || Explainer::new(&model, background.clone()).additive(pairs());
    let row = [0.5, 0.25, 0.25, 0.75, 1.0, 0.25, 0.25];
    let reduced = explainer().explain(&row).unwrap();
    let kept = explainer().null_players(NullPlayers::Keep).explain(&row).unwrap();
    assert_eq!((reduced.evaluations, kept.evaluations), (5, 12));
    assert!(largest_difference(&reduced.values, &kept.values) < 1e-12);
    assert_eq!(reduced.values[5], 0.0);
    assert_eq!(explainer().explain(&[0.25; FEATURES]).unwrap().values, [0.0; FEATURES]);
}

#[test]
fn a_false_declaration_is_an_error_for_the_row() {
    let model = |row: &[f64]| outputs(row)[0];
    let explain = |pairs: Vec<Vec<usize>>, row: &[f64]| {
        Explainer::new(&model, background()).additive(pairs).explain(row)
    };
    let rows = rows();
    for left_out in 0..3 {
        let mut declared = pairs();
        declared.remove(left_out);
        let refused = explain(declared, &rows[..FEATURES]).unwrap_err();
        assert!(matches!(refused, ExplainError::Value(ValueError::NotAdditive { .. })), "{refused}");
    }
    let refused = explain(Vec::new(), &rows[..FEATURES]).unwrap_err().to_string();
    assert!(refused.starts_with("the game is not a sum of the declared terms"), "{refused}");
    // It is correct to declare interactions that the model does not have.
    let more = [pairs(), vec![vec![2, 3], vec![0, 1, 2]]].concat();
    let found = explain(more, &rows[..FEATURES]).unwrap();
    let expected = explain(pairs(), &rows[..FEATURES]).unwrap();
    assert!(largest_difference(&found.values, &expected.values) < 1e-12);
    assert!(found.evaluations > expected.evaluations);
    let logistic = |row: &[f64]| 1.0 / (1.0 + (-row[0] - row[1]).exp());
    let background = Background::baseline(vec![0.0; 2]).unwrap();
    let refused = Explainer::new(&logistic, background).additive([]).explain(&[1.0, 2.0]).unwrap_err();
    assert!(matches!(refused, ExplainError::Value(ValueError::NotAdditive { .. })), "{refused}");
}

#[test]
fn other_methods_and_small_budgets_ignore_the_declaration() {
    let model = |row: &[f64]| outputs(row)[0];
    let row = &rows()[..FEATURES];
    let explain = |declared: bool, method: Method, budget: Budget| {
        let explainer = Explainer::new(&model, background()).method(method).budget(budget);
        if declared { explainer.additive(pairs()) } else { explainer }.explain(row)
    };
    for method in [Method::Exact, Method::Table, (&methods::LEVERAGE_SHAP).into()] {
        let expected = explain(false, method, Budget::Auto).unwrap();
        assert_eq!(explain(true, method, Budget::Auto).unwrap(), expected, "{method}");
    }
    let (enough, few) = (Budget::Evaluations(12), Budget::Evaluations(11));
    assert_eq!(explain(true, Method::Auto, enough).unwrap().method, "additive");
    assert_eq!(explain(true, Method::Auto, few).unwrap(), explain(false, Method::Auto, few).unwrap());
    let refused = explain(true, Method::Additive, few).unwrap_err();
    let ExplainError::Estimator(EstimatorError::Budget { method, actual, min, .. }) = refused else {
        panic!("{refused}")
    };
    assert_eq!((method, actual, min), ("additive", 11, 12));
    // The automatic budget does not cover all pairs of 128 players.
    let all = |players: usize| -> Vec<Vec<usize>> {
        (1..players).flat_map(|second| (0..second).map(move |first| vec![first, second])).collect()
    };
    for (players, method) in [(126, "additive"), (128, "learned-spectrum")] {
        let plan = GameExplainer::new().additive(all(players)).plan(players).unwrap();
        assert_eq!(plan.method.name(), method);
        let chosen = GameExplainer::new().additive(all(players)).method(Method::Additive);
        assert_eq!(chosen.plan(players).unwrap().method, Method::Additive);
    }
}

#[test]
fn a_tolerance_has_a_certificate() {
    let model = |row: &[f64]| outputs(row)[0];
    let explainer = || Explainer::new(&model, background()).additive(pairs());
    let found = explainer().until(Until::relative(0.01)).explain(&rows()[..FEATURES]).unwrap();
    assert_eq!((&*found.method, found.evaluations), ("additive", 12));
    assert_eq!(found.certificate.unwrap().guarantee, Guarantee::Exact);
    let few = explainer().until(Until::relative(0.01).with_budget(Some(11)));
    assert_ne!(few.explain(&rows()[..FEATURES]).unwrap().method, "additive");
}

#[test]
fn interactions_are_exact_also_for_groups() {
    let model = |row: &[f64]| outputs(row)[0];
    let groups = Partition::new(FEATURES, vec![vec![0, 3], vec![1, 2, 4], vec![6], vec![5]]).unwrap();
    let (rows, index) = (rows(), InteractionIndex::from(Semivalue::Shapley));
    let rows = Rows::new(&rows, FEATURES);
    for groups in [None, Some(&groups)] {
        let indices = |method| {
            let explainer = Explainer::new(&model, background()).method(method).additive(pairs());
            explainer.indices(&index, 2, groups, rows).unwrap()
        };
        let players = groups.map_or(FEATURES, Partition::len);
        for (found, expected) in indices(Method::Auto).iter().zip(indices(Method::Exact)) {
            for second in 0..players {
                for first in 0..=second {
                    let members = if first == second { vec![first] } else { vec![first, second] };
                    let of = |found: &apportion::Interactions| found.get(&members).map_or(0.0, |of| of[0]);
                    assert!((of(found) - of(&expected)).abs() < 1e-12, "{members:?}");
                }
            }
        }
        assert_eq!(indices(Method::Additive), indices(Method::Auto));
    }
    // This game has too many players for enumeration.
    let game = SumOfUnanimity::new(80, 1.0, (1..80).map(|player| (vec![player - 1, player], 2.0))).unwrap();
    let pairs = (1..80).map(|player| vec![player - 1, player]);
    let found = GameExplainer::new().additive(pairs).indices(&game, &index, 2).unwrap();
    assert_eq!((found.get(&[7, 8]), found.get(&[7])), (Some(&[2.0][..]), Some(&[2.0][..])));
    assert!(found.std_errors().is_none());
}

#[test]
fn bits_do_not_depend_on_threads_or_other_rows() {
    let model = |row: &[f64]| outputs(row)[0];
    let explainer = Explainer::new(&model, background()).additive(pairs());
    let rows = numbers(40 * FEATURES);
    let rows = Rows::new(&rows, FEATURES);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| explainer.explain_rows(rows).unwrap())
    };
    let all = on(1);
    assert_eq!(on(3), all);
    assert_eq!(explainer.explain(rows.row(31)).unwrap(), all[31]);
}

#[test]
fn only_marginal_games_of_functions_are_declared_additive() {
    let model = |row: &[f64]| row[0] + row[1];
    let explainer = Explainer::new(&model, Background::baseline(vec![0.0; 2]).unwrap());
    let refused = explainer.method(Method::Additive).explain(&[1.0, 2.0]).unwrap_err();
    assert!(matches!(refused, ExplainError::NotAdditive), "{refused}");
    let game = SumOfUnanimity::random(4, 4, 2, 1);
    let undeclared = GameExplainer::new().method(Method::Additive);
    assert!(matches!(undeclared.explain(&game), Err(ExplainError::NotAdditive)));
    let index = InteractionIndex::from(Semivalue::Shapley);
    assert!(matches!(undeclared.indices(&game, &index, 2), Err(ExplainError::NotAdditive)));
    let unknown = GameExplainer::new().additive([vec![0, 4]]).explain(&game).unwrap_err().to_string();
    assert_eq!(unknown, "unknown player 4 in interaction 0; expected 0 to 3");

    let distribution = GaussianDistribution::new(&[0.0, 0.0], &[1.0, 0.5, 0.5, 1.0], 10, 0).unwrap();
    let machine = KernelMachine::new(2, &[1.0]).unwrap().with_linear(&[1.0, 2.0]).unwrap();
    let background = Background::baseline(vec![0.0; 2]).unwrap();
    for explainer in
        [Explainer::conditional(&model, &distribution), Explainer::for_kernel_machine(&machine, background)]
    {
        let explainer = explainer.additive([]);
        assert!(matches!(explainer.explain(&[1.0, 2.0]), Err(ExplainError::NotMarginal)));
        let refused = explainer.indices(&index, 2, None, Rows::new(&[1.0, 2.0], 2));
        assert!(matches!(refused, Err(ExplainError::NotMarginal)));
    }
    assert_eq!("additive".parse::<Method>().unwrap(), Method::Additive);
    assert!(Method::all().all(|method| method != Method::Additive));
}
