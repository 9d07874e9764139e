//! An ensemble with a background dataset.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use apportion_games::{Background, Partition, Rows, Shared};
use apportion_models::Ensemble;
use apportion_values::Value;

use super::cohorts::Cohorts;
use super::joint::walk::max_width;
use crate::background::CompiledBackground;
use crate::engine::histograms::Sorted;
use crate::engine::indices::numbered::NumberedCoalitions;
use crate::engine::last_result::LastResult;
use crate::engine::pairs::Pairs;
use crate::engine::settings::Settings;
use crate::error::TreeError;
use crate::path_dependent::AgainstBaseline;

/// Background data structures for one set of players, built lazily by the kernels.
#[derive(Debug, Default)]
pub(super) struct BackgroundStructures {
    pub(super) sorted: OnceLock<Sorted>,
    pub(super) cohorts: OnceLock<Cohorts>,
    /// The pairs of players that occur together on some path; they depend on the ensemble only.
    pub(super) pairs: OnceLock<Arc<Pairs>>,
}

/// Exact values of an ensemble in the marginal game, for every semivalue, of features alone and in groups.
///
/// ```text
/// v(S) = Σ_b w_b f(x_S, b_{N∖S})
/// ```
///
/// Here f is the margin. The features in S come from the explicand x (the row to explain), and all other
/// features from a background row b; the margins are averaged with the weights w_b. The values of this game
/// are sums over the leaves of the trees, computed by the kernel with the smallest predicted time. With many
/// rows to explain, a row takes one lookup per leaf and path feature, for any size of the background. With a
/// single row and a single baseline, the cost is the number of leaves that a mixture of the two can reach.
/// This is the method of Lundberg et al., *From local explanations to global understanding with explainable
/// AI for trees*, 2020, extended to background sets and semivalues.
///
/// # Costs
///
/// Values of features in groups and values of groups take about as long as values of features, because a leaf
/// contributes only if at most one group on its path has features taken from both rows. For hierarchies of
/// more levels, many rows take about as long as for groups, and a single row with many background rows twice
/// as long. Background data structures for groups are not kept between calls. A two-step value takes the time
/// of both of its parts. Interactions take two to four times as long as values, and memory for rows ×
/// features² × outputs numbers. Pairs that do not occur together on any path do not interact, and do not take
/// time. Tables of pairs are not kept between calls.
///
/// A plan includes the time to sort the background, if that pays off for these rows. The sorted background is
/// kept.
///
/// ```
/// use apportion_games::Rows;
/// use apportion_trees::{Ensemble, Exact, MarginalTreeExplainer};
/// use apportion_values::Semivalue;
///
/// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?;
/// let background = Rows::new(&[0.0, 0.0, 2.0, 0.0], 2);
/// let tree_explainer = MarginalTreeExplainer::new(&model, background, None)?;
/// let attributions = tree_explainer.values(Semivalue::Shapley, Rows::new(&[2.0, 3.0], 2))?;
/// let total: f64 = attributions.values.iter().sum();
/// assert!((total + attributions.base[0] - attributions.predictions[0]).abs() < 1e-12);
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
pub struct MarginalTreeExplainer<'a> {
    pub(super) ensemble: Shared<'a, Ensemble>,
    /// The background rows, rounded and row-major, without rows of weight 0.
    pub(super) background: Vec<f64>,
    /// The weights of these rows, which are positive and sum to 1.
    pub(super) weights: Vec<f64>,
    pub(super) base: Vec<f64>,
    /// The map from features to players if each feature is a player: 0, 1, ….
    pub(super) features: Vec<u32>,
    pub(super) structures: BackgroundStructures,
    pub(super) settings: Settings,
    /// Cache of the tables for the most recent [`Value`] and choice of trees that use tables, in the
    /// precision of the settings.
    pub(super) kept: LastResult<(Value, Vec<bool>), dyn Any + Send + Sync>,
    /// The numbered coalitions for the order and groups of the most recent interaction indices.
    pub(super) numbered: LastResult<(usize, Option<Partition>), NumberedCoalitions>,
    /// The quadrature for a background of one row, created on first use.
    pub(super) baseline: OnceLock<AgainstBaseline>,
    /// For each tree with linear leaves, the mean of its value over the background.
    pub(super) means: OnceLock<Vec<f64>>,
    /// Whether the background is compiled: then `sorted` is set, and the background rows are not available.
    pub(super) compiled: bool,
}

impl<'a> MarginalTreeExplainer<'a> {
    /// Creates the tree explainer of `ensemble` with the rows of `background`: one baseline or many rows,
    /// weighted equally unless `weights` has one weight per row. Weights need not sum to 1. Missing values
    /// are NaN.
    ///
    /// Takes one prediction per background row. Data structures for the kernels are built on first use, and
    /// kept.
    ///
    /// # Errors
    ///
    /// [`GameError::EmptyBackground`](apportion_games::GameError::EmptyBackground) if there are no background
    /// rows, [`GameError::Width`](apportion_games::GameError::Width) if the number of columns differs from
    /// the number of features, [`GameError::InfiniteInput`](apportion_games::GameError::InfiniteInput) for a
    /// background row with an infinite value with which a linear model has to compute,
    /// [`GameError::MissingInput`](apportion_games::GameError::MissingInput) for a background row that lacks
    /// a value that the model [requires](Ensemble::refuses_missing),
    /// [`GameError::BackgroundWeights`](apportion_games::GameError::BackgroundWeights) for weights that are
    /// not one per row, finite, nonnegative and not all zero.
    pub fn new(
        ensemble: impl Into<Shared<'a, Ensemble>>,
        background: Rows<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Self, TreeError> {
        let ensemble = ensemble.into();
        let mut background = Background::rows(background.values(), background.columns())?;
        ensemble.check_rows(background.as_rows(), "background row")?;
        if let Some(weights) = weights {
            background = background.with_weights(weights)?;
        }
        let (rows, weights) = (background.as_rows(), background.weights());
        let outputs = ensemble.output_count();
        let mut base = vec![0.0; outputs];
        for (margins, weight) in ensemble.margins(rows)?.chunks_exact(outputs).zip(weights) {
            for (base, margin) in base.iter_mut().zip(margins) {
                *base += weight * margin;
            }
        }
        let counted = || rows.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        let width = ensemble.width();
        let rounded = counted().flat_map(|(row, _)| row).map(|&value| width.round(value)).collect();
        let weights = counted().map(|(_, &weight)| weight).collect();
        Ok(Self {
            background: rounded,
            weights,
            ..Self::without_rows(ensemble, base, BackgroundStructures::default())
        })
    }

    /// Creates the tree explainer of `ensemble` with a background that was compiled for it, without its rows.
    ///
    /// All values equal the values with the original rows, up to rounding. They are computed with tables and
    /// masks. If the walk, which requires the rows, is requested, methods return [`TreeError::Unsupported`].
    ///
    /// # Errors
    ///
    /// [`TreeError::OtherModel`] for a background that was compiled for another ensemble.
    pub fn from_compiled(
        ensemble: impl Into<Shared<'a, Ensemble>>,
        background: CompiledBackground,
    ) -> Result<Self, TreeError> {
        let ensemble = ensemble.into();
        let parts = background.into_parts(&ensemble)?;
        let sorted = OnceLock::from(parts.sorted.into_iter().map(Some).collect::<Sorted>());
        let structures = BackgroundStructures { sorted, ..BackgroundStructures::default() };
        Ok(Self { compiled: true, ..Self::without_rows(ensemble, parts.base, structures) })
    }

    fn without_rows(
        ensemble: Shared<'a, Ensemble>,
        base: Vec<f64>,
        structures: BackgroundStructures,
    ) -> Self {
        Self {
            background: Vec::new(),
            weights: Vec::new(),
            base,
            features: (0..ensemble.feature_count() as u32).collect(),
            ensemble,
            structures,
            settings: Settings::default(),
            kept: LastResult::default(),
            numbered: LastResult::default(),
            baseline: OnceLock::new(),
            means: OnceLock::new(),
            compiled: false,
        }
    }

    /// Sets the kernel, the precision and the other settings.
    /// [`Kernel::Quadrature`](crate::Kernel::Quadrature), a kernel of the path-dependent game, also supports
    /// semivalues of features with one background row, because this game is path-dependent, too. For any
    /// other request with this kernel, the error is [`TreeError::Unsupported`].
    pub fn with_settings(self, settings: Settings) -> Self {
        Self { settings, kept: LastResult::default(), ..self }
    }

    /// Returns an upper bound on the number of features that a path and the linear model of its leaf use
    /// together.
    pub(super) fn max_width(&self) -> usize {
        let joint = self.ensemble.joint().map_or(0, max_width);
        (self.ensemble.depth() + self.ensemble.max_terms()).max(joint).min(self.features.len())
    }
}

impl std::fmt::Debug for MarginalTreeExplainer<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = self.weights.len();
        formatter
            .debug_struct("MarginalTreeExplainer")
            .field("background_rows", &rows)
            .finish_non_exhaustive()
    }
}
