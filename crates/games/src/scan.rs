//! A fast search for rare numbers in a slice.

/// Number of elements per block.
const BLOCK: usize = 64;

/// Returns the index of the first number that satisfies `wanted`, like `Iterator::position`. Blocks are
/// tested without branches, so that the search is vectorized while no number matches.
pub fn position(numbers: &[f64], wanted: impl Fn(f64) -> bool) -> Option<usize> {
    let in_block = numbers
        .chunks(BLOCK)
        .position(|block| block.iter().fold(false, |is_there, &number| is_there | wanted(number)))?;
    let rest = &numbers[in_block * BLOCK..];
    rest.iter().position(|&number| wanted(number)).map(|index| in_block * BLOCK + index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_found_wherever_it_is() {
        for length in [0, 1, 63, 64, 65, 127, 128, 200] {
            let mut numbers = vec![0.0; length];
            assert_eq!(position(&numbers, f64::is_nan), None);
            for at in (0..length).rev() {
                numbers[at] = f64::NAN;
                assert_eq!(position(&numbers, f64::is_nan), Some(at), "{length}");
            }
        }
    }
}
