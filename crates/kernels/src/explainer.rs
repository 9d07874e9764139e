//! A kernel machine with a background dataset.

use apportion_games::{Background, Rows, Shared, parallel};
use apportion_values::{Attributions, Value};

use crate::components::Component;
use crate::error::KernelError;
use crate::layout::Layout;
use crate::machine::KernelMachine;
use crate::sums::{ROWS_PER_BLOCK, Summands, check_memory, sums};

/// An explainer that computes exact values of a kernel machine in the marginal game: all semivalues, and
/// values for groups and hierarchies. The game is
///
/// ```text
/// v(S) = Σ_b w_b f(x_S, b_{N∖S})
/// ```
///
/// where the features in S come from the explicand x (the row to explain), and all other features from a
/// background row b. The outputs are averaged with the weights w_b.
///
/// # Method
///
/// For a centre c and a background row b, with the factors `p_j = κ_j(x_j, c_j)` and `q_j = κ_j(b_j, c_j)`,
/// the value of a coalition is the product `Π_{j∈S} p_j Π_{j∉S} q_j`. The value of a feature for a semivalue
/// with mixing measure μ is therefore
///
/// ```text
/// φ_j = (p_j − q_j) ∫ Π_{l≠j} (t p_l + (1 − t) q_l) dμ(t)
/// ```
///
/// The integrand is a polynomial of degree n − 1 in t, so a Gauss rule of ⌈n/2⌉ nodes is exact. Values for
/// groups and hierarchies are products of such averages, one for each level. Values are sums over centres and
/// background rows; the linear part of the machine adds `w_j (x_j − mean of b_j)`.
///
/// # Cost and accuracy
///
/// A row takes about 8 · centres · background rows · n · ⌈n/2⌉ arithmetic operations for the Shapley value,
/// and 8 · centres · background rows · n for the Banzhaf value, in vector instructions of the processor.
/// There is no sampling error. Terms do not cancel within a centre, so the only difference from enumeration
/// is the rounding error of the sum over the centres, about `1e-15 Σ_i |α_i|`. Results are bitwise identical
/// for any number of threads, regardless of the other rows in the same call.
///
/// ```
/// use apportion_kernels::{Kernel, KernelExplainer, KernelMachine, Rows, Semivalue};
///
/// let machine = KernelMachine::new(2, &[1.0])?.with_kernel(
///     Kernel::rbf(1.0, 2),
///     &[0.0, 0.0, 1.0, 1.0],
///     &[3.0, -2.0],
/// )?;
/// let explainer = KernelExplainer::new(&machine, Rows::new(&[0.0, 0.0, 0.5, 2.0], 2), None)?;
/// let explained = explainer.values(Semivalue::Shapley, Rows::new(&[1.0, 0.5], 2))?;
/// let total: f64 = explained.values.iter().sum();
/// assert!((explained.base[0] + total - explained.predictions[0]).abs() < 1e-14);
/// # Ok::<(), apportion_kernels::KernelError>(())
/// ```
pub struct KernelExplainer<'a> {
    pub(crate) machine: Shared<'a, KernelMachine>,
    pub(crate) summands: Summands,
    base: Vec<f64>,
    /// The mean of each feature over the background.
    pub(crate) means: Vec<f64>,
}

impl<'a> KernelExplainer<'a> {
    /// Creates an explainer of `machine` with the rows of `background`. If `weights` is given, it contains
    /// one weight per row, and the weights need not sum to 1. Otherwise, all rows have equal weights. Takes
    /// one prediction per background row.
    ///
    /// # Errors
    ///
    /// [`GameError::EmptyBackground`](apportion_games::GameError::EmptyBackground),
    /// [`GameError::Width`](apportion_games::GameError::Width),
    /// [`GameError::MissingInput`](apportion_games::GameError::MissingInput) and
    /// [`GameError::InfiniteInput`](apportion_games::GameError::InfiniteInput) for an invalid background,
    /// [`GameError::BackgroundWeights`](apportion_games::GameError::BackgroundWeights) for invalid weights.
    pub fn new(
        machine: impl Into<Shared<'a, KernelMachine>>,
        background: Rows<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Self, KernelError> {
        let machine = machine.into();
        machine.check_rows(background, "background row")?;
        let mut background = Background::rows(background.values(), background.columns())?;
        if let Some(weights) = weights {
            background = background.with_weights(weights)?;
        }
        let predictions = outputs_in_parallel(&machine, background.as_rows())?;
        let mean = |numbers: &[f64], columns: usize| {
            let mut means = vec![0.0; columns];
            for (row, weight) in numbers.chunks_exact(columns).zip(background.weights()) {
                means.iter_mut().zip(row).for_each(|(mean, value)| *mean += weight * value);
            }
            means
        };
        let base = mean(&predictions, machine.output_count());
        let means = mean(background.as_rows().values(), machine.features);
        let (components, outputs) = (Component::all(&machine)?, machine.output_count());
        Ok(Self { summands: Summands { components, background, outputs }, base, means, machine })
    }

    /// Returns the base value v(∅) per output, which is the same for every row.
    pub fn base(&self) -> &[f64] {
        &self.base
    }

    /// Returns the machine.
    pub fn machine(&self) -> &KernelMachine {
        &self.machine
    }

    /// Returns whether [`values_of`](Self::values_of) supports a value. Every value is supported, except
    /// linear values with custom distributions and values on graphs.
    pub fn supports(value: &Value) -> bool {
        !matches!(value, Value::Linear(_) | Value::OnGraph(..))
    }

    /// Returns the same as [`values_of`](Self::values_of), for anything that converts into a [`Value`].
    ///
    /// # Errors
    ///
    /// Same as [`values_of`](Self::values_of).
    pub fn values(&self, value: impl Into<Value>, rows: Rows<'_>) -> Result<Attributions, KernelError> {
        self.values_of(&value.into(), rows)
    }

    /// Returns the values of all players, for every row and output: rows × players × outputs. The players are
    /// the features, or the groups in their order.
    ///
    /// # Errors
    ///
    /// [`KernelError::Game`] for rows of the wrong width, and for missing and infinite values;
    /// [`KernelError::Value`] if the value is not defined for this number of features, or overflows;
    /// [`KernelError::Unsupported`] for a value that is not [supported](Self::supports);
    /// [`KernelError::Memory`].
    pub fn values_of(&self, value: &Value, rows: Rows<'_>) -> Result<Attributions, KernelError> {
        let machine = &*self.machine;
        machine.check_rows(rows, "row")?;
        let value = value.simplified();
        value.check(machine.features)?;
        let layout = Layout::new(&value, machine.features)?;
        check_memory(&layout)?;
        let players = layout.players.len();
        let mut values = sums(&self.summands, rows, &layout);
        self.add_linear(&value, rows, &mut values);
        let predictions = outputs_in_parallel(machine, rows)?;
        let attributions = Attributions::for_players(players, values, self.base.clone(), predictions);
        Ok(attributions.finite()?)
    }

    /// Returns the number of arithmetic operations of [`values_of`](Self::values_of) for `count` rows, a
    /// measure of its time.
    ///
    /// # Errors
    ///
    /// The errors of [`values_of`](Self::values_of) for the value.
    pub fn steps(&self, value: &Value, count: usize) -> Result<f64, KernelError> {
        let value = value.simplified();
        value.check(self.machine.features)?;
        let layout = Layout::new(&value, self.machine.features)?;
        let pairs =
            Component::lanes(&self.summands.components) as f64 * self.summands.background.len() as f64;
        // The exponential function of a factor takes about 40 operations, and the rows of a block share it.
        let blocks = count.div_ceil(ROWS_PER_BLOCK) as f64;
        let factors = 40.0 * self.machine.features as f64;
        Ok(pairs * (layout.steps() as f64 * count as f64 + factors * blocks))
    }

    /// Adds the linear part of the machine, whose game is additive. For every value, the attribution of a
    /// feature is its contribution `w_j (x_j − mean of b_j)`, and the attribution of a group is the sum over
    /// its members.
    fn add_linear(&self, value: &Value, rows: Rows<'_>, values: &mut [f64]) {
        let (machine, outputs) = (&*self.machine, self.machine.output_count());
        if machine.weights.is_empty() || rows.is_empty() {
            return;
        }
        let quotient = match value {
            Value::Quotient(_, groups) => Some(groups),
            _ => None,
        };
        let each = values.len() / rows.len();
        for (row, values) in rows.iter().zip(values.chunks_exact_mut(each)) {
            for (feature, weights) in machine.weights.chunks_exact(outputs).enumerate() {
                let player = quotient.map_or(feature, |groups| groups.group_of(feature));
                let difference = row[feature] - self.means[feature];
                let values = &mut values[player * outputs..][..outputs];
                values.iter_mut().zip(weights).for_each(|(value, weight)| *value += weight * difference);
            }
        }
    }
}

impl std::fmt::Debug for KernelExplainer<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("KernelExplainer")
            .field("centres", &self.machine.centre_count())
            .field("background_rows", &self.summands.background.len())
            .finish_non_exhaustive()
    }
}

/// Returns the outputs for rows, on several threads.
pub(crate) fn outputs_in_parallel(machine: &KernelMachine, rows: Rows<'_>) -> Result<Vec<f64>, KernelError> {
    let starts = (0..rows.len()).step_by(ROWS_PER_BLOCK);
    let parts = parallel::try_map(starts, |start| {
        machine.outputs_of(rows.slice(start..rows.len().min(start + ROWS_PER_BLOCK)))
    })?;
    Ok(parts.concat())
}
