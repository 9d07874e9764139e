//! The six experiments of the paper.

use anyhow::Result;
use apportion::estimators::ProductSpace;
use apportion::games::Partition;
use apportion::values::SolutionConcept;
use apportion::{Background, MarginalGame, Semivalue};

use super::distribution::PredictorDistribution;
use super::logistic::Logistic;
use crate::reproduce::ingredients::Digest;
use crate::reproduce::store::derive_seed;

/// Number of rows of the background D.
pub(super) const BACKGROUND: usize = 100;

/// An experiment of section 4.2, shown in one figure.
#[derive(Debug)]
pub(super) struct Experiment {
    /// Name of the experiment in the paper, e.g. `1a`.
    pub(super) name: &'static str,
    distribution: PredictorDistribution,
    /// The numbers of predictors p with which the experiment is run.
    pub(super) sizes: &'static [usize],
    /// The groups of the first predictors (from 0); the remaining predictors form another group.
    groups: &'static [&'static [usize]],
    pub(super) kind: Kind,
    /// Index of the predictor whose value is estimated; for quotient values, index of the group.
    pub(super) subject: usize,
    /// Name of the estimated quantity, e.g. `the Owen value of X4`.
    pub(super) quantity: &'static str,
}

/// The kind of value that an experiment estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Shapley,
    QuotientShapley,
    Owen,
    TwoStep,
}

impl Kind {
    #[cfg(test)]
    pub(super) const ALL: [Self; 4] = [Self::Shapley, Self::QuotientShapley, Self::Owen, Self::TwoStep];

    pub(super) fn concept(self) -> SolutionConcept {
        match self {
            Self::Shapley => Semivalue::Shapley.into(),
            Self::QuotientShapley => SolutionConcept::Quotient(Semivalue::Shapley),
            Self::Owen => SolutionConcept::owen(),
            Self::TwoStep => SolutionConcept::TwoStepShapley,
        }
    }
}

const PAIR: &[&[usize]] = &[&[0, 1], &[2], &[3]];
const TRIPLE: &[&[usize]] = &[&[0, 1], &[2], &[3, 4, 5]];

/// The experiments of figures 1 to 6, in order.
pub(super) static ALL: [Experiment; 6] = [
    experiment(
        "1a",
        PredictorDistribution::Independent,
        &[4],
        PAIR,
        Kind::QuotientShapley,
        0,
        "the quotient Shapley value of S1",
    ),
    experiment(
        "1b",
        PredictorDistribution::Independent,
        &[4, 5, 10, 16],
        PAIR,
        Kind::Shapley,
        0,
        "the Shapley value of X1",
    ),
    experiment(
        "2a",
        PredictorDistribution::FunctionsOfX4,
        &[6],
        TRIPLE,
        Kind::Owen,
        3,
        "the Owen value of X4",
    ),
    experiment(
        "2b",
        PredictorDistribution::Equicorrelated,
        &[6, 10, 14, 18],
        PAIR,
        Kind::Owen,
        4,
        "the Owen value of X5",
    ),
    experiment(
        "3a",
        PredictorDistribution::FunctionsOfX4,
        &[6],
        TRIPLE,
        Kind::TwoStep,
        3,
        "the two-step Shapley value of X4",
    ),
    experiment(
        "3b",
        PredictorDistribution::Equicorrelated,
        &[6, 10, 14, 18],
        PAIR,
        Kind::TwoStep,
        4,
        "the two-step Shapley value of X5",
    ),
];

const fn experiment(
    name: &'static str,
    distribution: PredictorDistribution,
    sizes: &'static [usize],
    groups: &'static [&'static [usize]],
    kind: Kind,
    subject: usize,
    quantity: &'static str,
) -> Experiment {
    Experiment { name, distribution, sizes, groups, kind, subject, quantity }
}

/// Returns experiment 2a.
pub(super) fn two_a() -> &'static Experiment {
    &ALL[2]
}

/// An experiment with p predictors: its model, and a background D whose rows are all explained.
pub(super) struct Setting {
    pub(super) experiment: &'static Experiment,
    pub(super) model: Logistic,
    pub(super) partition: Partition,
    pub(super) background: Background,
}

impl Setting {
    /// Draws D with `seed`. Experiments with the same distribution have the same D; experiments with more
    /// predictors have additional columns.
    pub(super) fn new(experiment: &'static Experiment, predictors: usize, seed: u64) -> Result<Self> {
        let distribution = experiment.distribution;
        let seed = derive_seed(&("background", format!("{distribution:?}"), seed))?;
        Ok(Self {
            experiment,
            model: Logistic::new(distribution, predictors),
            partition: experiment.partition(predictors)?,
            background: Background::rows(distribution.draw(predictors, BACKGROUND, seed)?, predictors)?,
        })
    }

    pub(super) fn predictors(&self) -> usize {
        self.model.slopes.len()
    }

    /// Draws `rows` fresh rows from the distribution of X.
    pub(super) fn fresh(&self, rows: usize, seed: u64) -> Result<Background> {
        let values = self.experiment.distribution.draw(self.predictors(), rows, seed)?;
        Ok(Background::rows(values, self.predictors())?)
    }

    /// Returns a digest of a row of D and of its game with background D.
    pub(super) fn played(&self, row: usize) -> Result<Digest> {
        let explicand = self.background.row(row);
        let game = Digest::of_game(&MarginalGame::new(&self.model, explicand, &self.background)?)?;
        Ok(Digest::joined([&game, &Digest::from_numbers(explicand.iter().copied())]))
    }

    /// Returns the paper's estimator for a kind of value (Algorithms 1 to 4).
    pub(super) fn estimator(&self, kind: Kind) -> ProductSpace {
        match kind {
            Kind::Shapley => ProductSpace::new(kind.concept()),
            _ => ProductSpace::grouped(kind.concept(), self.partition.clone()),
        }
    }
}

impl Experiment {
    fn partition(&self, predictors: usize) -> Result<Partition> {
        let mut groups: Vec<Vec<usize>> = self.groups.iter().map(|group| group.to_vec()).collect();
        let first = groups.iter().map(Vec::len).sum();
        if first < predictors {
            groups.push((first..predictors).collect());
        }
        Ok(Partition::new(predictors, groups)?)
    }
}
