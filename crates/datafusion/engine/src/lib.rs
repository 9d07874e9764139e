//! Tests of `apportion-datafusion` in DataFusion itself, which takes many minutes to build: `cargo xtask release` runs
//! them. The tests of the crate itself call its functions as the engine does.
