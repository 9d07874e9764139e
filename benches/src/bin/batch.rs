//! Measures wall time, CPU time and memory of explaining many rows of a neural network with Leverage SHAP.
//!
//! Prints one JSON line. It contains a digest of the explanations, which is the same for any number of
//! threads. Usage:
//! `batch MODEL.onnx TABLE.csv [--threads T] [--rows R] [--background B] [--per-player K]`. The defaults are
//! 1 thread, the first 1000 rows of the table, 50 background rows spread evenly over the whole table, and 10
//! evaluations per player. The features are the first columns of the table; the columns after them, such as a
//! target, are ignored. Each run is a separate process, so that its peak memory can be measured.

use std::time::Instant;

use apportion::estimators::methods;
use apportion::games::Rows;
use apportion::{Background, Budget, Explainer, Explanation, Method};
use apportion_benches::{option, peak_memory_mib};
use apportion_onnx::Network;
use cpu_time::ProcessTime;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut number = |name: &str, default: usize| -> Result<usize, Failure> {
        Ok(option(&mut arguments, name)?.map_or(Ok(default), |text| text.parse())?)
    };
    let threads = number("--threads", 1)?;
    let most = number("--rows", 1000)?;
    let background = number("--background", 50)?;
    let per_player = number("--per-player", 10)?;
    let [model, table] = &arguments[..] else { return Err("expected a model file and a table".into()) };

    let network = Network::from_path(model)?;
    let features = network.feature_count();
    let table = read(table, features)?;
    let table = Rows::new(&table, features);
    let spread =
        (0..background).flat_map(|index| table.row(index * table.len() / background).iter().copied());
    let explainer = Explainer::new(&network, Background::rows(spread.collect::<Vec<_>>(), features)?)
        .method(Method::By(&methods::LEVERAGE_SHAP))
        .budget(Budget::PerPlayer(per_player));
    let rows = table.slice(0..most.min(table.len()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let after_loading = peak_memory_mib();

    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    let explanations = pool.install(|| explainer.explain_rows(rows))?;
    let (cpu, wall) = (cpu.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());

    let mib = |peak: Option<f64>| peak.map_or("null".to_owned(), |mib| format!("{mib:.1}"));
    print!(
        r#"{{"rows":{},"threads":{threads},"wall_s":{wall:.4},"cpu_s":{cpu:.4},"rows_per_s":{:.1},"#,
        rows.len(),
        rows.len() as f64 / wall,
    );
    println!(
        r#""model_rows":{},"peak_mib_loaded":{},"peak_mib":{},"digest":"{:016x}"}}"#,
        explanations.iter().map(|explanation| explanation.model_rows).sum::<usize>(),
        mib(after_loading),
        mib(peak_memory_mib()),
        digest(&explanations),
    );
    Ok(())
}

/// Reads the first `features` columns of a table with a header, row-major; empty cells are missing values.
fn read(path: &str, features: usize) -> Result<Vec<f64>, Failure> {
    let mut numbers = Vec::new();
    for (index, line) in std::fs::read_to_string(path)?.lines().enumerate().skip(1) {
        let before = numbers.len();
        for cell in line.split(',').take(features) {
            numbers.push(if cell.is_empty() { f64::NAN } else { cell.trim().parse()? });
        }
        if numbers.len() - before != features {
            return Err(format!("line {} has fewer than {features} columns", index + 1).into());
        }
    }
    Ok(numbers)
}

/// Returns a hash (FNV-1a, word by word) of the values, base values, predictions and standard errors.
fn digest(explanations: &[Explanation]) -> u64 {
    let numbers = explanations.iter().flat_map(|explanation| {
        let Explanation { values, base, prediction, std_errors, .. } = explanation;
        [values, base, prediction].into_iter().chain(std_errors).flatten()
    });
    numbers
        .fold(0xcbf2_9ce4_8422_2325, |hash, number| (hash ^ number.to_bits()).wrapping_mul(0x100_0000_01b3))
}
