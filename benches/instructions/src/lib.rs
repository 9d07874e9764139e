//! Inputs of the kernels: models in the repository, rows spread over their thresholds, and coalitions drawn
//! as in the estimators.
//!
//! All inputs are created before instructions are counted, and are the same in every run.

use std::path::Path;

use apportion::samplers::{FixedCounts, Order, Pairing, Sample, Sampler, SizeDistribution};
use apportion::trees::Ensemble;

/// Reads a model in the repository.
pub fn model(name: &str) -> Ensemble {
    one_thread();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/lab/data");
    Ensemble::from_path(folder.join(format!("{name}_xgb.json.gz"))).expect("a model in the repository")
}

/// Returns rows whose values are spread over the model's thresholds.
pub fn rows(count: usize, features: usize) -> Vec<f64> {
    (0..count * features).map(|k| ((k as f64 * 0.618_033_988_75) % 1.0 - 0.5) * 4.0).collect()
}

/// Makes the current thread do all work, because only its instructions are counted.
fn one_thread() {
    // Ignore the error of a second call: the pool exists already.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
}

/// Draws pairs of coalitions as in Leverage SHAP.
pub fn sample(players: usize, coalitions: usize) -> Sample {
    one_thread();
    let distribution = SizeDistribution::leverage(players).expect("a valid number of players");
    FixedCounts { distribution, pairing: Pairing::Paired, order: Order::Fixed }
        .sample(coalitions, 1)
        .expect("a valid budget")
}
