//! Partitions of features from data: measures of dependence, hierarchical clustering, dendrograms.
//!
//! Features that depend on one another are best explained as a group. This crate clusters features by their
//! dependence, and cuts the hierarchy into the groups of a coalition structure.
//!
//! ```
//! use apportion_partitions::{FeatureClustering, Rows};
//!
//! // Columns 0 and 2 rise together; column 1 is independent of both.
//! let values: Vec<f64> = (0..100).flat_map(|row| [row, row * 37 % 101, row * row].map(f64::from)).collect();
//! let clustered = FeatureClustering::default().fit(Rows::new(&values, 3))?;
//! assert_eq!(clustered.partition.groups(), [vec![0, 2], vec![1]]);
//!
//! let dendrogram = clustered.dendrogram.with_names(["side", "noise", "area"])?;
//! assert_eq!(dendrogram.merges()[0].children, [0, 2]);
//! assert_eq!(dendrogram.cut_into(1)?.len(), 1);
//! # #[cfg(feature = "figure")]
//! assert!(dendrogram.to_svg(Some(clustered.cut))?.contains("noise"));
//! # Ok::<(), apportion_partitions::PartitionsError>(())
//! ```
//!
//! # Overview
//!
//! | | |
//! |---|---|
//! | [`FeatureClustering`], [`ClusteredFeatures`] | groups from data in one step, with a cut at a height, into a number of groups, or by significance |
//! | [`Dependence`], [`MIN_ROWS`] | measures: Spearman's correlation, mutual information (binned, nearest neighbours), the maximal information coefficient |
//! | [`DependenceMatrix`] | the dependence of all pairs, and its critical value under independence |
//! | [`Linkage`] | the distance between groups: average, single, complete |
//! | [`Dendrogram`], [`Merge`], [`Cut`] | the hierarchy as data, as groups and as a figure |
//! | [`PartitionsError`] | errors |
//!
//! # Shapes
//!
//! `N` rows of `n` features, row-major, with NaN for missing values. Dependences and heights (`1 −
//! dependence`) are in [0, 1]. Groups are [`Partition`]s of the features.

mod clustering;
mod dendrogram;
mod dependence;
mod error;
mod linkage;
mod matrix;

/// Types of other crates that occur in signatures of this crate, re-exported so that its users do not need to
/// depend on those crates.
#[doc(no_inline)]
pub use apportion_games::{Partition, Rows};
/// Figures of dendrograms.
#[cfg(feature = "figure")]
#[doc(no_inline)]
pub use apportion_plots::Scene;

pub use clustering::{ClusteredFeatures, FeatureClustering};
pub use dendrogram::{Cut, Dendrogram, Merge};
pub use dependence::{Dependence, MIN_ROWS};
pub use error::PartitionsError;
pub use linkage::Linkage;
pub use matrix::DependenceMatrix;

/// Runs the example of the README as a doctest.
#[cfg(all(doctest, feature = "figure"))]
#[doc = include_str!("../README.md")]
struct Readme;
