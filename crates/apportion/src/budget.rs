//! The budget of evaluations.

use crate::error::ExplainError;

/// The maximum number of evaluations of a game, including v(∅) and v(N).
///
/// ```
/// use apportion::Budget;
///
/// assert_eq!("10n".parse::<Budget>()?.evaluations(30), 300);
/// assert_eq!("500".parse::<Budget>()?.evaluations(30), 500);
/// assert_eq!(Budget::default().evaluations(30), 512);
/// # Ok::<(), apportion::ExplainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Budget {
    /// For `n ≤ 11` players, 2048, which covers all `2^n` coalitions. For more players, `20 n`, but at most
    /// the larger of 512 and `10 n`: about as many evaluations as the default of the package shap.
    #[default]
    Auto,
    /// A fixed number of evaluations.
    Evaluations(usize),
    /// A multiple of the number of players.
    PerPlayer(usize),
}

impl Budget {
    /// Maximum number of players for which [`Auto`](Self::Auto) covers all coalitions.
    const MAX_ENUMERATED_PLAYERS: usize = 11;

    /// Returns the number of evaluations for a game with this number of players.
    pub fn evaluations(self, players: usize) -> usize {
        match self {
            Self::Auto if players <= Self::MAX_ENUMERATED_PLAYERS => 1 << Self::MAX_ENUMERATED_PLAYERS,
            Self::Auto => players.saturating_mul(20).min(players.saturating_mul(10).max(512)),
            Self::Evaluations(evaluations) => evaluations,
            Self::PerPlayer(times) => players.saturating_mul(times),
        }
    }

    /// Returns the number of evaluations for the interaction indices of all pairs. They require more
    /// evaluations than the values of players: [`Auto`](Self::Auto) is `max(2048, 20 n)`.
    pub(crate) fn evaluations_for_pairs(self, players: usize) -> usize {
        match self {
            Self::Auto => players.saturating_mul(20).max(2048),
            budget => budget.evaluations(players),
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
    fn the_default_covers_few_players_and_grows_with_many() {
        let players = [1, 2, 11, 12, 25, 26, 51, 52, 1000];
        let evaluations = [2048, 2048, 2048, 240, 500, 512, 512, 520, 10_000];
        assert_eq!(players.map(|players| Budget::Auto.evaluations(players)), evaluations);
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["", "n", "-5", "10m", "1e3"] {
            assert!(matches!(text.parse::<Budget>(), Err(ExplainError::Budget { .. })), "{text}");
        }
    }
}
