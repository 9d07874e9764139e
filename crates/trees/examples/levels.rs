//! Times Owen values over hierarchies of groups, compared with plain groups (two levels) and Shapley values:
//! microseconds per row, the minimum of five runs.
//!
//! `cargo run --release -p apportion-trees --example levels`

use std::path::Path;
use std::time::Instant;

use apportion_games::{Hierarchy, Member, Rows};
use apportion_trees::{Ensemble, Exact, Kernel, MarginalTreeExplainer, PathDependentTreeExplainer, Settings};
use apportion_values::{Semivalue, Value};

/// Returns rows whose values are spread over the model's thresholds.
fn rows(count: usize, features: usize) -> Vec<f64> {
    (0..count * features).map(|k| ((k as f64 * 0.618_033_988_75) % 1.0 - 0.5) * 4.0).collect()
}

/// Forms groups of `size` consecutive members.
fn grouped(members: &[Member], size: usize) -> Vec<Member> {
    members.chunks(size).map(|group| Member::Group(group.to_vec())).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/lab/data");
    println!("model, game, rows, background: Shapley, then Owen of two, three, four and five levels");
    for name in ["diabetes", "correlated60"] {
        let ensemble = Ensemble::from_path(folder.join(format!("{name}_xgb.json.gz")))?;
        let features = ensemble.feature_count();
        let mut values: Vec<Value> = vec![Semivalue::Shapley.into()];
        let mut members: Vec<Member> = (0..features).map(Member::Player).collect();
        for size in [if features > 20 { 5 } else { 2 }, 2, 2, 2] {
            members = grouped(&members, size);
            values.push(Value::owen_over(Hierarchy::new(features, members.clone())?));
        }
        for (count, background) in [(1000, 1), (1000, 100), (1, 100)] {
            let (explicands, others) = (rows(count, features), rows(background, features));
            let explicands = Rows::new(&explicands, features);
            let marginal = MarginalTreeExplainer::new(&ensemble, Rows::new(&others, features), None)?;
            let path_dependent = PathDependentTreeExplainer::new(&ensemble)?;
            let tables = Settings::default().with_kernel(Kernel::Tables);
            let by_tables = PathDependentTreeExplainer::new(&ensemble)?.with_settings(tables);
            let mut games: Vec<(&str, &dyn Exact)> = vec![("marginal", &marginal)];
            if background == 1 {
                games.push(("path-dependent", &path_dependent));
                games.push(("path-dependent by tables", &by_tables));
            }
            for (game, tree_explainer) in games {
                let mut times = Vec::new();
                for value in &values {
                    let mut least = f64::INFINITY;
                    for _ in 0..5 {
                        let start = Instant::now();
                        tree_explainer.values_of(value, explicands)?;
                        least = least.min(start.elapsed().as_secs_f64());
                    }
                    times.push(format!("{:.1}", least * 1e6 / count as f64));
                }
                println!("{name}, {game}, {count}, {background}: {}", times.join(", "));
            }
        }
    }
    Ok(())
}
