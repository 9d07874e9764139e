//! Applies links to whole columns of margins.

use apportion_models::Link;

/// Transforms margins to outputs in place. `columns` has `size` margins of each output, one output after the
/// other. There are several outputs only if the link mixes them.
pub(super) fn apply(link: Link, columns: &mut [f64], size: usize) {
    if columns.len() == size && !link.mixes() {
        columns.iter_mut().for_each(|margin| link.apply(std::slice::from_mut(margin)));
        return;
    }
    let mut margins = vec![0.0; columns.len() / size];
    for row in 0..size {
        for (margin, column) in margins.iter_mut().zip(columns.chunks_exact(size)) {
            *margin = column[row];
        }
        link.apply(&mut margins);
        for (output, column) in margins.iter().zip(columns.chunks_exact_mut(size)) {
            column[row] = *output;
        }
    }
}
