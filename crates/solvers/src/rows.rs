//! Converts the rows of a design to the form that its columns and the constraint require.
//!
//! # Notation
//!
//! `z` is a row of bits, `s` its size, `y` its target, `w` its weight, `c` the required sum of the
//! coefficients, `P = I − 11ᵀ/n`.
//!
//! # Forms
//!
//! Without constraint, the rows are `a = z − ρ`, with an *origin* ρ.
//!
//! *About a centre*: without an intercept, ρ = p 1, where p is the centre of the design; ρ = 0 for plain
//! bits.
//!
//! *About the mean*: an intercept is fitted by subtracting the weighted means z̄ and ȳ from rows and targets,
//! so that ρ = z̄ for any centre. Minimum norm then refers to the coefficients without the intercept.
//!
//! *Projected*: under the constraint (Leverage SHAP, Lemma 3.1), the rows are `a = P z = z − (s/n) 1`, with
//! targets `b = y − (s/n) c`. A row may be replaced with its complement, with the opposite sign. The smaller
//! of the two is used: it has fewer ones, and centring it loses fewer digits.
//!
//! # Pairs as one row
//!
//! Projected rows are antisymmetric: the complement has the row `−a`. The same holds for rows centred at ½.
//! It also holds for rows centred at the mean if every row has its complement with the same weight, because
//! the mean is then ½. A pair acts as one row. Here y and b are the targets of its first member, and ȳ and b̄
//! those of its complement. With `d = (b − b̄)/2` and `q = (b + b̄)/2`,
//!
//! ```text
//! w (a·u − b)² + w (−a·u − b̄)² = 2w (a·u − d)² + 2w q²
//! projected:  d = (y − ȳ)/2 − (2s − n)/(2n) c,   q = (y + ȳ − c)/2
//! about ½:    d = (y − ȳ)/2,                     q = (y + ȳ)/2,  minus its mean if there is an intercept
//! ```
//!
//! This is one row of weight 2w, and a part of the error that does not depend on the coefficients. The common
//! part of both targets cancels in `d` before it costs digits.

use crate::bits::BitRows;
use crate::design::{Design, Pairs};
use crate::gram::Groups;

/// The form of the rows of the regression, derived from rows z of bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// The row `z − p 1`, with the centre p.
    AboutCentre(f64),
    /// The row `z − z̄`, with the weighted mean z̄ of the rows.
    AboutMean,
    /// The row `P z`, projected on vectors that sum to zero.
    Projected,
}

/// The rows of the regression. If pairs act as one row, there is one row for each pair.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    pub(crate) bits: BitRows,
    /// The weights, scaled by a power of two so that the largest is about 1. If a pair acts as one row, this
    /// is twice the weight of a member.
    pub(crate) weights: Vec<f64>,
    /// The power of two that scales the weights: scaled weight = weight · `scale`.
    pub(crate) scale: f64,
    /// The sizes of the rows in the *design*.
    sizes: Vec<u32>,
    /// For each row, whether it is stored as its complement; empty if this is not the case for any row.
    flipped: Vec<bool>,
    pub(crate) form: Form,
    /// The centre of the columns, if there is an intercept.
    pub(crate) intercept_at: Option<f64>,
    /// Whether each row represents a pair.
    pub(crate) pairs: bool,
    /// Whether the members of pairs are separate rows.
    pub(crate) pairs_apart: bool,
}

/// The targets for one output.
pub(crate) struct Targets {
    /// The values to be fitted, without the offset.
    pub(crate) values: Vec<f64>,
    /// The common part of the targets. It is stored separately because it may be much larger than the
    /// differences between the targets. About the mean, and in pairs with an intercept, the intercept
    /// explains it; otherwise it enters through [`Rows::drift`].
    pub(crate) offset: f64,
    /// The part of the residual sum of squares that does not depend on the coefficients, with scaled weights.
    pub(crate) rest: f64,
}

impl Rows {
    /// Converts a design. `constrained` indicates whether there is a constraint on the sum of the
    /// coefficients.
    pub(crate) fn new(design: &Design<'_>, constrained: bool) -> Self {
        let coalitions = design.coalitions;
        let (players, width) = (coalitions.players(), coalitions.words_per_row());
        let alike = design.pairs == Pairs::Alike;
        let (form, antisymmetric) = match (constrained, design.intercept) {
            (true, _) => (Form::Projected, true),
            (false, true) if alike => (Form::AboutCentre(0.5), true),
            (false, true) => (Form::AboutMean, false),
            (false, false) => (Form::AboutCentre(design.centre), design.centre == 0.5),
        };
        let pairs = alike && antisymmetric;
        let largest = design.weights.iter().copied().fold(0.0, f64::max);
        let scale = if largest > 0.0 { power_of_two_below(largest).recip() } else { 1.0 };
        let weights: Vec<f64> = match (alike, pairs) {
            (true, true) => design.weights.iter().map(|weight| 2.0 * (weight * scale)).collect(),
            (true, false) => design.weights.iter().flat_map(|weight| [weight * scale; 2]).collect(),
            (false, _) => design.weights.iter().map(|weight| weight * scale).collect(),
        };
        let mut words = Vec::with_capacity(weights.len() * width);
        let mut flipped = Vec::new();
        let last = u64::MAX >> (64 * width - players);
        for index in (0..coalitions.len()).step_by(if pairs { 2 } else { 1 }) {
            let row = coalitions.row(index).words();
            if form != Form::Projected {
                words.extend_from_slice(row);
                continue;
            }
            let flip = 2 * coalitions.sizes()[index] as usize > players;
            flipped.push(flip);
            words.extend(row.iter().map(|word| if flip { !word } else { *word }));
            if flip && let Some(word) = words.last_mut() {
                *word &= last;
            }
        }
        Self {
            bits: BitRows { players, width, words },
            weights,
            scale,
            sizes: coalitions.sizes().to_vec(),
            flipped,
            form,
            intercept_at: (design.intercept && !constrained).then_some(design.centre),
            pairs,
            pairs_apart: design.is_paired() && !pairs,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Returns the number of units in the design: rows, or pairs of rows.
    pub(crate) fn units(&self) -> usize {
        if self.pairs_apart { self.len() / 2 } else { self.len() }
    }

    /// Returns −1 if a row is stored as its complement, else 1.
    pub(crate) fn sign(&self, row: usize) -> f64 {
        if self.flipped.get(row).copied().unwrap_or(false) { -1.0 } else { 1.0 }
    }

    /// Returns the origin ρ. `total` is the total weight of all rows, and `held` contains, for each player,
    /// the weight of the rows that contain it.
    pub(crate) fn origin(&self, total: f64, held: impl Iterator<Item = f64>) -> Vec<f64> {
        match self.form {
            Form::AboutCentre(centre) => vec![centre; self.bits.players],
            Form::AboutMean if total > 0.0 => held.map(|weight| weight / total).collect(),
            Form::AboutMean | Form::Projected => vec![0.0; self.bits.players],
        }
    }

    /// Returns `‖a_k‖²` for every row, relative to the given origin.
    pub(crate) fn squared_norms(&self, origin: &[f64]) -> Vec<f64> {
        if self.form == Form::Projected {
            let n = f64::from(self.bits.players as u32);
            let size = |row: &[u64]| f64::from(row.iter().map(|word| word.count_ones()).sum::<u32>());
            let square = |size: f64| size * (n - size) / n;
            return self.bits.words.chunks_exact(self.bits.width).map(|row| square(size(row))).collect();
        }
        // Bits equal their own squares, so (z − ρ)² = z (1 − 2ρ) + ρ².
        let tilted: Vec<f64> = origin.iter().map(|origin| 1.0 - 2.0 * origin).collect();
        let of_origin: f64 = origin.iter().map(|origin| origin * origin).sum();
        let mut squares = vec![0.0; self.len()];
        self.bits.times(&tilted, &mut squares);
        squares.iter_mut().for_each(|square| *square = (*square + of_origin).max(0.0));
        squares
    }

    /// Returns the targets of the rows as stored, for one output. `sum` is the required sum `c` for this
    /// output.
    pub(crate) fn targets(&self, targets: impl Fn(usize) -> f64, sum: f64) -> Targets {
        let n = f64::from(self.bits.players as u32);
        if !self.pairs {
            let offset = self.mean(&(0..self.len()).map(&targets).collect::<Vec<f64>>());
            let share = if self.form == Form::Projected { sum / n } else { 0.0 };
            let value = |row: usize| targets(row) - offset - f64::from(self.sizes[row]) * share;
            let values = (0..self.len()).map(|row| self.sign(row) * value(row)).collect();
            return Targets { values, offset, rest: 0.0 };
        }
        let pair = |row: usize| (targets(2 * row), targets(2 * row + 1));
        let tilt = |row: usize| match self.form {
            Form::Projected => (2.0 * f64::from(self.sizes[2 * row]) - n) / (2.0 * n),
            Form::AboutCentre(_) | Form::AboutMean => 0.0,
        };
        let difference = |row: usize| 0.5 * (pair(row).0 - pair(row).1);
        let values =
            (0..self.len()).map(|row| self.sign(row) * (difference(row) - tilt(row) * sum)).collect();
        let common: Vec<f64> = (0..self.len()).map(|row| 0.5 * (pair(row).0 + pair(row).1 - sum)).collect();
        let offset = if self.intercept_at.is_some() { self.mean(&common) } else { 0.0 };
        let squares = common.iter().map(|common| (common - offset).powi(2));
        let rest = self.weights.iter().zip(squares).map(|(weight, square)| weight * square).sum();
        Targets { values, offset, rest }
    }

    /// Returns the weighted mean of `values`, which contains one number for each row; 0 if all weights are
    /// zero.
    fn mean(&self, values: &[f64]) -> f64 {
        let total: f64 = self.weights.iter().sum();
        let sum: f64 = self.weights.iter().zip(values).map(|(weight, value)| weight * value).sum();
        if total > 0.0 { sum / total } else { 0.0 }
    }

    /// Moves the weighted mean of the values to the offset. Exactly the change of the rounded offset is
    /// subtracted from the values, so the sum of a value and the offset is preserved, and small values do not
    /// lose digits. The exception is an offset that an intercept explains: the mean itself is subtracted, so
    /// the values then have mean 0, and the offset may be rounded.
    pub(crate) fn move_offset(&self, targets: &mut Targets) {
        let values = &mut targets.values;
        let signed: Vec<f64> = values.iter().enumerate().map(|(row, value)| self.sign(row) * value).collect();
        let common = self.mean(&signed);
        let moved = targets.offset + common;
        let change = if self.intercept_at.is_some() { common } else { moved - targets.offset };
        values.iter_mut().enumerate().for_each(|(row, value)| *value -= self.sign(row) * change);
        targets.offset = moved;
    }

    /// Returns `Σ_k w_k σ_k a_k` with the signs σ: the contribution of a common offset of all targets to the
    /// right-hand side. It is computed with integer counts for each group of equal weights. It is therefore
    /// exactly zero if every group is symmetric in the players, or if rows are centred at ½.
    ///
    /// Returns `None` if offsets do not matter, because they cancel in pairs, or because an intercept
    /// explains them.
    pub(crate) fn drift(&self, groups: &Groups) -> Option<Vec<f64>> {
        if self.pairs || self.intercept_at.is_some() {
            return None;
        }
        let players = self.bits.players;
        let mut drift = vec![0.0; players];
        let mut counts = vec![0_i64; players];
        for group in &groups.groups {
            counts.fill(0);
            let rows = &groups.order[group.start..group.end];
            for &row in rows {
                let step = if self.flipped.get(row as usize) == Some(&true) { -1 } else { 1 };
                for (index, &word) in self.bits.row(row as usize).iter().enumerate() {
                    let mut rest = word;
                    while rest != 0 {
                        counts[64 * index + rest.trailing_zeros() as usize] += step;
                        rest &= rest - 1;
                    }
                }
            }
            let middle = match self.form {
                Form::AboutCentre(centre) => centre * rows.len() as f64,
                Form::AboutMean | Form::Projected => counts.iter().sum::<i64>() as f64 / players as f64,
            };
            for (drift, &count) in drift.iter_mut().zip(&counts) {
                *drift += group.weight * (count as f64 - middle);
            }
        }
        Some(drift)
    }
}

/// Returns a unit for the targets of each output: a power of two near the largest number. In these units,
/// neither squares nor differences overflow or underflow, and the scale of the targets only affects the
/// exponents of results.
pub(crate) fn units(targets: &[f64], outputs: usize, sums: Option<&[f64]>) -> Vec<f64> {
    let largest = |output: usize| {
        let targets = targets.iter().skip(output).step_by(outputs);
        let sum = sums.map_or(0.0, |sums| sums[output]);
        targets.fold(sum.abs(), |largest, target| largest.max(target.abs()))
    };
    // The limits ensure that reciprocals of units are normal numbers, too.
    let unit = |largest: f64| power_of_two_below(largest).clamp(2.0 * f64::MIN_POSITIVE, MAX_UNIT);
    (0..outputs)
        .map(|output| match largest(output) {
            0.0 => 1.0,
            largest => unit(largest),
        })
        .collect()
}

/// The largest unit, 2^1022.
pub(crate) const MAX_UNIT: f64 = 1.0 / f64::MIN_POSITIVE;

/// Returns the largest power of two that does not exceed a positive number, or the smallest normal power of
/// two for a subnormal number.
pub(crate) fn power_of_two_below(value: f64) -> f64 {
    f64::from_bits(value.max(f64::MIN_POSITIVE).to_bits() & 0xfff0_0000_0000_0000)
}
