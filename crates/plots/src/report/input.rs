//! The input of a report.

use crate::explained::Explained;

/// The input of a [`Report`](super::Report).
#[derive(Debug, Clone)]
pub(super) struct ReportInput<'e> {
    pub(super) explained: &'e Explained,
    pub(super) pairs: Option<&'e Explained>,
    pub(super) title: Option<String>,
    pub(super) command: Option<String>,
    /// Whether parts of the command are omitted.
    pub(super) is_abridged: bool,
    pub(super) seconds: Option<f64>,
}
