//! Fuzzes compiled backgrounds. The checksum is corrected, so that the contents are parsed.

#![no_main]

use std::sync::{LazyLock, Once};

use apportion_games::Rows;
use apportion_trees::{CompiledBackground, Ensemble, Exact, MarginalTreeExplainer};
use apportion_values::Semivalue;
use sha2::{Digest, Sha256};

static MODEL: LazyLock<Ensemble> = LazyLock::new(|| {
    Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json")).expect("a valid model")
});

/// Runs everything on the calling thread, whose stack and time libFuzzer watches.
fn use_one_thread() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build_global()
            .expect("no pool yet");
    });
}

/// Checks that reading does not panic, and that a background that was read explains a row.
fn check(bytes: &[u8]) {
    let Ok(background) = CompiledBackground::read(bytes, &MODEL) else { return };
    let again = background.to_bytes();
    assert!(again == bytes, "there is one way to write a background");
    let tree_explainer =
        MarginalTreeExplainer::from_compiled(&*MODEL, background).expect("compiled for this model");
    let rows = vec![1.0; MODEL.feature_count()];
    tree_explainer
        .values(Semivalue::Shapley, Rows::new(&rows, rows.len()))
        .expect("a row of the right width");
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    use_one_thread();
    check(bytes);
    // The header of a file for this model, followed by the bytes to test.
    let mut sealed = b"APPBGRND".to_vec();
    sealed.extend([1, 0, 0, 0, bytes.first().map_or(0, |byte| byte & 1), 0, 0, 0]);
    let mut compiler = apportion_trees::BackgroundCompiler::new(&MODEL).expect("short paths");
    compiler
        .add(Rows::new(&vec![0.0; MODEL.feature_count()], MODEL.feature_count()), None)
        .expect("a valid row");
    sealed.extend(compiler.finish().expect("one row").fingerprint());
    sealed.extend(bytes);
    let checksum = Sha256::digest(&sealed);
    sealed.extend(checksum);
    check(&sealed);
});
