//! Measures of dependence between two features, on a common scale.
//!
//! Every measure returns a number in [0, 1]. As the number of rows grows, it tends to 0 for independent
//! features. It is largest if one feature is a function of the other (for Spearman's correlation: a monotone
//! function). Linfoot's informational coefficient converts mutual information I (nats) to the scale of a
//! correlation,
//!
//! ```text
//! √(1 − exp(−2 I)),
//! ```
//!
//! which is |ρ| for two jointly normal features (Linfoot, *An informational measure of correlation*,
//! Information and Control, 1957).

mod binning;
mod distribution;
mod maximal_information;
mod measure;
mod name;
mod nearest_neighbours;
mod pairs;
mod ranks;
mod spearman;

pub use pairs::MIN_ROWS;

/// A measure of the dependence of two features.
///
/// All measures depend only on the ranks of the data, so increasing transformations of features do not change
/// them. Without ties, decreasing transformations do not change them either, except for rows at the border of
/// a bin. A constant feature has dependence 0 with every other feature.
///
/// Kotsiopoulos et al., *Approximation of group explainers with coalition structure*, 2023, use the maximal
/// information coefficient. Dependences computed by other tools can be passed to
/// [`DependenceMatrix::from_values`](crate::DependenceMatrix::from_values).
///
/// ```
/// use apportion_games::Rows;
/// use apportion_partitions::Dependence;
///
/// // y = x² on both sides of 0: fully dependent, but not monotone.
/// let values: Vec<f64> = (0..200).map(|row| f64::from(row) - 99.5).flat_map(|x| [x, x * x]).collect();
/// let dependence = |measure: Dependence| {
///     Ok::<f64, apportion_partitions::PartitionsError>(measure.matrix(Rows::new(&values, 2))?.get(0, 1))
/// };
/// assert!(dependence(Dependence::AbsoluteSpearman)? < 1e-9);
/// assert!(dependence(Dependence::mutual_information())? > 0.8);
/// assert!(dependence(Dependence::nearest_neighbours())? > 0.8);
/// assert!(dependence(Dependence::MaximalInformation)? > 0.99);
/// # Ok::<(), apportion_partitions::PartitionsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Dependence {
    /// |ρ|, Spearman's rank correlation, in which tied rows have the mean of their ranks. It detects monotone
    /// dependence with the highest power.
    ///
    /// Takes O(N) time per pair for N rows.
    #[default]
    AbsoluteSpearman,
    /// Mutual information of the features in bins of equal frequency, with the bias correction of Miller and
    /// Madow, on the scale of a correlation.
    ///
    /// ```text
    /// I = Σ p_ab ln(p_ab / (p_a p_b)) + (m_x + m_y − m_xy − 1) / (2N)
    /// ```
    ///
    /// where m_x, m_y and m_xy are the numbers of nonempty bins and cells (Miller, *Note on the bias of
    /// information estimates*, 1955). Equal numbers are in the same bin, so discrete features may fill fewer
    /// bins. Estimates below 0 are set to 0. With b bins, the maximum is √(1 − 1/b²).
    ///
    /// Takes O(N + b²) time per pair.
    MutualInformation {
        /// Number of bins of a feature, b, from 2 to √N. The default is ⌊N^(1/4)⌋ + 1.
        bins: Option<usize>,
    },
    /// Mutual information estimated from distances of k-th nearest neighbours, on the scale of a correlation.
    /// The estimate is algorithm 1 of Kraskov, Stögbauer and Grassberger, *Estimating mutual information*,
    /// Physical Review E, 2004, applied to normal scores.
    ///
    /// ```text
    /// I = ψ(k) + ψ(N) − mean of ψ(n_x + 1) + ψ(n_y + 1)
    /// ```
    ///
    /// where n_x and n_y are the numbers of rows that are strictly nearer in one coordinate than the k-th
    /// neighbour is in the maximum norm. Ties are broken at random, depending on `seed`. This does not change
    /// the mutual information. Estimates below 0 are set to 0. Many neighbours separate weak dependence from
    /// independence; few neighbours resolve fine structure.
    ///
    /// Takes O(N √(k N)) time per pair if features are independent, and less time otherwise. For 1000 rows
    /// and 20 neighbours, a pair takes 2 ms on one core.
    NearestNeighbours {
        /// Number of neighbours k, at least 1 and less than the number of rows. The default is the smaller of
        /// 20 and N / 5.
        neighbours: Option<usize>,
        /// The seed of the random order of ties, and of the distribution under independence.
        seed: u64,
    },
    /// The maximal information coefficient of Reshef et al., *Detecting novel associations in large data
    /// sets*, Science, 2011: the mutual information of the best grid, divided by the maximum for a grid of
    /// that size.
    ///
    /// ```text
    /// MIC = max over a b ≤ N^0.6 of I(a, b) / ln min(a, b)
    /// ```
    ///
    /// where I(a, b) is the mutual information of the best grid with a columns and b rows, computed by their
    /// algorithm ApproxMaxMI with c = 15. It is 1 for noiseless functions of any form. For independent
    /// features, it is not 0, but about 0.25 with 100 rows, and 0.13 with 1000 rows.
    ///
    /// Takes O(N^1.8) time per pair: 15 ms for 1000 rows, on one core.
    MaximalInformation,
}

impl Dependence {
    /// Returns [`MutualInformation`](Self::MutualInformation) with the default number of bins.
    pub const fn mutual_information() -> Self {
        Self::MutualInformation { bins: None }
    }

    /// Returns [`NearestNeighbours`](Self::NearestNeighbours) with the default number of neighbours and seed
    /// 0.
    pub const fn nearest_neighbours() -> Self {
        Self::NearestNeighbours { neighbours: None, seed: 0 }
    }
}
