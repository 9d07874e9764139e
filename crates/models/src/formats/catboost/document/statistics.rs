//! Statistics of categories in a JSON document: their definitions among the features, and their tables.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ensemble::{Counts, Rate, RateKind, Statistic};
use crate::error::ModelError;
use crate::formats::catboost::features::Features;
use crate::formats::catboost::statistics::{Element, NAMES, StatisticDescription, kind};
use crate::formats::document::Field;

/// Losses for several targets. With these, each target has separate statistics.
const SEVERAL_TARGETS: [&str; 4] =
    ["MultiRMSE", "MultiRMSEWithMissingValues", "MultiLogloss", "MultiCrossEntropy"];

/// A statistic and the name of its table.
pub(super) struct StatisticEntry<'a> {
    stated: StatisticDescription,
    field: Field<'a>,
    table: &'a str,
}

/// A mapping from splits to statistics. A split stores an index into the list of all borders and one-hot
/// values of all features.
pub(super) struct Borders {
    /// The index, in this list, of the first border of a statistic.
    first: usize,
    /// For each border from index `first` on, the index of its statistic, and its value.
    of: Vec<(usize, f32)>,
}

impl Borders {
    /// Returns the statistic and the border of a split.
    pub(super) fn find(&self, split: &Field<'_>) -> Result<(usize, f32), ModelError> {
        let (index, border) = (split.get("split_index")?, split.get("border")?);
        let found = index.count()?.checked_sub(self.first).and_then(|place| self.of.get(place)).copied();
        let found =
            found.ok_or_else(|| index.error("expected the index of a border of a category statistic"))?;
        match border.number()? {
            given if given as f32 == found.1 => Ok(found),
            given => Err(border.error(format!("expected {} as in the statistic, got {given}", found.1))),
        }
    }
}

/// Reads all statistics, in the order of the file.
pub(super) fn read<'a>(
    root: &Field<'a>,
    listed: &Field<'a>,
) -> Result<(Vec<StatisticEntry<'a>>, Borders), ModelError> {
    let mut borders = Borders { first: 0, of: Vec::new() };
    let Some(list) = listed.find("ctrs")?.filter(|list| !list.is_null()) else {
        return Ok((Vec::new(), borders));
    };
    if root.has("estimated_features") || listed.has("estimated_features") {
        return Err(listed.error(
            "category statistics cannot be combined with features computed from text, whose order is \
             unknown",
        ));
    }
    for (kind, member) in [("float_features", "borders"), ("categorical_features", "values")] {
        let Some(features) = listed.find(kind)?.filter(|features| !features.is_null()) else { continue };
        for feature in features.elements()? {
            let numbers = feature.find(member)?.filter(|numbers| !numbers.is_null());
            borders.first += numbers.map(|numbers| numbers.number_count()).transpose()?.unwrap_or(0);
        }
    }
    let mut statistics = Vec::new();
    for field in list.elements()? {
        let of = field.get("borders")?.numbers()?;
        borders.of.extend(of.iter().map(|&border| (statistics.len(), border as f32)));
        statistics.push(StatisticEntry::read(field)?);
    }
    Ok((statistics, borders))
}

impl<'a> StatisticEntry<'a> {
    fn read(field: Field<'a>) -> Result<Self, ModelError> {
        let type_field = field.get("ctr_type")?;
        let name = type_field.text()?;
        let class = field.get("target_border_idx")?.count()?;
        let known = NAMES.iter().position(|known| *known == name).and_then(|place| kind(place, class));
        let elements = field.get("elements")?.elements()?;
        let number = |member: &str| field.get(member)?.number().map(|number| number as f32);
        let unknown =
            || type_field.error(format!("unknown type {name:.40?}; expected one of: {}", NAMES.join(", ")));
        let rate = Rate {
            kind: known.ok_or_else(unknown)?,
            prior: number("prior_numerator")?,
            // CatBoost writes this misspelt name.
            prior_weight: number("prior_denomerator")?,
            shift: number("shift")?,
            scale: number("scale")?,
        };
        let stated =
            StatisticDescription { elements: elements.iter().map(element).collect::<Result<_, _>>()?, rate };
        Ok(Self { stated, table: field.get("identifier")?.text()?, field })
    }
}

/// Rejects statistics of several targets. The name of a table in the file does not include its target, so the
/// file contains only one of several tables with the same name. If the loss is unknown, some of these files
/// are recognized by the order of the statistics, which CatBoost sorts for each target.
pub(super) fn check_targets(listed: &[StatisticEntry<'_>], loss: &str) -> Result<(), ModelError> {
    let mut last: HashMap<&str, (usize, f32)> = HashMap::new();
    for listed in listed {
        let class = match listed.stated.rate.kind {
            RateKind::After(class) | RateKind::Of(class) => class,
            RateKind::Mean | RateKind::Counter => 0,
        };
        let own = (class, listed.stated.rate.prior);
        let before = last.insert(listed.table, own);
        let other = SEVERAL_TARGETS.contains(&loss) && listed.stated.rate.kind != RateKind::Counter;
        if before.is_some_and(|before| other || own < before || own == before) {
            return Err(ModelError::Unsupported {
                what: format!(
                    "a JSON model with category statistics for several targets ({loss}), whose tables are \
                     incomplete in JSON,"
                ),
                help: "save the model in CatBoost's own format: model.save_model(\"model.cbm\")",
            });
        }
    }
    Ok(())
}

/// Combines the statistics with their tables, which are members of the root.
pub(super) fn with_tables(
    listed: &[StatisticEntry<'_>],
    root: &Field<'_>,
    features: &Features,
    double: bool,
) -> Result<Vec<Statistic>, ModelError> {
    let mut tables: HashMap<&str, Arc<Counts>> = HashMap::new();
    let mut statistics = Vec::with_capacity(listed.len());
    for listed in listed {
        let counts = match tables.get(listed.table) {
            Some(counts) => counts.clone(),
            None => {
                let field = root.get("ctr_data")?.find(listed.table)?;
                let field =
                    field.ok_or_else(|| listed.field.error("missing table of a category statistic"))?;
                let counts = Arc::new(table(&field)?);
                tables.insert(listed.table, counts.clone());
                counts
            }
        };
        let statistic = listed.stated.with(counts, features, double);
        statistics.push(statistic.map_err(|problem| listed.field.error(problem))?);
    }
    Ok(statistics)
}

/// Reads a table: a list of hashes, each with its counts.
fn table(field: &Field<'_>) -> Result<Counts, ModelError> {
    let map = field.get("hash_map")?;
    let stride = field.get("hash_stride")?.count()?;
    let (hashes, counts) = map.hashed_rows(stride)?;
    let denominator = match field.find("counter_denominator")? {
        Some(denominator) => denominator.number()?,
        None => 0.0,
    };
    let rows = hashes.into_iter().zip(0..).collect();
    Counts::new(rows, counts, stride - 1, denominator).map_err(|problem| map.error(problem))
}

fn element(field: &Field<'_>) -> Result<Element, ModelError> {
    let kind = field.get("combination_element")?;
    Ok(match kind.text()? {
        "cat_feature_value" => Element::Category { index: field.get("cat_feature_index")?.count()? },
        "float_feature" => Element::Above {
            index: field.get("float_feature_index")?.count()?,
            border: field.get("border")?.number()? as f32,
        },
        "cat_feature_exact_value" => Element::Exactly {
            index: field.get("cat_feature_index")?.count()?,
            hash: field.get("value")?.integer()? as u32,
        },
        other => {
            return Err(kind.error(format!(
                "expected cat_feature_value, float_feature or cat_feature_exact_value, got {other:.40?}"
            )));
        }
    })
}
