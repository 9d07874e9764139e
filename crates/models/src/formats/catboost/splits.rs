//! What splits ask, whatever file they come from.

use std::collections::HashMap;
use std::sync::Arc;

use super::features::{Features, Number};
use crate::ensemble::{
    Category, Ensemble, EnsembleParts, JointTrees, Link, Origin, Rule, Split, Statistic, VectorTree, Width,
    Words, at_most, category_hash,
};
use crate::error::ModelError;

/// Longer texts of categories are not kept.
const LONGEST: usize = 1000;

/// A question that rows pass or fail. Those that pass go right.
#[derive(Debug, Clone, Copy)]
pub(super) enum Condition {
    /// Whether a number is above a border.
    Above { number: Number, border: f32 },
    /// Whether a category has a hash.
    Exactly { column: usize, hash: u32 },
    /// Whether a statistic, by its place in the file, is above a border.
    Statistic { place: usize, border: f32 },
}

/// The threshold t for which `x < t` is that x, rounded to 32 bits, is not above a border. Where rows are compared in 64 bits, it is where
/// rounding turns from the border to the number after it; a tie goes to the even one.
pub(super) fn threshold(border: f32, double: bool) -> f64 {
    let above = border.next_up();
    if !double || !border.is_finite() {
        return at_most(f64::from(border));
    }
    // What lies beyond the largest number is rounded as if there were one more.
    let step = if above.is_finite() { f64::from(above) - f64::from(border) } else { 2f64.powi(104) };
    let middle = f64::from(border) + step / 2.0;
    if border.to_bits().is_multiple_of(2) { at_most(middle) } else { middle }
}

/// The refusal of splits on what is computed of the row by more than trees.
pub(super) fn refuse_computed(kind: &str) -> ModelError {
    ModelError::Unsupported {
        what: format!("a split on what is computed from texts or embeddings ({kind})"),
        wanted: "compute numbers from them yourself, and train on these",
    }
}

/// The biases of so many outputs, if that is known, or what is wrong with them.
pub(super) fn biases(scale: f64, bias: Vec<f64>, outputs: Option<usize>) -> Result<Vec<f64>, String> {
    if let Some(number) = [scale].iter().chain(&bias).find(|number| !number.is_finite()) {
        return Err(format!("the number {number}"));
    }
    let outputs = outputs.unwrap_or(bias.len().max(1));
    match bias.len() {
        given if given == outputs => Ok(bias),
        // Some models of several outputs have no bias, or one of zero for all.
        0 | 1 if bias.iter().all(|&bias| bias == 0.0) => Ok(vec![0.0; outputs]),
        given => Err(format!("{given} biases for {outputs} outputs")),
    }
}

/// Where a statistic is looked at.
enum Place {
    /// By a rule of its feature.
    Rule(Arc<Statistic>),
    /// In a column of its own, with other features.
    Column(usize),
}

/// Splits of a file, and what they refer to.
pub(super) struct Splits {
    features: Features,
    /// Whether rows are compared in 64 bits: codes of categories need them.
    double: bool,
    places: Vec<Place>,
    joint: Vec<Statistic>,
    /// Hashes that splits look for, with their columns.
    known: Vec<(usize, u32)>,
}

/// A model but for its trees.
pub(super) struct Frame {
    pub(super) bias: Vec<f64>,
    /// What the outputs are called, where there is one for each class.
    pub(super) classes: Vec<String>,
    pub(super) link: Option<Link>,
    pub(super) origin: Origin,
    /// Categories as texts, where the file has some.
    pub(super) texts: Vec<String>,
    /// About how many nodes to make room for.
    pub(super) nodes: usize,
}

impl Splits {
    /// `statistics` makes the statistics of the file, told the features and whether rows are compared in 64 bits.
    pub(super) fn new(
        features: Features,
        statistics: impl FnOnce(&Features, bool) -> Result<Vec<Statistic>, ModelError>,
    ) -> Result<Self, ModelError> {
        let double = !features.category_columns().is_empty();
        let statistics = statistics(&features, double)?;
        let mut splits = Self { features, double, places: Vec::new(), joint: Vec::new(), known: Vec::new() };
        for statistic in statistics {
            let place = match *statistic.features() {
                [feature] => {
                    splits.known.extend(statistic.categories().map(|hash| (feature as usize, hash)));
                    Place::Rule(Arc::new(statistic))
                }
                _ => {
                    splits.joint.push(statistic);
                    Place::Column(splits.features.count + splits.joint.len() - 1)
                }
            };
            splits.places.push(place);
        }
        Ok(splits)
    }

    pub(super) fn features(&self) -> &Features {
        &self.features
    }

    /// Splits on these conditions look for this category.
    pub(super) fn know(&mut self, column: usize, hash: u32) {
        self.known.push((column, hash));
    }

    /// Whether a split looks at several features.
    pub(super) fn is_joint(&self, condition: Condition) -> bool {
        match condition {
            Condition::Statistic { place, .. } => matches!(self.places.get(place), Some(Place::Column(_))),
            _ => false,
        }
    }

    /// The split on a condition, whose column is one of extended rows; or what is wrong with it.
    pub(super) fn split(&self, condition: Condition) -> Result<Split, String> {
        let ruled = |column: usize, rule: Rule| {
            let default_left = rule.goes_left(f64::NAN, false);
            Split { feature: column as i64, default_left, rule: Some(rule), ..Split::default() }
        };
        match condition {
            Condition::Above { border, .. } | Condition::Statistic { border, .. } if border.is_nan() => {
                Err("the border NaN".to_owned())
            }
            Condition::Above { number, border } => Ok(Split {
                feature: number.column as i64,
                threshold: threshold(border, self.double),
                default_left: !number.missing_is_above,
                rule: None,
            }),
            Condition::Exactly { column, hash } => Ok(ruled(column, Rule::Hashed(hash))),
            Condition::Statistic { place, border } => match self.places.get(place) {
                None => Err(format!("statistic {place} of {}", self.places.len())),
                Some(Place::Rule(statistic)) => {
                    let column = statistic.features()[0] as usize;
                    let (statistic, border) = (statistic.clone(), f64::from(border));
                    Ok(ruled(column, Rule::Statistic { statistic, border }))
                }
                // A statistic that is no number is above nothing.
                Some(&Place::Column(column)) => Ok(Split {
                    feature: column as i64,
                    threshold: at_most(f64::from(border)),
                    default_left: true,
                    rule: None,
                }),
            },
        }
    }

    /// Puts a model together. `push` is given a place to put trees to.
    pub(super) fn model(
        self,
        frame: Frame,
        push: impl FnOnce(&Self, &mut Grove) -> Result<(), ModelError>,
    ) -> Result<Ensemble, ModelError> {
        let Frame { bias, classes, link, origin, texts, nodes } = frame;
        let (features, outputs) = (self.features.count, bias.len());
        let parts = |features, feature_names, base_margins| EnsembleParts {
            width: if self.double { Width::Double } else { Width::Single },
            features,
            feature_names,
            base_margins,
            link,
            origin: origin.clone(),
        };
        let alone = Ensemble::new(parts(features, self.features.names(), bias), nodes);
        let joint = Ensemble::new(parts(features + self.joint.len(), None, vec![0.0; outputs]), 0);
        let mut grove = Grove { alone, joint, outputs };
        push(&self, &mut grove)?;
        let Grove { mut alone, joint, .. } = grove;
        alone.set_words(self.words(texts));
        alone.set_output_names(classes);
        if !joint.trees().is_empty() {
            alone.set_joint(JointTrees::new(features, self.joint, joint));
        }
        Ok(alone)
    }

    /// The words of the columns of categories.
    fn words(&self, texts: Vec<String>) -> Vec<Option<Words>> {
        let columns = self.features.category_columns();
        let Some(&last) = columns.last() else { return Vec::new() };
        // A long text is nothing to show, and could be that of many columns.
        let texts = texts.into_iter().filter(|text| text.len() <= LONGEST);
        let texts: HashMap<u32, String> = texts.map(|text| (category_hash(&text), text)).collect();
        let mut hashes: Vec<Vec<u32>> = vec![Vec::new(); last + 1];
        self.known.iter().for_each(|&(column, hash)| hashes[column].push(hash));
        let mut words = vec![None; last + 1];
        for column in columns {
            let hashes = &mut hashes[column];
            hashes.sort_unstable();
            hashes.dedup();
            let known = hashes.iter().filter_map(|hash| texts.get(hash));
            let list = known.map(|text| Category::Text(text.clone())).collect();
            words[column] = Some(Words::hashed(std::mem::take(hashes), list));
        }
        words
    }
}

/// Where the trees of a model are put.
pub(super) struct Grove {
    /// Trees whose splits look at one feature each.
    alone: Ensemble,
    /// All others.
    joint: Ensemble,
    outputs: usize,
}

impl Grove {
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Appends a tree, `number` of the file, with leaves times `scale`.
    pub(super) fn push(
        &mut self,
        tree: VectorTree,
        number: usize,
        is_joint: bool,
        scale: f64,
    ) -> Result<(), ModelError> {
        let (own, other) = match is_joint {
            true => (&mut self.joint, &mut self.alone),
            false => (&mut self.alone, &mut self.joint),
        };
        tree.push_to(own, number, 0..self.outputs, scale)?;
        // A tree of the file is a round, wherever it stands.
        other.end_round();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_of_64_bits_is_where_rounding_passes_the_border() {
        let borders = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.1,
            -0.1,
            1e-45,
            -1e-45,
            3e-45,
            1e-38,
            f32::MAX,
            -f32::MAX,
            16_777_216.0,
            0.3,
            255.5,
        ];
        for border in borders {
            let border: f32 = border;
            for neighbour in [border, border.next_up(), border.next_down(), border.next_up().next_up()] {
                let middle = (f64::from(neighbour) + f64::from(border)) / 2.0;
                for x in [f64::from(neighbour), middle, middle.next_up(), middle.next_down()] {
                    if x.is_finite() {
                        let wanted = x as f32 <= border;
                        assert_eq!(x < threshold(border, true), wanted, "{x} and {border}");
                        assert_eq!(
                            f64::from(x as f32) < threshold(border, false),
                            wanted,
                            "{x} and {border}"
                        );
                    }
                }
            }
        }
        for x in [3.4028235e38, 3.402823567797336e38, 3.4028235677973366e38, 3.4028235677973367e38, 1e39] {
            assert_eq!(x < threshold(f32::MAX, true), x as f32 <= f32::MAX, "{x}");
        }
        assert!(1e300 < threshold(f32::INFINITY, true) && 0.0 > threshold(f32::NEG_INFINITY, true));
    }
}
