//! `apportion explain --interactions=INDEX --order S`: interaction indices of coalitions of features.

use std::time::Instant;

use anyhow::Result;
use apportion::estimators::methods;
use apportion::options::Options;
use apportion::values::interactions::MAX_INTERACTIONS;
use apportion::values::{InteractionIndex, Interactions};
use apportion::{Method, Partition, Rows, SolutionConcept};
use apportion_files::Destination;
use apportion_results::{self as results, Heading, Indices};

use super::about::{about, named};
use super::class::{self, Classes};
use super::explainer::{ConfiguredExplainer, explainer};
use super::game;
use super::stream;
use super::threads;
use crate::failure::Usage;
use crate::parse::args::{self, Explain};
use crate::parse::groups::Groups;
use crate::read::background::{self, BackgroundDescription};
use crate::read::groups::names_of_groups;
use crate::read::input::{Batch, Batches, Input};
use crate::write::timings::Timings;

/// The default of `--order`.
const ORDER: usize = 2;

/// Returns the requested interaction index and its order, or `None` for a matrix of pairs or for values.
pub(crate) fn requested_index(args: &Explain) -> Result<Option<(InteractionIndex, usize)>> {
    let refuse = |says: &str| Err(Usage(says.to_owned()).into());
    let order = args.order.unwrap_or(ORDER);
    match (&args.interactions, &args.value, args.order) {
        (None, ..) | (Some(args::Interactions::Index | args::Interactions::Remainder), _, None) => Ok(None),
        (Some(args::Interactions::Remainder), ..) => refuse(
            "--interactions=remainder cannot be combined with --order; remove --order, or use \
                 --interactions=k-shapley",
        ),
        (Some(args::Interactions::Of(index)), value, _) => match value {
            SolutionConcept::Semivalue(of) | SolutionConcept::Quotient(of)
                if *of == apportion::Semivalue::Shapley =>
            {
                Ok(Some((index.clone(), order)))
            }
            _ => refuse(
                "--interactions with an index cannot be combined with --value, except quotient-shapley for \
                 groups; remove --value",
            ),
        },
        (Some(args::Interactions::Index), value, _) => match value {
            SolutionConcept::Semivalue(of) | SolutionConcept::Quotient(of) => {
                Ok(Some((of.clone().into(), order)))
            }
            _ => refuse(
                "--order requires a semivalue in --value (shapley, banzhaf, …), or quotient-NAME for groups",
            ),
        },
    }
}

/// Returns the number of nonempty coalitions of up to `order` features, but at most [`MAX_INTERACTIONS`],
/// divided by the number of features and rounded up.
pub(crate) fn coalitions_of_one(features: usize, order: usize) -> usize {
    let of_size =
        |size: usize| (1..=size).fold(1.0, |ways, k| ways * (features as f64 - k as f64 + 1.0) / k as f64);
    let all: f64 = (1..=order.min(features)).map(of_size).sum();
    (all.min(MAX_INTERACTIONS as f64) / features.max(1) as f64).ceil() as usize
}

/// Returns an error for options that cannot be combined, before anything is read.
pub(crate) fn check(args: &Explain) -> Result<()> {
    let refuse = |says: &str| Err(Usage(says.to_owned()).into());
    let samples = args.accuracy.until.is_some();
    let follows = args.checkpoint.is_some() || args.resume.is_some();
    match () {
        () if !(matches!(args.method, Method::Auto | Method::Tree | Method::Exact | Method::Table)
            || args.method == Method::By(&methods::LEARNED_SPECTRUM)) =>
        {
            refuse(
                "interaction indices require --method tree, exact (all coalitions), learned-spectrum or \
                 table (estimates); remove --method",
            )
        }
        () if args.summary => {
            refuse("interaction indices cannot be combined with --summary; remove --summary")
        }
        () if args.plot.is_some() || args.report.is_some() => refuse(
            "interaction indices cannot be combined with --plot or --report; remove them, or use \
             --interactions=index without --order",
        ),
        () if args.output.format.is_of_numbers_alone() => {
            refuse("--format npy and npz do not support interaction indices; use json, csv or table")
        }
        () if samples || follows => refuse(
            "interaction indices are exact, or estimated from --budget evaluations; remove --until, \
             --checkpoint and --resume",
        ),
        () => Ok(()),
    }
}

/// Explains the selected rows and writes the indices.
pub(crate) fn run(
    (args, options, index, order): (&Explain, &Options, &InteractionIndex, usize),
    input: &Input,
    batches: &mut Batches,
    started: Instant,
    destination: &Destination,
) -> Result<()> {
    let loaded = Instant::now();
    let features = &input.features;
    let data = || background::data_for_groups(args, input);
    let find = |groups: &Groups| groups.partition(features, &args.clustering, data);
    let partition = args.groups.as_ref().map(find).transpose()?;
    let players = partition.as_ref().map_or(input.columns, Partition::len);
    // Check the weights and the order for this number of players before any work.
    index.weights(order, players).map_err(|error| Usage(format!("--interactions {index}: {error}")))?;
    let outputs = input.model.outputs();
    let classes = input.model.classes();
    let of_model = Classes::new(&input.model);
    let class = of_model.output(args.class.as_deref())?.or(of_model.output_of_rows(&args.space)?);
    let game = game::chosen(args, &input.model);
    let ConfiguredExplainer { explainer, background } = explainer(args, options, game, input)?;
    let explainer = explainer.method(args.method).budget(args.budget.unwrap_or_default()).seed(args.seed);
    game::note_what_was_chosen(args, game, input);
    let pool = threads::pool(&args.threads)?;
    let results = |first: &results::Batch| {
        let mut about = about(args, game, input);
        about.extend(background.iter().flat_map(BackgroundDescription::about));
        about.extend(class.map(|class| ("class", class::shown(class, classes.as_deref()))));
        let players = match &partition {
            Some(partition) => names_of_groups(partition.groups(), features),
            None => features.clone(),
        };
        let has_errors = first.has_errors();
        Ok(Indices {
            heading: Heading {
                value: index.to_string(),
                game: game.name().to_owned(),
                method: if has_errors {
                    args.method.of_indices(true).name().to_owned()
                } else {
                    String::new()
                },
                is_efficient: false,
                facts: named(about),
                outputs: match class {
                    Some(_) => vec![String::new()],
                    None => classes.clone().unwrap_or_else(|| vec![String::new(); outputs]),
                },
                ..Heading::for_features(players)
            },
            order,
            has_ids: first.ids.is_some(),
            has_errors,
            top: args.top,
        })
    };
    let compute = |batch: Batch| -> Result<results::Batch> {
        let rows = Rows::new(&batch.values, input.columns);
        let found = pool.install(|| explainer.indices(index, order, partition.as_ref(), rows))?;
        let block = results::Batch { rows: batch.rows, ids: batch.ids, ..block(&found) };
        Ok(match class {
            Some(class) => block.of_output(class, outputs),
            None => block,
        })
    };
    let explained = stream::write(&pool, (destination, args.output.format), batches, results, compute)?;
    if args.timings {
        Timings::since(started, loaded, explained).print()?;
    }
    Ok(())
}

/// Collects the indices of all rows into a batch; all rows have the same coalitions. The empty coalition is
/// included if its index differs from the base value.
fn block(found: &[Interactions]) -> results::Batch {
    let mut block = results::Batch::default();
    let has_own_constant = found.iter().any(|row| row.constant() != row.base());
    if let Some(first) = found.first() {
        block.coalitions.extend(has_own_constant.then(Vec::new));
        block.coalitions.extend(first.coalitions().iter().map(|coalition| coalition.members().collect()));
    }
    for row in found {
        block.base.extend(row.base());
        block.predictions.extend(row.predictions());
        if has_own_constant {
            block.values.extend(row.constant());
        }
        // Indices without an error and the index of the empty coalition are exact, so their error is 0.
        block.std_errors.resize(block.values.len(), 0.0);
        block.values.extend(row.values());
        block.std_errors.extend(row.std_errors().unwrap_or_default());
        block.std_errors.resize(block.values.len(), 0.0);
    }
    block
}

#[cfg(test)]
mod tests {
    use apportion::Semivalue;
    use apportion::games::Coalitions;

    use super::*;

    #[test]
    fn each_index_has_an_error_that_is_zero_where_it_is_exact() {
        let found = |constant: f64| {
            let mut coalitions = Coalitions::new(2);
            coalitions.push_members([0]);
            coalitions.push_members([0, 1]);
            let index = (Semivalue::Shapley.into(), 2);
            Interactions::new(index, coalitions, vec![1.0, 2.0], vec![0.0], vec![3.0])
                .with_constant(vec![constant])
        };
        let estimates = [found(0.0).with_std_errors(vec![0.5, 0.25]), found(0.0)];
        assert_eq!(block(&estimates).std_errors, [0.5, 0.25, 0.0, 0.0]);
        // The index of the empty coalition, 7, differs from the base value, 0.
        let with_constants = [found(7.0), found(7.0).with_std_errors(vec![0.5, 0.25])];
        let block = block(&with_constants);
        assert_eq!(block.std_errors, [0.0, 0.0, 0.0, 0.0, 0.5, 0.25]);
        assert_eq!(block.values.len(), block.std_errors.len());
    }
}
