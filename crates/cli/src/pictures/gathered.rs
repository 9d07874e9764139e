//! Results as `explain` finds them, gathered to be looked at.

use anyhow::{Context, Result};
use apportion::SolutionConcept;
use apportion::games;
use apportion::plots::{Batch, Explained, Form, Gathering, Heading, Member};

use crate::output::{Attributions, Block, Interactions, Results};

/// What heads of results say that a heading of figures has a place for.
pub(super) const KNOWN: [&str; 8] =
    ["value", "game", "method", "interactions", "classes", "features", "groups", "input_names"];

/// Rows on their way to figures.
#[derive(Default)]
pub(super) struct Gathered {
    gathering: Option<Gathering>,
}

impl Gathered {
    /// Adds rows with what holds for all, which is asked for once.
    pub(super) fn add(&mut self, block: &Block, results: impl FnOnce() -> Result<Head>) -> Result<()> {
        let gathering = match self.gathering.take() {
            Some(gathering) => gathering,
            None => {
                let heading = results()?.heading(block);
                let most = heading.usual_rows();
                Gathering::new(heading)?.most_rows(most)
            }
        };
        Ok(self.gathering.insert(gathering).add(batch(block))?)
    }

    /// All rows were added.
    pub(super) fn end(self) -> Result<Explained> {
        Ok(self.gathering.context("there are no rows")?.end())
    }
}

/// What holds for all rows.
pub(crate) enum Head {
    Values(Box<Attributions>),
    Pairs(Box<Interactions>),
}

impl Head {
    fn heading(&self, first: &Block) -> Heading {
        let (results, value): (&dyn Results, &str) = match self {
            Self::Values(of) => (&**of, &of.value),
            Self::Pairs(of) => (&**of, &of.value),
        };
        let facts = results
            .head(first)
            .into_iter()
            .filter(|(name, value)| !KNOWN.contains(name) && !value.is_null())
            .map(|(name, value)| {
                (name.to_owned(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            });
        let heading = Heading {
            value: value.to_owned(),
            is_efficient: value.parse::<SolutionConcept>().is_ok_and(|value| value.is_efficient()),
            facts: facts.collect(),
            ..Heading::default()
        };
        match self {
            Self::Values(of) => of_values(of, heading),
            Self::Pairs(of) => Heading {
                game: of.game.to_owned(),
                method: "tree".to_owned(),
                interactions: Some(if of.form == "index" { Form::Index } else { Form::Remainder }),
                outputs: outputs(of.outputs, of.classes.as_deref()),
                facts: heading.facts,
                value: heading.value,
                is_efficient: heading.is_efficient,
                ..Heading::of_features(of.players.iter().map(String::as_str))
            },
        }
    }
}

fn of_values(of: &Attributions, heading: Heading) -> Heading {
    let groups = of.groups.iter().flatten();
    Heading {
        game: of.game.to_owned(),
        method: of.method.clone(),
        players: of.player_names(),
        features: of.features.clone(),
        members: of.players.clone(),
        categories: match of.categories.is_empty() {
            true => vec![Vec::new(); of.features.len()],
            false => of.categories.clone(),
        },
        outputs: outputs(of.outputs, of.classes.as_deref()),
        groups: groups.map(|group| member(group, &of.features)).collect(),
        ..heading
    }
}

fn outputs(count: usize, classes: Option<&[String]>) -> Vec<String> {
    match classes {
        Some(classes) if classes.len() == count => classes.to_vec(),
        _ => vec![String::new(); count],
    }
}

/// A feature by its name, or what is in a group.
fn member(of: &games::Member, names: &[String]) -> Member {
    match of {
        games::Member::Player(feature) => Member::Feature(names[*feature].clone()),
        games::Member::Group(members) => Member::Group(members.iter().map(|of| member(of, names)).collect()),
    }
}

/// The rows of a block.
fn batch(block: &Block) -> Batch {
    let runs = || block.runs.iter();
    Batch {
        rows: block.rows.iter().map(|&row| row as u64).collect(),
        ids: block.ids.clone(),
        base: block.base.clone(),
        predictions: block.predictions.clone(),
        values: block.values.clone(),
        std_errors: block.std_errors.clone(),
        degrees_of_freedom: runs().map(|run| run.degrees_of_freedom).collect(),
        inputs: block.inputs.clone(),
        evaluations: runs().map(|run| run.evaluations as u64).collect(),
        certificates: runs().map(|run| run.certificate.as_ref().map(apportion::certified)).collect(),
    }
}
