//! Tests the guarantees of all tree explainers: the same bytes for any number of threads, rows that do not
//! affect each other, and errors that name the problem.

use std::sync::Arc;

use apportion_games::{Background, GameError, Partition, Rows};
use apportion_models::Link;
use apportion_trees::{
    Diagonal, Ensemble, Exact, Kernel, LinkedTreeExplainer, MarginalTreeExplainer, ModelError,
    PathDependentTreeExplainer, Settings, TreeError,
};
use apportion_values::{CoalitionalValue, Semivalue, Value, ValueError};

use crate::common::case::{Case, in_groups, semivalues};
use crate::common::{Random, TreeSpec, document, read};

/// Returns a value of each kind.
fn kinds(groups: &Partition) -> Vec<Value> {
    let by_size = semivalues(groups.players()).pop().unwrap();
    let odd = in_groups(groups).swap_remove(7);
    vec![
        Semivalue::Shapley.into(),
        by_size.into(),
        Value::Coalitional(CoalitionalValue::owen(), groups.clone()),
        odd,
        Value::quotient(Semivalue::Banzhaf, groups.clone()),
        Value::two_step(groups.clone()),
    ]
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Returns the bits of all results of a tree explainer for some rows. Each value yields the attributions,
/// then the interaction matrices if they are supported.
fn answers(tree_explainer: &dyn Exact, values: &[Value], rows: Rows<'_>) -> Vec<Vec<u64>> {
    let of_value = |value: &Value| {
        let pairs =
            tree_explainer.interactions_of(value, Diagonal::Remainder, rows).map(|got| bits(&got.values));
        let values = tree_explainer.values_of(value, rows).map(|got| bits(&got.values));
        [values, pairs]
    };
    let refused =
        |error: &TreeError| matches!(error, TreeError::Unsupported { .. } | TreeError::Kernel { .. });
    let answers = values.iter().flat_map(of_value);
    answers
        .map(|answer| {
            answer.unwrap_or_else(|error| if refused(&error) { Vec::new() } else { panic!("{error}") })
        })
        .collect()
}

#[test]
fn bytes_are_the_same_on_any_number_of_threads() {
    let random = &mut Random(1);
    // The cases cover rows that are loaded again for each turn, rows that stay in memory, and rows whose sums
    // are computed by sections of the trees.
    for (features, outputs, rows) in [(12, 1, 300), (4, 1, 60), (4, 1, 110), (7, 2, 700), (30, 1, 200)] {
        let players: Vec<usize> = (0..features).collect();
        let case = Case::random(random, (features, &players), (12, 6, false), outputs, (rows, 90));
        let values = kinds(&random.partition(features, 3));
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let [marginal, path_dependent, _] = case.tree_explainers();
                let tree_explainers = marginal.iter().chain(&path_dependent);
                tree_explainers
                    .map(|(name, tree_explainer, _)| {
                        (name.clone(), answers(&**tree_explainer, &values, case.rows()))
                    })
                    .collect::<Vec<_>>()
            })
        };
        let one = on(1);
        for ((name, got), (_, wanted)) in on(3).iter().zip(&one) {
            assert!(got == wanted, "{}, {name}", case.what);
        }
    }
    let players: Vec<usize> = (0..12).collect();
    let trees = (0..9).map(|tree| TreeSpec::random(random, &players, 5, false, tree % 3)).collect();
    let case = Case::linked(random, trees, 12, (2, 4), Link::Softmax);
    let explain = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let [.., linked] = case.tree_explainers();
        pool.install(|| answers(&*linked[0].1, &kinds(&Partition::whole(12))[..1], case.rows()))
    };
    assert!(explain(3) == explain(1));
}

#[test]
fn a_row_of_the_path_dependent_game_has_the_same_bits_whatever_stands_beside_it() {
    let random = &mut Random(2);
    let features: Vec<usize> = (0..9).collect();
    // The cases use quadrature rules with two, three and five nodes; the last rule is split into two runs.
    for (depth, longest, groups) in [(3, 4, 3), (5, 6, 8), (7, 9, 4)] {
        let mut trees: Vec<TreeSpec> =
            (0..4).map(|tree| TreeSpec::random(random, &features, depth, true, tree % 2)).collect();
        trees.push(TreeSpec::chain(random, &features[..longest]));
        let case = Case::new(random, trees, 9, (600, 1));
        let tree_explainer = PathDependentTreeExplainer::new(&case.ensemble).unwrap();
        for value in kinds(&random.partition(9, groups)) {
            let explain = |from: usize, count: usize| {
                answers(
                    &tree_explainer,
                    std::slice::from_ref(&value),
                    Rows::new(&case.rows[9 * from..9 * (from + count)], 9),
                )
            };
            let all = explain(0, 600);
            for count in [0, 1, 2, 7, 8, 9, 12, 25, 31, 63, 64, 65, 257, 512] {
                for from in [0, 1, 600 - count].into_iter().filter(|from| from + count <= 600) {
                    for (got, all) in explain(from, count).iter().zip(&all) {
                        let width = all.len() / 600;
                        assert!(
                            *got == all[width * from..width * (from + count)],
                            "{value:?}: {count} from {from}"
                        );
                    }
                }
            }
        }
    }
}

/// Checks that the results for a row have the same bits in batches of any size. Returns the number of results
/// that were compared for the first value: values, and pairs if supported.
fn is_alike_in_batches(
    random: &mut Random,
    what: &str,
    tree_explainer: &dyn Exact,
    values: &[Value],
    rows: Rows<'_>,
) -> usize {
    let (count, features) = (rows.len(), rows.columns());
    let mut compared = Vec::new();
    for value in values {
        let explain = |from: usize, count: usize| {
            let part = Rows::new(&rows.values()[features * from..features * (from + count)], features);
            let mut found = Vec::new();
            match tree_explainer.values_of(value, part) {
                Ok(values) => found.push(bits(&values.values)),
                Err(TreeError::Unsupported { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            // Skip matrices of many features, which would take longer than everything else.
            if features <= 12
                && let Ok(pairs) = tree_explainer.interactions_of(value, Diagonal::Remainder, part)
            {
                found.push(bits(&pairs.values));
            }
            found
        };
        let all = explain(0, count);
        compared.push(all.len());
        let mut from = 0;
        while from < count {
            let size = [1, 2, 7, 33, 64, 65, 130][random.below(7)].min(count - from);
            let found = explain(from, size);
            assert_eq!(found.len(), all.len(), "{what}, {value:?}");
            for (found, all) in found.iter().zip(&all) {
                let width = all.len() / count;
                let wanted = &all[width * from..width * (from + size)];
                assert!(found == wanted, "{what}, {value:?}: {size} rows from {from}");
            }
            from += size;
        }
    }
    compared[0]
}

#[test]
fn a_row_has_the_same_bits_in_batches_of_any_size_where_the_number_of_rows_is_chosen() {
    let random = &mut Random(8);
    // For these numbers of rows, different kernels are chosen: for few and for many rows, in one piece and in
    // sections.
    for chosen in [1, 100, 4096] {
        let settings = Settings::default().with_rows(chosen);
        for (features, outputs, background) in
            [(12, 1, 1), (12, 1, 20), (9, 2, 90), (30, 1, 3), (70, 1, 1), (140, 1, 4)]
        {
            let players: Vec<usize> = (0..features).collect();
            let case = Case::random(random, (features, &players), (12, 6, true), outputs, (260, background));
            let values = kinds(&random.partition(features, 3));
            let values = if features > 12 { &values[..1] } else { &values };
            let (rows, weights) = (case.background.as_rows(), Some(case.background.weights()));
            let marginal = MarginalTreeExplainer::new(&case.ensemble, rows, weights).unwrap();
            let path_dependent = PathDependentTreeExplainer::new(&case.ensemble).unwrap();
            let what = |game: &str| format!("{game}, {}, chosen for {chosen}", case.what);
            let kinds_of_numbers = if features <= 12 { 2 } else { 1 };
            let marginal = marginal.with_settings(settings);
            assert_eq!(
                is_alike_in_batches(random, &what("marginal"), &marginal, values, case.rows()),
                kinds_of_numbers
            );
            let path_dependent = path_dependent.with_settings(settings);
            let what = what("path-dependent");
            assert_eq!(
                is_alike_in_batches(random, &what, &path_dependent, values, case.rows()),
                kinds_of_numbers
            );
        }
        // Pairs are not supported for nonlinear links.
        for (link, kinds_of_numbers) in [(Link::Softmax, 1), (Link::Identity, 2)] {
            let players: Vec<usize> = (0..8).collect();
            let trees = (0..9).map(|tree| TreeSpec::random(random, &players, 4, false, tree % 3)).collect();
            let case = Case::linked(random, trees, 8, (70, 4), link);
            let weights = Some(case.background.weights());
            let tree_explainer =
                LinkedTreeExplainer::new(&case.ensemble, case.background.as_rows(), weights).unwrap();
            let what = format!("{link:?}, chosen for {chosen}");
            let values = kinds(&Partition::whole(8));
            let tree_explainer = tree_explainer.with_settings(settings);
            assert_eq!(
                is_alike_in_batches(random, &what, &tree_explainer, &values[..1], case.rows()),
                kinds_of_numbers
            );
        }
    }
}

#[test]
fn an_tree_explainer_that_shares_its_model_lives_in_a_service() {
    fn lives<T: Send + Sync + 'static>(tree_explainer: T) -> T {
        tree_explainer
    }
    let tree = TreeSpec::random(&mut Random(3), &[0, 1], 3, false, 0);
    let model = Arc::new(read(&document(&[tree], 2, &[0.0])).unwrap());
    let (row, baseline) = ([1.0, 0.0], [0.0, 1.0]);
    let (row, baseline) = (Rows::new(&row, 2), Rows::new(&baseline, 2));
    let games: Vec<Box<dyn Exact>> = vec![
        Box::new(lives(MarginalTreeExplainer::new(model.clone(), baseline, None).unwrap())),
        Box::new(lives(PathDependentTreeExplainer::new(model.clone()).unwrap())),
        Box::new(lives(LinkedTreeExplainer::new(model.clone(), baseline, None).unwrap())),
    ];
    let borrowed =
        MarginalTreeExplainer::new(&model, baseline, None).unwrap().values(Semivalue::Shapley, row);
    assert_eq!(games[0].values_of(&Semivalue::Shapley.into(), row).unwrap(), borrowed.unwrap());
    drop(model);
    let explained = std::thread::spawn(move || {
        let row = [1.0, 0.0];
        games
            .iter()
            .map(|game| {
                game.values_of(&Semivalue::Shapley.into(), Rows::new(&row, 2)).unwrap().predictions[0]
            })
            .collect::<Vec<f64>>()
    });
    assert!(explained.join().unwrap().iter().all(|prediction| prediction.is_finite()));
}

/// Returns the tree explainers of a model with three features.
fn tree_explainers(ensemble: &Ensemble) -> [Box<dyn Exact + '_>; 3] {
    let baseline = Rows::new(&[0.0; 3], 3);
    [
        Box::new(MarginalTreeExplainer::new(ensemble, baseline, None).unwrap()),
        Box::new(PathDependentTreeExplainer::new(ensemble).unwrap()),
        Box::new(LinkedTreeExplainer::new(ensemble, baseline, None).unwrap()),
    ]
}

#[test]
fn rows_groups_and_weights_that_do_not_fit_are_refused() {
    let random = &mut Random(4);
    let tree = TreeSpec::random(random, &[0, 1, 2], 3, false, 0);
    let logistic = Some(Link::Logistic { steepness: 1.0 });
    let behind = crate::common::linked_document(std::slice::from_ref(&tree), 3, &[0.0], logistic);
    let groups = Partition::new(3, vec![vec![0], vec![1, 2]]).unwrap();
    let two = Semivalue::from_size_distribution(&[0.5, 0.5]).unwrap();
    let pair = |between: &Semivalue, within: &Semivalue, groups: &Partition| {
        Value::Coalitional(
            CoalitionalValue { between: between.clone(), within: within.clone() },
            groups.clone(),
        )
    };
    for ensemble in [read(&document(&[tree], 3, &[0.0])).unwrap(), read(&behind).unwrap()] {
        for tree_explainer in tree_explainers(&ensemble) {
            for value in kinds(&groups).into_iter().skip(2).chain([Semivalue::Shapley.into()]) {
                let refused = |rows: &[f64], columns| {
                    tree_explainer.values_of(&value, Rows::new(rows, columns)).unwrap_err()
                };
                let error = refused(&[0.0; 4], 2);
                assert!(
                    matches!(error, TreeError::Game(GameError::Width { actual: 2, expected: 3, .. })),
                    "{error}"
                );
                let none = tree_explainer.values_of(&value, Rows::new(&[], 3)).unwrap();
                assert!(none.values.is_empty() && none.predictions.is_empty() && none.base.len() == 1);
            }
            let row = Rows::new(&[1.0, 0.0, 2.0], 3);
            for value in kinds(&Partition::whole(4)).into_iter().skip(2) {
                let error = tree_explainer.values_of(&value, row).unwrap_err();
                let wanted =
                    matches!(error, TreeError::Game(GameError::PartitionOfOthers { actual: 4, expected: 3 }));
                assert!(wanted, "{error}");
            }
            let fits =
                [pair(&two, &Semivalue::Shapley, &groups), Value::quotient(two.clone(), groups.clone())];
            assert!(fits.iter().all(|value| tree_explainer.values_of(value, row).is_ok()));
            for (value, players) in [
                (Value::from(two.clone()), 3),
                (pair(&Semivalue::Shapley, &two, &groups), 1),
                (pair(&two, &Semivalue::Shapley, &Partition::whole(3)), 1),
                (Value::quotient(two.clone(), Partition::whole(3)), 1),
            ] {
                let wanted = |error: &TreeError| {
                    matches!(
                        error,
                        TreeError::Value(ValueError::WeightsForOtherPlayers { weights: 2, players: given })
                            if *given == players
                    )
                };
                let error = tree_explainer.values_of(&value, row).unwrap_err();
                assert!(wanted(&error), "{error}");
                assert!(wanted(&tree_explainer.plan_of(&value, 1, row).unwrap_err()));
            }
        }
    }
}

#[test]
fn backgrounds_and_covers_that_do_not_fit_are_refused() {
    let tree = TreeSpec::random(&mut Random(5), &[0, 1], 2, false, 0);
    let ensemble = read(&document(std::slice::from_ref(&tree), 2, &[0.0])).unwrap();
    let refused = |background: &[f64], columns, weights: Option<&[f64]>| {
        let linked = LinkedTreeExplainer::new(&ensemble, Rows::new(background, columns), weights).map(|_| ());
        let marginal =
            MarginalTreeExplainer::new(&ensemble, Rows::new(background, columns), weights).map(|_| ());
        match (marginal.unwrap_err(), linked.unwrap_err()) {
            (TreeError::Game(error), TreeError::Game(_)) => error,
            (error, _) => panic!("{error}"),
        }
    };
    assert!(matches!(refused(&[], 2, None), GameError::EmptyBackground));
    assert!(matches!(refused(&[0.0; 3], 3, None), GameError::Width { actual: 3, expected: 2, .. }));
    for weights in [&[1.0][..], &[1.0, -1.0], &[0.0, 0.0], &[1.0, f64::NAN], &[1.0, f64::INFINITY]] {
        let error = refused(&[0.0; 4], 2, Some(weights));
        assert!(matches!(error, GameError::BackgroundWeights { .. }), "{weights:?}");
    }
    // A negative cover is invalid, and so is a cover of 0 at the root.
    for (node, cover) in [(tree.left.iter().position(|&left| left == -1).unwrap(), -1.0), (0, 0.0)] {
        let mut without = document(std::slice::from_ref(&tree), 2, &[0.0]);
        without["learner"]["gradient_booster"]["model"]["trees"][0]["sum_hessian"][node] = cover.into();
        let ensemble = read(&without).unwrap();
        let error = PathDependentTreeExplainer::new(&ensemble).map(|_| ()).unwrap_err();
        assert!(matches!(error, TreeError::Model(ModelError::Cover { tree: 0, .. })), "{error}");
    }
}

#[test]
fn weights_of_background_rows_count_only_relative_to_each_other() {
    let random = &mut Random(6);
    let case = Case::random(random, (3, &[0, 1, 2]), (1, 4, false), 1, (2, 3));
    let background = case.background.as_rows().values().to_vec();
    let explain = |background: &[f64], weights: Option<&[f64]>| {
        let tree_explainer =
            MarginalTreeExplainer::new(&case.ensemble, Rows::new(background, 3), weights).unwrap();
        tree_explainer.values(Semivalue::Shapley, case.rows()).unwrap()
    };
    let twice = explain(&[&background[..], &background[..3]].concat(), None);
    for weights in [[2.0, 1.0, 1.0], [1e308, 5e307, 5e307], [2e-300, 1e-300, 1e-300]] {
        let weighted = explain(&background, Some(&weights));
        for (a, b) in twice.values.iter().zip(&weighted.values) {
            assert!((a - b).abs() < 1e-14, "{weights:?}: {a} != {b}");
        }
    }
    assert_eq!(explain(&background[..3], None), explain(&background, Some(&[1.0, 0.0, 0.0])));
}

#[test]
fn one_player_gets_everything_and_who_matters_not_nothing() {
    let mut tree = TreeSpec::leaf(0.0);
    let [left, right] = tree.split(0, 0, 0.5, true);
    (tree.number[left], tree.number[right]) = (3.0, 10.0);
    let ensemble = read(&document(&[tree.clone()], 1, &[0.0])).unwrap();
    let tree_explainer = MarginalTreeExplainer::new(&ensemble, Rows::new(&[f64::NAN], 1), None).unwrap();
    for value in semivalues(1) {
        let got = tree_explainer.values(value, Rows::new(&[1.0, 0.0], 1)).unwrap();
        assert_eq!((got.values, got.base, got.predictions), (vec![7.0, 0.0], vec![3.0], vec![10.0, 3.0]));
    }
    // The features of one group do not affect predictions. In the other group, only one of two features
    // affects them.
    let ensemble = read(&document(&[tree], 4, &[0.0])).unwrap();
    let tree_explainer = MarginalTreeExplainer::new(&ensemble, Rows::new(&[0.0; 4], 4), None).unwrap();
    let rows = Rows::new(&[1.0; 4], 4);
    let groups = Partition::new(4, vec![vec![2, 3], vec![1, 0]]).unwrap();
    let owen = tree_explainer.values(Value::owen(groups.clone()), rows).unwrap();
    assert_eq!((owen.values, owen.base, owen.predictions), (vec![7.0, 0.0, 0.0, 0.0], vec![3.0], vec![10.0]));
    assert_eq!(
        tree_explainer.values(Value::two_step(groups.clone()), rows).unwrap().values,
        [7.0, 0.0, 0.0, 0.0]
    );
    assert_eq!(
        tree_explainer.values(Value::quotient(Semivalue::Banzhaf, groups.clone()), rows).unwrap().values,
        [0.0, 7.0]
    );
}

#[test]
fn features_that_no_tree_uses_get_exactly_nothing_but_their_share_of_two_steps() {
    let random = &mut Random(7);
    let case = Case::random(random, (10, &[1, 4, 7, 8]), (4, 5, false), 1, (2, 7));
    let groups =
        Partition::new(10, vec![vec![0, 2], vec![1, 3, 4], vec![5], vec![6, 7, 9], vec![8]]).unwrap();
    let unused = [0, 2, 3, 5, 6, 9];
    for (name, tree_explainer, _) in case.tree_explainers().iter().take(2).flatten() {
        for value in kinds(&groups).into_iter().chain(in_groups(&groups)) {
            let Ok(got) = tree_explainer.values_of(&value, case.rows()) else { continue };
            for values in got.values.chunks_exact(got.values.len() / 2) {
                match &value {
                    Value::Quotient(..) => assert_eq!([values[0], values[2]], [0.0; 2], "{name}"),
                    Value::TwoStepShapley(_) => {
                        assert_eq!([values[0], values[2], values[5]], [0.0; 3], "{name}")
                    }
                    _ => assert!(unused.iter().all(|&feature| values[feature] == 0.0), "{name}, {value:?}"),
                }
            }
            let Ok(pairs) = tree_explainer.interactions_of(&value, Diagonal::Value, case.rows()) else {
                continue;
            };
            if matches!(value, Value::Semivalue(_)) {
                for matrix in pairs.values.chunks_exact(100) {
                    for (feature, other) in (0..100).map(|pair| (pair / 10, pair % 10)) {
                        assert_eq!(
                            matrix[feature * 10 + other].to_bits(),
                            matrix[other * 10 + feature].to_bits()
                        );
                        assert!(!unused.contains(&feature) || matrix[feature * 10 + other] == 0.0, "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_value_that_ties_with_a_threshold_as_f32_goes_right() {
    // 0.1 is below the threshold 0.1_f32 = 0.100000001 as f64, but rounds to the same f32, and XGBoost
    // compares f32 x < f32 t.
    let threshold = 0.1_f32;
    let mut tree = TreeSpec::leaf(0.0);
    let [left, right] = tree.split(0, 0, threshold, false);
    (tree.number[left], tree.number[right]) = (-1.0, 1.0);
    let ensemble = read(&document(&[tree], 1, &[0.0])).unwrap();
    let below = f64::from(f32::from_bits(threshold.to_bits() - 1));
    let ties = [0.1, f64::from(threshold), f64::from(threshold) - 1e-9, f64::from(threshold) + 1e-9];
    assert!(0.1 < f64::from(threshold));
    assert_eq!(ensemble.margins(Rows::new(&ties, 1)).unwrap(), [1.0; 4]);
    assert_eq!(ensemble.margins(Rows::new(&[below], 1)).unwrap(), [-1.0]);
    for kernel in Kernel::ALL.map(Some).into_iter().chain([None]) {
        let background = Background::baseline(vec![below]).unwrap();
        let tree_explainer = MarginalTreeExplainer::new(&ensemble, background.as_rows(), None).unwrap();
        let tree_explainer = tree_explainer.with_settings(Settings::default().with_kernel(kernel));
        assert_eq!(
            tree_explainer.values(Semivalue::Shapley, Rows::new(&ties, 1)).unwrap().values,
            [2.0; 4],
            "{kernel:?}"
        );
    }
}
