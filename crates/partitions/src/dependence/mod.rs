//! Measures of dependence between two features, on one scale.
//!
//! Every measure gives a number in [0, 1]: 0 for independent features, 1 where one determines the other. Mutual information I (nats)
//! is put on the scale of a correlation by Linfoot's informational coefficient,
//!
//! ```text
//! √(1 − exp(−2 I)),
//! ```
//!
//! which is |ρ| for two jointly normal features (Linfoot, *An informational measure of correlation*, Information and Control, 1957).

mod binning;
mod law;
mod maximal_information;
mod measure;
mod name;
mod nearest_neighbours;
mod pairs;
mod ranks;
mod spearman;

pub use pairs::LEAST_ROWS;

/// How the dependence of two features is measured.
///
/// All depend on the ranks of the data alone, so increasing maps of features change nothing (without ties, decreasing ones neither,
/// but for rows on the border of a bin). A constant feature has dependence 0 with every other.
///
/// The group-explainer paper uses the maximal information coefficient. Matrices from elsewhere are welcome:
/// [`DependenceMatrix::from_values`](crate::DependenceMatrix::from_values).
///
/// ```
/// use apportion_games::Rows;
/// use apportion_partitions::Dependence;
///
/// // y = x² on either side of 0: as dependent as can be, and not at all monotone.
/// let values: Vec<f64> = (0..200).map(|row| f64::from(row) - 99.5).flat_map(|x| [x, x * x]).collect();
/// let dependence = |measure: Dependence| Ok::<f64, apportion_partitions::PartitionsError>(measure.matrix(Rows::new(&values, 2))?.get(0, 1));
/// assert!(dependence(Dependence::AbsoluteSpearman)? < 1e-9);
/// assert!(dependence(Dependence::mutual_information())? > 0.8);
/// assert!(dependence(Dependence::nearest_neighbours())? > 0.8);
/// assert!(dependence(Dependence::MaximalInformation)? > 0.99);
/// # Ok::<(), apportion_partitions::PartitionsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Dependence {
    /// |ρ|, Spearman's correlation of the ranks, tied rows having the mean of their ranks. Sees monotone dependence, with the most power.
    ///
    /// Takes O(N) time per pair for N rows.
    #[default]
    AbsoluteSpearman,
    /// Mutual information of the features in bins of equal frequency, less its bias by Miller and Madow, on the scale of a correlation.
    ///
    /// ```text
    /// I = Σ p_ab ln(p_ab / (p_a p_b)) + (m_x + m_y − m_xy − 1) / (2N)
    /// ```
    ///
    /// with m_x, m_y and m_xy the bins and cells that have rows (Miller, *Note on the bias of information estimates*, 1955). Equal numbers
    /// share a bin, so discrete features may fill fewer. An estimate below 0 is taken for 0. b bins never show more than √(1 − 1/b²).
    ///
    /// Takes O(N + b²) time per pair.
    MutualInformation {
        /// Bins of a feature, b, from 2 to √N; by default ⌊N^(1/4)⌋ + 1.
        bins: Option<usize>,
    },
    /// Mutual information by the distances of k-th nearest neighbours, on the scale of a correlation: algorithm 1 of Kraskov, Stögbauer and
    /// Grassberger, *Estimating mutual information*, Physical Review E, 2004, on normal scores.
    ///
    /// ```text
    /// I = ψ(k) + ψ(N) − mean of ψ(n_x + 1) + ψ(n_y + 1)
    /// ```
    ///
    /// with n_x and n_y the rows that are strictly nearer in one coordinate than the k-th neighbour is in the larger of both. Equal numbers
    /// are put in an order at random, which leaves mutual information as it is; that order is a function of `seed`. An estimate below 0 is
    /// taken for 0. Many neighbours tell weak dependence from none, few follow fine structure.
    ///
    /// Takes O(N √(k N)) time per pair where features are independent, less where not: 2 ms for 1000 rows and 20 neighbours, on one core.
    NearestNeighbours {
        /// Neighbours k, at least 1 and fewer than the rows; by default 20, or N / 5 where that is fewer.
        neighbours: Option<usize>,
        /// What the order of ties, and the law under independence, are drawn from.
        seed: u64,
    },
    /// The maximal information coefficient of Reshef et al., *Detecting novel associations in large data sets*, Science, 2011: the mutual
    /// information of the best grid, as a share of the most that such a grid can have.
    ///
    /// ```text
    /// MIC = max over a b ≤ N^0.6 of I(a, b) / ln min(a, b)
    /// ```
    ///
    /// with I(a, b) that of the best grid of a columns and b rows, by their algorithm ApproxMaxMI with c = 15. It is 1 for functions without
    /// noise, of any form; independent features have some, too: about 0.25 with 100 rows, 0.13 with 1000.
    ///
    /// Takes O(N^1.8) time per pair: 15 ms for 1000 rows, on one core.
    MaximalInformation,
}

impl Dependence {
    /// [`MutualInformation`](Self::MutualInformation) in the default number of bins.
    pub const fn mutual_information() -> Self {
        Self::MutualInformation { bins: None }
    }

    /// [`NearestNeighbours`](Self::NearestNeighbours) with the default number of neighbours and seed 0.
    pub const fn nearest_neighbours() -> Self {
        Self::NearestNeighbours { neighbours: None, seed: 0 }
    }
}
