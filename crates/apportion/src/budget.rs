//! The budget of evaluations.

use crate::error::ExplainError;

/// The maximum number of evaluations of a game, including v(∅) and v(N).
///
/// ```
/// use apportion::Budget;
///
/// assert_eq!("10n".parse::<Budget>()?.evaluations(30), 300);
/// assert_eq!("500".parse::<Budget>()?.evaluations(30), 500);
/// assert_eq!(Budget::default().evaluations(30), 2048);
/// # Ok::<(), apportion::ExplainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Budget {
    /// `max(2048, 20 n)` for `n` players.
    #[default]
    Auto,
    /// A fixed number of evaluations.
    Evaluations(usize),
    /// A multiple of the number of players.
    PerPlayer(usize),
}

impl Budget {
    /// Returns the number of evaluations for a game with this number of players.
    pub fn evaluations(self, players: usize) -> usize {
        match self {
            Self::Auto => players.saturating_mul(20).max(2048),
            Self::Evaluations(evaluations) => evaluations,
            Self::PerPlayer(times) => players.saturating_mul(times),
        }
    }
}

/// Parses `2000`, `10n` or `auto`.
impl std::str::FromStr for Budget {
    type Err = ExplainError;

    fn from_str(text: &str) -> Result<Self, ExplainError> {
        let refused = || ExplainError::Budget { actual: text.to_owned() };
        if text == "auto" {
            return Ok(Self::Auto);
        }
        match text.strip_suffix('n') {
            Some(times) => times.parse().map(Self::PerPlayer).map_err(|_| refused()),
            None => text.parse().map(Self::Evaluations).map_err(|_| refused()),
        }
    }
}

impl std::fmt::Display for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Evaluations(evaluations) => write!(f, "{evaluations}"),
            Self::PerPlayer(times) => write!(f, "{times}n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back() {
        for budget in [Budget::Auto, Budget::Evaluations(17), Budget::PerPlayer(3)] {
            assert_eq!(budget.to_string().parse::<Budget>().unwrap(), budget);
        }
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["", "n", "-5", "10m", "1e3"] {
            assert!(matches!(text.parse::<Budget>(), Err(ExplainError::Budget { .. })), "{text}");
        }
    }
}
