//! Columns that are sums of affine functions of the features and of leaves of trees.
//!
//! ```text
//! c + Σ_j w_j x_j + Σ_t leaf_t(x)
//! ```
//!
//! If feature j is missing, `w_j x_j` is replaced with NaN, or with another number if the graph imputes it.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::stop::Stop;

/// The term of a feature in a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    pub(super) feature: u32,
    pub(super) coefficient: f64,
    /// The value of the term if the feature is missing; NaN unless the feature is imputed.
    pub(super) missing: f64,
}

/// The terms of a forest in a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Leaves {
    /// A weighted sum of the outputs of the forest, as the weight of each output.
    Weighted(BTreeMap<usize, f64>),
    /// A value for each leaf of a forest with a single tree.
    Mapped(Rc<[f64]>),
}

impl Leaves {
    fn scaled(&self, scale: f64) -> Self {
        match self {
            Self::Weighted(weights) => {
                Self::Weighted(weights.iter().map(|(&output, weight)| (output, scale * weight)).collect())
            }
            Self::Mapped(values) => Self::Mapped(values.iter().map(|value| scale * value).collect()),
        }
    }

    /// Adds the terms that the same forest has in another column.
    fn add(&mut self, other: &Self) {
        match (self, other) {
            (Self::Weighted(own), Self::Weighted(others)) => {
                for (&output, weight) in others {
                    *own.entry(output).or_default() += weight;
                }
            }
            (Self::Mapped(own), Self::Mapped(others)) => {
                *own = own.iter().zip(others.iter()).map(|(one, other)| one + other).collect();
            }
            // All terms of a forest have the same variant.
            (Self::Weighted(_), Self::Mapped(_)) | (Self::Mapped(_), Self::Weighted(_)) => {}
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Weighted(weights) => weights.len(),
            Self::Mapped(values) => values.len(),
        }
    }
}

/// A column. Its terms are sorted by feature.
#[derive(Debug, Clone, Default)]
pub(super) struct Column {
    pub(super) constant: f64,
    pub(super) terms: Vec<Term>,
    /// Terms of forests, by the index of the forest.
    pub(super) trees: BTreeMap<usize, Leaves>,
}

/// A non-empty list of columns.
#[derive(Debug, Clone)]
pub(super) struct Columns(pub(super) Vec<Column>);

/// The number of terms that may still be created, so that a short file cannot take unlimited time and memory.
pub(super) struct Allowance(pub(super) usize);

impl Allowance {
    pub(super) fn spend(&mut self, terms: usize) -> Result<(), Stop> {
        self.0 = self.0.checked_sub(terms).ok_or(Stop::Other)?;
        Ok(())
    }
}

impl Column {
    /// Creates a column with the value of a feature.
    pub(super) fn feature(feature: u32) -> Self {
        Self { terms: vec![Term { feature, coefficient: 1.0, missing: f64::NAN }], ..Self::default() }
    }

    /// Creates a column with the leaves of a forest plus a constant.
    pub(super) fn leaves(constant: f64, forest: usize, leaves: Leaves) -> Self {
        Self { constant, trees: BTreeMap::from([(forest, leaves)]), ..Self::default() }
    }

    fn len(&self) -> usize {
        1 + self.terms.len() + self.trees.values().map(Leaves::len).sum::<usize>()
    }

    /// Imputes missing values with a number. Returns `None` unless the column is a function of one feature
    /// that is not yet imputed.
    pub(super) fn filled(&self, fill: f64) -> Option<Self> {
        match self.terms[..] {
            [term] if term.missing.is_nan() && self.trees.is_empty() => {
                let missing = fill - self.constant;
                Some(Self { terms: vec![Term { missing, ..term }], ..self.clone() })
            }
            _ => None,
        }
    }

    /// Computes `scale · (column + before) + after`.
    pub(super) fn affine(&self, before: f64, scale: f64, after: f64) -> Self {
        let of_term = |term: &Term| Term {
            coefficient: scale * term.coefficient,
            missing: scale * term.missing,
            ..*term
        };
        Self {
            constant: scale * (self.constant + before) + after,
            terms: self.terms.iter().map(of_term).collect(),
            trees: self.trees.iter().map(|(&forest, leaves)| (forest, leaves.scaled(scale))).collect(),
        }
    }

    fn mirrors(&self, other: &Self) -> bool {
        let opposite = |a: f64, b: f64| a == -b || a.is_nan() && b.is_nan();
        let terms = |(a, b): (&Term, &Term)| {
            a.feature == b.feature && opposite(a.coefficient, b.coefficient) && opposite(a.missing, b.missing)
        };
        self.terms.len() == other.terms.len()
            && self.trees.len() == other.trees.len()
            && self.trees.iter().all(|(forest, leaves)| other.trees.get(forest) == Some(&leaves.scaled(-1.0)))
            && opposite(self.constant, other.constant)
            && self.terms.iter().zip(&other.terms).all(terms)
    }

    fn same(&self, other: &Self) -> bool {
        self.mirrors(&other.affine(0.0, -1.0, 0.0))
    }
}

impl Columns {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn terms(&self) -> usize {
        self.0.iter().map(Column::len).sum()
    }

    /// Computes `scale_i · (column_i + before_i) + after_i` for each column i.
    pub(super) fn affine(&self, numbers: impl Fn(usize) -> [f64; 3]) -> Self {
        let of_column = |(index, column): (usize, &Column)| {
            let [before, scale, after] = numbers(index);
            column.affine(before, scale, after)
        };
        Self(self.0.iter().enumerate().map(of_column).collect())
    }

    /// Computes `Σ_i weight(i, k) · column_i + after(k)` for each k below `count`.
    pub(super) fn times(
        &self,
        count: usize,
        weight: impl Fn(usize, usize) -> f64,
        after: impl Fn(usize) -> f64,
        allowance: &mut Allowance,
    ) -> Result<Self, Stop> {
        allowance.spend(self.terms().saturating_mul(count))?;
        let features =
            1 + self.0.iter().flat_map(|column| &column.terms).map(|term| term.feature).max().unwrap_or(0);
        let mut sums: Vec<Option<Term>> = vec![None; features as usize];
        let mut columns = Vec::with_capacity(count);
        for k in 0..count {
            let mut constant = after(k);
            let mut trees: BTreeMap<usize, Leaves> = BTreeMap::new();
            for (index, column) in self.0.iter().enumerate() {
                let weight = weight(index, k);
                constant += weight * column.constant;
                for term in &column.terms {
                    let sum = sums[term.feature as usize].get_or_insert(Term {
                        feature: term.feature,
                        coefficient: 0.0,
                        missing: 0.0,
                    });
                    sum.coefficient += weight * term.coefficient;
                    sum.missing += weight * term.missing;
                }
                for (&forest, leaves) in &column.trees {
                    let scaled = leaves.scaled(weight);
                    match trees.get_mut(&forest) {
                        Some(sum) => sum.add(&scaled),
                        None => drop(trees.insert(forest, scaled)),
                    }
                }
            }
            columns.push(Column {
                constant,
                terms: sums.iter_mut().filter_map(Option::take).collect(),
                trees,
            });
        }
        Ok(Self(columns))
    }

    /// Returns these columns plus `factor` times the columns of `other`. Both must have the same number of
    /// columns.
    pub(super) fn plus(&self, other: &Self, factor: f64, allowance: &mut Allowance) -> Result<Self, Stop> {
        if self.len() != other.len() {
            return Err(Stop::Other);
        }
        let sum = |(one, other): (&Column, &Column)| {
            let both = Self(vec![one.clone(), other.clone()]);
            both.times(1, |index, _| [1.0, factor][index], |_| 0.0, allowance)
        };
        let sums: Result<Vec<Self>, Stop> = self.0.iter().zip(&other.0).map(sum).collect();
        Ok(Self(sums?.into_iter().flat_map(|columns| columns.0).collect()))
    }

    /// Returns the columns with these indices.
    pub(super) fn chosen(&self, places: &[usize]) -> Result<Self, Stop> {
        let column = |&place: &usize| self.0.get(place).cloned().ok_or(Stop::Other);
        match places.is_empty() {
            true => Err(Stop::Other),
            false => Ok(Self(places.iter().map(column).collect::<Result<_, _>>()?)),
        }
    }

    /// Returns the sum of the two columns, if there are two and their sum is the same for all rows.
    pub(super) fn constant_sum(&self) -> Option<f64> {
        let [first, second] = &self.0[..] else { return None };
        let without = |column: &Column| Column { constant: 0.0, ..column.clone() };
        without(first).mirrors(&without(second)).then_some(first.constant + second.constant)
    }

    /// Returns the forest with a single tree whose leaf determines all columns, if there is one. Some columns
    /// may be constant.
    pub(super) fn tree(&self) -> Option<usize> {
        let mut found = None;
        for column in &self.0 {
            if !column.terms.is_empty() || column.trees.len() > 1 {
                return None;
            }
            let Some((&forest, leaves)) = column.trees.first_key_value() else { continue };
            if !matches!(leaves, Leaves::Mapped(_)) || *found.get_or_insert(forest) != forest {
                return None;
            }
        }
        found
    }

    /// Returns whether there are two columns, the second of which is the negative of the first.
    pub(super) fn are_mirrored(&self) -> bool {
        matches!(&self.0[..], [first, second] if first.mirrors(second))
    }

    pub(super) fn same(&self, other: &Self) -> bool {
        self.len() == other.len() && self.0.iter().zip(&other.0).all(|(one, other)| one.same(other))
    }
}
