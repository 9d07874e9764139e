//! Measures runs with a tolerance in conditional games with Gaussian features: the number of certified runs,
//! how many of them are within the tolerance, and the number of draws they required.
//!
//! `cargo run --release -p apportion --example until_with_draws -- [SEEDS]`

use apportion::estimators::StopRule;
use apportion::estimators::methods;
use apportion::{Explainer, Method, Semivalue, Until};

#[path = "../tests/apportion/common/gaussian.rs"]
mod gaussian;

const METHODS: [Method; 6] = [
    Method::Auto,
    Method::Exact,
    Method::By(&methods::KERNEL_SHAP),
    Method::By(&methods::PERMUTATION),
    Method::By(&methods::MONTE_CARLO),
    Method::By(&methods::MSR_ADJUSTED),
];

fn main() {
    let seeds: u64 = std::env::args().nth(1).and_then(|seeds| seeds.parse().ok()).unwrap_or(8);
    println!("method tolerance runs certified within draws-stopped most-draws");
    for (method, tolerance) in METHODS.into_iter().flat_map(|method| [0.1, 0.03, 0.01].map(|t| (method, t))) {
        let (mut runs, mut certified, mut within, mut stopped, mut most) = (0, 0, 0, 0, 0);
        for (features, draws) in [(6, 20), (6, 100), (9, 20), (9, 100)] {
            let setting = gaussian::Setting::new(features);
            for seed in 0..seeds {
                let explicand = setting.explicand(seed as usize);
                let distribution = setting.distribution(draws, 500 + seed);
                let explainer = Explainer::conditional(&setting, &distribution).method(method).seed(seed);
                let explained = explainer.until(Until::relative(tolerance)).explain(&explicand);
                let explanation = explained.expect("an explanation");
                let truth = setting.truth(&explicand, &Semivalue::Shapley.into());
                let norm = |numbers: Vec<f64>| numbers.iter().map(|x| x * x).sum::<f64>().sqrt();
                let off = norm(explanation.values.iter().zip(&truth).map(|(a, b)| a - b).collect());
                let rule = explanation.certificate.map(|certificate| certificate.stopped_by);
                let is_certified = rule == Some(StopRule::Tolerance);
                runs += 1;
                certified += usize::from(is_certified);
                within += usize::from(is_certified && off <= tolerance * norm(truth));
                stopped += usize::from(rule == Some(StopRule::Draws));
                most = most.max(explanation.diagnostics.draws.unwrap_or(0));
            }
        }
        println!("{method} {tolerance} {runs} {certified} {within} {stopped} {most}");
    }
}
