//! A textbook implementation of the solver (the twin), with a dense matrix, a singular value decomposition,
//! and the definitions.

use apportion_games::Coalitions;
use faer::Mat;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A regression problem that owns its data. `weights` has one entry per row, or per pair whose rows share a
/// weight.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) coalitions: Coalitions,
    pub(crate) weights: Vec<f64>,
    pub(crate) paired: bool,
    /// Whether the rows of pairs have separate weights.
    pub(crate) apart: bool,
    pub(crate) columns: Columns,
    pub(crate) targets: Vec<f64>,
    pub(crate) outputs: usize,
    pub(crate) sums: Option<Vec<f64>>,
}

/// The columns of the regression, derived from the bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Columns {
    pub(crate) centre: f64,
    pub(crate) intercept: bool,
}

/// Plain bits.
pub(crate) const BITS: Columns = Columns { centre: 0.0, intercept: false };

impl Problem {
    /// Returns a problem with random rows, and with at most `distinct` distinct weights.
    pub(crate) fn random(players: usize, rows: usize, distinct: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut coalitions = Coalitions::new(players);
        for _ in 0..rows {
            let density = rng.random_range(0.1..0.9);
            coalitions.push_members((0..players).filter(|_| rng.random_bool(density)));
        }
        let weights =
            (0..rows).map(|_| 0.2 + rng.random_range(0..distinct) as f64 / distinct as f64).collect();
        let targets = (0..rows).map(|_| rng.random_range(-2.0..2.0)).collect();
        Self {
            coalitions,
            weights,
            paired: false,
            apart: false,
            columns: BITS,
            targets,
            outputs: 1,
            sums: None,
        }
    }

    /// Returns the problem with each row followed by its complement.
    pub(crate) fn with_complements(mut self) -> Self {
        let mut paired = Coalitions::new(self.coalitions.players());
        for (index, row) in self.coalitions.iter().enumerate() {
            paired.push(row);
            paired.push_complement(2 * index);
        }
        self.coalitions = paired;
        self.paired = true;
        self.with_outputs(1)
    }

    /// Returns the problem with the same pairs, and a weight for each row.
    pub(crate) fn with_weights_apart(mut self) -> Self {
        self.weights =
            self.weights.iter().flat_map(|&weight| [weight, 0.3 + 0.7 * weight * weight]).collect();
        self.apart = true;
        self
    }

    pub(crate) fn with_columns(mut self, centre: f64, intercept: bool) -> Self {
        self.columns = Columns { centre, intercept };
        self
    }

    /// Returns the problem with new random targets for `outputs` outputs.
    pub(crate) fn with_outputs(mut self, outputs: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(self.coalitions.len() as u64);
        self.targets = (0..self.coalitions.len() * outputs).map(|_| rng.random_range(-2.0..2.0)).collect();
        self.outputs = outputs;
        self
    }

    pub(crate) fn constrained(mut self) -> Self {
        self.sums = Some((0..self.outputs).map(|output| 1.5 - output as f64).collect());
        self
    }

    /// Returns the problem with the last two players always present together.
    pub(crate) fn with_twins(mut self) -> Self {
        let n = self.coalitions.players();
        let mut coalitions = Coalitions::new(n);
        for row in self.coalitions.iter() {
            let last = row.contains(n - 2);
            coalitions.push_members((0..n).filter(|&i| if i == n - 1 { last } else { row.contains(i) }));
        }
        self.coalitions = coalitions;
        self
    }

    pub(crate) fn design(&self) -> apportion_solvers::Design<'_> {
        use apportion_solvers::Design;
        let design = match (self.paired, self.apart) {
            (false, _) => Design::new(&self.coalitions, &self.weights),
            (true, false) => Design::paired(&self.coalitions, &self.weights),
            (true, true) => Design::paired_apart(&self.coalitions, &self.weights),
        };
        let design = design.unwrap().centred_at(self.columns.centre).unwrap();
        if self.columns.intercept { design.with_intercept() } else { design }
    }

    /// Returns whether each pair acts as one row of the regression.
    pub(crate) fn pairs_act_as_one_row(&self) -> bool {
        let Columns { centre, intercept } = self.columns;
        self.paired && !self.apart && (self.sums.is_some() || intercept || centre == 0.5)
    }

    /// Returns the rows of the design that were drawn together as unit `unit`.
    pub(crate) fn rows_of(&self, unit: usize) -> std::ops::Range<usize> {
        let rows = if self.paired { 2 } else { 1 };
        unit * rows..(unit + 1) * rows
    }

    pub(crate) fn units(&self) -> usize {
        self.coalitions.len() / self.rows_of(0).len()
    }

    /// Returns the problem without one unit.
    pub(crate) fn without(&self, unit: usize) -> Self {
        let mut left = self.clone();
        let own = left.weights.len() == left.coalitions.len();
        let indices = if own { self.rows_of(unit) } else { unit..unit + 1 };
        indices.for_each(|index| left.weights[index] = 0.0);
        left
    }

    pub(crate) fn constraint(&self) -> apportion_solvers::Constraint<'_> {
        use apportion_solvers::Constraint;
        self.sums.as_deref().map_or(Constraint::None, Constraint::Sum)
    }

    pub(crate) fn solve(&self) -> apportion_solvers::LeastSquares {
        apportion_solvers::least_squares(&self.design(), &self.targets, self.outputs, self.constraint())
            .unwrap()
    }

    pub(crate) fn row_weight(&self, row: usize) -> f64 {
        self.weights[if self.paired && !self.apart { row / 2 } else { row }]
    }

    fn total_weight(&self) -> f64 {
        (0..self.coalitions.len()).map(|row| self.row_weight(row)).sum()
    }

    fn bit(&self, row: usize, player: usize) -> f64 {
        f64::from(u8::from(self.coalitions.row(row).contains(player)))
    }

    /// Returns the weighted mean of `value` over the rows if there is an intercept; else 0.
    fn mean(&self, value: impl Fn(usize) -> f64) -> f64 {
        if !self.columns.intercept {
            return 0.0;
        }
        let sum: f64 = (0..self.coalitions.len()).map(|row| self.row_weight(row) * value(row)).sum();
        sum / self.total_weight()
    }
}

/// The solution by the singular values of √W A (under the constraint: of √W A N, where the columns of N are
/// an orthonormal basis of the vectors that sum to zero). The rows of A are `z − p 1`. If there is an
/// intercept, the weighted means of the rows and of the targets are subtracted.
pub(crate) struct Twin {
    /// The coefficients, n × k, row-major.
    pub(crate) coefficients: Vec<f64>,
    pub(crate) rank: usize,
    /// The condition number of the Gram matrix: the square of the ratio of singular values.
    pub(crate) condition: f64,
    /// The intercept of each output, which is 0 for problems without an intercept.
    pub(crate) intercepts: Vec<f64>,
    /// The hat value of each row of the design, without the intercept's share.
    pub(crate) hat_values: Vec<f64>,
    /// The part of each row's hat value that belongs to the intercept.
    pub(crate) intercept_shares: Vec<f64>,
    /// The matrix A, with the mean subtracted if there is an intercept.
    pub(crate) rows: Mat<f64>,
    /// The residual `y − β − aᵀφ` of each row of the design, m × k.
    pub(crate) residuals: Vec<f64>,
    pub(crate) sums_of_squares: Vec<f64>,
    /// The pseudoinverse `G⁺` of the Gram matrix, n × n.
    pub(crate) inverse: Mat<f64>,
}

impl Twin {
    /// Returns the contribution of `unit` to the coefficients, if the regression adapts to 1/`times` of it:
    /// `Σ_r G⁺ a_r √w_r ẽ_r` over its rows. Here `ẽ = (I − H/t)^(−1/2) √W e`, computed with eigenvalues,
    /// where H is the block of the hat matrix for these rows. The result is n × k.
    pub(crate) fn share_of(&self, problem: &Problem, unit: usize, times: f64) -> Vec<f64> {
        let (n, k, rows) = (self.inverse.nrows(), problem.outputs, problem.rows_of(unit));
        let first = rows.start;
        let root = |row: usize| problem.row_weight(row).sqrt();
        let images = Mat::from_fn(n, rows.len(), |i, r| {
            (0..n).map(|j| self.inverse[(i, j)] * self.rows[(first + r, j)]).sum::<f64>() * root(first + r)
        });
        let left = Mat::from_fn(rows.len(), rows.len(), |r, s| {
            let of_rows: f64 =
                (0..n).map(|i| root(first + r) * self.rows[(first + r, i)] * images[(i, s)]).sum();
            let of_intercept = if problem.columns.intercept {
                root(first + r) * root(first + s) / problem.total_weight()
            } else {
                0.0
            };
            f64::from(u8::from(r == s)) - (of_rows + of_intercept) / times
        });
        let eigen = left.self_adjoint_eigen(faer::Side::Lower).unwrap();
        let (u, values) = (eigen.U(), eigen.S().column_vector());
        let divided = Mat::from_fn(rows.len(), rows.len(), |r, j| u[(r, j)] / values[j].sqrt());
        let residuals = Mat::from_fn(rows.len(), k, |r, output| {
            root(first + r) * self.residuals[(first + r) * k + output]
        });
        let shares = images * (divided * (u.transpose() * residuals));
        (0..n * k).map(|index| shares[(index / k, index % k)]).collect()
    }
}

pub(crate) fn solve(problem: &Problem) -> Twin {
    let (m, n) = (problem.coalitions.len(), problem.coalitions.players());
    let k = problem.outputs;
    let basis = match problem.sums {
        None => Mat::identity(n, n),
        Some(_) => helmert(n),
    };
    let share = |output: usize| problem.sums.as_ref().map_or(0.0, |sums| sums[output] / n as f64);
    let root = |row: usize| problem.row_weight(row).sqrt();
    let column_means: Vec<f64> =
        (0..n).map(|i| problem.mean(|row| problem.bit(row, i) - problem.columns.centre)).collect();
    let rows = Mat::from_fn(m, n, |row, i| problem.bit(row, i) - problem.columns.centre - column_means[i]);
    let plain = Mat::from_fn(m, n, |row, i| root(row) * rows[(row, i)]);
    let scaled = &plain * &basis;
    let target_means: Vec<f64> =
        (0..k).map(|output| problem.mean(|row| problem.targets[row * k + output])).collect();
    let right = Mat::from_fn(m, k, |row, output| {
        let size = problem.coalitions.row(row).size() as f64;
        root(row) * (problem.targets[row * k + output] - target_means[output] - size * share(output))
    });
    let svd = scaled.thin_svd().unwrap();
    let singular: Vec<f64> = svd.S().column_vector().iter().copied().collect();
    let largest = singular.first().copied().unwrap_or(0.0);
    // Singular values that become zero in the basis, or by subtracting the mean, have the size of the
    // rounding errors of the rows.
    let rank =
        singular.iter().filter(|&&value| value > 1e-9 * largest.max(problem.total_weight().sqrt())).count();
    let (u, v) = (svd.U().subcols(0, rank), svd.V().subcols(0, rank));
    let divided = |power: i32| Mat::from_fn(v.nrows(), rank, |i, j| v[(i, j)] / singular[j].powi(power));
    let solution = &basis * (divided(1) * (u.transpose() * right));
    let inverse = &basis * (divided(2) * v.transpose()) * basis.transpose();

    let coefficients: Vec<f64> =
        (0..n * k).map(|index| solution[(index / k, index % k)] + share(index % k)).collect();
    let residuals: Vec<f64> = (0..m * k)
        .map(|index| {
            let (row, output) = (index / k, index % k);
            let fitted: f64 = (0..n).map(|i| rows[(row, i)] * coefficients[i * k + output]).sum();
            problem.targets[index] - target_means[output] - fitted
        })
        .collect();
    let of_means =
        |output: usize| -> f64 { (0..n).map(|i| column_means[i] * coefficients[i * k + output]).sum() };
    let intercepts = (0..k).map(|output| target_means[output] - of_means(output)).collect();
    let intercept_share = |row: usize| problem.row_weight(row) / problem.total_weight();
    let intercept_shares =
        (0..m).map(|row| if problem.columns.intercept { intercept_share(row) } else { 0.0 }).collect();
    let sums_of_squares = (0..k)
        .map(|output| (0..m).map(|row| problem.row_weight(row) * residuals[row * k + output].powi(2)).sum())
        .collect();
    let hat_values = (0..m).map(|row| (0..rank).map(|j| u[(row, j)].powi(2)).sum()).collect();
    let condition = if rank == 0 { 1.0 } else { (largest / singular[rank - 1]).powi(2) };
    Twin {
        coefficients,
        rank,
        condition,
        intercepts,
        hat_values,
        intercept_shares,
        rows,
        residuals,
        sums_of_squares,
        inverse,
    }
}

/// Returns orthonormal columns that sum to zero, n × (n − 1).
fn helmert(n: usize) -> Mat<f64> {
    Mat::from_fn(n, n - 1, |i, j| {
        let length = ((j + 1) as f64 * (j + 2) as f64).sqrt();
        match i {
            _ if i <= j => 1.0 / length,
            _ if i == j + 1 => -((j + 1) as f64) / length,
            _ => 0.0,
        }
    })
}

/// Checks that every number equals the expected one to within `tolerance`.
pub(crate) fn assert_close(got: &[f64], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (index, (got, want)) in got.iter().zip(want).enumerate() {
        assert!((got - want).abs() <= tolerance, "{what}, entry {index}: {got} instead of {want}");
    }
}

pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| value.abs().max(largest))
}

/// Returns a generator of random words.
pub(crate) fn words(seed: u64) -> impl FnMut() -> u64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    move || rng.next_u64()
}
