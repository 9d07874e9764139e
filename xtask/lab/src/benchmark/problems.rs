//! The games of the benchmark, with their exact values.

use std::sync::Arc;

use anyhow::{Context, Result};
use apportion::games::{
    Airport, ClosedForm, Glove, Purpose, SumOfUnanimity, TabulatedGame, WeightedVoting, parallel, stream,
};
use apportion::trees::{Exact, MarginalTreeExplainer};
use apportion::{Background, Game, MarginalGame, Partition, Rows, Semivalue, Value};
use rand::RngExt as _;

use crate::reproduce::datasets::Dataset;
use crate::reproduce::explicand;
use crate::reproduce::ingredients::Digest;
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// The tabular datasets with tree ensembles, in ascending order of the number of features.
pub(super) const DATASETS: [&str; 13] = [
    "iris",
    "california",
    "pima",
    "diabetes",
    "adult",
    "bank",
    "nhanes18",
    "german",
    "correlated60",
    "independent60",
    "brca",
    "communities",
    "tuandromd",
];

/// Maximum number of players for which all coalitions are evaluated in advance, so that estimators spend no
/// time on evaluations.
const TABULATED: usize = 14;

/// Games of one kind, and the values to estimate for them.
pub(super) struct Problem {
    pub(super) name: String,
    pub(super) values: Vec<Value>,
    pub(super) instances: Vec<Instance>,
    /// Whether each run has a separate game; otherwise every run uses all games.
    pub(super) is_by_run: bool,
}

impl Problem {
    pub(super) fn players(&self) -> usize {
        self.instances[0].players
    }

    /// Returns the games of a run.
    pub(super) fn of_run(&self, run: usize) -> &[Instance] {
        if self.is_by_run { &self.instances[run..=run] } else { &self.instances }
    }
}

/// One game with its exact values.
pub(super) struct Instance {
    held: ProblemData,
    players: usize,
    /// Exact values, in the order of [`Problem::values`].
    pub(super) truths: Vec<Vec<f64>>,
    /// Digest that identifies the game in checkpoints.
    pub(super) played: Digest,
}

enum ProblemData {
    Whole(Box<dyn Game + Send>),
    Trees { dataset: Arc<Dataset>, explicand: Vec<f64>, background: Background },
    Logistic { explicand: Vec<f64>, background: Background },
}

impl Instance {
    fn new(held: ProblemData, truths: Vec<Vec<f64>>) -> Result<Self> {
        let mut instance = Self { held, players: 0, truths, played: Digest::from_numbers([]) };
        (instance.players, instance.played) =
            instance.play(|game| Ok((game.players(), Digest::of_game(game)?)))?;
        Ok(instance)
    }

    /// Calls `ask` with the game, and returns the result of the call.
    pub(super) fn play<R>(&self, ask: impl FnOnce(&dyn Game) -> Result<R>) -> Result<R> {
        match &self.held {
            ProblemData::Whole(game) => ask(&**game),
            ProblemData::Trees { dataset, explicand, background } => {
                ask(&MarginalGame::new(&dataset.model, explicand, background)?)
            }
            ProblemData::Logistic { explicand, background } => {
                ask(&MarginalGame::new(&logistic, explicand, background)?)
            }
        }
    }
}

/// A function that creates a textbook game from a seed; games that are not random ignore the seed.
type Make = fn(u64) -> Result<Box<dyn ClosedForm + Send>>;

/// The textbook games, with their names.
const TEXTBOOK: [(&str, Make); 9] = [
    ("unanimity 8", |seed| Ok(Box::new(SumOfUnanimity::random(8, 20, 3, seed)))),
    ("unanimity 12", |seed| Ok(Box::new(SumOfUnanimity::random(12, 30, 3, seed)))),
    ("unanimity 20", |seed| Ok(Box::new(SumOfUnanimity::random(20, 60, 4, seed)))),
    ("unanimity 30", |seed| Ok(Box::new(SumOfUnanimity::random(30, 100, 3, seed)))),
    ("unanimity 60", |seed| Ok(Box::new(SumOfUnanimity::random(60, 200, 4, seed)))),
    ("airport", |_| {
        Ok(Box::new(Airport::new((1..=20).map(|player| f64::from(player * player)).collect::<Vec<_>>())?))
    }),
    ("glove", |_| Ok(Box::new(Glove::new(7, 13)?))),
    ("voting", |_| Ok(Box::new(WeightedVoting::new(53, (1..=14).collect::<Vec<u64>>())?))),
    // Two of the players have a joint value of 5, so nearly all of the error of permutation sampling is in
    // one direction of the space of values.
    ("strong pair", |_| {
        let terms = [(vec![3, 7], 5.0), (vec![1], 1.0), (vec![2, 4, 5], 1.0)];
        Ok(Box::new(SumOfUnanimity::new(20, 0.0, terms)?))
    }),
];

/// Creates the textbook games, each once per run; `runs` maps the number of players to the number of runs.
pub(super) fn textbook(runs: impl Fn(usize) -> usize, seed: u64) -> Result<Vec<Problem>> {
    let problem = |(name, make): (&str, Make)| {
        let instance = |run: usize| {
            let game = make(derive_seed(&("textbook", name, run, seed))?)?;
            let truths = vec![game.shapley(), game.banzhaf()];
            Instance::new(ProblemData::Whole(game), truths)
        };
        let first = instance(0)?;
        let count = runs(first.players);
        let rest = parallel::try_map(1..count, instance)?;
        Ok(Problem {
            name: name.to_owned(),
            values: semivalues(),
            instances: std::iter::once(first).chain(rest).collect(),
            is_by_run: true,
        })
    };
    TEXTBOOK.into_iter().map(problem).collect()
}

fn semivalues() -> Vec<Value> {
    vec![Semivalue::Shapley.into(), Semivalue::Banzhaf.into()]
}

/// Creates games that explain predictions of tree ensembles on the available datasets, with the column means
/// as baseline; `count` maps the number of players to the number of explained rows.
pub(super) fn trees(
    session: &Session,
    count: impl Fn(usize) -> usize,
    is_by_run: bool,
) -> Result<Vec<Problem>> {
    let problem = |dataset: &Arc<Dataset>| {
        let known = dataset.known;
        let instance = |row| {
            of_trees(dataset, row, session.seed)
                .with_context(|| format!("cannot compute exact values for {}", known.name))
        };
        Ok(Problem {
            name: known.name.to_owned(),
            values: semivalues(),
            instances: parallel::try_map(0..count(known.players), instance)?,
            is_by_run,
        })
    };
    session.datasets(&DATASETS)?.iter().map(problem).collect()
}

fn of_trees(dataset: &Arc<Dataset>, row: usize, seed: u64) -> Result<Instance> {
    let explicand = explicand::draw(dataset, derive_seed(&("explicand", dataset.known.name, row, seed))?);
    let background = Background::baseline(dataset.means.clone())?;
    let tree_explainer = MarginalTreeExplainer::new(&dataset.model, background.as_rows(), None)?;
    let exact =
        |value| anyhow::Ok(tree_explainer.values(value, Rows::new(&explicand, explicand.len()))?.values);
    let truths = vec![exact(Semivalue::Shapley)?, exact(Semivalue::Banzhaf)?];
    let held = if explicand.len() <= TABULATED {
        let game = MarginalGame::new(&dataset.model, &explicand, &background)?;
        ProblemData::Whole(Box::new(TabulatedGame::from_game(&game)?))
    } else {
        ProblemData::Trees { dataset: Arc::clone(dataset), explicand, background }
    };
    Instance::new(held, truths)
}

/// Number of players of the game with grouped players.
const PREDICTORS: usize = 12;
/// Number of background rows of the game with grouped players.
const BACKGROUND: usize = 100;

/// Predicts a probability for a row; neighbouring features interact, both within and across groups.
fn logistic(row: &[f64]) -> f64 {
    let alone: f64 = row.iter().enumerate().map(|(at, x)| x * (0.3 + 0.1 * at as f64)).sum();
    let pairs: f64 = row.windows(2).map(|pair| pair[0] * pair[1]).sum();
    1.0 / (1.0 + (-alone - 0.4 * pairs).exp())
}

/// Creates the games with grouped players, from simulated rows and a simulated background.
pub(super) fn grouped(explicands: usize, seed: u64) -> Result<Problem> {
    let groups = Partition::new(PREDICTORS, vec![vec![0, 1], vec![2, 3], vec![4, 5], (6..12).collect()])?;
    let values = vec![
        Semivalue::Shapley.into(),
        Value::quotient(Semivalue::Shapley, groups.clone()),
        Value::owen(groups.clone()),
        Value::two_step(groups),
    ];
    let mut rng = stream(derive_seed(&("grouped", seed))?, Purpose::Experiment, 0);
    let mut row = || -> Vec<f64> {
        // A common term in all predictors makes them dependent.
        let common = rng.random_range(-1.0..1.0);
        (0..PREDICTORS).map(|_| common + rng.random_range(-1.0..1.0)).collect()
    };
    let explained: Vec<Vec<f64>> = (0..explicands).map(|_| row()).collect();
    let background = Background::rows((0..BACKGROUND).flat_map(|_| row()).collect::<Vec<_>>(), PREDICTORS)?;
    let instance = |explicand: Vec<f64>| {
        let game = TabulatedGame::from_game(&MarginalGame::new(&logistic, &explicand, &background)?)?;
        let truths = values.iter().map(|value| Ok(value.enumerate(&game)?.values)).collect::<Result<_>>()?;
        Instance::new(ProblemData::Logistic { explicand, background: background.clone() }, truths)
    };
    let instances = parallel::try_map(explained, instance)?;
    Ok(Problem { name: "logistic".to_owned(), values, instances, is_by_run: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::relative_error;
    use crate::reproduce::datasets::{Library, known_dataset};

    fn embedded(name: &str) -> Instance {
        of_trees(&Library::embedded().get(known_dataset(name)).unwrap(), 1, 0).unwrap()
    }

    #[test]
    fn the_truths_are_the_values_of_the_games_by_enumeration() {
        let mut cases: Vec<(Vec<Value>, Instance)> = Vec::new();
        let few = textbook(|players| 2 * usize::from(players <= 20), 0).unwrap();
        let with_values = |problem: Problem| {
            let values = problem.values;
            problem.instances.into_iter().map(move |instance| (values.clone(), instance))
        };
        cases.extend(few.into_iter().filter(|problem| problem.players() <= 20).flat_map(with_values));
        cases.extend(with_values(grouped(2, 0).unwrap()));
        cases.extend(["iris", "diabetes"].map(|name| (semivalues(), embedded(name))));
        for (values, instance) in cases {
            let game = instance.play(|game| Ok(TabulatedGame::from_game(game)?)).unwrap();
            for (value, truth) in values.iter().zip(&instance.truths) {
                assert!(relative_error(&value.enumerate(&game).unwrap().values, truth) < 1e-20);
            }
        }
    }
}
