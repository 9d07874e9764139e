//! Times the solver on two kinds of paired designs. The first kind has coalition sizes spread evenly and one
//! weight per size, with the sum constraint, as drawn by Leverage SHAP. The second has coalition sizes near
//! n/2, equal weights and columns centred at ½, as drawn by Kernel Banzhaf.
//!
//! `cargo run --release -p apportion-solvers --example timing [n m]`
//!
//! Prints the CPU time on one thread, in milliseconds, of the check that pairs are complements, of the solve
//! with each kernel, and of the certificate. With few rows, the certificate may stop early with an error,
//! because a row has hat value 1.

use std::hint::black_box;
use std::time::Instant;

use apportion_games::{Coalitions, Purpose, stream};
use apportion_solvers::{Constraint, Design, Kernel, Options, least_squares_with};
use rand::RngExt;

fn main() {
    let arguments: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let cases = match arguments[..] {
        [players, rows] => vec![(players, rows)],
        _ => vec![(100, 1_000), (100, 10_000), (1000, 10_000), (1000, 100_000)],
    };
    println!(
        "  value         n        m   check    popcount      panels  matrix-free  certificate, factored  \
         matrix-free"
    );
    let values = [("shapley", true), ("banzhaf", false)];
    for (value, constrained, (players, rows)) in values
        .into_iter()
        .flat_map(|(value, constrained)| cases.iter().map(move |&case| (value, constrained, case)))
    {
        let (coalitions, weights) = paired_design(players, rows / 2, constrained);
        let targets: Vec<f64> = coalitions
            .iter()
            .map(|row| row.members().map(|player| (player as f64).sqrt()).sum::<f64>().sin())
            .collect();
        let repeats = (40_000_000 / (players * rows)).clamp(1, 200);
        // The check is a hundred times faster than the solve. Repeat it more often, so that its time is
        // measurable.
        let check = least(100 * repeats, || Design::paired(black_box(&coalitions), &weights).expect("pairs"));
        let mut design = Design::paired(&coalitions, &weights).expect("pairs");
        let mut constraint = Constraint::Sum(&[1.0]);
        if !constrained {
            design = design.centred_at(0.5).expect("finite").with_intercept();
            constraint = Constraint::None;
        }
        let solve = |kernel| {
            least_squares_with(&design, &targets, 1, constraint, &Options { kernel }).expect("solvable")
        };
        let kernels = [Kernel::Popcount, Kernel::Panels, Kernel::MatrixFree];
        let [popcount, panels, matrix_free] = kernels.map(|kernel| least(repeats, || solve(kernel)));
        let free = vec![1.0; weights.len()];
        let fit = solve(Kernel::MatrixFree);
        let by_probes = least(repeats, || fit.certificate(&free));
        let factored = solve(if panels < popcount { Kernel::Panels } else { Kernel::Popcount });
        let certificate = least(repeats, || factored.certificate(&free));
        println!(
            "  {value} {players:8} {rows:8} {check:7.3} {popcount:11.3} {panels:11.3} {matrix_free:12.3} \
             {certificate:22.3} {by_probes:12.3}   auto: {:?}, condition {:.3}, {:.3}",
            solve(Kernel::Auto).kernel(),
            factored.condition_number(),
            fit.condition_number()
        );
    }
}

/// Returns pairs of coalitions and their weights. If `evenly` is set, the sizes are spread evenly over
/// 1..=n/2, with one weight per size. Otherwise, the coalitions are drawn uniformly and have equal weights.
fn paired_design(players: usize, pairs: usize, evenly: bool) -> (Coalitions, Vec<f64>) {
    let mut rng = stream(1, Purpose::Experiment, 0);
    let mut coalitions = Coalitions::with_capacity(players, 2 * pairs);
    let mut weights = Vec::with_capacity(pairs);
    let mut order: Vec<usize> = (0..players).collect();
    for pair in 0..pairs {
        if !evenly {
            coalitions.push_members((0..players).filter(|_| rng.random_bool(0.5)));
            coalitions.push_complement(2 * pair);
            weights.push(1.0);
            continue;
        }
        let size = 1 + pair * (players / 2) / pairs;
        for position in 0..size {
            order.swap(position, rng.random_range(position..players));
        }
        coalitions.push_members(order[..size].iter().copied());
        coalitions.push_complement(2 * pair);
        weights.push(1.0 / (size * (players - size)) as f64);
    }
    (coalitions, weights)
}

/// Returns the CPU time of a call in milliseconds: the minimum over several batches, each of which is long
/// enough for the system's clock.
fn least<T>(repeats: usize, mut call: impl FnMut() -> T) -> f64 {
    let mut batch = || {
        let (before, start) = (thread_time(), Instant::now());
        (0..repeats).for_each(|_| drop(black_box(call())));
        let elapsed = match (before, thread_time()) {
            (Some(before), Some(after)) => (after - before) as f64 / 1e6,
            _ => start.elapsed().as_secs_f64() * 1e3,
        };
        elapsed / repeats as f64
    };
    (0..5).map(|_| batch()).fold(f64::INFINITY, f64::min)
}

/// Returns the nanoseconds for which this thread has run, or `None` if the system does not provide them. The
/// number is updated every few milliseconds.
fn thread_time() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
