//! An ensemble with a link and a background, and the methods of its tree explainer.

use apportion_games::{Partition, Rows, Shared};
use apportion_models::{Ensemble, Link};
use apportion_values::{Attributions, InteractionIndex, Interactions, Semivalue, Value};

use super::game::LinkedGame;
use super::mixtures::{self, Mixtures};
use crate::engine::interactions::Diagonal;
use crate::engine::settings::{Plan, Settings};
use crate::engine::two_step::{members_alone, two_step};
use crate::engine::value;
use crate::error::TreeError;
use crate::exact::Exact;
use crate::marginal::tree_explainer::MarginalTreeExplainer;

/// The predicted time of a step, in seconds.
const STEP: f64 = 17e-9;

/// Exact values of an ensemble's outputs (probabilities, rates, scores) in the marginal game.
///
/// ```text
/// v(S) = Σ_b w_b g(f(x_S, b_{N∖S}))
/// ```
///
/// Here f is the margin and g the [link](apportion_models::Ensemble::link). The features in S come from the
/// explicand x (the row to explain), and all other features from a background row b; the outputs are averaged
/// with the weights w_b. Values, base and predictions of the [`Attributions`] are in units of the output.
///
/// The game is enumerated. With m features on which x and b diverge at some split, there are 2^m mixtures of
/// the two, each of which costs one *step* for each output. Rows that diverge on 20 features take a million
/// steps. A step takes 15 to 20 ns on one core. For a model of 100 trees of depth 4 on 12 features (adult
/// census, logistic), a background row takes 26 µs
/// (`cargo run --release -p apportion-trees --example linked`). The total cost is predicted first; if it
/// exceeds a [limit](Self::with_max_steps), the request is rejected with [`TreeError::TooManySteps`].
///
/// For features in groups, each group requires the mixtures of its own members and the other groups as a
/// whole, at most 2^(groups − 1 + members). Values of groups require at most 2^groups mixtures, and a
/// two-step value requires the mixtures of each group's members and the mixtures of the groups. Outputs that
/// are too large for `f64` are rejected with [`TreeError::OutputOverflow`].
///
/// The values are not rescaled from margins. `shap.TreeExplainer(…, model_output="probability")` rescales: it
/// multiplies the values of the margin with each background row by the ratio of the differences in output and
/// in margin. The result has the same sum, and equals the exact values if only one feature matters, but in
/// general it is not a value of this game. On five rows of that model with 20 background rows, it deviates by
/// up to 0.094 (the largest value is 0.593), and small values change their sign.
///
/// If the link is the identity, outputs are margins, and [`MarginalTreeExplainer`] computes them without any
/// limit.
///
/// The path-dependent game is not supported, because it is defined for margins only.
///
/// ```
/// use apportion_games::Rows;
/// use apportion_trees::{Ensemble, Exact, LinkedTreeExplainer};
/// use apportion_values::Semivalue;
///
/// let model = Ensemble::from_bytes(include_bytes!("../../tests/fixtures/logistic.json"))?;
/// let tree_explainer = LinkedTreeExplainer::new(&model, Rows::new(&[0.0, 0.0], 2), None)?;
/// let explained = tree_explainer.values(Semivalue::Shapley, Rows::new(&[1.0, 9.0], 2))?;
/// // Probabilities, and the contribution of each feature.
/// let total: f64 = explained.values.iter().sum();
/// assert!((explained.base[0] + total - explained.predictions[0]).abs() < 1e-15);
/// assert!(explained.predictions[0] < 1.0);
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
pub struct LinkedTreeExplainer<'a> {
    way: Algorithm<'a>,
}

enum Algorithm<'a> {
    /// The link is the identity, so outputs are margins.
    Margins(Box<MarginalTreeExplainer<'a>>),
    Outputs(Box<Mixtures<'a>>),
}

impl std::fmt::Debug for LinkedTreeExplainer<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LinkedTreeExplainer").field("link", &self.link()).finish_non_exhaustive()
    }
}

impl<'a> LinkedTreeExplainer<'a> {
    /// The default maximum number of steps: about ten minutes on one core. See
    /// [`with_max_steps`](Self::with_max_steps).
    pub const MAX_STEPS: u64 = 40_000_000_000;

    /// Creates the tree explainer of `ensemble` with the rows of `background`: one baseline or many rows,
    /// weighted equally unless `weights` has one weight per row. Weights need not sum to 1. Missing values
    /// are NaN.
    ///
    /// Takes one prediction per background row.
    ///
    /// # Errors
    ///
    /// [`ModelError::UnknownLink`](crate::ModelError::UnknownLink) if the link is not known;
    /// [`TreeError::Unsupported`] for linear leaves, for splits on several features at once, and for leaves
    /// so large that the rounding of their sums would affect the output of the link;
    /// [`TreeError::OutputOverflow`] if outputs are too large for `f64`; and the errors of
    /// [`MarginalTreeExplainer::new`].
    pub fn new(
        ensemble: impl Into<Shared<'a, Ensemble>>,
        background: Rows<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Self, TreeError> {
        let ensemble = ensemble.into();
        let link = ensemble.linked()?.link();
        let way = match link {
            Link::Identity => {
                Algorithm::Margins(Box::new(MarginalTreeExplainer::new(ensemble, background, weights)?))
            }
            link => Algorithm::Outputs(Box::new(Mixtures::new(
                ensemble,
                link,
                background,
                weights,
                Self::MAX_STEPS,
            )?)),
        };
        Ok(Self { way })
    }

    /// Returns an error for an ensemble whose outputs this tree explainer does not support, regardless of the
    /// background. These are ensembles with linear leaves, such as linear models, or with splits on several
    /// features at once, unless outputs are margins. For such models, estimate the values of
    /// [`Ensemble::linked`](apportion_models::Ensemble::linked).
    ///
    /// # Errors
    ///
    /// [`ModelError::UnknownLink`](crate::ModelError::UnknownLink) if the link is not known, and
    /// [`TreeError::Unsupported`] for the ensembles above.
    pub fn check(ensemble: &Ensemble) -> Result<(), TreeError> {
        match ensemble.linked()?.link() {
            Link::Identity => Ok(()),
            link => mixtures::check(ensemble, link),
        }
    }

    /// Sets the maximum number of steps of one call. A step is one output of one mixture, or one leaf that
    /// mixtures reach, and takes 15 to 20 ns on one core.
    pub fn with_max_steps(mut self, max_steps: u64) -> Self {
        if let Algorithm::Outputs(mixtures) = &mut self.way {
            mixtures.max_steps = max_steps;
        }
        self
    }

    /// Sets how values are computed if outputs are margins. For other links there is only one algorithm.
    pub fn with_settings(self, settings: Settings) -> Self {
        match self.way {
            Algorithm::Margins(tree_explainer) => {
                Self { way: Algorithm::Margins(Box::new(tree_explainer.with_settings(settings))) }
            }
            Algorithm::Outputs(_) => self,
        }
    }

    /// Returns the link, which maps margins to outputs.
    pub fn link(&self) -> Link {
        match &self.way {
            Algorithm::Margins(_) => Link::Identity,
            Algorithm::Outputs(mixtures) => mixtures.link,
        }
    }
}

/// Returns the games from which a value is computed, and the number of values per row and output. For a
/// two-step value, these are the games of the members of each group alone, followed by the game of the
/// groups.
fn games(value: &Value, features: usize) -> Result<(Vec<LinkedGame>, usize), TreeError> {
    value::check(value, features)?;
    if let Some(flat) = value::flat(value) {
        return games(&flat, features);
    }
    if let (Value::OverHierarchy(..), Some(reduced)) = (value, value::reduced(value)) {
        return games(&reduced.clone().into(), features);
    }
    Ok(match value {
        Value::Semivalue(value) => {
            (vec![LinkedGame::alike(value.clone(), (0..features as u32).collect(), features)], features)
        }
        Value::Coalitional(value, groups) if groups.largest() == 1 => {
            return games(&value.between.clone().into(), features);
        }
        Value::Coalitional(value, groups) => (LinkedGame::coalitional(value, groups), features),
        Value::Quotient(value, groups) => (vec![LinkedGame::quotient(value.clone(), groups)], groups.len()),
        Value::TwoStepShapley(groups) => {
            let mut both = LinkedGame::coalitional(&members_alone()?, groups);
            both.push(LinkedGame::quotient(Semivalue::Shapley, groups));
            (both, features)
        }
        _ => return Err(value::unsupported(value)),
    })
}

impl Exact for LinkedTreeExplainer<'_> {
    fn base(&self) -> &[f64] {
        match &self.way {
            Algorithm::Margins(tree_explainer) => tree_explainer.base(),
            Algorithm::Outputs(mixtures) => &mixtures.base,
        }
    }

    fn values_of(&self, value: &Value, rows: Rows<'_>) -> Result<Attributions, TreeError> {
        let mixtures = match &self.way {
            Algorithm::Margins(tree_explainer) => return tree_explainer.values_of(value, rows),
            Algorithm::Outputs(mixtures) => mixtures,
        };
        let (games, places) = games(value, mixtures.ensemble.feature_count())?;
        mixtures.ensemble.check_rows(rows, "row")?;
        mixtures.check_cost(&games, rows)?;
        match (value, games.split_last()) {
            (Value::TwoStepShapley(groups), Some((of_groups, alone))) => {
                let of_groups = mixtures.answer(std::slice::from_ref(of_groups), groups.len(), rows)?;
                two_step(groups, mixtures.answer(alone, places, rows)?, &of_groups)
            }
            _ => mixtures.answer(&games, places, rows),
        }
    }

    /// Returns the interactions of the marginal game if outputs are margins, otherwise
    /// [`TreeError::Unsupported`].
    fn interactions_of(
        &self,
        value: &Value,
        diagonal: Diagonal,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError> {
        match &self.way {
            Algorithm::Margins(tree_explainer) => tree_explainer.interactions_of(value, diagonal, rows),
            Algorithm::Outputs(mixtures) => Err(TreeError::Unsupported {
                what: format!("an interaction index of {} outputs", mixtures.link.name()),
                help: "explain the margin",
            }),
        }
    }

    /// Returns the indices of the marginal game if outputs are margins, otherwise [`TreeError::Unsupported`].
    fn indices_of(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        rows: Rows<'_>,
    ) -> Result<Vec<Interactions>, TreeError> {
        match &self.way {
            Algorithm::Margins(tree_explainer) => tree_explainer.indices_of(index, order, groups, rows),
            Algorithm::Outputs(mixtures) => Err(TreeError::Unsupported {
                what: format!("an interaction index of {} outputs", mixtures.link.name()),
                help: "explain the margin, or enumerate the coalitions of a game with few players",
            }),
        }
    }

    /// Returns the plan of the marginal game. For outputs after the link function, the time is extrapolated
    /// from the steps for `sample`, and the list of kernels is empty, because there is only one algorithm.
    fn plan_of(&self, value: &Value, count: usize, sample: Rows<'_>) -> Result<Plan, TreeError> {
        let mixtures = match &self.way {
            Algorithm::Margins(tree_explainer) => return tree_explainer.plan_of(value, count, sample),
            Algorithm::Outputs(mixtures) => mixtures,
        };
        let (games, _) = games(value, mixtures.ensemble.feature_count())?;
        mixtures.ensemble.check_rows(sample, "row")?;
        let steps = mixtures.check_cost(&games, sample)? as f64;
        let seconds = STEP * steps * count as f64 / sample.len().max(1) as f64;
        Ok(Plan { kernels: Vec::new(), seconds })
    }
}
