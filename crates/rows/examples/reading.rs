//! Measures the time of reading rows from files:
//!
//! ```text
//! cargo run --release -p apportion-rows --features columnar --example reading -- FILE…
//! ```
//!
//! `tests/fixtures/tables.py --big DIRECTORY` writes files of 100,000 rows × 30 features. Prints the median
//! time of seven runs, and the throughput in megabytes of f64 per second.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use apportion_rows::{RowOptions, Source};

fn main() -> Result<(), Box<dyn Error>> {
    for file in std::env::args().skip(1) {
        let mut times = Vec::new();
        let mut bytes = 0;
        for _ in 0..7 {
            let started = Instant::now();
            let table = Source::open(Path::new(&file))?.read(&RowOptions::default())?;
            times.push(started.elapsed().as_secs_f64());
            bytes = 8 * table.values.len();
        }
        times.sort_by(f64::total_cmp);
        println!("{file}: {:.3} s, {:.0} MB/s", times[3], bytes as f64 / 1e6 / times[3]);
    }
    Ok(())
}
