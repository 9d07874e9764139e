//! Benchmarks of drawing coalitions.

use apportion::samplers::{
    Bernoulli, FixedCounts, Order, Pairing, Sampler, SizeDistribution, WithReplacement,
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn draws(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("draws");
    group.sample_size(10);
    for (players, rows) in [(100, 1_000), (100, 10_000), (1000, 10_000), (10_000, 20_000)] {
        let distribution = SizeDistribution::leverage(players).expect("a valid number of players");
        let pairing = Pairing::Paired;
        let samplers: [(&str, Box<dyn Sampler>); 3] = [
            (
                "bernoulli",
                Box::new(Bernoulli { distribution: distribution.clone(), pairing, order: Order::Fixed }),
            ),
            (
                "fixed-counts",
                Box::new(FixedCounts { distribution: distribution.clone(), pairing, order: Order::Fixed }),
            ),
            ("with-replacement", Box::new(WithReplacement { distribution, pairing })),
        ];
        group.throughput(Throughput::Elements(rows as u64));
        for (name, sampler) in samplers {
            group.bench_function(BenchmarkId::new(name, format!("n{players}_m{rows}")), |bencher| {
                bencher.iter(|| sampler.sample(rows, 1).expect("a valid budget"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, draws);
criterion_main!(benches);
