//! `apportion explain`: the contributions of the features to each prediction.

use std::time::Instant;

use anyhow::{Result, bail};
use apportion::samplers::most_rows;
use apportion::values::MOST_PLAYERS;
use apportion::{Budget, ExplainError, Explainer, Explanation, Method, Model, Rows, Semivalue};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::args::{Explain, Game};
use crate::background::background;
use crate::failure::Usage;
use crate::input::Input;
use crate::model;
use crate::output::{Attribution, Attributions, Destination};
use crate::threads;

pub(crate) fn run(args: &Explain) -> Result<()> {
    let started = Instant::now();
    if !args.method.computes(&args.value) {
        let error = ExplainError::Unsupported { method: args.method, value: args.value.clone() };
        return Err(Usage(format!("--method {}, --value {}: {error}", args.method, args.value)).into());
    }
    if args.game == Game::PathDependent && (args.background.is_some() || args.background_select.is_some()) {
        eprintln!("note: --background is not used: --game path-dependent needs none");
    }
    let inputs =
        [Some(args.input.model.as_path()), Some(args.input.rows.as_path()), args.background.as_deref()];
    let destination =
        Destination::new(args.output.out.as_deref(), &inputs.into_iter().flatten().collect::<Vec<_>>())?;
    let input = Input::read(&args.input)?;
    args.value.check_players(input.table.columns).map_err(|error| Usage(format!("--value: {error}")))?;
    let source = match args.game {
        Game::Marginal => Explainer::of_trees(&input.model, background(args, &input)?),
        Game::PathDependent => Explainer::path_dependent(&input.model),
    };
    let method = match args.method {
        // The model is a tree ensemble.
        Method::Auto => Method::Tree,
        method => method,
    };
    let budget = evaluations(method, &args.value, args.budget, input.table.columns)?;
    let loaded = Instant::now();

    let explicands = input.table.gather(&input.selected);
    let progress = ProgressBar::new(input.selected.len() as u64);
    let explainer = source
        .value(args.value.clone())
        .method(method)
        .budget(budget.map_or(Budget::Auto, Budget::Evaluations))
        .seed(args.seed);
    let rows = Rows::new(&explicands, input.table.columns);
    let explanations =
        threads::run(&args.threads, || explainer.explain_rows_with_progress(rows, &|| progress.inc(1)))?;
    progress.finish_and_clear();
    let explained = Instant::now();

    let explanations = explanations?;
    warn_of_undetermined(&explanations);
    let results = attributions(args, &input, method, budget, explanations);
    destination.write(|out| results.write(args.output.format, out))?;

    if args.timings {
        let seconds = |from: Instant, to: Instant| (to - from).as_secs_f64();
        let timings = Timings {
            load_s: seconds(started, loaded),
            explain_s: seconds(loaded, explained),
            write_s: seconds(explained, Instant::now()),
        };
        eprintln!("{}", serde_json::to_string(&timings)?);
    }
    Ok(())
}

/// Says on standard error where the budget was too small to determine the values.
fn warn_of_undetermined(explanations: &[Explanation]) {
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
    input: &Input,
    method: Method,
    budget: Option<usize>,
    explanations: Vec<Explanation>,
) -> Attributions {
    let attribution = |(&row, explanation): (&usize, Explanation)| Attribution {
        row,
        explicand: input.table.row(row).to_vec(),
        explanation,
    };
    Attributions {
        value: args.value.to_string(),
        game: args.game.name(),
        method: method.name().to_owned(),
        budget,
        seed: args.seed,
        features: model::feature_names(&input.model, &input.table),
        outputs: input.model.outputs(),
        rows: input.selected.iter().zip(explanations).map(attribution).collect(),
    }
}

/// Wall seconds in this process.
#[derive(Serialize)]
struct Timings {
    load_s: f64,
    explain_s: f64,
    write_s: f64,
}

/// The evaluations that `method` may use for each row: none for the oracle and for enumeration, which need no telling.
fn evaluations(
    method: Method,
    value: &Semivalue,
    budget: Option<Budget>,
    players: usize,
) -> Result<Option<usize>> {
    let given = budget.map(|budget| budget.evaluations(players));
    let most = most_rows(players);
    if let Some(given) = given.filter(|&given| given > most) {
        bail!("--budget {given} is too large: the most is {most} evaluations for {players} features");
    }
    match (method.estimator(value), given) {
        (Some(estimator), given) => {
            let given = given.unwrap_or_else(|| Budget::Auto.evaluations(players));
            let least = estimator.minimum_budget(players);
            if given < least {
                bail!(
                    "--budget {given} is too small: {method} needs at least {least} evaluations for {players} features"
                );
            }
            Ok(Some(given))
        }
        (None, Some(given)) if method == Method::Exact => {
            if players <= MOST_PLAYERS && given < 1 << players {
                bail!(
                    "--budget {given} is too small: exact needs at least 2^{players} = {} evaluations for {players} features",
                    1 << players
                );
            }
            Ok(None)
        }
        (None, Some(_)) => {
            eprintln!("note: --budget is not used: method {method} makes no evaluations");
            Ok(None)
        }
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPLEY: Semivalue = Semivalue::Shapley;

    #[test]
    fn a_budget_below_what_the_method_needs_is_refused_with_the_least() {
        let message = evaluations(Method::Exact, &SHAPLEY, Some(Budget::Evaluations(1000)), 10)
            .unwrap_err()
            .to_string();
        assert!(message.contains("2^10 = 1024"), "{message}");
        let message = evaluations(Method::LeverageShap, &SHAPLEY, Some(Budget::Evaluations(1)), 10)
            .unwrap_err()
            .to_string();
        assert!(message.contains("at least"), "{message}");
    }

    #[test]
    fn a_budget_that_no_memory_could_hold_is_refused() {
        let message =
            evaluations(Method::Permutation, &SHAPLEY, Some(Budget::PerPlayer(usize::MAX)), 2).unwrap_err();
        assert!(message.to_string().contains("too large"), "{message}");
    }

    #[test]
    fn a_multiple_counts_all_features() {
        assert_eq!(
            evaluations(Method::KernelShap, &SHAPLEY, Some(Budget::PerPlayer(10)), 60).unwrap(),
            Some(600)
        );
        assert_eq!(evaluations(Method::Tree, &SHAPLEY, None, 60).unwrap(), None);
        assert_eq!(evaluations(Method::Permutation, &SHAPLEY, None, 10).unwrap(), Some(2048));
    }
}
