//! How many evaluations of the game a sampling method may use: a count (`2000`), or a multiple of the players (`10n`).

use std::str::FromStr;

use anyhow::{Context, Result};

/// Evaluations as they are typed, the empty and the grand coalition included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Budget {
    /// That many.
    Evaluations(usize),
    /// That many for each player.
    PerPlayer(usize),
}

impl Budget {
    /// The count for a game of `players`.
    pub(crate) fn evaluations(self, players: usize) -> Result<usize> {
        match self {
            Self::Evaluations(count) => Ok(count),
            Self::PerPlayer(count) => count
                .checked_mul(players)
                .with_context(|| format!("a budget of {count} for each of {players} players is too large to count")),
        }
    }
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, kind): (_, fn(usize) -> Self) = match text.strip_suffix('n') {
            Some(number) => (number, Self::PerPlayer),
            None => (text, Self::Evaluations),
        };
        number.parse().map(kind).map_err(|_| {
            format!("{text:?} is no budget; write a count of evaluations (2000) or a multiple of the players (10n)")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiple_of_the_players_is_multiplied_out() {
        assert_eq!("10n".parse::<Budget>().unwrap().evaluations(60).unwrap(), 600);
        assert_eq!("2000".parse::<Budget>().unwrap().evaluations(60).unwrap(), 2000);
        assert!(Budget::PerPlayer(usize::MAX).evaluations(2).is_err());
    }

    #[test]
    fn what_is_no_budget_is_refused() {
        for text in ["", "n", "-5", "1.5n", "10m", "1e3"] {
            assert!(text.parse::<Budget>().is_err(), "{text:?}");
        }
    }
}
