//! Section: individual rows, selected by stated rules, and a table of all rows.

use crate::error::PlotError;
use crate::explained::shown;
use crate::figures::{Kind, Options};
use crate::report::html::named;
use crate::report::page::{Card, FigureData, Page, WIDTH};
use crate::report::table::{self, Numbers};
use crate::scene::{Cell, Table};

/// Maximum number of features in the table of rows.
const MAX_PLAYERS: usize = 8;

const RULES: &str = "The rows with the largest and the smallest prediction; the typical row, whose values \
                     are closest to the medians; and the row farthest from the medians. Distances are \
                     Euclidean, with each value in units of its feature's mean |value|. For estimates, also \
                     the row with the widest confidence interval.";

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    let is_alone = page.explained.summary.rows == 1;
    if !is_alone {
        page.html.paragraph(RULES);
    }
    page.each_output(|page, output| {
        let card = Card { output, ..Card::default() };
        page.figure(Kind::Text, card, FigureData::Kept, Options::default())?;
        page.figure(Kind::Image, card, FigureData::Kept, Options::default())?;
        for place in 0..page.choices[output].len() {
            let choice = page.choices[output][place].clone();
            let number = page.explained.kept.rows[choice.row];
            let options = Options {
                width: WIDTH,
                max_players: Some(12),
                row: Some(number),
                output: page.outputs[output],
                ..Options::default()
            };
            let scene = Kind::Waterfall.lay_out(page.explained, &options)?;
            let mut above = if is_alone { "the only row".to_owned() } else { choice.rules.join(", ") };
            above[..1].make_ascii_uppercase();
            let card = Card { output, player: None, row: page.data.place_of(choice.row) };
            page.card("waterfall", card, &scene, &above);
        }
        Ok(())
    })?;
    page.html.raw("<h3>All rows</h3>");
    page.each_output(|page, output| {
        for kind in [Kind::Heatmap, Kind::Decision] {
            page.figure(kind, Card { output, ..Card::default() }, FigureData::Drawn, Options::default())?;
        }
        Ok(())
    })?;
    page.html.raw("<h3>Row table</h3>");
    page.each_output(|page, place| {
        let output = page.outputs[place];
        let (id, place) = (format!("rows-{place}"), place.to_string());
        page.html.open("div", &[("class", "card wide"), ("id", &id), ("data-rows-of", &place)]);
        let lines = rows(page, output);
        if lines.lines.len() < page.data.rows.len() {
            let text = format!("First {} of {} rows", lines.lines.len(), page.data.rows.len());
            page.html.element("p", &[("class", "note")], &text);
        }
        let label = page.label("row table");
        table::lines_of(&mut page.html, &lines, Numbers::Known, &label);
        page.html.close("div");
        Ok(())
    })
}

/// Returns a table of the first 100 rows with their predictions and the values of the most important
/// features.
fn rows(page: &Page<'_>, output: usize) -> Table {
    let explained = page.explained;
    let players: Vec<usize> = explained.by_importance(output).into_iter().take(MAX_PLAYERS).collect();
    let mut columns = vec!["row".to_owned(), "prediction".to_owned()];
    columns.extend(players.iter().map(|&player| named(&explained.heading.players[player])));
    let lines = page.data.rows.iter().take(100).map(|&row| {
        let name = match &explained.kept.ids {
            Some(ids) => Cell::Text(shown(&ids[row]).into_owned()),
            None => Cell::Text(explained.kept.rows[row].to_string()),
        };
        let mut line = vec![name, explained.prediction(row, output).into()];
        line.extend(players.iter().map(|&player| Cell::Number(explained.value(row, player, output))));
        line
    });
    Table { columns, lines: lines.collect() }
}
