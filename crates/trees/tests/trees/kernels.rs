//! Tests the choice of the kernel, the plans, the errors for unsupported kernels, and cached tables.

use apportion_games::{Background, Partition, Rows};
use apportion_trees::{
    Diagonal, Exact, Kernel, MarginalTreeExplainer, PathDependentTreeExplainer, Settings, TreeError,
};
use apportion_values::{Semivalue, Value};

use crate::common::case::Case;
use crate::common::{Random, TreeSpec};

fn with_kernel(kernel: Kernel) -> Settings {
    Settings::default().with_kernel(kernel)
}

fn marginal(case: &Case, background: usize, settings: Settings) -> MarginalTreeExplainer<'_> {
    let rows = case.background.as_rows();
    let tree_explainer = MarginalTreeExplainer::new(&case.ensemble, rows.slice(0..background), None).unwrap();
    tree_explainer.with_settings(settings)
}

fn case(seed: u64, features: usize, trees: usize, depth: usize, rows: (usize, usize)) -> Case {
    let players: Vec<usize> = (0..features).collect();
    Case::random(&mut Random(seed), (features, &players), (trees, depth, false), 1, rows)
}

#[test]
fn the_choice_of_kernel_follows_the_work() {
    let case = case(8, 6, 10, 6, (3000, 200));
    let absent = Semivalue::mixture(&[0.0], &[1.0]).unwrap();
    for (background, rows, value, expected) in [
        (1, 1, Semivalue::Shapley, Kernel::Walk),
        (200, 1, Semivalue::Shapley, Kernel::Cohorts),
        (200, 3000, Semivalue::Shapley, Kernel::Tables),
        (1, 3000, Semivalue::Shapley, Kernel::Quadrature),
        // Quadrature rules with a node at 0 are not supported for this game.
        (1, 3000, absent, Kernel::Tables),
        (2, 3000, Semivalue::Shapley, Kernel::Tables),
    ] {
        let tree_explainer = marginal(&case, background, Settings::default());
        let plan = tree_explainer.plan(value.clone(), case.rows().slice(0..rows)).unwrap();
        assert_eq!(plan.kernels, [(expected, 10)], "{background} background rows, {rows} rows, {value}");
    }
}

#[test]
fn plans_of_the_marginal_game_say_what_is_done() {
    let case = case(24, 8, 3, 6, (400, 9));
    for kernel in [Kernel::Walk, Kernel::Cohorts, Kernel::Masks, Kernel::Tables] {
        let plan = marginal(&case, 9, with_kernel(kernel)).plan(Semivalue::Shapley, case.rows()).unwrap();
        assert_eq!(plan.kernels, [(kernel, 3)]);
        assert!(plan.seconds > 0.0 && plan.seconds < 10.0, "{plan:?}");
    }
    let free = marginal(&case, 9, Settings::default());
    let plan = free.plan(Semivalue::Shapley, case.rows()).unwrap();
    assert_eq!(plan.kernels.iter().map(|(_, count)| count).sum::<usize>(), 3);
    let one = free.plan(Semivalue::Shapley, case.rows().slice(0..1)).unwrap();
    assert_eq!(one.kernels, [(Kernel::Cohorts, 3)]);
    assert!(one.seconds < plan.seconds);
    // Plan for many more rows than the sample has.
    let of = |count: usize| free.plan_of(&Semivalue::Shapley.into(), count, case.rows()).unwrap();
    assert_eq!((of(400), of(100_000).kernels), (plan, vec![(Kernel::Tables, 3)]));
    assert!(of(1_000_000).seconds > 5.0 * of(100_000).seconds);
    // Two-step values consist of a coalitional value and a quotient value.
    let groups = Partition::new(8, vec![vec![0, 3], vec![1, 2, 4], vec![5, 6, 7]]).unwrap();
    let two_steps = free.plan_of(&Value::two_step(groups), 400, case.rows()).unwrap();
    assert_eq!(two_steps.kernels.iter().map(|(_, count)| count).sum::<usize>(), 6);
}

#[test]
fn plans_of_the_path_dependent_game_say_what_is_done() {
    let case = case(62, 3, 2, 4, (1, 1));
    let by = |kernel| {
        let tree_explainer = PathDependentTreeExplainer::new(&case.ensemble).unwrap();
        tree_explainer.with_settings(Settings::default().with_kernel(kernel))
    };
    let by_size = Semivalue::from_size_distribution(&[0.5, 0.25, 0.25]).unwrap();
    let shapley = &Semivalue::Shapley;
    for (told, value, expected) in [
        (None, shapley, Kernel::Quadrature),
        (None, &by_size, Kernel::Walk),
        (Some(Kernel::Quadrature), shapley, Kernel::Quadrature),
        (Some(Kernel::Walk), shapley, Kernel::Walk),
        (Some(Kernel::Walk), &by_size, Kernel::Walk),
        (Some(Kernel::Tables), &by_size, Kernel::Tables),
    ] {
        let tree_explainer = by(told);
        let plan = |rows| tree_explainer.plan_of(&value.clone().into(), rows, case.rows()).unwrap();
        assert_eq!(plan(10).kernels, [(expected, case.ensemble.tree_count())]);
        let seconds = [0, 1, 2, 8, 64, 65, 1000, 100_000].map(|rows| plan(rows).seconds);
        assert!(seconds.is_sorted() && seconds[1] < seconds[7], "{seconds:?}");
    }
    // Quadrature rules with more nodes take longer.
    let seconds =
        |value: &Semivalue| by(None).plan_of(&value.clone().into(), 100, case.rows()).unwrap().seconds;
    assert!(seconds(&Semivalue::Banzhaf) < seconds(shapley));
}

#[test]
fn kernels_that_cannot_be_used_are_refused_by_tree() {
    let short = TreeSpec::random(&mut Random(25), &[0, 1], 2, false, 0);
    for (kernel, length, sound) in [
        (Kernel::Tables, 11, true),
        (Kernel::Masks, 64, true),
        (Kernel::Cohorts, 64, true),
        (Kernel::Walk, 99, true),
        (Kernel::Tables, 13, false),
        (Kernel::Tables, 70, false),
        (Kernel::Masks, 65, false),
        (Kernel::Cohorts, 65, false),
    ] {
        let path: Vec<usize> = (0..length).collect();
        let trees = vec![short.clone(), TreeSpec::chain(&mut Random(26), &path)];
        // There are several background rows, because a single one would allow quadrature.
        let case = Case::new(&mut Random(27), trees, 100, (2, 4));
        let groups =
            Partition::new(100, (0..100).collect::<Vec<_>>().chunks(2).map(<[usize]>::to_vec).collect())
                .unwrap();
        let tree_explainer = marginal(&case, 4, with_kernel(kernel));
        let row = case.rows().slice(0..1);
        let shapley = Value::from(Semivalue::Shapley);
        let answers = [
            tree_explainer.plan_of(&shapley, 1, row).map(|_| ()),
            tree_explainer.values_of(&shapley, row).map(|_| ()),
            tree_explainer.interactions_of(&shapley, Diagonal::Value, row).map(|_| ()),
            tree_explainer.values(Value::owen(groups.clone()), row).map(|_| ()),
        ];
        // With groups of two, a path has half as many players as features, so the kernel may support it. Skip
        // the last result, except for cohorts, which are limited by the depth.
        for (index, answer) in
            answers.into_iter().enumerate().take(if kernel == Kernel::Cohorts { 4 } else { 3 })
        {
            match answer {
                Ok(()) => assert!(sound, "{kernel}, {length}, {index}"),
                Err(error) => {
                    assert!(!sound, "{kernel}, {length}, {index}: {error}");
                    let expected =
                        matches!(error, TreeError::Kernel { tree: 1, kernel: given, .. } if given == kernel);
                    assert!(expected && error.to_string().contains("tree 1"), "{error}");
                }
            }
        }
        // Without a requested kernel, deep trees use another kernel.
        assert!(marginal(&case, 4, Settings::default()).values_of(&shapley, row).is_ok());
    }
    let several = case(28, 3, 2, 4, (1, 2));
    let error = marginal(&several, 2, with_kernel(Kernel::Quadrature))
        .values(Semivalue::Shapley, several.rows())
        .unwrap_err();
    assert!(matches!(error, TreeError::Unsupported { .. }), "{error}");
}

#[test]
fn kernels_that_the_path_dependent_game_has_not_are_refused() {
    let short = case(63, 3, 2, 4, (1, 1));
    let by_size = Semivalue::from_size_distribution(&[0.5, 0.25, 0.25]).unwrap();
    let by = |case: &'_ Case, kernel| {
        PathDependentTreeExplainer::new(case.ensemble.clone()).unwrap().with_settings(with_kernel(kernel))
    };
    for (kernel, value) in [(Kernel::Masks, Semivalue::Shapley), (Kernel::Quadrature, by_size)] {
        let tree_explainer = by(&short, kernel);
        for error in [
            tree_explainer.plan(value.clone(), short.rows()).unwrap_err(),
            tree_explainer.values(value.clone(), short.rows()).unwrap_err(),
            tree_explainer.interactions(value.clone(), Diagonal::Value, short.rows()).unwrap_err(),
        ] {
            assert!(matches!(error, TreeError::Unsupported { .. }), "{error}");
            assert!(error.to_string().contains(kernel.name()), "{error}");
        }
    }
    let pairs = |kernel, value| by(&short, kernel).interactions(value, Diagonal::Value, short.rows());
    assert!(matches!(pairs(Kernel::Tables, Semivalue::Shapley), Err(TreeError::Unsupported { .. })));
    let atom = Semivalue::mixture(&[1.0], &[1.0]).unwrap();
    assert!(by(&short, Kernel::Quadrature).values(atom.clone(), short.rows()).is_ok());
    assert!(matches!(pairs(Kernel::Quadrature, atom), Err(TreeError::Unsupported { .. })));
    let path: Vec<usize> = (0..20).collect();
    let long = Case::new(&mut Random(64), vec![TreeSpec::chain(&mut Random(65), &path)], 20, (1, 1));
    let error = by(&long, Kernel::Tables).plan(Semivalue::Shapley, long.rows()).unwrap_err();
    assert!(matches!(error, TreeError::Kernel { kernel: Kernel::Tables, tree: 0, .. }), "{error}");
}

#[test]
fn the_walk_is_refused_without_rows() {
    let mut case = case(37, 3, 2, 4, (1, 1));
    case.background = Background::baseline(vec![0.0; 3]).unwrap();
    let [marginal, ..] = case.tree_explainers();
    let compiled =
        marginal.iter().find(|(name, ..)| name.starts_with("compiled") && name.contains("Some(Walk)"));
    let error = compiled.unwrap().1.values_of(&Semivalue::Shapley.into(), case.rows()).unwrap_err();
    assert!(matches!(error, TreeError::Unsupported { .. }));
    assert!(error.to_string().contains("tables or masks"), "{error}");
}

#[test]
fn tables_that_are_kept_serve_whatever_comes_next() {
    let case = case(23, 9, 3, 5, (300, 9));
    let settings = Settings::default().with_keep_tables(true);
    let kept = marginal(&case, 9, settings);
    let groups = Partition::new(9, vec![vec![0, 1, 2], vec![3, 4, 5, 6], vec![7, 8]]).unwrap();
    let owen = Value::owen(groups);
    for value in [
        Semivalue::Shapley.into(),
        Semivalue::Shapley.into(),
        owen,
        Semivalue::Banzhaf.into(),
        Value::from(Semivalue::Shapley),
    ] {
        for rows in [case.rows().slice(0..5), case.rows()] {
            let fresh = marginal(&case, 9, settings).values_of(&value, rows).unwrap();
            assert_eq!(kept.values_of(&value, rows).unwrap(), fresh);
        }
    }
}

#[test]
fn nothing_to_explain_takes_no_time() {
    let case = case(75, 3, 2, 3, (1, 2));
    let none = Rows::new(&[], 3);
    for (name, tree_explainer, _) in case.tree_explainers().iter().flatten() {
        let Ok(pairs) = tree_explainer.interactions_of(&Semivalue::Shapley.into(), Diagonal::Remainder, none)
        else {
            continue;
        };
        assert!(pairs.values.is_empty() && pairs.predictions.is_empty() && pairs.base.len() == 1, "{name}");
    }
}
