//! Weighted least squares on bit-packed rows: the two Gram kernels, and the certificate.

use apportion::samplers::{FixedCounts, Pairing, Sampler, SizeLaw};
use apportion::solvers::{Constraint, Design, Kernel, Options, least_squares_with};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn solve(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("least-squares");
    group.sample_size(10);
    for (players, rows) in [(20, 2_000), (100, 1_000), (100, 10_000), (1000, 10_000)] {
        let law = SizeLaw::leverage(players).expect("a legal number of players");
        let sample = FixedCounts { law, pairing: Pairing::Paired }.sample(rows, 1).expect("a legal budget");
        let coalitions = sample.coalitions();
        let sizes = coalitions.sizes().iter().step_by(2).map(|&size| size as usize);
        let weights: Vec<f64> = sizes.map(|size| 1.0 / (size * (players - size)) as f64).collect();
        let targets: Vec<f64> = coalitions.sizes().iter().map(|&size| f64::from(size).sqrt()).collect();
        let design = Design::paired(coalitions, &weights).expect("a sample of pairs");
        let free = vec![1.0; weights.len()];
        let total = [(players as f64).sqrt()];
        for (name, kernel) in [("panels", Kernel::Panels), ("popcount", Kernel::Popcount)] {
            let options = Options { kernel };
            let id = BenchmarkId::new(name, format!("n{players}_m{rows}"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    least_squares_with(&design, &targets, 1, Constraint::Sum(&total), &options)
                        .expect("solvable")
                });
            });
        }
        let options = Options::default();
        let fit =
            least_squares_with(&design, &targets, 1, Constraint::Sum(&total), &options).expect("solvable");
        group.bench_function(BenchmarkId::new("certificate", format!("n{players}_m{rows}")), |bencher| {
            bencher.iter(|| fit.certificate(&free).expect("enough rows"));
        });
    }
    group.finish();
}

criterion_group!(benches, solve);
criterion_main!(benches);
