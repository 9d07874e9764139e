//! What the kernels are given: models of the repository, rows that spread over their thresholds, coalitions
//! as estimators draw them.
//!
//! All of it is made before instructions are counted, and is the same in every run.

use std::path::Path;

use apportion::samplers::{FixedCounts, Order, Pairing, Sample, Sampler, SizeLaw};
use apportion::trees::Ensemble;

/// A model of the repository.
pub fn model(name: &str) -> Ensemble {
    one_thread();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/lab/data");
    Ensemble::from_path(folder.join(format!("{name}_xgb.json.gz"))).expect("a model in the repository")
}

/// Rows that spread over the model's thresholds.
pub fn rows(count: usize, features: usize) -> Vec<f64> {
    (0..count * features).map(|k| ((k as f64 * 0.618_033_988_75) % 1.0 - 0.5) * 4.0).collect()
}

/// Has all work done by the thread that instructions are counted in.
fn one_thread() {
    // Where the threads have been started already it was done here.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
}

/// Pairs of coalitions as Leverage SHAP draws them.
pub fn sample(players: usize, coalitions: usize) -> Sample {
    one_thread();
    let law = SizeLaw::leverage(players).expect("a legal number of players");
    FixedCounts { law, pairing: Pairing::Paired, order: Order::Fixed }
        .sample(coalitions, 1)
        .expect("a legal budget")
}
