//! Values of players in groups: the estimate of [`CoalitionalRegression`], improved by a
//! [process](super::process_fit) that is fitted to the same coalitions.
//!
//! The regressions draw most coalitions in pairs of complements. Both coalitions of a pair are therefore left
//! out together. The inclusion probability of a coalition is the share of drawn coalitions in its stratum:
//! all coalitions with the same number of whole groups and the same number of members of the same other
//! group.

use std::collections::HashMap;

use apportion_games::{Cached, Coalition, CoalitionView, Coalitions, Game, Partition};
use apportion_values::SolutionConcept;
use statrs::function::factorial::binomial;

use super::process_fit::{self, Evaluated, improve};
use crate::error::{EstimatorError, Result};
use crate::in_groups::coalitional_regression::CoalitionalRegression;
use crate::report::Explanation;
use crate::run::Estimator;

/// The estimator of a coalitional or two-step value.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub(super) struct LearnedCoalitional {
    /// The name of the method.
    #[serde(skip)]
    name: &'static str,
    plain: CoalitionalRegression,
}

impl LearnedCoalitional {
    /// Creates the estimator of `value` for players in the groups of `partition`.
    ///
    /// # Errors
    ///
    /// Same as [`CoalitionalRegression::new`].
    pub(super) fn new(
        name: &'static str,
        value: SolutionConcept,
        partition: Partition,
    ) -> Result<Self, EstimatorError> {
        Ok(Self { name, plain: CoalitionalRegression::new(value, partition)? })
    }
}

impl Estimator for LearnedCoalitional {
    fn name(&self) -> &'static str {
        self.name
    }

    fn value(&self) -> SolutionConcept {
        self.plain.value()
    }

    fn minimum_budget(&self, players: usize) -> usize {
        self.plain.minimum_budget(players)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        let game = Cached::new(game);
        let mut explanation = self.plain.estimate_seen(&game, budget, seed)?;
        let name = std::mem::replace(&mut explanation.method, self.name().to_owned());
        if !explanation.diagnostics.exact {
            let (value, groups) = (self.value(), self.plain.partition());
            let (coalitions, values) = game.evaluations();
            improve(
                &mut explanation,
                &evaluated(&coalitions, &values, groups),
                &|process, signs| process.with_values_in_groups(signs, &value, groups),
                &|game| self.plain.estimate_seen(game, budget, seed),
                &name,
            )?;
        }
        Ok(explanation)
    }

    fn memory(&self, players: usize, outputs: usize, budget: usize) -> u128 {
        let of_process = process_fit::memory(players, outputs, budget);
        self.plain.memory(players, outputs, budget).saturating_add(of_process)
    }

    fn units(&self, players: usize) -> Vec<Vec<usize>> {
        self.plain.units(players)
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(Self { plain: self.plain.clone().grown(), ..*self })
    }
}

/// Returns the evaluated coalitions other than ∅ and N, with their strata and the pairs that they form.
fn evaluated(coalitions: &Coalitions, values: &[f64], groups: &Partition) -> Evaluated {
    let players = coalitions.players();
    let outputs = values.len() / coalitions.len().max(1);
    let value = |row: usize| &values[row * outputs..][..outputs];
    let mut inner = Coalitions::with_capacity(players, coalitions.len());
    let (mut of_inner, mut ends) = (Vec::with_capacity(values.len()), [Vec::new(), Vec::new()]);
    for (row, coalition) in coalitions.iter().enumerate() {
        match coalition.size() {
            0 => ends[0] = value(row).to_vec(),
            size if size == players => ends[1] = value(row).to_vec(),
            _ => {
                inner.push(coalition);
                of_inner.extend_from_slice(value(row));
            }
        }
    }
    ends.iter().for_each(|end| of_inner.extend(end));
    let places: HashMap<&[u64], usize> =
        inner.iter().enumerate().map(|(row, coalition)| (coalition.words(), row)).collect();
    let partner = |(row, coalition): (usize, CoalitionView<'_>)| -> usize {
        let complement: Coalition = coalition.complement();
        places.get(complement.view().words()).copied().unwrap_or(row)
    };
    let partners = inner.iter().enumerate().map(partner).collect();
    let strata: Vec<Option<Stratum>> = inner.iter().map(|row| Stratum::new(row, groups)).collect();
    let mut drawn: HashMap<Stratum, f64> = HashMap::new();
    strata.iter().flatten().for_each(|stratum| *drawn.entry(*stratum).or_default() += 1.0);
    let inclusion = |stratum: &Option<Stratum>| {
        stratum.map_or(0.0, |stratum| (drawn[&stratum] / stratum.size(groups)).min(1.0))
    };
    Evaluated {
        inclusion: strata.iter().map(inclusion).collect(),
        partners,
        weights: vec![1.0; inner.len()],
        values: of_inner,
        coalitions: inner,
    }
}

/// The coalitions that contain a given number of whole groups and of members of one other group, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Stratum {
    whole: usize,
    /// The group of which the coalitions contain some members, and the number of these members.
    part: Option<(usize, usize)>,
}

impl Stratum {
    /// Returns the stratum of a coalition, or `None` if it contains only some members of several groups.
    fn new(coalition: CoalitionView<'_>, groups: &Partition) -> Option<Self> {
        let mut stratum = Self { whole: 0, part: None };
        for (group, members) in groups.groups().iter().enumerate() {
            match members.iter().filter(|&&member| coalition.contains(member)).count() {
                0 => {}
                present if present == members.len() => stratum.whole += 1,
                present if stratum.part.is_none() => stratum.part = Some((group, present)),
                _ => return None,
            }
        }
        Some(stratum)
    }

    /// Returns the number of coalitions in the stratum.
    fn size(self, groups: &Partition) -> f64 {
        let count = groups.len() as u64;
        match self.part {
            None => binomial(count, self.whole as u64),
            Some((group, present)) => {
                let members = groups.group(group).len() as u64;
                binomial(members, present as u64) * binomial(count - 1, self.whole as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_contain_all_coalitions_with_at_most_one_divided_group() {
        let groups = Partition::new(6, vec![vec![0, 3], vec![1], vec![2, 4, 5]]).unwrap();
        let all = Coalitions::from_masks(6, 0..64);
        let mut counts: HashMap<Stratum, f64> = HashMap::new();
        let mut divided = 0;
        for coalition in all.iter() {
            match Stratum::new(coalition, &groups) {
                Some(stratum) => *counts.entry(stratum).or_default() += 1.0,
                None => divided += 1,
            }
        }
        counts.iter().for_each(|(stratum, count)| assert_eq!(stratum.size(&groups), *count, "{stratum:?}"));
        // Some but not all of the members of both larger groups: 2 · 6 · 2.
        assert_eq!(divided, 24);
    }

    #[test]
    fn pairs_and_ends_are_found() {
        let groups = Partition::new(4, vec![vec![0, 1], vec![2, 3]]).unwrap();
        let coalitions = Coalitions::from_masks(4, [0, 15, 1, 3, 14, 12, 2]);
        let values: Vec<f64> = (0..14).map(f64::from).collect();
        let found = evaluated(&coalitions, &values, &groups);
        assert_eq!(found.coalitions, Coalitions::from_masks(4, [1, 3, 14, 12, 2]));
        assert_eq!(found.partners, [2, 3, 0, 1, 4]);
        assert_eq!(found.values[..10], (4..14).map(f64::from).collect::<Vec<_>>());
        assert_eq!(found.values[10..], [0.0, 1.0, 2.0, 3.0]);
        // Both unions were drawn, two of two coalitions with one member of the first group alone, and one of
        // two with one member besides the second group.
        assert_eq!(found.inclusion, [1.0, 1.0, 0.5, 1.0, 1.0]);
    }
}
