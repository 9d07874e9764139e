//! Exact values of players from the Möbius coefficients of a game.
//!
//! # Method
//!
//! All values are linear in the game, so `φ = Σ_T m(T) φ(u_T)`, where u_T is the unanimity game of T: its
//! value is 1 for coalitions that contain T, and 0 for all others. For t = |T|, the values of u_T are
//!
//! | value | share of a player i ∈ T |
//! |---|---|
//! | semivalue | M(t − 1, 0) |
//! | quotient value | M(q − 1, 0) for each of the q groups that intersect T |
//! | coalitional value, also over a hierarchy | Π_G M_G(q_G − 1, 0), for all groups G that contain i |
//! | linear value | the probability that the coalition which i joins contains T ∖ i |
//! | two-step Shapley value | 1 / t if T is part of one group |
//!
//! Here, M(a, b) are the [moments](Semivalue::moment) of the semivalue, and M_G those of the semivalue for
//! the level of G. The number of members of G (players or groups) that intersect T is q_G. If T intersects
//! q > 1 groups, the two-step value of every player of such a group S_j is 1 / (q |S_j|), also for players
//! outside T.

use std::collections::HashMap;

use apportion_games::{Coalition, Coalitions, Hierarchy, Partition};

use crate::attributions::Attributions;
use crate::coalitional::CoalitionalValue;
use crate::error::ValueError;
use crate::interactions::MoebiusTransform;
use crate::linear::LinearValue;
use crate::semivalue::Semivalue;
use crate::value::Value;

/// A function that adds the share of a player, or of a group for quotient values.
type AddShare<'a> = &'a mut dyn FnMut(usize, f64);

impl MoebiusTransform {
    /// Computes the exact `value` of every player, or of every group for quotient values.
    ///
    /// Takes a few steps for each player of each term, for any number of players in total. For two-step
    /// values, takes a step for each member of the groups that a term intersects. For linear values, takes a
    /// step for each coalition in the player's distribution. Values on graphs are computed by enumeration.
    ///
    /// ```
    /// use apportion_games::{Coalitions, Partition};
    /// use apportion_values::{MoebiusTransform, Semivalue, Value};
    ///
    /// // A thousand players; three of them contribute 6 together, and one of these contributes 1 alone.
    /// let mut terms = Coalitions::new(1000);
    /// terms.push_members([7, 70, 700]);
    /// terms.push_members([70]);
    /// let game = MoebiusTransform::new(&terms, &[6.0, 1.0], 1)?;
    /// let shapley = game.attributions(&Semivalue::Shapley.into())?;
    /// assert_eq!([7, 70, 8].map(|player| shapley.values[player]), [2.0, 3.0, 0.0]);
    /// let groups = Partition::new(1000, vec![(0..100).collect(), (100..1000).collect()])?;
    /// let owen = game.attributions(&Value::owen(groups))?;
    /// assert_eq!([7, 70, 700].map(|player| owen.values[player]), [1.5, 2.5, 3.0]);
    /// # Ok::<(), apportion_values::ValueError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Value::check`]; [`ValueError::Overflow`]; for values on graphs, the errors of
    /// [`Value::enumerate`].
    pub fn attributions(&self, value: &Value) -> Result<Attributions, ValueError> {
        let results = value.check(self.players())?;
        match value {
            Value::Semivalue(semivalue) => {
                let mut weights = Shares::new(semivalue);
                self.add_up(results, &mut |term, add| {
                    let share = weights.among(term.len());
                    term.iter().for_each(|&player| add(player, share));
                })
            }
            Value::Linear(value) => self.add_up(results, &mut |term, add| linear_shares(value, term, add)),
            Value::Coalitional(value, groups) => self.over(value, &Hierarchy::from(groups)),
            Value::OverHierarchy(value, hierarchy) => self.over(value, hierarchy),
            Value::TwoStepShapley(groups) => {
                self.add_up(results, &mut |term, add| two_step_shares(groups, term, add))
            }
            Value::Quotient(semivalue, groups) => {
                self.quotient(groups)?.attributions(&semivalue.clone().into())
            }
            Value::OnGraph(value, graph) => value.enumerate(self, graph),
        }
    }

    /// Returns the transform of the [quotient game](apportion_games::QuotientGame), whose players are the
    /// groups: a term becomes the set of the groups that it intersects.
    ///
    /// # Errors
    ///
    /// [`ValueError::Game`] if the number of players differs, or if a sum of coefficients overflows.
    pub fn quotient(&self, groups: &Partition) -> Result<Self, ValueError> {
        groups.check_players(self.players())?;
        let outputs = self.outputs();
        let (mut terms, mut sums) = (Coalitions::new(groups.len()), Vec::new());
        let mut places: HashMap<Vec<usize>, usize> = HashMap::new();
        for (term, coefficients) in self.terms().iter().zip(self.coefficients().chunks_exact(outputs)) {
            let mut key: Vec<usize> = term.members().map(|player| groups.group_of(player)).collect();
            key.sort_unstable();
            key.dedup();
            let place = *places.entry(key).or_insert_with_key(|key| {
                terms.push_members(key.iter().copied());
                sums.resize(sums.len() + outputs, 0.0);
                terms.len() - 1
            });
            let sums = &mut sums[place * outputs..][..outputs];
            sums.iter_mut().zip(coefficients).for_each(|(sum, coefficient)| *sum += coefficient);
        }
        Self::new(&terms, &sums, outputs)
    }

    fn over(&self, value: &CoalitionalValue, hierarchy: &Hierarchy) -> Result<Attributions, ValueError> {
        let (mut between, mut within) = (Shares::new(&value.between), Shares::new(&value.within));
        // The number of members that intersect the term, for each node that intersects it.
        let mut counts: HashMap<usize, usize> = HashMap::new();
        self.add_up(hierarchy.players(), &mut |term, add| {
            counts.clear();
            for &player in term {
                for group in hierarchy.above(player) {
                    let count = counts.entry(group).or_insert(0);
                    *count += 1;
                    if *count > 1 {
                        // The groups that contain this group have already counted it.
                        break;
                    }
                }
            }
            for &player in term {
                let share = hierarchy.above(player).map(|group| {
                    let shares = if hierarchy.level(group) == 0 { &mut between } else { &mut within };
                    shares.among(counts[&group])
                });
                add(player, share.product());
            }
        })
    }

    /// Adds up the coefficients of all terms, each times the shares of the term's unanimity game.
    fn add_up(
        &self,
        results: usize,
        shares: &mut dyn FnMut(&[usize], AddShare<'_>),
    ) -> Result<Attributions, ValueError> {
        let outputs = self.outputs();
        let mut values = vec![0.0; results * outputs];
        let (mut base, mut full) = (vec![0.0; outputs], vec![0.0; outputs]);
        for (term, coefficients) in self.terms().iter().zip(self.coefficients().chunks_exact(outputs)) {
            let members: Vec<usize> = term.members().collect();
            full.iter_mut().zip(coefficients).for_each(|(full, coefficient)| *full += coefficient);
            if members.is_empty() {
                base.iter_mut().zip(coefficients).for_each(|(base, coefficient)| *base += coefficient);
                continue;
            }
            shares(&members, &mut |player, share| {
                let values = &mut values[player * outputs..][..outputs];
                values.iter_mut().zip(coefficients).for_each(|(value, of)| *value += share * of);
            });
        }
        Attributions::for_players(results, values, base, full).finite()
    }
}

/// The shares M(t − 1, 0) of a semivalue in unanimity games of t players.
struct Shares<'a> {
    semivalue: &'a Semivalue,
    known: Vec<f64>,
}

impl<'a> Shares<'a> {
    fn new(semivalue: &'a Semivalue) -> Self {
        Self { semivalue, known: Vec::new() }
    }

    /// Returns the share of each player in the unanimity game of `players` players.
    fn among(&mut self, players: usize) -> f64 {
        let known = self.known.len();
        self.known.extend((known..players).map(|others| self.semivalue.moment(others, 0)));
        self.known[players - 1]
    }
}

/// Adds, for each player of a term, the probability that the coalition which the player joins contains the
/// others.
fn linear_shares(value: &LinearValue, term: &[usize], add: AddShare<'_>) {
    let members = Coalition::from_members(value.players(), term.iter().copied());
    for &player in term {
        let mut others = members.clone();
        others.remove(player);
        let distribution = value.distribution(player);
        let joined = distribution.coalitions().iter().zip(distribution.probabilities());
        let contains = joined.filter(|(coalition, _)| others.view().is_subset_of(*coalition));
        add(player, contains.map(|(_, probability)| probability).sum());
    }
}

/// Adds the two-step Shapley values of the unanimity game of a term.
fn two_step_shares(groups: &Partition, term: &[usize], add: AddShare<'_>) {
    let mut touched: Vec<usize> = term.iter().map(|&player| groups.group_of(player)).collect();
    touched.sort_unstable();
    touched.dedup();
    if let [_] = touched[..] {
        return term.iter().for_each(|&player| add(player, 1.0 / term.len() as f64));
    }
    for &group in &touched {
        let members = groups.group(group);
        let share = 1.0 / (touched.len() * members.len()) as f64;
        members.iter().for_each(|&member| add(member, share));
    }
}
