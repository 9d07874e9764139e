//! Tests the guarantees of estimators for every kind of semivalue.

use apportion_estimators::{
    Allocation, Estimator, MaximumSampleReuse, MonteCarlo, SamplingDistribution, StratifiedMonteCarlo, exact,
};
use apportion_games::{Counted, SumOfUnanimity};
use apportion_values::Semivalue;

use crate::common::all::of_semivalue;
use crate::common::{Coverage, mean_and_error, of_terms, semivalues, squared_error, values};

/// Returns the estimators of [`of_semivalue`], and the stratified ones, which take more evaluations.
fn with_strata(value: &Semivalue) -> Vec<Box<dyn Estimator>> {
    let mut estimators = of_semivalue(value);
    for allocation in [Allocation::Equal, Allocation::Neyman] {
        let strata = StratifiedMonteCarlo::new(value.clone()).with_allocation(allocation);
        estimators.push(Box::new(strata));
    }
    estimators
}

#[test]
fn every_semivalue_is_met_on_average_up_to_the_noise_of_200_seeds() {
    // Allow four standard errors, plus a twentieth of the noise of one run for the bias of ratios and
    // regressions, which is of order 1/m.
    let game = SumOfUnanimity::random(10, 40, 5, 2);
    for value in semivalues(10) {
        let truth = exact(&game, value.clone()).unwrap().values;
        for estimator in with_strata(&value) {
            let runs = values(&estimator, &game, 300, 200);
            for (player, want) in truth.iter().enumerate() {
                let (mean, error) = mean_and_error(&runs, player);
                let bound = (4.0 + 0.05 * 200f64.sqrt()) * error;
                let name = estimator.name();
                assert!((mean - want).abs() <= bound, "{name} {value} player {player}: {mean} for {want}");
            }
        }
    }
}

#[test]
fn intervals_cover_the_truth_of_every_semivalue() {
    // Count the coverage of 95% intervals over 30 random games of 20 players.
    for value in semivalues(20) {
        for estimator in of_semivalue(&value) {
            let coverage = Coverage::of_random_games(&estimator, (20, 100), 400, 30);
            if estimator.name() == "one-sample-fits-all" && coverage.all == 0 {
                // Beta-Shapley(16, 1) depends on few of the sampled coalitions.
                continue;
            }
            let coverage = coverage.share();
            // Beta-Shapley(16, 1) depends on small coalitions. N differs much from them, so its residual
            // widens the intervals.
            assert!((0.87..=0.99).contains(&coverage), "{} {value}: {coverage}", estimator.name());
        }
    }
}

#[test]
fn several_values_come_from_one_sample() {
    let game = Counted::new(SumOfUnanimity::random(14, 60, 4, 3));
    let values = semivalues(14);
    for distribution in [SamplingDistribution::Specific, SamplingDistribution::OneSampleFitsAll] {
        let estimator = MaximumSampleReuse::adjusted(Semivalue::Shapley).with_distribution(distribution);
        let before = game.evaluations();
        let many = estimator.estimate_many(&game, &values, 500, 6).unwrap();
        assert_eq!((game.evaluations() - before) as usize, many[0].evaluations);
        assert!(many[0].evaluations <= 500);
        for (value, explanation) in values.iter().zip(&many) {
            assert_eq!(&explanation.value, value);
            let alone = estimator.clone().with_value(value.clone());
            let alone = alone.estimate(&game, 500, 6).unwrap();
            if distribution == SamplingDistribution::OneSampleFitsAll {
                assert_eq!(explanation, &alone, "the sample is the same");
            }
            let truth = exact(&game, value.clone()).unwrap().values;
            let norm: f64 = truth.iter().map(|x| x * x).sum();
            let error: f64 = squared_error(&explanation.values, &truth);
            assert!(error < 0.1 * norm, "{distribution:?} {value}: {error} of {norm}");
        }
    }
    let exactly =
        MaximumSampleReuse::new(Semivalue::Shapley).estimate_many(&game, &values, 1 << 14, 0).unwrap();
    for (value, explanation) in values.iter().zip(exactly) {
        assert_eq!(explanation.values, exact(&game, value.clone()).unwrap().values);
    }
}

#[test]
fn weights_by_size_for_another_number_of_players_are_refused() {
    let value = Semivalue::from_size_distribution(&[0.25; 4]).unwrap();
    let game = SumOfUnanimity::random(5, 10, 3, 1);
    for estimator in with_strata(&value) {
        let refused = estimator.estimate(&game, 20, 1).unwrap_err().to_string();
        assert!(refused.contains('4') && refused.contains('5'), "{}: {refused}", estimator.name());
    }
}

#[test]
fn a_thousand_players_neither_overflow_nor_underflow() {
    let game = SumOfUnanimity::random(1000, 3000, 3, 2);
    let early = Semivalue::beta_shapley(16.0, 1.0).unwrap();
    for value in [Semivalue::Banzhaf, early, Semivalue::mixture(&[0.001, 1.0], &[0.5, 0.5]).unwrap()] {
        let truth: f64 = of_terms(&game, &value).iter().map(|x| x * x).sum();
        for estimator in of_semivalue(&value) {
            let got = estimator.estimate(&game, 2100, 1).unwrap();
            assert!(got.values.iter().all(|value| value.is_finite()), "{} {value}", estimator.name());
            let norm: f64 = got.values.iter().map(|x| x * x).sum();
            // The distribution "one sample fits all" draws almost no coalitions of the sizes on which Banzhaf
            // values depend.
            let most = if estimator.name() == "one-sample-fits-all" { 1e4 } else { 50.0 };
            assert!(norm < most * truth, "{} {value}: {norm} for {truth}", estimator.name());
        }
    }
}

#[test]
fn adjustment_takes_out_most_of_the_noise() {
    for value in semivalues(24) {
        let error = |estimator: &dyn Estimator| -> f64 {
            let of = |seed| {
                let game = SumOfUnanimity::random(24, 100, 3, seed);
                squared_error(&estimator.estimate(&game, 480, seed).unwrap().values, &of_terms(&game, &value))
            };
            (0..10).map(of).sum()
        };
        let adjusted = error(&MaximumSampleReuse::adjusted(value.clone()));
        for other in
            [&MonteCarlo::new(value.clone()) as &dyn Estimator, &MaximumSampleReuse::new(value.clone())]
        {
            let other = error(other);
            assert!(adjusted < 0.6 * other, "{value}: {adjusted}, {other}");
        }
    }
}
