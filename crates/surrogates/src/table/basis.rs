//! The design of the regression, in a basis in which it has full rank. Symbols are as in
//! [`super::regression`].

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// The design in the basis of eigenvectors of Σ_z G_z.
pub(crate) struct Basis {
    /// √w_i a_i in the basis: pairs × rank.
    pub(crate) scaled: Mat<f64>,
    pub(crate) vectors: Mat<f64>,
    pub(crate) eigenvalues: Vec<f64>,
    /// The roots of the weights, normalized to the mean square 1.
    pub(crate) roots: Vec<f64>,
    /// The pairs of each background row; empty if δ_z is 0 for all rows.
    pub(crate) blocks: Vec<Vec<usize>>,
}

/// Returns the product of two matrices.
pub(crate) fn product(one: MatRef<'_, f64>, other: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(one.nrows(), other.ncols());
    matmul(&mut out, Accum::Replace, one, other, 1.0, Par::Seq);
    out
}

impl Basis {
    /// Returns the number of pairs.
    pub(crate) fn pairs(&self) -> usize {
        self.roots.len()
    }

    /// Returns the pairs of each background row, or of all rows together.
    pub(crate) fn groups(&self, pairs: usize) -> Vec<Vec<usize>> {
        if self.blocks.is_empty() { vec![(0..pairs).collect()] } else { self.blocks.clone() }
    }

    pub(crate) fn rows(&self, members: &[usize]) -> Mat<f64> {
        Mat::from_fn(members.len(), self.eigenvalues.len(), |row, at| self.scaled[(members[row], at)])
    }

    /// Returns the sums of targets times rows for each background row, or for all together.
    pub(crate) fn products(&self, targets: &[f64]) -> Vec<Mat<f64>> {
        let product_of = |members: &Vec<usize>| {
            let targets = Mat::from_fn(members.len(), 1, |row, _| targets[members[row]]);
            product(self.rows(members).transpose(), targets.as_ref())
        };
        self.groups(targets.len()).iter().map(product_of).collect()
    }
}
