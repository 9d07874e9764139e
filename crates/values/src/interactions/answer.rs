//! The results of computing interaction indices.

use std::cmp::Ordering;
use std::sync::Arc;

use apportion_games::{Coalition, CoalitionView, Coalitions};

use super::index::InteractionIndex;
use crate::attributions::Attributions;
use crate::error::ValueError;

/// The interaction indices of coalitions of up to s players, where s is the [order](Self::order). The index
/// of every coalition that is not stored is zero.
///
/// The coalitions are sorted by size, and lexicographically by members within a size: {0}, {1}, …, {0, 1},
/// {0, 2}, …
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
    /// The interaction indices, coalitions × k.
    values: Vec<f64>,
    base: Vec<f64>,
    predictions: Vec<f64>,
    constant: Vec<f64>,
    std_errors: Option<Vec<f64>>,
}

impl Interactions {
    /// Creates the result from distinct `coalitions` and their interaction indices `values`, coalitions × k;
    /// v(∅) and v(N) are k numbers each. The index of the empty coalition is v(∅), unless changed by
    /// [`with_constant`](Self::with_constant). Coalitions that are already sorted are not copied, so several
    /// results can share them.
    ///
    /// # Panics
    ///
    /// If the lengths do not match, or a coalition is empty, has more members than the order, or is repeated.
    pub fn new(
        (index, order): (InteractionIndex, usize),
        coalitions: impl Into<Arc<Coalitions>>,
        mut values: Vec<f64>,
        base: Vec<f64>,
        predictions: Vec<f64>,
    ) -> Self {
        let (mut coalitions, outputs) = (coalitions.into(), base.len());
        assert!(
            outputs > 0 && predictions.len() == outputs,
            "v(∅) and v(N) must have the same number of outputs, at least one"
        );
        assert_eq!(values.len(), coalitions.len() * outputs, "expected one value per coalition and output");
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
            assert!(are_in_order(&sorted), "a coalition is listed twice");
            (coalitions, values) = (Arc::new(sorted), in_order);
        }
        let sizes = coalitions.sizes();
        assert!(sizes.first() != Some(&0), "the index of the empty coalition is stored separately");
        assert!(
            sizes.last().is_none_or(|&size| size as usize <= order),
            "a coalition has more players than the order"
        );
        let constant = base.clone();
        Self { index, order, coalitions, values, base, predictions, constant, std_errors: None }
    }

    /// Replaces the index of the empty coalition.
    ///
    /// # Panics
    ///
    /// If the length is not k.
    pub fn with_constant(self, constant: Vec<f64>) -> Self {
        assert_eq!(constant.len(), self.outputs(), "expected one number per output");
        Self { constant, ..self }
    }

    /// Sets the standard errors of estimated indices: coalitions × k numbers, in the order of
    /// [`coalitions`](Self::coalitions).
    ///
    /// # Panics
    ///
    /// If the number of standard errors differs from the number of values.
    pub fn with_std_errors(self, std_errors: Vec<f64>) -> Self {
        assert_eq!(std_errors.len(), self.values.len(), "expected one standard error per value");
        Self { std_errors: Some(std_errors), ..self }
    }

    /// Returns the standard errors of estimated indices, in the order of [`values`](Self::values); NaN if an
    /// error is unknown. Returns `None` for exact indices.
    pub fn std_errors(&self) -> Option<&[f64]> {
        self.std_errors.as_deref()
    }

    /// Returns the interaction index that was computed.
    pub fn index(&self) -> &InteractionIndex {
        &self.index
    }

    /// Returns the order s: the maximum number of members in a coalition.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Returns the number of players n.
    pub fn players(&self) -> usize {
        self.coalitions.players()
    }

    /// Returns the number of outputs k.
    pub fn outputs(&self) -> usize {
        self.base.len()
    }

    /// Returns the coalitions in the order of the results: by size, then lexicographically by members.
    pub fn coalitions(&self) -> &Coalitions {
        &self.coalitions
    }

    /// Returns the interaction indices of all coalitions: coalitions × k, row-major.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns v(∅), one number per output.
    pub fn base(&self) -> &[f64] {
        &self.base
    }

    /// Returns v(N), one number per output.
    pub fn predictions(&self) -> &[f64] {
        &self.predictions
    }

    /// Returns the interaction index of the empty coalition, one number per output. For faithful Banzhaf
    /// indices, this is the constant term of the approximation; for Walsh coefficients, it is the mean of v
    /// over all coalitions. For all other indices, it is v(∅).
    pub fn constant(&self) -> &[f64] {
        &self.constant
    }

    /// Returns the interaction indices of the coalition with these members, in any order; one number per
    /// output. Returns `None` if the coalition is not stored; its index is then zero.
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

    /// Returns an iterator over the coalitions, each with its interaction indices, one per output.
    pub fn iter(&self) -> impl Iterator<Item = (CoalitionView<'_>, &[f64])> {
        self.coalitions.iter().zip(self.values.chunks_exact(self.outputs()))
    }

    /// Returns an iterator over the coalitions of `size` members, each with its interaction indices, one per
    /// output.
    pub fn of_size(&self, size: usize) -> impl Iterator<Item = (CoalitionView<'_>, &[f64])> {
        self.iter().filter(move |(coalition, _)| coalition.size() == size)
    }

    /// Returns the `count` coalitions of at least `min_size` members whose interaction index for `output` is
    /// the largest in absolute value, in descending order. Each coalition has its indices for all outputs;
    /// ties keep the order of the coalitions.
    ///
    /// # Panics
    ///
    /// If the output does not exist.
    pub fn strongest(
        &self,
        min_size: usize,
        count: usize,
        output: usize,
    ) -> Vec<(CoalitionView<'_>, &[f64])> {
        assert!(
            output < self.outputs(),
            "output {output} is out of range: there are {} outputs",
            self.outputs()
        );
        let mut found: Vec<_> = self.iter().filter(|(coalition, _)| coalition.size() >= min_size).collect();
        found.sort_by(|(_, one), (_, other)| other[output].abs().total_cmp(&one[output].abs()));
        found.truncate(count);
        found
    }

    /// Returns the interaction indices of single players and of pairs as a dense matrix,
    /// players × players × outputs. The diagonal entry of player i is the index of {i}; both entries for a
    /// pair contain the full index of {i, j}.
    ///
    /// For the Shapley interaction index, this is the matrix that tree methods return with `Diagonal::Value`.
    pub fn matrix(&self) -> Attributions {
        self.matrix_of(1.0)
    }

    /// Returns the [standard errors](Self::std_errors) in the layout of [`matrix`](Self::matrix),
    /// players × players × outputs.
    pub fn matrix_of_errors(&self) -> Option<Vec<f64>> {
        let errors = self.std_errors.clone()?;
        Some(Self { values: errors, ..self.clone() }.matrix().values)
    }

    /// Returns the [`matrix`](Self::matrix) with each pair's index divided equally between its two entries,
    /// so that all entries sum to the sum of all indices.
    ///
    /// For `k-shapley` of order 2, this is the matrix of shap's tree explainer, of XGBoost's
    /// `pred_interactions`, and of tree methods with `Diagonal::Remainder`. For `shapley-taylor` of order 2,
    /// it is the matrix of shap's exact explainer.
    pub fn matrix_of_halves(&self) -> Attributions {
        self.matrix_of(0.5)
    }

    /// Returns the [`matrix_of_halves`](Self::matrix_of_halves), in which the other entries of each row are
    /// subtracted from the entry on the diagonal. Each row then sums to the index of its player.
    ///
    /// For the interaction index of a semivalue, each row sums to the value of the player. Tree methods
    /// return the same matrix with `Diagonal::Remainder`.
    pub fn matrix_of_remainders(&self) -> Attributions {
        let (players, outputs) = (self.players(), self.outputs());
        let mut matrix = self.matrix_of_halves();
        for player in 0..players {
            for output in 0..outputs {
                let at = |other: usize| (player * players + other) * outputs + output;
                let others = (0..players).filter(|&other| other != player);
                let sum: f64 = others.map(|other| matrix.values[at(other)]).sum();
                matrix.values[at(player)] -= sum;
            }
        }
        matrix
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
        Attributions::for_pairs(players, values, self.base.clone(), self.predictions.clone())
    }

    /// Returns these interaction indices, or an error if one of them is not finite.
    ///
    /// # Errors
    ///
    /// [`ValueError::InteractionOverflow`] with the first coalition whose index is not finite.
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

/// Compares coalitions by size, then lexicographically by members.
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
