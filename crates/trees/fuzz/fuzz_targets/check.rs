//! What both targets do with their bytes.

use apportion_games::{Coalitions, Game, Rows};
use apportion_trees::{Ensemble, InterventionalOracle, PathDependentGame, PathDependentOracle};
use apportion_values::Semivalue;

/// Reading never panics, and what is read predicts and is explained without a panic.
pub fn check(bytes: &[u8]) {
    let Ok(ensemble) = Ensemble::from_bytes(bytes) else { return };
    let (features, outputs) = (ensemble.feature_count(), ensemble.output_count());
    // A few bytes can announce a million features; explaining them is slow, not wrong.
    if features * outputs > 4096 {
        return;
    }
    let rows: Vec<f64> = (0..2 * features).map(|index| [0.0, 1.5, -1.0, f64::NAN, 3e9][index % 5]).collect();
    let rows = Rows::new(&rows, features);
    let margins = ensemble.margins(rows).expect("rows of the right width");
    assert_eq!(margins.len(), 2 * outputs);
    let oracle = InterventionalOracle::new(&ensemble, rows.slice(0..1), None).expect("a sound background");
    let explained = oracle.values(Semivalue::Shapley, rows).expect("rows of the right width");
    assert!(explained.values[..features * outputs].iter().all(|&value| value == 0.0), "a row against itself");
    if ensemble.check_covers().is_err() {
        assert!(PathDependentOracle::new(&ensemble).is_err());
        return;
    }
    let oracle = PathDependentOracle::new(&ensemble).expect("sound covers");
    let explained = oracle.values(Semivalue::Banzhaf, rows).expect("rows of the right width");
    assert!(explained.predictions == margins, "the oracle predicts as the model");
    let game = PathDependentGame::new(&ensemble, rows.row(0)).expect("a row of the right width");
    let mut ends = Coalitions::new(features);
    ends.push_empty();
    ends.push_full();
    let mut payoffs = vec![0.0; 2 * outputs];
    game.values(&ends, &mut payoffs).expect("finite leaves");
    assert!(payoffs[outputs..] == margins[..outputs], "all features known is a prediction");
}
