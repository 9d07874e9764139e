//! Weighted least squares on bit-packed coalitions: computes attributions from coalitions, weights and
//! values.
//!
//! Shapley values are the solution of a regression on coalitions, under the constraint that they sum to `v(N)
//! − v(∅)` (Leverage SHAP, Lemma 2.1). Banzhaf values are the solution of a regression on columns centred at
//! ½ (Kernel Banzhaf, Theorem 3.2); for weighted Banzhaf values, the columns are centred at p. Sampled
//! coalitions yield estimates of these values. Rows are always stored as bits
//! ([`apportion_games::Coalitions`]). Gram matrices are computed by counting bits, and right-hand sides and
//! hat values are sums of table entries. A dense m × n matrix is never created.
//!
//! # Overview
//!
//! | | |
//! |---|---|
//! | [`Design`] | rows and their weights, unpaired or in complementary pairs; columns with a centre or an intercept |
//! | [`Constraint`] | no constraint, or `Σφ = c` for each output |
//! | [`least_squares`], [`least_squares_with`] | the solution of minimum norm, for any number of outputs with one factorization |
//! | [`LeastSquares`] | coefficients, [rank](LeastSquares::rank), [condition number](LeastSquares::condition_number), [residuals](LeastSquares::residuals), [hat values](LeastSquares::hat_values), and the [certificate](LeastSquares::certificate) |
//! | [`ridge`], [`Ridge`] | least squares with a penalty on the squared coefficients, and the coefficient of determination |
//! | [`DualRidge`], [`PriorCovariance`] | regression with a prior whose covariance is known, for more unknowns than rows |
//! | [`Kriging`], [`minimize`] | the same regression for one covariance, with its restricted likelihood; minimization of a smooth function within bounds, e.g. to fit the parameters of the covariance |
//! | [`Certificate`] | variances of the coefficients that result from drawing coalitions at random, and properties of the distribution of the errors |
//! | [`Kernel`], [`Factorization`] | the computation and factorization of the Gram matrix, or conjugate gradients on the rows without it |
//! | [`dykstra`], [`ConvexSet`] | the nearest point in an intersection of convex sets: [`Hyperplane`], [`HalfSpace`], [`Ball`], [`Cuboid`] |
//! | [`project_on_hyperplane_and_ball`], [`dykstra_on_hyperplane_and_ball`] | the nearest point under the constraints of the projected stochastic gradient method |
//!
//! Shapes: n players, m rows, k outputs. All matrices are row-major slices of f64. Every computation uses a
//! single thread, so results are the same to the last bit for any number of threads.
//!
//! # Speed
//!
//! The times are CPU times in milliseconds on one core of an Intel Xeon with AVX-512 (Sapphire Rapids), for
//! paired designs and one output. For Shapley, sizes are uniform, there is one weight per size, and the sum
//! is constrained. For Banzhaf, coalitions are uniform with equal weights, and columns are centred at ½. The
//! times were measured with `cargo run --release -p apportion-solvers --example timing`:
//!
//! | n | m | solve, Shapley | solve, Banzhaf | certificate |
//! |---|---|---|---|---|
//! | 100 | 1 000 | 0.4 | 0.3 | 0.6 |
//! | 100 | 10 000 | 0.5 | 1.0 | 2.7 |
//! | 1000 | 10 000 | 63 | 37 | 126 |
//! | 1000 | 100 000 | 124 | 124 | 984 |
//!
//! For more than 2000 players, the Gram matrix is not used by default. The times on one core of an AMD EPYC
//! (Zen 5), with the factored matrix (f) and matrix-free, are:
//!
//! | n | m | solve, Shapley (f) | solve | certificate (f) | certificate |
//! |---|---|---|---|---|---|
//! | 1000 | 20 000 | 30 | 40 | 105 | 42 |
//! | 2000 | 40 000 | 243 | 170 | 843 | 143 |
//! | 4000 | 20 000 | 1736 | 409 | 2265 | 248 |
//!
//! # Example
//!
//! The Shapley values of a game of three players, from all of its coalitions with the Shapley kernel as
//! weights:
//!
//! ```
//! use apportion_solvers::{Coalitions, Constraint, Design, SolverError, least_squares};
//!
//! // 6 if players 0 and 1 are both present, plus 1 for player 2.
//! let value = |mask: u64| if mask & 0b011 == 0b011 { 6.0 } else { 0.0 } + f64::from(mask >> 2 != 0);
//!
//! let masks = [0b001, 0b110, 0b010, 0b101, 0b100, 0b011];
//! let coalitions = Coalitions::from_masks(3, masks);
//! let targets: Vec<f64> = masks.iter().map(|&mask| value(mask)).collect();
//! // w(s) = 1 / (C(n, s) s (n − s)) is the same for sizes 1 and 2 of three players.
//! let design = Design::paired(&coalitions, &[1.0 / 6.0; 3])?;
//! let fit = least_squares(&design, &targets, 1, Constraint::Sum(&[7.0]))?;
//!
//! let shapley = [3.0, 3.0, 1.0];
//! assert!(fit.coefficients().iter().zip(shapley).all(|(got, want)| (got - want).abs() < 1e-12));
//! assert_eq!(fit.rank(), Some(2));
//! # Ok::<(), SolverError>(())
//! ```

mod bits;
mod certificate;
mod certificate_by_probes;
mod conjugate_gradients;
mod covariance;
mod design;
mod dual_ridge;
mod error;
mod factor;
mod gram;
mod images;
mod kriging;
mod least_squares;
mod matrix_free;
mod passes;
mod projection;
mod quasi_newton;
mod ridge;
mod rows;
mod system;

/// Types from other crates that occur in signatures here, re-exported so that users do not need another
/// dependency.
#[doc(no_inline)]
pub use apportion_games::Coalitions;

pub use certificate::Certificate;
pub use design::Design;
pub use dual_ridge::{DualEstimate, DualRidge, Functionals, PriorCovariance, add_cross_products};
pub use error::SolverError;
pub use factor::Factorization;
pub use gram::Kernel;
pub use kriging::{Kriging, RestrictedLikelihood};
pub use least_squares::{Constraint, LeastSquares, Options, least_squares, least_squares_with};
pub use projection::{
    Ball, ConvexSet, Cuboid, HalfSpace, Hyperplane, Projection, Stopping, Sweeps, dykstra,
    dykstra_on_hyperplane_and_ball, project_on_hyperplane_and_ball,
};
pub use quasi_newton::minimize;
pub use ridge::{Ridge, ridge};

/// Compiles and runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
