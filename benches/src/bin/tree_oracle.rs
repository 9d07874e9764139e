//! CPU time of the path-dependent oracle on a model file and rows.
//!
//! Prints one JSON line: CPU and wall microseconds per row (the least of the repetitions), of plain prediction too, the time to make
//! the oracle, the latency of one row, peak memory, and the largest gap between prediction and values plus base.
//! `tree_oracle MODEL ROWS(.npy|.csv) [VALUE] [THREADS] [REPETITIONS] [OUT.npy]`; by default `shapley`, 1 thread, 5 repetitions.

use std::path::Path;
use std::time::Instant;

use apportion::Semivalue;
use apportion::games::Rows;
use apportion::trees::{Ensemble, PathDependentOracle};
use apportion_benches::peak_memory_mib;
use cpu_time::ProcessTime;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, rows, ..] = &arguments[..] else { return Err("give a model file and a file of rows".into()) };
    let argument = |index: usize, default: &str| arguments.get(index).cloned().unwrap_or(default.to_owned());
    let value: Semivalue = argument(2, "shapley").parse()?;
    let threads: usize = argument(3, "1").parse()?;
    let repetitions: usize = argument(4, "5").parse()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| measure(model, rows, &value, threads, repetitions, arguments.get(5)))
}

fn measure(
    model: &str,
    rows: &str,
    value: &Semivalue,
    threads: usize,
    repetitions: usize,
    out: Option<&String>,
) -> Result<(), Failure> {
    let ensemble = Ensemble::from_path(model)?;
    let after_loading = peak_memory_mib();
    let features = ensemble.feature_count();
    let numbers = read(Path::new(rows), features)?;
    let rows = Rows::new(&numbers, features);
    let (build, oracle) = least(repetitions, || PathDependentOracle::new(&ensemble));
    let oracle = oracle?;
    let (predict, margins) = least(repetitions, || ensemble.margins(rows));
    margins?;
    let (explain, explained) = least(repetitions, || oracle.values(value.clone(), rows));
    let explained = explained?;
    let peak = peak_memory_mib();
    let first = Rows::new(rows.row(0), features);
    let (one, _) = least(20 * repetitions, || oracle.values(value.clone(), first));
    let outputs = ensemble.output_count();
    let gap = explained
        .values
        .chunks_exact(features * outputs)
        .zip(explained.predictions.chunks_exact(outputs))
        .flat_map(|(values, predictions)| {
            let base = oracle.base();
            (0..outputs).map(move |output| {
                let sum: f64 = values.iter().skip(output).step_by(outputs).sum();
                (sum + base[output] - predictions[output]).abs()
            })
        });
    let gap = gap.fold(0.0, f64::max);
    if let Some(path) = out {
        write(path, &explained.values, rows.len(), features * outputs)?;
    }
    let per_row = |seconds: f64| seconds * 1e6 / rows.len() as f64;
    let mib = |peak: Option<f64>| peak.map_or("null".to_owned(), |mib| format!("{mib:.1}"));
    println!(
        r#"{{"value":"{value}","rows":{},"threads":{threads},"cpu_us_per_row":{:.4},"wall_us_per_row":{:.4},"predict_cpu_us_per_row":{:.4},"build_ms":{:.3},"one_row_us":{:.2},"peak_mib_loaded":{},"peak_mib":{},"additivity":{gap:.3e}}}"#,
        rows.len(),
        per_row(explain.cpu),
        per_row(explain.wall),
        per_row(predict.cpu),
        build.cpu * 1e3,
        one.wall * 1e6,
        mib(after_loading),
        mib(peak),
    );
    Ok(())
}

#[derive(Clone, Copy)]
struct Seconds {
    cpu: f64,
    wall: f64,
}

/// The least time of several runs, and what the last returned.
fn least<T>(runs: usize, mut work: impl FnMut() -> T) -> (Seconds, T) {
    let mut least = Seconds { cpu: f64::INFINITY, wall: f64::INFINITY };
    let mut run = || {
        let (cpu, wall) = (ProcessTime::now(), Instant::now());
        let result = work();
        least.cpu = least.cpu.min(cpu.elapsed().as_secs_f64());
        least.wall = least.wall.min(wall.elapsed().as_secs_f64());
        result
    };
    for _ in 1..runs {
        run();
    }
    let result = run();
    (least, result)
}

/// A `.npy` matrix of little-endian f32 or f64 in C order, or else a table of numbers with commas between them, empty where missing.
fn read(path: &Path, features: usize) -> Result<Vec<f64>, Failure> {
    let bytes = std::fs::read(path)?;
    let numbers: Vec<f64> = if bytes.starts_with(b"\x93NUMPY\x01") {
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = std::str::from_utf8(&bytes[10..start])?;
        match header {
            _ if header.contains("'<f4'") => bytes[start..]
                .as_chunks()
                .0
                .iter()
                .map(|&number| f64::from(f32::from_le_bytes(number)))
                .collect(),
            _ if header.contains("'<f8'") => {
                bytes[start..].as_chunks().0.iter().map(|&number| f64::from_le_bytes(number)).collect()
            }
            _ => return Err(format!("{header}: f32 or f64 is wanted").into()),
        }
    } else {
        let cell = |cell: &str| if cell.is_empty() { Ok(f64::NAN) } else { cell.trim().parse() };
        std::str::from_utf8(&bytes)?
            .lines()
            .flat_map(|line| line.split(',').map(cell))
            .collect::<Result<_, _>>()?
    };
    match numbers.len() % features {
        0 => Ok(numbers),
        _ => Err(format!("{} numbers are no rows of {features}", numbers.len()).into()),
    }
}

/// A `.npy` matrix of f64.
fn write(path: &str, numbers: &[f64], rows: usize, columns: usize) -> Result<(), Failure> {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    header.push_str(&" ".repeat(63 - (10 + header.len()) % 64));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    Ok(std::fs::write(path, bytes)?)
}
