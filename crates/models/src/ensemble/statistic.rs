//! Statistics of categories and of their combinations, which CatBoost calls CTR.
//!
//! A split compares a ratio of counts with a border. The counts are stored in a table, keyed by a hash of the
//! inputs of the statistic: categories, and the results of tests on other features. The statistic has the
//! same value for all combinations that are not in the table.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::category::hash_of_code;

/// A number computed from one or several features of a row, at least one of which is categorical.
#[derive(Debug, Clone)]
pub struct Statistic {
    parts: Box<[Part]>,
    /// The features on which the statistic depends, without duplicates.
    features: Box<[u32]>,
    counts: Arc<Counts>,
    rate: Rate,
    digest: [u8; 32],
}

/// A table of counts.
#[derive(Debug)]
pub(crate) struct Counts {
    /// Hashes in ascending order, each with the index of its row of counts.
    rows: Box<[(u64, u32)]>,
    /// The counts, as rows of `width` numbers.
    counts: Box<[f64]>,
    width: usize,
    /// The denominator for statistics of the kind [`RateKind::Counter`].
    denominator: f64,
    digest: [u8; 32],
}

/// The formula from counts to a statistic, in `f32`:
/// `((in class + prior) / (total + weight of the prior) + shift) · scale`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) kind: RateKind,
    pub(crate) prior: f32,
    pub(crate) prior_weight: f32,
    pub(crate) shift: f32,
    pub(crate) scale: f32,
}

/// The counts used as the numerator ("in class") and the denominator ("total").
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RateKind {
    /// In class: the sum of the counts of all classes after this class. Total: the sum of all counts.
    After(usize),
    /// In class: the count of this class. Total: the sum of all counts.
    Of(usize),
    /// In class: the first number of the row. Total: the second number.
    Mean,
    /// In class: the first number of the row. Total: the denominator of the table, which is the same for all
    /// rows.
    Counter,
}

impl RateKind {
    /// Returns the minimum number of counts per category.
    fn min_counts(self) -> usize {
        match self {
            // Two classes have only one border between them.
            Self::After(class) => class.saturating_add(1).max(2),
            Self::Of(class) => class.saturating_add(1),
            Self::Mean => 2,
            Self::Counter => 1,
        }
    }
}

impl Rate {
    fn value(&self, in_class: f64, total: f64) -> f64 {
        let rate = (in_class as f32 + self.prior) / (total as f32 + self.prior_weight);
        f64::from((rate + self.shift) * self.scale)
    }

    fn of_counts(&self, counts: &[f64], denominator: f64) -> f64 {
        let all = || counts.iter().sum::<f64>();
        match self.kind {
            RateKind::After(_) if counts.len() == 2 => self.value(counts[1], all()),
            RateKind::After(class) => self.value(counts[class + 1..].iter().sum(), all()),
            RateKind::Of(class) => self.value(counts[class], all()),
            RateKind::Mean => self.value(counts[0], counts[1]),
            RateKind::Counter => self.value(counts[0], denominator),
        }
    }

    fn of_unknown(&self, denominator: f64) -> f64 {
        self.value(0.0, if self.kind == RateKind::Counter { denominator } else { 0.0 })
    }
}

/// The hash that marks an empty slot in a table.
const NOTHING: u64 = u64::MAX;

/// Maximum number of classes into which CatBoost bins targets.
const MAX_CLASSES: usize = 256;

impl Counts {
    /// Creates a table. If several rows have the same hash, the first one is used. All rows must exist in
    /// `counts`.
    pub(crate) fn new(
        mut rows: Vec<(u64, u32)>,
        counts: Vec<f64>,
        width: usize,
        denominator: f64,
    ) -> Result<Self, String> {
        rows.retain(|&(hash, _)| hash != NOTHING);
        rows.sort_by_key(|&(hash, _)| hash);
        rows.dedup_by_key(|&mut (hash, _)| hash);
        if !(1..=MAX_CLASSES).contains(&width) {
            return Err(format!("expected 1 to {MAX_CLASSES} counts per category, got {width}"));
        }
        let whole = counts.len() / width;
        if let Some((_, row)) = rows.iter().find(|&&(_, row)| row as usize >= whole) {
            return Err(format!("index {row} of the counts is out of range (categories: {whole})"));
        }
        // The digest includes the rows in the order of their hashes, because files store them in arbitrary
        // order.
        let mut digest = Sha256::new();
        digest.update((width as u64).to_le_bytes());
        digest.update(denominator.to_bits().to_le_bytes());
        for &(hash, row) in &rows {
            digest.update(hash.to_le_bytes());
            for count in &counts[row as usize * width..][..width] {
                digest.update(count.to_bits().to_le_bytes());
            }
        }
        let digest = digest.finalize().into();
        Ok(Self { rows: rows.into(), counts: counts.into(), width, denominator, digest })
    }

    fn counts(&self, hash: u64) -> Option<&[f64]> {
        let place = self.rows.binary_search_by_key(&hash, |&(known, _)| known).ok()?;
        let start = self.rows[place].1 as usize * self.width;
        Some(&self.counts[start..start + self.width])
    }
}

/// An input of a statistic.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// The category of a feature.
    Category { feature: u32 },
    /// Whether a feature is at or above a threshold.
    Above { feature: u32, threshold: f64, missing_is_above: bool },
    /// Whether the category of a feature has this hash.
    Exactly { feature: u32, hash: u32 },
}

/// Statistics are equal if they have the same digest, and hence the same values.
impl PartialEq for Statistic {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Part {
    pub(crate) fn feature(&self) -> u32 {
        match *self {
            Self::Category { feature } | Self::Above { feature, .. } | Self::Exactly { feature, .. } => {
                feature
            }
        }
    }
}

const MULTIPLIER: u64 = 0x4906_ba49_4954_cb65;

/// Combines a hash with the value of the next part.
fn joined(hash: u64, part: u64) -> u64 {
    MULTIPLIER.wrapping_mul(hash.wrapping_add(MULTIPLIER.wrapping_mul(part)))
}

/// Returns the hash of a category, sign-extended to 64 bits, as CatBoost does before combining hashes.
fn signed(hash: u32) -> u64 {
    i64::from(hash as i32) as u64
}

impl Statistic {
    /// Creates a statistic of these parts, or returns why it is invalid.
    pub(crate) fn new(parts: Vec<Part>, counts: Arc<Counts>, rate: Rate) -> Result<Self, String> {
        if parts.is_empty() {
            return Err("the statistic has no features".to_owned());
        }
        let least = rate.kind.min_counts();
        if counts.width < least {
            return Err(format!("expected {least} or more counts per category, got {}", counts.width));
        }
        let mut features: Vec<u32> = parts.iter().map(Part::feature).collect();
        features.sort_unstable();
        features.dedup();
        let mut digest = Sha256::new();
        digest.update(counts.digest);
        for part in &parts {
            let (kind, number) = match *part {
                Part::Category { .. } => (0, 0),
                Part::Above { threshold, missing_is_above, .. } => {
                    (1 + u64::from(missing_is_above), threshold.to_bits())
                }
                Part::Exactly { hash, .. } => (3, u64::from(hash)),
            };
            [kind, u64::from(part.feature()), number]
                .iter()
                .for_each(|word| digest.update(word.to_le_bytes()));
        }
        let (kind, class) = match rate.kind {
            RateKind::After(class) => (0u64, class),
            RateKind::Of(class) => (1, class),
            RateKind::Mean => (2, 0),
            RateKind::Counter => (3, 0),
        };
        [kind, class as u64].iter().for_each(|word| digest.update(word.to_le_bytes()));
        for number in [rate.prior, rate.prior_weight, rate.shift, rate.scale] {
            digest.update(number.to_bits().to_le_bytes());
        }
        Ok(Self {
            parts: parts.into(),
            features: features.into(),
            counts,
            rate,
            digest: digest.finalize().into(),
        })
    }

    /// Returns the features on which the statistic depends, in ascending order.
    pub fn features(&self) -> &[u32] {
        &self.features
    }

    /// Returns the statistic for a row. `cell` returns the row's value of a feature.
    pub fn value(&self, cell: impl Fn(usize) -> f64) -> f64 {
        let denominator = self.counts.denominator;
        match self.hash(cell).and_then(|hash| self.counts.counts(hash)) {
            Some(counts) => self.rate.of_counts(counts, denominator),
            None => self.rate.of_unknown(denominator),
        }
    }

    /// Returns whether the statistic for a row exceeds a border.
    pub(super) fn is_above(&self, border: f64, cell: impl Fn(usize) -> f64) -> bool {
        self.value(cell) > border
    }

    /// Returns the SHA-256 of everything on which the values of the statistic depend.
    pub(super) fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Returns the hash to look up in the table, or `None` if the value of a categorical feature is not the
    /// code of a category.
    fn hash(&self, cell: impl Fn(usize) -> f64) -> Option<u64> {
        self.parts.iter().try_fold(0, |hash, part| {
            let value = cell(part.feature() as usize);
            Some(joined(
                hash,
                match *part {
                    Part::Category { .. } => signed(hash_of_code(value)?),
                    Part::Above { missing_is_above, .. } if value.is_nan() => u64::from(missing_is_above),
                    Part::Above { threshold, .. } => u64::from(value >= threshold),
                    Part::Exactly { hash, .. } => u64::from(hash_of_code(value) == Some(hash)),
                },
            ))
        })
    }

    /// Iterates over the hashes of the categories in the table, if the category of one feature is the only
    /// input of the statistic. Otherwise, the iterator is empty.
    pub(crate) fn categories(&self) -> impl Iterator<Item = u32> {
        let hashes = match *self.parts {
            [Part::Category { .. }] => &self.counts.rows[..],
            _ => &[],
        };
        // The hash in the table is the hash of the category times the square of the multiplier.
        let inverse = inverse_of(MULTIPLIER.wrapping_mul(MULTIPLIER));
        hashes.iter().map(move |(hash, _)| hash.wrapping_mul(inverse) as u32)
    }
}

/// Computes the inverse of an odd number modulo 2^64 by Newton's method: each step doubles the number of
/// correct bits.
fn inverse_of(odd: u64) -> u64 {
    (0..6).fold(odd, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse))))
}

#[cfg(test)]
mod tests {
    use super::super::category::{category_hash, code_of_text};
    use super::*;

    const RATE: Rate =
        Rate { kind: RateKind::After(0), prior: 1.0, prior_weight: 1.0, shift: 0.5, scale: 2.0 };

    fn statistic(parts: Vec<Part>, rows: Vec<(u64, u32)>, rate: Rate) -> Statistic {
        let counts = Counts::new(rows, vec![3.0, 1.0, 0.0, 4.0], 2, 8.0).unwrap();
        Statistic::new(parts, Arc::new(counts), rate).unwrap()
    }

    /// If a statistic has a single feature, the hashes in its table can be converted back to the hashes of
    /// the categories.
    #[test]
    fn categories_are_told_by_the_hashes_of_tables() {
        for word in ["0", "3", "a", "", "longer word of category"] {
            let hash = joined(0, signed(category_hash(word)));
            let known = statistic(vec![Part::Category { feature: 3 }], vec![(hash, 1), (NOTHING, 0)], RATE);
            assert_eq!(known.categories().collect::<Vec<_>>(), [category_hash(word)]);
            // The ratios are (4 + 1) / (4 + 1), and (0 + 1) / (0 + 1) for unknown categories.
            assert_eq!(known.value(|_| code_of_text(word)), 3.0);
            assert_eq!(known.value(|_| code_of_text("other")), 3.0);
            assert_eq!(known.features(), [3]);
        }
    }

    #[test]
    fn rates_are_those_of_their_kind() {
        let hash = joined(0, signed(category_hash("a")));
        // The ratios are (1 + 1) / (4 + 1), (3 + 1) / (4 + 1), (3 + 1) / (1 + 1), (3 + 1) / (8 + 1), and the
        // ratios for unknown categories.
        for (kind, rates) in [
            (RateKind::After(0), [0.4, 1.0]),
            (RateKind::Of(0), [0.8, 1.0]),
            (RateKind::Mean, [2.0, 1.0]),
            (RateKind::Counter, [4.0 / 9.0, 1.0 / 9.0]),
        ] {
            let parts = vec![Part::Category { feature: 0 }];
            let statistic = statistic(parts, vec![(hash, 0)], Rate { kind, ..RATE });
            let values = ["a", "b"].map(|word| statistic.value(|_| code_of_text(word)));
            let expected = rates.map(|rate: f32| f64::from((rate + 0.5) * 2.0));
            assert_eq!(values, expected, "{kind:?}");
            assert_eq!(statistic.value(|_| 0.25), expected[1], "a number that is not a code");
        }
    }

    #[test]
    fn all_parts_of_a_combination_count() {
        let parts = vec![
            Part::Category { feature: 2 },
            Part::Above { feature: 0, threshold: 1.0, missing_is_above: true },
            Part::Exactly { feature: 2, hash: category_hash("a") },
        ];
        let hash = joined(joined(joined(0, signed(category_hash("a"))), 1), 1);
        let statistic = statistic(parts, vec![(hash, 0), (hash, 1)], Rate { kind: RateKind::Mean, ..RATE });
        assert_eq!(statistic.features(), [0, 2]);
        let a = code_of_text("a");
        for (row, value) in [
            ([1.0, 9.0, a], 5.0),
            ([f64::NAN, 9.0, a], 5.0),
            ([0.5, 9.0, a], 3.0),
            ([1.0, 9.0, code_of_text("b")], 3.0),
        ] {
            assert_eq!(statistic.value(|feature| row[feature]), value, "{row:?}");
        }
        assert_eq!(statistic.categories().count(), 0);
    }

    #[test]
    fn tables_that_are_too_small_are_refused() {
        let counts = |rows, width| Counts::new(rows, vec![1.0; 4], width, 0.0);
        assert!(
            counts(vec![(1, 2)], 2).is_err() && counts(vec![], 0).is_err() && counts(vec![], 257).is_err()
        );
        let counts = Arc::new(counts(vec![(1, 1)], 2).unwrap());
        for (kind, least) in [(RateKind::After(2), "3 or more"), (RateKind::Of(2), "3 or more")] {
            let parts = vec![Part::Category { feature: 0 }];
            let error = Statistic::new(parts, counts.clone(), Rate { kind, ..RATE }).unwrap_err();
            assert!(error.contains(least), "{error}");
        }
        assert!(Statistic::new(Vec::new(), counts, RATE).is_err());
    }
}
