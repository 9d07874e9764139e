//! The sections of the report, with a module for each.

mod cite;
mod cohorts;
mod configuration;
mod features;
mod glossary;
mod importance;
mod inputs;
mod interactions;
mod quality;
mod reproduce;
mod rows;

use super::page::Page;
use crate::error::PlotError;

/// A section of the HTML report.
struct Section {
    id: &'static str,
    title: &'static str,
    /// Whether the section requires rows and features.
    is_of_rows: bool,
    write: fn(&mut Page<'_>) -> Result<(), PlotError>,
}

const SECTIONS: [Section; 11] = [
    Section { id: "asked", title: "Configuration", is_of_rows: false, write: configuration::write },
    Section { id: "quality", title: "Accuracy", is_of_rows: false, write: quality::write },
    Section { id: "importance", title: "Feature importance", is_of_rows: true, write: importance::write },
    Section { id: "features", title: "Dependence plots", is_of_rows: true, write: features::write },
    Section { id: "interactions", title: "Interactions", is_of_rows: true, write: interactions::write },
    Section { id: "rows", title: "Individual predictions", is_of_rows: true, write: rows::write },
    Section { id: "cohorts", title: "Cohorts", is_of_rows: true, write: cohorts::write },
    Section { id: "inputs", title: "Input distributions", is_of_rows: true, write: inputs::write },
    Section { id: "words", title: "Glossary", is_of_rows: false, write: glossary::write },
    Section { id: "cite", title: "Citation", is_of_rows: false, write: cite::write },
    Section { id: "again", title: "Reproduce this report", is_of_rows: false, write: reproduce::write },
];

/// Returns the sections of a page: all of them, or if the page is empty, only those that do not require rows.
fn sections(is_empty: bool) -> impl Iterator<Item = &'static Section> {
    SECTIONS.iter().filter(move |section| !(is_empty && section.is_of_rows))
}

/// Writes links to the sections.
pub(super) fn navigation(page: &mut Page<'_>) {
    page.html.raw("<nav aria-label=\"Sections\"><ol>");
    for section in sections(page.is_empty()) {
        page.html
            .raw("<li>")
            .element("a", &[("href", &format!("#{}", section.id))], section.title)
            .raw("</li>");
    }
    page.html.raw("</ol></nav>");
}

/// Writes all sections.
pub(super) fn write(page: &mut Page<'_>) -> Result<(), PlotError> {
    if page.is_empty() {
        page.html.element("p", &[("class", "empty")], nothing(page));
    }
    for section in sections(page.is_empty()) {
        let heading = format!("{}-title", section.id);
        page.html.open("section", &[("id", section.id), ("aria-labelledby", &heading)]);
        page.html.element("h2", &[("id", &heading)], section.title);
        (section.write)(page)?;
        page.html.close("section");
    }
    Ok(())
}

fn nothing(page: &Page<'_>) -> &'static str {
    match page.explained.summary.rows {
        0 => "The results contain no rows, so there are no figures. Explain at least one row.",
        _ => "The results contain no features, so there are no figures.",
    }
}
