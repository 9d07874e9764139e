//! Kinds of classifier outputs, and the class probabilities.

use crate::error::MediaError;

/// Maximum distance of 32-bit outputs from the interval [0, 1]. The sum of the outputs may differ from 1 by
/// this distance per class.
const ROUNDING: f64 = 1e-6;

/// The kind of a classifier's outputs. A single output refers to class 1 of the two classes 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outputs {
    /// Logits: `P(y) = exp z_y / Σ_c exp z_c`, or `P(1) = 1 / (1 + exp(−z))` for a single output.
    Logits,
    /// Probabilities of the classes; a single output is the probability of class 1.
    ///
    /// Outputs up to 1e-6 outside of [0, 1], which occur with 32-bit networks, are clamped. Several outputs
    /// must sum to 1 within 1e-6 per class.
    Probabilities,
}

impl Outputs {
    /// Returns the number of classes of a classifier with `outputs` outputs: 2 for a single output.
    pub fn classes(self, outputs: usize) -> usize {
        if outputs == 1 { 2 } else { outputs }
    }

    /// Computes the probability of every class from the outputs for one row.
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
    /// [`MediaError::NoSuchClass`] if there are no outputs; [`MediaError::NotALogit`],
    /// [`MediaError::NotAProbability`] and [`MediaError::ProbabilitySum`] if the outputs are invalid.
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

    /// Returns the class with the largest probability, given the outputs for one row; for ties, the first
    /// such class.
    ///
    /// # Errors
    ///
    /// Same as [`class_probabilities`](Self::class_probabilities).
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

    /// Computes `log P(class) − log(1 − P(class))` from the outputs for one row; infinite if the probability
    /// is 0 or 1.
    ///
    /// For logits z, this is `z_class − log Σ_{c ≠ class} exp z_c`, which is finite and computed without
    /// cancellation.
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
    /// [`MediaError::NoSuchClass`], and the errors of [`class_probabilities`](Self::class_probabilities).
    pub fn log_odds(self, outputs: &[f64], class: usize) -> Result<f64, MediaError> {
        check_class(class, self.classes(outputs.len()))?;
        self.check(outputs)?;
        Ok(self.log_odds_unchecked(outputs, class))
    }

    /// Returns an error unless `outputs` are valid outputs of this kind for one row.
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

    /// Computes `log P(class)` from validated outputs and a validated class.
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

    /// Computes the log-odds from validated outputs and a validated class.
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
            // Sum the other probabilities instead of computing 1 − P(class): the same up to rounding, but
            // accurate if P(class) is near 1.
            (Self::Probabilities, _) => {
                let others = outputs.iter().enumerate().filter(|(other, _)| *other != class);
                in_range(outputs[class]).ln() - others.map(|(_, p)| in_range(*p)).sum::<f64>().ln()
            }
        }
    }
}

/// Returns an error unless the class exists.
pub(super) fn check_class(class: usize, classes: usize) -> Result<(), MediaError> {
    if class < classes { Ok(()) } else { Err(MediaError::NoSuchClass { class, classes }) }
}

/// Writes the probabilities of all classes given their logits: the softmax or, for a single logit, the
/// probabilities of classes 0 and 1.
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

/// Computes `log(1 + exp z)` without overflow.
fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

/// Computes `log Σ_{c ≠ class} exp(z_c − z_class)` without overflow. There must be another class.
fn ln_others(logits: &[f64], class: usize) -> f64 {
    let others = || logits.iter().enumerate().filter(|(other, _)| *other != class).map(|(_, z)| z);
    let top = others().copied().fold(f64::NEG_INFINITY, f64::max);
    // Subtract first: the difference of two large logits is exact, whereas a sum would be rounded.
    (top - logits[class]) + others().map(|z| (z - top).exp()).sum::<f64>().ln()
}

/// Returns the index of the largest number, the first one for ties.
fn largest(numbers: &[f64]) -> usize {
    let mut top = 0;
    for (at, number) in numbers.iter().enumerate() {
        if *number > numbers[top] {
            top = at;
        }
    }
    top
}

/// Clamps a probability that rounding may have moved out of range.
fn in_range(p: f64) -> f64 {
    p.clamp(0.0, 1.0)
}
