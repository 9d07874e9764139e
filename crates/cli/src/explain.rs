//! `apportion explain`: the contributions of the features to each prediction.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use apportion::estimators::StopRule;
use apportion::values::ValueError;
use apportion::{ExplainError, Explanation, Method, Model, Partition, Rows, Value};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::about::about;
use crate::accuracy;
use crate::args::{Explain, Game, Space};
use crate::background::data_for_groups;
use crate::checkpoint::{Request, Runs, digest_of_file};
use crate::explainer::explainer;
use crate::failure::Usage;
use crate::game;
use crate::graph::GraphOption;
use crate::groups::Groups;
use crate::input::{self, Input};
use crate::interactions;
use crate::model;
use crate::output::{Attribution, Attributions, Destination};
use crate::plan;
use crate::rows;
use crate::select::Selection;
use crate::threads;
use crate::timings::Timings;

pub(crate) fn run(args: &Explain) -> Result<()> {
    let started = Instant::now();
    check(args)?;
    let inputs = [
        Some(args.input.model.path.as_path()),
        Some(args.input.rows.as_path()),
        args.background.as_deref(),
        args.background_compiled.as_deref(),
    ];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
    let with_checkpoint: Vec<&Path> = inputs.iter().copied().chain(args.resume.as_deref()).collect();
    let destination = Destination::new(args.output.out.as_deref(), &with_checkpoint)?;
    let checkpoint = checkpoint_destination(args, &inputs, &destination)?;
    let until = accuracy::until(&args.accuracy)?;
    let input = Input::read(&args.input)?;
    if let Some(form) = args.interactions {
        return interactions::run(args, form, &input, started, &destination);
    }
    let features = model::feature_names(&input.model, &input.table);
    let find =
        |groups: &Groups| groups.partition(&features, &args.clustering, || data_for_groups(args, &input));
    let partition = args.groups.as_ref().map(find).transpose()?;
    let graph = args.graph.as_ref().map(|graph| graph.graph(&features)).transpose()?;
    let value = Value::of(args.value.clone(), partition, graph)
        .map_err(|error| Usage(format!("--value {}: {error}", args.value)))?;
    check_method(args.method, &value)?;
    if value.graph().is_none() {
        value.check(input.table.columns).map_err(|error| Usage(format!("--value: {error}")))?;
    }
    note_what_it_reduces_to(&value);
    let game = game::chosen(args, &input.model);
    let mut explainer = explainer(args, game, &input)?
        .value(value.clone())
        .method(args.method)
        .budget(args.budget.unwrap_or_default())
        .seed(args.seed);
    if let Some(until) = until {
        explainer = explainer.until(until);
    }
    let explicands = input.table.gather(&input.selected);
    let rows = Rows::new(&explicands, input.table.columns);
    let loaded = Instant::now();
    // The oracle is made here, with the threads that were asked for.
    let first = rows.slice(0..rows.len().min(1));
    let plan = threads::run(&args.threads, || explainer.plan(rows.len(), first))??;
    let (method, budget) = plan::agreed(&plan, &value, args.budget, (rows.columns(), "features"))?;
    game::note_what_was_chosen(args, game, &input);

    let progress = ProgressBar::new(input.selected.len() as u64);
    let is_followed = until.is_some() || checkpoint.is_some() || args.resume.is_some();
    let mut runs = None;
    let explanations = if is_followed {
        progress.set_style(style_of_runs()?);
        let request = request(args, game, &input, method, budget, value.groups())?;
        let every = Duration::from_secs(args.checkpoint_every);
        let runs =
            runs.insert(Runs::new(&request, args.resume.as_deref(), checkpoint.as_ref(), every, &progress)?);
        let explanations = threads::run(&args.threads, || explainer.explain_rows_followed(rows, runs))?;
        progress.finish_and_clear();
        match explanations {
            Err(error) => {
                let was_interrupted = runs.was_interrupted();
                runs.keep()?;
                match &args.checkpoint {
                    Some(path) if was_interrupted => bail!(
                        "interrupted; --resume {} goes on from there, with all other options as they were",
                        path.display()
                    ),
                    _ => return Err(error.into()),
                }
            }
            Ok(explanations) => explanations,
        }
    } else {
        threads::run(&args.threads, || explainer.explain_rows_with_progress(rows, &|| progress.inc(1)))??
    };
    progress.finish_and_clear();
    let explained = Instant::now();

    warn_of_undetermined(&explanations);
    warn_of_inaccurate(&explanations);
    let mut results = attributions(args, game, &input, features, &value, (method, budget), explanations);
    results.accuracy = until.as_ref().map(accuracy::words);
    destination.write(|out| results.write(args.output.format, out))?;
    if let Some(runs) = &runs {
        runs.keep()?;
    }

    if args.timings {
        Timings::of(started, loaded, explained).print()?;
    }
    Ok(())
}

/// Where the checkpoint goes, which is no other file of this run. The one that is resumed may be written over.
fn checkpoint_destination(
    args: &Explain,
    inputs: &[&Path],
    results: &Destination,
) -> Result<Option<Destination>> {
    let Some(path) = &args.checkpoint else { return Ok(None) };
    let destination = Destination::of_option("--checkpoint", path, inputs)?;
    if destination.is_file_of(results) {
        return Err(Usage("--checkpoint and --out name the same file; give two".to_owned()).into());
    }
    Ok(Some(destination))
}

/// What a checkpoint has to agree on.
fn request(
    args: &Explain,
    game: Game,
    input: &Input,
    method: Method,
    budget: Option<usize>,
    partition: Option<&Partition>,
) -> Result<Request> {
    let or = |text: Option<String>, otherwise: &str| text.unwrap_or_else(|| otherwise.to_owned());
    let background = match args.background.as_deref().or(args.background_compiled.as_deref()) {
        Some(path) if path == Path::new("mean") => "mean".to_owned(),
        Some(path) => digest_of_file(path)?,
        None => "none".to_owned(),
    };
    let graph = match &args.graph {
        Some(GraphOption::File(path)) => digest_of_file(path)?,
        Some(graph) => in_words(graph)?,
        None => "none".to_owned(),
    };
    let groups = partition.map(|partition| {
        let group = |group: &Vec<usize>| group.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        partition.groups().iter().map(group).collect::<Vec<_>>().join(";")
    });
    let background_rows = args.background_select.as_ref().map(ToString::to_string);
    let said = [
        ("model", digest_of_file(&args.input.model.path)?),
        ("rounds of boosting", format!("{:?}", input.model.rounds())),
        ("file of rows", digest_of_file(&args.input.rows)?),
        ("selection of rows", Selection::of(&input.selected).to_string()),
        ("columns of the rows", in_words(&args.input.columns)?),
        ("background", background),
        ("selection of the background", or(background_rows, "all")),
        ("value", args.value.to_string()),
        ("partition", or(groups, "none")),
        ("graph", graph),
        ("game", game.name().to_owned()),
        ("output", in_words(&args.space)?),
        ("engine", in_words(&args.engine)?),
        ("number of draws", or(args.draws.map(|draws| draws.to_string()), "the default")),
        ("method", method.to_string()),
        ("budget", or(budget.map(|budget| budget.to_string()), "none")),
        ("accuracy", or(accuracy::until(&args.accuracy)?.as_ref().map(accuracy::words), "none")),
        ("seed", args.seed.to_string()),
    ];
    Ok(said.map(|(what, is)| (what.to_owned(), is)).into())
}

/// Options as data, in a line.
fn in_words(options: &impl Serialize) -> Result<String> {
    Ok(match serde_json::to_value(options)? {
        serde_json::Value::String(name) => name,
        options => options.to_string(),
    })
}

/// The bar of runs of which each may take long.
fn style_of_runs() -> Result<ProgressStyle> {
    Ok(ProgressStyle::with_template("{bar:30} row {pos} of {len}, {elapsed}: {msg}")?)
}

/// Says on standard error where a run stopped before its values were accurate enough.
pub(crate) fn warn_of_inaccurate(explanations: &[Explanation]) {
    let certificates = explanations.iter().filter_map(|explanation| explanation.certificate.as_ref());
    let short: Vec<StopRule> = certificates
        .map(|certificate| certificate.stopped_by)
        .filter(|&rule| rule != StopRule::Tolerance)
        .collect();
    let Some(first) = short.first() else { return };
    let (count, all) = (short.len(), explanations.len());
    let what = match first {
        StopRule::Draws => {
            "the draws of the game leave a larger error, and the budget does not pay as many as it takes: give a larger --budget, more --draws, \
             or a larger tolerance"
        }
        StopRule::Looks => "the looks were used up: give a larger tolerance",
        StopRule::NoScale => "there is nothing for a share to be of: give an absolute tolerance",
        _ => "the budget was used up: give a larger --budget, or a larger tolerance",
    };
    eprintln!("warning: {count} of {all} rows: the error is not known to be within the tolerance; {what}");
}

/// Refuses options that contradict each other, before anything is read.
fn check(args: &Explain) -> Result<()> {
    let refuse = |says: String| Err(Usage(says).into());
    input::check(&args.input, args.output.format)?;
    if rows::is_standard_input(&args.input.rows) && (args.checkpoint.is_some() || args.resume.is_some()) {
        return refuse(
            "--rows -: a run can be resumed only with rows that are in a file; give one".to_owned(),
        );
    }
    let (method, value, game) = (args.method, &args.value, game::asked(args).unwrap_or(Game::Marginal));
    if method == Method::Tree && !matches!(game, Game::Marginal | Game::PathDependent) {
        return refuse(format!(
            "--method tree: no oracle plays --game {}; take exact, or a method that samples",
            game.name()
        ));
    }
    if args.interactions.is_some() {
        interactions::check(args)?;
    }
    check_engine(args, game)?;
    let names_clustering = args.clustering.dependence.is_some() || args.clustering.linkage.is_some();
    if names_clustering && !matches!(args.groups, Some(Groups::Auto(_))) {
        return refuse(
            "--dependence and --linkage say how --groups auto finds groups; leave them out".to_owned(),
        );
    }
    match (&args.graph, value.needs_graph()) {
        (None, true) => {
            return refuse(format!(
                "--value {value} is of features on a graph: say which are next to each other by --graph line, --graph \"age,sex;sex,bmi\", …"
            ));
        }
        (Some(_), false) => {
            let error = ValueError::NeedlessGraph { value: value.to_string() };
            return refuse(format!("--graph: {error}"));
        }
        _ => {}
    }
    match (&args.groups, value.needs_partition()) {
        (None, true) => refuse(format!(
            "--value {value} is of features in groups: say which belong together by --groups \"age,sex;bmi\", or have it found by --groups auto"
        )),
        (Some(_), false) => {
            let error = ValueError::NeedlessGroups { value: value.to_string() };
            refuse(format!("--groups: {error}"))
        }
        _ => Ok(()),
    }
}

/// Refuses options of the tree engine where it does not play.
fn check_engine(args: &Explain, game: Game) -> Result<()> {
    let asks_oracle = matches!(args.method, Method::Auto | Method::Tree)
        && matches!(game, Game::Marginal | Game::PathDependent)
        && args.graph.is_none();
    let (is_given, is_compiled) = (args.engine.is_given(), args.background_compiled.is_some());
    let is_behind_link = args.space == Space::Probability;
    let refusals = [
        (
            is_given && !asks_oracle,
            "--kernel and --precision say how the tree oracle computes, which is not asked here; leave them out",
        ),
        (
            is_compiled && (game != Game::Marginal || !asks_oracle),
            "--background-compiled has no rows: it is for --game marginal with the method tree; give the rows by --background",
        ),
        (
            is_compiled && matches!(args.groups, Some(Groups::Auto(_))),
            "--groups auto looks at rows, which --background-compiled has none of; name the groups",
        ),
        (
            is_behind_link && game == Game::PathDependent,
            "--output probability: what trees expect along their paths is defined for margins only; take --game marginal",
        ),
        (
            game == Game::PathDependent && args.background.as_deref() == Some(Path::new("mean")),
            "--game path-dependent counts rows, of which --background mean is none; give a file of rows, or leave it out",
        ),
        (
            is_behind_link && is_compiled,
            "--output probability needs the rows of the background; give them by --background",
        ),
        (
            is_behind_link && is_given,
            "--output probability has one way to be computed; leave --kernel and --precision out",
        ),
    ];
    match refusals.into_iter().find(|(is_so, _)| *is_so) {
        Some((_, says)) => Err(Usage(says.to_owned()).into()),
        None => Ok(()),
    }
}

/// Refuses a method that cannot compute the value.
pub(crate) fn check_method(method: Method, value: &Value) -> Result<()> {
    if method.computes(value) {
        return Ok(());
    }
    let error = ExplainError::Unsupported { method, value: Box::new(value.clone()) };
    Err(Usage(format!("--method {method}, --value {}: {error}", value.concept())).into())
}

/// Says on standard error where the groups make no difference.
fn note_what_it_reduces_to(value: &Value) {
    let Some(partition) = value.groups() else { return };
    let value = value.concept();
    let what = if partition.len() == 1 {
        "all features are one group"
    } else {
        "every feature is a group of its own"
    };
    match value.reduces_to(partition) {
        Some(semivalue) => {
            eprintln!("note: {what}: {value} values are the {semivalue} values of the features")
        }
        None if partition.len() == 1 => {
            eprintln!("note: {what}, which gets all of the prediction less the base")
        }
        None => {}
    }
}

/// Says on standard error where the budget was too small to determine the values.
pub(crate) fn warn_of_undetermined(explanations: &[Explanation]) {
    let short = |explanation: &&Explanation| explanation.diagnostics.rank < explanation.diagnostics.unknowns;
    let undetermined = explanations.iter().filter(short).count();
    if let Some(Explanation { evaluations, diagnostics, .. }) = explanations.iter().find(short) {
        let (rank, unknowns) =
            (diagnostics.rank.unwrap_or_default(), diagnostics.unknowns.unwrap_or_default());
        eprintln!(
            "warning: {undetermined} of {} rows: {evaluations} evaluations determine {rank} of {unknowns} unknowns; the values are \
             those of least norm and may be far off: give a larger --budget (5n or more)",
            explanations.len()
        );
    }
}

/// The explanations of the selected rows, with what a reader of them must know.
fn attributions(
    args: &Explain,
    game: Game,
    input: &Input,
    features: Vec<String>,
    value: &Value,
    (method, budget): (Method, Option<usize>),
    explanations: Vec<Explanation>,
) -> Attributions {
    let attribution = |(&row, explanation): (&usize, Explanation)| Attribution {
        row,
        id: input.table.ids.as_ref().map(|ids| ids.values[row].clone()),
        explicand: input.table.row(row).to_vec(),
        explanation,
    };
    Attributions {
        value: value.concept().to_string(),
        game: game.name(),
        method: method.name().to_owned(),
        budget,
        accuracy: None,
        seed: args.seed,
        players: players(value, features.len()),
        groups: value.groups().map(|groups| groups.groups().to_vec()),
        about: about(args, game, input),
        categories: (0..features.len()).map(|feature| model::categories(&input.model, feature)).collect(),
        features,
        outputs: input.model.outputs(),
        rows: input.selected.iter().zip(explanations).map(attribution).collect(),
    }
}

/// The features of each player: of quotient values players are the groups.
fn players(value: &Value, features: usize) -> Vec<Vec<usize>> {
    match value {
        Value::Quotient(_, groups) => groups.groups().to_vec(),
        _ => (0..features).map(|feature| vec![feature]).collect(),
    }
}
