//! Section: feature importance in cohorts of rows.

use crate::error::PlotError;
use crate::figures::{Kind, Options};
use crate::report::page::{Card, Of, Page};

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    if page.explained.rows() < 2 {
        page.html.paragraph("There is one row; cohorts are of more.");
        return Ok(());
    }
    page.html.paragraph(
        "Rows with predictions above their median, and the others. Other parts can be selected above, where scripts run: by a condition \
         such as age >= 40, or by dragging over a figure with dots.",
    );
    page.each_output(|page, output| {
        page.figure(Kind::Cohorts, Card { output, ..Card::default() }, Of::Kept, Options::default())?;
        Ok(())
    })
}
