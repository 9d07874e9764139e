//! Figures of attributions, with their errors, as SVG and PNG, and a report as a single HTML file.
//!
//! Rows with their attributions are [collected](Gathering): aggregates are exact over all rows, and a sample
//! of rows is kept for drawing. A [`Kind`] of figure lays out an [`Explained`] as a [`Scene`], which consists
//! of shapes with coordinates and a table of the underlying numbers. SVG, PNG, the report and other libraries
//! draw the same scene. All estimates are drawn with their errors.
//!
//! # Overview
//!
//! | | |
//! |---|---|
//! | [`Heading`], [`Batch`], [`Gathering`], [`Explained`], [`Summary`] | the data: attributions of rows, aggregates over all of them |
//! | [`Kind`], [`Options`] | the figures, by name |
//! | [`Medium`] | the text or the image whose parts are the players |
//! | [`Condition`] | conditions that define cohorts of rows |
//! | [`Scene`], [`Shape`], [`Marker`], [`Paint`], [`Table`] | a figure after layout: shapes, colours by their role, numbers |
//! | [`Scale`], [`width_of`], [`shortened`], [`wrapped`], [`shown`] | positions of numbers, and text that fits |
//! | [`Dress`], [`style_sheet`] | how scenes are written as SVG: with colours, or with CSS classes |
//! | [`Report`] | a report with all figures |
//! | [`strongest_partner`] | the strongest interaction partner of a player |
//! | [`PlotError`], [`listed`] | errors, and the names in their messages |
//!
//! # Shapes and units
//!
//! Arrays of `N` rows, `p` players, `n` features and `k` outputs are row-major. Values are in units of the
//! output, positions in CSS pixels.
//!
//! # Example
//!
//! ```
//! use apportion_plots::{Batch, Dress, Gathering, Heading, Kind, Options};
//!
//! let mut gathering = Gathering::new(Heading::for_features(["age", "income", "city"]))?;
//! gathering.add(Batch {
//!     rows: vec![0],
//!     base: vec![0.5],
//!     predictions: vec![1.75],
//!     values: vec![1.0, -0.25, 0.5],
//!     std_errors: vec![0.1, 0.05, 0.0],
//!     inputs: vec![39.0, 51_000.0, 2.0],
//!     ..Batch::default()
//! })?;
//! let scene = Kind::Waterfall.lay_out(&gathering.end(), &Options::default())?;
//! let svg = scene.svg(Dress::Colours);
//! assert!(svg.contains("age = 39: +1 ± 0.2"), "{svg}");
//! assert!(scene.table.to_csv().starts_with("feature,input,value,95% CI half-width\nage,39,1,0.19"));
//! # Ok::<(), apportion_plots::PlotError>(())
//! ```

mod error;
mod explained;
mod figures;
mod names;
mod report;
mod scene;
mod shown;

pub use apportion_results::{
    Batch, Certified, Form, Heading, InterimCheck, Medium, Member, ResultsError, interval_factor,
};
pub use error::PlotError;
pub use explained::{Condition, Density, Explained, Gathering, InputSummary, Spread, Summary};
pub use figures::{Kind, Options, Partner, strongest_partner};
pub use names::listed;
pub use report::Report;
pub use scene::{
    Anchor, Cell, Dress, Mark, Marker, Paint, Picture, Point, Rgb, Scale, Scene, Shape, Table, digits,
    shortened, signed, style_sheet, width_of, wrapped,
};
pub use shown::shown;

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
