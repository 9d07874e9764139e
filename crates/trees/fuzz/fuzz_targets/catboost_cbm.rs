//! Fuzzes CatBoost models in their binary format.

#![no_main]

mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
