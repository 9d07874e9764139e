//! Axioms that characterize solution concepts, as predicates.
//!
//! # Notation
//!
//! `n` players, `k` outputs; values are n × k, row-major. A *tolerance* is relative. For functions that take
//! the game, 1e-12 allows an error of 1e-12 times the largest |v(S) − v(∅)|; the others document their scale.
//!
//! | axiom | statement | Shapley | Banzhaf |
//! |---|---|---|---|
//! | [`efficiency`] | Σ φ_i = v(N) − v(∅) | yes | no |
//! | [`symmetry`] | players with the same marginal contributions have the same value | yes | yes |
//! | [`null_player`] | a player whose marginal contributions are all zero has the value zero | yes | yes |
//! | [`dummy`] | the value of a player whose marginal contributions are all equal is that contribution | yes | yes |
//! | [`linearity`] | φ(αv + βw) = α φ(v) + β φ(w) | yes | yes |
//! | [`two_efficiency`] | if two players are merged into one, the value of the merged player is the sum of their values | no | yes |
//!
//! For values of players in groups:
//!
//! | axiom | statement | Owen | Banzhaf-Owen | symmetric coalitional Banzhaf | two-step Shapley |
//! |---|---|---|---|---|---|
//! | [`quotient_property`] | the values of a group's members sum to the group's value in the quotient game | yes | no | yes | yes |
//! | [`symmetry_within_groups`] | members of one group with the same marginal contributions have the same value | yes | yes | yes | yes |
//! | [`efficiency`] | Σ g_i = v(N) − v(∅) | yes | no | no | yes |
//!
//! The function for each axiom returns the worst [`Violation`] as an error. Functions that need the game take
//! it as a table, because they test all coalitions.
//!
//! ```
//! use apportion_games::{Cooking, TabulatedGame};
//! use apportion_values::{Semivalue, axioms, enumerate};
//!
//! let game = TabulatedGame::from_game(&Cooking)?;
//! let shapley = enumerate(&game, Semivalue::Shapley)?;
//! axioms::efficiency(&shapley.values, &shapley.base, &shapley.predictions, 1e-14)?;
//! axioms::symmetry(&game, &shapley.values, 1e-14)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use apportion_games::{Game, Partition, TabulatedGame};

/// A violation of an axiom: the number computed from the values, and the number that the axiom requires.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "{axiom} does not hold for output {output}: got {actual}, expected {expected} (allowed difference \
     {allowed:e})"
)]
#[non_exhaustive]
pub struct Violation {
    /// Name of the axiom.
    pub axiom: &'static str,
    /// Index of the output with the largest difference that exceeds the tolerance.
    pub output: usize,
    /// The number computed from the values.
    pub actual: f64,
    /// The number that the axiom requires.
    pub expected: f64,
    /// The largest difference that the tolerance allows.
    pub allowed: f64,
}

/// The worst violation among the comparisons made for an axiom.
struct Check {
    axiom: &'static str,
    worst: Option<Violation>,
}

impl Check {
    fn new(axiom: &'static str) -> Self {
        Self { axiom, worst: None }
    }

    fn compare(&mut self, output: usize, got: f64, wanted: f64, allowed: f64) {
        // Treat a difference of NaN as infinite.
        let gap = |got: f64, wanted: f64| {
            Some((got - wanted).abs()).filter(|gap| !gap.is_nan()).unwrap_or(f64::INFINITY)
        };
        let here = gap(got, wanted);
        // Cap the tolerance, so that an infinite or NaN tolerance does not accept infinite or NaN
        // differences.
        let allowed = allowed.min(f64::MAX);
        if here > allowed && self.worst.is_none_or(|worst| here > gap(worst.actual, worst.expected)) {
            self.worst =
                Some(Violation { axiom: self.axiom, output, actual: got, expected: wanted, allowed });
        }
    }

    fn finish(self) -> Result<(), Violation> {
        self.worst.map_or(Ok(()), Err)
    }
}

/// Returns the largest absolute value for one output in a row-major matrix.
fn largest(values: &[f64], outputs: usize, output: usize) -> f64 {
    values.iter().skip(output).step_by(outputs).fold(0.0, |largest, value| value.abs().max(largest))
}

/// Returns the largest |v(S) − v(∅)| for one output, capped at the largest finite number.
fn range(game: &TabulatedGame, output: usize) -> f64 {
    let table = game.values_in_order();
    let base = table[output];
    table
        .iter()
        .skip(output)
        .step_by(game.outputs())
        .fold(0.0, |largest, value| (value - base).abs().max(largest))
        .min(f64::MAX)
}

/// Returns the masks of all coalitions that contain none of the players in `excluded`.
fn without(game: &TabulatedGame, excluded: u64) -> impl Iterator<Item = u64> {
    (0..1u64 << game.players()).filter(move |mask| mask & excluded == 0)
}

fn check_shape(game: &TabulatedGame, values: &[f64]) {
    assert_eq!(values.len(), game.players() * game.outputs(), "one value per player and output");
}

/// Checks efficiency: for each output, the values sum to `full − base`.
///
/// `values` is n × k; `base` = v(∅) and `full` = v(N) are k numbers each. The tolerance is relative to n
/// times the largest of |φ_i|, |v(∅)| and |v(N)|.
///
/// # Errors
///
/// The worst [`Violation`].
///
/// # Panics
///
/// If the lengths do not match.
pub fn efficiency(values: &[f64], base: &[f64], full: &[f64], tolerance: f64) -> Result<(), Violation> {
    let outputs = base.len();
    assert!(
        outputs == full.len() && values.len().is_multiple_of(outputs),
        "the lengths do not match the number of outputs"
    );
    let mut check = Check::new("efficiency");
    for output in 0..outputs {
        let sum: f64 = values.iter().skip(output).step_by(outputs).sum();
        let scale = largest(values, outputs, output).max(base[output].abs()).max(full[output].abs());
        let players = (values.len() / outputs) as f64;
        check.compare(output, sum, full[output] - base[output], tolerance * scale * players);
    }
    check.finish()
}

/// Returns whether `first` and `second` are symmetric: `v(S∪i) = v(S∪j)` for every S that contains neither
/// player, within the tolerance.
///
/// Takes O(2^n k) time.
///
/// # Panics
///
/// If a player does not exist.
pub fn are_symmetric(game: &TabulatedGame, first: usize, second: usize, tolerance: f64) -> bool {
    assert!(
        first.max(second) < game.players(),
        "invalid players {first} and {second}: the game has {} players",
        game.players()
    );
    let (i, j) = (1 << first, 1 << second);
    (0..game.outputs()).all(|output| {
        let allowed = tolerance * range(game, output);
        without(game, i | j)
            .all(|mask| (game.value(mask | i)[output] - game.value(mask | j)[output]).abs() <= allowed)
    })
}

/// Returns whether `player` is a dummy: `v(S∪i) − v(S) = v({i}) − v(∅)` for every S without the player,
/// within the tolerance.
///
/// Takes O(2^n k) time.
///
/// # Panics
///
/// If the player does not exist.
pub fn is_dummy(game: &TabulatedGame, player: usize, tolerance: f64) -> bool {
    adds_always(game, player, tolerance, |output| alone(game, player, output))
}

/// Returns whether `player` is null: `v(S∪i) = v(S)` for every S, within the tolerance.
///
/// Takes O(2^n k) time.
///
/// # Panics
///
/// If the player does not exist.
pub fn is_null(game: &TabulatedGame, player: usize, tolerance: f64) -> bool {
    adds_always(game, player, tolerance, |_| 0.0)
}

/// Returns v({i}) − v(∅) for one output.
fn alone(game: &TabulatedGame, player: usize, output: usize) -> f64 {
    game.value(1 << player)[output] - game.value(0)[output]
}

fn adds_always(game: &TabulatedGame, player: usize, tolerance: f64, amount: impl Fn(usize) -> f64) -> bool {
    assert!(
        player < game.players(),
        "player {player} is out of range: the game has {} players",
        game.players()
    );
    let bit = 1 << player;
    (0..game.outputs()).all(|output| {
        let (amount, allowed) = (amount(output), tolerance * range(game, output));
        without(game, bit).all(|mask| {
            let added = game.value(mask | bit)[output] - game.value(mask)[output];
            (added - amount).abs() <= allowed
        })
    })
}

/// Checks symmetry: any two players that are [symmetric](are_symmetric) in `game` have equal values.
///
/// Takes O(n² 2^n k) time.
///
/// # Errors
///
/// The worst [`Violation`].
///
/// # Panics
///
/// If `values` is not n × k.
pub fn symmetry(game: &TabulatedGame, values: &[f64], tolerance: f64) -> Result<(), Violation> {
    symmetry_of(game, values, tolerance, Check::new("symmetry"), |_, _| true)
}

/// Checks symmetry within groups: any two members of one group that are [symmetric](are_symmetric) in `game`
/// have equal values.
///
/// Takes O(n² 2^n k) time.
///
/// # Errors
///
/// The worst [`Violation`].
///
/// # Panics
///
/// If `values` is not n × k, or the number of players of the partition differs.
pub fn symmetry_within_groups(
    game: &TabulatedGame,
    partition: &Partition,
    values: &[f64],
    tolerance: f64,
) -> Result<(), Violation> {
    assert_eq!(partition.players(), game.players(), "the partition must have the players of the game");
    let fellows = |first, second| partition.group_of(first) == partition.group_of(second);
    symmetry_of(game, values, tolerance, Check::new("symmetry within groups"), fellows)
}

/// Checks that symmetric players have equal values, for the pairs of players selected by `looked_at`.
fn symmetry_of(
    game: &TabulatedGame,
    values: &[f64],
    tolerance: f64,
    mut check: Check,
    looked_at: impl Fn(usize, usize) -> bool,
) -> Result<(), Violation> {
    check_shape(game, values);
    let outputs = game.outputs();
    for first in 0..game.players() {
        for second in (first + 1..game.players())
            .filter(|&second| looked_at(first, second) && are_symmetric(game, first, second, tolerance))
        {
            for output in 0..outputs {
                let [one, other] = [first, second].map(|player| values[player * outputs + output]);
                check.compare(output, one, other, tolerance * range(game, output));
            }
        }
    }
    check.finish()
}

/// Checks the null player axiom: every player that is [null](is_null) in `game` has the value zero.
///
/// Takes O(n 2^n k) time.
///
/// # Errors
///
/// The worst [`Violation`].
///
/// # Panics
///
/// If `values` is not n × k.
pub fn null_player(game: &TabulatedGame, values: &[f64], tolerance: f64) -> Result<(), Violation> {
    let is_null = |player| is_null(game, player, tolerance);
    of_players(game, values, tolerance, Check::new("null player"), is_null, |_, _| 0.0)
}

/// Checks the dummy axiom: every player that is a [dummy](is_dummy) in `game` has the value v({i}) − v(∅).
/// This implies the null player axiom.
///
/// Takes O(n 2^n k) time.
///
/// # Errors
///
/// The worst [`Violation`].
///
/// # Panics
///
/// If `values` is not n × k.
pub fn dummy(game: &TabulatedGame, values: &[f64], tolerance: f64) -> Result<(), Violation> {
    let is_dummy = |player| is_dummy(game, player, tolerance);
    of_players(game, values, tolerance, Check::new("dummy"), is_dummy, |player, output| {
        alone(game, player, output)
    })
}

/// Checks that every player for which `is_of_kind` returns `true` has the value `wanted(player, output)` for
/// each output.
fn of_players(
    game: &TabulatedGame,
    values: &[f64],
    tolerance: f64,
    mut check: Check,
    is_of_kind: impl Fn(usize) -> bool,
    wanted: impl Fn(usize, usize) -> f64,
) -> Result<(), Violation> {
    check_shape(game, values);
    let outputs = game.outputs();
    for player in (0..game.players()).filter(|&player| is_of_kind(player)) {
        for output in 0..outputs {
            let allowed = tolerance * range(game, output);
            check.compare(output, values[player * outputs + output], wanted(player, output), allowed);
        }
    }
    check.finish()
}

/// Checks the quotient property: for each output, the values of the members of every group sum to the group's
/// value in the quotient game.
///
/// `values` is n × k and `quotient` m × k. The tolerance is relative to n times the largest absolute value in
/// either of them.
///
/// # Errors
///
/// The worst [`Violation`].
///
/// # Panics
///
/// If the lengths do not match the partition.
pub fn quotient_property(
    partition: &Partition,
    values: &[f64],
    quotient: &[f64],
    tolerance: f64,
) -> Result<(), Violation> {
    let outputs = quotient.len() / partition.len();
    assert_eq!(quotient.len(), partition.len() * outputs, "one value per group and output");
    assert_eq!(values.len(), partition.players() * outputs, "one value per player and output");
    let mut check = Check::new("the quotient property");
    for output in 0..outputs {
        let scale = largest(values, outputs, output).max(largest(quotient, outputs, output));
        let allowed = tolerance * scale * partition.players() as f64;
        for (group, members) in partition.groups().iter().enumerate() {
            let sum: f64 = members.iter().map(|&member| values[member * outputs + output]).sum();
            check.compare(output, sum, quotient[group * outputs + output], allowed);
        }
    }
    check.finish()
}

/// Checks linearity, φ(Σ α v) = Σ α φ(v): `combined` is the sum of the values in `parts`, each multiplied by
/// its factor. With factors of one, this is additivity.
///
/// The tolerance is relative to the largest |α φ_i| or |combined| over all players.
///
/// # Errors
///
/// The worst [`Violation`]. Its field `output` is the index in the lists of values.
///
/// # Panics
///
/// If the lengths of the lists differ.
pub fn linearity(parts: &[(f64, &[f64])], combined: &[f64], tolerance: f64) -> Result<(), Violation> {
    let scale = parts.iter().fold(largest(combined, 1, 0), |scale, (factor, values)| {
        assert_eq!(values.len(), combined.len(), "the lists differ in length");
        scale.max(factor.abs() * largest(values, 1, 0))
    });
    let mut check = Check::new("linearity");
    for (position, &got) in combined.iter().enumerate() {
        let wanted = parts.iter().map(|(factor, values)| factor * values[position]).sum();
        check.compare(position, got, wanted, tolerance * scale);
    }
    check.finish()
}

/// Returns the game in which the players `first` and `second` are merged into a single player. The merged
/// player has the number `first`; the numbers of players above `second` decrease by one.
///
/// Takes O(2^n k) time.
///
/// # Panics
///
/// Unless `first < second < n`.
pub fn merged(game: &TabulatedGame, first: usize, second: usize) -> TabulatedGame {
    assert!(
        first < second && second < game.players(),
        "invalid players {first} and {second}: the game has {} players",
        game.players()
    );
    let below = (1u64 << second) - 1;
    let values = (0..1u64 << (game.players() - 1)).flat_map(|mask| {
        let both = (mask >> first & 1) << second;
        game.value(mask & below | both | (mask & !below) << 1).iter().copied()
    });
    match TabulatedGame::new(values.collect(), game.outputs()) {
        Ok(merged) => merged,
        Err(error) => unreachable!("half of a table is a table: {error}"),
    }
}

/// Checks 2-efficiency (Lehrer, *An axiomatization of the Banzhaf value*, 1988): `φ_i(v) + φ_j(v)` is the
/// value of the [`merged`] player of i and j.
///
/// `values` are the values for `game`, and `of_merged` the values for the merged game.
///
/// # Errors
///
/// The worst [`Violation`].
///
/// # Panics
///
/// Unless `first < second < n` and the lengths match.
pub fn two_efficiency(
    game: &TabulatedGame,
    values: &[f64],
    (first, second): (usize, usize),
    of_merged: &[f64],
    tolerance: f64,
) -> Result<(), Violation> {
    check_shape(game, values);
    let outputs = game.outputs();
    assert!(
        first < second && second < game.players(),
        "invalid players {first} and {second}: the game has {} players",
        game.players()
    );
    assert_eq!(of_merged.len() + outputs, values.len(), "the merged game has one player fewer");
    let mut check = Check::new("2-efficiency");
    for output in 0..outputs {
        let apart = values[first * outputs + output] + values[second * outputs + output];
        check.compare(output, apart, of_merged[first * outputs + output], tolerance * range(game, output));
    }
    check.finish()
}
