//! Ranks of coalitions: the coalitions of one size are numbered from 0 to C(n, s) − 1.
//!
//! Coalitions of one size are sorted lexicographically by their ascending lists of members. Among three
//! players, {0, 1}, {0, 2} and {1, 2} have the ranks 0, 1 and 2. Ranks are `u128`. This is sufficient for all
//! sizes up to n = 130, and for small or large sizes with more players.
//!
//! # Source
//!
//! Leverage SHAP, Algorithm 3 (`Combo`), with two corrections: the number of combinations that contain
//! element `j` (0-based, with `k` still to choose) is C(n − 1 − j, k − 1), which depends on `j` and not on
//! `s`, and the search continues at `j + 1`. As printed, the algorithm returns wrong subsets from n = 5 on.
//! Each element is visited once, and each binomial coefficient is computed from the previous one by a
//! multiplication and a division. The cost is therefore `O(n)`, without a table.

use apportion_games::{Coalition, CoalitionView};

use crate::error::SamplerError;
use crate::size::choose::{choose, multiply_divide};

/// Returns the rank of a coalition among the coalitions of its size, in lexicographic order of members.
/// Returns `None` if there are at least 2^128 coalitions of this size.
///
/// This is the inverse of [`unrank`]. Takes `O(n)` time.
///
/// ```
/// use apportion_games::Coalition;
/// use apportion_samplers::rank;
///
/// assert_eq!(rank(Coalition::from_members(5, [0, 1]).view()), Some(0));
/// assert_eq!(rank(Coalition::from_members(5, [3, 4]).view()), Some(9));
/// ```
pub fn rank(coalition: CoalitionView<'_>) -> Option<u128> {
    let mut walk = Walk::new(coalition.players(), coalition.size())?;
    let mut rank = 0;
    while walk.left > 0 {
        if coalition.contains(walk.player) {
            walk.take();
        } else {
            rank += walk.containing;
            walk.skip();
        }
    }
    Some(rank)
}

/// Returns the coalition of `size` of `players` players whose [`rank`] is `rank`.
///
/// Takes `O(n)` time.
///
/// # Errors
///
/// [`SamplerError::Size`] if `size` exceeds `players`, [`SamplerError::RankWidth`] if C(n, s) ≥ 2^128,
/// [`SamplerError::Rank`] if `rank` is not below C(n, s).
///
/// ```
/// use apportion_samplers::unrank;
///
/// assert_eq!(unrank(5, 2, 4)?.to_string(), "{1, 2} of 5");
/// # Ok::<(), apportion_samplers::SamplerError>(())
/// ```
pub fn unrank(players: usize, size: usize, rank: u128) -> Result<Coalition, SamplerError> {
    if size > players {
        return Err(SamplerError::Size { size, players });
    }
    let count = choose(players, size).ok_or(SamplerError::RankWidth { players, size })?;
    if rank >= count {
        return Err(SamplerError::Rank { rank, count, players, size });
    }
    let mut walk = Walk::from_count(players, size, count);
    let mut rest = rank;
    let mut coalition = Coalition::empty(players);
    while walk.left > 0 {
        if rest < walk.containing {
            coalition.insert(walk.player);
            walk.take();
        } else {
            rest -= walk.containing;
            walk.skip();
        }
    }
    Ok(coalition)
}

/// A walk over the players in order, in which each player is taken or skipped.
struct Walk {
    /// The current player.
    player: usize,
    /// Number of members that must still be taken.
    left: usize,
    /// Number of players from `player` to the last one.
    players_left: usize,
    /// Number of completions of the current coalition that contain `player`: C(players_left − 1, left − 1).
    containing: u128,
}

impl Walk {
    /// Creates the walk at player 0, or returns `None` if C(players, size) does not fit in 128 bits.
    fn new(players: usize, size: usize) -> Option<Self> {
        Some(Self::from_count(players, size, choose(players, size)?))
    }

    fn from_count(players: usize, size: usize, count: u128) -> Self {
        // C(n − 1, s − 1) = C(n, s) · s / n. If no members must be taken, the number is not used.
        let containing = if size == 0 { 0 } else { exact(count, size, players) };
        Self { player: 0, left: size, players_left: players, containing }
    }

    fn take(&mut self) {
        // Use C(N − 2, k − 2) = C(N − 1, k − 1) · (k − 1) / (N − 1).
        self.containing =
            if self.left > 1 { exact(self.containing, self.left - 1, self.players_left - 1) } else { 0 };
        self.left -= 1;
        self.next();
    }

    fn skip(&mut self) {
        // Use C(N − 2, k − 1) = C(N − 1, k − 1) · (N − k) / (N − 1). Skipping a player leaves k ≤ N − 1
        // others, so N > 1.
        self.containing = exact(self.containing, self.players_left - self.left, self.players_left - 1);
        self.next();
    }

    fn next(&mut self) {
        self.player += 1;
        self.players_left -= 1;
    }
}

/// Returns `count · factor / divisor`. The result is a binomial coefficient that does not exceed `count`.
fn exact(count: u128, factor: usize, divisor: usize) -> u128 {
    debug_assert!(factor <= divisor);
    // The result does not exceed `count`, so it fits.
    multiply_divide(count, factor as u128, divisor as u128).unwrap_or(0)
}
