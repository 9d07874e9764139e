//! Certificates in JSON.

use serde::{Deserialize, Serialize};

use super::numbers::Numbers;
use super::write::{Outputs, Players};
use crate::batch::{Certified, InterimCheck};

/// A certificate to be written. The interval of a value is the value ± its half-width.
#[derive(Serialize)]
pub(crate) struct Certificate<'a> {
    stopped_by: &'a str,
    guarantee: &'a str,
    confidence: f64,
    error_bound: Option<Outputs<'a>>,
    tolerance: Outputs<'a>,
    half_widths: Option<Players<'a>>,
    #[serde(rename = "looks")]
    interim_checks: &'a [InterimCheck],
    says: &'a str,
}

impl<'a> Certificate<'a> {
    pub(crate) fn new(certified: &'a Certified, outputs: usize) -> Self {
        let numbers = |numbers: &'a [f64]| Some(numbers).filter(|numbers| !numbers.is_empty());
        Self {
            stopped_by: &certified.stopped_by,
            guarantee: &certified.guarantee,
            confidence: certified.confidence,
            error_bound: numbers(&certified.error_bounds).map(Outputs),
            tolerance: Outputs(&certified.tolerances),
            half_widths: numbers(&certified.half_widths).map(|numbers| Players { outputs, numbers }),
            interim_checks: &certified.interim_checks,
            says: &certified.says,
        }
    }
}

/// A certificate as read from a result file.
#[derive(Debug, Deserialize)]
pub(super) struct WrittenCertificate {
    stopped_by: String,
    guarantee: String,
    confidence: f64,
    error_bound: Option<Numbers>,
    tolerance: Numbers,
    half_widths: Option<Numbers>,
    #[serde(default)]
    #[serde(rename = "looks")]
    interim_checks: Vec<WrittenCheck>,
    #[serde(default)]
    says: String,
}

#[derive(Debug, Deserialize)]
struct WrittenCheck {
    budget: u64,
    spent: Option<f64>,
    error: Option<f64>,
}

impl WrittenCertificate {
    pub(super) fn certified(self) -> Certified {
        let interim_check = |interim_check: WrittenCheck| InterimCheck {
            evaluations: interim_check.budget,
            spent: interim_check.spent.unwrap_or(f64::NAN),
            error: interim_check.error,
        };
        Certified {
            stopped_by: self.stopped_by,
            guarantee: self.guarantee,
            confidence: self.confidence,
            error_bounds: self.error_bound.map(|Numbers(bounds)| bounds).unwrap_or_default(),
            tolerances: self.tolerance.0,
            half_widths: self.half_widths.map(|Numbers(widths)| widths).unwrap_or_default(),
            interim_checks: self.interim_checks.into_iter().map(interim_check).collect(),
            says: self.says,
        }
    }
}

impl Certified {
    /// Returns the certificate as JSON, as in result files, for attributions with `outputs` outputs.
    ///
    /// # Errors
    ///
    /// The errors of serde_json.
    pub fn to_json(&self, outputs: usize) -> serde_json::Result<String> {
        serde_json::to_string(&Certificate::new(self, outputs))
    }

    /// Parses the JSON of a certificate in a result file.
    ///
    /// # Errors
    ///
    /// The errors of serde_json.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str::<WrittenCertificate>(text).map(WrittenCertificate::certified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_reads_back() {
        let certified = Certified {
            stopped_by: "tolerance".to_owned(),
            guarantee: "asymptotic".to_owned(),
            confidence: 0.95,
            error_bounds: vec![0.1, 0.2],
            tolerances: vec![0.3, 0.4],
            half_widths: vec![0.0, 1.0, 2.0, 3.0],
            interim_checks: vec![InterimCheck { evaluations: 64, spent: 0.025, error: Some(0.5) }],
            says: "\"so\"".to_owned(),
        };
        let written = certified.to_json(2).unwrap();
        assert!(written.contains(
            r#""half_widths":[[0.0,1.0],[2.0,3.0]],"looks":[{"budget":64,"spent":0.025,"error":0.5}]"#
        ));
        assert_eq!(Certified::from_json(&written).unwrap(), certified);
        let unknown = Certified { error_bounds: Vec::new(), half_widths: Vec::new(), ..certified };
        let written = unknown.to_json(2).unwrap();
        assert!(written.contains(r#""error_bound":null"#));
        assert_eq!(Certified::from_json(&written).unwrap(), unknown);
        assert!(Certified::from_json("{}").is_err());
    }
}
