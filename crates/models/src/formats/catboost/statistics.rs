//! Statistics of categories, which CatBoost calls CTR, as stored in its files.
//!
//! During training, CatBoost counts for each category, or combination of categories and results of tests, the
//! number of occurrences of each class of the target. Splits compare
//!
//! ```text
//! ((count in class + prior) / (total + weight of the prior) + shift) · scale,
//! ```
//!
//! computed in `f32`. The kind of statistic determines the two counts. Several statistics (with different
//! priors or classes) share one table of counts. Both formats use the same numbering.

use std::sync::Arc;

use super::features::Features;
use super::splits::threshold;
use crate::ensemble::{Counts, Part, Rate, RateKind, Statistic};

/// The names of the kinds in a document. A binary file stores their indices.
pub(super) const NAMES: [&str; 6] =
    ["Borders", "Buckets", "BinarizedTargetMeanValue", "FloatTargetMeanValue", "Counter", "FeatureFreq"];

/// Returns the kind with this index in [`NAMES`], or `None` if the index is out of range. The kind uses the
/// count of `class`, or the counts of all classes after it.
pub(super) fn kind(place: usize, class: usize) -> Option<RateKind> {
    Some(match place {
        0 => RateKind::After(class),
        1 => RateKind::Of(class),
        2 | 3 => RateKind::Mean,
        4 | 5 => RateKind::Counter,
        _ => return None,
    })
}

/// An input of a statistic. Features are identified by their index among the features of the same kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Element {
    Category { index: usize },
    Above { index: usize, border: f32 },
    Exactly { index: usize, hash: u32 },
}

/// A statistic as described in a file.
pub(super) struct StatisticDescription {
    pub(super) elements: Vec<Element>,
    pub(super) rate: Rate,
}

impl StatisticDescription {
    /// Combines the statistic with its counts, or returns why they do not match. `double` specifies whether
    /// rows are compared in 64 bits.
    pub(super) fn with(
        &self,
        counts: Arc<Counts>,
        features: &Features,
        double: bool,
    ) -> Result<Statistic, String> {
        let parts = self.elements.iter().map(|element| part(element, features, double));
        Statistic::new(parts.collect::<Result<Vec<Part>, String>>()?, counts, self.rate)
    }
}

fn part(element: &Element, features: &Features, double: bool) -> Result<Part, String> {
    Ok(match *element {
        Element::Category { index } => Part::Category { feature: features.category(index)? as u32 },
        Element::Exactly { index, hash } => Part::Exactly { feature: features.category(index)? as u32, hash },
        Element::Above { index, border } => {
            let number = features.number(index)?;
            Part::Above {
                feature: number.column as u32,
                threshold: threshold(border, double),
                missing_is_above: number.missing_is_above,
            }
        }
    })
}
