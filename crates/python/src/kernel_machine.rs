//! Kernel machines, built from the arrays of a fitted model.

use std::sync::Arc;

use apportion::kernels::{Kernel, KernelError};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::rows;
use crate::errors::{Class, raised, usage};
use crate::pool::Pool;

/// A weighted sum of kernels around centres.
#[pyclass(frozen, module = "apportion._core")]
pub(crate) struct KernelMachine {
    pub(crate) machine: Arc<apportion::kernels::KernelMachine>,
}

#[pymethods]
impl KernelMachine {
    /// Returns the machine without kernels, whose outputs are the numbers in `intercept`.
    #[new]
    fn new(py: Python<'_>, features: usize, intercept: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        let machine = apportion::kernels::KernelMachine::new(features, intercept.as_slice()?);
        Self::checked(py, machine)
    }

    /// Returns the machine with an additional kernel, by name ("rbf", "laplace", "rational-quadratic",
    /// "matern" or "linear"), with one rate for each feature. `shape` is the parameter α of the rational
    /// quadratic kernel, or ν of the Matérn kernel. The coefficients are centres × outputs, row by row.
    #[pyo3(signature = (kernel, rates, centres, coefficients, shape=None))]
    fn with_kernel(
        &self,
        py: Python<'_>,
        kernel: &str,
        rates: PyReadonlyArray1<'_, f64>,
        centres: PyReadonlyArray2<'_, f64>,
        coefficients: PyReadonlyArray1<'_, f64>,
        shape: Option<f64>,
    ) -> PyResult<Self> {
        let gamma = rates.as_slice()?.to_vec();
        let kernel = match (kernel, shape) {
            ("rbf", None) => Kernel::Rbf { gamma },
            ("laplace", None) => Kernel::Laplace { gamma },
            ("rational-quadratic", Some(alpha)) => Kernel::RationalQuadratic { gamma, alpha },
            ("matern", Some(nu)) => Kernel::Matern { gamma, nu },
            ("linear", None) => Kernel::Linear,
            (other, shape) => {
                return Err(usage(
                    py,
                    format!(
                        "unknown kernel {other:?} with shape {shape:?}; expected rbf, laplace or linear, or \
                         rational-quadratic or matern with a shape"
                    ),
                ));
            }
        };
        let (machine, centres) = (self.machine.as_ref().clone(), rows(&centres)?);
        Self::checked(py, machine.with_kernel(kernel, centres.values(), coefficients.as_slice()?))
    }

    /// Returns the outputs for rows, as a flat array of rows × outputs.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        array: PyReadonlyArray2<'py, f64>,
        pool: &Bound<'py, Pool>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (rows, machine) = (rows(&array)?, &self.machine);
        let predicted = pool.get().run(py, || machine.outputs_of(rows))?;
        Ok(PyArray1::from_vec(py, predicted.map_err(|error| of_machine(py, &error.into()))?))
    }
}

impl KernelMachine {
    fn checked(
        py: Python<'_>,
        machine: Result<apportion::kernels::KernelMachine, KernelError>,
    ) -> PyResult<Self> {
        machine.map(|machine| Self { machine: Arc::new(machine) }).map_err(|error| of_machine(py, &error))
    }
}

fn of_machine(py: Python<'_>, error: &KernelError) -> PyErr {
    raised(py, Class::Model, error.to_string())
}
