//! A kernel machine, its marginal game and its exact values.

use std::sync::OnceLock;

use apportion_games::{Background, Coalition, Game, Model, Partition, Rows, Shared};
use apportion_kernels::{KernelError, KernelExplainer, KernelMachine};
use apportion_values::{Attributions, InteractionIndex, Interactions, Value};

use crate::error::ExplainError;
use crate::marginal::marginal;
use crate::method::Method;
use crate::plan::Plan;

/// The time of an arithmetic operation in seconds, on one core with 256-bit vector instructions.
const STEP: f64 = 2.0e-10;

/// A kernel machine with its background. The explainer is built at its first use and kept.
pub(crate) struct Kernels<'a> {
    machine: Shared<'a, KernelMachine>,
    background: Background,
    explainer: OnceLock<KernelExplainer<'a>>,
}

impl<'a> Kernels<'a> {
    pub(crate) fn new(machine: Shared<'a, KernelMachine>, background: Background) -> Self {
        Self { machine, background, explainer: OnceLock::new() }
    }

    pub(crate) fn features(&self) -> usize {
        self.machine.feature_count()
    }

    /// Returns the game of one explicand and its null players.
    pub(crate) fn game(&self, explicand: &[f64]) -> Result<(Box<dyn Game + '_>, Coalition), ExplainError> {
        marginal(&*self.machine as &dyn Model, explicand, &self.background)
    }

    /// Returns the machine as a model, and the background.
    #[cfg(feature = "surrogates")]
    pub(crate) fn model_and_background(&self) -> (&dyn Model, &Background) {
        (&*self.machine, &self.background)
    }

    /// Returns the exact values of all rows.
    pub(crate) fn values(&self, value: &Value, rows: Rows<'_>) -> Result<Attributions, ExplainError> {
        Ok(self.exact()?.values_of(value, rows)?)
    }

    /// Returns the exact interaction indices of all rows.
    pub(crate) fn indices(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        rows: Rows<'_>,
    ) -> Result<Vec<Interactions>, ExplainError> {
        Ok(self.exact()?.indices_of(index, order, groups, rows)?)
    }

    /// Returns the plan of [`values`](Self::values) for this number of rows.
    pub(crate) fn plan(&self, value: &Value, rows: usize) -> Result<Plan, ExplainError> {
        let seconds = STEP * self.exact()?.steps(value, rows)?;
        Ok(Plan::without_evaluations(Method::KernelMachine, self.features(), seconds))
    }

    /// Returns the explainer, which is built at its first use.
    fn exact(&self) -> Result<&KernelExplainer<'a>, KernelError> {
        if let Some(explainer) = self.explainer.get() {
            return Ok(explainer);
        }
        let (rows, weights) = (self.background.as_rows(), self.background.weights());
        let explainer = KernelExplainer::new(self.machine.clone(), rows, Some(weights))?;
        Ok(self.explainer.get_or_init(|| explainer))
    }
}
