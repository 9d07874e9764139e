//! Interaction indices and their names.

use std::fmt::{Display, Formatter, Result as FormatResult};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::ValueError;
use crate::semivalue::{Presence, Semivalue};

/// An interaction index. It measures the interaction of the players in a coalition by a weighted sum of
/// differences or, for generalized values, of joint marginal contributions.
///
/// Its textual form (on the command line, in result files, in serde) is its name: the name of a [`Semivalue`]
/// for its interaction index (`shapley`, `banzhaf`, `weighted-banzhaf=0.3`, …), `k-shapley`,
/// `shapley-taylor`, `faithful-shapley`, `faithful-banzhaf`, `faithful-weighted-banzhaf=P`,
/// `k-additive-shapley`, `chaining`, `moebius`, `co-moebius`, `walsh` or `joint-shapley`. The names of
/// generalized values are `generalized-` followed by the name of a semivalue, `chaining`, `internal` or
/// `external`. The short names of shapiq (`SII`, `k-SII`, `STII`, …) are accepted too. The
/// [module](crate::interactions) documents the formulas, the sources and the names used by other libraries.
///
/// ```
/// use apportion_values::InteractionIndex;
///
/// let index: InteractionIndex = "shapley-taylor".parse()?;
/// assert_eq!(index, "STII".parse()?);
/// // For order 2, a term of four players is shared equally by its six pairs.
/// let weights = index.weights(2, 10)?;
/// assert!((weights.weight(2, 4) - 1.0 / 6.0).abs() < 1e-15);
/// assert_eq!((weights.weight(1, 1), weights.weight(1, 4)), (1.0, 0.0));
/// # Ok::<(), apportion_values::ValueError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum InteractionIndex {
    /// The probabilistic interaction index of a semivalue, e.g. the Shapley or Banzhaf interaction index.
    Semivalue(Semivalue),
    /// k-Shapley values (n-Shapley values, aggregated Shapley interactions): Shapley interaction indices up
    /// to the order, corrected with Bernoulli numbers so that they sum to v(N) − v(∅).
    KShapley,
    /// The Shapley-Taylor index. For a coalition smaller than the order, it is the Möbius coefficient. The
    /// Möbius coefficient of any other coalition is shared equally by its subsets whose size is the order.
    ShapleyTaylor,
    /// The faithful Shapley index: the best approximation of the game by interactions up to the order. The
    /// approximation is weighted by the Shapley kernel, and exact at ∅ and N.
    FaithfulShapley,
    /// The faithful Banzhaf index: the best approximation by interactions up to the order, with equal weights
    /// for all coalitions.
    FaithfulBanzhaf,
    /// The best approximation by interactions up to the order if every player is present independently with
    /// probability p.
    FaithfulWeightedBanzhaf(Presence),
    /// The Shapley interaction indices of the faithful Shapley approximation, which is the nearest k-additive
    /// game.
    KAdditiveShapley,
    /// The chaining interaction index.
    Chaining,
    /// The Möbius transform (Harsanyi dividends): Δ_K v(∅), also called the internal interaction index.
    Moebius,
    /// The co-Möbius transform: Δ_K v(N∖K), also called the external interaction index.
    CoMoebius,
    /// The Walsh coefficients β_K in `v(S) = Σ_T β_T χ_T(S)`, where χ_T(S) is the product over the members of
    /// T of +1 if the member is in S, and −1 if it is not.
    Walsh,
    /// The generalized value of a semivalue: the expected marginal contribution of K, treated as a single
    /// player.
    Generalized(Semivalue),
    /// The chaining generalized value.
    GeneralizedChaining,
    /// The internal generalized value v(K) − v(∅).
    GeneralizedInternal,
    /// The external generalized value v(N) − v(N∖K).
    GeneralizedExternal,
    /// The joint Shapley value: generalized values whose weights make the indices of all coalitions up to the
    /// order sum to v(N) − v(∅). Supports up to 25 players.
    JointShapley,
}

/// A name, the short name in shapiq (empty if shapiq has none), and the interaction index.
type Named = (&'static str, &'static str, InteractionIndex);

/// The interaction indices without parameters, except those that are named after a semivalue.
const NAMED: [Named; 13] = [
    ("k-shapley", "k-sii", InteractionIndex::KShapley),
    ("shapley-taylor", "stii", InteractionIndex::ShapleyTaylor),
    ("faithful-shapley", "fsii", InteractionIndex::FaithfulShapley),
    ("faithful-banzhaf", "fbii", InteractionIndex::FaithfulBanzhaf),
    ("k-additive-shapley", "kadd-shap", InteractionIndex::KAdditiveShapley),
    ("chaining", "chii", InteractionIndex::Chaining),
    ("moebius", "", InteractionIndex::Moebius),
    ("co-moebius", "", InteractionIndex::CoMoebius),
    ("walsh", "", InteractionIndex::Walsh),
    ("generalized-chaining", "chgv", InteractionIndex::GeneralizedChaining),
    ("generalized-internal", "igv", InteractionIndex::GeneralizedInternal),
    ("generalized-external", "egv", InteractionIndex::GeneralizedExternal),
    ("joint-shapley", "jointsv", InteractionIndex::JointShapley),
];

impl InteractionIndex {
    /// The Shapley interaction index.
    pub const SHAPLEY: Self = Self::Semivalue(Semivalue::Shapley);

    /// The Banzhaf interaction index.
    pub const BANZHAF: Self = Self::Semivalue(Semivalue::Banzhaf);

    /// Returns whether this is a generalized value, which treats K as a single player. All other indices are
    /// sums of the differences Δ_K, and are zero for coalitions that no Möbius term contains.
    pub fn is_generalized(&self) -> bool {
        matches!(
            self,
            Self::Generalized(_)
                | Self::GeneralizedChaining
                | Self::GeneralizedInternal
                | Self::GeneralizedExternal
                | Self::JointShapley
        )
    }

    /// Returns whether the indices of all non-empty coalitions up to the order sum to v(N) − v(∅) in every
    /// game, for every order.
    pub fn is_efficient(&self) -> bool {
        matches!(self, Self::KShapley | Self::ShapleyTaylor | Self::FaithfulShapley | Self::JointShapley)
    }
}

impl From<Semivalue> for InteractionIndex {
    fn from(semivalue: Semivalue) -> Self {
        Self::Semivalue(semivalue)
    }
}

impl Display for InteractionIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> FormatResult {
        match self {
            Self::Semivalue(semivalue) => semivalue.fmt(f),
            Self::Generalized(semivalue) => write!(f, "generalized-{semivalue}"),
            Self::FaithfulWeightedBanzhaf(presence) => {
                write!(f, "faithful-weighted-banzhaf={}", presence.p())
            }
            named => match NAMED.iter().find(|(_, _, index)| index == named) {
                Some((name, ..)) => f.write_str(name),
                None => unreachable!("every index has a name"),
            },
        }
    }
}

impl FromStr for InteractionIndex {
    type Err = ValueError;

    fn from_str(name: &str) -> Result<Self, ValueError> {
        let short = name.to_ascii_lowercase();
        let is_named = |named: &&Named| named.0 == short || (!named.1.is_empty() && named.1 == short);
        if let Some((.., index)) = NAMED.iter().find(is_named) {
            return Ok(index.clone());
        }
        match short.as_str() {
            "sii" => return Ok(Self::SHAPLEY),
            "bii" => return Ok(Self::BANZHAF),
            "sgv" => return Ok(Self::Generalized(Semivalue::Shapley)),
            "bgv" => return Ok(Self::Generalized(Semivalue::Banzhaf)),
            _ => {}
        }
        let semivalue = |of: &str| match of.parse::<Semivalue>() {
            Err(ValueError::UnknownValue { .. }) => Err(ValueError::UnknownIndex { actual: name.to_owned() }),
            other => other,
        };
        if let Some(of) = name.strip_prefix("generalized-") {
            return semivalue(of).map(Self::Generalized);
        }
        if let Some(of) = name.strip_prefix("faithful-") {
            return match semivalue(of)? {
                Semivalue::WeightedBanzhaf(presence) => Ok(Self::FaithfulWeightedBanzhaf(presence)),
                _ => Err(ValueError::UnknownIndex { actual: name.to_owned() }),
            };
        }
        semivalue(name).map(Self::Semivalue)
    }
}

impl TryFrom<String> for InteractionIndex {
    type Error = ValueError;

    fn try_from(name: String) -> Result<Self, ValueError> {
        name.parse()
    }
}

impl From<InteractionIndex> for String {
    fn from(index: InteractionIndex) -> Self {
        index.to_string()
    }
}
