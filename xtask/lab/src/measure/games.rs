//! The games of each section, with their exact values.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use apportion::games::{
    Airport, ClosedForm, Coalitions, GameError, Purpose, SumOfUnanimity, TabulatedGame, WeightedVoting,
    stream,
};
use apportion::trees::{Exact, MarginalTreeExplainer};
use apportion::{Background, Game, MarginalGame, Partition, Rows, Semivalue, SolutionConcept, Value};
use rand::{Rng, RngExt};
use xtask::{Usage, aside};

use super::cli::Section;
use crate::reproduce::datasets::{Dataset, Library, known_dataset};
use hard_games::{SetFunction, SolvedGame, hard_games, smooth_games};

#[path = "../../../../crates/apportion/tests/apportion/common/hard_games.rs"]
#[expect(clippy::unwrap_used, reason = "the games are known to be valid")]
mod hard_games;

/// Maximum number of players for which exact values are enumerated.
const MAX_ENUMERATED: usize = 16;

/// Number of groups for values of players in groups. Player i belongs to group i mod `GROUPS`.
const GROUPS: usize = 4;

/// A game with its exact values.
pub(super) struct Known {
    pub(super) game: Box<dyn Game>,
    pub(super) truth: Vec<f64>,
}

/// Games of one kind with the same number of players, and the runs on them.
pub(super) struct Problem {
    /// The class of games over which results are pooled.
    pub(super) class: &'static str,
    pub(super) name: String,
    pub(super) players: usize,
    pub(super) value: Value,
    pub(super) games: Vec<Known>,
    /// The index of the game and the seed of the estimate of each run.
    pub(super) runs: Vec<(usize, u64)>,
}

impl Problem {
    /// Returns the game and the seed of each run.
    pub(super) fn runs(&self) -> impl Iterator<Item = (&Known, u64)> {
        self.runs.iter().map(|&(game, seed)| (&self.games[game], seed))
    }
}

/// The games to create.
pub(super) struct Request<'a> {
    pub(super) section: Section,
    pub(super) concept: &'a SolutionConcept,
    pub(super) players: &'a [usize],
    pub(super) seeds: u64,
    /// Substrings of the names of the games to create; all if empty.
    pub(super) names: &'a [String],
}

impl Request<'_> {
    /// Returns the games. A game without exact values is omitted, with a message.
    pub(super) fn problems(&self) -> Result<Vec<Problem>> {
        match self.section {
            Section::Frontier => self.frontier(),
            Section::MonteCarlo => self.by_size(|n| MONTE_CARLO.map(|(name, make)| (name, n, make))),
            Section::Bounds => self.by_size(|n| BOUNDS.map(|(name, make)| (name, n, make))),
            Section::Intervals | Section::Certificates => self.hard(),
        }
    }

    fn is_requested(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part))
    }

    /// Adds a problem to `found` if its name was requested; `make` creates its games.
    fn add(
        &self,
        found: &mut Vec<Problem>,
        (class, name, players): (&'static str, &str, usize),
        make: impl FnOnce(&Value) -> Result<(Vec<Known>, Vec<(usize, u64)>)>,
    ) -> Result<()> {
        if !self.is_requested(name) {
            return Ok(());
        }
        let value = value_of(self.concept, players)?;
        match make(&value) {
            Ok((games, runs)) => {
                found.push(Problem { class, name: name.to_owned(), players, value, games, runs });
            }
            Err(error) => aside!("{name} (n = {players}) is omitted: {error:#}"),
        }
        Ok(())
    }

    /// Returns the games of models and the textbook games, one game for each seed.
    fn frontier(&self) -> Result<Vec<Problem>> {
        let library = Library::embedded();
        let mut found = Vec::new();
        for (class, rows, names) in TREES {
            for name in *names {
                let known = known_dataset(name);
                let title = format!("{} {name}", if *rows == 1 { "xgb" } else { "bg50" });
                self.add(&mut found, (class, &title, known.players), |value| {
                    let games = of_trees(&library.get(known)?, *rows, self.seeds, value)?;
                    Ok((games, (0..self.seeds).map(|seed| (seed as usize, seed)).collect()))
                })?;
            }
        }
        for (class, players, make) in DRAWN {
            self.add(&mut found, (class, &format!("{class} {players}"), *players), |value| {
                let games = (0..self.seeds).map(|seed| make(*players, 100 + seed, value));
                let runs = (0..self.seeds).map(|seed| (seed as usize, seed)).collect();
                Ok((games.collect::<Result<_>>()?, runs))
            })?;
        }
        Ok(found)
    }

    /// Returns the games that are designed to mislead samples, and the smooth games. Every game is used with
    /// all seeds.
    fn hard(&self) -> Result<Vec<Problem>> {
        let mut found = Vec::new();
        for &players in self.players {
            if players < 8 {
                let says = "the games have at least 8 players";
                return Err(Usage(format!("invalid value {players} for --players: {says}")).into());
            }
            for solved in hard_games(players).into_iter().chain(smooth_games(players)) {
                let SolvedGame { family, is_smooth, game, shapley } = solved;
                let class = if is_smooth { "smooth" } else { "hard" };
                self.add(&mut found, (class, family, players), |value| {
                    let truth = match is(value, &Semivalue::Shapley) {
                        true => shapley,
                        false => enumerated(&*game, value)?,
                    };
                    Ok((vec![Known { game, truth }], (0..self.seeds).map(|seed| (0, seed)).collect()))
                })?;
            }
        }
        Ok(found)
    }

    /// Returns families of games for each number of players. A family whose games depend on a seed has a game
    /// for each run.
    fn by_size<const K: usize>(
        &self,
        families: impl Fn(usize) -> [(&'static str, usize, Family); K],
    ) -> Result<Vec<Problem>> {
        let mut found = Vec::new();
        for &players in self.players {
            for (name, players, family) in families(players) {
                self.add(&mut found, (name, name, players), |value| match family {
                    Family::Fixed(make) => {
                        Ok((vec![make(players, value)?], (0..self.seeds).map(|seed| (0, seed)).collect()))
                    }
                    Family::Drawn(make) => {
                        let games = (0..self.seeds).map(|seed| make(players, seed, value));
                        // The seed of an estimate differs from the seed of its game, so that their draws are
                        // independent.
                        let runs = (0..self.seeds).map(|seed| (seed as usize, seed + 1000)).collect();
                        Ok((games.collect::<Result<_>>()?, runs))
                    }
                })?;
            }
        }
        Ok(found)
    }
}

/// A function that creates a game from a number of players and a seed, with the exact values for a [`Value`].
type Make = fn(usize, u64, &Value) -> Result<Known>;

/// A function that creates the games of a family.
#[derive(Clone, Copy)]
enum Family {
    Fixed(fn(usize, &Value) -> Result<Known>),
    Drawn(Make),
}

/// Datasets with tree ensembles, by class and number of background rows; 1 means the column means.
const TREES: &[(&str, usize, &[&str])] = &[
    ("XGBoost, n ≤ 8", 1, &["california", "pima"]),
    ("XGBoost, n = 10 to 14", 1, &["diabetes", "adult"]),
    ("XGBoost, n = 16 to 20", 1, &["bank", "nhanes18", "german"]),
    ("XGBoost, n = 60 to 101", 1, &["brca", "correlated60", "independent60", "communities"]),
    ("XGBoost, n = 241", 1, &["tuandromd"]),
    ("XGBoost, n ≤ 20, 50 background rows", 50, &["adult", "nhanes18", "german"]),
    ("XGBoost, n ≥ 60, 50 background rows", 50, &["correlated60", "communities"]),
];

/// Games drawn at random, by class and number of players.
const DRAWN: &[(&str, usize, Make)] = &[
    ("network", 10, network),
    ("network", 14, network),
    ("kernel", 12, kernel_machine),
    ("max", 12, max),
    ("voting", 12, voting),
    ("unanimity", 10, unanimity),
    ("unanimity", 30, unanimity),
    ("unanimity", 100, unanimity),
    ("airport", 12, airport),
    ("airport", 30, airport),
    ("noisy", 12, noisy),
];

/// The games of the section `monte-carlo`.
const MONTE_CARLO: [(&str, Family); 5] = [
    (
        "interactions of up to 3",
        Family::Fixed(|n, value| Known::closed(SumOfUnanimity::random(n, 5 * n, 3, 1), value)),
    ),
    (
        "interactions of up to 8",
        Family::Fixed(|n, value| Known::closed(SumOfUnanimity::random(n, 5 * n, 8.min(n), 2), value)),
    ),
    ("interactions of a few players", Family::Fixed(|n, value| Known::closed(few_players(n)?, value))),
    (
        "airport",
        Family::Fixed(|n, value| {
            let costs: Vec<f64> = (1..=n).map(|cost| (cost * cost) as f64).collect();
            Known::closed(Airport::new(costs)?, value)
        }),
    ),
    (
        "weighted voting",
        Family::Fixed(|n, value| {
            let weights: Vec<u64> = (1..=n as u64).collect();
            Known::closed(WeightedVoting::new(weights.iter().sum::<u64>() / 2 + 1, weights)?, value)
        }),
    ),
];

/// The games of the section `bounds`.
const BOUNDS: [(&str, Family); 6] = [
    (
        "dense",
        Family::Drawn(|n, seed, value| Known::closed(SumOfUnanimity::random(n, 60, 5.min(n), seed), value)),
    ),
    (
        "table",
        Family::Drawn(|n, seed, value| {
            let mut rng = stream(seed, Purpose::Experiment, 1);
            let game = TabulatedGame::from_fn(n, |_| rng.random_range(-1.0..1.0))?;
            Ok(Known { truth: enumerated(&game, value)?, game: Box::new(game) })
        }),
    ),
    ("pair", Family::Drawn(|n, seed, value| terms(n, &[2], seed, value))),
    ("three", Family::Drawn(|n, seed, value| terms(n, &[3], seed, value))),
    ("three+1", Family::Drawn(|n, seed, value| terms(n, &[3, 1, 1], seed, value))),
    ("few", Family::Drawn(|n, seed, value| terms(n, &[4, 3, 3, 2], seed, value))),
];

/// Returns the [`Value`] of a solution concept for this number of players, with groups if it requires them.
pub(super) fn value_of(concept: &SolutionConcept, players: usize) -> Result<Value> {
    let members = |group: usize| (group..players).step_by(GROUPS).collect();
    let groups = concept.needs_partition().then(|| (0..GROUPS.min(players)).map(members).collect());
    let groups = groups.map(|groups| Partition::new(players, groups)).transpose()?;
    Ok(Value::from_concept(concept.clone(), groups, None)?)
}

fn is(value: &Value, semivalue: &Semivalue) -> bool {
    value.concept().semivalue() == Some(semivalue) && value.groups().is_none()
}

fn enumerated(game: &dyn Game, value: &Value) -> Result<Vec<f64>> {
    let players = game.players();
    ensure!(
        players <= MAX_ENUMERATED,
        "exact {} values are enumerated for at most {MAX_ENUMERATED} players",
        value.concept()
    );
    Ok(value.enumerate(game)?.values)
}

impl Known {
    /// Returns a game with closed forms of its Shapley and Banzhaf values; other values are enumerated.
    fn closed(game: impl ClosedForm + 'static, value: &Value) -> Result<Self> {
        let truth = match value {
            value if is(value, &Semivalue::Shapley) => game.shapley(),
            value if is(value, &Semivalue::Banzhaf) => game.banzhaf(),
            value => enumerated(&game, value)?,
        };
        Ok(Self { game: Box::new(game), truth })
    }

    /// Returns a game defined by a set function, whose values are enumerated.
    fn of_function<F>(players: usize, value: &Value, function: F) -> Result<Self>
    where
        F: Fn(apportion::games::CoalitionView<'_>) -> f64 + Sync + 'static,
    {
        let game = SetFunction { players, value: function };
        Ok(Self { truth: enumerated(&game, value)?, game: Box::new(game) })
    }
}

/// The marginal game of a tree ensemble.
struct TreeGame {
    dataset: Arc<Dataset>,
    explicand: Vec<f64>,
    background: Background,
}

impl Game for TreeGame {
    fn players(&self) -> usize {
        self.explicand.len()
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        MarginalGame::new(&self.dataset.model, &self.explicand, &self.background)?.values(batch, out)
    }
}

/// Returns games that explain random rows of a dataset.
fn of_trees(dataset: &Arc<Dataset>, background: usize, count: u64, value: &Value) -> Result<Vec<Known>> {
    let n = dataset.known.players;
    let mut rng = stream(7, Purpose::Experiment, 3);
    (0..count)
        .map(|_| {
            let explicand = dataset.row(rng.random_range(0..dataset.rows())).to_vec();
            let rows = match background {
                1 => dataset.means.clone(),
                _ => (0..background)
                    .flat_map(|_| dataset.row(rng.random_range(0..dataset.rows())).to_vec())
                    .collect(),
            };
            let tree_explainer = MarginalTreeExplainer::new(&dataset.model, Rows::new(&rows, n), None)?;
            let exact = tree_explainer
                .values_of(value, Rows::new(&explicand, n))
                .with_context(|| format!("cannot compute exact values for {}", dataset.known.name))?;
            let background = Background::rows(rows, n)?;
            let game = TreeGame { dataset: Arc::clone(dataset), explicand, background };
            Ok(Known { game: Box::new(game), truth: exact.values })
        })
        .collect()
}

/// Draws from the standard normal distribution.
fn normal(rng: &mut impl Rng) -> f64 {
    let (a, b): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// Returns the game of a random network with two hidden layers and a baseline of zeros.
fn network(n: usize, seed: u64, value: &Value) -> Result<Known> {
    let mut rng = stream(seed, Purpose::Experiment, 2);
    let mut matrix = |rows: usize, columns: usize, scale: f64| -> Vec<f64> {
        (0..rows * columns).map(|_| scale * normal(&mut rng)).collect()
    };
    let (w1, w2, w3) =
        (matrix(n, 24, 1.5 / (n as f64).sqrt()), matrix(24, 24, 1.0 / 24f64.sqrt()), matrix(24, 1, 1.0));
    let (x, b) = (matrix(n, 1, 1.0), matrix(24, 1, 0.3));
    Known::of_function(n, value, move |row| {
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

/// Returns the game of a kernel machine with random points.
fn kernel_machine(n: usize, seed: u64, value: &Value) -> Result<Known> {
    let mut rng = stream(seed, Purpose::Experiment, 2);
    let points: Vec<f64> = (0..60 * n).map(|_| normal(&mut rng)).collect();
    let factors: Vec<f64> = (0..60).map(|_| normal(&mut rng)).collect();
    let (x, z): (Vec<f64>, Vec<f64>) =
        ((0..n).map(|_| normal(&mut rng)).collect(), (0..n).map(|_| normal(&mut rng)).collect());
    Known::of_function(n, value, move |row| {
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

/// Returns a game in which each player has a random amount, and the value of a coalition is the largest
/// amount of its members.
fn max(n: usize, seed: u64, value: &Value) -> Result<Known> {
    let mut rng = stream(seed, Purpose::Experiment, 2);
    let a: Vec<f64> = (0..n).map(|_| rng.random()).collect();
    Known::of_function(n, value, move |row| row.members().map(|i| a[i]).fold(0.0, f64::max))
}

fn voting(n: usize, seed: u64, value: &Value) -> Result<Known> {
    let mut rng = stream(seed, Purpose::Experiment, 2);
    let a: Vec<u32> = (0..n).map(|_| rng.random_range(1..9)).collect();
    let total = a.iter().sum::<u32>();
    Known::of_function(n, value, move |row| {
        f64::from(u8::from(2 * row.members().map(|i| a[i]).sum::<u32>() > total))
    })
}

fn unanimity(n: usize, seed: u64, value: &Value) -> Result<Known> {
    Known::closed(SumOfUnanimity::random(n, 5 * n, 8.min(n), seed), value)
}

fn airport(n: usize, seed: u64, value: &Value) -> Result<Known> {
    let mut rng = stream(seed, Purpose::Experiment, 2);
    let costs: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(1..=10u32))).collect();
    Known::closed(Airport::new(costs)?, value)
}

/// Returns the game of a network, with noise whose standard deviation is a tenth of that of the coalition
/// values; the exact values are those without noise.
fn noisy(n: usize, seed: u64, value: &Value) -> Result<Known> {
    let Known { game, truth } = network(n, seed, value)?;
    let mut values = TabulatedGame::from_game(&*game)?.values_in_order().to_vec();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
    let mut rng = stream(seed, Purpose::Experiment, 4);
    values.iter_mut().for_each(|v| *v += 0.1 * variance.sqrt() * normal(&mut rng));
    Ok(Known { game: Box::new(TabulatedGame::new(values, 1)?), truth })
}

/// Returns a game with interactions among the first third of the players; the others are null players.
fn few_players(n: usize) -> Result<SumOfUnanimity> {
    let active = (n / 3).max(2);
    let drawn = SumOfUnanimity::random(active, 5 * active, 4.min(active), 3);
    let terms: Vec<Vec<usize>> = drawn.terms().iter().map(|term| term.members().collect()).collect();
    Ok(SumOfUnanimity::new(n, 0.0, terms.into_iter().zip(drawn.coefficients().iter().copied()))?)
}

/// Returns a sum of unanimity games with terms of these sizes.
fn terms(n: usize, sizes: &[usize], seed: u64, value: &Value) -> Result<Known> {
    let mut rng = stream(seed, Purpose::Experiment, 2);
    let mut terms = Vec::new();
    for &size in sizes {
        ensure!(
            size <= n,
            "interactions of {size} players require at least {size} players, but the game has {n}"
        );
        let mut members: Vec<usize> = (0..n).collect();
        for place in 0..size {
            members.swap(place, rng.random_range(place..n));
        }
        terms.push((members[..size].to_vec(), 1.0 + rng.random_range(-0.5..0.5)));
    }
    Known::closed(SumOfUnanimity::new(n, 0.0, terms)?, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the games of a section whose names contain one of `names`, with 8 players unless their number
    /// of players is fixed.
    fn problems(section: Section, concept: &SolutionConcept, names: &[&str]) -> Vec<Problem> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Request { section, concept, players: &[8], seeds: 2, names: &names }.problems().unwrap()
    }

    #[test]
    fn truths_are_the_enumerated_values() {
        for concept in [Semivalue::Shapley.into(), Semivalue::Banzhaf.into(), SolutionConcept::owen()] {
            for (section, names) in [
                (Section::Frontier, &["xgb california", "voting 12", "airport 12"][..]),
                (Section::MonteCarlo, &["interactions of a few players", "airport"]),
                (Section::Bounds, &["dense", "table", "three+1"]),
                (Section::Intervals, &["apex voting", "a cube"]),
            ] {
                let mut problems = problems(section, &concept, names);
                assert!(names.iter().all(|name| problems.iter().any(|found| found.name == *name)));
                problems.retain(|problem| names.contains(&&*problem.name));
                for problem in problems {
                    assert_eq!(problem.runs.len(), 2);
                    for (known, _) in problem.runs() {
                        let exact = problem.value.enumerate(&*known.game).unwrap().values;
                        let error = crate::comparison::relative_error(&known.truth, &exact);
                        assert!(error < 1e-20, "{}: {error}", problem.name);
                    }
                }
            }
        }
    }

    #[test]
    fn noise_changes_games_and_not_their_truths() {
        let value = value_of(&Semivalue::Shapley.into(), 8).unwrap();
        let (plain, noisy) = (network(8, 3, &value).unwrap(), noisy(8, 3, &value).unwrap());
        assert_eq!(plain.truth, noisy.truth);
        let error = |known: &Known| {
            let exact = value.enumerate(&*known.game).unwrap().values;
            crate::comparison::relative_error(&exact, &known.truth)
        };
        assert!(error(&plain) < 1e-20 && (1e-6..0.1).contains(&error(&noisy)), "{}", error(&noisy));
    }

    #[test]
    fn games_that_are_too_large_for_enumeration_are_omitted() {
        let found = |concept| problems(Section::Frontier, &concept, &["unanimity 100"]).len();
        assert_eq!((found(Semivalue::Shapley.into()), found(SolutionConcept::owen())), (1, 0));
    }
}
