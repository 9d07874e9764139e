//! Section: feature importance over all rows.

use crate::error::PlotError;
use crate::figures::{Kind, Options};
use crate::report::page::{Card, Of, Page};

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    page.each_output(|page, output| {
        let card = Card { output, ..Card::default() };
        page.figure(Kind::Bar, card, Of::Kept, Options::default())?;
        page.figure(Kind::Beeswarm, card, Of::Drawn, Options::default())?;
        page.figure(Kind::Groups, card, Of::Kept, Options::default())?;
        Ok(())
    })
}
