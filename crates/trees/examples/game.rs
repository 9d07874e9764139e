//! Times the path-dependent game: microseconds per coalition for the row of zeros, in batches of 100 000, on
//! one thread.
//!
//! `cargo run --release -p apportion-trees --example game -- MODEL...`

use std::time::Instant;

use apportion_games::{Coalitions, Game};
use apportion_trees::{Ensemble, PathDependentGame};

const COALITIONS: usize = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for path in std::env::args().skip(1) {
        let model = Ensemble::from_path(&path)?;
        let players = model.feature_count();
        let game = PathDependentGame::new(&model, &vec![0.0; players])?;
        let mut batch = Coalitions::new(players);
        // Every player is in about half of the coalitions. The time does not depend on which ones.
        for index in 0..COALITIONS {
            batch.push_members((0..players).filter(|player| (index * 7919 + player * 104_729) % 1009 < 505));
        }
        let mut values = vec![0.0; COALITIONS * game.outputs()];
        let mut least = f64::INFINITY;
        for _ in 0..5 {
            let start = Instant::now();
            pool.install(|| game.values(&batch, &mut values))?;
            least = least.min(start.elapsed().as_secs_f64());
        }
        let micros = least * 1e6 / COALITIONS as f64;
        let (trees, depth, leaves) = (model.tree_count(), model.depth(), model.leaf_count());
        println!("{path}: {trees} trees, depth {depth}, {leaves} leaves: {micros:.3} µs per coalition");
    }
    Ok(())
}
