//! What is known of the values in a graph.

use super::columns::{Allowance, Columns};
use super::stop::Stop;
use crate::ensemble::Link;
use crate::formats::onnx_ml::tensor::Tensor;

/// A value in the graph.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// Numbers that do not depend on the row.
    Constant(Tensor),
    /// Scores of the row.
    Scores(Scores),
    /// Their sum.
    Total(Scores),
    /// A class, which is said for people.
    Label,
}

/// Affine columns, and what they are taken through.
#[derive(Debug, Clone)]
pub(super) struct Scores {
    pub(super) margins: Columns,
    /// `None` for a link that has no name here.
    pub(super) link: Option<Link>,
}

const LOGISTIC: Option<Link> = Some(Link::Logistic { steepness: 1.0 });

impl Scores {
    pub(super) fn affine(margins: Columns) -> Self {
        Self { margins, link: Some(Link::Identity) }
    }

    /// The columns, where they are affine.
    pub(super) fn columns(&self) -> Result<&Columns, Stop> {
        match self.link {
            Some(Link::Identity) => Ok(&self.margins),
            _ => Err(Stop::Other),
        }
    }

    /// Behind one link more, where there was none.
    pub(super) fn behind(&self, link: Link) -> Result<Self, Stop> {
        Ok(Self { margins: self.columns()?.clone(), link: Some(link) })
    }

    /// Divided by their sum, where they are probabilities.
    pub(super) fn shares(&self) -> Result<Self, Stop> {
        let link = match self.link {
            Some(Link::Softmax) => self.link,
            LOGISTIC if self.margins.are_mirrored() => self.link,
            LOGISTIC | None => None,
            _ => return Err(Stop::Other),
        };
        Ok(Self { link, ..self.clone() })
    }

    /// `1 − p` of probabilities that are each their own.
    pub(super) fn opposite(&self) -> Result<Self, Stop> {
        match self.link {
            LOGISTIC => Ok(Self { margins: self.margins.affine(|_| [0.0, -1.0, 0.0]), link: LOGISTIC }),
            _ => Err(Stop::Other),
        }
    }

    /// Some of the columns, of a link that takes each by itself.
    pub(super) fn chosen(&self, places: &[usize], allowance: &mut Allowance) -> Result<Self, Stop> {
        if self.link.is_none_or(Link::mixes) {
            return Err(Stop::Other);
        }
        let margins = self.margins.chosen(places)?;
        allowance.spend(margins.terms())?;
        Ok(Self { margins, link: self.link })
    }

    pub(super) fn same(&self, other: &Self) -> bool {
        self.link == other.link && self.margins.same(&other.margins)
    }
}
