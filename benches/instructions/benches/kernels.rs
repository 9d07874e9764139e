//! Instruction counts of the five kernels that take the most time, measured with valgrind:
//! `cargo xtask instructions`.

use std::hint::black_box;

use apportion::samplers::Sample;
use apportion::solvers::{Constraint, Design, least_squares};
use apportion::trees::{Ensemble, Exact, MarginalTreeExplainer, PathDependentTreeExplainer};
use apportion::{Background, Game, MarginalGame, Rows, Semivalue};
use apportion_instructions::{model, rows, sample};
use gungraun::{library_benchmark, library_benchmark_group, main};

/// A model with rows and background rows.
struct Explained {
    model: Ensemble,
    rows: Vec<f64>,
    background: Vec<f64>,
}

fn explained(name: &str, count: usize, background: usize) -> Explained {
    let model = model(name);
    let features = model.feature_count();
    Explained { rows: rows(count, features), background: rows(background, features), model }
}

// Computes exact Shapley values of the marginal game.
#[library_benchmark]
#[bench::diabetes(explained("diabetes", 200, 50))]
fn interventional(given: Explained) -> Vec<f64> {
    let features = given.model.feature_count();
    let tree_explainer =
        MarginalTreeExplainer::new(&given.model, Rows::new(&given.background, features), None)
            .expect("a valid background");
    black_box(
        tree_explainer
            .values(Semivalue::Shapley, Rows::new(&given.rows, features))
            .expect("valid rows")
            .values,
    )
}

// Computes exact Shapley values of the path-dependent game.
#[library_benchmark]
#[bench::diabetes(explained("diabetes", 200, 0))]
fn path_dependent(given: Explained) -> Vec<f64> {
    let features = given.model.feature_count();
    let tree_explainer = PathDependentTreeExplainer::new(&given.model).expect("a model with covers");
    black_box(
        tree_explainer
            .values(Semivalue::Shapley, Rows::new(&given.rows, features))
            .expect("valid rows")
            .values,
    )
}

fn played() -> (Explained, Sample) {
    let given = explained("diabetes", 1, 20);
    let coalitions = sample(given.model.feature_count(), 200);
    (given, coalitions)
}

// Evaluates coalitions in the marginal game of a tree ensemble, as every estimator does.
#[library_benchmark]
#[bench::diabetes(played())]
fn coalition_values((given, sample): (Explained, Sample)) -> Vec<f64> {
    let features = given.model.feature_count();
    let background = Background::rows(given.background, features).expect("valid rows");
    let game = MarginalGame::new(&given.model, &given.rows, &background).expect("a valid game");
    let mut values = vec![0.0; sample.coalitions().len()];
    game.values(sample.coalitions(), &mut values).expect("valid coalitions");
    black_box(values)
}

// Samples coalitions without replacement, in pairs.
#[library_benchmark]
#[bench::players_100((100, 5000))]
fn sampling((players, coalitions): (usize, usize)) -> Sample {
    black_box(sample(players, coalitions))
}

// Solves the regression of Leverage SHAP on bit-packed coalitions.
#[library_benchmark]
#[bench::players_100(sample(100, 2000))]
fn regression(sample: Sample) -> Vec<f64> {
    let players = sample.coalitions().players();
    let sizes = sample.coalitions().sizes().iter().step_by(2).map(|&size| size as usize);
    let weights: Vec<f64> = sizes.map(|size| 1.0 / (size * (players - size)) as f64).collect();
    let targets: Vec<f64> = sample.coalitions().sizes().iter().map(|&size| f64::from(size).sqrt()).collect();
    let design = Design::paired(sample.coalitions(), &weights).expect("a sample of pairs");
    let total = [(players as f64).sqrt()];
    let fit = least_squares(&design, &targets, 1, Constraint::Sum(&total)).expect("solvable");
    black_box(fit.coefficients().to_vec())
}

library_benchmark_group!(
    name = kernels,
    benchmarks = [interventional, path_dependent, coalition_values, sampling, regression]
);

main!(library_benchmark_groups = kernels);
