//! Effect of masking: the change of the log-odds of the predicted class when the players with the highest
//! scores are masked.

use anyhow::{Context, Result};
use apportion::Model;
use apportion::games::parallel;
use apportion::media::{Image, Outputs};
use serde::{Deserialize, Serialize};

use super::method::Method;
use super::subject::{Sample, Shown, Subject, predict};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::store::derive_seed;

/// Version of the stored results (cells). It is increased when their meaning changes in a way that the
/// digests of games and methods do not detect, so that old checkpoints are not reused.
const PROTOCOL: u32 = 1;

/// Number of samples per cell if a sample takes little time, which holds for texts and embedded images.
const BLOCK: usize = 10;

/// Minimum brightness of a pixel that counts as activated.
const ACTIVATED: f64 = 0.5;

/// Returns the shares of masked players, in percent.
pub(super) fn levels(subject: &Subject) -> Vec<usize> {
    let step = if subject.is_image() { 2 } else { 5 };
    (0..=10).map(|level| step * level).collect()
}

/// Shares of masked pixels in figure 4, in percent.
pub(super) const SHOWN: [usize; 2] = [15, 20];

/// Returns the number of players that corresponds to a share in percent, rounded to the nearest integer.
pub(super) fn count(percent: usize, players: usize) -> usize {
    (percent * players + 50) / 100
}

/// Returns the players by descending score; ties keep their order.
pub(super) fn ranked(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order
}

/// Result of one method on one sample.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) players: usize,
    pub(super) evaluations: usize,
    /// Log-odds with masked players minus log-odds without masking, for each share of masked players.
    pub(super) changes: Vec<f64>,
    /// For grey images, and for each share of masked pixels in [`SHOWN`]: the share of these pixels that are
    /// activated or next to an activated pixel.
    pub(super) near: Vec<f64>,
}

/// Scores one sample with one method, and masks its players by score.
fn outcome(
    model: &dyn Model,
    sample: &Sample,
    method: Method,
    levels: &[usize],
    seed: u64,
) -> Result<Outcome> {
    let scores = method.scores(model, sample, seed)?;
    let order = ranked(&scores.values);
    let near = match &sample.shown {
        Shown::Image(image, _) if image.channels() == 1 => {
            let active = around_active(image);
            let share = |percent: usize| {
                let masked = &order[..count(percent, order.len())];
                masked.iter().filter(|&&pixel| active[pixel]).count() as f64 / masked.len().max(1) as f64
            };
            SHOWN.map(share).to_vec()
        }
        _ => Vec::new(),
    };
    Ok(Outcome {
        players: order.len(),
        evaluations: scores.evaluations,
        changes: changes(model, sample, &order, levels)?,
        near,
    })
}

/// Returns the change of the log-odds for each level, when that percentage of the players, from the start of
/// `order`, is masked.
fn changes(model: &dyn Model, sample: &Sample, order: &[usize], levels: &[usize]) -> Result<Vec<f64>> {
    let mut rows = Vec::new();
    for &percent in levels {
        let mut present = vec![true; order.len()];
        order[..count(percent, order.len())].iter().for_each(|&player| present[player] = false);
        rows.extend(sample.masked.row(&present));
    }
    let outputs = predict(model, &rows, levels.len())?;
    let log_odds = |outputs: &[f64]| Outputs::Logits.log_odds(outputs, sample.class);
    let before = log_odds(&sample.outputs)?;
    outputs.chunks_exact(model.outputs()).map(|outputs| Ok(log_odds(outputs)? - before)).collect()
}

/// Returns, for each pixel, whether the pixel is activated or adjacent (including diagonally) to an activated
/// pixel.
pub(super) fn around_active(image: &Image) -> Vec<bool> {
    let (height, width) = (image.height(), image.width());
    let active = |row: usize, column: usize| image.pixel(row, column)[0] >= ACTIVATED;
    (0..height * width)
        .map(|pixel| {
            let (row, column) = (pixel / width, pixel % width);
            (row.saturating_sub(1)..(row + 2).min(height)).any(|row| {
                (column.saturating_sub(1)..(column + 2).min(width)).any(|column| active(row, column))
            })
        })
        .collect()
}

/// Checkpoint key of the results of one method on a block of samples.
#[derive(Serialize)]
struct OutcomesKey<'a> {
    subject: &'static str,
    samples_and_model: &'a str,
    method: Method,
    samples: &'a [usize],
    levels: &'a [usize],
}

/// Results of one method on all chosen samples of a dataset.
pub(super) struct Curve {
    pub(super) method: Method,
    pub(super) outcomes: Vec<Outcome>,
}

impl Curve {
    /// Returns the mean change of the log-odds at a level.
    pub(super) fn mean(&self, level: usize) -> Measurement {
        Measurement::mean(&self.outcomes.iter().map(|outcome| outcome.changes[level]).collect::<Vec<_>>())
    }

    /// Returns, for each sample, the mean change over all levels above zero: the area between the curve and
    /// the x axis, divided by the range of levels.
    pub(super) fn areas(&self) -> Vec<f64> {
        let area =
            |outcome: &Outcome| outcome.changes[1..].iter().sum::<f64>() / (outcome.changes.len() - 1) as f64;
        self.outcomes.iter().map(area).collect()
    }

    /// Returns the mean number of evaluations per player over the samples.
    pub(super) fn evaluations_per_player(&self) -> f64 {
        let of = |outcome: &Outcome| outcome.evaluations as f64 / outcome.players as f64;
        self.outcomes.iter().map(of).sum::<f64>() / self.outcomes.len() as f64
    }

    /// Returns the maximum number of evaluations per player over the samples.
    pub(super) fn max_evaluations_per_player(&self) -> f64 {
        let of = |outcome: &Outcome| outcome.evaluations as f64 / outcome.players as f64;
        self.outcomes.iter().map(of).fold(0.0, f64::max)
    }
}

/// Results of all methods on the chosen samples of a dataset.
pub(super) struct Measured<'a> {
    pub(super) subject: &'a Subject,
    pub(super) samples: Vec<usize>,
    pub(super) levels: Vec<usize>,
    pub(super) curves: Vec<Curve>,
}

impl Measured<'_> {
    pub(super) fn curve(&self, method: Method) -> Option<&Curve> {
        self.curves.iter().find(|curve| curve.method == method)
    }
}

/// Measures the effect of masking for each of `methods` on the chosen samples.
pub(super) fn measure<'a>(
    session: &Session,
    subject: &'a Subject,
    methods: &[Method],
) -> Result<Measured<'a>> {
    let samples = subject.chosen(session);
    let levels = levels(subject);
    let digests = methods.iter().map(|method| method.digest()).collect::<Result<Vec<Digest>>>()?;
    let played = parallel::try_map(&samples, |&sample| subject.played(sample))?;
    let block = if subject.is_dear() { 1 } else { BLOCK };
    let mut cells = Vec::new();
    for (&method, digest) in methods.iter().zip(&digests) {
        cells.extend(samples.chunks(block).zip(played.chunks(block)).map(|(samples, played)| Cell {
            key: OutcomesKey {
                subject: subject.name,
                samples_and_model: &subject.fingerprint,
                method,
                samples,
                levels: &levels,
            },
            made_of: Ingredients::new("masking", PROTOCOL, session.seed, &Digest::joined(played), digest),
            with: (),
        }));
    }
    let results: Vec<Vec<Outcome>> = session.results(&cells, |cell| {
        let method = cell.key.method;
        let of_sample = |&index: &usize| {
            let seed = seed_of(subject, method, index, session.seed)?;
            outcome(subject.model.as_ref(), &subject.sample(index)?, method, &levels, seed).with_context(
                || format!("cannot run {} on sample {index} of {}", method.title(), subject.name),
            )
        };
        cell.key.samples.iter().map(of_sample).collect()
    })?;
    let blocks = samples.len().div_ceil(block);
    let curves = methods
        .iter()
        .zip(results.chunks(blocks.max(1)))
        .map(|(&method, blocks)| Curve { method, outcomes: blocks.concat() })
        .collect();
    Ok(Measured { subject, samples, levels, curves })
}

/// Returns the seed of a method on a sample.
fn seed_of(subject: &Subject, method: Method, index: usize, seed: u64) -> Result<u64> {
    derive_seed(&("masking", subject.name, method, index, seed))
}

/// Checkpoint key of the scores of one method on one sample.
#[derive(Serialize)]
struct ScoresKey<'a> {
    subject: &'static str,
    samples_and_model: &'a str,
    method: Method,
    sample: usize,
}

/// Returns the scores that masking uses, indexed by method, then by sample.
pub(super) fn scores(
    session: &Session,
    subject: &Subject,
    methods: &[Method],
    samples: &[usize],
) -> Result<Vec<Vec<Vec<f64>>>> {
    let digests = methods.iter().map(|method| method.digest()).collect::<Result<Vec<Digest>>>()?;
    let played = parallel::try_map(samples, |&sample| subject.played(sample))?;
    let mut cells = Vec::new();
    for (&method, digest) in methods.iter().zip(&digests) {
        cells.extend(samples.iter().zip(&played).map(|(&sample, played)| Cell {
            key: ScoresKey { subject: subject.name, samples_and_model: &subject.fingerprint, method, sample },
            made_of: Ingredients::new("scores", PROTOCOL, session.seed, played, digest),
            with: (),
        }));
    }
    let results: Vec<Vec<f64>> = session.results(&cells, |cell| {
        let ScoresKey { method, sample, .. } = cell.key;
        let seed = seed_of(subject, method, sample, session.seed)?;
        let scores = method.scores(subject.model.as_ref(), &subject.sample(sample)?, seed);
        let of = || format!("{} on sample {sample} of {}", method.title(), subject.name);
        Ok(scores.with_context(of)?.values)
    })?;
    Ok(results.chunks(samples.len().max(1)).map(<[Vec<f64>]>::to_vec).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_to_whole_players() {
        assert_eq!(
            (count(5, 10), count(5, 9), count(50, 11), count(0, 7), count(20, 784)),
            (1, 0, 6, 0, 157)
        );
    }

    #[test]
    fn the_highest_scores_come_first_and_equal_ones_in_their_order() {
        assert_eq!(ranked(&[0.0, 2.0, -1.0, 2.0, 0.0]), [1, 3, 0, 4, 2]);
    }

    #[test]
    fn pixels_around_an_activated_one_touch_it_at_sides_and_corners() {
        let mut pixels = vec![0.0; 20];
        (pixels[6], pixels[19]) = (0.5, 0.4);
        let image = Image::new(4, 5, 1, pixels).unwrap();
        let around = around_active(&image);
        let found: Vec<usize> = (0..20).filter(|&pixel| around[pixel]).collect();
        assert_eq!(found, [0, 1, 2, 5, 6, 7, 10, 11, 12]);
    }
}
