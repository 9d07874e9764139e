//! Statistics of categories in a binary file, and their tables, which follow the trees.

use std::collections::HashMap;
use std::sync::Arc;

use super::flat::{Buffer, Table, ints, pairs};
use crate::ensemble::{Counts, Rate, RateKind};
use crate::error::ModelError;
use crate::formats::catboost::statistics::{Element, StatisticDescription, kind};

/// The key that identifies a table of counts.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key {
    categories: Vec<i32>,
    /// Features and borders of the numeric tests. Keys are different if any bits of their borders differ.
    above: Vec<(i32, [u8; 4])>,
    exactly: Vec<(i32, [u8; 4])>,
    kind: u8,
    classifier: i32,
}

impl Key {
    fn read(base: Table<'_>) -> Result<Self, ModelError> {
        let Some(combination) = base.table(0)? else {
            return Err(base.error("the statistic has no features"));
        };
        Ok(Self {
            categories: combination.ints(0)?,
            above: pairs(combination.list(1, 8)?).collect(),
            exactly: pairs(combination.list(2, 8)?).collect(),
            kind: base.byte(1)?,
            classifier: base.int(2, 0)?,
        })
    }

    /// Returns the inputs of the statistic, in the order in which their hashes are combined.
    fn elements(&self, table: Table<'_>) -> Result<Vec<Element>, ModelError> {
        let index = |index: i32| {
            usize::try_from(index)
                .map_err(|_| table.error(format!("expected the index of a feature, got {index}")))
        };
        let categories = self.categories.iter().map(|&of| Ok(Element::Category { index: index(of)? }));
        let above = self.above.iter().map(|&(of, border)| {
            Ok(Element::Above { index: index(of)?, border: f32::from_le_bytes(border) })
        });
        let exactly = self
            .exactly
            .iter()
            .map(|&(of, hash)| Ok(Element::Exactly { index: index(of)?, hash: u32::from_le_bytes(hash) }));
        categories.chain(above).chain(exactly).collect()
    }
}

/// A statistic, the key of its table, and its borders.
pub(super) struct StatisticEntry {
    pub(super) stated: StatisticDescription,
    pub(super) key: Key,
    pub(super) borders: Vec<f32>,
}

impl StatisticEntry {
    pub(super) fn read(feature: Table<'_>) -> Result<Self, ModelError> {
        let wanted = || feature.error("the statistic has no definition");
        let statistic = feature.table(0)?.ok_or_else(wanted)?;
        let key = Key::read(statistic.table(0)?.ok_or_else(wanted)?)?;
        let class = statistic.count(1, 0)?;
        let rate = Rate {
            kind: kind(usize::from(key.kind), class).ok_or_else(|| {
                feature.error(format!("unknown type of statistic {}; expected 0 to 5", key.kind))
            })?,
            prior: statistic.float(2, 0.0)?,
            prior_weight: statistic.float(3, 1.0)?,
            shift: statistic.float(4, 0.0)?,
            scale: statistic.float(5, 1.0)?,
        };
        let stated = StatisticDescription { elements: key.elements(feature)?, rate };
        Ok(Self { stated, key, borders: feature.floats(1)? })
    }
}

/// Size of a slot in a hash table: 8 bytes for the hash, 4 for the row.
const PLACE: usize = 12;

/// Reads the tables of counts, and returns them by key.
pub(super) fn tables<'a>(
    parts: impl Iterator<Item = Result<Buffer<'a>, ModelError>>,
) -> Result<HashMap<Key, Arc<Counts>>, ModelError> {
    let mut tables = HashMap::new();
    for buffer in parts {
        let table = buffer?.root()?;
        let Some(base) = table.table(0)? else { return Err(table.error("the table has no definition")) };
        let key = Key::read(base)?;
        tables.insert(key, Arc::new(counts(table, base.byte(1)?)?));
    }
    Ok(tables)
}

fn counts(table: Table<'_>, place: u8) -> Result<Counts, ModelError> {
    let rows = table.list(1, 1)?.chunks_exact(PLACE).map(|place| {
        let (hash, row) = place.split_at(8);
        let hash = hash.iter().rev().fold(0, |hash, &byte| hash << 8 | u64::from(byte));
        (hash, row.iter().rev().fold(0, |row, &byte| row << 8 | u32::from(byte)))
    });
    let blob = table.list(2, 1)?;
    let (width, counts) = match kind(usize::from(place), 0) {
        // A slot contains a sum of targets as a float, and a number of rows.
        Some(RateKind::Mean) => {
            let means = pairs(blob).flat_map(|(sum, count)| {
                [f64::from(f32::from_bits(sum as u32)), f64::from(i32::from_le_bytes(count))]
            });
            (2, means.collect())
        }
        kind => {
            let width = if kind == Some(RateKind::Counter) { 1 } else { table.count(4, 0)? };
            (width, ints(blob).into_iter().map(f64::from).collect())
        }
    };
    let denominator = f64::from(table.int(3, 0)?);
    Counts::new(rows.collect(), counts, width, denominator).map_err(|problem| table.error(problem))
}
