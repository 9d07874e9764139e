//! Symbolic values in a graph.

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
    /// A string that does not depend on the row.
    Text(Rc<str>),
    /// Columns of the table, possibly preprocessed.
    Table(Table),
    /// Scores of the row.
    Scores(Scores),
    /// The sum of scores over the columns.
    Total(Scores),
    /// Several scores, stacked along the first axis.
    Stack(Vec<Scores>),
    /// The shape of a tensor.
    Shape,
    /// The label of a class, which is not explained.
    Label,
    /// A value that cannot be evaluated, with the reason.
    Refused(Rc<Refusal>),
}

/// The reason why a value cannot be evaluated.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) operator: String,
    pub(super) name: String,
    pub(super) why: Reason,
}

#[derive(Debug)]
pub(super) enum Reason {
    Unknown,
    Because(String),
    Unsupported { what: String, help: &'static str },
}

/// Affine columns, and the link that is applied to them.
#[derive(Debug, Clone)]
pub(super) struct Scores {
    pub(super) margins: Columns,
    /// The link; `None` if [`Link`] does not support it.
    pub(super) link: Option<Link>,
    /// Whether the second of two columns is the margin, and the first is the corresponding score of the other
    /// class.
    pub(super) is_pair: bool,
    /// The constant by which all margins were divided, if only negations followed the division.
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

    /// Returns the columns, if no link is applied to them.
    pub(super) fn columns(&self) -> Result<&Columns, Stop> {
        match self.link {
            Some(Link::Identity) => Ok(&self.margins),
            _ => Err(Stop::Other),
        }
    }

    /// Applies a link. Fails if a link was already applied.
    pub(super) fn behind(&self, link: Link) -> Result<Self, Stop> {
        Ok(Self::linked(self.columns()?.clone(), Some(link)))
    }

    /// Divides the scores by their sum, if they are probabilities.
    pub(super) fn shares(&self) -> Result<Self, Stop> {
        let link = match self.link {
            Some(Link::Softmax) => self.link,
            LOGISTIC if self.margins.are_mirrored() => self.link,
            Some(Link::Exponential) => Some(Link::Softmax),
            // These probabilities already add up to 1.
            Some(Link::Identity) if self.margins.constant_sum() == Some(1.0) => self.link,
            // Linear scores may have either sign.
            Some(Link::Identity) if self.margins.0.iter().any(|column| !column.terms.is_empty()) => {
                return Err(Stop::Other);
            }
            LOGISTIC | Some(Link::Identity) | None => None,
            _ => return Err(Stop::Other),
        };
        Ok(Self { link, ..self.clone() })
    }

    /// Returns `1 − p` for probabilities p that are computed independently of each other.
    pub(super) fn opposite(&self) -> Result<Self, Stop> {
        match self.link {
            LOGISTIC => Ok(Self::linked(self.margins.affine(|_| [0.0, -1.0, 0.0]), LOGISTIC)),
            _ => Err(Stop::Other),
        }
    }

    /// Returns some of the columns, if the link applies to each column separately.
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
