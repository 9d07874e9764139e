//! The numbers of evaluations of L-Shapley and C-Shapley by the number of players: the numbers of distinct
//! coalitions, each evaluated once. The paper has no such figure, but sections 3.1 and 3.2 claim that the
//! numbers grow linearly.

use std::collections::HashSet;

use anyhow::Result;
use apportion::estimators::OnGraph;
use apportion::games::{Adjacency, Graph};
use apportion::values::{Coefficients, GraphValue};
use serde::Serialize;

use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Colour, Figure, Mark, Marker, Panel, Style, palette, styles};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::report::{Table, notes, significant, table};
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{By, Case, Claim, Test};

/// The numbers of players on the lines.
const LINES: [usize; 6] = [25, 50, 100, 200, 500, 1000];

/// Side lengths of the grids, in steps of 5, and large enough for complete inner neighbourhoods.
const SIDES: [usize; 4] = [10, 15, 20, 25];

/// A kind of value, whose evaluations are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Local,
    /// C-Shapley with the paper's coefficients, whose marginal contributions also require U \ i.
    Printed,
    /// C-Shapley with true boundaries, which requires connected coalitions only.
    Connected,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Local, Self::Printed, Self::Connected];

    fn title(self) -> &'static str {
        self.title_and_colour().0
    }

    fn colour(self) -> Colour {
        self.title_and_colour().1
    }

    fn title_and_colour(self) -> (&'static str, Colour) {
        match self {
            Self::Local => ("L-Shapley", styles::L_SHAPLEY.colour),
            Self::Printed => ("C-Shapley as printed", styles::C_SHAPLEY.colour),
            Self::Connected => ("C-Shapley, true boundaries*", styles::C_SHAPLEY_EXACT.colour),
        }
    }

    fn value(self, order: usize) -> GraphValue {
        match self {
            Self::Local => GraphValue::l_shapley(order),
            Self::Printed => GraphValue::c_shapley(order).with_coefficients(Coefficients::Printed),
            Self::Connected => GraphValue::c_shapley(order),
        }
    }
}

/// Checkpoint key of a count of coalitions.
#[derive(Serialize)]
struct CountKey {
    is_grid: bool,
    value: Kind,
    order: usize,
    size: usize,
}

impl CountKey {
    /// Returns the checkpoint cell for a count. A count has no game, so the digest of the graph replaces that
    /// of the game, and the counts for two small graphs represent the method.
    fn cell(self) -> Result<Cell<Self, ()>> {
        let Self { is_grid, value, order, size } = self;
        let [line, grid] = [(false, 9), (true, 4)].map(|(is_grid, size)| count(is_grid, value, order, size));
        let graph = graph(is_grid, size);
        let neighbours: Vec<&[usize]> = (0..graph.nodes()).map(|node| graph.neighbours(node)).collect();
        let method = Digest::from_numbers([line? as f64, grid? as f64]);
        let made_of = Ingredients::new("coalitions", 1, 0, &Digest::of_data(&neighbours)?, &method);
        Ok(Cell { key: self, made_of, with: () })
    }
}

/// Returns a line with `size` players, or a grid with side `size`.
fn graph(is_grid: bool, size: usize) -> Graph {
    if is_grid { Graph::grid(size, size, Adjacency::Four) } else { Graph::line(size) }
}

/// Returns the number of distinct coalitions on a line with `size` players, or on a grid with side `size`.
fn count(is_grid: bool, kind: Kind, order: usize, size: usize) -> Result<usize> {
    Ok(OnGraph::new(graph(is_grid, size), kind.value(order)).coalitions()?)
}

/// Counts of coalitions for one kind of value of one order, by size of the graph.
struct Series {
    is_grid: bool,
    kind: Kind,
    order: usize,
    /// Side lengths of the grids, or numbers of players on the lines.
    sizes: Vec<usize>,
    counts: Vec<usize>,
}

impl Series {
    fn players(&self, at: usize) -> usize {
        if self.is_grid { self.sizes[at] * self.sizes[at] } else { self.sizes[at] }
    }

    /// Returns the number of coalitions added by each further inner player, or `None` if that number is not
    /// constant. On a line, this is the slope; on a grid, it is the leading coefficient of a quadratic
    /// polynomial in the side, whose other terms are due to the border.
    fn per_player(&self) -> Option<f64> {
        let pairs: Vec<[(i128, i128); 2]> = (self.sizes.windows(2).zip(self.counts.windows(2)))
            .map(|(s, c)| [(s[0] as i128, c[0] as i128), (s[1] as i128, c[1] as i128)])
            .collect();
        // The divided differences are kept as fractions and compared by cross-multiplication.
        let slopes: Vec<(i128, i128)> = pairs.iter().map(|[a, b]| (b.1 - a.1, b.0 - a.0)).collect();
        if !self.is_grid {
            let (rise, run) = *slopes.first()?;
            return slopes
                .iter()
                .all(|slope| slope.0 * run == rise * slope.1)
                .then(|| rise as f64 / run as f64);
        }
        let second: Vec<(i128, i128)> = (slopes.windows(2).zip(self.sizes.windows(3)))
            .map(|(s, size)| {
                ((s[1].0 * s[0].1 - s[0].0 * s[1].1), s[0].1 * s[1].1 * (size[2] as i128 - size[0] as i128))
            })
            .collect();
        let (rise, run) = *second.first()?;
        second.iter().all(|one| one.0 * run == rise * one.1).then(|| rise as f64 / run as f64)
    }

    /// Returns the number of coalitions per player stated in the paper.
    fn printed(&self) -> Option<f64> {
        let k = self.order as i32;
        match (self.kind, self.is_grid) {
            (Kind::Local, false) => Some(2f64.powi(2 * k)),
            (Kind::Local, true) => Some(2f64.powi(4 * k * k)),
            _ => None,
        }
    }

    /// Returns the number of subsets of a neighbourhood that are not also subsets of the previous one: the
    /// number required if each neighbourhood overlapped with only one other neighbourhood.
    fn shared_with_one(&self) -> Option<f64> {
        let k = self.order as i32;
        match (self.kind, self.is_grid) {
            (Kind::Local, false) => Some(2f64.powi(2 * k)),
            (Kind::Local, true) => Some(2f64.powi(2 * k * k + 2 * k + 1) - 2f64.powi(2 * k * k)),
            _ => None,
        }
    }

    /// Returns, for L-Shapley, the number of nonempty subsets of a neighbourhood up to translation. Each
    /// additional inner player adds this number of coalitions.
    fn shapes(&self) -> Option<f64> {
        (self.kind == Kind::Local).then(|| shapes(self.is_grid, self.order) as f64)
    }

    fn graph(&self) -> &'static str {
        if self.is_grid { "grid" } else { "line" }
    }

    fn name(&self) -> String {
        format!("{}, k = {}, {}", self.kind.title(), self.order, self.graph())
    }
}

/// Returns the number of nonempty subsets of a neighbourhood of order `order`, up to translation.
fn shapes(is_grid: bool, order: usize) -> usize {
    let reach = order as i64;
    let down = if is_grid { -reach..=reach } else { 0..=0 };
    let nodes: Vec<(i64, i64)> = down
        .flat_map(|row| (-reach..=reach).map(move |column| (row, column)))
        .filter(|(row, column)| row.abs() + column.abs() <= reach)
        .collect();
    let mut found = HashSet::new();
    for mask in 1..1_u64 << nodes.len() {
        let members =
            || nodes.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, node)| *node);
        let top = members().map(|node| node.0).min().unwrap_or(0);
        let left = members().map(|node| node.1).min().unwrap_or(0);
        // Translate to the upper left corner, with one bit for each cell of the square around the
        // neighbourhood.
        let side = 2 * reach + 1;
        let moved =
            members().fold(0_u64, |bits, (row, column)| bits | 1 << ((row - top) * side + column - left));
        found.insert(moved);
    }
    found.len()
}

/// Generates the comparison of the number of evaluations with the number of players, on lines and grids.
pub(super) fn evaluations(session: &Session) -> Result<ArtefactOutput> {
    let mut all = Vec::new();
    for (is_grid, most, sizes) in [(false, 4, &LINES[..]), (true, 2, &SIDES[..])] {
        for kind in Kind::ALL {
            for order in 1..=most {
                all.push(Series { is_grid, kind, order, sizes: sizes.to_vec(), counts: Vec::new() });
            }
        }
    }
    let mut cells = Vec::new();
    for series in &all {
        for &size in &series.sizes {
            let Series { is_grid, kind: value, order, .. } = *series;
            cells.push(CountKey { is_grid, value, order, size }.cell()?);
        }
    }
    let counts =
        session.results(&cells, |Cell { key, .. }| count(key.is_grid, key.value, key.order, key.size))?;
    let mut counts = counts.into_iter();
    for series in &mut all {
        series.counts = counts.by_ref().take(series.sizes.len()).collect();
    }
    let figure = Figure {
        title: "Evaluations by the number of players".to_owned(),
        panels: vec![panel(&all, false), panel(&all, true)],
        columns: 2,
        legend: legend(),
        note: "At k = 1, L-Shapley and C-Shapley as printed use the same evaluations. With a star: not in \
               the paper."
            .to_owned(),
    };
    Ok(ArtefactOutput {
        data: data(&all),
        figure: Some(figure),
        tables: vec![table(&all)],
        claims: claims(&all),
        notes: notes![
            "distinct coalitions, v(∅) and v(N) included, each evaluated once for all players",
            "per player: the number of evaluations added by each further player, exactly the same from every \
             size to the next; on grids, the coefficient of d, in addition to border terms that grow as √d",
            "with the paper's coefficients, C-Shapley requires U and U \\ i, and k² pairs of arms; with true \
             boundaries, it only requires connected coalitions, 2k + 1 n-grams for each word",
        ],
        datasets: Vec::new(),
    })
}

fn claims(all: &[Series]) -> Vec<Claim> {
    let judge = |claim: &str, source: &str, rule: &str, cases: Vec<(String, bool)>| {
        let against: Vec<&str> = cases.iter().filter(|case| !case.1).map(|case| case.0.as_str()).collect();
        let agree: Vec<&str> = cases.iter().filter(|case| case.1).map(|case| case.0.as_str()).collect();
        let evidence = match (agree.is_empty(), against.is_empty()) {
            (_, true) => agree.join("; "),
            (true, false) => format!("against: {}", against.join("; ")),
            (false, false) => format!("{}; against: {}", agree.join("; "), against.join("; ")),
        };
        Claim::fact(claim, source, rule, Some(against.is_empty()), evidence)
    };
    let of = |kind: Kind, is_grid: bool| {
        all.iter().filter(move |series| series.kind == kind && series.is_grid == is_grid)
    };
    let words = |number: Option<f64>| number.map_or("not linear".to_owned(), significant);
    let against = |series: &Series, wanted: Option<f64>| {
        let found = series.per_player();
        let name = format!("k = {}: {} per player, {} said", series.order, words(found), words(wanted));
        (name, found.is_some() && found == wanted)
    };
    let quadratic = |series: &Series| {
        let found = series.per_player();
        let name = format!("k = {}: {} per player", series.order, words(found));
        (name, found.is_some_and(|found| found <= (series.order + 1).pow(2) as f64))
    };
    let linear =
        all.iter().map(|series| Case::new(series.name(), Test::certain(series.per_player().is_some())));
    vec![
        judge(
            "L-Shapley on a line takes 2^(2k) d evaluations",
            "section 3.1",
            "each further player adds exactly this many, k = 1 to 4",
            of(Kind::Local, false).map(|series| against(series, series.printed())).collect(),
        ),
        judge(
            "C-Shapley on a line takes O(k² d) evaluations",
            "section 3.2",
            "each further player adds at most (k + 1)², k = 1 to 4",
            of(Kind::Printed, false).map(quadratic).collect(),
        ),
        judge(
            "L-Shapley on a grid takes 2^(4k²) d evaluations",
            "section 3.1",
            "each further player adds exactly this many, k = 1 and 2",
            of(Kind::Local, true).map(|series| against(series, series.printed())).collect(),
        ),
        judge(
            "L-Shapley takes as many evaluations per player as a neighbourhood has subsets of which none is \
             another one moved; on a grid these are less than the 2^(2k² + 2k + 1) − 2^(2k²) that are in it \
             and not in the one before",
            "this project, in place of section 3.1",
            "each further player adds exactly this many on lines and grids, and less than the difference on \
             grids",
            [false, true]
                .into_iter()
                .flat_map(|is_grid| of(Kind::Local, is_grid))
                .map(|series| {
                    let (name, agrees) = against(series, series.shapes());
                    let is_less = series.per_player() <= series.shared_with_one();
                    (format!("{}, {name}", series.graph()), agrees && is_less)
                })
                .collect(),
        ),
        By::Nothing.in_all(
            "the number of evaluations grows linearly with the number of features",
            "abstract; section 3",
            "a value of an order on lines or grids; it agrees if every further player adds the same number, \
             except for terms of a grid's border",
            linear,
        ),
    ]
}

/// Markers of the points for the orders k, starting from 1.
const MARKERS: [Marker; 4] = [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond];

fn style(kind: Kind, order: usize) -> Style {
    Style { colour: kind.colour(), marker: Some(MARKERS[(order - 1) % MARKERS.len()]) }
}

/// Returns the legend entries for colours and markers.
fn legend() -> Vec<(String, Style)> {
    let kind = |kind: Kind| (kind.title().to_owned(), Style { colour: kind.colour(), marker: None });
    let order =
        |(at, marker)| (format!("k = {}", at + 1), Style { colour: palette::GREY, marker: Some(marker) });
    Kind::ALL.map(kind).into_iter().chain(MARKERS.into_iter().enumerate().map(order)).collect()
}

fn panel(all: &[Series], is_grid: bool) -> Panel {
    let lines = all.iter().filter(|series| series.is_grid == is_grid).map(|series| Mark::Line {
        style: style(series.kind, series.order),
        points: (0..series.sizes.len())
            .map(|at| (series.players(at) as f64, series.counts[at] as f64))
            .collect(),
    });
    let sizes: Vec<usize> = if is_grid { SIDES.map(|side| side * side).to_vec() } else { LINES.to_vec() };
    Panel {
        title: if is_grid { "grids" } else { "lines" }.to_owned(),
        x: Axis::log("players d", f64::MIN_POSITIVE)
            .with_ticks(sizes.iter().map(|&size| (size as f64, size.to_string())).collect()),
        y: Axis::log("evaluations", f64::MIN_POSITIVE),
        marks: lines.collect(),
    }
}

fn table(all: &[Series]) -> Table {
    table!("Evaluations per player", [for series in all;]
        "graph" => series.graph(),
        "value" => series.kind.title(),
        "k" => series.order,
        "per player" => series.per_player(),
        "the paper says" => series.printed(),
        "in one and not in the one before" => series.shared_with_one(),
        "distinct up to translation" => series.shapes(),
        "at the largest d" => series.counts[series.counts.len() - 1],
    )
}

fn data(all: &[Series]) -> Table {
    table!("data", [for series in all; for (at, &count) in series.counts.iter().enumerate();]
        "graph" => series.graph(),
        "value" => series.kind.title(),
        "k" => series.order,
        "players" => series.players(at),
        "evaluations" => count,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_a_line_are_those_with_their_first_node() {
        assert_eq!([1, 2, 3].map(|order| shapes(false, order)), [4, 16, 64]);
        // Shapes up to translation: one node; 6 of the 10 pairs, since 4 occur twice; 10 triples, 5
        // quadruples, and the whole neighbourhood.
        assert_eq!(shapes(true, 1), 23);
    }

    #[test]
    fn counts_that_grow_by_the_same_per_player_are_told_from_others() {
        let series = |is_grid, counts: &[usize]| Series {
            is_grid,
            kind: Kind::Local,
            order: 1,
            sizes: vec![2, 5, 10, 20],
            counts: counts.to_vec(),
        };
        assert_eq!(series(false, &[7, 13, 23, 43]).per_player(), Some(2.0));
        assert_eq!(series(false, &[7, 13, 23, 44]).per_player(), None);
        // The counts are 3 s² − s + 1 for the side s.
        assert_eq!(series(true, &[11, 71, 291, 1181]).per_player(), Some(3.0));
        assert_eq!(series(true, &[11, 71, 291, 1182]).per_player(), None);
    }
}
