//! The graph-restricted game, in which only connected players cooperate.

use crate::cancellation::Cancellation;
use crate::coalitions::Coalitions;
use crate::error::GameError;
use crate::game::Game;

use super::Graph;

/// Number of components that are collected and evaluated together in one batch.
const COMPONENTS: usize = 1 << 16;

/// A game in which players cooperate only along the edges of a graph.
///
/// ```text
/// v^G(S) = v(∅) + Σ_{C ∈ components(S)} (v(C) − v(∅))
/// ```
///
/// (Myerson, *Graphs and cooperation in games*, 1977; Chen et al. 2019, equation 12, where v(∅) = 0.) Its
/// Shapley value is the Myerson value of the original game.
///
/// A coalition of c components takes c + 1 evaluations of the original game: one for each component, and one
/// for v(∅). A component shared by two coalitions is evaluated twice, unless the game is
/// [`Cached`](crate::Cached).
///
/// ```
/// use apportion_games::{Coalitions, Game, Graph, GraphRestrictedGame, SumOfUnanimity};
///
/// // The value is 1 if both ends of the line are present.
/// let game = SumOfUnanimity::unanimity(3, [0, 2])?;
/// let restricted = GraphRestrictedGame::new(game, &Graph::line(3))?;
/// let mut values = [0.0; 2];
/// restricted.values(&Coalitions::from_masks(3, [0b101, 0b111]), &mut values)?;
/// assert_eq!(values, [0.0, 1.0], "the ends need the middle");
/// # Ok::<(), apportion_games::GameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct GraphRestrictedGame<G> {
    game: G,
    graph: Graph,
}

impl<G: Game> GraphRestrictedGame<G> {
    /// Creates the game in which the players of `game` cooperate only along the edges of `graph`.
    ///
    /// # Errors
    ///
    /// [`GameError::GraphOfOthers`] if the number of nodes differs from the number of players.
    pub fn new(game: G, graph: &Graph) -> Result<Self, GameError> {
        graph.check_players(game.players())?;
        Ok(Self { game, graph: graph.clone() })
    }

    /// Returns the graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the original game.
    pub fn inner(&self) -> &G {
        &self.game
    }

    /// Sums the values of the connected components of each coalition in `batch`. `ask` evaluates a batch of
    /// components; its second argument contains, for each component, the index in `batch` of its coalition.
    fn sums(
        &self,
        batch: &Coalitions,
        ask: impl Fn(&Coalitions, &[usize], &mut [f64]) -> Result<(), GameError>,
        out: &mut [f64],
    ) -> Result<(), GameError> {
        assert_eq!(batch.players(), self.players(), "the coalitions belong to another game");
        let k = self.outputs();
        let mut parts = Coalitions::new(batch.players());
        let mut owners = Vec::new();
        let mut first = 0;
        for (index, row) in batch.iter().enumerate() {
            Cancellation::check();
            // Every coalition's list starts with the empty coalition, to provide v(∅).
            parts.push_empty();
            self.graph.components(row).iter().for_each(|component| parts.push(component.view()));
            owners.resize(parts.len(), index);
            if parts.len() >= COMPONENTS || index + 1 == batch.len() {
                let mut values = vec![0.0; parts.len() * k];
                ask(&parts, &owners, &mut values)?;
                out[first * k..(index + 1) * k].fill(0.0);
                let mut empty = &values[..k];
                for ((part, value), &owner) in parts.sizes().iter().zip(values.chunks_exact(k)).zip(&owners) {
                    let sum = &mut out[owner * k..(owner + 1) * k];
                    if *part == 0 {
                        empty = value;
                        sum.copy_from_slice(value);
                    } else {
                        for ((sum, value), empty) in sum.iter_mut().zip(value).zip(empty) {
                            *sum += value - empty;
                        }
                    }
                }
                parts.clear();
                owners.clear();
                first = index + 1;
            }
        }
        Ok(())
    }
}

impl<G: Game> Game for GraphRestrictedGame<G> {
    fn players(&self) -> usize {
        self.game.players()
    }

    cost_of_inner_game!();

    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        assert_eq!(scenarios.len(), batch.len(), "expected one scenario per coalition");
        let ask = |parts: &Coalitions, owners: &[usize], values: &mut [f64]| {
            let scenarios: Vec<usize> = owners.iter().map(|&owner| scenarios[owner]).collect();
            self.game.values_in_scenarios(parts, &scenarios, values)
        };
        self.sums(batch, ask, out)
    }

    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.sums(batch, |parts, _, values| self.game.values(parts, values), out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Adjacency, Background, MarginalGame, SumOfUnanimity, TabulatedGame};

    fn table(game: &impl Game) -> Vec<f64> {
        TabulatedGame::from_game(game).unwrap().values_in_order().to_vec()
    }

    #[test]
    fn the_value_is_the_sum_over_components() {
        for graph in [
            Graph::line(7),
            Graph::grid(2, 4, Adjacency::Four),
            Graph::from_edges(6, [(0, 5), (2, 3)]).unwrap(),
        ] {
            let nodes = graph.nodes();
            let game = TabulatedGame::from_fn(nodes, |mask| ((mask * mask + 3) % 17) as f64).unwrap();
            let values = table(&game);
            for (mask, got) in table(&GraphRestrictedGame::new(&game, &graph).unwrap()).iter().enumerate() {
                let mut expected = values[0];
                let mut left = mask;
                while left != 0 {
                    let mut component = left & left.wrapping_neg();
                    loop {
                        let reached = (0..nodes)
                            .filter(|&node| left >> node & 1 == 1)
                            .filter(|&node| {
                                graph.neighbours(node).iter().any(|other| component >> other & 1 == 1)
                            })
                            .fold(component, |set, node| set | 1 << node);
                        if reached == component {
                            break;
                        }
                        component = reached;
                    }
                    expected += values[component] - values[0];
                    left &= !component;
                }
                assert_eq!(*got, expected);
            }
        }
    }

    #[test]
    fn where_all_are_neighbours_it_is_the_game_itself() {
        let game = SumOfUnanimity::random(6, 20, 4, 3);
        let restricted = GraphRestrictedGame::new(&game, &Graph::complete(6)).unwrap();
        for (got, expected) in table(&restricted).iter().zip(table(&game)) {
            assert!((got - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn batches_of_any_length_and_scenarios_agree() {
        let model = |row: &[f64]| row.iter().product::<f64>() + row[0];
        let background = Background::rows((0..12).map(f64::from).collect::<Vec<_>>(), 3).unwrap();
        let marginal = MarginalGame::new(&model, &[2.0, -1.0, 0.5], &background).unwrap();
        let game = GraphRestrictedGame::new(&marginal, &Graph::line(3)).unwrap();
        assert_eq!(game.scenarios(), 4);
        let many = Coalitions::from_masks(3, (0..100_000).map(|mask| mask % 8));
        let mut values = vec![0.0; many.len()];
        game.values(&many, &mut values).unwrap();
        let mut means = [0.0; 8];
        for scenario in 0..4 {
            let mut in_scenario = [0.0; 8];
            game.values_in_scenarios(&Coalitions::from_masks(3, 0..8), &[scenario; 8], &mut in_scenario)
                .unwrap();
            means.iter_mut().zip(in_scenario).for_each(|(mean, value)| *mean += value / 4.0);
        }
        for (index, value) in values.iter().enumerate() {
            assert!((value - means[index % 8]).abs() < 1e-12);
        }
        game.values(&Coalitions::new(3), &mut []).unwrap();
        assert!(GraphRestrictedGame::new(&marginal, &Graph::line(4)).is_err());
    }
}
