//! Values: a solution concept together with its groups or its graph.

use apportion_games::{Game, Graph, Hierarchy, Partition, QuotientGame};

use crate::attributions::Attributions;
use crate::coalitional::{CoalitionalValue, two_step_shapley};
use crate::enumeration::{MAX_PLAYERS, enumerate};
use crate::error::ValueError;
use crate::graph_value::GraphValue;
use crate::linear::LinearValue;
use crate::semivalue::Semivalue;
use crate::solution_concept::SolutionConcept;

/// A solution concept together with the structure that it requires: groups, a hierarchy of groups, or a
/// graph.
///
/// ```
/// use apportion_games::{Glove, Graph, Hierarchy, Partition};
/// use apportion_values::{GraphValue, Semivalue, Value};
///
/// // One left glove, two right ones.
/// let game = Glove::new(1, 2)?;
/// let shapley = Value::from(Semivalue::Shapley).enumerate(&game)?;
/// assert!((shapley.values[0] - 2.0 / 3.0).abs() < 1e-12);
///
/// // The right ones form a group.
/// let groups = Partition::new(3, vec![vec![0], vec![1, 2]])?;
/// assert_eq!(Value::quotient(Semivalue::Shapley, groups).enumerate(&game)?.values, [0.5, 0.5]);
///
/// // On a line, the first right one is between the two others.
/// let line = Graph::line(3);
/// let myerson = Value::on_graph(GraphValue::myerson(), line).enumerate(&game)?;
/// assert!((myerson.values[1] - 0.5).abs() < 1e-12 && myerson.values[2] == 0.0);
///
/// // Three right ones form a group, two of them a group within it: ((1, 2), 3), 0.
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
    /// A linear value of the players, with custom distributions.
    Linear(LinearValue),
    /// A value for players in groups.
    Coalitional(CoalitionalValue, Partition),
    /// A value for players over a hierarchy of groups: `between` is the semivalue at the top level, and
    /// `within` the semivalue at all lower levels.
    OverHierarchy(CoalitionalValue, Hierarchy),
    /// The two-step Shapley value for players in groups.
    TwoStepShapley(Partition),
    /// A semivalue of groups, in the quotient game.
    Quotient(Semivalue, Partition),
    /// A value for players on a graph.
    OnGraph(GraphValue, Graph),
}

impl Value {
    /// Returns the Owen value for players in the given groups.
    pub fn owen(groups: Partition) -> Self {
        Self::Coalitional(CoalitionalValue::owen(), groups)
    }

    /// Returns the Owen value for players over the given hierarchy of groups, with the Shapley value at every
    /// level (Winter 1989).
    pub fn owen_over(hierarchy: Hierarchy) -> Self {
        Self::OverHierarchy(CoalitionalValue::owen(), hierarchy)
    }

    /// Returns the Banzhaf-Owen value for players over the given hierarchy of groups, with the Banzhaf value
    /// at every level.
    pub fn banzhaf_owen_over(hierarchy: Hierarchy) -> Self {
        Self::OverHierarchy(CoalitionalValue::banzhaf_owen(), hierarchy)
    }

    /// Returns the Banzhaf-Owen value for players in the given groups.
    pub fn banzhaf_owen(groups: Partition) -> Self {
        Self::Coalitional(CoalitionalValue::banzhaf_owen(), groups)
    }

    /// Returns the two-step Shapley value for players in the given groups.
    pub fn two_step(groups: Partition) -> Self {
        Self::TwoStepShapley(groups)
    }

    /// Returns a semivalue of the given groups, in the quotient game.
    pub fn quotient(semivalue: Semivalue, groups: Partition) -> Self {
        Self::Quotient(semivalue, groups)
    }

    /// Returns a value for players on the given graph.
    pub fn on_graph(value: GraphValue, graph: Graph) -> Self {
        Self::OnGraph(value, graph)
    }

    /// Creates the value from a solution concept and optional groups and graph, such as those given on a
    /// command line.
    ///
    /// # Errors
    ///
    /// [`ValueError::NoPartition`] and [`ValueError::NoGraph`] if the required structure is missing,
    /// [`ValueError::NeedlessGroups`] and [`ValueError::NeedlessGraph`] if it does not apply.
    pub fn from_concept(
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

    /// Creates the value from a solution concept and a hierarchy of groups.
    ///
    /// # Errors
    ///
    /// [`ValueError::NoLevels`] if the concept is not coalitional.
    pub fn over_hierarchy(concept: SolutionConcept, hierarchy: Hierarchy) -> Result<Self, ValueError> {
        match concept {
            SolutionConcept::Coalitional(value) => Ok(Self::OverHierarchy(value, hierarchy)),
            other => Err(ValueError::NoLevels { value: other.to_string() }),
        }
    }

    /// Returns the solution concept, without the groups or the graph; its name is the name of the value.
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

    /// Returns the groups, if the value uses a partition. For a hierarchy, use
    /// [`hierarchy`](Self::hierarchy).
    pub fn groups(&self) -> Option<&Partition> {
        match self {
            Self::Coalitional(_, groups) | Self::TwoStepShapley(groups) | Self::Quotient(_, groups) => {
                Some(groups)
            }
            Self::Semivalue(_) | Self::Linear(_) | Self::OverHierarchy(..) | Self::OnGraph(..) => None,
        }
    }

    /// Returns the hierarchy of groups, if the value uses one.
    pub fn hierarchy(&self) -> Option<&Hierarchy> {
        match self {
            Self::OverHierarchy(_, hierarchy) => Some(hierarchy),
            _ => None,
        }
    }

    /// Returns the graph, if the value uses one.
    pub fn graph(&self) -> Option<&Graph> {
        match self {
            Self::OnGraph(_, graph) => Some(graph),
            _ => None,
        }
    }

    /// Returns the same value in canonical form, like [`SolutionConcept::simplified`]. A hierarchy with at
    /// most two levels is replaced with its partition.
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

    /// Checks that the value is defined for `players` players, and returns the number of values: one per
    /// player, or one per group for quotient values.
    ///
    /// # Errors
    ///
    /// [`ValueError::Game`] if the number of players of the groups differs from `players`;
    /// [`ValueError::WeightsForOtherPlayers`] and [`ValueError::DistributionsForOtherPlayers`] for weights
    /// that do not match the number of players, of groups, or of members of some group; any error of
    /// [`CoalitionalValue::check_over`] and [`GraphValue::check`].
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

    /// Returns the semivalue of single players to which the value reduces if its groups are trivial: a single
    /// group, or groups of one player.
    ///
    /// Owen and two-step values then equal Shapley values. A pair of semivalues reduces to `within` for a
    /// single group, and to `between` for groups of one player. Quotient values for groups of one player are
    /// the values of the players. The quotient value of a single group is v(N) − v(∅), which is not a
    /// semivalue of players.
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

    /// Returns the number of distinct coalitions that [`enumerate`](Self::enumerate) evaluates, or `None` if
    /// exact enumeration does not support this many players, groups or members. For linear values, the number
    /// is an upper bound. Also returns `None` for values on graphs, for which the number depends on the
    /// graph.
    pub fn coalitions(&self, players: usize) -> Option<usize> {
        let all = |players: usize| (players <= MAX_PLAYERS).then(|| 1usize << players);
        let parts = |groups: &Partition| -> Option<usize> {
            groups.groups().iter().map(|members| all(members.len()).map(|all| all - 2)).sum()
        };
        match self {
            Self::Semivalue(_) => all(players),
            Self::Linear(value) => {
                let joined: usize =
                    (0..players).map(|player| 2 * value.distribution(player).coalitions().len()).sum();
                Some(all(players).map_or(joined + 2, |all| all.min(joined + 2)))
            }
            Self::Quotient(_, groups) => all(groups.len()),
            Self::TwoStepShapley(groups) => Some(all(groups.len())? + parts(groups)?),
            // Count all unions of groups, and the unions in which one group is replaced with a part of it.
            Self::Coalitional(_, groups) => {
                if groups.len() - 1 + groups.largest() > MAX_PLAYERS {
                    return None;
                }
                let unions = all(groups.len())?;
                Some(unions + unions / 2 * parts(groups)?)
            }
            Self::OverHierarchy(_, hierarchy) => CoalitionalValue::coalitions_over(hierarchy),
            Self::OnGraph(..) => None,
        }
    }

    /// Computes the exact values by definition: one per player, or one per group for quotient values.
    ///
    /// Evaluates 2^n coalitions for semivalues and values on graphs, and 2^m for quotient values of m groups.
    /// For other values, see [`LinearValue::enumerate`], [`CoalitionalValue::enumerate`],
    /// [`CoalitionalValue::enumerate_over`] and [`two_step_shapley`].
    ///
    /// # Errors
    ///
    /// Same as [`check`](Self::check); also errors for too many players or groups, and any error of the game.
    pub fn enumerate(&self, game: &(impl Game + ?Sized)) -> Result<Attributions, ValueError> {
        // Use dynamic dispatch to compile the code below once, not once per game type.
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
