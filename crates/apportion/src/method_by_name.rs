//! Parses methods from their names.

use std::str::FromStr;

use crate::error::ExplainError;
use crate::method::Method;

impl FromStr for Method {
    type Err = ExplainError;

    fn from_str(name: &str) -> Result<Self, ExplainError> {
        let found = Self::named().find(|method| method.name() == name);
        found.ok_or_else(|| ExplainError::UnknownMethod { actual: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for method in Method::named() {
            assert_eq!(method.name().parse::<Method>().unwrap(), method);
        }
        assert!(Method::named().count() > Method::all().count());
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let message = "treeshap".parse::<Method>().unwrap_err().to_string();
        assert!(Method::all().all(|method| message.contains(method.name())), "{message}");
    }
}
