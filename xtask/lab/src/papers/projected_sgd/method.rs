//! The compared estimators.

use anyhow::Result;
use apportion::estimators::{
    IterateAverage, LeverageShap, MonteCarlo, OptimizedMonteCarlo, Orders, ProjectedGradient,
};
use apportion::{Estimator, Semivalue};
use serde::Serialize;

use crate::reproduce::figure::{Style, styles};
use crate::reproduce::ingredients::Digest;

/// Dependence of the step γ_t on t.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rule {
    Constant,
    /// γ_t = γ/√t.
    SquareRoot,
    /// γ_t = γ/t, the "inverse" step in the authors' code.
    Inverse,
}

impl Rule {
    pub(super) const ALL: [Self; 3] = [Self::Constant, Self::SquareRoot, Self::Inverse];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::SquareRoot => "1/√t",
            Self::Inverse => "1/t",
        }
    }
}

/// A step size γ and its rule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Step {
    pub(super) rule: Rule,
    pub(super) size: f64,
}

impl Step {
    /// Returns the two steps of a figure: 0.01 and 0.1/√t at d = 16, 0.001 and 0.01/√t at d = 300.
    pub(super) fn of_paper(players: usize) -> [Self; 2] {
        let constant = if players > 16 { 0.001 } else { 0.01 };
        let square_root = Self { rule: Rule::SquareRoot, size: 10.0 * constant };
        [Self { rule: Rule::Constant, size: constant }, square_root]
    }

    /// Formats the step, e.g. `0.1/√t`.
    pub(super) fn title(self) -> String {
        match self.rule {
            Rule::Constant => self.size.to_string(),
            Rule::SquareRoot => format!("{}/√t", self.size),
            Rule::Inverse => format!("{}/t", self.size),
        }
    }
}

/// The iterate, or mean of iterates, that stochastic gradient descent returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    /// Mean of all iterates, used in the authors' code for every rule.
    Mean,
    /// Last iterate, to which the paper's theory of constant steps applies.
    Last,
}

impl Answer {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Mean => "mean of iterates",
            Self::Last => "last iterate",
        }
    }
}

/// A compared estimator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    /// Štrumbelj and Kononenko: two evaluations per player and sample.
    Classical,
    /// Optimized Monte Carlo: algorithm 1.
    Optimized,
    /// Projected stochastic gradient descent (section 4) with the conventions of the authors' code: half the
    /// paper's gradient, and a projection on Σφ = v(M) only.
    Gradient(Step, Answer),
    /// Not in the paper: Algorithm 1 on permutations and their reverses.
    Antithetic,
    /// Leverage SHAP; not in the paper.
    LeverageShap,
    /// Not in the paper: this project's default for stochastic gradients.
    DefaultGradient,
}

impl Method {
    /// Returns the methods of a figure of the paper, followed by ours.
    pub(super) fn of_figure(players: usize) -> Vec<Self> {
        let mut methods = vec![Self::Classical];
        methods.extend(Self::proposed(players));
        methods.extend([Self::DefaultGradient, Self::Antithetic, Self::LeverageShap]);
        methods
    }

    /// Returns the methods proposed in the paper.
    pub(super) fn proposed(players: usize) -> Vec<Self> {
        let mut methods = vec![Self::Optimized];
        methods.extend(Self::gradients(players));
        methods
    }

    pub(super) fn gradients(players: usize) -> [Self; 2] {
        Step::of_paper(players).map(|step| Self::Gradient(step, Answer::Mean))
    }

    pub(super) fn is_of_paper(self) -> bool {
        !matches!(self, Self::Antithetic | Self::LeverageShap | Self::DefaultGradient)
    }

    /// Returns the title, with a star for methods that are not in the paper.
    pub(super) fn title(self) -> String {
        match self {
            Self::Classical => "classical Monte Carlo".to_owned(),
            Self::Optimized => "optimized Monte Carlo".to_owned(),
            Self::Gradient(step, Answer::Mean) => format!("SGD, {}", step.title()),
            Self::Gradient(step, Answer::Last) => format!("SGD, {}, last iterate", step.title()),
            Self::Antithetic => "antithetic Monte Carlo*".to_owned(),
            Self::LeverageShap => "Leverage SHAP*".to_owned(),
            Self::DefaultGradient => "our default SGD*".to_owned(),
        }
    }

    pub(super) fn style(self) -> Style {
        match self {
            Self::Classical => styles::MONTE_CARLO,
            Self::Optimized => styles::RANDOM_ORDERS,
            Self::Gradient(step, answer) => match (step.rule, answer) {
                (Rule::Constant, Answer::Mean) => styles::GRADIENT_CONSTANT,
                (Rule::Constant, Answer::Last) => styles::GRADIENT_CONSTANT_LAST,
                (Rule::SquareRoot, _) => styles::GRADIENT_SQUARE_ROOT,
                (Rule::Inverse, _) => styles::GRADIENT_INVERSE,
            },
            Self::Antithetic => styles::ANTITHETIC_ORDERS,
            Self::LeverageShap => styles::LEVERAGE_SHAP,
            Self::DefaultGradient => styles::DEFAULT_GRADIENT,
        }
    }

    pub(super) fn estimator(self) -> Box<dyn Estimator> {
        match self {
            Self::Classical => Box::new(MonteCarlo::new(Semivalue::Shapley)),
            Self::Optimized => Box::new(OptimizedMonteCarlo::default().with_orders(Orders::Independent)),
            Self::Antithetic => Box::new(OptimizedMonteCarlo::default()),
            Self::LeverageShap => Box::new(LeverageShap::default()),
            Self::Gradient(step, answer) => {
                let published = match step.rule {
                    Rule::Constant => ProjectedGradient::authors_constant(step.size),
                    Rule::SquareRoot => ProjectedGradient::authors_square_root(step.size),
                    Rule::Inverse => ProjectedGradient::authors_inverse(step.size),
                };
                let average = match answer {
                    Answer::Mean => published.average,
                    Answer::Last => IterateAverage::Last,
                };
                Box::new(published.with_average(average))
            }
            Self::DefaultGradient => Box::new(ProjectedGradient::default()),
        }
    }

    /// Returns a digest of the estimator, computed from its results.
    pub(super) fn digest(self) -> Result<Digest> {
        Digest::of_estimator(&*self.estimator())
    }
}
