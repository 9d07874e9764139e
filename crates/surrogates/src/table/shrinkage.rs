//! The shrinkage of the regression: how much the values u of all background rows, and the deviations δ_z of
//! single ones, are drawn to 0.
//!
//! κ is the ratio of the variances of noise and of the entries of δ_z, with the largest marginal likelihood.
//! For λ, the ratio for u, the mean over its posterior distribution is taken instead of the likeliest value,
//! which is often infinite and then claims that there is no error. The prior of λ is that of Strawderman
//! (*Proper Bayes Minimax Estimators of the Multivariate Normal Mean*, 1971): the factor γ/(γ + λ) is
//! uniform, with the mean eigenvalue γ of H.

use faer::{Mat, Side};

use super::basis::{Basis, product};

/// The number of ratios λ that are averaged.
const RATIOS: usize = 31;
/// The factor between two successive ratios λ.
const STEP: f64 = 2.0;
/// The ratio that replaces the smallest one; up to rounding, it causes no shrinkage.
const MIN_RATIO: f64 = 1e-13;
/// The ratios κ that are compared, in units of the mean eigenvalue of G_z.
const LEVELS: [f64; 5] = [0.02, 0.1, 0.5, 2.5, 12.0];
/// The ratio κ that amounts, up to rounding, to a separate regression for each background row.
const SEPARATE: f64 = 1e-8;
/// The minimum number of pairs per coefficient for comparing [`SEPARATE`]: fewer pairs could be interpolated.
const MIN_PAIRS: f64 = 1.5;
/// Eigenvalues up to this fraction of the largest one are omitted.
const ZERO: f64 = 1e-12;

/// The matrices for one ratio κ. Without κ, there is one block, and δ_z is 0.
pub(crate) struct Level {
    kappa: Option<f64>,
    shares: Vec<f64>,
    /// M_z.
    inverses: Vec<Mat<f64>>,
    /// K.
    mean: Mat<f64>,
    /// The eigenvalues and eigenvectors of H.
    eigenvalues: Vec<f64>,
    vectors: Mat<f64>,
    /// Σ_z ln det(1 + G_z/κ).
    determinant: f64,
}

/// The posterior distribution of λ.
pub(crate) struct Shrinkage {
    /// The probability of each λ, with λ and the variance of the noise.
    weights: Vec<(f64, f64, f64)>,
    /// Qᵀ Σ_z κ M_z b_z, with the eigenvectors Q of H and the sums b_z of targets times rows.
    rotated: Vec<f64>,
    /// The mean of 1/(η_j + λ).
    inverse: Vec<f64>,
}

/// A fit, in the basis of the design.
pub(crate) struct Fit {
    /// u + Σ_z p_z δ_z.
    pub(crate) values: Mat<f64>,
    /// u + δ_z for each block.
    pub(crate) coefficients: Vec<Mat<f64>>,
    /// The covariance matrix of the values by the shrinkage of u and δ_z.
    pub(crate) posterior: Mat<f64>,
}

/// The influence of a row √w a of a block.
pub(crate) struct Influence {
    /// The influence on the values is this matrix times the row.
    pub(crate) values: Mat<f64>,
    /// The influence on the fit of the row itself is the quadratic form of this matrix.
    pub(crate) smoother: Mat<f64>,
}

fn diagonal(numbers: &[f64]) -> Mat<f64> {
    Mat::from_fn(numbers.len(), numbers.len(), |row, column| if row == column { numbers[row] } else { 0.0 })
}

/// Returns `V diag(numbers) Vᵀ`.
fn from_eigen(vectors: &Mat<f64>, numbers: &[f64]) -> Mat<f64> {
    let scaled = Mat::from_fn(vectors.nrows(), vectors.ncols(), |row, at| vectors[(row, at)] * numbers[at]);
    product(scaled.as_ref(), vectors.transpose())
}

fn add_scaled(sum: &mut Mat<f64>, factor: f64, other: &Mat<f64>) {
    for at in 0..sum.ncols() {
        sum.col_mut(at).iter_mut().zip(other.col(at).iter()).for_each(|(sum, own)| *sum += factor * own);
    }
}

/// Returns the eigenvalues and eigenvectors of `AᵀA`. With fewer rows than columns, they are those of `AAᵀ`,
/// and all other eigenvalues, which are omitted, are 0. Returns `None` if the decomposition fails.
fn eigen_of_gram(rows: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let (count, rank) = (rows.nrows(), rows.ncols());
    if count >= rank {
        let eigen = product(rows.transpose(), rows.as_ref()).self_adjoint_eigen(Side::Lower).ok()?;
        return Some(((0..rank).map(|at| eigen.S()[at].max(0.0)).collect(), eigen.U().to_owned()));
    }
    let eigen = product(rows.as_ref(), rows.transpose()).self_adjoint_eigen(Side::Lower).ok()?;
    let largest = (0..count).map(|at| eigen.S()[at]).fold(0.0, f64::max);
    let kept: Vec<usize> = (0..count).filter(|&at| eigen.S()[at] > ZERO * largest).collect();
    let eigenvalues: Vec<f64> = kept.iter().map(|&at| eigen.S()[at]).collect();
    let scaled =
        Mat::from_fn(count, kept.len(), |row, at| eigen.U()[(row, kept[at])] / eigenvalues[at].sqrt());
    Some((eigenvalues, product(rows.transpose(), scaled.as_ref())))
}

/// Returns `(G + κ)⁻¹`, given the eigenvalues and eigenvectors of G; omitted eigenvalues are 0.
fn inverse_of(eigenvalues: &[f64], vectors: &Mat<f64>, kappa: f64) -> Mat<f64> {
    if vectors.ncols() == vectors.nrows() {
        let numbers: Vec<f64> = eigenvalues.iter().map(|gamma| 1.0 / (gamma + kappa)).collect();
        return from_eigen(vectors, &numbers);
    }
    let numbers: Vec<f64> = eigenvalues.iter().map(|gamma| -gamma / (kappa * (gamma + kappa))).collect();
    let mut inverse = from_eigen(vectors, &numbers);
    (0..vectors.nrows()).for_each(|at| inverse[(at, at)] += 1.0 / kappa);
    inverse
}

impl Level {
    /// Returns all levels that are compared: one without deviations, and one for each κ.
    pub(crate) fn all(basis: &Basis, shares: &[f64]) -> Vec<Self> {
        let rank = basis.eigenvalues.len();
        let blocks = basis.groups(basis.pairs());
        let count = blocks.len();
        let identity = diagonal(&vec![1.0; rank]);
        let mut levels = vec![Self {
            kappa: None,
            shares: vec![1.0; count],
            inverses: Vec::new(),
            mean: identity.clone(),
            eigenvalues: basis.eigenvalues.clone(),
            vectors: identity,
            determinant: 0.0,
        }];
        if count < 2 || rank == 0 {
            return levels;
        }
        let mut decompositions = Vec::with_capacity(count);
        for members in &blocks {
            let Some(decomposition) = eigen_of_gram(&basis.rows(members)) else { return levels };
            decompositions.push(decomposition);
        }
        let typical = basis.eigenvalues.iter().sum::<f64>() / (rank * count) as f64;
        let can_separate = basis.pairs() as f64 >= MIN_PAIRS * (rank * count) as f64;
        let ratios = can_separate.then_some(SEPARATE).into_iter().chain(LEVELS);
        levels.extend(ratios.filter_map(|ratio| Self::new(&decompositions, ratio * typical, shares)));
        levels
    }

    fn new(blocks: &[(Vec<f64>, Mat<f64>)], kappa: f64, shares: &[f64]) -> Option<Self> {
        let rank = blocks.first().map_or(0, |(_, vectors)| vectors.nrows());
        let (mut whole, mut mean) = (Mat::zeros(rank, rank), Mat::zeros(rank, rank));
        let mut determinant = 0.0;
        let mut inverses = Vec::with_capacity(blocks.len());
        for ((eigenvalues, vectors), share) in blocks.iter().zip(shares) {
            let inverse = inverse_of(eigenvalues, vectors, kappa);
            // κ M G = κ (1 − κ M).
            add_scaled(&mut whole, -kappa * kappa, &inverse);
            (0..rank).for_each(|at| whole[(at, at)] += kappa);
            add_scaled(&mut mean, share * kappa, &inverse);
            determinant += eigenvalues.iter().map(|gamma| (gamma / kappa).ln_1p()).sum::<f64>();
            inverses.push(inverse);
        }
        let eigen = whole.self_adjoint_eigen(Side::Lower).ok()?;
        Some(Self {
            kappa: Some(kappa),
            shares: shares.to_vec(),
            inverses,
            mean,
            eigenvalues: (0..rank).map(|at| eigen.S()[at].max(0.0)).collect(),
            vectors: eigen.U().to_owned(),
            determinant,
        })
    }

    /// Returns `Σ_z κ M_z b_z` and `Σ_z b_zᵀ M_z b_z`.
    fn reduced(&self, products: &[Mat<f64>]) -> (Mat<f64>, f64) {
        let mut sum = Mat::zeros(self.eigenvalues.len(), 1);
        let mut form = 0.0;
        match self.kappa {
            None => products.iter().for_each(|product| add_scaled(&mut sum, 1.0, product)),
            Some(kappa) => {
                for (inverse, own) in self.inverses.iter().zip(products) {
                    let solved = product(inverse.as_ref(), own.as_ref());
                    form += product(own.transpose(), solved.as_ref())[(0, 0)];
                    add_scaled(&mut sum, kappa, &solved);
                }
            }
        }
        (sum, form)
    }

    /// Returns the fit for sums b_z of targets times rows.
    pub(crate) fn fit(&self, products: &[Mat<f64>], shrinkage: &Shrinkage) -> Fit {
        let rank = self.eigenvalues.len();
        let in_own: Vec<f64> =
            shrinkage.rotated.iter().zip(&shrinkage.inverse).map(|(q, inv)| q * inv).collect();
        let u = product(self.vectors.as_ref(), Mat::from_fn(rank, 1, |at, _| in_own[at]).as_ref());
        let mut values = u.clone();
        let mut coefficients = Vec::with_capacity(products.len());
        for (block, own) in products.iter().enumerate() {
            let mut own_values = u.clone();
            if let Some(kappa) = self.kappa {
                // δ = M (b − G u) = M b − u + κ M u.
                let mut right = own.clone();
                add_scaled(&mut right, kappa, &u);
                own_values = product(self.inverses[block].as_ref(), right.as_ref());
                add_scaled(&mut values, self.shares[block], &own_values);
                add_scaled(&mut values, -self.shares[block], &u);
            }
            coefficients.push(own_values);
        }
        let variances: Vec<f64> = (0..rank)
            .map(|at| {
                let (eta, q, mean) = (self.eigenvalues[at], shrinkage.rotated[at], shrinkage.inverse[at]);
                let of_ratio = |&(weight, lambda, noise): &(f64, f64, f64)| {
                    let inverse = 1.0 / (eta + lambda);
                    weight * (lambda * noise * inverse * inverse + (q * (inverse - mean)).powi(2))
                };
                shrinkage.weights.iter().map(of_ratio).sum()
            })
            .collect();
        let spread = product(self.mean.as_ref(), self.vectors.as_ref());
        let mut posterior = from_eigen(&spread, &variances);
        self.add_deviations(shrinkage, &mut posterior);
        Fit { values, coefficients, posterior }
    }

    /// Adds the variance that the shrinkage of δ_z causes: `(σ²/κ) Σ_z B_z B_zᵀ`, with
    /// `B_z = K (H + λ)⁻¹ κ M_z G_z − p_z κ M_z`.
    fn add_deviations(&self, shrinkage: &Shrinkage, posterior: &mut Mat<f64>) {
        let Some(kappa) = self.kappa else { return };
        let noise: f64 = shrinkage.weights.iter().map(|(weight, _, noise)| weight * noise).sum();
        let of_mean = product(self.mean.as_ref(), from_eigen(&self.vectors, &shrinkage.inverse).as_ref());
        for (inverse, share) in self.inverses.iter().zip(&self.shares) {
            let mut missed = product(of_mean.as_ref(), inverse.as_ref());
            missed.col_iter_mut().for_each(|column| column.iter_mut().for_each(|entry| *entry *= -kappa));
            add_scaled(&mut missed, 1.0, &of_mean);
            add_scaled(&mut missed, -share, inverse);
            add_scaled(posterior, noise * kappa, &product(missed.as_ref(), missed.transpose()));
        }
    }

    /// Returns the influences of the rows of each block.
    pub(crate) fn influences(&self, shrinkage: &Shrinkage) -> Vec<Influence> {
        let inverse = from_eigen(&self.vectors, &shrinkage.inverse);
        let Some(kappa) = self.kappa else {
            let own = || Influence { values: inverse.clone(), smoother: inverse.clone() };
            return self.shares.iter().map(|_| own()).collect();
        };
        let of_mean = product(self.mean.as_ref(), inverse.as_ref());
        let of_block = |(own, share): (&Mat<f64>, &f64)| {
            let mut values = Mat::zeros(own.nrows(), own.ncols());
            add_scaled(&mut values, kappa, &product(of_mean.as_ref(), own.as_ref()));
            add_scaled(&mut values, *share, own);
            let mut smoother = own.clone();
            let middle = product(own.as_ref(), inverse.as_ref());
            add_scaled(&mut smoother, kappa * kappa, &product(middle.as_ref(), own.as_ref()));
            Influence { values, smoother }
        };
        self.inverses.iter().zip(&self.shares).map(of_block).collect()
    }
}

impl Shrinkage {
    /// Returns the level with the largest marginal likelihood and its distribution of λ. `squares` is the sum
    /// of the squares of the targets, `pairs` their number.
    pub(crate) fn choose<'a>(
        levels: &'a [Level],
        products: &[Mat<f64>],
        squares: f64,
        pairs: usize,
    ) -> (&'a Level, Self) {
        let found = levels.iter().map(|level| (level, Self::new(level, products, squares, pairs)));
        let best = found.max_by(|one, other| one.1.0.total_cmp(&other.1.0));
        // There is always a level without deviations.
        best.map_or_else(
            || (&levels[0], Self { weights: Vec::new(), rotated: Vec::new(), inverse: Vec::new() }),
            |(level, (_, shrinkage))| (level, shrinkage),
        )
    }

    /// Returns the logarithm of the marginal likelihood, and the distribution of λ.
    fn new(level: &Level, products: &[Mat<f64>], squares: f64, pairs: usize) -> (f64, Self) {
        let rank = level.eigenvalues.len();
        let m = pairs.max(1) as f64;
        let (sum, form) = level.reduced(products);
        let rotated = product(level.vectors.transpose(), sum.as_ref());
        let rotated: Vec<f64> = (0..rank).map(|at| rotated[(at, 0)]).collect();
        let typical = level.eigenvalues.iter().sum::<f64>() / rank.max(1) as f64;
        let mut found: Vec<(f64, f64, f64)> = (0..RATIOS)
            .map(|step| {
                let ratio =
                    if step == 0 { MIN_RATIO } else { STEP.powi(step as i32 - 2 * RATIOS as i32 / 3) };
                let lambda = ratio * typical.max(f64::MIN_POSITIVE);
                let of_mean: f64 =
                    rotated.iter().zip(&level.eigenvalues).map(|(q, eta)| q * q / (eta + lambda)).sum();
                let noise = (squares - form - of_mean).max(1e-14 * squares) / m;
                let determinant: f64 = level.eigenvalues.iter().map(|eta| (eta / lambda).ln_1p()).sum();
                let likelihood =
                    -0.5 * (m * noise.max(f64::MIN_POSITIVE).ln() + determinant + level.determinant);
                (likelihood + (ratio / (1.0 + ratio).powi(2)).ln(), lambda, noise)
            })
            .collect();
        let largest = found.iter().map(|found| found.0).fold(f64::NEG_INFINITY, f64::max);
        found.iter_mut().for_each(|found| found.0 = (found.0 - largest).exp());
        let total: f64 = found.iter().map(|found| found.0).sum();
        found.iter_mut().for_each(|found| found.0 /= total);
        let mean = |eta: &f64| found.iter().map(|(weight, lambda, _)| weight / (eta + lambda)).sum();
        let inverse = level.eigenvalues.iter().map(mean).collect();
        (largest + total.ln(), Self { weights: found, rotated, inverse })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solves the ridge regression of targets on u and all δ_z with a single dense matrix, and returns
    /// u + Σ_z p_z δ_z.
    fn dense(rows: &[Mat<f64>], targets: &[Mat<f64>], ratios: (f64, f64), shares: &[f64]) -> Vec<f64> {
        let (rank, count) = (rows[0].ncols(), rows.len());
        let size = rank * (count + 1);
        let (mut matrix, mut right) = (Mat::<f64>::zeros(size, size), Mat::<f64>::zeros(size, 1));
        for (block, (rows, targets)) in rows.iter().zip(targets).enumerate() {
            let gram = product(rows.transpose(), rows.as_ref());
            let sums = product(rows.transpose(), targets.as_ref());
            for first in [0, rank * (block + 1)] {
                for i in 0..rank {
                    right[(first + i, 0)] += sums[(i, 0)];
                    for second in [0, rank * (block + 1)] {
                        (0..rank).for_each(|j| matrix[(first + i, second + j)] += gram[(i, j)]);
                    }
                }
            }
        }
        for at in 0..size {
            matrix[(at, at)] += if at < rank { ratios.0 } else { ratios.1 };
        }
        let eigen = matrix.self_adjoint_eigen(Side::Lower).expect("the matrix is finite");
        let inverse: Vec<f64> = (0..size).map(|at| 1.0 / eigen.S()[at]).collect();
        let solution = product(from_eigen(&eigen.U().to_owned(), &inverse).as_ref(), right.as_ref());
        let value = |at: usize| {
            let of_block = |(block, share): (usize, &f64)| share * solution[(rank * (block + 1) + at, 0)];
            solution[(at, 0)] + shares.iter().enumerate().map(of_block).sum::<f64>()
        };
        (0..rank).map(value).collect()
    }

    #[test]
    fn blocks_give_the_same_fit_and_influences_as_one_dense_regression() {
        let number = |at: usize| ((at * 7919 + 13) % 101) as f64 / 50.0 - 1.0;
        let (rank, shares, ratios) = (4, [0.5, 0.3, 0.2], (0.7, 1.9));
        let rows: Vec<Mat<f64>> = (0..3)
            .map(|block| Mat::from_fn(3 + block, rank, |row, at| number(100 * block + 10 * row + at)))
            .collect();
        let targets: Vec<Mat<f64>> = (0..3)
            .map(|block| Mat::from_fn(3 + block, 1, |row, _| number(1000 + 10 * block + row)))
            .collect();
        let decompositions: Vec<(Vec<f64>, Mat<f64>)> =
            rows.iter().map(|rows| eigen_of_gram(rows).expect("the matrix is finite")).collect();
        // The first block has fewer rows than coefficients.
        assert_eq!(decompositions[0].0.len(), 3);
        let level = Level::new(&decompositions, ratios.1, &shares).expect("the matrices are finite");
        let fitted = |targets: &[Mat<f64>]| {
            let sums = |(rows, targets): (&Mat<f64>, &Mat<f64>)| product(rows.transpose(), targets.as_ref());
            let products: Vec<Mat<f64>> = rows.iter().zip(targets).map(sums).collect();
            let mut shrinkage = Shrinkage::new(&level, &products, 10.0, 12).1;
            shrinkage.weights = vec![(1.0, ratios.0, 1.0)];
            shrinkage.inverse = level.eigenvalues.iter().map(|eta| 1.0 / (eta + ratios.0)).collect();
            let influences = level.influences(&shrinkage);
            (level.fit(&products, &shrinkage), influences)
        };
        let (fit, influences) = fitted(&targets);
        let expected = dense(&rows, &targets, ratios, &shares);
        for (at, expected) in expected.iter().enumerate() {
            assert!((fit.values[(at, 0)] - expected).abs() < 1e-10);
        }
        for block in 0..3 {
            let mut moved = targets.clone();
            moved[block][(1, 0)] += 1.0;
            let after = dense(&rows, &moved, ratios, &shares);
            let row = Mat::from_fn(rank, 1, |at, _| rows[block][(1, at)]);
            let influence = product(influences[block].values.as_ref(), row.as_ref());
            for (at, (after, before)) in after.iter().zip(&expected).enumerate() {
                assert!((influence[(at, 0)] - (after - before)).abs() < 1e-10);
            }
            // The influence of a target on its own fit.
            let fit_of = |fit: &Fit| product(row.transpose(), fit.coefficients[block].as_ref())[(0, 0)];
            let hat =
                product(product(row.transpose(), influences[block].smoother.as_ref()).as_ref(), row.as_ref());
            assert!((hat[(0, 0)] - (fit_of(&fitted(&moved).0) - fit_of(&fit))).abs() < 1e-10);
        }
    }
}
