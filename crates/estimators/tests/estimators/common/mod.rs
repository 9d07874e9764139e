//! Helpers shared by several test files.

pub(crate) mod all;
pub(crate) mod graphs;
pub(crate) mod sign_game;

use std::collections::HashSet;
use std::sync::Mutex;

use apportion_estimators::{Draws, Estimator, Explanation};
use apportion_games::{
    Background, Coalition, Coalitions, Game, GameError, Partition, Purpose, SumOfUnanimity, TabulatedGame,
    stream,
};
use apportion_samplers::{
    Bernoulli, FixedCounts, Order, Pairing, Sample, Sampler, SizeDistribution, WithReplacement,
};
use apportion_values::{CoalitionalValue, Semivalue, SolutionConcept, Value};
use rand::RngExt;
use rand::seq::SliceRandom;

/// Returns a game with an independent, uniformly distributed value for each coalition, around the number
/// `around`. Values are multiples of 1/1024, so that a number up to 2³⁰ costs no precision.
pub(crate) fn random_table(players: usize, outputs: usize, around: f64, seed: u64) -> TabulatedGame {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let values = (0..outputs << players).map(|_| around + f64::from(rng.random_range(-1024..1024)) / 1024.0);
    TabulatedGame::new(values.collect(), outputs).expect("a full table")
}

/// Returns the value for players in the given groups. Semivalues of players ignore the groups.
pub(crate) fn in_groups(concept: &SolutionConcept, groups: &Partition) -> Value {
    let groups = concept.needs_partition().then(|| groups.clone());
    Value::from_concept(concept.clone(), groups, None).expect("a value without a graph")
}

/// Returns groups of the given sizes, with scattered members.
pub(crate) fn scattered(sizes: &[usize], seed: u64) -> Partition {
    let players: usize = sizes.iter().sum();
    let mut order: Vec<usize> = (0..players).collect();
    order.shuffle(&mut stream(seed, Purpose::Experiment, 1));
    let mut rest = order.into_iter();
    let groups = sizes.iter().map(|&size| rest.by_ref().take(size).collect()).collect();
    Partition::new(players, groups).expect("all players")
}

/// Returns one semivalue of each kind, for games of `players` players.
pub(crate) fn semivalues(players: usize) -> Vec<Semivalue> {
    let tilted: Vec<f64> = (1..=players).map(|size| size as f64).collect();
    let total: f64 = tilted.iter().sum();
    let by_size: Vec<f64> = tilted.iter().map(|weight| weight / total).collect();
    [
        Ok(Semivalue::Shapley),
        Ok(Semivalue::Banzhaf),
        Semivalue::weighted_banzhaf(0.2),
        Semivalue::beta_shapley(4.0, 1.0),
        Semivalue::beta_shapley(1.0, 4.0),
        Semivalue::beta_shapley(16.0, 1.0),
        Semivalue::mixture(&[0.1, 0.7], &[0.5, 0.5]),
        Semivalue::from_size_distribution(&by_size),
    ]
    .map(|value| value.expect("legal parameters"))
    .into()
}

/// Returns C(n, s) as a float, computed factor by factor.
pub(crate) fn choose(n: usize, s: usize) -> f64 {
    (0..s).fold(1.0, |choose, j| choose * (n - j) as f64 / (j + 1) as f64)
}

/// Returns the values for a sum of unanimity games. Each member of a term of t players gets `M(t − 1, 0)`
/// times the term's coefficient.
pub(crate) fn of_terms(game: &SumOfUnanimity, value: &Semivalue) -> Vec<f64> {
    let mut values = vec![0.0; game.players()];
    for (term, coefficient) in game.terms().iter().zip(game.coefficients()) {
        let share = value.moment(term.size() - 1, 0);
        term.members().for_each(|member| values[member] += share * coefficient);
    }
    values
}

/// Returns the coalitional values for a sum of unanimity games. A member of a term gets the term's
/// coefficient times two probabilities: that all other groups that the term intersects are present, and that
/// all other members of its group in the term are present. Both are moments of the value's semivalues.
pub(crate) fn of_terms_in_groups(
    game: &SumOfUnanimity,
    partition: &Partition,
    value: &CoalitionalValue,
) -> Vec<f64> {
    let mut values = vec![0.0; game.players()];
    for (term, coefficient) in game.terms().iter().zip(game.coefficients()) {
        let mut touched: Vec<usize> = term.members().map(|member| partition.group_of(member)).collect();
        touched.sort_unstable();
        touched.dedup();
        for member in term.members() {
            let group = partition.group_of(member);
            let fellows = term.members().filter(|&other| partition.group_of(other) == group).count();
            values[member] += coefficient
                * value.between.moment(touched.len() - 1, 0)
                * value.within.moment(fellows - 1, 0);
        }
    }
    values
}

/// Returns v(S), one number per output.
pub(crate) fn value_of(game: &dyn Game, coalition: &Coalition) -> Vec<f64> {
    let mut batch = Coalitions::new(game.players());
    batch.push(coalition.view());
    let mut out = vec![0.0; game.outputs()];
    game.values(&batch, &mut out).expect("games of these tests cannot fail");
    out
}

pub(crate) fn assert_close(got: &[f64], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (at, (g, w)) in got.iter().zip(want).enumerate() {
        assert!((g - w).abs() <= tolerance * (1.0 + w.abs()), "{what}, entry {at}: {g} for {w}");
    }
}

pub(crate) fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

pub(crate) fn squared_error(got: &[f64], want: &[f64]) -> f64 {
    assert_eq!(got.len(), want.len());
    got.iter().zip(want).map(|(got, want)| (got - want).powi(2)).sum()
}

/// Returns the explanations of an estimator for each of `seeds` seeds.
pub(crate) fn runs(
    estimator: &dyn Estimator,
    game: &dyn Game,
    budget: usize,
    seeds: u64,
) -> Vec<Explanation> {
    (0..seeds).map(|seed| estimator.estimate(game, budget, seed).expect("an estimate")).collect()
}

/// Returns the values of the explanations of [`runs`].
pub(crate) fn values(estimator: &dyn Estimator, game: &dyn Game, budget: usize, seeds: u64) -> Vec<Vec<f64>> {
    runs(estimator, game, budget, seeds).into_iter().map(|run| run.values).collect()
}

/// Returns the mean squared error over runs.
pub(crate) fn mean_squared_error(runs: &[Vec<f64>], truth: &[f64]) -> f64 {
    runs.iter().map(|run| squared_error(run, truth)).sum::<f64>() / runs.len() as f64
}

/// Returns the median squared error over runs.
pub(crate) fn median_squared_error(runs: &[Vec<f64>], truth: &[f64]) -> f64 {
    let mut errors: Vec<f64> = runs.iter().map(|run| squared_error(run, truth)).collect();
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

/// Returns the mean of one entry over runs, and its standard error.
pub(crate) fn mean_and_error(runs: &[Vec<f64>], at: usize) -> (f64, f64) {
    let count = runs.len() as f64;
    let mean = runs.iter().map(|run| run[at]).sum::<f64>() / count;
    let squares: f64 = runs.iter().map(|run| (run[at] - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// Asserts that the mean of the runs equals the truth within `errors` standard errors, in every entry.
pub(crate) fn assert_unbiased(runs: &[Vec<f64>], truth: &[f64], errors: f64, what: &str) {
    for (at, want) in truth.iter().enumerate() {
        let (mean, error) = mean_and_error(runs, at);
        assert!((mean - want).abs() <= errors * error + 1e-12, "{what} {at}: {mean} ± {error} for {want}");
    }
}

/// Counts the values within 1.96 standard errors of the truth.
#[derive(Default)]
pub(crate) struct Coverage {
    inside: usize,
    pub(crate) all: usize,
}

impl Coverage {
    pub(crate) fn add(&mut self, values: &[f64], errors: &[f64], truth: &[f64]) {
        for ((value, error), truth) in values.iter().zip(errors).zip(truth) {
            self.inside += usize::from((value - truth).abs() <= 1.96 * error + 1e-12);
            self.all += 1;
        }
    }

    pub(crate) fn share(&self) -> f64 {
        self.inside as f64 / self.all as f64
    }

    /// Computes the coverage for a semivalue over random games with `players` players, one for each seed.
    /// Results without standard errors are skipped.
    pub(crate) fn of_random_games(
        estimator: &dyn Estimator,
        (players, terms): (usize, usize),
        budget: usize,
        seeds: u64,
    ) -> Self {
        let value = estimator.value().semivalue().expect("a semivalue").clone();
        let mut coverage = Self::default();
        for seed in 0..seeds {
            let game = SumOfUnanimity::random(players, terms, 5, seed);
            let got = estimator.estimate(&game, budget, seed).expect("an estimate");
            if let Some(errors) = got.std_errors {
                coverage.add(&got.values, &errors, &of_terms(&game, &value));
            }
        }
        coverage
    }
}

/// Asserts that every value is within `errors` standard errors plus `more` of the truth.
pub(crate) fn assert_within(got: &Explanation, truth: &[f64], errors: f64, more: f64, what: &str) {
    let own = got.std_errors.as_ref().expect("standard errors");
    for ((value, error), want) in got.values.iter().zip(own).zip(truth) {
        assert!((value - want).abs() <= errors * error + more, "{what}: {value} ± {error} for {want}");
    }
}

pub(crate) fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(run)
}

pub(crate) const DRAWS: [Draws; 5] =
    [Draws::WithReplacement, Draws::FixedCounts, Draws::Bernoulli, Draws::Growing, Draws::GrowingBernoulli];

/// Returns a sample, in which repeated draws are not merged.
pub(crate) fn sample(
    draws: Draws,
    distribution: SizeDistribution,
    pairing: Pairing,
    rows: usize,
    seed: u64,
) -> Sample {
    let (fixed, nested) = (Order::Fixed, Order::Nested);
    match draws {
        Draws::WithReplacement => WithReplacement { distribution, pairing }.sample(rows, seed),
        Draws::FixedCounts => FixedCounts { distribution, pairing, order: fixed }.sample(rows, seed),
        Draws::Bernoulli => Bernoulli { distribution, pairing, order: fixed }.sample(rows, seed),
        Draws::Growing => FixedCounts { distribution, pairing, order: nested }.sample(rows, seed),
        Draws::GrowingBernoulli => Bernoulli { distribution, pairing, order: nested }.sample(rows, seed),
    }
    .expect("a legal budget")
}

/// A coalition, with its scenario if it was evaluated in one.
pub(crate) type Question = (Coalition, Option<usize>);

/// A game that records its evaluations in order.
pub(crate) struct RecordingGame<G> {
    pub(crate) game: G,
    asked: Mutex<Vec<Question>>,
}

impl<G: Game> RecordingGame<G> {
    pub(crate) fn new(game: G) -> Self {
        Self { game, asked: Mutex::default() }
    }

    fn note(&self, questions: impl Iterator<Item = Question>) {
        self.asked.lock().expect("no test panics while it records").extend(questions);
    }

    /// Returns the evaluations since the last call.
    pub(crate) fn take(&self) -> Vec<Question> {
        std::mem::take(&mut self.asked.lock().expect("no test panics while it records"))
    }

    pub(crate) fn take_set(&self) -> HashSet<Question> {
        self.take().into_iter().collect()
    }

    pub(crate) fn take_coalitions(&self) -> Vec<Coalition> {
        self.take().into_iter().map(|(coalition, _)| coalition).collect()
    }
}

impl<G: Game> Game for RecordingGame<G> {
    fn players(&self) -> usize {
        self.game.players()
    }
    fn outputs(&self) -> usize {
        self.game.outputs()
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.note(batch.iter().map(|row| (row.to_coalition(), None)));
        self.game.values(batch, out)
    }
    fn scenarios(&self) -> usize {
        self.game.scenarios()
    }
    fn scenario_weights(&self) -> Option<&[f64]> {
        self.game.scenario_weights()
    }
    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        // In a game of one scenario, this scenario is the average.
        let known = |scenario: usize| (self.scenarios() > 1).then_some(scenario);
        self.note(batch.iter().zip(scenarios).map(|(row, &scenario)| (row.to_coalition(), known(scenario))));
        self.game.values_in_scenarios(batch, scenarios, out)
    }
}

/// A game that counts evaluations and panics if a coalition is evaluated twice. Each evaluation counts as
/// three model rows.
pub(crate) struct Once<G> {
    game: G,
    asked: Mutex<HashSet<Coalition>>,
}

impl<G: Game> Once<G> {
    pub(crate) fn new(game: G) -> Self {
        Self { game, asked: Mutex::default() }
    }

    pub(crate) fn evaluations(&self) -> usize {
        self.asked.lock().expect("no test panics while it records").len()
    }
}

impl<G: Game> Game for Once<G> {
    fn players(&self) -> usize {
        self.game.players()
    }
    fn outputs(&self) -> usize {
        self.game.outputs()
    }
    fn rows_per_coalition(&self) -> usize {
        3
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let mut asked = self.asked.lock().expect("no test panics while it records");
        batch.iter().for_each(|row| assert!(asked.insert(row.to_coalition()), "{row} is evaluated again"));
        self.game.values(batch, out)
    }
}

/// A game with the given number of players, defined by a function of a batch.
pub(crate) struct ByBatch<F>(pub(crate) usize, pub(crate) F);

impl<F: Fn(&Coalitions, &mut [f64]) -> Result<(), GameError> + Send + Sync> Game for ByBatch<F> {
    fn players(&self) -> usize {
        self.0
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.1(batch, out)
    }
}

/// Returns an explicand and a background. The weights of the background rows differ if `weighted` is set.
pub(crate) fn marginal(players: usize, rows: usize, weighted: bool, seed: u64) -> (Vec<f64>, Background) {
    let mut rng = stream(seed, Purpose::Experiment, 1);
    let explicand = (0..players).map(|_| rng.random_range(-1.0..1.0)).collect();
    let background: Vec<f64> = (0..rows * players).map(|_| rng.random_range(-1.0..1.0)).collect();
    let background = Background::rows(background, players).expect("finite rows");
    let weights: Vec<f64> = (1..=rows).map(|row| if weighted { row as f64 } else { 1.0 }).collect();
    (explicand, background.with_weights(&weights).expect("positive weights"))
}

/// Returns the prediction of a model of products and sums of the features.
pub(crate) fn products(row: &[f64]) -> f64 {
    row.windows(2).map(|two| two[0] * two[1]).sum::<f64>() + row[0] + 5.0
}

/// Returns a game that panics if it is evaluated.
pub(crate) fn untouched(players: usize) -> impl Game {
    ByBatch(players, |_: &Coalitions, _: &mut [f64]| panic!("this game must not be evaluated"))
}

/// A game with three outputs for any number of players: a sum of unanimity games, its square, and its
/// difference from a number.
pub(crate) struct Several(pub(crate) SumOfUnanimity, pub(crate) f64);

impl Game for Several {
    fn players(&self) -> usize {
        self.0.players()
    }
    fn outputs(&self) -> usize {
        3
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let mut values = vec![0.0; batch.len()];
        self.0.values(batch, &mut values)?;
        for (out, v) in out.chunks_exact_mut(3).zip(values) {
            out.copy_from_slice(&[v, v * v, self.1 - v]);
        }
        Ok(())
    }
}

/// Solves a square system by Gaussian elimination with partial pivoting. The last entry of each row is its
/// right-hand side.
pub(crate) fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for column in 0..n {
        let rest = rows[column..].iter().map(|row| row[column].abs()).enumerate();
        let pivot = column + rest.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(row, _)| row);
        rows.swap(column, pivot);
        let (upper, lower) = rows.split_at_mut(column + 1);
        let pivot = &upper[column];
        for row in lower {
            let factor = row[column] / pivot[column];
            row.iter_mut().zip(pivot).for_each(|(x, y)| *x -= factor * y);
        }
    }
    let mut x = vec![0.0; n];
    for (index, row) in rows.iter().enumerate().rev() {
        let known: f64 = row[index + 1..n].iter().zip(&x[index + 1..]).map(|(a, b)| a * b).sum();
        x[index] = (row[n] - known) / row[index];
    }
    x
}
