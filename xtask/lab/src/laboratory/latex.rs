//! LaTeX tables that use the package booktabs.

use crate::reproduce::report::Table;

/// Formats a table and its caption as LaTeX.
pub(crate) fn latex(table: &Table) -> String {
    let row = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let head = row(table.columns.iter().map(|column| escaped(column)).collect());
    let rows: String = table
        .rows
        .iter()
        .map(|cells| row(cells.iter().map(|cell| cell_of(&cell.short())).collect()))
        .collect();
    format!(
        "% \\usepackage{{booktabs}}\n\\begin{{table}}\n\\centering\n\\caption{{{}}}\n\
         \\begin{{tabular}}{{{}}}\n\\toprule\n{head}\\midrule\n{rows}\\bottomrule\n\
         \\end{{tabular}}\n\\end{{table}}\n",
        escaped(&table.caption),
        "l".repeat(table.columns.len())
    )
}

/// Formats a cell; numbers with an exponent are typeset as powers of ten.
fn cell_of(text: &str) -> String {
    let power = |word: &str| {
        let (digits, exponent) = word.split_once('e')?;
        let is_number = digits.parse::<f64>().is_ok() && exponent.parse::<i32>().is_ok();
        is_number.then(|| format!("${digits} \\cdot 10^{{{exponent}}}$"))
    };
    let words = text.split(' ').map(|word| power(word).unwrap_or_else(|| escaped(word)));
    words.collect::<Vec<_>>().join(" ")
}

/// Escapes text for LaTeX.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', character]),
            // At the start of a row, LaTeX would parse these characters as options of the preceding `\\`.
            '[' | '*' => out.extend(['{', character, '}']),
            '–' => out.push_str("--"),
            '∞' => out.push_str("$\\infty$"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::report::row;

    #[test]
    fn what_latex_gives_a_meaning_is_escaped_and_powers_are_set() {
        let mut table = Table::new("50 %", ["a_b", "c"]);
        table.push(row!["x&y^2", 4.84e-9]);
        table.push(row!["[x]", "*"]);
        let text = latex(&table);
        assert!(text.contains("\\caption{50 \\%}"), "{text}");
        assert!(
            text.contains(
                "a\\_b & c \\\\\n\\midrule\nx\\&y\\textasciicircum{}2 & $4.84 \\cdot 10^{-9}$ \\\\\n{[}x] & \
                 {*} \\\\\n"
            ),
            "{text}"
        );
    }
}
