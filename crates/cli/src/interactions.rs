//! `apportion explain --interactions`: what pairs of features contribute together.

use std::time::Instant;

use anyhow::Result;
use apportion::{Method, Rows, SolutionConcept, Value};

use crate::about::about;
use crate::args::{self, Explain, Game, Space};
use crate::background;
use crate::explainer::explainer;
use crate::failure::Usage;
use crate::groups::Groups;
use crate::input::Input;
use crate::output::{Destination, Interactions};
use crate::timings::Timings;
use crate::{game, model, rows, threads};

/// Refuses what does not go together, before anything is read.
pub(crate) fn check(args: &Explain) -> Result<()> {
    let refuse = |says: &str| Err(Usage(format!("--interactions: {says}")).into());
    let samples = args.accuracy.until.is_some() || args.budget.is_some();
    let follows = args.checkpoint.is_some() || args.resume.is_some();
    match () {
        () if !matches!(args.method, Method::Auto | Method::Tree) => {
            refuse("only the tree oracle computes them; leave --method out")
        }
        () if !matches!(args.game, None | Some(Game::Marginal | Game::PathDependent)) => {
            refuse("they are exact, of --game marginal or path-dependent")
        }
        () if args.space == Space::Probability => refuse("they are of margins; leave --output out"),
        () if samples || follows => {
            refuse("they are exact and quick: leave budget, accuracy and checkpoints out")
        }
        () => match args.value {
            SolutionConcept::Semivalue(_) | SolutionConcept::Quotient(_) => Ok(()),
            _ => Err(not_of_pairs().into()),
        },
    }
}

fn not_of_pairs() -> Usage {
    Usage(
        "--interactions: they are of semivalues of features (shapley, banzhaf, …) or of groups (quotient-shapley, …)"
            .to_owned(),
    )
}

/// Explains the rows that `input` selects, and writes the matrices.
pub(crate) fn run(
    args: &Explain,
    form: args::Interactions,
    input: &Input,
    started: Instant,
    destination: &Destination,
) -> Result<()> {
    let loaded = Instant::now();
    let features = model::feature_names(&input.model, &input.table);
    let data = || background::data_for_groups(args, input);
    let find = |groups: &Groups| groups.partition(&features, &args.clustering, data);
    let partition = args.groups.as_ref().map(find).transpose()?;
    args.value
        .check(input.table.columns, partition.as_ref())
        .map_err(|error| Usage(format!("--value: {error}")))?;
    let explicands = input.table.gather(&input.selected);
    let explicands = Rows::new(&explicands, input.table.columns);
    let value = match (&args.value, &partition) {
        (SolutionConcept::Quotient(value), Some(partition)) => {
            Value::quotient(value.clone(), partition.clone())
        }
        (SolutionConcept::Semivalue(value), _) => value.clone().into(),
        _ => return Err(not_of_pairs().into()),
    };
    let game = game::chosen(args, &input.model);
    let explainer = explainer(args, game, input)?.value(value);
    let found = threads::run(&args.threads, || explainer.interactions(form.diagonal(), explicands))??;
    game::note_what_was_chosen(args, game, input);
    let explained = Instant::now();
    let results = Interactions {
        value: args.value.to_string(),
        game: game.name(),
        about: about(args, game, input),
        form: form.name(),
        players: match (&partition, &args.value) {
            (Some(partition), SolutionConcept::Quotient(_)) => {
                let names = |group: &Vec<usize>| {
                    group.iter().map(|&feature| features[feature].as_str()).collect::<Vec<_>>()
                };
                partition.groups().iter().map(|group| names(group).join(",")).collect()
            }
            _ => features,
        },
        outputs: input.model.output_count(),
        ids: rows::ids_of(&input.table, &input.selected),
        rows: input.selected.clone(),
        base: found.base,
        predictions: found.predictions,
        values: found.values,
    };
    destination.write(|out| results.write(args.output.format, out))?;
    if args.timings {
        Timings::of(started, loaded, explained).print()?;
    }
    Ok(())
}
