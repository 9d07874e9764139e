//! Compares estimates over hierarchies of groups with the definition.

use apportion_estimators::{Estimator, EstimatorError, NestedPermutation, ProductSpace, exact_of, methods};
use apportion_games::{
    Background, Cached, Counted, Game, Hierarchy, MarginalGame, Member, Partition, SumOfUnanimity,
    TabulatedGame,
};
use apportion_values::{CoalitionalValue, Semivalue, Value};

use crate::common::{Coverage, assert_unbiased, largest_difference, on_threads, values};

fn group(members: impl IntoIterator<Item = Member>) -> Member {
    Member::Group(members.into_iter().collect())
}

fn players(from: usize, to: usize) -> impl Iterator<Item = Member> {
    (from..to).map(Member::Player)
}

/// Returns the hierarchy ((0, 1), 2, (3, 4)), (5, 6), 7.
fn hierarchy() -> Hierarchy {
    let three = group([group(players(0, 2)), Member::Player(2), group(players(3, 5))]);
    Hierarchy::new(8, vec![three, group(players(5, 7)), Member::Player(7)]).unwrap()
}

fn others() -> [CoalitionalValue; 3] {
    let (weighted, beta) = (Semivalue::weighted_banzhaf(0.3), Semivalue::beta_shapley(4.0, 1.0));
    [
        CoalitionalValue::banzhaf_owen(),
        CoalitionalValue::symmetric_coalitional_banzhaf(),
        CoalitionalValue { between: weighted.unwrap(), within: beta.unwrap() },
    ]
}

/// Returns all estimators, configured to sample for every budget, with the values that they estimate.
fn sampling() -> Vec<(Box<dyn Estimator>, Value)> {
    let owen = || Value::owen_over(hierarchy());
    let nested = || NestedPermutation::over_hierarchy(hierarchy()).keep_sampling();
    let mut all: Vec<(Box<dyn Estimator>, Value)> =
        vec![(Box::new(nested()), owen()), (Box::new(nested().plain()), owen())];
    for value in others().into_iter().chain([CoalitionalValue::owen()]) {
        let independent = ProductSpace::over_hierarchy(value.clone(), hierarchy()).keep_sampling();
        all.push((Box::new(independent), Value::OverHierarchy(value, hierarchy())));
    }
    all
}

fn table() -> TabulatedGame {
    TabulatedGame::new((0..2 << 8).map(|i| 3.0 + (i as f64 * 2.3).sin()).collect(), 2).unwrap()
}

#[test]
fn means_over_repetitions_are_the_truth_for_every_value_and_player() {
    let model = |row: &[f64]| {
        row[0] * row[1] - row[2] * row[3] * row[5] + (row[4] + row[6]).max(row[7]) + row.iter().sum::<f64>()
    };
    let rows: Vec<f64> = (0..56).map(|i| (f64::from(i) * 1.7).sin()).collect();
    let background = Background::rows(rows, 8).unwrap();
    let marginal =
        MarginalGame::new(&model, &[1.0, -2.0, 0.5, 1.5, 3.0, -1.0, 2.0, 0.25], &background).unwrap();
    let table = table();
    let games: [&dyn Game; 2] = [&table, &marginal];
    for game in games {
        for (estimator, value) in sampling() {
            let truth = value.enumerate(game).unwrap().values;
            for budget in [18, 60] {
                let what = format!("{} {value:?} {budget}", estimator.name());
                assert_unbiased(&values(&*estimator, game, budget, 200), &truth, 4.0, &what);
            }
        }
    }
}

#[test]
fn intervals_cover_the_truth() {
    for (estimator, value) in sampling() {
        let mut coverage = Coverage::default();
        for seed in 0..60 {
            let game = SumOfUnanimity::random(8, 25, 4, seed);
            let truth = value.enumerate(&game).unwrap().values;
            let got = estimator.estimate(&game, 400, seed).unwrap();
            coverage.add(&got.values, &got.std_errors.unwrap(), &truth);
        }
        assert!(coverage.share() > 0.92, "{}: {}", estimator.name(), coverage.share());
    }
}

#[test]
fn a_budget_that_pays_for_exact_values_gets_them() {
    let game = table();
    for value in others().into_iter().chain([CoalitionalValue::owen()]) {
        let over = Value::OverHierarchy(value.clone(), hierarchy());
        let truth = over.enumerate(&game).unwrap().values;
        let coalitions = over.coalitions(8).unwrap();
        let mut estimators: Vec<Box<dyn Estimator>> =
            vec![Box::new(ProductSpace::over_hierarchy(value.clone(), hierarchy()))];
        if value == CoalitionalValue::owen() {
            estimators.push(Box::new(NestedPermutation::over_hierarchy(hierarchy())));
        }
        for estimator in estimators {
            let counted = Counted::new(&game);
            let got = estimator.estimate(&counted, coalitions, 1).unwrap();
            assert!(got.diagnostics.exact && largest_difference(&got.values, &truth) < 1e-13);
            assert_eq!((counted.evaluations() as usize, got.evaluations), (coalitions, coalitions));
            assert_eq!((got.method.as_str(), got.value), (estimator.name(), over.concept()));
            assert!(!estimator.estimate(&game, coalitions - 1, 1).unwrap().diagnostics.exact);
            assert!(estimator.minimum_budget(8) <= coalitions);
        }
        assert_eq!(exact_of(&game, &over).unwrap().values, truth);
    }
}

#[test]
fn results_are_the_same_on_any_number_of_threads_and_grow() {
    // Use a chain of groups, and groups of ten, for 9 players and for more players than one and two 64-bit
    // words have bits.
    for count in [9, 70, 130] {
        let chain = (2..count).fold(group(players(0, 2)), |inner, next| group([inner, Member::Player(next)]));
        let tens = (0..count.div_ceil(10)).map(|ten| group(players(10 * ten, count.min(10 * ten + 10))));
        let tens = [group(tens.clone().take(4)), group(tens.skip(4))];
        let tens = tens.into_iter().filter(|member| *member != group([]));
        for members in [vec![chain], tens.collect()] {
            let hierarchy = Hierarchy::new(count, members).unwrap();
            let game = SumOfUnanimity::random(count, 30, 3, 5);
            let nested = NestedPermutation::over_hierarchy(hierarchy.clone());
            let independent = ProductSpace::over_hierarchy(CoalitionalValue::banzhaf_owen(), hierarchy);
            let estimators: [&dyn Estimator; 3] = [&nested, &nested.clone().plain(), &independent];
            for estimator in estimators {
                let budget = 7 * count;
                let run = || estimator.estimate(&game, budget, 3).unwrap();
                let (one, three) = (on_threads(1, run), on_threads(3, run));
                assert_eq!((one.values, one.std_errors), (three.values, three.std_errors));
                let growing = estimator.growing();
                let (first, both) = (Cached::new(&game), Cached::new(&game));
                growing.estimate(&both, budget, 3).unwrap();
                for game in [&first, &both] {
                    growing.estimate(game, 2 * budget, 3).unwrap();
                }
                assert_eq!(first.distinct(), both.distinct(), "{}", estimator.name());
            }
        }
    }
}

#[test]
fn orders_of_an_additive_game_give_its_values_and_every_group_its_sum() {
    let game = SumOfUnanimity::random(8, 12, 8, 4);
    let plain = NestedPermutation::over_hierarchy(hierarchy()).plain();
    let got = plain.estimate_draws(&game, 3, 1).unwrap();
    let all = got.values.iter().sum::<f64>();
    let truth = Value::owen_over(hierarchy()).enumerate(&game).unwrap();
    assert!((all - (truth.predictions[0] - truth.base[0])).abs() < 1e-12);
}

#[test]
fn what_does_not_fit_is_refused_and_methods_say_what_they_compute() {
    let game = table();
    let other = Hierarchy::from(&Partition::whole(3));
    for estimator in [
        &NestedPermutation::over_hierarchy(other.clone()) as &dyn Estimator,
        &ProductSpace::over_hierarchy(CoalitionalValue::owen(), other.clone()),
    ] {
        let refused = estimator.estimate(&game, 100, 0).unwrap_err();
        assert!(matches!(refused, EstimatorError::Value(_)), "{refused}");
        assert!(refused.to_string().contains("the hierarchy has 3 players"), "{refused}");
    }
    let (owen, banzhaf) = (Value::owen_over(hierarchy()), Value::banzhaf_owen_over(hierarchy()));
    let computes = |method: &str, value: &Value| methods::named(method).unwrap().computes(value);
    assert!(computes("nested-permutation", &owen) && !computes("nested-permutation", &banzhaf));
    assert!(computes("product-space", &owen) && computes("product-space", &banzhaf));
    assert!(!computes("leverage-shap", &owen) && !computes("leverage", &owen));
    // Two levels are a partition, which every such method supports.
    let flat = Hierarchy::from(&Partition::new(4, vec![vec![0, 3], vec![1, 2]]).unwrap());
    assert!(computes("leverage", &Value::owen_over(flat)));
}

#[test]
fn settings_tell_hierarchies_apart() {
    let settings = |hierarchy: Hierarchy| {
        let estimator: Box<dyn Estimator> = Box::new(NestedPermutation::over_hierarchy(hierarchy));
        serde_json::to_value(&*estimator).unwrap()
    };
    let other = Hierarchy::new(8, vec![group(players(0, 7)), Member::Player(7)]).unwrap();
    assert_ne!(settings(hierarchy()), settings(other));
    assert_eq!(settings(hierarchy()), settings(hierarchy()));
}
