//! Tests of `apportion-datafusion` in DataFusion itself, which takes many minutes to build, so they only run
//! for releases. The tests of the crate itself call its functions as the engine does.
