//! Quadrature rules for mixing measures.
//!
//! # Notation
//!
//! μ is a probability measure on \[0,1\], and p_k are its orthonormal polynomials. They satisfy
//! `√b_{k+1} p_{k+1}(t) = (t − a_k) p_k(t) − √b_k p_{k−1}(t)` with p_0 = 1.
//!
//! # Method
//!
//! The Gauss rule with Q nodes integrates every polynomial of degree 2Q − 1 exactly. Its nodes are the
//! eigenvalues of the symmetric tridiagonal matrix with diagonal a_0 … a_{Q−1} and off-diagonal √b_1 …
//! √b_{Q−1} (Golub and Welsch, 1969), computed here by bisection with Sturm counts. The weights are the
//! Christoffel numbers `1 / Σ_{k<Q} p_k(t)²`. The recurrence has a closed form for Beta distributions (Jacobi
//! polynomials) and is computed by the Lanczos method for atoms.

/// A quadrature rule with nodes t_q and weights w_q: `∫ f dμ ≈ Σ_q w_q f(t_q)`. The nodes are increasing and
/// inside \[0, 1\]; the weights are positive and sum to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    presence: Vec<f64>,
    absence: Vec<f64>,
    weights: Vec<f64>,
}

impl Rule {
    /// Returns the nodes t_q, which are probabilities of presence.
    pub fn presence(&self) -> &[f64] {
        &self.presence
    }

    /// Returns 1 − t_q for each node. It is computed separately, so that it is accurate even if t_q is close
    /// to 1.
    pub fn absence(&self) -> &[f64] {
        &self.absence
    }

    /// Returns the weights w_q.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns the number of nodes.
    #[allow(clippy::len_without_is_empty, reason = "a rule has at least one node")]
    pub fn len(&self) -> usize {
        self.presence.len()
    }

    /// Creates the rule for a measure with all mass at one point.
    pub(crate) fn point(t: f64) -> Self {
        Self { presence: vec![t], absence: vec![1.0 - t], weights: vec![1.0] }
    }

    /// Creates the Gauss rule of the distribution Beta(a, b), whose density is proportional to t^(a−1)
    /// (1−t)^(b−1). The rule is exact up to degree 2 `nodes` − 1. Beta(1, 1) yields the Gauss-Legendre rule.
    ///
    /// A distribution whose standard deviation is below 1e-11 times the distances of its mean from 0 and from
    /// 1 is replaced by a point mass at the mean. Its first moment about this point is zero, and the second
    /// contributes less than `degree² · 1e-22`.
    pub(crate) fn gauss_jacobi(nodes: usize, a: f64, b: f64) -> Self {
        let c = a + b;
        // Compare the variance with the squared mean, and with the square of 1 − mean.
        if (b / a) / (c + 1.0) < 1e-22 && (a / b) / (c + 1.0) < 1e-22 {
            return Self { presence: vec![a / c], absence: vec![b / c], weights: vec![1.0] };
        }
        Self::gauss(&Recurrence::jacobi(nodes, a, b), &Recurrence::jacobi(nodes, b, a))
    }

    /// Creates the rule whose nodes are the atoms themselves. If the Gauss rule for their measure has fewer
    /// nodes, creates that rule instead.
    pub(crate) fn of_atoms(points: &[f64], weights: &[f64], nodes: usize) -> Self {
        let mut atoms: Vec<(f64, f64)> =
            points.iter().copied().zip(weights.iter().copied()).filter(|&(_, weight)| weight > 0.0).collect();
        atoms.sort_by(|one, other| one.0.total_cmp(&other.0));
        atoms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        if atoms.len() <= nodes {
            let (presence, weights): (Vec<f64>, Vec<f64>) = atoms.into_iter().unzip();
            let absence = presence.iter().map(|t| 1.0 - t).collect();
            return Self { presence, absence, weights };
        }
        let mirrored: Vec<(f64, f64)> = atoms.iter().map(|&(t, weight)| (1.0 - t, weight)).collect();
        Self::gauss(&Recurrence::of_atoms(&atoms, nodes), &Recurrence::of_atoms(&mirrored, nodes))
    }

    /// Creates the Gauss rule from the recurrence of the measure and from the recurrence of the mirrored
    /// measure.
    fn gauss(recurrence: &Recurrence, mirrored: &Recurrence) -> Self {
        let presence = recurrence.nodes();
        let mut absence = mirrored.nodes();
        absence.reverse();
        // The recurrence from the nearer end of [0, 1] is more accurate.
        let christoffel = |(&t, &u): (&f64, &f64)| {
            if t <= u { recurrence.christoffel_number(t) } else { mirrored.christoffel_number(u) }
        };
        let mut weights: Vec<f64> = presence.iter().zip(&absence).map(christoffel).collect();
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        Self { presence, absence, weights }
    }
}

/// The recurrence of the orthonormal polynomials of a measure: a_0 … a_{Q−1} and √b_1 … √b_{Q−1}.
struct Recurrence {
    diagonal: Vec<f64>,
    off_diagonal: Vec<f64>,
}

impl Recurrence {
    /// Returns the recurrence of Beta(a, b): Jacobi polynomials with exponents a − 1 at 0 and b − 1 at 1,
    /// mapped from \[−1, 1\] to \[0, 1\]. With c = a + b and g = 2k − 2 + c,
    ///
    /// ```text
    /// a_0 = a / c     a_k = (2 (k − 1)(k + c) + 2 b + a c) / (g (g + 2))
    /// b_1 = a b / (c² (c + 1))     b_k = k (k − 2 + c)(k − 1 + a)(k − 1 + b) / ((g − 1) g² (g + 1))
    /// ```
    ///
    /// Nearly equal numbers are never subtracted, and quotients are computed before products. Therefore the
    /// result is accurate for parameters of any size.
    fn jacobi(nodes: usize, a: f64, b: f64) -> Self {
        let c = a + b;
        let diagonal = |k: usize| {
            let before = k as f64 - 1.0;
            let g = 2.0 * before + c;
            match k {
                0 => a / c,
                _ => (2.0 * (before / g) * (before + 1.0 + c) + 2.0 * (b / g) + a * (c / g)) / (g + 2.0),
            }
        };
        let off_diagonal = |k: usize| {
            let before = k as f64 - 1.0;
            let g = 2.0 * before + c;
            // For k = 1, the factor k − 2 + c cancels with g − 1.
            let first = if k == 1 { 1.0 } else { k as f64 * ((before - 1.0 + c) / (g - 1.0)) };
            (first * ((before + a) / g) * ((before + b) / g) / (g + 1.0)).sqrt()
        };
        Self {
            diagonal: (0..nodes).map(diagonal).collect(),
            off_diagonal: (1..nodes).map(off_diagonal).collect(),
        }
    }

    /// Returns the recurrence for a measure of more than `nodes` atoms, by the Lanczos method. The matrix is
    /// the diagonal matrix of the points, and the start vector is √w; two passes of full reorthogonalization
    /// are made.
    fn of_atoms(atoms: &[(f64, f64)], nodes: usize) -> Self {
        let norm = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        let scaled = |vector: &[f64], factor: f64| vector.iter().map(|x| x * factor).collect::<Vec<f64>>();
        let start: Vec<f64> = atoms.iter().map(|atom| atom.1.sqrt()).collect();
        let mut basis = vec![scaled(&start, norm(&start).recip())];
        let (mut diagonal, mut off_diagonal) = (Vec::new(), Vec::new());
        loop {
            let last = &basis[basis.len() - 1];
            let mut next: Vec<f64> = last.iter().zip(atoms).map(|(x, atom)| x * atom.0).collect();
            diagonal.push(last.iter().zip(&next).map(|(x, y)| x * y).sum());
            if diagonal.len() == nodes {
                return Self { diagonal, off_diagonal };
            }
            for earlier in basis.iter().chain(&basis) {
                let common: f64 = earlier.iter().zip(&next).map(|(x, y)| x * y).sum();
                next.iter_mut().zip(earlier).for_each(|(y, x)| *y -= common * x);
            }
            let length = norm(&next);
            off_diagonal.push(length);
            basis.push(scaled(&next, length.recip()));
        }
    }

    /// Returns the eigenvalues in increasing order; all of them are inside (0, 1).
    fn nodes(&self) -> Vec<f64> {
        let node = |index: usize| {
            let (mut low, mut high) = (0.0_f64, 1.0_f64);
            loop {
                let middle = 0.5 * (low + high);
                if middle <= low || middle >= high || high - low < f64::EPSILON * low {
                    return middle;
                }
                if self.eigenvalues_below(middle) > index { high = middle } else { low = middle }
            }
        };
        (0..self.diagonal.len()).map(node).collect()
    }

    /// Returns the number of eigenvalues below `t`: by Sylvester's law of inertia, the number of negative
    /// pivots of the matrix minus `t`.
    fn eigenvalues_below(&self, t: f64) -> usize {
        pivots(self.diagonal.iter().map(|diagonal| diagonal - t), self.off_diagonal.iter())
            .filter(|pivot| *pivot < 0.0)
            .count()
    }

    /// Returns the Christoffel number `1 / Σ_k p_k(t)²` of a node t: the squared first entry of the
    /// normalized eigenvector (p_0(t), …, p_{Q−1}(t)). The vector is computed outwards from its largest
    /// entry, which the pivots from both ends determine (the twisted factorization of Parlett and Dhillon).
    /// The recurrence from one end alone may be unstable.
    fn christoffel_number(&self, t: f64) -> f64 {
        let shifted = || self.diagonal.iter().map(|diagonal| diagonal - t);
        let down: Vec<f64> = pivots(shifted(), self.off_diagonal.iter()).collect();
        let mut up: Vec<f64> = pivots(shifted().rev(), self.off_diagonal.iter().rev()).collect();
        up.reverse();
        let gaps =
            down.iter().zip(&up).zip(shifted()).map(|((down, up), diagonal)| (down + up - diagonal).abs());
        let twist = gaps.enumerate().min_by(|one, other| one.1.total_cmp(&other.1)).map_or(0, |(k, _)| k);
        let (mut sum, mut entry) = (1.0, 1.0);
        for k in (0..twist).rev() {
            entry *= -self.off_diagonal[k] / down[k];
            sum += entry * entry;
        }
        let first = entry * entry;
        entry = 1.0;
        for (off, pivot) in self.off_diagonal[twist..].iter().zip(&up[twist + 1..]) {
            entry *= -off / pivot;
            sum += entry * entry;
        }
        first / sum
    }
}

/// Returns the pivots of a symmetric tridiagonal matrix, starting with its first row.
fn pivots<'a>(
    diagonal: impl Iterator<Item = f64>,
    off_diagonal: impl Iterator<Item = &'a f64>,
) -> impl Iterator<Item = f64> {
    let mut last = 1.0;
    diagonal.zip(std::iter::once(&0.0).chain(off_diagonal)).map(move |(diagonal, off)| {
        let pivot: f64 = diagonal - off * (off / last);
        // Treat an exact zero as a tiny negative number, so that the next pivot is finite.
        last = if pivot == 0.0 { -f64::MIN_POSITIVE } else { pivot };
        last
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_legendre_nodes_are_those_of_the_books() {
        let rule = Rule::gauss_jacobi(3, 1.0, 1.0);
        let offset = 0.5 * (3.0_f64 / 5.0).sqrt();
        for (got, want) in rule.presence().iter().zip([0.5 - offset, 0.5, 0.5 + offset]) {
            assert!((got - want).abs() < 1e-15, "{got} {want}");
        }
        for (got, want) in rule.weights().iter().zip([5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0]) {
            assert!((got - want).abs() < 1e-15, "{got} {want}");
        }
    }

    #[test]
    fn presence_and_absence_are_complements_and_nodes_increase() {
        for (a, b) in [(1.0, 1.0), (0.5, 0.5), (16.0, 1.0), (0.01, 300.0), (1.0, 2.0)] {
            for nodes in [1, 2, 5, 46, 100, 125] {
                let rule = Rule::gauss_jacobi(nodes, a, b);
                assert_eq!(rule.len(), nodes);
                assert!(rule.presence().windows(2).all(|pair| pair[0] < pair[1]), "{a} {b} {nodes}");
                for (t, u) in rule.presence().iter().zip(rule.absence()) {
                    assert!((t + u - 1.0).abs() < 4e-16 && *t > 0.0 && *u > 0.0, "{a} {b} {nodes}: {t} {u}");
                }
                assert!(rule.weights().iter().all(|weight| *weight > 0.0));
            }
        }
    }

    #[test]
    fn rules_of_beta_laws_with_parameters_of_any_legal_size_have_their_mean_and_variance() {
        let parameters =
            [1e-100, 1e-40, 1e-17, 1e-9, 0.1, 1.0, 3.0, 1e9, 1e17, 1e20, 1e21, 1e22, 1e23, 1e40, 1e100];
        for (a, b) in parameters.into_iter().flat_map(|a| parameters.map(|b| (a, b))) {
            for nodes in [1, 2, 3, 8, 46] {
                let rule = Rule::gauss_jacobi(nodes, a, b);
                let mean_of = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
                    let ends = rule.presence().iter().zip(rule.absence());
                    ends.zip(rule.weights()).map(|((&t, &u), weight)| weight * f(t, u)).sum()
                };
                let c = a + b;
                for (got, want) in [(mean_of(&|t, _| t), a / c), (mean_of(&|_, u| u), b / c)] {
                    assert!((got - want).abs() < 1e-14, "{a:e} {b:e} {nodes}: mean {got} {want}");
                }
                if nodes > 1 {
                    let (got, want) = (mean_of(&|t, u| t * u), (a / c) * (b / c) * (c / (c + 1.0)));
                    assert!((got - want).abs() < 1e-14, "{a:e} {b:e} {nodes}: {got} {want}");
                }
            }
        }
    }

    #[test]
    fn many_atoms_give_a_gauss_rule_and_few_atoms_themselves() {
        let points: Vec<f64> = (0..40).map(|k| (k as f64 / 39.0).powi(2)).collect();
        let weights: Vec<f64> = (0..40).map(|k| (k + 1) as f64 / 820.0).collect();
        for nodes in [1, 3, 10, 39] {
            let rule = Rule::of_atoms(&points, &weights, nodes);
            assert_eq!(rule.len(), nodes);
            for degree in 0..2 * nodes {
                let exact: f64 = points.iter().zip(&weights).map(|(t, w)| w * t.powi(degree as i32)).sum();
                let got: f64 =
                    rule.presence().iter().zip(rule.weights()).map(|(t, w)| w * t.powi(degree as i32)).sum();
                assert!((got - exact).abs() < 1e-14, "{nodes} nodes, degree {degree}: {got} {exact}");
            }
        }
        assert_eq!(Rule::of_atoms(&points, &weights, 40).presence(), points);
        let twice = Rule::of_atoms(&[0.7, 0.2, 0.7, 0.4], &[0.25, 0.5, 0.25, 0.0], 3);
        assert_eq!((twice.presence(), twice.weights()), (&[0.2, 0.7][..], &[0.5, 0.5][..]));
    }
}
