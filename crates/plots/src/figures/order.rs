//! Selection of the players that are shown separately.

/// Splits players into the players that are shown separately and the players that are summed. A single
/// remaining player is shown.
pub(super) fn split(players: &[usize], most: usize) -> (&[usize], &[usize]) {
    let shown = if players.len() <= most.max(1) + 1 { players.len() } else { most.max(1) };
    players.split_at(shown)
}
