//! Section: accuracy of the values, and the computing effort.

use crate::error::PlotError;
use crate::explained::Explained;
use crate::figures::{Kind, Options};
use crate::report::html::counted;
use crate::report::page::{Card, FigureData, Page};
use crate::report::table::{self, Numbers};
use crate::scene::{Cell, Table, digits};

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    let explained = page.explained;
    let summary = &explained.summary;
    let mut terms = Vec::new();
    match summary.rows {
        0 => terms.push(("values", "The results contain no values.".to_owned())),
        _ => terms.extend([("values", coverage(explained)), ("additivity", additivity(explained))]),
    }
    if let Some(worst) = summary.worst_bound {
        let percent = digits(100.0 * worst, 3);
        terms.push((
            "worst bound",
            match worst <= 1.0 {
                true => format!("{percent}% of the tolerance: every bound is within its tolerance."),
                false => format!(
                    "{percent}% of the tolerance: at least one row is not known to be within its tolerance."
                ),
            },
        ));
    }
    let (min, max, sum) = summary.evaluations;
    if sum > 0 {
        let each = if min == max { format!("{min}") } else { format!("{min} to {max}") };
        terms.push(("evaluations", format!("{each} per row, {sum} in total")));
    }
    if let Some(seconds) = page.given.seconds {
        let each = seconds / summary.rows.max(1) as f64;
        terms.push(("time", format!("{} s, {} s per row", digits(seconds, 3), digits(each, 2))));
    }
    page.html.terms(terms);
    if !summary.certificates.is_empty() {
        certificates(page);
        page.html.raw("<div class=\"cards\">");
        page.figure(Kind::Convergence, Card::default(), FigureData::Drawn, Options::default())?;
        page.html.raw("</div>");
    }
    Ok(())
}

/// Describes the accuracy of the values in plain language.
fn coverage(explained: &Explained) -> String {
    if !explained.are_estimates() {
        return "Exact up to floating-point rounding; no sampling was used. The values depend on the model, \
                the game and the background dataset."
            .to_owned();
    }
    let mut says = "Estimates with pointwise 95% confidence intervals (not simultaneous: expect about 5 of \
                    100 to miss, more among the most striking values). They reflect estimation error only, \
                    not model error or the choice of background and rows."
        .to_owned();
    let errors = &explained.kept.std_errors;
    let unknown = errors.iter().filter(|error| error.is_nan()).count();
    if unknown > 0 {
        says.push_str(&format!(
            " The errors of {unknown} of the {} stored values are unknown and marked with “?”.",
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
        .map(|spread| spread.min.abs().max(spread.max.abs()))
        .fold(0.0, f64::max);
    match (explained.heading.is_efficient, gap > 1e-6 * size.max(f64::MIN_POSITIVE)) {
        (false, _) => format!(
            "These values are not additive: the unattributed part of a prediction, at most {}, is drawn in \
             grey.",
            digits(gap, 3)
        ),
        (true, false) => {
            format!("Base value + attributions = prediction (largest deviation {}).", digits(gap, 3))
        }
        (true, true) => format!(
            "Base value + attributions deviate from the prediction by up to {}; they should equal it.",
            digits(gap, 3)
        ),
    }
}

fn certificates(page: &mut Page<'_>) {
    let summary = &page.explained.summary;
    let certified: u64 = summary.certificates.iter().map(|(.., count)| count).sum();
    let text = format!(
        "A tolerance was set. Certificates for {} of {}, by stopping reason and guarantee:",
        counted(certified, "row"),
        summary.rows
    );
    page.html.paragraph(&text);
    let mut lines = Table::new(["rows", "stopping reason", "guarantee"]);
    let with_meaning = |word: &str| match meaning(word) {
        "" => Cell::Text(word.to_owned()),
        meaning => Cell::Text(format!("{word}: {meaning}")),
    };
    for (by, on, count) in &summary.certificates {
        lines.push([(*count as f64).into(), with_meaning(by), with_meaning(on)]);
    }
    table::lines_of(&mut page.html, &lines, Numbers::Here, "certificates");
}

/// Returns the explanation of a term in a certificate, which is empty for an unknown term.
fn meaning(word: &str) -> &'static str {
    match word {
        "tolerance" => "the error bound reached the tolerance",
        "budget" => "budget exhausted",
        "looks" => "maximum number of interim checks reached",
        "no-scale" => "relative tolerance undefined (values near zero or equal)",
        "draws" => "too few draws of absent features, and no more are possible",
        "exact" => "the values are exact",
        "empirical-bernstein" => "an inequality that holds for any number of draws",
        "asymptotic" => "standard errors, valid for many draws",
        "nothing-varied" => "the game appeared additive in the sample",
        "unknown" => "the method reports no standard errors",
        _ => "",
    }
}
