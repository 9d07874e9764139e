//! Measures the calibration of standard errors in conditional games: the mean squared standard error divided
//! by the mean squared error, for every method at several budgets and numbers of draws (0 draws: the exact
//! game, in which only the method has an error). 1 is calibrated; above 1, intervals are too wide.
//!
//! `cargo run --release -p apportion --example errors_of_draws -- [SEEDS] [METHOD]`

use apportion::{Budget, Method, Partition};

#[path = "../tests/apportion/common/gaussian.rs"]
mod gaussian;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().and_then(|seeds| seeds.parse().ok()).unwrap_or(40);
    let only = arguments.next();
    println!("method value n draws 5n 10n 20n");
    for features in [6, 9, 12] {
        let setting = gaussian::Setting::new(features);
        let groups = (0..3).map(|g| (0..features).filter(|i| i * 3 / features == g).collect());
        let partition = Partition::new(features, groups.collect()).expect("groups");
        for (method, value) in gaussian::methods(&partition) {
            if only.as_ref().is_some_and(|only| only != method.name()) {
                continue;
            }
            // Exact values do not depend on the budget.
            let budgets = if method == Method::Exact { &[20][..] } else { &[5, 10, 20] };
            if method == Method::Exact && features > 9 {
                continue;
            }
            for draws in [None, Some(100), Some(10)] {
                if method == Method::Exact && draws.is_none() {
                    continue;
                }
                print!("{method} {} {features} {}", value.concept(), draws.unwrap_or(0));
                for &times in budgets {
                    let budget = Budget::PerPlayer(times);
                    let asked = gaussian::Request { method, value: value.clone(), budget };
                    match gaussian::ratio(&setting, &asked, 3, seeds, draws) {
                        Some(ratio) => print!(" {ratio:.2}"),
                        None => print!(" none"),
                    }
                }
                println!();
            }
        }
    }
}
