//! The games on which accuracies are asked for, with what their values truly are.

use std::sync::Arc;

use anyhow::{Context, Result};
use apportion::games::{Airport, ClosedForm, Glove, SumOfUnanimity, TabulatedGame, WeightedVoting};
use apportion::trees::InterventionalOracle;
use apportion::{Background, Game, MarginalGame, Rows, Semivalue};
use rayon::prelude::*;
use serde::Serialize;

use super::asked::runs_on;
use crate::reproduce::datasets::Dataset;
use crate::reproduce::explicand;
use crate::reproduce::ingredients::Digest;
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// The most players whose coalitions are all evaluated beforehand, so that asking for them takes no time.
const TABULATED: usize = 14;

/// The tabular datasets with tree ensembles, by the number of features.
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

/// A textbook game.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Textbook {
    /// So many terms of up to so many players; another game in each run.
    Unanimity { players: usize, terms: usize, largest: usize },
    /// 20 players, player i at a cost of i².
    Airport,
    /// 7 left gloves and 13 right ones.
    Glove,
    /// 14 players with 1 to 14 votes; more than half of the votes win.
    Voting,
    /// Two of 20 players are worth 5 together, beside two terms of 1: nearly all of the error of permutations is in one direction.
    StrongPair,
}

impl Textbook {
    const ALL: [Self; 9] = [
        Self::Unanimity { players: 8, terms: 20, largest: 3 },
        Self::Unanimity { players: 12, terms: 30, largest: 3 },
        Self::Unanimity { players: 20, terms: 60, largest: 4 },
        Self::Unanimity { players: 30, terms: 100, largest: 3 },
        Self::Unanimity { players: 60, terms: 200, largest: 4 },
        Self::Airport,
        Self::Glove,
        Self::Voting,
        Self::StrongPair,
    ];

    fn title(self) -> String {
        match self {
            Self::Unanimity { players, .. } => format!("unanimity {players}"),
            Self::Airport => "airport".to_owned(),
            Self::Glove => "glove".to_owned(),
            Self::Voting => "voting".to_owned(),
            Self::StrongPair => "strong pair".to_owned(),
        }
    }

    fn players(self) -> usize {
        match self {
            Self::Unanimity { players, .. } => players,
            Self::Voting => 14,
            _ => 20,
        }
    }

    fn instance(self, run: usize, seed: u64) -> Result<Instance> {
        match self {
            Self::Unanimity { players, terms, largest } => {
                let seed = derive_seed(&("unanimity", players, terms, largest, run, seed))?;
                Instance::textbook(SumOfUnanimity::random(players, terms, largest, seed))
            }
            Self::Airport => {
                let costs: Vec<f64> = (1..=20).map(|player| f64::from(player * player)).collect();
                Instance::textbook(Airport::new(costs)?)
            }
            Self::Glove => Instance::textbook(Glove::new(7, 13)?),
            Self::Voting => {
                let votes: Vec<u64> = (1..=14).collect();
                Instance::textbook(WeightedVoting::new(votes.iter().sum::<u64>() / 2 + 1, votes)?)
            }
            Self::StrongPair => {
                let terms = [(vec![3, 7], 5.0), (vec![1], 1.0), (vec![2, 4, 5], 1.0)];
                Instance::textbook(SumOfUnanimity::new(20, 0.0, terms)?)
            }
        }
    }
}

/// What tells a game from all others, in the keys of cells.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Name {
    pub(super) game: String,
    /// Of the data and the model, where there are such.
    files: Option<(&'static str, &'static str)>,
}

/// A game, or one for each explicand of a dataset, with its runs.
pub(super) struct Series {
    pub(super) name: Name,
    pub(super) players: usize,
    /// By the run.
    pub(super) instances: Vec<Instance>,
    /// Of all games, and of all their exact values.
    pub(super) played: Digest,
    pub(super) truth: Digest,
}

impl Series {
    /// All textbook games and all tabular datasets that are there.
    pub(super) fn all(session: &Session) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for textbook in Textbook::ALL {
            let name = Name { game: textbook.title(), files: None };
            let of_run = |run| textbook.instance(run, session.seed);
            all.push(Self::new(session, name, textbook.players(), of_run)?);
        }
        for dataset in session.datasets(&DATASETS)? {
            let known = dataset.known;
            let name = Name {
                game: known.name.to_owned(),
                files: Some((known.data_sha256(), known.model_sha256())),
            };
            let of_run = |run| Instance::of_trees(&dataset, run, session.seed);
            all.push(Self::new(session, name, known.players, of_run)?);
        }
        Ok(all)
    }

    fn new(
        session: &Session,
        name: Name,
        players: usize,
        of_run: impl Fn(usize) -> Result<Instance> + Send + Sync,
    ) -> Result<Self> {
        let runs = (0..runs_on(session, players)).into_par_iter();
        let instances = runs.map(of_run).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            name,
            players,
            played: Digest::joined(instances.iter().map(|instance| &instance.played)),
            truth: Digest::joined(instances.iter().map(|instance| &instance.truth)),
            instances,
        })
    }

    /// `adult (n = 12)`.
    pub(super) fn title(&self) -> String {
        format!("{} (n = {})", self.name.game, self.players)
    }
}

/// One game, and its exact values.
pub(super) struct Instance {
    held: Held,
    shapley: Vec<f64>,
    banzhaf: Vec<f64>,
    /// What came of probing it.
    pub(super) played: Digest,
    /// Of its exact values.
    pub(super) truth: Digest,
}

enum Held {
    Whole(Box<dyn Game + Send>),
    Trees { dataset: Arc<Dataset>, explicand: Vec<f64>, background: Background },
}

impl Held {
    fn game(&self) -> Result<Box<dyn Game + '_>> {
        Ok(match self {
            Self::Whole(game) => Box::new(&**game),
            Self::Trees { dataset, explicand, background } => {
                Box::new(MarginalGame::new(&dataset.model, explicand, background)?)
            }
        })
    }
}

impl Instance {
    fn new(held: Held, shapley: Vec<f64>, banzhaf: Vec<f64>) -> Result<Self> {
        let played = Digest::of_game(&*held.game()?)?;
        let truth = Digest::of(shapley.iter().chain(&banzhaf).copied());
        Ok(Self { held, shapley, banzhaf, played, truth })
    }

    fn textbook(game: impl ClosedForm + Send + 'static) -> Result<Self> {
        let (shapley, banzhaf) = (game.shapley(), game.banzhaf());
        Self::new(Held::Whole(Box::new(game)), shapley, banzhaf)
    }

    /// A row of `dataset` against the column means.
    fn of_trees(dataset: &Arc<Dataset>, run: usize, seed: u64) -> Result<Self> {
        let name = dataset.known.name;
        let explicand = explicand::draw(dataset, derive_seed(&("explicand", name, run, seed))?);
        let background = Background::baseline(dataset.means.clone())?;
        let oracle = InterventionalOracle::new(&dataset.model, background.as_rows(), None)
            .with_context(|| format!("{name}: no exact values"))?;
        let exact = |value: Semivalue| -> Result<Vec<f64>> {
            let rows = Rows::new(&explicand, explicand.len());
            let values = oracle.values(value, rows);
            Ok(values.with_context(|| format!("{name}, run {run}: no exact values"))?.values)
        };
        let (shapley, banzhaf) = (exact(Semivalue::Shapley)?, exact(Semivalue::Banzhaf)?);
        let held = if explicand.len() <= TABULATED {
            let game = MarginalGame::new(&dataset.model, &explicand, &background)?;
            Held::Whole(Box::new(TabulatedGame::from_game(&game)?))
        } else {
            Held::Trees { dataset: Arc::clone(dataset), explicand, background }
        };
        Self::new(held, shapley, banzhaf)
    }

    pub(super) fn game(&self) -> Result<Box<dyn Game + '_>> {
        self.held.game()
    }

    /// The exact Shapley values, or Banzhaf values.
    pub(super) fn truth(&self, value: &Semivalue) -> &[f64] {
        if *value == Semivalue::Banzhaf { &self.banzhaf } else { &self.shapley }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::relative_error;
    use crate::reproduce::datasets::{Library, known};
    use apportion::estimators::exact;

    #[test]
    fn the_truths_are_the_values_of_the_games_by_enumeration() {
        let empty = tempfile::tempdir().unwrap();
        let library = Library::new(Some(empty.path()), empty.path()).unwrap();
        let textbook = Textbook::ALL.into_iter().filter(|textbook| textbook.players() <= 20);
        let mut instances: Vec<Instance> =
            textbook.map(|textbook| textbook.instance(1, 0).unwrap()).collect();
        for name in ["iris", "diabetes"] {
            let dataset = library.get(known(name)).unwrap().unwrap();
            instances.extend((0..2).map(|run| Instance::of_trees(&dataset, run, 0).unwrap()));
        }
        for instance in instances {
            let game = TabulatedGame::from_game(&*instance.game().unwrap()).unwrap();
            for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
                let enumerated = exact(&game, value.clone()).unwrap().values;
                assert!(relative_error(&enumerated, instance.truth(&value)) < 1e-20, "{value}");
            }
        }
    }

    #[test]
    fn wide_tree_games_are_not_tabulated_and_have_values_that_sum_to_the_worth_of_all() {
        let empty = tempfile::tempdir().unwrap();
        let library = Library::new(Some(empty.path()), empty.path()).unwrap();
        let dataset = library.get(known("correlated60")).unwrap().unwrap();
        let instance = Instance::of_trees(&dataset, 0, 0).unwrap();
        let game = instance.game().unwrap();
        let mut ends = apportion::games::Coalitions::new(60);
        ends.push_empty();
        ends.push_full();
        let mut values = [0.0; 2];
        game.values(&ends, &mut values).unwrap();
        let total: f64 = instance.truth(&Semivalue::Shapley).iter().sum();
        assert!((total - (values[1] - values[0])).abs() < 1e-6 * total.abs().max(1.0));
    }
}
