//! Tests methods that are the same estimator under two names: `Method::same_as` returns exactly those pairs
//! that agree on random games.

use std::collections::HashMap;

use apportion::estimators::methods;
use apportion::games::{MarginalGame, SumOfUnanimity};
use apportion::{Background, Budget, Game, GameExplainer, Method, Partition, Value};

use crate::common::value_in;

const FEATURES: usize = 9;

fn model(row: &[f64]) -> f64 {
    let alone: f64 = row.iter().enumerate().map(|(i, x)| x * (i as f64).cos()).sum();
    alone + row[0] * row[1] * row[2] + row[3] * row[4] - row[5] * row[6] * row[7] * row[8]
}

/// Returns the values that every method computes, for several budgets and seeds; `None` if the budget is too
/// small, or if the method enumerates all coalitions or groups.
fn all_values(game: &dyn Game, value: &Value) -> HashMap<Method, Vec<Option<Vec<f64>>>> {
    let methods = Method::all().filter(|method| matches!(method, Method::By(_)) && method.computes(value));
    methods
        .map(|method| {
            let runs = [3, 4, 7, 12, 20].into_iter().flat_map(|times| [(times, 0), (times, 1), (times, 2)]);
            let values = runs.map(|(times, seed)| {
                let explainer = GameExplainer::new().method(method).value(value.clone());
                let explained = explainer.budget(Budget::PerPlayer(times)).seed(seed).explain(game).ok()?;
                (!explained.diagnostics.exact).then_some(explained.values)
            });
            (method, values.collect())
        })
        .collect()
}

#[test]
fn methods_that_say_they_are_one_are_and_no_others() {
    let rows: Vec<f64> = (0..4 * FEATURES).map(|at| (at as f64 * 0.7).sin()).collect();
    let background = Background::rows(rows, FEATURES).unwrap();
    let explicand: Vec<f64> = (0..FEATURES).map(|i| 1.0 + i as f64 * 0.2).collect();
    let in_scenarios = MarginalGame::new(&model, &explicand, &background).unwrap();
    let in_one = SumOfUnanimity::random(FEATURES, 40, 5, 3);
    let names = [
        "shapley",
        "beta=1,1",
        "banzhaf",
        "weighted-banzhaf=0.5",
        "weighted-banzhaf=0.3",
        "beta=4,1",
        "owen",
        "banzhaf-owen",
        "coalitional=beta=4,1/shapley",
    ];
    let mut said = 0;
    for (game, name) in
        [&in_one as &dyn Game, &in_scenarios].into_iter().flat_map(|game| names.map(|name| (game, name)))
    {
        let groups = (0..5).map(|group| (2 * group..FEATURES.min(2 * group + 2)).collect());
        let value = value_in(name, &Partition::new(FEATURES, groups.collect()).unwrap());
        let all = all_values(game, &value);
        let places: Vec<Method> = Method::all().filter(|method| all.contains_key(method)).collect();
        for (index, &later) in places.iter().enumerate() {
            let of_same = later.same_as(&value, game.scenarios());
            assert!(of_same.is_none_or(|same| places[..index].contains(&same)), "{later} {name}");
            for &earlier in &places[..index] {
                // For other values, the learned spectrum returns the values of another method unless its
                // process predicts clearly better.
                let spectrum = Method::By(&methods::LEARNED_SPECTRUM);
                let keeps_values =
                    ["weighted-banzhaf=0.3", "beta=4,1", "owen", "banzhaf-owen"].contains(&name);
                if keeps_values && [earlier, later].contains(&spectrum) {
                    continue;
                }
                // Both methods may be the same as a third method.
                let is_same = of_same == Some(earlier)
                    || of_same.is_some() && of_same == earlier.same_as(&value, game.scenarios());
                let pairs: Vec<(&Vec<f64>, &Vec<f64>)> = all[&later]
                    .iter()
                    .zip(&all[&earlier])
                    .filter_map(|(a, b)| a.as_ref().zip(b.as_ref()))
                    .collect();
                let equal =
                    |(a, b): &(&Vec<f64>, &Vec<f64>)| a.iter().zip(*b).all(|(a, b)| (a - b).abs() < 1e-12);
                let same = pairs.iter().filter(|pair| equal(pair)).count();
                if is_same {
                    assert!(
                        same > 0 && same == pairs.len(),
                        "{name}: {later}, {earlier}: {same} of {}",
                        pairs.len()
                    );
                    said += 1;
                } else {
                    // The samples of two methods with few coalitions may coincide by chance.
                    assert!(
                        pairs.is_empty() || 2 * same < pairs.len(),
                        "{name}: {later}, {earlier}: {same} of {}",
                        pairs.len()
                    );
                }
            }
        }
    }
    assert!(said >= 10, "{said}");
}

#[test]
fn results_say_what_the_method_is_the_same_as() {
    let game = SumOfUnanimity::random(FEATURES, 40, 5, 3);
    let same_as = |method| {
        let explainer = GameExplainer::new().method(method).budget(Budget::Evaluations(100));
        explainer.explain(&game).unwrap().diagnostics.same_as
    };
    assert_eq!(same_as(Method::By(&methods::ONE_SAMPLE_FITS_ALL)).as_deref(), Some("msr"));
    assert_eq!(same_as(Method::By(&methods::OPTIMIZED_MONTE_CARLO)).as_deref(), Some("permutation"));
    assert_eq!(same_as(Method::By(&methods::MSR)), None);
}
