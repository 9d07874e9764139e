//! What is known of the values in a graph.

use std::rc::Rc;

use super::columns::{Allowance, Columns};
use super::stop::Stop;
use super::table::Table;
use crate::ensemble::Link;
use crate::formats::onnx_ml::tensor::Tensor;

/// A value in the graph.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// Numbers that do not depend on the row.
    Constant(Tensor),
    /// A text that does not depend on the row.
    Text(Rc<str>),
    /// Columns of the table, or what steps before the trees make of each.
    Table(Table),
    /// Scores of the row.
    Scores(Scores),
    /// Their sum.
    Total(Scores),
    /// Several of them, one before the other along the first axis.
    Stack(Vec<Scores>),
    /// The shape of a tensor.
    Shape,
    /// The label of a class, which is not explained.
    Label,
    /// What cannot be followed, and why.
    Refused(Rc<Refusal>),
}

/// Why a value cannot be followed.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) operator: String,
    pub(super) name: String,
    pub(super) why: Why,
}

#[derive(Debug)]
pub(super) enum Why {
    Unknown,
    Because(String),
    Unsupported { what: String, wanted: &'static str },
}

/// Affine columns, and what they are taken through.
#[derive(Debug, Clone)]
pub(super) struct Scores {
    pub(super) margins: Columns,
    /// `None` for a link that has no name here.
    pub(super) link: Option<Link>,
    /// Whether the second of two columns is the margin, and the first says the same of the other class.
    pub(super) is_pair: bool,
    /// The constant by which the margins were divided last.
    pub(super) divisor: Option<f64>,
}

const LOGISTIC: Option<Link> = Some(Link::Logistic { steepness: 1.0 });

impl Scores {
    pub(super) fn affine(margins: Columns) -> Self {
        Self::linked(margins, Some(Link::Identity))
    }

    pub(super) fn linked(margins: Columns, link: Option<Link>) -> Self {
        Self { margins, link, is_pair: false, divisor: None }
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
        Ok(Self::linked(self.columns()?.clone(), Some(link)))
    }

    /// Divided by their sum, where they are probabilities.
    pub(super) fn shares(&self) -> Result<Self, Stop> {
        let link = match self.link {
            Some(Link::Softmax) => self.link,
            LOGISTIC if self.margins.are_mirrored() => self.link,
            Some(Link::Exponential) => Some(Link::Softmax),
            // Probabilities that add up to 1 already.
            Some(Link::Identity) if self.margins.constant_sum() == Some(1.0) => self.link,
            // Linear scores are of either sign.
            Some(Link::Identity) if self.margins.0.iter().any(|column| !column.terms.is_empty()) => {
                return Err(Stop::Other);
            }
            LOGISTIC | Some(Link::Identity) | None => None,
            _ => return Err(Stop::Other),
        };
        Ok(Self { link, ..self.clone() })
    }

    /// `1 − p` of probabilities that are each their own.
    pub(super) fn opposite(&self) -> Result<Self, Stop> {
        match self.link {
            LOGISTIC => Ok(Self::linked(self.margins.affine(|_| [0.0, -1.0, 0.0]), LOGISTIC)),
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
        Ok(Self::linked(margins, self.link))
    }

    pub(super) fn same(&self, other: &Self) -> bool {
        self.link == other.link && self.margins.same(&other.margins)
    }
}
