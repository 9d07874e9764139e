//! Tests of `apportion-datafusion` in DataFusion itself. DataFusion takes many minutes to build, so these
//! tests only run for releases. The tests of the crate itself call its functions as the engine does.
