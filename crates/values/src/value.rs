//! What is asked for: a solution concept together with the groups or the graph that it is of.

use apportion_games::{Game, Graph, Hierarchy, Partition, QuotientGame};

use crate::attributions::Attributions;
use crate::coalitional::{CoalitionalValue, two_step_shapley};
use crate::enumeration::{MOST_PLAYERS, enumerate};
use crate::error::ValueError;
use crate::graph_value::GraphValue;
use crate::linear::LinearValue;
use crate::semivalue::Semivalue;
use crate::solution_concept::SolutionConcept;

/// A solution concept with the structure that it needs, and no other: groups for values of players in groups and of groups, a graph for
/// values of players on a graph.
///
/// ```
/// use apportion_games::{Glove, Graph, Hierarchy, Partition};
/// use apportion_values::{GraphValue, Semivalue, Value};
///
/// // One left glove, two right ones. Whose is the pair?
/// let game = Glove::new(1, 2)?;
/// let shapley = Value::from(Semivalue::Shapley).enumerate(&game)?;
/// assert!((shapley.values[0] - 2.0 / 3.0).abs() < 1e-12);
///
/// // The right ones act together.
/// let groups = Partition::new(3, vec![vec![0], vec![1, 2]])?;
/// assert_eq!(Value::quotient(Semivalue::Shapley, groups).enumerate(&game)?.values, [0.5, 0.5]);
///
/// // The first right one stands between the two others.
/// let line = Graph::line(3);
/// let myerson = Value::on_graph(GraphValue::myerson(), line).enumerate(&game)?;
/// assert!((myerson.values[1] - 0.5).abs() < 1e-12 && myerson.values[2] == 0.0);
///
/// // Of two right ones that act together each has a part of its own: ((1, 2), 3), 0.
/// let game = Glove::new(1, 3)?;
/// let parents = [Some(6), Some(4), Some(4), Some(5), Some(5), Some(6), None];
/// let levels = Value::owen_over(Hierarchy::from_parents(4, &parents)?).enumerate(&game)?;
/// for (got, wanted) in levels.values.iter().zip([0.5, 0.125, 0.125, 0.25]) {
///     assert!((got - wanted).abs() < 1e-12);
/// }
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A semivalue of the players.
    Semivalue(Semivalue),
    /// A linear value of the players, by a user's own laws.
    Linear(LinearValue),
    /// A value of players in these groups.
    Coalitional(CoalitionalValue, Partition),
    /// A value of players over this hierarchy of groups: the first semivalue at the top, the second at all levels below.
    OverHierarchy(CoalitionalValue, Hierarchy),
    /// The two-step Shapley value of players in these groups.
    TwoStepShapley(Partition),
    /// A semivalue of these groups, in the quotient game.
    Quotient(Semivalue, Partition),
    /// A value of players on this graph.
    OnGraph(GraphValue, Graph),
}

impl Value {
    /// The Owen value of players in these groups.
    pub fn owen(groups: Partition) -> Self {
        Self::Coalitional(CoalitionalValue::owen(), groups)
    }

    /// The Owen value of players over this hierarchy of groups, with the Shapley value at every level (Winter 1989).
    pub fn owen_over(hierarchy: Hierarchy) -> Self {
        Self::OverHierarchy(CoalitionalValue::owen(), hierarchy)
    }

    /// The Banzhaf-Owen value of players over this hierarchy of groups, with the Banzhaf value at every level.
    pub fn banzhaf_owen_over(hierarchy: Hierarchy) -> Self {
        Self::OverHierarchy(CoalitionalValue::banzhaf_owen(), hierarchy)
    }

    /// The Banzhaf-Owen value of players in these groups.
    pub fn banzhaf_owen(groups: Partition) -> Self {
        Self::Coalitional(CoalitionalValue::banzhaf_owen(), groups)
    }

    /// The two-step Shapley value of players in these groups.
    pub fn two_step(groups: Partition) -> Self {
        Self::TwoStepShapley(groups)
    }

    /// A semivalue of these groups, in the quotient game.
    pub fn quotient(semivalue: Semivalue, groups: Partition) -> Self {
        Self::Quotient(semivalue, groups)
    }

    /// A value of players on this graph.
    pub fn on_graph(value: GraphValue, graph: Graph) -> Self {
        Self::OnGraph(value, graph)
    }

    /// A solution concept with what was given beside it: for names, as on a command line.
    ///
    /// # Errors
    ///
    /// [`ValueError::NoPartition`] and [`ValueError::NoGraph`] where something is missing, [`ValueError::NeedlessGroups`] and
    /// [`ValueError::NeedlessGraph`] where something has no meaning.
    pub fn of(
        concept: SolutionConcept,
        groups: Option<Partition>,
        graph: Option<Graph>,
    ) -> Result<Self, ValueError> {
        if groups.is_some() && !concept.needs_partition() {
            return Err(ValueError::NeedlessGroups { value: concept.to_string() });
        }
        if graph.is_some() && !concept.needs_graph() {
            return Err(ValueError::NeedlessGraph { value: concept.to_string() });
        }
        Ok(match (concept, groups, graph) {
            (SolutionConcept::Semivalue(semivalue), ..) => Self::Semivalue(semivalue),
            (SolutionConcept::Linear(value), ..) => Self::Linear(value),
            (SolutionConcept::Coalitional(value), Some(groups), _) => Self::Coalitional(value, groups),
            (SolutionConcept::TwoStepShapley, Some(groups), _) => Self::TwoStepShapley(groups),
            (SolutionConcept::Quotient(semivalue), Some(groups), _) => Self::Quotient(semivalue, groups),
            (SolutionConcept::OnGraph(value), _, Some(graph)) => Self::OnGraph(value, graph),
            (concept @ SolutionConcept::OnGraph(_), _, None) => {
                return Err(ValueError::NoGraph { value: concept.to_string() });
            }
            (concept, None, _) => return Err(ValueError::NoPartition { value: concept.to_string() }),
        })
    }

    /// A solution concept over a hierarchy of groups: for names, as on a command line.
    ///
    /// # Errors
    ///
    /// [`ValueError::NoLevels`] for one that is not coalitional.
    pub fn over(concept: SolutionConcept, hierarchy: Hierarchy) -> Result<Self, ValueError> {
        match concept {
            SolutionConcept::Coalitional(value) => Ok(Self::OverHierarchy(value, hierarchy)),
            other => Err(ValueError::NoLevels { value: other.to_string() }),
        }
    }

    /// The solution concept, which is what it is called by.
    pub fn concept(&self) -> SolutionConcept {
        match self {
            Self::Semivalue(semivalue) => semivalue.clone().into(),
            Self::Linear(value) => value.clone().into(),
            Self::Coalitional(value, _) | Self::OverHierarchy(value, _) => value.clone().into(),
            Self::TwoStepShapley(_) => SolutionConcept::TwoStepShapley,
            Self::Quotient(semivalue, _) => SolutionConcept::Quotient(semivalue.clone()),
            Self::OnGraph(value, _) => value.clone().into(),
        }
    }

    /// The groups, where it is of groups or of players in groups; those of a hierarchy are [`hierarchy`](Self::hierarchy).
    pub fn groups(&self) -> Option<&Partition> {
        match self {
            Self::Coalitional(_, groups) | Self::TwoStepShapley(groups) | Self::Quotient(_, groups) => {
                Some(groups)
            }
            Self::Semivalue(_) | Self::Linear(_) | Self::OverHierarchy(..) | Self::OnGraph(..) => None,
        }
    }

    /// The hierarchy of groups, where it is of players over one.
    pub fn hierarchy(&self) -> Option<&Hierarchy> {
        match self {
            Self::OverHierarchy(_, hierarchy) => Some(hierarchy),
            _ => None,
        }
    }

    /// The graph, where it is of players on one.
    pub fn graph(&self) -> Option<&Graph> {
        match self {
            Self::OnGraph(_, graph) => Some(graph),
            _ => None,
        }
    }

    /// The same value under its plainest name, as [`SolutionConcept::simplified`] has it; over a hierarchy that is a partition, of players in
    /// its groups.
    pub fn simplified(&self) -> Self {
        match self {
            Self::Semivalue(semivalue) => Self::Semivalue(semivalue.simplified()),
            Self::Quotient(semivalue, groups) => Self::Quotient(semivalue.simplified(), groups.clone()),
            Self::Coalitional(value, groups) => Self::Coalitional(value.simplified(), groups.clone()),
            Self::OverHierarchy(value, hierarchy) => match hierarchy.partition() {
                Some(groups) => Self::Coalitional(value.simplified(), groups),
                None => Self::OverHierarchy(value.simplified(), hierarchy.clone()),
            },
            Self::OnGraph(value, graph) => Self::OnGraph(value.simplified(), graph.clone()),
            Self::Linear(_) | Self::TwoStepShapley(_) => self.clone(),
        }
    }

    /// Checks that it is defined for `players`, and says how many values there are: one for each player, of quotient values one for each
    /// group.
    ///
    /// # Errors
    ///
    /// [`ValueError::Game`] where the groups are of other players; [`ValueError::WeightsForOtherPlayers`] and
    /// [`ValueError::LawsForOtherPlayers`] for weights that do not fit the number of players, of groups, or of members of some group; those
    /// of [`CoalitionalValue::check_over`] and [`GraphValue::check`].
    pub fn check(&self, players: usize) -> Result<usize, ValueError> {
        match self {
            Self::Semivalue(semivalue) => semivalue.check_players(players)?,
            Self::Linear(value) => value.check_players(players)?,
            Self::Coalitional(value, groups) => {
                groups.check_players(players)?;
                value.check(groups)?;
            }
            Self::OverHierarchy(value, hierarchy) => {
                hierarchy.check_players(players)?;
                value.check_over(hierarchy)?;
            }
            Self::TwoStepShapley(groups) => groups.check_players(players)?,
            Self::Quotient(semivalue, groups) => {
                groups.check_players(players)?;
                semivalue.check_players(groups.len())?;
                return Ok(groups.len());
            }
            Self::OnGraph(value, graph) => value.check(players, graph)?,
        }
        Ok(players)
    }

    /// The semivalue of single players that it is where its groups say nothing: one group of all, or groups of one.
    ///
    /// Owen and two-step values are then Shapley values; any pair of semivalues is `within` in one group, and `between` in groups of one;
    /// quotient values in groups of one are the values of the players. One group alone has all of v(N) − v(∅) for its quotient value,
    /// which is no semivalue of players.
    ///
    /// ```
    /// use apportion_games::Partition;
    /// use apportion_values::{Semivalue, Value};
    ///
    /// let alone = Value::banzhaf_owen(Partition::singletons(5)).reduces_to();
    /// assert_eq!(alone, Some(Semivalue::Banzhaf));
    /// ```
    pub fn reduces_to(&self) -> Option<Semivalue> {
        let groups = self.groups()?;
        let (together, alone) = (groups.len() == 1, groups.largest() == 1);
        match self {
            Self::Coalitional(value, _) if alone => Some(value.between.clone()),
            Self::Coalitional(value, _) if together => Some(value.within.clone()),
            Self::TwoStepShapley(_) if together || alone => Some(Semivalue::Shapley),
            Self::Quotient(semivalue, _) if alone => Some(semivalue.clone()),
            _ => None,
        }
    }

    /// How many coalitions [`enumerate`](Self::enumerate) looks at, each counted once (of linear values at most so many); none where they
    /// are more than it takes, and for values on graphs, where that depends on more than the number of players.
    pub fn coalitions(&self, players: usize) -> Option<usize> {
        let all = |players: usize| (players <= MOST_PLAYERS).then(|| 1usize << players);
        let parts = |groups: &Partition| -> Option<usize> {
            groups.groups().iter().map(|members| all(members.len()).map(|all| all - 2)).sum()
        };
        match self {
            Self::Semivalue(_) => all(players),
            Self::Linear(value) => {
                let joined: usize = (0..players).map(|player| 2 * value.law(player).coalitions().len()).sum();
                Some(all(players).map_or(joined + 2, |all| all.min(joined + 2)))
            }
            Self::Quotient(_, groups) => all(groups.len()),
            Self::TwoStepShapley(groups) => Some(all(groups.len())? + parts(groups)?),
            // All unions of groups, and those with a part of one group in its place.
            Self::Coalitional(_, groups) => {
                if groups.len() - 1 + groups.largest() > MOST_PLAYERS {
                    return None;
                }
                let unions = all(groups.len())?;
                Some(unions + unions / 2 * parts(groups)?)
            }
            Self::OverHierarchy(_, hierarchy) => CoalitionalValue::coalitions_over(hierarchy),
            Self::OnGraph(..) => None,
        }
    }

    /// The exact values by definition, of each player, of quotient values of each group.
    ///
    /// Takes 2^n coalitions for semivalues; for values of groups what [`CoalitionalValue::enumerate`], [`two_step_shapley`] and 2^m say.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check), too many players or groups, or if the game fails.
    pub fn enumerate(&self, game: &(impl Game + ?Sized)) -> Result<Attributions, ValueError> {
        // What it is handed to is compiled once for all games.
        let game: &dyn Game = &game;
        self.check(game.players())?;
        match self {
            Self::Semivalue(semivalue) => enumerate(game, semivalue.clone()),
            Self::Linear(value) => value.enumerate(game),
            Self::Coalitional(value, groups) => value.enumerate(game, groups),
            Self::OverHierarchy(value, hierarchy) => value.enumerate_over(game, hierarchy),
            Self::TwoStepShapley(groups) => two_step_shapley(game, groups),
            Self::Quotient(semivalue, groups) => {
                enumerate(&QuotientGame::new(game, groups)?, semivalue.clone())
            }
            Self::OnGraph(value, graph) => value.enumerate(game, graph),
        }
    }
}

impl From<Semivalue> for Value {
    fn from(semivalue: Semivalue) -> Self {
        Self::Semivalue(semivalue)
    }
}

impl From<LinearValue> for Value {
    fn from(value: LinearValue) -> Self {
        Self::Linear(value)
    }
}
