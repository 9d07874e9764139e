//! The moments of a semivalue, tabulated.

use apportion_values::Semivalue;

/// Up to this many path features the moments are tabulated (half a megabyte); beyond, they are computed when asked for.
const MOST: usize = 256;

/// `M(a, b)` of a semivalue for `a + b` up to a limit.
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    value: Semivalue,
    side: usize,
    table: Vec<f64>,
}

impl Moments {
    pub(crate) fn new(value: Semivalue, most: usize) -> Self {
        let side = most.min(MOST) + 1;
        let mut table = vec![0.0; side * side];
        for a in 0..side {
            for b in 0..side - a {
                table[a * side + b] = value.moment(a, b);
            }
        }
        Self { value, side, table }
    }

    /// `M(a, b)`.
    #[inline]
    pub(crate) fn get(&self, a: usize, b: usize) -> f64 {
        if a + b < self.side { self.table[a * self.side + b] } else { self.value.moment(a, b) }
    }

    /// What a leaf of value 1 with `own` features that only the explicand satisfies and `rest` that only the background row
    /// satisfies gives to each of the former, and takes from each of the latter: `M(own − 1, rest)` and `M(own, rest − 1)`, 0
    /// where there are none.
    #[inline]
    pub(crate) fn shares(&self, own: usize, rest: usize) -> (f64, f64) {
        let gain = if own > 0 { self.get(own - 1, rest) } else { 0.0 };
        let loss = if rest > 0 { self.get(own, rest - 1) } else { 0.0 };
        (gain, loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_beyond_the_table_are_those_of_the_semivalue() {
        let moments = Moments::new(Semivalue::Shapley, 1000);
        for (a, b) in [(0, 0), (3, 5), (256, 0), (0, 256), (256, 1), (400, 2)] {
            assert_eq!(moments.get(a, b), Semivalue::Shapley.moment(a, b), "M({a}, {b})");
        }
        assert_eq!(Moments::new(Semivalue::Banzhaf, 0).get(0, 0), 1.0);
    }
}
