//! CSV with a header: a line per row, or per row and output where the model has several; the standard errors of estimates follow the
//! values. Numbers have the fewest digits that read back to the same bits; what is missing is an empty cell.

use std::io::{self, Write};

use anyhow::Result;

use super::results::{Attributions, Facts, Interactions, Predictions};

pub(super) fn attributions(results: &Attributions, out: &mut dyn Write) -> Result<()> {
    let mut table = ::csv::Writer::from_writer(out);
    let several = results.outputs > 1;
    let with_errors = results.are_estimates();

    let with_ids = results.rows.iter().any(|row| row.id.is_some());
    let mut header = Vec::from_iter(with_ids.then(|| "id".to_owned()));
    header.push("row".to_owned());
    header.extend(several.then(|| "output".to_owned()));
    header.extend(["base".to_owned(), "prediction".to_owned()]);
    let players = results.player_names();
    header.extend(players.iter().cloned());
    if with_errors {
        header.extend(players.iter().map(|name| format!("std error of {name}")));
    }
    if results.accuracy.is_some() {
        header.extend(["evaluations", "error bound", "tolerance", "stopped by"].map(str::to_owned));
    }
    record(&mut table, &header)?;

    for row in &results.rows {
        let explanation = &row.explanation;
        for output in 0..results.outputs {
            let of_output = |numbers: &[f64]| -> Vec<String> {
                numbers.iter().skip(output).step_by(results.outputs).copied().map(cell).collect()
            };
            let mut line = Vec::from_iter(row.id.clone());
            line.push(row.row.to_string());
            line.extend(several.then(|| output.to_string()));
            line.extend([cell(explanation.base[output]), cell(explanation.prediction[output])]);
            line.extend(of_output(&explanation.values));
            if with_errors {
                let missing = || vec![String::new(); players.len()];
                line.extend(explanation.std_errors.as_deref().map_or_else(missing, of_output));
            }
            if let Some(certificate) = &explanation.certificate {
                let bound =
                    certificate.error_bounds.as_ref().map_or_else(String::new, |bounds| cell(bounds[output]));
                line.extend([
                    explanation.evaluations.to_string(),
                    bound,
                    cell(certificate.tolerances[output]),
                    certificate.stopped_by.to_string(),
                ]);
            }
            record(&mut table, &line)?;
        }
    }
    Ok(table.flush()?)
}

/// A line per row, output and player, with the player's line of the matrix.
pub(super) fn interactions(results: &Interactions, out: &mut dyn Write) -> Result<()> {
    let mut table = ::csv::Writer::from_writer(out);
    let (players, outputs) = (results.players.len(), results.outputs);
    let mut header = Vec::from_iter(results.ids.is_some().then(|| "id".to_owned()));
    header.push("row".to_owned());
    header.extend((outputs > 1).then(|| "output".to_owned()));
    header.extend(["base", "prediction", "of"].map(str::to_owned));
    header.extend(results.players.iter().cloned());
    record(&mut table, &header)?;
    for (row, id, predictions, matrix) in results.matrices() {
        for (output, (&base, &prediction)) in results.base.iter().zip(predictions).enumerate() {
            for (player, line) in results.players.iter().zip(matrix.chunks_exact(players * outputs)) {
                let mut cells = Vec::from_iter(id.map(str::to_owned));
                cells.push(row.to_string());
                cells.extend((outputs > 1).then(|| output.to_string()));
                cells.extend([cell(base), cell(prediction), player.clone()]);
                cells.extend(line.iter().skip(output).step_by(outputs).copied().map(cell));
                record(&mut table, &cells)?;
            }
        }
    }
    Ok(table.flush()?)
}

pub(super) fn predictions(results: &Predictions, out: &mut dyn Write) -> Result<()> {
    let mut table = ::csv::Writer::from_writer(out);
    record(&mut table, results.header())?;
    for (row, id, margins) in results.each() {
        let cells = id.map(str::to_owned).into_iter().chain([row.to_string()]);
        record(&mut table, cells.chain(margins.iter().copied().map(cell)))?;
    }
    Ok(table.flush()?)
}

/// A line per fact; the entries of a list follow each other in the line.
pub(super) fn facts(facts: &Facts, out: &mut dyn Write) -> Result<()> {
    let mut table = ::csv::WriterBuilder::new().flexible(true).from_writer(out);
    for (name, values) in facts.lines("") {
        record(&mut table, std::iter::once(name.to_owned()).chain(values))?;
    }
    Ok(table.flush()?)
}

/// Writes a line; its failure is that of the place written to, without a shell around it.
fn record<W: Write, C: AsRef<[u8]>>(
    table: &mut ::csv::Writer<W>,
    cells: impl IntoIterator<Item = C>,
) -> Result<()> {
    Ok(table.write_record(cells).map_err(|error| match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    })?)
}

fn cell(number: f64) -> String {
    if number.is_nan() { String::new() } else { format!("{number:?}") }
}
