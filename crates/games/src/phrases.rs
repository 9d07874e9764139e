//! Phrases of error messages that depend on a number.

/// Returns the plural ending of a regular noun: nothing for 1, otherwise "s".
pub fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Returns the phrase that states the valid indices of `count` things, such as players: "expected 0 to 9".
pub fn expected_index(count: usize, noun: &str) -> String {
    match count {
        0 => format!("there is no {noun}"),
        1 => format!("expected 0, the only {noun}"),
        count => format!("expected 0 to {}", count - 1),
    }
}
