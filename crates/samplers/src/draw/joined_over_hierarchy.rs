//! Draws of the coalition that a player joins over a hierarchy of groups: siblings at every level.

use apportion_games::{Coalitions, Hierarchy};
use rand_chacha::ChaCha8Rng;

use crate::draw::joined_coalitions::SubsetLaw;
use crate::error::SamplerError;

/// The law of the coalition that a player joins over a hierarchy: of every group that the player is in some of the other members, each as a
/// whole, drawn by their number and independently of other groups.
///
/// With the size laws of semivalues the mean of what the player adds is a coalitional value over the hierarchy.
///
/// A draw takes O(n) time for each group around the player at most.
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
    /// The players at each node.
    players: Coalitions,
    /// Of each node: which member of its group it is.
    places: Vec<usize>,
    /// Of each group.
    laws: Vec<SubsetLaw>,
}

impl<'h> JoinedOverHierarchy<'h> {
    /// The law in which `sizes(level, members)[s]` is in proportion to the probability that a member of a group of so many, which is of that
    /// [level](Hierarchy::level), is joined to s others, s in 0..members.
    ///
    /// # Errors
    ///
    /// [`SamplerError::Sizes`] where there is not one weight for each size, [`SamplerError::OutcomeWeight`] and
    /// [`SamplerError::NoOutcome`] for weights that are no law; [`SamplerError::Memory`].
    pub fn new(
        hierarchy: &'h Hierarchy,
        sizes: impl Fn(usize, usize) -> Vec<f64>,
    ) -> Result<Self, SamplerError> {
        let mut places = vec![0; hierarchy.nodes()];
        let mut laws = Vec::with_capacity(hierarchy.groups().len());
        for group in hierarchy.groups() {
            let members = hierarchy.children(group);
            members.iter().enumerate().for_each(|(place, &member)| places[member] = place);
            laws.push(SubsetLaw::new(members.len(), &sizes(hierarchy.level(group), members.len()))?);
        }
        Ok(Self { hierarchy, players: hierarchy.try_coalitions()?, places, laws })
    }

    /// Adds what `player` is joined to to `words`.
    ///
    /// # Panics
    ///
    /// If there is no such player, or `words` are not those of a coalition of all players.
    pub fn draw(&self, player: usize, rng: &mut ChaCha8Rng, words: &mut [u64]) {
        let mut inside = player;
        for group in self.hierarchy.above(player) {
            let members = self.hierarchy.children(group);
            self.laws[group - self.hierarchy.players()].draw(self.places[inside], rng, |place| {
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
        // ((0, 1), 2), 3: player 0 joins 1 or not, 2 or not, 3 or not, all eight alike; chi-square with 7 degrees of freedom exceeds 30 with
        // probability 1e-4.
        let parents = [Some(4), Some(4), Some(5), Some(6), Some(5), Some(6), None];
        let hierarchy = Hierarchy::from_parents(4, &parents).unwrap();
        let law = JoinedOverHierarchy::new(&hierarchy, |_, members| vec![1.0; members]).unwrap();
        let mut rng = stream(3, Purpose::ProductSpace, 0);
        let draw = |_| {
            let mut words = [0];
            law.draw(0, &mut rng, &mut words);
            words
        };
        assert_alike((0..8000).map(draw), 8, 30.0, "coalitions");
        // By a law of its own at the top: always joined to all.
        let certain = |level: usize, members: usize| {
            (0..members).map(|size| f64::from(u8::from(level > 0 || size + 1 == members))).collect()
        };
        let law = JoinedOverHierarchy::new(&hierarchy, certain).unwrap();
        for _ in 0..50 {
            let mut words = [0];
            law.draw(2, &mut rng, &mut words);
            assert!(words == [0b1000] || words == [0b1011]);
        }
        assert!(JoinedOverHierarchy::new(&hierarchy, |_, _| vec![1.0]).is_err());
    }
}
