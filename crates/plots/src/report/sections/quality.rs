//! Section: accuracy of the values, and the computing effort.

use crate::error::PlotError;
use crate::explained::Explained;
use crate::figures::{Kind, Options};
use crate::report::html::counted;
use crate::report::page::{Card, Of, Page};
use crate::report::table::{self, Numbers};
use crate::scene::{Cell, Table, digits};

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    let explained = page.explained;
    let summary = &explained.summary;
    let mut terms = Vec::new();
    match summary.rows {
        0 => terms.push(("values", "there are none.".to_owned())),
        _ => terms.extend([("values are", coverage(explained)), ("additivity", additivity(explained))]),
    }
    if let Some(worst) = summary.worst_bound {
        let percent = digits(100.0 * worst, 3);
        terms.push((
            "worst bound",
            match worst <= 1.0 {
                true => format!("{percent} % of what was tolerated: every bound is within its tolerance."),
                false => format!(
                    "{percent} % of what was tolerated: of at least one row it is not known that it is as exact as was asked."
                ),
            },
        ));
    }
    let (least, greatest, sum) = summary.evaluations;
    if sum > 0 {
        let each = if least == greatest { format!("{least}") } else { format!("{least} to {greatest}") };
        terms.push(("evaluations", format!("{each} of the game for each row, {sum} together")));
    }
    if let Some(seconds) = page.given.seconds {
        let each = seconds / summary.rows.max(1) as f64;
        terms.push(("time", format!("{} s, {} s for each row", digits(seconds, 3), digits(each, 2))));
    }
    page.html.terms(terms);
    if !summary.certificates.is_empty() {
        certificates(page);
        page.html.raw("<div class=\"cards\">");
        page.figure(Kind::Convergence, Card::default(), Of::Drawn, Options::default())?;
        page.html.raw("</div>");
    }
    Ok(())
}

/// Describes the accuracy of the values in plain language.
fn coverage(explained: &Explained) -> String {
    if !explained.are_estimates() {
        return "exact, up to rounding: no coalition was drawn at random, and none left out. They are exact for the game that was played; another background, \
                such as another sample of rows, has other values, and so has another model."
            .to_owned();
    }
    let mut says = "estimates, each with a 95 % interval. Over many runs with other seeds, about 95 of 100 such intervals of a value hold it. \
                    That is no promise for all values at once: of 100 intervals about five miss, and those that look most striking miss more \
                    often. The intervals speak of the error of the estimates alone, not of the model, the background or the choice of rows."
        .to_owned();
    let errors = &explained.kept.std_errors;
    let unknown = errors.iter().filter(|error| error.is_nan()).count();
    if unknown > 0 {
        says.push_str(&format!(
            " The errors of {unknown} of the {} values that are kept are not known; those are marked with “?”.",
            errors.len()
        ));
    }
    says
}

/// Describes whether the values of a row sum to its prediction minus the base value.
fn additivity(explained: &Explained) -> String {
    let gap = explained.summary.additivity_gap;
    let size = explained
        .summary
        .predictions
        .iter()
        .map(|spread| spread.least.abs().max(spread.greatest.abs()))
        .fold(0.0, f64::max);
    match (explained.heading.is_efficient, gap > 1e-6 * size.max(f64::MIN_POSITIVE)) {
        (false, _) => format!(
            "these values do not divide all of a prediction: what they leave, at most {}, is drawn in grey.",
            digits(gap, 3)
        ),
        (true, false) => {
            format!(
                "the base and the values of each row sum to its prediction, to within {}.",
                digits(gap, 3)
            )
        }
        (true, true) => format!(
            "the base and the values of a row miss its prediction by up to {}; they should sum to it.",
            digits(gap, 3)
        ),
    }
}

fn certificates(page: &mut Page<'_>) {
    let summary = &page.explained.summary;
    let certified: u64 = summary.certificates.iter().map(|(.., count)| count).sum();
    let text = format!(
        "An accuracy was asked for. {} of {} have a certificate, by why the run stopped and what its bound rests on:",
        counted(certified, "row"),
        summary.rows
    );
    page.html.paragraph(&text);
    let mut lines = Table::new(["rows", "stopped by", "rests on"]);
    let with_meaning = |word: &str| match meaning(word) {
        "" => Cell::Text(word.to_owned()),
        meaning => Cell::Text(format!("{word}: {meaning}")),
    };
    for (by, on, count) in &summary.certificates {
        lines.push([(*count as f64).into(), with_meaning(by), with_meaning(on)]);
    }
    table::lines_of(&mut page.html, &lines, Numbers::Here, "certificates");
}

/// Explains a term of a certificate. Empty for unknown terms.
fn meaning(word: &str) -> &'static str {
    match word {
        "tolerance" => "the error was within what was tolerated",
        "budget" => "the budget was spent before",
        "looks" => "all looks at the error were spent before",
        "no-scale" => "there was nothing to measure the error against",
        "draws" => "the method allows no more draws",
        "exact" => "all coalitions were evaluated",
        "empirical-bernstein" => "an inequality that holds for any number of draws",
        "asymptotic" => "standard errors, which are right for many draws",
        "nothing-varied" => "no draw differed from another",
        _ => "",
    }
}
