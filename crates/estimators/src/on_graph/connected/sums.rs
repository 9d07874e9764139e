//! Evaluates coalitions in batches, and adds their values to the sums of the players that need them.

use apportion_games::{Coalition, Coalitions, Game};
use apportion_values::Outside;

use super::bits::Bits;
use super::window::DistinctSets;
use crate::error::Result;
use crate::on_graph::exact_result::BATCH;
use crate::run::Evaluations;

/// The sums over all coalitions so far, except those that wait to be evaluated.
pub(crate) struct Sums<'g> {
    pub(crate) evaluations: Evaluations<'g>,
    /// The players' sums so far, n × k.
    pub(crate) values: Vec<f64>,
    outside: Outside,
    everyone: Coalition,
    waiting: Coalitions,
    /// For each waiting coalition, the end index (exclusive) of its entries in `uses`.
    ends: Vec<usize>,
    uses: Vec<(u32, f64)>,
}

impl<'g> Sums<'g> {
    pub(crate) fn new(game: &'g dyn Game, outside: Outside) -> Result<Self> {
        let players = game.players();
        Ok(Self {
            evaluations: Evaluations::begin(game)?,
            values: vec![0.0; players * game.outputs()],
            outside,
            everyone: Coalition::full(players),
            waiting: Coalitions::new(players),
            ends: Vec::new(),
            uses: Vec::new(),
        })
    }

    /// Returns the value that is subtracted in gains: the value of the coalition for the empty set.
    fn compared(&self) -> &[f64] {
        match self.outside {
            Outside::Absent => &self.evaluations.empty,
            Outside::Present => &self.evaluations.full,
        }
    }

    /// Returns the gain of the set of all players for each of the k outputs.
    pub(crate) fn gain_of_everyone(&self) -> Vec<f64> {
        let sign = if self.outside == Outside::Present { -1.0 } else { 1.0 };
        self.evaluations.total().iter().map(|total| sign * total).collect()
    }

    /// Adds all distinct sets of a window.
    pub(crate) fn add<B: Bits>(&mut self, window: &DistinctSets<B>) -> Result<()> {
        let mut words = self.everyone.view().words().to_vec();
        window.try_for_each(&mut words, |words, uses| {
            if self.outside == Outside::Present {
                let everyone = self.everyone.view().words();
                words.iter_mut().zip(everyone).for_each(|(word, everyone)| *word = everyone & !*word);
            }
            self.waiting.push_words(words);
            self.uses.extend_from_slice(uses);
            self.ends.push(self.uses.len());
            if self.waiting.len() == BATCH { self.evaluate() } else { Ok(()) }
        })
    }

    /// Evaluates the waiting coalitions, and adds their values to the sums of the players.
    pub(crate) fn evaluate(&mut self) -> Result<()> {
        let outputs = self.compared().len();
        let mut worths = vec![0.0; self.waiting.len() * outputs];
        self.evaluations.game.values(&self.waiting, &mut worths)?;
        self.evaluations.count += self.waiting.len();
        let compared = self.compared().to_vec();
        let mut start = 0;
        for (worth, &end) in worths.chunks_exact_mut(outputs).zip(&self.ends) {
            worth.iter_mut().zip(&compared).for_each(|(worth, compared)| *worth -= compared);
            for &(player, coefficient) in &self.uses[start..end] {
                let values = &mut self.values[player as usize * outputs..(player as usize + 1) * outputs];
                values.iter_mut().zip(&*worth).for_each(|(value, gain)| *value += coefficient * gain);
            }
            start = end;
        }
        self.waiting.clear();
        self.ends.clear();
        self.uses.clear();
        Ok(())
    }
}
