//! Sets of images with equal size, each image in one of two classes.

use anyhow::{Context, Result, ensure};

use super::byte_matrix::byte_matrix;

/// A set of images of one size, with pixels between 0 and 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ImageSet {
    pub(crate) channels: usize,
    /// Height and width of the images in pixels, which are equal.
    pub(crate) side: usize,
    /// Names of the classes.
    pub(crate) classes: &'static [&'static str],
    /// Images × channels × rows × columns: channel by channel, each row by row, as expected by convolutions.
    pixels: Vec<f64>,
    pub(crate) targets: Vec<usize>,
}

impl ImageSet {
    /// Reads CSV with a header: the pixels row by row, with the channels of each pixel together, as numbers
    /// from 0 to `white`; then the class. Each pixel is divided by `white` and rounded to a 32-bit float, as
    /// in the training of the networks.
    ///
    /// # Errors
    ///
    /// If a row has the wrong length, the number of rows is wrong, or a cell is not a number in range.
    pub(super) fn read(
        bytes: &[u8],
        rows: usize,
        (channels, side): (usize, usize),
        white: f64,
        classes: &'static [&'static str],
    ) -> Result<Self> {
        let columns = channels * side * side;
        let mut set =
            Self { channels, side, classes, pixels: Vec::with_capacity(rows * columns), targets: Vec::new() };
        let mut reader = csv::Reader::from_reader(bytes);
        for record in reader.records() {
            let record = record?;
            ensure!(
                record.len() == columns + 1,
                "wrong number of columns in a row: {}, expected {}",
                record.len(),
                columns + 1
            );
            for channel in 0..channels {
                for cell in record.iter().take(columns).skip(channel).step_by(channels) {
                    let value: f64 = cell.parse().with_context(|| format!("{cell:?} is not a number"))?;
                    ensure!(
                        (0.0..=white).contains(&value),
                        "invalid pixel value {value}; expected 0 to {white}"
                    );
                    set.pixels.push(f64::from((value / white) as f32));
                }
            }
            set.targets.push(super::text_set::class(&record[columns])?);
        }
        set.checked(rows)
    }

    /// Reads a matrix of bytes: the pixels row by row, with the channels of each pixel together, from 0 to
    /// 255; then the class. Pixels become 32-bit floats as in [`read`](Self::read).
    ///
    /// # Errors
    ///
    /// If the file is invalid, the number of rows is wrong, or a class does not exist.
    pub(super) fn from_bytes(
        bytes: &[u8],
        rows: usize,
        (channels, side): (usize, usize),
        classes: &'static [&'static str],
    ) -> Result<Self> {
        let columns = channels * side * side;
        let mut set =
            Self { channels, side, classes, pixels: Vec::with_capacity(rows * columns), targets: Vec::new() };
        for row in byte_matrix(bytes, columns + 1)? {
            for channel in 0..channels {
                let pixels = row[..columns].iter().skip(channel).step_by(channels);
                set.pixels.extend(pixels.map(|&pixel| f64::from((f64::from(pixel) / 255.0) as f32)));
            }
            set.targets.push(usize::from(row[columns]));
        }
        set.checked(rows)
    }

    fn checked(self, rows: usize) -> Result<Self> {
        ensure!(self.targets.len() == rows, "found {} images, expected {rows}", self.targets.len());
        ensure!(
            self.targets.iter().all(|&target| target < self.classes.len()),
            "the class of an image is out of range"
        );
        Ok(self)
    }

    /// Returns the number of images.
    pub(crate) fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns the pixels of image `index`: channels × rows × columns.
    pub(crate) fn image(&self, index: usize) -> &[f64] {
        let columns = self.columns();
        &self.pixels[index * columns..(index + 1) * columns]
    }

    /// Returns the number of values per image.
    pub(crate) fn columns(&self) -> usize {
        self.channels * self.side * self.side
    }

    /// Returns the mean of all pixels over all images and channels: the reference value of absent pixels.
    pub(crate) fn mean(&self) -> f64 {
        // Sum by image first, to reduce rounding errors.
        let sums = self.pixels.chunks_exact(self.columns()).map(|image| image.iter().sum::<f64>());
        sums.sum::<f64>() / self.pixels.len() as f64
    }

    /// Returns the images whose index satisfies `keep`.
    pub(super) fn filtered(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.len()).filter(|&index| keep(index)).collect();
        Self {
            pixels: kept.iter().flat_map(|&index| self.image(index)).copied().collect(),
            targets: kept.iter().map(|&index| self.targets[index]).collect(),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str =
        "r,g,b,r,g,b,r,g,b,r,g,b,target\n0,1,2,3,4,5,6,7,8,9,10,10,1\n0,0,0,0,0,0,0,0,0,0,0,5,0\n";

    #[test]
    fn channels_come_one_after_the_other() {
        let set = ImageSet::read(TWO.as_bytes(), 2, (3, 2), 10.0, &["a", "b"]).unwrap();
        let expected = [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 10].map(|tenths| f64::from(tenths as f32 / 10.0));
        assert!(set.image(0).iter().zip(expected).all(|(got, want)| (got - want).abs() < 1e-7));
        assert_eq!(set.image(0)[1], f64::from(0.3_f32));
        assert_eq!(set.targets, [1, 0]);
        assert!((set.mean() - 7.0 / 24.0).abs() < 1e-7);
        let second = set.filtered(|index| index == 1);
        assert_eq!((second.len(), second.image(0), second.targets[0]), (1, set.image(1), 0));
    }

    #[test]
    fn bytes_are_read_as_tables_are() {
        let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 13), }";
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        let rows = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0]];
        let file = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &rows.concat()].concat();
        let table = ImageSet::read(TWO.as_bytes(), 2, (3, 2), 255.0, &["a", "b"]).unwrap();
        assert_eq!(ImageSet::from_bytes(&file, 2, (3, 2), &["a", "b"]).unwrap(), table);
        let error =
            |rows, classes| ImageSet::from_bytes(&file, rows, (3, 2), classes).unwrap_err().to_string();
        assert!(error(3, &["a", "b"]).contains("2 images, expected 3"));
        assert!(error(2, &["a"]).contains("the class of an image is out of range"));
    }

    #[test]
    fn other_tables_are_refused() {
        let error = |text: &str, rows, side| {
            ImageSet::read(text.as_bytes(), rows, (3, side), 10.0, &["a", "b"]).unwrap_err().to_string()
        };
        assert!(error(TWO, 3, 2).contains("2 images, expected 3"));
        assert!(error(TWO, 2, 1).contains("columns in a row: 13, expected 4"));
        assert!(error(&TWO.replace("8,9", "8,11"), 2, 2).contains("invalid pixel value 11"));
        assert!(error(&TWO.replace("8,9", "8,x"), 2, 2).contains("\"x\" is not a number"));
        assert!(
            error(&TWO.replace("10,1\n", "10,2\n"), 2, 2).contains("the class of an image is out of range")
        );
    }
}
