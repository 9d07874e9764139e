//! Saliency: derivatives of a score with respect to each feature, by finite differences.
//!
//! # Notation
//!
//! `f` is a score of a model's outputs, `x` the explicand, `e_j` the unit vector of feature j, `h` the step.
//!
//! ```text
//! d_j = (f(x + h e_j) − f(x − h e_j)) / 2h  =  ∂f/∂x_j + O(h²)
//! ```
//!
//! # Numerical derivatives
//!
//! The published method computes exact gradients by backpropagation through the network. Here the model is a
//! black box, and the gradient is *numerical*: central differences, with two predictions per feature. They
//! require a smooth model that returns sufficiently precise values. For a forest or any other step function,
//! each difference is either zero or a jump divided by 2h.
//!
//! # Source
//!
//! Simonyan, Vedaldi and Zisserman, *Deep inside convolutional networks: visualising image classification
//! models and saliency maps*, 2013, section 3.1: `M_ij = max_c |w_h(i,j,c)|`, the largest absolute derivative
//! over the channels of a pixel. It is a baseline in section 5 of Chen, Song, Wainwright and Jordan,
//! *L-Shapley and C-Shapley*, 2019.

use apportion_games::{Background, Coalition, Coalitions, Game, GameError, MarginalGame, Model};

use crate::error::MediaError;
use crate::masked::Masked;

/// Maximum size of the coalitions that are evaluated as one batch of differences, in bits: 1 MiB.
const BATCH_BITS: usize = 1 << 23;

/// Numerical derivatives of a score with respect to the features of each player, by central differences.
///
/// ```
/// use apportion_games::Background;
/// use apportion_media::{Masked, Saliency};
///
/// let reference = Background::baseline(vec![0.0; 3])?;
/// let masked = Masked::new(vec![1.0, 2.0, 3.0], reference, vec![vec![0, 2], vec![1]])?;
/// let model = |row: &[f64]| 5.0 * row[0] + row[1] * row[1] - 7.0 * row[2];
/// let saliency = Saliency::numerical(&model, &masked, |outputs| outputs[0], Saliency::STEP)?;
/// let near = |values: Vec<f64>, wanted: [f64; 2]| {
///     values.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9)
/// };
/// assert!(near(saliency.magnitudes(), [7.0, 4.0]));
/// assert!(near(saliency.signed(), [-7.0, 4.0]));
/// # Ok::<(), apportion_media::MediaError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Saliency {
    derivatives: Vec<Vec<f64>>,
}

impl Saliency {
    /// Step for networks that compute in 32 bits on features of magnitude about 1, such as pixels from 0 to
    /// 1: 0.001.
    ///
    /// An error of ε in the score causes an error of ε / h in the derivative. For a smooth score, the
    /// truncation error is h² f‴ / 6. These two errors alone would suggest h = (3ε)^⅓, about 0.01. But
    /// networks of rectifiers and maxima have kinks. Each kink within a step causes an error of order h, so
    /// that h = √ε minimizes the total error up to a factor. The error was measured on five images and two
    /// such networks (8 and 16 channels, and 16 and 32 channels), by comparison with differences for the same
    /// weights in 64 bits. The relative Euclidean error of the map is 0.3 to 3% with this step, 3 to 9% with
    /// 0.01, and 2 to 3% with 0.0001.
    ///
    /// For features up to 255, use 255 times this step. For a smooth model in 64 bits, 1e-5 works.
    pub const STEP: f64 = 1e-3;

    /// Computes the derivatives of `score`, applied to the outputs of `model`, at the explicand of `masked`,
    /// with respect to every feature of a player.
    ///
    /// ```text
    /// d_j = (f(x + h e_j) − f(x − h e_j)) / 2h
    /// ```
    ///
    /// `score` maps all outputs of one row to a number, such as one of the outputs, a log-odds or a
    /// log-probability. The reference of `masked` is not used. For a black or white pixel, one of the two
    /// steps leaves the range of pixel values.
    ///
    /// This takes two predictions per feature, in batches of bounded size on all threads. A model that
    /// [supports rows near the explicand](Model::near) predicts these, since each row differs from the
    /// explicand in one feature.
    ///
    /// # Errors
    ///
    /// [`MediaError::Step`] unless `step` is positive and finite, [`MediaError::StepLost`] if a feature is so
    /// large that the step does not change it, [`MediaError::NoDerivative`] for a missing value,
    /// [`GameError::NotFinite`] for a score that is not finite (the error contains the feature as the
    /// coalition), and the errors of the model.
    pub fn numerical<M: Model + ?Sized>(
        model: &M,
        masked: &Masked,
        score: impl Fn(&[f64]) -> f64,
        step: f64,
    ) -> Result<Self, MediaError> {
        if !(step > 0.0 && step.is_finite()) {
            return Err(MediaError::Step { step });
        }
        let row = masked.explicand();
        let mut features: Vec<usize> = masked.players().iter().flatten().copied().collect();
        features.sort_unstable();
        for &feature in &features {
            let value = row[feature];
            if value.is_nan() {
                return Err(MediaError::NoDerivative { feature });
            }
            if value + step == value || value - step == value {
                return Err(MediaError::StepLost { feature, value, step });
            }
        }
        let moved = |by: f64| row.iter().map(|value| value + by).collect::<Vec<f64>>();
        let (above, below) = (moved(step), moved(-step));
        let scores_above = scores(model, row, &above, &features, &score)?;
        let scores_below = scores(model, row, &below, &features, &score)?;
        let mut by_feature = vec![0.0; row.len()];
        for ((&feature, up), down) in features.iter().zip(scores_above).zip(scores_below) {
            // Divide by the actual step, which differs slightly from 2h because x ± h is rounded.
            by_feature[feature] = (up - down) / (above[feature] - below[feature]);
        }
        let of_player = |mine: &Vec<usize>| mine.iter().map(|&feature| by_feature[feature]).collect();
        Ok(Self { derivatives: masked.players().iter().map(of_player).collect() })
    }

    /// Returns the derivatives with respect to the features of each player, in the order of its features.
    pub fn derivatives(&self) -> &[Vec<f64>] {
        &self.derivatives
    }

    /// Returns the largest absolute derivative over the features of each player. This is the saliency map of
    /// Simonyan et al. if players are pixels and features their channels.
    pub fn magnitudes(&self) -> Vec<f64> {
        self.signed().iter().map(|derivative| derivative.abs()).collect()
    }

    /// Returns, for each player, the derivative with the largest absolute value, with its sign: positive if
    /// the score rises with the feature. For ties, the first such derivative is returned.
    pub fn signed(&self) -> Vec<f64> {
        let larger = |a: f64, b: f64| if b.abs() > a.abs() { b } else { a };
        self.derivatives.iter().map(|mine| mine.iter().copied().fold(0.0, larger)).collect()
    }
}

/// Returns one score for each of `features`: the score of `row` with this feature replaced with its value in
/// `moved`.
fn scores<M: Model + ?Sized>(
    model: &M,
    row: &[f64],
    moved: &[f64],
    features: &[usize],
    score: impl Fn(&[f64]) -> f64,
) -> Result<Vec<f64>, GameError> {
    // Evaluate coalitions of one feature: the game distributes chunks over all threads, and predicts rows
    // near `row` if the model supports it.
    let background = Background::baseline(row)?;
    let game = MarginalGame::new(model, moved, &background)?;
    let outputs = game.outputs();
    let mut scores = Vec::with_capacity(features.len());
    for batch in features.chunks((BATCH_BITS / row.len()).max(1)) {
        let mut singles = Coalitions::with_capacity(row.len(), batch.len());
        batch.iter().for_each(|&feature| singles.push_members([feature]));
        let mut values = vec![0.0; batch.len() * outputs];
        game.values(&singles, &mut values)?;
        for (&feature, outputs) in batch.iter().zip(values.chunks_exact(outputs)) {
            let value = score(outputs);
            if !value.is_finite() {
                let coalition = Coalition::from_members(row.len(), [feature]);
                return Err(GameError::NotFinite { coalition, output: 0, value });
            }
            scores.push(value);
        }
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{BoxError, Changes, NearReference, Rows, batch_model};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn singles(row: &[f64]) -> Masked {
        let reference = Background::baseline(vec![0.0; row.len()]).unwrap();
        Masked::new(row.to_vec(), reference, (0..row.len()).map(|feature| vec![feature]).collect()).unwrap()
    }

    fn row(features: usize) -> Vec<f64> {
        (0..features).map(|feature| (feature as f64 * 1.7).sin()).collect()
    }

    /// Returns a smooth score, Σ_j w_j tanh(x_j) + Σ_j x_j x_{j+1} / 2.
    fn smooth(row: &[f64]) -> f64 {
        let own: f64 = row.iter().enumerate().map(|(at, x)| (at % 5 + 1) as f64 * x.tanh()).sum();
        own + row.windows(2).map(|pair| 0.5 * pair[0] * pair[1]).sum::<f64>()
    }

    fn gradient(row: &[f64]) -> Vec<f64> {
        let at = |index: usize| row.get(index).copied().unwrap_or(0.0);
        let neighbours = |index: usize| at(index + 1) + if index > 0 { at(index - 1) } else { 0.0 };
        let own = |index: usize| (index % 5 + 1) as f64 * (1.0 - at(index).tanh().powi(2));
        (0..row.len()).map(|index| own(index) + 0.5 * neighbours(index)).collect()
    }

    fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn differences_of_a_smooth_score_are_its_gradient() {
        for features in [1, 2, 7, 64, 65, 130, 300] {
            let row = row(features);
            let saliency = Saliency::numerical(&smooth, &singles(&row), |outputs| outputs[0], 1e-5).unwrap();
            // The rounding error is about 1e-16 · 300 / 1e-5.
            assert!(largest_difference(&saliency.signed(), &gradient(&row)) < 1e-8, "{features} features");
            // f‴ of 5 tanh is at most 10, so the error is at most 10 h² / 6.
            let coarse = Saliency::numerical(&smooth, &singles(&row), |outputs| outputs[0], 1e-2).unwrap();
            assert!(largest_difference(&coarse.signed(), &gradient(&row)) < 1.7e-4, "{features} features");
        }
    }

    #[test]
    fn players_have_the_largest_of_their_derivatives() {
        let row = row(6);
        let reference = Background::baseline(vec![0.0; 6]).unwrap();
        let players = vec![vec![5, 0], vec![2], vec![3, 1]];
        let masked = Masked::new(row.clone(), reference, players.clone()).unwrap();
        let saliency = Saliency::numerical(&smooth, &masked, |outputs| outputs[0], 1e-5).unwrap();
        let gradient = gradient(&row);
        for (player, mine) in players.iter().enumerate() {
            let expected: Vec<f64> = mine.iter().map(|&feature| gradient[feature]).collect();
            assert!(largest_difference(&saliency.derivatives()[player], &expected) < 1e-8);
            let magnitude = expected.iter().map(|derivative| derivative.abs()).fold(0.0, f64::max);
            assert!((saliency.magnitudes()[player] - magnitude).abs() < 1e-8);
            let signed = saliency.signed()[player];
            assert!(expected.iter().any(|derivative| (derivative - signed).abs() < 1e-8));
            assert_eq!(signed.abs(), saliency.magnitudes()[player]);
        }
    }

    #[test]
    fn the_score_is_of_all_outputs() {
        let logits = |rows: Rows<'_>| Ok(rows.iter().flat_map(|row| [row[0], 2.0 * row[1], 0.0]).collect());
        let log_probability = |outputs: &[f64]| -> f64 {
            outputs[1] - outputs.iter().map(|logit| logit.exp()).sum::<f64>().ln()
        };
        let row = [0.3, -0.4];
        let saliency =
            Saliency::numerical(&batch_model(3, logits), &singles(&row), log_probability, 1e-5).unwrap();
        let weights = [0.3_f64.exp(), (-0.8_f64).exp(), 1.0];
        let share = |class: usize| weights[class] / weights.iter().sum::<f64>();
        let expected = [-share(0), 2.0 - 2.0 * share(1)];
        assert!(largest_difference(&saliency.signed(), &expected) < 1e-9);
    }

    #[test]
    fn each_feature_of_a_player_takes_two_predictions() {
        let rows_seen = AtomicUsize::new(0);
        let model = |row: &[f64]| {
            rows_seen.fetch_add(1, Ordering::Relaxed);
            smooth(row)
        };
        let reference = Background::baseline(vec![0.0; 9]).unwrap();
        let masked = Masked::new(row(9), reference, vec![vec![7, 1], vec![4]]).unwrap();
        Saliency::numerical(&model, &masked, |outputs| outputs[0], Saliency::STEP).unwrap();
        assert_eq!(rows_seen.into_inner(), 6);
    }

    /// The model [`smooth`], which only predicts rows near a reference and returns an error for complete
    /// rows.
    struct OnlyNear;

    struct Near(Vec<f64>);

    impl NearReference for Near {
        fn max_changes(&self) -> usize {
            1
        }

        fn predict(&self, rows: &Changes, out: &mut [f64]) -> Result<(), BoxError> {
            for (value, changes) in out.iter_mut().zip(rows.iter()) {
                let mut row = self.0.clone();
                changes.iter().for_each(|&(feature, value)| row[feature] = value);
                *value = smooth(&row);
            }
            Ok(())
        }
    }

    impl Model for OnlyNear {
        fn near(&self, reference: &[f64]) -> Option<Box<dyn NearReference>> {
            Some(Box::new(Near(reference.to_vec())))
        }

        fn predict(&self, _: Rows<'_>, _: &mut [f64]) -> Result<(), BoxError> {
            Err("called for whole rows".into())
        }
    }

    #[test]
    fn a_model_that_knows_the_explicand_is_asked_there() {
        let masked = singles(&row(70));
        let of = |model: &dyn Model| {
            Saliency::numerical(model, &masked, |outputs| outputs[0], Saliency::STEP).unwrap()
        };
        assert_eq!(of(&OnlyNear), of(&smooth));
    }

    #[test]
    fn derivatives_have_the_same_bits_on_any_number_of_threads() {
        let masked = singles(&row(200));
        let of = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Saliency::numerical(&smooth, &masked, |outputs| outputs[0], 1e-3).unwrap())
        };
        assert_eq!(of(1), of(4));
    }

    #[test]
    fn what_has_no_differences_is_refused() {
        let refusal = |row: &[f64], step| {
            Saliency::numerical(&smooth, &singles(row), |outputs| outputs[0], step).unwrap_err()
        };
        for step in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
            assert!(matches!(refusal(&[1.0], step), MediaError::Step { .. }), "{step}");
        }
        let lost = refusal(&[1.0, 1e17], 1e-3);
        assert!(matches!(lost, MediaError::StepLost { feature: 1, .. }), "{lost}");
        let missing = refusal(&[f64::NAN, 1.0], 1e-3);
        assert!(matches!(missing, MediaError::NoDerivative { feature: 0 }), "{missing}");
        let score = |outputs: &[f64]| (outputs[0] - 1.0).ln();
        let refused = Saliency::numerical(&|row: &[f64]| row[0], &singles(&[1.0]), score, 1e-3).unwrap_err();
        assert!(matches!(refused, MediaError::Game(GameError::NotFinite { .. })), "{refused}");
    }
}
