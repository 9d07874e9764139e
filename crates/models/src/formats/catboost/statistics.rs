//! Statistics of categories, as CatBoost's files state them: it calls them CTR.
//!
//! While it trains, CatBoost counts for each category, or combination of categories and answers to tests, how often each class of the
//! target came with it. Splits compare
//!
//! ```text
//! ((count in class + prior) / (total + weight of the prior) + shift) · scale,
//! ```
//!
//! computed in `f32`. What the two counts are depends on the kind of statistic. Several statistics (other priors, other classes) share one
//! table of counts. Both formats number what they list of them alike.

use std::sync::Arc;

use super::features::Features;
use super::splits::threshold;
use crate::ensemble::{Counts, Part, Rate, RateKind, Statistic};

/// The names of the kinds in a document; a binary file has their places.
pub(super) const NAMES: [&str; 6] =
    ["Borders", "Buckets", "BinarizedTargetMeanValue", "FloatTargetMeanValue", "Counter", "FeatureFreq"];

/// The kind at a place among the names, which counts up to or after a class.
pub(super) fn kind(place: usize, class: usize) -> Option<RateKind> {
    Some(match place {
        0 => RateKind::After(class),
        1 => RateKind::Of(class),
        2 | 3 => RateKind::Mean,
        4 | 5 => RateKind::Counter,
        _ => return None,
    })
}

/// What a statistic looks at, features by their index among those of their kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Element {
    Category { index: usize },
    Above { index: usize, border: f32 },
    Exactly { index: usize, hash: u32 },
}

/// A statistic as a file states it.
pub(super) struct Stated {
    pub(super) elements: Vec<Element>,
    pub(super) rate: Rate,
}

impl Stated {
    /// The statistic with its counts, or what does not fit. `double` says whether rows are compared in 64 bits.
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
