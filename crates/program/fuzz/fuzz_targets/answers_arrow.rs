//! Fuzzes the reader of programs' answers in the Arrow format.
//!
//! The reader is not public, so its source files are included here. It does not require a process, so a file
//! replaces the pipe.

#![no_main]
#![allow(dead_code, unreachable_pub, reason = "only the parts of these files that read answers are used")]

#[path = "../../src/answers.rs"]
mod answers;
mod check;
#[path = "../../src/error.rs"]
mod error;
#[path = "../../src/options.rs"]
mod options;
#[path = "../../src/process.rs"]
mod process;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(options::Format::Arrow, bytes));
