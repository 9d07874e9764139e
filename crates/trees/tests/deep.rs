//! Trees deeper than the recursions and the recurrences of the literature survive.

#![allow(clippy::unwrap_used)]

mod common;

use apportion_games::Rows;
use apportion_trees::{Attributions, Ensemble, InterventionalOracle, PathDependentOracle, TreeError};
use apportion_values::Semivalue;
use common::{Random, TreeSpec, document, read};

const FEATURES: usize = 250;

/// A chain of distinct features on which a `fraction` of the cover goes on at every split.
fn chain(random: &mut Random, depth: usize, fraction: f32) -> TreeSpec {
    let features: Vec<usize> = (0..depth).map(|level| level * 7 % FEATURES).collect();
    let mut tree = TreeSpec::chain(random, &features);
    // The leaves beside the chain have odd numbers, from the top to the end, which has the last.
    let end = tree.left.len() - 1;
    let mut below = 1.0;
    tree.cover[end] = below;
    for level in (0..depth).rev() {
        tree.cover[2 * level + 1] = below * (1.0 - fraction) / fraction;
        below /= fraction;
    }
    tree
}

/// A chain with a small tree beside each of its splits, and some features twice.
fn bushy(random: &mut Random, depth: usize) -> TreeSpec {
    let features: Vec<usize> = (0..depth).map(|level| (level * 7 + random.below(5)) % FEATURES).collect();
    let mut tree = TreeSpec::chain(random, &features);
    for level in 0..depth {
        for leaf in tree.split(2 * level + 1, random.below(FEATURES), 0.5, true) {
            tree.number[leaf] = random.below(41) as f32 * 0.1 - 2.0;
        }
    }
    tree
}

/// Values, base and prediction add up, with an error relative to the largest of them.
fn check_sum(what: &str, explained: &Attributions) {
    for (values, prediction) in explained.values.chunks(FEATURES).zip(&explained.predictions) {
        assert!(values.iter().all(|value| value.is_finite()), "{what}");
        let total: f64 = values.iter().sum();
        let scale = values.iter().fold(prediction.abs(), |scale, value| scale.max(value.abs()));
        let error = (total + explained.base[0] - prediction).abs() / scale;
        assert!(error < 1e-12, "{what}: {total} + {} != {prediction}", explained.base[0]);
    }
}

fn explain(ensemble: &Ensemble, value: &Semivalue, rows: Rows<'_>) -> Result<[Attributions; 2], TreeError> {
    let background = rows.slice(0..2);
    Ok([
        PathDependentOracle::new(ensemble)?.values(value.clone(), rows)?,
        InterventionalOracle::new(ensemble, background, None)?.values(value.clone(), rows)?,
    ])
}

#[test]
fn values_add_up_to_the_prediction_at_depth_92_and_200() {
    let random = &mut Random(41);
    for depth in [92, 200] {
        let mut trees: Vec<TreeSpec> = vec![bushy(random, depth)];
        // So much that 32 bits hold the covers.
        let fractions = if depth == 92 { [0.9, 0.5, 0.4] } else { [0.9, 0.7, 0.66] };
        trees.extend(fractions.map(|fraction| chain(random, depth, fraction)));
        // Rows that fail no test of the chain, few, most, and what comes.
        let mut rows = vec![1.0; FEATURES];
        for percent in [2, 10, 60] {
            rows.extend((0..FEATURES).map(|_| if random.chance(percent) { -1.0 } else { 1.0 }));
        }
        rows.extend(random.row(FEATURES));
        let rows = Rows::new(&rows, FEATURES);
        for (number, tree) in trees.into_iter().enumerate() {
            let ensemble = read(&document(&[tree], FEATURES, &[0.5])).unwrap();
            assert_eq!(ensemble.depth(), depth + usize::from(number == 0));
            let uniform = Semivalue::beta_shapley(1.0, 1.0).unwrap();
            let law = Semivalue::by_size_law(&[1.0 / FEATURES as f64; FEATURES]).unwrap();
            for value in [Semivalue::Shapley, uniform, law] {
                for (game, explained) in
                    ["path-dependent", "interventional"].iter().zip(explain(&ensemble, &value, rows).unwrap())
                {
                    check_sum(&format!("{game}, tree {number} of depth {depth}"), &explained);
                }
            }
        }
    }
}
