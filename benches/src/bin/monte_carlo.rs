//! Compares Monte Carlo estimators: their errors at the same number of evaluations, and their CPU time.
//!
//! `monte_carlo errors [N…]` prints one JSON line for each game, number of players n and budget, with 40
//! seeds: the mean squared error of each method, summed over the players, divided by the error of antithetic
//! permutations. `monte_carlo time [N M]…` prints the CPU time (the minimum of several runs) of optimized
//! Monte Carlo on a game of negligible cost with one thread, and the peak memory of the process so far.

use apportion::estimators::{Allocation, MonteCarlo, OptimizedMonteCarlo, Orders, StratifiedMonteCarlo};
use apportion::games::{Airport, ClosedForm, SumOfUnanimity, WeightedVoting};
use apportion::{Estimator, Semivalue};
use apportion_benches::{FreeGame, peak_memory_mib};
use cpu_time::ProcessTime;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<usize> = arguments.iter().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    match arguments.first().map(String::as_str) {
        Some("errors") if numbers.is_empty() => errors(&[10, 20, 30]),
        Some("errors") => errors(&numbers),
        Some("time") if numbers.is_empty() => time(&[100, 100_000, 1000, 100_000]),
        Some("time") if numbers.len().is_multiple_of(2) => time(&numbers),
        _ => Err("expected `errors [N…]` or `time [N M]…`".into()),
    }
}

const SEEDS: u64 = 40;

fn errors(sizes: &[usize]) -> Result<(), Box<dyn std::error::Error>> {
    let orders = |orders| OptimizedMonteCarlo::default().with_orders(orders);
    let stratified = StratifiedMonteCarlo::new(Semivalue::Shapley);
    let methods: [Box<dyn Estimator>; 6] = [
        Box::new(orders(Orders::Antithetic)),
        Box::new(orders(Orders::Independent)),
        Box::new(orders(Orders::Balanced)),
        Box::new(MonteCarlo::new(Semivalue::Shapley)),
        Box::new(stratified.clone().with_allocation(Allocation::Equal)),
        Box::new(stratified),
    ];
    for &n in sizes {
        let costs: Vec<f64> = (1..=n).map(|cost| (cost * cost) as f64).collect();
        let weights: Vec<u64> = (1..=n as u64).collect();
        let games: [(&str, Box<dyn ClosedForm>); 5] = [
            ("interactions of up to 3", Box::new(SumOfUnanimity::random(n, 5 * n, 3, 1))),
            ("interactions of up to 8", Box::new(SumOfUnanimity::random(n, 5 * n, 8.min(n), 2))),
            ("interactions of a few players", Box::new(few_players(n)?)),
            ("airport", Box::new(Airport::new(costs)?)),
            ("weighted voting", Box::new(WeightedVoting::new(weights.iter().sum::<u64>() / 2 + 1, weights)?)),
        ];
        for (name, game) in &games {
            let truth = game.shapley();
            for budget in [2 * n * n, 8 * n * n, 32 * n * n, 128 * n * n] {
                if n < 25 && budget >= 1 << n {
                    continue;
                }
                let mean = |method: &dyn Estimator| -> Result<f64, Box<dyn std::error::Error>> {
                    let mut sum = 0.0;
                    for seed in 0..SEEDS {
                        let got = method.estimate(&**game, budget, seed)?.values;
                        sum += got.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
                    }
                    Ok(sum / SEEDS as f64)
                };
                let reference = mean(&*methods[0])?;
                for method in &methods[1..] {
                    println!(
                        r#"{{"game":"{name}","n":{n},"m":{budget},"method":"{}","over_antithetic":{:.3}}}"#,
                        method.name(),
                        mean(&**method)? / reference
                    );
                }
            }
        }
    }
    Ok(())
}

/// Creates a game with interactions among the first third of the players; the others are dummy players.
fn few_players(n: usize) -> Result<SumOfUnanimity, Box<dyn std::error::Error>> {
    let active = (n / 3).max(2);
    let drawn = SumOfUnanimity::random(active, 5 * active, 4.min(active), 3);
    let terms: Vec<Vec<usize>> = drawn.terms().iter().map(|term| term.members().collect()).collect();
    Ok(SumOfUnanimity::new(n, 0.0, terms.into_iter().zip(drawn.coefficients().iter().copied()))?)
}

fn time(numbers: &[usize]) -> Result<(), Box<dyn std::error::Error>> {
    for pair in numbers.chunks_exact(2) {
        let (players, budget) = (pair[0], pair[1]);
        let game = FreeGame { players };
        let mut least = f64::INFINITY;
        for seed in 0..10 {
            let start = ProcessTime::now();
            let explanation = OptimizedMonteCarlo::default().estimate(&game, budget, seed)?;
            least = least.min(start.elapsed().as_secs_f64());
            assert!(explanation.values.iter().all(|value| value.is_finite()));
        }
        print!(r#"{{"method":"optimized-monte-carlo","n":{players},"m":{budget},"#);
        println!(
            r#""cpu_s":{least:.6},"peak_mib":{}}}"#,
            peak_memory_mib().map_or("null".to_owned(), |mib| format!("{mib:.1}"))
        );
    }
    Ok(())
}
