//! Every value that the workspace computes, under one name: of players, of players in groups, of groups.

use std::fmt::{Display, Formatter, Result as FormatResult};
use std::str::FromStr;

use apportion_games::{Game, Partition, QuotientGame};
use serde::{Deserialize, Serialize};

use crate::attributions::Attributions;
use crate::coalitional::{CoalitionalValue, two_step_shapley};
use crate::enumeration::{MOST_PLAYERS, enumerate};
use crate::error::ValueError;
use crate::graph_value::GraphValue;
use crate::linear::LinearValue;
use crate::semivalue::Semivalue;

/// A solution concept: which division of a game's worth is meant.
///
/// As text (on the command line, in results, in serde) it is its name: that of a [`Semivalue`] (`shapley`, `beta=4,1`, …), `owen`,
/// `banzhaf-owen`, `symmetric-coalitional-banzhaf`, `coalitional=BETWEEN/WITHIN` with the names of two semivalues, `two-step`, or
/// `quotient-` and the name of a semivalue, or that of a [`GraphValue`] (`l-shapley=2`, `c-shapley=2`, `myerson`). A linear value has no name to be read from; serde writes its laws.
///
/// ```
/// use apportion_games::{Glove, Partition};
/// use apportion_values::SolutionConcept;
///
/// // One left glove, two right ones; the right ones act together.
/// let partition = Partition::new(3, vec![vec![0], vec![1, 2]])?;
/// let quotient: SolutionConcept = "quotient-shapley".parse()?;
/// assert_eq!(quotient.enumerate(&Glove::new(1, 2)?, Some(&partition))?.values, [0.5, 0.5]);
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
#[non_exhaustive]
pub enum SolutionConcept {
    /// A semivalue of the players.
    Semivalue(Semivalue),
    /// A linear value of the players, by a user's own laws (Kotsiopoulos et al. 2023, equation 2.6).
    Linear(LinearValue),
    /// A value of players in groups: Owen, Banzhaf-Owen, any pair of semivalues (equation 3.13).
    Coalitional(CoalitionalValue),
    /// The two-step Shapley value of players in groups (equation 3.19).
    TwoStepShapley,
    /// A semivalue of the groups, in the quotient game (Definitions 2.1 and 2.2).
    Quotient(Semivalue),
    /// A value of players on a graph: L-Shapley, C-Shapley, Myerson (Chen et al. 2019).
    OnGraph(GraphValue),
}

impl SolutionConcept {
    /// The Owen value.
    pub fn owen() -> Self {
        CoalitionalValue::owen().into()
    }

    /// The Banzhaf-Owen value.
    pub fn banzhaf_owen() -> Self {
        CoalitionalValue::banzhaf_owen().into()
    }

    /// Whether it is of players in groups, or of groups.
    pub fn needs_partition(&self) -> bool {
        matches!(self, Self::Coalitional(_) | Self::TwoStepShapley | Self::Quotient(_))
    }

    /// Whether it is of players on a graph.
    pub fn needs_graph(&self) -> bool {
        matches!(self, Self::OnGraph(_))
    }

    /// The semivalue that this is, where it is one.
    pub fn semivalue(&self) -> Option<&Semivalue> {
        match self {
            Self::Semivalue(semivalue) => Some(semivalue),
            _ => None,
        }
    }

    /// The same value under its plainest name: semivalues as [`Semivalue::simplified`] names them.
    pub fn simplified(&self) -> Self {
        match self {
            Self::Semivalue(semivalue) => semivalue.simplified().into(),
            Self::Quotient(semivalue) => Self::Quotient(semivalue.simplified()),
            Self::Coalitional(value) => value.simplified().into(),
            Self::OnGraph(value) => value.simplified().into(),
            Self::Linear(_) | Self::TwoStepShapley => self.clone(),
        }
    }

    /// Whether the values always sum to v(N) − v(∅).
    pub fn is_efficient(&self) -> bool {
        match self {
            Self::Semivalue(semivalue) | Self::Quotient(semivalue) => semivalue.is_efficient(),
            Self::Linear(_) | Self::OnGraph(_) => false,
            Self::Coalitional(value) => value.between.is_efficient() && value.within.is_efficient(),
            Self::TwoStepShapley => true,
        }
    }

    /// Checks that it is defined for `players` in the groups of `partition`, and says how many values there are: one for each player, of
    /// quotient values one for each group.
    ///
    /// # Errors
    ///
    /// [`ValueError::NoPartition`] where groups are missing (where they are not needed they are not looked at), [`ValueError::Game`] where they are of other players; [`ValueError::WeightsForOtherPlayers`] and
    /// [`ValueError::LawsForOtherPlayers`] for weights that do not fit the number of players, of groups, or of members of some group;
    /// [`ValueError::NoGraph`] for values of players on a graph, which [`GraphValue::check`] is for.
    pub fn check(&self, players: usize, partition: Option<&Partition>) -> Result<usize, ValueError> {
        let partition = || match partition {
            None => Err(ValueError::NoPartition { value: self.to_string() }),
            Some(partition) => partition.check_players(players).map(|()| partition).map_err(ValueError::from),
        };
        match self {
            Self::Semivalue(semivalue) => semivalue.check_players(players)?,
            Self::Linear(value) => value.check_players(players)?,
            Self::Coalitional(value) => value.check(partition()?)?,
            Self::TwoStepShapley => drop(partition()?),
            Self::OnGraph(_) => return Err(ValueError::NoGraph { value: self.to_string() }),
            Self::Quotient(semivalue) => {
                let groups = partition()?.len();
                semivalue.check_players(groups)?;
                return Ok(groups);
            }
        }
        Ok(players)
    }

    /// The semivalue of single players that it is in groups that say nothing: one group of all, or groups of one.
    ///
    /// Owen and two-step values are then Shapley values; any pair of semivalues is `within` in one group, and `between` in groups of one;
    /// quotient values in groups of one are the values of the players. One group alone has all of v(N) − v(∅) for its quotient value,
    /// which is no semivalue of players.
    ///
    /// ```
    /// use apportion_games::Partition;
    /// use apportion_values::{Semivalue, SolutionConcept};
    ///
    /// let alone = SolutionConcept::banzhaf_owen().reduces_to(&Partition::singletons(5));
    /// assert_eq!(alone, Some(Semivalue::Banzhaf));
    /// ```
    pub fn reduces_to(&self, partition: &Partition) -> Option<Semivalue> {
        let (together, alone) = (partition.len() == 1, partition.largest() == 1);
        match self {
            Self::Coalitional(value) if alone => Some(value.between.clone()),
            Self::Coalitional(value) if together => Some(value.within.clone()),
            Self::TwoStepShapley if together || alone => Some(Semivalue::Shapley),
            Self::Quotient(semivalue) if alone => Some(semivalue.clone()),
            _ => None,
        }
    }

    /// How many coalitions [`enumerate`](Self::enumerate) looks at, each counted once (of linear values at most so many); none where they
    /// are more than it takes, or groups are missing.
    pub fn coalitions(&self, players: usize, partition: Option<&Partition>) -> Option<usize> {
        let all = |players: usize| (players <= MOST_PLAYERS).then(|| 1usize << players);
        let parts = |partition: &Partition| -> Option<usize> {
            partition.groups().iter().map(|members| all(members.len()).map(|all| all - 2)).sum()
        };
        match self {
            Self::Semivalue(_) => all(players),
            Self::Linear(value) => {
                let joined: usize = (0..players).map(|player| 2 * value.law(player).coalitions().len()).sum();
                Some(all(players).map_or(joined + 2, |all| all.min(joined + 2)))
            }
            Self::Quotient(_) => all(partition?.len()),
            Self::TwoStepShapley => Some(all(partition?.len())? + parts(partition?)?),
            Self::OnGraph(_) => None,
            // All unions of groups, and those with a part of one group in its place.
            Self::Coalitional(_) => {
                let (groups, largest) = (partition?.len(), partition?.largest());
                if groups - 1 + largest > MOST_PLAYERS {
                    return None;
                }
                let unions = all(groups)?;
                Some(unions + unions / 2 * parts(partition?)?)
            }
        }
    }

    /// The exact values by definition, of each player, of quotient values of each group.
    ///
    /// Takes 2^n coalitions for semivalues; for values of groups what [`CoalitionalValue::enumerate`], [`two_step_shapley`] and 2^m say.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check), too many players or groups, or if the game fails.
    pub fn enumerate(
        &self,
        game: &(impl Game + ?Sized),
        partition: Option<&Partition>,
    ) -> Result<Attributions, ValueError> {
        // What it is handed to is compiled once for all games.
        let game: &dyn Game = &game;
        self.check(game.players(), partition)?;
        match (self, partition) {
            (Self::Coalitional(value), Some(partition)) => value.enumerate(game, partition),
            (Self::TwoStepShapley, Some(partition)) => two_step_shapley(game, partition),
            (Self::Quotient(semivalue), Some(partition)) => {
                enumerate(&QuotientGame::new(game, partition)?, semivalue.clone())
            }
            (Self::Semivalue(semivalue), _) => enumerate(game, semivalue.clone()),
            (Self::Linear(value), _) => value.enumerate(game),
            (Self::OnGraph(_), _) => Err(ValueError::NoGraph { value: self.to_string() }),
            (Self::Coalitional(_) | Self::TwoStepShapley | Self::Quotient(_), None) => {
                Err(ValueError::NoPartition { value: self.to_string() })
            }
        }
    }
}

impl From<Semivalue> for SolutionConcept {
    fn from(semivalue: Semivalue) -> Self {
        Self::Semivalue(semivalue)
    }
}

impl From<LinearValue> for SolutionConcept {
    fn from(value: LinearValue) -> Self {
        Self::Linear(value)
    }
}

impl From<CoalitionalValue> for SolutionConcept {
    fn from(value: CoalitionalValue) -> Self {
        Self::Coalitional(value)
    }
}

impl From<GraphValue> for SolutionConcept {
    fn from(value: GraphValue) -> Self {
        Self::OnGraph(value)
    }
}

impl PartialEq<Semivalue> for SolutionConcept {
    fn eq(&self, other: &Semivalue) -> bool {
        self.semivalue() == Some(other)
    }
}

impl Display for SolutionConcept {
    fn fmt(&self, f: &mut Formatter<'_>) -> FormatResult {
        match self {
            Self::Semivalue(semivalue) => semivalue.fmt(f),
            Self::Linear(value) => write!(f, "linear value of {} players", value.players()),
            Self::Coalitional(value) => value.fmt(f),
            Self::TwoStepShapley => f.write_str("two-step"),
            Self::Quotient(semivalue) => write!(f, "quotient-{semivalue}"),
            Self::OnGraph(value) => value.fmt(f),
        }
    }
}

/// A name and what it names.
type Named = (&'static str, fn() -> CoalitionalValue);

/// The names of values of groups that are pairs of semivalues.
const PAIRS: [Named; 3] = [
    ("owen", CoalitionalValue::owen),
    ("banzhaf-owen", CoalitionalValue::banzhaf_owen),
    ("symmetric-coalitional-banzhaf", CoalitionalValue::symmetric_coalitional_banzhaf),
];

impl Display for CoalitionalValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> FormatResult {
        match PAIRS.iter().find(|(_, value)| value() == *self) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "coalitional={}/{}", self.between, self.within),
        }
    }
}

impl FromStr for SolutionConcept {
    type Err = ValueError;

    fn from_str(name: &str) -> Result<Self, ValueError> {
        if name == "two-step" {
            return Ok(Self::TwoStepShapley);
        }
        if let Some((_, value)) = PAIRS.iter().find(|(known, _)| *known == name) {
            return Ok(value().into());
        }
        if let Some(quotient) = name.strip_prefix("quotient-") {
            return Ok(Self::Quotient(quotient.parse()?));
        }
        if let Some((between, within)) =
            name.strip_prefix("coalitional=").and_then(|pair| pair.split_once('/'))
        {
            return Ok(CoalitionalValue { between: between.parse()?, within: within.parse()? }.into());
        }
        let is_on_graph = ["l-", "c-", "local=", "connected=", "myerson", "graph-restricted/"];
        if is_on_graph.iter().any(|start| name.starts_with(start)) {
            return Ok(Self::OnGraph(name.parse()?));
        }
        Ok(Self::Semivalue(name.parse()?))
    }
}

/// How a value is written: by its name, or by its laws.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Name(String),
    Laws(LinearValue),
}

impl From<SolutionConcept> for Form {
    fn from(value: SolutionConcept) -> Self {
        match value {
            SolutionConcept::Linear(value) => Self::Laws(value),
            named => Self::Name(named.to_string()),
        }
    }
}

impl TryFrom<Form> for SolutionConcept {
    type Error = ValueError;

    fn try_from(form: Form) -> Result<Self, ValueError> {
        match form {
            Form::Name(name) => name.parse(),
            Form::Laws(value) => Ok(Self::Linear(value)),
        }
    }
}
