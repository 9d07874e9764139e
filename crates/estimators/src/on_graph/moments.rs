//! Cached moments of a semivalue.

use apportion_values::Semivalue;

/// A cache of the moments `M(a, b)`, which are expensive to compute for some semivalues.
pub(crate) struct Moments<'a> {
    semivalue: &'a Semivalue,
    /// M(a, b) at `[a][b]`; NaN if not computed yet.
    known: Vec<Vec<f64>>,
}

impl<'a> Moments<'a> {
    pub(crate) fn new(semivalue: &'a Semivalue) -> Self {
        Self { semivalue, known: Vec::new() }
    }

    /// Returns [`Semivalue::moment`] for `a` and `b`, which is computed once and cached.
    pub(crate) fn get(&mut self, a: usize, b: usize) -> f64 {
        if self.known.len() <= a {
            self.known.resize(a + 1, Vec::new());
        }
        let row = &mut self.known[a];
        if row.len() <= b {
            row.resize(b + 1, f64::NAN);
        }
        if row[b].is_nan() {
            row[b] = self.semivalue.moment(a, b);
        }
        row[b]
    }
}
