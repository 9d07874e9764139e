//! The table method.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use apportion::estimators::StopRule;
use apportion::estimators::methods;
use apportion::games::{CoalitionView, Graph, SumOfUnanimity};
use apportion::values::{GraphValue, InteractionIndex, Interactions};
use apportion::{
    Background, Budget, ExplainError, Explainer, Explanation, GameExplainer, Method, Model, NullPlayers,
    Partition, Rows, RunObserver, Semivalue, SurrogateCache, Until, Value, batch_model,
};

const FEATURES: usize = 12;

/// Returns pseudo-random numbers in [−1, 1).
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(next).collect()
}

/// A network with a hidden layer of eight units.
fn network(row: &[f64]) -> f64 {
    let weights = numbers(8 * FEATURES, 3);
    let unit = |weights: &[f64]| weights.iter().zip(row).map(|(weight, x)| 1.5 * weight * x).sum::<f64>();
    weights.chunks(FEATURES).enumerate().map(|(at, weights)| (at as f64 - 3.2) * unit(weights).tanh()).sum()
}

fn background(rows: usize) -> Background {
    Background::rows(numbers(rows * FEATURES, 1), FEATURES).unwrap()
}

fn explain(explainer: Explainer<'_>, rows: &[f64]) -> Vec<Explanation> {
    explainer.explain_rows(Rows::new(rows, FEATURES)).unwrap()
}

#[test]
fn threads_do_not_change_a_bit() {
    let rows = numbers(30 * FEATURES, 2);
    let explainer =
        || Explainer::new(&network, background(10)).method(Method::Table).budget(Budget::Fraction(0.5));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| explain(explainer(), &rows))
    };
    let explanations = on(1);
    assert_eq!(explanations, on(3));
    let mut each = Vec::new();
    explainer()
        .explain_each(Rows::new(&rows, FEATURES), |row, explanation| {
            assert_eq!(row, each.len());
            each.push(explanation);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(explanations, each);
    for explanation in &explanations {
        assert_eq!(explanation.method, "table");
        assert!(explanation.std_errors.is_some() && explanation.efficiency_gap() < 1e-9);
        // 0.5 · 12 · 10 rows, and the explicand.
        assert!(explanation.model_rows <= 61, "{}", explanation.model_rows);
    }
}

#[test]
fn values_of_an_additive_model_and_of_equal_features_are_exact() {
    let model = |row: &[f64]| row.iter().enumerate().map(|(at, x)| (at as f64 + 1.0) * x).sum::<f64>();
    let mut values = numbers(10 * FEATURES, 1);
    values.chunks_exact_mut(FEATURES).for_each(|row| row[4] = 0.25);
    let background = Background::rows(values.clone(), FEATURES).unwrap();
    let mut rows = numbers(25 * FEATURES, 2);
    rows.chunks_exact_mut(FEATURES).for_each(|row| row[4] = 0.25);
    let found = explain(Explainer::new(&model, background).method(Method::Table), &rows);
    for (row, explanation) in rows.chunks_exact(FEATURES).zip(&found) {
        for (feature, value) in row.iter().enumerate() {
            let mean = values.iter().skip(feature).step_by(FEATURES).sum::<f64>() / 10.0;
            let expected = (feature as f64 + 1.0) * (value - mean);
            assert!((explanation.values[feature] - expected).abs() < 1e-9, "{feature}");
        }
        assert_eq!(explanation.values[4], 0.0);
    }
}

#[test]
fn squared_errors_are_below_those_of_leverage_shap() {
    let rows = numbers(60 * FEATURES, 2);
    let explained = |method: Method, budget| {
        explain(Explainer::new(&network, background(10)).method(method).budget(budget).seed(5), &rows)
    };
    let exact = explained(Method::Exact, Budget::Auto);
    let budget = Budget::PerPlayer(5);
    let error = |found: Vec<Explanation>| -> f64 {
        let pairs = found.iter().zip(&exact);
        let squares = |(found, exact): (&Explanation, &Explanation)| -> f64 {
            found.values.iter().zip(&exact.values).map(|(a, b)| (a - b).powi(2)).sum()
        };
        pairs.map(squares).sum()
    };
    let ratio = error(explained(Method::Table, budget))
        / error(explained(Method::By(&methods::LEVERAGE_SHAP), budget));
    assert!(ratio < 0.5, "{ratio}");
}

#[test]
fn one_row_and_few_coalitions() {
    let row = numbers(FEATURES, 2);
    let explainer = Explainer::new(&network, background(10)).method(Method::Table);
    let explanation = explainer.explain(&row).unwrap();
    assert!(!explanation.diagnostics.exact);
    assert_eq!(
        vec![explanation],
        explain(Explainer::new(&network, background(10)).method(Method::Table), &row)
    );
    let model = |row: &[f64]| row[0] * row[1] + row[2];
    let background = Background::rows(numbers(30, 1), 3).unwrap();
    let explanation = Explainer::new(&model, background).method(Method::Table).explain(&[1.0; 3]).unwrap();
    assert!(explanation.diagnostics.exact);
}

#[test]
fn plans_count_evaluations() {
    let plan = |budget, count| {
        let explainer = Explainer::new(&network, background(count)).method(Method::Table).budget(budget);
        explainer.plan(7, Rows::new(&[0.0; FEATURES], FEATURES)).unwrap()
    };
    let found = plan(Budget::Fraction(0.5), 10);
    assert_eq!((found.method, found.budget, found.min_evaluations), (Method::Table, Some(6), Some(1)));
    assert_eq!(plan(Budget::Auto, 10).budget, Some(38));
    assert_eq!(plan(Budget::Auto, 1).budget, Some(200));
    assert!(plan(Budget::Evaluations(2), 1).check().is_err());
}

/// Returns the stored explanations of an earlier run.
struct Stored(Vec<Option<Explanation>>);

impl RunObserver for Stored {
    fn load_result(&self, row: usize) -> Option<Explanation> {
        self.0[row].clone()
    }
}

#[test]
fn stored_results_are_used_for_whole_tables() {
    let rows = numbers(4 * FEATURES, 2);
    let explainer = Explainer::new(&network, background(10)).method(Method::Table);
    let followed = |stored: &[Option<Explanation>]| {
        explainer.explain_rows_followed(Rows::new(&rows, FEATURES), &Stored(stored.to_vec())).unwrap()
    };
    let whole = followed(&[const { None }; 4]);
    let mut stored: Vec<Option<Explanation>> = whole.iter().cloned().map(Some).collect();
    stored[1].as_mut().unwrap().seed = Some(9);
    assert_eq!(followed(&stored)[1].seed, Some(9));
    stored[0] = None;
    assert_eq!(followed(&stored), whole);
}

#[test]
fn with_a_learned_surrogate_rows_are_independent() {
    let rows = numbers(30 * FEATURES, 2);
    let table = |count| Explainer::new(&network, background(count)).method(Method::Table).seed(3);
    let surrogate = table(10).learn(Rows::new(&rows[..20 * FEATURES], FEATURES)).unwrap();
    let explainer = table(10).surrogate(&surrogate);
    let whole = explain(table(10).surrogate(&surrogate), &rows);
    for (row, explanation) in rows.chunks_exact(FEATURES).zip(&whole) {
        assert_eq!(&explainer.explain(row).unwrap(), explanation);
    }
    let mut each = Vec::new();
    let receive = |_, explanation| {
        each.push(explanation);
        ControlFlow::Continue(())
    };
    explainer.explain_each(Rows::new(&rows, FEATURES), receive).unwrap();
    assert_eq!(whole, each);
    // Stored results are used row by row.
    let mut stored = vec![None; 30];
    let mut one = whole[4].clone();
    one.seed = Some(9);
    stored[4] = Some(one);
    let followed =
        explainer.explain_rows_followed(Rows::new(&rows, FEATURES), &Stored(stored.clone())).unwrap();
    assert_eq!((followed[4].seed, &followed[5..]), (Some(9), &whole[5..]));

    let error = table(9).surrogate(&surrogate).explain(&rows[..FEATURES]).unwrap_err();
    assert!(error.to_string().contains("different background"), "{error}");
    let other = |row: &[f64]| network(row) + 1.0;
    let error = Explainer::new(&other, background(10)).method(Method::Table).surrogate(&surrogate);
    let error = error.explain(&rows[..FEATURES]).unwrap_err();
    assert!(error.to_string().contains("different model"), "{error}");
    let error = table(10).learn(Rows::new(&[], FEATURES)).unwrap_err();
    assert!(error.to_string().contains("at least one row"), "{error}");
}

#[test]
fn what_it_does_not_support_is_refused() {
    let table =
        |explainer: Explainer<'_>| explainer.method(Method::Table).explain(&[0.5; FEATURES]).unwrap_err();
    let any = || Explainer::new(&network, background(10));
    let error = table(any().value(Value::on_graph(GraphValue::myerson(), Graph::line(FEATURES))));
    assert!(matches!(error, ExplainError::Unsupported { .. }), "{error}");
    assert!(error.to_string().starts_with("table does not support"), "{error}");
    let beta = || any().value("beta=4,1".parse::<Semivalue>().unwrap());
    let error = table(beta().budget(Budget::Evaluations(2)));
    assert!(error.to_string().starts_with("table requires a budget of at least 14 evaluations"), "{error}");
    assert!(beta().method(Method::Table).explain(&[1.0; 3]).is_err());
    assert!(beta().method(Method::Table).explain(&[]).is_err());
    let error = table(Explainer::new(&network, background(1)).budget(Budget::Evaluations(2)));
    assert!(error.to_string().contains("at least 5"), "{error}");
    let error = table(Explainer::new(&|_: &[f64]| f64::NAN, background(2)));
    assert!(matches!(error, ExplainError::Surrogates(_)), "{error}");
    let explainer = any().method(Method::Table);
    assert!(explainer.explain(&[]).is_err());
    assert!(explainer.explain(&[1.0; 3]).is_err());
    let game = SumOfUnanimity::random(40, 60, 3, 1);
    let error = GameExplainer::new().method(Method::Table).explain(&game).unwrap_err();
    assert!(matches!(error, ExplainError::NotTable), "{error}");
}

#[test]
fn several_outputs_are_explained_at_once() {
    let model =
        batch_model(2, |rows: Rows<'_>| Ok(rows.iter().flat_map(|row| [network(row), row[0]]).collect()));
    let rows = numbers(25 * FEATURES, 2);
    for explanation in explain(Explainer::new(&model, background(5)).method(Method::Table), &rows) {
        assert_eq!(explanation.values.len(), 2 * FEATURES);
        assert!(explanation.efficiency_gap() < 1e-9);
    }
}

#[test]
fn long_tables_are_explained_in_blocks() {
    let rows = numbers(10_001 * FEATURES, 2);
    let budget = Budget::Fraction(0.5);
    let explainer = Explainer::new(&network, background(4)).method(Method::Table).budget(budget);
    let explanations = explain(explainer, &rows);
    assert_eq!(explanations.len(), 10_001);
    let exact = Explainer::new(&network, background(4)).method(Method::Exact);
    let (mut covered, mut count) = (0, 0);
    // Every tenth row is in the sample from which the surrogate was learned.
    for row in (0..10_001).step_by(125) {
        let truth = exact.explain(&rows[row * FEATURES..][..FEATURES]).unwrap().values;
        for ((lower, upper), truth) in explanations[row].intervals(0.95).unwrap().into_iter().zip(truth) {
            (covered, count) = (covered + usize::from(lower <= truth && truth <= upper), count + 1);
        }
    }
    let share = f64::from(covered as u32) / f64::from(count);
    assert!(share >= 0.91, "{share}");
}

#[test]
fn intervals_of_rows_of_the_sample_hold() {
    let rows = numbers(60 * FEATURES, 2);
    let table = || Explainer::new(&network, background(10)).method(Method::Table);
    let surrogate = table().learn(Rows::new(&rows, FEATURES)).unwrap();
    let exact = explain(Explainer::new(&network, background(10)).method(Method::Exact), &rows);
    let (mut covered, mut count) = (0.0, 0.0);
    for (found, exact) in explain(table().surrogate(&surrogate), &rows).iter().zip(exact) {
        for ((lower, upper), truth) in found.intervals(0.95).unwrap().into_iter().zip(exact.values) {
            covered += f64::from(u8::from(lower <= truth && truth <= upper));
            count += 1.0;
        }
    }
    assert!((0.91..=0.99).contains(&(covered / count)), "{}", covered / count);
}

#[test]
fn auto_takes_the_table_method_where_it_pays() {
    let rows = numbers(2 * FEATURES, 2);
    let model = |row: &[f64]| row.iter().enumerate().map(|(at, x)| (x * at as f64).tanh()).sum::<f64>();
    let wide =
        |rows: usize, features: usize| Background::rows(numbers(rows * features, 1), features).unwrap();
    let planned = |explainer: Explainer<'_>, features: usize| {
        let row = vec![0.5; features];
        let plan = explainer.plan(1, Rows::new(&row, features)).unwrap();
        let explanation = explainer.explain(&row).unwrap();
        assert_eq!(plan.method.name(), explanation.method);
        if plan.method != Method::Exact {
            assert_eq!(plan.max_evaluations, Some(explanation.evaluations), "{explanation:?}");
        }
        explanation.method
    };
    let auto = |rows: usize, features: usize| Explainer::new(&model, wide(rows, features));
    for (rows, features, method) in [
        (29, 12, "learned-spectrum"),
        (30, 12, "table"),
        (100, 10, "exact"),
        (100, 11, "table"),
        (40, 128, "table"),
        (40, 129, "learned-spectrum"),
    ] {
        assert_eq!(planned(auto(rows, features), features), method, "{rows} {features}");
    }
    let weights: Vec<f64> = (0..40).map(|at| f64::from(1 + at % 2)).collect();
    let weighted = background(40).with_weights(&weights).unwrap();
    for explainer in [
        Explainer::new(&model, weighted),
        auto(40, FEATURES).budget(Budget::PerPlayer(20)),
        auto(40, FEATURES).null_players(NullPlayers::Keep),
    ] {
        assert_eq!(planned(explainer, FEATURES), "learned-spectrum");
    }
    let some_groups = || groups(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
    for (value, method) in [
        (Semivalue::Banzhaf.into(), "table"),
        (Value::quotient(Semivalue::Shapley, some_groups()), "table"),
        (Value::quotient(Semivalue::Shapley, groups(&[4, 4, 4])), "exact"),
        ("beta=4,1".parse::<Semivalue>().unwrap().into(), "learned-spectrum"),
    ] {
        assert_eq!(planned(auto(40, FEATURES).value(value), FEATURES), method);
    }
    let certified = auto(40, FEATURES).until(Until::relative(0.05)).explain(&rows[..FEATURES]).unwrap();
    assert!(certified.method != "table" && certified.certificate.is_some());
}

#[test]
fn auto_explains_each_row_by_itself() {
    let evaluated = AtomicUsize::new(0);
    let model = batch_model(1, |rows: Rows<'_>| {
        evaluated.fetch_add(rows.len(), Ordering::Relaxed);
        Ok(rows.iter().map(network).collect())
    });
    let rows = numbers(70 * FEATURES, 2);
    let explainer = Explainer::new(&model, background(40));
    let explanations = explain_in_threads(&explainer, &rows, 1);
    assert!(explanations.iter().all(|found| found.method == "table" && found.evaluations == 38));
    // 38 evaluations for each row, and five times as many to learn the surrogate.
    let of_rows = 75 * 38 * 40;
    assert!(evaluated.load(Ordering::Relaxed).abs_diff(of_rows) < 250, "{evaluated:?}");
    let before = evaluated.load(Ordering::Relaxed);
    assert_eq!(explainer.explain(&rows[FEATURES..2 * FEATURES]).unwrap(), explanations[1]);
    assert!(evaluated.load(Ordering::Relaxed) - before < 2000);
    assert_eq!(explain_in_threads(&explainer, &rows, 3), explanations);
    let mut each = Vec::new();
    explainer
        .explain_each(Rows::new(&rows, FEATURES), |_, explanation| {
            each.push(explanation);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(each, explanations);
    // The surrogate depends on the seed.
    let other = explainer.seed(1);
    let fresh = || Explainer::new(&model, background(40)).seed(1);
    assert_eq!(other.explain(&rows[..FEATURES]).unwrap(), fresh().explain(&rows[..FEATURES]).unwrap());
    // A stored result is used for its row alone.
    let mut stored = vec![None; 70];
    stored[1] = Some(explanations[0].clone());
    let follow = Stored(stored);
    let resumed = Explainer::new(&model, background(40));
    let resumed = resumed.explain_rows_followed(Rows::new(&rows, FEATURES), &follow).unwrap();
    assert_eq!(resumed[1], explanations[0]);
    assert_eq!(resumed[2..], explanations[2..]);
}

fn explain_in_threads(explainer: &Explainer<'_>, rows: &[f64], threads: usize) -> Vec<Explanation> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| explainer.explain_rows(Rows::new(rows, FEATURES)).unwrap())
}

#[test]
fn auto_is_more_accurate_than_permutations_with_many_times_the_budget() {
    let rows = numbers(6 * FEATURES, 2);
    let explained = |explainer: Explainer<'_>| explain(explainer, &rows);
    let truth = explained(Explainer::new(&network, background(50)).method(Method::Exact));
    let found = explained(Explainer::new(&network, background(50)));
    let permutation = explained(
        Explainer::new(&network, background(50)).method(&methods::PERMUTATION).budget(Budget::PerPlayer(20)),
    );
    let error = |found: &[Explanation]| {
        let of_row = |(found, truth): (&Explanation, &Explanation)| {
            let pairs = found.values.iter().zip(&truth.values);
            pairs.map(|(value, truth)| (value - truth).powi(2)).sum::<f64>()
        };
        found.iter().zip(&truth).map(of_row).sum::<f64>()
    };
    assert!(error(&found) < error(&permutation), "{} {}", error(&found), error(&permutation));
    let (mut held, mut count) = (0, 0);
    for (found, truth) in found.iter().zip(&truth) {
        for ((lower, upper), value) in found.intervals(0.95).unwrap().into_iter().zip(&truth.values) {
            held += usize::from(lower <= *value && *value <= upper);
            count += 1;
        }
    }
    assert!(10 * held >= 9 * count, "{held} of {count}");
}

#[test]
fn auto_explains_models_with_noise_and_models_that_change() {
    let calls = AtomicUsize::new(0);
    let noisy = |row: &[f64]| {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        network(row) + 0.01 * (call as f64 * 0.7).sin()
    };
    let rows = numbers(3 * FEATURES, 2);
    let explainer = Explainer::new(&noisy, background(40));
    let exact = explain(Explainer::new(&network, background(40)).method(Method::Exact), &rows);
    for _ in 0..2 {
        let found = explain_in_threads(&explainer, &rows, 1);
        for (found, exact) in found.iter().zip(&exact) {
            assert!(found.values.iter().zip(&exact.values).all(|(value, truth)| (value - truth).abs() < 0.2));
        }
    }
    // Rows of another width are rejected before the model is called.
    let before = calls.load(Ordering::Relaxed);
    assert!(Explainer::new(&noisy, background(40)).explain(&[0.0; 5]).is_err());
    assert_eq!(calls.load(Ordering::Relaxed), before);
    // With a cache, a surrogate of another model or background is not used.
    let cache = SurrogateCache::default();
    let negative = |row: &[f64]| -network(row);
    let two = batch_model(2, |rows: Rows<'_>| {
        Ok(rows.iter().flat_map(|row| [network(row), row[0] * row[1] * row[2]]).collect())
    });
    let models: [&dyn Model; 4] = [&network, &negative, &network, &two];
    for (model, count) in models.into_iter().zip([40, 40, 50, 50]) {
        let fresh = || Explainer::new(model, background(count));
        assert_eq!(explain(fresh().surrogate_cache(&cache), &rows), explain(fresh(), &rows));
        let coded = || fresh().categorical([true]);
        assert_eq!(explain(coded().surrogate_cache(&cache), &rows), explain(coded(), &rows));
    }
}

#[test]
fn categories_are_split_into_sets() {
    let effects = [3.0, -2.0, 1.5, -3.0, 2.0, -1.0, 2.5, -2.5, 0.5, -1.5];
    let model =
        |row: &[f64]| effects[row[0] as usize] * (3.0 * row[1] + 4.0 * row[2] * row[3]).tanh() + row[4];
    let coded = |rows: usize, seed: u64| -> Vec<f64> {
        let mut rows = numbers(rows * FEATURES, seed);
        rows.chunks_exact_mut(FEATURES).for_each(|row| row[0] = (5.0 * (row[0] + 1.0)).floor().min(9.0));
        rows
    };
    let rows = coded(12, 2);
    let explainer = || Explainer::new(&model, Background::rows(coded(40, 1), FEATURES).unwrap());
    let exact = explain(explainer().method(Method::Exact), &rows);
    let error = |found: Vec<Explanation>| -> f64 {
        let of_row = |(found, exact): (&Explanation, &Explanation)| {
            found.values.iter().zip(&exact.values).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
        };
        found.iter().zip(&exact).map(of_row).sum()
    };
    for method in [Method::Auto, Method::Table] {
        let as_numbers = error(explain(explainer().method(method), &rows));
        let as_categories = error(explain(explainer().method(method).categorical([true]), &rows));
        assert!(as_categories < as_numbers, "{method}: {as_categories} {as_numbers}");
    }
}

/// Returns groups of consecutive features of these sizes.
fn groups(sizes: &[usize]) -> Partition {
    let mut next = 0;
    let group = |&size: &usize| {
        next += size;
        (next - size..next).collect()
    };
    Partition::new(FEATURES, sizes.iter().map(group).collect()).unwrap()
}

/// Returns the sum of squared errors relative to that of the values, and the share of values in their 95%
/// intervals, of methods with these budgets.
fn errors(value: &Value, method: Method, budget: Budget, background: &Background) -> (f64, f64) {
    let rows = numbers(16 * FEATURES, 2);
    let explained = |method: Method, budget| {
        let explainer = Explainer::new(&network, background.clone()).value(value.clone()).seed(5);
        explain(explainer.method(method).budget(budget), &rows)
    };
    let exact = explained(Method::Exact, Budget::Auto);
    let (mut square, mut size, mut covered, mut count) = (0.0, 0.0, 0.0, 0.0);
    for (found, exact) in explained(method, budget).iter().zip(&exact) {
        assert_eq!(found.value, value.concept());
        let intervals = found.intervals(0.95).unwrap();
        for ((found, exact), (low, high)) in found.values.iter().zip(&exact.values).zip(intervals) {
            square += (found - exact).powi(2);
            size += exact * exact;
            covered += f64::from(u8::from((low..=high).contains(exact)));
            count += 1.0;
        }
    }
    (square / size, covered / count)
}

#[test]
fn banzhaf_values_and_groups_have_small_errors() {
    let background = background(40);
    let some_groups = groups(&[1, 1, 1, 1, 1, 1, 1, 1, 2, 2]);
    for value in [Value::from(Semivalue::Banzhaf), Value::quotient(Semivalue::Banzhaf, some_groups)] {
        let budget = Budget::PerPlayer(5);
        let (square, covered) = errors(&value, Method::Table, budget, &background);
        let (of_spectrum, _) = errors(&value, Method::By(&methods::LEARNED_SPECTRUM), budget, &background);
        assert!(square < 0.3 * of_spectrum, "{square} {of_spectrum}");
        assert!((0.91..=0.99).contains(&covered), "{covered}");
    }
}

/// Returns values that the regression does not compute.
fn other_values() -> [Value; 4] {
    [
        "beta=4,1".parse::<Semivalue>().unwrap().into(),
        "weighted-banzhaf=0.3".parse::<Semivalue>().unwrap().into(),
        Value::owen(groups(&[3, 2, 4, 1, 2])),
        Value::TwoStepShapley(groups(&[3, 2, 4, 1, 2])),
    ]
}

#[test]
fn other_values_are_those_of_the_surrogate_and_of_the_difference() {
    let background = background(40);
    for value in other_values() {
        for (budget, most) in [(Budget::Fraction(1.0), f64::INFINITY), (Budget::PerPlayer(10), 0.9)] {
            let (square, covered) = errors(&value, Method::Table, budget, &background);
            assert!(square < 0.15, "{square} {}", value.concept());
            assert!(covered > 0.88, "{covered} {}", value.concept());
            if most.is_finite() {
                // For groups, the learned spectrum is about as accurate without a surrogate.
                let most = if matches!(value, Value::Coalitional(..)) { 1.1 } else { most };
                let (without, _) = errors(&value, Method::Auto, budget, &background);
                assert!(square <= most * without, "{square} {without} {}", value.concept());
            }
        }
    }
}

#[test]
fn rows_with_other_values_are_independent() {
    let rows = numbers(5 * FEATURES, 2);
    for value in other_values() {
        let explainer = || {
            let explainer = Explainer::new(&network, background(10)).value(value.clone());
            explainer.method(Method::Table).budget(Budget::PerPlayer(12))
        };
        let whole = explain_in_threads(&explainer(), &rows, 3);
        assert_eq!(whole, explain_in_threads(&explainer(), &rows, 1));
        let explainer = explainer();
        let mut each = Vec::new();
        let receive = |_, explanation| {
            each.push(explanation);
            ControlFlow::Continue(())
        };
        explainer.explain_each(Rows::new(&rows, FEATURES), receive).unwrap();
        assert_eq!(whole, each);
        let mut stored = vec![None; 5];
        let mut one = whole[2].clone();
        one.seed = Some(9);
        stored[2] = Some(one);
        let followed = explainer.explain_rows_followed(Rows::new(&rows, FEATURES), &Stored(stored)).unwrap();
        assert_eq!((followed[2].seed, &followed[3..]), (Some(9), &whole[3..]));
        for (row, explanation) in rows.chunks_exact(FEATURES).zip(&whole) {
            assert_eq!(&explainer.explain(row).unwrap(), explanation);
            assert_eq!(explanation.method, "table");
            assert!((explanation.prediction[0] - network(row)).abs() < 1e-12);
            let plan = explainer.plan(5, Rows::new(&rows, FEATURES)).unwrap();
            assert!(explanation.evaluations <= plan.max_evaluations.unwrap());
        }
    }
}

#[test]
fn certificates_hold_for_all_values() {
    let rows = numbers(5 * FEATURES, 2);
    let regressed = [Value::from(Semivalue::Shapley), Semivalue::Banzhaf.into()];
    for (at, value) in regressed.into_iter().chain(other_values()).enumerate() {
        let explainer = |method| {
            let explainer = Explainer::new(&network, background(12)).value(value.clone()).method(method);
            explainer.until(Until::relative(0.05))
        };
        let found = explain(explainer(Method::Table), &rows);
        let exact = Explainer::new(&network, background(12)).value(value.clone()).method(Method::Exact);
        let norm = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
        let mut wrong = 0;
        for (found, exact) in found.iter().zip(explain(exact, &rows)) {
            let certificate = found.certificate.as_ref().unwrap();
            assert_eq!(certificate.stopped_by, StopRule::Tolerance, "{}", value.concept());
            let last = certificate.interim_checks.last().unwrap();
            assert!(last.error.is_none_or(|error| error <= 1.0));
            let error = norm(&mut found.values.iter().zip(&exact.values).map(|(a, b)| a - b));
            wrong += usize::from(error > 0.05 * norm(&mut exact.values.iter().copied()));
        }
        assert!(wrong <= 1, "{wrong} {}", value.concept());
        if at < 2 {
            let evaluations = |all: &[Explanation]| all.iter().map(|one| one.evaluations).sum::<usize>();
            let without = explain(explainer(Method::Auto), &rows);
            assert!(2 * evaluations(&found) < 3 * evaluations(&without), "{}", value.concept());
            // Rows are independent.
            let alone = explainer(Method::Table).explain(&rows[FEATURES..2 * FEATURES]).unwrap();
            assert_eq!(alone, found[1]);
        }
    }
}

#[test]
fn a_tolerance_ends_at_the_budget() {
    let parity = |row: &[f64]| row.iter().map(|x| (40.0 * x).sin().signum()).product::<f64>();
    let explainer = |until: Until| {
        let explainer = Explainer::new(&parity, background(20)).method(Method::Table).until(until);
        explainer.explain(&numbers(FEATURES, 2)).unwrap()
    };
    let found = explainer(Until::relative(0.001).with_budget(Some(500)));
    assert_eq!(found.certificate.unwrap().stopped_by, StopRule::Budget);
    assert!(found.evaluations <= 500 && found.evaluations > 300, "{}", found.evaluations);
    for constant in [7.0, 7.3, -1e9 / 3.0, 0.0] {
        let model = |_: &[f64]| constant;
        for rows in [12, 20] {
            let explainer = Explainer::new(&model, background(rows)).method(Method::Table);
            let found = explainer.until(Until::relative(0.1)).explain(&numbers(FEATURES, 2)).unwrap();
            let stopped_by = found.certificate.unwrap().stopped_by;
            assert!(
                matches!(stopped_by, StopRule::NoScale | StopRule::Tolerance),
                "{constant}: {stopped_by:?}"
            );
            assert!(found.evaluations < 60, "{constant}: {}", found.evaluations);
        }
    }
    let found = explainer(Until::relative(0.001).with_looks(2));
    let certificate = found.certificate.unwrap();
    assert_eq!((certificate.stopped_by, certificate.interim_checks.len()), (StopRule::MaxChecks, 2));
}

#[test]
fn weighted_backgrounds_are_explained() {
    let weights: Vec<f64> = (0..20).map(|at| f64::from(1 + at % 4)).collect();
    let weighted = background(20).with_weights(&weights).unwrap();
    for value in [Value::from(Semivalue::Shapley), Semivalue::Banzhaf.into()] {
        let (square, covered) = errors(&value, Method::Table, Budget::PerPlayer(10), &weighted);
        assert!(square < 0.02 && covered > 0.9, "{square} {covered}");
    }
    // The budget covers all coalitions.
    let all = Budget::Evaluations(1 << FEATURES);
    let row = numbers(FEATURES, 2);
    let explainer = |method| Explainer::new(&network, weighted.clone()).method(method).budget(all);
    let (found, exact) = (explainer(Method::Table).explain(&row), explainer(Method::Exact).explain(&row));
    let (found, exact) = (found.unwrap(), exact.unwrap());
    assert_eq!((found.method.as_str(), found.diagnostics.exact), ("table", true));
    assert_eq!((found.values, found.base), (exact.values, exact.base));
}

#[test]
fn a_poor_surrogate_is_left_out_output_by_output() {
    // The second output changes sign with every feature.
    let parity = |row: &[f64]| row.iter().map(|x| (40.0 * x).sin().signum()).product::<f64>();
    let steps = |row: &[f64]| (4.0 * row[0]).floor() * f64::from(u8::from(row[1] > 0.2)) + row[2].max(row[3]);
    let model = batch_model(2, move |rows: Rows<'_>| {
        Ok(rows.iter().flat_map(|row| [steps(row), parity(row)]).collect())
    });
    let rows = numbers(12 * FEATURES, 2);
    let value: Semivalue = "beta=4,1".parse().unwrap();
    let explainer = |method| {
        let explainer = Explainer::new(&model, background(20)).value(value.clone());
        explain(explainer.method(method).budget(Budget::PerPlayer(8)).seed(2), &rows)
    };
    let (found, without) = (explainer(Method::Table), explainer(Method::By(&methods::LEARNED_SPECTRUM)));
    let mut left_out = 0;
    for (found, without) in found.iter().zip(&without) {
        assert_eq!((found.outputs(), found.values.len()), (2, 2 * FEATURES));
        assert_eq!(found.diagnostics.error_distribution.as_ref().unwrap().directions.len(), 2);
        let chosen = found.diagnostics.chosen.as_ref().unwrap();
        if chosen.as_str() == "surrogate for outputs 0 and learned-spectrum for all" {
            left_out += 1;
            // Without the surrogate, the values are those of the method itself.
            for (one, other) in found.output(1).iter().zip(without.output(1)) {
                assert!((one - other).abs() < 1e-9, "{one} {other}");
            }
        }
        let sum = |explanation: &Explanation| -> f64 {
            explanation.std_errors.as_ref().unwrap().iter().step_by(2).map(|error| error * error).sum()
        };
        assert!(sum(found) <= sum(without), "{chosen}");
    }
    assert!(left_out > 0);
}

#[test]
fn interactions_of_pairs_are_those_of_the_surrogate_and_of_the_difference() {
    // Trees explain the products of this model, which single players and their pairs do not exhaust.
    let steps = |row: &[f64]| {
        let sign = |x: f64| if x > 0.1 { 1.0 } else { -1.0 };
        sign(row[0]) * sign(row[1]) * sign(row[2]) + 2.0 * sign(row[3]) * row[4].max(-0.2) + row[5]
    };
    let model = batch_model(2, move |rows: Rows<'_>| {
        Ok(rows.iter().flat_map(|row| [steps(row), network(row)]).collect())
    });
    let rows = numbers(6 * FEATURES, 2);
    let some_groups = groups(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
    for (index, groups) in
        [(InteractionIndex::from(Semivalue::Shapley), None), (Semivalue::Banzhaf.into(), Some(&some_groups))]
    {
        let indices = |method, budget| {
            let explainer = Explainer::new(&model, background(30)).method(method).budget(budget);
            explainer.indices(&index, 2, groups, Rows::new(&rows, FEATURES)).unwrap()
        };
        let exact = indices(Method::Exact, Budget::Auto);
        let error = |found: &[Interactions], output: usize| -> f64 {
            let of_row = |(found, exact): (&Interactions, &Interactions)| -> f64 {
                let of_coalition = |(coalition, value): (CoalitionView<'_>, &[f64])| {
                    let exact = exact.get(&coalition.members().collect::<Vec<_>>());
                    (value[output] - exact.map_or(0.0, |exact| exact[output])).powi(2)
                };
                found.iter().map(of_coalition).sum()
            };
            found.iter().zip(&exact).map(of_row).sum()
        };
        let budget = Budget::PerPlayer(20);
        let (found, without) = (indices(Method::Table, budget), indices(Method::Auto, budget));
        for (found, exact) in found.iter().zip(&exact) {
            assert_eq!((found.outputs(), found.std_errors().unwrap().len()), (2, found.values().len()));
            for (found, exact) in [
                (found.base(), exact.base()),
                (found.predictions(), exact.predictions()),
                (found.constant(), exact.constant()),
            ] {
                assert!(found.iter().zip(exact).all(|(found, exact)| (found - exact).abs() < 1e-9));
            }
        }
        for output in 0..2 {
            let (with, without) = (error(&found, output), error(&without, output));
            assert!(with < 1.05 * without + 1e-4, "{output}: {with} {without}");
        }
        // All coalitions: no surrogate is necessary.
        let all = indices(Method::Table, Budget::Evaluations(1 << FEATURES));
        assert!(error(&all, 0) + error(&all, 1) < 1e-18);
    }
}

#[test]
fn only_tables_without_a_surrogate_are_explained_together() {
    let explainer = || Explainer::new(&network, background(10)).method(Method::Table);
    assert!(explainer().explains_rows_together());
    assert!(explainer().value(Semivalue::Banzhaf).explains_rows_together());
    let surrogate = explainer().learn(Rows::new(&numbers(20 * FEATURES, 2), FEATURES)).unwrap();
    assert!(!explainer().surrogate(&surrogate).explains_rows_together());
    assert!(!explainer().until(Until::relative(0.1)).explains_rows_together());
    assert!(!explainer().value(Value::owen(groups(&[6, 6]))).explains_rows_together());
    assert!(!explainer().method(Method::Auto).explains_rows_together());
}
