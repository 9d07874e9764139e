//! The values that the regression computes, and their players: features or groups of features.

use apportion_games::{Background, Partition};
use apportion_values::{Semivalue, Value};

use crate::error::{Result, SurrogateError};

/// The Shapley or Banzhaf value of features, or of groups that act as players.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RegressionValue {
    pub(crate) value: Value,
    pub(crate) semivalue: Semivalue,
    groups: Option<Partition>,
}

impl RegressionValue {
    /// Returns the value, or an error if the regression does not compute it.
    pub(crate) fn new(value: &Value) -> Result<Self> {
        let value = value.simplified();
        let (semivalue, groups) = match &value {
            Value::Semivalue(semivalue) => (semivalue.clone(), None),
            Value::Quotient(semivalue, groups) => (semivalue.clone(), Some(groups.clone())),
            _ => return Err(SurrogateError::Unsupported { value: Box::new(value) }),
        };
        match semivalue {
            Semivalue::Shapley | Semivalue::Banzhaf => Ok(Self { value, semivalue, groups }),
            _ => Err(SurrogateError::Unsupported { value: Box::new(value) }),
        }
    }

    /// Returns the players of a row: features or groups that differ from some background row.
    pub(crate) fn players(&self, row: &[f64], background: &Background) -> Players {
        let active = active_features(row, background);
        let Some(groups) = &self.groups else {
            let starts = (0..=active.len() as u32).collect();
            return Players { results: active.clone(), features: active, starts };
        };
        let mut players = Players { results: Vec::new(), features: Vec::new(), starts: vec![0] };
        for (group, members) in groups.groups().iter().enumerate() {
            let start = players.features.len();
            let is_active = |feature: &u32| active.binary_search(feature).is_ok();
            players.features.extend(members.iter().map(|&feature| feature as u32).filter(is_active));
            if players.features.len() > start {
                players.results.push(group as u32);
                players.starts.push(players.features.len() as u32);
            }
        }
        players
    }

    /// Returns the factor m for which `a_i − m Σ a_i` are the rows of the regression.
    ///
    /// Let β be the coefficients of `a_i`, with entries ±½, and c the weight ½(P(0) + P(n−1)) of the empty
    /// and the full coalition in the value, P(s) being the probability of each coalition of s others. The
    /// value of player i is then `β_i − c Σβ` in the game without its known sum, so that `β = φ + c/(1 − cn)
    /// Σφ`. For Shapley values, c is 1/n, and only the differences of β matter: m is 1/n.
    pub(crate) fn centring(&self, players: usize) -> f64 {
        let n = players as f64;
        match self.semivalue {
            Semivalue::Banzhaf if players > 2 => {
                let c = (1.0 - n).exp2();
                -c / (1.0 - c * n)
            }
            // With two players, the Banzhaf value is the Shapley value.
            _ => 1.0 / n,
        }
    }

    /// Returns the total weight of all coalitions of a size in the regression that defines the value, up to a
    /// constant factor. For pairs, `size` is the size of the smaller coalition.
    pub(crate) fn size_weight(&self, size: usize, players: usize) -> f64 {
        let (s, n) = (size as f64, players as f64);
        match self.semivalue {
            Semivalue::Shapley => 1.0 / (s * (n - s)),
            _ => {
                let sizes = self.semivalue.size_distribution(players);
                sizes[size - 1] / s + sizes[size] / (n - s)
            }
        }
    }
}

/// Returns the features of a row that differ from some background row, whatever its weight.
fn active_features(row: &[f64], background: &Background) -> Vec<u32> {
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    let mut is_active = vec![false; row.len()];
    for other in background.as_rows().iter() {
        for (active, (&there, &here)) in is_active.iter_mut().zip(other.iter().zip(row)) {
            *active |= !same(there, here);
        }
    }
    (0..row.len() as u32).filter(|&feature| is_active[feature as usize]).collect()
}

/// The players of one row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Players {
    /// The index of each player among all results: of its feature, or of its group.
    pub(crate) results: Vec<u32>,
    features: Vec<u32>,
    starts: Vec<u32>,
}

impl Players {
    /// Returns the number of players.
    pub(crate) fn len(&self) -> usize {
        self.results.len()
    }

    /// Returns the groups of the players' features, numbered in their order; `None` if every player is a
    /// single feature.
    pub(crate) fn partition(&self) -> Option<Partition> {
        if self.features.len() == self.len() {
            return None;
        }
        let groups = self.starts.windows(2).map(|ends| (ends[0] as usize..ends[1] as usize).collect());
        Partition::new(self.features.len(), groups.collect()).ok()
    }

    /// Returns the features of a player that differ from the background.
    pub(crate) fn features(&self, player: usize) -> &[u32] {
        &self.features[self.starts[player] as usize..self.starts[player + 1] as usize]
    }
}
