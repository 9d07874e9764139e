//! An explicand whose features are assigned to players.

use apportion_games::{Background, Coalitions, Game, GameError, MarginalGame, Model, words_for};

use crate::error::MediaError;

/// An explicand whose features are assigned to players, with reference values for absent players.
///
/// A pixel of a colour image is one player with three features, and a word of two tokens is one player with
/// two. The padding at the end of a text does not belong to a player. Features without a player always keep
/// the value of the explicand.
///
/// With one reference row, the game is the plug-in estimate defined in section 2.1 of Chen, Song, Wainwright
/// and Jordan, *L-Shapley and C-Shapley: efficient model interpretation for structured data*, 2019. With
/// several rows, it is the empirical average defined in the same section.
#[derive(Debug, Clone)]
pub struct Masked {
    explicand: Vec<f64>,
    reference: Background,
    players: Vec<Vec<usize>>,
}

impl Masked {
    /// Assigns the features `players[i]` of `explicand` to player i; absent players take their values from
    /// `reference`.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`] if `explicand` and `reference` have different widths; [`MediaError::NoFeatures`],
    /// [`MediaError::NoSuchFeature`] and [`MediaError::SharedFeature`] if the assignment to players is
    /// invalid.
    pub fn new(
        explicand: Vec<f64>,
        reference: Background,
        players: Vec<Vec<usize>>,
    ) -> Result<Self, MediaError> {
        let features = reference.columns();
        if explicand.len() != features {
            let what = "the explicand".to_owned();
            return Err(GameError::Width { what, actual: explicand.len(), expected: features }.into());
        }
        let mut owners = vec![None; features];
        for (player, mine) in players.iter().enumerate() {
            if mine.is_empty() {
                return Err(MediaError::NoFeatures { player });
            }
            for &feature in mine {
                match owners.get_mut(feature) {
                    None => return Err(MediaError::NoSuchFeature { player, feature, features }),
                    Some(Some(first)) => {
                        return Err(MediaError::SharedFeature { feature, first: *first, second: player });
                    }
                    Some(owner) => *owner = Some(player),
                }
            }
        }
        Ok(Self { explicand, reference, players })
    }

    /// Returns the explicand, the row to explain.
    pub fn explicand(&self) -> &[f64] {
        &self.explicand
    }

    /// Returns the rows that provide the values of absent players.
    pub fn reference(&self) -> &Background {
        &self.reference
    }

    /// Returns the features of each player.
    pub fn players(&self) -> &[Vec<usize>] {
        &self.players
    }

    /// Returns the explicand, in which the features of absent players are replaced with the features of the
    /// first reference row. Player i is present if `present[i]` is `true`.
    ///
    /// # Panics
    ///
    /// If `present` does not have one entry per player.
    pub fn row(&self, present: &[bool]) -> Vec<f64> {
        assert_eq!(present.len(), self.players.len(), "expected one entry per player");
        let mut row = self.explicand.clone();
        for (_, features) in present.iter().zip(&self.players).filter(|(present, _)| !**present) {
            features.iter().for_each(|&feature| row[feature] = self.reference.row(0)[feature]);
        }
        row
    }

    /// Returns the game of the players: the prediction of `model` for the explicand with the features of
    /// absent players replaced with the features of a reference row, averaged over the reference rows.
    ///
    /// Evaluating a coalition takes one prediction per reference row.
    ///
    /// # Errors
    ///
    /// Same as [`MarginalGame::new`].
    pub fn game<'a, M: Model + ?Sized>(&'a self, model: &'a M) -> Result<MaskedGame<'a, M>, GameError> {
        let game = MarginalGame::new(model, &self.explicand, &self.reference)?;
        let features = self.explicand.len();
        let mut bits = Coalitions::with_capacity(features, self.players.len());
        self.players.iter().for_each(|mine| bits.push_members(mine.iter().copied()));
        let mut nobodys = vec![true; features];
        self.players.iter().flatten().for_each(|&feature| nobodys[feature] = false);
        let mut fixed = Coalitions::with_capacity(features, 1);
        fixed.push_members((0..features).filter(|&feature| nobodys[feature]));
        let in_order = |(player, mine): (usize, &Vec<usize>)| mine[..] == [player];
        let is_one_to_one = self.players.len() == features && self.players.iter().enumerate().all(in_order);
        let bits = (!is_one_to_one).then_some(bits);
        Ok(MaskedGame { game, bits, fixed, players: self.players.len() })
    }
}

/// A game whose players are sets of features of a row; see [`Masked::game`].
#[derive(Debug)]
pub struct MaskedGame<'a, M: ?Sized> {
    game: MarginalGame<'a, M>,
    /// The features of each player; `None` if player i has exactly feature i.
    bits: Option<Coalitions>,
    /// The features that do not belong to a player, as a batch of a single coalition.
    fixed: Coalitions,
    players: usize,
}

impl<M: Model + ?Sized> MaskedGame<'_, M> {
    /// Converts coalitions of players to coalitions of features.
    fn lift(&self, batch: &Coalitions, bits: &Coalitions) -> Coalitions {
        let features = self.fixed.players();
        let mut lifted = Coalitions::with_capacity(features, batch.len());
        let mut words = vec![0; words_for(features)];
        for row in batch.iter() {
            words.copy_from_slice(self.fixed.words());
            for member in row.members() {
                words.iter_mut().zip(bits.row(member).words()).for_each(|(word, mine)| *word |= mine);
            }
            lifted.push_words(&words);
        }
        lifted
    }
}

impl<M: Model + ?Sized> Game for MaskedGame<'_, M> {
    fn players(&self) -> usize {
        self.players
    }

    fn outputs(&self) -> usize {
        self.game.outputs()
    }

    fn rows_per_coalition(&self) -> usize {
        self.game.rows_per_coalition()
    }

    fn parallel(&self) -> bool {
        self.game.parallel()
    }

    fn scenarios(&self) -> usize {
        self.game.scenarios()
    }

    fn scenario_weights(&self) -> Option<&[f64]> {
        self.game.scenario_weights()
    }

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        match &self.bits {
            Some(bits) => self.game.values_in_scenarios(&self.lift(batch, bits), scenarios, out),
            None => self.game.values_in_scenarios(batch, scenarios, out),
        }
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        assert_eq!(batch.players(), self.players, "the coalitions belong to another game");
        match &self.bits {
            Some(bits) => self.game.values(&self.lift(batch, bits), out),
            None => self.game.values(batch, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Partition, QuotientGame, SubGame, TabulatedGame};

    fn model(row: &[f64]) -> f64 {
        row.iter().enumerate().map(|(at, x)| (at as f64 + 1.0) * x).sum::<f64>().sin()
    }

    fn table(game: &impl Game) -> Vec<f64> {
        TabulatedGame::from_game(game).unwrap().values_in_order().to_vec()
    }

    #[test]
    fn it_is_a_sub_game_of_a_quotient_game() {
        let explicand = vec![0.3, -1.0, 2.0, 0.7, 5.0, 1.5];
        let reference =
            Background::rows(vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0], 6).unwrap();
        let groups = vec![vec![5, 0], vec![2], vec![3, 1], vec![4]];
        let partition = Partition::new(6, groups.clone()).unwrap();
        let marginal = MarginalGame::new(&model, &explicand, &reference).unwrap();
        let quotient = QuotientGame::new(&marginal, &partition).unwrap();
        let keep = |kept: &[usize]| SubGame::new(&quotient, kept).unwrap().with_others_present();
        for kept in [vec![0, 1, 2, 3], vec![2, 0], vec![3]] {
            let players = kept.iter().map(|&group| groups[group].clone()).collect();
            let masked = Masked::new(explicand.clone(), reference.clone(), players).unwrap();
            assert_eq!(table(&masked.game(&model).unwrap()), table(&keep(&kept)));
        }
        let singles = (0..6).map(|feature| vec![feature]).collect();
        let masked = Masked::new(explicand.clone(), reference.clone(), singles).unwrap();
        assert_eq!(table(&masked.game(&model).unwrap()), table(&marginal));
    }

    #[test]
    fn a_row_has_the_reference_for_absent_players() {
        let reference = Background::baseline(vec![0.0; 4]).unwrap();
        let masked = Masked::new(vec![1.0, 2.0, 3.0, 4.0], reference, vec![vec![3, 0], vec![1]]).unwrap();
        assert_eq!(masked.row(&[false, true]), [0.0, 2.0, 3.0, 0.0]);
        assert_eq!(masked.row(&[true, false]), [1.0, 0.0, 3.0, 4.0]);
    }

    #[test]
    fn players_at_odds_are_refused() {
        let refusal = |players: Vec<Vec<usize>>| {
            let reference = Background::baseline(vec![0.0; 3]).unwrap();
            Masked::new(vec![1.0; 3], reference, players).unwrap_err()
        };
        assert!(matches!(refusal(vec![vec![0], vec![]]), MediaError::NoFeatures { player: 1 }));
        assert!(matches!(
            refusal(vec![vec![3]]),
            MediaError::NoSuchFeature { player: 0, feature: 3, features: 3 }
        ));
        let shared = refusal(vec![vec![1], vec![2, 1]]);
        assert!(matches!(shared, MediaError::SharedFeature { feature: 1, first: 0, second: 1 }));
        let twice = refusal(vec![vec![2, 2]]);
        assert!(matches!(twice, MediaError::SharedFeature { feature: 2, first: 0, second: 0 }));
        let reference = Background::baseline(vec![0.0; 3]).unwrap();
        assert!(Masked::new(vec![1.0; 2], reference, vec![]).is_err());
    }
}
