//! Tests interaction indices for all kinds of models and games.

use apportion::games::{DerivativeGame, GameError, MarginalGame, SumOfUnanimity};
use apportion::values::{InteractionIndex, Interactions, enumerate, enumerate_interactions};
use apportion::{
    Background, Ensemble, ExplainError, Explainer, GameExplainer, Method, Partition, Rows, Semivalue, Until,
};

use crate::common::{background, flowers, iris};

fn near(got: &[Interactions], expected: &[Interactions]) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        let zeros = vec![0.0; expected.outputs()];
        for (coalition, expected) in expected.iter() {
            let members: Vec<usize> = coalition.members().collect();
            for (got, expected) in got.get(&members).unwrap_or(&zeros).iter().zip(expected) {
                assert!((got - expected).abs() < 1e-12, "{coalition}: {got} != {expected}");
            }
        }
    }
}

const INDICES: [&str; 4] = ["shapley", "k-shapley", "faithful-banzhaf", "generalized-shapley"];

#[test]
fn trees_have_by_their_tree_explainer_what_enumeration_says() {
    let ensemble = iris();
    let groups = Partition::new(4, vec![vec![0, 3], vec![1], vec![2]]).unwrap();
    for index in INDICES.map(|name| name.parse::<InteractionIndex>().unwrap()) {
        for groups in [None, Some(&groups)] {
            let of = |explainer: Explainer<'_>| explainer.indices(&index, 3, groups, flowers()).unwrap();
            near(
                &of(Explainer::for_trees(&ensemble, background())),
                &of(Explainer::for_trees(&ensemble, background()).method(Method::Exact)),
            );
            near(
                &of(Explainer::path_dependent(&ensemble)),
                &of(Explainer::path_dependent(&ensemble).method(Method::Exact)),
            );
        }
    }
    let explainer = Explainer::for_trees(&ensemble, background()).method(Method::Tree);
    let asked = |name: &str| explainer.indices(&name.parse().unwrap(), 2, None, flowers());
    assert!(asked("shapley").is_ok());
    let error = asked("generalized-shapley").unwrap_err();
    assert!(matches!(error, ExplainError::Trees(_)), "{error}");
}

#[test]
fn outputs_behind_a_link_are_enumerated() {
    let bytes = include_bytes!("../../../models/tests/fixtures/iris_xgb_softprob.json.gz");
    let ensemble = Ensemble::from_bytes(bytes).unwrap();
    let explainer = Explainer::for_outputs(&ensemble, background()).unwrap();
    let found = explainer.indices(&InteractionIndex::ShapleyTaylor, 2, None, flowers()).unwrap();
    for row in &found {
        let sum: f64 = row.values().iter().step_by(row.outputs()).sum();
        assert!((sum - (row.predictions()[0] - row.base()[0])).abs() < 1e-12);
        assert!((0.0..=1.0).contains(&row.predictions()[0]));
    }
}

#[test]
fn any_model_has_the_indices_of_its_game() {
    let model = |row: &[f64]| row[0] * row[1] * row[2] + (row[1] - row[3]).sin();
    let background = Background::rows(vec![0.0, 1.0, 0.5, 2.0, 1.0, -1.0, 0.0, 0.25], 4).unwrap();
    let rows = [1.0, 2.0, 3.0, 4.0, 0.5, 0.25, -1.0, 2.0];
    for index in INDICES.map(|name| name.parse::<InteractionIndex>().unwrap()) {
        let explainer = Explainer::new(&model, background.clone());
        let got = explainer.indices(&index, 3, None, Rows::new(&rows, 4)).unwrap();
        let expected = rows.chunks(4).map(|row| {
            let game = MarginalGame::new(&model, row, &background).unwrap();
            enumerate_interactions(&game, &index, 3).unwrap()
        });
        near(&got, &expected.collect::<Vec<_>>());
    }
}

#[test]
fn what_cannot_be_had_is_refused() {
    let model = |row: &[f64]| row.iter().sum::<f64>();
    let wide = Explainer::new(&model, Background::baseline(vec![0.0; 26]).unwrap());
    let row = vec![1.0; 26];
    // Interaction indices of pairs can be estimated, but not indices of triples.
    let pairs = wide.indices(&InteractionIndex::SHAPLEY, 2, None, Rows::new(&row, 26)).unwrap();
    assert!(pairs[0].std_errors().is_some() && (pairs[0].get(&[3]).unwrap()[0] - 1.0).abs() < 1e-9);
    let error = wide.indices(&InteractionIndex::SHAPLEY, 3, None, Rows::new(&row, 26)).unwrap_err();
    assert!(matches!(error, ExplainError::Value(_)) && error.to_string().contains("26"), "{error}");
    let narrow = || Explainer::new(&model, Background::baseline(vec![0.0; 2]).unwrap());
    let of = |method: &str| {
        let explainer = narrow().method(method.parse::<Method>().unwrap());
        explainer.indices(&InteractionIndex::SHAPLEY, 2, None, Rows::new(&[1.0; 2], 2)).unwrap_err()
    };
    assert!(matches!(of("tree"), ExplainError::NotTrees));
    assert!(matches!(of("leverage-shap"), ExplainError::Index { .. }));
    let broken = |row: &[f64]| if row[0] > 0.0 { f64::NAN } else { 1.0 };
    let explainer = Explainer::new(&broken, Background::baseline(vec![0.0; 2]).unwrap());
    let error = explainer.indices(&InteractionIndex::Moebius, 2, None, Rows::new(&[1.0; 2], 2)).unwrap_err();
    let says_where = |error: &ExplainError| {
        error.to_string().contains("{0} of 2")
            || matches!(error, ExplainError::Game(GameError::NotFinite { .. }))
    };
    assert!(says_where(&error), "{error}");
}

#[test]
fn the_pairs_of_one_player_have_certificates_as_values_of_the_derivative() {
    for (semivalue, players) in
        [(Semivalue::Shapley, 9), (Semivalue::Banzhaf, 12), (Semivalue::beta_shapley(4.0, 1.0).unwrap(), 12)]
    {
        let game = SumOfUnanimity::random(players, 30, 4, 3);
        let derivative = DerivativeGame::new(&game, 2).unwrap();
        let expected = enumerate_interactions(&game, &semivalue.clone().into(), 2).unwrap();
        let index = |other: usize| expected.get(&[other.min(2), other.max(2)]).unwrap()[0];
        let expected: Vec<f64> = derivative.others().iter().map(|&other| index(other)).collect();
        let exact =
            GameExplainer::new().value(semivalue.clone()).method(Method::Exact).explain(&derivative).unwrap();
        assert!(exact.values.iter().zip(&expected).all(|(got, expected)| (got - expected).abs() < 1e-12));
    }
    // Check estimates with a certificate.
    let game = SumOfUnanimity::random(16, 30, 4, 3);
    let derivative = DerivativeGame::new(&game, 2).unwrap();
    let truth = enumerate(&derivative, Semivalue::Shapley).unwrap();
    let found = GameExplainer::new().until(Until::relative(0.3)).seed(5).explain(&derivative).unwrap();
    let norm = |numbers: &[f64]| numbers.iter().map(|number| number * number).sum::<f64>().sqrt();
    let off: Vec<f64> =
        found.values.iter().zip(&truth.values).map(|(got, expected)| got - expected).collect();
    assert!(found.certificate.is_some() && !found.diagnostics.exact);
    assert!(norm(&off) <= 0.3 * norm(&truth.values), "{}", norm(&off) / norm(&truth.values));
}
