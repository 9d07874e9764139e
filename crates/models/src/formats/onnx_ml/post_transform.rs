//! The attribute `post_transform` of an operator, which defines the conversion of margins to scores.

use super::attributes::Attributes;
use crate::ensemble::Link;
use crate::error::ModelError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PostTransform {
    None,
    Softmax,
    Logistic,
    /// Softmax of all margins except zeros.
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

    /// Reads the attribute of an operator that stores the conversion as a name.
    pub(super) fn named(attributes: Attributes<'_>) -> Result<Self, ModelError> {
        let name = attributes.text(Self::ATTRIBUTE)?.unwrap_or("NONE");
        let found = ALL.iter().find(|(known, _)| *known == name);
        let unknown = || attributes.error(Self::ATTRIBUTE, format!("unknown function {name:?}"));
        found.map(|&(_, transform)| transform).ok_or_else(unknown)
    }

    /// Reads the attribute of an operator that stores the conversion as a number.
    pub(super) fn numbered(attributes: Attributes<'_>) -> Result<Self, ModelError> {
        let number = attributes.integer(Self::ATTRIBUTE)?.unwrap_or(0);
        let found = usize::try_from(number).ok().and_then(|number| ALL.get(number));
        let unknown = || attributes.error(Self::ATTRIBUTE, format!("unknown function {number}"));
        found.map(|&(_, transform)| transform).ok_or_else(unknown)
    }

    /// Returns the link for models with a margin for each output.
    pub(super) fn link(self) -> Option<Link> {
        match self {
            Self::None => Some(Link::Identity),
            Self::Softmax => Some(Link::Softmax),
            Self::Logistic => Some(Link::Logistic { steepness: 1.0 }),
            Self::SoftmaxZero | Self::Probit => None,
        }
    }

    /// Returns the link of a classifier with two classes and one margin. For this case, runtimes disagree
    /// about the softmax.
    pub(super) fn link_of_margin(self) -> Option<Link> {
        match self {
            Self::Softmax => None,
            other => other.link(),
        }
    }
}
