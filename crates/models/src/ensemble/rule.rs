//! Rules of splits that do not compare with a threshold.

use std::sync::Arc;

use super::category::hash_of_code;
use super::statistic::Statistic;

/// Sets whose members are all below this number are stored as bits; other sets are stored as sorted lists.
const DENSE: u32 = 1 << 14;

/// Exclusive upper bound of categories: 2^32.
const CATEGORIES: f64 = 4_294_967_296.0;

/// A rule of a split other than a comparison with a threshold. Missing values (NaN) follow the split's
/// default direction and are never passed to a rule.
///
/// If one tree of the file becomes several trees, one for each output, they share the lists of their rules.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rule {
    /// Membership of a category in a set. The category is x̂ rounded toward zero. Members go to one side, all
    /// other values to the other side.
    Set {
        members: CategorySet,
        members_go_left: bool,
        /// Whether numbers between −1 and 0 are treated as category 0 (LightGBM) instead of as negative
        /// (XGBoost).
        negative_fraction_is_zero: bool,
    },
    /// Left iff x̂ equals one of these numbers, which are in ascending order.
    Exactly(Arc<[f64]>),
    /// Left iff lowest ≤ x̂ ≤ highest.
    Between { lowest: f64, highest: f64 },
    /// Left iff x̂ < threshold, except that each of these numbers (in ascending order) goes to the other
    /// side.
    Except { threshold: f64, numbers: Arc<[f64]> },
    /// Left iff x̂ < threshold, except that numbers up to [`ZERO`] in absolute value are treated as missing.
    ZeroIsMissing { threshold: f64 },
    /// Right iff x̂ is the code of a category with this hash.
    Hashed(u32),
    /// Right iff a statistic of the category with the code x̂ exceeds the border.
    Statistic { statistic: Arc<Statistic>, border: f64 },
}

/// The largest absolute value of numbers that LightGBM treats as zero: `1e-35` as `f32`.
pub(crate) const ZERO: f64 = 1e-35_f32 as f64;

impl Rule {
    /// The rule that sends every number left, including infinity.
    pub(crate) const ANY_NUMBER: Self = Self::Between { lowest: f64::NEG_INFINITY, highest: f64::INFINITY };

    /// Creates the rule that sends x̂ left iff it equals one of `numbers`.
    pub(crate) fn exactly(mut numbers: Vec<f64>) -> Self {
        numbers.sort_unstable_by(f64::total_cmp);
        Self::Exactly(numbers.into())
    }

    /// Creates the rule that sends x̂ left iff x̂ < threshold, except that each of these numbers goes to the
    /// other side.
    pub(crate) fn except(threshold: f64, mut numbers: Vec<f64>) -> Self {
        numbers.sort_unstable_by(f64::total_cmp);
        Self::Except { threshold, numbers: numbers.into() }
    }

    /// Returns whether a threshold or number in the rule is NaN, which is invalid.
    pub(super) fn has_nan(&self) -> bool {
        match self {
            Self::Set { .. } | Self::Hashed(_) => false,
            Self::Exactly(numbers) => numbers.iter().any(|number| number.is_nan()),
            Self::Between { lowest, highest } => lowest.is_nan() || highest.is_nan(),
            Self::Except { threshold, numbers } => {
                threshold.is_nan() || numbers.iter().any(|number| number.is_nan())
            }
            Self::ZeroIsMissing { threshold: number } | Self::Statistic { border: number, .. } => {
                number.is_nan()
            }
        }
    }

    /// Returns whether a value that is not missing goes left.
    #[inline]
    pub(crate) fn goes_left(&self, value: f64, default_left: bool) -> bool {
        match self {
            Self::Set { members, members_go_left, negative_fraction_is_zero } => {
                let least = if *negative_fraction_is_zero { value > -1.0 } else { value >= 0.0 };
                (least && value < CATEGORIES && members.contains(value as u32)) == *members_go_left
            }
            Self::Exactly(numbers) => contains(numbers, value),
            Self::Except { threshold, numbers } => (value < *threshold) != contains(numbers, value),
            Self::Between { lowest, highest } => *lowest <= value && value <= *highest,
            Self::ZeroIsMissing { .. } if value.abs() <= ZERO => default_left,
            Self::ZeroIsMissing { threshold } => value < *threshold,
            Self::Hashed(hash) => hash_of_code(value) != Some(*hash),
            // A statistic that is NaN counts as not above the border.
            Self::Statistic { statistic, border } => !statistic.is_above(*border, |_| value),
        }
    }
}

/// Returns whether a number is in a list in ascending order.
#[inline]
fn contains(numbers: &[f64], value: f64) -> bool {
    numbers.get(numbers.partition_point(|&number| number < value)) == Some(&value)
}

/// A set of integers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CategorySet {
    Dense(Arc<[u64]>),
    /// The members in ascending order.
    Sparse(Arc<[u32]>),
}

impl CategorySet {
    pub(crate) fn new(mut members: Vec<u32>) -> Self {
        members.sort_unstable();
        members.dedup();
        match members.last() {
            Some(&last) if last >= DENSE => Self::Sparse(members.into()),
            last => {
                let mut words = vec![0; last.map_or(0, |&last| last as usize / 64 + 1)];
                for member in members {
                    words[member as usize / 64] |= 1 << (member % 64);
                }
                Self::Dense(words.into())
            }
        }
    }

    #[inline]
    fn contains(&self, category: u32) -> bool {
        match self {
            Self::Dense(words) => {
                words.get(category as usize / 64).is_some_and(|word| word >> (category % 64) & 1 == 1)
            }
            Self::Sparse(members) => members.binary_search(&category).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_bits_and_lists_hold_their_members() {
        for members in [vec![], vec![0], vec![63, 64, 5, 5], vec![3, 16_777_215], vec![1 << 14, 0]] {
            let set = CategorySet::new(members.clone());
            for category in (0..200).chain([1 << 14, 16_777_214, 16_777_215]) {
                assert_eq!(set.contains(category), members.contains(&category), "{members:?}, {category}");
            }
        }
    }

    #[test]
    fn members_go_one_way_and_all_others_the_other() {
        let rule = |members_go_left, negative_fraction_is_zero| Rule::Set {
            members: CategorySet::new(vec![0, 2]),
            members_go_left,
            negative_fraction_is_zero,
        };
        let cases = [
            (0.0, true),
            (0.9, true),
            (1.0, false),
            (2.5, true),
            (-1.0, false),
            (1e9, false),
            (4_294_967_296.0, false),
            (4_294_967_298.0, false),
        ];
        for (value, member) in cases {
            for fraction in [false, true] {
                assert_eq!(rule(true, fraction).goes_left(value, false), member, "{value}");
                assert_eq!(rule(false, fraction).goes_left(value, false), !member, "{value}");
            }
        }
        assert!(!rule(true, false).goes_left(-0.5, false) && rule(true, true).goes_left(-0.5, false));
    }

    #[test]
    fn zero_is_missing_where_the_rule_says() {
        let rule = Rule::ZeroIsMissing { threshold: 1.0 };
        for zero in [0.0, -0.0, 1e-36, -1e-36] {
            assert!(rule.goes_left(zero, true) && !rule.goes_left(zero, false));
        }
        assert!(rule.goes_left(1e-34, false) && !rule.goes_left(1.0, true));
        let equal = Rule::exactly(vec![2.0, -1.5]);
        assert!(equal.goes_left(-1.5, false) && equal.goes_left(2.0, false) && !equal.goes_left(1.0, true));
    }

    #[test]
    fn excepted_numbers_go_to_the_other_side() {
        let rule = Rule::except(2.0, vec![5.0, -1.0, 0.0]);
        let cases = [
            (-1.0, false),
            (-0.0, false),
            (0.0, false),
            (1.0, true),
            (2.0, false),
            (5.0, true),
            (6.0, false),
        ];
        for (value, left) in cases {
            assert_eq!(rule.goes_left(value, !left), left, "{value}");
        }
        assert!(Rule::except(f64::NAN, vec![1.0]).has_nan() && Rule::except(1.0, vec![f64::NAN]).has_nan());
        assert!(!rule.has_nan());
    }

    #[test]
    fn both_ends_of_an_interval_belong_to_it() {
        let rule = Rule::Between { lowest: -1.0, highest: 2.0 };
        assert!([-1.0, 0.0, 2.0].into_iter().all(|value| rule.goes_left(value, false)));
        assert!(
            ![f64::MIN, (-1.0f64).next_down(), 2.0f64.next_up()]
                .into_iter()
                .any(|value| rule.goes_left(value, true))
        );
        let rule = Rule::Between { lowest: 0.0, highest: f64::INFINITY };
        assert!(
            rule.goes_left(-0.0, false) && rule.goes_left(f64::MAX, false) && !rule.goes_left(-1e-300, true)
        );
    }
}
