//! Eigenvalues of the Hessian of F (section 4.2; appendix 8.1), computed from F itself.

use super::theory::weights;

/// Eigenvalues of the Hessian of `F(φ) = Σ_S w_S (y_S − x·φ)²`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spectrum {
    /// Eigenvalue for all n − 1 directions along the plane Σφ = c.
    pub(super) along: f64,
    /// Eigenvalue for the direction orthogonal to this plane.
    pub(super) across: f64,
}

impl Spectrum {
    /// Computes the eigenvalues for `players` (two or more). The formulas apply to Hessians of the form
    /// `(a − b) I + b J`; for any other Hessian, the eigenvalues are NaN.
    ///
    /// F is quadratic, so its second differences are the entries of its Hessian. The values y do not matter
    /// and are set to 0.
    pub(super) fn new(players: usize) -> Self {
        let weights = weights(players);
        let f = |point: &[f64]| -> f64 {
            let of_mask = |mask: usize| {
                let fitted: f64 =
                    (0..players).filter(|player| mask >> player & 1 == 1).map(|player| point[player]).sum();
                weights[mask.count_ones() as usize] * fitted.powi(2)
            };
            (1..(1_usize << players) - 1).map(of_mask).sum()
        };
        let at = |moved: &[usize]| {
            let mut point = vec![0.0; players];
            moved.iter().for_each(|&player| point[player] += 1.0);
            f(&point)
        };
        let entry = |i: usize, j: usize| at(&[i, j]) - at(&[i]) - at(&[j]) + at(&[]);
        let (a, b) = (entry(0, 0), entry(0, 1));
        let pairs = (0..players).flat_map(|i| (0..players).map(move |j| (i, j)));
        let is_of_form =
            pairs.into_iter().all(|(i, j)| (entry(i, j) - if i == j { a } else { b }).abs() < 1e-12);
        if !is_of_form {
            return Self { along: f64::NAN, across: f64::NAN };
        }
        Self { along: a - b, across: a + (players - 1) as f64 * b }
    }

    pub(super) fn smallest(self) -> f64 {
        self.along.min(self.across)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::squared_norm;

    /// Returns `uᵀ H u`, with H defined as `2 Σ_S w_S x xᵀ`.
    fn form(players: usize, direction: &[f64]) -> f64 {
        let weights = weights(players);
        (1..(1_usize << players) - 1)
            .map(|mask| {
                let along: f64 = (0..players).filter(|i| mask >> i & 1 == 1).map(|i| direction[i]).sum();
                2.0 * weights[mask.count_ones() as usize] * along * along
            })
            .sum()
    }

    #[test]
    fn eigenvalues_are_those_of_the_quadratic_form() {
        for players in 2..8 {
            let spectrum = Spectrum::new(players);
            for last in 1..players {
                let mut direction = vec![0.0; players];
                direction[..last].fill(1.0);
                direction[last] = -(last as f64);
                let ratio = form(players, &direction) / squared_norm(&direction);
                assert!((ratio - spectrum.along).abs() < 1e-11, "{players}: {ratio} {}", spectrum.along);
            }
            let ones = vec![1.0; players];
            assert!((form(players, &ones) / players as f64 - spectrum.across).abs() < 1e-11);
            assert!((spectrum.smallest() - 2.0 * (1.0 - 1.0 / players as f64)).abs() < 1e-11);
        }
    }
}
