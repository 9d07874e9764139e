//! The contents of a tree ensemble or a kernel machine, and how its exact method would explain it.

use std::path::Path;

use anyhow::{Context, Result};
use apportion::trees::{CompiledBackground, Exact, MarginalTreeExplainer, PathDependentTreeExplainer};
use apportion::{Background, Ensemble, Explainer, KernelFile, Rows, Semivalue};
use serde_json::{Value, json};

use crate::parse::args::Game;
use crate::parse::columns::Columns;
use crate::parse::rounds;
use crate::read::model::AnyModel;
use crate::read::rows;

/// The numbers of rows for which plans are shown: one, a small table, many.
const ROWS: [usize; 3] = [1, 1000, 100_000];
/// The number of background rows that serve as a sample of the rows to explain.
const SAMPLE: usize = 1000;

/// Returns the contents of a tree ensemble or a kernel machine.
pub(crate) fn structure(model: &AnyModel) -> Result<Vec<(&'static str, Value)>> {
    match model {
        AnyModel::Trees(ensemble) => of_ensemble(ensemble),
        AnyModel::KernelMachine(file) => Ok(kernel_machine_facts(file)),
        _ => Ok(Vec::new()),
    }
}

/// Returns the contents of a kernel machine.
pub(crate) fn kernel_machine_facts(file: &KernelFile) -> Vec<(&'static str, Value)> {
    let machine = &file.machine;
    let kernels: Vec<&str> = machine.kernels().map(apportion::kernels::Kernel::name).collect();
    let intercept = match machine.intercept() {
        [intercept] => json!(intercept),
        intercept => json!(intercept),
    };
    vec![
        ("format", json!(file.format)),
        ("version", json!(file.version)),
        ("kernels", json!(kernels)),
        ("centres", json!(machine.centre_count())),
        ("features", json!(machine.feature_count())),
        ("feature_names", json!(file.feature_names)),
        ("outputs", json!(machine.output_count())),
        ("intercept", intercept),
        ("games", json!([Game::Marginal.name()])),
    ]
}

/// Returns the contents of an ensemble, and the plans for the path-dependent game, if it is supported.
pub(crate) fn of_ensemble(model: &Ensemble) -> Result<Vec<(&'static str, Value)>> {
    let mut facts = facts(model);
    if let Ok(tree_explainer) = PathDependentTreeExplainer::new(model) {
        facts.push(("path_dependent_shapley", plans(model, &tree_explainer, &[])?));
    }
    Ok(facts)
}

fn facts(model: &Ensemble) -> Vec<(&'static str, Value)> {
    let origin = model.origin();
    let base_margin = match model.base_margins() {
        [margin] => json!(margin),
        margins => json!(margins),
    };
    let games = match PathDependentTreeExplainer::new(model) {
        Ok(_) => vec![Game::Marginal.name(), Game::PathDependent.name()],
        Err(_) => vec![Game::Marginal.name()],
    };
    vec![
        ("format", json!(origin.format)),
        ("version", json!(origin.version)),
        ("booster", json!(origin.booster)),
        ("objective", json!(origin.objective)),
        ("trees", json!(model.tree_count())),
        ("rounds", rounds::in_words(model).map_or(json!(model.round_count()), |rounds| json!(rounds))),
        ("depth", json!(model.depth())),
        ("leaves", json!(model.leaf_count())),
        ("features", json!(model.feature_count())),
        ("feature_names", json!(model.feature_names())),
        ("outputs", json!(model.output_count())),
        ("base_margin", base_margin),
        ("link", json!(model.link().map_or("unknown", |link| link.name()))),
        ("games", json!(games)),
    ]
}

/// Returns the plans for Shapley values with a background, given as rows or, for trees, compiled.
pub(crate) fn against(any: &AnyModel, path: &Path) -> Result<Value> {
    let says = || format!("cannot read the background from {}", path.display());
    let bytes = std::fs::read(path).with_context(says)?;
    let columns = Columns::default();
    let wanted = any.row_options(&columns)?;
    if CompiledBackground::is_one(&bytes) {
        let model = any.ensemble("a compiled background")?;
        let background = CompiledBackground::read(&bytes, model).with_context(says)?;
        // With a compiled background, the plan depends on the number of rows only, not on their values.
        let rows = vec![0.0; model.feature_count()];
        return plans(model, &MarginalTreeExplainer::from_compiled(model, background)?, &rows);
    }
    let table = rows::read(path, &wanted)?;
    let sample = &table.values[..table.len().min(SAMPLE) * table.columns];
    match any {
        AnyModel::KernelMachine(file) => {
            let background = Background::rows(table.values.clone(), table.columns)?;
            let explainer = Explainer::for_kernel_machine(&file.machine, background);
            let words = ROWS.map(|rows| -> Result<String> {
                let plan = explainer.plan(rows, Rows::new(sample, table.columns))?;
                Ok(format!("{}: about {}", count(rows), duration(plan.seconds.unwrap_or_default())))
            });
            Ok(json!(words.into_iter().collect::<Result<Vec<_>>>()?))
        }
        _ => {
            let model = any.ensemble("a plan")?;
            let rows = Rows::new(&table.values, table.columns);
            plans(model, &MarginalTreeExplainer::new(model, rows, None)?, sample)
        }
    }
}

/// Formats the plans for each number of rows in [`ROWS`], represented by `sample`, e.g. `1000 rows: tables
/// for 96, masks for 4 trees; about 12 ms`.
fn plans(model: &Ensemble, tree_explainer: &dyn Exact, sample: &[f64]) -> Result<Value> {
    let sample = Rows::new(sample, model.feature_count());
    let words = ROWS.map(|rows| -> Result<String> {
        let plan = tree_explainer.plan_of(&Semivalue::Shapley.into(), rows, sample)?;
        let kernels: Vec<String> =
            plan.kernels.iter().map(|(kernel, trees)| format!("{kernel} for {trees}")).collect();
        Ok(format!("{}: {} trees; about {}", count(rows), kernels.join(", "), duration(plan.seconds)))
    });
    Ok(json!(words.into_iter().collect::<Result<Vec<_>>>()?))
}

/// Formats a number of rows.
fn count(rows: usize) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}

/// Formats a duration with two digits and a unit.
fn duration(seconds: f64) -> String {
    let (number, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let digits = if number < 9.95 { 1 } else { 0 };
    format!("{number:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_digits_and_a_unit() {
        let pairs =
            [(2.34e-5, "23 µs"), (9.96e-3, "10 ms"), (0.0012, "1.2 ms"), (1.0, "1.0 s"), (93.7, "94 s")];
        for (seconds, text) in pairs {
            assert_eq!(duration(seconds), text);
        }
    }
}
