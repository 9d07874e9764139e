//! Tests the values of games in each scenario, and that their weighted mean is the value of the game.

use apportion_games::{
    Background, Cached, Centred, Coalitions, Counted, Game, MarginalGame, Partition, QuotientGame, SubGame,
    TabulatedGame,
};

use crate::common::{all_coalitions, assert_close, values};

fn model(row: &[f64]) -> f64 {
    row[0] * row[1] - row[2].powi(2) + (row[0] * row[2]).sin()
}

fn background(rows: usize) -> Background {
    let values: Vec<f64> = (0..3 * rows).map(|i| (i as f64 * 1.7).cos()).collect();
    let weights: Vec<f64> = (1..=rows).map(|i| i as f64).collect();
    Background::rows(values, 3).unwrap().with_weights(&weights).unwrap()
}

/// Returns the weighted mean over the scenarios, by definition, for all coalitions.
fn mean(game: &dyn Game) -> Vec<f64> {
    let batch = all_coalitions(game.players());
    let mut values = vec![0.0; batch.len()];
    let mut out = vec![0.0; batch.len()];
    for scenario in 0..game.scenarios() {
        game.values_in_scenarios(&batch, &vec![scenario; batch.len()], &mut out).unwrap();
        let weight = game.scenario_weights().map_or(1.0 / game.scenarios() as f64, |w| w[scenario]);
        values.iter_mut().zip(&out).for_each(|(value, out)| *value += weight * out);
    }
    values
}

fn agrees(game: &dyn Game) {
    assert_close(&mean(game), &values(game, &all_coalitions(game.players())), 1e-12, "the mean");
}

#[test]
fn the_mean_over_the_scenarios_is_the_game_whatever_the_game_is_made_of() {
    // 70,000 rows of three cells exceed a chunk.
    for rows in [1, 2, 7, 70_000] {
        let background = background(rows);
        let game = MarginalGame::new(&model, &[0.3, -1.2, 2.0], &background).unwrap();
        assert_eq!(game.scenarios(), rows);
        agrees(&game);
        if rows > 7 {
            continue;
        }
        let partition = Partition::new(3, vec![vec![0, 2], vec![1]]).unwrap();
        agrees(&QuotientGame::new(&game, &partition).unwrap());
        agrees(&SubGame::new(&game, &[2, 0]).unwrap());
        agrees(&SubGame::new(&game, &[2, 0]).unwrap().with_others_present());
        agrees(&Cached::new(&game));
        agrees(&Counted::new(&game));
        agrees(&Centred::new(&game).unwrap());
    }
}

#[test]
fn a_game_that_averages_nothing_has_one_scenario() {
    let game = TabulatedGame::from_fn(3, |mask| mask as f64).unwrap();
    assert_eq!((game.scenarios(), game.scenario_weights()), (1, None));
    agrees(&game);
}

#[test]
fn coalitions_of_one_batch_may_be_asked_for_in_different_scenarios() {
    let background = background(5);
    let explicand = [0.3, -1.2, 2.0];
    let game = MarginalGame::new(&model, &explicand, &background).unwrap();
    let (masks, scenarios) = ([0, 7, 2, 2, 5], [4, 0, 3, 1, 2]);
    let mut out = [0.0; 5];
    game.values_in_scenarios(&Coalitions::from_masks(3, masks), &scenarios, &mut out).unwrap();
    for ((mask, scenario), got) in masks.into_iter().zip(scenarios).zip(out) {
        let mut row = background.row(scenario).to_vec();
        (0..3).filter(|player| mask >> player & 1 == 1).for_each(|player| row[player] = explicand[player]);
        assert_eq!(got, model(&row));
    }
}
