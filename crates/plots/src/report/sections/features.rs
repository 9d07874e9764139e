//! Section: dependence plots of the most important features.

use crate::error::PlotError;
use crate::figures::{Kind, Options};
use crate::report::page::{Card, FigureData, Page, SCATTERS};

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    if !page.explained.has_inputs() {
        page.html.paragraph("Dependence plots require inputs, which the results do not contain.");
        return Ok(());
    }
    page.each_output(|page, output| {
        let players = page.explained.by_importance(page.outputs[output]);
        let players: Vec<usize> = players
            .into_iter()
            .filter(|&player| page.explained.only_feature(player).is_some())
            .take(SCATTERS)
            .collect();
        if players.is_empty() {
            page.html.paragraph(
                "Dependence plots require values of single features, but all values belong to groups.",
            );
        }
        for player in players {
            let options = Options { player: Some(player), ..Options::default() };
            let card = Card { output, player: Some(player), row: None };
            page.figure(Kind::Scatter, card, FigureData::Drawn, options)?;
        }
        Ok(())
    })
}
