//! What is regressed: the rows of a design in the form that the constraint gives them.
//!
//! # Notation
//!
//! `z` a row of bits, `s` its size, `y` its target, `w` its weight, `c` the sum that the coefficients must have, `P = I − 11ᵀ/n`.
//!
//! # Forms
//!
//! *Zero-one*: without constraint, the rows `z` themselves.
//!
//! *Centred*: under the constraint (Leverage SHAP, Lemma 3.1), rows `a = P z = z − (s/n) 1` with targets `b = y − (s/n) c`. Such
//! rows are antisymmetric: the complement has row `−a`. Two things follow.
//!
//! - Instead of a row its complement may be used, with the opposite sign. The smaller of the two is: it has fewer ones, and
//!   centring it loses fewer digits.
//! - A pair (y, ȳ) acts as one row. With `d = (b − b̄)/2` and `q = (b + b̄)/2`,
//!   `w (a·u − b)² + w (−a·u − b̄)² = 2w (a·u − d)² + 2w q²`, where `d = (y − ȳ)/2 − (2s − n)/(2n) c` and `q = (y + ȳ − c)/2`:
//!   one row of weight 2w, and a part of the error that no coefficients can change. What both targets have in common drops out of
//!   `d` before it costs digits.
//!
//! Other antisymmetric forms (rows `z − ½`, as for Banzhaf values) would be further variants of [`Form`]: they differ in
//! [`Form::is_antisymmetric`], in the targets and in the rank-one terms that turn the Gram matrix of bits into theirs.

use crate::bits::BitRows;
use crate::design::Design;
use crate::gram::Groups;

/// What a row of bits stands for in the regression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `z`
    ZeroOne,
    /// `P z`
    Centred,
}

impl Form {
    pub(crate) fn is_antisymmetric(self) -> bool {
        self == Self::Centred
    }
}

/// The rows of the regression. Where pairs act as one row, there is one for each pair.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    pub(crate) bits: BitRows,
    /// Weights, scaled by a power of two so that the largest is about 1; twice that of a member where a pair acts as one row.
    pub(crate) weights: Vec<f64>,
    /// The power of two: scaled weight = weight · `scale`.
    pub(crate) scale: f64,
    /// Sizes of the rows of the *design*.
    sizes: Vec<u32>,
    /// Whether the bits are those of the complement; empty where that cannot be.
    flipped: Vec<bool>,
    pub(crate) form: Form,
    /// Whether a row stands for a pair.
    pub(crate) pairs: bool,
    /// Whether the members of pairs are rows of their own.
    pub(crate) pairs_apart: bool,
}

/// Targets of one output.
pub(crate) struct Targets {
    /// What is to be fitted, without the offset.
    pub(crate) values: Vec<f64>,
    /// What the targets have in common, where [`Rows::drift`] says how it enters. Kept apart because it may be much larger than
    /// what distinguishes the targets.
    pub(crate) offset: f64,
    /// The part of the residual sum of squares that no coefficients change, for scaled weights.
    pub(crate) rest: f64,
}

impl Rows {
    pub(crate) fn new(design: &Design<'_>, form: Form) -> Self {
        let coalitions = design.coalitions;
        let (players, width) = (coalitions.players(), coalitions.words_per_row());
        let pairs = design.paired && form.is_antisymmetric();
        let largest = design.weights.iter().copied().fold(0.0, f64::max);
        let scale = if largest > 0.0 { power_of_two_below(largest).recip() } else { 1.0 };
        let weights: Vec<f64> = match (design.paired, pairs) {
            (true, true) => design.weights.iter().map(|weight| 2.0 * (weight * scale)).collect(),
            (true, false) => design.weights.iter().flat_map(|weight| [weight * scale; 2]).collect(),
            (false, _) => design.weights.iter().map(|weight| weight * scale).collect(),
        };
        let mut words = Vec::with_capacity(weights.len() * width);
        let mut flipped = Vec::new();
        if form.is_antisymmetric() {
            let stride = if pairs { 2 } else { 1 };
            let last = u64::MAX >> (64 * width - players);
            for index in (0..coalitions.len()).step_by(stride) {
                let row = coalitions.row(index).words();
                let flip = 2 * coalitions.sizes()[index] as usize > players;
                flipped.push(flip);
                words.extend(row.iter().map(|word| if flip { !word } else { *word }));
                if flip && let Some(word) = words.last_mut() {
                    *word &= last;
                }
            }
        } else {
            words.extend_from_slice(coalitions.words());
        }
        let bits = BitRows { players, width, words };
        Self {
            bits,
            weights,
            scale,
            sizes: coalitions.sizes().to_vec(),
            flipped,
            form,
            pairs,
            pairs_apart: design.paired && !pairs,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// 1, or −1 where the bits are those of the complement.
    pub(crate) fn sign(&self, row: usize) -> f64 {
        if self.flipped.get(row).copied().unwrap_or(false) { -1.0 } else { 1.0 }
    }

    /// The targets of one output for the rows as they are stored; `sum` is `c` of that output.
    pub(crate) fn targets(&self, targets: impl Fn(usize) -> f64, sum: f64) -> Targets {
        let n = f64::from(self.bits.players as u32);
        let (mut offset, mut rest) = (0.0, 0.0);
        let values = match (self.form, self.pairs) {
            (Form::ZeroOne, _) => (0..self.len()).map(targets).collect(),
            (Form::Centred, false) => {
                offset = (0..self.len()).map(&targets).sum::<f64>() / self.len().max(1) as f64;
                let value = |row: usize| targets(row) - offset - f64::from(self.sizes[row]) / n * sum;
                (0..self.len()).map(|row| self.sign(row) * value(row)).collect()
            }
            (Form::Centred, true) => (0..self.len())
                .map(|row| {
                    let (first, second) = (targets(2 * row), targets(2 * row + 1));
                    let tilt = (2.0 * f64::from(self.sizes[2 * row]) - n) / (2.0 * n);
                    rest += self.weights[row] * (0.5 * (first + second - sum)).powi(2);
                    self.sign(row) * (0.5 * (first - second) - tilt * sum)
                })
                .collect(),
        };
        Targets { values, offset, rest }
    }

    /// Moves what the values still have in common to the offset: once the coefficients explain the offset, it should be small. No
    /// digits of small values are lost.
    pub(crate) fn move_offset(&self, targets: &mut Targets) {
        let values = &mut targets.values;
        let common = values.iter().enumerate().map(|(row, value)| self.sign(row) * value).sum::<f64>()
            / values.len().max(1) as f64;
        let moved = targets.offset + common;
        let change = moved - targets.offset;
        values.iter_mut().enumerate().for_each(|(row, value)| *value -= self.sign(row) * change);
        targets.offset = moved;
    }

    /// `Σ_k w_k σ_k P z_k` with the signs σ: what a common offset of all targets adds to the right-hand side. Counted in integers
    /// for each group of equal weights, so that it is exactly zero where every group is symmetric in the players.
    ///
    /// `None` where offsets do not enter: in pairs they cancel, and without the constraint they are a signal like any other.
    pub(crate) fn drift(&self, groups: &Groups) -> Option<Vec<f64>> {
        if self.form != Form::Centred || self.pairs {
            return None;
        }
        let players = self.bits.players;
        let mut drift = vec![0.0; players];
        let mut counts = vec![0_i64; players];
        for group in &groups.groups {
            counts.fill(0);
            for &row in &groups.order[group.start..group.end] {
                let step = if self.flipped[row as usize] { -1 } else { 1 };
                for (index, &word) in self.bits.row(row as usize).iter().enumerate() {
                    let mut rest = word;
                    while rest != 0 {
                        counts[64 * index + rest.trailing_zeros() as usize] += step;
                        rest &= rest - 1;
                    }
                }
            }
            let mean = counts.iter().sum::<i64>() as f64 / players as f64;
            for (drift, &count) in drift.iter_mut().zip(&counts) {
                *drift += group.weight * (count as f64 - mean);
            }
        }
        Some(drift)
    }
}

/// The largest power of two up to a positive number (of a subnormal one: the smallest normal power).
fn power_of_two_below(value: f64) -> f64 {
    f64::from_bits(value.max(f64::MIN_POSITIVE).to_bits() & 0xfff0_0000_0000_0000)
}
