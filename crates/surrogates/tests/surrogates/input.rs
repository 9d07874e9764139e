//! Invalid and degenerate input.

use apportion_estimators::{Estimator, LeverageShap};
use apportion_games::{Background, GameError, MarginalGame, Rows};
use apportion_surrogates::{LearningRows, Surrogate, SurrogateError, TableMethod};

use super::common::{as_rows, exact, smooth, table};

#[test]
fn outputs_that_are_not_finite_are_reported_with_their_rows() {
    let (background, rows) = table(6, 5, 3);
    let hybrid = |row: &[f64]| if row[0] == rows[0] && row[1] != rows[1] { f64::NAN } else { row[0] };
    let error = TableMethod::new(50).explain(&hybrid, as_rows(&rows, 6), &background, 0).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("the model returned NaN for row 0 mixed with background row"), "{message}");
    let infinite = |_: &[f64]| f64::INFINITY;
    let error = TableMethod::new(50).explain(&infinite, as_rows(&rows, 6), &background, 0).unwrap_err();
    assert!(
        error.to_string().starts_with("the model returned inf for background row 0 (output 0)"),
        "{error}"
    );
}

#[test]
fn small_budgets_and_wrong_widths_are_rejected() {
    let (background, rows) = table(6, 5, 2);
    let error = TableMethod::new(4).explain(&smooth, as_rows(&rows, 6), &background, 0).unwrap_err();
    assert!(matches!(error, SurrogateError::Budget { budget: 4, min: 5 }));
    let error = TableMethod::new(50).explain(&smooth, as_rows(&rows, 4), &background, 0).unwrap_err();
    assert!(matches!(error, SurrogateError::Game(_)));
    let error = TableMethod::new(50).learn(&smooth, Rows::new(&[], 6), &background, 0).unwrap_err();
    assert!(matches!(error, SurrogateError::NoRows));
    let empty = TableMethod::new(50).explain(&smooth, Rows::new(&[], 6), &background, 0).unwrap();
    assert!(empty.is_empty());
    // The smallest budget.
    let explanations = TableMethod::new(5).explain(&smooth, as_rows(&rows, 6), &background, 0).unwrap();
    assert!(explanations.iter().all(|explanation| explanation.values.iter().all(|value| value.is_finite())));
}

#[test]
fn one_background_row_and_a_constant_model_are_explained() {
    let (background, rows) = table(8, 1, 25);
    let (mut error, mut of_leverage_shap) = (0.0, 0.0);
    for seed in 0..4 {
        let explanations =
            TableMethod::new(100).explain(&smooth, as_rows(&rows, 8), &background, seed).unwrap();
        for (row, explanation) in rows.chunks(8).zip(&explanations) {
            let expected = exact(&smooth, row, &background);
            let squares =
                |values: &[f64]| values.iter().zip(&expected).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            let game = MarginalGame::new(&smooth, row, &background).unwrap();
            let leverage_shap = LeverageShap::default().estimate(&game, 100, seed).unwrap();
            of_leverage_shap += squares(&leverage_shap.values);
            error += squares(&explanation.values);
        }
    }
    assert!(error < 2.0 * of_leverage_shap, "{error} {of_leverage_shap}");
    // A single row with a single background row has no surrogate.
    let one = &TableMethod::new(100).explain(&smooth, as_rows(&rows[..8], 8), &background, 0).unwrap()[0];
    assert_eq!(one.diagnostics.chosen.as_deref(), Some("regression"));
    let constant = |_: &[f64]| 3.0;
    let explanations = TableMethod::new(100).explain(&constant, as_rows(&rows, 8), &background, 0).unwrap();
    assert!(explanations.iter().all(|explanation| explanation.values.iter().all(|value| *value == 0.0)));
}

#[test]
fn backgrounds_of_different_weights_are_rejected() {
    let (background, rows) = table(6, 3, 5);
    let weighted = |weights: &[f64]| background.clone().with_weights(weights).unwrap();
    for weights in [[1.0, 0.0, 1.0], [1.0, 2.0, 1.0]] {
        let error = TableMethod::new(50).explain(&smooth, as_rows(&rows, 6), &weighted(&weights), 0);
        assert!(matches!(error, Err(SurrogateError::Weights { .. })));
    }
    let explained = |background: &Background| {
        TableMethod::new(50).explain(&smooth, as_rows(&rows, 6), background, 0).unwrap()
    };
    assert_eq!(explained(&weighted(&[7.0; 3])), explained(&background));
}

#[test]
fn surrogates_of_others_are_rejected() {
    let (background, rows) = table(6, 9, 12);
    let method = TableMethod::new(60);
    let rows = as_rows(&rows, 6);
    let surrogate = method.learn(&smooth, rows, &background, 0).unwrap();
    let learned = method.with_surrogate(&surrogate, &smooth, &background).unwrap();
    assert!(learned.explain(rows, 0).is_ok());
    let error = learned.explain(as_rows(&[0.0; 5], 5), 0).unwrap_err();
    assert!(matches!(error, SurrogateError::Game(GameError::Width { actual: 5, expected: 6, .. })));
    let other = Background::rows(background.as_rows().values()[..6 * 8].to_vec(), 6).unwrap();
    let error = method.with_surrogate(&surrogate, &smooth, &other).err().unwrap();
    assert!(matches!(error, SurrogateError::OtherBackground { .. }));
    let negative = |row: &[f64]| -smooth(row);
    let error = method.with_surrogate(&surrogate, &negative, &background).err().unwrap();
    assert!(matches!(error, SurrogateError::OtherModel { row: 0, output: 0, .. }));
}

#[test]
fn learning_checks_its_rows() {
    let background = Background::baseline([0.0, 0.0]).unwrap();
    let learn = |rows: &[f64], targets: &[f64]| {
        let rows = Rows::new(rows, 2);
        Surrogate::learn(
            LearningRows { rows, targets, outputs: 1, is_categorical: &[] },
            &background,
            &[0.0],
            0,
        )
    };
    assert!(matches!(learn(&[], &[]).unwrap_err(), SurrogateError::NoRows));
    assert!(matches!(
        learn(&[1.0, 2.0], &[]).unwrap_err(),
        SurrogateError::Targets { actual: 0, expected: 1 }
    ));
    let error = learn(&[1.0, 2.0], &[f64::NAN]).unwrap_err();
    assert!(matches!(error, SurrogateError::NotFinite { output: 0, .. }));
    assert_eq!(learn(&[1.0, 2.0], &[5.0]).unwrap().predict(Rows::new(&[3.0, 4.0], 2)).unwrap(), [5.0]);
}
