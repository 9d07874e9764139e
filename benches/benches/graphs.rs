//! Benchmarks of graph values with a game of negligible cost: the time to enumerate the coalitions and sum up
//! the values.

use std::sync::Arc;

use apportion::estimators::OnGraph;
use apportion::games::{Adjacency, Graph};
use apportion_benches::FreeGame;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn values(criterion: &mut Criterion) {
    let line = Arc::new(Graph::line(1000));
    let digit = Arc::new(Graph::grid(28, 28, Adjacency::Four));
    let mut group = criterion.benchmark_group("on_graph");
    group.sample_size(10);
    for (name, graph, value) in [
        ("line_1000", &line, "l-shapley=2"),
        ("line_1000", &line, "c-shapley=2"),
        ("line_1000", &line, "c-shapley=20"),
        ("line_1000", &line, "myerson"),
        ("grid_28x28", &digit, "l-shapley=1"),
        ("grid_28x28", &digit, "l-shapley=2"),
        ("grid_28x28", &digit, "c-shapley=2"),
        ("grid_28x28", &digit, "c-shapley=2,printed"),
    ] {
        let estimator = OnGraph::new(Arc::clone(graph), value.parse().expect("it is a value"));
        let game = FreeGame { players: graph.nodes() };
        group.bench_function(BenchmarkId::new(value, name), |bencher| {
            bencher.iter(|| estimator.values(&game).expect("the game cannot fail"));
        });
    }
    group.finish();
}

criterion_group!(benches, values);
criterion_main!(benches);
