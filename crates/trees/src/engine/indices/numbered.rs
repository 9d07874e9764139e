//! The coalitions whose players occur together on some path of the ensemble.

use std::collections::HashMap;
use std::sync::Arc;

use apportion_games::Coalitions;
use apportion_models::Ensemble;
use apportion_values::ValueError;
use apportion_values::interactions::MAX_INTERACTIONS;

use super::local::Local;
use crate::engine::paths::{MAX_FEATURES, Paths};
use crate::error::TreeError;

/// The coalitions that occur in an ensemble, with a number for each, and the numbers of the coalitions at
/// each leaf.
#[derive(Debug)]
pub(crate) struct NumberedCoalitions {
    /// All coalitions, ordered by size, then by their members.
    pub(crate) coalitions: Arc<Coalitions>,
    /// The ranking for each number of path players; `None` if no leaf has that number.
    locals: Vec<Option<Local>>,
    /// For each tree and leaf, the offset of the leaf's coalition numbers in `numbers`.
    places: Vec<Vec<usize>>,
    /// For each set of path players, the numbers of its coalitions in the order of their ranks.
    numbers: Vec<u32>,
    /// The maximum number of players of any leaf.
    pub(crate) max_width: usize,
}

impl NumberedCoalitions {
    /// Assigns a number to each coalition that occurs in the trees with `paths`. `order` is at most the
    /// number of players.
    ///
    /// # Errors
    ///
    /// [`ValueError::TooManyInteractions`] for more than [`MAX_INTERACTIONS`] coalitions times outputs.
    pub(crate) fn new<'p>(
        ensemble: &Ensemble,
        paths: impl Iterator<Item = Option<&'p Paths>>,
        (players, order): (usize, usize),
    ) -> Result<Self, TreeError> {
        let outputs = ensemble.output_count();
        let too_many = || ValueError::TooManyInteractions { players, order, outputs, max: MAX_INTERACTIONS };
        let most = MAX_INTERACTIONS / outputs.max(1);
        let mut locals: Vec<Option<Local>> = vec![None; MAX_FEATURES + 1];
        let mut numbers: Vec<u32> = Vec::new();
        let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut number_of: HashMap<Vec<u32>, u32> = HashMap::new();
        let (mut places, mut max_width) = (Vec::new(), 0);
        for (tree, paths) in ensemble.trees().iter().zip(paths) {
            let Some(paths) = paths else {
                places.push(Vec::new());
                continue;
            };
            let nodes = ensemble.nodes_of(tree);
            let mut of_tree = vec![0; nodes.len()];
            for (index, _) in nodes.iter().enumerate().filter(|(_, node)| node.is_leaf()) {
                let features = paths.features(index);
                if let Some(&place) = known.get(features) {
                    of_tree[index] = place;
                    continue;
                }
                let local = match &locals[features.len()] {
                    Some(local) => local,
                    None => {
                        let local = Local::new(features.len(), order, most).ok_or_else(too_many)?;
                        locals[features.len()].insert(local)
                    }
                };
                let place = numbers.len();
                numbers.resize(place + local.len(), u32::MAX);
                let bits: Vec<usize> = (0..features.len()).collect();
                local.each(&bits, &mut |rank, bits| {
                    if bits.is_empty() {
                        return;
                    }
                    let mut coalition: Vec<u32> = bits.iter().map(|&bit| features[bit]).collect();
                    coalition.sort_unstable();
                    let next = members.len() as u32;
                    numbers[place + rank] = *number_of.entry(coalition).or_insert_with_key(|coalition| {
                        members.push(coalition.clone());
                        next
                    });
                });
                if members.len() > most {
                    return Err(too_many().into());
                }
                known.insert(features.to_vec(), place);
                of_tree[index] = place;
                max_width = max_width.max(features.len());
            }
            places.push(of_tree);
        }
        // Renumber the coalitions in the order of results; the empty coalition comes last.
        let mut sorted: Vec<u32> = (0..members.len() as u32).collect();
        sorted.sort_unstable_by(|&a, &b| {
            let (a, b) = (&members[a as usize], &members[b as usize]);
            a.len().cmp(&b.len()).then_with(|| a.cmp(b))
        });
        let mut rank = vec![0u32; members.len()];
        let mut coalitions = Coalitions::with_capacity(players, members.len());
        for (place, &number) in sorted.iter().enumerate() {
            rank[number as usize] = place as u32;
            coalitions.push_members(members[number as usize].iter().map(|&member| member as usize));
        }
        let empty = members.len() as u32;
        for number in &mut numbers {
            *number = rank.get(*number as usize).copied().unwrap_or(empty);
        }
        let coalitions = Arc::new(coalitions);
        Ok(Self { coalitions, locals, places, numbers, max_width })
    }

    /// Returns the ranking of the coalitions of a leaf with this number of players.
    pub(crate) fn local(&self, players: usize) -> &Local {
        match &self.locals[players] {
            Some(local) => local,
            None => unreachable!("a leaf with this number of players was numbered"),
        }
    }

    /// Returns the numbers of the coalitions of a leaf, by rank; the empty coalition has the highest number.
    pub(crate) fn at(&self, tree: usize, leaf: usize, local: &Local) -> &[u32] {
        &self.numbers[self.places[tree][leaf]..][..local.len()]
    }
}
