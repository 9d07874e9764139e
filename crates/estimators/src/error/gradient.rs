//! What can go wrong on the way down a slope.

/// Why stochastic gradients were not followed to their end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GradientError {
    /// A step that leads nowhere.
    #[error(
        "the step size, or its delay, is {given}; steps must be positive and finite, delays finite and not negative"
    )]
    StepSize {
        /// What was given.
        given: f64,
    },
    /// A mini-batch without draws.
    #[error("{given} draws per step were asked for; give at least 1")]
    Batch {
        /// Draws given.
        given: usize,
    },
    /// A bound that nothing can meet.
    #[error("the bound {name} is {given}; it must be positive and finite")]
    Bound {
        /// Which bound.
        name: &'static str,
        /// What was given.
        given: f64,
    },
    /// A bound on the norm that no attribution of what there is to divide can meet.
    #[error(
        "‖φ‖ ≤ {given} was asked for, but equal shares of output {output} have the norm {least}, and all others a larger one; give a larger \
         bound, or none"
    )]
    NormBound {
        /// The bound given.
        given: f64,
        /// |v(N) − v(∅)| / √n.
        least: f64,
        /// Which output.
        output: usize,
    },
    /// Stochastic gradients whose steps are too long.
    #[error(
        "step {step} of the stochastic gradient led {norm} away from the start, which no Shapley value is: the steps are too long; give \
         shorter ones, delayed ones, or a bound on the norm"
    )]
    Diverged {
        /// The step at which it was found.
        step: usize,
        /// The distance from the start.
        norm: f64,
    },
}
