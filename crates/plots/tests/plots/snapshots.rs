//! Descriptions and tables of each kind of figure for a small example.

use apportion_plots::{Cell, Kind, Options, Table, digits};

use crate::common::results::Results;

/// Returns three people whose values have few digits.
fn example() -> Results {
    let mut results = Results::new(&["age", "city", "hours per week"], 3, 1);
    results.values = vec![1.5, -0.25, 0.5, -0.75, 0.5, 0.125, 0.25, 0.75, -1.0];
    results.std_errors = vec![0.125, 0.0, 0.25, 0.0625, 0.125, f64::NAN, 0.0, 0.125, 0.5];
    results.inputs = vec![39.0, 0.0, 40.0, 17.0, 1.0, f64::NAN, 65.0, 1.0, 12.5];
    results.ids = Some(["Ada", "Blaise", "Carl Friedrich"].map(str::to_owned).into());
    results.text = "A red city.".to_owned();
    results
}

/// Formats a table with four digits, so that it does not depend on rounding errors of the machine.
fn lines(table: &Table) -> String {
    let cell = |cell: &Cell| match cell {
        Cell::Text(text) => text.clone(),
        Cell::Number(number) => digits(*number, 4),
    };
    let line = |line: &Vec<Cell>| line.iter().map(cell).collect::<Vec<_>>().join(" | ");
    let lines = table.lines.iter().map(line);
    [table.columns.join(" | ")].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

#[test]
fn figures_say_what_they_show() {
    for kind in Kind::ALL {
        let scene = kind.lay_out(&example().explained(kind), &Options::default()).unwrap();
        let says = format!("{}\n\n{}\n\n{}", scene.title, scene.description, lines(&scene.table));
        insta::assert_snapshot!(kind.name(), says);
    }
}
