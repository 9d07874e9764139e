//! Measures the CPU time of the estimators themselves: one thread, a game of negligible cost.
//!
//! Prints one JSON line per (method, n, m): the minimum of several runs, and the peak memory of the process
//! so far. Usage: `overhead [METHOD] [N M]…`, with n players and m evaluations. The default is Leverage SHAP
//! and Kernel Banzhaf with 100 to 10,000 players. Each method estimates the first of Shapley, Banzhaf and
//! Owen values (groups of ten) that it supports, including standard errors.

use apportion::Method;
use apportion::estimators::methods;
use apportion_benches::{FreeGame, estimator, peak_memory_mib};
use cpu_time::ProcessTime;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let named = arguments.next_if(|argument| argument.parse::<usize>().is_err());
    let methods = match named {
        Some(name) => vec![name.parse()?],
        None => vec![
            Method::By(&methods::LEVERAGE_SHAP),
            Method::By(&methods::KERNEL_BANZHAF),
            Method::By(&methods::KERNEL_BANZHAF_WITHOUT_REPLACEMENT),
        ],
    };
    let numbers: Vec<usize> = arguments.map(|text| text.parse()).collect::<Result<_, _>>()?;
    let sizes: Vec<(usize, usize)> = if numbers.is_empty() {
        vec![(100, 1_000), (100, 10_000), (1000, 10_000), (1000, 20_000), (1000, 100_000), (10_000, 100_000)]
    } else {
        numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
    };
    methods.into_iter().try_for_each(|method| measure(method, &sizes))
}

fn measure(method: Method, sizes: &[(usize, usize)]) -> Result<(), Box<dyn std::error::Error>> {
    for &(players, budget) in sizes {
        let Some(estimator) = estimator(method, players) else {
            return Err(format!("{method} is not an estimator").into());
        };
        let game = FreeGame { players };
        let runs =
            (20_000_000 / (players * budget)).clamp(if players * budget > 500_000_000 { 1 } else { 3 }, 200);
        let mut least = f64::INFINITY;
        for seed in 0..runs {
            let start = ProcessTime::now();
            let explanation = estimator.estimate(&game, budget, seed as u64)?;
            least = least.min(start.elapsed().as_secs_f64());
            assert!(explanation.values.iter().all(|value| value.is_finite()));
        }
        println!(
            r#"{{"method":"{method}","n":{players},"m":{budget},"cpu_s":{least:.6},"peak_mib":{}}}"#,
            peak_memory_mib().map_or("null".to_owned(), |mib| format!("{mib:.1}"))
        );
    }
    Ok(())
}
