//! Values for players on a graph: L-Shapley, C-Shapley and Myerson values, and their generalizations to any
//! semivalue.
//!
//! # Notation
//!
//! G is the graph, `N_k(i)` the [neighbourhood](apportion_games::Graph::neighbourhood) of order k of player
//! i, M(a, b) the [moment](Semivalue::moment) of the semivalue: the probability that `a` given players are
//! present and `b` given others are absent. For the Shapley value, M(a, b) = a! b! / (a + b + 1)!.
//!
//! # Source
//!
//! Chen, Song, Wainwright and Jordan, *L-Shapley and C-Shapley: efficient model interpretation for structured
//! data*, 2019, Definitions 1 and 2; Myerson, *Graphs and cooperation in games*, 1977. The coefficients with
//! true boundaries are derived here. In a random order of the players, consider i and the players before it.
//! The component that contains i is the connected set U if all other members of U precede i and the boundary
//! B(U) follows i. The probability of this is M(|U| − 1, |B(U)|). The paper's 2 / ((u + 2)(u + 1) u), where
//! u = |U|, is the case of two boundary nodes, as in the interior of a line.

use std::fmt::{Display, Formatter, Result as FormatResult};
use std::str::FromStr;

use apportion_games::{Coalition, CoalitionView, Game, Graph, GraphRestrictedGame, SubGame, TabulatedGame};

use crate::attributions::Attributions;
use crate::enumeration::{MAX_PLAYERS, enumerate};
use crate::error::ValueError;
use crate::semivalue::Semivalue;

/// A value for players on a graph.
///
/// Its textual form is its name, `l-shapley=2`, `c-shapley=3`, `myerson`. With `banzhaf` instead of `shapley`
/// (`myerson-banzhaf`), the Banzhaf value replaces the Shapley value; for any other semivalue, use
/// `local=2/beta=4,1`, `connected=2/beta=4,1`, `graph-restricted/beta=4,1`. Options that differ from the
/// default follow after the order, separated by commas: `l-shapley=2,present`, `c-shapley=2,printed`,
/// `c-shapley=2,marginal`, `c-shapley=2,graph,present`.
///
/// | order | L-Shapley | C-Shapley |
/// |---|---|---|
/// | 0 | v({i}) − v(∅) | v({i}) − v(∅); a third of this with printed coefficients |
/// | at least the [diameter](apportion_games::Graph::diameter), connected graph | Shapley | Myerson |
///
/// ```
/// use apportion_games::{Graph, SumOfUnanimity};
/// use apportion_values::GraphValue;
///
/// // The value is 1 if both ends of a line of three players are present and connected by the middle.
/// let game = SumOfUnanimity::unanimity(3, [0, 2])?;
/// let myerson: GraphValue = "myerson".parse()?;
/// let values = myerson.enumerate(&game, &Graph::line(3))?.values;
/// assert!(values.iter().all(|value| (value - 1.0 / 3.0).abs() < 1e-15));
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GraphValue {
    /// The semivalue that weights coalitions by size.
    pub semivalue: Semivalue,
    /// The coalitions that are used, and their weights.
    pub form: GraphForm,
}

/// The coalitions that a value for players on a graph uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphForm {
    /// All coalitions within the player's neighbourhood. The value is the semivalue of the game restricted to
    /// this neighbourhood (L-Shapley; Chen et al. 2019, Definition 1, equation 5).
    ///
    /// ```text
    /// φ_i = Σ_{T ∋ i, T ⊆ N_k(i)} M(|T| − 1, |N_k(i)| − |T|) [v(T) − v(T \ i)]
    /// ```
    Local {
        /// The order k of the neighbourhoods.
        order: usize,
        /// Whether players outside the neighbourhood are absent or present.
        outside: Outside,
    },
    /// The connected coalitions within the player's neighbourhood (C-Shapley; Chen et al. 2019, Definition 2,
    /// equation 6). The value is
    ///
    /// ```text
    /// φ_i = Σ_{U ∋ i connected, U ⊆ N_k(i)} M(|U| − 1, b(U)) m(U, i)
    /// ```
    ///
    /// with b(U) and m(U, i) as in the table of [`Coefficients`].
    Connected {
        /// The order k of the neighbourhoods.
        order: usize,
        /// How connected coalitions are weighted.
        coefficients: Coefficients,
        /// Whether players outside the neighbourhood are absent or present.
        outside: Outside,
    },
    /// All connected coalitions of the graph. The value is the semivalue of the [graph-restricted
    /// game](apportion_games::GraphRestrictedGame) (Myerson, 1977). B(C) is the
    /// [boundary](apportion_games::Graph::boundary) of C: the neighbours of its members outside C.
    ///
    /// ```text
    /// φ_i = Σ_{C ∋ i connected} M(|C| − 1, |B(C)|) w(C) − Σ_{C connected, i ∈ B(C)} M(|C|, |B(C)| − 1) w(C),
    /// w(C) = v(C) − v(∅)
    /// ```
    Myerson,
}

/// Whether players outside the neighbourhood are absent or present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outside {
    /// The players outside are absent, as in the definitions: the value of T is v(T).
    #[default]
    Absent,
    /// The players outside are present, as in the authors' code: the value of T is v(T ∪ (N \ N_k(i))).
    Present,
}

/// How C-Shapley values weight the connected coalitions U within a neighbourhood.
///
/// | | b(U) | m(U, i) |
/// |---|---|---|
/// | `Neighbourhood` | neighbours of U in N_k(i) | v(U) − v(∅) − Σ_{C ∈ components(U \ i)} (v(C) − v(∅)) |
/// | `Graph` | all neighbours of U | as for `Neighbourhood` |
/// | `Marginal` | neighbours of U in N_k(i) | v(U) − v(U \ i) |
/// | `Printed` | 2 | as for `Marginal` |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Coefficients {
    /// The Myerson value of the game restricted to the neighbourhood. It is exact for additive games. It
    /// equals the Myerson value of the whole game if the order is at least the diameter.
    #[default]
    Neighbourhood,
    /// The Myerson value of the whole game, reduced to the terms whose coalitions lie in the neighbourhood.
    /// Their weights sum to less than 1 if the order is below the diameter.
    Graph,
    /// The boundaries counted in the neighbourhood, with the marginal contributions of equation 6 (Chen et
    /// al. 2019). This is the value that their Theorem 2 bounds: it equals the Shapley value if players that
    /// are not adjacent are independent given those between them. It also evaluates coalitions that are not
    /// connected.
    Marginal,
    /// The coefficients printed in the paper (Chen et al. 2019, equation 6). In an additive game, they yield
    /// only a fraction of the value: on a line, 8/15 for k = 1 and 9/14 for k = 2 for interior players, and
    /// less at the ends.
    Printed,
}

impl GraphValue {
    /// Creates the L-Shapley value of the given order.
    pub fn l_shapley(order: usize) -> Self {
        let form = GraphForm::Local { order, outside: Outside::Absent };
        Self { semivalue: Semivalue::Shapley, form }
    }

    /// Creates the C-Shapley value of the given order, with coefficients
    /// [`Neighbourhood`](Coefficients::Neighbourhood).
    pub fn c_shapley(order: usize) -> Self {
        let (coefficients, outside) = Default::default();
        Self { semivalue: Semivalue::Shapley, form: GraphForm::Connected { order, coefficients, outside } }
    }

    /// Creates the Myerson value.
    pub fn myerson() -> Self {
        Self { semivalue: Semivalue::Shapley, form: GraphForm::Myerson }
    }

    /// Replaces the semivalue.
    pub fn with_semivalue(mut self, semivalue: Semivalue) -> Self {
        self.semivalue = semivalue;
        self
    }

    /// Replaces the coefficients; has no effect on values other than C-Shapley values.
    pub fn with_coefficients(mut self, chosen: Coefficients) -> Self {
        if let GraphForm::Connected { coefficients, .. } = &mut self.form {
            *coefficients = chosen;
        }
        self
    }

    /// Makes the players outside the neighbourhood present or absent; has no effect on the Myerson value.
    pub fn with_outside(mut self, chosen: Outside) -> Self {
        if let GraphForm::Local { outside, .. } | GraphForm::Connected { outside, .. } = &mut self.form {
            *outside = chosen;
        }
        self
    }

    /// Returns the same value with its semivalue in canonical form.
    pub(crate) fn simplified(&self) -> Self {
        self.clone().with_semivalue(self.semivalue.simplified())
    }

    /// Returns the order k of the neighbourhoods; `None` for the Myerson value.
    pub fn order(&self) -> Option<usize> {
        match self.form {
            GraphForm::Local { order, .. } | GraphForm::Connected { order, .. } => Some(order),
            GraphForm::Myerson => None,
        }
    }

    /// Checks that the value is defined for a game of `players` players on `graph`.
    ///
    /// # Errors
    ///
    /// [`ValueError::Game`] if the number of nodes differs, [`ValueError::WeightsForOtherPlayers`] if the
    /// number of weights by size differs, [`ValueError::PrintedWeights`] if the weights by size do not
    /// determine the printed coefficients.
    pub fn check(&self, players: usize, graph: &Graph) -> Result<(), ValueError> {
        graph.check_players(players)?;
        self.semivalue.check_players(players)?;
        // A printed coefficient for a coalition of s players is M(s − 1, 2), which requires weights for s + 2
        // players.
        let GraphForm::Connected { order, coefficients: Coefficients::Printed, .. } = self.form else {
            return Ok(());
        };
        let is_by_size = matches!(self.semivalue, Semivalue::SizeWeights(_));
        let leaves_no_room = |&player: &usize| graph.neighbourhood(player, order).len() + 2 > players;
        match (0..players).filter(|_| is_by_size).find(leaves_no_room) {
            Some(player) => Err(ValueError::PrintedWeights { player, players }),
            None => Ok(()),
        }
    }

    /// Computes the exact values by definition, from all 2^n coalitions. Estimators need far fewer
    /// evaluations.
    ///
    /// # Errors
    ///
    /// Same as [`check`](Self::check); [`ValueError::Players`] without players or for more than
    /// [`MAX_PLAYERS`]; any error of the game.
    pub fn enumerate(&self, game: &(impl Game + ?Sized), graph: &Graph) -> Result<Attributions, ValueError> {
        // Use dynamic dispatch to compile the code below once, not once per game type.
        let game: &dyn Game = &game;
        let players = game.players();
        self.check(players, graph)?;
        if players == 0 || players > MAX_PLAYERS {
            return Err(ValueError::Players { actual: players, max: MAX_PLAYERS });
        }
        let table = TabulatedGame::from_game(&game)?;
        let k = table.outputs();
        let all = table.values_in_order();
        let (base, full) = (all[..k].to_vec(), all[all.len() - k..].to_vec());
        let values = match self.form {
            GraphForm::Myerson => {
                let restricted = GraphRestrictedGame::new(&table, graph)?;
                enumerate(&restricted, self.semivalue.clone())?.values
            }
            GraphForm::Local { order, outside } => {
                let mut values = Vec::with_capacity(players * k);
                for player in 0..players {
                    let around = graph.neighbourhood(player, order);
                    let mine = around.iter().position(|&node| node == player).unwrap_or_default();
                    let local = self.semivalue.without_null_players(around.len());
                    let game = SubGame::new(&table, &around)?;
                    let game = if outside == Outside::Present { game.with_others_present() } else { game };
                    values.extend(enumerate(&game, local)?.value(0, mine));
                }
                values
            }
            GraphForm::Connected { order, coefficients, outside } => (0..players)
                .flat_map(|player| {
                    let around = Coalition::from_members(players, graph.neighbourhood(player, order));
                    self.connected(all, k, graph, player, around.view(), coefficients, outside)
                })
                .collect(),
        };
        Attributions::for_players(players, values, base, full).finite()
    }

    /// Returns the values of `player` for all outputs according to Definition 2, by testing every coalition
    /// within the neighbourhood `around`.
    #[expect(clippy::too_many_arguments, reason = "follows the definition")]
    fn connected(
        &self,
        table: &[f64],
        k: usize,
        graph: &Graph,
        player: usize,
        around: CoalitionView<'_>,
        coefficients: Coefficients,
        outside: Outside,
    ) -> Vec<f64> {
        let players = graph.nodes();
        let word = |set: CoalitionView<'_>| set.words()[0] as usize;
        let others = if outside == Outside::Present { word(around.complement().view()) } else { 0 };
        let value = |set: usize, output: usize| table[(set | others) * k + output];
        let mut sums = vec![0.0; k];
        for mask in 0..1usize << players {
            if mask >> player & 1 == 0 || mask & !word(around) != 0 {
                continue;
            }
            let set = Coalition::from_members(players, (0..players).filter(|node| mask >> node & 1 == 1));
            if !graph.is_connected(set.view()) {
                continue;
            }
            let boundary = graph.boundary(set.view());
            let without = mask & !(1 << player);
            let rest = Coalition::from_members(players, (0..players).filter(|node| without >> node & 1 == 1));
            let boundary = match coefficients {
                Coefficients::Printed => 2,
                Coefficients::Graph => boundary.view().size(),
                Coefficients::Neighbourhood | Coefficients::Marginal => {
                    boundary.view().members().filter(|&node| around.contains(node)).count()
                }
            };
            let weight = self.semivalue.moment(set.view().size() - 1, boundary);
            for (output, sum) in sums.iter_mut().enumerate() {
                let contribution = match coefficients {
                    Coefficients::Printed | Coefficients::Marginal => {
                        value(mask, output) - value(without, output)
                    }
                    Coefficients::Neighbourhood | Coefficients::Graph => {
                        let worth = |set: usize| value(set, output) - value(0, output);
                        let parts = graph.components(rest.view());
                        worth(mask) - parts.iter().map(|part| worth(word(part.view()))).sum::<f64>()
                    }
                };
                *sum += weight * contribution;
            }
        }
        sums
    }
}

impl Display for GraphValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> FormatResult {
        let known = match self.semivalue {
            Semivalue::Shapley => Some("shapley"),
            Semivalue::Banzhaf => Some("banzhaf"),
            _ => None,
        };
        let (letter, word, order) = match self.form {
            GraphForm::Local { order, .. } => ("l", "local", order),
            GraphForm::Connected { order, .. } => ("c", "connected", order),
            GraphForm::Myerson => {
                return match known {
                    Some("shapley") => f.write_str("myerson"),
                    Some(name) => write!(f, "myerson-{name}"),
                    None => write!(f, "graph-restricted/{}", self.semivalue),
                };
            }
        };
        match known {
            Some(name) => write!(f, "{letter}-{name}={order}")?,
            None => write!(f, "{word}={order}")?,
        }
        if let GraphForm::Connected { coefficients, .. } = self.form {
            f.write_str(match coefficients {
                Coefficients::Neighbourhood => "",
                Coefficients::Graph => ",graph",
                Coefficients::Marginal => ",marginal",
                Coefficients::Printed => ",printed",
            })?;
        }
        if let GraphForm::Local { outside, .. } | GraphForm::Connected { outside, .. } = self.form {
            f.write_str(if outside == Outside::Present { ",present" } else { "" })?;
        }
        if known.is_none() {
            write!(f, "/{}", self.semivalue)?;
        }
        Ok(())
    }
}

impl FromStr for GraphValue {
    type Err = ValueError;

    fn from_str(name: &str) -> Result<Self, ValueError> {
        let unknown = || ValueError::UnknownValue { actual: name.to_owned() };
        match name {
            "myerson" => return Ok(Self::myerson()),
            "myerson-banzhaf" => return Ok(Self::myerson().with_semivalue(Semivalue::Banzhaf)),
            _ => {}
        }
        if let Some(semivalue) = name.strip_prefix("graph-restricted/") {
            return Ok(Self::myerson().with_semivalue(semivalue.parse()?));
        }
        let (head, rest) = name.split_once('=').ok_or_else(unknown)?;
        let (choices, semivalue) = match (head, rest.split_once('/')) {
            ("l-shapley" | "c-shapley", None) => (rest, Semivalue::Shapley),
            ("l-banzhaf" | "c-banzhaf", None) => (rest, Semivalue::Banzhaf),
            ("local" | "connected", Some((choices, semivalue))) => (choices, semivalue.parse()?),
            _ => return Err(unknown()),
        };
        let mut choices = choices.split(',');
        let order = choices.next().and_then(|order| order.parse().ok()).ok_or_else(unknown)?;
        let is_local = head.starts_with('l');
        let mut value =
            if is_local { Self::l_shapley(order) } else { Self::c_shapley(order) }.with_semivalue(semivalue);
        for choice in choices {
            value = match choice {
                "present" => value.with_outside(Outside::Present),
                "marginal" if !is_local => value.with_coefficients(Coefficients::Marginal),
                "printed" if !is_local => value.with_coefficients(Coefficients::Printed),
                "graph" if !is_local => value.with_coefficients(Coefficients::Graph),
                _ => return Err(unknown()),
            };
        }
        Ok(value)
    }
}
