//! Exact values of kernel machines equal enumeration.

use std::ops::ControlFlow;

use apportion::estimators::methods;
use apportion::games::{Graph, SumOfUnanimity};
use apportion::kernels::{Kernel, KernelMachine};
use apportion::values::{GraphValue, InteractionIndex};
use apportion::{
    Background, Budget, ExplainError, Explainer, Explanation, GameExplainer, KernelFile, Method, Partition,
    Rows, Semivalue, Until, Value,
};

use super::common::{largest_difference, value_in};

const FEATURES: usize = 6;

/// Returns pseudo-random numbers between −1 and 1.
fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|at| (at as f64 * 1.7 + (at * at) as f64 * 0.3).sin()).collect()
}

/// Returns a machine with two outputs, the sum of two kernels and a linear part.
fn machine() -> KernelMachine {
    let gamma = vec![0.3, 1.0, 0.0, 0.7, 0.1, 2.0];
    KernelMachine::new(FEATURES, &[1.0, -2.0])
        .and_then(|machine| machine.with_kernel(Kernel::Rbf { gamma }, &numbers(60), &numbers(20)))
        .and_then(|machine| machine.with_kernel(Kernel::laplace(0.5, 6), &numbers(90), &numbers(30)))
        .and_then(|machine| machine.with_linear(&numbers(12)))
        .unwrap()
}

fn background() -> Background {
    Background::rows(numbers(48), FEATURES)
        .unwrap()
        .with_weights(&[1.0, 2.0, 0.5, 1.0, 0.0, 1.0, 3.0, 1.0])
        .unwrap()
}

fn rows() -> Vec<f64> {
    numbers(60).split_off(6)
}

fn explained(value: &Value, method: Method) -> Vec<Explanation> {
    let machine = machine();
    let explainer = Explainer::for_kernel_machine(&machine, background()).value(value.clone()).method(method);
    explainer.explain_rows(Rows::new(&rows(), FEATURES)).unwrap()
}

#[test]
fn every_value_equals_enumeration() {
    let groups = Partition::new(FEATURES, vec![vec![0, 3], vec![1, 2, 4], vec![5]]).unwrap();
    for name in [
        "shapley",
        "banzhaf",
        "weighted-banzhaf=0.3",
        "beta=4,1",
        "owen",
        "banzhaf-owen",
        "two-step",
        "quotient-shapley",
        "quotient-beta=1,4",
    ] {
        let value = value_in(name, &groups);
        let (exact, enumerated) = (explained(&value, Method::Auto), explained(&value, Method::Exact));
        assert_eq!(exact, explained(&value, Method::KernelMachine));
        for (exact, enumerated) in exact.iter().zip(&enumerated) {
            assert_eq!(
                (&*exact.method, exact.evaluations, exact.model_rows),
                ("kernel-machine", 0, 0),
                "{name}"
            );
            assert_eq!((&exact.value, &*enumerated.method), (&enumerated.value, "exact"), "{name}");
            assert!(exact.std_errors.as_ref().is_none_or(|errors| errors.iter().all(|error| *error == 0.0)));
            for (got, expected) in [
                (&exact.values, &enumerated.values),
                (&exact.base, &enumerated.base),
                (&exact.prediction, &enumerated.prediction),
            ] {
                assert!(largest_difference(got, expected) < 1e-12, "{name}");
            }
        }
    }
}

#[test]
fn interaction_indices_equal_enumeration() {
    let (machine, rows) = (machine(), rows());
    let rows = Rows::new(&rows, FEATURES);
    let groups = Partition::new(FEATURES, vec![vec![0, 3], vec![1, 2, 4], vec![5]]).unwrap();
    let indices = |method: Method, name: &str, groups: Option<&Partition>| {
        let explainer = Explainer::for_kernel_machine(&machine, background()).method(method);
        explainer.indices(&name.parse().unwrap(), 2, groups, rows)
    };
    for name in ["shapley", "banzhaf", "k-shapley", "shapley-taylor", "faithful-shapley", "faithful-banzhaf"]
    {
        for groups in [None, Some(&groups)] {
            let exact = indices(Method::Auto, name, groups).unwrap();
            assert_eq!(exact, indices(Method::KernelMachine, name, groups).unwrap());
            for (exact, enumerated) in exact.iter().zip(indices(Method::Exact, name, groups).unwrap()) {
                assert!(exact.std_errors().is_none());
                assert_eq!(exact.coalitions(), enumerated.coalitions());
                assert!(largest_difference(exact.values(), enumerated.values()) < 1e-12, "{name}");
                assert!(largest_difference(exact.constant(), enumerated.constant()) < 1e-12, "{name}");
            }
        }
    }
    // Generalized values are enumerated.
    let name = "generalized-shapley";
    assert_eq!(indices(Method::Auto, name, None).unwrap(), indices(Method::Exact, name, None).unwrap());
    let refused = indices(Method::KernelMachine, name, None).unwrap_err();
    assert!(matches!(refused, ExplainError::Kernels(_)), "{refused}");
    assert_eq!(Method::KernelMachine.of_indices(false), Method::KernelMachine);
}

#[test]
fn interactions_of_many_features_need_no_evaluations() {
    let features = 40;
    let machine = KernelMachine::new(features, &[0.0])
        .and_then(|machine| machine.with_kernel(Kernel::rbf(0.05, features), &numbers(400), &numbers(10)))
        .unwrap();
    let (row, background) = (numbers(440).split_off(400), Background::rows(numbers(80), features).unwrap());
    let explainer = Explainer::for_kernel_machine(&machine, background);
    let found = explainer.indices(&InteractionIndex::KShapley, 2, None, Rows::new(&row, features)).unwrap();
    let total: f64 = found[0].values().iter().sum();
    assert!((total - (found[0].predictions()[0] - found[0].base()[0])).abs() < 1e-12);
}

#[test]
fn support_vector_machines_are_read_from_files() {
    let file = |name: &str| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/tests/fixtures/onnx");
        std::fs::read(format!("{root}/{name}.onnx")).unwrap()
    };
    for name in ["regression_scaled", "classes", "one_class", "regression_linear"] {
        let read = KernelFile::from_bytes(&file(&format!("support_vectors/{name}"))).unwrap().unwrap();
        let features = read.machine.feature_count();
        assert!(read.format.starts_with("ONNX") && read.feature_names.is_none(), "{name}");
        let background = Background::rows(numbers(4 * features), features).unwrap();
        let row = numbers(5 * features).split_off(4 * features);
        let explain = |method: Method| {
            Explainer::for_kernel_machine(&read.machine, background.clone())
                .method(method)
                .explain(&row)
                .unwrap()
        };
        let (exact, enumerated) = (explain(Method::Auto), explain(Method::Exact));
        assert_eq!(exact.method, "kernel-machine");
        assert!(largest_difference(&exact.values, &enumerated.values) < 1e-12, "{name}");
    }
    assert!(KernelFile::from_bytes(&file("linear/regression")).unwrap().is_none());
    assert!(matches!(
        KernelFile::from_bytes(&file("support_vectors/refused_polynomial")),
        Err(ExplainError::Model(_))
    ));
    let own = KernelFile::from_bytes(&machine().to_bytes()).unwrap().unwrap();
    assert_eq!((own.machine, &*own.format), (machine(), "apportion-kernel-machine"));
    let invalid = br#"{"format": "apportion-kernel-machine", "version": 1}"#;
    assert!(matches!(KernelFile::from_bytes(invalid), Err(ExplainError::Kernels(_))));
}

#[test]
fn values_without_an_exact_method_and_all_other_methods_evaluate_the_machine() {
    let graph = Value::on_graph(GraphValue::c_shapley(2), Graph::line(FEATURES));
    assert!(explained(&graph, Method::Auto).iter().all(|explanation| explanation.evaluations > 0));
    let machine = machine();
    let explain = |value: &Value, method: Method| {
        let explainer = Explainer::for_kernel_machine(&machine, background());
        explainer.value(value.clone()).method(method).explain(&rows()[..FEATURES])
    };
    assert!(matches!(explain(&graph, Method::KernelMachine), Err(ExplainError::Unsupported { .. })));
    let shapley = Value::from(Semivalue::Shapley);
    let by_function = Explainer::new(&machine, background()).method(&methods::LEVERAGE_SHAP);
    let expected = by_function.explain(&rows()[..FEATURES]).unwrap();
    assert_eq!(explain(&shapley, Method::By(&methods::LEVERAGE_SHAP)).unwrap(), expected);
    assert!(matches!(explain(&shapley, Method::Tree), Err(ExplainError::NotTrees)));
}

#[test]
fn other_models_and_games_have_no_kernels() {
    let model = |row: &[f64]| row[0];
    let explainer = Explainer::new(&model, Background::baseline(vec![0.0]).unwrap());
    let refused = explainer.method(Method::KernelMachine).explain(&[1.0]).unwrap_err();
    assert!(matches!(refused, ExplainError::NotKernelMachine), "{refused}");
    let game = SumOfUnanimity::random(4, 4, 2, 1);
    let explainer = GameExplainer::new().method(Method::KernelMachine);
    assert!(matches!(explainer.explain(&game), Err(ExplainError::NotKernelMachine)));
    assert!(matches!(explainer.plan(4), Err(ExplainError::NotKernelMachine)));
    let index = InteractionIndex::from(Semivalue::Shapley);
    assert!(matches!(explainer.indices(&game, &index, 2), Err(ExplainError::NotKernelMachine)));
    assert_eq!("kernel-machine".parse::<Method>().unwrap(), Method::KernelMachine);
    assert!(Method::all().all(|method| method != Method::KernelMachine));
}

#[test]
fn bits_do_not_depend_on_threads_or_blocks() {
    let machine = machine();
    let rows = numbers(100 * FEATURES);
    let rows = Rows::new(&rows, FEATURES);
    let explainer = Explainer::for_kernel_machine(&machine, background());
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut each = Vec::new();
            let receive = |row: usize, explanation| {
                assert_eq!(row, each.len());
                each.push(explanation);
                ControlFlow::Continue(())
            };
            explainer.explain_each(rows, receive).unwrap();
            assert_eq!(each, explainer.explain_rows(rows).unwrap());
            each
        })
    };
    let all = on(1);
    assert_eq!(on(3), all);
    assert_eq!(explainer.explain(rows.row(71)).unwrap(), all[71]);
    let exact = explainer.exact(rows).unwrap().unwrap();
    assert_eq!(exact.of_row(71).values, all[71].values);
}

#[test]
fn plans_and_certificates_are_those_of_an_exact_method() {
    let machine = machine();
    let rows = rows();
    let explainer = || Explainer::for_kernel_machine(&machine, background());
    let plan = |rows: usize| explainer().plan(rows, Rows::new(&numbers(FEATURES), FEATURES)).unwrap();
    let planned = plan(16);
    assert_eq!(
        (planned.method, planned.max_evaluations, planned.players),
        (Method::KernelMachine, Some(0), FEATURES)
    );
    let seconds = planned.seconds.unwrap();
    assert!(seconds > 0.0 && (plan(160).seconds.unwrap() / seconds - 10.0).abs() < 1e-9);
    let explanation = explainer().until(Until::relative(0.01)).explain(&rows[..FEATURES]).unwrap();
    assert_eq!(explanation.certificate.unwrap().guarantee, apportion::estimators::Guarantee::Exact);
    let too_small =
        explainer().method(Method::Exact).budget(Budget::Evaluations(10)).explain(&rows[..FEATURES]);
    assert!(matches!(too_small, Err(ExplainError::ExactBudget { .. })));
}

#[test]
fn rows_that_a_machine_cannot_predict_are_errors() {
    let machine = machine();
    let explainer = Explainer::for_kernel_machine(&machine, background());
    let explain = |row: &[f64]| explainer.explain(row).unwrap_err().to_string();
    assert!(explain(&[f64::NAN; FEATURES]).contains("missing"), "{}", explain(&[f64::NAN; FEATURES]));
    assert!(explain(&[0.0; 2]).contains('6'));
    assert!(explain(&[]).contains('6'));
    let empty = explainer.explain_rows(Rows::new(&[], FEATURES)).unwrap();
    assert!(empty.is_empty());
}
