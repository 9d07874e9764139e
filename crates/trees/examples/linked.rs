//! Times exact values of outputs after the link function, for backgrounds of 1, 10 and 100 rows: `cargo run
//! --release -p apportion-trees --example linked -- MODEL ROWS`. ROWS is a file of little-endian doubles, row
//! by row.

use std::time::Instant;

use apportion_games::Rows;
use apportion_trees::{Ensemble, Exact, LinkedTreeExplainer};
use apportion_values::Semivalue;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, rows] = &arguments[..] else { return Err("expected a model file and a file of rows".into()) };
    let ensemble = Ensemble::from_path(model)?;
    let values: Vec<f64> = std::fs::read(rows)?
        .chunks_exact(8)
        .filter_map(|bytes| Some(f64::from_le_bytes(bytes.try_into().ok()?)))
        .collect();
    let rows = Rows::new(&values, ensemble.feature_count());
    for size in [1, 10, 100] {
        let tree_explainer =
            LinkedTreeExplainer::new(&ensemble, rows.slice(rows.len() - size..rows.len()), None)?;
        let explained = rows.slice(0..rows.len().min(20_000 / (size + 100)).min(rows.len() - size));
        let start = Instant::now();
        let answer = tree_explainer.values(Semivalue::Shapley, explained)?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{size} background rows: {:.1} µs per row (first value {:.6})",
            seconds * 1e6 / explained.len() as f64,
            answer.values[0]
        );
    }
    Ok(())
}
