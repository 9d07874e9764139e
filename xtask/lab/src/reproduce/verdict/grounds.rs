//! The data of tests (per-run numbers, counts, standard errors) and the p-values computed from it. The record
//! of the papers' claims stores the data, so that verdicts can be recomputed.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

/// Maximum number of values for exact rank probabilities. For more values, the normal approximation is used.
const EXACT_RANKS: usize = 100;

/// If all numbers are below this, they are scaled before conversion to 32 bits, where they would underflow or
/// lose digits.
const SMALL: f64 = 1e-30;

/// One-sided p-values of a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Chances {
    /// Probability, if the truth is at the limit, of evidence for the statement at least as strong as
    /// observed.
    pub(super) favour: f64,
    /// Probability, if the truth is at the limit, of evidence against the statement at least as strong as
    /// observed.
    pub(super) against: f64,
    /// Number of runs, or `None` if nothing is sampled.
    pub(super) runs: Option<usize>,
}

/// Data of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Grounds {
    /// A fact that involves no sampling.
    Certain(bool),
    /// Probabilities computed elsewhere.
    Found {
        #[serde(with = "any_number")]
        favour: f64,
        #[serde(with = "any_number")]
        against: f64,
        runs: usize,
    },
    /// Differences between the measured values and the limit, one per run; all may be scaled by the same
    /// factor.
    SignedRanks(#[serde(with = "any_numbers")] Vec<f32>),
    /// Difference between a mean and its limit, its standard error, and the number of runs.
    Measured {
        #[serde(with = "any_number")]
        distance: f64,
        #[serde(with = "any_number")]
        error: f64,
        runs: usize,
    },
    /// `count` successes out of `of`; their share is compared with `limit`.
    Share { count: usize, of: usize, limit: f64 },
    /// The negation of a statement, with the data of its test.
    Opposite(Box<Self>),
    /// The conjunction of several statements, with the data of each test.
    All(Vec<Self>),
}

impl Grounds {
    /// Stores distances in 32 bits, which preserves their ranks up to rounding. If all distances are too
    /// small for 32 bits, they are scaled, which does not change ranks.
    pub(super) fn signed_ranks(distances: impl Iterator<Item = f64> + Clone) -> Self {
        let largest = distances.clone().map(f64::abs).filter(|size| size.is_finite()).fold(0.0, f64::max);
        let scale = if largest > 0.0 && largest < SMALL { 1.0 / largest } else { 1.0 };
        Self::SignedRanks(distances.map(|distance| (distance * scale) as f32).collect())
    }

    pub(super) fn chances(&self) -> Chances {
        match self {
            Self::Certain(is_so) => {
                let (favour, against) = if *is_so { (0.0, 1.0) } else { (1.0, 0.0) };
                Chances { favour, against, runs: None }
            }
            &Self::Found { favour, against, runs } => Chances { favour, against, runs: Some(runs) },
            Self::SignedRanks(distances) => {
                let (favour, against) = signed_ranks(distances);
                Chances { favour, against, runs: Some(distances.len()) }
            }
            &Self::Measured { distance, error, runs } => {
                let (favour, against) = measured(distance, error, runs);
                Chances { favour, against, runs: Some(runs) }
            }
            &Self::Share { count, of, limit } => {
                let (favour, against) = share(count, of, limit);
                Chances { favour, against, runs: Some(of) }
            }
            Self::Opposite(other) => other.chances().opposite(),
            Self::All(statements) => Chances::all(&statements.iter().map(Self::chances).collect::<Vec<_>>()),
        }
    }
}

impl Chances {
    /// Returns the p-values of the negated statement.
    pub(super) fn opposite(self) -> Self {
        Self { favour: self.against, against: self.favour, ..self }
    }

    /// Returns the p-values of a conjunction: the weakest evidence in favour of any statement, and the
    /// strongest evidence against any statement, corrected for the number of statements.
    pub(super) fn all(chances: &[Self]) -> Self {
        let nan = |of: fn(&Self) -> f64| chances.is_empty() || chances.iter().any(|one| of(one).is_nan());
        let weakest = chances.iter().fold(0.0, |most: f64, one| most.max(one.favour));
        let strongest = chances.iter().fold(1.0, |least: f64, one| least.min(one.against));
        Self {
            favour: if nan(|one| one.favour) { f64::NAN } else { weakest },
            against: if nan(|one| one.against) {
                f64::NAN
            } else {
                (strongest * chances.len() as f64).min(1.0)
            },
            runs: chances.iter().filter_map(|one| one.runs).min(),
        }
    }
}

/// Returns the p-values for a mean, from Student's t distribution.
fn measured(distance: f64, error: f64, runs: usize) -> (f64, f64) {
    let chances = match StudentsT::new(0.0, 1.0, runs.saturating_sub(1).max(1) as f64) {
        _ if distance == 0.0 => Some((1.0, 1.0)),
        _ if error == 0.0 && distance.is_finite() => {
            Some(if distance < 0.0 { (0.0, 1.0) } else { (1.0, 0.0) })
        }
        Ok(distribution) if (distance / error).is_finite() => {
            let t = distance / error;
            Some((distribution.cdf(t), distribution.sf(t)))
        }
        _ => None,
    };
    chances.unwrap_or((f64::NAN, f64::NAN))
}

/// Returns the p-values for a share, from the binomial distribution.
fn share(count: usize, of: usize, limit: f64) -> (f64, f64) {
    match Binomial::new(limit, of as u64) {
        Ok(distribution) if of > 0 => {
            let at_least = if count == 0 { 1.0 } else { distribution.sf(count as u64 - 1) };
            (at_least, distribution.cdf(count as u64))
        }
        _ => (f64::NAN, f64::NAN),
    }
}

/// Returns the p-values of Wilcoxon's signed-rank test: the probabilities, under random signs, of distances
/// as low, and of distances as high, as observed. Returns NaN if a distance is NaN.
fn signed_ranks(distances: &[f32]) -> (f64, f64) {
    if distances.iter().any(|distance| distance.is_nan()) {
        return (f64::NAN, f64::NAN);
    }
    let mut sorted: Vec<f32> = distances.iter().copied().filter(|distance| *distance != 0.0).collect();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Ranks are doubled, so that the mean ranks of ties are integers.
    let mut ranks = Vec::with_capacity(sorted.len());
    for alike in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let first = ranks.len() + 1;
        ranks.resize(ranks.len() + alike.len(), 2 * first + alike.len() - 1);
    }
    let high: usize =
        sorted.iter().zip(&ranks).filter(|(distance, _)| **distance > 0.0).map(|(_, rank)| rank).sum();
    let total: usize = ranks.iter().sum();
    if ranks.len() > EXACT_RANKS {
        let deviation = ranks.iter().map(|&rank| (rank as f64).powi(2)).sum::<f64>().sqrt() / 2.0;
        let z = (high as f64 - total as f64 / 2.0) / deviation;
        let distribution = Normal::standard();
        return (distribution.cdf(z), distribution.sf(z));
    }
    // Compute the distribution of the sum of the ranks that have a positive sign.
    let mut distribution = vec![0.0; total + 1];
    distribution[0] = 1.0;
    for &rank in &ranks {
        for sum in (0..=total).rev() {
            let without = if sum >= rank { distribution[sum - rank] } else { 0.0 };
            distribution[sum] = 0.5 * (distribution[sum] + without);
        }
    }
    (distribution[..=high].iter().sum::<f64>().min(1.0), distribution[high..].iter().sum::<f64>().min(1.0))
}

/// The representation of a number in JSON; infinite numbers and NaN are written as strings.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written<N> {
    Number(N),
    Word(String),
}

mod any_number {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use super::Written;

    pub(super) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        let written =
            if number.is_finite() { Written::Number(*number) } else { Written::Word(number.to_string()) };
        written.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(number),
            Written::Word(word) => word.parse().map_err(D::Error::custom),
        }
    }
}

mod any_numbers {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::Written;

    pub(super) fn serialize<S: Serializer>(numbers: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(numbers.iter().map(|number| {
            if number.is_finite() { Written::Number(*number) } else { Written::Word(number.to_string()) }
        }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f32>, D::Error> {
        let read = |written: Written<f32>| match written {
            Written::Number(number) => Ok(number),
            Written::Word(word) => word.parse().map_err(D::Error::custom),
        };
        Vec::<Written<f32>>::deserialize(deserializer)?.into_iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grounds_come_back_from_json_with_the_same_chances() {
        let samples = [0.1, -0.2, f64::INFINITY, 3.0, f64::NEG_INFINITY, 1.0 / 3.0];
        let all = Grounds::All(vec![
            Grounds::Opposite(Box::new(Grounds::signed_ranks(samples.into_iter()))),
            Grounds::Certain(true),
            Grounds::Found { favour: 0.3, against: 1.0 / 3.0, runs: 9 },
            Grounds::Measured { distance: -0.1, error: 0.07, runs: 30 },
            Grounds::Share { count: 3, of: 11, limit: 0.5 },
        ]);
        let json = serde_json::to_string(&all).unwrap();
        let read: Grounds = serde_json::from_str(&json).unwrap();
        assert_eq!((read.chances(), &read), (all.chances(), &all));
        assert_eq!(read.chances().runs, Some(6));
        let none = Grounds::Found { favour: f64::NAN, against: f64::INFINITY, runs: 1 };
        let read: Grounds = serde_json::from_str(&serde_json::to_string(&none).unwrap()).unwrap();
        assert!(read.chances().favour.is_nan() && read.chances().against.is_infinite());
        assert!(serde_json::from_str::<Grounds>(r#"{"signed-ranks": [1.0, "one"]}"#).is_err());
    }

    #[test]
    fn numbers_too_small_for_32_bits_are_ranked_all_the_same() {
        let sizes = [1e-60, -3e-60, 4e-60, 5e-60];
        let small = Grounds::signed_ranks(sizes.into_iter()).chances();
        assert_eq!(small, Grounds::signed_ranks(sizes.into_iter().map(|size| size * 1e60)).chances());
        assert_eq!(small.favour, 14.0 / 16.0);
    }
}
