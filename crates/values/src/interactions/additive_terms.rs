//! Games that are sums of games of few players, and their Möbius transforms from few evaluations.
//!
//! # Method
//!
//! A game is a sum of functions of single players and of the interactions R_1 … R_p if and only if its Möbius
//! coefficients are zero except for the empty coalition, single players and subsets of the interactions. All
//! of these coefficients follow from the values of the same coalitions:
//!
//! ```text
//! m(R) = Σ_{S⊆R} (−1)^{|R|−|S|} v(S)
//! ```
//!
//! This takes 1 + n + p evaluations for n players and p pairs, instead of 2^n. The value of the coalition of
//! all players is evaluated as well. It must be the sum of all coefficients, up to rounding errors;
//! otherwise, the game is not such a sum.
//!
//! The marginal game of a model is linear in the model, and the game of a function of the features in R only
//! depends on the players in R. Therefore, the interactions of the game are those of the model, for example
//! of a generalized additive model (Bordt and von Luxburg, *From Shapley values to generalized additive
//! models and back*, 2023). In a conditional game, features that the function does not use are informative
//! about those in R, so the interactions of the model do not determine those of the game.

use std::collections::HashMap;

use apportion_games::phrases::expected_index;
use apportion_games::{Cancellation, CoalitionView, Coalitions, Game, GameError, memory, words_for};

use super::binomial::for_each_subset;
use super::moebius::MoebiusTransform;
use crate::attributions::Attributions;
use crate::error::ValueError;
use crate::value::Value;

/// Maximum number of coefficients. A coefficient counts once for each interaction that contains its players.
const MAX_COEFFICIENTS: usize = 1 << 24;

/// Approximate memory of a coalition as a key, in addition to its bits.
const BYTES_OF_KEY: usize = 128;

/// The largest difference between v(N) and the sum of the coefficients that counts as a rounding error,
/// relative to the terms of the sum.
const TOLERANCE: f64 = 1e-9;

/// The players and interactions of a game that is a sum of functions of single players and of a few
/// interactions.
///
/// ```
/// use apportion_games::{Background, MarginalGame, Partition};
/// use apportion_values::{AdditiveTerms, Semivalue, Value};
///
/// // A thousand features, two of which interact.
/// let model = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>() + 6.0 * row[7] * row[8];
/// let background = Background::baseline(vec![0.0; 1000])?;
/// let game = MarginalGame::new(&model, &[1.0; 1000], &background)?;
/// let terms = AdditiveTerms::new(1000, [vec![7, 8]])?;
/// assert_eq!(terms.evaluations(), 1003);
/// let shapley = terms.attributions(&game, &Semivalue::Shapley.into())?;
/// assert!((shapley.values[6] - 1.0).abs() < 1e-9 && (shapley.values[7] - 4.0).abs() < 1e-9);
///
/// // A product of other features is not declared.
/// let other = |row: &[f64]| model(row) + row[0] * row[1];
/// let game = MarginalGame::new(&other, &[1.0; 1000], &background)?;
/// let refused = terms.transform(&game).unwrap_err().to_string();
/// assert!(refused.contains("not a sum of the declared terms"), "{refused}");
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AdditiveTerms {
    interactions: Vec<Vec<usize>>,
    /// The coalitions whose coefficients may differ from zero: the empty one, single players, and the subsets
    /// of interactions.
    coalitions: Coalitions,
    /// For each single player and each interaction, the indices of its subsets in `coalitions`, in the order
    /// of their masks.
    subsets: Vec<Vec<usize>>,
    /// Whether one of the coalitions contains all players.
    has_full: bool,
}

impl AdditiveTerms {
    /// Creates the terms of a game of `players` players: all single players, and the `interactions` with
    /// their subsets.
    ///
    /// # Errors
    ///
    /// [`ValueError::Game`] if there are no players, if an interaction contains a player that is not below
    /// `players`, or if the memory does not suffice; [`ValueError::TooManyTerms`] for more than 2^24
    /// coefficients.
    pub fn new(
        players: usize,
        interactions: impl IntoIterator<Item = impl AsRef<[usize]>>,
    ) -> Result<Self, ValueError> {
        if players == 0 {
            return Err(refused("a game must have at least one player".to_owned()));
        }
        let mut checked = Vec::new();
        for (index, members) in interactions.into_iter().enumerate() {
            let mut members = members.as_ref().to_vec();
            members.sort_unstable();
            members.dedup();
            if let Some(player) = members.last().filter(|player| **player >= players) {
                let expected = expected_index(players, "player");
                return Err(refused(format!("unknown player {player} in interaction {index}; {expected}")));
            }
            checked.push(members);
        }
        let alone: Vec<usize> = (0..players).collect();
        Self::for_players(players, &alone, checked)
    }

    /// Returns the terms without the players in `null_players`, which do not affect any coalition value.
    /// Coalitions that contain them are then not evaluated, except the coalition of all players.
    ///
    /// # Panics
    ///
    /// If the numbers of players differ.
    ///
    /// # Errors
    ///
    /// [`ValueError::Game`] if the memory does not suffice.
    pub fn without_null_players(&self, null_players: CoalitionView<'_>) -> Result<Self, ValueError> {
        let players = self.players();
        assert_eq!(null_players.players(), players, "the coalition belongs to another game");
        let left = |members: &[usize]| -> Vec<usize> {
            members.iter().copied().filter(|&member| !null_players.contains(member)).collect()
        };
        let alone: Vec<usize> = (0..players).collect();
        let interactions = self.interactions.iter().map(|members| left(members)).collect();
        Self::for_players(players, &left(&alone), interactions)
    }

    /// Creates the terms of the single players in `alone` and of `interactions`, whose members are sorted.
    fn for_players(
        players: usize,
        alone: &[usize],
        interactions: Vec<Vec<usize>>,
    ) -> Result<Self, ValueError> {
        let count = |size: usize| u32::try_from(size).ok().and_then(|size| 1usize.checked_shl(size));
        let coefficients = interactions.iter().try_fold(2 * alone.len(), |sum, members| {
            count(members.len()).and_then(|count| sum.checked_add(count))
        });
        if coefficients.is_none_or(|coefficients| coefficients > MAX_COEFFICIENTS) {
            let largest = interactions.iter().map(Vec::len).max().unwrap_or(1);
            let (interactions, max) = (interactions.len(), MAX_COEFFICIENTS);
            return Err(ValueError::TooManyTerms { interactions, largest, max });
        }
        // The coalitions are stored three times, and their members once more as keys.
        let each = 3 * 8 * words_for(players) + BYTES_OF_KEY;
        let bytes = memory::product([coefficients.unwrap_or(MAX_COEFFICIENTS), each]);
        let what = || format!("the terms of an additive game of {players} players");
        memory::check(bytes, what, "declare fewer or smaller interactions").map_err(GameError::from)?;
        let mut coalitions = Coalitions::new(players);
        coalitions.push_empty();
        let mut places: HashMap<Vec<usize>, usize> = HashMap::from([(Vec::new(), 0)]);
        let mut subsets = Vec::with_capacity(alone.len() + interactions.len());
        for members in alone.chunks(1).chain(interactions.iter().map(Vec::as_slice)) {
            Cancellation::check();
            let mut of_term = vec![0; 1 << members.len()];
            for_each_subset(members, (1, members.len()), &mut Vec::new(), &mut |subset| {
                let place = match places.get(subset) {
                    Some(&place) => place,
                    None => {
                        coalitions.push_members(subset.iter().copied());
                        places.insert(subset.to_vec(), coalitions.len() - 1);
                        coalitions.len() - 1
                    }
                };
                of_term[mask_within(members, subset)] = place;
            });
            subsets.push(of_term);
        }
        let has_full = coalitions.sizes().iter().any(|&size| size as usize == players);
        Ok(Self { interactions, coalitions, subsets, has_full })
    }

    /// Returns the number of players n.
    pub fn players(&self) -> usize {
        self.coalitions.players()
    }

    /// Returns the number of coalitions that are evaluated: n + p + 2 for n players and p different pairs.
    pub fn evaluations(&self) -> usize {
        self.coalitions.len() + usize::from(!self.has_full)
    }

    /// Computes the Möbius transform of a game from the values of the [coalitions](Self::evaluations) of the
    /// terms.
    ///
    /// # Errors
    ///
    /// [`ValueError::NotAdditive`] if the value of all players differs from the sum of the terms by more than
    /// a rounding error; [`ValueError::Game`] if the number of players differs, or if the game fails.
    pub fn transform(&self, game: &(impl Game + ?Sized)) -> Result<MoebiusTransform, ValueError> {
        self.evaluate(&game).map(|(transform, _)| transform)
    }

    /// Computes the exact `value` of every player of a game, or of every group for quotient values, from the
    /// values of the [coalitions](Self::evaluations) of the terms.
    ///
    /// # Errors
    ///
    /// Same as [`transform`](Self::transform) and [`MoebiusTransform::attributions`].
    pub fn attributions(
        &self,
        game: &(impl Game + ?Sized),
        value: &Value,
    ) -> Result<Attributions, ValueError> {
        value.check(self.players())?;
        let (transform, full) = self.evaluate(&game)?;
        let mut found = transform.attributions(value)?;
        // The evaluated v(N) has smaller rounding errors than the sum of the terms.
        found.predictions = full;
        Ok(found)
    }

    /// Returns the Möbius transform of a game, and v(N).
    fn evaluate(&self, game: &dyn Game) -> Result<(MoebiusTransform, Vec<f64>), ValueError> {
        let (players, outputs) = (game.players(), game.outputs());
        if players != self.players() {
            let expected = self.players();
            return Err(refused(format!(
                "the terms are declared for {expected} players, but the game has {players}"
            )));
        }
        let mut batch = self.coalitions.clone();
        if !self.has_full {
            batch.push_full();
        }
        let mut values = vec![0.0; batch.len() * outputs];
        game.values(&batch, &mut values)?;
        let is_full = |size: &u32| *size as usize == players;
        let full = batch.sizes().iter().position(is_full).map_or(0, |place| place * outputs);
        let full = values[full..full + outputs].to_vec();
        let mut coefficients = values[..self.coalitions.len() * outputs].to_vec();
        let mut of_term = Vec::new();
        for output in 0..outputs {
            for places in &self.subsets {
                Cancellation::check();
                of_term.clear();
                of_term.extend(places.iter().map(|place| values[place * outputs + output]));
                subtract_subsets(&mut of_term);
                for (place, coefficient) in places.iter().zip(&of_term) {
                    coefficients[place * outputs + output] = *coefficient;
                }
            }
        }
        let transform = MoebiusTransform::new(&self.coalitions, &coefficients, outputs)?;
        for (output, &value) in full.iter().enumerate() {
            let of_output = |numbers: &[f64]| -> Vec<f64> {
                numbers.iter().copied().skip(output).step_by(outputs).collect()
            };
            let terms = of_output(&coefficients);
            let largest = of_output(&values).iter().fold(0.0f64, |most, value| most.max(value.abs()));
            let scale = largest + terms.iter().map(|term| term.abs()).sum::<f64>();
            let sum: f64 = terms.iter().sum();
            // NaN does not count as a rounding error.
            let is_rounding_error = (value - sum).abs() <= TOLERANCE * scale;
            if !is_rounding_error {
                return Err(ValueError::NotAdditive { output, sum, value });
            }
        }
        Ok((transform, full))
    }
}

/// Replaces the values of all subsets of a term, in mask order, with their Möbius coefficients.
fn subtract_subsets(values: &mut [f64]) {
    let mut half = 1;
    while half < values.len() {
        for both in values.chunks_exact_mut(2 * half) {
            let (absent, present) = both.split_at_mut(half);
            present.iter_mut().zip(absent).for_each(|(present, absent)| *present -= *absent);
        }
        half *= 2;
    }
}

/// Returns the mask of a subset of `members`, in which bit i is set if it contains `members[i]`. Both lists
/// are sorted.
fn mask_within(members: &[usize], subset: &[usize]) -> usize {
    let bits = members.iter().enumerate().filter(|(_, member)| subset.binary_search(member).is_ok());
    bits.map(|(bit, _)| 1 << bit).sum()
}

fn refused(what: String) -> ValueError {
    GameError::Parameter { what }.into()
}
