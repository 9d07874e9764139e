//! Measures the CPU time of the tree methods on a model file and rows.
//!
//! Prints one JSON line: CPU and wall time in microseconds per row (the minimum of the repetitions) for
//! explaining and for plain prediction, the time to create the tree explainer, the latency of one row, the
//! peak memory, and the largest difference between prediction and base value plus values. For semivalues
//! without `--interactions`, the choice of kernels and the predicted time are printed as well.
//!
//! Usage: `tree_explainer MODEL ROWS(.npy|.csv) [VALUE] [THREADS] [REPETITIONS] [OUT.npy] [--background FILE]
//! [--groups GROUPS] [--interactions value|remainder] [--kernel KERNEL] [--fresh] [--indices INDEX --order
//! S]`
//!
//! - VALUE is any name of a solution concept (`owen`, `two-step`, `quotient-shapley`, …). The default is
//!   `shapley`, with 1 thread and 5 repetitions.
//! - `--background` selects the marginal game; the default is the path-dependent game.
//! - `--groups` is the size of groups of adjacent features, or a list of feature indices such as `0,1;2;3,4`.
//! - `--interactions` computes matrices of pairs, with the value or the remainder on the diagonal.
//! - `--kernel` is the name of a kernel.
//! - `--fresh` creates a new tree explainer for each run.
//! - `--indices` computes the interaction indices of coalitions of up to S features instead of values. OUT
//!   then contains the indices for the first row, one line for each coalition.

use std::path::Path;
use std::time::Instant;

use apportion::games::{CoalitionView, Partition, Rows};
use apportion::trees::{
    Attributions, Diagonal, Ensemble, Exact, Kernel, MarginalTreeExplainer, PathDependentTreeExplainer,
    Settings, TreeError,
};
use apportion::values::{InteractionIndex, SolutionConcept, Value};
use apportion_benches::{option, peak_memory_mib};
use cpu_time::ProcessTime;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let background = option(&mut arguments, "--background")?;
    let groups = option(&mut arguments, "--groups")?;
    let fresh = arguments.iter().position(|argument| argument == "--fresh").map(|at| arguments.remove(at));
    let interactions = option(&mut arguments, "--interactions")?;
    let interactions = match interactions.as_deref() {
        None => None,
        Some("value") => Some(Diagonal::Value),
        Some("remainder") => Some(Diagonal::Remainder),
        Some(other) => {
            return Err(format!(
                "unknown value {other:?} for --interactions; expected one of: value, remainder"
            )
            .into());
        }
    };
    let indices = option(&mut arguments, "--indices")?;
    let order = option(&mut arguments, "--order")?.map_or(Ok(2), |order| order.parse())?;
    let indices = indices.map(|index| Ok::<_, Failure>((index.parse()?, order))).transpose()?;
    let kernel = option(&mut arguments, "--kernel")?;
    let kernel = match kernel.as_deref() {
        None => None,
        Some(name) => match Kernel::ALL.into_iter().find(|kernel| kernel.name() == name) {
            None => return Err(format!("unknown kernel {name:?}").into()),
            kernel => kernel,
        },
    };
    let [model, rows, ..] = &arguments[..] else {
        return Err("expected a model file and a file of rows".into());
    };
    let argument = |index: usize, default: &str| arguments.get(index).cloned().unwrap_or(default.to_owned());
    let task = Task {
        model,
        rows,
        value: argument(2, "shapley").parse()?,
        threads: argument(3, "1").parse()?,
        repetitions: argument(4, "5").parse()?,
        out: arguments.get(5),
        background: background.as_deref(),
        groups: groups.as_deref(),
        interactions,
        indices,
        settings: Settings::default().with_kernel(kernel),
        fresh: fresh.is_some(),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(task.threads).build()?;
    pool.install(|| task.measure())
}

struct Task<'a> {
    model: &'a str,
    rows: &'a str,
    value: SolutionConcept,
    threads: usize,
    repetitions: usize,
    out: Option<&'a String>,
    background: Option<&'a str>,
    groups: Option<&'a str>,
    interactions: Option<Diagonal>,
    /// The interaction index to compute instead of values, and its maximum order.
    indices: Option<(InteractionIndex, usize)>,
    settings: Settings,
    /// Whether each run creates a new tree explainer, so that the preparation of the background is included.
    fresh: bool,
}

/// Computes the values, or the matrices of pairwise interactions.
fn explain(
    tree_explainer: &dyn Exact,
    value: &Value,
    interactions: Option<Diagonal>,
    rows: Rows<'_>,
) -> Result<Attributions, TreeError> {
    match interactions {
        None => tree_explainer.values_of(value, rows),
        Some(diagonal) => tree_explainer.interactions_of(value, diagonal, rows),
    }
}

impl Task<'_> {
    fn measure(&self) -> Result<(), Failure> {
        let (value, repetitions) = (&self.value, self.repetitions);
        let (load, ensemble) = least(repetitions, || Ensemble::from_path(self.model));
        let ensemble = ensemble?;
        let after_loading = peak_memory_mib();
        let features = ensemble.feature_count();
        let numbers = read(Path::new(self.rows), features)?;
        let rows = Rows::new(&numbers, features);
        let partition = partition(self.groups, features)?;
        let background = self.background.map(|path| read(Path::new(path), features)).transpose()?;
        let make = || match &background {
            Some(background) => MarginalTreeExplainer::new(&ensemble, Rows::new(background, features), None)
                .map(|tree_explainer| {
                    Box::new(tree_explainer.with_settings(self.settings)) as Box<dyn Exact + '_>
                }),
            None => PathDependentTreeExplainer::new(&ensemble).map(|tree_explainer| {
                Box::new(tree_explainer.with_settings(self.settings)) as Box<dyn Exact + '_>
            }),
        };
        if matches!(value, SolutionConcept::Linear(_)) {
            return Err("linear values are not supported".into());
        }
        if self.interactions.is_some() && !matches!(value, SolutionConcept::Semivalue(_)) {
            return Err("--interactions requires a semivalue".into());
        }
        let (build, tree_explainer) = least(repetitions, make);
        let tree_explainer = tree_explainer?;
        if let Some((index, order)) = &self.indices {
            let make = || if self.fresh { make().map(Some) } else { Ok(None) };
            return self.measure_indices(&*tree_explainer, make, (index, *order), rows);
        }
        let groups = value.needs_partition().then(|| partition.clone());
        let asked = Value::from_concept(value.clone(), groups, None)?;
        // Use a separate tree explainer for the plan, because planning may sort the background.
        let is_semivalue = matches!(value, SolutionConcept::Semivalue(_));
        let plan = is_semivalue.then(|| make()?.plan_of(&asked, rows.len(), rows)).transpose()?;
        let plan = plan.filter(|_| self.interactions.is_none());
        let predicted = plan
            .as_ref()
            .map_or("null".to_owned(), |plan| format!("{:.4}", plan.seconds / rows.len() as f64 * 1e6));
        let kernels = plan.map_or(String::new(), |plan| {
            let kernels = plan.kernels.iter().map(|(kernel, trees)| format!("{trees} {kernel}"));
            kernels.collect::<Vec<_>>().join(", ")
        });
        let (predict, margins) = least(repetitions, || ensemble.margins(rows));
        margins?;
        let (spent, explained) = least(repetitions, || match self.fresh {
            false => explain(&*tree_explainer, &asked, self.interactions, rows),
            true => explain(&*make()?, &asked, self.interactions, rows),
        });
        let explained = explained?;
        let peak = peak_memory_mib();
        let first = Rows::new(rows.row(0), features);
        let (one, _) =
            least(20 * repetitions, || explain(&*tree_explainer, &asked, self.interactions, first));
        let outputs = ensemble.output_count();
        let numbers = explained.values.len() / rows.len();
        let gap = (0..rows.len()).map(|row| explained.of_row(row)).flat_map(|row| {
            (0..outputs).map(move |output| {
                let sum: f64 = row.values.iter().skip(output).step_by(outputs).sum();
                (sum + row.base[output] - row.predictions[output]).abs()
            })
        });
        let gap = gap.fold(0.0, f64::max);
        if let Some(path) = self.out {
            write(path, &explained.values, rows.len(), numbers)?;
        }
        let per_row = |seconds: f64| seconds * 1e6 / rows.len() as f64;
        let mib = |peak: Option<f64>| peak.map_or("null".to_owned(), |mib| format!("{mib:.1}"));
        print!(
            r#"{{"value":"{value}","kernels":"{kernels}","rows":{},"threads":{},"cpu_us_per_row":{:.4},"#,
            rows.len(),
            self.threads,
            per_row(spent.cpu),
        );
        print!(
            r#""predicted_us_per_row":{predicted},"wall_us_per_row":{:.4},"predict_cpu_us_per_row":{:.4},"#,
            per_row(spent.wall),
            per_row(predict.cpu),
        );
        print!(
            r#""load_ms":{:.2},"build_ms":{:.3},"one_row_us":{:.2},"one_row_cpu_us":{:.2},"#,
            load.cpu * 1e3,
            build.cpu * 1e3,
            one.wall * 1e6,
            one.cpu * 1e6,
        );
        println!(
            r#""peak_mib_loaded":{},"peak_mib":{},"additivity":{gap:.3e}}}"#,
            mib(after_loading),
            mib(peak),
        );
        Ok(())
    }
}

impl Task<'_> {
    /// Measures the interaction indices of coalitions for all rows, with an existing tree explainer or with a
    /// new one for each run.
    fn measure_indices<'o>(
        &self,
        tree_explainer: &dyn Exact,
        fresh: impl Fn() -> Result<Option<Box<dyn Exact + 'o>>, TreeError>,
        (index, order): (&InteractionIndex, usize),
        rows: Rows<'_>,
    ) -> Result<(), Failure> {
        let explain = |rows: Rows<'_>| match fresh()? {
            Some(tree_explainer) => tree_explainer.indices_of(index, order, None, rows),
            None => tree_explainer.indices_of(index, order, None, rows),
        };
        let (first, _) = least(1, || explain(rows).map(drop));
        let (spent, found) = least(self.repetitions, || explain(rows));
        let found = found?;
        let (one, _) = least(self.repetitions, || explain(Rows::new(rows.row(0), rows.columns())));
        if let (Some(path), Some(found)) = (self.out, found.first()) {
            let line = |(coalition, values): (CoalitionView<'_>, &[f64])| {
                let members: Vec<String> = coalition.members().map(|member| member.to_string()).collect();
                format!("{} {:e}\n", members.join(","), values[0])
            };
            std::fs::write(path, found.iter().map(line).collect::<String>())?;
        }
        let coalitions = found.first().map_or(0, |found| found.coalitions().len());
        let per_row = |seconds: f64| seconds * 1e6 / rows.len() as f64;
        print!(r#"{{"index":"{index}","order":{order},"rows":{},"coalitions":{coalitions},"#, rows.len());
        print!(
            r#""first_cpu_us_per_row":{:.2},"cpu_us_per_row":{:.2},"#,
            per_row(first.cpu),
            per_row(spent.cpu)
        );
        println!(r#""wall_us_per_row":{:.2},"one_row_us":{:.1}}}"#, per_row(spent.wall), one.wall * 1e6);
        Ok(())
    }
}

/// Parses the groups on the command line; without them, every feature is a group.
fn partition(groups: Option<&str>, features: usize) -> Result<Partition, Failure> {
    let Some(groups) = groups else { return Ok(Partition::singletons(features)) };
    let members: Vec<Vec<usize>> = match groups.parse() {
        Ok(0) => return Err("invalid size 0 for --groups; expected at least 1".into()),
        Ok(size) => (0..features).collect::<Vec<_>>().chunks(size).map(<[usize]>::to_vec).collect(),
        Err(_) => groups
            .split(';')
            .map(|group| group.split(',').map(|feature| feature.trim().parse()).collect())
            .collect::<Result<_, _>>()?,
    };
    Ok(Partition::new(features, members)?)
}

#[derive(Clone, Copy)]
struct Seconds {
    cpu: f64,
    wall: f64,
}

/// Returns the minimum time of several runs, and the result of the last one.
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

/// Reads a `.npy` matrix of little-endian f32 or f64 in C order, or otherwise a comma-separated table of
/// numbers, with empty cells for missing values.
fn read(path: &Path, features: usize) -> Result<Vec<f64>, Failure> {
    let bytes = std::fs::read(path)?;
    let numbers: Vec<f64> = if bytes.starts_with(b"\x93NUMPY\x01") {
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = std::str::from_utf8(&bytes[10..start])?;
        match header {
            _ if header.contains("'fortran_order': True") => {
                return Err(format!("unsupported array {header}; expected C order").into());
            }
            _ if header.contains("'<f4'") => bytes[start..]
                .as_chunks()
                .0
                .iter()
                .map(|&number| f64::from(f32::from_le_bytes(number)))
                .collect(),
            _ if header.contains("'<f8'") => {
                bytes[start..].as_chunks().0.iter().map(|&number| f64::from_le_bytes(number)).collect()
            }
            _ => return Err(format!("unsupported array {header}; expected f32 or f64").into()),
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
        _ => Err(format!("{} numbers are not a multiple of {features} features", numbers.len()).into()),
    }
}

/// Writes a matrix of `f64` as `.npy`.
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
