//! Tests linear and generalized linear models: closed forms, and models without a closed form.

use apportion::estimators::exact_of;
use apportion::games::{
    Background, Coalitions, ConditionalGame, Game, GaussianDistribution, MarginalGame, TabulatedGame,
};
use apportion::trees::TreeError;
use apportion::{Ensemble, ExplainError, Explainer, Method, Rows, Semivalue, Value};

fn model(name: &str) -> Ensemble {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/tests/fixtures/onnx/linear");
    Ensemble::from_path(format!("{fixtures}/{name}.onnx")).unwrap()
}

/// Returns pseudo-random numbers between −1 and 1.
fn rows(count: usize, columns: usize) -> Vec<f64> {
    (0..count * columns).map(|at| (at as f64 * 1.7 + (at * at) as f64 * 0.3).sin()).collect()
}

fn enumerated(game: &dyn Game) -> Vec<f64> {
    exact_of(game, &Semivalue::Shapley.into()).unwrap().values
}

fn assert_close(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    let scale = expected.iter().fold(1.0f64, |scale, number| scale.max(number.abs()));
    assert!(
        got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() <= 1e-12 * scale),
        "{got:?} {expected:?}"
    );
}

#[test]
fn behind_a_link_a_linear_model_is_explained_as_any_model_is() {
    for name in ["two_classes", "classes", "poisson", "gemm"] {
        let ensemble = model(name);
        let features = ensemble.feature_count();
        let background = Background::rows(rows(9, features), features).unwrap();
        let explicand: Vec<f64> = rows(10, features).split_off(9 * features);
        let explainer = || Explainer::for_outputs(&ensemble, background.clone()).unwrap();
        let explanation = explainer().explain(&explicand).unwrap();
        assert_eq!(explanation.method, "exact", "{name}");
        let linked = ensemble.linked().unwrap();
        assert_close(
            &explanation.values,
            &enumerated(&MarginalGame::new(&linked, &explicand, &background).unwrap()),
        );
        assert_eq!(explainer().plan(1, Rows::new(&explicand, features)).unwrap().method, Method::Exact);
        let refused = explainer().method(Method::Tree).explain(&explicand);
        assert!(matches!(refused, Err(ExplainError::Trees(TreeError::Unsupported { .. }))), "{name}");
        // The margin has a closed form.
        let margin = Explainer::for_trees(&ensemble, background.clone()).explain(&explicand).unwrap();
        assert_eq!((&*margin.method, margin.evaluations), ("tree", 0));
        assert_close(
            &margin.values,
            &enumerated(&MarginalGame::new(&ensemble, &explicand, &background).unwrap()),
        );
    }
}

#[test]
fn a_normal_law_draws_nothing_for_a_linear_model() {
    let ensemble = model("two_targets");
    let data = rows(40, 6);
    let explicand = &data[..6];
    let explain = |draws: usize, seed: u64| {
        let distribution = GaussianDistribution::fit(Rows::new(&data, 6), draws, seed).unwrap();
        let game = ConditionalGame::new(&ensemble, explicand, &distribution).unwrap();
        let table = TabulatedGame::from_game(&game).unwrap();
        let explanation = Explainer::conditional(&ensemble, &distribution).explain(explicand).unwrap();
        assert_close(&explanation.values, &enumerated(&table));
        assert!(
            explanation.std_errors.as_ref().is_none_or(|errors| errors.iter().all(|&error| error == 0.0))
        );
        assert_eq!((explanation.diagnostics.draws, explanation.model_rows), (None, 64));
        explanation.values
    };
    // The values do not depend on the draws or their seed.
    assert_eq!(explain(1, 0), explain(500, 7));
    // With a non-linear link function, the values depend on the draws.
    let classes = model("poisson");
    let linked = classes.linked().unwrap();
    let distribution = GaussianDistribution::fit(Rows::new(&data, 6), 50, 1).unwrap();
    let explanation = Explainer::conditional(&linked, &distribution).explain(explicand).unwrap();
    assert_eq!(explanation.diagnostics.draws, Some(50));
}

/// Compares the values with the closed form of conditional means, which are linear in the present features.
#[test]
fn values_of_a_normal_law_are_those_of_conditional_means() {
    let ensemble = model("regression");
    let covariance: Vec<f64> =
        (0..36).map(|at: usize| 0.6f64.powi((at / 6).abs_diff(at % 6) as i32)).collect();
    let distribution = GaussianDistribution::new(&[0.5; 6], &covariance, 3, 1).unwrap();
    let explicand = rows(1, 6);
    let game = ConditionalGame::new(&ensemble, &explicand, &distribution).unwrap();
    let mut values = vec![0.0; 64];
    game.values(&Coalitions::from_masks(6, 0..64), &mut values).unwrap();
    // If only `feature` is present, the mean of every other one is 0.5 + 0.6^distance (x − 0.5).
    for feature in 0..6usize {
        let row: Vec<f64> = (0..6usize)
            .map(|other| 0.5 + 0.6f64.powi(feature.abs_diff(other) as i32) * (explicand[feature] - 0.5))
            .collect();
        let expected = ensemble.margins(Rows::new(&row, 6)).unwrap();
        assert_close(&values[1 << feature..][..1], &expected);
    }
    let value = Value::from(Semivalue::Banzhaf);
    let explanation =
        Explainer::conditional(&ensemble, &distribution).value(value).explain(&explicand).unwrap();
    assert!(explanation.diagnostics.exact);
}
