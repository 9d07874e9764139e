//! The budget of evaluations.

use crate::error::ExplainError;

/// The maximum number of evaluations of a game, including v(∅) and v(N).
///
/// ```
/// use apportion::Budget;
///
/// assert_eq!("10n".parse::<Budget>()?.evaluations(30), 300);
/// assert_eq!("500".parse::<Budget>()?.evaluations(30), 500);
/// assert_eq!("0.5n".parse::<Budget>()?.evaluations(15), 8);
/// assert_eq!(Budget::default().evaluations(30), 512);
/// # Ok::<(), apportion::ExplainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Budget {
    /// For `n ≤ 11` players, 2048, which covers all `2^n` coalitions. For more players, `20 n`, but at most
    /// the larger of 512 and `10 n`: about as many evaluations as the default of the package shap.
    /// [`Method::Auto`](crate::Method::Auto) explains many models with the table method instead, which takes
    /// a sixth of these evaluations for 12 features and a smaller fraction for more; see
    /// [`model_rows`](Self::model_rows).
    #[default]
    Auto,
    /// A fixed number of evaluations.
    Evaluations(usize),
    /// A multiple of the number of players.
    PerPlayer(usize),
    /// A fraction of the number of players, rounded up to whole evaluations. For
    /// [`Method::Table`](crate::Method::Table), it is rounded up to whole predicted rows instead.
    Fraction(f64),
}

impl Budget {
    /// Maximum number of players for which [`Auto`](Self::Auto) covers all coalitions.
    const MAX_ENUMERATED_PLAYERS: usize = 11;
    /// The maximum number of predicted rows for which [`Auto`](Self::Auto) covers all coalitions with the
    /// table method.
    const MAX_ENUMERATED_ROWS: usize = 2000;
    /// The minimum of [`Auto`](Self::Auto) for the table method, in predicted rows.
    const MIN_AUTO_ROWS: usize = 200;

    /// Returns the number of evaluations for a game with this number of players.
    pub fn evaluations(self, players: usize) -> usize {
        match self {
            Self::Auto if players <= Self::MAX_ENUMERATED_PLAYERS => 1 << Self::MAX_ENUMERATED_PLAYERS,
            Self::Auto => players.saturating_mul(20).min(players.saturating_mul(10).max(512)),
            Self::Evaluations(evaluations) => evaluations,
            Self::PerPlayer(times) => players.saturating_mul(times),
            Self::Fraction(fraction) => rounded_up(fraction * players as f64),
        }
    }

    /// Returns the number of rows that the model predicts for each explicand with
    /// [`Method::Table`](crate::Method::Table). An evaluation with B background rows corresponds to B
    /// predicted rows.
    ///
    /// [`Auto`](Self::Auto) is `20 n^¼` evaluations, but at least 200 rows; if 2000 rows suffice for all
    /// coalitions, it is `2^n B`, and the values are exact. The default of the package shap takes about 280
    /// evaluations for 12 features and 500 for more: seven to eleven times as many.
    ///
    /// ```
    /// use apportion::Budget;
    ///
    /// assert_eq!(Budget::Fraction(0.5).model_rows(15, 100), 750);
    /// assert_eq!(Budget::Auto.model_rows(30, 10), 470);
    /// assert_eq!(Budget::Auto.model_rows(4, 100), 1600);
    /// ```
    pub fn model_rows(self, players: usize, background: usize) -> usize {
        match self {
            Self::Auto => {
                let all = 1usize.checked_shl(players as u32).map(|all| all.saturating_mul(background));
                match all {
                    Some(all) if all <= Self::MAX_ENUMERATED_ROWS => all.max(Self::MIN_AUTO_ROWS),
                    _ => {
                        let evaluations = (20.0 * (players as f64).sqrt().sqrt()).ceil() as usize;
                        evaluations.saturating_mul(background).max(Self::MIN_AUTO_ROWS)
                    }
                }
            }
            Self::Fraction(fraction) => rounded_up(fraction * players as f64 * background as f64),
            budget => budget.evaluations(players).saturating_mul(background),
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

/// Rounds up a number of evaluations or rows. Products such as 0.3 · 10 may exceed a whole number by rounding
/// error, which is subtracted.
fn rounded_up(number: f64) -> usize {
    (number * (1.0 - 4.0 * f64::EPSILON)).ceil() as usize
}

/// Parses a positive fraction in decimal notation, such as `0.5`.
fn fraction(text: &str) -> Option<f64> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|fraction: &f64| is_decimal && fraction.is_finite() && *fraction > 0.0)
}

/// Parses `2000`, `10n`, `0.5n` or `auto`.
impl std::str::FromStr for Budget {
    type Err = ExplainError;

    fn from_str(text: &str) -> Result<Self, ExplainError> {
        let refused = || ExplainError::Budget { actual: text.to_owned() };
        if text == "auto" {
            return Ok(Self::Auto);
        }
        match text.strip_suffix('n') {
            Some(times) if times.contains('.') => fraction(times).map(Self::Fraction).ok_or_else(refused),
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
            // The decimal point distinguishes a fraction from a multiple.
            Self::Fraction(fraction) if fraction.fract() == 0.0 => write!(f, "{fraction:.1}n"),
            Self::Fraction(fraction) => write!(f, "{fraction}n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back() {
        for budget in [
            Budget::Auto,
            Budget::Evaluations(17),
            Budget::PerPlayer(3),
            Budget::Fraction(0.5),
            Budget::Fraction(2.0),
            Budget::Fraction(1e-9),
        ] {
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
    fn fractions_round_up() {
        for (fraction, players, evaluations) in
            [(0.5, 15, 8), (0.5, 16, 8), (0.3, 10, 3), (1e300, 9, usize::MAX)]
        {
            assert_eq!(Budget::Fraction(fraction).evaluations(players), evaluations);
        }
        assert_eq!(Budget::Fraction(0.3).model_rows(10, 7), 21);
        let rows = |players, background| Budget::Auto.model_rows(players, background);
        assert_eq!([rows(3, 1), rows(12, 100), rows(100, 100), rows(200, 3)], [200, 3800, 6400, 228]);
        assert_eq!(Budget::PerPlayer(3).model_rows(10, 7), 210);
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["", "n", "-5", "10m", "1e3", "0.5", "-0.5n", "0.0n", ".n", "1.5e3n", "0.5.n"] {
            assert!(matches!(text.parse::<Budget>(), Err(ExplainError::Budget { .. })), "{text}");
        }
    }
}
