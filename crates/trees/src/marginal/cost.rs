//! Chooses the kernel of each tree by predicted time. The prediction depends on the trees and the rows only,
//! never on a measurement, so that results are reproducible.

use super::cohorts;
use crate::engine::bits::MAX_BITS;
use crate::engine::histograms::Histograms;
use crate::engine::paths::{MAX_FEATURES, Paths};
use crate::engine::settings::{Kernel, Settings};
use crate::engine::tables::shape::{self, Layout};
use crate::error::TreeError;
use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// An algorithm for the values on a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Walk,
    Cohorts,
    Masks,
    /// The algorithm for a tree that depends on this player alone.
    Lone {
        player: u32,
    },
    /// Tables with this number of values before any regions are merged.
    Tables {
        size: usize,
    },
}

impl Algorithm {
    /// Returns the kernel that this algorithm implements.
    pub(crate) fn kernel(self) -> Kernel {
        match self {
            Self::Walk | Self::Lone { .. } => Kernel::Walk,
            Self::Cohorts => Kernel::Cohorts,
            Self::Masks => Kernel::Masks,
            Self::Tables { .. } => Kernel::Tables,
        }
    }
}

/// The inputs for the choice of a tree's kernel.
pub(crate) struct Task<'a> {
    pub(crate) settings: Settings,
    /// Whether the tree has linear leaves, which only the walk supports.
    pub(crate) linear: bool,
    /// The player on which the tree depends, if this is a single player and a leaf is linear.
    pub(crate) lone: Option<u32>,
    pub(crate) nodes: &'a [Node],
    pub(crate) leaves: usize,
    /// The number of explicands, and the number of background rows.
    pub(crate) explicands: usize,
    pub(crate) background: usize,
    /// Whether the background was sorted in advance.
    pub(crate) compiled: bool,
    /// Whether the kernel `cohorts` supports the tree and the background.
    pub(crate) cohorts: bool,
    /// The layout of the tables.
    pub(crate) layout: Layout,
    /// Whether features are in groups, which makes each step slower.
    pub(crate) grouped: bool,
    /// Returns the number of leaves that mixtures of an explicand and a background row reach, averaged over a
    /// sample.
    pub(crate) reached: &'a dyn Fn() -> f64,
    /// Returns the paths and the sorted background if no path has too many features; computed on first use.
    pub(crate) sorted: &'a dyn Fn() -> Option<&'a (Paths, Histograms)>,
}

impl Task<'_> {
    /// Returns the algorithm that `choose` selects, or the only possible one for a tree with linear leaves.
    pub(crate) fn choose_algorithm(&self, choose: ChooseAlgorithm) -> Algorithm {
        match self.lone {
            Some(player) if self.settings.kernel.is_none() => Algorithm::Lone { player },
            _ if self.linear => Algorithm::Walk,
            _ => choose(self),
        }
    }
}

/// Chooses the algorithm of a tree.
pub(crate) type ChooseAlgorithm = fn(&Task<'_>) -> Algorithm;

/// Maximum number of pairs of rows for which the walk is always the fastest.
const FEW_PAIRS: usize = 10;

/// The time for one row and a tree that depends on one player, in nanoseconds.
const LONE: f64 = 10.0;

/// The minimum number of background rows for which cohorts replace the walk.
const MIN_COHORT_ROWS: usize = 4;

/// Returns the requested kernel if the tree supports it, otherwise the kernel with the smallest predicted
/// time.
pub(crate) fn choose(task: &Task<'_>) -> Algorithm {
    let asked = match task.settings.kernel {
        Some(Kernel::Walk) => Some(Algorithm::Walk),
        Some(Kernel::Cohorts) => task.cohorts.then_some(Algorithm::Cohorts),
        Some(Kernel::Masks) => (task.sorted)().map(|_| Algorithm::Masks),
        Some(Kernel::Tables) => (task.sorted)()
            .and_then(|(paths, _)| shape::size(task.nodes, paths, task.layout))
            .map(|(size, _)| Algorithm::Tables { size }),
        Some(Kernel::Quadrature) | None => None,
    };
    asked.unwrap_or_else(|| match task.layout {
        Layout::Pairs => cheapest_for_pairs(task),
        _ => cheapest(task),
    })
}

/// Returns an error if any tree's algorithm differs from the requested kernel. `compiled` states whether only
/// a compiled background is available.
pub(crate) fn check(
    ensemble: &Ensemble,
    settings: Settings,
    ways: &[Algorithm],
    compiled: bool,
) -> Result<(), TreeError> {
    let Some(kernel) = settings.kernel else { return Ok(()) };
    if kernel == Kernel::Quadrature {
        return Err(TreeError::Unsupported {
            what: format!(
                "kernel {kernel} in the marginal game (except for semivalues of features with one background \
                 row and paths of up to 64 features)"
            ),
            help: "use tables, walk, cohorts or masks",
        });
    }
    let Some(tree) = ways.iter().position(|way| way.kernel() != kernel) else { return Ok(()) };
    let linear = ensemble.trees()[tree].linear;
    let problem = match kernel {
        _ if linear => "the tree has linear leaves".to_owned(),
        Kernel::Cohorts if compiled => "only a compiled background is available".to_owned(),
        Kernel::Cohorts if ensemble.trees()[tree].depth > cohorts::MAX_DEPTH => {
            format!("the tree has more than {} levels", cohorts::MAX_DEPTH)
        }
        Kernel::Cohorts => "there are too many background rows".to_owned(),
        Kernel::Tables => format!("a path has more than {} features", MAX_BITS - 1),
        _ => format!("a path has more than {MAX_FEATURES} features"),
    };
    let help = match kernel {
        _ if compiled => "leave the kernel unset, or use the background rows",
        Kernel::Tables if !linear => "use masks, or walk for any length",
        _ => "use walk",
    };
    Err(TreeError::Kernel { kernel, tree, problem, help })
}

fn cheapest(task: &Task<'_>) -> Algorithm {
    let keep = task.settings.keep_tables;
    let together = task.cohorts && task.background >= MIN_COHORT_ROWS && !keep;
    let one_by_one = if together { Algorithm::Cohorts } else { Algorithm::Walk };
    if !keep {
        let few = !together && task.explicands.saturating_mul(task.background) <= FEW_PAIRS;
        if few || predict(task, one_by_one) < sorting(task) + tables_at_least(task) {
            return one_by_one;
        }
    }
    let Some((paths, histograms)) = (task.sorted)() else { return one_by_one };
    let masks = masks(task, histograms);
    let (kernel, least) = match tables(task, paths, histograms) {
        Some(Times { size, filling, lookups }) if keep || filling + lookups < masks => {
            (Algorithm::Tables { size }, filling + lookups)
        }
        _ => (Algorithm::Masks, masks),
    };
    if together && by_cohorts(task) < least { Algorithm::Cohorts } else { kernel }
}

fn cheapest_for_pairs(task: &Task<'_>) -> Algorithm {
    let (explicands, background) = (task.explicands as f64, task.background as f64);
    let leaves = task.leaves as f64;
    let together = task.cohorts && task.background >= MIN_COHORT_ROWS;
    if !together && task.explicands.saturating_mul(task.background) <= FEW_PAIRS {
        return Algorithm::Walk;
    }
    let (one_by_one, alone) = match together {
        true => (Algorithm::Cohorts, 2.0 * by_cohorts(task)),
        false => (Algorithm::Walk, explicands * background * (10.0 + 25.0 * (task.reached)())),
    };
    let sorting = leaves * (300.0 + 1.5 * background);
    if alone < sorting + explicands * leaves {
        return one_by_one;
    }
    let Some((paths, histograms)) = (task.sorted)() else { return one_by_one };
    let max_width = paths.max_width as f64;
    let masks = explicands * (4.0 * leaves + (1.5 + 0.5 * max_width) * histograms.len() as f64);
    let lookups = explicands * leaves * (0.2 + 0.125 * max_width * max_width);
    match shape::size(task.nodes, paths, task.layout) {
        Some((size, _)) if lookups + 3.0 * (size as f64) < masks.min(alone) => Algorithm::Tables { size },
        _ if alone < masks => one_by_one,
        _ => Algorithm::Masks,
    }
}

/// Returns the predicted time of an algorithm for all rows, in nanoseconds.
pub(crate) fn predict(task: &Task<'_>, way: Algorithm) -> f64 {
    let sorted = || (task.sorted)();
    match way {
        Algorithm::Walk => walk(task),
        Algorithm::Lone { .. } => LONE * (task.explicands + task.background) as f64,
        Algorithm::Cohorts => by_cohorts(task),
        Algorithm::Masks => sorting(task) + sorted().map_or(0.0, |(_, histograms)| masks(task, histograms)),
        Algorithm::Tables { .. } => {
            let times = sorted().and_then(|(paths, histograms)| tables(task, paths, histograms));
            sorting(task) + times.map_or(0.0, |times| times.filling + times.lookups)
        }
    }
}

// Constants are in nanoseconds on one core of a 2023 server. Only their ratios affect the choice.

fn walk(task: &Task<'_>) -> f64 {
    let per_leaf_reached = if task.grouped { 20.0 } else { 15.0 };
    (task.explicands * task.background) as f64 * (10.0 + per_leaf_reached * (task.reached)())
}

fn by_cohorts(task: &Task<'_>) -> f64 {
    let words = task.background.div_ceil(64) as f64;
    let parts = (words / 8.0).ceil();
    // A small cohort does not reach every leaf.
    let visited = (task.background as f64 / 64.0).sqrt().min(1.0);
    let (per_leaf, per_word) = if task.grouped { (60.0, 6.0) } else { (15.0, 3.2) };
    task.explicands as f64 * task.leaves as f64 * visited * (per_leaf * parts + per_word * words)
}

fn sorting(task: &Task<'_>) -> f64 {
    if task.compiled {
        return 0.0;
    }
    task.leaves as f64 * (300.0 + 1.5 * task.background as f64)
}

fn masks(task: &Task<'_>, histograms: &Histograms) -> f64 {
    let (per_leaf, per_pattern) = if task.grouped { (8.0, 2.5) } else { (2.0, 1.5) };
    task.explicands as f64 * (per_leaf * task.leaves as f64 + per_pattern * histograms.len() as f64)
}

/// Returns a lower bound on the time of tables, which is known before the background is sorted.
fn tables_at_least(task: &Task<'_>) -> f64 {
    task.leaves as f64 * (100.0 + 0.5 * task.explicands as f64)
}

/// The times of tables with `size` values.
struct Times {
    size: usize,
    filling: f64,
    lookups: f64,
}

fn tables(task: &Task<'_>, paths: &Paths, histograms: &Histograms) -> Option<Times> {
    let (size, loads) = shape::size(task.nodes, paths, task.layout)?;
    let filling = match task.grouped {
        false => 2.0 * size as f64 + 100.0 * task.leaves as f64,
        true => 2.5 * size as f64 + 10.0 * histograms.extensions(),
    };
    let lookups = task.explicands as f64 * (0.1 * task.leaves as f64 + 0.6 * loads as f64);
    Some(Times { size, filling, lookups })
}

/// Counts the leaves of a tree that mixtures of two rounded rows reach. The count is exact for up to 64
/// players. With more, players that share a bit are treated as one.
pub(crate) fn leaves_reached(
    ensemble: &Ensemble,
    nodes: &[Node],
    players: &[u32],
    a: &[f64],
    b: &[f64],
) -> usize {
    // A stack of nodes to visit, each with the players that are taken from either row on its path, as bits.
    let (mut leaves, mut open) = (0, vec![(0, 0u64, 0u64)]);
    while let Some((at, from_a, from_b)) = open.pop() {
        let node = nodes[at];
        if node.is_leaf() {
            leaves += 1;
            continue;
        }
        let bit = 1 << (players[node.feature()] % 64);
        let child = |left: bool| if left { node.left() } else { node.right() };
        let a_left = ensemble.goes_left(node, a[node.feature()]);
        let b_left = ensemble.goes_left(node, b[node.feature()]);
        if a_left == b_left {
            open.push((child(a_left), from_a, from_b));
            continue;
        }
        if from_b & bit == 0 {
            open.push((child(a_left), from_a | bit, from_b));
        }
        if from_a & bit == 0 {
            open.push((child(b_left), from_a, from_b | bit));
        }
    }
    leaves
}
