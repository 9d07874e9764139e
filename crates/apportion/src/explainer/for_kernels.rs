//! Explainers for kernel machines.

use apportion_games::{Background, Shared};
use apportion_kernels::KernelMachine;

use super::Explainer;
use crate::kernel_source::Kernels;
use crate::source::Source;

impl<'a> Explainer<'a> {
    /// Creates an explainer for a kernel machine (a support vector machine, kernel ridge regression, or the
    /// mean of a Gaussian process) with its marginal game. [`Method::Auto`](crate::Method::Auto) computes
    /// exact values without sampling, with a [`KernelExplainer`](apportion_kernels::KernelExplainer), for
    /// every value that it [supports](apportion_kernels::KernelExplainer::supports). All other values and
    /// methods evaluate the machine, as any model.
    ///
    /// ```
    /// use apportion::kernels::{Kernel, KernelMachine};
    /// use apportion::{Background, Explainer, Method};
    ///
    /// // f(x) = 1 + 3 exp(−‖x‖²) − 2 exp(−‖x − (1, 1)‖²)
    /// let machine = KernelMachine::new(2, &[1.0])?.with_kernel(
    ///     Kernel::rbf(1.0, 2),
    ///     &[0.0, 0.0, 1.0, 1.0],
    ///     &[3.0, -2.0],
    /// )?;
    /// let background = Background::rows(vec![0.0, 0.0, 0.5, 2.0], 2)?;
    /// let explainer = |method| Explainer::for_kernel_machine(&machine, background.clone()).method(method);
    /// let explanation = explainer(Method::Auto).explain(&[1.0, 0.5])?;
    /// assert_eq!((explanation.method.as_str(), explanation.evaluations), ("kernel-machine", 0));
    /// let enumerated = explainer(Method::Exact).explain(&[1.0, 0.5])?;
    /// assert!((explanation.values[0] - enumerated.values[0]).abs() < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn for_kernel_machine(machine: impl Into<Shared<'a, KernelMachine>>, background: Background) -> Self {
        Self::from_source(Source::Kernels(Box::new(Kernels::new(machine.into(), background))))
    }
}
