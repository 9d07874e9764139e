//! Which kernel a tree gets: by predicted time, from shapes and numbers of rows alone.

use super::groups::Groups;
use super::paths::Paths;
use super::tables;
use crate::ensemble::{Node, Tree};

/// A way to compute the values on a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernel {
    Walk,
    Masks,
    /// With this many numbers in the tables.
    Tables {
        size: usize,
    },
}

/// Paths and grouped background of a tree, where it has few enough features per path; computed when asked for.
type Group<'a> = dyn Fn() -> Option<&'a (Paths, Groups)> + 'a;

/// Chooses the kernel of a tree for a number of explicands and of background rows.
pub(crate) type Choose = for<'a> fn(&[Node], &Tree, usize, usize, &Group<'a>) -> Kernel;

/// The kernel with the least predicted time. Constants are nanoseconds on one core of a 2023 server, where only their ratios matter.
pub(crate) fn choose(
    nodes: &[Node],
    tree: &Tree,
    rows: usize,
    background: usize,
    group: &Group<'_>,
) -> Kernel {
    let leaves = tree.leaves as f64;
    let (explicands, background) = (rows as f64, background as f64);
    // Where two rows part at half of the splits, their mixtures reach L^0.585 of L leaves, which is nearly 1.3 √L.
    let walk = explicands * background * 20.0 * leaves.sqrt();
    let grouping = leaves * (200.0 + 1.3 * background);
    if walk < grouping + explicands * leaves {
        return Kernel::Walk;
    }
    let Some((paths, groups)) = group() else { return Kernel::Walk };
    let masks = explicands * (2.0 * leaves + 1.5 * groups.len() as f64);
    let lookups = explicands * leaves * (0.2 + 0.25 * paths.widest as f64);
    match tables::size(nodes, paths) {
        Some(size) if lookups + 6.0 * (size as f64) < masks => Kernel::Tables { size },
        _ => Kernel::Masks,
    }
}
