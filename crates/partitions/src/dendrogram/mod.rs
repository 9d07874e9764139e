//! Dendrograms: hierarchies of features as data and as a figure.

mod agglomeration;
#[cfg(feature = "figure")]
mod figure;
mod stored;

use apportion_games::{Hierarchy, Partition};
use serde::{Deserialize, Serialize};

use crate::error::PartitionsError;
use crate::linkage::Linkage;

/// A hierarchy of n features: n − 1 merges of two clusters each, by ascending height 1 − dependence.
///
/// Clusters 0 to n − 1 are the features; merge t creates cluster n + t. The JSON representation contains the
/// names of the leaves, the linkage and the merges.
///
/// ```
/// use apportion_partitions::{Dendrogram, DependenceMatrix, Linkage};
///
/// // The dependences of features (0,1), (0,2), (1,2).
/// let dependence = DependenceMatrix::from_values(3, vec![0.25, 0.5, 0.75])?;
/// let dendrogram = Dendrogram::new(&dependence, Linkage::Average).with_names(["a", "b", "c"])?;
/// assert_eq!((dendrogram.merges()[0].children, dendrogram.merges()[0].height), ([1, 2], 0.25));
/// assert_eq!(dendrogram.merges()[1].height, 1.0 - (0.25 + 0.5) / 2.0);
/// assert_eq!(dendrogram.cut_at(0.5)?.groups(), [vec![0], vec![1, 2]]);
/// assert_eq!(dendrogram.cut_at(0.5)?, dendrogram.cut_into(2)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "stored::Stored")]
pub struct Dendrogram {
    leaves: Vec<String>,
    linkage: Linkage,
    merges: Vec<Merge>,
}

/// A merge of two clusters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Merge {
    /// The two clusters, in ascending order.
    pub children: [usize; 2],
    /// The distance between the two clusters: 1 − dependence by the linkage, from 0 to 1.
    pub height: f64,
    /// Number of features of the new cluster.
    pub size: usize,
}

/// The position at which a dendrogram is cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cut {
    /// At a height: the groups are the clusters merged at or below it.
    Height(f64),
    /// Into this number of groups.
    Groups(usize),
}

impl Dendrogram {
    /// Returns the number of features n.
    pub fn features(&self) -> usize {
        self.leaves.len()
    }

    /// Returns the names of the features, in their order; `0` to `n − 1` if they were not set.
    pub fn names(&self) -> &[String] {
        &self.leaves
    }

    /// Returns the linkage of the clustering.
    pub fn linkage(&self) -> Linkage {
        self.linkage
    }

    /// Returns the n − 1 merges, by ascending height.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// Sets the names of the features.
    ///
    /// # Errors
    ///
    /// [`PartitionsError::Names`] unless there is one name per feature.
    pub fn with_names(
        self,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, PartitionsError> {
        let leaves: Vec<String> = names.into_iter().map(Into::into).collect();
        if leaves.len() != self.features() {
            return Err(PartitionsError::Names { actual: leaves.len(), features: self.features() });
        }
        Ok(Self { leaves, ..self })
    }

    /// Returns the groups of features that are merged at or below `height`, i.e. whose dependence (by the
    /// linkage) is at least 1 − `height`.
    ///
    /// Groups are ordered by their first features, and the features of a group are in ascending order. All
    /// heights are valid: below 0, each feature is a group; from 1 on, all features are one group.
    ///
    /// # Errors
    ///
    /// [`PartitionsError::Height`] if `height` is NaN.
    pub fn cut_at(&self, height: f64) -> Result<Partition, PartitionsError> {
        self.cut(Cut::Height(height))
    }

    /// Returns `groups` groups, after the first n − `groups` merges, in the same order as
    /// [`cut_at`](Self::cut_at).
    ///
    /// # Errors
    ///
    /// [`PartitionsError::Groups`] unless 1 ≤ `groups` ≤ n.
    pub fn cut_into(&self, groups: usize) -> Result<Partition, PartitionsError> {
        self.cut(Cut::Groups(groups))
    }

    /// Returns the groups at a height, like [`cut_at`](Self::cut_at), or a number of groups, like
    /// [`cut_into`](Self::cut_into).
    ///
    /// # Errors
    ///
    /// The errors of these methods.
    pub fn cut(&self, cut: Cut) -> Result<Partition, PartitionsError> {
        Ok(self.partition_after(self.merges_below(cut)?))
    }

    /// Returns the whole dendrogram as a hierarchy of nested groups, for values over a hierarchy. Each group
    /// has two members.
    ///
    /// ```
    /// use apportion_partitions::{Dendrogram, DependenceMatrix, Linkage};
    ///
    /// let dependence = DependenceMatrix::from_values(3, vec![0.25, 0.5, 0.75])?;
    /// let hierarchy = Dendrogram::new(&dependence, Linkage::Average).hierarchy();
    /// assert_eq!((hierarchy.children(3), hierarchy.children(4)), (&[0, 4][..], &[1, 2][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hierarchy(&self) -> Hierarchy {
        let features = self.features();
        let mut parents = vec![None; features + self.merges.len()];
        for (at, merge) in self.merges.iter().enumerate() {
            merge.children.iter().for_each(|&child| parents[child] = Some(features + at));
        }
        if features == 1 {
            // There are no merges, but a hierarchy needs a root.
            parents = vec![Some(1), None];
        }
        match Hierarchy::from_parents(features, &parents) {
            Ok(hierarchy) => hierarchy,
            Err(error) => unreachable!("every cluster but the last merges once: {error}"),
        }
    }

    /// Returns the number of merges at or below the cut.
    fn merges_below(&self, cut: Cut) -> Result<usize, PartitionsError> {
        let features = self.features();
        match cut {
            Cut::Height(height) if height.is_nan() => Err(PartitionsError::Height),
            Cut::Height(height) => Ok(self.merges.partition_point(|merge| merge.height <= height)),
            Cut::Groups(groups) if (1..=features).contains(&groups) => Ok(features - groups),
            Cut::Groups(given) => Err(PartitionsError::Groups { actual: given, features }),
        }
    }

    /// Returns the groups after the first `done` merges.
    fn partition_after(&self, done: usize) -> Partition {
        let features = self.features();
        // From the last merge down, assign to every cluster its outermost cluster.
        let mut outermost: Vec<usize> = (0..features + done).collect();
        for (at, merge) in self.merges[..done].iter().enumerate().rev() {
            for child in merge.children {
                outermost[child] = outermost[features + at];
            }
        }
        let mut group_of_cluster = vec![None; features + done];
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (feature, &cluster) in outermost[..features].iter().enumerate() {
            let group = *group_of_cluster[cluster].get_or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(feature);
        }
        match Partition::new(features, groups) {
            Ok(partition) => partition,
            Err(error) => unreachable!("every feature has one outermost cluster: {error}"),
        }
    }
}
