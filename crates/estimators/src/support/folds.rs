//! Cross-fitting: a sample is split into folds, and each model is fitted to the sample without one fold.
//!
//! # Notation
//!
//! There are L folds, and the model `g_l` is fitted to all coalitions outside fold l. Each coalition of a
//! given size is in the sample with probability π.
//!
//! # Subtracted predictions
//!
//! Fold l is a random part of the coalitions that model l has not seen. Among `N_s` coalitions of a size, `π
//! N_s (1 − 1/L)` were seen, and each coalition of fold l represents `(1 − π (L−1)/L) L/π` unseen ones. A
//! seen coalition represents itself. The mean over the models of the estimated sums of their residuals is
//! `Σ_k (v − ĝ)(S_k) / π`, with
//!
//! ```text
//! ĝ(S_k) = (1 − π (L−1)/L) g_{l(k)}(S_k) + (π/L) Σ_{l ≠ l(k)} g_l(S_k)
//! ```
//!
//! If few coalitions are sampled, ĝ is the model that has not seen the coalition. If all are sampled, it is
//! the mean of all models.

use apportion_games::{Coalitions, Purpose, stream};
use apportion_samplers::{Pairing, Sample};
use rand::seq::SliceRandom;

use crate::surrogate::interface::{FittedSurrogate, Surrogate};

/// The fold of each row of a sample. Both rows of a pair are in the same fold.
#[derive(Debug, Clone)]
pub(crate) struct Folds {
    of_rows: Vec<usize>,
    pub(crate) count: usize,
}

impl Folds {
    /// Assigns the rows (pairs) of each size to `count` folds in random order.
    pub(crate) fn new(sample: &Sample, count: usize, seed: u64) -> Self {
        let step = if sample.pairing() == Pairing::Paired { 2 } else { 1 };
        let sizes = sample.coalitions().sizes();
        let players = sample.coalitions().players();
        let class = |row: usize| {
            let size = sizes[row] as usize;
            if step == 2 { size.min(players - size) } else { size }
        };
        let mut units: Vec<usize> = (0..sizes.len()).step_by(step).collect();
        units.shuffle(&mut stream(seed, Purpose::Surrogates, 1));
        units.sort_by_key(|&row| class(row));
        let mut of_rows = vec![0; sizes.len()];
        for (place, &row) in units.iter().enumerate() {
            of_rows[row..row + step].fill(place % count.max(1));
        }
        Self { of_rows, count }
    }

    /// Returns whether a row is in the given fold, so that it is excluded from this fold's fit; `false` if
    /// there is only one fold.
    fn is_kept(&self, row: usize, fold: usize) -> bool {
        self.count > 1 && self.of_rows[row] == fold
    }
}

/// Models that are each fitted to a sample without one fold, and their predictions.
pub(crate) struct CrossFits {
    pub(crate) models: Vec<Box<dyn FittedSurrogate>>,
    /// The prediction for each row by the model that has not seen it.
    pub(crate) unseen: Vec<f64>,
    /// The prediction ĝ to subtract from the value of each row.
    pub(crate) subtracted: Vec<f64>,
    /// The mean prediction of the models for the grand coalition. The prediction for the empty coalition is
    /// zero.
    pub(crate) full: f64,
}

/// Fits `surrogate` to the sample without each fold in turn, plus the empty and the grand coalition. If there
/// is a single fold, fits it to the whole sample. `values` contains the values of the rows, and `ends` the
/// values of the empty and the grand coalition.
///
/// The stored predictions are g minus its value at ∅, and minus the additive game with the coefficients
/// `additive_part`. Returns `None` if the surrogate cannot be fitted or returns numbers that are not finite.
pub(crate) fn cross_fit(
    surrogate: &dyn Surrogate,
    sample: &Sample,
    folds: &Folds,
    values: &[f64],
    ends: [f64; 2],
    additive_part: impl Fn(&dyn FittedSurrogate) -> Vec<f64>,
) -> Option<CrossFits> {
    let coalitions = sample.coalitions();
    let (rows, players) = (coalitions.len(), coalitions.players());
    let mut both = Coalitions::with_capacity(players, 2);
    both.push_empty();
    both.push_full();
    let mut models = Vec::with_capacity(folds.count);
    let mut said = Vec::with_capacity(folds.count);
    let mut at_full = 0.0;
    for fold in 0..folds.count {
        let mut seen = both.clone();
        let mut targets = ends.to_vec();
        for row in (0..rows).filter(|&row| !folds.is_kept(row, fold)) {
            seen.push(coalitions.row(row));
            targets.push(values[row]);
        }
        let model = surrogate.fit(&seen, &targets)?;
        let at_ends = model.predict(&both);
        let mut predicted = model.predict(coalitions);
        let [empty, full] = at_ends[..] else { return None };
        if predicted.len() != rows || predicted.iter().chain(&at_ends).any(|value| !value.is_finite()) {
            return None;
        }
        let additive = additive_part(&*model);
        if additive.len() != players || additive.iter().any(|value| !value.is_finite()) {
            return None;
        }
        for (predicted, coalition) in predicted.iter_mut().zip(coalitions.iter()) {
            *predicted -= empty + coalition.members().map(|player| additive[player]).sum::<f64>();
        }
        at_full += (full - empty - additive.iter().sum::<f64>()) / folds.count as f64;
        models.push(model);
        said.push(predicted);
    }
    let count = folds.count as f64;
    let inclusion: Vec<f64> = sample
        .strata()
        .iter()
        .map(|stratum| match sample.multiplicities() {
            None => stratum.inclusion_probability().min(1.0),
            Some(_) => 0.0,
        })
        .collect();
    let own = |row: usize| said[folds.of_rows[row].min(folds.count - 1)][row];
    let unseen: Vec<f64> = (0..rows).map(own).collect();
    let subtracted = (0..rows)
        .map(|row| {
            let share = inclusion[coalitions.sizes()[row] as usize];
            let mean = said.iter().map(|of_model| of_model[row]).sum::<f64>() / count;
            (1.0 - share) * unseen[row] + share * mean
        })
        .collect();
    Some(CrossFits { models, unseen, subtracted, full: at_full })
}
