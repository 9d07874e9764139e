//! The values and plans of the marginal tree explainer.

use apportion_games::{Partition, Rows};
use apportion_values::{Attributions, InteractionIndex, Interactions, Semivalue, Value};

use super::cost;
use super::tree_explainer::MarginalTreeExplainer;
use crate::engine::interactions::Diagonal;
use crate::engine::settings::Plan;
use crate::engine::two_step::{members_alone, two_step};
use crate::engine::value;
use crate::error::TreeError;
use crate::exact::Exact;

impl Exact for MarginalTreeExplainer<'_> {
    fn base(&self) -> &[f64] {
        &self.base
    }

    fn values_of(&self, value: &Value, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        value::check(value, self.features.len())?;
        if let Some(flat) = value::flat(value) {
            return self.values(flat, rows);
        }
        if let Some(reduced) = value::reduced(value) {
            return self.values(reduced.clone(), rows);
        }
        if let Value::TwoStepShapley(groups) = value {
            let alone = self.values(Value::Coalitional(members_alone()?, groups.clone()), rows)?;
            let of_groups = self.values(Value::quotient(Semivalue::Shapley, groups.clone()), rows)?;
            return two_step(groups, alone, &of_groups);
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
    ) -> Result<Attributions, TreeError> {
        self.pairs_of(value, diagonal, rows, cost::choose)
    }

    fn indices_of(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        rows: Rows<'_>,
    ) -> Result<Vec<Interactions>, TreeError> {
        self.indices(index, order, groups, rows)
    }

    fn plan_of(&self, value: &Value, count: usize, sample: Rows<'_>) -> Result<Plan, TreeError> {
        value::check(value, self.features.len())?;
        self.ensemble.check_rows(sample, "row")?;
        if let Some(flat) = value::flat(value) {
            return self.plan_of(&flat, count, sample);
        }
        if let Some(reduced) = value::reduced(value) {
            return self.plan_of(&reduced.clone().into(), count, sample);
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
