//! Which numbers stand for the categories of a one-hot split.
//!
//! CatBoost takes a category for text, a whole number for its decimal digits, and keeps only the lower half of a 64-bit hash of it:
//! CityHash, version 1.0. The file has these hashes and not the categories. So that rows of numbers can be explained, the hashes of
//! the whole numbers up to [`MOST`] are looked through. Numbers with the same hash are the same category for CatBoost,
//! too. The hash of another text is among them by chance with a probability of 3e-5.

use std::cell::OnceCell;

use crate::ensemble::Rule;

/// The largest whole number that is looked for, and the negative of the smallest.
pub(super) const MOST: i32 = 1 << 16;

/// The hashes of whole numbers, computed when the first is asked for.
#[derive(Default)]
pub(super) struct Categories {
    /// In ascending order, each with its number.
    hashes: OnceCell<Vec<(u32, i32)>>,
}

impl Categories {
    /// The rule that sends left whatever whole number has this hash; `None` where none has.
    pub(super) fn rule(&self, hash: u32) -> Option<Rule> {
        let hashes = self.hashes.get_or_init(|| {
            let mut hashes: Vec<(u32, i32)> =
                (-MOST..=MOST).map(|number| (category_hash(&number.to_string()), number)).collect();
            hashes.sort_unstable();
            hashes
        });
        let first = hashes.partition_point(|&(known, _)| known < hash);
        let numbers: Vec<f64> = hashes[first..]
            .iter()
            .take_while(|&&(known, _)| known == hash)
            .map(|&(_, number)| f64::from(number))
            .collect();
        (!numbers.is_empty()).then(|| Rule::exactly(numbers))
    }
}

/// What CatBoost keeps of a category: the lower half of [`short_hash`].
fn category_hash(text: &str) -> u32 {
    short_hash(text.as_bytes()) as u32
}

const K2: u64 = 0x9ae1_6a3b_2f90_404f;
const K3: u64 = 0xc949_d7c7_509e_6557;
const MULTIPLIER: u64 = 0x9ddf_ea08_eb38_2d69;

/// CityHash64 of version 1.0 for at most 8 bytes, which is all that [`MOST`] needs.
fn short_hash(bytes: &[u8]) -> u64 {
    let length = bytes.len() as u64;
    debug_assert!(length <= 8, "longer texts are hashed otherwise");
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return hash_pair(length + (u64::from(first) << 3), u64::from(last));
    }
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return K2 };
    let middle = bytes[bytes.len() / 2];
    let y = u64::from(first) + (u64::from(middle) << 8);
    let z = length + (u64::from(last) << 2);
    fold(y.wrapping_mul(K2) ^ z.wrapping_mul(K3)).wrapping_mul(K2)
}

fn hash_pair(low: u64, high: u64) -> u64 {
    let a = fold((low ^ high).wrapping_mul(MULTIPLIER));
    fold((high ^ a).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER)
}

fn fold(bits: u64) -> u64 {
    bits ^ bits >> 47
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As CatBoost 1.2.10 wrote them for one-hot splits on these categories.
    #[test]
    fn hashes_are_those_of_catboost() {
        for (text, hash) in [
            ("0", -1_438_285_038),
            ("1", 1_121_341_681),
            ("7", -17_943_309),
            ("42", 1_145_636_304),
            ("123", 1_577_207_979),
            ("-1", 288_298_918),
            ("1234", -1_848_678_467),
            ("65535", 2_108_729_662),
            ("v", -1_706_589_142),
            ("w", -1_196_738_607_i32),
        ] {
            assert_eq!(category_hash(text) as i32, hash, "{text}");
        }
    }

    #[test]
    fn every_whole_number_in_reach_is_found_by_its_hash() {
        let categories = Categories::default();
        for number in [0, 1, -1, 99, -MOST, MOST, 12_345] {
            let Some(Rule::Exactly(numbers)) = categories.rule(category_hash(&number.to_string())) else {
                panic!("{number} was not found");
            };
            assert!(numbers.contains(&f64::from(number)), "{number} is not among {numbers:?}");
        }
        for text in ["v", "1.0", "nan", "65537", "-65537", ""] {
            assert_eq!(categories.rule(category_hash(text)), None, "{text}");
        }
    }
}
