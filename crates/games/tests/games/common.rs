//! Helpers shared by the tests of games.

use apportion_games::{Coalitions, Game};

pub(crate) fn all_coalitions(n: usize) -> Coalitions {
    Coalitions::from_masks(n, 0..1 << n)
}

pub(crate) fn values(game: &dyn Game, batch: &Coalitions) -> Vec<f64> {
    let mut out = vec![0.0; batch.len() * game.outputs()];
    game.values(batch, &mut out).unwrap();
    out
}

/// Returns the values of a batch, evaluated one coalition at a time.
pub(crate) fn one_by_one(game: &dyn Game, batch: &Coalitions) -> Vec<f64> {
    (0..batch.len()).flat_map(|index| values(game, &batch.slice(index..index + 1))).collect()
}

/// Returns the results of `work` in thread pools with one, two and three threads.
pub(crate) fn in_pools<T: Send>(work: impl Fn() -> T + Sync) -> [T; 3] {
    [1, 2, 3]
        .map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&work))
}

pub(crate) fn assert_close(got: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        let close = (got - expected).abs() <= tolerance * expected.abs().max(1.0);
        assert!(close, "{what}, number {index}: {got} for {expected}");
    }
}
