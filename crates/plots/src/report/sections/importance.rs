//! Section: feature importance over all rows.

use crate::error::PlotError;
use crate::figures::{Kind, Options};
use crate::report::page::{Card, FigureData, Page};

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    page.each_output(|page, output| {
        let card = Card { output, ..Card::default() };
        page.figure(Kind::Bar, card, FigureData::Kept, Options::default())?;
        page.figure(Kind::Beeswarm, card, FigureData::Drawn, Options::default())?;
        page.figure(Kind::Groups, card, FigureData::Kept, Options::default())?;
        Ok(())
    })
}
