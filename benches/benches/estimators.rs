//! Benchmarks of the estimators with a game of negligible cost.

use apportion::Method;
use apportion_benches::{FreeGame, estimator};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn overhead(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("overhead");
    group.sample_size(10);
    for (players, budget) in [(100, 1_000), (100, 10_000), (1000, 10_000)] {
        for method in Method::all() {
            let Some(estimator) = estimator(method, players) else { continue };
            let game = FreeGame { players };
            let id = BenchmarkId::new(method.name(), format!("n{players}_m{budget}"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| estimator.estimate(&game, budget, 1).expect("the game cannot fail"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, overhead);
criterion_main!(benches);
