//! CatBoost models in the binary format (cbm).
//!
//! A file consists of `CBM1`, the length of the core, and the core: a [FlatBuffer](flat) with features, trees
//! and information about the training as strings. If the model has statistics of categories, the number of
//! their tables follows, and then the length and the FlatBuffer of each table. Each length has 32 bits. If
//! all of these bits are set, a length of 64 bits follows.
//!
//! Fields of a table are identified by their index. Fields in parentheses are not used:
//!
//! | table | fields |
//! |---|---|
//! | core | version, trees, information, names of the parts that follow |
//! | trees | outputs, splits, sizes, starts, categories, numbers, one-hot features, statistics, leaf values, leaf weights, steps, leaves of nodes, texts, computed features, scale, bias, biases, (bins,) embeddings |
//! | number | (has NaN,) index, column, borders, name, direction of NaN |
//! | category, text, embedding | index, column, name |
//! | one-hot feature | index, hashes, texts |
//!
//! Trees refer to splits by index: first all borders of numeric features, then the hashes of one-hot
//! features, then the borders of statistics.

mod flat;
mod statistics;
mod trees;

use self::flat::{Buffer, Table};
use self::statistics::StatisticEntry;
use self::trees::Trees;
use super::features::{Feature, Features, Kind};
use super::information::Information;
use super::splits::{Condition, Frame, Splits, biases, refuse_computed};
use crate::ensemble::{Ensemble, Origin};
use crate::error::ModelError;

/// The first bytes of a file.
pub(crate) const MAGIC: &[u8] = b"CBM1";

/// The only version of the core, in CatBoost's spelling.
const VERSION: &str = "FlabuffersModel_v1";

/// The name of the part of a file that contains the tables of statistics.
const TABLES: &str = "static_provider_v1";

/// Maximum number of outputs. The limit is only needed for models without trees, since each tree stores
/// values for all outputs.
const MAX_OUTPUTS: usize = 1 << 20;

pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Ensemble, ModelError> {
    let mut rest = bytes.get(MAGIC.len()..).unwrap_or(&[]);
    let core = part(&mut rest, "the core")?.root()?;
    match core.text(0)? {
        Some(VERSION) => {}
        other => {
            let actual = other.unwrap_or("without a version").to_owned();
            return Err(ModelError::Version { format: "CatBoost", actual, known: VERSION });
        }
    }
    let mut texts = Vec::new();
    for text in core.tables(2)? {
        texts.push((text.text(0)?.unwrap_or(""), text.text(1)?));
    }
    let said = |key: &str| texts.iter().find(|(name, _)| *name == key).and_then(|(_, text)| *text);
    let information =
        Information::of_texts(said("catboost_version_info"), said("params"), said("class_params"))?;
    let parts = core.texts(3)?;
    let Some(table) = core.table(1)? else { return Err(core.error("missing trees and features")) };
    // Other parts belong to text and embedding features, whose splits are not supported.
    let tables = match parts.first() {
        Some(&TABLES) => {
            let count = length(&mut rest, "the tables")?;
            statistics::tables((0..count).map(|_| part(&mut rest, "a table")))?
        }
        _ => Default::default(),
    };
    let features = features(table)?;
    let listed: Vec<StatisticEntry> =
        table.tables(7)?.into_iter().map(StatisticEntry::read).collect::<Result<_, _>>()?;
    let mut splits = Splits::new(features, |features, double| {
        let statistic = |listed: &StatisticEntry| {
            let counts = tables.get(&listed.key).cloned();
            let counts = counts.ok_or_else(|| table.error("missing table of a category statistic"))?;
            listed.stated.with(counts, features, double).map_err(|problem| table.error(problem))
        };
        listed.iter().map(statistic).collect()
    })?;
    let mut words: Vec<String> = Vec::new();
    let mut conditions = numbers_of(table, splits.features())?;
    for feature in table.tables(6)? {
        let index = feature.count(0, -1)?;
        let column = splits.features().category(index).map_err(|problem| feature.error(problem))?;
        for hash in feature.ints(1)? {
            splits.know(column, hash as u32);
            conditions.push(Condition::Exactly { column, hash: hash as u32 });
        }
        words.extend(feature.texts(2)?.into_iter().map(str::to_owned));
    }
    for (place, listed) in listed.iter().enumerate() {
        conditions.extend(listed.borders.iter().map(|&border| Condition::Statistic { place, border }));
    }
    let outputs = match table.count(0, 0)? {
        outputs @ 1..=MAX_OUTPUTS => outputs,
        outputs => return Err(table.error(format!("expected 1 to {MAX_OUTPUTS} outputs, got {outputs}"))),
    };
    let (scale, bias) = scale_and_bias(table, outputs)?;
    let trees = Trees::read(table, conditions)?;
    let frame = Frame {
        bias,
        classes: information.classes.clone(),
        link: information.link(),
        origin: Origin {
            format: "CatBoost binary".to_owned(),
            version: information.version,
            booster: trees.kind().to_owned(),
            objective: information.loss,
        },
        texts: words,
        nodes: trees.node_count(),
    };
    splits.model(frame, |splits, grove| trees.push_to(splits, grove, scale))
}

/// Reads a length and removes it from the bytes.
fn length(rest: &mut &[u8], what: &'static str) -> Result<usize, ModelError> {
    let mut number = |size: usize| {
        let (bytes, after) = rest.split_at_checked(size)?;
        *rest = after;
        Some(bytes.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte)))
    };
    let short = number(4);
    let length = if short == Some(u64::from(u32::MAX)) { number(8) } else { short };
    let length = length.and_then(|length| usize::try_from(length).ok());
    length.ok_or_else(|| Buffer::new(&[], what).error("unexpected end of the file, expected a length"))
}

/// Reads a part, which is prefixed with its length, and removes it from the bytes.
fn part<'a>(rest: &mut &'a [u8], what: &'static str) -> Result<Buffer<'a>, ModelError> {
    let length = length(rest, what)?;
    match rest.split_at_checked(length) {
        Some((part, after)) => {
            *rest = after;
            Ok(Buffer::new(part, what))
        }
        None => {
            Err(Buffer::new(rest, what).error(format!("expected {length} more bytes, got {}", rest.len())))
        }
    }
}

/// Reads the features from the table of trees.
fn features(table: Table<'_>) -> Result<Features, ModelError> {
    let mut features = Features::default();
    let mut add = |feature: Table<'_>, kind, [index, column, name]: [usize; 3]| {
        let name = feature.text(name)?.unwrap_or("");
        let (index, column) = (feature.count(index, -1)?, feature.count(column, -1)?);
        features.add(Feature { kind, index, column, name }).map_err(|problem| feature.error(problem))
    };
    for feature in table.tables(5)? {
        let missing_is_above = match feature.byte(5)? {
            0 | 1 => false,
            2 => true,
            other => {
                return Err(
                    feature.error(format!("unknown treatment of missing values {other}; expected 0 to 2"))
                );
            }
        };
        add(feature, Kind::Number { missing_is_above }, [1, 2, 4])?;
    }
    for (list, kind) in
        [(4, || Kind::Category), (12, || Kind::Other), (18, || Kind::Other)] as [(usize, fn() -> Kind); 3]
    {
        for feature in table.tables(list)? {
            add(feature, kind(), [0, 1, 2])?;
        }
    }
    if !table.tables(13)?.is_empty() {
        return Err(refuse_computed("EstimatedFeature"));
    }
    match features.count {
        0 => Err(table.error("the model has no features")),
        _ => Ok(features),
    }
}

/// Returns the conditions of all borders of numeric features, in their order.
fn numbers_of(table: Table<'_>, features: &Features) -> Result<Vec<Condition>, ModelError> {
    let mut conditions = Vec::new();
    for feature in table.tables(5)? {
        let number = features.number(feature.count(1, -1)?).map_err(|problem| feature.error(problem))?;
        let borders = feature.floats(3)?;
        conditions.extend(borders.into_iter().map(|border| Condition::Above { number, border }));
    }
    Ok(conditions)
}

/// Reads a scale, and a bias per output or one for all outputs.
fn scale_and_bias(table: Table<'_>, outputs: usize) -> Result<(f64, Vec<f64>), ModelError> {
    let (scale, mut bias) = (table.double(14, 1.0)?, table.doubles(16)?);
    if bias.is_empty() {
        bias.push(table.double(15, 0.0)?);
    }
    let bias = biases(scale, bias, Some(outputs)).map_err(|problem| table.error(problem))?;
    Ok((scale, bias))
}
