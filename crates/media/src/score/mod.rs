//! What a coalition is worth by what a classifier says of it: the scores of section 2.1 of Chen, Song, Wainwright and Jordan, *L-Shapley
//! and C-Shapley: efficient model interpretation for structured data*, 2019.
//!
//! # Notation
//!
//! `P(y | x_S)` is the probability that the classifier gives class y where the players in S are there, and the others as the reference has
//! them. With several reference rows it is the average of the probabilities, and the logarithm is taken after it: such games are of
//! [`Probabilities`]. Logarithms are natural.

mod outputs;
mod probabilities;
mod scored_game;

use crate::error::MediaError;

pub use outputs::Outputs;
pub use probabilities::Probabilities;
pub use scored_game::ScoredGame;

/// How far the sum of a law may be from 1.
const LAW_TOLERANCE: f64 = 1e-6;

/// What a coalition S is worth, by the probabilities `P(y | x_S)` of the classes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Score {
    /// `v(S) = log P(class | x_S)`. Of the predicted class it is what the experiments of the paper explain.
    LogProbability {
        /// The class.
        class: usize,
    },
    /// `v(S) = Σ_y P(y | x) log P(y | x_S)`, the first display of section 2.1: the log-probability expected under the model's own law.
    ///
    /// Classes of probability zero in the law add nothing.
    ExpectedLogProbability {
        /// `P(y | x)` for each class y.
        law: Vec<f64>,
    },
    /// `v(S) = log P(class | x_S) − log(1 − P(class | x_S))`, by which figures 2 and 3 of the paper measure what masking does.
    LogOdds {
        /// The class.
        class: usize,
    },
}

impl Score {
    /// The log-probability of the class that the classifier predicts, from its outputs for the explicand.
    ///
    /// # Errors
    ///
    /// As [`Outputs::predicted_class`].
    pub fn of_predicted_class(kind: Outputs, outputs: &[f64]) -> Result<Self, MediaError> {
        Ok(Self::LogProbability { class: kind.predicted_class(outputs)? })
    }

    /// The log-probability expected under what the classifier says of the explicand, from its outputs there.
    ///
    /// # Errors
    ///
    /// As [`Outputs::class_probabilities`].
    pub fn expected(kind: Outputs, outputs: &[f64]) -> Result<Self, MediaError> {
        Ok(Self::ExpectedLogProbability { law: kind.class_probabilities(outputs)? })
    }

    /// The score by the outputs of one row; may be infinite where a probability is 0 or 1.
    ///
    /// ```
    /// use apportion_media::{Outputs, Score};
    ///
    /// let score = Score::LogProbability { class: 1 };
    /// assert_eq!(score.of(Outputs::Probabilities, &[0.75, 0.25])?, 0.25_f64.ln());
    /// assert_eq!(Score::LogOdds { class: 1 }.of(Outputs::Logits, &[-0.5])?, -0.5);
    /// # Ok::<(), apportion_media::MediaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MediaError::NoSuchClass`] and [`MediaError::LawOfClasses`] where the score is not one of these classes;
    /// [`MediaError::NotALogit`], [`MediaError::NotAProbability`] and [`MediaError::ProbabilitySum`] where the outputs are not what `kind`
    /// says.
    pub fn of(&self, kind: Outputs, outputs: &[f64]) -> Result<f64, MediaError> {
        self.check(kind.classes(outputs.len()))?;
        kind.check(outputs)?;
        Ok(self.unchecked(kind, outputs))
    }

    /// Whether this is a score of that many classes.
    fn check(&self, classes: usize) -> Result<(), MediaError> {
        match self {
            Self::LogProbability { class } | Self::LogOdds { class } => outputs::check_class(*class, classes),
            Self::ExpectedLogProbability { law } => {
                let refuse = |problem| Err(MediaError::LawOfClasses { classes, problem });
                if law.len() != classes {
                    return refuse(format!("{} were given", law.len()));
                }
                if let Some(class) = law.iter().position(|p| !(0.0..=1.0).contains(p)) {
                    return refuse(format!("number {class} is {}", law[class]));
                }
                let sum: f64 = law.iter().sum();
                match (sum - 1.0).abs() <= LAW_TOLERANCE {
                    true => Ok(()),
                    false => refuse(format!("they add up to {sum}")),
                }
            }
        }
    }

    /// The score by outputs that were checked.
    fn unchecked(&self, kind: Outputs, outputs: &[f64]) -> f64 {
        match self {
            Self::LogProbability { class } => kind.log_probability(outputs, *class),
            Self::LogOdds { class } => kind.log_odds_unchecked(outputs, *class),
            Self::ExpectedLogProbability { law } => {
                let term = |(class, p): (usize, &f64)| p * kind.log_probability(outputs, class);
                law.iter().enumerate().filter(|(_, p)| **p > 0.0).map(term).sum()
            }
        }
    }
}
