//! The page to which sections are written, with their input.

use std::collections::BTreeMap;

use super::choice::{Choice, choices};
use super::data::Data;
use super::html::{Html, named};
use super::input::ReportInput;
use super::table::{self, Numbers};
use crate::error::PlotError;
use crate::explained::Explained;
use crate::figures::{Kind, Options};
use crate::scene::{Dress, Scene};

/// Maximum number of outputs with figures.
const MAX_OUTPUTS: usize = 12;
/// The width of a figure in pixels.
pub(super) const WIDTH: f64 = 640.0;
/// Maximum number of rows that are drawn as dots.
const MAX_DRAWN_ROWS: usize = 2000;
/// Approximate number of bytes for dots that is available even if the page is filled with rows.
const BYTES_OF_DOTS: usize = 250_000;
/// Approximate number of bytes that rows and dots share, if that leaves more than [`BYTES_OF_DOTS`] for dots.
const MAX_BYTES_OF_DOTS: usize = 1_000_000;
/// Approximate number of bytes per dot: its coordinates, its row and its share of the element.
const BYTES_OF_DOT: usize = 24;
/// Number of dots per row in figures without densities: twenty for the players and six for the dependence
/// plots.
const DOTS_OF_ROW: usize = 26;
/// Number of dependence plots per output.
pub(super) const SCATTERS: usize = 6;

/// A page under construction.
pub(super) struct Page<'r> {
    pub(super) given: &'r ReportInput<'r>,
    pub(super) explained: &'r Explained,
    /// The subset of `explained` with the rows that are drawn as dots.
    pub(super) drawn: Explained,
    /// The positions of the drawn rows among the kept rows.
    pub(super) places: Vec<usize>,
    /// The outputs with figures.
    pub(super) outputs: Vec<usize>,
    /// For each output with figures, the rows that are shown individually.
    pub(super) choices: Vec<Vec<Choice>>,
    pub(super) data: Data,
    pub(super) html: Html,
    /// Number of figures so far.
    figures: usize,
    /// The number of figures with each label so far.
    labels: BTreeMap<String, usize>,
}

/// The attributes of a figure that the script needs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Card {
    /// The index of the output among those with figures.
    pub(super) output: usize,
    /// The index of the figure's player, if the figure shows a single player.
    pub(super) player: Option<usize>,
    /// The position of the figure's row among the rows of the page, if the figure shows a single row.
    pub(super) row: Option<usize>,
}

/// The results from which a figure is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FigureData {
    /// The values of all kept rows.
    Kept,
    /// The values of the rows that are drawn as dots.
    Drawn,
    /// The interactions.
    Pairs,
}

impl<'r> Page<'r> {
    pub(super) fn new(given: &'r ReportInput<'r>) -> Self {
        let explained = given.explained;
        let outputs = outputs(explained);
        let choices: Vec<Vec<Choice>> = outputs.iter().map(|&output| choices(explained, output)).collect();
        let wanted: Vec<usize> = choices.iter().flatten().map(|choice| choice.row).collect();
        let data = Data::new(explained, &outputs, &wanted);
        // A density has three hundred dots per player.
        let bytes = MAX_BYTES_OF_DOTS.saturating_sub(data.bytes).max(BYTES_OF_DOTS);
        let dots = bytes / BYTES_OF_DOT / outputs.len().max(1);
        let most = match explained.summary.rows > 1500 {
            true => dots.saturating_sub(20 * 300).max(600) / SCATTERS,
            false => dots / DOTS_OF_ROW,
        };
        let places =
            explained.choose_rows(&data.rows, most.min(MAX_DRAWN_ROWS), &wanted, (&outputs, &data.players));
        let mut drawn = explained.of_rows(&places);
        // If interactions are known, dependence plots use them to choose their colours.
        if let Some(pairs) = given.pairs {
            drawn.summary.interactions.clone_from(&pairs.summary.interactions);
        }
        Self {
            given,
            explained,
            drawn,
            places,
            outputs,
            choices,
            data,
            html: Html::default(),
            figures: 0,
            labels: BTreeMap::new(),
        }
    }

    /// Returns whether there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        self.explained.rows() == 0 || self.explained.players() == 0
    }

    /// Returns the name of an output for headings.
    pub(super) fn output_name(&self, output: usize) -> String {
        named(&self.explained.output_name(output))
    }

    /// Writes the content for each output, with the output's name as heading if there are several.
    pub(super) fn each_output(
        &mut self,
        mut write: impl FnMut(&mut Self, usize) -> Result<(), PlotError>,
    ) -> Result<(), PlotError> {
        for place in 0..self.outputs.len() {
            if self.outputs.len() > 1 {
                self.html.open("div", &[("class", "output"), ("data-output", &place.to_string())]);
                let name = self.output_name(self.outputs[place]);
                self.html.element("h3", &[("dir", "auto")], &name);
            }
            self.html.raw("<div class=\"cards\">");
            write(self, place)?;
            self.html.raw("</div>");
            if self.outputs.len() > 1 {
                self.html.close("div");
            }
        }
        Ok(())
    }

    /// Lays out a figure of an output and writes it. Writes nothing and returns `false` if the results lack
    /// data that the figure requires.
    pub(super) fn figure(
        &mut self,
        kind: Kind,
        card: Card,
        of: FigureData,
        options: Options,
    ) -> Result<bool, PlotError> {
        let options = Options { width: WIDTH, output: self.outputs[card.output], ..options };
        let explained = match of {
            FigureData::Kept => self.explained,
            FigureData::Drawn => &self.drawn,
            FigureData::Pairs => self.given.pairs.unwrap_or(self.explained),
        };
        match kind.lay_out(explained, &options) {
            Ok(scene) => {
                self.card(kind.name(), card, &scene, "");
                Ok(true)
            }
            Err(PlotError::Nothing { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes a figure with its table of numbers. If `above` is not empty, it is the caption above the
    /// figure, and precedes the title in the figure's label.
    pub(super) fn card(&mut self, kind: &'static str, card: Card, scene: &Scene, above: &str) {
        let id = self.figures;
        self.figures += 1;
        let label = match above {
            "" => scene.title.clone(),
            above => format!("{above}: {}", scene.title),
        };
        let label = self.label(&named(&label));
        let output = card.output.to_string();
        let place = |place: Option<usize>| place.map(|place| place.to_string());
        let (player, row) = (place(card.player), place(card.row));
        let mut attributes = vec![("class", "card"), ("data-kind", kind), ("data-output", &output)];
        attributes.extend(player.as_deref().map(|player| ("data-player", player)));
        attributes.extend(row.as_deref().map(|row| ("data-row", row)));
        self.html.open("figure", &attributes);
        if !above.is_empty() {
            self.html.element("figcaption", &[], above);
        }
        let attributes =
            [("class", "scroll"), ("role", "region"), ("tabindex", "0"), ("aria-label", label.as_str())];
        self.html.open("div", &attributes).markup(&scene.svg(Dress::Classes(id))).close("div");
        let file = format!("{kind}-{id}.csv");
        match kind {
            // These figures have one line per row, which the table of rows already contains.
            "heatmap" | "decision" => {
                let table = format!("#rows-{output}");
                self.html.raw("<p class=\"note\">").element("a", &[("href", &table)], "The row table");
                self.html.raw(" contains the data.</p>");
            }
            "beeswarm" | "scatter" => {
                table::write(&mut self.html, &scene.table, Numbers::Known, &label, &file);
            }
            _ => table::write(&mut self.html, &scene.table, Numbers::Here, &label, &file),
        }
        self.html.close("figure");
    }

    /// Returns a unique label for a figure.
    pub(super) fn label(&mut self, label: &str) -> String {
        let count = self.labels.entry(label.to_owned()).or_default();
        *count += 1;
        if *count == 1 { label.to_owned() } else { format!("{label} ({count})") }
    }
}

/// Returns at most [`MAX_OUTPUTS`] outputs, those with the largest sums of mean |φ|, in their original order.
fn outputs(explained: &Explained) -> Vec<usize> {
    let size = |output: usize| -> f64 {
        (0..explained.players())
            .map(|player| explained.summary.value(player, output, explained.outputs()).mean_size)
            .sum()
    };
    let mut outputs: Vec<(usize, f64)> =
        (0..explained.outputs()).map(|output| (output, size(output))).collect();
    outputs.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut outputs: Vec<usize> = outputs.into_iter().take(MAX_OUTPUTS).map(|(output, _)| output).collect();
    outputs.sort_unstable();
    outputs
}
