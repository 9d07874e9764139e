//! Games: Python functions of coalitions, tables, and textbook games.

use std::sync::Arc;

use apportion::games::{
    Additive, Airport, BoxError, ClosedForm, Coalitions, Cooking, GameError, Glove, QuotientGame,
    SumOfUnanimity, TabulatedGame, WeightedVoting,
};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::callable::Callable;
use crate::errors::{of_explaining, of_playing, usage};
use crate::explained;
use crate::options::Request;
use crate::pool::Pool;
use crate::serve::{Line, Question, serve};

/// A game, which has a value for each coalition of players.
#[pyclass(frozen, module = "apportion._core")]
pub(crate) struct Game {
    plays: GameSource,
}

enum GameSource {
    /// A game with closed forms for its values.
    Textbook(Arc<dyn ClosedForm + Send + Sync>),
    Table(TabulatedGame),
    Function {
        function: Callable,
        players: usize,
        outputs: usize,
    },
}

impl GameSource {
    /// Returns the function that evaluates the game, if there is one.
    fn function(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        match self {
            Self::Function { function, .. } => function.get(py).map(Some),
            _ => Ok(None),
        }
    }
}

impl Game {
    fn textbook(game: impl ClosedForm + Send + Sync + 'static) -> Self {
        Self { plays: GameSource::Textbook(Arc::new(game)) }
    }
}

#[pymethods]
impl Game {
    /// Returns the game of a function that maps coalitions × players booleans to a flat array of coalitions ×
    /// outputs numbers.
    #[staticmethod]
    fn of_function(function: Py<PyAny>, players: usize, outputs: usize) -> Self {
        Self { plays: GameSource::Function { function: Callable::new(function), players, outputs } }
    }

    /// Returns the game of a table with 2^n × outputs numbers, ordered by masks, in which bit i is player i.
    #[staticmethod]
    fn of_table(py: Python<'_>, values: PyReadonlyArray1<'_, f64>, outputs: usize) -> PyResult<Self> {
        let table = TabulatedGame::new(values.as_slice()?.to_vec(), outputs);
        Ok(Self { plays: GameSource::Table(table.map_err(|error| of_playing(py, &error))?) })
    }

    /// Returns the glove game.
    #[staticmethod]
    fn glove(py: Python<'_>, left: usize, right: usize) -> PyResult<Self> {
        Glove::new(left, right).map(Self::textbook).map_err(|error| of_playing(py, &error))
    }

    /// Returns the airport game.
    #[staticmethod]
    fn airport(py: Python<'_>, costs: Vec<f64>) -> PyResult<Self> {
        Airport::new(costs).map(Self::textbook).map_err(|error| of_playing(py, &error))
    }

    /// Returns the additive game.
    #[staticmethod]
    fn additive(py: Python<'_>, amounts: Vec<f64>) -> PyResult<Self> {
        Additive::new(amounts).map(Self::textbook).map_err(|error| of_playing(py, &error))
    }

    /// Returns the weighted voting game.
    #[staticmethod]
    fn weighted_voting(py: Python<'_>, quota: u64, weights: Vec<u64>) -> PyResult<Self> {
        WeightedVoting::new(quota, weights).map(Self::textbook).map_err(|error| of_playing(py, &error))
    }

    /// Returns the sum of a constant and of unanimity games.
    #[staticmethod]
    fn sum_of_unanimity(
        py: Python<'_>,
        players: usize,
        constant: f64,
        terms: Vec<(Vec<usize>, f64)>,
    ) -> PyResult<Self> {
        SumOfUnanimity::new(players, constant, terms)
            .map(Self::textbook)
            .map_err(|error| of_playing(py, &error))
    }

    /// Returns the cooking game.
    #[staticmethod]
    fn cooking() -> Self {
        Self::textbook(Cooking)
    }

    /// Number of players.
    #[getter]
    fn player_count(&self) -> usize {
        match &self.plays {
            GameSource::Textbook(game) => game.players(),
            GameSource::Table(game) => apportion::Game::players(game),
            GameSource::Function { players, .. } => *players,
        }
    }

    /// Number of outputs.
    #[getter]
    fn output_count(&self) -> usize {
        match &self.plays {
            GameSource::Textbook(game) => game.outputs(),
            GameSource::Table(game) => apportion::Game::outputs(game),
            GameSource::Function { outputs, .. } => *outputs,
        }
    }

    /// Returns Shapley and Banzhaf values in closed form; None for games that are not textbook games.
    fn closed_forms<'py>(&self, py: Python<'py>) -> Option<[Bound<'py, PyArray1<f64>>; 2]> {
        match &self.plays {
            GameSource::Textbook(game) => {
                Some([game.shapley(), game.banzhaf()].map(|values| PyArray1::from_vec(py, values)))
            }
            _ => None,
        }
    }

    /// Returns the values of coalitions as a flat array of coalitions × outputs.
    fn values<'py>(
        &self,
        py: Python<'py>,
        coalitions: PyReadonlyArray2<'py, bool>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let players = self.player_count();
        let given = coalitions.shape()[1];
        if given != players {
            let says = format!("wrong number of players in the coalitions: {given}, expected {players}");
            return Err(usage(py, says));
        }
        let game: &dyn apportion::Game = match &self.plays {
            GameSource::Textbook(game) => &**game,
            GameSource::Table(game) => game,
            GameSource::Function { function, .. } => {
                let answer = function.get(py)?.bind(py).call1((&*coalitions,))?;
                return Ok(answer.cast_into::<PyArray1<f64>>()?);
            }
        };
        let members = coalitions.as_slice()?;
        let mut batch = Coalitions::with_capacity(players, members.len() / players.max(1));
        for row in members.chunks_exact(players.max(1)) {
            batch.push_members((0..players).filter(|&player| row[player]));
        }
        let mut values = vec![0.0; batch.len() * game.outputs()];
        game.values(&batch, &mut values).map_err(|error| of_playing(py, &error))?;
        Ok(PyArray1::from_vec(py, values))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.plays {
            GameSource::Function { function, .. } => function.traverse(&visit),
            _ => Ok(()),
        }
    }

    fn __clear__(&self) {
        if let GameSource::Function { function, .. } = &self.plays {
            function.clear();
        }
    }
}

/// Maximum size in bytes of the coalitions of one call of a function.
const MAX_BYTES: usize = 1 << 25;

/// A game whose Python function is evaluated by the calling thread.
struct ServedGame {
    line: Line,
    players: usize,
    outputs: usize,
}

impl apportion::Game for ServedGame {
    fn players(&self) -> usize {
        self.players
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn parallel(&self) -> bool {
        false
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        // Coalitions have one byte per player, so with many players a large budget would exhaust the memory.
        let most = (MAX_BYTES / self.players.max(1)).max(1);
        for (start, out) in (0..batch.len()).step_by(most).zip(out.chunks_mut(most * self.outputs)) {
            let members = (start..(start + most).min(batch.len()))
                .flat_map(|at| (0..self.players).map(move |player| batch.row(at).contains(player)))
                .collect();
            let question = Question::Coalitions { members, players: self.players };
            let failed =
                |source: BoxError| GameError::Model { coalition: batch.row(start).to_coalition(), source };
            let values = self.line.request(question, out.len()).map_err(failed)?;
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                return Err(GameError::NotFinite {
                    coalition: batch.row(start + at / self.outputs).to_coalition(),
                    output: at % self.outputs,
                    value: values[at],
                });
            }
            out.copy_from_slice(&values);
        }
        Ok(())
    }
}

/// Returns the values of the players of a game.
#[pyfunction]
pub(crate) fn explain_game<'py>(
    py: Python<'py>,
    game: &Bound<'py, Game>,
    mut options: Request,
    pool: &Bound<'py, Pool>,
) -> PyResult<Bound<'py, PyDict>> {
    let game = game.get();
    let asked = options.resolve(py, game.player_count())?;
    let explainer = asked.game_explainer().map_err(|error| of_explaining(py, &error))?;
    let function = game.plays.function(py)?;
    let served = serve(py, pool.get(), function.as_ref(), &|_| Ok(()), |line| match &game.plays {
        GameSource::Textbook(game) => explainer.explain(&**game as &dyn apportion::Game),
        GameSource::Table(game) => explainer.explain(game),
        GameSource::Function { players, outputs, .. } => {
            explainer.explain(&ServedGame { line, players: *players, outputs: *outputs })
        }
    })?;
    let explanation = served.whole(py)?.map_err(|error| of_explaining(py, &error))?;
    explained::of_runs(py, vec![(0, explanation)])
}

/// Returns the interactions of all pairs of players of a game.
#[pyfunction]
pub(crate) fn pairs_of_game<'py>(
    py: Python<'py>,
    game: &Bound<'py, Game>,
    mut options: Request,
    pool: &Bound<'py, Pool>,
) -> PyResult<Bound<'py, PyDict>> {
    let game = game.get();
    let asked = options.resolve(py, game.player_count())?;
    let Some((index, groups)) = asked.index() else { return Err(usage(py, NO_INDEX)) };
    let explainer = asked.game_explainer().map_err(|error| of_explaining(py, &error))?;
    let function = game.plays.function(py)?;
    let of_pairs = |game: &dyn apportion::Game| match groups {
        None => explainer.indices(game, &index, 2),
        Some(groups) => explainer.indices(&QuotientGame::new(game, groups)?, &index, 2),
    };
    let served = serve(py, pool.get(), function.as_ref(), &|_| Ok(()), |line| match &game.plays {
        GameSource::Textbook(game) => of_pairs(&**game as &dyn apportion::Game),
        GameSource::Table(game) => of_pairs(game),
        GameSource::Function { players, outputs, .. } => {
            of_pairs(&ServedGame { line, players: *players, outputs: *outputs })
        }
    })?;
    let found = served.whole(py)?.map_err(|error| of_explaining(py, &error))?;
    explained::of_pairs(py, asked.method(), &[found], false)
}

/// The message for a value without an interaction index.
pub(crate) const NO_INDEX: &str = "interactions are only available for semivalues (shapley, banzhaf, …) and \
                                   for quotient-NAME with groups";
