//! The indices of the coalitions of a game.

use std::cmp::Ordering;
use std::sync::Arc;

use apportion_games::{Coalition, CoalitionView, Coalitions};

use super::index::InteractionIndex;
use crate::attributions::Attributions;
use crate::error::ValueError;

/// The interaction indices of coalitions of up to s players: those that were found, the index of every other one being zero.
///
/// They are kept by size, and coalitions of one size in the order of their members: {0}, {1}, …, {0, 1}, {0, 2}, …
///
/// ```
/// use apportion_games::Cooking;
/// use apportion_values::{InteractionIndex, enumerate_interactions};
///
/// let taylor = enumerate_interactions(&Cooking, &InteractionIndex::ShapleyTaylor, 2)?;
/// let total: f64 = taylor.values().iter().sum();
/// assert!((total - (taylor.predictions()[0] - taylor.base()[0])).abs() < 1e-12);
/// let pairs = taylor.strongest(2, 1, 0);
/// println!("{} {:?}, and {:?}", pairs[0].0, pairs[0].1, taylor.get(&[0, 1]));
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Interactions {
    index: InteractionIndex,
    order: usize,
    coalitions: Arc<Coalitions>,
    /// Coalitions × k.
    values: Vec<f64>,
    base: Vec<f64>,
    predictions: Vec<f64>,
    constant: Vec<f64>,
    std_errors: Option<Vec<f64>>,
}

impl Interactions {
    /// The indices `values` of `coalitions`, of which no two are the same: coalitions × k, with v(∅) and v(N), k each. The index of the empty
    /// coalition is v(∅) unless [another](Self::with_constant) is given. Coalitions that are in order already may be shared by many answers.
    ///
    /// # Panics
    ///
    /// If the numbers do not fit, a coalition is empty or has more members than the order, or stands twice.
    pub fn new(
        (index, order): (InteractionIndex, usize),
        coalitions: impl Into<Arc<Coalitions>>,
        mut values: Vec<f64>,
        base: Vec<f64>,
        predictions: Vec<f64>,
    ) -> Self {
        let (mut coalitions, outputs) = (coalitions.into(), base.len());
        assert!(outputs > 0 && predictions.len() == outputs, "v(∅) and v(N) of the same outputs");
        assert_eq!(values.len(), coalitions.len() * outputs, "one value per coalition and output");
        let are_in_order = |coalitions: &Coalitions| {
            (1..coalitions.len())
                .all(|at| compare(coalitions.row(at - 1), coalitions.row(at)) == Ordering::Less)
        };
        if !are_in_order(&coalitions) {
            let mut places: Vec<usize> = (0..coalitions.len()).collect();
            places.sort_unstable_by(|&a, &b| compare(coalitions.row(a), coalitions.row(b)));
            let mut sorted = Coalitions::with_capacity(coalitions.players(), places.len());
            let mut in_order = Vec::with_capacity(values.len());
            for place in places {
                sorted.push(coalitions.row(place));
                in_order.extend_from_slice(&values[place * outputs..][..outputs]);
            }
            assert!(are_in_order(&sorted), "a coalition stands twice");
            (coalitions, values) = (Arc::new(sorted), in_order);
        }
        let sizes = coalitions.sizes();
        assert!(sizes.first() != Some(&0), "the empty coalition has its index apart");
        assert!(sizes.last().is_none_or(|&size| size as usize <= order), "more players than the order");
        let constant = base.clone();
        Self { index, order, coalitions, values, base, predictions, constant, std_errors: None }
    }

    /// The same with another index of the empty coalition.
    ///
    /// # Panics
    ///
    /// If there are not k numbers.
    pub fn with_constant(self, constant: Vec<f64>) -> Self {
        assert_eq!(constant.len(), self.outputs(), "one number per output");
        Self { constant, ..self }
    }

    /// The same, being estimates with these standard errors: coalitions × k, in the order of [`coalitions`](Self::coalitions).
    ///
    /// # Panics
    ///
    /// If there is not one for each value.
    pub fn with_std_errors(self, std_errors: Vec<f64>) -> Self {
        assert_eq!(std_errors.len(), self.values.len(), "one standard error per value");
        Self { std_errors: Some(std_errors), ..self }
    }

    /// The standard errors of estimates, as [`values`](Self::values), NaN where they are not known; none of what is exact.
    pub fn std_errors(&self) -> Option<&[f64]> {
        self.std_errors.as_deref()
    }

    /// Which index it is.
    pub fn index(&self) -> &InteractionIndex {
        &self.index
    }

    /// The order s that was asked for: the most members of a coalition.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Number of players n.
    pub fn players(&self) -> usize {
        self.coalitions.players()
    }

    /// Number of outputs k.
    pub fn outputs(&self) -> usize {
        self.base.len()
    }

    /// The coalitions, by size and then in the order of their members.
    pub fn coalitions(&self) -> &Coalitions {
        &self.coalitions
    }

    /// The index of each coalition: coalitions × k, row-major.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// v(∅): k numbers.
    pub fn base(&self) -> &[f64] {
        &self.base
    }

    /// v(N): k numbers.
    pub fn predictions(&self) -> &[f64] {
        &self.predictions
    }

    /// The index of the empty coalition: v(∅), but for the faithful Banzhaf indices, which have the constant of their approximation, and the
    /// Walsh coefficients.
    pub fn constant(&self) -> &[f64] {
        &self.constant
    }

    /// The k indices of the coalition of these players, in any order; none where it was not found, and so is zero.
    ///
    /// # Panics
    ///
    /// If a player is not below [`players`](Self::players).
    pub fn get(&self, members: &[usize]) -> Option<&[f64]> {
        let wanted = Coalition::from_members(self.players(), members.iter().copied());
        if wanted.view().size() == 0 {
            return Some(&self.constant);
        }
        let (mut low, mut high) = (0, self.coalitions.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match compare(self.coalitions.row(middle), wanted.view()) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(self.at(middle)),
            }
        }
        None
    }

    /// The coalitions with their k indices.
    pub fn iter(&self) -> impl Iterator<Item = (CoalitionView<'_>, &[f64])> {
        self.coalitions.iter().zip(self.values.chunks_exact(self.outputs()))
    }

    /// The coalitions of `size` members with their k indices.
    pub fn of_size(&self, size: usize) -> impl Iterator<Item = (CoalitionView<'_>, &[f64])> {
        self.iter().filter(move |(coalition, _)| coalition.size() == size)
    }

    /// The `count` coalitions of at least `least` members whose index of one output is largest in size, the largest first, with all k
    /// indices; of equal ones those that come first.
    ///
    /// # Panics
    ///
    /// If there is no such output.
    pub fn strongest(&self, least: usize, count: usize, output: usize) -> Vec<(CoalitionView<'_>, &[f64])> {
        assert!(output < self.outputs(), "output {output} of {}", self.outputs());
        let mut found: Vec<_> = self.iter().filter(|(coalition, _)| coalition.size() >= least).collect();
        found.sort_by(|(_, one), (_, other)| other[output].abs().total_cmp(&one[output].abs()));
        found.truncate(count);
        found
    }

    /// The indices of single players and of pairs as a dense matrix, players × players × outputs: the index of {i} on the diagonal and the
    /// whole index of {i, j} at both of its places.
    ///
    /// Of the Shapley interaction index it is that of `Diagonal::Value` of the tree oracles.
    pub fn matrix(&self) -> Attributions {
        self.matrix_of(1.0)
    }

    /// The [standard errors](Self::std_errors) in the places of [`matrix`](Self::matrix), players × players × outputs.
    pub fn matrix_of_errors(&self) -> Option<Vec<f64>> {
        let errors = self.std_errors.clone()?;
        Some(Self { values: errors, ..self.clone() }.matrix().values)
    }

    /// The same with half of each pair's index at either place, so that it sums to what all of them sum to.
    ///
    /// Of `k-shapley` of order 2 it is the matrix of shap's tree explainer, of XGBoost's `pred_interactions` and of `Diagonal::Remainder`; of
    /// `shapley-taylor` of order 2 that of shap's exact explainer.
    pub fn matrix_of_halves(&self) -> Attributions {
        self.matrix_of(0.5)
    }

    fn matrix_of(&self, share: f64) -> Attributions {
        let (players, outputs) = (self.players(), self.outputs());
        let mut values = vec![0.0; players * players * outputs];
        for (coalition, index) in self.iter().take_while(|(coalition, _)| coalition.size() <= 2) {
            let mut members = coalition.members();
            let Some(first) = members.next() else { continue };
            let mut put = |row: usize, column: usize, share: f64| {
                let place = (row * players + column) * outputs;
                values[place..place + outputs]
                    .iter_mut()
                    .zip(index)
                    .for_each(|(place, index)| *place = share * index);
            };
            match members.next() {
                None => put(first, first, 1.0),
                Some(second) => {
                    put(first, second, share);
                    put(second, first, share);
                }
            }
        }
        Attributions::of_pairs(players, values, self.base.clone(), self.predictions.clone())
    }

    /// Refuses indices that are not finite.
    ///
    /// # Errors
    ///
    /// [`ValueError::InteractionOverflow`] with the first coalition that has one.
    pub fn finite(self) -> Result<Self, ValueError> {
        let outputs = self.outputs();
        let of = |at: usize, coalition: Coalition| ValueError::InteractionOverflow {
            coalition,
            output: at % outputs,
        };
        if let Some(at) = self.values.iter().position(|value| !value.is_finite()) {
            return Err(of(at, self.coalitions.row(at / outputs).to_coalition()));
        }
        match self.constant.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(of(at, Coalition::empty(self.players()))),
            None => Ok(self),
        }
    }

    fn at(&self, place: usize) -> &[f64] {
        &self.values[place * self.outputs()..][..self.outputs()]
    }
}

/// By size; of one size who has the first member that the other lacks.
fn compare(one: CoalitionView<'_>, other: CoalitionView<'_>) -> Ordering {
    let by_member = || {
        let pairs = one.words().iter().zip(other.words());
        let differ = pairs.map(|(a, b)| (a, a ^ b)).find(|(_, differ)| *differ != 0);
        differ.map_or(Ordering::Equal, |(word, differ)| match word >> differ.trailing_zeros() & 1 {
            1 => Ordering::Less,
            _ => Ordering::Greater,
        })
    };
    one.size().cmp(&other.size()).then_with(by_member)
}
