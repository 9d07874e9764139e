//! Compares the table method with Leverage SHAP, or with Kernel Banzhaf without replacement, at equal numbers
//! of model rows, on models whose values are known.
//!
//! `cargo run --release -p apportion-surrogates --example ratios -- [--features 8,12,30,101]
//! [--rows 200,10,1] [--budget 0.5,2,5,20] [--model network,kernel,trees,neighbours] [--background 50]
//! [--seeds 1] [--value shapley|banzhaf] [--learned]`
//!
//! With `--learned`, the surrogate is learned from hybrids of the background rows, five times the budget of
//! a row, and the time is that of the rows without learning. A budget of k stands for k evaluations per
//! feature, each with all background rows. The other method with fewer than 2n + 2 evaluations takes 10n
//! evaluations with fewer background rows instead. Prints, for each cell, the mean relative squared errors
//! `‖φ̃ − φ‖² / ‖φ‖²` of both methods, their ratio, the share of 95% confidence intervals of the table
//! method that contain the value, the mean square of the standardized errors, the share of explanations
//! that use the surrogate, and the time for a row. Ends with the ratios' quantiles.

mod problems;

use std::collections::BTreeMap;
use std::time::Instant;

use apportion_estimators::{Estimator, Explanation, LeverageShap, methods};
use apportion_games::{Background, MarginalGame, Rows};
use apportion_surrogates::TableMethod;
use apportion_values::Semivalue;
use problems::Problem;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The maximum number of rows of a table whose errors are measured.
const MEASURED: usize = 8;
/// The number of tables of a single row.
const SINGLE: usize = 8;

/// The errors of a method, summed over rows.
#[derive(Default)]
struct Tally {
    table: f64,
    other: f64,
    rows: f64,
    covered: f64,
    squares: f64,
    values: f64,
    with_surrogate: f64,
    seconds: f64,
    explained: f64,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, default: &str| -> Vec<String> {
        let at = arguments.iter().position(|argument| argument == name);
        let text = at.and_then(|at| arguments.get(at + 1)).map_or(default, String::as_str);
        text.split(',').map(str::to_owned).collect()
    };
    let numbers = |name: &str, default: &str| -> Result<Vec<f64>, Failure> {
        Ok(option(name, default).iter().map(|text| text.parse()).collect::<Result<_, _>>()?)
    };
    let background_rows = numbers("--background", "50")?[0] as usize;
    let seeds = numbers("--seeds", "1")?[0] as u64;
    let value: Semivalue = option("--value", "shapley")[0].parse()?;
    let is_learned = arguments.iter().any(|argument| argument == "--learned");
    let mut ratios: BTreeMap<(usize, u64), Vec<f64>> = BTreeMap::new();
    let mut coverage: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    println!("model         n   R budget      other     table   ratio  cover  z^2  surrogate  ms/row");
    for features in numbers("--features", "8,12,30,101")? {
        let features = features as usize;
        for kind in option("--model", "network,kernel,trees,neighbours") {
            let Some(problem) = Problem::new(&kind, features)? else { continue };
            for rows in numbers("--rows", "200,10,1")? {
                for per_feature in numbers("--budget", "0.5,2,5,20")? {
                    let evaluations = (per_feature * features as f64).round() as usize;
                    if features < 20 && evaluations as f64 > 0.9 * (features as f64).exp2() {
                        continue;
                    }
                    let mut tally = Tally::default();
                    for seed in 0..seeds {
                        let (problem, value) = (&problem, &value);
                        let run = Run { problem, value, background_rows, evaluations, seed, is_learned };
                        run.measure(rows as usize, &mut tally)?;
                    }
                    let ratio = tally.table / tally.other;
                    println!(
                        "{kind:11} {features:3} {rows:3} {per_feature:5}n  {:9.1e} {:9.1e} {ratio:7.3}  \
                         {:.3} {:4.2} {:10.2} {:7.2}",
                        tally.other / tally.rows,
                        tally.table / tally.rows,
                        tally.covered / tally.values,
                        tally.squares / tally.values,
                        tally.with_surrogate / tally.rows,
                        1e3 * tally.seconds / tally.explained,
                    );
                    ratios.entry((rows as usize, (per_feature * 10.0) as u64)).or_default().push(ratio);
                    for class in
                        [kind.clone(), format!("R = {rows}"), format!("{per_feature}n"), "all".to_owned()]
                    {
                        let of_class = coverage.entry(class).or_default();
                        *of_class = (of_class.0 + tally.covered, of_class.1 + tally.values);
                    }
                }
            }
        }
    }
    println!("\n  R budget   median      max  cells");
    for ((rows, budget), mut ratios) in ratios {
        ratios.sort_by(f64::total_cmp);
        let (median, max) = (ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
        println!("{rows:3} {:5}n  {median:7.3}  {max:7.3}  {:5}", budget as f64 / 10.0, ratios.len());
    }
    println!("\ncoverage");
    for (class, (covered, values)) in coverage {
        println!("{class:12} {:.3} of {values}", covered / values);
    }
    Ok(())
}

/// A table of one problem.
struct Run<'a> {
    problem: &'a Problem,
    value: &'a Semivalue,
    background_rows: usize,
    evaluations: usize,
    seed: u64,
    is_learned: bool,
}

impl Run<'_> {
    fn measure(&self, rows: usize, tally: &mut Tally) -> Result<(), Failure> {
        let tables = if rows == 1 { SINGLE } else { 1 };
        let features = self.problem.features;
        let data = self.problem.rows(self.background_rows + rows * tables, self.seed);
        let background = Background::rows(data[..self.background_rows * features].to_vec(), features)?;
        let data = Rows::new(&data[self.background_rows * features..], features);
        let method = TableMethod::new(self.evaluations * self.background_rows).with_value(self.value.clone());
        for table in 0..tables {
            let rows = data.slice(table * rows..(table + 1) * rows);
            let learning = TableMethod::new(5 * self.evaluations);
            let surrogate = match self.is_learned {
                true => Some(learning.learn(self.problem, background.as_rows(), &background, self.seed)?),
                false => None,
            };
            let start = Instant::now();
            let explanations = match &surrogate {
                Some(surrogate) => {
                    method.with_surrogate(surrogate, self.problem, &background)?.explain(rows, self.seed)?
                }
                None => method.explain(self.problem, rows, &background, self.seed)?,
            };
            tally.seconds += start.elapsed().as_secs_f64();
            tally.explained += rows.len() as f64;
            for (row, explanation) in rows.iter().zip(&explanations).take(MEASURED) {
                self.compare(row, explanation, &background, tally)?;
            }
        }
        Ok(())
    }

    fn compare(
        &self,
        row: &[f64],
        explanation: &Explanation,
        background: &Background,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let truth = self.problem.values(self.value, row, background)?;
        let norm: f64 = truth.iter().map(|value| value * value).sum();
        let error = |values: &[f64]| {
            values.iter().zip(&truth).map(|(value, truth)| (value - truth).powi(2)).sum::<f64>() / norm
        };
        tally.table += error(&explanation.values);
        tally.other += error(&self.other_method(row, background)?.values);
        tally.rows += 1.0;
        let chosen = explanation.diagnostics.chosen.as_deref();
        tally.with_surrogate += f64::from(u8::from(chosen == Some("surrogate")));
        let intervals = explanation.intervals(0.95).ok_or("the method reports standard errors")?;
        let std_errors = explanation.std_errors.as_ref().ok_or("the method reports standard errors")?;
        for (at, &truth) in truth.iter().enumerate() {
            // Values of features that the model does not use may be exact.
            if std_errors[at] > 1e-9 * norm.sqrt() {
                let (lower, upper) = intervals[at];
                tally.covered += f64::from(u8::from(lower <= truth && truth <= upper));
                tally.squares += ((explanation.values[at] - truth) / std_errors[at]).powi(2);
                tally.values += 1.0;
            }
        }
        Ok(())
    }

    /// Explains a row by the other method with the same number of model rows.
    fn other_method(&self, row: &[f64], background: &Background) -> Result<Explanation, Failure> {
        let features = self.problem.features;
        let (mut evaluations, mut background) = (self.evaluations, background.clone());
        if evaluations < 2 * features + 2 {
            let count = (evaluations * background.len() / (10 * features)).max(1);
            let first = &background.as_rows().values()[..count * features];
            evaluations = evaluations * background.len() / count;
            background = Background::rows(first.to_vec(), features)?;
        }
        let game = MarginalGame::new(self.problem, row, &background)?;
        let banzhaf = methods::KERNEL_BANZHAF_WITHOUT_REPLACEMENT.build(&self.value.clone().into());
        match banzhaf {
            Some(banzhaf) => Ok(banzhaf.estimate(&game, evaluations, self.seed)?),
            None => Ok(LeverageShap::default().estimate(&game, evaluations, self.seed)?),
        }
    }
}
