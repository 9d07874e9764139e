//! What several test files need.

pub(crate) mod all;

use std::collections::HashSet;
use std::sync::Mutex;

use apportion_estimators::{Draws, Explanation};
use apportion_games::{
    Coalition, Coalitions, Game, GameError, Purpose, SumOfUnanimity, TabulatedGame, stream,
};
use apportion_samplers::{Bernoulli, FixedCounts, Order, Pairing, Sample, Sampler, SizeLaw, WithReplacement};
use apportion_values::Semivalue;
use rand::RngExt;

/// Independent uniform values for all coalitions, around a number.
pub(crate) fn random_table(players: usize, outputs: usize, around: f64, seed: u64) -> TabulatedGame {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let values = (0..outputs << players).map(|_| around + rng.random_range(-1.0..1.0)).collect();
    TabulatedGame::new(values, outputs).expect("a full table")
}

/// The value of a sum of unanimity games: each member of a term of t players gets `M(t − 1, 0)` of its coefficient.
pub(crate) fn of_terms(game: &SumOfUnanimity, value: &Semivalue) -> Vec<f64> {
    let mut values = vec![0.0; game.players()];
    for (term, coefficient) in game.terms().iter().zip(game.coefficients()) {
        let share = value.moment(term.size() - 1, 0);
        term.members().for_each(|member| values[member] += share * coefficient);
    }
    values
}

/// v(S), k numbers.
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

/// The mean of one entry over runs, and its standard error.
pub(crate) fn mean_and_error(runs: &[Vec<f64>], at: usize) -> (f64, f64) {
    let count = runs.len() as f64;
    let mean = runs.iter().map(|run| run[at]).sum::<f64>() / count;
    let squares: f64 = runs.iter().map(|run| (run[at] - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// Asserts that the mean of the runs is the truth within so many standard errors of it, in every entry.
pub(crate) fn assert_unbiased(runs: &[Vec<f64>], truth: &[f64], errors: f64, what: &str) {
    for (at, want) in truth.iter().enumerate() {
        let (mean, error) = mean_and_error(runs, at);
        assert!((mean - want).abs() <= errors * error + 1e-12, "{what} {at}: {mean} ± {error} for {want}");
    }
}

/// How many values are within 1.96 standard errors of the truth.
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
}

/// Asserts that every value is within so many standard errors of the truth, and a little more.
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

/// What the samplers draw, repetitions kept.
pub(crate) fn sample(draws: Draws, law: SizeLaw, pairing: Pairing, rows: usize, seed: u64) -> Sample {
    let (fixed, nested) = (Order::Fixed, Order::Nested);
    match draws {
        Draws::WithReplacement => WithReplacement { law, pairing }.sample(rows, seed),
        Draws::FixedCounts => FixedCounts { law, pairing, order: fixed }.sample(rows, seed),
        Draws::Bernoulli => Bernoulli { law, pairing, order: fixed }.sample(rows, seed),
        Draws::Growing => FixedCounts { law, pairing, order: nested }.sample(rows, seed),
        Draws::GrowingBernoulli => Bernoulli { law, pairing, order: nested }.sample(rows, seed),
    }
    .expect("a legal budget")
}

/// A coalition, in a scenario where it was asked for in one.
pub(crate) type Question = (Coalition, Option<usize>);

/// A game that notes what it is asked, in order.
pub(crate) struct Recorded<G> {
    pub(crate) game: G,
    asked: Mutex<Vec<Question>>,
}

impl<G: Game> Recorded<G> {
    pub(crate) fn new(game: G) -> Self {
        Self { game, asked: Mutex::default() }
    }

    fn note(&self, questions: impl Iterator<Item = Question>) {
        self.asked.lock().expect("no test panics while it notes").extend(questions);
    }

    /// What it was asked since it was asked this.
    pub(crate) fn take(&self) -> Vec<Question> {
        std::mem::take(&mut self.asked.lock().expect("no test panics while it notes"))
    }

    pub(crate) fn take_set(&self) -> HashSet<Question> {
        self.take().into_iter().collect()
    }

    pub(crate) fn take_coalitions(&self) -> Vec<Coalition> {
        self.take().into_iter().map(|(coalition, _)| coalition).collect()
    }
}

impl<G: Game> Game for Recorded<G> {
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
        // In a game of one scenario that is all there is to it.
        let known = |scenario: usize| (self.scenarios() > 1).then_some(scenario);
        self.note(batch.iter().zip(scenarios).map(|(row, &scenario)| (row.to_coalition(), known(scenario))));
        self.game.values_in_scenarios(batch, scenarios, out)
    }
}

/// A game that counts, and is asked for no coalition twice. Three rows stand for each.
pub(crate) struct Once<G> {
    game: G,
    asked: Mutex<HashSet<Coalition>>,
}

impl<G: Game> Once<G> {
    pub(crate) fn new(game: G) -> Self {
        Self { game, asked: Mutex::default() }
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.lock().expect("no test panics while it notes").len()
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
        let mut asked = self.asked.lock().expect("no test panics while it notes");
        batch.iter().for_each(|row| assert!(asked.insert(row.to_coalition()), "{row} is asked for again"));
        self.game.values(batch, out)
    }
}

/// A game of so many players by a function of a batch.
pub(crate) struct ByBatch<F>(pub(crate) usize, pub(crate) F);

impl<F: Fn(&Coalitions, &mut [f64]) -> Result<(), GameError> + Send + Sync> Game for ByBatch<F> {
    fn players(&self) -> usize {
        self.0
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.1(batch, out)
    }
}

/// A game that must not be asked.
pub(crate) fn untouched(players: usize) -> impl Game {
    ByBatch(players, |_: &Coalitions, _: &mut [f64]| panic!("nothing is to be asked"))
}

/// A game of several outputs for any number of players: an interaction game, its square, and what is left of a number.
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

/// Solves a square system by Gaussian elimination with partial pivoting; each row ends with its right-hand side.
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
