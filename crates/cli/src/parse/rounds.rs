//! `--trees`: the boosting rounds to use.

use apportion::{Ensemble, Rounds};

/// Parses `all`, a number of first rounds (`50`), or a half-open range (`10..50`).
pub(crate) fn rounds(text: &str) -> Result<Rounds, String> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let range = match text.split_once("..") {
        None if text.trim() == "all" => return Ok(Rounds::All),
        None => number(text).map(|end| 0..end),
        Some((start, end)) => number(start).zip(number(end)).map(|(start, end)| start..end),
    };
    match range {
        Some(range) if !range.is_empty() => Ok(Rounds::Within(range)),
        Some(_) => {
            Err("empty range of rounds; expected K (the first K), A..B (from A to B − 1), or all".to_owned())
        }
        None => Err("invalid rounds; expected K (the first K), A..B (from A to B − 1), or all".to_owned()),
    }
}

/// Describes the rounds in use, if they are not all rounds of the file. An example is `0..13 of 60, up to the
/// best one (best_iteration)`.
pub(crate) fn in_words(model: &Ensemble) -> Option<String> {
    let (used, count) = (model.rounds(), model.round_count());
    let why = match model.best_round_count() {
        Some(best) if used == (0..best) => ", up to the best one (best_iteration)",
        _ => "",
    };
    (used != (0..count)).then(|| format!("{}..{} of {count}{why}", used.start, used.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_a_number_or_a_range_or_all() {
        assert_eq!(rounds("50"), Ok(Rounds::Within(0..50)));
        assert_eq!(rounds("10..50"), Ok(Rounds::Within(10..50)));
        assert_eq!(rounds("all"), Ok(Rounds::All));
        for wrong in ["", "0", "5..5", "7..3", "-1", "a", "1..", "..4", "1..b"] {
            assert!(rounds(wrong).unwrap_err().contains("A..B"), "{wrong}");
        }
    }
}
