//! Solution concepts by name: values for single players, for players in groups, and for groups.

use std::fmt::{Display, Formatter, Result as FormatResult};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::coalitional::CoalitionalValue;
use crate::error::ValueError;
use crate::graph_value::GraphValue;
use crate::linear::LinearValue;
use crate::semivalue::Semivalue;

/// A solution concept: a definition of attributions.
///
/// Its textual form (on the command line, in result files, in serde) is its name: the name of a [`Semivalue`]
/// (`shapley`, `beta=4,1`, …), `owen`, `banzhaf-owen`, `symmetric-coalitional-banzhaf`,
/// `coalitional=BETWEEN/WITHIN` with the names of two semivalues, `two-step`, `quotient-` followed by the
/// name of a semivalue, or the name of a [`GraphValue`] (`l-shapley=2`, `c-shapley=2`, `myerson`). A linear
/// value cannot be parsed from a name; serde writes its distributions.
///
/// ```
/// use apportion_games::{Glove, Partition};
/// use apportion_values::{SolutionConcept, Value};
///
/// // One left glove, two right ones; the right ones form a group.
/// let partition = Partition::new(3, vec![vec![0], vec![1, 2]])?;
/// let quotient: SolutionConcept = "quotient-shapley".parse()?;
/// let value = Value::from_concept(quotient, Some(partition), None)?;
/// assert_eq!(value.enumerate(&Glove::new(1, 2)?)?.values, [0.5, 0.5]);
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
#[non_exhaustive]
pub enum SolutionConcept {
    /// A semivalue of the players.
    Semivalue(Semivalue),
    /// A linear value of the players, with custom distributions (Kotsiopoulos et al. 2023, equation 2.6).
    Linear(LinearValue),
    /// A value for players in groups: Owen, Banzhaf-Owen, any pair of semivalues (Kotsiopoulos et al. 2023,
    /// equation 3.13).
    Coalitional(CoalitionalValue),
    /// The two-step Shapley value for players in groups (Kotsiopoulos et al. 2023, equation 3.19).
    TwoStepShapley,
    /// A semivalue of the groups, in the quotient game (Kotsiopoulos et al. 2023, Definitions 2.1 and 2.2).
    Quotient(Semivalue),
    /// A value for players on a graph: L-Shapley, C-Shapley, Myerson (Chen et al. 2019).
    OnGraph(GraphValue),
}

impl SolutionConcept {
    /// Returns the Owen value.
    pub fn owen() -> Self {
        CoalitionalValue::owen().into()
    }

    /// Returns the Banzhaf-Owen value.
    pub fn banzhaf_owen() -> Self {
        CoalitionalValue::banzhaf_owen().into()
    }

    /// Returns whether the concept requires groups, because it is a value for players in groups or a value
    /// for groups.
    pub fn needs_partition(&self) -> bool {
        matches!(self, Self::Coalitional(_) | Self::TwoStepShapley | Self::Quotient(_))
    }

    /// Returns whether the concept requires a graph.
    pub fn needs_graph(&self) -> bool {
        matches!(self, Self::OnGraph(_))
    }

    /// Returns the semivalue, if the concept is a semivalue of the players.
    pub fn semivalue(&self) -> Option<&Semivalue> {
        match self {
            Self::Semivalue(semivalue) => Some(semivalue),
            _ => None,
        }
    }

    /// Returns the same value in canonical form, with semivalues as in [`Semivalue::simplified`].
    pub fn simplified(&self) -> Self {
        match self {
            Self::Semivalue(semivalue) => semivalue.simplified().into(),
            Self::Quotient(semivalue) => Self::Quotient(semivalue.simplified()),
            Self::Coalitional(value) => value.simplified().into(),
            Self::OnGraph(value) => value.simplified().into(),
            Self::Linear(_) | Self::TwoStepShapley => self.clone(),
        }
    }

    /// Returns whether the values sum to v(N) − v(∅) in every game. Returns `false` for all linear values and
    /// all values on graphs, because their sum depends on the distributions or the graph.
    pub fn is_efficient(&self) -> bool {
        match self {
            Self::Semivalue(semivalue) | Self::Quotient(semivalue) => semivalue.is_efficient(),
            Self::Linear(_) | Self::OnGraph(_) => false,
            Self::Coalitional(value) => value.between.is_efficient() && value.within.is_efficient(),
            Self::TwoStepShapley => true,
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

/// A name and the value that it denotes.
type Named = (&'static str, fn() -> CoalitionalValue);

/// The pairs of semivalues that can be specified by a single name.
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

/// The serialized form of a solution concept: its name or, for linear values, its distributions.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Name(String),
    Distributions(LinearValue),
}

impl From<SolutionConcept> for Form {
    fn from(value: SolutionConcept) -> Self {
        match value {
            SolutionConcept::Linear(value) => Self::Distributions(value),
            named => Self::Name(named.to_string()),
        }
    }
}

impl TryFrom<Form> for SolutionConcept {
    type Error = ValueError;

    fn try_from(form: Form) -> Result<Self, ValueError> {
        match form {
            Form::Name(name) => name.parse(),
            Form::Distributions(value) => Ok(Self::Linear(value)),
        }
    }
}
