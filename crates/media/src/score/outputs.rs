//! What the outputs of a classifier are, and the probabilities of its classes.

use crate::error::MediaError;

/// How far outputs in 32-bit numbers may be out of [0, 1] or their sum, per class, away from 1.
const ROUNDING: f64 = 1e-6;

/// What the outputs of a classifier are. A single output is about class 1, with class 0 as the only other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outputs {
    /// Logits: `P(y) = exp z_y / Σ_c exp z_c`, and `P(1) = 1 / (1 + exp(−z))` for a single one.
    Logits,
    /// Probabilities of the classes; a single one is that of class 1.
    ///
    /// A number up to 1e-6 outside of [0, 1], as networks of 32-bit numbers leave them, counts as the end of that range; several must add
    /// up to 1 within 1e-6 per class.
    Probabilities,
}

impl Outputs {
    /// Number of classes of a classifier with that many outputs: 2 for a single one.
    pub fn classes(self, outputs: usize) -> usize {
        if outputs == 1 { 2 } else { outputs }
    }

    /// The probability of every class, by the outputs for one row.
    ///
    /// ```
    /// use apportion_media::Outputs;
    ///
    /// assert_eq!(Outputs::Logits.class_probabilities(&[0.0])?, [0.5, 0.5]);
    /// assert_eq!(Outputs::Logits.class_probabilities(&[7.0, 7.0, 7.0, 7.0])?, [0.25; 4]);
    /// assert_eq!(Outputs::Probabilities.class_probabilities(&[0.75])?, [0.25, 0.75]);
    /// # Ok::<(), apportion_media::MediaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MediaError::NoSuchClass`] without outputs; [`MediaError::NotALogit`], [`MediaError::NotAProbability`] and
    /// [`MediaError::ProbabilitySum`] where they are not what they should be.
    pub fn class_probabilities(self, outputs: &[f64]) -> Result<Vec<f64>, MediaError> {
        self.check(outputs)?;
        let mut probabilities = vec![0.0; self.classes(outputs.len())];
        match self {
            Self::Logits => probabilities_of_logits(outputs, &mut probabilities),
            Self::Probabilities => match outputs {
                [p] => probabilities.copy_from_slice(&[1.0 - in_range(*p), in_range(*p)]),
                _ => probabilities.iter_mut().zip(outputs).for_each(|(to, p)| *to = in_range(*p)),
            },
        }
        Ok(probabilities)
    }

    /// The class of the largest probability, the first of equals, by the outputs for one row.
    ///
    /// # Errors
    ///
    /// As [`class_probabilities`](Self::class_probabilities).
    pub fn predicted_class(self, outputs: &[f64]) -> Result<usize, MediaError> {
        self.check(outputs)?;
        let middle = match self {
            Self::Logits => 0.0,
            Self::Probabilities => 0.5,
        };
        Ok(match outputs {
            [single] => usize::from(*single > middle),
            _ => largest(outputs),
        })
    }

    /// `log P(class) − log(1 − P(class))`, by the outputs for one row; infinite where the probability is 0 or 1.
    ///
    /// Of logits z it is `z_class − log Σ_{c ≠ class} exp z_c`, which is finite and has no cancellation.
    ///
    /// ```
    /// use apportion_media::Outputs;
    ///
    /// assert_eq!(Outputs::Logits.log_odds(&[3.0, 1.0], 0)?, 2.0);
    /// assert_eq!(Outputs::Probabilities.log_odds(&[0.5], 1)?, 0.0);
    /// # Ok::<(), apportion_media::MediaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MediaError::NoSuchClass`], and as [`class_probabilities`](Self::class_probabilities).
    pub fn log_odds(self, outputs: &[f64], class: usize) -> Result<f64, MediaError> {
        check_class(class, self.classes(outputs.len()))?;
        self.check(outputs)?;
        Ok(self.log_odds_unchecked(outputs, class))
    }

    /// Whether these can be outputs of this kind.
    pub(super) fn check(self, outputs: &[f64]) -> Result<(), MediaError> {
        if outputs.is_empty() {
            return Err(MediaError::NoSuchClass { class: 0, classes: 0 });
        }
        let at = |output: usize| (output, outputs[output]);
        match self {
            Self::Logits => match outputs.iter().position(|z| !z.is_finite()).map(at) {
                Some((output, value)) => Err(MediaError::NotALogit { output, value }),
                None => Ok(()),
            },
            Self::Probabilities => {
                let range = -ROUNDING..=1.0 + ROUNDING;
                if let Some((output, value)) = outputs.iter().position(|p| !range.contains(p)).map(at) {
                    return Err(MediaError::NotAProbability { output, value });
                }
                let sum: f64 = outputs.iter().sum();
                match outputs.len() == 1 || (sum - 1.0).abs() <= ROUNDING * outputs.len() as f64 {
                    true => Ok(()),
                    false => Err(MediaError::ProbabilitySum { sum }),
                }
            }
        }
    }

    /// `log P(class)`, of outputs and a class that were checked.
    pub(super) fn log_probability(self, outputs: &[f64], class: usize) -> f64 {
        match (self, outputs) {
            // log σ(z) = −log(1 + exp(−z)), with 1 − σ(z) = σ(−z).
            (Self::Logits, [z]) => -softplus(if class == 1 { -z } else { *z }),
            (Self::Logits, _) => {
                let top = largest(outputs);
                outputs[class] - outputs[top] - ln_others(outputs, top).exp().ln_1p()
            }
            (Self::Probabilities, [p]) if class == 0 => (-in_range(*p)).ln_1p(),
            (Self::Probabilities, _) => in_range(outputs[if outputs.len() == 1 { 0 } else { class }]).ln(),
        }
    }

    /// The log-odds, of outputs and a class that were checked.
    pub(super) fn log_odds_unchecked(self, outputs: &[f64], class: usize) -> f64 {
        match (self, outputs) {
            (Self::Logits, [z]) => {
                if class == 1 {
                    *z
                } else {
                    -z
                }
            }
            (Self::Logits, _) => -ln_others(outputs, class),
            (Self::Probabilities, [p]) => {
                let odds = in_range(*p).ln() - (-in_range(*p)).ln_1p();
                if class == 1 { odds } else { -odds }
            }
            // The sum of the others, and not 1 − P(class): the same but for rounding, and exact where P(class) is near 1.
            (Self::Probabilities, _) => {
                let others = outputs.iter().enumerate().filter(|(other, _)| *other != class);
                in_range(outputs[class]).ln() - others.map(|(_, p)| in_range(*p)).sum::<f64>().ln()
            }
        }
    }
}

/// Refuses a class that there is not.
pub(super) fn check_class(class: usize, classes: usize) -> Result<(), MediaError> {
    if class < classes { Ok(()) } else { Err(MediaError::NoSuchClass { class, classes }) }
}

/// Writes the probabilities of all classes by logits: softmax, and for a single logit those of classes 0 and 1.
pub(super) fn probabilities_of_logits(logits: &[f64], out: &mut [f64]) {
    if let [z] = logits {
        out[0] = (-softplus(*z)).exp();
        out[1] = (-softplus(-z)).exp();
        return;
    }
    let top = logits[largest(logits)];
    out.iter_mut().zip(logits).for_each(|(p, z)| *p = (z - top).exp());
    let sum: f64 = out.iter().sum();
    out.iter_mut().for_each(|p| *p /= sum);
}

/// `log(1 + exp z)`, without overflow.
fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

/// `log Σ_{c ≠ class} exp(z_c − z_class)`, without overflow; there is another class.
fn ln_others(logits: &[f64], class: usize) -> f64 {
    let others = || logits.iter().enumerate().filter(|(other, _)| *other != class).map(|(_, z)| z);
    let top = others().copied().fold(f64::NEG_INFINITY, f64::max);
    // The differences first: of two large logits they are exact where the sum would round.
    (top - logits[class]) + others().map(|z| (z - top).exp()).sum::<f64>().ln()
}

/// The place of the first of the largest numbers.
fn largest(numbers: &[f64]) -> usize {
    let mut top = 0;
    for (at, number) in numbers.iter().enumerate() {
        if *number > numbers[top] {
            top = at;
        }
    }
    top
}

/// A probability that may be out of range by rounding.
fn in_range(p: f64) -> f64 {
    p.clamp(0.0, 1.0)
}
