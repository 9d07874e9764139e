//! Coalitional values over a hierarchy of nested groups, of any depth.
//!
//! # Definition
//!
//! Let i be a player, G_0 the group of all players, G_0 ⊃ G_1 ⊃ … ⊃ G_d the groups that contain i, and K_l
//! the *siblings* in G_l: the members of G_l (players and groups) other than G_{l+1}, or other than i if
//! l = d. At every level, a semivalue weights the coalitions A_l of siblings; a sibling that is a group joins
//! as a whole. The value is the weighted sum of the marginal contributions of i to the unions of these
//! coalitions:
//!
//! ```text
//! φ_i = Σ_{A_0 ⊆ K_0} w_0(A_0) … Σ_{A_d ⊆ K_d} w_d(A_d) [v(Q ∪ i) − v(Q)],     Q = ∪_l ∪_{a ∈ A_l} a
//! ```
//!
//! where the weights `w_l(A) = M(|A|, |K_l| − |A|)` are moments of the semivalue for level l. A partition is
//! a hierarchy with two levels, and its value is the [coalitional value](crate::CoalitionalValue).
//!
//! With the Shapley value at every level, φ_i is the mean of i's marginal contributions over all orders of
//! the players in which the players of every group are contiguous; these orders are equally likely. Such an
//! order consists of independent uniform orders of the members of each group. Therefore the members of G_l
//! that precede G_{l+1} are a given coalition of |A| siblings with probability |A|! (|K_l| − |A|)! /
//! (|K_l| + 1)!. This is Winter's value for games with a levels structure; Owen's value is the special case
//! of two levels.
//!
//! # Method
//!
//! The sums over A_0 … A_{d−1} define a game whose only players are the members of G_d, `u(T) = Σ w_0(A_0) …
//! w_{d−1}(A_{d−1}) v(Q ∪ T)`, where Q is the union of the coalitions A_l. φ_i is a semivalue of this game.
//! The game is enumerated for each group that has players among its members. This takes 2^k coalitions, where
//! k is the number of members of the group plus the number of siblings in all groups that contain it.
//!
//! # Source
//!
//! Winter, *A value for cooperative games with levels structure of cooperation*, International Journal of
//! Game Theory 18, 1989; for Banzhaf values Álvarez-Mozos and Tejada, *Parallel characterizations of a
//! generalized Shapley value and a generalized Banzhaf value for cooperative games with levels structure of
//! cooperation*, Decision Support Systems 52, 2011.

use apportion_games::{Coalitions, Game, GameError, Hierarchy};

use crate::attributions::Attributions;
use crate::coalitional::{CoalitionalValue, ends};
use crate::enumeration::{MAX_PLAYERS, enumerate, sum_rows};
use crate::error::ValueError;
use crate::semivalue::Semivalue;

impl CoalitionalValue {
    /// Returns the semivalue for groups at a [level](Hierarchy::level): [`between`](Self::between) at the top
    /// level, [`within`](Self::within) at all others.
    pub fn at_level(&self, level: usize) -> &Semivalue {
        if level == 0 { &self.between } else { &self.within }
    }

    /// Returns the semivalue of single players to which this value reduces, if the hierarchy has a single
    /// level; otherwise `None`.
    pub fn reduces_over(&self, hierarchy: &Hierarchy) -> Option<&Semivalue> {
        (hierarchy.groups().len() == 1).then(|| self.at_level(hierarchy.level(hierarchy.root())))
    }

    /// Checks that any weights by size match the number of members of every group.
    ///
    /// # Errors
    ///
    /// [`ValueError::WeightsForOtherPlayers`] if they do not match.
    pub fn check_over(&self, hierarchy: &Hierarchy) -> Result<(), ValueError> {
        hierarchy.groups().try_for_each(|group| {
            self.at_level(hierarchy.level(group)).check_players(hierarchy.children(group).len())
        })
    }

    /// Computes the exact value of every player of `game` over a hierarchy of groups.
    ///
    /// Evaluates 2^k coalitions for each group that has players among its members. Here k is the number of
    /// members of the group plus, for each group that contains it, the number of members of that group minus
    /// one.
    ///
    /// ```
    /// use apportion_games::{Cooking, Hierarchy, Member};
    /// use apportion_values::{CoalitionalValue, Semivalue, enumerate};
    ///
    /// // Two of three players form a group.
    /// let two = Member::Group(vec![Member::Player(0), Member::Player(1)]);
    /// let hierarchy = Hierarchy::new(3, vec![two, Member::Player(2)])?;
    /// let owen = CoalitionalValue::owen().enumerate_over(&Cooking, &hierarchy)?;
    /// let total: f64 = owen.values.iter().sum();
    /// assert!((total - 15.0).abs() < 1e-12);
    /// # Ok::<(), apportion_values::ValueError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ValueError::Game`] if the number of players of the hierarchy differs, or if the game fails;
    /// [`ValueError::Levels`] if k exceeds 25 for some group; any error of [`enumerate`].
    pub fn enumerate_over(
        &self,
        game: &(impl Game + ?Sized),
        hierarchy: &Hierarchy,
    ) -> Result<Attributions, ValueError> {
        // Use dynamic dispatch to compile the code below once, not once per game type.
        let game: &dyn Game = &game;
        let (players, outputs) = (game.players(), game.outputs());
        hierarchy.check_players(players)?;
        if players == 0 || outputs == 0 {
            return Err(ValueError::Players { actual: players, max: MAX_PLAYERS });
        }
        self.check_over(hierarchy)?;
        let widest = groups_of_players(hierarchy).map(|group| players_of_games(hierarchy, group)).max();
        if let Some(needed) = widest.filter(|&needed| needed > MAX_PLAYERS) {
            return Err(ValueError::Levels { needed, max: MAX_PLAYERS });
        }
        let (base, full) = ends(game)?;
        let coalitions = hierarchy.try_coalitions().map_err(GameError::from)?;
        let mut values = vec![0.0; players * outputs];
        for group in groups_of_players(hierarchy) {
            let of_group = GroupGame::new(game, self, hierarchy, &coalitions, group, &base);
            let found = enumerate(&of_group, self.at_level(hierarchy.level(group)).clone())?;
            for (place, &member) in hierarchy.children(group).iter().enumerate() {
                if member < players {
                    values[member * outputs..(member + 1) * outputs].copy_from_slice(found.value(0, place));
                }
            }
        }
        Attributions::for_players(players, values, base, full).finite()
    }

    /// Returns the number of distinct coalitions that [`enumerate_over`](Self::enumerate_over) evaluates, or
    /// `None` if a group requires more than 2^25 coalitions.
    ///
    /// These are the empty coalition, the grand coalition, and the partial coalitions of the root. A partial
    /// coalition of a group contains some but not all of its players. In this group and in every group inside
    /// it, at most one member is contained partially. The number of partial coalitions is
    ///
    /// ```text
    /// p(G) = 2^c − 2 + 2^(c−1) Σ_g p(g)
    /// ```
    ///
    /// for a group G with c members g, and 0 for a player.
    pub fn coalitions_over(hierarchy: &Hierarchy) -> Option<usize> {
        let players = hierarchy.players();
        let mut parts = vec![0usize; hierarchy.nodes()];
        for group in hierarchy.groups().rev() {
            let members = hierarchy.children(group);
            if members.len() > MAX_PLAYERS || players_of_games(hierarchy, group) > MAX_PLAYERS {
                return None;
            }
            let unions = 1usize << members.len();
            let inner = members.iter().try_fold(0usize, |sum, &member| sum.checked_add(parts[member]))?;
            parts[group] = (unions.max(2) - 2).checked_add(inner.checked_mul(unions / 2)?)?;
        }
        Some(parts[players] + 2)
    }
}

/// Returns the groups that have players among their members.
fn groups_of_players(hierarchy: &Hierarchy) -> impl Iterator<Item = usize> {
    hierarchy
        .groups()
        .filter(|&group| hierarchy.children(group).iter().any(|&member| member < hierarchy.players()))
}

/// Returns k: the number of members of `group` plus, for each group that contains it, the number of members
/// of that group minus one.
fn players_of_games(hierarchy: &Hierarchy, group: usize) -> usize {
    let members = |group: usize| hierarchy.children(group).len();
    members(group) + hierarchy.above(group).map(|above| members(above) - 1).sum::<usize>()
}

/// Number of coalitions evaluated in one batch; a power of two.
const CHUNK: usize = 4096;

/// The game u, whose players are the members of one group. It averages v over coalitions of the siblings in
/// the groups that contain this group, and subtracts v(∅).
struct GroupGame<'a, G: ?Sized> {
    game: &'a G,
    /// Each member as a coalition of players, stored as words.
    members: Vec<&'a [u64]>,
    /// Each sibling as a coalition of players, stored as words, level by level.
    siblings: Vec<&'a [u64]>,
    /// For each level, the mask of its siblings, and the weights of their coalitions indexed by size.
    levels: Vec<(usize, Vec<f64>)>,
    base: &'a [f64],
}

impl<'a, G: Game + ?Sized> GroupGame<'a, G> {
    fn new(
        game: &'a G,
        value: &CoalitionalValue,
        hierarchy: &Hierarchy,
        coalitions: &'a Coalitions,
        group: usize,
        base: &'a [f64],
    ) -> Self {
        let (mut siblings, mut levels, mut inside) = (Vec::new(), Vec::new(), group);
        for above in hierarchy.above(group) {
            let members = hierarchy.children(above);
            let first = siblings.len();
            let others = members.iter().filter(|&&member| member != inside);
            siblings.extend(others.map(|&member| coalitions.row(member).words()));
            let semivalue = value.at_level(hierarchy.level(above));
            let weights = (0..members.len()).map(|size| semivalue.coefficient(members.len(), size));
            levels.push(((1 << siblings.len()) - (1 << first), weights.collect()));
            inside = above;
        }
        let members = hierarchy.children(group).iter().map(|&member| coalitions.row(member).words());
        Self { game, members: members.collect(), siblings, levels, base }
    }

    /// Returns the weight of a coalition of siblings, given as bits.
    fn weight(&self, siblings: usize) -> f64 {
        let of_level =
            |(level, weights): &(usize, Vec<f64>)| weights[(siblings & level).count_ones() as usize];
        self.levels.iter().map(of_level).product()
    }
}

/// Adds the players in `more` to the coalition `words`.
fn join(words: &mut [u64], more: &[u64]) {
    words.iter_mut().zip(more).for_each(|(word, more)| *word |= more);
}

impl<G: Game + ?Sized> Game for GroupGame<'_, G> {
    fn players(&self) -> usize {
        self.members.len()
    }

    fn outputs(&self) -> usize {
        self.game.outputs()
    }

    fn rows_per_coalition(&self) -> usize {
        self.game.rows_per_coalition() << self.siblings.len()
    }

    fn parallel(&self) -> bool {
        self.game.parallel()
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let (players, outputs) = (self.game.players(), self.outputs());
        let unions = 1usize << self.siblings.len();
        out.fill(0.0);
        // Row r combines two coalitions: number r / unions of the members and number r mod unions of the
        // siblings.
        let rows = batch.len() * unions;
        let mut values = vec![0.0; CHUNK.min(rows) * outputs];
        let mut words = vec![0; apportion_games::words_for(players)];
        for start in (0..rows).step_by(CHUNK) {
            let range = start..rows.min(start + CHUNK);
            let mut asked = Coalitions::with_capacity(players, range.len());
            for row in range.clone() {
                words.fill(0);
                let mut union = row % unions;
                while union != 0 {
                    join(&mut words, self.siblings[union.trailing_zeros() as usize]);
                    union &= union - 1;
                }
                batch.row(row / unions).members().for_each(|member| join(&mut words, self.members[member]));
                asked.push_words(&words);
            }
            let values = &mut values[..range.len() * outputs];
            self.game.values(&asked, values)?;
            for (row, values) in range.zip(values.chunks_exact_mut(outputs)) {
                let weight = self.weight(row % unions);
                for (value, base) in values.iter_mut().zip(self.base) {
                    *value = weight * (*value - base);
                }
            }
            // `unions` and `CHUNK` are powers of two, so a chunk contains all rows of one or more coalitions,
            // or a part of the rows of one coalition.
            let of_one = unions.min(CHUNK) * outputs;
            for (part, values) in values.chunks_exact_mut(of_one).enumerate() {
                let coalition = start / unions + part;
                let sums = sum_rows(values, outputs);
                let out = &mut out[coalition * outputs..(coalition + 1) * outputs];
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out += *sum);
            }
        }
        Ok(())
    }
}
