//! The two readings of L-Shapley and C-Shapley: players outside the neighbourhood are absent in the paper,
//! and present in the authors' code.
//!
//! Definitions 1 and 2 use v(T) for T within `N_k(i)`, so that the players outside are absent. The released
//! code, which only covers texts, evaluates v(T ∪ (N \ `N_k(i)`)). Every claim on L-Shapley and C-Shapley is
//! judged in both readings.

use super::method::Method;
use crate::reproduce::verdict::Claim;

/// A reading of the definitions: whether the players outside the neighbourhood are absent or present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Absent,
    Present,
}

impl Reading {
    pub(super) const ALL: [Self; 2] = [Self::Absent, Self::Present];

    pub(super) fn l_shapley(self) -> Method {
        match self {
            Self::Absent => Method::LShapley,
            Self::Present => Method::LShapleyPresent,
        }
    }

    /// Returns the method used as C-Shapley on texts: the regression described in the paper, or equation 6,
    /// which the authors' code computes.
    pub(super) fn c_shapley_on_texts(self) -> Method {
        match self {
            Self::Absent => Method::CShapley,
            Self::Present => Method::EquationSixPresent,
        }
    }

    /// Returns the method used as C-Shapley on images: the regression in both readings, since no code was
    /// released for images.
    pub(super) fn c_shapley_on_images(self) -> Method {
        match self {
            Self::Absent => Method::CShapley,
            Self::Present => Method::CShapleyPresent,
        }
    }

    /// Marks a claim as judged in this reading.
    pub(super) fn mark(self, claim: Claim) -> Claim {
        claim.read_as(match self {
            Self::Absent => "other players absent, as printed",
            Self::Present => "other players present, as in the authors' code for texts",
        })
    }
}
