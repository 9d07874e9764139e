//! Counts how many rows pass the tests of every subset of a path's features, by bitwise AND.
//!
//! A node has k path features, which have 2^k sets S. Let P\[S\] be the number of rows that pass all tests
//! above the node on the features in S. A split on feature f adds a test. From P and the number L\[S\] of
//! those rows that go left, the counts of the children follow:
//!
//! ```text
//! f is new:      left:  P[S], P[S ∪ f] = L[S]         right:  P[S], P[S ∪ f] = P[S] − L[S]
//! f is known:    left:  P[S] = L[S] for S ∋ f         right:  P[S] = P[S] − L[S] for S ∋ f
//! ```
//!
//! and P\[S\] for f ∉ S is unchanged. Therefore one AND and one bit count per split and set are enough for
//! both children. They process 64 rows at a time, and no row individually. At a leaf, the number of rows with
//! the pattern M is the alternating sum of P over the sets that contain M: one subtraction per set and
//! feature. All counts are integers, so the result does not depend on the order of rows or threads.
//!
//! The sets of rows at a node are kept while the tree below it is traversed. The sets of a child are appended
//! to them if the feature is new; if the feature is known, the child has separate sets.

use super::decisions::{Bits, Questions, WORDS};
use crate::engine::paths::Paths;
use apportion_models::tree::Node;

/// The maximum number of path features of a split, and the maximum number of counts of a tree. Beyond either
/// limit, counting every set takes longer than processing each row.
const MAX_FEATURES: usize = 10;
const MAX_COUNTS: usize = 1 << 16;

/// The counting steps for one tree, in traversal order.
#[derive(Debug, Clone)]
pub(crate) struct Lattice {
    steps: Vec<Step>,
    /// For each split, the offset of its counts L.
    starts: Vec<usize>,
    /// The number of counts L of all splits.
    counts: usize,
    /// The maximum number of sets of rows that are stored at a time.
    room: usize,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    question: u32,
    /// The offset of the first of the node's sets; `sets` is their number.
    first: usize,
    sets: usize,
    /// The offset of the sets that the child does not share with the node; `known` is the bit of the feature
    /// if an earlier split tests it.
    below: usize,
    known: Option<u32>,
    task: Task,
}

#[derive(Debug, Clone, Copy)]
enum Task {
    /// Count the rows that go left, and store the counts from this offset on.
    Count(usize),
    /// Count the rows that go left, as [`Count`](Self::Count) does, and compute the sets of the left child.
    CountAndGoLeft(usize),
    /// Compute the sets of the right child.
    GoRight,
}

impl Lattice {
    /// Plans the counts of a tree, or returns `None` if counting would not pay off. `first` is the index of
    /// the tree's first node in the ensemble.
    pub(crate) fn new(nodes: &[Node], first: usize, paths: &Paths, questions: &Questions) -> Option<Self> {
        let mut lattice = Self { steps: Vec::new(), starts: vec![0; nodes.len()], counts: 0, room: 1 };
        // A stack of nodes to visit, each with the offset of its sets and whether its left side is done.
        let mut open = vec![(0, 0, false)];
        while let Some((index, start, left_done)) = open.pop() {
            let node = nodes[index];
            if node.is_leaf() {
                continue;
            }
            let features = paths.features(index).len();
            if features > MAX_FEATURES {
                return None;
            }
            let sets = 1 << features;
            let known = (!paths.is_first(index)).then(|| paths.bit(index));
            let below = start + sets;
            let child = if known.is_some() { below } else { start };
            let splits = [node.left(), node.right()].map(|child| !nodes[child].is_leaf());
            let task = match (left_done, splits[0]) {
                (true, _) => Task::GoRight,
                (false, true) => Task::CountAndGoLeft(lattice.counts),
                (false, false) => Task::Count(lattice.counts),
            };
            if !left_done {
                lattice.starts[index] = lattice.counts;
                lattice.counts += sets;
                if lattice.counts > MAX_COUNTS {
                    return None;
                }
            }
            let question = questions.of_node(first + index);
            if !left_done || splits[1] {
                lattice.steps.push(Step { question, first: start, sets, below, known, task });
                lattice.room = lattice.room.max(below + sets);
            }
            if !left_done {
                open.push((index, start, true));
                open.push((node.left(), child, false));
            } else {
                open.push((node.right(), child, false));
            }
        }
        Some(lattice)
    }

    /// Returns the number of counts L of all splits.
    pub(crate) fn counts(&self) -> usize {
        self.counts
    }

    /// Adds the `present` rows of a block to the counts. `sets` is working memory, reused between calls.
    pub(crate) fn add(&self, answers: &[Bits], present: &Bits, sets: &mut Vec<u64>, counts: &mut [u64]) {
        if sets.len() < WORDS * self.room {
            sets.resize(WORDS * self.room, 0);
        }
        let mut rest = &mut sets[..];
        let words = std::array::from_fn(|word| {
            let (sets, others) = std::mem::take(&mut rest).split_at_mut(self.room);
            rest = others;
            sets[0] = present[word];
            sets
        });
        add_block(&self.steps, answers, words, counts);
    }

    /// Calls `leaf` with each leaf and the number of rows per pattern, for `rows` rows in total.
    pub(crate) fn patterns(
        &self,
        nodes: &[Node],
        paths: &Paths,
        rows: u64,
        counts: &[u64],
        mut leaf: impl FnMut(usize, &[u64]),
    ) {
        // The counts P at the nodes on the path to the current one, one node after the other.
        let mut passing = vec![rows];
        let mut open = vec![(0, 0, true)];
        if nodes[0].is_leaf() {
            open.clear();
            leaf(0, &passing);
        }
        // A stack of splits, each with the offset of its counts and the side to visit next.
        while let Some((index, start, goes_left)) = open.pop() {
            if goes_left {
                open.push((index, start, false));
            }
            let node = nodes[index];
            let child = if goes_left { node.left() } else { node.right() };
            let (sets, child_sets) = (1 << paths.features(index).len(), 1 << paths.features(child).len());
            let below = start + sets;
            if passing.len() < below + child_sets {
                passing.resize(below + child_sets, 0);
            }
            let (above, below_it) = passing.split_at_mut(below);
            let (above, at_child) = (&above[start..], &mut below_it[..child_sets]);
            let left = &counts[self.starts[index]..][..sets];
            pass(above, left, goes_left, paths.bit(index), at_child);
            if nodes[child].is_leaf() {
                subtract_supersets(at_child);
                leaf(child, at_child);
            } else {
                open.push((child, below, true));
            }
        }
    }
}

/// Computes the counts at a child from the counts at the split and the counts of the rows that go left. `bit`
/// is the bit of the split's feature in the child.
fn pass(above: &[u64], left: &[u64], goes_left: bool, bit: u32, child: &mut [u64]) {
    let half = 1 << bit;
    let pass = |above: &[u64], left: &[u64], passed: &mut [u64]| {
        if goes_left {
            passed.copy_from_slice(left);
        } else {
            for ((passed, above), left) in passed.iter_mut().zip(above).zip(left) {
                *passed = above - left;
            }
        }
    };
    if above.len() == half {
        let (untested, tested) = child.split_at_mut(half);
        untested.copy_from_slice(above);
        pass(above, left, tested);
        return;
    }
    let numbers = above.chunks_exact(2 * half).zip(left.chunks_exact(2 * half));
    for (child, (above, left)) in child.chunks_exact_mut(2 * half).zip(numbers) {
        let (untested, tested) = child.split_at_mut(half);
        untested.copy_from_slice(&above[..half]);
        pass(&above[half..], &left[half..], tested);
    }
}

/// Converts counts of rows that pass at least the tests of each set to counts of rows that pass exactly these
/// tests.
fn subtract_supersets(counts: &mut [u64]) {
    let mut step = 1;
    while step < counts.len() {
        for pair in counts.chunks_exact_mut(2 * step) {
            let (without, with) = pair.split_at_mut(step);
            for (without, with) in without.iter_mut().zip(with) {
                *without -= *with;
            }
        }
        step *= 2;
    }
}

/// Executes the steps for one block. `words` contains the sets of rows, one list for each word of 64 rows.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512vpopcntdq+avx2+popcnt",
    "x86_64+avx2+popcnt",
    "x86_64+popcnt"
))]
fn add_block(steps: &[Step], answers: &[Bits], mut words: [&mut [u64]; WORDS], counts: &mut [u64]) {
    let words = &mut words;
    for step in steps {
        let answer = &answers[step.question as usize];
        match step.sets {
            1 => take::<1>(step, answer, words, counts),
            2 => take::<2>(step, answer, words, counts),
            4 => take::<4>(step, answer, words, counts),
            8 => take::<8>(step, answer, words, counts),
            16 => take::<16>(step, answer, words, counts),
            _ => take::<32>(step, answer, words, counts),
        }
    }
}

/// Executes one step, `SETS` sets at a time.
#[inline(always)]
fn take<const SETS: usize>(step: &Step, answer: &Bits, words: &mut [&mut [u64]; WORDS], counts: &mut [u64]) {
    match (step.task, step.known) {
        (Task::Count(start), _) => {
            let counts = &mut counts[start..start + step.sets];
            for (part, counts) in counts.as_chunks_mut::<SETS>().0.iter_mut().enumerate() {
                let mut sums = [0; SETS];
                for (sets, &bits) in words.iter().zip(answer) {
                    let Some(sets) = sets[step.first + part * SETS..].first_chunk::<SETS>() else { continue };
                    for (sum, set) in sums.iter_mut().zip(sets) {
                        *sum += u64::from((set & bits).count_ones());
                    }
                }
                for (count, sum) in counts.iter_mut().zip(sums) {
                    *count += sum;
                }
            }
        }
        (Task::CountAndGoLeft(start), known) => {
            let counts = &mut counts[start..start + step.sets];
            for (part, counts) in counts.as_chunks_mut::<SETS>().0.iter_mut().enumerate() {
                let mut sums = [0; SETS];
                for (sets, &bits) in words.iter_mut().zip(answer) {
                    let (above, below) =
                        sets[step.first + part * SETS..].split_at_mut(step.below - step.first);
                    let (Some(above), Some(below)) =
                        (above.first_chunk::<SETS>(), below.first_chunk_mut::<SETS>())
                    else {
                        continue;
                    };
                    for ((sum, set), below) in sums.iter_mut().zip(above).zip(below) {
                        *below = set & bits;
                        *sum += u64::from(below.count_ones());
                    }
                }
                for (count, sum) in counts.iter_mut().zip(sums) {
                    *count += sum;
                }
            }
            if let Some(known) = known {
                keep_untested(step, known, words);
            }
        }
        (Task::GoRight, known) => {
            for (sets, &bits) in words.iter_mut().zip(answer) {
                let (above, below) = sets[step.first..].split_at_mut(step.below - step.first);
                let parts = above.as_chunks::<SETS>().0.iter().zip(below.as_chunks_mut::<SETS>().0);
                for (above, below) in parts {
                    for (set, below) in above.iter().zip(below) {
                        *below = set & !bits;
                    }
                }
            }
            if let Some(known) = known {
                keep_untested(step, known, words);
            }
        }
    }
}

/// Copies the sets that do not contain the known feature to the child.
#[inline(always)]
fn keep_untested(step: &Step, known: u32, words: &mut [&mut [u64]; WORDS]) {
    let half = 1 << known;
    for sets in words {
        let (above, below) = sets[step.first..].split_at_mut(step.sets);
        let mut start = 0;
        while start < step.sets {
            below[start..start + half].copy_from_slice(&above[start..start + half]);
            start += 2 * half;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::background::decisions::{Block, ROWS};
    use crate::common::{Random, TreeSpec, document, read};
    use crate::engine::histograms::Histograms;
    use crate::engine::paths::{BLOCK, Columns};

    #[test]
    fn counts_are_those_of_looking_at_each_row() {
        let mut random = Random(17);
        let mut max_width = 0;
        for (features, depth) in [(1, 3), (2, 0), (3, 5), (9, 4), (12, 7)] {
            let all: Vec<usize> = (0..features).collect();
            let tree = TreeSpec::random(&mut random, &all, depth, true, 0);
            let ensemble = read(&document(&[tree], features, &[0.0])).unwrap();
            let nodes = ensemble.nodes_of(&ensemble.trees()[0]);
            // With groups of two features, the same player is tested several times on a path.
            for size in [1, 2] {
                let players: Vec<u32> = (0..features as u32).map(|feature| feature / size).collect();
                let paths = Paths::new(nodes, &players).unwrap();
                max_width = max_width.max(paths.max_width);
                let questions = Questions::new(&ensemble);
                let lattice = Lattice::new(nodes, 0, &paths, &questions).unwrap();
                let rows = random.row(features * 700);
                let mut counts = vec![0; lattice.counts()];
                let mut sets = Vec::new();
                for rows in rows.chunks(ROWS * features) {
                    let mut block = Block::new(features);
                    block.fill(&ensemble, rows);
                    let mut answers = vec![[0; WORDS]; questions.len()];
                    questions.answer(&ensemble, &block, &mut answers);
                    lattice.add(&answers, &block.present(), &mut sets, &mut counts);
                }
                let columns: Vec<Columns> = rows
                    .chunks(BLOCK * features)
                    .map(|rows| {
                        let mut columns = Columns::new(&ensemble);
                        columns.fill(&ensemble, rows);
                        columns
                    })
                    .collect();
                let expected = Histograms::new(&ensemble, nodes, &paths, &columns, &[1.0; 700]);
                let mut leaves = 0;
                lattice.patterns(nodes, &paths, 700, &counts, |leaf, rows| {
                    leaves += 1;
                    let seen = rows.iter().enumerate().filter(|(_, rows)| **rows > 0);
                    let got: Vec<_> = seen.map(|(pattern, &rows)| (pattern as u64, rows as f64)).collect();
                    assert_eq!(got, expected.at(leaf), "{features} features, depth {depth}, leaf {leaf}");
                });
                assert_eq!(leaves, ensemble.leaf_count());
            }
        }
        assert!(max_width >= 6);
    }

    #[test]
    fn long_paths_are_not_counted() {
        let mut random = Random(18);
        for (features, counted) in [(11, true), (12, false)] {
            let path: Vec<usize> = (0..features).collect();
            let ensemble = read(&document(&[TreeSpec::chain(&mut random, &path)], features, &[0.0])).unwrap();
            let nodes = ensemble.nodes_of(&ensemble.trees()[0]);
            let players: Vec<u32> = (0..features as u32).collect();
            let paths = Paths::new(nodes, &players).unwrap();
            assert_eq!(Lattice::new(nodes, 0, &paths, &Questions::new(&ensemble)).is_some(), counted);
        }
    }
}
