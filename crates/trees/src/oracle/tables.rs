//! Tables of the marginal game: what stands for the absent players at a leaf is the background, sorted by pattern.

use super::histograms::Histograms;
use crate::tables::paths::Paths;
use crate::tables::table::Law;

/// The background as the leaves of a tree see it.
pub(crate) struct BackgroundLaw<'a>(pub(crate) &'a Histograms);

impl Law for BackgroundLaw<'_> {
    fn at(&mut self, leaf: usize, _: &Paths) -> &[(u64, f64)] {
        self.0.at(leaf)
    }
}
