//! Checks that values over hierarchies of groups match the definition, with every kernel. If the definition
//! takes too long, checks that the kernels agree.

use apportion_games::{Background, Hierarchy, Member, Partition};
use apportion_models::Link;
use apportion_trees::{
    Exact, LinkedTreeExplainer, MarginalTreeExplainer, PathDependentTreeExplainer, TreeError,
};
use apportion_values::{CoalitionalValue, Semivalue, Value};

use crate::common::case::{Case, close, semivalues};
use crate::common::lightgbm::Node;
use crate::common::{Random, TreeSpec};

/// Returns Owen and Banzhaf-Owen values, and some with a different semivalue at the top than below.
fn over(hierarchy: &Hierarchy) -> Vec<Value> {
    let of = |between: &Semivalue, within: &Semivalue| CoalitionalValue {
        between: between.clone(),
        within: within.clone(),
    };
    let top = match hierarchy.level(hierarchy.root()) {
        0 => hierarchy.children(hierarchy.root()).len(),
        _ => 1,
    };
    let semivalues = semivalues(top);
    let values = [
        CoalitionalValue::owen(),
        CoalitionalValue::banzhaf_owen(),
        CoalitionalValue::symmetric_coalitional_banzhaf(),
        of(&semivalues[6], &semivalues[4]),
        of(&semivalues[2], &semivalues[6]),
        of(&semivalues[9], &Semivalue::Shapley),
    ];
    values.map(|value| Value::OverHierarchy(value, hierarchy.clone())).to_vec()
}

#[test]
fn random_ensembles_have_the_values_of_the_definition() {
    let random = &mut Random(21);
    let mut depths = [0; 6];
    for round in 0..60 {
        // Random hierarchies often have fewer levels than allowed, so take the deepest of several.
        let depth = 2 + round % 4;
        let features = depth + random.below(9 - depth);
        let some: Vec<Hierarchy> = (0..12).map(|_| random.hierarchy(features, depth)).collect();
        let Some(hierarchy) = some.into_iter().max_by_key(Hierarchy::depth) else { continue };
        depths[hierarchy.depth()] += 1;
        let players: Vec<usize> = (0..features).collect();
        let outputs = if random.chance(20) { 3 } else { 1 };
        let shape = (1 + random.below(2), random.below(7), random.chance(50));
        let rows = ([1, 2, 3][random.below(3)], [1, 1, 3, 9][random.below(4)]);
        let case = Case::random(random, (features, &players), shape, outputs, rows);
        let mut values = over(&hierarchy);
        values.retain(|_| random.chance(35));
        values.push(Value::owen_over(hierarchy));
        case.check(&values);
    }
    assert!(depths[2..].iter().all(|&count| count > 2), "{depths:?}");
}

#[test]
fn rows_and_background_rows_fill_blocks_and_words_and_do_not() {
    let random = &mut Random(22);
    let features = 8;
    let players: Vec<usize> = (0..features).collect();
    for (rows, background) in [(1, 63), (1, 65), (2, 128), (1, 513), (1, 1100), (64, 3), (131, 30)] {
        let hierarchy = random.hierarchy(features, 5);
        let case = Case::random(random, (features, &players), (2, 6, true), 2, (rows, background));
        case.check(&over(&hierarchy)[..4]);
    }
    let hierarchy = random.hierarchy(features, 4);
    Case::random(random, (features, &players), (3, 5, true), 2, (0, 2)).check(&over(&hierarchy));
}

#[test]
fn linear_leaves_have_the_values_of_the_definition() {
    let random = &mut Random(23);
    for _ in 0..12 {
        let features = 3 + random.below(5);
        let players: Vec<usize> = (0..features).collect();
        let trees = (1..3).map(|depth| Node::random(random, &players, 2 * depth, 25, 75)).collect();
        let case = Case::linear(random, trees, features, (2, 4));
        let hierarchy = random.hierarchy(features, 4);
        case.check(&over(&hierarchy)[..4]);
    }
}

#[test]
fn pairs_of_pairs_may_have_weights_by_size_at_every_level() {
    let random = &mut Random(24);
    let pair = |a: usize| Member::Group(vec![Member::Player(a), Member::Player(7 - a)]);
    let four = |a: usize, b: usize| Member::Group(vec![pair(a), pair(b)]);
    let hierarchy = Hierarchy::new(8, vec![four(0, 2), four(3, 1)]).unwrap();
    let players: Vec<usize> = (0..8).collect();
    let by_size = Semivalue::from_size_distribution(&[0.8, 0.2]).unwrap();
    let both = CoalitionalValue { between: by_size.clone(), within: by_size };
    for background in [1, 3, 70] {
        let case = Case::random(random, (8, &players), (3, 6, true), 1, (2, background));
        case.check(&[Value::OverHierarchy(both.clone(), hierarchy.clone())]);
    }
}

#[test]
fn kernels_agree_on_many_rows_features_and_levels() {
    let random = &mut Random(25);
    for (features, depth, levels, rows, background) in
        [(9, 5, 6, 300, 9), (17, 5, 5, 300, 4), (40, 4, 4, 300, 9), (70, 6, 8, 2, 70), (140, 5, 40, 3, 5)]
    {
        let players: Vec<usize> = (0..features).collect();
        let case = Case::random(random, (features, &players), (4, depth, true), 2, (rows, background));
        case.agree(&over(&random.hierarchy(features, levels))[..4]);
    }
    // The number of features on a path is close to or above the number of bits of a word, in a chain of
    // groups.
    for features in [12, 63, 64, 65, 130] {
        let path: Vec<usize> = (0..features).chain((0..features).step_by(7)).collect();
        let chain = TreeSpec::chain(random, &path);
        let mut case = Case::new(random, vec![chain], features, (2, 3));
        let mut row = |count: usize| -> Vec<f64> {
            (0..count * features).map(|_| if random.chance(2) { -1.0 } else { 1.0 }).collect()
        };
        case.rows = row(2);
        case.background = Background::rows(row(3), features).unwrap();
        case.agree(&over(&random.hierarchy(features, 2 * features))[..4]);
    }
}

#[test]
fn two_levels_are_groups_to_the_last_bit_and_one_is_a_semivalue() {
    let random = &mut Random(26);
    let players: Vec<usize> = (0..7).collect();
    let case = Case::random(random, (7, &players), (3, 5, false), 1, (3, 4));
    let partition = random.partition(7, 3);
    let marginal = MarginalTreeExplainer::new(&case.ensemble, case.background.as_rows(), None).unwrap();
    let path_dependent = PathDependentTreeExplainer::new(&case.ensemble).unwrap();
    let tree_explainers: [&dyn Exact; 2] = [&marginal, &path_dependent];
    for tree_explainer in tree_explainers {
        for partition in [partition.clone(), Partition::whole(7), Partition::singletons(7)] {
            let over = Value::banzhaf_owen_over(Hierarchy::from(&partition));
            let flat = Value::banzhaf_owen(partition);
            let [over, flat] =
                [over, flat].map(|value| tree_explainer.values_of(&value, case.rows()).unwrap());
            assert_eq!(over, flat);
        }
    }
}

#[test]
fn groups_get_what_they_get_where_they_play_as_one() {
    let random = &mut Random(27);
    let players: Vec<usize> = (0..60).collect();
    let case = Case::random(random, (60, &players), (20, 6, false), 1, (5, 20));
    let hierarchy = random.hierarchy(60, 5);
    let top = hierarchy.children(hierarchy.root()).iter().map(|&node| hierarchy.players_at(node));
    let partition = Partition::new(60, top.collect()).unwrap();
    let marginal = MarginalTreeExplainer::new(&case.ensemble, case.background.as_rows(), None).unwrap();
    let path_dependent = PathDependentTreeExplainer::new(&case.ensemble).unwrap();
    let tree_explainers: [&dyn Exact; 2] = [&marginal, &path_dependent];
    for tree_explainer in tree_explainers {
        let quotient = Value::quotient(Semivalue::Shapley, partition.clone());
        let quotient = tree_explainer.values_of(&quotient, case.rows()).unwrap();
        let owen = tree_explainer.values_of(&Value::owen_over(hierarchy.clone()), case.rows()).unwrap();
        let sums = owen.values.chunks_exact(60).flat_map(|values| {
            let sum = |group: &Vec<usize>| group.iter().map(|&feature| values[feature]).sum::<f64>();
            partition.groups().iter().map(sum).collect::<Vec<_>>()
        });
        close("sums of groups", &sums.collect::<Vec<_>>(), &quotient.values, 1e-12);
    }
}

#[test]
fn what_has_no_exact_values_is_refused_with_what_to_do() {
    let random = &mut Random(28);
    let trees = vec![TreeSpec::random(random, &[0, 1, 2, 3], 3, false, 0)];
    let case = Case::linked(random, trees, 4, (1, 1), Link::Logistic { steepness: 1.0 });
    let deep = Hierarchy::from_parents(4, &[Some(4), Some(4), Some(5), Some(6), Some(5), Some(6), None]);
    let linked = LinkedTreeExplainer::new(&case.ensemble, case.background.as_rows(), None).unwrap();
    let refused = linked.values(Value::owen_over(deep.unwrap()), case.rows()).unwrap_err();
    assert!(matches!(refused, TreeError::Unsupported { .. }), "{refused}");
    assert!(refused.to_string().contains("explain the margin"), "{refused}");
    let tree_explainer = MarginalTreeExplainer::new(&case.ensemble, case.background.as_rows(), None).unwrap();
    let other = Value::owen_over(Hierarchy::from(&Partition::whole(3)));
    let refused = tree_explainer.values(other, case.rows()).unwrap_err().to_string();
    assert!(refused.contains("the hierarchy has 3 players, but the game has 4"), "{refused}");
}
