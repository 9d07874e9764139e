//! Kernel machines: weighted sums of kernels around centres.

use apportion_games::{BoxError, GameError, Model, Rows, scan};

use crate::error::KernelError;
use crate::kernel::Kernel;

/// A kernel machine with one or more outputs:
///
/// ```text
/// f_o(x) = b_o + Σ_j w_jo x_j + Σ_i α_io κ(x, c_i)
/// ```
///
/// where b is the intercept, w is an optional linear part, c_i are centres (support vectors or training
/// rows), and α are coefficients. There may be any number of sums over kernels, each with a separate
/// [kernel](Kernel) κ, centres and coefficients. Support vector machines, kernel ridge regression and the
/// means of Gaussian processes have this form.
///
/// A machine is a [`Model`]; a prediction takes centres × features steps. Missing and infinite values are
/// errors.
///
/// ```
/// use apportion_kernels::{Kernel, KernelMachine, Rows};
///
/// // Two features and two centres: f(x) = 1 + 3 exp(−‖x‖²) − 2 exp(−‖x − (1, 1)‖²).
/// let machine = KernelMachine::new(2, &[1.0])?.with_kernel(
///     Kernel::rbf(1.0, 2),
///     &[0.0, 0.0, 1.0, 1.0],
///     &[3.0, -2.0],
/// )?;
/// let at_zero = machine.outputs_of(Rows::new(&[0.0, 0.0], 2))?;
/// assert!((at_zero[0] - (4.0 - 2.0 * (-2.0_f64).exp())).abs() < 1e-15);
/// assert_eq!(KernelMachine::from_bytes(&machine.to_bytes())?, machine);
/// # Ok::<(), apportion_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct KernelMachine {
    pub(crate) features: usize,
    pub(crate) intercept: Vec<f64>,
    /// The linear part, features × outputs; empty if there is none.
    pub(crate) weights: Vec<f64>,
    pub(crate) terms: Vec<Term>,
}

/// A kernel with its centres.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Term {
    pub(crate) kernel: Kernel,
    /// The centres, row-major: centres × features.
    pub(crate) centres: Vec<f64>,
    /// The coefficients: centres × outputs.
    pub(crate) coefficients: Vec<f64>,
}

impl KernelMachine {
    /// Creates a machine without kernels, whose outputs are the numbers in `intercept`.
    ///
    /// # Errors
    ///
    /// [`KernelError::Empty`] without features or outputs, [`KernelError::Number`] for an intercept that is
    /// not finite.
    pub fn new(features: usize, intercept: &[f64]) -> Result<Self, KernelError> {
        for (what, count) in [("features", features), ("outputs", intercept.len())] {
            if count == 0 {
                return Err(KernelError::Empty { what });
            }
        }
        check_finite("intercept", intercept)?;
        Ok(Self { features, intercept: intercept.to_vec(), weights: Vec::new(), terms: Vec::new() })
    }

    /// Adds `Σ_i α_i κ(x, c_i)`. The array of centres is centres × features, and the array of coefficients is
    /// centres × outputs, both row-major. Centres of the linear kernel are merged into the linear part.
    ///
    /// # Errors
    ///
    /// [`KernelError::Length`] for arrays of the wrong length, [`KernelError::Number`] for numbers that are
    /// not finite and for invalid parameters of the kernel.
    pub fn with_kernel(
        mut self,
        kernel: Kernel,
        centres: &[f64],
        coefficients: &[f64],
    ) -> Result<Self, KernelError> {
        let outputs = self.intercept.len();
        kernel.check(self.features)?;
        if !centres.len().is_multiple_of(self.features) {
            let expected = format!("a multiple of {} (the number of features)", self.features);
            return Err(KernelError::Length {
                what: "the array of centres",
                actual: centres.len(),
                expected,
            });
        }
        let count = centres.len() / self.features;
        if coefficients.len() != count * outputs {
            return Err(KernelError::Length {
                what: "the array of coefficients",
                actual: coefficients.len(),
                expected: format!("{} (centres × outputs: {count} × {outputs})", count * outputs),
            });
        }
        check_finite("centre coordinate", centres)?;
        check_finite("coefficient", coefficients)?;
        if kernel == Kernel::Linear {
            let mut weights = vec![0.0; self.features * outputs];
            for (centre, coefficients) in
                centres.chunks_exact(self.features).zip(coefficients.chunks_exact(outputs))
            {
                for (weights, x) in weights.chunks_exact_mut(outputs).zip(centre) {
                    weights.iter_mut().zip(coefficients).for_each(|(weight, alpha)| *weight += alpha * x);
                }
            }
            return self.with_linear(&weights);
        }
        if count > 0 {
            let (centres, coefficients) = (centres.to_vec(), coefficients.to_vec());
            self.terms.push(Term { kernel, centres, coefficients });
        }
        Ok(self)
    }

    /// Adds the linear part `Σ_j w_jo x_j`; the weights are features × outputs.
    ///
    /// # Errors
    ///
    /// [`KernelError::Length`] for the wrong number of weights, [`KernelError::Number`] for a weight that is
    /// not finite.
    pub fn with_linear(mut self, weights: &[f64]) -> Result<Self, KernelError> {
        let outputs = self.intercept.len();
        if weights.len() != self.features * outputs {
            return Err(KernelError::Length {
                what: "the array of linear weights",
                actual: weights.len(),
                expected: format!(
                    "{} ({} features × {outputs} outputs)",
                    self.features * outputs,
                    self.features
                ),
            });
        }
        self.weights.resize(weights.len(), 0.0);
        self.weights.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
        check_finite("linear weight", &self.weights)?;
        Ok(self)
    }

    /// Returns the number of features of a row.
    pub fn feature_count(&self) -> usize {
        self.features
    }

    /// Returns the number of outputs.
    pub fn output_count(&self) -> usize {
        self.intercept.len()
    }

    /// Returns the number of centres of all kernels, without those of the linear kernel.
    pub fn centre_count(&self) -> usize {
        self.terms.iter().map(|term| term.centres.len() / self.features).sum()
    }

    /// Returns the constant term of each output.
    pub fn intercept(&self) -> &[f64] {
        &self.intercept
    }

    /// Returns the kernels, in the order in which they were added. The linear kernel is listed last, if the
    /// machine has a linear part.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        let linear = (!self.weights.is_empty()).then_some(&Kernel::Linear);
        self.terms.iter().map(|term| &term.kernel).chain(linear)
    }

    /// Returns the outputs for rows: rows × outputs. Takes centres × features steps per row.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`], [`GameError::MissingInput`] and [`GameError::InfiniteInput`] for rows that the
    /// machine does not support.
    pub fn outputs_of(&self, rows: Rows<'_>) -> Result<Vec<f64>, GameError> {
        self.check_rows(rows, "row")?;
        let mut out = vec![0.0; rows.len() * self.output_count()];
        self.write_outputs(rows, &mut out);
        Ok(out)
    }

    /// Checks that rows have the right width, and only finite values. `what` names a row in the error.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`], [`GameError::MissingInput`] and [`GameError::InfiniteInput`] for rows that the
    /// machine does not support.
    pub fn check_rows(&self, rows: Rows<'_>, what: &str) -> Result<(), GameError> {
        if rows.columns() != self.features {
            let (actual, expected) = (rows.columns(), self.features);
            return Err(GameError::Width { what: what.to_owned(), actual, expected });
        }
        let Some(at) = scan::position(rows.values(), |value| !value.is_finite()) else { return Ok(()) };
        let (what, column) = (format!("{what} {}", at / self.features), at % self.features);
        let value = rows.values()[at];
        if value.is_nan() {
            return Err(GameError::MissingInput { what, column });
        }
        let reason = "a kernel machine computes with differences, which must be finite; replace the value";
        Err(GameError::InfiniteInput { what, column, value, reason })
    }

    /// Writes the outputs of rows that were checked.
    fn write_outputs(&self, rows: Rows<'_>, out: &mut [f64]) {
        let outputs = self.output_count();
        for (row, out) in rows.iter().zip(out.chunks_exact_mut(outputs)) {
            out.copy_from_slice(&self.intercept);
            for (weights, x) in self.weights.chunks_exact(outputs).zip(row) {
                out.iter_mut().zip(weights).for_each(|(out, weight)| *out += weight * x);
            }
            for term in &self.terms {
                // Terms are summed separately, so that a large intercept does not cost them digits.
                let mut sums = vec![0.0; outputs];
                let centres = term.centres.chunks_exact(self.features);
                for (centre, coefficients) in centres.zip(term.coefficients.chunks_exact(outputs)) {
                    let value = term.kernel.value(row, centre);
                    sums.iter_mut().zip(coefficients).for_each(|(sum, alpha)| *sum += alpha * value);
                }
                out.iter_mut().zip(&sums).for_each(|(out, sum)| *out += sum);
            }
        }
    }
}

impl Model for KernelMachine {
    fn outputs(&self) -> usize {
        self.output_count()
    }

    fn features(&self) -> Option<usize> {
        Some(self.features)
    }

    fn is_affine(&self) -> bool {
        self.terms.is_empty()
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        self.check_rows(rows, "row")?;
        self.write_outputs(rows, out);
        Ok(())
    }
}

/// Returns an error for the first number that is not finite.
fn check_finite(what: &'static str, numbers: &[f64]) -> Result<(), KernelError> {
    match scan::position(numbers, |number| !number.is_finite()) {
        None => Ok(()),
        Some(index) => {
            let (actual, expected) = (numbers[index], "a finite number");
            Err(KernelError::Number { what, index, actual, expected })
        }
    }
}
