//! Tests the properties that every adapter must preserve.

use apportion_games::{
    Background, Cached, Centred, Coalitions, Counted, Game, GameError, MarginalGame, Rows, SubGame,
    TabulatedGame, batch_model,
};

/// Calls `check` with the name of each adapter and with the adapter around `game`.
fn for_each_adapter<G: Game + Clone>(game: &G, check: impl Fn(&str, &dyn Game)) {
    check("counted", &Counted::new(game.clone()));
    check("cached", &Cached::new(game.clone()));
    check("centred", &Centred::new(game.clone()).unwrap());
    let keep: Vec<usize> = (0..game.players()).collect();
    check("sub-game", &SubGame::new(game.clone(), &keep).unwrap());
    check("reference", &game);
    check("box", &Box::new(game.clone()));
}

#[test]
fn shapes_and_costs_are_those_of_the_game() {
    let model =
        batch_model(2, |rows: Rows<'_>| Ok(rows.iter().flat_map(|row| [row[0], row[1]]).collect())).serial();
    let background = Background::rows([0.0; 12], 4).unwrap();
    let game = MarginalGame::new(&model, &[1.0; 4], &background).unwrap();
    for_each_adapter(&&game, |name, adapter| {
        assert_eq!(adapter.players(), 4, "{name}");
        assert_eq!(adapter.outputs(), 2, "{name}");
        assert_eq!(adapter.rows_per_coalition(), 3, "{name}");
        assert!(!adapter.parallel(), "{name}");
    });
}

#[test]
fn only_what_says_the_same_shows_its_table() {
    let game = TabulatedGame::new(vec![1.0, 2.0, 3.0, 4.0], 1).unwrap();
    for_each_adapter(&game, |name, adapter| {
        let shown = adapter.table().is_some();
        assert_eq!(shown, ["reference", "box"].contains(&name), "{name}");
    });
}

#[test]
fn an_empty_batch_is_a_legal_question() {
    let game = TabulatedGame::new(vec![1.0, 2.0, 3.0, 4.0], 1).unwrap();
    for_each_adapter(&game, |name, adapter| {
        assert!(adapter.values(&Coalitions::new(2), &mut []).is_ok(), "{name}");
    });
    let model = |row: &[f64]| row[0];
    let background = Background::baseline([0.0; 2]).unwrap();
    let marginal = MarginalGame::new(&model, &[1.0; 2], &background).unwrap();
    assert!(marginal.values(&Coalitions::new(2), &mut []).is_ok());
}

#[test]
fn a_value_less_the_base_that_overflows_is_an_error() {
    let game = Centred::new(TabulatedGame::new(vec![-f64::MAX, f64::MAX], 1).unwrap()).unwrap();
    let error = game.values(&Coalitions::from_masks(1, [0, 1]), &mut [0.0; 2]).unwrap_err();
    assert!(matches!(error, GameError::NotFinite { value: f64::INFINITY, .. }), "{error}");
}
