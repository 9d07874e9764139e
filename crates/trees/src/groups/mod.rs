//! Features in groups: what the oracles of both games share.
//!
//! # Notation
//!
//! The features are in groups S_1 … S_m. A coalitional value weighs coalitions of other groups by one semivalue, with moments M1, and
//! coalitions of fellow members by another, with moments M2.

mod moments;
mod two_step;

pub(crate) use self::moments::MomentPairs;
pub(crate) use self::two_step::{members_alone, two_step};
