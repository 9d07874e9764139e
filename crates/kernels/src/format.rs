//! The file format of kernel machines.
//!
//! The file contains a JSON object. Matrices are flat arrays, row-major. Numbers are written with enough
//! digits to be read as the same `f64`.
//!
//! ```json
//! {"format": "apportion-kernel-machine", "version": 1, "features": 2, "intercept": [1.0],
//!  "linear": [],
//!  "terms": [{"kernel": {"name": "rbf", "gamma": [1.0, 1.0]},
//!             "centres": [0.0, 0.0, 1.0, 1.0], "coefficients": [3.0, -2.0]}]}
//! ```
//!
//! `linear` is empty or features × outputs, `centres` are centres × features, and `coefficients` are centres
//! × outputs.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::KernelError;
use crate::kernel::Kernel;
use crate::machine::KernelMachine;

const FORMAT: &str = "apportion-kernel-machine";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineFile {
    format: String,
    version: u32,
    features: usize,
    intercept: Vec<f64>,
    linear: Vec<f64>,
    terms: Vec<TermRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TermRecord {
    kernel: Kernel,
    centres: Vec<f64>,
    coefficients: Vec<f64>,
}

impl KernelMachine {
    /// Returns the machine as JSON, which [`from_bytes`](Self::from_bytes) reads. Equal machines have equal
    /// bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let terms = self.terms.iter().map(|term| TermRecord {
            kernel: term.kernel.clone(),
            centres: term.centres.clone(),
            coefficients: term.coefficients.clone(),
        });
        let file = MachineFile {
            format: FORMAT.to_owned(),
            version: VERSION,
            features: self.features,
            intercept: self.intercept.clone(),
            linear: self.weights.clone(),
            terms: terms.collect(),
        };
        // Serialization to memory fails only for maps whose keys are not strings, and there are no maps.
        serde_json::to_vec(&file).unwrap_or_default()
    }

    /// Returns whether bytes declare this format, in any version. The file may still be invalid.
    pub fn is_file(bytes: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Head {
            format: String,
        }
        bytes.trim_ascii_start().starts_with(b"{")
            && serde_json::from_slice::<Head>(bytes).is_ok_and(|head| head.format == FORMAT)
    }

    /// Reads a machine that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    ///
    /// [`KernelError::File`] for bytes that are not such a file; the errors of [`new`](Self::new),
    /// [`with_linear`](Self::with_linear) and [`with_kernel`](Self::with_kernel) for invalid contents.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KernelError> {
        let file: MachineFile = serde_json::from_slice(bytes)
            .map_err(|error| KernelError::File { problem: error.to_string() })?;
        if file.format != FORMAT || file.version != VERSION {
            let problem = format!(
                "expected format {FORMAT:?} version {VERSION}, found {:?} version {}",
                file.format, file.version
            );
            return Err(KernelError::File { problem });
        }
        let mut machine = Self::new(file.features, &file.intercept)?;
        if !file.linear.is_empty() {
            machine = machine.with_linear(&file.linear)?;
        }
        file.terms.into_iter().try_fold(machine, |machine, term| {
            machine.with_kernel(term.kernel, &term.centres, &term.coefficients)
        })
    }

    /// Returns the SHA-256 hash of [`to_bytes`](Self::to_bytes), which identifies the machine.
    pub fn fingerprint(&self) -> [u8; 32] {
        Sha256::digest(self.to_bytes()).into()
    }
}
