//! Sections of `key=value` lines, and parsing of their values.

use std::str::FromStr;

use crate::error::ModelError;

/// A line of the file, without the line break.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Line number, from 1.
    pub(super) number: usize,
    pub(super) text: &'a str,
}

impl Line<'_> {
    pub(super) fn error(self, problem: impl Into<String>) -> ModelError {
        ModelError::Line { line: self.number, problem: problem.into() }
    }
}

/// The lines of the header, or of the block of a tree.
pub(super) struct Section<'a> {
    /// The first line of the section.
    first: Line<'a>,
    fields: Vec<Field<'a>>,
}

/// A key with its value and its line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    line: Line<'a>,
}

/// The keys that are needed. All other keys are skipped, so that a section stays small and fast to search.
const KNOWN: [&str; 26] = [
    "version",
    "num_class",
    "num_tree_per_iteration",
    "max_feature_idx",
    "objective",
    "average_output",
    "feature_names",
    "feature_infos",
    "tree_sizes",
    "num_leaves",
    "num_cat",
    "split_feature",
    "threshold",
    "decision_type",
    "left_child",
    "right_child",
    "leaf_value",
    "leaf_count",
    "internal_count",
    "cat_boundaries",
    "cat_threshold",
    "is_linear",
    "leaf_const",
    "num_features",
    "leaf_features",
    "leaf_coeff",
];

impl<'a> Section<'a> {
    pub(super) fn new(first: Line<'a>) -> Self {
        Self { first, fields: Vec::new() }
    }

    /// Adds a line, which may consist of a key without a value. A key in [`KNOWN`] must not occur twice.
    pub(super) fn add(&mut self, line: Line<'a>) -> Result<(), ModelError> {
        let (key, value) = line.text.split_once('=').unwrap_or((line.text, ""));
        if !KNOWN.contains(&key) {
            return Ok(());
        }
        if self.find(key).is_some() {
            return Err(line.error(format!("duplicate line {key:?}")));
        }
        self.fields.push(Field { key, value, line });
        Ok(())
    }

    pub(super) fn find(&self, key: &str) -> Option<Field<'a>> {
        self.fields.iter().find(|field| field.key == key).copied()
    }

    /// Returns the field `key`, which must be present.
    pub(super) fn get(&self, key: &str) -> Result<Field<'a>, ModelError> {
        self.find(key).ok_or_else(|| {
            self.first.error(format!("missing line {key:?} after {:?}", self.first.text.trim_end()))
        })
    }

    /// Returns the list `key` with `count` elements. If `count` is 0, the line may be missing.
    pub(super) fn list<T: FromStr>(&self, key: &str, count: usize) -> Result<Vec<T>, ModelError> {
        match self.find(key) {
            None if count == 0 => Ok(Vec::new()),
            _ => self.get(key)?.list(count),
        }
    }

    /// Returns the list `key` with `count` elements, if the line is present and not empty.
    pub(super) fn optional_list<T: FromStr>(
        &self,
        key: &str,
        count: usize,
    ) -> Result<Option<Vec<T>>, ModelError> {
        let field = self.find(key).filter(|field| !field.value.trim_ascii().is_empty());
        field.map(|field| field.list(count)).transpose()
    }
}

impl<'a> Field<'a> {
    pub(super) fn error(&self, problem: impl std::fmt::Display) -> ModelError {
        self.line.error(format!("{}: {problem}", self.key))
    }

    /// Returns a non-negative integer.
    pub(super) fn count(&self) -> Result<usize, ModelError> {
        let value = self.value.trim_ascii();
        let count = value.parse::<u32>().ok().map(|count| count as usize);
        count.ok_or_else(|| self.error(format!("expected a count, got {value:?}")))
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.value.split_ascii_whitespace()
    }

    /// Returns all elements of the list.
    pub(super) fn all<T: FromStr>(&self) -> Result<Vec<T>, ModelError> {
        self.words()
            .map(|word| word.parse().map_err(|_| self.error(format!("invalid number {word:?}"))))
            .collect()
    }

    /// Returns the elements of the list, whose number must be `count`.
    pub(super) fn list<T: FromStr>(&self, count: usize) -> Result<Vec<T>, ModelError> {
        let list = self.all()?;
        if list.len() == count {
            Ok(list)
        } else {
            Err(self.error(format!("expected {count} elements, got {}", list.len())))
        }
    }
}
