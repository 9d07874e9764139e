//! The settings of a measurement: the options, or the defaults of the section.

use std::time::Duration;

use anyhow::Result;
use apportion::{Budget, Method, SolutionConcept};
use xtask::Usage;

use super::cli::{Measure, Section};
use super::estimates::Contender;
use super::games::value_of;

/// The settings of a measurement.
pub(super) struct Harness {
    section: Section,
    pub(super) contenders: Vec<Contender>,
    pub(super) reference: Method,
    pub(super) growing: bool,
    /// Requested budgets; those of the section if empty.
    budgets: Vec<Budget>,
    pub(super) tolerances: Vec<f64>,
    pub(super) pool: bool,
}

impl Harness {
    /// # Errors
    ///
    /// If the options do not fit the section.
    pub(super) fn new(arguments: &Measure) -> Result<Self> {
        let section = arguments.section;
        let has_errors_only = matches!(section, Section::Frontier | Section::MonteCarlo);
        if !has_errors_only && !arguments.programs.is_empty() {
            let says = "--estimator-program requires frontier or monte-carlo: programs return values only";
            return Err(Usage(says.to_owned()).into());
        }
        let limit = Duration::from_secs(arguments.time_limit.into());
        let mut contenders: Vec<Contender> =
            arguments.estimators.iter().copied().map(Contender::Method).collect();
        contenders.extend(arguments.programs.iter().map(|named| Contender::of_program(named, limit)));
        if contenders.is_empty() {
            let methods = section.estimators().iter();
            contenders = methods.map(|&method| Contender::Method(Method::By(method))).collect();
        }
        Ok(Self {
            section,
            contenders,
            reference: arguments.reference.unwrap_or(Method::By(section.reference())),
            growing: arguments.growing,
            budgets: arguments.budgets.clone(),
            tolerances: arguments.tolerances.clone(),
            pool: arguments.pool,
        })
    }

    /// Returns the budgets for `players` players, each with its name.
    pub(super) fn budgets(&self, players: usize) -> Vec<(String, usize)> {
        match self.budgets.is_empty() {
            true => self.section.budgets(players),
            false => self.budgets.iter().map(|one| (one.to_string(), one.evaluations(players))).collect(),
        }
    }

    /// Returns an error if a contender supports none of the values. The contenders of the section are only
    /// compared for the values that they support.
    pub(super) fn check(&self, concepts: &[SolutionConcept], are_requested: bool) -> Result<()> {
        // Any number of players will do.
        let values = concepts.iter().map(|concept| value_of(concept, 8)).collect::<Result<Vec<_>>>()?;
        let reference = Contender::Method(self.reference);
        let reference = self.has_reference().then_some(&reference);
        let requested = self.contenders.iter().filter(|_| are_requested);
        for contender in requested.chain(reference) {
            if values.iter().all(|value| contender.runner(value, false).is_none()) {
                let name = contender.name();
                let says = format!("{name} does not estimate the requested values; see docs/methods.md");
                return Err(Usage(says).into());
            }
        }
        Ok(())
    }

    fn has_reference(&self) -> bool {
        matches!(self.section, Section::Frontier | Section::MonteCarlo)
    }
}
