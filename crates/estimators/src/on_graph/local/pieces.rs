//! Enumeration of the sets of nodes that lie inside some neighbourhood, without repetitions.
//!
//! # Method
//!
//! A piece P lies in the neighbourhoods of the nodes of its *common set* C(P) = ∩_{t ∈ P} N_k(t), because t ∈
//! N_k(j) is equivalent to j ∈ N_k(t). The smallest of these nodes *owns* P. The pieces owned by a node are
//! found by including or excluding its neighbours, one by one. A branch ends if the neighbourhood of some
//! earlier node contains the piece and all remaining neighbours, because this node then owns all pieces of
//! the branch.

use std::collections::BTreeMap;

/// The maximum number of nodes in a neighbourhood, so that its pieces fit in 64-bit masks in which one bit is
/// never set.
pub(super) const MAX_NODES: usize = 63;

/// The bit that no mask contains.
const NOWHERE: u32 = MAX_NODES as u32;

/// The maximum number of sets of earlier nodes to count together.
const MAX_COMMON_SETS: usize = 1 << 12;

/// A node, with the nodes that share pieces of its neighbourhood.
pub(super) struct Owner {
    /// The nodes of the neighbourhood; bit b of a mask is `nodes[b]`. Nodes in few earlier neighbourhoods
    /// come first, so that branches end early.
    nodes: Vec<usize>,
    /// The nodes whose neighbourhoods share some piece with the neighbourhood of this node, in ascending
    /// order.
    candidates: Vec<usize>,
    /// The size of each candidate's neighbourhood.
    sizes: Vec<usize>,
    /// The bit of each candidate in masks.
    bits: Vec<u32>,
    /// The number of 64-bit words per set of candidates.
    words: usize,
    /// For each bit, the candidates whose neighbourhood contains the node of this bit.
    with: Vec<u64>,
    /// For each bit, the candidates whose neighbourhoods contain the nodes of this bit and all later bits.
    /// The last entry is the set of all candidates.
    with_rest: Vec<u64>,
    /// The set of candidates with a smaller index than the owner.
    earlier: Vec<u64>,
}

impl Owner {
    /// Creates the owner `node`, whose neighbourhood has at most [`MAX_NODES`] nodes.
    pub(super) fn for_node(neighbourhoods: &[Vec<usize>], node: usize) -> Self {
        let around = &neighbourhoods[node];
        let mut candidates: Vec<usize> =
            around.iter().flat_map(|&near| neighbourhoods[near].iter().copied()).collect();
        candidates.sort_unstable();
        candidates.dedup();
        let place = |of: &usize| candidates.binary_search(of).unwrap_or(candidates.len());

        let mut nodes = around.clone();
        nodes.sort_by_key(|&near| neighbourhoods[near].partition_point(|&other| other < node));
        let words = candidates.len().div_ceil(64).max(1);
        let set = |members: &mut dyn Iterator<Item = usize>| {
            let mut set = vec![0; words];
            members.for_each(|member| set[member / 64] |= 1u64 << (member % 64));
            set
        };
        let with: Vec<u64> =
            nodes.iter().flat_map(|&near| set(&mut neighbourhoods[near].iter().map(place))).collect();
        let mut with_rest = vec![0; with.len()];
        with_rest.extend(set(&mut (0..candidates.len())));
        for at in (0..with.len()).rev() {
            with_rest[at] = with[at] & with_rest[at + words];
        }
        let mut bits = vec![NOWHERE; candidates.len()];
        nodes.iter().zip(0..).for_each(|(near, bit)| bits[place(near)] = bit);
        Self {
            earlier: set(&mut (0..place(&node))),
            sizes: candidates.iter().map(|&candidate| neighbourhoods[candidate].len()).collect(),
            nodes,
            candidates,
            bits,
            words,
            with,
            with_rest,
        }
    }

    /// Calls `visit` with the mask and the common set of every non-empty piece of the owner.
    pub(super) fn visit<E>(&self, mut visit: impl FnMut(u64, &[u64]) -> Result<(), E>) -> Result<(), E> {
        let last = self.nodes.len() * self.words;
        // Row b contains the common set of the included nodes after nodes 0..b have been decided.
        let mut common = vec![0; last + self.words];
        common[..self.words].copy_from_slice(&self.with_rest[last..]);
        self.branch(0, 0, &mut common, &mut visit)
    }

    fn branch<E>(
        &self,
        bit: usize,
        mask: u64,
        common: &mut [u64],
        visit: &mut impl FnMut(u64, &[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (now, next) = common.split_at_mut(self.words);
        if self.is_others(bit, now) {
            return Ok(());
        }
        if bit == self.nodes.len() {
            return if mask == 0 { Ok(()) } else { visit(mask, now) };
        }
        next[..self.words].copy_from_slice(now);
        self.branch(bit + 1, mask, next, visit)?;
        self.take(bit, now, next);
        self.branch(bit + 1, mask | 1 << bit, next, visit)
    }

    /// Returns the number of non-empty pieces of the owner, or `None` if counting takes more than `steps`.
    ///
    /// Counting follows the same branches as visiting, but merges identical ones. The rest of a branch only
    /// depends on the set of earlier nodes whose neighbourhoods contain the included nodes. On lines, grids
    /// and similar graphs, there are few such sets. If there are many, branches are followed one by one.
    pub(super) fn count(&self, steps: &mut usize) -> Option<f64> {
        let is_first = self.earlier.iter().all(|&word| word == 0);
        let mut count = if is_first { -1.0 } else { 0.0 };
        let mut branches = BTreeMap::from([(self.earlier.clone(), 1.0)]);
        for bit in 0..=self.nodes.len() {
            let mut next = BTreeMap::new();
            let follows_singly = branches.len() > MAX_COMMON_SETS;
            for (earlier, branches) in branches {
                if follows_singly {
                    let mut common = vec![0; (self.nodes.len() - bit + 1) * self.words];
                    common[..self.words].copy_from_slice(&earlier);
                    count += branches * self.count_branch(bit, &mut common, steps)?;
                    continue;
                }
                *steps = steps.checked_sub(1)?;
                match self.end(bit, &earlier) {
                    Some(own) => count += branches * own,
                    None => {
                        let mut with = vec![0; self.words];
                        self.take(bit, &earlier, &mut with);
                        *next.entry(with).or_insert(0.0) += branches;
                        *next.entry(earlier).or_insert(0.0) += branches;
                    }
                }
            }
            branches = next;
        }
        Some(count)
    }

    fn count_branch(&self, bit: usize, earlier: &mut [u64], steps: &mut usize) -> Option<f64> {
        *steps = steps.checked_sub(1)?;
        let (now, next) = earlier.split_at_mut(self.words);
        if let Some(own) = self.end(bit, now) {
            return Some(own);
        }
        next[..self.words].copy_from_slice(now);
        let without = self.count_branch(bit + 1, next, steps)?;
        self.take(bit, now, next);
        Some(without + self.count_branch(bit + 1, next, steps)?)
    }

    /// Returns the number of pieces of a branch that belong to the owner, if all or none of them do. This is
    /// always the case at the last bit. The result depends on the set of earlier nodes whose neighbourhoods
    /// contain the included nodes.
    fn end(&self, bit: usize, earlier: &[u64]) -> Option<f64> {
        if self.is_others(bit, earlier) {
            return Some(0.0);
        }
        earlier.iter().all(|&word| word == 0).then(|| ((self.nodes.len() - bit) as f64).exp2())
    }

    /// Returns whether the neighbourhood of a node before the owner contains the included nodes and all nodes
    /// from `bit` on.
    fn is_others(&self, bit: usize, common: &[u64]) -> bool {
        let rest = &self.with_rest[bit * self.words..];
        common
            .iter()
            .zip(rest)
            .zip(&self.earlier)
            .any(|((common, rest), earlier)| common & rest & earlier != 0)
    }

    /// Writes to `next` the candidates in `now` whose neighbourhoods also contain the node of `bit`.
    fn take(&self, bit: usize, now: &[u64], next: &mut [u64]) {
        let with = &self.with[bit * self.words..];
        next.iter_mut().zip(now).zip(with).for_each(|((next, now), with)| *next = now & with);
    }

    /// Returns the nodes of a mask.
    pub(super) fn nodes_of(&self, mask: u64) -> impl Iterator<Item = usize> {
        self.nodes.iter().enumerate().filter(move |(bit, _)| mask >> bit & 1 == 1).map(|(_, &node)| node)
    }

    /// Returns the nodes whose neighbourhoods share some piece with the neighbourhood of this node, in
    /// ascending order.
    pub(super) fn candidates(&self) -> &[usize] {
        &self.candidates
    }

    /// Returns the size of each candidate's neighbourhood.
    pub(super) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Returns the number of 64-bit words in a common set.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Returns whether the candidate is in the piece.
    pub(super) fn is_in(&self, candidate: usize, mask: u64) -> bool {
        mask >> self.bits[candidate] & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Adjacency, Graph};

    #[test]
    fn branches_counted_together_and_singly_are_the_pieces_visited() {
        let star = Graph::from_edges(9, (0..8).map(|leaf| (leaf, 8))).unwrap();
        let graphs =
            [Graph::line(9), Graph::grid(4, 5, Adjacency::Four), Graph::grid(4, 4, Adjacency::Eight), star];
        for graph in graphs {
            for order in [1, 2] {
                let around: Vec<_> =
                    (0..graph.nodes()).map(|node| graph.neighbourhood(node, order)).collect();
                for node in 0..graph.nodes() {
                    let owner = Owner::for_node(&around, node);
                    let mut visited = 0.0;
                    let visit = |_: u64, _: &[u64]| {
                        visited += 1.0;
                        Ok::<(), ()>(())
                    };
                    owner.visit(visit).unwrap();
                    assert_eq!(owner.count(&mut usize::MAX.clone()), Some(visited));
                    let mut earlier = vec![0; (owner.nodes.len() + 1) * owner.words];
                    earlier[..owner.words].copy_from_slice(&owner.earlier);
                    let singly = owner.count_branch(0, &mut earlier, &mut usize::MAX.clone()).unwrap();
                    // The empty piece belongs to the first node.
                    assert_eq!(singly, visited + f64::from(owner.earlier.iter().all(|&word| word == 0)));
                    assert_eq!(owner.count(&mut 0), None);
                }
            }
        }
    }
}
