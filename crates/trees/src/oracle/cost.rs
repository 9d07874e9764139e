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
    let (rows_f, background_f) = (rows as f64, background as f64);
    // Where two rows part at half of the splits, a tree of L leaves has L^0.585 leaves that their mixtures reach.
    let walk = rows_f * background_f * 16.0 * leaves.powf(0.585);
    // Every background row passes every split once; even then the explicands are still to come.
    let grouping = leaves * (150.0 + 1.5 * background_f);
    if walk < grouping + rows_f * leaves {
        return Kernel::Walk;
    }
    let Some((paths, groups)) = group() else { return Kernel::Walk };
    let masks = rows_f * (2.0 * leaves + 1.5 * groups.len() as f64);
    match tables::size(nodes, paths) {
        Some(size) if rows_f * (leaves * (1.0 + 0.4 * paths.widest as f64)) + 2.0 * (size as f64) < masks => {
            Kernel::Tables { size }
        }
        _ => Kernel::Masks,
    }
}
