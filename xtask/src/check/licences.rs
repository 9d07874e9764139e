//! Check that the dependencies built by users have compatible licences.

use super::finding::Finding;
use super::metadata::Package;
use super::policy::{POLICY, Policy};

/// Returns findings for the packages without an allowed licence.
pub(crate) fn findings(packages: &[Package], policy: &Policy) -> Vec<Finding> {
    let is_refused = |package: &&Package| {
        let allowed = policy.licences_of(&package.name);
        !package.license.as_deref().is_some_and(|licence| is_allowed(licence, &allowed))
    };
    let refused = packages.iter().filter(is_refused);
    refused
        .map(|package| {
            let licence = package.license.as_deref().unwrap_or("not stated");
            let wrong = format!("the licence of `{}` {} is {licence}", package.name, package.version);
            Finding::new(
                "Cargo.lock",
                wrong,
                format!("remove the dependency, or allow the licence in {POLICY}"),
            )
        })
        .collect()
}

/// Returns whether a licence expression is satisfied: all parts of an `AND`, or at least one part of an `OR`
/// (written `/` in older manifests).
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let expression = expression.trim().replace('/', " OR ");
    // OR binds less tightly than AND, and a parenthesized expression is one part.
    if let Some(parts) = parts(&expression, " OR ") {
        return parts.iter().any(|part| is_allowed(part, allowed));
    }
    if let Some(parts) = parts(&expression, " AND ") {
        return parts.iter().all(|part| is_allowed(part, allowed));
    }
    match expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => is_allowed(inner, allowed),
        None => allowed.contains(&expression.as_str()),
    }
}

/// Splits at `operator` outside parentheses, or returns `None` if there is only one part.
fn parts(expression: &str, operator: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (at, letter) in expression.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 && at >= start && expression[at..].starts_with(operator) => {
                parts.push(expression[start..at].trim().to_owned());
                start = at + operator.len();
            }
            _ => {}
        }
    }
    parts.push(expression[start..].trim().to_owned());
    (parts.len() > 1).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::super::finding::assert_found;
    use super::*;

    fn policy() -> Policy {
        let allowed = ["Apache-2.0", "Apache-2.0 WITH LLVM-exception", "MIT", "Unicode-3.0", "Unlicense"];
        Policy::made_up(&allowed, &[])
    }

    #[test]
    fn expressions_are_met_by_all_of_and_and_by_one_of_or() {
        for licence in [
            "MIT",
            "MIT OR Apache-2.0",
            "Unlicense/MIT",
            "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
            "(MIT)",
        ] {
            assert!(is_allowed(licence, &policy().licences_of("any")), "{licence}");
        }
        for licence in [
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT OR Apache-2.0) AND GPL-3.0",
            "GPL-3.0 OR (MIT AND MPL-2.0)",
            "",
        ] {
            assert!(!is_allowed(licence, &policy().licences_of("any")), "{licence}");
        }
    }

    #[test]
    fn packages_with_other_licences_or_none_are_found() {
        let packages = [
            Package::made_up("free", "1.0.0", Some("MIT")),
            Package::made_up("viral", "2.0.0", Some("GPL-3.0")),
            Package::made_up("unknown", "3.0.0", None),
        ];
        let wanted =
            ["Cargo.lock: the licence of `viral` 2.0.0 is GPL-3.0; ", "`unknown` 3.0.0 is not stated"];
        assert_found(&findings(&packages, &policy()), &wanted);
    }
}
