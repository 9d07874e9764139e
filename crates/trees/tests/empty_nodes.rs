//! Nodes that no row of the training came to: their share is nothing beside a sibling with rows, and half below an empty node.

#![allow(clippy::unwrap_used)]

mod common;

use apportion_games::{Game, Partition, QuotientGame, Rows, TabulatedGame};
use apportion_trees::{PathDependentGame, PathDependentOracle};
use apportion_values::{CoalitionalValue, Semivalue, enumerate, two_step_shapley};
use common::{Random, TreeSpec, document, read};

/// Makes some leaves empty, and all below some splits, but never the whole tree.
fn empty_some(tree: &mut TreeSpec, random: &mut Random) {
    let leaves: Vec<usize> = (0..tree.left.len()).filter(|&node| tree.left[node] == -1).collect();
    for &leaf in &leaves[1..] {
        if random.chance(40) {
            tree.cover[leaf] = 0.0;
        }
    }
    // One subtree as a whole.
    let splits: Vec<usize> = (1..tree.left.len()).filter(|&node| tree.left[node] != -1).collect();
    if !splits.is_empty() {
        let mut below = vec![splits[random.below(splits.len())]];
        while let Some(node) = below.pop() {
            match tree.left[node] {
                -1 if node != leaves[0] => tree.cover[node] = 0.0,
                -1 => {}
                left => below.extend([left as usize, tree.right[node] as usize]),
            }
        }
    }
}

/// The game by its definition, with shares of zero and of one half.
fn table(trees: &[TreeSpec], row: &[f64], outputs: usize) -> TabulatedGame {
    let mut values = vec![0.0; outputs << row.len()];
    for (coalition, worth) in values.chunks_exact_mut(outputs).enumerate() {
        for tree in trees {
            worth[tree.output] += tree.path_dependent(row, |player| coalition >> player & 1 == 1);
        }
    }
    TabulatedGame::new(values, outputs).unwrap()
}

fn close(got: &[f64], wanted: &[f64], what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    for (got, wanted) in got.iter().zip(wanted) {
        assert!((got - wanted).abs() < 1e-12, "{what}: {got} != {wanted}");
    }
}

#[test]
fn values_are_those_of_the_game_whose_empty_nodes_have_no_share() {
    let random = &mut Random(81);
    let mut emptied = 0;
    for (features, depth, outputs) in [(1, 3, 1), (2, 4, 1), (3, 6, 2), (5, 5, 1), (7, 7, 2), (9, 8, 1)] {
        for _ in 0..4 {
            let all: Vec<usize> = (0..features).collect();
            let mut trees: Vec<TreeSpec> =
                (0..3).map(|tree| TreeSpec::random(random, &all, depth, true, tree % outputs)).collect();
            trees.iter_mut().for_each(|tree| empty_some(tree, random));
            emptied += trees.iter().filter(|tree| tree.covers().contains(&0.0)).count();
            let ensemble = read(&document(&trees, features, &vec![0.0; outputs])).unwrap();
            let oracle = PathDependentOracle::new(&ensemble).unwrap();
            let row = random.row(features);
            let one = Rows::new(&row, features);
            let game = table(&trees, &row, outputs);
            let same = PathDependentGame::new(&ensemble, &row).unwrap();
            for value in [
                Semivalue::Shapley,
                Semivalue::Banzhaf,
                Semivalue::mixture(&[0.0], &[1.0]).unwrap(),
                Semivalue::mixture(&[1.0], &[1.0]).unwrap(),
                Semivalue::beta_shapley(4.0, 0.5).unwrap(),
                Semivalue::mixture(&[0.0, 0.3, 1.0], &[0.25, 0.5, 0.25]).unwrap(),
                by_size(features),
            ] {
                let what = format!("{value}, {features} features");
                let wanted = enumerate(&game, value.clone()).unwrap();
                close(enumerate(&same, value.clone()).unwrap().values(), wanted.values(), &what);
                let explained = oracle.values(value.clone(), one).unwrap();
                close(&explained.values, wanted.values(), &what);
                close(&explained.base, wanted.base(), &what);
            }
            let partition = random.partition(features, 3);
            check_groups(&game, &oracle, &partition, one);
        }
    }
    assert!(emptied > 40, "{emptied} trees with empty nodes");
}

fn check_groups(
    game: &TabulatedGame,
    oracle: &PathDependentOracle<'_>,
    partition: &Partition,
    row: Rows<'_>,
) {
    for value in [
        CoalitionalValue::owen(),
        CoalitionalValue::banzhaf_owen(),
        CoalitionalValue { between: Semivalue::mixture(&[0.0], &[1.0]).unwrap(), within: Semivalue::Shapley },
        CoalitionalValue { between: by_size(partition.len()), within: Semivalue::Banzhaf },
    ] {
        let wanted = value.enumerate(game, partition).unwrap().values;
        let got = oracle.coalitional_values(&value, partition, row).unwrap().values;
        close(&got, &wanted, &format!("{value:?}"));
    }
    let quotient = QuotientGame::new(game, partition).unwrap();
    let wanted = enumerate(&quotient, Semivalue::Shapley).unwrap();
    let got = oracle.quotient_values(Semivalue::Shapley, partition, row).unwrap().values;
    close(&got, wanted.values(), "quotient");
    let wanted = two_step_shapley(game, partition).unwrap().values;
    close(&oracle.two_step_shapley(partition, row).unwrap().values, &wanted, "two steps");
}

/// A value by weights of sizes, which has no quadrature.
fn by_size(players: usize) -> Semivalue {
    let mut law: Vec<f64> = (0..players).map(|size| (size * 5 % 4) as f64 + 0.5).collect();
    let total: f64 = law.iter().sum();
    law.iter_mut().for_each(|weight| *weight /= total);
    Semivalue::by_size_law(&law).unwrap()
}

/// Halving goes on below an empty node until numbers end; then the game is refused, and nothing else is.
#[test]
fn empty_nodes_on_very_long_paths_are_refused_and_not_divided_by_zero() {
    let random = &mut Random(82);
    for (length, sound) in [(500, true), (2000, false)] {
        let mut chain = TreeSpec::chain(random, &vec![0; length]);
        let last = chain.cover.len();
        for node in (0..last).filter(|&node| chain.left[node] == -1).skip(1) {
            chain.cover[node] = 0.0;
        }
        let ensemble = read(&document(&[chain], 1, &[0.0])).unwrap();
        assert!(ensemble.margins(Rows::new(&[1.0], 1)).unwrap()[0].is_finite());
        match ensemble.check_covers() {
            Ok(()) => {
                assert!(sound, "{length} splits");
                let game = PathDependentGame::new(&ensemble, &[1.0]).unwrap();
                let exact = enumerate(&game, Semivalue::Shapley).unwrap();
                assert_eq!(game.players(), 1);
                let oracle = PathDependentOracle::new(&ensemble).unwrap();
                let got = oracle.values(Semivalue::Shapley, Rows::new(&[1.0], 1)).unwrap();
                close(&got.values, exact.values(), "a long chain");
            }
            Err(error) => {
                assert!(!sound, "{error}");
                assert!(error.to_string().contains("its cover is 0"), "{error}");
            }
        }
    }
}
