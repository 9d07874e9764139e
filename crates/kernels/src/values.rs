//! The values of players as sums over centres and background rows.

use crate::average::Lane;
use crate::layout::Layout;
use crate::sums::Terms;

impl Terms for Layout {
    fn layout(&self) -> &Layout {
        self
    }

    fn targets(&self) -> usize {
        self.players.len()
    }

    fn memory(&self) -> usize {
        Self::memory(self)
    }

    fn add(&self, factors: (&[Lane], &[Lane]), weight: f64, memory: &mut [Lane], sums: &mut [Lane]) {
        add_values(self, factors, weight, memory, sums);
    }
}

/// Calls [`Layout::add_values`], compiled for several instruction sets.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn add_values(
    layout: &Layout,
    factors: (&[Lane], &[Lane]),
    weight: f64,
    memory: &mut [Lane],
    sums: &mut [Lane],
) {
    layout.add_values(factors, weight, memory, sums);
}
