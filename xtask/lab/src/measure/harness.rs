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
    /// Returns the settings of a command.
    ///
    /// # Errors
    ///
    /// [`Usage`] if an option does not apply to the section.
    pub(super) fn new(arguments: &Measure) -> Result<Self> {
        let section = arguments.section;
        refuse(arguments)?;
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
            tolerances: match arguments.tolerances.as_slice() {
                [] => vec![0.1, 0.03, 0.01],
                given => given.to_vec(),
            },
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
        // Whether an estimator supports a value does not depend on the number of players, so any number is
        // sufficient.
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

/// Returns an error for options that do not apply to the section.
fn refuse(arguments: &Measure) -> Result<()> {
    let section = arguments.section;
    let compares = matches!(section, Section::Frontier | Section::MonteCarlo);
    let certifies = section == Section::Certificates;
    let refused = [
        (
            !compares && !arguments.programs.is_empty(),
            "--estimator-program requires frontier or monte-carlo: programs return values only",
        ),
        (!compares && arguments.reference.is_some(), "--reference requires frontier or monte-carlo"),
        (!compares && arguments.pool, "--pool requires frontier or monte-carlo"),
        (
            section == Section::Frontier && !arguments.players.is_empty(),
            "--players cannot be combined with frontier, whose games have fixed numbers of players",
        ),
        (
            certifies && arguments.growing,
            "--growing cannot be combined with certificates, whose samples always grow",
        ),
        (!certifies && !arguments.tolerances.is_empty(), "--tolerances requires certificates"),
        (
            arguments.tolerances.iter().any(|tolerance| !(*tolerance > 0.0 && tolerance.is_finite())),
            "invalid tolerance in --tolerances: must be positive and finite",
        ),
    ];
    match refused.into_iter().find(|(is_refused, _)| *is_refused) {
        Some((_, says)) => Err(Usage(says.to_owned()).into()),
        None => Ok(()),
    }
}
