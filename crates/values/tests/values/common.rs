//! Helpers shared by the tests of values.

use apportion_games::{Game, TabulatedGame};

/// Returns a game whose values are pseudorandom numbers in [−1, 1), taken from the upper bits of a linear
/// congruential generator (Knuth's multiplier).
pub(crate) fn random_game(players: usize, outputs: usize) -> TabulatedGame {
    let mut state = (players * 10 + outputs) as u64;
    let draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    TabulatedGame::new(std::iter::repeat_with(draw).take(outputs << players).collect(), outputs).unwrap()
}

/// Returns a game that is symmetric in `first` and `second`: v(S) is the mean of the original values of S and
/// of S with the two players exchanged.
pub(crate) fn made_symmetric(game: &TabulatedGame, first: usize, second: usize) -> TabulatedGame {
    let exchanged = |mask: u64| {
        let differ = (mask >> first ^ mask >> second) & 1;
        mask ^ (differ << first | differ << second)
    };
    let values = (0..1u64 << game.players()).flat_map(|mask| {
        let pairs = game.value(mask).iter().zip(game.value(exchanged(mask)));
        pairs.map(|(a, b)| (a + b) / 2.0).collect::<Vec<_>>()
    });
    TabulatedGame::new(values.collect(), game.outputs()).unwrap()
}

/// Returns the indices of the set bits.
pub(crate) fn members(mask: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |player| mask >> player & 1 == 1)
}

pub(crate) fn mask_of(players: &[usize]) -> u64 {
    players.iter().fold(0, |mask, player| mask | 1 << player)
}

pub(crate) fn assert_close(got: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (position, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() <= tolerance, "{what}, position {position}: {got} != {expected}");
    }
}
