//! Which kernel a tree gets: by predicted time, as for values.

use super::tables;
use crate::kernel;
use crate::oracle::cost::{Kernel, LEAST_COHORT, Task, by_cohorts};

/// Up to this many pairs of rows nothing pays but walking them.
const FEW_PAIRS: usize = 10;

/// The kernel that is asked for where the tree is fit for it, or else the one with the least predicted time.
pub(crate) fn choose(task: &Task<'_>) -> Kernel {
    let asked = match task.settings.kernel {
        Some(kernel::Kernel::Walk) => Some(Kernel::Walk),
        Some(kernel::Kernel::Masks) => (task.sorted)().map(|_| Kernel::Masks),
        Some(kernel::Kernel::Tables) => (task.sorted)()
            .and_then(|(paths, _)| tables::size(task.nodes, paths))
            .map(|size| Kernel::Tables { size }),
        Some(kernel::Kernel::Cohorts) => task.cohorts.then_some(Kernel::Cohorts),
        Some(kernel::Kernel::Quadrature) | None => None,
    };
    asked.unwrap_or_else(|| cheapest(task))
}

/// Constants are nanoseconds on one core of a 2023 server; only their ratios matter.
fn cheapest(task: &Task<'_>) -> Kernel {
    let (explicands, background) = (task.explicands as f64, task.background as f64);
    let leaves = task.leaves as f64;
    let together = task.cohorts && task.background >= LEAST_COHORT;
    if !together && task.explicands.saturating_mul(task.background) <= FEW_PAIRS {
        return Kernel::Walk;
    }
    let (one_by_one, alone) = match together {
        true => (Kernel::Cohorts, 2.0 * by_cohorts(task)),
        false => (Kernel::Walk, explicands * background * (10.0 + 25.0 * (task.reached)())),
    };
    let sorting = leaves * (300.0 + 1.5 * background);
    if alone < sorting + explicands * leaves {
        return one_by_one;
    }
    let Some((paths, histograms)) = (task.sorted)() else { return one_by_one };
    let widest = paths.widest as f64;
    let masks = explicands * (4.0 * leaves + (1.5 + 0.5 * widest) * histograms.len() as f64);
    let lookups = explicands * leaves * (0.2 + 0.125 * widest * widest);
    match tables::size(task.nodes, paths) {
        Some(size) if lookups + 3.0 * (size as f64) < masks.min(alone) => Kernel::Tables { size },
        _ if alone < masks => one_by_one,
        _ => Kernel::Masks,
    }
}
