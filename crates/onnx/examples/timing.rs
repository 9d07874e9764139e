//! Measures the time per row: `cargo run --release -p apportion-onnx --example timing -- NETWORK.onnx …`
//!
//! A single caller uses one thread of the runtime. Rows are predicted one by one, 64 at a time, and in calls
//! as large as the calls of a game. Prints the minimum of 30 repetitions in microseconds per row. All inputs
//! are zero, which does not affect the time of a dense network.

use std::time::Instant;

use apportion_games::{Model, Rows};
use apportion_onnx::{Network, OnnxError};

fn main() -> Result<(), OnnxError> {
    println!("{:>28} {:>8} {:>8} {:>16}", "µs per row", "single", "by 64", "as in a game");
    for path in std::env::args().skip(1) {
        let network = Network::from_path(&path)?;
        let features = network.feature_count();
        // A chunk of a game has at most 65536 cells.
        let most = network.rows_per_call().min((1 << 16) / features).max(1);
        let mut least = [f64::INFINITY; 3];
        for _ in 0..30 {
            for (count, least) in [1, 64, most].into_iter().zip(&mut least) {
                let rows = vec![0.0; count * features];
                let start = Instant::now();
                network.predictions(Rows::new(&rows, features))?;
                *least = least.min(start.elapsed().as_secs_f64() / count as f64 * 1e6);
            }
        }
        let name = path.rsplit('/').next().unwrap_or_default();
        println!("{name:>28} {:>8.2} {:>8.2} {:>8.2} by {most}", least[0], least[1], least[2]);
    }
    Ok(())
}
