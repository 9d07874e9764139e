//! Fuzzes neural networks in ONNX files.

#![no_main]

use std::panic::set_hook;
use std::sync::Once;

use apportion_games::Rows;
use apportion_onnx::Network;

/// Maximum features × outputs for which rows are predicted: a few bytes can declare a million features.
const MAX_COLUMNS: usize = 4096;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tell_own_panics();
    let Ok(network) = Network::from_bytes(bytes) else { return };
    let (features, outputs) = (network.feature_count(), network.output_count());
    if features.saturating_mul(outputs) > MAX_COLUMNS {
        return;
    }
    let rows: Vec<f64> = (0..3 * features).map(|place| [0.0, 1.0, 2.0, 0.0, 3.0][place % 5]).collect();
    let Ok(together) = network.predictions(Rows::new(&rows, features)) else { return };
    assert_eq!(together.len(), 3 * outputs);
    for (row, together) in rows.chunks(features).zip(together.chunks(outputs)) {
        let alone =
            network.predictions(Rows::new(row, features)).expect("a row that was predicted among others");
        assert!(alone == together, "other outputs alone than among others");
    }
});

/// Installs a hook that aborts the process on panics in this crate. The crate converts panics of the runtime
/// to errors, but must not hide its own panics.
fn tell_own_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_hook(Box::new(|panic| {
            let file = panic.location().map_or("", |location| location.file());
            if !file.contains("/registry/") {
                eprintln!("{panic}");
                std::process::abort();
            }
        }));
    });
}
