//! A linear bag-of-words model: logistic regression on counts of tokens.

use anyhow::{Result, ensure};
use apportion::{Model, Rows};

use super::text_set::{PADDING, TextSet, UNKNOWN};

/// Penalty λ, the factor of half the sum of squared weights; the intercept is not penalized.
const PENALTY: f64 = 1.0;

/// Training stops when no partial derivative exceeds this in absolute value.
const FLAT: f64 = 1e-9;

/// Maximum number of steps. The embedded sentences take about 1,500.
const MAX_STEPS: usize = 50_000;

/// A linear model of the log-odds of the positive class.
///
/// ```text
/// logit = b + Σ_tokens w[token]
/// ```
///
/// Padding and unknown tokens have weight zero. As a [`Model`], it expects rows of token IDs of any length;
/// the game of absent tokens is additive, and the Shapley value of a token is its weight.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BagOfWords {
    /// One weight per token ID.
    pub(crate) weights: Vec<f64>,
    pub(crate) intercept: f64,
}

impl BagOfWords {
    /// Trains on the training part of a set with two classes, by minimizing
    ///
    /// ```text
    /// Σ ln(1 + exp(−y logit)) + λ/2 ‖w‖²,   y = ±1
    /// ```
    ///
    /// with Nesterov's accelerated gradient and restarts when it overshoots (O'Donoghue and Candès, *Adaptive
    /// Restart for Accelerated Gradient Schemes*, 2015). A single thread and a fixed order of summation make
    /// the result identical in every run.
    ///
    /// # Errors
    ///
    /// If the number of classes differs from two, or the minimum is not reached.
    pub(crate) fn train(set: &TextSet) -> Result<Self> {
        ensure!(set.classes.len() == 2, "expected 2 classes for a single logit, found {}", set.classes.len());
        let texts: Vec<(Vec<usize>, f64)> = set
            .train()
            .map(|sentence| (known_ids(&sentence.ids).collect(), 2.0 * sentence.target as f64 - 1.0))
            .collect();
        let size = set.vocabulary.len();
        let mut here = Self { weights: vec![0.0; size], intercept: 0.0 };
        let mut ahead = here.clone();
        let mut slope = here.clone();
        let step = 1.0 / steepest(&texts, size);
        let mut momentum = 1.0_f64;
        for _ in 0..MAX_STEPS {
            ahead.gradient(&texts, &mut slope);
            let largest =
                slope.weights.iter().fold(slope.intercept.abs(), |most, value| most.max(value.abs()));
            if largest <= FLAT {
                return Ok(ahead);
            }
            let next = ahead.plus(-step, &slope);
            let direction = next.plus(-1.0, &here);
            let grown = if slope.dot(&direction) > 0.0 {
                1.0
            } else {
                (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) / 2.0
            };
            let weight = if grown > 1.0 { (momentum - 1.0) / grown } else { 0.0 };
            ahead = next.plus(weight, &direction);
            here = next;
            momentum = grown;
        }
        anyhow::bail!("training of the bag-of-words model did not converge within {MAX_STEPS} steps")
    }

    /// Returns the log-odds of a text.
    pub(crate) fn logit(&self, ids: &[usize]) -> f64 {
        self.intercept + ids.iter().map(|&id| self.weights[id]).sum::<f64>()
    }

    /// Returns the share of texts for which the model predicts the true class.
    pub(crate) fn accuracy<'a>(&self, texts: impl Iterator<Item = &'a super::text_set::Sentence>) -> f64 {
        let (mut right, mut all) = (0, 0);
        for text in texts {
            right += usize::from((self.logit(&text.ids) > 0.0) == (text.target == 1));
            all += 1;
        }
        right as f64 / f64::from(all)
    }

    fn gradient(&self, texts: &[(Vec<usize>, f64)], slope: &mut Self) {
        slope.weights.iter_mut().zip(&self.weights).for_each(|(slope, weight)| *slope = PENALTY * weight);
        slope.intercept = 0.0;
        for (ids, sign) in texts {
            let rate = -sign / (1.0 + (sign * self.logit(ids)).exp());
            ids.iter().for_each(|&id| slope.weights[id] += rate);
            slope.intercept += rate;
        }
    }

    fn plus(&self, factor: f64, other: &Self) -> Self {
        Self {
            weights: self.weights.iter().zip(&other.weights).map(|(a, b)| a + factor * b).collect(),
            intercept: self.intercept + factor * other.intercept,
        }
    }

    fn dot(&self, other: &Self) -> f64 {
        let sum: f64 = self.weights.iter().zip(&other.weights).map(|(a, b)| a * b).sum();
        sum + self.intercept * other.intercept
    }
}

/// Returns the IDs that may have a nonzero weight: those of tokens in the vocabulary.
fn known_ids(ids: &[usize]) -> impl Iterator<Item = usize> {
    ids.iter().copied().filter(|id| ![PADDING, UNKNOWN].contains(id))
}

/// Returns an upper bound on the second derivatives in any direction: ¼ of the largest column sum of counts
/// times the largest row sum, plus the penalty.
fn steepest(texts: &[(Vec<usize>, f64)], size: usize) -> f64 {
    let longest = texts.iter().map(|(ids, _)| ids.len() + 1).max().unwrap_or(1);
    let mut counts = vec![0; size];
    texts.iter().flat_map(|(ids, _)| ids).for_each(|&id| counts[id] += 1);
    let most = counts.into_iter().max().unwrap_or(0).max(texts.len());
    0.25 * (longest * most) as f64 + PENALTY
}

impl Model for BagOfWords {
    fn predict(
        &self,
        rows: Rows<'_>,
        out: &mut [f64],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        for (value, row) in out.iter_mut().zip(rows.iter()) {
            *value = self.intercept;
            for &id in row {
                let weight =
                    (id >= 0.0 && id.fract() == 0.0).then(|| self.weights.get(id as usize)).flatten();
                *value += weight.ok_or_else(|| {
                    format!("invalid token ID {id}; expected 0 to {}", self.weights.len() - 1)
                })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::l_c_shapley::data::sentences::{TABLE_2, sentences, tokens};
    use crate::papers::l_c_shapley::data::text_set::Sentence;

    #[test]
    fn of_100_unseen_sentences_93_are_told_apart() {
        let set = sentences().unwrap();
        let model = BagOfWords::train(&set).unwrap();
        assert_eq!(model, BagOfWords::train(&set).unwrap());
        assert_eq!((model.accuracy(set.train()), model.accuracy(set.test())), (1.0, 0.93));
        let weight = |token: &str| model.weights[set.id(token)];
        assert!(weight("heartwarming") > 0.1 && weight("entertaining") > 0.1);
        assert!(weight("sucks") < -0.1 && weight("not") < -0.1);
        assert_eq!((model.weights[PADDING], model.weights[UNKNOWN]), (0.0, 0.0));
        let ids: Vec<usize> = tokens(TABLE_2).iter().map(|token| set.id(token)).collect();
        assert!(model.logit(&ids) < -0.5, "{}", model.logit(&ids));
    }

    #[test]
    fn the_trained_model_is_a_minimum() {
        // The set has three sentences and a vocabulary of two words. At the minimum, changing any weight in
        // either direction must increase the objective.
        let sentence = |ids: &[usize], target: usize| Sentence {
            text: String::new(),
            tokens: vec![String::new(); ids.len()],
            ids: ids.to_vec(),
            target,
            is_test: false,
        };
        let set = TextSet {
            vocabulary: ["<pad>", "<unk>", "a", "b"].map(str::to_owned).to_vec(),
            sentences: vec![sentence(&[2, 2, 3], 1), sentence(&[3], 0), sentence(&[2, 0, 1], 1)],
            classes: &["no", "yes"],
        };
        let objective = |model: &BagOfWords| -> f64 {
            let losses = set.sentences.iter().map(|sentence| {
                let sign = 2.0 * sentence.target as f64 - 1.0;
                (-sign * model.logit(&sentence.ids)).exp().ln_1p()
            });
            losses.sum::<f64>()
                + 0.5 * PENALTY * model.weights.iter().map(|weight| weight * weight).sum::<f64>()
        };
        let best = BagOfWords::train(&set).unwrap();
        for change in [1e-3, -1e-3] {
            for id in 2..5 {
                let mut other = best.clone();
                *other.weights.get_mut(id).unwrap_or(&mut other.intercept) += change;
                assert!(objective(&other) > objective(&best) + 1e-9, "id {id}, {change}");
            }
        }
    }

    #[test]
    fn as_a_model_it_takes_rows_of_ids_and_refuses_others() {
        let model = BagOfWords { weights: vec![0.0, 0.0, 1.5, -0.25], intercept: 0.5 };
        let mut out = [0.0; 2];
        model.predict(Rows::new(&[2.0, 3.0, 0.0, 0.0, 2.0, 2.0], 3), &mut out).unwrap();
        assert_eq!(out, [1.75, 3.5]);
        assert_eq!(model.logit(&[2, 3, 0]), 1.75);
        for id in [4.0, -1.0, 0.5, f64::NAN, f64::INFINITY] {
            let error = model.predict(Rows::new(&[id], 1), &mut out[..1]).unwrap_err().to_string();
            assert!(error.contains("invalid token ID"), "{error}");
        }
    }
}
