//! The digits 3 and 8 of scikit-learn's digits dataset: 8 × 8 pixels with 17 shades.
//!
//! # Source
//!
//! Alpaydin and Kaynak, *Optical Recognition of Handwritten Digits* (UCI Machine Learning Repository, 1998,
//! CC BY 4.0), as shipped with scikit-learn (`load_digits`, BSD-3-Clause): all 357 rows of these two digits,
//! in their original order.

use anyhow::Result;

use super::image_set::ImageSet;
use crate::reproduce::datasets::unpack;

/// Gzipped CSV: pixels from 0 to 16, row by row; target 0 for a 3, 1 for an 8.
const PACKED: &[u8] = include_bytes!("../../../../data/digits38.csv.gz");

/// Hash of the decompressed file.
const SHA256: &str = "80e9dddf504057160864ed7afc6ae554b366321e0fbc87a50e951efc5d04da81";

const ROWS: usize = 357;

/// Number of test digits, which the network was not trained on.
const TEST: usize = 100;

/// The digits, split into two parts.
#[derive(Debug, Clone)]
pub(crate) struct Digits {
    /// The training part: 257 images.
    pub(crate) train: ImageSet,
    /// The test part: 100 images.
    pub(crate) test: ImageSet,
}

/// Returns whether row `index` belongs to the test part: rows at which ⌊100 (index + 1) / 357⌋ increases,
/// which are spread evenly over the file.
fn is_test(index: usize) -> bool {
    TEST * (index + 1) / ROWS > TEST * index / ROWS
}

/// Returns the embedded digits. The mean of the [training part](ImageSet::mean) is the reference pixel.
///
/// # Errors
///
/// If the embedded file cannot be read.
pub(crate) fn digits() -> Result<Digits> {
    let all = ImageSet::read(&unpack(PACKED)?, ROWS, (1, 8), 16.0, &["3", "8"])?;
    Ok(Digits { train: all.filtered(|index| !is_test(index)), test: all.filtered(is_test) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::store::sha256;

    #[test]
    fn the_embedded_file_is_the_one_known_by_its_hash() {
        assert_eq!(sha256(&unpack(PACKED).unwrap()), SHA256);
    }

    #[test]
    fn there_are_257_digits_to_train_on_and_100_to_test() {
        let Digits { train, test } = digits().unwrap();
        assert_eq!((train.len(), test.len()), (257, 100));
        let eights = |set: &ImageSet| set.targets.iter().sum::<usize>();
        assert_eq!(eights(&train) + eights(&test), 174);
        assert!((40..=60).contains(&eights(&test)), "{}", eights(&test));
        // The first row at which ⌊100 (index + 1) / 357⌋ increases is the fourth: ⌊400/357⌋ = 1.
        assert_eq!((0..12).filter(|&index| is_test(index)).collect::<Vec<_>>(), [3, 7, 10]);
        assert!((train.mean() - 0.311_101_653_696).abs() < 1e-8, "{}", train.mean());
        assert!((test.mean() - 0.309_443_359_375).abs() < 1e-8, "{}", test.mean());
    }
}
