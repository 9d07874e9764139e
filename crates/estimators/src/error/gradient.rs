//! Errors of the projected stochastic gradient method.

/// The error type of stochastic gradient descent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GradientError {
    /// The step size or its delay is invalid.
    #[error(
        "the step size, or its delay, is {given}; steps must be positive and finite, delays finite and not negative"
    )]
    StepSize {
        /// The given value.
        given: f64,
    },
    /// The number of draws per step is zero.
    #[error("{given} draws per step were asked for; give at least 1")]
    Batch {
        /// The given number of draws.
        given: usize,
    },
    /// A bound is not positive and finite.
    #[error("the bound {name} is {given}; it must be positive and finite")]
    Bound {
        /// The name of the bound.
        name: &'static str,
        /// The given value.
        given: f64,
    },
    /// The bound on the norm is smaller than the norm of every attribution with the required sum.
    #[error(
        "‖φ‖ ≤ {given} was asked for, but equal shares of output {output} have the norm {least}, and all others a larger one; give a larger \
         bound, or none"
    )]
    NormBound {
        /// The given bound.
        given: f64,
        /// The minimum norm, |v(N) − v(∅)| / √n.
        least: f64,
        /// The index of the output.
        output: usize,
    },
    /// The iterates diverged because the steps are too long.
    #[error(
        "step {step} of the stochastic gradient led {norm} away from the start, which no Shapley value is: the steps are too long; give \
         shorter ones, delayed ones, or a bound on the norm"
    )]
    Diverged {
        /// The step at which the divergence was detected.
        step: usize,
        /// The distance from the starting point.
        norm: f64,
    },
}
