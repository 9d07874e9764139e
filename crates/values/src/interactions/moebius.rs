//! Games represented by their Möbius transform, and their interaction indices.

use std::collections::HashMap;

use apportion_games::{Coalitions, Game, GameError, SumOfUnanimity, TabulatedGame};

use super::answer::Interactions;
use super::binomial::for_each_subset;
use super::enumeration::{MAX_INTERACTIONS, check_count};
use super::index::InteractionIndex;
use super::weights::IndexWeights;
use crate::error::ValueError;

/// Maximum number of players for computing the transform from all 2^n values.
const MAX_TABULATED_PLAYERS: usize = 20;

/// A game represented by the non-zero coefficients of its Möbius transform: `v(S) = Σ_{R⊆S} m(R)`.
///
/// If there are few coefficients, values and interaction indices are computed from them for any number of
/// players. [`AdditiveTerms`](crate::AdditiveTerms) computes the coefficients of a game that is a sum of
/// games of few players.
///
/// ```
/// use apportion_games::Coalitions;
/// use apportion_values::{InteractionIndex, MoebiusTransform};
///
/// // A thousand players: four of them contribute 12 together, and one of these contributes 5 alone.
/// let mut terms = Coalitions::new(1000);
/// terms.push_members([7, 70, 700, 999]);
/// terms.push_members([70]);
/// let game = MoebiusTransform::new(&terms, &[12.0, 5.0], 1)?;
/// let taylor = game.interactions(&InteractionIndex::ShapleyTaylor, 2)?;
/// assert_eq!((taylor.get(&[70]), taylor.get(&[700, 70])), (Some(&[5.0][..]), Some(&[2.0][..])));
/// assert_eq!(taylor.predictions(), [17.0]);
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MoebiusTransform {
    outputs: usize,
    terms: Coalitions,
    /// The coefficients, terms × k.
    coefficients: Vec<f64>,
}

impl MoebiusTransform {
    /// Creates the game from its Möbius terms, each with k `coefficients` (terms × k, row-major). The
    /// coefficient of the empty coalition is v(∅). Coefficients of repeated coalitions are added.
    ///
    /// # Errors
    ///
    /// [`ValueError::Game`] if there are no players or no outputs, if the number of coefficients is wrong, or
    /// if one of them is not finite.
    pub fn new(terms: &Coalitions, coefficients: &[f64], outputs: usize) -> Result<Self, ValueError> {
        let refuse = |what: String| Err(GameError::Parameter { what }.into());
        if terms.players() == 0 || outputs == 0 {
            return refuse("a game must have at least one player and one output".to_owned());
        }
        if coefficients.len() != terms.len() * outputs {
            let wanted = terms.len() * outputs;
            return refuse(format!(
                "{} terms of {outputs} outputs require {wanted} coefficients, got {}",
                terms.len(),
                coefficients.len()
            ));
        }
        if let Some(at) = coefficients.iter().position(|coefficient| !coefficient.is_finite()) {
            let coalition = terms.row(at / outputs).to_coalition();
            let (output, value) = (at % outputs, coefficients[at]);
            return Err(GameError::NotFinite { coalition, output, value }.into());
        }
        Ok(Self { outputs, terms: terms.clone(), coefficients: coefficients.to_vec() })
    }

    /// Computes the transform of any game from its 2^n values: `m(R) = Σ_{S⊆R} (−1)^{r−|S|} v(S)`.
    ///
    /// Takes n 2^(n−1) subtractions per output, in place. A coefficient is a sum of up to 2^r values with
    /// alternating signs, so its error is up to 2^r times the error of a value.
    /// [`enumerate_interactions`](crate::enumerate_interactions) computes indices without this loss.
    ///
    /// # Errors
    ///
    /// [`ValueError::Players`] unless 1 ≤ n ≤ 20, [`ValueError::Game`] if the game fails, or a coefficient
    /// overflows.
    pub fn from_game(game: &(impl Game + ?Sized)) -> Result<Self, ValueError> {
        let (players, outputs) = (game.players(), game.outputs());
        if !(1..=MAX_TABULATED_PLAYERS).contains(&players) {
            return Err(ValueError::Players { actual: players, max: MAX_TABULATED_PLAYERS });
        }
        let table = TabulatedGame::from_game(game)?;
        let mut coefficients = table.values_in_order().to_vec();
        for player in 0..players {
            let half = outputs << player;
            for both in coefficients.chunks_exact_mut(2 * half) {
                let (absent, present) = both.split_at_mut(half);
                present.iter_mut().zip(absent).for_each(|(present, absent)| *present -= *absent);
            }
        }
        Self::new(&Coalitions::from_masks(players, 0..1 << players), &coefficients, outputs)
    }

    /// Returns the number of players n.
    pub fn players(&self) -> usize {
        self.terms.players()
    }

    /// Returns the number of outputs k.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Returns the coalitions that have coefficients.
    pub fn terms(&self) -> &Coalitions {
        &self.terms
    }

    /// Returns the coefficients of the [terms](Self::terms), terms × k.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// Computes the interaction indices of coalitions of up to `order` players. For generalized values, the
    /// result contains all coalitions; otherwise, only those that some term contains.
    ///
    /// ```text
    /// I(K) = Σ_{R⊇K} M_k(r−k, 0) m(R)
    /// ```
    ///
    /// Takes C(r, ≤ s) steps for each term of r players; for generalized values, C(n, ≤ s) steps for each
    /// term. Here C(r, ≤ s) is the number of coalitions of at most s of r players.
    ///
    /// # Errors
    ///
    /// The errors of [`InteractionIndex::weights`]; [`ValueError::TooManyInteractions`] for more than 2^20
    /// coalitions times outputs; [`ValueError::InteractionOverflow`].
    pub fn interactions(&self, index: &InteractionIndex, order: usize) -> Result<Interactions, ValueError> {
        let (players, outputs) = (self.players(), self.outputs);
        let weights = index.weights(order, players)?;
        let (coalitions, values) = match weights.is_generalized() {
            true => self.of_all(&weights)?,
            false => self.within_terms(&weights)?,
        };
        let (mut base, mut constant, mut full) = (vec![0.0; outputs], vec![0.0; outputs], vec![0.0; outputs]);
        for (&size, coefficients) in self.terms.sizes().iter().zip(self.coefficients.chunks_exact(outputs)) {
            let weight = weights.weight_of(0, size as usize, 0);
            for (output, coefficient) in coefficients.iter().enumerate() {
                full[output] += coefficient;
                constant[output] += weight * coefficient;
                base[output] += if size == 0 { *coefficient } else { 0.0 };
            }
        }
        Interactions::new((index.clone(), order), coalitions, values, base, full)
            .with_constant(constant)
            .finite()
    }

    fn within_terms(&self, weights: &IndexWeights) -> Result<(Coalitions, Vec<f64>), ValueError> {
        let (players, outputs, order) = (self.players(), self.outputs, weights.order());
        let (mut coalitions, mut values) = (Coalitions::new(players), Vec::new());
        let mut places: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut are_too_many = false;
        for (term, coefficients) in self.terms.iter().zip(self.coefficients.chunks_exact(outputs)) {
            let members: Vec<usize> = term.members().collect();
            let most = order.min(members.len());
            let by_size: Vec<f64> = (0..=most).map(|size| weights.weight(size, members.len())).collect();
            if coefficients.iter().all(|coefficient| *coefficient == 0.0) {
                continue;
            }
            for_each_subset(&members, (1, most), &mut Vec::new(), &mut |subset| {
                let weight = by_size[subset.len()];
                if weight == 0.0 || are_too_many {
                    return;
                }
                let key: Vec<u32> = subset.iter().map(|&member| member as u32).collect();
                let place = *places.entry(key).or_insert_with(|| {
                    coalitions.push_members(subset.iter().copied());
                    values.resize(values.len() + outputs, 0.0);
                    coalitions.len() - 1
                });
                are_too_many |= values.len() > MAX_INTERACTIONS;
                let values = &mut values[place * outputs..][..outputs];
                values.iter_mut().zip(coefficients).for_each(|(value, of)| *value += weight * of);
            });
        }
        match are_too_many {
            true => Err(ValueError::TooManyInteractions { players, order, outputs, max: MAX_INTERACTIONS }),
            false => Ok((coalitions, values)),
        }
    }

    fn of_all(&self, weights: &IndexWeights) -> Result<(Coalitions, Vec<f64>), ValueError> {
        let (players, outputs) = (self.players(), self.outputs);
        let order = weights.order().min(players);
        check_count(players, order, outputs)?;
        let mut coalitions = Coalitions::new(players);
        let all: Vec<usize> = (0..players).collect();
        for_each_subset(&all, (1, order), &mut Vec::new(), &mut |subset| {
            coalitions.push_members(subset.iter().copied());
        });
        let mut values = vec![0.0; coalitions.len() * outputs];
        for (coalition, values) in coalitions.iter().zip(values.chunks_exact_mut(outputs)) {
            for (term, coefficients) in self.terms.iter().zip(self.coefficients.chunks_exact(outputs)) {
                let both = coalition.words().iter().zip(term.words());
                let common = both.map(|(a, b)| (a & b).count_ones() as usize).sum();
                let weight = weights.weight_of(coalition.size(), term.size(), common);
                values.iter_mut().zip(coefficients).for_each(|(value, of)| *value += weight * of);
            }
        }
        Ok((coalitions, values))
    }
}

impl Game for MoebiusTransform {
    fn players(&self) -> usize {
        self.terms.players()
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    /// Computes the value of each coalition: the sum of the coefficients of the terms that are subsets of the
    /// coalition. Takes a step for each pair of a term and a coalition.
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (coalition, sums) in batch.iter().zip(out.chunks_exact_mut(self.outputs)) {
            sums.fill(0.0);
            for (term, coefficients) in self.terms.iter().zip(self.coefficients.chunks_exact(self.outputs)) {
                if term.is_subset_of(coalition) {
                    sums.iter_mut().zip(coefficients).for_each(|(sum, coefficient)| *sum += coefficient);
                }
            }
            if let Some(output) = sums.iter().position(|sum| !sum.is_finite()) {
                let (coalition, value) = (coalition.to_coalition(), sums[output]);
                return Err(GameError::NotFinite { coalition, output, value });
            }
        }
        Ok(())
    }
}

impl From<&SumOfUnanimity> for MoebiusTransform {
    fn from(game: &SumOfUnanimity) -> Self {
        let mut terms = Coalitions::new(game.players());
        terms.push_empty();
        terms.extend(game.terms());
        let constant = {
            let mut empty = Coalitions::new(game.players());
            empty.push_empty();
            let mut value = [0.0];
            match game.values(&empty, &mut value) {
                Ok(()) => value[0],
                Err(_) => unreachable!("a sum of unanimity games has a value of every coalition"),
            }
        };
        let coefficients = std::iter::once(constant).chain(game.coefficients().iter().copied());
        Self { outputs: 1, terms, coefficients: coefficients.collect() }
    }
}
