//! Tests conditional games against closed forms and against their definitions, and checks their errors.

use std::sync::atomic::{AtomicUsize, Ordering};

use apportion_games::{
    Background, BoxError, Coalition, CoalitionView, Coalitions, ConditionalDistribution, ConditionalGame,
    CopulaDistribution, EmpiricalDistribution, ErrorsOfDraws, Fallback, FrequencyDistribution, Game,
    GameError, GaussianDistribution, MarginalGame, Model, Purpose, Rows, Sampling, batch_model, stream,
};
use rand::RngExt;
use rand::distr::Distribution;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use crate::common::{all_coalitions, assert_close, in_pools, one_by_one, values};

// ---- Helpers ----

fn rng(unit: u64) -> ChaCha8Rng {
    stream(2026, Purpose::Experiment, unit)
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn normals(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| normal(rng)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Returns the n × n matrix with entries `entry(i, j)`.
fn matrix(n: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..n * n).map(|at| entry(at / n, at % n)).collect()
}

/// Returns a covariance matrix of full rank whose variances differ: A Aᵀ of a random n × (n + 2) matrix A
/// with scaled rows.
fn random_covariance(rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
    let a: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            normals(rng, n + 2).into_iter().map(|x| x * (1.0 + i as f64 % 3.0) / (n as f64).sqrt()).collect()
        })
        .collect();
    matrix(n, |i, j| dot(&a[i.max(j)], &a[i.min(j)]))
}

/// Returns the means and the covariance matrix of the columns, by definition.
fn moments(rows: &[&[f64]]) -> (Vec<f64>, Vec<f64>) {
    let (n, count) = (rows[0].len(), rows.len() as f64);
    let mean: Vec<f64> = (0..n).map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / count).collect();
    let product =
        |i: usize, j: usize| rows.iter().map(|row| (row[i] - mean[i]) * (row[j] - mean[j])).sum::<f64>();
    let covariance = matrix(n, |i, j| product(i, j) / (count - 1.0));
    (mean, covariance)
}

/// Returns the inverse by Gauss–Jordan elimination with row pivoting.
fn inverse(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| matrix[i].iter().copied().chain((0..n).map(|j| f64::from(u8::from(i == j)))).collect())
        .collect();
    for column in 0..n {
        let pivot =
            (column..n).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs())).unwrap();
        rows.swap(column, pivot);
        let head: Vec<f64> = rows[column].iter().map(|x| x / rows[column][column]).collect();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if i != column {
                row.iter_mut().zip(&head).for_each(|(x, y)| *x -= factor * y);
            }
        }
        rows[column] = head;
    }
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// Returns the mean and covariance of the absent features by the textbook formulas, with an explicit inverse.
fn conditional_moments(
    mean: &[f64],
    covariance: &[f64],
    explicand: &[f64],
    coalition: &Coalition,
) -> (Vec<usize>, Vec<f64>, Vec<Vec<f64>>) {
    let n = mean.len();
    let present: Vec<usize> = coalition.view().members().collect();
    let absent: Vec<usize> = coalition.view().complement().view().members().collect();
    let entry = |i: usize, j: usize| covariance[i * n + j];
    let block = |rows: &[usize], columns: &[usize]| -> Vec<Vec<f64>> {
        rows.iter().map(|&i| columns.iter().map(|&j| entry(i, j)).collect()).collect()
    };
    let (inverse, across) = (inverse(&block(&present, &present)), block(&absent, &present));
    let coefficients: Vec<Vec<f64>> =
        across.iter().map(|row| inverse.iter().map(|column| dot(row, column)).collect()).collect();
    let off: Vec<f64> = present.iter().map(|&j| explicand[j] - mean[j]).collect();
    let rows = || absent.iter().zip(&coefficients);
    let means = rows().map(|(&i, row)| mean[i] + dot(row, &off)).collect();
    let covariances_of = |i: usize, row: &[f64]| -> Vec<f64> {
        absent.iter().zip(&across).map(|(&j, across)| entry(i, j) - dot(row, across)).collect()
    };
    let covariances = rows().map(|(&i, row)| covariances_of(i, row)).collect();
    (absent, means, covariances)
}

fn errors<M: Model + ?Sized, L: ConditionalDistribution + ?Sized>(
    game: &ConditionalGame<'_, M, L>,
    batch: &Coalitions,
) -> Vec<f64> {
    let mut out = vec![0.0; batch.len() * game.outputs()];
    game.standard_errors(batch, &mut out).unwrap();
    out
}

/// Returns the values of the conditional game, and their standard errors.
fn played(
    model: &dyn Model,
    explicand: &[f64],
    distribution: &dyn ConditionalDistribution,
    batch: &Coalitions,
) -> (Vec<f64>, Vec<f64>) {
    let game = ConditionalGame::new(model, explicand, distribution).unwrap();
    (values(&game, batch), errors(&game, batch))
}

fn marginal(model: &dyn Model, explicand: &[f64], rows: &[f64], batch: &Coalitions) -> Vec<f64> {
    let background = Background::rows(rows, explicand.len()).unwrap();
    values(&MarginalGame::new(model, explicand, &background).unwrap(), batch)
}

/// Asserts that every number is within four standard errors of the expected one.
fn assert_within_errors(got: &[f64], expected: &[f64], errors: &[f64], what: &str) {
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        let (off, error) = ((got - expected).abs(), errors[index]);
        assert!(off <= 4.0 * error + 1e-12, "{what}, coalition {index}: {off} of {error}");
    }
}

/// Returns `row` with the explicand's values for the present players.
fn joined(explicand: &[f64], row: &[f64], coalition: CoalitionView<'_>) -> Vec<f64> {
    (0..row.len()).map(|j| if coalition.contains(j) { explicand[j] } else { row[j] }).collect()
}

/// Returns all synthetic rows of a coalition, and their weights.
fn synthetic(
    distribution: &dyn ConditionalDistribution,
    explicand: &[f64],
    coalition: &Coalition,
) -> (Vec<Vec<f64>>, Vec<f64>) {
    let rows = distribution.condition(explicand, coalition.view()).unwrap();
    let mut flat = Vec::new();
    rows.append(0..rows.weights().len(), &mut flat);
    (flat.chunks(distribution.columns()).map(<[f64]>::to_vec).collect(), rows.weights().to_vec())
}

/// Returns a function of the row that is neither additive nor symmetric.
fn curved(row: &[f64]) -> f64 {
    let product: f64 = row.iter().take(2).product();
    product + row.iter().zip(1..).map(|(x, i)| (x * f64::from(i) / 2.0).sin()).sum::<f64>()
}

fn random_coalition(rng: &mut ChaCha8Rng, n: usize) -> Coalition {
    Coalition::from_members(n, (0..n).filter(|_| rng.random::<bool>()).collect::<Vec<_>>())
}

// ---- The normal distribution ----

struct LinearCase {
    mean: Vec<f64>,
    covariance: Vec<f64>,
    beta: Vec<f64>,
    explicand: Vec<f64>,
}

impl LinearCase {
    fn new(n: usize, unit: u64) -> Self {
        let mut rng = rng(unit);
        Self {
            mean: normals(&mut rng, n),
            covariance: random_covariance(&mut rng, n),
            beta: normals(&mut rng, n),
            explicand: normals(&mut rng, n),
        }
    }

    fn model(&self) -> impl Model + '_ {
        |row: &[f64]| 0.7 + dot(row, &self.beta)
    }

    fn distribution(&self, draws: usize, seed: u64) -> GaussianDistribution {
        GaussianDistribution::new(&self.mean, &self.covariance, draws, seed).unwrap()
    }

    /// Returns the absent features, and their conditional mean and covariance given the explicand's present
    /// features.
    fn moments(&self, coalition: &Coalition) -> (Vec<usize>, Vec<f64>, Vec<Vec<f64>>) {
        conditional_moments(&self.mean, &self.covariance, &self.explicand, coalition)
    }

    /// Returns the values of the linear model in closed form: its predictions for the conditional mean rows.
    fn truth(&self, batch: &Coalitions) -> Vec<f64> {
        let at = |coalition: CoalitionView<'_>| {
            let (absent, means, _) = self.moments(&coalition.to_coalition());
            let mut row = self.explicand.clone();
            absent.iter().zip(means).for_each(|(&i, mean)| row[i] = mean);
            0.7 + dot(&row, &self.beta)
        };
        batch.iter().map(at).collect()
    }
}

#[test]
fn gaussian_values_of_a_linear_model_are_the_closed_form_within_four_stated_errors() {
    for n in [1, 2, 6] {
        let case = LinearCase::new(n, n as u64);
        let batch = all_coalitions(n);
        let (values, errors) = played(&case.model(), &case.explicand, &case.distribution(2000, 1), &batch);
        assert_within_errors(&values, &case.truth(&batch), &errors, &format!("{n} features"));
        assert!(errors[..batch.len() - 1].iter().all(|&error| error > 0.0));
        assert_eq!(*errors.last().unwrap(), 0.0);
    }
}

/// There are 40 seeds × 31 coalitions. The coverage of these 1240 intervals has a standard error of 0.6%.
#[test]
fn stated_errors_cover_at_their_level() {
    let case = LinearCase::new(5, 20);
    let (batch, model) = (all_coalitions(5).slice(0..31), case.model());
    let truth = case.truth(&batch);
    let mut covered = 0;
    for seed in 0..40 {
        let (values, errors) = played(&model, &case.explicand, &case.distribution(300, seed), &batch);
        covered += (0..31).filter(|&i| (values[i] - truth[i]).abs() <= 1.96 * errors[i]).count();
    }
    let share = covered as f64 / (40.0 * 31.0);
    assert!((share - 0.95).abs() < 0.02, "{share}");
}

#[test]
fn antithetic_draws_are_exact_for_linear_models_and_state_their_error_for_others() {
    let case = LinearCase::new(6, 21);
    let batch = all_coalitions(6);
    let plain = case.distribution(400, 1);
    let distribution = plain.clone().antithetic().unwrap();
    let (exact, errors) = played(&case.model(), &case.explicand, &distribution, &batch);
    assert_close(&exact, &case.truth(&batch), 1e-11, "linear");
    assert!(errors.iter().all(|&error| error < 1e-12));
    // For a nonlinear model, compare with many independent draws.
    let batch = batch.slice(0..63);
    let (got, errors) = played(&curved, &case.explicand, &distribution, &batch);
    let (expected, others) = played(&curved, &case.explicand, &case.distribution(100_000, 2), &batch);
    let errors: Vec<f64> = errors.iter().zip(others).map(|(one, other)| one.hypot(other)).collect();
    assert_within_errors(&got, &expected, &errors, "curved");
    assert_eq!((distribution.sampling(), plain.sampling()), (Sampling::Antithetic, Sampling::Independent));
}

/// A model of several linear functions that is declared as affine. It counts the rows that it predicts.
struct Affine {
    beta: Vec<Vec<f64>>,
    rows: AtomicUsize,
}

impl Model for Affine {
    fn outputs(&self) -> usize {
        self.beta.len()
    }

    fn is_affine(&self) -> bool {
        true
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        self.rows.fetch_add(rows.len(), Ordering::Relaxed);
        let outputs = rows.iter().flat_map(|row| self.beta.iter().map(|beta| 0.7 + dot(row, beta)));
        out.iter_mut().zip(outputs).for_each(|(out, output)| *out = output);
        Ok(())
    }
}

#[test]
fn an_affine_model_has_the_closed_form_of_a_normal_law_without_a_draw() {
    for n in [1, 2, 5, 8] {
        let case = LinearCase::new(n, 30 + n as u64);
        let batch = all_coalitions(n);
        let opposite: Vec<f64> = case.beta.iter().map(|beta| -2.0 * beta).collect();
        let model = Affine { beta: vec![case.beta.clone(), opposite], rows: AtomicUsize::new(0) };
        let distribution = case.distribution(500, 1);
        let game = ConditionalGame::new(&model, &case.explicand, &distribution).unwrap();
        assert_eq!((game.sampling(), game.scenarios(), game.rows_per_coalition()), (Sampling::Exact, 1, 1));
        let got = values(&game, &batch);
        assert_eq!(model.rows.load(Ordering::Relaxed), batch.len());
        let expected: Vec<f64> =
            case.truth(&batch).into_iter().flat_map(|value| [value, 0.7 - 2.0 * (value - 0.7)]).collect();
        assert_close(&got, &expected, 1e-12, &format!("{n} features"));
        assert!(errors(&game, &batch).iter().all(|&error| error == 0.0));
        assert_eq!(one_by_one(&game, &batch), got);
    }
}

/// The features include a constant and linear combinations of others. The conditional mean must equal the
/// mean of mirrored draws.
#[test]
fn the_means_of_a_degenerate_law_are_those_of_its_mirrored_draws() {
    let rows = degenerate_rows(40);
    let n = 5;
    let distribution = GaussianDistribution::fit(Rows::new(&rows, n), 2, 3).unwrap();
    let mirrored = distribution.clone().antithetic().unwrap();
    let batch = all_coalitions(n);
    for unit in 0..4 {
        let mut rng = rng(60 + unit);
        let (beta, explicand) = (normals(&mut rng, n), normals(&mut rng, n));
        let drawn = |row: &[f64]| 0.7 + dot(row, &beta);
        let model = Affine { beta: vec![beta.clone()], rows: AtomicUsize::new(0) };
        let game = ConditionalGame::new(&model, &explicand, &distribution).unwrap();
        let (expected, _) = played(&drawn, &explicand, &mirrored, &batch);
        assert_close(&values(&game, &batch), &expected, 1e-11, "degenerate");
    }
}

#[test]
fn laws_without_means_draw_for_affine_models_too() {
    let case = LinearCase::new(3, 70);
    let model = Affine { beta: vec![case.beta.clone()], rows: AtomicUsize::new(0) };
    let rows = normals(&mut rng(71), 3 * 20);
    let distribution = CopulaDistribution::fit(Rows::new(&rows, 3), 50, 1).unwrap();
    let game = ConditionalGame::new(&model, &case.explicand, &distribution).unwrap();
    assert_eq!((game.sampling(), game.rows_per_coalition()), (Sampling::Independent, 50));
    let plain = |row: &[f64]| 0.7 + dot(row, &case.beta);
    let batch = all_coalitions(3);
    assert_eq!(values(&game, &batch), played(&plain, &case.explicand, &distribution, &batch).0);
}

#[test]
fn gaussian_draws_have_the_conditional_mean_and_covariance() {
    for n in [1, 2, 5, 70, 130] {
        let case = LinearCase::new(n, 30 + n as u64);
        let (draws, explicand) = (6000, &case.explicand);
        let (distribution, paired) =
            (case.distribution(draws, 5), case.distribution(2, 5).antithetic().unwrap());
        let random = random_coalition(&mut rng(230 + n as u64), n);
        for coalition in [Coalition::empty(n), random, Coalition::from_members(n, 0..n - 1)] {
            let (absent, means, covariances) = case.moments(&coalition);
            // The mean of a mirrored pair must be the conditional mean.
            let (pair, _) = synthetic(&paired, explicand, &coalition);
            let middle: Vec<f64> = absent.iter().map(|&i| (pair[0][i] + pair[1][i]) / 2.0).collect();
            assert_close(&middle, &means, 1e-8, &format!("{n} features, {coalition}"));
            let (rows, _) = synthetic(&distribution, explicand, &coalition);
            assert_eq!(rows.len(), draws);
            assert!(rows.iter().all(|row| coalition.view().members().all(|j| row[j] == explicand[j])));
            for (a, &i) in absent.iter().enumerate() {
                let average = rows.iter().map(|row| row[i]).sum::<f64>() / draws as f64;
                let (off, error) = ((average - means[a]).abs(), (covariances[a][a] / draws as f64).sqrt());
                assert!(off < 5.0 * error, "{n}: mean of {i}: {off} of {error}");
                for (b, &j) in absent[..=a].iter().enumerate() {
                    let product: f64 = rows.iter().map(|row| (row[i] - means[a]) * (row[j] - means[b])).sum();
                    let got = product / draws as f64;
                    let expected = covariances[a][b];
                    // This is the standard error of an estimated covariance, from the variance of a product
                    // of two normal variates. The factor 6 allows for about 10⁴ comparisons.
                    let error =
                        ((covariances[a][a] * covariances[b][b] + expected * expected) / draws as f64).sqrt();
                    assert!((got - expected).abs() < 6.0 * error, "{n}: ({i}, {j}): {got} for {expected}");
                }
            }
        }
    }
}

/// Compares the draws of the fitted distribution with those of the normal distribution that has the mean and
/// covariance of the data.
#[test]
fn a_fitted_normal_law_has_the_mean_and_the_covariance_of_the_data() {
    for (n, count) in [(1, 2), (2, 3), (3, 4), (5, 40)] {
        let mut rng = rng(50 + n as u64);
        let data: Vec<f64> =
            (0..n * count).map(|i| 1e3 + normal(&mut rng) * (1.0 + (i % n) as f64)).collect();
        let (mean, covariance) = moments(&data.chunks(n).collect::<Vec<_>>());
        let explicand: Vec<f64> = mean.iter().map(|m| m + 0.5).collect();
        let fitted = GaussianDistribution::fit(Rows::new(&data, n), 2, 9).unwrap();
        let given = GaussianDistribution::new(&mean, &covariance, 2, 9).unwrap();
        for coalition in all_coalitions(n).iter().map(|row| row.to_coalition()) {
            let [got, expected] = [&fitted, &given]
                .map(|distribution| synthetic(distribution, &explicand, &coalition).0.concat());
            assert_close(&got, &expected, 1e-8, &coalition.to_string());
        }
    }
}

/// Returns a distribution of each kind except frequencies, fitted to the same rows.
fn fitted(
    data: &[f64],
    n: usize,
    draws: usize,
    seed: u64,
) -> [(&'static str, Box<dyn ConditionalDistribution>); 3] {
    let rows = Rows::new(data, n);
    [
        ("gaussian", Box::new(GaussianDistribution::fit(rows, draws, seed).unwrap())),
        ("copula", Box::new(CopulaDistribution::fit(rows, draws, seed).unwrap())),
        ("empirical", Box::new(EmpiricalDistribution::fit(rows).unwrap())),
    ]
}

#[test]
fn units_of_features_do_not_matter() {
    let mut rng = rng(60);
    let (n, count) = (4, 30);
    let data: Vec<f64> = normals(&mut rng, n * count);
    let explicand = normals(&mut rng, n);
    let units = [1.0, 1e120, 1e-150, 1e6];
    let scaled: Vec<f64> = data.iter().enumerate().map(|(i, x)| x * units[i % n]).collect();
    let scaled_explicand: Vec<f64> = explicand.iter().zip(units).map(|(x, unit)| x * unit).collect();
    let in_units =
        move |row: &[f64]| curved(&row.iter().zip(units).map(|(x, unit)| x / unit).collect::<Vec<_>>());
    let batch = all_coalitions(n);
    for ((name, plain), (_, other)) in fitted(&data, n, 20, 1).iter().zip(fitted(&scaled, n, 20, 1)) {
        let (expected, _) = played(&curved, &explicand, &**plain, &batch);
        let (got, _) = played(&in_units, &scaled_explicand, &*other, &batch);
        assert_close(&got, &expected, 1e-9, name);
    }
}

// ---- Degenerate covariances ----

/// Returns rows of x₀, x₁, a constant, a copy 2 x₀ + 1, and the sum x₀ + x₁.
fn degenerate_rows(count: usize) -> Vec<f64> {
    let mut rng = rng(70);
    (0..count)
        .flat_map(|_| {
            let (a, b) = (normal(&mut rng), 3.0 * normal(&mut rng));
            [a, b, 4.25, 2.0 * a + 1.0, a + b]
        })
        .collect()
}

#[test]
fn draws_keep_constants_and_linear_relations() {
    let data = degenerate_rows(50);
    let distribution = GaussianDistribution::fit(Rows::new(&data, 5), 20, 3).unwrap();
    let copula = CopulaDistribution::fit(Rows::new(&data, 5), 20, 3).unwrap();
    let explicand = [0.3, -1.0, 4.25, 1.6, -0.7];
    for coalition in all_coalitions(5).iter().map(|row| row.to_coalition()) {
        for row in synthetic(&distribution, &explicand, &coalition).0 {
            assert!((row[3] - 2.0 * row[0] - 1.0).abs() < 1e-7, "{coalition}: {row:?}");
            assert!((row[4] - row[0] - row[1]).abs() < 1e-7, "{coalition}: {row:?}");
            assert_eq!(row[2], 4.25);
        }
        // The copula preserves constants, and monotone relations between absent features.
        for row in synthetic(&copula, &explicand, &coalition).0 {
            assert_eq!(row[2], 4.25);
            if !coalition.view().contains(0) && !coalition.view().contains(3) {
                assert!((row[3] - 2.0 * row[0] - 1.0).abs() < 1e-6, "{coalition}: {row:?}");
            }
        }
    }
}

#[test]
fn a_degenerate_law_is_the_limit_of_regular_ones_even_for_explicands_that_break_its_relations() {
    let data = degenerate_rows(50);
    let n = 5;
    // Use the correlation matrix of the data, regularized by 10⁻⁸ on the diagonal.
    let columns: Vec<Vec<f64>> = (0..n)
        .map(|j| {
            let column: Vec<f64> = data.iter().skip(j).step_by(n).copied().collect();
            let mean = column.iter().sum::<f64>() / 50.0;
            let norm = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>().sqrt();
            column.iter().map(|x| if norm < 1e-9 { 0.0 } else { (x - mean) / norm }).collect()
        })
        .collect();
    let correlation =
        |ridge: f64| matrix(n, |i, j| dot(&columns[i], &columns[j]) + if i == j { ridge } else { 0.0 });
    let mean = vec![0.0; n];
    let degenerate = GaussianDistribution::new(&mean, &correlation(0.0), 2, 1).unwrap().antithetic().unwrap();
    // The explicand violates all three relations.
    let explicand = [1.0, -2.0, 0.7, 3.0, 0.5];
    for coalition in all_coalitions(n).iter().map(|row| row.to_coalition()) {
        let (absent, means, _) = conditional_moments(&mean, &correlation(1e-8), &explicand, &coalition);
        let (pair, _) = synthetic(&degenerate, &explicand, &coalition);
        let middle: Vec<f64> = absent.iter().map(|&i| (pair[0][i] + pair[1][i]) / 2.0).collect();
        assert_close(&middle, &means, 1e-5, &coalition.to_string());
    }
}

#[test]
fn a_constant_feature_says_nothing_whatever_its_value() {
    let data = degenerate_rows(50);
    for (name, distribution) in fitted(&data, 5, 10, 3) {
        let at = |constant: f64| -> Vec<[f64; 3]> {
            let explicand = [0.3, -1.0, constant, 1.6, -0.7];
            let (rows, _) = synthetic(&*distribution, &explicand, &Coalition::from_members(5, [0, 2]));
            rows.iter().map(|row| [row[1], row[3], row[4]]).collect()
        };
        assert_eq!(at(4.25), at(1e9), "{name}");
    }
}

#[test]
fn degenerate_laws_of_many_features_are_drawn_from() {
    // There are 70 features, in pairs of equal ones.
    let mut rng = rng(71);
    let data: Vec<f64> =
        (0..100).flat_map(|_| normals(&mut rng, 35).into_iter().flat_map(|x| [x, x])).collect();
    let distribution = GaussianDistribution::fit(Rows::new(&data, 70), 3, 1).unwrap();
    let explicand = data[..70].to_vec();
    for _ in 0..5 {
        let coalition = random_coalition(&mut rng, 70);
        for row in synthetic(&distribution, &explicand, &coalition).0 {
            assert!(row.chunks(2).all(|pair| (pair[0] - pair[1]).abs() < 1e-7), "{coalition}");
        }
    }
}

// ---- The copula ----

/// Returns the approximate error of a coalition value that is due to fitting the distribution to N rows. The
/// coefficients of the scores z have errors of about 1/√N. Therefore a value given z_S has an error of about
/// |β| √(1 + |z_S|²) / √N, in units of the scores.
fn fitting_error(beta: &[f64], scores: impl Iterator<Item = f64>, rows: usize) -> f64 {
    let size = beta.iter().map(|b| b * b).sum::<f64>().sqrt();
    size * ((1.0 + scores.map(|z| z * z).sum::<f64>()) / rows as f64).sqrt()
}

#[test]
fn a_copula_fitted_to_normal_or_lognormal_data_gives_the_normal_closed_form() {
    let (n, count) = (4, 20_000);
    let case = LinearCase::new(n, 80);
    let data = synthetic(&case.distribution(count, 11), &case.explicand, &Coalition::empty(n)).0.concat();
    let batch = all_coalitions(n);
    let truth = case.truth(&batch);
    let linear = case.model();
    let of_logarithms = |row: &[f64]| {
        let mut out = [0.0];
        let logarithms: Vec<f64> = row.iter().map(|x| x.ln()).collect();
        linear.predict(Rows::new(&logarithms, 4), &mut out).unwrap();
        out[0]
    };
    let exponential = |values: &[f64]| values.iter().map(|x| x.exp()).collect::<Vec<f64>>();
    let normal_distribution = CopulaDistribution::fit(Rows::new(&data, n), 4000, 3).unwrap();
    let lognormal_distribution = CopulaDistribution::fit(Rows::new(&exponential(&data), n), 4000, 3).unwrap();
    let explicand = exponential(&case.explicand);
    let (normal, stated) = played(&linear, &case.explicand, &normal_distribution, &batch);
    let (lognormal, _) = played(&of_logarithms, &explicand, &lognormal_distribution, &batch);
    let deviations: Vec<f64> = (0..n).map(|j| case.covariance[j * n + j].sqrt()).collect();
    let beta: Vec<f64> = case.beta.iter().zip(&deviations).map(|(b, d)| b * d).collect();
    let error = |index: usize| {
        let scores = batch.row(index).members().map(|j| (case.explicand[j] - case.mean[j]) / deviations[j]);
        stated[index].hypot(fitting_error(&beta, scores, count))
    };
    let errors: Vec<f64> = (0..batch.len()).map(error).collect();
    assert_within_errors(&normal, &truth, &errors, "normal");
    assert_within_errors(&lognormal, &truth, &errors, "lognormal");
}

#[test]
fn a_copula_depends_on_ranks_alone() {
    let mut rng = rng(81);
    let data: Vec<f64> = normals(&mut rng, 3 * 40);
    let cubed: Vec<f64> = data.iter().map(|x| x.powi(3)).collect();
    let distribution = CopulaDistribution::fit(Rows::new(&data, 3), 10, 3).unwrap();
    let of_cubes = CopulaDistribution::fit(Rows::new(&cubed, 3), 10, 3).unwrap();
    // The explicand is a row of the data. For both distributions, a drawn value must lie between the same two
    // rows.
    let coalition = Coalition::from_members(3, [1]);
    let (rows, _) = synthetic(&distribution, &data[..3], &coalition);
    let (others, _) = synthetic(&of_cubes, &cubed[..3], &coalition);
    for (row, other) in rows.iter().zip(&others) {
        for j in [0, 2] {
            let below =
                |value: f64, data: &[f64]| data.iter().skip(j).step_by(3).filter(|&&x| x < value).count();
            assert_eq!(below(row[j], &data), below(other[j], &cubed));
        }
    }
}

#[test]
fn an_explicand_outside_the_data_is_as_extreme_as_the_most_extreme_row() {
    let mut rng = rng(82);
    let data: Vec<f64> = normals(&mut rng, 3 * 40);
    let largest = data.iter().step_by(3).copied().fold(f64::NEG_INFINITY, f64::max);
    let distribution = CopulaDistribution::fit(Rows::new(&data, 3), 10, 3).unwrap();
    let coalition = Coalition::from_members(3, [0]);
    let (inside, _) = synthetic(&distribution, &[largest, 0.0, 0.0], &coalition);
    let (outside, _) = synthetic(&distribution, &[1e6, 0.0, 0.0], &coalition);
    for (inside, outside) in inside.iter().zip(&outside) {
        assert_eq!((inside[0], outside[0]), (largest, 1e6));
        assert_eq!(inside[1..], outside[1..]);
    }
}

// ---- The empirical distribution ----

/// Returns the normalized weight of every row, by definition.
fn empirical_weights(
    data: &[f64],
    n: usize,
    explicand: &[f64],
    coalition: &Coalition,
    (bandwidth, share, most): (f64, f64, usize),
) -> Vec<f64> {
    let rows: Vec<&[f64]> = data.chunks(n).collect();
    let present: Vec<usize> = coalition.view().members().collect();
    if present.is_empty() {
        return vec![1.0 / rows.len() as f64; rows.len()];
    }
    let (_, covariance) = moments(&rows);
    let block: Vec<Vec<f64>> =
        present.iter().map(|&i| present.iter().map(|&j| covariance[i * n + j]).collect()).collect();
    let inverse = inverse(&block);
    let mut weighted: Vec<(f64, usize)> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| {
            let off: Vec<f64> = present.iter().map(|&j| explicand[j] - row[j]).collect();
            let square = dot(&off, &inverse.iter().map(|row| dot(row, &off)).collect::<Vec<f64>>());
            ((-square / present.len() as f64 / (2.0 * bandwidth * bandwidth)).exp(), index)
        })
        .collect();
    weighted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total: f64 = weighted.iter().map(|(weight, _)| weight).sum();
    let mut weights = vec![0.0; rows.len()];
    let mut held = 0.0;
    for &(weight, index) in weighted.iter().take(most) {
        held += weight;
        weights[index] = weight;
        if held >= share * total {
            break;
        }
    }
    weights.iter().map(|weight| weight / held).collect()
}

#[test]
fn the_empirical_law_is_its_definition() {
    for (n, count) in [(1, 30), (2, 40), (3, 200), (6, 50), (66, 80), (130, 140)] {
        let mut rng = rng(90 + n as u64);
        let shared = normals(&mut rng, count);
        let data: Vec<f64> = (0..n * count).map(|i| shared[i / n] + normal(&mut rng)).collect();
        let explicand = normals(&mut rng, n);
        for (bandwidth, share, most) in
            [(0.1, 0.95, 1000), (0.5, 0.9, 1000), (1.0, 0.99, 7), (3.0, 0.5, 1000)]
        {
            let distribution = EmpiricalDistribution::fit(Rows::new(&data, n)).unwrap();
            let distribution = distribution.with_bandwidth(bandwidth).unwrap().with_share(share).unwrap();
            let distribution = distribution.with_max_rows(most).unwrap();
            let game = ConditionalGame::new(&curved, &explicand, &distribution).unwrap();
            let mut batch = Coalitions::new(n);
            batch.push_empty();
            (0..12).for_each(|_| batch.push(random_coalition(&mut rng, n).view()));
            let stated = errors(&game, &batch);
            for ((coalition, value), stated) in batch.iter().zip(values(&game, &batch)).zip(stated) {
                let parameters = (bandwidth, share, most);
                let weights = empirical_weights(&data, n, &explicand, &coalition.to_coalition(), parameters);
                let prediction = |row: &[f64]| curved(&joined(&explicand, row, coalition));
                if coalition.size() == n {
                    assert_eq!((value, stated), (curved(&explicand), 0.0));
                    continue;
                }
                let weighted: Vec<(f64, f64)> =
                    data.chunks(n).map(prediction).zip(weights).filter(|&(_, weight)| weight > 0.0).collect();
                let expected: f64 = weighted.iter().map(|(value, weight)| value * weight).sum();
                assert_close(&[value], &[expected], 1e-8, &coalition.to_string());
                // The squared standard error is the weighted variance divided by the effective sample size.
                let squares: f64 = weighted.iter().map(|(_, weight)| weight * weight).sum();
                let spread: f64 =
                    weighted.iter().map(|(value, weight)| weight * (value - expected).powi(2)).sum();
                let error = (spread / (1.0 - squares) * squares).sqrt();
                if 1.0 - squares > 1e-3 {
                    assert!((stated - error).abs() < 1e-6 * error, "{coalition}: {stated} for {error}");
                }
            }
        }
    }
}

#[test]
fn an_explicand_far_from_all_rows_is_explained_by_the_nearest() {
    let data: Vec<f64> = (0..40).flat_map(|i| [f64::from(i), f64::from((i * 7) % 40)]).collect();
    for bandwidth in [0.1, 1e-200] {
        let distribution =
            EmpiricalDistribution::fit(Rows::new(&data, 2)).unwrap().with_bandwidth(bandwidth).unwrap();
        let (rows, weights) = synthetic(&distribution, &[1e9, 0.0], &Coalition::from_members(2, [0]));
        assert_eq!((rows[0][1], weights[0]), (f64::from((39 * 7) % 40), 1.0));
        let game = ConditionalGame::new(&curved, &[1e9, 0.0], &distribution).unwrap();
        assert!(values(&game, &all_coalitions(2)).iter().all(|value| value.is_finite()));
    }
}

#[test]
fn a_wide_kernel_gives_the_marginal_game() {
    let mut rng = rng(95);
    let data = normals(&mut rng, 4 * 90);
    let distribution = EmpiricalDistribution::fit(Rows::new(&data, 4))
        .unwrap()
        .with_bandwidth(1e8)
        .unwrap()
        .with_share(1.0)
        .unwrap();
    let explicand = normals(&mut rng, 4);
    let batch = all_coalitions(4);
    let (got, _) = played(&curved, &explicand, &distribution, &batch);
    assert_close(&got, &marginal(&curved, &explicand, &data, &batch), 1e-12, "a wide kernel");
}

#[test]
fn the_empty_coalition_is_the_mean_over_all_rows_even_where_rows_are_limited() {
    let mut rng = rng(96);
    let data = normals(&mut rng, 2 * 500);
    let distribution = EmpiricalDistribution::fit(Rows::new(&data, 2)).unwrap().with_max_rows(3).unwrap();
    let game = ConditionalGame::new(&curved, &[0.0, 1.0], &distribution).unwrap();
    let mean = data.chunks(2).map(curved).sum::<f64>() / 500.0;
    // Add other coalitions to the batch, so that their rows share a chunk.
    let batch = all_coalitions(2);
    assert!((values(&game, &batch)[0] - mean).abs() < 1e-12);
    assert_eq!(values(&game, &batch.slice(0..1))[0], values(&game, &batch)[0]);
    assert_eq!(game.rows_per_coalition(), 3);
}

// ---- Frequencies ----

#[test]
fn frequencies_give_exact_conditional_expectations_of_a_joint_table() {
    // The cells of the table are (a, b, c) for a in {0, 1}, b in {0, 1, 2} and c in {0, 1}.
    let cells: Vec<[f64; 3]> =
        (0..12).map(|i| [f64::from(i / 6), f64::from(i / 2 % 3), f64::from(i % 2)]).collect();
    let probabilities: Vec<f64> = (0..12).map(|i| f64::from(i * i % 7 + 1) / 50.0).collect();
    let table = Background::rows(cells.concat(), 3).unwrap().with_weights(&probabilities).unwrap();
    let distribution = FrequencyDistribution::from_table(&table);
    for explicand in &cells {
        let game = ConditionalGame::new(&curved, explicand, &distribution).unwrap();
        let batch = all_coalitions(3);
        for (coalition, value) in batch.iter().zip(values(&game, &batch)) {
            let (mut above, mut below) = (0.0, 0.0);
            for (cell, probability) in cells.iter().zip(&probabilities) {
                if coalition.members().all(|j| cell[j] == explicand[j]) {
                    above += probability * curved(cell);
                    below += probability;
                }
            }
            let expected = above / below;
            assert!((value - expected).abs() < 1e-14, "{coalition}: {value} for {expected}");
        }
        assert_eq!(errors(&game, &batch), [0.0; 8]);
        assert_eq!((game.scenarios(), game.rows_per_coalition()), (1, 12));
    }
}

#[test]
fn frequencies_count_the_rows_that_agree() {
    let mut rng = rng(100);
    for n in [1, 2, 5, 66, 130] {
        let count = 60;
        // Use few categories, including zeros of both signs and missing values.
        let categories = [0.0, -0.0, 1.0, f64::NAN];
        let data: Vec<f64> = (0..n * count).map(|_| categories[rng.random_range(0..4)]).collect();
        let distribution = FrequencyDistribution::fit(Rows::new(&data, n)).unwrap();
        let model = |row: &[f64]| {
            row.iter().zip(1..).map(|(x, i)| if x.is_nan() { 0.5 } else { x * f64::from(i) }).sum()
        };
        let explicand = &data[..n];
        let game = ConditionalGame::new(&model, explicand, &distribution).unwrap();
        let mut batch = Coalitions::new(n);
        batch.push_empty();
        (0..n.min(5)).for_each(|j| batch.push_members([j]));
        batch.push_members([0, n - 1]);
        batch.push_full();
        let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
        for (coalition, value) in batch.iter().zip(values(&game, &batch)) {
            let agreeing: Vec<f64> = data
                .chunks(n)
                .filter(|row| coalition.members().all(|j| same(row[j], explicand[j])))
                .map(&model)
                .collect();
            let expected = agreeing.iter().sum::<f64>() / agreeing.len() as f64;
            assert!((value - expected).abs() < 1e-10, "{coalition}: {value} for {expected}");
        }
    }
}

#[test]
fn where_no_row_agrees_frequencies_refuse_or_fall_back_to_the_marginal_law() {
    let data = [0.0, 0.0, 1.0, 1.0, 0.0, 1.0];
    let distribution = FrequencyDistribution::fit(Rows::new(&data, 2)).unwrap();
    let explicand = [0.0, 7.0];
    let game = ConditionalGame::new(&curved, &explicand, &distribution).unwrap();
    let mut out = [0.0; 4];
    let refused = game.values(&all_coalitions(2), &mut out).unwrap_err();
    assert!(matches!(&refused, GameError::NoAgreement { coalition } if coalition.to_string() == "{1} of 2"));
    assert!(refused.to_string().contains("a fallback"), "{refused}");

    let distribution = distribution.with_fallback(Fallback::Marginal);
    let game = ConditionalGame::new(&curved, &explicand, &distribution).unwrap();
    let expected = marginal(&curved, &explicand, &data, &all_coalitions(2));
    let got = values(&game, &all_coalitions(2));
    assert!((got[2] - expected[2]).abs() < 1e-15);
    assert!((got[1] - expected[1]).abs() > 0.01, "conditional where it can be");
}

#[test]
fn the_nearest_rows_are_those_that_agree_on_the_most_features() {
    let mut rng = rng(101);
    for n in [1, 2, 5, 70] {
        let data: Vec<f64> = (0..n * 40).map(|_| f64::from(rng.random_range(0..3))).collect();
        let weights: Vec<f64> = (0..40).map(|row| f64::from(row % 4)).collect();
        let table = Background::rows(data.clone(), n).unwrap().with_weights(&weights).unwrap();
        let distribution = FrequencyDistribution::from_table(&table).with_fallback(Fallback::Nearest);
        // The last category does not occur in any row.
        let explicand: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(0..4))).collect();
        let game = ConditionalGame::new(&curved, &explicand, &distribution).unwrap();
        let mut batch = Coalitions::new(n);
        batch.push_empty();
        (0..20).for_each(|_| batch.push(random_coalition(&mut rng, n).view()));
        for (coalition, value) in batch.iter().zip(values(&game, &batch)) {
            let agreements = |row: &[f64]| coalition.members().filter(|&j| row[j] == explicand[j]).count();
            let probable = || data.chunks(n).zip(&weights).filter(|&(_, &weight)| weight > 0.0);
            let most = probable().map(|(row, _)| agreements(row)).max().unwrap();
            let (mut above, mut below) = (0.0, 0.0);
            for (row, weight) in probable().filter(|(row, _)| agreements(row) == most) {
                above += weight * curved(&joined(&explicand, row, coalition));
                below += weight;
            }
            assert_close(&[value], &[above / below], 1e-12, &coalition.to_string());
        }
    }
}

// ---- Independence ----

/// Returns rows with all combinations of a few values, so that the features are exactly independent.
fn factorial() -> Vec<f64> {
    let levels = [-1.3, -0.2, 0.4, 1.1, 2.0];
    (0..125).flat_map(|i| [levels[i / 25], levels[i / 5 % 5], levels[i % 5]]).collect()
}

#[test]
fn rows_of_a_factorial_design_give_the_marginal_game_exactly() {
    let data = factorial();
    let (explicand, batch) = ([0.4, -1.3, 1.1], all_coalitions(3));
    let expected = marginal(&curved, &explicand, &data, &batch);
    let empirical = EmpiricalDistribution::fit(Rows::new(&data, 3)).unwrap().with_share(1.0).unwrap();
    let frequency = FrequencyDistribution::fit(Rows::new(&data, 3)).unwrap();
    for distribution in [&empirical as &dyn ConditionalDistribution, &frequency] {
        let (got, _) = played(&curved, &explicand, distribution, &batch);
        assert_close(&got, &expected, 1e-12, &format!("{:?}", distribution.sampling()));
    }
}

/// Compares the marginal game over N rows of independent features with distributions fitted to the same rows.
/// The difference has three sources of error, which are assumed to be independent. The first is the reported
/// standard error; the second is the error of a mean over N rows (their standard deviation divided by √N).
/// The third applies to fitted distributions: their correlations are estimated with errors of about 1/√N
/// around 0, which adds |z_S| times the second part.
#[test]
fn all_conditional_games_are_the_marginal_one_under_independence() {
    let (n, count) = (3, 4000);
    let mut rng = rng(110);
    let normal_rows: Vec<f64> = normals(&mut rng, n * count);
    // The features are exponential, uniform and cubed normal.
    let odd_rows: Vec<f64> = (0..count)
        .flat_map(|_| [-rng.random::<f64>().ln(), rng.random::<f64>(), normal(&mut rng).powi(3) / 3.0])
        .collect();
    let discrete_rows: Vec<f64> = (0..n * count).map(|_| f64::from(rng.random_range(0..3))).collect();
    let gaussian = GaussianDistribution::fit(Rows::new(&normal_rows, n), 4000, 1).unwrap();
    let copula = CopulaDistribution::fit(Rows::new(&odd_rows, n), 4000, 1).unwrap();
    let empirical = EmpiricalDistribution::fit(Rows::new(&normal_rows, n)).unwrap();
    let frequency = FrequencyDistribution::fit(Rows::new(&discrete_rows, n)).unwrap();
    let cases = [
        ("gaussian", &gaussian as &dyn ConditionalDistribution, &normal_rows, [0.5, -0.8, 0.3]),
        ("copula", &copula as &dyn ConditionalDistribution, &odd_rows, [0.9, 0.7, -0.2]),
        ("empirical", &empirical as &dyn ConditionalDistribution, &normal_rows, [0.5, -0.8, 0.3]),
        ("frequency", &frequency as &dyn ConditionalDistribution, &discrete_rows, [2.0, 0.0, 1.0]),
    ];
    for (name, distribution, data, explicand) in cases {
        let batch = all_coalitions(n);
        let (got, stated) = played(&curved, &explicand, distribution, &batch);
        let expected = marginal(&curved, &explicand, data, &batch);
        let error = |(index, coalition): (usize, CoalitionView<'_>)| {
            let off = |row: &[f64]| curved(&joined(&explicand, row, coalition)) - expected[index];
            let squares: f64 = data.chunks(n).map(|row| off(row).powi(2)).sum();
            let deviation = (squares / count as f64).sqrt();
            let of_mean = deviation / (count as f64).sqrt();
            let of_fit = match name {
                // The explicands are within one standard deviation in each feature, so |z_S| is at most √|S|.
                "gaussian" | "copula" => of_mean * (coalition.size() as f64).sqrt(),
                "empirical" => 0.0,
                // The game averages over the matching rows; each present feature keeps about a third of the
                // rows.
                _ => deviation / (count as f64 / 3f64.powi(coalition.size() as i32)).sqrt(),
            };
            (stated[index].powi(2) + of_mean.powi(2) + of_fit.powi(2)).sqrt()
        };
        let errors: Vec<f64> = batch.iter().enumerate().map(error).collect();
        assert_within_errors(&got, &expected, &errors, name);
    }
}

// ---- Streams, scenarios, costs ----

/// The explicand of [`drawn_distributions`].
const FIVE: [f64; 5] = [0.1, 0.2, 0.3, 0.4, 0.5];

fn drawn_distributions() -> Vec<Box<dyn ConditionalDistribution>> {
    let case = LinearCase::new(5, 120);
    let distribution = case.distribution(150, 42);
    let data = synthetic(&distribution, &case.explicand, &Coalition::empty(5)).0.concat();
    let copula = CopulaDistribution::fit(Rows::new(&data, 5), 150, 42).unwrap();
    vec![
        Box::new(distribution.clone()),
        Box::new(distribution.antithetic().unwrap()),
        Box::new(copula.clone()),
        Box::new(copula.antithetic().unwrap()),
    ]
}

#[test]
fn a_coalition_has_the_same_draws_in_any_batch_order_chunk_thread_and_for_any_explicand() {
    let empirical = EmpiricalDistribution::fit(Rows::new(&factorial().repeat(2)[..700], 5)).unwrap();
    let mut distributions = drawn_distributions();
    distributions.push(Box::new(empirical));
    let batch = all_coalitions(5);
    let serial = batch_model(1, |rows: Rows<'_>| Ok(rows.iter().map(curved).collect())).serial();
    for distribution in &distributions {
        let game = ConditionalGame::new(&curved, &FIVE, &**distribution).unwrap();
        let together = values(&game, &batch);
        assert_eq!(one_by_one(&game, &batch), together);
        for pooled in in_pools(|| (values(&game, &batch), errors(&game, &batch))) {
            assert_eq!(pooled, (together.clone(), errors(&game, &batch)));
        }
        // A serial model is evaluated in larger chunks, which must not change the values.
        let game = ConditionalGame::new(&serial, &FIVE, &**distribution).unwrap();
        assert_eq!(values(&game, &batch), together);
    }
    // The random part is the same for another explicand: the draws differ by a constant vector.
    let coalition = Coalition::from_members(5, [1, 3]);
    let (rows, _) = synthetic(&*distributions[0], &FIVE, &coalition);
    let (others, _) = synthetic(&*distributions[0], &[9.0, -9.0, 9.0, 2.0, 9.0], &coalition);
    for (row, other) in rows.iter().zip(&others) {
        for j in [0, 2, 4] {
            assert!((row[j] - other[j] - (rows[0][j] - others[0][j])).abs() < 1e-12);
        }
    }
}

// Stored results record their seed, so the draws must not change. They are compared up to rounding, because
// factorizations may round differently on other machines.
#[test]
fn first_draws_are_fixed() {
    let distribution =
        GaussianDistribution::new(&[0.0, 1.0, 2.0], &[1.0, 0.5, 0.0, 0.5, 1.0, 0.2, 0.0, 0.2, 1.0], 2, 42)
            .unwrap();
    for (members, expected) in [
        (vec![], vec![-1.853729619, 0.678943589, 2.576320794, 0.843824689, -0.305569623, 1.857547733]),
        (vec![0, 2], vec![0.0, 1.047215747, 0.0, 0.0, 2.372913735, 0.0]),
    ] {
        let (rows, _) = synthetic(&distribution, &[0.0; 3], &Coalition::from_members(3, members));
        assert_close(&rows.concat(), &expected, 1e-8, "first draws");
    }
}

#[test]
fn coalitions_draw_independently() {
    // The last feature has the same distribution for both coalitions. Their draws must be uncorrelated, up to
    // 4 standard errors.
    let distribution =
        GaussianDistribution::new(&[0.0; 3], &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 10_000, 1)
            .unwrap();
    let column = |members: &[usize]| -> Vec<f64> {
        let coalition = Coalition::from_members(3, members.iter().copied());
        synthetic(&distribution, &[0.0; 3], &coalition).0.iter().map(|row| row[2]).collect()
    };
    let (a, b) = (column(&[0]), column(&[1]));
    let correlation = a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() / 10_000.0;
    assert!(correlation.abs() < 4.0 / 100.0, "{correlation}");
    // Successive draws of one coalition must be uncorrelated too.
    let lagged = a.iter().zip(&a[1..]).map(|(a, b)| a * b).sum::<f64>() / 9999.0;
    assert!(lagged.abs() < 4.0 / 100.0, "{lagged}");
}

#[test]
fn the_mean_over_the_scenarios_is_the_game() {
    let batch = all_coalitions(5);
    for distribution in drawn_distributions() {
        let game = ConditionalGame::new(&curved, &FIVE, &*distribution).unwrap();
        assert_eq!((game.scenarios(), game.scenario_weights(), game.rows_per_coalition()), (150, None, 150));
        let mut sums = vec![0.0; 32];
        let mut out = vec![0.0; 32];
        for scenario in 0..150 {
            game.values_in_scenarios(&batch, &[scenario; 32], &mut out).unwrap();
            sums.iter_mut().zip(&out).for_each(|(sum, value)| *sum += value / 150.0);
        }
        assert_close(&sums, &values(&game, &batch), 1e-12, "the mean");
    }
    let weighted = EmpiricalDistribution::fit(Rows::new(&factorial(), 3)).unwrap();
    let game = ConditionalGame::new(&curved, &[0.0, 0.1, 0.2], &weighted).unwrap();
    let mut out = [0.0; 8];
    game.values_in_scenarios(&all_coalitions(3), &[0; 8], &mut out).unwrap();
    assert_eq!((game.scenarios(), out.to_vec()), (1, values(&game, &all_coalitions(3))));
}

#[test]
fn the_grand_coalition_is_the_prediction_itself_at_the_price_of_one_row() {
    let asked = AtomicUsize::new(0);
    let model = |row: &[f64]| {
        asked.fetch_add(1, Ordering::Relaxed);
        curved(row)
    };
    for distribution in drawn_distributions() {
        let game = ConditionalGame::new(&model, &FIVE, &*distribution).unwrap();
        asked.store(0, Ordering::Relaxed);
        assert_eq!(values(&game, &all_coalitions(5).slice(31..32)), [curved(&FIVE)]);
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert_eq!(values(&game, &all_coalitions(5).slice(0..1)).len(), 1);
        assert_eq!(asked.load(Ordering::Relaxed), 151);
    }
}

#[test]
fn outputs_are_averaged_each_on_its_own() {
    let both =
        batch_model(2, |rows: Rows<'_>| Ok(rows.iter().flat_map(|row| [curved(row), row[0]]).collect()));
    let first = |row: &[f64]| row[0];
    for distribution in drawn_distributions() {
        let batch = all_coalitions(5);
        let (values, errors) = played(&both, &FIVE, &*distribution, &batch);
        for (output, model) in [&curved as &dyn Model, &first].into_iter().enumerate() {
            let alone = played(model, &FIVE, &*distribution, &batch);
            assert!(alone.0.iter().eq(values.iter().skip(output).step_by(2)));
            assert!(alone.1.iter().eq(errors.iter().skip(output).step_by(2)));
        }
    }
}

// ---- Bad input ----

fn message<T>(result: Result<T, GameError>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

/// Returns the error messages of fitting each kind of distribution except frequencies to `rows`.
fn refused_fits(rows: Rows<'_>) -> [String; 3] {
    [
        message(GaussianDistribution::fit(rows, 10, 0)),
        message(CopulaDistribution::fit(rows, 10, 0)),
        message(EmpiricalDistribution::fit(rows)),
    ]
}

#[test]
fn data_with_missing_or_infinite_values_are_refused_with_row_and_column() {
    for (value, words) in
        [(f64::NAN, "has a missing value in column 1"), (f64::INFINITY, "the value inf in column 1")]
    {
        let mut data = vec![0.5; 20];
        data[2 * 3 + 1] = value;
        let rows = Rows::new(&data, 2);
        for said in refused_fits(rows) {
            assert!(said.contains("row 3 of the data") && said.contains(words), "{said}");
        }
        assert!(FrequencyDistribution::fit(rows).is_ok());
    }
}

#[test]
fn fewer_rows_than_features_and_one_are_refused() {
    let data = [0.0, 1.0, 2.0, 5.0, 1.0, 3.0];
    for said in refused_fits(Rows::new(&data, 3)) {
        assert!(said.contains("at least 4 rows of data, got 2"), "{said}");
        assert!(said.contains("requires more than n rows"), "{said}");
    }
    let none = message(FrequencyDistribution::fit(Rows::new(&[], 3)));
    assert!(none.contains("at least 1 row of data"), "{none}");
}

#[test]
fn a_matrix_that_is_no_covariance_is_refused_with_what_is_wrong() {
    let said = |covariance: &[f64]| message(GaussianDistribution::new(&[0.0, 0.0], covariance, 10, 0));
    for (covariance, words) in [
        (&[1.0, 0.0, 1.0][..], "expected 4 entries (n × n for the n = 2 entries of the mean), got 3"),
        (&[1.0, f64::NAN, 0.0, 1.0], "entry (0, 1) is NaN"),
        (&[1.0, 0.0, 0.0, -2.0], "variance at (1, 1) is -2"),
        (&[1.0, 0.5, 0.4, 1.0], "entry (1, 0) is 0.4, but (0, 1) is 0.5"),
        (
            &[1.0, 3.0, 3.0, 4.0],
            "entry (1, 0) is 3, more than the product of the standard deviations 2 and 1",
        ),
        (&[0.0, 0.1, 0.1, 1.0], "entry (1, 0) is 0.1"),
    ] {
        assert!(said(covariance).contains(words), "{}", said(covariance));
    }
    // Each pair of correlations is possible, but the three together are not: the eigenvalues are 1 − 2 · 0.9,
    // 1.9 and 1.9.
    let three = [1.0, -0.9, -0.9, -0.9, 1.0, -0.9, -0.9, -0.9, 1.0];
    let refused = message(GaussianDistribution::new(&[0.0; 3], &three, 10, 0));
    assert!(refused.contains("an eigenvalue of the correlation matrix is -0.8"), "{refused}");
    // Degenerate covariances are allowed.
    assert!(GaussianDistribution::new(&[0.0; 2], &[1.0, 2.0, 2.0, 4.0], 10, 0).is_ok());
    assert!(GaussianDistribution::new(&[0.0; 2], &[0.0; 4], 10, 0).is_ok());
    assert!(
        message(GaussianDistribution::new(&[0.0, f64::NAN], &[0.0; 4], 10, 0))
            .contains("the mean has a missing value in column 1")
    );
    assert!(message(GaussianDistribution::new(&[], &[], 10, 0)).contains("at least one feature"));
    let huge = [1.7e308, -1.7e308, 1.7e308, -1.7e308];
    assert!(
        message(GaussianDistribution::fit(Rows::new(&huge, 1), 10, 0)).contains("too large for a variance")
    );
}

#[test]
fn parameters_outside_their_range_are_refused() {
    let data = factorial();
    let rows = Rows::new(&data, 3);
    assert!(message(GaussianDistribution::fit(rows, 0, 0)).contains("must be at least 1"));
    assert!(message(CopulaDistribution::fit(rows, 0, 0)).contains("must be at least 1"));
    assert!(
        message(GaussianDistribution::fit(rows, 7, 0).unwrap().antithetic())
            .contains("an even number of draws, got 7")
    );
    let distribution = EmpiricalDistribution::fit(rows).unwrap();
    for bandwidth in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(
            message(distribution.clone().with_bandwidth(bandwidth)).contains("must be positive"),
            "{bandwidth}"
        );
    }
    for share in [0.0, 1.1, f64::NAN] {
        assert!(message(distribution.clone().with_share(share)).contains("at most 1"), "{share}");
    }
    assert!(message(distribution.with_max_rows(0)).contains("must be at least 1"));
}

#[test]
fn explicands_and_models_that_do_not_fit_the_law_are_refused() {
    let data = factorial();
    let distribution = GaussianDistribution::fit(Rows::new(&data, 3), 10, 0).unwrap();
    let said = |explicand: &[f64]| message(ConditionalGame::new(&curved, explicand, &distribution));
    assert!(said(&[0.0; 2]).contains("the explicand has 2 values, expected 3"));
    assert!(said(&[0.0, f64::NAN, 0.0]).contains("the explicand has a missing value in column 1"));
    assert!(said(&[0.0, 0.0, f64::INFINITY]).contains("the explicand has the value inf in column 2"));
    assert!(said(&[0.0, 0.0, f64::INFINITY]).contains("pass a finite number, or use the marginal game"));
    // Models that compute with 32 bits reject some values that are finite here. The message does not print
    // 300 digits.
    let (what, reason) = ("the explicand".to_owned(), "it overflows");
    let large = GameError::InfiniteInput { what, column: 0, value: 2.5e305, reason };
    assert_eq!(large.to_string(), "the explicand has the value 2.5e305 in column 0, but it overflows");
    let frequency = FrequencyDistribution::fit(Rows::new(&data, 3)).unwrap();
    assert!(ConditionalGame::new(&curved, &[0.0, f64::NAN, 0.0], &frequency).is_ok());
    assert!(ConditionalGame::new(&curved, &[0.0, f64::INFINITY, 0.0], &frequency).is_ok());

    struct Four;
    impl Model for Four {
        fn features(&self) -> Option<usize> {
            Some(4)
        }
        fn predict(&self, _: Rows<'_>, _: &mut [f64]) -> Result<(), apportion_games::BoxError> {
            Ok(())
        }
    }
    let refused = message(ConditionalGame::new(&Four, &[0.0; 3], &distribution));
    assert!(refused.contains("a row of the conditional distribution has 3 values, expected 4"), "{refused}");
    let silent = batch_model(0, |_: Rows<'_>| Ok(Vec::new()));
    assert!(message(ConditionalGame::new(&silent, &[0.0; 3], &distribution)).contains("at least one output"));
}

#[test]
fn a_model_that_fails_or_predicts_no_number_is_an_error_with_the_coalition() {
    let distribution = GaussianDistribution::fit(Rows::new(&factorial(), 3), 10, 0).unwrap();
    let batch = all_coalitions(3);
    let mut out = [0.0; 8];
    let undefined = |row: &[f64]| if row[1] == 7.5 { f64::NAN } else { 0.0 };
    let failing = batch_model(1, |_: Rows<'_>| Err("no power".into()));
    for (model, words) in [
        (&undefined as &dyn Model, "the value of coalition {1} of 3 (output 0) is NaN"),
        (&failing, "rows of coalition {} of 3: no power"),
    ] {
        let game = ConditionalGame::new(model, &[0.0, 7.5, 0.0], &distribution).unwrap();
        for refused in [game.values(&batch, &mut out), game.standard_errors(&batch, &mut out)] {
            let refused = message(refused);
            assert!(refused.contains(words), "{refused}");
        }
    }
}

#[test]
fn more_draws_are_those_there_were_and_further_ones() {
    let batch = all_coalitions(5);
    let model = |row: &[f64]| row[0] * row[1] + row[2].sin();
    for distribution in drawn_distributions() {
        let coalition = Coalition::from_members(5, [0]);
        let rows = |distribution: &dyn ConditionalDistribution| {
            let (rows, weights) = synthetic(distribution, &FIVE, &coalition);
            assert_eq!(weights, vec![1.0 / distribution.draws() as f64; distribution.draws()]);
            rows
        };
        let (draws, few) = (distribution.draws(), rows(&*distribution));
        let doubled = distribution.with_draws(2 * draws).unwrap();
        assert_eq!((doubled.draws(), doubled.sampling()), (2 * draws, distribution.sampling()));
        let many = rows(&*doubled);
        assert_eq!(many.len(), 2 * few.len());
        assert_eq!(many[..few.len()], few);
        assert!(distribution.with_draws(0).is_none() && distribution.with_draws(usize::MAX / 2).is_none());
        // Restoring the original number of draws must restore the values.
        let values_under =
            |distribution: &dyn ConditionalDistribution| played(&model, &FIVE, distribution, &batch).0;
        assert_eq!(values_under(&*doubled.with_draws(draws).unwrap()), values_under(&*distribution));
    }
    let data = factorial();
    let of_rows: [Box<dyn ConditionalDistribution>; 2] = [
        Box::new(EmpiricalDistribution::fit(Rows::new(&data, 3)).unwrap()),
        Box::new(FrequencyDistribution::fit(Rows::new(&data, 3)).unwrap()),
    ];
    assert!(of_rows.iter().all(|distribution| distribution.with_draws(1000).is_none()));
}

#[test]
fn copies_are_off_by_the_standard_errors_to_both_sides() {
    let distribution = GaussianDistribution::fit(Rows::new(&factorial(), 3), 10, 0).unwrap();
    let model = batch_model(2, |rows: Rows<'_>| {
        Ok(rows.iter().flat_map(|row| [row[0] * row[1], row[2].exp()]).collect())
    });
    let game = ConditionalGame::new(&model, &[0.5, 1.0, -0.5], &distribution).unwrap();
    let batch = all_coalitions(3);
    let (values, errors) = (values(&game, &batch), errors(&game, &batch));
    let pairs = 40;
    let copies = crate::common::values(&ErrorsOfDraws::new(&game, pairs, 1), &batch);
    let mut above = 0;
    for ((value, error), copies) in values.iter().zip(&errors).zip(copies.chunks_exact(1 + 2 * pairs)) {
        // The first copy is bitwise equal to the value.
        assert_eq!(copies[0], *value);
        for pair in copies[1..].chunks_exact(2) {
            assert!(pair == [value + error, value - error] || pair == [value - error, value + error]);
            above += usize::from(pair[0] > *value);
        }
    }
    let off = errors.iter().filter(|&&error| error > 0.0).count() * pairs;
    assert!((2 * above).abs_diff(off) < off / 4, "{above} of {off}");
}
