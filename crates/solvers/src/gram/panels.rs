//! Computes the Gram matrix by dense products of panels. Rows are unpacked to f64, one panel at a time, and
//! scaled by the square roots of their weights.

use apportion_games::Cancellation;
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, MatRef, Par};

use super::groups::Groups;
use crate::bits::{BitRows, masked, multiversioned};

/// The number of rows in a panel.
const PANEL: usize = 512;

/// Returns the upper triangle of `Σ_k w_k z_k z_kᵀ`; the entries below the diagonal are zero.
pub(super) fn upper_triangle(rows: &BitRows, groups: &Groups) -> Mat<f64> {
    let n = rows.players;
    let mut gram = Mat::zeros(n, n);
    let weighted: Vec<(u32, f64)> = groups
        .groups
        .iter()
        .flat_map(|group| {
            let root = group.weight.sqrt();
            groups.order[group.start..group.end].iter().map(move |&row| (row, root))
        })
        .collect();
    let mut panel = vec![0.0; PANEL.min(weighted.len()) * n];
    for rows_of_panel in weighted.chunks(PANEL) {
        Cancellation::check();
        let panel = &mut panel[..rows_of_panel.len() * n];
        for (&(row, root), values) in rows_of_panel.iter().zip(panel.chunks_exact_mut(n)) {
            unpack(rows.row(row as usize), root, values);
        }
        let panel = MatRef::from_row_major_slice(panel, rows_of_panel.len(), n);
        matmul(
            &mut gram,
            BlockStructure::TriangularUpper,
            Accum::Add,
            panel.transpose(),
            BlockStructure::Rectangular,
            panel,
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
    }
    gram
}

multiversioned! {
    /// Writes `value` for each bit that is set, and zero for all others.
    fn unpack(words: &[u64], value: f64, out: &mut [f64]) {
        for (word, out) in words.iter().zip(out.chunks_mut(64)) {
            for (bit, out) in out.iter_mut().enumerate() {
                *out = masked(word >> bit, value);
            }
        }
    }
}
