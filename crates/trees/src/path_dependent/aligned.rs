//! Aligned memory for vector instructions: a load of eight numbers that crosses a cache line costs as much as
//! two.

use std::ops::{Deref, DerefMut};

/// The size of a cache line, and of the widest vector, in bytes.
const LINE: usize = 64;

/// A sequence of arrays of `R` numbers of eight bytes each; the first array is aligned to a cache line.
pub(super) struct Aligned<T, const R: usize> {
    numbers: Vec<T>,
    /// The index of the first number of the first array.
    start: usize,
    count: usize,
}

impl<T: Copy, const R: usize> Aligned<T, R> {
    /// Allocates `count` arrays, filled with `number`.
    pub(super) fn new(number: T, count: usize) -> Self {
        let spare = const { LINE / size_of::<T>() - 1 };
        let numbers = vec![number; count * R + spare];
        // `align_offset` may fail and return `usize::MAX`. Any offset is correct; alignment only affects
        // speed.
        let start = numbers.as_ptr().align_offset(LINE).min(spare);
        Self { numbers, start, count }
    }
}

impl<T, const R: usize> Deref for Aligned<T, R> {
    type Target = [[T; R]];

    #[inline(always)]
    fn deref(&self) -> &[[T; R]] {
        self.numbers[self.start..][..self.count * R].as_chunks().0
    }
}

impl<T, const R: usize> DerefMut for Aligned<T, R> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [[T; R]] {
        self.numbers[self.start..][..self.count * R].as_chunks_mut().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_begin_lines_and_are_as_many_as_asked_for() {
        for count in [0, 1, 7] {
            let mut arrays = Aligned::<f64, 8>::new(3.0, count);
            assert_eq!(arrays.len(), count);
            assert!(arrays.iter().all(|array| array.as_ptr().addr() % LINE == 0 && *array == [3.0; 8]));
            arrays.fill([1.0; 8]);
            assert!(arrays.iter().flatten().all(|&number| number == 1.0));
        }
    }
}
