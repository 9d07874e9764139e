//! The report: a single HTML file with the configuration, the accuracy of the results, and interactive
//! figures.
//!
//! # Rules
//!
//! - The file opens from disk without a network or a server, and loads nothing. A content security policy
//!   forbids everything except its own style sheet and script, which are identified by their SHA-256. There
//!   are no inline styles and no inline event handlers.
//! - Data cannot be executed: text is escaped everywhere, and the script only creates text nodes from it.
//! - The report works without scripts: it contains all figures, for one output after the other, and the first
//!   100 lines of the tables of their numbers. With scripts, it shows one output at a time, and rows can be
//!   searched, selected, filtered by a condition and compared.
//! - Aggregates are over all rows. The report stores the extremes and a random sample, as many rows as fit
//!   into 1.7 MB of encoded numbers, and states their number. At most 2000 of them are drawn as dots. Values
//!   have a precision of 16 bits, or 24 bits if there are few of them; half-widths of intervals have 8 bits.
//! - At most 12 outputs have figures. If there are more than 41 features, the 40 most important have
//!   individual values, and those of all other features are summed. The report states both limits if they
//!   apply.
//! - The same results produce the same bytes.

mod choice;
mod data;
mod html;
mod input;
mod pack;
mod page;
mod sections;
mod table;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::error::PlotError;
use crate::explained::Explained;
use crate::figures::with_capitals;
use crate::scene::style_sheet;
use html::named;
use input::ReportInput;
use page::Page;

/// The style sheet, to which the colours of figures are added.
const STYLE: &str = include_str!("page.css");
/// The JavaScript of the report.
const SCRIPT: &str = include_str!("page.js");

/// A builder for a report.
///
/// ```
/// use apportion_plots::{Batch, Gathering, Heading, Report};
///
/// let mut gathering = Gathering::new(Heading::for_features(["age", "income"]))?;
/// for row in 0..10 {
///     gathering.add(Batch {
///         rows: vec![row],
///         base: vec![0.5],
///         predictions: vec![0.5 + row as f64],
///         values: vec![row as f64 - 1.0, 1.0],
///         inputs: vec![20.0 + row as f64, 3.0],
///         ..Batch::default()
///     })?;
/// }
/// let explained = gathering.end();
/// let page = Report::new(&explained)
///     .title("A model of ages")
///     .command("apportion report --in r.json --out report.html")
///     .seconds(1.25)
///     .html()?;
/// assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<h1>A model of ages</h1>"));
/// # Ok::<(), apportion_plots::PlotError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Report<'e> {
    given: ReportInput<'e>,
}

impl<'e> Report<'e> {
    /// Creates a report of these values.
    pub fn new(explained: &'e Explained) -> Self {
        let pairs = explained.heading.interactions.is_some().then_some(explained);
        Self {
            given: ReportInput {
                explained,
                pairs,
                title: None,
                command: None,
                is_abridged: false,
                seconds: None,
            },
        }
    }

    /// Adds the interactions between the same players [default: the interactions in the results, if any].
    #[must_use]
    pub fn interactions(mut self, pairs: &'e Explained) -> Self {
        self.given.pairs = Some(pairs);
        self
    }

    /// Sets the title [default: the name of the value].
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.given.title = Some(title.into());
        self
    }

    /// Sets the exact command that reproduces the report.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.given.command = Some(command.into());
        self
    }

    /// Sets the command that created the report without its confidential parts. The report states that parts
    /// are omitted.
    #[must_use]
    pub fn abridged_command(mut self, command: impl Into<String>) -> Self {
        self.given.is_abridged = true;
        self.command(command)
    }

    /// Sets the wall time that computing the values took, in seconds.
    #[must_use]
    pub fn seconds(mut self, seconds: f64) -> Self {
        self.given.seconds = Some(seconds);
        self
    }

    /// Returns the report as HTML.
    ///
    /// # Errors
    ///
    /// [`PlotError::Nothing`] if the players or outputs of the interactions differ from those of the values,
    /// or if the results passed as interactions contain no interactions.
    pub fn html(&self) -> Result<String, PlotError> {
        self.check_pairs()?;
        let mut page = Page::new(&self.given);
        let title = match &self.given.title {
            Some(title) => named(title),
            None => format!("{} values", named(&with_capitals(&self.given.explained.heading.value))),
        };
        let style = format!("{}{STYLE}", style_sheet());
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri \
             'none'; form-action 'none'",
            hash(&style),
            hash(SCRIPT)
        );
        page.html.raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        page.html.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
        page.html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        page.html.raw("<meta name=\"color-scheme\" content=\"light dark\">");
        page.html.element("title", &[], &title);
        page.html.raw("<style>").markup(&style).raw("</style></head>\n<body>");
        page.html.raw("<a class=\"skip\" href=\"#content\">Skip to content</a>");
        page.html.raw("<header><h1>").text(&title).raw("</h1>");
        sections::navigation(&mut page);
        page.html.raw("</header>\n<main id=\"content\" tabindex=\"-1\">");
        sections::write(&mut page)?;
        page.html.raw("</main>\n<footer><p>Created with Apportion ").text(env!("CARGO_PKG_VERSION"));
        page.html.raw(". Self-contained: loads nothing from the network.</p></footer>\n");
        let data = page.data.json(self.given.explained, &page.outputs, &page.places);
        page.html.raw("<script type=\"application/json\" id=\"data\">").markup(&data).raw("</script>");
        page.html.raw("<script>").markup(SCRIPT).raw("</script></body></html>\n");
        Ok(page.html.end())
    }

    fn check_pairs(&self) -> Result<(), PlotError> {
        let Some(pairs) = self.given.pairs else { return Ok(()) };
        let why = if pairs.heading.interactions.is_none() {
            "the results passed as interactions contain no interactions; use results of `explain \
             --interactions`"
        } else if pairs.heading.players != self.given.explained.heading.players
            || pairs.heading.outputs != self.given.explained.heading.outputs
        {
            "the interactions and the values have different features or outputs; compute both with the same \
             model"
        } else {
            return Ok(());
        };
        Err(PlotError::Nothing { kind: "report", why })
    }
}

/// Returns the SHA-256 of the content of an element, as used in the content security policy.
fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}
