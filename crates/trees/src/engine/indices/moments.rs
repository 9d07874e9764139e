//! The moments of an index, tabulated.

use apportion_values::IndexWeights;

/// The tabulated moments `M_k(a, b)`, for k up to the order and `k + a + b` up to the maximum number of
/// players of a leaf.
#[derive(Debug)]
pub(crate) struct IndexMoments {
    side: usize,
    table: Vec<f64>,
}

impl IndexMoments {
    /// Tabulates the moments for leaves of up to `max_width` players.
    pub(crate) fn new(weights: &IndexWeights, max_width: usize) -> Self {
        let side = max_width + 1;
        let order = weights.order().min(max_width);
        let mut table = vec![0.0; (order + 1) * side * side];
        for size in 0..=order {
            for a in 0..=max_width - size {
                for b in 0..=max_width - size - a {
                    table[(size * side + a) * side + b] = weights.moment(size, a, b);
                }
            }
        }
        Self { side, table }
    }

    /// Returns `M_k(a, b)` with k = `size`.
    #[inline]
    pub(crate) fn get(&self, size: usize, a: usize, b: usize) -> f64 {
        self.table[(size * self.side + a) * self.side + b]
    }
}

/// Writes the indices of the game `[E, R]`, defined [above](super), for coalitions K by the number of members
/// from E and from R: `(−1)^{|K∩R|} M_k(|E∖K|, |R∖K|)` at `|K∩E| (s+1) + |K∩R|`, where `own` = |E|,
/// `rest` = |R|, s = `order`, and `moment(k, a, b)` returns M_k(a, b).
pub(crate) fn of_product(
    (own, rest): (usize, usize),
    order: usize,
    moment: impl Fn(usize, usize, usize) -> f64,
    out: &mut Vec<f64>,
) {
    out.clear();
    for of_own in 0..=order {
        for of_rest in 0..=order {
            let fits = of_own <= own && of_rest <= rest && of_own + of_rest <= order;
            let sign = if of_rest.is_multiple_of(2) { 1.0 } else { -1.0 };
            out.push(match fits {
                true => sign * moment(of_own + of_rest, own - of_own, rest - of_rest),
                false => 0.0,
            });
        }
    }
}
