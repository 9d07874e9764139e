//! Coalition values computed from the outputs of a classifier: the scores of section 2.1 of Chen, Song,
//! Wainwright and Jordan, *L-Shapley and C-Shapley: efficient model interpretation for structured data*,
//! 2019.
//!
//! # Notation
//!
//! `P(y | x_S)` is the probability of class y that the classifier predicts if the players in S are present
//! and all other players take the values of the reference. With several reference rows, it is the average of
//! the probabilities over these rows, and the logarithm is taken after averaging; build such games from
//! [`Probabilities`]. Logarithms are natural.

mod outputs;
mod probabilities;
mod scored_game;

use crate::error::MediaError;

pub use outputs::Outputs;
pub use probabilities::Probabilities;
pub use scored_game::ScoredGame;

/// Maximum difference between 1 and the sum of a distribution.
const DISTRIBUTION_TOLERANCE: f64 = 1e-6;

/// The value of a coalition S, as a function of the probabilities `P(y | x_S)` of the classes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Score {
    /// `v(S) = log P(class | x_S)`. The experiments of Chen, Song, Wainwright and Jordan (2019) explain this
    /// score for the predicted class.
    LogProbability {
        /// Index of the class.
        class: usize,
    },
    /// `v(S) = Σ_y P(y | x) log P(y | x_S)`, the first displayed equation in section 2.1 of Chen et al.
    /// (2019): the log-probability expected under the model's own distribution.
    ///
    /// Classes of probability zero in `distribution` contribute nothing.
    ExpectedLogProbability {
        /// `P(y | x)` for each class y.
        distribution: Vec<f64>,
    },
    /// `v(S) = log P(class | x_S) − log(1 − P(class | x_S))`. Figures 2 and 3 of Chen et al. (2019) measure
    /// the effect of masking with this score.
    LogOdds {
        /// Index of the class.
        class: usize,
    },
}

impl Score {
    /// Returns the log-probability score of the predicted class, given the outputs of the classifier for the
    /// explicand.
    ///
    /// # Errors
    ///
    /// Same as [`Outputs::predicted_class`].
    pub fn for_predicted_class(kind: Outputs, outputs: &[f64]) -> Result<Self, MediaError> {
        Ok(Self::LogProbability { class: kind.predicted_class(outputs)? })
    }

    /// Returns the score of the expected log-probability, given the outputs of the classifier for the
    /// explicand.
    ///
    /// # Errors
    ///
    /// Same as [`Outputs::class_probabilities`].
    pub fn expected(kind: Outputs, outputs: &[f64]) -> Result<Self, MediaError> {
        Ok(Self::ExpectedLogProbability { distribution: kind.class_probabilities(outputs)? })
    }

    /// Computes the score from the outputs for one row; it may be infinite if a probability is 0 or 1.
    ///
    /// ```
    /// use apportion_media::{Outputs, Score};
    ///
    /// let score = Score::LogProbability { class: 1 };
    /// assert_eq!(score.evaluate(Outputs::Probabilities, &[0.75, 0.25])?, 0.25_f64.ln());
    /// assert_eq!(Score::LogOdds { class: 1 }.evaluate(Outputs::Logits, &[-0.5])?, -0.5);
    /// # Ok::<(), apportion_media::MediaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MediaError::NoSuchClass`] and [`MediaError::ClassDistribution`] if the score does not fit the number
    /// of classes; [`MediaError::NotALogit`], [`MediaError::NotAProbability`] and
    /// [`MediaError::ProbabilitySum`] if the outputs are not valid for `kind`.
    pub fn evaluate(&self, kind: Outputs, outputs: &[f64]) -> Result<f64, MediaError> {
        self.check(kind.classes(outputs.len()))?;
        kind.check(outputs)?;
        Ok(self.unchecked(kind, outputs))
    }

    /// Returns an error unless the score is valid for this number of classes.
    fn check(&self, classes: usize) -> Result<(), MediaError> {
        match self {
            Self::LogProbability { class } | Self::LogOdds { class } => outputs::check_class(*class, classes),
            Self::ExpectedLogProbability { distribution } => {
                let refuse = |problem| Err(MediaError::ClassDistribution { classes, problem });
                if distribution.len() != classes {
                    return refuse(format!("the number of probabilities is {}", distribution.len()));
                }
                if let Some(class) = distribution.iter().position(|p| !(0.0..=1.0).contains(p)) {
                    return refuse(format!("the probability of class {class} is {}", distribution[class]));
                }
                let sum: f64 = distribution.iter().sum();
                match (sum - 1.0).abs() <= DISTRIBUTION_TOLERANCE {
                    true => Ok(()),
                    false => refuse(format!("the probabilities sum to {sum}")),
                }
            }
        }
    }

    /// Computes the score from validated outputs.
    fn unchecked(&self, kind: Outputs, outputs: &[f64]) -> f64 {
        match self {
            Self::LogProbability { class } => kind.log_probability(outputs, *class),
            Self::LogOdds { class } => kind.log_odds_unchecked(outputs, *class),
            Self::ExpectedLogProbability { distribution } => {
                let term = |(class, p): (usize, &f64)| p * kind.log_probability(outputs, class);
                distribution.iter().enumerate().filter(|(_, p)| **p > 0.0).map(term).sum()
            }
        }
    }
}
