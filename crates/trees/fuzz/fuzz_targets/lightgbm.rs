//! Fuzzes LightGBM models as text.

#![no_main]

mod check;
mod texts;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));

libfuzzer_sys::fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| {
    texts::mutate(bytes, size, most, seed)
});
