//! Errors of the projected stochastic gradient method.

/// The error type of the projected stochastic gradient method.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GradientError {
    /// The step size is not positive and finite.
    #[error("invalid step size {actual}: must be positive and finite")]
    StepSize {
        /// The given step size.
        actual: f64,
    },
    /// The delay of the step sizes is negative or not finite.
    #[error("invalid delay {actual} of the step sizes: must be finite and non-negative")]
    Delay {
        /// The given delay.
        actual: f64,
    },
    /// The number of draws per step is zero.
    #[error("invalid number of draws per step {actual}: must be at least 1")]
    Batch {
        /// The given number of draws.
        actual: usize,
    },
    /// A bound is not positive and finite.
    #[error("invalid value {actual} for the bound {name}: must be positive and finite")]
    Bound {
        /// The name of the bound.
        name: &'static str,
        /// The given value of the bound.
        actual: f64,
    },
    /// The bound on the norm is smaller than the norm of every attribution with the required sum.
    #[error(
        "the bound ‖φ‖ ≤ {actual} cannot be met: the minimum norm for output {output} (equal shares) is \
         {min}; increase or remove the bound"
    )]
    NormBound {
        /// The given bound on the norm.
        actual: f64,
        /// The smallest possible norm, |v(N) − v(∅)| / √n.
        min: f64,
        /// The index of the output.
        output: usize,
    },
    /// The iterates diverged because the step sizes are too large.
    #[error(
        "the stochastic gradient diverged at step {step}: the distance {norm} from the start exceeds that of \
         any Shapley value; use smaller step sizes, a longer delay, or a bound on the norm"
    )]
    Diverged {
        /// The step at which the divergence was detected.
        step: usize,
        /// The distance from the starting point.
        norm: f64,
    },
}
