//! What the oracle of the marginal game can be asked for: values and plans.

use apportion_games::{Partition, Rows};
use apportion_values::{CoalitionalValue, Semivalue, Value};

use super::cost;
use super::oracle::InterventionalOracle;
use crate::engine::attributions::Attributions;
use crate::engine::interactions::{Diagonal, Interactions};
use crate::engine::settings::Plan;
use crate::engine::two_step::{members_alone, two_step};
use crate::engine::value;
use crate::error::TreeError;
use crate::exact::Exact;

impl InterventionalOracle<'_> {
    /// What [`values`](Self::values) would do with these rows, tree by tree, and the time that it would take: predicted from the trees and
    /// the number of rows, not measured. Takes the time of sorting the background, if that pays for these rows; it is kept.
    ///
    /// # Errors
    ///
    /// As [`values`](Self::values).
    pub fn plan(&self, value: &Semivalue, rows: Rows<'_>) -> Result<Plan, TreeError> {
        self.plan_for(value, rows.len(), rows)
    }

    /// As [`plan`](Self::plan) for `count` rows, of which `sample` has some.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub fn plan_for(&self, value: &Semivalue, count: usize, sample: Rows<'_>) -> Result<Plan, TreeError> {
        self.plan_of(&value.clone().into(), count, sample)
    }

    /// The `value` of every feature, for every output and each of the rows.
    ///
    /// Accurate to rounding: for efficient values, values and base add up to the prediction within 1e-12 of the largest. The result does
    /// not depend on the number of threads.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`](apportion_games::GameError::Width) where rows have another number of columns than the model has features,
    /// [`GameError::InfiniteInput`](apportion_games::GameError::InfiniteInput) where a value is infinite,
    /// [`TreeError::Value`] for weights by size of another number of players than the model has features, [`TreeError::Kernel`] and
    /// [`TreeError::Unsupported`] for a kernel that was [asked for](Self::with_settings) and cannot be used.
    pub fn values(&self, value: Semivalue, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        self.values_of(&value.into(), rows)
    }

    /// The value of every feature where features stand in the groups of `partition`: Owen, Banzhaf-Owen, and every other pair of
    /// semivalues (Kotsiopoulos et al. 2023, equation 3.13; see [`CoalitionalValue`]).
    ///
    /// Groups of one, and one group of all, reduce it to the semivalue between the groups and to that within. Takes about as long as
    /// [`values`](Self::values): a leaf counts for groups of which it needs features of both rows only where that is one group.
    ///
    /// ```
    /// use apportion_games::{Partition, Rows};
    /// use apportion_trees::{Ensemble, InterventionalOracle};
    /// use apportion_values::CoalitionalValue;
    ///
    /// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
    /// let oracle = InterventionalOracle::new(&model, Rows::new(&[0.0, 0.0], 2), None)?;
    /// let together = Partition::whole(2);
    /// let explained = oracle.coalitional_values(&CoalitionalValue::owen(), &together, Rows::new(&[1.0, 9.0], 2))?;
    /// assert_eq!(explained.values, [3.0, 1.0]);
    /// # Ok::<(), apportion_trees::TreeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`values`](Self::values); [`GameError::PartitionOfOthers`](apportion_games::GameError::PartitionOfOthers) for a partition of
    /// another number of players than the model has features; [`TreeError::Value`] for weights by size that are for another number of
    /// groups, or of members of any group.
    pub fn coalitional_values(
        &self,
        value: &CoalitionalValue,
        partition: &Partition,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        self.values_of(&Value::Coalitional(value.clone(), partition.clone()), rows)
    }

    /// The `value` of every group of `partition` in the quotient game v^P(A) = v(∪_{j∈A} S_j), whose players are the groups
    /// (Kotsiopoulos et al. 2023, definition 2.1).
    ///
    /// Values are rows × groups × outputs, in the order of the groups. Takes no longer than [`values`](Self::values), but what is
    /// computed of a background set is not kept between calls.
    ///
    /// # Errors
    ///
    /// As [`coalitional_values`](Self::coalitional_values).
    pub fn quotient_values(
        &self,
        value: Semivalue,
        partition: &Partition,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        self.values_of(&Value::quotient(value, partition.clone()), rows)
    }

    /// The two-step Shapley value of every feature (Kotsiopoulos et al. 2023, equation 3.19, for the game less v(∅)):
    ///
    /// ```text
    /// TSh_i = φ_i[S_j, v] + (φ_j[M, v^P] − (v(S_j) − v(∅))) / |S_j|,     i ∈ S_j.
    /// ```
    ///
    /// Takes as long as [`coalitional_values`](Self::coalitional_values) and [`quotient_values`](Self::quotient_values) together.
    ///
    /// # Errors
    ///
    /// As [`coalitional_values`](Self::coalitional_values).
    pub fn two_step_shapley(&self, partition: &Partition, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        self.values_of(&Value::two_step(partition.clone()), rows)
    }
}

impl Exact for InterventionalOracle<'_> {
    fn base(&self) -> &[f64] {
        &self.base
    }

    fn values_of(&self, value: &Value, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        value::check(value, self.features.len())?;
        if let Some(reduced) = value::reduced(value) {
            return self.values(reduced.clone(), rows);
        }
        if let Value::TwoStepShapley(groups) = value {
            let alone = self.values_of(&Value::Coalitional(members_alone()?, groups.clone()), rows)?;
            return two_step(groups, alone, &self.quotient_values(Semivalue::Shapley, groups, rows)?);
        }
        if let Value::Semivalue(value) = value
            && let Some(attributions) = self.by_quadrature(value, rows)?
        {
            return Ok(attributions);
        }
        self.answer(&self.request(value)?, rows, cost::choose)
    }

    fn interactions_of(
        &self,
        value: &Value,
        diagonal: Diagonal,
        rows: Rows<'_>,
    ) -> Result<Interactions, TreeError> {
        self.pairs_of(value, diagonal, rows, cost::choose)
    }

    fn plan_of(&self, value: &Value, count: usize, sample: Rows<'_>) -> Result<Plan, TreeError> {
        value::check(value, self.features.len())?;
        self.ensemble.check_rows(sample, "row")?;
        if let Some(reduced) = value::reduced(value) {
            return self.plan_for(reduced, count, sample);
        }
        if let Value::TwoStepShapley(groups) = value {
            let alone = self.plan_of(&Value::Coalitional(members_alone()?, groups.clone()), count, sample)?;
            let of_groups = Value::quotient(Semivalue::Shapley, groups.clone());
            return Ok(alone.and(self.plan_of(&of_groups, count, sample)?));
        }
        if let Value::Semivalue(value) = value
            && let Some(plan) = self.plan_by_quadrature(value, sample, count)
        {
            return Ok(plan);
        }
        self.plan_answer(&self.request(value)?, sample, count)
    }
}
