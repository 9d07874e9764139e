//! Combination of our runs and the authors' runs in one figure, one table and one file.

use super::authors::Authors;
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::Panel;
use crate::reproduce::report::{Entry, Table};

/// Origin of the rows and panels of our runs.
const OURS: &str = "this project";
/// Origin of the rows and panels of the authors' runs.
const THEIRS: &str = "the authors";

/// Note for readers of a figure that contains our runs and the authors'.
pub(super) const NOTE: &str = "rows and panels of the authors show the authors' own runs (their repository \
                               at commit 0de0a80: 100 runs, with their own models and rows, and NHANES with \
                               79 features), from the file `xtask/lab/data/leverage_shap_authors.csv.gz`; \
                               claims are judged on them by the same rule";

/// Adds the panels and rows of the authors' runs to the panels and rows of our runs. The first `keys` columns
/// of the tables identify the subject of a row.
///
/// `columns` contains, for each of our panels, its column in the paper's tables, or `None` if the paper does
/// not use the dataset; `theirs` has one panel for each of `their_columns`.
pub(super) fn beside(
    ours: ArtefactOutput,
    theirs: ArtefactOutput,
    (columns, their_columns): (&[Option<usize>], &[usize]),
    keys: usize,
) -> ArtefactOutput {
    let data = joined(&ours.data, &theirs.data, ("runs_by", keys + 1));
    let tables = ours.tables.iter().zip(&theirs.tables);
    let tables = tables.map(|(ours, theirs)| joined(ours, theirs, ("runs by", keys))).collect();
    let figure = ours.figure.zip(theirs.figure).map(|(mut figure, others)| {
        figure.panels = paired(figure.panels, others.panels, (columns, their_columns));
        // Only one of the notes may need an addition, e.g. that values below a threshold count as zero.
        if others.note.starts_with(&figure.note) {
            figure.note = others.note;
        }
        figure
    });
    ArtefactOutput { data, tables, figure, ..ours }
}

/// Places the panels of each dataset next to each other, followed by the panels without a counterpart.
fn paired(
    ours: Vec<Panel>,
    theirs: Vec<Panel>,
    (columns, their_columns): (&[Option<usize>], &[usize]),
) -> Vec<Panel> {
    let named = |panel: Panel, who: &str| Panel { title: format!("{}, {who}", panel.title), ..panel };
    let mut theirs: Vec<(usize, Panel)> = their_columns.iter().copied().zip(theirs).collect();
    let (mut pairs, mut alone) = (Vec::new(), Vec::new());
    for (panel, column) in ours.into_iter().zip(columns) {
        let partner = theirs.iter().position(|(other, _)| Some(*other) == *column);
        match partner.map(|at| theirs.remove(at).1) {
            Some(partner) => pairs.extend([named(panel, "ours"), named(partner, "authors")]),
            None => alone.push(named(panel, "ours")),
        }
    }
    alone.extend(theirs.into_iter().map(|(_, panel)| named(panel, "authors")));
    pairs.extend(alone);
    pairs
}

/// Combines the rows of both tables and adds a column for their origin. Rows that agree in the first `keys`
/// columns are placed below each other. Cells are empty in columns that one of the tables lacks.
pub(super) fn joined(ours: &Table, theirs: &Table, (who, keys): (&str, usize)) -> Table {
    let mut rest = theirs.columns[keys..].to_vec();
    rest.extend(ours.columns[keys..].iter().filter(|column| !theirs.columns.contains(column)).cloned());
    let columns = ours.columns[..keys].iter().cloned().chain([who.to_owned()]).chain(rest.iter().cloned());
    let mut table = Table::new(ours.caption.as_str(), columns);
    let filled = |from: &Table, row: &[Entry], whose: &str| {
        let at = |column: &String| from.columns.iter().position(|here| here == column);
        let rest = rest.iter().map(|column| at(column).map_or(Entry::ABSENT, |at| row[at].clone()));
        row[..keys].iter().cloned().chain([Entry::from(whose)]).chain(rest).collect::<Vec<_>>()
    };
    let key = |row: &[Entry]| row[..keys].iter().map(Entry::short).collect::<Vec<_>>();
    let mut left: Vec<&Vec<Entry>> = theirs.rows.iter().collect();
    for row in &ours.rows {
        table.push(filled(ours, row, OURS));
        if let Some(at) = left.iter().position(|other| key(other) == key(row)) {
            table.push(filled(theirs, left.remove(at), THEIRS));
        }
    }
    left.into_iter().for_each(|row| table.push(filled(theirs, row, THEIRS)));
    table
}

/// Returns the number of players in each of the authors' panels.
pub(super) fn their_players(authors: &Authors, columns: &[usize]) -> Vec<usize> {
    columns.iter().map(|&column| authors.players(column)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::report::row;

    #[test]
    fn rows_of_one_key_are_together_and_missing_columns_are_absent() {
        let mut ours = Table::new("ours", ["dataset", "a", "c"]);
        ours.push(row!["one", 1.0, 3.0]);
        ours.push(row!["two", 4.0, 6.0]);
        let mut theirs = Table::new("theirs", ["dataset", "a", "b"]);
        theirs.push(row!["two", 7.0, 8.0]);
        theirs.push(row!["three", 9.0, 10.0]);
        let table = joined(&ours, &theirs, ("runs by", 1));
        assert_eq!(table.columns, ["dataset", "runs by", "a", "b", "c"]);
        let rows: Vec<String> =
            table.rows.iter().map(|row| row.iter().map(Entry::short).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            rows,
            [
                "one this project 1.00 – 3.00",
                "two this project 4.00 – 6.00",
                "two the authors 7.00 8.00 –",
                "three the authors 9.00 10.0 –",
            ]
        );
    }
}
