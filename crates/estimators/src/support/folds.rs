//! Folds: parts of a sample, each of which is kept from a fit to the others.
//!
//! # Notation
//!
//! L folds, the model `g_l` fitted to what is not in fold l, coalitions of a size in the sample with probability π.
//!
//! # What is subtracted
//!
//! Of the coalitions that model l did not see those of fold l are a random part: among `N_s` of a size, `π N_s (1 − 1/L)` were seen, and each of
//! fold l stands for `(1 − π (L−1)/L) L/π` others; what was seen stands for itself. The mean over the models of the estimated sums of what they
//! leave is `Σ_k (v − ĝ)(S_k) / π` with
//!
//! ```text
//! ĝ(S_k) = (1 − π (L−1)/L) g_{l(k)}(S_k) + (π/L) Σ_{l ≠ l(k)} g_l(S_k)
//! ```
//!
//! which is the model that has not seen the coalition where few are sampled, and the mean of all models where all are.

use apportion_games::{Coalitions, Purpose, stream};
use apportion_samplers::{Pairing, Sample};
use rand::seq::SliceRandom;

use crate::surrogate::interface::{FittedSurrogate, Surrogate};

/// The fold of each row of a sample; pairs stay together.
#[derive(Debug, Clone)]
pub(crate) struct Folds {
    of_rows: Vec<usize>,
    pub(crate) count: usize,
}

impl Folds {
    /// Deals the rows (pairs) of each size to `count` folds in a random order.
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

    /// Whether a row is kept from the fit of a fold.
    fn is_kept(&self, row: usize, fold: usize) -> bool {
        self.count > 1 && self.of_rows[row] == fold
    }
}

/// Models fitted to a sample but for each fold, and what they say.
pub(crate) struct Crossed {
    pub(crate) models: Vec<Box<dyn FittedSurrogate>>,
    /// What is told of each row by the model that has not seen it.
    pub(crate) unseen: Vec<f64>,
    /// ĝ of each row.
    pub(crate) subtracted: Vec<f64>,
    /// The mean over the models of what is subtracted at the full coalition; at the empty one it is nothing.
    pub(crate) full: f64,
}

/// Fits `surrogate` to all of a sample but each fold in turn, with both ends; with one fold to all of it. `values` are those of the rows, `ends`
/// those of the empty and the full coalition.
///
/// What is told of a model is g less its value at ∅, and less an additive game, that of the coefficients which `additive_part` gives of it.
/// None where the surrogate cannot be fitted, or says what is no number.
pub(crate) fn cross_fit(
    surrogate: &dyn Surrogate,
    sample: &Sample,
    folds: &Folds,
    values: &[f64],
    ends: [f64; 2],
    additive_part: impl Fn(&dyn FittedSurrogate) -> Vec<f64>,
) -> Option<Crossed> {
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
    Some(Crossed { models, unseen, subtracted, full: at_full })
}
