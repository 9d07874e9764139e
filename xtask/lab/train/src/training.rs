//! Training: Adam on shuffled batches, with a cosine learning rate schedule.
//!
//! All randomness comes from streams of the seed, and no sum depends on the number of threads, so the same
//! seed gives the same network.

use anyhow::{Result, ensure};
use apportion_games::{Purpose, stream};
use candle_core::{Device, Tensor};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::data::{DataSet, Samples, Task};
use crate::network::Network;

/// Training parameters of a network.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Training {
    pub(crate) epochs: usize,
    pub(crate) batch: usize,
    /// Maximum learning rate.
    pub(crate) rate: f64,
    /// Weight decay per step, relative to the learning rate.
    pub(crate) decay: f64,
    pub(crate) augmentation: Augmentation,
}

/// Transformation of training samples, drawn again each time that they are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Augmentation {
    /// No transformation.
    None,
    /// Shifts images by up to this number of pixels along each axis, repeating the border pixels.
    Moved(i32),
    /// Same as [`Moved`](Self::Moved), and also mirrors images horizontally half of the time.
    MovedAndMirrored(i32),
}

/// Trains a network in place. After each epoch, calls `after` with the number of finished epochs and the mean
/// loss of the epoch.
pub(crate) fn train(
    network: &Network,
    data: &DataSet,
    training: &Training,
    seed: u64,
    mut after: impl FnMut(usize, f64),
) -> Result<()> {
    let parameters =
        ParamsAdamW { lr: training.rate, weight_decay: training.decay, ..ParamsAdamW::default() };
    let mut optimizer = AdamW::new(network.variables(), parameters)?;
    let count = data.train.len();
    let steps = (training.epochs * count.div_ceil(training.batch)) as f64;
    let mut step = 0.0;
    for epoch in 1..=training.epochs {
        let mut rng = stream(seed, Purpose::Experiment, epoch as u64);
        let mut order: Vec<usize> = (0..count).collect();
        order.shuffle(&mut rng);
        let mut total = 0.0;
        for batch in order.chunks(training.batch) {
            let mut samples = data.train.chosen(batch);
            augment(&mut samples, training.augmentation, &mut rng);
            let outputs = network.forward(&samples.rows, Some(&mut || rng.random::<f64>()))?;
            let loss = loss(&outputs, data, &samples.targets)?;
            optimizer
                .set_learning_rate(training.rate * 0.5 * (1.0 + (std::f64::consts::PI * step / steps).cos()));
            optimizer.backward_step(&loss)?;
            total += f64::from(loss.to_scalar::<f32>()?) * batch.len() as f64;
            step += 1.0;
        }
        let mean = total / count as f64;
        ensure!(mean.is_finite(), "the loss is {mean} after {epoch} epochs; reduce the learning rate");
        after(epoch, mean);
    }
    Ok(())
}

/// Returns the mean loss: squared error divided by the variance of the target, or the negative log
/// probability of the class.
fn loss(outputs: &Tensor, data: &DataSet, targets: &[f64]) -> Result<Tensor> {
    let device = &Device::Cpu;
    let numbers = || targets.iter().map(|&target| target as f32).collect::<Vec<f32>>();
    Ok(match data.task {
        Task::Regression => {
            let all = &data.train.targets;
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let variance = all.iter().map(|target| (target - mean).powi(2)).sum::<f64>() / all.len() as f64;
            let targets = Tensor::from_vec(numbers(), (targets.len(), 1), device)?;
            ((outputs - targets)?.sqr()?.mean_all()? / variance)?
        }
        Task::Classes(2) => {
            // Compute ln(1 + e^x) − y x without overflow for large x.
            let targets = Tensor::from_vec(numbers(), (targets.len(), 1), device)?;
            let soft = (outputs.abs()?.neg()?.exp()? + 1.0)?.log()?;
            ((outputs.relu()? - (outputs * targets)?)? + soft)?.mean_all()?
        }
        Task::Classes(_) => {
            let classes: Vec<u32> = targets.iter().map(|&target| target as u32).collect();
            candle_nn::loss::cross_entropy(outputs, &Tensor::from_vec(classes, targets.len(), device)?)?
        }
    })
}

/// Returns the share of samples whose class has the largest output. For a regression, returns the share of
/// explained variance.
pub(crate) fn score(task: Task, outputs: &[f64], targets: &[f64]) -> f64 {
    let count = targets.len() as f64;
    let right =
        |is_right: &dyn Fn(usize) -> bool| (0..targets.len()).filter(|&at| is_right(at)).count() as f64;
    match task {
        Task::Regression => {
            let mean = targets.iter().sum::<f64>() / count;
            let all: f64 = targets.iter().map(|target| (target - mean).powi(2)).sum();
            let left: f64 =
                outputs.iter().zip(targets).map(|(output, target)| (target - output).powi(2)).sum();
            1.0 - left / all
        }
        Task::Classes(2) => right(&|at| (outputs[at] > 0.0) == (targets[at] == 1.0)) / count,
        Task::Classes(classes) => {
            let class = |at: usize| {
                let logits = outputs[at * classes..(at + 1) * classes].iter().enumerate();
                logits.max_by(|a, b| a.1.total_cmp(b.1)).map(|(class, _)| class as f64)
            };
            right(&|at| class(at) == Some(targets[at])) / count
        }
    }
}

/// Returns the name of the score.
pub(crate) fn measure(task: Task) -> &'static str {
    if task == Task::Regression { "R²" } else { "accuracy" }
}

fn augment(samples: &mut Samples, augmentation: Augmentation, rng: &mut impl Rng) {
    let (most, mirrors) = match augmentation {
        Augmentation::None => return,
        Augmentation::Moved(most) => (most, false),
        Augmentation::MovedAndMirrored(most) => (most, true),
    };
    let &[_, height, width] = &samples.shape[..] else { return };
    let columns = samples.width();
    for row in samples.rows.chunks_exact_mut(columns) {
        let (down, right) = (rng.random_range(-most..=most), rng.random_range(-most..=most));
        let is_mirrored = mirrors && rng.random::<bool>();
        moved(row, [height, width], [down, right], is_mirrored);
    }
}

/// Shifts an image, and then mirrors it.
fn moved(row: &mut [f64], [height, width]: [usize; 2], [down, right]: [i32; 2], is_mirrored: bool) {
    let within = |place: usize, by: i32, size: usize| (place as i32 - by).clamp(0, size as i32 - 1) as usize;
    for plane in row.chunks_exact_mut(height * width) {
        let old = plane.to_vec();
        for (at, pixel) in plane.iter_mut().enumerate() {
            let (y, x) = (at / width, at % width);
            let x = if is_mirrored { width - 1 - x } else { x };
            *pixel = old[within(y, down, height) * width + within(x, right, width)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_shares_of_classes_and_of_variance() {
        assert_eq!(score(Task::Classes(2), &[1.0, -1.0, 2.0, -2.0], &[1.0, 0.0, 0.0, 0.0]), 0.75);
        assert_eq!(score(Task::Classes(3), &[0.0, 2.0, 1.0, 3.0, 2.0, 1.0], &[1.0, 1.0]), 0.5);
        assert_eq!(score(Task::Regression, &[1.0, 2.0, 4.0], &[1.0, 2.0, 3.0]), 0.5);
    }

    #[test]
    fn images_are_moved_and_mirrored() {
        let image = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let after = |by, is_mirrored| {
            let mut row = image;
            moved(&mut row, [2, 3], by, is_mirrored);
            row
        };
        assert_eq!(after([0, 0], true), [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
        assert_eq!(after([1, 0], false), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
        assert_eq!(after([0, -1], false), [2.0, 3.0, 3.0, 5.0, 6.0, 6.0]);
    }
}
