//! Compares the errors of methods with the errors of Leverage SHAP at the same number of evaluations, on many
//! kinds of games.
//!
//! ```console
//! $ cargo run --release -p apportion --example frontier -- auto,learned-spectrum 8 5,10,20 xgb
//! ```
//!
//! `METHODS GAMES BUDGETS [PART]`: the names of the methods, the number of games of each kind, the
//! evaluations per player, and a substring of the names of the game kinds to run. Prints the median of the
//! ratios of squared errors, their 90% quantile, and the fraction of values within their 95% intervals.

#![allow(clippy::unwrap_used, reason = "an experiment with known files")]

use apportion::estimators::Estimator;
use apportion::games::{CoalitionView, Coalitions, GameError, Rows};
use apportion::games::{Purpose, stream};
use apportion::trees::Exact;
use apportion::trees::InterventionalOracle;
use apportion::{Background, Ensemble, Game, MarginalGame, Method, Semivalue};
use rand::{Rng, RngExt};
use rayon::prelude::*;

struct SetFunction<F> {
    players: usize,
    value: F,
}

impl<F: Fn(CoalitionView<'_>) -> f64 + Sync> Game for SetFunction<F> {
    fn players(&self) -> usize {
        self.players
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        out.iter_mut().zip(batch.iter()).for_each(|(value, row)| *value = (self.value)(row));
        Ok(())
    }
}

struct SolvedGame {
    game: Box<dyn Game>,
    truth: Vec<f64>,
}

fn normal(rng: &mut impl Rng) -> f64 {
    let (a, b): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

fn enumerated<F: Fn(CoalitionView<'_>) -> f64 + Sync + 'static>(players: usize, value: F) -> SolvedGame {
    let game = SetFunction { players, value };
    let truth = apportion::values::enumerate(&game, Semivalue::Shapley).unwrap().values;
    SolvedGame { game: Box::new(game), truth }
}

fn mlp(n: usize, seed: u64) -> SolvedGame {
    let mut rng = stream(seed, Purpose::Experiment, 2);
    let mut matrix = |rows: usize, columns: usize, scale: f64| -> Vec<f64> {
        (0..rows * columns).map(|_| scale * normal(&mut rng)).collect()
    };
    let (w1, w2, w3) =
        (matrix(n, 24, 1.5 / (n as f64).sqrt()), matrix(24, 24, 1.0 / 24f64.sqrt()), matrix(24, 1, 1.0));
    let (x, b) = (matrix(n, 1, 1.0), matrix(24, 1, 0.3));
    enumerated(n, move |row| {
        let mut h = b.clone();
        for i in row.members() {
            for (j, h) in h.iter_mut().enumerate() {
                *h += x[i] * w1[i * 24 + j];
            }
        }
        let mut out = 0.0;
        for j in 0..24 {
            let g: f64 = (0..24).map(|i| h[i].max(0.0) * w2[i * 24 + j]).sum();
            out += g.max(0.0) * w3[j];
        }
        out
    })
}

/// Creates a kernel machine with random points.
fn kernel_machine(n: usize, seed: u64) -> SolvedGame {
    let mut rng = stream(seed, Purpose::Experiment, 2);
    let points: Vec<f64> = (0..60 * n).map(|_| normal(&mut rng)).collect();
    let factors: Vec<f64> = (0..60).map(|_| normal(&mut rng)).collect();
    let (x, z): (Vec<f64>, Vec<f64>) =
        ((0..n).map(|_| normal(&mut rng)).collect(), (0..n).map(|_| normal(&mut rng)).collect());
    enumerated(n, move |row| {
        (0..60)
            .map(|p| {
                let d: f64 = (0..n)
                    .map(|i| (if row.contains(i) { x[i] } else { z[i] } - points[p * n + i]).powi(2))
                    .sum();
                factors[p] * (-d / n as f64).exp()
            })
            .sum()
    })
}

fn max(n: usize, seed: u64) -> SolvedGame {
    let mut rng = stream(seed, Purpose::Experiment, 2);
    let a: Vec<f64> = (0..n).map(|_| rng.random()).collect();
    enumerated(n, move |row| row.members().map(|i| a[i]).fold(0.0, f64::max))
}

fn voting(n: usize, seed: u64) -> SolvedGame {
    let mut rng = stream(seed, Purpose::Experiment, 2);
    let a: Vec<u32> = (0..n).map(|_| rng.random_range(1..9)).collect();
    let half = a.iter().sum::<u32>();
    enumerated(n, move |row| f64::from(u8::from(2 * row.members().map(|i| a[i]).sum::<u32>() > half)))
}

fn unanimity(n: usize, seed: u64) -> SolvedGame {
    use apportion::games::{ClosedForm, SumOfUnanimity};
    let game = SumOfUnanimity::random(n, 5 * n, 8.min(n), seed);
    let truth = game.shapley();
    SolvedGame { game: Box::new(game), truth }
}

struct TreeGame {
    model: Ensemble,
    x: Vec<f64>,
    background: Background,
}

impl Game for TreeGame {
    fn players(&self) -> usize {
        self.x.len()
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        MarginalGame::new(&self.model, &self.x, &self.background)?.values(batch, out)
    }
}

fn trees(name: &str, background: usize, count: u64) -> Vec<SolvedGame> {
    let folder = std::env::var("APPORTION_DATA").unwrap_or_else(|_| "../shared".into());
    let model =
        Ensemble::from_bytes(&std::fs::read(format!("{folder}/models/{name}_xgb.json")).unwrap()).unwrap();
    let n = model.feature_count();
    let path = format!("{folder}/data/{name}.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').take(n).map(|cell| cell.parse().unwrap_or(f64::NAN)).collect())
        .collect();
    let mut rng = stream(7, Purpose::Experiment, 3);
    (0..count)
        .map(|_| {
            let x = rows[rng.random_range(0..rows.len())].clone();
            let mut chosen = Vec::new();
            if background == 1 {
                let columns = (0..n).map(|j| {
                    let known: Vec<f64> = rows.iter().map(|r| r[j]).filter(|v| !v.is_nan()).collect();
                    known.iter().sum::<f64>() / known.len() as f64
                });
                chosen.extend(columns);
            } else {
                for _ in 0..background {
                    chosen.extend(rows[rng.random_range(0..rows.len())].iter().copied());
                }
            }
            let oracle = InterventionalOracle::new(&model, Rows::new(&chosen, n), None).unwrap();
            let truth = oracle.values(Semivalue::Shapley, Rows::new(&x, n)).unwrap().values;
            let background = Background::rows(chosen, n).unwrap();
            SolvedGame { game: Box::new(TreeGame { model: model.clone(), x, background }), truth }
        })
        .collect()
}

/// The name of a kind of game, and a function that creates games of this kind.
type Kind = (String, Box<dyn Fn() -> Vec<SolvedGame>>);

fn kinds(count: u64) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for name in [
        "california",
        "diabetes",
        "adult",
        "bank",
        "nhanes",
        "german",
        "brca",
        "correlated60",
        "independent60",
        "communities",
    ] {
        kinds.push((format!("xgb {name}"), Box::new(move || trees(name, 1, count))));
    }
    for name in ["adult", "nhanes", "german", "correlated60", "communities"] {
        kinds.push((format!("bg50 {name}"), Box::new(move || trees(name, 50, count))));
    }
    let mut push = |name: String, make: fn(usize, u64) -> SolvedGame, n: usize| {
        kinds.push((name, Box::new(move || (0..count).map(|seed| make(n, 100 + seed)).collect())));
    };
    for n in [10, 14] {
        push(format!("mlp {n}"), mlp, n);
    }
    push("kernel 12".into(), kernel_machine, 12);
    push("max 12".into(), max, 12);
    push("voting 12".into(), voting, 12);
    push("unanimity 10".into(), unanimity, 10);
    push("unanimity 30".into(), unanimity, 30);
    push("unanimity 100".into(), unanimity, 100);
    kinds
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let methods: Vec<Method> = arguments[0].split(',').map(|name| name.parse().unwrap()).collect();
    let count: u64 = arguments[1].parse().unwrap();
    let budgets: Vec<usize> = arguments[2].split(',').map(|text| text.parse().unwrap()).collect();
    let part = arguments.get(3).cloned().unwrap_or_default();
    let estimators: Vec<Box<dyn Estimator>> =
        methods.iter().map(|method| method.estimator(&Semivalue::Shapley.into()).unwrap()).collect();
    let base = "leverage-shap".parse::<Method>().unwrap().estimator(&Semivalue::Shapley.into()).unwrap();
    for (name, make) in kinds(count) {
        if !part.split(',').any(|part| name.contains(part)) {
            continue;
        }
        let known = make();
        let n = known[0].truth.len();
        for &each in &budgets {
            let budget = each * n;
            if (budget as f64) > 0.9 * (n as f64).exp2() {
                continue;
            }
            let rows: Vec<Vec<(f64, f64, f64, f64)>> = known
                .par_iter()
                .enumerate()
                .map(|(seed, known)| {
                    let norm: f64 = known.truth.iter().map(|v| v * v).sum();
                    let judge = |estimator: &dyn Estimator| {
                        let begun = std::time::Instant::now();
                        let got = estimator.estimate(&*known.game, budget, seed as u64).unwrap();
                        let seconds = begun.elapsed().as_secs_f64();
                        let error: f64 =
                            got.values.iter().zip(&known.truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
                        let covered = got.intervals(0.95).map_or(f64::NAN, |intervals| {
                            let held = intervals.iter().zip(&known.truth);
                            held.filter(|((low, high), want)| low <= want && *want <= high).count() as f64
                                / n as f64
                        });
                        let size =
                            got.std_errors.map_or(f64::NAN, |e| e.iter().map(|e| e * e).sum::<f64>() / error);
                        (error / norm, covered, size, seconds)
                    };
                    let mut row = vec![judge(&*base)];
                    row.extend(estimators.iter().map(|estimator| judge(&**estimator)));
                    row
                })
                .collect();
            let median = |mut numbers: Vec<f64>, share: f64| {
                numbers.sort_by(f64::total_cmp);
                numbers[((numbers.len() - 1) as f64 * share).round() as usize]
            };
            let mean = |numbers: Vec<f64>| numbers.iter().sum::<f64>() / numbers.len() as f64;
            print!(
                "{name:18} n={n:3} {each:3}n  leverage {:.1e}",
                median(rows.iter().map(|r| r[0].0).collect(), 0.5)
            );
            for (at, method) in methods.iter().enumerate() {
                let ratios: Vec<f64> = rows.iter().map(|r| r[at + 1].0 / r[0].0.max(1e-30)).collect();
                let geometric =
                    (ratios.iter().map(|r| r.max(1e-12).ln()).sum::<f64>() / ratios.len() as f64).exp();
                print!(
                    " | {} {:.3} [{:.2}] geo {:.3} cover {:.3} size {:.1} {:.2} s",
                    method.name(),
                    median(ratios.clone(), 0.5),
                    median(ratios, 0.9),
                    geometric,
                    mean(rows.iter().map(|r| r[at + 1].1).collect()),
                    median(rows.iter().map(|r| r[at + 1].2).collect(), 0.5),
                    mean(rows.iter().map(|r| r[at + 1].3).collect()),
                );
            }
            println!();
        }
    }
}
