//! The text format: header, trees, and what follows them.

use super::header::{self, Header};
use super::section::{Line, Section};
use super::{categories, tree};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::formats::document::{Value, json};

/// Prefix of the first line of a tree.
const TREE: &str = "Tree=";
const END_OF_TREES: &str = "end of trees";
const END_OF_PARAMETERS: &str = "end of parameters";

pub(super) fn read(bytes: &[u8]) -> Result<Ensemble, ModelError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        ModelError::Line { line, problem: "invalid UTF-8".to_owned() }
    })?;
    let first = lines(text).find(|line| !line.text.trim_ascii().is_empty()).ok_or(ModelError::Empty)?;
    let end = lines(text).position(|line| line.text == END_OF_TREES).ok_or_else(|| {
        let last = Line { number: 1 + text.trim_ascii_end().matches('\n').count(), text: "" };
        last.error(format!("the file is truncated: missing line {END_OF_TREES:?}"))
    })?;
    let Trailer { booster, categories } = after_the_trees(lines(text).skip(end + 1))?;
    let mut model = lines(text).take(end).peekable();
    let mut section = Section::new(first);
    while let Some(line) = model.next_if(|line| !line.text.starts_with(TREE)) {
        section.add(line)?;
    }
    let Header { parts, outputs, tree_sizes, average, feature_infos } =
        header::read(&section, booster, lines_of_names(text))?;
    let scale = if average { 1.0 / (tree_sizes.len() / outputs).max(1) as f64 } else { 1.0 };
    let mut ensemble = Ensemble::new(parts, 0);
    if let Some((line, categories)) = categories {
        let words =
            categories::read(&categories, feature_infos).map_err(|error| damaged_categories(line, &error))?;
        ensemble.set_categories(words);
    }
    if average {
        ensemble.set_averaged();
    }
    for (index, &size) in tree_sizes.iter().enumerate() {
        let wanted = format!("expected the start of tree {index} of {}", tree_sizes.len());
        let Some(first) = model.next() else {
            return Err(ModelError::Line { line: end + 1, problem: wanted });
        };
        if first.text.strip_prefix(TREE).map(str::parse) != Some(Ok(index)) {
            return Err(first.error(wanted));
        }
        let mut section = Section::new(first);
        // LightGBM counts each line end as one byte.
        let mut bytes = first.text.len() + 1;
        while let Some(line) = model.next_if(|line| !line.text.starts_with(TREE)) {
            bytes += line.text.len() + 1;
            section.add(line)?;
        }
        if bytes != size {
            return Err(first.error(format!("tree {index} has {bytes} bytes, but tree_sizes states {size}")));
        }
        ensemble.push(tree::read(&section, index, outputs, scale)?)?;
        if (index + 1).is_multiple_of(outputs) {
            ensemble.end_round();
        }
    }
    match model.next() {
        Some(line) => Err(line.error(format!("more trees than the {} in tree_sizes", tree_sizes.len()))),
        None => Ok(ensemble),
    }
}

/// Returns the text of the feature names if one of them contains a line break, which is possible in models
/// that were not loaded from a file.
fn lines_of_names(text: &str) -> Option<&str> {
    const KEY: &str = "\nfeature_names=";
    const NEXT: [&str; 3] = ["\nmonotone_constraints=", "\nfeature_infos=", "\ntree_sizes="];
    let value = &text[text.find(KEY)? + KEY.len()..];
    let end = NEXT.iter().filter_map(|next| value.find(next)).min()?;
    value[..end].contains('\n').then(|| &value[..end])
}

fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.split('\n')
        .enumerate()
        .map(|(index, text)| Line { number: index + 1, text: text.strip_suffix('\r').unwrap_or(text) })
}

/// The lines after the trees.
struct Trailer<'a> {
    /// The name of the booster.
    booster: Option<&'a str>,
    /// The categories of pandas columns.
    categories: Option<(Line<'a>, Value<'a>)>,
}

fn damaged_categories(line: Line<'_>, error: &ModelError) -> ModelError {
    line.error(format!("invalid pandas_categorical: {error}"))
}

/// Reads the lines after the trees, if any, and checks that they are complete.
fn after_the_trees<'a>(lines: impl Iterator<Item = Line<'a>>) -> Result<Trailer<'a>, ModelError> {
    let (mut booster, mut categories, mut is_whole, mut last) = (None, None, true, None);
    for line in lines.filter(|line| !line.text.trim_ascii().is_empty()) {
        if last.is_none() {
            is_whole = false;
        }
        last = Some(line);
        if line.text == END_OF_PARAMETERS {
            is_whole = true;
        } else if let Some(name) = line.text.strip_prefix("[boosting: ") {
            booster = booster.or(name.strip_suffix(']'));
        } else if let Some(text) = line.text.strip_prefix("pandas_categorical:") {
            let lists = json::read(text.as_bytes()).map_err(|error| damaged_categories(line, &error))?;
            categories = Some((line, lists));
        }
    }
    match last {
        Some(last) if !is_whole => {
            Err(last.error(format!("the file is truncated: missing line {END_OF_PARAMETERS:?}")))
        }
        _ => Ok(Trailer { booster, categories }),
    }
}
