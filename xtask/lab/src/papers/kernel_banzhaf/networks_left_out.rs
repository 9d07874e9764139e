//! Figure 6 in a build without support for neural networks. The figure is skipped, with instructions for a
//! build that creates it.

use anyhow::Result;

use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::report::{Table, notes};
use crate::reproduce::session::Session;

/// Reports that figure 6 is skipped.
pub(crate) fn fig6(session: &Session) -> Result<ArtefactOutput> {
    let how = "this build does not support neural networks; run cargo xtask-onnx reproduce \
               kernel-banzhaf/fig6";
    session.say_once(&format!("kernel-banzhaf/fig6: skipped; {how}"));
    Ok(ArtefactOutput {
        data: Table::new("data", ["dataset", "estimator", "m"]),
        figure: None,
        tables: Vec::new(),
        claims: Vec::new(),
        notes: notes![format!("skipped; {how}")],
        datasets: Vec::new(),
    })
}
