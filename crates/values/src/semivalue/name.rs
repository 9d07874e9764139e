//! Names of semivalues, as on the command line and in results.

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
            Self::BetaShapley(law) => write!(f, "beta={},{}", law.alpha(), law.beta()),
            Self::SizeWeights(weights) => {
                f.write_str("size-law=")?;
                list(f, weights.law(), |f, weight| write!(f, "{weight}"))
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
        let unknown = || ValueError::UnknownValue { given: name.to_owned() };
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
            Some(("by-size", weights)) => Self::by_size(&numbers(weights)?),
            Some(("size-law", law)) => Self::by_size_law(&numbers(law)?),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_as_the_value_it_names() {
        for name in [
            "shapley",
            "banzhaf",
            "weighted-banzhaf=0.1",
            "beta=4,1",
            "beta=0.30000000000000004,16",
            "size-law=0.25,0.5,0.25",
            "mixture=0.2:0.5,1:0.5",
        ] {
            assert_eq!(name.parse::<Semivalue>().unwrap().to_string(), name);
        }
        let by_size: Semivalue = "by-size=0.25,0.25,0.25".parse().unwrap();
        assert_eq!(by_size.to_string(), "size-law=0.25,0.5,0.25");
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        for name in [
            "shap",
            "beta",
            "beta=1",
            "beta=1,2,3",
            "weighted-banzhaf",
            "weighted-banzhaf=x",
            "mixture=1",
            "",
        ] {
            let message = name.parse::<Semivalue>().unwrap_err().to_string();
            for known in ["shapley", "banzhaf", "weighted-banzhaf=P", "beta=A,B"] {
                assert!(message.contains(known), "{message}");
            }
        }
        assert!(matches!("beta=0,1".parse::<Semivalue>(), Err(ValueError::Beta { .. })));
        assert!(matches!("weighted-banzhaf=1".parse::<Semivalue>(), Err(ValueError::Presence { .. })));
    }
}
