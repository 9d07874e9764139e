//! Columns of numbers that are affine functions of the features.
//!
//! ```text
//! c + Σ_j w_j x_j
//! ```
//!
//! Where the feature j is missing, its term is another number in the place of `w_j x_j`: NaN, unless the graph fills it in.

use super::stop::Stop;

/// What a feature adds to a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    pub(super) feature: u32,
    pub(super) coefficient: f64,
    /// What is added where the feature is missing; NaN where nothing fills it in.
    pub(super) missing: f64,
}

/// One column; its terms have ascending features.
#[derive(Debug, Clone, Default)]
pub(super) struct Column {
    pub(super) constant: f64,
    pub(super) terms: Vec<Term>,
}

/// Some columns, at least one.
#[derive(Debug, Clone)]
pub(super) struct Columns(pub(super) Vec<Column>);

/// Terms that may still be made, so that a short file cannot ask for any time and memory.
pub(super) struct Allowance(pub(super) usize);

impl Allowance {
    pub(super) fn spend(&mut self, terms: usize) -> Result<(), Stop> {
        self.0 = self.0.checked_sub(terms).ok_or(Stop::Other)?;
        Ok(())
    }
}

impl Column {
    /// `scale · (column + before) + after`.
    fn affine(&self, before: f64, scale: f64, after: f64) -> Self {
        let of_term = |term: &Term| Term {
            coefficient: scale * term.coefficient,
            missing: scale * term.missing,
            ..*term
        };
        Self {
            constant: scale * (self.constant + before) + after,
            terms: self.terms.iter().map(of_term).collect(),
        }
    }

    fn mirrors(&self, other: &Self) -> bool {
        let opposite = |a: f64, b: f64| a == -b || a.is_nan() && b.is_nan();
        let terms = |(a, b): (&Term, &Term)| {
            a.feature == b.feature && opposite(a.coefficient, b.coefficient) && opposite(a.missing, b.missing)
        };
        self.terms.len() == other.terms.len()
            && opposite(self.constant, other.constant)
            && self.terms.iter().zip(&other.terms).all(terms)
    }

    fn same(&self, other: &Self) -> bool {
        self.mirrors(&other.affine(0.0, -1.0, 0.0))
    }
}

impl Columns {
    /// The features from `first` on, as they are.
    pub(super) fn input(first: usize, count: usize) -> Self {
        let column = |feature: usize| Column {
            constant: 0.0,
            terms: vec![Term { feature: feature as u32, coefficient: 1.0, missing: f64::NAN }],
        };
        Self((first..first + count).map(column).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn terms(&self) -> usize {
        self.0.iter().map(|column| 1 + column.terms.len()).sum()
    }

    /// `scale_i · (column_i + before_i) + after_i`, of the numbers for each column.
    pub(super) fn affine(&self, numbers: impl Fn(usize) -> [f64; 3]) -> Self {
        let of_column = |(index, column): (usize, &Column)| {
            let [before, scale, after] = numbers(index);
            column.affine(before, scale, after)
        };
        Self(self.0.iter().enumerate().map(of_column).collect())
    }

    /// `Σ_i weight(i, k) · column_i + after(k)` for each of `count` numbers k.
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
            }
            columns.push(Column { constant, terms: sums.iter_mut().filter_map(Option::take).collect() });
        }
        Ok(Self(columns))
    }

    /// The sum of each column with that of `other`, of which there are as many.
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

    /// The columns at these places.
    pub(super) fn chosen(&self, places: &[usize]) -> Result<Self, Stop> {
        let column = |&place: &usize| self.0.get(place).cloned().ok_or(Stop::Other);
        match places.is_empty() {
            true => Err(Stop::Other),
            false => Ok(Self(places.iter().map(column).collect::<Result<_, _>>()?)),
        }
    }

    /// The columns with a number in the place of each that is missing. They must be functions of one feature each, none of which is
    /// filled in.
    pub(super) fn filled(&self, fill: impl Fn(usize) -> f64) -> Result<Self, Stop> {
        let of_column = |(index, column): (usize, &Column)| match column.terms[..] {
            [term] if term.missing.is_nan() => {
                let missing = fill(index) - column.constant;
                Ok(Column { constant: column.constant, terms: vec![Term { missing, ..term }] })
            }
            _ => Err(Stop::Other),
        };
        Ok(Self(self.0.iter().enumerate().map(of_column).collect::<Result<_, _>>()?))
    }

    /// Whether there are two columns, the second of which is the first with the other sign.
    pub(super) fn are_mirrored(&self) -> bool {
        matches!(&self.0[..], [first, second] if first.mirrors(second))
    }

    pub(super) fn same(&self, other: &Self) -> bool {
        self.len() == other.len() && self.0.iter().zip(&other.0).all(|(one, other)| one.same(other))
    }
}
