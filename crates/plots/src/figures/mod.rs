//! The kinds of figures, a file each: from attributions to a scene.

mod bar;
mod beeswarm;
mod labels;
mod order;
mod partner;
mod scatter;
mod waterfall;

use std::fmt;
use std::str::FromStr;

use crate::error::PlotError;
use crate::explained::Explained;
use crate::scene::Scene;

pub use partner::{Partner, strongest_partner};

/// A kind of figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// One row: from the base to the prediction, step by step, the largest above.
    Waterfall,
    /// How much each player matters over all rows: the mean of |φ|.
    Bar,
    /// The values of all rows, player by player, in the colours of their inputs.
    Beeswarm,
    /// One player: its value against its input, in the colours of the player that it interacts with most.
    Scatter,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Waterfall, Self::Bar, Self::Beeswarm, Self::Scatter];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waterfall => "waterfall",
            Self::Bar => "bar",
            Self::Beeswarm => "beeswarm",
            Self::Scatter => "scatter",
        }
    }

    /// What it shows, in a line.
    pub fn line(self) -> &'static str {
        match self {
            Self::Waterfall => "One row: from the base to the prediction, step by step.",
            Self::Bar => "How much each feature matters over all rows: the mean size of its values.",
            Self::Beeswarm => "The values of all rows, feature by feature, in the colours of their inputs.",
            Self::Scatter => "One feature: its value against its input, in the colours of the feature that it interacts with most.",
        }
    }

    /// Whether it shows one row.
    pub fn is_of_one_row(self) -> bool {
        matches!(self, Self::Waterfall)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = PlotError;

    fn from_str(name: &str) -> Result<Self, PlotError> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| PlotError::UnknownKind {
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// What a figure shows of what there is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The width in pixels of a page; the height follows [720].
    pub width: f64,
    /// The most players that are shown one by one; the others are summed [20].
    pub most_players: usize,
    /// The number of the row in its file, for figures of one row [the first that is kept].
    pub row: Option<u64>,
    /// The place of the output [0].
    pub output: usize,
    /// The place of the player, for figures of one [that which matters most].
    pub player: Option<usize>,
    /// The place of the player whose inputs give the colours of a scatter [that which interacts most].
    pub partner: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 720.0, most_players: 20, row: None, output: 0, player: None, partner: None }
    }
}

impl Kind {
    /// Lays the figure out.
    ///
    /// Time and memory grow with the rows that are kept; aggregates over the others are known already.
    ///
    /// # Errors
    ///
    /// [`PlotError::UnknownRow`], [`PlotError::UnknownPlayer`] and [`PlotError::UnknownOutput`] for what is not among the results,
    /// [`PlotError::Nothing`] where they lack what the figure shows.
    pub fn lay_out(self, explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
        let outputs = explained.outputs();
        if options.output >= outputs {
            let known = format!("there are {outputs}, counted from 0");
            return Err(PlotError::UnknownOutput { name: options.output.to_string(), known });
        }
        if let Some(player) = [options.player, options.partner]
            .into_iter()
            .flatten()
            .find(|&player| player >= explained.players())
        {
            let known = format!("there are {} features, counted from 0", explained.players());
            return Err(PlotError::UnknownPlayer { name: player.to_string(), known });
        }
        if explained.players() == 0 || explained.rows() == 0 {
            let why = "there are no rows, or no features; explain at least one row";
            return Err(PlotError::Nothing { kind: self.name(), why });
        }
        // Narrower, nothing but names would fit.
        let options = &Options { width: options.width.clamp(280.0, 4000.0), ..options.clone() };
        match self {
            Self::Waterfall => waterfall::scene(explained, options),
            Self::Bar => bar::scene(explained, options),
            Self::Beeswarm => beeswarm::scene(explained, options),
            Self::Scatter => scatter::scene(explained, options),
        }
    }
}

impl Options {
    /// The place of the row that a figure of one row shows.
    pub(crate) fn place_of_row(&self, explained: &Explained) -> Result<usize, PlotError> {
        self.row.map_or(Ok(0), |row| explained.place_of_row(row))
    }
}

/// What is said below a figure about the rows that its dots stand for; empty where they are all.
pub(crate) fn of_sample(explained: &Explained) -> String {
    match explained.is_sample() {
        false => String::new(),
        true => format!(
            "Dots are {} of {} rows: a random sample (seed {}) and the extremes. ",
            explained.rows(),
            explained.summary.rows,
            explained.seed
        ),
    }
}

/// The value that is drawn, in words, with its output.
pub(crate) fn value_in_words(explained: &Explained, output: usize) -> String {
    let heading = &explained.heading;
    match heading.output_name(output).as_str() {
        "" => format!("{} value", heading.value),
        name => format!("{} value for {name}", heading.value),
    }
}
