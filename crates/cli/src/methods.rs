//! Methods on the command line: their names, and the list of them that `--help` prints.

use apportion::Method;

/// The method of this name.
pub(crate) fn method(name: &str) -> Result<Method, String> {
    name.parse::<Method>().map_err(|error| error.to_string())
}

/// What `--help` says of `--method`.
pub(crate) fn help() -> String {
    let width = Method::all().map(|method| method.name().len()).max().unwrap_or_default();
    let line = |method: Method| format!("\n  {:<width$}  {}", method.name(), method.help());
    let lines: String = Method::all().map(line).collect();
    format!(
        "How to compute it. A method that cannot compute the value is refused with those that can. Two names may be one estimator with the \
         same draws; JSON says so in `same_as`:\n{lines}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_line() {
        let help = help();
        for method in Method::all() {
            let begins = format!("\n  {} ", method.name());
            assert!(help.contains(&begins), "{method}");
        }
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert!(method("treeshap").unwrap_err().contains("unknown"));
    }
}
