//! Answers of programs as lines of text.
//!
//! The reader is no public part of its crate, and no process is needed for it: its sources are read here, and
//! a file takes the place of the pipe.

#![no_main]
#![allow(dead_code, unreachable_pub, reason = "of the sources only what reads answers is used")]

#[path = "../../src/answers.rs"]
mod answers;
mod check;
#[path = "../../src/error.rs"]
mod error;
#[path = "../../src/options.rs"]
mod options;
#[path = "../../src/process.rs"]
mod process;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(options::Format::Csv, bytes));
