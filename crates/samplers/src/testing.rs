//! Helpers shared by the tests of draws.

use std::collections::BTreeMap;

/// Asserts that the draws contain exactly `outcomes` different outcomes, with equal frequencies: the
/// chi-square statistic must be at most `bound`.
pub(crate) fn assert_alike<T: Ord>(
    draws: impl IntoIterator<Item = T>,
    outcomes: usize,
    bound: f64,
    what: &str,
) {
    let mut counts: BTreeMap<T, f64> = BTreeMap::new();
    draws.into_iter().for_each(|draw| *counts.entry(draw).or_default() += 1.0);
    assert_eq!(counts.len(), outcomes, "{what}");
    let expected = counts.values().sum::<f64>() / outcomes as f64;
    let chi_square: f64 = counts.values().map(|count| (count - expected).powi(2) / expected).sum();
    assert!(chi_square <= bound, "{what}: {chi_square}");
}

/// Asserts that a count among `draws` draws matches its probability, within `errors` standard errors plus
/// `slack`.
pub(crate) fn assert_count(
    count: f64,
    draws: f64,
    probability: f64,
    (errors, slack): (f64, f64),
    what: &str,
) {
    let bound = errors * (draws * probability * (1.0 - probability)).sqrt() + slack;
    let difference = count - draws * probability;
    assert!(difference.abs() <= bound, "{what}: {difference} where {bound} is allowed");
}
