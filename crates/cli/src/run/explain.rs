//! `apportion explain`: attributions of the features for each prediction.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use apportion::games::GameError;
use apportion::options::{self, OptionError, Options};
use apportion::{
    Budget, Cancelled, Checkpoint, Ends, ExplainError, Explainer, Explanation, Method, Model, Progress, Rows,
    RunObserver, Until, Value,
};
use apportion_files::{CheckpointFile, Destination, FileError, Key, digest};
use apportion_results::{self as results, Heading, Values};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::about::{about, facts};
use super::checkpoint::Runs;
use super::class::{self, Classes};
use super::explainer::{ConfiguredExplainer, explainer};
use super::game;
use super::indices;
use super::interactions;
use super::plan;
use super::stream;
use super::threads;
use crate::failure::Usage;
use crate::interrupt;
use crate::messages;
use crate::option_error::usage;
use crate::parse::args::{Explain, Game};
use crate::parse::graph::GraphOption;
use crate::parse::groups::Groups;
use crate::read::background::{BackgroundDescription, data_for_groups};
use crate::read::digest::digest_of_file;
use crate::read::groups::{self, names_of_groups};
use crate::read::input::{self, Batch, Input, check_for_game, check_for_model};
use crate::read::model::{AnyModel, RowTexts};
use crate::read::rows;
use crate::write::pictures::PictureRequest;
use crate::write::timings::Timings;
use crate::write::warnings::Warnings;

/// The maximum number of rows from which the table method learns a surrogate, if a table has several batches.
const LEARNING_ROWS: usize = 1000;

pub(crate) fn run(args: &Explain) -> Result<()> {
    let started = Instant::now();
    let mut options = args.options()?;
    check(args, &options)?;
    let inputs = inputs(args);
    let with_checkpoint: Vec<&Path> = inputs.iter().copied().chain(args.resume.as_deref()).collect();
    let destination = Destination::new(args.output.out.as_deref(), &with_checkpoint)?;
    let checkpoint = checkpoint_destination(args, &inputs, &destination)?;
    let mut wanted = PictureRequest::new(args, &with_checkpoint, &destination, checkpoint.as_ref())?;
    let until = options.accuracy.until().map_err(usage)?;
    let pairs = args.interactions.is_some();
    let indices = indices::requested_index(args)?;
    let numbers = |model: &AnyModel, features: usize| {
        let lines = match &indices {
            Some((_, order)) => indices::coalitions_of_one(features, *order),
            None if pairs => features,
            None => 1,
        };
        features.saturating_mul(lines).saturating_mul(model.outputs())
    };
    let (input, mut batches) = Input::read(&args.input, numbers)?;
    if let Some((index, order)) = indices {
        return indices::run((args, &options, &index, order), &input, &mut batches, started, &destination);
    }
    if let Some(form) = &args.interactions {
        return interactions::run(
            (args, &options, form),
            &input,
            &mut batches,
            started,
            (&destination, wanted),
        );
    }
    let find = |groups: &Groups| {
        groups.structure(&input.features, &args.clustering, || data_for_groups(args, &input))
    };
    options.groups = args.groups.as_ref().map(find).transpose()?.map(options::Groups::Structure);
    options.graph = args.graph.as_ref().map(|graph| graph.read(&input.features)).transpose()?;
    let value = options.value(&input.features).map_err(|error| match error {
        OptionError::Value(error) => Usage(format!("--value {}: {error}", args.value)).into(),
        error => usage(error),
    })?;
    check_method(args.method, &value)?;
    if value.graph().is_none() {
        value.check(input.columns).map_err(|error| Usage(format!("--value {}: {error}", args.value)))?;
    }
    note_what_it_reduces_to(&value);
    let classes = input.model.classes();
    let of_model = Classes::new(&input.model);
    // If there are several losses, only the loss for the specified class is explained.
    let class = of_model.output(args.class.as_deref())?.or(of_model.output_of_rows(&args.space)?);
    let game = game::chosen(args, &input.model);
    let ConfiguredExplainer { explainer, background } = explainer(args, &options, game, &input)?;
    options.engine.rows = batches.rows_of_each();
    let explainer = options.explainer(explainer, value.clone()).map_err(usage)?;
    let pool = threads::pool(&args.threads)?;
    let loaded = Instant::now();
    // Planning prepares the exact method, so it runs in the pool.
    let (count, first) = batches.sample();
    let plan = pool.install(|| explainer.plan(count, first))?;
    plan::check(&plan, args.budget, "feature")?;
    let (method, budget) = (plan.method, plan.budget);
    game::note_what_was_chosen(args, game, &input);
    let explainer = if explainer.explains_rows_together() && batches.rows_of_each().is_some() {
        let sample = batches.first(LEARNING_ROWS);
        let name = |row: usize| format!("row {row}");
        check_for_model(&input, sample, name)?;
        messages::note(format_args!(
            "the rows are read in several batches, so the surrogate of method table is learned from the \
             first {} rows",
            sample.len()
        ));
        let surrogate = pool.install(|| explainer.learn(sample))?;
        explainer.surrogate(Arc::new(surrogate))
    } else {
        explainer
    };

    let progress = progress(batches.count());
    let is_followed = until.is_some() || checkpoint.is_some() || args.resume.is_some();
    let runs = match is_followed {
        true => {
            progress.set_style(style_of_runs(batches.count())?);
            let mut run = options.clone();
            run.game = Some(game);
            // Keep the method and the budget of the options for the table method. Its budget determines a
            // number of rows instead of evaluations, and the automatic method learns a different surrogate.
            if method != Method::Table {
                (run.method, run.budget) = (method, budget.map(Budget::Evaluations));
            }
            (run.groups, run.engine.rows) = (options::Groups::from_value(&value), None);
            let key = key(args, &run, &input)?;
            let every = Duration::from_secs(args.checkpoint_every);
            Some(Runs::new(&key, args.resume.as_deref(), checkpoint.as_ref(), every, &progress)?)
        }
        false => None,
    };
    let (mut warnings, mut before) = (Warnings::default(), 0);
    let outputs = input.model.outputs();
    // The other method with the same estimator and draws, if any; known once rows have been explained.
    let same_as = OnceLock::new();
    let results = |first: &results::Batch| -> Result<Values> {
        let mut about = about(args, game, &input);
        about.extend(background.iter().flat_map(BackgroundDescription::about));
        about.extend(class.map(|class| ("class", class::shown(class, classes.as_deref()))));
        let accuracy = until.as_ref().map(Until::words);
        let same_as = same_as.get().cloned().flatten();
        let members = members(&value, input.columns);
        Ok(Values {
            heading: Heading {
                value: value.concept().to_string(),
                game: game.name().to_owned(),
                method: method.name().to_owned(),
                is_efficient: value.concept().is_efficient(),
                facts: facts(same_as, budget, accuracy, args.seed, about),
                players: names_of_groups(&members, &input.features),
                features: input.features.clone(),
                members,
                categories: (0..input.columns).map(|feature| input.model.categories(feature)).collect(),
                outputs: match class {
                    Some(_) => vec![String::new()],
                    None => classes.clone().unwrap_or_else(|| vec![String::new(); outputs]),
                },
                groups: groups::members(&value)
                    .map_or_else(Vec::new, |of| groups::named(&of, &input.features)),
                ..Heading::default()
            },
            category_names: input.model.texts().cloned().map(|texts| Arc::new(RowTexts(texts)) as _),
            has_ids: first.ids.is_some(),
            has_inputs: true,
            has_errors: budget.is_some() || first.has_errors(),
            has_certificates: until.is_some(),
            top: args.top,
        })
    };
    let are_written = wanted.are_results_written();
    let mut stored = Stored::new(runs.as_ref(), &input);
    let compute = |batch: Batch| -> Result<results::Batch> {
        let rows = Rows::new(&batch.values, input.columns);
        let name = |row: usize| format!("row {}", batch.rows[row]);
        check_for_model(&input, rows, name)?;
        check_for_game(&input, game, rows, name)?;
        stored.check(args, &explainer, input.model.as_model(), rows, before)?;
        let exact = match is_followed {
            true => None,
            false => pool.install(|| explainer.exact(rows))?,
        };
        let mut found = if let Some(exact) = exact {
            progress.inc(rows.len() as u64);
            results::Batch {
                base: exact.base.repeat(rows.len()),
                predictions: exact.predictions,
                values: exact.values,
                ..results::Batch::default()
            }
        } else {
            let explained = pool.install(|| match &runs {
                Some(runs) => interrupt::cancellation()
                    .run(|| explainer.explain_rows_followed(rows, &OffsetRuns { observer: runs, before }))
                    .unwrap_or_else(|Cancelled| Err(GameError::Interrupted { evaluations: 0 }.into())),
                None => explainer.explain_rows_with_progress(rows, &|| progress.inc(1)),
            });
            let explanations = match (explained, &runs) {
                (Err(error), Some(runs)) => return Err(interrupted(args, runs, error)),
                (explained, _) => explained?,
            };
            warnings.add(&explanations);
            same_as.get_or_init(|| explanations.first().and_then(|first| first.diagnostics.same_as.clone()));
            apportion::batch(explanations)
        };
        before += rows.len();
        (found.rows, found.ids, found.inputs) = (batch.rows, batch.ids, batch.values);
        if let Some(class) = class {
            found = found.of_output(class, outputs);
        }
        wanted.add(&found, || Ok(results(&found)?.heading))?;
        Ok(found)
    };
    let target = (&destination, args.output.format);
    let explained = match (are_written, args.summary) {
        (false, _) => stream::each(&mut batches, compute),
        (true, true) => stream::summarize(&pool, target, &mut batches, results, compute),
        (true, false) => stream::write(&pool, target, &mut batches, results, compute),
    };
    progress.finish_and_clear();
    warnings.print();
    input.model.note_restarts();
    // Save the finished rows even if writing the results failed.
    if let Some(runs) = &runs {
        runs.keep()?;
    }
    let explained = explained?;
    wanted.draw(&destination, explained - loaded)?;
    if args.timings {
        Timings::since(started, loaded, explained).print()?;
    }
    Ok(())
}

/// Returns the paths of all input files.
fn inputs(args: &Explain) -> Vec<&Path> {
    let graph = args.graph.as_ref().and_then(GraphOption::path);
    let groups = match &args.groups {
        Some(Groups::File(path)) => Some(path.as_path()),
        _ => None,
    };
    let background = [args.background.as_deref(), args.background_compiled.as_deref()];
    let model_and_rows = [args.input.model.path.as_deref(), Some(args.input.rows.as_path())];
    model_and_rows.into_iter().chain(background).chain([graph, groups]).flatten().collect()
}

/// An observer of one batch, which starts after `before` rows.
struct OffsetRuns<'a, 'r> {
    observer: &'a Runs<'r>,
    before: usize,
}

impl RunObserver for OffsetRuns<'_, '_> {
    fn load_result(&self, row: usize) -> Option<Explanation> {
        self.observer.load_result(self.before + row)
    }

    fn load_checkpoint(&self, row: usize) -> Option<Checkpoint> {
        self.observer.load_checkpoint(self.before + row)
    }

    fn on_row_start(&self, row: usize) -> ControlFlow<()> {
        self.observer.on_row_start(self.before + row)
    }

    fn on_progress(&self, row: usize, progress: &Progress<'_>) -> ControlFlow<()> {
        self.observer.on_progress(self.before + row, progress)
    }

    fn on_row_done(&self, row: usize, explanation: &Explanation) {
        self.observer.on_row_done(self.before + row, explanation);
    }
}

/// Saves the rows finished before a failure, and returns the error to report.
fn interrupted(args: &Explain, runs: &Runs<'_>, error: ExplainError) -> anyhow::Error {
    let was_interrupted = interrupt::was_interrupted();
    if let Err(error) = runs.keep() {
        return error.into();
    }
    match &args.checkpoint {
        Some(path) if was_interrupted => {
            anyhow!("interrupted; to continue, pass --resume {} and the same other options", path.display())
        }
        _ => error.into(),
    }
}

/// Returns a progress bar for this number of rows, or a counter if the number is unknown.
fn progress(rows: Option<usize>) -> ProgressBar {
    match rows {
        Some(rows) => ProgressBar::new(rows as u64),
        None => ProgressBar::no_length(),
    }
}

/// Returns the destination of the checkpoint, which must differ from all other files of this run. The
/// checkpoint that is resumed may be overwritten.
fn checkpoint_destination(
    args: &Explain,
    inputs: &[&Path],
    results: &Destination,
) -> Result<Option<Destination>> {
    let Some(path) = &args.checkpoint else { return Ok(None) };
    let destination = Destination::from_option("--checkpoint", path, inputs)?;
    if destination.is_file_of(results) {
        return Err(Usage("--checkpoint and --out name the same file; use different files".to_owned()).into());
    }
    let resume = args.resume.as_deref().map(|path| ("--resume", path));
    CheckpointFile::check(&destination, resume)?;
    Ok(Some(destination))
}

/// Returns everything that determines the results; a checkpoint can be resumed only with the same key.
/// `options` contains the chosen game, method, budget and groups.
fn key(args: &Explain, options: &Options, input: &Input) -> Result<Key> {
    let or = |text: Option<String>, otherwise: &str| text.unwrap_or_else(|| otherwise.to_owned());
    let background = match args.background.as_deref().or(args.background_compiled.as_deref()) {
        Some(path) if path == Path::new("mean") => "mean".to_owned(),
        Some(path) => digest_of_file(path)?,
        None => "none".to_owned(),
    };
    let model = match (&args.input.model.path, &args.input.model.program.command) {
        (Some(path), _) => digest_of_file(path)?,
        (None, command) => program(command.as_deref().unwrap_or_default()),
    };
    let rounds = input.model.trees().map(|trees| format!("{:?}", trees.rounds()));
    let background_rows = args.background_select.as_ref().map(ToString::to_string);
    let more = [
        (
            "output of the network",
            args.input.model.output().unwrap_or("the one that is explained").to_owned(),
        ),
        ("boosting rounds", or(rounds, "none")),
        ("selection of rows", or(args.input.select.as_ref().map(ToString::to_string), "all")),
        ("columns of the rows", in_words(&args.input.columns)?),
        ("selection of the background", or(background_rows, "all")),
    ];
    let [value, groups, graph, game, output, engine, distribution, method, budget, accuracy, seed] =
        options.key().map_err(usage)?.map(|(_, words)| words);
    Ok(Key {
        model,
        rows: digest_of_file(&args.input.rows)?,
        background,
        value,
        groups,
        graph: match args.graph.as_ref().and_then(GraphOption::path) {
            Some(path) => digest_of_file(path)?,
            None => graph,
        },
        game,
        output,
        engine,
        distribution,
        method,
        budget,
        accuracy,
        seed,
        more: more.map(|(name, part)| (name.to_owned(), part)).into(),
    })
}

/// Identifies a program by its command: the digest of the command, which may contain secrets, and the digests
/// of the files named in it.
fn program(command: &str) -> String {
    let files =
        digest::digest_files_in(command).into_iter().map(|(name, digest)| format!(", {name} {digest}"));
    format!("program {}{}", digest::digest_bytes(command.as_bytes()), files.collect::<String>())
}

/// Explanations in a checkpoint that are compared with predictions of the current program before they are
/// reused. The program may depend on more than the files named in its command.
struct Stored<'a> {
    rows: Vec<(usize, &'a Explanation)>,
    /// Whether the base value has been compared, which requires a prediction for each background row.
    has_base: bool,
}

impl<'a> Stored<'a> {
    /// The number of rows to compare.
    const ROWS: usize = 20;
    /// The maximum difference between predictions, relative to the larger one. Some programs sum in varying
    /// order.
    const TOLERANCE: f64 = 1e-9;

    fn new(runs: Option<&'a Runs<'_>>, input: &Input) -> Self {
        let rows = match (runs, &*input.model) {
            (Some(runs), AnyModel::Program(_)) => runs.finished_rows().take(Self::ROWS).collect(),
            _ => Vec::new(),
        };
        Self { rows, has_base: false }
    }

    /// Compares the stored rows in a batch that starts after `before` rows.
    fn check(
        &mut self,
        args: &Explain,
        explainer: &Explainer<'_>,
        model: &dyn Model,
        rows: Rows<'_>,
        before: usize,
    ) -> Result<()> {
        let is_of_batch = |(row, _): &(usize, &Explanation)| (before..before + rows.len()).contains(row);
        for (row, explanation) in self.rows.extract_if(.., |row| is_of_batch(row)) {
            let explicand = rows.row(row - before);
            let (base, prediction) = if self.has_base {
                let mut prediction = vec![0.0; model.outputs()];
                model
                    .predict(Rows::new(explicand, explicand.len()), &mut prediction)
                    .map_err(|error| anyhow!(error))?;
                (None, prediction)
            } else {
                let Ends { base, prediction } = explainer.ends(explicand)?;
                (base, prediction)
            };
            self.has_base = true;
            let pairs = base.iter().flatten().zip(&explanation.base);
            for (&given, &stored) in pairs.chain(prediction.iter().zip(&explanation.prediction)) {
                if (given - stored).abs() > Self::TOLERANCE * given.abs().max(stored.abs()) {
                    let what = args
                        .resume
                        .as_ref()
                        .map_or_else(String::new, |path| format!("--resume {}", path.display()));
                    return Err(FileError::OtherModel { what, row, stored, actual: given }.into());
                }
            }
        }
        Ok(())
    }
}

/// Formats options as JSON on one line, or a single name without quotes.
fn in_words(options: &impl Serialize) -> Result<String> {
    Ok(match serde_json::to_value(options)? {
        serde_json::Value::String(name) => name,
        options => options.to_string(),
    })
}

/// Returns the style of the progress bar for runs in which a single row may take long.
fn style_of_runs(rows: Option<usize>) -> Result<ProgressStyle> {
    let of = if rows.is_some() { " of {len}" } else { "" };
    Ok(ProgressStyle::with_template(&format!("{{bar:30}} row {{pos}}{of}, {{elapsed}}: {{msg}}"))?)
}

/// Returns an error for options that contradict each other, before anything is read.
fn check(args: &Explain, options: &Options) -> Result<()> {
    let refuse = |says: String| Err(Usage(says).into());
    input::check(&args.input, args.output.format)?;
    if rows::is_standard_input(&args.input.rows) && (args.checkpoint.is_some() || args.resume.is_some()) {
        return refuse(
            "--checkpoint and --resume cannot be combined with --rows -, because standard input cannot be \
             read again; pass a file to --rows"
                .to_owned(),
        );
    }
    if args.checkpoint.is_some() || args.resume.is_some() {
        check_files(&inputs(args))?;
    }
    if args.output.format.is_of_numbers_alone() {
        let given = [(args.summary, "--summary"), (args.top.is_some(), "--top")];
        if let Some((_, option)) = given.into_iter().find(|(is_given, _)| *is_given) {
            return refuse(format!(
                "{option} cannot be combined with --format npy or npz, which store the values of all rows \
                 and features"
            ));
        }
    }
    let (method, value, game) =
        (args.method, &args.value, game::requested_game(args).unwrap_or(Game::Marginal));
    if method == Method::Tree && !matches!(game, Game::Marginal | Game::PathDependent) {
        return refuse(format!(
            "--method tree does not support --game {}; use --method exact or a sampling method",
            game.name()
        ));
    }
    match indices::requested_index(args)? {
        Some(_) => indices::check(args)?,
        None if args.interactions.is_some() => interactions::check(args)?,
        None => {}
    }
    check_engine(args, options, game)?;
    let names_clustering = args.clustering.dependence.is_some() || args.clustering.linkage.is_some();
    let are_groups_found = args.groups.as_ref().is_some_and(Groups::are_found);
    if names_clustering && !are_groups_found {
        return refuse("--dependence and --linkage require --groups auto".to_owned());
    }
    match (&args.graph, value.needs_graph()) {
        (None, true) => {
            return refuse(format!(
                "--value {value} requires --graph, e.g. --graph line or --graph \"age,sex;sex,bmi\""
            ));
        }
        (Some(_), false) => {
            return refuse(format!(
                "--value {value} cannot be combined with --graph; remove --graph, or use --value \
                 l-shapley=K, c-shapley=K or myerson"
            ));
        }
        _ => {}
    }
    match (&args.groups, value.needs_partition()) {
        (None, true) => refuse(format!(
            "--value {value} requires --groups, e.g. --groups \"age,sex;bmi\" or --groups auto"
        )),
        (Some(_), false) => refuse(format!(
            "--value {value} cannot be combined with --groups; remove --groups, or use --value owen, \
             banzhaf-owen, two-step or quotient-shapley"
        )),
        _ => Ok(()),
    }
}

/// Returns an error for inputs that can be read only once: a resumed run could not verify that they are the
/// same.
fn check_files(inputs: &[&Path]) -> Result<()> {
    let is_file = |path: &Path| std::fs::metadata(path).map_or(true, |metadata| metadata.is_file());
    match inputs.iter().find(|path| !is_file(path)) {
        None => Ok(()),
        Some(path) => Err(Usage(format!(
            "the inputs of a run with --checkpoint or --resume must be regular files, but {} is not one; \
             save its contents to a file first",
            path.display()
        ))
        .into()),
    }
}

/// Returns an error for options of the tree method if it is not used or does not support them.
fn check_engine(args: &Explain, options: &Options, game: Game) -> Result<()> {
    let asks_tree_explainer = matches!(args.method, Method::Auto | Method::Tree)
        && matches!(game, Game::Marginal | Game::PathDependent)
        && args.graph.is_none();
    let (is_given, is_compiled) = (options.engine.is_given(), args.background_compiled.is_some());
    let (is_behind_link, space) = (args.space.is_behind_link(), args.space.to_string());
    if args.space.class().is_some() && args.class.is_some() {
        return Err(Usage(format!(
            "--class cannot be combined with --output {space}, which sets the class; remove --class"
        ))
        .into());
    }
    let refusals = [
        (is_given && !asks_tree_explainer, "--kernel and --precision only apply to --method tree".to_owned()),
        (
            is_compiled && (game != Game::Marginal || !asks_tree_explainer),
            "--background-compiled requires --game marginal and --method tree; otherwise pass rows with \
             --background"
                .to_owned(),
        ),
        (
            is_compiled && args.groups.as_ref().is_some_and(Groups::are_found),
            "--groups auto cannot be combined with --background-compiled, which stores no rows to find \
             groups in; list the groups"
                .to_owned(),
        ),
        (
            is_behind_link && game == Game::PathDependent,
            format!("--output {space} is not supported with --game path-dependent; use --game marginal"),
        ),
        (
            game == Game::PathDependent && args.background.as_deref() == Some(Path::new("mean")),
            "--background mean cannot be combined with --game path-dependent, which counts background rows \
             at the nodes of trees; pass a file, or remove --background"
                .to_owned(),
        ),
        (
            is_behind_link && is_compiled,
            format!(
                "--output {space} cannot be combined with --background-compiled, which stores no rows; pass \
                 rows with --background"
            ),
        ),
        (
            is_behind_link && is_given,
            format!("--kernel and --precision cannot be combined with --output {space}"),
        ),
    ];
    match refusals.into_iter().find(|(is_so, _)| *is_so) {
        Some((_, says)) => Err(Usage(says).into()),
        None => Ok(()),
    }
}

/// Returns an error for a method that cannot compute the value.
pub(crate) fn check_method(method: Method, value: &Value) -> Result<()> {
    if method.computes(value) {
        return Ok(());
    }
    let others = Method::all().filter(|method| method.computes(value)).map(Method::name);
    Err(Usage(format!(
        "--method {method} does not support --value {}; use one of: {}",
        value.concept(),
        others.collect::<Vec<_>>().join(", ")
    ))
    .into())
}

/// Prints a note if the groups make no difference.
fn note_what_it_reduces_to(value: &Value) {
    let Some(partition) = value.groups() else { return };
    let reduced = value.reduces_to();
    let value = value.concept();
    let what = if partition.len() == 1 {
        "all features are in one group"
    } else {
        "every feature is a separate group"
    };
    match reduced {
        Some(semivalue) => {
            messages::note(format_args!(
                "{what}: {value} values equal the {semivalue} values of the features"
            ));
        }
        None if partition.len() == 1 => {
            messages::note(format_args!("{what}, whose value is the prediction minus the base value"));
        }
        None => {}
    }
}

/// Returns the features of each player. For quotient values, the players are the groups.
fn members(value: &Value, features: usize) -> Vec<Vec<usize>> {
    match value {
        Value::Quotient(_, groups) => groups.groups().to_vec(),
        _ => (0..features).map(|feature| vec![feature]).collect(),
    }
}
