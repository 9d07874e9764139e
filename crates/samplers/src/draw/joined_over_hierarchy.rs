//! Draws the coalition that a player joins over a hierarchy of groups: some of the siblings at every level.

use apportion_games::{Coalitions, Hierarchy};
use rand_chacha::ChaCha8Rng;

use crate::draw::joined_coalitions::SubsetDistribution;
use crate::error::SamplerError;

/// The distribution of the coalition that a player joins over a hierarchy. For every group that contains the
/// player, some of the other members of the group are drawn; a member that is a group joins as a whole. The
/// number of members is drawn first, independently for each group.
///
/// If the size distributions are those of semivalues, the player's mean marginal contribution is a
/// coalitional value over the hierarchy.
///
/// A draw takes at most O(n) time for each group that contains the player.
///
/// ```
/// use apportion_games::{Hierarchy, Partition, Purpose, stream};
/// use apportion_samplers::JoinedOverHierarchy;
///
/// let hierarchy = Hierarchy::from(&Partition::new(4, vec![vec![0, 1, 2], vec![3]])?);
/// let owen = JoinedOverHierarchy::new(&hierarchy, |_, members| vec![1.0; members])?;
/// let mut words = [0];
/// owen.draw(3, &mut stream(7, Purpose::ProductSpace, 0), &mut words);
/// assert!(words == [0] || words == [0b111]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct JoinedOverHierarchy<'h> {
    hierarchy: &'h Hierarchy,
    /// For each node, the coalition of its players.
    players: Coalitions,
    /// For each node, its position among the members of the enclosing group.
    places: Vec<usize>,
    /// For each group, the distribution of the drawn subset of the other members.
    distributions: Vec<SubsetDistribution>,
}

impl<'h> JoinedOverHierarchy<'h> {
    /// Creates the distribution from weights that are proportional to probabilities. `sizes(level,
    /// members)[s]`, for s in 0..members, is the weight of drawing s other members in a group with `members`
    /// members at the given [level](Hierarchy::level).
    ///
    /// # Errors
    ///
    /// [`SamplerError::Sizes`] if there is not one weight for each size, [`SamplerError::OutcomeWeight`] and
    /// [`SamplerError::NoOutcome`] for invalid weights; [`SamplerError::Memory`].
    pub fn new(
        hierarchy: &'h Hierarchy,
        sizes: impl Fn(usize, usize) -> Vec<f64>,
    ) -> Result<Self, SamplerError> {
        let mut places = vec![0; hierarchy.nodes()];
        let mut distributions = Vec::with_capacity(hierarchy.groups().len());
        for group in hierarchy.groups() {
            let members = hierarchy.children(group);
            members.iter().enumerate().for_each(|(place, &member)| places[member] = place);
            distributions
                .push(SubsetDistribution::new(members.len(), &sizes(hierarchy.level(group), members.len()))?);
        }
        Ok(Self { hierarchy, players: hierarchy.try_coalitions()?, places, distributions })
    }

    /// Draws the coalition that `player` joins, and adds it to the coalition `words`.
    ///
    /// # Panics
    ///
    /// If the player does not exist, or the length of `words` is wrong.
    pub fn draw(&self, player: usize, rng: &mut ChaCha8Rng, words: &mut [u64]) {
        let mut inside = player;
        for group in self.hierarchy.above(player) {
            let members = self.hierarchy.children(group);
            self.distributions[group - self.hierarchy.players()].draw(self.places[inside], rng, |place| {
                let joined = self.players.row(members[place]).words();
                words.iter_mut().zip(joined).for_each(|(word, joined)| *word |= joined);
            });
            inside = group;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_alike;
    use apportion_games::{Purpose, stream};

    #[test]
    fn coalitions_have_the_law_of_every_level() {
        // In ((0, 1), 2), 3, player 0 joins or does not join each of 1, 2 and 3; all eight combinations are
        // equally likely. The chi-square statistic with 7 degrees of freedom exceeds 30 with probability
        // 1e-4.
        let parents = [Some(4), Some(4), Some(5), Some(6), Some(5), Some(6), None];
        let hierarchy = Hierarchy::from_parents(4, &parents).unwrap();
        let distribution = JoinedOverHierarchy::new(&hierarchy, |_, members| vec![1.0; members]).unwrap();
        let mut rng = stream(3, Purpose::ProductSpace, 0);
        let draw = |_| {
            let mut words = [0];
            distribution.draw(0, &mut rng, &mut words);
            words
        };
        assert_alike((0..8000).map(draw), 8, 30.0, "coalitions");
        // With a distribution that is certain at the top level, a player always joins all others there.
        let certain = |level: usize, members: usize| {
            (0..members).map(|size| f64::from(u8::from(level > 0 || size + 1 == members))).collect()
        };
        let distribution = JoinedOverHierarchy::new(&hierarchy, certain).unwrap();
        for _ in 0..50 {
            let mut words = [0];
            distribution.draw(2, &mut rng, &mut words);
            assert!(words == [0b1000] || words == [0b1011]);
        }
        assert!(JoinedOverHierarchy::new(&hierarchy, |_, _| vec![1.0]).is_err());
    }
}
