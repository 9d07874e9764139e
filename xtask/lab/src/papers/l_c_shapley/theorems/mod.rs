//! Theorems 1 and 2: the difference between L-Shapley or C-Shapley values and Shapley values when a feature
//! depends little on the features outside its neighbourhood. This is not a figure of the paper.
//!
//! # Notation
//!
//! S is the neighbourhood `N_k(i)` of feature i on a line, `I_a` the absolute mutual information
//! ([`JointDistribution::dependence`]), and R(U) the set of features neither in U nor next to it.
//!
//! ```text
//! ε of theorem 1:  the largest I_a(X_i; X_V | X_U) and I_a(X_i; X_V | X_U, Y)
//!                  over U ⊆ S \ i, V outside S                                  (8)
//! ε of theorem 2:  the larger of that and the same given X_{U \ i},
//!                  over connected U with i, V ⊆ R(U)                            (10)
//! E |φ̂_i − φ_i| ≤ 4ε,   E |φ̃_i − φ_i| ≤ 6ε                                     (9), (11)
//! ```
//!
//! Everything is computed exactly, for distributions of seven features ([`distribution`]): every ε over all
//! sets, every mean over all x. The statements of section 4.2 on the Myerson value are in [`myerson`].

mod distribution;
mod myerson;

use anyhow::Result;
use apportion::Semivalue;
use apportion::games::{Graph, TabulatedGame};
use apportion::values::{Coefficients, GraphValue, enumerate};
use serde::{Deserialize, Serialize};

use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Marker, Panel, Style, palette, styles};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::report::{Table, notes, significant, table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::{Summary, slope};
use crate::reproduce::verdict::{By, Case, Claim, Test};
use distribution::{FEATURES, JointDistribution, MASKS, subsets};
use myerson::ROUNDING;

/// Strengths of the coupling between the block and the other features (the `memory` of a distribution).
const MEMORIES: [f64; 8] = [0.0, 1.0 / 256.0, 1.0 / 128.0, 1.0 / 64.0, 1.0 / 16.0, 0.25, 0.5, 1.0];

/// The orders k of the neighbourhoods.
const ORDERS: [usize; 2] = [1, 2];

/// Another order of the features on a line, whose neighbours are at least three steps apart on the true line.
const ELSEWHERE: [usize; FEATURES] = [0, 3, 6, 2, 5, 1, 4];

/// Maximum amount by which the slope of ln error in ln ε may fall below 1.
const SLACK: f64 = 0.2;

/// An approximation of the Shapley value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Local,
    LocalElsewhere,
    Marginal,
    Printed,
    Connected,
    MarginalElsewhere,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Local,
        Self::LocalElsewhere,
        Self::Marginal,
        Self::Printed,
        Self::Connected,
        Self::MarginalElsewhere,
    ];

    fn title(self) -> &'static str {
        match self {
            Self::Local => "L-Shapley",
            Self::LocalElsewhere => "L-Shapley, other neighbours*",
            Self::Marginal => "C-Shapley, marginal*",
            Self::Printed => "C-Shapley as printed",
            Self::Connected => "C-Shapley, as Myerson*",
            Self::MarginalElsewhere => "C-Shapley, other neighbours*",
        }
    }

    /// Returns the index (0 or 1) of the theorem about this approximation, regardless of whether it uses the
    /// true neighbours.
    fn theorem(self) -> usize {
        usize::from(!matches!(self, Self::Local | Self::LocalElsewhere))
    }

    fn is_elsewhere(self) -> bool {
        matches!(self, Self::LocalElsewhere | Self::MarginalElsewhere)
    }

    /// Returns the orders k used for verdicts. For the other order of the features, only k = 1 is used, since
    /// neighbourhoods with k = 2 contain some of the true neighbours.
    fn orders(self) -> &'static [usize] {
        if self.is_elsewhere() { &ORDERS[..1] } else { &ORDERS }
    }

    fn value(self, order: usize) -> GraphValue {
        match self {
            Self::Local | Self::LocalElsewhere => GraphValue::l_shapley(order),
            Self::Marginal | Self::MarginalElsewhere => {
                GraphValue::c_shapley(order).with_coefficients(Coefficients::Marginal)
            }
            Self::Printed => GraphValue::c_shapley(order).with_coefficients(Coefficients::Printed),
            Self::Connected => GraphValue::c_shapley(order),
        }
    }

    fn graph(self) -> Result<Graph> {
        if self.is_elsewhere() {
            Ok(Graph::from_edges(FEATURES, ELSEWHERE.windows(2).map(|ends| (ends[0], ends[1])))?)
        } else {
            Ok(Graph::line(FEATURES))
        }
    }

    fn style(self, order: usize) -> Style {
        let second = order > 1;
        match self {
            Self::Local if second => Style { marker: Some(Marker::Triangle), ..styles::L_SHAPLEY },
            Self::Local => styles::L_SHAPLEY,
            Self::Marginal if second => Style { colour: palette::GREEN, marker: Some(Marker::Triangle) },
            Self::Marginal => Style { colour: palette::GREEN, marker: Some(Marker::Circle) },
            Self::Printed if second => Style { marker: Some(Marker::Diamond), ..styles::C_SHAPLEY },
            Self::Printed => styles::C_SHAPLEY,
            Self::Connected if second => Style { marker: Some(Marker::Diamond), ..styles::C_SHAPLEY_EXACT },
            Self::Connected => styles::C_SHAPLEY_EXACT,
            Self::LocalElsewhere | Self::MarginalElsewhere => {
                Style { colour: palette::GREY, marker: Some(Marker::Cross) }
            }
        }
    }
}

/// Factor of ε in each theorem.
const FACTORS: [f64; 2] = [4.0, 6.0];

/// A value as a linear map of the game: the coefficient of each `v(S)` in the value of each feature.
struct Map(Vec<f64>);

impl Map {
    fn from_value(value: impl FnOnce(&TabulatedGame) -> Result<Vec<f64>>) -> Result<Self> {
        // The game has one output per coalition, with value 1 for that coalition only.
        let mut units = vec![0.0; MASKS * MASKS];
        (0..MASKS).for_each(|mask| units[mask * MASKS + mask] = 1.0);
        Ok(Self(value(&TabulatedGame::new(units, MASKS)?)?))
    }

    fn value(&self, feature: usize, game: &[f64]) -> f64 {
        let own = &self.0[feature * MASKS..(feature + 1) * MASKS];
        own.iter().zip(game).map(|(coefficient, value)| coefficient * value).sum()
    }
}

/// Linear maps of the Shapley value, and of each approximation at each of its orders.
struct Maps {
    shapley: Map,
    kinds: Vec<(Kind, usize, Map)>,
}

impl Maps {
    fn new() -> Result<Self> {
        let mut kinds = Vec::new();
        for kind in Kind::ALL {
            let graph = kind.graph()?;
            for &order in kind.orders() {
                let map = Map::from_value(|units| Ok(kind.value(order).enumerate(units, &graph)?.values))?;
                kinds.push((kind, order, map));
            }
        }
        let shapley = Map::from_value(|units| Ok(enumerate(units, Semivalue::Shapley)?.values))?;
        Ok(Self { shapley, kinds })
    }

    fn digest(&self) -> Digest {
        let all = self.kinds.iter().map(|(_, _, map)| map).chain([&self.shapley]);
        Digest::from_numbers(all.flat_map(|map| map.0.iter().copied()))
    }
}

/// Returns the neighbourhood of a feature on a line, as a mask.
fn neighbourhood(feature: usize, order: usize) -> usize {
    (0..FEATURES).filter(|other| other.abs_diff(feature) <= order).fold(0, |set, other| set | 1 << other)
}

/// Returns the connected subsets of a neighbourhood on a line that contain the feature.
fn connected(feature: usize, order: usize) -> impl Iterator<Item = usize> {
    let (low, high) = (feature.saturating_sub(order), (feature + order).min(FEATURES - 1));
    (low..=feature).flat_map(move |first| (feature..=high).map(move |last| (2 << last) - (1 << first)))
}

/// Returns ε of both theorems.
fn epsilons(distribution: &JointDistribution, order: usize) -> [f64; 2] {
    let around = neighbourhood(distribution.middle, order);
    let own = 1 << distribution.middle;
    let first = subsets(around & !own)
        .map(|given| distribution.most(distribution.middle, (MASKS - 1) & !around, given))
        .fold(0.0, f64::max);
    let second = connected(distribution.middle, order)
        .map(|set| {
            distribution.most(distribution.middle, (MASKS - 1) & !(set | set << 1 | set >> 1), set & !own)
        })
        .fold(first, f64::max);
    [first, second]
}

/// Checkpoint key of the results for one distribution.
#[derive(Serialize)]
struct DistributionKey {
    run: usize,
    memory: f64,
}

/// Results for one distribution.
#[derive(Serialize, Deserialize)]
struct DistributionResults {
    /// ε of both theorems, by order.
    epsilons: Vec<[f64; 2]>,
    /// Mean error of the feature in the middle of the block, by kind and order as in [`Maps`].
    errors: Vec<f64>,
}

fn find(distribution: &JointDistribution, maps: &Maps) -> DistributionResults {
    let mut errors = vec![0.0; maps.kinds.len()];
    for x in 0..MASKS {
        let game = distribution.game(x);
        let truth = maps.shapley.value(distribution.middle, &game);
        for (error, (_, _, map)) in errors.iter_mut().zip(&maps.kinds) {
            *error += distribution.probability(x) * (map.value(distribution.middle, &game) - truth).abs();
        }
    }
    DistributionResults { epsilons: ORDERS.map(|order| epsilons(distribution, order)).to_vec(), errors }
}

/// Results for one approximation at one order: (ε, error) of each run, by memory.
struct Series {
    kind: Kind,
    order: usize,
    by_memory: Vec<Vec<(f64, f64)>>,
}

impl Series {
    fn name(&self) -> String {
        format!("{}, k = {}", self.kind.title(), self.order)
    }

    /// Returns the points (ε, error) of distributions with memory, for which ε exceeds rounding error.
    fn dependent(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.by_memory[1..].iter().flatten()
    }

    /// Returns the largest error in units of ε.
    fn constant(&self) -> f64 {
        self.dependent().map(|(epsilon, error)| error / epsilon).fold(0.0, f64::max)
    }

    /// Returns the largest error without memory.
    fn independent(&self) -> f64 {
        self.by_memory[0].iter().map(|point| point.1).fold(0.0, f64::max)
    }

    /// Returns whether the bound holds at every point.
    fn is_bounded(&self) -> bool {
        let factor = FACTORS[self.kind.theorem()];
        self.by_memory.iter().flatten().all(|(epsilon, error)| *error <= factor * epsilon + ROUNDING)
    }

    /// Returns, for each run, the slope of ln error in ln ε for small ε.
    fn slopes(&self) -> Vec<f64> {
        let runs = self.by_memory[0].len();
        let small = || self.by_memory[1..].iter().take(4);
        let of_run = |run: usize| {
            slope(&small().map(|points| (points[run].0.ln(), points[run].1.ln())).collect::<Vec<_>>())
        };
        (0..runs).map(of_run).collect()
    }
}

/// Generates the comparison of the errors with their bounds in terms of ε.
pub(crate) fn theorems(session: &Session) -> Result<ArtefactOutput> {
    let maps = Maps::new()?;
    let method = maps.digest();
    let distribution = |run: usize, memory: f64| JointDistribution::new(run, session.seed, memory);
    let mut cells = Vec::new();
    for memory in MEMORIES {
        for run in 0..session.runs {
            let played = Digest::from_numbers(distribution(run, memory).game(MASKS / 3));
            let made_of = Ingredients::new("law", 1, session.seed, &played, &method);
            cells.push(Cell { key: DistributionKey { run, memory }, made_of, with: () });
        }
    }
    let found =
        session.results(&cells, |cell| Ok(find(&distribution(cell.key.run, cell.key.memory), &maps)))?;
    let by_memory: Vec<&[DistributionResults]> = found.chunks(session.runs.max(1)).collect();
    let all: Vec<Series> = (maps.kinds.iter().enumerate())
        .map(|(at, &(kind, order, _))| {
            let point = |found: &DistributionResults| {
                (found.epsilons[order - ORDERS[0]][kind.theorem()], found.errors[at])
            };
            let by_memory = by_memory.iter().map(|runs| runs.iter().map(point).collect()).collect();
            Series { kind, order, by_memory }
        })
        .collect();
    let graphs = myerson::compare()?;
    let mut claims = claims(&all);
    claims.extend(myerson::claims(&graphs)?);
    Ok(ArtefactOutput {
        data: data(&all),
        figure: Some(figure(&all)),
        tables: vec![table(&all), myerson::table(&graphs)],
        claims,
        notes: notes![
            "exact: seven binary features and a label, where ln P(x, y) has normal couplings between \
             neighbours and with the label; the couplings within a block of three features are used as \
             drawn, all others are multiplied by the memory. The explained feature is the one in the middle \
             of the block, with v_x(S) = E[ln P(Y | x_S) | x]",
            "equation 6 weights a connected set as if it had two neighbours outside, even if these are \
             beyond the neighbourhood: its weights sum to 8/15 (k = 1) and 9/14 (k = 2), so that a feature \
             that is independent of all others does not get its own effect as its value. If boundaries are \
             counted in the neighbourhood, the weights sum to 1, and the theorem's proof holds for them",
            "as Myerson: the contribution is computed for the component that contains the feature, which \
             differs from v(U) − v(U \\ i) if the parts of U \\ i depend on each other; the theorem does not \
             cover this case",
            "Myerson value (section 4.2): d players and neighbourhoods of order d, so that every \
             neighbourhood contains all players; games in which disconnected sets are additive, as in \
             condition 12",
            "with other neighbours: the same value on a line in another order, compared with the ε of the \
             true neighbourhood",
        ],
        datasets: Vec::new(),
    })
}

fn claims(all: &[Series]) -> Vec<Claim> {
    let of = |kinds: &'static [Kind]| all.iter().filter(move |series| kinds.contains(&series.kind));
    let constants = |kinds: &'static [Kind]| {
        let words = |series: &Series| format!("{}: {} ε", series.name(), significant(series.constant()));
        of(kinds).map(words).collect::<Vec<_>>().join("; ")
    };
    let bound = |claim: &str, source: &str, kind: &'static [Kind], rival: &'static [Kind]| {
        let is_so = of(kind).all(Series::is_bounded);
        let evidence = format!(
            "largest errors {}; without memory {}; beside it {}",
            constants(kind),
            significant(of(kind).map(Series::independent).fold(0.0, f64::max)),
            constants(rival)
        );
        if is_so && of(rival).all(Series::is_bounded) {
            return Claim::vacuous(claim, source, "other neighbours keep the bound, too", evidence);
        }
        let rule = "this is true for every distribution, order and memory, to 1e-12";
        Claim::fact(claim, source, rule, Some(is_so), evidence)
    };
    let independent = |claim: &str, source: &str, kind: &'static [Kind]| {
        let largest = of(kind).map(Series::independent).fold(0.0, f64::max);
        Claim::fact(
            claim,
            source,
            "the mean error is at most 1e-12 for every distribution without memory",
            Some(largest <= ROUNDING),
            format!("largest mean error {}", significant(largest)),
        )
    };
    let slopes = of(&[Kind::Local, Kind::Marginal]).map(|series| {
        let slopes = series.slopes();
        let median = Summary::from_sample(&slopes).median;
        Case::new(format!("{} ({})", series.name(), significant(median)), Test::above(&slopes, 1.0 - SLACK))
    });
    let beside: Vec<String> = of(&[Kind::LocalElsewhere, Kind::Printed])
        .map(|series| {
            format!("{} ({})", series.name(), significant(Summary::from_sample(&series.slopes()).median))
        })
        .collect();
    vec![
        bound(
            "the mean error of L-Shapley is at most 4ε",
            "theorem 1",
            &[Kind::Local],
            &[Kind::LocalElsewhere],
        ),
        independent(
            "L-Shapley is the Shapley value where a feature is independent of those outside its \
             neighbourhood",
            "theorem 1",
            &[Kind::Local],
        ),
        bound(
            "the mean error of C-Shapley, with the coefficients of equation 6, is at most 6ε",
            "theorem 2",
            &[Kind::Printed],
            &[Kind::MarginalElsewhere],
        ),
        bound(
            "the mean error of C-Shapley is at most 6ε if boundaries are counted in the neighbourhood",
            "this project, in place of theorem 2",
            &[Kind::Marginal],
            &[Kind::MarginalElsewhere],
        ),
        independent(
            "C-Shapley, boundaries counted in the neighbourhood, is the Shapley value where a feature is \
             independent of those outside it",
            "this project, in place of theorem 2",
            &[Kind::Marginal],
        ),
        By::SignedRanks.in_all(
            "errors of L-Shapley and C-Shapley (boundaries counted in the neighbourhood) fall with ε at \
             least in proportion",
            "theorems 1 and 2",
            &format!(
                "a value and an order; it agrees if the slope of ln error in ln ε over memories of 1/256 to \
                 1/16 is above {:.1} in a run",
                1.0 - SLACK
            ),
            slopes,
        )
        .and(&format!("median slopes beside them: {}", beside.join("; "))),
    ]
}

fn figure(all: &[Series]) -> Figure {
    let panel = |theorem: usize| {
        let own = || all.iter().filter(move |series| series.kind.theorem() == theorem);
        // Show the means over the distributions with the same memory; the individual points would form a
        // cloud.
        let mean = |points: &Vec<(f64, f64)>| {
            let count = points.len() as f64;
            let sum = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
            (sum.0 / count, sum.1 / count)
        };
        let lines = own().map(|series| Mark::Line {
            style: series.kind.style(series.order),
            points: series.by_memory[1..].iter().map(mean).collect(),
        });
        let reach = own().flat_map(|series| series.by_memory[1..].iter().map(mean));
        let (low, high) =
            reach.fold((f64::INFINITY, 0.0_f64), |(low, high), point| (low.min(point.0), high.max(point.0)));
        let factor = FACTORS[theorem];
        let bound =
            Mark::Dashes { colour: palette::BLACK, points: vec![(low, factor * low), (high, factor * high)] };
        Panel {
            title: ["Theorem 1: L-Shapley", "Theorem 2: C-Shapley"][theorem].to_owned(),
            x: Axis::log("dependence ε", f64::MIN_POSITIVE),
            y: Axis::log("mean error", f64::MIN_POSITIVE),
            marks: [bound].into_iter().chain(lines).collect(),
        }
    };
    let mut legend: Vec<(String, Style)> = Vec::new();
    for series in all {
        let style = series.kind.style(series.order);
        let name =
            if series.kind.is_elsewhere() { "other neighbours, k = 1*".to_owned() } else { series.name() };
        if !legend.iter().any(|entry| entry.1 == style) {
            legend.push((name, style));
        }
    }
    Figure {
        title: "Theorems 1 and 2: mean error against dependence on features beyond the neighbourhood"
            .to_owned(),
        panels: vec![panel(0), panel(1)],
        columns: 2,
        legend,
        note: "Dashes: 4ε and 6ε. Points: means over the distributions, memory 1/256 to 1. With a star: \
             not in the paper."
            .to_owned(),
    }
}

fn table(all: &[Series]) -> Table {
    table!("Errors of the feature in the middle of the block", [for series in all;]
        "value" => series.kind.title(),
        "k" => series.order,
        "bound" => format!("{}ε", FACTORS[series.kind.theorem()]),
        "largest error / ε" => series.constant(),
        "slope" => Summary::from_sample(&series.slopes()).median,
        "largest error where ε = 0" => series.independent(),
    )
}

fn data(all: &[Series]) -> Table {
    table!("data", [
        for series in all;
        for (memory, points) in MEMORIES.iter().zip(&series.by_memory);
        for (run, &(epsilon, error)) in points.iter().enumerate();
    ]
        "value" => series.kind.title(),
        "k" => series.order,
        "memory" => *memory,
        "run" => run,
        "epsilon" => epsilon,
        "mean_error" => error,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_give_the_values_of_games() {
        let maps = Maps::new().unwrap();
        let game = JointDistribution::new(2, 7, 0.5).game(77);
        let table = TabulatedGame::new(game.clone(), 1).unwrap();
        let expected = enumerate(&table, Semivalue::Shapley).unwrap();
        for (feature, want) in expected.values.iter().enumerate() {
            assert!((maps.shapley.value(feature, &game) - want).abs() < 1e-13);
        }
        assert_eq!(maps.kinds.len(), 10);
    }

    #[test]
    fn sets_on_a_line_are_those_of_the_graph() {
        let graph = Graph::line(FEATURES);
        for (feature, order) in [(0, 1), (3, 1), (3, 2), (5, 2)] {
            let expected = graph.neighbourhood(feature, order).iter().fold(0, |set, node| set | 1 << node);
            assert_eq!(neighbourhood(feature, order), expected);
            let mut found: Vec<usize> = connected(feature, order).collect();
            found.sort_unstable();
            found.dedup();
            assert!(found.iter().all(|set| set & 1 << feature != 0 && set & !expected == 0));
            let arms = [feature.min(order), (FEATURES - 1 - feature).min(order)];
            assert_eq!(found.len(), (arms[0] + 1) * (arms[1] + 1));
        }
    }

    #[test]
    fn the_second_condition_asks_for_more_than_the_first() {
        let distribution = JointDistribution::new(4, 3, 0.5);
        for order in ORDERS {
            let [first, second] = epsilons(&distribution, order);
            assert!(first > 0.0 && second >= first, "{first} {second}");
        }
        // For order 2, some of the features outside U are in the neighbourhood.
        assert!(epsilons(&distribution, 2)[1] > epsilons(&distribution, 2)[0]);
    }
}
