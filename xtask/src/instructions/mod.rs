//! `cargo xtask instructions`: instruction counts of the five hottest kernels, compared with the recorded
//! counts.
//!
//! The kernels are in `benches/instructions`, a separate package. The counts come from valgrind, via
//! gungraun.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use xtask::command::{is_there, line, run as run_program};
use xtask::files::write_atomically;
use xtask::row;
use xtask::table::{Entry, Table};
use xtask::workspace;

/// Count instructions of the hot kernels, and fail if one exceeds its record by more than 3%
#[derive(Debug, Args)]
pub(crate) struct Instructions {
    /// Record the counts in benches/instructions/counts.json
    #[arg(long)]
    record: bool,
}

const PACKAGE: &str = "benches/instructions";
const RECORDED: &str = "benches/instructions/counts.json";

/// Relative increase in instructions above which a change counts as a regression.
const ALLOWED: f64 = 0.03;

/// Instruction counts, and the compiler version that they depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Counts {
    /// Version of the compiler.
    rustc: String,
    /// Counts by kernel.
    counts: BTreeMap<String, u64>,
}

/// Runs the command.
///
/// # Errors
///
/// If a kernel exceeds the allowed increase, or instructions cannot be counted.
pub(crate) fn run(arguments: &Instructions) -> Result<()> {
    let root = workspace();
    if arguments.record {
        let mut json = serde_json::to_vec_pretty(&count(&root)?)?;
        json.push(b'\n');
        write_atomically(&root.join(RECORDED), &json)?;
        println!("recorded in {RECORDED}");
        return Ok(());
    }
    println!("{}", check(&root)?);
    Ok(())
}

/// Counts instructions, prints the table, and returns the verdict in one line.
pub(crate) fn check(root: &Path) -> Result<String> {
    let recorded = std::fs::read(root.join(RECORDED)).with_context(|| format!("cannot read {RECORDED}"))?;
    let recorded: Counts =
        serde_json::from_slice(&recorded).with_context(|| format!("invalid counts in {RECORDED}"))?;
    let counted = count(root)?;
    println!("{}", table(&recorded, &counted).markdown());
    judge(&recorded, &counted)
}

fn count(root: &Path) -> Result<Counts> {
    is_there(
        Command::new("valgrind").arg("--version"),
        "apt-get install valgrind (or your package manager)",
    )?;
    is_there(Command::new("gungraun-runner").arg("--version"), "cargo install --locked gungraun-runner")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = run_program(
        Command::new(cargo)
            .args(["bench", "--locked", "--bench", "kernels", "--target-dir"])
            .arg(root.join("target/instructions"))
            .args(["--", "--output-format=json"])
            .current_dir(root.join(PACKAGE)),
    )?;
    Ok(Counts { rustc: rustc()?, counts: counts(&String::from_utf8_lossy(&output.stdout))? })
}

/// Returns the compiler version, e.g. `1.95.0`.
fn rustc() -> Result<String> {
    let said = line("rustc", &["--version"])?;
    let version = said
        .split_whitespace()
        .nth(1)
        .with_context(|| format!("unexpected output of rustc --version: {said:?}"))?;
    Ok(version.to_owned())
}

/// One line of the output of gungraun, with the fields that are used.
#[derive(Deserialize)]
struct BenchmarkLine {
    function_name: String,
    profiles: Vec<Profile>,
}

#[derive(Deserialize)]
struct Profile {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    total: Total,
}

#[derive(Deserialize)]
struct Total {
    metrics: Metrics,
}

#[derive(Deserialize)]
struct Metrics {
    #[serde(rename = "Ir")]
    instructions: Metric,
}

#[derive(Deserialize)]
struct Metric {
    values: Values,
}

#[derive(Deserialize)]
struct Values {
    new: u64,
}

/// Parses the output of gungraun, which has one line of JSON per kernel.
fn counts(text: &str) -> Result<BTreeMap<String, u64>> {
    let read = |line: &str| {
        let told: BenchmarkLine = serde_json::from_str(line)
            .with_context(|| format!("unexpected output of gungraun: {line:.200}"))?;
        let profile = told
            .profiles
            .first()
            .with_context(|| format!("gungraun did not report a profile for {}", told.function_name))?;
        Ok((told.function_name.clone(), profile.data.total.metrics.instructions.values.new))
    };
    let counts: BTreeMap<String, u64> =
        text.lines().filter(|line| line.starts_with('{')).map(read).collect::<Result<_>>()?;
    ensure!(
        !counts.is_empty(),
        "the output of gungraun does not contain counts: {:?}",
        text.chars().take(200).collect::<String>()
    );
    Ok(counts)
}

/// Returns the relative change from the recorded count, or `None` if no count is recorded for this kernel.
fn change(recorded: &Counts, kernel: &str, count: u64) -> Option<f64> {
    recorded.counts.get(kernel).map(|&before| (count as f64 - before as f64) / before as f64)
}

fn table(recorded: &Counts, counted: &Counts) -> Table {
    let caption = format!(
        "Instructions: recorded with rustc {}, counted now with rustc {}",
        recorded.rustc, counted.rustc
    );
    let mut table = Table::new(caption, ["kernel", "recorded", "now", "change in %"]);
    for (kernel, &count) in &counted.counts {
        let before =
            recorded.counts.get(kernel).map_or(Entry::ABSENT, |before| Entry::from(before.to_string()));
        let change = change(recorded, kernel, count).map(|change| format!("{:+.2}", 100.0 * change));
        let change = change.map_or(Entry::ABSENT, Entry::from);
        table.push(row![kernel.as_str(), before, count.to_string(), change]);
    }
    table
}

/// Returns an error if a kernel exceeds the allowed increase.
fn judge(recorded: &Counts, counted: &Counts) -> Result<String> {
    let names = |counts: &Counts| counts.counts.keys().cloned().collect::<Vec<_>>().join(", ");
    ensure!(
        counted.counts.keys().eq(recorded.counts.keys()),
        "the kernels are {}, but counts are recorded for {}; rerun with --record",
        names(counted),
        names(recorded)
    );
    if counted.rustc != recorded.rustc {
        return Ok(format!(
            "not judged: counted with rustc {}, but recorded with {}; to keep using this compiler, rerun \
             with --record",
            counted.rustc, recorded.rustc
        ));
    }
    let slower: Vec<String> = counted
        .counts
        .iter()
        .filter_map(|(kernel, &count)| Some((kernel, change(recorded, kernel, count)?)))
        .filter(|(_, change)| *change > ALLOWED)
        .map(|(kernel, change)| format!("{kernel} by {:.1}%", 100.0 * change))
        .collect();
    if !slower.is_empty() {
        bail!(
            "instruction counts increased: {}; fix the regression, or use --record if it is intended",
            slower.join(", ")
        );
    }
    Ok(format!(
        "{} kernels, none more than {}% above its recorded count",
        counted.counts.len(),
        100.0 * ALLOWED
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts_of(rustc: &str, counts: &[(&str, u64)]) -> Counts {
        let counts = counts.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
        Counts { rustc: rustc.to_owned(), counts }
    }

    #[test]
    fn three_percent_more_is_a_regression_and_less_is_none() {
        let recorded = counts_of("1.95.0", &[("a", 1000), ("b", 1000)]);
        assert!(judge(&recorded, &counts_of("1.95.0", &[("a", 1030), ("b", 500)])).is_ok());
        let error =
            judge(&recorded, &counts_of("1.95.0", &[("a", 1031), ("b", 1000)])).unwrap_err().to_string();
        assert!(error.contains("a by 3.1%") && error.contains("--record"), "{error}");
        let other = judge(&recorded, &counts_of("1.96.0", &[("a", 9000), ("b", 1000)])).unwrap();
        assert!(other.starts_with("not judged"), "{other}");
        let error = judge(&recorded, &counts_of("1.95.0", &[("a", 1000)])).unwrap_err().to_string();
        assert!(error.contains("counts are recorded for a, b"), "{error}");
    }

    #[test]
    fn what_gungraun_writes_is_read_and_shown_beside_what_is_recorded() {
        let line = concat!(
            r#"{"function_name": "a", "profiles": [{"data": {"total": {"metrics": "#,
            r#"{"Ir": {"values": {"new": 1100, "old": 3}}, "Dr": {}}}}}]}"#
        );
        let counts = counts(&format!("{line}\n\n")).unwrap();
        assert_eq!(counts, BTreeMap::from([("a".to_owned(), 1100)]));
        let table =
            table(&counts_of("1", &[("a", 1000)]), &Counts { rustc: "1".to_owned(), counts }).markdown();
        assert!(table.contains("| a | 1000 | 1100 | +10.00 |"), "{table}");
        assert!(super::counts("nothing").is_err() && super::counts("{}").is_err());
    }

    #[test]
    fn what_is_recorded_can_be_read() {
        let recorded: Counts =
            serde_json::from_str(include_str!("../../../benches/instructions/counts.json")).unwrap();
        assert_eq!(recorded.counts.len(), 5);
    }
}
