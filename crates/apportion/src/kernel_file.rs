//! Kernel machines in files.

use apportion_kernels::{Kernel, KernelMachine};
use apportion_models::{SupportVectorKernel, SupportVectorMachine};

use crate::error::ExplainError;

/// A kernel machine that was read from a file, for
/// [`Explainer::for_kernel_machine`](crate::Explainer::for_kernel_machine).
///
/// ```
/// use apportion::KernelFile;
/// use apportion::kernels::{Kernel, KernelMachine};
///
/// let machine = KernelMachine::new(2, &[1.0])?.with_kernel(Kernel::rbf(1.0, 2), &[0.0, 1.0], &[3.0])?;
/// let file = KernelFile::from_bytes(&machine.to_bytes())?.unwrap();
/// assert_eq!((file.machine, file.feature_names), (machine, None));
/// assert!(KernelFile::from_bytes(b"{}")?.is_none());
/// # Ok::<(), apportion::ExplainError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KernelFile {
    /// The machine.
    pub machine: KernelMachine,
    /// The names of the features, if the file contains them.
    pub feature_names: Option<Vec<String>>,
    /// The format, with the library that wrote the file if it is known.
    pub format: String,
    /// The version of the library that wrote the file, or of the format.
    pub version: String,
}

impl KernelFile {
    /// Reads a kernel machine from the content of a file: an ONNX file that
    /// [`SupportVectorMachine::from_bytes`] supports, or a file that [`KernelMachine::to_bytes`] wrote.
    /// Returns `None` for all other files.
    ///
    /// # Errors
    ///
    /// [`ExplainError::Model`] for an ONNX file with a support vector machine that is not supported, and
    /// [`ExplainError::Kernels`] for an invalid kernel machine.
    pub fn from_bytes(bytes: &[u8]) -> Result<Option<Self>, ExplainError> {
        if KernelMachine::is_file(bytes) {
            return Ok(Some(Self {
                machine: KernelMachine::from_bytes(bytes)?,
                feature_names: None,
                format: "apportion-kernel-machine".to_owned(),
                version: "1".to_owned(),
            }));
        }
        SupportVectorMachine::from_bytes(bytes)?.map(Self::from_support_vectors).transpose()
    }

    fn from_support_vectors(file: SupportVectorMachine) -> Result<Self, ExplainError> {
        let kernel = match file.kernel {
            SupportVectorKernel::Rbf { rates } => Kernel::Rbf { gamma: rates },
            SupportVectorKernel::Linear => Kernel::Linear,
        };
        let machine = KernelMachine::new(file.features, &[file.intercept])?;
        Ok(Self {
            machine: machine.with_kernel(kernel, &file.vectors, &file.coefficients)?,
            feature_names: file.feature_names,
            format: file.origin.format,
            version: file.origin.version,
        })
    }
}
