//! Tables for reading: six significant digits, the players that matter most first, with a bar for each.

use std::io::Write;

use anyhow::Result;

use super::results::{Attributions, Facts, Interactions, Predictions};

/// Characters of the longest bar.
const BAR: usize = 24;
/// Pairs that are shown of a row, those that matter most.
const PAIRS: usize = 20;
/// Characters that one line of a list may take.
const LINE: usize = 100;

pub(super) fn attributions(results: &Attributions, out: &mut dyn Write) -> Result<()> {
    write!(out, "{} values, {} game, method {}", results.value, results.game, results.method)?;
    if let Some(budget) = results.budget {
        write!(out, ", budget {budget}, seed {}", results.seed)?;
    }
    writeln!(out)?;
    if let Some(accuracy) = &results.accuracy {
        writeln!(out, "until: {accuracy}")?;
    }
    let names = results.player_names();
    let what = if results.players.iter().all(|features| features.len() == 1) { "feature" } else { "group" };
    for row in &results.rows {
        let explanation = &row.explanation;
        for output in 0..results.outputs {
            let of_output = |numbers: &[f64]| -> Vec<f64> {
                numbers.iter().skip(output).step_by(results.outputs).copied().collect()
            };
            let values = of_output(&explanation.values);
            let errors = explanation.std_errors.as_deref().filter(|_| results.are_estimates()).map(of_output);

            let numbers = [explanation.base[output], explanation.prediction[output]];
            heading(row.row, row.id.as_deref(), (results.outputs > 1).then_some(output), numbers, out)?;
            if let Some(certificate) = &explanation.certificate {
                let tolerance = digits(certificate.tolerances[output]);
                let bound = certificate.error_bounds.as_ref().map_or_else(
                    || "error unknown".to_owned(),
                    |bounds| format!("error at most {}", digits(bounds[output])),
                );
                writeln!(
                    out,
                    "  {bound} ({}), tolerance {tolerance}; {} evaluations, stopped by: {}",
                    certificate.guarantee, explanation.evaluations, certificate.stopped_by
                )?;
                writeln!(out, "  {}", certificate.says)?;
            }

            let shows_input = !row.explicand.is_empty();
            let mut header = vec![what.to_owned()];
            header.extend(shows_input.then(|| "input".to_owned()));
            header.push(results.value.clone());
            header.extend(errors.is_some().then(|| "std error".to_owned()));
            header.push(String::new());
            let mut lines = vec![header];
            let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            let mut players: Vec<usize> = (0..values.len()).collect();
            players.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
            for player in players {
                let input = |&feature: &usize| match row.explicand[feature] {
                    x if x.is_nan() => "missing".to_owned(),
                    x => results.category(feature, x).map_or_else(|| digits(x), str::to_owned),
                };
                let mut line = vec![names[player].clone()];
                line.extend(
                    shows_input
                        .then(|| results.players[player].iter().map(input).collect::<Vec<_>>().join(", ")),
                );
                line.push(digits(values[player]));
                line.extend(errors.as_ref().map(|errors| digits(errors[player])));
                line.push(bar(values[player], largest));
                lines.push(line);
            }
            aligned(&lines, LastColumn::Bars, out)?;
        }
    }
    Ok(())
}

pub(super) fn interactions(results: &Interactions, out: &mut dyn Write) -> Result<()> {
    let (players, outputs) = (results.players.len(), results.outputs);
    writeln!(out, "interactions ({}) of {} values, {} game", results.form, results.value, results.game)?;
    for (row, id, prediction, matrix) in results.matrices() {
        for output in 0..outputs {
            let numbers = [results.base[output], prediction[output]];
            heading(row, id, (outputs > 1).then_some(output), numbers, out)?;
            let at = |i: usize, j: usize| matrix[(i * players + j) * outputs + output];
            let mut pairs: Vec<(usize, usize)> =
                (0..players).flat_map(|i| (i..players).map(move |j| (i, j))).collect();
            pairs.retain(|&(i, j)| i == j || at(i, j) != 0.0);
            pairs.sort_by(|&(a, b), &(c, d)| at(c, d).abs().total_cmp(&at(a, b).abs()));
            let singles = pairs.iter().filter(|(i, j)| i == j);
            let couples = pairs.iter().filter(|(i, j)| i != j);
            let hidden = couples.clone().count().saturating_sub(PAIRS);
            let largest = pairs.first().map_or(0.0, |&(i, j)| at(i, j).abs());
            let mut lines =
                vec![vec!["feature".to_owned(), "with".to_owned(), results.form.to_owned(), String::new()]];
            for &(i, j) in singles.chain(couples.take(PAIRS)) {
                let with = if i == j { "itself" } else { &results.players[j] };
                let line = [&results.players[i], with].map(str::to_owned);
                lines.push(line.into_iter().chain([digits(at(i, j)), bar(at(i, j), largest)]).collect());
            }
            aligned(&lines, LastColumn::Bars, out)?;
            if hidden > 0 {
                writeln!(out, "  and {hidden} pairs that interact less")?;
            }
        }
    }
    Ok(())
}

pub(super) fn predictions(results: &Predictions, out: &mut dyn Write) -> Result<()> {
    let lines = results.each().map(|(row, id, margins)| {
        let start = id.map(str::to_owned).into_iter().chain([row.to_string()]);
        start.chain(margins.iter().copied().map(digits)).collect()
    });
    aligned(&std::iter::once(results.header()).chain(lines).collect::<Vec<_>>(), LastColumn::Numbers, out)
}

pub(super) fn facts(facts: &Facts, out: &mut dyn Write) -> Result<()> {
    let width = facts.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, values) in facts.lines("not in the file") {
        let mut line = format!("{:<width$} ", name.replace('_', " "));
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                line.push(',');
                if line.chars().count() + value.chars().count() >= LINE {
                    writeln!(out, "{line}")?;
                    line = " ".repeat(width + 1);
                }
            }
            line.push(' ');
            line.push_str(value);
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The line above what is told of a row, or of one of its outputs where there are several.
fn heading(
    row: usize,
    id: Option<&str>,
    output: Option<usize>,
    numbers: [f64; 2],
    out: &mut dyn Write,
) -> Result<()> {
    let id = id.map_or_else(String::new, |id| format!(" ({id})"));
    let output = output.map_or_else(String::new, |output| format!(", output {output}"));
    let [base, prediction] = numbers.map(digits);
    Ok(writeln!(out, "\nrow {row}{id}{output}: base {base}, prediction {prediction}")?)
}

/// What the last column of a table holds.
#[derive(Clone, Copy, PartialEq)]
enum LastColumn {
    Numbers,
    Bars,
}

/// Writes lines of cells under each other: names and bars to the left, numbers to the right.
fn aligned(lines: &[Vec<String>], last: LastColumn, out: &mut dyn Write) -> Result<()> {
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    for line in lines {
        let mut text = String::new();
        for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            let to_the_left = column == 0 || (column + 1 == columns && last == LastColumn::Bars);
            text.push_str("  ");
            text.push_str(&if to_the_left { format!("{cell:<width$}") } else { format!("{cell:>width$}") });
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}

/// A number to six significant digits.
fn digits(number: f64) -> String {
    let magnitude = number.abs();
    if number == 0.0 || !number.is_finite() {
        return format!("{number}");
    }
    if !(1e-4..1e9).contains(&magnitude) {
        return format!("{number:.5e}");
    }
    let before_the_point = magnitude.log10().floor() as i32 + 1;
    format!("{number:.*}", (6 - before_the_point).max(0) as usize)
}

/// `+++` or `---`, as long as the value is large.
fn bar(value: f64, largest: f64) -> String {
    let length = if largest > 0.0 { (value.abs() / largest * BAR as f64).round() as usize } else { 0 };
    if value < 0.0 { "-" } else { "+" }.repeat(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_significant_digits() {
        let pairs = [
            (138.02767813, "138.028"),
            (-0.0616962065, "-0.0616962"),
            (1234567.8, "1234568"),
            (1.5e-9, "1.50000e-9"),
            (0.0, "0"),
            (2e12, "2.00000e12"),
        ];
        for (number, text) in pairs {
            assert_eq!(digits(number), text);
        }
    }

    #[test]
    fn bars_are_in_proportion_and_show_the_sign() {
        assert_eq!(bar(-2.0, 4.0), "-".repeat(BAR / 2));
        assert_eq!(bar(4.0, 4.0), "+".repeat(BAR));
        assert_eq!(bar(0.0, 0.0), "");
    }
}
