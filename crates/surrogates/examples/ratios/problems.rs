//! Models whose Shapley and Banzhaf values in the marginal game are known.

use apportion_games::{Background, BoxError, MarginalGame, Model, Rows};
use apportion_models::Ensemble;
use apportion_surrogates::{LearningRows, Surrogate};
use apportion_values::{Semivalue, enumerate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Failure;

/// The maximum number of features that are enumerated, and the number of inputs of each unit of a larger
/// network.
const MAX_ENUMERATED: usize = 12;
const INPUTS: usize = 8;

/// A model with random parameters, and a distribution of rows.
pub(crate) struct Problem {
    pub(crate) features: usize,
    loadings: Vec<[f64; 3]>,
    kind: Kind,
}

enum Kind {
    /// A sum of groups of units; a group has a few inputs.
    Network(Vec<Units>),
    /// Σ weight · exp(−γ‖x − centre‖²): centres with their weights.
    Kernel {
        gamma: f64,
        centres: Vec<(Vec<f64>, f64)>,
    },
    Trees(Box<Ensemble>),
    /// Σ weight · x.
    Linear(Vec<f64>),
    /// The mean target of the 15 nearest neighbours.
    Neighbours(Vec<(Vec<f64>, f64)>),
}

/// Units `Σ a tanh(b + Σ w x)` with the same inputs.
struct Units {
    inputs: Vec<usize>,
    /// (a, b, w) of each unit.
    units: Vec<(f64, f64, Vec<f64>)>,
}

impl Units {
    fn random(inputs: Vec<usize>, count: usize, random: &mut ChaCha8Rng) -> Self {
        let scale = 1.5 / (inputs.len() as f64).sqrt();
        let units = (0..count)
            .map(|_| {
                let weights = inputs.iter().map(|_| scale * normal(random)).collect();
                (normal(random), normal(random), weights)
            })
            .collect();
        Self { inputs, units }
    }

    fn predict(&self, row: &[f64]) -> f64 {
        let unit = |(a, b, weights): &(f64, f64, Vec<f64>)| {
            let sum: f64 = self.inputs.iter().zip(weights).map(|(&input, weight)| row[input] * weight).sum();
            a * (b + sum).tanh()
        };
        self.units.iter().map(unit).sum()
    }
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) =
        (random.random_range(1e-12..1.0), random.random_range(0.0..std::f64::consts::TAU));
    (-2.0 * u.ln()).sqrt() * v.cos()
}

impl Problem {
    /// Creates a problem, or returns `None` if its values cannot be computed for this number of features.
    pub(crate) fn new(kind: &str, features: usize) -> Result<Option<Self>, Failure> {
        let mut random = ChaCha8Rng::seed_from_u64(features as u64);
        let loadings = (0..features).map(|_| [0; 3].map(|_| 0.5 * normal(&mut random))).collect();
        let network = |random: &mut ChaCha8Rng| -> Vec<Units> {
            if features <= MAX_ENUMERATED {
                return vec![Units::random((0..features).collect(), 24, random)];
            }
            let group = |_| {
                let inputs = (0..INPUTS).map(|_| random.random_range(0..features as u64) as usize);
                let mut inputs: Vec<usize> = inputs.collect();
                inputs.sort_unstable();
                inputs.dedup();
                Units::random(inputs, 2, random)
            };
            (0..features / 2).map(group).collect()
        };
        let units = network(&mut random);
        let mut problem = Self { features, loadings, kind: Kind::Network(units) };
        // The other models are learned from the network.
        let training = |problem: &Self, count: usize| -> Result<(Vec<f64>, Vec<f64>), Failure> {
            let rows = problem.rows(count, 99);
            let mut targets = vec![0.0; count];
            problem.predict(Rows::new(&rows, features), &mut targets)?;
            Ok((rows, targets))
        };
        let pairs = |(rows, targets): (Vec<f64>, Vec<f64>)| -> Vec<(Vec<f64>, f64)> {
            rows.chunks_exact(features).map(<[f64]>::to_vec).zip(targets).collect()
        };
        problem.kind = match kind {
            "network" => return Ok(Some(problem)),
            "kernel" => {
                let mut centres = pairs(training(&problem, 80)?);
                centres.iter_mut().for_each(|(_, weight)| *weight = normal(&mut random));
                Kind::Kernel { gamma: 0.6 / features as f64, centres }
            }
            "trees" => {
                let (rows, mut targets) = training(&problem, 4000)?;
                targets.iter_mut().for_each(|target| *target += 0.5 * normal(&mut random));
                let learning = LearningRows {
                    rows: Rows::new(&rows, features),
                    targets: &targets,
                    outputs: 1,
                    is_categorical: &[],
                };
                let background = Background::baseline(vec![0.0; features])?;
                Kind::Trees(Box::new(Surrogate::learn(learning, &background, &[0.0], 7)?.trees().clone()))
            }
            "linear" => Kind::Linear((0..features).map(|_| normal(&mut random)).collect()),
            "neighbours" if features <= MAX_ENUMERATED => Kind::Neighbours(pairs(training(&problem, 400)?)),
            _ => return Ok(None),
        };
        Ok(Some(problem))
    }

    /// Draws rows of three latent factors and noise; every third feature is rounded.
    pub(crate) fn rows(&self, count: usize, seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(1000 + seed);
        let mut rows = Vec::with_capacity(count * self.features);
        for _ in 0..count {
            let factors = [0; 3].map(|_| normal(&mut random));
            for (feature, loading) in self.loadings.iter().enumerate() {
                let common: f64 = loading.iter().zip(factors).map(|(loading, factor)| loading * factor).sum();
                let value = common + 0.7 * normal(&mut random);
                rows.push(if feature % 3 == 2 { value.round() } else { value });
            }
        }
        rows
    }

    /// Returns the Shapley or Banzhaf values of a row.
    pub(crate) fn values(
        &self,
        value: &Semivalue,
        row: &[f64],
        background: &Background,
    ) -> Result<Vec<f64>, Failure> {
        match &self.kind {
            Kind::Trees(trees) => {
                let background = background.as_rows();
                let explainer = apportion_trees::MarginalTreeExplainer::new(&**trees, background, None)?;
                let rows = Rows::new(row, self.features);
                Ok(apportion_trees::Exact::values_of(&explainer, &value.clone().into(), rows)?.values)
            }
            Kind::Linear(weights) => {
                let mean = |feature: usize| {
                    background.as_rows().iter().map(|row| row[feature]).sum::<f64>() / background.len() as f64
                };
                let value = |feature: usize| weights[feature] * (row[feature] - mean(feature));
                Ok((0..self.features).map(value).collect())
            }
            Kind::Network(groups) if self.features > MAX_ENUMERATED => {
                let mut values = vec![0.0; self.features];
                for units in groups {
                    let part = |row: &[f64]| units.inputs.iter().map(|&input| row[input]).collect::<Vec<_>>();
                    let rows: Vec<f64> = background.as_rows().iter().flat_map(part).collect();
                    let local =
                        Units { inputs: (0..units.inputs.len()).collect(), units: units.units.clone() };
                    let model = |row: &[f64]| local.predict(row);
                    let background = Background::rows(rows, units.inputs.len())?;
                    let game = MarginalGame::new(&model, &part(row), &background)?;
                    let found = enumerate(&game, value.clone())?.values;
                    found.iter().zip(&units.inputs).for_each(|(value, &input)| values[input] += value);
                }
                Ok(values)
            }
            Kind::Kernel { gamma, centres } => Ok(kernel_values(value, *gamma, centres, row, background)),
            _ => Ok(enumerate(&MarginalGame::new(self, row, background)?, value.clone())?.values),
        }
    }
}

/// Returns the values of a sum of products, `(p_j − q_j) ∫ Π_{l≠j} (t p_l + (1 − t) q_l) dt`, by a
/// Gauss–Legendre rule that is exact for polynomials of degree n − 1. For Banzhaf values, t is ½.
fn kernel_values(
    value: &Semivalue,
    gamma: f64,
    centres: &[(Vec<f64>, f64)],
    row: &[f64],
    background: &Background,
) -> Vec<f64> {
    let features = row.len();
    let rule = match value {
        Semivalue::Banzhaf => vec![(0.5, 1.0)],
        _ => gauss_legendre(features.div_ceil(2)),
    };
    let mut values = vec![0.0; features];
    let factor = |value: f64, centre: f64| (-gamma * (value - centre).powi(2)).exp();
    for (centre, weight) in centres {
        let p: Vec<f64> = row.iter().zip(centre).map(|(&value, &centre)| factor(value, centre)).collect();
        for other in background.as_rows().iter() {
            let q: Vec<f64> =
                other.iter().zip(centre).map(|(&value, &centre)| factor(value, centre)).collect();
            for (node, share) in &rule {
                let product: f64 = p.iter().zip(&q).map(|(p, q)| node * p + (1.0 - node) * q).product();
                let scale = weight * share * product / background.len() as f64;
                for ((value, p), q) in values.iter_mut().zip(&p).zip(&q) {
                    *value += scale * (p - q) / (node * p + (1.0 - node) * q);
                }
            }
        }
    }
    values
}

/// Returns the nodes and weights of a Gauss–Legendre rule on [0, 1], by Newton's method.
fn gauss_legendre(count: usize) -> Vec<(f64, f64)> {
    let legendre = |x: f64| {
        let (mut before, mut last) = (1.0, x);
        for degree in 2..=count {
            let k = degree as f64;
            (before, last) = (last, ((2.0 * k - 1.0) * x * last - (k - 1.0) * before) / k);
        }
        (last, count as f64 * (x * last - before) / (x * x - 1.0))
    };
    let node = |at: usize| {
        let mut x = (std::f64::consts::PI * (at as f64 + 0.75) / (count as f64 + 0.5)).cos();
        for _ in 0..50 {
            let (value, slope) = legendre(x);
            x -= value / slope;
        }
        let slope = legendre(x).1;
        (0.5 + 0.5 * x, 1.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..count).map(node).collect()
}

impl Model for Problem {
    fn features(&self) -> Option<usize> {
        Some(self.features)
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        match &self.kind {
            Kind::Network(groups) => {
                for (out, row) in out.iter_mut().zip(rows.iter()) {
                    *out = groups.iter().map(|units| units.predict(row)).sum();
                }
            }
            Kind::Kernel { gamma, centres } => {
                for (out, row) in out.iter_mut().zip(rows.iter()) {
                    let term =
                        |(centre, weight): &(Vec<f64>, f64)| weight * (-gamma * distance(centre, row)).exp();
                    *out = centres.iter().map(term).sum();
                }
            }
            Kind::Linear(weights) => {
                for (out, row) in out.iter_mut().zip(rows.iter()) {
                    *out = row.iter().zip(weights).map(|(value, weight)| value * weight).sum();
                }
            }
            Kind::Trees(trees) => out.copy_from_slice(&trees.margins(rows)?),
            Kind::Neighbours(points) => {
                for (out, row) in out.iter_mut().zip(rows.iter()) {
                    let mut near: Vec<(f64, f64)> =
                        points.iter().map(|(point, target)| (distance(point, row), *target)).collect();
                    near.select_nth_unstable_by(15, |one, other| one.0.total_cmp(&other.0));
                    *out = near[..15].iter().map(|(_, target)| target).sum::<f64>() / 15.0;
                }
            }
        }
        Ok(())
    }
}

fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum()
}
