//! Measures the recovery of the groups {1,2}, {3}, {4,5,6} of experiment 2a of Kotsiopoulos et al. (2023).
//! Prints, for each measure, linkage and number of rows, the share of 200 data sets in which these groups are
//! found, with the cut by significance and with the cut into three groups.
//!
//! `cargo run --release -p apportion-partitions --example recovery`

#[path = "../tests/partitions/experiment_2a.rs"]
mod experiment_2a;

use apportion_games::Rows;
use apportion_partitions::{Dendrogram, Dependence, FeatureClustering, Linkage, PartitionsError};

fn main() -> Result<(), PartitionsError> {
    const RUNS: u64 = 200;
    let measures: Vec<Dependence> = match std::env::args().nth(1) {
        Some(name) => vec![name.parse()?],
        None => vec![
            Dependence::AbsoluteSpearman,
            Dependence::mutual_information(),
            Dependence::nearest_neighbours(),
        ],
    };
    let wanted = experiment_2a::groups();
    println!("| measure | rows | average | single | complete | average, 3 groups | single | complete |");
    println!("|---|---|---|---|---|---|---|---|");
    for dependence in measures {
        for rows in [100, 200, 500, 1000, 5000] {
            let mut found = [0; 6];
            // The critical value depends only on the number of rows, so any data set will do.
            let some_data = experiment_2a::draw(rows, 0);
            let critical =
                dependence.matrix(Rows::new(&some_data, experiment_2a::FEATURES))?.critical_value(0.05)?;
            let height = 1.0 - critical.max(FeatureClustering::default().min_dependence);
            for run in 0..RUNS {
                let values = experiment_2a::draw(rows, run);
                let matrix = dependence.matrix(Rows::new(&values, experiment_2a::FEATURES))?;
                for (at, linkage) in
                    [Linkage::Average, Linkage::Single, Linkage::Complete].into_iter().enumerate()
                {
                    let dendrogram = Dendrogram::new(&matrix, linkage);
                    found[at] += usize::from(dendrogram.cut_at(height)? == wanted);
                    found[3 + at] += usize::from(dendrogram.cut_into(3)? == wanted);
                }
            }
            let shares = found.map(|found| format!("{:.3}", found as f64 / RUNS as f64)).join(" | ");
            println!("| {dependence} (critical {critical:.3}) | {rows} | {shares} |");
        }
    }
    Ok(())
}
