//! A search in many numbers for one that is rarely there.

/// Numbers that are looked at together.
const BLOCK: usize = 64;

/// The index of the first number that is `wanted`, as `Iterator::position` finds it. Numbers are looked at in blocks without a branch for
/// each, so that a pass over many of which none is wanted takes wide instructions.
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
