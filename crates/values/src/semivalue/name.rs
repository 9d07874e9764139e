//! Names of semivalues, as used on the command line and in result files.

use std::fmt::{Display, Formatter, Result as FormatResult};
use std::str::FromStr;

use super::Semivalue;
use crate::error::ValueError;

impl Display for Semivalue {
    fn fmt(&self, f: &mut Formatter<'_>) -> FormatResult {
        match self {
            Self::Shapley => f.write_str("shapley"),
            Self::Banzhaf => f.write_str("banzhaf"),
            Self::WeightedBanzhaf(presence) => write!(f, "weighted-banzhaf={}", presence.p()),
            Self::BetaShapley(distribution) => {
                write!(f, "beta={},{}", distribution.alpha(), distribution.beta())
            }
            Self::SizeWeights(weights) => {
                f.write_str("size-distribution=")?;
                list(f, weights.distribution(), |f, weight| write!(f, "{weight}"))
            }
            Self::Mixture(mixture) => {
                f.write_str("mixture=")?;
                let atoms: Vec<_> = mixture.points().iter().zip(mixture.weights()).collect();
                list(f, &atoms, |f, (t, weight)| write!(f, "{t}:{weight}"))
            }
        }
    }
}

fn list<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    write: impl Fn(&mut Formatter<'_>, &T) -> FormatResult,
) -> FormatResult {
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            f.write_str(",")?;
        }
        write(f, item)?;
    }
    Ok(())
}

impl FromStr for Semivalue {
    type Err = ValueError;

    fn from_str(name: &str) -> Result<Self, ValueError> {
        let unknown = || ValueError::UnknownValue { actual: name.to_owned() };
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| unknown());
        let numbers = |text: &str| text.split(',').map(number).collect::<Result<Vec<f64>, _>>();
        match name.split_once('=') {
            None if name == "shapley" => Ok(Self::Shapley),
            None if name == "banzhaf" => Ok(Self::Banzhaf),
            Some(("weighted-banzhaf", p)) => Self::weighted_banzhaf(number(p)?),
            Some(("beta", parameters)) => match numbers(parameters)?[..] {
                [alpha, beta] => Self::beta_shapley(alpha, beta),
                _ => Err(unknown()),
            },
            Some(("by-size", weights)) => Self::from_size_weights(&numbers(weights)?),
            // Result files of earlier versions contain the second name.
            Some(("size-distribution" | "size-law", distribution)) => {
                Self::from_size_distribution(&numbers(distribution)?)
            }
            Some(("mixture", atoms)) => {
                let atom = |atom: &str| {
                    let (t, weight) = atom.split_once(':').ok_or_else(unknown)?;
                    Ok((number(t)?, number(weight)?))
                };
                let (points, weights): (Vec<f64>, Vec<f64>) =
                    atoms.split(',').map(atom).collect::<Result<Vec<_>, ValueError>>()?.into_iter().unzip();
                Self::mixture(&points, &weights)
            }
            _ => Err(unknown()),
        }
    }
}

impl TryFrom<String> for Semivalue {
    type Error = ValueError;

    fn try_from(name: String) -> Result<Self, ValueError> {
        name.parse()
    }
}

impl From<Semivalue> for String {
    fn from(value: Semivalue) -> Self {
        value.to_string()
    }
}
