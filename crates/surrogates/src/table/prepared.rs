//! A surrogate that is prepared for its background.

use apportion_games::{Background, Coalitions, Model, Partition, Rows};
use apportion_trees::{Exact, MarginalTreeExplainer};
use apportion_values::{Attributions, InteractionIndex, Interactions, Semivalue, Value};

use super::hybrids::CheckedModel;
use crate::error::{Result, SurrogateError};
use crate::surrogate::Surrogate;

/// Adds numbers to sums.
fn add(sums: &mut [f64], numbers: &[f64]) {
    sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
}

/// A surrogate with its explainer, and with data of the background rows that predictions need.
pub(crate) struct Prepared<'a> {
    pub(crate) surrogate: &'a Surrogate,
    background: &'a Background,
    trees: MarginalTreeExplainer<'a>,
    /// The bins of the background rows: B × features.
    pub(crate) bins: Vec<u8>,
    /// The summands of the linear part: B × features × outputs.
    pub(crate) summands: Vec<f64>,
    /// The predictions for the background rows: B × outputs.
    pub(crate) predictions: Vec<f64>,
}

impl<'a> Prepared<'a> {
    /// Prepares a surrogate that was learned with this background.
    pub(crate) fn new(surrogate: &'a Surrogate, background: &'a Background) -> Result<Self> {
        let rows = background.as_rows();
        let size = surrogate.features() * surrogate.outputs();
        let mut summands = vec![0.0; rows.len() * size];
        for (row, out) in rows.iter().zip(summands.chunks_exact_mut(size)) {
            surrogate.linear.summands(row, out);
        }
        let trees = surrogate.tree_explainer(background)?;
        let (bins, predictions) = (surrogate.forest.bins.bins(rows), surrogate.predict(rows)?);
        Ok(Self { surrogate, background, trees, bins, summands, predictions })
    }

    /// Prepares a surrogate for a model, and returns the outputs of the model for the background rows (B ×
    /// outputs) as well.
    pub(crate) fn for_model<M: Model + ?Sized>(
        surrogate: &'a Surrogate,
        model: &CheckedModel<'_, M>,
        background: &'a Background,
    ) -> Result<(Self, Vec<f64>)> {
        let shapes = [
            ("feature", background.columns(), surrogate.features()),
            ("output", model.outputs, surrogate.outputs()),
        ];
        for (what, actual, expected) in shapes {
            if actual != expected {
                return Err(SurrogateError::OtherShape { what, actual, expected });
            }
        }
        let prepared = Self::new(surrogate, background)?;
        Ok((prepared, model.predict(background.as_rows(), "background row")?))
    }

    /// Returns the exact values of the surrogate for rows.
    pub(crate) fn values(&self, value: &Value, rows: Rows<'_>) -> Result<Attributions> {
        let mut found = self.trees.values_of(value, rows)?;
        self.surrogate.add_linear(value, self.background, rows, &mut found);
        Ok(found)
    }

    /// Returns the exact interaction indices of the surrogate for rows. The linear part only adds to the
    /// indices of single players and of the empty coalition.
    pub(crate) fn indices(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        rows: Rows<'_>,
    ) -> Result<Vec<Interactions>> {
        let of_trees = self.trees.indices_of(index, order, groups, rows)?;
        let value = match groups {
            Some(groups) => Value::quotient(Semivalue::Shapley, groups.clone()),
            None => Semivalue::Shapley.into(),
        };
        let players = value.check(rows.columns())?;
        let outputs = self.surrogate.outputs();
        let zeros = |count: usize| vec![0.0; count];
        let of_row = |(row, found): (&[f64], Interactions)| {
            let (values, ends) = (zeros(players * outputs), (zeros(outputs), zeros(outputs)));
            let mut linear = Attributions::for_players(players, values, ends.0, ends.1);
            let row = Rows::new(row, rows.columns());
            self.surrogate.add_linear(&value, self.background, row, &mut linear);
            let mut coalitions = Coalitions::new(players);
            let mut values = linear.values;
            for (player, own) in values.chunks_exact_mut(outputs).enumerate() {
                coalitions.push_members([player]);
                found.get(&[player]).into_iter().for_each(|of_trees| add(own, of_trees));
            }
            for (coalition, own) in found.iter().filter(|(coalition, _)| coalition.size() > 1) {
                coalitions.push(coalition);
                values.extend_from_slice(own);
            }
            let (mut base, mut prediction, mut constant) =
                (found.base().to_vec(), found.predictions().to_vec(), found.constant().to_vec());
            add(&mut base, &linear.base);
            add(&mut constant, &linear.base);
            add(&mut prediction, &linear.predictions);
            Interactions::new((index.clone(), order), coalitions, values, base, prediction)
                .with_constant(constant)
        };
        Ok(rows.iter().zip(of_trees).map(of_row).collect())
    }
}
