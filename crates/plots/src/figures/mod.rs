//! The kinds of figures. Each has a module, which converts attributions to a scene.

mod bar;
mod beeswarm;
mod cohorts;
mod colour_bar;
mod convergence;
mod decision;
mod extent;
mod force;
mod groups;
mod heatmap;
mod image;
mod interactions;
mod labels;
mod legend;
mod mean;
mod network;
mod numbers;
mod occupied;
mod options;
mod order;
mod pairs;
mod partner;
mod scatter;
mod size_bar;
mod text;
mod waterfall;
mod words;

use std::fmt;
use std::str::FromStr;

use crate::error::PlotError;
use crate::explained::Explained;
use crate::scene::Scene;

pub use options::Options;
pub use partner::{Partner, strongest_partner};
pub(crate) use words::{output_in_words, value_in_words, with_capitals};

/// A kind of figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Waterfall plot of one row: steps from the base value to the prediction, the largest on top.
    Waterfall,
    /// Force plot of one row: positive values push the prediction up from the left, negative values push it
    /// down from the right.
    Force,
    /// Bar plot: feature importance over all rows, as the mean of |φ|.
    Bar,
    /// Beeswarm plot: the values of all rows by player, coloured by their inputs.
    Beeswarm,
    /// Dependence plot of one player: its value against its input, coloured by the player that it interacts
    /// with most.
    Scatter,
    /// Heatmap: the values of all rows as colours, with rows on the x-axis and players on the y-axis.
    Heatmap,
    /// Interactions plot: the mean |I_ij| of pairs of players over all rows, as a matrix.
    Interactions,
    /// Network plot: interactions of pairs of players over all rows, as lines between players on a circle.
    Network,
    /// Decision plot: the path of each row from the base value to its prediction.
    Decision,
    /// Cohort plot: feature importance in parts of the rows, side by side.
    Cohorts,
    /// Convergence plot: error bounds over the number of evaluations.
    Convergence,
    /// Groups plot: the importance of groups and nested groups.
    Groups,
    /// Text plot of one row: its words on a background coloured by their values.
    Text,
    /// Image plot of one row: its segments, coloured by their values.
    Image,
}

impl Kind {
    /// All kinds of figures.
    pub const ALL: [Self; 14] = [
        Self::Waterfall,
        Self::Force,
        Self::Bar,
        Self::Beeswarm,
        Self::Scatter,
        Self::Heatmap,
        Self::Interactions,
        Self::Network,
        Self::Decision,
        Self::Cohorts,
        Self::Convergence,
        Self::Groups,
        Self::Text,
        Self::Image,
    ];

    /// Returns the name of the kind, such as `waterfall`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waterfall => "waterfall",
            Self::Force => "force",
            Self::Bar => "bar",
            Self::Beeswarm => "beeswarm",
            Self::Scatter => "scatter",
            Self::Heatmap => "heatmap",
            Self::Interactions => "interactions",
            Self::Network => "network",
            Self::Decision => "decision",
            Self::Cohorts => "cohorts",
            Self::Convergence => "convergence",
            Self::Groups => "groups",
            Self::Text => "text",
            Self::Image => "image",
        }
    }

    /// Returns a one-line description of the figure.
    pub fn line(self) -> &'static str {
        match self {
            Self::Waterfall => "How each feature moves one prediction from the base value.",
            Self::Bar => "Feature importance: mean absolute value over all rows.",
            Self::Beeswarm => "Attributions of all rows by feature, coloured by feature value.",
            Self::Scatter => {
                "Attributions of one feature against its input, coloured by the feature that it interacts \
                 with most."
            }
            Self::Force => "Features that push one prediction up, against those that push it down.",
            Self::Heatmap => "Attributions of all rows as a matrix, sorted by prediction.",
            Self::Interactions => "Interactions of feature pairs over all rows, as a matrix.",
            Self::Network => "Interactions of feature pairs over all rows, as a network.",
            Self::Decision => "Attributions of rows as paths from the base value to the prediction.",
            Self::Cohorts => "Feature importance in cohorts of rows, side by side.",
            Self::Convergence => "Error bound against evaluations, for runs with a tolerance.",
            Self::Groups => "Importance of groups and of the groups within them.",
            Self::Text => "A text with its words coloured by attribution.",
            Self::Image => "An image overlaid with the attributions of its segments.",
        }
    }

    /// Returns whether the figure shows one row.
    pub fn is_of_one_row(self) -> bool {
        matches!(self, Self::Waterfall | Self::Force | Self::Text | Self::Image)
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

impl Kind {
    /// Lays out the figure.
    ///
    /// Time and memory are proportional to the number of kept rows, because aggregates over all rows are
    /// already computed.
    ///
    /// # Errors
    ///
    /// [`PlotError::UnknownRow`], [`PlotError::UnknownPlayer`] and [`PlotError::UnknownOutput`] if the
    /// results do not contain the requested row, player or output. [`PlotError::Condition`] for an invalid
    /// condition of a cohort. [`PlotError::Nothing`] if the results lack data that the figure requires.
    pub fn lay_out(self, explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
        let outputs = explained.outputs();
        if options.output >= outputs {
            let known = match outputs {
                0 | 1 => "the model has a single output, with index 0".to_owned(),
                _ => format!("use an index from 0 to {}", outputs - 1),
            };
            return Err(PlotError::UnknownOutput { name: options.output.to_string(), known });
        }
        if let Some(player) = [options.player, options.partner]
            .into_iter()
            .flatten()
            .find(|&player| player >= explained.players())
        {
            let known = match explained.players() {
                0 => "the results contain no features".to_owned(),
                1 => "the results contain a single feature, with index 0".to_owned(),
                players => format!("use an index from 0 to {}", players - 1),
            };
            return Err(PlotError::UnknownPlayer { name: player.to_string(), known });
        }
        if explained.rows() == 0 {
            let why = "the results contain no rows; explain at least one row";
            return Err(PlotError::Nothing { kind: self.name(), why });
        }
        if explained.players() == 0 {
            let why = "the results contain no features; explain a model with at least one feature";
            return Err(PlotError::Nothing { kind: self.name(), why });
        }
        // In a narrower figure, only the names would fit.
        let width = if options.width.is_nan() { Options::default().width } else { options.width };
        let options = &Options { width: width.clamp(280.0, 4000.0), ..options.clone() };
        match self {
            Self::Waterfall => waterfall::scene(explained, options),
            Self::Force => force::scene(explained, options),
            Self::Bar => bar::scene(explained, options),
            Self::Beeswarm => beeswarm::scene(explained, options),
            Self::Scatter => scatter::scene(explained, options),
            Self::Heatmap => heatmap::scene(explained, options),
            Self::Interactions => interactions::scene(explained, options),
            Self::Network => network::scene(explained, options),
            Self::Decision => decision::scene(explained, options),
            Self::Cohorts => cohorts::scene(explained, options),
            Self::Convergence => convergence::scene(explained, options),
            Self::Groups => groups::scene(explained, options),
            Self::Text => text::scene(explained, options),
            Self::Image => image::scene(explained, options),
        }
    }
}
