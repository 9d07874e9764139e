//! Conditions of splits, independent of the file format.

use std::collections::HashMap;
use std::sync::Arc;

use super::features::{Features, Number};
use crate::ensemble::{
    Categories, Category, Ensemble, EnsembleParts, JointTrees, Link, Origin, Rule, Split, Statistic,
    VectorTree, Width, at_most, category_hash,
};
use crate::error::ModelError;

/// Maximum length of the name of a category, in bytes. Longer names are not stored.
const LONGEST: usize = 1000;

/// The condition of a split. Rows that meet it go right.
#[derive(Debug, Clone, Copy)]
pub(super) enum Condition {
    /// The number in a column is above a border.
    Above { number: Number, border: f32 },
    /// The category in a column has this hash.
    Exactly { column: usize, hash: u32 },
    /// The statistic with this index in the file is above a border.
    Statistic { place: usize, border: f32 },
}

/// Returns the threshold t for which `x < t` is equivalent to `x ≤ border` with x rounded to 32 bits. If rows
/// are compared in 64 bits, t is the point at which rounding switches from the border to the next number;
/// ties are rounded to even.
pub(super) fn threshold(border: f32, double: bool) -> f64 {
    let above = border.next_up();
    if !double || !border.is_finite() {
        return at_most(f64::from(border));
    }
    // Beyond the largest number, rounding behaves as if there were another number one step further.
    let step = if above.is_finite() { f64::from(above) - f64::from(border) } else { 2f64.powi(104) };
    let middle = f64::from(border) + step / 2.0;
    if border.to_bits().is_multiple_of(2) { at_most(middle) } else { middle }
}

/// Returns the error for splits on features computed from text or embeddings.
pub(super) fn refuse_computed(kind: &str) -> ModelError {
    ModelError::Unsupported {
        what: format!("a split on a feature computed from text or embeddings ({kind})"),
        help: "convert text and embeddings to numeric features before training",
    }
}

/// Returns one bias per output, or a description of the problem. `outputs` is the number of outputs, if
/// known.
pub(super) fn biases(scale: f64, bias: Vec<f64>, outputs: Option<usize>) -> Result<Vec<f64>, String> {
    if let Some(number) = [scale].iter().chain(&bias).find(|number| !number.is_finite()) {
        return Err(format!("expected finite numbers, got {number}"));
    }
    let outputs = outputs.unwrap_or(bias.len().max(1));
    match bias.len() {
        given if given == outputs => Ok(bias),
        // Some models with several outputs do not have a bias, or have a single bias of zero.
        0 | 1 if bias.iter().all(|&bias| bias == 0.0) => Ok(vec![0.0; outputs]),
        given => Err(format!("expected {outputs} biases (one per output), got {given}")),
    }
}

/// How a statistic is evaluated.
enum StatisticSource {
    /// As a rule on a single feature.
    Rule(Arc<Statistic>),
    /// In an additional column, since the statistic depends on several features.
    Column(usize),
}

/// The splits of a file, and the data to which they refer.
pub(super) struct Splits {
    features: Features,
    /// Whether rows are compared in 64 bits, which the codes of categories require.
    double: bool,
    places: Vec<StatisticSource>,
    joint: Vec<Statistic>,
    /// The pairs of a categorical column and a hash that splits compare.
    known: Vec<(usize, u32)>,
}

/// The parts of a model other than its trees.
pub(super) struct Frame {
    pub(super) bias: Vec<f64>,
    /// Names of the outputs, if there is one for each class.
    pub(super) classes: Vec<String>,
    pub(super) link: Option<Link>,
    pub(super) origin: Origin,
    /// The names of categories, if the file stores any.
    pub(super) texts: Vec<String>,
    /// Estimate of the number of nodes, to reserve memory.
    pub(super) nodes: usize,
}

impl Splits {
    /// Creates splits. `statistics` creates the statistics of the file, given the features and whether rows
    /// are compared in 64 bits.
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
                    StatisticSource::Rule(Arc::new(statistic))
                }
                _ => {
                    splits.joint.push(statistic);
                    StatisticSource::Column(splits.features.count + splits.joint.len() - 1)
                }
            };
            splits.places.push(place);
        }
        Ok(splits)
    }

    pub(super) fn features(&self) -> &Features {
        &self.features
    }

    /// Records that a split compares the category with this hash.
    pub(super) fn know(&mut self, column: usize, hash: u32) {
        self.known.push((column, hash));
    }

    /// Returns whether a split depends on several features.
    pub(super) fn is_joint(&self, condition: Condition) -> bool {
        match condition {
            Condition::Statistic { place, .. } => {
                matches!(self.places.get(place), Some(StatisticSource::Column(_)))
            }
            _ => false,
        }
    }

    /// Returns the split for a condition, with the column as an index into extended rows, or a description of
    /// the problem.
    pub(super) fn split(&self, condition: Condition) -> Result<Split, String> {
        let ruled = |column: usize, rule: Rule| {
            let default_left = rule.goes_left(f64::NAN, false);
            Split { feature: column as i64, default_left, rule: Some(rule), ..Split::default() }
        };
        match condition {
            Condition::Above { border, .. } | Condition::Statistic { border, .. } if border.is_nan() => {
                Err("invalid border NaN".to_owned())
            }
            Condition::Above { number, border } => Ok(Split {
                feature: number.column as i64,
                threshold: threshold(border, self.double),
                default_left: !number.missing_is_above,
                rule: None,
            }),
            Condition::Exactly { column, hash } => Ok(ruled(column, Rule::Hashed(hash))),
            Condition::Statistic { place, border } => match self.places.get(place) {
                None => Err(format!("statistic {place} is out of range (statistics: {})", self.places.len())),
                Some(StatisticSource::Rule(statistic)) => {
                    let column = statistic.features()[0] as usize;
                    let (statistic, border) = (statistic.clone(), f64::from(border));
                    Ok(ruled(column, Rule::Statistic { statistic, border }))
                }
                // A statistic that is NaN counts as not above the border.
                Some(&StatisticSource::Column(column)) => Ok(Split {
                    feature: column as i64,
                    threshold: at_most(f64::from(border)),
                    default_left: true,
                    rule: None,
                }),
            },
        }
    }

    /// Builds a model, to which `push` adds the trees.
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
        alone.set_categories(self.categories(texts));
        alone.set_output_names(classes);
        if !joint.trees().is_empty() {
            alone.set_joint(JointTrees::new(features, self.joint, joint));
        }
        Ok(alone)
    }

    /// Returns the categories of the categorical columns.
    fn categories(&self, texts: Vec<String>) -> Vec<Option<Categories>> {
        let columns = self.features.category_columns();
        let Some(&last) = columns.last() else { return Vec::new() };
        // Long strings are not suitable for display, and would take much memory if they are repeated for many
        // columns.
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
            words[column] = Some(Categories::hashed(std::mem::take(hashes), list));
        }
        words
    }
}

/// The trees of a model under construction.
pub(super) struct Grove {
    /// Trees whose splits depend on one feature each.
    alone: Ensemble,
    /// Trees with splits that depend on several features.
    joint: Ensemble,
    outputs: usize,
}

impl Grove {
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Appends a tree, which has the index `number` in the file, with leaves multiplied by `scale`.
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
        // End the round in the other ensemble too, because each tree of the file is a round.
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
                        let expected = x as f32 <= border;
                        assert_eq!(x < threshold(border, true), expected, "{x} and {border}");
                        assert_eq!(
                            f64::from(x as f32) < threshold(border, false),
                            expected,
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
