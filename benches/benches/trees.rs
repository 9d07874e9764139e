//! The tree oracle on the models in the repository: rows per second against one baseline and against 100 background rows.

use std::path::Path;

use apportion::Semivalue;
use apportion::games::Rows;
use apportion::trees::{Ensemble, InterventionalOracle};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Rows that spread over the model's thresholds.
fn rows(count: usize, features: usize) -> Vec<f64> {
    (0..count * features).map(|k| ((k as f64 * 0.618_033_988_75) % 1.0 - 0.5) * 4.0).collect()
}

fn oracle(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("interventional-oracle");
    group.sample_size(10);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../xtask/data");
    for name in ["iris", "diabetes", "correlated60"] {
        let path = folder.join(format!("{name}_xgb.json.gz"));
        let ensemble = Ensemble::from_path(&path).expect("a model in the repository");
        let features = ensemble.feature_count();
        let explicands = rows(1000, features);
        for background in [1, 100] {
            let others = rows(background, features);
            let id = BenchmarkId::new(name, format!("1000rows_{background}background"));
            group.throughput(Throughput::Elements(1000));
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    let oracle = InterventionalOracle::new(&ensemble, Rows::new(&others, features), None)
                        .expect("a legal background");
                    oracle.values(Semivalue::Shapley, Rows::new(&explicands, features)).expect("legal rows")
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, oracle);
criterion_main!(benches);
