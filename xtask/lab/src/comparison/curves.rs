//! Curves: an error as a function of sample size, noise or another quantity, one per panel and contender.

use super::contender::Compete;
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel};
use crate::reproduce::report::{Entry, Table, table};
use crate::reproduce::statistics::Summary;

/// A level of the quantity on the x axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Level {
    /// Label, e.g. `10n` or `0.05`.
    pub(crate) label: String,
    /// Position on the logarithmic axis, which has a separate piece for zero.
    pub(crate) x: f64,
    /// Tick label; empty if it would not fit.
    pub(crate) tick: String,
}

/// Errors of one contender in one panel at one level.
#[derive(Debug, Clone)]
pub(crate) struct Point<C> {
    pub(crate) panel: usize,
    pub(crate) contender: C,
    pub(crate) level: usize,
    /// Whether the budget covers all coalitions, so that methods without replacement are exact.
    pub(crate) exact: bool,
    pub(crate) summary: Summary,
    pub(crate) runs: usize,
    /// Errors run by run; NaN for runs without an error.
    pub(crate) errors: Vec<f64>,
}

impl<C> Point<C> {
    /// Summarizes the errors of all runs. Returns `None` if no run has an error.
    pub(crate) fn new(
        panel: usize,
        contender: C,
        level: usize,
        exact: bool,
        errors: Vec<f64>,
    ) -> Option<Self> {
        let known: Vec<f64> = errors.iter().copied().filter(|error| !error.is_nan()).collect();
        (!known.is_empty()).then(|| Self {
            panel,
            contender,
            level,
            exact,
            summary: Summary::from_sample(&known),
            runs: known.len(),
            errors,
        })
    }
}

/// All points of a figure.
pub(crate) struct Curves<C> {
    pub(crate) panels: Vec<String>,
    pub(crate) levels: Vec<Level>,
    pub(crate) points: Vec<Point<C>>,
    /// The statistic that is drawn and compared.
    pub(crate) centre: Centre,
}

/// The statistic of a summary that is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Centre {
    /// Median, with the quartiles as a band.
    Median,
    Mean,
}

impl Centre {
    pub(crate) fn centre(self, summary: &Summary) -> f64 {
        match self {
            Self::Median => summary.median,
            Self::Mean => summary.mean,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
        }
    }
}

/// Layout of a figure of curves.
pub(crate) struct FigureLayout<'a> {
    pub(crate) title: &'a str,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    /// Values up to this are rounding error, and are drawn as zeros.
    pub(crate) floor: f64,
    /// Number of panels per row.
    pub(crate) columns: usize,
}

impl<C: Compete> Curves<C> {
    /// Returns the points of one panel and contender by level.
    fn line(&self, panel: usize, contender: C) -> impl Iterator<Item = &Point<C>> {
        self.points.iter().filter(move |point| point.panel == panel && point.contender == contender)
    }

    pub(crate) fn point(&self, panel: usize, contender: C, level: usize) -> Option<&Point<C>> {
        self.line(panel, contender).find(|point| point.level == level)
    }

    /// Returns the contenders that have points, each once.
    pub(crate) fn contenders(&self) -> Vec<C> {
        let mut contenders: Vec<C> = self.points.iter().map(|point| point.contender).collect();
        contenders.sort();
        contenders.dedup();
        contenders
    }

    /// Formats the panel and level of a point, e.g. `IRIS (n = 4) 10n`.
    pub(crate) fn place(&self, panel: usize, level: usize) -> String {
        format!("{} {}", self.panels[panel], self.levels[level].label)
    }

    fn figure(&self, look: &FigureLayout<'_>) -> Figure {
        let ticks = self.levels.iter().map(|level| (level.x, level.tick.clone())).collect::<Vec<_>>();
        let contenders = self.contenders();
        let panels = self.panels.iter().enumerate().map(|(index, title)| {
            let x = |point: &Point<C>| self.levels[point.level].x;
            let mut marks = Vec::new();
            if self.centre == Centre::Median {
                marks.extend(contenders.iter().map(|&contender| {
                    Mark::Band {
                        colour: contender.style().colour,
                        points: self
                            .line(index, contender)
                            .map(|point| (x(point), point.summary.first, point.summary.third))
                            .collect(),
                    }
                }));
            }
            // Draw the subject of the paper last, on top.
            let mut order = contenders.clone();
            order.sort_by_key(|contender| contender.is_subject());
            marks.extend(order.iter().map(|&contender| {
                Mark::Line {
                    style: contender.style(),
                    points: self
                        .line(index, contender)
                        .map(|point| (x(point), self.centre.centre(&point.summary)))
                        .collect(),
                }
            }));
            Panel {
                title: title.clone(),
                x: Axis::log(look.x, f64::MIN_POSITIVE).with_ticks(ticks.clone()),
                y: Axis::log(look.y, look.floor),
                marks,
            }
        });
        Figure {
            title: look.title.to_owned(),
            panels: panels.collect(),
            columns: look.columns,
            legend: contenders
                .iter()
                .map(|contender| (contender.title().to_owned(), contender.style()))
                .collect(),
            note: self.note(look),
        }
    }

    /// Describes what lines and bands show, and which values are drawn as zero, if any.
    fn note(&self, look: &FigureLayout<'_>) -> String {
        let lines = match self.centre {
            Centre::Median => "Lines: median over the runs; bands: first to third quartile.",
            Centre::Mean => "Lines: mean over the runs.",
        };
        if self.points.iter().any(|point| self.centre.centre(&point.summary) <= look.floor) {
            format!("{lines} Values up to {:e} are drawn as 0.", look.floor)
        } else {
            lines.to_owned()
        }
    }

    /// Creates the figure, its data, and a table of the drawn medians or means; `panel` and `level` are
    /// column names. The caller adds claims, notes and datasets.
    pub(crate) fn artefact_output(
        &self,
        [panel, level]: [&str; 2],
        look: &FigureLayout<'_>,
        caption: &str,
    ) -> ArtefactOutput {
        ArtefactOutput {
            data: self.data(panel, level),
            figure: Some(self.figure(look)),
            tables: vec![self.table(caption, panel)],
            claims: Vec::new(),
            notes: Vec::new(),
            datasets: Vec::new(),
        }
    }

    /// Returns a table of all numbers in the figure.
    fn data(&self, panel: &str, level: &str) -> Table {
        table!("data", [for point in &self.points;]
            panel => self.panels[point.panel].as_str(),
            "estimator" => point.contender.title(),
            level => self.levels[point.level].label.as_str(),
            "runs" => point.runs,
            "mean" => point.summary.mean,
            "first_quartile" => point.summary.first,
            "median" => point.summary.median,
            "third_quartile" => point.summary.third,
        )
    }

    /// Creates a table with one row per panel and contender, and one column per level.
    fn table(&self, caption: &str, panel: &str) -> Table {
        let columns = [panel, "estimator"].map(str::to_owned);
        let levels = self.levels.iter().map(|level| level.label.clone());
        let mut table = Table::new(caption, columns.into_iter().chain(levels));
        for (index, title) in self.panels.iter().enumerate() {
            for contender in self.contenders() {
                let mut row = vec![Entry::from(title.as_str()), Entry::from(contender.title())];
                row.extend((0..self.levels.len()).map(|level| {
                    Entry::from(
                        self.point(index, contender, level).map(|point| self.centre.centre(&point.summary)),
                    )
                }));
                table.push(row);
            }
        }
        table
    }

    /// Returns the points (panel, level) at which the budget does not cover all coalitions.
    pub(crate) fn open_places(&self) -> impl Iterator<Item = (usize, usize)> {
        let places = (0..self.panels.len()).flat_map(|p| (0..self.levels.len()).map(move |l| (p, l)));
        places.filter(|&(panel, level)| {
            self.points.iter().any(|point| point.panel == panel && point.level == level && !point.exact)
        })
    }

    /// Returns the central error (median or mean) of the first contender of `pair` divided by that of the
    /// second, if both have results.
    pub(crate) fn ratio(&self, place: (usize, usize), pair: (C, C)) -> Option<f64> {
        self.ratio_of(place, pair, self.centre)
    }

    /// Same as [`Self::ratio`], for any statistic.
    pub(crate) fn ratio_of(
        &self,
        (panel, level): (usize, usize),
        (one, other): (C, C),
        centre: Centre,
    ) -> Option<f64> {
        let of = |contender| self.point(panel, contender, level).map(|point| centre.centre(&point.summary));
        Some(of(one)? / of(other)?)
    }
}
