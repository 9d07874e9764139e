//! Compares the path-dependent game with its definition, which `common` implements directly.

use crate::common::{Random, TreeSpec, document, read};
use apportion_games::{Coalitions, Game, GameError, Rows};
use apportion_trees::{Ensemble, ModelError, PathDependentGame, TreeError};
use serde_json::json;

/// Returns random trees, which are assigned to `outputs` outputs in turn.
fn trees(random: &mut Random, features: usize, depth: usize, outputs: usize, count: usize) -> Vec<TreeSpec> {
    let all: Vec<usize> = (0..features).collect();
    (0..count).map(|tree| TreeSpec::random(random, &all, depth, true, tree % outputs)).collect()
}

fn ensemble(trees: &[TreeSpec], features: usize, outputs: usize) -> Ensemble {
    let base_scores: Vec<f32> = (0..outputs).map(|output| 0.25 * output as f32 - 0.5).collect();
    read(&document(trees, features, &base_scores)).unwrap()
}

/// Returns some coalitions of different sizes, including the empty and the full one.
fn coalitions(random: &mut Random, players: usize, count: usize) -> Coalitions {
    let mut batch = Coalitions::new(players);
    batch.push_empty();
    batch.push_full();
    for index in 2..count {
        let percent = [50, 5, 95][index % 3];
        batch.push_members((0..players).filter(|_| random.chance(percent)).collect::<Vec<_>>());
    }
    batch
}

fn values(game: &PathDependentGame<'_>, batch: &Coalitions) -> Vec<f64> {
    let mut values = vec![f64::NAN; batch.len() * game.outputs()];
    game.values(batch, &mut values).unwrap();
    values
}

#[test]
fn a_coalition_is_worth_what_the_trees_expect_by_definition() {
    let random = &mut Random(11);
    for (features, depth, outputs) in [(1, 2, 1), (2, 3, 2), (3, 6, 1), (12, 5, 3), (70, 7, 2), (140, 9, 1)] {
        let trees = trees(random, features, depth, outputs, 2 * outputs + 1);
        let ensemble = ensemble(&trees, features, outputs);
        for _ in 0..3 {
            let explicand = random.row(features);
            let game = PathDependentGame::new(&ensemble, &explicand).unwrap();
            assert_eq!((game.players(), game.outputs(), game.rows_per_coalition()), (features, outputs, 0));
            let batch = coalitions(random, features, 150);
            let got = values(&game, &batch);
            for (coalition, got) in batch.iter().zip(got.chunks(outputs)) {
                for (output, got) in got.iter().enumerate() {
                    let expected: f64 = trees
                        .iter()
                        .filter(|tree| tree.output == output)
                        .map(|tree| tree.path_dependent(&explicand, |player| coalition.contains(player)))
                        .sum();
                    let wanted = ensemble.base_margins()[output] + expected;
                    assert!((got - wanted).abs() < 1e-13, "{coalition}, output {output}: {got} != {wanted}");
                }
            }
        }
    }
}

#[test]
fn the_grand_coalition_is_worth_the_margin_to_the_last_bit() {
    let random = &mut Random(12);
    let trees = trees(random, 9, 6, 2, 30);
    let ensemble = ensemble(&trees, 9, 2);
    let mut full = Coalitions::new(9);
    full.push_full();
    for _ in 0..20 {
        let explicand = random.row(9);
        let game = PathDependentGame::new(&ensemble, &explicand).unwrap();
        assert_eq!(values(&game, &full), ensemble.margins(Rows::new(&explicand, 9)).unwrap());
    }
}

#[test]
fn a_value_does_not_depend_on_the_batch_or_the_threads() {
    let random = &mut Random(13);
    let trees = trees(random, 70, 6, 2, 12);
    let ensemble = ensemble(&trees, 70, 2);
    let explicand = random.row(70);
    let game = PathDependentGame::new(&ensemble, &explicand).unwrap();
    let batch = coalitions(random, 70, 300);
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    let one_by_one: Vec<u64> =
        (0..batch.len()).flat_map(|row| bits(values(&game, &batch.slice(row..row + 1)))).collect();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(bits(pool.install(|| values(&game, &batch))), one_by_one, "{threads} threads");
    }
    let odd = batch.slice(7..7 + 65);
    assert_eq!(bits(values(&game, &odd)), one_by_one[14..144]);
    assert!(values(&game, &batch.slice(0..0)).is_empty());
}

#[test]
fn null_players_are_the_features_without_a_split() {
    let random = &mut Random(14);
    let tree = TreeSpec::random(random, &[1, 3, 66], 6, false, 0);
    let ensemble = ensemble(&[tree], 67, 1);
    let game = PathDependentGame::new(&ensemble, &random.row(67)).unwrap();
    let contributing = game.without_null_players();
    assert_eq!(contributing.keep(), [1, 3, 66]);
    let (mut small, mut large) = (Coalitions::new(3), Coalitions::new(67));
    small.push_members([0, 2]);
    large.push_members([1, 66, 5, 40]);
    let mut value = [0.0];
    contributing.values(&small, &mut value).unwrap();
    assert_eq!(value, values(&game, &large)[..]);

    let leaf = read(&document(&[TreeSpec::leaf(2.5)], 4, &[0.5])).unwrap();
    let game = PathDependentGame::new(&leaf, &[0.0; 4]).unwrap();
    assert_eq!(game.without_null_players().players(), 0);
    assert_eq!(values(&game, &Coalitions::from_masks(4, [0, 15])), [3.0, 3.0]);
}

#[test]
fn what_cannot_be_played_is_refused_by_name() {
    let mut split = TreeSpec::leaf(1.0);
    split.split(0, 1, 0.5, false);
    let mut document = document(&[TreeSpec::leaf(0.0), split], 2, &[0.0]);
    let ensemble = read(&document).unwrap();
    let refusal = |explicand: &[f64]| match PathDependentGame::new(&ensemble, explicand) {
        Err(TreeError::Game(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refusal(&[]), GameError::Width { actual: 0, expected: 2, .. }));
    assert!(matches!(refusal(&[0.0; 3]), GameError::Width { actual: 3, expected: 2, .. }));
    for value in [f64::NAN, f64::INFINITY, 1e39] {
        PathDependentGame::new(&ensemble, &[0.0, value]).unwrap();
    }

    document["learner"]["gradient_booster"]["model"]["trees"][1]["sum_hessian"][2] = json!(-1.0);
    let ensemble = read(&document).unwrap();
    let error = PathDependentGame::new(&ensemble, &[0.0; 2]).unwrap_err();
    assert!(matches!(error, TreeError::Model(ModelError::Cover { tree: 1, node: 2, .. })), "{error}");
}
