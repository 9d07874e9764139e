//! Section 3.4: two-step Shapley values as printed, and corrected with the gain of a group.
//!
//! # Notation
//!
//! S_j is a group, i one of its members, `φ_j[M, v^P]` the group's Shapley value in the quotient game.
//!
//! ```text
//! TSh_i = φ_i[S_j, v] + (φ_j[M, v^P] − v(S_j)) / |S_j|                  (3.19)
//! TSh_i = φ_i[S_j, v] + (φ_j[M, v^P] − [v(S_j) − v(∅)]) / |S_j|         as corrected
//! ```
//!
//! The Shapley values of a group's members in the game restricted to the group sum to v(S_j) − v(∅), so the
//! values of (3.19) sum to `φ_j[M, v^P] − v(∅)`. The paper defines games with v(∅) = 0 but uses marginal
//! games, whose v(∅) is the mean prediction (section 2.2.1).

use anyhow::Result;
use apportion::games::{Centred, Game, Partition, QuotientGame, SubGame};
use apportion::values::enumerate;
use apportion::{MarginalGame, Semivalue, Value};

use super::experiment::{ALL, Setting};
use super::runs;
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Marker, Panel, Style, palette};
use crate::reproduce::report::{Table, notes, significant, table};
use crate::reproduce::session::Session;
use crate::reproduce::verdict::Claim;

/// The experiments on two-step values: the index of each in the list of experiments, and a number of
/// predictors that allows enumeration.
const PLAYED: [(usize, usize); 3] = [(4, 6), (5, 6), (5, 10)];

/// Tolerance for rounding errors of values near 1.
const ROUNDING: f64 = 1e-12;

/// The form of equation 3.19: the amount subtracted from a group's value before the remainder is shared
/// equally among its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// v(S_j), as printed.
    Printed,
    /// v(S_j) − v(∅), which makes the values of the members sum to the value of the group.
    Corrected,
}

impl Form {
    const ALL: [Self; 2] = [Self::Printed, Self::Corrected];

    fn words(self) -> &'static str {
        match self {
            Self::Printed => "as printed, with v(S_j)",
            Self::Corrected => "with v(S_j) − v(∅)",
        }
    }

    /// Returns the name of the form without special characters, for figures.
    fn name(self) -> &'static str {
        match self {
            Self::Printed => "as printed",
            Self::Corrected => "as corrected",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Printed => Style { colour: palette::VERMILION, marker: Some(Marker::Cross) },
            Self::Corrected => Style { colour: palette::BLUE, marker: Some(Marker::Circle) },
        }
    }

    /// Returns the two-step value of every player. The corrected form is computed by the library.
    fn values(self, game: &dyn Game, partition: &Partition) -> Result<Vec<f64>> {
        match self {
            Self::Printed => printed(game, partition),
            Self::Corrected => Ok(Value::two_step(partition.clone()).enumerate(game)?.values),
        }
    }
}

/// Computes equation 3.19 as printed.
fn printed(game: &dyn Game, partition: &Partition) -> Result<Vec<f64>> {
    let quotient = enumerate(&QuotientGame::new(game, partition)?, Semivalue::Shapley)?;
    let mut values = vec![0.0; game.players()];
    for (group, members) in partition.groups().iter().enumerate() {
        let alone = enumerate(&SubGame::new(game, members)?, Semivalue::Shapley)?;
        let share = (quotient.values[group] - alone.predictions[0]) / members.len() as f64;
        for (member, value) in members.iter().zip(&alone.values) {
            values[*member] = value + share;
        }
    }
    Ok(values)
}

/// The two-step values for one explicand in one game.
struct Explained {
    explicand: usize,
    base: f64,
    prediction: f64,
    /// Shapley values of the groups in the quotient game.
    of_groups: Vec<f64>,
    /// Two-step values of the players, by form.
    values: [Vec<f64>; 2],
    /// Values of the players in the game `v − v(∅)`, by form.
    centred: [Vec<f64>; 2],
}

/// An experiment with a given number of predictors.
struct ExplainedExperiment {
    name: String,
    partition: Partition,
    explained: Vec<Explained>,
}

impl ExplainedExperiment {
    fn new(session: &Session, place: usize, predictors: usize) -> Result<Self> {
        let setting = Setting::new(&ALL[place], predictors, session.seed)?;
        let partition = setting.partition.clone();
        let explained = (0..runs::explicands(session))
            .map(|explicand| {
                let row = setting.background.row(explicand);
                explain(&MarginalGame::new(&setting.model, row, &setting.background)?, &partition, explicand)
            })
            .collect::<Result<_>>()?;
        Ok(Self { name: format!("experiment {}, p = {predictors}", ALL[place].name), partition, explained })
    }

    /// Returns the sum of the values of each group's members.
    fn sums(&self, values: &[f64]) -> Vec<f64> {
        let sum = |members: &Vec<usize>| members.iter().map(|&member| values[member]).sum();
        self.partition.groups().iter().map(sum).collect()
    }

    /// Returns the maximum of a quantity over the explicands.
    fn largest(&self, of: impl Fn(&Explained) -> f64) -> f64 {
        self.explained.iter().map(of).fold(0.0, f64::max)
    }

    /// Returns the maximum difference between the sum of the values of a group's members and the group's
    /// value in the quotient game.
    fn off_quotient(&self, form: Form) -> f64 {
        self.largest(|one| furthest(&self.sums(&one.values[form as usize]), &one.of_groups))
    }

    /// Same as [`Self::off_quotient`], for groups with a single member only.
    fn off_alone(&self, form: Form) -> f64 {
        let groups = self.partition.groups();
        let single: Vec<usize> = (0..groups.len()).filter(|&group| groups[group].len() == 1).collect();
        let off = |one: &Explained, group: usize| {
            (one.values[form as usize][groups[group][0]] - one.of_groups[group]).abs()
        };
        self.largest(|one| single.iter().map(|&group| off(one, group)).fold(0.0, f64::max))
    }

    /// Returns the maximum difference between the sum of all values and v(N) − v(∅).
    fn off_total(&self, form: Form) -> f64 {
        self.largest(|one| {
            (one.values[form as usize].iter().sum::<f64>() - (one.prediction - one.base)).abs()
        })
    }

    /// Returns the maximum difference between the values of the two forms in the game `v − v(∅)`.
    fn apart_centred(&self) -> f64 {
        self.largest(|one| furthest(&one.centred[0], &one.centred[1]))
    }

    /// Returns v(∅), which is the same for all explicands.
    fn base(&self) -> f64 {
        self.explained.first().map_or(f64::NAN, |one| one.base)
    }
}

fn explain(game: &dyn Game, partition: &Partition, explicand: usize) -> Result<Explained> {
    let quotient = enumerate(&QuotientGame::new(game, partition)?, Semivalue::Shapley)?;
    let centred = Centred::new(game)?;
    let of = |game: &dyn Game| -> Result<[Vec<f64>; 2]> {
        let [printed, corrected] = Form::ALL.map(|form| form.values(game, partition));
        Ok([printed?, corrected?])
    };
    Ok(Explained {
        explicand,
        base: quotient.base[0],
        prediction: quotient.predictions[0],
        values: of(game)?,
        centred: of(&centred)?,
        of_groups: quotient.values,
    })
}

fn furthest(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
}

/// Generates the comparison of two-step values, summed over groups, with quotient values.
pub(super) fn two_step(session: &Session) -> Result<ArtefactOutput> {
    let all = (PLAYED.iter())
        .map(|&(place, predictors)| ExplainedExperiment::new(session, place, predictors))
        .collect::<Result<Vec<_>>>()?;
    let mut notes = super::notes::notes(session);
    notes.extend(notes![
        "exact, by enumeration, in the empirical marginal games of experiments 3a and 3b; v(∅) is the mean \
         prediction over D",
        "Algorithm 4 as printed is inconsistent: it passes groups with a single member to Algorithm 2, which \
         gives the corrected value, but subtracts v(S_j) from the shares in larger groups",
        "figures 5 and 6 estimate the corrected values",
    ]);
    Ok(ArtefactOutput {
        data: data(&all),
        figure: Some(figure(&all)),
        tables: vec![table(&all)],
        claims: claims(&all),
        notes,
        datasets: Vec::new(),
    })
}

/// A property of a form: description, source, and maximum deviation.
type Property = (&'static str, &'static str, fn(&ExplainedExperiment, Form) -> f64);

const PROPERTIES: [Property; 3] = [
    (
        "the two-step value of a group of one is the group's Shapley value in the quotient game",
        "section 3.4, after equation 3.19",
        ExplainedExperiment::off_alone,
    ),
    (
        "the two-step values of a group's members sum to the group's Shapley value in the quotient game",
        "equation 3.19: φ_j is what the group is given",
        ExplainedExperiment::off_quotient,
    ),
    (
        "two-step values sum to v(N) − v(∅)",
        "section 2.2.1: efficiency in marginal games",
        ExplainedExperiment::off_total,
    ),
];

fn claims(all: &[ExplainedExperiment]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for form in Form::ALL {
        for (claim, source, off) in PROPERTIES {
            let words = |played: &ExplainedExperiment| {
                let [off, base] = [off(played, form), played.base()].map(significant);
                format!(
                    "{}: off by up to {off}, v(∅) = {base}, {} groups",
                    played.name,
                    played.partition.len()
                )
            };
            let source = match form {
                Form::Printed => source.to_owned(),
                Form::Corrected => "this project, in place of equation 3.19".to_owned(),
            };
            let fact = Claim::fact(
                claim,
                &source,
                "this is true for every explicand and group, to 1e-12",
                Some(all.iter().all(|played| off(played, form) <= ROUNDING)),
                all.iter().map(words).collect::<Vec<_>>().join("; "),
            );
            claims.push(fact.read_as(form.words()));
        }
    }
    let apart =
        |played: &ExplainedExperiment| format!("{}: {}", played.name, significant(played.apart_centred()));
    claims.push(Claim::fact(
        "in games less v(∅) both forms of the two-step value are the same",
        "this project, beside equation 3.19",
        "they differ by at most 1e-12 for every player and explicand",
        Some(all.iter().all(|played| played.apart_centred() <= ROUNDING)),
        all.iter().map(apart).collect::<Vec<_>>().join("; "),
    ));
    claims
}

fn figure(all: &[ExplainedExperiment]) -> Figure {
    let panel = |played: &ExplainedExperiment| {
        let points = |form: Form| Mark::Points {
            style: form.style(),
            points: (played.explained.iter())
                .flat_map(|one| {
                    let sums = played.sums(&one.values[form as usize]);
                    one.of_groups.iter().copied().zip(sums).collect::<Vec<_>>()
                })
                .collect(),
        };
        Panel {
            title: played.name.clone(),
            x: Axis::linear("Shapley value in the quotient game"),
            y: Axis::linear("sum of the members' values"),
            marks: [Mark::Identity].into_iter().chain(Form::ALL.map(points)).collect(),
        }
    };
    Figure {
        title: "Two-step Shapley values of a group's members, and the value of the group".to_owned(),
        panels: all.iter().map(panel).collect(),
        columns: 3,
        legend: Form::ALL.map(|form| (form.name().to_owned(), form.style())).to_vec(),
        note: "One point for each group and explicand; line: they are equal.".to_owned(),
    }
}

fn table(all: &[ExplainedExperiment]) -> Table {
    table!("Maximum deviations of two-step values", [for played in all; for form in Form::ALL;]
        "game" => played.name.as_str(),
        "form" => form.words(),
        "groups" => played.partition.len(),
        "v(∅)" => played.base(),
        "group of one" => played.off_alone(form),
        "sum of a group" => played.off_quotient(form),
        "sum of all" => played.off_total(form),
    )
}

fn data(all: &[ExplainedExperiment]) -> Table {
    table!("data", [
        for played in all;
        for one in &played.explained;
        for (group, members) in played.partition.groups().iter().enumerate();
        let [printed, corrected] = [0, 1].map(|form: usize| played.sums(&one.values[form])[group]);
    ]
        "game" => played.name.as_str(),
        "explicand" => one.explicand,
        "group" => group + 1,
        "members" => members.len(),
        "v(∅)" => one.base,
        "quotient" => one.of_groups[group],
        "sum_printed" => printed,
        "sum_corrected" => corrected,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::games::TabulatedGame;

    /// Returns all permutations of some players.
    fn orders(players: &[usize]) -> Vec<Vec<usize>> {
        if players.is_empty() {
            return vec![Vec::new()];
        }
        let first = |&one: &usize| {
            let rest: Vec<usize> = players.iter().copied().filter(|&other| other != one).collect();
            orders(&rest).into_iter().map(move |order| [vec![one], order].concat())
        };
        players.iter().flat_map(first).collect()
    }

    /// Averages the marginal contribution of a player over all permutations.
    fn shapley(players: &[usize], one: usize, value: impl Fn(&[usize]) -> f64) -> f64 {
        let all = orders(players);
        let added = |order: &Vec<usize>| {
            let place = order.iter().position(|&other| other == one).unwrap();
            value(&order[..=place]) - value(&order[..place])
        };
        all.iter().map(added).sum::<f64>() / all.len() as f64
    }

    #[test]
    fn both_forms_are_their_equations_over_all_orders() {
        let game =
            TabulatedGame::from_fn(6, |mask| 1.9 + (mask as f64 * 2.3).sin() + (mask as f64).sqrt()).unwrap();
        let partition = Partition::new(6, vec![vec![4, 0], vec![2], vec![1, 5, 3]]).unwrap();
        let mask = |players: &[usize]| players.iter().fold(0_u64, |mask, player| mask | 1 << player);
        let value = |players: &[usize]| game.value(mask(players))[0];
        let union = |groups: &[usize]| -> Vec<usize> {
            groups.iter().flat_map(|&group| partition.group(group).to_vec()).collect()
        };
        let found = Form::ALL.map(|form| form.values(&game, &partition).unwrap());
        for player in 0..6 {
            let group = partition.group_of(player);
            let members = partition.group(group);
            let alone = shapley(members, player, value);
            let quotient = shapley(&[0, 1, 2], group, |groups| value(&union(groups)));
            for (values, less) in found.iter().zip([0.0, value(&[])]) {
                let expected = alone + (quotient - (value(members) - less)) / members.len() as f64;
                assert!((values[player] - expected).abs() < 1e-12, "{player}: {} {expected}", values[player]);
            }
        }
    }
}
