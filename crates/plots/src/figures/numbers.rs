//! Tables that several figures share.

use crate::explained::Explained;
use crate::scene::{Cell, Table};

/// Returns the table of a row: the players by descending absolute value, then base value and prediction.
pub(super) fn of_row(explained: &Explained, row: usize, output: usize) -> Table {
    let mut table = Table::new(["feature", "input", "value", "95% CI half-width"]);
    for player in explained.by_size(row, output) {
        table.push([
            explained.heading.players[player].clone().into(),
            explained.cell_of_inputs(row, player),
            explained.value(row, player, output).into(),
            explained.half_width(row, player, output).into(),
        ]);
    }
    for (name, number) in
        [("base value", explained.base(row, output)), ("prediction", explained.prediction(row, output))]
    {
        table.push([name.into(), Cell::Text(String::new()), number.into(), Cell::Number(0.0)]);
    }
    table
}

/// Returns the table of several rows: their predictions and values, and the sum over the players in `rest`.
pub(super) fn of_rows(
    explained: &Explained,
    output: usize,
    (told, rest): (&[usize], &[usize]),
    rows: &[usize],
) -> Table {
    let mut table = Table::new(["row", "prediction"]);
    table.columns.extend(told.iter().map(|&player| explained.heading.players[player].clone()));
    if !rest.is_empty() {
        table.columns.push(format!("{} others", rest.len()));
    }
    for &row in rows {
        let values = told.iter().map(|&player| explained.value(row, player, output));
        let others = (!rest.is_empty()).then(|| sum_of(explained, row, rest, output));
        let cells = [explained.kept.rows[row] as f64, explained.prediction(row, output)];
        table.lines.push(cells.into_iter().chain(values).chain(others).map(Into::into).collect());
    }
    table
}

/// Returns the sum of the values of some players.
pub(super) fn sum_of(explained: &Explained, row: usize, players: &[usize], output: usize) -> f64 {
    players.iter().map(|&player| explained.value(row, player, output)).sum()
}
