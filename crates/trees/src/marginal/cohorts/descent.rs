//! The descent of an explicand and all background rows through a tree.

use super::MAX_DEPTH;
use super::arrived_cohort::ArrivedCohort;
use super::background::{Cohorts, Part, Split, Weights};
use super::sets::{Counts, Set, Sums, Weigh, both, is_empty, less, room};
use crate::marginal::shares::LeafKernel;
use apportion_models::Ensemble;
use apportion_models::tree::{Node, Tree};

/// The row to explain.
#[derive(Clone, Copy)]
pub(crate) struct Explicand<'a> {
    /// The values of the row, rounded.
    pub(crate) row: &'a [f64],
    pub(crate) player_of: &'a [u32],
}

/// A child to visit later; its cohort is stored in `cohorts` at the same position.
#[derive(Clone, Copy, Default)]
struct Open {
    node: u32,
    /// The players without a failed test, as level bits: see [`ArrivedCohort`].
    live: u64,
    rest: u64,
}

/// The working memory of a descent, created once per thread.
pub(crate) struct Descent {
    /// The children that are still to be visited: at most one per level.
    open: Vec<Open>,
    /// The cohorts of `open`, as sets of rows.
    cohorts: Vec<u64>,
    /// For each level, the set of rows that fail a test of the player of that level.
    failing: Vec<u64>,
    /// The player of each level.
    players: Vec<u32>,
}

impl Descent {
    pub(crate) fn new() -> Self {
        Self {
            open: vec![Open::default(); MAX_DEPTH + 1],
            cohorts: Vec::new(),
            failing: Vec::new(),
            players: vec![0; MAX_DEPTH],
        }
    }

    /// Adds the contributions of one tree to an explicand.
    pub(crate) fn add<S: LeafKernel>(
        &mut self,
        ensemble: &Ensemble,
        tree: &Tree,
        cohorts: &Cohorts,
        explicand: Explicand<'_>,
        (share, weights): (&mut S, &S::Weights),
        mut phi: impl FnMut(usize, f64),
    ) {
        let mut first = 0;
        for part in &cohorts.parts {
            let task = Task { ensemble, tree, splits: cohorts.splits_of(tree), part, explicand, weights };
            match part.words {
                1 => self.add_part::<1, S>(task, cohorts, first, share, &mut phi),
                2 => self.add_part::<2, S>(task, cohorts, first, share, &mut phi),
                4 => self.add_part::<4, S>(task, cohorts, first, share, &mut phi),
                8 => self.add_part::<8, S>(task, cohorts, first, share, &mut phi),
                words => unreachable!("a set has {words} words, which is not 1, 2, 4 or 8"),
            }
            first += 64 * part.words;
        }
    }

    fn add_part<const W: usize, S: LeafKernel>(
        &mut self,
        task: Task<'_, S>,
        cohorts: &Cohorts,
        first: usize,
        share: &mut S,
        phi: &mut impl FnMut(usize, f64),
    ) {
        match &cohorts.weights {
            &Weights::Equal(weight) => descend::<W, _, _, _>(self, task, share, &Counts { weight }, phi),
            Weights::Each(weights) => {
                descend::<W, _, _, _>(self, task, share, &Sums { weights: &weights[first..] }, phi)
            }
        }
    }
}

/// A tree with the inputs of its descent.
struct Task<'a, S: LeafKernel> {
    ensemble: &'a Ensemble,
    tree: &'a Tree,
    splits: &'a [Split],
    part: &'a Part,
    explicand: Explicand<'a>,
    weights: &'a S::Weights,
}

/// Traverses the tree with sets of `W` words.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx512vpopcntdq+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
))]
fn descend<const W: usize, S: LeafKernel, T: Weigh, F: FnMut(usize, f64)>(
    memory: &mut Descent,
    task: Task<'_, S>,
    share: &mut S,
    weigh: &T,
    phi: &mut F,
) {
    let Task { ensemble, tree, splits, part, explicand, weights } = task;
    let Descent { open, cohorts, failing, players } = memory;
    let (cohorts, failing) = (room::<W, MAX_DEPTH>(cohorts), room::<W, MAX_DEPTH>(failing));
    let (answers, present) = (part.answers.as_chunks::<W>().0, part.present.as_chunks::<W>().0);
    let nodes: &[Node] = ensemble.nodes_of(tree);
    let mut waiting = 0;
    let (mut at, mut cohort): (usize, Set<W>) = (0, present[0]);
    // The levels of players outside R, and of players in R. Each player is represented by the bit of its last
    // test.
    let (mut live, mut rest) = (0u64, 0u64);
    loop {
        let node = nodes[at];
        if !node.is_leaf() {
            let Split { earlier, question, level } = splits[at];
            let (level, own) = (level as usize, 1u64 << level);
            let feature = node.feature();
            let goes_left = ensemble.goes_left(node, explicand.row[feature]);
            // All bits are set if the explicand goes right, so that `with` contains the rows that go with it.
            let turn = u64::from(goes_left).wrapping_sub(1);
            let with: Set<W> = answers[question as usize].map(|word| word ^ turn);
            let near = node.left() + usize::from(!goes_left);
            let far = node.left() + usize::from(goes_left);
            players[level] = explicand.player_of[feature];
            let apart = less(cohort, with);
            if rest & earlier != 0 {
                rest = rest & !earlier | own;
                let together = both(cohort, with);
                if is_empty(together) {
                    (at, cohort) = (far, apart);
                    continue;
                }
                if !is_empty(apart) {
                    open[waiting] = Open { node: far as u32, live, rest };
                    cohorts[waiting] = apart;
                    waiting += 1;
                }
                (at, cohort) = (near, together);
                continue;
            }
            let before = match earlier {
                0 => [0; W],
                earlier => failing[earlier.trailing_zeros() as usize],
            };
            let away = less(apart, before);
            if !is_empty(away) {
                open[waiting] = Open { node: far as u32, live: live & !earlier, rest: rest | own };
                cohorts[waiting] = away;
                waiting += 1;
            }
            failing[level] = std::array::from_fn(|word| before[word] | !with[word]);
            live = live & !earlier | own;
            at = near;
            continue;
        }
        if node.value() != 0.0 {
            let arrived = ArrivedCohort { value: node.value(), cohort, live, rest, failing, players };
            share.of_cohort(weights, arrived, weigh, phi);
        }
        let Some(last) = waiting.checked_sub(1) else { return };
        waiting = last;
        let next = open[last];
        (at, live, rest, cohort) = (next.node as usize, next.live, next.rest, cohorts[last]);
    }
}
