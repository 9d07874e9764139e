//! Measures the time per row near a reference:
//! `cargo run --release -p apportion-onnx --example near -- NETWORK.onnx …`
//!
//! The reference is random noise. Each row differs from it in all channels of some pixels of a 5 × 5 window
//! at a random position. In the column `all` of the output, all pixels of the image change. Uses one thread,
//! with 256 rows per call, as in a game. Prints the minimum of 30 repetitions in microseconds per row, the
//! time that the runtime takes for whole rows, and the largest difference between both predictions, relative
//! to the largest output.

use std::time::Instant;

use apportion_games::{BoxError, Changes, Model, Rows};
use apportion_onnx::Network;

const ROWS: usize = 256;
const PIXELS: [usize; 5] = [1, 4, 13, 25, usize::MAX];

/// Returns a generator of numbers in [0, 1), the same in every run (SplitMix64).
fn uniform() -> impl FnMut() -> f64 {
    let mut state = 1_u64;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Returns the indices of `count` pixels of a window at a random position, or of all pixels if `count`
/// exceeds the 25 pixels of the window.
fn pixels(count: usize, height: usize, width: usize, uniform: &mut impl FnMut() -> f64) -> Vec<usize> {
    if count > 25 {
        return (0..height * width).collect();
    }
    let mut below = |end: usize| (uniform() * end as f64) as usize;
    let (top, left) = (below(height.saturating_sub(4).max(1)), below(width.saturating_sub(4).max(1)));
    let mut places: Vec<usize> =
        (0..25).map(|i| (top + i / 5).min(height - 1) * width + (left + i % 5).min(width - 1)).collect();
    places.sort_unstable();
    places.dedup();
    while places.len() > count {
        places.remove(below(places.len()));
    }
    places
}

fn main() -> Result<(), BoxError> {
    println!(
        "{:>22} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "µs per row; pixels", 1, 4, 13, 25, "all", "runtime"
    );
    for path in std::env::args().skip(1) {
        let network = Network::from_path(&path)?;
        let (features, outputs) = (network.feature_count(), network.output_count());
        let name = path.rsplit('/').next().unwrap_or_default();
        let mut uniform = uniform();
        let reference: Vec<f64> = (0..features).map(|_| uniform()).collect();
        let &[channels, height, width] = network.row_shape() else {
            println!("{name:>22} does not take images");
            continue;
        };
        let Some(near) = network.near(&reference) else {
            println!("{name:>22} can only be run as a whole");
            continue;
        };
        print!("{name:>22}");
        let (mut largest, mut worst, mut runtime) = (0.0_f64, 0.0_f64, f64::INFINITY);
        for count in PIXELS {
            let (mut changes, mut rows) = (Changes::new(), Vec::new());
            for _ in 0..ROWS {
                let mut changed = Vec::new();
                let pixels = pixels(count, height, width, &mut uniform);
                for channel in 0..channels {
                    changed.extend(pixels.iter().map(|pixel| (channel * height * width + pixel, uniform())));
                }
                let mut row = reference.clone();
                changed.iter().for_each(|&(feature, value)| row[feature] = value);
                rows.extend(row);
                changes.push(changed);
            }
            let (mut out, mut least) = (vec![0.0; ROWS * outputs], f64::INFINITY);
            for _ in 0..30 {
                let start = Instant::now();
                near.predict(&changes, &mut out)?;
                least = least.min(start.elapsed().as_secs_f64());
            }
            let start = Instant::now();
            let wanted = network.predictions(Rows::new(&rows, features))?;
            runtime = runtime.min(start.elapsed().as_secs_f64());
            for (got, wanted) in out.iter().zip(wanted) {
                (largest, worst) = (largest.max(wanted.abs()), worst.max((got - wanted).abs()));
            }
            print!(" {:>8.2}", least / ROWS as f64 * 1e6);
        }
        let most = near.max_changes();
        println!(
            " {:>8.2}  difference {:.1e}, used for up to {most} changed features",
            runtime / ROWS as f64 * 1e6,
            worst / largest
        );
    }
    Ok(())
}
