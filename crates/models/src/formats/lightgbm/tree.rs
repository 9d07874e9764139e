//! Conversion of the block of a tree to normal form.

use super::section::Section;
use crate::ensemble::{CategorySet, LinearLeaf, Rule, TreeParts, ZERO, at_most, at_most_infinity};
use crate::error::ModelError;

/// Exclusive upper bound of categories, which LightGBM stores as signed 32-bit integers.
const CATEGORIES: usize = 1 << 31;

/// Treatment of missing values at a split, as encoded in bits 2 and 3 of the decision type.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Missing {
    /// A missing value is the number 0.
    None,
    /// Missing values and 0 follow the default direction.
    Zero,
    /// Missing values are NaN and follow the default direction.
    NaN,
}

pub(super) fn read(
    section: &Section<'_>,
    index: usize,
    outputs: usize,
    scale: f64,
) -> Result<TreeParts, ModelError> {
    let leaves_field = section.get("num_leaves")?;
    let leaves = leaves_field.count()?;
    let Some(splits) = leaves.checked_sub(1) else {
        return Err(leaves_field.error("expected at least one leaf"));
    };
    // Check lengths before allocating anything of that length.
    let mut number: Vec<f64> = section.list("threshold", splits)?;
    let leaf_values: Vec<f64> = section.list("leaf_value", leaves)?;
    let decisions: Vec<u8> = section.list("decision_type", splits)?;
    let children = |key| {
        let children: Vec<i64> = section.list(key, splits)?;
        let mut nodes = Vec::with_capacity(splits + leaves);
        for (node, child) in children.into_iter().enumerate() {
            let known = if child < 0 { -1 - child < leaves as i64 } else { child < splits as i64 };
            if !known {
                let problem = format!(
                    "node {node} has the child {child}, which is out of range (splits: {splits}, leaves: \
                     {leaves})"
                );
                return Err(ModelError::Tree { tree: index, problem });
            }
            nodes.push(if child < 0 { splits as i64 - 1 - child } else { child });
        }
        nodes.resize(splits + leaves, -1);
        Ok(nodes)
    };
    let (left, right) = (children("left_child")?, children("right_child")?);
    let mut feature: Vec<i64> = section.list("split_feature", splits)?;
    feature.resize(splits + leaves, 0);
    let mut sets = Sets::new(section)?;
    let mut rules: Vec<Option<Rule>> = Vec::new();
    let mut default_left = Vec::with_capacity(splits + leaves);
    for (node, (&decision, number)) in decisions.iter().zip(&mut number).enumerate() {
        let error =
            |problem: String| ModelError::Tree { tree: index, problem: format!("node {node} has {problem}") };
        let missing = match decision >> 2 {
            0 => Missing::None,
            1 => Missing::Zero,
            2 => Missing::NaN,
            _ => return Err(error(format!("the unknown decision type {decision}"))),
        };
        let is_categorical = decision & 1 == 1;
        if !is_categorical && number.is_nan() {
            return Err(error("the threshold NaN".to_owned()));
        }
        let (rule, left) = if is_categorical {
            (Some(sets.take(*number).map_err(error)?), false)
        } else {
            let (threshold, default_left, rule) = comparison(*number, missing, decision & 2 == 2);
            *number = threshold;
            (rule, default_left)
        };
        if let Some(rule) = rule {
            rules.resize(splits + leaves, None);
            rules[node] = Some(rule);
        }
        default_left.push(left);
    }
    sets.finish().map_err(|problem| ModelError::Tree { tree: index, problem })?;
    default_left.resize(splits + leaves, false);
    number.extend(leaf_values);
    let linear = linear_leaves(section, &mut number, leaves)?;
    let (split_counts, leaf_counts) =
        (section.optional_list("internal_count", splits)?, section.optional_list("leaf_count", leaves)?);
    let cover = match (split_counts, leaf_counts) {
        (Some(mut counts), Some(more)) => {
            counts.extend::<Vec<f64>>(more);
            Some(counts)
        }
        _ => None,
    };
    Ok(TreeParts {
        output: index % outputs,
        left,
        right,
        feature,
        number,
        default_left,
        cover,
        rules,
        linear,
        deleted: 0,
        scale,
    })
}

/// Converts the split x ≤ `number` to normal form. Returns the threshold, whether missing values go left, and
/// the rule, if any.
pub(super) fn comparison(number: f64, missing: Missing, default_left: bool) -> (f64, bool, Option<Rule>) {
    let threshold = clear_of_zero(at_most(number));
    let default_left = if missing == Missing::None { 0.0 < threshold } else { default_left };
    let rule = match missing {
        Missing::Zero => Some(Rule::ZeroIsMissing { threshold }),
        _ => at_most_infinity(number),
    };
    (threshold, default_left, rule)
}

/// Moves a threshold so that all numbers up to [`ZERO`] in absolute value go the same way as 0.
fn clear_of_zero(threshold: f64) -> f64 {
    match threshold {
        _ if threshold.abs() > ZERO => threshold,
        _ if threshold > 0.0 => at_most(ZERO),
        _ => -ZERO,
    }
}

/// The sets of categorical splits, as bits in 32-bit words, one set after the other.
struct Sets {
    words: Vec<u32>,
    /// Start and end of each set.
    bounds: Vec<(usize, usize)>,
    taken: Vec<bool>,
}

impl Sets {
    fn new(section: &Section<'_>) -> Result<Self, ModelError> {
        let count_field = section.get("num_cat")?;
        let count = count_field.count()?;
        if count == 0 {
            return Ok(Self { words: Vec::new(), bounds: Vec::new(), taken: Vec::new() });
        }
        let bounds_field = section.get("cat_boundaries")?;
        let starts: Vec<usize> = bounds_field.list(count + 1)?;
        let words: Vec<u32> = section.get("cat_threshold")?.all()?;
        let in_order = starts.is_sorted() && starts[0] == 0 && starts[count] == words.len();
        if !in_order {
            return Err(bounds_field.error(format!(
                "expected the bounds of {count} category sets in {} words, ascending from 0 to {}",
                words.len(),
                words.len()
            )));
        }
        let bounds = starts.windows(2).map(|ends| (ends[0], ends[1])).collect();
        Ok(Self { words, bounds, taken: vec![false; count] })
    }

    /// Returns the rule of a categorical split. `number` is the index of its set, which must not belong to
    /// another split.
    fn take(&mut self, number: f64) -> Result<Rule, String> {
        let known = (number.fract() == 0.0 && number >= 0.0).then_some(number as usize);
        let Some(set) = known.filter(|&set| set < self.bounds.len()) else {
            return Err(format!(
                "the category set {number}, which is out of range (sets: {})",
                self.bounds.len()
            ));
        };
        if std::mem::replace(&mut self.taken[set], true) {
            return Err(format!("the category set {set}, which another node uses, too"));
        }
        let words = &self.words[self.bounds[set].0..self.bounds[set].1];
        let categories = words.iter().take(CATEGORIES / 32).zip((0u32..).step_by(32));
        let members = categories.flat_map(|(&word, first)| {
            (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| first + bit)
        });
        Ok(Rule::Set {
            members: CategorySet::new(members.collect()),
            members_go_left: true,
            negative_fraction_is_zero: true,
        })
    }

    /// Checks that every set belongs to a split.
    fn finish(&self) -> Result<(), String> {
        match self.taken.iter().position(|taken| !taken) {
            None => Ok(()),
            Some(set) => Err(format!("the category set {set} is not used by any split")),
        }
    }
}

/// Reads the models of linear leaves. The plain values of leaves are at the end of `number`. If a model does
/// not have terms, its constant becomes the value of the leaf.
fn linear_leaves(
    section: &Section<'_>,
    number: &mut [f64],
    leaves: usize,
) -> Result<Vec<Option<LinearLeaf>>, ModelError> {
    let is_linear = match section.find("is_linear") {
        None => 0,
        Some(field) => field.count()?,
    };
    if is_linear == 0 {
        return Ok(Vec::new());
    }
    let constants: Vec<f64> = section.list("leaf_const", leaves)?;
    let sizes_field = section.get("num_features")?;
    let sizes: Vec<usize> = sizes_field.list(leaves)?;
    let total = sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size));
    let total = total.ok_or_else(|| sizes_field.error("too many features"))?;
    let features: Vec<u32> = section.list("leaf_features", total)?;
    let coefficients: Vec<f64> = section.list("leaf_coeff", total)?;
    let mut terms = features.into_iter().zip(coefficients);
    let splits = leaves - 1;
    let mut linear = vec![None; number.len()];
    for (leaf, (constant, size)) in constants.into_iter().zip(sizes).enumerate() {
        if size == 0 {
            number[splits + leaf] = constant;
        } else {
            linear[splits + leaf] = Some(LinearLeaf { constant, terms: terms.by_ref().take(size).collect() });
        }
    }
    Ok(linear)
}
