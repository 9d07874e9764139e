//! What a row costs: `cargo run --release -p apportion-onnx --example timing -- NETWORK.onnx …`
//!
//! One caller, so one thread of the runtime; chunks of 64 rows as a game sends them, and all rows at once. Prints the least of 30
//! repetitions, in microseconds per row. Rows are zeros, as good as any for a dense network.

use std::time::Instant;

use apportion_games::Rows;
use apportion_onnx::{Network, OnnxError};

const ROWS: usize = 4096;

fn main() -> Result<(), OnnxError> {
    println!("{:>28} {:>8} {:>8}", "µs per row", "by 64", "at once");
    for path in std::env::args().skip(1) {
        let network = Network::from_path(&path)?;
        let features = network.feature_count();
        let rows = vec![0.0; ROWS * features];
        let mut least = [f64::INFINITY; 2];
        for _ in 0..30 {
            for (chunk, least) in [64, ROWS].into_iter().zip(&mut least) {
                let start = Instant::now();
                for rows in rows.chunks(chunk * features) {
                    network.predictions(Rows::new(rows, features))?;
                }
                *least = least.min(start.elapsed().as_secs_f64() / ROWS as f64 * 1e6);
            }
        }
        let name = path.rsplit('/').next().unwrap_or_default();
        println!("{name:>28} {:>8.2} {:>8.2}", least[0], least[1]);
    }
    Ok(())
}
