//! Tests of the learned spectrum for values of players in groups.

use crate::common::sign_game::SignGame;
use apportion_estimators::{CoalitionalRegression, Estimator, methods};
use apportion_games::{Counted, Game, Partition, SumOfUnanimity, WeightedVoting};
use apportion_values::{CoalitionalValue, Semivalue, SolutionConcept, Value};

fn partition() -> Partition {
    let groups = [&[0, 1, 2][..], &[3, 4, 5, 6], &[7, 8], &[9, 10, 11]];
    Partition::new(12, groups.map(<[usize]>::to_vec).to_vec()).unwrap()
}

fn values() -> Vec<Value> {
    let weighted =
        CoalitionalValue { between: Semivalue::weighted_banzhaf(0.3).unwrap(), within: Semivalue::Shapley };
    vec![
        Value::owen(partition()),
        Value::banzhaf_owen(partition()),
        Value::Coalitional(weighted, partition()),
        Value::TwoStepShapley(partition()),
    ]
}

fn learned(value: &Value) -> Box<dyn Estimator> {
    methods::LEARNED_SPECTRUM.build(value).unwrap()
}

fn plain(value: &Value) -> Box<dyn Estimator> {
    let groups = value.groups().unwrap().clone();
    Box::new(CoalitionalRegression::new(value.concept(), groups).unwrap())
}

/// An exponential function of a sum of the signs, with pairs and triples of all players.
fn smooth() -> SignGame {
    SignGame {
        players: 12,
        outputs: vec![|x| (0..12).map(|i| x(i) * (0.1 + 0.02 * i as f64)).sum::<f64>().exp()],
    }
}

fn squared(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| (left - right).powi(2)).sum()
}

fn error(method: &dyn Estimator, game: &dyn Game, truth: &[f64], budget: usize) -> f64 {
    (0..8).map(|seed| squared(&method.estimate(game, budget, seed).unwrap().values, truth)).sum()
}

/// Returns the number of values that 95% intervals contain, and the number of intervals.
fn held(method: &dyn Estimator, game: &dyn Game, truth: &[f64], budget: usize) -> (usize, usize) {
    let (mut held, mut all) = (0, 0);
    for seed in 0..8 {
        let Some(intervals) = method.estimate(game, budget, seed).unwrap().intervals(0.95) else { continue };
        let holds =
            intervals.iter().zip(truth).filter(|((low, high), value)| low <= *value && *value <= high);
        held += holds.count();
        all += truth.len();
    }
    (held, all)
}

#[test]
fn values_of_smooth_games_have_smaller_errors_and_intervals_that_cover() {
    let game = smooth();
    for value in values() {
        let truth = value.enumerate(&game).unwrap().values;
        for (budget, most) in [(72, 0.9), (144, 0.6)] {
            // The regressions for weighted Banzhaf values have no pairs, so few coalitions do not determine
            // them.
            let most = match (value == values()[2], budget) {
                (true, 72) => continue,
                (true, _) => 0.9,
                (false, _) => most,
            };
            let method = learned(&value);
            let (ours, others) =
                (error(&*method, &game, &truth, budget), error(&*plain(&value), &game, &truth, budget));
            // Both are exact if the budget covers all coalitions in the definition of the value.
            assert!(ours < most * others || others < 1e-20, "{value:?}, {budget}: {ours} {others}");
            let (ours, all) = held(&*method, &game, &truth, budget);
            let (others, _) = held(&*plain(&value), &game, &truth, budget);
            assert!(100 * ours >= 88 * all || ours >= others, "{value:?}, {budget}: {ours} {others} {all}");
        }
    }
}

#[test]
fn games_that_are_not_smooth_have_about_the_errors_of_the_plain_method() {
    let voting =
        WeightedVoting::new(325, (1..=12).map(|weight| weight * weight).collect::<Vec<_>>()).unwrap();
    let random = SumOfUnanimity::random(12, 60, 5, 3);
    let games: [&dyn Game; 2] = [&voting, &random];
    for game in games {
        for value in values() {
            let truth = value.enumerate(game).unwrap().values;
            for budget in [60, 120, 240] {
                let ours = error(&*learned(&value), game, &truth, budget);
                let others = error(&*plain(&value), game, &truth, budget);
                assert!(ours <= 1.5 * others + 1e-20, "{value:?}, {budget}: {ours} {others}");
            }
        }
    }
}

#[test]
fn results_are_exact_for_large_budgets_and_evaluate_what_the_plain_method_evaluates() {
    let game = SumOfUnanimity::random(12, 40, 4, 1);
    for value in values() {
        let truth = value.enumerate(&game).unwrap().values;
        let found = learned(&value).estimate(&game, 4096, 0).unwrap();
        assert!(found.diagnostics.exact && squared(&found.values, &truth) < 1e-20, "{value:?}");
        assert_eq!(found.method, "learned-spectrum");
        for budget in [learned(&value).minimum_budget(12), 80, 200] {
            let counted = Counted::new(&game);
            let found = learned(&value).estimate(&counted, budget, 3).unwrap();
            let expected = plain(&value).estimate(&game, budget, 3).unwrap();
            assert_eq!(found.evaluations, expected.evaluations);
            assert_eq!(counted.evaluations(), expected.evaluations as u64);
            assert!(found.evaluations <= budget);
        }
    }
}

#[test]
fn shared_values_add_up_to_those_of_the_group() {
    // With the Shapley value within groups, the members share the value of their group.
    let game = smooth();
    let value = Value::owen(partition());
    let of_groups = Value::Quotient(Semivalue::Shapley, partition()).enumerate(&game).unwrap().values;
    // All unions of the four groups are evaluated.
    let found = learned(&value).estimate(&game, 200, 1).unwrap();
    for (members, expected) in partition().groups().iter().zip(&of_groups) {
        let sum: f64 = members.iter().map(|&member| found.values[member]).sum();
        assert!((sum - expected).abs() < 1e-3 * expected.abs(), "{sum} {expected}");
    }
}

#[test]
fn efficient_values_sum_to_the_difference_of_the_ends() {
    let size = SignGame {
        players: 12,
        outputs: vec![|x| (0..12).map(|i| 1.0 + x(i)).sum::<f64>().powi(3), |x| {
            (0..12).map(|i| x(i) * (0.1 + 0.02 * i as f64)).sum::<f64>().exp()
        }],
    };
    for value in [Value::owen(partition()), Value::TwoStepShapley(partition())] {
        for (budget, seed) in [(40, 0), (80, 1), (120, 2), (160, 3)] {
            let found = learned(&value).estimate(&size, budget, seed).unwrap();
            for output in 0..2 {
                let sum: f64 = found.values.iter().skip(output).step_by(2).sum();
                let total = found.prediction[output] - found.base[output];
                assert!((sum - total).abs() < 1e-12 * total.abs(), "{value:?}, {budget}: {sum} {total}");
            }
        }
    }
}

#[test]
fn results_are_the_same_for_any_number_of_threads_and_each_output_alone() {
    let two = SignGame {
        players: 12,
        outputs: vec![|x| (0..12).map(|i| x(i) * (0.1 + 0.02 * i as f64)).sum::<f64>().exp(), |x| {
            if (0..9).all(|i| x(i) > 0.0) { 1.0 } else { 0.0 }
        }],
    };
    for value in values() {
        let method = learned(&value).growing();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| method.estimate(&two, 150, 4).unwrap())
        };
        let both = run(1);
        assert_eq!(both, run(3));
        let first = method.estimate(&smooth(), 150, 4).unwrap();
        let own: Vec<f64> = both.values.iter().copied().step_by(2).collect();
        assert!(squared(&own, &first.values) < 1e-20, "{value:?}");
    }
}

#[test]
fn few_groups_and_few_players_are_supported() {
    let game = SumOfUnanimity::random(5, 9, 3, 2);
    for groups in [
        vec![vec![0, 1, 2, 3, 4]],
        (0..5).map(|player| vec![player]).collect(),
        vec![vec![0, 1], vec![2, 3, 4]],
    ] {
        let groups = Partition::new(5, groups).unwrap();
        for concept in [
            CoalitionalValue::owen().into(),
            CoalitionalValue::banzhaf_owen().into(),
            SolutionConcept::TwoStepShapley,
        ] {
            let value = Value::from_concept(concept, Some(groups.clone()), None).unwrap();
            let Some(method) = methods::LEARNED_SPECTRUM.build(&value) else { continue };
            for budget in method.minimum_budget(5)..=32 {
                let found = method.estimate(&game, budget, 1).unwrap();
                assert!(found.values.iter().all(|value| value.is_finite()));
            }
        }
    }
}

#[test]
fn many_groups_are_supported() {
    let game = SumOfUnanimity::random(210, 300, 3, 2);
    let groups = (0..70).map(|group| (3 * group..3 * group + 3).collect()).collect();
    let groups = Partition::new(210, groups).unwrap();
    for value in
        [Value::owen(groups.clone()), Value::banzhaf_owen(groups.clone()), Value::TwoStepShapley(groups)]
    {
        let method = learned(&value);
        for budget in [method.minimum_budget(210), method.minimum_budget(210) + 500] {
            let found = method.estimate(&game, budget, 1).unwrap();
            assert!(found.evaluations <= budget && found.values.iter().all(|value| value.is_finite()));
        }
    }
}
