//! Moments of a semivalue, each computed once.

use apportion_values::Semivalue;

/// Remembers `M(a, b)`, which some semivalues take long to tell.
pub(crate) struct Moments<'a> {
    semivalue: &'a Semivalue,
    /// M(a, b) at `[a][b]`; NaN where it was not asked for yet.
    known: Vec<Vec<f64>>,
}

impl<'a> Moments<'a> {
    pub(crate) fn new(semivalue: &'a Semivalue) -> Self {
        Self { semivalue, known: Vec::new() }
    }

    /// [`Semivalue::moment`].
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
