//! Benchmarks of the tree methods on the models in the repository, in rows per second. The method for the
//! marginal game is run with one baseline and with 100 background rows. The path-dependent method is run for
//! values whose quadrature rule has many nodes or a single one, and for many rows or a single one. Both
//! methods are also run for Owen values.

use std::path::Path;

use apportion::games::Rows;
use apportion::trees::{Ensemble, Exact, MarginalTreeExplainer, PathDependentTreeExplainer};
use apportion::{Partition, Semivalue, Value};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Returns rows whose values are spread over the model's thresholds.
fn rows(count: usize, features: usize) -> Vec<f64> {
    (0..count * features).map(|k| ((k as f64 * 0.618_033_988_75) % 1.0 - 0.5) * 4.0).collect()
}

fn model(name: &str) -> Ensemble {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../xtask/lab/data");
    Ensemble::from_path(folder.join(format!("{name}_xgb.json.gz"))).expect("a model in the repository")
}

const MODELS: [&str; 3] = ["iris", "diabetes", "correlated60"];

fn interventional(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("marginal-tree-explainer");
    group.sample_size(10);
    for name in MODELS {
        let ensemble = model(name);
        let features = ensemble.feature_count();
        let explicands = rows(1000, features);
        for background in [1, 100] {
            let others = rows(background, features);
            let id = BenchmarkId::new(name, format!("1000rows_{background}background"));
            group.throughput(Throughput::Elements(1000));
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    let tree_explainer =
                        MarginalTreeExplainer::new(&ensemble, Rows::new(&others, features), None)
                            .expect("a valid background");
                    tree_explainer
                        .values(Semivalue::Shapley, Rows::new(&explicands, features))
                        .expect("valid rows")
                });
            });
        }
    }
    group.finish();
}

fn path_dependent(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("path-dependent-tree-explainer");
    group.sample_size(10);
    for name in MODELS {
        let ensemble = model(name);
        let features = ensemble.feature_count();
        let explicands = rows(1000, features);
        let tree_explainer = PathDependentTreeExplainer::new(&ensemble).expect("a model with covers");
        for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
            for count in [1, 1000] {
                let rows = Rows::new(&explicands[..count * features], features);
                group.throughput(Throughput::Elements(count as u64));
                group.bench_function(BenchmarkId::new(name, format!("{value}_{count}rows")), |bencher| {
                    bencher.iter(|| tree_explainer.values(value.clone(), rows).expect("valid rows"));
                });
            }
        }
    }
    group.finish();
}

/// Benchmarks Owen values for groups of about five features, with one baseline and with the training cover.
fn groups(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("owen-values");
    group.sample_size(10).throughput(Throughput::Elements(1000));
    for name in MODELS {
        let ensemble = model(name);
        let features = ensemble.feature_count();
        let explicands = rows(1000, features);
        let explicands = Rows::new(&explicands, features);
        let baseline = rows(1, features);
        let members =
            (0..features.div_ceil(5)).map(|first| (first..features).step_by(features.div_ceil(5)).collect());
        let partition = Partition::new(features, members.collect()).expect("all features in groups");
        let interventional = MarginalTreeExplainer::new(&ensemble, Rows::new(&baseline, features), None)
            .expect("a valid background");
        group.bench_function(BenchmarkId::new(name, "baseline"), |bencher| {
            bencher.iter(|| {
                interventional.values(Value::owen(partition.clone()), explicands).expect("valid rows")
            });
        });
        let path_dependent = PathDependentTreeExplainer::new(&ensemble).expect("a model with covers");
        group.bench_function(BenchmarkId::new(name, "path-dependent"), |bencher| {
            bencher.iter(|| {
                path_dependent.values(Value::owen(partition.clone()), explicands).expect("valid rows")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, interventional, path_dependent, groups);
criterion_main!(benches);
