//! Tests values of features and players on a graph.

use apportion::estimators::methods;
use apportion::games::{Adjacency, Graph, SumOfUnanimity};
use apportion::values::GraphValue;
use apportion::{
    Background, Budget, ExplainError, Explainer, GameExplainer, Method, Semivalue, SolutionConcept, Until,
    Value,
};

fn close(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-12, "{got} for {expected}");
    }
}

#[test]
fn features_of_rows_and_players_of_games_have_the_values_of_the_definition() {
    let model = |row: &[f64]| row.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>().tanh();
    let explicand = [0.3, -1.0, 0.5, 2.0, 0.1, 0.0, 0.7, -0.2];
    let background = Background::rows([vec![0.0; 8], vec![0.5; 8]].concat(), 8).unwrap();
    let graph = Graph::grid(2, 4, Adjacency::Four);
    let game = apportion::MarginalGame::new(&model, &explicand, &background).unwrap();
    for name in [
        "l-shapley=1",
        "l-banzhaf=2,present",
        "c-shapley=2",
        "c-shapley=1,printed",
        "c-shapley=1,graph",
        "myerson",
    ] {
        let value: GraphValue = name.parse().unwrap();
        let expected = value.enumerate(&game, &graph).unwrap();
        let explainer =
            Explainer::new(&model, background.clone()).value(Value::on_graph(value.clone(), graph.clone()));
        let explanation = explainer.explain(&explicand).unwrap();
        close(&explanation.values, &expected.values);
        assert_eq!(explanation.value, SolutionConcept::OnGraph(value.clone()));
        assert!(explanation.diagnostics.exact && explanation.evaluations == explanation.distinct_coalitions);
        let of_game = GameExplainer::new().value(Value::on_graph(value, graph.clone()));
        assert_eq!(of_game.explain(&game).unwrap().values, explanation.values);
        let until = of_game.until(Until::relative(0.1)).explain(&game).unwrap();
        close(&until.values, &expected.values);
        assert_eq!(until.certificate.unwrap().error_bounds, Some(vec![0.0]));
    }
}

#[test]
fn other_values_of_a_game_are_those_of_its_rows() {
    let game = SumOfUnanimity::random(9, 30, 3, 2);
    let shapley = GameExplainer::new().explain(&game).unwrap();
    close(&shapley.values, &apportion::values::enumerate(&game, Semivalue::Shapley).unwrap().values);
    let sampled = GameExplainer::new()
        .method(Method::By(&methods::LEVERAGE_SHAP))
        .budget(Budget::PerPlayer(20))
        .seed(3);
    assert_eq!(sampled.explain(&game).unwrap(), sampled.explain(&game).unwrap());
    assert_eq!(sampled.explain(&game).unwrap().evaluations, 180);
}

#[test]
fn graphs_of_others_and_small_budgets_are_refused() {
    let game = SumOfUnanimity::random(6, 10, 3, 2);
    let explain = |value: &str, graph: Option<Graph>, method: Method, budget: Budget| {
        let value = Value::from_concept(value.parse().unwrap(), None, graph).unwrap();
        GameExplainer::new().value(value).method(method).budget(budget).explain(&game).unwrap_err()
    };
    let (auto, line) = (Budget::Auto, || Some(Graph::line(6)));
    let others = explain("c-shapley=1", Some(Graph::line(7)), Method::Auto, auto).to_string();
    assert!(others.contains('7') && others.contains('6'), "{others}");
    let unsupported = explain("c-shapley=1", line(), Method::By(&methods::KERNEL_SHAP), auto).to_string();
    assert!(unsupported.contains("exact"), "{unsupported}");
    let small = explain("c-shapley=1", line(), Method::Exact, Budget::Evaluations(5)).to_string();
    assert!(small.contains('5'), "{small}");
    assert!(matches!(explain("shapley", None, Method::Tree, auto), ExplainError::NotTrees));
    let nobody = apportion::games::SubGame::new(&game, &[]).unwrap();
    let message = GameExplainer::new().explain(&nobody).unwrap_err().to_string();
    assert!(message.contains("no players"), "{message}");
}
