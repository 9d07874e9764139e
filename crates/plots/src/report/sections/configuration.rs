//! Section: the configuration, i.e. the value, the game, the method, and other information about the run.

use crate::error::PlotError;
use crate::report::html::{counted, named};
use crate::report::page::Page;

pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    let (heading, summary) = (&page.explained.heading, &page.explained.summary);
    let mut terms = vec![("value", named(&heading.value))];
    for (term, name) in [("game", &heading.game), ("method", &heading.method)] {
        if !name.is_empty() {
            terms.push((term, named(name)));
        }
    }
    terms.push(("rows", summary.rows.to_string()));
    let players = heading.players.len();
    let groups = heading.members.iter().filter(|members| members.len() != 1).count();
    terms.push((
        "features",
        match groups {
            0 => players.to_string(),
            _ => format!(
                "{} of {}",
                counted(players as u64, "group"),
                counted(heading.features.len() as u64, "feature")
            ),
        },
    ));
    if heading.outputs.len() > 1 {
        let names: Vec<String> = (0..heading.outputs.len().min(20))
            .map(|output| named(&page.explained.output_name(output)))
            .collect();
        let more = heading.outputs.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        terms.push(("outputs", format!("{}: {}{more}", heading.outputs.len(), names.join(", "))));
    }
    let fact = |(name, _): &'_ (String, _)| heading.fact(name).map(|says| named(&says));
    terms.extend(heading.facts.iter().filter_map(|entry| Some((entry.0.as_str(), fact(entry)?))));
    page.html.terms(terms);
    for note in notes(page) {
        page.html.element("p", &[("class", "note")], &note);
    }
    Ok(())
}

/// Returns notes on results that the page omits or summarizes.
fn notes(page: &Page<'_>) -> Vec<String> {
    let explained = page.explained;
    let mut notes = Vec::new();
    let (rows, drawn, all) = (page.data.rows.len(), page.drawn.rows(), explained.summary.rows);
    if (rows as u64) < all {
        notes.push(format!(
            "Aggregates use all {all} rows. The report stores {rows} individual rows: the rows with extreme \
             predictions, values or inputs, plus a random sample (seed {}).",
            explained.seed
        ));
    }
    if drawn < rows {
        notes.push(format!("Scatter points show {drawn} rows, selected the same way."));
    }
    let (players, told) = (explained.players(), page.data.players.len());
    if told < players {
        notes.push(format!(
            "Individual values are stored for the {told} most important features; those of the other {} are \
             summed.",
            players - told
        ));
    }
    if page.outputs.len() < explained.outputs() {
        notes.push(format!(
            "Figures show the {} of {} outputs with the largest values.",
            page.outputs.len(),
            explained.outputs()
        ));
    }
    notes
}
