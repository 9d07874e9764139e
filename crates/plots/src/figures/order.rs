//! Which players are shown one by one.

/// The players that are shown, and those that are summed. One that would be summed alone is shown.
pub(super) fn split(players: &[usize], most: usize) -> (&[usize], &[usize]) {
    let shown = if players.len() <= most.max(1) + 1 { players.len() } else { most.max(1) };
    players.split_at(shown)
}
