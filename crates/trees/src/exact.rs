//! The trait that all tree explainers implement.

use apportion_games::{Partition, Rows};
use apportion_values::{Attributions, InteractionIndex, Interactions, Value};

use crate::engine::interactions::Diagonal;
use crate::engine::settings::Plan;
use crate::error::TreeError;

/// Exact values of a game of an ensemble.
///
/// Each method has two forms. [`values`](Self::values), [`interactions`](Self::interactions) and
/// [`plan`](Self::plan) take anything that converts into a [`Value`]. The methods whose names end in `of`
/// take a reference, and can be called on a `dyn Exact`.
///
/// Five kinds of values are supported:
///
/// - **semivalues of features**: Shapley, Banzhaf and all other semivalues;
/// - **coalitional values of features in groups**: Owen, Banzhaf-Owen, and every other pair of a semivalue
///   between the groups and one within them,
///
///   ```text
///   g_i = Σ_{A ⊆ M∖j} Σ_{T ⊆ S_j∖i} w^(1)(A) w^(2)(T) [v(Q_A ∪ T ∪ i) − v(Q_A ∪ T)],     i ∈ S_j
///   ```
///
///   (Kotsiopoulos et al., *Approximation of group explainers with coalition structure using Monte Carlo
///   sampling on the product space of coalitions and features*, 2023, equation 3.13). With singleton groups,
///   they reduce to the semivalue between the groups. With a single group, they reduce to the semivalue
///   within it;
/// - **coalitional values over a hierarchy of groups**, with one semivalue at the top level and one at all
///   levels below. After a link function, only hierarchies of two levels are supported;
/// - **semivalues of groups** in the quotient game `v^P(A) = v(∪_{j∈A} S_j)` (definition 2.1);
/// - **two-step Shapley values of features in groups**, for the game minus v(∅) (equation 3.19),
///
///   ```text
///   TSh_i = φ_i[S_j, v] + (φ_j[M, v^P] − (v(S_j) − v(∅))) / |S_j|,     i ∈ S_j
///   ```
///
/// All values are exact up to rounding: efficient values and the base value sum to the prediction within
/// 1e-12 of the largest value. Results do not depend on the number of threads. The documentation of each
/// tree explainer lists its time and memory.
///
/// ```
/// use apportion_games::{Partition, Rows};
/// use apportion_trees::{Diagonal, Ensemble, Exact, MarginalTreeExplainer, PathDependentTreeExplainer};
/// use apportion_values::{Semivalue, Value};
///
/// let model = Ensemble::from_bytes(include_bytes!("../tests/fixtures/tiny.json"))?;
/// let (row, baseline) = (Rows::new(&[1.0, 9.0], 2), Rows::new(&[0.0, 0.0], 2));
/// let marginal = MarginalTreeExplainer::new(&model, baseline, None)?;
/// // Alone, the features raise the prediction by 4 and 2; together, by 4.
/// assert_eq!(marginal.values(Semivalue::Shapley, row)?.values, [3.0, 1.0]);
/// assert_eq!(marginal.values(Value::owen(Partition::whole(2)), row)?.values, [3.0, 1.0]);
/// let pairs = marginal.interactions(Semivalue::Shapley, Diagonal::Remainder, row)?;
/// assert_eq!(pairs.values, [4.0, -1.0, -1.0, 2.0]);
///
/// let path_dependent = PathDependentTreeExplainer::new(&model)?;
/// let games: [Box<dyn Exact + '_>; 2] = [Box::new(marginal), Box::new(path_dependent)];
/// for game in games {
///     let explained = game.values_of(&Value::two_step(Partition::singletons(2)), row)?;
///     let total: f64 = explained.values.iter().sum();
///     assert!((explained.base[0] + total - explained.predictions[0]).abs() < 1e-14);
/// }
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
pub trait Exact: Send + Sync {
    /// Returns the base value v(∅) per output, which is the same for every explicand (row to explain).
    fn base(&self) -> &[f64];

    /// Returns the values of all players, for every row and output: rows × players × outputs. The players are
    /// the features, or the groups in their order.
    ///
    /// # Errors
    ///
    /// [`GameError::Width`](apportion_games::GameError::Width) if the number of columns differs from the
    /// number of features; [`GameError::InfiniteInput`](apportion_games::GameError::InfiniteInput) if a
    /// linear model has to compute with an infinite value;
    /// [`GameError::MissingInput`](apportion_games::GameError::MissingInput) if a value is missing that the
    /// model [requires](crate::Ensemble::refuses_missing);
    /// [`GameError::PartitionOfOthers`](apportion_games::GameError::PartitionOfOthers) if the groups are
    /// defined for a different number of players; [`TreeError::Value`] if weights by coalition size are
    /// defined for a different number of features, of groups, or of members of a group;
    /// [`TreeError::Unsupported`] for a value of any other kind; and [`TreeError::Kernel`] or
    /// [`TreeError::Unsupported`] if the settings specify a kernel that cannot be used.
    fn values_of(&self, value: &Value, rows: Rows<'_>) -> Result<Attributions, TreeError>;

    /// Returns the interaction indices of all pairs of features for a semivalue, or of all pairs of groups
    /// for a semivalue of the quotient game. The shape is rows × players × players × outputs, symmetric in
    /// the players. `diagonal` sets the convention for the diagonal.
    ///
    /// ```text
    /// I_ij = Σ_{S ⊆ N∖ij} M(s, n − 2 − s) [v(S ∪ ij) − v(S ∪ i) − v(S ∪ j) + v(S)]
    /// ```
    ///
    /// where M are the moments of the semivalue. This is the Shapley or the Banzhaf interaction index
    /// (Grabisch and Roubens, *An axiomatic approach to the concept of interaction among players in
    /// cooperative games*, 1999), and the analogous index for every other semivalue. With
    /// [`Diagonal::Remainder`], Shapley interactions agree with shap and with XGBoost's `pred_interactions`.
    ///
    /// # Errors
    ///
    /// The same as [`values_of`](Self::values_of), and [`TreeError::TooManyPairs`] if the result does not fit
    /// into memory.
    fn interactions_of(
        &self,
        value: &Value,
        diagonal: Diagonal,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError>;

    /// Returns the [interaction indices](apportion_values::interactions) of all coalitions of up to `order`
    /// features, or groups in the quotient game, that act together in some tree: one sparse result per row.
    /// The indices of all other coalitions are zero.
    ///
    /// ```text
    /// I(K) = Σ_{S⊆N∖K} M_k(|S|, n−k−|S|) Δ_K v(S),        1 ≤ |K| ≤ s
    /// ```
    ///
    /// With d players on a path, a row takes C(d, ≤ s) additions for each leaf, where s is `order` and
    /// C(d, ≤ s) is the number of coalitions of at most s of d players. Each pattern of decisions that occurs
    /// among 1024 rows takes C(d, ≤ s) steps for each pattern of the background, or C(d, ≤ s) · d in the
    /// path-dependent game. The result takes memory for rows × coalitions × outputs numbers. Everything that
    /// does not depend on the rows is cached for the most recent order and groups.
    ///
    /// # Errors
    ///
    /// The same as [`values_of`](Self::values_of); [`TreeError::Unsupported`] for generalized values, for
    /// paths of more than 64 players, and for outputs after a link function; [`TreeError::Value`] for an
    /// invalid order, or for more than 2^20 coalitions times outputs; [`TreeError::TooManyPairs`] if the
    /// result does not fit into memory.
    fn indices_of(
        &self,
        index: &InteractionIndex,
        order: usize,
        groups: Option<&Partition>,
        rows: Rows<'_>,
    ) -> Result<Vec<Interactions>, TreeError>;

    /// Returns the kernels that [`values_of`](Self::values_of) would use for `count` rows similar to those in
    /// `sample`, and the time that it would take. The time is predicted from the model and the rows, not
    /// measured.
    ///
    /// # Errors
    ///
    /// The same as [`values_of`](Self::values_of).
    fn plan_of(&self, value: &Value, count: usize, sample: Rows<'_>) -> Result<Plan, TreeError>;

    /// Calls [`values_of`](Self::values_of) with anything that converts into a value.
    ///
    /// # Errors
    ///
    /// The same as [`values_of`](Self::values_of).
    fn values(&self, value: impl Into<Value>, rows: Rows<'_>) -> Result<Attributions, TreeError>
    where
        Self: Sized,
    {
        self.values_of(&value.into(), rows)
    }

    /// Calls [`interactions_of`](Self::interactions_of) with anything that converts into a value.
    ///
    /// # Errors
    ///
    /// The same as [`interactions_of`](Self::interactions_of).
    fn interactions(
        &self,
        value: impl Into<Value>,
        diagonal: Diagonal,
        rows: Rows<'_>,
    ) -> Result<Attributions, TreeError>
    where
        Self: Sized,
    {
        self.interactions_of(&value.into(), diagonal, rows)
    }

    /// Calls [`plan_of`](Self::plan_of) for these rows, with anything that converts into a value.
    ///
    /// # Errors
    ///
    /// The same as [`plan_of`](Self::plan_of).
    fn plan(&self, value: impl Into<Value>, rows: Rows<'_>) -> Result<Plan, TreeError>
    where
        Self: Sized,
    {
        self.plan_of(&value.into(), rows.len(), rows)
    }
}
