//! Section: interactions of features.

use crate::error::PlotError;
use crate::figures::{Kind, Options, strongest_partner};
use crate::report::html::counted;
use crate::report::page::{Card, FigureData, Page, SCATTERS};
use crate::report::table::{self, Numbers};
use crate::scene::{Cell, Table, digits};

/// Maximum number of features whose partners are listed.
const MAX_PLAYERS: usize = 20;

/// Minimum number of rows. With fewer rows, the deciles are too small to fit lines.
const MIN_ROWS: usize = 30;
pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    match page.given.pairs {
        Some(_) => section(page),
        None => guessed(page),
    }
}

/// Writes the computed interactions, as a matrix and as a network.
fn section(page: &mut Page<'_>) -> Result<(), PlotError> {
    let rows = page.given.pairs.map_or(0, |pairs| pairs.summary.rows);
    page.html
        .paragraph(&format!("Interaction indices of all pairs of features for {}.", counted(rows, "row")));
    page.each_output(|page, output| {
        for kind in [Kind::Interactions, Kind::Network] {
            page.figure(kind, Card { output, ..Card::default() }, FigureData::Pairs, Options::default())?;
        }
        Ok(())
    })
}

/// Writes, for each feature, which other input explains its values best, for results without interactions.
fn guessed(page: &mut Page<'_>) -> Result<(), PlotError> {
    page.html.raw("<p>No interactions were computed. For tree ensembles, run ");
    page.html.raw(
        "<code>apportion explain --interactions</code> and pass its results to <code>apportion \
             report</code> as a second <code>--in</code>.</p>",
    );
    let rows = page.drawn.rows();
    if !page.explained.has_inputs() || page.explained.players() < 2 || rows < MIN_ROWS {
        return Ok(());
    }
    page.html.paragraph(
        "For each feature, the other feature whose input best explains the remaining variation of its \
         attributions (linear fit within deciles, % of variance). This suggests an interaction but does not \
         measure one: correlated inputs can mislead it.",
    );
    if let Some(note) = by_chance(rows, page.explained.players()) {
        page.html.element("p", &[("class", "note")], &note);
    }
    page.each_output(|page, place| {
        let (explained, output) = (&page.drawn, page.outputs[place]);
        let mut lines = Table::new(["feature", "strongest partner", "% of variance"]);
        // Finding partners takes long for many features and rows, so limit the number of features.
        let most = if explained.players() * explained.rows() > 1_000_000 { SCATTERS } else { MAX_PLAYERS };
        for player in page.explained.by_importance(output).into_iter().take(most) {
            if let Some(partner) = strongest_partner(explained, player, output) {
                let name = |player: usize| Cell::Text(explained.heading.players[player].clone());
                lines.push([
                    name(player),
                    name(partner.player),
                    Cell::Number((1000.0 * partner.strength).round() / 10.0),
                ]);
            }
        }
        match lines.lines.is_empty() {
            true => {
                page.html.paragraph("The attributions of no feature vary with the inputs of another.");
            }
            false => {
                let label = page.label("strongest partners");
                table::lines_of(&mut page.html, &lines, Numbers::Here, &label);
            }
        }
        Ok(())
    })
}

/// Returns a note on the share of the variance that a line through few rows explains by chance, or `None` if
/// this share is small.
fn by_chance(rows: usize, players: usize) -> Option<String> {
    // For m unrelated rows, a line explains 1 / (m − 1) of the variance on average.
    let of_part = rows.div_ceil(10);
    (2..=20).contains(&of_part).then(|| {
        let share = 100.0 / (of_part - 1) as f64;
        format!(
            "With {}, a decile has at most {} of them: by chance alone, a linear fit explains about {}% of \
             the variance, and the best of {} more.",
            counted(rows as u64, "row"),
            of_part,
            digits(share, 2),
            counted(players.saturating_sub(1) as u64, "other")
        )
    })
}
