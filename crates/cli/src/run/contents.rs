//! The contents of a file of any kind: rows, a compiled background, results, a checkpoint, a model.

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use apportion::trees::CompiledBackground;
use apportion::{Ensemble, KernelFile};
use apportion_results::INFINITE;
use apportion_results::shown::shown;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::{Value, json};

use super::inspect_model::{kernel_machine_facts, of_ensemble};
use crate::failure;
use crate::parse::args::{Inspect, ModelFile, Reading};
use crate::parse::format::Format;
use crate::read::model;
use crate::read::rows;

/// The number of bytes at the start of a file from which its kind is identified.
const ENOUGH: usize = 512;
/// The maximum number of distinct values that are counted per column.
const MAX_DISTINCT_NUMBERS: usize = 10_000;

type Facts = Vec<(&'static str, Value)>;

/// Returns the contents of `file`.
pub(crate) fn facts(file: &Path, args: &Inspect) -> Result<Facts> {
    if rows::is_standard_input(file) {
        return of_rows(file, args);
    }
    let says = || format!("cannot read {}", file.display());
    let mut start = Vec::new();
    File::open(file)
        .and_then(|bytes| bytes.take(ENOUGH as u64).read_to_end(&mut start))
        .with_context(says)?;
    if CompiledBackground::is_one(&start) {
        return of_compiled(&fs::read(file).with_context(says)?).with_context(says);
    }
    if start.starts_with(apportion_files::BEGINNING) {
        let told = apportion_files::facts(&fs::read(file).with_context(says)?).with_context(says)?;
        return Ok(kind("a checkpoint", told));
    }
    if start.starts_with(b"{\"value\":") || start.starts_with(b"{\"outputs\":") {
        let mut bytes = BufReader::new(File::open(file).with_context(says)?);
        let facts = of_results(&mut bytes).with_context(says)?;
        // JSON is a single object. JSON lines have one line per row after the first.
        let rows = bytes.split(b'\n').map_while(Result::ok).filter(|line| !line.is_empty()).count();
        let of_lines = (rows > 0).then(|| ("rows", json!(rows)));
        return Ok(facts.into_iter().chain(of_lines).collect());
    }
    if is_header_of_results(&start) {
        return of_lines_of_results(BufReader::new(File::open(file).with_context(says)?)).with_context(says);
    }
    if args.model.is_some() || are_rows(&start) {
        return of_rows(file, args);
    }
    of_model_or_rows(file, args)
}

/// Returns the facts of a file, preceded by its kind.
fn kind(what: &str, facts: Facts) -> Facts {
    std::iter::once(("kind", json!(what))).chain(facts).collect()
}

/// Returns whether a file that starts with these bytes can only contain rows. Returns `false` for models, and
/// for compressed data, which could contain either.
fn are_rows(start: &[u8]) -> bool {
    let begins = |with: &[u8]| start.starts_with(with);
    if begins(b"\x93NUMPY") || begins(b"PAR1") || begins(b"ARROW1") || begins(b"\xff\xff\xff\xff") {
        return true;
    }
    let is_text = !start.iter().any(|&byte| byte < b'\t');
    is_text && !begins(b"{") && !begins(b"[") && !begins(b"tree") && !begins(b"CBM1") && !begins(b"\x1f\x8b")
}

/// Reads the file as a model, or else as rows.
fn of_model_or_rows(file: &Path, args: &Inspect) -> Result<Facts> {
    #[cfg(feature = "networks")]
    if let Some(facts) = of_network(file)? {
        return Ok(facts);
    }
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let as_model = match Ensemble::from_bytes(&bytes) {
        Ok(_) => {
            let file = ModelFile { path: file.to_owned(), reading: Reading::default() };
            return Ok(kind("a model", of_ensemble(&model::read_trees(&file)?)?));
        }
        Err(error) => match KernelFile::from_bytes(&bytes) {
            Ok(Some(machine)) => return Ok(kind("a model", kernel_machine_facts(&machine))),
            Ok(None) => anyhow::Error::from(error),
            Err(error) => anyhow::Error::from(error),
        },
    };
    drop(bytes);
    of_rows(file, args).map_err(|as_rows| {
        anyhow!(
            "{}: unrecognized file format (not a model: {}; not a table: {})",
            file.display(),
            failure::line(&as_model),
            failure::line(&as_rows)
        )
    })
}

/// Returns the facts of a neural network, or `None` if the file is not a neural network or cannot be read.
#[cfg(feature = "networks")]
pub(crate) fn of_network(file: &Path) -> Result<Option<Facts>> {
    let Ok(network) = apportion_onnx::NetworkOptions::new().from_path(file) else { return Ok(None) };
    if fs::read(file).is_ok_and(|bytes| Ensemble::from_bytes(&bytes).is_ok()) {
        return Ok(None);
    }
    let takes = if network.takes_whole_numbers() { "whole numbers" } else { "fractions" };
    Ok(Some(kind(
        "a neural network (ONNX)",
        vec![
            ("input", json!(network.input_name())),
            ("takes", json!(takes)),
            ("row_shape", json!(network.row_shape())),
            ("features", json!(network.feature_count())),
            ("vocabulary", json!(network.vocabulary_size())),
            ("output", json!(network.output_name())),
            ("outputs", json!(network.output_count())),
        ],
    )))
}

fn of_compiled(bytes: &[u8]) -> Result<Facts> {
    let head = CompiledBackground::head(bytes)?;
    let weights = if head.are_counts { "numbers of rows" } else { "weights of rows" };
    let fingerprint: String = head.fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(kind(
        "a compiled background",
        vec![
            ("rows", json!(head.rows)),
            ("total_weight", json!(head.total_weight)),
            ("weights", json!(weights)),
            ("of_the_model", json!(format!("sha256:{fingerprint}"))),
        ],
    ))
}

/// Returns the facts of results in JSON: the settings, and the number of rows.
fn of_results(bytes: impl Read) -> Result<Facts> {
    #[derive(Deserialize)]
    struct Results {
        value: Option<String>,
        game: Option<String>,
        method: Option<String>,
        interactions: Option<String>,
        budget: Option<usize>,
        accuracy: Option<String>,
        seed: Option<u64>,
        output: Option<Value>,
        background: Option<Value>,
        features: Option<Vec<String>>,
        outputs: Option<usize>,
        explanations: Option<Count>,
        predictions: Option<Count>,
        rows: Option<usize>,
        summary: Option<IgnoredAny>,
    }
    let results = Results::deserialize(&mut serde_json::Deserializer::from_reader(bytes)).map_err(corrupt)?;
    let what = match () {
        () if results.interactions.is_some() => "results of explain --interactions",
        () if results.summary.is_some() => "results of explain --summary",
        () if results.value.is_none() => "results of predict",
        () => "results of explain",
    };
    let rows = results.explanations.or(results.predictions).map(|Count(rows)| rows).or(results.rows);
    let facts = vec![
        ("value", json!(results.value)),
        ("game", json!(results.game)),
        ("method", json!(results.method)),
        ("interactions", json!(results.interactions)),
        ("budget", json!(results.budget)),
        ("accuracy", json!(results.accuracy)),
        ("seed", json!(results.seed)),
        ("output", json!(results.output)),
        ("background", json!(results.background)),
        ("features", json!(results.features.as_ref().map(Vec::len))),
        ("feature_names", json!(results.features)),
        ("outputs", json!(results.outputs)),
        ("rows", json!(rows)),
    ];
    Ok(kind(what, facts.into_iter().filter(|(_, value)| !value.is_null()).collect()))
}

/// The length of a list; its entries are skipped.
struct Count(usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Count, A::Error> {
                let mut count = 0;
                while entries.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Count(count))
            }
        }
        deserializer.deserialize_seq(Entries)
    }
}

/// Returns whether a file starts with the header of results in CSV.
fn is_header_of_results(start: &[u8]) -> bool {
    let header = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let cells: Vec<&[u8]> = header.trim_ascii_end().split(|&byte| byte == b',').collect();
    let after_id = cells.strip_prefix(&[b"id".as_slice()]).unwrap_or(&cells);
    let after_row = after_id.strip_prefix(&[b"row".as_slice()]);
    let after_output = after_row.map(|cells| cells.strip_prefix(&[b"output".as_slice()]).unwrap_or(cells));
    after_output.is_some_and(|cells| cells.starts_with(&[b"base", b"prediction"]))
}

/// Returns the error for results that cannot be parsed.
fn corrupt(problem: impl fmt::Display) -> anyhow::Error {
    anyhow!("the results are corrupt or truncated: {problem}; rerun the command that wrote them")
}

/// Returns the facts of results in CSV.
fn of_lines_of_results(bytes: impl BufRead) -> Result<Facts> {
    let mut table = csv::ReaderBuilder::new().flexible(false).from_reader(bytes);
    let header = table.headers()?.clone();
    let place = |name: &str| header.iter().position(|cell| cell == name);
    let first = place("prediction").map_or(0, |place| place + 1);
    let is_of_pairs = header.get(first) == Some("of");
    let is_behind = |cell: &str| cell.starts_with("std error of ") || cell.starts_with("input of ");
    let end = header.iter().position(|cell| is_behind(cell) || cell == "evaluations");
    let features: Vec<&str> =
        header.iter().take(end.unwrap_or(header.len())).skip(first + usize::from(is_of_pairs)).collect();
    let row_at = place("row").unwrap_or(0);
    let (mut lines, mut rows, mut last) = (0_u64, 0_u64, None);
    let mut record = csv::StringRecord::new();
    while table.read_record(&mut record).map_err(corrupt)? {
        lines += 1;
        let row = record.get(row_at).map(str::to_owned);
        if row != last {
            rows += 1;
            last = row;
        }
    }
    let what = if is_of_pairs { "results of explain --interactions" } else { "results of explain" };
    Ok(kind(
        what,
        vec![
            ("features", json!(features.len())),
            ("feature_names", json!(features)),
            ("rows", json!(rows)),
            ("lines", json!(lines)),
        ],
    ))
}

/// Statistics of one column.
#[derive(Clone)]
struct Column {
    missing: u64,
    distinct: HashSet<u64>,
    min: f64,
    largest: f64,
}

impl Column {
    const NEW: fn() -> Self =
        || Self { missing: 0, distinct: HashSet::new(), min: f64::INFINITY, largest: f64::NEG_INFINITY };

    fn add(&mut self, number: f64) {
        if number.is_nan() {
            self.missing += 1;
            return;
        }
        if self.distinct.len() <= MAX_DISTINCT_NUMBERS {
            // Adding 0 turns −0 into 0, so that both count as one value.
            self.distinct.insert((number + 0.0).to_bits());
        }
        self.min = self.min.min(number);
        self.largest = self.largest.max(number);
    }

    /// Returns the number of distinct values, unless there are too many to count.
    fn distinct(&self) -> Option<usize> {
        Some(self.distinct.len()).filter(|&count| count <= MAX_DISTINCT_NUMBERS)
    }

    fn in_words(&self, name: &str) -> String {
        let distinct =
            self.distinct().map_or_else(|| format!("over {MAX_DISTINCT_NUMBERS}"), |count| count.to_string());
        let range = if self.min <= self.largest {
            format!("; {} to {}", self.min, self.largest)
        } else {
            String::new()
        };
        format!("{} ({} missing; {distinct} distinct{range})", shown(name), self.missing)
    }

    fn as_json(&self, name: &str) -> Value {
        let known = |number: f64| match number {
            _ if self.min > self.largest => Value::Null,
            f64::INFINITY => INFINITE[0].into(),
            f64::NEG_INFINITY => INFINITE[1].into(),
            number => number.into(),
        };
        json!({
            "name": name,
            "missing": self.missing,
            "distinct": self.distinct(),
            "least": known(self.min),
            "largest": known(self.largest)
        })
    }
}

/// Returns the number of rows, and statistics of each column. With a model, only its features are included,
/// in its encoding.
fn of_rows(file: &Path, args: &Inspect) -> Result<Facts> {
    let of_model = args.model_file();
    let model = of_model.as_ref().map(|file| model::read_file(&file.path, &file.reading)).transpose()?;
    let wanted = match &model {
        Some(model) => model.row_options(&args.columns)?,
        None => args.columns.all(),
    };
    let (mut rows, mut columns, mut names) = (0, Vec::new(), None);
    let notes = rows::each_block(file, &wanted, |block| {
        columns.resize_with(block.columns, Column::NEW);
        names = names.take().or_else(|| block.names.clone());
        for row in block.values.chunks_exact(block.columns.max(1)) {
            rows += 1;
            row.iter().zip(&mut columns).for_each(|(&number, column)| column.add(number));
        }
        Ok(())
    })?;
    let name =
        |index: usize| names.as_ref().map_or_else(|| format!("f{index}"), |names| names[index].clone());
    let told = columns.iter().enumerate().map(|(index, column)| match args.format {
        Format::Json => column.as_json(&name(index)),
        _ => json!(column.in_words(&name(index))),
    });
    let told: Vec<Value> = told.collect();
    let mut facts =
        vec![("rows", json!(rows)), ("columns", json!(columns.len())), ("of_columns", json!(told))];
    if !notes.is_empty() {
        facts.push(("notes", json!(notes)));
    }
    Ok(kind("rows", facts))
}
