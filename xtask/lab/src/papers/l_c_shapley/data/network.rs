//! A small convolutional network that distinguishes 3 from 8 in 8 × 8 pixels.
//!
//! It is trained by `data/train_digits38.py` and only evaluated here, in `f64`.

use anyhow::{Result, ensure};
use apportion::{Model, Rows};
use serde::Deserialize;

const WEIGHTS: &[u8] = include_bytes!("../../../../data/digits38_cnn.json");

/// SHA-256 of the file of weights.
const SHA256: &str = "67871dc52611de3d256b43eec683541f9ca31922edc63cffea07ec8ad6fc3c0c";

/// Height and width of an image, in pixels.
const SIDE: usize = 8;

/// Number of feature maps of the convolution.
const MAPS: usize = 8;

/// Number of entries of a feature map after 2 × 2 max pooling.
const POOLED: usize = SIDE * SIDE / 4;

/// A network with 209 parameters: 8 zero-padded convolutions of 3 × 3 pixels, max(0, ·), 2 × 2 max pooling,
/// one dense output.
///
/// The [`Model`] expects rows of 64 pixels between 0 and 1, and returns the log-odds of an 8.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SmallNetwork {
    /// One kernel per feature map: 3 × 3, row by row.
    kernels: Vec<Vec<f64>>,
    /// One bias per feature map.
    biases: Vec<f64>,
    /// Weights of the pooled values, in the order rows × columns × feature maps.
    dense: Vec<f64>,
    bias: f64,
}

impl SmallNetwork {
    /// Loads the embedded network.
    ///
    /// # Errors
    ///
    /// If its file has unexpected shapes.
    pub(crate) fn embedded() -> Result<Self> {
        Self::from_json(WEIGHTS)
    }

    fn from_json(json: &[u8]) -> Result<Self> {
        let network: Self = serde_json::from_slice(json)?;
        ensure!(
            network.kernels.len() == MAPS
                && network.kernels.iter().all(|kernel| kernel.len() == 9)
                && network.biases.len() == MAPS
                && network.dense.len() == POOLED * MAPS,
            "invalid network; expected 8 convolutions of 3 × 3 and a dense layer with 128 inputs"
        );
        Ok(network)
    }

    /// Returns the log-odds of an 8 for 64 pixels.
    pub(crate) fn logit(&self, pixels: &[f64]) -> f64 {
        // Pad the image with zeros.
        let mut padded = [[0.0; SIDE + 2]; SIDE + 2];
        for (row, pixels) in padded[1..].iter_mut().zip(pixels.chunks_exact(SIDE)) {
            row[1..=SIDE].copy_from_slice(pixels);
        }
        let mut logit = self.bias;
        for (map, (kernel, bias)) in self.kernels.iter().zip(&self.biases).enumerate() {
            let at = |row: usize, column: usize| -> f64 {
                let sum = |shift: usize| -> f64 {
                    let pixels = &padded[row + shift][column..column + 3];
                    kernel[3 * shift..3 * shift + 3]
                        .iter()
                        .zip(pixels)
                        .map(|(weight, pixel)| weight * pixel)
                        .sum()
                };
                bias + sum(0) + sum(1) + sum(2)
            };
            for block in 0..POOLED {
                let (row, column) = (2 * (block / (SIDE / 2)), 2 * (block % (SIDE / 2)));
                let largest = at(row, column)
                    .max(at(row, column + 1))
                    .max(at(row + 1, column))
                    .max(at(row + 1, column + 1));
                logit += self.dense[block * MAPS + map] * largest.max(0.0);
            }
        }
        logit
    }
}

impl Model for SmallNetwork {
    fn features(&self) -> Option<usize> {
        Some(SIDE * SIDE)
    }

    fn predict(
        &self,
        rows: Rows<'_>,
        out: &mut [f64],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        for (value, row) in out.iter_mut().zip(rows.iter()) {
            *value = self.logit(row);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::l_c_shapley::data::digits::{Digits, digits};
    use crate::papers::l_c_shapley::data::image_set::ImageSet;
    use crate::reproduce::store::sha256;

    #[test]
    fn the_embedded_file_is_the_one_known_by_its_hash() {
        assert_eq!(sha256(WEIGHTS), SHA256);
    }

    #[test]
    fn it_tells_digits_apart() {
        let network = SmallNetwork::embedded().unwrap();
        let Digits { train, test } = digits().unwrap();
        let right = |set: &ImageSet| {
            (0..set.len())
                .filter(|&index| (network.logit(set.image(index)) > 0.0) == (set.targets[index] == 1))
                .count()
        };
        assert_eq!((right(&train), right(&test)), (257, 100));
    }

    #[test]
    fn it_computes_what_the_trained_one_did() {
        // The images are rows 0 to 2 of the file, the first of the training part, and row 3, the first of the
        // test part.
        let network = SmallNetwork::embedded().unwrap();
        let Digits { train, test } = digits().unwrap();
        let images = [train.image(0), train.image(1), train.image(2), test.image(0)];
        let expected = [-8.144_037_786_519, 7.229_358_691_213, -10.296_301_658_344, 3.205_730_942_831];
        for (image, want) in images.iter().zip(expected) {
            let mut out = [0.0];
            network.predict(Rows::new(image, 64), &mut out).unwrap();
            assert!((out[0] - want).abs() < 1e-8, "{}, not {want}", out[0]);
        }
    }

    #[test]
    fn a_single_bright_pixel_is_seen_by_the_kernels_around_it() {
        // The expected logits are computed by hand. One feature map sums all nine pixels, with bias −½; all
        // dense weights are 1.
        let mut network = SmallNetwork {
            kernels: vec![vec![0.0; 9]; MAPS],
            biases: vec![0.0; MAPS],
            dense: vec![1.0; POOLED * MAPS],
            bias: 0.25,
        };
        network.kernels[5] = vec![1.0; 9];
        network.biases[5] = -0.5;
        // At the inner corner of a block, the pixel affects four blocks; at the corner of the image, one.
        let logit = |at: usize| {
            let mut pixels = [0.0; 64];
            pixels[at] = 1.0;
            network.logit(&pixels)
        };
        assert_eq!(logit(8 * 3 + 3), 0.25 + 4.0 * 0.5);
        assert_eq!(logit(0), 0.25 + 0.5);
        // A pixel on the border, in the second row of its block, affects two blocks.
        assert_eq!(logit(8), 0.25 + 2.0 * 0.5);
    }

    #[test]
    fn other_shapes_are_refused() {
        let json = br#"{"kernels": [[1.0]], "biases": [0.0], "dense": [1.0], "bias": 0.0}"#;
        assert!(SmallNetwork::from_json(json).unwrap_err().to_string().contains("3 × 3"));
    }
}
