//! Draws from the strata, equally or with Neyman allocation.
//!
//! # Unbiasedness
//!
//! If the numbers of draws depend on the draws, the mean of all draws is biased: a stratum whose first few
//! contributions agree by chance is not drawn from again. Here, every stratum has two sides, which are
//! independent halves of its draws. The number of draws on one side depends only on the variances of the
//! *equal* draws on the other side, whose number depends on nothing but the budget. The number of draws on a
//! side is therefore independent of the draws there. The mean of a side and its variance are unbiased, and so
//! is the mean of both sides.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use apportion_games::{Coalitions, Game};
use serde::{Deserialize, Serialize};

use super::strata::Strata;
use crate::error::Result;
use crate::report::RunningMoments;

/// The allocation of draws to strata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Allocation {
    /// The same number of draws from every stratum.
    Equal,
    /// Half of the evaluations for equal draws, and half in proportion to `P(l) σ_il`, estimated from the
    /// draws so far. The default.
    #[default]
    Neyman,
}

/// The coalition values that are known before any draw, one number per output: of each single player, and of
/// all players but one.
pub(crate) struct KnownValues {
    pub(crate) alone: Vec<f64>,
    pub(crate) all_others: Vec<f64>,
}

/// The draws from a stratum on one side.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    /// All draws on this side.
    pub(crate) all: RunningMoments,
    /// The draws that are made in any case, independent of other draws.
    equal: RunningMoments,
    /// The number of the next draw on this side.
    next: usize,
}

/// The sample: all draws so far, from every stratum.
pub(crate) struct Sample<'a, 'p> {
    game: &'a dyn Game,
    strata: &'a Strata<'p>,
    known: &'a KnownValues,
    /// The two sides of each stratum, stratum by stratum. Equal allocation and small strata only use the
    /// first one.
    pub(crate) sides: Vec<[Side; 2]>,
    /// Whether the numbers of draws depend on the draws.
    pub(crate) is_adaptive: bool,
    /// The number of evaluations so far.
    pub(crate) count: usize,
}

/// A draw to make.
#[derive(Clone, Copy)]
struct Draw {
    stratum: usize,
    side: usize,
    is_equal: bool,
}

/// The number of equal draws from a stratum before the first allocated draws: two on each side, the minimum
/// for estimating a variance.
const FIRST_LEVEL: usize = 4;

/// The number of draws to evaluate in one batch.
const BATCH: usize = 1 << 12;

impl<'a, 'p> Sample<'a, 'p> {
    /// Draws from the strata until `budget` evaluations are spent or all strata are exhausted.
    pub(crate) fn draw(
        game: &'a dyn Game,
        strata: &'a Strata<'p>,
        known: &'a KnownValues,
        allocation: Allocation,
        budget: usize,
    ) -> Result<Self> {
        let none = RunningMoments::new(game.outputs());
        let side = Side { all: none.clone(), equal: none, next: 0 };
        let sides = vec![[side.clone(), side]; strata.len()];
        let mut sample = Self { game, strata, known, sides, is_adaptive: false, count: 0 };
        let mut level = 0;
        loop {
            let next = match allocation {
                Allocation::Equal => level + 1,
                Allocation::Neyman => (2 * level).max(FIRST_LEVEL),
            };
            let mut equal = 0;
            for level in level..next {
                let (spent, is_whole) = sample.draw_equally(level, allocation, budget)?;
                equal += spent;
                if !is_whole {
                    return Ok(sample);
                }
            }
            level = next;
            // Only draws from strata that are never exhausted are counted, so that rounds do not depend on
            // the sizes of the other strata.
            if equal == 0 && sample.is_exhausted() {
                return Ok(sample);
            }
            if allocation == Allocation::Neyman && !sample.draw_by_variance(equal, budget)? {
                return Ok(sample);
            }
        }
    }

    /// Returns whether all strata are exhausted.
    fn is_exhausted(&self) -> bool {
        (0..self.sides.len()).all(|stratum| self.is_whole(stratum))
    }

    /// Returns whether all coalitions of a stratum are drawn.
    pub(crate) fn is_whole(&self, stratum: usize) -> bool {
        let drawn = self.sides[stratum][0].next;
        self.strata.population(stratum).is_some_and(|all| drawn >= all as usize)
    }

    /// Makes one draw from every stratum. Returns the cost of the draws with replacement, and whether the
    /// budget was sufficient.
    fn draw_equally(&mut self, level: usize, allocation: Allocation, budget: usize) -> Result<(usize, bool)> {
        let (mut spent, mut left) = (0, budget - self.count);
        let mut draws = Vec::with_capacity(BATCH);
        for stratum in 0..self.sides.len() {
            if self.is_whole(stratum) {
                continue;
            }
            let cost = self.strata.cost(stratum);
            if cost > left {
                self.make(&draws)?;
                return Ok((spent, false));
            }
            left -= cost;
            let is_small = self.strata.population(stratum).is_some();
            spent += if is_small { 0 } else { cost };
            let side = if is_small || allocation == Allocation::Equal { 0 } else { level % 2 };
            draws.push(Draw { stratum, side, is_equal: true });
            if draws.len() == BATCH {
                self.make(&draws)?;
                draws.clear();
            }
        }
        self.make(&draws)?;
        Ok((spent, true))
    }

    /// Spends `spend` evaluations where they reduce the variances most, on both sides in turn. Returns
    /// whether the budget was sufficient.
    fn draw_by_variance(&mut self, spend: usize, budget: usize) -> Result<bool> {
        // Each of these draws costs two evaluations.
        let (wanted, affordable) = (spend / 2, (budget - self.count) / 2);
        let mut left = wanted.min(affordable);
        if left == 0 {
            return Ok(wanted <= affordable);
        }
        self.is_adaptive = true;
        let mut queues = [self.queue(0), self.queue(1)];
        let mut turn = 0;
        while left > 0 {
            let mut draws = Vec::with_capacity(left.min(BATCH));
            for _ in 0..left.min(BATCH) {
                if let Some(stratum) = queues[turn].next() {
                    draws.push(Draw { stratum, side: turn, is_equal: false });
                }
                turn = 1 - turn;
            }
            self.make(&draws)?;
            left -= left.min(BATCH);
        }
        Ok(wanted <= affordable)
    }

    /// Returns a queue of the strata, in the order in which `side` draws from them, given the variances on
    /// the other side.
    ///
    /// One deviation, of the typical size among all players for this coalition size, is added to each
    /// variance, because a variance from few draws may be zero by chance.
    fn queue(&self, side: usize) -> Queue {
        let players = self.strata.sizes.players;
        let mut entries = Vec::with_capacity(self.sides.len());
        for (at, of_size) in self.sides.chunks_exact(players).enumerate() {
            if self.strata.population(at * players).is_some() {
                continue;
            }
            let squares: Vec<f64> =
                of_size.iter().map(|sides| sides[1 - side].equal.squares().iter().sum()).collect();
            let equal = of_size[0][1 - side].equal.count() as f64;
            let usual = squares.iter().sum::<f64>() / (equal - 1.0) / players as f64;
            for (player, squares) in squares.iter().enumerate() {
                let stratum = at * players + player;
                let weight = self.strata.weight(stratum);
                let gain = weight * weight * (squares + usual) / equal;
                entries.push(Entry::new(stratum, gain, of_size[player][side].all.count()));
            }
        }
        Queue(BinaryHeap::from(entries))
    }

    /// Evaluates draws, and adds them to their strata.
    fn make(&mut self, draws: &[Draw]) -> Result<()> {
        let (players, outputs) = (self.strata.sizes.players, self.game.outputs());
        let mut others = Coalitions::with_capacity(players, draws.len());
        for draw in draws {
            let side = &mut self.sides[draw.stratum][draw.side];
            self.strata.push(draw.stratum, draw.side, side.next, &mut others);
            side.next += 1;
        }
        let mut asked = Coalitions::with_capacity(players, 2 * draws.len());
        let mut with = vec![0; asked.words_per_row()];
        for (draw, row) in draws.iter().zip(others.iter()) {
            let (player, size) = (self.strata.player(draw.stratum), self.strata.size(draw.stratum));
            if self.strata.sizes.is_asked(size) {
                asked.push(row);
            }
            if self.strata.sizes.is_asked(size + 1) {
                with.copy_from_slice(row.words());
                with[player / 64] |= 1 << (player % 64);
                asked.push_words(&with);
            }
        }
        let mut values = vec![0.0; asked.len() * outputs];
        self.game.values(&asked, &mut values)?;
        self.count += asked.len();
        let mut answers = values.chunks_exact(outputs);
        let mut contribution = vec![0.0; outputs];
        for (draw, row) in draws.iter().zip(others.iter()) {
            let (player, size) = (self.strata.player(draw.stratum), self.strata.size(draw.stratum));
            let alone = |of: usize| &self.known.alone[of * outputs..(of + 1) * outputs];
            let all_others = |of: usize| &self.known.all_others[of * outputs..(of + 1) * outputs];
            let before = if self.strata.sizes.is_asked(size) {
                answers.next().unwrap_or_default()
            } else {
                // The coalition is a single player: for three or more players, 1 is the only size below 2.
                alone(row.members().next().unwrap_or(player))
            };
            let after = if self.strata.sizes.is_asked(size + 1) {
                answers.next().unwrap_or_default()
            } else {
                let absent = (0..players).find(|&other| other != player && !row.contains(other));
                all_others(absent.unwrap_or(player))
            };
            for ((x, after), before) in contribution.iter_mut().zip(after).zip(before) {
                *x = after - before;
            }
            let side = &mut self.sides[draw.stratum][draw.side];
            side.all.add(&contribution);
            if draw.is_equal {
                side.equal.add(&contribution);
            }
        }
        Ok(())
    }
}

/// A queue of strata. The first is the one whose next draw reduces the variance of the estimates most: by `P²
/// σ² / (c (c + 1))` after c draws.
///
/// Choosing strata one by one yields the exact integer Neyman allocation (Wright, *The equivalence of Neyman
/// optimum allocation for sampling and equal proportions for apportioning the U.S. House of Representatives*,
/// 2012). As the number of draws grows, it never decreases for any stratum.
struct Queue(BinaryHeap<Entry>);

#[derive(Clone, Copy)]
struct Entry {
    gain: f64,
    stratum: usize,
    drawn: usize,
}

impl Entry {
    fn new(stratum: usize, gain: f64, drawn: usize) -> Self {
        Self { gain, stratum, drawn }
    }

    /// Returns the sort key: first the priority, then the number of draws (fewer first), then the stratum
    /// (lower first).
    fn key(&self) -> (f64, Reverse<usize>, Reverse<usize>) {
        let drawn = self.drawn as f64;
        (self.gain / (drawn * (drawn + 1.0)), Reverse(self.drawn), Reverse(self.stratum))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let (own, others) = (self.key(), other.key());
        own.0.total_cmp(&others.0).then((own.1, own.2).cmp(&(others.1, others.2)))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl Queue {
    /// Returns the stratum of the next draw; `None` if there are no strata.
    fn next(&mut self) -> Option<usize> {
        let mut first = self.0.peek_mut()?;
        first.drawn += 1;
        Some(first.stratum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_in_proportion_to_the_deviations() {
        let deviations = [1.0, 2.0, 5.0, 0.0];
        let entries = deviations.iter().enumerate().map(|(at, d)| Entry::new(at, d * d, 1)).collect();
        let mut queue = Queue(entries);
        let mut counts = [1; 4];
        (0..796).for_each(|_| counts[queue.next().unwrap()] += 1);
        for (count, deviation) in counts.iter().zip(deviations) {
            assert!((f64::from(*count) - (100.0 * deviation).max(1.0)).abs() <= 1.0, "{counts:?}");
        }
    }

    #[test]
    fn without_any_variance_draws_are_equal() {
        let mut queue = Queue((0..5).map(|stratum| Entry::new(stratum, 0.0, 3)).collect());
        let mut counts = [0; 5];
        (0..20).for_each(|_| counts[queue.next().unwrap()] += 1);
        assert_eq!(counts, [4; 5]);
    }
}
