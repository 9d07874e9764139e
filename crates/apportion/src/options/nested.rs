//! The parser of nested groups.

use apportion_games::Member;

use super::error::OptionError;
use super::quoted::unquoted;

/// Maximum nesting depth of groups, the same as for groups in JSON.
const MAX_DEPTH: usize = 120;

/// A parser of nested groups: `(a,b;c);d`, in which a group in parentheses can replace a feature.
pub(super) struct Nested<'t> {
    rest: &'t str,
    /// The number of open parentheses.
    depth: usize,
}

fn invalid(problem: String) -> OptionError {
    OptionError::Invalid { option: "groups", problem }
}

impl<'t> Nested<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text, depth: 0 }
    }

    /// Parses the entire text.
    pub(super) fn all(mut self) -> Result<Vec<Member<String>>, OptionError> {
        let groups = self.groups()?;
        match self.rest {
            "" => Ok(groups),
            rest => Err(invalid(format!(
                "invalid nested groups: expected a comma or semicolon, found {rest:?}; use the form \
                 \"(a,b;c);d\""
            ))),
        }
    }

    /// Parses groups up to the closing parenthesis or the end.
    fn groups(&mut self) -> Result<Vec<Member<String>>, OptionError> {
        let mut groups = vec![Vec::new()];
        loop {
            let member = self.member()?;
            if let Some(group) = groups.last_mut() {
                group.push(member);
            }
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix(';') {
                groups.push(Vec::new());
                self.rest = rest;
            } else if let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
            } else {
                return Ok(groups.into_iter().map(Member::Group).collect());
            }
        }
    }

    fn member(&mut self) -> Result<Member<String>, OptionError> {
        self.rest = self.rest.trim_start();
        if let Some(rest) = self.rest.strip_prefix('(') {
            if self.depth == MAX_DEPTH {
                return Err(invalid(format!("nested groups are limited to a depth of {MAX_DEPTH}")));
            }
            (self.rest, self.depth) = (rest, self.depth + 1);
            let groups = self.groups()?;
            let Some(rest) = self.rest.strip_prefix(')') else {
                return Err(invalid(
                    "missing closing parenthesis in the groups; expected \"(a,b;c);d\"".to_owned(),
                ));
            };
            (self.rest, self.depth) = (rest, self.depth - 1);
            return Ok(Member::Group(groups));
        }
        let end = match self.rest.strip_prefix('"') {
            // The name ends at the first quote that is not doubled.
            Some(inside) => {
                let mut letters = inside.char_indices();
                loop {
                    match letters.next() {
                        Some((at, '"')) if !inside[at + 1..].starts_with('"') => break at + 2,
                        Some((_, '"')) => drop(letters.next()),
                        Some(_) => {}
                        None => {
                            return Err(invalid(format!(
                                "missing closing quote in the groups: {:?}",
                                self.rest
                            )));
                        }
                    }
                }
            }
            None => {
                let is_end = |letter| matches!(letter, ',' | ';') || (letter == ')' && self.depth > 0);
                self.rest.find(is_end).unwrap_or(self.rest.len())
            }
        };
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(Member::Player(unquoted(name)))
    }
}
