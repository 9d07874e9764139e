//! Section: feature importance in cohorts of rows.

use crate::error::PlotError;
use crate::figures::{Kind, Options};
use crate::report::page::{Card, FigureData, Page};

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    if page.explained.rows() < 2 {
        page.html.paragraph("Cohorts require more than one row.");
        return Ok(());
    }
    page.html.paragraph(
        "Rows above the median prediction versus the rest. With JavaScript enabled, define other cohorts \
         above by a condition (e.g. age >= 40) or by dragging over a scatter plot.",
    );
    page.each_output(|page, output| {
        page.figure(Kind::Cohorts, Card { output, ..Card::default() }, FigureData::Kept, Options::default())?;
        Ok(())
    })
}
