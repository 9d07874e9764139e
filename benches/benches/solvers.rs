//! Benchmarks of weighted least squares on bit-packed rows drawn as in Leverage SHAP and Kernel Banzhaf: the
//! two Gram kernels, and the certificate.

use apportion::samplers::{FixedCounts, Order, Pairing, Sampler, SizeDistribution, WithReplacement};
use apportion::solvers::{Constraint, Design, Kernel, Options, least_squares_with};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};

type Group<'a> = BenchmarkGroup<'a, WallTime>;

fn solve(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("least-squares");
    group.sample_size(10);
    for (players, rows) in [(20, 2_000), (100, 1_000), (100, 10_000), (1000, 10_000)] {
        let distribution = SizeDistribution::leverage(players).expect("a valid number of players");
        let sample = FixedCounts { distribution, pairing: Pairing::Paired, order: Order::Fixed }
            .sample(rows, 1)
            .expect("a valid budget");
        let sizes = sample.coalitions().sizes().iter().step_by(2).map(|&size| size as usize);
        let weights: Vec<f64> = sizes.map(|size| 1.0 / (size * (players - size)) as f64).collect();
        let design = Design::paired(sample.coalitions(), &weights).expect("a sample of pairs");
        let total = [(players as f64).sqrt()];
        compare(&mut group, "shapley", &design, Constraint::Sum(&total));

        let distribution = SizeDistribution::binomial(players).expect("a valid number of players");
        let sample = WithReplacement { distribution, pairing: Pairing::Paired }
            .sample(rows, 1)
            .expect("a valid budget");
        let weights = vec![1.0; sample.coalitions().len() / 2];
        let design = Design::paired(sample.coalitions(), &weights).and_then(|design| design.centred_at(0.5));
        let design = design.expect("a sample of pairs").with_intercept();
        compare(&mut group, "banzhaf", &design, Constraint::None);
    }
    group.finish();
}

fn compare(group: &mut Group<'_>, value: &str, design: &Design<'_>, constraint: Constraint<'_>) {
    let coalitions = design.coalitions();
    let size = format!("n{}_m{}", coalitions.players(), coalitions.len());
    let targets: Vec<f64> = coalitions.sizes().iter().map(|&size| f64::from(size).sqrt()).collect();
    let free = vec![1.0; design.weights().len()];
    let solve =
        |kernel| least_squares_with(design, &targets, 1, constraint, &Options { kernel }).expect("solvable");
    for (name, kernel) in [("panels", Kernel::Panels), ("popcount", Kernel::Popcount)] {
        let id = BenchmarkId::new(format!("{value}/{name}"), &size);
        group.bench_function(id, |bencher| bencher.iter(|| solve(kernel)));
    }
    let fit = solve(Kernel::Auto);
    group.bench_function(BenchmarkId::new(format!("{value}/certificate"), &size), |bencher| {
        bencher.iter(|| fit.certificate(&free).expect("enough rows"));
    });
}

criterion_group!(benches, solve);
criterion_main!(benches);
