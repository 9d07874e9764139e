//! How an operator takes its margins to scores.

use super::attributes::Attributes;
use crate::ensemble::Link;
use crate::error::ModelError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PostTransform {
    None,
    Softmax,
    Logistic,
    /// Softmax of all but zeros.
    SoftmaxZero,
    Probit,
}

const ALL: [(&str, PostTransform); 5] = [
    ("NONE", PostTransform::None),
    ("SOFTMAX", PostTransform::Softmax),
    ("LOGISTIC", PostTransform::Logistic),
    ("SOFTMAX_ZERO", PostTransform::SoftmaxZero),
    ("PROBIT", PostTransform::Probit),
];

impl PostTransform {
    const ATTRIBUTE: &'static str = "post_transform";

    /// Of an operator that gives its name.
    pub(super) fn named(attributes: Attributes<'_>) -> Result<Self, ModelError> {
        let name = attributes.text(Self::ATTRIBUTE)?.unwrap_or("NONE");
        let found = ALL.iter().find(|(known, _)| *known == name);
        let unknown = || attributes.error(Self::ATTRIBUTE, format!("{name:?} is not known"));
        found.map(|&(_, transform)| transform).ok_or_else(unknown)
    }

    /// Of an operator that gives its number.
    pub(super) fn numbered(attributes: Attributes<'_>) -> Result<Self, ModelError> {
        let number = attributes.integer(Self::ATTRIBUTE)?.unwrap_or(0);
        let found = usize::try_from(number).ok().and_then(|number| ALL.get(number));
        let unknown = || attributes.error(Self::ATTRIBUTE, format!("{number} is not known"));
        found.map(|&(_, transform)| transform).ok_or_else(unknown)
    }

    /// Of one margin for each output.
    pub(super) fn link(self) -> Option<Link> {
        match self {
            Self::None => Some(Link::Identity),
            Self::Softmax => Some(Link::Softmax),
            Self::Logistic => Some(Link::Logistic { steepness: 1.0 }),
            Self::SoftmaxZero | Self::Probit => None,
        }
    }

    /// Of the one margin of a classifier of two classes: runtimes do not agree on what its softmax is.
    pub(super) fn link_of_margin(self) -> Option<Link> {
        match self {
            Self::Softmax => None,
            other => other.link(),
        }
    }
}
