//! Compares methods published by other authors with the claims of their papers and with their definitions.

use apportion_estimators::{
    Estimator, EstimatorError, LeverageShap, OddShap, Pairing, PolyShap, ProxyShap, RegressionMsr, exact,
};
use apportion_games::{ClosedForm, Counted, Game, SumOfUnanimity};
use apportion_values::Semivalue;

use crate::common::{
    assert_close, assert_unbiased, largest_difference, median_squared_error, of_terms, on_threads,
    random_table, values,
};

#[test]
fn pairs_of_players_add_nothing_to_pairs_of_coalitions() {
    // According to Fumagalli, Witter and Musco (2026), paired Kernel SHAP equals PolySHAP of degree 2.
    for (players, budget) in [(5, 30), (8, 120), (11, 300)] {
        let game = random_table(players, 2, 5.0, 3);
        let linear = LeverageShap::default().estimate(&game, budget, 7).unwrap();
        let paired = PolyShap::default().with_pairing(Pairing::Paired);
        let got = paired.estimate(&game, budget, 7).unwrap();
        assert!(got.evaluations == linear.evaluations && got.evaluations < 1 << players);
        assert_close(&got.values, &linear.values, 1e-8, &format!("{players} players"));
    }
}

#[test]
fn a_polynomial_of_the_degree_is_met_exactly() {
    for (degree, estimator) in [(2, PolyShap::default()), (3, PolyShap::cubic())] {
        for players in [6, 9, 11] {
            let game = SumOfUnanimity::random(players, 40, degree, 2);
            let budget = estimator.minimum_budget(players) * 5 / 4;
            let got = estimator.estimate(&game, budget, 1).unwrap();
            assert_close(&got.values, &game.shapley(), 1e-7, &format!("degree {degree}, {players} players"));
        }
    }
}

#[test]
fn polynomials_promise_what_all_estimators_do() {
    let game = random_table(8, 2, 1.0, 4);
    let truth = exact(&game, Semivalue::Shapley).unwrap().values;
    for estimator in [PolyShap::default(), PolyShap::cubic(), PolyShap::default().with_order(3)] {
        let name = estimator.name();
        for growing in [estimator.growing(), Box::new(estimator)] {
            assert!(
                largest_difference(&growing.estimate(&game, 256, 0).unwrap().values, &truth) < 1e-10,
                "{name}"
            );
            let least = growing.minimum_budget(8);
            let counted = Counted::new(&game);
            let got = growing.estimate(&counted, least + 20, 5).unwrap();
            assert!(
                got.evaluations <= least + 20 && counted.evaluations() == got.evaluations as u64,
                "{name}"
            );
            assert!(got.efficiency_gap() < 1e-9, "{name}: {}", got.efficiency_gap());
            assert_eq!(on_threads(3, || growing.estimate(&game, least + 20, 5).unwrap()), got);
            let refused = growing.estimate(&game, least - 1, 0).unwrap_err();
            assert!(matches!(refused, EstimatorError::Budget { min: said, .. } if said == least), "{name}");
        }
    }
    // A large number of players must not overflow.
    assert!(PolyShap::cubic().minimum_budget(usize::MAX) > 1 << 40);
}

#[test]
fn a_sparse_odd_part_is_met_where_its_products_are_found() {
    // The game has terms of up to three players, so there are odd and even products. The trees find the
    // triples.
    let game = SumOfUnanimity::random(14, 8, 3, 6);
    let error = |estimator: &dyn Estimator| {
        let runs = values(estimator, &game, 900, 5);
        median_squared_error(&runs, &game.shapley())
    };
    let linear = error(&LeverageShap::default());
    assert!(error(&OddShap::default()) < 1e-3 * linear);
}

#[test]
fn odd_shap_without_products_is_leverage_shap_and_below_it_the_trees_alone() {
    let game = random_table(9, 2, 1.0, 2);
    // The ⌈90/10⌉ = 9 coefficients are those of the nine players, without products.
    let odd = OddShap::default().estimate(&game, 90, 3).unwrap();
    assert_eq!(odd.diagnostics.unknowns, Some(8));
    assert_close(
        &odd.values,
        &LeverageShap::default().estimate(&game, 90, 3).unwrap().values,
        1e-9,
        "nine players",
    );
    // There are too few coalitions for leaves of twenty rows, so the trees are constant.
    let few = OddShap::default().estimate(&game, 30, 3).unwrap();
    assert_eq!((few.diagnostics.unknowns, few.values), (None, vec![0.0; 18]));
}

#[test]
fn every_semivalue_has_its_regression_of_residuals() {
    let game = SumOfUnanimity::random(9, 40, 4, 3);
    for value in [
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.3).unwrap(),
        Semivalue::beta_shapley(1.0, 4.0).unwrap(),
    ] {
        let truth = of_terms(&game, &value);
        let estimators = [
            RegressionMsr::linear(value.clone()).crossed(),
            RegressionMsr::new(value.clone()).crossed(),
            RegressionMsr::new(value.clone()).with_folds(3),
        ];
        for estimator in estimators {
            let runs = values(&estimator, &game, 150, 60);
            assert_unbiased(&runs, &truth, 4.5, &format!("{} of {value}", estimator.name()));
        }
    }
}

#[test]
fn trees_alone_are_good_where_they_fit_and_residuals_make_them_better() {
    let costs: Vec<f64> = (1..=12).map(|cost| f64::from(cost * cost)).collect();
    let game = apportion_games::Airport::new(costs).unwrap();
    let error =
        |estimator: &dyn Estimator| median_squared_error(&values(estimator, &game, 600, 9), &game.shapley());
    let linear = error(&LeverageShap::default());
    let (trees, adjusted) =
        (error(&ProxyShap::new(Semivalue::Shapley)), error(&ProxyShap::adjusted(Semivalue::Shapley)));
    assert!(adjusted < trees && adjusted < 0.1 * linear, "{trees} {adjusted} {linear}");
    assert!(error(&RegressionMsr::new(Semivalue::Shapley)) < 0.1 * linear);
}

#[test]
fn units_of_values_do_not_matter() {
    let game = random_table(8, 1, 1.0, 3);
    let table = game.values_in_order();
    let estimators: [&dyn Estimator; 5] = [
        &OddShap::default(),
        &PolyShap::default(),
        &RegressionMsr::new(Semivalue::Shapley),
        &RegressionMsr::linear(Semivalue::Banzhaf).crossed(),
        &ProxyShap::adjusted(Semivalue::Shapley),
    ];
    for estimator in estimators {
        let want = estimator.estimate(&game, 120, 1).unwrap().values;
        for unit in [2f64.powi(900), 2f64.powi(-900)] {
            let scaled: Vec<f64> = table.iter().map(|value| value * unit).collect();
            let scaled = apportion_games::TabulatedGame::new(scaled, 1).unwrap();
            let got: Vec<f64> = estimator
                .estimate(&scaled, 120, 1)
                .unwrap()
                .values
                .iter()
                .map(|value| value / unit)
                .collect();
            assert_close(&got, &want, 1e-5, estimator.name());
        }
    }
    assert_eq!(game.players(), 8);
}
