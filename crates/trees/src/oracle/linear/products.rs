//! The values of products: games that are worth something iff some players are taken from the explicand and others are not.

use crate::moments::Moments;
use crate::oracle::coalitional::Coalitional;
use crate::oracle::interactions::PairShares;
use crate::tables::table::Weights;

/// `v · [E, R] + Σ_q d_q · [E ∪ {q}, R]`, with the players q in neither E nor R.
pub(crate) struct Products {
    /// E.
    own: Vec<u32>,
    /// R.
    rest: Vec<u32>,
    /// Each q and d_q.
    extensions: Vec<(u32, f64)>,
    /// Per group, how many of its players are in E and in R; all 0 between uses.
    of_group: Vec<[usize; 2]>,
}

impl Products {
    pub(super) fn new(groups: usize) -> Self {
        Self { own: Vec::new(), rest: Vec::new(), extensions: Vec::new(), of_group: vec![[0; 2]; groups] }
    }

    pub(super) fn clear(&mut self) {
        self.own.clear();
        self.rest.clear();
        self.extensions.clear();
    }

    /// Puts a player into E, or else into R.
    pub(super) fn require(&mut self, player: u32, from_explicand: bool) {
        if from_explicand { &mut self.own } else { &mut self.rest }.push(player);
    }

    /// Adds `difference · [E ∪ {player}, R]`.
    pub(super) fn extend(&mut self, player: u32, difference: f64) {
        self.extensions.push((player, difference));
    }

    /// Adds the values of the game where v is `value`.
    pub(crate) fn add(&mut self, weights: &Weights, value: f64, phi: &mut impl FnMut(usize, f64)) {
        match weights {
            Weights::Alike(moments) => self.add_alike(moments, value, phi),
            Weights::Grouped(coalitional) => {
                self.add_grouped(coalitional, value, phi);
                for index in 0..self.extensions.len() {
                    let (player, difference) = self.extensions[index];
                    self.own.push(player);
                    self.add_grouped(coalitional, difference, phi);
                    self.own.pop();
                }
            }
        }
    }

    /// Adds the interactions in the game where v is `value`, pair by pair (see [`interactions`](crate::oracle::interactions)).
    pub(crate) fn add_pairs(&self, moments: &Moments, value: f64, phi: &mut impl FnMut(u32, u32, f64)) {
        let (own, rest) = (self.own.len(), self.rest.len());
        let mut shares = PairShares::of(moments, own, rest).times(value);
        if !self.extensions.is_empty() {
            let each = PairShares::of(moments, own + 1, rest);
            for &(player, difference) in &self.extensions {
                self.own.iter().for_each(|&other| phi(player, other, difference * each.both_own));
                self.rest.iter().for_each(|&other| phi(player, other, -difference * each.mixed));
            }
            let sum: f64 = self.extensions.iter().map(|(_, difference)| difference).sum();
            shares = shares.plus(each.times(sum));
        }
        let pairs_of = |players: &[u32], share: f64, phi: &mut dyn FnMut(u32, u32, f64)| {
            for (index, &a) in players.iter().enumerate() {
                players[..index].iter().for_each(|&b| phi(a, b, share));
            }
        };
        pairs_of(&self.own, shares.both_own, phi);
        pairs_of(&self.rest, shares.both_rest, phi);
        for &a in &self.own {
            self.rest.iter().for_each(|&b| phi(a, b, -shares.mixed));
        }
    }

    /// The extensions are alike but for the one player, so their sum stands for them with all others.
    fn add_alike(&self, moments: &Moments, value: f64, phi: &mut impl FnMut(usize, f64)) {
        let (own, rest) = (self.own.len(), self.rest.len());
        let (mut gain, mut loss) = moments.shares(own, rest);
        (gain, loss) = (value * gain, value * loss);
        if !self.extensions.is_empty() {
            let (each, from_rest) = moments.shares(own + 1, rest);
            let mut sum = 0.0;
            for &(player, difference) in &self.extensions {
                phi(player as usize, difference * each);
                sum += difference;
            }
            gain += sum * each;
            loss += sum * from_rest;
        }
        self.own.iter().for_each(|&player| phi(player as usize, gain));
        self.rest.iter().for_each(|&player| phi(player as usize, -loss));
    }

    /// Adds the values of `value · [E, R]` (see [`coalitional`](crate::oracle::coalitional)).
    fn add_grouped(&mut self, coalitional: &Coalitional, value: f64, phi: &mut impl FnMut(usize, f64)) {
        let (own, rest) =
            (self.own.iter().map(|&player| (player, 0)), self.rest.iter().map(|&player| (player, 1)));
        let sides = own.chain(rest);
        // Groups with players in E alone, in R alone, and in both.
        let (mut whole, mut mixed) = ([0, 0], None);
        let mut mixed_count = 0;
        for (player, side) in sides.clone() {
            let group = coalitional.group_of(player);
            let counts = &mut self.of_group[group];
            counts[side] += 1;
            if counts[side] == 1 {
                if counts[1 - side] == 0 {
                    whole[side] += 1;
                } else {
                    whole[1 - side] -= 1;
                    mixed = Some(group);
                    mixed_count += 1;
                }
            }
        }
        let (between, within) = coalitional.moments();
        for (player, side) in sides.clone() {
            let group = coalitional.group_of(player);
            let [own, rest] = self.of_group[group];
            let of_groups = match mixed {
                None => {
                    let (gain, loss) = between.shares(whole[0], whole[1]);
                    [gain, loss][side]
                }
                Some(only) if mixed_count == 1 && only == group => between.get(whole[0], whole[1]),
                Some(_) => continue,
            };
            let (gain, loss) = within.shares(own, rest);
            phi(player as usize, value * of_groups * [gain, -loss][side]);
        }
        for (player, _) in sides {
            self.of_group[coalitional.group_of(player)] = [0; 2];
        }
    }
}
