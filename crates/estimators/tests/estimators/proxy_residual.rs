//! Tests proxy-residual regression: the effects of surrogates on it, and their limits.

use apportion_estimators::{
    Coalitions, Estimator, FittedSurrogate, KAdditiveSurrogate, KernelBanzhaf, LeverageShap, LinearSurrogate,
    MaximumSampleReuse, ProxyResidual, Surrogate, TreeSurrogate, exact, exact_of,
};
use apportion_games::{ClosedForm, Game, QuotientGame, SumOfUnanimity, TabulatedGame};
use apportion_values::{Semivalue, SolutionConcept, Value};

use crate::common::{
    Coverage, assert_close, assert_unbiased, median_squared_error, of_terms, random_table, scattered, values,
};

/// The kinds of bad surrogates.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
enum Bad {
    /// A surrogate that fails to fit.
    Silent,
    Infinite,
    /// A surrogate that returns too few predictions.
    Short,
    /// A surrogate that memorizes the sample and predicts meaningless numbers for other coalitions. Its
    /// values are zero, which is about right.
    Memory,
    /// A surrogate that predicts the game correctly, but returns wrong values.
    Liar,
}

#[derive(Debug)]
struct Fitted {
    bad: Bad,
    seen: Vec<(Vec<u64>, f64)>,
}

impl Surrogate for Bad {
    fn fit(&self, coalitions: &Coalitions, values: &[f64]) -> Option<Box<dyn FittedSurrogate>> {
        let seen = coalitions.iter().map(|row| row.words().to_vec()).zip(values.iter().copied()).collect();
        (*self != Self::Silent).then(|| Box::new(Fitted { bad: *self, seen }) as Box<dyn FittedSurrogate>)
    }
}

impl FittedSurrogate for Fitted {
    fn predict(&self, coalitions: &Coalitions) -> Vec<f64> {
        let noise = |words: &[u64]| {
            (words[0].wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1 << 24) as f64 - 0.5
        };
        let of = |words: &[u64]| match self.bad {
            Bad::Memory => self
                .seen
                .iter()
                .find(|(seen, _)| seen == words)
                .map_or_else(|| 30.0 * noise(words), |(_, v)| *v),
            Bad::Infinite => f64::INFINITY,
            _ => words[0].count_ones() as f64,
        };
        let all = coalitions.iter().map(|row| of(row.words())).collect::<Vec<f64>>();
        if self.bad == Bad::Short { Vec::new() } else { all }
    }

    fn values(&self, _: &Semivalue) -> Vec<f64> {
        match self.bad {
            Bad::Liar => (0..12).map(|player| if player % 2 == 0 { 3.0 } else { -1.0 }).collect(),
            _ => vec![0.0; 12],
        }
    }
}

fn semivalues() -> [Semivalue; 4] {
    [
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.3).unwrap(),
        Semivalue::beta_shapley(4.0, 1.0).unwrap(),
    ]
}

/// Returns the method without a surrogate.
fn plain(value: &Semivalue) -> Box<dyn Estimator> {
    match value {
        Semivalue::Shapley => Box::new(LeverageShap::default()),
        Semivalue::Banzhaf | Semivalue::WeightedBanzhaf(_) => {
            Box::new(KernelBanzhaf::without_replacement().with_value(value.clone()))
        }
        _ => Box::new(MaximumSampleReuse::adjusted(value.clone())),
    }
}

#[test]
fn without_a_surrogate_it_is_the_method_that_takes_the_residuals() {
    let game = random_table(12, 2, 3.0, 1);
    for value in semivalues() {
        let want = plain(&value).estimate_seen(&game, 200, 4).unwrap();
        for bad in [Bad::Silent, Bad::Infinite, Bad::Short] {
            let got =
                ProxyResidual::new(value.clone()).with_surrogate(bad).estimate_seen(&game, 200, 4).unwrap();
            assert_close(&got.values, &want.values, 1e-11, &format!("{value} {bad:?}"));
            assert_close(
                &got.std_errors.unwrap(),
                want.std_errors.as_ref().unwrap(),
                1e-11,
                &format!("{value}"),
            );
        }
        // A linear model adds no information to a regression.
        let linear = ProxyResidual::new(value.clone()).with_surrogate(LinearSurrogate);
        let got = linear.estimate_seen(&game, 200, 4).unwrap();
        assert_close(&got.values, &want.values, 1e-9, &format!("{value} linear"));
    }
}

#[test]
fn values_that_are_not_those_of_the_predictions_are_found_out() {
    for value in semivalues() {
        for seed in 0..20 {
            let game = SumOfUnanimity::random(12, 40, 4, seed);
            let want = plain(&value).estimate_seen(&game, 240, seed).unwrap().values;
            let liar = ProxyResidual::new(value.clone()).with_surrogate(Bad::Liar);
            assert_close(
                &liar.estimate_seen(&game, 240, seed).unwrap().values,
                &want,
                1e-10,
                &format!("{value}, {seed}"),
            );
        }
    }
}

#[test]
fn a_surrogate_that_only_remembers_costs_accuracy_and_no_honesty() {
    for value in semivalues() {
        let memory = ProxyResidual::new(value.clone()).with_surrogate(Bad::Memory);
        let mut coverage = Coverage::default();
        for seed in 0..80 {
            let game = SumOfUnanimity::random(12, 60, 5, seed);
            let got = memory.estimate(&game, 240, seed).unwrap();
            coverage.add(&got.values, got.std_errors.as_ref().unwrap(), &of_terms(&game, &value));
        }
        assert!((0.91..=0.985).contains(&coverage.share()), "{value}: {}", coverage.share());
    }
}

#[test]
fn trees_that_fit_too_closely_leave_the_estimate_unbiased() {
    let game = SumOfUnanimity::random(9, 40, 4, 3);
    for value in semivalues() {
        let deep = TreeSurrogate::default().with_depth(9).with_rate(1.0).with_penalty(0.0).with_trees(10);
        let estimator = ProxyResidual::new(value.clone()).with_surrogate(deep);
        // The budgets cover a substantial part of the 512 coalitions, so folds mix seen and unseen
        // coalitions.
        for budget in [150, 400] {
            let runs = values(&estimator, &game, budget, 120);
            assert_unbiased(&runs, &of_terms(&game, &value), 4.5, &format!("{value} from {budget}"));
        }
    }
}

#[test]
fn surrogates_that_know_the_game_take_the_error_away() {
    let game = SumOfUnanimity::random(11, 40, 3, 8);
    for (value, factor) in semivalues().into_iter().zip([0.2, 0.3, 0.3, 0.6]) {
        let truth = of_terms(&game, &value);
        let error =
            |estimator: &dyn Estimator| median_squared_error(&values(estimator, &game, 500, 3), &truth);
        let without = error(&*plain(&value));
        let cubic = error(&ProxyResidual::new(value.clone()).with_surrogate(KAdditiveSurrogate::default()));
        assert!(cubic < factor * without, "{value}: {cubic} of {without}");
    }
}

#[test]
fn with_as_many_pairs_as_players_the_surrogate_stands_for_the_regression() {
    let game = SumOfUnanimity::random(40, 80, 3, 2);
    // With 2n evaluations, there are about as many pairs as unknowns.
    for budget in [76, 80] {
        let error = |estimator: &dyn Estimator| {
            median_squared_error(&values(estimator, &game, budget, 9), &game.shapley())
        };
        let (got, linear) = (error(&ProxyResidual::new(Semivalue::Shapley)), error(&LeverageShap::default()));
        assert!(got < 0.8 * linear, "{budget}: {got} of {linear}");
    }
}

#[test]
fn groups_have_the_values_of_their_quotient_game() {
    let partition = scattered(&[2, 1, 3, 1, 2, 1, 2, 2], 4);
    let game = random_table(14, 2, 1.0, 6);
    let quotient = QuotientGame::new(&game, &partition).unwrap();
    for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
        let of_groups = ProxyResidual::grouped(value.clone(), partition.clone());
        let got = of_groups.estimate(&game, 120, 3).unwrap();
        let want = ProxyResidual::new(value.clone()).estimate(&quotient, 120, 3).unwrap();
        assert_eq!((&got.values, &got.std_errors), (&want.values, &want.std_errors));
        let (semivalue, concept) = (value.clone(), SolutionConcept::Quotient(value));
        assert_eq!((&got.value, of_groups.value()), (&concept, concept.clone()));
        let all = of_groups.estimate(&game, 256, 3).unwrap();
        let truth = exact_of(&game, &Value::quotient(semivalue, partition.clone())).unwrap();
        assert_close(&all.values, &truth.values, 1e-10, "all coalitions of groups");
    }
}

#[test]
fn units_of_values_do_not_matter_and_a_game_of_one_value_has_none() {
    let game = random_table(8, 1, 1.0, 3);
    for value in semivalues() {
        let estimator = ProxyResidual::new(value.clone());
        let want = estimator.estimate(&game, 120, 1).unwrap();
        for unit in [2f64.powi(960), 2f64.powi(-980)] {
            let scaled = game.values_in_order().iter().map(|value| value * unit).collect();
            let got = estimator.estimate(&TabulatedGame::new(scaled, 1).unwrap(), 120, 1).unwrap();
            let back: Vec<f64> = got.values.iter().map(|value| value / unit).collect();
            assert_close(&back, &want.values, 1e-5, &format!("{value}"));
        }
        let still = estimator.estimate(&TabulatedGame::new(vec![7.0; 256], 1).unwrap(), 120, 1).unwrap();
        assert!(still.values.iter().all(|value| value.abs() < 1e-12));
    }
    assert_eq!(exact(&game, Semivalue::Shapley).unwrap().evaluations, 1 << game.players());
}
